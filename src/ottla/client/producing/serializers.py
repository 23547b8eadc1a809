"""Values to bytes and back: what `key_serializer`, `value_serializer` and their twins of the consumer may be.

A serializer is a name or anything that can be called with the value:

- None: bytes, bytearray and memoryview as they are, a text as UTF-8, and nothing else;
- a name: `string`, `json`, `bytes`, or one of Kafka's built-in ones (`short`, `integer` or `int`, `long`,
  `float`, `double`, `boolean`, `uuid`, `void`), which write what Java's classes write: numbers big-endian, a
  UUID as its text;
- a function `(value)`; `(topic, value)` and `(topic, headers, value)` if it asks for two or three positional
  arguments without a default. `headers` is a list of `(name, bytes)` pairs, to which it may append;
- an object with a method `serialize` (`deserialize` on the way back), which is called likewise.

It returns bytes (a text is taken as UTF-8). None is never given to a serializer: a record without a key has
none, and a value of None deletes (a tombstone). The same holds on the way back.

What a serializer raises arrives as SerializationFailed, with the exception as its cause.
"""

from __future__ import annotations

import inspect
import json
import struct
from collections.abc import Callable
from typing import Any, NamedTuple
from uuid import UUID

from ottla.client.errors import InvalidConfig, SerializationFailed

HeaderList = list[tuple[str, bytes | None]]


class Converter(NamedTuple):
    """A serializer or deserializer with the number of arguments it wants: 1, 2 or 3."""

    function: Callable[..., Any]
    arity: int
    setting: str

    def convert(self, topic: str, headers: HeaderList, value: Any) -> Any:
        """What the function makes of the value, or SerializationFailed."""
        try:
            if self.arity == 1:
                return self.function(value)
            if self.arity == 2:
                return self.function(topic, value)
            return self.function(topic, headers, value)
        except SerializationFailed:
            raise
        except Exception as error:
            raise SerializationFailed(
                f"{self.setting} cannot take {_shown(value)} of topic {topic}: {type(error).__name__}: "
                f"{error}"
            ) from error


def to_bytes(value: Any, setting: str) -> bytes | None:
    """What the default serializer makes of a value, and what is done with another's result."""
    if value is None or type(value) is bytes:
        return value
    if isinstance(value, str):
        try:
            return value.encode()
        except UnicodeEncodeError as error:
            raise SerializationFailed(f"a text given to {setting} is not valid Unicode: {error}") from error
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)  # a copy: the caller may change it while the record waits
    raise SerializationFailed(
        f"no bytes can be made of {_shown(value)}: set {setting} (string, json, ..., or a function of yours)"
    )


def _shown(value: Any) -> str:
    text = repr(value)
    return f"a {type(value).__name__} ({text if len(text) <= 40 else text[:37] + '...'})"


def serializer(given: Any, setting: str = "value_serializer") -> Converter | None:
    """What a user wrote for a serializer; None stands for the default. InvalidConfig when it is none."""
    return _converter(given, setting, _SERIALIZERS, "serialize")


def deserializer(given: Any, setting: str = "value_deserializer") -> Converter | None:
    """The same for a consumer; None stands for bytes as they came."""
    return _converter(given, setting, _DESERIALIZERS, "deserialize")


def _converter(
    given: Any, setting: str, known: dict[str, Callable[[Any], Any]], method: str
) -> Converter | None:
    if given is None:
        return None
    if isinstance(given, str):
        name = _OTHER_NAMES.get(given, given)
        if name not in known:
            from difflib import get_close_matches  # dear to import, and nobody else needs it

            near = get_close_matches(name, known, 1)
            raise InvalidConfig(
                f"{setting} is {given!r}: write {', '.join(known)}, or give a function"
                + (f" (did you mean {near[0]!r}?)" if near else "")
            )
        return Converter(known[name], 1, setting)
    function = getattr(given, method, None)
    if function is None or isinstance(given, type):
        function = given
    if not callable(function):
        raise InvalidConfig(
            f"{setting} is {_shown(given)}: write a name, or give a function or an object with {method}()"
        )
    return Converter(function, _arity(function), setting)


def _arity(function: Callable[..., Any]) -> int:
    """How many positional arguments without a default it has; 1 where Python cannot tell (some built-ins)."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        return 1
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = sum(p.kind in positional and p.default is inspect.Parameter.empty for p in parameters)
    return min(max(needed, 1), 3)


def _only_bytes(value: Any) -> bytes:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    raise TypeError(f"{type(value).__name__} is not bytes")


def _packer(form: str) -> Callable[[Any], bytes]:
    return struct.Struct(form).pack


def _unpacker(form: str, name: str) -> Callable[[bytes], Any]:
    kind = struct.Struct(form)

    def unpack(data: bytes) -> Any:
        if len(data) != kind.size:
            raise ValueError(f"{len(data)} bytes, and {name} has {kind.size}")
        return kind.unpack(data)[0]

    return unpack


def _text(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    raise TypeError(f"{type(value).__name__} is not a text")


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _uuid(value: Any) -> bytes:
    return str(value if isinstance(value, UUID) else UUID(value)).encode()


def _boolean(value: Any) -> bytes:
    if isinstance(value, bool):
        return b"\x01" if value else b"\x00"
    raise TypeError(f"{type(value).__name__} is not a bool")


def _boolean_back(data: bytes) -> bool:
    if data == b"\x01":
        return True
    if data == b"\x00":
        return False
    raise ValueError(f"{bytes(data[:8])!r} is not a boolean")


def _void(value: Any) -> bytes:
    raise TypeError("a void serializer takes only None")


def _void_back(data: bytes) -> None:
    raise ValueError("there are bytes where there should be none")


def _text_back(data: bytes) -> str:
    return str(data, "utf-8")


_SERIALIZERS: dict[str, Callable[[Any], Any]] = {
    "bytes": _only_bytes,
    "string": _text,
    "json": _json,
    "short": _packer(">h"),
    "integer": _packer(">i"),
    "long": _packer(">q"),
    "float": _packer(">f"),
    "double": _packer(">d"),
    "boolean": _boolean,
    "uuid": _uuid,
    "void": _void,
}

_DESERIALIZERS: dict[str, Callable[[Any], Any]] = {
    "bytes": bytes,
    "string": _text_back,
    "json": lambda data: json.loads(str(data, "utf-8")),
    "short": _unpacker(">h", "a short"),
    "integer": _unpacker(">i", "an integer"),
    "long": _unpacker(">q", "a long"),
    "float": _unpacker(">f", "a float"),
    "double": _unpacker(">d", "a double"),
    "boolean": _boolean_back,
    "uuid": lambda data: UUID(str(data, "utf-8")),
    "void": _void_back,
}

_OTHER_NAMES = {
    "str": "string",
    "int": "integer",
    "bool": "boolean",
}
