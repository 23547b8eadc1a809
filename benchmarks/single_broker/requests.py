"""Produce requests made beforehand, and the C program (connections.c) that sends them over many
connections.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import c_program
import machine
from children import die_with_the_run
from ottla.wire.framing import encode_request
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.wire.record_batch import Record, encode_batch
from produce import costs

SOURCE = Path(__file__).resolve().parent.parent / "connections.c"
VERSION = 8
"""The last one without compact lengths: where the error code lies is plain."""
RECORD_BYTES = 1000

Figures = dict[str, Any]


def build(folder: Path) -> Path:
    return c_program.build(SOURCE, folder, with_librdkafka=False)


def batch_of(records: int) -> bytes:
    now_ms = int(time.time() * 1000)
    return bytes(encode_batch([Record(0, now_ms, None, bytes(RECORD_BYTES)) for _ in range(records)]))


def produce_request(topic: str, partition: int, batch: bytes) -> ProduceRequest:
    data = PartitionProduceData(index=partition, records=batch)
    topics = [TopicProduceData(name=topic, partition_data=[data])]
    return ProduceRequest(transactional_id=None, acks=1, timeout_ms=30_000, topic_data=topics)


def send(
    program: Path,
    address: str,
    pid: int,
    targets: Sequence[tuple[str, int]],
    *,
    records: int,
    connections: int,
    per_s: float,
    seconds: float,
) -> Figures:
    """Requests of so many records each to the targets in turn; topics' names have to be of one length."""
    batch = batch_of(records)
    host, port = address.rsplit(":", 1)
    with tempfile.NamedTemporaryFile() as frames:
        for topic, partition in targets:
            frames.write(
                b"".join(encode_request(produce_request(topic, partition, batch), VERSION, 0, "bench"))
            )
        frames.flush()
        # Correlation id, topics, a name with its length, partitions, index: then the error code.
        error_at = 4 + 4 + 2 + len(targets[0][0]) + 4 + 4
        command = [program, host, port, frames.name, connections, per_s, seconds, error_at]
        usage = machine.Usage.begin(pid)
        done = subprocess.run(
            [str(word) for word in command],
            capture_output=True,
            text=True,
            timeout=seconds + 60,
            check=False,
            preexec_fn=die_with_the_run,
        )
    if done.returncode:
        raise RuntimeError(f"connections failed: {done.stdout.strip()} {done.stderr.strip()[-300:]}")
    said = json.loads(done.stdout)
    mb = said["sent"] * records * RECORD_BYTES / 1e6
    return {
        **{key: said[key] for key in ("p50_ms", "p99_ms", "p999_ms", "held_back")},
        "requests": said["sent"],
        "mb": mb,
        "mb_per_s": mb / said["seconds"],
        **costs(usage.end(said["client_cpu_s"]), mb, said["sent"]),
    }
