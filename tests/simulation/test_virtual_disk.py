"""The simulated disk itself: as a disk it agrees with the real one, as a crash it is as bad as it promises.

A checker built on a disk that is too kind proves nothing, so each kind of loss has to be seen to happen.
"""

from __future__ import annotations

import errno
import random
from pathlib import Path

import pytest

from ottla.net.disk import OsDisk
from ottla.ports.disk import Disk, FileSlice
from ottla.testing.disk import Operation, SimulatedCrash, Survival, VirtualDisk, When


def disk_with(path: str, synced: bytes, unsynced: bytes = b"") -> VirtualDisk:
    disk = VirtualDisk()
    disk.make_dirs("/d")
    file = disk.open(path, create=True)
    file.append([synced])
    file.sync()
    disk.sync_dir("/d")
    disk.sync_dir("/")
    if unsynced:
        file.append([unsynced])
    return disk


def contents_after_many_power_losses(disk: VirtualDisk, path: str, **survival: bool) -> set[bytes]:
    found = set()
    for seed in range(300):
        after = disk.image(random.Random(seed), survival=Survival(**survival))
        found.add(after.read_file(path))
    return found


def test_synced_bytes_with_a_synced_name_survive_every_power_loss() -> None:
    disk = disk_with("/d/f", b"certain")
    assert contents_after_many_power_losses(disk, "/d/f") == {b"certain"}


def test_unsynced_bytes_are_lost_kept_or_torn_at_any_byte_and_the_synced_ones_before_them_stay() -> None:
    disk = disk_with("/d/f", b"certain", b"maybe")
    found = contents_after_many_power_losses(disk, "/d/f", bit_flips=False, sectors=False)
    assert found == {b"certain" + b"maybe"[:length] for length in range(6)}


def test_sectors_survive_in_any_combination_with_zeros_in_the_holes() -> None:
    disk = disk_with("/d/f", b"", b"a" * 512 + b"b" * 512 + b"c" * 512)
    found = contents_after_many_power_losses(disk, "/d/f", bit_flips=False, torn_bytes=False)
    hole = bytes(512) + b"b" * 512 + b"c" * 512
    zeros_at_the_end = b"a" * 512 + bytes(1024)
    assert hole in found
    assert zeros_at_the_end in found


def test_bits_flip_only_in_what_was_not_synced() -> None:
    disk = disk_with("/d/f", b"s" * 100, b"u" * 100)
    found = contents_after_many_power_losses(disk, "/d/f", torn_bytes=False, sectors=False)
    assert all(content[:100] == b"s" * 100 for content in found)
    assert any(len(content) == 200 and content[100:] != b"u" * 100 for content in found)


def test_a_file_whose_directory_was_not_synced_may_be_missing_although_its_bytes_were() -> None:
    disk = VirtualDisk()
    disk.make_dirs("/d")
    disk.sync_dir("/")
    file = disk.open("/d/f", create=True)
    file.append([b"x"])
    file.sync()
    seen = {disk.image(random.Random(seed)).exists("/d/f") for seed in range(50)}
    assert seen == {True, False}


def test_an_unsynced_rename_leaves_the_old_name_or_the_new_one_never_both_and_never_neither() -> None:
    disk = disk_with("/d/old", b"x")
    disk.rename("/d/old", "/d/new")
    seen = {tuple(disk.image(random.Random(seed)).list_dir("/d")) for seed in range(50)}
    assert seen == {("old",), ("new",)}


def test_an_unsynced_delete_may_come_back() -> None:
    disk = disk_with("/d/f", b"x")
    disk.open("/d/f").delete()
    seen = {disk.image(random.Random(seed)).exists("/d/f") for seed in range(50)}
    assert seen == {True, False}


def test_an_atomic_write_leaves_old_or_new_wherever_the_crash_comes_and_the_new_once_it_returned() -> None:
    found: set[bytes] = set()
    disk = disk_with("/d/f", b"old" * 400)
    rng = random.Random(1)

    def look(_: Operation, __: When) -> None:
        for _image in range(30):
            found.add(disk.image(rng).read_file("/d/f"))

    disk.observer = look
    disk.write_file_atomic("/d/f", b"new" * 500)
    disk.observer = None
    assert found == {b"old" * 400, b"new" * 500}
    assert contents_after_many_power_losses(disk, "/d/f") == {b"new" * 500}


def test_kill_9_keeps_the_page_cache_and_a_power_loss_after_it_still_loses_what_was_not_synced() -> None:
    disk = disk_with("/d/f", b"certain", b"maybe")
    disk.rename("/d/f", "/d/g")
    killed = disk.restart(random.Random(0), power_loss=False)
    assert killed.read_file("/d/g") == b"certainmaybe"
    after = [killed.image(random.Random(seed)) for seed in range(60)]
    assert {tuple(image.list_dir("/d")) for image in after} == {("f",), ("g",)}
    assert any(image.read_file("/d/" + image.list_dir("/d")[0]) == b"certain" for image in after)


@pytest.mark.parametrize("when", ["before", "torn", "after"])
def test_a_planned_crash_ends_the_disk_at_that_operation(when: When) -> None:
    disk = disk_with("/d/f", b"", b"")
    disk.crash_at(disk.operations, when)
    file = disk.open("/d/f")
    with pytest.raises(SimulatedCrash):
        file.append([b"0123456789"])
    with pytest.raises(SimulatedCrash):
        disk.exists("/d/f")
    with pytest.raises(SimulatedCrash):
        file.pread(1, 0)
    found = len(disk.restart(random.Random(0), power_loss=False).read_file("/d/f"))
    assert found == 0 if when == "before" else found == 10 if when == "after" else 0 < found < 10


def test_a_lock_excludes_the_second_node_and_ends_with_release_or_with_a_crash() -> None:
    disk = disk_with("/d/f", b"")
    lock = disk.lock("/d/.lock")
    assert lock is not None
    assert disk.lock("/d/.lock") is None
    lock.release()
    assert disk.lock("/d/.lock") is not None
    assert disk.restart(random.Random(0), power_loss=False).lock("/d/.lock") is not None


def test_a_full_disk_writes_what_fits_and_then_refuses() -> None:
    disk = disk_with("/d/f", b"")
    disk.capacity_bytes = disk.used_bytes() + 5
    file = disk.open("/d/f")
    assert file.append([b"abc", b"defg"]) == 5
    assert disk.read_file("/d/f") == b"abcde"
    with pytest.raises(OSError) as raised:
        file.append([b"h"])
    assert raised.value.errno == errno.ENOSPC
    assert disk.total_and_usable_bytes("/d")[1] == 0
    file.truncate(0)
    assert file.append([b"h"]) == 1


def test_a_failing_fsync_drops_the_dirty_pages_for_good() -> None:
    """Linux reports the error once and marks the pages clean: a second fsync succeeds and means nothing."""
    disk = disk_with("/d/f", b"certain", b"doomed")
    disk.fail("/d/f", "sync")
    with pytest.raises(OSError, match="Input/output error"):
        disk.open("/d/f").sync()
    disk.heal("/d/f")
    disk.open("/d/f").sync()
    assert disk.read_file("/d/f") == b"certaindoomed"
    assert contents_after_many_power_losses(disk, "/d/f") == {b"certain"}


def test_a_lying_fsync_returns_and_keeps_nothing() -> None:
    disk = disk_with("/d/f", b"certain", b"maybe")
    disk.lying_sync_rate = 1.0
    disk.open("/d/f").sync()
    assert b"certain" in contents_after_many_power_losses(disk, "/d/f")
    assert disk.stats["syncs_lied"] == 1


def test_a_pinned_slice_reads_on_after_its_file_was_deleted() -> None:
    disk = disk_with("/d/f", b"0123456789")
    file = disk.open("/d/f")
    piece = FileSlice(file, 2, 3)
    file.delete()
    assert piece.read() == b"234"
    piece.release()
    with pytest.raises(FileNotFoundError):
        file.pread(1, 0)


def test_the_same_seed_gives_the_same_disk() -> None:
    disk = disk_with("/d/f", b"s" * 100, b"u" * 5000)
    images = [disk.image(random.Random(7)).read_file("/d/f") for _ in range(3)]
    assert images[0] == images[1] == images[2]


@pytest.mark.parametrize("seed", range(20))
def test_random_operations_give_the_same_results_as_on_the_real_disk(seed: int, tmp_path: Path) -> None:
    real, virtual = OsDisk(), VirtualDisk()
    virtual.make_dirs(str(tmp_path))
    rng = random.Random(seed)
    names = [f"{tmp_path}/{name}" for name in ("a", "b", "c/d", "c/e", "c", "f/g")]

    def outcome(disk: Disk, action: int, path: str, other: str, number: int) -> object:
        try:
            if action == 0:
                disk.make_dirs(path)
            elif action in (1, 2, 3):
                return disk.open(path, create=number % 2 == 0).append([b"x" * number, b"yz"])
            elif action == 4:
                disk.open(path).truncate(number)
            elif action == 5:
                return disk.open(path).pread(number, number // 2)
            elif action == 6:
                disk.rename(path, other)
            elif action == 7:
                if not disk.is_dir(path):
                    disk.remove(path)
            elif action == 8:
                disk.write_file_atomic(path, b"w" * number)
            elif action == 9:
                return disk.open(path).write_at(b"W" * number, number)
            elif action == 10:
                disk.open(path).delete()
            elif action == 11:
                return disk.read_file(path)
            elif action == 12 and number == 3 and disk.is_dir(path):
                disk.remove_tree(path)
            return None
        except OSError as error:
            # Which of several good reasons to refuse is named differs between file systems.
            return f"refused: {error.errno in (errno.ENOSPC, errno.EIO)}"

    def listing(disk: Disk, path: str) -> object:
        if not disk.is_dir(path):
            return disk.read_file(path)
        return {name: listing(disk, f"{path}/{name}") for name in disk.list_dir(path)}

    for _ in range(150):
        arguments = (rng.randrange(13), rng.choice(names), rng.choice(names), rng.randrange(40))
        if arguments[0] == 6 and (arguments[2] + "/").startswith(arguments[1] + "/"):
            continue  # a directory into itself: nobody does that
        assert outcome(virtual, *arguments) == outcome(real, *arguments), arguments
    assert listing(virtual, str(tmp_path)) == listing(real, str(tmp_path))
