"""UnregisterBroker (key 64): forget a broker that will not come back. The controller decides."""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.broker.controller_host import answer_or_refuse
from ottla.model.errors import KafkaError
from ottla.ports.effects import Steps
from ottla.wire.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse


def handle(ctx: RequestContext, request: UnregisterBrokerRequest) -> Steps[UnregisterBrokerResponse]:
    return answer_or_refuse(
        ctx.node.ask_controller(request, ctx.version), lambda error: _refused(request, error)
    )


def _refused(request: UnregisterBrokerRequest, error: KafkaError) -> UnregisterBrokerResponse:
    return UnregisterBrokerResponse(error_code=error.code, error_message=error.message)
