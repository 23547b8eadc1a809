"""BeginQuorumEpoch (key 53), on the controllers' listener: a new leader says so. v1 names directories and the
leader's listeners (KIP-853).
"""

from __future__ import annotations

from ottla.broker import raft_wire
from ottla.broker.context import RequestContext
from ottla.ports.effects import Steps
from ottla.raft import messages as raft
from ottla.wire.messages.begin_quorum_epoch import BeginQuorumEpochRequest, BeginQuorumEpochResponse


def handle(
    ctx: RequestContext, request: BeginQuorumEpochRequest
) -> BeginQuorumEpochResponse | Steps[BeginQuorumEpochResponse]:
    try:
        asked = raft_wire.begin_of(request, ctx.node.cluster_id)
    except raft_wire.BadRequest as error:
        if error.whole:
            return BeginQuorumEpochResponse(error_code=error.code)
        return raft_wire.begin_message(raft.BeginEpochResponse(error.code, -1, -1))
    return _ask(ctx, asked)


def _ask(ctx: RequestContext, asked: raft.BeginEpochRequest) -> Steps[BeginQuorumEpochResponse]:
    answer = yield from ctx.node.quorum.ask(asked)
    assert isinstance(answer, raft.BeginEpochResponse)
    return raft_wire.begin_message(answer)
