"""The bytes of sticky members' user data, versions 0 and 1, against Kafka's schema written out by hand."""

from __future__ import annotations

from ottla.assignors.user_data import (
    PreviousAssignment,
    decode_generation,
    decode_previous_assignment,
    encode_generation,
    encode_previous_assignment,
)
from ottla.model.types import TopicPartition

HAD = (TopicPartition("ab", 0), TopicPartition("ab", 7), TopicPartition("c", 1))
VERSION_0 = bytes.fromhex(
    "00000002"
    "0002 6162 00000002 00000000 00000007"
    "0001 63 00000001 00000001"
)  # fmt: skip
VERSION_1 = VERSION_0 + bytes.fromhex("00000009")


def test_a_previous_assignment_is_written_as_kafka_writes_it() -> None:
    assert encode_previous_assignment(reversed(HAD), None) == VERSION_0
    assert encode_previous_assignment(HAD, 9) == VERSION_1
    assert encode_previous_assignment([], 1) == bytes.fromhex("00000000 00000001")


def test_both_versions_are_read() -> None:
    assert decode_previous_assignment(VERSION_0) == PreviousAssignment(HAD, -1)
    assert decode_previous_assignment(VERSION_1) == PreviousAssignment(HAD, 9)
    assert decode_previous_assignment(VERSION_1 + b"more of a later version") == PreviousAssignment(HAD, 9)
    assert decode_previous_assignment(None) == decode_previous_assignment(b"") == PreviousAssignment((), -1)


def test_data_cut_anywhere_is_read_as_nothing_or_as_version_0() -> None:
    for end in range(len(VERSION_0)):
        assert decode_previous_assignment(VERSION_1[:end]) == PreviousAssignment((), -1)
    for end in range(len(VERSION_0), len(VERSION_1)):
        assert decode_previous_assignment(VERSION_1[:end]) == PreviousAssignment(HAD, -1)


def test_counts_beyond_the_data_are_refused_before_anything_is_allocated() -> None:
    assert decode_previous_assignment(bytes.fromhex("7fffffff 0000")) == PreviousAssignment()
    assert decode_previous_assignment(bytes.fromhex("00000001 0001 63 7fffffff")) == PreviousAssignment()
    assert decode_previous_assignment(bytes.fromhex("00000001 ffff")) == PreviousAssignment()
    assert decode_previous_assignment(bytes.fromhex("ffffffff")) == PreviousAssignment()


def test_a_topic_name_that_is_not_utf_8_is_no_error() -> None:
    data = bytes.fromhex("00000001 0001 ff 00000001 00000000")
    assert decode_previous_assignment(data).partitions == (TopicPartition("\ufffd", 0),)


def test_a_generation_is_four_bytes() -> None:
    assert encode_generation(258) == b"\x00\x00\x01\x02"
    assert decode_generation(encode_generation(258)) == 258
    assert decode_generation(None) == decode_generation(b"\x00\x00\x01") == -1
