"""The driver's process and all that Spark starts below it: watched, and killed with -9, whole or in parts.

The driver leads a session of its own. Its JVM, the executors' JVMs and the Python workers stay in that
session, so they are found in /proc by it, whatever groups they put themselves into.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from support.tools import REPOSITORY

EXECUTOR = "CoarseGrainedExecutorBackend"
WORKER = "pyspark.daemon"


class DriverProcess:
    def __init__(self, order: dict[str, Any], log: Path) -> None:
        self.events: list[dict[str, Any]] = []
        self.news = threading.Condition()
        with log.open("ab") as err:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "chaos.pipeline_sink.application", json.dumps(order)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=err,
                env={**os.environ, "PYTHONPATH": str(REPOSITORY / "tests")},
                start_new_session=True,
            )
        self._reader = threading.Thread(target=self._listen, daemon=True)
        self._reader.start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                event = json.loads(line)
            except ValueError:
                continue  # something of Spark's
            with self.news:
                self.events.append(event)
                self.news.notify_all()
        with self.news:
            self.news.notify_all()

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    @property
    def done(self) -> bool:
        return any("done" in event for event in self.events)

    @property
    def batches(self) -> int:
        return sum("batch" in event for event in self.events)

    def wait_for_news(self, seen: int, timeout_s: float) -> None:
        """Until there is an event after the first `seen`, or the process has ended, or the time is up."""
        with self.news:
            self.news.wait_for(lambda: len(self.events) > seen or not self._reader.is_alive(), timeout_s)

    # --- killing --------------------------------------------------------------------------------------------

    def _members(self, command: str) -> list[int]:
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdecimal():
                continue
            try:
                pid = int(entry.name)
                if os.getsid(pid) == self._process.pid and command in (entry / "cmdline").read_text():
                    found.append(pid)
            except (OSError, UnicodeDecodeError):
                continue
        return sorted(found)

    def executors(self) -> list[int]:
        return self._members(EXECUTOR)

    def workers(self) -> list[int]:
        """Python processes that run tasks: the children of the daemons."""
        members = self._members(WORKER)
        return [pid for pid in members if _parent(pid) in members]

    def kill(self) -> None:
        """The driver, Python and JVM, at once. What Spark has started elsewhere ends when it notices; Python
        workers may go on for a moment, with what they have."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def sweep(self) -> None:
        """Everything that is left of the session."""
        self.kill()
        for pid in self._members(""):
            kill(pid)


def kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return -1
