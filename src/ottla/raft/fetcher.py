"""The follower's side of replication: fetch, append, sync, fetch again; cut where the leader differs.

The next fetch goes out only when everything that was appended is on stable storage, because its offset tells
the leader just that. A replica without a leader asks the voters, or the bootstrap addresses, who it is. One
that is too far behind fetches a snapshot, which then takes the place of its log.
"""

from __future__ import annotations

from math import inf

from ottla.model.errors import ErrorCode, KafkaError
from ottla.ports.peers import Address
from ottla.raft.election_state import NO_NODE
from ottla.raft.log_port import OffsetAndEpoch
from ottla.raft.messages import (
    FetchRequest,
    FetchResponse,
    SnapshotRequest,
    SnapshotResponse,
    UpdateVoterRequest,
)
from ottla.raft.outbox import Outbox, Send
from ottla.raft.quorum_state import QuorumState
from ottla.raft.roles import Follower, Unattached

APPEND_RETRY_MS = 1000
"""After what the leader sent could not be written: a disk that is full may have room again."""


class Fetcher:
    def __init__(self, state: QuorumState, outbox: Outbox) -> None:
        self._state = state
        self._outbox = outbox
        self._download: tuple[OffsetAndEpoch, int] | None = None
        """The snapshot that is being fetched, and how much of it is here."""
        self._look_at_ms = -inf
        self._update_at_ms = -inf
        self.installed: OffsetAndEpoch | None = None
        """A snapshot that took the place of the log, until the state machine has taken notice."""
        self.leader_high_watermark = -1
        """What the leader of this epoch last told; -1 when it has not yet."""

    def epoch_changed(self) -> None:
        self._download = None
        self._look_at_ms = -inf
        self.leader_high_watermark = -1

    def drive(self, now_ms: float) -> None:
        state, role = self._state, self._state.role
        if state.log.synced_offset < state.log.end_offset:
            return  # what a fetch says has to be true after a crash
        if isinstance(role, Follower) and role.leader_address is not None:
            if role.deadline_ms > now_ms or state.is_voter:
                self._update_endpoints(role, role.leader_address, now_ms)
                if self._download is not None:
                    self._fetch_snapshot(role.leader_id, role.leader_address, now_ms)
                else:
                    self._fetch(role.leader_id, role.leader_address, now_ms)
                return
        elif not isinstance(role, Follower | Unattached):
            return
        if now_ms >= self._look_at_ms:
            self._look_for_a_leader(now_ms)

    def _fetch(self, node_id: int, address: Address, now_ms: float) -> bool:
        state = self._state
        wait_ms = state.settings.fetch_wait_max_ms
        request = FetchRequest(
            state.own,
            state.epoch,
            state.log.end_offset,
            state.log.last_epoch,
            state.high_watermark,
            wait_ms,
            state.settings.fetch_bytes_max,
        )
        return self._outbox.send(node_id, address, request, state.epoch, now_ms, wait_ms)

    def _look_for_a_leader(self, now_ms: float) -> None:
        state = self._state
        known = [
            voter.address
            for voter in state.voters
            if voter.address is not None and voter.key.node_id != state.own.node_id
        ]
        own = {Address(each.host, each.port) for each in state.endpoints}
        places = [each for each in dict.fromkeys([*known, *state.bootstrap]) if each not in own]
        free = [each for each in places if self._outbox.ready_at_ms(each) <= now_ms]
        if not free:
            return
        self._look_at_ms = now_ms + state.settings.discovery_interval_ms
        self._fetch(NO_NODE, state.pick(free), now_ms)

    def _fetch_snapshot(self, node_id: int, address: Address, now_ms: float) -> None:
        state = self._state
        assert self._download is not None
        snapshot, position = self._download
        request = SnapshotRequest(
            state.own, state.epoch, snapshot, position, state.settings.snapshot_bytes_max
        )
        self._outbox.send(node_id, address, request, state.epoch, now_ms)

    def _update_endpoints(self, role: Follower, address: Address, now_ms: float) -> None:
        """A voter whose listeners are not those on record tells the leader so (KIP-853)."""
        state = self._state
        voter = state.voters.voter_of(state.own)
        if (
            voter is None
            or state.history.kraft_version < 1
            or not state.endpoints
            or voter.endpoints == state.endpoints
            or now_ms < self._update_at_ms
        ):
            return
        request = UpdateVoterRequest(state.epoch, state.own, state.endpoints)
        if self._outbox.send(role.leader_id, address, request, state.epoch, now_ms):
            self._update_at_ms = now_ms + state.settings.fetch_timeout_ms

    # --- answers

    def on_fetch_response(self, send: Send, response: FetchResponse, now_ms: float) -> None:
        state, role = self._state, self._state.role
        if (
            response.error
            or not isinstance(role, Follower)
            or response.epoch != state.epoch
            or response.leader_id != role.leader_id
            or not isinstance(send.request, FetchRequest)
            or send.request.offset != state.log.end_offset
        ):
            if response.error and isinstance(role, Follower):
                self._outbox.pause(send.address, now_ms + state.settings.retry_backoff_ms)
            return
        role.has_fetched = True
        if not role.leader_left:
            role.deadline_ms = now_ms + state.settings.fetch_timeout_ms
        if response.diverging is not None:
            self._cut(response.diverging, send.address, now_ms)
            return
        if response.snapshot is not None:
            self._begin_download(response.snapshot, send.address, now_ms)
            return
        if response.records is not None:
            try:
                state.note_control(state.log.append_fetched(response.records))
            except KafkaError:
                self._outbox.pause(send.address, now_ms + APPEND_RETRY_MS)
                return
        self.leader_high_watermark = max(self.leader_high_watermark, response.high_watermark)
        state.advance_high_watermark(min(response.high_watermark, state.log.end_offset))

    def _cut(self, diverging: OffsetAndEpoch, address: Address, now_ms: float) -> None:
        """To the end of the largest epoch that both have (KIP-595, truncation)."""
        state = self._state
        mine = state.log.end_offset_for_epoch(diverging.epoch)
        offset = mine.offset if mine.epoch < diverging.epoch else min(diverging.offset, mine.offset)
        if offset < state.log.end_offset:
            state.truncate(offset)
        else:  # nonsense: asking again at once would bring the same
            self._outbox.pause(address, now_ms + APPEND_RETRY_MS)

    def _begin_download(self, snapshot: OffsetAndEpoch, address: Address, now_ms: float) -> None:
        state = self._state
        if snapshot.offset < state.high_watermark or snapshot.offset < 0 or snapshot.epoch < 0:
            # It would take back what was committed; a newer snapshot will come.
            self._outbox.pause(address, now_ms + APPEND_RETRY_MS)
            return
        state.log.begin_download(snapshot)
        self._download = (snapshot, 0)

    def on_snapshot_response(self, send: Send, response: SnapshotResponse, now_ms: float) -> None:
        state, role = self._state, self._state.role
        download = self._download
        if not isinstance(role, Follower) or download is None:
            return
        snapshot, position = download
        if response.error:
            if response.error in (ErrorCode.SNAPSHOT_NOT_FOUND, ErrorCode.POSITION_OUT_OF_RANGE):
                self._download = None  # the leader has a newer one: the next fetch will say which
            self._outbox.pause(send.address, now_ms + state.settings.retry_backoff_ms)
            return
        if (
            response.epoch != state.epoch
            or response.leader_id != role.leader_id
            or response.snapshot != snapshot
            or response.position != position
            or not isinstance(send.request, SnapshotRequest)
            or send.request.position != position
        ):
            return
        role.has_fetched = True
        if not role.leader_left:
            role.deadline_ms = now_ms + state.settings.fetch_timeout_ms
        position = state.log.append_download(response.data)
        if position < response.size:
            self._download = (snapshot, position)
            return
        self._download = None
        records = state.log.finish_download()
        voters, kraft_version = state.history.voters, state.history.kraft_version
        for record in records:
            voters = record.voters if record.voters is not None else voters
            kraft_version = record.kraft_version if record.kraft_version is not None else kraft_version
        state.history.restart(snapshot.offset, voters, kraft_version)
        state.advance_high_watermark(snapshot.offset)
        self.installed = snapshot

    def next_deadline_ms(self, now_ms: float) -> float:
        role = self._state.role
        if isinstance(role, Unattached) or (isinstance(role, Follower) and role.leader_address is None):
            return self._look_at_ms if self._look_at_ms > now_ms else inf
        if isinstance(role, Follower) and not self._state.is_voter and role.deadline_ms <= now_ms:
            return self._look_at_ms if self._look_at_ms > now_ms else inf
        return inf
