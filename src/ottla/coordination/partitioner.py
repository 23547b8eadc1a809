"""Which partition of a coordinator's topic holds an id's records: Java's hash of the id.

Tools and other brokers compute the same number, so it is Java's `String.hashCode`: over UTF-16 code units, in
32 bits. A negative hash loses its sign; the one whose sign cannot be dropped (-2^31) counts as 0.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from sys import byteorder

_REMEMBERED_CHARS_MAX = 256
_UTF_16 = "utf-16-le" if byteorder == "little" else "utf-16-be"


def java_hash(text: str) -> int:
    """What Java's `String.hashCode` gives, as a signed 32-bit number."""
    value = 0
    for unit in array("H", text.encode(_UTF_16, "surrogatepass")):
        value = (value * 31 + unit) & 0xFFFFFFFF
    return value - 0x1_0000_0000 if value & 0x8000_0000 else value


def partition_of_key(key: str, partition_count: int) -> int:
    # Every request asks for it; names of 32 KB, which a client may send, are not worth keeping.
    remembered = _partition_of if len(key) <= _REMEMBERED_CHARS_MAX else _partition_of.__wrapped__
    return remembered(key, partition_count)


@lru_cache(maxsize=4_096)
def _partition_of(key: str, partition_count: int) -> int:
    value = java_hash(key)
    return 0 if value == -0x8000_0000 else abs(value) % partition_count
