"""DescribeGroups (key 15): classic groups and their members.

v3 authorized operations (all of them: this broker has no access rules); v4 instance ids; v6 unknown groups
are GROUP_ID_NOT_FOUND.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.groups.group import Client
from ottla.groups.shard import Shard
from ottla.model.errors import KafkaError
from ottla.ports.effects import Sleep, Steps
from ottla.wire.messages.describe_groups import (
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)

GROUP_OPERATIONS = sum(1 << code for code in (3, 6, 8, 10, 11))
"""READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS: what may be done with a group."""

GROUPS_PER_TURN = 50
"""A request may name a million groups; the other connections are served in between."""


def handle(ctx: RequestContext, request: DescribeGroupsRequest) -> Steps[DescribeGroupsResponse]:
    response = DescribeGroupsResponse()
    for done, group_id in enumerate(request.groups, 1):
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
        outcome.answer(promise, shard.admin.describe_classic(group_id, client.api_version))
        return outcome

    def refusal(error: KafkaError) -> DescribedGroup:
        return DescribedGroup(group_id=group_id, error_code=error.code)

    return ctx.node.groups.ask(ctx, group_id, decision, refusal)
