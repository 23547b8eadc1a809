"""Properties of all assignors over random groups: one owner, subscribed topics only, balance, few moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.assignors import cooperative_sticky, round_robin, server_range, sticky, uniform
from ottla.assignors import range as range_assignor
from ottla.assignors.group_spec import Assignment, GroupSpec, MemberSpec
from ottla.assignors.subscription import Subscription
from ottla.assignors.user_data import decode_previous_assignment, encode_previous_assignment
from ottla.model.types import TopicPartition

Counts = dict[str, int]
Topics = dict[str, tuple[str, ...]]
Assigned = dict[str, list[TopicPartition]]
Assign = Callable[[Mapping[str, int], Mapping[str, Subscription]], Assigned]

unhurried = settings(deadline=None)
"""The machine may be busy with other tests."""

NAMES = [f"t{number}" for number in range(6)]
MEMBERS = [f"m{number}" for number in range(9)]
RACKS = ["a", "b", "c"]
CLIENT: list[Assign] = [range_assignor.assign, round_robin.assign, sticky.assign, cooperative_sticky.assign]


counts_of = st.dictionaries(st.sampled_from(NAMES), st.integers(1, 12), min_size=1)
subscription = st.lists(st.sampled_from(NAMES), unique=True).map(tuple)
unequal = st.dictionaries(st.sampled_from(MEMBERS), subscription, min_size=1)
equal = st.builds(
    lambda members, topics: dict.fromkeys(sorted(members), topics),
    st.sets(st.sampled_from(MEMBERS), min_size=1),
    subscription,
)
claimed = st.lists(
    st.builds(TopicPartition, st.sampled_from(NAMES), st.integers(-1, 13)), max_size=12, unique=True
).map(tuple)


@st.composite
def groups_with_claims(draw: st.DrawFn) -> dict[str, Subscription]:
    """Members that say anything: stale, contradicting and impossible claims, static names, racks."""
    topics: Topics = draw(st.one_of(equal, unequal))
    members = {}
    for member_id, subscribed in topics.items():
        owned, generation = draw(claimed), draw(st.integers(-1, 3))
        members[member_id] = Subscription(
            subscribed,
            owned=owned,
            generation=generation,
            rack=draw(st.sampled_from([None, "", *RACKS])),
            group_instance_id=draw(st.sampled_from([None, f"static-{member_id}"])),
            user_data=draw(
                st.sampled_from([None, encode_previous_assignment(owned, generation), b"\x00junk"])
            ),
        )
    return members


def fresh(topics: Topics) -> dict[str, Subscription]:
    return {member_id: Subscription(subscribed) for member_id, subscribed in topics.items()}


def joined_again(topics: Topics, before: Assigned, generation: int = 1) -> dict[str, Subscription]:
    return {
        member_id: Subscription(
            subscribed,
            owned=tuple(before.get(member_id, ())),
            generation=generation,
            user_data=encode_previous_assignment(before.get(member_id, ()), generation),
        )
        for member_id, subscribed in topics.items()
    }


def wanted(counts: Counts, topics: Topics) -> set[TopicPartition]:
    subscribed = {topic for each in topics.values() for topic in each}
    return {
        TopicPartition(topic, number)
        for topic, count in counts.items()
        if topic in subscribed
        for number in range(count)
    }


def topics_of(members: Mapping[str, Subscription]) -> Topics:
    return {member_id: member.topics for member_id, member in members.items()}


def check_owners(counts: Counts, topics: Topics, result: Assigned, *, complete: bool = True) -> None:
    assert set(result) == set(topics)
    everything = [partition for owned in result.values() for partition in owned]
    assert len(everything) == len(set(everything)), "two owners"
    for member_id, owned in result.items():
        assert {partition.topic for partition in owned} <= set(topics[member_id])
    if complete:
        assert set(everything) == wanted(counts, topics)
    else:
        assert set(everything) <= wanted(counts, topics)


def check_nobody_could_take_more(topics: Topics, result: Assigned) -> None:
    """KIP-54: no member could take a partition from another that has two or more above it."""
    for owned in result.values():
        for topic in {partition.topic for partition in owned}:
            for reader, read in topics.items():
                if topic in read:
                    assert len(result[reader]) + 2 > len(owned)


def spread(result: Assigned) -> int:
    sizes = [len(owned) for owned in result.values()]
    return max(sizes) - min(sizes)


def moved(before: Assigned, after: Assigned) -> int:
    return sum(len(set(owned).difference(before.get(member_id, ()))) for member_id, owned in after.items())


def lost(before: Assigned, after: Assigned) -> int:
    """How many partitions members had to give up that are still there."""
    return sum(len(set(before.get(member_id, ())).difference(owned)) for member_id, owned in after.items())


# All assignors of the client.


@unhurried
@given(
    counts_of, groups_with_claims(), st.dictionaries(st.sampled_from(NAMES), st.sets(st.sampled_from(RACKS)))
)
def test_every_partition_has_exactly_one_owner_that_subscribed_to_it(
    counts: Counts, members: dict[str, Subscription], racks_of: dict[str, set[str]]
) -> None:
    topics = topics_of(members)
    racks = {
        TopicPartition(topic, number): {RACKS[(number + len(rack)) % 3] for rack in racks} | racks
        for topic, racks in racks_of.items()
        for number in range(counts.get(topic, 0))
        if number % 3
    }
    for given_racks in (None, racks):
        check_owners(counts, topics, range_assignor.assign(counts, members, given_racks))
        check_owners(counts, topics, sticky.assign(counts, members, given_racks))
        cooperative = cooperative_sticky.assign(counts, members, given_racks)
        check_owners(counts, topics, cooperative, complete=False)
    check_owners(counts, topics, round_robin.assign(counts, members))


@unhurried
@given(counts_of, groups_with_claims())
def test_the_order_of_the_mappings_does_not_matter(counts: Counts, members: dict[str, Subscription]) -> None:
    turned = dict(reversed(members.items()))
    for assign in CLIENT:
        assert assign(counts, members) == assign(dict(reversed(counts.items())), turned)


@unhurried
@given(counts_of, unequal)
def test_range_gives_each_subscriber_of_a_topic_the_same_number_give_or_take_one(
    counts: Counts, topics: Topics
) -> None:
    result = range_assignor.assign(counts, fresh(topics))
    for topic in counts:
        sizes = [
            sum(partition.topic == topic for partition in result[member_id])
            for member_id, read in topics.items()
            if topic in read
        ]
        assert not sizes or max(sizes) - min(sizes) <= 1


@unhurried
@given(st.integers(1, 12), equal)
def test_range_co_partitions_topics_of_equal_counts(count: int, topics: Topics) -> None:
    result = range_assignor.assign(dict.fromkeys(NAMES, count), fresh(topics))
    for member_id, owned in result.items():
        numbers = [{each.partition for each in owned if each.topic == topic} for topic in topics[member_id]]
        assert all(each == numbers[0] for each in numbers)


@unhurried
@given(counts_of, equal)
def test_equal_subscriptions_get_equal_numbers_give_or_take_one(counts: Counts, topics: Topics) -> None:
    for assign in (round_robin.assign, sticky.assign, cooperative_sticky.assign):
        assert spread(assign(counts, fresh(topics))) <= 1


# Sticky and cooperative-sticky.


@unhurried
@given(counts_of, groups_with_claims())
def test_sticky_leaves_no_member_that_could_take_from_one_with_two_more(
    counts: Counts, members: dict[str, Subscription]
) -> None:
    plain = {
        member_id: Subscription(member.topics, user_data=member.user_data)
        for member_id, member in members.items()
    }
    check_nobody_could_take_more(topics_of(members), sticky.assign(counts, plain))


@unhurried
@given(counts_of, st.one_of(equal, unequal))
def test_nothing_moves_in_a_group_that_did_not_change(counts: Counts, topics: Topics) -> None:
    before = sticky.assign(counts, fresh(topics))
    for assign in (sticky.assign, cooperative_sticky.assign):
        after = assign(counts, joined_again(topics, before))
        assert as_sets(after) == as_sets(before)


@unhurried
@given(counts_of, equal, st.data())
def test_a_member_that_leaves_equals_moves_only_its_own(
    counts: Counts, topics: Topics, data: st.DataObject
) -> None:
    before = sticky.assign(counts, fresh(topics))
    gone = data.draw(st.sampled_from(sorted(topics)))
    left = {member_id: read for member_id, read in topics.items() if member_id != gone}
    for assign in (sticky.assign, cooperative_sticky.assign) if left else ():
        after = assign(counts, joined_again(left, before))
        assert lost(before, after) == 0
        assert moved(before, after) == len(before[gone])


@unhurried
@given(counts_of, equal)
def test_a_member_that_joins_equals_only_takes(counts: Counts, topics: Topics) -> None:
    before = sticky.assign(counts, fresh(topics))
    more = {**topics, "0-first-in-order": next(iter(topics.values()))}
    after = sticky.assign(counts, joined_again(more, before))
    assert moved(before, after) == lost(before, after) == len(after["0-first-in-order"])


def cooperative_rounds(counts: Counts, topics: Topics, before: Assigned) -> list[Assigned]:
    """KIP-429: members keep what stays, revoke what a round left out and join again until nothing changes."""
    rounds = [{member_id: before.get(member_id, []) for member_id in topics}]
    while len(rounds) < 3 or as_sets(rounds[-1]) != as_sets(rounds[-2]):
        owned = rounds[-1]
        result = cooperative_sticky.assign(counts, joined_again(topics, owned, generation=len(rounds)))
        check_owners(counts, topics, result, complete=False)
        for member_id, partitions in result.items():
            others = {each for other, had in owned.items() if other != member_id for each in had}
            assert others.isdisjoint(partitions), "given out before its owner let go"
        rounds.append(result)
        assert len(rounds) < 10, "the rounds do not end"
    return rounds[1:]


def as_sets(result: Assigned) -> dict[str, set[TopicPartition]]:
    return {member_id: set(owned) for member_id, owned in result.items()}


@unhurried
@given(counts_of, st.one_of(equal, unequal), equal)
def test_two_cooperative_rounds_are_enough_for_equals(
    counts: Counts, topics_before: Topics, topics: Topics
) -> None:
    rounds = cooperative_rounds(counts, topics, sticky.assign(counts, fresh(topics_before)))
    check_owners(counts, topics, rounds[1])
    assert spread(rounds[1]) <= 1
    assert as_sets(rounds[-1]) == as_sets(rounds[1])


@unhurried
@given(counts_of, st.one_of(equal, unequal), unequal)
def test_cooperative_rounds_end_with_a_balanced_group_and_never_have_two_owners(
    counts: Counts, topics_before: Topics, topics: Topics
) -> None:
    """With unequal subscriptions the second round sees another state and may move more, in Kafka as well."""
    rounds = cooperative_rounds(counts, topics, sticky.assign(counts, fresh(topics_before)))
    check_owners(counts, topics, rounds[-1])
    check_nobody_could_take_more(topics, rounds[-1])


@unhurried
@given(st.binary(max_size=80))
def test_any_user_data_is_read_without_an_error(data: bytes) -> None:
    decode_previous_assignment(data)


@unhurried
@given(claimed, st.integers(-1, 2**31 - 1))
def test_a_previous_assignment_is_read_as_it_was_written(
    owned: tuple[TopicPartition, ...], generation: int
) -> None:
    read = decode_previous_assignment(encode_previous_assignment(owned, generation))
    assert read == (tuple(sorted(owned)), generation)


# The coordinator's assignors.


def topic_id(topic: str) -> bytes:
    return topic.encode().ljust(16, b"\x00")


def spec_of(counts: Counts, topics: Topics, owned: Assigned | None = None) -> GroupSpec:
    members = {}
    for member_id, read in topics.items():
        mine: dict[bytes, set[int]] = {}
        for topic, number in (owned or {}).get(member_id, ()):
            mine.setdefault(topic_id(topic), set()).add(number)
        members[member_id] = MemberSpec(
            None,
            None,
            frozenset(map(topic_id, read)),
            {topic: frozenset(each) for topic, each in mine.items()},
        )
    return GroupSpec(members, {topic_id(topic): count for topic, count in counts.items()})


def flat(result: Assignment) -> Assigned:
    assert all(numbers for owned in result.values() for numbers in owned.values()), "an empty set"
    return {
        member_id: [
            TopicPartition(topic.rstrip(b"\x00").decode(), number)
            for topic, numbers in owned.items()
            for number in numbers
        ]
        for member_id, owned in result.items()
    }


owned_anyhow = st.dictionaries(st.sampled_from(MEMBERS), claimed.map(list))


@unhurried
@given(counts_of, st.one_of(equal, unequal), owned_anyhow)
def test_the_coordinator_s_assignors_give_every_partition_one_owner_that_subscribed(
    counts: Counts, topics: Topics, owned: Assigned
) -> None:
    spec = spec_of(counts, topics, owned)
    check_owners(counts, topics, flat(server_range.assign(spec)))
    result = flat(uniform.assign(spec))
    check_owners(counts, topics, result)
    check_nobody_could_take_more(topics, result)
    if len({frozenset(read) for read in topics.values()}) == 1:
        assert spread(result) <= 1


@unhurried
@given(counts_of, unequal)
def test_the_coordinator_s_range_is_the_client_s(counts: Counts, topics: Topics) -> None:
    ours = flat(server_range.assign(spec_of(counts, topics)))
    assert {each: sorted(owned) for each, owned in ours.items()} == range_assignor.assign(
        counts, fresh(topics)
    )


@unhurried
@given(counts_of, st.one_of(equal, unequal))
def test_uniform_moves_nothing_in_a_group_that_did_not_change(counts: Counts, topics: Topics) -> None:
    before = uniform.assign(spec_of(counts, topics))
    assert uniform.assign(spec_of(counts, topics, flat(before))) == before


@unhurried
@given(counts_of, equal, st.data())
def test_uniform_moves_only_what_a_leaving_member_had(
    counts: Counts, topics: Topics, data: st.DataObject
) -> None:
    before = flat(uniform.assign(spec_of(counts, topics)))
    gone = data.draw(st.sampled_from(sorted(topics)))
    left = {member_id: read for member_id, read in topics.items() if member_id != gone}
    after = flat(uniform.assign(spec_of(counts, left, before)))
    assert lost(before, after) == 0


@unhurried
@given(counts_of, equal)
def test_uniform_gives_to_a_joining_member_and_to_nobody_else(counts: Counts, topics: Topics) -> None:
    before = flat(uniform.assign(spec_of(counts, topics)))
    more = {**topics, "0-first-in-order": next(iter(topics.values()))}
    after = flat(uniform.assign(spec_of(counts, more, before)))
    assert moved(before, after) == lost(before, after) == len(after["0-first-in-order"])


@unhurried
@given(counts_of, equal, owned_anyhow)
def test_uniform_moves_the_fewest_partitions_that_balance_allows(
    counts: Counts, topics: Topics, owned: Assigned
) -> None:
    """Each keeps all that it validly had up to its share; greater shares go where they save a move."""
    taken: set[TopicPartition] = set()
    valid: Assigned = {}
    for member_id in sorted(topics):
        mine = set(owned.get(member_id, ())) & wanted(counts, topics) - taken
        valid[member_id] = sorted(mine)
        taken |= mine
    result = flat(uniform.assign(spec_of(counts, topics, owned)))
    quotient, remainder = divmod(len(wanted(counts, topics)), len(topics))
    above = sum(len(mine) > quotient for mine in valid.values())
    kept = sum(min(len(mine), quotient) for mine in valid.values()) + min(above, remainder)
    assert sum(len(set(mine) & set(result[member_id])) for member_id, mine in valid.items()) == kept
