"""Which partitions are not as they should be: the questions that operators ask, in one place.

Pure. A partition is under-replicated when a replica that belongs to it is not in sync (one that is only being
added does not belong yet), at its minimum when one more loss stops writers with acks=all, under it when they
are stopped, and unavailable without a living leader.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ottla.client.admin import PartitionDescription


class Health(NamedTuple):
    under_replicated: bool
    at_min_isr: bool
    under_min_isr: bool
    unavailable: bool


def partition_health(
    p: PartitionDescription, min_isr: int, live: Collection[int], adding: Collection[int] = ()
) -> Health:
    belonging = [node for node in p.replicas if node not in adding]
    return Health(
        under_replicated=len(p.isr) < len(belonging),
        at_min_isr=len(p.isr) == min_isr,
        under_min_isr=len(p.isr) < min_isr,
        unavailable=not p.has_leader or p.leader not in live,
    )


class Verdict(Enum):
    """The exit codes of `ottla cluster status`."""

    WELL = 0
    DEGRADED = 3
    """Everything is served, with less redundancy than there should be."""
    BROKEN = 4
    """Something cannot be read or written."""


class Counts(NamedTuple):
    topics: int
    partitions: int
    under_replicated: int
    at_min_isr: int
    under_min_isr: int
    unavailable: int
    fenced_brokers: int

    @classmethod
    def of(cls, topics: int, partitions: Iterable[Health], fenced_brokers: int) -> Counts:
        found = list(partitions)
        return cls(
            topics,
            len(found),
            sum(p.under_replicated for p in found),
            # With one replica and a minimum of one, every healthy partition stands at its minimum.
            sum(p.at_min_isr and p.under_replicated for p in found),
            sum(p.under_min_isr for p in found),
            sum(p.unavailable for p in found),
            fenced_brokers,
        )

    @property
    def verdict(self) -> Verdict:
        if self.unavailable or self.under_min_isr:
            return Verdict.BROKEN
        if self.under_replicated or self.fenced_brokers:
            return Verdict.DEGRADED
        return Verdict.WELL

    @property
    def sentence(self) -> str:
        """The state of the cluster in one line."""
        problems = [
            text.format(count, "partition" if count == 1 else "partitions")
            for count, text in (
                (self.unavailable, "{} {} without a leader"),
                (self.under_min_isr, "{} {} below min.insync.replicas"),
                (self.under_replicated, "{} {} under-replicated"),
            )
            if count
        ]
        if self.fenced_brokers:
            plural = "broker" if self.fenced_brokers == 1 else "brokers"
            problems.append(f"{self.fenced_brokers} {plural} fenced")
        if not problems:
            return f"well: all {self.partitions} partitions have their leaders and all their replicas in sync"
        word = "broken" if self.verdict is Verdict.BROKEN else "degraded"
        return f"{word}: {', '.join(problems)} (of {self.partitions})"


def min_isr_of(configs: Mapping[str, Mapping[str, str | None]], topic: str) -> int:
    text = configs.get(topic, {}).get("min.insync.replicas") or "1"
    return int(text) if text.isdecimal() else 1
