"""Heartbeat (key 12): a member of a classic group is alive, and hears of rebalances. v3 static members."""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.ports.effects import Steps
from ottla.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse


def handle(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse | Steps[HeartbeatResponse]:
    return ctx.node.groups.submit(
        ctx,
        request.group_id,
        lambda shard, client, promise: shard.heartbeat(request, client, promise),
        lambda error: HeartbeatResponse(error_code=error.code),
    )
