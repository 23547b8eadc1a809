"""How a leader is found: the Raft paper's section 5.2 and 5.4.1, KIP-595, KIP-996 and KIP-853."""

from __future__ import annotations

from dataclasses import replace

import pytest
from raft_bench import SETTINGS, RaftBench, address, directory

from ottla.model.errors import ErrorCode
from ottla.raft.election_state import ElectionState
from ottla.raft.messages import (
    BeginEpochRequest,
    EndEpochRequest,
    EndEpochResponse,
    FetchRequest,
    FetchResponse,
    VoteRequest,
    VoteResponse,
)
from ottla.raft.voters import ReplicaKey


def vote(
    candidate: int, epoch: int, *, last: tuple[int, int] = (0, 0), pre_vote: bool = False
) -> VoteRequest:
    return VoteRequest(ReplicaKey(candidate, directory(candidate)), epoch, last[0], last[1], pre_vote)


def granted(bench: RaftBench, request: VoteRequest) -> bool:
    (response,) = bench.ask(request)
    assert isinstance(response, VoteResponse)
    return response.granted


def test_a_voter_gives_one_vote_in_an_epoch() -> None:
    """Raft, section 5.2: at most one candidate can win an epoch."""
    bench = RaftBench()
    assert granted(bench, vote(2, 5))
    assert not granted(bench, vote(3, 5))
    assert granted(bench, vote(2, 5)), "asked again, because the answer was lost"
    assert granted(bench, vote(3, 6)), "another epoch"


def test_a_vote_is_written_down_before_it_is_answered() -> None:
    bench = RaftBench()
    assert granted(bench, vote(2, 5))
    assert bench.store.state == ElectionState(5, -1, ReplicaKey(2, directory(2)))
    again = RaftBench(stored=bench.store.state)
    assert not granted(again, vote(3, 5))
    assert granted(again, vote(2, 5))


@pytest.mark.parametrize(
    ("last", "expected"),
    [((2, 3), True), ((2, 4), True), ((3, 1), True), ((2, 2), False), ((1, 9), False)],
)
def test_a_vote_goes_only_to_a_log_that_is_at_least_as_far(last: tuple[int, int], expected: bool) -> None:
    """Raft, section 5.4.1: first the epoch of the last record, then the length."""
    for pre_vote in (False, True):
        bench = RaftBench(log=(1, 2, 2))
        assert granted(bench, vote(2, 7, last=last, pre_vote=pre_vote)) is expected


def test_a_question_promises_nothing() -> None:
    """KIP-996."""
    bench = RaftBench()
    assert granted(bench, vote(2, 0, pre_vote=True))
    assert granted(bench, vote(3, 0, pre_vote=True))
    assert bench.store.state is None and bench.raft.epoch == 0


def test_who_follows_a_living_leader_encourages_nobody() -> None:
    """KIP-996: a node that was cut off does not end the epoch of a leader that the others can reach."""
    bench = RaftBench()
    bench.ask(BeginEpochRequest(2, 3))
    assert granted(bench, vote(3, 3, last=(9, 9), pre_vote=True)), "not heard of yet"
    send, request = bench.sent(FetchRequest)[-1]
    bench.answer(send, FetchResponse(ErrorCode.NONE, 3, 2, 0, 0))
    assert request.epoch == 3
    assert not granted(bench, vote(3, 3, last=(9, 9), pre_vote=True))


def test_an_old_epoch_is_fenced_and_told_who_leads() -> None:
    bench = RaftBench()
    bench.ask(BeginEpochRequest(2, 3))
    (response,) = bench.ask(vote(3, 2))
    assert isinstance(response, VoteResponse)
    assert response.error == ErrorCode.FENCED_LEADER_EPOCH
    assert (response.epoch, response.leader_id, response.leader_address) == (3, 2, address(2))


def test_a_vote_for_another_directory_is_refused() -> None:
    """KIP-853: whoever answers is not the voter that was meant."""
    bench = RaftBench(dynamic=True)
    request = replace(vote(2, 5), voter=ReplicaKey(1, directory(9)))
    (response,) = bench.ask(request)
    assert response.error == ErrorCode.INVALID_VOTER_KEY
    assert bench.store.state is None


def test_a_silence_leads_to_a_question_then_to_an_election_then_to_leadership() -> None:
    bench = RaftBench(log=(1, 1))
    assert bench.role == "Unattached" and bench.raft.epoch == 1
    bench.stand()
    assert bench.raft.epoch == 2
    assert bench.store.state == ElectionState(2, -1, ReplicaKey(1, directory(1)))
    requests = bench.sent(VoteRequest)
    assert sorted(send.node_id for send, _ in requests) == [2, 3]
    assert all((request.last_epoch, request.last_offset) == (1, 2) for _, request in requests)
    bench.answer(requests[0][0], VoteResponse(ErrorCode.NONE, 2, -1, True))
    assert bench.role == "Leader" and bench.log.last_epoch == 2
    assert bench.store.state == ElectionState(2, 1, ReplicaKey(1, directory(1)))
    assert sorted(send.node_id for send, _ in bench.sent(BeginEpochRequest)) == [2, 3]


def test_a_candidate_that_loses_waits_and_asks_first() -> None:
    bench = RaftBench()
    bench.stand()
    for send, request in bench.sent(VoteRequest):
        if send in bench.sends:
            bench.answer(send, VoteResponse(ErrorCode.NONE, request.epoch, -1, False))
    assert bench.role == "Voted", "for itself"
    epoch = bench.raft.epoch
    bench.wait(SETTINGS.election_backoff_max_ms)
    assert bench.role in ("Prospective", "Voted") and bench.raft.epoch == epoch


def test_timeouts_differ_from_election_to_election() -> None:
    """Raft, section 5.2: random timeouts split few votes."""
    bench = RaftBench()
    found = {round(bench.raft.state.election_timeout_ms()) for _ in range(20)}
    assert len(found) > 10
    assert all(SETTINGS.election_timeout_ms <= each <= 2 * SETTINGS.election_timeout_ms for each in found)


def test_nobody_leads_an_epoch_twice() -> None:
    """Its log may have lost its end: another leader of the same epoch would write other records there."""
    bench = RaftBench(stored=ElectionState(4, 1, ReplicaKey(1, directory(1))), log=(4,))
    assert bench.role == "Resigned" and not bench.raft.is_leader
    assert bench.raft.leader_id == -1
    assert sorted(send.node_id for send, _ in bench.sent(EndEpochRequest)) == [2, 3]
    assert not granted(bench, vote(2, 4, last=(4, 9))), "it voted for itself in this epoch"


def test_a_quorum_of_one_leads_at_once() -> None:
    bench = RaftBench(1, log=(3, 3), stored=ElectionState(5, 1, None))
    assert bench.role == "Leader" and bench.raft.epoch == 6
    assert bench.raft.next_deadline_ms() == float("inf")
    bench.sync()
    assert bench.raft.high_watermark == 3


def test_the_first_successor_stands_at_once_and_the_others_a_little_later() -> None:
    """EndQuorumEpoch."""
    successors = (ReplicaKey(1), ReplicaKey(3))
    first = RaftBench()
    first.ask(BeginEpochRequest(2, 3))
    (response,) = first.ask(EndEpochRequest(2, 3, successors))
    assert isinstance(response, EndEpochResponse) and response.error == ErrorCode.NONE
    assert first.role == "Prospective"
    second = RaftBench(own=3)
    second.ask(BeginEpochRequest(2, 3))
    second.ask(EndEpochRequest(2, 3, successors))
    assert second.role == "Follower"
    assert granted(second, vote(1, 3, last=(0, 0), pre_vote=True)), "the leader itself has gone"
    second.wait(SETTINGS.election_backoff_max_ms)
    assert second.role == "Prospective"


def test_a_resigning_leader_names_the_longest_logs_first() -> None:
    bench = RaftBench()
    bench.lead()
    bench.sync()
    bench.raft.append("x", bench.now_ms)
    bench.fetch_from(3, 1, 1)
    bench.fetch_from(2, 0, 0)
    bench.raft.resign(bench.now_ms)
    bench._take()
    assert bench.role == "Resigned"
    requests = bench.sent(EndEpochRequest)
    assert [key.node_id for key in requests[0][1].successors] == [3, 2]


def test_a_leader_that_no_majority_asks_resigns() -> None:
    """KIP-595, check quorum: after one and a half fetch timeouts."""
    bench = RaftBench(5)
    bench.lead()
    for _ in range(4):
        bench.wait(SETTINGS.fetch_timeout_ms)
        for node_id in (2, 3):
            bench.fetch_from(node_id, 1, bench.raft.epoch)
    assert bench.raft.is_leader
    bench.wait(SETTINGS.check_quorum_ms - 1)
    bench.fetch_from(2, 1, bench.raft.epoch)
    assert bench.raft.is_leader, "one of four, and the time is not over"
    bench.wait(2)
    assert not bench.raft.is_leader


def test_two_leaders_of_one_epoch_are_refused() -> None:
    bench = RaftBench()
    bench.ask(BeginEpochRequest(2, 3))
    (response,) = bench.ask(BeginEpochRequest(3, 3))
    assert response.error == ErrorCode.INVALID_REQUEST
    assert bench.raft.leader_id == 2
    (response,) = bench.ask(BeginEpochRequest(1, 4))
    assert response.error == ErrorCode.INVALID_REQUEST


def test_a_replica_that_knows_nobody_asks_the_bootstrap_addresses() -> None:
    bench = RaftBench(0)
    assert not bench.sends and bench.role == "Observer"
    bench = RaftBench()
    asked = {send.address for send, _ in bench.sent(FetchRequest)}
    assert asked and asked <= {address(2), address(3)}
    send, _ = bench.sent(FetchRequest)[0]
    bench.answer(send, FetchResponse(ErrorCode.FENCED_LEADER_EPOCH, 7, 3, leader_address=address(3)))
    assert bench.role == "Follower" and (bench.raft.epoch, bench.raft.leader_id) == (7, 3)
    assert bench.sent(FetchRequest)[-1][0].address == address(3)


def test_a_voter_that_may_have_forgotten_its_promises_elects_nobody_who_has_records() -> None:
    bench = RaftBench()
    bench.raft.may_vote = False
    assert not granted(bench, vote(2, 5, last=(4, 10)))
    assert granted(bench, vote(2, 6)), "nobody has anything: the quorum is new"
