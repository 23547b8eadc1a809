"""Which partition a record goes to: by its key as Java's client decides it, or sticky when it has none.

All clients of a topic have to agree on the partition of a key, or order per key is lost; so the hash is
Java's murmur2 (seed 0x9747b28c), bit for bit, and the sign bit is masked away as Java does. Records without
a key stay on one partition until a batch's worth of bytes has gone there (KIP-480, KIP-794): full batches
cost a broker less than many small ones. The next partition is drawn evenly from those that have a leader;
with `partitioner.adaptive.partitioning.enable` those with shorter queues are drawn more often, so that a slow
broker gets less.

`partitioner` takes `default`, `sticky` (which does not look at keys), `round-robin`, `random`, librdkafka's
`consistent`, `consistent_random`, `murmur2` and `murmur2_random`, or a function of the user's:

    def by_country(topic, key, value, partitions):     # key and value as they were given to send()
        return hash_of(value["country"]) % partitions.count

where `partitions` is a `Partitions`: how many there are, and which of them have a leader now. What it returns
has to be a partition of the topic.
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from operator import index
from typing import Any, NamedTuple, Protocol

from ottla.client.errors import InvalidArgument, InvalidConfig
from ottla.client.view import TopicView
from ottla.wire.record_writer import partition_of_key

BATCH_OVERHEAD_BYTES = 61
"""The header of a batch, which counts towards `batch.size`."""


class Partitions(NamedTuple):
    """What a user's partitioner is told of a topic."""

    count: int  # type: ignore[assignment]  # a tuple's method, which nobody misses here
    available: Sequence[int]
    """Those that have a leader; all of them when none has."""


class Partitioner(Protocol):
    """What the built-in ones are: the partition for a record whose key is these bytes."""

    def choose(self, topic: TopicView, key: bytes | None, size_bytes: int) -> int: ...


def crc32_partition(key: bytes, partition_count: int) -> int:
    """Where librdkafka puts this key unless it is told otherwise (`consistent`)."""
    return zlib.crc32(key) % partition_count


def partitions_of(topic: TopicView) -> Partitions:
    return Partitions(len(topic.partitions), usable(topic))


def usable(topic: TopicView) -> list[int]:
    """The partitions that have a leader, or all when none has."""
    return topic.available() or [p.index for p in topic.partitions]


class _Spot:
    """Where a topic's records without a key go at the moment."""

    __slots__ = ("topic", "partition", "left_bytes")

    def __init__(self, topic: TopicView, partition: int, left_bytes: int) -> None:
        self.topic = topic
        self.partition = partition
        self.left_bytes = left_bytes


class StickyPartitioner:
    """Chooses partitions for records without a key, and moves on when a batch would be full.

    The bytes are counted as the accumulator counts them, so the partition changes where one batch ends and
    the next would begin; `left(topic, partition)` is told, so that the full batch need not linger. `chance`
    gives numbers in [0, 1). `load(topic, partition)`, where given, is the number of batches that wait: the
    longer a queue, the less likely its partition.
    """

    def __init__(
        self,
        limit_bytes: Callable[[str, int], int],
        chance: Callable[[], float],
        *,
        load: Callable[[str, int], int] | None = None,
        left: Callable[[str, int], None] | None = None,
    ) -> None:
        self._limit_bytes = limit_bytes
        self._chance = chance
        self._load = load
        self._left = left
        self._spots: dict[str, _Spot] = {}

    def choose(self, topic: TopicView, size_bytes: int) -> int:
        spot = self._spots.get(topic.name)
        if spot is not None and spot.topic is topic:
            left_bytes = spot.left_bytes - size_bytes
            if left_bytes >= 0:
                spot.left_bytes = left_bytes
                return spot.partition
        return self._slowly(topic, spot, size_bytes)

    def _slowly(self, topic: TopicView, spot: _Spot | None, size_bytes: int) -> int:
        partitions = usable(topic)
        if spot is not None and spot.topic is not topic and spot.partition in partitions:
            spot.topic = topic  # newer metadata, in which this partition is as good as before
            if spot.left_bytes >= size_bytes:
                spot.left_bytes -= size_bytes
                return spot.partition
        if spot is not None and self._left is not None:
            self._left(topic.name, spot.partition)
        partition = self._draw(topic.name, partitions)
        limit_bytes = self._limit_bytes(topic.name, partition) - BATCH_OVERHEAD_BYTES
        self._spots[topic.name] = _Spot(topic, partition, limit_bytes - size_bytes)
        return partition

    def _draw(self, topic: str, partitions: Sequence[int]) -> int:
        if len(partitions) == 1:
            return partitions[0]
        if self._load is not None:
            queued = [self._load(topic, partition) for partition in partitions]
            longest = max(queued)
            if longest != min(queued):
                # KIP-794: a weight is what the queue lacks of the longest one, plus one.
                sums = list(accumulate(longest + 1 - length for length in queued))
                return partitions[bisect_right(sums, int(self._chance() * sums[-1]), hi=len(sums) - 1)]
        return partitions[_below(len(partitions), self._chance)]


def _below(count: int, chance: Callable[[], float]) -> int:
    return min(int(chance() * count), count - 1)


class KeyPartitioner:
    """By a hash of the key; without a key, sticky. (`default`, and librdkafka's `*_random`.)"""

    def __init__(
        self,
        sticky: StickyPartitioner,
        by_key: Callable[[bytes, int], int] = partition_of_key,
        *,
        ignore_keys: bool = False,
        empty_is_none: bool = False,
    ) -> None:
        self._sticky = sticky
        self._by_key = by_key
        self._ignore_keys = ignore_keys
        self._empty_is_none = empty_is_none

    def choose(self, topic: TopicView, key: bytes | None, size_bytes: int) -> int:
        if key is None or self._ignore_keys or (self._empty_is_none and not key):
            return self._sticky.choose(topic, size_bytes)
        return self._by_key(key, len(topic.partitions))


class HashPartitioner:
    """By a hash of the key, where a missing key counts as an empty one (librdkafka's `consistent`,
    `murmur2`).
    """

    def __init__(self, by_key: Callable[[bytes, int], int]) -> None:
        self._by_key = by_key

    def choose(self, topic: TopicView, key: bytes | None, size_bytes: int) -> int:
        return self._by_key(key or b"", len(topic.partitions))


class RoundRobinPartitioner:
    """One after the other, whatever the key, over the partitions that have a leader."""

    def __init__(self) -> None:
        self._next: dict[str, int] = {}

    def choose(self, topic: TopicView, key: bytes | None, size_bytes: int) -> int:
        number = self._next.get(topic.name, 0)
        self._next[topic.name] = number + 1
        partitions = usable(topic)
        return partitions[number % len(partitions)]


class RandomPartitioner:
    """A new draw for every record, whatever the key, over the partitions that have a leader."""

    def __init__(self, chance: Callable[[], float]) -> None:
        self._chance = chance

    def choose(self, topic: TopicView, key: bytes | None, size_bytes: int) -> int:
        partitions = usable(topic)
        return partitions[_below(len(partitions), self._chance)]


NAMES = (
    *("default", "sticky", "round-robin", "random"),
    *("consistent", "consistent_random", "murmur2", "murmur2_random"),
)


def built_in(
    name: str, sticky: StickyPartitioner, chance: Callable[[], float], *, ignore_keys: bool = False
) -> Partitioner:
    """The partitioner of this name; `ignore_keys` (`partitioner.ignore.keys`) is for `default`, as in
    Java.
    """
    match name:
        case "default":
            return KeyPartitioner(sticky, ignore_keys=ignore_keys)
        case "sticky":
            return KeyPartitioner(sticky, ignore_keys=True)
        case "round-robin":
            return RoundRobinPartitioner()
        case "random":
            return RandomPartitioner(chance)
        case "murmur2":
            return HashPartitioner(partition_of_key)
        case "murmur2_random":
            return KeyPartitioner(sticky)
        case "consistent":
            return HashPartitioner(crc32_partition)
        case "consistent_random":
            return KeyPartitioner(sticky, crc32_partition, empty_is_none=True)
    raise InvalidConfig(
        f"partitioner is {name!r}: write {', '.join(NAMES)}, "
        "or give a function (topic, key, value, partitions)"
    )


def asked(function: Callable[..., Any], topic: TopicView, key: Any, value: Any) -> int:
    """What a user's partitioner says, checked."""
    partitions = partitions_of(topic)
    try:
        answer = function(topic.name, key, value, partitions)
    except Exception as error:
        raise InvalidArgument(f"the partitioner raised {type(error).__name__}: {error}") from error
    return checked(answer, topic)


def checked(answer: Any, topic: TopicView) -> int:
    """A partition that a user named, or InvalidArgument when the topic has none of this number."""
    try:
        number = -1 if isinstance(answer, bool) else index(answer)
    except TypeError:
        number = -1
    if not 0 <= number < len(topic.partitions):
        raise InvalidArgument(
            f"{answer!r} is no partition of topic {topic.name}, which has {len(topic.partitions)} (from 0)"
        )
    return number
