"""SyncGroup (key 14): the leader hands out the assignments, everybody receives theirs.

v3 static members; v5 protocol type and name, checked and returned.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.ports.effects import Steps
from ottla.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse


def handle(ctx: RequestContext, request: SyncGroupRequest) -> SyncGroupResponse | Steps[SyncGroupResponse]:
    return ctx.node.groups.submit(
        ctx,
        request.group_id,
        lambda shard, client, promise: shard.sync(request, client, promise),
        lambda error: SyncGroupResponse(error_code=error.code),
    )
