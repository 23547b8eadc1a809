"""AddPartitionsToTxn (key 24): these partitions are part of the transaction from now on.

v2 PRODUCER_FENCED; v4 several transactions at once and questions that only verify, for brokers (KIP-890); v5
TRANSACTION_ABORTABLE. A client adds all partitions of a request or none: one that does not exist refuses the
others with OPERATION_NOT_ATTEMPTED.
"""

from __future__ import annotations

from collections.abc import Mapping

from ottla.broker.context import RequestContext
from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.log.turn import Turn
from ottla.model.errors import ErrorCode, KafkaError
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
    AddPartitionsToTxnTransaction,
)

BATCHED_FROM = 4

Verdicts = dict[TopicPartition, ErrorCode]


def handle(ctx: RequestContext, request: AddPartitionsToTxnRequest) -> Steps[AddPartitionsToTxnResponse]:
    if ctx.version < BATCHED_FROM:
        topics = request.v3_and_below_topics
        verdicts = yield from _add(
            ctx,
            request.v3_and_below_transactional_id,
            request.v3_and_below_producer_id,
            request.v3_and_below_producer_epoch,
            topics,
            verify_only=False,
        )
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=_results(topics, verdicts))
    response = AddPartitionsToTxnResponse()
    turn = Turn(ctx.node.clock)
    for each in request.transactions:
        if turn.over():
            yield turn.rest()
        response.results_by_transaction.append((yield from _one_of_many(ctx, each)))
    return response


def _one_of_many(ctx: RequestContext, each: AddPartitionsToTxnTransaction) -> Steps[AddPartitionsToTxnResult]:
    verdicts = yield from _add(
        ctx,
        each.transactional_id,
        each.producer_id,
        each.producer_epoch,
        each.topics,
        verify_only=each.verify_only,
    )
    return AddPartitionsToTxnResult(
        transactional_id=each.transactional_id, topic_results=_results(each.topics, verdicts)
    )


def _add(
    ctx: RequestContext,
    transactional_id: str,
    producer_id: int,
    epoch: int,
    topics: list[AddPartitionsToTxnTopic],
    *,
    verify_only: bool,
) -> Steps[Verdicts]:
    partitions = [TopicPartition(topic.name, index) for topic in topics for index in topic.partitions]
    known = ctx.node.image.topics
    missing = {
        tp for tp in partitions if tp.topic not in known or tp.partition not in known[tp.topic].partitions
    }
    if missing:
        return {
            tp: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if tp in missing else ErrorCode.OPERATION_NOT_ATTEMPTED
            for tp in partitions
        }
    if not transactional_id:
        return dict.fromkeys(partitions, ErrorCode.INVALID_REQUEST)

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

    return (
        yield from ctx.node.transactions.ask(
            ctx, transactional_id, decision, lambda error: dict.fromkeys(partitions, _code(ctx, error))
        )
    )


def _code(ctx: RequestContext, error: KafkaError) -> ErrorCode:
    return error_for(AddPartitionsToTxnRequest.API_KEY, ctx.version, error.code)


def _results(
    topics: list[AddPartitionsToTxnTopic], verdicts: Mapping[TopicPartition, ErrorCode]
) -> list[AddPartitionsToTxnTopicResult]:
    return [
        AddPartitionsToTxnTopicResult(
            name=topic.name,
            results_by_partition=[
                AddPartitionsToTxnPartitionResult(
                    partition_index=index,
                    partition_error_code=verdicts[TopicPartition(topic.name, index)],
                )
                for index in topic.partitions
            ],
        )
        for topic in topics
    ]
