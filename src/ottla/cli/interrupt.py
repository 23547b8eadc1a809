"""Ctrl-C for a command that must not lose what it has taken in.

While such a command waits for input, Ctrl-C and SIGTERM interrupt it; while it works, they are remembered and
noticed at the next wait, so that a request is never torn in the middle. A second Ctrl-C ends it at once.

A signal that comes in the last moment before a system call blocks does not interrupt it, so whoever waits
also waits for `wakeup_fd`, which every signal makes readable; or gives a function that ends its wait
(`on_first`, a consumer's `wakeup`).
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class Interrupted(Exception):
    """Raised out of a wait after the first signal."""


class Interruptible:
    def __init__(self, on_first: Callable[[], None] | None = None) -> None:
        self.signal_number: int | None = None
        self._on_first = on_first
        self.wakeup_fd = -1
        self._waiting = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interruptible:
        self.wakeup_fd, self._wakeup_end = os.pipe()
        os.set_blocking(self._wakeup_end, False)
        self._wakeup_before = signal.set_wakeup_fd(self._wakeup_end, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *exc: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup_before)
        os.close(self._wakeup_end)
        os.close(self.wakeup_fd)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.signal_number is not None:
            raise KeyboardInterrupt
        self.signal_number = number
        if self._on_first is not None:
            self._on_first()
        if self._waiting:
            raise Interrupted

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Around a wait: raises Interrupted when a signal comes, or had come before."""
        self._waiting = True
        try:
            if self.signal_number is not None:
                raise Interrupted
            yield
        finally:
            self._waiting = False

    @property
    def exit_code(self) -> int:
        """128 + the signal's number, as shells count; 0 when none came."""
        return 0 if self.signal_number is None else 128 + self.signal_number
