"""Offsets of many partitions: Spark's JSON, and the ways to say where reading begins and ends.

Spark keeps a stream's progress as text and compares the texts: what is printed here is always in the same
order, topics by name and partitions by number. The form is that of Spark's Kafka connector,
`{"clicks":{"0":12,"1":7}}`, in which -2 stands for the beginning of a partition and -1 for its end.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from ottla.model.types import TopicPartition

EARLIEST: Final = -2
LATEST: Final = -1
_INT64_MAX: Final = 2**63 - 1
_PARTITION_MAX: Final = 2**31 - 1

Offsets = dict[TopicPartition, int]


def to_json(offsets: Mapping[TopicPartition, int]) -> dict[str, dict[str, int]]:
    """As Spark wants it from a Python source: what `json.dumps` prints as the connector's text."""
    found: dict[str, dict[str, int]] = {}
    for tp in sorted(offsets):
        found.setdefault(tp.topic, {})[str(tp.partition)] = offsets[tp]
    return found


def from_json(value: Any, *, least: int = 0) -> Offsets:
    """The offsets in what `json.loads` gave; ValueError says what is wrong with it."""
    found: Offsets = {}
    if not isinstance(value, dict):
        raise ValueError(f"{_shown(value)} is not a mapping of topics to partitions")
    for topic, partitions in value.items():
        if not isinstance(partitions, dict):
            raise ValueError(f"{topic}: {_shown(partitions)} is not a mapping of partitions to numbers")
        for partition, offset in partitions.items():
            tp = TopicPartition(topic, _partition(topic, partition))
            if not isinstance(offset, int) or isinstance(offset, bool) or not least <= offset <= _INT64_MAX:
                raise ValueError(f"{tp}: {_shown(offset)} cannot be its number")
            if tp in found:
                raise ValueError(f"{tp} is there twice")
            found[tp] = offset
    return found


def parse_offsets(text: str) -> Offsets:
    """What a user wrote as `startingOffsets`, with -1 and -2."""
    return from_json(_loaded(text), least=EARLIEST)


def parse_timestamps(text: str) -> Offsets:
    """What a user wrote as `startingOffsetsByTimestamp`: milliseconds since 1970."""
    return from_json(_loaded(text))


def parse_assignment(text: str) -> tuple[TopicPartition, ...]:
    """What a user wrote as `assign`: `{"clicks":[0,1]}`."""
    value = _loaded(text)
    if not isinstance(value, dict):
        raise ValueError(f"{_shown(value)} is not a mapping of topics to lists of partitions")
    found: dict[TopicPartition, None] = {}
    for topic, partitions in value.items():
        if not isinstance(partitions, list):
            raise ValueError(f"{topic}: {_shown(partitions)} is not a list of partitions")
        for partition in partitions:
            found[TopicPartition(topic, _partition(topic, partition))] = None
    if not found:
        raise ValueError("no partition is named")
    return tuple(sorted(found))


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{_shown(text)} is not JSON ({error})") from None


def _partition(topic: str, value: Any) -> int:
    number = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= _PARTITION_MAX:
        raise ValueError(f"{topic}: {_shown(value)} is not the number of a partition")
    return number


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


@dataclass(frozen=True, slots=True)
class OffsetLimit:
    """Where to begin or to end, as it was said; `SourceCluster.resolve` finds the offsets."""

    kind: Literal["earliest", "latest", "offsets", "timestamp", "timestamps"]
    by_partition: tuple[tuple[TopicPartition, int], ...] = ()
    """Offsets or milliseconds, where they were said for each partition."""
    moment_ms: int = -1
    to_latest: bool = False
    """Where no record is as young as was said: take the end of the partition instead of refusing."""

    @classmethod
    def earliest(cls) -> OffsetLimit:
        return cls("earliest")

    @classmethod
    def latest(cls) -> OffsetLimit:
        return cls("latest")

    @classmethod
    def of(cls, offsets: Mapping[TopicPartition, int]) -> OffsetLimit:
        return cls("offsets", tuple(sorted(offsets.items())))

    @classmethod
    def at(cls, moment_ms: int) -> OffsetLimit:
        return cls("timestamp", moment_ms=moment_ms)

    @classmethod
    def at_each(cls, moments: Mapping[TopicPartition, int]) -> OffsetLimit:
        return cls("timestamps", tuple(sorted(moments.items())))

    def with_fallback(self, *, to_latest: bool) -> OffsetLimit:
        return replace(self, to_latest=to_latest)

    @property
    def moves(self) -> bool:
        """Whether asking again later may give another place, although nothing was deleted."""
        if self.kind in ("timestamp", "timestamps"):
            return self.to_latest
        return self.kind == "latest" or any(offset == LATEST for _, offset in self.by_partition)

    @property
    def said(self) -> Offsets:
        """The offsets themselves, where a user gave numbers: nothing says that they are there."""
        return {tp: at for tp, at in self.by_partition if self.kind == "offsets" and at >= 0}

    def for_partitions(self, partitions: Iterable[TopicPartition]) -> Offsets:
        """EARLIEST, LATEST, an offset or a time for each; ValueError unless exactly these were named."""
        wanted = list(partitions)
        if self.kind == "earliest":
            return dict.fromkeys(wanted, EARLIEST)
        if self.kind == "latest":
            return dict.fromkeys(wanted, LATEST)
        if self.kind == "timestamp":
            return dict.fromkeys(wanted, self.moment_ms)
        named = dict(self.by_partition)
        missing = sorted(set(wanted) - set(named))
        extra = sorted(set(named) - set(wanted))
        if missing or extra:
            what = "a time" if self.kind == "timestamps" else "an offset (-2: the beginning, -1: the end)"
            said = [f"{what} is missing for {_listed(missing)}"] if missing else []
            said += [f"{_listed(extra)} {'is' if len(extra) == 1 else 'are'} not read"] if extra else []
            raise ValueError(" and ".join(said))
        return {tp: named[tp] for tp in wanted}


def _listed(partitions: list[TopicPartition]) -> str:
    names = ", ".join(str(tp) for tp in partitions[:5])
    return names if len(partitions) <= 5 else f"{names} and {len(partitions) - 5} more"
