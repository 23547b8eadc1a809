"""Following log files as they grow, are rotated, and are cut off: `tail -F`, with a memory.

A file is known by its inode, not by its name: when the name belongs to another inode, the file was rotated
and the rest of the old one is read before the new one begins. A file that has become shorter was cut off
(copytruncate) and begins anew. The place in each file is kept in a state file, so that a restart goes on
where it was, also in a file that was renamed meanwhile.
"""

from __future__ import annotations

import glob
import json
import os
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

READ_BYTES = 1 << 16


class Tail:
    """One file, by name."""

    def __init__(self, path: str, inode: int | None = None, position: int = 0) -> None:
        self.path = path
        self._file: BinaryIO | None = None
        self._whole: deque[bytes] = deque()
        self._rest = b""
        self.position = position
        """Where the first line begins that was not handed out."""
        if inode is not None:
            self._reopen(inode)

    @property
    def inode(self) -> int | None:
        return None if self._file is None else os.fstat(self._file.fileno()).st_ino

    def lines(self) -> Iterator[bytes]:
        """The whole lines that are there now, without their ends."""
        while self._file is not None or self._open():
            yield from self._read()
            if not self._rotated():
                return
            yield from self._read()  # what was written between the last look and the renaming
            if self._rest:  # nobody will end this line any more
                last, self._rest = self._rest, b""
                self.position += len(last)
                yield last
            assert self._file is not None
            self._file.close()
            self._file = None
            self.position = 0

    def _read(self) -> Iterator[bytes]:
        """Lines up to the end; whoever stops in between goes on there the next time."""
        assert self._file is not None
        while True:
            while self._whole:
                line = self._whole.popleft()
                self.position += len(line) + 1
                yield line
            if os.fstat(self._file.fileno()).st_size < self.position + len(self._rest):
                self._file.seek(0)
                self._rest, self.position = b"", 0
            data = self._file.read(READ_BYTES)
            if not data:
                return
            *whole, self._rest = (self._rest + data).split(b"\n")
            self._whole.extend(whole)

    def _open(self) -> bool:
        try:
            self._file = open(self.path, "rb", buffering=0)  # noqa: SIM115 - stays open
        except FileNotFoundError:
            return False
        return True

    def _rotated(self) -> bool:
        try:
            return os.stat(self.path).st_ino != self.inode
        except FileNotFoundError:
            return False  # renamed, and the new one is not there yet: more may come into the old one

    def _reopen(self, inode: int) -> None:
        """The file of the last run, under whatever name it has now."""
        for path in (self.path, *sorted(glob.glob(glob.escape(self.path) + "*"))):
            try:
                file = open(path, "rb", buffering=0)  # noqa: SIM115 - stays open
            except FileNotFoundError:
                continue
            if os.fstat(file.fileno()).st_ino == inode:
                self._file = file
                file.seek(self.position)
                return
            file.close()
        self.position = 0  # gone: begin with the file that has the name now


class State:
    """Places in files, kept in a file of its own that is replaced as a whole."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._saved: dict[str, list[int]] = {}
        if path.exists():
            self._saved = json.loads(path.read_text(encoding="utf-8"))

    def tail(self, path: str) -> Tail:
        inode, position = self._saved.get(path, (None, 0))
        return Tail(path, inode, position or 0)

    def save(self, tails: list[Tail]) -> None:
        self._saved.update(
            (tail.path, [tail.inode, tail.position]) for tail in tails if tail.inode is not None
        )
        fresh = self._path.with_suffix(".new")
        fresh.write_text(json.dumps(self._saved), encoding="utf-8")
        os.replace(fresh, self._path)
