"""CreateTopics (key 19): make topics, with assignments, configs, or only a check whether it would work.

The controller decides (`metadata/topics.py`); the reply leaves when its records are committed.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.broker.controller_host import answer_or_refuse
from ottla.model.errors import KafkaError
from ottla.ports.effects import Steps
from ottla.wire.messages.create_topics import CreatableTopicResult, CreateTopicsRequest, CreateTopicsResponse


def handle(ctx: RequestContext, request: CreateTopicsRequest) -> Steps[CreateTopicsResponse]:
    return answer_or_refuse(
        ctx.node.ask_controller(request, ctx.version), lambda error: _refused(request, error)
    )


def _refused(request: CreateTopicsRequest, error: KafkaError) -> CreateTopicsResponse:
    return CreateTopicsResponse(
        topics=[
            CreatableTopicResult(
                name=topic.name, error_code=error.code, error_message=error.message, configs=[]
            )
            for topic in request.topics
        ]
    )
