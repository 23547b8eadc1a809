"""Memory that is held between runs and handed over to the system whose turn it is.

A virtual machine may give memory that lies free back to its host. Who touches it next waits for the host to
bring it, and the wait is charged as CPU time of the process that touches it: writing a file then costs ten
times what it costs otherwise (2.2 CPU-s per GB instead of 0.2), and a produce row measures the host. So this
process keeps as much memory as a run writes, touched, and frees it in the moment a run begins, or piece by
piece if the run is a slow one (what lies free for a second or two is given back, too); the page cache then
takes what the host has not taken back. After the run, when its files are deleted, it is taken again.
The same for every system, and on a machine without this trap it changes nothing.
"""

from __future__ import annotations

import mmap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_MADV_POPULATE_WRITE: Final = 23
_PIECE_MB: Final = 32
_AHEAD_S: Final = 1.0
"""How long before it is written to memory is freed, in a run whose pace is known."""
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
    def handed_over(self, megabytes: float, seconds: float = 0.0) -> Iterator[None]:
        """Around a run that writes about that much, evenly in that time, and the deletion of its files."""
        if not self._runs:
            self.take()
        at_once = megabytes * _AHEAD_S / seconds if seconds > _AHEAD_S else megabytes
        self.free(at_once)
        self._runs += 1
        is_over = threading.Event()
        rest = threading.Thread(
            target=self._free_in_time, args=(megabytes - at_once, seconds - _AHEAD_S, is_over)
        )
        rest.start()
        try:
            yield
        finally:
            is_over.set()
            rest.join()
            self._runs -= 1
            if not self._runs:
                self.take()

    def _free_in_time(self, megabytes: float, seconds: float, is_over: threading.Event) -> None:
        pieces = -(-int(megabytes) // _PIECE_MB)
        for _ in range(pieces):
            self.free(_PIECE_MB)
            if is_over.wait(seconds / pieces):
                return


def _available_bytes() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable"):
            return int(line.split()[1]) * 1024
    return 0
