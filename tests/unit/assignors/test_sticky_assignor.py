"""The client's `sticky` assignor: the seed's and Kafka's examples, generations, racks, hostile user data."""

from __future__ import annotations

from assignor_groups import members, partition, result, with_history

from ottla.assignors.sticky import assign
from ottla.assignors.subscription import Subscription
from ottla.assignors.user_data import encode_previous_assignment
from ottla.model.types import TopicPartition

FOUR_TOPICS = dict.fromkeys(("T0", "T1", "T2", "T3"), 2)
ALL = " ".join(FOUR_TOPICS)
UNEQUAL_COUNTS = {"T0": 1, "T1": 2, "T2": 3}


def had(text: str, topics: str, generation: int = 1) -> Subscription:
    before = [partition(each) for each in text.split()]
    return Subscription(
        tuple(topics.split()),
        generation=generation,
        user_data=encode_previous_assignment(before, generation),
    )


def test_a_fresh_group_of_equals_is_dealt_as_round_robin_would() -> None:
    """Seed 004: four topics of two partitions, three consumers that read all of them."""
    assert assign(FOUR_TOPICS, members(C0=ALL, C1=ALL, C2=ALL)) == result(
        C0="T0P0 T1P1 T3P0", C1="T0P1 T2P0 T3P1", C2="T1P0 T2P1"
    )


def test_when_a_consumer_leaves_only_its_partitions_move() -> None:
    """Seed 004, the picture of StickyAssignor: C1 leaves, the others keep what they have. Which of C1's
    partitions goes where is as Kafka 4.2 does it.
    """
    before = result(C0="T0P0 T1P1 T3P0", C1="T0P1 T2P0 T3P1", C2="T1P0 T2P1")
    after = assign(FOUR_TOPICS, with_history(members(C0=ALL, C2=ALL), before))
    assert after == result(C0="T0P0 T3P0 T1P1 T0P1", C2="T1P0 T2P1 T2P0 T3P1")
    assert all(set(before[member_id]) <= set(after[member_id]) for member_id in after)


def test_unequal_subscriptions_are_shared_more_evenly_than_round_robin_does() -> None:
    """Seed 004 asks whether T1P1 should not be C1's: here it is."""
    group = members(C0="T0", C1="T0 T1", C2="T0 T1 T2")
    assert assign(UNEQUAL_COUNTS, group) == result(C0="T0P0", C1="T1P0 T1P1", C2="T2P0 T2P1 T2P2")


def test_when_the_first_consumer_of_an_unequal_group_leaves_one_partition_moves() -> None:
    """Seed 004's unequal group; Kafka documents the result: five assignments are preserved."""
    before = result(C0="T0P0", C1="T1P0 T1P1", C2="T2P0 T2P1 T2P2")
    group = with_history(members(C1="T0 T1", C2="T0 T1 T2"), before)
    assert assign(UNEQUAL_COUNTS, group) == result(C1="T1P0 T1P1 T0P0", C2="T2P0 T2P1 T2P2")


def test_a_member_that_joins_takes_from_those_that_have_most() -> None:
    group = with_history(members(C0="T0", C1="T0", C2="T0"), result(C0="T0P0 T0P1 T0P2", C1="T0P3 T0P4 T0P5"))
    after = assign({"T0": 6}, group)
    assert after == result(C0="T0P0 T0P1", C1="T0P3 T0P4", C2="T0P2 T0P5")


def test_a_partition_claimed_twice_goes_to_the_newer_generation() -> None:
    """KIP-54 and Kafka's handling of zombies: the older claim is of a member that missed a rebalance."""
    group = {"C0": had("T0P0 T0P1", "T0", generation=1), "C1": had("T0P0 T0P2", "T0", generation=2)}
    after = assign({"T0": 4}, group)
    assert partition("T0P0") in after["C1"] and partition("T0P2") in after["C1"]
    assert partition("T0P1") in after["C0"]


def test_a_partition_claimed_twice_in_one_generation_belongs_to_neither() -> None:
    group = {"C0": had("T0P0", "T0"), "C1": had("T0P0 T0P1", "T0")}
    assert assign({"T0": 2}, group) == result(C0="T0P0", C1="T0P1")


def test_a_stale_claim_never_brings_a_topic_back_that_was_unsubscribed() -> None:
    group = {
        "C0": had("T0P0 T0P1 T0P2 T1P0", "T0 T1", generation=5),
        "C1": had("T0P1 T0P2", "T1", generation=4),
        "C2": had("", "T0", generation=5),
    }
    after = assign({"T0": 3, "T1": 1}, group)
    assert {each.topic for each in after["C1"]} <= {"T1"}
    assert sorted(each for owned in after.values() for each in owned) == [
        TopicPartition("T0", 0),
        TopicPartition("T0", 1),
        TopicPartition("T0", 2),
        TopicPartition("T1", 0),
    ]


def test_partitions_and_topics_that_no_longer_exist_are_forgotten() -> None:
    group = {"C0": had("T0P0 T0P7 gone0P0", "T0"), "C1": had("T0P-1 T0P1", "T0")}
    assert assign({"T0": 2, "T1": 3}, group) == result(C0="T0P0", C1="T0P1")


def test_user_data_that_cannot_be_read_counts_as_none() -> None:
    plain = assign({"T0": 3}, members(C0="T0", C1="T0"))
    for junk in (b"", b"\x00", b"\x7f\xff\xff\xff", b"\x00\x00\x00\x01\x7f\xff", b"\xff" * 40):
        group = members(C0="T0", C1="T0") | {"C0": Subscription(("T0",), user_data=junk)}
        assert assign({"T0": 3}, group) == plain


def test_a_member_without_topics_gets_nothing() -> None:
    assert assign({"T0": 3}, members(A="", B="T0")) == result(A="", B="T0P0 T0P1 T0P2")
    assert assign({"T0": 3}, {}) == {}


def test_owned_partitions_out_of_the_member_s_rack_are_given_up_when_balance_allows() -> None:
    """KIP-881: sticky members move for the sake of racks."""
    racks = {TopicPartition("T0", number): {rack} for number, rack in enumerate("abab")}
    group = {
        "C0": Subscription(("T0",), rack="a", user_data=encode_previous_assignment([partition("T0P1")], 1)),
        "C1": Subscription(("T0",), rack="b", user_data=encode_previous_assignment([partition("T0P0")], 1)),
    }
    after = assign({"T0": 4}, group, racks)
    assert after == result(C0="T0P0 T0P2", C1="T0P1 T0P3")
