"""Offsets together with real groups of both protocols, in one shard and across a reload of its log."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from offsets_world import RETENTION_MS, ManualClock, Topics, commit_of, delete_of, topic_id_of

from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.groups.admin import delete_refusal
from ottla.groups.environment import Environment
from ottla.groups.group import Client
from ottla.groups.offsets.commit import refusal as commit_refusal
from ottla.groups.offsets.delete import refusal as offset_delete_refusal
from ottla.groups.record import decode_record
from ottla.groups.settings import GroupSettings
from ottla.groups.shard import Shard
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from ottla.wire.messages.delete_groups import DeletableGroupResult
from ottla.wire.messages.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from ottla.wire.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from ottla.wire.messages.offset_fetch import OffsetFetchRequestGroup, OffsetFetchRequestTopics

MEMBER = "member-1"


class Coordinator:
    """Carries out what the shard decides; its log is a list of keys and values."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        topics = Topics(("orders", topic_id_of(1), 4), ("clicks", topic_id_of(2), 2))
        settings = GroupSettings(offsets_retention_ms=RETENTION_MS)
        self.env = Environment(self.clock, Random(1), topics, settings)
        self.shard = Shard(self.env)
        self.log: list[tuple[bytes, bytes | None]] = []

    def run(self, outcome: Outcome) -> None:
        for record in outcome.records:
            self.log.append((record.key_bytes(), record.value_bytes()))
            if not outcome.replayed:
                self.shard.replay(record, len(self.log), -1)
        for promise, response in outcome.answers:
            promise.complete(response)
        for job in outcome.jobs:
            try:
                while True:
                    next(job)
            except StopIteration as stop:
                self.run(stop.value)

    def reload(self, log: list[tuple[bytes, bytes | None]]) -> None:
        self.shard = Shard(self.env)
        for key, value in log:
            record = decode_record(key, value)
            assert record is not None
            self.shard.replay(record, len(self.log), -1)
        self.run(self.shard.loaded())

    def heartbeat(self, epoch: int, *, topics: list[str] | None = None) -> ConsumerGroupHeartbeatResponse:
        promise: Promise[ConsumerGroupHeartbeatResponse] = Promise(
            lambda error: ConsumerGroupHeartbeatResponse(error_code=int(error.code))
        )
        request = ConsumerGroupHeartbeatRequest(
            group_id="g",
            member_id=MEMBER,
            member_epoch=epoch,
            rebalance_timeout_ms=60_000 if epoch == 0 else -1,
            subscribed_topic_names=topics,
            topic_partitions=[] if epoch == 0 else None,
        )
        self.run(self.shard.consumer_heartbeat(request, Client("c", "/127.0.0.1", 1), promise))
        assert promise.response is not None and promise.response.error_code == 0
        return promise.response

    def commit(self, request: OffsetCommitRequest, version: int = 9) -> list[int]:
        promise: Promise[OffsetCommitResponse] = Promise(lambda error: commit_refusal(request, error))
        self.run(self.shard.offsets.commit(request, Client("c", "/127.0.0.1", version), promise))
        assert promise.response is not None
        return [each.error_code for topic in promise.response.topics for each in topic.partitions]

    def delete_offsets(self, request: OffsetDeleteRequest) -> list[int]:
        promise: Promise[OffsetDeleteResponse] = Promise(offset_delete_refusal)
        self.run(self.shard.offsets.delete(request, promise))
        assert promise.response is not None
        return [each.error_code for topic in promise.response.topics for each in topic.partitions]

    def delete_group(self) -> int:
        promise: Promise[DeletableGroupResult] = Promise(lambda error: delete_refusal("g", error))
        try:
            self.run(self.shard.admin.delete("g", promise))
        except KafkaError as error:
            promise.refuse(error)
        assert promise.response is not None
        return promise.response.error_code

    def fetch(self, member_id: str | None = None, epoch: int = -1) -> Any:
        topics = [OffsetFetchRequestTopics(name="orders", partition_indexes=[0])]
        asked = OffsetFetchRequestGroup(group_id="g", member_id=member_id, member_epoch=epoch, topics=topics)
        answer = self.shard.offsets.fetch(asked, 9)
        return answer.error_code or answer.topics[0].partitions[0].committed_offset

    def expire(self) -> None:
        more = True
        while more:
            outcome, more = self.shard.offsets.expire()
            self.run(outcome)


@pytest.fixture
def joined() -> tuple[Coordinator, int]:
    """A consumer group with one member that reads `orders`, and the member's epoch."""
    coordinator = Coordinator()
    return coordinator, coordinator.heartbeat(0, topics=["orders"]).member_epoch


def test_a_member_of_a_consumer_group_commits_and_fetches_with_its_epoch(
    joined: tuple[Coordinator, int],
) -> None:
    coordinator, epoch = joined
    request = commit_of("g", ("orders", 0, 5), member_id=MEMBER, generation=epoch)
    assert coordinator.commit(request) == [0]
    assert coordinator.fetch(MEMBER, epoch) == 5
    assert coordinator.fetch() == 5


def test_another_epoch_or_member_is_refused(joined: tuple[Coordinator, int]) -> None:
    coordinator, epoch = joined
    stale = commit_of("g", ("orders", 0, 5), member_id=MEMBER, generation=epoch - 1)
    assert coordinator.commit(stale) == [ErrorCode.STALE_MEMBER_EPOCH]
    stranger = commit_of("g", ("orders", 0, 5), member_id="stranger", generation=epoch)
    assert coordinator.commit(stranger) == [ErrorCode.UNKNOWN_MEMBER_ID]
    assert coordinator.fetch(MEMBER, epoch + 1) == ErrorCode.STALE_MEMBER_EPOCH
    assert coordinator.fetch("stranger", epoch) == ErrorCode.UNKNOWN_MEMBER_ID


def test_an_admin_cannot_commit_while_somebody_is_in_the_group(joined: tuple[Coordinator, int]) -> None:
    coordinator, _ = joined
    assert coordinator.commit(commit_of("g", ("orders", 0, 5))) == [ErrorCode.UNKNOWN_MEMBER_ID]


def test_only_topics_that_nobody_reads_lose_their_offsets(joined: tuple[Coordinator, int]) -> None:
    coordinator, epoch = joined
    coordinator.commit(commit_of("g", ("orders", 0, 5), ("clicks", 0, 6), member_id=MEMBER, generation=epoch))
    assert coordinator.delete_offsets(delete_of("g", ("orders", 0), ("clicks", 0))) == [
        ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,
        0,
    ]


def test_a_consumer_group_is_listed_described_and_only_deleted_when_it_is_empty(
    joined: tuple[Coordinator, int],
) -> None:
    coordinator, epoch = joined
    admin = coordinator.shard.admin
    (listed,) = admin.list([], ["consumer"])
    assert (listed.group_id, listed.protocol_type, listed.group_type) == ("g", "consumer", "consumer")
    described = admin.describe_consumer("g")
    assert described.error_code == 0 and [each.member_id for each in described.members] == [MEMBER]
    assert admin.describe_classic("g", 6).error_code == ErrorCode.GROUP_ID_NOT_FOUND
    coordinator.commit(commit_of("g", ("orders", 0, 5), member_id=MEMBER, generation=epoch))
    assert coordinator.delete_group() == ErrorCode.NON_EMPTY_GROUP
    coordinator.heartbeat(-1)
    assert coordinator.delete_group() == 0
    assert coordinator.shard.state.groups == {} and len(coordinator.shard.offsets.store) == 0
    coordinator.reload(coordinator.log)
    assert coordinator.shard.state.groups == {} and len(coordinator.shard.offsets.store) == 0


def test_offsets_of_a_group_that_is_read_stay_and_an_empty_group_ends_with_its_last_offset(
    joined: tuple[Coordinator, int],
) -> None:
    coordinator, epoch = joined
    coordinator.commit(commit_of("g", ("orders", 0, 5), member_id=MEMBER, generation=epoch))
    coordinator.clock.advance(2 * RETENTION_MS)
    coordinator.expire()
    assert coordinator.fetch() == 5
    coordinator.heartbeat(-1)
    coordinator.expire()
    assert coordinator.shard.state.groups == {} and len(coordinator.shard.offsets.store) == 0


def test_a_log_whose_offsets_come_before_their_consumer_group_loads(
    joined: tuple[Coordinator, int],
) -> None:
    """Compaction keeps the last record of each key: the group's may be younger than its offsets'."""
    coordinator, epoch = joined
    before = list(coordinator.log)
    coordinator.commit(commit_of("g", ("orders", 0, 5), member_id=MEMBER, generation=epoch))
    offsets = coordinator.log[len(before) :]
    coordinator.reload(offsets + before)
    assert coordinator.shard.state.groups["g"].type == "consumer"
    assert coordinator.fetch(MEMBER, epoch) == 5


def test_a_simple_group_survives_a_reload() -> None:
    coordinator = Coordinator()
    assert coordinator.commit(commit_of("g", ("orders", 0, 5))) == [0]
    coordinator.reload(coordinator.log)
    (listed,) = coordinator.shard.admin.list()
    assert (listed.group_id, listed.protocol_type, listed.group_state) == ("g", "", "Empty")
    assert coordinator.fetch() == 5


def test_a_simple_group_expires_by_the_time_of_its_commits() -> None:
    coordinator = Coordinator()
    coordinator.commit(commit_of("g", ("orders", 0, 5)))
    coordinator.clock.advance(RETENTION_MS - 1)
    coordinator.commit(commit_of("g", ("orders", 1, 6)))
    coordinator.clock.advance(1)
    coordinator.expire()
    assert len(coordinator.shard.offsets.store) == 1 and "g" in coordinator.shard.state.groups
    coordinator.clock.advance(RETENTION_MS - 1)
    coordinator.expire()
    assert coordinator.shard.state.groups == {}
