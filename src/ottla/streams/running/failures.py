"""Errors of a running application in the words of the program, instead of Java's stack.

Spark hands the error of a task on as a text with every frame that it went through, in Java and in Python.
What the user can do something about is one sentence of it: which step failed on which record, and why.
"""

from __future__ import annotations

import re
from typing import Final

_NAMED: Final = re.compile(
    r"(?:ottla\.streams\.errors\.(?:RecordError|SerdeError|TopologyError)"
    r"|ottla\.[a-z_.]+\.[A-Z]\w+): (?P<text>[^\n]+)"
)
_RAISED: Final = re.compile(r"\[USER_RAISED_EXCEPTION\] (?P<text>.+?) SQLSTATE", re.DOTALL)

_OF_FUNCTION: Final = "FOREACH_BATCH_USER_FUNCTION_ERROR"
_NOT_THE_REASON: Final = ("py4j.", "org.apache.", "java.", "pyspark.")
_STATED: Final = re.compile(r"terminated with exception: (?P<text>[^\n]+?)(?: SQLSTATE|\n|$)")


class ApplicationFailed(Exception):
    """A running application stopped because of an error; Spark's own is the cause of this one."""


class ForeignCheckpoint(Exception):
    """The checkpoint is another application's, or was made by a program that meant something else."""


class MissingTopic(Exception):
    """A topic that the program reads or writes is not there."""


def explained(stage_name: str, error: BaseException) -> ApplicationFailed:
    """The failure of a stage's query."""
    failure = ApplicationFailed(f"stage {stage_name}: {sentence(str(error))}")
    failure.__cause__ = error
    return failure


def sentence(text: str) -> str:
    """The sentence in Spark's text that says what went wrong."""
    named = [found["text"].strip() for found in _NAMED.finditer(text)]
    for candidate in named:
        if " offset " in candidate:  # a record is named: nothing says more
            return candidate
    raised = _RAISED.search(text)
    if raised is not None:
        return raised["text"].strip()
    if named:
        return named[0]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"[A-Za-z_.]*(?:Error|Exception): ", line)]
    stated = _STATED.search(text)
    if stated is not None:
        python = [line for line in errors if not line.startswith(_NOT_THE_REASON)]
        if python and _OF_FUNCTION in stated["text"]:  # which only says that something was raised
            return python[0]
        return stated["text"].strip()
    return errors[-1] if errors else (lines[0] if lines else "it failed without a reason")
