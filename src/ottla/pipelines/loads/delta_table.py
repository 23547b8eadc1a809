"""A Delta table that loads and streams write: data files by the tasks, one commit by the driver.

Marks are Delta's application transactions (`txn` actions), one for each partition's position: they are in
the commit with the files, survive checkpoints and log cleaning, and of two commits that set the same one the
later is refused by Delta's own conflict check. Needs the package `deltalake` (`ottla[lake]`), and no jar.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ottla.pipelines.loads.data_file import NO_PARTITION, Commit, DataFile, position_mark
from ottla.pipelines.loads.durable import sync_directory, sync_file
from ottla.pipelines.loads.errors import CommitConflict, LoadError, LoadRefused, NotALoad
from ottla.pipelines.loads.spec import TableSpec

if TYPE_CHECKING:
    import deltalake
    import pyarrow as pa

SPEC_PROPERTY: Final = "ottla.spec"
"""In the table's configuration: how the records of a load are laid out."""


def import_deltalake() -> Any:
    try:
        import deltalake
    except ImportError:
        raise LoadRefused("--format delta needs the package deltalake: pip install 'ottla[lake]'") from None
    return deltalake


class DeltaLoadTable:
    def __init__(self, path: Path) -> None:
        self.path = path
        module = import_deltalake()
        try:
            self._table: deltalake.DeltaTable = module.DeltaTable(str(path))
        except module.exceptions.TableNotFoundError:
            raise NotALoad(f"{path} is not a Delta table") from None
        except module.exceptions.DeltaError as error:
            raise LoadError(f"{path}: the Delta table cannot be read: {error}") from None
        self.spec = _spec_of(self._table)

    @classmethod
    def exists(cls, path: Path) -> bool:
        log = path / "_delta_log"
        return log.is_dir() and any(log.glob("*.json"))

    @classmethod
    def create(
        cls, path: Path, spec: TableSpec, schema: pa.Schema, partition_by: tuple[str, ...] | None = None
    ) -> DeltaLoadTable:
        module = import_deltalake()
        try:
            module.DeltaTable.create(
                str(path),
                schema,
                mode="error",
                partition_by=list(spec.partition_by if partition_by is None else partition_by) or None,
                configuration={SPEC_PROPERTY: spec.text()},
                raise_if_key_not_exists=False,  # the key is ours
            )
        except module.exceptions.DeltaError as error:
            if cls.exists(path):
                raise CommitConflict(
                    f"{path}: somebody else has just created the table: run it again"
                ) from None
            raise LoadError(f"{path}: the Delta table cannot be created: {error}") from None
        sync_file(path / "_delta_log" / f"{0:020d}.json")
        sync_directory(path / "_delta_log")
        return cls(path)

    @property
    def version(self) -> int:
        return int(self._table.version())

    @property
    def partition_columns(self) -> list[str]:
        return list(self._table.metadata().partition_columns)

    def schema(self) -> pa.Schema:
        import pyarrow as pa

        return pa.schema(self._table.schema().to_arrow())

    def check_readable(self) -> None:
        """Refuses what would be read wrongly as a set of Parquet files."""
        protocol = self._table.protocol()
        unknown = set(protocol.reader_features or ()) - {"timestampNtz", "vacuumProtocolCheck"}
        if unknown or protocol.min_reader_version == 2:
            feature = ", ".join(sorted(unknown)) or "columnMapping"
            raise LoadRefused(f"{self.path}: this Delta table uses {feature}, which is not supported here")

    def refresh(self) -> None:
        self._table.update_incremental()

    def mark(self, name: str) -> int | None:
        found = self._table.transaction_version(name)
        return None if found is None else int(found)

    def marks(self) -> dict[str, int]:
        """The positions of the partitions that the files are of: Delta finds marks by name only."""
        found = {}
        for topic, partition in sorted({(f.topic, f.partition) for f in self.files() if f.topic is not None}):
            name = position_mark(topic, partition)
            value = self.mark(name)
            if value is not None:
                found[name] = value
        return found

    def files(self) -> list[DataFile]:
        import pyarrow as pa

        rows = pa.table(self._table.get_add_actions(flatten=False)).to_pylist()
        return [_data_file(row) for row in rows]

    def data_directory(self) -> str:
        return ""

    def commit(self, commit: Commit) -> None:
        from deltalake import CommitProperties, Transaction
        from deltalake.exceptions import CommitFailedError, DeltaError
        from deltalake.transaction import AddAction, RemoveAction

        before = self.version
        now_ms = int(time.time() * 1000)
        actions: list[Any] = [
            RemoveAction(each.path, True, now_ms, each.size_bytes, dict(each.partition_values))
            for each in commit.removed
        ]
        actions += [
            AddAction(each.path, each.size_bytes, each.partition_values, now_ms, True, _statistics(each))
            for each in commit.added
        ]
        properties = CommitProperties(
            custom_metadata={"ottla": json.dumps({"operation": commit.operation, **commit.details})},
            app_transactions=[Transaction(name, value) for name, value in commit.marks.items()],
        )
        try:
            self._table.create_write_transaction(
                actions,
                "append",
                self._table.schema(),
                self.partition_columns or None,
                commit_properties=properties,
            )
        except CommitFailedError as error:
            raise CommitConflict(
                f"{self.path}: somebody else changed the table meanwhile ({error}): nothing of this commit "
                "counts; run it again to go on from there"
            ) from None
        except DeltaError as error:
            raise LoadError(f"{self.path}: the commit failed: {error}") from None
        self._table.update_incremental()
        # The library leaves it to the kernel when the log reaches the disk.
        log = self.path / "_delta_log"
        for version in range(before + 1, self.version + 1):
            sync_file(log / f"{version:020d}.json")
        sync_directory(log)

    def history(self) -> list[dict[str, Any]]:
        found = []
        for entry in reversed(self._table.history()):
            details = entry.get("ottla")
            found.append(
                {
                    "commit": entry["version"],
                    "time_ms": entry.get("timestamp"),
                    "operation": entry.get("operation"),
                    **({"details": json.loads(details)} if isinstance(details, str) else {}),
                }
            )
        return found

    def referenced(self, names: Iterable[str]) -> set[str]:
        """Those of the paths that a commit in the log names, also one that was removed since."""
        self.refresh()
        wanted = set(names)
        found = wanted & {each.path for each in self.files()}
        for log in (self.path / "_delta_log").glob("*.json"):
            for line in log.read_text().splitlines():
                action = json.loads(line)
                path = (action.get("add") or action.get("remove") or {}).get("path")
                if path in wanted:
                    found.add(path)
        return found


def _spec_of(table: deltalake.DeltaTable) -> TableSpec | None:
    text = table.metadata().configuration.get(SPEC_PROPERTY)
    return None if text is None else TableSpec.from_json(json.loads(text))


def _statistics(file: DataFile) -> str:
    found: dict[str, Any] = {"numRecords": file.records}
    if file.traceable:
        low = {"topic": file.topic, "partition": file.partition, "offset": file.first_offset}
        high = {**low, "offset": file.last_offset}
        for values in (low, high):
            for column in file.partition_values:
                values.pop(column, None)  # they are not in the file
        found |= {"minValues": low, "maxValues": high}
    return json.dumps(found)


def _data_file(row: Mapping[str, Any]) -> DataFile:
    low, high, there = row.get("min") or {}, row.get("max") or {}, row.get("partition") or {}

    def one(column: str) -> Any:
        if column in there:
            return there[column]
        return low.get(column) if low.get(column) == high.get(column) else None

    topic, partition = one("topic"), one("partition")
    partition_values = {name: None if value is None else str(value) for name, value in there.items()}
    known = isinstance(topic, str) and isinstance(partition, int) and high.get("offset") is not None
    return DataFile(
        row["path"],
        row["size_bytes"],
        row["num_records"] or 0,
        partition_values,
        topic if known else None,
        partition if known else NO_PARTITION,
        low.get("offset", -1) if known else -1,
        high.get("offset", -1) if known else -1,
    )
