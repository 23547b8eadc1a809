"""The leader's knowledge of the others: how far each replica is, and whether a majority still asks.

A record is committed when a majority of the voters has it on stable storage, the leader itself included only
as far as it has synced. What former epochs left behind is never counted by itself, only together with a
record of this epoch (the Raft paper, section 5.4.2): the high watermark moves past the epoch's own first
record, or not at all.
"""

from __future__ import annotations

from ottla.raft.voters import ReplicaKey, VoterSet

OBSERVERS_MAX = 10_000
"""Replicas that are remembered; whoever fetched longest ago is forgotten first."""


class Progress:
    """How far one replica is. Times are on the caller's clock, 0 for never."""

    __slots__ = ("end_offset", "last_fetch_ms", "caught_up_ms", "leader_end_at_fetch")

    def __init__(self) -> None:
        self.end_offset = -1
        self.last_fetch_ms = 0.0
        self.caught_up_ms = 0.0
        self.leader_end_at_fetch = -1


class Leader:
    __slots__ = (
        "leader_id",
        "voted",
        "own",
        "epoch_start_offset",
        "replicas",
        "begun",
        "fetched",
        "quorum_deadline_ms",
        "begin_at_ms",
    )

    def __init__(self, own: ReplicaKey, epoch_start_offset: int, now_ms: float, quorum_ms: float) -> None:
        self.leader_id = own.node_id
        self.voted = own
        self.own = own
        self.epoch_start_offset = epoch_start_offset
        self.replicas: dict[ReplicaKey, Progress] = {}
        self.begun: set[int] = set()
        """Voters that know of this epoch: they said so, or fetched in it."""
        self.fetched: set[int] = set()
        """Voters that fetched since the last time that a majority had."""
        self.quorum_deadline_ms = now_ms + quorum_ms
        self.begin_at_ms: dict[int, float] = {}
        """When the next BeginQuorumEpoch is due, by voter."""

    def progress_of(self, replica: ReplicaKey, voters: VoterSet) -> Progress:
        voter = voters.voter_of(replica)
        # A voter without a directory id is one replica, whatever directory it reports.
        key = replica if voter is None else voter.key
        found = self.replicas.get(key)
        if found is None:
            if len(self.replicas) >= OBSERVERS_MAX:
                self._forget_one(voters)
            found = self.replicas[key] = Progress()
        return found

    def _forget_one(self, voters: VoterSet) -> None:
        observers = [key for key in self.replicas if not voters.is_voter(key)]
        if observers:
            del self.replicas[min(observers, key=lambda key: self.replicas[key].last_fetch_ms)]

    def note_fetch(
        self, replica: ReplicaKey, voters: VoterSet, offset: int, log_end_offset: int, now_ms: float
    ) -> Progress:
        progress = self.progress_of(replica, voters)
        if offset >= log_end_offset:
            progress.caught_up_ms = max(progress.caught_up_ms, now_ms)
        elif progress.leader_end_at_fetch >= 0 and offset >= progress.leader_end_at_fetch:
            # It has what was there when it last asked.
            progress.caught_up_ms = max(progress.caught_up_ms, progress.last_fetch_ms)
        progress.leader_end_at_fetch = log_end_offset
        progress.last_fetch_ms = max(progress.last_fetch_ms, now_ms)
        progress.end_offset = max(progress.end_offset, offset)
        return progress

    def note_alive(self, replica: ReplicaKey, voters: VoterSet, now_ms: float, quorum_ms: float) -> None:
        """A voter asked: while a majority does, this leader stays."""
        if not voters.is_voter(replica) or replica.node_id == self.own.node_id:
            return
        self.begun.add(replica.node_id)
        self.fetched.add(replica.node_id)
        others = voters.majority - 1 if voters.is_voter(self.own) else voters.majority
        if len([each for each in self.fetched if each in voters]) >= others:
            self.fetched.clear()
            self.quorum_deadline_ms = now_ms + quorum_ms

    def majority_offset(self, voters: VoterSet, own_synced_offset: int) -> int:
        """What a majority of the voters has on stable storage; -1 when too few have fetched."""
        ends = []
        for voter in voters:
            if voters.voter_of(self.own) is voter:
                ends.append(own_synced_offset)
            else:
                progress = self.replicas.get(voter.key)
                ends.append(-1 if progress is None else progress.end_offset)
        ends.sort(reverse=True)
        return ends[voters.majority - 1] if ends else -1

    def successors(self, voters: VoterSet) -> tuple[ReplicaKey, ...]:
        """The other voters, those with the longest logs first."""
        others = [voter.key for voter in voters if voter.key.node_id != self.own.node_id]

        def end_of(key: ReplicaKey) -> int:
            progress = self.replicas.get(key)
            return -1 if progress is None else progress.end_offset

        return tuple(sorted(others, key=lambda key: (-end_of(key), key.node_id)))
