"""ListTransactions (key 66): the transactional ids that this broker coordinates (KIP-664).

v1 by duration; v2 by a pattern of the id (KIP-1152).
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.log.turn import Turn
from ottla.model.errors import ErrorCode, KafkaError
from ottla.ports.effects import Steps
from ottla.transactions.admin import read_filters
from ottla.wire.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse


def handle(ctx: RequestContext, request: ListTransactionsRequest) -> Steps[ListTransactionsResponse]:
    turn = Turn(ctx.node.clock)
    try:
        filters, unknown = read_filters(request)
        response = ListTransactionsResponse(unknown_state_filters=unknown)
        for host in list(ctx.node.transactions.hosts_in_order()):
            for some in host.shard.matching_in_pieces(filters):
                response.transaction_states += some
                if turn.over():
                    yield turn.rest()
            # What it rests on may not be committed yet.
            if not (yield from host.committed()):
                raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
            turn.begin()
    except KafkaError as error:
        return ListTransactionsResponse(error_code=error.code)
    return response
