"""OffsetDelete (key 47): forget a group's offsets of topics that nobody in the group reads (KIP-496).

Many partitions go in pieces, each a batch of its own, in turns with the other connections.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.groups.offsets.delete import merge, pieces, refusal
from ottla.ports.effects import Sleep, Steps
from ottla.wire.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse

PARTITIONS_PER_PIECE = 500


def handle(
    ctx: RequestContext, request: OffsetDeleteRequest
) -> OffsetDeleteResponse | Steps[OffsetDeleteResponse]:
    cut = pieces(request, PARTITIONS_PER_PIECE)
    return _delete(ctx, cut[0]) if len(cut) == 1 else _delete_in_pieces(ctx, cut)


def _delete(
    ctx: RequestContext, request: OffsetDeleteRequest
) -> OffsetDeleteResponse | Steps[OffsetDeleteResponse]:
    return ctx.node.groups.submit(
        ctx, request.group_id, lambda shard, _, promise: shard.offsets.delete(request, promise), refusal
    )


def _delete_in_pieces(ctx: RequestContext, cut: list[OffsetDeleteRequest]) -> Steps[OffsetDeleteResponse]:
    responses: list[OffsetDeleteResponse] = []
    for piece in cut:
        answer = _delete(ctx, piece)
        if not isinstance(answer, OffsetDeleteResponse):
            answer = yield from answer
        responses.append(answer)
        if answer.error_code:
            break
        yield Sleep(0)
    return merge(responses)
