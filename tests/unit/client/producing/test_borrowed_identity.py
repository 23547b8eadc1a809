"""A transaction that one process owns and others write into: who asks what, and what stragglers meet. The
rules are those of KIP-98 (sequences, fencing), KIP-360 (an owner that goes on) and KIP-890 (verification).
"""

from __future__ import annotations

from typing import Any

import pytest
from producing_cluster import Fate
from producing_stage import Stage

from ottla.client.errors import (
    DeliveryTimedOut,
    IllegalState,
    InvalidTransactionTimeout,
    OperationTimedOut,
    ProducerFailed,
    ProducerFenced,
    ServerError,
    TransactionFailed,
)
from ottla.client.producing.core import ProducerCore
from ottla.client.producing.shared_transaction import SharedTransaction, TransactionHandle
from ottla.client.records import OffsetAndMetadata
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.record_batch import read_header

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
OFFSETS = {TopicPartition("in", 0): OffsetAndMetadata(41, "batch 7")}


class Shared:
    """An owner and the producers that borrow from it, on one scripted cluster."""

    def __init__(self, version: int = 2, **settings: Any) -> None:
        self.stage = Stage(start=False, transactional_id="app", linger_ms=0, batch_size=100, **settings)
        self.cluster = self.stage.cluster
        self.cluster.transaction_version = version
        self.cluster.create("t", 1, 2)
        self.cluster.create("in", 3)
        self.run = self.stage.run
        self.owner = self.make_owner()

    def make_owner(self) -> SharedTransaction:
        return SharedTransaction(
            self.stage.session,
            "app",
            transaction_timeout_ms=60_000,
            timeout_ms=self.stage.settings.max_block_ms,
        )

    def begin(self, earlier: TransactionHandle | None = None) -> TransactionHandle:
        handle: TransactionHandle = self.run(self.owner.init(earlier))
        self.run(self.owner.add_partitions(handle, [T0, T1]))
        return handle

    def producer(self, handle: TransactionHandle) -> ProducerCore:
        return ProducerCore(self.stage.session, self.stage.settings, borrowed=handle)

    def send(self, producer: ProducerCore, partition: int, *values: bytes) -> list[Any]:
        sent = [
            self.run(producer.append("t", partition, None, value, (), self.stage.clock.now_ms()))
            for value in values
        ]
        self.run(producer.flush())
        return sent

    def committed(self, partition: int) -> list[bytes | None]:
        return self.stage.log(partition).committed()

    def refuse(self, api: str, *codes: int) -> None:
        waiting = list(codes)

        def verdict(name: str, request: Any) -> int:
            return waiting.pop(0) if name == api and waiting else 0

        self.cluster.coordinator_verdict = verdict


@pytest.mark.parametrize("version", [1, 2])
def test_two_producers_write_into_one_transaction_and_its_owner_commits_it(version: int) -> None:
    """Produce stays below 12, in which brokers would add partitions themselves (KIP-890)."""
    shared = Shared(version)
    handle = shared.begin()
    first, second = shared.producer(handle), shared.producer(handle)
    shared.send(first, 0, b"a", b"b" * 90, b"c")
    shared.send(second, 1, b"d")
    assert shared.committed(0) == shared.committed(1) == []
    shared.run(shared.owner.send_offsets(handle, OFFSETS, "app"))
    shared.run(shared.owner.end(handle, committed=True))
    assert shared.committed(0) == [b"a", b"b" * 90, b"c"]
    assert shared.committed(1) == [b"d"]
    assert shared.cluster.group_offsets == {("app", TopicPartition("in", 0)): 41}
    produced = [(v, r) for name, v, _, r in shared.cluster.requests if name == "Produce"]
    assert {version for version, _ in produced} == {11}
    assert len(shared.cluster.sent("InitProducerId")) == 1
    firsts: dict[int, int] = {}
    for _, request in produced:
        for topic in request.topic_data:
            for data in topic.partition_data:
                header = read_header(data.records)
                assert (header.producer_id, header.producer_epoch) == handle.producer
                assert header.is_transactional
                firsts.setdefault(data.index, header.base_sequence)
    assert firsts == {0: 0, 1: 0}


def test_an_abort_leaves_nothing_visible_and_a_straggler_is_refused() -> None:
    shared = Shared()
    handle = shared.begin()
    straggler = shared.producer(handle)
    shared.send(straggler, 0, b"lost")
    shared.run(shared.owner.end(handle, committed=False))
    (late,) = shared.send(straggler, 0, b"late")
    assert isinstance(late.error(), ServerError)
    again = shared.begin(handle)
    assert again.producer_epoch > handle.producer_epoch
    shared.send(shared.producer(again), 0, b"kept")
    shared.run(shared.owner.end(again, committed=True))
    assert shared.committed(0) == [b"kept"]


def test_a_producer_of_an_older_epoch_is_fenced_and_can_send_nothing_more() -> None:
    shared = Shared()
    old = shared.producer(shared.begin())
    shared.send(old, 0, b"a")
    handle = shared.begin()
    (late,) = shared.send(old, 0, b"late")
    assert late.error().code == ErrorCode.INVALID_PRODUCER_EPOCH
    with pytest.raises(ProducerFailed, match="is over"):
        shared.send(old, 1, b"more")
    shared.run(shared.owner.end(handle, committed=True))
    assert shared.committed(0) == []
    assert len(shared.cluster.sent("InitProducerId")) == 2


def test_a_partition_that_the_owner_did_not_add_is_refused() -> None:
    shared = Shared()
    handle = shared.run(shared.owner.init())
    shared.run(shared.owner.add_partitions(handle, [T1]))
    producer = shared.producer(handle)
    (sent,) = shared.send(producer, 0, b"a")
    assert sent.error().code == ErrorCode.INVALID_TXN_STATE
    assert shared.stage.log(0).values() == []


def test_a_lost_answer_is_made_up_for_and_nothing_is_stored_twice() -> None:
    shared = Shared()
    handle = shared.begin()
    producer = shared.producer(handle)
    fates = [Fate.LOST_AFTER, Fate.FINE, Fate.LOST_AFTER]
    shared.cluster.fate = lambda flight: fates.pop(0) if flight.api == "Produce" and fates else Fate.FINE
    shared.send(producer, 0, b"a", b"b" * 90, b"c")
    shared.run(shared.owner.end(handle, committed=True))
    assert shared.committed(0) == [b"a", b"b" * 90, b"c"]


def test_a_record_that_is_not_acknowledged_in_time_ends_the_producer_and_not_only_the_record() -> None:
    shared = Shared(delivery_timeout_ms=1_000, request_timeout_ms=500)
    handle = shared.begin()
    producer = shared.producer(handle)
    shared.cluster.verdict = lambda tp, data: ErrorCode.NOT_ENOUGH_REPLICAS
    (sent,) = shared.send(producer, 0, b"a")
    assert isinstance(sent.error(), DeliveryTimedOut)
    shared.cluster.verdict = lambda tp, data: 0
    with pytest.raises(ProducerFailed):
        shared.send(producer, 1, b"b")


def test_who_borrows_can_neither_begin_nor_end() -> None:
    shared = Shared()
    producer = shared.producer(shared.begin())
    for steps in (producer.init_transactions(), producer.commit_transaction(), producer.abort_transaction()):
        with pytest.raises(IllegalState, match="belongs to another process"):
            shared.run(steps)
    with pytest.raises(IllegalState):
        producer.begin_transaction()


# --- the owner ----------------------------------------------------------------------------------------------


def test_of_two_owners_the_younger_stays_and_the_older_is_told() -> None:
    """KIP-360: InitProducerId with an epoch that is not the newest is refused, so they do not take turns."""
    shared = Shared()
    older, old_handle = shared.owner, shared.begin()
    shared.owner = shared.make_owner()
    handle = shared.begin(shared.run(shared.owner.init()))
    with pytest.raises(ProducerFenced, match="a newer producer has it"):
        shared.run(older.end(old_handle, committed=True))
    with pytest.raises(ProducerFenced):
        shared.run(older.init(old_handle))
    shared.send(shared.producer(handle), 0, b"a")
    shared.run(shared.owner.end(handle, committed=True))
    assert shared.committed(0) == [b"a"]


def test_a_coordinator_that_moves_loads_and_is_busy_is_waited_for() -> None:
    shared = Shared()
    for api in ("InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn"):
        shared.refuse(
            api,
            ErrorCode.NOT_COORDINATOR,
            ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
            ErrorCode.CONCURRENT_TRANSACTIONS,
        )
        handle = shared.begin()
        shared.send(shared.producer(handle), 0, api.encode())
        shared.run(shared.owner.send_offsets(handle, OFFSETS, "app"))
        shared.run(shared.owner.end(handle, committed=True))
    assert len(shared.committed(0)) == 5


def test_a_call_that_gets_no_verdict_ends_at_its_time() -> None:
    shared = Shared(max_block_ms=2_000)
    handle = shared.begin()
    shared.refuse("EndTxn", *[ErrorCode.COORDINATOR_LOAD_IN_PROGRESS] * 1000)
    began_ms = shared.stage.clock.elapsed_ms
    with pytest.raises(OperationTimedOut, match="EndTxn did not end within 2000 ms"):
        shared.run(shared.owner.end(handle, committed=True))
    assert 2_000 <= shared.stage.clock.elapsed_ms - began_ms < 4_000


@pytest.mark.parametrize("fate", [Fate.LOST_BEFORE, Fate.LOST_AFTER])
def test_a_commit_whose_answer_was_lost_is_asked_for_again(fate: Fate) -> None:
    shared = Shared(1)
    handle = shared.begin()
    shared.send(shared.producer(handle), 0, b"a")
    fates = [fate]
    shared.cluster.fate = lambda flight: fates.pop() if flight.api == "EndTxn" and fates else Fate.FINE
    shared.run(shared.owner.end(handle, committed=True))
    assert shared.committed(0) == [b"a"]


def test_errors_that_can_be_aborted_are_told_apart_from_those_that_cannot() -> None:
    shared = Shared()
    handle = shared.begin()
    shared.refuse("AddOffsetsToTxn", ErrorCode.GROUP_AUTHORIZATION_FAILED)
    with pytest.raises(TransactionFailed, match="has to be aborted"):
        shared.run(shared.owner.send_offsets(handle, OFFSETS, "app"))
    shared.refuse("InitProducerId", ErrorCode.INVALID_TRANSACTION_TIMEOUT)
    with pytest.raises(InvalidTransactionTimeout):
        shared.run(shared.owner.init())


def test_what_was_never_begun_is_not_ended() -> None:
    """The coordinator would answer INVALID_TXN_STATE."""
    shared = Shared()
    handle = shared.run(shared.owner.init())
    shared.run(shared.owner.end(handle, committed=True))
    shared.run(shared.owner.end(handle, committed=False))
    assert shared.cluster.sent("EndTxn") == []


def test_an_abort_of_what_never_arrived_is_done() -> None:
    shared = Shared(max_block_ms=1_000)
    handle = shared.run(shared.owner.init())
    shared.refuse("AddPartitionsToTxn", *[ErrorCode.COORDINATOR_LOAD_IN_PROGRESS] * 100)
    with pytest.raises(OperationTimedOut):
        shared.run(shared.owner.add_partitions(handle, [T0]))
    shared.refuse("EndTxn", ErrorCode.INVALID_TXN_STATE)
    shared.run(shared.owner.end(handle, committed=False))
