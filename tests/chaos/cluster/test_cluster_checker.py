"""The checks of the cluster's chaos: a good run is good, and every planted damage is found."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest

from chaos.cluster import replicas
from chaos.cluster.checker import Found, PartitionCheck, Verdict, check_commits, check_reads
from chaos.cluster.faults import CUTS, KILLS, drawn_plan
from chaos.cluster.plants import PLANTS, Plant
from chaos.cluster.records import ACK, NOWHERE, Written, key_of, load_written, value_of
from ottla.wire.record_batch import Record, encode_batch

COUNT = 2000
BATCH = 50


def a_partition() -> tuple[list[Written], list[Found]]:
    """Two writers that took turns in partition 0, all acknowledged."""
    told = [array("q"), array("q")]
    found = []
    for offset in range(COUNT):
        writer = offset // 7 % 2
        key = key_of(writer, len(told[writer]))
        told[writer].append(offset)
        found.append(Found(offset, key, value_of(key, 0)))
    return [Written([offsets]) for offsets in told], found


def judged(written: list[Written], found: list[Found], plant: Plant) -> Verdict:
    verdict = Verdict()
    check = PartitionCheck(0, written, verdict)
    for record in found:
        for changed in plant.read(0, record):
            check.record(changed)
    check.finish(len(found))
    check_reads(plant.seen(seen_by_a_reader(found)), {0: check}, verdict)
    check_commits([(0, 10), (0, len(found))], plant.committed({0: len(found)}), verdict)
    return verdict


def seen_by_a_reader(found: list[Found]) -> Iterator[tuple[int, ...]]:
    for record in found[: COUNT // 2]:
        writer, number = (int(part) for part in record.key.split(b":"))
        yield (0, writer, record.offset, number)


def a_replica(folder: Path, found: list[Found], segments: int) -> Path:
    """The records as segment files, rolled at other places on every replica."""
    folder.mkdir(parents=True)
    size = COUNT // segments // BATCH * BATCH
    for first in range(0, len(found), BATCH):
        records = [
            Record(at, 1_000, each.key, each.value, ())
            for at, each in enumerate(found[first : first + BATCH])
        ]
        name = f"{min(first // size, segments - 1) * size:020d}.log"
        with (folder / name).open("ab") as file:
            file.write(encode_batch(records, base_offset=first))
    return folder


def replicas_in(folder: Path) -> dict[int, Path]:
    found = a_partition()[1]
    return {node: a_replica(folder / f"node-{node}" / "data" / "chaos-0", found, node) for node in (1, 2, 3)}


def test_a_good_run_has_no_problem(tmp_path: Path) -> None:
    written, found = a_partition()
    assert judged(written, found, Plant()).problems() == []
    compared = replicas.compare(replicas_in(tmp_path), COUNT)
    assert compared.problems == []
    assert compared.batches == COUNT // BATCH


def test_a_record_that_was_never_acknowledged_may_be_there_or_not() -> None:
    written, found = a_partition()
    written[0].offsets[0][20] = NOWHERE
    written[1].offsets[0].append(NOWHERE)
    assert judged(written, found, Plant()).is_good


@pytest.mark.parametrize("name", ["lost", "duplicate", "reordered", "changed", "dirty-read", "commit-lost"])
def test_planted_damage_is_found_in_what_was_read(name: str) -> None:
    plant = type(PLANTS[name])()
    verdict = judged(*a_partition(), plant)
    assert verdict.counts[plant.expected] >= 1, verdict.problems()


@pytest.mark.parametrize("name", ["flipped-byte", "short-replica"])
def test_planted_damage_is_found_in_the_files(tmp_path: Path, name: str) -> None:
    folders = replicas_in(tmp_path)
    PLANTS[name].files(folders)
    assert replicas.compare(folders, COUNT).problems != []


def test_batches_beyond_the_high_watermark_may_differ(tmp_path: Path) -> None:
    folders = replicas_in(tmp_path)
    path = max(folders[1].glob("*.log"))
    path.write_bytes(path.read_bytes()[:-100])
    assert replicas.compare(folders, COUNT - BATCH).problems == []


def test_a_record_at_another_offset_than_acknowledged_is_misplaced() -> None:
    written, found = a_partition()
    written[0].offsets[0][3] = 1_234
    assert judged(written, found, Plant()).counts == {"misplaced": 1}


def test_a_record_that_nobody_sent_is_found() -> None:
    written, found = a_partition()
    found[5] = found[5]._replace(key=b"7:1")
    assert judged(written, found, Plant()).counts["unsent"] == 1


def test_acknowledgements_are_read_from_a_file_whose_last_entry_may_be_cut(tmp_path: Path) -> None:
    path = tmp_path / "acks"
    path.write_bytes(ACK.pack(1, 0, 17) + ACK.pack(0, 1, 4) + ACK.pack(0, 0, 3)[:5])
    written = load_written(path, [2, 1])
    assert [list(each) for each in written.offsets] == [[NOWHERE, 4], [17]]
    assert (written.sent, written.acked) == (3, 2)


def test_a_seed_draws_one_plan_with_the_wanted_numbers() -> None:
    plan = drawn_plan(7, kills=30, cuts=10, pauses=2, restarts=1, wipes=1)
    assert plan == drawn_plan(7, kills=30, cuts=10, pauses=2, restarts=1, wipes=1)
    assert plan != drawn_plan(8, kills=30, cuts=10, pauses=2, restarts=1, wipes=1)
    assert sum(2 if name == "kill_two" else name in KILLS for name in plan) == 30
    assert sum(name in CUTS for name in plan) == 10
    assert (plan.count("pause"), plan.count("restart"), plan.count("wipe")) == (2, 1, 1)
