"""Several simulated lives of compacted logs: written to, read, and compacted at once, with crashes anywhere.

The log manager, its housekeeping and the cleaner run as in a broker, on the virtual disk and clock; the
cleaning itself is the real one, in place. Meanwhile keys are written and deleted, in and outside transactions
that commit or abort, records are deleted, logs truncated, topics made anew, configurations changed, the disk
is full for a while. Readers go through the logs, holding slices across turns, and must end with the state
that the last record of each key makes, whatever was swapped under them.

A life ends in a clean shutdown or a crash at an operation of the disk: in the middle of cleaning, at each
step of a swap, in the start that completes one. Then everything is compared with the history.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from ottla.broker.cleaner import CleanerSettings, LogCleaner
from ottla.log.append_origin import AppendOrigin
from ottla.log.cleaning_job import CleaningJob
from ottla.log.log import Log
from ottla.log.manager import LogManager
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.log_config import LogConfig
from ottla.model.types import TopicPartition
from ottla.ports.effects import DiskJob, Sleep, Steps
from ottla.testing.cleaning import CleaningInPlace
from ottla.testing.clock import VirtualClock
from ottla.testing.compacted_history import CompactedHistory, Written
from ottla.testing.disk import Operation, SimulatedCrash, Survival, VirtualDisk, When
from ottla.testing.driver import SimDriver
from ottla.testing.manager_run import DIRS, SETTINGS
from ottla.testing.scheduler import Scheduler
from ottla.wire.record_batch import (
    Codec,
    EndTxnMarker,
    Record,
    decode_batch,
    encode_batch,
    encode_end_txn_batch,
    iter_headers,
)

HOUR_MS: Final = 3_600_000
_BYTES_MAX: Final = 1 << 24
_KEYS: Final = 12

Seen = tuple[int, bytes, bytes | None]


class _Topic:
    __slots__ = ("topic_id", "history", "producers", "deleting", "compacted_upto")

    def __init__(self, topic_id: bytes, first_producer: int) -> None:
        self.topic_id = topic_id
        self.history = CompactedHistory()
        self.producers = (first_producer, first_producer + 1)
        self.deleting = False
        self.compacted_upto = 0
        """The log's end when it was last compacted: what lies above did not supersede anything."""


class CompactionRun:
    def __init__(
        self,
        seed: int,
        *,
        lives: int = 5,
        steps: int = 60,
        cleaner_class: type[LogCleaner] = LogCleaner,
        manager_class: type[LogManager] = LogManager,
    ) -> None:
        self.seed = seed
        self.lives = lives
        self.steps = steps
        self.scheduler = Scheduler(seed)
        self.random: random.Random = self.scheduler.random
        self.disk = VirtualDisk()
        self.report: Counter[str] = self.disk.stats
        self._cleaner_class = cleaner_class
        self._manager_class = manager_class
        self._topics: dict[TopicPartition, _Topic] = {}
        rng = self.random
        self._delete_retention_ms = rng.choice((0, 2_000, HOUR_MS))
        self._config = LogConfig(
            cleanup_policy=frozenset(rng.choice((("compact",), ("compact",), ("compact", "delete")))),
            segment_bytes=rng.choice((1_000, 3_000)),
            index_interval_bytes=rng.choice((1, 300)),
            retention_bytes=6_000,
            retention_ms=-1,
            min_cleanable_dirty_ratio=rng.choice((0.01, 0.3)),
            min_compaction_lag_ms=rng.choice((0, 0, 500)),
            max_compaction_lag_ms=rng.choice((2**63 - 1, 5_000)),
            delete_retention_ms=self._delete_retention_ms,
            file_delete_delay_ms=300,
            flush_ms=rng.choice((300, 2**63 - 1)),
        )
        self._settings = CleanerSettings(
            threads=rng.choice((1, 2)),
            dedupe_buffer_bytes=rng.choice((2_000, 4 << 20)),
            backoff_ms=rng.choice((20, 200)),
            io_buffer_bytes=rng.choice((500, 60_000)),
        )
        self._manager: LogManager | None = None
        self._driver: SimDriver | None = None
        self._cleaner: LogCleaner | None = None
        for path in DIRS:
            self.disk.make_dirs(path)
        self.disk.sync_dir("/")

    def run(self) -> Counter[str]:
        for _ in range(self.lives):
            try:
                self._live()
            except Exception as error:
                raise AssertionError(
                    f"{error}\nrepeat with: python -m ottla.testing.run --part compaction --seed {self.seed}"
                    f" --steps {self.steps}"
                ) from error
        self.report["runs"] += 1
        return self.report

    # -- a life --

    def _live(self) -> None:
        rng = self.random
        if rng.random() < 0.8:
            if rng.random() < 0.4:
                self.disk.observer = self._crash_in_a_swap(rng.randrange(60))
            else:
                crash_after = rng.randrange(60) if rng.random() < 0.2 else rng.randrange(2_500)
                when: When = rng.choice(("before", "torn", "after"))
                self.disk.crash_at(self.disk.operations + crash_after, when)
        clean = False
        manager: LogManager | None = None
        try:
            manager = self._start()
            for _ in range(self.steps):
                self.scheduler.run_for(rng.choice((0.0, 5.0, 50.0, 150.0)))
                self._step(manager)
            self.disk.capacity_bytes = None
            if rng.random() < 0.5:
                assert self._cleaner is not None
                self._cleaner.stop()
                manager.shutdown()
                clean = True
                self.report["clean_shutdowns"] += 1
        except SimulatedCrash:
            self.report["crashes"] += 1
        self._end(manager, clean)

    def _crash_in_a_swap(self, after: int) -> Callable[[Operation, When], None]:
        """An observer that ends the machine at a step of a swap, also of one that a start completes.

        The old segments' renames belong to it: those that follow on the first of the new ones.
        """
        left = after
        disk = self.disk

        def observe(operation: Operation, when: When) -> None:
            nonlocal left
            if ".swap" in operation.path or (left < after and ".deleted" in operation.path):
                left -= 1
                if left < 0:
                    disk.crash()
                    self.report["crashes_in_swaps"] += 1
                    raise SimulatedCrash

        return observe

    def _start(self) -> LogManager:
        clock = VirtualClock(self.scheduler, boot_ms=self.random.random() * 1e6)
        self._driver = SimDriver(self.scheduler, clock)
        manager = self._manager_class(
            self.disk,
            clock,
            DIRS,
            node_id=1,
            settings=SETTINGS,
            config_for=lambda topic: self._config,
            new_uuid=lambda: self.random.randbytes(16),
        )
        self._manager = manager
        self.report["swaps_completed"] += self._swaps_left()
        manager.start("cluster-of-the-simulation")
        for tp, topic in list(self._topics.items()):
            self._check(manager, tp, topic)
        for number, steps in enumerate(manager.background()):
            self._driver.spawn(steps, f"background {number}")
        worker = CleaningInPlace(self.disk, clock, on_job=self._note_job)
        self._cleaner = self._cleaner_class(manager, clock, self._driver, worker, lambda: self._settings)
        self._cleaner.start()
        return manager

    def _note_job(self, job: CleaningJob) -> None:
        tp = TopicPartition(job.topic, job.partition)
        assert self._manager is not None
        log, topic = self._manager.get(tp), self._topics.get(tp)
        if log is not None and topic is not None:
            topic.compacted_upto = max(topic.compacted_upto, log.log_end_offset)

    def _swaps_left(self) -> int:
        """Directories in which a crash left a swap half done."""
        return sum(
            any(name.endswith(".log.swap") for name in self.disk.list_dir(f"{root}/{name_}"))
            for root in DIRS
            for name_ in self.disk.list_dir(root)
            if self.disk.is_dir(f"{root}/{name_}")
        )

    def _end(self, manager: LogManager | None, clean: bool) -> None:
        assert self._driver is not None
        self._driver.kill()
        if manager is not None and self._cleaner is not None:
            self.report["logs_cleaned"] += self._cleaner.cleaned_logs
            assert not self._cleaner.uncleanable, f"given up: {self._cleaner.uncleanable}"
            self._cleaner = None
        self.disk.capacity_bytes = None
        self.disk.crash()
        for tp, topic in self._topics.items():
            log = manager.get(tp) if manager is not None else None
            if log is not None:
                topic.history.flushed(log.recovery_point)
                # Retention may have been at work in the very moment of the crash.
                retires = self._config.delete
                topic.history.start = max(
                    topic.history.start, log.log_end_offset if retires else log.log_start_offset
                )
            if clean:
                topic.history.flushed(topic.history.end)
        self.disk = self.disk.restart(
            self.random,
            power_loss=self.random.random() < 0.7,
            # A batch's base offset lies outside its CRC. Where offsets have holes, nothing tells a flipped
            # one, in Kafka no more than here; the other simulations flip bits.
            survival=Survival(bit_flips=False),
        )
        self.disk.stats = self.report

    # -- what is found --

    def _check(self, manager: LogManager, tp: TopicPartition, topic: _Topic) -> None:
        log = manager.get(tp)
        history = topic.history
        if log is not None and log.topic_id is None:
            log = manager.get_or_create(tp, topic.topic_id)
        if log is not None and log.topic_id != topic.topic_id:
            manager.delete(tp)
            log = None
        if log is None:
            assert topic.deleting or history.flushed_end == 0, f"{tp} is gone"
            del self._topics[tp]
            return
        try:
            log.update_high_watermark(log.log_end_offset)
            history.became(log.log_end_offset, *self._contents(log))
            retired = history.start
            if self._config.delete:
                history.start = max(history.start if retired < history.end else 0, log.log_start_offset)
            self._check_readable(log, history)
            for producer_id, (sequence, offset) in history.last_sequences().items():
                entry = log.producers.get(producer_id)
                if offset >= max(history.start, log.log_start_offset):
                    # A snapshot may know of batches that a power loss took away.
                    assert entry is not None and entry.last_sequence >= sequence, (
                        f"producer {producer_id} wrote sequence {sequence} at {offset}, known is {entry}"
                    )
        except AssertionError as error:
            raise AssertionError(f"{tp}: {error}") from error
        self.report["logs_checked"] += 1
        if topic.deleting:
            manager.delete(tp)

    def _contents(self, log: Log) -> tuple[list[Seen], frozenset[int]]:
        """All records in the log's files, and the first offsets of all batches."""
        found: list[Seen] = []
        bases: list[int] = []
        for segment in log.segments:
            data = self.disk.read_file(segment.file.path)
            for position, header in iter_headers(data, 0, len(data)):
                bases.append(header.base_offset)
                if not header.is_control:
                    for record in decode_batch(data, position, decompressed_bytes_max=_BYTES_MAX):
                        assert record.key is not None
                        found.append((record.offset, record.key, record.value))
        return found, frozenset(bases)

    def _check_readable(self, log: Log, history: CompactedHistory) -> None:
        """What a consumer that reads committed records sees, from the first to the last."""
        upto = log.last_stable_offset
        seen: list[Seen] = []
        offset = log.log_start_offset
        while offset < upto:
            result = log.read(offset, 1 << 20, upto_offset=upto)
            if result.slice is None:
                break
            aborted = log.aborted_within(result, offset, upto)
            data = result.slice.read()
            result.slice.release()
            records, offset = _committed(data, offset, aborted)
            seen += records
        history.check_visible(
            seen, upto=upto, tombstones_stay=self._delete_retention_ms >= HOUR_MS and history.start == 0
        )

    # -- the workload --

    def _step(self, manager: LogManager) -> None:
        rng = self.random
        choice = rng.random()
        alive = [tp for tp, topic in self._topics.items() if not topic.deleting]
        if not alive or choice < 0.04:
            self._create(manager)
            return
        tp = rng.choice(alive)
        topic = self._topics[tp]
        log = manager.get(tp)
        assert log is not None, f"{tp} is offline"
        now_ms = manager.clock.now_ms()
        try:
            if choice < 0.70:
                for _ in range(rng.randint(1, 12)):
                    self._append(log, topic)
            elif choice < 0.80:
                self._end_transactions(log, topic)
            elif choice < 0.85:
                log.flush(now_ms)
                topic.history.flushed(log.recovery_point)
            elif choice < 0.87 and self._config.delete:
                offset = rng.randint(log.log_start_offset, log.high_watermark)
                topic.history.start = max(topic.history.start, offset)
                log.advance_log_start(offset)
            elif choice < 0.89:
                # Truncated below what a compaction rested on, records and markers, a log would lack what a
                # truncated record superseded.
                lowest = max(log.log_start_offset, topic.compacted_upto, log.log_end_offset - 30)
                offset = rng.randint(min(lowest, log.log_end_offset), log.log_end_offset)
                topic.history.truncation_begins(offset)
                manager.truncate({tp: offset})
                self.report["truncations"] += 1
            elif choice < 0.92:
                log.roll(now_ms)
            elif choice < 0.97:
                assert self._driver is not None
                self._driver.spawn(self._read_through(manager, log, topic), f"reader of {tp}")
            elif choice < 0.98:
                self._reconfigure(manager)
            elif choice < 0.99:
                self.disk.capacity_bytes = self.disk.used_bytes() + rng.randrange(4_000)
                self.report["full_disks"] += 1
            else:
                topic.deleting = True
                manager.delete(tp)
                self.report["deletions"] += 1
        except KafkaError as error:
            if error.code != ErrorCode.KAFKA_STORAGE_ERROR or self.disk.capacity_bytes is None:
                raise
            topic.history.under_way = None
            self.disk.capacity_bytes = None
        if self.disk.capacity_bytes is not None and rng.random() < 0.3:
            self.disk.capacity_bytes = None

    def _reconfigure(self, manager: LogManager) -> None:
        rng = self.random
        self._config = replace(
            self._config,
            segment_bytes=rng.choice((1_000, 3_000)),
            min_cleanable_dirty_ratio=rng.choice((0.01, 0.3)),
            index_interval_bytes=rng.choice((1, 300)),
        )
        manager.update_all_configs()
        self._settings = replace(self._settings, threads=rng.choice((1, 2)))
        assert self._cleaner is not None
        self._cleaner.settings_changed()

    def _create(self, manager: LogManager) -> None:
        tp = TopicPartition(self.random.choice(("orders", "clicks")), self.random.randrange(2))
        known = self._topics.get(tp)
        if known is not None and not known.deleting:
            return
        topic = _Topic(self.random.randbytes(16), 1000 + 10 * self.report["created"])
        self._topics[tp] = topic
        manager.get_or_create(tp, topic.topic_id, is_new=True)
        self.report["created"] += 1

    def _append(self, log: Log, topic: _Topic) -> None:
        rng = self.random
        history = topic.history
        assert self._manager is not None
        now_ms = self._manager.clock.now_ms()
        producer_id = rng.choice((-1, -1, *topic.producers))
        first = log.log_end_offset
        pairs = [
            (
                b"key-%d" % rng.randrange(_KEYS),
                None if rng.random() < 0.15 else rng.randbytes(rng.choice((2, 40, 200))),
            )
            for _ in range(rng.randint(1, 4))
        ]
        entry = log.producers.get(producer_id) if producer_id >= 0 else None
        sequence = -1 if producer_id < 0 else 0 if entry is None else entry.last_sequence + 1
        transactional = producer_id == topic.producers[1]
        history.append_begins(
            Written(
                first,
                first + len(pairs) - 1,
                tuple((first + at, key, value) for at, (key, value) in enumerate(pairs)),
                producer_id,
                sequence + len(pairs) - 1 if producer_id >= 0 else -1,
                transactional,
            )
        )
        batch = encode_batch(
            [Record(0, now_ms, key, value) for key, value in pairs],
            codec=rng.choice((Codec.NONE, Codec.NONE, Codec.LZ4, Codec.ZSTD)),
            producer_id=producer_id,
            producer_epoch=0 if producer_id >= 0 else -1,
            base_sequence=sequence,
            transactional=transactional,
        )
        info = log.append_as_leader(memoryview(batch), 0, now_ms, origin=AppendOrigin.COORDINATOR)
        history.append_ends(info.first_offset)
        log.update_high_watermark(log.log_end_offset)
        self.report["appends"] += 1

    def _end_transactions(self, log: Log, topic: _Topic) -> None:
        history = topic.history
        assert self._manager is not None
        now_ms = self._manager.clock.now_ms()
        for producer_id in history.open_transactions():
            committed = self.random.random() < 0.5
            first = log.log_end_offset
            history.append_begins(Written(first, first, (), producer_id, committed=committed))
            marker = encode_end_txn_batch(
                EndTxnMarker(committed, 0), producer_id=producer_id, producer_epoch=0, timestamp=now_ms
            )
            log.append_as_leader(marker, 0, now_ms, origin=AppendOrigin.COORDINATOR)
            history.append_ends(first)
            log.update_high_watermark(log.log_end_offset)
            self.report["commits" if committed else "aborts"] += 1

    def _read_through(self, manager: LogManager, log: Log, topic: _Topic) -> Steps[None]:
        """A reader from the start to what is the end when it begins, in small reads with pauses between, as a
        coordinator loads its state.
        """
        rng = self.random
        history = topic.history
        generation = log.generation
        upto = log.last_stable_offset
        begins = offset = log.log_start_offset
        state: dict[bytes, tuple[int, bytes | None]] = {}
        while offset < upto:
            if manager.get(log.tp) is not log or log.generation != generation:
                return
            if offset < log.log_start_offset:
                return
            try:
                result = log.read(offset, rng.choice((100, 700, 5_000)), upto_offset=upto)
            except KafkaError:
                assert manager.get(log.tp) is not log or log.failure is not None
                return
            if result.slice is None:
                break
            aborted = log.aborted_within(result, offset, upto)
            yield Sleep(rng.choice((0.0, 20.0, 200.0)))
            try:
                data: bytes = yield DiskJob(result.slice.read)
            finally:
                result.slice.release()
            before = offset
            records, offset = _committed(data, offset, aborted)
            assert offset > before, f"a read at {before} brought nothing"
            for at, key, value in records:
                state[key] = (at, value)
            if rng.random() < 0.3:
                yield Sleep(rng.choice((10.0, 400.0)))
        if manager.get(log.tp) is not log or log.generation != generation:
            return
        start = max(begins, history.start)
        for key, (at, value) in history.latest(log.log_end_offset).items():
            # What was superseded after the reader began may be gone. And with a short delete.retention.ms a
            # reader may miss a tombstone: it was too slow.
            if start <= at < upto and (value is not None or self._delete_retention_ms >= HOUR_MS):
                assert state.get(key) == (at, value), (
                    f"a reader of {log.tp} up to {upto} has {state.get(key)} for {key!r}, "
                    f"the last one is at {at}"
                )
        self.report["readers"] += 1


def _committed(data: bytes, offset: int, aborted: list[tuple[int, int]]) -> tuple[list[Seen], int]:
    """What a consumer takes from fetched bytes: whole batches from `offset` on, without aborted records; and
    where it goes on.
    """
    pending = sorted(aborted, key=lambda pair: pair[1])
    active: set[int] = set()
    found: list[Seen] = []
    for position, header in iter_headers(data, 0, len(data)):
        if position + header.size_bytes > len(data):
            break
        while pending and pending[0][1] <= header.last_offset:
            active.add(pending.pop(0)[0])
        if header.is_control:
            active.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in active):
            for record in decode_batch(data, position, decompressed_bytes_max=_BYTES_MAX):
                if record.offset >= offset:
                    assert record.key is not None
                    found.append((record.offset, record.key, record.value))
        offset = max(offset, header.next_offset)
    return found, offset
