"""A table of plain files (Parquet, JSON, CSV) that is read through its manifest."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from ottla.pipelines.loads.commit_log import MANIFEST_VERSION, CommitLog
from ottla.pipelines.loads.data_file import Commit, DataFile
from ottla.pipelines.loads.durable import create_exclusively, make_directory
from ottla.pipelines.loads.errors import CommitConflict, NotALoad, TableDamaged
from ottla.pipelines.loads.spec import TableSpec

HOME: Final = "_ottla"
"""What is ours in a table's directory. Readers of Delta, Spark and Hive pass over such names."""
TABLE_FILE: Final = "table.json"


class ManifestTable:
    def __init__(self, path: Path) -> None:
        self.path = path
        home = path / HOME
        try:
            content = json.loads((home / TABLE_FILE).read_bytes())
        except FileNotFoundError:
            raise NotALoad(f"{path} is not a table of plain files with a manifest") from None
        except ValueError as error:
            raise TableDamaged(f"{home / TABLE_FILE} cannot be read: {error}") from None
        if content.get("manifest", 0) > MANIFEST_VERSION:
            raise TableDamaged(f"{path} was made by a newer version of ottla: update this one")
        self.spec = TableSpec.from_json(content["spec"])
        self._log = CommitLog(home / "commits")
        self._state = self._log.read()

    @classmethod
    def exists(cls, path: Path) -> bool:
        return (path / HOME / TABLE_FILE).is_file()

    @classmethod
    def create(cls, path: Path, spec: TableSpec) -> ManifestTable:
        make_directory(path / HOME / "commits")
        content = {"manifest": MANIFEST_VERSION, "spec": spec.to_json()}
        try:
            create_exclusively(path / HOME / TABLE_FILE, json.dumps(content, indent=1).encode())
        except FileExistsError:
            raise CommitConflict(f"{path}: somebody else has just created the table: run it again") from None
        return cls(path)

    @property
    def version(self) -> int:
        return self._state.version

    def refresh(self) -> None:
        self._state = self._log.read(self._state)

    def mark(self, name: str) -> int | None:
        return self._state.marks.get(name)

    def marks(self) -> dict[str, int]:
        return dict(self._state.marks)

    def files(self) -> list[DataFile]:
        return list(self._state.files.values())

    def data_directory(self) -> str:
        """Where the files of the next commit go: one directory per batch."""
        return f"batch-{self._state.version + 1:012d}"

    def commit(self, commit: Commit) -> None:
        self._log.append(self._state, commit, time_ms=int(time.time() * 1000))

    def history(self) -> list[dict[str, Any]]:
        return self._log.history()

    def referenced(self, names: Iterable[str]) -> set[str]:
        """Those of the paths that a commit names, also one whose file was replaced since."""
        wanted, self._state = set(names), self._log.read(self._state)
        found = wanted & self._state.files.keys()
        for content in self._log.history():
            found.update(wanted & {each["path"] for each in content.get("added", ())})
        return found
