"""Through topics of the program's and of one's own, into sliding windows: a whole program on Spark, against
windows and sums that are computed from the list of all records.

The records come in phases, each a micro-batch of its own (one partition, so many offsets), so that it is
known what is late. A record that is late for some of its windows and in time for others is left to the tests
without Spark (test_window_states.py, and Kafka Streams' own transcripts).
"""

from __future__ import annotations

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from streams_program import END_S, Program, Put, number, text, windowed_key

import ottla
from ottla.client.admin_offsets import EARLIEST, LATEST
from ottla.streams import SlidingWindows, StreamsBuilder, run, value
from support.broker_process import BrokerProcess

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.timeout(600)  # several queries; seconds on a machine that is not busy

T0 = 1_700_000_000_000
DIFFERENCE, GRACE = 3_000, 5_000

Windows = dict[tuple[str, int], list[int]]
"""The values in each window of a key, by its start."""


def phases() -> list[list[Put]]:
    """Of the second one's records some are late for every window, the others for none; some times are equal,
    and some exactly the difference apart.
    """
    choose = random.Random(23)

    def some(spans: list[tuple[int, int]]) -> list[Put]:
        made: list[Put] = []
        for _ in range(40):
            low, high = choose.choice(spans)
            time = T0 + 1000 * choose.randrange(low, high) + choose.choice((0, 0, 1, 999))
            made.append((choose.choice("abc"), str(choose.randrange(1, 100)), time))
        return made

    first = [*some([(0, 30)]), ("a", "1", T0 + 30_000)]
    # The stream's time is 30 s: windows that ended before 25 s are closed, all those of records before 22 s.
    return [first, [*some([(0, 21), (25, 45), (25, 45)]), ("b", "1", T0 + 46_000)]]


def sliding(records: list[tuple[str, int, int]]) -> Windows:
    """KIP-450, from its definition: the windows that end with a record, and those that begin a millisecond
    after one and are not empty.
    """
    found: Windows = {}
    for key in {key for key, _, _ in records}:
        own = [(value, time) for each, value, time in records if each == key]
        for start in {start for _, time in own for start in (time - DIFFERENCE, time + 1)}:
            inside = sorted(value for value, time in own if start <= time <= start + DIFFERENCE)
            if inside:
                found[key, start] = inside
    return found


def test_records_pass_topics_on_their_way_into_sliding_windows_and_sums(
    spark: SparkSession, shared_broker: BrokerProcess, tmp_path: Path
) -> None:
    """`through` writes and reads a topic of the user's, which stays as it is; `repartition` one of the
    program's, with as many partitions as said, which is emptied when it was read. The program is started by
    another thread than Spark was, and Spark is left running, with nothing of the program in its memory.
    """
    program = Program(spark, shared_broker.bootstrap, tmp_path / "checkpoint", "through")
    source, between = program.topic("in", 1), program.topic("between", 1)
    outs = {name: program.topic(name, 1) for name in ("sliding", "sums", "large")}
    builder = StreamsBuilder()
    numbers = builder.stream(source).map_values(int, returns="bigint").through(between, value_serde="long")
    numbers.filter(value > 50).to(outs["large"], value_serde="long")
    windows = SlidingWindows.of_time_difference_and_grace(DIFFERENCE, GRACE)
    numbers.group_by_key().windowed_by(windows).aggregate(
        list, lambda key, item, items: [*items, item]
    ).map_values(lambda items: " ".join(map(str, sorted(items)))).to_stream().to(outs["sliding"])
    parity = numbers.select_key(lambda key, item: "odd" if item % 2 else "even", returns="string")
    sums = parity.repartition(3, name="by-parity").group_by_key().reduce(lambda one, two: one + two)
    sums.to_stream().to(outs["sums"], value_serde="long")

    made = phases()
    for phase in made:
        program.put(source, phase)
    assert len({len(phase) for phase in made}) == 1
    context = spark.sparkContext._jsc
    cached = context.getPersistentRDDs().size()
    with ThreadPoolExecutor(1) as thread:
        application = thread.submit(
            run,
            builder,
            application_id=program.name,
            bootstrap_servers=program.bootstrap,
            checkpoint=program.checkpoint,
            trigger={"availableNow": True},
            options={"maxOffsetsPerTrigger": len(made[0])},
        ).result()
    assert application.await_termination(END_S), application.progress()

    every = [(key or "", int(item or 0), time) for phase in made for key, item, time in phase]
    passed = [(text(each.key), number(each.value), each.timestamp_ms) for each in program.all(between)]
    assert passed == every
    large = [(text(each.key), number(each.value), each.timestamp_ms) for each in program.all(outs["large"])]
    assert large == [record for record in every if record[1] > 50]

    got = program.all(outs["sliding"])
    kept: list[tuple[str, int, int]] = []
    before: Windows = {}
    close = 0
    for phase in made:
        in_time = [(key or "", int(item or 0), time) for key, item, time in phase if time >= close]
        assert all(time + 1 + DIFFERENCE <= close for _, _, time in phase if time < close)
        assert (len(in_time) < len(phase)) == bool(kept)  # the second phase has late ones
        kept += in_time
        now = sliding(kept)
        changes = {window: items for window, items in now.items() if before.get(window) != items}
        fresh, got = got[: len(changes)], got[len(changes) :]
        assert {windowed_key(each.key): text(each.value) for each in fresh} == {
            window: " ".join(map(str, items)) for window, items in changes.items()
        }
        before, close = now, max(time for _, _, time in kept) - GRACE
    assert got == []

    totals = Counter[str]()
    for _, item, _ in every:
        totals["odd" if item % 2 else "even"] += item
    assert {text(each.key): number(each.value) for each in program.all(outs["sums"])} == totals
    with ottla.Admin(shared_broker.bootstrap) as admin:
        (internal,) = (name for name in admin.list_topics() if name.startswith("through-by-parity"))
        partitions = [ottla.TopicPartition(internal, at) for at in range(3)]
        assert len(admin.describe_topics([internal]).all()[internal].partitions) == 3
        first, behind = (
            admin.list_offsets(dict.fromkeys(partitions, where)).all() for where in (EARLIEST, LATEST)
        )
    assert sum(behind[tp].offset for tp in partitions) == len(every)
    assert [first[tp].offset for tp in partitions] == [behind[tp].offset for tp in partitions]

    assert spark.sparkContext._jsc is context and spark.range(3).count() == 3  # it was not the program's
    assert context.getPersistentRDDs().size() == cached
