"""Heartbeat (key 12): a member of a classic group is alive, and hears of rebalances. v3 static members."""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.model.errors import ErrorCode, KafkaError
from ottla.ports.effects import Steps
from ottla.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse


def handle(ctx: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse | Steps[HeartbeatResponse]:
    return ctx.node.groups.submit(
        ctx,
        request.group_id,
        lambda shard, client, promise: shard.heartbeat(request, client, promise),
        _refusal,
    )


def _refusal(error: KafkaError) -> HeartbeatResponse:
    """While its shard is loading a member hears that all is well, as in Kafka: its session begins anew when
    the shard is there, and some clients take the truth for the end of the world.
    """
    is_loading = error.code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    return HeartbeatResponse(error_code=ErrorCode.NONE if is_loading else error.code)
