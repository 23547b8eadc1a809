"""DescribeTransactions (key 65): what the coordinator knows of some transactional ids (KIP-664)."""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.log.turn import Turn
from ottla.model.errors import ErrorCode, KafkaError
from ottla.ports.effects import Steps
from ottla.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)


def handle(ctx: RequestContext, request: DescribeTransactionsRequest) -> Steps[DescribeTransactionsResponse]:
    response = DescribeTransactionsResponse()
    transactions = ctx.node.transactions
    turn = Turn(ctx.node.clock)
    seen: set[str] = set()
    for transactional_id in request.transactional_ids:
        if turn.over():
            yield turn.rest()
        try:
            if transactional_id in seen:
                # Once is enough: a few bytes of a request must not become a list of partitions each.
                raise KafkaError(ErrorCode.INVALID_REQUEST)
            seen.add(transactional_id)
            host = transactions.host_of(transactional_id)
            state = host.shard.describe(transactional_id)
            # What it rests on may not be committed yet.
            yield from host.committed(host.last_offset)
        except KafkaError as error:
            state = TransactionState(transactional_id=transactional_id, error_code=error.code)
        response.transaction_states.append(state)
    return response
