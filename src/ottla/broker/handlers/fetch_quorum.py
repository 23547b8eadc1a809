"""Fetch (key 1) on the controllers' listener: replicas of the quorum follow the metadata log; nothing else is
read there. v12 has the epoch of the last record, v17 the directory id, v18 the high watermark.
"""

from __future__ import annotations

from ottla.broker import raft_wire
from ottla.broker.context import RequestContext
from ottla.model.errors import ErrorCode
from ottla.ports.effects import Steps
from ottla.raft import messages as raft
from ottla.wire.messages.fetch import FetchRequest, FetchResponse

EPOCH_SINCE = 12
"""Older fetches do not say where they stand: nobody could tell whether their log is this one."""


def handle(ctx: RequestContext, request: FetchRequest) -> FetchResponse | Steps[FetchResponse]:
    if ctx.version < EPOCH_SINCE:
        return FetchResponse(error_code=ErrorCode.UNSUPPORTED_VERSION if ctx.version >= 7 else 0)
    try:
        asked = raft_wire.fetch_of(request, ctx.version, ctx.node.cluster_id)
    except raft_wire.BadRequest as error:
        if error.whole:
            return FetchResponse(error_code=error.code)
        return raft_wire.fetch_message(raft.FetchResponse(error.code, -1, -1), ctx.version)
    return _ask(ctx, asked)


def _ask(ctx: RequestContext, asked: raft.FetchRequest) -> Steps[FetchResponse]:
    answer = yield from ctx.node.quorum.ask(asked)
    assert isinstance(answer, raft.FetchResponse)
    return raft_wire.fetch_message(answer, ctx.version)
