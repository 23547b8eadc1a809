"""AllocateProducerIds (key 67, controllers only): a broker gets its next block of producer ids."""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.broker.controller_host import answer_or_refuse
from ottla.ports.effects import Steps
from ottla.wire.messages.allocate_producer_ids import AllocateProducerIdsRequest, AllocateProducerIdsResponse


def handle(ctx: RequestContext, request: AllocateProducerIdsRequest) -> Steps[AllocateProducerIdsResponse]:
    return answer_or_refuse(
        ctx.node.controllers.decide(request, ctx.version),
        lambda error: AllocateProducerIdsResponse(error_code=error.code),
    )
