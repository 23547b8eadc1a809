"""ControllerRegistration (key 70, controllers only): a controller says which features it supports."""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.broker.controller_host import answer_or_refuse
from ottla.ports.effects import Steps
from ottla.wire.messages.controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)


def handle(
    ctx: RequestContext, request: ControllerRegistrationRequest
) -> Steps[ControllerRegistrationResponse]:
    return answer_or_refuse(
        ctx.node.controllers.decide(request, ctx.version),
        lambda error: ControllerRegistrationResponse(error_code=error.code),
    )
