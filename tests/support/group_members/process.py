"""One group member as a process: started, told to leave, killed with -9, and listened to.

What it tells (`ledger.py`) goes to a file, so that nothing is lost with the process; its complaints go to
another. The `kind` is the client library.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from support.group_members.ledger import Label
from support.java_client import JVM_OPTIONS, class_path
from support.tools import REPOSITORY, tool
from support.waiting import wait_until

KINDS = ("confluent-kafka", "aiokafka", "kafka-python", "java")
_MODULES = {
    "confluent-kafka": "support.group_members.confluent_member",
    "aiokafka": "support.group_members.aiokafka_member",
    "kafka-python": "support.group_members.kafka_python_member",
    "ottla": "support.group_members.ottla_member",
}
EXIT_TIMEOUT_S = 30.0
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def _die_with_the_tests() -> None:
    """A member must not outlive a test run that is itself killed."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Event(NamedTuple):
    kind: str
    at_s: float
    data: Any = None

    @property
    def partitions(self) -> list[Label]:
        return list(self.data)

    @property
    def pairs(self) -> dict[Label, int]:
        return dict(self.data)


class MemberProcess:
    def __init__(
        self,
        kind: str,
        folder: Path,
        *,
        name: str,
        bootstrap: str,
        group: str,
        topic: str | None = None,
        pattern: str | None = None,
        protocol: str = "classic",
        assignors: tuple[str, ...] = ("range",),
        remote_assignor: str | None = None,
        instance_id: str | None = None,
        session_ms: int = 6000,
        heartbeat_ms: int = 300,
        max_poll_records: int = 100,
        work_ms: int = 0,
    ) -> None:
        self.kind = kind
        self.name = name
        self.killed_at_s: float | None = None
        self.stopped_at_s: float | None = None
        self._events: list[Event] = []
        self._read_bytes = 0
        self._path = folder / f"{name}.events"
        self._complaints = folder / f"{name}.err"
        spec = {
            "name": name,
            "bootstrap": bootstrap,
            "group": group,
            "topic": topic,
            "pattern": pattern,
            "protocol": protocol,
            "assignors": assignors,
            "remote_assignor": remote_assignor,
            "instance_id": instance_id,
            "session_ms": session_ms,
            "heartbeat_ms": heartbeat_ms,
            "max_poll_records": max_poll_records,
            "work_ms": work_ms,
        }
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "tests")}
        if kind == "java":
            command = [tool("java"), *JVM_OPTIONS, "-Xmx128m", "-cp", class_path(), "GroupMember"]
        else:
            command = [sys.executable, "-m", _MODULES[kind]]
        self.started_at_s = time.monotonic()
        with self._path.open("wb") as out, self._complaints.open("wb") as err:
            self._process = subprocess.Popen(
                [*command, json.dumps(spec)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=environment,
                preexec_fn=_die_with_the_tests,
            )

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        return self._process.poll()

    def kill(self) -> None:
        """kill -9; what it owned it owns until this moment."""
        if self.running:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait(EXIT_TIMEOUT_S)
            self.killed_at_s = time.monotonic()

    def terminate(self) -> None:
        """SIGTERM: it will commit, leave the group and end."""
        self.stopped_at_s = time.monotonic()
        if self.running:
            self._process.send_signal(signal.SIGTERM)

    def pause(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def wait(self, timeout_s: float = EXIT_TIMEOUT_S) -> int:
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} did not end in {timeout_s} s:\n{self.complaints()}") from None

    def stop(self, timeout_s: float = EXIT_TIMEOUT_S) -> int:
        self.terminate()
        return self.wait(timeout_s)

    # --- what it tells ------------------------------------------------------------------------------------

    def events(self) -> list[Event]:
        """Everything told so far; a line that a kill has cut is not there."""
        with self._path.open("rb") as file:
            file.seek(self._read_bytes)
            new = file.read()
        whole = new[: new.rfind(b"\n") + 1]
        self._read_bytes += len(whole)
        self._events += [Event(*json.loads(line)[:3]) for line in whole.splitlines()]
        return self._events

    def complaints(self) -> str:
        return self._complaints.read_text(errors="replace")[-4000:]

    def wait_for(self, condition: Callable[[list[Event]], Any], what: str, *, timeout_s: float = 30.0) -> Any:
        """The first true value of `condition` over the events; fails when the member ends before."""

        def look() -> Any:
            running = self.running
            found = condition(self.events())
            assert found or running, f"{self.name} ended with {self.exit_code}:\n{self.complaints()}"
            return found

        try:
            return wait_until(look, f"{self.name}: {what}", timeout_s=timeout_s, pause_s=0.03)
        except AssertionError as error:
            told = "\n".join(map(str, self._events[-12:]))
            raise AssertionError(f"{error}\n{told}\n{self.complaints()}") from None

    def owned(self) -> set[Label]:
        """What it holds now, going by its own words."""
        held: set[Label] = set()
        for event in self.events():
            if event.kind == "assigned":
                held |= set(event.partitions)
            elif event.kind in ("revoked", "lost"):
                held -= set(event.partitions)
            elif event.kind in ("closing", "fatal"):
                held.clear()
        return held

    def delivered(self) -> dict[Label, list[int]]:
        """Offsets it processed, in its order."""
        found: dict[Label, list[int]] = {}
        for event in self.events():
            if event.kind == "batch":
                for partition, first, last in event.data:
                    found.setdefault(partition, []).extend(range(first, last + 1))
        return found

    def committed(self) -> dict[Label, int]:
        """The last confirmed commit of each partition."""
        found: dict[Label, int] = {}
        for event in self.events():
            if event.kind == "committed":
                found.update(event.pairs)
        return found

    def count(self, kind: str) -> int:
        return sum(event.kind == kind for event in self.events())
