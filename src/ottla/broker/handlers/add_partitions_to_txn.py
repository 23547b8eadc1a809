"""AddPartitionsToTxn (key 24): these partitions are part of the transaction from now on.

v2 PRODUCER_FENCED; v4 several transactions at once and questions that only verify, for brokers (KIP-890); v5
TRANSACTION_ABORTABLE. A client adds all partitions of a request or none: one that does not exist refuses the
others with OPERATION_NOT_ATTEMPTED.
"""

from __future__ import annotations

from collections.abc import Container

from ottla.broker.context import RequestContext
from ottla.broker.coordinator import answer
from ottla.broker.replies import Close
from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.log.turn import Turn
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.limits import ADD_PARTITIONS_STRANGERS_MAX
from ottla.model.types import TopicPartition
from ottla.ports.effects import Steps
from ottla.transactions.api_versions import client_version_of_add_partitions, error_for
from ottla.transactions.shard import TransactionShard
from ottla.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
)

BATCHED_FROM = 4

Verdicts = dict[TopicPartition, ErrorCode]


def handle(
    ctx: RequestContext, request: AddPartitionsToTxnRequest
) -> Steps[AddPartitionsToTxnResponse | Close]:
    turn = Turn(ctx.node.clock)
    is_single = ctx.version < BATCHED_FROM
    asked = [request.v3_and_below_topics] if is_single else [each.topics for each in request.transactions]
    if _names_too_many(ctx, asked):
        return Close("an AddPartitionsToTxn request names more partitions than there are")
    if is_single:
        promise = yield from _add(
            ctx,
            turn,
            request.v3_and_below_transactional_id,
            request.v3_and_below_producer_id,
            request.v3_and_below_producer_epoch,
            request.v3_and_below_topics,
            verify_only=False,
        )
        results = yield from _results(ctx, turn, promise)
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results)
    # All are decided before the first is waited for: they share the wait for the high watermark.
    promises: list[Promise[Verdicts]] = []
    for each in request.transactions:
        if turn.over():
            yield turn.rest()
        promise = yield from _add(
            ctx,
            turn,
            each.transactional_id,
            each.producer_id,
            each.producer_epoch,
            each.topics,
            verify_only=each.verify_only,
        )
        promises.append(promise)
    response = AddPartitionsToTxnResponse()
    for each, promise in zip(request.transactions, promises, strict=True):
        results = yield from _results(ctx, turn, promise)
        response.results_by_transaction.append(
            AddPartitionsToTxnResult(transactional_id=each.transactional_id, topic_results=results)
        )
    return response


def _names_too_many(ctx: RequestContext, asked: list[list[AddPartitionsToTxnTopic]]) -> bool:
    """Whether a transaction names more partitions than any client can know of: each costs an answer."""
    most = max((sum(len(topic.partitions) for topic in topics) for topics in asked), default=0)
    if most <= ADD_PARTITIONS_STRANGERS_MAX:
        return False
    there = sum(len(topic.partitions) for topic in ctx.node.image.topics.values())
    return most > there + ADD_PARTITIONS_STRANGERS_MAX


def _add(
    ctx: RequestContext,
    turn: Turn,
    transactional_id: str,
    producer_id: int,
    epoch: int,
    topics: list[AddPartitionsToTxnTopic],
    *,
    verify_only: bool,
) -> Steps[Promise[Verdicts]]:
    """Decides; the promise may be kept already."""
    known = ctx.node.image.topics
    named: Verdicts = {}
    is_complete = True
    for topic in topics:
        there: Container[int] = known[topic.name].partitions if topic.name in known else ()
        for index in topic.partitions:
            if turn.over():
                yield turn.rest()
            is_there = index in there
            is_complete = is_complete and is_there
            named[TopicPartition(topic.name, index)] = (
                ErrorCode.OPERATION_NOT_ATTEMPTED if is_there else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            )
    if not is_complete:
        return _kept(named)
    if not transactional_id:
        return _kept(dict.fromkeys(named, ErrorCode.INVALID_REQUEST))
    partitions = tuple(named)

    def decision(shard: TransactionShard, promise: Promise[Verdicts]) -> Outcome:
        return shard.add_partitions(
            transactional_id,
            producer_id,
            epoch,
            partitions,
            verify_only=verify_only,
            version=client_version_of_add_partitions(ctx.version),
            promise=promise,
        )

    return ctx.node.transactions.promise(
        transactional_id, decision, lambda error: dict.fromkeys(partitions, _code(ctx, error))
    )


def _kept(verdicts: Verdicts) -> Promise[Verdicts]:
    promise: Promise[Verdicts] = Promise(lambda error: verdicts)
    promise.complete(verdicts)
    return promise


def _code(ctx: RequestContext, error: KafkaError) -> ErrorCode:
    return error_for(AddPartitionsToTxnRequest.API_KEY, ctx.version, error.code)


def _results(
    ctx: RequestContext, turn: Turn, promise: Promise[Verdicts]
) -> Steps[list[AddPartitionsToTxnTopicResult]]:
    """One for each partition, however often it was named."""
    if promise.done:
        verdicts = promise.kept()
    else:
        verdicts = yield from answer(ctx, promise)
        turn.begin()
    by_topic: dict[str, AddPartitionsToTxnTopicResult] = {}
    for (topic, index), code in verdicts.items():
        if turn.over():
            yield turn.rest()
        result = by_topic.get(topic)
        if result is None:
            result = by_topic[topic] = AddPartitionsToTxnTopicResult(name=topic)
        result.results_by_partition.append(
            AddPartitionsToTxnPartitionResult(partition_index=index, partition_error_code=code)
        )
    return list(by_topic.values())
