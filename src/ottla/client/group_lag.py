"""How far groups are behind: their members, committed offsets and the ends of the logs, put together.

Part of the core. What is not known (no commit, a topic that is gone, a partition without a leader) is None.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ottla.client.admin import LATEST, Admin
from ottla.client.admin_groups import PARTITIONS_PER_REQUEST_MAX, GroupAdmin
from ottla.client.admin_results import Results
from ottla.client.cluster import Cluster
from ottla.client.coordinator import chunks
from ottla.client.effects import ClientSteps
from ottla.client.errors import ServerError
from ottla.client.group_views import CommittedOffset, GroupDescription, MemberDescription
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition


class PartitionLag(NamedTuple):
    topic_partition: TopicPartition
    committed: CommittedOffset | None
    end: int | None
    member: MemberDescription | None

    @property
    def lag(self) -> int | None:
        if self.committed is None or self.end is None:
            return None
        return self.end - self.committed.offset


class GroupLag(NamedTuple):
    group: GroupDescription
    partitions: tuple[PartitionLag, ...]
    """Every partition that is assigned or committed, by topic and number."""

    @property
    def total(self) -> int | None:
        """The sum of what is known; None when nothing is."""
        known = [row.lag for row in self.partitions if row.lag is not None]
        return sum(known) if known else None


class GroupLags:
    def __init__(self, cluster: Cluster, admin: Admin, groups: GroupAdmin) -> None:
        self._cluster = cluster
        self._admin = admin
        self._groups = groups

    def of(self, groups: Iterable[str]) -> ClientSteps[Results[str, GroupLag]]:
        """How far groups are behind the ends of the logs, partition by partition."""
        names = list(dict.fromkeys(groups))
        described = yield from self._groups.describe_groups(names)
        committed: dict[str, dict[TopicPartition, CommittedOffset]] = {}
        for name, found in described.items():
            if isinstance(found, GroupDescription):
                try:
                    committed[name] = yield from self._groups.committed_offsets(name)
                except ServerError as error:
                    if error.code != ErrorCode.GROUP_ID_NOT_FOUND:
                        raise
                    committed[name] = {}
        wanted = {tp for offsets in committed.values() for tp in offsets}
        for found in described.values():
            if isinstance(found, GroupDescription):
                wanted.update(tp for member in found.members for tp in member.assignment)
        ends = yield from self.ends(wanted)
        results: Results[str, GroupLag] = Results()
        for name, found in described.items():
            if isinstance(found, GroupDescription):
                owners = {tp: member for member in found.members for tp in member.assignment}
                rows = tuple(
                    PartitionLag(tp, committed[name].get(tp), ends.get(tp), owners.get(tp))
                    for tp in sorted({*owners, *committed[name]})
                )
                results[name] = GroupLag(found, rows)
            else:
                results[name] = found
        return results

    def ends(self, partitions: Iterable[TopicPartition]) -> ClientSteps[dict[TopicPartition, int]]:
        """The log end of each partition that has one to tell."""
        wanted = sorted(partitions)
        if not wanted:
            return {}

        def refreshed() -> ClientSteps[None]:
            yield from self._cluster.refresh(sorted({tp.topic for tp in wanted}))

        yield from self._cluster.retrying(refreshed)
        topics = self._cluster.view.topics
        known = [tp for tp in wanted if tp.topic in topics and not topics[tp.topic].error]
        found: dict[TopicPartition, int] = {}
        for part in chunks(known, PARTITIONS_PER_REQUEST_MAX):
            asked: dict[TopicPartition, int] = dict.fromkeys(part, LATEST)

            def attempt(asked: dict[TopicPartition, int] = asked) -> ClientSteps[None]:
                results = yield from self._admin.list_offsets_once(asked)
                found.update((tp, r.offset) for tp, r in results.succeeded.items() if r.offset >= 0)

            yield from self._cluster.retrying(attempt)
        return found
