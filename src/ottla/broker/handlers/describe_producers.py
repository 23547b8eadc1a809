"""DescribeProducers (key 61): who writes to a partition, and since where a transaction is open (KIP-664).

What `kafka-transactions.sh find-hanging` and `abort` look at: a transaction that is open here and that no
coordinator knows. Any replica answers.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.log.turn import Turn
from ottla.model.errors import ErrorCode
from ottla.model.topics import topic_name_problem
from ottla.ports.effects import Steps, run_now
from ottla.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)

PARTITIONS_AT_ONCE = 16
PRODUCERS_AT_ONCE = 500


def handle(
    ctx: RequestContext, request: DescribeProducersRequest
) -> DescribeProducersResponse | Steps[DescribeProducersResponse]:
    steps = _describe(ctx, request)
    return run_now(steps) if _is_small(ctx, request) else steps


def _is_small(ctx: RequestContext, request: DescribeProducersRequest) -> bool:
    if sum(len(topic.partition_indexes) for topic in request.topics) > PARTITIONS_AT_ONCE:
        return False
    asked = [
        ctx.node.partitions.get((topic.name, index))
        for topic in request.topics
        for index in topic.partition_indexes
    ]
    return sum(len(each.log.producers) for each in asked if each is not None) <= PRODUCERS_AT_ONCE


def _describe(ctx: RequestContext, request: DescribeProducersRequest) -> Steps[DescribeProducersResponse]:
    turn = Turn(ctx.node.clock)
    response = DescribeProducersResponse()
    seen: set[tuple[str, int]] = set()
    for topic in request.topics:
        problem = topic_name_problem(topic.name)
        answers = TopicResponse(name=topic.name)
        response.topics.append(answers)
        for index in topic.partition_indexes:
            if turn.over():
                yield turn.rest()
            answer = PartitionResponse(partition_index=index)
            answers.partitions.append(answer)
            if problem is not None:
                answer.error_code = ErrorCode.INVALID_TOPIC_EXCEPTION
                answer.error_message = problem
            elif (topic.name, index) in seen:
                # Once is enough: a small request must not become an answer of any size.
                answer.error_code = ErrorCode.INVALID_REQUEST
                answer.error_message = "the partition is named twice"
            else:
                seen.add((topic.name, index))
                yield from _fill(ctx, turn, answer, topic.name)
    return response


def _fill(ctx: RequestContext, turn: Turn, answer: PartitionResponse, topic: str) -> Steps[None]:
    node = ctx.node
    partition = node.partitions.get((topic, answer.partition_index))
    if partition is None:
        answer.error_code = node.absence(topic, answer.partition_index)
        return
    for entry in list(partition.log.producers):
        if turn.over():
            yield turn.rest()
        answer.active_producers.append(
            ProducerState(
                producer_id=entry.producer_id,
                producer_epoch=entry.epoch,
                last_sequence=entry.last_sequence,
                last_timestamp=entry.last_timestamp,
                coordinator_epoch=entry.coordinator_epoch,
                current_txn_start_offset=entry.txn_first_offset,
            )
        )
