"""`meta.properties`: version 1 is written, 0 and 1 are read, damage is named."""

from __future__ import annotations

import pytest

from ottla.log.meta_properties import (
    BadMetaProperties,
    MetaProperties,
    decode_meta_properties,
    encode_meta_properties,
    read_meta_properties,
    write_meta_properties,
)
from ottla.model.uuids import uuid_from_text
from ottla.testing.disk import VirtualDisk

DIRECTORY_ID = uuid_from_text("F3OrYMHkRz2mXKq9v6cTzg")
META = MetaProperties(1, "4L6g3nShT-eMCtK--X86sw", DIRECTORY_ID)


def test_version_1_names_node_cluster_and_directory() -> None:
    lines = set(encode_meta_properties(META).decode().split("\n"))
    assert lines == {
        "node.id=1",
        "version=1",
        "cluster.id=4L6g3nShT-eMCtK--X86sw",
        "directory.id=F3OrYMHkRz2mXKq9v6cTzg",
        "",
    }


def test_it_is_read_back_as_it_was_written() -> None:
    disk = VirtualDisk()
    disk.make_dirs("/d")
    assert read_meta_properties(disk, "/d") is None
    write_meta_properties(disk, "/d", META)
    assert read_meta_properties(disk, "/d") == META


@pytest.mark.parametrize("cluster_id", ["plain", "a=b:c#d!e\\f", "größe", "\\\\"])
def test_any_cluster_id_survives_the_escapes_of_java_properties(cluster_id: str) -> None:
    meta = MetaProperties(1, cluster_id, None)
    assert decode_meta_properties(encode_meta_properties(meta), "m") == meta


def test_the_file_that_kafka_writes_is_read() -> None:
    text = (
        b"#\n#Tue Apr 01 10:00:00 UTC 2025\nnode.id=1\ndirectory.id=F3OrYMHkRz2mXKq9v6cTzg\n"
        b"version=1\ncluster.id=4L6g3nShT-eMCtK--X86sw\n"
    )
    assert decode_meta_properties(text, "m") == META


def test_version_0_calls_the_node_a_broker_and_may_lack_the_rest() -> None:
    assert decode_meta_properties(b"version=0\nbroker.id=3\ncluster.id=c\n", "m") == MetaProperties(
        3, "c", None, 0
    )
    assert decode_meta_properties(b"version=0\nbroker.id=-1\n", "m") == MetaProperties(None, None, None, 0)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"", "no version"),
        (b"version=2\nnode.id=1\ncluster.id=c", "version is 2"),
        (b"version=one", "not a number"),
        (b"version=1\ncluster.id=c", "no node.id"),
        (b"version=1\nnode.id=1", "no cluster.id"),
        (b"version=1\nnode.id=-1\ncluster.id=c", "node.id is -1"),
        (b"version=1\nnode.id=x\ncluster.id=c", "not a number"),
        (b"version=1\nnode.id=1\ncluster.id=c\ndirectory.id=short", "directory.id"),
        (b"version=1\nnode.id=1\ncluster.id=c\ndirectory.id=AAAAAAAAAAAAAAAAAAAAAQ", "reserved"),
    ],
)
def test_damage_is_named_in_one_line_with_the_file(text: bytes, what: str) -> None:
    with pytest.raises(BadMetaProperties, match=what) as caught:
        decode_meta_properties(text, "/data/meta.properties")
    assert str(caught.value).startswith("/data/meta.properties is damaged")
    assert "\n" not in str(caught.value)
