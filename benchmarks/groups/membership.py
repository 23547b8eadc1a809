"""What both protocols' members share: the setting, a group as its members see it, versions, commits.

A member has one connection, to its coordinator, as a Java client has. What a Java client does besides (a
second connection for fetching, metadata, the records themselves) is left out: the groups' topic is empty,
and the benchmark is about the coordinator.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from groups.connection import Connection, Prepared
from groups.figures import Figures
from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)

OFFSET_COMMIT, OFFSET_FETCH, FIND_COORDINATOR = 8, 9, 10
FIRST_VERSION_WITH_TOPIC_IDS = 10
COMMIT_INTERVAL_S = 1.0
RETRY_S = 0.1

NONE = 0
COORDINATOR_LOAD_IN_PROGRESS = 14
COORDINATOR_NOT_AVAILABLE = 15
NOT_COORDINATOR = 16
ILLEGAL_GENERATION = 22
UNKNOWN_MEMBER_ID = 25
REBALANCE_IN_PROGRESS = 27
MEMBER_ID_REQUIRED = 79
FENCED_MEMBER_EPOCH = 110
STALE_MEMBER_EPOCH = 113
NOT_READY = (COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR)


@dataclass(slots=True)
class Setting:
    """What all members know."""

    address: str
    topic: str
    topic_id: bytes
    partitions: int
    figures: Figures
    loop: asyncio.AbstractEventLoop
    versions: dict[int, int]
    """Of each API the highest version that the broker has."""
    chance: random.Random = field(default_factory=lambda: random.Random(7))


class Member(Protocol):
    """What a group needs to see of its members."""

    epoch: int
    """Generation (classic) or member epoch (consumer)."""
    settled: bool
    """It has what it was assigned in this epoch, and nothing is under way."""
    owned: frozenset[int]

    async def connect(self) -> None: ...
    def join(self) -> None: ...
    def leave(self) -> None: ...
    def heartbeat_now(self) -> None: ...
    def close(self) -> None: ...


class Group:
    """Watches its members; `stable_at` is when the last of them had its part of the newest assignment."""

    def __init__(self, group_id: str, setting: Setting) -> None:
        self.group_id = group_id
        self.setting = setting
        self.members: list[Member] = []
        self.joined_at = 0.0
        self.stable_at: float | None = None
        self._epoch_before = -1
        self._all = frozenset(range(setting.partitions))

    def expect_change(self) -> None:
        """Only an epoch above the present one counts from now on."""
        self._epoch_before = max((member.epoch for member in self.members), default=-1)
        self.stable_at = None

    def changed(self) -> None:
        """A member tells that something about it is new."""
        if self._is_stable():
            if self.stable_at is None:
                self.stable_at = time.monotonic()
        else:
            self.stable_at = None

    def _is_stable(self) -> bool:
        epoch = self.members[0].epoch
        if epoch <= self._epoch_before or not all(
            member.settled and member.epoch == epoch for member in self.members
        ):
            return False
        owned = [partition for member in self.members for partition in member.owned]
        return len(owned) == len(self._all) and self._all.issuperset(owned)


async def connected(setting: Setting, group_id: str, lost: Any) -> Connection:
    """A connection that has asked for versions and for the coordinator, as a client does first."""
    host, port = setting.address.rsplit(":", 1)
    _, connection = await setting.loop.create_connection(
        lambda: Connection(setting.figures, lost), host, int(port)
    )
    versions = Prepared(
        "api_versions",
        ApiVersionsRequest(client_software_name="groups-bench", client_software_version="1"),
        3,
    )
    await asked(setting.loop, connection, versions)
    version = min(setting.versions[FIND_COORDINATOR], FindCoordinatorRequest.MAX_VERSION)
    find = Prepared("find_coordinator", FindCoordinatorRequest(coordinator_keys=[group_id]), version)
    while True:
        (found,) = (await asked(setting.loop, connection, find)).coordinators
        if found.error_code == NONE:
            return connection
        # The first question makes the broker create the offsets topic.
        setting.figures.errors[f"find_coordinator {found.error_code}"] += 1
        await asyncio.sleep(RETRY_S)


async def asked(loop: asyncio.AbstractEventLoop, connection: Connection, request: Prepared) -> Any:
    answered: asyncio.Future[bytes] = loop.create_future()
    connection.send(request, lambda answer, _: answered.set_result(answer))
    return request.decode(await answered)


def commit_request(
    setting: Setting, group_id: str, member_id: str, epoch: int, partitions: Iterable[int]
) -> Prepared:
    version = min(setting.versions[OFFSET_COMMIT], OffsetCommitRequest.MAX_VERSION)
    topic = OffsetCommitRequestTopic(
        partitions=[
            OffsetCommitRequestPartition(
                partition_index=partition,
                committed_offset=1_000_000 + epoch,
                committed_leader_epoch=0,
                committed_metadata="",
            )
            for partition in sorted(partitions)
        ]
    )
    if version >= FIRST_VERSION_WITH_TOPIC_IDS:
        topic.topic_id = setting.topic_id
    else:
        topic.name = setting.topic
    request = OffsetCommitRequest(
        group_id=group_id, generation_id_or_member_epoch=epoch, member_id=member_id, topics=[topic]
    )
    return Prepared("commit", request, version)


def offset_fetch_request(
    setting: Setting, group_id: str, partitions: Iterable[int], member_id: str | None, member_epoch: int
) -> Prepared:
    """A classic member asks without saying who it is: member None, epoch -1."""
    version = min(setting.versions[OFFSET_FETCH], OffsetFetchRequest.MAX_VERSION)
    topic = OffsetFetchRequestTopics(partition_indexes=sorted(partitions))
    if version >= FIRST_VERSION_WITH_TOPIC_IDS:
        topic.topic_id = setting.topic_id
    else:
        topic.name = setting.topic
    group = OffsetFetchRequestGroup(
        group_id=group_id, member_id=member_id, member_epoch=member_epoch, topics=[topic]
    )
    return Prepared("offset_fetch", OffsetFetchRequest(groups=[group], require_stable=True), version)


def commit_errors(answer: Any) -> set[int]:
    return {
        partition.error_code
        for topic in answer.topics
        for partition in topic.partitions
        if partition.error_code
    }


def offset_fetch_errors(answer: Any) -> set[int]:
    return {group.error_code for group in answer.groups if group.error_code} | {
        partition.error_code
        for group in answer.groups
        for topic in group.topics
        for partition in topic.partitions
        if partition.error_code
    }
