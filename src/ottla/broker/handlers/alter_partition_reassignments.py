"""AlterPartitionReassignments (key 45): move partitions to other brokers, or stop moving them.

v1 may forbid a change of the replication factor. The controller decides.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.broker.controller_host import answer_or_refuse
from ottla.model.errors import KafkaError
from ottla.ports.effects import Steps
from ottla.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)


def handle(
    ctx: RequestContext, request: AlterPartitionReassignmentsRequest
) -> Steps[AlterPartitionReassignmentsResponse]:
    return answer_or_refuse(
        ctx.node.ask_controller(request, ctx.version), lambda error: _refused(request, error)
    )


def _refused(
    request: AlterPartitionReassignmentsRequest, error: KafkaError
) -> AlterPartitionReassignmentsResponse:
    return AlterPartitionReassignmentsResponse(error_code=error.code, error_message=error.message)
