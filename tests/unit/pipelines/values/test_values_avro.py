"""Avro columns without Spark: what is decoded, what schemas become, and what bad bytes may not do."""

from __future__ import annotations

import datetime
import json
import tracemalloc
from decimal import Decimal
from io import BytesIO
from typing import Any

import pyarrow as pa
import pytest
from fastavro import schemaless_writer
from hypothesis import given
from hypothesis import strategies as st

from ottla.pipelines.values.avro import AvroDecoder, AvroEncoder, AvroForm
from ottla.pipelines.values.avro_schema import AvroSchemaError, ddl, parsed

FLIGHT = {
    "type": "record",
    "name": "Flight",
    "namespace": "demo",
    "fields": [{"name": "carrier", "type": "string"}, {"name": "delay", "type": ["null", "int"]}],
}
EVERYTHING = {
    "type": "record",
    "name": "Everything",
    "fields": [
        {"name": "flag", "type": "boolean"},
        {"name": "small", "type": "int"},
        {"name": "large", "type": "long"},
        {"name": "single", "type": "float"},
        {"name": "double", "type": "double"},
        {"name": "raw", "type": "bytes"},
        {"name": "text", "type": "string"},
        {"name": "colour", "type": {"type": "enum", "name": "Colour", "symbols": ["RED", "BLUE"]}},
        {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 4}},
        {"name": "numbers", "type": {"type": "array", "items": "int"}},
        {"name": "by_name", "type": {"type": "map", "values": ["null", "long"]}},
        {
            "name": "inner",
            "type": ["null", {"type": "record", "name": "In", "fields": [{"name": "a", "type": "int"}]}],
        },
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "millis", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "micros", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
        {"name": "local", "type": {"type": "long", "logicalType": "local-timestamp-millis"}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "id", "type": {"type": "string", "logicalType": "uuid"}},
    ],
}
NOON = datetime.datetime(2013, 1, 1, 12, 0, 0, 123000, tzinfo=datetime.UTC)
ROW = {
    "flag": True,
    "small": -7,
    "large": 1 << 40,
    "single": 0.5,
    "double": 1e300,
    "raw": b"\x00\xff",
    "text": "Zürich",
    "colour": "BLUE",
    "hash": b"abcd",
    "numbers": [1, 2, 3],
    "by_name": {"x": 1, "y": None},
    "inner": {"a": 5},
    "day": datetime.date(2013, 1, 1),
    "millis": NOON,
    "micros": NOON,
    "local": NOON.replace(tzinfo=None),
    "price": Decimal("12.50"),
    "id": "2c1a3c1e-7f0e-4c86-9f8f-111111111111",
}


def written(schema: Any, datum: Any) -> bytes:
    sink = BytesIO()
    schemaless_writer(sink, schema, datum)
    return sink.getvalue()


def decoder(schema: Any, **forms: Any) -> AvroDecoder:
    return AvroDecoder(AvroForm(json.dumps(schema), **forms))


def decoded(reader: AvroDecoder, *values: bytes | None) -> tuple[list[Any], list[str | None]]:
    column, errors = reader.decode(pa.array(values, pa.binary()))
    assert column.type == reader.type
    assert len(column) == len(errors) == len(values)
    return (
        column.to_pylist(maps_as_pydicts="strict"),
        [error and f"{error['exception']}: {error['message']}" for error in errors.to_pylist()],
    )


def test_every_type_of_avro_becomes_the_type_that_sparks_own_functions_choose() -> None:
    assert ddl(EVERYTHING) == (
        "STRUCT<flag: BOOLEAN, small: INT, large: BIGINT, single: FLOAT, double: DOUBLE, raw: BINARY, "
        "text: STRING, colour: STRING, hash: BINARY, numbers: ARRAY<INT>, by_name: MAP<STRING, BIGINT>, "
        "inner: STRUCT<a: INT>, day: DATE, millis: TIMESTAMP, micros: TIMESTAMP, local: TIMESTAMP_NTZ, "
        "price: DECIMAL(9, 2), id: STRING>"
    )
    assert ddl("long") == "BIGINT"
    assert ddl(["int", "null", "long"]) == "BIGINT"
    assert ddl(["float", "double"]) == "DOUBLE"
    assert ddl(["string", "null", "int"]) == "STRUCT<member0: STRING, member1: INT>"
    assert (
        ddl({"type": "record", "name": "r", "fields": [{"name": "a", "type": {"type": "int"}}]})
        == "STRUCT<a: INT>"
    )


def test_a_value_of_every_type_is_read_as_it_was_written_and_null_stays_null() -> None:
    values, errors = decoded(decoder(EVERYTHING), written(EVERYTHING, ROW), None)
    assert values == [ROW, None]
    assert errors == [None, None]


def test_what_the_encoder_writes_fastavro_would_have_written() -> None:
    schema = json.dumps(EVERYTHING)
    column = pa.array([ROW, None], parsed(schema).shape.column)
    encoded, errors = AvroEncoder(schema).encode(column)
    assert encoded.to_pylist() == [written(EVERYTHING, ROW), None]
    assert errors.null_count == 2


def test_a_reader_with_another_schema_gets_defaults_promotions_and_not_what_it_does_not_know() -> None:
    """Avro's schema resolution: fields by name, defaults for missing ones, int to double."""
    old = {
        **FLIGHT,
        "fields": [*FLIGHT["fields"], {"name": "gone", "type": {"type": "array", "items": "string"}}],
    }
    new = {
        **FLIGHT,
        "fields": [
            {"name": "tail", "type": "string", "default": "unknown"},
            {"name": "delay", "type": ["null", "double"]},
            {"name": "operator", "aliases": ["carrier"], "type": "string"},
        ],
    }
    reader = decoder(new, writer=json.dumps(old))
    values, errors = decoded(reader, written(old, {"carrier": "UA", "delay": 3, "gone": ["x"]}))
    assert errors == [None]
    assert values == [{"tail": "unknown", "delay": 3.0, "operator": "UA"}]


def test_a_writer_that_cannot_be_resolved_makes_bad_records_not_wrong_ones() -> None:
    new = {**FLIGHT, "fields": [*FLIGHT["fields"], {"name": "needed", "type": "int"}]}
    values, errors = decoded(
        decoder(new, writer=json.dumps(FLIGHT)), written(FLIGHT, {"carrier": "UA", "delay": 1})
    )
    assert values == [None]
    assert errors[0] is not None and "needed" in errors[0]


def test_framed_values_are_read_with_the_schema_of_their_id() -> None:
    """Confluent's framing: a zero byte, the id in four bytes, the value."""
    renamed = {**FLIGHT, "fields": [{"name": "carrier", "type": "string"}]}
    reader = decoder(
        {**FLIGHT, "fields": [FLIGHT["fields"][0], {**FLIGHT["fields"][1], "default": None}]},
        writers=((7, json.dumps(FLIGHT)), (8, json.dumps(renamed))),
    )
    flight, short = {"carrier": "UA", "delay": 4}, {"carrier": "DL"}
    values, errors = decoded(
        reader,
        b"\x00\x00\x00\x00\x07" + written(FLIGHT, flight),
        b"\x00\x00\x00\x00\x08" + written(renamed, short),
        b"\x00\x00\x00\x00\x09" + written(FLIGHT, flight),
        b"\x01\x00\x00\x00\x07" + written(FLIGHT, flight),
        b"\x00\x00\x00",
    )
    assert values == [flight, {"carrier": "DL", "delay": None}, None, None, None]
    assert errors[:2] == [None, None]
    assert errors[2] == "LookupError: schema id 9 is not among those given"
    assert errors[3] == "ValueError: a framed value begins with a zero byte, not with 1"
    assert errors[4] == "EOFError: 3 bytes; a framed value begins with 5"
    encoded, _ = AvroEncoder(json.dumps(FLIGHT), 7).encode(pa.array([flight], parsed(FLIGHT).shape.column))
    assert encoded.to_pylist() == [b"\x00\x00\x00\x00\x07" + written(FLIGHT, flight)]


def test_unions_of_several_types_become_structs_and_come_back() -> None:
    point = {"type": "record", "name": "Point", "fields": [{"name": "x", "type": "int"}]}
    label = {"type": "record", "name": "Label", "fields": [{"name": "text", "type": "string"}]}
    schema = {
        "type": "record",
        "name": "Shape",
        "fields": [
            {"name": "any", "type": ["null", "string", point, label, "long"]},
            {"name": "list", "type": {"type": "array", "items": ["int", "Point"]}},
            {"name": "one", "type": ["null", "Point"]},
        ],
    }
    rows = [
        {"any": "a", "list": [1, ("Point", {"x": 2})], "one": {"x": 3}},
        {"any": ("Label", {"text": "t"}), "list": [], "one": None},
        {"any": 1 << 50, "list": [4], "one": None},
        {"any": None, "list": [], "one": None},
    ]
    nothing = {"member0": None, "member1": None, "member2": None, "member3": None}
    expected = [
        {
            "any": {**nothing, "member0": "a"},
            "list": [{"member0": 1, "member1": None}, {"member0": None, "member1": {"x": 2}}],
            "one": {"x": 3},
        },
        {"any": {**nothing, "member2": {"text": "t"}}, "list": [], "one": None},
        {"any": {**nothing, "member3": 1 << 50}, "list": [{"member0": 4, "member1": None}], "one": None},
        {"any": None, "list": [], "one": None},
    ]
    reader = decoder(schema)
    blobs = [written(schema, row) for row in rows]
    assert decoded(reader, *blobs) == (expected, [None] * 4)
    encoded, errors = AvroEncoder(json.dumps(schema)).encode(pa.array(expected, reader.type))
    assert errors.null_count == 4
    assert encoded.to_pylist() == blobs


@pytest.mark.parametrize(
    ("schema", "value", "error"),
    [
        ("string", b"\x08abc", "EOFError: the value ends before it is complete"),
        ("bytes", b"\x80\x80\x80\x80\x80\x80\x80\x80\x20abc", "EOFError"),
        ("bytes", b"\x01abc", "EOFError"),
        ("string", b"\x04\xff\xfe", "UnicodeDecodeError"),
        ("int", b"\x80\x80\x80\x80\x80\x80\x01", "ArrowInvalid"),
        ("long", b"", "EOFError"),
        ("long", b"\x02\x02", "ValueError: 1 bytes are left over after the value"),
        ({"type": "array", "items": "int"}, b"\x80\x80\x80\x80\x80\x80\x80\x80\x20\x02\x02", "EOFError"),
        ({"type": "map", "values": "int"}, b"\x80\x80\x80\x80\x80\x80\x80\x80\x20\x02a\x02", "EOFError"),
        (["null", "string"], b"\x06\x02a", "ValueError: a symbol, or a member of a union"),
        (
            {"type": "enum", "name": "e", "symbols": ["A"]},
            b"\x04",
            "ValueError: a symbol, or a member of a union",
        ),
        ({"type": "fixed", "name": "f", "size": 8}, b"abc", "EOFError"),
        (
            {"type": "long", "logicalType": "timestamp-millis"},
            b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f",
            "ArrowInvalid",
        ),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2},
            b"\x10\x7f2345678",
            "ArrowInvalid",
        ),
    ],
)
def test_wrong_bytes_are_reported_and_their_neighbours_are_read(
    schema: Any, value: bytes, error: str
) -> None:
    reader = decoder(schema)
    tracemalloc.start()
    values, errors = decoded(reader, None, value, None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert values == [None, None, None]
    assert errors[0] is errors[2] is None
    assert errors[1] is not None and errors[1].startswith(error)
    assert peak < 4 << 20, "what the bytes claim is not allocated"


@given(st.binary(max_size=60))
def test_any_bytes_are_either_read_or_reported(value: bytes) -> None:
    good = written(EVERYTHING, ROW)
    values, errors = decoded(_EVERYTHING_DECODER, good, value, good[: len(value)] + value)
    assert values[0] == ROW
    for got, error in zip(values[1:], errors[1:], strict=True):
        assert (got is None) == (error is not None)


_EVERYTHING_DECODER = decoder(EVERYTHING)


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        # A million levels of a list of itself overflow fastavro's stack, and the process with it.
        (
            {"type": "record", "name": "L", "fields": [{"name": "next", "type": ["null", "L"]}]},
            "contains itself",
        ),
        ({"type": "array", "items": "null"}, "can claim any length"),
        ({"type": "array", "items": {"type": "fixed", "name": "f", "size": 0}}, "can claim any length"),
        ({"type": "bytes", "logicalType": "decimal", "precision": 39}, "up to 38 digits"),
        ({"type": "record", "name": "E", "fields": []}, "no fields"),
        (["string", {"type": "string", "logicalType": "uuid"}], "Avro schema|told apart"),
        ({"type": "recrd"}, "not an Avro schema"),
        ("{", "not JSON"),
    ],
)
def test_schemas_that_cannot_be_read_safely_are_refused_before_anything_runs(
    schema: Any, reason: str
) -> None:
    with pytest.raises(AvroSchemaError, match=reason):
        parsed(schema)


def test_a_time_in_another_unit_is_refused_since_avro_would_take_the_number_as_it_is() -> None:
    def at(logical: str | None) -> str:
        time = {"type": "long", "logicalType": logical} if logical else "long"
        return json.dumps({"type": "record", "name": "r", "fields": [{"name": "at", "type": ["null", time]}]})

    AvroDecoder(AvroForm(at("timestamp-millis"), at("timestamp-millis")))
    with pytest.raises(AvroSchemaError, match=r"value\.at is written as timestamp-micros"):
        AvroDecoder(AvroForm(at("timestamp-millis"), at("timestamp-micros")))
    with pytest.raises(AvroSchemaError, match="written as long and read as timestamp-millis"):
        AvroDecoder(AvroForm(at("timestamp-millis"), at(None)))


def test_an_encoder_reports_values_that_the_schema_has_no_place_for() -> None:
    encoder = AvroEncoder(json.dumps(FLIGHT))
    kind = pa.struct([("carrier", pa.string()), ("delay", pa.int64()), ("more", pa.int32())])
    rows = [{"carrier": "UA", "delay": 1, "more": 1}]
    encoded, errors = encoder.encode(pa.array(rows, kind))
    assert encoded.to_pylist() == [None]
    assert "more" in errors.to_pylist()[0]["message"]
    narrow = pa.array(
        [{"carrier": None, "delay": 1}, {"carrier": "UA", "delay": 1 << 40}], pa.struct(list(kind)[:2])
    )
    encoded, errors = encoder.encode(narrow)
    assert [error is None for error in errors.to_pylist()] == [False, False]


def test_a_place_before_the_first_member_or_symbol_is_none() -> None:
    """Avro's specification: the position is zero-based. Python would count -1 from the end."""
    colour = {"type": "enum", "name": "Colour", "symbols": ["RED", "BLUE"]}
    inner = {"type": "record", "name": "In", "fields": [{"name": "c", "type": colour}]}
    fields = [
        {"name": "u", "type": ["null", "string"]},
        {"name": "i", "type": inner},
        {"name": "again", "type": "Colour"},
        {"name": "several", "type": {"type": "array", "items": ["null", "In"]}},
    ]
    schema = {"type": "record", "name": "R", "fields": fields}
    good = written(schema, {"u": "x", "i": {"c": "RED"}, "again": "BLUE", "several": [{"c": "RED"}]})
    assert good == b"\x02\x02x\x00\x02\x02\x02\x00\x00"
    longer = {**schema, "fields": [*fields, {"name": "new", "type": "int", "default": 7}]}
    forms = [
        AvroForm(json.dumps(schema)),
        AvroForm(json.dumps(longer), writer=json.dumps(schema)),
        AvroForm(json.dumps(["null", schema])),
    ]
    lone = AvroDecoder(AvroForm(json.dumps({"type": "array", "items": colour})))
    values, errors = lone.decode(pa.array([b"\x02\x02\x00", b"\x02\x01\x00"]))
    assert values.to_pylist() == [["BLUE"], None] and errors.null_count == 1
    for form, prefix in zip(forms, (b"", b"", b"\x02"), strict=True):
        decoder = AvroDecoder(form)
        values, errors = decoder.decode(pa.array([prefix + good]))
        assert errors.null_count == 1 and values[0].as_py()["i"] == {"c": "RED"}
        places = [*range(len(prefix)), *(len(prefix) + each for each in (0, 3, 4, 6, 7))]
        for place in places:
            for number in (1, 3, 5):  # -1, -2, -3
                wrong = bytearray(prefix + good)
                wrong[place] = number
                values, errors = decoder.decode(pa.array([bytes(wrong)]))
                assert values[0].as_py() is None, (form, place, number)
                assert errors[0].as_py()["message"].endswith("that the schema does not have")
