"""Vote (key 52), on the controllers' listener: a voter asks for a vote. v1 names directories (KIP-853), v2
may only ask whether it would get it (KIP-996).
"""

from __future__ import annotations

from ottla.broker import raft_wire
from ottla.broker.context import RequestContext
from ottla.ports.effects import Steps
from ottla.raft import messages as raft
from ottla.wire.messages.vote import VoteRequest, VoteResponse


def handle(ctx: RequestContext, request: VoteRequest) -> VoteResponse | Steps[VoteResponse]:
    try:
        asked = raft_wire.vote_of(request, ctx.node.cluster_id)
    except raft_wire.BadRequest as error:
        if error.whole:
            return VoteResponse(error_code=error.code)
        return raft_wire.vote_message(raft.VoteResponse(error.code, -1, -1))
    return _ask(ctx, asked)


def _ask(ctx: RequestContext, asked: raft.VoteRequest) -> Steps[VoteResponse]:
    answer = yield from ctx.node.quorum.ask(asked)
    assert isinstance(answer, raft.VoteResponse)
    return raft_wire.vote_message(answer)
