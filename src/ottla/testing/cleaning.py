"""The cleaner in the simulator: the same cleaning, in place, on the simulated disk and clock.

In a broker a child process does it. Here it is one disk job: it is done at some moment of its time, the
answer comes later, and a crash may come at any of its operations.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from ottla.log.cleaner.cleaner import clean
from ottla.log.cleaning_job import CleaningJob, CleaningResult
from ottla.ports.clock import Clock
from ottla.ports.disk import Disk
from ottla.ports.effects import DiskJob, Steps

Clean: TypeAlias = Callable[..., CleaningResult]


class CleaningInPlace:
    """Implements `broker.cleaner.CleaningWorker`."""

    def __init__(
        self,
        disk: Disk,
        clock: Clock,
        cleaner: Clean = clean,
        *,
        on_job: Callable[[CleaningJob], None] | None = None,
    ) -> None:
        self._on_job = on_job
        self._disk = disk
        self._clock = clock
        self._cleaner = cleaner
        self.jobs: list[CleaningJob] = []

    def clean(self, job: CleaningJob, wanted: Callable[[], bool]) -> Steps[CleaningResult]:
        self.jobs.append(job)
        if self._on_job is not None:
            self._on_job(job)
        result: CleaningResult = yield DiskJob(
            partial(self._cleaner, job, self._disk, now=self._now, pause=_pause)
        )
        return result

    def _now(self) -> float:
        return self._clock.monotonic_ms() / 1000


def _pause(_: float) -> None:
    """The throttle: virtual time does not pass inside a disk job."""
