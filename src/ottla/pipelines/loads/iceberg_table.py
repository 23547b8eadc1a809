"""An Iceberg table that loads and streams write: data files by the tasks, one snapshot by the driver.

Marks are one table property, set in the commit that adds the files: they outlive the snapshots that other
engines expire. What a commit did is in its snapshot's summary. Needs the package `pyiceberg`
(`ottla[lake]`), and no jar.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ottla.pipelines.loads.data_file import NO_PARTITION, Commit, DataFile
from ottla.pipelines.loads.errors import CommitConflict, LoadError, LoadRefused
from ottla.pipelines.loads.spec import TableSpec

if TYPE_CHECKING:
    import pyarrow as pa

MARKS_PROPERTY: Final = "ottla.marks"
SPEC_PROPERTY: Final = "ottla.spec"
DETAILS_PROPERTY: Final = "ottla.details"
_FIRST_ID: Final = 1000
"""Where Iceberg numbers partition fields from."""


def import_pyiceberg() -> Any:
    try:
        from ottla.pipelines.loads import iceberg_catalog
    except ImportError:
        raise LoadRefused("--format iceberg needs the package pyiceberg: pip install 'ottla[lake]'") from None
    return iceberg_catalog


class IcebergLoadTable:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._catalog = import_pyiceberg().DirectoryCatalog(path)
        self._table = self._catalog.open(repair_hint=os.access(path, os.W_OK))
        self._location = self._checked_location()
        text = self._table.properties.get(SPEC_PROPERTY)
        self.spec: TableSpec | None = None if text is None else TableSpec.from_json(json.loads(text))

    def _checked_location(self) -> Path:
        """Where the table says that it is. Iceberg names its files by whole paths, which a move makes wrong,
        and a copy makes those of the original: files that are needed would look like leftovers.
        """
        location = Path(self._table.metadata.location.removeprefix("file://"))
        try:
            same = os.path.samefile(location, self.path)
        except OSError:
            same = False
        if not same:
            raise LoadRefused(
                f"{self.path} was moved or copied from {location}, and an Iceberg table names its files by "
                "whole paths: move it back (or put a link there), or load into another directory"
            )
        return location

    def _relative(self, file_path: str) -> str:
        return os.path.relpath(file_path.removeprefix("file://"), self._location)

    @classmethod
    def exists(cls, path: Path) -> bool:
        folder = path / "metadata"
        return folder.is_dir() and any(folder.glob("v*.metadata.json"))

    @classmethod
    def create(
        cls, path: Path, spec: TableSpec, schema: pa.Schema, partition_by: tuple[str, ...] | None = None
    ) -> IcebergLoadTable:
        catalog = import_pyiceberg().DirectoryCatalog(path)
        from pyiceberg.catalog import Catalog
        from pyiceberg.exceptions import ValidationError
        from pyiceberg.schema import assign_fresh_schema_ids

        try:
            found: Any = Catalog._convert_schema_if_needed(schema)
            iceberg_schema = assign_fresh_schema_ids(found)
            columns = spec.partition_by if partition_by is None else partition_by
            properties = {
                SPEC_PROPERTY: spec.text(),
                # The names of topics are longer than the sixteen characters that are kept by default.
                "write.metadata.metrics.column.topic": "full",
            }
            catalog.create(iceberg_schema, _partition_spec(iceberg_schema, columns), properties)
        except FileExistsError:
            raise CommitConflict(f"{path}: somebody else has just created the table: run it again") from None
        except (ValidationError, ValueError, TypeError, NotImplementedError) as error:
            raise LoadRefused(f"{path}: Iceberg cannot hold these columns: {error}") from None
        return cls(path)

    @property
    def version(self) -> int:
        return int(Path(self._table.metadata_location).name.split(".")[0][1:])

    def schema(self) -> pa.Schema:
        return self._table.schema().as_arrow()

    def check_readable(self) -> None:
        """Refuses what would be read wrongly as a set of Parquet files."""
        if any(task.delete_files for task in self._table.scan().plan_files()):
            raise LoadRefused(
                f"{self.path}: this Iceberg table has row deletes, which are not supported here"
            )

    def refresh(self) -> None:
        self._table = self._catalog.open()

    def mark(self, name: str) -> int | None:
        return self.marks().get(name)

    def marks(self) -> dict[str, int]:
        return dict(json.loads(self._table.properties.get(MARKS_PROPERTY, "{}")))

    def files(self) -> list[DataFile]:
        snapshot = self._table.current_snapshot()
        if snapshot is None:
            return []
        ids = {column: self._field_id(column) for column in ("topic", "partition", "offset")}
        return [self._data_file(each, ids) for each in self._data_files()]

    def _data_files(self) -> list[Any]:
        return [task.file for task in self._table.scan().plan_files()]

    def _field_id(self, column: str) -> int | None:
        schema = self._table.schema()
        return schema.find_field(column).field_id if column in schema.column_names else None

    def _data_file(self, file: Any, ids: dict[str, int | None]) -> DataFile:
        from pyiceberg.conversions import from_bytes

        def bound(column: str, bounds: dict[int, bytes] | None) -> Any:
            field_id = ids[column]
            content = None if bounds is None or field_id is None else bounds.get(field_id)
            if content is None:
                return None
            return from_bytes(self._table.schema().find_type(field_id), content)

        low = {name: bound(name, file.lower_bounds) for name in ids}
        high = {name: bound(name, file.upper_bounds) for name in ids}
        known = (
            isinstance(low["topic"], str)
            and low["topic"] == high["topic"]
            and isinstance(low["partition"], int)
            and low["partition"] == high["partition"]
            and high["offset"] is not None
        )
        return DataFile(
            self._relative(file.file_path),
            file.file_size_in_bytes,
            file.record_count,
            {},
            low["topic"] if known else None,
            low["partition"] if known else NO_PARTITION,
            low["offset"] if known else -1,
            high["offset"] if known else -1,
        )

    def data_directory(self) -> str:
        return "data"

    def commit(self, commit: Commit) -> None:
        from pyiceberg.exceptions import CommitFailedException
        from pyiceberg.table import _parquet_files_to_data_files

        marks = json.dumps({**self.marks(), **commit.marks}, sort_keys=True)
        summary = {DETAILS_PROPERTY: json.dumps({"operation": commit.operation, **commit.details})}
        removed = {each.path for each in commit.removed}
        try:
            transaction = self._table.transaction()
            if (
                self._table.name_mapping() is None
                or "schema.name-mapping.default" not in self._table.properties
            ):
                mapping = self._table.metadata.schema().name_mapping.model_dump_json()
                transaction.set_properties({"schema.name-mapping.default": mapping})
            transaction.set_properties({MARKS_PROPERTY: marks})
            if commit.added or removed:
                added = _parquet_files_to_data_files(
                    transaction.table_metadata,
                    [str(self._location / each.path) for each in commit.added],
                    self._table.io,
                )
                update = transaction.update_snapshot(snapshot_properties=summary)
                with update.overwrite() if removed else update.fast_append() as producer:
                    for file in self._data_files() if removed else ():
                        if self._relative(file.file_path) in removed:
                            producer.delete_data_file(file)
                    for file in added:
                        producer.append_data_file(file)
            transaction.commit_transaction()
        except CommitFailedException as error:
            raise CommitConflict(
                f"{self.path}: somebody else changed the table meanwhile ({error}): nothing of this commit "
                "counts; run it again to go on from there"
            ) from None
        except ValueError as error:
            raise LoadError(f"{self.path}: the commit failed: {error}") from error
        self.refresh()

    def history(self) -> list[dict[str, Any]]:
        found = []
        for snapshot in sorted(self._table.snapshots(), key=lambda each: each.sequence_number or 0):
            summary = snapshot.summary
            details = None if summary is None else summary.additional_properties.get(DETAILS_PROPERTY)
            found.append(
                {
                    "commit": snapshot.sequence_number,
                    "time_ms": snapshot.timestamp_ms,
                    "operation": None if summary is None else summary.operation.value,
                    **({"details": json.loads(details)} if details else {}),
                }
            )
        return found

    def referenced(self, names: Iterable[str]) -> set[str]:
        """Those of the paths that a snapshot names which is still there."""
        self.refresh()
        wanted = set(names)
        found: set[str] = set()
        for snapshot in self._table.snapshots():
            for manifest in snapshot.manifests(self._table.io):
                for entry in manifest.fetch_manifest_entry(self._table.io, discard_deleted=False):
                    path = self._relative(entry.data_file.file_path)
                    if path in wanted:
                        found.add(path)
        return found


def _partition_spec(schema: Any, columns: tuple[str, ...]) -> Any:
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.transforms import (
        DayTransform,
        HourTransform,
        IdentityTransform,
        MonthTransform,
        YearTransform,
    )

    of_time: dict[str, Any] = {
        "year": YearTransform(),
        "month": MonthTransform(),
        "day": DayTransform(),
        "hour": HourTransform(),
    }
    fields = []
    for number, column in enumerate(columns):
        hidden = column in of_time and column not in schema.column_names
        source = schema.find_field("timestamp" if hidden else column).field_id
        transform = of_time[column] if hidden else IdentityTransform()
        name = f"timestamp_{column}" if hidden else column
        fields.append(PartitionField(source, _FIRST_ID + number, transform, name))
    return PartitionSpec(*fields)
