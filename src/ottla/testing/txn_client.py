"""A simulated transactional producer, of either generation of the protocol.

Generation 1 adds partitions before it writes to them and keeps its epoch; generation 2 (KIP-890) lets Produce
and TxnOffsetCommit add them, and has a new epoch after every end. Both do what real clients do: requests
whose answer was lost are sent again as they were, up to three Produce requests are in flight, nothing is
committed before every record is acknowledged, and after an abort with open questions a producer of the first
generation asks for a new epoch (KIP-360).

Ways to end: `calls_left` counts the requests until it dies, between two of them or with one under way;
`die` and `vanish` end it from outside. `pause_rate` makes it wait, for longer than transactions last, and
come back as if nothing had happened: a zombie, if somebody else has its transactional id by then.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.ports.effects import Sleep, Steps
from ottla.testing.client import RETRY_BACKOFF_MS, Call, Session, SimClient
from ottla.testing.ledger import Violation
from ottla.testing.network import ConnectionLost
from ottla.testing.txn_books import Txn, TxnBooks
from ottla.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from ottla.wire.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from ottla.wire.messages.end_txn import EndTxnRequest
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.init_producer_id import InitProducerIdRequest
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from ottla.wire.record_batch import Codec, Record, encode_batch

TRANSACTION: Final = 1
"""The key type of a transactional id in FindCoordinator."""

ELSEWHERE: Final = frozenset(
    (
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    )
)
BUSY: Final = ELSEWHERE | {ErrorCode.CONCURRENT_TRANSACTIONS}
FENCED: Final = frozenset((ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH))
ABORTABLE: Final = frozenset((ErrorCode.TRANSACTION_ABORTABLE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
GIVES_UP: Final = 0.15
"""How often a producer does not wait for what it sent on a connection that broke, but aborts."""
PAUSES_MS: Final = (1_000.0, 4_000.0, 9_000.0)


class Died(Exception):
    """The client is gone: nothing of it happens any more."""


class Fenced(Exception):
    """Somebody else has the transactional id, or the coordinator has taken it away."""


class MustAbort(Exception):
    """The transaction cannot go on."""


class _Batch:
    __slots__ = ("tp", "values", "data")

    def __init__(self, tp: TopicPartition, values: list[bytes], data: bytes) -> None:
        self.tp = tp
        self.values = values
        self.data = data


class TxnClient(SimClient, ABC):
    def __init__(
        self,
        *arguments: Any,
        books: TxnBooks,
        transactional_id: str,
        generation: int,
        timeout_ms: int,
    ) -> None:
        super().__init__(*arguments)
        self.books = books
        self.transactional_id = transactional_id
        self.generation = generation
        self.timeout_ms = timeout_ms
        self.producer_id = self.epoch = -1
        self.calls_left = 1 << 30
        self.pause_rate = 0.0
        self.patience_ms = self.random.choice((300.0, 40_000.0))
        """After that a request is sent again, on another connection; it may still arrive."""
        self.over = False
        self.stopping = False
        """No new transaction is begun."""
        self.txn: Txn | None = None
        self._began = False
        """Whether the coordinator may know of the transaction."""
        self._open_questions = False
        self._added: set[TopicPartition] = set()
        self._sequences: dict[TopicPartition, int] = {}
        self._session: Session | None = None
        rng = self.random
        if generation == 2:
            self._versions = {"init": 5, "produce": 12, "offsets": 5, "end": 5}
        else:
            self._versions = {
                "init": rng.choice((3, 4)),
                "produce": rng.choice((9, 11)),
                "offsets": rng.choice((3, 4)),
                "end": rng.choice((1, 3, 4)),
            }

    @property
    def now_ms(self) -> float:
        return self.network.scheduler.now_ms

    # -- its life --

    def run(self) -> Steps[None]:
        try:
            yield from self.init()
            yield from self.begun()
            while not self.stopping:
                try:
                    yield from self.work()
                except MustAbort:
                    yield from self.abort()
                    yield from self.begun()
                except Fenced:
                    self.report["producers_fenced"] += 1
                    if self.random.random() < 0.4:
                        return
                    # It may have been the time-out and not another producer (KIP-588): asking tells.
                    yield from self.init(go_on=True)
                    self.report["producers_going_on"] += 1
                    yield from self.begun()
        except Died:
            self.report["producers_died"] += 1
        except Fenced:
            self.report["producers_over"] += 1
        finally:
            self.over = True
            if self._session is not None:
                self._session.close()

    def begun(self) -> Steps[None]:
        """It has (again) an epoch, and nothing is open."""
        yield from ()

    @abstractmethod
    def work(self) -> Steps[None]:
        """One round, at whose end nothing is open."""

    def die(self) -> None:
        self.over = True
        if self._session is not None:
            self._session.close()

    def vanish(self) -> None:
        self.over = True
        if self._session is not None:
            self._session.abandon()

    # -- asking --

    def session(self) -> Steps[Session]:
        if self._session is None:
            session = yield from self.connect()
            if self.over:
                session.close()
                raise Died
            self._session = session
            yield from self.find_coordinators(session)
        return self._session

    def find_coordinators(self, session: Session) -> Steps[None]:
        yield from self.find_coordinator(session, TRANSACTION, self.transactional_id)

    def find_coordinator(self, session: Session, key_type: int, key: str) -> Steps[None]:
        while True:
            response = yield from session.call(
                FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key]), 4
            )
            code = ErrorCode(response.coordinators[0].error_code)
            if code is ErrorCode.NONE:
                return
            self.count("find_coordinator", code)
            if code not in ELSEWHERE:
                raise Violation(f"looking for the coordinator of {key}: {code.name}")
            yield Sleep(RETRY_BACKOFF_MS)

    def count(self, what: str, code: ErrorCode) -> None:
        if code is ErrorCode.UNKNOWN_SERVER_ERROR:
            raise Violation(f"{self.name}: {what} was answered with {code.name}")
        self.report[f"{what}_{code.name.lower()}"] += 1

    def _life_goes_on(self) -> Steps[None]:
        """Before every request: now and then a pause, or the end."""
        if self.over:
            raise Died
        self.calls_left -= 1
        if self.calls_left == 0 and self.random.random() < 0.5:
            if self.random.random() < 0.5:
                self.vanish()
            else:
                self.die()
            raise Died
        if self.pause_rate and self.random.random() < self.pause_rate:
            self.report["pauses"] += 1
            yield Sleep(self.random.choice(PAUSES_MS))
            if self.over:
                raise Died

    def _start(self, session: Session, request: Any, version: int) -> Call:
        call = session.start(request, version)
        if self.generation == 2 or isinstance(request, ProduceRequest):
            # The first generation cannot tell a late EndTxn from one of the next transaction: it waits.
            call.waiter.deadline_ms = min(
                call.waiter.deadline_ms, self.clock.monotonic_ms() + self.patience_ms
            )
        if self.calls_left == 0:
            # Its last words are under way.
            self.vanish() if self.random.random() < 0.5 else self.die()
            raise Died
        return call

    def _lost(self) -> Steps[None]:
        """The connection is gone, with whatever was under way on it."""
        if self._session is not None:
            self._session.close()
            self._session = None
        if self.over:
            raise Died
        self.report["producer_reconnects"] += 1
        yield Sleep(RETRY_BACKOFF_MS * self.random.random())

    def ask(self, request: Any, version: int) -> Steps[Any]:
        """One answer; None when it was lost."""
        yield from self._life_goes_on()
        try:
            session = yield from self.session()
            return (yield from session.finish(self._start(session, request, version)))
        except ConnectionLost:
            yield from self._lost()
            return None

    def _accepted(self, what: str, began_ms: float) -> None:
        self.books.accepted(self.transactional_id, self.name, self.producer_id, self.epoch, what, began_ms)

    # -- identity --

    def init(self, *, go_on: bool = False) -> Steps[None]:
        self.txn = None
        while True:
            request = InitProducerIdRequest(
                transactional_id=self.transactional_id, transaction_timeout_ms=self.timeout_ms
            )
            if go_on:
                request.producer_id, request.producer_epoch = self.producer_id, self.epoch
            asked_ms = self.now_ms
            answer = yield from self.ask(request, self._versions["init"])
            if answer is None:
                continue
            code = ErrorCode(answer.error_code)
            if code is ErrorCode.NONE:
                self._is_given(answer, asked_ms)
                self.report["inits"] += 1
                return
            self.count("init", code)
            if code in FENCED:
                raise Fenced
            if code not in BUSY:
                raise Violation(f"{self.name}: InitProducerId was answered with {code.name}")
            yield Sleep(RETRY_BACKOFF_MS)

    def _is_given(self, answer: Any, asked_ms: float) -> None:
        self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
        self.books.told(self.transactional_id, self.name, self.producer_id, self.epoch, asked_ms, self.now_ms)
        self._sequences.clear()

    # -- a transaction --

    def begin(self) -> Txn:
        self.txn = self.books.begin(
            self.transactional_id, self.name, self.producer_id, self.epoch, self.now_ms
        )
        self._began = self._open_questions = False
        self._added.clear()
        return self.txn

    def add(self, tps: Sequence[TopicPartition]) -> Steps[None]:
        """Generation 1: before the first record for a partition."""
        new = [tp for tp in tps if tp not in self._added]
        if not new:
            return
        topics: dict[str, list[int]] = {}
        for tp in new:
            topics.setdefault(tp.topic, []).append(tp.partition)
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=self.producer_id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=[
                AddPartitionsToTxnTopic(name=name, partitions=indexes) for name, indexes in topics.items()
            ],
        )
        while True:
            began_ms = self.now_ms
            answer = yield from self.ask(request, 3)
            if answer is None:
                self._began = True
                continue
            codes = {
                ErrorCode(each.partition_error_code)
                for topic in answer.results_by_topic_v3_and_below
                for each in topic.results_by_partition
            }
            if codes == {ErrorCode.NONE}:
                self._accepted("AddPartitionsToTxn", began_ms)
                self._began = True
                self._added.update(new)
                return
            self._weigh("add_partitions", codes - {ErrorCode.OPERATION_NOT_ATTEMPTED})
            yield Sleep(RETRY_BACKOFF_MS)

    def _is_fenced(self, codes: set[ErrorCode]) -> bool:
        if ErrorCode.INVALID_PRODUCER_ID_MAPPING in codes and self.books.ids_expire:
            self.report["ids_expired"] += 1
            return True
        return bool(codes & FENCED)

    def _weigh(self, what: str, codes: set[ErrorCode]) -> None:
        """Returns where the same request may be sent again."""
        for code in codes:
            self.count(what, code)
        if self._is_fenced(codes):
            raise Fenced
        if ErrorCode.UNKNOWN_TOPIC_OR_PARTITION in codes and not self.books.deleted_topics:
            return  # not yet known, or its disk is gone
        if codes & ABORTABLE:
            raise MustAbort
        if not codes <= BUSY and not all(code.retriable for code in codes):
            raise Violation(f"{self.name}: {what} was answered with {sorted(code.name for code in codes)}")

    def write(self, requests: Sequence[Mapping[TopicPartition, Sequence[str]]]) -> Steps[None]:
        """Writes these payloads, a mapping for each Produce request; all are acknowledged in the end."""
        if self.generation == 1:
            yield from self.add(sorted({tp for each in requests for tp in each}))
        waiting = deque([self._batch(tp, payloads) for tp, payloads in each.items()] for each in requests)
        depth = self.random.randint(1, 3)
        while waiting:
            yield from self._life_goes_on()
            self._began = self._open_questions = True
            try:
                session = yield from self.session()
                calls: list[tuple[Call, list[_Batch]]] = []
                began_ms = self.now_ms
                for batches in list(waiting)[:depth]:
                    calls.append(
                        (self._start(session, self._produce(batches), self._versions["produce"]), batches)
                    )
                again = False
                for call, batches in calls:
                    answer = yield from session.finish(call)
                    again |= self._written(answer, batches, began_ms, again)
                    if not batches and not again:
                        waiting.popleft()
            except ConnectionLost:
                yield from self._lost()
                if self.random.random() < GIVES_UP:
                    raise MustAbort from None  # what was under way may still arrive
                continue
            if again:
                self.report["batches_sent_again"] += 1
                yield Sleep(RETRY_BACKOFF_MS)
        self._open_questions = False

    def _written(self, answer: Any, batches: list[_Batch], began_ms: float, after_failure: bool) -> bool:
        """Takes the batches away that were written; whether others have to be sent again."""
        assert self.txn is not None
        by_place = {batch.tp: batch for batch in batches}
        again = False
        for topic in answer.responses:
            for each in topic.partition_responses:
                batch = by_place[TopicPartition(topic.name, each.index)]
                code = ErrorCode(each.error_code)
                if code is ErrorCode.NONE:
                    self._accepted(f"a batch for {batch.tp}", began_ms)
                    self.books.acked(self.txn, batch.tp, each.base_offset, batch.values)
                    batches.remove(batch)
                    self.report["batches_acked"] += 1
                    continue
                again = True
                if code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER and after_failure:
                    self.report["batches_overtaken"] += 1
                    continue
                self._weigh("produce", {code})
        return again

    def _batch(self, tp: TopicPartition, payloads: Sequence[str]) -> _Batch:
        assert self.txn is not None
        values = [self.txn.value(tp, payload) for payload in payloads]
        sequence = self._sequences.get(tp, 0)
        self._sequences[tp] = sequence + len(values)
        now_ms = self.clock.now_ms()
        padding = self.random.choice((b"", b"x" * 100, b"y" * 700))
        data = encode_batch(
            [Record(0, now_ms, padding, value) for value in values],
            codec=self.random.choice((Codec.NONE, Codec.NONE, Codec.LZ4)),
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=sequence,
            transactional=True,
        )
        return _Batch(tp, values, bytes(data))

    def _produce(self, batches: Sequence[_Batch]) -> ProduceRequest:
        topics: dict[str, list[PartitionProduceData]] = {}
        for batch in batches:
            topics.setdefault(batch.tp.topic, []).append(
                PartitionProduceData(index=batch.tp.partition, records=memoryview(batch.data))
            )
        return ProduceRequest(
            transactional_id=self.transactional_id,
            acks=-1,
            timeout_ms=30_000,
            topic_data=[
                TopicProduceData(name=name, partition_data=partitions) for name, partitions in topics.items()
            ],
        )

    def commit_offsets(self, group: str, offsets: Mapping[TopicPartition, int]) -> Steps[None]:
        """Makes a group's offsets part of the transaction."""
        assert self.txn is not None
        for tp, offset in offsets.items():
            self.txn.offsets[group, tp] = offset
        if self.generation == 1:
            yield from self._add_offsets(group)
        topics: dict[str, list[TxnOffsetCommitRequestPartition]] = {}
        for tp, offset in offsets.items():
            topics.setdefault(tp.topic, []).append(
                TxnOffsetCommitRequestPartition(
                    partition_index=tp.partition,
                    committed_offset=offset,
                    committed_metadata=self.txn.metadata,
                )
            )
        request = TxnOffsetCommitRequest(
            transactional_id=self.transactional_id,
            group_id=group,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            topics=[
                TxnOffsetCommitRequestTopic(name=name, partitions=partitions)
                for name, partitions in topics.items()
            ],
        )
        while True:
            self._began = True
            began_ms = self.now_ms
            answer = yield from self.ask(request, self._versions["offsets"])
            if answer is None:
                continue
            codes = {ErrorCode(each.error_code) for topic in answer.topics for each in topic.partitions}
            if codes == {ErrorCode.NONE}:
                self._accepted("TxnOffsetCommit", began_ms)
                self.report["offset_commits"] += 1
                return
            self._weigh("txn_offset_commit", codes - {ErrorCode.NONE})
            yield Sleep(RETRY_BACKOFF_MS)

    def _add_offsets(self, group: str) -> Steps[None]:
        request = AddOffsetsToTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            group_id=group,
        )
        while True:
            began_ms = self.now_ms
            answer = yield from self.ask(request, 3)
            self._began = True
            if answer is None:
                continue
            code = ErrorCode(answer.error_code)
            if code is ErrorCode.NONE:
                self._accepted("AddOffsetsToTxn", began_ms)
                return
            self._weigh("add_offsets", {code})
            yield Sleep(RETRY_BACKOFF_MS)

    # -- its end --

    def commit(self) -> Steps[None]:
        assert self.txn is not None
        yield from self._life_goes_on()  # with nothing said yet
        self.books.commit_sent(self.txn)
        yield from self._end(committed=True)

    def abort(self) -> Steps[None]:
        if self.txn is None or self.txn.commit_sent or not self._began:
            return
        if self.generation == 1 and not self._added:
            yield from self.init(go_on=True)  # the coordinator may not know of it: there is nothing to end
            return
        yield from self._end(committed=False)
        if self.generation == 1 and self._open_questions:
            yield from self.init(go_on=True)

    def _end(self, *, committed: bool) -> Steps[None]:
        txn = self.txn
        assert txn is not None
        request = EndTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            committed=committed,
        )
        lost = False
        while True:
            began_ms = self.now_ms
            answer = yield from self.ask(request, self._versions["end"])
            if answer is None:
                lost = True
                continue
            code = ErrorCode(answer.error_code)
            if code is ErrorCode.NONE:
                self._accepted("EndTxn", began_ms)
                self.books.ended(txn, committed=committed, now_ms=self.now_ms)
                self.report["ends_repeated"] += int(lost)
                self.txn = None
                if self.generation == 2:
                    self._is_given(answer, began_ms)
                return
            self.count("end_txn", code)
            if code in ELSEWHERE:
                lost |= code is not ErrorCode.COORDINATOR_LOAD_IN_PROGRESS  # it may be decided all the same
            elif self._is_fenced({code}):
                if committed and not lost:
                    self.books.refused(txn)
                raise Fenced
            elif code is ErrorCode.INVALID_TXN_STATE and self.books.was_taken_away(txn):
                # KIP-890: the abort has the next epoch, so the commit looks like one that was sent again.
                if not lost:
                    self.books.refused(txn)
                raise Fenced
            elif code is not ErrorCode.CONCURRENT_TRANSACTIONS:
                raise Violation(f"{self.name}: EndTxn({committed=}) of {txn} was answered with {code.name}")
            yield Sleep(RETRY_BACKOFF_MS)


class TxnWriter(TxnClient):
    """Writes transactions to some of the partitions it is given, and ends each one way or the other."""

    def __init__(self, *arguments: Any, tps: Sequence[TopicPartition], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.tps = list(tps)
        self.txns_left = 1 << 30

    def work(self) -> Steps[None]:
        rng = self.random
        tps = [tp for tp in self.tps if not self.books.is_deleted(tp)]
        self.begin()
        chosen = rng.sample(tps, rng.randint(1, min(3, len(tps))))
        for _ in range(rng.randint(1, 2)):
            yield from self.write(
                [
                    {tp: [""] * rng.randint(1, 3) for tp in rng.sample(chosen, rng.randint(1, len(chosen)))}
                    for _ in range(rng.randint(1, 3))
                ]
            )
            if rng.random() < 0.2:
                yield Sleep(rng.random() * 400.0)
        if rng.random() < 0.25:
            yield from self.abort()
        else:
            yield from self.commit()
        self.txns_left -= 1
        if self.txns_left <= 0:
            self.stopping = True
        elif rng.random() < 0.5:
            yield Sleep(rng.random() * 600.0)
