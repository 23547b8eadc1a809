"""Produce within transactions: who is asked before the append, what is answered when it says no (KIP-98,
KIP-890), and what readers see of it.

The coordinator is a stand-in: what it would say is told by the test, and what it is asked is recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from broker_bench import (
    BROKER_RESOURCE,
    Bench,
    BenchPeer,
    batch,
    fetch_request,
    partitions_of,
    produce_request,
    versions_of,
)

from ottla.log.append_origin import AppendOrigin
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.ports.effects import Steps, Waiter
from ottla.wire.compression import Codec
from ottla.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest
from ottla.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.wire.record_batch import EndTxnMarker, Record, encode_batch, encode_end_txn_batch, iter_headers

PRODUCER = 7
ID = "transfers"
EVENTS = ("events", 0)


class Coordinator:
    """Says NONE to everything unless told otherwise; with `slow`, not before `agree` is called."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int, int, list[TopicPartition], bool]] = []
        self.verdicts: dict[TopicPartition, ErrorCode] = {}
        self.slow = False
        self._waiters: list[Waiter] = []

    def verify(
        self,
        transactional_id: str,
        producer_id: int,
        epoch: int,
        partitions: Sequence[TopicPartition],
        *,
        add: bool,
    ) -> dict[TopicPartition, ErrorCode] | Steps[dict[TopicPartition, ErrorCode]]:
        self.asked.append((transactional_id, producer_id, epoch, list(partitions), add))
        verdicts = {tp: self.verdicts.get(tp, ErrorCode.NONE) for tp in partitions}
        return self._later(verdicts) if self.slow else verdicts

    def _later(self, verdicts: dict[TopicPartition, ErrorCode]) -> Steps[dict[TopicPartition, ErrorCode]]:
        waiter = Waiter(1e12)
        self._waiters.append(waiter)
        yield waiter
        return verdicts

    def agree(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            waiter.fire()


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.create("events", 2)
    return bench


@pytest.fixture
def coordinator(bench: Bench) -> Coordinator:
    return stand_in(bench)


def stand_in(bench: Bench) -> Coordinator:
    coordinator = Coordinator()
    bench.node.transactions.verify = coordinator.verify  # type: ignore[method-assign]
    return coordinator


def within(sequence: int, count: int = 1, *, epoch: int = 0, producer_id: int = PRODUCER) -> bytearray:
    return batch(
        count, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence, transactional=True
    )


def request_of(
    data: bytearray | None = None, *, partition: int = 0, acks: int = -1, transactional_id: str | None = ID
) -> ProduceRequest:
    request = produce_request("events", data or within(0), partition=partition, acks=acks)
    request.transactional_id = transactional_id
    return request


def request_of_parts(parts: Iterable[tuple[int, bytearray]], transactional_id: str | None = ID) -> Any:
    return ProduceRequest(
        acks=-1,
        timeout_ms=1000,
        transactional_id=transactional_id,
        topic_data=[
            TopicProduceData(
                name="events",
                partition_data=[
                    PartitionProduceData(index=index, records=memoryview(data)) for index, data in parts
                ],
            )
        ],
    )


def codes(reply: Any) -> list[ErrorCode]:
    return [ErrorCode(each.error_code) for topic in reply.responses for each in topic.partition_responses]


def code_of(bench: Bench, data: bytearray, version: int = 12, **options: Any) -> ErrorCode:
    (code,) = codes(bench.call(request_of(data, **options), version))
    return code


def end(
    bench: Bench,
    *,
    committed: bool = True,
    epoch: int = 0,
    version: int = 0,
    partition: int = 0,
    producer_id: int = PRODUCER,
) -> None:
    now_ms = bench.clock.now_ms()
    data = encode_end_txn_batch(
        EndTxnMarker(committed, 0), producer_id=producer_id, producer_epoch=epoch, timestamp=now_ms
    )
    bench.node.append(
        bench.node.partitions[("events", partition)],
        data,
        now_ms,
        -1,
        origin=AppendOrigin.COORDINATOR,
        transaction_version=version,
    )


# --- who is asked


@pytest.mark.parametrize("version", versions_of(ProduceRequest))
def test_the_first_batch_is_asked_for_and_the_next_ones_are_not(
    bench: Bench, coordinator: Coordinator, version: int
) -> None:
    topic_id = bench.node.image.topics["events"].topic_id
    for sequence in (0, 2, 4):
        request = request_of(within(sequence, 2))
        request.topic_data[0].topic_id = topic_id
        answer = bench.call(request, version).responses[0].partition_responses[0]
        assert (answer.error_code, answer.base_offset) == (0, sequence)
    assert coordinator.asked == [(ID, PRODUCER, 0, [TopicPartition("events", 0)], version >= 12)]
    end(bench)
    assert code_of(bench, within(6), 11) == ErrorCode.NONE
    assert len(coordinator.asked) == 2, "the next transaction is another question"


def test_all_partitions_of_a_request_are_asked_for_at_once(bench: Bench, coordinator: Coordinator) -> None:
    reply = bench.call(request_of_parts([(0, within(0)), (1, within(0))]), 12)
    assert codes(reply) == [ErrorCode.NONE, ErrorCode.NONE]
    ((_, _, _, partitions, _),) = coordinator.asked
    assert partitions == [TopicPartition("events", 0), TopicPartition("events", 1)]
    end(bench, partition=1)
    assert codes(bench.call(request_of_parts([(0, within(1)), (1, within(1))]), 11)) == [ErrorCode.NONE] * 2
    assert coordinator.asked[1][3] == [TopicPartition("events", 1)], "in the other it is open"


def test_verification_can_be_switched_off_but_partitions_are_added_all_the_same(
    bench: Bench, coordinator: Coordinator
) -> None:
    bench.alter(BROKER_RESOURCE, "", transaction_partition_verification_enable="false")
    assert code_of(bench, within(0), 11) == ErrorCode.NONE
    assert coordinator.asked == []
    end(bench)
    assert code_of(bench, within(1), 12) == ErrorCode.NONE
    assert [asked[4] for asked in coordinator.asked] == [True]


def test_one_error_does_not_keep_the_other_partitions_from_being_written(
    bench: Bench, coordinator: Coordinator
) -> None:
    coordinator.verdicts[TopicPartition("events", 0)] = ErrorCode.TRANSACTION_ABORTABLE
    reply = bench.call(request_of_parts([(0, within(0)), (1, within(0)), (2, within(0))]), 12)
    assert codes(reply) == [
        ErrorCode.TRANSACTION_ABORTABLE,
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]
    assert bench.log("events", 0).log_end_offset == 0
    assert bench.log("events", 1).log_end_offset == 1


def test_transactional_and_other_batches_may_come_in_one_request(
    bench: Bench, coordinator: Coordinator
) -> None:
    reply = bench.call(request_of_parts([(0, within(0)), (1, batch())]), 12)
    assert codes(reply) == [ErrorCode.NONE, ErrorCode.NONE]
    assert coordinator.asked[0][3] == [TopicPartition("events", 0)]


# --- what is refused without asking


@pytest.mark.parametrize("parts", [1, 2])
def test_a_transactional_batch_needs_a_transactional_id(
    bench: Bench, coordinator: Coordinator, parts: int
) -> None:
    request = request_of_parts([(0, within(0)), (1, batch())][:parts], transactional_id=None)
    assert codes(bench.call(request, 12)) == [ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED] * parts
    strange = request_of(within(0), partition=5, transactional_id=None)
    assert codes(bench.call(strange, 12)) == [ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED]
    assert coordinator.asked == []
    assert bench.log("events").log_end_offset == bench.log("events", 1).log_end_offset == 0


def test_one_request_has_one_transactional_producer(bench: Bench, coordinator: Coordinator) -> None:
    """Kafka refuses the whole request, also for two epochs of one producer."""
    for other in (within(0, producer_id=8), within(0, epoch=1)):
        reply = bench.call(request_of_parts([(0, within(0)), (1, other)]), 12)
        assert codes(reply) == [ErrorCode.INVALID_PRODUCER_ID_MAPPING] * 2
    assert coordinator.asked == []


def test_errors_of_a_whole_request_close_the_connection_under_acks_0(
    bench: Bench, coordinator: Coordinator
) -> None:
    bench.peer.send(request_of(acks=0, transactional_id=None), 12)
    assert bench.peer.close_reason is not None
    peer = bench.connect()
    peer.send(request_of(acks=0), 12)
    bench.settle()
    assert peer.close_reason is None
    assert bench.log("events").log_end_offset == 1


def test_clients_write_no_markers_and_no_transactional_batch_without_a_producer(
    bench: Bench, coordinator: Coordinator
) -> None:
    marker = encode_end_txn_batch(EndTxnMarker(True, 0), producer_id=PRODUCER, producer_epoch=0, timestamp=1)
    assert code_of(bench, marker) == ErrorCode.INVALID_RECORD
    assert code_of(bench, batch(transactional=True)) == ErrorCode.INVALID_TXN_STATE
    plain_control = encode_batch([Record(0, 1, b"\x00\x00\x00\x01", b"\x00" * 6)], control=True)
    assert code_of(bench, plain_control, transactional_id=None) == ErrorCode.INVALID_RECORD
    code_of(bench, within(0))
    assert code_of(bench, marker) == ErrorCode.INVALID_RECORD, "nor within their own transaction"
    assert len(coordinator.asked) == 1
    assert bench.log("events").producers.is_in_transaction(PRODUCER, 0)


def test_an_old_epoch_is_refused_without_a_question_in_every_version(
    bench: Bench, coordinator: Coordinator
) -> None:
    """Since Kafka 2.7 Produce says INVALID_PRODUCER_EPOCH, never PRODUCER_FENCED."""
    code_of(bench, within(0, epoch=5))
    end(bench, epoch=6, version=2)
    for version in (3, 10, 11, 12):
        assert code_of(bench, within(1, epoch=5), version) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert len(coordinator.asked) == 1
    assert code_of(bench, within(0, epoch=6)) == ErrorCode.NONE


def test_gaps_duplicates_and_batches_outside_of_the_open_transaction(
    bench: Bench, coordinator: Coordinator
) -> None:
    assert code_of(bench, within(0, 3)) == ErrorCode.NONE
    assert code_of(bench, within(4)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    answer = bench.call(request_of(within(0, 3)), 12).responses[0].partition_responses[0]
    assert (answer.error_code, answer.base_offset) == (0, 0)
    outside = batch(producer_id=PRODUCER, producer_epoch=0, base_sequence=3)
    assert code_of(bench, outside) == ErrorCode.INVALID_TXN_STATE
    assert bench.log("events").log_end_offset == 3


# --- what the coordinator's errors become


@pytest.mark.parametrize(
    ("said", "version", "told"),
    [
        (ErrorCode.INVALID_TXN_STATE, 11, ErrorCode.INVALID_TXN_STATE),
        (ErrorCode.TRANSACTION_ABORTABLE, 10, ErrorCode.INVALID_TXN_STATE),
        (ErrorCode.TRANSACTION_ABORTABLE, 11, ErrorCode.TRANSACTION_ABORTABLE),
        (ErrorCode.PRODUCER_FENCED, 12, ErrorCode.INVALID_PRODUCER_EPOCH),
        (ErrorCode.INVALID_PRODUCER_EPOCH, 12, ErrorCode.INVALID_PRODUCER_EPOCH),
        (ErrorCode.INVALID_PRODUCER_ID_MAPPING, 12, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
        (ErrorCode.NETWORK_EXCEPTION, 12, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, 12, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.COORDINATOR_NOT_AVAILABLE, 11, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.NOT_COORDINATOR, 3, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.CONCURRENT_TRANSACTIONS, 11, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.CONCURRENT_TRANSACTIONS, 12, ErrorCode.CONCURRENT_TRANSACTIONS),
    ],
)
@pytest.mark.parametrize("slow", [False, True])
def test_the_coordinators_errors_are_told_as_kafka_tells_them(
    bench: Bench, coordinator: Coordinator, said: ErrorCode, version: int, told: ErrorCode, slow: bool
) -> None:
    coordinator.verdicts[TopicPartition("events", 0)] = said
    coordinator.slow = slow
    correlation_id = bench.peer.send(request_of(), version)
    coordinator.agree()
    bench.scheduler.run_until(lambda: correlation_id in bench.peer.answered, within_ms=10)
    assert codes(bench.reply(request_of(), correlation_id, version)) == [told]
    assert bench.log("events").log_end_offset == 0
    coordinator.verdicts.clear()
    coordinator.slow = False
    assert code_of(bench, within(0), version) == ErrorCode.NONE, "it may try again"


def test_invented_producers_leave_nothing_behind(bench: Bench, coordinator: Coordinator) -> None:
    coordinator.verdicts[TopicPartition("events", 0)] = ErrorCode.INVALID_PRODUCER_ID_MAPPING
    for producer_id in range(100, 110):
        assert code_of(bench, within(4, producer_id=producer_id)) == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    producers = bench.log("events").producers
    assert len(producers) == 0
    coordinator.verdicts.clear()
    assert code_of(bench, within(9, producer_id=100), 11) == ErrorCode.NONE, "sequence 4 was nobody's"


# --- while the answer is awaited


def waiting(
    bench: Bench, coordinator: Coordinator, data: bytearray, version: int = 12
) -> tuple[BenchPeer, int]:
    coordinator.slow = True
    peer = bench.connect()
    return peer, peer.send(request_of(data), version)


def test_the_next_pipelined_batch_waits_with_the_first(bench: Bench, coordinator: Coordinator) -> None:
    peer, first = waiting(bench, coordinator, within(0))
    second = peer.send(request_of(within(1)), 12)
    bench.settle()
    assert peer.answered == [] and bench.log("events").log_end_offset == 0
    bench.produce("events", partition=1)  # others are served
    coordinator.agree()
    bench.scheduler.run_until(lambda: len(peer.answered) == 2, within_ms=10)
    assert peer.answered == [first, second]
    for correlation_id in (first, second):
        assert codes(bench.reply(request_of(), correlation_id, 12, peer)) == [ErrorCode.NONE]
    assert len(coordinator.asked) == 1
    assert peer.frames_kept == 0


def test_a_large_batch_outlives_its_frame_while_it_waits(bench: Bench, coordinator: Coordinator) -> None:
    data = batch(
        300, value=bytes(1000), producer_id=PRODUCER, producer_epoch=0, base_sequence=0, transactional=True
    )
    peer, correlation_id = waiting(bench, coordinator, data)
    bench.settle()
    coordinator.agree()
    bench.scheduler.run_until(lambda: bool(peer.answered), within_ms=10)
    assert codes(bench.reply(request_of(), correlation_id, 12, peer)) == [ErrorCode.NONE]
    assert bench.log("events").log_end_offset == 300


@pytest.mark.parametrize("slow", [False, True])
def test_a_heavy_batch_is_verified_then_checked_by_a_job_then_appended(
    bench: Bench, coordinator: Coordinator, slow: bool
) -> None:
    data = batch(
        2000,
        value=bytes(1000),
        producer_id=PRODUCER,
        producer_epoch=0,
        base_sequence=0,
        transactional=True,
        codec=Codec.ZSTD,
    )
    coordinator.slow = slow
    peer = bench.connect()
    first = peer.send(request_of(data), 12)
    second = peer.send(request_of(within(2000)), 12)
    bench.settle()
    coordinator.agree()
    bench.scheduler.run_until(lambda: len(peer.answered) == 2, within_ms=1000)
    for correlation_id in (first, second):
        assert codes(bench.reply(request_of(), correlation_id, 12, peer)) == [ErrorCode.NONE]
    assert bench.log("events").log_end_offset == 2001


def test_an_agreement_that_an_abort_has_overtaken_writes_nothing(
    bench: Bench, coordinator: Coordinator
) -> None:
    """The transaction timed out while its first batch was under way: no hanging transaction may be left."""
    peer, correlation_id = waiting(bench, coordinator, within(0), 11)
    end(bench, committed=False, epoch=1)
    coordinator.agree()
    bench.scheduler.run_until(lambda: bool(peer.answered), within_ms=10)
    assert codes(bench.reply(request_of(), correlation_id, 11, peer)) == [ErrorCode.INVALID_PRODUCER_EPOCH]
    peer, correlation_id = waiting(bench, coordinator, within(0, epoch=1), 11)
    end(bench, committed=False, epoch=1)
    coordinator.agree()
    bench.scheduler.run_until(lambda: bool(peer.answered), within_ms=10)
    assert codes(bench.reply(request_of(), correlation_id, 11, peer)) == [ErrorCode.INVALID_TXN_STATE]
    log = bench.log("events")
    assert log.last_stable_offset == log.log_end_offset == 2


def test_a_client_that_goes_away_while_it_waits_disturbs_nobody(
    bench: Bench, coordinator: Coordinator
) -> None:
    peer, _ = waiting(bench, coordinator, within(0))
    peer.close("gone")
    coordinator.agree()
    coordinator.slow = False
    bench.settle()
    assert code_of(bench, within(1)) == ErrorCode.NONE, "its batch was written, as acks=0 would have"
    assert bench.fatal_errors == []


# --- what readers see


def poll(bench: Bench, offset: int = 0, *, in_session: bool = False) -> tuple[BenchPeer, int]:
    peer = bench.connect()
    request = fetch_request(
        {EVENTS: offset}, max_wait_ms=5_000, isolation_level=1, session_epoch=0 if in_session else -1
    )
    return peer, peer.send(request, 12)


@pytest.mark.parametrize("in_session", [False, True])
@pytest.mark.parametrize("committed", [False, True])
def test_a_long_poll_for_committed_data_is_answered_by_the_marker_and_not_before(
    bench: Bench, coordinator: Coordinator, committed: bool, in_session: bool
) -> None:
    peer, correlation_id = poll(bench, in_session=in_session)
    if in_session:
        # The first answer of a session names every partition; the poll is the one after it.
        bench.scheduler.run_until(lambda: bool(peer.replies), within_ms=6_000)
        first = bench.reply(fetch_request({}), correlation_id, 12, peer)
        request = fetch_request(
            {}, max_wait_ms=5_000, isolation_level=1, session_id=first.session_id, session_epoch=1
        )
        correlation_id = peer.send(request, 12)
    answered = len(peer.replies)
    for sequence in range(3):
        assert code_of(bench, within(sequence)) == ErrorCode.NONE
        bench.scheduler.run_for(50)
        assert len(peer.replies) == answered, "undecided data is no answer"
    end(bench, committed=committed)
    bench.scheduler.run_until(lambda: len(peer.replies) > answered, within_ms=10)
    data = partitions_of(bench.reply(fetch_request({}), correlation_id, 12, peer))[EVENTS]
    assert (data.last_stable_offset, data.high_watermark) == (4, 4)
    assert [header.last_offset for _, header in iter_headers(data.records, 0, len(data.records))] == [
        0,
        1,
        2,
        3,
    ]
    aborted = [(each.producer_id, each.first_offset) for each in data.aborted_transactions]
    assert aborted == ([] if committed else [(PRODUCER, 0)])


def test_a_long_poll_behind_another_open_transaction_goes_on_waiting(
    bench: Bench, coordinator: Coordinator
) -> None:
    code_of(bench, within(0, producer_id=1))
    code_of(bench, within(0))
    peer, _ = poll(bench)
    end(bench)
    bench.scheduler.run_for(100)
    assert not peer.replies
    end(bench, producer_id=1)
    bench.scheduler.run_until(lambda: bool(peer.replies), within_ms=10)


def test_the_latest_committed_offset_is_the_last_stable_one(bench: Bench, coordinator: Coordinator) -> None:
    def latest(isolation_level: int) -> int:
        request = ListOffsetsRequest(
            replica_id=-1,
            isolation_level=isolation_level,
            topics=[
                ListOffsetsTopic(
                    name="events", partitions=[ListOffsetsPartition(partition_index=0, timestamp=-1)]
                )
            ],
        )
        offset: int = bench.call(request).topics[0].partitions[0].offset
        return offset

    bench.produce("events")
    code_of(bench, within(0, 2))
    bench.produce("events")
    assert (latest(0), latest(1)) == (4, 1)
    end(bench)
    assert (latest(0), latest(1)) == (5, 5)


@pytest.mark.parametrize("how", ["clean", "kill", "power loss"])
def test_after_a_restart_the_transaction_is_still_open_and_can_go_on(how: str) -> None:
    bench = Bench()
    bench.create("events", flush_messages="1")
    stand_in(bench)
    assert code_of(bench, within(0, 2)) == ErrorCode.NONE
    bench.restart(clean=how == "clean", power_loss=how == "power loss")
    coordinator = stand_in(bench)
    log = bench.log("events")
    assert (log.last_stable_offset, log.high_watermark) == (0, 2)
    assert code_of(bench, within(0, 2)) == ErrorCode.NONE
    assert log.log_end_offset == 2, "a duplicate"
    assert code_of(bench, within(2)) == ErrorCode.NONE
    assert coordinator.asked == []
    end(bench, committed=False)
    bench.settle()
    bench.restart(clean=how == "clean", power_loss=how == "power loss")
    data = partitions_of(bench.call(fetch_request({EVENTS: 0}, isolation_level=1), 12))[EVENTS]
    assert [(each.producer_id, each.first_offset) for each in data.aborted_transactions] == [(PRODUCER, 0)]
    assert data.last_stable_offset == 4


# --- DescribeProducers


def test_producers_are_described_with_their_open_transactions(bench: Bench, coordinator: Coordinator) -> None:
    bench.produce("events")
    bench.produce("events", batch(producer_id=3, producer_epoch=1, base_sequence=4))
    code_of(bench, within(0, 2))
    now_ms = bench.clock.now_ms()
    request = DescribeProducersRequest(
        topics=[
            TopicRequest(name="events", partition_indexes=[0, 1, 2, 0]),
            TopicRequest(name="missing", partition_indexes=[0]),
            TopicRequest(name="not a name", partition_indexes=[0]),
        ]
    )
    events, missing, illegal = bench.call(request, 0).topics
    assert [each.error_code for each in events.partitions] == [
        ErrorCode.NONE,
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.INVALID_REQUEST,
    ]
    assert missing.partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert illegal.partitions[0].error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    found = {
        each.producer_id: (each.producer_epoch, each.last_sequence, each.current_txn_start_offset)
        for each in events.partitions[0].active_producers
    }
    assert found == {3: (1, 4, -1), PRODUCER: (0, 1, 2)}
    assert all(each.last_timestamp <= now_ms for each in events.partitions[0].active_producers)
    assert events.partitions[1].active_producers == []
    end(bench)
    state = bench.call(request, 0).topics[0].partitions[0].active_producers[1]
    assert (state.producer_id, state.current_txn_start_offset, state.coordinator_epoch) == (PRODUCER, -1, 0)
