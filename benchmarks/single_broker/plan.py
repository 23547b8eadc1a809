"""The plan of `make bench`: the systems, the parts, and one table of rows. Nothing else names a system.

Rows are no cross product. Each differs in one thing from a base row: 1 KB records in 1 MB batches, one
partition, acks=1, no compression, librdkafka.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from peers.apache_kafka import ApacheKafka
from peers.kafka_settings import RECOMMENDED
from peers.mock_cluster import MockCluster
from produce import LARGE_BATCH, SMALL_BATCH, Produce
from single_broker.catch_up import CatchUp
from single_broker.connections import BusyConnections, IdleConnections
from single_broker.java_throughput import JavaThroughput
from single_broker.latency import EndToEnd
from single_broker.partitions import Partitions
from single_broker.recovery import Recovery
from single_broker.start import Start
from single_broker.subjects import CeilingSubject, Subject, Tools
from single_broker.throughput import SpreadRead, Throughput
from systems import Ottla

OURS, AGAIN = "ottla", "ottla again"
KAFKA, TUNED, MOCK = "kafka", "kafka recommended", "mock"
PEERS = (KAFKA, TUNED)
"""What a user would pick instead; the mock cluster is a ceiling, and no peer."""
SYSTEMS = (OURS, KAFKA, TUNED, MOCK, AGAIN)

_DELETES_SOON = {"log.segment.delete.delay.ms": "100"}
"""For every node: a topic's files go when a run is over, not a minute later in somebody else's run."""


def subject(name: str, tools: Tools, data: Path | None) -> Subject | CeilingSubject:
    """Raises PeerMissing where the system cannot be had."""
    makers: dict[str, Callable[[dict[str, str]], Any]] = {
        OURS: lambda own: Ottla(data, OURS, _DELETES_SOON | own),
        AGAIN: lambda own: Ottla(data, AGAIN, _DELETES_SOON | own),
        KAFKA: lambda own: ApacheKafka(data, _DELETES_SOON | own, name=KAFKA),
        TUNED: lambda own: ApacheKafka(data, _DELETES_SOON | own, name=TUNED, tuned=RECOMMENDED),
    }
    if name == MOCK:
        return CeilingSubject(MockCluster(tools.load, MOCK), tools)
    return Subject(makers[name], tools)


class Workload(Protocol):
    def measure(self, subject: Any) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Row:
    """One workload, the figures of it that the page shows, and the systems that are asked."""

    key: str
    title: str
    workload: Workload
    shows: tuple[str, ...]
    systems: tuple[str, ...]
    repeats: int = 0
    """0: as often as the plan says."""


_MAIN = (OURS, KAFKA, TUNED)
_WITH_CEILING = (*_MAIN, MOCK)
_BOTH = (OURS, KAFKA)

_COSTS = ("cpu_s_per_gb", "cpu_s_per_1000_requests")
_READ = ("read_mb_per_s", "read_cpu_s_per_gb", "read_cpu_s_per_1000_requests")
_LATENCY = ("p50_ms", "p99_ms", "p999_ms")
_PARTITIONS = (
    *("create_s", "rss_mb", "idle_cpu_percent", "cpu_s_per_1000_requests", "p99_ms", "open_files"),
    *("metadata_again_ms", "restart_clean_ms", "restart_killed_ms", "restart_rss_mb"),
)
_RECOVERY = ("recovered_ms", "first_produce_ms", "answer_ms", "recovery_cpu_s", "rss_mb")


class Plan:
    """What a quick and a full run do."""

    def __init__(self, *, quick: bool) -> None:
        self.quick = quick
        self.name = "single-broker-quick" if quick else "single-broker"
        self.repeats = 1 if quick else 3
        self.warm_up_s = 3.0 if quick else 12.0
        self._seconds = 1.5 if quick else 3.0
        self.ballast_mb = 2600 if quick else 4600
        """About what the fastest run writes."""
        self.parts: dict[str, list[Row]] = {
            "throughput": self._throughput(),
            "java": self._java(),
            "fixed-load": self._fixed_load(),
            "latency": self._latency(),
            "connections": self._connections(),
            "catch-up": self._catch_up(),
            "start": self._start(),
            "partitions": self._partitions(),
            "recovery": self._recovery(),
        }
        self.with_own_processes = {"start", "partitions", "recovery"}
        """Parts before which the processes that are kept for the others are ended."""
        self.profiles = [
            Produce(1000, batch, seconds=self._seconds, offered_mb_per_s=100)
            for batch in (SMALL_BATCH, LARGE_BATCH)
        ]

    def _produce(self, record_bytes: int = 1000, batch_bytes: int = LARGE_BATCH, **more: Any) -> Produce:
        return Produce(record_bytes, batch_bytes, seconds=self._seconds, **more)

    def _throughput(self) -> list[Row]:
        def row(
            key: str, produce: Produce, systems: tuple[str, ...] = _MAIN, *, read_back: bool = True
        ) -> Row:
            shows = ("mb_per_s", *_COSTS, *(_READ if read_back else ()), "rss_mb")
            return Row(key, produce.name, Throughput(produce, read_back), shows, systems)

        make, fast = self._produce, {"unlimited": True}
        if self.quick:
            return [
                row("1 KB", make(**fast), (*_BOTH, MOCK, AGAIN)),
                row("100 B", make(100, **fast), _BOTH),
            ]
        return [
            row("1 KB", make(**fast), (*_WITH_CEILING, AGAIN)),
            row("100 B", make(100, **fast), (*_WITH_CEILING, AGAIN)),
            row("1 KB, 16 KB batches", make(1000, SMALL_BATCH, **fast), _WITH_CEILING),
            row("100 B, 16 KB batches", make(100, SMALL_BATCH, **fast), _WITH_CEILING),
            row("1 KB, 12 partitions", make(partitions=12, **fast), _MAIN),
            row("1 KB, acks=all", make(acks="all", **fast), _BOTH),
            row("1 KB, lz4", make(compression="lz4", **fast), _BOTH),
            row("1 KB, zstd", make(compression="zstd", **fast), _BOTH),
            *(
                Row(
                    f"read of 64 partitions, {words}",
                    f"200 MB of {words} records in 64 partitions, read back",
                    SpreadRead(record_bytes),
                    _READ,
                    (*_BOTH, MOCK),
                )
                for words, record_bytes in (("1 KB", 1000), ("100 B", 100))
            ),
        ]

    def _java(self) -> list[Row]:
        scale = 1 if self.quick else 2
        shows = ("mb_per_s", "p50_ms", "p99_ms", *_COSTS, *_READ)
        cases = [("1 KB", 1000, 250_000), ("100 B", 100, 1_000_000)]
        rows = [
            Row(
                f"java {words}",
                f"Java's tools with their defaults, {words} records, 1 partition",
                JavaThroughput(size, count * scale),
                shows,
                _BOTH if self.quick else _MAIN,
            )
            for words, size, count in cases
        ]
        if not self.quick:
            title = "Java's tools, acks=1, lz4, 1 KB records, 12 partitions"
            lz4 = JavaThroughput(1000, 500_000, 12, ("acks=1", "compression.type=lz4"))
            rows.append(Row("java lz4", title, lz4, shows, _BOTH))
        return rows[:1] if self.quick else rows

    def _fixed_load(self) -> list[Row]:
        cases = [
            ("1 KB at 50 MB/s", 1000, LARGE_BATCH, 50.0),
            ("1 KB at 50 MB/s, 16 KB batches", 1000, SMALL_BATCH, 50.0),
            ("100 B at 20 MB/s", 100, LARGE_BATCH, 20.0),
            ("100 B at 20 MB/s, 16 KB batches", 100, SMALL_BATCH, 20.0),
        ]
        systems = (*_BOTH, MOCK) if self.quick else (*_WITH_CEILING, AGAIN)
        rows = []
        for key, record, batch, offered in cases[:1] if self.quick else cases:
            produce = self._produce(record, batch, offered_mb_per_s=offered)
            shows = (*_COSTS, *_LATENCY, *_READ[1:], "rss_mb")
            title = f"{produce.name}, {offered:.0f} MB/s offered"
            rows.append(Row(key, title, Throughput(produce), shows, systems))
        return rows

    def _latency(self) -> list[Row]:
        rates = (1_000,) if self.quick else (1_000, 20_000)
        # No ceiling here: the mock cluster does not wake a waiting fetch, it answers when the wait is over.
        systems = _BOTH if self.quick else (*_MAIN, AGAIN)
        return [
            Row(
                f"latency at {rate}",
                f"end to end at {rate:,} records/s, 100 B, acks=1, no linger",
                EndToEnd(rate, 3.0 if self.quick else 5.0),
                (*_LATENCY, *_COSTS),
                systems,
                # A tenth of a millisecond is little beside the machine's moods: more turns than elsewhere.
                5 if rate == 1_000 and not self.quick else 0,
            )
            for rate in rates
        ]

    def _connections(self) -> list[Row]:
        counts = (100,) if self.quick else (1, 10, 100, 1000)
        rows = [
            Row(
                f"{count} connections",
                f"2,000 requests/s of 16 KB to 12 partitions over {count:,} connection{'s' * (count > 1)}",
                BusyConnections(count, 2000, self._seconds),
                (*_COSTS, *_LATENCY, "rss_mb"),
                _BOTH,
            )
            for count in counts
        ]
        if self.quick:
            return rows
        idle = (1, 10, 100, 1000)
        shows = (*(f"rss_mb_at_{count}" for count in idle), "kb_per_connection", "idle_cpu_percent")
        title = "connections at rest, fresh process"
        return [*rows, Row("idle connections", title, IdleConnections(idle), shows, _BOTH)]

    def _catch_up(self) -> list[Row]:
        megabytes = 1000
        if self.quick:
            return []
        return [
            Row(
                "catch-up",
                f"{megabytes} MB not in memory read from the start, a producer at 20 MB/s beside it",
                CatchUp(megabytes, 20.0),
                ("read_mb_per_s", *_LATENCY, *_COSTS),
                _BOTH,
            )
        ]

    def _start(self) -> list[Row]:
        shows = ("start_ms", "start_cpu_s", "idle_rss_mb", "idle_cpu_percent")
        systems = _BOTH if self.quick else (*_MAIN, AGAIN)
        return [
            Row(
                "start",
                "empty data directory",
                Start(2.0 if self.quick else 6.0),
                shows,
                systems,
                self.repeats,
            )
        ]

    def _partitions(self) -> list[Row]:
        counts = (1_000,) if self.quick else (1, 100, 1_000, 10_000)
        return [
            Row(
                f"{count} partitions",
                f"{count:,} partition{'s' * (count > 1)}",
                Partitions(count, 2.0 if self.quick else 5.0),
                _PARTITIONS,
                _BOTH,
            )
            for count in counts
        ]

    def _recovery(self) -> list[Row]:
        megabytes = 240 if self.quick else 960
        crashed: dict[str, Any] = {}
        rows = []
        for cold in (False,) if self.quick else (False, True):
            state = "cold" if cold else "warm"
            title = f"12 unrolled segments, {megabytes} MB in all, {state} page cache"
            rows.append(Row(f"recovery {state}", title, Recovery(megabytes, cold, crashed), _RECOVERY, _BOTH))
        return rows
