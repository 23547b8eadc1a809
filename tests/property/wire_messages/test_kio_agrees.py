"""Every API and version against kio, an independent implementation, in both directions.

kio has two versions that Kafka 4.2.0 lacks, and no records of the brokers' own logs. What each side lacks is
listed here and checked, so that a new difference fails a test. kio takes some integers for error codes, times
and durations; those get values that it can represent. Tagged fields of kio's making are never null.
"""

from __future__ import annotations

import dataclasses
import datetime
import io
import random
import uuid
import zlib
from functools import cache
from typing import Any, get_args

import message_maker
import pytest
from kio.index import load_entity_schema
from kio.schema.errors import ErrorCode
from kio.schema.index import api_key_map, schema_name_map
from kio.serial import entity_reader, entity_writer
from kio.serial._introspect import EntityField, EntityTupleField, classify_field, is_optional
from kio.static.constants import EntityType

from message_schema import Field, Message, SchemaFile, snake_case
from ottla.wire.messages.index import APIS
from ottla.wire.primitives import ZERO_UUID, Encoder

MESSAGES_PER_VERSION = 12

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
ERROR_CODES = [code.value for code in ErrorCode]

# Versions that kio has and Kafka 4.2 has not.
NEWER_IN_KIO = {"describe_log_dirs": {5}, "broker_heartbeat": {2}}


def plain(name: str) -> str:
    """A field's name without what kio and we spell differently.

    kio drops the unit of times (it has types for them), and appends an underscore to Python's own names.
    """
    return name.rstrip("_").removesuffix("_ms").replace("enable2_pc", "enable_2pc").replace("k_raft", "kraft")


KINDS = {
    "request": EntityType.request,
    "response": EntityType.response,
    "header": EntityType.header,
    "data": EntityType.data,
}


def kio_schema_name(schema: SchemaFile, message: Message) -> str:
    if schema.api_name is not None:
        return schema.path.stem
    return snake_case(message.name).replace("kraft", "k_raft")


# kio has the messages of the APIs and the few others that Kafka's client library has.
COMPARED = [
    pytest.param(schema, message, id=message.name)
    for schema in message_maker.SCHEMA_FILES
    for message in schema.messages
    if kio_schema_name(schema, message) in schema_name_map and message.kind in KINDS
]


def kio_class(schema: SchemaFile, message: Message, version: int) -> Any:
    return load_entity_schema(kio_schema_name(schema, message), version, KINDS[message.kind])


@cache
def kio_types(entity: Any) -> dict[tuple[str, ...], str]:
    """The kio type of every scalar below an entity, by path; kio gives some integers a meaning."""
    found: dict[tuple[str, ...], str] = {}
    for field in dataclasses.fields(entity):
        kind = classify_field(field)
        if isinstance(kind, EntityField | EntityTupleField):
            for path, name in kio_types(kind.type_).items():
                found[(plain(field.name), *path)] = name
        else:
            found[(plain(field.name),)] = field.metadata["kafka_type"] + ("?" if is_optional(field) else "")
    return found


def kio_value(type_name: str, rng: random.Random) -> Any:
    """An integer that kio can represent as what it takes it for, or NotImplemented where any will do."""
    if type_name == "error_code":
        return rng.choice(ERROR_CODES)
    if type_name.startswith("datetime_i64"):
        # kio writes an absent time as -1.
        return rng.choice((0, 1, 1_700_000_000_123, *((-1,) if type_name.endswith("?") else ())))
    if type_name == "timedelta_i64":
        return rng.choice((-1, 0, 5, 86_400_000))
    return NotImplemented


def encoded(message: Any, version: int) -> bytes:
    out = Encoder()
    message.encode(out, version)
    return out.to_bytes()


def kio_encoded(entity: Any) -> bytes:
    with io.BytesIO() as buffer:
        entity_writer(type(entity))(buffer, entity)
        return buffer.getvalue()


def milliseconds(delta: datetime.timedelta) -> int:
    return delta // datetime.timedelta(milliseconds=1)


def assert_agree(theirs: Any, ours: Any, where: str) -> None:
    """kio's value and ours mean the same, field by field."""
    if dataclasses.is_dataclass(theirs):
        attributes = {plain(name): name for name in type(ours).__slots__}
        for field in dataclasses.fields(theirs):
            assert plain(field.name) in attributes, f"{where} has no {field.name}"
            name = attributes[plain(field.name)]
            assert_agree(getattr(theirs, field.name), getattr(ours, name), f"{where}.{name}")
    elif isinstance(theirs, tuple):
        assert len(theirs) == len(ours), where
        for number, (one, other) in enumerate(zip(theirs, ours, strict=True)):
            assert_agree(one, other, f"{where}[{number}]")
    elif isinstance(theirs, uuid.UUID):
        assert theirs.bytes == ours, where
    elif isinstance(theirs, datetime.timedelta):
        assert milliseconds(theirs) == ours, where
    elif isinstance(theirs, datetime.datetime):
        assert milliseconds(theirs - EPOCH) == ours, where
    elif isinstance(theirs, ErrorCode):
        assert theirs.value == ours, where
    elif theirs is None and isinstance(ours, bytes):
        assert ours == ZERO_UUID, where
    elif theirs is None and isinstance(ours, int):
        assert ours == -1, where
    else:
        assert theirs == ours, where


def make_kio(entity: Any, rng: random.Random) -> Any:
    """A random kio entity, made from its own dataclass fields."""
    values: dict[str, Any] = {}
    for field in dataclasses.fields(entity):
        has_default = field.default is not dataclasses.MISSING
        if has_default and rng.random() < 0.3:
            continue
        kind = classify_field(field)
        optional = type(None) in get_args(field.type)
        tagged = "tag" in field.metadata
        if isinstance(kind, EntityField | EntityTupleField):
            one = lambda kind=kind: make_kio(kind.type_, rng)  # noqa: E731
        else:
            one = lambda field=field: make_kio_scalar(field.metadata["kafka_type"], rng)  # noqa: E731
        if optional and not tagged and rng.random() < 0.2:
            values[field.name] = None
        elif kind.is_array:
            values[field.name] = tuple(one() for _ in range(rng.choice((0, 1, 2, 3))))
        else:
            values[field.name] = one()
    return entity(**values)


def make_kio_scalar(type_name: str, rng: random.Random) -> Any:
    if type_name == "error_code":
        return rng.choice(list(ErrorCode))
    if type_name == "datetime_i64":
        return EPOCH + datetime.timedelta(milliseconds=rng.choice((0, 1, 1_700_000_000_123)))
    if type_name == "timedelta_i32":
        return datetime.timedelta(milliseconds=message_maker.make_scalar("int32", rng))
    if type_name == "timedelta_i64":
        return datetime.timedelta(milliseconds=rng.choice((-1, 0, 5, 86_400_000)))
    if type_name == "uuid":
        return uuid.UUID(bytes=rng.randbytes(16))
    return message_maker.make_scalar(type_name, rng)


def versions_of(schema: SchemaFile, message: Message) -> list[int]:
    return list(range(message.versions.low, message.versions.high + 1))


def test_kio_has_every_api_and_version_that_we_have_and_only_the_listed_ones_more() -> None:
    assert {key: api.module for key, api in APIS.items()} == dict(api_key_map)
    for api in APIS.values():
        ours = set(range(api.min_version, api.max_version + 1))
        theirs = set(schema_name_map[api.module])
        assert ours - theirs == set(), api
        assert theirs - ours == NEWER_IN_KIO.get(api.module, set()), api


def test_only_records_that_the_client_library_lacks_are_without_a_kio_counterpart() -> None:
    compared = {param.values[1].name for param in COMPARED}
    missing = {
        schema.path.stem
        for schema in message_maker.SCHEMA_FILES
        for message in schema.messages
        if message.name not in compared
    }
    assert missing == {
        "cluster_metadata",
        "consumer_offsets",
        "producer_snapshot",
        "quorum_state",
        "remote_log_metadata",
        "share_group_state",
        "transaction_state",
    }


@pytest.mark.parametrize(("schema", "message"), COMPARED)
def test_kio_reads_what_we_write_and_writes_the_same_bytes(schema: SchemaFile, message: Message) -> None:
    rng = random.Random(zlib.crc32(message.name.encode()))
    for version in versions_of(schema, message):
        entity = kio_class(schema, message, version)
        types = kio_types(entity)

        def narrow(path: tuple[str, ...], field: Field, rng: random.Random, types: Any = types) -> Any:
            return kio_value(types[tuple(plain(name) for name in path)], rng)

        for _ in range(MESSAGES_PER_VERSION):
            ours = message_maker.make_message(schema, message, version, rng, narrow)
            data = encoded(ours, version)
            theirs, size = entity_reader(entity)(data, 0)
            assert size == len(data)
            assert_agree(theirs, ours, f"{message.name} v{version}")
            assert kio_encoded(theirs) == data, f"{message.name} v{version}: {ours}"


@pytest.mark.parametrize(("schema", "message"), COMPARED)
def test_we_read_what_kio_writes_and_write_the_same_bytes(schema: SchemaFile, message: Message) -> None:
    rng = random.Random(zlib.crc32(message.name.encode()))
    ours_class = message_maker.class_of(schema.path.stem, message.name)
    for version in versions_of(schema, message):
        entity = kio_class(schema, message, version)
        for _ in range(MESSAGES_PER_VERSION):
            theirs = make_kio(entity, rng)
            data = kio_encoded(theirs)
            ours, end = ours_class.decode(data, 0, len(data), version)
            assert end == len(data)
            assert_agree(theirs, ours, f"{message.name} v{version}")
            assert encoded(ours, version) == data, f"{message.name} v{version}: {ours}"
