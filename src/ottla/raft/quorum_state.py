"""Epoch, role and voters of one replica, and the transitions between roles (KIP-595, KIP-853, KIP-996).

Every transition writes down what must not be forgotten before it has any effect. Within an epoch a vote and a
leader, once known, stay: that is why there is one leader for each epoch.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import TypeAlias

from ottla.ports.peers import Address
from ottla.raft.election_state import NO_NODE, ElectionState, ElectionStore
from ottla.raft.leader import Leader
from ottla.raft.log_port import ControlRecord, LeaderStart, RaftLog
from ottla.raft.roles import Ballot, Candidate, Follower, Prospective, Resigned, Unattached
from ottla.raft.settings import RaftSettings
from ottla.raft.voter_history import VoterHistory
from ottla.raft.voters import Endpoint, ReplicaKey, VoterSet

Role: TypeAlias = Unattached | Prospective | Candidate | Follower | Leader | Resigned


class RaftError(Exception):
    """An invariant does not hold, here or on the leader: going on could lose what was committed."""


class QuorumState:
    def __init__(
        self,
        own: ReplicaKey,
        endpoints: tuple[Endpoint, ...],
        log: RaftLog,
        store: ElectionStore,
        chance: Random,
        settings: RaftSettings,
        static_voters: VoterSet,
        bootstrap: tuple[Address, ...],
        can_vote: bool,
    ) -> None:
        """`can_vote` is whether this process is a controller at all: a broker never is a voter."""
        self.own = own
        self.endpoints = endpoints
        self.log = log
        self.settings = settings
        self.bootstrap = bootstrap
        self.history = VoterHistory(static_voters)
        self.epoch = 0
        self.role: Role = Unattached(NO_NODE, None, 0.0)
        self.high_watermark = 0
        self.addresses: dict[int, Address] = {}
        """Of leaders that were named with their address."""
        self._store = store
        self._stored: ElectionState | None = None
        self._chance = chance
        self._can_vote = can_vote

    # --- what it is

    @property
    def voters(self) -> VoterSet:
        return self.history.voters

    @property
    def is_voter(self) -> bool:
        return self._can_vote and self.history.voters.is_voter(self.own)

    @property
    def leader_id(self) -> int:
        """The leader of this epoch, -1 when it is not known or has left."""
        role = self.role
        if role.leader_id == self.own.node_id and not isinstance(role, Leader):
            return NO_NODE
        return role.leader_id

    @property
    def role_name(self) -> str:
        role = self.role
        if isinstance(role, Follower | Unattached) and not self.is_voter:
            return "Observer"
        if isinstance(role, Unattached) and role.voted is not None:
            return "Voted"
        return type(role).__name__

    def address_of(self, node_id: int) -> Address | None:
        voter = self.voters.get(node_id)
        address = None if voter is None else voter.address
        return address or self.addresses.get(node_id)

    @property
    def leader_address(self) -> Address | None:
        if isinstance(self.role, Follower) and self.role.leader_address is not None:
            return self.role.leader_address
        return None if self.leader_id == NO_NODE else self.address_of(self.leader_id)

    def election_timeout_ms(self) -> float:
        """Never the same twice, so that two replicas seldom stand at once."""
        base = self.settings.election_timeout_ms
        return base + self._chance.random() * base

    def backoff_ms(self, attempt: int) -> float:
        """Exponential, with jitter: after the n-th election in a row that nobody won."""
        slots = 2 ** min(attempt, 10)
        pause_ms = self.settings.retry_backoff_ms * self._chance.randint(1, slots)
        return min(pause_ms, self.settings.election_backoff_max_ms)

    def pick(self, addresses: list[Address]) -> Address:
        return self._chance.choice(addresses)

    # --- the start

    def start(self, now_ms: float) -> None:
        """Takes up what was written down. Nobody leads an epoch twice: the log may have lost its end."""
        self.note_control(self.log.control_records())
        stored = self._store.read()
        self._stored = stored
        state = stored or ElectionState()
        snapshot = self.log.latest_snapshot()
        self.high_watermark = max(self.log.start_offset, 0 if snapshot is None else snapshot.offset)
        last_epoch = self.log.last_epoch
        if last_epoch > state.epoch:
            state = ElectionState(last_epoch)
        self.epoch = state.epoch
        deadline_ms = now_ms + self.election_timeout_ms()
        if state.leader_id == self.own.node_id and self.is_voter and not self.voters.is_only(self.own):
            others = tuple(each.key for each in self.voters if each.key.node_id != self.own.node_id)
            self.role = Resigned(self.own, (), {each.node_id for each in others}, deadline_ms)
        elif state.leader_id not in (NO_NODE, self.own.node_id) and self.address_of(state.leader_id):
            self.role = Follower(
                state.leader_id,
                self.address_of(state.leader_id),
                state.voted,
                now_ms + self.settings.fetch_timeout_ms,
            )
        else:
            self.role = Unattached(state.leader_id, state.voted, deadline_ms)

    def note_control(self, records: Iterable[ControlRecord]) -> None:
        for record in records:
            if record.voters is not None:
                self.history.note_voters(record.offset, record.voters)
            if record.kraft_version is not None:
                self.history.note_version(record.offset, record.kraft_version)

    # --- transitions

    def _voted_in(self, epoch: int) -> ReplicaKey | None:
        return self.role.voted if epoch == self.epoch else None

    def _persist(self, epoch: int, leader_id: int, voted: ReplicaKey | None) -> None:
        if epoch < self.epoch:
            raise RaftError(f"epoch {epoch} would follow {self.epoch}")
        state = ElectionState(epoch, leader_id, voted)
        if state != self._stored:
            self._store.write(state)
            self._stored = state
        self.epoch = epoch

    def to_unattached(self, epoch: int, now_ms: float) -> None:
        """A higher epoch whose leader is not known, or a role that led to nothing in this one."""
        voted = self._voted_in(epoch)
        leader_id = self.role.leader_id if epoch == self.epoch else NO_NODE
        self._persist(epoch, leader_id, voted)
        self.role = Unattached(leader_id, voted, now_ms + self.election_timeout_ms())

    def to_voted(self, epoch: int, candidate: ReplicaKey, now_ms: float) -> None:
        voted = self._voted_in(epoch)
        if voted is not None and not voted.may_be(candidate):
            raise RaftError(f"a second vote in epoch {epoch}")
        leader_id = self.role.leader_id if epoch == self.epoch else NO_NODE
        self._persist(epoch, leader_id, candidate)
        self.role = Unattached(leader_id, candidate, now_ms + self.election_timeout_ms())

    def to_prospective(self, now_ms: float) -> None:
        role = self.role
        ballot = Ballot(self.voters, self.own.node_id)
        deadline_ms = now_ms + self.election_timeout_ms()
        self.role = Prospective(role.leader_id, role.voted, ballot, deadline_ms)

    def to_candidate(self, now_ms: float) -> None:
        self._persist(self.epoch + 1, NO_NODE, self.own)
        ballot = Ballot(self.voters, self.own.node_id)
        self.role = Candidate(self.own, ballot, now_ms + self.election_timeout_ms())

    def to_follower(self, epoch: int, leader_id: int, address: Address | None, now_ms: float) -> None:
        if leader_id == self.own.node_id:
            raise RaftError("a replica cannot follow itself")
        role = self.role
        if epoch == self.epoch and role.leader_id not in (NO_NODE, leader_id):
            raise RaftError(f"epoch {epoch} has the leaders {role.leader_id} and {leader_id}")
        voted = self._voted_in(epoch)
        self._persist(epoch, leader_id, voted)
        if address is not None:
            self.addresses[leader_id] = address
        self.role = Follower(
            leader_id,
            address or self.address_of(leader_id),
            voted,
            now_ms + self.settings.fetch_timeout_ms,
        )

    def to_leader(self, now_ms: float) -> Leader:
        """A candidate with a majority: the first record of its epoch says so, and who elected it."""
        role = self.role
        assert isinstance(role, Candidate) and role.ballot.is_won
        self._persist(self.epoch, self.own.node_id, self.own)
        start_offset = self.log.end_offset
        voters = self.voters
        is_first = self.history.kraft_version >= 1 and self.history.voters_offset < 0
        start = LeaderStart(
            self.own.node_id,
            tuple(voter.key for voter in voters),
            tuple(voter.key for voter in voters if voter.key.node_id in role.ballot.granted),
            self.history.kraft_version if is_first else None,
            voters if is_first else None,
        )
        self.note_control(self.log.append_start(start, self.epoch))
        self.role = leader = Leader(self.own, start_offset, now_ms, self.settings.check_quorum_ms)
        return leader

    def to_resigned(self, now_ms: float) -> None:
        role = self.role
        assert isinstance(role, Leader)
        successors = role.successors(self.voters)
        self.role = Resigned(
            self.own, successors, {key.node_id for key in successors}, now_ms + self.election_timeout_ms()
        )

    # --- the log

    def advance_high_watermark(self, offset: int) -> bool:
        if offset <= self.high_watermark:
            return False
        self.high_watermark = offset
        self.log.set_high_watermark(offset)
        return True

    def truncate(self, offset: int) -> None:
        """What the leader does not have was never committed; if it was, somebody has lost it."""
        if offset < self.high_watermark:
            raise RaftError(
                f"the leader of epoch {self.epoch} wants the log cut at {offset}, below the high watermark "
                f"{self.high_watermark}: something that was committed is gone on a majority"
            )
        self.log.truncate(offset)
        self.history.truncate_from_end(self.log.end_offset)
