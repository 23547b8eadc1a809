"""Kafka's binary primitives and Arrow columns: what Kafka's Serdes write, big-endian, a column at a time.

A value of another length is bad, as for Kafka's deserializers; so is a boolean that is neither 0 nor 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ottla.pipelines.values.bad_values import described, error_column


@dataclass(frozen=True)
class Primitive:
    name: str
    bytes: int
    numpy: str
    arrow: pa.DataType


PRIMITIVES: Final = {
    primitive.name: primitive
    for primitive in (
        Primitive("short", 2, ">i2", pa.int16()),
        Primitive("integer", 4, ">i4", pa.int32()),
        Primitive("long", 8, ">i8", pa.int64()),
        Primitive("float", 4, ">f4", pa.float32()),
        Primitive("double", 8, ">f8", pa.float64()),
        Primitive("boolean", 1, "u1", pa.bool_()),
        Primitive("uuid", 36, "", pa.string()),
    )
}


def primitive(name: str) -> Primitive:
    """The primitive of this name, in Kafka's words (`Serdes.Long()`: "long")."""
    found = PRIMITIVES.get("integer" if name == "int" else name)
    if found is None:
        raise ValueError(f"{name!r} is none of Kafka's primitives: {', '.join(PRIMITIVES)}")
    return found


def decode(kind: Primitive, values: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The numbers (or texts of UUIDs) of a column of bytes, and the errors of rows with wrong ones."""
    if kind.name == "uuid":
        return _decode_uuids(values)
    rows = len(values)
    lengths = pc.binary_length(values).fill_null(-1).to_numpy(zero_copy_only=False)
    fitting = lengths == kind.bytes
    blank = bytes(kind.bytes)
    if not fitting.all():
        values = pc.if_else(pa.array(fitting), values.cast(pa.binary()), pa.scalar(blank, pa.binary()))
    data = b"".join(values.to_pylist())
    numbers = np.frombuffer(data, kind.numpy, rows)
    errors = {
        int(row): ("ValueError", f"{lengths[row]} bytes; a {kind.name} has {kind.bytes}")
        for row in np.flatnonzero(~fitting & (lengths >= 0))
    }
    if kind.name == "boolean":
        for row in np.flatnonzero(numbers > 1):
            errors[int(row)] = ("ValueError", f"the byte {numbers[row]} is no boolean: 0 or 1")
        fitting = fitting & (numbers <= 1)
        return pa.array(numbers == 1, pa.bool_(), mask=~fitting), error_column(rows, errors)
    native = numbers.astype(numbers.dtype.newbyteorder("="))
    return pa.array(native, kind.arrow, mask=~fitting), error_column(rows, errors)


def encode(kind: Primitive, values: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The column as Kafka's serializer would write it; numbers that the primitive cannot hold are errors."""
    errors: dict[int, tuple[str, str]] = {}
    if kind.name == "uuid":
        decoded, found = _decode_uuids(values.cast(pa.binary()))
        return decoded.cast(pa.binary()), found
    try:
        fitting = values.cast(kind.arrow)
    except pa.ArrowInvalid:
        entries: list[Any] = values.to_pylist()
        for row, entry in enumerate(entries):
            try:
                pa.array([entry], values.type).cast(kind.arrow)
            except pa.ArrowInvalid as error:
                errors[row] = described(error)
                entries[row] = None
        fitting = pa.array(entries, values.type).cast(kind.arrow)
    numbers = fitting.fill_null(False if kind.name == "boolean" else 0).to_numpy(zero_copy_only=False)
    data = numbers.astype(kind.numpy).tobytes()
    size = kind.bytes
    present = fitting.is_valid().to_pylist()
    encoded = [data[at * size : at * size + size] if there else None for at, there in enumerate(present)]
    return pa.array(encoded, pa.binary()), error_column(len(values), errors)


def _decode_uuids(values: pa.Array) -> tuple[pa.Array, pa.Array]:
    errors: dict[int, tuple[str, str]] = {}
    decoded: list[str | None] = []
    for row, value in enumerate(values.to_pylist()):
        try:
            decoded.append(None if value is None else str(UUID(value.decode("ascii"))))
        except ValueError as error:
            errors[row] = described(error)
            decoded.append(None)
    return pa.array(decoded, pa.string()), error_column(len(decoded), errors)
