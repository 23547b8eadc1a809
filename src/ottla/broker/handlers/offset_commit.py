"""OffsetCommit (key 8): how far a group has read.

v2-4 a retention of its own; v6 leader epochs; v7 static members; v9 members of the newer protocol; v10 topic
ids. A commit of many partitions is decided in pieces, each a batch of its own, in turns with the other
connections; the connection's next request waits for it, since it may be the next commit.
"""

from __future__ import annotations

from ottla.broker.commit_pieces import commit_in_pieces
from ottla.broker.context import RequestContext
from ottla.groups.offsets.commit import refusal
from ottla.ports.effects import Steps
from ottla.wire.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse


def handle(
    ctx: RequestContext, request: OffsetCommitRequest
) -> OffsetCommitResponse | Steps[OffsetCommitResponse]:
    return commit_in_pieces(ctx, request, _commit)


def _commit(
    ctx: RequestContext, request: OffsetCommitRequest
) -> OffsetCommitResponse | Steps[OffsetCommitResponse]:
    return ctx.node.groups.submit(
        ctx,
        request.group_id,
        lambda shard, client, promise: shard.offsets.commit(request, client, promise),
        lambda error: refusal(request, error),
    )
