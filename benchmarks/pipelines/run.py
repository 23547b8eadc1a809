"""`make bench-pipelines`: our Spark source and sink beside Spark's own Kafka connector, on one broker.

    PYTHONPATH=benchmarks python -m pipelines.run [--quick] [--records N]

One broker in a process of its own, one Spark session with both formats. Every query runs once uncounted, then
the sources take turns within each repetition; so do the streaming queries. A count per key has to find every
record, and every record that was published has to come out of a streaming query, or the benchmark fails.
Where Maven cannot be reached there is no connector to compare with: the page says so.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import machine
from peers import spark_kafka
from pipelines import latency, page, queries, topics
from pipelines.usage import Usage
from systems import Ottla

RESULTS = Path(__file__).resolve().parent.parent / "results"
MEMORY = Path("/dev/shm")
"""Where the broker keeps its data, if there is such a place: pipelines are measured, not the disk."""
TOPIC = "events"

Figures = dict[str, Any]


class Plan:
    def __init__(self, quick: bool, records: int | None) -> None:
        self.records = records or (500_000 if quick else 5_000_000)
        self.repeats = 3
        self.warm_s = 3.0 if quick else 5.0
        self.latency_s = 5.0 if quick else 15.0


def connector() -> tuple[str, str]:
    """The connector's jars, and why there are none."""
    try:
        return spark_kafka.spark_jars(), ""
    except spark_kafka.ConnectorMissing as error:
        return "", str(error)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="a tenth of the records, shorter streams")
    parser.add_argument("--records", type=int, help="so many in the topic; writes no results")
    parser.add_argument(
        "--folder",
        type=Path,
        default=MEMORY if MEMORY.is_dir() else None,
        help="where the broker keeps its data",
    )
    options = parser.parse_args()
    plan = Plan(options.quick, options.records)
    began_s = time.monotonic()
    jars, missing = connector()
    broker = Ottla(options.folder).start("warm", 1)
    folder = Path(tempfile.mkdtemp(prefix="ottla-bench-spark-", dir=options.folder))
    try:
        result: Figures = {
            "machine": machine.facts(),
            "mode": "quick" if options.quick else "full",
            "records": plan.records,
            "value_bytes": topics.VALUE_BYTES,
            "partitions": topics.PARTITIONS,
            "repeats": plan.repeats,
            "in_memory": options.folder == MEMORY,
            "connector_missing": missing,
            "versions": versions(missing),
            "latency_rate": latency.RECORDS_PER_S,
            "latency_s": plan.latency_s,
            "load_average": {"begin": os.getloadavg()[0]},
        }
        topics.fill(broker.address, TOPIC, plan.records)
        measure(result, plan, broker.address, broker.pid, jars, folder)
    finally:
        broker.stop()
        shutil.rmtree(folder, ignore_errors=True)
    result["load_average"]["end"] = os.getloadavg()[0]
    result["seconds"] = time.monotonic() - began_s
    text = page.markdown(result)
    print(text)
    if options.records is None:
        RESULTS.mkdir(exist_ok=True)
        name = "pipelines-quick" if options.quick else "pipelines"
        (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
        (RESULTS / f"{name}.md").write_text(text)
    return 0


def measure(result: Figures, plan: Plan, address: str, broker_pid: int, jars: str, folder: Path) -> None:
    from ottla.pipelines import session

    conf = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "2g",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    if jars:
        conf["spark.jars"] = jars
    spark = session("local[2]", app_name="bench-pipelines", conf=conf, quiet=True)
    try:
        jvm = spark.sparkContext._jvm
        assert jvm is not None
        usage = Usage(broker_pid, jvm.java.lang.ProcessHandle.current().pid())
        result["batch"] = {}
        for query in queries.QUERIES:
            sources = [
                name
                for name, (format, _) in queries.SOURCES.items()
                if queries.fits(query, name) and (jars or format != "kafka")
            ]
            runs: dict[str, list[Figures]] = {name: [] for name in sources}
            for turn in range(plan.repeats + 1):
                for name in sources:
                    figures = queries.measured(spark, query, name, address, TOPIC, plan.records, usage)
                    tell(f"{query}, {name}: {figures['records_per_s']:,.0f} records/s")
                    if turn:
                        runs[name].append(figures)
            result["batch"][query] = runs
        late: dict[str, list[list[float]]] = {}
        for turn in range(plan.repeats + 1):
            for way in latency.WAYS:
                if way == "kafka" and not jars:
                    continue
                found = latency.measured(spark, way, address, folder, plan.warm_s, plan.latency_s)
                tell(f"streaming, {way}: p50 {sorted(found)[len(found) // 2]:,.0f} ms")
                if turn:
                    late.setdefault(way, []).append([round(value, 2) for value in found])
        result["latency"] = late
    finally:
        spark.stop()


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def versions(missing: str) -> str:
    from importlib.metadata import version

    connector = "" if missing else f", Spark's Kafka connector {spark_kafka.version()}"
    return f"Spark {version('pyspark')}{connector}, pyarrow {version('pyarrow')}"


if __name__ == "__main__":
    sys.exit(main())
