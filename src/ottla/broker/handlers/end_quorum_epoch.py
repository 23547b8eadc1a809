"""EndQuorumEpoch (key 54), on the controllers' listener: a leader leaves, and names its successors. v1 names
them with their directories (KIP-853).
"""

from __future__ import annotations

from ottla.broker import raft_wire
from ottla.broker.context import RequestContext
from ottla.ports.effects import Steps
from ottla.raft import messages as raft
from ottla.wire.messages.end_quorum_epoch import EndQuorumEpochRequest, EndQuorumEpochResponse


def handle(
    ctx: RequestContext, request: EndQuorumEpochRequest
) -> EndQuorumEpochResponse | Steps[EndQuorumEpochResponse]:
    try:
        asked = raft_wire.end_of(request, ctx.node.cluster_id)
    except raft_wire.BadRequest as error:
        if error.whole:
            return EndQuorumEpochResponse(error_code=error.code)
        return raft_wire.end_message(raft.EndEpochResponse(error.code, -1, -1))
    return _ask(ctx, asked)


def _ask(ctx: RequestContext, asked: raft.EndEpochRequest) -> Steps[EndQuorumEpochResponse]:
    answer = yield from ctx.node.quorum.ask(asked)
    assert isinstance(answer, raft.EndEpochResponse)
    return raft_wire.end_message(answer)
