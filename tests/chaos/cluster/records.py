"""The records of a run, and what is written down about them while it goes on.

A record's key names its writer and its number among that writer's records in that partition; its value
follows from the key, so that a changed byte shows. What was acknowledged (writer), delivered and committed
(reader) is appended to files of fixed-size entries, whose length tells the driver how far a process is.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ACK = struct.Struct("<IIq")
"""Partition, number in that partition, offset."""
SEEN = struct.Struct("<IIqI")
"""Partition, writer, offset, number: a record that a consumer was handed."""
COMMITTED = struct.Struct("<Iq")
"""Partition, offset: a commit that was acknowledged."""
NOWHERE = -1
_VALUE_BYTES = 100


def key_of(writer: int, number: int) -> bytes:
    return b"%d:%d" % (writer, number)


def parsed(key: bytes) -> tuple[int, int]:
    writer, number = key.split(b":")
    return int(writer), int(number)


def value_of(key: bytes, partition: int) -> bytes:
    text = b"%s in partition %d, " % (key, partition)
    return (text * (_VALUE_BYTES // len(text) + 1))[:_VALUE_BYTES]


class Written(NamedTuple):
    """What one writer sent and knows: per partition the offset of each record, NOWHERE when it was never
    told.
    """

    offsets: list[array[int]]

    @property
    def acked(self) -> int:
        return sum(len(each) - each.count(NOWHERE) for each in self.offsets)

    @property
    def sent(self) -> int:
        return sum(len(each) for each in self.offsets)


def load_written(path: Path, sent: list[int]) -> Written:
    """From a writer's file of acknowledgements, and how many it sent to each partition."""
    offsets = [array("q", [NOWHERE]) * count for count in sent]
    for partition, number, offset in entries(path, ACK):
        assert offsets[partition][number] == NOWHERE, "a record was acknowledged twice"
        offsets[partition][number] = offset
    return Written(offsets)


def entries(path: Path, form: struct.Struct) -> Iterator[tuple[int, ...]]:
    """All whole entries; the last one may be cut when its process was killed."""
    data = path.read_bytes() if path.exists() else b""
    return form.iter_unpack(memoryview(data)[: len(data) // form.size * form.size])
