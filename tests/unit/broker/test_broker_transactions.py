"""Transactions through the whole broker: coordinator, markers, logs, offsets (KIP-98, KIP-890)."""

from __future__ import annotations

from typing import Any

import pytest
from txn_bench import TxnBench, TxnProducer

from ottla.broker.transaction_host import TransactionHost
from ottla.coordination.outcome import Outcome
from ottla.log.log import Log
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages.list_transactions import ListTransactionsRequest
from ottla.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

GENERATIONS = pytest.mark.parametrize("generation", [1, 2])


@pytest.fixture
def bench() -> TxnBench:
    return TxnBench()


@GENERATIONS
def test_a_committed_transaction_is_read_in_every_partition_and_an_aborted_one_in_none(
    bench: TxnBench, generation: int
) -> None:
    producer = TxnProducer(bench, generation=generation).ready()
    for partition in (0, 1):
        producer.send(b"kept", partition)
    producer.commit()
    for partition in (0, 1):
        producer.send(b"thrown away", partition)
    producer.abort()
    producer.send(b"kept too", 1)
    producer.commit()
    assert bench.committed(0) == [b"kept"]
    assert bench.committed(1) == [b"kept", b"kept too"]


@GENERATIONS
def test_an_open_transaction_holds_back_everything_after_it(bench: TxnBench, generation: int) -> None:
    producer = TxnProducer(bench, generation=generation).ready()
    producer.send(b"undecided")
    bench.produce("events")
    assert bench.committed() == []
    producer.commit()
    assert bench.committed() == [b"undecided", b"value"]


def test_the_second_generation_has_a_new_epoch_after_every_end(bench: TxnBench) -> None:
    producer = TxnProducer(bench).ready()
    epochs = [producer.epoch]
    for committed in (True, False):
        producer.send(b"x")
        assert producer.end(committed=committed) == ErrorCode.NONE
        epochs.append(producer.epoch)
        bench.reaches("t", "CompleteCommit" if committed else "CompleteAbort")
    assert epochs == [epochs[0], epochs[0] + 1, epochs[0] + 2]


def test_the_first_generation_keeps_its_epoch(bench: TxnBench) -> None:
    producer = TxnProducer(bench, generation=1).ready()
    epoch = producer.epoch
    producer.send(b"x")
    producer.commit()
    producer.send(b"y")
    producer.commit()
    assert producer.epoch == epoch
    assert bench.committed() == [b"x", b"y"]


def test_an_end_that_is_sent_again_with_the_old_epoch_gets_the_same_answer(bench: TxnBench) -> None:
    """KIP-890: the answer to EndTxn may be lost, and the epoch it brought with it."""
    producer = TxnProducer(bench).ready()
    producer.send(b"x")
    request = producer.end_request(committed=True)
    first = bench.call(request, 5)
    bench.reaches("t", "CompleteCommit")
    again = bench.call(request, 5)
    assert (again.error_code, again.producer_id, again.producer_epoch) == (
        ErrorCode.NONE,
        first.producer_id,
        first.producer_epoch,
    )
    assert bench.committed() == [b"x"]


@GENERATIONS
def test_who_commits_cannot_abort_afterwards(bench: TxnBench, generation: int) -> None:
    producer = TxnProducer(bench, generation=generation).ready()
    producer.send(b"x")
    commit = producer.end_request(committed=True)
    abort = producer.end_request(committed=False)
    assert bench.call(commit, producer.end_version).error_code == ErrorCode.NONE
    bench.reaches("t", "CompleteCommit")
    assert bench.call(abort, producer.end_version).error_code == ErrorCode.INVALID_TXN_STATE
    assert bench.committed() == [b"x"]


@GENERATIONS
def test_a_second_producer_with_the_same_id_fences_the_first_and_aborts_what_it_left(
    bench: TxnBench, generation: int
) -> None:
    first = TxnProducer(bench, generation=generation).ready()
    first.send(b"left open")
    second = TxnProducer(bench, generation=generation)
    assert second.init() == ErrorCode.CONCURRENT_TRANSACTIONS
    second.ready()
    assert second.producer_id == first.producer_id and second.epoch > first.epoch
    assert first.write(b"too late") == ErrorCode.INVALID_PRODUCER_EPOCH
    assert first.end(committed=True) == ErrorCode.PRODUCER_FENCED
    second.send(b"mine")
    second.commit()
    assert bench.committed() == [b"mine"]


@GENERATIONS
def test_a_transaction_that_takes_too_long_is_aborted_and_its_commit_comes_too_late(
    bench: TxnBench, generation: int
) -> None:
    producer = TxnProducer(bench, generation=generation).ready(timeout_ms=5_000)
    producer.send(b"slow")
    bench.reaches("t", "CompleteAbort", within_ms=30_000)
    # The second generation's commit looks like an end sent again, of a transaction that was aborted.
    expected = ErrorCode.PRODUCER_FENCED if generation == 1 else ErrorCode.INVALID_TXN_STATE
    assert producer.end(committed=True) == expected
    bench.produce("events")
    assert bench.committed() == [b"value"]


@GENERATIONS
def test_offsets_become_visible_with_the_commit_and_vanish_with_the_abort(
    bench: TxnBench, generation: int
) -> None:
    producer = TxnProducer(bench, generation=generation).ready()
    assert producer.commit_offset("g", 5) == ErrorCode.NONE
    assert bench.offsets_of("g") == {("events", 0): -1}
    producer.commit()
    assert bench.offsets_of("g") == {("events", 0): 5}
    assert producer.commit_offset("g", 9) == ErrorCode.NONE
    producer.abort()
    assert bench.offsets_of("g") == {("events", 0): 5}


def test_a_first_generation_batch_outside_a_transaction_is_refused(bench: TxnBench) -> None:
    """KIP-890 part 1: a batch that no marker would ever follow does not get into the log."""
    producer = TxnProducer(bench, generation=1).ready()
    assert producer.write(b"stray") != ErrorCode.NONE
    producer.add(1)
    assert producer.write(b"stray", 0) != ErrorCode.NONE
    assert bench.log("events").log_end_offset == 0


def test_a_batch_of_a_transaction_that_has_ended_is_refused(bench: TxnBench) -> None:
    producer = TxnProducer(bench).ready()
    producer.send(b"x")
    late = TxnProducer(bench)
    late.producer_id, late.epoch, late._sequences = producer.producer_id, producer.epoch, {("events", 0): 1}
    producer.commit()
    assert late.write(b"late") == ErrorCode.INVALID_PRODUCER_EPOCH
    assert late.write(b"late", 3, sequence=0) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert bench.log("events", 3).log_end_offset == 0


@GENERATIONS
@pytest.mark.parametrize("power_loss", [False, True])
def test_a_restart_goes_on_with_the_open_transaction(generation: int, power_loss: bool) -> None:
    bench = TxnBench({"log.flush.interval.messages": "1"})
    producer = TxnProducer(bench, generation=generation).ready()
    producer.send(b"before")
    assert producer.commit_offset("g", 3) == ErrorCode.NONE
    bench.restart(clean=False, power_loss=power_loss)
    bench.txn_loaded()
    producer.peer = bench.connect()
    producer.send(b"after")
    producer.commit()
    assert bench.committed() == [b"before", b"after"]
    assert bench.offsets_of("g") == {("events", 0): 3}


@GENERATIONS
@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize("writes", range(6))
def test_a_crash_anywhere_in_an_end_leads_to_the_decided_outcome(
    monkeypatch: pytest.MonkeyPatch, generation: int, committed: bool, writes: int
) -> None:
    """The process dies before the nth write to any log after the request to end; nothing that was written is
    lost. Either nothing was decided, and the transaction is still open, or it ends as it was decided, in
    every partition and for the group's offsets alike.
    """
    bench = TxnBench({"log.flush.interval.messages": "1"})
    producer = TxnProducer(bench, generation=generation).ready()
    for partition in range(2):
        producer.send(b"x", partition)
    assert producer.commit_offset("g", 7) == ErrorCode.NONE
    append = Log.append_as_leader
    left = writes

    def until_the_crash(self: Log, *arguments: Any, **options: Any) -> Any:
        nonlocal left
        if left == 0:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "the process is dead")
        left -= 1
        return append(self, *arguments, **options)

    monkeypatch.setattr(Log, "append_as_leader", until_the_crash)
    peer = bench.connect()
    peer.send(producer.end_request(committed=committed), producer.end_version)
    bench.scheduler.run_for(50.0)
    monkeypatch.setattr(Log, "append_as_leader", append)
    bench.restart(clean=False, power_loss=True)
    bench.txn_loaded()
    if writes == 0:
        assert bench.state("t") == "Ongoing"
        assert bench.committed(0) == bench.committed(1) == []
        return
    bench.reaches("t", "CompleteCommit" if committed else "CompleteAbort")
    for partition in range(2):
        assert bench.committed(partition) == ([b"x"] if committed else [])
        assert (
            bench.log("events", partition).last_stable_offset == bench.log("events", partition).log_end_offset
        )
    assert bench.offsets_of("g") == {("events", 0): 7 if committed else -1}
    successor = TxnProducer(bench, generation=generation).ready()
    successor.send(b"next")
    successor.commit()
    assert bench.committed(0) == ([b"x", b"next"] if committed else [b"next"])


def test_markers_are_tried_until_a_full_disk_takes_them(
    bench: TxnBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    producer = TxnProducer(bench).ready()
    producer.send(b"x")
    append = Log.append_as_leader
    full = True

    def on_a_full_disk(self: Log, *arguments: Any, **options: Any) -> Any:
        if full and self.tp.topic == "events":
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no space left on device")
        return append(self, *arguments, **options)

    monkeypatch.setattr(Log, "append_as_leader", on_a_full_disk)
    assert producer.end(committed=True) == ErrorCode.NONE
    bench.scheduler.run_for(5_000)
    assert bench.state("t") == "PrepareCommit"
    assert producer.write(b"next") in (ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.KAFKA_STORAGE_ERROR)
    full = False
    bench.reaches("t", "CompleteCommit")
    assert bench.committed() == [b"x"]


def test_a_topic_that_is_deleted_in_mid_transaction_does_not_hold_it_up(bench: TxnBench) -> None:
    bench.create("gone")
    producer = TxnProducer(bench).ready()
    producer.send(b"x", topic="gone")
    producer.send(b"y")
    bench.delete("gone")
    producer.commit()
    assert bench.committed() == [b"y"]


def test_a_completion_that_cannot_be_written_is_tried_again(
    bench: TxnBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    producer = TxnProducer(bench).ready()
    producer.send(b"x")
    append = TransactionHost._append
    refusals = 3

    def sometimes(self: TransactionHost, outcome: Outcome) -> int:
        nonlocal refusals
        if outcome.records[0].value.transaction_status in (4, 5) and refusals:
            refusals -= 1
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no space left on device")
        return append(self, outcome)

    monkeypatch.setattr(TransactionHost, "_append", sometimes)
    producer.commit()
    assert refusals == 0
    assert bench.committed() == [b"x"]


def test_an_administrator_ends_a_transaction_that_hangs(bench: TxnBench) -> None:
    """KIP-664: WriteTxnMarkers, as kafka-transactions.sh --abort sends it."""
    producer = TxnProducer(bench, generation=1).ready()
    producer.send(b"hangs")
    assert bench.committed() == []
    marker = WritableTxnMarker(
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        transaction_result=False,
        topics=[WritableTxnMarkerTopic(name="events", partition_indexes=[0, 9])],
        coordinator_epoch=0,
    )
    answer = bench.call(WriteTxnMarkersRequest(markers=[marker]))
    found = {each.partition_index: each.error_code for each in answer.markers[0].topics[0].partitions}
    assert found == {0: ErrorCode.NONE, 9: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    bench.produce("events")
    assert bench.committed() == [b"value"]


def test_a_marker_of_a_stale_coordinator_is_refused(bench: TxnBench) -> None:
    producer = TxnProducer(bench, generation=1).ready()
    producer.send(b"x")

    def marker(coordinator_epoch: int, epoch: int) -> int:
        wanted = WritableTxnMarker(
            producer_id=producer.producer_id,
            producer_epoch=epoch,
            transaction_result=True,
            topics=[WritableTxnMarkerTopic(name="events", partition_indexes=[0])],
            coordinator_epoch=coordinator_epoch,
        )
        answer = bench.call(WriteTxnMarkersRequest(markers=[wanted]))
        code: int = answer.markers[0].topics[0].partitions[0].error_code
        return code

    assert marker(5, producer.epoch) == ErrorCode.NONE
    assert marker(4, producer.epoch) == ErrorCode.TRANSACTION_COORDINATOR_FENCED
    assert marker(5, producer.epoch - 1) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_transactions_are_listed_and_filtered(bench: TxnBench) -> None:
    TxnProducer(bench, "idle").ready()
    busy = TxnProducer(bench, "busy").ready()
    busy.send(b"x")

    def listed(**filters: Any) -> dict[str, str]:
        answer = bench.call(ListTransactionsRequest(**filters))
        assert answer.error_code == ErrorCode.NONE
        return {each.transactional_id: each.transaction_state for each in answer.transaction_states}

    assert listed() == {"idle": "Empty", "busy": "Ongoing"}
    assert listed(state_filters=["Ongoing"]) == {"busy": "Ongoing"}
    assert listed(producer_id_filters=[busy.producer_id]) == {"busy": "Ongoing"}
    assert listed(transactional_id_pattern="i.*") == {"idle": "Empty"}
    answer = bench.call(ListTransactionsRequest(state_filters=["Sleeping"]))
    assert answer.unknown_state_filters == ["Sleeping"]
    described = bench.describe("busy")
    assert [(each.topic, each.partitions) for each in described.topics] == [("events", [0])]
    assert bench.describe("nobody").error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND


def test_ids_that_nobody_uses_are_forgotten() -> None:
    bench = TxnBench({"transactional.id.expiration.ms": "100000"})
    TxnProducer(bench).ready()
    bench.scheduler.run_for(2 * 3_600_000)
    assert bench.describe("t").error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    bench.restart()
    bench.txn_loaded()
    assert bench.describe("t").error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND


def test_requests_while_the_coordinator_loads_are_asked_to_come_again(
    bench: TxnBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    TxnProducer(bench).ready()
    bench.restart()
    assert bench.txn_host.loading
    producer = TxnProducer(bench)
    assert producer.init() == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    bench.txn_loaded()
    assert producer.init() == ErrorCode.NONE


def test_who_has_no_transactional_id_is_not_transactional(bench: TxnBench) -> None:
    producer = TxnProducer(bench, "")
    assert producer.init() == ErrorCode.INVALID_REQUEST
    producer.producer_id, producer.epoch = 1, 0
    assert producer.add() == ErrorCode.INVALID_REQUEST
    assert producer.end(committed=True) == ErrorCode.INVALID_REQUEST
    assert producer.write(b"x") != ErrorCode.NONE
    assert bench.log("events").log_end_offset == 0


def test_adding_partitions_that_do_not_exist_adds_none(bench: TxnBench) -> None:
    producer = TxnProducer(bench, generation=1).ready()
    assert producer.add(99) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert bench.state("t") == "Empty"
