"""Follows the logs of a simulated broker as they grow, and holds its transactions to what they say.

After every event the new batches are read: decisions in `__transaction_state`, records and markers in all
other partitions. From them follows what has to be true, without asking the code that is being checked:

- every marker belongs to a decision, with its outcome, that was below the high watermark by then;
- a decision is followed by its own completion and nothing else, and that only when each partition that still
  exists has its marker;
- the epochs of a producer id never go back;
- the last stable offset of a partition is where its first undecided transaction begins, or the high
  watermark;
- the index of aborted transactions holds those that markers aborted, also after a restart.

At random moments, and after every restart, the coordinator's memory is compared with a replay of its log.
When the broker comes back, nothing below the high watermark may be gone. (`GroupChecker` does the same for
offsets.)
"""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ottla.broker.node import Node
from ottla.broker.transaction_host import TransactionHost
from ottla.log.log import Log
from ottla.log.segment import marker_in
from ottla.model.types import TRANSACTION_STATE_TOPIC, TopicPartition
from ottla.testing.cluster import SimBroker
from ottla.testing.ledger import Violation
from ottla.testing.txn_books import TxnBooks
from ottla.transactions.record import decode_record, transaction_of
from ottla.transactions.shard import TransactionShard
from ottla.transactions.states import COMMITTED, ENDING, State
from ottla.transactions.transaction import NO_EPOCH, Transaction
from ottla.wire.record_batch import BatchHeader, Record, decode_batch, iter_headers

READ_BYTES: Final = 1 << 20

FOLLOWS: Final = {
    State.PREPARE_COMMIT: State.COMPLETE_COMMIT,
    State.PREPARE_ABORT: State.COMPLETE_ABORT,
}


class _Batch(NamedTuple):
    header: BatchHeader
    data: bytes
    at: int

    def records(self) -> list[Record]:
        return decode_batch(self.data, self.at, decompressed_bytes_max=1 << 24)


def batches_of(log: Log, begin: int) -> Iterator[_Batch]:
    """The log's batches from `begin` to its very end."""
    offset = max(begin, log.log_start_offset)
    end = log.log_end_offset
    while offset < end:
        found = log.read(offset, READ_BYTES, upto_offset=end)
        if found.slice is None:
            raise Violation(f"{log} cannot be read at {offset} of {end}")
        try:
            data = found.slice.read()
        finally:
            found.slice.release()
        for at, header in iter_headers(data, 0, len(data)):
            if at + header.size_bytes <= len(data) and header.next_offset > offset:
                offset = header.next_offset
                yield _Batch(header, data, at)


@dataclass(slots=True, eq=False)
class _Decision:
    transaction: Transaction
    partition: TopicPartition
    """Of `__transaction_state`."""
    offset: int
    marked: dict[TopicPartition, int] = field(default_factory=dict)


class _Ended(NamedTuple):
    producer_id: int
    first_offset: int
    marker_offset: int
    committed: bool


@dataclass(slots=True, eq=False)
class _Followed:
    """One partition that transactions write to."""

    log: Log
    end: int = 0
    high_watermark: int = 0
    open: dict[int, int] = field(default_factory=dict)
    """By producer id, the first offset."""
    ended: list[_Ended] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class _FollowedState:
    """One partition of `__transaction_state`."""

    log: Log
    end: int = 0
    high_watermark: int = 0
    history: dict[str, list[tuple[int, Transaction | None]]] = field(default_factory=dict)


def shard_state(shard: TransactionShard) -> dict[str, Transaction]:
    """What the log determines."""
    return {each.transactional_id: each._replace(last_producer_epoch=NO_EPOCH) for each in shard.registry}


def state_from_log(host: TransactionHost) -> dict[str, Transaction]:
    shard = TransactionShard(host.shard.registry.env, host.shard.registry.coordinator_epoch)
    for batch in batches_of(host.partition.log, 0):
        if batch.header.is_control:
            continue
        for record in batch.records():
            if record.offset <= host.last_offset and record.key is not None:
                typed = decode_record(record.key, record.value)
                if typed is not None:
                    shard.replay(typed, record.offset, -1)
    return shard_state(shard)


class TxnChecker:
    def __init__(self, broker: SimBroker, books: TxnBooks, report: Counter[str]) -> None:
        self._broker = broker
        self._books = books
        self._report = report
        self._data: dict[TopicPartition, _Followed] = {}
        self._states: dict[TopicPartition, _FollowedState] = {}
        self._decisions: dict[int, list[_Decision]] = {}
        """By producer id, the newest last."""
        self._unloaded: set[int] = set()

    # -- after every event --

    def look(self) -> None:
        node = self._broker.node
        if node is None:
            return
        for fault in (*node.transactions.faults, *node.groups.faults):
            raise Violation("a decision failed:\n" + "".join(traceback.format_exception(fault)))
        if not self._broker.up or not node.serving:
            return
        self._follow(node)
        for host in node.transactions.hosts.values():
            index = host.partition.tp.partition
            if index in self._unloaded and not host.loading and not host.over:
                self._unloaded.discard(index)
                self._compare(host)
                self._report["restarts_compared"] += 1

    def _follow(self, node: Node) -> None:
        completed: list[_Decision] = []
        moved: list[tuple[TopicPartition, _Followed]] = []
        for partition in node.partitions.values():
            log = partition.log
            tp = partition.tp
            if tp.topic == TRANSACTION_STATE_TOPIC:
                state = self._states.get(tp)
                if state is None:
                    state = self._states[tp] = _FollowedState(log)
                if state.end != log.log_end_offset:
                    completed += self._follow_state(tp, state)
                state.high_watermark = log.high_watermark
                continue
            followed = self._data.get(tp)
            if followed is None or followed.log is not log:
                # Made anew under the same name, if it is not the first time.
                followed = self._data[tp] = _Followed(log)
            if (followed.end, followed.high_watermark) != (log.log_end_offset, log.high_watermark):
                moved.append((tp, followed))
        for tp, followed in moved:
            if followed.end != followed.log.log_end_offset:
                self._follow_data(tp, followed, new_from=followed.end)
            followed.high_watermark = followed.log.high_watermark
            self._check_stable(tp, followed)
        for decision in completed:
            self._check_complete(node, decision)

    def _follow_state(self, tp: TopicPartition, state: _FollowedState) -> list[_Decision]:
        completed: list[_Decision] = []
        for batch in batches_of(state.log, state.end):
            for record in () if batch.header.is_control else batch.records():
                assert record.key is not None
                typed = decode_record(record.key, record.value)
                if typed is None:
                    continue
                name: str = typed.key.transactional_id
                after = None if typed.value is None else transaction_of(name, typed.value)
                history = state.history.setdefault(name, [])
                before = history[-1][1] if history else None
                history.append((record.offset, after))
                if before is not None:
                    self._check_step(before, after)
                if after is not None and after.state in ENDING:
                    decisions = self._decisions.setdefault(after.producer_id, [])
                    decisions.append(_Decision(after, tp, record.offset))
                    if after.state is State.PREPARE_ABORT:
                        self._books.taken_away.add((after.producer_id, after.producer_epoch))
                elif before is not None and before.state in ENDING:
                    completed.append(self._decisions[before.producer_id][-1])
        state.end = state.log.log_end_offset
        return completed

    def _check_step(self, before: Transaction, after: Transaction | None) -> None:
        if before.state in FOLLOWS and (after is None or after.state is not FOLLOWS[before.state]):
            raise Violation(f"a decided outcome changed: {before} is followed by {after}")
        if (
            after is not None
            and after.producer_id == before.producer_id
            and after.producer_epoch < before.producer_epoch
        ):
            raise Violation(f"the epoch went back: {before} is followed by {after}")

    def _follow_data(self, tp: TopicPartition, followed: _Followed, *, new_from: int) -> None:
        for batch in batches_of(followed.log, followed.end):
            header = batch.header
            if not header.is_control:
                if header.is_transactional and header.record_count:
                    followed.open.setdefault(header.producer_id, header.base_offset)
                continue
            marker = marker_in(batch.data, batch.at)
            if marker is None:
                continue
            first = followed.open.pop(header.producer_id, None)
            if first is not None:
                followed.ended.append(_Ended(header.producer_id, first, header.base_offset, marker.committed))
            if header.base_offset >= new_from:
                self._report["markers_commit" if marker.committed else "markers_abort"] += 1
                self._check_marker(tp, header, marker.committed)
        followed.end = followed.log.log_end_offset

    def _check_marker(self, tp: TopicPartition, header: BatchHeader, committed: bool) -> None:
        outcome = "commit" if committed else "abort"
        what = f"{tp}@{header.base_offset}: producer {header.producer_id} has {outcome}"
        decisions = self._decisions.get(header.producer_id)
        decision = decisions[-1] if decisions else None
        if decision is not None and (committed, header.producer_epoch) == (
            decision.transaction.state in COMMITTED,
            decision.transaction.producer_epoch,
        ):
            if self._states[decision.partition].log.high_watermark <= decision.offset:
                raise Violation(f"{what} marked before {decision.transaction} was committed")
            decision.marked[tp] = header.base_offset
            return
        by_hand = any((where, who) == (tp, header.producer_id) for where, who, _ in self._books.admin_aborts)
        if committed or not by_hand:
            raise Violation(f"{what} marked with epoch {header.producer_epoch}, and decided is {decision}")

    def _check_complete(self, node: Node, decision: _Decision) -> None:
        for tp in decision.transaction.partitions:
            topic = node.image.topics.get(tp.topic)
            if topic is None or tp.partition not in topic.partitions or self._books.is_deleted(tp):
                continue
            if tp not in decision.marked:
                raise Violation(f"{decision.transaction} was completed, and {tp} has no marker")
            if node.partitions[tp].log.high_watermark <= decision.marked[tp]:
                raise Violation(
                    f"{decision.transaction} was completed before the marker in {tp} was committed"
                )
        self._report["completions_checked"] += 1

    def _check_stable(self, tp: TopicPartition, followed: _Followed) -> None:
        log = followed.log
        high_watermark = log.high_watermark
        expected = high_watermark
        for first in followed.open.values():
            expected = min(expected, first)
        for ended in followed.ended:
            if ended.marker_offset >= high_watermark:
                expected = min(expected, ended.first_offset)
        expected = max(expected, log.log_start_offset)
        if log.last_stable_offset != expected:
            raise Violation(
                f"{tp}: the last stable offset is {log.last_stable_offset}, not {expected} (high watermark "
                f"{high_watermark}, open {followed.open})"
            )

    # -- against the log --

    def compare_with_log(self) -> None:
        node = self._broker.node
        if node is None or not self._broker.up or not node.serving:
            return
        for host in node.transactions.hosts.values():
            if not host.loading and not host.over:
                self._compare(host)
                self._report["replays_compared"] += 1
        self._check_indexes()

    def _compare(self, host: TransactionHost) -> None:
        live, logged = shard_state(host.shard), state_from_log(host)
        for name in sorted(live.keys() | logged.keys()):
            if live.get(name) != logged.get(name):
                raise Violation(
                    f"{host.partition.tp}: {name} is\n  {live.get(name)}\nthe log says\n  {logged.get(name)}"
                )

    def _check_indexes(self) -> None:
        """The aborted transactions that readers are told of are those that were aborted."""
        node = self._broker.node
        assert node is not None
        for tp, followed in self._data.items():
            partition = node.partitions.get(tp)
            if partition is None or partition.log is not followed.log or tp.topic.startswith("__"):
                continue
            log = followed.log
            start = log.log_start_offset
            found = set(log.aborted_transactions(start, log.log_end_offset))
            expected = {
                (each.producer_id, each.first_offset)
                for each in followed.ended
                if not each.committed and each.marker_offset >= start
            }
            if found != expected:
                raise Violation(
                    f"{tp}: aborted are {sorted(expected)}, the index has {sorted(found)} from {start} on"
                )
            self._report["indexes_checked"] += 1

    # -- across restarts --

    def came_up(self) -> None:
        """A new process has opened its logs, and has not written to them yet."""
        node = self._broker.node
        if node is None or not self._broker.up or not node.serving:
            return
        self._unloaded = {
            partition.tp.partition
            for partition in node.partitions.values()
            if partition.tp.topic == TRANSACTION_STATE_TOPIC
        }
        completed: list[_Decision] = []
        for tp, state in self._states.items():
            if tp in node.partitions:
                self._resume_state(tp, state, node.partitions[tp].log)
                completed += self._follow_state(tp, state)
        for tp, followed in list(self._data.items()):
            partition = node.partitions.get(tp)
            if partition is None:
                continue
            end = partition.log.log_end_offset
            self._check_kept(tp, followed.high_watermark, end)
            again = _Followed(partition.log)
            start = partition.log.log_start_offset
            again.open = {who: first for who, first in followed.open.items() if first < start}
            again.ended = [each for each in followed.ended if each.marker_offset < start]
            for each in followed.ended:
                if each.first_offset < start <= each.marker_offset:
                    again.open[each.producer_id] = each.first_offset
            self._data[tp] = again
            if tp.topic.startswith("__"):
                # Compaction may have taken what opened, or ended, a transaction: what was seen stays.
                again.open = {who: first for who, first in followed.open.items() if first < end}
                again.ended = [each for each in followed.ended if each.marker_offset < end]
                for each in followed.ended:
                    if each.first_offset < end <= each.marker_offset:
                        again.open[each.producer_id] = each.first_offset
                again.end = min(followed.end, end)
            for decisions in self._decisions.values():
                if decisions and decisions[-1].marked.get(tp, -1) >= end:
                    del decisions[-1].marked[tp]
            # What the last process wrote in the event that ended it was not seen yet.
            self._follow_data(tp, again, new_from=min(followed.end, end))
        for decision in completed:
            self._check_complete(node, decision)
        self._check_indexes()

    def _resume_state(self, tp: TopicPartition, state: _FollowedState, log: Log) -> None:
        end = log.log_end_offset
        self._check_kept(tp, state.high_watermark, end)
        state.log = log
        if end >= state.end:
            return
        state.end = end
        for history in state.history.values():
            while history and history[-1][0] >= end:
                history.pop()
        for decisions in self._decisions.values():
            while decisions and decisions[-1].partition == tp and decisions[-1].offset >= end:
                decisions.pop()

    def _check_kept(self, tp: TopicPartition, high_watermark: int, end: int) -> None:
        if end < high_watermark and not self._books.is_deleted(tp):
            raise Violation(f"{tp} ends at {end}, and everything below {high_watermark} was committed")

    # -- when all has ended --

    def unfinished(self) -> str | None:
        """What is still open; None when every transaction has ended everywhere."""
        node = self._broker.node
        if node is None or not self._broker.up:
            return "the broker is down"
        for host in node.transactions.hosts.values():
            if host.loading:
                return f"{host.partition.tp} is loading"
            for transaction in host.shard.registry:
                if transaction.state is State.ONGOING or transaction.is_ending:
                    return str(transaction)
        for partition in node.partitions.values():
            log = partition.log
            if log.last_stable_offset != log.log_end_offset:
                return (
                    f"{partition.tp} is stable to {log.last_stable_offset}, its end is {log.log_end_offset}"
                )
        for groups in node.groups.hosts.values():
            if groups.loading:
                return f"{groups.partition.tp} is loading"
            if groups.shard.offsets.pending:
                return f"{groups.partition.tp} has pending offsets"
        return None
