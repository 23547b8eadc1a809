"""How `ottla consume` writes records: by a format string in kcat's manner, or as lines of JSON.

A format is compiled once into a list of small functions, so that a record costs no parsing. Keys, values and
header values are bytes and are written as they are; only JSON, which cannot carry bytes, wraps what is not
UTF-8 as `{"base64": "..."}`. `record_input` reads the same JSON back.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

from ottla.client.records import CREATE_TIME, LOG_APPEND_TIME, NO_TIMESTAMP, ConsumerRecord

DEFAULT_FORMAT = r"%v\n"

Piece = Callable[[ConsumerRecord], bytes]

_HEX_DIGITS = frozenset("0123456789abcdefABCDEF")
_ESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", "0": b"\0", "\\": b"\\", "%": b"%"}


class FormatError(ValueError):
    """The format string asks for something that does not exist."""


def compile_format(text: str, *, null: bytes = b"") -> Callable[[ConsumerRecord], bytes]:
    """Turns a format string into a function from a record to bytes; `null` is written for null fields."""
    pieces: list[Piece] = []
    literal = bytearray()

    def close_literal() -> None:
        if literal:
            fixed = bytes(literal)
            literal.clear()
            pieces.append(lambda record: fixed)

    fields = _fields(null)
    position = 0
    while position < len(text):
        char = text[position]
        following = text[position + 1 : position + 2]
        if char == "\\" and following:
            if following == "x":
                digits = text[position + 2 : position + 4]
                if len(digits) != 2 or not set(digits) <= _HEX_DIGITS:
                    raise FormatError(f"\\x{digits} in the format is not two hexadecimal digits")
                literal.append(int(digits, 16))
                position += 4
                continue
            if following not in _ESCAPES:
                raise FormatError(
                    f"\\{following} in the format is not an escape (use \\n \\r \\t \\0 \\xNN \\\\)"
                )
            literal += _ESCAPES[following]
        elif char == "%" and following:
            if following == "%":
                literal += b"%"
            elif following in fields:
                close_literal()
                pieces.append(fields[following])
            else:
                raise FormatError(f"%{following} in the format is not one of %{' %'.join(sorted(fields))}")
        else:
            literal += char.encode("utf-8", "surrogateescape")
            position += 1
            continue
        position += 2
    close_literal()
    if len(pieces) == 1:
        return pieces[0]
    return lambda record: b"".join([piece(record) for piece in pieces])


def _fields(null: bytes) -> dict[str, Piece]:
    def value(record: ConsumerRecord) -> bytes:
        return null if record.value is None else record.value

    return {
        "t": lambda r: r.topic.encode(),
        "p": lambda r: b"%d" % r.partition,
        "o": lambda r: b"%d" % r.offset,
        "T": lambda r: b"%d" % r.timestamp,
        "k": lambda r: null if r.key is None else r.key,
        "K": lambda r: b"%d" % (-1 if r.key is None else len(r.key)),
        "v": value,
        "s": value,
        "S": lambda r: b"%d" % (-1 if r.value is None else len(r.value)),
        "R": lambda r: (-1 if r.value is None else len(r.value)).to_bytes(4, "big", signed=True),
        "h": lambda r: b",".join(
            name.encode() + b"=" + (b"NULL" if content is None else content) for name, content in r.headers
        ),
    }


def bytes_to_json(data: bytes | None) -> Any:
    """Text where the bytes are UTF-8, else an object with their base64; null stays null."""
    if data is None:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def timestamp_type_name(record: ConsumerRecord) -> str:
    if record.timestamp == NO_TIMESTAMP:
        return "NoTimestampType"
    return {CREATE_TIME: "CreateTime", LOG_APPEND_TIME: "LogAppendTime"}[record.timestamp_type]


def to_json_line(record: ConsumerRecord) -> bytes:
    """One line of JSON with its newline."""
    line = json.dumps(
        {
            "topic": record.topic,
            "partition": record.partition,
            "offset": record.offset,
            "timestamp": record.timestamp,
            "timestamp_type": timestamp_type_name(record),
            "key": bytes_to_json(record.key),
            "value": bytes_to_json(record.value),
            "headers": [[name, bytes_to_json(content)] for name, content in record.headers],
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )
    return line.encode("utf-8") + b"\n"
