"""What happens to logs over time: each pass acts where something changed, and leaves the rest alone."""

from __future__ import annotations

import errno
from typing import Any

import pytest
from manager_bench import CLICKS, ORDERS, TOPIC_ID, HandClock, append, make_manager, reboot, run, started

from ottla.log.checkpoints import read_checkpoint
from ottla.log.housekeeping import Housekeeping
from ottla.log.manager import AllDirsFailed, ManagerSettings
from ottla.log.turn import Turn
from ottla.model.log_config import LogConfig
from ottla.model.types import TopicPartition
from ottla.ports.effects import DiskJob, Effect, Sleep
from ottla.testing.disk import VirtualDisk
from ottla.wire.record_batch import Record, encode_batch

RECOVERY = "recovery-point-offset-checkpoint"


def test_old_segments_leave_the_log_at_once_and_the_disk_after_the_delay() -> None:
    disk = VirtualDisk()
    clock = HandClock()
    config = LogConfig(segment_bytes=1024, retention_ms=1000, file_delete_delay_ms=500)
    manager = started(disk, clock=clock, config=config)
    log = manager.get_or_create(ORDERS, TOPIC_ID)
    append(log, 40)
    log.update_high_watermark(40)
    files = len(disk.list_dir("/data/orders-0"))
    clock.pass_ms(5_000)
    house = Housekeeping(manager)
    run(house.retention_pass())
    assert log.log_start_offset > 0
    assert any(name.endswith(".deleted") for name in disk.list_dir("/data/orders-0"))
    run(house.delete_pass())
    assert any(name.endswith(".deleted") for name in disk.list_dir("/data/orders-0"))
    clock.pass_ms(501)
    run(house.delete_pass())
    left = disk.list_dir("/data/orders-0")
    assert not any(name.endswith(".deleted") for name in left)
    assert len(left) < files


def test_a_pass_over_idle_logs_writes_nothing() -> None:
    disk = VirtualDisk()
    manager = started(disk)
    for partition in range(20):
        append(manager.get_or_create(TopicPartition("orders", partition), TOPIC_ID))
    manager.shutdown()
    again = started(disk)
    house = Housekeeping(again)
    before = {
        name: disk.read_file(f"/data/{name}")
        for name in disk.list_dir("/data")
        if name.endswith("checkpoint")
    }
    effects: list[Effect] = []
    for steps in (
        house.flush_pass(),
        house.checkpoint_pass(RECOVERY),
        house.checkpoint_pass("log-start-offset-checkpoint"),
        house.checkpoint_pass("replication-offset-checkpoint"),
        house.retention_pass(),
        house.delete_pass(),
        house.producer_expiry_pass(),
    ):
        effects += run(steps)
    assert [effect for effect in effects if isinstance(effect, DiskJob)] == []
    after = {name: disk.read_file(f"/data/{name}") for name in before}
    assert before == after


def test_a_log_is_flushed_when_its_time_has_come() -> None:
    disk = VirtualDisk()
    clock = HandClock()
    manager = started(disk, clock=clock, config=LogConfig(flush_ms=1000))
    log = manager.get_or_create(ORDERS, TOPIC_ID)
    append(log, 3)
    house = Housekeeping(manager)
    run(house.flush_pass())
    assert log.recovery_point == 0
    clock.pass_ms(1001)
    run(house.flush_pass())
    assert log.recovery_point == 3
    assert disk.unsynced_bytes("/data/orders-0/00000000000000000000.log") == 0


def test_the_flush_task_looks_as_often_as_the_shortest_flush_ms_needs() -> None:
    manager = started(VirtualDisk(), config=LogConfig(flush_ms=100))
    manager.get_or_create(ORDERS, TOPIC_ID)
    task = manager.background()[1]
    first, second = (next(effect for effect in task if isinstance(effect, Sleep)) for _ in range(2))
    assert (first.duration_ms, second.duration_ms) == (1000, 50)


def test_rolled_segments_are_synced_without_any_flush_setting() -> None:
    # Kafka syncs a segment when it is rolled, so that recovery has one segment to read.
    disk = VirtualDisk()
    manager = started(disk, config=LogConfig(segment_bytes=1024))
    log = manager.get_or_create(ORDERS, TOPIC_ID)
    append(log, 40)
    assert len(log.segments) > 2
    run(Housekeeping(manager).flush_pass())
    assert log.recovery_point >= log.active_segment.base_offset
    for segment in log.segments[:-1]:
        assert disk.unsynced_bytes(f"/data/orders-0/{segment.base_offset:020d}.log") == 0


def test_a_flush_that_fails_takes_the_directory_offline() -> None:
    disk = VirtualDisk()
    clock = HandClock()
    manager = started(disk, ["/a", "/b"], clock=clock, config=LogConfig(flush_ms=10))
    append(manager.get_or_create(ORDERS, TOPIC_ID), 3)
    append(manager.get_or_create(CLICKS, TOPIC_ID), 3)
    home = next(d.path for d in manager.dirs if ORDERS in d.logs)
    disk.fail(home, "sync", error=errno.EIO)
    clock.pass_ms(11)
    run(Housekeeping(manager).flush_pass())
    assert manager.get(ORDERS) is None
    clicks = manager.get(CLICKS)
    assert clicks is not None and clicks.recovery_point == 3


def test_a_partition_deleted_during_its_flush_does_no_harm() -> None:
    disk = VirtualDisk()
    clock = HandClock()
    manager = started(disk, clock=clock, config=LogConfig(flush_ms=10))
    append(manager.get_or_create(ORDERS, TOPIC_ID), 3)
    clock.pass_ms(11)
    deleted: list[bool] = []

    def delete_it(effect: Effect) -> None:
        if isinstance(effect, DiskJob) and not deleted:
            deleted.append(manager.delete(ORDERS))

    run(Housekeeping(manager).flush_pass(), between=delete_it)
    assert deleted == [True]
    assert [d.online for d in manager.dirs] == [True]


def test_checkpoints_are_written_when_something_moved() -> None:
    disk = VirtualDisk()
    manager = started(disk)
    log = manager.get_or_create(ORDERS, TOPIC_ID)
    append(log, 4)
    log.flush(1)
    house = Housekeeping(manager)
    run(house.checkpoint_pass(RECOVERY))
    assert read_checkpoint(disk, f"/data/{RECOVERY}") == {ORDERS: 4}
    assert run(house.checkpoint_pass(RECOVERY)) == []
    survivor = reboot(disk)
    assert read_checkpoint(survivor, f"/data/{RECOVERY}") == {ORDERS: 4}


def test_a_checkpoint_that_went_stale_while_it_was_written_is_dropped() -> None:
    # A recovery point beyond a truncation would hide what is appended next from recovery.
    disk = VirtualDisk()
    manager = started(disk)
    log = manager.get_or_create(ORDERS, TOPIC_ID)
    append(log, 10)
    log.flush(1)

    def truncate(effect: Effect) -> None:
        manager.truncate({ORDERS: 2})

    run(Housekeeping(manager).checkpoint_pass(RECOVERY), between=truncate)
    assert read_checkpoint(disk, f"/data/{RECOVERY}") == {ORDERS: 2}


def test_a_full_disk_while_checkpointing_keeps_the_directory_online() -> None:
    disk = VirtualDisk()
    manager = started(disk)
    log = manager.get_or_create(ORDERS, TOPIC_ID)
    append(log, 4)
    log.flush(1)
    disk.fail("/data/recovery", "create", "append", "write", error=errno.ENOSPC)
    house = Housekeeping(manager)
    run(house.checkpoint_pass(RECOVERY))
    assert manager.get(ORDERS) is log
    disk.heal("/data/recovery")
    run(house.checkpoint_pass(RECOVERY))
    assert read_checkpoint(disk, f"/data/{RECOVERY}") == {ORDERS: 4}


def test_producers_that_stopped_writing_are_forgotten() -> None:
    clock = HandClock()
    manager = make_manager(
        VirtualDisk(), clock=clock, settings=ManagerSettings(producer_id_expiration_ms=1000)
    )
    manager.start(None)
    log = manager.get_or_create(ORDERS, TOPIC_ID)
    batch = encode_batch(
        [Record(0, clock.now_ms(), b"k", b"v")], producer_id=5, producer_epoch=0, base_sequence=0
    )
    log.append_as_leader(batch, 0, clock.now_ms())
    log.update_high_watermark(1)
    house = Housekeeping(manager)
    run(house.producer_expiry_pass())
    assert log.producers.get(5) is not None
    clock.pass_ms(1001)
    run(house.producer_expiry_pass())
    assert log.producers.get(5) is None


def test_work_on_many_logs_is_cut_into_turns_of_a_millisecond() -> None:
    clock = HandClock()
    manager = started(VirtualDisk(), clock=clock)
    for partition in range(100):
        manager.get_or_create(TopicPartition("orders", partition), TOPIC_ID)
    clock.tick_ms = 0.1
    rests = [effect for effect in run(Housekeeping(manager).retention_pass()) if isinstance(effect, Sleep)]
    assert len(rests) >= 8
    assert {rest.duration_ms for rest in rests} == {0}


def test_a_turn_does_not_count_the_time_of_others() -> None:
    clock = HandClock()
    turn = Turn(clock)
    assert not turn.over()
    clock.pass_ms(2)
    assert turn.over()
    turn.rest()
    clock.pass_ms(500)
    assert not turn.over()


def test_every_background_task_sleeps_first_and_ends_after_shutdown() -> None:
    manager = started(VirtualDisk())
    tasks = manager.background()
    assert len(tasks) == 8
    for task in tasks:
        assert isinstance(next(task), Sleep)
    manager.shutdown()
    for task in tasks:
        run_to_end(task)


def run_to_end(task: Any) -> None:
    for _ in range(100):
        try:
            task.send(None)
        except StopIteration:
            return
    raise AssertionError("the task goes on after the shutdown")


def test_the_loss_of_the_last_directory_ends_a_background_task_with_an_error() -> None:
    manager = started(VirtualDisk())
    task = manager.background()[0]
    next(task)
    manager.fail_dir("/data", OSError(errno.EIO, "Input/output error"))
    with pytest.raises(AllDirsFailed):
        next(task)
