"""How records are read: lines with keys and headers, JSON, and pieces of lines."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.cli.record_format import to_json_line
from ottla.cli.record_input import InputError, JsonLines, LineReader, TextLines
from ottla.client.records import ConsumerRecord, OutgoingRecord


def test_a_plain_line_is_a_value() -> None:
    assert TextLines()(b"hello world", 1) == OutgoingRecord(b"hello world")
    assert TextLines()(b"", 1) == OutgoingRecord(b"")


def test_a_line_is_split_at_the_first_separator() -> None:
    assert TextLines(key_separator=b":")(b"k:v:w", 1) == OutgoingRecord(b"v:w", b"k")
    assert TextLines(key_separator=b"=>")(b"=>v", 1) == OutgoingRecord(b"v", b"")


def test_a_line_without_the_separator_is_an_error_with_its_number_unless_asked_otherwise() -> None:
    with pytest.raises(InputError, match="line 7 has no ':' between key and value"):
        TextLines(key_separator=b":")(b"nothing", 7)
    assert TextLines(key_separator=b":", lenient=True)(b"nothing", 7) == OutgoingRecord(b"nothing")


def test_headers_come_first_then_the_key_then_the_value() -> None:
    # Kafka's LineMessageReader: "h1:v1,h2:v2\tkey\tvalue"
    parse = TextLines(key_separator=b"\t", headers_delimiter=b"\t")
    assert parse(b"h1:v1,h2:v2\tk\tv", 1) == OutgoingRecord(b"v", b"k", (("h1", b"v1"), ("h2", b"v2")))
    assert parse(b"\tk\tv", 1) == OutgoingRecord(b"v", b"k")
    with pytest.raises(InputError, match="line 2 has no ':' in its header 'oops'"):
        parse(b"oops\tk\tv", 2)
    with pytest.raises(InputError, match="line 3 has no"):
        parse(b"no tab", 3)
    with pytest.raises(InputError, match="not UTF-8"):
        parse(b"\xff:1\tk\tv", 4)


def test_the_null_marker_makes_nulls() -> None:
    parse = TextLines(key_separator=b":", null_marker=b"NULL")
    assert parse(b"NULL:NULL", 1) == OutgoingRecord(None, None)
    assert parse(b"k:NULLS", 1) == OutgoingRecord(b"NULLS", b"k")


def test_fixed_keys_headers_and_partitions_are_added_to_every_line() -> None:
    parse = TextLines(key=b"k", headers=(("h", b"1"),), partition=4)
    assert parse(b"v", 1) == OutgoingRecord(b"v", b"k", (("h", b"1"),), 4)


def test_json_lines_carry_all_fields() -> None:
    line = (
        b'{"key":"k","value":{"base64":"/w=="},"headers":[["h","1"],["n",null]],"timestamp":5,"partition":3}'
    )
    expected = OutgoingRecord(b"\xff", b"k", (("h", b"1"), ("n", None)), None, 5)
    assert JsonLines()(line, 1) == expected
    assert JsonLines(keep_partition=True)(line, 1) == expected._replace(partition=3)
    assert JsonLines()(b'{"value":null,"headers":{"a":"b"}}', 1) == OutgoingRecord(None, None, (("a", b"b"),))


def test_a_json_value_that_is_no_text_is_published_as_json() -> None:
    assert JsonLines()(b'{"value":{"a": [1, "x"]}}', 1).value == b'{"a":[1,"x"]}'
    assert JsonLines()(b'{"value": 7}', 1).value == b"7"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{", "line 9 is not JSON"),
        (b"[]", "line 9 is not a JSON object"),
        (b"{}", 'line 9 has no "value"'),
        (b'{"value":"v","key":7}', '"key" is neither text'),
        (b'{"value":{"base64":"%"}}', '"value" is not base64'),
        (b'{"value":"v","headers":7}', '"headers" is neither'),
        (b'{"value":"v","headers":[["a"]]}', "not a pair"),
        (b'{"value":"v","timestamp":"now"}', '"timestamp" is not an integer'),
        (b"\xff", "line 9 is not JSON"),
    ],
)
def test_json_that_is_not_a_record_is_an_error_with_its_line(line: bytes, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        JsonLines()(line, 9)


BYTES = st.none() | st.binary(max_size=20)


@given(BYTES, BYTES, st.lists(st.tuples(st.text(max_size=5), BYTES), max_size=3), st.integers(0, 2**62))
def test_what_consume_prints_as_json_produce_reads_back(
    key: bytes | None, value: bytes | None, headers: list[tuple[str, bytes | None]], timestamp: int
) -> None:
    printed = to_json_line(ConsumerRecord("t", 2, 9, timestamp, 0, key, value, tuple(headers)))
    read = JsonLines(keep_partition=True)(printed.rstrip(b"\n"), 1)
    assert read == OutgoingRecord(value, key, tuple(headers), 2, timestamp)


def lines_of(pieces: list[bytes], **settings: object) -> list[bytes]:
    """What a reader makes of pieces that arrive one by one through a pipe."""
    read_fd, write_fd = os.pipe()
    try:
        reader = LineReader(read_fd, **settings)  # type: ignore[arg-type]
        found: list[bytes] = []
        for piece in pieces:
            os.write(write_fd, piece)
            found += reader.read() or []
        os.close(write_fd)
        while (more := reader.read()) is not None:
            found += more
        return found
    finally:
        os.close(read_fd)


@given(st.lists(st.binary(min_size=1, max_size=8), max_size=8))
def test_lines_are_the_same_however_the_bytes_arrive(pieces: list[bytes]) -> None:
    whole = b"".join(pieces).split(b"\n")
    if whole[-1] == b"":
        whole.pop()
    assert lines_of(pieces) == whole


def test_a_last_line_without_a_newline_counts() -> None:
    assert lines_of([b"a\nb"]) == [b"a", b"b"]


def test_a_carriage_return_stays_unless_it_is_to_go() -> None:
    assert lines_of([b"a\r\nb\r\n"]) == [b"a\r", b"b\r"]
    assert lines_of([b"a\r\nb\r\n"], strip_cr=True) == [b"a", b"b"]


def test_a_line_without_an_end_is_refused_before_it_fills_the_memory() -> None:
    with pytest.raises(InputError, match="longer than 10 bytes"):
        lines_of([b"x" * 6, b"x" * 6], line_bytes_max=10)


def test_waiting_says_whether_something_came() -> None:
    read_fd, write_fd = os.pipe()
    try:
        reader = LineReader(read_fd)
        assert not reader.wait(0)
        os.write(write_fd, b"x")
        assert reader.wait(None)
    finally:
        os.close(read_fd)
        os.close(write_fd)
