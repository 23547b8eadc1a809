"""Signals during an operation: held back while the core is at work, handled where the thread waits.

Python calls a signal's handler between any two instructions of the main thread, and what the handler raises
(KeyboardInterrupt for Ctrl-C, a program's own timeout by SIGALRM, a worker's soft limit by SIGUSR1) may come
out in the middle of somebody else's task (the sender, a heartbeat) that this thread drives: that task would
be gone, and with it everything that waits for it. So while the main thread runs an operation, the signals
that have a handler in Python only leave a note and end the wait; their handlers are called at the next safe
point.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

# `_signal` is what `signal` wraps: the wrapper's enums cost more than the system calls, twice an operation.
SIGNALS: Final[tuple[int, ...]] = tuple(
    number
    for name in (
        "SIGINT",
        "SIGALRM",
        "SIGTERM",
        "SIGUSR1",
        "SIGUSR2",
        "SIGHUP",
        "SIGQUIT",
        "SIGVTALRM",
        "SIGPROF",
    )
    if (number := getattr(_signal, name, None)) is not None
)
"""Those that programs have handlers for which may raise."""

_main: Final = threading.main_thread().ident
_getsignal: Final = _signal.getsignal
_set: Final = _signal.signal


class Interrupts:
    """One thread at a time is in here: the main one."""

    __slots__ = ("active", "pending", "_handlers", "_mine", "_wake")

    def __init__(self, wake: Callable[[], None]) -> None:
        self.active = False
        self.pending: dict[int, FrameType | None] = {}
        """What came while they were held back."""
        self._handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
        """The program's own, which were there when they were last held back."""
        self._mine = self._on_signal
        self._wake = wake

    def hold(self) -> bool:
        """Begins to hold them back; False where this is not for us to do."""
        if self.active or threading.get_ident() != _main:
            return False
        found = False
        for number in SIGNALS:
            handler = _getsignal(number)
            if not callable(handler) or handler.__class__ is int:
                continue
            found = True
            # A handler may raise right here: `_on_signal` passes on to it what comes while not active, so it
            # does no harm if it stays where it is.
            if handler is not self._mine:
                self._handlers[number] = handler
                _set(number, self._mine)
        self.active = found
        return found

    def hold_on(self) -> BaseException | None:
        """Holds them back again, whatever handlers raise meanwhile: gives the last of that."""
        raised: BaseException | None = None
        while not self.active:
            try:
                if not self.hold():
                    break
            except BaseException as error:  # its signal is held back now: this ends
                raised = error
        return raised

    def let_go(self) -> None:
        """Ends it, and handles what was held back."""
        self.active = False
        for number, handler in self._handlers.items():
            if _getsignal(number) is self._mine:
                _set(number, handler)
        self.check()

    def mine(self) -> bool:
        """Whether this is the thread in which handlers run."""
        return threading.get_ident() == _main

    def check(self) -> None:
        """Handles what was held back, which may raise; only in the thread that it was meant for."""
        while self.pending and threading.get_ident() == _main:
            number, frame = self.pending.popitem()
            self._handlers[number](number, frame)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.active:
            self.pending[number] = frame
            self._wake()
        else:
            self._handlers[number](number, frame)
