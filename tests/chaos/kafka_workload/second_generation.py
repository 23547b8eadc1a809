"""A transactional producer of the second generation (KIP-890, `transaction.version=2`), over a plain socket.

The clients of the other workers still add partitions by a request of their own. This one sends Produce v12,
which adds them by itself, and EndTxn v5, which gives a new epoch for every transaction and may be asked
again with the old one. It sends one record at a time and asks again, with the same bytes, until it has an
answer. Now and then it does what networks do: a record that was acknowledged is sent once more, within its
transaction or after its end.

Some transactions commit an offset of a group as well (TxnOffsetCommit v5, which adds the group by itself):
a number that grows by one. As long as it knows how its transactions ended, the group's offset has to be the
last one that was committed; an older one would be a late copy that somebody took.
"""

from __future__ import annotations

import time
from typing import Any

from chaos.kafka_workload.history import OFFSET_UNKNOWN, Operation, Outcome, Send
from chaos.kafka_workload.shared import KEYS, Shared
from chaos.kafka_workload.workload import Worker
from ottla.model.errors import ErrorCode
from ottla.wire.messages.end_txn import EndTxnRequest
from ottla.wire.messages.init_producer_id import InitProducerIdRequest
from ottla.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from ottla.wire.record_batch import Record, encode_batch
from support.raw_client import ConnectionEnded, RawClient

INIT_PRODUCER_ID_VERSION = 5
PRODUCE_VERSION = 12
END_TXN_VERSION = 5
TXN_OFFSET_COMMIT_VERSION = 5
OFFSET_FETCH_VERSION = 8

GROUP = "second-generation-offsets"
OFFSETS_OF = KEYS[0]
OFFSET_CHANCE = 0.3
OFFSET_CHECK_CHANCE = 0.2

ANSWER_TIMEOUT_S = 5.0
ASK_TIMEOUT_S = 12.0
END_TIMEOUT_S = 40.0
PAUSE_S = 0.05


class Unanswered(Exception):
    """Asked again and again, in vain."""


class SecondGeneration(Worker):
    def __init__(self, shared: Shared, name: str, timeout_ms: int = 6_000) -> None:
        super().__init__(shared, name)
        self.timeout_ms = timeout_ms
        self._client: RawClient | None = None
        self._producer_id = -1
        self._epoch = -1
        self._sequences: dict[int, int] = {}
        # The last offset that a transaction had, and the group's; None while that is unknown.
        self._offset = 0
        self._group_offset: int | None = None

    def live(self) -> None:
        try:
            request = InitProducerIdRequest(
                transactional_id=self.name,
                transaction_timeout_ms=self.timeout_ms,
                producer_id=-1,
                producer_epoch=-1,
            )
            answer = self._ask(request, INIT_PRODUCER_ID_VERSION, END_TIMEOUT_S)
            if answer.error_code != ErrorCode.NONE:
                self.shared.count(f"InitProducerId {ErrorCode(answer.error_code).name}")
                return
            self._take_producer(answer)
            while not self.shared.stop.is_set():
                operation = self.history.invoke(self.process, "txn", self.draw_sends(), transactional=True)
                outcome, error = self._transact(operation)
                self.history.complete(operation, outcome, error)
                if error not in ("", "aborted"):
                    self.crashed("second-generation transactor")
                    return
                if self._group_offset is not None and self.random.random() < OFFSET_CHECK_CHANCE:
                    self._check_group_offset(self._group_offset)
                self.rest()
        except Unanswered:
            self.shared.count("second-generation transactor without an answer")
        finally:
            self._hang_up()

    def _take_producer(self, answer: Any) -> None:
        self._producer_id = answer.producer_id
        self._epoch = answer.producer_epoch
        self._sequences = {}

    def _transact(self, operation: Operation) -> tuple[Outcome, str]:
        sends = [micro for micro in operation.micros if isinstance(micro, Send)]
        requests: list[ProduceRequest] = []
        has_offset = self.random.random() < OFFSET_CHANCE
        try:
            for place, send in enumerate(sends):
                requests.append(self._produce_request(send))
                error, offset = self._produce(requests[-1])
                if error is not ErrorCode.NONE:
                    return "fail", error.name
                operation.micros[place] = send._replace(offset=offset)
                if self.happens(0.05):
                    self.shared.count("acknowledged records sent again")
                    self._produce(requests[-1])
            if has_offset:
                error = self._commit_offset()
                if error is not ErrorCode.NONE:
                    return "fail", error.name
            if self.happens(0.01):
                return "fail", "crashed within the transaction"
            if self.happens(0.005):
                self.shared.count("transactions left open for too long")
                self.shared.stop.wait(self.timeout_ms / 1000 + 2)
        except Unanswered:
            return "fail", "no answer"
        is_to_commit = self.random.random() < 0.85
        if is_to_commit:
            operation.commit_at = self.history.stamp()
        try:
            if has_offset and is_to_commit:
                # Until the answer says so, nobody knows.
                self._group_offset = None
            answer = self._end(is_to_commit)
        except Unanswered:
            return ("info" if is_to_commit else "fail"), "no answer to the end"
        code = ErrorCode(answer.error_code)
        if code is not ErrorCode.NONE:
            return ("info" if is_to_commit else "fail"), code.name
        self._take_producer(answer)
        if has_offset and is_to_commit:
            self._group_offset = self._offset
        if requests and self.happens(0.05):
            self._send_late(requests[-1])
        return ("ok", "") if is_to_commit else ("fail", "aborted")

    def _end(self, is_to_commit: bool) -> Any:
        request = EndTxnRequest(
            transactional_id=self.name,
            producer_id=self._producer_id,
            producer_epoch=self._epoch,
            committed=is_to_commit,
        )
        return self._ask(request, END_TXN_VERSION, END_TIMEOUT_S)

    def _commit_offset(self) -> ErrorCode:
        self._offset += 1
        topic, partition = OFFSETS_OF
        entry = TxnOffsetCommitRequestPartition(partition_index=partition, committed_offset=self._offset)
        request = TxnOffsetCommitRequest(
            transactional_id=self.name,
            group_id=GROUP,
            producer_id=self._producer_id,
            producer_epoch=self._epoch,
            topics=[TxnOffsetCommitRequestTopic(name=topic, partitions=[entry])],
        )
        (code,) = _codes(self._ask(request, TXN_OFFSET_COMMIT_VERSION, ASK_TIMEOUT_S))
        return ErrorCode(code)

    def _check_group_offset(self, expected: int) -> None:
        topic, partition = OFFSETS_OF
        topics = [OffsetFetchRequestTopics(name=topic, partition_indexes=[partition])]
        groups = [OffsetFetchRequestGroup(group_id=GROUP, topics=topics)]
        answer = self._ask(
            OffsetFetchRequest(groups=groups, require_stable=True), OFFSET_FETCH_VERSION, END_TIMEOUT_S
        )
        found = answer.groups[0].topics[0].partitions[0].committed_offset
        self.shared.count("offsets of the second generation checked")
        if found != expected:
            self.shared.failures.append(
                f"{self.process}: {GROUP} has offset {found}, the last one committed was {expected}"
            )

    def _send_late(self, request: ProduceRequest) -> None:
        """A record of a transaction that has ended, with its epoch: nobody may take it."""
        self.shared.count("records sent after their transaction")
        try:
            error, _ = self._produce(request)
        except Unanswered:
            return
        if error is ErrorCode.NONE:
            self.shared.count("late records acknowledged as already there")

    def _produce_request(self, send: Send) -> ProduceRequest:
        topic, partition = KEYS[send.key]
        sequence = self._sequences.get(send.key, 0)
        self._sequences[send.key] = sequence + 1
        batch = encode_batch(
            [Record(0, int(time.time() * 1000), None, b"%d " % send.value)],
            producer_id=self._producer_id,
            producer_epoch=self._epoch,
            base_sequence=sequence,
            transactional=True,
        )
        data = [PartitionProduceData(index=partition, records=batch)]
        topics = [TopicProduceData(name=topic, partition_data=data)]
        return ProduceRequest(transactional_id=self.name, acks=-1, timeout_ms=5_000, topic_data=topics)

    def _produce(self, request: ProduceRequest) -> tuple[ErrorCode, int]:
        answer = self._ask(request, PRODUCE_VERSION, ASK_TIMEOUT_S)
        (topic,) = answer.responses
        (partition,) = topic.partition_responses
        error = ErrorCode(partition.error_code)
        if error is ErrorCode.DUPLICATE_SEQUENCE_NUMBER:
            return ErrorCode.NONE, OFFSET_UNKNOWN
        return error, partition.base_offset if partition.base_offset >= 0 else OFFSET_UNKNOWN

    def _ask(self, request: Any, version: int, timeout_s: float) -> Any:
        """The answer, once there is one that does not say "later"."""
        deadline_s = time.monotonic() + timeout_s
        while True:
            try:
                if self._client is None:
                    port = int(self.shared.bootstrap.rpartition(":")[2])
                    self._client = RawClient(port, timeout_s=ANSWER_TIMEOUT_S)
                answer = self._client.call(request, version)
            except (ConnectionEnded, OSError):
                self._hang_up()
            else:
                if not _says_later(answer):
                    return answer
            if time.monotonic() > deadline_s:
                raise Unanswered
            time.sleep(PAUSE_S)

    def _hang_up(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None


def _says_later(answer: Any) -> bool:
    # Out of order may be a retriable error elsewhere; here nothing is under way, so it stays so.
    return any(
        ErrorCode(code).retriable and code != ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        for code in _codes(answer)
    )


def _codes(answer: Any) -> list[int]:
    """The error codes of an answer's partitions, or else its own."""
    if hasattr(answer, "responses"):
        return [each.error_code for topic in answer.responses for each in topic.partition_responses]
    if hasattr(answer, "groups"):
        return [
            each.error_code for group in answer.groups for topic in group.topics for each in topic.partitions
        ] + [group.error_code for group in answer.groups if group.error_code]
    if hasattr(answer, "topics"):
        return [each.error_code for topic in answer.topics for each in topic.partitions]
    return [answer.error_code]
