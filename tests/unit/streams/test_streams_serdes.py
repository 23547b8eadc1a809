"""Serdes: Kafka's formats byte by byte, the natural serde of a type, and sentences for what does not fit."""

from __future__ import annotations

import json as json_text
from datetime import UTC, datetime
from typing import Any

import pytest

from ottla.streams import SerdeError, TopologyError, Windowed, json, session_windowed, time_windowed
from ottla.streams.avro_serde import avro
from ottla.streams.serdes import ChangeSerde, NaturalSerde, Serde, natural_serde, serde_of


@pytest.mark.parametrize(
    ("name", "thing", "data"),
    [
        ("string", "grüße", "grüße".encode()),
        ("bytes", b"\x00\xff", b"\x00\xff"),
        ("short", -2, b"\xff\xfe"),
        ("integer", 1, b"\x00\x00\x00\x01"),
        ("long", 1, b"\x00" * 7 + b"\x01"),
        ("float", 1.5, b"\x3f\xc0\x00\x00"),
        ("double", 1.5, b"\x3f\xf8" + b"\x00" * 6),
        ("boolean", True, b"\x01"),
        ("json", {"a": [1, "ü"]}, '{"a":[1,"ü"]}'.encode()),
    ],
)
def test_the_bytes_are_those_of_kafkas_serializers(name: str, thing: Any, data: bytes) -> None:
    serde = serde_of(name)
    assert serde.serialize(thing) == data
    assert serde.deserialize(data) == thing
    assert serde.serialize(None) is None
    assert serde.deserialize(None) is None


@pytest.mark.parametrize(
    ("name", "thing"),
    [
        ("string", 1),
        ("bytes", "a"),
        ("long", "1"),
        ("long", True),
        ("long", 1 << 63),
        ("short", 1 << 15),
        ("integer", 1.5),
        ("boolean", 1),
        ("json", object()),
    ],
)
def test_a_value_of_another_type_is_not_written(name: str, thing: Any) -> None:
    with pytest.raises(SerdeError):
        serde_of(name).serialize(thing)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("long", b"1234567"),
        ("integer", b""),
        ("boolean", b"\x02"),
        ("boolean", b""),
        ("json", b"{"),
        ("json", b"\xff"),
        ("object", b""),
        ("object", b"?"),
        ("json", b"[" * 100000),
    ],
)
def test_bytes_of_another_format_are_not_read(name: str, data: bytes) -> None:
    with pytest.raises(SerdeError):
        serde_of(name).deserialize(data)


def test_json_with_a_schema_has_all_fields_and_what_does_not_fit_is_null() -> None:
    serde = json("user string, delay int, at timestamp, tags array<string>")
    assert serde.type == "struct<user:string,delay:int,at:timestamp,tags:array<string>>"
    read = serde.deserialize(b'{"delay":"late","tags":["a",1],"extra":1,"at":"2024-01-01T00:00:00Z"}')
    at = datetime(2024, 1, 1, tzinfo=UTC)
    assert read == {"user": None, "delay": None, "at": at, "tags": ["a", "1"]}
    assert serde.serialize({"user": "a", "at": at}) == b'{"user":"a","at":"2024-01-01T00:00:00.000Z"}'


def test_windowed_keys_are_kafkas_bytes() -> None:
    """TimeWindowedSerializer: the key, then the start. SessionKeySchema: the key, then end and start."""
    time = time_windowed("string", 5_000)
    assert time.serialize(Windowed("ab", 256, 5_256)) == b"ab" + (256).to_bytes(8, "big")
    assert time.deserialize(b"ab" + (256).to_bytes(8, "big")) == Windowed("ab", 256, 5_256)
    session = session_windowed("string")
    assert session.serialize(Windowed("ab", 1, 7)) == b"ab" + (7).to_bytes(8, "big") + (1).to_bytes(8, "big")
    assert session.deserialize(session.serialize(Windowed("ab", 1, 7))) == Windowed("ab", 1, 7)
    with pytest.raises(SerdeError, match="8 bytes of time at its end"):
        time.deserialize(b"short")
    with pytest.raises(SerdeError, match="writes windowed keys"):
        time.serialize("ab")


@pytest.mark.parametrize(
    ("thing", "data"),
    [
        ("a", b"a"),
        (b"a", b"a"),
        (1, b"\x00" * 7 + b"\x01"),
        (1.5, b"?\xf8" + b"\x00" * 6),
        (True, b"\x01"),
        ({"a": 1}, b'{"a":1}'),
        ([1], b"[1]"),
        ((1, "b"), b'[1,"b"]'),
    ],
)
def test_an_object_of_unknown_type_is_written_by_what_it_is(thing: Any, data: bytes) -> None:
    assert NaturalSerde().serialize(thing) == data


@pytest.mark.parametrize(
    ("type_name", "name"),
    [
        ("string", "string"),
        ("bigint", "long"),
        ("int", "integer"),
        ("double", "double"),
        ("binary", "bytes"),
        ("struct<a:int>", "json"),
        ("array<int>", "json"),
        ("object", "natural"),
        ("tinyint", "short"),
    ],
)
def test_each_type_has_a_natural_serde(type_name: str, name: str) -> None:
    serde = natural_serde(type_name)
    assert serde.name == name
    assert serde.writes(type_name) or type_name == "tinyint"


@pytest.mark.parametrize("type_name", ["string", "bigint", "struct<a:int>", "object", "tinyint", "timestamp"])
def test_internal_topics_read_back_the_type_that_was_written(type_name: str) -> None:
    serde = natural_serde(type_name, internal=True)
    assert serde.reads
    assert serde.type == type_name


def test_a_change_of_a_table_carries_whether_it_is_added() -> None:
    serde = ChangeSerde(serde_of("long"))
    assert serde.serialize((1, True)) == b"\x01" + b"\x00" * 7 + b"\x01"
    assert serde.deserialize(serde.serialize((5, False))) == (5, False)


def test_avro_is_read_and_written_by_its_schema() -> None:
    fields = [{"name": "user", "type": "string"}, {"name": "delay", "type": ["null", "int"]}]
    fields += [{"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}}]
    serde = avro({"type": "record", "name": "Event", "fields": fields})
    assert serde.type == "struct<user:string,delay:int,kind:string>"
    data = serde.serialize({"user": "a", "delay": -1, "kind": "B"})
    assert data == b"\x02a\x02\x01\x02"
    assert serde.deserialize(data) == {"user": "a", "delay": -1, "kind": "B"}
    with pytest.raises(SerdeError, match="bytes behind the value"):
        serde.deserialize(data + b"\x00")
    with pytest.raises(SerdeError, match="cannot write"):
        serde.serialize({"user": 5})
    with pytest.raises(TopologyError, match="not a schema of Avro"):
        avro('{"type": "recor"}')
    with pytest.raises(TopologyError, match="of unions, only those of null and one type"):
        avro(json_text.dumps(["int", "string"]))


class Upside:
    def serialize(self, thing: str) -> bytes:
        return thing[::-1].encode()

    def deserialize(self, data: bytes) -> str:
        return data.decode()[::-1]


def test_an_object_of_the_users_is_a_serde() -> None:
    serde = serde_of(Upside())
    assert isinstance(serde, Serde)
    assert serde.serialize("abc") == b"cba"
    assert serde.deserialize(b"cba") == "abc"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("strin", "there is no serde 'strin'"),
        ("avro", "give it a schema"),
        (5, "is not a serde"),
        (Upside, "is a class"),
    ],
)
def test_what_is_not_a_serde_is_refused_in_a_sentence(wrong: Any, said: str) -> None:
    with pytest.raises(TopologyError, match=said):
        serde_of(wrong)
