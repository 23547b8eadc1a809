"""How far a load is: a bar on a terminal, lines elsewhere, both on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from ottla.pipelines.loads.load import LoadProgress

if TYPE_CHECKING:
    from ottla.pipelines.loads.plan import LoadPlan, Range


class LinesProgress(LoadProgress):
    """A line for each commit."""

    def __init__(self, *, quiet: bool) -> None:
        self.commits = 0
        self.records = 0
        self._quiet = quiet
        self._total = 0
        self._done = 0
        self._began = time.monotonic()

    def planned(self, plan: LoadPlan) -> None:
        self._total = plan.records_max

    def committed(self, ranges: Sequence[Range], records: int) -> None:
        self.commits += 1
        self.records += records
        self._done += sum(len(each) for each in ranges)
        if not self._quiet:
            share = 100 * self._done // max(1, self._total)
            click.echo(
                f"commit {self.commits}: {records:,} records of {len(ranges)} partitions, {share}% after "
                f"{time.monotonic() - self._began:.1f} s",
                err=True,
            )

    def stop(self) -> None:
        """Before something else is printed."""


class BarProgress(LinesProgress):
    def __init__(self) -> None:
        super().__init__(quiet=True)
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task: Any = self._bar.add_task("starting", total=None)
        self._bar.start()

    def planned(self, plan: LoadPlan) -> None:
        super().planned(plan)
        self._bar.update(self._task, total=max(1, self._total), description="commit 1")

    def written(self, offsets: float) -> None:
        self._bar.update(self._task, completed=self._done + int(offsets))

    def committed(self, ranges: Sequence[Range], records: int) -> None:
        super().committed(ranges, records)
        self._bar.update(self._task, completed=self._done, description=f"commit {self.commits + 1}")

    def stop(self) -> None:
        self._bar.stop()


@contextmanager
def shown_progress(*, quiet: bool) -> Iterator[LinesProgress]:
    progress = BarProgress() if sys.stderr.isatty() and not quiet else LinesProgress(quiet=quiet)
    try:
        yield progress
    finally:
        progress.stop()
