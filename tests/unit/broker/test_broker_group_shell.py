"""What the coordinator's shell sees to: answers that wait for the log, appends that fail, shards that are
given up, bugs that cost one shard and not the broker.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from group_bench import (
    GROUP_RESOURCE,
    OFFSETS_TOPIC,
    GroupBench,
    commit_request,
    consumer_request,
    fetch_offsets_request,
    find_request,
    fitted,
    join_request,
    leave_request,
    sync_request,
)

from ottla.broker.commit_pieces import PARTITIONS_PER_PIECE
from ottla.coordination.outcome import Job, Outcome
from ottla.coordination.partitioner import partition_of_key
from ottla.groups.offsets.offsets import Offsets
from ottla.groups.shard import Shard
from ottla.model.errors import ErrorCode
from ottla.replication.partition import Partition
from ottla.wire.messages.heartbeat import HeartbeatRequest
from ottla.wire.messages.list_groups import ListGroupsRequest
from ottla.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from ottla.wire.record_batch import iter_headers


@pytest.fixture
def bench() -> GroupBench:
    return GroupBench()


def fill_disk(bench: GroupBench) -> None:
    bench.disk.capacity_bytes = bench.disk.used_bytes()


def free_disk(bench: GroupBench) -> None:
    bench.disk.capacity_bytes = None


# --- FindCoordinator ----------------------------------------------------------------------------------------


def test_the_first_question_creates_the_offsets_topic_and_all_others_wait_for_it() -> None:
    """Kafka's defaults: 50 partitions, compacted, segments of 100 MiB, and the batches as they come."""
    bench = GroupBench.without_topic()
    peers = [bench.connect() for _ in range(5)]
    for peer in peers:
        peer.send(fitted(find_request("g"), 4), 4)
    bench.scheduler.run_until(lambda: all(peer.replies for peer in peers), within_ms=5000)
    for peer in peers:
        answer = bench.reply(find_request("g"), 1, 4, peer)
        assert [(each.error_code, each.node_id) for each in answer.coordinators] == [(0, 1)]
    assert len(bench.node.image.topics[OFFSETS_TOPIC].partitions) == 50
    config = bench.log(OFFSETS_TOPIC, 49).config
    assert config.segment_bytes == 104857600
    assert bench.node.image.config(2, OFFSETS_TOPIC)["cleanup.policy"] == "compact"
    assert sorted(bench.node.groups.hosts) == list(range(50))


def test_before_the_offsets_topic_exists_there_is_no_coordinator() -> None:
    bench = GroupBench.without_topic()
    answer = bench.call(join_request("g"), 9)
    assert answer.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert bench.call(ListGroupsRequest()).groups == []


def test_an_offsets_topic_that_cannot_be_made_is_tried_again_at_the_next_question() -> None:
    bench = GroupBench.without_topic()
    fill_disk(bench)
    (found,) = bench.call(find_request("g"), 4).coordinators
    assert found.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    free_disk(bench)
    (found,) = bench.call(find_request("g"), 4).coordinators
    assert found.error_code == 0


def test_groups_are_spread_over_the_shards_by_the_hash_of_their_id() -> None:
    """Java's hash of the id, modulo the partitions: other brokers and tools compute the same number."""
    bench = GroupBench({"offsets.topic.num.partitions": "7"})
    groups = [f"group-{number}" for number in range(30)]
    for group in groups:
        assert bench.commit(group, {("events", 0): 1}) == [ErrorCode.NONE]
    for index, host in bench.node.groups.hosts.items():
        assert set(host.shard.state.groups) == {g for g in groups if partition_of_key(g, 7) == index}
    assert bench.listed() == dict.fromkeys(groups, "Empty")


# --- answers wait for the log -------------------------------------------------------------------------------


class HeldFlush:
    """A flush of the offsets topic that ends when the test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.held: list[tuple[Any, int]] = []

        def flushed(partition: Any, upto: int) -> None:
            if partition.tp.topic == OFFSETS_TOPIC:
                self.held.append((partition, upto))
            else:
                original(partition, upto)

        original = self.original = Partition.flushed
        monkeypatch.setattr(Partition, "flushed", flushed)

    def release(self) -> None:
        held, self.held = self.held, []
        for partition, upto in held:
            self.original(partition, upto)


@pytest.fixture
def flushing() -> GroupBench:
    return GroupBench({"log.flush.interval.messages": "1"})


def test_a_commit_is_answered_after_its_flush(flushing: GroupBench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Decide, append, replay at once; but nobody is told before the record is below the high watermark."""
    held = HeldFlush(monkeypatch)
    flushing.peer.send(commit_request("g", {("events", 0): 7}), 9)
    flushing.settle()
    assert flushing.log(OFFSETS_TOPIC).log_end_offset == 1
    assert flushing.peer.answered[2:] == []
    held.release()
    flushing.settle()
    assert len(flushing.peer.replies) == 3


def test_a_read_waits_for_what_was_written_before_it(
    flushing: GroupBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An offset that could be lost with the next crash must not be seen: OffsetFetch, heartbeats and
    listings wait for the commit.
    """
    member = flushing.stable("other")
    held = HeldFlush(monkeypatch)
    readers = [flushing.connect() for _ in range(3)]
    flushing.peer.send(commit_request("g", {("events", 0): 7}), 9)
    readers[0].send(fetch_offsets_request("g"), 9)
    readers[1].send(ListGroupsRequest(), 4)
    readers[2].send(
        HeartbeatRequest(group_id="other", generation_id=member.generation, member_id=member.member_id), 4
    )
    flushing.settle()
    assert [each.replies for each in readers] == [[], [], []]
    held.release()
    flushing.settle()
    (group,) = flushing.reply(fetch_offsets_request("g"), 1, 9, readers[0]).groups
    assert group.topics[0].partitions[0].committed_offset == 7
    assert all(each.replies for each in readers)


def test_an_answer_whose_record_is_not_committed_in_time_is_a_refusal(
    flushing: GroupBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`offsets.commit.timeout.ms` (5 s by default)."""
    HeldFlush(monkeypatch)
    answer = flushing.call(commit_request("g", {("events", 0): 7}), 9, within_ms=5_100)
    assert answer.topics[0].partitions[0].error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE


def test_a_join_is_answered_after_the_groups_record_is_flushed(
    flushing: GroupBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    member = flushing.join("g")
    held = HeldFlush(monkeypatch)
    before = len(member.peer.replies)
    member.peer.send(sync_request("g", member.member_id, member.generation, {member.member_id: b"a"}), 5)
    flushing.settle()
    assert len(member.peer.replies) == before
    held.release()
    flushing.settle()
    assert len(member.peer.replies) == before + 1


@pytest.mark.parametrize("codec", range(5))
def test_records_are_written_with_the_compression_of_the_settings(codec: int) -> None:
    """`offsets.topic.compression.codec`: none, gzip, snappy, lz4, zstd."""
    bench = GroupBench({"offsets.topic.compression.codec": str(codec)})
    bench.commit("g", {("events", 0): 7})
    found = bench.log(OFFSETS_TOPIC).read(0, 1 << 20, upto_offset=1)
    data = found.slice.read()
    found.slice.release()
    assert [header.attributes & 7 for _, header in iter_headers(data, 0, len(data))] == [codec]
    bench.restart()
    bench.settle()
    assert bench.committed("g") == {("events", 0): 7}


# --- appends that fail --------------------------------------------------------------------------------------


def test_a_commit_that_cannot_be_written_is_refused_and_the_rest_goes_on(bench: GroupBench) -> None:
    """A full disk: Kafka's code for a client that should look for the coordinator again; nothing is kept of
    the commit, and the shard stays.
    """
    bench.commit("g", {("events", 0): 1})
    host = bench.host
    fill_disk(bench)
    assert bench.commit("g", {("events", 0): 2, ("events", 1): 2}) == [ErrorCode.NOT_COORDINATOR] * 2
    assert bench.committed("g") == {("events", 0): 1}
    free_disk(bench)
    assert bench.host is host
    assert bench.commit("g", {("events", 0): 3}) == [ErrorCode.NONE]
    assert bench.committed("g") == {("events", 0): 3}


def test_a_classic_decision_that_cannot_be_written_gives_the_shard_up(bench: GroupBench) -> None:
    """Soft state ran ahead of the log: everybody who waits looks for the coordinator again, and the next
    shard is what the log says.
    """
    old = bench.stable("g")
    bench.commit("g", {("events", 0): 5}, member_id=old.member_id, generation=old.generation)
    waiting = bench.connect()
    member_id = bench.member_id_for("g", peer=waiting)
    waiting.send(join_request("g", member_id), 9)  # waits for the old member to rejoin
    bench.settle()
    assert len(waiting.replies) == 1
    host = bench.host
    fill_disk(bench)
    refused = bench.call(join_request("h"), 9)  # has to write the new group
    assert refused.error_code == ErrorCode.NOT_COORDINATOR
    bench.settle()
    answer = bench.reply(join_request("g"), 2, 9, waiting)
    assert answer.error_code == ErrorCode.NOT_COORDINATOR
    free_disk(bench)
    bench.loaded()
    assert host.over and bench.host is not host
    assert bench.listed() == {"g": "Stable"}
    assert bench.committed("g") == {("events", 0): 5}
    assert bench.beat(old) is ErrorCode.NONE
    assert bench.node.groups.faults == []
    assert bench.fatal_errors == []


def test_a_consumer_group_decision_that_cannot_be_written_changes_nothing(bench: GroupBench) -> None:
    assert bench.call(consumer_request("g", "a")).member_epoch == 1
    fill_disk(bench)
    assert bench.call(consumer_request("g", "b")).error_code == ErrorCode.NOT_COORDINATOR
    assert bench.call(consumer_request("g", "a", 1)).error_code == 0
    free_disk(bench)
    answer = bench.call(consumer_request("g", "b"))
    assert (answer.error_code, answer.member_epoch) == (0, 2)


def test_offsets_are_not_expired_while_the_disk_is_full() -> None:
    bench = GroupBench({"offsets.retention.minutes": "1", "offsets.retention.check.interval.ms": "1000"})
    bench.commit("g", {("events", 0): 5})
    fill_disk(bench)
    bench.scheduler.run_for(120_000)
    assert bench.committed("g") == {("events", 0): 5}
    free_disk(bench)
    bench.scheduler.run_for(2_000)
    assert bench.committed("g") == {}
    assert bench.listed() == {}


# --- bugs ---------------------------------------------------------------------------------------------------


def test_a_bug_in_a_decision_costs_its_shard_and_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = GroupBench({"offsets.topic.num.partitions": "2"})
    mine, other = "a", "b"
    assert partition_of_key(mine, 2) != partition_of_key(other, 2)
    bench.commit(mine, {("events", 0): 1})
    waiting = bench.connect()
    member_id = bench.member_id_for(mine, peer=waiting)
    bench.call(join_request(mine, member_id), 9, peer=waiting)
    late = bench.connect()
    late.send(join_request(mine, bench.member_id_for(mine, peer=late)), 9)
    bystander = bench.stable(other)
    host, untouched = bench.host_of(mine), bench.host_of(other)

    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("a bug")

    unlucky = bench.connect()
    with monkeypatch.context() as patch:
        patch.setattr(Offsets, "commit", broken)
        unlucky.send(commit_request(mine, {("events", 0): 2}), 9)
        bench.settle()
    assert unlucky.close_reason is not None  # an internal error costs the connection
    assert [type(each) for each in bench.node.groups.faults] == [ZeroDivisionError]
    assert host.over and not untouched.over
    answer = bench.reply(join_request(mine), 2, 9, late)
    assert answer.error_code == ErrorCode.NOT_COORDINATOR
    bench.loaded()
    assert bench.host_of(mine) is not host
    assert bench.committed(mine) == {("events", 0): 1}
    assert bench.commit(mine, {("events", 0): 2}) == [ErrorCode.NONE]
    assert bench.beat(bystander) is ErrorCode.NONE
    assert bench.fatal_errors == []


def test_a_bug_in_a_timer_costs_its_shard_and_not_the_timers_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = GroupBench({"offsets.topic.num.partitions": "2"})
    bench.stable("a")
    bench.stable("b", session_ms=20_000)

    def broken() -> Any:
        raise ZeroDivisionError("a bug")

    bench.host_of("a").shard.timers.set("broken", bench.clock.monotonic_ms() + 5, broken)
    bench.scheduler.run_for(50)
    assert len(bench.node.groups.faults) == 1
    bench.scheduler.run_for(15_000)
    assert bench.listed() == {"a": "Empty", "b": "Stable"}  # a's session began anew with the new shard
    bench.scheduler.run_for(10_000)
    assert bench.listed() == {"a": "Empty", "b": "Empty"}
    assert bench.fatal_errors == []


def test_a_bug_in_a_job_costs_its_shard(bench: GroupBench) -> None:
    def job() -> Job:
        yield
        raise ZeroDivisionError("a bug")

    host = bench.host

    def decision(_: Shard) -> Outcome:
        outcome = Outcome()
        outcome.jobs.append(job())
        return outcome

    host.decide(decision)
    bench.settle()
    assert host.over and len(bench.node.groups.faults) == 1
    bench.loaded()
    assert bench.commit("g", {("events", 0): 1}) == [ErrorCode.NONE]
    assert bench.fatal_errors == []


# --- the end ------------------------------------------------------------------------------------------------


def test_quiesce_answers_everybody_who_waits(bench: GroupBench) -> None:
    """So that connections can drain: in a join, and in a sync."""
    leader = bench.stable("g")
    joining = bench.connect()
    joining.send(join_request("g", bench.member_id_for("g", peer=joining)), 9)
    other = bench.connect()
    bench.settle()
    first = bench.join("h", protocols={"range": b""})
    second_id = bench.member_id_for("h", peer=other)
    other.send(join_request("h", second_id), 9)
    first.peer.send(join_request("h", first.member_id), 9)
    bench.scheduler.run_until(lambda: len(other.replies) == 2, within_ms=1000)
    generation = bench.reply(join_request("h"), 2, 9, other).generation_id
    other.send(sync_request("h", second_id, generation), 5)
    bench.settle()
    assert (len(joining.replies), len(other.replies)) == (1, 2)
    bench.node.quiesce()
    bench.settle()
    assert bench.reply(join_request("g"), 2, 9, joining).error_code == ErrorCode.NOT_COORDINATOR
    assert bench.reply(sync_request("h", "", 0), 3, 5, other).error_code == ErrorCode.NOT_COORDINATOR
    assert bench.beat(leader) is ErrorCode.NOT_COORDINATOR
    bench.scheduler.run_for(60_000)  # and no timer runs any more
    assert bench.fatal_errors == []


def test_quiesce_answers_who_waits_for_a_flush(flushing: GroupBench, monkeypatch: pytest.MonkeyPatch) -> None:
    HeldFlush(monkeypatch)
    flushing.peer.send(commit_request("g", {("events", 0): 7}), 9)
    flushing.settle()
    before = len(flushing.peer.replies)
    flushing.node.quiesce()
    flushing.scheduler.run_for(5_100)
    assert len(flushing.peer.replies) == before + 1


def test_a_connection_that_is_lost_while_it_waits_leaves_nothing_behind(bench: GroupBench) -> None:
    """The member's fate is that of its session: somebody new is given up after five minutes, and the
    generation goes on without it.
    """
    old = bench.stable("g", session_ms=1_800_000)
    lost = bench.connect()
    lost.send(join_request("g", bench.member_id_for("g", peer=lost), rebalance_ms=600_000), 9)
    bench.settle()
    lost.close("gone")
    bench.settle()
    assert lost.waiters == set()
    assert bench.beat(old) is ErrorCode.REBALANCE_IN_PROGRESS
    bench.scheduler.run_for(300_000)
    answer = bench.call(join_request("g", old.member_id, session_ms=1_800_000), 9, peer=old.peer)
    assert (answer.error_code, [each.member_id for each in answer.members]) == (0, [old.member_id])
    assert bench.node.groups.faults == []


def test_the_requests_behind_a_waiting_join_are_served(bench: GroupBench) -> None:
    """Their answers leave in order, after the join's; what they do is done at once."""
    bench.stable("g")
    peer = bench.connect()
    peer.send(join_request("g", bench.member_id_for("g", peer=peer)), 9)
    peer.send(commit_request("h", {("events", 0): 3}), 9)
    bench.settle()
    assert peer.answered == [1]
    assert bench.committed("h") == {("events", 0): 3}


# --- settings -----------------------------------------------------------------------------------------------


def test_the_newer_protocol_is_refused_without_its_feature(bench: GroupBench) -> None:
    """group.version=0, as a cluster has it that was upgraded and not finalized yet (KIP-848)."""
    update = FeatureUpdateKey(feature="group.version", max_version_level=0, upgrade_type=2)
    answer = bench.call(UpdateFeaturesRequest(timeout_ms=1000, feature_updates=[update]))
    assert answer.error_code == 0, answer
    refused = bench.call(consumer_request("g", "me"))
    assert refused.error_code == ErrorCode.UNSUPPORTED_VERSION
    bench.stable("g")  # the classic protocol goes on
    update = FeatureUpdateKey(feature="group.version", max_version_level=1, upgrade_type=1)
    bench.call(UpdateFeaturesRequest(timeout_ms=1000, feature_updates=[update]))
    assert bench.call(consumer_request("h", "me")).error_code == 0


def test_a_setting_that_changes_while_running_counts_from_then_on(bench: GroupBench) -> None:
    """A group's own settings are the dynamic ones; the broker's need a restart, as in Kafka."""
    assert bench.call(consumer_request("g", "me")).heartbeat_interval_ms == 5000
    bench.alter(GROUP_RESOURCE, "g", consumer_heartbeat_interval_ms="7000")
    assert bench.call(consumer_request("g", "me", 1)).heartbeat_interval_ms == 7000
    bench.alter(GROUP_RESOURCE, "g", consumer_heartbeat_interval_ms="8000")
    assert bench.call(consumer_request("g", "me", 1)).heartbeat_interval_ms == 8000


def test_a_group_may_have_a_session_timeout_of_its_own(bench: GroupBench) -> None:
    """KIP-848: `consumer.session.timeout.ms` and `consumer.heartbeat.interval.ms` of a group."""
    bench.alter(GROUP_RESOURCE, "g", consumer_session_timeout_ms="60000")
    bench.alter(GROUP_RESOURCE, "g", consumer_heartbeat_interval_ms="6000")
    assert bench.call(consumer_request("g", "me")).heartbeat_interval_ms == 6000
    assert bench.call(consumer_request("h", "me")).heartbeat_interval_ms == 5000
    bench.scheduler.run_for(50_000)
    assert bench.listed() == {"g": "Stable", "h": "Empty"}
    bench.scheduler.run_for(15_000)
    assert bench.listed() == {"g": "Empty", "h": "Empty"}


# --- listing ------------------------------------------------------------------------------------------------


def test_list_groups_filters_by_state_and_type(bench: GroupBench) -> None:
    """KIP-518 and KIP-848: names in any case, an unknown one matches nothing."""
    bench.stable("stable")
    bench.commit("simple", {("events", 0): 1})
    bench.call(consumer_request("newer", "me"))

    def found(states: list[str], types: list[str]) -> set[str]:
        answer = bench.call(ListGroupsRequest(states_filter=states, types_filter=types))
        assert answer.error_code == 0
        return {each.group_id for each in answer.groups}

    assert found([], []) == {"stable", "simple", "newer"}
    assert found(["Stable"], []) == {"stable", "newer"}
    assert found(["EMPTY", "stable"], ["classic"]) == {"stable", "simple"}
    assert found([], ["CONSUMER"]) == {"newer"}
    assert found(["Strange"], []) == set()
    assert found([], ["share"]) == set()


# --- large commits ------------------------------------------------------------------------------------------


def test_a_commit_of_ten_thousand_partitions_is_decided_in_pieces(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every piece is a batch of its own in a turn of its own, others are served in between, and the reply is
    one, in the order of the request.
    """
    bench = GroupBench()
    for number in range(5):
        bench.create(f"wide-{number}", 2000)
    sizes: list[tuple[float, int]] = []
    commit = Offsets.commit

    def counting(self: Offsets, request: Any, client: Any, promise: Any) -> Any:
        sizes.append((len(turns), sum(len(topic.partitions) for topic in request.topics)))
        return commit(self, request, client, promise)

    turns: list[Callable[[], None]] = []
    guard = bench.driver.guard

    def turn(action: Callable[[], None]) -> None:
        turns.append(action)
        guard(action)

    monkeypatch.setattr(bench.driver, "guard", turn)
    monkeypatch.setattr(Offsets, "commit", counting)
    offsets = {(f"wide-{number}", index): index for number in range(5) for index in range(2000)}
    request = commit_request("g", {**offsets, ("wide-0", 2000): 1})
    request.topics[0].partitions.insert(0, request.topics[0].partitions.pop())
    answer = bench.call(request, 9)
    assert sum(count for _, count in sizes) == 10_001
    assert max(count for _, count in sizes) == PARTITIONS_PER_PIECE
    assert len({number for number, _ in sizes}) == len(sizes), "two pieces in one turn"
    assert [topic.name for topic in answer.topics] == [f"wide-{number}" for number in range(5)]
    codes = [(each.partition_index, each.error_code) for each in answer.topics[0].partitions]
    assert codes[0] == (2000, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    assert codes[1:] == [(index, 0) for index in range(2000)]
    assert bench.committed("g") == offsets


def test_the_next_request_of_a_connection_waits_for_its_large_commit(bench: GroupBench) -> None:
    """It may be the next commit, whose offsets must not be overtaken."""
    bench.create("wide", 1000)
    old = commit_request("g", {("wide", index): 1 for index in range(1000)})
    new = commit_request("g", {("wide", 999): 2})
    bench.peer.send(old, 9)
    last = bench.peer.send(new, 9)
    bench.scheduler.run_until(lambda: last in bench.peer.answered, within_ms=5000)
    assert bench.committed("g")[("wide", 999)] == 2


def test_a_large_commit_on_a_full_disk_is_refused_for_every_partition(bench: GroupBench) -> None:
    bench.create("wide", 500)
    fill_disk(bench)
    codes = bench.commit("g", {("wide", index): 1 for index in range(500)})
    assert codes == [ErrorCode.NOT_COORDINATOR] * 500
    assert bench.listed() == {}


# --- timers -------------------------------------------------------------------------------------------------


def test_a_member_that_joins_and_never_syncs_is_out_after_its_rebalance_timeout(bench: GroupBench) -> None:
    """KIP-394's second half: it beats, so its session would keep it for ever."""
    member = bench.join("g", rebalance_ms=20_000)
    for _ in range(3):
        bench.scheduler.run_for(5_000)
        assert bench.beat(member) is ErrorCode.NONE
    bench.scheduler.run_for(6_000)
    assert bench.beat(member) is ErrorCode.UNKNOWN_MEMBER_ID
    assert bench.listed() == {"g": "Empty"}


def test_a_member_that_stops_beating_is_out_and_the_others_go_on(bench: GroupBench) -> None:
    first = bench.stable("g", session_ms=6_000)
    second = bench.connect()
    second_id = bench.member_id_for("g", peer=second, session_ms=30_000)
    second.send(join_request("g", second_id, session_ms=30_000), 9)
    bench.settle()
    assert bench.beat(first) is ErrorCode.REBALANCE_IN_PROGRESS
    bench.scheduler.run_for(6_100)
    answer = bench.reply(join_request("g"), 2, 9, second)
    assert (answer.error_code, answer.leader) == (0, second_id)
    assert [each.member_id for each in answer.members] == [second_id]
    assert bench.beat(first) is ErrorCode.UNKNOWN_MEMBER_ID


def test_an_id_that_was_handed_out_and_never_used_is_forgotten(bench: GroupBench) -> None:
    member_id = bench.member_id_for("g", session_ms=6_000)
    bench.scheduler.run_for(6_100)
    answer = bench.call(join_request("g", member_id, session_ms=6_000), 9)
    assert answer.error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_member_of_the_newer_protocol_that_stops_beating_gives_its_partitions_back(
    bench: GroupBench,
) -> None:
    bench.call(consumer_request("g", "dead"))
    bench.scheduler.run_for(30_000)
    answer = bench.call(consumer_request("g", "alive"))
    assert answer.assignment is None or answer.assignment.topic_partitions == []
    bench.scheduler.run_for(16_000)
    answer = bench.call(consumer_request("g", "alive", answer.member_epoch, owned=[]))
    assert [each.partitions for each in answer.assignment.topic_partitions] == [[0, 1, 2, 3]]


def test_the_record_of_a_group_that_its_last_member_left_is_written(bench: GroupBench) -> None:
    member = bench.stable("g")
    bench.call(leave_request("g", member.member_id), 5)
    last = bench.records()[-1]
    assert last is not None
    assert (last.key.group, last.value.members, last.value.generation) == ("g", [], member.generation + 1)
