"""How a leader is found: votes, the beginning and the end of an epoch, and what a silence leads to.

A voter that hears nothing asks first whether it would win (prospective), then stands (candidate), then leads.
A replica grants its vote once an epoch, to a candidate whose log is at least as far as its own (the Raft
paper, section 5.4.1), and answers only after the vote is on stable storage.
"""

from __future__ import annotations

from math import inf
from typing import Any

from ottla.model.errors import ErrorCode
from ottla.ports.peers import Address
from ottla.raft.election_state import NO_NODE
from ottla.raft.leader import Leader
from ottla.raft.messages import (
    BeginEpochRequest,
    BeginEpochResponse,
    EndEpochRequest,
    EndEpochResponse,
    VoteRequest,
    VoteResponse,
)
from ottla.raft.outbox import Outbox, Send
from ottla.raft.quorum_state import QuorumState
from ottla.raft.roles import Candidate, Follower, Prospective, Resigned, Unattached
from ottla.raft.voters import ReplicaKey


class Elections:
    def __init__(self, state: QuorumState, outbox: Outbox) -> None:
        self._state = state
        self._outbox = outbox
        self._lost_in_a_row = 0
        self.may_vote = True
        """Off while a replica whose disk was empty at its start has not caught up with a leader: it does not
        know what it once promised.
        """

    # --- what others ask

    def on_vote(self, token: Any, request: VoteRequest, now_ms: float) -> None:
        state = self._state
        if request.voter is not None and not state.own.may_be(request.voter):
            self._answer_vote(token, ErrorCode.INVALID_VOTER_KEY, False)
            return
        if request.epoch < state.epoch:
            self._answer_vote(token, ErrorCode.FENCED_LEADER_EPOCH, False)
            return
        if request.epoch > state.epoch:
            state.to_unattached(request.epoch, now_ms)
        granted = self._would_grant(request)
        if granted and not request.pre_vote:
            state.to_voted(request.epoch, request.candidate, now_ms)
        self._answer_vote(token, ErrorCode.NONE, granted)

    def _would_grant(self, request: VoteRequest) -> bool:
        state, role = self._state, self._state.role
        mine = (state.log.last_epoch, state.log.end_offset)
        up_to_date = (request.last_epoch, request.last_offset) >= mine
        if not self.may_vote and request.last_epoch > 0:
            return False
        if isinstance(role, Leader):
            return False
        if request.pre_vote:
            if isinstance(role, Follower) and role.has_fetched and not role.leader_left:
                return False  # the leader is there
            return up_to_date
        if role.voted is not None:
            return role.voted.may_be(request.candidate)
        return role.leader_id == NO_NODE and up_to_date

    def _answer_vote(self, token: Any, error: ErrorCode, granted: bool) -> None:
        state = self._state
        self._outbox.reply(
            token, VoteResponse(error, state.epoch, state.leader_id, granted, state.leader_address)
        )

    def on_begin_epoch(self, token: Any, request: BeginEpochRequest, now_ms: float) -> None:
        state = self._state
        error = ErrorCode.NONE
        if request.voter is not None and not state.own.may_be(request.voter):
            error = ErrorCode.INVALID_VOTER_KEY
        elif request.epoch < state.epoch:
            error = ErrorCode.FENCED_LEADER_EPOCH
        elif (
            request.leader_id == state.own.node_id
            or request.leader_id < 0
            or (request.epoch == state.epoch and state.role.leader_id not in (NO_NODE, request.leader_id))
        ):
            error = ErrorCode.INVALID_REQUEST
        else:
            address = (
                Address(request.endpoints[0].host, request.endpoints[0].port) if request.endpoints else None
            )
            role = state.role
            if not (
                isinstance(role, Follower)
                and request.epoch == state.epoch
                and role.leader_address is not None
            ):
                state.to_follower(request.epoch, request.leader_id, address, now_ms)
        self._outbox.reply(
            token, BeginEpochResponse(error, state.epoch, state.leader_id, state.leader_address)
        )

    def _cannot_lead(self, leader_id: int, epoch: int) -> bool:
        """Whether a claim to lead contradicts what is known here."""
        state = self._state
        if leader_id < 0 or leader_id == state.own.node_id:
            return True
        return epoch == state.epoch and state.role.leader_id not in (NO_NODE, leader_id)

    def on_end_epoch(self, token: Any, request: EndEpochRequest, now_ms: float) -> None:
        state, role = self._state, self._state.role
        error = ErrorCode.NONE
        if request.epoch < state.epoch:
            error = ErrorCode.FENCED_LEADER_EPOCH
        elif (
            request.leader_id < 0
            or request.leader_id == state.own.node_id
            or (request.epoch == state.epoch and role.leader_id not in (NO_NODE, request.leader_id))
        ):
            error = ErrorCode.INVALID_REQUEST
        else:
            if request.epoch > state.epoch or (isinstance(role, Unattached) and role.leader_id == NO_NODE):
                state.to_follower(request.epoch, request.leader_id, None, now_ms)
                role = state.role
            if isinstance(role, Follower) and not role.leader_left:
                role.leader_left = True
                role.deadline_ms = now_ms + self._succession_ms(request.successors)
        self._outbox.reply(token, EndEpochResponse(error, state.epoch, NO_NODE))

    def _succession_ms(self, successors: tuple[ReplicaKey, ...]) -> float:
        """The first of the list stands at once; the others give those before them time to win."""
        state = self._state
        for place, key in enumerate(successors):
            if key.may_be(state.own):
                if place == 0:
                    return 0.0
                pause_ms = state.settings.retry_backoff_ms * 2.0 ** min(place + 2, 16)
                return min(pause_ms, state.settings.election_backoff_max_ms)
        return state.backoff_ms(3)

    # --- what others answer

    def on_vote_response(self, send: Send, response: VoteResponse, now_ms: float) -> None:
        request = send.request
        assert isinstance(request, VoteRequest)
        role = self._state.role
        if request.epoch != self._state.epoch:
            return
        if (request.pre_vote and isinstance(role, Prospective)) or (
            not request.pre_vote and isinstance(role, Candidate)
        ):
            role.ballot.record(send.node_id, response.granted and not response.error)

    def on_begin_response(self, send: Send, response: BeginEpochResponse) -> None:
        role = self._state.role
        if isinstance(role, Leader) and not response.error:
            role.begun.add(send.node_id)

    def on_end_response(self, send: Send, response: EndEpochResponse) -> None:
        role = self._state.role
        if isinstance(role, Resigned):
            role.unheard.discard(send.node_id)

    # --- what time brings

    def drive(self, now_ms: float) -> bool:
        """Does what is due in this role; True when the role has changed, and there may be more to do."""
        state, role = self._state, self._state.role
        if isinstance(role, Prospective):
            return self._drive_prospective(role, now_ms)
        if isinstance(role, Candidate):
            return self._drive_candidate(role, now_ms)
        if isinstance(role, Leader):
            return self._drive_leader(role, now_ms)
        if isinstance(role, Resigned):
            if role.deadline_ms <= now_ms:
                state.to_unattached(state.epoch, now_ms)
                return True
            for voter_id in list(role.unheard):
                request = EndEpochRequest(state.own.node_id, state.epoch, role.successors, state.endpoints)
                self._send(voter_id, request, now_ms)
            return False
        if role.deadline_ms <= now_ms or state.voters.is_only(state.own):
            if state.is_voter and len(state.voters):
                state.to_prospective(now_ms)
                return True
            if isinstance(role, Unattached):
                role.deadline_ms = now_ms + state.election_timeout_ms()  # an observer only goes on looking
        return False

    def _drive_prospective(self, role: Prospective, now_ms: float) -> bool:
        state = self._state
        if not state.is_voter:
            state.to_unattached(state.epoch, now_ms)
            return True
        if role.ballot.is_won:
            state.to_candidate(now_ms)
            return True
        if role.ballot.is_lost or role.deadline_ms <= now_ms:
            # Its turn comes again after an election timeout; meanwhile it looks for a leader.
            state.to_unattached(state.epoch, now_ms)
            return True
        self._ask_for_votes(role.ballot.unheard(), state.epoch, True, now_ms)
        return False

    def _drive_candidate(self, role: Candidate, now_ms: float) -> bool:
        state = self._state
        if role.ballot.is_won:
            self._lost_in_a_row = 0
            state.to_leader(now_ms)
            return True
        if role.ballot.is_lost or role.deadline_ms <= now_ms:
            self._lost_in_a_row += 1
            state.to_unattached(state.epoch, now_ms)
            assert isinstance(state.role, Unattached)
            state.role.deadline_ms = now_ms + state.backoff_ms(self._lost_in_a_row)
            return True
        self._ask_for_votes(role.ballot.unheard(), state.epoch, False, now_ms)
        return False

    def _ask_for_votes(self, voter_ids: list[int], epoch: int, pre_vote: bool, now_ms: float) -> None:
        state = self._state
        for voter_id in voter_ids:
            voter = state.voters.get(voter_id)
            request = VoteRequest(
                state.own,
                epoch,
                state.log.last_epoch,
                state.log.end_offset,
                pre_vote,
                None if voter is None else voter.key,
            )
            self._send(voter_id, request, now_ms)

    def _drive_leader(self, role: Leader, now_ms: float) -> bool:
        state = self._state
        voters = state.voters
        if role.quorum_deadline_ms <= now_ms and not voters.is_only(state.own):
            state.to_resigned(now_ms)
            return True
        if not state.is_voter and state.history.voters_offset < state.high_watermark:
            state.to_resigned(now_ms)  # it took itself out of the voters, and that is committed
            return True
        for voter in voters:
            voter_id = voter.key.node_id
            if voter_id == state.own.node_id or role.begin_at_ms.get(voter_id, -inf) > now_ms:
                continue
            progress = role.replicas.get(voter.key)
            silent_ms = now_ms - (0.0 if progress is None else progress.last_fetch_ms)
            if voter_id in role.begun and silent_ms < state.settings.fetch_timeout_ms / 2:
                role.begin_at_ms[voter_id] = now_ms + state.settings.fetch_timeout_ms / 2
                continue
            request = BeginEpochRequest(state.own.node_id, state.epoch, state.endpoints, voter.key)
            if self._send(voter_id, request, now_ms):
                role.begin_at_ms[voter_id] = now_ms + (
                    state.settings.fetch_timeout_ms / 2
                    if voter_id in role.begun
                    else state.settings.retry_backoff_ms * 10
                )
        return False

    def next_deadline_ms(self, now_ms: float) -> float:
        role = self._state.role
        if isinstance(role, Leader):
            if self._state.voters.is_only(self._state.own):
                return inf
            return min([role.quorum_deadline_ms, *(at for at in role.begin_at_ms.values() if at > now_ms)])
        if isinstance(role, Follower) and not self._state.is_voter and role.deadline_ms <= now_ms:
            return inf  # an observer stays where it is, and looks for another leader meanwhile
        return role.deadline_ms

    def _send(self, voter_id: int, request: Any, now_ms: float) -> bool:
        address = self._state.address_of(voter_id)
        if address is None:
            return False
        return self._outbox.send(voter_id, address, request, self._state.epoch, now_ms)
