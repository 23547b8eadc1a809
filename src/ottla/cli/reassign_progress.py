"""How far a reassignment is: a bar on a terminal, a line for each change elsewhere, both on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from ottla.cli.table import bytes_text


class LinesProgress:
    def __init__(self, partitions: int) -> None:
        self._partitions = partitions
        self._last = ""

    def update(self, done: int, copied_bytes: int, total_bytes: int) -> None:
        line = f"{done} of {self._partitions} partitions done"
        if total_bytes:
            line += f", {bytes_text(copied_bytes)} of {bytes_text(total_bytes)} of the others copied"
        if line != self._last:
            self._last = line
            click.echo(line, err=True)

    def stop(self) -> None:
        """Before something else is printed."""


class BarProgress(LinesProgress):
    """Goes by bytes. What is copied of a partition that is done is no longer told, so the bar remembers how
    much there was to copy at most.
    """

    def __init__(self, partitions: int) -> None:
        super().__init__(partitions)
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

        self._most = 0
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task: Any = self._bar.add_task("starting", total=None)
        self._bar.start()

    def update(self, done: int, copied_bytes: int, total_bytes: int) -> None:
        self._most = max(self._most, total_bytes)
        self._bar.update(
            self._task,
            total=max(1, self._most),
            completed=self._most - total_bytes + copied_bytes,
            description=f"{done} of {self._partitions} partitions",
        )

    def stop(self) -> None:
        self._bar.stop()


@contextmanager
def shown_progress(partitions: int) -> Iterator[LinesProgress]:
    progress = BarProgress(partitions) if sys.stderr.isatty() else LinesProgress(partitions)
    try:
        yield progress
    finally:
        progress.stop()
