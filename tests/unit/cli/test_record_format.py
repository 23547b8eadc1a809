"""How records are printed: kcat's format strings, and JSON that carries any bytes."""

from __future__ import annotations

import json

import pytest

from ottla.cli.record_format import FormatError, compile_format, to_json_line
from ottla.client.records import ConsumerRecord

RECORD = ConsumerRecord("t", 3, 42, 1_700, 0, b"key", b"value", (("a", b"1"), ("b", None)))
BARE = ConsumerRecord("t", 0, 0, -1, 0, None, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"%v\n", b"value\n"),
        (r"%s", b"value"),
        (r"%t[%p]@%o %T\t%k=%v", b"t[3]@42 1700\tkey=value"),
        (r"%K:%S", b"3:5"),
        (r"%R", b"\0\0\0\5"),
        (r"%h", b"a=1,b=NULL"),
        (r"100%% \x00\xff\\", b"100% \x00\xff\\"),
        ("→%v", "→".encode() + b"value"),
        ("", b""),
        ("end%", b"end%"),
    ],
)
def test_a_format_prints_the_fields_it_names(text: str, expected: bytes) -> None:
    assert compile_format(text)(RECORD) == expected


def test_null_keys_and_values_are_empty_or_what_is_asked_for() -> None:
    assert compile_format("%k|%v|%K|%S|%R|%h")(BARE) == b"||-1|-1|\xff\xff\xff\xff|"
    assert compile_format("%k|%v", null=b"NULL")(BARE) == b"NULL|NULL"


@pytest.mark.parametrize("text", ["%q", r"\q", r"\xZZ", r"\x"])
def test_a_format_that_does_not_exist_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match="in the format"):
        compile_format(text)


def test_values_are_printed_as_the_bytes_they_are() -> None:
    record = RECORD._replace(value=b"\xff\x00\n")
    assert compile_format("%v")(record) == b"\xff\x00\n"


def test_json_has_everything_and_is_one_line() -> None:
    line = to_json_line(RECORD._replace(value="Zürich\n".encode()))
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    assert json.loads(line) == {
        "topic": "t",
        "partition": 3,
        "offset": 42,
        "timestamp": 1_700,
        "timestamp_type": "CreateTime",
        "key": "key",
        "value": "Zürich\n",
        "headers": [["a", "1"], ["b", None]],
    }


def test_json_has_base64_for_what_is_not_utf_8() -> None:
    item = json.loads(to_json_line(RECORD._replace(key=b"\xff", value=None, timestamp_type=1)))
    assert item["key"] == {"base64": "/w=="}
    assert item["value"] is None
    assert item["timestamp_type"] == "LogAppendTime"
    assert json.loads(to_json_line(BARE))["timestamp_type"] == "NoTimestampType"
