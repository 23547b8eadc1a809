"""Reading in a group: what is marked is committed, when, and what a rebalance does to it."""

from __future__ import annotations

from typing import Any

import pytest
from client_script import Script

from ottla.client.admin import EARLIEST, LATEST, Admin
from ottla.client.admin_groups import GroupAdmin
from ottla.client.consumer_protocol import write_assignment, write_subscription
from ottla.client.coordinator import Coordinators
from ottla.client.errors import BrokerUnavailable, ServerError
from ottla.client.fetcher import FetcherSettings
from ottla.client.group_consumer import GroupConsumer, GroupConsumerSettings
from ottla.client.membership import GroupSettings
from ottla.client.membership_classic import ClassicMembership
from ottla.client.membership_consumer import ConsumerMembership
from ottla.client.records import ConsumedRecord
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatResponse,
    ConsumerGroupHeartbeatResponseTopicPartitions,
)
from ottla.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from ottla.wire.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from ottla.wire.messages.heartbeat import HeartbeatResponse
from ottla.wire.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from ottla.wire.messages.leave_group import LeaveGroupResponse
from ottla.wire.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from ottla.wire.messages.offset_commit import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from ottla.wire.messages.offset_fetch import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from ottla.wire.messages.sync_group import SyncGroupResponse
from ottla.wire.record_batch import Record, encode_batch

TP = TopicPartition("t", 0)
LOG_END = 4


class GroupOfOne(Script):
    """A topic `t` of one partition with offsets 0 to 3, and a group whose only member we are."""

    def __init__(self, *, protocol: str = "classic", **settings: Any) -> None:
        super().__init__()
        self.topics = {"t": [1]}
        self.committed: int | None = None
        self.commits: list[tuple[int, str, int]] = []
        self.commit_codes: list[int] = []
        self.heartbeat_codes: list[int] = []
        self.epoch = 1
        for name, handler in {
            "FindCoordinator": self._find,
            "JoinGroup": self._join,
            "SyncGroup": lambda node, r: SyncGroupResponse(assignment=write_assignment([TP])),
            "Heartbeat": lambda node, r: HeartbeatResponse(error_code=self._next(self.heartbeat_codes)),
            "LeaveGroup": lambda node, r: LeaveGroupResponse(),
            "ConsumerGroupHeartbeat": self._consumer_heartbeat,
            "OffsetFetch": self._offset_fetch,
            "OffsetCommit": self._offset_commit,
            "ListOffsets": self._list_offsets,
            "Fetch": self._fetch,
        }.items():
            self.handlers[name] = handler
        group = GroupSettings("g", assignors=("range",))
        membership: Any = (
            ClassicMembership(group, ["t"], lambda: 0.5)
            if protocol == "classic"
            else ConsumerMembership(group, "me", lambda: 0.5, topics=["t"])
        )
        coordinators = Coordinators(self.cluster)
        admin = Admin(self.cluster)
        settings.setdefault("reset", EARLIEST)
        self.consumer = GroupConsumer(
            self.cluster,
            admin,
            GroupAdmin(self.cluster, coordinators),
            coordinators,
            membership,
            FetcherSettings(),
            GroupConsumerSettings(**settings),
        )

    def poll(self, max_wait_ms: int = 100) -> list[ConsumedRecord]:
        found: list[ConsumedRecord] = self.run(self.consumer.poll(max_wait_ms))
        return found

    @staticmethod
    def _next(codes: list[int]) -> int:
        return codes.pop(0) if codes else 0

    def _find(self, node_id: int, request: Any) -> FindCoordinatorResponse:
        return FindCoordinatorResponse(coordinators=[Coordinator(key="g", node_id=1)])

    def _join(self, node_id: int, request: Any) -> JoinGroupResponse:
        if not request.member_id:
            return JoinGroupResponse(error_code=ErrorCode.MEMBER_ID_REQUIRED, member_id="m")
        self.epoch += 1
        member = JoinGroupResponseMember(member_id="m", metadata=write_subscription(["t"]))
        return JoinGroupResponse(
            generation_id=self.epoch, protocol_name="range", leader="m", member_id="m", members=[member]
        )

    def _consumer_heartbeat(self, node_id: int, request: Any) -> ConsumerGroupHeartbeatResponse:
        given = None
        if request.member_epoch == 0:
            part = ConsumerGroupHeartbeatResponseTopicPartitions(topic_id=self.topic_id("t"), partitions=[0])
            given = Assignment(topic_partitions=[part])
        return ConsumerGroupHeartbeatResponse(
            member_id="me", member_epoch=self.epoch, heartbeat_interval_ms=5000, assignment=given
        )

    def _offset_fetch(self, node_id: int, request: Any) -> OffsetFetchResponse:
        part = OffsetFetchResponsePartitions(
            committed_offset=-1 if self.committed is None else self.committed
        )
        topic = OffsetFetchResponseTopics(name="t", partitions=[part])
        return OffsetFetchResponse(groups=[OffsetFetchResponseGroup(group_id="g", topics=[topic])])

    def _offset_commit(self, node_id: int, request: Any) -> OffsetCommitResponse:
        code = self._next(self.commit_codes)
        (topic,) = request.topics
        offset = topic.partitions[0].committed_offset
        if not code:
            self.commits.append((offset, request.member_id, request.generation_id_or_member_epoch))
            self.committed = offset
        part = OffsetCommitResponsePartition(error_code=code)
        return OffsetCommitResponse(topics=[OffsetCommitResponseTopic(name="t", partitions=[part])])

    def _list_offsets(self, node_id: int, request: Any) -> ListOffsetsResponse:
        when = request.topics[0].partitions[0].timestamp
        part = ListOffsetsPartitionResponse(offset=0 if when == EARLIEST else LOG_END)
        return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="t", partitions=[part])])

    def _fetch(self, node_id: int, request: Any) -> FetchResponse:
        topic = request.topics[0]
        start = topic.partitions[0].fetch_offset
        records = [Record(0, 0, b"k", b"v%d" % n) for n in range(start, LOG_END)]
        batch = bytes(encode_batch(records, base_offset=start)) if records else b""
        if not records:
            self.clock.elapsed_ms += request.max_wait_ms
        data = PartitionData(
            high_watermark=LOG_END, last_stable_offset=LOG_END, records=memoryview(batch), partition_index=0
        )
        answer = FetchableTopicResponse(topic=topic.topic, topic_id=topic.topic_id, partitions=[data])
        return FetchResponse(responses=[answer])


def test_a_member_begins_where_the_group_has_got_to() -> None:
    group = GroupOfOne()
    group.committed = 2
    assert [record.offset for record in group.poll()] == [2, 3]
    assert group.consumer.assignment == {TP}


@pytest.mark.parametrize(("reset", "offsets"), [(EARLIEST, [0, 1, 2, 3]), (LATEST, [])])
def test_where_nothing_is_committed_the_reset_policy_decides(reset: int, offsets: list[int]) -> None:
    group = GroupOfOne(reset=reset)
    assert [record.offset for record in group.poll()] == offsets
    assert group.consumer.at_end
    refusing = GroupOfOne(reset=None)
    with pytest.raises(ServerError, match=r"auto\.offset\.reset is none"):
        refusing.poll()


def test_only_what_is_marked_is_committed_when_the_group_is_left() -> None:
    group = GroupOfOne()
    records = group.poll()
    group.consumer.mark(records[:3])
    group.run(group.consumer.close())
    assert group.commits == [(3, "m", 2)]
    assert group.names()[-2:] == ["OffsetCommit", "LeaveGroup"]
    assert group.consumer.commit_failure is None


def test_nothing_marked_commits_the_position_it_began_with_so_that_nothing_is_skipped_later() -> None:
    group = GroupOfOne(reset=LATEST)
    group.poll()
    group.run(group.consumer.close())
    assert [offset for offset, _, _ in group.commits] == [LOG_END]


def test_what_is_marked_is_committed_at_intervals_once() -> None:
    group = GroupOfOne(auto_commit_interval_ms=1000)
    group.consumer.mark(group.poll())
    group.poll(400)
    assert group.commits == []
    group.poll(700)
    group.poll(100)
    assert [offset for offset, _, _ in group.commits] == [LOG_END]
    for _ in range(5):
        group.poll(1000)
    assert len(group.commits) == 1
    assert "Heartbeat" in group.names()


def test_without_auto_commit_only_the_caller_commits() -> None:
    group = GroupOfOne(auto_commit_interval_ms=None)
    group.consumer.mark(group.poll())
    group.poll(60_000)
    assert group.commits == []
    group.run(group.consumer.commit())
    assert group.commits == [(LOG_END, "m", 2)]
    group.run(group.consumer.close())
    assert len(group.commits) == 1


def test_a_rebalance_commits_before_the_partitions_are_given_up() -> None:
    group = GroupOfOne()
    group.heartbeat_codes = [int(ErrorCode.REBALANCE_IN_PROGRESS)]
    group.consumer.mark(group.poll())
    while group.names().count("SyncGroup") < 2:
        group.poll(1000)
    assert group.commits == [(LOG_END, "m", 2)]  # with the generation in which they were read
    names = group.names()
    assert names.index("OffsetCommit") < len(names) - 1 - names[::-1].index("JoinGroup")
    assert group.consumer.membership.identity.generation == 3


def test_a_member_that_was_thrown_out_commits_nothing() -> None:
    group = GroupOfOne(auto_commit_interval_ms=3_600_000)
    group.heartbeat_codes = [int(ErrorCode.UNKNOWN_MEMBER_ID)]
    group.consumer.mark(group.poll())
    while group.names().count("SyncGroup") < 2:
        group.poll(1000)
    assert group.commits == []


def test_a_commit_with_a_stale_epoch_is_sent_again_after_a_heartbeat() -> None:
    """KIP-848: the epoch moves on with every assignment of the group."""
    group = GroupOfOne(protocol="consumer")
    records: list[ConsumedRecord] = []
    while not records:
        records = group.poll()
    group.consumer.mark(records)
    group.commit_codes = [int(ErrorCode.STALE_MEMBER_EPOCH)]
    group.epoch = 9
    group.run(group.consumer.close())
    assert group.commits == [(LOG_END, "me", 9)]
    assert group.consumer.commit_failure is None
    assert group.calls[-1][2].member_epoch == -1


def test_a_commit_that_is_refused_at_the_end_is_told() -> None:
    group = GroupOfOne()
    group.consumer.mark(group.poll())
    group.commit_codes = [int(ErrorCode.ILLEGAL_GENERATION)]
    group.run(group.consumer.close())
    assert isinstance(group.consumer.commit_failure, ServerError)
    assert group.names()[-1] == "LeaveGroup"


def test_a_fetch_that_fails_is_tried_again_between_heartbeats() -> None:
    group = GroupOfOne()
    good = group.handlers["Fetch"]
    failures = [BrokerUnavailable("a:1")] * 3

    def fetch(node_id: int, request: Any) -> Any:
        if failures:
            raise failures.pop()
        return good(node_id, request)

    group.handlers["Fetch"] = fetch
    found: list[ConsumedRecord] = []
    while not found:
        found = group.poll()
    assert len(found) == LOG_END and group.pauses == [100.0, 200.0, 400.0]


def test_a_topic_filter_subscribes_to_what_matches_now_and_later() -> None:
    chosen: list[list[str]] = []

    def choose(names: Any) -> list[str]:
        chosen.append(sorted(names))
        return ["t"]

    group = GroupOfOne(topic_filter=choose)
    assert len(group.poll()) == LOG_END
    assert chosen == [["t"]]
