"""CreateTopics (key 19): make topics, with assignments, configs, or only a check whether it would work.

The decision is `metadata/`'s; the reply leaves when its records are on stable storage and applied.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.ports.effects import Steps
from ottla.wire.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse


def handle(ctx: RequestContext, request: CreateTopicsRequest) -> Steps[CreateTopicsResponse]:
    return ctx.node.decide(lambda controller: controller.create_topics(request))
