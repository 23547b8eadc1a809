"""The C load generator (load.c, librdkafka): built, and called."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import c_program
from children import die_with_the_run

SOURCE = Path(__file__).with_name("load.c")


def build(folder: Path) -> Path:
    return c_program.build(SOURCE, folder)


def call(program: Path, *arguments: object, timeout_s: float = 180) -> dict[str, Any]:
    """Runs the generator to its end; the one line of JSON that it prints."""
    return Background(program, *arguments).result(timeout_s)


class Background:
    """A generator at work beside something else."""

    def __init__(self, program: Path, *arguments: object) -> None:
        self._what = str(arguments[0])
        self._process = subprocess.Popen(
            [str(program), *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=die_with_the_run,
        )

    def finish(self) -> None:
        """Lets a producer end before its time; it delivers what it has and tells its figures."""
        self._process.send_signal(signal.SIGTERM)

    def result(self, timeout_s: float = 180) -> dict[str, Any]:
        try:
            said, complaints = self._process.communicate(timeout=timeout_s)
        except BaseException:
            self._process.kill()
            self._process.communicate()
            raise
        if self._process.returncode:
            raise RuntimeError(f"load {self._what} failed: {said.strip()} {complaints.strip()[-500:]}")
        found: dict[str, Any] = json.loads(said)
        return found
