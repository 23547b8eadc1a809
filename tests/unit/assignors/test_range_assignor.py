"""The client's `range` assignor: the seed's example, Kafka's documented ones, static members, racks."""

from __future__ import annotations

from assignor_groups import members, result

from ottla.assignors.range import assign
from ottla.assignors.subscription import Subscription
from ottla.model.types import TopicPartition


def test_one_topic_of_four_partitions_gives_the_first_of_three_consumers_two() -> None:
    """Seed 004, the first picture of RangeAssignor."""
    assert assign({"T0": 4}, members(C0="T0", C1="T0", C2="T0")) == result(
        C0="T0P0 T0P1", C1="T0P2", C2="T0P3"
    )


def test_a_second_topic_of_four_partitions_makes_the_first_consumer_heavier_still() -> None:
    """Seed 004: two topics of four partitions, three consumers."""
    group = members(C0="T0 T1", C1="T0 T1", C2="T0 T1")
    assert assign({"T0": 4, "T1": 4}, group) == result(
        C0="T0P0 T0P1 T1P0 T1P1", C1="T0P2 T1P2", C2="T0P3 T1P3"
    )


def test_two_topics_of_three_partitions_are_shared_by_two_consumers_as_kafka_documents() -> None:
    group = members(C0="t0 t1", C1="t0 t1")
    assert assign({"t0": 3, "t1": 3}, group) == result(C0="t0P0 t0P1 t1P0 t1P1", C1="t0P2 t1P2")


def test_each_topic_is_shared_among_its_own_subscribers_only() -> None:
    group = members(C0="T0", C1="T0 T1", C2="T1")
    assert assign({"T0": 3, "T1": 3}, group) == result(C0="T0P0 T0P1", C1="T0P2 T1P0 T1P1", C2="T1P2")


def test_consumers_beyond_the_number_of_partitions_get_nothing() -> None:
    assert assign({"T0": 1}, members(C0="T0", C1="T0")) == result(C0="T0P0", C1="")


def test_a_topic_without_partitions_and_one_that_nobody_reads_are_ignored() -> None:
    assert assign({"T0": 2, "T9": 5}, members(C0="T0 missing")) == result(C0="T0P0 T0P1")
    assert assign({}, members(C0="T0")) == result(C0="")
    assert assign({"T0": 2}, {}) == {}


def test_a_topic_named_twice_counts_once() -> None:
    assert assign({"T0": 3}, members(C0="T0 T0", C1="T0")) == result(C0="T0P0 T0P1", C1="T0P2")


def test_static_members_come_first_and_keep_their_places_under_new_member_ids() -> None:
    """KIP-345: Kafka documents the shuffle that happens without group.instance.id."""
    before = {
        "C0": Subscription(("t0",), group_instance_id="I0"),
        "C1": Subscription(("t0",), group_instance_id="I1"),
        "A": Subscription(("t0",)),
    }
    after = {"C3": before["C0"], "C2": before["C1"], "A": before["A"]}
    assert assign({"t0": 4}, before) == result(C0="t0P0 t0P1", C1="t0P2", A="t0P3")
    assert assign({"t0": 4}, after) == result(C3="t0P0 t0P1", C2="t0P2", A="t0P3")


def test_member_ids_are_ordered_as_java_orders_strings() -> None:
    """By UTF-16 units: an emoji (two surrogates) sorts before U+FF21, though its code point is greater."""
    group = {"\uff21": Subscription(("t0",)), "\U0001f600": Subscription(("t0",))}
    assert [each.partition for each in assign({"t0": 3}, group)["\U0001f600"]] == [0, 1]


RACKED = {
    "C0": Subscription(("t0", "t1"), rack="a"),
    "C1": Subscription(("t0", "t1"), rack="b"),
    "C2": Subscription(("t0", "t1"), rack="c"),
}


def test_partitions_go_to_subscribers_in_a_rack_with_a_replica() -> None:
    """KIP-881."""
    group = {member_id: Subscription(("t0",), rack=member.rack) for member_id, member in RACKED.items()}
    racks = {TopicPartition("t0", number): {rack} for number, rack in enumerate("cbabca")}
    assert assign({"t0": 6}, group, racks) == result(C0="t0P2 t0P5", C1="t0P1 t0P3", C2="t0P0 t0P4")


def test_balance_comes_before_racks() -> None:
    """KIP-881: all replicas in one rack, and still everybody gets its share."""
    racks = {TopicPartition("t0", 0): {"a"}, TopicPartition("t0", 1): {"a"}, TopicPartition("t0", 2): {"a"}}
    group = {member_id: Subscription(("t0",), rack=member.rack) for member_id, member in RACKED.items()}
    assert sorted(map(len, assign({"t0": 3}, group, racks).values())) == [1, 1, 1]


def test_topics_with_equal_counts_and_subscribers_move_together_whatever_their_racks() -> None:
    """KIP-881: co-partitioning comes before racks."""
    racks = {
        TopicPartition(topic, number): {rack} for topic in ("t0", "t1") for number, rack in enumerate("cab")
    }
    assert assign({"t0": 3, "t1": 3}, RACKED, racks) == result(C0="t0P1 t1P1", C1="t0P2 t1P2", C2="t0P0 t1P0")
    racks[TopicPartition("t1", 0)] = {"b"}
    for owned in assign({"t0": 3, "t1": 3}, RACKED, racks).values():
        assert len({each.partition for each in owned}) == 1


def test_racks_that_say_nothing_change_nothing() -> None:
    """KIP-881: no replica in any member's rack, or all partitions in all racks."""
    plain = assign({"t0": 4, "t1": 5}, RACKED)
    every = [TopicPartition(topic, number) for topic in ("t0", "t1") for number in range(5)]
    assert assign({"t0": 4, "t1": 5}, RACKED, dict.fromkeys(every, frozenset({"elsewhere"}))) == plain
    assert assign({"t0": 4, "t1": 5}, RACKED, dict.fromkeys(every, frozenset("abc"))) == plain
