"""Ottla as a system under test, and what every system under test is: a process, where it listens, how to end
it.

A peer (`peers/`) is one more class with `name`, `new_folder()` and `launch(folder)`, which returns at once,
and `start(topic, partitions)`, which returns when the system listens and the topic exists. Only the plan of a
page names systems.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from children import die_with_the_run
from kafka_socket import KafkaSocket, api_versions, create_topics
from ottla.cli.unused_ports import unused_ports

STOP_S = 60
_LAG = re.compile(r"late by p99 ([\d.]+) ms, at most ([\d.]+) ms")


class Running:
    """A started system."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self.process = process
        self.address = address

    @property
    def pid(self) -> int:
        return self.process.pid

    def stop(self) -> dict[str, float]:
        """Ends the process; what it said about itself at the end."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self._wait()
        return {}

    def _wait(self) -> None:
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise


class RunningNode(Running):
    """A broker with a data directory, which goes when the broker is stopped unless it is to be kept."""

    def __init__(
        self, process: subprocess.Popen[str], address: str, folder: Path, *, keep: bool = False
    ) -> None:
        super().__init__(process, address)
        self.folder = folder
        self.keep = keep

    @property
    def data(self) -> Path:
        """Where the partitions are."""
        return self.folder / "data"

    def stop(self) -> dict[str, float]:
        self.process.terminate()
        self._wait()
        said = self.last_words()
        if not self.keep:
            shutil.rmtree(self.folder, ignore_errors=True)
        return said

    def last_words(self) -> dict[str, float]:
        return {}

    def kill(self) -> None:
        """What a crash does; the data stays."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class RunningOttla(RunningNode):
    def last_words(self) -> dict[str, float]:
        said = _LAG.search((self.folder / "stderr").read_text())
        return {"lag_p99_ms": float(said[1]), "lag_max_ms": float(said[2])} if said else {}


class Ottla:
    """This repository's broker, one node. `settings` go on top of its defaults."""

    def __init__(
        self, folder: Path | None, name: str = "ottla", settings: dict[str, str] | None = None
    ) -> None:
        self.name = name
        self.folder = folder
        self.settings = settings or {}
        self.command = str(Path(sys.executable).with_name("ottla"))

    def new_folder(self) -> Path:
        return Path(tempfile.mkdtemp(prefix="ottla-bench-", dir=self.folder))

    def spawn(self, folder: Path, port: int = 0) -> subprocess.Popen[str]:
        settings = [f"--set={key}={value}" for key, value in self.settings.items()]
        with (folder / "stderr").open("w") as log:
            return subprocess.Popen(
                [self.command, "start", "--data", str(folder / "data"), "--port", str(port), *settings],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                preexec_fn=die_with_the_run,
                # As at a user's: Python keeps the bytecode of what it has compiled once.
                env={key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"},
            )

    def launch(self, folder: Path, *, keep: bool = True) -> RunningOttla:
        """Starts a broker on the data in `folder`, new or not, and does not wait for it."""
        (port,) = unused_ports("127.0.0.1", 1)
        return RunningOttla(self.spawn(folder, port), f"localhost:{port}", folder, keep=keep)

    def resume(self, folder: Path, *, keep: bool) -> RunningOttla:
        """Starts a broker on the data in `folder`, and returns when it says that it listens."""
        process = self.spawn(folder)
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"PLAINTEXT://\S+?:(\d+)", line)
        if found is None:
            process.kill()
            raise RuntimeError(f"ottla did not start: {(folder / 'stderr').read_text()[-500:]}")
        return RunningOttla(process, f"localhost:{found[1]}", folder, keep=keep)

    def start(self, topic: str, partitions: int) -> RunningOttla:
        running = self.resume(self.new_folder(), keep=False)
        with KafkaSocket(running.address) as connection:
            create_topics(connection, [topic], partitions)
        return running


def wait_for_answer(address: str, deadline_s: float = 60) -> None:
    """Returns at the first ApiVersions answer."""
    until = time.monotonic() + deadline_s
    while time.monotonic() < until:
        with suppress(OSError):
            api_versions(address)
            return
        time.sleep(0.001)
    raise TimeoutError(f"nobody answers on {address}")


def wait_until_gone(folders: Iterable[Path], topic: str, deadline_s: float) -> None:
    """Until the files of a deleted topic are off the disk. Not for ever: Kafka's first look for deleted logs
    is half a minute after its start.
    """
    folders = list(folders)
    until = time.monotonic() + deadline_s
    while time.monotonic() < until and any(any(each.glob(f"{topic}-*")) for each in folders):
        time.sleep(0.05)
