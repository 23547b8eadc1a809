"""Values become the bytes that Java's serializers write, and come back as they were."""

from __future__ import annotations

import json
import struct
from typing import Any
from uuid import UUID

import pytest

from ottla.client.errors import InvalidConfig, SerializationFailed
from ottla.client.producing.serializers import HeaderList, deserializer, serializer, to_bytes


def write(given: Any, value: Any) -> Any:
    by = serializer(given)
    assert by is not None
    return by.convert("t", [], value)


def read(given: Any, data: bytes) -> Any:
    by = deserializer(given)
    assert by is not None
    return by.convert("t", [], data)


# What IntegerSerializer, LongSerializer, ... of Kafka's Java client write: big-endian, and a UUID as its
# text.
JAVA_BYTES = [
    ("short", -2, b"\xff\xfe"),
    ("integer", 1, b"\x00\x00\x00\x01"),
    ("int", -1, b"\xff\xff\xff\xff"),
    ("long", 1 << 40, b"\x00\x00\x01\x00\x00\x00\x00\x00"),
    ("float", 1.5, b"\x3f\xc0\x00\x00"),
    ("double", 1.5, b"\x3f\xf8\x00\x00\x00\x00\x00\x00"),
    ("boolean", True, b"\x01"),
    ("boolean", False, b"\x00"),
    (
        "uuid",
        UUID("0f8fad5b-d9cb-469f-a165-70867728950e"),
        b"0f8fad5b-d9cb-469f-a165-70867728950e",
    ),
    ("string", "žluťoučký", "žluťoučký".encode()),
    ("bytes", b"\x00raw", b"\x00raw"),
    ("json", {"user": 7, "name": "č"}, '{"user":7,"name":"č"}'.encode()),
]


@pytest.mark.parametrize(("name", "value", "data"), JAVA_BYTES)
def test_a_named_serializer_writes_what_javas_class_writes_and_reads_it_back(
    name: str, value: Any, data: bytes
) -> None:
    assert write(name, value) == data
    assert read(name, data) == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("integer", 2**31), ("long", "7"), ("string", 7), ("bytes", "text"), ("json", {1, 2})],
        *[("boolean", 1), ("void", 0), ("uuid", "no uuid"), ("string", "\ud800")],
    ],
)
def test_a_value_that_a_serializer_cannot_take_is_named_with_the_setting(name: str, value: Any) -> None:
    with pytest.raises(SerializationFailed, match=f"value_serializer .*{type(value).__name__}") as caught:
        write(name, value)
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    ("name", "data"),
    [
        *[("integer", b"\x00"), ("long", b""), ("string", b"\xff"), ("json", b"{"), ("boolean", b"\x02")],
        *[("void", b"x"), ("uuid", b"x"), ("double", b"123456789")],
    ],
)
def test_bytes_that_are_nothing_of_the_kind_do_not_come_back(name: str, data: bytes) -> None:
    with pytest.raises(SerializationFailed, match="value_deserializer"):
        read(name, data)


def test_the_default_takes_bytes_of_every_kind_and_texts() -> None:
    assert serializer(None) is None
    assert deserializer(None) is None
    assert to_bytes(b"a", "value_serializer") == b"a"
    assert to_bytes(bytearray(b"a"), "value_serializer") == b"a"
    assert to_bytes(memoryview(b"abc")[1:], "value_serializer") == b"bc"
    assert to_bytes("č", "value_serializer") == "č".encode()
    assert to_bytes(None, "value_serializer") is None


def test_the_default_copies_what_the_caller_may_change_later() -> None:
    given = bytearray(b"before")
    made = to_bytes(given, "value_serializer")
    given[:] = b"after!"
    assert made == b"before"


@pytest.mark.parametrize("value", [7, 1.5, {"a": 1}, object(), ["x"]])
def test_the_default_refuses_other_types_and_says_what_to_set(value: Any) -> None:
    with pytest.raises(SerializationFailed, match=f"{type(value).__name__}.*set key_serializer"):
        to_bytes(value, "key_serializer")


def test_a_function_gets_as_much_as_it_asks_for() -> None:
    seen: list[Any] = []

    def with_headers(topic: str, headers: HeaderList, value: Any) -> bytes:
        headers.append(("schema", b"7"))
        seen.append((topic, list(headers), value))
        return b""

    assert write(lambda value: b"1", 5) == b"1"
    assert write(lambda topic, value: f"{topic}:{value}".encode(), 5) == b"t:5"
    by = serializer(with_headers)
    assert by is not None
    headers: HeaderList = [("a", None)]
    by.convert("t", headers, 5)
    assert seen == [("t", [("a", None), ("schema", b"7")], 5)]
    assert headers == [("a", None), ("schema", b"7")]


def test_arguments_with_a_default_are_not_asked_for() -> None:
    # json.dumps, str.encode and the like have options besides the value.
    assert write(lambda value, indent=2: b"%d" % indent, 5) == b"2"
    assert write(str.encode, "č") == "č".encode()
    assert write(json.dumps, [1]) == "[1]"  # the front takes a text as UTF-8
    assert write(struct.Struct(">i").pack, 1) == b"\x00\x00\x00\x01"


def test_an_object_with_the_method_is_as_good_as_a_function() -> None:
    class Encoder:
        def serialize(self, topic: str, value: Any) -> bytes:
            return f"{topic}/{value}".encode()

        def deserialize(self, data: bytes) -> str:
            return data.decode()

    assert write(Encoder(), 3) == b"t/3"
    assert read(Encoder(), b"x") == "x"


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(InvalidConfig, match=r"key_serializer is 'strnig'.*did you mean 'string'"):
        serializer("strnig", "key_serializer")
    with pytest.raises(InvalidConfig, match="function"):
        serializer(7)


def test_what_a_function_raises_is_the_cause() -> None:
    def bad(value: Any) -> bytes:
        raise ZeroDivisionError("oh")

    with pytest.raises(SerializationFailed, match="ZeroDivisionError: oh") as caught:
        write(bad, 1)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
