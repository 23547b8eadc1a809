"""What a replica must not forget: the epoch, its vote in it, and who leads it (KIP-595, `quorum-state`)."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ottla.raft.voters import ReplicaKey

NO_NODE = -1


class ElectionState(NamedTuple):
    epoch: int = 0
    leader_id: int = NO_NODE
    voted: ReplicaKey | None = None


class ElectionStore(Protocol):
    def read(self) -> ElectionState | None:
        """None when nothing was ever written, or it cannot be read."""
        ...

    def write(self, state: ElectionState) -> None:
        """Returns when it is on stable storage: a vote is answered only after that."""
        ...
