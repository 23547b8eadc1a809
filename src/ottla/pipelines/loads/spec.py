"""How the records of a load are laid out, as it is stored with the table: later runs have to agree.

An option that a later run leaves out is taken from the table; one that says something else is refused, with
both sides named. Nothing here imports Spark: the table's columns are Spark's JSON of a schema, as text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from ottla.pipelines.loads.errors import LoadRefused

FORMATS: Final = ("parquet", "delta", "iceberg", "json", "csv")
VALUES: Final = ("raw", "text", "json", "avro")
KEYS: Final = ("raw", "text")
PARTITION_COLUMNS: Final = {"year": "integer", "month": "string", "day": "date", "hour": "string"}
"""Columns that are made of the record's timestamp (UTC), with Spark's names of their types."""
PARTITIONINGS: Final = (*PARTITION_COLUMNS, "topic", "partition")

_WORDS: Final = {
    "format": "--format",
    "values": "--values",
    "keys": "--keys",
    "partition_by": "--partition-by",
    "headers": "--headers",
    "value_schema": "--schema",
}


@dataclass(frozen=True, slots=True)
class TableSpec:
    format: str = "parquet"
    values: str = "raw"
    keys: str = "raw"
    partition_by: tuple[str, ...] = ()
    headers: bool = True
    value_schema: str | None = None
    """For json: Spark's schema as DDL or JSON; for avro: the Avro schema."""
    columns: str = ""
    """Spark's JSON of the table's schema; empty until it is known."""
    made_by: str = "load"
    """`load`, or `stream`: then columns are whatever the stream had."""

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "partition_by": list(self.partition_by)}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> TableSpec:
        return cls(**{**fields, "partition_by": tuple(fields.get("partition_by", ()))})

    def text(self) -> str:
        return json.dumps(self.to_json(), sort_keys=True)

    @property
    def restorable(self) -> bool:
        """Whether keys and values are in the table byte by byte."""
        return self.values in ("raw", "text") and self.keys in ("raw", "text")


def make_spec(
    table: TableSpec | None,
    *,
    path: str,
    format: str | None = None,
    values: str | None = None,
    keys: str | None = None,
    partition_by: Sequence[str] | None = None,
    headers: bool | None = None,
    value_schema: str | None = None,
) -> TableSpec:
    """The layout that a run uses: the table's where there is one, and then nothing else may be asked for."""
    asked: dict[str, Any] = {
        name: value
        for name, value in (
            ("format", format),
            ("values", values),
            ("keys", keys),
            ("partition_by", None if partition_by is None else tuple(partition_by)),
            ("headers", headers),
            ("value_schema", value_schema),
        )
        if value is not None
    }
    _check_choice("--format", asked.get("format"), FORMATS)
    _check_choice("--values", asked.get("values"), VALUES)
    _check_choice("--keys", asked.get("keys"), KEYS)
    for column in asked.get("partition_by", ()):
        _check_choice("--partition-by", column, PARTITIONINGS)
    if table is not None:
        for name, value in asked.items():
            there = getattr(table, name)
            if value != there:
                raise LoadRefused(
                    f"{path} was begun with {_said(name, there)}, and this run asks for "
                    f"{_said(name, value)}: leave the option out, or load into another directory"
                )
        return table
    spec = replace(TableSpec(), **asked)
    if spec.values in ("json", "avro") and spec.value_schema is None:
        raise LoadRefused(
            f"--values {spec.values} needs --schema FILE, so that every run gives the same columns"
        )
    if spec.values in ("raw", "text") and spec.value_schema is not None:
        raise LoadRefused("--schema says how to read json or avro: add --values json or --values avro")
    if len(set(spec.partition_by)) != len(spec.partition_by):
        raise LoadRefused(f"--partition-by {','.join(spec.partition_by)}: a column is named twice")
    return spec


def _check_choice(option: str, value: str | None, choices: Sequence[str]) -> None:
    if value is not None and value not in choices:
        raise LoadRefused(f"{option} {value}: write {', '.join(choices)}")


def _said(name: str, value: Any) -> str:
    word = _WORDS[name]
    if name == "headers":
        return word if value else "--no-headers"
    if name == "value_schema":
        return f"{word} {' '.join(str(value).split())[:80]}" if value else f"no {word}"
    if isinstance(value, tuple):
        return f"{word} {','.join(value)}" if value else f"no {word}"
    return f"{word} {value}"


def record_columns(spec: TableSpec) -> str:
    """Spark's JSON of the columns of a table of raw or text values (others depend on their schema)."""
    fields: list[dict[str, Any]] = [
        _field("key", "string" if spec.keys == "text" else "binary"),
        _field("value", "string" if spec.values == "text" else "binary"),
        _field("topic", "string"),
        _field("partition", "integer"),
        _field("offset", "long"),
        _field("timestamp", "timestamp"),
        _field("timestampType", "integer"),
    ]
    if spec.headers:
        header = {"type": "struct", "fields": [_field("key", "string"), _field("value", "binary")]}
        fields.append(_field("headers", {"type": "array", "elementType": header, "containsNull": True}))
    fields.extend(
        _field(name, PARTITION_COLUMNS[name]) for name in spec.partition_by if name in PARTITION_COLUMNS
    )
    return json.dumps({"type": "struct", "fields": fields})


def _field(name: str, kind: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "nullable": True, "metadata": {}}
