"""What a node does to its logs as time goes by: a handful of generators that a driver runs in the background.

Each is a loop of sleep, look, act. They look at all logs in slices of a millisecond and act where something
changed; a sync or an unlink of a large file, which may take long, is a disk job off the loop. An OSError from
a directory's log takes that directory offline; only when the last one is gone does the task end in an error,
which is fatal for the node.
"""

from __future__ import annotations

import heapq
import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from ottla.log.checkpoints import (
    CLEANER_CHECKPOINT,
    HIGH_WATERMARK_CHECKPOINT,
    LOG_START_OFFSET_CHECKPOINT,
    RECOVERY_POINT_CHECKPOINT,
)
from ottla.log.log import Log
from ottla.log.turn import Turn
from ottla.model.errors import KafkaError
from ottla.model.log_config import LONG_MAX
from ottla.ports.disk import File
from ottla.ports.effects import DiskJob, Sleep, Steps

if TYPE_CHECKING:
    from ottla.log.manager import LogManager

logger = logging.getLogger(__name__)

DELETE_CHECK_INTERVAL_MS: Final = 1_000
FLUSH_CHECK_INTERVAL_MS: Final = 1_000
FLUSH_CHECK_INTERVAL_MS_MIN: Final = 10


class Housekeeping:
    __slots__ = ("_manager", "_disk", "_clock", "_flush_ms_min")

    def __init__(self, manager: LogManager) -> None:
        self._manager = manager
        self._disk = manager.disk
        self._clock = manager.clock
        self._flush_ms_min = LONG_MAX

    def tasks(self) -> list[Steps[None]]:
        settings = self._manager.settings
        return [
            self._every(settings.retention_check_interval_ms, self.retention_pass),
            self._flush_forever(),
            self._every(
                settings.flush_offset_checkpoint_interval_ms,
                partial(self.checkpoint_pass, RECOVERY_POINT_CHECKPOINT),
            ),
            self._every(
                settings.flush_start_offset_checkpoint_interval_ms,
                partial(self.checkpoint_pass, LOG_START_OFFSET_CHECKPOINT),
            ),
            self._every(
                settings.flush_offset_checkpoint_interval_ms,
                partial(self.checkpoint_pass, CLEANER_CHECKPOINT),
            ),
            self._every(
                settings.high_watermark_checkpoint_interval_ms,
                partial(self.checkpoint_pass, HIGH_WATERMARK_CHECKPOINT),
                delay_ms=0,
            ),
            self._every(DELETE_CHECK_INTERVAL_MS, self.delete_pass, delay_ms=0),
            self._every(settings.producer_id_expiration_check_interval_ms, self.producer_expiry_pass),
        ]

    def _every(
        self, interval_ms: int, one_pass: Callable[[], Steps[None]], delay_ms: int | None = None
    ) -> Steps[None]:
        if interval_ms >= LONG_MAX:
            return
        yield Sleep(self._manager.settings.initial_task_delay_ms if delay_ms is None else delay_ms)
        while not self._manager.stopped:
            yield from one_pass()
            self._manager.check_any_online()
            yield Sleep(interval_ms)

    # --- retention

    def retention_pass(self) -> Steps[None]:
        """Takes segments out of use that are too old or too many; their files wait for their removal."""
        manager = self._manager
        turn = Turn(self._clock)
        for log in list(manager.logs.values()):
            if turn.over():
                yield turn.rest()
            if manager.stopped or manager.get(log.tp) is not log or log.tp in manager.being_cleaned:
                continue
            try:
                removed = log.apply_retention(self._clock.now_ms())
                if log.has_deleted_files:
                    manager.doom_files(log)
            except (OSError, KafkaError) as error:
                manager.storage_failed(log, error)
                continue
            if removed:
                logger.info("%s: %d segments deleted by retention", log.tp, removed)

    # --- flush

    def _flush_forever(self) -> Steps[None]:
        """By flush.ms, and of segments that were rolled: these are synced soon, so that recovery after a
        crash has only the last segment to look at.
        """
        manager = self._manager
        while not manager.stopped:
            yield Sleep(self._flush_interval_ms())
            yield from self.flush_pass()
            manager.check_any_online()

    def _flush_interval_ms(self) -> int:
        """Half the shortest flush.ms, so that none waits long; a new one counts from the next pass."""
        interval_ms = min(self._manager.settings.flush_scheduler_interval_ms, self._flush_ms_min // 2)
        return max(FLUSH_CHECK_INTERVAL_MS_MIN, min(FLUSH_CHECK_INTERVAL_MS, interval_ms))

    def flush_pass(self) -> Steps[None]:
        manager = self._manager
        turn = Turn(self._clock)
        flush_ms_min = LONG_MAX
        yield from manager.sync_names_steps()
        for log in list(manager.logs.values()):
            if turn.over():
                yield turn.rest()
            if log.config.flush_ms < flush_ms_min:
                flush_ms_min = log.config.flush_ms
            if log.recovery_point < log.log_end_offset:
                due = log.flush_due(self._clock.now_ms())
                if due or log.rolled_flush_due:
                    yield from self._flush(log, rolled_only=not due)
                    turn.begin()
        self._flush_ms_min = flush_ms_min

    def _flush(self, log: Log, *, rolled_only: bool) -> Steps[None]:
        manager = self._manager
        if manager.stopped or manager.get(log.tp) is not log:
            return
        try:
            ticket = log.begin_flush(rolled_only=rolled_only)
            if ticket is None:
                return
            try:
                yield DiskJob(ticket.run)
            finally:
                log.end_flush(ticket, self._clock.now_ms())
        except (OSError, KafkaError) as error:
            manager.storage_failed(log, error)

    # --- checkpoints

    def checkpoint_pass(self, name: str) -> Steps[None]:
        manager = self._manager
        for log_dir in manager.online_dirs:
            if manager.stopped or not log_dir.online:
                continue
            try:
                yield from log_dir.checkpoint_steps(name, Turn(self._clock))
            except OSError as error:
                manager.dir_failed(log_dir, error)

    # --- removal

    def delete_pass(self) -> Steps[None]:
        """Removes the files and directories whose time has come."""
        doomed = self._manager.doomed
        while doomed and doomed[0][0] <= self._clock.monotonic_ms() and not self._manager.stopped:
            what = heapq.heappop(doomed)[2]
            path = what if isinstance(what, str) else what.path
            try:
                yield from self._remove_dir(what) if isinstance(what, str) else self._remove_file(what)
            except FileNotFoundError:
                pass  # gone with its directory
            except OSError as error:
                # Nothing of value is in there, so no directory fails for it; the next start tries again.
                logger.warning("%s could not be removed: %s", path, error)

    def _remove_file(self, file: File) -> Steps[None]:
        # Who lets go of a large file last waits until its blocks are free: the thread, not the loop.
        file.close()
        try:
            yield DiskJob(partial(self._disk.remove, file.path))
        finally:
            file.delete()  # the name is gone; this drops the descriptor once no reader holds it

    def _remove_dir(self, path: str) -> Steps[None]:
        for name in self._disk.list_dir(path):
            file = f"{path}/{name}"
            if not self._disk.is_dir(file):
                yield DiskJob(partial(self._disk.remove, file))
        self._disk.remove_tree(path)
        logger.info("removed %s", path)

    # --- producers

    def producer_expiry_pass(self) -> Steps[None]:
        """Forgets producers that have not written for producer.id.expiration.ms."""
        manager = self._manager
        turn = Turn(self._clock)
        for log in list(manager.logs.values()):
            if turn.over():
                yield turn.rest()
            if not log.producers.is_empty:
                log.expire_producers(self._clock.now_ms())
