"""One log line for each thing that a peer does wrong, but no more than a disk can bear.

Whoever connects decides how often these lines are written. So there are at most a few each second; the rest
are counted, and the next line that is written says how many were left out.
"""

from __future__ import annotations

import logging
import time
from typing import Final

LINES_PER_SECOND: Final = 20


class QuietLog:
    def __init__(self, logger: logging.Logger, lines_per_second: int = LINES_PER_SECOND) -> None:
        self.left_out = 0
        self._logger = logger
        self._lines_per_second = lines_per_second
        self._second = 0
        self._lines = 0

    def write(self, level: int, message: str, *args: object) -> None:
        second = int(time.monotonic())
        if second != self._second:
            self._second = second
            self._lines = 0
        if self._lines >= self._lines_per_second:
            self.left_out += 1
            return
        self._lines += 1
        if self.left_out:
            message += f" ({self.left_out} lines like this were left out before)"
            self.left_out = 0
        self._logger.log(level, message, *args)
