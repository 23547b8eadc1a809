"""A flush in two halves, because an fsync may take long and the loop may not wait for it.

`Log.begin_flush` notes what is to be synced and pins the files; `FlushTicket.run` makes only the sync calls
and may run in a thread; `Log.end_flush` moves the recovery point, back on the loop. A ticket whose `run` did
not come to its end changes nothing.
"""

from __future__ import annotations

from ottla.log.segment import Segment
from ottla.ports.disk import Disk, File


class FlushTicket:
    __slots__ = (
        "_disk",
        "dir_path",
        "files",
        "segments",
        "upto_offset",
        "generation",
        "done",
        "error",
        "extra_files",
        "_pinned",
    )

    def __init__(
        self,
        disk: Disk,
        files: list[File],
        segments: list[tuple[Segment, bool]],
        upto_offset: int,
        generation: int,
        dir_path: str | None,
    ) -> None:
        self._disk = disk
        self.dir_path = dir_path
        """Set when names were made since the last flush: then the directory is synced too."""
        self.files = files
        self.segments = segments
        """With each segment: whether its indexes are synced too."""
        self.upto_offset = upto_offset
        """What lies below is durable when `run` returns."""
        self.generation = generation
        self.done = False
        self.extra_files: list[File] = []
        """Those of `files` that belong to no segment: snapshots, `partition.metadata`."""
        self.error: OSError | None = None
        """Why `run` failed. After a failed fsync the kernel may have dropped the pages and a second one
        succeeds without writing them, so this is not a thing to try again: the log is given up.
        """
        self._pinned: list[File] = []
        try:
            for file in files:
                file.pin()
                self._pinned.append(file)
        except OSError:
            self.release()
            raise

    @property
    def syncs_dir(self) -> bool:
        return self.dir_path is not None

    def run(self) -> None:
        """Only sync calls; raises OSError as they do."""
        try:
            for file in self.files:
                file.sync()
            if self.dir_path is not None:
                self._disk.sync_dir(self.dir_path)
        except OSError as error:
            self.error = error
            raise
        self.done = True

    def release(self) -> None:
        """Unpins the files; idempotent."""
        for file in self._pinned:
            file.unpin()
        self._pinned = []
