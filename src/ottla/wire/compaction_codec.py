# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
# mypy: allow-untyped-decorators, allow-subclassing-any, disable-error-code="no-any-return"
# ruff: noqa: B007 - loop variables are declared as C integers, also those that only count
"""The compaction codec: the loops of the log cleaner, a read buffer of batches at a time.

Like ``record_codec`` this is Cython in pure-Python mode: ``setup.py`` compiles it to C, where every loop runs
without the GIL; the same source also runs interpreted, and one test suite runs over both forms. ``COMPILED``
tells which one is loaded. The same rules keep the forms equal: arithmetic that could leave 64 bits goes
through a function that wraps, input is read through const views, nothing trusts a length that was read. The
few helpers that both codecs need are written in both, since C functions do not cross modules in this mode.

How it works. ``OffsetTable`` is the map from keys to the latest offset: 24 bytes an entry (128 bits of a
SipHash with a secret key, and the offset), open addressing in memory that the caller provides. ``KeyIndexer``
fills it from the dirty part of a log. ``BatchFilter`` then copies batches into an output buffer, with the
records that are the latest of their key. Both pass over as many batches as the view holds and stop, with a
reason, at a batch that needs the caller: one that is compressed, transactional or a control batch, since
codecs and the state of transactions live in Python. Every batch is checked first (length, magic, CRC, rising
offsets); damage is a negative reason, with its text in ``DAMAGE``, because nothing can be raised without the
GIL.
"""

from __future__ import annotations

from array import array
from typing import Any

import cython

from ottla.wire.crc import crc32c

COMPILED: bool = bool(cython.compiled)

# Why a pass stopped. Python sees the names without underscore below.
_MORE = cython.declare(cython.int, 0)
_ASK = cython.declare(cython.int, 1)
_END = cython.declare(cython.int, 2)
_FULL = cython.declare(cython.int, 3)
_FLUSH = cython.declare(cython.int, 4)
_BAD_LENGTH = cython.declare(cython.int, -1)
_BAD_MAGIC = cython.declare(cython.int, -2)
_BAD_CRC = cython.declare(cython.int, -3)
_BAD_OFFSETS = cython.declare(cython.int, -4)
_BAD_RECORDS = cython.declare(cython.int, -5)

MORE = 0
"""The next batch is not wholly in the view: read on."""
ASK = 1
"""The batch at `position` was checked, and is the caller's to decide about."""
END = 2
"""The batch at `position` ends at or after the offset where the map has to end."""
FULL = 3
"""The records of the batch at `position` do not all fit into the map."""
FLUSH = 4
"""The output has no room that is sure to suffice for the batch at `position`."""

DAMAGE = {
    -1: "its length is not that of a batch, or reaches beyond its segment",
    -2: "its magic is not 2",
    -3: "its CRC is wrong",
    -4: "its offsets do not follow those before it, or lie beyond its segment",
    -5: "its records are malformed",
}

# Positions inside a v2 batch header, and bits of its attributes.
_LENGTH_AT = cython.declare(cython.int, 8)
_MAGIC_AT = cython.declare(cython.int, 16)
_CRC_AT = cython.declare(cython.int, 17)
_ATTRIBUTES_AT = cython.declare(cython.int, 21)
_LAST_OFFSET_DELTA_AT = cython.declare(cython.int, 23)
_BASE_TIMESTAMP_AT = cython.declare(cython.int, 27)
_MAX_TIMESTAMP_AT = cython.declare(cython.int, 35)
_PRODUCER_ID_AT = cython.declare(cython.int, 43)
_RECORD_COUNT_AT = cython.declare(cython.int, 57)
_HEADER_BYTES = cython.declare(cython.int, 61)

_CODEC_BITS = cython.declare(cython.longlong, 0x07)
_APPEND_TIME_BIT = cython.declare(cython.longlong, 0x08)
_TRANSACTIONAL_BIT = cython.declare(cython.longlong, 0x10)
_CONTROL_BIT = cython.declare(cython.longlong, 0x20)
_HORIZON_BIT = cython.declare(cython.longlong, 0x40)
_ASK_BITS = cython.declare(cython.longlong, 0x37)  # codec, transactional, control

# Literals of more than 31 bits would be Python objects in C, unless they are declared.
_MASK32 = cython.declare(cython.ulonglong, 0xFFFFFFFF)
_SIP0 = cython.declare(cython.ulonglong, 0x736F6D6570736575)
_SIP1 = cython.declare(cython.ulonglong, 0x646F72616E646F6D)
_SIP2 = cython.declare(cython.ulonglong, 0x6C7967656E657261)
_SIP3 = cython.declare(cython.ulonglong, 0x7465646279746573)

GROWTH_MAX = 3
"""Records whose timestamps count from a delete horizon take more bytes: at most so many times as before. The
smallest record has seven bytes, and grows by nine for its timestamp and one for its length."""
_GROWTH_MAX = cython.declare(cython.longlong, 3)


def _crc_tables() -> array[int]:
    """Eight tables of 256: what a byte that is followed by 0 to 7 others does to a CRC-32C."""
    tables = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        tables.append(crc)
    for i in range(256, 8 * 256):
        before = tables[i - 256]
        tables.append(before >> 8 ^ tables[before & 0xFF])
    return array("I", tables)


_CRC_TABLES = cython.declare("const unsigned int[::1]", _crc_tables())


# --- bytes and numbers --------------------------------------------------------------------------------------


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _wrap_add(a: cython.longlong, b: cython.longlong) -> cython.longlong:
    """a + b as Java's long does it: wrapping at 64 bits."""
    if cython.compiled:
        return cython.cast(
            cython.longlong, cython.cast(cython.ulonglong, a) + cython.cast(cython.ulonglong, b)
        )
    else:
        return (((a + b) & 0xFFFFFFFFFFFFFFFF) ^ 0x8000000000000000) - 0x8000000000000000


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _wrap_subtract(a: cython.longlong, b: cython.longlong) -> cython.longlong:
    if cython.compiled:
        return cython.cast(
            cython.longlong, cython.cast(cython.ulonglong, a) - cython.cast(cython.ulonglong, b)
        )
    else:
        return (((a - b) & 0xFFFFFFFFFFFFFFFF) ^ 0x8000000000000000) - 0x8000000000000000


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _add64(a: cython.ulonglong, b: cython.ulonglong) -> cython.ulonglong:
    if cython.compiled:
        return a + b
    else:
        return (a + b) & 0xFFFFFFFFFFFFFFFF


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _rotate64(a: cython.ulonglong, bits: cython.int) -> cython.ulonglong:
    if cython.compiled:
        return (a << bits) | (a >> (64 - bits))
    else:
        return ((a << bits) | (a >> (64 - bits))) & 0xFFFFFFFFFFFFFFFF


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _int16_at(data: cython.pointer[cython.const[cython.uchar]], p: cython.Py_ssize_t) -> cython.longlong:
    value: cython.longlong = data[p]
    if value > 127:
        value = value - 256
    return value * 256 + data[p + 1]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _int32_at(data: cython.pointer[cython.const[cython.uchar]], p: cython.Py_ssize_t) -> cython.longlong:
    value: cython.longlong = data[p]
    if value > 127:
        value = value - 256
    i: cython.Py_ssize_t
    for i in range(1, 4):
        value = value * 256 + data[p + i]
    return value


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _uint32_at(data: cython.pointer[cython.const[cython.uchar]], p: cython.Py_ssize_t) -> cython.longlong:
    value: cython.longlong = data[p]
    i: cython.Py_ssize_t
    for i in range(1, 4):
        value = value * 256 + data[p + i]
    return value


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _int64_at(data: cython.pointer[cython.const[cython.uchar]], p: cython.Py_ssize_t) -> cython.longlong:
    value: cython.longlong = data[p]
    if value > 127:
        value = value - 256
    i: cython.Py_ssize_t
    for i in range(1, 8):
        value = value * 256 + data[p + i]
    return value


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _word_at(data: cython.pointer[cython.const[cython.uchar]], p: cython.Py_ssize_t) -> cython.ulonglong:
    """Eight bytes, the lowest first."""
    word: cython.ulonglong = 0
    byte: cython.ulonglong
    i: cython.int
    for i in range(8):
        byte = data[p + i]
        word = word | (byte << (8 * i))
    return word


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _put_big_endian(
    out: cython.p_uchar, at: cython.Py_ssize_t, value: cython.longlong, size: cython.int
) -> cython.int:
    i: cython.int
    for i in range(size):
        out[at + i] = cython.cast(cython.uchar, (value >> (8 * (size - 1 - i))) & 0xFF)
    return 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _varint(
    data: cython.pointer[cython.const[cython.uchar]], p: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.ulonglong:
    """The 32-bit varint at p: its zigzag bits << 3 | its size in bytes; 0 when it is cut or over 5 bytes."""
    if p >= end:
        return 0
    byte: cython.ulonglong = data[p]
    if byte < 128:
        return (byte << 3) | 1
    return _long_varint(data, p, end)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _long_varint(
    data: cython.pointer[cython.const[cython.uchar]], p: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.ulonglong:
    byte: cython.ulonglong = data[p]
    bits: cython.ulonglong = byte & 0x7F
    size: cython.int = 1
    while size < 5:
        if p + size >= end:
            return 0
        byte = data[p + size]
        if size == 4:
            if byte > 127:
                return 0
            byte = byte & 0x0F
        bits = bits | ((byte & 0x7F) << (7 * size))
        size = size + 1
        if byte < 128:
            return (bits << 3) | size
    return 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _unzigzag(packed: cython.ulonglong) -> cython.longlong:
    """The signed value in what _varint returned."""
    half: cython.longlong = packed >> 4
    sign: cython.longlong = (packed >> 3) & 1
    return half ^ -sign


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _varlong_bytes(
    data: cython.pointer[cython.const[cython.uchar]], p: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """How many bytes the 64-bit varint at p has; 0 when it is cut or over 10 bytes."""
    size: cython.Py_ssize_t = 0
    limit: cython.Py_ssize_t = end - p
    if limit > 10:
        limit = 10
    while size < limit:
        if data[p + size] < 128:
            return size + 1
        size = size + 1
    return 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _varlong(
    data: cython.pointer[cython.const[cython.uchar]], p: cython.Py_ssize_t, size: cython.Py_ssize_t
) -> cython.longlong:
    """The signed value of the varint of so many bytes at p; bits above the 64th are dropped."""
    bits: cython.ulonglong = data[p] & 0x7F
    byte: cython.ulonglong
    i: cython.Py_ssize_t
    for i in range(1, size):
        byte = data[p + i] & 0x7F
        if i == 9:
            byte = byte & 1
        bits = bits | (byte << (7 * i))
    half: cython.longlong = bits >> 1
    sign: cython.longlong = bits & 1
    return half ^ -sign


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _put_varint(out: cython.p_uchar, at: cython.Py_ssize_t, value: cython.longlong) -> cython.Py_ssize_t:
    """Write the zigzag varint of a value and return the position after it."""
    sign: cython.int = 0
    if value < 0:
        value = -1 - value
        sign = 1
    low: cython.longlong = ((value & 0x3F) << 1) | sign
    value = value >> 6
    while value > 0:
        out[at] = cython.cast(cython.uchar, low | 0x80)
        at = at + 1
        low = value & 0x7F
        value = value >> 7
    out[at] = cython.cast(cython.uchar, low)
    return at + 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _varint_bytes(value: cython.longlong) -> cython.Py_ssize_t:
    if value < 0:
        value = -1 - value
    size: cython.Py_ssize_t = 1
    value = value >> 6
    while value > 0:
        size = size + 1
        value = value >> 7
    return size


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _copy(
    target: cython.p_uchar,
    at: cython.Py_ssize_t,
    data: cython.pointer[cython.const[cython.uchar]],
    p: cython.Py_ssize_t,
    length: cython.Py_ssize_t,
) -> cython.int:
    i: cython.Py_ssize_t
    if cython.compiled:
        for i in range(length):
            target[at + i] = data[p + i]
    else:
        target[at : at + length] = data[p : p + length]
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _crc(
    data: cython.pointer[cython.const[cython.uchar]], p: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.longlong:
    """The CRC-32C of data[p:end].

    In C by tables, eight bytes a step: the library that the rest of the code uses is faster, but it is called
    through Python, once per batch, and small batches would pay for that. Interpreted it is the other way.
    """
    if cython.compiled:
        tables: cython.pointer[cython.const[cython.uint]] = cython.address(_CRC_TABLES[0])
        word: cython.ulonglong
        crc: cython.ulonglong = _MASK32
        while end - p >= 8:
            word = _word_at(data, p) ^ crc
            crc = (
                tables[1792 + (word & 0xFF)]
                ^ tables[1536 + ((word >> 8) & 0xFF)]
                ^ tables[1280 + ((word >> 16) & 0xFF)]
                ^ tables[1024 + ((word >> 24) & 0xFF)]
                ^ tables[768 + ((word >> 32) & 0xFF)]
                ^ tables[512 + ((word >> 40) & 0xFF)]
                ^ tables[256 + ((word >> 48) & 0xFF)]
                ^ tables[word >> 56]
            )
            p = p + 8
        while p < end:
            crc = (crc >> 8) ^ tables[(crc ^ data[p]) & 0xFF]
            p = p + 1
        return cython.cast(cython.longlong, crc ^ _MASK32)
    else:
        return crc32c(memoryview(data)[p:end])


@cython.locals(view="const unsigned char[::1]")
def crc(view: Any, pos: cython.Py_ssize_t, end: cython.Py_ssize_t) -> int:
    """The CRC-32C of view[pos:end], as the passes compute it."""
    _check_range(pos, end, len(view))
    data: cython.pointer[cython.const[cython.uchar]]
    if cython.compiled:
        data = cython.address(view[0])
    else:
        data = view
    found: cython.longlong
    with cython.nogil:
        found = _crc(data, pos, end)
    return found


def _check_range(pos: cython.Py_ssize_t, end: cython.Py_ssize_t, length: cython.Py_ssize_t) -> None:
    if pos < 0 or end < pos or end > length:
        raise ValueError(f"range {pos}:{end} does not lie within a buffer of {length} bytes")


# --- the map ------------------------------------------------------------------------------------------------


@cython.cclass
class OffsetTable:
    """From the hash of a key to its latest offset, in memory that the caller gives: three words a slot.

    The hash is SipHash-2-4 with 128 bits of result under a key that nobody outside knows: whoever chooses the
    keys of records can neither make two of them collide (one would be lost) nor crowd them into one place.
    A slot whose third word is 0 is free; else that is the offset plus one.
    """

    entries = cython.declare(cython.longlong, visibility="readonly")
    capacity = cython.declare(cython.longlong, visibility="readonly")
    _slots = cython.declare("unsigned long long[::1]")
    _slot_count: cython.ulonglong
    _key0: cython.ulonglong
    _key1: cython.ulonglong
    _hash0: cython.ulonglong
    _hash1: cython.ulonglong

    def __init__(
        self, slots: Any, capacity: cython.longlong, key0: cython.ulonglong, key1: cython.ulonglong
    ) -> None:
        """slots: a writable view of 64-bit words, all zero. capacity: after so many keys it is full."""
        self._slots = slots
        self._slot_count = len(slots) // 3
        if self._slot_count > 0xFFFFFFFF:
            raise ValueError("a place in the table is found with 32 bits")
        if capacity < 0 or capacity >= len(slots) // 3:
            raise ValueError("a slot has to stay free, or a search for a key that is not there never ends")
        self.capacity = capacity
        self.entries = 0
        self._key0 = key0
        self._key1 = key1
        self._hash0 = 0
        self._hash1 = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _hash(
        self,
        data: cython.pointer[cython.const[cython.uchar]],
        p: cython.Py_ssize_t,
        length: cython.Py_ssize_t,
    ) -> cython.int:
        """Leave the two halves of the key's hash in _hash0 and _hash1."""
        v0: cython.ulonglong = self._key0 ^ _SIP0
        v1: cython.ulonglong = self._key1 ^ _SIP1 ^ 0xEE
        v2: cython.ulonglong = self._key0 ^ _SIP2
        v3: cython.ulonglong = self._key1 ^ _SIP3
        word: cython.ulonglong = 0
        byte: cython.ulonglong
        words: cython.Py_ssize_t = length >> 3
        step: cython.Py_ssize_t
        rounds: cython.int
        i: cython.int
        # Whole words, the rest with the length in its last byte, then the two ends of the 128-bit form.
        for step in range(words + 3):
            rounds = 2
            if step < words:
                word = _word_at(data, p + 8 * step)
                v3 = v3 ^ word
            elif step == words:
                word = length & 0xFF
                word = word << 56
                for i in range(length & 7):
                    byte = data[p + 8 * words + i]
                    word = word | (byte << (8 * i))
                v3 = v3 ^ word
            elif step == words + 1:
                v2 = v2 ^ 0xEE
                rounds = 4
            else:
                self._hash0 = v0 ^ v1 ^ v2 ^ v3
                v1 = v1 ^ 0xDD
                rounds = 4
            for i in range(rounds):
                v0 = _add64(v0, v1)
                v1 = _rotate64(v1, 13) ^ v0
                v0 = _rotate64(v0, 32)
                v2 = _add64(v2, v3)
                v3 = _rotate64(v3, 16) ^ v2
                v0 = _add64(v0, v3)
                v3 = _rotate64(v3, 21) ^ v0
                v2 = _add64(v2, v1)
                v1 = _rotate64(v1, 17) ^ v2
                v2 = _rotate64(v2, 32)
            if step <= words:
                v0 = v0 ^ word
        self._hash1 = v0 ^ v1 ^ v2 ^ v3
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _find(
        self,
        data: cython.pointer[cython.const[cython.uchar]],
        p: cython.Py_ssize_t,
        length: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """The first word of the slot that the key has, or of the free one where it would be put."""
        self._hash(data, p, length)
        at: cython.Py_ssize_t = 3 * (((self._hash0 >> 32) * self._slot_count) >> 32)
        end: cython.Py_ssize_t = 3 * self._slot_count
        while self._slots[at + 2] != 0 and (
            self._slots[at] != self._hash0 or self._slots[at + 1] != self._hash1
        ):
            at = at + 3
            if at == end:
                at = 0
        return at

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _put(
        self,
        data: cython.pointer[cython.const[cython.uchar]],
        p: cython.Py_ssize_t,
        length: cython.Py_ssize_t,
        offset: cython.longlong,
    ) -> cython.bint:
        """Whether there was room for the key, or it was there already."""
        at: cython.Py_ssize_t = self._find(data, p, length)
        if self._slots[at + 2] == 0:
            if self.entries >= self.capacity:
                return False
            self._slots[at] = self._hash0
            self._slots[at + 1] = self._hash1
            self.entries = self.entries + 1
        self._slots[at + 2] = cython.cast(cython.ulonglong, offset) + 1
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _get(
        self,
        data: cython.pointer[cython.const[cython.uchar]],
        p: cython.Py_ssize_t,
        length: cython.Py_ssize_t,
    ) -> cython.longlong:
        at: cython.Py_ssize_t = self._find(data, p, length)
        return cython.cast(cython.longlong, self._slots[at + 2]) - 1

    @cython.locals(view="const unsigned char[::1]")
    def put(self, key: Any, offset: cython.longlong) -> bool:
        """Note the latest offset of a key; False when the table is full and the key is new."""
        view = key
        data: cython.pointer[cython.const[cython.uchar]]
        if cython.compiled:
            data = cython.address(view[0])
        else:
            data = view
        return bool(self._put(data, 0, len(view), offset))

    @cython.locals(view="const unsigned char[::1]")
    def get(self, key: Any) -> int:
        """The latest offset of a key, or -1."""
        view = key
        data: cython.pointer[cython.const[cython.uchar]]
        if cython.compiled:
            data = cython.address(view[0])
        else:
            data = view
        return self._get(data, 0, len(view))

    @cython.locals(view="const unsigned char[::1]")
    def hash(self, key: Any) -> tuple[int, int]:
        """The two halves of the key's hash."""
        view = key
        data: cython.pointer[cython.const[cython.uchar]]
        if cython.compiled:
            data = cython.address(view[0])
        else:
            data = view
        self._hash(data, 0, len(view))
        return self._hash0, self._hash1


# --- one segment's batches ----------------------------------------------------------------------------------


@cython.cclass
class BatchPass:
    """Where a pass over a segment is: the position in the view, and which offset may come next."""

    position = cython.declare(cython.Py_ssize_t, visibility="readonly")
    next_offset = cython.declare(cython.longlong, visibility="readonly")
    records_read = cython.declare(cython.longlong, visibility="readonly")
    _end_offset: cython.longlong
    _batch_bytes_max: cython.longlong

    def begin_segment(
        self, next_offset: cython.longlong, end_offset: cython.longlong, batch_bytes_max: cython.longlong
    ) -> None:
        """The batches to come have offsets from next_offset on and below end_offset."""
        self.next_offset = next_offset
        self._end_offset = end_offset
        self._batch_bytes_max = batch_bytes_max

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _check(
        self,
        data: cython.pointer[cython.const[cython.uchar]],
        p: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
    ) -> cython.longlong:
        """The size of the right and whole batch at p; 0 when more has to be read; else what is wrong."""
        if end - p < _HEADER_BYTES:
            return 0
        length: cython.longlong = _int32_at(data, p + _LENGTH_AT)
        if length < _HEADER_BYTES - 12 or length + 12 > self._batch_bytes_max:
            return _BAD_LENGTH
        if data[p + _MAGIC_AT] != 2:
            return _BAD_MAGIC
        base_offset: cython.longlong = _int64_at(data, p)
        delta: cython.longlong = _int32_at(data, p + _LAST_OFFSET_DELTA_AT)
        if base_offset < self.next_offset or base_offset >= self._end_offset or delta < 0:
            return _BAD_OFFSETS
        if delta >= self._end_offset - base_offset:
            return _BAD_OFFSETS
        if length + 12 > end - p:
            return 0
        if _crc(data, p + _ATTRIBUTES_AT, p + 12 + length) != _uint32_at(data, p + _CRC_AT):
            return _BAD_CRC
        if _int32_at(data, p + _RECORD_COUNT_AT) < 0:
            return _BAD_RECORDS
        return length + 12

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _step(
        self, data: cython.pointer[cython.const[cython.uchar]], p: cython.Py_ssize_t, size: cython.longlong
    ) -> cython.Py_ssize_t:
        """Go on to the batch after the checked one at p."""
        self.next_offset = _int64_at(data, p) + _int32_at(data, p + _LAST_OFFSET_DELTA_AT) + 1
        return p + size

    @cython.locals(view="const unsigned char[::1]")
    def skip(self, view: Any) -> None:
        """Go on after the batch at `position`, which ASK was returned for."""
        if self.position + _HEADER_BYTES > len(view):
            raise ValueError("there is no batch to go on from")
        data: cython.pointer[cython.const[cython.uchar]]
        if cython.compiled:
            data = cython.address(view[0])
        else:
            data = view
        self.position = self._step(data, self.position, 12 + _int32_at(data, self.position + _LENGTH_AT))


@cython.cclass
class KeyIndexer(BatchPass):
    """Puts the keys of batches into a table, with their offsets."""

    _table: OffsetTable
    _first_offset: cython.longlong
    _limit_offset: cython.longlong

    def __init__(
        self, table: OffsetTable, first_offset: cython.longlong, limit_offset: cython.longlong
    ) -> None:
        """Records below first_offset are left out; a batch that reaches limit_offset is the END."""
        self._table = table
        self._first_offset = first_offset
        self._limit_offset = limit_offset
        self.position = 0
        self.next_offset = 0
        self.records_read = 0
        self._end_offset = 0
        self._batch_bytes_max = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _index(
        self,
        data: cython.pointer[cython.const[cython.uchar]],
        p: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        count: cython.longlong,
        base_offset: cython.longlong,
        delta_limit: cython.longlong,
    ) -> cython.int:
        """Put the keys of the count records that fill data[p:end]: 0, _FULL or _BAD_RECORDS."""
        i: cython.longlong
        packed: cython.ulonglong
        length: cython.longlong
        delta: cython.longlong
        previous: cython.longlong = -1
        stop: cython.Py_ssize_t
        size: cython.Py_ssize_t
        for i in range(count):
            packed = _varint(data, p, end)
            p = p + cython.cast(cython.Py_ssize_t, packed & 7)
            length = _unzigzag(packed)
            if packed == 0 or length < 0 or length > end - p:
                return _BAD_RECORDS
            stop = p + length
            p = p + 1
            size = _varlong_bytes(data, p, stop)
            if size == 0:
                return _BAD_RECORDS
            p = p + size
            packed = _varint(data, p, stop)
            p = p + cython.cast(cython.Py_ssize_t, packed & 7)
            delta = _unzigzag(packed)
            if packed == 0 or delta <= previous or delta > delta_limit:
                return _BAD_RECORDS
            previous = delta
            packed = _varint(data, p, stop)
            p = p + cython.cast(cython.Py_ssize_t, packed & 7)
            length = _unzigzag(packed)
            if packed == 0 or length < -1 or length > stop - p:
                return _BAD_RECORDS
            if (
                length >= 0
                and base_offset + delta >= self._first_offset
                and not self._table._put(data, p, length, base_offset + delta)
            ):
                return _FULL
            p = stop
        if p != end:
            return _BAD_RECORDS
        self.records_read = self.records_read + count
        return 0

    @cython.locals(view="const unsigned char[::1]")
    def run(self, view: Any, pos: cython.Py_ssize_t, end: cython.Py_ssize_t) -> int:
        """Index the batches of view[pos:end] as far as it goes; returns why it stopped, at `position`."""
        _check_range(pos, end, len(view))
        data: cython.pointer[cython.const[cython.uchar]]
        if cython.compiled:
            data = cython.address(view[0])
        else:
            data = view
        p: cython.Py_ssize_t = pos
        size: cython.longlong
        last_delta: cython.longlong
        reason: cython.longlong = _MORE
        with cython.nogil:
            while True:
                size = self._check(data, p, end)
                if size <= 0:
                    reason = size
                    break
                last_delta = _int32_at(data, p + _LAST_OFFSET_DELTA_AT)
                if _int64_at(data, p) + last_delta >= self._limit_offset:
                    reason = _END
                    break
                if _int64_at(data, p) + last_delta >= self._first_offset:
                    if _int16_at(data, p + _ATTRIBUTES_AT) & _ASK_BITS:
                        reason = _ASK
                        break
                    reason = self._index(
                        data,
                        p + _HEADER_BYTES,
                        p + size,
                        _int32_at(data, p + _RECORD_COUNT_AT),
                        _int64_at(data, p),
                        last_delta,
                    )
                    if reason:
                        break
                p = self._step(data, p, size)
        self.position = p
        return reason

    @cython.locals(view="const unsigned char[::1]")
    def index_records(
        self,
        view: Any,
        pos: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        count: cython.longlong,
        base_offset: cython.longlong,
        delta_limit: cython.longlong,
    ) -> int:
        """Index the records of one batch that the caller decided about: 0, FULL, or damage."""
        _check_range(pos, end, len(view))
        data: cython.pointer[cython.const[cython.uchar]]
        if cython.compiled:
            data = cython.address(view[0])
        else:
            data = view
        reason: cython.int
        with cython.nogil:
            reason = self._index(data, pos, end, count, base_offset, delta_limit)
        return reason


@cython.cclass
class BatchFilter(BatchPass):
    """Copies batches with the records that stay.

    A record stays when no later offset of its key is in the table, and, if it is a tombstone, until the
    delete horizon of its batch. A batch with tombstones that has no horizon yet gets one: it takes the place
    of the base timestamp, from which the records' timestamps are then counted. What is past `map_end` is not
    judged and copied as it is.
    """

    written_to = cython.declare(cython.Py_ssize_t, visibility="readonly")
    records_written = cython.declare(cython.longlong, visibility="readonly")
    invalid_records = cython.declare(cython.longlong, visibility="readonly")
    kept = cython.declare(cython.longlong, visibility="readonly")  # records of the last batch that stayed
    kept_tombstone = cython.declare(cython.bint, visibility="readonly")  # there was one among them
    kept_max_timestamp = cython.declare(cython.longlong, visibility="readonly")  # at least -1
    _invalid: cython.longlong
    _table: OffsetTable
    _map_end: cython.longlong
    _keep_last: cython.longlong
    _now_ms: cython.longlong
    _new_horizon_ms: cython.longlong
    _last_offsets = cython.declare("const long long[::1]")
    _last_producers = cython.declare("const long long[::1]")
    _last_cursor: cython.Py_ssize_t

    def __init__(
        self,
        table: OffsetTable,
        map_end: cython.longlong,
        keep_last: cython.longlong,
        now_ms: cython.longlong,
        new_horizon_ms: cython.longlong,
        last_offsets: Any,
        last_producers: Any,
    ) -> None:
        """keep_last: the batch before this offset stays, if need be empty. last_offsets: rising, where live
        producers' last batches end, and beside them whose.
        """
        if len(last_offsets) != len(last_producers):
            raise ValueError("each last offset has its producer")
        self._table = table
        self._map_end = map_end
        self._keep_last = keep_last
        self._now_ms = now_ms
        self._new_horizon_ms = new_horizon_ms
        self._last_offsets = last_offsets
        self._last_producers = last_producers
        self._last_cursor = 0
        self.position = 0
        self.next_offset = 0
        self.records_read = 0
        self._end_offset = 0
        self._batch_bytes_max = 0
        self.written_to = 0
        self.records_written = 0
        self.invalid_records = 0
        self.kept = 0
        self.kept_tombstone = False
        self.kept_max_timestamp = -1
        self._invalid = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _stays_empty(
        self, base_offset: cython.longlong, last_delta: cython.longlong, producer_id: cython.longlong
    ) -> cython.bint:
        """Whether a batch stays although no record of it does."""
        last_offset: cython.longlong = base_offset + last_delta
        if last_offset + 1 == self._keep_last:
            return True
        count: cython.Py_ssize_t = self._last_offsets.shape[0]
        while self._last_cursor < count and self._last_offsets[self._last_cursor] < last_offset:
            self._last_cursor = self._last_cursor + 1
        return (
            producer_id >= 0
            and self._last_cursor < count
            and self._last_offsets[self._last_cursor] == last_offset
            and self._last_producers[self._last_cursor] == producer_id
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _filter(
        self,
        data: cython.pointer[cython.const[cython.uchar]],
        p: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        count: cython.longlong,
        base_offset: cython.longlong,
        delta_limit: cython.longlong,
        base_timestamp: cython.longlong,
        keep_tombstones: cython.bint,
        shift: cython.longlong,
        out: cython.p_uchar,
        at: cython.Py_ssize_t,
        out_end: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Copy the records of data[p:end] that stay to out[at:], and return where they end, or _BAD_RECORDS.

        Their bytes stay as they are, unless there is a shift: that is added to every timestamp's delta.
        """
        i: cython.longlong
        packed: cython.ulonglong
        length: cython.longlong
        key_length: cython.longlong
        delta: cython.longlong
        timestamp_delta: cython.longlong
        timestamp: cython.longlong
        previous: cython.longlong = -1
        kept: cython.longlong = 0
        invalid: cython.longlong = 0
        max_timestamp: cython.longlong = -1
        tombstone: cython.bint = False
        start: cython.Py_ssize_t
        stop: cython.Py_ssize_t
        size: cython.Py_ssize_t
        body: cython.Py_ssize_t
        run: cython.Py_ssize_t = p  # where the records begin that stay and are not copied yet
        for i in range(count):
            start = p
            packed = _varint(data, p, end)
            p = p + cython.cast(cython.Py_ssize_t, packed & 7)
            length = _unzigzag(packed)
            if packed == 0 or length < 0 or length > end - p:
                return _BAD_RECORDS
            body = p
            stop = p + length
            p = p + 1
            size = _varlong_bytes(data, p, stop)
            if size == 0:
                return _BAD_RECORDS
            timestamp_delta = _varlong(data, p, size)
            p = p + size
            packed = _varint(data, p, stop)
            p = p + cython.cast(cython.Py_ssize_t, packed & 7)
            delta = _unzigzag(packed)
            if packed == 0 or delta <= previous or delta > delta_limit:
                return _BAD_RECORDS
            previous = delta
            packed = _varint(data, p, stop)
            p = p + cython.cast(cython.Py_ssize_t, packed & 7)
            key_length = _unzigzag(packed)
            if packed == 0 or key_length < -1 or key_length > stop - p:
                return _BAD_RECORDS
            if key_length < 0:
                invalid = invalid + 1
                stays: cython.bint = False
                packed = 0
            else:
                packed = _varint(data, p + key_length, stop)
                if packed == 0:
                    return _BAD_RECORDS
                # A tombstone has the length -1, and nothing else is below 0.
                stays = _unzigzag(packed) >= 0 or keep_tombstones
                if stays:
                    stays = self._table._get(data, p, key_length) <= base_offset + delta
            p = stop
            if stays:
                kept = kept + 1
                timestamp = _wrap_add(base_timestamp, timestamp_delta)
                if timestamp > max_timestamp:
                    max_timestamp = timestamp
                if _unzigzag(packed) < 0:
                    tombstone = True
                if shift == 0:
                    continue
                timestamp_delta = _wrap_add(timestamp_delta, shift)
                length = length - size + _varint_bytes(timestamp_delta)
                if length + 5 > out_end - at:
                    return _BAD_RECORDS
                at = _put_varint(out, at, length)
                out[at] = data[body]
                at = _put_varint(out, at + 1, timestamp_delta)
                body = body + 1 + size
                _copy(out, at, data, body, stop - body)
                at = at + (stop - body)
            else:
                if shift == 0 and start > run:
                    if start - run > out_end - at:
                        return _BAD_RECORDS
                    _copy(out, at, data, run, start - run)
                    at = at + (start - run)
                run = stop
        if p != end:
            return _BAD_RECORDS
        if shift == 0 and end > run:
            if end - run > out_end - at:
                return _BAD_RECORDS
            _copy(out, at, data, run, end - run)
            at = at + (end - run)
        self.kept = kept
        self.kept_tombstone = tombstone
        self.kept_max_timestamp = max_timestamp
        self._invalid = invalid
        return at

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _copy_plain(
        self,
        data: cython.pointer[cython.const[cython.uchar]],
        p: cython.Py_ssize_t,
        size: cython.longlong,
        discard: cython.bint,
        out: cython.p_uchar,
        at: cython.Py_ssize_t,
        out_end: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Copy what stays of the checked batch at p, which is not compressed, to out[at:]."""
        attributes: cython.longlong = _int16_at(data, p + _ATTRIBUTES_AT)
        base_offset: cython.longlong = _int64_at(data, p)
        last_delta: cython.longlong = _int32_at(data, p + _LAST_OFFSET_DELTA_AT)
        base_timestamp: cython.longlong = _int64_at(data, p + _BASE_TIMESTAMP_AT)
        max_timestamp: cython.longlong = _int64_at(data, p + _MAX_TIMESTAMP_AT)
        count: cython.longlong = _int32_at(data, p + _RECORD_COUNT_AT)
        has_horizon: cython.bint = (attributes & _HORIZON_BIT) != 0
        keep_tombstones: cython.bint = not has_horizon or self._now_ms < base_timestamp
        records_at: cython.Py_ssize_t = at + _HEADER_BYTES
        stop: cython.Py_ssize_t = records_at
        self.records_read = self.records_read + count
        self.kept = 0
        if not discard:
            stop = self._filter(
                data,
                p + _HEADER_BYTES,
                p + size,
                count,
                base_offset,
                last_delta,
                base_timestamp,
                keep_tombstones,
                0,
                out,
                records_at,
                out_end,
            )
            if stop < 0:
                return stop
            self.invalid_records = self.invalid_records + self._invalid
        if self.kept == 0:
            if not self._stays_empty(base_offset, last_delta, _int64_at(data, p + _PRODUCER_ID_AT)):
                return at
            stop = records_at
            # As Kafka leaves it: no codec, no horizon, no base timestamp; the rest as it was.
            attributes = attributes & ~(_CODEC_BITS | _HORIZON_BIT)
            base_timestamp = -1
        else:
            self.records_written = self.records_written + self.kept
            if self.kept_tombstone and not has_horizon:
                stop = self._filter(
                    data,
                    p + _HEADER_BYTES,
                    p + size,
                    count,
                    base_offset,
                    last_delta,
                    base_timestamp,
                    keep_tombstones,
                    _wrap_subtract(base_timestamp, self._new_horizon_ms),
                    out,
                    records_at,
                    out_end,
                )
                if stop < 0:
                    return stop
                attributes = attributes | _HORIZON_BIT
                base_timestamp = self._new_horizon_ms
            elif self.kept == count:
                _copy(out, at, data, p, _HEADER_BYTES)
                return stop
            if not attributes & _APPEND_TIME_BIT:
                max_timestamp = self.kept_max_timestamp
        _copy(out, at, data, p, _HEADER_BYTES)
        _put_big_endian(out, at + _LENGTH_AT, stop - at - 12, 4)
        _put_big_endian(out, at + _ATTRIBUTES_AT, attributes, 2)
        _put_big_endian(out, at + _BASE_TIMESTAMP_AT, base_timestamp, 8)
        _put_big_endian(out, at + _MAX_TIMESTAMP_AT, max_timestamp, 8)
        _put_big_endian(out, at + _RECORD_COUNT_AT, self.kept, 4)
        _put_big_endian(out, at + _CRC_AT, _crc(out, at + _ATTRIBUTES_AT, stop), 4)
        return stop

    @cython.locals(view="const unsigned char[::1]", target="unsigned char[::1]")
    def run(
        self,
        view: Any,
        pos: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        target: Any,
        at: cython.Py_ssize_t,
    ) -> int:
        """Copy what stays of view[pos:end] to target[at:] as far as it goes; returns why it stopped, at
        `position` of the view; the target is filled up to `written_to`.
        """
        _check_range(pos, end, len(view))
        _check_range(at, at, len(target))
        data: cython.pointer[cython.const[cython.uchar]]
        out: cython.p_uchar
        if cython.compiled:
            data = cython.address(view[0])
            out = cython.address(target[0])
        else:
            data = view
            out = target
        out_end: cython.Py_ssize_t = len(target)
        p: cython.Py_ssize_t = pos
        written: cython.Py_ssize_t
        size: cython.longlong
        reason: cython.longlong = _MORE
        with cython.nogil:
            while True:
                size = self._check(data, p, end)
                if size <= 0:
                    reason = size
                    break
                if size * _GROWTH_MAX > out_end - at:
                    reason = _FLUSH
                    break
                if _int64_at(data, p) >= self._map_end:
                    _copy(out, at, data, p, size)
                    at = at + size
                    self.records_read = self.records_read + _int32_at(data, p + _RECORD_COUNT_AT)
                    self.records_written = self.records_written + _int32_at(data, p + _RECORD_COUNT_AT)
                elif _int16_at(data, p + _ATTRIBUTES_AT) & _ASK_BITS:
                    reason = _ASK
                    break
                else:
                    written = self._copy_plain(data, p, size, False, out, at, out_end)
                    if written < 0:
                        reason = written
                        break
                    at = written
                p = self._step(data, p, size)
        self.position = p
        self.written_to = at
        return reason

    @cython.locals(view="const unsigned char[::1]", target="unsigned char[::1]")
    def copy_plain(self, view: Any, discard: cython.bint, target: Any, at: cython.Py_ssize_t) -> int:
        """Copy what stays of the batch at `position`, which the caller decided about and which is not
        compressed; none of its records when they are to be discarded. 0, or damage.
        """
        size: cython.longlong = 0
        data: cython.pointer[cython.const[cython.uchar]]
        out: cython.p_uchar
        if cython.compiled:
            data = cython.address(view[0])
            out = cython.address(target[0])
        else:
            data = view
            out = target
        if self.position + _HEADER_BYTES <= len(view):
            size = 12 + _int32_at(data, self.position + _LENGTH_AT)
        if (
            size < _HEADER_BYTES
            or self.position + size > len(view)
            or at < 0
            or size * _GROWTH_MAX > len(target) - at
        ):
            raise ValueError("there is no batch, or no room for it")
        written: cython.Py_ssize_t
        out_end: cython.Py_ssize_t = len(target)
        with cython.nogil:
            written = self._copy_plain(data, self.position, size, discard, out, at, out_end)
        if written < 0:
            return written
        self.written_to = written
        return 0

    @cython.locals(view="const unsigned char[::1]", target="unsigned char[::1]")
    def filter_records(
        self,
        view: Any,
        count: cython.longlong,
        base_offset: cython.longlong,
        delta_limit: cython.longlong,
        base_timestamp: cython.longlong,
        keep_tombstones: cython.bint,
        new_base_timestamp: cython.longlong,
        target: Any,
    ) -> int:
        """Copy the records that stay of a batch that the caller has decompressed: how many bytes, or damage.

        `kept`, `kept_tombstone` and `kept_max_timestamp` tell about them. Where the new base timestamp is
        another, the target needs GROWTH_MAX times the room of the view.
        """
        data: cython.pointer[cython.const[cython.uchar]]
        out: cython.p_uchar
        if cython.compiled:
            data = cython.address(view[0])
            out = cython.address(target[0])
        else:
            data = view
            out = target
        end: cython.Py_ssize_t = len(view)
        out_end: cython.Py_ssize_t = len(target)
        written: cython.Py_ssize_t
        with cython.nogil:
            written = self._filter(
                data,
                0,
                end,
                count,
                base_offset,
                delta_limit,
                base_timestamp,
                keep_tombstones,
                _wrap_subtract(base_timestamp, new_base_timestamp),
                out,
                0,
                out_end,
            )
        return written

    def stays_empty(
        self, base_offset: cython.longlong, last_delta: cython.longlong, producer_id: cython.longlong
    ) -> bool:
        """Whether a batch stays although no record of it does. Asked in the order of the log."""
        return bool(self._stays_empty(base_offset, last_delta, producer_id))

    def count(
        self, records_read: cython.longlong, records_written: cython.longlong, invalid: cython.longlong
    ) -> None:
        """Add to the sums what a batch had that the caller copied."""
        self.records_read = self.records_read + records_read
        self.records_written = self.records_written + records_written
        self.invalid_records = self.invalid_records + invalid

    @property
    def invalid(self) -> int:
        """Records without a key in what filter_records saw last."""
        return self._invalid


# --- index entries ------------------------------------------------------------------------------------------


@cython.locals(view="const unsigned char[::1]")
def index_points(
    view: Any,
    pos: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    file_position: cython.longlong,
    bytes_since: cython.longlong,
    interval_bytes: cython.longlong,
    max_timestamp: cython.longlong,
    max_timestamp_offset: cython.longlong,
) -> tuple[list[tuple[int, int, int, int]], int, int, int]:
    """Where the whole batches of view[pos:end], which go to file_position, need index entries.

    Each point is last offset, position, largest timestamp so far and its offset; behind the list the three
    numbers that the next call takes. An entry is due after more than interval_bytes since the last one.
    """
    _check_range(pos, end, len(view))
    data: cython.pointer[cython.const[cython.uchar]]
    if cython.compiled:
        data = cython.address(view[0])
    else:
        data = view
    p: cython.Py_ssize_t = pos
    size: cython.longlong
    last_offset: cython.longlong
    timestamp: cython.longlong
    points: list[tuple[int, int, int, int]] = []
    while end - p >= _HEADER_BYTES:
        size = 12 + _int32_at(data, p + _LENGTH_AT)
        if size < _HEADER_BYTES or size > end - p:
            break
        last_offset = _int64_at(data, p) + _int32_at(data, p + _LAST_OFFSET_DELTA_AT)
        timestamp = _int64_at(data, p + _MAX_TIMESTAMP_AT)
        if timestamp > max_timestamp:
            max_timestamp = timestamp
            max_timestamp_offset = last_offset
        if bytes_since > interval_bytes:
            points.append((last_offset, file_position + (p - pos), max_timestamp, max_timestamp_offset))
            bytes_since = 0
        bytes_since = bytes_since + size
        p = p + size
    if p != end:
        raise ValueError("the view does not end where a batch does")
    return points, bytes_since, max_timestamp, max_timestamp_offset
