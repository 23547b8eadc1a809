"""DeleteTopics (key 20): take topics away, by name or by id (v6). The controller decides."""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.broker.controller_host import answer_or_refuse
from ottla.model.errors import KafkaError
from ottla.model.types import NO_TOPIC_ID
from ottla.ports.effects import Steps
from ottla.wire.messages.delete_topics import DeletableTopicResult, DeleteTopicsRequest, DeleteTopicsResponse


def handle(ctx: RequestContext, request: DeleteTopicsRequest) -> Steps[DeleteTopicsResponse]:
    return answer_or_refuse(
        ctx.node.ask_controller(request, ctx.version), lambda error: _refused(request, error)
    )


def _refused(request: DeleteTopicsRequest, error: KafkaError) -> DeleteTopicsResponse:
    named = [(topic.name, topic.topic_id) for topic in request.topics]
    named += [(name, NO_TOPIC_ID) for name in request.topic_names]
    return DeleteTopicsResponse(
        responses=[
            DeletableTopicResult(
                name=name, topic_id=topic_id, error_code=error.code, error_message=error.message
            )
            for name, topic_id in named
        ]
    )
