"""OffsetCommit (key 8): how far a group has read.

v2-4 a retention of its own; v6 leader epochs; v7 static members; v9 members of the newer protocol; v10 topic
ids. A commit of many partitions is decided in pieces, each a batch of its own, in turns with the other
connections; the connection's next request waits for it, since it may be the next commit.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.groups.offsets.commit import chunks, merge, refusal
from ottla.ports.effects import Sleep, Steps
from ottla.wire.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse

PARTITIONS_PER_PIECE = 200
"""Deciding, writing and replaying one takes a few microseconds: about a millisecond a piece."""


def handle(
    ctx: RequestContext, request: OffsetCommitRequest
) -> OffsetCommitResponse | Steps[OffsetCommitResponse]:
    if sum(len(topic.partitions) for topic in request.topics) <= PARTITIONS_PER_PIECE:
        return _commit(ctx, request)
    return _commit_in_pieces(ctx, request)


def _commit(
    ctx: RequestContext, request: OffsetCommitRequest
) -> OffsetCommitResponse | Steps[OffsetCommitResponse]:
    return ctx.node.groups.submit(
        ctx,
        request.group_id,
        lambda shard, client, promise: shard.offsets.commit(request, client, promise),
        lambda error: refusal(request, error),
    )


def _commit_in_pieces(ctx: RequestContext, request: OffsetCommitRequest) -> Steps[OffsetCommitResponse]:
    responses: list[OffsetCommitResponse] = []
    pause = object()
    ctx.peer.pause_reading(pause)
    try:
        for piece in chunks(request, PARTITIONS_PER_PIECE):
            answer = _commit(ctx, piece)
            if not isinstance(answer, OffsetCommitResponse):
                answer = yield from answer
            responses.append(answer)
            yield Sleep(0)
    finally:
        ctx.peer.resume_reading(pause)
    return merge(request, responses)
