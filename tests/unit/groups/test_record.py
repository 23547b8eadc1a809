"""Records of `__consumer_offsets` between their typed form and their bytes."""

from __future__ import annotations

import pytest

from ottla.coordination.record import CoordinatorRecord
from ottla.groups.record import decode_record
from ottla.wire.messages.consumer_offsets import (
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from ottla.wire.primitives import DecodeError


@pytest.mark.parametrize(
    "record",
    [
        CoordinatorRecord(OffsetCommitKey(group="g", topic="t", partition=1), OffsetCommitValue(offset=5), 3),
        CoordinatorRecord(GroupMetadataKey(group="g"), GroupMetadataValue(protocol_type="consumer"), 3),
        CoordinatorRecord(ConsumerGroupMetadataKey(group_id="g"), ConsumerGroupMetadataValue(epoch=7)),
        CoordinatorRecord(GroupMetadataKey(group="g"), None),
    ],
)
def test_a_record_comes_back_from_its_bytes(record: CoordinatorRecord) -> None:
    assert decode_record(record.key_bytes(), record.value_bytes()) == record


def test_key_and_value_begin_with_type_and_version() -> None:
    record = CoordinatorRecord(GroupMetadataKey(group="g"), GroupMetadataValue(), 2)
    assert record.key_bytes()[:2] == b"\x00\x02"
    value = record.value_bytes()
    assert value is not None and value[:2] == b"\x00\x02"


def test_a_tombstone_has_no_value_bytes() -> None:
    assert CoordinatorRecord(GroupMetadataKey(group="g"), None).value_bytes() is None


def test_a_type_that_a_newer_version_wrote_is_stepped_over() -> None:
    assert decode_record(b"\x03\xe7whatever", b"\x00\x00") is None
    assert decode_record(b"\x03\xe7", None) is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"", None),
        (b"\x00", None),
        (b"\x00\x02", None),  # a group's key without the group
        (b"\x00\x02\x00\x05ab", None),  # a name longer than what is there
        (b"\x00\x02\x00\x01g", b""),
        (b"\x00\x02\x00\x01g", b"\x00\x63"),  # a version that does not exist
        (b"\x00\x02\x00\x01g", b"\x00\x03\x00"),
    ],
)
def test_bytes_that_make_no_sense_are_an_error(key: bytes, value: bytes | None) -> None:
    with pytest.raises(DecodeError):
        decode_record(key, value)
