"""The metadata log on disk, as consensus wants it: Kafka's batches in a `Log`, snapshots beside it.

Offsets and epochs are the log's own; what consensus knows beyond a partition's log is where it begins: at the
very first record, or where a snapshot ends (whose epoch then is that of the record before the log's start).
Segments and snapshots that a newer snapshot makes superfluous go by `metadata.max.retention.*`.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ottla.broker.raft_records import (
    all_control_records,
    control_records_in,
    leader_start_records,
    voters_records,
)
from ottla.broker.raft_snapshots import SnapshotFiles
from ottla.log.append_origin import AppendOrigin
from ottla.log.log import Log
from ottla.model.errors import KafkaError
from ottla.model.log_config import LogConfig
from ottla.model.types import METADATA_TOPIC, METADATA_TOPIC_ID, TopicPartition
from ottla.ports.disk import Disk, File
from ottla.raft.log_port import ControlRecord, LeaderStart, OffsetAndEpoch
from ottla.raft.voters import VoterSet
from ottla.wire.record_batch import encode_control_batch, iter_headers

logger = logging.getLogger(__name__)

METADATA_PARTITION = TopicPartition(METADATA_TOPIC, 0)
READ_BYTES = 1024 * 1024


class DiskRaftLog:
    """Implements `raft.log_port.RaftLog`."""

    def __init__(self, disk: Disk, dir_path: str, config: LogConfig, now_ms: Callable[[], int]) -> None:
        """Recovers the log. It is always scanned, never trusted to a clean shutdown: it is small, and
        everything hangs on it.
        """
        self._disk = disk
        self._dir = dir_path
        self._now_ms = now_ms
        self.snapshots = SnapshotFiles(disk, dir_path)
        self.snapshots.load()
        oldest, newest = self.snapshots.oldest, self.snapshots.newest
        start = OffsetAndEpoch(0, 0) if oldest is None else oldest
        self.log = log = Log.open(
            disk,
            dir_path,
            METADATA_PARTITION,
            config,
            now_ms=now_ms(),
            clean_shutdown=False,
            topic_id=METADATA_TOPIC_ID,
            log_start_offset=start.offset,
        )
        if log.log_start_offset > start.offset:
            raise OSError(
                errno.EIO,
                f"the metadata log begins at {log.log_start_offset}, and no snapshot ends there: restore the "
                "directory from a copy, or remove its contents to fetch everything anew",
                dir_path,
            )
        self._start_epoch = start.epoch
        self._download: tuple[OffsetAndEpoch, File, int] | None = None
        self._refused_at = -1
        """Where the leader's bytes were last refused: said once."""
        if newest is not None:
            if log.log_end_offset < newest.offset:
                self._start_at(
                    newest
                )  # a snapshot was installed, and the process died before the log was cut
            log.update_high_watermark(newest.offset)

    # --- what raft asks

    @property
    def start_offset(self) -> int:
        return self.log.log_start_offset

    @property
    def start_epoch(self) -> int:
        return self._start_epoch

    @property
    def end_offset(self) -> int:
        return self.log.log_end_offset

    @property
    def synced_offset(self) -> int:
        return self.log.recovery_point

    @property
    def last_epoch(self) -> int:
        log = self.log
        return log.latest_epoch if log.log_end_offset > log.log_start_offset else self._start_epoch

    def end_offset_for_epoch(self, epoch: int) -> OffsetAndEpoch:
        last_epoch = self.last_epoch
        if epoch >= last_epoch:
            return OffsetAndEpoch(self.end_offset, last_epoch)
        entries = self.log.epochs.entries()
        if not entries or epoch < entries[0][0]:
            return OffsetAndEpoch(self.start_offset, min(epoch, self._start_epoch))
        found, end = self.log.end_offset_for_epoch(epoch)
        return OffsetAndEpoch(end, found)

    def set_high_watermark(self, offset: int) -> None:
        self.log.update_high_watermark(offset)

    def control_records(self) -> Sequence[ControlRecord]:
        records: list[ControlRecord] = []
        newest = self.snapshots.newest
        offset = self.start_offset
        if newest is not None:
            records += self.snapshots.control_records(newest)
            offset = newest.offset
        for data in self.chunks(offset, self.end_offset):
            records += (each for each in all_control_records(data) if each.offset >= offset)
        return records

    def append(self, records: Any, epoch: int) -> None:
        self.log.append_as_leader(records, epoch, self._now_ms(), origin=AppendOrigin.RAFT_LEADER)

    def append_start(self, start: LeaderStart, epoch: int) -> Sequence[ControlRecord]:
        return self._append_control(leader_start_records(start), epoch)

    def append_voters(self, voters: VoterSet, epoch: int) -> ControlRecord:
        return self._append_control(voters_records(voters, None), epoch)[-1]

    def _append_control(self, records: list[tuple[int, bytes]], epoch: int) -> list[ControlRecord]:
        batch = encode_control_batch(
            records, timestamp=self._now_ms(), base_offset=self.end_offset, leader_epoch=epoch
        )
        self.append(batch, epoch)
        return list(all_control_records(batch))

    def append_fetched(self, records: Any) -> Sequence[ControlRecord]:
        before = self.end_offset
        data = memoryview(records)
        try:
            end = self.log.append_as_follower(data, now_ms=self._now_ms()).size_bytes
        except KafkaError as error:
            if self._refused_at != before:
                self._refused_at = before
                logger.warning("the metadata log cannot be copied beyond offset %d: %s", before, error)
            raise
        found: list[ControlRecord] = []
        for position, header in iter_headers(data, 0, end):
            if header.is_control and header.base_offset >= before:
                found += control_records_in(data, position, header)
        return found

    def read(self, offset: int, bytes_max: int) -> bytes | None:
        found = self.log.read(offset, bytes_max, upto_offset=self.end_offset, min_one_batch=True)
        if found.slice is None:
            return None
        try:
            return found.slice.read()
        finally:
            found.slice.release()

    def truncate(self, offset: int) -> None:
        self.log.truncate_to(offset)
        self.delete_dropped_files()

    def latest_snapshot(self) -> OffsetAndEpoch | None:
        return self.snapshots.newest

    def snapshot_size(self, snapshot: OffsetAndEpoch) -> int | None:
        return self.snapshots.sizes.get(snapshot)

    def read_snapshot(self, snapshot: OffsetAndEpoch, position: int, bytes_max: int) -> bytes:
        return self.snapshots.read_slice(snapshot, position, bytes_max)

    def begin_download(self, snapshot: OffsetAndEpoch) -> None:
        self._download = (snapshot, self.snapshots.begin_download(snapshot), 0)

    def append_download(self, data: Any) -> int:
        assert self._download is not None
        snapshot, file, size = self._download
        if file.append((data,)) != len(data):
            raise OSError(errno.ENOSPC, "no space left on device", file.path)
        size += len(data)
        self._download = (snapshot, file, size)
        return size

    def finish_download(self) -> Sequence[ControlRecord]:
        assert self._download is not None
        snapshot, file, _ = self._download
        self._download = None
        self.snapshots.finish_download(snapshot, file)
        controls = self.snapshots.control_records(snapshot)  # which checks it, before the log goes
        self._start_at(snapshot)
        for other in [each for each in self.snapshots.sizes if each < snapshot]:
            self.snapshots.remove(other)
        return controls

    # --- what the quorum does with it besides

    def _start_at(self, snapshot: OffsetAndEpoch) -> None:
        self.log.truncate_fully_and_start_at(snapshot.offset)
        self.log.flush(self._now_ms())
        self._start_epoch = snapshot.epoch
        self.delete_dropped_files()

    def chunks(self, offset: int, end_offset: int) -> Iterator[bytes]:
        """The batches from `offset` up to `end_offset`, a megabyte or so at a time, each ending with a whole
        one. Raises OSError when the log cannot be read that far: a part would be served as the whole.
        """
        log = self.log
        while offset < end_offset:
            found = log.read(offset, READ_BYTES, upto_offset=end_offset, min_one_batch=True)
            before = offset
            if found.slice is not None:
                try:
                    data = found.slice.read()
                finally:
                    found.slice.release()
                end = 0
                for position, header in iter_headers(data, 0, len(data)):
                    end = position + header.size_bytes
                    offset = max(offset, header.next_offset)
                if offset > before:
                    yield data[:end]
            if offset == before:
                raise OSError(errno.EIO, f"the metadata log cannot be read past offset {offset}", self._dir)

    def clean(self, retention_bytes: int, retention_ms: int, snapshot_ages_ms: dict[int, int]) -> int:
        """Removes the oldest snapshots, and the log before the next one, while there is too much or they are
        too old; the newest snapshot always stays. Returns how many went. Ages are by offset.
        """
        removed = 0
        while len(self.snapshots.sizes) >= 2:
            oldest, following = sorted(self.snapshots.sizes)[:2]
            size = self.log.size_bytes + self.snapshots.total_bytes
            too_large = 0 <= retention_bytes < size
            too_old = 0 <= retention_ms < snapshot_ages_ms.get(oldest.offset, 0)
            if not too_large and not too_old:
                break
            self.snapshots.remove(oldest)
            removed += 1
            if self.log.log_start_offset < following.offset <= self.log.high_watermark:
                self.log.advance_log_start(following.offset)
                self._start_epoch = following.epoch
                self.log.apply_retention(self._now_ms())
                self.delete_dropped_files()
        return removed

    def delete_dropped_files(self) -> None:
        for file, _ in self.log.take_deleted_files():
            file.delete()
