"""Commits of many partitions, in pieces that are each a batch of their own, in turns with the other
connections. The connection's next request waits for all of them: it may be the next commit.
"""

from __future__ import annotations

from collections.abc import Callable
from types import GeneratorType
from typing import Any, Final, TypeVar

from ottla.broker.context import RequestContext
from ottla.groups.offsets.pieces import chunks, merge, partition_count
from ottla.ports.effects import Sleep, Steps

Q = TypeVar("Q", bound=Any)
R = TypeVar("R", bound=Any)

PARTITIONS_PER_PIECE: Final = 200
"""Deciding, writing and replaying one takes a few microseconds: about a millisecond a piece."""


def commit_in_pieces(
    ctx: RequestContext, request: Q, commit: Callable[[RequestContext, Q], R | Steps[R]]
) -> R | Steps[R]:
    """What `commit` answers to the request, or to all of its pieces together."""
    if partition_count(request) <= PARTITIONS_PER_PIECE:
        return commit(ctx, request)
    return _each(ctx, request, commit)


def _each(ctx: RequestContext, request: Q, commit: Callable[[RequestContext, Q], R | Steps[R]]) -> Steps[R]:
    responses: list[R] = []
    pause = object()
    ctx.peer.pause_reading(pause)
    try:
        for piece in chunks(request, PARTITIONS_PER_PIECE):
            answer: Any = commit(ctx, piece)
            if isinstance(answer, GeneratorType):
                answer = yield from answer
            responses.append(answer)
            yield Sleep(0)
    finally:
        ctx.peer.resume_reading(pause)
    return merge(request, responses)
