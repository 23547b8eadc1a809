"""The committed offsets of a shard's groups, by group, topic and partition.

There may be hundreds of thousands, so an offset is a plain tuple: unlike a named tuple or an object with
slots it is dropped from the garbage collector's lists at the first collection that sees it, and full
collections then take no time for it. Equal topic ids are one object.

A level that has become empty is removed, so that "has the group any offsets" is one lookup.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from ottla.wire.primitives import ZERO_UUID

Committed: TypeAlias = tuple[int, int, str, int, int, bytes]
"""Offset, leader epoch (-1: unknown), metadata, wall-clock time of the commit, time at which it expires
(-1: by the retention), topic id (zero: the client committed by name).
"""

NO_EXPIRY: Final = -1

_NONE: Final[Mapping[str, Mapping[int, Committed]]] = {}


class OffsetStore:
    __slots__ = ("_groups", "_topic_ids")

    def __init__(self) -> None:
        self._groups: dict[str, dict[str, dict[int, Committed]]] = {}
        self._topic_ids: dict[bytes, bytes] = {ZERO_UUID: ZERO_UUID}

    def __contains__(self, group_id: str) -> bool:
        return group_id in self._groups

    def __len__(self) -> int:
        return sum(self.count(group_id) for group_id in self._groups)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OffsetStore) and self._groups == other._groups

    __hash__ = None  # type: ignore[assignment]

    def group_ids(self) -> Iterator[str]:
        return iter(self._groups)

    def of_group(self, group_id: str) -> Mapping[str, Mapping[int, Committed]]:
        """By topic and partition; empty for a group without offsets."""
        return self._groups.get(group_id, _NONE)

    def get(self, group_id: str, topic: str, partition: int) -> Committed | None:
        topics = self._groups.get(group_id)
        if topics is None:
            return None
        partitions = topics.get(topic)
        return None if partitions is None else partitions.get(partition)

    def count(self, group_id: str) -> int:
        return sum(map(len, self.of_group(group_id).values()))

    def put(self, group_id: str, topic: str, partition: int, committed: Committed) -> None:
        topic_id = committed[5]
        known_id = self._topic_ids.get(topic_id)
        if known_id is None:
            self._topic_ids[topic_id] = topic_id
        elif known_id is not topic_id:
            committed = (*committed[:5], known_id)
        topics = self._groups.get(group_id)
        if topics is None:
            topics = self._groups[group_id] = {}
        partitions = topics.get(topic)
        if partitions is None:
            partitions = topics[topic] = {}
        partitions[partition] = committed

    def remove(self, group_id: str, topic: str, partition: int) -> None:
        """Nothing happens when it is not there: a tombstone may come twice."""
        topics = self._groups.get(group_id)
        if topics is None:
            return
        partitions = topics.get(topic)
        if partitions is None:
            return
        partitions.pop(partition, None)
        if not partitions:
            del topics[topic]
            if not topics:
                del self._groups[group_id]

    def forget_topic_id(self, topic_id: bytes) -> None:
        """The topic is gone, and nobody will commit with its id again."""
        if topic_id != ZERO_UUID:
            self._topic_ids.pop(topic_id, None)
