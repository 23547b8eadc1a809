"""One process of an exactly-once run: a loader, an instance of the application, or a follower of its output.

It is started, frozen, told to end, killed with -9, and listened to. What it tells (`ledger.py`) goes to a
file, so that nothing is lost with the process; its complaints go to another.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from chaos.exactly_once.ledger import Event
from chaos.exactly_once.systems import die_with_the_run
from support.java_client import JVM_OPTIONS, class_path
from support.tools import REPOSITORY, tool

EXIT_TIMEOUT_S = 60.0
CONFLUENT, JAVA = "confluent-kafka", "java"
_PROGRAMS = {
    ("loader", CONFLUENT): "chaos.exactly_once.loader",
    ("app", CONFLUENT): "chaos.exactly_once.transform_app",
    ("follower", CONFLUENT): "chaos.exactly_once.follower",
    ("app", JAVA): "TransformApp",
    ("follower", JAVA): "OutputFollower",
}


class Child:
    def __init__(self, role: str, kind: str, folder: Path, order: dict[str, Any]) -> None:
        self.role, self.kind, self.order = role, kind, order
        self.name: str = order["name"]
        self.killed = False
        self.frozen = False
        self._events: list[Event] = []
        self._read_bytes = 0
        self._told_all = False
        self._committed_records = 0
        self._asked = 0
        self._path = folder / f"{self.name}.events"
        self._complaints = folder / f"{self.name}.err"
        program = _PROGRAMS[role, kind]
        if kind == JAVA:
            command = [tool("java"), *JVM_OPTIONS, "-Xmx128m", "-cp", class_path(), program]
        else:
            command = [sys.executable, "-m", program]
        with self._path.open("wb") as out, self._complaints.open("wb") as err:
            self._process = subprocess.Popen(
                [*command, json.dumps(order)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env={**os.environ, "PYTHONPATH": str(REPOSITORY / "tests")},
                preexec_fn=die_with_the_run,
            )

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        return self._process.poll()

    def kill(self) -> None:
        if self.running:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait(EXIT_TIMEOUT_S)
            self.killed = True

    def freeze(self) -> None:
        self._process.send_signal(signal.SIGSTOP)
        self.frozen = True

    def thaw(self) -> None:
        if self.frozen:
            self.frozen = False
            if self.running:
                self._process.send_signal(signal.SIGCONT)

    def terminate(self) -> None:
        if self.running:
            self._process.send_signal(signal.SIGTERM)

    def events(self) -> list[Event]:
        """Everything told so far; a line that a kill has cut is not there."""
        if self._told_all:
            return self._events
        self._told_all = not self.running  # asked before the file is read: nothing can be added after that
        with self._path.open("rb") as file:
            file.seek(self._read_bytes)
            new = file.read()
        whole = new[: new.rfind(b"\n") + 1]
        self._read_bytes += len(whole)
        for line in whole.splitlines():
            event = Event(*json.loads(line)[:3])
            self._events.append(event)
            if event.kind == "committed":
                self._committed_records += event.data[1]
            self._asked = event.data[1] if event.kind == "ending" and event.data[2] == "commit" else 0
        return self._events

    def committed_records(self) -> int:
        """Records of all transactions that it was told are committed, and, once it is dead, of one that it
        had asked to commit last: nobody will tell its outcome.
        """
        self.events()
        return self._committed_records + (self._asked if self._told_all else 0)

    def last(self, kind: str) -> Any:
        """The data of the last event of a kind; None when there is none."""
        return next((event.data for event in reversed(self.events()) if event.kind == kind), None)

    def told(self, kind: str) -> bool:
        return any(event.kind == kind for event in self.events())

    def complaints(self) -> str:
        return self._complaints.read_text(errors="replace")[-3000:]
