"""`ottla.Producer` against a real broker: what is sent arrives, once and in order, whoever sends it."""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections import defaultdict
from typing import Any

import pyarrow
import pytest
from read_back import read_back, values_of

from ottla.client.errors import (
    ClientClosed,
    IllegalState,
    InvalidArgument,
    InvalidConfig,
    OttlaError,
    RecordTooLarge,
    SerializationFailed,
    ServerError,
)
from ottla.client.producing.future import RecordFuture
from ottla.client.records import RecordMetadata
from ottla.client.sync.producer import Producer
from ottla.model.errors import ErrorCode
from support.broker_process import BrokerProcess
from support.raw_client import RawClient
from support.waiting import wait_until


def test_a_record_arrives_with_everything_that_it_was_given(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name, 3)
    with Producer(shared_broker.bootstrap, value_serializer="json") as producer:
        future = producer.send(
            *(topic_name, {"user": 7}, "7"),
            headers=[("trace", "č"), ("trace", b"\x00"), ("none", None)],
            partition=2,
            timestamp=1_700_000_000_123,
        )
        assert future.result(timeout=10) == RecordMetadata(topic_name, 2, 0, 1_700_000_000_123)
    (message,) = read_back(shared_broker.bootstrap, topic_name, 1, partitions=3)
    assert (message.partition(), message.key(), message.value()) == (2, b"7", b'{"user":7}')
    assert message.headers() == [("trace", "č".encode()), ("trace", b"\x00"), ("none", None)]
    assert message.timestamp() == (1, 1_700_000_000_123)


def test_records_of_a_partition_keep_their_order_and_their_futures_know_the_offsets(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name)
    with Producer(shared_broker.bootstrap, batch_size=2_000) as producer:
        futures = [producer.send(topic_name, b"%d" % i) for i in range(1_000)]
        producer.flush(timeout=30)
        assert all(future.done() for future in futures)
        assert [future.result().offset for future in futures] == list(range(1_000))
    assert values_of(shared_broker.bootstrap, topic_name) == [b"%d" % i for i in range(1_000)]


@pytest.mark.parametrize("compression", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_what_nobody_waits_for_is_sent_by_close(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str, compression: str
) -> None:
    raw.create_topic(topic_name, 2)
    with Producer(shared_broker.bootstrap, linger_ms=60_000, compression_type=compression) as producer:
        for i in range(500):
            producer.send(topic_name, b"a value that repeats itself %d" % i, b"key %d" % (i % 7))
    found = read_back(shared_broker.bootstrap, topic_name, 500, partitions=2)
    assert len(found) == 500


def test_an_exception_that_ends_the_block_does_not_lose_what_was_sent(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    # As Java's producer in try-with-resources: close() sends what is buffered.
    raw.create_topic(topic_name)

    def fail() -> None:
        with Producer(shared_broker.bootstrap, linger_ms=60_000) as producer:
            producer.send(topic_name, b"before")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert values_of(shared_broker.bootstrap, topic_name) == [b"before"]


def test_a_record_leaves_by_itself_after_its_linger_time(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name)
    with Producer(shared_broker.bootstrap, linger_ms=20) as producer:
        future = producer.send(topic_name, b"alone")
        wait_until(future.done, "the background to send it")


def test_a_topic_is_created_by_its_first_record_where_the_broker_allows_it(
    shared_broker: BrokerProcess, topic_name: str
) -> None:
    with Producer(shared_broker.bootstrap) as producer:
        assert producer.send(topic_name, b"first").result(timeout=20).offset == 0
        assert [p.index for p in producer.partitions_for(topic_name)] == list(
            range(len(producer.partitions_for(topic_name)))
        )


def test_with_acks_0_nobody_knows_the_offset(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name)
    with Producer(shared_broker.bootstrap, acks=0) as producer:
        assert producer.send(topic_name, b"gone").result(timeout=10).offset == -1
    wait_until(lambda: raw.end_offset(topic_name) == 1, "the record to arrive")


# --- callbacks ------------------------------------------------------------------------------------------


def test_callbacks_come_in_order_and_one_that_raises_disturbs_nobody(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str, caplog: pytest.LogCaptureFixture
) -> None:
    raw.create_topic(topic_name)
    heard: list[int] = []

    def on_delivery(metadata: RecordMetadata | None, error: Exception | None) -> None:
        assert metadata is not None and error is None
        heard.append(metadata.offset)
        if metadata.offset == 3:
            raise RuntimeError("a bad callback")

    with caplog.at_level(logging.ERROR, "ottla.client"), Producer(shared_broker.bootstrap) as producer:
        for _ in range(10):
            producer.send(topic_name, b"x", on_delivery=on_delivery)
    assert heard == list(range(10))
    assert "a bad callback" in caplog.text


def test_a_callback_may_send_and_close_waits_for_that_too(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name)
    second: list[RecordFuture] = []
    with Producer(shared_broker.bootstrap) as producer:

        def again(metadata: RecordMetadata | None, error: Exception | None) -> None:
            second.append(producer.send(topic_name, b"second"))

        producer.send(topic_name, b"first", on_delivery=again)
        wait_until(lambda: second, "the callback")
        assert second[0].result(timeout=10).offset == 1


def test_a_callback_may_wait_for_another_record(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name)
    heard: list[int] = []
    with Producer(shared_broker.bootstrap, linger_ms=0) as producer:

        def wait(metadata: RecordMetadata | None, error: Exception | None) -> None:
            heard.append(producer.send(topic_name, b"inner").result(timeout=10).offset)

        producer.send(topic_name, b"outer", on_delivery=wait).result(timeout=10)
        wait_until(lambda: heard == [1], "the record that the callback sent")


def test_a_callback_may_close_the_producer(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name)
    closed = threading.Event()
    producer = Producer(shared_broker.bootstrap)

    def close(metadata: RecordMetadata | None, error: Exception | None) -> None:
        producer.close()
        closed.set()

    producer.send(topic_name, b"last", on_delivery=close)
    assert closed.wait(10)
    with pytest.raises(ClientClosed):
        producer.send(topic_name, b"too late")


def test_a_future_has_the_manners_of_pythons_futures(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name)
    heard: list[RecordFuture] = []
    with Producer(shared_broker.bootstrap, linger_ms=60_000) as producer:
        future = producer.send(topic_name, b"x")
        future.add_done_callback(heard.append)
        assert future.running() and not future.done()
        assert not future.cancel() and not future.cancelled()
        with pytest.raises(TimeoutError):  # as concurrent.futures.Future
            future.result(timeout=0.01)
        producer.flush(timeout=10)
        assert future.done() and not future.running()
        assert future.exception() is None
        assert future.result().offset == 0
        wait_until(lambda: heard == [future], "the callback")
        future.add_done_callback(heard.append)  # late
        wait_until(lambda: heard == [future, future], "the late callback")


# --- threads --------------------------------------------------------------------------------------------


def test_eight_threads_may_send_at_once_and_each_keeps_its_order(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name, 4)
    count = 10_000
    failures: list[BaseException] = []
    with Producer(shared_broker.bootstrap, buffer_memory=1_000_000) as producer:

        def work(number: int) -> None:
            try:
                for i in range(count):
                    producer.send(topic_name, b"%d:%d" % (number, i), b"%d" % number)
            except BaseException as failure:
                failures.append(failure)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(90)
    assert failures == []
    seen: dict[int, list[int]] = defaultdict(list)
    for message in read_back(shared_broker.bootstrap, topic_name, 8 * count, partitions=4):
        number, i = message.value().split(b":")
        seen[int(number)].append(int(i))
    assert seen == {number: list(range(count)) for number in range(8)}


def test_several_threads_may_wait_for_their_records_at_once(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name, 2)
    offsets: list[tuple[int, int]] = []
    with Producer(shared_broker.bootstrap, linger_ms=0) as producer:

        def work() -> None:
            for _ in range(100):
                stored = producer.send(topic_name, b"x").result(timeout=30)
                offsets.append((stored.partition, stored.offset))

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert len(set(offsets)) == 600


# --- what is refused ------------------------------------------------------------------------------------


def test_a_forked_child_is_refused_whoever_holds_the_lock_at_that_moment(
    shared_broker: BrokerProcess, topic_name: str
) -> None:
    with Producer(shared_broker.bootstrap, linger_ms=60_000) as producer:
        producer.send(topic_name, b"first")  # its batch takes more: nothing has to be done for the next one
        held, release = threading.Event(), threading.Event()

        def hold() -> None:
            with producer._runtime.lock:
                held.set()
                release.wait(20)

        holder = threading.Thread(target=hold)
        holder.start()
        assert held.wait(10)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                producer.send(topic_name, b"second")
            except IllegalState as error:
                code = 0 if "before a fork" in str(error) else 2
            finally:
                os._exit(code)
        release.set()
        holder.join()
        ended = os.WEXITED | os.WNOHANG | os.WNOWAIT
        try:
            wait_until(lambda: os.waitid(os.P_PID, child, ended) is not None, "the child to end")
        except BaseException:
            os.kill(child, signal.SIGKILL)
            raise
        finally:
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code == 0


def test_a_closed_producer_says_so_and_closes_again_without_complaint(shared_broker: BrokerProcess) -> None:
    producer = Producer(shared_broker.bootstrap, transactional_id="closed")
    producer.close()
    producer.close()
    calls: list[Any] = [
        lambda: producer.send("t", b""),
        producer.flush,
        lambda: producer.partitions_for("t"),
        producer.init_transactions,
        producer.begin_transaction,
        producer.commit_transaction,
        producer.abort_transaction,
        lambda: producer.send_offsets_to_transaction({}, "g"),
        producer.transaction().__enter__,
    ]
    for call in calls:
        with pytest.raises(ClientClosed):
            call()
    assert "closed" in repr(producer)


def test_a_record_above_max_request_size_is_refused_before_it_is_sent(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name)
    with Producer(shared_broker.bootstrap, max_request_size=10_000) as producer:
        with pytest.raises(RecordTooLarge, match=r"max\.request\.size"):
            producer.send(topic_name, bytes(20_000))
        assert producer.send(topic_name, bytes(5_000)).result(timeout=10).offset == 0


def test_a_record_that_the_topic_finds_too_large_fails_in_its_future(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name, **{"max.message.bytes": "2000"})
    with Producer(shared_broker.bootstrap) as producer:
        small = [producer.send(topic_name, bytes(500)) for _ in range(20)]
        large = producer.send(topic_name, bytes(3_000))
        with pytest.raises(ServerError) as caught:
            large.result(timeout=20)
        assert caught.value.code == ErrorCode.MESSAGE_TOO_LARGE
        producer.flush(timeout=20)
        assert sorted(future.result().offset for future in small) == list(range(20))


def test_a_record_that_cannot_be_made_leaves_the_producer_as_it_was(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name)
    with Producer(shared_broker.bootstrap, value_serializer="json", partitioner=lambda *given: 9) as producer:
        with pytest.raises(SerializationFailed, match="value_serializer"):
            producer.send(topic_name, {1, 2})
        with pytest.raises(InvalidArgument, match="9 is no partition"):
            producer.send(topic_name, [1, 2])
        with pytest.raises(InvalidArgument, match="no partition"):
            producer.send(topic_name, [1, 2], partition=1)
        assert producer.send(topic_name, [1, 2], partition=0).result(timeout=10).offset == 0


@pytest.mark.parametrize(
    "settings",
    [{"value_serializer": "jsn"}, {"partitioner": "nearest"}, {"interceptors": [object()]}, {"lnger_ms": 5}],
)
def test_a_wrong_setting_is_an_error_of_the_constructor(settings: dict[str, Any]) -> None:
    before = threading.active_count()
    with pytest.raises(InvalidConfig):
        Producer("127.0.0.1:1", **settings)
    assert threading.active_count() == before


# --- parts that are plugged in --------------------------------------------------------------------------


def test_a_users_partitioner_decides(shared_broker: BrokerProcess, raw: RawClient, topic_name: str) -> None:
    raw.create_topic(topic_name, 4)
    by_length = lambda topic, key, value, partitions: len(key) % partitions.count  # noqa: E731
    with Producer(shared_broker.bootstrap, partitioner=by_length) as producer:
        chosen = [producer.send(topic_name, "v", "k" * i).result(timeout=10).partition for i in range(6)]
    assert chosen == [0, 1, 2, 3, 0, 1]


def test_an_interceptor_sees_records_batches_and_acknowledgements(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name)

    class Counts:
        def __init__(self) -> None:
            self.enqueued = self.in_batches = self.acknowledged = self.closed = 0

        def on_enqueue(self, record: Any) -> Any:
            self.enqueued += 1
            return record

        def on_send(self, batch: Any) -> None:
            assert batch.topic == topic_name and batch.size_bytes > 60
            self.in_batches += batch.record_count

        def on_acknowledgement(self, metadata: RecordMetadata, error: OttlaError | None) -> None:
            assert error is None and metadata.offset == self.acknowledged
            self.acknowledged += 1

        def close(self) -> None:
            self.closed += 1

    counts = Counts()
    with Producer(shared_broker.bootstrap, interceptors=[counts]) as producer:
        for _ in range(50):
            producer.send(topic_name, b"x")
    assert vars(counts) == {"enqueued": 50, "in_batches": 50, "acknowledged": 50, "closed": 1}


def test_statistics_count_what_was_sent(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name)
    with Producer(shared_broker.bootstrap) as producer:
        for _ in range(25):
            producer.send(topic_name, b"x")
        producer.flush(timeout=10)
        assert producer.metrics()["producer-metrics"]["record-send-total"] == 25


# --- tables ---------------------------------------------------------------------------------------------


def test_the_rows_of_a_table_are_sent_beside_single_records(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name)
    table = pyarrow.table({"key": ["a", "b"], "value": [b"1", b"2"], "timestamp": [5, 6]})
    with Producer(shared_broker.bootstrap, linger_ms=60_000) as producer:
        producer.send(topic_name, b"0")
        rows = producer.send_batch(topic_name, table)
        last = producer.send(topic_name, b"3")
        producer.flush(timeout=10)
        assert rows.done()
        assert rows.result().partitions == {0: (2, 1, 2)}
        assert last.result().offset == 3
    found = read_back(shared_broker.bootstrap, topic_name, 4)
    assert [(message.key(), message.value()) for message in found] == [
        (None, b"0"),
        (b"a", b"1"),
        (b"b", b"2"),
        (None, b"3"),
    ]


def test_a_table_that_cannot_be_sent_is_refused_and_a_closed_producer_takes_none(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name)
    table = pyarrow.table({"value": [b"1", b"2"]})
    producer = Producer(shared_broker.bootstrap)
    with pytest.raises(InvalidArgument, match="topic"):
        producer.send_batch("no topic", table)
    with pytest.raises(InvalidArgument, match="did you mean 'value'"):
        producer.send_batch(topic_name, table.rename_columns(["vlaue"]))
    assert producer.send_batch(topic_name, table).result(timeout=10).row_count == 2
    producer.close()
    with pytest.raises(ClientClosed):
        producer.send_batch(topic_name, table)


def test_a_users_partitioner_decides_for_rows_too(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name, 3)
    table = pyarrow.table({"key": ["", "x", "xx", "xxx"], "value": [b"v"] * 4})
    with Producer(
        shared_broker.bootstrap, partitioner=lambda topic, key, value, partitions: len(key) % 3
    ) as producer:
        stored = producer.send_batch(topic_name, table).result(timeout=10)
    assert {partition: rows.row_count for partition, rows in stored.partitions.items()} == {0: 2, 1: 1, 2: 1}
