"""Several simulated lives of a log manager: two directories, its background tasks, and crashes that end them.

Unlike `LogRun`, which looks at what crashes would leave, these crashes happen: at a disk operation drawn
beforehand, wherever that falls (an append, a checkpoint under way in the background, the load after the crash
before). Then the manager starts again on what is left, every log is compared with its history, and life goes
on. Some lives end in a clean shutdown, after which nothing at all may be missing, power loss or not.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Final

from ottla.log.log import Log
from ottla.log.manager import LogManager, ManagerSettings
from ottla.model.log_config import LogConfig
from ottla.model.types import TopicPartition
from ottla.testing.clock import VirtualClock
from ottla.testing.disk import SimulatedCrash, Survival, VirtualDisk
from ottla.testing.driver import SimDriver
from ottla.testing.log_history import LogHistory, scan
from ottla.testing.scheduler import Scheduler
from ottla.wire.record_batch import Record, encode_batch

DIRS: Final = ("/first", "/second")

SETTINGS: Final = ManagerSettings(
    retention_check_interval_ms=700,
    flush_scheduler_interval_ms=200,
    flush_offset_checkpoint_interval_ms=300,
    flush_start_offset_checkpoint_interval_ms=400,
    high_watermark_checkpoint_interval_ms=250,
    initial_task_delay_ms=50,
    file_delete_delay_ms=500,
)
"""Everything that runs in the background runs often, so that crashes fall into it."""


class _Topic:
    __slots__ = ("topic_id", "history", "producer_id", "deleting")

    def __init__(self, topic_id: bytes, producer_id: int) -> None:
        self.topic_id = topic_id
        self.history = LogHistory()
        self.producer_id = producer_id
        self.deleting = False


class ManagerRun:
    def __init__(
        self, seed: int, *, lives: int = 6, steps: int = 40, manager_class: type[LogManager] = LogManager
    ) -> None:
        self.seed = seed
        self.lives = lives
        self.steps = steps
        self.scheduler = Scheduler(seed)
        self.random: random.Random = self.scheduler.random
        self.disk = VirtualDisk()
        self.report: Counter[str] = self.disk.stats
        self._manager_class = manager_class
        self._topics: dict[TopicPartition, _Topic] = {}
        self._config = LogConfig(
            segment_bytes=self.random.choice((1_500, 4_000)),
            index_interval_bytes=200,
            retention_bytes=self.random.choice((-1, 5_000)),
            flush_messages=self.random.choice((1, 2**63 - 1)),
            flush_ms=self.random.choice((500, 2**63 - 1)),
            file_delete_delay_ms=300,
        )
        self._manager: LogManager | None = None
        self._driver: SimDriver | None = None
        for path in DIRS:
            self.disk.make_dirs(path)
        self.disk.sync_dir("/")

    def run(self) -> Counter[str]:
        for _ in range(self.lives):
            try:
                self._live()
            except Exception as error:
                raise AssertionError(
                    f"{error}\nrepeat with: python -m ottla.testing.run --part manager --seed {self.seed}"
                    f" --steps {self.steps}"
                ) from error
        self.report["runs"] += 1
        return self.report

    def _live(self) -> None:
        rng = self.random
        if rng.random() < 0.8:
            crash_after = rng.randrange(60) if rng.random() < 0.3 else rng.randrange(800)
            when = rng.choice(("before", "torn", "after"))
            self.disk.crash_at(self.disk.operations + crash_after, when)  # type: ignore[arg-type]
        clean = False
        manager: LogManager | None = None
        try:
            manager = self._start()
            for _ in range(self.steps):
                self.scheduler.run_for(rng.choice((0.0, 10.0, 150.0)))
                self._step(manager)
            if rng.random() < 0.5:
                manager.shutdown()
                clean = True
                self.report["clean_shutdowns"] += 1
        except SimulatedCrash:
            self.report["crashes"] += 1
        self._end(manager, clean)

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
        manager.start("cluster-of-the-simulation")
        for tp, topic in list(self._topics.items()):
            self._check(manager, tp, topic)
        for number, steps in enumerate(manager.background()):
            self._driver.spawn(steps, f"background {number}")
        return manager

    def _check(self, manager: LogManager, tp: TopicPartition, topic: _Topic) -> None:
        log = manager.get(tp)
        history = topic.history
        if log is not None and log.topic_id is None:
            # `partition.metadata` was not synced yet; the cluster's metadata knows whose log this is.
            log = manager.get_or_create(tp, topic.topic_id)
        if log is not None and log.topic_id != topic.topic_id:
            # The deletion of an earlier topic of this name, and with it the new one's creation, was lost.
            manager.delete(tp)
            log = None
        if log is None:
            assert topic.deleting or history.flushed_end == 0, (
                f"{tp} is gone, up to {history.flushed_end} was flushed"
            )
            del self._topics[tp]
            return
        found = scan(self.disk, log.dir_path, log.log_start_offset, log.log_end_offset)
        try:
            history.check(found, bits_may_have_flipped=True)
        except AssertionError as error:
            raise AssertionError(f"{tp}: {error}") from error
        assert log.recovery_point <= log.log_end_offset
        assert log.high_watermark <= log.log_end_offset
        history.became(found)
        log.update_high_watermark(log.log_end_offset)
        self.report["logs_checked"] += 1
        if topic.deleting:
            manager.delete(tp)

    def _end(self, manager: LogManager | None, clean: bool) -> None:
        """The machine stops, with what the logs themselves believed to be durable at that moment."""
        assert self._driver is not None
        self._driver.kill()
        self.disk.crash()
        for tp, topic in self._topics.items():
            log = manager.get(tp) if manager is not None else None
            if log is not None:
                topic.history.believed_durable(log.recovery_point)
                # Retention may have been at work in the very moment of the crash.
                retires = self._config.retention_bytes >= 0
                topic.history.start_moves(log.log_end_offset if retires else log.log_start_offset)
            if clean:
                topic.history.flush_ends(topic.history.end)
        self.disk = self.disk.restart(
            self.random,
            power_loss=self.random.random() < 0.7,
            survival=Survival(bit_flips=self.random.random() < 0.3),
        )

    def _step(self, manager: LogManager) -> None:
        rng = self.random
        choice = rng.random()
        alive = [tp for tp, topic in self._topics.items() if not topic.deleting]
        if not alive or choice < 0.05:
            self._create(manager)
            return
        tp = rng.choice(alive)
        topic = self._topics[tp]
        log = manager.get(tp)
        assert log is not None, f"{tp} is offline"
        if choice < 0.8:
            for _ in range(rng.randint(1, 5)):
                self._append(log, topic)
        elif choice < 0.88:
            log.flush(manager.clock.now_ms())
            topic.history.flush_ends(log.recovery_point)
        elif choice < 0.92:
            offset = rng.randint(log.log_start_offset, log.high_watermark)
            topic.history.start_moves(offset)
            log.advance_log_start(offset)
        elif choice < 0.95:
            offset = rng.randint(log.log_start_offset, log.log_end_offset)
            topic.history.truncation_begins(offset)
            manager.truncate({tp: offset})
            self.report["truncations"] += 1
        elif choice < 0.97:
            log.roll(manager.clock.now_ms())
        else:
            topic.deleting = True
            manager.delete(tp)
            self.report["deletions"] += 1

    def _create(self, manager: LogManager) -> None:
        tp = TopicPartition(self.random.choice(("orders", "clicks")), self.random.randrange(3))
        known = self._topics.get(tp)
        if known is not None and not known.deleting:
            return
        topic = _Topic(self.random.randbytes(16), 1000 + self.report["created"])
        self._topics[tp] = topic
        manager.get_or_create(tp, topic.topic_id, is_new=True)
        self.report["created"] += 1

    def _append(self, log: Log, topic: _Topic) -> None:
        history = topic.history
        entry = log.producers.get(topic.producer_id)
        buffer = encode_batch(
            [
                Record(0, 1_700_000_000_000, None, self.random.randbytes(self.random.choice((5, 80, 400))))
                for _ in range(self.random.randint(1, 3))
            ],
            producer_id=topic.producer_id,
            producer_epoch=0,
            base_sequence=0 if entry is None else entry.last_sequence + 1,
        )
        # Retention may have moved the start in the background.
        history.start_moves(log.log_start_offset)
        history.append_begins(buffer)
        assert self._manager is not None
        info = log.append_as_leader(memoryview(buffer), 0, self._manager.clock.now_ms())
        history.append_ends(info.first_offset, info.last_offset)
        log.update_high_watermark(log.log_end_offset)
        self.report["appends"] += 1
