"""Decisions that are too large to be written, that could not be written, or that take many turns to write:
they cost whoever asked for them, and nobody else.
"""

from __future__ import annotations

import pytest
from group_bench import (
    GroupBench,
    consumer_request,
    leave_request,
    subscription,
    sync_request,
)

from ottla.groups.consumer.group import ConsumerGroup
from ottla.model.errors import ErrorCode


@pytest.fixture
def bench() -> GroupBench:
    return GroupBench()


def fill_disk(bench: GroupBench) -> None:
    bench.disk.capacity_bytes = bench.disk.used_bytes()


@pytest.mark.parametrize("also_regex", [False, True])
def test_a_request_whose_records_are_too_large_is_refused_and_the_shard_stays(
    bench: GroupBench, also_regex: bool
) -> None:
    """One ConsumerGroupHeartbeat with 1.1 MB of topic names and an expression."""
    member = bench.stable("other")
    host = bench.host
    names = [f"{number:05d}" + "n" * 240 for number in range(4500)]
    request = consumer_request("g", "me", topics=names, regex="e.*" if also_regex else None)
    assert bench.call(request).error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    bench.settle()
    assert not host.over, "one request of one client cost the whole shard"
    assert bench.beat(member) is ErrorCode.NONE


def test_an_upgrade_whose_records_are_too_large_is_refused_and_the_shard_stays(bench: GroupBench) -> None:
    """A classic group may have 64 MiB of metadata, since only the chosen protocol is written; the upgrade
    writes all protocols in one batch.
    """
    protocols = {"range": subscription("events"), "other": bytes(1_100_000)}
    member = bench.join("g", protocols=protocols)
    bench.call(sync_request("g", member.member_id, member.generation), 5)
    host = bench.host
    bench.call(consumer_request("g", "me"))
    bench.settle()
    assert not host.over, "one request of one client cost the whole shard"


def test_a_member_whose_expiry_could_not_be_written_expires_later(bench: GroupBench) -> None:
    """Kafka sets the timer again when the write fails."""
    bench.call(consumer_request("g", "dead"))
    fill_disk(bench)
    bench.scheduler.run_for(60_000)
    bench.disk.capacity_bytes = None
    bench.scheduler.run_for(120_000)
    assert bench.listed() == {"g": "Empty"}


def test_a_member_that_could_not_leave_still_has_a_session(bench: GroupBench) -> None:
    bench.call(consumer_request("g", "me"))
    fill_disk(bench)
    assert bench.call(consumer_request("g", "me", -1)).error_code == ErrorCode.NOT_COORDINATOR
    bench.disk.capacity_bytes = None
    bench.scheduler.run_for(120_000)
    assert bench.listed() == {"g": "Empty"}


def test_a_walk_over_many_offsets_of_a_deleted_topic_takes_many_turns(bench: GroupBench) -> None:
    bench.create("doomed", 1000)
    for number in range(40):
        bench.commit(f"group-{number}", {("doomed", index): 1 for index in range(1000)})
    bench.delete("doomed")
    bench.scheduler.run_for(5_000)
    assert bench.fatal_errors == []
    assert bench.node.groups.faults == []
    assert len(bench.host.shard.offsets.store) == 0


def test_many_expressions_over_many_topics_are_resolved(bench: GroupBench) -> None:
    """Each is written with all the names that it matches: together more than one batch may hold."""
    for number in range(300):
        bench.create(f"{number:03d}" + "t" * 240)
    for number in range(20):
        answer = bench.call(consumer_request("g", f"member-{number}", regex=f".*t{{1,{number + 2}}}"))
        assert answer.error_code == 0
    for _ in range(4):  # as many as fit into a batch at a time, and at most every ten seconds
        bench.scheduler.run_for(11_000)
        for number in range(20):
            bench.call(consumer_request("g", f"member-{number}", regex=f".*t{{1,{number + 2}}}"))
    bench.settle()
    group = bench.host.shard.state.groups["g"]
    assert isinstance(group, ConsumerGroup)
    assert {len(each.topics) for each in group.resolutions.values()} == {300}
    assert len(group.resolutions) == 20


def test_an_assignment_that_is_too_large_is_refused_and_the_group_goes_on(bench: GroupBench) -> None:
    """A leader's assignment that does not fit into the group's record."""
    member = bench.join("g")
    request = sync_request("g", member.member_id, member.generation, {member.member_id: bytes(1_100_000)})
    answer = bench.call(request, 5)
    assert answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    bench.call(leave_request("g", member.member_id), 5)
    assert bench.listed() == {"g": "Empty"}
    assert bench.node.groups.faults == []


def test_a_static_member_that_returns_under_its_own_id_has_a_session(bench: GroupBench) -> None:
    """It left with epoch -2 and comes back in the same process, whose id it keeps: the tombstone of what it
    was must not end the session of what it is.
    """
    bench.call(consumer_request("g", "me", instance="i"))
    assert bench.call(consumer_request("g", "me", -2, instance="i")).error_code == 0
    answer = bench.call(consumer_request("g", "me", instance="i"))
    assert (answer.error_code, answer.member_epoch) == (0, 1)
    bench.scheduler.run_for(120_000)
    assert bench.listed() == {"g": "Empty"}
