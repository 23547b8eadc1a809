"""The manifest of a table of plain files: a log of commits, and what they add up to.

    DIR/_ottla/table.json                            what the table is (format, columns, ...), written once
    DIR/_ottla/commits/00000000000000000012.json     commit 12: files added and removed, marks
    DIR/_ottla/commits/00000000000000000099.checkpoint.json   everything up to commit 99
    DIR/_ottla/commits/_last_checkpoint              where a reader may begin: a hint, which may be stale

A commit is a file that is created exclusively (`durable.py`), so commit 12 happens once, and what it says
about files and positions becomes true in that moment. Data files that no commit names do not exist.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ottla.pipelines.loads.data_file import Commit, DataFile
from ottla.pipelines.loads.durable import create_exclusively, make_directory, replace
from ottla.pipelines.loads.errors import CommitConflict, TableDamaged

MANIFEST_VERSION: Final = 1
COMMITS_PER_CHECKPOINT: Final = 100
_NAME: Final = re.compile(r"(\d{20})(\.checkpoint)?\.json")
_HINT: Final = "_last_checkpoint"


@dataclass(slots=True)
class TableState:
    """What commits up to `version` add up to; -1: there is none."""

    version: int = -1
    marks: dict[str, int] = field(default_factory=dict)
    files: dict[str, DataFile] = field(default_factory=dict)

    def apply(self, content: Mapping[str, Any], version: int) -> None:
        for path in content.get("removed", ()):
            self.files.pop(path, None)
        for fields in content.get("added", ()):
            added = DataFile.from_json(fields)
            self.files[added.path] = added
        self.marks.update(content.get("marks", {}))
        self.version = version


class CommitLog:
    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def read(self, since: TableState | None = None) -> TableState:
        """The newest state; from `since` on only what is new is read."""
        state = since if since is not None else self._newest_checkpoint()
        while (content := self._content(self._commit_path(state.version + 1))) is not None:
            state.apply(content, state.version + 1)
        return state

    def history(self) -> list[dict[str, Any]]:
        """The commits that are there, oldest first."""
        found = []
        for version in sorted(self._versions(checkpoints=False)):
            content = self._content(self._commit_path(version))
            if content is not None:
                found.append({"commit": version, **content})
        return found

    def append(self, state: TableState, commit: Commit, *, time_ms: int) -> None:
        """Commits on top of `state`, which then has the commit in it."""
        content = {
            "manifest": MANIFEST_VERSION,
            "time_ms": time_ms,
            "operation": commit.operation,
            "added": [each.to_json() for each in commit.added],
            "removed": [each.path for each in commit.removed],
            "marks": dict(commit.marks),
            "details": dict(commit.details),
        }
        version = state.version + 1
        make_directory(self.directory)
        try:
            create_exclusively(self._commit_path(version), _encoded(content))
        except FileExistsError:
            raise CommitConflict(
                f"{self.directory.parent.parent}: commit {version} was made by somebody else meanwhile: "
                "nothing of this one counts; run it again to go on from there"
            ) from None
        state.apply(content, version)
        if version % COMMITS_PER_CHECKPOINT == COMMITS_PER_CHECKPOINT - 1:
            self._write_checkpoint(state)

    def _write_checkpoint(self, state: TableState) -> None:
        content = {
            "manifest": MANIFEST_VERSION,
            "marks": state.marks,
            "added": [each.to_json() for each in state.files.values()],
        }
        replace(self._checkpoint_path(state.version), _encoded(content))
        replace(self.directory / _HINT, _encoded({"commit": state.version}))

    def _newest_checkpoint(self) -> TableState:
        hint = self._content(self.directory / _HINT)
        if hint is not None:
            state = self._checkpoint(hint.get("commit", -1))
            if state is not None:
                return state
        for version in sorted(self._versions(checkpoints=True), reverse=True):
            state = self._checkpoint(version)
            if state is not None:
                return state
        return TableState()

    def _checkpoint(self, version: int) -> TableState | None:
        content = self._content(self._checkpoint_path(version))
        if content is None:
            return None
        state = TableState()
        state.apply(content, version)
        return state

    def _versions(self, *, checkpoints: bool) -> list[int]:
        if not self.directory.is_dir():
            return []
        found = (_NAME.fullmatch(each.name) for each in self.directory.iterdir())
        return [int(match[1]) for match in found if match is not None and bool(match[2]) == checkpoints]

    def _content(self, path: Path) -> dict[str, Any] | None:
        try:
            text = path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            content = json.loads(text)
            if not isinstance(content, dict):
                raise ValueError("it is not an object")
        except ValueError as error:
            raise TableDamaged(f"{path} cannot be read: {error}") from None
        if content.get("manifest", MANIFEST_VERSION) > MANIFEST_VERSION:
            raise TableDamaged(f"{path} was written by a newer version of ottla: update this one")
        return content

    def _commit_path(self, version: int) -> Path:
        return self.directory / f"{version:020d}.json"

    def _checkpoint_path(self, version: int) -> Path:
        return self.directory / f"{version:020d}.checkpoint.json"


def _encoded(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
