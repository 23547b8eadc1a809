"""Files that are there whole or not at all: what every commit of a table in a directory rests on.

A file is written under another name, synced, and gets its name by a hard link, which fails where the name is
taken: so a reader sees all of it or nothing, and of two writers one wins. The directory is synced after.
"""

from __future__ import annotations

import os
import uuid
from pathlib import Path

TEMPORARY_PREFIX = ".tmp-"


def sync_directory(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_file(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_directory(path: Path) -> None:
    """Makes a directory and those above it, each of them synced into its parent."""
    missing = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for each in reversed(missing):
        each.mkdir(exist_ok=True)
        sync_directory(each.parent)


def create_exclusively(path: Path, content: bytes) -> None:
    """Raises FileExistsError where the name is taken."""
    temporary = _written(path, content)
    try:
        os.link(temporary, path)
    except FileExistsError:
        # Over a network, a link whose answer was lost is tried again, and then finds itself.
        if not os.path.samefile(temporary, path):
            raise
    finally:
        temporary.unlink()
    sync_directory(path.parent)


def replace(path: Path, content: bytes) -> None:
    """Puts a file in the place of the one that may be there."""
    temporary = _written(path, content)
    try:
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def _written(path: Path, content: bytes) -> Path:
    temporary = path.with_name(f"{TEMPORARY_PREFIX}{uuid.uuid4().hex}-{path.name}")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary
