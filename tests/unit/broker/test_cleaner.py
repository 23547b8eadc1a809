"""Which log is compacted and when, what is done when that fails, and what is noted about it (Kafka's
LogCleaner and LogCleanerManager).
"""

from __future__ import annotations

import errno
import itertools
import logging
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ottla.broker.cleaner import CleanerSettings, LogCleaner, WorkerLost
from ottla.log.checkpoints import CLEANER_CHECKPOINT, RECOVERY_POINT_CHECKPOINT, read_checkpoint
from ottla.log.cleaner.cleaner import clean
from ottla.log.cleaning_job import CleaningFailed, CleaningJob, CleaningResult
from ottla.log.log import Log
from ottla.log.manager import LogManager, ManagerSettings
from ottla.model.log_config import LogConfig
from ottla.model.types import TopicPartition
from ottla.ports.effects import Steps
from ottla.testing.cleaning import CleaningInPlace
from ottla.testing.clock import VirtualClock
from ottla.testing.disk import VirtualDisk
from ottla.testing.driver import SimDriver
from ottla.testing.scheduler import Scheduler
from ottla.wire.record_batch import Record, decode_batch, encode_batch

COMPACT = LogConfig(
    segment_bytes=1_000,
    cleanup_policy=frozenset({"compact"}),
    file_delete_delay_ms=0,
    retention_ms=-1,
    segment_ms=10**15,
)
SMALL = CleanerSettings(dedupe_buffer_bytes=2 << 20, backoff_ms=100)
ORDERS = TopicPartition("orders", 0)
CLICKS = TopicPartition("clicks", 0)


class Worker(CleaningInPlace):
    """The cleaner in place, with something before it that a test wants to happen."""

    def __init__(self, disk: VirtualDisk, clock: VirtualClock) -> None:
        super().__init__(disk, clock, clean)
        self.before: Callable[[CleaningJob], None] = lambda job: None
        self.after: Callable[[CleaningResult], None] = lambda result: None

    def clean(self, job: CleaningJob, wanted: Callable[[], bool]) -> Steps[CleaningResult]:
        self.before(job)
        result = yield from super().clean(job, wanted)
        self.after(result)
        return result


class Setup:
    def __init__(
        self,
        disk: VirtualDisk | None = None,
        settings: CleanerSettings = SMALL,
        configs: dict[str, LogConfig] | None = None,
    ) -> None:
        self.scheduler = Scheduler(5)
        self.clock = VirtualClock(self.scheduler)
        self.disk = disk or VirtualDisk()
        self.driver = SimDriver(self.scheduler, self.clock)
        self.configs: dict[str, LogConfig] = configs or {}
        self.logs = LogManager(
            self.disk,
            self.clock,
            ["/data"],
            node_id=1,
            settings=ManagerSettings(initial_task_delay_ms=0, retention_check_interval_ms=200),
            config_for=lambda topic: self.configs.get(topic, COMPACT),
            new_uuid=lambda: self.scheduler.random.randbytes(16),
        )
        self.logs.start("cluster")
        self.settings = settings
        self.worker = Worker(self.disk, self.clock)
        self.cleaner = LogCleaner(self.logs, self.clock, self.driver, self.worker, lambda: self.settings)

    def log(self, tp: TopicPartition = ORDERS, **config: Any) -> Log:
        self.configs[tp.topic] = replace(COMPACT, **config)
        return self.logs.get_or_create(tp, bytes(16), is_new=True)

    def fill(self, log: Log, count: int = 60, keys: int = 3, value_bytes: int = 100) -> None:
        for number in range(count):
            record = Record(0, self.clock.now_ms(), b"key-%d" % (number % keys), bytes(value_bytes))
            log.append_as_leader(encode_batch([record]), 0, self.clock.now_ms())
        log.update_high_watermark(log.log_end_offset)
        log.flush(self.clock.now_ms())

    def run(self, duration_ms: float = 1_000) -> None:
        self.cleaner.start()
        self.scheduler.run_for(duration_ms)

    @property
    def cleaned(self) -> list[tuple[str, int, int]]:
        return [(job.topic, job.first_dirty_offset, job.first_uncleanable_offset) for job in self.worker.jobs]

    def noted(self, name: str = CLEANER_CHECKPOINT) -> dict[TopicPartition, int]:
        return read_checkpoint(self.disk, f"/data/{name}")


def keys_of(log: Log) -> dict[bytes, int]:
    """The last offset of each key, and a check that none is twice in what was compacted."""
    found: dict[bytes, int] = {}
    for segment in log.segments:
        for position, header in segment.headers():
            data = segment.read_batch(position, header)
            for record in decode_batch(data, decompressed_bytes_max=1 << 20):
                assert record.key is not None
                if record.offset < log.first_dirty_offset:
                    assert record.key not in found, f"{record.key!r} is there twice"
                found[record.key] = record.offset
    return found


def test_a_dirty_log_is_compacted_and_the_place_noted() -> None:
    setup = Setup()
    log = setup.log()
    setup.fill(log)
    active = log.active_segment.base_offset
    before = log.size_bytes
    setup.run()
    assert setup.cleaned == [("orders", 0, active)]
    assert keys_of(log) == {b"key-0": 57, b"key-1": 58, b"key-2": 59}
    assert log.log_end_offset == 60
    assert log.size_bytes < before / 3
    assert setup.noted() == {ORDERS: active}
    assert setup.noted(RECOVERY_POINT_CHECKPOINT)[ORDERS] >= active, (
        "before the swap, so that none is scanned"
    )
    assert not [n for n in setup.disk.list_dir("/data/orders-0") if n.endswith((".cleaned", ".swap"))]
    assert (setup.cleaner.cleaned_logs, setup.logs.being_cleaned) == (1, {})


def test_the_dirtiest_log_comes_first() -> None:
    setup = Setup()
    half, dirty = setup.log(CLICKS), setup.log(ORDERS)
    for log in (half, dirty):
        setup.fill(log)
    half.first_dirty_offset = half.segments[2].base_offset
    setup.run()
    assert [topic for topic, _, _ in setup.cleaned] == ["orders", "clicks"]


def test_logs_that_are_not_compacted_or_hardly_dirty_are_left_alone() -> None:
    setup = Setup()
    plain = setup.log(CLICKS, cleanup_policy=frozenset({"delete"}))
    clean_one = setup.log(ORDERS)
    for log in (plain, clean_one):
        setup.fill(log)
    clean_one.first_dirty_offset = clean_one.segments[-2].base_offset
    setup.run()
    assert setup.cleaned == []


def test_a_log_in_which_nothing_changes_is_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from ottla.broker import cleaner as module

    looked: list[TopicPartition] = []

    def look(log: Log, now_ms: int) -> Any:
        looked.append(log.tp)
        return original(log, now_ms)

    original = module.candidate_of
    monkeypatch.setattr(module, "candidate_of", look)
    setup = Setup()
    log = setup.log()
    setup.fill(log, 5)
    setup.run(5_000)
    assert looked == [ORDERS]
    setup.fill(log, 20)
    setup.scheduler.run_for(5_000)
    assert len(looked) <= 4
    assert setup.cleaned
    log.update_config(replace(COMPACT, min_cleanable_dirty_ratio=0.1))
    count = len(looked)
    setup.scheduler.run_for(5_000)
    assert len(looked) > count, "the configuration says when a log is dirty"


def test_an_overdue_log_is_compacted_however_little_of_it_is_dirty() -> None:
    """KIP-354."""
    setup = Setup()
    log = setup.log(max_compaction_lag_ms=60_000)
    setup.fill(log)
    log.first_dirty_offset = dirty = log.segments[-2].base_offset
    setup.run(50_000)
    assert setup.cleaned == []
    setup.scheduler.run_for(11_000)
    assert setup.cleaned == [("orders", dirty, log.active_segment.base_offset)]


def test_two_cleaners_never_work_on_one_log_and_their_number_follows_the_setting() -> None:
    setup = Setup(settings=replace(SMALL, threads=3, dedupe_buffer_bytes=8 << 20))
    at_work: list[int] = []
    setup.worker.before = lambda job: at_work.append(len(setup.logs.being_cleaned))
    for number in range(4):
        setup.fill(setup.log(TopicPartition(f"topic-{number}", 0)))
    setup.run()
    assert sorted(topic for topic, _, _ in setup.cleaned) == [f"topic-{number}" for number in range(4)]
    assert max(at_work) == 3
    assert setup.worker.jobs[0].map_bytes == (8 << 20) // 3
    setup.settings = replace(SMALL, threads=1)
    setup.cleaner.settings_changed()
    setup.scheduler.run_for(1_000)
    assert len(setup.cleaner._running) == 1
    setup.settings = replace(SMALL, threads=2)
    setup.cleaner.settings_changed()
    assert len(setup.cleaner._running) == 2
    setup.cleaner.stop()
    setup.scheduler.run_for(1_000)
    assert len(setup.cleaner._running) == 0


def test_log_cleaner_enable_false_starts_none() -> None:
    setup = Setup(settings=replace(SMALL, enabled=False))
    setup.fill(setup.log())
    setup.run()
    assert setup.cleaned == []


@pytest.mark.parametrize("change", ["truncate", "delete the topic", "make it anew", "move the log start"])
def test_what_changed_while_it_was_cleaned_is_not_swapped(change: str) -> None:
    setup = Setup()
    log = setup.log()
    setup.fill(log)

    def meddle(_: CleaningResult) -> None:
        setup.worker.after = lambda result: None
        if change == "truncate":
            setup.logs.truncate({ORDERS: 20})
        elif change == "move the log start":
            log.advance_log_start(30)
        else:
            setup.logs.delete(ORDERS)
            if change == "make it anew":
                setup.fill(setup.logs.get_or_create(ORDERS, bytes(range(16)), is_new=True), 5, keys=5)

    setup.worker.after = meddle
    setup.run(3_000)
    now = setup.logs.get(ORDERS)
    if change == "truncate":
        assert len(setup.worker.jobs) == 2, "what is left of it is compacted anew"
        assert keys_of(log) == {b"key-0": 18, b"key-1": 19, b"key-2": 17}
        assert setup.noted()[ORDERS] <= 20
    elif change == "move the log start":
        assert setup.noted() == {ORDERS: log.active_segment.base_offset}, "nothing is wrong with that"
        assert keys_of(log) == {b"key-0": 57, b"key-1": 58, b"key-2": 59}
    elif change == "make it anew":
        assert now is not None and len(keys_of(now)) == 5
        assert not [n for n in setup.disk.list_dir("/data/orders-0") if n.endswith((".cleaned", ".swap"))]
    else:
        assert now is None and ORDERS not in setup.logs.being_cleaned


def test_a_log_that_is_not_to_be_compacted_any_more_keeps_what_was_being_cleaned() -> None:
    """Kafka's LogManager.updateTopicConfig aborts a cleaning when `cleanup.policy` drops compact."""
    setup = Setup()
    log = setup.log()
    setup.fill(log)

    def change_policy(_: CleaningResult) -> None:
        setup.configs["orders"] = replace(COMPACT, cleanup_policy=frozenset({"delete"}))
        setup.logs.update_topic_config("orders")

    setup.worker.after = change_policy
    segments = log.segments
    setup.run()
    assert len(setup.worker.jobs) == 1
    assert log.segments == segments
    assert not [n for n in setup.disk.list_dir("/data/orders-0") if n.endswith((".cleaned", ".swap"))]
    setup.configs["orders"] = COMPACT
    setup.logs.update_topic_config("orders")
    setup.worker.after = lambda result: None
    setup.scheduler.run_for(1_000)
    assert keys_of(log) == {b"key-0": 57, b"key-1": 58, b"key-2": 59}


def test_a_log_that_retention_came_to_between_look_and_work_is_looked_at_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A look goes over all logs, and others have their turns meanwhile."""
    setup = Setup()
    log = setup.log(cleanup_policy=frozenset({"compact", "delete"}))
    setup.fill(log)
    look = setup.cleaner._look
    looks: list[Log] = []

    def look_and_wait(seen: Log) -> Any:
        found = look(seen)
        looks.append(seen)
        if len(looks) == 1:
            seen.advance_log_start(30)
            assert seen.apply_retention(setup.clock.now_ms()) > 0
        return found

    monkeypatch.setattr(setup.cleaner, "_look", look_and_wait)
    setup.run(50)
    assert [job.segments[0].base_offset for job in setup.worker.jobs] == [log.segments[0].base_offset]
    assert setup.noted() == {ORDERS: log.active_segment.base_offset}
    assert not setup.cleaner._put_off


@pytest.mark.parametrize(
    "error", [CleaningFailed("damaged", corrupt_offset=3), CleaningFailed("full", errno=errno.ENOSPC)]
)
def test_nothing_is_kept_of_a_deleted_topic_that_could_not_be_compacted(error: CleaningFailed) -> None:
    setup = Setup()
    setup.fill(setup.log())

    def fail(_: CleaningJob) -> None:
        raise error

    setup.worker.before = fail
    setup.run()
    assert setup.cleaner.uncleanable or setup.cleaner._put_off
    setup.logs.delete(ORDERS)
    setup.scheduler.run_for(1_000)
    assert not setup.cleaner.uncleanable and not setup.cleaner._put_off


def test_retention_leaves_a_log_alone_while_it_is_cleaned_and_takes_its_turn_after() -> None:
    setup = Setup()
    log = setup.log(cleanup_policy=frozenset({"compact", "delete"}), retention_bytes=3_000)
    setup.fill(log, keys=60)
    seen: list[int] = []

    def look(_: CleaningJob) -> None:
        from ottla.log.housekeeping import Housekeeping
        from ottla.ports.effects import run_now

        run_now(Housekeeping(setup.logs).retention_pass())
        seen.append(log.log_start_offset)

    setup.worker.before = look
    for number, steps in enumerate(setup.logs.background()):
        setup.driver.spawn(steps, f"housekeeping {number}")
    setup.cleaner.start()
    setup.scheduler.run_for(2_000)
    assert seen[0] == 0
    assert log.log_start_offset > 0 and log.size_bytes < 4_000
    assert setup.noted()[ORDERS] >= log.log_start_offset


def test_a_compact_only_log_loses_only_what_lies_below_its_start() -> None:
    setup = Setup()
    log = setup.log(retention_bytes=1, retention_ms=1)
    setup.fill(log, keys=60)
    for number, steps in enumerate(setup.logs.background()):
        setup.driver.spawn(steps, f"housekeeping {number}")
    setup.run(2_000)
    assert len(keys_of(log)) == 60
    log.advance_log_start(40)
    setup.scheduler.run_for(2_000)
    assert 33 < min(keys_of(log).values()) <= 40


def damage(setup: Setup, path: str) -> None:
    data = bytearray(setup.disk.read_file(path))
    data[80] ^= 0xFF
    file = setup.disk.open(path)
    file.write_at(bytes(data), 0)


def test_a_damaged_log_is_given_up_once_with_its_offset_and_the_others_go_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    setup = Setup()
    bad, good = setup.log(ORDERS), setup.log(CLICKS)
    for log in (bad, good):
        setup.fill(log)
    damage(setup, f"/data/orders-0/{bad.segments[1].base_offset:020d}.log")
    with caplog.at_level(logging.ERROR):
        setup.run(3_000)
    assert list(setup.cleaner.uncleanable) == [ORDERS]
    assert [topic for topic, _, _ in setup.cleaned].count("orders") == 1
    assert keys_of(good) == {b"key-0": 57, b"key-1": 58, b"key-2": 59}
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 1
    assert "orders-0" in told[0] and f"offset {bad.segments[1].base_offset}" in told[0]
    assert "restart" in told[0]
    assert bad.failure is None and bad.log_end_offset == 60
    assert bad.append_as_leader(encode_batch([Record(0, 0, b"k", b"v")]), 0, 0).first_offset == 60


def test_a_topic_made_anew_under_the_name_of_a_damaged_one_is_compacted() -> None:
    setup = Setup()
    bad = setup.log()
    setup.fill(bad)
    damage(setup, f"/data/orders-0/{bad.segments[0].base_offset:020d}.log")
    setup.run()
    setup.logs.delete(ORDERS)
    again = setup.logs.get_or_create(ORDERS, bytes(range(16)), is_new=True)
    setup.fill(again)
    setup.scheduler.run_for(1_000)
    assert setup.noted() == {ORDERS: again.active_segment.base_offset}


def failing(error: Exception) -> Callable[[CleaningJob], None]:
    def fail(_: CleaningJob) -> None:
        raise error

    return fail


@pytest.mark.parametrize(
    "error", [WorkerLost("it is gone"), CleaningFailed("the disk is full", errno=errno.ENOSPC)]
)
def test_what_may_be_better_later_is_tried_again_after_longer_and_longer_pauses(error: Exception) -> None:
    setup = Setup()
    log = setup.log()
    setup.fill(log)
    times: list[float] = []

    def fail(_: CleaningJob) -> None:
        times.append(setup.scheduler.now_ms)
        if len(times) < 4:
            raise error

    setup.worker.before = fail
    setup.run(3_000)
    assert len(times) == 4
    pauses = [b - a for a, b in itertools.pairwise(times)]
    assert 100 <= pauses[0] < 150 and 200 <= pauses[1] < 250 and 400 <= pauses[2] < 550
    assert setup.noted() == {ORDERS: log.active_segment.base_offset}
    assert not setup.cleaner.uncleanable


def test_a_broken_disk_takes_its_directory_offline() -> None:
    setup = Setup()
    setup.fill(setup.log())
    setup.worker.before = failing(CleaningFailed("no", errno=errno.EIO))
    setup.run()
    assert setup.logs.get(ORDERS) is None
    assert not setup.logs.dirs[0].online


def test_a_bug_costs_one_log_its_compaction_and_nothing_else() -> None:
    setup = Setup()
    log = setup.log()
    setup.fill(log)
    setup.worker.before = failing(ZeroDivisionError())
    setup.run()
    assert list(setup.cleaner.uncleanable) == [ORDERS]
    assert log.failure is None


def test_after_a_restart_compaction_begins_where_it_was() -> None:
    setup = Setup()
    log = setup.log()
    setup.fill(log)
    setup.run()
    place = log.first_dirty_offset
    setup.driver.kill()
    setup.disk.crash()
    again = Setup(setup.disk.restart(random.Random(1), power_loss=True))
    log = again.logs.get(ORDERS)  # type: ignore[assignment]
    assert log is not None and log.first_dirty_offset == place
    log.update_high_watermark(log.log_end_offset)
    again.fill(log, 200)
    again.run()
    assert again.cleaned[0][:2] == ("orders", place)
    assert keys_of(log) == {b"key-0": 258, b"key-1": 259, b"key-2": 257}


def test_a_log_that_was_compacted_once_is_not_cut_at_its_holes_when_its_policy_is_delete_now() -> None:
    """A recovery point that cannot be read counts as none, and then all of the log is scanned."""
    setup = Setup()
    log = setup.log()
    setup.fill(log)
    setup.run()
    kept = keys_of(log)
    setup.driver.kill()
    setup.disk.crash()
    disk = setup.disk.restart(random.Random(1), power_loss=True)
    disk.remove(f"/data/{RECOVERY_POINT_CHECKPOINT}")
    delete = replace(COMPACT, cleanup_policy=frozenset({"delete"}))
    found = Setup(disk, configs={"orders": delete}).logs.get(ORDERS)
    assert found is not None
    assert keys_of(found) == kept and found.log_end_offset == 60


def test_the_place_noted_for_a_topic_does_not_hold_for_the_next_one_of_its_name() -> None:
    setup = Setup()
    setup.fill(setup.log())
    setup.run()
    assert ORDERS in setup.noted()
    setup.logs.delete(ORDERS)
    again = setup.logs.get_or_create(ORDERS, bytes(range(16)), is_new=True)
    assert again.first_dirty_offset == -1
    assert ORDERS not in setup.noted()


def test_a_truncation_takes_the_noted_place_back_with_it() -> None:
    """LogCleanerManager.maybeTruncateCheckpoint."""
    setup = Setup()
    log = setup.log()
    setup.fill(log)
    setup.run()
    setup.logs.truncate({ORDERS: 12})
    assert log.first_dirty_offset == log.log_end_offset <= 12
    assert setup.noted() == {ORDERS: log.log_end_offset}
