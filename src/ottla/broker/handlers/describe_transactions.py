"""DescribeTransactions (key 65): what the coordinator knows of some transactional ids (KIP-664)."""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.broker.transaction_host import TransactionHost
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
    described: dict[TransactionHost, list[int]] = {}
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
            described.setdefault(host, []).append(len(response.transaction_states))
        except KafkaError as error:
            state = TransactionState(transactional_id=transactional_id, error_code=error.code)
        response.transaction_states.append(state)
    for host, places in described.items():
        # What they rest on may not be committed yet: one wait for all ids of a shard.
        if not (yield from host.committed()):
            code = ErrorCode.NOT_COORDINATOR if host.over else ErrorCode.COORDINATOR_NOT_AVAILABLE
            for place in places:
                response.transaction_states[place] = TransactionState(
                    transactional_id=request.transactional_ids[place], error_code=code
                )
    return response
