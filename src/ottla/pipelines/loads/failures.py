"""What a failed Spark job says of its reason, in one line: Spark hands errors on as long texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException

from ottla.client.errors import OttlaError
from ottla.pipelines.loads.errors import LoadError

_PYTHON_ERROR: Final = re.compile(r"^(?:[\w]+\.)*([A-Z]\w*): (.+)$", re.MULTILINE)
_RAISED: Final = re.compile(r"\[USER_RAISED_EXCEPTION\] (.*?)(?: SQLSTATE|$)", re.MULTILINE)
_CONDITION: Final = re.compile(r"\[[A-Z_.]+\] (.*?)(?: SQLSTATE|$)", re.MULTILINE)
_LOST: Final = re.compile(r"most recent failure: [^\n]*?\): (?:(?:\w+\.)+\w+: )*([^\n]+)")
_THROWN: Final = re.compile(r"^: (?:(?:\w+\.)+\w+: )*(.+)$", re.MULTILINE)
_TRACEBACK: Final = "Traceback (most recent call last)"
REASON_CHARS_MAX: Final = 500


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Spark's errors as a LoadError of one line; ours, and Ctrl-C, as they are."""
    try:
        yield
    except OttlaError:
        raise
    except (PySparkException, Py4JError) as error:
        raise LoadError(f"{what}: {reason(str(error))}") from error


def reason(text: str) -> str:
    """The innermost error that a text of Spark's names."""
    found = ""
    if raised := _RAISED.findall(text):
        found = raised[-1]
    elif _TRACEBACK in text:
        # The task's own traceback ends with the error; what follows are the stacks of the machines around it.
        inner = text[text.rindex(_TRACEBACK) :].split("\n\tat ")[0]
        if errors := _PYTHON_ERROR.findall(inner):
            kind, message = errors[0]
            found = (
                message if kind.endswith(("Failed", "Refused", "Missing", "Error")) else f"{kind}: {message}"
            )
    if not found and (conditions := _CONDITION.findall(text)):
        found = conditions[-1]
    if not found and (lost := _LOST.findall(text)):  # an executor, or its Python, that died
        found = lost[-1]
    if not found and (thrown := _THROWN.search(text)):
        found = thrown[1]
    if not found:
        found = next((line for line in text.splitlines() if line.strip()), "Spark does not say why")
    return " ".join(found.split())[:REASON_CHARS_MAX]
