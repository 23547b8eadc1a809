"""One turn of background work on the loop: about a millisecond, then the others come first."""

from __future__ import annotations

from typing import Final

from ottla.ports.clock import Clock
from ottla.ports.effects import Sleep

TURN_MS_MAX: Final = 1.0
"""A fifth of the loop lag that is allowed, since several tasks may fall on the same turn."""

_NOT_BEGUN: Final = -1.0
_NEXT_TURN: Final = Sleep(0)


class Turn:
    """In a loop: `if turn.over(): yield turn.rest()`. After any other yield: `turn.begin()`."""

    __slots__ = ("_clock", "_ends_ms")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ends_ms = _NOT_BEGUN

    def begin(self) -> None:
        """A new turn begins with the next question, however long the loop did other things before it."""
        self._ends_ms = _NOT_BEGUN

    def over(self) -> bool:
        now_ms = self._clock.monotonic_ms()
        if self._ends_ms == _NOT_BEGUN:
            self._ends_ms = now_ms + TURN_MS_MAX
            return False
        return now_ms >= self._ends_ms

    def rest(self) -> Sleep:
        self.begin()
        return _NEXT_TURN
