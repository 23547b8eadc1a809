"""OffsetDelete (key 47): forget a group's offsets of topics that nobody in the group reads (KIP-496)."""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.groups.offsets.delete import refusal
from ottla.ports.effects import Steps
from ottla.wire.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse


def handle(
    ctx: RequestContext, request: OffsetDeleteRequest
) -> OffsetDeleteResponse | Steps[OffsetDeleteResponse]:
    return ctx.node.groups.submit(
        ctx, request.group_id, lambda shard, _, promise: shard.offsets.delete(request, promise), refusal
    )
