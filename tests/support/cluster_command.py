"""A whole cluster, started as a user starts it: `ottla start --brokers N`, on free ports."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from support.waiting import wait_until

READY = re.compile(r"cluster ready in \S+ s: (\S+) \((\d+) broker")
START_TIMEOUT_S = 90.0
STOP_TIMEOUT_S = 90.0


class ClusterCommand:
    def __init__(self, folder: Path, brokers: int, *options: str) -> None:
        self.folder = folder
        self.data_dir = folder / "cluster"
        self.log_path = folder / "cluster.err"
        out_path = folder / "cluster.out"
        command = [sys.executable, "-m", "ottla.cli.main", "start", "--brokers", str(brokers), "--port", "0"]
        with out_path.open("wb") as out, self.log_path.open("wb") as err:
            self.process = subprocess.Popen(
                [*command, "--data", str(self.data_dir), *options],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            )

        def ready() -> re.Match[str] | None:
            if self.process.poll() is not None:
                raise AssertionError(f"the cluster ended with {self.process.returncode}:\n{self.log()}")
            return READY.search(out_path.read_text())

        try:
            found = wait_until(ready, "the cluster's ready line", timeout_s=START_TIMEOUT_S)
        except AssertionError as error:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"{error}\n{self.log()[-4000:]}") from None
        assert found is not None and int(found[2]) == brokers
        self.bootstrap = found[1]

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")

    def broker_pid(self, node_id: int) -> int | None:
        """The process of a broker, by its command line; None while there is none."""
        wanted = f"broker-{node_id}.properties"
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        for pid in children:
            try:
                words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
            except FileNotFoundError:
                continue
            if any(word.endswith(wanted) for word in words):
                return int(pid)
        return None

    def ottla(self, *args: str, code: int | None = 0) -> str:
        """Runs a command against it: what it prints. `code` None: whatever it ends with."""
        done = subprocess.run(
            [sys.executable, "-m", "ottla.cli.main", *args],
            capture_output=True,
            text=True,
            env={**os.environ, "OTTLA_BOOTSTRAP_SERVERS": self.bootstrap},
            timeout=120,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert code is None or done.returncode == code, (args, done.stdout, done.stderr)
        return done.stdout

    def stop(self) -> int:
        """One Ctrl-C."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(STOP_TIMEOUT_S)

    def kill(self) -> None:
        """kill -9 of the supervisor; the brokers have to end by themselves."""
        self.process.kill()
        self.process.wait(STOP_TIMEOUT_S)
