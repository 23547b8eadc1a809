"""The product's main job: start a broker, publish a year of real events, read them back, compare, share them
among the members of a group, copy them as tables, pick the late ones out in transactions, and run a pipeline
on Spark over them: delays by airport and day, into a topic and a Parquet table.

The events are the 336,776 flights that left New York's airports in 2013 (`events.py`), keyed by carrier and
stamped with their hour of departure. Everything happens in a temporary directory and on a free port, and is
gone afterwards.
"""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pipeline
from confluent_kafka.admin import AdminClient, NewTopic
from events import KEPT, PARTITIONS, TOPIC, flights, reported

from clients import (
    COPY_TOPIC,
    GROUP,
    LATE_TOPIC,
    copy_as_tables,
    is_late,
    pick_late_ones,
    publish,
    read_as_group,
    read_back,
)


def start_broker(data: Path) -> tuple[subprocess.Popen[str], str, float]:
    began = time.monotonic()
    broker = subprocess.Popen(
        [
            *(sys.executable, "-m", "ottla.cli.main", "start", "--data", str(data), "--port", "0"),
            # Nobody else will join: the first members need not wait for more of them.
            *("--set", "group.initial.rebalance.delay.ms=300"),
        ],
        stdout=subprocess.PIPE,
        text=True,
        env={"OTTLA_LOG_LEVEL": "ERROR", **os.environ},
    )
    assert broker.stdout is not None
    for line in broker.stdout:
        found = re.search(r"PLAINTEXT://([\w.\[\]:-]+:\d+)", line)
        if found and "ready" in line:
            return broker, found[1], time.monotonic() - began
    sys.exit("demo: the broker did not start; its messages are above")


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="ottla-demo-") as data:
        broker, bootstrap, ready_s = start_broker(Path(data))
        try:
            print(f"broker    pid {broker.pid} ready at {bootstrap} in {ready_s:.2f} s")
            admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
            admin.create_topics([NewTopic(TOPIC, PARTITIONS, config=KEPT)])[TOPIC].result(10)
            print(f"topic     {TOPIC}, {PARTITIONS} partitions")
            sent, size_bytes, published, seconds = publish(bootstrap)
            print(
                f"published {sent:,} flights, {size_bytes / 1e6:.1f} MB in {seconds:.2f} s: "
                f"{sent / seconds:,.0f} events/s, {size_bytes / seconds / 1e6:.1f} MB/s "
                "(idempotent, acks=all)"
            )
            count, read, seconds = read_back(bootstrap, sent)
            print(
                f"read back {count:,} flights in {seconds:.2f} s: "
                f"{count / seconds:,.0f} events/s, {size_bytes / seconds / 1e6:.1f} MB/s"
            )
            same = count == sent and read == published
            print(f"compared  {'every key, value and timestamp is the same' if same else 'THEY DIFFER'}")
            counts, seconds = read_as_group(bootstrap, sent)
            print(
                f"group     {GROUP}: two members read {' and '.join(f'{each:,}' for each in counts)} flights "
                f"in {seconds:.2f} s, and committed them all"
            )
            admin.create_topics([NewTopic(COPY_TOPIC, PARTITIONS, config=KEPT)])[COPY_TOPIC].result(10)
            copied, read_s, published_s = copy_as_tables(bootstrap, sent)
            print(
                f"copied    {sent:,} flights as tables with Ottla's own client: read {sent / read_s:,.0f} "
                f"events/s, published {sent / published_s:,.0f} events/s, "
                f"{'every row is the same' if copied else 'THEY DIFFER'}"
            )
            admin.create_topics([NewTopic(LATE_TOPIC, 1)])[LATE_TOPIC].result(10)
            committed, aborted, seen, seconds = pick_late_ones(bootstrap, sent)
            late = sum(is_late(value) for _, value, _ in flights())
            once = seen == late
            print(
                f"picked    {late:,} flights that left more than an hour late, in {committed} transactions "
                f"({aborted} more aborted) and {seconds:.2f} s: a reader sees "
                f"{'each exactly once' if once else f'{seen:,} OF THEM'}"
            )
            pipeline = run_pipeline(bootstrap, Path(data), sent)
            memory_mb = resident_mb(broker.pid)
            broker.send_signal(signal.SIGTERM)
            broker.wait(20)
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu_s = used.ru_utime + used.ru_stime
            print(f"broker    {memory_mb:.0f} MB resident, {cpu_s:.2f} s of CPU in all, stopped cleanly")
            return 0 if same and copied and once and pipeline and broker.returncode == 0 else 1
        finally:
            if broker.poll() is None:
                broker.kill()
                broker.wait()


def run_pipeline(bootstrap: str, folder: Path, sent: int) -> bool:
    print("pipeline  Spark starts ...", flush=True)
    found = pipeline.run(bootstrap, folder, reported())
    print(
        f"pipeline  {sent:,} flights by airport and day, joined with {found.airports:,} airports, "
        f"exactly once: {found.micro_batches} micro-batches in {found.pipeline_s:.1f} s, "
        f"{sent / found.pipeline_s:,.0f} events/s (Spark was ready in {found.session_s:.1f} s)"
    )
    print(f"late      a week late is counted; {found.left_out} flights reported 100 days late are not")
    print(
        f"loaded    {found.updates:,} results from topic {pipeline.DELAYS_TOPIC} into a Parquet table "
        f"in {found.load_s:.1f} s"
    )
    same = "all are the same" if found.same else "THEY DIFFER"
    print(f"checked   {found.results:,} airports and days against plain Python: {same}\n")
    print(f"  {'airport':<24} {'day':<10} {'flights':>7} {'mean delay':>12}")
    for airport, day, flights_, delay in found.worst:
        print(f"  {airport:<24} {day:<10} {flights_:>7} {delay:>8.0f} min")
    print()
    return found.same


def resident_mb(pid: int) -> float:
    fields = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    sys.exit(main())
