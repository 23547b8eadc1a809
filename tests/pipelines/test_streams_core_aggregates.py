"""Aggregates without windows: in the JVM, in Python, of several streams, held back; run beside new records
until it is stopped. The expected ones are made by loops.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from streams_program import END_S, Program, Put, number, text

from ottla.streams import StreamsBuilder, Suppressed, count_of, max_of, struct, sum_of, value
from ottla.streams import json as json_serde
from support.broker_process import BrokerProcess
from support.waiting import wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.timeout(600)  # several queries each; seconds on a machine that is not busy

T0 = 1_700_000_000_000
WAIT_MS = 10_000


def delays(key: str, *delays_at: tuple[int, int]) -> list[Put]:
    """Delays, and at which second they were told."""
    return [(key, json.dumps({"delay": delay}), T0 + 1000 * second) for delay, second in delays_at]


def test_a_running_program_has_the_aggregates_of_a_loop_as_records_come_in_until_it_is_stopped(
    spark: SparkSession, shared_broker: BrokerProcess, tmp_path: Path
) -> None:
    """count, cogroup, built-in aggregates, suppress(until_time_limit), in three queries at once."""
    program = Program(spark, shared_broker.bootstrap, tmp_path / "checkpoint", "aggregates")
    flights, gates = program.topic("flights"), program.topic("gates")
    stats, boards, limited = (program.topic(name) for name in ("stats", "boards", "limited"))

    def board(flight: bool) -> Any:
        def add(key: str, item: Any, rows: list[Any]) -> list[Any]:
            rows.append(item["delay"] if flight else item)  # changed in place: what is stored is a copy
            return rows

        return add

    builder = StreamsBuilder()
    grouped = builder.stream(flights, value_serde=json_serde("delay int")).group_by_key()
    of_all = struct(n=count_of(), total=sum_of(value["delay"]), most=max_of(value["delay"]))
    counted = grouped.aggregate(of_all)
    counted.to_stream().to(stats, value_serde="json")
    at_gate = builder.stream(gates).filter(lambda key, gate: gate != "closed").group_by_key()
    together = grouped.cogroup(board(True)).cogroup(at_gate, board(False)).aggregate(list)
    together.to_stream().to(boards, value_serde="json")
    held = counted.suppress(Suppressed.until_time_limit(WAIT_MS))
    held.map_values(lambda item: item["n"]).to_stream().to(limited, value_serde="long")

    first = delays("a", (5, 0), (7, 1), (-2, 2)) + delays("b", (1, 20), (9, 21))
    second = delays("a", (40, 40)) + delays("c", (3, 35), (4, 34))
    first_gates: list[Put] = [("a", "A1", T0 + 500), ("a", "closed", T0 + 600)]
    first_gates += [(None, "B2", T0), ("d", "D4", T0)]
    second_gates: list[Put] = [("b", "B7", T0 + 90_000)]

    def statistics(puts: list[Put]) -> dict[str | None, Any]:
        known: dict[str | None, list[int]] = defaultdict(list)
        for key, content, _ in puts:
            known[key].append(json.loads(content or "")["delay"])
        return {key: {"n": len(all_), "total": sum(all_), "most": max(all_)} for key, all_ in known.items()}

    def table(topic: str) -> dict[str | None, Any]:
        """Of each key what was told last."""
        return {text(each.key): json.loads(each.value or b"null") for each in program.all(topic)}

    def numbers() -> dict[str | None, Any]:
        return {text(each.key): number(each.value) for each in program.all(limited)}

    def becomes(tables: list[dict[str | None, Any]]) -> None:
        wait_until(
            lambda: [table(stats), table(boards), numbers()] == tables,
            f"the tables {tables}",
            timeout_s=END_S,
            pause_s=0.2,
        )

    program.put(flights, first)
    program.put(gates, first_gates)
    both = statistics([*first, *second])
    with program.start(builder, trigger=None) as application:
        # Lists are in the order of times: partitions are merged by them, as Kafka Streams does. The stream's
        # time is T0 + 21 s: only what came 10 s before it, or earlier, is told of what was held back.
        lists: dict[str | None, Any] = {"a": [5, "A1", 7, -2], "b": [1, 9], "d": ["D4"]}
        becomes([statistics(first), lists, {"a": 3}])
        program.put(flights, second)
        program.put(gates, second_gates)
        lists |= {"a": [5, "A1", 7, -2, 40], "b": [1, 9, "B7"], "c": [3, 4]}
        becomes([both, lists, {"a": 3, "b": 2}])
        wait_until(
            lambda: all(stage["lag"] == 0 for stage in application.progress().values()),
            "no stage is behind",
            timeout_s=END_S,
        )
        assert len(application.progress()) == 3
        assert application.exception() is None
    assert not any(query.isActive for query in application.queries)
    assert application.await_termination(0)
