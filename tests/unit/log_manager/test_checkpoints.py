"""Kafka's checkpoint text: what is written is what Kafka writes, and damage is told apart from data."""

from __future__ import annotations

import pytest

from ottla.log.checkpoints import (
    CorruptCheckpoint,
    decode_checkpoint,
    decode_clean_shutdown,
    encode_checkpoint,
    encode_clean_shutdown,
    read_checkpoint,
    write_checkpoint,
)
from ottla.model.types import TopicPartition
from ottla.testing.disk import VirtualDisk

ORDERS = TopicPartition("orders", 0)
CLICKS = TopicPartition("clicks.eu-west_1", 12)


def test_a_checkpoint_has_a_version_a_count_and_a_line_per_partition() -> None:
    assert encode_checkpoint({ORDERS: 1042, CLICKS: 7}) == b"0\n2\norders 0 1042\nclicks.eu-west_1 12 7\n"


def test_a_checkpoint_is_read_back_as_it_was_written() -> None:
    offsets = {ORDERS: 2**62, CLICKS: 0}
    assert decode_checkpoint(encode_checkpoint(offsets)) == offsets
    assert decode_checkpoint(encode_checkpoint({})) == {}


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"0\n",
        b"0\nmany\n",
        b"1\n0\n",
        b"0\n2\norders 0 1\n",
        b"0\n0\norders 0 1\n",
        b"0\n1\norders 0\n",
        b"0\n1\norders 0 1 2\n",
        b"0\n1\norders zero 1\n",
        b"0\n1\norders -1 1\n",
        b"0\n1\n 0 1\n",
        b"\x00\x00\x00\x00",
        b"\xff\xfe",
    ],
)
def test_a_damaged_checkpoint_is_refused(text: bytes) -> None:
    with pytest.raises(CorruptCheckpoint):
        decode_checkpoint(text)


def test_a_missing_checkpoint_is_empty() -> None:
    assert read_checkpoint(VirtualDisk(), "/none") == {}


def test_a_checkpoint_goes_through_the_disk() -> None:
    disk = VirtualDisk()
    disk.make_dirs("/d")
    write_checkpoint(disk, "/d/c", {ORDERS: 5})
    assert read_checkpoint(disk, "/d/c") == {ORDERS: 5}


def test_the_mark_of_a_clean_shutdown_carries_the_broker_epoch_as_in_kafka() -> None:
    assert encode_clean_shutdown(17) == b'{"version":0,"brokerEpoch":17}'
    assert decode_clean_shutdown(encode_clean_shutdown(17)) == 17


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"{}", b'{"version":0}', b'{"version":1,"brokerEpoch":3}']
)
def test_a_mark_without_a_readable_epoch_is_still_a_mark(data: bytes) -> None:
    assert decode_clean_shutdown(data) == -1
