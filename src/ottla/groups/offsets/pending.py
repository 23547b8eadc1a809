"""Offsets that are part of transactions which have not ended yet, by producer and by partition.

They are in the log and count for nobody until the marker of their transaction comes: with COMMIT they become
the groups' offsets, with ABORT they are forgotten. A producer has one transaction at a time, so its id names
it; what it commits for a partition again takes the place of what it committed before.

The newest record wins, not the newest marker: where an offset that is in the log behind a pending one was
committed meanwhile (without a transaction, or by one that ended sooner), the pending one comes too late. What
is committed need not know its place in the log for that: `committed_at` notes it while somebody is pending.
Whatever becomes pending later is behind everything that was committed before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from ottla.groups.offsets.store import Committed

Place: TypeAlias = tuple[str, str, int]
"""Group id, topic, partition."""


class _Open:
    """One partition of a group that transactions have offsets for."""

    __slots__ = ("producers", "committed_at")

    def __init__(self) -> None:
        self.producers: dict[int, tuple[int, Committed]] = {}
        """By producer id: the record's offset in the log, and what it says."""
        self.committed_at = -1
        """The offset in the log of the newest record that was committed since this partition is open."""


class PendingOffsets:
    __slots__ = ("_producers", "_groups")

    def __init__(self) -> None:
        self._producers: dict[int, dict[Place, None]] = {}
        """The places of each producer, in the order in which it came to them."""
        self._groups: dict[str, dict[str, dict[int, _Open]]] = {}
        """By group, topic and partition; no level is empty."""

    def __bool__(self) -> bool:
        return bool(self._groups)

    def __contains__(self, group_id: str) -> bool:
        return group_id in self._groups

    def __len__(self) -> int:
        return sum(map(len, self._producers.values()))

    def group_ids(self) -> Iterator[str]:
        return iter(self._groups)

    def topics_of(self, group_id: str) -> Iterable[str]:
        return self._groups.get(group_id, ())

    def partitions_of(self, group_id: str, topic: str) -> Iterable[int]:
        topics = self._groups.get(group_id)
        return () if topics is None else topics.get(topic, ())

    def is_open(self, group_id: str, topic: str, partition: int) -> bool:
        return self._find(group_id, topic, partition) is not None

    def offsets_for(self, group_id: str, topic: str, partition: int) -> list[Committed]:
        """What the producers would commit for a partition."""
        found = self._find(group_id, topic, partition)
        return [] if found is None else [committed for _, committed in found.producers.values()]

    def to_dict(self) -> dict[tuple[int, str, str, int], tuple[int, Committed] | None]:
        """By producer and place: the record's offset and what it says; None where it comes too late."""
        state: dict[tuple[int, str, str, int], tuple[int, Committed] | None] = {}
        for producer_id, places in self._producers.items():
            for place in places:
                found = self._find(*place)
                assert found is not None
                entry = found.producers[producer_id]
                state[producer_id, *place] = entry if entry[0] > found.committed_at else None
        return state

    # --- what the log says --------------------------------------------------------------------------------

    def put(self, producer_id: int, place: Place, record_offset: int, committed: Committed) -> None:
        group_id, topic, partition = place
        partitions = self._groups.setdefault(group_id, {}).setdefault(topic, {})
        found = partitions.get(partition)
        if found is None:
            found = partitions[partition] = _Open()
        found.producers[producer_id] = (record_offset, committed)
        self._producers.setdefault(producer_id, {})[place] = None

    def overtaken(self, place: Place, record_offset: int) -> None:
        """An offset outside of any transaction was committed: all that is pending comes before it."""
        found = self._find(*place)
        if found is not None:
            found.committed_at = record_offset

    def remove(self, place: Place) -> None:
        """A tombstone takes away what is pending, too: the transaction will end without it."""
        found = self._find(*place)
        if found is None:
            return
        for producer_id in found.producers:
            self._forget(producer_id, place)
        self._close(place)

    def end(self, producer_id: int, committed: bool) -> list[tuple[Place, Committed]]:
        """The producer's transaction is over. Returns what it commits that does not come too late."""
        won: list[tuple[Place, Committed]] = []
        for place in self._producers.pop(producer_id, ()):
            found = self._find(*place)
            assert found is not None
            record_offset, value = found.producers.pop(producer_id)
            if committed and record_offset > found.committed_at:
                found.committed_at = record_offset
                won.append((place, value))
            if not found.producers:
                self._close(place)
        return won

    # --- inside -------------------------------------------------------------------------------------------

    def _find(self, group_id: str, topic: str, partition: int) -> _Open | None:
        topics = self._groups.get(group_id)
        if topics is None:
            return None
        partitions = topics.get(topic)
        return None if partitions is None else partitions.get(partition)

    def _forget(self, producer_id: int, place: Place) -> None:
        places = self._producers[producer_id]
        del places[place]
        if not places:
            del self._producers[producer_id]

    def _close(self, place: Place) -> None:
        group_id, topic, partition = place
        topics = self._groups[group_id]
        partitions = topics[topic]
        del partitions[partition]
        if not partitions:
            del topics[topic]
            if not topics:
                del self._groups[group_id]
