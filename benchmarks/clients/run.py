"""`make bench-clients`: Python clients side by side against one broker.

    PYTHONPATH=benchmarks python -m clients.run [--quick] [--only WORD]

One Ottla broker in a process of its own; every measured run is a process, too, and the ways of all clients
take turns within each repetition. `ottla send` and `ottla iteration` run twice in each turn: how far these
two differ is what the other figures have to be read with (the null test). After every producing run the topic
is read back: each value as often as it was sent, or the benchmark fails; consuming runs check the number of
records and of bytes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import machine
from clients import page
from clients.consumers import CONSUMERS
from clients.producers import PRODUCERS
from clients.workload import CONSUMER_WORDS, POOL, PRODUCER_WORDS, pool
from systems import Ottla, RunningOttla

RESULTS = Path(__file__).resolve().parent.parent / "results"
RUN_S_MAX = 300
MEMORY = Path("/dev/shm")
"""Where the broker keeps its data, if there is such a place: the clients are measured, not the disk."""
AGAIN = " again"
NULL_TESTED = ("ottla send", "ottla iteration")

Figures = dict[str, Any]


class Plan:
    """How much each run has to do: about a second for most ways on a small machine."""

    def __init__(self, quick: bool) -> None:
        self.repeats = 3
        self.cases = [(100, 1), (1000, 4)] if quick else [(100, 1), (100, 4), (1000, 1), (1000, 4)]
        self._scale = 1 if quick else 2

    def records(self, way: str, value_bytes: int) -> int:
        base = 300_000 if value_bytes <= 100 else 100_000
        if "batch" in way or "arrow" in way:
            base *= 4
        elif way.startswith(("kafka-python", "aiokafka")):
            base //= 5
        return self._scale * base // POOL * POOL

    def stored(self, value_bytes: int) -> int:
        """Records in the topic that is read: as many as the fastest way needs."""
        return self.records("arrow", value_bytes)


class Bench:
    def __init__(self, broker: RunningOttla, plan: Plan) -> None:
        import ottla

        self._broker = broker
        self._plan = plan
        self._admin = ottla.Admin(bootstrap_servers=broker.address)
        self._topics = 0

    def new_topic(self, partitions: int) -> str:
        from ottla import NewTopic

        self._topics += 1
        name = f"bench-{self._topics}"
        # What was deleted goes at once: a minute's worth of runs would fill the memory that holds the data.
        self._admin.create_topics([NewTopic(name, partitions, configs={"file.delete.delay.ms": "0"})])
        return name

    def drop(self, topic: str) -> None:
        self._admin.delete_topics([topic])

    def run(
        self, kind: str, way: str, topic: str, partitions: int, records: int, value_bytes: int
    ) -> Figures:
        others_s, began_s = machine.busy_s(), time.monotonic()
        done = subprocess.run(
            [
                *(sys.executable, "-m", "clients.worker", kind, way.removesuffix(AGAIN)),
                *(self._broker.address, str(self._broker.pid), topic),
                *(str(number) for number in (partitions, records, value_bytes)),
            ],
            capture_output=True,
            text=True,
            timeout=RUN_S_MAX,
        )
        if done.returncode:
            raise RuntimeError(f"{way}: {done.stderr[-2000:]}")
        figures: Figures = json.loads(done.stdout)
        figures["busy_cores"] = (machine.busy_s() - others_s) / (time.monotonic() - began_s)
        return figures

    def produce(self, way: str, partitions: int, value_bytes: int) -> Figures:
        topic = self.new_topic(partitions)
        records = self._plan.records(way, value_bytes)
        figures = self.run("produce", way, topic, partitions, records, value_bytes)
        self.check_stored(topic, partitions, records, value_bytes)
        self.drop(topic)
        return figures

    def check_stored(self, topic: str, partitions: int, records: int, value_bytes: int) -> None:
        """Every value as often as it was sent; the first one once more, which connected the client."""
        import pyarrow as pa

        import ottla

        batches = []
        count = 0
        with ottla.Consumer(bootstrap_servers=self._broker.address, auto_offset_reset="earliest") as consumer:
            consumer.assign([ottla.TopicPartition(topic, i) for i in range(partitions)])
            until = time.monotonic() + 60
            while count < records + 1 and time.monotonic() < until:
                batch = consumer.poll_arrow(1.0)
                count += batch.num_rows
                batches.append(batch.select(["value"]))
            count += consumer.poll_arrow(0.1).num_rows  # what was stored twice would come now
        found = pa.Table.from_batches(batches).column("value").value_counts()
        counts = {entry["values"].as_py(): entry["counts"].as_py() for entry in found}
        values = pool(value_bytes)
        expected = dict.fromkeys(values, records // POOL)
        expected[values[0]] += 1
        if count != records + 1 or counts != expected:
            raise RuntimeError(f"{topic}: {count} records stored, {records + 1} sent")


def turns(ways: list[str]) -> Iterator[str]:
    for way in ways:
        yield way
        if way in NULL_TESTED:
            yield way + AGAIN


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="two of the four cases, half the records")
    parser.add_argument("--only", default="", help="only ways whose name has this word; writes no results")
    parser.add_argument(
        "--folder",
        type=Path,
        default=MEMORY if MEMORY.is_dir() else None,
        help="where the broker keeps its data",
    )
    options = parser.parse_args()
    plan = Plan(options.quick)
    began = time.monotonic()
    result: Figures = {
        "machine": machine.facts(),
        "mode": "quick" if options.quick else "full",
        "repeats": plan.repeats,
        "in_memory": options.folder == MEMORY,
        "versions": versions(),
        "settings": {"producers": PRODUCER_WORDS, "consumers": CONSUMER_WORDS},
        "load_average": {"begin": os.getloadavg()[0]},
        "cases": [],
    }
    for value_bytes, partitions in plan.cases:
        broker = Ottla(options.folder).start("warm", 1)
        try:
            result["cases"].append(measured(Bench(broker, plan), plan, value_bytes, partitions, options.only))
        finally:
            broker.stop()
    result["load_average"]["end"] = os.getloadavg()[0]
    result["seconds"] = time.monotonic() - began
    text = page.markdown(result)
    print(text)
    if not options.only:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "clients.json").write_text(json.dumps(result, indent=1) + "\n")
        (RESULTS / "clients.md").write_text(text)
    return 0


def measured(bench: Bench, plan: Plan, value_bytes: int, partitions: int, only: str) -> Figures:
    producing: dict[str, list[Figures]] = {}
    consuming: dict[str, list[Figures]] = {}
    stored = bench.new_topic(partitions)
    bench.run("produce", "confluent-kafka produce", stored, partitions, plan.stored(value_bytes), value_bytes)
    for _ in range(plan.repeats):
        for way in turns([way for way in PRODUCERS if only in way]):
            producing.setdefault(way, []).append(bench.produce(way, partitions, value_bytes))
        for way in turns([way for way in CONSUMERS if only in way]):
            records = plan.records(way, value_bytes)
            figures = bench.run("consume", way, stored, partitions, records, value_bytes)
            consuming.setdefault(way, []).append(figures)
    return {
        "value_bytes": value_bytes,
        "partitions": partitions,
        "producing": producing,
        "consuming": consuming,
    }


def versions() -> dict[str, str]:
    from importlib.metadata import version

    return {name: version(name) for name in ("confluent-kafka", "kafka-python", "aiokafka", "pyarrow")}


if __name__ == "__main__":
    sys.exit(main())
