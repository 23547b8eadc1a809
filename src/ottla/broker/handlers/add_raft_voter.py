"""AddRaftVoter (key 80): a controller that follows the quorum becomes a voter of it (KIP-853). A broker hands
it on to the leader. v1 may be answered before it is committed.
"""

from __future__ import annotations

from ottla.broker import raft_wire
from ottla.broker.context import RequestContext
from ottla.broker.raft_forwarding import ask_leader
from ottla.ports.effects import Steps
from ottla.raft.messages import AddVoterRequest
from ottla.wire.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse


def handle(
    ctx: RequestContext, request: AddRaftVoterRequest
) -> AddRaftVoterResponse | Steps[AddRaftVoterResponse]:
    try:
        raft_wire.check_cluster(request.cluster_id, ctx.node.cluster_id)
    except raft_wire.BadRequest as error:
        return AddRaftVoterResponse(error_code=error.code, error_message="another cluster's id")
    return _add(ctx, request)


def _add(ctx: RequestContext, request: AddRaftVoterRequest) -> Steps[AddRaftVoterResponse]:
    answer = yield from ask_leader(
        ctx,
        AddVoterRequest(
            raft_wire.voter_key(request.voter_id, request.voter_directory_id),
            raft_wire.endpoints_of(request.listeners),
            request.timeout_ms,
            request.ack_when_committed if ctx.version >= 1 else True,
        ),
    )
    return AddRaftVoterResponse(error_code=answer.error, error_message=answer.message)
