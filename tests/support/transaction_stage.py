"""A stage for the transaction coordinator: one shard on a clock that tests move by hand.

Decisions are carried out at once, as the shell does it on a broker whose high watermark is its log's end.
Every record passes through its bytes, every answer through the bytes of its version; after each event the log
is loaded into a fresh shard, which has to be in the same state. Markers are written when the test says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.types import TopicPartition
from ottla.transactions.environment import Environment
from ottla.transactions.markers import TxnToEnd
from ottla.transactions.record import decode_record, transaction_record
from ottla.transactions.settings import TransactionSettings
from ottla.transactions.shard import TransactionShard
from ottla.transactions.transaction import NO_EPOCH, Transaction
from ottla.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from ottla.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ottla.wire.primitives import Encoder

M = TypeVar("M", InitProducerIdResponse, EndTxnResponse)

BEGINS_MS = 1_700_000_000_000
FIRST_PRODUCER_ID = 1_000
ID = "orders"
CLICKS_0 = TopicPartition("clicks", 0)
CLICKS_1 = TopicPartition("clicks", 1)
VIEWS_0 = TopicPartition("views", 0)


class HandClock:
    def __init__(self) -> None:
        self.ms = 0

    def now_ms(self) -> int:
        return BEGINS_MS + self.ms

    def monotonic_ms(self) -> float:
        return float(self.ms)


class Stage:
    def __init__(self, version: int = 2, **settings: Any) -> None:
        self.clock = HandClock()
        self.log: list[tuple[bytes, bytes | None]] = []
        self.to_mark: list[TxnToEnd] = []
        """Decided transactions whose markers nobody has written yet."""
        self.producer_ids = iter(range(FIRST_PRODUCER_ID, 2**31))
        self.ids_at_hand = 2**31
        self.env = Environment(self.clock, TransactionSettings(**settings), self._take_producer_id, version)
        self.shard = TransactionShard(self.env, coordinator_epoch=0)
        self.shard.loaded()

    def _take_producer_id(self) -> int | None:
        if self.ids_at_hand == 0:
            return None
        self.ids_at_hand -= 1
        return next(self.producer_ids)

    # --- requests -----------------------------------------------------------------------------------------

    def init(
        self,
        transactional_id: str | None = ID,
        had: tuple[int, int] = (-1, -1),
        *,
        timeout_ms: int = 60_000,
        version: int = 5,
        two_phase: bool = False,
        keep_prepared: bool = False,
    ) -> InitProducerIdResponse:
        request = InitProducerIdRequest(
            transactional_id=transactional_id,
            transaction_timeout_ms=timeout_ms,
            producer_id=had[0],
            producer_epoch=had[1],
            enable_2pc=two_phase,
            keep_prepared_txn=keep_prepared,
        )
        promise: Promise[InitProducerIdResponse] = Promise(
            lambda error: InitProducerIdResponse(error_code=error.code, producer_epoch=-1)
        )
        self.decide(lambda shard: shard.init_producer_id(request, promise, version), promise)
        return _through_bytes(promise.kept(), version)

    def begin(self, transactional_id: str = ID, **options: Any) -> tuple[int, int]:
        """A producer: its id and epoch."""
        response = self.init(transactional_id, **options)
        assert response.error_code == ErrorCode.NONE
        return response.producer_id, response.producer_epoch

    def add(
        self,
        producer: tuple[int, int],
        *partitions: TopicPartition,
        transactional_id: str = ID,
        version: int = 2,
        verify: bool = False,
    ) -> dict[TopicPartition, ErrorCode]:
        wanted = partitions or (CLICKS_0,)
        promise: Promise[dict[TopicPartition, ErrorCode]] = Promise(
            lambda error: dict.fromkeys(wanted, error.code)
        )
        self.decide(
            lambda shard: shard.add_partitions(transactional_id, *producer, wanted, verify, version, promise),
            promise,
        )
        return promise.kept()

    def add_one(self, producer: tuple[int, int], **options: Any) -> ErrorCode:
        return self.add(producer, **options)[CLICKS_0]

    def end(
        self,
        producer: tuple[int, int],
        committed: bool = True,
        *,
        transactional_id: str = ID,
        version: int = 5,
    ) -> EndTxnResponse:
        request = EndTxnRequest(
            transactional_id=transactional_id,
            producer_id=producer[0],
            producer_epoch=producer[1],
            committed=committed,
        )
        promise: Promise[EndTxnResponse] = Promise(lambda error: EndTxnResponse(error_code=error.code))
        self.decide(lambda shard: shard.end_txn(request, version, promise), promise)
        return _through_bytes(promise.kept(), version)

    # --- markers, time, crashes ---------------------------------------------------------------------------

    def write_markers(self) -> list[TxnToEnd]:
        jobs, self.to_mark = self.to_mark, []
        for job in jobs:
            self.marked(job)
        return jobs

    def marked(self, job: TxnToEnd) -> None:
        self.carry_out(self.shard.marked(job))

    def abort_timed_out(self, limit: int = 100) -> bool:
        outcome, more = self.shard.abort_timed_out(limit)
        self.carry_out(outcome)
        return more

    def expire_ids(self, limit: int = 100) -> bool:
        outcome, more = self.shard.expire_ids(limit)
        self.carry_out(outcome)
        return more

    def restart(self) -> None:
        """The coordinator crashes; the next one has a higher epoch and starts from the log."""
        self.shard = self._loaded(self.shard.registry.coordinator_epoch + 1)
        self.to_mark = []
        self.carry_out(self.shard.loaded())

    # --- how decisions come true --------------------------------------------------------------------------

    def decide(self, decision: Callable[[TransactionShard], Outcome], promise: Promise[Any]) -> None:
        try:
            outcome = decision(self.shard)
        except KafkaError as error:
            promise.refuse(error)
            return
        self.carry_out(outcome)
        assert promise.done

    def carry_out(self, outcome: Outcome) -> None:
        assert not outcome.soft_changed and not outcome.replayed and outcome.producer is None
        for record in outcome.records:
            self.log.append((record.key_bytes(), record.value_bytes()))
            self.shard.replay(record, len(self.log) - 1, -1)
        for promise, response in outcome.answers:
            promise.complete(response)
        self.to_mark += _jobs(outcome.then)
        self._check_log()

    def _check_log(self) -> None:
        loaded = self._loaded(0)
        for transaction in self.shard.registry:
            logged = loaded.registry.get(transaction.transactional_id)
            assert logged == transaction._replace(last_producer_epoch=NO_EPOCH)
        assert len(loaded.registry) == len(self.shard.registry)

    def _loaded(self, coordinator_epoch: int) -> TransactionShard:
        shard = TransactionShard(self.env, coordinator_epoch)
        for offset, (key, value) in enumerate(self.log):
            record = decode_record(key, value)
            assert record is not None
            shard.replay(record, offset, -1)
        return shard

    # --- what a test looks at -----------------------------------------------------------------------------

    def now(self, transactional_id: str = ID) -> Transaction:
        transaction = self.shard.registry.get(transactional_id)
        assert transaction is not None
        return transaction

    def set(self, transaction: Transaction) -> None:
        """Puts a state into the log, and starts a coordinator that finds it there."""
        record = transaction_record(transaction, self.env.version)
        self.log.append((record.key_bytes(), record.value_bytes()))
        self.restart()


def _jobs(works: Iterable[object]) -> list[TxnToEnd]:
    jobs = []
    for work in works:
        assert isinstance(work, TxnToEnd)
        jobs.append(work)
    return jobs


def _through_bytes(response: M, version: int) -> M:
    out = Encoder()
    response.encode(out, version)
    data = bytes(out.buf)
    decoded: M
    decoded, end = response.decode(data, 0, len(data), version)
    assert end == len(data)
    return decoded
