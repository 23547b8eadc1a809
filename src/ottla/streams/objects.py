"""Python objects as bytes, such that equal objects are equal bytes.

Where the DSL does not know the type of a key or value, Spark sees it as binary in this encoding: it groups
and joins by the bytes. So the encoding is canonical: a dict's entries are sorted, an integer has one
length, a time is UTC, minus zero is zero. Types are kept apart: 1, 1.0 and True are three keys. What is not
one of the known types is pickled, which is good enough for a value, and refused for a key, since pickle
promises no such thing.

An encoding is a tag of one byte and its content; sizes are LEB128.
"""

from __future__ import annotations

import math
import pickle
import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from ottla.streams.errors import SerdeError
from ottla.streams.windows import Windowed

_NONE, _FALSE, _TRUE = b"N", b"F", b"T"
_INT, _FLOAT, _STR, _BYTES = b"i", b"f", b"s", b"b"
_TUPLE, _LIST, _DICT = b"t", b"l", b"d"
_MOMENT, _NAIVE_MOMENT, _DATE, _WINDOWED, _PICKLED = b"m", b"n", b"y", b"w", b"p"
_DECIMAL = b"c"

_DOUBLE: Final = struct.Struct(">d")
_LONG: Final = struct.Struct(">q")
_NAN: Final = _FLOAT + _DOUBLE.pack(math.nan)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NAIVE_EPOCH: Final = datetime(1970, 1, 1)
_MICROSECOND: Final = timedelta(microseconds=1)
_DEPTH_MAX: Final = 200
"""Python's own recursion limit is near; an object that contains itself ends here with a sentence."""


def encode(thing: Any) -> bytes:
    """A value as bytes."""
    if type(thing) is str:  # most of them: spared the way around
        content = thing.encode("utf-8", "surrogatepass")
        return _STR + _size(len(content)) + content
    return _encode(thing, False, 0)


def encode_key(thing: Any) -> bytes:
    """A key as bytes; refuses what has no canonical form."""
    if type(thing) is str:
        content = thing.encode("utf-8", "surrogatepass")
        return _STR + _size(len(content)) + content
    return _encode(thing, True, 0)


def decode(data: bytes) -> Any:
    """The object again: `decode(encode(x)) == x`."""
    if data[:1] == _STR and len(data) > 1 and len(data) == data[1] + 2 and data[1] < 0x80:
        return data[2:].decode(
            "utf-8", "surrogatepass"
        )  # a short text, as most keys are: spared the way around
    reader = _Reader(data)
    thing = reader.read(0)
    if reader.at != len(data):
        raise SerdeError(f"{len(data) - reader.at} bytes are left over behind an encoded object")
    return thing


def _size(number: int) -> bytes:
    if number < 0x80:
        return bytes((number,))
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _encode(thing: Any, as_key: bool, depth: int) -> bytes:
    content: bytes
    if depth > _DEPTH_MAX:
        raise SerdeError(f"an object that is nested more than {_DEPTH_MAX} deep cannot be a key or value")
    kind = type(thing)
    if kind is str:
        content = thing.encode("utf-8", "surrogatepass")
        return _STR + _size(len(content)) + content
    if thing is None:
        return _NONE
    if kind is bool:
        return _TRUE if thing else _FALSE
    if kind is int:
        content = thing.to_bytes(thing.bit_length() // 8 + 1, "big", signed=True)
        return _INT + _size(len(content)) + content
    if kind is float:
        return _NAN if thing != thing else _FLOAT + _DOUBLE.pack(thing + 0.0)
    if kind is bytes:
        content = thing
        return _BYTES + _size(len(content)) + content
    if kind is tuple or kind is list:
        items = b"".join([_encode(item, as_key, depth + 1) for item in thing])
        return (_TUPLE if kind is tuple else _LIST) + _size(len(thing)) + items
    if kind is dict:
        entries = sorted(
            (_encode(k, as_key, depth + 1), _encode(v, as_key, depth + 1)) for k, v in thing.items()
        )
        return _DICT + _size(len(entries)) + b"".join([k + v for k, v in entries])
    if kind is datetime:
        if thing.tzinfo is None:
            return _NAIVE_MOMENT + _LONG.pack((thing - _NAIVE_EPOCH) // _MICROSECOND)
        return _MOMENT + _LONG.pack((thing - _EPOCH) // _MICROSECOND)
    if kind is date:
        return _DATE + _LONG.pack(thing.toordinal())
    if kind is Windowed:
        times = _LONG.pack(thing.start_ms) + _LONG.pack(thing.end_ms)
        return _WINDOWED + times + _encode(thing.key, as_key, depth + 1)
    if as_key and kind is Decimal:  # as a value it is pickled, with the zeros at its end
        content = _canonical_decimal(thing).encode()
        return _DECIMAL + _size(len(content)) + content
    if as_key:
        raise SerdeError(
            f"{thing!r} cannot be a key: a {kind.__name__} has no canonical form as bytes. Keys are text, "
            "bytes, "
            f"numbers, booleans, dates and times, or tuples, lists and dicts of them"
        )
    try:
        content = pickled(thing)
    except Exception as error:
        raise SerdeError(f"a value of type {kind.__qualname__} cannot be pickled: {error}") from error
    return _PICKLED + _size(len(content)) + content


def _canonical_decimal(number: Decimal) -> str:
    """The same text for equal numbers: 1.50 is 1.5, and there is one zero. (`normalize` would round.)"""
    sign, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int):  # NaN, or infinite
        return str(number)
    text = "".join(map(str, digits)).lstrip("0")
    short = text.rstrip("0")
    return f"{'-' if sign else ''}{short}E{exponent + len(text) - len(short)}" if short else "0"


def pickled(thing: Any) -> bytes:
    """For processes of the same program. A class of the program itself is sent along, where it has to be: in
    Spark's workers there is no module to find it in.
    """
    try:
        return pickle.dumps(thing, protocol=5)
    except Exception as error:
        try:
            from pyspark import cloudpickle
        except ImportError:
            raise error from None
        data: bytes = cloudpickle.dumps(thing, protocol=5)  # type: ignore[no-untyped-call]
        return data


class _Reader:
    __slots__ = ("data", "at")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, size: int) -> bytes:
        end = self.at + size
        if end > len(self.data):
            raise SerdeError("an encoded object ends in the middle")
        part = self.data[self.at : end]
        self.at = end
        return part

    def size(self) -> int:
        number = shift = 0
        while True:
            byte = self.take(1)[0]
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if shift > 35:
                raise SerdeError("the size inside of an encoded object is not one")
        if number > len(self.data) - self.at:  # everything that is counted takes a byte at least
            raise SerdeError("an encoded object ends in the middle")
        return number

    def read(self, depth: int) -> Any:
        if depth > _DEPTH_MAX:
            raise SerdeError(f"an encoded object is nested more than {_DEPTH_MAX} deep")
        tag = self.take(1)
        read = _READ.get(tag)
        if read is None:
            raise SerdeError(f"these bytes are not an encoded object: there is no tag {tag!r}")
        return read(self, depth + 1)

    def long(self) -> int:
        number: int = _LONG.unpack(self.take(8))[0]
        return number

    def windowed(self, depth: int) -> Windowed:
        start_ms, end_ms = self.long(), self.long()
        return Windowed(self.read(depth), start_ms, end_ms)


_READ: Final[dict[bytes, Callable[[_Reader, int], Any]]] = {
    _NONE: lambda reader, depth: None,
    _FALSE: lambda reader, depth: False,
    _TRUE: lambda reader, depth: True,
    _INT: lambda reader, depth: int.from_bytes(reader.take(reader.size()), "big", signed=True),
    _FLOAT: lambda reader, depth: _DOUBLE.unpack(reader.take(8))[0],
    _STR: lambda reader, depth: reader.take(reader.size()).decode("utf-8", "surrogatepass"),
    _BYTES: lambda reader, depth: reader.take(reader.size()),
    _TUPLE: lambda reader, depth: tuple([reader.read(depth) for _ in range(reader.size())]),
    _LIST: lambda reader, depth: [reader.read(depth) for _ in range(reader.size())],
    _DICT: lambda reader, depth: {reader.read(depth): reader.read(depth) for _ in range(reader.size())},
    _MOMENT: lambda reader, depth: _EPOCH + timedelta(microseconds=reader.long()),
    _NAIVE_MOMENT: lambda reader, depth: _NAIVE_EPOCH + timedelta(microseconds=reader.long()),
    _DATE: lambda reader, depth: date.fromordinal(reader.long()),
    _DECIMAL: lambda reader, depth: Decimal(reader.take(reader.size()).decode()),
    _WINDOWED: _Reader.windowed,
    _PICKLED: lambda reader, depth: pickle.loads(reader.take(reader.size())),
}
