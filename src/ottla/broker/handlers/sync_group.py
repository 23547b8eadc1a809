"""SyncGroup (key 14): the leader hands out the assignments, everybody receives theirs.

v3 static members; v5 protocol type and name (KIP-559), which then have to be there, are checked and returned.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.model.errors import ErrorCode
from ottla.ports.effects import Steps
from ottla.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse

_FIRST_VERSION_WITH_PROTOCOL = 5


def handle(ctx: RequestContext, request: SyncGroupRequest) -> SyncGroupResponse | Steps[SyncGroupResponse]:
    if ctx.version >= _FIRST_VERSION_WITH_PROTOCOL and (
        request.protocol_type is None or request.protocol_name is None
    ):
        return SyncGroupResponse(error_code=ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    return ctx.node.groups.submit(
        ctx,
        request.group_id,
        lambda shard, client, promise: shard.sync(request, client, promise),
        lambda error: SyncGroupResponse(error_code=error.code),
    )
