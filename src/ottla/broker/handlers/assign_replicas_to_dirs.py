"""AssignReplicasToDirs (key 73, controllers only): a broker says which directory holds which replica."""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.broker.controller_host import answer_or_refuse
from ottla.ports.effects import Steps
from ottla.wire.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
)


def handle(ctx: RequestContext, request: AssignReplicasToDirsRequest) -> Steps[AssignReplicasToDirsResponse]:
    return answer_or_refuse(
        ctx.node.controllers.decide(request, ctx.version),
        lambda error: AssignReplicasToDirsResponse(error_code=error.code),
    )
