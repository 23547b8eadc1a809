"""The real disk keeps the promises of `ports/disk.py`: bounded descriptors, pins, atomic writes, locks."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ottla.net.disk import RESERVE_AHEAD_BYTES, RESERVE_FROM_BYTES, OsDisk
from ottla.ports.disk import Disk, FileSlice


def descriptors_below(directory: Path) -> int:
    count = 0
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue
        count += target.startswith(str(directory))
    return count


def test_the_real_disk_has_the_shape_of_the_port() -> None:
    disk: Disk = OsDisk()
    assert disk.exists("/")


def test_appends_go_to_the_end_and_are_counted(tmp_path: Path) -> None:
    file = OsDisk().open(str(tmp_path / "a"), create=True)
    assert file.append([b"one"]) == 3
    assert file.append([b"two", bytearray(b"three"), memoryview(b"four")]) == 12
    assert file.size() == 15
    assert (tmp_path / "a").read_bytes() == b"onetwothreefour"


def test_an_append_of_more_buffers_than_one_system_call_takes_is_written_whole(tmp_path: Path) -> None:
    file = OsDisk().open(str(tmp_path / "a"), create=True)
    assert file.append([b"%d," % i for i in range(3000)]) == sum(len(b"%d," % i) for i in range(3000))
    assert (tmp_path / "a").read_bytes().endswith(b"2998,2999,")


def test_appends_go_on_at_the_end_after_the_descriptor_was_given_back(tmp_path: Path) -> None:
    disk = OsDisk()
    file = disk.open(str(tmp_path / "a"), create=True)
    file.append([b"abc"])
    file.close()
    assert disk.open_count == 0
    file.append([b"def"])
    assert (tmp_path / "a").read_bytes() == b"abcdef"


def test_appends_go_to_the_new_end_after_a_truncation(tmp_path: Path) -> None:
    file = OsDisk().open(str(tmp_path / "a"), create=True)
    file.append([b"abcdef"])
    file.truncate(2)
    assert file.size() == 2
    file.append([b"X"])
    assert (tmp_path / "a").read_bytes() == b"abX"


def test_opening_with_create_does_not_truncate(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    file = OsDisk().open(str(tmp_path / "a"), create=True)
    assert file.size() == 3
    file.append([b"new"])
    assert (tmp_path / "a").read_bytes() == b"oldnew"


def test_opening_a_missing_file_without_create_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        OsDisk().open(str(tmp_path / "missing"))


def test_reads_are_short_only_at_the_end_of_the_file(tmp_path: Path) -> None:
    file = OsDisk().open(str(tmp_path / "a"), create=True)
    file.append([b"0123456789"])
    assert file.pread(4, 2) == b"2345"
    assert file.pread(100, 8) == b"89"
    assert file.pread(5, 50) == b""
    buffer = bytearray(6)
    assert file.pread_into(buffer, 1) == 6
    assert buffer == b"123456"
    assert file.pread_into(buffer, 8) == 2
    assert file.pread_into(buffer, 99) == 0


def test_a_read_that_the_system_cuts_short_is_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = OsDisk().open(str(tmp_path / "a"), create=True)
    file.append([b"0123456789"])
    whole_pread = os.pread
    whole_preadv = os.preadv
    monkeypatch.setattr(os, "pread", lambda fd, length, position: whole_pread(fd, min(length, 3), position))
    monkeypatch.setattr(
        os, "preadv", lambda fd, buffers, position: whole_preadv(fd, [memoryview(buffers[0])[:3]], position)
    )
    assert file.pread(10, 0) == b"0123456789"
    buffer = bytearray(8)
    assert file.pread_into(buffer, 1) == 8
    assert buffer == b"12345678"


def test_a_write_in_the_middle_leaves_the_end_and_one_past_it_moves_it(tmp_path: Path) -> None:
    file = OsDisk().open(str(tmp_path / "a"), create=True)
    file.append([b"abcdef"])
    assert file.write_at(b"XY", 1) == 2
    assert file.size() == 6
    assert file.write_at(b"Z", 6) == 1
    assert file.size() == 7
    file.append([b"!"])
    assert (tmp_path / "a").read_bytes() == b"aXYdefZ!"


def test_the_number_of_descriptors_stays_bounded_over_many_files(tmp_path: Path) -> None:
    disk = OsDisk(open_files_max=8)
    files = [disk.open(str(tmp_path / str(i)), create=True) for i in range(100)]
    for turn in range(3):
        for i, file in enumerate(files):
            file.append([b"%d.%d;" % (turn, i)])
            assert disk.open_count <= 8
    assert descriptors_below(tmp_path) == disk.open_count <= 8
    for i in range(100):
        assert (tmp_path / str(i)).read_bytes() == b"0.%d;1.%d;2.%d;" % (i, i, i)


def test_a_file_that_exists_but_is_not_used_holds_no_descriptor(tmp_path: Path) -> None:
    for i in range(50):
        (tmp_path / str(i)).write_bytes(b"x")
    disk = OsDisk()
    files = [disk.open(str(tmp_path / str(i))) for i in range(50)]
    assert [file.size() for file in files] == [1] * 50
    assert descriptors_below(tmp_path) == 0


def test_the_file_in_use_keeps_its_descriptor_while_idle_ones_lose_theirs(tmp_path: Path) -> None:
    disk = OsDisk(open_files_max=4)
    busy = disk.open(str(tmp_path / "busy"), create=True)
    busy.append([b"x"])
    before = busy.pin()
    busy.unpin()
    for i in range(40):
        busy.append([b"x"])
        disk.open(str(tmp_path / str(i)), create=True)
    assert busy.pin() == before
    busy.unpin()


def test_a_pinned_file_keeps_its_descriptor_beyond_the_bound(tmp_path: Path) -> None:
    disk = OsDisk(open_files_max=2)
    files = [disk.open(str(tmp_path / str(i)), create=True) for i in range(5)]
    for i, file in enumerate(files):
        file.append([b"%d" % i])
    slices = [FileSlice(file, 0, 1) for file in files]
    assert disk.open_count == 5
    for i, piece in enumerate(slices):
        assert os.pread(piece.fd, 1, 0) == b"%d" % i
        piece.release()
        piece.release()  # idempotent
    disk.open(str(tmp_path / "more"), create=True)
    assert disk.open_count <= 2


def test_a_pinned_slice_reads_on_after_rename_close_and_delete(tmp_path: Path) -> None:
    disk = OsDisk()
    file = disk.open(str(tmp_path / "a"), create=True)
    file.append([b"payload"])
    piece = FileSlice(file, 3, 4)
    file.rename(str(tmp_path / "a.deleted"))
    file.close()
    file.delete()
    assert os.listdir(tmp_path) == []
    assert piece.read() == b"load"
    assert os.pread(piece.fd, 4, 3) == b"load"
    piece.release()
    assert disk.open_count == 0


def test_a_deleted_file_never_becomes_another_file_of_its_name(tmp_path: Path) -> None:
    disk = OsDisk()
    old = disk.open(str(tmp_path / "a"), create=True)
    old.append([b"old"])
    old.delete()
    disk.open(str(tmp_path / "a"), create=True).append([b"new"])
    with pytest.raises(FileNotFoundError):
        old.pread(3, 0)
    old.delete()
    assert (tmp_path / "a").read_bytes() == b"new"


def test_deleting_a_missing_file_is_no_error(tmp_path: Path) -> None:
    file = OsDisk().open(str(tmp_path / "a"), create=True)
    os.unlink(tmp_path / "a")
    file.delete()
    assert file.size() == 0


def test_a_rename_of_an_unopened_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    file = OsDisk().open(str(tmp_path / "a"))
    file.rename(str(tmp_path / "b"))
    assert file.path == str(tmp_path / "b")
    assert file.pread(3, 0) == b"abc"


def test_unpinning_more_often_than_pinning_is_a_broken_invariant(tmp_path: Path) -> None:
    file = OsDisk().open(str(tmp_path / "a"), create=True)
    with pytest.raises(AssertionError):
        file.unpin()


def test_threads_may_sync_while_the_loop_takes_descriptors_away(tmp_path: Path) -> None:
    disk = OsDisk(open_files_max=1)
    file = disk.open(str(tmp_path / "a"), create=True)
    file.append([b"abc"])
    errors: list[BaseException] = []

    def sync_often() -> None:
        try:
            for _ in range(50):
                file.sync()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=sync_often)
    thread.start()
    other = disk.open(str(tmp_path / "b"), create=True)
    while thread.is_alive():
        other.append([b"x"])
        file.append([b"y"])
        file.close()
    thread.join()
    assert errors == []


def test_running_out_of_descriptors_takes_them_from_idle_files(tmp_path: Path) -> None:
    code = f"""
import os, resource, sys
sys.path[:] = {sys.path!r}
from ottla.net.disk import OsDisk
resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
disk = OsDisk(open_files_max=10_000)
for i in range(200):
    disk.open(f"{tmp_path}/{{i}}", create=True).append([b"x"])
print(len(os.listdir({str(tmp_path)!r})), disk.open_count < 40)
"""
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 40
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.stdout.strip(), run.stderr) == ("200 True", "")


def test_an_atomic_write_replaces_the_file_and_leaves_no_temporary(tmp_path: Path) -> None:
    disk = OsDisk()
    path = str(tmp_path / "checkpoint")
    disk.write_file_atomic(path, b"one")
    disk.write_file_atomic(path, b"two")
    assert disk.read_file(path) == b"two"
    assert disk.list_dir(str(tmp_path)) == ["checkpoint"]


def test_a_failed_atomic_write_keeps_the_old_contents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = OsDisk()
    path = str(tmp_path / "checkpoint")
    disk.write_file_atomic(path, b"old")

    def full(fd: int, data: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        disk.write_file_atomic(path, b"new")
    monkeypatch.undo()
    assert disk.read_file(path) == b"old"
    assert disk.list_dir(str(tmp_path)) == ["checkpoint"]


def test_a_second_holder_of_a_lock_is_refused_until_the_first_lets_go(tmp_path: Path) -> None:
    disk = OsDisk()
    path = str(tmp_path / ".lock")
    held = disk.lock(path)
    assert held is not None
    assert OsDisk().lock(path) is None
    held.release()
    held.release()
    again = disk.lock(path)
    assert again is not None
    again.release()


def test_a_lock_held_by_another_process_is_refused_and_dies_with_it(tmp_path: Path) -> None:
    path = str(tmp_path / ".lock")
    code = f"""
import sys
sys.path[:] = {sys.path!r}
from ottla.net.disk import OsDisk
held = OsDisk().lock({path!r})
print("held", flush=True)
sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline().strip() == "held"
        assert OsDisk().lock(path) is None
        holder.kill()
        holder.wait()
    lock = OsDisk().lock(path)
    assert lock is not None
    lock.release()


def test_a_posix_lock_as_a_jvm_takes_it_is_respected(tmp_path: Path) -> None:
    path = str(tmp_path / ".lock")
    code = f"""
import fcntl, sys
file = open({path!r}, "a+")
fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
print("held", flush=True)
sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline().strip() == "held"
        assert OsDisk().lock(path) is None
        holder.kill()
        holder.wait()


def test_a_tree_is_removed_whole_and_links_are_not_followed(tmp_path: Path) -> None:
    disk = OsDisk()
    disk.make_dirs(str(tmp_path / "kept"))
    (tmp_path / "kept" / "file").write_bytes(b"x")
    disk.make_dirs(str(tmp_path / "tree" / "a" / "b"))
    (tmp_path / "tree" / "a" / "b" / "file").write_bytes(b"x")
    os.symlink(tmp_path / "kept", tmp_path / "tree" / "link")
    disk.remove_tree(str(tmp_path / "tree"))
    disk.remove_tree(str(tmp_path / "tree"))  # already gone
    assert disk.list_dir(str(tmp_path)) == ["kept"]
    assert disk.list_dir(str(tmp_path / "kept")) == ["file"]


def test_making_a_directory_that_exists_is_no_error_but_one_over_a_file_is(tmp_path: Path) -> None:
    disk = OsDisk()
    disk.make_dirs(str(tmp_path / "d"))
    disk.make_dirs(str(tmp_path / "d"))
    assert disk.is_dir(str(tmp_path / "d"))
    (tmp_path / "f").write_bytes(b"")
    with pytest.raises(FileExistsError):
        disk.make_dirs(str(tmp_path / "f"))


def test_the_volume_has_at_least_as_many_bytes_as_are_usable(tmp_path: Path) -> None:
    total, usable = OsDisk().total_and_usable_bytes(str(tmp_path))
    assert 0 < usable <= total


def test_a_sweep_takes_descriptors_from_files_that_were_not_used_since_the_last(tmp_path: Path) -> None:
    disk = OsDisk(open_files_max=8)
    idle = disk.open(str(tmp_path / "idle"), create=True)
    busy = disk.open(str(tmp_path / "busy"), create=True)
    pinned = disk.open(str(tmp_path / "pinned"), create=True)
    pinned.pin()
    for file in (idle, busy):
        file.append((b"x",))
    disk.sweep(8)
    assert disk.open_count == 3, "all were used since they were opened"
    busy.append((b"y",))
    disk.sweep(8)
    assert disk.open_count == 2
    assert idle.pread(1, 0) == b"x", "a swept file is opened again when it is used"
    pinned.unpin()


def test_syncing_a_volume_is_one_call_and_says_when_there_is_none(tmp_path: Path) -> None:
    disk = OsDisk()
    disk.sync_volume(str(tmp_path))
    with pytest.raises(FileNotFoundError):
        disk.sync_volume(str(tmp_path / "missing"))


def blocks_bytes(path: Path) -> int:
    return path.stat().st_blocks * 512


@pytest.fixture
def reserving(tmp_path: Path) -> OsDisk:
    """A disk on a file system that can reserve blocks."""
    probe = tmp_path / "probe"
    probe.touch()
    if subprocess.run(["fallocate", "--keep-size", "--length", "4096", str(probe)], check=False).returncode:
        pytest.skip("this file system cannot reserve blocks")
    return OsDisk()


def test_a_file_that_has_grown_large_has_blocks_ahead_of_its_end(tmp_path: Path, reserving: OsDisk) -> None:
    file = reserving.open(str(tmp_path / "a"), create=True)
    for _ in range(RESERVE_FROM_BYTES >> 20):
        file.append([bytes(1 << 20)])
    file.sync()
    assert blocks_bytes(tmp_path / "a") < file.size() + (1 << 16)
    for _ in range(9):
        file.append([bytes(1 << 20)])
        ahead = blocks_bytes(tmp_path / "a") - file.size()
        assert 0 <= ahead <= RESERVE_AHEAD_BYTES + (1 << 20)
    assert (tmp_path / "a").stat().st_size == file.size() == RESERVE_FROM_BYTES + (9 << 20)


@pytest.mark.parametrize("how", ["close", "close_idle", "sweep", "truncate"])
def test_blocks_that_were_not_filled_are_given_back(tmp_path: Path, reserving: OsDisk, how: str) -> None:
    file = reserving.open(str(tmp_path / "a"), create=True)
    file.append([bytes(RESERVE_FROM_BYTES)])
    file.append([b"the end"])
    file.sync()
    assert blocks_bytes(tmp_path / "a") >= RESERVE_FROM_BYTES + RESERVE_AHEAD_BYTES
    if how == "close":
        file.close()
    elif how == "close_idle":
        reserving.close_idle()
    elif how == "sweep":
        reserving.sweep(1)
        reserving.sweep(1)
    else:
        file.truncate(RESERVE_FROM_BYTES + 3)
    assert blocks_bytes(tmp_path / "a") < RESERVE_FROM_BYTES + (1 << 16)
    file.append([b" and more"])
    assert file.pread(20, RESERVE_FROM_BYTES).endswith(b" and more")
    assert blocks_bytes(tmp_path / "a") >= RESERVE_FROM_BYTES + RESERVE_AHEAD_BYTES


def test_where_blocks_cannot_be_reserved_files_grow_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def refuse(fd: int, flags: int, position: object, length: object) -> int:
        asked.append(fd)
        return -1

    monkeypatch.setattr("ottla.net.disk._reserve", refuse)
    file = OsDisk().open(str(tmp_path / "a"), create=True)
    for _ in range(4):
        file.append([bytes(RESERVE_FROM_BYTES)])
    assert len(asked) == 1
    assert (tmp_path / "a").stat().st_size == 4 * RESERVE_FROM_BYTES


def test_what_was_appended_last_is_at_hand_until_something_else_is(tmp_path: Path) -> None:
    disk = OsDisk()
    file, other = (disk.open(str(tmp_path / name), create=True) for name in "ab")
    file.append([b"first"])
    file.append([memoryview(bytearray(b"second"))])
    assert file.newest(6, 5) == b"second"
    assert file.newest(5, 0) is None
    assert file.newest(3, 5) is None
    assert other.newest(6, 5) is None
    other.append([b"elsewhere"])
    assert file.newest(6, 5) is None
    assert other.newest(9, 0) == b"elsewhere"
    other.append([bytes(1 << 20)])
    assert other.newest(1 << 20, 9) is None, "too much to be kept"


@pytest.mark.parametrize("change", ["truncate", "write_at"])
def test_what_was_appended_last_is_not_at_hand_when_it_may_have_changed(tmp_path: Path, change: str) -> None:
    file = OsDisk().open(str(tmp_path / "a"), create=True)
    file.append([b"abc"])
    if change == "truncate":
        file.truncate(1)
    else:
        file.write_at(b"x", 1)
    assert file.newest(3, 0) is None
