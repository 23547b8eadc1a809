"""librdkafka's mock cluster as the ceiling: C, one thread, RAM only, no checks, the last 5 MB of each
partition. What is left when a broker does nothing but speak the protocol; not something a user could pick.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from children import die_with_the_run
from systems import Running


class MockCluster:
    def __init__(self, load: Path, name: str = "mock") -> None:
        self.name = name
        self._load = load

    def start(self, topic: str, partitions: int) -> Running:
        process = subprocess.Popen(
            [str(self._load), "mock", "1", str(partitions), topic],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            preexec_fn=die_with_the_run,
        )
        assert process.stdout is not None
        return Running(process, process.stdout.readline().strip())
