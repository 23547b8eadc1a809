"""The collector: writes the lines of all hosts into one place, a file for each host and service.

It belongs to a group, so several collectors share the work, and a topic that is new (`logs.` and anything) is
found by itself. Offsets are committed after the lines are on disk: a crash repeats lines and loses none.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path
from typing import BinaryIO

import ottla


class Files:
    """One open file for each host and service."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._open: dict[Path, BinaryIO] = {}

    def append(self, host: str, service: str, line: bytes) -> None:
        path = self._directory / safe(host) / f"{safe(service)}.log"
        if path not in self._open:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._open[path] = open(path, "ab")  # noqa: SIM115 - stays open
        self._open[path].write(line + b"\n")

    def sync(self) -> None:
        for file in self._open.values():
            file.flush()
            os.fsync(file.fileno())


def safe(name: str) -> str:
    """A name that came over the network as the name of a file: no slash, and no way up."""
    return name.replace("/", "_").replace("\0", "_").lstrip(".") or "_"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path, help="where the files go")
    parser.add_argument("--bootstrap-server", default="localhost:9092")
    parser.add_argument("--group", default="log-collectors")
    parser.add_argument("--lines", type=int, help="stop after so many")
    options = parser.parse_args()
    files = Files(options.directory)
    count = 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with ottla.Consumer(
        bootstrap_servers=options.bootstrap_server,
        group_id=options.group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        metadata_max_age_ms=5_000,  # how soon a new service's topic is found
        key_deserializer="string",
    ) as consumer:
        consumer.subscribe(pattern=r"logs\..*")
        try:
            while options.lines is None or count < options.lines:
                records = consumer.poll(timeout=1.0)
                for record in records:
                    service = record.topic.removeprefix("logs.")
                    files.append(record.key or "unknown", service, record.value or b"")
                if records:
                    files.sync()
                    consumer.commit()
                    count += len(records)
        except KeyboardInterrupt:
            pass
    print(f"{count} lines collected in {options.directory}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
