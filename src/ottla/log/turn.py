"""One turn of background work on the loop: about a millisecond, then the others come first."""

from __future__ import annotations

from typing import Final

from ottla.ports.clock import Clock
from ottla.ports.effects import Sleep

TURN_MS_MAX: Final = 1.0
"""A fifth of the loop lag that is allowed, since several tasks may fall on the same turn."""

FAIR_TURN_MS_MAX: Final = 20.0
"""Of what others wait for: as long as the loop did other things, but no longer than this."""

_NOT_BEGUN: Final = -1.0
_NEXT_TURN: Final = Sleep(0)


class Turn:
    """In a loop: `if turn.over(): yield turn.rest()`. After any other yield: `turn.begin()`.

    Where the loop has much to do, a millisecond at a time is a small share of it. A `fair` turn lasts as long
    as the rest before it took, so that work which clients wait for gets about half of the loop.
    """

    __slots__ = ("_clock", "_ends_ms", "_fair", "_rested_ms")

    def __init__(self, clock: Clock, *, fair: bool = False) -> None:
        self._clock = clock
        self._ends_ms = _NOT_BEGUN
        self._fair = fair
        self._rested_ms = _NOT_BEGUN

    def begin(self) -> None:
        """A new turn begins with the next question, however long the loop did other things before it."""
        self._ends_ms = _NOT_BEGUN

    def over(self) -> bool:
        now_ms = self._clock.monotonic_ms()
        if self._ends_ms == _NOT_BEGUN:
            length_ms = TURN_MS_MAX
            if self._rested_ms != _NOT_BEGUN:
                length_ms = max(length_ms, min(now_ms - self._rested_ms, FAIR_TURN_MS_MAX))
                self._rested_ms = _NOT_BEGUN
            self._ends_ms = now_ms + length_ms
            return False
        return now_ms >= self._ends_ms

    def rest(self) -> Sleep:
        self.begin()
        if self._fair:
            self._rested_ms = self._clock.monotonic_ms()
        return _NEXT_TURN
