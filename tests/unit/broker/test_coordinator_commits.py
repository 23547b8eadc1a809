"""What the coordinators say and do while their logs' high watermark is behind the end, for a while or for
long: as when followers are slow, or have gone.
"""

from __future__ import annotations

from typing import Any

import pytest
from broker_bench import BenchPeer
from cluster_bench import move, register
from group_bench import commit_request, fetch_offsets_request
from txn_bench import TxnBench, TxnProducer

from ottla.model.errors import ErrorCode
from ottla.model.types import CONSUMER_OFFSETS_TOPIC, TRANSACTION_STATE_TOPIC
from ottla.replication.partition import Partition
from ottla.wire.messages.describe_transactions import DescribeTransactionsRequest
from ottla.wire.messages.list_groups import ListGroupsRequest
from ottla.wire.messages.list_transactions import ListTransactionsRequest

COMMIT_TIMEOUT_MS = 5_000.0


@pytest.fixture
def bench() -> TxnBench:
    bench = TxnBench()
    register(bench, 2)
    return bench


def hold(bench: TxnBench, topic: str) -> Partition:
    """The partition's high watermark stands still, as if a flush took its time."""
    partition = bench.node.partitions[(topic, 0)]
    partition.flush_running = True
    return partition


def release(partition: Partition) -> None:
    partition.flush_running = partition.flush_wanted = False
    partition.flushed(partition.log.log_end_offset)


class Asked:
    """A request that is under way."""

    def __init__(self, bench: TxnBench, request: Any, version: int) -> None:
        self._bench = bench
        self._request = request
        self._version = version
        self.peer: BenchPeer = bench.connect()
        self._id = self.peer.send(request, version)

    @property
    def answered(self) -> bool:
        return bool(self.peer.answered)

    def answer(self, within_ms: float = 60_000) -> Any:
        self._bench.scheduler.run_until(lambda: self.answered, within_ms=within_ms)
        return self._bench.reply(self._request, self._id, self._version, self.peer)

    def commit_code(self) -> ErrorCode:
        return ErrorCode(self.answer().topics[0].partitions[0].error_code)


def commit(bench: TxnBench, group: str, offset: int) -> Asked:
    return Asked(bench, commit_request(group, {("events", 0): offset}), 9)


def test_answers_leave_in_the_order_of_the_log_when_the_high_watermark_has_passed(bench: TxnBench) -> None:
    partition = hold(bench, CONSUMER_OFFSETS_TOPIC)
    asked = [commit(bench, f"g{number}", number) for number in range(3)]
    read = Asked(bench, fetch_offsets_request("g0", {"events": [0]}), 8)
    bench.settle()
    assert not any(each.answered for each in (*asked, read))
    release(partition)
    assert [each.commit_code() for each in asked] == [ErrorCode.NONE] * 3
    assert read.answer().groups[0].topics[0].partitions[0].committed_offset == 0


def test_a_commit_that_is_not_replicated_in_time_is_refused_and_may_count_later(bench: TxnBench) -> None:
    """offsets.commit.timeout.ms; the client tries again."""
    partition = hold(bench, CONSUMER_OFFSETS_TOPIC)
    asked = commit(bench, "g", 7)
    bench.scheduler.run_for(COMMIT_TIMEOUT_MS - 100)
    assert not asked.answered
    assert asked.commit_code() == ErrorCode.COORDINATOR_NOT_AVAILABLE
    release(partition)
    assert bench.offsets_of("g") == {("events", 0): 7}


def test_every_answer_has_its_own_deadline(bench: TxnBench) -> None:
    partition = hold(bench, CONSUMER_OFFSETS_TOPIC)
    first = commit(bench, "g", 1)
    bench.scheduler.run_for(COMMIT_TIMEOUT_MS - 1_000)
    second = commit(bench, "g", 2)
    assert first.commit_code() == ErrorCode.COORDINATOR_NOT_AVAILABLE
    release(partition)
    assert second.commit_code() == ErrorCode.NONE


def test_lists_say_nothing_that_rests_on_what_is_not_replicated(bench: TxnBench) -> None:
    TxnProducer(bench).ready()
    hold(bench, CONSUMER_OFFSETS_TOPIC)
    hold(bench, TRANSACTION_STATE_TOPIC)
    commit(bench, "g", 1)
    bench.node.transactions.hosts[0].last_offset += 1  # as if a record had been appended
    groups = Asked(bench, ListGroupsRequest(), 5)
    listed = Asked(bench, ListTransactionsRequest(), 1)
    described = Asked(bench, DescribeTransactionsRequest(transactional_ids=["t"]), 0)
    bench.settle()
    assert not (groups.answered or listed.answered or described.answered)
    assert groups.answer().error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert listed.answer().error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    (state,) = described.answer().transaction_states
    assert (state.transactional_id, state.error_code) == ("t", ErrorCode.COORDINATOR_NOT_AVAILABLE)
    assert state.transaction_state == ""


def test_many_ids_are_described_within_one_wait(bench: TxnBench) -> None:
    for number in range(4):
        TxnProducer(bench, f"t{number}").ready()
    hold(bench, TRANSACTION_STATE_TOPIC)
    bench.node.transactions.hosts[0].last_offset += 1
    described = Asked(
        bench, DescribeTransactionsRequest(transactional_ids=[f"t{number}" for number in range(4)]), 0
    )
    answer = described.answer(within_ms=COMMIT_TIMEOUT_MS + 1_000)
    assert {each.error_code for each in answer.transaction_states} == {ErrorCode.COORDINATOR_NOT_AVAILABLE}


def test_a_decided_transaction_gets_its_markers_whenever_the_decision_is_replicated(bench: TxnBench) -> None:
    """Its producer was told nothing for sure, and no marker is written before."""
    producer = TxnProducer(bench).ready()
    producer.send(b"x")
    partition = hold(bench, TRANSACTION_STATE_TOPIC)
    asked = Asked(bench, producer.end_request(committed=True), producer.end_version)
    assert asked.answer().error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    bench.scheduler.run_for(60_000.0)
    assert bench.committed() == []
    release(partition)
    bench.reaches("t", "CompleteCommit")
    assert bench.committed() == [b"x"]


def test_whoever_waits_is_sent_away_when_the_leadership_goes(bench: TxnBench) -> None:
    hold(bench, CONSUMER_OFFSETS_TOPIC)
    asked = commit(bench, "g", 1)
    bench.settle()
    move(bench, CONSUMER_OFFSETS_TOPIC, 0, 2)
    bench.settle()
    assert asked.answered
    assert asked.commit_code() == ErrorCode.NOT_COORDINATOR


def test_a_new_leader_loads_to_the_end_of_its_log_and_answers_at_its_high_watermark(bench: TxnBench) -> None:
    partition = hold(bench, CONSUMER_OFFSETS_TOPIC)
    commit(bench, "g", 7)
    bench.settle()
    move(bench, CONSUMER_OFFSETS_TOPIC, 0, 2)
    move(bench, CONSUMER_OFFSETS_TOPIC, 0, 1)
    bench.loaded()
    assert partition.log.high_watermark < partition.log.log_end_offset
    read = Asked(bench, fetch_offsets_request("g", {"events": [0]}), 8)
    bench.settle()
    assert not read.answered
    release(partition)
    assert read.answer().groups[0].topics[0].partitions[0].committed_offset == 7


def test_offsets_of_a_transaction_whose_marker_is_not_replicated_are_loaded_with_it(bench: TxnBench) -> None:
    producer = TxnProducer(bench).ready()
    assert producer.commit_offset("g", 9) == ErrorCode.NONE
    partition = hold(bench, CONSUMER_OFFSETS_TOPIC)
    assert producer.end(committed=True) == ErrorCode.NONE
    bench.settle()
    move(bench, CONSUMER_OFFSETS_TOPIC, 0, 2)
    move(bench, CONSUMER_OFFSETS_TOPIC, 0, 1)
    bench.loaded()
    read = Asked(bench, fetch_offsets_request("g", {"events": [0]}), 8)
    bench.settle()
    assert not read.answered
    release(partition)
    assert read.answer().groups[0].topics[0].partitions[0].committed_offset == 9
    bench.reaches("t", "CompleteCommit")


def test_a_high_watermark_that_stands_still_for_long_costs_no_memory(bench: TxnBench) -> None:
    partition = hold(bench, CONSUMER_OFFSETS_TOPIC)
    assert commit(bench, "g", 1).commit_code() == ErrorCode.COORDINATOR_NOT_AVAILABLE
    tasks = bench.driver.tasks_waiting
    for _ in range(30):
        reads = [Asked(bench, fetch_offsets_request("g", {"events": [0]}), 8) for _ in range(10)]
        for each in reads:
            assert each.answer().groups[0].error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert bench.driver.tasks_waiting <= tasks
    assert partition._acks is None or len(partition._acks) <= 2
