"""The processors of joins, grouped tables and `process`, on Spark's own tester, which needs no JVM."""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester

from ottla.streams import Processor, Record, RecordError
from ottla.streams.lowering.foreign_keys import ForeignKeyProcessor
from ottla.streams.lowering.keyed import Shape
from ottla.streams.lowering.process import HostedProcessor
from ottla.streams.lowering.stream_table import StreamTableProcessor
from ottla.streams.lowering.table_groups import TableGroupProcessor
from ottla.streams.lowering.table_joins import TableJoinProcessor

TABLE, STREAM = 0, 1
LEFT, RIGHT = 0, 1


class Workbench:
    """Gives a processor the records of a key as they come from the shuffle, and takes its rows apart."""

    def __init__(
        self, processor: Any, time_mode: str = "none", types: tuple[str, str] = ("string", "string")
    ) -> None:
        processor.shape = Shape("string", *types, False, False)
        self.tester = TwsTester(processor, timeMode=time_mode, eventTimeExtractor=lambda row: 1 << 62)

    def records(self, key: str | int | None, *records: tuple[int, Any, int]) -> list[tuple[Any, Any, int]]:
        """(side, value, time) each; their offsets are the order in which they stand."""
        packed = [
            (time, side, f"topic-{side}", 0, offset, value, None)
            for offset, (side, value, time) in enumerate(records)
        ]
        return self._taken(self.tester.test(key, [Row(records=pickle.dumps(packed))]))

    def at(self, time_ms: int) -> list[tuple[Any, Any, int]]:
        """The watermark (or the clock) has come so far."""
        event_time = self.tester._timeMode == "eventtime"
        move = self.tester.setWatermark if event_time else self.tester.setProcessingTime
        return self._taken(move(time_ms))

    @staticmethod
    def _taken(rows: Any) -> list[tuple[Any, Any, int]]:
        return [(row.key, row.value, row.timestamp // 1000) for row in rows]


def test_a_stream_joins_the_table_as_it_was_and_only_a_left_join_takes_null_keys_and_missing_ones() -> None:
    """KStream-KTable joins of Kafka Streams, with null keys as of KIP-962."""
    left = Workbench(StreamTableProcessor("JOIN", "left", lambda key, value, row: f"{key}:{value}@{row}"))
    assert left.records("a", (STREAM, "s1", 5), (TABLE, "t1", 6), (STREAM, "s2", 6)) == [
        ("a", "a:s1@None", 5),
        ("a", "a:s2@t1", 6),
    ]
    assert left.records("a", (STREAM, "s3", 1), (STREAM, None, 2)) == [("a", "a:s3@t1", 1)]
    assert left.records(None, (TABLE, "ignored", 1), (STREAM, "s4", 2)) == [(None, "None:s4@None", 2)]
    assert left.records("a", (TABLE, None, 7)) == []
    assert left.tester.peekValueState("state", "a") is None
    inner = Workbench(StreamTableProcessor("JOIN", "inner", lambda key, value, row: f"{value}@{row}"))
    assert inner.records("a", (STREAM, "s1", 5), (TABLE, "t1", 6)) == []
    assert inner.records("a", (STREAM, "s2", 5)) == [("a", "s2@t1", 5)]


def test_a_joiner_that_raises_names_the_step_and_the_record() -> None:
    processor = StreamTableProcessor("KSTREAM-JOIN-7", "left", lambda key, value, row: int(value))
    with pytest.raises(
        RecordError, match=r"KSTREAM-JOIN-7 .*topic-1, partition 0, offset 1.*'x1'.*ValueError"
    ):
        Workbench(processor).records("a", (STREAM, "3", 5), (STREAM, "x1", 6))


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("inner", [[], ["1+2"], [None], []]),
        ("left", [["1+None"], ["1+2"], [None], []]),
        ("outer", [["1+None"], ["1+2"], ["None+2"], [None]]),
    ],
)
def test_joined_tables_change_once_per_batch_and_keep_nothing_of_what_both_have_deleted(
    how: Any, expected: list[list[str | None]]
) -> None:
    """Tombstones of the KTable-KTable join are put out where there was a row to delete."""
    tester = Workbench(TableJoinProcessor("JOIN", how, lambda key, left, right: f"{left}+{right}"))
    changes: list[list[tuple[int, Any, int]]] = [
        [(LEFT, 0, 1), (LEFT, 1, 9)],
        [(RIGHT, 2, 3)],
        [(LEFT, None, 4)],
        [(RIGHT, None, 5)],
    ]
    times = []
    for batch, wanted in zip(changes, expected, strict=True):
        rows = tester.records("k", *batch)
        assert [value for _, value, _ in rows] == wanted
        times += [time for _, _, time in rows]
    assert times[-2:] == {"inner": [9, 4], "left": [9, 4], "outer": [4, 5]}[how]
    assert tester.tester.peekValueState("state", "k") is None


@pytest.mark.parametrize("how", ["inner", "left"])
def test_a_join_by_a_foreign_key_is_at_all_times_what_the_tables_say(how: Any) -> None:
    """KTable-KTable foreign-key join: rows move between right rows, which come, change and go."""
    processor = ForeignKeyProcessor(
        "JOIN", how, lambda value: value[0], lambda key, left, right: (left[1], right)
    )
    bench = Workbench(processor, types=("string", "string"))
    draw = random.Random(4)
    lefts: dict[str, Any] = {}
    rights: dict[str, Any] = {}
    joined: dict[str, Any] = {}
    for batch in range(60):
        changes = []
        for number in range(draw.randrange(1, 5)):
            side = draw.choice([LEFT, RIGHT])
            if side == LEFT:
                key = draw.choice("klm")
                value: Any = draw.choice([None, *((f, f"{batch}.{number}") for f in ("a", "b", None))])
                lefts[key] = value
            else:
                key, value = draw.choice("ab"), draw.choice([None, f"{batch}.{number}"])
                rights[key] = value
            changes.append((side, (key, value), batch * 10 + number))
        results = bench.records(0, *changes)
        assert len({key for key, _, _ in results}) == len(results)
        for key, value, _ in results:
            assert value is not None or key in joined  # no tombstone of what was not there
            joined.pop(key, None)
            if value is not None:
                joined[key] = value
        expected = {}
        for key, value in lefts.items():
            if value is not None and (how == "left" or rights.get(value[0]) is not None):
                expected[key] = (value[1], rights.get(value[0]))
        assert joined == expected


TRANSCRIPTS: dict[str, list[Any]] = json.loads(
    (Path(__file__).parents[1] / "unit/streams/kafka_streams/transcripts.json").read_text()
)


def _joined(key: str, left: str | None, right: str | None) -> str:
    return f"{left or 'null'}+{right or 'null'}"


def _processor_of(name: str) -> Any:
    kind, _, rest = name.partition("_")
    how: Any = rest.removeprefix("table_") if rest != "table" else "inner"
    match kind:
        case "stream":
            return StreamTableProcessor(name, how, _joined)
        case "foreign":
            return ForeignKeyProcessor(name, how, lambda value: value, _joined)
    return TableJoinProcessor(name, how, _joined)


@pytest.mark.parametrize(
    "name",
    [
        *("stream_table", "stream_table_left", "table_inner", "table_left", "table_outer"),
        *("foreign_inner", "foreign_left"),
    ],
)
def test_record_by_record_the_processors_put_out_what_kafka_streams_does(name: str) -> None:
    """Its own transcripts, each record a micro-batch; but tombstones of what was never there are not sent."""
    assert TRANSCRIPTS[name]
    for transcript in TRANSCRIPTS[name]:
        bench = Workbench(_processor_of(name))
        there: set[str] = set()
        for (topic, key, value, time_ms), expected in transcript:
            if key is None and name != "stream_table_left":  # does not get as far as a processor
                assert expected == []
                continue
            side = "ab".index(topic)
            if name.startswith("stream"):
                side = 1 - side  # the table is the first
            if name.startswith("foreign"):
                results = bench.records(0, (side, (key, value), time_ms))
            else:
                results = bench.records(key, (side, value, time_ms))
            wanted = [tuple(result) for result in expected if result[1] is not None or result[0] in there]
            assert sorted(results) == sorted(wanted)
            there |= {key for key, value, _ in wanted if value is not None}
            there -= {key for key, value, _ in wanted if value is None}


def test_a_change_of_a_grouped_table_leaves_its_old_group_before_it_enters_the_new_one() -> None:
    """KTable.groupBy: the subtractor gets the old value, then the adder the new one."""
    processor = TableGroupProcessor("GROUP", lambda key, value: (value[:1] or None, value), encoded=False)
    tester = Workbench(processor, types=("string", "struct<value:string,added:boolean>"))
    added, taken = {"added": True}, {"added": False}
    assert tester.records("k", (0, "a1", 1), (0, "b2", 2)) == [("b", {"value": "b2"} | added, 2)]
    assert tester.records("k", (0, "c3", 3)) == [
        ("b", {"value": "b2"} | taken, 3),
        ("c", {"value": "c3"} | added, 3),
    ]
    assert tester.records("k", (0, "", 4)) == [("c", {"value": "c3"} | taken, 4)]  # in no group any more
    assert tester.records("k", (0, None, 5)) == []
    assert tester.tester.peekValueState("state", "k") is None
    assert tester.records("k", (0, None, 6)) == []


class Ledger(Processor):
    """Uses every kind of store: how often, which values, when last."""

    def init(self, context: Any) -> None:
        super().init(context)
        self.count = context.value_store("count")
        self.values = context.list_store("values")
        self.times = context.map_store("times")

    def process(self, record: Record) -> None:
        self.count.put((self.count.get() or 0) + 1)
        self.values.append(record.value)
        self.times.put(record.value, record.timestamp_ms)
        self.context.schedule(record.timestamp_ms + 10)
        self.context.cancel(99)
        self.context.forward(record.with_value(f"{self.count.get()} {self.values.get()}"))

    def punctuate(self, timestamp_ms: int) -> None:
        latest = dict(self.times.items())
        self.context.forward(Record(f"{self.context.key}!", str(latest), self.context.stream_time_ms))
        if len(latest) > 1:
            self.times.delete("x")
        else:
            self.count.delete()
            self.values.delete()


def test_a_processor_finds_its_stores_as_it_left_them_and_its_timers_fire_by_the_time_of_the_stream() -> None:
    tester = Workbench(HostedProcessor("PROCESS", Ledger), "eventTime")
    assert tester.records("k", (0, "x", 1), (0, "y", 2)) == [("k", "1 ['x']", 1), ("k", "2 ['x', 'y']", 2)]
    assert tester.at(10) == []
    assert tester.at(11) == [("k!", "{'x': 1, 'y': 2}", 11)]
    assert tester.records("k", (0, "y", 89)) == [("k", "3 ['x', 'y', 'y']", 89)]  # and 99 is cancelled
    assert tester.records("other", (0, "z", 80)) == [("other", "1 ['z']", 80)]
    assert tester.at(12) == [("k!", "{'y': 89}", 12)]
    assert tester.records("k", (0, "w", 90)) == [("k", "1 ['w']", 90)]
    assert sorted(tester.at(200)) == [("k!", "{'w': 90, 'y': 89}", 200), ("other!", "{'z': 80}", 200)]


class Alarm(Processor):
    punctuation = "wall_clock"

    def process(self, record: Record) -> None:
        self.context.schedule(int(record.value))

    def punctuate(self, timestamp_ms: int) -> None:
        self.context.forward(Record(self.context.key, "late", timestamp_ms))


def test_a_processor_with_the_clock_is_woken_by_it() -> None:
    tester = Workbench(HostedProcessor("PROCESS", Alarm), "processingTime")
    assert tester.records("k", (0, "500", 1)) == []
    assert tester.at(499) == []
    assert tester.at(500) == [("k", "late", 500)]
    assert tester.at(501) == []
