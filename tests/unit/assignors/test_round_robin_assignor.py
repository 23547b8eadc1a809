"""The client's `roundrobin` assignor: the seed's examples and Kafka's documented ones."""

from __future__ import annotations

from assignor_groups import members, result

from ottla.assignors.round_robin import assign
from ottla.assignors.subscription import Subscription


def test_two_topics_of_four_partitions_are_dealt_evenly_where_range_is_not() -> None:
    """Seed 004, the first picture of RoundRobinAssignor: the topics of the range example."""
    group = members(C0="T0 T1", C1="T0 T1", C2="T0 T1")
    assert assign({"T0": 4, "T1": 4}, group) == result(
        C0="T0P0 T0P3 T1P2", C1="T0P1 T1P0 T1P3", C2="T0P2 T1P1"
    )


def test_unequal_subscriptions_leave_the_last_consumer_with_four_partitions() -> None:
    """Seed 004: T0, T1, T2 with 1, 2, 3 partitions; C0 reads T0, C1 T0 and T1, C2 all. T1P1 could be C1's."""
    group = members(C0="T0", C1="T0 T1", C2="T0 T1 T2")
    assert assign({"T0": 1, "T1": 2, "T2": 3}, group) == result(
        C0="T0P0", C1="T1P0", C2="T1P1 T2P0 T2P1 T2P2"
    )


def test_when_the_first_consumer_leaves_the_deal_starts_anew() -> None:
    """Seed 004's unequal group after C0 left; Kafka documents the result."""
    group = members(C1="T0 T1", C2="T0 T1 T2")
    assert assign({"T0": 1, "T1": 2, "T2": 3}, group) == result(C1="T0P0 T1P1", C2="T1P0 T2P0 T2P1 T2P2")


def test_when_a_consumer_leaves_nearly_everything_moves() -> None:
    """Seed 004, the picture beside StickyAssignor: four topics of two partitions, C1 leaves."""
    counts = dict.fromkeys(("T0", "T1", "T2", "T3"), 2)
    topics = " ".join(counts)
    assert assign(counts, members(C0=topics, C1=topics, C2=topics)) == result(
        C0="T0P0 T1P1 T3P0", C1="T0P1 T2P0 T3P1", C2="T1P0 T2P1"
    )
    assert assign(counts, members(C0=topics, C2=topics)) == result(
        C0="T0P0 T1P0 T2P0 T3P0", C2="T0P1 T1P1 T2P1 T3P1"
    )


def test_two_topics_of_three_partitions_alternate_as_kafka_documents() -> None:
    assert assign({"t0": 3, "t1": 3}, members(C0="t0 t1", C1="t0 t1")) == result(
        C0="t0P0 t0P2 t1P1", C1="t0P1 t1P0 t1P2"
    )


def test_static_members_are_dealt_to_first() -> None:
    """KIP-345."""
    group = {"A": Subscription(("t0",)), "Z": Subscription(("t0",), group_instance_id="I")}
    assert assign({"t0": 3}, group) == result(Z="t0P0 t0P2", A="t0P1")


def test_a_topic_that_does_not_exist_is_ignored() -> None:
    assert assign({"T0": 1}, members(C0="T0 missing", C1="missing")) == result(C0="T0P0", C1="")
    assert assign({"T0": 1}, {}) == {}
