"""CreatePartitions (key 37): give topics more partitions.

The decision is `metadata/`'s; the reply leaves when its records are on stable storage and applied.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.ports.effects import Steps
from ottla.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse


def handle(ctx: RequestContext, request: CreatePartitionsRequest) -> Steps[CreatePartitionsResponse]:
    return ctx.node.decide(lambda controller: controller.create_partitions(request))
