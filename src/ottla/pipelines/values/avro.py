"""Avro values and Arrow columns: decode and encode whole columns with fastavro. No Spark here.

    decoder = AvroDecoder(AvroForm(schema=..., writers=((7, ...),)))
    values, errors = decoder.decode(column_of_bytes)

Python sees each value once, in this one pass: fastavro (compiled) makes its dict, and Arrow makes a column of
all of them. A value is bad when its bytes end too early, when bytes are left over, when a length, a member of
a union or a number is out of bounds, or when the writer's schema cannot be resolved to the reader's.
Confluent's framing (a zero byte, the writer schema's id in four bytes) is read when schemas are given by id.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from typing import Any, Final

import pyarrow as pa
from fastavro import schemaless_reader, schemaless_writer

from ottla.pipelines.values.avro_schema import AvroSchema, check_times, parsed
from ottla.pipelines.values.bad_values import described, error_column

_FRAME: Final = struct.Struct(">bI")
_MAGIC: Final = 0
_ENDS_EARLY: Final = "the value ends before it is complete"
_NO_SUCH_MEMBER: Final = "a symbol, or a member of a union, that the schema does not have"


@dataclass(frozen=True)
class AvroForm:
    """How values are written: schemas as JSON texts, so that it travels to workers and can be compared.

    schema: what the values become (the reader's schema); also the writer's, unless that is given.
    writer: the schema that all values were written with.
    writers: those of framed values, by id; without any, values are not framed.
    """

    schema: str
    writer: str | None = None
    writers: tuple[tuple[int, str], ...] = ()


class AvroDecoder:
    def __init__(self, form: AvroForm) -> None:
        self._reader = parsed(form.schema)
        self._writers = {schema_id: self._writer(text) for schema_id, text in form.writers}
        self._only = None if form.writers else self._writer(form.writer or form.schema)

    @property
    def type(self) -> pa.DataType:
        """The type of the decoded column."""
        return self._reader.shape.column

    def decode(self, values: pa.Array) -> tuple[pa.Array, pa.Array]:
        """The decoded column, and the errors of the rows that could not be decoded."""
        errors: dict[int, tuple[str, str]] = {}
        decoded: list[Any] = []
        read = self._read
        for row, value in enumerate(values.to_pylist()):
            try:
                decoded.append(None if value is None else read(value))
            except Exception as error:  # whatever bytes from outside make fastavro raise
                errors[row] = described(error)
                decoded.append(None)
        try:
            column = self._column(decoded)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            self._drop_what_does_not_fit(decoded, errors)
            column = self._column(decoded)
        return column, error_column(len(decoded), errors)

    def _writer(self, text: str) -> tuple[AvroSchema, bool]:
        """A writer's schema, and whether its values have to be resolved to the reader's."""
        writer = parsed(text)
        check_times(writer, self._reader)
        return writer, writer.bare != self._reader.bare

    def _read(self, value: bytes) -> Any:
        start = 0
        if self._only is None:
            if len(value) < _FRAME.size:
                raise EOFError(f"{len(value)} bytes; a framed value begins with {_FRAME.size}")
            magic, schema_id = _FRAME.unpack_from(value)
            if magic != _MAGIC:
                raise ValueError(f"a framed value begins with a zero byte, not with {value[0]}")
            if schema_id not in self._writers:
                raise LookupError(f"schema id {schema_id} is not among those given")
            writer, resolve = self._writers[schema_id]
            start = _FRAME.size
        else:
            writer, resolve = self._only
        if isinstance(writer.bare, list) and start < len(value) and value[start] & 1:
            raise ValueError(_NO_SUCH_MEMBER)  # fastavro makes a list of its own of the outermost union
        source = BytesIO(value)
        source.seek(start)
        shape = self._reader.shape.shape
        try:
            datum = schemaless_reader(
                source,
                writer.strict,
                self._reader.bare if resolve else None,
                return_named_type=shape is not None,
            )
        except EOFError:
            raise EOFError(_ENDS_EARLY) from None
        except IndexError as error:  # of its buffer, or of a list of the schema's
            if source.tell() == len(value) and "list" not in str(error):
                raise EOFError(_ENDS_EARLY) from None
            raise ValueError(_NO_SUCH_MEMBER) from None
        if source.tell() != len(value):
            raise ValueError(f"{len(value) - source.tell()} bytes are left over after the value")
        return datum if shape is None else shape(datum)

    def _column(self, decoded: list[Any]) -> pa.Array:
        shape = self._reader.shape
        column = pa.array(decoded, shape.read)
        return column if shape.read.equals(shape.column) else column.cast(shape.column)

    def _drop_what_does_not_fit(self, decoded: list[Any], errors: dict[int, tuple[str, str]]) -> None:
        for row, value in enumerate(decoded):
            try:
                self._column([value])
            except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
                errors[row] = described(error)
                decoded[row] = None


class AvroEncoder:
    """Columns to Avro. schema_id: puts Confluent's frame with this id before each value."""

    def __init__(self, schema: str, schema_id: int | None = None) -> None:
        self._schema = parsed(schema)
        self._frame = b"" if schema_id is None else _FRAME.pack(_MAGIC, schema_id)

    def encode(self, values: pa.Array) -> tuple[pa.Array, pa.Array]:
        """The encoded column, null where the value is, and the errors of values that do not fit."""
        errors: dict[int, tuple[str, str]] = {}
        encoded: list[bytes | None] = []
        unshape: Callable[[Any], Any] = self._schema.shape.unshape or (lambda value: value)
        for row, value in enumerate(values.to_pylist(maps_as_pydicts="strict")):
            if value is None:
                encoded.append(None)
                continue
            sink = BytesIO()
            sink.write(self._frame)
            try:
                schemaless_writer(sink, self._schema.full, unshape(value), strict_allow_default=True)
                encoded.append(sink.getvalue())
            except Exception as error:  # fastavro raises whatever the wrong Python type leads to
                errors[row] = described(error)
                encoded.append(None)
        return pa.array(encoded, pa.binary()), error_column(len(encoded), errors)


@lru_cache(maxsize=64)
def decoder_of(form: AvroForm) -> AvroDecoder:
    """The form's decoder in this process: workers get forms, and are used again for many batches."""
    return AvroDecoder(form)


@lru_cache(maxsize=64)
def encoder_of(schema: str, schema_id: int | None) -> AvroEncoder:
    return AvroEncoder(schema, schema_id)
