"""What replicas say to each other. `broker/raft_wire.py` turns these into Kafka's requests and back.

Every response names the epoch of whoever answers and the leader it knows, whatever the error: that is how a
replica that is behind finds its leader.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from ottla.model.errors import ErrorCode
from ottla.ports.peers import Address
from ottla.raft.log_port import OffsetAndEpoch
from ottla.raft.voters import Endpoint, ReplicaKey

UNKNOWN_HIGH_WATERMARK = 2**63 - 1
"""In a fetch of a version without it: never below the leader's."""


@dataclass(frozen=True, slots=True)
class VoteRequest:
    candidate: ReplicaKey
    epoch: int
    last_epoch: int
    last_offset: int
    """The candidate's end offset."""
    pre_vote: bool
    """Only a question (KIP-996): nothing is promised, and no epoch begins."""
    voter: ReplicaKey | None = None
    """Whom it is meant for."""


@dataclass(frozen=True, slots=True)
class VoteResponse:
    error: ErrorCode
    epoch: int
    leader_id: int
    granted: bool = False
    leader_address: Address | None = None


@dataclass(frozen=True, slots=True)
class BeginEpochRequest:
    leader_id: int
    epoch: int
    endpoints: tuple[Endpoint, ...] = ()
    voter: ReplicaKey | None = None


@dataclass(frozen=True, slots=True)
class BeginEpochResponse:
    error: ErrorCode
    epoch: int
    leader_id: int
    leader_address: Address | None = None


@dataclass(frozen=True, slots=True)
class EndEpochRequest:
    leader_id: int
    epoch: int
    successors: tuple[ReplicaKey, ...]
    """The voters, best first: the first stands at once, the others after a while."""
    endpoints: tuple[Endpoint, ...] = ()


@dataclass(frozen=True, slots=True)
class EndEpochResponse:
    error: ErrorCode
    epoch: int
    leader_id: int
    leader_address: Address | None = None


@dataclass(frozen=True, slots=True)
class FetchRequest:
    replica: ReplicaKey
    epoch: int
    offset: int
    """Everything below is on the replica's stable storage."""
    last_epoch: int
    """Of the record before `offset`."""
    high_watermark: int = UNKNOWN_HIGH_WATERMARK
    """What the replica knows (KIP-1166): a leader that knows better answers at once."""
    wait_max_ms: int = 0
    bytes_max: int = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class FetchResponse:
    error: ErrorCode
    epoch: int
    leader_id: int
    high_watermark: int = -1
    start_offset: int = -1
    diverging: OffsetAndEpoch | None = None
    snapshot: OffsetAndEpoch | None = None
    records: Any = None
    leader_address: Address | None = None


@dataclass(frozen=True, slots=True)
class SnapshotRequest:
    replica: ReplicaKey
    epoch: int
    snapshot: OffsetAndEpoch
    position: int
    bytes_max: int


@dataclass(frozen=True, slots=True)
class SnapshotResponse:
    error: ErrorCode
    epoch: int
    leader_id: int
    snapshot: OffsetAndEpoch
    size: int = 0
    position: int = 0
    data: Any = b""
    leader_address: Address | None = None


@dataclass(frozen=True, slots=True)
class AddVoterRequest:
    voter: ReplicaKey
    endpoints: tuple[Endpoint, ...]
    timeout_ms: int
    ack_when_committed: bool = True


@dataclass(frozen=True, slots=True)
class RemoveVoterRequest:
    voter: ReplicaKey


@dataclass(frozen=True, slots=True)
class UpdateVoterRequest:
    epoch: int
    voter: ReplicaKey
    endpoints: tuple[Endpoint, ...]
    version_min: int = 0
    version_max: int = 1


@dataclass(frozen=True, slots=True)
class VoterChangeResponse:
    error: ErrorCode
    epoch: int
    leader_id: int
    message: str | None = None
    leader_address: Address | None = None


Request: TypeAlias = (
    VoteRequest
    | BeginEpochRequest
    | EndEpochRequest
    | FetchRequest
    | SnapshotRequest
    | AddVoterRequest
    | RemoveVoterRequest
    | UpdateVoterRequest
)
Response: TypeAlias = (
    VoteResponse
    | BeginEpochResponse
    | EndEpochResponse
    | FetchResponse
    | SnapshotResponse
    | VoterChangeResponse
)
