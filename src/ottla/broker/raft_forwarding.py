"""Changes of the voters that a client asks a broker for: only the quorum's leader can make them."""

from __future__ import annotations

from ottla.broker import raft_wire
from ottla.broker.context import RequestContext
from ottla.model.errors import ErrorCode
from ottla.ports.effects import Steps
from ottla.ports.peers import PeerUnavailable
from ottla.raft.messages import AddVoterRequest, RemoveVoterRequest, VoterChangeResponse

FORWARD_TIMEOUT_MS = 30_000


def ask_leader(
    ctx: RequestContext, request: AddVoterRequest | RemoveVoterRequest
) -> Steps[VoterChangeResponse]:
    """Decided here when this node leads, or when it was asked as a controller; else the leader is asked."""
    node = ctx.node
    quorum = node.quorum
    if quorum.raft.is_leader or node.is_controller_listener(ctx.peer.listener_name):
        answer = yield from quorum.ask(request)
        assert isinstance(answer, VoterChangeResponse)
        return answer
    address = quorum.controller_address()
    reason = "no leader of the metadata quorum is known"
    if address is not None:
        message, version = raft_wire.request_message(request, node.cluster_id)
        try:
            response = yield from node.peers.call(
                address, message, version, lane="raft-voters", timeout_ms=FORWARD_TIMEOUT_MS
            )
            return VoterChangeResponse(
                ErrorCode(response.error_code), quorum.epoch, quorum.leader_id, response.error_message
            )
        except PeerUnavailable as error:
            reason = str(error)
    return VoterChangeResponse(ErrorCode.REQUEST_TIMED_OUT, quorum.epoch, quorum.leader_id, reason)
