"""How keys and values are bytes in a topic: Kafka's serdes, by name, with the type that each one reads.

A serde here is the Python side: `serialize` and `deserialize`, used by the test driver, by fused Python
steps and wherever Spark has no function for it. `lowering/serdes_sql.py` renders the same formats as SQL,
and asks a serde for nothing but its class and fields. Null stays null in every serde: it is a tombstone,
not a value.

    "string" "bytes" "short" "integer" "long" "float" "double" "boolean" "json" "object", json("user string"),
    avro(schema), time_windowed("string", size), session_windowed("string"), or any object with serialize and
    deserialize
"""

from __future__ import annotations

import base64
import json as json_text
import struct
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Final

from ottla.streams import ddl, objects
from ottla.streams.errors import SerdeError, TopologyError
from ottla.streams.plan import OBJECT
from ottla.streams.windows import Duration, Windowed, milliseconds

_LONG: Final = struct.Struct(">q")


@dataclass(frozen=True)
class Serde:
    """One format. `type` is what its values are in Spark, or OBJECT for Python objects."""

    @property
    def name(self) -> str:
        raise NotImplementedError

    @property
    def type(self) -> str:
        raise NotImplementedError

    @property
    def reads(self) -> bool:
        """Whether it can be used to read: False for one that only writes."""
        return True

    def writes(self, type_name: str) -> bool:
        """Whether values of that type can be written: its own, and Python objects, which are checked one by
        one.
        """
        return type_name in (self.type, OBJECT)

    def to_bytes(self, thing: Any) -> bytes:
        raise NotImplementedError

    def from_bytes(self, data: bytes) -> Any:
        raise NotImplementedError

    def serialize(self, thing: Any) -> bytes | None:
        return None if thing is None else self.to_bytes(thing)

    def deserialize(self, data: bytes | None) -> Any:
        return None if data is None else self.from_bytes(data)


@dataclass(frozen=True)
class StringSerde(Serde):
    """UTF-8."""

    name = "string"
    type = "string"

    def to_bytes(self, thing: Any) -> bytes:
        if not isinstance(thing, str):
            raise SerdeError(f"the serde 'string' writes text, not {thing!r}")
        return thing.encode("utf-8", "replace")

    def from_bytes(self, data: bytes) -> str:
        return data.decode("utf-8", "replace")  # as Java does: a broken byte is a replacement character


@dataclass(frozen=True)
class BytesSerde(Serde):
    name = "bytes"
    type = "binary"

    def to_bytes(self, thing: Any) -> bytes:
        if not isinstance(thing, (bytes, bytearray, memoryview)):
            raise SerdeError(f"the serde 'bytes' writes bytes, not {thing!r}")
        return bytes(thing)

    def from_bytes(self, data: bytes) -> bytes:
        return bytes(data)


_FORMATS: Final = {
    # name: (type in Spark, format of struct, types in Spark that fit as well)
    "short": ("smallint", ">h", ("tinyint",)),
    "integer": ("int", ">i", ("tinyint", "smallint")),
    "long": ("bigint", ">q", ("tinyint", "smallint", "int")),
    "float": ("float", ">f", ()),
    "double": ("double", ">d", ("float",)),
}


@dataclass(frozen=True)
class NumberSerde(Serde):
    """Big-endian of a fixed size, as Kafka's Serdes.Long, Integer, Short, Float and Double."""

    format_name: str

    @property
    def name(self) -> str:
        return self.format_name

    @property
    def type(self) -> str:
        return _FORMATS[self.format_name][0]

    def writes(self, type_name: str) -> bool:
        return type_name in (self.type, OBJECT, *_FORMATS[self.format_name][2])

    def to_bytes(self, thing: Any) -> bytes:
        try:
            if isinstance(thing, bool):
                raise struct.error
            return struct.pack(_FORMATS[self.format_name][1], thing)
        except (struct.error, OverflowError) as error:
            raise SerdeError(
                f"the serde {self.name!r} writes a {self.type}, which {thing!r} is not"
            ) from error

    def from_bytes(self, data: bytes) -> Any:
        try:
            return struct.unpack(_FORMATS[self.format_name][1], data)[0]
        except struct.error as error:
            size = struct.calcsize(_FORMATS[self.format_name][1])
            raise SerdeError(f"the serde {self.name!r} reads {size} bytes, not {len(data)}") from error


@dataclass(frozen=True)
class BooleanSerde(Serde):
    """One byte."""

    name = "boolean"
    type = "boolean"

    def to_bytes(self, thing: Any) -> bytes:
        if not isinstance(thing, bool):
            raise SerdeError(f"the serde 'boolean' writes True and False, not {thing!r}")
        return b"\x01" if thing else b"\x00"

    def from_bytes(self, data: bytes) -> bool:
        if data not in (b"\x00", b"\x01"):
            raise SerdeError(f"the serde 'boolean' reads one byte, 0 or 1, not {data[:8]!r}")
        return data == b"\x01"


def _to_json(thing: Any) -> Any:
    """What the json module does not know, the way Spark's to_json writes it."""
    if isinstance(thing, datetime):
        moment = thing.astimezone(UTC) if thing.tzinfo else thing
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(thing, date):
        return thing.isoformat()
    if isinstance(thing, bytes):
        return base64.b64encode(thing).decode()
    if isinstance(thing, Decimal):
        return float(thing)
    if isinstance(thing, Windowed):
        return {"key": thing.key, "start": thing.start_ms, "end": thing.end_ms}
    if isinstance(thing, (set, frozenset)):
        return sorted(thing)
    raise TypeError(f"{thing!r} has no form in JSON")


def _shaped(thing: Any, type_name: str) -> Any:
    """A parsed JSON value as the type that was promised: what does not fit is null, as Spark's from_json
    has it.
    """
    if thing is None:
        return None
    if (inside := ddl.fields(type_name)) is not None:
        return {n: _shaped(thing.get(n), of) for n, of in inside.items()} if isinstance(thing, dict) else None
    if (of := ddl.element(type_name)) is not None:
        return [_shaped(item, of) for item in thing] if isinstance(thing, list) else None
    if (types := ddl.map_types(type_name)) is not None:
        return {n: _shaped(item, types[1]) for n, item in thing.items()} if isinstance(thing, dict) else None
    match type_name:
        case "string":
            return thing if isinstance(thing, str) else json_text.dumps(thing, separators=(",", ":"))
        case "boolean":
            return thing if isinstance(thing, bool) else None
        case "float" | "double":
            return float(thing) if isinstance(thing, (int, float)) and not isinstance(thing, bool) else None
        case "tinyint" | "smallint" | "int" | "bigint":
            return thing if isinstance(thing, int) and not isinstance(thing, bool) else None
        case "binary":
            return base64.b64decode(thing) if isinstance(thing, str) else None
        case "timestamp" if isinstance(thing, str):
            moment = datetime.fromisoformat(thing)
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        case "date" if isinstance(thing, str):
            return date.fromisoformat(thing)
    if type_name.startswith("decimal(") and isinstance(thing, (int, float, str)):
        return Decimal(str(thing))
    return None


@dataclass(frozen=True)
class JsonSerde(Serde):
    """JSON text. Without a schema, Python objects; with one, a struct (array, map) that Spark parses by
    itself.
    """

    schema: str | None = None

    name = "json"

    @property
    def type(self) -> str:
        return OBJECT if self.schema is None else self.schema

    def writes(self, type_name: str) -> bool:
        return type_name != "binary" and (self.schema is None or type_name in (self.schema, OBJECT))

    def to_bytes(self, thing: Any) -> bytes:
        try:
            return json_text.dumps(
                thing, separators=(",", ":"), ensure_ascii=False, default=_to_json
            ).encode()
        except (TypeError, ValueError) as error:
            raise SerdeError(f"the serde 'json' cannot write {thing!r}: {error}") from error

    def from_bytes(self, data: bytes) -> Any:
        try:
            thing = json_text.loads(data)
        except (ValueError, RecursionError) as error:
            raise SerdeError(f"the serde 'json' cannot read {bytes(data[:60])!r}: {error}") from error
        return thing if self.schema is None else _shaped(thing, self.schema)


@dataclass(frozen=True)
class ObjectSerde(Serde):
    """The canonical encoding of `objects.py`: what internal topics carry where no type is known."""

    name = "object"
    type = OBJECT

    def to_bytes(self, thing: Any) -> bytes:
        return objects.encode(thing)

    def serialize(self, thing: Any) -> bytes | None:
        return None if thing is None else objects.encode(thing)

    def from_bytes(self, data: bytes) -> Any:
        return objects.decode(data)


@dataclass(frozen=True)
class NaturalSerde(Serde):
    """For Python objects of which nobody said more: text as text, bytes as they are, an int as a long, a
    float as a double, True and False as boolean, all else as JSON. Only for writing: bytes do not tell
    which it was.
    """

    name = "natural"
    type = OBJECT
    reads = False

    def to_bytes(self, thing: Any) -> bytes:
        if isinstance(thing, str):
            return thing.encode("utf-8", "replace")
        if isinstance(thing, (bytes, bytearray)):
            return bytes(thing)
        if isinstance(thing, bool):
            return BooleanSerde().to_bytes(thing)
        if isinstance(thing, int):
            return NumberSerde("long").to_bytes(thing)
        if isinstance(thing, float):
            return NumberSerde("double").to_bytes(thing)
        return JsonSerde().to_bytes(thing)

    def from_bytes(self, data: bytes) -> Any:
        raise SerdeError("the natural serde of Python objects only writes: give a serde to read with")


@dataclass(frozen=True)
class WindowedSerde(Serde):
    """A windowed key in Kafka's formats: of time windows the key and 8 bytes of start; of sessions the key,
    8 bytes of end and 8 bytes of start. The type is that of the key within; the window is beside it.
    """

    inner: Serde
    size_ms: int | None
    """The size of time windows, which is not in the bytes; None: sessions."""

    @property
    def name(self) -> str:
        return f"windowed {self.inner.name}"

    @property
    def type(self) -> str:
        return self.inner.type

    @property
    def reads(self) -> bool:
        return self.inner.reads

    def writes(self, type_name: str) -> bool:
        return self.inner.writes(type_name)

    def to_bytes(self, thing: Any) -> bytes:
        if not isinstance(thing, Windowed):
            raise SerdeError(f"the serde {self.name!r} writes windowed keys, not {thing!r}")
        head = self.inner.serialize(thing.key) or b""
        end = b"" if self.size_ms is not None else _LONG.pack(thing.end_ms)
        return head + end + _LONG.pack(thing.start_ms)

    def from_bytes(self, data: bytes) -> Windowed:
        tail = 8 if self.size_ms is not None else 16
        if len(data) < tail:
            raise SerdeError(
                f"a windowed key has {tail} bytes of time at its end, but all of this is {len(data)}"
            )
        start_ms = _LONG.unpack_from(data, len(data) - 8)[0]
        if self.size_ms is not None:
            # a window that would end behind the end of time ends there, as Kafka's does
            end_ms = min(start_ms + self.size_ms, (1 << 63) - 1)
        else:
            end_ms = _LONG.unpack_from(data, len(data) - 16)[0]
        return Windowed(self.inner.deserialize(data[:-tail]), start_ms, end_ms)


@dataclass(frozen=True)
class ChangeSerde(Serde):
    """A change of a grouped table, (value, whether it is added): one byte, 1 or 0, then the value, if it is
    not null. Only in internal topics between `TableGroup` and its aggregate.
    """

    inner: Serde

    @property
    def name(self) -> str:
        return f"change of {self.inner.name}"

    @property
    def type(self) -> str:
        return self.inner.type

    def writes(self, type_name: str) -> bool:
        return self.inner.writes(type_name)

    def to_bytes(self, thing: Any) -> bytes:
        item, added = thing
        return (b"\x01" if added else b"\x00") + (self.inner.serialize(item) or b"")

    def from_bytes(self, data: bytes) -> tuple[Any, bool]:
        if not data:
            raise SerdeError("a change of a table has one byte at least")
        return self.inner.deserialize(data[1:]), data[0] == 1


@dataclass(frozen=True)
class UserSerde(Serde):
    """An object of the user's with `serialize` and `deserialize`; its `type`, where it has one, in DDL."""

    user: Any
    declared_type: str = OBJECT

    @property
    def name(self) -> str:
        return type(self.user).__name__

    @property
    def type(self) -> str:
        return self.declared_type

    def writes(self, type_name: str) -> bool:
        return True  # whatever it is, it is the user's code that sees it

    def to_bytes(self, thing: Any) -> bytes:
        data = self.user.serialize(thing)
        if not isinstance(data, (bytes, bytearray)):
            raise SerdeError(f"serialize of {self.name} has to return bytes, not {data!r}")
        return bytes(data)

    def from_bytes(self, data: bytes) -> Any:
        return self.user.deserialize(data)


_BY_NAME: Final[dict[str, Serde]] = {
    "string": StringSerde(),
    "bytes": BytesSerde(),
    **{name: NumberSerde(name) for name in _FORMATS},
    "boolean": BooleanSerde(),
    "json": JsonSerde(),
    "object": ObjectSerde(),
}
_NATURAL: Final[dict[str, Serde]] = {
    serde.type: serde for name, serde in _BY_NAME.items() if name not in ("json", "object")
}

SerdeLike = str | Serde | Any
"""The name of a serde, a serde, or an object of the user's."""


def serde_of(thing: SerdeLike) -> Serde:
    """The serde that is meant."""
    if isinstance(thing, Serde):
        return thing
    if isinstance(thing, str):
        found = _BY_NAME.get(thing)
        if found is None:
            hint = ": give it a schema, as in avro(schema)" if thing == "avro" else ""
            raise TopologyError(
                f"there is no serde {thing!r}{hint}; there are {', '.join(_BY_NAME)} and avro(...)"
            )
        return found
    if callable(getattr(thing, "serialize", None)) and callable(getattr(thing, "deserialize", None)):
        if isinstance(thing, type):
            raise TopologyError(
                f"{thing.__name__} is a class: give an object of it as the serde, {thing.__name__}()"
            )
        declared = getattr(thing, "type", OBJECT)
        return UserSerde(thing, ddl.type_of(declared) if isinstance(declared, str) else OBJECT)
    raise TopologyError(
        f"{thing!r} is not a serde: give a name ('string'), json(...), or an object with serialize and "
        "deserialize"
    )


def json(schema: str | None = None) -> Serde:
    """JSON; with a schema (`json("user string, delay int")`) values are structs that expressions can look
    into.
    """
    return JsonSerde(None if schema is None else ddl.type_of(schema))


def time_windowed(inner: SerdeLike, size: Duration) -> Serde:
    """The keys of time windows, as Kafka's TimeWindowedSerde."""
    return WindowedSerde(serde_of(inner), milliseconds(size, "the size of a window"))


def session_windowed(inner: SerdeLike) -> Serde:
    """The keys of session windows, as Kafka's SessionWindowedSerde."""
    return WindowedSerde(serde_of(inner), None)


def natural_serde(type_name: str, *, internal: bool = False) -> Serde:
    """The serde of a type where the program gives none; `internal`: one that reads back what it wrote,
    exactly.
    """
    if type_name == OBJECT:
        return ObjectSerde() if internal else NaturalSerde()
    found = _NATURAL.get(type_name)
    if found is None and type_name == "tinyint" and not internal:
        found = NumberSerde("short")
    return JsonSerde(type_name) if found is None else found
