"""`auto.offset.reset`: where a partition begins that has no position, or has lost it.

`earliest`, `latest`, `none`, or `by_duration:PT1H` (KIP-1106), which goes back by a time from now. A policy
turns into the timestamp of a ListOffsets request only when that is sent, because `now` moves.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ottla.client.errors import InvalidConfig

LATEST: Final = -1
EARLIEST: Final = -2
MAX_TIMESTAMP: Final = -3
"""Timestamps with a meaning of their own in ListOffsets; MAX_TIMESTAMP is the record with the largest one
(KIP-734)."""

_PREFIX: Final = "by_duration:"
_NUMBER: Final = r"([-+]?[0-9]+)"
_DURATION: Final = re.compile(
    rf"([-+]?)P(?:{_NUMBER}D)?(T(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:([-+]?[0-9]+)(?:[.,]([0-9]{{0,9}}))?S)?)?",
    re.IGNORECASE,
)
"""What Java's `Duration.parse` takes: days to seconds, each with a sign of its own."""


@dataclass(frozen=True, slots=True)
class ResetPolicy:
    """A fixed place (EARLIEST, LATEST, a time in milliseconds), a duration before now, or neither: none."""

    time: int | None = None
    duration_ms: int | None = None

    @property
    def resets(self) -> bool:
        return self.time is not None or self.duration_ms is not None

    def timestamp(self, now_ms: int) -> int:
        """What to ask for; only of a policy that resets."""
        if self.duration_ms is not None:
            return max(0, now_ms - self.duration_ms)
        assert self.time is not None
        return self.time

    @classmethod
    def parse(cls, text: str) -> ResetPolicy:
        """The policy that `auto.offset.reset` names; InvalidConfig where it names none."""
        name = text.strip().lower()
        if name == "earliest":
            return cls(time=EARLIEST)
        if name == "latest":
            return cls(time=LATEST)
        if name == "none":
            return cls()
        if name.startswith(_PREFIX):
            duration_ms = _parse_duration_ms(text.strip()[len(_PREFIX) :])
            if duration_ms is not None and duration_ms >= 0:
                return cls(duration_ms=duration_ms)
        raise InvalidConfig(
            f"auto.offset.reset: {text!r} is none of earliest, latest, none, by_duration:PnDTnHnMn.nS"
        )


def _parse_duration_ms(text: str) -> int | None:
    found = _DURATION.fullmatch(text)
    if found is None:
        return None
    sign, days, time_part, hours, minutes, seconds, fraction = found.groups()
    if (days, hours, minutes, seconds) == (None,) * 4 or (time_part and len(time_part) == 1):
        return None
    total_ms = ((int(days or 0) * 24 + int(hours or 0)) * 60 + int(minutes or 0)) * 60_000
    total_ms += int(seconds or 0) * 1_000
    if fraction:
        part_ms = int(fraction.ljust(9, "0")) // 1_000_000
        total_ms += -part_ms if (seconds or "").startswith("-") else part_ms
    return -total_ms if sign == "-" else total_ms
