"""ListGroups (key 16): the groups that this broker coordinates; v4 by state, v5 by type."""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.model.errors import ErrorCode, KafkaError
from ottla.ports.effects import Sleep, Steps
from ottla.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse

GROUPS_PER_TURN = 500


def handle(ctx: RequestContext, request: ListGroupsRequest) -> Steps[ListGroupsResponse]:
    """Shard by shard, in turns; what a shard says rests on committed records only."""
    response = ListGroupsResponse()
    try:
        for host in list(ctx.node.groups.hosts_in_order()):
            shard = host.shard
            groups = list(shard.state.groups.values())
            for begin in range(0, len(groups), GROUPS_PER_TURN):
                some = groups[begin : begin + GROUPS_PER_TURN]
                response.groups += shard.admin.list(request.states_filter, request.types_filter, some)
                yield Sleep(0)
            if not (yield from host.committed()):
                raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    except KafkaError as error:
        return ListGroupsResponse(error_code=error.code)
    return response
