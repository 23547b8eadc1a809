"""The bystanders' process (steady.c): compiled against confluent-kafka's librdkafka, and asked."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import c_program

SOURCE = Path(__file__).with_name("steady.c")


def build(folder: Path) -> Path:
    return c_program.build(SOURCE, folder)


class Steady:
    """One producer, one consumer and a probe at work."""

    def __init__(
        self, program: Path, address: str, topic: str, *, record_bytes: int, mb_per_s: float
    ) -> None:
        self.process = subprocess.Popen(
            [str(program), address, topic, str(record_bytes), str(mb_per_s)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def period(self) -> dict[str, Any]:
        """What happened since the last call."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the steady load ended by itself, with {self.process.wait()}")
        found: dict[str, Any] = json.loads(line)
        return found

    def stop(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
