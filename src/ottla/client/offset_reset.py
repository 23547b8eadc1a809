"""Where a group's offsets would go: the plan of a reset, made by Kafka's rules before anything is changed.

Part of the core. Offsets that are asked for beyond the log are moved to its edge, times after the last record
to the end; the plan says so for each partition, and the caller tells the user.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import NamedTuple

from ottla.client.admin import EARLIEST, LATEST, Admin
from ottla.client.admin_groups import PARTITIONS_PER_REQUEST_MAX, GroupAdmin
from ottla.client.cluster import Cluster
from ottla.client.coordinator import chunks
from ottla.client.effects import ClientSteps
from ottla.client.errors import InvalidArgument, ServerError
from ottla.client.group_views import CommittedOffset
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition


class ResetTo(Enum):
    EARLIEST = "to-earliest"
    LATEST = "to-latest"
    OFFSET = "to-offset"
    TIME = "to-datetime"
    SHIFT = "shift-by"
    CURRENT = "to-current"


class ResetTarget(NamedTuple):
    to: ResetTo
    number: int = 0
    """The offset, the milliseconds since 1970, or by how much to shift."""


class Adjusted(Enum):
    """Why a planned offset is not the one that was asked for."""

    NO = "no"
    ABOVE_END = "higher than the latest offset"
    BELOW_START = "lower than the earliest offset"
    NO_RECORD = "no record is that young"


class PlannedOffset(NamedTuple):
    topic_partition: TopicPartition
    current: int | None
    new: int
    asked: int
    adjusted: Adjusted = Adjusted.NO


class OffsetResets:
    def __init__(self, cluster: Cluster, admin: Admin, groups: GroupAdmin) -> None:
        self._cluster = cluster
        self._admin = admin
        self._groups = groups

    def partitions(
        self, group: str, topics: Mapping[str, Iterable[int] | None] | None
    ) -> ClientSteps[list[TopicPartition]]:
        """The scope of a reset: the named topics' partitions (None: all of a topic), or, without topics, what
        the group has committed. Raises for what does not exist.
        """
        if topics is None:
            return sorted((yield from self._groups.committed_offsets(group)))
        view = yield from self._cluster.discover(sorted(topics))
        found: list[TopicPartition] = []
        for name, indexes in topics.items():
            existing = [p.index for p in view.topic(name).partitions]
            chosen = existing if indexes is None else list(dict.fromkeys(indexes))
            missing = [TopicPartition(name, index) for index in chosen if index not in existing]
            if missing:
                raise ServerError(
                    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                    f"there is no partition {missing[0].partition}, the topic has {len(existing)}",
                    subject=f"topic {name}",
                )
            found += [TopicPartition(name, index) for index in chosen]
        return sorted(found)

    def plan(
        self, group: str, partitions: Iterable[TopicPartition], target: ResetTarget
    ) -> ClientSteps[list[PlannedOffset]]:
        wanted = sorted(partitions)
        current = yield from self._groups.committed_offsets(group)
        now = {tp: current[tp].offset if tp in current else None for tp in wanted}
        if target.to in (ResetTo.EARLIEST, ResetTo.LATEST):
            when = EARLIEST if target.to is ResetTo.EARLIEST else LATEST
            found = yield from self._offsets(dict.fromkeys(wanted, when))
            return [PlannedOffset(tp, now[tp], found[tp], found[tp]) for tp in wanted]
        if target.to is ResetTo.TIME:
            return (yield from self._plan_time(now, target.number))
        if target.to is ResetTo.CURRENT:
            ends = yield from self._offsets({tp: LATEST for tp, offset in now.items() if offset is None})
            planned = []
            for tp, offset in now.items():
                new = ends[tp] if offset is None else offset
                planned.append(PlannedOffset(tp, offset, new, new))
            return planned
        asked: dict[TopicPartition, int] = {}
        for tp, offset in now.items():
            if target.to is ResetTo.OFFSET:
                asked[tp] = target.number
            elif offset is None:
                raise InvalidArgument(
                    f"Cannot shift offset for partition {tp} since there is no current committed offset"
                )
            else:
                asked[tp] = offset + target.number
        return (yield from self.plan_offsets(group, asked, current))

    def plan_offsets(
        self,
        group: str,
        asked: Mapping[TopicPartition, int],
        current: Mapping[TopicPartition, CommittedOffset] | None = None,
    ) -> ClientSteps[list[PlannedOffset]]:
        """One offset for each partition, moved into the log where it lies outside."""
        if current is None:
            current = yield from self._groups.committed_offsets(group)
        first = yield from self._offsets(dict.fromkeys(asked, EARLIEST))
        last = yield from self._offsets(dict.fromkeys(asked, LATEST))
        planned = []
        for tp, offset in sorted(asked.items()):
            new, adjusted = offset, Adjusted.NO
            if offset > last[tp]:
                new, adjusted = last[tp], Adjusted.ABOVE_END
            elif offset < first[tp]:
                new, adjusted = first[tp], Adjusted.BELOW_START
            known = current[tp].offset if tp in current else None
            planned.append(PlannedOffset(tp, known, new, offset, adjusted))
        return planned

    def execute(
        self, group: str, plan: Iterable[PlannedOffset]
    ) -> ClientSteps[dict[TopicPartition, ServerError]]:
        """Commits the plan from outside the group; gives the partitions that were refused."""
        offsets = {entry.topic_partition: CommittedOffset(entry.new) for entry in plan}
        return (yield from self._groups.commit_offsets(group, offsets))

    def reset_consumer_group_offsets(
        self,
        group: str,
        target: ResetTarget,
        topics: Mapping[str, Iterable[int] | None] | None = None,
        *,
        dry_run: bool = False,
    ) -> ClientSteps[list[PlannedOffset]]:
        """Moves the offsets of a group without members, in topics (None as partitions: all of a topic) or in
        all that it has committed; gives what was done, or with `dry_run` what would be. Raises the first
        refusal.
        """
        plan = yield from self.plan(group, (yield from self.partitions(group, topics)), target)
        if not dry_run:
            for error in (yield from self.execute(group, plan)).values():
                raise error
        return plan

    def _plan_time(
        self, now: Mapping[TopicPartition, int | None], time_ms: int
    ) -> ClientSteps[list[PlannedOffset]]:
        found = yield from self._offsets(dict.fromkeys(now, time_ms))
        late = {tp for tp, offset in found.items() if offset < 0}
        ends = yield from self._offsets(dict.fromkeys(late, LATEST))
        return [
            PlannedOffset(tp, now[tp], ends[tp], -1, Adjusted.NO_RECORD)
            if tp in late
            else PlannedOffset(tp, now[tp], found[tp], found[tp])
            for tp in sorted(now)
        ]

    def _offsets(self, when: Mapping[TopicPartition, int]) -> ClientSteps[dict[TopicPartition, int]]:
        """Offsets by time; raises for a partition that cannot tell its own (no leader, not there)."""
        found: dict[TopicPartition, int] = {}
        for part in chunks(sorted(when), PARTITIONS_PER_REQUEST_MAX):
            asked = {tp: when[tp] for tp in part}

            def attempt(asked: dict[TopicPartition, int] = asked) -> ClientSteps[None]:
                results = yield from self._admin.list_offsets_once(asked)
                found.update((tp, result.offset) for tp, result in results.all().items())

            yield from self._cluster.retrying(attempt)
        return found
