"""Filters of a batch query that say which offsets are needed: whole ranges are then never read.

Filters on `topic`, `partition` and `offset` choose partitions and cut ranges, exactly: Spark need not look
again. Those on `timestamp` only help: offsets are in the order of arrival and timestamps need not be, so
nothing can be cut off at the end of a range; at its beginning, records before the first one that is as young
as wanted are older, all of them. Such filters go back to Spark, which applies them to the rows that are left.

Spark's filter classes are told apart by their names, so that this is tested without Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from ottla.model.types import TopicPartition

_INT64_MAX: Final = 2**63 - 1
_COMPARISONS: Final = ("EqualTo", "GreaterThan", "GreaterThanOrEqual", "LessThan", "LessThanOrEqual", "In")


@dataclass(slots=True)
class Pruning:
    """What is left to read."""

    offset_min: int = 0
    offset_max: int = _INT64_MAX
    moment_min_ms: int | None = None
    """Records older than this are not wanted."""
    tests: list[Callable[[TopicPartition], bool]] = field(default_factory=list)

    def wants(self, tp: TopicPartition) -> bool:
        return all(test(tp) for test in self.tests)

    def push(self, filters: Iterable[Any]) -> list[Any]:
        """Takes filters in; gives back those that Spark has to apply itself."""
        return [each for each in filters if not self._take(each)]

    def _take(self, given: Any) -> bool:
        """Whether a filter is now applied exactly."""
        kind = type(given).__name__
        if kind == "IsNotNull" and given.attribute in (("topic",), ("partition",), ("offset",)):
            return True  # they never are null
        negated = kind == "Not"
        inner = given.child if negated else given
        kind = type(inner).__name__
        if kind not in _COMPARISONS or len(inner.attribute) != 1:
            return False
        (column,) = inner.attribute
        if column == "timestamp":
            if not negated:
                self._take_moment(kind, inner.value)
            return False
        if column in ("topic", "partition"):
            return self._take_place(column, kind, inner.value, negated)
        return column == "offset" and not negated and self._take_offset(kind, inner.value)

    def _take_place(self, column: str, kind: str, value: Any, negated: bool) -> bool:
        wanted: type = str if column == "topic" else int
        if not all(isinstance(each, wanted) for each in (value if kind == "In" else (value,))):
            return False
        at = 0 if column == "topic" else 1
        test = _TESTS[kind]
        self.tests.append(lambda tp: test(tp[at], value) is not negated)
        return True

    def _take_offset(self, kind: str, value: Any) -> bool:
        values: Sequence[Any] = value if kind == "In" else (value,)
        if not values or not all(isinstance(each, int) for each in values):
            return False
        if kind in ("EqualTo", "In", "GreaterThanOrEqual", "GreaterThan"):
            least = min(values) + (kind == "GreaterThan")
            self.offset_min = max(self.offset_min, least)
        if kind in ("EqualTo", "In", "LessThanOrEqual", "LessThan"):
            most = max(values) - (kind == "LessThan")
            self.offset_max = min(self.offset_max, most)
        return kind != "In" or len(set(values)) == 1

    def _take_moment(self, kind: str, value: Any) -> None:
        values: Sequence[Any] = value if kind == "In" else (value,)
        if kind in ("LessThan", "LessThanOrEqual") or not values:
            return
        if not all(isinstance(each, datetime) for each in values):
            return
        moment_ms = min(milliseconds_of(each) for each in values)
        if moment_ms > 0:  # a record may claim to be older than 1970, which no broker can be asked for
            self.moment_min_ms = max(moment_ms, self.moment_min_ms or 0)


_TESTS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "EqualTo": lambda found, value: bool(found == value),
    "In": lambda found, value: found in value,
    "GreaterThan": lambda found, value: bool(found > value),
    "GreaterThanOrEqual": lambda found, value: bool(found >= value),
    "LessThan": lambda found, value: bool(found < value),
    "LessThanOrEqual": lambda found, value: bool(found <= value),
}


def milliseconds_of(moment: datetime) -> int:
    """Rounded down; without a time zone it is the worker's local time, in which Spark hands it over."""
    whole = moment if moment.tzinfo is not None else moment.astimezone(UTC)
    return int(whole.timestamp() * 1000 // 1)
