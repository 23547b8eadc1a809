"""The leader's side of replication: fetches, long polls, snapshots handed out, the high watermark.

A fetch says how far a replica is, so answering it is also how the leader learns what is committed. One that
finds nothing new waits until there is, or its time is over: a record that arrives, or a high watermark that
the replica does not know, ends the wait.
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

from ottla.model.errors import ErrorCode
from ottla.raft.leader import Leader
from ottla.raft.log_port import OffsetAndEpoch
from ottla.raft.messages import FetchRequest, FetchResponse, SnapshotRequest, SnapshotResponse
from ottla.raft.outbox import Outbox
from ottla.raft.quorum_state import QuorumState
from ottla.raft.voters import ReplicaKey

PENDING_MAX = 10_000
"""Fetches that wait; one of each replica, so only strangers could exceed it."""


class _Pending(NamedTuple):
    token: Any
    request: FetchRequest
    deadline_ms: float


class FetchService:
    def __init__(self, state: QuorumState, outbox: Outbox) -> None:
        self._state = state
        self._outbox = outbox
        self._pending: dict[ReplicaKey, _Pending] = {}

    def _refusal(self, epoch: int) -> ErrorCode:
        """What a request for the leader of an epoch is refused with; NONE when it is served."""
        state = self._state
        if epoch < state.epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        if epoch > state.epoch:
            return ErrorCode.UNKNOWN_LEADER_EPOCH
        return ErrorCode.NONE if isinstance(state.role, Leader) else ErrorCode.NOT_LEADER_OR_FOLLOWER

    def on_fetch(self, token: Any, request: FetchRequest, now_ms: float) -> None:
        state = self._state
        error = self._refusal(request.epoch)
        if not error and (request.offset < 0 or request.last_epoch < 0 or request.last_epoch > request.epoch):
            error = ErrorCode.INVALID_REQUEST
        if error:
            self._outbox.reply(token, self._refused(error))
            return
        role = state.role
        assert isinstance(role, Leader)
        voters = state.voters
        role.note_alive(request.replica, voters, now_ms, state.settings.check_quorum_ms)
        snapshot = self._needed_snapshot(request)
        if snapshot is not None:
            self._outbox.reply(token, self._answer(snapshot=snapshot))
            return
        end = state.log.end_offset_for_epoch(request.last_epoch)
        if end.epoch != request.last_epoch or end.offset < request.offset:
            self._outbox.reply(token, self._answer(diverging=end))
            return
        role.note_fetch(request.replica, voters, request.offset, state.log.end_offset, now_ms)
        if voters.is_voter(request.replica):
            self.advance(now_ms)
        if (
            request.wait_max_ms > 0
            and request.offset >= state.log.end_offset
            and request.high_watermark >= state.high_watermark
        ):
            before = self._pending.pop(request.replica, None)
            if before is not None:
                self._finish(before)  # its connection is gone, most likely
            if len(self._pending) < PENDING_MAX:
                self._pending[request.replica] = _Pending(token, request, now_ms + request.wait_max_ms)
                return
        self._finish(_Pending(token, request, now_ms))

    def _needed_snapshot(self, request: FetchRequest) -> OffsetAndEpoch | None:
        """The snapshot to begin with, when the log does not go back to where the replica is (KIP-630)."""
        log = self._state.log
        start = log.start_offset
        if start > 0 and (
            request.offset < start
            or request.last_epoch < log.start_epoch
            or (request.offset == start and request.last_epoch != log.start_epoch)
        ):
            return log.latest_snapshot()
        return None

    def _finish(self, pending: _Pending) -> None:
        state, request = self._state, pending.request
        records = None
        if request.offset < state.log.end_offset:
            records = state.log.read(request.offset, min(request.bytes_max, state.settings.fetch_bytes_max))
        self._outbox.reply(pending.token, self._answer(records=records))

    def _answer(
        self,
        *,
        diverging: OffsetAndEpoch | None = None,
        snapshot: OffsetAndEpoch | None = None,
        records: Any = None,
    ) -> FetchResponse:
        state = self._state
        return FetchResponse(
            ErrorCode.NONE,
            state.epoch,
            state.leader_id,
            state.high_watermark,
            state.log.start_offset,
            diverging,
            snapshot,
            records,
            state.leader_address,
        )

    def _refused(self, error: ErrorCode) -> FetchResponse:
        state = self._state
        return FetchResponse(error, state.epoch, state.leader_id, leader_address=state.leader_address)

    def on_snapshot(self, token: Any, request: SnapshotRequest, now_ms: float) -> None:
        state = self._state
        error = self._refusal(request.epoch)
        size = None if error else state.log.snapshot_size(request.snapshot)
        if not error:
            role = state.role
            assert isinstance(role, Leader)
            role.note_alive(request.replica, state.voters, now_ms, state.settings.check_quorum_ms)
            if size is None:
                error = ErrorCode.SNAPSHOT_NOT_FOUND
            elif not 0 <= request.position < size:
                error = ErrorCode.POSITION_OUT_OF_RANGE
        data: Any = b""
        if not error:
            bytes_max = max(1, min(request.bytes_max, state.settings.snapshot_bytes_max))
            data = state.log.read_snapshot(request.snapshot, request.position, bytes_max)
        self._outbox.reply(
            token,
            SnapshotResponse(
                error,
                state.epoch,
                state.leader_id,
                request.snapshot,
                size or 0,
                request.position,
                data,
                state.leader_address,
            ),
        )

    # --- what moves the high watermark, and ends a wait

    def advance(self, now_ms: float) -> None:
        """A voter fetched, or this leader has synced: more may be committed now."""
        state, role = self._state, self._state.role
        if not isinstance(role, Leader):
            return
        offset = role.majority_offset(state.voters, state.log.synced_offset)
        if offset > role.epoch_start_offset and state.advance_high_watermark(offset):
            self._release(lambda request: request.high_watermark < state.high_watermark)

    def appended(self) -> None:
        self._release(lambda request: request.offset < self._state.log.end_offset)

    def _release(self, is_due: Any) -> None:
        for replica, pending in list(self._pending.items()):
            if is_due(pending.request):
                del self._pending[replica]
                self._finish(pending)

    def expire(self, now_ms: float) -> None:
        for replica, pending in list(self._pending.items()):
            if pending.deadline_ms <= now_ms:
                del self._pending[replica]
                self._finish(pending)

    def stop(self) -> None:
        """This node leads no more: whoever waits is told at once, and looks for the new leader."""
        pending, self._pending = self._pending, {}
        for each in pending.values():
            error = self._refusal(each.request.epoch) or ErrorCode.NOT_LEADER_OR_FOLLOWER
            self._outbox.reply(each.token, self._refused(error))

    def next_deadline_ms(self) -> float:
        return min((each.deadline_ms for each in self._pending.values()), default=inf)
