"""Steps of one record after the other, run on Spark: every record of the input is followed by hand in plain
Python.
"""

from __future__ import annotations

import json
import random
import struct
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from streams_program import Program, number, text

import ottla
from ottla.streams import StreamsBuilder, lit, value
from ottla.streams import json as json_serde
from ottla.streams.lowering import serdes_sql
from ottla.streams.lowering.frames import spark_type
from ottla.streams.running.failures import ApplicationFailed
from ottla.streams.serdes import Serde, serde_of, session_windowed, time_windowed
from ottla.streams.windows import Windowed
from support.broker_process import BrokerProcess

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.timeout(600)  # several queries each; seconds on a machine that is not busy

T0 = 1_700_000_000_000


def test_records_go_every_way_of_the_program_with_their_headers_and_times(
    spark: SparkSession, shared_broker: BrokerProcess, tmp_path: Path
) -> None:
    """filter, map, flat_map, select_key, branch, merge, peek, for_each, repartition, topics and partitions by
    function: expressions and Python functions mixed. Each record is peeked at once, whichever ways it
    goes.
    """
    program = Program(spark, shared_broker.bootstrap, tmp_path / "checkpoint", "steps")
    names = ("in", "late", "early", "spread", "sums")
    source, late, early, spread, summed = (program.topic(name) for name in names)
    peeked, effects = tmp_path / "peeked", tmp_path / "effects"

    def note(path: Path) -> Any:
        def write(key: Any, item: Any) -> None:
            with path.open("a") as file:  # one write of a short line: whole, whoever else appends
                file.write(f"{key}={item}\n")

        return write

    builder = StreamsBuilder()
    flights = builder.stream(source, value_serde=json_serde("airport string, delay int"))
    known = flights.filter(value["airport"].is_not_null()).peek(note(peeked))
    slow, fast = known.branch(value["delay"] > 15, lambda key, item: True)
    slow.map_values(lambda item: {**item, "delay": item["delay"] * 60}).to(late, value_serde="json")
    fast.select_key(value["airport"]).map_values(value["delay"] + lit(1)).to(early, value_serde="long")
    both = slow.merge(fast)
    both.flat_map(lambda key, item: [(key, item["airport"])] * ((item["delay"] or 0) % 3)).to(
        lambda key, airport: spread,
        partitioner=lambda topic, key, airport, partitions: len(airport) % partitions,
    )
    both.for_each(note(effects))
    again = both.map(lambda key, item: (item["airport"], item["delay"]), key_type="string", value_type="int")
    totals = again.repartition(partitions=3).group_by_key().reduce(lambda one, two: one + two)
    totals.filter_not(lambda key, total: total < 0).to_stream().to(summed, value_serde="integer")

    choose = random.Random(5)
    airports = ["JFK", "ATL", "LAXX", None]
    rows = [(f"f{at}", choose.choice(airports), choose.randrange(40), T0 + at) for at in range(120)]
    with ottla.Producer(shared_broker.bootstrap) as producer:
        for at, (key, airport, delay, time) in enumerate(rows):
            # another shape as time goes by: a new field, a missing one, one of another type (which is null)
            content: dict[str, Any] = {"airport": airport, "delay": delay, "new": at}
            producer.send(
                source, json.dumps(content), key, timestamp=time, headers=[("at", str(at).encode())]
            )
        producer.send(source, '{"delay": 3}', "no airport", timestamp=T0)
        producer.send(source, '{"airport": 7.5, "delay": "soon"}', "odd", timestamp=T0 + 500)
    program.run(builder)

    kept = [row for row in rows if row[1] is not None]
    got = {
        text(each.key): (json.loads(each.value or b""), each.timestamp_ms, each.headers)
        for each in program.all(late)
    }
    assert got == {
        key: ({"airport": airport, "delay": delay * 60}, time, (("at", str(time - T0).encode()),))
        for key, airport, delay, time in kept
        if delay > 15
    }
    expected = Counter((airport, delay + 1) for _, airport, delay, _ in kept if delay <= 15)
    numbered = [(text(each.key), number(each.value)) for each in program.all(early) if each.value]
    assert Counter(numbered) == expected
    found = program.all(spread)
    expected_spread = Counter({(key, airport): delay % 3 for key, airport, delay, _ in kept if delay % 3})
    assert Counter((text(each.key), text(each.value)) for each in found) == expected_spread
    assert all(each.partition == len(each.value or b"") % 2 for each in found)
    seen = [f"{key}={ {'airport': airport, 'delay': delay} }" for key, airport, delay, _ in kept]
    odd = "odd={'airport': '7.5', 'delay': None}"
    assert sorted(peeked.read_text().splitlines()) == sorted([*seen, odd])
    assert sorted(effects.read_text().splitlines()) == sorted([*seen, odd])
    sums: Counter[str | None] = Counter()
    for _, airport, delay, _ in kept:
        sums[airport] += delay
    assert {text(each.key): struct.unpack(">i", each.value or b"")[0] for each in program.all(summed)} == sums
    with ottla.Admin(shared_broker.bootstrap) as admin:
        between = [name for name in admin.list_topics() if "repartition" in name and "steps-" in name]
        assert [len(admin.describe_topics([name]).all()[name].partitions) for name in between] == [3]


def test_a_function_that_fails_on_one_record_is_reported_with_its_place_and_the_repaired_program_goes_on(
    spark: SparkSession, shared_broker: BrokerProcess, tmp_path: Path
) -> None:
    """The failed batch is in no output; with the function repaired, the same checkpoint gives each record
    once.
    """
    program = Program(spark, shared_broker.bootstrap, tmp_path / "checkpoint", "failing")
    source, out = program.topic("in", 1), program.topic("out", 1)
    program.put(source, [(f"k{at}", str(at) if at != 617 else "six hundred", T0) for at in range(1000)])

    def build(function: Any) -> StreamsBuilder:
        builder = StreamsBuilder()
        doubled = builder.stream(source).map_values(function, name="doubled")
        doubled.filter(lambda key, item: item >= 0).to(out, value_serde="long")
        return builder

    with pytest.raises(ApplicationFailed) as failure:
        program.run(
            build(lambda item: 2 * int(item)),
            processing_guarantee="exactly_once_v2",
            options={"batchAttempts": 1},
        )
    said = str(failure.value)
    assert f"topic {source}, partition 0, offset 617" in said
    assert "doubled failed on the record" in said
    assert "ValueError: invalid literal for int()" in said
    assert "\n" not in said
    assert program.all(out) == []
    fixed = build(lambda item: 2 * int(item) if item.isdigit() else -1)
    program.run(fixed, processing_guarantee="exactly_once_v2")
    numbers = sorted(number(each.value) or 0 for each in program.all(out))
    assert numbers == [2 * at for at in range(1000) if at != 617]


SERDES: list[tuple[Serde, list[Any]]] = [
    (serde_of("string"), ["", "naïve 流", None]),
    (serde_of("bytes"), [b"", b"\x00\xff", None]),
    (serde_of("long"), [0, 1, -1, 258, -(2**63), 2**63 - 1, None]),
    (serde_of("integer"), [0, 1, -1, -(2**31), 2**31 - 1, None]),
    (serde_of("short"), [0, -2, -(2**15), 2**15 - 1, None]),
    (
        json_serde("a int, b array<string>, c struct<d:double>"),
        [{"a": 1, "b": ["x", None], "c": {"d": 0.5}}, None],
    ),
]


def test_serdes_in_sql_read_and_write_what_those_in_python_do(spark: SparkSession) -> None:
    """Kafka's formats: big-endian numbers, UTF-8; a value is the same whichever side of the pipeline wrote
    it.
    """
    for serde, items in SERDES:
        type_name = spark_type(serde.type)
        write = serdes_sql.write(serde, "value", serde.type, windowed=False)
        read = serdes_sql.read(serde, "bytes", "the value")
        assert write is not None
        assert read is not None
        df = spark.createDataFrame([(item,) for item in items], f"value {type_name}")
        df = df.selectExpr(f"{write} as bytes", "'t' as topic", "0 as partition", "1 as offset")
        rows = df.selectExpr("bytes", f"{read} as value").collect()
        written = [None if row.bytes is None else bytes(row.bytes) for row in rows]
        back = [row.asDict(True)["value"] for row in rows]
        assert back == items
        if serde.name == "json":
            assert [None if data is None else json.loads(data) for data in written] == items
            assert [None if data is None else serde.deserialize(data) for data in written] == items
        else:
            assert written == [serde.serialize(item) for item in items]
    moment = "timestamp_millis({})".format
    for windowed, size in ((time_windowed("string", 5000), 5000), (session_windowed("string"), 700)):
        write = serdes_sql.write(windowed, "key", "string", windowed=True)
        window = f"named_struct('start', {moment(T0)}, 'end', {moment(T0 + size)})"
        row = spark.sql(f"select {write} as bytes from (select 'k' as key, {window} as window)").collect()[0]
        assert bytes(row.bytes) == windowed.serialize(Windowed("k", T0, T0 + size))
        assert isinstance(windowed, type(time_windowed("string", 1)))
        read_key, read_window = serdes_sql.read(windowed, "key", ""), serdes_sql.read_window(windowed, "key")
        times = f"unix_millis({read_window}.start) as s, unix_millis({read_window}.end) as e"
        back = spark.sql(
            f"select {read_key} as key, {times} from (select x'{bytes(row.bytes).hex()}' as key)"
        ).collect()[0]
        assert tuple(back) == ("k", T0, T0 + size)
    broken = serdes_sql.read(json_serde("a int"), "cast('six hundred' as binary)", "the value")
    said = "the value cannot be read.*cannot read six hundred of topic t, partition 0, offset 617"
    with pytest.raises(Exception, match=said):
        spark.sql(f"select {broken} from (select 't' topic, 0 partition, 617 offset)").collect()
