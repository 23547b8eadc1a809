"""Pull replication: high watermark, divergence, truncation, snapshots (the Raft paper's 5.3 and 5.4.2,
KIP-595, KIP-630, KIP-1166).
"""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from raft_bench import SETTINGS, RaftBench, directory, entry

from ottla.model.errors import ErrorCode, KafkaError
from ottla.raft.log_port import OffsetAndEpoch
from ottla.raft.messages import (
    BeginEpochRequest,
    FetchRequest,
    FetchResponse,
    SnapshotRequest,
    SnapshotResponse,
)
from ottla.raft.quorum_state import RaftError
from ottla.raft.voters import ReplicaKey, VoterSet
from ottla.testing.raft_log import SnapshotState


def leading(**options: Any) -> RaftBench:
    bench = RaftBench(**options)
    bench.lead()
    bench.sync()
    return bench


def following(*epochs: int, epoch: int = 5) -> RaftBench:
    bench = RaftBench(log=epochs)
    bench.ask(BeginEpochRequest(2, epoch))
    return bench


def fetched(bench: RaftBench, **fields: Any) -> None:
    """The leader, node 2, answers the fetch that is under way."""
    send, _ = bench.sent(FetchRequest)[-1]
    bench.sends = [send]
    bench.answer(send, FetchResponse(ErrorCode.NONE, bench.raft.epoch, 2, **fields))


def test_a_record_is_committed_when_a_majority_has_it_on_stable_storage() -> None:
    bench = RaftBench()
    bench.lead()
    epoch = bench.raft.epoch
    bench.fetch_from(2, 1, epoch)
    assert bench.raft.high_watermark == 0, "the leader itself has not synced"
    bench.sync()
    assert bench.raft.high_watermark == 1
    bench.raft.append("x", bench.now_ms)
    bench.sync()
    assert bench.raft.high_watermark == 1, "the leader alone is no majority"
    bench.fetch_from(3, 2, epoch)
    assert bench.raft.high_watermark == 2


def test_records_of_former_epochs_are_committed_only_with_one_of_this() -> None:
    """Raft, section 5.4.2 and figure 8."""
    bench = leading(log=(1, 1, 2))
    assert bench.raft.epoch == 3 and bench.log.end_offset == 4
    bench.fetch_from(2, 3, 2)
    assert bench.raft.high_watermark == 0
    bench.fetch_from(2, 4, 3)
    assert bench.raft.high_watermark == 4


def test_a_fetch_that_finds_nothing_waits_for_a_record_or_a_high_watermark_or_its_time() -> None:
    bench = leading()
    epoch = bench.raft.epoch
    wait = {"wait_max_ms": 500, "high_watermark": 0}
    (first,) = bench.fetch_from(2, 1, epoch, **wait)
    assert isinstance(first, FetchResponse) and first.high_watermark == 1, "which it did not know (KIP-1166)"
    assert bench.fetch_from(2, 1, epoch, wait_max_ms=500, high_watermark=1) == []
    bench.raft.append("x", bench.now_ms)
    (second,) = [reply.response for reply in bench._take().replies]
    assert isinstance(second, FetchResponse) and len(second.records) == 1
    assert bench.fetch_from(3, 2, epoch, wait_max_ms=500, high_watermark=1) == []
    answers = bench.sync()
    assert [each.high_watermark for each in answers if isinstance(each, FetchResponse)] == [2]
    assert bench.fetch_from(3, 2, epoch, wait_max_ms=500, high_watermark=2) == []
    (late,) = bench.wait(501)
    assert isinstance(late, FetchResponse) and late.records is None and late.error == ErrorCode.NONE


def test_who_waits_is_told_when_leadership_goes() -> None:
    bench = leading()
    assert bench.fetch_from(2, 1, bench.raft.epoch, wait_max_ms=500) == []
    answers = bench.ask(BeginEpochRequest(3, bench.raft.epoch + 1))
    refused = [each for each in answers if isinstance(each, FetchResponse)]
    assert [each.error for each in refused] == [ErrorCode.FENCED_LEADER_EPOCH]
    assert refused[0].leader_id == 3
    with pytest.raises(KafkaError) as raised:
        bench.raft.append("x", bench.now_ms)
    assert raised.value.code == ErrorCode.NOT_CONTROLLER


@pytest.mark.parametrize(
    ("offset", "last_epoch", "end"),
    [(3, 2, OffsetAndEpoch(2, 1)), (5, 3, OffsetAndEpoch(4, 3)), (9, 4, OffsetAndEpoch(5, 4))],
)
def test_a_log_that_differs_is_told_where_to_cut(offset: int, last_epoch: int, end: OffsetAndEpoch) -> None:
    """The leader has epochs 1 1 3 3 and begins epoch 4."""
    bench = leading(log=(1, 1, 3, 3))
    assert bench.raft.epoch == 4
    (response,) = bench.fetch_from(2, offset, last_epoch)
    assert isinstance(response, FetchResponse) and response.diverging == end
    assert bench.raft.leader is not None
    assert bench.raft.leader.replicas.get(ReplicaKey(2)) is None, "nothing is known of such a log"


def test_a_follower_cuts_and_goes_on_from_there() -> None:
    bench = following(1, 1, 2, 2)
    fetched(bench, high_watermark=1, diverging=OffsetAndEpoch(2, 1))
    assert [each.epoch for each in bench.log.entries] == [1, 1]
    assert bench.sent(FetchRequest)[-1][1].offset == 2
    fetched(bench, high_watermark=3, records=(entry(2, 5), entry(3, 5)))
    assert bench.raft.high_watermark == 3


def test_a_follower_whose_epoch_ended_earlier_cuts_at_its_own_end_of_it() -> None:
    bench = following(1, 1, 3)
    fetched(bench, high_watermark=0, diverging=OffsetAndEpoch(9, 2))
    assert bench.log.end_offset == 2


def test_what_was_committed_is_never_cut() -> None:
    bench = following(1, 1, 2)
    fetched(bench, high_watermark=3)
    assert bench.raft.high_watermark == 3
    with pytest.raises(RaftError, match="below the high watermark"):
        fetched(bench, high_watermark=3, diverging=OffsetAndEpoch(1, 1))


def test_the_next_fetch_waits_for_the_sync() -> None:
    """Its offset says what is on stable storage."""
    bench = following()
    fetched(bench, high_watermark=0, records=(entry(0, 5),))
    bench.sends.clear()
    bench.wait(100)
    assert not bench.sent(FetchRequest)
    bench.sync()
    assert bench.sent(FetchRequest)[-1][1].offset == 1


def test_an_answer_to_an_old_question_is_ignored() -> None:
    bench = following()
    send, _ = bench.sent(FetchRequest)[-1]
    bench.ask(BeginEpochRequest(3, 6))
    bench.raft.response(
        send.number, FetchResponse(ErrorCode.NONE, 5, 2, 1, 0, records=(entry(0, 5),)), bench.now_ms
    )
    assert bench.log.end_offset == 0 and bench.raft.leader_id == 3


def test_a_follower_that_hears_nothing_stands() -> None:
    bench = following()
    bench.wait(SETTINGS.fetch_timeout_ms - 1)
    assert bench.role == "Follower"
    bench.wait(2)
    assert bench.role == "Prospective"


def test_an_observer_follows_and_is_counted_nowhere() -> None:
    bench = leading()
    epoch = bench.raft.epoch
    bench.raft.append("x", bench.now_ms)
    bench.sync()
    bench.fetch_from(9, 2, epoch)
    assert bench.raft.high_watermark == 0
    observer = RaftBench(3, own=9)
    assert observer.role == "Observer"
    observer.wait(20_000)
    assert observer.role == "Observer" and observer.raft.epoch == 0


def test_requests_of_another_epoch_are_refused() -> None:
    bench = leading()
    for epoch, error in ((0, ErrorCode.FENCED_LEADER_EPOCH), (9, ErrorCode.UNKNOWN_LEADER_EPOCH)):
        (response,) = bench.ask(FetchRequest(ReplicaKey(2), epoch, 0, 0))
        assert response.error == error
    (response,) = RaftBench().ask(FetchRequest(ReplicaKey(2), 0, 0, 0))
    assert response.error == ErrorCode.NOT_LEADER_OR_FOLLOWER
    (response,) = bench.ask(FetchRequest(ReplicaKey(2), bench.raft.epoch, -1, 0))
    assert response.error == ErrorCode.INVALID_REQUEST


def test_a_replica_from_before_the_log_is_sent_to_the_snapshot() -> None:
    """KIP-630."""
    bench = leading(log=(1, 1, 2))
    bench.fetch_from(2, 4, 3)
    snapshot = OffsetAndEpoch(3, 2)
    bench.log.take_snapshot(snapshot, SnapshotState((), VoterSet(), 0), keep_entries=0)
    for offset, last_epoch in ((0, 0), (2, 1), (3, 1)):
        (response,) = bench.fetch_from(3, offset, last_epoch)
        assert isinstance(response, FetchResponse) and response.snapshot == snapshot
    (response,) = bench.fetch_from(3, 3, 2)
    assert isinstance(response, FetchResponse) and response.snapshot is None and response.records


def test_a_snapshot_is_handed_out_in_pieces() -> None:
    bench = leading(log=(1, 1, 2))
    bench.fetch_from(2, 4, 3)
    snapshot = OffsetAndEpoch(3, 2)
    bench.log.take_snapshot(snapshot, SnapshotState(("x",) * 50, VoterSet(), 0), keep_entries=0)
    whole = bench.log.snapshots[snapshot]

    def piece(at: OffsetAndEpoch, position: int) -> SnapshotResponse:
        request = SnapshotRequest(ReplicaKey(3, directory(3)), bench.raft.epoch, at, position, 40)
        (response,) = bench.ask(request)
        assert isinstance(response, SnapshotResponse)
        return response

    got = b""
    while len(got) < len(whole):
        answer = piece(snapshot, len(got))
        assert answer.size == len(whole) and 0 < len(answer.data) <= 40
        got += answer.data
    assert got == whole
    assert piece(snapshot, len(whole)).error == ErrorCode.POSITION_OUT_OF_RANGE
    assert piece(OffsetAndEpoch(2, 1), 0).error == ErrorCode.SNAPSHOT_NOT_FOUND


def test_a_snapshot_takes_the_place_of_the_log() -> None:
    bench = following(1, 1)
    snapshot = OffsetAndEpoch(10, 4)
    data = pickle.dumps(SnapshotState(("state",), VoterSet(), 0))
    fetched(bench, high_watermark=12, snapshot=snapshot)
    for begin in range(0, len(data), 50):
        send, request = bench.sent(SnapshotRequest)[-1]
        assert request.position == begin
        bench.sends = [send]
        piece = data[begin : begin + 50]
        bench.raft.response(
            send.number,
            SnapshotResponse(ErrorCode.NONE, 5, 2, snapshot, len(data), begin, piece),
            bench.now_ms,
        )
        ready = bench.raft.take_ready()
        bench.sends += ready.sends
    assert ready.installed == snapshot
    assert (bench.log.start_offset, bench.log.end_offset, bench.raft.high_watermark) == (10, 10, 10)
    assert bench.sent(FetchRequest)[-1][1].offset == 10
    assert bench.sent(FetchRequest)[-1][1].last_epoch == 4
