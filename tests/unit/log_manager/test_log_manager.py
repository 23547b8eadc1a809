"""The manager of all logs: several directories, one failing alone; clean and unclean starts; deletion."""

from __future__ import annotations

import errno
import logging
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from manager_bench import (
    CLICKS,
    ORDERS,
    TOPIC_ID,
    HandClock,
    append,
    contents,
    make_manager,
    reboot,
    run,
    started,
)

from ottla.log.checkpoints import read_checkpoint, write_checkpoint
from ottla.log.housekeeping import Housekeeping
from ottla.log.log_dir import CHECKPOINTS
from ottla.log.manager import CLOSE_ONE_BY_ONE_MAX, AllDirsFailed, DataDirInUse, DuplicateLog, LogManager
from ottla.log.meta_properties import (
    BadMetaProperties,
    MetaProperties,
    read_meta_properties,
    write_meta_properties,
)
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.log_config import LogConfig
from ottla.model.types import TopicPartition
from ottla.net.disk import OsDisk
from ottla.ports.effects import DiskJob, Sleep
from ottla.testing.disk import SimulatedCrash, VirtualDisk


def names(disk: VirtualDisk, path: str = "/data") -> list[str]:
    return disk.list_dir(path)


# --- identity and locks


def test_the_first_start_formats_every_directory_with_an_id_of_its_own() -> None:
    disk = VirtualDisk()
    manager = make_manager(disk, ["/a", "/b"], node_id=7)
    manager.start("the-cluster")
    metas = [read_meta_properties(disk, path) for path in ("/a", "/b")]
    assert [(m.node_id, m.cluster_id, m.version) for m in metas if m] == [(7, "the-cluster", 1)] * 2
    assert manager.directory_ids == {
        "/a": metas[0] and metas[0].directory_id,
        "/b": metas[1] and metas[1].directory_id,
    }
    assert len(set(manager.directory_ids.values())) == 2


def test_the_ids_stay_over_a_restart_and_a_new_directory_joins_the_cluster() -> None:
    disk = VirtualDisk()
    first = make_manager(disk, ["/a"])
    first.start(None)
    first.shutdown()
    second = make_manager(disk, ["/a", "/b"])
    second.start(None)
    assert second.cluster_id == first.cluster_id
    assert second.directory_ids["/a"] == first.directory_ids["/a"]
    meta = read_meta_properties(disk, "/b")
    assert meta is not None and meta.cluster_id == first.cluster_id


def test_a_file_of_version_0_is_taken_over_as_version_1() -> None:
    disk = VirtualDisk()
    disk.make_dirs("/data")
    disk.write_file_atomic("/data/meta.properties", b"version=0\nbroker.id=1\ncluster.id=old\n")
    manager = make_manager(disk)
    manager.start(None)
    assert read_meta_properties(disk, "/data") == MetaProperties(1, "old", manager.directory_ids["/data"], 1)


@pytest.mark.parametrize(
    ("meta", "what"),
    [
        (MetaProperties(2, "cluster", None), "belongs to node 2"),
        (MetaProperties(1, "another", None), "belongs to cluster another"),
    ],
)
def test_a_directory_of_another_node_or_cluster_is_refused(meta: MetaProperties, what: str) -> None:
    disk = VirtualDisk()
    disk.make_dirs("/data")
    write_meta_properties(disk, "/data", meta)
    with pytest.raises(BadMetaProperties, match=what):
        make_manager(disk).start("cluster")
    assert disk.lock("/data/.lock") is not None, "the lock was not given back"


def test_two_directories_with_one_id_are_refused() -> None:
    disk = VirtualDisk()
    for path in ("/a", "/b"):
        disk.make_dirs(path)
        write_meta_properties(disk, path, MetaProperties(1, "cluster", b"0123456789abcdef"))
    with pytest.raises(BadMetaProperties, match=r"directory\.id of /a"):
        make_manager(disk, ["/a", "/b"]).start(None)


def test_a_directory_named_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        make_manager(VirtualDisk(), ["/a", "/b", "/a/"])


def test_a_second_manager_on_the_same_directory_is_refused_in_one_line() -> None:
    disk = VirtualDisk()
    first = started(disk, ["/a", "/b"])
    with pytest.raises(DataDirInUse, match="in use by another broker process: stop that one") as caught:
        make_manager(disk, ["/c", "/b"]).start(None)
    assert "\n" not in str(caught.value) and "/b" in str(caught.value)
    started(disk, ["/c"]).shutdown()  # its lock on /c was given back
    first.shutdown()
    started(disk, ["/a", "/b"]).shutdown()


def test_a_second_process_on_the_same_directory_is_refused(tmp_path: Path) -> None:
    manager = started(OsDisk(), [str(tmp_path)])
    code = f"""
import sys
sys.path[:] = {[*sys.path, str(Path(__file__).parent)]!r}
from manager_bench import make_manager
from ottla.log.manager import DataDirInUse
from ottla.net.disk import OsDisk
from ottla.ports.effects import DiskJob, Sleep
try:
    make_manager(OsDisk(), [{str(tmp_path)!r}]).start(None)
except DataDirInUse as error:
    print("refused", error)
"""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert process.stdout.startswith(f"refused {tmp_path} is in use"), process.stderr
    manager.shutdown()


# --- start and shutdown


def test_logs_are_found_again_after_a_clean_shutdown() -> None:
    disk = VirtualDisk()
    manager = started(disk)
    append(manager.get_or_create(ORDERS, TOPIC_ID), 5)
    append(manager.get_or_create(CLICKS, TOPIC_ID), 2)
    before = contents(manager.logs[ORDERS])
    manager.shutdown()
    assert ".kafka_cleanshutdown" in names(disk)
    again = started(disk)
    assert set(again.logs) == {ORDERS, CLICKS}
    log = again.get(ORDERS)
    assert log is not None
    assert (log.log_start_offset, log.log_end_offset, log.recovery_point, log.topic_id) == (0, 5, 5, TOPIC_ID)
    assert contents(log) == before
    assert again.dirs[0].had_clean_shutdown


def test_the_mark_of_a_clean_shutdown_is_gone_while_a_process_runs() -> None:
    disk = VirtualDisk()
    manager = started(disk)
    manager.shutdown(broker_epoch=42)
    again = started(disk)
    assert ".kafka_cleanshutdown" not in names(disk)
    assert again.previous_broker_epoch == 42
    crashed = started(reboot(disk))
    assert not crashed.dirs[0].had_clean_shutdown
    assert crashed.previous_broker_epoch == -1


def test_a_killed_process_leaves_logs_that_are_recovered() -> None:
    disk = VirtualDisk()
    append(started(disk).get_or_create(ORDERS, TOPIC_ID), 20)
    path = "/data/orders-0/00000000000000000000.log"
    disk = reboot(disk)
    file = disk.open(path)
    whole = file.size()
    file.append([b"torn" * 10])
    log = started(disk).get(ORDERS)
    assert log is not None
    assert log.log_end_offset == 20
    assert disk.open(path).size() == whole


def test_recovery_looks_only_past_the_recovery_point() -> None:
    # Damage below the recovery point is on synced, checkpointed ground: the start does not read there.
    disk = VirtualDisk()
    manager = started(disk, config=LogConfig(segment_bytes=1024))
    log = manager.get_or_create(ORDERS, TOPIC_ID)
    append(log, 40)
    log.flush(1)
    manager.dirs[0].write_checkpoint_now("recovery-point-offset-checkpoint")
    append(log, 5)
    first = log.segments[0]
    assert first.base_offset == 0 and len(log.segments) > 2
    disk = reboot(disk)
    disk.open("/data/orders-0/00000000000000000000.log").write_at(b"\xff" * 20, 80)
    again = started(disk).get(ORDERS)
    assert again is not None
    assert (again.log_start_offset, again.log_end_offset) == (0, 45)


@pytest.mark.parametrize("damage", [None, b"", b"0\n1\nno", b"\x00" * 40])
def test_missing_and_damaged_checkpoints_count_as_zeros(damage: bytes | None) -> None:
    disk = VirtualDisk()
    manager = started(disk)
    append(manager.get_or_create(ORDERS, TOPIC_ID), 5)
    manager.shutdown()
    for name in (
        "recovery-point-offset-checkpoint",
        "log-start-offset-checkpoint",
        "replication-offset-checkpoint",
    ):
        path = f"/data/{name}"
        if damage is not None:
            disk.write_file_atomic(path, damage)
        elif disk.exists(path):
            disk.remove(path)
    log = started(disk).get(ORDERS)
    assert log is not None
    assert (log.log_start_offset, log.log_end_offset) == (0, 5)


def test_the_log_start_and_the_high_watermark_survive_a_restart() -> None:
    disk = VirtualDisk()
    manager = started(disk)
    log = manager.get_or_create(ORDERS, TOPIC_ID)
    append(log, 9)
    log.update_high_watermark(7)
    log.advance_log_start(4)
    manager.shutdown()
    assert read_checkpoint(disk, "/data/log-start-offset-checkpoint") == {ORDERS: 4}
    assert read_checkpoint(disk, "/data/replication-offset-checkpoint") == {ORDERS: 7}
    assert read_checkpoint(disk, "/data/recovery-point-offset-checkpoint") == {ORDERS: 9}
    again = started(disk).get(ORDERS)
    assert again is not None
    assert (again.log_start_offset, again.high_watermark) == (4, 7)


def test_a_partition_in_two_directories_stops_the_start() -> None:
    disk = VirtualDisk()
    for path in ("/a", "/b"):
        manager = started(disk, [path])
        manager.get_or_create(ORDERS, TOPIC_ID)
        manager.shutdown()
    with pytest.raises(DuplicateLog, match="orders-0 is in both /a and /b"):
        make_manager(disk, ["/a", "/b"]).start(None)


def test_a_log_of_a_deleted_topic_in_a_directory_that_comes_back_does_not_stop_the_start() -> None:
    """Its topic was deleted and made again in another directory while this one was offline."""
    disk = VirtualDisk()
    ids = {"/a": bytes(range(1, 17)), "/b": bytes(range(2, 18))}
    for path, topic_id in ids.items():
        manager = started(disk, [path])
        append(manager.get_or_create(ORDERS, topic_id), 3 if path == "/b" else 1)
        manager.shutdown()
    manager = make_manager(disk, ["/a", "/b"])
    manager.open_dirs(None)
    manager.load(lambda tp, topic_id: topic_id == ids["/b"])
    log = manager.get(ORDERS)
    assert log is not None and (log.topic_id, log.log_end_offset) == (ids["/b"], 3)
    assert any(name.startswith("orders-0.") and name.endswith("-stray") for name in disk.list_dir("/a"))


def test_what_is_no_partition_is_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    disk = VirtualDisk()
    started(disk).shutdown()
    for name in ("__cluster_metadata-0", "lost+found", "orders", "orders-007", "-1"):
        disk.make_dirs(f"/data/{name}")
    disk.write_file_atomic("/data/bootstrap.checkpoint", b"x")
    with caplog.at_level(logging.WARNING):
        manager = started(disk)
    assert dict(manager.logs) == {}
    assert set(names(disk)) >= {"__cluster_metadata-0", "lost+found", "orders", "orders-007"}
    assert "lost+found is not named like a partition" in caplog.text


@pytest.mark.parametrize("name", ["orders-0", "__cluster_metadata-0"])
def test_a_directory_with_data_and_no_meta_properties_is_not_formatted_anew(name: str) -> None:
    """Whose data it is cannot be guessed; a new cluster id would hide that the file was lost."""
    disk = VirtualDisk()
    disk.make_dirs(f"/data/{name}")
    with pytest.raises(BadMetaProperties, match=r"holds data .* but no meta\.properties"):
        started(disk)
    assert names(disk) == [".lock", name] or names(disk) == [name]


def test_shutdown_may_be_called_twice() -> None:
    disk = VirtualDisk()
    manager = started(disk)
    append(manager.get_or_create(ORDERS, TOPIC_ID))
    manager.shutdown()
    operations = names(disk)
    manager.shutdown()
    assert names(disk) == operations


def test_a_shutdown_before_the_logs_were_loaded_does_not_call_them_clean() -> None:
    # A broker locks its directories, replays its metadata, and only then loads: the replay may fail.
    disk = VirtualDisk()
    append(started(disk).get_or_create(ORDERS, TOPIC_ID), 3)
    disk = reboot(disk)
    manager = make_manager(disk)
    manager.open_dirs()
    manager.shutdown()
    assert ".kafka_cleanshutdown" not in names(disk)
    again = started(disk)
    assert again.logs[ORDERS].log_end_offset == 3


def test_a_directory_that_fails_at_shutdown_has_no_clean_mark_and_the_others_have() -> None:
    disk = VirtualDisk()
    manager = started(disk, ["/a", "/b"])
    append(manager.get_or_create(ORDERS, TOPIC_ID), 3)
    append(manager.get_or_create(CLICKS, TOPIC_ID), 3)
    broken = "/a" if ORDERS in manager.dirs[0].logs else "/b"
    well = "/b" if broken == "/a" else "/a"
    disk.fail(broken, "sync")
    manager.shutdown()
    disk.heal(broken)
    assert ".kafka_cleanshutdown" not in names(disk, broken)
    assert ".kafka_cleanshutdown" in names(disk, well)
    assert disk.lock(f"{broken}/.lock") is not None, "the lock of the broken directory is given back too"


def test_a_long_load_says_how_far_it_is(caplog: pytest.LogCaptureFixture) -> None:
    disk = VirtualDisk()
    manager = started(disk)
    for partition in range(6):
        manager.get_or_create(TopicPartition("orders", partition), TOPIC_ID)
    manager.shutdown()
    clock = HandClock()
    clock.tick_ms = 2_000
    with caplog.at_level(logging.INFO):
        started(disk, clock=clock)
    assert "of 6 logs loaded" in caplog.text
    assert "loaded 6 logs" in caplog.text


# --- directories


def test_a_new_log_goes_to_the_directory_with_the_fewest() -> None:
    manager = started(VirtualDisk(), ["/a", "/b", "/c"])
    for partition in range(7):
        manager.get_or_create(TopicPartition("orders", partition), TOPIC_ID)
    assert sorted(len(d.logs) for d in manager.dirs) == [2, 2, 3]


def test_a_new_log_goes_to_the_directory_that_was_assigned() -> None:
    manager = started(VirtualDisk(), ["/a", "/b"])
    wanted = manager.directory_ids["/b"]
    for partition in range(3):
        manager.get_or_create(TopicPartition("orders", partition), TOPIC_ID, directory_id=wanted)
    assert [len(d.logs) for d in manager.dirs] == [0, 3]


def test_a_failed_directory_takes_its_logs_along_and_the_others_serve() -> None:
    disk = VirtualDisk()
    manager = started(disk, ["/a", "/b"])
    append(manager.get_or_create(ORDERS, TOPIC_ID), 3)
    append(manager.get_or_create(CLICKS, TOPIC_ID), 3)
    told: list[tuple[str, list[TopicPartition]]] = []
    manager.on_dir_failed = lambda log_dir, lost: told.append((log_dir.path, lost))
    home = "/a" if ORDERS in manager.dirs[0].logs else "/b"
    manager.fail_dir(home, OSError(errno.EIO, "Input/output error"))
    assert manager.get(ORDERS) is None
    assert manager.offline == {ORDERS: home}
    assert told == [(home, [ORDERS])]
    clicks = manager.get(CLICKS)
    assert clicks is not None
    append(clicks)
    assert clicks.log_end_offset == 4
    assert home not in manager.directory_ids
    with pytest.raises(KafkaError) as caught:
        manager.get_or_create(ORDERS, TOPIC_ID)
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    manager.fail_dir(home, OSError(errno.EIO, "again"))
    assert len(told) == 1


def test_while_a_directory_is_offline_only_partitions_known_to_be_new_are_made() -> None:
    # An existing partition's records may be in the directory that is offline.
    manager = started(VirtualDisk(), ["/a", "/b"])
    manager.fail_dir("/a", OSError(errno.EIO, "Input/output error"))
    with pytest.raises(KafkaError) as caught:
        manager.get_or_create(CLICKS, TOPIC_ID)
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    manager.get_or_create(CLICKS, TOPIC_ID, is_new=True)
    assert CLICKS in manager.dirs[1].logs


def test_an_io_error_of_a_log_fails_its_directory_but_a_full_disk_does_not() -> None:
    manager = started(VirtualDisk(), ["/a", "/b"])
    log = manager.get_or_create(ORDERS, TOPIC_ID)
    assert not manager.storage_failed(log, OSError(errno.ENOSPC, "No space left on device"))
    assert not manager.storage_failed(log, KafkaError(ErrorCode.CORRUPT_MESSAGE))
    assert manager.get(ORDERS) is log
    error = KafkaError(ErrorCode.KAFKA_STORAGE_ERROR)
    error.__cause__ = OSError(errno.EIO, "Input/output error")
    assert manager.storage_failed(log, error)
    assert manager.get(ORDERS) is None


def test_a_directory_that_cannot_be_read_at_start_is_offline_and_the_others_serve() -> None:
    disk = VirtualDisk()
    manager = started(disk, ["/a", "/b"])
    manager.get_or_create(ORDERS, TOPIC_ID)
    manager.get_or_create(CLICKS, TOPIC_ID)
    home = "/a" if ORDERS in manager.dirs[0].logs else "/b"
    manager.shutdown()
    disk.fail(home, "read", "list")
    again = started(disk, ["/a", "/b"])
    assert set(again.logs) == {CLICKS}
    assert [d.path for d in again.online_dirs] == ["/b" if home == "/a" else "/a"]


def test_a_start_without_any_directory_that_works_fails() -> None:
    disk = VirtualDisk()
    disk.make_dirs("/a")
    disk.make_dirs("/b")
    disk.fail("/a")
    disk.fail("/b")
    with pytest.raises(AllDirsFailed, match=r"/a: .*; /b: "):
        make_manager(disk, ["/a", "/b"]).start(None)


def test_a_path_that_is_a_file_is_an_offline_directory(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"")
    manager = started(OsDisk(), [str(tmp_path / "a"), str(tmp_path / "b")])
    assert [d.online for d in manager.dirs] == [True, False]
    manager.shutdown()


def test_describe_dirs_gives_sizes_and_marks_the_offline_directory() -> None:
    manager = started(VirtualDisk(capacity_bytes=1 << 30), ["/a", "/b"])
    log = manager.get_or_create(ORDERS, TOPIC_ID)
    append(log, 3)
    home = next(d.path for d in manager.dirs if d.logs)
    by_path = {d.path: d for d in manager.describe_dirs()}
    assert by_path[home].error is ErrorCode.NONE
    assert by_path[home].total_bytes == 1 << 30
    assert 0 < by_path[home].usable_bytes < 1 << 30
    assert by_path[home].logs == [(ORDERS, log.size_bytes, 0, False)]
    manager.fail_dir(home, OSError(errno.EIO, "Input/output error"))
    by_path = {d.path: d for d in manager.describe_dirs()}
    assert by_path[home].error is ErrorCode.KAFKA_STORAGE_ERROR
    assert by_path[home].logs == []


# --- deletion


def test_a_deleted_partition_is_gone_at_once_and_its_files_after_the_delay() -> None:
    disk = VirtualDisk()
    clock = HandClock()
    manager = started(disk, clock=clock, config=LogConfig(file_delete_delay_ms=60_000))
    append(manager.get_or_create(ORDERS, TOPIC_ID), 3)
    assert manager.delete(ORDERS)
    assert manager.get(ORDERS) is None
    assert not manager.delete(ORDERS)
    marked = [name for name in names(disk) if name.endswith("-delete")]
    assert len(marked) == 1 and marked[0].startswith("orders-0.")
    house = Housekeeping(manager)
    clock.pass_ms(59_999)
    run(house.delete_pass())
    assert marked[0] in names(disk)
    clock.pass_ms(1)
    run(house.delete_pass())
    assert not any(name.startswith("orders") for name in names(disk))


def test_a_reader_reads_on_while_its_partition_is_deleted_and_made_again(tmp_path: Path) -> None:
    clock = HandClock()
    manager = started(OsDisk(), [str(tmp_path)], clock=clock, config=LogConfig(file_delete_delay_ms=0))
    log = manager.get_or_create(ORDERS, TOPIC_ID)
    append(log, 3, value=b"old" * 10)
    piece = log.read(0, 1 << 20, upto_offset=3, min_one_batch=True).slice
    assert piece is not None
    before = os.pread(piece.fd, piece.length, piece.position)
    manager.delete(ORDERS)
    run(Housekeeping(manager).delete_pass())
    assert sorted(n for n in os.listdir(tmp_path) if n.startswith("orders")) == []
    fresh = manager.get_or_create(ORDERS, bytes(16))
    append(fresh, 3, value=b"new" * 10)
    assert os.pread(piece.fd, piece.length, piece.position) == before
    assert piece.read() == before
    piece.release()
    manager.shutdown()


def test_a_partition_made_again_does_not_inherit_the_numbers_of_the_deleted_one() -> None:
    # With the old log start, the new log would lose its first records at the next start.
    disk = VirtualDisk()
    manager = started(disk)
    log = manager.get_or_create(ORDERS, TOPIC_ID)
    append(log, 50)
    log.update_high_watermark(50)
    log.advance_log_start(30)
    log.flush(1)
    house = Housekeeping(manager)
    for name in (
        "recovery-point-offset-checkpoint",
        "log-start-offset-checkpoint",
        "replication-offset-checkpoint",
    ):
        run(house.checkpoint_pass(name))
    assert read_checkpoint(disk, "/data/log-start-offset-checkpoint") == {ORDERS: 30}
    manager.delete(ORDERS)
    append(manager.get_or_create(ORDERS, bytes(15) + b"\x99"), 3)
    again = started(reboot(disk)).get(ORDERS)
    assert again is not None
    assert (again.log_start_offset, again.log_end_offset) == (0, 3)


def test_leftovers_of_deletions_are_removed_after_the_next_start() -> None:
    disk = VirtualDisk()
    clock = HandClock()
    leftover = f"/data/orders-0.{'0a' * 16}-delete"
    disk.make_dirs(leftover)
    disk.write_file_atomic(f"{leftover}/00000000000000000000.log", b"x")
    manager = started(disk, clock=clock)
    assert dict(manager.logs) == {}
    house = Housekeeping(manager)
    run(house.delete_pass())
    assert disk.exists(leftover)
    clock.pass_ms(manager.settings.file_delete_delay_ms)
    run(house.delete_pass())
    assert not disk.exists(leftover)


def test_a_topic_name_of_249_characters_can_be_deleted(tmp_path: Path) -> None:
    tp = TopicPartition("x" * 249, 0)
    manager = started(OsDisk(), [str(tmp_path)])
    manager.get_or_create(tp, TOPIC_ID)
    manager.delete(tp)
    marked = [name for name in os.listdir(tmp_path) if name.endswith("-delete")]
    assert [len(name) for name in marked] == [255]
    manager.shutdown()
    started(OsDisk(), [str(tmp_path)]).shutdown()


def test_a_log_of_an_earlier_topic_of_the_same_name_is_set_aside() -> None:
    disk = VirtualDisk()
    manager = started(disk)
    append(manager.get_or_create(ORDERS, TOPIC_ID), 3)
    fresh = manager.get_or_create(ORDERS, b"another topic id")
    assert fresh.log_end_offset == 0
    assert len([name for name in names(disk) if name.endswith("-stray")]) == 1


def test_strays_are_set_aside_once_the_metadata_is_known() -> None:
    disk = VirtualDisk()
    manager = started(disk)
    manager.get_or_create(ORDERS, TOPIC_ID)
    manager.get_or_create(CLICKS, TOPIC_ID)
    assert manager.set_aside_strays(lambda tp, topic_id: tp == CLICKS and topic_id == TOPIC_ID) == [ORDERS]
    assert set(manager.logs) == {CLICKS}
    manager.shutdown()
    assert set(started(disk).logs) == {CLICKS}


# --- configuration and truncation


def test_a_changed_topic_config_reaches_its_logs_and_no_others() -> None:
    configs = {"orders": LogConfig(), "clicks": LogConfig()}
    manager = make_manager(VirtualDisk(), config_for=configs.__getitem__)
    manager.start(None)
    orders = [manager.get_or_create(TopicPartition("orders", p), TOPIC_ID) for p in range(3)]
    clicks = manager.get_or_create(CLICKS, TOPIC_ID)
    configs["orders"] = LogConfig(retention_ms=5)
    configs["clicks"] = LogConfig(retention_ms=6)
    manager.update_topic_config("orders")
    manager.update_topic_config("unknown")
    assert [log.config.retention_ms for log in orders] == [5] * 3
    assert clicks.config.retention_ms != 6
    manager.update_all_configs()
    assert clicks.config.retention_ms == 6


def test_a_truncation_takes_the_recovery_point_on_disk_back_with_it() -> None:
    disk = VirtualDisk()
    manager = started(disk)
    log = manager.get_or_create(ORDERS, TOPIC_ID)
    append(log, 10)
    log.flush(1)
    manager.dirs[0].write_checkpoint_now("recovery-point-offset-checkpoint")
    manager.truncate({ORDERS: 4, CLICKS: 1})
    assert log.log_end_offset == 4
    assert read_checkpoint(disk, "/data/recovery-point-offset-checkpoint") == {ORDERS: 4}
    manager.truncate_fully(ORDERS, 100)
    assert (log.log_start_offset, log.log_end_offset) == (100, 100)
    append(log, 2)
    again = started(reboot(disk)).get(ORDERS)
    assert again is not None
    assert (again.log_start_offset, again.log_end_offset) == (100, 102)


def test_a_recovery_point_beyond_the_end_of_the_log_is_not_believed() -> None:
    disk = VirtualDisk()
    append(started(disk).get_or_create(ORDERS, TOPIC_ID), 3)
    disk = reboot(disk)
    write_checkpoint(disk, "/data/recovery-point-offset-checkpoint", {ORDERS: 99})
    log = started(disk).get(ORDERS)
    assert log is not None
    assert log.log_end_offset == 3
    assert log.recovery_point <= 3


# --- making logs


def test_many_logs_are_made_in_slices_with_one_sync_of_their_directory() -> None:
    disk = VirtualDisk()
    clock = HandClock()
    manager = started(disk, clock=clock)
    clock.tick_ms = 0.1
    wanted = [(TopicPartition("orders", partition), TOPIC_ID) for partition in range(50)]
    effects = run(manager.create_steps(wanted))
    assert len([e for e in effects if isinstance(e, DiskJob)]) == 1
    assert len([e for e in effects if isinstance(e, Sleep)]) >= 4
    assert set(manager.logs) == {tp for tp, _ in wanted}


@pytest.mark.parametrize("seed", range(20))
def test_what_was_flushed_into_a_new_log_survives_a_power_loss(seed: int) -> None:
    disk = VirtualDisk()
    manager = started(disk)
    single = manager.get_or_create(ORDERS, TOPIC_ID)
    run(manager.create_steps([(CLICKS, TOPIC_ID)]))
    for log in (single, manager.logs[CLICKS]):
        append(log, 3)
        log.flush(1)
        append(log, 2)
    again = started(disk.restart(random.Random(seed)))
    for tp in (ORDERS, CLICKS):
        assert 3 <= again.logs[tp].log_end_offset <= 5
        assert again.logs[tp].topic_id == TOPIC_ID


@pytest.mark.parametrize("seed", range(20))
def test_a_clean_shutdown_survives_a_power_loss_right_after_it(seed: int) -> None:
    disk = VirtualDisk()
    manager = started(disk)
    append(manager.get_or_create(ORDERS, TOPIC_ID), 7)
    manager.logs[ORDERS].update_high_watermark(7)
    manager.shutdown()
    again = started(disk.restart(random.Random(seed)))
    assert again.dirs[0].had_clean_shutdown
    log = again.logs[ORDERS]
    assert (log.log_end_offset, log.recovery_point, log.high_watermark) == (7, 7, 7)


@pytest.mark.parametrize("seed", range(30))
def test_a_power_loss_at_any_moment_of_a_shutdown_or_start_loses_nothing_that_was_flushed(seed: int) -> None:
    rng = random.Random(seed)
    disk = VirtualDisk()
    manager = started(disk)
    log = manager.get_or_create(ORDERS, TOPIC_ID)
    append(log, 5)
    log.flush(1)
    append(log, 3)
    images = []

    def look(operation: object, when: str) -> None:
        if rng.random() < 0.2:
            images.append(disk.image(rng))

    disk.observer = look
    manager.shutdown()
    started(disk)
    disk.observer = None
    assert images
    for image in images:
        found = started(image).logs[ORDERS]
        assert 5 <= found.log_end_offset <= 8


@pytest.mark.parametrize("seed", range(30))
def test_a_power_loss_while_a_topic_is_deleted_and_made_again_mixes_nothing_up(seed: int) -> None:
    rng = random.Random(seed)
    disk = VirtualDisk()
    manager = started(disk)
    house = Housekeeping(manager)
    old = manager.get_or_create(ORDERS, TOPIC_ID)
    append(old, 20)
    old.update_high_watermark(20)
    old.advance_log_start(11)
    old.flush(1)
    for name in CHECKPOINTS:
        run(house.checkpoint_pass(name))
    images = []

    def look(operation: object, when: str) -> None:
        if rng.random() < 0.3:
            images.append((flushed, disk.image(rng)))

    flushed = 0
    disk.observer = look
    manager.delete(ORDERS)
    new = manager.get_or_create(ORDERS, b"the new topic id")
    append(new, 6)
    new.flush(1)
    flushed = 6
    for name in CHECKPOINTS:
        run(house.checkpoint_pass(name))
    disk.observer = None
    assert images
    for durable, image in images:
        log = started(image).get(ORDERS)
        if log is not None and log.topic_id == TOPIC_ID:
            assert (log.log_start_offset, log.log_end_offset, durable) == (11, 20, 0)
        elif log is not None:
            assert log.log_start_offset == 0
            assert durable <= log.log_end_offset <= 6
        else:
            assert durable == 0


def test_a_log_that_one_directory_cannot_take_is_made_in_another() -> None:
    disk = VirtualDisk()
    manager = started(disk, ["/a", "/b"])
    disk.fail("/a", "create", "mkdir")
    log = manager.get_or_create(ORDERS, TOPIC_ID, is_new=True)
    assert manager.dir_of(log) is manager.dirs[1]
    assert not manager.dirs[0].online


def test_a_full_disk_refuses_new_logs_with_kafkas_error_and_stays_online() -> None:
    disk = VirtualDisk()
    manager = started(disk)
    disk.fail("/data", "create", "mkdir", "append", error=errno.ENOSPC)
    with pytest.raises(KafkaError) as caught:
        manager.get_or_create(ORDERS, TOPIC_ID, is_new=True)
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert manager.dirs[0].online
    disk.heal("/data")
    append(manager.get_or_create(ORDERS, TOPIC_ID), 1)


def test_what_stands_in_the_way_of_a_new_log_is_set_aside() -> None:
    disk = VirtualDisk()
    manager = started(disk)
    disk.make_dirs("/data/orders-0")
    disk.write_file_atomic("/data/orders-0/00000000000000000000.log", b"not ours")
    assert manager.get_or_create(ORDERS, TOPIC_ID).size_bytes == 0
    stray = next(name for name in names(disk) if name.endswith("-stray"))
    assert disk.read_file(f"/data/{stray}/00000000000000000000.log") == b"not ours"


def test_whoever_still_holds_a_deleted_or_offline_log_cannot_write_to_it() -> None:
    manager = started(VirtualDisk(), ["/a", "/b"])
    deleted = manager.get_or_create(ORDERS, TOPIC_ID)
    manager.delete(ORDERS)
    offline = manager.get_or_create(CLICKS, TOPIC_ID)
    home = manager.dir_of(offline)
    assert home is not None
    manager.fail_dir(home.path, OSError(errno.EIO, "Input/output error"))
    for log in (deleted, offline):
        with pytest.raises(KafkaError) as caught:
            append(log)
        assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
        assert not manager.storage_failed(log, caught.value)
    assert [d.online for d in manager.dirs].count(True) == 1


def test_hundreds_of_loaded_logs_hold_few_descriptors(tmp_path: Path) -> None:
    manager = started(OsDisk(), [str(tmp_path)])
    run(manager.create_steps([(TopicPartition("orders", p), TOPIC_ID) for p in range(300)]))
    manager.shutdown()
    disk = OsDisk(open_files_max=16)
    again = started(disk, [str(tmp_path)])
    assert len(again.logs) == 300
    for log in again.logs.values():
        append(log)
    assert disk.open_count <= 16
    again.shutdown()
    assert disk.open_count <= 16


# --- the shutdown of many logs


def many_logs(disk: VirtualDisk, count: int) -> tuple[LogManager, dict[TopicPartition, bytes]]:
    """A manager with more dirty logs than are closed one by one, and what each of them holds."""
    assert count > CLOSE_ONE_BY_ONE_MAX
    manager = started(disk)
    held = {}
    for index in range(count):
        tp = TopicPartition("many", index)
        log = manager.get_or_create(tp, TOPIC_ID, is_new=True)
        log.epochs.assign(0, 0)
        append(log, 1 + index % 3)
        held[tp] = contents(log)
    return manager, held


def test_many_logs_are_closed_with_two_syncs_of_the_volume_and_survive_a_power_loss() -> None:
    disk = VirtualDisk()
    manager, held = many_logs(disk, 80)
    kinds: list[str] = []
    disk.observer = lambda operation, when: kinds.append(operation.kind) if when == "before" else None
    manager.shutdown()
    assert kinds.count("sync_volume") == 2
    assert kinds.count("sync") < 20, "the checkpoints only, not a sync per log"
    again = started(disk.restart(random.Random(3), power_loss=True))
    assert all(d.had_clean_shutdown for d in again.dirs)
    assert {tp: contents(log) for tp, log in again.logs.items()} == held
    assert all(
        log.latest_epoch == 0 and log.recovery_point == log.log_end_offset for log in again.logs.values()
    )


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.999])
def test_a_power_loss_within_the_shutdown_of_many_logs_leaves_what_was_flushed(share: float) -> None:
    def ready(disk: VirtualDisk) -> tuple[LogManager, dict[TopicPartition, bytes]]:
        manager, held = many_logs(disk, 70)
        for log in manager.logs.values():
            log.flush(0)
            append(log, 1)
        return manager, held

    counting = VirtualDisk()
    twin, _ = ready(counting)
    first = counting.operations
    twin.shutdown()
    operations = counting.operations - first
    disk = VirtualDisk()
    manager, held = ready(disk)
    disk.crash_at(first + int(operations * share))
    with pytest.raises(SimulatedCrash):
        manager.shutdown()
    again = started(disk.restart(random.Random(5), power_loss=True))
    for tp, data in held.items():
        assert contents(again.logs[tp]).startswith(data)
