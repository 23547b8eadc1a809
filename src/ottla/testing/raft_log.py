"""A log for consensus in memory, which loses at a crash what was not synced; and a store for votes.

Both survive a process. A crash keeps any prefix of what was
appended since the last sync, or the log of that sync itself when it was cut meanwhile: a truncation is not
durable either before the next sync.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from random import Random
from typing import Any, NamedTuple

from ottla.raft.election_state import ElectionState
from ottla.raft.log_port import ControlRecord, LeaderStart, OffsetAndEpoch
from ottla.raft.voters import VoterSet


class Entry(NamedTuple):
    offset: int
    epoch: int
    value: Any
    control: ControlRecord | None = None


class SimElectionStore:
    def __init__(self) -> None:
        self.state: ElectionState | None = None

    def read(self) -> ElectionState | None:
        return self.state

    def write(self, state: ElectionState) -> None:
        self.state = state


class SnapshotState(NamedTuple):
    values: tuple[Any, ...]
    """What the state machine has taken in: everything below the snapshot's offset."""
    voters: VoterSet
    kraft_version: int


class SimRaftLog:
    """Implements `RaftLog`. An entry is a batch of its own; `read` gives a few of them at most."""

    entries_per_read = 8

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.snapshots: dict[OffsetAndEpoch, bytes] = {}
        self.high_watermark = 0
        self.truncations = 0
        self._start = OffsetAndEpoch(0, 0)
        self._synced = 0
        self._durable: tuple[list[Entry], OffsetAndEpoch] = ([], self._start)
        self._generation = 0
        self._was_cut = False
        self._download: tuple[OffsetAndEpoch, bytearray] | None = None

    # --- RaftLog

    @property
    def start_offset(self) -> int:
        return self._start.offset

    @property
    def start_epoch(self) -> int:
        return self._start.epoch

    @property
    def end_offset(self) -> int:
        return self._start.offset + len(self.entries)

    @property
    def synced_offset(self) -> int:
        return self._synced

    @property
    def last_epoch(self) -> int:
        return self.entries[-1].epoch if self.entries else self._start.epoch

    def end_offset_for_epoch(self, epoch: int) -> OffsetAndEpoch:
        if epoch >= self.last_epoch:
            return OffsetAndEpoch(self.end_offset, self.last_epoch)
        found = OffsetAndEpoch(self._start.offset, min(epoch, self._start.epoch))
        for entry in self.entries:
            if entry.epoch > epoch:
                break
            found = OffsetAndEpoch(entry.offset + 1, entry.epoch)
        return found

    def set_high_watermark(self, offset: int) -> None:
        self.high_watermark = offset

    def control_records(self) -> Sequence[ControlRecord]:
        records = []
        newest = self.latest_snapshot()
        if newest is not None:
            state = self.snapshot_state(newest)
            records.append(ControlRecord(newest.offset - 1, state.voters, state.kraft_version))
        records += [
            entry.control
            for entry in self.entries
            if entry.control is not None and (newest is None or entry.offset >= newest.offset)
        ]
        return records

    def append(self, records: Any, epoch: int) -> None:
        self.entries.append(Entry(self.end_offset, epoch, records))

    def append_start(self, start: LeaderStart, epoch: int) -> Sequence[ControlRecord]:
        self.append(("leader", start.leader_id), epoch)
        if start.voter_set is None:
            return ()
        return (self._append_control(start.voter_set, start.kraft_version, epoch),)

    def append_voters(self, voters: VoterSet, epoch: int) -> ControlRecord:
        return self._append_control(voters, None, epoch)

    def _append_control(self, voters: VoterSet, kraft_version: int | None, epoch: int) -> ControlRecord:
        control = ControlRecord(self.end_offset, voters, kraft_version)
        self.entries.append(Entry(self.end_offset, epoch, ("voters", repr(voters)), control))
        return control

    def append_fetched(self, records: Any) -> Sequence[ControlRecord]:
        for entry in records:
            assert entry.offset == self.end_offset, "a hole in the log"
            self.entries.append(entry)
        return [entry.control for entry in records if entry.control is not None]

    def read(self, offset: int, bytes_max: int) -> Any:
        begin = offset - self._start.offset
        return tuple(self.entries[begin : begin + self.entries_per_read]) or None

    def truncate(self, offset: int) -> None:
        del self.entries[offset - self._start.offset :]
        self.truncations += 1
        self._generation += 1
        self._was_cut = True
        self._synced = min(self._synced, offset)

    def latest_snapshot(self) -> OffsetAndEpoch | None:
        return max(self.snapshots, default=None)

    def snapshot_size(self, snapshot: OffsetAndEpoch) -> int | None:
        data = self.snapshots.get(snapshot)
        return None if data is None else len(data)

    def read_snapshot(self, snapshot: OffsetAndEpoch, position: int, bytes_max: int) -> bytes:
        return self.snapshots[snapshot][position : position + bytes_max]

    def begin_download(self, snapshot: OffsetAndEpoch) -> None:
        self._download = (snapshot, bytearray())

    def append_download(self, data: Any) -> int:
        assert self._download is not None
        self._download[1].extend(data)
        return len(self._download[1])

    def finish_download(self) -> Sequence[ControlRecord]:
        assert self._download is not None
        snapshot, data = self._download
        self._download = None
        self.snapshots = {snapshot: bytes(data)}
        self.entries = []
        self._start = snapshot
        self._synced = snapshot.offset
        self._generation += 1
        self._was_cut = False
        self._durable = ([], snapshot)
        state = self.snapshot_state(snapshot)
        return (ControlRecord(snapshot.offset - 1, state.voters, state.kraft_version),)

    # --- what the simulation does with it

    def snapshot_state(self, snapshot: OffsetAndEpoch) -> SnapshotState:
        state: SnapshotState = pickle.loads(self.snapshots[snapshot])
        return state

    def take_snapshot(self, snapshot: OffsetAndEpoch, state: SnapshotState, *, keep_entries: int) -> None:
        """Writes it (durably) and lets go of entries below it, but for a few."""
        self.snapshots[snapshot] = pickle.dumps(state)
        if keep_entries == 0:
            del self.entries[: snapshot.offset - self._start.offset]
            self._start = snapshot
            self.snapshots = {snapshot: self.snapshots[snapshot]}
            self._durable = (
                [entry for entry in self._durable[0] if entry.offset >= snapshot.offset],
                snapshot,
            )

    def begin_sync(self) -> tuple[int, int]:
        return self.end_offset, self._generation

    def end_sync(self, ticket: tuple[int, int]) -> None:
        upto, generation = ticket
        if generation == self._generation and upto > self._synced:
            self._synced = upto
        if generation == self._generation:
            self._durable = (self.entries[: self._synced - self._start.offset], self._start)
            self._was_cut = False

    def lose_unsynced(self, chance: Random) -> int:
        """A crash; gives how many entries it took."""
        before = len(self.entries)
        if self._was_cut and chance.random() < 0.5 and self._durable[1] == self._start:
            self.entries = list(self._durable[0])
        else:
            kept = chance.randint(self._synced, self.end_offset) - self._start.offset
            del self.entries[max(kept, 0) :]
        self._synced = self.end_offset  # what a start finds is scanned and synced
        self._durable = (list(self.entries), self._start)
        self._was_cut = False
        self._download = None
        self._generation += 1
        self.high_watermark = 0
        return max(before - len(self.entries), 0)
