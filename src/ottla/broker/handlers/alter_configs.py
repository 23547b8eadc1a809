"""AlterConfigs (key 33): replace all configs of a resource (the older way).

The decision is `metadata/`'s; the reply leaves when its records are on stable storage and applied.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.ports.effects import Steps
from ottla.wire.messages.alter_configs import AlterConfigsRequest, AlterConfigsResponse


def handle(ctx: RequestContext, request: AlterConfigsRequest) -> Steps[AlterConfigsResponse]:
    return ctx.node.decide(lambda controller: controller.alter_configs(request))
