"""DescribeTransactions (key 65): what the coordinator knows of some transactional ids (KIP-664)."""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.log.turn import Turn
from ottla.model.errors import KafkaError
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
    for transactional_id in request.transactional_ids:
        if turn.over():
            yield turn.rest()
        try:
            host = transactions.host_of(transactional_id)
            state = host.shard.describe(transactional_id)
            # What it rests on may not be committed yet.
            yield from host.committed(host.last_offset)
        except KafkaError as error:
            state = TransactionState(transactional_id=transactional_id, error_code=error.code)
        response.transaction_states.append(state)
    return response
