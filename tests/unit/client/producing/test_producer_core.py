"""The producer's core on a scripted cluster: batches, lingering, memory, flush, close, and what a delivery
says. The rules are those of Kafka's producer configuration and of its RecordAccumulator and Sender.
"""

from __future__ import annotations

from typing import Any

import pytest
from producing_cluster import EPOCH_MS, Fate
from producing_stage import Stage

from ottla.client.errors import (
    BufferFull,
    ClientClosed,
    IllegalState,
    InvalidConfig,
    ProducerFailed,
    RecordTooLarge,
    ServerError,
)
from ottla.client.producing.accumulator import Accumulator
from ottla.client.producing.memory import MemoryPool
from ottla.client.producing.spare_bytes import SPARE_BYTES_MIN, SPARES_MAX, SpareBytes
from ottla.client.records import RecordMetadata
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.record_batch import Codec, decode_batch, read_header

T0 = TopicPartition("t", 0)


def staged(*leaders: int, **settings: Any) -> Stage:
    stage = Stage(**settings)
    stage.cluster.create("t", *(leaders or (1,)))
    return stage


def produced(stage: Stage) -> list[list[tuple[int, int]]]:
    """For each Produce request that arrived: partition and record count of its batches."""
    return [
        [
            (data.index, read_header(data.records).record_count)
            for topic in request.topic_data
            for data in topic.partition_data
        ]
        for request in stage.cluster.sent("Produce")
    ]


# --- batches ------------------------------------------------------------------------------------------------


def test_records_of_one_batch_get_offsets_in_the_order_of_sending() -> None:
    stage = staged()
    stage.run(stage.core.await_topic("t"))
    deliveries = [stage.send(0, b"%d" % i) for i in range(5)]
    assert not deliveries[0].done()
    with pytest.raises(IllegalState):
        deliveries[0].metadata()
    stage.run(stage.core.flush())
    assert [delivery.metadata() for delivery in deliveries] == [
        RecordMetadata("t", 0, offset, EPOCH_MS + 2) for offset in range(5)
    ]
    assert stage.log().values() == [b"0", b"1", b"2", b"3", b"4"]


def test_keys_headers_and_timestamps_arrive_as_they_were_given() -> None:
    stage = staged()
    stage.run(stage.core.append("t", 0, None, b"a", (), 11))
    stage.core.try_append("t", 0, b"k", None, (("h", b"1"), ("h", None)), 5)
    stage.core.try_append("t", 0, None, b"c", (), 7)
    stage.run(stage.core.flush())
    records = decode_batch(
        stage.cluster.sent("Produce")[0].topic_data[0].partition_data[0].records, decompressed_bytes_max=1000
    )
    assert [(r.timestamp, r.key, r.value, r.headers) for r in records] == [
        (11, None, b"a", ()),
        (5, b"k", None, (("h", b"1"), ("h", None))),
        (7, None, b"c", ()),
    ]


def test_the_log_append_time_replaces_the_timestamp() -> None:
    """message.timestamp.type=LogAppendTime: the answer carries the time."""
    stage = staged()
    stage.cluster.log_append_ms = 77
    delivery = stage.send(0, b"x")
    stage.run(stage.core.flush())
    assert delivery.metadata().timestamp == 77


def test_a_batch_leaves_when_it_has_lingered_and_not_before() -> None:
    stage = staged(linger_ms=50)
    stage.send(0, b"a")
    stage.advance(45)
    assert produced(stage) == []
    stage.send(0, b"b")
    stage.advance(10)
    assert produced(stage) == [[(0, 2)]]


def test_a_full_batch_leaves_at_once_and_the_front_is_told() -> None:
    stage = staged(linger_ms=10_000, batch_size=200)
    stage.send(0, b"a" * 90)
    full = stage.core.full_batches
    stage.send(0, b"a" * 20)
    assert stage.core.full_batches == full
    stage.send(0, b"a" * 90)  # does not fit any more
    assert stage.core.full_batches == full + 1
    assert stage.core.should_turn
    stage.advance(5)
    assert not stage.core.should_turn
    assert produced(stage) == [[(0, 2)]]


def test_a_record_larger_than_a_batch_travels_alone() -> None:
    stage = staged(linger_ms=10_000, batch_size=200)
    small = stage.send(0, b"small")
    stage.send(0, b"x" * 1000)
    stage.send(0, b"after")
    stage.advance(20)
    assert produced(stage) == [[(0, 1)], [(0, 1)]]
    assert small.done()
    assert stage.core.queued("t", 0) == 1


def test_without_linger_a_record_leaves_at_once() -> None:
    stage = staged(linger_ms=0)
    stage.send(0, b"a")
    stage.advance(10)
    assert produced(stage) == [[(0, 1)]]


def test_one_request_carries_a_batch_each_of_many_partitions() -> None:
    stage = staged(1, 1, 1, 2)
    for partition in range(4):
        stage.send(partition, b"x")
    stage.run(stage.core.flush())
    assert sorted(produced(stage), key=len) == [[(3, 1)], [(0, 1), (1, 1), (2, 1)]]


def test_a_request_is_not_larger_than_max_request_size() -> None:
    stage = staged(1, 1, 1, 1, max_request_size=2_000, batch_size=1_500)
    for partition in range(4):
        stage.send(partition, b"x" * 900)
    stage.run(stage.core.flush())
    assert [len(batches) for batches in produced(stage)] == [2, 2]


def test_partitions_of_one_broker_take_turns() -> None:
    """No partition starves behind one that always has a full batch (Kafka's drainIndex)."""
    stage = staged(1, 1, max_request_size=700, batch_size=600, linger_ms=0)
    stage.run(stage.core.await_topic("t"))
    stage.advance(50)
    for _ in range(12):
        stage.send(0, b"x" * 500)
    stage.send(1, b"y" * 500)
    stage.advance(6)
    assert [(1, 1)] in produced(stage)[:4]
    stage.run(stage.core.flush())


def test_a_broker_has_at_most_max_in_flight_requests() -> None:
    stage = staged(1, linger_ms=0, batch_size=100)
    stage.cluster.latency_ms = lambda: 20.0
    for i in range(40):
        stage.send(0, b"%040d" % i)
    stage.run(stage.core.flush())
    assert stage.cluster.batches_in_flight_max == 5
    assert stage.log().values() == [b"%040d" % i for i in range(40)]


def test_the_front_can_close_a_batch() -> None:
    stage = staged(linger_ms=10_000)
    stage.send(0, b"x")
    stage.core.close_batch("t", 0)
    stage.advance(10)
    assert produced(stage) == [[(0, 1)]]


def test_a_partitions_batches_grow_with_what_compression_saves() -> None:
    """Kafka's CompressionRatioEstimator: batch.size is what travels."""
    stage = staged(compression_type=Codec.GZIP, batch_size=1_000, linger_ms=0)
    stage.send(0, b"")
    stage.run(stage.core.flush())
    before = stage.core.limit_bytes("t", 0)
    for _ in range(60):
        for _ in range(40):
            stage.send(0, b"a" * 100)
        stage.run(stage.core.flush())
    assert stage.core.limit_bytes("t", 0) > 1.2 * before
    assert len(stage.log().values()) == 2401


# --- what costs nothing -------------------------------------------------------------------------------------


def test_idle_partitions_cost_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = staged(*[1] * 500)
    stage.run(stage.core.await_topic("t"))
    looked: list[Any] = []
    consider = Accumulator.consider

    def counting(self: Accumulator, lane: Any) -> bool:
        looked.append(lane)
        return consider(self, lane)

    monkeypatch.setattr(Accumulator, "consider", counting)
    for _ in range(20):
        stage.send(7, b"x")
        stage.run(stage.core.flush())
    assert {lane.tp.partition for lane in looked} == {7}
    assert len(looked) <= 20 * 6


def test_a_producer_with_nothing_to_do_does_nothing() -> None:
    stage = staged(metadata_max_age_ms=3_600_000)
    stage.send(0, b"x")
    stage.run(stage.core.flush())
    stage.advance(130_000)  # once more when the batch's time would have been up
    steps = 0
    while stage.step(stage.clock.elapsed_ms + 1_000_000):
        steps += 1
    assert steps == 0


# --- memory -------------------------------------------------------------------------------------------------


def test_memory_is_given_in_the_order_of_asking_and_all_comes_back() -> None:
    stage = staged(batch_size=1_000, buffer_memory=2_000, linger_ms=10_000)
    stage.cluster.fate = lambda flight: (
        Fate.STALLED if flight.api == "Produce" and stage.clock.elapsed_ms < 9_000 else Fate.FINE
    )
    stage.send(0, b"x" * 900)
    stage.send(0, b"x" * 900)
    assert stage.core.try_append("t", 0, None, b"y" * 900, (), 0) is None
    waiting = [stage.begin(stage.core.append("t", 0, None, b"%d" % i + b"z" * 899, (), 0)) for i in range(3)]
    assert stage.core.try_append("t", 0, None, b"", (), 0) is None  # nobody goes past those who wait
    stage.until(lambda: waiting[0].done)
    assert not waiting[1].done
    stage.until(lambda: waiting[2].done)
    stage.run(stage.core.flush())
    assert [value[:1] for value in stage.log().values()] == [b"x", b"x", b"0", b"1", b"2"]
    assert stage.memory_used == 0


def test_nobody_goes_past_those_who_wait_for_memory() -> None:
    pool = MemoryPool(1_000)
    assert pool.take(600)
    first, second = pool.wait(500), pool.wait(100)
    assert not pool.take(100)  # there would be enough
    pool.leave(first)
    assert second.granted and not first.granted
    pool.release(600)
    pool.leave(second)
    assert pool.free_bytes == 1_000
    assert pool.take(1_000)


def test_memory_that_stays_full_for_max_block_ms_is_an_error() -> None:
    stage = staged(batch_size=1_000, buffer_memory=1_000, linger_ms=10_000, max_block_ms=500)
    stage.run(stage.core.await_topic("t"))
    stage.cluster.move(T0, -1)
    stage.cluster.fate = lambda flight: Fate.LOST_BEFORE if flight.api == "Produce" else Fate.FINE
    stage.send(0, b"x" * 900)
    began_ms = stage.clock.elapsed_ms
    with pytest.raises(BufferFull, match=r"buffer\.memory=1000.*max\.block\.ms=500"):
        stage.send(0, b"y" * 900)
    assert stage.clock.elapsed_ms - began_ms == 500


def test_nothing_lingers_while_somebody_waits_for_memory() -> None:
    """Kafka: an exhausted buffer makes everything sendable."""
    stage = staged(1, 2, batch_size=1_000, buffer_memory=1_000, linger_ms=60_000)
    stage.send(0, b"x")
    began_ms = stage.clock.elapsed_ms
    stage.send(1, b"y")
    assert stage.clock.elapsed_ms - began_ms < 100


def test_who_gives_up_waiting_for_memory_leaves_the_line() -> None:
    stage = staged(batch_size=1_000, buffer_memory=1_000, max_block_ms=100, linger_ms=0)
    stage.send(0, b"x" * 900)
    stage.cluster.latency_ms = lambda: 300.0
    stage.advance(20)
    waiting = stage.begin(stage.core.append("t", 0, None, b"y" * 900, (), 0))
    waiting.cancel()
    stage.run(stage.core.flush())
    assert stage.memory_used == 0
    stage.cluster.latency_ms = lambda: 1.0
    assert stage.send(0, b"z") is not None


def test_a_record_that_never_fits_is_refused() -> None:
    stage = staged(max_request_size=1_000, buffer_memory=5_000)
    with pytest.raises(RecordTooLarge, match=r"max\.request\.size=1000"):
        stage.send(0, b"x" * 1_000)
    small = staged(max_request_size=10_000, buffer_memory=5_000, batch_size=100)
    with pytest.raises(RecordTooLarge, match=r"buffer\.memory=5000"):
        small.send(0, b"x" * 6_000)
    assert stage.memory_used == 0


# --- callbacks ----------------------------------------------------------------------------------------------


def test_callbacks_come_in_order_once_and_late_ones_at_once() -> None:
    stage = staged(1)
    seen: list[Any] = []
    first = stage.send(0, b"a", callback=lambda metadata, error: seen.append(("a", metadata.offset)))
    first.add_callback(lambda metadata, error: seen.append(("added", metadata.offset)))
    stage.send(0, b"b")
    stage.send(0, b"c", callback=lambda metadata, error: seen.append(("c", metadata.offset)))
    assert seen == []
    stage.run(stage.core.flush())
    stage.settle()
    assert sorted(seen) == [("a", 0), ("added", 0), ("c", 2)]
    first.add_callback(lambda metadata, error: seen.append("late"))
    stage.settle()
    assert seen[-1] == "late"


# --- flush and close ----------------------------------------------------------------------------------------


def test_flush_waits_for_what_was_sent_before_and_for_nothing_else() -> None:
    stage = staged(1, linger_ms=60_000)
    stage.cluster.latency_ms = lambda: 50.0
    before = stage.send(0, b"before")
    flushing = stage.begin(stage.core.flush())
    after = stage.send(0, b"after")
    stage.until(lambda: flushing.done)
    assert before.done() and not after.done()
    stage.advance(1_000)
    assert not after.done()


def test_flush_with_nothing_to_wait_for_returns_at_once() -> None:
    stage = staged()
    stage.run(stage.core.flush(), limit_ms=0)


def test_close_sends_what_is_left() -> None:
    stage = staged(1, linger_ms=60_000)
    delivery = stage.send(0, b"x")
    stage.run(stage.core.close(None))
    assert delivery.metadata().offset == 0
    assert stage.clock.elapsed_ms < 1_000
    stage.run(stage.core.close(None))  # a second time: nothing


def test_a_closed_producer_refuses_records() -> None:
    stage = staged(1)
    stage.send(0, b"x")
    stage.run(stage.core.close(None))
    for call in (
        lambda: stage.core.try_append("t", 0, None, b"y", (), 0),
        lambda: stage.run(stage.core.append("t", 0, None, b"y", (), 0)),
        lambda: stage.run(stage.core.await_topic("other")),
    ):
        with pytest.raises(ClientClosed):
            call()


def test_close_fails_what_cannot_be_sent_in_time() -> None:
    stage = staged(1)
    stage.run(stage.core.await_topic("t"))
    stage.cluster.fate = lambda flight: Fate.STALLED if flight.api == "Produce" else Fate.FINE
    called: list[Any] = []
    deliveries = [
        stage.send(0, b"x", callback=lambda metadata, error: called.append(error)) for _ in range(3)
    ]
    began_ms = stage.clock.elapsed_ms
    stage.run(stage.core.close(700))
    assert stage.clock.elapsed_ms - began_ms == pytest.approx(700, abs=2)
    assert all(isinstance(delivery.error(), ClientClosed) for delivery in deliveries)
    assert len(called) == 3
    assert stage.memory_used == 0
    assert stage.core._accumulator.incomplete == {}


def test_close_without_patience_fails_everything_now() -> None:
    stage = staged(1, linger_ms=60_000)
    delivery = stage.send(0, b"x")
    began_ms = stage.clock.elapsed_ms
    stage.run(stage.core.close(0))
    assert isinstance(delivery.error(), ClientClosed)
    assert stage.clock.elapsed_ms == began_ms


def test_close_wakes_those_who_wait_for_memory() -> None:
    stage = staged(1, batch_size=1_000, buffer_memory=1_000)
    stage.run(stage.core.await_topic("t"))
    stage.cluster.fate = lambda flight: Fate.STALLED if flight.api == "Produce" else Fate.FINE
    stage.send(0, b"x" * 900)
    waiting = stage.begin(stage.core.append("t", 0, None, b"y" * 900, (), 0))
    stage.run(stage.core.close(10))
    stage.settle()
    with pytest.raises(ClientClosed):
        waiting.result()


# --- identity -----------------------------------------------------------------------------------------------


def test_a_refused_producer_id_is_the_producers_end() -> None:
    stage = staged(1)
    codes = [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.UNSUPPORTED_VERSION]
    stage.cluster.coordinator_verdict = lambda api, request: codes.pop(0)
    delivery = stage.send(0, b"x")
    stage.run(stage.core.flush())
    assert isinstance(delivery.error(), ServerError)
    with pytest.raises(ProducerFailed) as raised:
        stage.send(0, b"y")
    assert isinstance(raised.value.__cause__, ServerError)


def test_a_producer_that_may_not_write_yet_tries_anew_with_the_next_record() -> None:
    """CLUSTER_AUTHORIZATION_FAILED fails what waits; the right may be granted meanwhile."""
    stage = staged(1)
    stage.cluster.coordinator_verdict = lambda api, request: ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    first = stage.send(0, b"x")
    stage.run(stage.core.flush())
    error = first.error()
    assert isinstance(error, ServerError) and error.code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    stage.cluster.coordinator_verdict = lambda api, request: 0
    second = stage.send(0, b"y")
    stage.run(stage.core.flush())
    assert second.error() is None


def test_a_record_that_does_not_linger_has_the_producer_id_asked_for() -> None:
    """With linger.ms=0 there is no timer by which the sender would find out that it has no id."""
    stage = staged(1, linger_ms=0)
    stage.cluster.coordinator_verdict = lambda api, request: ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    first = stage.send(0, b"x")
    stage.until(first.done)
    stage.cluster.coordinator_verdict = lambda api, request: 0
    second = stage.send(0, b"y")
    stage.advance(1_000)
    assert second.done() and second.error() is None


def test_a_producer_id_is_asked_for_until_somebody_answers() -> None:
    stage = staged(1)
    codes = [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS] * 4
    stage.cluster.coordinator_verdict = lambda api, request: codes.pop() if codes else 0
    delivery = stage.send(0, b"x")
    stage.run(stage.core.flush())
    assert delivery.error() is None


# --- whole batches ------------------------------------------------------------------------------------------


class Rows:
    """What `columns.py` hands over."""

    def __init__(self, *values: bytes) -> None:
        from ottla.wire.record_batch import encode_lists

        self.data = encode_lists([5] * len(values), None, list(values))
        self.record_count = len(values)
        self.size_bytes = len(self.data)
        self.spares: SpareBytes | None = None


def test_a_whole_batch_goes_between_the_records_around_it() -> None:
    stage = staged(1, linger_ms=60_000)
    first = stage.send(0, b"a")
    whole = stage.run(stage.core.append_encoded(T0, Rows(b"b", b"c")))
    last = stage.send(0, b"d")
    stage.run(stage.core.flush())
    assert [first.metadata().offset, whole.metadata().offset, last.metadata().offset] == [0, 1, 3]
    assert stage.log().values() == [b"a", b"b", b"c", b"d"]
    assert stage.memory_used == 0


def test_a_whole_batch_that_is_too_large_for_the_broker_is_split() -> None:
    stage = staged(1)
    stage.cluster.verdict = lambda tp, data: (
        ErrorCode.MESSAGE_TOO_LARGE if read_header(data).record_count > 1 else 0
    )
    whole = stage.run(stage.core.append_encoded(T0, Rows(b"b", b"c", b"d")))
    stage.run(stage.core.flush())
    assert whole.metadata().offset == 0
    assert stage.log().values() == [b"b", b"c", b"d"]


def test_whole_batches_wait_for_memory_like_records() -> None:
    stage = staged(1, batch_size=1_000, buffer_memory=1_000, max_block_ms=300)
    stage.run(stage.core.await_topic("t"))
    stage.cluster.fate = lambda flight: Fate.STALLED if flight.api == "Produce" else Fate.FINE
    stage.run(stage.core.append_encoded(T0, Rows(b"b" * 700)))
    with pytest.raises(BufferFull):
        stage.run(stage.core.append_encoded(T0, Rows(b"c" * 700)))


@pytest.mark.parametrize("is_sent_again", [False, True])
def test_the_memory_of_a_batch_is_used_again_once_it_is_stored_unless_it_left_twice(
    is_sent_again: bool,
) -> None:
    stage = staged(1)
    stage.run(stage.core.await_topic("t"))
    refusals = [ErrorCode.NOT_ENOUGH_REPLICAS] if is_sent_again else []
    stage.cluster.verdict = lambda tp, data: refusals.pop() if refusals else 0
    rows = Rows(b"b" * 2 * SPARE_BYTES_MIN)
    rows.spares = SpareBytes()
    stage.run(stage.core.append_encoded(T0, rows))
    assert rows.spares.take() is None, "it is still on its way"
    stage.run(stage.core.flush())
    assert stage.log().values() == [b"b" * 2 * SPARE_BYTES_MIN]
    # The bytes of the first attempt may still lie in the queue of a connection.
    assert (rows.spares.take() is rows.data) is not is_sent_again


def test_little_memory_is_kept_and_small_batches_are_none() -> None:
    spares = SpareBytes()
    spares.give(bytearray(SPARE_BYTES_MIN - 1))
    assert spares.take() is None
    for _ in range(SPARES_MAX + 5):
        spares.give(bytearray(SPARE_BYTES_MIN))
    assert sum(spares.take() is not None for _ in range(SPARES_MAX + 5)) == SPARES_MAX


# --- settings -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"acks": 1}, "acks=all"),
        ({"retries": 0}, "retries above 0"),
        ({"max_in_flight_requests_per_connection": 6}, "at most 5"),
        ({"transactional_id": "x", "enable_idempotence": False}, "enable.idempotence=true"),
        ({"delivery_timeout_ms": 1_000}, "delivery.timeout.ms"),
        ({"acks": 7, "enable_idempotence": False}, "all, 1 or 0"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(settings: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidConfig, match=why):
        Stage(**settings)


def test_metrics_carry_kafkas_names() -> None:
    stage = staged(1)
    for _ in range(3):
        stage.send(0, b"x" * 100)
    stage.run(stage.core.flush())
    found = stage.session.metrics.snapshot()["producer-metrics"]
    assert found["record-send-total"] == 3
    assert found["records-per-request-avg"] == 3
    assert found["batch-size-max"] == len(
        stage.cluster.sent("Produce")[0].topic_data[0].partition_data[0].records
    )
    assert found["buffer-available-bytes"] == found["buffer-total-bytes"] == 33_554_432
    assert found["requests-in-flight"] == 0
    for name in (
        "request-latency-avg",
        "record-queue-time-max",
        "compression-rate-avg",
        "record-error-total",
    ):
        assert name in found
