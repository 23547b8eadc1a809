"""BrokerRegistration (key 62, controllers only): a broker begins a life in the cluster and gets its epoch."""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.broker.controller_host import answer_or_refuse
from ottla.ports.effects import Steps
from ottla.wire.messages.broker_registration import BrokerRegistrationRequest, BrokerRegistrationResponse


def handle(ctx: RequestContext, request: BrokerRegistrationRequest) -> Steps[BrokerRegistrationResponse]:
    return answer_or_refuse(
        ctx.node.controllers.decide(request, ctx.version),
        lambda error: BrokerRegistrationResponse(error_code=error.code),
    )
