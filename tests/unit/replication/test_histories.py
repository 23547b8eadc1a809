"""Logs that parted, and how they come together again (`replication/follower.py`, `leader.divergence`)."""

from __future__ import annotations

import pytest
from replica_bench import NOW, batch

from ottla.log.log import Log
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.log_config import LogConfig
from ottla.model.types import TopicPartition
from ottla.replication.follower import (
    ASK_RANGE,
    AWAIT_METADATA,
    IGNORE,
    Copy,
    Cut,
    Restart,
    Retry,
    decide,
    decide_by_range,
)
from ottla.replication.leader import divergence
from ottla.testing.disk import VirtualDisk
from ottla.wire.messages.fetch import EpochEndOffset, PartitionData

TP = TopicPartition("events", 0)


def log_of(*epochs: int, name: str = "a") -> Log:
    """A log with one record for each of the epochs, in this order."""
    log = Log.open(VirtualDisk(), f"/data-{name}/events-0", TP, LogConfig(), now_ms=NOW, clean_shutdown=True)
    for epoch in epochs:
        write(log, epoch)
    return log


def write(log: Log, epoch: int, value: bytes = b"value") -> None:
    log.append_as_leader(batch(value=value), epoch, NOW)


def lead(log: Log, epoch: int) -> None:
    log.assign_epoch(epoch, log.log_end_offset)


def epochs_in(log: Log) -> list[int]:
    return [log.epochs.epoch_for_offset(offset) for offset in range(log.log_end_offset)]


def answer(leader: Log, follower: Log) -> PartitionData:
    """What the leader says to the follower's next fetch."""
    offset, epoch = follower.log_end_offset, follower.latest_epoch
    data = PartitionData(high_watermark=leader.high_watermark, log_start_offset=leader.log_start_offset)
    try:
        if epoch >= 0:
            parted = divergence(leader, offset, epoch)
            if parted is not None:
                data.diverging_epoch = EpochEndOffset(epoch=parted[0], end_offset=parted[1])
                return data
        if not leader.log_start_offset <= offset <= leader.log_end_offset:
            raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
    except KafkaError as error:
        return PartitionData(error_code=error.code)
    found = leader.read(offset, 1 << 20, upto_offset=leader.log_end_offset)
    if found.slice is not None:
        data.records = memoryview(found.slice.read())
        found.slice.release()
    return data


def catch_up(follower: Log, leader: Log) -> list[int]:
    """Fetches until the logs are the same; where the follower was cut on the way."""
    cuts: list[int] = []
    for _ in range(20):
        action = decide(follower, follower.log_end_offset, answer(leader, follower))
        if isinstance(action, Cut):
            cuts.append(action.offset)
            follower.truncate_to(action.offset)
        else:
            assert isinstance(action, Copy)
            if not action.records and follower.log_end_offset == leader.log_end_offset:
                return cuts
            follower.append_as_follower(action.records, now_ms=NOW)
    raise AssertionError("they never agree")


def test_a_log_that_is_a_part_of_the_leaders_is_not_cut() -> None:
    leader, follower = log_of(0, 0, 1), log_of(0, name="b")
    assert catch_up(follower, leader) == []
    assert epochs_in(follower) == [0, 0, 1]


def test_a_restarted_follower_keeps_what_lies_above_its_high_watermark() -> None:
    """KIP-101, first scenario: B has record 1 but does not know that it is committed. It restarts, A dies, B
    leads: cut at the high watermark, the record would be gone.
    """
    a, b = log_of(0, 0), log_of(0, 0, name="b")
    b.update_high_watermark(1)
    assert catch_up(b, a) == []  # what it does after its restart: it asks, and is told that all is well
    assert b.log_end_offset == 2
    lead(b, 1)
    assert catch_up(a, b) == []
    assert a.log_end_offset == 2


def test_two_histories_at_one_offset_do_not_both_stay() -> None:
    """KIP-101, second scenario: both lose power; B comes back with less, leads, writes another record 1; A
    comes back with its own record 1, at the same offset.
    """
    a, b = log_of(0), log_of(0, name="b")
    write(a, 0, b"of a")
    lead(b, 1)
    write(b, 1, b"of b")
    assert catch_up(a, b) == [1]
    assert epochs_in(a) == epochs_in(b) == [0, 1]


def test_fast_leader_changes_need_several_cuts() -> None:
    """KIP-279: leaders changed so fast that each wrote under epochs that the other has never heard of."""
    a = log_of(0, 0, 2, 2, name="a")
    b = log_of(0, 0, 1, 1, name="b")
    lead(b, 3)
    assert catch_up(a, b) == [2]
    assert epochs_in(a) == [0, 0, 1, 1]
    c = log_of(0, 1, 3, 3, 5, name="c")
    d = log_of(0, 1, 2, 2, 2, 4, 4, name="d")
    lead(d, 6)
    assert catch_up(c, d) == [4, 2]
    assert epochs_in(c) == epochs_in(d)


def test_an_epoch_without_records_is_forgotten_when_it_was_nobodys() -> None:
    a, b = log_of(0, 0), log_of(0, 0, name="b")
    lead(a, 1)  # elected, and gone before anything was written
    lead(b, 2)
    write(b, 2)
    catch_up(a, b)
    assert epochs_in(a) == [0, 0, 2]
    assert a.log_end_offset == 3


def test_a_follower_of_an_uncleanly_elected_leader_gives_up_what_that_one_never_had() -> None:
    leader, follower = log_of(0), log_of(0, 0, 0, name="b")
    lead(leader, 1)
    assert catch_up(follower, leader) == [1]
    assert follower.log_end_offset == 1


def test_an_offset_that_the_leader_has_deleted_begins_the_log_anew() -> None:
    leader, follower = log_of(0, 0, 0, 0), log_of(0, name="b")
    leader.update_high_watermark(4)
    leader.advance_log_start(3)
    assert decide(follower, 1, answer(leader, follower)) is ASK_RANGE
    assert decide_by_range(follower, 3, 4) == Restart(3)
    follower.truncate_fully_and_start_at(3)
    assert catch_up(follower, leader) == []
    assert (follower.log_start_offset, follower.log_end_offset) == (3, 4)


def test_an_end_beyond_the_leaders_is_cut_and_one_within_is_left() -> None:
    follower = log_of(0, 0, 0)
    assert decide_by_range(follower, 0, 2) == Cut(2)
    assert decide_by_range(follower, 1, 3) is IGNORE


def test_a_log_that_starts_inside_a_batch_gets_the_whole_batch() -> None:
    leader, follower = log_of(), log_of(name="b")
    leader.append_as_leader(batch(10), 0, NOW)
    leader.update_high_watermark(10)
    leader.advance_log_start(5)
    follower.truncate_fully_and_start_at(5)
    assert decide(follower, 5, answer(leader, follower)) == Restart(0)


def test_an_answer_to_an_earlier_question_is_ignored() -> None:
    leader, follower = log_of(0, 0), log_of(0, name="b")
    assert decide(follower, 0, answer(leader, follower)) is IGNORE
    late = answer(leader, log_of(name="c"))
    assert decide(follower, 1, late) == Retry(ErrorCode.NONE)


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.CORRUPT_MESSAGE,
    ],
)
def test_what_will_pass_is_tried_again(code: ErrorCode) -> None:
    assert decide(log_of(), 0, PartitionData(error_code=code)) == Retry(code)


def test_a_leader_that_is_newer_than_the_metadata_here_waits_for_the_metadata() -> None:
    assert decide(log_of(), 0, PartitionData(error_code=ErrorCode.FENCED_LEADER_EPOCH)) is AWAIT_METADATA
