"""What a member tells on its standard output, one JSON line per event, and the commits that it still owes.

Every line is `[kind, seconds, ...]`, the seconds from CLOCK_MONOTONIC, which all processes of a machine
share (Java's `System.nanoTime` reads it too). The kinds:

- `assigned`, `revoked`, `lost` with a list of partitions: from inside the client's callback;
- `batch` with `[partition, first offset, last offset]` for each run of consecutive offsets that was polled
  and counts as processed from here on; a record whose value is not its offset is told as a gap;
- `trying` with `[partition, offset]` pairs before a commit is sent, then `committed` with the pairs that the
  broker confirmed, or `refused` with the error's name;
- `hiccup` for a fault of the client itself that it gets over;
- `closing` once nothing more will be processed, `closed` after the client has left, `fatal` with the name of
  an error that ends the member.

A line is one write without a buffer: what happened before a kill -9 has been told.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

Label = int | str


class Record(NamedTuple):
    partition: Label
    offset: int
    value: bytes | None


class Spec:
    """The member's one argument: what to join and how; see `process.py` for the fields."""

    def __init__(self) -> None:
        self._fields: dict[str, Any] = json.loads(sys.argv[1])

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def get(self, name: str, default: Any = None) -> Any:
        return self._fields.get(name, default)

    def label(self, topic: str, partition: int) -> Label:
        """The number alone where it is clear which topic is meant."""
        return partition if topic == self._fields.get("topic") else f"{topic}-{partition}"


class Ledger:
    def __init__(self, spec: Spec) -> None:
        self._work_s = spec.get("work_ms", 0) / 1000
        self._chance = random.Random(os.getpid())
        self.owed: dict[Label, int] = {}
        """Next offset of each partition that was processed and is not known to be committed."""
        self.stopping = False
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def _stop(self, *_: object) -> None:
        self.stopping = True

    def tell(self, kind: str, *data: Any) -> None:
        line = json.dumps([kind, round(time.monotonic(), 6), *data], separators=(",", ":"))
        os.write(1, line.encode() + b"\n")

    def assigned(self, partitions: Iterable[Label]) -> None:
        self.tell("assigned", sorted(partitions, key=str))

    def gone(self, kind: str, partitions: Iterable[Label]) -> None:
        """Partitions are taken away: nothing is owed for them any more."""
        gone = sorted(partitions, key=str)
        for partition in gone:
            self.owed.pop(partition, None)
        self.tell(kind, gone)

    def process(self, records: Iterable[Record]) -> None:
        runs: list[list[Any]] = []
        last: dict[Label, list[Any]] = {}
        for record in records:
            if record.value != b"%d" % record.offset:
                self.tell("fatal", f"offset {record.offset} of {record.partition} holds {record.value!r}")
                sys.exit(4)
            run = last.get(record.partition)
            if run is not None and run[2] + 1 == record.offset:
                run[2] = record.offset
            else:
                last[record.partition] = run = [record.partition, record.offset, record.offset]
                runs.append(run)
            self.owed[record.partition] = record.offset + 1
        if runs:
            self.tell("batch", runs)
            if self._work_s:
                # Work takes time: so that a kill can meet the moment between processing and committing.
                time.sleep(self._chance.random() * self._work_s)

    def settle(self, commit: Callable[[dict[Label, int]], dict[Label, int]]) -> None:
        """Commits what is owed; `commit` returns what was confirmed, or raises the client's error."""
        if not self.owed:
            return
        offsets = dict(self.owed)
        self.tell("trying", list(offsets.items()))
        try:
            confirmed = commit(offsets)
        except Exception as error:
            self.refused(error)
        else:
            self.confirmed(confirmed)

    def confirmed(self, offsets: dict[Label, int]) -> None:
        self.tell("committed", list(offsets.items()))
        for partition, offset in offsets.items():
            if self.owed.get(partition) == offset:
                del self.owed[partition]

    def refused(self, error: BaseException) -> None:
        self.tell("refused", name_of(error))


def name_of(error: BaseException) -> str:
    """Kafka's name for the error where the client gives one."""
    inner = error.args[0] if error.args and hasattr(error.args[0], "name") else error
    name = getattr(inner, "name", None)
    return str(name() if callable(name) else type(error).__name__) + (f": {error}" if not name else "")
