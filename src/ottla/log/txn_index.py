"""`.txnindex`: the aborted transactions whose abort marker lies in the segment.

A reader with `isolation.level=read_committed` gets the list of those that overlap what it fetched and skips
their records. An entry is 34 bytes: a version (0), producer id, first and last offset of the transaction
(the last is the marker's), and the last stable offset at the time of the abort, which says when a search may
stop: no transaction that began below it is aborted later. Most segments have none, and no file.
"""

from __future__ import annotations

from struct import Struct
from typing import Final, NamedTuple

from ottla.log.file_names import TXN_INDEX_SUFFIX
from ottla.log.index_file import DamagedIndex, IndexFile

_ENTRY: Final = Struct(">hqqqq")
_VERSION: Final = 0


class AbortedTxn(NamedTuple):
    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class TxnIndex(IndexFile):
    __slots__ = ()

    SUFFIX = TXN_INDEX_SUFFIX
    ENTRY_BYTES = 34

    def append(self, txn: AbortedTxn) -> None:
        self._append(_ENTRY.pack(_VERSION, *txn))

    def all(self) -> list[AbortedTxn]:
        data = b""
        if self._on_disk > 0:
            assert self._file is not None
            data = self._file.pread(self._on_disk * self.ENTRY_BYTES, 0)
        if self._pending:
            data += self._pending
        found = []
        for version, *fields in _ENTRY.iter_unpack(data):
            if version != _VERSION:
                raise DamagedIndex(f"{self.path} has an entry of version {version}")
            found.append(AbortedTxn(*fields))
        return found

    def truncate_to(self, offset: int) -> None:
        """Drops the transactions that were aborted at or after `offset`."""
        keep = 0
        for txn in self.all():
            if txn.last_offset >= offset:
                break
            keep += 1
        self._truncate_entries(keep)

    def check(self) -> None:
        last = -1
        for txn in self.all():
            if (
                txn.last_offset < self.base_offset
                or txn.last_offset <= last
                or txn.first_offset > txn.last_offset
            ):
                raise DamagedIndex(f"{self.path} has the impossible entry {txn}")
            last = txn.last_offset
