"""IncrementalAlterConfigs (key 44): set, delete, append to and subtract from single configs.

The decision is `metadata/`'s; the reply leaves when its records are on stable storage and applied.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.ports.effects import Steps
from ottla.wire.messages.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)


def handle(
    ctx: RequestContext, request: IncrementalAlterConfigsRequest
) -> Steps[IncrementalAlterConfigsResponse]:
    return ctx.node.decide(lambda controller: controller.incremental_alter_configs(request))
