"""The metadata quorum of several nodes: electing, committing, failing over, catching up."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from quorum_bench import CLUSTER_ID, QuorumBench, QuorumNode

from ottla.metadata.features import bootstrap_records
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.types import METADATA_TOPIC
from ottla.wire.messages.cluster_metadata import ConfigRecord, TopicRecord
from ottla.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartitionData,
    DescribeQuorumRequestTopicData,
)
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.wire.messages.vote import VoteRequest, VoteRequestPartitionData, VoteRequestTopicData


def topic(number: int) -> list[Any]:
    return [TopicRecord(name=f"topic-{number}", topic_id=number.to_bytes(16, "big"))]


def served(bench: QuorumBench, node: QuorumNode, request: Any, version: int) -> Any:
    outcome: list[Any] = []
    node.serve(request, version, lambda response, error: outcome.append(error or response))
    bench.scheduler.run_until(lambda: bool(outcome), within_ms=10_000)
    return outcome[0]


def begun(**options: Any) -> tuple[QuorumBench, QuorumNode]:
    bench = QuorumBench(**options)
    bench.start()
    leader = bench.until_active()
    assert bench.commit_and_wait(leader, bootstrap_records()) is None
    return bench, leader


def test_three_nodes_elect_one_and_all_apply_what_it_commits() -> None:
    bench, leader = begun(observers=1)
    assert [each.quorum.is_active for each in bench.nodes.values()].count(True) == 1
    for number in range(1, 6):
        assert bench.commit_and_wait(leader, topic(number)) is None
    bench.until_all_have(leader.quorum.offset)
    for node in bench.nodes.values():
        assert node.quorum.image == leader.quorum.image
        assert node.quorum.leader_id == leader.node_id
        assert node.quorum.epoch == leader.quorum.epoch
        assert node.published == sorted(node.published)
        if node is not leader:
            assert node.quorum.controller_address() == leader.address
            assert node.quorum.tip is node.quorum.image
    assert leader.events == ["active"]


def test_a_commit_waits_for_a_majority() -> None:
    bench, leader = begun()
    others = [each for each in bench.nodes.values() if each is not leader]
    for node in others:
        node.stop()
    outcome = bench.commit(leader, topic(1))
    bench.scheduler.run_for(500)
    assert not outcome and "topic-1" not in leader.quorum.image.topics
    assert "topic-1" in leader.quorum.tip.topics
    others[0].start()
    bench.scheduler.run_until(lambda: bool(outcome), within_ms=20_000)
    if outcome[0] is None:
        assert "topic-1" in leader.quorum.image.topics
    else:  # the leader had given up before the other was back
        assert isinstance(outcome[0], KafkaError) and outcome[0].code == ErrorCode.NOT_CONTROLLER


def test_only_the_active_controller_commits() -> None:
    bench, leader = begun()
    other = next(each for each in bench.nodes.values() if each is not leader)
    error = bench.commit_and_wait(other, topic(1))
    assert isinstance(error, KafkaError) and error.code == ErrorCode.NOT_CONTROLLER


def test_a_leader_that_is_cut_off_gives_up_and_its_tip_goes_with_it() -> None:
    """The record that it could not commit is nobody's: the others go on without it."""
    bench, leader = begun()
    bench.cut_off.add(leader.node_id)
    outcome = bench.commit(leader, topic(1))
    successor = bench.until_active(other_than=leader.node_id)
    assert bench.commit_and_wait(successor, topic(2)) is None
    bench.scheduler.run_until(lambda: bool(outcome), within_ms=20_000)
    assert isinstance(outcome[0], KafkaError) and outcome[0].code == ErrorCode.NOT_CONTROLLER
    assert not leader.quorum.is_active and leader.events == ["active", "inactive"]
    assert "topic-1" not in leader.quorum.tip.topics
    bench.cut_off.clear()
    bench.until_all_have(successor.quorum.offset)
    assert set(leader.quorum.image.topics) == {"topic-2"}
    assert leader.quorum.image == successor.quorum.image


def test_what_was_committed_survives_a_crash_of_the_leader_and_of_everybody() -> None:
    bench, leader = begun()
    for number in range(1, 4):
        assert bench.commit_and_wait(leader, topic(number)) is None
    leader.stop()
    successor = bench.until_active(other_than=leader.node_id)
    assert set(successor.quorum.image.topics) == {"topic-1", "topic-2", "topic-3"}
    epoch = successor.quorum.epoch
    assert epoch > leader.quorum.epoch
    leader.start()
    for node in bench.nodes.values():
        node.stop()
    for node in bench.nodes.values():
        node.start()
    again = bench.until_active()
    assert set(again.quorum.image.topics) == {"topic-1", "topic-2", "topic-3"}
    assert again.quorum.epoch > epoch


def test_a_clean_stop_hands_over_at_once() -> None:
    """EndQuorumEpoch: nobody waits for a timeout."""
    bench, leader = begun()
    assert leader.driver is not None
    began = bench.scheduler.now_ms
    leader.driver.run(leader.quorum.resign(), lambda *_: None)
    bench.until_active(other_than=leader.node_id)
    assert bench.scheduler.now_ms - began < 1_000  # the fetch timeout is two seconds


def test_a_node_that_was_away_gets_a_snapshot_when_the_log_does_not_go_back_far_enough() -> None:
    more = {"metadata.max.retention.bytes": "1000"}
    bench, leader = begun(more=more)
    away = next(each for each in bench.nodes.values() if each is not leader)
    away.stop()
    for round_number in range(2):
        for number in range(1, 20):
            assert bench.commit_and_wait(leader, topic(number + 100 * round_number)) is None
        for node in bench.nodes.values():
            if node.up:
                assert node.driver is not None
                node.driver.run(node.quorum.take_snapshot(), lambda *_: None)
        bench.scheduler.run_for(300)
    assert leader.quorum.log.log_start_offset > 0
    away.start()
    bench.until_all_have(leader.quorum.offset)
    assert away.quorum.image == leader.quorum.image
    assert away.quorum.log.log_start_offset == leader.quorum.log.log_start_offset
    assert not away.fatal_errors
    away.stop()
    away.start()  # and from its own disk again
    bench.until_all_have(leader.quorum.offset)
    assert away.quorum.image == leader.quorum.image


def test_a_snapshot_and_the_log_after_it_give_the_image_again() -> None:
    bench, leader = begun(voters=1)
    for number in range(1, 400):
        leader.quorum.commit_now(topic(number))
    leader.quorum.commit_now([ConfigRecord(resource_type=2, resource_name="topic-1", name="a", value="b")])
    assert leader.driver is not None
    done: list[Any] = []
    leader.driver.run(leader.quorum.take_snapshot(), lambda *_: done.append(True))
    bench.scheduler.run_until(lambda: bool(done), within_ms=10_000)
    leader.quorum.commit_now(topic(1000))
    before = leader.quorum.image
    names = leader.disk.list_dir("/data/__cluster_metadata-0")
    assert [name for name in names if name.endswith(".checkpoint")]
    assert not [name for name in names if name.endswith(".part")]
    leader.stop()
    leader.start()
    assert leader.quorum.is_active and leader.quorum.image == before


def test_a_node_of_another_cluster_is_refused_and_disturbs_nobody() -> None:
    bench, leader = begun()
    epoch = leader.quorum.epoch
    stranger = next(each for each in bench.nodes.values() if each is not leader)
    stranger.stop()
    stranger.cluster_id = "another-cluster-entire"
    stranger.wipe()
    stranger.start()
    bench.scheduler.run_for(8_000)
    assert leader.quorum.is_active and leader.quorum.epoch == epoch
    assert stranger.quorum.log.log_end_offset == 0
    assert bench.commit_and_wait(leader, topic(1)) is None
    assert stranger.quorum.offset == -1
    answer = served(
        bench,
        leader,
        VoteRequest(
            cluster_id="another",
            voter_id=leader.node_id,
            topics=[
                VoteRequestTopicData(
                    topic_name=METADATA_TOPIC,
                    partitions=[
                        VoteRequestPartitionData(
                            replica_epoch=99, replica_id=2, last_offset_epoch=98, last_offset=99
                        )
                    ],
                )
            ],
        ),
        2,
    )
    assert answer.error_code == ErrorCode.INCONSISTENT_CLUSTER_ID


def test_a_voter_with_a_wiped_disk_does_not_elect_somebody_who_lacks_what_was_committed() -> None:
    """It has forgotten what it had, and helps nobody to a majority before it has caught up."""
    bench, leader = begun()
    others = [each for each in bench.nodes.values() if each is not leader]
    behind, wiped = others
    assert bench.commit_and_wait(leader, topic(1)) is None
    bench.until_all_have(leader.quorum.offset)
    behind.stop()
    for number in range(2, 5):
        assert bench.commit_and_wait(leader, topic(number)) is None
    leader.stop()
    wiped.stop()
    wiped.wipe()
    wiped.start()
    behind.start()
    bench.scheduler.run_for(20_000)
    assert bench.active is None, "a majority without what was committed"
    leader.start()
    active = bench.until_active()
    bench.until_all_have(active.quorum.offset)
    for node in bench.nodes.values():
        assert set(node.quorum.image.topics) == {f"topic-{number}" for number in range(1, 5)}
    assert not wiped.disk.exists("/data/__cluster_metadata-0/ottla-joining")


@pytest.mark.parametrize("at", [70, 17, 16, 8], ids=["a record", "the checksum", "the magic", "the length"])
def test_a_damaged_metadata_log_is_not_copied_beyond_its_damage_and_its_leader_is_replaced(
    at: int, caplog: pytest.LogCaptureFixture
) -> None:
    bench, leader = begun()
    one, away = (each for each in bench.nodes.values() if each is not leader)
    away.stop()
    damaged_at = leader.quorum.log.log_end_offset + 1
    for number in range(1, 6):
        assert bench.commit_and_wait(leader, topic(number)) is None
    log = leader.quorum.log
    found = log.active_segment.find(damaged_at)
    assert found is not None
    file = leader.disk.open(log.active_segment.file.path)
    file.write_at(bytes([file.pread(1, found[0] + at)[0] ^ 0x40]), found[0] + at)
    with caplog.at_level(logging.WARNING):
        away.start()
        bench.scheduler.run_for(20_000)
    assert away.quorum.log.log_end_offset <= damaged_at
    lines = [each for each in caplog.records if "the metadata log cannot be copied" in each.getMessage()]
    assert len(lines) == 1
    assert leader.quorum.is_active and bench.commit_and_wait(leader, topic(6)) is None
    leader.stop()
    assert bench.until_active() is one
    bench.until_all_have(one.quorum.offset)
    assert set(away.quorum.image.topics) == {f"topic-{number}" for number in range(1, 7)}


def test_quorum_state_is_kafkas_and_names_the_vote() -> None:
    bench, leader = begun()
    for node in bench.nodes.values():
        state = json.loads(node.disk.read_file("/data/__cluster_metadata-0/quorum-state"))
        assert state["data_version"] == 0
        assert state["leaderEpoch"] == leader.quorum.epoch
        assert [each["voterId"] for each in state["currentVoters"]] == [1, 2, 3]
        assert state["leaderId"] == leader.node_id


@pytest.mark.parametrize("version", [0, 1, 2])
def test_the_leader_describes_the_quorum_and_the_others_say_who_leads(version: int) -> None:
    bench, leader = begun(observers=1)
    request = DescribeQuorumRequest(
        topics=[
            DescribeQuorumRequestTopicData(
                topic_name=METADATA_TOPIC,
                partitions=[DescribeQuorumRequestPartitionData(partition_index=0)],
            )
        ]
    )
    bench.scheduler.run_for(1_000)
    part = served(bench, leader, request, version).topics[0].partitions[0]
    assert part.error_code == 0
    assert (part.leader_id, part.leader_epoch) == (leader.node_id, leader.quorum.epoch)
    assert [each.replica_id for each in part.current_voters] == [1, 2, 3]
    assert [each.replica_id for each in part.observers] == [4]
    assert {each.log_end_offset for each in part.current_voters} == {leader.quorum.log.log_end_offset}
    other = next(each for each in bench.nodes.values() if each is not leader)
    part = served(bench, other, request, version).topics[0].partitions[0]
    assert part.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER and part.leader_id == leader.node_id


def test_fetches_of_anything_but_the_metadata_log_are_refused() -> None:
    bench, leader = begun()

    def fetch(topic_id: bytes, partition: int, epoch: int, cluster_id: str | None = CLUSTER_ID) -> Any:
        return served(
            bench,
            leader,
            FetchRequest(
                cluster_id=cluster_id,
                topics=[
                    FetchTopic(
                        topic_id=topic_id,
                        partitions=[
                            FetchPartition(
                                partition=partition,
                                current_leader_epoch=epoch,
                                fetch_offset=0,
                                last_fetched_epoch=0,
                                partition_max_bytes=1000,
                            )
                        ],
                    )
                ],
            ),
            17,
        )

    metadata_id = bytes(15) + b"\x01"
    epoch = leader.quorum.epoch
    assert fetch(metadata_id, 0, epoch).responses[0].partitions[0].error_code == 0
    assert fetch(metadata_id, 0, epoch - 1).responses[0].partitions[0].error_code == (
        ErrorCode.FENCED_LEADER_EPOCH
    )
    assert fetch(metadata_id, 0, epoch + 1).responses[0].partitions[0].error_code == (
        ErrorCode.UNKNOWN_LEADER_EPOCH
    )
    assert fetch(metadata_id, 1, epoch).responses[0].partitions[0].error_code == (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    )
    assert fetch(b"x" * 16, 0, epoch).responses[0].partitions[0].error_code == (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    )
    assert fetch(metadata_id, 0, epoch, "other").error_code == ErrorCode.INCONSISTENT_CLUSTER_ID


@pytest.mark.parametrize("seed", range(6))
def test_crashes_and_cuts_lose_nothing_that_was_committed(seed: int) -> None:
    bench, _ = begun(seed=seed)
    chance = bench.scheduler.random
    committed: set[str] = set()
    number = 0
    for _ in range(6):
        active = bench.until_active()
        for _ in range(5):
            number += 1
            if bench.commit_and_wait(active, topic(number)) is None:
                committed.add(f"topic-{number}")
            if not active.quorum.is_active:
                break
        victim = chance.choice(list(bench.nodes.values()))
        if chance.random() < 0.5:
            bench.commit(active, topic(10_000 + number)) if active.quorum.is_active else None
            victim.stop()
            bench.until_active(other_than=victim.node_id)
            victim.start()
        else:
            bench.cut_off.add(victim.node_id)
            bench.until_active(other_than=victim.node_id)
            bench.cut_off.clear()
    active = bench.until_active()
    assert bench.commit_and_wait(active, topic(99_999)) is None
    bench.until_all_have(active.quorum.offset)
    for node in bench.nodes.values():
        assert committed <= set(node.quorum.image.topics)
        assert node.quorum.image == active.quorum.image
        assert not node.fatal_errors
