"""Fetches of replicas at their leader (`handlers/fetch.py`): who is believed, and what it moves."""

from __future__ import annotations

from typing import Any

import pytest
from replica_bench import TOPIC_ID, Cluster, batch, produce_request, replica_fetch

from ottla.model.errors import ErrorCode
from ottla.replication.leader import Follower
from ottla.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic


@pytest.fixture
def cluster() -> Cluster:
    """Only the leader lives; the test speaks for the others."""
    cluster = Cluster()
    cluster[2].kill()
    cluster[3].kill()
    cluster.create(2)
    return cluster


def epoch_of(cluster: Cluster, node_id: int) -> int:
    return cluster.image.brokers[node_id].epoch


def fetch(cluster: Cluster, replica: int, offset: int, version: int = 17, **options: Any) -> Any:
    epoch = options.pop("replica_epoch", epoch_of(cluster, replica) if replica <= 3 else 1)
    request = replica_fetch(replica, epoch, {0: offset}, version=version, **options)
    response = cluster.client(1).call(request, version)
    assert response.error_code == 0
    return response.responses[0].partitions[0]


def follower(cluster: Cluster, node_id: int) -> Follower:
    leading = cluster[1].partition().leading
    assert leading is not None
    return leading.followers[node_id]


def append(cluster: Cluster, count: int = 1) -> None:
    cluster.client(1).call(produce_request(count, acks=1), 12)


def test_a_replica_reads_past_the_high_watermark(cluster: Cluster) -> None:
    append(cluster, 3)
    data = fetch(cluster, 2, 0)
    assert (data.error_code, data.high_watermark) == (0, 0)
    assert len(data.records) == len(batch(3))


def test_the_slowest_member_of_the_set_is_the_high_watermark(cluster: Cluster) -> None:
    append(cluster, 3)
    fetch(cluster, 2, 3)
    assert cluster[1].partition().log.high_watermark == 0
    assert fetch(cluster, 3, 2).high_watermark == 2
    assert fetch(cluster, 3, 3).high_watermark == 3


@pytest.mark.parametrize("offset", [0, 3])
def test_a_broker_that_is_not_registered_moves_nothing(cluster: Cluster, offset: int) -> None:
    append(cluster, 3)
    assert fetch(cluster, 77, offset).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert cluster[1].partition().log.high_watermark == 0


def test_a_stale_broker_epoch_moves_nothing(cluster: Cluster) -> None:
    append(cluster, 3)
    for epoch in (epoch_of(cluster, 2) - 1, -1):
        data = fetch(cluster, 2, 3, replica_epoch=epoch)
        assert data.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert follower(cluster, 2).log_end_offset == -1


def test_a_replica_of_an_old_version_has_no_epoch_and_is_not_believed(cluster: Cluster) -> None:
    append(cluster, 3)
    data = fetch(cluster, 2, 3, version=14)
    assert data.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert follower(cluster, 2).log_end_offset == -1


def test_a_broker_that_is_no_replica_is_refused(cluster: Cluster) -> None:
    cluster.alter(replicas=[1, 2], isr=[1, 2])
    cluster.settle()
    data = fetch(cluster, 3, 0)
    assert data.error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    assert fetch(cluster, 3, 0, leader_epoch=-1).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


@pytest.mark.parametrize(
    ("leader_epoch", "code"), [(1, ErrorCode.UNKNOWN_LEADER_EPOCH), (0, ErrorCode.FENCED_LEADER_EPOCH)]
)
def test_another_leader_epoch_moves_nothing(cluster: Cluster, leader_epoch: int, code: ErrorCode) -> None:
    if leader_epoch == 0:
        cluster.elect(1)
        cluster.settle()
    append(cluster, 3)
    assert fetch(cluster, 2, 3, leader_epoch=leader_epoch).error_code == code
    assert follower(cluster, 2).log_end_offset == -1


def test_a_log_that_parted_is_told_where_and_moves_nothing(cluster: Cluster) -> None:
    append(cluster, 3)
    cluster.elect(1)
    cluster.settle()
    data = fetch(cluster, 2, 5, leader_epoch=1, last_fetched_epoch=0)
    assert (data.diverging_epoch.epoch, data.diverging_epoch.end_offset) == (0, 3)
    assert follower(cluster, 2).log_end_offset == -1


def test_an_offset_outside_the_log_moves_nothing(cluster: Cluster) -> None:
    append(cluster, 3)
    assert fetch(cluster, 2, 9).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert follower(cluster, 2).log_end_offset == -1


def test_a_consumer_cannot_go_on_with_a_replicas_session(cluster: Cluster) -> None:
    epoch = epoch_of(cluster, 2)
    client = cluster.client(1)
    session_id = client.call(replica_fetch(2, epoch, {0: 0}, session_epoch=0), 17).session_id
    assert session_id > 0
    for thief in (-1, 3):
        request = replica_fetch(thief, epoch, {}, session_id=session_id, session_epoch=1)
        assert client.call(request, 17).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_waiting_replica_is_woken_by_an_append_and_not_by_the_high_watermark(cluster: Cluster) -> None:
    client = cluster.client(1)
    epoch = epoch_of(cluster, 2)
    number = client.send(replica_fetch(2, epoch, {0: 0, 1: 0}, session_epoch=0, max_wait_ms=20_000), 17)
    cluster.settle(50)
    session_id = client.answers.pop(number).session_id if number in client.answers else 0
    assert session_id, "the first answer tells every partition's high watermark soon"
    number = client.send(
        replica_fetch(2, epoch, {}, session_id=session_id, session_epoch=1, max_wait_ms=20_000), 17
    )
    cluster.settle(1_000)
    assert number not in client.answers
    append(cluster)
    cluster.until(lambda: number in client.answers, within_ms=100)
    (topic,) = client.answers[number].responses
    assert [each.partition_index for each in topic.partitions] == [0]


def test_progress_counts_for_partitions_that_found_no_room_in_the_answer(cluster: Cluster) -> None:
    for index in (0, 1):
        cluster.client(1).call(produce_request(1, index=index, acks=1, value=bytes(600_000)), 12)
    request = replica_fetch(2, epoch_of(cluster, 2), {0: 0, 1: 1}, session_epoch=0)
    request.max_bytes = 1000
    cluster.client(1).call(request, 17)
    leading = cluster[1].partition(1).leading
    assert leading is not None and leading.followers[2].log_end_offset == 1


def test_a_fenced_follower_joins_the_set_when_it_is_unfenced_though_nothing_happens(cluster: Cluster) -> None:
    cluster.alter(isr=[1, 3])
    cluster.register(2, fenced=True)
    cluster.settle()
    fetch(cluster, 2, 0)
    cluster.settle()
    assert cluster.state().isr == (1, 3)
    cluster.register(2)
    cluster.settle()
    assert cluster.state().isr == (1, 3)  # its fetch was of another life of the broker
    fetch(cluster, 2, 0)
    cluster.until(lambda: cluster.state().isr == (1, 3, 2))


def test_a_refused_member_is_not_proposed_again_at_once(cluster: Cluster) -> None:
    cluster.alter(isr=[1, 3])
    cluster.controller.refuses = lambda _: ErrorCode.INELIGIBLE_REPLICA
    cluster.settle()
    fetch(cluster, 2, 0)
    cluster.settle(5_000)
    assert len(cluster.controller.asked) == 1
    assert cluster[1].partition().proposal is None
    cluster.controller.refuses = lambda _: ErrorCode.NONE
    cluster.until(lambda: cluster.state().isr == (1, 3, 2))


def test_a_proposal_is_repeated_until_the_controller_is_there(cluster: Cluster) -> None:
    cluster.alter(isr=[1, 3])
    cluster.controller.is_reachable = False
    cluster.settle()
    fetch(cluster, 2, 0)
    cluster.settle(2_000)
    assert cluster[1].partition().proposal is not None
    cluster.controller.is_reachable = True
    cluster.until(lambda: cluster[1].partition().isr == (1, 3, 2))


def test_the_high_watermark_waits_for_a_member_that_is_only_proposed(cluster: Cluster) -> None:
    """The controller may have accepted it already, and may make a leader of it."""
    cluster.alter(isr=[1])
    cluster.controller.is_reachable = False
    cluster.settle()
    fetch(cluster, 2, 0)
    append(cluster)
    assert cluster[1].partition().log.high_watermark == 0
    fetch(cluster, 2, 1)
    assert cluster[1].partition().log.high_watermark == 1
    assert cluster[1].partition().isr == (1,)


def test_eligible_leader_replicas_hold_the_high_watermark_below_min_insync_replicas(cluster: Cluster) -> None:
    """KIP-966"""
    partition = cluster[1].partition()
    cluster[1].node.replicas.in_sync.holds_below_min_isr = True
    cluster[1].node.replicas.in_sync.may_join = lambda *_: False
    partition.log.update_config(type(partition.log.config)(min_insync_replicas=2))
    cluster.alter(isr=[1])
    cluster.settle()
    append(cluster)
    assert partition.log.high_watermark == 0
    cluster.alter(isr=[1, 2])
    cluster.settle()
    fetch(cluster, 2, 1)
    assert partition.log.high_watermark == 1


def test_acks_all_is_answered_when_the_set_falls_below_the_minimum(cluster: Cluster) -> None:
    partition = cluster[1].partition()
    partition.log.update_config(type(partition.log.config)(min_insync_replicas=2))
    client = cluster.client(1)
    number = client.send(produce_request(), 12)
    cluster.settle()
    assert number not in client.answers
    cluster.alter(isr=[1])
    cluster.until(lambda: number in client.answers)
    answer = client.answers[number].responses[0].partition_responses[0]
    assert answer.error_code == ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND


def test_a_leader_that_was_elected_uncleanly_says_that_it_has_recovered(cluster: Cluster) -> None:
    cluster.elect(1, isr=[1], leader_recovery_state=1)
    cluster.until(lambda: cluster.state().leader_recovery_state == 0)
    cluster.settle()
    assert cluster[1].partition().leader_recovery_state == 0


def test_records_are_deleted_when_every_live_replica_has_deleted_them(cluster: Cluster) -> None:
    append(cluster, 5)
    fetch(cluster, 2, 5)
    fetch(cluster, 3, 5)
    client = cluster.client(1)
    number = client.send(
        DeleteRecordsRequest(
            topics=[
                DeleteRecordsTopic(
                    name="events", partitions=[DeleteRecordsPartition(partition_index=0, offset=4)]
                )
            ],
            timeout_ms=10_000,
        )
    )
    cluster.settle()
    assert number not in client.answers
    fetch(cluster, 2, 5, log_start_offset=4)
    cluster.settle()
    assert number not in client.answers
    fetch(cluster, 3, 5, log_start_offset=4)
    cluster.until(lambda: number in client.answers)
    answer = client.answers[number].topics[0].partitions[0]
    assert (answer.error_code, answer.low_watermark) == (0, 4)


def consumer_fetch(offset: int, rack: str = "") -> FetchRequest:
    return FetchRequest(
        max_bytes=1 << 20,
        rack_id=rack,
        topics=[
            FetchTopic(
                topic_id=TOPIC_ID,
                topic="events",
                partitions=[FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)],
            )
        ],
    )


def test_a_consumer_is_sent_to_the_replica_in_its_rack_and_served_there() -> None:
    """KIP-392"""
    cluster = Cluster(
        replica_selector_class="org.apache.kafka.common.replica.RackAwareReplicaSelector",
        rack_1="north",
        rack_2="south",
        rack_3="west",
    )
    cluster.create()
    cluster.produce(3)
    cluster.settle()
    for rack, replica in (("south", 2), ("west", 3), ("north", -1), ("nowhere", -1), ("", -1)):
        data = cluster.client(1).call(consumer_fetch(0, rack)).responses[0].partitions[0]
        assert (data.error_code, data.preferred_read_replica) == (0, replica), rack
        assert bool(data.records) == (replica == -1)
    data = cluster.client(2).call(consumer_fetch(0, "south")).responses[0].partitions[0]
    assert (data.error_code, data.high_watermark, len(data.records)) == (0, 3, len(batch(3)))
    old = cluster.client(2).call(consumer_fetch(0), 10).responses[0].partitions[0]
    assert old.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_follower_gives_nothing_beyond_the_high_watermark_that_it_knows() -> None:
    cluster = Cluster()
    cluster.create()
    cluster.produce(3)
    cluster.settle()
    cluster[3].kill()
    cluster.produce(2, acks=1)
    cluster.until(lambda: cluster[2].partition().log.log_end_offset == 5)
    data = cluster.client(2).call(consumer_fetch(0)).responses[0].partitions[0]
    assert (data.high_watermark, len(data.records)) == (3, len(batch(3)))
    data = cluster.client(2).call(consumer_fetch(4)).responses[0].partitions[0]
    assert data.error_code == ErrorCode.OFFSET_NOT_AVAILABLE
    data = cluster.client(2).call(consumer_fetch(6)).responses[0].partitions[0]
    assert data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
