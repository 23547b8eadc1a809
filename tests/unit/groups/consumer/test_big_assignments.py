"""Targets that take long are computed as jobs, while the group goes on with the old one."""

from __future__ import annotations

import pytest

from ottla.groups.consumer import target
from ottla.groups.consumer.group import ASSIGNING, STABLE
from ottla.groups.consumer.member import STATIC_LEAVE_EPOCH
from ottla.groups.group import Client
from ottla.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
from support.classic_group import Reply
from support.consumer_group import Consumer, World, settle


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """No assignment is finished at once."""
    monkeypatch.setattr(target, "try_now", lambda steps, steps_max: (False, None))


def test_a_really_big_group_is_assigned_by_a_job() -> None:
    world = World({"a": 2_000}, check_every_event=False)
    members = [Consumer(world, f"m{number:04}", "a") for number in range(600)]
    for member in members:
        member.beat()
    assert world.jobs
    world.work()
    settle(*members, rounds=4)
    world.check()
    assert world.group.state_name == STABLE
    assert sum(len(member.reads["a"]) for member in members) == 2_000


@pytest.mark.usefixtures("slow")
def test_the_first_member_waits_in_epoch_1_and_is_no_joining_member_any_more(world: World) -> None:
    member = Consumer(world, "m1", "a")
    response = member.beat()
    assert (response.member_epoch, response.assignment.topic_partitions) == (1, [])
    assert (world.group.epoch, world.group.assignment_epoch, world.group.state_name) == (2, 1, ASSIGNING)
    world.work(1)
    assert member.beat().error_code == 0
    assert len(world.jobs) == 1
    world.work()
    member.beat()
    assert (member.epoch, member.reads) == (2, {"a": [0, 1, 2, 3, 4, 5]})


@pytest.mark.usefixtures("slow")
def test_one_computation_runs_at_a_time_and_an_aged_one_still_counts(world: World) -> None:
    first, second = Consumer(world, "m1", "a"), Consumer(world, "m2", "a")
    first.beat()
    world.work(1)
    second.beat()
    assert len(world.jobs) == 1
    assert world.group.epoch == 3
    world.work()
    assert world.group.assignment_epoch == 2
    first.beat()
    assert first.reads == {"a": [0, 1, 2, 3, 4, 5]}
    settle(first, second)
    assert (first.reads, second.reads) == ({"a": [0, 1, 2]}, {"a": [3, 4, 5]})


@pytest.mark.usefixtures("slow")
def test_members_that_left_meanwhile_get_no_target(world: World) -> None:
    first, second = Consumer(world, "m1", "a"), Consumer(world, "m2", "a")
    settle(first)
    second.beat()
    first.leave()
    world.work()
    assert list(world.group.targets) == ["m2"]
    settle(second)
    assert second.reads == {"a": [0, 1, 2, 3, 4, 5]}


@pytest.mark.usefixtures("slow")
def test_a_static_member_that_returned_meanwhile_inherits_the_target(world: World) -> None:
    static, other = Consumer(world, "m1", "a", instance="i1"), Consumer(world, "m2", "a")
    settle(static)
    other.beat()
    static.leave(STATIC_LEAVE_EPOCH)
    back = Consumer(world, "m3", "a", instance="i1")
    back.beat()
    world.work()
    assert world.named(world.group.targets["m3"]) == {"a": [0, 1, 2]}
    settle(back, other)
    assert (back.reads, other.reads) == ({"a": [0, 1, 2]}, {"a": [3, 4, 5]})


@pytest.mark.usefixtures("slow")
def test_a_topic_deleted_or_unsubscribed_meanwhile_is_not_handed_out(world: World) -> None:
    first, second = Consumer(world, "m1", "a", "b"), Consumer(world, "m2", "a", "b")
    first.beat()
    second.beat()
    world.delete("b")
    second.subscribe("b")
    second.beat()
    world.work()
    settle(first, second)
    assert (first.reads, second.reads) == ({"a": [0, 1, 2, 3, 4, 5]}, {})


@pytest.mark.usefixtures("slow")
def test_a_restart_in_the_middle_computes_again(world: World) -> None:
    member = Consumer(world, "m1", "a")
    member.beat()
    world = member.world = world.restart()
    assert world.jobs == []
    settle(member)
    assert member.reads == {"a": [0, 1, 2, 3, 4, 5]}


@pytest.mark.usefixtures("slow")
def test_of_computations_that_were_asked_for_together_the_first_counts(world: World) -> None:
    first, second = Consumer(world, "m1", "a"), Consumer(world, "m2", "a")
    first.beat()
    second.beat()
    assert len(world.jobs) == 2  # none had begun
    world.work()
    assert world.group.assignment_epoch == 2
    settle(first, second)
    assert (first.reads, second.reads) == ({"a": [0, 1, 2]}, {"a": [3, 4, 5]})


@pytest.mark.usefixtures("slow")
def test_a_computation_whose_records_were_never_written_holds_nobody_up(world: World) -> None:
    """The shell drops the jobs of an outcome that it could not append."""
    member = Consumer(world, "m1", "a")
    reply: Reply[ConsumerGroupHeartbeatResponse] = Reply(ConsumerGroupHeartbeatResponse, 1)
    outcome = world.consumer.heartbeat(member.request(), Client("client", "/127.0.0.1", 1), reply)
    assert outcome.jobs
    assert not outcome.soft_changed
    settle(member)
    assert member.reads == {"a": [0, 1, 2, 3, 4, 5]}
