"""What a partition knows of its producers: idempotence, fencing, and open transactions.

For each producer id: its epoch and its last five batches. A batch that is among them is a duplicate and is
answered with the offsets it already has; otherwise its first sequence must follow the last one (after
2^31 - 1 comes 0), a new epoch must begin at 0, and a lower epoch is fenced off. A producer that is not known
here (its records are deleted, or it was idle for `producer.id.expiration.ms`) may begin anywhere (KIP-360).

A transaction is open from its first batch to its marker, and stays *unstable* until the marker lies below
the high watermark: `first_unstable_offset` is what holds the last stable offset back. Its first batch needs
a `Verification`, which says that the coordinator knows of it; a marker takes verifications away.

The state is a function of the log: it is written as a snapshot at every roll and at close, and after a crash
or a truncation it is read from the newest snapshot and the batches after it (`replay`). Checks come before
the append (`check`, `stage`), changes after it (`commit`), so a failed write leaves no trace.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from ottla.log.append_origin import AppendOrigin
from ottla.log.producer_snapshot import SnapshotEntry
from ottla.log.verification import VERIFICATION_OFF, Verification
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.limits import VERIFICATIONS_MAX
from ottla.wire.record_batch import TRANSACTIONAL_BIT, BatchHeader, EndTxnMarker

BATCHES_MAX: Final = 5
"""Kafka's: a producer has at most five requests in flight, so no older batch can come again."""

SEQUENCE_MAX: Final = 2**31 - 1
NO_SEQUENCE: Final = -1
NO_EPOCH: Final = -1
NO_OFFSET: Final = -1

EPOCH_PER_TRANSACTION: Final = 2
"""The `transaction.version` from which on every transaction ends with an epoch of its own (KIP-890)."""


class AppendedBatch(NamedTuple):
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @property
    def first_sequence(self) -> int:
        return (self.last_sequence - self.offset_delta) & SEQUENCE_MAX

    @property
    def first_offset(self) -> int:
        return self.last_offset - self.offset_delta


class CompletedTxn(NamedTuple):
    producer_id: int
    first_offset: int
    last_offset: int
    aborted: bool


class ProducerEntry:
    """One producer, as this partition knows it."""

    __slots__ = ("producer_id", "epoch", "coordinator_epoch", "last_timestamp", "txn_first_offset", "batches")

    def __init__(self, producer_id: int) -> None:
        self.producer_id = producer_id
        self.epoch = NO_EPOCH
        self.coordinator_epoch = -1
        self.last_timestamp = -1
        self.txn_first_offset = NO_OFFSET
        self.batches: list[AppendedBatch] = []
        """The last five of this epoch, oldest first."""

    def __repr__(self) -> str:
        return (
            f"ProducerEntry(producer_id={self.producer_id}, epoch={self.epoch}, "
            f"last_sequence={self.last_sequence}, txn_first_offset={self.txn_first_offset})"
        )

    def copy(self) -> ProducerEntry:
        other = ProducerEntry(self.producer_id)
        other.epoch = self.epoch
        other.coordinator_epoch = self.coordinator_epoch
        other.last_timestamp = self.last_timestamp
        other.txn_first_offset = self.txn_first_offset
        other.batches = self.batches.copy()
        return other

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    @property
    def last_offset(self) -> int:
        return self.batches[-1].last_offset if self.batches else NO_OFFSET

    def find_duplicate(self, epoch: int, first_sequence: int, last_sequence: int) -> AppendedBatch | None:
        if epoch == self.epoch:
            for batch in self.batches:
                if batch.last_sequence == last_sequence and batch.first_sequence == first_sequence:
                    return batch
        return None

    def check_epoch(self, epoch: int) -> None:
        if epoch < self.epoch:
            raise KafkaError(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"epoch {epoch} of producer {self.producer_id} is below the last seen epoch {self.epoch}",
            )

    def check_sequence(self, epoch: int, first_sequence: int) -> None:
        if self.epoch == NO_EPOCH:
            return
        if epoch != self.epoch:
            if first_sequence != 0:
                raise KafkaError(
                    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                    f"epoch {epoch} of producer {self.producer_id} is new and begins with sequence "
                    f"{first_sequence} instead of 0",
                )
            return
        last = self.last_sequence
        if first_sequence != last + 1 and not (first_sequence == 0 and last == SEQUENCE_MAX):
            raise KafkaError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"sequence {first_sequence} of producer {self.producer_id} does not follow {last}",
            )

    def check_marker_epoch(self, epoch: int, transaction_version: int) -> None:
        """Markers of the second generation have an epoch above that of their records. With the same one it
        comes late, and would end the next transaction; unless none is open, then it is a marker sent again.
        """
        if (
            transaction_version >= EPOCH_PER_TRANSACTION
            and epoch == self.epoch
            and self.txn_first_offset != NO_OFFSET
        ):
            raise KafkaError(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"a marker with epoch {epoch} of producer {self.producer_id} came while the transaction of "
                "that epoch is open",
            )
        self.check_epoch(epoch)

    def is_in_transaction(self, epoch: int) -> bool:
        """Whether a batch with this epoch continues an open transaction. One with a newer epoch may not: the
        transaction may have ended, and its marker be on the way.
        """
        return self.txn_first_offset != NO_OFFSET and self.epoch == epoch

    def check_transaction(self, transactional: bool) -> None:
        if self.txn_first_offset != NO_OFFSET and not transactional:
            raise KafkaError(
                ErrorCode.INVALID_TXN_STATE,
                f"producer {self.producer_id} has an open transaction, the batch is not part of it",
            )

    def check_coordinator_epoch(self, coordinator_epoch: int) -> None:
        if coordinator_epoch < self.coordinator_epoch:
            raise KafkaError(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"the marker for producer {self.producer_id} has coordinator epoch {coordinator_epoch}, "
                f"below {self.coordinator_epoch}",
            )

    def set_epoch(self, epoch: int) -> None:
        if epoch != self.epoch:
            self.epoch = epoch
            self.batches.clear()

    def add_batch(self, epoch: int, last_sequence: int, last_offset: int, delta: int, timestamp: int) -> None:
        batches = self.batches
        if epoch != self.epoch:
            self.epoch = epoch
            batches.clear()
        elif len(batches) >= BATCHES_MAX:
            del batches[0]
        batches.append(AppendedBatch(last_sequence, last_offset, delta, timestamp))
        self.last_timestamp = timestamp


class StagedUpdate:
    """What an append of several batches, or of a marker, will change, on copies until it is committed."""

    __slots__ = ("entries", "settled", "started", "completed", "duplicate")

    def __init__(self) -> None:
        self.entries: dict[int, ProducerEntry] = {}
        self.settled: list[tuple[int, int]] = []
        """Producers whose verification this append ends, each with the epoch if it is a marker that does."""
        self.started: dict[int, int] = {}
        self.completed: list[CompletedTxn] = []
        self.duplicate: AppendedBatch | None = None


class ProducerState:
    __slots__ = (
        "_entries",
        "_ongoing",
        "_unreplicated",
        "_verifications",
        "first_unstable_offset",
        "end_offset",
    )

    def __init__(self) -> None:
        self._entries: dict[int, ProducerEntry] = {}
        self._ongoing: dict[int, int] | None = None
        """Open transactions: first offset -> producer id, in the order of the offsets."""
        self._unreplicated: dict[int, int] | None = None
        """Ended ones whose marker is not below the high watermark yet: first offset -> marker's offset."""
        self._verifications: dict[int, Verification] | None = None
        """By producer id. They belong to this leader's memory, not to the log: nothing restores them."""
        self.first_unstable_offset = NO_OFFSET
        """The first offset of the oldest transaction that is open or not yet replicated; -1 when none is."""
        self.end_offset = 0
        """The state covers the log up to here."""

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[ProducerEntry]:
        return iter(self._entries.values())

    def get(self, producer_id: int) -> ProducerEntry | None:
        return self._entries.get(producer_id)

    @property
    def is_empty(self) -> bool:
        return not self._entries and not self._unreplicated and not self._verifications

    def has_open_transaction(self, producer_id: int) -> bool:
        entry = self._entries.get(producer_id)
        return entry is not None and entry.txn_first_offset != NO_OFFSET

    def is_in_transaction(self, producer_id: int, epoch: int) -> bool:
        """Whether a batch of this producer continues a transaction, so that nobody has to be asked."""
        entry = self._entries.get(producer_id)
        return entry is not None and entry.txn_first_offset != NO_OFFSET and entry.epoch == epoch

    @property
    def first_undecided_offset(self) -> int:
        """The first offset of the oldest transaction without a marker; -1 when none is open."""
        return next(iter(self._ongoing)) if self._ongoing else NO_OFFSET

    # --- one data batch: the hot path

    def check(
        self, header: BatchHeader, origin: AppendOrigin, verification: Verification | None = None
    ) -> AppendedBatch | None:
        """Raises KafkaError when the producer may not append this data batch. A batch that it appended
        before is returned: nothing is to be written, the answer is its old offsets.
        """
        epoch = header.producer_epoch
        entry = self._entries.get(header.producer_id)
        if header.attributes & TRANSACTIONAL_BIT and (
            entry is None or entry.txn_first_offset == NO_OFFSET or epoch != entry.epoch
        ):
            return self._check_first_of_transaction(entry, header, origin, verification)
        if entry is None:
            return None
        if origin is AppendOrigin.CLIENT:
            batches = entry.batches
            first_sequence = header.base_sequence
            if not batches or epoch != entry.epoch or first_sequence != batches[-1].last_sequence + 1:
                duplicate = entry.find_duplicate(epoch, first_sequence, header.last_sequence)
                if duplicate is not None:
                    return duplicate
                entry.check_epoch(epoch)
                entry.check_sequence(epoch, first_sequence)
        else:
            entry.check_epoch(epoch)
        if entry.txn_first_offset != NO_OFFSET:
            entry.check_transaction(header.is_transactional)
        return None

    def _check_first_of_transaction(
        self,
        entry: ProducerEntry | None,
        header: BatchHeader,
        origin: AppendOrigin,
        shown: Verification | None,
    ) -> AppendedBatch | None:
        """A transactional batch that continues no open transaction: does the coordinator know of it?

        A coordinator on this broker that shows nothing is trusted: it asks and appends in one go.
        """
        epoch = header.producer_epoch
        producer_id = header.producer_id
        from_client = origin is AppendOrigin.CLIENT
        if entry is not None:
            if from_client:
                duplicate = entry.find_duplicate(epoch, header.base_sequence, header.last_sequence)
                if duplicate is not None:
                    return duplicate
            # Before the verification: the producer can recover from this one, and from the other it cannot.
            entry.check_epoch(epoch)
        begun = self._verifications.get(producer_id) if self._verifications is not None else None
        is_needed = from_client if shown is None else shown is not VERIFICATION_OFF
        if is_needed and (shown is None or shown is not begun):
            raise KafkaError(
                ErrorCode.INVALID_TXN_STATE,
                f"the batch of producer {producer_id} is not part of an ongoing transaction",
            )
        if from_client:
            if begun is not None:
                begun.check_sequence(
                    producer_id, header.base_sequence, is_known=entry is not None and bool(entry.batches)
                )
            if entry is not None:
                entry.check_sequence(epoch, header.base_sequence)
        return None

    def commit(self, header: BatchHeader, first_offset: int, timestamp: int) -> None:
        """Notes a data batch that was appended at `first_offset`."""
        producer_id = header.producer_id
        entry = self._entries.get(producer_id)
        if entry is None:
            entry = self._entries[producer_id] = ProducerEntry(producer_id)
        delta = header.last_offset_delta
        entry.add_batch(header.producer_epoch, header.last_sequence, first_offset + delta, delta, timestamp)
        if header.attributes & TRANSACTIONAL_BIT:
            if entry.txn_first_offset == NO_OFFSET:
                entry.txn_first_offset = first_offset
                self._start(first_offset, producer_id)
            if self._verifications is not None:
                self._settle(producer_id, NO_EPOCH)

    # --- several batches at once, or a marker

    def stage(
        self,
        update: StagedUpdate,
        header: BatchHeader,
        first_offset: int,
        timestamp: int,
        marker: EndTxnMarker | None,
        origin: AppendOrigin,
        checked: bool = True,
        verification: Verification | None = None,
        transaction_version: int = 0,
    ) -> bool:
        """Checks one batch of an append and adds it to `update`; False when it is a duplicate, which makes
        the whole append one (`update.duplicate`). `checked` False takes it over as it is.

        `transaction_version` is the generation of the transaction that a marker ends.
        """
        producer_id = header.producer_id
        entry = update.entries.get(producer_id)
        if entry is None:
            known = self._entries.get(producer_id)
            entry = known.copy() if known is not None else ProducerEntry(producer_id)
            update.entries[producer_id] = entry
        epoch = header.producer_epoch
        if marker is not None:
            if checked:
                entry.check_marker_epoch(epoch, transaction_version)
                entry.check_coordinator_epoch(marker.coordinator_epoch)
            completed = _end_transaction(entry, epoch, marker, first_offset, timestamp)
            update.settled.append((producer_id, epoch))
            if completed is not None:
                update.completed.append(completed)
            return True
        if checked:
            if header.is_transactional and not entry.is_in_transaction(epoch):
                update.duplicate = self._check_first_of_transaction(entry, header, origin, verification)
            else:
                if origin is AppendOrigin.CLIENT:
                    update.duplicate = entry.find_duplicate(epoch, header.base_sequence, header.last_sequence)
                if update.duplicate is None:
                    entry.check_epoch(epoch)
                    if origin is AppendOrigin.CLIENT:
                        entry.check_sequence(epoch, header.base_sequence)
                    entry.check_transaction(header.is_transactional)
            if update.duplicate is not None:
                return False
        delta = header.last_offset_delta
        entry.add_batch(epoch, header.last_sequence, first_offset + delta, delta, timestamp)
        if header.is_transactional:
            update.settled.append((producer_id, NO_EPOCH))
            if entry.txn_first_offset == NO_OFFSET:
                entry.txn_first_offset = first_offset
                update.started[first_offset] = producer_id
        return True

    def commit_staged(self, update: StagedUpdate) -> list[tuple[CompletedTxn, int]]:
        """Takes over a staged update. Returns each transaction that ended, with the last stable offset that
        its end leaves, as the transaction index wants it.
        """
        self._entries.update(update.entries)
        for first_offset, producer_id in update.started.items():
            self._start(first_offset, producer_id)
        if self._verifications is not None:
            for producer_id, marker_epoch in update.settled:
                self._settle(producer_id, marker_epoch)
        return [(txn, self._complete(txn)) for txn in update.completed]

    # --- batches that are in the log already

    def replay(
        self, header: BatchHeader, timestamp: int, marker: EndTxnMarker | None
    ) -> tuple[CompletedTxn, int] | None:
        """Takes over a batch without checks: a leader accepted it. Used by followers and by recovery."""
        producer_id = header.producer_id
        if header.is_control:
            if marker is None:
                return None
            entry = self._entries.get(producer_id)
            if entry is None:
                entry = self._entries[producer_id] = ProducerEntry(producer_id)
            completed = _end_transaction(entry, header.producer_epoch, marker, header.base_offset, timestamp)
            if self._verifications is not None:
                self._settle(producer_id, header.producer_epoch)
            return None if completed is None else (completed, self._complete(completed))
        if header.record_count == 0:
            # What compaction left of a producer's last batch, for its sequence: its transaction is decided,
            # and the marker may be gone.
            header = header._replace(attributes=header.attributes & ~TRANSACTIONAL_BIT)
        self.commit(header, header.base_offset, timestamp)
        return None

    # --- verifications

    def begin_verification(
        self, producer_id: int, epoch: int, first_sequence: int, *, bumps_epochs: bool, now_ms: int
    ) -> Verification | None:
        """What an append of this batch has to show once the coordinator has agreed; None when the batch
        continues a transaction and needs nothing. Raises KafkaError(INVALID_PRODUCER_EPOCH).
        """
        entry = self._entries.get(producer_id)
        if entry is not None:
            entry.check_epoch(epoch)
            if entry.is_in_transaction(epoch):
                return None
        if self._verifications is None:
            self._verifications = {}
        begun = self._verifications.get(producer_id)
        if begun is None:
            if len(self._verifications) >= VERIFICATIONS_MAX:
                del self._verifications[next(iter(self._verifications))]
            begun = Verification(epoch, first_sequence, bumps_epochs=bumps_epochs, now_ms=now_ms)
            self._verifications[producer_id] = begun
        else:
            begun.asked_again(epoch, first_sequence)
        return begun

    def give_up_verification(self, producer_id: int, verification: Verification) -> None:
        """The coordinator does not know this producer, so nothing has to be remembered for it."""
        if self._verifications is not None and self._verifications.get(producer_id) is verification:
            del self._verifications[producer_id]

    def forget_verifications(self) -> None:
        """No leader any more: whoever comes back with an answer finds nothing to show it to."""
        self._verifications = None

    def _settle(self, producer_id: int, marker_epoch: int) -> None:
        """A batch has opened the transaction, or a marker has ended it: the verification is used up. But a
        marker of the second generation has the next transaction's epoch, which may be waiting already.
        """
        assert self._verifications is not None
        begun = self._verifications.get(producer_id)
        if begun is None or (begun.bumps_epochs and begun.epoch == marker_epoch):
            return
        del self._verifications[producer_id]
        if not self._verifications:
            self._verifications = None

    # --- transactions

    def _start(self, first_offset: int, producer_id: int) -> None:
        if self._ongoing is None:
            self._ongoing = {}
        self._ongoing[first_offset] = producer_id
        self._find_first_unstable()

    def _complete(self, txn: CompletedTxn) -> int:
        """Ends a transaction; returns the last stable offset as of its end, were all of it replicated."""
        if self._ongoing is not None:
            self._ongoing.pop(txn.first_offset, None)
        if self._unreplicated is None:
            self._unreplicated = {}
        self._unreplicated[txn.first_offset] = txn.last_offset
        self._find_first_unstable()
        return next(iter(self._ongoing)) if self._ongoing else txn.last_offset + 1

    def _find_first_unstable(self) -> None:
        first = next(iter(self._ongoing)) if self._ongoing else NO_OFFSET
        if self._unreplicated:
            ended = min(self._unreplicated)
            if first == NO_OFFSET or ended < first:
                first = ended
        self.first_unstable_offset = first

    def on_high_watermark(self, high_watermark: int) -> None:
        """Transactions whose marker lies below the high watermark are decided for good."""
        unreplicated = self._unreplicated
        if not unreplicated:
            return
        for first_offset in [first for first, last in unreplicated.items() if last < high_watermark]:
            del unreplicated[first_offset]
        if not unreplicated:
            self._unreplicated = None
        self._find_first_unstable()

    # --- expiry, snapshots, truncation

    def is_expired(self, entry: ProducerEntry, now_ms: int, expiration_ms: int) -> bool:
        return entry.txn_first_offset == NO_OFFSET and now_ms - entry.last_timestamp >= expiration_ms

    def expire(self, now_ms: int, expiration_ms: int) -> int:
        """Forgets producers that wrote nothing for so long, unless they have a transaction open."""
        gone = [e.producer_id for e in self._entries.values() if self.is_expired(e, now_ms, expiration_ms)]
        for producer_id in gone:
            del self._entries[producer_id]
        if self._verifications is not None:
            self._verifications = {
                producer_id: begun
                for producer_id, begun in self._verifications.items()
                if now_ms - begun.begun_ms < expiration_ms
            } or None
        return len(gone)

    def clear(self, end_offset: int) -> None:
        self._entries = {}
        self._ongoing = None
        self._unreplicated = None
        self._verifications = None
        self.first_unstable_offset = NO_OFFSET
        self.end_offset = end_offset

    def to_snapshot(self) -> list[SnapshotEntry]:
        return [
            SnapshotEntry(
                producer_id=entry.producer_id,
                epoch=entry.epoch,
                last_sequence=entry.last_sequence,
                last_offset=entry.last_offset,
                offset_delta=entry.batches[-1].offset_delta if entry.batches else 0,
                timestamp=entry.last_timestamp,
                coordinator_epoch=entry.coordinator_epoch,
                txn_first_offset=entry.txn_first_offset,
            )
            for entry in self._entries.values()
        ]

    def load_snapshot(
        self, entries: list[SnapshotEntry], end_offset: int, now_ms: int, expiration_ms: int
    ) -> None:
        """Begins anew from a snapshot. It holds only the last batch of each producer, as Kafka's does."""
        self.clear(end_offset)
        ongoing: dict[int, int] = {}
        for saved in entries:
            entry = ProducerEntry(saved.producer_id)
            entry.epoch = saved.epoch
            entry.coordinator_epoch = saved.coordinator_epoch
            entry.last_timestamp = saved.timestamp
            entry.txn_first_offset = saved.txn_first_offset if saved.txn_first_offset >= 0 else NO_OFFSET
            if saved.last_offset >= 0:
                entry.batches.append(
                    AppendedBatch(saved.last_sequence, saved.last_offset, saved.offset_delta, saved.timestamp)
                )
            if self.is_expired(entry, now_ms, expiration_ms):
                continue
            self._entries[saved.producer_id] = entry
            if entry.txn_first_offset != NO_OFFSET:
                ongoing[entry.txn_first_offset] = saved.producer_id
        if ongoing:
            self._ongoing = dict(sorted(ongoing.items()))
            self._find_first_unstable()


def _end_transaction(
    entry: ProducerEntry, epoch: int, marker: EndTxnMarker, offset: int, timestamp: int
) -> CompletedTxn | None:
    """A marker without a transaction that wrote something here changes only epochs."""
    completed = None
    if entry.txn_first_offset != NO_OFFSET:
        completed = CompletedTxn(entry.producer_id, entry.txn_first_offset, offset, not marker.committed)
        entry.txn_first_offset = NO_OFFSET
    entry.set_epoch(epoch)
    entry.coordinator_epoch = marker.coordinator_epoch
    entry.last_timestamp = timestamp
    return completed
