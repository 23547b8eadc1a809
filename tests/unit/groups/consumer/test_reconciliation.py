"""How members get to their targets: revoke first, assign when released, one owner at any time (KIP-848)."""

from __future__ import annotations

from ottla.groups.consumer.group import ASSIGNING, EMPTY, RECONCILING, STABLE
from ottla.groups.consumer.member import ConsumerMember, MemberState
from ottla.groups.consumer.reconcile import reconcile
from ottla.groups.consumer.records import current_record
from ottla.model.errors import ErrorCode
from support.consumer_group import Consumer, World, settle


def test_the_first_member_gets_everything_with_its_first_heartbeat(world: World) -> None:
    member = Consumer(world, "m1", "a", "b")
    response = member.beat()
    assert response.member_epoch == 1
    assert response.heartbeat_interval_ms == 5_000
    assert member.reads == {"a": [0, 1, 2, 3, 4, 5], "b": [0, 1, 2]}
    assert world.group.state_name == STABLE


def test_a_partition_is_given_away_only_when_its_owner_has_let_go(world: World) -> None:
    first, second = Consumer(world, "m1", "a"), Consumer(world, "m2", "a")
    first.beat()
    response = second.beat()
    assert (response.member_epoch, response.assignment.topic_partitions) == (2, [])
    assert second.state.state is MemberState.UNRELEASED_PARTITIONS
    assert world.group.state_name == RECONCILING

    response = first.beat(adopt=False)
    assert response.member_epoch == 1
    assert first.state.state is MemberState.UNREVOKED_PARTITIONS
    assert world.named(first.state.pending_revocation) == {"a": [3, 4, 5]}
    assert first.beat(adopt=False).assignment is None
    assert second.beat().assignment is None  # nothing has changed for it

    first.adopt()
    response = first.beat()
    assert response.member_epoch == 2
    assert first.state.state is MemberState.STABLE
    second.beat()
    assert (first.reads, second.reads) == ({"a": [0, 1, 2]}, {"a": [3, 4, 5]})
    assert world.group.state_name == STABLE


def test_the_assignment_is_sent_when_it_has_changed_and_on_a_full_request(world: World) -> None:
    member = Consumer(world, "m1", "a")
    assert member.beat().assignment is not None
    member.beat()
    assert member.beat().assignment is None
    assert member.beat(full=True).assignment is not None


def test_a_heartbeat_without_news_writes_nothing(world: World) -> None:
    member = Consumer(world, "m1", "a")
    settle(member)
    assert world.records_of(member.beat) == []


def test_a_member_that_does_not_let_go_is_fenced_after_its_rebalance_timeout(world: World) -> None:
    first, second = Consumer(world, "m1", "a", rebalance_ms=10_000), Consumer(world, "m2", "a")
    first.beat()
    second.beat()
    first.beat(adopt=False)
    world.advance(9_999)
    assert first.beat(adopt=False).error_code == 0
    world.advance(1)
    assert "m1" not in world.group.members
    assert first.beat().error_code == ErrorCode.UNKNOWN_MEMBER_ID
    settle(second)
    assert second.reads == {"a": [0, 1, 2, 3, 4, 5]}


def test_a_member_that_lets_go_in_time_is_not_fenced_later(world: World) -> None:
    first, second = Consumer(world, "m1", "a", rebalance_ms=10_000), Consumer(world, "m2", "a")
    first.beat()
    second.beat()
    first.beat()
    first.beat()
    world.advance(20_000)
    assert first.beat().error_code == 0


def test_a_silent_member_is_out_after_its_session(world: World) -> None:
    first, second = Consumer(world, "m1", "a"), Consumer(world, "m2", "a")
    settle(first, second)
    world.advance(30_000)
    second.beat()
    world.advance(15_000)
    assert list(world.group.members) == ["m2"]
    settle(second)
    assert second.reads == {"a": [0, 1, 2, 3, 4, 5]}


def test_a_group_may_have_its_own_session_timeout_and_heartbeat_interval(world: World) -> None:
    world.configs = {"consumer.session.timeout.ms": 50_000, "consumer.heartbeat.interval.ms": 7_000}
    member = Consumer(world, "m1", "a")
    assert member.beat().heartbeat_interval_ms == 7_000
    world.advance(49_999)
    assert "m1" in world.group.members
    world.advance(1)
    assert world.group.is_empty


def test_an_expiry_that_could_not_be_written_is_tried_again(world: World) -> None:
    member = Consumer(world, "m1", "a")
    settle(member)
    world.clock.ms += 45_000
    action = world.state.timers.pop_due(world.clock.ms)
    assert action is not None
    assert action().records  # and nobody writes them
    world.advance(500)
    assert world.group.is_empty
    assert len(world.state.timers) == 0


def test_leaving_bumps_the_epoch_and_frees_the_partitions(world: World) -> None:
    first, second = Consumer(world, "m1", "a"), Consumer(world, "m2", "a")
    settle(first, second)
    records = world.records_of(lambda: first.leave())
    assert [(type(r.key).__name__, r.value is None) for r in records] == [
        ("ConsumerGroupCurrentMemberAssignmentKey", True),
        ("ConsumerGroupTargetAssignmentMemberKey", True),
        ("ConsumerGroupMemberMetadataKey", True),
        ("ConsumerGroupMetadataKey", False),
    ]
    assert world.group.epoch == 3
    assert world.group.state_name == ASSIGNING
    second.beat()
    assert second.reads == {"a": [0, 1, 2, 3, 4, 5]}
    assert second.leave().member_epoch == -1
    assert world.group.state_name == EMPTY
    assert len(world.state.timers) == 0


def test_a_join_is_written_in_kafkas_order(world: World) -> None:
    records = world.records_of(Consumer(world, "m1", "a").beat)
    assert [type(r.key).__name__ for r in records] == [
        "ConsumerGroupMemberMetadataKey",
        "ConsumerGroupMetadataKey",
        "ConsumerGroupTargetAssignmentMemberKey",
        "ConsumerGroupTargetAssignmentMetadataKey",
        "ConsumerGroupCurrentMemberAssignmentKey",
    ]


def test_a_topic_that_a_member_no_longer_reads_is_taken_away_at_once(world: World) -> None:
    member = Consumer(world, "m1", "a", "b")
    settle(member)
    member.subscribe("b")
    response = member.beat(adopt=False)
    assert world.named({t.topic_id: t.partitions for t in response.assignment.topic_partitions}) == {
        "b": [0, 1, 2]
    }
    assert world.named(member.state.pending_revocation) == {"a": [0, 1, 2, 3, 4, 5]}
    member.adopt()
    settle(member)
    assert world.group.state_name == STABLE


def test_the_majority_chooses_the_assignor(world: World) -> None:
    members = [Consumer(world, f"m{n}", "a", "b", assignor="range") for n in (1, 2)]
    settle(*members)
    assert world.describe().assignor_name == "range"
    assert [member.reads for member in members] == [
        {"a": [0, 1, 2], "b": [0, 1]},
        {"a": [3, 4, 5], "b": [2]},
    ]


def test_describe_shows_what_is_and_what_shall_be(world: World) -> None:
    first, second = Consumer(world, "m1", "a", rack="r1"), Consumer(world, "m2", "a", instance="i2")
    first.beat()
    second.beat()
    described = world.describe()
    assert (described.group_state, described.group_epoch, described.assignment_epoch) == ("Reconciling", 2, 2)
    one, two = described.members
    assert (one.member_id, one.rack_id, one.member_epoch, one.member_type) == ("m1", "r1", 1, 1)
    assert [(t.topic_name, t.partitions) for t in one.assignment.topic_partitions] == [
        ("a", [0, 1, 2, 3, 4, 5])
    ]
    assert [(t.topic_name, t.partitions) for t in one.target_assignment.topic_partitions] == [
        ("a", [0, 1, 2])
    ]
    assert (two.instance_id, two.subscribed_topic_names, two.client_host) == ("i2", ["a"], "/127.0.0.1")


def test_a_member_in_a_state_of_a_newer_version_starts_over_with_empty_hands() -> None:
    world = World({"a": 6}, check_every_event=False)  # the record below is nobody's decision
    member = Consumer(world, "m1", "a")
    settle(member)
    record = current_record("g", member.state)
    record.value.state = 9
    world.consumer.replay(record)
    assert member.state.state is MemberState.UNKNOWN
    assert member.beat().error_code == ErrorCode.FENCED_MEMBER_EPOCH
    assert member.beat().error_code == 0
    assert member.state.state is MemberState.STABLE


T = b"t" * 16


def step(
    member: ConsumerMember, target: set[int], owned: set[int] | None, held: dict[int, str]
) -> ConsumerMember:
    return reconcile(
        member,
        target_epoch=5,
        target={T: frozenset(target)} if target else {},
        owned=None if owned is None else ({T: frozenset(owned)} if owned else {}),
        subscription_changed=False,
        is_subscribed=lambda topic_id: True,
        owners={T: held},
    )


def test_revoking_comes_before_assigning() -> None:
    member = ConsumerMember("m", epoch=4, assigned={T: frozenset({0, 1})})
    after = step(member, {1, 2}, {0, 1}, {0: "m", 1: "m"})
    assert after.epoch == 4
    assert (after.assigned, after.pending_revocation) == ({T: frozenset({1})}, {T: frozenset({0})})
    assert after.state is MemberState.UNREVOKED_PARTITIONS


def test_a_member_that_says_it_owns_nothing_has_revoked_already() -> None:
    member = ConsumerMember("m", epoch=4, assigned={T: frozenset({0, 1})})
    after = step(member, {1, 2}, set(), {0: "m", 1: "m"})
    assert (after.epoch, after.previous_epoch) == (5, 4)
    assert after.assigned == {T: frozenset({1, 2})}


def test_what_others_hold_is_waited_for() -> None:
    member = ConsumerMember("m", epoch=4)
    after = step(member, {1, 2}, set(), {1: "other"})
    assert after.assigned == {T: frozenset({2})}
    assert after.state is MemberState.UNRELEASED_PARTITIONS
    again = step(after, {1, 2}, None, {2: "m"})
    assert again.assigned == {T: frozenset({1, 2})}
    assert again.state is MemberState.STABLE


def test_what_a_member_was_giving_up_it_may_have_back() -> None:
    member = ConsumerMember(
        "m",
        epoch=4,
        state=MemberState.UNREVOKED_PARTITIONS,
        assigned={T: frozenset({1})},
        pending_revocation={T: frozenset({0})},
    )
    assert step(member, {0, 1}, {0, 1}, {0: "m", 1: "m"}) is member
    assert step(member, {0, 1}, None, {0: "m", 1: "m"}) is member
    after = step(member, {0, 1}, {1}, {0: "m", 1: "m"})
    assert (after.assigned, after.state) == ({T: frozenset({0, 1})}, MemberState.STABLE)
