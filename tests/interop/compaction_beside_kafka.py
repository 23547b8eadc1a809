"""The same log cleaned by Apache Kafka and by us: batch by batch the same is left, run after run.

A Kafka broker fills a compacted topic (every codec, plain, idempotent and transactional producers, commits
and aborts, tombstones); its files are copied before its cleaner runs, and cleaned by ours as far as Kafka's
went.
"""

from __future__ import annotations

import random
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic

from ottla.log.cleaner.cleaner import clean
from ottla.log.cleaning_job import CleaningJob, CleaningResult, SegmentToClean
from ottla.log.txn_index import AbortedTxn, TxnIndex
from ottla.net.disk import OsDisk
from ottla.wire.record_batch import BatchHeader, Record, decode_batch, iter_headers
from support.java_client import JVM_OPTIONS, class_path
from support.tools import tool

pytestmark = [pytest.mark.interop, pytest.mark.timeout(900)]

TOPIC = "compacted"
SEGMENT_BYTES = 1 << 20  # the least that Kafka 4 allows
DEADLINE_S = 120
SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "log.cleaner.backoff.ms": "200",
}


def wait_until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen within {DEADLINE_S} s"
        time.sleep(0.1)


@dataclass
class Kafka:
    address: str
    data: Path

    @property
    def partition(self) -> Path:
        return self.data / f"{TOPIC}-0"

    def cleaned_up_to(self) -> int:
        checkpoint = self.data / "cleaner-offset-checkpoint"
        found = re.search(rf"^{TOPIC} 0 (\d+)$", checkpoint.read_text() if checkpoint.exists() else "", re.M)
        return int(found[1]) if found else 0

    def may_clean(self, allowed: bool) -> None:
        ratio = ConfigEntry(
            "min.cleanable.dirty.ratio",
            "0.0001" if allowed else "1.0",
            incremental_operation=AlterConfigOpType.SET,
        )
        resource = ConfigResource(ConfigResource.Type.TOPIC, TOPIC, incremental_configs=[ratio])
        admin = AdminClient({"bootstrap.servers": self.address})
        admin.incremental_alter_configs([resource])[resource].result()


@pytest.fixture
def kafka(tmp_path: Path) -> Iterator[Kafka]:
    probes = [socket.create_server(("localhost", 0)) for _ in range(2)]
    port, controller_port = (probe.getsockname()[1] for probe in probes)
    for probe in probes:
        probe.close()
    data = tmp_path / "data"
    own = {
        "listeners": f"PLAINTEXT://localhost:{port},CONTROLLER://localhost:{controller_port}",
        "controller.quorum.voters": f"1@localhost:{controller_port}",
        "log.dirs": str(data),
    }
    properties = tmp_path / "server.properties"
    properties.write_text("".join(f"{key}={value}\n" for key, value in (SETTINGS | own).items()))
    java = [tool("java"), *JVM_OPTIONS, "-cp", class_path()]
    subprocess.run(
        [*java, "kafka.tools.StorageTool", "format", "-t", "b3R0bGEtYmVuY2htYXJrcw", "-c", str(properties)],
        check=True,
        capture_output=True,
    )
    with (tmp_path / "kafka.out").open("wb") as output:
        process = subprocess.Popen(
            [*java, "kafka.Kafka", str(properties)], stdout=output, stderr=subprocess.STDOUT
        )
    try:
        running = Kafka(f"localhost:{port}", data)
        admin = AdminClient({"bootstrap.servers": running.address, "log_level": 0})
        config = {
            "cleanup.policy": "compact",
            "segment.bytes": str(SEGMENT_BYTES),
            "min.cleanable.dirty.ratio": "1.0",  # that is: not now
            "delete.retention.ms": "1",
        }

        def created() -> bool:
            try:
                admin.create_topics([NewTopic(TOPIC, 1, 1, config=config)], request_timeout=5)[TOPIC].result()
            except KafkaException:
                return False
            return True

        wait_until(created, "the start of Kafka")
        yield running
    finally:
        process.kill()
        process.wait()


def produce(kafka: Kafka, chance: random.Random, producers: int) -> None:
    for _ in range(producers):
        kind = chance.choice(["plain", "idempotent", "commit", "abort"])
        config: dict[str, str | bool | int] = {
            "bootstrap.servers": kafka.address,
            "compression.type": chance.choice(["none", "gzip", "snappy", "lz4", "zstd"]),
            "enable.idempotence": kind != "plain",
            "log_level": 0,
        }
        transactional = kind in ("commit", "abort")
        if transactional:
            config["transactional.id"] = f"transactional {chance.randrange(4)}"
        producer = Producer(config)
        if transactional:
            producer.init_transactions(DEADLINE_S)
            producer.begin_transaction()
        for _ in range(chance.randrange(5, 120)):
            producer.produce(
                TOPIC,
                key=b"key %d" % chance.randrange(300),
                value=None if chance.random() < 0.1 else chance.randbytes(chance.randrange(900)),
                timestamp=1_700_000_000_000 + chance.randrange(10_000),
                headers=[("name", b"value")] if chance.random() < 0.2 else None,
            )
            if chance.random() < 0.05:
                producer.flush()
        producer.flush()
        if kind == "commit":
            producer.commit_transaction(DEADLINE_S)
        elif kind == "abort":
            producer.abort_transaction(DEADLINE_S)


# --- the files


def bases(folder: Path) -> list[int]:
    return sorted(int(path.stem) for path in folder.glob("*.log"))


def batches_in(path: Path) -> list[tuple[BatchHeader, list[Record]]]:
    data = path.read_bytes()
    return [
        (header, decode_batch(data, at, decompressed_bytes_max=1 << 26))
        for at, header in iter_headers(data, 0, len(data))
    ]


def what_matters(batch: tuple[BatchHeader, list[Record]]) -> tuple[object, ...]:
    """All but what may differ: the bytes of a codec, and which timestamp the others count from."""
    header, records = batch
    same = header._replace(batch_length=0, crc=0, base_timestamp=0)
    return same, tuple(records)


def aborted_in(path: Path) -> list[AbortedTxn]:
    index = TxnIndex(OsDisk(), str(path.parent), int(path.name.split(".")[0]), fresh=False)
    index.load()
    return index.all()


def clean_with_ours(folder: Path, first_dirty: int, end: int, now_ms: int) -> CleaningResult:
    starts = bases(folder)
    segments = []
    later: list[AbortedTxn] = []
    live: dict[int, tuple[int, int]] = {}
    for base, next_base in zip(starts, [*starts[1:], 2**62], strict=True):
        txn_index = folder / f"{base:020}.txnindex"
        has_txn_index = txn_index.exists() and txn_index.stat().st_size > 0
        log = folder / f"{base:020}.log"
        if base < end:
            segments.append(SegmentToClean(base, next_base, log.stat().st_size, has_txn_index))
        elif has_txn_index:
            later += [txn for txn in aborted_in(txn_index) if txn.first_offset < end]
        for header, _ in batches_in(log):
            if header.producer_id >= 0 and not header.is_control:
                live[header.producer_id] = (header.last_offset, header.producer_epoch)
    job = CleaningJob(
        topic=TOPIC,
        partition=0,
        dir_path=str(folder),
        segments=tuple(segments),
        log_start_offset=0,
        first_dirty_offset=first_dirty,
        first_uncleanable_offset=end,
        last_offsets_of_producers=live,
        now_ms=now_ms,
        delete_retention_ms=1,
        segment_bytes_max=SEGMENT_BYTES,
        index_bytes_max=10 << 20,
        index_interval_bytes=4096,
        message_bytes_max=1 << 20,
        map_bytes=1 << 20,
        map_load_factor=0.9,
        io_buffer_bytes=512 << 10,
        io_bytes_per_s_max=float("inf"),
        later_aborted=tuple(later),
    )
    return clean(job, OsDisk(), now=time.monotonic, pause=time.sleep)


def test_the_same_log_is_left_by_kafkas_cleaner_and_by_ours(kafka: Kafka, tmp_path: Path) -> None:
    chance = random.Random(5)
    first_dirty = 0
    horizons = empty = 0
    for run in range(3):
        produce(kafka, chance, 90 if run == 0 else 45)
        before, after = tmp_path / f"before {run}", tmp_path / f"after {run}"
        shutil.copytree(kafka.partition, before)
        assert len(bases(before)) >= 3, "more than the active segment and the one that was cleaned"

        kafka.may_clean(True)
        wait_until(lambda: kafka.cleaned_up_to() > first_dirty, "a run of Kafka's cleaner")  # noqa: B023
        kafka.may_clean(False)
        end = kafka.cleaned_up_to()
        shutil.copytree(kafka.partition, after, ignore=shutil.ignore_patterns("*.deleted"))

        # Kafka's horizons from this run lie at its own time; those of the run before have passed.
        ours = clean_with_ours(before, first_dirty, end, int(time.time() * 1000))
        theirs = [base for base in bases(after) if base < end]
        assert [segment.base_offset for segment in ours.cleaned] == theirs
        for base in theirs:
            expected = batches_in(after / f"{base:020}.log")
            found = batches_in(before / f"{base:020}.log.cleaned")
            assert [what_matters(batch) for batch in found] == [what_matters(batch) for batch in expected]
            horizons += sum(header.has_delete_horizon for header, _ in found)
            empty += sum(not records for _, records in found)
            kept_index = after / f"{base:020}.txnindex"
            kept = kept_index.read_bytes() if kept_index.exists() else b""
            ours_index = before / f"{base:020}.txnindex.cleaned"
            assert (ours_index.read_bytes() if ours_index.exists() else b"") == kept
        assert ours.stats.records_written < ours.stats.records_read
        first_dirty = end
    assert horizons and empty, "the log had tombstones, and live producers without records"
