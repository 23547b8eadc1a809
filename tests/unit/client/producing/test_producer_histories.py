"""Histories of a producer in a cluster that fails it in every way the network and brokers can: records are
stored at most once, in the order of their sending, acknowledged ones are there, every delivery gets an
answer, and all memory comes back (KIP-98, KIP-360). Hypothesis chooses what happens and finds the shortest
history.
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

from ottla.client.errors import BrokerUnavailable, DeliveryTimedOut, RequestTimedOut, ServerError
from ottla.client.producing.batch import Delivery
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.record_batch import Codec, read_header

EXAMPLES = int(os.environ.get("OTTLA_HISTORIES", "100"))
PARTITIONS = 3
REFUSALS = [
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.KAFKA_STORAGE_ERROR,
    ErrorCode.CORRUPT_MESSAGE,
    ErrorCode.INVALID_RECORD,
    ErrorCode.TOPIC_AUTHORIZATION_FAILED,
]
AFTERTHOUGHTS = [
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
]


class History(RuleBasedStateMachine):
    """An idempotent producer with five requests in flight."""

    overrides: dict[str, Any] = {}
    stored_once = True
    errors: tuple[type[Exception], ...] = (DeliveryTimedOut, ServerError)

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[list[tuple[bytes, Delivery]]] = [[] for _ in range(PARTITIONS)]
        self.fates: list[Fate] = []
        self.refusals: dict[int, list[ErrorCode]] = {}
        self.afterthoughts: dict[int, list[ErrorCode]] = {}
        self.called: dict[bytes, int] = {}

    @initialize(seed=st.integers(0, 1 << 16), zombies=st.booleans(), records_max=st.sampled_from([1, 2, 9]))
    def begin(self, seed: int, zombies: bool, records_max: int) -> None:
        options: dict[str, Any] = {
            "linger_ms": 5,
            "batch_size": 120,
            "buffer_memory": 4_000,
            "request_timeout_ms": 400,
            "delivery_timeout_ms": 4_000,
            "max_block_ms": 20_000,
            **self.overrides,
        }
        self.stage = Stage(seed=seed, **options)
        cluster = self.cluster = self.stage.cluster
        cluster.create("t", 1, 2, 3)
        cluster.zombies = zombies
        cluster.latency_ms = lambda: cluster.random.uniform(0.2, 8.0)
        cluster.fate = self._fate
        cluster.verdict = lambda tp, data: (
            ErrorCode.MESSAGE_TOO_LARGE
            if read_header(data).record_count > records_max
            else self._next(self.refusals, tp)
        )
        cluster.afterthought = lambda tp: self._next(self.afterthoughts, tp)

    def _fate(self, flight: Flight) -> Fate:
        return self.fates.pop(0) if self.fates and flight.api == "Produce" else Fate.FINE

    def _next(self, codes: dict[int, list[ErrorCode]], tp: TopicPartition) -> int:
        waiting = codes.get(tp.partition)
        return waiting.pop(0) if waiting else ErrorCode.NONE

    @rule(partition=st.integers(0, PARTITIONS - 1), count=st.integers(1, 12))
    def send(self, partition: int, count: int) -> None:
        for _ in range(count):
            line = self.sent[partition]
            value = f"{partition}-{len(line):06d}".encode()

            def told(metadata: Any, error: Any, value: bytes = value) -> None:
                assert (metadata is None) != (error is None)
                self.called[value] = self.called.get(value, 0) + 1

            line.append((value, self.stage.send(partition, value, callback=told)))

    @rule(duration_ms=st.sampled_from([0.3, 1.0, 4.0, 12.0, 60.0, 300.0, 1500.0]))
    def wait(self, duration_ms: float) -> None:
        self.stage.advance(duration_ms)

    @rule(node=st.integers(1, 3))
    def break_connection(self, node: int) -> None:
        self.cluster.break_connection(node)

    @rule(fate=st.sampled_from([Fate.LOST_BEFORE, Fate.LOST_AFTER, Fate.STALLED]))
    def lose(self, fate: Fate) -> None:
        self.fates.append(fate)

    @rule(partition=st.integers(0, PARTITIONS - 1), code=st.sampled_from(REFUSALS))
    def refuse(self, partition: int, code: ErrorCode) -> None:
        self.refusals.setdefault(partition, []).append(code)

    @rule(partition=st.integers(0, PARTITIONS - 1), code=st.sampled_from(AFTERTHOUGHTS))
    def doubt(self, partition: int, code: ErrorCode) -> None:
        self.afterthoughts.setdefault(partition, []).append(code)

    @rule(partition=st.integers(0, PARTITIONS - 1), leader=st.sampled_from([-1, 1, 2, 3]), hint=st.booleans())
    def move(self, partition: int, leader: int, hint: bool) -> None:
        self.cluster.leader_hints = hint
        self.cluster.move(TopicPartition("t", partition), leader)

    @rule(node=st.integers(1, 3))
    def stop(self, node: int) -> None:
        if len(self.cluster.down) < 2:
            self.cluster.down.add(node)
            self.cluster.break_connection(node)

    @rule()
    def restart(self) -> None:
        self.cluster.down.clear()

    @rule()
    def flush(self) -> None:
        self.stage.begin(self.stage.core.flush())

    def teardown(self) -> None:
        if not hasattr(self, "stage"):
            return
        stage, cluster = self.stage, self.cluster
        cluster.down.clear()
        self.fates, self.refusals, self.afterthoughts = [], {}, {}
        for partition in range(PARTITIONS):
            if cluster.leaders[TopicPartition("t", partition)][0] < 0:
                cluster.move(TopicPartition("t", partition), 1)
        stage.run(stage.core.flush(), limit_ms=30_000)
        stage.advance(1_000)  # zombies
        for partition, line in enumerate(self.sent):
            self._check(partition, line)
        assert not stage.core._accumulator.incomplete
        assert stage.memory_used == 0
        assert cluster.batches_in_flight_max <= stage.settings.max_in_flight_requests_per_connection
        # And it goes on as if nothing had happened.
        last = [stage.send(partition, b"last") for partition in range(PARTITIONS)]
        stage.run(stage.core.close(5_000), limit_ms=10_000)
        assert [delivery.error() for delivery in last] == [None] * PARTITIONS
        assert stage.memory_used == 0

    def _check(self, partition: int, line: list[tuple[bytes, Delivery]]) -> None:
        stored = self.stage.log(partition).values()
        places = {value: offset for offset, value in enumerate(stored)}
        if self.stored_once:
            assert len(places) == len(stored), "a record was stored twice"
            assert stored == sorted(stored), "the order of sending was not kept"  # type: ignore[type-var]
        for value, delivery in line:
            assert delivery.done()
            assert self.called.get(value) == 1
            error = delivery.error()
            if error is None:
                assert value in places, "an acknowledged record is not there"
                offset = delivery.metadata().offset
                if self.stored_once and offset >= 0:
                    assert stored[offset] == value
            else:
                assert isinstance(error, self.errors), repr(error)


class AloneHistory(History):
    """Without idempotence, with one request in flight: nothing overtakes, though it may be stored twice."""

    overrides = {"enable_idempotence": False, "max_in_flight_requests_per_connection": 1, "acks": 1}
    stored_once = False

    def _check(self, partition: int, line: list[tuple[bytes, Delivery]]) -> None:
        super()._check(partition, line)
        if not self.cluster.zombies:
            # The first time that each is seen, it is in order.
            first_seen = list(dict.fromkeys(self.stage.log(partition).values()))
            assert first_seen == sorted(first_seen)  # type: ignore[type-var]


class SmallSteps(History):
    overrides = {"linger_ms": 0, "compression_type": Codec.LZ4, "max_in_flight_requests_per_connection": 2}


class RetriesRunOut(History):
    overrides = {"retries": 2}
    errors = (DeliveryTimedOut, ServerError, BrokerUnavailable, RequestTimedOut)


@pytest.mark.parametrize("machine", [History, AloneHistory, SmallSteps, RetriesRunOut])
def test_nothing_is_lost_doubled_or_reordered_whatever_happens_to_the_cluster(
    machine: type[History],
) -> None:
    case = machine.TestCase
    case.settings = settings(max_examples=EXAMPLES, stateful_step_count=40)
    case().runTest()
