"""Who votes: replicas by id and directory, and the set of them that is in force.

A voter is a node *and* its directory (KIP-853): a node that comes back with an empty disk has another
directory id, and is not the voter that promised something. Voters from `controller.quorum.voters` have no
directory id; then the node's id is all there is to go by.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from ottla.ports.peers import Address

NO_DIRECTORY: Final = bytes(16)


class ReplicaKey(NamedTuple):
    node_id: int
    directory_id: bytes = NO_DIRECTORY

    def may_be(self, other: ReplicaKey) -> bool:
        """Whether both mean one replica, as far as their directories are known."""
        known = NO_DIRECTORY not in (self.directory_id, other.directory_id)
        return self.node_id == other.node_id and (not known or self.directory_id == other.directory_id)


class Endpoint(NamedTuple):
    """Where a voter listens; the name is that of the listener."""

    name: str
    host: str
    port: int


class VoterNode(NamedTuple):
    key: ReplicaKey
    endpoints: tuple[Endpoint, ...] = ()
    version_min: int = 0
    version_max: int = 1
    """The range of `kraft.version` that it understands."""

    @property
    def address(self) -> Address | None:
        """By its first endpoint: the first of `controller.listener.names`."""
        return Address(self.endpoints[0].host, self.endpoints[0].port) if self.endpoints else None


class VoterSet:
    """Immutable; equal when the voters are."""

    __slots__ = ("_by_id",)

    def __init__(self, voters: Iterable[VoterNode] = ()) -> None:
        self._by_id = {voter.key.node_id: voter for voter in sorted(voters)}

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[VoterNode]:
        return iter(self._by_id.values())

    def __contains__(self, node_id: int) -> bool:
        return node_id in self._by_id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VoterSet) and self._by_id == other._by_id

    def __hash__(self) -> int:
        return hash(tuple(self._by_id.values()))

    def __repr__(self) -> str:
        return f"VoterSet({sorted(self._by_id)})"

    def get(self, node_id: int) -> VoterNode | None:
        return self._by_id.get(node_id)

    @property
    def majority(self) -> int:
        return len(self._by_id) // 2 + 1

    def voter_of(self, key: ReplicaKey) -> VoterNode | None:
        """The voter that this replica is. A voter without a directory id is known by its node's id alone."""
        voter = self._by_id.get(key.node_id)
        if voter is None or voter.key.directory_id not in (NO_DIRECTORY, key.directory_id):
            return None
        return voter

    def is_voter(self, key: ReplicaKey) -> bool:
        return self.voter_of(key) is not None

    def is_only(self, key: ReplicaKey) -> bool:
        return len(self._by_id) == 1 and self.is_voter(key)

    def with_voter(self, voter: VoterNode) -> VoterSet:
        """Added, or in the place of the one with the same id."""
        return VoterSet({**self._by_id, voter.key.node_id: voter}.values())

    def without(self, node_id: int) -> VoterSet:
        return VoterSet(voter for voter in self if voter.key.node_id != node_id)
