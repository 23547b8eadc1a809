"""Voters in the log, one change at a time (KIP-853; Ongaro's dissertation, section 4.1)."""

from __future__ import annotations

from raft_bench import RaftBench, directory, entry, voter

from ottla.model.errors import ErrorCode
from ottla.raft.log_port import ControlRecord, OffsetAndEpoch
from ottla.raft.messages import (
    AddVoterRequest,
    BeginEpochRequest,
    FetchRequest,
    FetchResponse,
    RemoveVoterRequest,
    UpdateVoterRequest,
)
from ottla.raft.voter_history import VoterHistory
from ottla.raft.voters import Endpoint, ReplicaKey, VoterSet


def leading(voters: int = 3) -> RaftBench:
    """A leader that has committed something of its epoch."""
    bench = RaftBench(voters, dynamic=True)
    if bench.role != "Leader":
        bench.lead()
    bench.sync()
    if voters > 1:
        bench.fetch_from(2, bench.log.end_offset, bench.raft.epoch)
    assert bench.raft.high_watermark == bench.log.end_offset
    return bench


def add(bench: RaftBench, node_id: int) -> list[ErrorCode]:
    request = AddVoterRequest(ReplicaKey(node_id, directory(node_id)), voter(node_id).endpoints, 1000)
    return [each.error for each in bench.ask(request, token="add")]


def ids(bench: RaftBench) -> list[int]:
    return [each.key.node_id for each in bench.raft.voters]


def test_the_first_leader_writes_the_first_voters_into_the_log() -> None:
    bench = leading()
    assert bench.raft.state.history.voters_offset >= 0
    assert ids(bench) == [1, 2, 3]


def test_a_new_voter_counts_once_appended_and_is_answered_once_committed() -> None:
    bench = leading(1)
    end = bench.log.end_offset
    assert add(bench, 2) == [], "it has not caught up"
    bench.fetch_from(2, end, bench.raft.epoch)
    assert ids(bench) == [1, 2] and bench.log.end_offset == end + 1
    assert bench.sync() == [], "one of two is no majority any more"
    assert bench.raft.high_watermark == end
    answers = bench.fetch_from(2, end + 1, bench.raft.epoch)
    assert bench.raft.high_watermark == end + 1
    assert [each.error for each in answers] == [ErrorCode.NONE, ErrorCode.NONE]


def test_one_change_at_a_time() -> None:
    bench = leading()
    bench.ask(RemoveVoterRequest(ReplicaKey(3, directory(3))), token="remove")
    assert ids(bench) == [1, 2]
    assert add(bench, 4) == [ErrorCode.REQUEST_TIMED_OUT]


def test_no_change_before_the_leader_has_committed_in_its_epoch() -> None:
    """The bug that Ongaro found in the single-server change of 2015."""
    bench = RaftBench(dynamic=True)
    bench.lead()
    bench.sync()
    assert add(bench, 4) == [ErrorCode.REQUEST_TIMED_OUT]


def test_a_voter_that_does_not_catch_up_in_time_is_refused() -> None:
    bench = leading()
    assert add(bench, 4) == []
    assert ErrorCode.REQUEST_TIMED_OUT in [each.error for each in bench.wait(1001)]
    assert ids(bench) == [1, 2, 3]


def test_what_cannot_be_changed_is_refused() -> None:
    bench = leading()
    assert add(bench, 2) == [ErrorCode.DUPLICATE_VOTER]
    for key in (ReplicaKey(7, directory(7)), ReplicaKey(2, directory(9))):
        (answer,) = bench.ask(RemoveVoterRequest(key))
        assert answer.error == ErrorCode.VOTER_NOT_FOUND
    (answer,) = leading(1).ask(RemoveVoterRequest(ReplicaKey(1, directory(1))))
    assert answer.error == ErrorCode.INVALID_REQUEST, "somebody has to be left"
    (answer,) = RaftBench(dynamic=True).ask(RemoveVoterRequest(ReplicaKey(2, directory(2))))
    assert answer.error == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_leader_that_is_removed_leads_until_that_is_committed_and_does_not_count_itself() -> None:
    bench = leading()
    end = bench.log.end_offset
    bench.ask(RemoveVoterRequest(ReplicaKey(1, directory(1))), token="remove")
    bench.sync()
    assert bench.raft.is_leader and ids(bench) == [2, 3]
    bench.fetch_from(2, end + 1, bench.raft.epoch)
    assert bench.raft.is_leader and bench.raft.high_watermark == end
    answers = bench.fetch_from(3, end + 1, bench.raft.epoch)
    assert ErrorCode.NONE in [each.error for each in answers]
    assert bench.role == "Resigned"


def test_a_truncation_gives_the_former_voters_back() -> None:
    bench = RaftBench(dynamic=True)
    bench.ask(BeginEpochRequest(2, 5))
    more = bench.raft.voters.with_voter(voter(4, dynamic=True))
    send, _ = bench.sent(FetchRequest)[-1]
    bench.sends = [send]
    records = (entry(0, 5), entry(1, 5, ControlRecord(1, voters=more)))
    bench.answer(send, FetchResponse(ErrorCode.NONE, 5, 2, 1, 0, records=records))
    assert ids(bench) == [1, 2, 3, 4]
    bench.sync()
    bench.ask(BeginEpochRequest(3, 6))
    send, _ = bench.sent(FetchRequest)[-1]
    bench.answer(send, FetchResponse(ErrorCode.NONE, 6, 3, 1, 0, diverging=OffsetAndEpoch(1, 5)))
    assert ids(bench) == [1, 2, 3]


def test_a_voters_listeners_may_change() -> None:
    bench = leading()
    endpoints = (Endpoint("CONTROLLER", "elsewhere", 9999),)
    request = UpdateVoterRequest(bench.raft.epoch, ReplicaKey(2, directory(2)), endpoints)
    assert bench.ask(request) == []
    found = bench.raft.voters.get(2)
    assert found is not None and found.endpoints == endpoints
    bench.sync()
    answers = bench.fetch_from(3, bench.log.end_offset, bench.raft.epoch)
    assert ErrorCode.NONE in [each.error for each in answers]
    (stale,) = bench.ask(UpdateVoterRequest(0, ReplicaKey(2, directory(2)), endpoints))
    assert stale.error == ErrorCode.FENCED_LEADER_EPOCH


def test_static_voters_stay() -> None:
    bench = RaftBench(1)
    bench.sync()
    assert add(bench, 2) == [ErrorCode.UNSUPPORTED_VERSION]


def test_the_history_answers_for_any_offset_and_forgets_from_both_ends() -> None:
    one, two, three = (VoterSet(voter(each) for each in range(1, n + 1)) for n in (1, 2, 3))
    history = VoterHistory(one)
    history.note_version(4, 1)
    history.note_voters(5, two)
    history.note_voters(9, three)
    assert history.at(5) == (one, 1) and history.at(6) == (two, 1) and history.at(3) == (one, 0)
    assert history.truncate_from_end(9) and history.voters == two
    assert not history.truncate_from_end(9)
    history.truncate_from_start(7)
    assert history.at(8) == (two, 1)


def test_a_voter_without_a_directory_id_is_known_by_its_number() -> None:
    static = VoterSet([voter(1)])
    assert static.is_voter(ReplicaKey(1, directory(7)))
    dynamic = VoterSet([voter(1, dynamic=True)])
    assert dynamic.is_voter(ReplicaKey(1, directory(1)))
    assert not dynamic.is_voter(ReplicaKey(1, directory(7)))
