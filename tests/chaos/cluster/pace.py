"""How many records each writer may have sent by now: numbers in a file that all processes map.

A run's records are spread over its faults: without this, all of them would be written before the second kill.
"""

from __future__ import annotations

import mmap
from pathlib import Path

UNLIMITED = 1 << 60


class Pace:
    def __init__(self, path: Path, writers: int | None = None) -> None:
        """With `writers` the file is made, else it is there."""
        if writers is not None:
            path.write_bytes(bytes(8 * writers))
        with path.open("r+b") as file:
            self._numbers = memoryview(mmap.mmap(file.fileno(), 0)).cast("q")

    def allow(self, writer: int, count: int) -> None:
        self._numbers[writer] = count

    def allowed(self, writer: int) -> int:
        return self._numbers[writer]
