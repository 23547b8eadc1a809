"""The figures of a page: what each is called, and whether more of it is better."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    words: str
    more_is_better: bool = False


FIGURES = {
    "mb_per_s": Figure("MB/s", more_is_better=True),
    "read_mb_per_s": Figure("read, MB/s", more_is_better=True),
    "cpu_s_per_gb": Figure("broker CPU-s per GB"),
    "read_cpu_s_per_gb": Figure("read, broker CPU-s per GB"),
    "cpu_s_per_1000_requests": Figure("broker CPU-s per 1,000 requests"),
    "read_cpu_s_per_1000_requests": Figure("read, broker CPU-s per 1,000 requests"),
    "p50_ms": Figure("p50, ms"),
    "p99_ms": Figure("p99, ms"),
    "p999_ms": Figure("p99.9, ms"),
    "rss_mb": Figure("resident memory, MB"),
    "start_ms": Figure("start to the first answer, ms"),
    "start_cpu_s": Figure("CPU-s of the start"),
    "idle_rss_mb": Figure("resident memory at rest, MB"),
    "idle_cpu_percent": Figure("CPU at rest, % of a core"),
    "kb_per_connection": Figure("resident memory per connection, KB"),
    "create_s": Figure("creating them, s"),
    "open_files": Figure("open files"),
    "metadata_again_ms": Figure("Metadata of all, ms"),
    "stop_ms": Figure("clean stop, ms"),
    "restart_clean_ms": Figure("start after a clean stop until all are led, ms"),
    "restart_killed_ms": Figure("start after kill -9 until all are led, ms"),
    "restart_rss_mb": Figure("resident memory after that start, MB"),
    "answer_ms": Figure("first answer, ms"),
    "recovered_ms": Figure("all partitions led, offsets told, ms"),
    "first_produce_ms": Figure("all partitions took a record, ms"),
    "recovery_cpu_s": Figure("broker CPU-s until then"),
    **{
        f"rss_mb_at_{count}": Figure(f"resident memory with {count:,} connections, MB")
        for count in (1, 10, 100, 1000)
    },
}
