"""AlterPartition (key 56, controllers only): leaders change the in-sync sets of their partitions."""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.broker.controller_host import answer_or_refuse
from ottla.ports.effects import Steps
from ottla.wire.messages.alter_partition import AlterPartitionRequest, AlterPartitionResponse


def handle(ctx: RequestContext, request: AlterPartitionRequest) -> Steps[AlterPartitionResponse]:
    return answer_or_refuse(
        ctx.node.controllers.decide(request, ctx.version),
        lambda error: AlterPartitionResponse(error_code=error.code),
    )
