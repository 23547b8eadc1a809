"""The log as consensus needs it. `broker/raft_log.py` has it on disk, `testing/` in memory.

Records are opaque here; what consensus has to know of them (voters, kraft.version) comes as `ControlRecord`s.
Appends are in the log at once and durable later: `synced_offset` follows when whoever owns the log has
synced it, and `Raft.synced` is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from ottla.raft.voters import ReplicaKey, VoterSet

Records: TypeAlias = Any
"""What `read` gave on one node is what `append_fetched` takes on another."""


class OffsetAndEpoch(NamedTuple):
    """An end offset with the epoch of the record before it; of a snapshot, its id."""

    offset: int
    epoch: int


class ControlRecord(NamedTuple):
    """What one control record of the log or a snapshot says about the quorum."""

    offset: int
    voters: VoterSet | None = None
    kraft_version: int | None = None


class LeaderStart(NamedTuple):
    """The control batch that begins a leader's epoch; voters and version only where the log has none yet."""

    leader_id: int
    voters: tuple[ReplicaKey, ...]
    granting: tuple[ReplicaKey, ...]
    kraft_version: int | None = None
    voter_set: VoterSet | None = None


class RaftLog(Protocol):
    @property
    def start_offset(self) -> int: ...

    @property
    def start_epoch(self) -> int:
        """Of the record before `start_offset`, which is in a snapshot; 0 at the very beginning."""
        ...

    @property
    def end_offset(self) -> int: ...

    @property
    def synced_offset(self) -> int:
        """Everything below is on stable storage. After a truncation it is at most the end."""
        ...

    @property
    def last_epoch(self) -> int:
        """Of the last record, or of the snapshot that the empty log follows; 0 when there is neither."""
        ...

    def end_offset_for_epoch(self, epoch: int) -> OffsetAndEpoch:
        """The largest epoch of this log that is not above `epoch`, and where it ends (KIP-101, KIP-279)."""
        ...

    def set_high_watermark(self, offset: int) -> None: ...

    def control_records(self) -> Sequence[ControlRecord]:
        """All of the newest snapshot and of the log after it, oldest first: for the start."""
        ...

    def append(self, records: Records, epoch: int) -> None:
        """As the leader. Raises what the disk raises; nothing has changed then."""
        ...

    def append_start(self, start: LeaderStart, epoch: int) -> Sequence[ControlRecord]:
        """Begins the leader's epoch with its control batch."""
        ...

    def append_voters(self, voters: VoterSet, epoch: int) -> ControlRecord: ...

    def append_fetched(self, records: Records) -> Sequence[ControlRecord]:
        """As a follower: offsets and epochs as the leader wrote them."""
        ...

    def read(self, offset: int, bytes_max: int) -> Records | None:
        """Whole batches from `offset` on, at least one; None at the end."""
        ...

    def truncate(self, offset: int) -> None: ...

    # Snapshots

    def latest_snapshot(self) -> OffsetAndEpoch | None: ...

    def snapshot_size(self, snapshot: OffsetAndEpoch) -> int | None:
        """None when there is no such snapshot."""
        ...

    def read_snapshot(self, snapshot: OffsetAndEpoch, position: int, bytes_max: int) -> Any: ...

    def begin_download(self, snapshot: OffsetAndEpoch) -> None:
        """Makes room for a snapshot from the leader; an unfinished one goes."""
        ...

    def append_download(self, data: Any) -> int:
        """Adds to it, and gives its size."""
        ...

    def finish_download(self) -> Sequence[ControlRecord]:
        """Makes it durable and lets it take the place of the whole log, which then begins and ends at the
        snapshot's offset.
        """
        ...
