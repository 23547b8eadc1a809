"""Nonsense in the log, bugs of ours, and requests about more than fits into a turn: each costs as little as
it can, and nobody else pays.
"""

from __future__ import annotations

from typing import Any

import pytest
from broker_bench import produce_request
from group_bench import (
    ADMIN_CLIENT_ID,
    OFFSETS_TOPIC,
    GroupBench,
    find_request,
    fitted,
    join_request,
)

from ottla.coordination.outcome import Job, Outcome
from ottla.coordination.record import CoordinatorRecord
from ottla.groups.shard import Shard
from ottla.model.errors import ErrorCode
from ottla.wire.framing import encode_coordinator_key, encode_coordinator_value
from ottla.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from ottla.wire.messages.consumer_offsets import GroupMetadataKey, GroupMetadataValue, MemberMetadata
from ottla.wire.messages.delete_groups import DeleteGroupsRequest
from ottla.wire.messages.describe_groups import DescribeGroupsRequest
from ottla.wire.record_batch import Record, encode_batch


@pytest.fixture
def bench() -> GroupBench:
    return GroupBench()


def fill_disk(bench: GroupBench) -> None:
    bench.disk.capacity_bytes = bench.disk.used_bytes()


def members(*ids: tuple[str, str | None]) -> list[MemberMetadata]:
    return [
        MemberMetadata(
            member_id=member_id,
            group_instance_id=instance,
            session_timeout=10_000,
            rebalance_timeout=10_000,
        )
        for member_id, instance in ids
    ]


@pytest.mark.parametrize(
    "value",
    [
        GroupMetadataValue(protocol="range", leader="a", members=members(("a", "i"), ("b", "i"))),
        GroupMetadataValue(protocol="range", leader="a", members=members(("a", None), ("a", None))),
        GroupMetadataValue(protocol="range", leader="gone", members=members(("a", None))),
        GroupMetadataValue(protocol="", leader=None, members=members(("", None))),
    ],
)
def test_a_record_that_decodes_and_makes_no_sense_is_skipped(
    bench: GroupBench, value: GroupMetadataValue
) -> None:
    key = encode_coordinator_key(GroupMetadataKey(group="odd"))
    batch = encode_batch([Record(0, bench.clock.now_ms(), key, encode_coordinator_value(value, 3))])
    peer = bench.connect(client_id=ADMIN_CLIENT_ID)
    bench.call(produce_request(OFFSETS_TOPIC, batch), 12, peer=peer)
    bench.commit("g", {("events", 0): 1})
    bench.restart()
    bench.loaded()
    assert bench.fatal_errors == []
    assert bench.committed("g") == {("events", 0): 1}
    bench.scheduler.run_for(30_000)
    assert bench.fatal_errors == [] and bench.node.groups.faults == []


def test_a_bug_that_meets_every_load_does_not_spin(
    bench: GroupBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.commit("g", {("events", 0): 1})
    loads: list[int] = []

    def broken(self: Shard) -> Outcome:
        loads.append(1)
        if len(loads) > 200:
            return Outcome()  # so that this test ends
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(Shard, "loaded", broken)
    bench.restart()
    bench.scheduler.run_for(1_000)
    assert len(loads) < 20
    assert len(bench.node.groups.faults) < 20


def test_a_bug_in_the_replay_of_a_jobs_records_costs_the_shard_and_not_the_broker(
    bench: GroupBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Shard, record: CoordinatorRecord) -> None:
        raise ZeroDivisionError("a bug")

    def job() -> Job:
        yield
        outcome = Outcome()
        outcome.records.append(CoordinatorRecord(GroupMetadataKey(group="x"), None))
        return outcome

    def decision(_: Shard) -> Outcome:
        outcome = Outcome()
        outcome.jobs.append(job())
        return outcome

    with monkeypatch.context() as patch:
        patch.setattr(Shard, "replay", broken)
        bench.host.decide(decision)
        bench.settle()
    assert bench.fatal_errors == []
    assert len(bench.node.groups.faults) == 1


def test_a_bug_in_writing_gives_the_shard_up(bench: GroupBench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Soft state has run ahead of the log just as with a full disk."""
    host = bench.host

    def broken(self: Any) -> bytes:
        raise ZeroDivisionError("a bug")

    with monkeypatch.context() as patch:
        patch.setattr(CoordinatorRecord, "key_bytes", broken)
        bench.connect().send(join_request("g"), 9)
        bench.settle()
    assert host.over and len(bench.node.groups.faults) == 1
    bench.loaded()
    assert bench.listed() == {}


@pytest.mark.parametrize("kind", ["describe", "describe newer", "delete", "find"])
def test_a_request_about_many_groups_goes_in_turns(bench: GroupBench, kind: str) -> None:
    """4 MB hold a million names: the loop must be free in between."""
    names = [f"group-{number}" for number in range(20_000)]
    request: Any = {
        "describe": DescribeGroupsRequest(groups=names),
        "describe newer": ConsumerGroupDescribeRequest(group_ids=names),
        "delete": DeleteGroupsRequest(groups_names=names),
        "find": fitted(find_request(*names), 4),
    }[kind]
    peer = bench.connect()
    peer.send(request, 4 if kind == "find" else None)
    assert peer.replies == [], "answered within the turn in which it came"


def test_a_group_with_many_offsets_can_be_deleted(bench: GroupBench) -> None:
    """Its tombstones are more than one batch may hold."""
    for topic in range(10):
        bench.create(f"wide-{topic}" + "x" * 150, 1000)
        offsets = {(f"wide-{topic}" + "x" * 150, index): 1 for index in range(1000)}
        bench.commit("g", offsets)
    (result,) = bench.call(DeleteGroupsRequest(groups_names=["g"])).results
    assert result.error_code == 0
    assert bench.listed() == {}


def test_the_shards_hear_of_a_deleted_topic_in_turns() -> None:
    bench = GroupBench({"offsets.topic.num.partitions": "20"})
    bench.create("doomed", 100)
    for number in range(60):
        bench.commit(f"group-{number}", {("doomed", index): 1 for index in range(100)})
    written: list[int] = []
    guard = bench.driver.guard

    def total() -> int:
        return sum(bench.log(OFFSETS_TOPIC, index).log_end_offset for index in range(20))

    def turn(action: Any) -> None:
        before = total()
        guard(action)
        written.append(total() - before)

    bench.driver.guard = turn  # type: ignore[method-assign]
    bench.delete("doomed")
    bench.scheduler.run_for(1_000)
    assert sum(written) == 6000
    assert max(written) <= 400


def test_a_group_that_was_refused_at_once_leaves_nothing(
    bench: GroupBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ottla.groups.classic import join

    monkeypatch.setattr(join, "GROUP_METADATA_BYTES_MAX", 100)
    answer = bench.call(join_request("g", protocols={"range": bytes(101)}), 9)
    assert answer.error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert bench.listed() == {}
