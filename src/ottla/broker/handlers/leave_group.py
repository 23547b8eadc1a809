"""LeaveGroup (key 13): members leave a group; v3 several at once, also by instance id; v5 reasons."""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.ports.effects import Steps
from ottla.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse


def handle(ctx: RequestContext, request: LeaveGroupRequest) -> LeaveGroupResponse | Steps[LeaveGroupResponse]:
    return ctx.node.groups.submit(
        ctx,
        request.group_id,
        lambda shard, client, promise: shard.leave(request, client, promise),
        lambda error: LeaveGroupResponse(error_code=error.code),
    )
