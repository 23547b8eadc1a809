"""An Iceberg catalog that is the table's own directory: no server, no database.

The layout is the one of Iceberg's file system tables, so that engines that take a path read it:

    DIR/metadata/v3.metadata.json     version 3 of the table; the highest one is the table
    DIR/metadata/version-hint.text    "3": where to begin to look, which may be stale
    DIR/data/...                      Parquet files

A commit is the exclusive creation of the next version's file. pyiceberg tries a refused commit again by
itself, on top of what the other one did; a load must not do that, since its records may be in there. So
the refusal raised here is not the one that pyiceberg retries.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.io import FileIO, load_file_io
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.serializers import FromInputFile
from pyiceberg.table import CommitTableResponse, Table
from pyiceberg.table.metadata import TableMetadata, new_table_metadata
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.table.update import AddSnapshotUpdate, TableRequirement, TableUpdate, update_table_metadata
from pyiceberg.typedef import Identifier

from ottla.pipelines.loads.durable import (
    create_exclusively,
    make_directory,
    replace,
    sync_directory,
    sync_file,
)
from ottla.pipelines.loads.errors import CommitConflict, NotALoad, TableDamaged

HINT: Final = "version-hint.text"
_NAME: Final = re.compile(r"v(\d+)\.metadata\.json")


class DirectoryCatalog(NoopCatalog):
    def __init__(self, path: Path) -> None:
        super().__init__("ottla")
        self.path = path
        self._metadata = path / "metadata"

    @staticmethod
    def exists(path: Path) -> bool:
        folder = path / "metadata"
        return folder.is_dir() and any(_NAME.fullmatch(each.name) for each in folder.iterdir())

    def create(self, schema: Schema, spec: PartitionSpec, properties: dict[str, str]) -> Table:
        """Raises FileExistsError where there is one."""
        make_directory(self._metadata)
        metadata = new_table_metadata(
            schema=schema,
            partition_spec=spec,
            sort_order=_unsorted(),
            location=str(self.path),
            properties=properties,
        )
        create_exclusively(self._file(1), metadata.model_dump_json().encode())
        self._write_hint(1)
        return self.open()

    def open(self, *, repair_hint: bool = False) -> Table:
        version = self._newest()
        location = str(self._file(version))
        io = self._io(location)
        try:
            metadata = FromInputFile.table_metadata(io.new_input(location))
        except (ValueError, OSError) as error:
            raise TableDamaged(f"{location} cannot be read: {error}") from None
        if repair_hint and self._hinted() != version:
            self._write_hint(version)
        return Table((self.path.name or "table",), metadata, location, io, self)

    def load_table(self, identifier: str | Identifier) -> Table:
        return self.open()

    def commit_table(
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        for requirement in requirements:
            requirement.validate(table.metadata)
        metadata: TableMetadata = update_table_metadata(
            table.metadata, updates, metadata_location=table.metadata_location
        )
        for update in updates:
            if isinstance(update, AddSnapshotUpdate):
                self._sync(table.io, update.snapshot)
        version = _version_of(table.metadata_location) + 1
        target = self._file(version)
        try:
            create_exclusively(target, metadata.model_dump_json().encode())
        except FileExistsError:
            raise CommitConflict(
                f"{self.path}: version {version} of the table was made by somebody else meanwhile: nothing "
                "of this commit counts; run it again to go on from there"
            ) from None
        self._write_hint(version)
        return CommitTableResponse.model_validate({"metadata": metadata, "metadata-location": str(target)})

    def _sync(self, io: FileIO, snapshot: Snapshot) -> None:
        """The library leaves it to the kernel when a snapshot's lists of files reach the disk."""
        sync_file(_local(snapshot.manifest_list))
        for manifest in snapshot.manifests(io):
            if manifest.added_snapshot_id == snapshot.snapshot_id:
                sync_file(_local(manifest.manifest_path))
        sync_directory(self._metadata)

    def _newest(self) -> int:
        version = self._hinted()
        if version is None or not self._file(version).is_file():
            names = [_NAME.fullmatch(each.name) for each in self._metadata.glob("v*.metadata.json")]
            version = max((int(match[1]) for match in names if match is not None), default=0)
            if not version:
                raise NotALoad(f"{self.path} is not an Iceberg table")
        while self._file(version + 1).is_file():
            version += 1
        return version

    def _hinted(self) -> int | None:
        try:
            text = (self._metadata / HINT).read_text().strip()
        except FileNotFoundError:
            return None
        return int(text) if text.isdecimal() else None

    def _write_hint(self, version: int) -> None:
        replace(self._metadata / HINT, str(version).encode())

    def _file(self, version: int) -> Path:
        return self._metadata / f"v{version}.metadata.json"

    def _io(self, location: str) -> FileIO:
        return load_file_io({}, location)


def _local(location: str) -> Path:
    return Path(location.removeprefix("file://"))


def _version_of(metadata_location: str) -> int:
    match = _NAME.fullmatch(Path(metadata_location).name)
    if match is None:
        raise TableDamaged(f"{metadata_location} is not named v<number>.metadata.json")
    return int(match[1])


def _unsorted() -> Any:
    from pyiceberg.table.sorting import UNSORTED_SORT_ORDER

    return UNSORTED_SORT_ORDER
