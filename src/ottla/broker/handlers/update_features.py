"""UpdateFeatures (key 57): raise or lower the levels of features.

The controller decides, and raises none that a node does not support.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.broker.controller_host import answer_or_refuse
from ottla.model.errors import KafkaError
from ottla.ports.effects import Steps
from ottla.wire.messages.update_features import UpdateFeaturesRequest, UpdateFeaturesResponse


def handle(ctx: RequestContext, request: UpdateFeaturesRequest) -> Steps[UpdateFeaturesResponse]:
    return answer_or_refuse(
        ctx.node.ask_controller(request, ctx.version), lambda error: _refused(request, error)
    )


def _refused(request: UpdateFeaturesRequest, error: KafkaError) -> UpdateFeaturesResponse:
    return UpdateFeaturesResponse(error_code=error.code, error_message=error.message)
