"""Voters that are in the metadata log (KIP-853): the first of them, those that join, leave or lose a disk."""

from __future__ import annotations

import json
from typing import Any

from quorum_bench import CLUSTER_ID, QuorumBench, QuorumNode

from ottla.metadata.features import bootstrap_records
from ottla.model.errors import ErrorCode
from ottla.wire.messages.add_raft_voter import AddRaftVoterRequest, Listener
from ottla.wire.messages.cluster_metadata import TopicRecord
from ottla.wire.messages.remove_raft_voter import RemoveRaftVoterRequest


def topic(number: int) -> list[Any]:
    return [TopicRecord(name=f"topic-{number}", topic_id=number.to_bytes(16, "big"))]


def begun(voters: int, joiners: int) -> tuple[QuorumBench, QuorumNode]:
    bench = QuorumBench(voters, joiners=joiners)
    bench.start()
    leader = bench.until_active()
    assert bench.commit_and_wait(leader, bootstrap_records()) is None
    return bench, leader


def served(bench: QuorumBench, node: QuorumNode, request: Any) -> Any:
    outcome: list[Any] = []
    node.serve(request, 0, lambda response, error: outcome.append(error or response))
    bench.scheduler.run_until(lambda: bool(outcome), within_ms=40_000)
    return outcome[0]


def add(bench: QuorumBench, leader: QuorumNode, node: QuorumNode, *, cluster_id: str = CLUSTER_ID) -> int:
    request = AddRaftVoterRequest(
        cluster_id=cluster_id,
        timeout_ms=5_000,
        voter_id=node.node_id,
        voter_directory_id=node.directory_id,
        listeners=[Listener(name="CONTROLLER", host=node.address.host, port=node.address.port)],
    )
    code: int = served(bench, leader, request).error_code
    return code


def remove(bench: QuorumBench, leader: QuorumNode, node_id: int, directory_id: bytes) -> int:
    request = RemoveRaftVoterRequest(cluster_id=CLUSTER_ID, voter_id=node_id, voter_directory_id=directory_id)
    code: int = served(bench, leader, request).error_code
    return code


def voter_ids(node: QuorumNode) -> list[int]:
    return [voter.key.node_id for voter in node.quorum.raft.voters]


def test_a_quorum_of_one_grows_to_three_and_its_first_voter_may_go() -> None:
    bench, first = begun(1, 2)
    assert voter_ids(first) == [1]
    for node_id in (2, 3):
        assert add(bench, first, bench.nodes[node_id]) == 0
    bench.until_all_have(first.quorum.offset)
    assert all(voter_ids(node) == [1, 2, 3] for node in bench.nodes.values())
    state = json.loads(first.disk.read_file("/data/__cluster_metadata-0/quorum-state"))
    assert state["data_version"] == 1
    assert bench.commit_and_wait(first, topic(1)) is None
    assert remove(bench, first, 1, first.directory_id) == 0
    successor = bench.until_active(other_than=1)
    assert bench.commit_and_wait(successor, topic(2)) is None
    bench.until_all_have(successor.quorum.offset)
    assert all(voter_ids(node) == [2, 3] for node in bench.nodes.values())
    assert set(first.quorum.image.topics) == {"topic-1", "topic-2"}, "it follows, and votes no more"


def test_the_voters_are_known_again_after_a_start_from_the_log_and_from_a_snapshot() -> None:
    bench, first = begun(1, 2)
    assert add(bench, first, bench.nodes[2]) == 0
    for with_snapshot in (False, True):
        if with_snapshot:
            for node in (first, bench.nodes[2]):
                assert node.driver is not None
                node.driver.run(node.quorum.take_snapshot(), lambda *_: None)
            bench.scheduler.run_for(500)
        for node in bench.nodes.values():
            node.stop()
        for node in bench.nodes.values():
            node.start()
        active = bench.until_active()
        assert voter_ids(active) == [1, 2]


def test_a_voter_cannot_be_added_twice_nor_from_another_cluster_nor_before_it_has_caught_up() -> None:
    bench, leader = begun(1, 2)
    assert add(bench, leader, bench.nodes[2]) == 0
    assert add(bench, leader, bench.nodes[2]) == ErrorCode.DUPLICATE_VOTER
    assert add(bench, leader, bench.nodes[3], cluster_id="x") == ErrorCode.INCONSISTENT_CLUSTER_ID
    bench.nodes[3].stop()
    bench.scheduler.run_for(3_000)
    assert add(bench, leader, bench.nodes[3]) == ErrorCode.REQUEST_TIMED_OUT
    assert voter_ids(leader) == [1, 2]
    assert remove(bench, leader, 3, bench.nodes[3].directory_id) == ErrorCode.VOTER_NOT_FOUND


def test_a_follower_answers_that_it_does_not_lead() -> None:
    bench, leader = begun(3, 1)
    other = next(each for each in bench.nodes.values() if each.node_id not in (leader.node_id, 4))
    assert add(bench, other, bench.nodes[4]) == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_static_voters_cannot_be_changed() -> None:
    bench = QuorumBench(3)
    bench.start()
    leader = bench.until_active()
    other = next(each for each in bench.nodes.values() if each is not leader)
    assert remove(bench, leader, other.node_id, other.directory_id) == ErrorCode.UNSUPPORTED_VERSION


def test_a_voter_with_another_disk_is_not_the_voter_that_it_was() -> None:
    """KIP-853: it follows as an observer until the old one is removed and the new one added."""
    bench, leader = begun(3, 0)
    wiped = next(each for each in bench.nodes.values() if each is not leader)
    old = wiped.directory_id
    wiped.stop()
    wiped.wipe()
    wiped.start()
    assert bench.commit_and_wait(leader, topic(1)) is None
    bench.until_all_have(leader.quorum.offset)
    assert not wiped.quorum.is_voter
    third = next(each for each in bench.nodes.values() if each not in (leader, wiped))
    third.stop()
    outcome = bench.commit(leader, topic(2))
    bench.scheduler.run_for(1_000)
    assert not outcome, "the wiped one is no part of a majority"
    third.start()
    active = bench.until_active()
    assert remove(bench, active, wiped.node_id, old) == 0
    assert add(bench, active, wiped) == 0
    bench.until_all_have(active.quorum.offset)
    assert wiped.quorum.is_voter
