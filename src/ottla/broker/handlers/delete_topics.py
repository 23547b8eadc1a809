"""DeleteTopics (key 20): by name, and from version 6 on by id.

The decision is `metadata/`'s; the reply leaves when its records are on stable storage and applied.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.ports.effects import Steps
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse


def handle(ctx: RequestContext, request: DeleteTopicsRequest) -> Steps[DeleteTopicsResponse]:
    return ctx.node.decide(lambda controller: controller.delete_topics(request, ctx.version))
