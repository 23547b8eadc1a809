"""ElectLeaders (key 43): bring back preferred leaders, or, where none else is left, choose one that may
have lost records. The controller decides.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.broker.controller_host import answer_or_refuse
from ottla.model.errors import KafkaError
from ottla.ports.effects import Steps
from ottla.wire.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse


def handle(ctx: RequestContext, request: ElectLeadersRequest) -> Steps[ElectLeadersResponse]:
    return answer_or_refuse(
        ctx.node.ask_controller(request, ctx.version), lambda error: _refused(request, error)
    )


def _refused(request: ElectLeadersRequest, error: KafkaError) -> ElectLeadersResponse:
    return ElectLeadersResponse(error_code=error.code)
