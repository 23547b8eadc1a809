"""`send_batch`: Arrow tables become record batches, every row in its partition, in order, byte for byte."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from ottla.client.effects import Invoke
from ottla.client.errors import BufferFull, InvalidArgument, OttlaError, RecordTooLarge
from ottla.client.producing import columns as columns_module
from ottla.client.producing.columns import BatchDelivery, BatchFuture, ColumnSender, StoredRows
from ottla.client.records import RecordMetadata
from ottla.client.settings import ProducerSettings
from ottla.client.view import PartitionView, TopicView
from ottla.model.types import TopicPartition
from ottla.wire import record_batch as rb
from ottla.wire.compression import Codec
from ottla.wire.record_batch import Record
from ottla.wire.record_writer import murmur2

NOW_MS = 1_700_000_000_000
HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))


class StoredBatch:
    """What the core's delivery says of a batch."""

    def __init__(self, partition: int, offset: int, count: int, error: OttlaError | None = None) -> None:
        self._count = count
        self._metadata = RecordMetadata("clicks", partition, offset, -1)
        self._error = error

    def done(self) -> bool:
        return True

    def pieces(self) -> Any:
        yield 0, self._count, self

    def error(self) -> OttlaError | None:
        return self._error

    def metadata(self) -> RecordMetadata:
        if self._error is not None:
            raise self._error
        return self._metadata


class RecordingCore:
    """A core that stores what it is given."""

    def __init__(self, partitions: int = 1, chance: float = 0.0) -> None:
        self.view = TopicView(
            "clicks",
            bytes(16),
            False,
            tuple(PartitionView(i, 1, 0, (1,), (1,), (), 0) for i in range(partitions)),
            0,
        )
        host = SimpleNamespace(clock=SimpleNamespace(now_ms=lambda: NOW_MS), chance=lambda: chance)
        self.session = SimpleNamespace(host=host)
        self.known = True
        self.numbers = True  # as the core of an idempotent producer does
        self.batches: list[tuple[TopicPartition, Any]] = []
        self.ends = [0] * partitions
        self.fail_after: int | None = None
        self.failure: OttlaError | None = None

    def topic(self, name: str) -> TopicView | None:
        return self.view if self.known else None

    def await_topic(self, name: str) -> Any:
        self.known = True
        yield from ()
        return self.view

    def append_encoded(self, tp: TopicPartition, batch: Any) -> Any:
        yield from ()
        if self.fail_after is not None and len(self.batches) >= self.fail_after:
            raise BufferFull("no room")
        if self.numbers:
            rb.seal_batch(batch.data, 7, 0, self.ends[tp.partition])
        rb.check_batch(batch.data, 0, len(batch.data), decompressed_bytes_max=1 << 24)
        assert rb.read_header(batch.data).record_count == batch.record_count
        self.batches.append((tp, batch))
        stored = StoredBatch(tp.partition, self.ends[tp.partition], batch.record_count, self.failure)
        self.ends[tp.partition] += batch.record_count
        return stored

    def records(self, partition: int = 0) -> list[Record]:
        found: list[Record] = []
        for tp, batch in self.batches:
            if tp.partition == partition:
                found += rb.decode_batch(batch.data, decompressed_bytes_max=1 << 24)
        return [record._replace(offset=i) for i, record in enumerate(found)]


class LengthPartitioner:
    def choose(self, topic: TopicView, key: bytes | None, size_bytes: int) -> int:
        return len(key or b"") % len(topic.partitions)


def send(core: RecordingCore, table: Any, own: Any = None, **settings: Any) -> BatchDelivery:
    chosen = ProducerSettings(bootstrap_servers="localhost:9092", **settings)
    sender = ColumnSender(core, chosen, LengthPartitioner(), own)  # type: ignore[arg-type]
    return run(sender.send_batch("clicks", table))


def run(steps: Any) -> Any:
    answer = None
    try:
        while True:
            effect = steps.send(answer)
            answer = effect.function(*effect.args) if isinstance(effect, Invoke) else None
    except StopIteration as end:
        return end.value


def plain(values: list[bytes | None], keys: list[bytes | None] | None = None) -> list[Record]:
    return [Record(i, NOW_MS, None if keys is None else keys[i], value) for i, value in enumerate(values)]


KEYS: list[bytes | None] = [None if i % 3 == 0 else b"key-%d" % i for i in range(50)]
VALUES: list[bytes | None] = [None if i % 7 == 0 else b"v" * i for i in range(50)]


@pytest.mark.parametrize(
    "kind",
    [pa.binary(), pa.large_binary(), pa.string(), pa.large_string(), pa.binary_view(), pa.string_view()],
    ids=str,
)
@pytest.mark.parametrize("codec", [Codec.NONE, Codec.ZSTD])
def test_keys_and_values_of_every_type_of_bytes_and_texts_arrive_with_their_nulls(
    kind: Any, codec: Codec
) -> None:
    as_given = (lambda b: b if b is None else b.decode()) if "string" in str(kind) else (lambda b: b)
    table = pa.table(
        {
            "key": pa.array([as_given(key) for key in KEYS], kind),
            "value": pa.array([as_given(value) for value in VALUES], kind),
        }
    )
    core = RecordingCore()
    delivery = send(core, table, compression_type=codec)
    assert core.records() == plain(VALUES, KEYS)
    assert delivery.count == 50


def test_dictionaries_fixed_sizes_and_all_null_columns_are_taken_too() -> None:
    table = pa.table(
        {
            "key": pa.array(["a", "b", None, "a"]).dictionary_encode(),
            "value": pa.array([b"1234", None, b"5678", b"9012"], pa.binary(4)),
            "headers": pa.nulls(4),
            "timestamp": pa.nulls(4),
            "partition": pa.nulls(4),
        }
    )
    core = RecordingCore()
    send(core, table)
    assert core.records() == plain([b"1234", None, b"5678", b"9012"], [b"a", b"b", None, b"a"])


def test_slices_and_chunks_are_read_where_they_lie() -> None:
    keys, values = pa.array(KEYS, pa.binary()), pa.array(VALUES, pa.large_binary())
    headers = pa.array([[{"key": f"h{i}", "value": b"x" * i}] * (i % 3) for i in range(50)], HEADERS)
    times = pa.array(range(50), pa.int64())
    batch = pa.RecordBatch.from_arrays(
        [keys[11:31], values[5:25], headers[3:23], times[20:40]], ["key", "value", "headers", "timestamp"]
    )
    expected = [
        Record(i, 20 + i, KEYS[11 + i], VALUES[5 + i], ((f"h{3 + i}", b"x" * (3 + i)),) * ((3 + i) % 3))
        for i in range(20)
    ]
    core = RecordingCore()
    send(core, batch)
    assert core.records() == expected
    core = RecordingCore()
    send(core, batch.slice(7, 9))
    assert core.records() == [record._replace(offset=i) for i, record in enumerate(expected[7:16])]
    core = RecordingCore()
    send(core, pa.Table.from_batches([batch.slice(0, 3), batch.slice(3, 0), batch.slice(3)]))
    assert core.records() == expected
    assert len(core.batches) == 1, "small chunks are joined"


@pytest.mark.parametrize(
    "kind",
    [
        HEADERS,
        pa.large_list(pa.struct([("value", pa.large_binary()), ("key", pa.large_string())])),
        pa.map_(pa.string(), pa.binary()),
    ],
    ids=["list", "large_list", "map"],
)
def test_headers_are_lists_of_pairs_or_maps_and_null_is_none_at_all(kind: Any) -> None:
    given: list[Any] = [
        [("a", b"1"), ("b", None)],
        None,
        [],
        [("c", b"")],
        None,
        [("a", b"2"), ("a", b"3")],
    ]
    rows = given
    if not pa.types.is_map(kind):
        rows = [None if row is None else [{"key": k, "value": v} for k, v in row] for row in given]
    headers = pa.array(rows, kind)
    table = pa.table({"value": pa.array([b"v"] * 6), "headers": headers})
    for part in (table, table.slice(1, 4)):
        core = RecordingCore()
        send(core, part)
        first = 0 if part is table else 1
        assert [record.headers for record in core.records()] == [
            tuple(row or ()) for row in given[first : first + len(part)]
        ]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([5, None, 7], pa.int64()), [5, NOW_MS, 7]),
        (pa.array([5, None, 7], pa.int32()), [5, NOW_MS, 7]),
        (pa.array([5, None, 7], pa.timestamp("s")), [5000, NOW_MS, 7000]),
        (pa.array([5, None, 7], pa.timestamp("ms", "UTC")), [5, NOW_MS, 7]),
        (pa.array([5999, None, 7000], pa.timestamp("us")), [5, NOW_MS, 7]),
        (pa.array([5_999_999, None, 7_000_000], pa.timestamp("ns", "Europe/Prague")), [5, NOW_MS, 7]),
    ],
    ids=["int64", "int32", "s", "ms", "us", "ns"],
)
def test_timestamps_of_every_unit_become_milliseconds_and_null_is_now(column: Any, expected: Any) -> None:
    core = RecordingCore()
    send(core, pa.table({"value": [b"a", b"b", b"c"], "timestamp": column}))
    assert [record.timestamp for record in core.records()] == expected
    assert rb.read_header(core.batches[0][1].data).max_timestamp == max(expected)


def test_rows_with_a_key_go_where_javas_murmur2_sends_them_and_keep_their_order() -> None:
    keys = [b"k%d" % (i * 7919 % 1000) for i in range(2000)]
    core = RecordingCore(partitions=5)
    send(core, pa.table({"key": keys, "value": [b"%d" % i for i in range(2000)]}))
    for partition in range(5):
        assert [(r.key, r.value) for r in core.records(partition)] == [
            (key, b"%d" % i) for i, key in enumerate(keys) if (murmur2(key) & 0x7FFFFFFF) % 5 == partition
        ]


def test_rows_without_a_key_stick_to_a_partition_until_a_batch_is_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(columns_module, "BATCH_BYTES", 0)
    core = RecordingCore(partitions=3, chance=0.5)
    table = pa.table({"value": [bytes(100)] * 90})
    sender = ColumnSender(
        core,  # type: ignore[arg-type]
        ProducerSettings(bootstrap_servers="localhost:9092", batch_size=1_261),
        LengthPartitioner(),
    )
    run(sender.send_batch("clicks", table))
    # 110 bytes a row make ten in a run, three runs for each; the first partition is drawn.
    assert core.ends == [30, 30, 30]
    assert [r.value for r in core.records(1)] == [bytes(100)] * 30
    del core.batches[:]
    run(sender.send_batch("clicks", table.slice(0, 10)))
    run(sender.send_batch("clicks", table.slice(0, 5)))
    run(sender.send_batch("clicks", table.slice(0, 5)))
    assert [tp.partition for tp, _ in core.batches] == [1, 2, 2]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"partitioner": "round-robin"}, [0, 1, 2, 0, 1, 2]),
        ({"partitioner": "sticky"}, [0] * 6),
        ({"partitioner_ignore_keys": True}, [0] * 6),
        ({"partitioner": "consistent"}, [1, 2, 0, 1, 2, 0]),  # what LengthPartitioner says
    ],
)
def test_other_partitioners_decide_as_their_names_say(settings: Any, expected: list[int]) -> None:
    core = RecordingCore(partitions=3)
    send(core, pa.table({"key": ["a", "bb", "ccc", "dddd", "eeeee", "ffffff"]}), **settings)
    where = {r.key: p for p in range(3) for r in core.records(p)}
    assert [where[key] for key in sorted(where, key=lambda key: key or b"")] == expected


def test_a_partitioner_of_the_users_own_is_asked_for_every_row() -> None:
    def by_value(topic: str, key: Any, value: Any, partitions: Any) -> int:
        assert topic == "clicks" and key is None
        return int(value) % partitions.count

    core = RecordingCore(partitions=2)
    send(core, pa.table({"value": ["1", "2", "3", "4"]}), by_value)
    assert [r.value for r in core.records(0)] == [b"2", b"4"]
    assert [r.value for r in core.records(1)] == [b"1", b"3"]


def test_the_partition_column_wins_and_its_nulls_leave_the_choice_to_the_key() -> None:
    keys = [b"a", b"b", b"c", b"d", b"e", b"f"]
    core = RecordingCore(partitions=4)
    given = [3, None, 0, None, 1, None]
    send(core, pa.table({"key": keys, "partition": pa.array(given, pa.uint8())}))
    where = {r.key: p for p in range(4) for r in core.records(p)}
    for key, partition in zip(keys, given, strict=True):
        assert where[key] == ((murmur2(key) & 0x7FFFFFFF) % 4 if partition is None else partition)


def test_rows_are_cut_into_batches_below_the_sizes_that_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns_module, "BATCH_BYTES", 0)
    core = RecordingCore()
    values = [bytes([i % 251]) * (i % 400) for i in range(500)]
    send(core, pa.table({"value": values}), batch_size=2_000, max_request_size=10_000)
    assert core.records() == plain(list(values))
    assert all(len(batch.data) <= 2_000 for _, batch in core.batches)
    assert all(len(batch.data) == batch.size_bytes for _, batch in core.batches)
    assert len(core.batches) < 60
    # A row that alone is larger than batch.size goes by itself.
    core = RecordingCore()
    send(core, pa.table({"value": [b"a", bytes(5_000), b"b"]}), batch_size=2_000, max_request_size=10_000)
    assert [batch.record_count for _, batch in core.batches] == [1, 1, 1]


def test_a_row_that_is_too_large_is_named_and_nothing_is_sent() -> None:
    core = RecordingCore()
    table = pa.table({"value": [b"a"] * 700 + [bytes(20_000)] + [b"b"]})
    with pytest.raises(RecordTooLarge, match=r"row 700 takes 200\d\d bytes.*max.request.size \(10000\)"):
        send(core, table, max_request_size=10_000)
    assert core.batches == []


def test_large_tables_go_piece_by_piece_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns_module, "PIECE_ROWS_MAX", 100)
    core = RecordingCore(partitions=2)
    table = pa.table({"value": [b"%d" % i for i in range(1000)], "partition": [i % 2 for i in range(1000)]})
    delivery = send(core, table)
    for partition in range(2):
        assert [r.value for r in core.records(partition)] == [b"%d" % i for i in range(partition, 1000, 2)]
    assert delivery.metadata().partitions == {0: StoredRows(500, 0, 499), 1: StoredRows(500, 0, 499)}
    assert delivery.metadata().row_count == 1000 and delivery.done()


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"value": [1, 2]}, "column 'value' has type int64"),
        ({"val": [b"a"]}, "did you mean 'value'"),
        ({"value": [b"a"], "offset": [1]}, "column 'offset' has no meaning"),
        ({"partition": [0]}, "neither"),
        ({"value": [b"a"], "timestamp": ["now"]}, "column 'timestamp' has type string"),
        ({"value": [b"a"], "timestamp": [-5]}, "before 1970"),
        ({"value": [b"a"], "partition": ["0"]}, "column 'partition' has type string"),
        ({"value": [b"a"], "partition": [1 << 40]}, "column 'partition'"),
        ({"value": [b"a"], "partition": [-1]}, "column 'partition' has -1"),
        ({"value": [b"a", b"b"], "partition": [0, 4]}, "row 1 has partition 4: topic clicks has 2"),
        ({"value": [b"a", b"b"], "partition": [None, 4]}, "row 1 has partition 4: topic clicks has 2"),
        ({"value": [b"a"], "headers": [["x"]]}, "column 'headers' has type list<"),
        ({"value": [b"a"], "headers": [[{"key": None, "value": b""}]]}, "header without a name"),
        ({"value": [b"a"], "headers": pa.array([[None]], HEADERS)}, "header that is null"),
        (
            {"value": [b"a"], "headers": pa.array([[{"key": "a", "value": 1}]])},
            "'headers.value' has type int",
        ),
    ],
)
def test_wrong_columns_types_and_partitions_are_named_and_nothing_is_sent(table: Any, words: str) -> None:
    core = RecordingCore(partitions=2)
    with pytest.raises(InvalidArgument, match=words):
        send(core, pa.table(table))
    assert core.batches == []


def test_what_is_no_table_is_refused_and_two_columns_of_one_name_too() -> None:
    with pytest.raises(InvalidArgument, match="not list"):
        send(RecordingCore(), [{"value": b"a"}])
    twice = pa.Table.from_arrays([pa.array([b"a"]), pa.array([b"b"])], ["value", "value"])
    with pytest.raises(InvalidArgument, match="several columns named 'value'"):
        send(RecordingCore(), twice)


def test_no_rows_are_delivered_at_once() -> None:
    core = RecordingCore()
    delivery = send(core, pa.table({"value": pa.array([], pa.binary())}))
    assert isinstance(delivery, BatchFuture)
    assert delivery.done() and delivery.result(timeout=0).row_count == 0 and delivery.errors() == []


def test_the_topic_is_waited_for_if_it_is_not_known_yet() -> None:
    core = RecordingCore()
    core.known = False
    assert send(core, pa.table({"value": [b"a"]})).count == 1


def test_an_error_on_the_way_says_how_many_rows_were_in_line_before() -> None:
    core = RecordingCore()
    core.fail_after = 2
    table = pa.table({"value": [bytes(400_000)] * 5})
    with pytest.raises(BufferFull) as caught:
        send(core, table)
    assert caught.value.__notes__ == ["2 rows of the table were put in line before this"]


def test_batches_that_failed_tell_their_rows() -> None:
    core = RecordingCore(partitions=2)
    core.failure = BufferFull("gone")
    delivery = send(core, pa.table({"value": [b"a", b"b", b"c"], "partition": [0, 1, 0]}))
    assert [(failed.partition, failed.rows) for failed in delivery.errors()] == [(0, [0, 2]), (1, [1])]
    with pytest.raises(BufferFull):
        delivery.metadata()
    assert isinstance(delivery, BatchFuture) and delivery.exception() is core.failure


def test_frames_of_other_libraries_are_taken_through_arrows_stream_interface() -> None:
    class Frame:
        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return pa.table({"value": [b"a", b"b"]}).__arrow_c_stream__(requested_schema)

    core = RecordingCore()
    send(core, Frame())
    assert core.records() == plain([b"a", b"b"])


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.SNAPPY])
def test_without_idempotence_nobody_numbers_the_batches_and_they_are_whole_already(codec: Codec) -> None:
    core = RecordingCore()
    core.numbers = False
    send(core, pa.table({"value": [b"a", b"b"]}), enable_idempotence=False, compression_type=codec)
    assert core.records() == plain([b"a", b"b"])
