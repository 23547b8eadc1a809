"""Kafka's primitives: the bytes that Java's Serdes write, and bytes that they would refuse."""

from __future__ import annotations

import struct

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.pipelines.values.bad_values import MESSAGE_CHARACTERS_MAX, described
from ottla.pipelines.values.primitives import decode, encode, primitive

SAMPLES = [
    ("short", b"\xff\xfe", -2),
    ("integer", b"\x00\x00\x01\x00", 256),
    ("int", b"\x80\x00\x00\x00", -(1 << 31)),
    ("long", b"\x00\x00\x00\x00\x00\x00\x00\x07", 7),
    ("float", b"\x3f\x80\x00\x00", 1.0),
    ("double", b"\x40\x09\x21\xfb\x54\x44\x2d\x18", 3.141592653589793),
    ("boolean", b"\x01", True),
    ("uuid", b"2c1a3c1e-7f0e-4c86-9f8f-111111111111", "2c1a3c1e-7f0e-4c86-9f8f-111111111111"),
]


@pytest.mark.parametrize(("name", "data", "value"), SAMPLES)
def test_a_primitive_has_the_bytes_of_kafkas_serializer(name: str, data: bytes, value: object) -> None:
    kind = primitive(name)
    values, errors = decode(kind, pa.array([None, data], pa.binary()))
    assert values.to_pylist() == [None, value]
    assert errors.null_count == 2
    encoded, errors = encode(kind, values)
    assert encoded.to_pylist() == [None, data]
    assert errors.null_count == 2


@pytest.mark.parametrize(("name", "data", "value"), SAMPLES)
def test_another_length_is_a_bad_record_and_not_a_wrong_number(name: str, data: bytes, value: object) -> None:
    values, errors = decode(primitive(name), pa.array([data + b"\0", data, b"", data[:-1]], pa.binary()))
    assert values.to_pylist() == [None, value, None, None]
    assert [error is None for error in errors.to_pylist()] == [False, True, False, False]


def test_a_boolean_is_zero_or_one() -> None:
    values, errors = decode(primitive("boolean"), pa.array([b"\x00", b"\x02"], pa.binary()))
    assert values.to_pylist() == [False, None]
    assert errors.to_pylist()[1]["message"] == "the byte 2 is no boolean: 0 or 1"


def test_numbers_that_do_not_fit_are_errors_and_the_others_are_encoded() -> None:
    encoded, errors = encode(primitive("short"), pa.array([1, 1 << 20, None], pa.int64()))
    assert encoded.to_pylist() == [b"\x00\x01", None, None]
    assert [error is None for error in errors.to_pylist()] == [True, False, True]


@given(st.lists(st.none() | st.integers(-(1 << 63), (1 << 63) - 1)))
def test_longs_are_what_struct_packs(numbers: list[int | None]) -> None:
    encoded, _ = encode(primitive("long"), pa.array(numbers, pa.int64()))
    assert encoded.to_pylist() == [
        None if number is None else struct.pack(">q", number) for number in numbers
    ]
    assert decode(primitive("long"), encoded)[0].to_pylist() == numbers


def test_an_unknown_primitive_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="none of Kafka's primitives: short, integer, long"):
        primitive("int128")


def test_the_message_of_an_error_has_a_bounded_length() -> None:
    name, message = described(ValueError("x" * 10_000))
    assert name == "ValueError"
    assert len(message) == MESSAGE_CHARACTERS_MAX
