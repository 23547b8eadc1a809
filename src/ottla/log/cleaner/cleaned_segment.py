"""A `.cleaned` segment as it is written: the log, its new indexes, and the aborted transactions in it.

Index entries are made as appends make them, one after more than `index.interval.bytes`. `finish` returns when
every byte is on stable storage; `discard` removes whatever there is.
"""

from __future__ import annotations

import contextlib
import errno
import os
from typing import Final

from ottla.log.cleaner.throttle import Throttle
from ottla.log.cleaning_job import CleanedSegment
from ottla.log.file_names import (
    CLEANED_SUFFIX,
    LOG_SUFFIX,
    OFFSET_INDEX_SUFFIX,
    TIME_INDEX_SUFFIX,
    TXN_INDEX_SUFFIX,
    segment_path,
)
from ottla.log.offset_index import OffsetIndex
from ottla.log.time_index import NO_TIMESTAMP, TimeIndex
from ottla.log.txn_index import AbortedTxn, TxnIndex
from ottla.ports.disk import Disk
from ottla.wire.compaction_codec import index_points

_SYNC_BYTES: Final = 16 * 1024 * 1024
"""Synced piece by piece: a gigabyte at once would keep the disk from everybody else for seconds."""


class _CleanedOffsetIndex(OffsetIndex):
    __slots__ = ()
    SUFFIX = OFFSET_INDEX_SUFFIX + CLEANED_SUFFIX


class _CleanedTimeIndex(TimeIndex):
    __slots__ = ()
    SUFFIX = TIME_INDEX_SUFFIX + CLEANED_SUFFIX


class _CleanedTxnIndex(TxnIndex):
    __slots__ = ()
    SUFFIX = TXN_INDEX_SUFFIX + CLEANED_SUFFIX


class CleanedSegmentWriter:
    def __init__(
        self, disk: Disk, dir_path: str, base_offset: int, throttle: Throttle, index_interval_bytes: int
    ) -> None:
        self._disk = disk
        self._dir_path = dir_path
        self._base_offset = base_offset
        self._throttle = throttle
        self._index_interval_bytes = index_interval_bytes
        self._offset_index = _CleanedOffsetIndex(disk, dir_path, base_offset, fresh=True)
        self._time_index = _CleanedTimeIndex(disk, dir_path, base_offset, fresh=True)
        self._bytes_since_index = 0
        self._max_timestamp = NO_TIMESTAMP
        self._max_timestamp_offset = base_offset
        self._unsynced = 0
        self.size = 0
        self._file = disk.open(segment_path(dir_path, base_offset, LOG_SUFFIX + CLEANED_SUFFIX), create=True)
        try:
            # A run that died may have left files of this name.
            self._file.truncate(0)
            for suffix in (OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX, TXN_INDEX_SUFFIX):
                path = segment_path(dir_path, base_offset, suffix + CLEANED_SUFFIX)
                if disk.exists(path):
                    disk.remove(path)
        except OSError:
            self.discard()
            raise

    def write(self, batches: memoryview) -> None:
        """Appends whole batches."""
        points, self._bytes_since_index, self._max_timestamp, self._max_timestamp_offset = index_points(
            batches,
            0,
            len(batches),
            self.size,
            self._bytes_since_index,
            self._index_interval_bytes,
            self._max_timestamp,
            self._max_timestamp_offset,
        )
        rest = batches
        while rest:
            written = self._file.append((rest,))
            if written == 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self._file.path)
            rest = rest[written:]
        for last_offset, position, max_timestamp, max_timestamp_offset in points:
            self._offset_index.append(last_offset, position)
            self._time_index.maybe_append(max_timestamp, max_timestamp_offset)
        self.size += len(batches)
        self._unsynced += len(batches)
        if self._unsynced >= _SYNC_BYTES:
            self._file.sync()
            self._unsynced = 0
        self._throttle.spend(len(batches))

    def finish(self, aborted: list[AbortedTxn], replaced: tuple[int, ...]) -> CleanedSegment:
        """No more batches come. `aborted` goes into the transaction index, in the order of the markers."""
        self._time_index.maybe_append(self._max_timestamp, self._max_timestamp_offset)
        indexes: list[OffsetIndex | TimeIndex | TxnIndex] = [self._offset_index, self._time_index]
        if aborted:
            txn_index = _CleanedTxnIndex(self._disk, self._dir_path, self._base_offset, fresh=True)
            for txn in aborted:
                txn_index.append(txn)
            indexes.append(txn_index)
        self._file.sync()
        for index in indexes:
            index.ensure_file()
            index.write_pending()
            index.sync()
            index.rest()
        self._file.close()
        return CleanedSegment(
            base_offset=self._base_offset,
            replaced=replaced,
            size_bytes=self.size,
            largest_timestamp_ms=self._max_timestamp,
            offset_of_largest_timestamp=self._max_timestamp_offset,
            has_txn_index=bool(aborted),
        )

    def discard(self) -> None:
        self._file.close()
        self._offset_index.rest()
        self._time_index.rest()
        for suffix in (LOG_SUFFIX, OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX, TXN_INDEX_SUFFIX):
            with contextlib.suppress(OSError):  # what cannot be removed now, the next start removes
                self._disk.remove(segment_path(self._dir_path, self._base_offset, suffix + CLEANED_SUFFIX))
