"""UpdateRaftVoter (key 82), on the controllers' listener: a voter's listeners are others now (KIP-853)."""

from __future__ import annotations

from ottla.broker import raft_wire
from ottla.broker.context import RequestContext
from ottla.ports.effects import Steps
from ottla.raft import messages as raft
from ottla.wire.messages.update_raft_voter import (
    CurrentLeader,
    UpdateRaftVoterRequest,
    UpdateRaftVoterResponse,
)


def handle(
    ctx: RequestContext, request: UpdateRaftVoterRequest
) -> UpdateRaftVoterResponse | Steps[UpdateRaftVoterResponse]:
    try:
        raft_wire.check_cluster(request.cluster_id, ctx.node.cluster_id)
    except raft_wire.BadRequest as error:
        return UpdateRaftVoterResponse(error_code=error.code)
    return _ask(
        ctx,
        raft.UpdateVoterRequest(
            request.current_leader_epoch,
            raft_wire.voter_key(request.voter_id, request.voter_directory_id),
            raft_wire.endpoints_of(request.listeners),
            request.kraft_version_feature.min_supported_version,
            request.kraft_version_feature.max_supported_version,
        ),
    )


def _ask(ctx: RequestContext, asked: raft.UpdateVoterRequest) -> Steps[UpdateRaftVoterResponse]:
    answer = yield from ctx.node.quorum.ask(asked)
    address = answer.leader_address
    return UpdateRaftVoterResponse(
        error_code=answer.error,
        current_leader=CurrentLeader(
            leader_id=answer.leader_id,
            leader_epoch=answer.epoch,
            host="" if address is None else address.host,
            port=0 if address is None else address.port,
        ),
    )
