"""Formatting directories as `kafka-storage.sh format` does."""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.cli.formatting import CannotFormat, format_directories, random_uuid_text
from ottla.log.meta_properties import read_meta_properties
from ottla.model.uuids import is_reserved, uuid_from_text
from ottla.net.disk import OsDisk

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
