"""ConsumerGroupHeartbeat (key 68): the one request of the newer protocol (KIP-848): join, live, acknowledge,
leave. v1 subscriptions by regular expression, and member ids made by the clients.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.ports.effects import Steps
from ottla.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)


def handle(
    ctx: RequestContext, request: ConsumerGroupHeartbeatRequest
) -> ConsumerGroupHeartbeatResponse | Steps[ConsumerGroupHeartbeatResponse]:
    return ctx.node.groups.submit(
        ctx,
        request.group_id,
        lambda shard, client, promise: shard.consumer_heartbeat(request, client, promise),
        lambda error: ConsumerGroupHeartbeatResponse(error_code=error.code, error_message=error.message),
    )
