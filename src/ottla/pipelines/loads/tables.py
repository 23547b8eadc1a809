"""Which table a directory holds, if any: the one place that knows all kinds."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote, urlsplit

from ottla.pipelines.loads.data_file import Commit, DataFile
from ottla.pipelines.loads.durable import TEMPORARY_PREFIX
from ottla.pipelines.loads.errors import LoadRefused, NotALoad
from ottla.pipelines.loads.manifest_table import HOME, ManifestTable
from ottla.pipelines.loads.spec import TableSpec

if TYPE_CHECKING:
    import pyarrow as pa


class Table(Protocol):
    """What a load needs of a table; the kinds are in `manifest_table`, `delta_table` and `iceberg_table`."""

    path: Path

    @property
    def spec(self) -> TableSpec | None:
        """None: the table was not made by a load."""

    @property
    def version(self) -> int: ...

    def refresh(self) -> None:
        """Sees what was committed since."""

    def mark(self, name: str) -> int | None:
        """A number that was stored by a commit."""

    def marks(self) -> dict[str, int]: ...

    def files(self) -> list[DataFile]: ...

    def data_directory(self) -> str:
        """Where tasks write the next commit's files, relative to the table."""

    def commit(self, commit: Commit) -> None:
        """All of it or nothing; CommitConflict: somebody else was first."""

    def history(self) -> list[dict[str, Any]]: ...

    def referenced(self, names: Iterable[str]) -> set[str]:
        """Those of the paths that some version of the table needs."""


def table_path(text: str | Path) -> Path:
    """An absolute path of a directory that this process and all workers see."""
    if isinstance(text, str) and "://" in text:
        parts = urlsplit(text)
        if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
            raise LoadRefused(
                f"{text}: tables are directories that all workers see under the same path (a shared file "
                "system): write a path, or file:///path"
            )
        text = unquote(parts.path)
    return Path(text).absolute()


def kind_of(path: Path) -> str | None:
    """`files`, `delta` or `iceberg`; None where a table can be made, since nothing is there."""
    if not path.exists():
        return None
    if not path.is_dir():
        raise NotALoad(f"{path} is not a directory")
    if ManifestTable.exists(path):
        return "files"
    if (path / "_delta_log").is_dir() and any((path / "_delta_log").glob("*.json")):
        return "delta"
    if (path / "metadata").is_dir() and any((path / "metadata").glob("v*.metadata.json")):
        return "iceberg"
    # A run that was killed before it had made the table leaves such names, or files in our home.
    others = sorted(each.name for each in path.iterdir() if not _of_killed_run(each))
    if others:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        raise NotALoad(
            f"{path} holds other files ({others[0]}{more}): load into an empty directory, or one that a "
            "load made"
        )
    return None


def _of_killed_run(path: Path) -> bool:
    if path.name == HOME:
        return True
    if path.name == "_delta_log":
        return not any(each.name.endswith((".json", ".parquet")) for each in path.iterdir())
    return path.name == "metadata" and all(each.name.startswith(TEMPORARY_PREFIX) for each in path.iterdir())


def open_table(path: Path) -> Table | None:
    kind = kind_of(path)
    if kind == "files":
        return ManifestTable(path)
    if kind == "delta":
        from ottla.pipelines.loads.delta_table import DeltaLoadTable

        return DeltaLoadTable(path)
    if kind == "iceberg":
        from ottla.pipelines.loads.iceberg_table import IcebergLoadTable

        return IcebergLoadTable(path)
    return None


def create_table(path: Path, spec: TableSpec, schema: pa.Schema, partition_by: tuple[str, ...]) -> Table:
    """schema: what the data files have."""
    if spec.format == "delta":
        from ottla.pipelines.loads.delta_table import DeltaLoadTable

        return DeltaLoadTable.create(path, spec, schema, partition_by)
    if spec.format == "iceberg":
        from ottla.pipelines.loads.iceberg_table import IcebergLoadTable

        return IcebergLoadTable.create(path, spec, schema, partition_by)
    return ManifestTable.create(path, spec)


def require_table(text: str | Path) -> Table:
    path = table_path(text)
    table = open_table(path)
    if table is None:
        raise NotALoad(f"{path} holds no table" if path.exists() else f"{path} does not exist")
    return table
