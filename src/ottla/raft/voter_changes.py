"""Changing the voters, one at a time (KIP-853; the Raft dissertation, section 4.1).

A change is a VotersRecord in the log, in force once appended and final once committed. The next one has to
wait for that, and the first of an epoch until the leader has committed something of its own: two majorities
that do not overlap can then never be. A new voter has to have caught up, as an observer, before it counts.
"""

from __future__ import annotations

from math import inf
from typing import Any

from ottla.model.errors import ErrorCode, KafkaError
from ottla.raft.leader import Leader
from ottla.raft.messages import (
    AddVoterRequest,
    RemoveVoterRequest,
    UpdateVoterRequest,
    VoterChangeResponse,
)
from ottla.raft.outbox import Outbox
from ottla.raft.quorum_state import QuorumState
from ottla.raft.voters import NO_DIRECTORY, VoterNode, VoterSet


class _Change:
    """The one change under way: waiting for its voter to catch up, or (`offset` set) to be committed."""

    __slots__ = ("token", "request", "deadline_ms", "offset", "answered")

    def __init__(self, token: Any, request: Any, deadline_ms: float) -> None:
        self.token = token
        self.request = request
        self.deadline_ms = deadline_ms
        self.offset = -1
        self.answered = False


class VoterChanges:
    def __init__(self, state: QuorumState, outbox: Outbox) -> None:
        self._state = state
        self._outbox = outbox
        self._change: _Change | None = None
        self.appended = False
        """Whether a record was appended since somebody last looked."""

    def _answer(self, token: Any, error: ErrorCode, message: str | None = None) -> None:
        state = self._state
        self._outbox.reply(
            token,
            VoterChangeResponse(error, state.epoch, state.leader_id, message, state.leader_address),
        )

    def _refusal(self) -> tuple[ErrorCode, str] | None:
        state, role = self._state, self._state.role
        if not isinstance(role, Leader):
            return ErrorCode.NOT_LEADER_OR_FOLLOWER, "this node does not lead the quorum"
        if state.history.kraft_version < 1:
            return ErrorCode.UNSUPPORTED_VERSION, "the voters are those of controller.quorum.voters"
        if self._change is not None or state.history.voters_offset >= state.high_watermark:
            return ErrorCode.REQUEST_TIMED_OUT, "another change of the voters is not committed yet"
        if state.high_watermark <= role.epoch_start_offset:
            return ErrorCode.REQUEST_TIMED_OUT, "the leader has not committed anything of its epoch yet"
        return None

    def on_add(self, token: Any, request: AddVoterRequest, now_ms: float) -> None:
        refusal = self._refusal()
        if refusal is not None:
            self._answer(token, *refusal)
            return
        if request.voter.node_id < 0 or request.voter.directory_id == NO_DIRECTORY or not request.endpoints:
            self._answer(token, ErrorCode.INVALID_REQUEST, "a voter has an id, a directory id and a listener")
            return
        if request.voter.node_id in self._state.voters:
            self._answer(token, ErrorCode.DUPLICATE_VOTER, f"node {request.voter.node_id} is a voter already")
            return
        timeout_ms = min(max(request.timeout_ms, 0), self._state.settings.add_voter_timeout_ms)
        self._change = _Change(token, request, now_ms + timeout_ms)
        self.drive(now_ms)

    def on_remove(self, token: Any, request: RemoveVoterRequest, now_ms: float) -> None:
        refusal = self._refusal()
        voters = self._state.voters
        if refusal is not None:
            self._answer(token, *refusal)
        elif voters.get(request.voter.node_id) is None or not voters.is_voter(request.voter):
            self._answer(token, ErrorCode.VOTER_NOT_FOUND, f"node {request.voter.node_id} is no such voter")
        elif len(voters) == 1:
            self._answer(token, ErrorCode.INVALID_REQUEST, "the last voter cannot be removed")
        else:
            self._change = _Change(token, request, now_ms + self._state.settings.add_voter_timeout_ms)
            self._append(self._change, voters.without(request.voter.node_id))

    def on_update(self, token: Any, request: UpdateVoterRequest, now_ms: float) -> None:
        state = self._state
        if request.epoch != state.epoch:
            fenced = request.epoch < state.epoch
            error = ErrorCode.FENCED_LEADER_EPOCH if fenced else ErrorCode.UNKNOWN_LEADER_EPOCH
            self._answer(token, error)
            return
        refusal = self._refusal()
        if refusal is not None:
            self._answer(token, *refusal)
            return
        voter = state.voters.voter_of(request.voter)
        if voter is None:
            self._answer(token, ErrorCode.VOTER_NOT_FOUND)
        elif (
            not request.endpoints
            or not request.version_min <= state.history.kraft_version <= request.version_max
        ):
            self._answer(token, ErrorCode.INVALID_REQUEST)
        else:
            changed = VoterNode(voter.key, request.endpoints, request.version_min, request.version_max)
            if changed == voter:
                self._answer(token, ErrorCode.NONE)
                return
            self._change = _Change(token, request, now_ms + state.settings.add_voter_timeout_ms)
            self._append(self._change, state.voters.with_voter(changed))

    def _append(self, change: _Change, voters: VoterSet) -> None:
        state = self._state
        try:
            record = state.log.append_voters(voters, state.epoch)
        except KafkaError as error:
            self._change = None
            self._answer(change.token, error.code, error.message)
            return
        state.note_control((record,))
        change.offset = record.offset
        self.appended = True
        if isinstance(change.request, AddVoterRequest) and not change.request.ack_when_committed:
            change.answered = True
            self._answer(change.token, ErrorCode.NONE)

    def drive(self, now_ms: float) -> None:
        """The voter has caught up, the record is committed, or the time is over."""
        change, state, role = self._change, self._state, self._state.role
        if change is None or not isinstance(role, Leader):
            return
        if change.offset >= 0:
            if state.high_watermark > change.offset:
                self._change = None
                if not change.answered:
                    self._answer(change.token, ErrorCode.NONE)
            elif change.deadline_ms <= now_ms and not change.answered:
                # It stays in the log, and the next change waits for it; only nobody is kept waiting.
                change.answered = True
                self._answer(change.token, ErrorCode.REQUEST_TIMED_OUT, "not committed in time")
            return
        request = change.request
        assert isinstance(request, AddVoterRequest)
        progress = role.replicas.get(request.voter)
        window_ms = state.settings.fetch_timeout_ms
        if progress is not None and progress.caught_up_ms > 0 and now_ms - progress.last_fetch_ms < window_ms:
            self._append(change, state.voters.with_voter(VoterNode(request.voter, request.endpoints)))
        elif change.deadline_ms <= now_ms:
            self._change = None
            self._answer(change.token, ErrorCode.REQUEST_TIMED_OUT, "the new voter has not caught up in time")

    def stop(self) -> None:
        """Leadership is gone; whether an appended change stays is the next leader's."""
        change, self._change = self._change, None
        if change is not None and not change.answered:
            self._answer(change.token, ErrorCode.NOT_LEADER_OR_FOLLOWER, "this node leads the quorum no more")

    def next_deadline_ms(self) -> float:
        change = self._change
        return inf if change is None or change.answered else change.deadline_ms
