"""The history of a run: what every client was about to do, and what it then knew.

An operation is a list of micro-operations: sends of a value to a key (a key is a partition), polls, and
resets (an assignment, a seek or a rebalance, after which a reader's place in a partition means nothing). It
is written twice, as Jepsen's histories are: `invoke` before anything is sent, and then one of

* `ok`: it happened. A transaction was committed.
* `fail`: it certainly did not happen. A transaction is `fail` whenever its client never asked for a commit,
  whatever else went wrong: nobody else may commit it.
* `info`: nobody knows.

Within an operation that is `info` each send still says whether it was acknowledged. All events have numbers
from one counter; a poll has the number at which it returned (`at`), a transaction the number before its
commit was asked for (`commit_at`), so "before" is certain where the checker says it.

A process is one life of one client: after a crash the worker goes on under another name. The file is JSON
lines; a poll's records are flat (`offset, value, offset, value, ...`) per run of one key, to keep an hour of
them in memory. Notes tell what was done to the system, and the last one what the audit of the wire found.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

Outcome = Literal["ok", "fail", "info"]
Isolation = Literal["committed", "uncommitted", ""]

OFFSET_UNKNOWN = -1
# The note that holds the facts of the wire.
WIRE = "wire"


class Send(NamedTuple):
    """`offset` is None where nothing was acknowledged, -1 where the acknowledgement had no offset."""

    key: int
    value: int
    offset: int | None = None


class Poll(NamedTuple):
    """Records in the order in which they were handed out, in runs of one key."""

    runs: list[tuple[int, list[int]]]
    at: int

    def records(self) -> Iterator[tuple[int, int, int]]:
        for key, flat in self.runs:
            for place in range(0, len(flat), 2):
                yield key, flat[place], flat[place + 1]


class Reset(NamedTuple):
    """The reader's place in these keys is somewhere else now; None stands for all keys."""

    keys: list[int] | None
    why: str


Micro = Send | Poll | Reset


@dataclass(slots=True)
class Operation:
    process: str
    kind: str
    outcome: Outcome
    micros: list[Micro]
    invoked: int
    completed: int
    isolation: Isolation = ""
    transactional: bool = False
    commit_at: int | None = None
    group: str = ""
    error: str = ""
    # A final read: up to which offset it went, from 0, in each key.
    covers: dict[int, int] = field(default_factory=dict)


class History:
    """Takes events from many threads, numbers them, keeps the operations and writes them down."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.operations: list[Operation] = []
        self._under_way: dict[int, Operation] = {}
        self._file = path.open("w", encoding="utf-8")
        self._lock = threading.Lock()
        self._next = 0
        self._began_s = time.monotonic()

    def stamp(self) -> int:
        """A number between the events so far and those to come."""
        with self._lock:
            self._next += 1
            return self._next

    def invoke(
        self,
        process: str,
        kind: str,
        micros: Sequence[Micro] = (),
        *,
        isolation: Isolation = "",
        transactional: bool = False,
        group: str = "",
    ) -> Operation:
        with self._lock:
            self._next += 1
            operation = Operation(
                process,
                kind,
                "info",
                list(micros),
                self._next,
                self._next,
                isolation=isolation,
                transactional=transactional,
                group=group,
            )
            self._under_way[operation.invoked] = operation
            self._write("invoke", operation)
        return operation

    def complete(self, operation: Operation, outcome: Outcome, error: str = "") -> None:
        """The operation's micros are what the client knows now."""
        with self._lock:
            self._next += 1
            operation.outcome = outcome
            operation.completed = self._next
            operation.error = error
            self.operations.append(operation)
            del self._under_way[operation.invoked]
            self._write(outcome, operation)

    def under_way(self) -> list[Operation]:
        """What was never completed: `info`."""
        with self._lock:
            return list(self._under_way.values())

    def note(self, what: str, **details: Any) -> None:
        """Something that happened to the system, for whoever reads the file."""
        with self._lock:
            self._next += 1
            event = {"i": self._next, "t": self._now_s(), "type": "note", "what": what, **details}
            self._file.write(json.dumps(event) + "\n")

    def note_wire(self, facts: dict[str, Any]) -> None:
        """What the audit of the wire found, once, at the end."""
        self.note(WIRE, facts=facts)

    def close(self) -> None:
        with self._lock:
            self._file.close()

    def _now_s(self) -> float:
        return round(time.monotonic() - self._began_s, 4)

    def _write(self, kind: str, operation: Operation) -> None:
        # Records first and last: what a reader of the file looks for.
        event: dict[str, Any] = {
            "i": operation.completed,
            "t": self._now_s(),
            "p": operation.process,
            "type": kind,
            "f": operation.kind,
            "of": operation.invoked,
            "value": [_micro_to_json(micro) for micro in operation.micros],
        }
        if operation.isolation:
            event["isolation"] = operation.isolation
        if operation.transactional:
            event["transactional"] = True
        if operation.commit_at is not None:
            event["commit_at"] = operation.commit_at
        if operation.group:
            event["group"] = operation.group
        if operation.error:
            event["error"] = operation.error
        if operation.covers:
            event["covers"] = {str(key): end for key, end in operation.covers.items()}
        self._file.write(json.dumps(event, separators=(",", ":")) + "\n")


def load(lines: Iterable[str]) -> list[Operation]:
    """The completed operations of a history file, and as `info` those that never completed."""
    operations: list[Operation] = []
    under_way: dict[int, Operation] = {}
    for line in lines:
        event = json.loads(line)
        if event["type"] == "note":
            continue
        operation = Operation(
            event["p"],
            event["f"],
            "info" if event["type"] == "invoke" else event["type"],
            [_micro_from_json(micro) for micro in event["value"]],
            event["of"],
            event["i"],
            isolation=event.get("isolation", ""),
            transactional=event.get("transactional", False),
            commit_at=event.get("commit_at"),
            group=event.get("group", ""),
            error=event.get("error", ""),
            covers={int(key): end for key, end in event.get("covers", {}).items()},
        )
        if event["type"] == "invoke":
            under_way[operation.invoked] = operation
        else:
            under_way.pop(operation.invoked, None)
            operations.append(operation)
    return operations + list(under_way.values())


def load_wire(lines: Iterable[str]) -> dict[str, Any] | None:
    """The facts of the wire, where a run came to its end."""
    for line in lines:
        if line.startswith('{"i"') and '"type": "note"' in line:
            event = json.loads(line)
            if event["what"] == WIRE:
                facts: dict[str, Any] = event["facts"]
                return facts
    return None


def _micro_to_json(micro: Micro) -> list[Any]:
    if isinstance(micro, Send):
        return ["send", *micro]
    if isinstance(micro, Poll):
        return ["poll", *micro]
    return ["reset", *micro]


def _micro_from_json(micro: list[Any]) -> Micro:
    if micro[0] == "send":
        return Send(*micro[1:])
    if micro[0] == "poll":
        return Poll([(key, flat) for key, flat in micro[1]], micro[2])
    return Reset(*micro[1:])
