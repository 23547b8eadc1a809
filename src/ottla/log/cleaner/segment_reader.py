"""Reads a closed segment from some position to its end through one buffer, every byte once.

The buffer keeps the bytes of a batch that is not whole yet and reads on behind them; a batch that is larger
than the buffer makes it grow, up to the largest size that a batch may have.
"""

from __future__ import annotations

from ottla.log.cleaner.throttle import Throttle
from ottla.log.cleaning_job import CleaningFailed, SegmentToClean
from ottla.log.file_names import LOG_SUFFIX, segment_path
from ottla.ports.disk import Disk, File
from ottla.wire.record_batch import HEADER_BYTES, LOG_OVERHEAD, read_header


class SegmentReader:
    __slots__ = (
        "_disk",
        "_dir_path",
        "_throttle",
        "_file",
        "_size",
        "_read_to",
        "view",
        "start",
        "end",
        "bytes_read",
    )

    def __init__(self, disk: Disk, dir_path: str, throttle: Throttle, buffer_bytes: int) -> None:
        self._disk = disk
        self._dir_path = dir_path
        self._throttle = throttle
        self._file: File | None = None
        self._size = 0
        self._read_to = 0
        self.view = memoryview(bytearray(max(buffer_bytes, HEADER_BYTES)))
        self.start = 0
        """Where in `view` the bytes begin that are not consumed; who consumes moves it."""
        self.end = 0
        self.bytes_read = 0

    def open(self, segment: SegmentToClean, position: int = 0) -> None:
        self.close()
        self._file = self._disk.open(segment_path(self._dir_path, segment.base_offset, LOG_SUFFIX))
        self._size = segment.size_bytes
        self._read_to = position
        self.start = self.end = 0

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    @property
    def path(self) -> str:
        assert self._file is not None
        return self._file.path

    @property
    def position(self) -> int:
        """In the file, of what is at `start`."""
        return self._read_to - (self.end - self.start)

    def read_on(self, expected_offset: int) -> bool:
        """Brings more bytes into `view`; False when the segment has ended. CleaningFailed when it ends inside
        a batch, which is then the one at `expected_offset`.
        """
        assert self._file is not None
        held = self.end - self.start
        left = self._size - self._read_to
        if left <= 0 and held == 0:
            return False
        needed = HEADER_BYTES
        if held >= HEADER_BYTES:
            needed = LOG_OVERHEAD + read_header(self.view, self.start).batch_length
        if needed - held > left:
            raise self._torn(expected_offset)
        view = self.view
        if needed > len(view):
            view = memoryview(bytearray(needed))
        if held and (self.start or view is not self.view):
            view[:held] = self.view[self.start : self.end]
        self.view = view
        self.start, self.end = 0, held
        wanted = min(len(view) - held, left)
        got = self._file.pread_into(view[held : held + wanted], self._read_to)
        if got != wanted:
            raise self._torn(expected_offset)
        self.end += got
        self._read_to += got
        self.bytes_read += got
        self._throttle.spend(got)
        return True

    def _torn(self, expected_offset: int) -> CleaningFailed:
        return CleaningFailed(
            f"the batch at position {self.position} of {self.path} is damaged: the segment ends inside it",
            corrupt_offset=expected_offset,
        )
