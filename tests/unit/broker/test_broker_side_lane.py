"""A pass of the loop serves some of the coordinators' requests; data comes before the rest, and nobody
overtakes (`broker/side_lane.py`).
"""

from __future__ import annotations

import pytest
from broker_bench import Bench

from ottla.broker.side_lane import PER_PASS_MIN
from ottla.model.errors import ErrorCode
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.heartbeat import HeartbeatRequest
from ottla.wire.messages.metadata import MetadataRequest
from ottla.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.create("t")
    bench.call(FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]))
    bench.settle()
    return bench


BEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")


def commit(offset: int, metadata: str = "") -> OffsetCommitRequest:
    partition = OffsetCommitRequestPartition(
        partition_index=0, committed_offset=offset, committed_metadata=metadata
    )
    topic = OffsetCommitRequestTopic(name="t", partitions=[partition])
    return OffsetCommitRequest(group_id="g", topics=[topic])


def test_a_thousand_members_at_once_do_not_keep_another_connection_waiting(bench: Bench) -> None:
    members = [bench.connect() for _ in range(1_000)]
    for member in members:
        member.send(BEAT)
    served_at_once = sum(len(member.replies) for member in members)
    assert served_at_once == PER_PASS_MIN
    other = bench.connect()
    other.send(MetadataRequest(topics=[]))
    assert other.replies, "the request of another kind is served in the same pass"
    bench.settle()
    assert all(len(member.replies) == 1 for member in members)


def test_requests_of_one_connection_are_served_and_answered_in_their_order(bench: Bench) -> None:
    peer = bench.connect()
    ids = [peer.send(commit(number), 9) for number in range(100)]
    asked = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=None)])
    last = peer.send(asked, 9)
    bench.settle()
    assert peer.answered == [*ids, last]
    fetched = bench.reply(asked, last, 9, peer)
    assert fetched.groups[0].topics[0].partitions[0].committed_offset == 99


def test_a_large_request_in_line_stops_the_reading_of_its_connection(bench: Bench) -> None:
    crowd = bench.connect()
    for _ in range(PER_PASS_MIN):
        crowd.send(BEAT)
    peer = bench.connect()
    large = commit(7, "x" * 20_000)
    ids = [peer.send(large, 9), peer.send(MetadataRequest(topics=[]))]
    assert not peer.replies
    bench.settle()
    assert peer.answered == ids
    answer = bench.reply(large, ids[0], 9, peer)
    assert answer.topics[0].partitions[0].error_code == ErrorCode.OFFSET_METADATA_TOO_LARGE


def test_garbage_that_stood_in_line_costs_only_its_own_connection(bench: Bench) -> None:
    crowd = bench.connect()
    for _ in range(PER_PASS_MIN + 5):
        crowd.send(BEAT)
    peer = bench.connect()
    peer.send_frame(b"\x00\x0c\x00\x04\x00\x00\x00\x01\xff\xff\x00\x7f")
    bench.settle()
    assert peer.close_reason is not None and "cannot be decoded" in peer.close_reason
    assert len(crowd.replies) == PER_PASS_MIN + 5


def test_a_stopping_broker_closes_whoever_stands_in_line(bench: Bench) -> None:
    peer = bench.connect()
    for _ in range(PER_PASS_MIN + 3):
        peer.send(BEAT)
    bench.node.shutdown()
    bench.settle()
    assert peer.close_reason == "the broker is stopping"
