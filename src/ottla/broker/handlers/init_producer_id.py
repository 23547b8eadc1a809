"""InitProducerId (key 22): give a producer its identity.

Without a transactional id every call gets a fresh producer id with epoch 0, from a block that the
controller handed out; a producer that asks to go on with its old id (v3, KIP-360) gets a fresh one, too,
since only the transaction coordinator can bump an epoch. With one, the coordinator decides: the same
producer id with the next epoch, which fences whoever had the id before and aborts what was left open. v4
PRODUCER_FENCED; v5 second generation of transactions (KIP-890).
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.model.errors import ErrorCode, KafkaError
from ottla.ports.effects import Steps
from ottla.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse


def handle(
    ctx: RequestContext, request: InitProducerIdRequest
) -> InitProducerIdResponse | Steps[InitProducerIdResponse]:
    version = ctx.version
    if (request.producer_id >= 0) != (request.producer_epoch >= 0):
        return _refused(ErrorCode.INVALID_REQUEST)
    if request.transactional_id is not None:
        if not request.transactional_id:
            return _refused(ErrorCode.INVALID_REQUEST)
        return ctx.node.transactions.submit(
            ctx,
            request.transactional_id,
            lambda shard, promise: shard.init_producer_id(request, promise, version),
            lambda error: _refused(error.code),
        )
    producer_id = ctx.node.producer_ids.take()
    if producer_id is not None:
        return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)
    return _after_next_block(ctx)


def _after_next_block(ctx: RequestContext) -> Steps[InitProducerIdResponse]:
    producer_ids = ctx.node.producer_ids
    try:
        while (producer_id := producer_ids.take()) is None:
            yield from producer_ids.fill()
    except KafkaError:
        # Whatever kept the next block away: this is the code that every producer tries again after.
        return _refused(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)


def _refused(code: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=code, producer_id=-1, producer_epoch=-1)
