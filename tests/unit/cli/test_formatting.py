"""Formatting directories as `kafka-storage.sh format` does."""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.broker.raft_snapshots import SnapshotFiles
from ottla.cli.formatting import CannotFormat, format_directories, random_uuid_text
from ottla.log.meta_properties import read_meta_properties
from ottla.model.uuids import is_reserved, uuid_from_text
from ottla.net.disk import OsDisk
from ottla.raft.log_port import OffsetAndEpoch
from ottla.testing.disk import VirtualDisk

CLUSTER = "MkU3OEVBNTcwNTJENDM2Qg"


def properties(*dirs: Path, **more: str) -> dict[str, str]:
    return {"log.dirs": ",".join(str(d) for d in dirs), "node.id": "7", **more}


def test_random_ids_are_ones_that_kafka_would_hand_out() -> None:
    for text in [random_uuid_text() for _ in range(200)]:
        uuid = uuid_from_text(text)
        assert not is_reserved(uuid) and not text.startswith("-")
        assert uuid[6] >> 4 == 4 and uuid[8] >> 6 == 2  # RFC 4122, version 4


def test_every_directory_gets_the_cluster_the_node_and_an_id_of_its_own(tmp_path: Path) -> None:
    one, two, meta = tmp_path / "one", tmp_path / "two", tmp_path / "meta"
    pairs = properties(one, two) | {"metadata.log.dir": str(meta)}
    outcome = format_directories(OsDisk(), pairs, CLUSTER, ignore_formatted=False)
    assert outcome.formatted == [str(one), str(two), str(meta)]
    found = [read_meta_properties(OsDisk(), path) for path in outcome.formatted]
    assert {(m.cluster_id, m.node_id, m.version) for m in found if m} == {(CLUSTER, 7, 1)}
    assert len({m.directory_id for m in found if m}) == 3


def test_a_formatted_directory_stops_everything_unless_it_is_to_be_ignored(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    format_directories(OsDisk(), properties(one), CLUSTER, ignore_formatted=False)
    before = (one / "meta.properties").read_bytes()
    with pytest.raises(CannotFormat, match=r"already formatted\. Use --ignore-formatted"):
        format_directories(OsDisk(), properties(two, one), CLUSTER, ignore_formatted=False)
    assert not two.exists()
    outcome = format_directories(OsDisk(), properties(two, one), CLUSTER, ignore_formatted=True)
    assert (outcome.formatted, outcome.already) == ([str(two)], [str(one)])
    assert (one / "meta.properties").read_bytes() == before


def test_a_directory_of_another_cluster_or_node_is_never_taken_over(tmp_path: Path) -> None:
    format_directories(OsDisk(), properties(tmp_path), CLUSTER, ignore_formatted=False)
    with pytest.raises(CannotFormat, match="belongs to cluster"):
        format_directories(OsDisk(), properties(tmp_path), "A" * 21 + "Q", ignore_formatted=True)
    with pytest.raises(CannotFormat, match="belongs to node 7"):
        format_directories(OsDisk(), properties(tmp_path) | {"node.id": "8"}, CLUSTER, ignore_formatted=True)


@pytest.mark.parametrize("text", ["", "short", "x" * 23, "!" * 22])
def test_a_cluster_id_that_is_no_uuid_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(CannotFormat, match="random-uuid"):
        format_directories(OsDisk(), properties(tmp_path), text, ignore_formatted=False)


CONTROLLER = {
    "node.id": "2",
    "process.roles": "controller",
    "listeners": "CONTROLLER://host2:9093",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.bootstrap.servers": "host1:9093,host2:9093",
    "log.dirs": "/meta",
}
VOTERS = "1@host1:9093:JEXY6aqzQY-32P5TStzaFg,2@host2:9093:MvDxzVmcRsaTz33bUuRU6A"
BOOTSTRAP = "/meta/__cluster_metadata-0/00000000000000000000-0000000000.checkpoint"


def test_the_first_voters_of_a_quorum_are_in_a_snapshot_and_own_their_directories() -> None:
    """KIP-853."""
    disk = VirtualDisk()
    format_directories(disk, CONTROLLER, CLUSTER, ignore_formatted=False, initial_controllers=VOTERS)
    meta = read_meta_properties(disk, "/meta")
    assert meta is not None and meta.directory_id == uuid_from_text("MvDxzVmcRsaTz33bUuRU6A")
    files = SnapshotFiles(disk, "/meta/__cluster_metadata-0")
    files.load()
    version, voters = files.control_records(OffsetAndEpoch(0, 0))
    assert version.kraft_version == 1 and voters.voters is not None
    assert [(each.key.node_id, each.endpoints[0].host) for each in voters.voters] == [
        (1, "host1"),
        (2, "host2"),
    ]


def test_who_joins_later_begins_without_voters_and_who_stands_alone_with_itself() -> None:
    disk = VirtualDisk()
    format_directories(disk, CONTROLLER, CLUSTER, ignore_formatted=False, no_initial_controllers=True)
    assert not disk.exists(BOOTSTRAP)
    disk = VirtualDisk()
    format_directories(disk, CONTROLLER, CLUSTER, ignore_formatted=False, standalone=True)
    assert disk.exists(BOOTSTRAP)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "--standalone"),
        ({"initial_controllers": "1@host1:9093"}, "id@host:port:directory-id"),
        ({"initial_controllers": VOTERS.split(",", maxsplit=1)[0]}, "does not name this node"),
        ({"initial_controllers": f"{VOTERS},{VOTERS}"}, "named twice"),
    ],
)
def test_voters_that_make_no_sense_are_refused_before_anything_is_written(
    options: dict[str, str], message: str
) -> None:
    disk = VirtualDisk()
    with pytest.raises(CannotFormat, match=message):
        format_directories(disk, CONTROLLER, CLUSTER, ignore_formatted=False, **options)  # type: ignore[arg-type]
    assert not disk.exists("/meta")
