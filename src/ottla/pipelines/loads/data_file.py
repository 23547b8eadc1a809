"""One data file of a table, and one commit: the values that travel from the tasks to the driver to the log.

A file of a load has records of one topic-partition only, so that its offsets say which records it holds; a
file of a stream's sink may hold anything, and then says nothing about offsets.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

NO_PARTITION: Final = -1


@dataclass(frozen=True, slots=True)
class DataFile:
    path: str
    """Relative to the table's directory, with slashes."""
    size_bytes: int
    records: int
    partition_values: Mapping[str, str | None] = field(default_factory=dict)
    """What the directory names say (`day` -> `2024-05-01`), as text; None stands for null."""
    topic: str | None = None
    partition: int = NO_PARTITION
    first_offset: int = -1
    last_offset: int = -1

    @property
    def traceable(self) -> bool:
        """Whether it is known which records it holds."""
        return self.topic is not None and self.partition != NO_PARTITION and self.last_offset >= 0

    def to_json(self) -> dict[str, Any]:
        fields = asdict(self)
        if self.topic is None:
            for name in ("topic", "partition", "first_offset", "last_offset"):
                del fields[name]
        if not self.partition_values:
            del fields["partition_values"]
        return fields

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> DataFile:
        return cls(**fields)


@dataclass(frozen=True, slots=True)
class Commit:
    """What one commit changes, all of it or nothing."""

    operation: str
    """`load`, `reload` or `stream`."""
    added: Sequence[DataFile] = ()
    removed: Sequence[DataFile] = ()
    marks: Mapping[str, int] = field(default_factory=dict)
    """Numbers that are stored with the data: positions in partitions, batch ids of streams."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """For people who look at the history."""


def position_mark(topic: str, partition: int) -> str:
    """The mark that holds the next offset to load. (`/` cannot be in a topic's name.)"""
    return f"ottla/{topic}/{partition}"


def topic_mark(topic: str) -> str:
    """The mark that holds the fingerprint of the topic's id: a topic created anew has another one."""
    return f"ottla/{topic}"


def parse_position_mark(mark: str) -> tuple[str, int] | None:
    parts = mark.split("/")
    if len(parts) != 3 or parts[0] != "ottla" or not parts[2].isdecimal():
        return None
    return parts[1], int(parts[2])


def fingerprint(identity: bytes) -> int:
    """63 bits of something that is too long for a mark."""
    return int.from_bytes(hashlib.sha256(identity).digest()[:8], "big") >> 1
