"""The bytes that classic members exchange: ours, other clients', and nonsense."""

from __future__ import annotations

import pytest

from ottla.client.consumer_protocol import (
    ForeignBytes,
    read_assignment,
    read_subscription,
    write_assignment,
    write_subscription,
)
from ottla.model.types import TopicPartition

TPS = [TopicPartition("a", 0), TopicPartition("a", 2), TopicPartition("b", 1)]


def test_what_is_written_is_read() -> None:
    data = write_subscription(["b", "a"], TPS, generation=7, rack="r1", user_data=b"\x00\x01")
    found = read_subscription(data, group_instance_id="i1")
    assert (found.topics, found.owned, found.generation) == (("a", "b"), tuple(TPS), 7)
    assert (found.rack, found.group_instance_id, found.user_data) == ("r1", "i1", b"\x00\x01")
    assert read_assignment(write_assignment(reversed(TPS))) == TPS


def test_a_version_0_subscription_as_old_clients_write_it_is_read() -> None:
    data = bytes.fromhex("0000000000010003" + b"abc".hex() + "ffffffff")
    found = read_subscription(data)
    assert (found.topics, found.owned, found.generation, found.user_data) == (("abc",), (), -1, None)


def test_a_newer_version_is_read_as_the_newest_known_one() -> None:
    data = b"\x00\x63" + write_subscription(["a"], generation=3)[2:] + b"what version 99 adds"
    assert read_subscription(data).generation == 3


def test_an_empty_assignment_is_an_assignment_of_nothing() -> None:
    assert read_assignment(b"") == []
    assert read_assignment(write_assignment([])) == []


@pytest.mark.parametrize(
    "data",
    [b"\x00", b"\xff\xff\x00\x00\x00\x00", b"\x00\x00\x7f\xff\xff\xff", b"\x00\x01\x00\x00\x00\x02\x00"],
)
def test_bytes_that_are_no_consumer_protocol_are_refused(data: bytes) -> None:
    with pytest.raises(ForeignBytes):
        read_subscription(data)
    with pytest.raises(ForeignBytes):
        read_assignment(data)
