"""BrokerHeartbeat (key 63, controllers only): a broker is alive, wants to be unfenced, or wants to go."""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.broker.controller_host import answer_or_refuse
from ottla.ports.effects import Steps
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse


def handle(ctx: RequestContext, request: BrokerHeartbeatRequest) -> Steps[BrokerHeartbeatResponse]:
    return answer_or_refuse(
        ctx.node.controllers.decide(request, ctx.version),
        lambda error: BrokerHeartbeatResponse(error_code=error.code),
    )
