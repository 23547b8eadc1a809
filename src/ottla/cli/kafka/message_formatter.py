"""How the console consumer prints a record: Kafka's DefaultMessageFormatter with its properties.

The fields that are asked for are joined by `key.separator`, in the order timestamp, partition, offset, epoch,
headers, key, value, and end with `line.separator`.
"""

from __future__ import annotations

import os
import struct
import sys
import uuid
from collections.abc import Callable, Mapping

from ottla.cli.kafka.arguments import UsageError
from ottla.cli.record_format import timestamp_type_name
from ottla.client.records import NO_TIMESTAMP, ConsumerRecord

Deserializer = Callable[[bytes], bytes]

DEFAULTS = {
    "print.timestamp": "false",
    "print.key": "false",
    "print.offset": "false",
    "print.partition": "false",
    "print.epoch": "false",
    "print.headers": "false",
    "print.value": "true",
    "key.separator": "\t",
    "line.separator": "\n",
    "headers.separator": ",",
    "null.literal": "null",
}


def _raw(data: bytes) -> bytes:
    return data


def _number(fmt: str) -> Deserializer:
    shape = struct.Struct(fmt)

    def read(data: bytes) -> bytes:
        if len(data) != shape.size:
            raise UsageError(f"a record of {len(data)} bytes is not a number of {shape.size} bytes")
        return str(shape.unpack(data)[0]).encode()

    return read


DESERIALIZERS: Mapping[str, Deserializer] = {
    "StringDeserializer": _raw,
    "ByteArrayDeserializer": _raw,
    "ByteBufferDeserializer": _raw,
    "BytesDeserializer": _raw,
    "ShortDeserializer": _number(">h"),
    "IntegerDeserializer": _number(">i"),
    "LongDeserializer": _number(">q"),
    "FloatDeserializer": _number(">f"),
    "DoubleDeserializer": _number(">d"),
    "BooleanDeserializer": lambda data: b"true" if data == b"\x01" else b"false",
    "UUIDDeserializer": lambda data: str(uuid.UUID(data.decode())).encode(),
}


def deserializer(name: str | None) -> Deserializer:
    if name is None:
        return _raw
    short = name.rpartition(".")[2]
    if short not in DESERIALIZERS:
        raise UsageError(f"the deserializer {name} is not available: {', '.join(DESERIALIZERS)} are")
    return DESERIALIZERS[short]


def default_formatter(properties: Mapping[str, str]) -> Callable[[ConsumerRecord], bytes]:
    """A function from a record to what is printed."""
    for name in properties:
        if name not in DEFAULTS and not name.endswith("deserializer"):
            print(f"WARNING: the property {name} is unknown and has no effect", file=sys.stderr)
    values = {**DEFAULTS, **properties}

    def shown(name: str) -> bool:
        return values[f"print.{name}"].strip().lower() == "true"

    null = os.fsencode(values["null.literal"])
    read_key = deserializer(properties.get("key.deserializer"))
    read_value = deserializer(properties.get("value.deserializer"))
    read_header = deserializer(properties.get("headers.deserializer"))
    between_headers = os.fsencode(values["headers.separator"])

    def timestamp(record: ConsumerRecord) -> bytes:
        kind = timestamp_type_name(record)
        text = "NO_TIMESTAMP" if record.timestamp == NO_TIMESTAMP else f"{kind}:{record.timestamp}"
        return text.encode()

    def headers(record: ConsumerRecord) -> bytes:
        if not record.headers:
            return b"NO_HEADERS"
        return between_headers.join(
            name.encode() + b":" + (null if value is None else read_header(value))
            for name, value in record.headers
        )

    fields: list[Callable[[ConsumerRecord], bytes]] = []
    if shown("timestamp"):
        fields.append(timestamp)
    if shown("partition"):
        fields.append(lambda record: b"Partition:%d" % record.partition)
    if shown("offset"):
        fields.append(lambda record: b"Offset:%d" % record.offset)
    if shown("epoch"):
        fields.append(lambda record: b"Epoch:%d" % record.leader_epoch)
    if shown("headers"):
        fields.append(headers)
    if shown("key"):
        fields.append(lambda record: null if record.key is None else read_key(record.key))
    if shown("value"):
        fields.append(lambda record: null if record.value is None else read_value(record.value))
    separator = os.fsencode(values["key.separator"])
    end = os.fsencode(values["line.separator"])
    return lambda record: separator.join([field(record) for field in fields]) + end
