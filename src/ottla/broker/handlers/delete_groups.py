"""DeleteGroups (key 42): empty groups and their offsets, each group for itself, in turns with the other
connections.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.broker.handlers.describe_groups import GROUPS_PER_TURN
from ottla.groups.admin import delete_refusal
from ottla.ports.effects import Sleep, Steps
from ottla.wire.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)


def handle(ctx: RequestContext, request: DeleteGroupsRequest) -> Steps[DeleteGroupsResponse]:
    response = DeleteGroupsResponse()
    for done, group_id in enumerate(dict.fromkeys(request.groups_names), 1):
        while (result := (yield from _delete_some(ctx, group_id))) is None:
            yield Sleep(0)
        response.results.append(result)
        if done % GROUPS_PER_TURN == 0:
            yield Sleep(0)
    return response


def _delete_some(ctx: RequestContext, group_id: str) -> Steps[DeletableGroupResult | None]:
    """The next piece of a group; None while there is more of it."""
    return ctx.node.groups.ask(
        ctx,
        group_id,
        lambda shard, _, promise: shard.admin.delete(group_id, promise),
        lambda error: delete_refusal(group_id, error),
    )
