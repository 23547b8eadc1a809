"""Shards that are loaded from their log: after a restart, with garbage in it, with topics deleted meanwhile;
and offsets that expire.
"""

from __future__ import annotations

import logging
from typing import Any

import pytest
from broker_bench import produce_request
from group_bench import (
    ADMIN_CLIENT_ID,
    OFFSETS_TOPIC,
    GroupBench,
    commit_request,
    consumer_request,
    find_request,
    join_request,
    leave_request,
)

from ottla.broker import coordinator_host
from ottla.log.turn import Turn
from ottla.model.errors import ErrorCode
from ottla.ports.effects import Sleep
from ottla.wire.framing import encode_coordinator_key, encode_coordinator_value
from ottla.wire.messages.consumer_offsets import (
    ConsumerGroupMemberMetadataKey,
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
)
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.wire.messages.heartbeat import HeartbeatRequest
from ottla.wire.messages.list_groups import ListGroupsRequest
from ottla.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from ottla.wire.record_batch import Record, encode_batch


@pytest.fixture
def bench() -> GroupBench:
    return GroupBench()


class ShortTurn(Turn):
    """Over at every question, and then the loop does other things for a millisecond."""

    __slots__ = ()

    def over(self) -> bool:
        return True

    def rest(self) -> Sleep:
        return Sleep(1)


@pytest.fixture
def short_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordinator_host, "Turn", ShortTurn)


def produced(bench: GroupBench, *records: tuple[bytes | None, bytes | None], partition: int = 0) -> ErrorCode:
    """Writes into `__consumer_offsets` as an administrator may."""
    batch = encode_batch([Record(0, bench.clock.now_ms(), key, value) for key, value in records])
    peer = bench.connect(client_id=ADMIN_CLIENT_ID)
    answer = bench.call(produce_request(OFFSETS_TOPIC, batch, partition=partition), 12, peer=peer)
    return ErrorCode(answer.responses[0].partition_responses[0].error_code)


# --- restarts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("clean", [True, False])
def test_everything_is_there_after_a_restart(bench: GroupBench, clean: bool) -> None:
    """Members go on with their generation, their sessions begin anew, offsets and epochs are there."""
    member = bench.stable("classic", session_ms=20_000)
    bench.commit("classic", {("events", 1): 11}, member_id=member.member_id, generation=member.generation)
    joined = bench.call(consumer_request("newer", "me"))
    bench.commit("simple", {("events", 0): 5}, metadata="m")
    bench.scheduler.run_for(9_000)
    bench.restart(clean=clean)
    bench.loaded()
    assert bench.listed() == {"classic": "Stable", "newer": "Stable", "simple": "Empty"}
    assert bench.committed("classic") == {("events", 1): 11}
    assert bench.committed("simple") == {("events", 0): 5}
    assert bench.beat(member) is ErrorCode.NONE
    answer = bench.call(consumer_request("newer", "me", joined.member_epoch))
    assert (answer.error_code, answer.member_epoch) == (0, joined.member_epoch)
    bench.scheduler.run_for(19_000)
    assert bench.listed()["classic"] == "Stable"  # a whole session from the heartbeat
    bench.scheduler.run_for(30_000)
    assert bench.listed() == {"classic": "Empty", "newer": "Empty", "simple": "Empty"}
    again = bench.join("classic")
    assert again.generation == member.generation + 2  # one when it became empty, one for the new member
    answer = bench.call(consumer_request("newer", "me"))
    assert answer.member_epoch > joined.member_epoch


def test_a_member_that_never_comes_back_after_a_restart_is_out_after_a_session(bench: GroupBench) -> None:
    bench.stable("classic", session_ms=20_000)
    bench.call(consumer_request("newer", "me"))
    bench.restart()
    bench.loaded()
    bench.scheduler.run_for(19_000)
    assert bench.listed() == {"classic": "Stable", "newer": "Stable"}
    bench.scheduler.run_for(27_000)
    assert bench.listed() == {"classic": "Empty", "newer": "Empty"}


@pytest.mark.usefixtures("short_turns")
def test_whoever_asks_while_a_shard_is_loaded_is_told_to_wait(bench: GroupBench) -> None:
    """Loading goes in slices: requests come in between, also the one that lists the groups."""
    for number in range(40):
        bench.commit(f"group-{number}", {("events", index): number for index in range(4)})
    bench.restart()
    bench.scheduler.run_until(lambda: bool(bench.host.shard.state.groups), within_ms=1000)
    assert bench.host.loading, "loaded in one go"
    seen = len(bench.host.shard.state.groups)
    assert seen < 40
    loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    peer = bench.connect()
    requests: list[tuple[Any, int]] = [
        (commit_request("group-1", {("events", 0): 0}), 9),
        (HeartbeatRequest(group_id="group-1", generation_id=1, member_id="m"), 4),
        (ListGroupsRequest(), 4),
    ]
    for request, version in requests:
        peer.send(request, version)
    assert bench.host.loading
    bench.loaded()
    bench.settle()
    answers = [bench.reply(r, i + 1, version, peer) for i, (r, version) in enumerate(requests)]
    assert answers[0].topics[0].partitions[0].error_code == loading
    assert answers[1].error_code == ErrorCode.NONE, "a heartbeat is no reason to worry a member, as in Kafka"
    assert answers[2].error_code == loading
    assert len(bench.listed()) == 40
    assert bench.committed("group-39") == {("events", index): 39 for index in range(4)}
    assert bench.commit("group-1", {("events", 0): 77}) == [ErrorCode.NONE]


def test_a_log_larger_than_the_load_buffer_is_read_piece_by_piece() -> None:
    """`offsets.load.buffer.size`: a batch larger than it is read all the same."""
    bench = GroupBench({"offsets.load.buffer.size": "300"})
    bench.create("wide", 200)
    bench.commit("large", {("wide", index): index for index in range(200)})
    for number in range(20):
        bench.commit(f"group-{number}", {("events", 0): number})
    bench.restart()
    bench.loaded()
    assert len(bench.listed()) == 21
    assert len(bench.committed("large")) == 200


def test_a_shard_that_was_loaded_goes_on_writing_where_the_log_ends(bench: GroupBench) -> None:
    for life in range(4):
        assert bench.commit("g", {("events", 0): life}) == [ErrorCode.NONE]
        bench.restart(clean=bool(life % 2))
        bench.loaded()
        assert bench.committed("g") == {("events", 0): life}
    assert len(bench.records()) == 4


def test_what_was_acknowledged_after_its_flush_survives_a_loss_of_power() -> None:
    bench = GroupBench({"log.flush.interval.messages": "1"})
    member = bench.stable("classic", session_ms=30_000)
    assert bench.commit("g", {("events", 0): 7}) == [ErrorCode.NONE]
    bench.restart(clean=False, power_loss=True)
    bench.loaded()
    assert bench.committed("g") == {("events", 0): 7}
    assert bench.beat(member) is ErrorCode.NONE


def test_a_shard_is_loaded_again_when_the_topic_is_made_anew(bench: GroupBench) -> None:
    """An administrator deletes the offsets topic: every offset is gone, and the next question makes it."""
    bench.commit("g", {("events", 0): 7})
    waiting = bench.connect()
    bench.stable("h")
    waiting.send(join_request("h", bench.member_id_for("h", peer=waiting)), 9)
    bench.delete(OFFSETS_TOPIC)
    bench.settle()
    answer = bench.reply(join_request("h"), 2, 9, waiting)
    assert answer.error_code == ErrorCode.NOT_COORDINATOR
    answer = bench.call(join_request("h"), 9)
    assert answer.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert bench.call(find_request("g"), 4).coordinators[0].error_code == 0
    assert bench.committed("g") == {}
    assert bench.listed() == {}
    assert bench.node.groups.faults == []


# --- garbage ------------------------------------------------------------------------------------------------


def metadata_record(group: str, **fields: Any) -> tuple[bytes, bytes]:
    value = GroupMetadataValue(**fields)
    return encode_coordinator_key(GroupMetadataKey(group=group)), encode_coordinator_value(value, 3)


def test_records_that_make_no_sense_are_skipped_with_a_line(
    bench: GroupBench, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever may write into the topic may write nonsense; one line says so, and the others are served."""
    bench.commit("before", {("events", 0): 1})
    good_key = encode_coordinator_key(OffsetCommitKey(group="g", topic="events", partition=0))
    member_key = encode_coordinator_key(ConsumerGroupMemberMetadataKey(group_id="g", member_id="m"))
    garbage: list[tuple[bytes | None, bytes | None]] = [
        (b"", b""),
        (b"\0", b"value"),
        (b"\0\1", None),
        (b"\xff\xff\xff", b"\0"),
        (good_key, b""),
        (good_key, b"\0\4"),
        (good_key, b"\x7f\xff" + bytes(40)),
        (good_key[:-2], b"\0\1" + bytes(40)),
        (good_key + b"more", b"\0\1"),
        (member_key, b"\0\0\xff\xff\xff\xff\x7f"),
        (b"\0\1\xff\xfe" + bytes(10), b"\0\1"),
        (metadata_record("g")[0], b"\0\3\0\1\xff"),
    ]
    for record in garbage:
        assert produced(bench, record) is ErrorCode.NONE, record
    # Of a newer version: skipped without a word.
    assert produced(bench, (b"\x7f\x00" + bytes(5), b"\0\0")) is ErrorCode.NONE
    bench.commit("after", {("events", 0): 2})
    with caplog.at_level(logging.INFO):
        bench.restart()
        bench.loaded()
    assert bench.fatal_errors == []
    assert bench.committed("before") == {("events", 0): 1}
    assert bench.committed("after") == {("events", 0): 2}
    lines = [record.getMessage() for record in caplog.records if "make no sense" in record.getMessage()]
    assert len(lines) == 1 and OFFSETS_TOPIC in lines[0]
    assert set(bench.listed()) == {"before", "after"}


def test_who_is_no_administrator_cannot_write_into_the_offsets_topic(bench: GroupBench) -> None:
    batch = encode_batch([Record(0, bench.clock.now_ms(), b"key", b"value")])
    answer = bench.call(produce_request(OFFSETS_TOPIC, batch), 12)
    code = answer.responses[0].partition_responses[0].error_code
    assert code == ErrorCode.INVALID_TOPIC_EXCEPTION


# --- topics that go -----------------------------------------------------------------------------------------


def test_the_offsets_of_a_deleted_topic_are_removed(bench: GroupBench) -> None:
    bench.create("doomed", 2)
    for group in ("g", "h"):
        bench.commit(group, {("doomed", 0): 1, ("doomed", 1): 2, ("events", 0): 3})
    bench.delete("doomed")
    bench.settle()
    assert bench.committed("g") == bench.committed("h") == {("events", 0): 3}
    tombstones = [
        (each.key.group, each.key.topic, each.key.partition)
        for each in bench.records()
        if each is not None and each.value is None
    ]
    assert sorted(tombstones) == [(g, "doomed", p) for g in ("g", "h") for p in (0, 1)]
    bench.create("doomed", 2)
    assert bench.committed("g") == {("events", 0): 3}
    bench.restart()
    bench.loaded()
    assert bench.committed("h") == {("events", 0): 3}


def test_many_offsets_of_a_deleted_topic_are_removed_in_slices(bench: GroupBench) -> None:
    bench.create("doomed", 1000)
    bench.commit("g", {("doomed", index): 1 for index in range(1000)})
    end = bench.log(OFFSETS_TOPIC).log_end_offset
    bench.delete("doomed")
    bench.scheduler.run_until(lambda: not bench.host.shard.offsets.store.count("g"), within_ms=5000)
    assert bench.log(OFFSETS_TOPIC).log_end_offset == end + 1000
    assert bench.node.groups.faults == []


@pytest.mark.usefixtures("short_turns")
def test_a_topic_deleted_while_a_shard_is_loaded_is_not_forgotten(
    bench: GroupBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.create("doomed", 4)
    for number in range(30):
        bench.commit(f"group-{number}", {("doomed", index): number for index in range(4)})
    bench.restart()
    bench.scheduler.run_until(lambda: bool(bench.host.shard.state.groups), within_ms=1000)
    host = bench.host
    heard: list[bool] = []
    topics_changed = host.__class__.topics_changed

    def watched(self: Any, deleted: Any) -> None:
        if deleted:
            heard.append(self.loading)
        topics_changed(self, deleted)

    monkeypatch.setattr(host.__class__, "topics_changed", watched)
    bench.peer.send(DeleteTopicsRequest(topics=[DeleteTopicState(name="doomed")], timeout_ms=1000))
    bench.scheduler.run_until(lambda: bool(heard), within_ms=5000)
    assert heard == [True], "the shard was there before the topic was gone"
    bench.loaded()
    bench.settle()
    bench.scheduler.run_until(lambda: not len(host.shard.offsets.store), within_ms=5000)
    assert bench.committed("group-7") == {}


def test_offsets_of_a_topic_made_anew_are_not_those_of_the_old_one(bench: GroupBench) -> None:
    """KIP-848 with topic ids (OffsetFetch version 10): an offset committed for another topic of that name."""
    topic_id = bench.create("again", 1)
    request = commit_request("g", {("again", 0): 9}, topic_ids={"again": topic_id})
    assert bench.call(request, 10).topics[0].partitions[0].error_code == 0
    bench.delete("again")
    new_id = bench.create("again", 1)
    topics = [OffsetFetchRequestTopics(topic_id=new_id, partition_indexes=[0])]
    asked = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=topics)])
    (group,) = bench.call(asked, 10).groups
    assert group.topics[0].partitions[0].committed_offset == -1
    topics[0].topic_id = topic_id
    (group,) = bench.call(asked, 10).groups
    assert group.topics[0].partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID


def test_a_new_topic_reaches_the_members_that_asked_for_it(bench: GroupBench) -> None:
    answer = bench.call(consumer_request("g", "me", topics=["events", "later"]))
    assert len(answer.assignment.topic_partitions) == 1
    later = bench.create("later", 2)
    answer = bench.call(consumer_request("g", "me", 1))
    assert answer.member_epoch == 2
    assert {each.topic_id for each in answer.assignment.topic_partitions} == {bench.topic_id, later}


# --- expiry -------------------------------------------------------------------------------------------------


@pytest.fixture
def expiring() -> GroupBench:
    return GroupBench({"offsets.retention.minutes": "10", "offsets.retention.check.interval.ms": "60000"})


MINUTE = 60_000


def test_offsets_expire_from_the_moment_that_the_group_is_empty(expiring: GroupBench) -> None:
    """KIP-211: not from the commit."""
    member = expiring.stable("g", session_ms=1_800_000)
    expiring.commit("g", {("events", 0): 7}, member_id=member.member_id, generation=member.generation)
    expiring.scheduler.run_for(25 * MINUTE)
    assert expiring.committed("g") == {("events", 0): 7}
    expiring.call(leave_request("g", member.member_id), 5)
    expiring.scheduler.run_for(9 * MINUTE)
    assert expiring.committed("g") == {("events", 0): 7}
    expiring.scheduler.run_for(2 * MINUTE)
    assert expiring.committed("g") == {}
    assert expiring.listed() == {}  # an empty group goes with its last offset
    expiring.restart()
    expiring.loaded()
    assert expiring.listed() == {}


def test_offsets_of_a_group_without_members_expire_from_their_commit(expiring: GroupBench) -> None:
    expiring.commit("g", {("events", 0): 7})
    expiring.scheduler.run_for(6 * MINUTE)
    expiring.commit("g", {("events", 1): 8})
    expiring.scheduler.run_for(5 * MINUTE)
    assert expiring.committed("g") == {("events", 1): 8}
    expiring.scheduler.run_for(6 * MINUTE)
    assert expiring.committed("g") == {} and expiring.listed() == {}


def test_the_time_before_a_restart_counts(expiring: GroupBench) -> None:
    member = expiring.stable("g")
    expiring.commit("g", {("events", 0): 7}, member_id=member.member_id, generation=member.generation)
    expiring.call(leave_request("g", member.member_id), 5)
    expiring.scheduler.run_for(6 * MINUTE)
    expiring.restart()
    expiring.loaded()
    expiring.scheduler.run_for(3 * MINUTE)
    assert expiring.committed("g") == {("events", 0): 7}
    expiring.scheduler.run_for(3 * MINUTE)
    assert expiring.committed("g") == {}


def test_a_topic_that_nobody_in_the_group_reads_any_more_expires_while_others_are_read(
    expiring: GroupBench,
) -> None:
    """KIP-496 and KIP-211: a stable consumer group that is subscribed to `events` only."""
    expiring.create("left", 1)
    member = expiring.stable("g", session_ms=1_800_000)
    expiring.commit(
        "g",
        {("events", 0): 7, ("left", 0): 8},
        member_id=member.member_id,
        generation=member.generation,
    )
    expiring.scheduler.run_for(12 * MINUTE)
    assert expiring.committed("g") == {("events", 0): 7}


def test_a_retention_that_an_old_client_asked_for_counts_instead(expiring: GroupBench) -> None:
    """OffsetCommit versions 2 to 4."""
    request = commit_request("g", {("events", 0): 7}, retention_ms=2 * MINUTE)
    expiring.call(request, 4)
    expiring.commit("h", {("events", 0): 7})
    expiring.scheduler.run_for(4 * MINUTE)
    assert expiring.committed("g") == {} and expiring.committed("h") == {("events", 0): 7}


def test_a_group_made_for_a_member_id_that_was_never_used_goes_with_the_next_check(
    expiring: GroupBench,
) -> None:
    """So that names thought up by a client do not stay for ever."""
    for number in range(50):
        expiring.member_id_for(f"made-up-{number}")
    assert len(expiring.listed()) == 50
    expiring.scheduler.run_for(3 * MINUTE)
    assert expiring.listed() == {}
    assert len(expiring.host.shard.timers) == 0
