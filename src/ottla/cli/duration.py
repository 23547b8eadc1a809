"""Lengths of time on the command line: `90s`, `15m`, `2h`, or milliseconds as in Kafka's tools."""

from __future__ import annotations

import re
from typing import Any, Final

import click

UNITS_MS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}

_TEXT: Final = re.compile(r"(\d+)\s*(ms|s|m|h|d)?", re.ASCII)
_INT64_MAX: Final = 2**63 - 1


class Duration(click.ParamType[int]):
    """Gives milliseconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = _TEXT.fullmatch(str(value).strip().lower())
        if found is None or len(found[1]) > len(str(_INT64_MAX)):
            self.fail(f"{value!r} is not a duration: write 90s, 15m, 2h or milliseconds", param, ctx)
        duration_ms = int(found[1]) * UNITS_MS[found[2] or "ms"]
        if duration_ms > _INT64_MAX:
            self.fail(f"{value!r} is too long", param, ctx)
        return duration_ms


def duration_text(duration_ms: int) -> str:
    """A duration for people: the two largest units, `2h 5m`."""
    rest = max(0, duration_ms)
    if rest < UNITS_MS["s"]:
        return f"{rest}ms"
    parts: list[str] = []
    for unit in ("d", "h", "m", "s"):
        count, rest = divmod(rest, UNITS_MS[unit])
        if count or parts:
            parts.append(f"{count}{unit}")
        if len(parts) == 2:
            break
    return " ".join(part for part in parts if not part.startswith("0"))
