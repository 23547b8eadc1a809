"""Which partition a record goes to: by its key as Java's client decides it, or sticky when it has none.

All clients of a topic have to agree on the partition of a key, or order per key is lost; so the hash is
Java's murmur2 (seed 0x9747b28c), bit for bit, and the sign bit is masked away as Java does. Records without
a key stay on one partition until a batch's worth of bytes has gone there (KIP-480, KIP-794): full batches
cost a broker less than many small ones.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

_SEED = 0x9747B28C
_M = 0x5BD1E995
_MASK = 0xFFFFFFFF


def murmur2(data: bytes) -> int:
    """The 32-bit hash of `data`, as the signed integer that Java computes."""
    length = len(data)
    whole = length & ~3
    h = (_SEED ^ length) & _MASK
    for (k,) in struct.iter_unpack("<I", data[:whole]):
        k = (k * _M) & _MASK
        k ^= k >> 24
        k = (k * _M) & _MASK
        h = ((h * _M) & _MASK) ^ k
    tail = data[whole:]
    if tail:
        h ^= int.from_bytes(tail, "little")
        h = (h * _M) & _MASK
    h ^= h >> 13
    h = (h * _M) & _MASK
    h ^= h >> 15
    return h - 0x100000000 if h & 0x80000000 else h


def partition_for_key(key: bytes, partition_count: int) -> int:
    return (murmur2(key) & 0x7FFFFFFF) % partition_count


class StickyPartitioner:
    """Chooses partitions for records without a key, switching after every `sticky_bytes`.

    `choose(n)` gives a number below n (chance comes from outside). Partitions without a leader are passed
    over as long as others have one.
    """

    def __init__(self, sticky_bytes: int, choose: Callable[[int], int]) -> None:
        self._sticky_bytes = sticky_bytes
        self._choose = choose
        self._current: dict[str, tuple[int, int]] = {}  # topic: partition, bytes given to it so far

    def partition(self, topic: str, available: Sequence[int], size_bytes: int) -> int:
        """The partition for a record of this size; `available` are the partitions that have a leader."""
        current = self._current.get(topic)
        if current is None or current[1] >= self._sticky_bytes or current[0] not in available:
            others = [p for p in available if current is None or p != current[0]] or list(available)
            current = (others[self._choose(len(others))], 0)
        self._current[topic] = (current[0], current[1] + size_bytes)
        return current[0]
