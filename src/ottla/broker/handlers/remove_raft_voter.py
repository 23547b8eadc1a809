"""RemoveRaftVoter (key 81): a voter is taken out of the quorum (KIP-853). A broker asks the leader for it."""

from __future__ import annotations

from ottla.broker import raft_wire
from ottla.broker.context import RequestContext
from ottla.broker.raft_forwarding import ask_leader
from ottla.ports.effects import Steps
from ottla.raft.messages import RemoveVoterRequest
from ottla.wire.messages.remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse


def handle(
    ctx: RequestContext, request: RemoveRaftVoterRequest
) -> RemoveRaftVoterResponse | Steps[RemoveRaftVoterResponse]:
    try:
        raft_wire.check_cluster(request.cluster_id, ctx.node.cluster_id)
    except raft_wire.BadRequest as error:
        return RemoveRaftVoterResponse(error_code=error.code, error_message="another cluster's id")
    return _remove(ctx, request)


def _remove(ctx: RequestContext, request: RemoveRaftVoterRequest) -> Steps[RemoveRaftVoterResponse]:
    voter = raft_wire.voter_key(request.voter_id, request.voter_directory_id)
    answer = yield from ask_leader(ctx, RemoveVoterRequest(voter))
    return RemoveRaftVoterResponse(error_code=answer.error, error_message=answer.message)
