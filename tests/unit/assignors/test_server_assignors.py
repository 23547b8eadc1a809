"""The coordinator's assignors (KIP-848), `uniform` and `range`: examples, stickiness, odd specs, steps."""

from __future__ import annotations

from collections.abc import Callable, Generator

import pytest

from ottla.assignors import server_range, uniform
from ottla.assignors.group_spec import Assignment, GroupSpec, MemberSpec
from ottla.assignors.steps import drain, sort_in_steps

A, B, C = (letter.encode() * 16 for letter in "ABC")
Owned = dict[bytes, frozenset[int]]


def member(topics: bytes = A, owned: Owned | None = None, instance_id: str | None = None) -> MemberSpec:
    """`topics` as the joined ids."""
    ids = frozenset(topics[start : start + 16] for start in range(0, len(topics), 16))
    return MemberSpec(instance_id, None, ids, owned or {})


def again(spec: GroupSpec, result: Assignment) -> GroupSpec:
    """The spec with the result as what members own."""
    owning = {
        member_id: MemberSpec(old.instance_id, old.rack_id, old.topic_ids, result.get(member_id, {}))
        for member_id, old in spec.members.items()
    }
    return GroupSpec(owning, spec.partition_counts)


def sizes(result: Assignment) -> dict[str, int]:
    return {member_id: sum(map(len, owned.values())) for member_id, owned in result.items()}


def numbers(*found: int) -> frozenset[int]:
    return frozenset(found)


def test_the_names_are_kafka_s() -> None:
    assert (uniform.NAME, server_range.NAME) == ("uniform", "range")


def test_range_co_partitions_topics_of_equal_counts_as_kafka_documents() -> None:
    """Kafka's example: two members, two topics of three partitions."""
    spec = GroupSpec({"M0": member(A + B), "M1": member(A + B)}, {A: 3, B: 3})
    assert server_range.assign(spec) == {
        "M0": {A: numbers(0, 1), B: numbers(0, 1)},
        "M1": {A: numbers(2), B: numbers(2)},
    }


def test_range_cuts_each_topic_for_its_own_subscribers() -> None:
    spec = GroupSpec({"M0": member(A), "M1": member(A + B), "M2": member(B)}, {A: 3, B: 1})
    assert server_range.assign(spec) == {
        "M0": {A: numbers(0, 1)},
        "M1": {A: numbers(2), B: numbers(0)},
        "M2": {},
    }


def test_range_keeps_a_static_member_s_place_under_a_new_member_id() -> None:
    """Kafka's example of a rolling bounce with instance ids; dynamic members come after static ones."""
    before = GroupSpec(
        {"M0": member(instance_id="I0"), "M1": member(instance_id="I1"), "A": member()}, {A: 4}
    )
    after = GroupSpec({"M3": member(instance_id="I0"), "M2": member(instance_id="I1"), "A": member()}, {A: 4})
    assert server_range.assign(before) == {
        "M0": {A: numbers(0, 1)},
        "M1": {A: numbers(2)},
        "A": {A: numbers(3)},
    }
    assert server_range.assign(after)["M3"] == {A: numbers(0, 1)}
    assert server_range.assign(after)["M2"] == {A: numbers(2)}


def test_uniform_shares_all_partitions_evenly() -> None:
    spec = GroupSpec({"M0": member(A + B), "M1": member(A + B), "M2": member(A + B)}, {A: 4, B: 4})
    result = uniform.assign(spec)
    assert sorted(sizes(result).values()) == [2, 3, 3]
    assert uniform.assign(again(spec, result)) == result


def test_a_joining_member_takes_only_what_balance_asks_for() -> None:
    """The odd partition stays with a member that has it, though the joining one comes first in the order."""
    owned = {"A1": {A: numbers(0, 1)}, "B1": {A: numbers(2, 3)}, "C1": {A: numbers(4)}}
    spec = GroupSpec({"0": member(), **{each: member(owned=had) for each, had in owned.items()}}, {A: 5})
    result = uniform.assign(spec)
    assert sizes(result) == {"0": 1, "A1": 2, "B1": 1, "C1": 1}
    for member_id, had in owned.items():
        assert result[member_id][A] <= had[A]


def test_a_leaving_member_moves_only_its_own_partitions() -> None:
    owned = {"A1": {A: numbers(0, 1)}, "C1": {A: numbers(4, 5)}}
    spec = GroupSpec({each: member(owned=had) for each, had in owned.items()}, {A: 6})
    result = uniform.assign(spec)
    assert result == {"A1": {A: numbers(0, 1, 2)}, "C1": {A: numbers(3, 4, 5)}}


def test_members_give_up_topics_they_no_longer_read() -> None:
    spec = GroupSpec(
        {"M0": member(A, {A: numbers(0), B: numbers(0, 1)}), "M1": member(A + B, {A: numbers(1)})},
        {A: 2, B: 2},
    )
    assert uniform.assign(spec) == {"M0": {A: numbers(0, 1)}, "M1": {B: numbers(0, 1)}}


def test_unequal_subscriptions_are_balanced_through_what_is_shared() -> None:
    """Topics with the most partitions per subscriber first: B has one reader, so A goes to the other."""
    spec = GroupSpec({"M0": member(A), "M1": member(A + B)}, {A: 4, B: 3})
    assert sizes(uniform.assign(spec)) == {"M0": 4, "M1": 3}


def test_a_heavy_owner_gives_to_subscribers_that_have_two_less() -> None:
    owned = {A: frozenset(range(6))}
    spec = GroupSpec({"M0": member(A, owned), "M1": member(A + B), "M2": member(B)}, {A: 6, B: 2})
    result = uniform.assign(spec)
    assert sizes(result) == {"M0": 3, "M1": 3, "M2": 2}
    assert result["M0"] == {A: numbers(0, 1, 2)}


ASSIGN = [uniform.assign, server_range.assign]


@pytest.mark.parametrize("assign", ASSIGN)
def test_a_topic_that_does_not_exist_brings_nothing(assign: Callable[[GroupSpec], Assignment]) -> None:
    """Neither subscribed to nor owned. Members that differ in such topics only have equal subscriptions."""
    spec = GroupSpec({"M0": member(A + C, {C: numbers(0)}), "M1": member(A)}, {A: 2, B: 0})
    assert assign(spec) == {"M0": {A: numbers(0)}, "M1": {A: numbers(1)}}


@pytest.mark.parametrize("assign", ASSIGN)
def test_members_without_partitions_are_in_the_result(assign: Callable[[GroupSpec], Assignment]) -> None:
    assert assign(GroupSpec({}, {A: 3})) == {}
    assert assign(GroupSpec({"M0": member(b"")}, {A: 3})) == {"M0": {}}
    assert assign(GroupSpec({"M0": member(b""), "M1": member(A)}, {A: 1})) == {
        "M0": {},
        "M1": {A: numbers(0)},
    }


@pytest.mark.parametrize("topics_of_second", [A, A + B])
def test_a_partition_owned_twice_or_beyond_the_count_stays_with_the_first_or_nobody(
    topics_of_second: bytes,
) -> None:
    spec = GroupSpec(
        {
            "M0": member(A, {A: numbers(0, 9)}),
            "M1": member(topics_of_second, {A: numbers(0, 1, -1)}),
        },
        {A: 2, B: 1},
    )
    result = uniform.assign(spec)
    assert result["M0"][A] == numbers(0) and result["M1"][A] == numbers(1)


def test_the_order_of_the_mappings_does_not_matter() -> None:
    names = [f"M{number}" for number in range(9)]
    topics = {name: A + B if int(name[1]) % 2 else B + C for name in names}
    one = GroupSpec({name: member(topics[name]) for name in names}, {A: 7, B: 8, C: 9})
    other = GroupSpec({name: member(topics[name]) for name in reversed(names)}, {C: 9, B: 8, A: 7})
    for assign in ASSIGN:
        assert assign(one) == assign(other)


def big_group(members: int, topics: int, partitions: int, *, equal: bool) -> GroupSpec:
    ids = [number.to_bytes(16, "big") for number in range(topics)]
    every = frozenset(ids)
    return GroupSpec(
        {
            f"member-{number}": MemberSpec(
                None, None, every if equal else frozenset(ids[number % 10 :: 10] + ids[:2]), {}
            )
            for number in range(members)
        },
        dict.fromkeys(ids, partitions),
    )


@pytest.mark.parametrize("equal", [True, False])
@pytest.mark.parametrize(
    "assign_steps", [uniform.assign_steps, server_range.assign_steps], ids=["uniform", "range"]
)
def test_a_big_group_is_assigned_in_many_small_steps(
    assign_steps: Callable[[GroupSpec], Generator[None, None, Assignment]], equal: bool
) -> None:
    """1,000 members, 10,000 partitions. Each step is bounded by the partitions it may touch."""
    spec = big_group(1000, 100, 100, equal=equal)
    steps = assign_steps(spec)
    count = 0
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Assignment = end.value
            break
        count += 1
    assert count >= 30
    assert sum(sizes(result).values()) == 10_000
    if equal and assign_steps is uniform.assign_steps:
        assert set(sizes(result).values()) == {10}


def test_sorting_in_steps_is_sorting() -> None:
    items = [(number * 7919) % 1000 for number in range(1000)]
    assert drain(sort_in_steps(items, lambda each: -each)) == sorted(items, reverse=True)
    assert drain(sort_in_steps([], lambda each: each)) == []
    assert drain(sort_in_steps([2, 1], lambda each: each)) == [1, 2]
