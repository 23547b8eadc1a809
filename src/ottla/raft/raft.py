"""One replica of the metadata quorum, as a state machine: events in, effects out, no clock and no I/O.

In: `handle` (a request from another replica), `response` and `failed` (of a request that was sent), `tick`,
`synced`, `append`, `resign`. Out, after each of them, from `take_ready`: replies, requests to send, and what
has changed; then `next_deadline_ms` says when `tick` is due. The parts: `quorum_state` (epoch, role, voters),
`elections`, `fetch_service` (the leader's side of replication), `fetcher` (the followers'), `voter_changes`.

The caller writes: it syncs the log when `wants_sync` says so, and calls `synced` when that is done. What is
below `high_watermark` is committed and never changes.
"""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

from ottla.model.errors import ErrorCode, KafkaError
from ottla.ports.peers import Address
from ottla.raft.election_state import NO_NODE, ElectionStore
from ottla.raft.elections import Elections
from ottla.raft.fetch_service import FetchService
from ottla.raft.fetcher import Fetcher
from ottla.raft.leader import Leader
from ottla.raft.log_port import OffsetAndEpoch, RaftLog, Records
from ottla.raft.messages import (
    AddVoterRequest,
    BeginEpochRequest,
    BeginEpochResponse,
    EndEpochRequest,
    EndEpochResponse,
    FetchRequest,
    FetchResponse,
    RemoveVoterRequest,
    Request,
    Response,
    SnapshotRequest,
    SnapshotResponse,
    UpdateVoterRequest,
    VoteRequest,
    VoteResponse,
)
from ottla.raft.outbox import Outbox, Reply, Send
from ottla.raft.quorum_state import QuorumState
from ottla.raft.roles import Candidate, Follower, Prospective, Unattached
from ottla.raft.settings import RaftSettings
from ottla.raft.voter_changes import VoterChanges
from ottla.raft.voters import Endpoint, ReplicaKey, VoterSet

TRANSITIONS_MAX = 8
"""Roles that one event may lead through: unattached, prospective, candidate, leader is the longest way."""


class Ready(NamedTuple):
    """What there is to do after an event."""

    replies: tuple[Reply, ...]
    sends: tuple[Send, ...]
    wants_sync: bool
    installed: OffsetAndEpoch | None
    """A snapshot that took the place of the log: the state machine has to be loaded from it."""


class Raft:
    def __init__(
        self,
        own: ReplicaKey,
        log: RaftLog,
        store: ElectionStore,
        chance: Random,
        *,
        settings: RaftSettings | None = None,
        static_voters: VoterSet | None = None,
        endpoints: tuple[Endpoint, ...] = (),
        bootstrap: tuple[Address, ...] = (),
        can_vote: bool = True,
    ) -> None:
        settings = settings or RaftSettings()
        self._state = QuorumState(
            own,
            endpoints,
            log,
            store,
            chance,
            settings,
            static_voters or VoterSet(),
            bootstrap,
            can_vote,
        )
        self._outbox = Outbox(settings)
        self._elections = Elections(self._state, self._outbox)
        self._service = FetchService(self._state, self._outbox)
        self._fetcher = Fetcher(self._state, self._outbox)
        self._changes = VoterChanges(self._state, self._outbox)
        self._now_ms = 0.0

    # --- what it is

    @property
    def state(self) -> QuorumState:
        return self._state

    @property
    def epoch(self) -> int:
        return self._state.epoch

    @property
    def leader_id(self) -> int:
        return self._state.leader_id

    @property
    def leader_address(self) -> Address | None:
        return self._state.leader_address

    @property
    def voters(self) -> VoterSet:
        return self._state.voters

    @property
    def high_watermark(self) -> int:
        return self._state.high_watermark

    @property
    def is_leader(self) -> bool:
        return isinstance(self._state.role, Leader)

    @property
    def leader(self) -> Leader | None:
        role = self._state.role
        return role if isinstance(role, Leader) else None

    @property
    def leader_high_watermark(self) -> int:
        """What the current leader has told, or knows when it is this node; -1 when there is none yet."""
        role = self._state.role
        if isinstance(role, Leader):
            committed = self._state.high_watermark
            return committed if committed > role.epoch_start_offset else -1
        return self._fetcher.leader_high_watermark

    @property
    def may_vote(self) -> bool:
        return self._elections.may_vote

    @may_vote.setter
    def may_vote(self, value: bool) -> None:
        self._elections.may_vote = value

    # --- events

    def start(self, now_ms: float) -> None:
        self._state.start(now_ms)
        self._drive(now_ms)

    def handle(self, token: Any, request: Request, now_ms: float) -> None:
        """The answer comes as a `Reply` with this token, perhaps later."""
        match request:
            case FetchRequest():
                self._service.on_fetch(token, request, now_ms)
            case VoteRequest():
                self._in_transition(lambda: self._elections.on_vote(token, request, now_ms))
            case BeginEpochRequest():
                self._in_transition(lambda: self._elections.on_begin_epoch(token, request, now_ms))
            case EndEpochRequest():
                self._in_transition(lambda: self._elections.on_end_epoch(token, request, now_ms))
            case SnapshotRequest():
                self._service.on_snapshot(token, request, now_ms)
            case AddVoterRequest():
                self._changes.on_add(token, request, now_ms)
            case RemoveVoterRequest():
                self._changes.on_remove(token, request, now_ms)
            case UpdateVoterRequest():
                self._changes.on_update(token, request, now_ms)
        self._drive(now_ms)

    def response(self, number: int, response: Response, now_ms: float) -> None:
        taken = self._outbox.take(number, now_ms, failed=False)
        if taken is None:
            return
        send, epoch = taken
        self._in_transition(lambda: self._adopt(send, response, now_ms))
        if epoch == self._state.epoch:
            match response:
                case FetchResponse():
                    self._fetcher.on_fetch_response(send, response, now_ms)
                case VoteResponse():
                    self._elections.on_vote_response(send, response, now_ms)
                case BeginEpochResponse():
                    self._elections.on_begin_response(send, response)
                case EndEpochResponse():
                    self._elections.on_end_response(send, response)
                case SnapshotResponse():
                    self._fetcher.on_snapshot_response(send, response, now_ms)
                case _:
                    pass
        self._drive(now_ms)

    def failed(self, number: int, now_ms: float) -> None:
        """Not sent, or not answered: nobody knows whether it was carried out."""
        self._outbox.take(number, now_ms, failed=True)
        self._drive(now_ms)

    def tick(self, now_ms: float) -> None:
        self._outbox.expire(now_ms)
        self._drive(now_ms)

    def synced(self, now_ms: float) -> None:
        """More of the log is on stable storage."""
        self._service.advance(now_ms)
        self._drive(now_ms)

    def append(self, records: Records, now_ms: float) -> None:
        """As the leader. Raises KafkaError (NOT_CONTROLLER, or the log's), and nothing has changed then."""
        if not self.is_leader:
            raise KafkaError(ErrorCode.NOT_CONTROLLER, "this node does not lead the metadata quorum")
        self._state.log.append(records, self._state.epoch)
        self._service.appended()

    def resign(self, now_ms: float) -> None:
        """Before a clean stop: the voters are told, and elect another at once."""
        if self.is_leader and not self._state.voters.is_only(self._state.own):
            self._in_transition(lambda: self._state.to_resigned(now_ms))
            self._drive(now_ms)

    # --- effects

    def take_ready(self) -> Ready:
        outbox, log = self._outbox, self._state.log
        replies, sends = tuple(outbox.replies), tuple(outbox.sends)
        outbox.replies.clear()
        outbox.sends.clear()
        installed, self._fetcher.installed = self._fetcher.installed, None
        return Ready(replies, sends, log.synced_offset < log.end_offset, installed)

    def next_deadline_ms(self) -> float:
        """When `tick` is due; never in the past of the last event."""
        now_ms = self._now_ms
        return min(
            self._elections.next_deadline_ms(now_ms),
            self._fetcher.next_deadline_ms(now_ms),
            self._service.next_deadline_ms(),
            self._changes.next_deadline_ms(),
            self._outbox.next_deadline_ms(now_ms),
        )

    # --- inside

    def _adopt(self, send: Send, response: Response, now_ms: float) -> None:
        """What any answer tells about the epoch and its leader.

        A leader that this replica has given up in its epoch is followed again only when it answers itself:
        the others may not have noticed yet.
        """
        state = self._state
        epoch, leader_id = response.epoch, response.leader_id
        if epoch < state.epoch or epoch < 0:
            return
        address = response.leader_address
        is_followable = leader_id not in (NO_NODE, state.own.node_id) and (
            address is not None or state.address_of(leader_id) is not None
        )
        if epoch > state.epoch:
            if is_followable:
                state.to_follower(epoch, leader_id, address, now_ms)
            else:
                state.to_unattached(epoch, now_ms)
            return
        role = state.role
        known = role.leader_id == NO_NODE or (
            role.leader_id == leader_id and send.address in (address, state.address_of(leader_id))
        )
        if is_followable and known and isinstance(role, Unattached | Prospective | Candidate):
            state.to_follower(epoch, leader_id, address, now_ms)
        elif (
            is_followable
            and isinstance(role, Follower)
            and role.leader_id == leader_id
            and role.leader_address is None
        ):
            role.leader_address = address or state.address_of(leader_id)

    def _in_transition(self, event: Any) -> None:
        state = self._state
        epoch, led = state.epoch, self.is_leader
        event()
        self._changed(epoch, led)

    def _changed(self, epoch_before: int, led_before: bool) -> None:
        state = self._state
        if state.epoch != epoch_before:
            self._outbox.drop_all()
            self._fetcher.epoch_changed()
        if led_before and (not self.is_leader or state.epoch != epoch_before):
            self._service.stop()
            self._changes.stop()

    def _drive(self, now_ms: float) -> None:
        """Does everything that is due now."""
        self._now_ms = now_ms
        state = self._state
        if self.is_leader:
            self._changes.drive(now_ms)  # a leader that took itself out says so before it goes
        for _ in range(TRANSITIONS_MAX):
            epoch, led = state.epoch, self.is_leader
            if not self._elections.drive(now_ms):
                break
            self._changed(epoch, led)
        if self.is_leader:
            self._service.advance(now_ms)
            self._changes.drive(now_ms)
            if self._changes.appended:
                self._changes.appended = False
                self._service.appended()
            self._service.expire(now_ms)
        else:
            self._fetcher.drive(now_ms)
