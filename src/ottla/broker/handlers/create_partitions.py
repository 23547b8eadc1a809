"""CreatePartitions (key 37): give a topic more partitions. The controller decides."""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.broker.controller_host import answer_or_refuse
from ottla.model.errors import KafkaError
from ottla.ports.effects import Steps
from ottla.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)


def handle(ctx: RequestContext, request: CreatePartitionsRequest) -> Steps[CreatePartitionsResponse]:
    return answer_or_refuse(
        ctx.node.ask_controller(request, ctx.version), lambda error: _refused(request, error)
    )


def _refused(request: CreatePartitionsRequest, error: KafkaError) -> CreatePartitionsResponse:
    return CreatePartitionsResponse(
        results=[
            CreatePartitionsTopicResult(name=topic.name, error_code=error.code, error_message=error.message)
            for topic in request.topics
        ]
    )
