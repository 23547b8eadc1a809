"""The demo's pipeline on Spark: delays per airport and day (`delays.py`), exactly once into a topic, and from
there into a Parquet table; compared with the same numbers computed in plain Python.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from delays import builder
from events import KEPT, TOO_LATE_MS, Flight, airports

import ottla
from ottla import pipelines, streams

AIRPORTS_TOPIC = "airports"
DELAYS_TOPIC = "delays"
RECORDS_PER_BATCH = 30_000
"""About a month of flights: a dozen micro-batches, and a flight that is too late finds its day closed."""
DELAYS_SCHEMA = "airport string, dest string, day string, flights bigint, delay double"
FLIGHTS_MIN = 20

Delays = dict[tuple[str, str], tuple[int, float]]
"""(airport's code, day) -> (flights, their mean delay)."""


class Outcome(NamedTuple):
    airports: int
    session_s: float
    micro_batches: int
    pipeline_s: float
    left_out: int
    updates: int
    load_s: float
    results: int
    same: bool
    worst: list[tuple[str, str, int, float]]


def run(bootstrap: str, folder: Path, flights: Iterable[Flight]) -> Outcome:
    table = [*airports()]
    with ottla.Admin(bootstrap) as admin, ottla.Producer(bootstrap) as producer:
        admin.create_topics(
            [
                ottla.NewTopic(AIRPORTS_TOPIC, 1, configs={"cleanup.policy": "compact"}),
                ottla.NewTopic(DELAYS_TOPIC, 2, configs=KEPT),
            ]
        ).all()
        for code, description in table:
            producer.send(AIRPORTS_TOPIC, description, code)

    began = time.monotonic()
    spark = pipelines.session("local[2]", app_name="delays", conf=QUIET, quiet=True)
    session_s = time.monotonic() - began
    try:
        began = time.monotonic()
        application = streams.run(
            builder,
            application_id="delays",
            bootstrap_servers=bootstrap,
            checkpoint=folder / "checkpoint",
            processing_guarantee="exactly_once_v2",
            trigger={"availableNow": True},
            options={"maxOffsetsPerTrigger": RECORDS_PER_BATCH},
            spark=spark,
        )
        application.await_termination()
        pipeline_s = time.monotonic() - began
        (query,) = application.queries
        progress = query.recentProgress

        began = time.monotonic()
        loaded = pipelines.load(
            DELAYS_TOPIC,
            folder / "delays",
            bootstrap_servers=bootstrap,
            values="json",
            schema=DELAYS_SCHEMA,
            spark=spark,
        )
        load_s = time.monotonic() - began

        rows = pipelines.read_load(spark, folder / "delays").orderBy("partition", "offset")
        newest = {(row.dest, row.day): row for row in rows.select("value.*").collect()}
        found: Delays = {place: (row.flights, row.delay) for place, row in newest.items()}
        expected, left_out = computed_in_python(flights)
        worst = sorted(
            ((row.airport or row.dest, row.day, row.flights, row.delay) for row in newest.values()),
            key=lambda row: -row[3] if row[2] >= FLIGHTS_MIN else 0,
        )
        return Outcome(
            airports=len(table),
            session_s=session_s,
            micro_batches=sum(1 for each in progress if each["numInputRows"]),
            pipeline_s=pipeline_s,
            left_out=left_out,
            updates=loaded.records,
            load_s=load_s,
            results=len(found),
            same=found == expected,
            worst=worst[:5],
        )
    finally:
        spark.stop()


QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
}


def computed_in_python(flights: Iterable[Flight]) -> tuple[Delays, int]:
    """What the pipeline has to find, and how many flights came too late for it."""
    delays: dict[tuple[str, str], list[int]] = defaultdict(list)
    left_out = 0
    for flight in flights:
        event = json.loads(flight.event)
        if event["dep_delay"] is None:
            continue
        if flight.reported_ms - flight.at_ms == TOO_LATE_MS:
            left_out += 1
            continue
        day = datetime.fromtimestamp(flight.at_ms / 1000, UTC).date().isoformat()
        delays[event["dest"], day].append(event["dep_delay"])
    return {place: (len(each), sum(each) / len(each)) for place, each in delays.items()}, left_out
