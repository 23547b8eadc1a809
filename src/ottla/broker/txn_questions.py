"""Asking a transaction coordinator on another broker whether partitions are part of a transaction (KIP-890).

As with markers, what is for one coordinator stands in one line, one request is under way, and everything that
has come meanwhile goes with the next (AddPartitionsToTxn from version 4 on, which is for brokers only). An
answer that did not come is NETWORK_EXCEPTION: whoever asked (`txn_verification`) lets the producer try again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from ottla.coordination.promise import Promise
from ottla.model.errors import ErrorCode
from ottla.model.types import TRANSACTION_STATE_TOPIC, TopicPartition
from ottla.ports.effects import Sleep, Steps
from ottla.ports.peers import Address, PeerUnavailable
from ottla.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)

if TYPE_CHECKING:
    from ottla.broker.node import Node

LANE: Final = "txn-verify"
VERSION: Final = 5
ANSWER_TIMEOUT_MS: Final = 30_000
QUESTIONS_MAX: Final = 500
"""Of one request: its answer comes when the slowest of them is there."""

Verdicts = dict[TopicPartition, ErrorCode]


class Question(NamedTuple):
    transactional_id: str
    producer_id: int
    epoch: int
    partitions: Sequence[TopicPartition]
    add: bool
    """Makes the partitions part of the transaction; otherwise they have to be."""
    coordinator_partition: int
    promise: Promise[Verdicts]

    def refuse(self, code: ErrorCode) -> None:
        self.promise.complete(dict.fromkeys(self.partitions, code))


class TxnQuestions:
    def __init__(self, node: Node) -> None:
        self._node = node
        self._lines: dict[int, deque[Question]] = {}
        """By broker; there is a line as long as a task serves it."""

    def put(self, broker_id: int, question: Question) -> None:
        line = self._lines.get(broker_id)
        if line is not None:
            line.append(question)
            return
        line = self._lines[broker_id] = deque((question,))
        self._node.driver.spawn(self._serve(broker_id, line), f"questions to the coordinator {broker_id}")

    def _serve(self, broker_id: int, line: deque[Question]) -> Steps[None]:
        # What is asked in the same pass of the loop goes with the first request.
        yield Sleep(0)
        while line:
            batch = self._next_batch(broker_id, line)
            if batch:
                yield from self._send(broker_id, batch)
        del self._lines[broker_id]

    def _next_batch(self, broker_id: int, line: deque[Question]) -> list[Question]:
        """Of each transactional id one, because the answers are known by it. Who has waited for a broker that
        is not the coordinator any more is told at once.
        """
        batch: dict[str, Question] = {}
        later: list[Question] = []
        topic = self._node.image.topics.get(TRANSACTION_STATE_TOPIC)
        states = {} if topic is None else topic.partitions
        while line and len(batch) < QUESTIONS_MAX:
            question = line.popleft()
            state = states.get(question.coordinator_partition)
            if state is None or state.leader != broker_id:
                question.refuse(ErrorCode.NOT_COORDINATOR)
            elif question.transactional_id in batch:
                later.append(question)
            else:
                batch[question.transactional_id] = question
        line.extendleft(reversed(later))
        return list(batch.values())

    def _send(self, broker_id: int, batch: list[Question]) -> Steps[None]:
        node = self._node
        broker = node.image.brokers.get(broker_id)
        if broker is None or broker.fenced:
            _refuse(batch, ErrorCode.COORDINATOR_NOT_AVAILABLE)
            return
        endpoint = node.endpoint_of(broker)
        request = AddPartitionsToTxnRequest(transactions=[_transaction(each) for each in batch])
        try:
            response: AddPartitionsToTxnResponse = yield from node.peers.call(
                Address(endpoint.host, endpoint.port),
                request,
                VERSION,
                lane=LANE,
                timeout_ms=ANSWER_TIMEOUT_MS,
            )
        except PeerUnavailable:
            _refuse(batch, ErrorCode.NETWORK_EXCEPTION)
            return
        if response.error_code:
            code = ErrorCode(response.error_code)
            # Nobody would understand that it is this broker which may not ask.
            is_denied = code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
            _refuse(batch, ErrorCode.INVALID_TXN_STATE if is_denied else code)
            return
        found = {
            each.transactional_id: {
                TopicPartition(topic.name, result.partition_index): ErrorCode(result.partition_error_code)
                for topic in each.topic_results
                for result in topic.results_by_partition
            }
            for each in response.results_by_transaction
        }
        for question in batch:
            verdicts = found.get(question.transactional_id, {})
            question.promise.complete(
                {tp: verdicts.get(tp, ErrorCode.UNKNOWN_SERVER_ERROR) for tp in question.partitions}
            )


def _transaction(question: Question) -> AddPartitionsToTxnTransaction:
    topics: dict[str, AddPartitionsToTxnTopic] = {}
    for name, index in question.partitions:
        topic = topics.get(name)
        if topic is None:
            topic = topics[name] = AddPartitionsToTxnTopic(name=name)
        topic.partitions.append(index)
    return AddPartitionsToTxnTransaction(
        transactional_id=question.transactional_id,
        producer_id=question.producer_id,
        producer_epoch=question.epoch,
        verify_only=not question.add,
        topics=list(topics.values()),
    )


def _refuse(batch: list[Question], code: ErrorCode) -> None:
    for question in batch:
        question.refuse(code)
