"""UpdateFeatures (key 57): raise or lower the levels that the cluster has agreed on.

The decision is `metadata/`'s; the reply leaves when its records are on stable storage and applied.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.ports.effects import Steps
from ottla.wire.messages.update_features import UpdateFeaturesRequest, UpdateFeaturesResponse


def handle(ctx: RequestContext, request: UpdateFeaturesRequest) -> Steps[UpdateFeaturesResponse]:
    return ctx.node.decide(lambda controller: controller.update_features(request, ctx.version))
