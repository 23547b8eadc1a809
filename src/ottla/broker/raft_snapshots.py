"""The snapshots of the metadata log: `<end offset>-<epoch>.checkpoint`, in Kafka's format.

A snapshot is a file of record batches: a control batch with a header (and the voters, where the log keeps
them), the records that make the image, and a control batch with a footer. It is written under another name,
synced and renamed, so that whatever has a snapshot's name is one. Writing goes in slices with a pause after
each, and syncs off the loop, because an image can be large.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from ottla.broker.raft_records import control_records_in, is_finished, snapshot_foot, snapshot_head
from ottla.metadata.image import MetadataImage
from ottla.metadata.records import MetadataRecord, decode_record, encode_record
from ottla.model.limits import DECOMPRESSED_BATCH_BYTES_MAX
from ottla.ports.disk import Disk, File
from ottla.ports.effects import DiskJob, Sleep, Steps
from ottla.raft.log_port import ControlRecord, OffsetAndEpoch
from ottla.raft.voters import VoterSet
from ottla.wire.record_batch import CorruptBatch, Record, check_crc, decode_batch, encode_batch, iter_headers

SUFFIX: Final = ".checkpoint"
PART_SUFFIX: Final = ".checkpoint.part"
RECORDS_PER_BATCH: Final = 256
"""One turn of the loop: about a millisecond."""

_NAME: Final = re.compile(r"(\d{20})-(\d{10})\.checkpoint(\.part)?\Z", re.ASCII)


class BadSnapshot(OSError):
    """A file with a snapshot's name that is not a whole one: somebody or something has damaged it."""


def snapshot_name(snapshot: OffsetAndEpoch) -> str:
    return f"{snapshot.offset:020d}-{snapshot.epoch:010d}{SUFFIX}"


class SnapshotFiles:
    def __init__(self, disk: Disk, dir_path: str) -> None:
        self._disk = disk
        self._dir = dir_path
        self.sizes: dict[OffsetAndEpoch, int] = {}
        """What is there, oldest first."""
        self._open_file: tuple[OffsetAndEpoch, File] | None = None

    def load(self) -> None:
        """Finds what is there; what was being written when the process died goes."""
        if not self._disk.is_dir(self._dir):
            return
        for name in self._disk.list_dir(self._dir):
            match = _NAME.match(name)
            if match is None:
                continue
            if match[3]:
                self._disk.remove(f"{self._dir}/{name}")
                continue
            file = self._disk.open(f"{self._dir}/{name}")
            self.sizes[OffsetAndEpoch(int(match[1]), int(match[2]))] = file.size()
            file.close()

    @property
    def newest(self) -> OffsetAndEpoch | None:
        return max(self.sizes, default=None)

    @property
    def oldest(self) -> OffsetAndEpoch | None:
        return min(self.sizes, default=None)

    @property
    def total_bytes(self) -> int:
        return sum(self.sizes.values())

    def path(self, snapshot: OffsetAndEpoch) -> str:
        return f"{self._dir}/{snapshot_name(snapshot)}"

    # --- reading

    def read_slice(self, snapshot: OffsetAndEpoch, position: int, bytes_max: int) -> bytes:
        if self._open_file is None or self._open_file[0] != snapshot:
            self._close()
            self._open_file = (snapshot, self._disk.open(self.path(snapshot)))
        return self._open_file[1].pread(bytes_max, position)

    def _close(self) -> None:
        if self._open_file is not None:
            self._open_file[1].close()
            self._open_file = None

    def _whole(self, snapshot: OffsetAndEpoch) -> bytes:
        path = self.path(snapshot)
        data = self._disk.read_file(path)
        try:
            headers = list(iter_headers(data, 0, len(data)))
            for position, _ in headers:
                check_crc(data, position, len(data))
            whole = is_finished(data, headers)
        except CorruptBatch as error:
            raise BadSnapshot(
                5, f"the snapshot is damaged ({error}): restore it from a copy", path
            ) from error
        if not whole:
            raise BadSnapshot(5, "the snapshot has no end: restore it from a copy", path)
        return data

    def control_records(self, snapshot: OffsetAndEpoch) -> list[ControlRecord]:
        """Its voters and version, as of the last record before its offset."""
        data = self._whole(snapshot)
        found: list[ControlRecord] = []
        for position, header in iter_headers(data, 0, len(data)):
            if header.is_control:
                found += control_records_in(data, position, header)
        return [each._replace(offset=snapshot.offset - 1) for each in found]

    def records(self, snapshot: OffsetAndEpoch) -> Iterator[MetadataRecord]:
        data = self._whole(snapshot)
        for position, header in iter_headers(data, 0, len(data)):
            if header.is_control:
                continue
            batch = memoryview(data)[position : position + header.size_bytes]
            for record in decode_batch(batch, decompressed_bytes_max=DECOMPRESSED_BATCH_BYTES_MAX):
                if record.value is not None:
                    yield decode_record(record.value)

    # --- writing

    def write_steps(
        self,
        snapshot: OffsetAndEpoch,
        image: MetadataImage,
        voters: VoterSet,
        kraft_version: int,
        *,
        now_ms: int,
        log_timestamp: int,
    ) -> Steps[None]:
        """Writes the image under the name of this offset. Raises OSError, and leaves nothing then."""
        part = f"{self._dir}/{snapshot_name(snapshot)}.part"
        file = self._disk.open(part, create=True)
        try:
            file.truncate(0)
            size = 0
            for batch in _batches(
                image, voters, kraft_version, snapshot.epoch, now_ms=now_ms, log_timestamp=log_timestamp
            ):
                if file.append((batch,)) != len(batch):
                    raise OSError(28, "no space left on device", part)
                size += len(batch)
                yield Sleep(0)
            yield DiskJob(file.sync)
            file.rename(self.path(snapshot))
            yield DiskJob(lambda: self._disk.sync_dir(self._dir))
        except BaseException:
            if file.path == part:
                file.delete()
            raise
        file.close()
        self.sizes[snapshot] = size

    def write_now(self, snapshot: OffsetAndEpoch, batches: Iterable[bytes | bytearray]) -> None:
        """For formatting a directory, when nobody is served."""
        data = b"".join(batches)
        self._disk.make_dirs(self._dir)
        self._disk.sync_dir(os.path.dirname(self._dir))
        self._disk.write_file_atomic(self.path(snapshot), data)
        self.sizes[snapshot] = len(data)

    def remove(self, snapshot: OffsetAndEpoch) -> None:
        self._close()
        self._disk.remove(self.path(snapshot))
        del self.sizes[snapshot]

    # --- a snapshot from the leader

    def begin_download(self, snapshot: OffsetAndEpoch) -> File:
        file = self._disk.open(f"{self._dir}/{snapshot_name(snapshot)}.part", create=True)
        file.truncate(0)
        return file

    def finish_download(self, snapshot: OffsetAndEpoch, file: File) -> None:
        """Checks it, and gives it its name. Synced on the spot: it happens once in a long while."""
        size = file.size()
        try:
            _check(file.pread(size, 0), file.path)
        except BadSnapshot:
            file.delete()
            raise
        file.sync()
        file.rename(self.path(snapshot))
        self._disk.sync_dir(self._dir)
        file.close()
        self.sizes[snapshot] = size


def _check(data: bytes, path: str) -> None:
    try:
        headers = list(iter_headers(data, 0, len(data)))
        for position, _ in headers:
            check_crc(data, position, len(data))
        whole = is_finished(data, headers)
    except CorruptBatch as error:
        raise BadSnapshot(5, f"the snapshot is damaged ({error}): restore it from a copy", path) from error
    if not whole:
        raise BadSnapshot(5, "the snapshot has no end: restore it from a copy", path)


def _batches(
    image: MetadataImage,
    voters: VoterSet,
    kraft_version: int,
    epoch: int,
    *,
    now_ms: int,
    log_timestamp: int,
) -> Iterator[bytearray]:
    head = snapshot_head(voters, kraft_version, now_ms, epoch, log_timestamp)
    yield head
    offset = next(header for _, header in iter_headers(head, 0, len(head))).next_offset
    metadata_version = image.metadata_version
    records = image.to_records()
    while chunk := list(islice(records, RECORDS_PER_BATCH)):
        yield encode_batch(
            [Record(0, now_ms, None, encode_record(each, metadata_version)) for each in chunk],
            base_offset=offset,
            leader_epoch=epoch,
        )
        offset += len(chunk)
    yield snapshot_foot(now_ms, offset, epoch)


def bootstrap_batches(
    voters: VoterSet,
    kraft_version: int,
    records: Iterable[MetadataRecord],
    metadata_version: int,
    now_ms: int,
) -> list[bytearray]:
    """The snapshot of a freshly formatted directory: its voters, and what a cluster begins with."""
    head = snapshot_head(voters, kraft_version, now_ms, 0, 0)
    offset = next(header for _, header in iter_headers(head, 0, len(head))).next_offset
    batches = [head]
    encoded = [Record(0, now_ms, None, encode_record(each, metadata_version)) for each in records]
    if encoded:
        batches.append(encode_batch(encoded, base_offset=offset, leader_epoch=0))
        offset += len(encoded)
    batches.append(snapshot_foot(now_ms, offset, 0))
    return batches
