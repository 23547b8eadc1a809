"""Which transactions a pass over the log is in the middle of, and what that means for its batches.

The transaction indexes say which ones were aborted and where each of them begins. Passing over the batches in
order, one that a producer writes between that offset and its abort marker is of no use to anybody and goes. A
marker stays as long as the pass has met a batch of its transaction, since a reader needs it to know that the
transaction has ended; a marker whose transaction has no batch any more may go after `delete.retention.ms`.
"""

from __future__ import annotations

from ottla.log.cleaning_job import CleaningFailed, CleaningJob
from ottla.log.index_file import DamagedIndex
from ottla.log.txn_index import AbortedTxn, TxnIndex
from ottla.model.limits import DECOMPRESSED_BATCH_BYTES_MAX
from ottla.ports.disk import Disk
from ottla.wire.record_batch import ControlType, control_type, decode_batch


def read_aborted(job: CleaningJob, disk: Disk) -> list[AbortedTxn]:
    """The aborted transactions of all segments and those whose markers lie behind them, as they ended."""
    found: list[AbortedTxn] = []
    for segment in job.segments:
        if segment.has_txn_index:
            index = TxnIndex(disk, job.dir_path, segment.base_offset, fresh=False)
            try:
                index.load()
                index.check()
                found += index.all()
            except DamagedIndex as error:
                raise CleaningFailed(str(error)) from error
            finally:
                index.rest()
    found += [AbortedTxn(*fields) for fields in job.later_aborted]
    return found


class _Ongoing:
    __slots__ = ("txn", "has_batches")

    def __init__(self, txn: AbortedTxn) -> None:
        self.txn = txn
        self.has_batches = False


class TransactionTracker:
    __slots__ = ("_to_come", "_aborted", "_committed", "still_aborted")

    def __init__(self, aborted: list[AbortedTxn], from_offset: int) -> None:
        """`aborted` may hold more than concerns a pass that begins at `from_offset`."""
        self._to_come = sorted(
            (txn for txn in aborted if txn.last_offset >= from_offset),
            key=lambda txn: txn.first_offset,
            reverse=True,
        )
        """Those that the pass has not reached; the next one is the last."""
        self._aborted: dict[int, _Ongoing] = {}
        self._committed: set[int] = set()
        self.still_aborted: list[AbortedTxn] = []
        """What belongs into the index of the segment that is being written: ended, and still with batches."""

    def _reach(self, offset: int) -> None:
        to_come = self._to_come
        while to_come and to_come[-1].first_offset <= offset:
            txn = to_come.pop()
            self._aborted.setdefault(txn.producer_id, _Ongoing(txn))

    def meets_batch(self, producer_id: int, last_offset: int) -> bool:
        """A transactional batch with records of a producer: whether they were aborted."""
        self._reach(last_offset)
        ongoing = self._aborted.get(producer_id)
        if ongoing is not None:
            ongoing.has_batches = True
            return True
        self._committed.add(producer_id)
        return False

    def meets_marker(self, producer_id: int, last_offset: int, kind: int | None) -> bool:
        """A control batch (`kind` is None when it is empty): whether nothing of its transaction is left."""
        self._reach(last_offset)
        if kind is None:
            return True
        if kind == ControlType.ABORT:
            ongoing = self._aborted.pop(producer_id, None)
            if ongoing is None or not ongoing.has_batches:
                return True
            self.still_aborted.append(ongoing.txn)
            return False
        if kind == ControlType.COMMIT:
            if producer_id in self._committed:
                self._committed.remove(producer_id)
                return False
            return True
        return False


def marker_kind(view: memoryview, at: int) -> int | None:
    """What the control batch at `at` says; None for one that has no record any more."""
    records = decode_batch(view, at, decompressed_bytes_max=DECOMPRESSED_BATCH_BYTES_MAX)
    return control_type(records[0].key) if records else None
