"""The fetcher on a cluster in virtual time: reading ahead, what is handed out, what it holds."""

from __future__ import annotations

import math
from typing import Any

import pytest
from fetch_stage import Stage

from ottla.client.effects import ClientSteps, Wait
from ottla.client.errors import (
    IllegalState,
    InvalidArgument,
    NoOffset,
    OttlaError,
    PositionLost,
    ProtocolError,
    SerializationFailed,
)
from ottla.model.types import TopicPartition
from ottla.wire.record_batch import EndTxnMarker, Record, encode_batch, encode_end_txn_batch

T0 = TopicPartition("t", 0)
T1 = TopicPartition("t", 1)


def offsets(records: list[Any]) -> list[int]:
    return [record.offset for record in records]


def test_records_are_handed_out_in_order_and_the_position_follows() -> None:
    stage = Stage()
    log = stage.topic("t")[0]
    log.append(3)
    log.append(2)
    stage.start(T0)
    assert offsets(stage.take(4)) == [0, 1, 2, 3]
    position = stage.fetcher.position(T0)
    assert position is not None and position.offset == 4 and position.leader_epoch == 0
    assert offsets(stage.take(1)) == [4]
    assert stage.fetcher.lag(T0) == 0 and stage.fetcher.at_end()


def test_a_batch_that_is_fetched_from_its_middle_gives_only_what_lies_behind_the_position() -> None:
    stage = Stage()
    stage.topic("t")[0].append(10)
    stage.start(T0, at=7)
    assert offsets(stage.take(3)) == [7, 8, 9]


def test_one_request_per_broker_is_on_its_way_and_idle_requests_name_no_partition() -> None:
    """KIP-227: what did not change is not sent again."""
    stage = Stage()
    logs = stage.topic("t", 6, leaders=(1, 2))
    stage.start(*(TopicPartition("t", i) for i in range(6)))
    stage.run(limit_ms=5_000)
    assert stage.in_flight_max == 1
    by_node = {n: [r for name, node, r in stage.calls if name == "Fetch" and node == n] for n in (1, 2)}
    for requests in by_node.values():
        assert len(requests) >= 9, "long polls of 500 ms"
        assert [len(t.partitions) for t in requests[0].topics] == [3]
        assert all(not r.topics and not r.forgotten_topics_data for r in requests[1:])
    logs[2].append(1)
    stage.appended()
    before = len(stage.requests())
    stage.take(1)
    stage.run(limit_ms=600)
    named = [t for r in stage.requests()[before:] for t in r.topics]
    assert [[p.partition for p in t.partitions] for t in named] == [[2]], "only the one that moved"


def test_the_next_answer_is_on_its_way_before_the_last_one_is_used_up() -> None:
    stage = Stage(max_partition_fetch_bytes=1_000)
    log = stage.topic("t")[0]
    for _ in range(100):
        log.append(5, size=50)
    stage.start(T0)
    stage.run(lambda: stage.fetcher.ready)
    stage.run(limit_ms=100)
    assert len(stage.requests()) == 2, "one answer to work on, one in reserve"
    first = stage.fetcher.take(12)
    stage.run(lambda: len(stage.requests()) == 3, limit_ms=100)
    assert offsets(first) == list(range(12)) and stage.fetcher.buffered_bytes
    assert offsets(stage.take(488)) == list(range(12, 500))


def test_a_consumer_that_does_not_poll_is_not_sent_more_than_it_holds() -> None:
    stage = Stage()
    log = stage.topic("t")[0]
    fetcher = stage.start(T0)
    for _ in range(10):
        log.append(10, size=100)
        stage.appended()
        stage.run(limit_ms=600)
    assert len([r for r in stage.requests() if r.topics]) == 2, "one to work on, one in reserve"
    count = len(stage.requests())
    stage.run(limit_ms=60_000)
    assert len(stage.requests()) == count
    assert offsets(stage.take(100)) == list(range(100))
    assert fetcher.buffered_bytes == 0


def test_memory_stays_below_queued_max_bytes_whatever_the_brokers_would_send() -> None:
    stage = Stage(queued_max_bytes=20_000, max_partition_fetch_bytes=10_000)
    logs = stage.topic("t", 12, leaders=(1, 2, 3))
    for log in logs:
        for _ in range(40):
            log.append(10, size=90)
    tps = [TopicPartition("t", i) for i in range(12)]
    stage.start(*tps)
    held_max = 0
    taken: dict[int, list[int]] = {i: [] for i in range(12)}

    def work() -> bool:
        nonlocal held_max
        held_max = max(held_max, stage.fetcher.buffered_bytes)
        while records := stage.fetcher.take(7):
            for record in records:
                taken[record.partition].append(record.offset)
            if stage.scheduler.ready:
                break
        return all(len(found) == 400 for found in taken.values())

    stage.run(work, limit_ms=600_000)
    assert all(found == list(range(400)) for found in taken.values())
    # an equal share for each of the three brokers, and nothing above it but the last, whole, batch
    assert 10_000 < held_max <= 20_000


def test_a_batch_larger_than_every_limit_is_fetched_whole() -> None:
    """KIP-74: the first batch of a response is returned whatever its size."""
    stage = Stage(queued_max_bytes=100, max_partition_fetch_bytes=1, fetch_max_bytes=1)
    log = stage.topic("t")[0]
    log.append(1, size=50_000)
    log.append(2, size=50_000)
    stage.start(T0)
    assert offsets(stage.take(3)) == [0, 1, 2]
    assert stage.fetcher.buffered_bytes == 0


def test_partitions_take_turns() -> None:
    stage = Stage(max_partition_fetch_bytes=500)
    logs = stage.topic("t", 3)
    for log in logs:
        for _ in range(20):
            log.append(2, size=100)
    stage.start(*(TopicPartition("t", i) for i in range(3)))
    records = stage.take(60)
    assert {r.partition for r in records[:12]} == {0, 1, 2}
    for i in range(3):
        found = [r.offset for r in records if r.partition == i]
        assert found == list(range(len(found))) and len(found) >= 10


def test_what_was_fetched_for_a_position_that_was_left_is_dropped() -> None:
    stage = Stage()
    log = stage.topic("t")[0]
    for _ in range(10):
        log.append(1)
    fetcher = stage.start(T0)
    stage.run(lambda: stage.in_flight.get(1))  # asked from offset 0
    fetcher.seek(T0, 6)
    assert offsets(stage.take(2)) == [6, 7] and fetcher.buffered_bytes
    fetcher.seek(T0, 2)
    assert fetcher.buffered_bytes == 0 and not fetcher.take(10), "what is buffered is dropped at once"
    assert offsets(stage.take(8)) == [2, 3, 4, 5, 6, 7, 8, 9]


def test_an_answer_for_a_position_that_was_left_takes_no_memory() -> None:
    stage = Stage()
    stage.topic("t")[0].append(10)
    fetcher = stage.start(T0)
    stage.run(lambda: stage.in_flight.get(1))
    fetcher.seek(T0, 10)
    stage.run(lambda: fetcher.buffered_bytes or len(stage.requests()) == 2)
    assert fetcher.buffered_bytes == 0


def test_markers_are_stepped_over_by_read_uncommitted_too() -> None:
    stage = Stage()
    log = stage.topic("t")[0]
    marker = EndTxnMarker(committed=True, coordinator_epoch=0)
    log.append_raw(bytes(encode_end_txn_batch(marker, producer_id=9, producer_epoch=0, timestamp=0)))
    log.append(1)
    stage.start(T0)
    assert offsets(stage.take(1)) == [1]
    assert stage.fetcher.position(T0).offset == 2  # type: ignore[union-attr]


def test_what_was_fetched_of_a_revoked_partition_is_dropped_and_the_others_stay() -> None:
    stage = Stage()
    for log in stage.topic("t", 2):
        log.append(5)
    fetcher = stage.start(T0, T1)
    stage.run(lambda: fetcher.buffered_bytes)
    fetcher.assign([T1])
    assert {r.partition for r in stage.take(5)} == {1}
    with pytest.raises(IllegalState, match="t-0 is not assigned"):
        fetcher.position(T0)
    fetcher.assign([T0, T1])
    assert fetcher.missing() == {T0}, "it has no position any more"
    stage.run(limit_ms=2_000)
    assert not fetcher.take(10)


def test_an_answer_that_comes_after_the_revocation_changes_nothing() -> None:
    stage = Stage()
    for log in stage.topic("t", 2):
        log.append(5)
    fetcher = stage.start(T0, T1)
    stage.run(lambda: stage.in_flight.get(1))
    fetcher.assign([T1])
    assert {r.partition for r in stage.take(5)} == {1}
    stage.run(limit_ms=2_000)
    assert not fetcher.take(10) and fetcher.buffered_bytes == 0


def test_a_paused_partition_keeps_its_buffer_and_is_not_asked_for() -> None:
    """KAFKA-7548: pausing for one poll must not mean to fetch again."""
    stage = Stage()
    for log in stage.topic("t", 2):
        log.append(5)
    fetcher = stage.start(T0, T1)
    stage.run(lambda: fetcher.buffered_bytes)
    fetcher.pause([T0])
    assert fetcher.paused() == {T0}
    assert {r.partition for r in stage.take(5)} == {1}
    stage.run(limit_ms=2_000)
    assert not fetcher.take(10)
    forgotten = [t for r in stage.requests() for t in r.forgotten_topics_data]
    assert [t.partitions for t in forgotten] == [[0]]
    count = len(stage.requests())
    fetcher.resume([T0])
    assert offsets(fetcher.take(10)) == [0, 1, 2, 3, 4], "at once, without a fetch"
    assert len(stage.requests()) == count


def test_paused_partitions_give_their_memory_to_those_that_are_read() -> None:
    stage = Stage(queued_max_bytes=5_000, max_partition_fetch_bytes=3_000)
    logs = stage.topic("t", 2)
    for log in logs:
        for _ in range(30):
            log.append(5, size=100)
    fetcher = stage.start(T0, T1)
    stage.run(lambda: fetcher.buffered_bytes)
    fetcher.pause([T0])
    assert len([r for r in stage.take(150) if r.partition == 1]) == 150
    fetcher.resume([T0])
    assert offsets(stage.take(150)) == list(range(150)), "fetched again"


def test_a_position_moves_over_markers_and_aborted_records_without_handing_out_any() -> None:
    """KIP-98: with read_committed, nothing of an aborted transaction is seen, nor its marker."""
    stage = Stage(isolation_level="read_committed")
    log = stage.topic("t")[0]
    log.append(2, producer_id=7, producer_epoch=0, base_sequence=0, transactional=True)
    marker = EndTxnMarker(committed=False, coordinator_epoch=0)
    log.append_raw(
        bytes(encode_end_txn_batch(marker, producer_id=7, producer_epoch=0, timestamp=0, base_offset=2))
    )
    log.aborted = [(7, 0)]
    fetcher = stage.start(T0)
    stage.run(lambda: not fetcher.take(10) and fetcher.position(T0).offset == 3)  # type: ignore[union-attr]
    log.append(1)
    stage.appended()
    assert offsets(stage.take(1)) == [3]


def test_read_committed_does_not_read_past_the_first_open_transaction() -> None:
    stage = Stage(isolation_level="read_committed")
    log = stage.topic("t")[0]
    log.append(2)
    log.append(2, producer_id=7, producer_epoch=0, base_sequence=0, transactional=True)
    log.last_stable = 2
    fetcher = stage.start(T0)
    assert offsets(stage.take(2)) == [0, 1]
    stage.run(limit_ms=2_000)
    assert not fetcher.take(1)
    assert fetcher.end_offset(T0) == 2 and fetcher.lag(T0) == 0


def test_a_corrupt_batch_raises_with_its_place_after_what_lies_before_it_and_can_be_sought_past() -> None:
    stage = Stage()
    log = stage.topic("t")[0]
    log.append(2)
    log.append(2)
    broken = bytearray(log.batches[1])
    broken[70] ^= 0xFF
    log.batches[1] = bytes(broken)
    log.append(1)
    fetcher = stage.start(T0)
    assert offsets(stage.take(2)) == [0, 1]
    for _ in range(2):  # every time, until somebody seeks
        with pytest.raises(ProtocolError, match="t-0 at offset 2") as raised:
            stage.take(1)
        assert (raised.value.topic, raised.value.partition, raised.value.offset) == ("t", 0, 2)
        assert fetcher.position(T0).offset == 2  # type: ignore[union-attr]
    with pytest.raises(ProtocolError, match="t-0 at offset 2"):
        stage.run(lambda: fetcher.take_columns(10_000))
    fetcher.seek(T0, 4)
    assert offsets(stage.take(1)) == [4]


def test_check_crcs_false_takes_a_batch_with_a_wrong_crc() -> None:
    stage = Stage(check_crcs=False)
    log = stage.topic("t")[0]
    log.append(1)
    broken = bytearray(log.batches[0])
    broken[17] ^= 0xFF  # the CRC itself
    log.batches[0] = bytes(broken)
    stage.start(T0)
    assert offsets(stage.take(1)) == [0]


def test_bytes_that_are_no_batch_at_all_raise_and_do_not_stop_the_other_partitions() -> None:
    stage = Stage()
    logs = stage.topic("t", 2)
    logs[0].append(1)
    logs[0].batches[0] = logs[0].batches[0][:61]  # a header and nothing behind it
    logs[1].append(3)
    fetcher = stage.start(T0, T1)
    stage.run(lambda: fetcher.buffered_bytes)
    assert {r.partition for r in fetcher.take(10)} == {1}
    with pytest.raises(ProtocolError, match="t-0 at offset 0"):
        stage.take(1)
    logs[1].append(1)
    stage.appended()
    caught: list[int] = []

    def work() -> bool:
        try:
            caught.extend(r.partition for r in fetcher.take(10))
        except ProtocolError:
            return False
        return bool(caught)

    stage.run(work)
    assert caught == [1]


def test_a_deserializer_that_raises_leaves_the_position_before_its_record() -> None:
    def number(data: bytes) -> int:
        return int(data)

    stage = Stage(value_deserializer=number)
    log = stage.topic("t")[0]
    values = [b"1", b"2", b"three", b"4"]
    batch = encode_batch([Record(0, 0, None, value) for value in values])
    log.append_raw(bytes(batch))
    fetcher = stage.start(T0)
    assert [r.value for r in stage.take(2)] == [1, 2]
    for _ in range(2):
        with pytest.raises(SerializationFailed, match=r"t-0.*offset 2") as raised:
            fetcher.take(10)
        assert isinstance(raised.value.__cause__, ValueError)
        assert (raised.value.topic, raised.value.partition, raised.value.offset) == ("t", 0, 2)
    fetcher.seek(T0, 3)
    assert [r.value for r in stage.take(1)] == [4]


def test_what_a_signals_handler_interrupts_is_taken_again() -> None:
    interrupts = [1]

    def interrupted(data: bytes) -> bytes:
        if data == b"k000003" and interrupts:
            interrupts.pop()
            raise SystemExit
        return data

    stage = Stage(key_deserializer=interrupted)
    log = stage.topic("t")[0]
    log.append(2)
    log.append(4)
    fetcher = stage.start(T0)
    stage.run(lambda: fetcher.buffered_bytes)
    with pytest.raises(SystemExit):
        fetcher.take(10)
    at = fetcher.position(T0)
    assert at is not None and at.offset == 0
    assert [r.offset for r in stage.take(6)] == [0, 1, 2, 3, 4, 5]


def test_columns_are_taken_batch_by_batch_and_move_the_position() -> None:
    stage = Stage()
    for log in stage.topic("t", 2):
        for _ in range(4):
            log.append(25, size=100)
    fetcher = stage.start(T0, T1)
    stage.run(lambda: fetcher.buffered_bytes)
    assert offsets(fetcher.take(10)) == list(range(10)), "the batch that take has begun is gone on with"
    taken = fetcher.take_columns(1)
    assert [(t.topic_partition, t.columns.row_count) for t in taken] == [(T0, 15)]
    rest = fetcher.take_columns(1_000_000)
    assert sorted((t.topic_partition, t.columns.row_count) for t in rest) == [(T0, 75), (T1, 100)]
    assert fetcher.position(T0).offset == 100  # type: ignore[union-attr]
    assert fetcher.buffered_bytes == 0


def test_calls_that_make_no_sense_say_so() -> None:
    stage = Stage(auto_offset_reset="none")
    stage.topic("t")
    fetcher = stage.start(T0, at=None)
    assert fetcher.missing() == {T0} and fetcher.position(T0) is None
    with pytest.raises(InvalidArgument, match="-1 is not an offset"):
        fetcher.seek(T0, -1)
    with pytest.raises(IllegalState, match="t-1 is not assigned"):
        fetcher.pause([T1])
    with pytest.raises(NoOffset, match=r"auto\.offset\.reset is none") as raised:
        fetcher.reset(T0)
    assert (raised.value.topic, raised.value.partition) == ("t", 0)


def test_closing_does_not_wait_for_a_long_poll_and_ends_idle_sessions() -> None:
    stage = Stage(fetch_max_wait_ms=30_000)
    logs = stage.topic("t", 2, leaders=(1, 2))
    logs[1].append(5)
    fetcher = stage.start(T0, T1)
    stage.run(lambda: fetcher.buffered_bytes and len(stage.held) == 2)
    logs[1].append(5)
    stage.appended()
    stage.run(limit_ms=100)
    assert [held.node_id for held in stage.held] == [1]
    assert len(stage.sessions) == 2
    began_ms = stage.clock.elapsed_ms
    stage.do(fetcher.close())
    assert stage.clock.elapsed_ms - began_ms < 10
    assert (2, 102) not in stage.sessions and len(stage.sessions) <= 1
    assert fetcher.buffered_bytes == 0
    count = len(stage.requests())
    stage.do(fetcher.close())
    stage.run(limit_ms=60_000)
    assert len(stage.requests()) <= count + 1, "at most the farewell behind the long poll"


def test_closing_with_a_dead_broker_takes_at_most_a_second() -> None:
    stage = Stage()
    log = stage.topic("t")[0]
    fetcher = stage.start(T0)
    for _ in range(2):
        log.append(5)
        stage.appended()
        stage.run(limit_ms=100)
    assert fetcher.buffered_bytes and not stage.in_flight[1]
    stage.overrides["Fetch"] = lambda node_id, request: stage.delay_ms and None
    stage.delay_ms = 10_000
    began_ms = stage.clock.elapsed_ms
    stage.do(fetcher.close())
    assert stage.clock.elapsed_ms - began_ms <= 1_000


def test_what_was_consumed_is_counted_under_kafkas_names() -> None:
    stage = Stage()
    log = stage.topic("t")[0]
    log.append(6, size=100)
    fetcher = stage.start(T0)
    stage.take(4)
    shown = stage.metrics.snapshot()["consumer-fetch-manager-metrics"]
    assert shown["records-consumed-total"] == 4
    assert shown["records-lag-max"] == 2 and shown["records-lead-min"] == 4
    stage.take(2)
    stage.run(limit_ms=1_000)
    shown = stage.metrics.snapshot()["consumer-fetch-manager-metrics"]
    assert shown["records-consumed-total"] == 6
    assert shown["bytes-consumed-total"] == len(log.batches[0])
    assert shown["fetch-total"] == len(stage.requests()) - len(stage.held)
    assert shown["fetch-size-max"] == len(log.batches[0])
    assert shown["records-per-request-avg"] == 6
    assert shown["fetch-latency-avg"] > 1 and not math.isnan(shown["fetch-throttle-time-avg"])
    assert stage.metrics.snapshot()["consumer-fetch-manager-metrics:t"]["records-consumed-total"] == 6
    assert stage.metrics.snapshot()["consumer-fetch-manager-metrics:t-0"]["records-lag"] == 0
    fetcher.assign([])
    assert "consumer-fetch-manager-metrics:t-0" not in stage.metrics.snapshot()
    assert math.isnan(stage.metrics.snapshot()["consumer-fetch-manager-metrics"]["records-lag-max"])


def test_whoever_waits_is_told_of_records_of_errors_and_of_positions() -> None:
    stage = Stage(auto_offset_reset="none")
    log = stage.topic("t")[0]
    fetcher = stage.start(T0, at=None)

    def told() -> ClientSteps[bool]:
        return bool((yield Wait(fetcher.arrived, 5_000)))

    waiting = stage.scheduler.start(told(), "waits for a position")
    stage.run(limit_ms=100)
    fetcher.reset(T0, -2)
    stage.run(lambda: waiting.done, limit_ms=1_000)
    assert fetcher.has_position(T0)
    stage.run(limit_ms=1_000)
    waiting = stage.scheduler.start(told(), "waits for records")
    stage.run(limit_ms=1_000)
    assert not waiting.done, "an answer without news is no news"
    log.append(1)
    stage.appended()
    stage.run(lambda: waiting.done, limit_ms=1_000)
    assert offsets(fetcher.take(1)) == [0]
    log.start = log.next_offset = 7
    fetcher.seek(T0, 0)
    waiting = stage.scheduler.start(told(), "waits for an error")
    stage.run(lambda: waiting.done, limit_ms=2_000)
    with pytest.raises(PositionLost):
        fetcher.take(1)


def test_a_partition_that_is_assigned_during_a_long_poll_waits_no_longer_than_for_its_end() -> None:
    """As in Kafka: one request per broker, and it names what was assigned when it was sent."""
    stage = Stage()
    logs = stage.topic("t", 2)
    logs[1].append(1)
    fetcher = stage.start(T0)
    stage.run(lambda: stage.held)
    began_ms = stage.clock.elapsed_ms
    fetcher.assign([T0, T1])
    fetcher.seek(T1, 0)
    assert [r.partition for r in stage.take(1)] == [1]
    assert stage.clock.elapsed_ms - began_ms < 510


def test_a_fault_in_the_fetchers_own_code_is_raised_and_not_waited_out(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    stage = Stage()
    stage.topic("t")[0].append(1)

    def broken(*args: Any) -> bool:
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr(stage.fetcher._answers, "take_in", broken)
    stage.start(T0)
    with pytest.raises(OttlaError, match="of all things"):
        stage.take(1)
    assert "of all things" in caplog.text
