"""How long it takes after kill -9 until every partition is led again and takes a record.

Twelve partitions with one unrolled segment each, the same batches in all of them and in all systems. Between
the kill and the start both are put into the same state: the recovery point of every partition is 0, so that
all of it has to be checked, and the files are either read into the page cache or taken out of it.
"""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import machine
import page_cache
from kafka_socket import KafkaSocket, create_topics, end_offsets
from ottla.wire.framing import decode_response
from single_broker import requests
from single_broker.subjects import (
    SHORT_SESSION,
    START_S,
    Node,
    Subject,
    wait_until_back,
    wait_until_served,
)
from systems import RunningNode, wait_for_answer

PARTITIONS = 12
TOPIC = "recovered"
RECORDS_PER_BATCH = 16
WRITES_PER_S = 4000.0
CHECKPOINT = "recovery-point-offset-checkpoint"
Figures = dict[str, Any]


@dataclass(slots=True)
class Crashed:
    """A data directory whose broker was killed, and how much is in it."""

    node: Node
    folder: Path
    records_each: int


@dataclass(slots=True)
class Recovery:
    """`crashed` is shared by the rows: the data is written once for each system."""

    megabytes: int
    cold: bool
    crashed: dict[str, Crashed] = field(default_factory=dict)

    def measure(self, subject: Subject) -> Figures:
        if subject.name not in self.crashed:
            self.crashed[subject.name] = self._crash(subject)
        crashed = self.crashed[subject.name]
        files = list((crashed.folder / "data").glob(f"{TOPIC}-*/*"))
        forget_checkpoint(crashed.folder / "data")
        logs = [path for path in files if path.suffix == ".log"]
        if len(logs) != PARTITIONS:
            raise RuntimeError(f"{len(logs)} segments in {PARTITIONS} partitions")
        figures: Figures = {"mb": sum(path.stat().st_size for path in logs) / 1e6}
        if self.cold:
            figures["cold_share"] = page_cache.evict(files)
        else:
            page_cache.load(files)
        began = time.perf_counter()
        running = crashed.node.launch(crashed.folder)
        try:
            wait_for_answer(running.address, START_S)
            figures["answer_ms"] = (time.perf_counter() - began) * 1000
            offsets = wait_until_back(running, [TOPIC], PARTITIONS)
            figures["recovered_ms"] = (time.perf_counter() - began) * 1000
            figures["recovery_cpu_s"] = machine.process_cpu_s(running.pid)
            if set(offsets) != {crashed.records_each}:
                raise RuntimeError(f"{crashed.records_each} records before the kill, {offsets} after it")
            self._write_to_all(running)
            crashed.records_each += 1
            figures["first_produce_ms"] = (time.perf_counter() - began) * 1000
            figures |= machine.memory_mb(running.pid)
            return figures
        finally:
            running.kill()

    def _crash(self, subject: Subject) -> Crashed:
        node = subject.with_settings(SHORT_SESSION)
        folder = node.new_folder()
        running = node.launch(folder)
        try:
            wait_for_answer(running.address, START_S)
            with KafkaSocket(running.address) as connection:
                create_topics(connection, [TOPIC], PARTITIONS)
                wait_until_served(connection, [TOPIC], PARTITIONS)
            requests_each = self.megabytes * 1000 // RECORDS_PER_BATCH // PARTITIONS
            requests.send(
                subject.tools.connections,
                running.address,
                running.pid,
                [(TOPIC, at) for at in range(PARTITIONS)],
                records=RECORDS_PER_BATCH,
                connections=PARTITIONS,
                per_s=WRITES_PER_S,
                seconds=requests_each * PARTITIONS / WRITES_PER_S,
            )
            with KafkaSocket(running.address) as connection:
                offsets = end_offsets(connection, [TOPIC], PARTITIONS)
            if len(set(offsets)) != 1:
                raise RuntimeError(f"partitions are not equally long: {offsets}")
        except BaseException:
            running.kill()
            shutil.rmtree(folder, ignore_errors=True)
            raise
        running.kill()
        return Crashed(node, folder, offsets[0])

    def _write_to_all(self, running: RunningNode) -> None:
        batch = requests.batch_of(1)
        for partition in range(PARTITIONS):
            write(running, partition, batch)

    def close(self) -> None:
        for crashed in self.crashed.values():
            shutil.rmtree(crashed.folder, ignore_errors=True)
        self.crashed.clear()


def write(running: RunningNode, partition: int, batch: bytes) -> None:
    request = requests.produce_request(TOPIC, partition, batch)
    with KafkaSocket(running.address) as connection:
        frame = connection.exchange(request, requests.VERSION)
    _, response = decode_response(request.API_KEY, requests.VERSION, frame)
    error = response.responses[0].partition_responses[0].error_code
    if error:
        raise RuntimeError(f"partition {partition} did not take a record: error {error}")


def forget_checkpoint(data: Path) -> None:
    """Nothing of the topic is known to be on disk: its recovery points are 0."""
    path = data / CHECKPOINT
    lines = path.read_text().splitlines() if path.exists() else []
    # Kafka's file is empty until its first writing.
    kept = [line for line in lines[2:] if not line.startswith(f"{TOPIC} ")]
    kept += [f"{TOPIC} {partition} 0" for partition in range(PARTITIONS)]
    path.write_text("\n".join(["0", str(len(kept)), *kept]) + "\n")
