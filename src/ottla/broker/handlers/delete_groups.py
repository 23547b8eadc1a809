"""DeleteGroups (key 42): empty groups and their offsets, each group for itself."""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.groups.admin import delete_refusal
from ottla.ports.effects import Steps
from ottla.wire.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)


def handle(ctx: RequestContext, request: DeleteGroupsRequest) -> Steps[DeleteGroupsResponse]:
    response = DeleteGroupsResponse()
    for group_id in dict.fromkeys(request.groups_names):
        result = _delete(ctx, group_id)
        if not isinstance(result, DeletableGroupResult):
            result = yield from result
        response.results.append(result)
    return response


def _delete(ctx: RequestContext, group_id: str) -> DeletableGroupResult | Steps[DeletableGroupResult]:
    return ctx.node.groups.submit(
        ctx,
        group_id,
        lambda shard, _, promise: shard.admin.delete(group_id, promise),
        lambda error: delete_refusal(group_id, error),
    )
