# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
# mypy: allow-untyped-decorators, allow-subclassing-any, disable-error-code="no-any-return"
"""The record writer: the loops with which producers make records, out of columns or out of lists.

Like ``record_codec`` this is Cython in pure-Python mode: ``setup.py`` compiles it to C, the same source also
runs interpreted, and one test suite runs over both forms. ``COMPILED`` tells which one is loaded. The same
rules keep the forms equal, and the few helpers that the codecs share are written in each, since C functions
do not cross modules in this mode.

How it works. ``ColumnSource`` has columns in Arrow's layout and writes some of their rows as the records of
one batch, straight from the buffers where they lie: rows that follow each other, or those that an index
names. First ``measure`` (all of the rows) or ``fit`` (as many as a batch may hold), then ``write``. Before
that ``hash_keys`` and ``spread`` say which partition each row goes to, and ``by_partition`` turns this into
the index. ``encode_lists`` has the same for Python lists. Both leave the batch's header to ``record_batch``.
"""

from __future__ import annotations

from array import array
from typing import Any

import cython

if cython.compiled:
    from cython.cimports.cpython.bytearray import PyByteArray_FromStringAndSize, PyByteArray_Resize
    from cython.cimports.libc.string import memcpy

COMPILED: bool = bool(cython.compiled)

# Literals of more than 31 bits would be Python objects in C, unless they are declared.
_MASK32 = cython.declare(cython.ulonglong, 0xFFFFFFFF)
_MURMUR_SEED = cython.declare(cython.ulonglong, 0x9747B28C)
_MURMUR_M = cython.declare(cython.ulonglong, 0x5BD1E995)
_INT32_MAX = cython.declare(cython.longlong, 0x7FFFFFFF)

# What a record takes besides its key and value, about: lengths, attributes, deltas, header count.
_RECORD_OVERHEAD_BYTES = cython.declare(cython.longlong, 10)


# --- bytes and numbers --------------------------------------------------------------------------------------


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _wrap_subtract(a: cython.longlong, b: cython.longlong) -> cython.longlong:
    """a - b, wrapping at 64 bits."""
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
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _varint_bytes(value: cython.longlong) -> cython.Py_ssize_t:
    """How many bytes the zigzag varint of a value has."""
    size: cython.Py_ssize_t = 1
    # Zigzag needs one bit more than the magnitude: a value fits 7 bits of zigzag when -64 <= value < 64.
    if value < 0:
        value = -1 - value
    value = value >> 6
    while value > 0:
        size = size + 1
        value = value >> 7
    return size


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _put_varint(target: cython.p_uchar, at: cython.Py_ssize_t, value: cython.longlong) -> cython.Py_ssize_t:
    """Write the zigzag varint of a value and return the position after it."""
    # The low bit of the zigzag form is the sign; the rest is the magnitude, which never exceeds 63 bits.
    sign: cython.int = 0
    if value < 0:
        value = -1 - value
        sign = 1
    low: cython.longlong = ((value & 0x3F) << 1) | sign
    value = value >> 6
    while value > 0:
        target[at] = cython.cast(cython.uchar, low | 0x80)
        at = at + 1
        low = value & 0x7F
        value = value >> 7
    target[at] = cython.cast(cython.uchar, low)
    return at + 1


def new_bytes(size: cython.Py_ssize_t, spare: bytearray | None = None) -> bytearray:
    """A bytearray whose every byte the caller will write: in C it is not filled with zeros first. `spare` is
    one that nobody needs any more; it is taken if it can be made to fit (somebody may still hold a view).
    """
    if size < 0:
        raise ValueError("a size is not negative")
    if spare is not None:
        try:
            if cython.compiled:
                PyByteArray_Resize(spare, size)
            elif size <= len(spare):
                del spare[size:]
            else:
                spare.extend(bytes(size - len(spare)))
            return spare
        except BufferError:
            pass
    if cython.compiled:
        return PyByteArray_FromStringAndSize(cython.NULL, size)
    else:
        return bytearray(size)


# --- the hash of keys ---------------------------------------------------------------------------------------


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _murmur2(
    data: cython.pointer[cython.const[cython.uchar]], p: cython.Py_ssize_t, length: cython.Py_ssize_t
) -> cython.ulonglong:
    """MurmurHash2 with the seed of Kafka's clients, in the low 32 bits."""
    h: cython.ulonglong = (_MURMUR_SEED ^ cython.cast(cython.ulonglong, length)) & _MASK32
    k: cython.ulonglong
    byte: cython.ulonglong
    i: cython.Py_ssize_t
    whole: cython.Py_ssize_t = p + (length & ~3)
    while p < whole:
        k = data[p]
        for i in range(1, 4):
            byte = data[p + i]
            k = k | (byte << (8 * i))
        k = (k * _MURMUR_M) & _MASK32
        k = k ^ (k >> 24)
        k = (k * _MURMUR_M) & _MASK32
        h = ((h * _MURMUR_M) & _MASK32) ^ k
        p = p + 4
    if length & 3:
        for i in range(length & 3):
            byte = data[p + i]
            h = h ^ (byte << (8 * i))
        h = (h * _MURMUR_M) & _MASK32
    h = h ^ (h >> 13)
    h = (h * _MURMUR_M) & _MASK32
    return h ^ (h >> 15)


def murmur2(key: bytes) -> int:
    """The 32-bit hash of a key, as the signed integer that Java's client computes."""
    data: cython.pointer[cython.const[cython.uchar]] = key
    found: cython.longlong = _murmur2(data, 0, len(key))
    if found > _INT32_MAX:
        found = found - 0x100000000
    return found


def partition_of_key(key: bytes, partition_count: cython.longlong) -> int:
    """The partition of a key among so many, as Java's client decides it."""
    if partition_count < 1:
        raise ValueError("a topic has at least one partition")
    data: cython.pointer[cython.const[cython.uchar]] = key
    found: cython.longlong = _murmur2(data, 0, len(key))
    return (found & _INT32_MAX) % partition_count


# --- columns ------------------------------------------------------------------------------------------------


@cython.final
@cython.cclass
class ByteColumn:
    """Byte strings in Arrow's layout: offsets of 32 or 64 bits, data, and a validity bitmap.

    Row r of the column is entry first + r of the buffers (a slice of an array). A column that is absent is
    null in every row; a bitmap that is absent means that no value is null.
    """

    _present: cython.bint
    _wide: cython.bint
    _nullable: cython.bint
    _first: cython.Py_ssize_t
    _narrow_offsets = cython.declare("const int[::1]")
    _wide_offsets = cython.declare("const long long[::1]")
    _data = cython.declare("const unsigned char[::1]")
    _validity = cython.declare("const unsigned char[::1]")

    def __init__(self, column: Any) -> None:
        """column is (offsets as a view of int32 or int64, data, validity or None, first), or None."""
        none = b""
        self._present = column is not None
        self._wide = False
        self._nullable = False
        self._first = 0
        self._narrow_offsets = memoryview(none).cast("i")
        self._wide_offsets = memoryview(none).cast("q")
        self._data = none
        self._validity = none
        if column is not None:
            offsets, data, validity, first = column
            self._wide = offsets.itemsize == 8
            if self._wide:
                self._wide_offsets = offsets
            else:
                self._narrow_offsets = offsets
            self._data = data
            self._nullable = validity is not None
            if validity is not None:
                self._validity = validity
            self._first = first

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def _start(self, row: cython.Py_ssize_t) -> cython.longlong:
        if self._wide:
            return self._wide_offsets[self._first + row]
        return self._narrow_offsets[self._first + row]

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def _length(self, row: cython.Py_ssize_t) -> cython.longlong:
        """How many bytes a row has; -1 for null."""
        at: cython.Py_ssize_t = self._first + row
        if not self._present or (self._nullable and not (self._validity[at >> 3] >> (at & 7)) & 1):
            return -1
        if self._wide:
            return self._wide_offsets[at + 1] - self._wide_offsets[at]
        return cython.cast(cython.longlong, self._narrow_offsets[at + 1]) - self._narrow_offsets[at]

    @cython.cfunc
    def _check(self, start: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> object:
        """Raise unless rows start … stop exist, and their offsets rise and stay within the data."""
        if not self._present:
            return None
        if start < 0 or stop < start or self._first < 0:
            raise ValueError("rows lie outside an offsets buffer")
        first: cython.Py_ssize_t = self._first + start
        last: cython.Py_ssize_t = self._first + stop
        entries: cython.Py_ssize_t = len(self._wide_offsets) if self._wide else len(self._narrow_offsets)
        if last >= entries:
            # Arrow allows an array without rows to have no offsets at all.
            if start == stop:
                return None
            raise ValueError("rows lie outside an offsets buffer")
        if self._nullable and (last + 7) // 8 > len(self._validity):
            raise ValueError("a validity bitmap is shorter than its column")
        i: cython.Py_ssize_t
        bad: cython.bint = self._start(start) < 0 or self._start(stop) > len(self._data)
        with cython.nogil:
            if self._wide:
                for i in range(first, last):
                    if self._wide_offsets[i] > self._wide_offsets[i + 1]:
                        bad = True
                        break
            else:
                for i in range(first, last):
                    if self._narrow_offsets[i] > self._narrow_offsets[i + 1]:
                        bad = True
                        break
        if bad:
            raise ValueError("an offsets buffer falls, is negative, or reaches beyond its data")
        return None


@cython.final
@cython.cclass
class ColumnSource:
    """Columns whose rows are to be written as the records of batches.

    Without an index, places are rows; with one, place p is row index[p].
    """

    timestamp_max = cython.declare(
        cython.longlong, visibility="readonly"
    )  # of the rows measured; at least -1
    size = cython.declare(cython.longlong, visibility="readonly")  # bytes of the records measured
    _places: cython.Py_ssize_t
    _measured: cython.Py_ssize_t
    _measured_at: cython.Py_ssize_t
    _measured_base: cython.longlong
    _fixed_timestamp: cython.longlong
    _has_timestamps: cython.bint
    _has_deltas: cython.bint
    _has_headers: cython.bint
    _has_index: cython.bint
    _header_first: cython.Py_ssize_t
    _timestamps = cython.declare("const long long[::1]")
    _deltas = cython.declare("const int[::1]")
    _header_offsets = cython.declare("const int[::1]")
    _index = cython.declare("const int[::1]")
    _keys: ByteColumn
    _values: ByteColumn
    _header_keys: ByteColumn
    _header_values: ByteColumn

    def __init__(
        self,
        timestamps: Any,
        deltas: Any,
        key: Any,
        value: Any,
        headers: Any,
        header_key: Any,
        header_value: Any,
        header_first: cython.Py_ssize_t = 0,
        fixed_timestamp: cython.longlong = -1,
    ) -> None:
        """timestamps is int64, or None for fixed_timestamp in every row; deltas int32 or None.

        headers is a view of int32 list offsets or None, in which row r is entry header_first + r. The others
        are what ByteColumn takes.
        """
        no_offsets = memoryview(b"").cast("i")
        self._has_timestamps = timestamps is not None
        self._timestamps = timestamps if timestamps is not None else memoryview(b"").cast("q")
        self._fixed_timestamp = fixed_timestamp
        self._has_deltas = deltas is not None
        self._deltas = deltas if deltas is not None else no_offsets
        self._has_headers = headers is not None
        self._header_offsets = headers if headers is not None else no_offsets
        self._header_first = header_first
        self._keys = ByteColumn(key)
        self._values = ByteColumn(value)
        self._header_keys = ByteColumn(header_key)
        self._header_values = ByteColumn(header_value)
        self._has_index = False
        self._index = no_offsets
        self._places = 0
        self.timestamp_max = -1
        self.size = 0
        self._measured = 0
        self._measured_at = 0
        self._measured_base = 0

    @cython.cfunc
    def _check(self, start: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> object:
        """Raise unless rows start … stop are all there."""
        if start < 0 or stop < start or (self._has_timestamps and stop > len(self._timestamps)):
            raise ValueError("rows lie outside the timestamps column")
        if self._has_deltas and stop > len(self._deltas):
            raise ValueError("rows lie outside the offset delta column")
        self._keys._check(start, stop)
        self._values._check(start, stop)
        if self._has_headers and stop > start:
            first: cython.Py_ssize_t = self._header_first + start
            last: cython.Py_ssize_t = self._header_first + stop
            if self._header_first < 0 or last >= len(self._header_offsets):
                raise ValueError("rows lie outside an offsets buffer")
            i: cython.Py_ssize_t
            bad: cython.bint = self._header_offsets[first] < 0
            with cython.nogil:
                for i in range(first, last):
                    if self._header_offsets[i] > self._header_offsets[i + 1]:
                        bad = True
                        break
            if bad:
                raise ValueError("an offsets buffer falls, is negative, or reaches beyond its data")
            self._header_keys._check(self._header_offsets[first], self._header_offsets[last])
            self._header_values._check(self._header_offsets[first], self._header_offsets[last])
        return None

    def check(self, rows: cython.Py_ssize_t) -> None:
        """Check the buffers of the first rows once; needed before all but measure."""
        self._check(0, rows)
        self._places = rows

    def use_index(self, index: Any) -> None:
        """From now on places are those of an index (int32): rows that were checked before."""
        rows: cython.Py_ssize_t = self._places
        self._index = index
        bad: cython.bint = False
        i: cython.Py_ssize_t
        with cython.nogil:
            for i in range(self._index.shape[0]):
                if self._index[i] < 0 or self._index[i] >= rows:
                    bad = True
                    break
        if bad:
            raise ValueError("an index names a row that is not there")
        self._has_index = True
        self._places = self._index.shape[0]

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def _timestamp(self, row: cython.Py_ssize_t) -> cython.longlong:
        if self._has_timestamps:
            return self._timestamps[row]
        return self._fixed_timestamp

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def _row(self, place: cython.Py_ssize_t) -> cython.Py_ssize_t:
        if self._has_index:
            return self._index[place]
        return place

    def timestamp_at(self, place: cython.Py_ssize_t) -> int:
        """The timestamp of a place that was checked."""
        if place < 0 or place >= self._places:
            raise ValueError("no such row")
        return self._timestamp(self._row(place))

    def row_at(self, place: cython.Py_ssize_t) -> int:
        """The row of a place that was checked."""
        if place < 0 or place >= self._places:
            raise ValueError("no such row")
        return self._row(place)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def _record_bytes(
        self, row: cython.Py_ssize_t, delta: cython.Py_ssize_t, base_timestamp: cython.longlong
    ) -> cython.longlong:
        """How many bytes the record of a row takes after its length."""
        h: cython.Py_ssize_t
        length: cython.longlong
        size: cython.longlong = 1 + _varint_bytes(_wrap_subtract(self._timestamp(row), base_timestamp))
        if self._has_deltas:
            size = size + _varint_bytes(self._deltas[row])
        else:
            size = size + _varint_bytes(delta)
        length = self._keys._length(row)
        if length < 0:
            size = size + 1
        else:
            size = size + length + _varint_bytes(length)
        length = self._values._length(row)
        if length < 0:
            size = size + 1
        else:
            size = size + length + _varint_bytes(length)
        if not self._has_headers:
            return size + 1
        first: cython.Py_ssize_t = self._header_offsets[self._header_first + row]
        last: cython.Py_ssize_t = self._header_offsets[self._header_first + row + 1]
        size = size + _varint_bytes(last - first)
        for h in range(first, last):
            length = self._header_keys._length(h)
            if length < 0:
                length = 0
            size = size + length + _varint_bytes(length)
            length = self._header_values._length(h)
            if length < 0:
                size = size + 1
            else:
                size = size + length + _varint_bytes(length)
        return size

    def measure(
        self, start: cython.Py_ssize_t, rows: cython.Py_ssize_t, base_timestamp: cython.longlong
    ) -> int:
        """Check rows start … start+rows and return how many bytes their records take."""
        if start < 0 or rows < 0:
            raise ValueError("rows lie outside the timestamps column")
        self._check(start, start + rows)
        self._has_index = False
        self._places = start + rows
        if self._fit(start, start + rows, base_timestamp, _INT32_MAX) != rows:
            raise ValueError("the records do not fit a batch: its length is a signed 32-bit number")
        return self.size

    def fit(self, start: cython.Py_ssize_t, stop: cython.Py_ssize_t, bytes_max: cython.longlong) -> int:
        """How many of the places start … stop fit into so many bytes as one batch; measures these.

        The first one counts its timestamp as the base. 0 when not even that fits: then size is what it takes.
        """
        if start < 0 or stop > self._places or start >= stop:
            raise ValueError("places lie outside the rows that were checked")
        if bytes_max > _INT32_MAX:
            bytes_max = _INT32_MAX
        return self._fit(start, stop, self._timestamp(self._row(start)), bytes_max)

    @cython.cfunc
    def _fit(
        self,
        start: cython.Py_ssize_t,
        stop: cython.Py_ssize_t,
        base_timestamp: cython.longlong,
        bytes_max: cython.longlong,
    ) -> cython.Py_ssize_t:
        total: cython.longlong = 0
        length: cython.longlong
        timestamp_max: cython.longlong = -1
        place: cython.Py_ssize_t = start
        row: cython.Py_ssize_t
        with cython.nogil:
            while place < stop:
                row = self._row(place)
                length = self._record_bytes(row, place - start, base_timestamp)
                length = length + _varint_bytes(length)
                if total + length > bytes_max:
                    if place == start:
                        total = length
                    break
                total = total + length
                if self._timestamp(row) > timestamp_max:
                    timestamp_max = self._timestamp(row)
                place = place + 1
        self.timestamp_max = timestamp_max
        self.size = total
        self._measured = place - start
        self._measured_at = start
        self._measured_base = base_timestamp
        return place - start

    @cython.locals(target="unsigned char[::1]")
    def write(
        self,
        target: Any,
        pos: cython.Py_ssize_t,
        start: cython.Py_ssize_t,
        rows: cython.Py_ssize_t,
        base_timestamp: cython.longlong,
    ) -> int:
        """Write the rows just measured into target at pos and return the position after them."""
        if (
            rows != self._measured
            or start != self._measured_at
            or base_timestamp != self._measured_base
            or pos < 0
            or self.size > len(target) - pos
        ):
            raise ValueError("the target is too small for the records, or the rows were not measured")
        out: cython.p_uchar
        keys: cython.pointer[cython.const[cython.uchar]]
        values: cython.pointer[cython.const[cython.uchar]]
        header_keys: cython.pointer[cython.const[cython.uchar]]
        header_values: cython.pointer[cython.const[cython.uchar]]
        if cython.compiled:
            out = cython.address(target[0])
            keys = cython.address(self._keys._data[0])
            values = cython.address(self._values._data[0])
            header_keys = cython.address(self._header_keys._data[0])
            header_values = cython.address(self._header_values._data[0])
        else:
            out = target
            keys = self._keys._data
            values = self._values._data
            header_keys = self._header_keys._data
            header_values = self._header_values._data
        at: cython.Py_ssize_t = pos
        i: cython.Py_ssize_t
        row: cython.Py_ssize_t
        h: cython.Py_ssize_t
        first: cython.Py_ssize_t
        last: cython.Py_ssize_t
        length: cython.longlong
        with cython.nogil:
            for i in range(rows):
                row = self._row(start + i)
                at = _put_varint(out, at, self._record_bytes(row, i, base_timestamp))
                out[at] = 0
                at = _put_varint(out, at + 1, _wrap_subtract(self._timestamp(row), base_timestamp))
                if self._has_deltas:
                    at = _put_varint(out, at, self._deltas[row])
                else:
                    at = _put_varint(out, at, i)

                length = self._keys._length(row)
                at = _put_varint(out, at, length)
                if length > 0:
                    _copy(out, at, keys, self._keys._start(row), length)
                    at = at + length

                length = self._values._length(row)
                at = _put_varint(out, at, length)
                if length > 0:
                    _copy(out, at, values, self._values._start(row), length)
                    at = at + length

                if not self._has_headers:
                    at = _put_varint(out, at, 0)
                    continue
                first = self._header_offsets[self._header_first + row]
                last = self._header_offsets[self._header_first + row + 1]
                at = _put_varint(out, at, last - first)
                for h in range(first, last):
                    length = self._header_keys._length(h)
                    if length < 0:
                        length = 0
                    at = _put_varint(out, at, length)
                    if length > 0:
                        _copy(out, at, header_keys, self._header_keys._start(h), length)
                        at = at + length
                    length = self._header_values._length(h)
                    at = _put_varint(out, at, length)
                    if length > 0:
                        _copy(out, at, header_values, self._header_values._start(h), length)
                        at = at + length
        return at

    # --- which partition ------------------------------------------------------------------------------------

    @cython.locals(partitions="int[::1]")
    def hash_keys(self, partitions: Any, partition_count: cython.longlong) -> int:
        """Write the partition of each row's key into partitions, -1 where it has none; how many have none.

        The buffers must have been checked; no index is in use yet.
        """
        if partition_count < 1 or partitions.shape[0] > self._places or self._has_index:
            raise ValueError("there are fewer rows, or no partition")
        rows: cython.Py_ssize_t = partitions.shape[0]
        keys: cython.pointer[cython.const[cython.uchar]]
        if cython.compiled:
            keys = cython.address(self._keys._data[0])
        else:
            keys = self._keys._data
        row: cython.Py_ssize_t
        length: cython.longlong
        found: cython.longlong
        without: cython.Py_ssize_t = 0
        with cython.nogil:
            for row in range(rows):
                length = self._keys._length(row)
                if length < 0:
                    partitions[row] = -1
                    without = without + 1
                else:
                    found = _murmur2(keys, self._keys._start(row), length)
                    partitions[row] = cython.cast(cython.int, (found & _INT32_MAX) % partition_count)
        return without

    @cython.locals(partitions="int[::1]", choices="const int[::1]")
    def spread(
        self,
        partitions: Any,
        choices: Any,
        at: cython.Py_ssize_t,
        run_bytes: cython.longlong,
        run_bytes_max: cython.longlong,
    ) -> tuple[int, int]:
        """Give the rows with partition -1 to the choices in turn, run_bytes_max bytes to each.

        at and run_bytes say where the last call ended, and so does what is returned: rows without a key stay
        together until a batch is full.
        """
        if partitions.shape[0] > self._places or not 0 <= at < choices.shape[0] or self._has_index:
            raise ValueError("there are fewer rows, or no partition to choose")
        rows: cython.Py_ssize_t = partitions.shape[0]
        row: cython.Py_ssize_t
        length: cython.longlong
        size: cython.longlong
        with cython.nogil:
            for row in range(rows):
                if partitions[row] != -1:
                    continue
                size = _RECORD_OVERHEAD_BYTES
                length = self._values._length(row)
                if length > 0:
                    size = size + length
                length = self._keys._length(row)
                if length > 0:
                    size = size + length
                if run_bytes > 0 and run_bytes + size > run_bytes_max:
                    at = at + 1
                    if at == choices.shape[0]:
                        at = 0
                    run_bytes = 0
                run_bytes = run_bytes + size
                partitions[row] = choices[at]
        return at, run_bytes


@cython.locals(partitions="const int[::1]", index="int[::1]", ends="long long[::1]")
def by_partition(partitions: Any, partition_count: cython.Py_ssize_t, index: Any, ends: Any) -> int:
    """Sort rows by partition, each partition's in their order: fills index with rows and ends with where each
    partition's part of it ends. Returns -1, or the first row whose partition does not exist.
    """
    if index.shape[0] != partitions.shape[0] or ends.shape[0] != partition_count:
        raise ValueError("the index has one entry per row, the ends one per partition")
    row: cython.Py_ssize_t
    rows: cython.Py_ssize_t = partitions.shape[0]
    bad: cython.Py_ssize_t = -1
    p: cython.Py_ssize_t
    sum_: cython.longlong = 0
    count: cython.longlong
    with cython.nogil:
        for p in range(partition_count):
            ends[p] = 0
        for row in range(rows):
            if partitions[row] < 0 or partitions[row] >= partition_count:
                bad = row
                break
            ends[partitions[row]] += 1
        if bad < 0:
            # First where each part begins; filling moves that to where it ends.
            for p in range(partition_count):
                count = ends[p]
                ends[p] = sum_
                sum_ = sum_ + count
            for row in range(rows):
                index[ends[partitions[row]]] = cython.cast(cython.int, row)
                ends[partitions[row]] += 1
    return bad


# --- lists --------------------------------------------------------------------------------------------------


@cython.cfunc
def _encoded_headers(headers: list) -> list:  # type: ignore[type-arg]
    """Each record's headers as a flat list of name, value, name, value … in bytes; None without any."""
    found: list = []  # type: ignore[type-arg]
    for pairs in headers:
        if not pairs:
            found.append(None)
            continue
        flat: list = []  # type: ignore[type-arg]
        for name, value in pairs:
            flat.append(name.encode() if isinstance(name, str) else bytes(name))
            flat.append(value if value is None or isinstance(value, bytes) else bytes(value))
        found.append(flat)
    return found


@cython.cfunc
@cython.inline
def _optional_bytes(length: cython.longlong) -> cython.longlong:
    """What a value of this length (-1: null) takes with its length."""
    if length < 0:
        return 1
    return length + _varint_bytes(length)


@cython.cfunc
@cython.inline
def _put_optional(out: cython.p_uchar, at: cython.Py_ssize_t, value: bytes | None) -> cython.Py_ssize_t:
    if value is None:
        return _put_varint(out, at, -1)
    length: cython.Py_ssize_t = len(value)
    at = _put_varint(out, at, length)
    data: cython.pointer[cython.const[cython.uchar]] = value
    _copy(out, at, data, 0, length)
    return at + length


def encode_lists(
    timestamps: list,  # type: ignore[type-arg]
    keys: list | None,  # type: ignore[type-arg]
    values: list | None,  # type: ignore[type-arg]
    headers: list | None,  # type: ignore[type-arg]
    room: cython.Py_ssize_t,
) -> tuple[bytearray, int, int]:
    """The records in parallel lists as the body of a batch: (bytes, first timestamp, largest timestamp).

    Keys and values are bytes or None; a list that is None is null in every record. headers has a tuple of
    (name, value) pairs, or an empty one, for each. The bytes begin with so much room for a header.
    """
    count: cython.Py_ssize_t = len(timestamps)
    if (
        (keys is not None and len(keys) != count)
        or (values is not None and len(values) != count)
        or (headers is not None and len(headers) != count)
    ):
        raise ValueError("the lists differ in length")
    pairs: list | None = None if headers is None else _encoded_headers(headers)  # type: ignore[type-arg]
    base_timestamp: cython.longlong = timestamps[0] if count else -1
    timestamp_max: cython.longlong = -1
    timestamp: cython.longlong
    total: cython.longlong = room
    size: cython.longlong
    i: cython.Py_ssize_t
    h: cython.Py_ssize_t
    key: bytes | None = None
    value: bytes | None = None
    flat: list | None = None  # type: ignore[type-arg]
    sizes = array("q", bytes(8 * count))
    lengths = cython.declare("long long[::1]", memoryview(sizes))
    for i in range(count):
        timestamp = timestamps[i]
        if timestamp > timestamp_max:
            timestamp_max = timestamp
        size = 1 + _varint_bytes(_wrap_subtract(timestamp, base_timestamp)) + _varint_bytes(i)
        if keys is not None:
            key = keys[i]
        size += _optional_bytes(-1 if key is None else len(key))
        if values is not None:
            value = values[i]
        size += _optional_bytes(-1 if value is None else len(value))
        if pairs is not None:
            flat = pairs[i]
        if flat is None:
            size += 1
        else:
            size += _varint_bytes(len(flat) // 2)
            for h in range(len(flat)):
                value = flat[h]
                size += _optional_bytes(-1 if value is None else len(value))
            value = None
        lengths[i] = size
        total += size + _varint_bytes(size)
    if total > _INT32_MAX:
        raise ValueError("the records do not fit a batch: its length is a signed 32-bit number")
    body = new_bytes(total)
    out: cython.p_uchar = body
    at: cython.Py_ssize_t = room
    for i in range(count):
        at = _put_varint(out, at, lengths[i])
        out[at] = 0
        timestamp = timestamps[i]
        at = _put_varint(out, at + 1, _wrap_subtract(timestamp, base_timestamp))
        at = _put_varint(out, at, i)
        if keys is not None:
            key = keys[i]
        at = _put_optional(out, at, key)
        if values is not None:
            value = values[i]
        at = _put_optional(out, at, value)
        if pairs is not None:
            flat = pairs[i]
        if flat is None:
            at = _put_varint(out, at, 0)
        else:
            at = _put_varint(out, at, len(flat) // 2)
            for h in range(len(flat)):
                at = _put_optional(out, at, flat[h])
            value = None
    return body, base_timestamp, timestamp_max
