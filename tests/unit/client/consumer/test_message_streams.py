"""Streams of messages: several threads read one consumer, each its own partitions."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from ottla.client.consuming.streams import Lane, Spread
from ottla.client.errors import IllegalState, InvalidArgument, SerializationFailed
from ottla.client.records import ConsumerRecord, OffsetAndMetadata
from ottla.client.sync.streams import MessageStream
from ottla.model.types import TopicPartition
from support.broker_process import BrokerProcess
from support.waiting import wait_until
from unit.client.consumer.stage import (
    MakeConsumer,
    consumer_of,
    create,
    group_broker,
    poll_until,
    write,
)

__all__ = ["consumer_of", "group_broker"]  # fixtures

pytestmark = pytest.mark.timeout(120)

T0, T1, T2 = (TopicPartition("t", n) for n in range(3))


def records(partition: int, first: int, last: int) -> list[ConsumerRecord]:
    return [
        ConsumerRecord("t", partition, offset, 0, 0, None, b"%d" % offset, (), 7)
        for offset in range(first, last + 1)
    ]


def at(offset: int) -> OffsetAndMetadata:
    return OffsetAndMetadata(offset, "", 7)


# --- the spread, without threads -------------------------------------------------------------------------


def test_partitions_are_spread_over_the_lanes_and_keep_their_order() -> None:
    spread = Spread([Lane(), Lane()], 100)
    spread.put([*records(0, 0, 2), *records(1, 0, 2), *records(2, 0, 0), *records(0, 3, 4)], {T0, T1, T2})
    assert [lane.partitions for lane in spread.lanes] == [{T0, T2}, {T1}]
    first = spread.lanes[0]
    assert first.advance()
    assert [(r.partition, r.offset) for r in first.rest] == [(0, 0), (0, 1), (0, 2), (2, 0), (0, 3), (0, 4)]
    assert not first.advance()


def test_a_record_is_consumed_once_its_reader_asks_for_the_next_one() -> None:
    spread = Spread([Lane()], 100)
    ends = {T0: at(10), T1: at(5)}
    spread.put(records(0, 3, 9), {T0, T1})
    (lane,) = spread.lanes
    assert spread.progress(ends, ends.get) == {T0: at(3), T1: at(5)}
    assert lane.advance()
    assert next(lane.rest).offset == 3
    assert spread.progress(ends, ends.get)[T0] == at(3)  # in hand
    assert next(lane.rest).offset == 4
    assert spread.progress(ends, ends.get)[T0] == at(4)
    assert [r.offset for r in lane.rest] == [5, 6, 7, 8, 9]
    assert spread.progress(ends, ends.get)[T0] == at(9)  # the last one is in hand
    assert not lane.advance()
    assert spread.progress(ends, ends.get)[T0] == at(10)


def test_a_full_lane_pauses_its_partitions_until_half_of_it_was_read() -> None:
    spread = Spread([Lane(), Lane()], 4)
    spread.put([*records(0, 0, 1), *records(1, 0, 0)], {T0, T1})
    assert spread.to_pause() == set()
    spread.put(records(0, 2, 4), {T0, T1})
    assert spread.to_pause() == {T0}
    assert spread.to_pause() == set()
    lane = spread.lanes[0]
    assert lane.advance()
    assert spread.to_resume(lane) == set()
    assert len(list(lane.rest)) == 2
    assert lane.advance()
    assert spread.to_resume(lane) == {T0}


def test_what_waits_of_a_partition_that_goes_away_is_dropped_and_not_consumed() -> None:
    spread = Spread([Lane()], 100)
    positions = {T0: at(6), T1: at(4)}
    spread.put([*records(0, 0, 2), *records(1, 0, 3)], {T0, T1})
    spread.put(records(0, 3, 5), {T0, T1})
    (lane,) = spread.lanes
    assert lane.advance()
    reader = lane.rest
    assert next(reader).offset == 0
    assert next(reader).offset == 1
    spread.revoking({T0})
    # Asked within the revocation: what was moved past, not what was dropped.
    assert spread.progress(positions, positions.get) == {T0: at(1), T1: at(0)}
    assert list(reader) == []  # the list that the reader had is over; the next one has what stays
    assert lane.advance()
    assert [(r.partition, r.offset) for r in lane.rest] == [(1, 0), (1, 1), (1, 2), (1, 3)]
    spread.given({T0})
    assert spread.progress(positions, positions.get)[T0] == at(6), "it is back: others may have read on in it"
    spread.put(records(0, 1, 1), {T0, T1})
    assert spread.progress(positions, positions.get)[T0] == at(1)


def test_what_poll_took_is_not_consumed_before_it_is_in_line() -> None:
    """Any thread may commit, at any moment."""
    spread = Spread([Lane()], 100)
    positions = {T0: at(6), T1: at(4)}
    spread.put(records(0, 0, 2), {T0, T1})
    spread.arriving = [*records(0, 3, 5), *records(1, 0, 3)]
    assert spread.progress(positions, positions.get) == {T0: at(0), T1: at(0)}
    spread.put(spread.arriving, {T0, T1})
    assert spread.progress(positions, positions.get) == {T0: at(0), T1: at(0)}
    spread.arriving = records(1, 4, 4)
    spread.end()
    assert spread.progress(positions, positions.get) == {T0: at(0), T1: at(0)}


def test_after_the_end_nothing_more_is_handed_on_and_the_rest_is_not_consumed() -> None:
    spread = Spread([Lane()], 100)
    positions = {T0: at(10)}
    spread.put(records(0, 0, 4), {T0})
    spread.put(records(0, 5, 9), {T0})
    (lane,) = spread.lanes
    assert lane.advance()
    reader = lane.rest
    assert next(reader).offset == 0
    spread.end()
    assert list(reader) == [] and not lane.advance()
    assert spread.progress(positions, positions.get) == {T0: at(0)}


# --- with threads, against a broker ----------------------------------------------------------------------


class Reader(threading.Thread):
    """Reads one stream to its end, and keeps what it saw and how it ended."""

    def __init__(self, stream: MessageStream, handle: Callable[[ConsumerRecord], Any] | None = None) -> None:
        super().__init__(daemon=True)
        self.stream = stream
        self.seen: list[ConsumerRecord] = []
        self.error: BaseException | None = None
        self._handle = handle
        self.start()

    def run(self) -> None:
        try:
            for record in self.stream:
                self.seen.append(record)
                if self._handle is not None:
                    self._handle(record)
        except BaseException as error:
            self.error = error


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_four_streams_share_the_partitions_and_close_commits_what_was_read(
    protocol: str, group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    create(group_broker, topic_name, 8)
    write(group_broker, topic_name, 0, 499, partitions=8)
    consumer = consumer_of(topic_name, group_protocol=protocol)
    readers = [Reader(stream) for stream in consumer.streams(4)]
    wait_until(lambda: sum(len(r.seen) for r in readers) == 4000, "all records", timeout_s=30)
    for reader in readers:
        assert len(reader.stream.partitions()) == 2
        for partition in {r.partition for r in reader.seen}:
            offsets = [r.offset for r in reader.seen if r.partition == partition]
            assert offsets == list(range(500))  # all of a partition, in order, in one stream
    with pytest.raises(IllegalState, match="streams"):
        consumer.poll()
    consumer.close()
    for reader in readers:
        reader.join(10)
        assert not reader.is_alive() and reader.error is None
    witness = consumer_of()
    committed = witness.committed(*(TopicPartition(topic_name, n) for n in range(8)))
    assert [at.offset for at in committed.values() if at is not None] == [500] * 8


def test_a_slow_stream_holds_up_its_own_partitions_only_and_its_records_are_not_committed(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    """Back-pressure: the slow one's partition is paused, not the other's."""
    create(group_broker, topic_name, 2)
    write(group_broker, topic_name, 0, 999, partitions=2)
    gate = threading.Event()

    def wait_at_three(record: ConsumerRecord) -> None:
        if record.partition == 0 and record.offset == 3:
            gate.wait()

    consumer = consumer_of(topic_name, auto_commit_interval_ms=50, max_poll_records=50)
    readers = [Reader(stream, wait_at_three) for stream in consumer.streams(2, queue_records=100)]
    slow, fast = TopicPartition(topic_name, 0), TopicPartition(topic_name, 1)
    wait_until(
        lambda: any(len(r.seen) == 1000 for r in readers), "the fast stream has everything", timeout_s=30
    )
    wait_until(lambda: consumer.paused() == {slow}, "the slow one's partition is paused")
    (behind,) = [r for r in readers if r.seen[0].partition == 0]
    assert len(behind.seen) == 4
    witness = consumer_of()
    wait_until(lambda: (witness.committed(fast)[fast] or (0,))[0] >= 999, "the fast one is committed")
    assert witness.committed(slow)[slow].offset == 3  # type: ignore[union-attr]
    gate.set()
    wait_until(lambda: len(behind.seen) == 1000, "the slow one catches up", timeout_s=30)
    assert [r.offset for r in behind.seen] == list(range(1000))
    assert consumer.paused() == set()


def test_partitions_that_go_to_another_member_are_not_handed_on_any_more(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    create(group_broker, topic_name, 4)
    consumer = consumer_of(topic_name, partition_assignment_strategy=["cooperative-sticky"])
    readers = [Reader(stream) for stream in consumer.streams(2)]
    wait_until(lambda: len(consumer.assignment()) == 4, "the consumer has everything")
    write(group_broker, topic_name, 0, 9, partitions=4)
    wait_until(lambda: sum(len(r.seen) for r in readers) == 40, "all records")
    other = consumer_of(topic_name, partition_assignment_strategy=["cooperative-sticky"])
    taken: list[ConsumerRecord] = []
    poll_until(other, lambda: len(other.assignment()) == 2, "the other one has its share", seen=taken)
    wait_until(lambda: len(consumer.assignment()) == 2, "the streams have the rest")
    write(group_broker, topic_name, 10, 19, partitions=4)
    poll_until(other, lambda: sum(r.offset >= 10 for r in taken) == 20, "the new records", seen=taken)
    wait_until(lambda: sum(len([x for x in r.seen if x.offset >= 10]) for r in readers) == 20, "the streams'")
    moved = {tp.partition for tp in other.assignment()}
    for reader in readers:
        assert not [r for r in reader.seen if r.offset >= 10 and r.partition in moved]


def test_streams_by_topic_carry_their_topic_only(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    """createMessageStreams of the high-level API: a number of streams for each topic."""
    clicks, views = f"{topic_name}.clicks", f"{topic_name}.views"
    create(group_broker, clicks, 2)
    create(group_broker, views, 1)
    write(group_broker, clicks, 0, 9)
    write(group_broker, views, 0, 9, partitions=1)
    consumer = consumer_of()
    streams = consumer.streams({clicks: 2, views: 1})
    assert {topic: len(s) for topic, s in streams.items()} == {clicks: 2, views: 1}
    readers = [Reader(stream) for topic in streams for stream in streams[topic]]
    wait_until(lambda: [len(r.seen) for r in readers] == [10, 10, 10], "all records")
    assert [{r.topic for r in reader.seen} for reader in readers] == [{clicks}, {clicks}, {views}]


def test_what_ends_the_reading_is_raised_by_every_stream(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    def strict(data: bytes) -> int:
        if data == b"5":
            raise ValueError("five")
        return int(data)

    create(group_broker, topic_name)
    write(group_broker, topic_name, 0, 9, partitions=1)
    consumer = consumer_of(topic_name, value_deserializer=strict)
    readers = [Reader(stream) for stream in consumer.streams(2)]
    wait_until(lambda: all(r.error is not None for r in readers), "both streams end")
    assert all(isinstance(r.error, SerializationFailed) for r in readers)
    assert [r.value for reader in readers for r in reader.seen] == [0, 1, 2, 3, 4]
    consumer.close()


def test_a_stream_ends_when_nothing_comes_for_consumer_timeout_ms_and_goes_on_later(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    create(group_broker, topic_name)
    write(group_broker, topic_name, 0, 4, partitions=1)
    consumer = consumer_of(topic_name, consumer_timeout_ms=1000)
    (stream,) = consumer.streams(1)
    assert [r.offset for r in stream] == list(range(5))
    write(group_broker, topic_name, 5, 6, partitions=1)
    assert [r.offset for r in stream] == [5, 6]
    with pytest.raises(IllegalState):
        consumer.streams(2)


def test_streams_need_a_number_and_something_to_read(consumer_of: MakeConsumer) -> None:
    with pytest.raises(IllegalState, match="nothing to read"):
        consumer_of().streams(2)
    with pytest.raises(InvalidArgument):
        consumer_of("t").streams(0)
    with pytest.raises(InvalidArgument):
        consumer_of("t").streams(1, queue_records=0)
