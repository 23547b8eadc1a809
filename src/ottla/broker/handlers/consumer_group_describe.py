"""ConsumerGroupDescribe (key 69): groups of the newer protocol, with epochs, targets and current assignments.

v1 says of each member whether it speaks the newer or the classic protocol.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.broker.handlers.describe_groups import GROUP_OPERATIONS, GROUPS_PER_TURN
from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.groups.group import Client
from ottla.groups.shard import Shard
from ottla.model.errors import KafkaError
from ottla.ports.effects import Sleep, Steps
from ottla.wire.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)


def handle(
    ctx: RequestContext, request: ConsumerGroupDescribeRequest
) -> Steps[ConsumerGroupDescribeResponse]:
    response = ConsumerGroupDescribeResponse()
    for done, group_id in enumerate(request.group_ids, 1):
        described = yield from _describe(ctx, group_id)
        if request.include_authorized_operations and not described.error_code:
            described.authorized_operations = GROUP_OPERATIONS
        response.groups.append(described)
        if done % GROUPS_PER_TURN == 0:
            yield Sleep(0)
    return response


def _describe(ctx: RequestContext, group_id: str) -> Steps[DescribedGroup]:
    def decision(shard: Shard, client: Client, promise: Promise[DescribedGroup]) -> Outcome:
        outcome = Outcome()
        outcome.answer(promise, shard.admin.describe_consumer(group_id))
        return outcome

    def refusal(error: KafkaError) -> DescribedGroup:
        return DescribedGroup(group_id=group_id, error_code=error.code, error_message=error.message)

    return ctx.node.groups.ask(ctx, group_id, decision, refusal)
