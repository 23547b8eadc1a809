"""ListPartitionReassignments (key 46): which partitions are being moved. The controller knows."""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.broker.controller_host import answer_or_refuse
from ottla.model.errors import KafkaError
from ottla.ports.effects import Steps
from ottla.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)


def handle(
    ctx: RequestContext, request: ListPartitionReassignmentsRequest
) -> Steps[ListPartitionReassignmentsResponse]:
    return answer_or_refuse(
        ctx.node.ask_controller(request, ctx.version), lambda error: _refused(request, error)
    )


def _refused(
    request: ListPartitionReassignmentsRequest, error: KafkaError
) -> ListPartitionReassignmentsResponse:
    return ListPartitionReassignmentsResponse(error_code=error.code, error_message=error.message)
