"""The systems, with a cleaner that looks often and everything else as it comes."""

from __future__ import annotations

from pathlib import Path

import machine
from kafka_socket import KafkaSocket
from ottla.wire.framing import decode_response
from ottla.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from peers.apache_kafka import ApacheKafka
from systems import Ottla

SETTINGS = {"log.cleaner.backoff.ms": "100", "log.segment.delete.delay.ms": "1000"}
SEGMENT_BYTES = 100 * 1024 * 1024
NEVER_MS = 10 * 365 * 24 * 3_600_000
_TOPIC = 2


class CompactingOttla(Ottla):
    def __init__(self, folder: Path | None, name: str = "ottla") -> None:
        super().__init__(folder, name, SETTINGS)


def compacting_kafka(folder: Path | None) -> ApacheKafka:
    return ApacheKafka(folder, SETTINGS)


def create_table(address: str, name: str) -> None:
    """A compacted topic that is left alone until `compact`."""
    configs = {
        "cleanup.policy": "compact",
        "segment.bytes": str(SEGMENT_BYTES),
        "min.compaction.lag.ms": str(NEVER_MS),
        "message.timestamp.before.max.ms": str(2**63 - 1),
        "message.timestamp.after.max.ms": str(2**63 - 1),
    }
    topic = CreatableTopic(
        name=name,
        num_partitions=1,
        replication_factor=1,
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in configs.items()],
    )
    with KafkaSocket(address) as connection:
        frame = connection.exchange(CreateTopicsRequest(topics=[topic], timeout_ms=60_000), 7)
    _, response = decode_response(19, 7, frame)
    if response.topics[0].error_code:
        raise RuntimeError(f"{name} was not created: {response.topics[0]}")


def compact(address: str, name: str) -> None:
    """Lets the cleaner have it."""
    changes = {"min.compaction.lag.ms": "0", "min.cleanable.dirty.ratio": "0.01"}
    resource = AlterConfigsResource(
        resource_type=_TOPIC,
        resource_name=name,
        configs=[
            AlterableConfig(name=key, config_operation=0, value=value) for key, value in changes.items()
        ],
    )
    with KafkaSocket(address) as connection:
        frame = connection.exchange(IncrementalAlterConfigsRequest(resources=[resource]), 1)
    _, response = decode_response(44, 1, frame)
    if response.responses[0].error_code:
        raise RuntimeError(f"{name} was not changed: {response.responses[0]}")


def cleaned_upto(data: Path, name: str) -> int:
    """How far a topic is compacted, by the checkpoint that both systems write."""
    path = data / "cleaner-offset-checkpoint"
    lines = path.read_text().splitlines() if path.exists() else []
    return next((int(line.split()[2]) for line in lines if line.startswith(f"{name} 0 ")), 0)


def segments(data: Path, name: str) -> dict[int, int]:
    """Base offset -> bytes."""
    found = {}
    for file in (data / f"{name}-0").glob("*.log"):
        found[int(file.name[:20])] = file.stat().st_size
    return found


def children_usage(pid: int) -> tuple[float, float]:
    """Memory and CPU seconds of the processes that a broker has started."""
    memory_mb = cpu_s = 0.0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            if int(fields[1]) == pid:
                child = int(folder.name)
                memory_mb += machine.memory_mb(child)["rss_mb"]
                cpu_s += machine.process_cpu_s(child)
        except (OSError, KeyError, ValueError):
            continue
    return memory_mb, cpu_s
