"""Who is writing to a table: one load at a time, and the files that dead ones left behind.

    DIR/_ottla/load.lock            held (flock) by the load at work: a second one says so and ends
    DIR/_ottla/writers/<id>.json    held by each process that writes; `<id>` is in the names of its files

The lock is for a clear word early; what keeps the table right is the commit (see `tables.py`). The kernel
lets go of both when a process dies, however it dies: a writer whose file nobody holds is dead, and those of
its files that no commit names are deleted by the next run.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from ottla.pipelines.loads.data_file import DataFile
from ottla.pipelines.loads.durable import TEMPORARY_PREFIX, create_exclusively, make_directory
from ottla.pipelines.loads.errors import LoadRefused
from ottla.pipelines.loads.manifest_table import HOME, ManifestTable
from ottla.pipelines.loads.tables import Table

LATE_FILES_S: Final = 600.0
"""Tasks of a killed driver may write for a moment yet: for so long, each run looks for their files."""
OTHER_HOST_S: Final = 24 * 3600.0
"""Where locks do not reach other machines, a writer of another one is taken for alive for so long."""

_CLOCK_STEP_S: Final = 0.001
"""A file's time is not kept to the last digit."""

REPLACED_FILES_S: Final = 7 * 24 * 3600.0
"""How long readers that began before a reload find the files that it replaced, as with Delta's vacuum."""


@contextmanager
def only_load(path: Path) -> Iterator[None]:
    """Holds the table's lock for loads; refuses where another load has it."""
    make_directory(path / HOME)
    with open(path / HOME / "load.lock", "a+") as file:
        if _lock(file) is False:
            file.seek(0)
            raise LoadRefused(
                f"another load is writing to {path} ({file.read().strip() or 'it does not say who'}): wait "
                "for it, or load into another directory"
            )
        file.seek(0)
        file.truncate()
        file.write(
            f"process {os.getpid()} on {socket.gethostname()}, since {time.strftime('%Y-%m-%d %H:%M:%S')}"
        )
        file.flush()
        yield


class Writer:
    """This process as a writer of one table; `id` is in the names of all files that it has written."""

    def __init__(self, path: Path) -> None:
        self.id = uuid.uuid4().hex
        folder = path / HOME / "writers"
        make_directory(folder)
        self._entry = folder / f"{self.id}.json"
        # Locked before it has the name under which others look for it.
        temporary = folder / f"{TEMPORARY_PREFIX}{self.id}"
        self._file = open(temporary, "w")  # noqa: SIM115
        try:
            _lock(self._file)
            self._file.write(json.dumps({"host": _machine(), "pid": os.getpid()}))
            self._file.flush()
            os.rename(temporary, self._entry)
        except BaseException:
            self._file.close()
            temporary.unlink(missing_ok=True)
            raise

    def touch(self) -> None:
        """Still at work: for others on machines that do not see the lock."""
        os.utime(self._file.fileno())

    def close(self, *, clean: bool) -> None:
        """clean: everything that was written is committed or deleted, so nobody needs to look."""
        if clean:
            self._entry.unlink(missing_ok=True)
        self._file.close()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close(clean=kind is None)


def clean_after_dead_writers(table: Table) -> list[str]:
    """Deletes the files of dead writers that no commit names; gives their paths."""
    folder = table.path / HOME / "writers"
    if not folder.is_dir():
        return []
    dead: dict[str, Path] = {}
    expired: list[Path] = []
    for entry in folder.glob("*.json"):
        since_s = _dead_for_s(entry)
        if since_s is not None:
            dead[entry.stem] = entry
            if since_s > LATE_FILES_S:
                expired.append(entry)
    if not dead:
        return []
    written = [path for path in _data_files(table.path) if any(each in path for each in dead)]
    needed = table.referenced(written) if written else set()
    deleted = []
    for path in written:
        if path not in needed:
            (table.path / path).unlink(missing_ok=True)
            _remove_empty((table.path / path).parent, table.path)
            deleted.append(path)
    for entry in expired:
        entry.unlink(missing_ok=True)
    return deleted


def remember_replaced(table: Table, files: Sequence[DataFile]) -> None:
    """After a reload of plain files. (Delta's vacuum and Iceberg's expiry of snapshots know theirs.)"""
    if not isinstance(table, ManifestTable) or not files:
        return
    folder = table.path / HOME / "replaced"
    make_directory(folder)
    content = json.dumps([each.path for each in files]).encode()
    create_exclusively(folder / f"{table.version:020d}.json", content)


def delete_replaced(table: Table, *, age_s: float = REPLACED_FILES_S) -> list[str]:
    """Deletes the files that reloads have replaced so long ago; gives their paths."""
    if not isinstance(table, ManifestTable):
        return []
    there = {each.path for each in table.files()}
    deleted = []
    for entry in (table.path / HOME / "replaced").glob("*.json"):
        if _age_s(entry) < age_s:
            continue
        names = [name for name in json.loads(entry.read_bytes()) if name not in there]
        discard(table.path, names)
        deleted += names
        entry.unlink(missing_ok=True)
    return deleted


def stray_files(table: Table) -> list[str]:
    """Data files that no version of the table names, whoever wrote them."""
    written = [path for path in _data_files(table.path) if "part-" in path]
    return sorted(set(written) - table.referenced(written))


def _dead_for_s(entry: Path) -> float | None:
    """How long it is known that this writer is dead; None: it lives, for all we know."""
    try:
        with open(entry, "r+") as file:
            locked = _lock(file)
            if locked is False:
                return None
            try:
                content = json.loads(file.read() or "{}")
            except ValueError:
                content = {}
            # One of another machine that was silent for long, and then had something to write after all,
            # has touched its entry since.
            if "dead_since" in content and entry.stat().st_mtime <= content["dead_since"] + _CLOCK_STEP_S:
                return float(max(0.0, time.time() - content["dead_since"]))
            here = content.get("host") == _machine()
            # Without locks, the process may be asked for; but on another machine, it cannot.
            gone = here and (locked or not _runs(content.get("pid")))
            if not gone and _age_s(entry) <= OTHER_HOST_S:
                return None
            file.seek(0)
            file.truncate()
            now_s = time.time()
            file.write(json.dumps({**content, "dead_since": now_s}))
            file.flush()
            os.utime(file.fileno(), (now_s, now_s))
            return 0.0
    except (FileNotFoundError, PermissionError):
        return None


def _machine() -> str:
    """This machine since it was started: containers may share a name, and do not share a kernel's locks."""
    try:
        started = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        started = ""
    return f"{socket.gethostname()} {started}".strip()


def _runs(pid: object) -> bool:
    if not isinstance(pid, int):
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _age_s(entry: Path) -> float:
    try:
        return time.time() - entry.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _data_files(path: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(path):
        if Path(folder) == path:
            folders[:] = [each for each in folders if not each.startswith("_") and each != "metadata"]
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), path)


def _remove_empty(folder: Path, top: Path) -> None:
    while folder != top:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent


def discard_uncommitted(table: Table, names: list[str]) -> None:
    """After a commit that was refused: deletes its files, unless a commit names them after all."""
    needed = table.referenced(names)
    discard(table.path, [name for name in names if name not in needed])


def discard_leftovers(path: Path, writer_id: str, committed: Sequence[str]) -> None:
    """At the end of a run: deletes what other attempts of its tasks have written beside the files that it has
    committed, which are given all.
    """
    kept: dict[str, set[str]] = {}
    for name in committed:
        folder, _, file = name.rpartition("/")
        kept.setdefault(folder, set()).add(file)
    for folder, names in kept.items():
        for each in os.listdir(path / folder):
            if writer_id in each and each not in names:
                (path / folder / each).unlink(missing_ok=True)


def discard(path: Path, names: list[str]) -> None:
    """Deletes files that were written for a commit that did not happen."""
    for name in names:
        (path / name).unlink(missing_ok=True)
        _remove_empty((path / name).parent, path)


def _lock(file: IO[str]) -> bool | None:
    """Whether we have it now; None where the file system knows no locks."""
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True
