"""The transactional ids of one shard: what the log says of each, and which of them are due for something.

Only `replay` changes them. They are indexed there and then, also while the log is being loaded: that goes in
slices, and whoever loads replays only the last record of an id.
"""

from __future__ import annotations

from collections.abc import Iterator

from ottla.coordination.outcome import Outcome
from ottla.coordination.record import CoordinatorRecord
from ottla.transactions.deadlines import Deadlines
from ottla.transactions.environment import Environment
from ottla.transactions.markers import to_end
from ottla.transactions.record import tombstone, transaction_of, transaction_record
from ottla.transactions.states import EXPIRABLE, TRANSITIONS, State
from ottla.transactions.transaction import Transaction


class Registry:
    __slots__ = ("env", "coordinator_epoch", "time_outs", "idle", "_by_id", "_is_loaded")

    def __init__(self, env: Environment, coordinator_epoch: int) -> None:
        self.env = env
        self.coordinator_epoch = coordinator_epoch
        """The leader epoch of the shard's partition. Markers carry it: those of an older one are refused."""
        self.time_outs = Deadlines()
        """Open transactions by the moment at which they have lasted too long."""
        self.idle = Deadlines()
        """Ids with nothing open by the moment of their last change."""
        self._by_id: dict[str, Transaction] = {}
        self._is_loaded = False

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Transaction]:
        return iter(self._by_id.values())

    def get(self, transactional_id: str) -> Transaction | None:
        return self._by_id.get(transactional_id)

    # --- the log ------------------------------------------------------------------------------------------

    def replay(self, record: CoordinatorRecord) -> None:
        """Raises DecodeError for what makes no sense."""
        transactional_id: str = record.key.transactional_id
        before = self._by_id.get(transactional_id)
        after = None if record.value is None else transaction_of(transactional_id, record.value)
        if self._is_loaded:
            # The records of a log that was compacted may jump; decisions may not.
            _assert_way(before, after)
        if after is None:
            self._by_id.pop(transactional_id, None)
        else:
            self._by_id[transactional_id] = after
        self._index(transactional_id, after)

    def loaded(self) -> None:
        self._is_loaded = True

    def _index(self, transactional_id: str, transaction: Transaction | None) -> None:
        times_out_ms = None if transaction is None else transaction.times_out_ms
        if times_out_ms is None:
            self.time_outs.discard(transactional_id)
        else:
            self.time_outs.set(transactional_id, times_out_ms)
        if transaction is None or transaction.state not in EXPIRABLE:
            self.idle.discard(transactional_id)
        else:
            self.idle.set(transactional_id, transaction.updated_ms)

    # --- what decisions ask for ---------------------------------------------------------------------------

    def change(self, outcome: Outcome, transaction: Transaction) -> None:
        """The outcome is to make the id what `transaction` says, and to write markers if that ends one."""
        outcome.records.append(transaction_record(transaction, self.env.version))
        if transaction.is_ending:
            outcome.then.append(to_end(transaction, self.coordinator_epoch))

    def forget(self, outcome: Outcome, transactional_id: str) -> None:
        outcome.records.append(tombstone(transactional_id))


def _assert_way(before: Transaction | None, after: Transaction | None) -> None:
    if before is None:
        assert after is None or after.state is State.EMPTY, f"{after} comes from nowhere"
        return
    state = State.DEAD if after is None else after.state
    assert state in TRANSITIONS[before.state], f"no way from {before} to {after}"
    if after is None:
        return
    if after.producer_id == before.producer_id:
        assert after.producer_epoch >= before.producer_epoch, f"the epoch went back from {before} to {after}"
    else:
        assert after.producer_epoch == 0, f"a new producer id begins with epoch 0: {after}"
    if before.state is State.ONGOING:
        assert after.partitions.keys() >= before.partitions.keys(), f"{before} lost partitions: {after}"
    if after.is_ending:
        assert len(after.partitions) == len(before.partitions), f"{after} grew at its end"
