"""What the processes of an exactly-once run are told, and what they tell.

A process gets its order as one JSON object, its only argument. It tells on its standard output, one JSON line
`[kind, seconds, data]` per event, the seconds from CLOCK_MONOTONIC, which all processes of a machine share
(Java's `System.nanoTime` reads it too). A line is one write without a buffer: what happened before a kill -9
has been told. The kinds:

- `ready`: a transactional producer has fenced its predecessors; for the others, it is connected;
- `ending` with `[transaction, records, "commit" or "abort"]`: everything is produced, and the end of the
  transaction is asked for after this line and not before;
- `committed` with `[transaction, records]`, `aborted` with `[transaction, reason]`: the client's word for it.
  A transaction without either has an outcome that nobody was told;
- `retrying` with an error: a call of the transaction failed in a way that allows to make it again;
- `assigned`, `revoked`, `lost` with a list of partitions of the input;
- `loaded` with the number of records that the loader knows to be there, of this life and those before;
- `fatal` with an error's name and text: the client library says that this producer or consumer is over, and
  the process ends with code 3;
- `done`, `closed`: the process has finished, or was asked to end and has.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any, NamedTuple

FATAL_EXIT = 3


class Event(NamedTuple):
    kind: str
    at_s: float
    data: Any = None


class Ledger:
    def __init__(self) -> None:
        self.order: dict[str, Any] = json.loads(sys.argv[1])
        self.stopping = False
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def _stop(self, *_: object) -> None:
        self.stopping = True

    def tell(self, kind: str, data: Any = None) -> None:
        line = json.dumps([kind, round(time.monotonic(), 6), data], separators=(",", ":"))
        os.write(1, line.encode() + b"\n")
