"""What a failed Spark job says of its reason: Spark hands errors of tasks on as texts, with tracebacks."""

from __future__ import annotations

import re
from typing import Final

from ottla.pipelines.sink.errors import UnwritableRow

_UNWRITABLE: Final = re.compile(rf"{re.escape(UnwritableRow.__module__)}\.{UnwritableRow.__name__}: (.*)")
_CANCELLED: Final = re.compile(
    r"SPARK_JOB_CANCELLED|Job \d+ cancelled |InterruptedException|stopped SparkContext"
    r"|SparkContext (?:was|has been) shut ?down",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(r"[A-Za-z_][\w.]*: \S")


def unwritable_in(error: BaseException) -> str | None:
    """The sentence of an UnwritableRow, where that is the reason."""
    if isinstance(error, UnwritableRow):
        return str(error)
    found = _UNWRITABLE.search(str(error))
    return found[1].strip() if found else None


def is_cancelled(error: BaseException) -> bool:
    """Whether the job ended because somebody stopped the query, or Spark."""
    return _CANCELLED.search(str(error)) is not None


def reason_in(error: BaseException) -> str:
    """One line that says why: of a Python worker's traceback the last, which names the error."""
    first, *lines = str(error).strip().splitlines() or [""]
    own = lines[: next((i for i, line in enumerate(lines) if line.startswith("JVM stack")), len(lines))]
    named = [line for line in own if _NAMED.match(line)]
    return (named[-1] if named and first.endswith(":") else first)[:300]
