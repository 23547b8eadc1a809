"""Long work cut into steps, so that an assignment for a big group never holds the event loop.

An assignor is a generator that yields after about `STEP_UNITS` units of work, where a unit is what one
partition or one subscription costs: 0.1 to 0.4 µs. Nothing here reads a clock.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator, Iterable
from itertools import islice
from typing import Any, Final, TypeVar

STEP_UNITS: Final = 500
"""At most some 200 µs; a tenth of it would show in the total, since resuming nested generators costs as
well.
"""

_RUN: Final = STEP_UNITS // 4
"""Sorting costs more per item than a unit."""

_T = TypeVar("_T")


def drain(steps: Generator[None, None, _T]) -> _T:
    """All the steps at once."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: _T = end.value
            return result


def sort_in_steps(items: Iterable[_T], key: Callable[[_T], Any]) -> Generator[None, None, list[_T]]:
    """`sorted`, in runs of one step each that are then merged."""
    source = iter(items)
    runs: list[list[_T]] = []
    while run := list(islice(source, _RUN)):
        run.sort(key=key)
        runs.append(run)
        yield
    if len(runs) <= 1:
        return runs[0] if runs else []
    merged = heapq.merge(*runs, key=key)
    result: list[_T] = []
    while some := list(islice(merged, _RUN)):
        result += some
        yield
    return result
