"""Keys go where Java's client would put them, and records without keys fill one batch before the next."""

from __future__ import annotations

import random
import zlib
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.partitioner.default import murmur2 as other_murmur2

from ottla.client.errors import InvalidArgument, InvalidConfig
from ottla.client.producing.partitioners import (
    NAMES,
    Partitioner,
    Partitions,
    StickyPartitioner,
    asked,
    built_in,
)
from ottla.client.view import PartitionView, TopicView
from ottla.wire.record_writer import murmur2, partition_of_key

# Kafka's UtilsTest.testMurmur2.
JAVA_HASHES = [
    (b"21", -973932308),
    (b"foobar", -790332482),
    (b"a-little-bit-long-string", -985981536),
    (b"a-little-bit-longer-string", -1486304829),
    (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
    (b"abc", 479470107),
]

BATCH_HEADER = 61


def topic(count: int, *, without_leader: tuple[int, ...] = (), name: str = "t") -> TopicView:
    partitions = tuple(
        PartitionView(i, -1 if i in without_leader else 1, 0, (1,), (1,), (), 0) for i in range(count)
    )
    return TopicView(name, bytes(16), False, partitions, 0)


def sticky(batch_bytes: int = 1_000, **more: Any) -> StickyPartitioner:
    return StickyPartitioner(lambda name, index: batch_bytes + BATCH_HEADER, random.Random(7).random, **more)


def partitioner(name: str, *, ignore_keys: bool = False) -> Partitioner:
    return built_in(name, sticky(), random.Random(7).random, ignore_keys=ignore_keys)


# --- by key ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("key", "expected"), JAVA_HASHES)
def test_the_hash_of_a_key_is_the_one_that_java_computes(key: bytes, expected: int) -> None:
    assert murmur2(key) == expected


@given(st.binary(max_size=64))
def test_the_hash_agrees_with_another_client_for_keys_of_every_length(key: bytes) -> None:
    assert murmur2(key) & 0xFFFFFFFF == other_murmur2(key) & 0xFFFFFFFF


@given(st.binary(max_size=32), st.integers(1, 1000))
def test_a_key_always_lands_in_an_existing_partition(key: bytes, count: int) -> None:
    assert 0 <= partition_of_key(key, count) < count


def test_a_negative_hash_is_masked_as_in_java_and_not_made_absolute() -> None:
    # Utils.toPositive masks the sign bit: abs() would give another partition.
    assert partition_of_key(b"21", 7) == (-973932308 & 0x7FFFFFFF) % 7
    assert partition_of_key(b"21", 7) != 973932308 % 7


def test_a_key_keeps_its_partition_while_that_has_no_leader() -> None:
    # Java hashes over all partitions, not over the available ones: order per key must not depend on failures.
    home = partition_of_key(b"abc", 5)
    assert partitioner("default").choose(topic(5, without_leader=(home,)), b"abc", 10) == home


def test_an_empty_key_is_a_key_for_java_and_none_for_consistent_random() -> None:
    chosen = {partitioner("default").choose(topic(9), b"", 10) for _ in range(5)}
    assert chosen == {partition_of_key(b"", 9)}
    # librdkafka: "Empty and NULL keys are randomly partitioned" (consistent_random).
    by_crc = built_in("consistent_random", sticky(10), random.Random(3).random)
    assert len({by_crc.choose(topic(9), b"", 10) for _ in range(40)}) > 1


def test_the_default_ignores_keys_if_it_is_told_so() -> None:
    # partitioner.ignore.keys (KIP-794)
    chosen = {partitioner("default", ignore_keys=True).choose(topic(50), bytes([i]), 1) for i in range(20)}
    assert len(chosen) == 1


def test_consistent_puts_keys_where_librdkafka_does() -> None:
    # rd_kafka_msg_partitioner_consistent: crc32(key) modulo the count; a missing key is an empty one.
    chosen = partitioner("consistent")
    assert chosen.choose(topic(10), b"a key", 1) == zlib.crc32(b"a key") % 10
    assert chosen.choose(topic(10), None, 1) == 0
    assert partitioner("consistent_random").choose(topic(10), b"a key", 1) == zlib.crc32(b"a key") % 10


def test_murmur2_hashes_a_missing_key_too_and_murmur2_random_does_not() -> None:
    assert partitioner("murmur2").choose(topic(10), None, 1) == partition_of_key(b"", 10)
    assert partitioner("murmur2_random").choose(topic(10), b"abc", 1) == partition_of_key(b"abc", 10)
    spread = built_in("murmur2_random", sticky(1), random.Random(5).random)
    assert len({spread.choose(topic(10), None, 1) for _ in range(50)}) > 5


# --- sticky ---------------------------------------------------------------------------------------------


def test_records_without_a_key_stay_on_a_partition_until_a_batch_is_full() -> None:
    # KIP-480 and KIP-794: the change comes where the batch would have no room for the next record.
    chooser = sticky(100)
    view = topic(1000)
    chosen = [chooser.choose(view, 30) for _ in range(9)]
    assert chosen[0] == chosen[1] == chosen[2] != chosen[3]
    assert chosen[3] == chosen[4] == chosen[5] != chosen[6]


def test_the_partition_that_is_left_is_told_so_that_its_batch_need_not_linger() -> None:
    left: list[tuple[str, int]] = []
    chooser = sticky(100, left=lambda name, partition: left.append((name, partition)))
    view = topic(1000)
    first = chooser.choose(view, 80)
    assert left == []
    chooser.choose(view, 80)
    assert left == [("t", first)]


def test_over_many_batches_every_partition_gets_its_share() -> None:
    chooser = sticky(10)
    view = topic(4)
    shares = Counter(chooser.choose(view, 10) for _ in range(4_000))
    assert set(shares) == {0, 1, 2, 3}
    assert all(850 < share < 1_150 for share in shares.values())


def test_a_partition_that_lost_its_leader_is_left_at_once() -> None:
    chooser = sticky(10_000)
    first = chooser.choose(topic(2), 10)
    assert chooser.choose(topic(2, without_leader=(first,)), 10) == 1 - first


def test_newer_metadata_is_no_reason_to_leave_a_partition() -> None:
    chooser = sticky(10_000)
    first = chooser.choose(topic(50), 10)
    assert [chooser.choose(topic(50), 10) for _ in range(5)] == [first] * 5


def test_when_no_partition_has_a_leader_any_will_do() -> None:
    assert sticky().choose(topic(3, without_leader=(0, 1, 2)), 10) in (0, 1, 2)


def test_a_topic_with_one_partition_has_nowhere_else_to_go() -> None:
    chooser = sticky(10)
    assert [chooser.choose(topic(1), 50) for _ in range(3)] == [0, 0, 0]


def test_a_record_larger_than_a_batch_still_gets_a_partition() -> None:
    assert sticky(10).choose(topic(3), 5_000) in (0, 1, 2)


def test_topics_are_sticky_each_for_itself() -> None:
    chooser = sticky(10_000)
    one, other = topic(1000, name="one"), topic(1000, name="other")
    first = (chooser.choose(one, 1), chooser.choose(other, 1))
    assert (chooser.choose(one, 1), chooser.choose(other, 1)) == first


def test_partitions_with_long_queues_are_drawn_less_often() -> None:
    # KIP-794's example: queues of 0, 3 and 1 batches give the weights 4, 1 and 3.
    queues = {0: 0, 1: 3, 2: 1}
    chooser = sticky(10, load=lambda name, partition: queues[partition])
    view = topic(3)
    shares = Counter(chooser.choose(view, 10) for _ in range(8_000))
    assert 3_700 < shares[0] < 4_300
    assert 800 < shares[1] < 1_200
    assert 2_700 < shares[2] < 3_300


# --- the others -----------------------------------------------------------------------------------------


def test_round_robin_takes_turns_whatever_the_key_and_passes_over_dead_partitions() -> None:
    chooser = partitioner("round-robin")
    view = topic(4, without_leader=(2,))
    assert [chooser.choose(view, b"same", 10) for _ in range(6)] == [0, 1, 3, 0, 1, 3]


def test_random_draws_anew_for_every_record() -> None:
    chooser = partitioner("random")
    view = topic(4, without_leader=(2,))
    shares = Counter(chooser.choose(view, b"same", 10) for _ in range(3_000))
    assert set(shares) == {0, 1, 3}
    assert all(850 < share < 1_150 for share in shares.values())


@pytest.mark.parametrize("name", NAMES)
def test_every_name_that_the_documentation_has_is_known(name: str) -> None:
    assert partitioner(name).choose(topic(3), b"key", 10) in (0, 1, 2)


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidConfig, match="round-robin"):
        partitioner("roundrobbin")


# --- a user's own ---------------------------------------------------------------------------------------


def test_a_function_gets_what_the_user_gave_and_what_the_topic_has() -> None:
    seen: list[object] = []

    def own(*given: object) -> int:
        seen.extend(given)
        return 2

    assert asked(own, topic(4, without_leader=(1,)), {"user": 7}, ["value"]) == 2
    assert seen == ["t", {"user": 7}, ["value"], Partitions(4, [0, 2, 3])]


@pytest.mark.parametrize("answer", [-1, 4, None, "1", 1.0, True, [0]])
def test_a_function_that_returns_nonsense_is_refused_by_name(answer: object) -> None:
    with pytest.raises(InvalidArgument, match="no partition of topic t, which has 4"):
        asked(lambda *given: answer, topic(4), None, None)


def test_what_a_function_raises_is_the_cause() -> None:
    def own(*given: object) -> int:
        raise KeyError("country")

    with pytest.raises(InvalidArgument, match="the partitioner raised KeyError") as caught:
        asked(own, topic(4), None, None)
    assert isinstance(caught.value.__cause__, KeyError)
