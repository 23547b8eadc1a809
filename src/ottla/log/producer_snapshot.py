"""The bytes of a `.snapshot` file: Kafka's producer snapshot, version 1.

Version (int16), CRC-32C of everything after it (uint32), a count (int32), then 46 bytes for each producer.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import Final, NamedTuple

from ottla.wire.crc import crc32c

_HEAD: Final = Struct(">hIi")
_ENTRY: Final = Struct(">qhiqiqiq")
_VERSION: Final = 1
_CRC_AT: Final = 2
_ENTRIES_AT: Final = 6
"""Where the bytes that the CRC covers begin."""


class SnapshotEntry(NamedTuple):
    producer_id: int
    epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int
    coordinator_epoch: int
    txn_first_offset: int


class DamagedSnapshot(ValueError):
    """Not a snapshot, or not all of one."""


def encode_snapshot(entries: Iterable[SnapshotEntry]) -> bytes:
    rows = [_ENTRY.pack(*entry) for entry in entries]
    data = bytearray(_HEAD.pack(_VERSION, 0, len(rows)))
    data += b"".join(rows)
    data[_CRC_AT:_ENTRIES_AT] = crc32c(memoryview(data)[_ENTRIES_AT:]).to_bytes(4, "big")
    return bytes(data)


def decode_snapshot(data: bytes) -> list[SnapshotEntry]:
    if len(data) < _HEAD.size:
        raise DamagedSnapshot(f"{len(data)} bytes are too few for a producer snapshot")
    version, crc, count = _HEAD.unpack_from(data)
    if version != _VERSION:
        raise DamagedSnapshot(f"producer snapshot version {version} is not {_VERSION}")
    found = crc32c(memoryview(data)[_ENTRIES_AT:])
    if found != crc:
        raise DamagedSnapshot(f"the producer snapshot's CRC is {found:#010x}, its head says {crc:#010x}")
    if len(data) != _HEAD.size + count * _ENTRY.size:
        raise DamagedSnapshot(f"a producer snapshot of {count} producers cannot have {len(data)} bytes")
    return [SnapshotEntry._make(fields) for fields in _ENTRY.iter_unpack(memoryview(data)[_HEAD.size :])]
