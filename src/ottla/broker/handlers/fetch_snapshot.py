"""FetchSnapshot (key 59), on the controllers' listener: a replica that is too far behind fetches a snapshot
of the metadata, piece by piece (KIP-630). v1 has the directory id.
"""

from __future__ import annotations

from ottla.broker import raft_wire
from ottla.broker.context import RequestContext
from ottla.ports.effects import Steps
from ottla.raft import messages as raft
from ottla.raft.log_port import OffsetAndEpoch
from ottla.wire.messages.fetch_snapshot import FetchSnapshotRequest, FetchSnapshotResponse


def handle(
    ctx: RequestContext, request: FetchSnapshotRequest
) -> FetchSnapshotResponse | Steps[FetchSnapshotResponse]:
    try:
        asked = raft_wire.snapshot_of(request, ctx.node.cluster_id)
    except raft_wire.BadRequest as error:
        if error.whole:
            return FetchSnapshotResponse(error_code=error.code)
        return raft_wire.snapshot_message(raft.SnapshotResponse(error.code, -1, -1, OffsetAndEpoch(-1, -1)))
    return _ask(ctx, asked)


def _ask(ctx: RequestContext, asked: raft.SnapshotRequest) -> Steps[FetchSnapshotResponse]:
    answer = yield from ctx.node.quorum.ask(asked)
    assert isinstance(answer, raft.SnapshotResponse)
    return raft_wire.snapshot_message(answer)
