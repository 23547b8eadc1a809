"""Flushing: the recovery point, the flush policy, and what is synced before the recovery point moves."""

from __future__ import annotations

import pytest
from log_bench import DIR, NOW, append, batch, log_path, open_log, sent

from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.log_config import LogConfig
from ottla.testing.disk import VirtualDisk

SIZE = len(batch())


def test_a_flush_moves_the_recovery_point_to_the_log_end() -> None:
    disk = VirtualDisk()
    log = open_log(disk)
    append(log, batch(3))
    assert (log.recovery_point, log.unflushed_messages) == (0, 3)
    log.flush(NOW + 5)
    assert (log.recovery_point, log.unflushed_messages, log.last_flush_ms) == (3, 0, NOW + 5)
    assert disk.unsynced_bytes(log_path(0)) == 0
    assert log.begin_flush() is None


def test_flush_messages_and_flush_ms_say_when_a_flush_is_due() -> None:
    log = open_log(config=LogConfig(flush_messages=3))
    append(log, batch(2))
    assert not log.flush_due(NOW + 10**9)
    append(log)
    assert log.flush_due(NOW)
    log = open_log(config=LogConfig(flush_ms=100))
    assert not log.flush_due(NOW + 10**9), "there is nothing to flush"
    append(log)
    assert not log.flush_due(NOW + 99)
    assert log.flush_due(NOW + 100)
    log.flush(NOW + 100)
    assert not log.flush_due(NOW + 500)


def test_appends_during_a_flush_belong_to_the_next_one() -> None:
    disk = VirtualDisk()
    log = open_log(disk)
    append(log)
    ticket = log.begin_flush()
    assert ticket is not None
    append(log)
    ticket.run()
    append(log)
    log.end_flush(ticket, NOW)
    assert log.recovery_point == 1
    log.flush(NOW)
    assert log.recovery_point == 3
    assert disk.unsynced_bytes(log_path(0)) == 0


def test_a_truncation_during_a_flush_keeps_the_recovery_point_below_the_log_end() -> None:
    log = open_log()
    for _ in range(5):
        append(log)
    ticket = log.begin_flush()
    assert ticket is not None
    log.truncate_to(2)
    append(log)
    ticket.run()
    log.end_flush(ticket, NOW)
    assert log.recovery_point <= 2
    log.flush(NOW)
    assert log.recovery_point == 3


def test_a_failed_sync_is_not_tried_again_the_log_is_given_up_until_a_restart() -> None:
    """After a failed fsync Linux drops the dirty pages and the next one succeeds: believing it loses data."""
    disk = VirtualDisk()
    log = open_log(disk)
    append(log)
    disk.fail(log_path(0), "sync")
    with pytest.raises(KafkaError) as refused:
        log.flush(NOW)
    assert refused.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    assert log.recovery_point == 0
    disk.heal(log_path(0))
    assert log.failure is not None
    for operation in (lambda: append(log), lambda: log.flush(NOW)):
        with pytest.raises(KafkaError) as refused:
            operation()
        assert refused.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    assert open_log(disk).log_end_offset <= 1


def test_a_flush_that_was_never_run_changes_nothing() -> None:
    disk = VirtualDisk()
    log = open_log(disk, topic_id=bytes(range(16)))
    append(log)
    ticket = log.begin_flush()
    assert ticket is not None
    log.end_flush(ticket, NOW)
    assert (log.recovery_point, log.failure) == (0, None)
    log.flush(NOW)
    assert log.recovery_point == 1
    assert disk.unsynced_bytes(log_path(0)) == disk.unsynced_bytes(f"{DIR}/partition.metadata") == 0


def test_of_two_flushes_under_way_the_second_does_not_rely_on_the_first() -> None:
    disk = VirtualDisk()
    log = open_log(disk, LogConfig(segment_bytes=SIZE))
    append(log)
    first = log.begin_flush()
    append(log)
    second = log.begin_flush()
    assert first is not None and second is not None
    second.run()
    log.end_flush(second, NOW)
    assert log.recovery_point == 2
    assert disk.unsynced_bytes(log_path(0)) == disk.unsynced_bytes(log_path(1)) == 0
    first.run()
    log.end_flush(first, NOW)
    assert log.recovery_point == 2


def test_a_rolled_segment_is_flushed_alone_with_its_indexes_and_snapshot() -> None:
    disk = VirtualDisk()
    log = open_log(disk, LogConfig(segment_bytes=3 * len(sent(1, 0)), index_interval_bytes=1))
    assert not log.rolled_flush_due
    for sequence in range(4):
        append(log, sent(1, sequence))
    assert log.rolled_flush_due
    ticket = log.begin_flush(rolled_only=True)
    assert ticket is not None and ticket.upto_offset == 3
    ticket.run()
    log.end_flush(ticket, NOW)
    assert log.recovery_point == 3
    assert not log.rolled_flush_due
    for path in (log_path(0), log_path(0, ".index"), log_path(0, ".timeindex"), log_path(3, ".snapshot")):
        assert disk.unsynced_bytes(path) == 0, path
    assert disk.unsynced_bytes(log_path(3)) > 0, "the active segment waits"


def test_the_leader_epochs_are_on_disk_before_the_recovery_point_passes_them() -> None:
    disk = VirtualDisk()
    log = open_log(disk)
    append(log, epoch=4)
    assert not disk.exists(f"{DIR}/leader-epoch-checkpoint")
    log.flush(NOW)
    assert disk.read_file(f"{DIR}/leader-epoch-checkpoint") == b"0\n1\n4 0\n"


def test_an_append_costs_one_operation_of_the_disk() -> None:
    disk = VirtualDisk()
    log = open_log(disk)
    append(log)
    before = disk.operations
    for _ in range(100):
        append(log)
    assert disk.operations - before == 100


def test_closing_makes_everything_durable_and_the_next_start_reads_no_batch() -> None:
    disk = VirtualDisk()
    log = open_log(disk, LogConfig(segment_bytes=3 * SIZE))
    for _ in range(10):
        append(log)
    log.close(NOW)
    for name in disk.list_dir(DIR):
        assert disk.unsynced_bytes(f"{DIR}/{name}") == 0, name
    again = open_log(disk, LogConfig(segment_bytes=3 * SIZE), clean_shutdown=True)
    assert (again.log_end_offset, again.recovery_point) == (10, 10)
    assert again.begin_flush() is None
