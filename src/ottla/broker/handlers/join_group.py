"""JoinGroup (key 11): become a member of a classic group, and wait there for the others.

v1 rebalance timeout; v4 a member id is handed out first (KIP-394); v5 static members (KIP-345); v7 protocol
type and a null protocol; v8 reasons; v9 the assignment may be skipped (KIP-814). The reply comes when the
rebalance is complete: the next requests of the connection are served meanwhile, and answered after it.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.groups.classic.answers import UNKNOWN_MEMBER_ID, join_refusal
from ottla.ports.effects import Steps
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse


def handle(ctx: RequestContext, request: JoinGroupRequest) -> JoinGroupResponse | Steps[JoinGroupResponse]:
    return ctx.node.groups.submit(
        ctx,
        request.group_id,
        lambda shard, client, promise: shard.join(request, client, promise),
        lambda error: join_refusal(error.code, UNKNOWN_MEMBER_ID, ctx.version),
    )
