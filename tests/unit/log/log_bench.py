"""What the tests of the log share: batches, a log on the virtual disk, and a reader."""

from __future__ import annotations

from typing import Any

from ottla.log.append import AppendInfo
from ottla.log.log import Log
from ottla.log.verification import VERIFICATION_OFF, Verification
from ottla.model.log_config import LogConfig
from ottla.model.types import TopicPartition
from ottla.ports.disk import Disk
from ottla.testing.disk import VirtualDisk
from ottla.wire.record_batch import (
    BatchHeader,
    EndTxnMarker,
    Record,
    encode_batch,
    encode_end_txn_batch,
    iter_headers,
)

NOW = 1_700_000_000_000
TP = TopicPartition("events", 3)
DIR = "/data/events-3"


def batch(count: int = 1, *, timestamp: int = NOW, value: bytes = b"value", **options: Any) -> bytearray:
    key = options.pop("key", b"key")
    return encode_batch([Record(0, timestamp, key, value) for _ in range(count)], **options)


def sent(producer_id: int, sequence: int, count: int = 1, *, epoch: int = 0, **options: Any) -> bytearray:
    """A batch of an idempotent producer."""
    return batch(count, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence, **options)


def marker(producer_id: int, *, committed: bool, epoch: int = 0, coordinator_epoch: int = 0) -> bytearray:
    return encode_end_txn_batch(
        EndTxnMarker(committed, coordinator_epoch),
        producer_id=producer_id,
        producer_epoch=epoch,
        timestamp=NOW,
    )


def open_log(
    disk: Disk | None = None, config: LogConfig | None = None, *, dir_path: str = DIR, **options: Any
) -> Log:
    options.setdefault("now_ms", NOW)
    options.setdefault("clean_shutdown", False)
    return Log.open(disk or VirtualDisk(), dir_path, TP, config or LogConfig(), **options)


def append(
    log: Log,
    data: bytearray | None = None,
    *,
    epoch: int = 0,
    now_ms: int = NOW,
    verification: Verification | None = VERIFICATION_OFF,
) -> AppendInfo:
    """Transactions are taken as verified unless the test is about that."""
    return log.append_as_leader(
        data if data is not None else batch(), epoch, now_ms, verification=verification
    )


def read_from(log: Log, offset: int, max_bytes: int = 1 << 20, **options: Any) -> list[BatchHeader]:
    """The headers of the whole batches that one read gives."""
    options.setdefault("upto_offset", log.log_end_offset)
    result = log.read(offset, max_bytes, **options)
    if result.slice is None:
        return []
    data = result.slice.read()
    result.slice.release()
    return [header for _, header in iter_headers(data, 0, len(data))]


def read_all(log: Log, *, max_bytes: int = 1 << 20) -> list[BatchHeader]:
    headers: list[BatchHeader] = []
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        more = read_from(log, offset, max_bytes)
        assert more, f"nothing was read at {offset}"
        headers += more
        offset = more[-1].next_offset
    return headers


def offsets(headers: list[BatchHeader]) -> list[tuple[int, int]]:
    return [(header.base_offset, header.last_offset) for header in headers]


def log_path(base_offset: int, suffix: str = ".log", dir_path: str = DIR) -> str:
    return f"{dir_path}/{base_offset:020d}{suffix}"


def overwrite(disk: Disk, path: str, data: bytes) -> None:
    """Damage: the file now holds this."""
    file = disk.open(path, create=True)
    file.truncate(0)
    file.append((data,))
