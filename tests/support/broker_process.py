"""A real broker process on a free port with a data directory of its own, which tests may stop, kill and
restart.

The process is started as a user would start it (`ottla start`), except that limits without a configuration
key can be lowered, so that a test of a timeout does not have to wait for the real one. Everything that it
prints goes to a file beside its data directory.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from support.waiting import wait_until

READY = re.compile(r"ready.*PLAINTEXT://(\S+?):(\d+)")
START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 30.0

# Lowers limits of ottla.model.limits before anything reads them, then goes on as `ottla`.
_LOWERED = """
import sys
from ottla.model import limits
for pair in sys.argv.pop(1).split(","):
    name, value = pair.split("=")
    assert hasattr(limits, name), name
    setattr(limits, name, int(value))
from ottla.cli.main import main
main()
"""


class BrokerProcess:
    def __init__(
        self,
        data_dir: Path,
        *,
        settings: Mapping[str, str] | None = None,
        limits: Mapping[str, int] | None = None,
        preexec: Callable[[], None] | None = None,
        log_path: Path | None = None,
    ) -> None:
        self.data_dir = data_dir
        self.log_path = log_path or data_dir.parent / f"{data_dir.name}.out"
        self.settings = dict(settings or {})
        self.limits = dict(limits or {})
        self.host = "127.0.0.1"
        self.port = 0
        self.ready_after_s = 0.0
        self._preexec = preexec
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def launch(self) -> subprocess.Popen[bytes]:
        """Starts the process without waiting for it; its port stays the one it had."""
        assert not self.running
        command = [sys.executable]
        if self.limits:
            command += ["-c", _LOWERED, ",".join(f"{name}={value}" for name, value in self.limits.items())]
        else:
            command += ["-m", "ottla.cli.main"]
        listener = f"PLAINTEXT://127.0.0.1:{self.port}"
        command += ["start", "--data", str(self.data_dir), "--set", f"listeners={listener}"]
        for key, value in self.settings.items():
            command += ["--set", f"{key}={value}"]
        with self.log_path.open("ab") as out:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, preexec_fn=self._preexec
            )
        return self._process

    def start(self) -> BrokerProcess:
        mark = self.log_mark()
        began = time.monotonic()
        process = self.launch()

        def ready() -> re.Match[str] | None:
            found = READY.search(self.log_since(mark))
            if found is None and process.poll() is not None:
                raise AssertionError(f"the broker ended with {process.returncode}:\n{self.log_since(mark)}")
            return found

        try:
            found = wait_until(ready, "the broker's ready line", timeout_s=START_TIMEOUT_S)
        except AssertionError:
            self.kill()
            raise
        self.ready_after_s = time.monotonic() - began
        assert found is not None
        self.port = int(found.group(2))
        return self

    def kill(self) -> None:
        """kill -9: the process gets no chance to do anything."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait(STOP_TIMEOUT_S)

    def stop(self) -> int:
        """SIGTERM, and its exit code."""
        assert self._process is not None
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        return self._process.wait(STOP_TIMEOUT_S)

    def wait_for_exit(self, timeout_s: float = STOP_TIMEOUT_S) -> int:
        assert self._process is not None
        return self._process.wait(timeout_s)

    # --- what it says and costs ---------------------------------------------------------------------------

    def log_mark(self) -> int:
        return self.log_path.stat().st_size if self.log_path.exists() else 0

    def log_since(self, mark: int) -> str:
        if not self.log_path.exists():
            return ""
        with self.log_path.open("rb") as file:
            file.seek(mark)
            return file.read().decode(errors="replace")

    def log_lines_since(self, mark: int) -> list[str]:
        return [line for line in self.log_since(mark).splitlines() if line.strip()]

    def memory_kb(self, field: str = "VmRSS") -> int:
        """`VmRSS`, or `VmHWM` for the peak since `forget_peak`."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1])
        raise AssertionError(f"no {field} in /proc/{self.pid}/status")

    def forget_peak(self) -> None:
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def open_files(self) -> int:
        return len(os.listdir(f"/proc/{self.pid}/fd"))


BrokerFactory = Callable[..., BrokerProcess]
