"""When which log is compacted: the dirtiest first, by whoever cleans, with the swap on the loop.

A handful of tasks (`log.cleaner.threads`), each a loop of look, clean, swap, rest. A look goes over the
compacted logs a slice at a time and passes by those in which nothing has changed since the last one. What is
to be cleaned is described (`log/compaction.py`), cleaned outside the loop (`CleaningWorker`: a child process
in a broker, in place in the simulator), and swapped in only if the segments are still those that were
described: no truncation, no deletion, the same log. Reads and writes go on all the time; retention leaves a
log alone while it is cleaned.

The order that a crash has to find: the markers of transactions are durable that decided what is cleaned; the
recovery point on disk lies above all of it (so that no recovery scans a segment with holes); then come the
new files, the swap, the directory's sync, and only then the checkpoint that says how far the log is clean.

A log with damage is given up until the next start and said so once; what else can fail (a full disk, a worker
that died) is tried again later, after longer and longer pauses.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

from ottla.log.checkpoints import CLEANER_CHECKPOINT, RECOVERY_POINT_CHECKPOINT
from ottla.log.cleaning_job import CleaningFailed, CleaningJob, CleaningResult
from ottla.log.compaction import Candidate, CleaningLimits, candidate_of, describe, still_replaced_by
from ottla.log.log import Log
from ottla.log.manager import LogManager
from ottla.log.segment import Segment
from ottla.log.swap import remove_cleaned
from ottla.log.turn import Turn
from ottla.model.errors import KafkaError
from ottla.model.log_config import LogConfig
from ottla.model.types import TopicPartition
from ottla.ports.clock import Clock
from ottla.ports.driver import Driver
from ottla.ports.effects import DiskJob, Sleep, Steps, Waiter

logger = logging.getLogger(__name__)

_BROKEN_DISK: Final = frozenset({errno.EIO, errno.EROFS})

RETRY_MS_MAX: Final = 900_000.0
"""How long a log is left alone at most after something failed that may be better later; at first it is
`log.cleaner.backoff.ms`, and twice as long each time."""

CHECKPOINT_TRIES: Final = 5
CHECKPOINT_PAUSE_MS: Final = 50.0
"""Somebody else may be writing the same checkpoint, or logs came and went under it."""


@dataclass(frozen=True, slots=True)
class CleanerSettings:
    """The `log.cleaner.` keys that are not a topic's."""

    enabled: bool = True
    threads: int = 1
    dedupe_buffer_bytes: int = 134_217_728
    load_factor: float = 0.9
    io_buffer_bytes: int = 524_288
    io_bytes_per_s_max: float = 1.7976931348623157e308
    backoff_ms: int = 15_000

    @property
    def limits(self) -> CleaningLimits:
        """What one cleaner of them may use."""
        threads = max(1, self.threads)
        return CleaningLimits(
            map_bytes=self.dedupe_buffer_bytes // threads,
            map_load_factor=self.load_factor,
            io_buffer_bytes=self.io_buffer_bytes // threads,
            io_bytes_per_s_max=self.io_bytes_per_s_max / threads,
        )


class WorkerLost(Exception):
    """Whoever cleaned is gone, or does not answer; nothing was swapped and the job may be tried again."""


class CleaningWorker(Protocol):
    def clean(self, job: CleaningJob, wanted: Callable[[], bool]) -> Steps[CleaningResult]:
        """Has the job done outside the loop. `wanted` is asked now and then: when it says no, nobody waits
        for the result any more. Raises CleaningFailed or WorkerLost.
        """
        ...


class _PutOff:
    __slots__ = ("log", "until_ms", "delay_ms")

    def __init__(self, log: Log, delay_ms: float) -> None:
        self.log = log
        self.until_ms = 0.0
        self.delay_ms = delay_ms


class LogCleaner:
    def __init__(
        self,
        logs: LogManager,
        clock: Clock,
        driver: Driver,
        worker: CleaningWorker,
        settings: Callable[[], CleanerSettings],
    ) -> None:
        """`settings` gives them as they are at the time."""
        self._logs = logs
        self._clock = clock
        self._driver = driver
        self._worker = worker
        self._settings = settings
        self._running: dict[int, None] = {}
        self._resting: list[Waiter] = []
        self._stopped = True
        self._idle: dict[TopicPartition, tuple[Log, tuple[Segment, ...], LogConfig, int]] = {}
        """Logs in which nothing is to be done until their segments, configuration or start change."""
        self._put_off: dict[TopicPartition, _PutOff] = {}
        self.uncleanable: dict[TopicPartition, Log] = {}
        """Logs with damage, which are not compacted any more."""
        self.cleaned_logs = 0
        self.bytes_cleaned = 0

    # --- its tasks

    def start(self) -> None:
        self._stopped = False
        self.settings_changed()

    def stop(self) -> None:
        self._stopped = True
        self._wake()

    def settings_changed(self) -> None:
        """Starts the cleaners that are missing; those that are too many end by themselves."""
        if self._stopped or not self._settings().enabled:
            return
        for number in range(self._settings().threads):
            if number not in self._running:
                self._running[number] = None
                self._driver.spawn(self._work(number), f"log cleaner {number}")
        self._wake()

    def _wake(self) -> None:
        resting, self._resting = self._resting, []
        for waiter in resting:
            waiter.fire()

    def _needed(self, number: int) -> bool:
        return not self._stopped and not self._logs.stopped and number < self._settings().threads

    def _work(self, number: int) -> Steps[None]:
        try:
            while self._needed(number):
                candidate = yield from self._take_dirtiest()
                if candidate is not None:
                    try:
                        done = yield from self._clean(candidate)
                    finally:
                        del self._logs.being_cleaned[candidate.log.tp]
                    if done:
                        continue
                if self._needed(number):
                    yield from self._rest(self._settings().backoff_ms)
        finally:
            del self._running[number]

    def _rest(self, duration_ms: float) -> Steps[None]:
        waiter = Waiter(self._clock.monotonic_ms() + duration_ms)
        self._resting = [other for other in self._resting if not other.done]
        self._resting.append(waiter)
        yield waiter

    # --- which

    def _take_dirtiest(self) -> Steps[Candidate | None]:
        """The log with the largest part to clean of those that need it, marked as being cleaned."""
        turn = Turn(self._clock)
        self._forget_deleted()
        being_cleaned = self._logs.being_cleaned
        known, self._idle = self._idle, {}
        best: Candidate | None = None
        for log in list(self._logs.logs.values()):
            if turn.over():
                yield turn.rest()
            if not log.config.compact or self._logs.get(log.tp) is not log:
                continue
            key = (log, log.segments, log.config, log.log_start_offset)
            idle = known.get(log.tp)
            if idle is not None and all(a is b or a == b for a, b in zip(idle, key, strict=True)):
                self._idle[log.tp] = idle
                continue
            if log.tp in being_cleaned or self._waits(log):
                continue
            candidate = self._look(log)
            if candidate is None:
                continue
            if not candidate.wanted:
                if candidate.settled:
                    self._idle[log.tp] = key
            elif best is None or candidate.dirty_ratio > best.dirty_ratio:
                best = candidate
        if best is not None and best.segments != best.log.segments[: len(best.segments)]:
            # Others had their turns since: retention, or another cleaner.
            best = self._look(best.log) if self._logs.get(best.log.tp) is best.log else None
            if best is not None and not best.wanted:
                best = None
        if best is None or best.log.tp in being_cleaned or not self._still_wanted(best):
            return None
        being_cleaned[best.log.tp] = best.log
        return best

    def _look(self, log: Log) -> Candidate | None:
        try:
            return candidate_of(log, self._clock.now_ms())
        except (OSError, KafkaError) as error:
            self._logs.storage_failed(log, error)
            self._try_later(log, error)
        except Exception as error:
            self._give_up(log, f"its segments cannot be read: {error}", None)
        return None

    def _forget_deleted(self) -> None:
        """What is noted about logs that are gone, or that others have taken the names of."""
        get = self._logs.get
        for tp in [tp for tp, log in self.uncleanable.items() if get(tp) is not log]:
            del self.uncleanable[tp]
        for tp in [tp for tp, put_off in self._put_off.items() if get(tp) is not put_off.log]:
            del self._put_off[tp]

    def _waits(self, log: Log) -> bool:
        if self.uncleanable.get(log.tp) is log:
            return True
        put_off = self._put_off.get(log.tp)
        if put_off is None or put_off.log is not log:
            return False
        return self._clock.monotonic_ms() < put_off.until_ms

    # --- cleaning one

    def _still_wanted(self, candidate: Candidate) -> bool:
        log = candidate.log
        return (
            not self._stopped
            and self._logs.get(log.tp) is log
            and log.failure is None
            and log.config.compact
            and log.generation == candidate.generation
        )

    def _clean(self, candidate: Candidate) -> Steps[bool]:
        """False when a pause is in order before the next."""
        log = candidate.log
        try:
            done = yield from self._clean_and_swap(candidate)
        except CleaningFailed as failed:
            if failed.corrupt_offset is not None:
                self._give_up(log, failed.message, failed.corrupt_offset)
            elif self._still_wanted(candidate) and not self._broken_disk(log, failed):
                self._try_later(log, failed)
            done = False
        except WorkerLost as lost:
            if self._still_wanted(candidate):
                self._try_later(log, lost)
            done = False
        except (OSError, KafkaError) as error:
            self._logs.storage_failed(log, error)
            if self._still_wanted(candidate):
                self._try_later(log, error)
            done = False
        except Exception as error:
            logger.exception("%s: compaction failed", log.tp)
            self._give_up(log, f"compaction failed: {error!r}", None)
            done = False
        if self._logs.get(log.tp) is log and log.failure is None:
            try:
                remove_cleaned(self._logs.disk, log.dir_path)
            except OSError as error:
                self._logs.storage_failed(log, error)
        return done

    def _clean_and_swap(self, candidate: Candidate) -> Steps[bool]:
        log = candidate.log
        turn = Turn(self._clock)
        yield from self._make_markers_durable(log, turn)
        if not (yield from self._note_recovery_point(candidate)) or not self._still_wanted(candidate):
            return False
        remove_cleaned(self._logs.disk, log.dir_path)
        turn.begin()
        job = yield from describe(candidate, self._settings().limits, self._clock.now_ms(), turn)
        result = yield from self._worker.clean(job, partial(self._still_wanted, candidate))
        if not (yield from self._swap(candidate, result)):
            logger.info("%s: changed while it was compacted, the result was thrown away", log.tp)
            return False
        self._put_off.pop(log.tp, None)
        self.cleaned_logs += 1
        self.bytes_cleaned += result.stats.bytes_read
        self._tell(candidate, result)
        if result.next_dirty_offset <= candidate.first_dirty_offset:
            # Nothing that was dirty is clean now: trying again at once would do the same for ever.
            self._try_later(log, "not one segment of it fits into log.cleaner.dedupe.buffer.size")
            return False
        return True

    def _make_markers_durable(self, log: Log, turn: Turn) -> Steps[None]:
        """What was committed supersedes what came before it, and that is for good; so the marker, which may
        lie in the active segment, must not go with a power loss.
        """
        for entry in list(log.producers):
            if turn.over():
                yield turn.rest()
            if entry.coordinator_epoch >= 0:
                break
        else:
            return  # no transaction has ended here
        if not self._logs.stopped and self._logs.get(log.tp) is log:
            ticket = log.begin_flush()
            if ticket is not None:
                try:
                    yield DiskJob(ticket.run)
                finally:
                    log.end_flush(ticket, self._clock.now_ms())

    def _note_recovery_point(self, candidate: Candidate) -> Steps[bool]:
        """Brings the recovery point on disk above what is cleaned; False when that did not work out."""
        log = candidate.log
        for _ in range(CHECKPOINT_TRIES):
            log_dir = self._logs.dir_of(log)
            if log_dir is None:
                return False
            if (
                log_dir.written[RECOVERY_POINT_CHECKPOINT].get(log.tp, 0)
                >= candidate.first_uncleanable_offset
            ):
                return True
            if not (yield from log_dir.checkpoint_steps(RECOVERY_POINT_CHECKPOINT, Turn(self._clock))):
                yield Sleep(CHECKPOINT_PAUSE_MS)
        return False

    def _swap(self, candidate: Candidate, result: CleaningResult) -> Steps[bool]:
        """Puts the cleaned segments in place, from the first on: a crash in a swap takes `.cleaned` files of
        lower offsets for a part of it. False when the log is not any more what was described.
        """
        log = candidate.log
        turn = Turn(self._clock)
        for cleaned in result.cleaned:
            if turn.over():
                yield turn.rest()
            replaced = still_replaced_by(candidate, cleaned) if self._still_wanted(candidate) else None
            if replaced is None:
                return False
            useless = log.replace_segments(
                replaced,
                cleaned.base_offset,
                has_txn_index=cleaned.has_txn_index,
                now_ms=self._clock.now_ms(),
            )
            for path in useless:
                if turn.over():
                    yield turn.rest()
                    if not self._still_wanted(candidate):
                        return False  # the names may be others' now; without a log, a start removes them
                with suppress(FileNotFoundError):
                    self._logs.disk.remove(path)
        self._logs.doom_files(log)
        if result.cleaned:
            yield DiskJob(partial(self._logs.disk.sync_dir, log.dir_path))
        log_dir = self._logs.dir_of(log)
        if log_dir is None or not self._still_wanted(candidate):
            return False
        log.first_dirty_offset = result.next_dirty_offset
        for _ in range(CHECKPOINT_TRIES):  # after that, the housekeeping writes it
            if not log_dir.online or (
                yield from log_dir.checkpoint_steps(CLEANER_CHECKPOINT, Turn(self._clock))
            ):
                break
            yield Sleep(CHECKPOINT_PAUSE_MS)
        return True

    def _tell(self, candidate: Candidate, result: CleaningResult) -> None:
        stats = result.stats
        logger.info(
            "%s: compacted up to offset %d: %d records became %d, %.0f kB became %.0f kB, in %.2f s",
            candidate.log.tp,
            result.next_dirty_offset,
            stats.records_read,
            stats.records_written,
            stats.bytes_read / 1e3,
            stats.bytes_written / 1e3,
            stats.seconds,
        )
        if stats.invalid_records:
            logger.warning(
                "%s: %d records without a key were dropped by compaction",
                candidate.log.tp,
                stats.invalid_records,
            )

    # --- when it fails

    def _broken_disk(self, log: Log, failed: CleaningFailed) -> bool:
        """Takes the directory offline when the worker was told that the disk is broken."""
        log_dir = self._logs.dir_of(log)
        if log_dir is None or failed.errno not in _BROKEN_DISK:
            return False
        return self._logs.dir_failed(log_dir, OSError(failed.errno, failed.message, log.dir_path))

    def _try_later(self, log: Log, why: object) -> None:
        put_off = self._put_off.get(log.tp)
        if put_off is None or put_off.log is not log:
            put_off = self._put_off[log.tp] = _PutOff(log, self._settings().backoff_ms)
        put_off.until_ms = self._clock.monotonic_ms() + put_off.delay_ms
        logger.warning(
            "%s: not compacted: %s; next try in %.1f s at the earliest",
            log.tp,
            why,
            put_off.delay_ms / 1000,
        )
        put_off.delay_ms = min(max(1.0, put_off.delay_ms * 2), RETRY_MS_MAX)

    def _give_up(self, log: Log, why: str, offset: int | None) -> None:
        self.uncleanable[log.tp] = log
        logger.error(
            "%s is not compacted any more, all else goes on: %s%s. Replace its files by those of a good "
            "copy, or give up the records up to the next segment (kafka-delete-records, with "
            "cleanup.policy=compact,delete), then restart the broker",
            log.tp,
            why,
            "" if offset is None else f" (at offset {offset})",
        )
