"""Histories of transactions in a cluster that loses requests, answers, leaders and coordinators: what was
committed is there exactly once and in order, what was aborted is never seen, offsets go with their
transaction, and the producer can always go on with a new one (KIP-98, KIP-360, KIP-890).
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from producing_cluster import Fate, Flight
from producing_stage import Stage

from ottla.client.errors import OperationTimedOut, TransactionFailed
from ottla.client.producing.batch import Delivery
from ottla.client.records import GroupMetadata, OffsetAndMetadata
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition

EXAMPLES = int(os.environ.get("OTTLA_HISTORIES", "120"))
PARTITIONS = 2
GROUP = GroupMetadata("g", 3, "member")
INPUT = TopicPartition("input", 0)

COORDINATOR_APIS = {
    "InitProducerId",
    "AddPartitionsToTxn",
    "AddOffsetsToTxn",
    "TxnOffsetCommit",
    "EndTxn",
    "FindCoordinator",
}
PASSING = [
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
]


class Transactions(RuleBasedStateMachine):
    transaction_version = 2
    versions: dict[str, int] = {}

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[int, bytes, Delivery]] | None = None
        self.committed: list[list[bytes]] = [[] for _ in range(PARTITIONS)]
        self.offset = 0
        self.open_offset: int | None = None
        self.count = 0
        self.fates: list[Fate] = []
        self.refusals: list[ErrorCode] = []
        self.produce_codes: list[ErrorCode] = []
        self.committing = False

    @initialize(seed=st.integers(0, 1 << 16), zombies=st.booleans())
    def start(self, seed: int, zombies: bool) -> None:
        self.stage = Stage(
            seed=seed,
            transactional_id="tx",
            batch_size=120,
            request_timeout_ms=400,
            delivery_timeout_ms=4_000,
            max_block_ms=2_500,
        )
        cluster = self.cluster = self.stage.cluster
        cluster.transaction_version = self.transaction_version
        cluster.versions = self.versions
        cluster.create("t", 1, 2)
        cluster.zombies = zombies
        cluster.latency_ms = lambda: cluster.random.uniform(0.2, 8.0)
        cluster.fate = self._fate
        cluster.coordinator_verdict = lambda api, request: self.refusals.pop(0) if self.refusals else 0
        cluster.verdict = lambda tp, data: self.produce_codes.pop(0) if self.produce_codes else 0
        self._insist(self.stage.core.init_transactions)

    def _fate(self, flight: Flight) -> Fate:
        if self.fates and (flight.api in COORDINATOR_APIS or flight.api == "Produce"):
            return self.fates.pop(0)
        return Fate.FINE

    def _insist(self, call: Any) -> None:
        """As long as it takes: a call that timed out is called again."""
        for _ in range(12):
            try:
                self.stage.run(call())
                return
            except OperationTimedOut:
                pass
        raise AssertionError("it never ends")

    @rule(duration_ms=st.sampled_from([0.5, 3.0, 15.0, 200.0]))
    def wait(self, duration_ms: float) -> None:
        self.stage.advance(duration_ms)

    @rule(partition=st.integers(0, PARTITIONS - 1), count=st.integers(1, 8))
    def send(self, partition: int, count: int) -> None:
        if self.open is None:
            self.stage.core.begin_transaction()
            self.open = []
        for _ in range(count):
            value = f"{self.count:06d}".encode()
            self.count += 1
            try:
                self.open.append((partition, value, self.stage.send(partition, value)))
            except TransactionFailed:
                self._abort()
                return

    @rule()
    def send_offsets(self) -> None:
        if self.open is None:
            return
        offset = self.offset + 5
        offsets = {INPUT: OffsetAndMetadata(offset)}
        try:
            self._insist(lambda: self.stage.core.send_offsets_to_transaction(offsets, GROUP))
        except TransactionFailed:
            self._abort()
            return
        self.open_offset = offset

    @rule()
    def commit(self) -> None:
        if self.open is None:
            return
        try:
            self._insist(self.stage.core.commit_transaction)
        except TransactionFailed:
            self._abort()
            return
        for partition, value, delivery in self.open:
            assert delivery.done() and delivery.error() is None
            self.committed[partition].append(value)
        if self.open_offset is not None:
            self.offset = self.open_offset
        self.open = self.open_offset = None

    @rule()
    def abort(self) -> None:
        if self.open is not None:
            self._abort()

    def _abort(self) -> None:
        assert self.open is not None
        self._insist(self.stage.core.abort_transaction)
        assert all(delivery.done() for _, _, delivery in self.open)
        self.open = self.open_offset = None

    @rule(fate=st.sampled_from([Fate.LOST_BEFORE, Fate.LOST_AFTER, Fate.STALLED]))
    def lose(self, fate: Fate) -> None:
        self.fates.append(fate)

    @rule(code=st.sampled_from(PASSING))
    def refuse(self, code: ErrorCode) -> None:
        self.refusals.append(code)

    @rule(code=st.sampled_from([ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.INVALID_RECORD]))
    def refuse_batch(self, code: ErrorCode) -> None:
        self.produce_codes.append(code)

    @rule(partition=st.integers(0, PARTITIONS - 1), leader=st.integers(1, 3))
    def move(self, partition: int, leader: int) -> None:
        self.cluster.move(TopicPartition("t", partition), leader)

    @rule(node=st.integers(1, 3))
    def move_coordinator(self, node: int) -> None:
        self.cluster.coordinator = node

    @rule(node=st.integers(1, 3))
    def break_connection(self, node: int) -> None:
        self.cluster.break_connection(node)

    def teardown(self) -> None:
        if not hasattr(self, "stage"):
            return
        self.fates, self.refusals, self.produce_codes = [], [], []
        if self.open is not None:
            self.commit()
        # Whatever happened: the next transaction succeeds, in every partition.
        for partition in range(PARTITIONS):
            self.send(partition, 1)
        self.commit()
        assert [values[-1:] for values in self.committed] == [
            [f"{self.count - PARTITIONS + partition:06d}".encode()] for partition in range(PARTITIONS)
        ]
        self.stage.advance(1_000)
        for partition in range(PARTITIONS):
            seen = self.stage.log(partition).committed()
            assert seen == self.committed[partition]
        assert self.cluster.group_offsets.get(("g", INPUT), 0) == self.offset
        assert self.stage.memory_used == 0
        self.stage.run(self.stage.core.close(1_000))


class FirstGeneration(Transactions):
    transaction_version = 0


@pytest.mark.parametrize("machine", [Transactions, FirstGeneration])
def test_transactions_are_all_or_nothing_whatever_happens_to_the_cluster(machine: type[Transactions]) -> None:
    case = machine.TestCase
    case.settings = settings(max_examples=EXAMPLES, stateful_step_count=30)
    case().runTest()
