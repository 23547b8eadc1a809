"""`ottla.Consumer` against a real broker: reading, positions, commits, and what it refuses."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Mapping
from typing import Any

import pytest
from confluent_kafka import Producer as ConfluentProducer

from ottla.client.errors import (
    BrokerUnavailable,
    ClientClosed,
    CommitFailed,
    IllegalState,
    InvalidArgument,
    InvalidConfig,
    NoOffset,
    OttlaError,
    SerializationFailed,
    ServerError,
    WokenUp,
)
from ottla.client.records import ConsumerRecord, OffsetAndMetadata
from ottla.client.sync.consumer import Consumer
from ottla.client.sync.producer import Producer
from ottla.model.types import TopicPartition
from ottla.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from support.broker_process import BrokerProcess
from support.raw_client import RawClient
from support.waiting import wait_until
from unit.client.consumer.stage import (
    MakeConsumer,
    consumer_of,
    create,
    group_broker,
    poll_until,
    read,
    write,
)

__all__ = ["consumer_of", "group_broker"]  # fixtures

pytestmark = pytest.mark.timeout(120)

BOTH = pytest.mark.parametrize("protocol", ["classic", "consumer"])


def offsets(consumer: Consumer, topic: str) -> dict[int, int]:
    """What the group has committed, by partition."""
    found = consumer.committed(*(TopicPartition(topic, p.index) for p in consumer.partitions_for(topic)))
    return {tp.partition: at.offset for tp, at in found.items() if at is not None}


# --- reading ---------------------------------------------------------------------------------------------


@BOTH
def test_what_was_polled_is_committed_by_close_and_the_next_member_goes_on(
    protocol: str, group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    """enable.auto.commit: the positions of earlier polls are committed when the consumer is closed."""
    create(group_broker, topic_name, 2)
    write(group_broker, topic_name, 0, 99)
    first = consumer_of(topic_name, group_protocol=protocol)
    records = read(first, 200)
    for partition in range(2):
        mine = [record for record in records if record.partition == partition]
        assert [record.offset for record in mine] == list(range(100))
        assert [record.value for record in mine] == [b"%d" % n for n in range(100)]
    assert first.at_end() and first.joined() and first.subscription() == {topic_name}
    first.close()
    assert first.commit_error is None
    write(group_broker, topic_name, 100, 104)
    second = consumer_of(topic_name, group_protocol=protocol)
    assert sorted(record.offset for record in read(second, 10)) == sorted([*range(100, 105)] * 2)


def test_iteration_hands_out_records_until_none_comes_for_consumer_timeout_ms(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    """As kafka-python's consumer_timeout_ms."""
    create(group_broker, topic_name)
    write(group_broker, topic_name, 0, 49, partitions=1)
    consumer = consumer_of(topic_name, consumer_timeout_ms=1500, max_poll_records=7)
    assert [record.offset for record in consumer] == list(range(50))
    write(group_broker, topic_name, 50, 51, partitions=1)
    assert [next(consumer).offset, next(consumer).offset] == [50, 51]
    with pytest.raises(StopIteration):
        next(consumer)


def test_records_that_an_iteration_did_not_hand_on_are_not_committed(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    """The rest of the polled list is delivered again: neither lost nor counted as read."""
    create(group_broker, topic_name)
    write(group_broker, topic_name, 0, 49, partitions=1)
    consumer = consumer_of(topic_name)
    for record in consumer:
        if record.offset == 19:
            break
    tp = TopicPartition(topic_name, 0)
    assert consumer.position(tp) == 20
    consumer.commit()
    assert offsets(consumer, topic_name) == {0: 20}
    assert [record.offset for record in consumer.poll(max_records=5)] == list(range(20, 25))
    for record in consumer:  # the next loop goes on behind it
        assert record.offset == 25
        break
    consumer.close()
    assert offsets(consumer_of(), topic_name) == {0: 26}


def test_a_record_whose_handling_raised_is_delivered_again(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    """At least once: the `with` block closes and commits, but not what the code was working on."""
    create(group_broker, topic_name)
    write(group_broker, topic_name, 0, 9, partitions=1)

    def iterate_and_fail() -> None:
        with consumer_of(topic_name) as consumer:
            for record in consumer:
                assert record.offset != 3, "three is too much"

    def poll_and_fail() -> None:
        with consumer_of(topic_name) as consumer:
            assert len(read(consumer, 7)) == 0, "seven are too much"

    with pytest.raises(AssertionError, match="three"):
        iterate_and_fail()
    assert offsets(consumer_of(), topic_name) == {0: 3}
    with pytest.raises(AssertionError, match="seven"):
        poll_and_fail()
    assert offsets(consumer_of(), topic_name) == {0: 3}


def test_offsets_are_committed_every_auto_commit_interval_for_earlier_polls_only(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    create(group_broker, topic_name)
    write(group_broker, topic_name, 0, 9, partitions=1)
    consumer = consumer_of(topic_name, auto_commit_interval_ms=100)
    witness = consumer_of()
    assert len(read(consumer, 10)) == 10
    assert offsets(witness, topic_name) == {}  # what the last poll gave may not be dealt with yet
    poll_until(consumer, lambda: offsets(witness, topic_name) == {0: 10}, "the interval's commit")


# --- positions -------------------------------------------------------------------------------------------


def test_partitions_assigned_by_hand_are_read_from_where_one_seeks(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    create(group_broker, topic_name, 2)
    write(group_broker, topic_name, 0, 9)
    zero, one = TopicPartition(topic_name, 0), TopicPartition(topic_name, 1)
    consumer = consumer_of(group_id=None)
    consumer.assign([zero])
    assert consumer.assignment() == {zero} and consumer.subscription() == frozenset()
    consumer.seek(zero, 7)
    assert [r.offset for r in read(consumer, 3)] == [7, 8, 9]
    consumer.seek_to_beginning()
    assert [r.offset for r in read(consumer, 10)] == list(range(10))
    assert consumer.position(zero) == 10 and consumer.lag(zero) == 0
    consumer.seek_to_end(zero)
    assert consumer.position(zero) == 10
    consumer.assign([zero, one])
    assert {r.partition for r in read(consumer, 10)} == {1}
    assert consumer.beginning_offsets([zero, one]) == {zero: 0, one: 0}
    assert consumer.end_offsets([zero, one]) == {zero: 10, one: 10}
    first = consumer.offsets_for_times({zero: 0})[zero]
    assert first is not None and first.offset == 0
    assert consumer.offsets_for_times({zero: first.timestamp + 10_000_000}) == {zero: None}
    assert topic_name in consumer.topics() and len(consumer.partitions_for(topic_name)) == 2
    with pytest.raises(IllegalState, match="not assigned"):
        consumer.seek(TopicPartition(topic_name, 5), 0)
    with_group = consumer_of()
    with_group.assign([zero])
    with pytest.raises(IllegalState, match="assigned by hand"):
        with_group.subscribe([topic_name])


def test_a_paused_partition_gives_nothing_until_it_is_resumed(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    create(group_broker, topic_name, 2)
    write(group_broker, topic_name, 0, 9)
    zero, one = TopicPartition(topic_name, 0), TopicPartition(topic_name, 1)
    consumer = consumer_of(group_id=None)
    consumer.assign([zero, one])
    consumer.pause(one)
    assert consumer.paused() == {one}
    assert {r.partition for r in read(consumer, 10)} == {0}
    assert consumer.poll(timeout=0.2) == []
    consumer.resume(one)
    assert {r.partition for r in read(consumer, 10)} == {1}


def test_seeking_and_pausing_within_an_iteration_take_effect_at_once(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    """What was polled ahead for the iteration is not handed out any more."""
    create(group_broker, topic_name)
    write(group_broker, topic_name, 0, 19, partitions=1)
    tp = TopicPartition(topic_name, 0)
    consumer = consumer_of(group_id=None, consumer_timeout_ms=400)
    consumer.assign([tp])
    seen = []
    for record in consumer:
        seen.append(record.offset)
        if seen == [0, 1, 2]:
            consumer.seek(tp, 15)
        elif record.offset == 17:
            consumer.pause(tp)
    assert seen == [0, 1, 2, 15, 16, 17]
    consumer.resume(tp)
    assert [record.offset for record in consumer] == [18, 19]


def test_rewind_goes_back_to_what_is_committed(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    create(group_broker, topic_name)
    write(group_broker, topic_name, 0, 9, partitions=1)
    consumer = consumer_of(topic_name, enable_auto_commit=False)
    assert len(read(consumer, 10)) == 10
    consumer.commit({TopicPartition(topic_name, 0): 4})
    consumer.rewind()
    assert [r.offset for r in read(consumer, 6)] == list(range(4, 10))


def test_without_a_committed_offset_and_with_reset_none_poll_says_so(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    create(group_broker, topic_name)
    write(group_broker, topic_name, 0, 4, partitions=1)
    consumer = consumer_of(topic_name, auto_offset_reset="none")
    with pytest.raises(NoOffset):
        poll_until(consumer, lambda: False, "an error")
    consumer.seek(TopicPartition(topic_name, 0), 2)  # what its documentation tells to do
    assert [r.offset for r in read(consumer, 3)] == [2, 3, 4]


# --- commits ---------------------------------------------------------------------------------------------


@BOTH
def test_commits_of_a_record_of_offsets_and_of_everything(
    protocol: str, group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    """A record is committed as the offset behind it, with its leader epoch; metadata goes along."""
    create(group_broker, topic_name)
    write(group_broker, topic_name, 0, 9, partitions=1)
    tp = TopicPartition(topic_name, 0)
    consumer = consumer_of(topic_name, enable_auto_commit=False, group_protocol=protocol)
    records = read(consumer, 10)
    consumer.commit(records[3])
    assert consumer.committed(tp) == {tp: OffsetAndMetadata(4, "", records[3].leader_epoch)}
    consumer.commit({tp: OffsetAndMetadata(6, "half-way")})
    assert consumer.committed(tp) == {tp: OffsetAndMetadata(6, "half-way", -1)}
    consumer.commit({tp: 7})
    consumer.commit(records[:9])
    assert offsets(consumer, topic_name) == {0: 9}
    consumer.commit()
    assert offsets(consumer, topic_name) == {0: 10}
    assert consumer.committed(TopicPartition("no-such-topic", 0)) == {
        TopicPartition("no-such-topic", 0): None
    }


def test_asynchronous_commits_are_answered_in_order_and_a_synchronous_one_waits_for_them(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    create(group_broker, topic_name)
    write(group_broker, topic_name, 0, 9, partitions=1)
    tp = TopicPartition(topic_name, 0)
    consumer = consumer_of(topic_name, enable_auto_commit=False)
    read(consumer, 10)
    answers: list[tuple[int, Any]] = []

    def answered(offsets: Mapping[TopicPartition, OffsetAndMetadata], error: OttlaError | None) -> None:
        answers.append((offsets[tp].offset, error))

    for offset in range(1, 9):
        consumer.commit_async({tp: offset}, answered)
    consumer.commit({tp: 9})
    assert offsets(consumer, topic_name) == {0: 9}
    consumer.commit_async(answered)
    poll_until(consumer, lambda: len(answers) == 9, "all callbacks")
    assert answers == [(offset, None) for offset in [*range(1, 9), 10]]


def test_a_commit_from_outside_of_a_group_with_members_is_refused(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    create(group_broker, topic_name)
    member = consumer_of(topic_name)
    poll_until(member, member.assignment, "its partitions")
    outsider = consumer_of()
    outsider.assign([TopicPartition(topic_name, 0)])
    with pytest.raises(CommitFailed, match="by hand"):
        outsider.commit({TopicPartition(topic_name, 0): 1})


def test_a_commit_before_joining_is_refused_and_too_much_metadata_too(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    create(group_broker, topic_name)
    tp = TopicPartition(topic_name, 0)
    consumer = consumer_of(topic_name)
    with pytest.raises(CommitFailed, match="not a member"):
        consumer.commit({tp: 1})
    poll_until(consumer, consumer.assignment, "its partitions")
    with pytest.raises(ServerError, match=r"offset\.metadata\.max\.bytes"):
        consumer.commit({tp: OffsetAndMetadata(1, "x" * 10_000)})
    with pytest.raises(InvalidArgument):
        consumer.commit({tp: -1})
    with pytest.raises(InvalidArgument):
        consumer.commit("everything")
    with pytest.raises(InvalidArgument, match="group_id"):
        consumer_of(group_id=None).commit({tp: 1})


# --- transactions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("isolation", ["read_committed", "read_uncommitted"])
def test_read_committed_shows_nothing_of_aborted_and_open_transactions(
    isolation: str, group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    create(group_broker, topic_name)
    settings = {"bootstrap.servers": group_broker.bootstrap, "transactional.id": f"{topic_name}-{isolation}"}
    producer = ConfluentProducer(settings)
    producer.init_transactions()

    def transaction(value: str, end: str) -> None:
        producer.begin_transaction()
        for n in range(3):
            producer.produce(topic_name, f"{value}{n}", partition=0)
        producer.flush()
        if end == "commit":
            producer.commit_transaction()
        elif end == "abort":
            producer.abort_transaction()

    transaction("a", "commit")
    transaction("b", "abort")
    transaction("c", "commit")
    transaction("d", "open")
    tp = TopicPartition(topic_name, 0)
    consumer = consumer_of(topic_name, isolation_level=isolation)
    expected = "ac" if isolation == "read_committed" else "abcd"
    records = read(consumer, 3 * len(expected))
    assert [r.value.decode() for r in records] == [f"{v}{n}" for v in expected for n in range(3)]
    assert consumer.end_offsets([tp]) == {tp: 12 if isolation == "read_committed" else 15}
    producer.abort_transaction()
    if isolation == "read_committed":  # the position moves past what is not shown, so that the lag ends
        poll_until(consumer, lambda: consumer.position(tp) == 16, "the position behind the last marker")
        consumer.commit()
        assert offsets(consumer, topic_name) == {0: 16}


# --- waking, threads, the end ----------------------------------------------------------------------------


def test_wakeup_ends_a_poll_of_another_thread_once(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    create(group_broker, topic_name)
    consumer = consumer_of(topic_name)
    poll_until(consumer, consumer.assignment, "its partitions")
    began = time.monotonic()
    waker = threading.Timer(0.2, consumer.wakeup)
    waker.start()
    with pytest.raises(WokenUp):
        consumer.poll(timeout=60)
    assert time.monotonic() - began < 30
    waker.join()
    assert consumer.poll(timeout=0.01) == []
    consumer.wakeup()  # nobody waits: the next call that would is ended
    with pytest.raises(WokenUp):
        consumer.commit({TopicPartition(topic_name, 0): 0})
    consumer.commit({TopicPartition(topic_name, 0): 0})


def test_a_second_thread_is_told_that_the_consumer_is_in_use(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    """As Java's ConcurrentModificationException; nothing else happens."""
    create(group_broker, topic_name)
    consumer = consumer_of(topic_name)
    inside = threading.Event()
    ended: list[BaseException] = []

    def poll() -> None:
        try:
            inside.set()
            consumer.poll(timeout=60)
        except WokenUp as error:
            ended.append(error)

    thread = threading.Thread(target=poll)
    thread.start()
    inside.wait()

    def refused() -> bool:
        try:
            consumer.assignment()
        except IllegalState as error:
            return "another thread" in str(error)
        return False

    wait_until(refused, "the second thread is refused")
    with pytest.raises(IllegalState, match="another thread"):
        consumer.close()
    consumer.wakeup()
    thread.join(30)
    assert len(ended) == 1
    assert consumer.poll(timeout=0.01) == []


def test_ctrl_c_within_poll_leaves_the_consumer_usable(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    create(group_broker, topic_name)
    consumer = consumer_of(topic_name)
    poll_until(consumer, consumer.assignment, "its partitions")
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        consumer.poll(timeout=60)
    timer.join()
    write(group_broker, topic_name, 0, 4, partitions=1)
    assert [r.offset for r in read(consumer, 5)] == list(range(5))


def test_ctrl_c_after_records_were_taken_loses_none_of_them(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    """It is held back until poll is about to return: what poll has taken by then is for the next one."""
    create(group_broker, topic_name)
    write(group_broker, topic_name, 0, 9, partitions=1)
    interrupts = [1, 1]

    def interrupting(data: bytes) -> bytes:
        if interrupts:
            interrupts.pop()
            os.kill(os.getpid(), signal.SIGINT)
        return data

    consumer = consumer_of(topic_name, value_deserializer=interrupting, max_poll_records=4)
    with pytest.raises(KeyboardInterrupt):
        poll_until(consumer, lambda: False, "the first interrupt")
    interrupts.clear()
    consumer.commit()
    assert consumer.committed() == {TopicPartition(topic_name, 0): OffsetAndMetadata(0, "", 0)}
    assert [r.offset for r in read(consumer, 10)] == list(range(10))
    consumer.seek_to_beginning()
    interrupts.append(1)
    with pytest.raises(KeyboardInterrupt):
        next(consumer)
    assert next(consumer).offset == 0


def test_closing_within_an_iteration_ends_it(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    create(group_broker, topic_name)
    write(group_broker, topic_name, 0, 9, partitions=1)
    consumer = consumer_of(topic_name)
    seen = []
    for record in consumer:
        seen.append(record.offset)
        if record.offset == 3:
            consumer.close()
    assert seen == [0, 1, 2, 3]
    assert [r.offset for r in read(consumer_of(topic_name), 6)] == [4, 5, 6, 7, 8, 9]


def test_an_interceptor_that_leaves_nothing_of_a_list_does_not_end_an_iteration(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    class OnlyLate:
        def on_consume(self, records: list[ConsumerRecord]) -> list[ConsumerRecord]:
            return [record for record in records if record.offset >= 8]

    create(group_broker, topic_name)
    write(group_broker, topic_name, 0, 9, partitions=1)
    consumer = consumer_of(topic_name, interceptors=[OnlyLate()], max_poll_records=4)
    assert [next(consumer).offset, next(consumer).offset] == [8, 9]


def test_a_rebalance_that_is_enforced_gives_the_partitions_anew(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    """KIP-568."""
    create(group_broker, topic_name)
    told: list[str] = []
    consumer = consumer_of()
    consumer.subscribe(
        topic_name, on_assigned=lambda _: told.append("assigned"), on_revoked=lambda _: told.append("revoked")
    )
    poll_until(consumer, lambda: told, "its partitions")
    consumer.enforce_rebalance("for a test")
    poll_until(consumer, lambda: len(told) == 3, "its partitions again")
    assert told == ["assigned", "revoked", "assigned"]


def test_a_closed_consumer_refuses_everything_and_closing_again_does_nothing(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    create(group_broker, topic_name)
    consumer = consumer_of(topic_name)
    consumer.poll(timeout=0.1)
    consumer.close()
    consumer.close()
    assert list(consumer) == []
    assert "closed" in repr(consumer)
    for call in (
        consumer.poll,
        consumer.commit,
        consumer.topics,
        consumer.unsubscribe,
        consumer.group_metadata,
        lambda: consumer.subscribe(["x"]),
        lambda: consumer.position(TopicPartition(topic_name, 0)),
    ):
        with pytest.raises(ClientClosed):
            call()


def test_interceptors_see_what_is_polled_and_what_is_committed(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    """KIP-42; one that raises is left out."""

    class Upper:
        committed: list[Any] = []

        def on_consume(self, records: list[ConsumerRecord]) -> list[ConsumerRecord]:
            return [record._replace(value=b"seen " + record.value) for record in records]

        def on_commit(self, offsets: Any) -> None:
            self.committed.append(offsets)

    class Broken:
        def on_consume(self, records: list[ConsumerRecord]) -> list[ConsumerRecord]:
            raise RuntimeError("no")

    create(group_broker, topic_name)
    write(group_broker, topic_name, 0, 2, partitions=1)
    interceptors = [Broken(), Upper()]
    consumer = consumer_of(topic_name, interceptors=interceptors, enable_auto_commit=False)
    assert [r.value for r in read(consumer, 3)] == [b"seen 0", b"seen 1", b"seen 2"]
    consumer.commit()
    wait_until(lambda: Upper.committed, "the interceptor hears of the commit")
    assert Upper.committed == [{TopicPartition(topic_name, 0): OffsetAndMetadata(3, "", 0)}]


def test_a_deserializer_that_raises_stops_before_the_record_and_one_can_seek_past_it(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    def strict(data: bytes) -> int:
        number = int(data)
        assert number != 3, "three is not a number here"
        return number

    create(group_broker, topic_name)
    write(group_broker, topic_name, 0, 5, partitions=1)
    tp = TopicPartition(topic_name, 0)
    consumer = consumer_of(topic_name, value_deserializer=strict)
    assert [r.value for r in read(consumer, 3)] == [0, 1, 2]
    for _ in range(2):  # again and again, until somebody does something about it
        with pytest.raises(SerializationFailed) as caught:
            poll_until(consumer, lambda: False, "an error")
        assert (caught.value.topic, caught.value.offset) == (topic_name, 3)
        assert consumer.position(tp) == 3
    consumer.seek(tp, 4)
    assert [r.value for r in read(consumer, 2)] == [4, 5]


def test_poll_arrow_gives_the_records_as_columns_and_moves_the_position(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    create(group_broker, topic_name)
    write(group_broker, topic_name, 0, 99, partitions=1)
    consumer = consumer_of(topic_name)
    for record in consumer:
        if record.offset == 9:
            break
    rows: list[Any] = []
    wait_until(lambda: rows.extend(consumer.poll_arrow(0.1).to_pylist()) or len(rows) >= 90, "the columns")
    assert [row["offset"] for row in rows] == list(range(10, 100))
    assert rows[0]["value"] == b"10" and rows[0]["topic"] == topic_name
    assert consumer.poll_arrow(timeout=0).num_rows == 0
    consumer.commit()
    assert offsets(consumer, topic_name) == {0: 100}


# --- what cannot be --------------------------------------------------------------------------------------


def test_a_cluster_that_is_not_there_is_an_error_and_not_silence() -> None:
    """`poll` raises at the end of its time; `close` returns at once."""
    consumer = Consumer("clicks", bootstrap_servers="127.0.0.1:1", group_id="g")
    with pytest.raises(BrokerUnavailable):
        consumer.poll(timeout=0.5)
    alone = Consumer(bootstrap_servers="127.0.0.1:1")
    alone.assign([TopicPartition("clicks", 0)])
    with pytest.raises(BrokerUnavailable):
        alone.poll(timeout=0.5)
    with pytest.raises(BrokerUnavailable):
        for _ in Consumer("clicks", bootstrap_servers="127.0.0.1:1", group_id="g"):
            pass
    began = time.monotonic()
    consumer.close()
    alone.close()
    assert time.monotonic() - began < 10


def test_what_cannot_be_asked_for_is_refused_at_once() -> None:
    with Consumer(bootstrap_servers="127.0.0.1:1") as alone:
        with pytest.raises(InvalidArgument, match="group_id"):
            alone.subscribe(["clicks"])
        with pytest.raises(IllegalState, match="nothing to read"):
            alone.poll()
        with pytest.raises(InvalidArgument):
            alone.assign(["clicks"])  # type: ignore[list-item]
    with Consumer(bootstrap_servers="127.0.0.1:1", group_id="g") as member:
        for wrong in (
            {},
            {"topics": []},
            {"topics": ["a"], "pattern": "b"},
            {"pattern": "("},
            {"topics": [""]},
        ):
            with pytest.raises(InvalidArgument):
                member.subscribe(**wrong)  # type: ignore[arg-type]

        async def told(partitions: list[TopicPartition]) -> None: ...

        with pytest.raises(InvalidArgument, match="aio"):
            member.subscribe(["a"], on_assigned=told)
        with pytest.raises(InvalidArgument, match="on_assigned"):
            member.subscribe(["a"], listener=object())
        with pytest.raises(InvalidArgument):
            member.poll(timeout=-1)
    with pytest.raises(InvalidConfig):
        Consumer("a", bootstrap_servers="127.0.0.1:1", group_id="g", group_protocol="other")
    with pytest.raises(InvalidConfig):
        Consumer("a", bootstrap_servers="127.0.0.1:1", group_id="g", partition_assignment_strategy=["best"])


def test_a_name_that_no_topic_can_have_is_raised_and_not_waited_for(consumer_of: MakeConsumer) -> None:
    """Java's InvalidTopicException."""
    consumer = consumer_of("no such topic!")
    with pytest.raises(ServerError, match="not legal"):
        poll_until(consumer, lambda: False, "an error")


# --- from topic to topic, exactly once -------------------------------------------------------------------


@BOTH
def test_progress_in_a_transaction_is_committed_with_what_was_written(
    protocol: str, group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    """KIP-447: offsets go into the producer's transaction, with the consumer's place in its group."""
    source, target = f"{topic_name}.in", f"{topic_name}.out"
    create(group_broker, source)
    create(group_broker, target)
    write(group_broker, source, 0, 9, partitions=1)
    tp = TopicPartition(source, 0)
    consumer = consumer_of(source, enable_auto_commit=False, group_protocol=protocol)
    with Producer(group_broker.bootstrap, transactional_id=f"{topic_name}-{protocol}") as producer:
        producer.init_transactions()
        records = read(consumer, 10)
        for fate in ("abort", "commit"):
            producer.begin_transaction()
            for record in records:
                producer.send(target, record.value + fate.encode())
            producer.send_offsets_to_transaction({tp: 10}, consumer.group_metadata())
            if fate == "abort":
                producer.abort_transaction()
                assert consumer.committed(tp) == {tp: None}
                consumer.rewind()
                records = read(consumer, 10)
            else:
                producer.commit_transaction()
        assert offsets(consumer, source) == {0: 10}
    results = consumer_of(target, group_id=f"{topic_name}-out", isolation_level="read_committed")
    assert [r.value for r in read(results, 10)] == [b"%dcommit" % n for n in range(10)]


# --- what the command line rests on ----------------------------------------------------------------------


def test_a_member_that_has_read_nothing_commits_where_it_began(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    """With auto.offset.reset=latest: what comes between two runs of a consumer is not skipped."""
    create(group_broker, topic_name)
    write(group_broker, topic_name, 0, 9, partitions=1)
    with consumer_of(topic_name, auto_offset_reset="latest") as first:
        poll_until(first, lambda: first.assignment() and first.at_end(), "it is at the end")
    write(group_broker, topic_name, 10, 12, partitions=1)
    second = consumer_of(topic_name, auto_offset_reset="latest")
    assert [r.offset for r in read(second, 3)] == [10, 11, 12]


def test_a_commit_that_is_refused_at_close_is_told_and_not_raised(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    create(group_broker, topic_name)
    write(group_broker, topic_name, 0, 4, partitions=1)
    consumer = consumer_of(topic_name, heartbeat_interval_ms=3000)
    assert len(read(consumer, 5)) == 5
    who = consumer.group_metadata()
    with RawClient(group_broker.port) as client:
        request = LeaveGroupRequest(group_id=who.group_id, members=[MemberIdentity(member_id=who.member_id)])
        assert client.call(request, 4).error_code == 0
    consumer.close()
    assert isinstance(consumer.commit_error, CommitFailed)
