# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
# mypy: allow-untyped-decorators, allow-subclassing-any, disable-error-code="no-any-return"
# ruff: noqa: B007 - loop variables are declared as C integers, also those that only count
"""The record codec: the loops that run once per record or once per batch header, and nothing else.

This is Cython in pure-Python mode. ``setup.py`` compiles it to C, where the loops run without the GIL (except
for short batches in ``check_plain_batch``); the same source also runs interpreted (then it needs Cython's
shadow module), and one test suite runs over both forms. Whoever wants to know which one is loaded reads
``COMPILED``.

Rules that keep the two forms equal:

* All arithmetic that could leave 64 bits goes through ``_wrap_add``; what is narrower is masked where it is
  made.
* Input is read through const views, so read-only bytes are accepted; a position is compared with its end
  before the byte is read. Nothing here trusts a length that came from the wire.
* In C a view is read through a bare pointer; interpreted, the "pointer" is the buffer itself.
  ``data[position]`` means the same in both.

How it works: ``walk`` passes over the records of one (decompressed) batch, checks everything, and sums up
what they hold; the sums size the buffers of a ``ColumnWriter``, whose ``fill`` makes the second pass and
copies. ``RowReader`` makes a consumer's records of the same bytes, a few at a time. ``check_plain_batch`` has
header, CRC and walk in one call, for producers. ``find_batch`` and its kin step from batch header to batch
header. The other way, from rows to bytes, is in ``record_writer``.

Errors are codes in ``Walk.error`` (texts in ``WALK_ERRORS``), because nothing can be raised without the GIL;
``record_batch`` turns them into exceptions.
"""

from __future__ import annotations

from typing import Any

import cython

if cython.compiled:
    from cython.cimports.cpython.bytearray import PyByteArray_FromStringAndSize
    from cython.cimports.cpython.object import PyObject, PyTypeObject
    from cython.cimports.libc.string import memcpy

COMPILED: bool = bool(cython.compiled)

# Why a walk stopped. Zero means that it reached the end.
_OK = cython.declare(cython.int, 0)
_BAD_RECORD_LENGTH = cython.declare(cython.int, 1)
_RECORD_OVERRUN = cython.declare(cython.int, 2)
_BAD_TIMESTAMP = cython.declare(cython.int, 3)
_BAD_OFFSET_DELTA = cython.declare(cython.int, 4)
_OFFSET_DELTA_ORDER = cython.declare(cython.int, 5)
_BAD_KEY_LENGTH = cython.declare(cython.int, 6)
_KEY_OVERRUN = cython.declare(cython.int, 7)
_BAD_VALUE_LENGTH = cython.declare(cython.int, 8)
_VALUE_OVERRUN = cython.declare(cython.int, 9)
_BAD_HEADER_COUNT = cython.declare(cython.int, 10)
_BAD_HEADER_KEY = cython.declare(cython.int, 11)
_BAD_HEADER_VALUE = cython.declare(cython.int, 12)
_RECORD_UNDERRUN = cython.declare(cython.int, 13)
_TRAILING_BYTES = cython.declare(cython.int, 14)
_NULL_KEY = cython.declare(cython.int, 15)

WALK_ERRORS = {
    _BAD_RECORD_LENGTH: "its length is not a valid varint or is negative",
    _RECORD_OVERRUN: "its length reaches beyond the batch",
    _BAD_TIMESTAMP: "its timestamp delta is not a valid varint",
    _BAD_OFFSET_DELTA: "its offset delta is not a valid varint",
    _OFFSET_DELTA_ORDER: "its offset delta is out of order",
    _BAD_KEY_LENGTH: "its key length is not a valid varint or is below -1",
    _KEY_OVERRUN: "its key reaches beyond the record",
    _BAD_VALUE_LENGTH: "its value length is not a valid varint or is below -1",
    _VALUE_OVERRUN: "its value reaches beyond the record",
    _BAD_HEADER_COUNT: "its header count is not a valid varint, negative, or larger than the record can hold",
    _BAD_HEADER_KEY: "a header key is null, malformed or reaches beyond the record",
    _BAD_HEADER_VALUE: "a header value is malformed or reaches beyond the record",
    _RECORD_UNDERRUN: "its fields end before its length does",
    _TRAILING_BYTES: "bytes follow the last record",
    _NULL_KEY: "it has no key, and the topic is compacted",
}

# Positions inside a v2 batch header.
_BATCH_LENGTH_AT = cython.declare(cython.int, 8)
_LEADER_EPOCH_AT = cython.declare(cython.int, 12)
_MAGIC_AT = cython.declare(cython.int, 16)
_CRC_AT = cython.declare(cython.int, 17)
_ATTRIBUTES_AT = cython.declare(cython.int, 21)
_LAST_OFFSET_DELTA_AT = cython.declare(cython.int, 23)
_BASE_TIMESTAMP_AT = cython.declare(cython.int, 27)
_MAX_TIMESTAMP_AT = cython.declare(cython.int, 35)
_PRODUCER_ID_AT = cython.declare(cython.int, 43)
_PRODUCER_EPOCH_AT = cython.declare(cython.int, 51)
_BASE_SEQUENCE_AT = cython.declare(cython.int, 53)
_RECORD_COUNT_AT = cython.declare(cython.int, 57)
_HEADER_BYTES = cython.declare(cython.int, 61)

# Bits of a batch's attributes.
_CODEC_BITS = cython.declare(cython.longlong, 0x07)
_TIMESTAMP_TYPE_BIT = cython.declare(cython.longlong, 0x08)
_NO_CLIENT_BITS = cython.declare(cython.longlong, 0x60)  # control batch, delete horizon

# Makes a named tuple without the Python function that its own constructor is.
_new_tuple = tuple.__new__

# Batches below this size are walked with the GIL held: that takes microseconds, and whoever gives the GIL
# away for so short a time may wait for milliseconds to get it back.
_GIL_HELD_BYTES_MAX = cython.declare(cython.longlong, 32 * 1024)


# --- arithmetic ---------------------------------------------------------------------------------------------


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
def _varint(
    data: cython.pointer[cython.const[cython.uchar]], p: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.ulonglong:
    """The 32-bit varint at p: its zigzag bits << 3 | its size in bytes; 0 when it is cut or over 5 bytes.

    One integer carries both results, so that nothing is returned through memory. Overlong forms are accepted
    and bits above the 32nd dropped, as Kafka does.
    """
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
    """_varint for more than one byte, apart so that the common case is small enough to be inlined."""
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


# --- the checking walk --------------------------------------------------------------------------------------


@cython.freelist(4)
@cython.cclass
class Walk:
    """What one pass over a batch's records found. Sums count only records at or after the wanted offset."""

    error = cython.declare(cython.longlong, visibility="readonly")
    record = cython.declare(cython.longlong, visibility="readonly")  # index of the record at which it stopped
    rows = cython.declare(cython.longlong, visibility="readonly")
    timestamp_min = cython.declare(
        cython.longlong, visibility="readonly"
    )  # of those that are not -1; -1 if none
    timestamp_max = cython.declare(cython.longlong, visibility="readonly")  # at least -1
    timestamp_max_delta = cython.declare(
        cython.longlong, visibility="readonly"
    )  # offset delta of the first such; -1
    key_nulls = cython.declare(cython.longlong, visibility="readonly")
    key_bytes = cython.declare(cython.longlong, visibility="readonly")
    value_nulls = cython.declare(cython.longlong, visibility="readonly")
    value_bytes = cython.declare(cython.longlong, visibility="readonly")
    headers = cython.declare(cython.longlong, visibility="readonly")
    header_key_bytes = cython.declare(cython.longlong, visibility="readonly")
    header_value_nulls = cython.declare(cython.longlong, visibility="readonly")
    header_value_bytes = cython.declare(cython.longlong, visibility="readonly")

    def __init__(self) -> None:
        self.error = 0
        self.record = 0
        self.rows = 0
        self.timestamp_min = -1
        self.timestamp_max = -1
        self.timestamp_max_delta = -1
        self.key_nulls = 0
        self.key_bytes = 0
        self.value_nulls = 0
        self.value_bytes = 0
        self.headers = 0
        self.header_key_bytes = 0
        self.header_value_nulls = 0
        self.header_value_bytes = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _walk(
    data: cython.pointer[cython.const[cython.uchar]],
    p: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    count: cython.longlong,
    delta_limit: cython.longlong,
    base_timestamp: cython.longlong,
    dense: cython.bint,
    require_keys: cython.bint,
    delta_min: cython.longlong,
    found: Walk,
) -> cython.int:
    i: cython.longlong
    h: cython.longlong
    packed: cython.ulonglong
    length: cython.longlong
    stop: cython.Py_ssize_t
    size: cython.Py_ssize_t
    timestamp: cython.longlong
    delta: cython.longlong
    previous: cython.longlong = -1
    header_count: cython.longlong
    wanted: cython.bint
    rows: cython.longlong = 0
    timestamp_min: cython.longlong = -1
    timestamp_max: cython.longlong = -1
    timestamp_max_delta: cython.longlong = -1
    key_nulls: cython.longlong = 0
    key_bytes: cython.longlong = 0
    value_nulls: cython.longlong = 0
    value_bytes: cython.longlong = 0
    headers: cython.longlong = 0
    header_key_bytes: cython.longlong = 0
    header_value_nulls: cython.longlong = 0
    header_value_bytes: cython.longlong = 0

    i = 0
    while i < count:
        found.record = i
        packed = _varint(data, p, end)
        if packed == 0:
            return _BAD_RECORD_LENGTH
        p = p + cython.cast(cython.Py_ssize_t, packed & 7)
        length = _unzigzag(packed)
        if length < 0:
            return _BAD_RECORD_LENGTH
        if length > end - p:
            return _RECORD_OVERRUN
        stop = p + length

        # Record attributes: one byte, unused in v2. When it is missing, so is all that follows.
        p = p + 1
        size = _varlong_bytes(data, p, stop)
        if size == 0:
            return _BAD_TIMESTAMP
        timestamp = _wrap_add(base_timestamp, _varlong(data, p, size))
        p = p + size

        packed = _varint(data, p, stop)
        if packed == 0:
            return _BAD_OFFSET_DELTA
        p = p + cython.cast(cython.Py_ssize_t, packed & 7)
        delta = _unzigzag(packed)
        if dense:
            if delta != i:
                return _OFFSET_DELTA_ORDER
        elif delta <= previous or delta > delta_limit:
            return _OFFSET_DELTA_ORDER
        previous = delta
        wanted = delta >= delta_min

        packed = _varint(data, p, stop)
        if packed == 0:
            return _BAD_KEY_LENGTH
        p = p + cython.cast(cython.Py_ssize_t, packed & 7)
        length = _unzigzag(packed)
        if length >= 0:
            if length > stop - p:
                return _KEY_OVERRUN
            p = p + length
            if wanted:
                key_bytes = key_bytes + length
        elif length < -1:
            return _BAD_KEY_LENGTH
        elif require_keys:
            return _NULL_KEY
        elif wanted:
            key_nulls = key_nulls + 1

        packed = _varint(data, p, stop)
        if packed == 0:
            return _BAD_VALUE_LENGTH
        p = p + cython.cast(cython.Py_ssize_t, packed & 7)
        length = _unzigzag(packed)
        if length >= 0:
            if length > stop - p:
                return _VALUE_OVERRUN
            p = p + length
            if wanted:
                value_bytes = value_bytes + length
        elif length < -1:
            return _BAD_VALUE_LENGTH
        elif wanted:
            value_nulls = value_nulls + 1

        packed = _varint(data, p, stop)
        if packed == 0:
            return _BAD_HEADER_COUNT
        p = p + cython.cast(cython.Py_ssize_t, packed & 7)
        header_count = _unzigzag(packed)
        # A header has at least two bytes: its two lengths.
        if header_count < 0 or header_count > (stop - p) // 2:
            return _BAD_HEADER_COUNT
        h = 0
        while h < header_count:
            packed = _varint(data, p, stop)
            if packed == 0:
                return _BAD_HEADER_KEY
            p = p + cython.cast(cython.Py_ssize_t, packed & 7)
            length = _unzigzag(packed)
            if length < 0 or length > stop - p:
                return _BAD_HEADER_KEY
            p = p + length
            if wanted:
                header_key_bytes = header_key_bytes + length
            packed = _varint(data, p, stop)
            if packed == 0:
                return _BAD_HEADER_VALUE
            p = p + cython.cast(cython.Py_ssize_t, packed & 7)
            length = _unzigzag(packed)
            if length >= 0:
                if length > stop - p:
                    return _BAD_HEADER_VALUE
                p = p + length
                if wanted:
                    header_value_bytes = header_value_bytes + length
            elif length < -1:
                return _BAD_HEADER_VALUE
            elif wanted:
                header_value_nulls = header_value_nulls + 1
            h = h + 1
        if p != stop:
            return _RECORD_UNDERRUN

        if timestamp != -1 and (timestamp_min == -1 or timestamp < timestamp_min):
            timestamp_min = timestamp
        if timestamp > timestamp_max:
            timestamp_max = timestamp
            timestamp_max_delta = delta
        if wanted:
            rows = rows + 1
            headers = headers + header_count
        i = i + 1

    found.record = count
    if p != end:
        return _TRAILING_BYTES
    found.rows = rows
    found.timestamp_min = timestamp_min
    found.timestamp_max = timestamp_max
    found.timestamp_max_delta = timestamp_max_delta
    found.key_nulls = key_nulls
    found.key_bytes = key_bytes
    found.value_nulls = value_nulls
    found.value_bytes = value_bytes
    found.headers = headers
    found.header_key_bytes = header_key_bytes
    found.header_value_nulls = header_value_nulls
    found.header_value_bytes = header_value_bytes
    return _OK


@cython.locals(view="const unsigned char[::1]")
def walk(
    view: Any,
    pos: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    count: cython.longlong,
    delta_limit: cython.longlong,
    base_timestamp: cython.longlong,
    dense: cython.bint,
    require_keys: cython.bint,
    delta_min: cython.longlong,
) -> Walk:
    """Check the count records that fill view[pos:end] exactly.

    dense: offset deltas are 0, 1, 2 … (what a producer sends); otherwise they rise and stay within
    delta_limit (what compaction leaves). Records with a delta below delta_min are checked, but not counted in
    the sums.
    """
    _check_range(pos, end, len(view))
    found: Walk = Walk()
    data: cython.pointer[cython.const[cython.uchar]]
    if cython.compiled:
        data = cython.address(view[0])
    else:
        data = view
    error: cython.int
    with cython.nogil:
        error = _walk(
            data, pos, end, count, delta_limit, base_timestamp, dense, require_keys, delta_min, found
        )
    found.error = error
    return found


@cython.locals(view="const unsigned char[::1]")
def check_plain_batch(
    buf: Any,
    pos: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    require_keys: cython.bint,
    from_client: cython.bint,
    crc32c: Any,
    header_type: Any,
    checked_type: Any,
) -> Any:
    """All of record_batch.check_batch for a batch that is not compressed and right; for any other, None.

    The usual batch of the produce path. Whoever gets None goes the long way, which names what is wrong.
    The three callables come from record_batch: crc32c and the named tuples BatchHeader and CheckedBatch.
    """
    view = buf
    if pos < 0 or end > len(view) or end - pos < _HEADER_BYTES:
        return None
    data: cython.pointer[cython.const[cython.uchar]]
    if cython.compiled:
        data = cython.address(view[0])
    else:
        data = view
    attributes: cython.longlong = _int16_at(data, pos + _ATTRIBUTES_AT)
    if data[pos + _MAGIC_AT] != 2 or attributes & _CODEC_BITS:
        return None
    batch_length: cython.longlong = _int32_at(data, pos + _BATCH_LENGTH_AT)
    if batch_length < _HEADER_BYTES - 12 or batch_length > end - pos - 12:
        return None
    stop: cython.Py_ssize_t = pos + 12 + batch_length
    base_offset: cython.longlong = _int64_at(data, pos)
    last_offset_delta: cython.longlong = _int32_at(data, pos + _LAST_OFFSET_DELTA_AT)
    record_count: cython.longlong = _int32_at(data, pos + _RECORD_COUNT_AT)
    if record_count < 1 or last_offset_delta != record_count - 1:
        return None
    if from_client and (base_offset != 0 or attributes & _NO_CLIENT_BITS):
        return None
    # Offsets are summed in 64 bits below; the long way has Python's integers.
    if base_offset > 0x7FFFFFFF00000000:
        return None
    crc: cython.longlong = _int32_at(data, pos + _CRC_AT) & 0xFFFFFFFF
    # crc32c lets go of the GIL by itself where that pays.
    whole = buf if isinstance(buf, memoryview) else memoryview(buf)
    crc_found: cython.longlong = crc32c(whole[pos + _ATTRIBUTES_AT : stop])
    if crc_found != crc:
        return None

    base_timestamp: cython.longlong = _int64_at(data, pos + _BASE_TIMESTAMP_AT)
    start: cython.Py_ssize_t = pos + _HEADER_BYTES
    found: Walk = Walk()
    error: cython.int
    if batch_length < _GIL_HELD_BYTES_MAX:
        error = _walk(
            data,
            start,
            stop,
            record_count,
            last_offset_delta,
            base_timestamp,
            True,
            require_keys,
            0,
            found,
        )
    else:
        with cython.nogil:
            error = _walk(
                data,
                start,
                stop,
                record_count,
                last_offset_delta,
                base_timestamp,
                True,
                require_keys,
                0,
                found,
            )
    if error:
        return None

    max_timestamp: cython.longlong = _int64_at(data, pos + _MAX_TIMESTAMP_AT)
    header = _new_tuple(
        header_type,
        (
            base_offset,
            batch_length,
            _int32_at(data, pos + _LEADER_EPOCH_AT),
            2,
            crc,
            attributes,
            last_offset_delta,
            base_timestamp,
            max_timestamp,
            _int64_at(data, pos + _PRODUCER_ID_AT),
            _int16_at(data, pos + _PRODUCER_EPOCH_AT),
            _int32_at(data, pos + _BASE_SEQUENCE_AT),
            record_count,
        ),
    )
    if attributes & _TIMESTAMP_TYPE_BIT:
        return _new_tuple(
            checked_type, (header, max_timestamp, max_timestamp, base_offset + last_offset_delta)
        )
    offset_of_max: cython.longlong = -1
    if found.timestamp_max_delta >= 0:
        offset_of_max = base_offset + found.timestamp_max_delta
    return _new_tuple(checked_type, (header, found.timestamp_min, found.timestamp_max, offset_of_max))


def _check_range(pos: cython.Py_ssize_t, end: cython.Py_ssize_t, length: cython.Py_ssize_t) -> None:
    if pos < 0 or end < pos or end > length:
        raise ValueError(f"range {pos}:{end} does not lie within a buffer of {length} bytes")


# --- records as Python objects, for tools and coordinators --------------------------------------------------


@cython.locals(view="const unsigned char[::1]")
def read_records(
    view: Any,
    pos: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    count: cython.longlong,
    base_offset: cython.longlong,
    base_timestamp: cython.longlong,
    append_time: cython.bint,
    append_timestamp: cython.longlong,
    record_type: Any,
) -> list[Any]:
    """The records of view[pos:end] as record_type tuples. The range must have passed walk before."""
    _check_range(pos, end, len(view))
    data: cython.pointer[cython.const[cython.uchar]]
    if cython.compiled:
        data = cython.address(view[0])
    else:
        data = view
    p: cython.Py_ssize_t = pos
    i: cython.longlong
    h: cython.longlong
    packed: cython.ulonglong
    size: cython.Py_ssize_t
    length: cython.longlong
    header_count: cython.longlong
    timestamp: cython.longlong
    delta: cython.longlong
    new = tuple.__new__
    records: list[Any] = []
    for i in range(count):
        packed = _varint(data, p, end)
        p += cython.cast(cython.Py_ssize_t, packed & 7)
        p += 1
        size = _varlong_bytes(data, p, end)
        timestamp = append_timestamp if append_time else _wrap_add(base_timestamp, _varlong(data, p, size))
        p += size
        packed = _varint(data, p, end)
        p += cython.cast(cython.Py_ssize_t, packed & 7)
        delta = _unzigzag(packed)
        packed = _varint(data, p, end)
        p += cython.cast(cython.Py_ssize_t, packed & 7)
        length = _unzigzag(packed)
        if length < 0:
            key = None
        else:
            key = bytes(data[p : p + length])
            p += length
        packed = _varint(data, p, end)
        p += cython.cast(cython.Py_ssize_t, packed & 7)
        length = _unzigzag(packed)
        if length < 0:
            value = None
        else:
            value = bytes(data[p : p + length])
            p += length
        packed = _varint(data, p, end)
        p += cython.cast(cython.Py_ssize_t, packed & 7)
        header_count = _unzigzag(packed)
        headers: Any = ()
        if header_count > 0:
            pairs: list[Any] = []
            for h in range(header_count):
                packed = _varint(data, p, end)
                p += cython.cast(cython.Py_ssize_t, packed & 7)
                length = _unzigzag(packed)
                # Kafka's Java client decodes header keys leniently; so does this.
                name = bytes(data[p : p + length]).decode("utf-8", "replace")
                p += length
                packed = _varint(data, p, end)
                p += cython.cast(cython.Py_ssize_t, packed & 7)
                length = _unzigzag(packed)
                if length < 0:
                    pairs.append((name, None))
                else:
                    pairs.append((name, bytes(data[p : p + length])))
                    p += length
            headers = tuple(pairs)
        records.append(new(record_type, (_wrap_add(base_offset, delta), timestamp, key, value, headers)))
    return records


@cython.cfunc
@cython.inline
def _bytes_at(
    data: cython.pointer[cython.const[cython.uchar]], p: cython.Py_ssize_t, length: cython.Py_ssize_t
) -> bytes:
    if cython.compiled:
        return data[p : p + length]  # in C a slice of a pointer is bytes already
    else:
        return bytes(data[p : p + length])


@cython.cfunc
def _deserialized(data: object, form: cython.int, function: Any, topic: Any, headers: Any) -> object:
    if form < 0:
        return str(cython.cast(bytes, data), "utf-8")
    if form == 1:
        return function(data)
    if form == 2:
        return function(topic, data)
    return function(topic, list(headers), data)


@cython.cfunc
@cython.inline
def _new_row(record_type: type, fields: tuple) -> object:  # type: ignore[type-arg]
    """A named tuple of these fields. In C without the detours of calling `tuple.__new__`."""
    if cython.compiled:
        arguments: tuple = (fields,)  # type: ignore[type-arg]
        return cython.cast(cython.pointer[PyTypeObject], tuple).tp_new(
            record_type, cython.cast(cython.pointer[PyObject], arguments), cython.NULL
        )
    else:
        return _new_tuple(record_type, fields)


@cython.cclass
class RowReader:
    """The records of one batch for a consumer, taken a few at a time.

    The range must have passed walk before, and nobody may write to it until the last record was taken. When a
    deserializer raises, the reader stands before its record: what was taken so far is in the caller's list.
    """

    left = cython.declare(cython.longlong, visibility="readonly")  # records that were not looked at yet
    next_offset = cython.declare(cython.longlong, visibility="readonly")  # after the last one looked at
    position = cython.declare(cython.Py_ssize_t, visibility="readonly")
    _view = cython.declare("const unsigned char[::1]")
    _end: cython.Py_ssize_t
    _base_offset: cython.longlong
    _base_timestamp: cython.longlong
    _append_time: cython.bint
    _append_timestamp: cython.longlong

    def __init__(
        self,
        view: Any,
        pos: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        count: cython.longlong,
        base_offset: cython.longlong,
        base_timestamp: cython.longlong,
        append_time: cython.bint,
        append_timestamp: cython.longlong,
    ) -> None:
        _check_range(pos, end, len(view))
        self._view = view
        self.position = pos
        self._end = end
        self.left = count
        self.next_offset = base_offset
        self._base_offset = base_offset
        self._base_timestamp = base_timestamp
        self._append_time = append_time
        self._append_timestamp = append_timestamp

    def take(
        self,
        out: list,  # type: ignore[type-arg]
        count_max: cython.longlong,
        start_offset: cython.longlong,
        topic: Any,
        partition: Any,
        leader_epoch: Any,
        record_type: Any,
        key_form: cython.int,
        key_function: Any,
        value_form: cython.int,
        value_function: Any,
    ) -> None:
        """Append up to count_max records at or after start_offset to out, as record_type tuples.

        What keys and values become is said by their form: 0 bytes, -1 texts, else what the function gives
        when it is called with (bytes), (topic, bytes) or (topic, headers, bytes): forms 1, 2, 3. Nulls stay
        None.
        """
        if not issubclass(record_type, tuple):
            raise TypeError("records are named tuples")
        data: cython.pointer[cython.const[cython.uchar]]
        if cython.compiled:
            data = cython.address(self._view[0])
        else:
            data = self._view
        end: cython.Py_ssize_t = self._end
        p: cython.Py_ssize_t
        stop: cython.Py_ssize_t
        h: cython.longlong
        packed: cython.ulonglong
        size: cython.Py_ssize_t
        length: cython.longlong
        header_count: cython.longlong
        offset: cython.longlong
        timestamp: cython.longlong
        taken: cython.longlong = 0
        timestamp_type: Any = 1 if self._append_time else 0
        while taken < count_max and self.left > 0:
            p = self.position
            packed = _varint(data, p, end)
            p += cython.cast(cython.Py_ssize_t, packed & 7)
            stop = p + _unzigzag(packed)
            p += 1
            size = _varlong_bytes(data, p, end)
            if self._append_time:
                timestamp = self._append_timestamp
            else:
                timestamp = _wrap_add(self._base_timestamp, _varlong(data, p, size))
            p += size
            packed = _varint(data, p, end)
            p += cython.cast(cython.Py_ssize_t, packed & 7)
            offset = _wrap_add(self._base_offset, _unzigzag(packed))
            if offset >= start_offset:
                packed = _varint(data, p, end)
                p += cython.cast(cython.Py_ssize_t, packed & 7)
                length = _unzigzag(packed)
                key: Any = None
                if length >= 0:
                    key = _bytes_at(data, p, length)
                    p += length
                packed = _varint(data, p, end)
                p += cython.cast(cython.Py_ssize_t, packed & 7)
                length = _unzigzag(packed)
                value: Any = None
                if length >= 0:
                    value = _bytes_at(data, p, length)
                    p += length
                packed = _varint(data, p, end)
                p += cython.cast(cython.Py_ssize_t, packed & 7)
                header_count = _unzigzag(packed)
                headers: Any = ()
                if header_count > 0:
                    pairs: list[Any] = []
                    for h in range(header_count):
                        packed = _varint(data, p, end)
                        p += cython.cast(cython.Py_ssize_t, packed & 7)
                        length = _unzigzag(packed)
                        # Kafka's Java client decodes header keys leniently; so does this.
                        name = str(_bytes_at(data, p, length), "utf-8", "replace")
                        p += length
                        packed = _varint(data, p, end)
                        p += cython.cast(cython.Py_ssize_t, packed & 7)
                        length = _unzigzag(packed)
                        if length < 0:
                            pairs.append((name, None))
                        else:
                            pairs.append((name, _bytes_at(data, p, length)))
                            p += length
                    headers = tuple(pairs)
                if key_form and key is not None:
                    key = _deserialized(key, key_form, key_function, topic, headers)
                if value_form and value is not None:
                    value = _deserialized(value, value_form, value_function, topic, headers)
                out.append(
                    _new_row(
                        record_type,
                        (
                            topic,
                            partition,
                            offset,
                            timestamp,
                            timestamp_type,
                            key,
                            value,
                            headers,
                            leader_epoch,
                        ),
                    )
                )
                taken += 1
            self.position = stop
            self.left -= 1
            self.next_offset = _wrap_add(offset, 1)


# --- columns out --------------------------------------------------------------------------------------------


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
    if cython.compiled:
        memcpy(target + at, data + p, length)
    else:
        target[at : at + length] = data[p : p + length]
    return 0


@cython.cfunc
def _new_bytes(size: cython.Py_ssize_t) -> bytearray:
    """A bytearray that somebody will fill: in C it is not filled with zeros first."""
    if cython.compiled:
        return PyByteArray_FromStringAndSize(cython.NULL, size)
    else:
        return bytearray(size)


@cython.cclass
class ColumnWriter:
    """The buffers of one set of columns, filled batch by batch; sized by what the walks found.

    The buffers have Arrow's layout: int64 offsets and timestamps, int32 timestamp types, and for every
    variable-sized column int32 offsets (one more than rows), data, and a validity bitmap, least significant
    bit first.
    """

    row = cython.declare(cython.Py_ssize_t, visibility="readonly")
    header = cython.declare(cython.Py_ssize_t, visibility="readonly")
    key_at: cython.Py_ssize_t
    value_at: cython.Py_ssize_t
    header_key_at: cython.Py_ssize_t
    header_value_at: cython.Py_ssize_t
    _offsets = cython.declare("long long[::1]")
    _timestamps = cython.declare("long long[::1]")
    _timestamp_types = cython.declare("int[::1]")
    _key_offsets = cython.declare("int[::1]")
    _key_data = cython.declare("unsigned char[::1]")
    _key_validity = cython.declare("unsigned char[::1]")
    _value_offsets = cython.declare("int[::1]")
    _value_data = cython.declare("unsigned char[::1]")
    _value_validity = cython.declare("unsigned char[::1]")
    _header_offsets = cython.declare("int[::1]")
    _header_key_offsets = cython.declare("int[::1]")
    _header_key_data = cython.declare("unsigned char[::1]")
    _header_value_offsets = cython.declare("int[::1]")
    _header_value_data = cython.declare("unsigned char[::1]")
    _header_value_validity = cython.declare("unsigned char[::1]")
    rows: cython.Py_ssize_t
    buffers = cython.declare(object, visibility="readonly")

    def __init__(
        self,
        rows: cython.Py_ssize_t,
        key_bytes: cython.Py_ssize_t,
        value_bytes: cython.Py_ssize_t,
        headers: cython.Py_ssize_t,
        header_key_bytes: cython.Py_ssize_t,
        header_value_bytes: cython.Py_ssize_t,
    ) -> None:
        self.row = 0
        self.header = 0
        self.key_at = 0
        self.value_at = 0
        self.header_key_at = 0
        self.header_value_at = 0
        self.rows = rows
        # Every byte but those of the bitmaps, and the first offsets, is written by fill.
        buffers = {
            "offsets": _new_bytes(8 * rows),
            "timestamps": _new_bytes(8 * rows),
            "timestamp_types": _new_bytes(4 * rows),
            "key_offsets": _new_bytes(4 * (rows + 1)),
            "key_data": _new_bytes(key_bytes),
            "key_validity": bytearray((rows + 7) // 8),
            "value_offsets": _new_bytes(4 * (rows + 1)),
            "value_data": _new_bytes(value_bytes),
            "value_validity": bytearray((rows + 7) // 8),
            "header_offsets": _new_bytes(4 * (rows + 1)),
            "header_key_offsets": _new_bytes(4 * (headers + 1)),
            "header_key_data": _new_bytes(header_key_bytes),
            "header_value_offsets": _new_bytes(4 * (headers + 1)),
            "header_value_data": _new_bytes(header_value_bytes),
            "header_value_validity": bytearray((headers + 7) // 8),
        }
        self.buffers = buffers
        self._offsets = memoryview(buffers["offsets"]).cast("q")
        self._timestamps = memoryview(buffers["timestamps"]).cast("q")
        self._timestamp_types = memoryview(buffers["timestamp_types"]).cast("i")
        self._key_offsets = memoryview(buffers["key_offsets"]).cast("i")
        self._key_data = memoryview(buffers["key_data"])
        self._key_validity = memoryview(buffers["key_validity"])
        self._value_offsets = memoryview(buffers["value_offsets"]).cast("i")
        self._value_data = memoryview(buffers["value_data"])
        self._value_validity = memoryview(buffers["value_validity"])
        self._header_offsets = memoryview(buffers["header_offsets"]).cast("i")
        self._header_key_offsets = memoryview(buffers["header_key_offsets"]).cast("i")
        self._header_key_data = memoryview(buffers["header_key_data"])
        self._header_value_offsets = memoryview(buffers["header_value_offsets"]).cast("i")
        self._header_value_data = memoryview(buffers["header_value_data"])
        self._header_value_validity = memoryview(buffers["header_value_validity"])
        self._key_offsets[0] = 0
        self._value_offsets[0] = 0
        self._header_offsets[0] = 0
        self._header_key_offsets[0] = 0
        self._header_value_offsets[0] = 0

    @cython.locals(view="const unsigned char[::1]")
    def fill(
        self,
        view: Any,
        pos: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        count: cython.longlong,
        base_offset: cython.longlong,
        base_timestamp: cython.longlong,
        append_time: cython.bint,
        append_timestamp: cython.longlong,
        delta_min: cython.longlong,
    ) -> None:
        """Append the records of view[pos:end] at or after delta_min.

        The range must have passed walk with the same delta_min, its sums must be among those the buffers were
        sized by, and nobody may write to the view in between: this pass does not check again.
        """
        _check_range(pos, end, len(view))
        data: cython.pointer[cython.const[cython.uchar]]
        offsets: cython.p_longlong
        timestamps: cython.p_longlong
        timestamp_types: cython.p_int
        key_offsets: cython.p_int
        key_data: cython.p_uchar
        key_validity: cython.p_uchar
        value_offsets: cython.p_int
        value_data: cython.p_uchar
        value_validity: cython.p_uchar
        header_offsets: cython.p_int
        header_key_offsets: cython.p_int
        header_key_data: cython.p_uchar
        header_value_offsets: cython.p_int
        header_value_data: cython.p_uchar
        header_value_validity: cython.p_uchar
        if cython.compiled:
            data = cython.address(view[0])
            offsets = cython.address(self._offsets[0])
            timestamps = cython.address(self._timestamps[0])
            timestamp_types = cython.address(self._timestamp_types[0])
            key_offsets = cython.address(self._key_offsets[0])
            key_data = cython.address(self._key_data[0])
            key_validity = cython.address(self._key_validity[0])
            value_offsets = cython.address(self._value_offsets[0])
            value_data = cython.address(self._value_data[0])
            value_validity = cython.address(self._value_validity[0])
            header_offsets = cython.address(self._header_offsets[0])
            header_key_offsets = cython.address(self._header_key_offsets[0])
            header_key_data = cython.address(self._header_key_data[0])
            header_value_offsets = cython.address(self._header_value_offsets[0])
            header_value_data = cython.address(self._header_value_data[0])
            header_value_validity = cython.address(self._header_value_validity[0])
        else:
            data = view
            offsets = self._offsets
            timestamps = self._timestamps
            timestamp_types = self._timestamp_types
            key_offsets = self._key_offsets
            key_data = self._key_data
            key_validity = self._key_validity
            value_offsets = self._value_offsets
            value_data = self._value_data
            value_validity = self._value_validity
            header_offsets = self._header_offsets
            header_key_offsets = self._header_key_offsets
            header_key_data = self._header_key_data
            header_value_offsets = self._header_value_offsets
            header_value_data = self._header_value_data
            header_value_validity = self._header_value_validity

        p: cython.Py_ssize_t = pos
        i: cython.longlong
        h: cython.longlong
        packed: cython.ulonglong
        size: cython.Py_ssize_t
        length: cython.longlong
        stop: cython.Py_ssize_t
        header_count: cython.longlong
        timestamp: cython.longlong
        delta: cython.longlong
        row: cython.Py_ssize_t = self.row
        header: cython.Py_ssize_t = self.header
        key_at: cython.Py_ssize_t = self.key_at
        value_at: cython.Py_ssize_t = self.value_at
        header_key_at: cython.Py_ssize_t = self.header_key_at
        header_value_at: cython.Py_ssize_t = self.header_value_at
        timestamp_type: cython.int = 1 if append_time else 0
        with cython.nogil:
            for i in range(count):
                packed = _varint(data, p, end)
                p = p + cython.cast(cython.Py_ssize_t, packed & 7)
                stop = p + _unzigzag(packed)
                p = p + 1
                size = _varlong_bytes(data, p, end)
                if append_time:
                    timestamp = append_timestamp
                else:
                    timestamp = _wrap_add(base_timestamp, _varlong(data, p, size))
                p = p + size
                packed = _varint(data, p, end)
                p = p + cython.cast(cython.Py_ssize_t, packed & 7)
                delta = _unzigzag(packed)
                if delta < delta_min:
                    p = stop
                    continue
                offsets[row] = _wrap_add(base_offset, delta)
                timestamps[row] = timestamp
                timestamp_types[row] = timestamp_type

                packed = _varint(data, p, end)
                p = p + cython.cast(cython.Py_ssize_t, packed & 7)
                length = _unzigzag(packed)
                if length >= 0:
                    _copy(key_data, key_at, data, p, length)
                    p = p + length
                    key_at = key_at + length
                    key_validity[row >> 3] = key_validity[row >> 3] | (1 << (row & 7))
                key_offsets[row + 1] = cython.cast(cython.int, key_at)

                packed = _varint(data, p, end)
                p = p + cython.cast(cython.Py_ssize_t, packed & 7)
                length = _unzigzag(packed)
                if length >= 0:
                    _copy(value_data, value_at, data, p, length)
                    p = p + length
                    value_at = value_at + length
                    value_validity[row >> 3] = value_validity[row >> 3] | (1 << (row & 7))
                value_offsets[row + 1] = cython.cast(cython.int, value_at)

                packed = _varint(data, p, end)
                p = p + cython.cast(cython.Py_ssize_t, packed & 7)
                header_count = _unzigzag(packed)
                for h in range(header_count):
                    packed = _varint(data, p, end)
                    p = p + cython.cast(cython.Py_ssize_t, packed & 7)
                    length = _unzigzag(packed)
                    _copy(header_key_data, header_key_at, data, p, length)
                    p = p + length
                    header_key_at = header_key_at + length
                    header_key_offsets[header + 1] = cython.cast(cython.int, header_key_at)
                    packed = _varint(data, p, end)
                    p = p + cython.cast(cython.Py_ssize_t, packed & 7)
                    length = _unzigzag(packed)
                    if length >= 0:
                        _copy(header_value_data, header_value_at, data, p, length)
                        p = p + length
                        header_value_at = header_value_at + length
                        header_value_validity[header >> 3] = header_value_validity[header >> 3] | (
                            1 << (header & 7)
                        )
                    header_value_offsets[header + 1] = cython.cast(cython.int, header_value_at)
                    header = header + 1
                header_offsets[row + 1] = cython.cast(cython.int, header)
                row = row + 1
        self.row = row
        self.header = header
        self.key_at = key_at
        self.value_at = value_at
        self.header_key_at = header_key_at
        self.header_value_at = header_value_at


# --- header scans -------------------------------------------------------------------------------------------


@cython.locals(view="const unsigned char[::1]")
def find_batch(
    view: Any, pos: cython.Py_ssize_t, end: cython.Py_ssize_t, target_offset: cython.longlong
) -> int:
    """The position of the first batch whose last offset is at or after target_offset, or -1.

    Only the batch's header need be in view: the batch itself may reach beyond end. -1 also where a header
    makes no sense (its length is below a header's).
    """
    _check_range(pos, end, len(view))
    data: cython.pointer[cython.const[cython.uchar]]
    if cython.compiled:
        data = cython.address(view[0])
    else:
        data = view
    p: cython.Py_ssize_t = pos
    length: cython.longlong
    found: cython.Py_ssize_t = -1
    with cython.nogil:
        while end - p >= _HEADER_BYTES:
            length = _int32_at(data, p + _BATCH_LENGTH_AT)
            if length < _HEADER_BYTES - 12:
                break
            if _wrap_add(_int64_at(data, p), _int32_at(data, p + _LAST_OFFSET_DELTA_AT)) >= target_offset:
                found = p
                break
            p = p + 12 + length
    return found


@cython.locals(view="const unsigned char[::1]")
def find_batch_by_timestamp(
    view: Any, pos: cython.Py_ssize_t, end: cython.Py_ssize_t, target_timestamp: cython.longlong
) -> int:
    """The position of the first batch whose max timestamp is at or after target_timestamp, or -1."""
    _check_range(pos, end, len(view))
    data: cython.pointer[cython.const[cython.uchar]]
    if cython.compiled:
        data = cython.address(view[0])
    else:
        data = view
    p: cython.Py_ssize_t = pos
    length: cython.longlong
    found: cython.Py_ssize_t = -1
    with cython.nogil:
        while end - p >= _HEADER_BYTES:
            length = _int32_at(data, p + _BATCH_LENGTH_AT)
            if length < _HEADER_BYTES - 12:
                break
            if _int64_at(data, p + _MAX_TIMESTAMP_AT) >= target_timestamp:
                found = p
                break
            p = p + 12 + length
    return found


@cython.locals(view="const unsigned char[::1]")
def scan_batches(view: Any, pos: cython.Py_ssize_t, end: cython.Py_ssize_t) -> tuple[int, int, int]:
    """(how many whole batches follow one another from pos, where the last one ends, where it begins).

    With none, both positions are pos. Whole means: all its bytes lie before end, its length is at least a
    header's and its magic is 2. The CRC is not looked at.
    """
    _check_range(pos, end, len(view))
    data: cython.pointer[cython.const[cython.uchar]]
    if cython.compiled:
        data = cython.address(view[0])
    else:
        data = view
    p: cython.Py_ssize_t = pos
    last: cython.Py_ssize_t = pos
    count: cython.Py_ssize_t = 0
    length: cython.longlong
    with cython.nogil:
        while end - p >= _HEADER_BYTES:
            length = _int32_at(data, p + _BATCH_LENGTH_AT)
            if length < _HEADER_BYTES - 12 or length > end - p - 12 or data[p + _MAGIC_AT] != 2:
                break
            last = p
            p = p + 12 + length
            count = count + 1
    return count, p, last


def last_batch_end(view: Any, pos: cython.Py_ssize_t, end: cython.Py_ssize_t) -> int:
    """Where the last whole batch of view[pos:end] ends; pos when there is none."""
    return scan_batches(view, pos, end)[1]
