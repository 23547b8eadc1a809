"""Windows of time: which ones a record falls into, and how long they take in late ones.

Names and meaning are those of Kafka Streams: a record is late when the stream's time (the highest timestamp
seen) has passed the end of its window by more than the grace. All times are milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from ottla.streams.errors import TopologyError

Duration = int | float | timedelta
"""Milliseconds, or a timedelta."""

FOREVER_MS: Final = (1 << 63) - 1


def milliseconds(duration: Duration, what: str, *, least_ms: int = 1) -> int:
    """A duration as whole milliseconds."""
    if isinstance(duration, timedelta):
        exact = duration / timedelta(milliseconds=1)
    elif isinstance(duration, (int, float)) and not isinstance(duration, bool):
        exact = duration
    else:
        raise TopologyError(f"{what} is given in milliseconds or as a timedelta, not as {duration!r}")
    if exact != exact or not least_ms <= exact <= FOREVER_MS or exact != int(exact):
        least = "not negative" if least_ms == 0 else f"at least {least_ms} ms"
        raise TopologyError(f"{what} has to be a whole number of milliseconds and {least}, not {duration!r}")
    return int(exact)


@dataclass(frozen=True, slots=True)
class Windowed:
    """A key within a window: what a windowed table's keys are."""

    key: object
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    grace_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeWindows(Windows):
    """Windows of `size_ms` that begin every `advance_ms`: tumbling when both are equal, else hopping."""

    size_ms: int
    advance_ms: int

    @classmethod
    def of_size_with_no_grace(cls, size: Duration) -> TimeWindows:
        return cls.of_size_and_grace(size, 0)

    @classmethod
    def of_size_and_grace(cls, size: Duration, grace: Duration) -> TimeWindows:
        size_ms = milliseconds(size, "the size of a window")
        return cls(size_ms=size_ms, advance_ms=size_ms, grace_ms=_grace_ms(grace))

    def advance_by(self, advance: Duration) -> TimeWindows:
        """Hopping windows: one begins every `advance`."""
        advance_ms = milliseconds(advance, "the advance of windows")
        if advance_ms > self.size_ms:
            raise TopologyError(
                f"windows of {self.size_ms} ms that begin every {advance_ms} ms would leave records out: "
                "the advance "
                f"is at most the size"
            )
        return TimeWindows(size_ms=self.size_ms, advance_ms=advance_ms, grace_ms=self.grace_ms)

    def starts_for(self, timestamp_ms: int) -> range:
        """The starts of all windows that a record falls into, the earliest first; none begins before 0."""
        first = max(0, timestamp_ms - self.size_ms + self.advance_ms) // self.advance_ms * self.advance_ms
        return range(first, timestamp_ms + 1, self.advance_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlidingWindows(Windows):
    """For each record, the window that ends with it and the one that begins after it; two records are in a
    window together when they are at most `difference_ms` apart. Both ends are part of the window.
    """

    difference_ms: int

    @classmethod
    def of_time_difference_with_no_grace(cls, difference: Duration) -> SlidingWindows:
        return cls.of_time_difference_and_grace(difference, 0)

    @classmethod
    def of_time_difference_and_grace(cls, difference: Duration, grace: Duration) -> SlidingWindows:
        return cls(
            difference_ms=milliseconds(difference, "the time difference of sliding windows", least_ms=0),
            grace_ms=_grace_ms(grace),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionWindows(Windows):
    """Records without a pause of more than `gap_ms`. A session's window is from its first record to its
    last, both part of it.
    """

    gap_ms: int

    @classmethod
    def of_inactivity_gap_with_no_grace(cls, gap: Duration) -> SessionWindows:
        return cls.of_inactivity_gap_and_grace(gap, 0)

    @classmethod
    def of_inactivity_gap_and_grace(cls, gap: Duration, grace: Duration) -> SessionWindows:
        return cls(gap_ms=milliseconds(gap, "the inactivity gap of sessions"), grace_ms=_grace_ms(grace))


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinWindows(Windows):
    """A record of the right side joins when its time is in [left - before, left + after]."""

    before_ms: int
    after_ms: int

    @classmethod
    def of_time_difference_with_no_grace(cls, difference: Duration) -> JoinWindows:
        return cls.of_time_difference_and_grace(difference, 0)

    @classmethod
    def of_time_difference_and_grace(cls, difference: Duration, grace: Duration) -> JoinWindows:
        difference_ms = milliseconds(difference, "the time difference of a join", least_ms=0)
        return cls(before_ms=difference_ms, after_ms=difference_ms, grace_ms=_grace_ms(grace))

    def before(self, difference: Duration) -> JoinWindows:
        """The same windows, in which the right record may be so much earlier than the left one."""
        before_ms = milliseconds(difference, "the time before of a join", least_ms=-FOREVER_MS)
        return self._checked(before_ms, self.after_ms)

    def after(self, difference: Duration) -> JoinWindows:
        """The same windows, in which the right record may be so much later than the left one."""
        after_ms = milliseconds(difference, "the time after of a join", least_ms=-FOREVER_MS)
        return self._checked(self.before_ms, after_ms)

    def _checked(self, before_ms: int, after_ms: int) -> JoinWindows:
        if before_ms + after_ms < 0:
            raise TopologyError(f"a join window from -{before_ms} ms to {after_ms} ms ends before it begins")
        return JoinWindows(before_ms=before_ms, after_ms=after_ms, grace_ms=self.grace_ms)


def _grace_ms(grace: Duration) -> int:
    return milliseconds(grace, "the grace", least_ms=0)


@dataclass(frozen=True, slots=True)
class Suppressed:
    """How `KTable.suppress` holds back updates."""

    wait_ms: int | None
    """At most one update of a key in so long; None: only when the window is closed."""

    @classmethod
    def until_window_closes(cls) -> Suppressed:
        """One result per window: the final one."""
        return cls(None)

    @classmethod
    def until_time_limit(cls, wait: Duration) -> Suppressed:
        """At most one update of a key in so much stream time, the newest."""
        return cls(milliseconds(wait, "the time limit of suppress", least_ms=0))
