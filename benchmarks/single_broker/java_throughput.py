"""Kafka's own tools as load: ProducerPerformance and ConsumerPerformance with their defaults, a JVM for each
run.

The figures are the tools' own. The producer's leave out its warm-up records (the tool does that); the
consumer's are those of its fetching, without joining its group. The broker's CPU is taken over the whole life
of the tool.
"""

from __future__ import annotations

import re
import resource
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import machine
from children import die_with_the_run
from produce import costs
from single_broker.subjects import Place, Subject

TOOL_S_MAX = 240
WARM_UP_SHARE = 0.4
_PACKAGE = "org.apache.kafka.tools"
_PRODUCED = re.compile(
    r"^(\d+) records sent, ([\d.]+) records/sec \(([\d.]+) MB/sec\), ([\d.]+) ms avg latency, "
    r"([\d.]+) ms max latency, (\d+) ms 50th, (\d+) ms 95th, (\d+) ms 99th, (\d+) ms 99.9th",
    re.MULTILINE,
)
MIB = 1 << 20

Figures = dict[str, Any]


class JavaMissing(Exception):
    """The tools cannot be had; the message says why."""


@dataclass(frozen=True, slots=True)
class JavaThroughput:
    record_bytes: int
    records: int
    partitions: int = 1
    producer: tuple[str, ...] = ()
    """Properties on top of the producer's defaults."""

    def measure(self, subject: Subject) -> Figures:
        if not subject.tools.java:
            raise JavaMissing("the Java load needs java and Kafka's jars")
        with subject.topic(self.partitions, self.records * self.record_bytes / 1e6) as place:
            figures = self._produce(place, subject.tools.java)
            found = self._consume(place, subject.tools.java)
            return figures | {f"read_{key}": value for key, value in found.items()}

    def _produce(self, place: Place, java: list[str]) -> Figures:
        properties = [f"bootstrap.servers={place.address}", *self.producer]
        used, said = _run(
            place.pid,
            [
                *(*java, f"{_PACKAGE}.ProducerPerformance", "--topic", place.topic, "--print-metrics"),
                *("--num-records", str(self.records), "--record-size", str(self.record_bytes)),
                *("--warmup-records", str(int(self.records * WARM_UP_SHARE)), "--throughput", "-1"),
                *("--command-property", *properties),
            ],
        )
        lines = _PRODUCED.findall(said)
        if not lines:
            raise RuntimeError(f"ProducerPerformance said: {said[-600:]}")
        # The last line is about what came after the warm-up.
        _, per_s, mib_per_s, _, _, p50, _, p99, p999 = lines[-1]
        mb = self.records * self.record_bytes / 1e6
        requests = int(_metric(said, "producer-metrics:request-total"))
        return {
            "mb_per_s": float(mib_per_s) * MIB / 1e6,
            "records_per_s": float(per_s),
            "p50_ms": float(p50),
            "p99_ms": float(p99),
            "p999_ms": float(p999),
            "batch_bytes": _metric(said, "producer-metrics:batch-size-avg"),
            "requests": requests,
            **costs(used, mb, requests),
            **machine.memory_mb(place.pid),
        }

    def _consume(self, place: Place, java: list[str]) -> Figures:
        used, said = _run(
            place.pid,
            [
                *(*java, f"{_PACKAGE}.ConsumerPerformance", "--bootstrap-server", place.address),
                *("--topic", place.topic, "--num-records", str(self.records), "--timeout", "30000"),
                "--print-metrics",
            ],
        )
        row = next(
            (line.split(", ") for line in said.splitlines() if re.match(r"\d{4}-\d\d-\d\d ", line)), None
        )
        if row is None or int(row[4]) < self.records:
            raise RuntimeError(f"ConsumerPerformance said: {said[-600:]}")
        mb = self.records * self.record_bytes / 1e6
        requests = int(_metric(said, "consumer-fetch-manager-metrics:fetch-total"))
        return {
            "mb_per_s": float(row[8]) * MIB / 1e6,
            "join_s": float(row[6]) / 1000,
            "requests": requests,
            **costs(used, mb, requests),
        }


def java_command(jars: Path) -> list[str]:
    """With the heap that Kafka's scripts give to these tools."""
    return ["java", "-Xmx512M", "-cp", f"{jars}/*"]


def _run(pid: int, command: list[str]) -> tuple[Figures, str]:
    usage, before = machine.Usage.begin(pid), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=TOOL_S_MAX,
        check=False,
        preexec_fn=die_with_the_run,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    own_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode:
        raise RuntimeError(f"{command[4]} failed: {(done.stdout + done.stderr)[-600:]}")
    return usage.end(own_s), done.stdout


def _metric(said: str, name: str) -> float:
    """The tools print `group:name:{tags} : value`; the sum over what has no topic among its tags."""
    found = re.findall(rf"^{re.escape(name)}\s*:\{{client-id=[^,}}]*\}}\s*:\s*([\d.]+)", said, re.MULTILINE)
    return sum(map(float, found))
