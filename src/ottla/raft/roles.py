"""What a replica without followers is at a time: unattached, prospective, candidate, follower, resigned.

Each role is a few facts with a deadline; what happens at the deadline is `elections.py`'s. The leader has a
file of its own. "Voted" is an unattached replica that gave its vote, "observer" any follower or unattached
replica that is no voter.
"""

from __future__ import annotations

from ottla.ports.peers import Address
from ottla.raft.election_state import NO_NODE
from ottla.raft.voters import ReplicaKey, VoterSet


class Ballot:
    """Who was asked, and what they said. Lost when those who are left cannot make a majority any more."""

    __slots__ = ("voters", "granted", "rejected")

    def __init__(self, voters: VoterSet, own_id: int) -> None:
        self.voters = voters
        self.granted = {own_id}
        self.rejected: set[int] = set()

    def record(self, voter_id: int, granted: bool) -> None:
        if voter_id in self.voters:
            (self.granted if granted else self.rejected).add(voter_id)

    @property
    def is_won(self) -> bool:
        return len(self.granted) >= self.voters.majority

    @property
    def is_lost(self) -> bool:
        return len(self.voters) - len(self.rejected) < self.voters.majority

    def unheard(self) -> list[int]:
        return [
            voter.key.node_id
            for voter in self.voters
            if voter.key.node_id not in self.granted and voter.key.node_id not in self.rejected
        ]


class Unattached:
    """Knows an epoch, but no leader to follow. As a voter it stands when the deadline passes."""

    __slots__ = ("leader_id", "voted", "deadline_ms")

    def __init__(self, leader_id: int, voted: ReplicaKey | None, deadline_ms: float) -> None:
        self.leader_id = leader_id
        """Of this epoch, when it is known that there was one; nobody else gets a vote in it then."""
        self.voted = voted
        self.deadline_ms = deadline_ms


class Prospective:
    """Asks whether it would be elected, before it disturbs anybody with a new epoch (KIP-996)."""

    __slots__ = ("leader_id", "voted", "ballot", "deadline_ms")

    def __init__(self, leader_id: int, voted: ReplicaKey | None, ballot: Ballot, deadline_ms: float) -> None:
        self.leader_id = leader_id
        self.voted = voted
        self.ballot = ballot
        self.deadline_ms = deadline_ms


class Candidate:
    """Asks for votes in an epoch that it has begun, and has given itself its own."""

    __slots__ = ("voted", "ballot", "deadline_ms")

    leader_id = NO_NODE

    def __init__(self, voted: ReplicaKey, ballot: Ballot, deadline_ms: float) -> None:
        self.voted = voted
        self.ballot = ballot
        self.deadline_ms = deadline_ms


class Follower:
    """Fetches from the leader of its epoch. As a voter it stands when it has not heard of it for long."""

    __slots__ = ("leader_id", "leader_address", "voted", "deadline_ms", "has_fetched", "leader_left")

    def __init__(
        self, leader_id: int, leader_address: Address | None, voted: ReplicaKey | None, deadline_ms: float
    ) -> None:
        self.leader_id = leader_id
        self.leader_address = leader_address
        self.voted = voted
        self.deadline_ms = deadline_ms
        self.has_fetched = False
        """Whether this leader answered: then nobody else is told that it would be elected."""
        self.leader_left = False
        """It said so itself."""


class Resigned:
    """Led this epoch, and does not any more: it cannot lead it again, and tells the voters to go on."""

    __slots__ = ("leader_id", "voted", "successors", "unheard", "deadline_ms")

    def __init__(
        self,
        own: ReplicaKey,
        successors: tuple[ReplicaKey, ...],
        unheard: set[int],
        deadline_ms: float,
    ) -> None:
        self.leader_id = own.node_id
        self.voted = own
        self.successors = successors
        self.unheard = unheard
        self.deadline_ms = deadline_ms
