"""EndTxn (key 26): commit or abort.

v2 PRODUCER_FENCED; v4 TRANSACTION_ABORTABLE; v5 second generation (KIP-890): the response brings the producer
id and epoch of the next transaction. The answer rests on the decision; the markers are written after it.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.ports.effects import Steps
from ottla.wire.messages.end_txn import EndTxnRequest, EndTxnResponse


def handle(ctx: RequestContext, request: EndTxnRequest) -> EndTxnResponse | Steps[EndTxnResponse]:
    return ctx.node.transactions.submit(
        ctx,
        request.transactional_id,
        lambda shard, promise: shard.end_txn(request, ctx.version, promise),
        lambda error: EndTxnResponse(error_code=error.code),
    )
