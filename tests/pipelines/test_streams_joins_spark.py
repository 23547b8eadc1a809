"""Each kind of join on Spark and a broker, against plain Python over the same records."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from streams_phases import Phases, Put

from ottla.streams import (
    JoinWindows,
    Processor,
    Record,
    StreamsBuilder,
    coalesce,
    concat,
    key,
    left,
    lit,
    right,
)
from support.broker_process import BrokerProcess

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.timeout(400)


@pytest.fixture
def phases(spark: SparkSession, shared_broker: BrokerProcess, tmp_path: Path, topic_name: str) -> Phases:
    return Phases(spark, shared_broker.bootstrap, tmp_path, topic_name)


# --- streams with streams ----------------------------------------------------------------------------------

BEFORE_MS, AFTER_MS, GRACE_MS = 5_000, 3_000, 2_000
LATENESS_MS = BEFORE_MS + GRACE_MS
WINDOWS = JoinWindows.of_time_difference_and_grace(AFTER_MS, GRACE_MS).before(BEFORE_MS)


def _pairs(lefts: list[Put], rights: list[Put]) -> Iterator[tuple[Put | None, Put | None]]:
    """The full outer join by its definition."""
    matched: set[Put] = set()
    for one in lefts:
        found = [
            other
            for other in rights
            if one[0] is not None
            and one[0] == other[0]
            and one[2] - BEFORE_MS <= other[2] <= one[2] + AFTER_MS
        ]
        matched.update(found)
        yield from ((one, other) for other in found) if found else [(one, None)]
    yield from ((None, other) for other in rights if other not in matched)


def _outcome(pairs: Iterator[tuple[Put | None, Put | None]]) -> Counter[Any]:
    results: Counter[Any] = Counter()
    for one, other in pairs:
        there = [record for record in (one, other) if record is not None]
        value = f"{one[1] if one else None}+{other[1] if other else None}"
        results[there[0][0], value, max(record[2] for record in there)] += 1
    return results


BATCH = 40
"""Records of a side in a micro-batch."""


def test_streams_join_within_windows_and_who_is_alone_is_told_when_they_close(phases: Phases) -> None:
    """KStream-KStream joins. Records at a window's edges join, late ones do not; state is freed."""
    # One partition each: a micro-batch is so many offsets of it.
    one, two = phases.topic("left", 1), phases.topic("right", 1)
    outputs = {how: phases.topic(f"{how}-joined") for how in ("inner", "left", "outer")}
    outer, others = StreamsBuilder(), StreamsBuilder()
    outer.stream(one).outer_join(
        outer.stream(two), lambda left, right: (left, right), WINDOWS, name="outer"
    ).map_values(lambda pair: f"{pair[0]}+{pair[1]}").to(outputs["outer"])
    a, b = others.stream(one), others.stream(two)
    text = concat(coalesce(left, "None"), "+", coalesce(right, "None"))
    a.left_join(b, text, WINDOWS, name="left").to(outputs["left"])
    a.join(b, text, WINDOWS, name="inner").to(outputs["inner"])

    draw = random.Random(20)
    admitted: tuple[list[Put], list[Put]] = ([], [])
    everything: tuple[list[Put], list[Put]] = ([], [])
    newest = [0, 0]
    watermark_ms = -1
    for batch in range(2):
        base_ms = 100_000 + 20_000 * batch
        for side, topic in enumerate((one, two)):
            puts: list[Put] = [(None, f"no key {side}{batch}", base_ms)]
            if batch == 0:
                edges = [100_000] if side == 0 else [94_999, 95_000, 103_000, 103_001]
                puts += [("edge", f"{'lr'[side]}{time_ms}", time_ms) for time_ms in edges]
            else:
                puts += [("d", f"{'lr'[side]}{batch} late {d}", watermark_ms + d) for d in (-1, 0, 1)]
            puts += [
                (draw.choice("abcd"), f"{'lr'[side]}{batch}{i}", base_ms + draw.randrange(20_000))
                for i in range(BATCH - 1 - len(puts))
            ]
            phases.put(topic, [*puts, ("d", None, base_ms)])  # a null value is nothing to join
            admitted[side].extend(put for put in puts if put[2] >= watermark_ms)
            everything[side].extend(puts)
            newest[side] = max(newest[side], *(put[2] for put in puts))
        watermark_ms = min(newest) - LATENESS_MS
    assert any(put[2] < 120_000 for put in admitted[0][BATCH:])  # late, but not too late
    for topic in (one, two):
        phases.put(topic, [("flush " + topic, "flush", 500_000)])
    phases.run(outer, "outer", {"maxOffsetsPerTrigger": BATCH})
    got = Counter(phases.fresh(outputs["outer"]))
    assert got == _outcome(_pairs(*admitted))
    assert ("edge", "l100000+r95000", 100_000) in got and ("edge", "l100000+r103000", 103_000) in got
    assert ("edge", "None+r94999", 94_999) in got and ("edge", "None+r103001", 103_001) in got
    for which in ("left", "right"):  # only what flushed is still kept
        assert phases.stored("outer", "outer", joinSide=which) == 1

    phases.run(others, "others")  # all in one micro-batch: nothing is late
    alone_left = [pair for pair in _pairs(*everything) if pair[0] is not None]
    assert Counter(phases.fresh(outputs["left"])) == _outcome(iter(alone_left))
    both = [pair for pair in alone_left if pair[1] is not None]
    assert Counter(phases.fresh(outputs["inner"])) == _outcome(iter(both))


# --- tables ------------------------------------------------------------------------------------------------


def test_streams_and_tables_join_tables_over_restarts(phases: Phases) -> None:
    """Stream-table and table-table joins; all kinds of them are in test_streams_joins_processors.py."""
    clicks, users, plans = phases.topic("clicks"), phases.topic("users"), phases.topic("plans")
    outputs = {name: phases.topic(name) for name in ("stream-left", "tables-outer")}
    builder = StreamsBuilder()
    stream, one, two = builder.stream(clicks), builder.table(users), builder.table(plans)
    stream.left_join(one, lambda key, click, user: f"{key} {click} {user}").to(outputs["stream-left"])
    one.outer_join(two, lambda user, plan: f"{user}/{plan}").to_stream().to(outputs["tables-outer"])

    phases.put(users, [("a", "Ann", 10), ("b", "Bob", 10), ("b", "Bill", 30)])
    phases.put(plans, [("a", "free", 50), ("c", "paid", 5)])
    phases.put(clicks, [("a", "1", 9), ("a", "2", 10), ("b", "3", 20), ("z", "4", 20), (None, "5", 1)])
    phases.run(builder)
    joined = [("a", "a 2 Ann", 10), ("b", "b 3 Bob", 20)]
    alone = [("a", "a 1 None", 9), ("z", "z 4 None", 20), (None, "None 5 None", 1)]
    assert Counter(phases.fresh(outputs["stream-left"])) == Counter(joined + alone)
    assert Counter(phases.fresh(outputs["tables-outer"])) == Counter(
        [("a", "Ann/free", 50), ("b", "Bill/None", 30), ("c", "None/paid", 5)]
    )

    phases.put(users, [("a", None, 60), ("b", "Bo", 20), ("d", None, 1)])
    phases.put(plans, [("b", "paid", 25), ("c", None, 70)])
    phases.put(clicks, [("a", "6", 60), ("b", "7", 19), ("b", "8", 20)])
    phases.run(builder)
    assert Counter(phases.fresh(outputs["stream-left"])) == Counter(
        [("a", "a 6 None", 60), ("b", "b 7 Bill", 19), ("b", "b 8 Bo", 20)]
    )
    assert Counter(phases.fresh(outputs["tables-outer"])) == Counter(
        [("a", "None/free", 60), ("b", "Bo/paid", 25), ("c", None, 70)]
    )


def test_a_grouped_table_is_summed_by_what_it_is_now_and_a_global_table_is_joined_by_any_key(
    phases: Phases,
) -> None:
    """KTable.groupBy with adder and subtractor, against the sums over the table as it is; what it sends to
    itself is deleted when it was read. KStream-GlobalKTable inner by functions, then left by expressions,
    before an aggregate.
    """
    orders, sums = phases.topic("orders"), phases.topic("sums")
    flights, airports, lists = phases.topic("flights"), phases.topic("airports"), phases.topic("lists")
    builder = StreamsBuilder()
    (
        builder.table(orders)
        .group_by(lambda order, line: (line.split()[0], int(line.split()[1])), key_type="string")
        .aggregate(lambda: 0, lambda key, new, total: total + new, lambda key, old, total: total - old)
        .to_stream()
        .to(sums, value_serde="json")
    )
    parsed = builder.global_table(airports, value_serde="json")
    text = builder.global_table(airports)
    (
        builder.stream(flights)
        .join(
            parsed, lambda to, airport: f"{to} {airport['name']}", selector=lambda _, to: to, returns="string"
        )
        .left_join(text, concat(left, " from ", coalesce(right, lit("?"))), selector=key)
        .group_by_key()
        .reduce(lambda all, new: f"{all}, {new}")
        .to_stream()
        .to(lists)
    )
    draw = random.Random(7)
    puts: list[Put] = []
    for at in range(120):
        line = None if draw.random() < 0.15 else f"c{draw.randrange(4)} {draw.randrange(100)}"
        puts.append((f"o{draw.randrange(20)}", line, at))
    phases.put(orders, puts)
    phases.put(airports, [("BER", '{"name": "Berlin"}', 1), ("OSL", '{"name": "Oslo"}', 1)])
    phases.put(
        flights, [("BER", "OSL", 1), ("X", "BER", 2), (None, "OSL", 3), ("BER", None, 4), ("BER", "Z", 5)]
    )
    phases.run(builder, options={"maxOffsetsPerTrigger": 60})  # the orders are two micro-batches

    expected: Counter[str | None] = Counter()
    for line in filter(None, {order: line for order, line, _ in puts}.values()):
        expected[line.split()[0]] += int(line.split()[1])
    totals = {customer: json.loads(total or "0") for customer, total, _ in phases.fresh(sums)}
    assert totals == expected
    first = 'OSL Oslo from {"name": "Berlin"}'
    assert Counter(phases.fresh(lists)) == Counter([("BER", first, 1), ("X", "BER Berlin from ?", 2)])
    between = phases.internal("repartition")
    assert len(between) == 1
    assert phases.left(between[0]) == 0
    assert all(phases.left(topic) > 0 for topic in (orders, sums))


# --- process -----------------------------------------------------------------------------------------------


def _sessions() -> type[Processor]:
    """Made here, since Spark's workers cannot import a test for a class of its module."""

    class Sessions(Processor):
        """Tells of a user who was silent for ten seconds of the stream's time how many clicks there were."""

        def init(self, context: Any) -> None:
            super().init(context)
            self.clicks = context.list_store("clicks")

        def process(self, record: Record) -> None:
            self.clicks.append(record.timestamp_ms)
            self.context.schedule(record.timestamp_ms + 10_000)

        def punctuate(self, timestamp_ms: int) -> None:
            clicks = self.clicks.get()
            if clicks and max(clicks) + 10_000 == timestamp_ms:
                end = ("end", self.context.key)
                self.context.forward(Record(end, len(clicks), timestamp_ms, (("by", b"timer"),)))
                self.clicks.delete()

    return Sessions


def test_a_processor_keeps_state_and_timers(phases: Phases) -> None:
    """A record that is older than the watermark is processed, too: a processor decides for itself."""
    clicks, ended = phases.topic("clicks", 1), phases.topic("ended", 1)
    builder = StreamsBuilder()
    stream = builder.stream(clicks).process(_sessions(), name="sessions")
    stream.to(ended, key_serde="json", value_serde="json")
    phases.put(clicks, [("a", "x", 1_000), ("b", "x", 2_000), ("a", "y", 4_000), ("c", "x", 13_000)])
    phases.put(clicks, [("a", "late", 3_500), ("d", "x", 14_000)])
    # Behind the first micro-batch the watermark is 13 s: b is done, and a is before the second one.
    phases.run(builder, options={"maxOffsetsPerTrigger": 4})
    assert phases.fresh(ended) == [('["end","b"]', "1", 12_000), ('["end","a"]', "3", 14_000)]


def _spikes() -> type[Any]:
    from pyspark.sql import Row
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

    class Spikes(StatefulProcessor):
        """Spark's own: what is more than twice the highest so far."""

        def init(self, handle: Any) -> None:
            self.highest = handle.getValueState("highest", "value int")

        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Any]:
            highest = (self.highest.get() or (0,))[0]
            for row in sorted(rows, key=lambda row: row.timestamp):
                if int(row.value) > 2 * highest:
                    yield Row(key=key[0], value=int(row.value), timestamp=row.timestamp)
                highest = max(highest, int(row.value))
            self.highest.update((highest,))

    return Spikes


def test_a_stateful_processor_of_sparks_runs_as_it_is_and_tables_join_by_a_foreign_key(
    phases: Phases,
) -> None:
    values, spikes = phases.topic("values"), phases.topic("spikes")
    orders, customers, named = phases.topic("orders"), phases.topic("customers"), phases.topic("named")
    builder = StreamsBuilder()
    schema = "key string, value int, timestamp timestamp"
    builder.stream(values).process(_spikes(), output_schema=schema).to(spikes, value_serde="integer")
    one, two = builder.table(orders), builder.table(customers)
    text = concat(left, "/", coalesce(right, "?"))
    one.left_join(two, text, foreign_key=lambda order: order[:1]).to_stream().to(named)
    phases.put(values, [("k", text, at) for at, text in enumerate(["3", "5", "7", "15", "9", "31"])])
    phases.put(customers, [("a", "Ann", 1), ("b", "Bob", 9)])
    phases.put(orders, [("1", "a1", 2), ("2", "b1", 3), ("3", "c1", 4), ("1", "b2", 5), ("2", None, 6)])
    phases.run(builder)
    found = [
        (time_ms, int.from_bytes((value or "").encode(), "big")) for _, value, time_ms in phases.fresh(spikes)
    ]
    assert found == [(0, 3), (3, 15), (5, 31)]
    assert Counter(phases.fresh(named)) == Counter([("1", "b2/Bob", 9), ("3", "c1/?", 4)])
