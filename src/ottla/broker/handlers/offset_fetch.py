"""OffsetFetch (key 9): what groups have committed.

v2 all topics of a group; v7 stable offsets only, where asked for (KIP-447); v8 many groups at once
(KIP-709), which may be in different shards; v9 checks the member's epoch; v10 topic ids. Many groups, and
many partitions of one, are looked up in turns with the other connections.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.groups.group import Client
from ottla.groups.offsets.fetch import group_refusal, groups_of, merge, response_of
from ottla.groups.shard import Shard
from ottla.model.errors import KafkaError
from ottla.ports.effects import Sleep, Steps
from ottla.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
)

PARTITIONS_PER_PIECE = 1_000
"""Looking one up takes about a microsecond."""


def handle(
    ctx: RequestContext, request: OffsetFetchRequest
) -> OffsetFetchResponse | Steps[OffsetFetchResponse]:
    groups = groups_of(request, ctx.version)
    if len(groups) == 1 and len(pieces := _pieces(ctx, groups[0])) == 1:
        answer = _fetch(ctx, pieces[0], request.require_stable)
        if isinstance(answer, OffsetFetchResponseGroup):
            return response_of([answer], ctx.version)
        return _respond_after(ctx, answer)
    return _fetch_many(ctx, groups, request.require_stable)


def _pieces(ctx: RequestContext, asked: OffsetFetchRequestGroup) -> list[OffsetFetchRequestGroup]:
    try:
        offsets = ctx.node.groups.host_of(asked.group_id).shard.offsets
    except KafkaError:
        return [asked]  # refused when it is asked
    return offsets.fetch_pieces(asked, ctx.version, PARTITIONS_PER_PIECE)


def _fetch(
    ctx: RequestContext, asked: OffsetFetchRequestGroup, require_stable: bool
) -> OffsetFetchResponseGroup | Steps[OffsetFetchResponseGroup]:
    def decision(shard: Shard, client: Client, promise: Promise[OffsetFetchResponseGroup]) -> Outcome:
        outcome = Outcome()
        answer = shard.offsets.fetch(asked, client.api_version, require_stable=require_stable)
        outcome.answer(promise, answer)
        return outcome

    return ctx.node.groups.submit(
        ctx, asked.group_id, decision, lambda error: group_refusal(asked, error, ctx.version)
    )


def _respond_after(ctx: RequestContext, steps: Steps[OffsetFetchResponseGroup]) -> Steps[OffsetFetchResponse]:
    answer = yield from steps
    return response_of([answer], ctx.version)


def _fetch_many(
    ctx: RequestContext, groups: list[OffsetFetchRequestGroup], require_stable: bool
) -> Steps[OffsetFetchResponse]:
    answers: list[OffsetFetchResponseGroup] = []
    for asked in groups:
        parts: list[OffsetFetchResponseGroup] = []
        for piece in _pieces(ctx, asked):
            answer = _fetch(ctx, piece, require_stable)
            if not isinstance(answer, OffsetFetchResponseGroup):
                answer = yield from answer
            parts.append(answer)
            yield Sleep(0)
        answers.append(merge(parts))
    return response_of(answers, ctx.version)
