"""Commits of many partitions, cut into several that each take little of a turn, and their answers put
together again. OffsetCommit and TxnOffsetCommit have the same shape: topics with partitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from itertools import chain
from typing import Any, Protocol, TypeVar


class _Topic(Protocol):
    partitions: list[Any]


class _OfTopics(Protocol):
    @property
    def topics(self) -> list[Any]: ...


Q = TypeVar("Q", bound=_OfTopics)
R = TypeVar("R", bound=_OfTopics)
M = TypeVar("M")


def partition_count(request: _OfTopics) -> int:
    return sum(len(topic.partitions) for topic in request.topics)


def chunks(request: Q, partitions_max: int) -> Iterator[Q]:
    """The request as several that name at most so many partitions each; itself when it is small enough."""
    if partition_count(request) <= partitions_max:
        yield request
        return
    topics: list[_Topic] = []
    room = partitions_max
    for topic in request.topics:
        begin = 0
        while begin < len(topic.partitions):
            some = topic.partitions[begin : begin + room]
            topics.append(_with(topic, partitions=some))
            begin += len(some)
            room -= len(some)
            if not room:
                yield _with(request, topics=topics)
                topics = []
                room = partitions_max
    if topics:
        yield _with(request, topics=topics)


def merge(request: _OfTopics, responses: Sequence[R]) -> R:
    """One response in the order of `request`, from those to its chunks."""
    if len(responses) == 1:
        return responses[0]
    results = chain.from_iterable(topic.partitions for response in responses for topic in response.topics)
    shape = responses[0].topics[0]  # a piece names at least one partition
    topics = []
    for topic in request.topics:
        whole = _with(shape, partitions=[each for _, each in zip(topic.partitions, results, strict=False)])
        whole.name = topic.name
        if hasattr(topic, "topic_id"):
            whole.topic_id = topic.topic_id
        topics.append(whole)
    return _with(responses[0], topics=topics)


def _with(message: M, **fields: Any) -> M:
    changed = copy(message)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed
