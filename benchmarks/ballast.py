"""Memory that is held between runs and handed over to the system whose turn it is.

A virtual machine may give memory that lies free back to its host. Who touches it next waits for the host to
bring it, and the wait is charged as CPU time of the process that touches it: writing a file then costs ten
times what it costs otherwise (2.2 CPU-s per GB instead of 0.2), and a produce row measures the host. So this
process keeps as much memory as a run writes, touched, and frees it in the moment a run begins; the page cache
then takes what the host has not taken back. After the run, when its files are deleted, it is taken again.
The same for every system, and on a machine without this trap it changes nothing.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_MADV_POPULATE_WRITE: Final = 23
_PIECE_MB: Final = 256
_KEPT_FREE_BYTES: Final = 6 << 30
"""For the systems and clients themselves."""


class Ballast:
    """Held in pieces: a run is handed as much as it writes, and the rest stays where it is."""

    def __init__(self, megabytes: int) -> None:
        self._pieces_max = -(-megabytes // _PIECE_MB)
        self._held: list[mmap.mmap] = []
        self._runs = 0

    def take(self) -> None:
        """Holds all of it, or less on a machine that has too little memory."""
        while len(self._held) < self._pieces_max and _available_bytes() > _KEPT_FREE_BYTES:
            piece = mmap.mmap(-1, _PIECE_MB << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            piece.madvise(mmap.MADV_HUGEPAGE)
            try:
                piece.madvise(_MADV_POPULATE_WRITE)
            except OSError:  # a kernel before 5.14
                for position in range(0, len(piece), mmap.PAGESIZE):
                    piece[position] = 1
            self._held.append(piece)

    def free(self, megabytes: float | None = None) -> None:
        """Frees that much, or all."""
        count = len(self._held) if megabytes is None else -(-int(megabytes) // _PIECE_MB)
        for _ in range(min(count, len(self._held))):
            self._held.pop().close()

    @contextmanager
    def handed_over(self, megabytes: float) -> Iterator[None]:
        """Around a run that writes about that much, and the deletion of its files."""
        if not self._runs:
            self.take()
        self.free(megabytes)
        self._runs += 1
        try:
            yield
        finally:
            self._runs -= 1
            if not self._runs:
                self.take()


def _available_bytes() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable"):
            return int(line.split()[1]) * 1024
    return 0
