"""Avro's container files as rows: read by Spark's tasks with fastavro, a file at a time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ottla.pipelines.loads.errors import LoadRefused

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_PER_BATCH: Final = 10_000


@dataclass(frozen=True)
class AvroReading:
    """For `mapInArrow` over a column of paths."""

    schema: str
    ddl: str

    @classmethod
    def of(cls, paths: Sequence[str]) -> AvroReading:
        """The schema that the files have, which has to be the same."""
        from ottla.pipelines.values.avro_schema import AvroSchemaError, ddl_of, parsed

        schemas = {_schema_of(path): path for path in reversed(paths)}
        if len(schemas) > 1:
            one, other = list(schemas.values())[:2]
            raise LoadRefused(f"{one} and {other} have different Avro schemas: publish them one by one")
        (schema,) = schemas
        if json.loads(schema).get("type") != "record":
            raise LoadRefused(f"{paths[0]}: its values are not records")
        try:
            kind: Any = parsed(schema).shape.column
        except AvroSchemaError as error:
            raise LoadRefused(f"{paths[0]}: {error}") from None
        columns = (f"`{each.name.replace('`', '``')}` {ddl_of(each.type)}" for each in kind)
        return cls(schema, ", ".join(columns))

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import fastavro

        for batch in batches:
            for path in batch.column(0).to_pylist():
                with open(path, "rb") as file:
                    rows: list[Any] = []
                    for row in fastavro.reader(file):
                        rows.append(row)
                        if len(rows) == ROWS_PER_BATCH:
                            yield self._batch(rows)
                            rows = []
                    if rows:
                        yield self._batch(rows)

    def _batch(self, rows: list[Any]) -> pa.RecordBatch:
        import pyarrow as pa

        from ottla.pipelines.values.avro_schema import parsed

        shape = parsed(self.schema).shape
        if shape.shape is not None:
            rows = [shape.shape(row) for row in rows]
        return pa.RecordBatch.from_struct_array(pa.array(rows, shape.column))


def _schema_of(path: str) -> str:
    import fastavro

    try:
        with open(path, "rb") as file:
            return json.dumps(fastavro.reader(file).writer_schema, sort_keys=True)
    except Exception as error:  # fastavro raises what it stumbles over
        raise LoadRefused(f"{path} is not an Avro file: {error}") from None
