"""The systems under test, each in a process of its own: how to start one, where it listens, how to stop it.

A further peer is one more class with `name`, `start(topic, partitions)` and a `Running`; nothing else in the
harness names a system. `start` returns when the system listens and the topic exists.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from kafka_socket import KafkaSocket, api_versions, create_topics

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


class RunningOttla(Running):
    def __init__(self, process: subprocess.Popen[str], address: str, folder: Path, *, keep: bool) -> None:
        super().__init__(process, address)
        self.folder = folder
        self._keep = keep

    def stop(self) -> dict[str, float]:
        self.process.terminate()
        self._wait()
        said = _LAG.search((self.folder / "stderr").read_text())
        if not self._keep:
            shutil.rmtree(self.folder, ignore_errors=True)
        return {"lag_p99_ms": float(said[1]), "lag_max_ms": float(said[2])} if said else {}

    def kill(self) -> None:
        """What a crash does; the data stays."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Ottla:
    """This repository's broker, one node, with its defaults."""

    def __init__(self, folder: Path | None, name: str = "ottla") -> None:
        self.name = name
        self.folder = folder
        self.command = str(Path(sys.executable).with_name("ottla"))

    def new_folder(self) -> Path:
        return Path(tempfile.mkdtemp(prefix="ottla-bench-", dir=self.folder))

    def spawn(self, folder: Path, port: int = 0) -> subprocess.Popen[str]:
        with (folder / "stderr").open("w") as log:
            return subprocess.Popen(
                [self.command, "start", "--data", str(folder / "data"), "--port", str(port)],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def resume(self, folder: Path, *, keep: bool) -> RunningOttla:
        """Starts a broker on the data in `folder`, new or not."""
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


class MockCluster:
    """librdkafka's mock cluster: C, one thread, no disk, no checks, the last 5 MB of each partition. What is
    left when a broker does nothing but speak the protocol.
    """

    name = "mock"

    def __init__(self, load: Path) -> None:
        self._load = load

    def start(self, topic: str, partitions: int) -> Running:
        process = subprocess.Popen(
            [str(self._load), "mock", "1", str(partitions), topic],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        return Running(process, process.stdout.readline().strip())


System = Ottla | MockCluster


def wait_for_answer(address: str, deadline_s: float = 60) -> None:
    """Returns at the first ApiVersions answer."""
    until = time.monotonic() + deadline_s
    while time.monotonic() < until:
        with suppress(OSError):
            api_versions(address)
            return
        time.sleep(0.001)
    raise TimeoutError(f"nobody answers on {address}")
