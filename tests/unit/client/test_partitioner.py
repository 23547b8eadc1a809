"""Keys go where Java's client would put them, and records without keys fill one batch before the next."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.partitioner.default import murmur2 as other_murmur2

from ottla.client.partitioner import StickyPartitioner, murmur2, partition_for_key

# Kafka's UtilsTest.testMurmur2.
JAVA_HASHES = [
    (b"21", -973932308),
    (b"foobar", -790332482),
    (b"a-little-bit-long-string", -985981536),
    (b"a-little-bit-longer-string", -1486304829),
    (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
    (b"abc", 479470107),
]


@pytest.mark.parametrize(("key", "expected"), JAVA_HASHES)
def test_the_hash_of_a_key_is_the_one_that_java_computes(key: bytes, expected: int) -> None:
    assert murmur2(key) == expected


@given(st.binary(max_size=64))
def test_the_hash_agrees_with_another_client_for_keys_of_every_length(key: bytes) -> None:
    assert murmur2(key) & 0xFFFFFFFF == other_murmur2(key) & 0xFFFFFFFF


@given(st.binary(max_size=32), st.integers(1, 1000))
def test_a_key_always_lands_in_an_existing_partition(key: bytes, count: int) -> None:
    assert 0 <= partition_for_key(key, count) < count


def test_a_negative_hash_is_masked_as_in_java_and_not_made_absolute() -> None:
    # Utils.toPositive masks the sign bit: abs() would give another partition.
    assert partition_for_key(b"21", 7) == (-973932308 & 0x7FFFFFFF) % 7
    assert partition_for_key(b"21", 7) != 973932308 % 7


def test_records_without_a_key_stay_on_a_partition_until_a_batch_is_full() -> None:
    sticky = StickyPartitioner(100, choose=lambda n: n - 1)
    chosen = [sticky.partition("t", [0, 1, 2], 50) for _ in range(6)]
    assert chosen == [2, 2, 1, 1, 2, 2]


def test_a_partition_that_lost_its_leader_is_left_at_once() -> None:
    sticky = StickyPartitioner(1_000, choose=lambda n: 0)
    assert sticky.partition("t", [0, 1], 10) == 0
    assert sticky.partition("t", [1], 10) == 1


def test_a_topic_with_one_partition_has_nowhere_else_to_go() -> None:
    sticky = StickyPartitioner(10, choose=lambda n: 0)
    assert [sticky.partition("t", [0], 50) for _ in range(3)] == [0, 0, 0]
