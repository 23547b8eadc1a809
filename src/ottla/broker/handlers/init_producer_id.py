"""InitProducerId (key 22): give an idempotent producer its identity.

Without a transactional id every call gets a fresh producer id with epoch 0, from a block that the
controller handed out; a producer that asks to go on with its old id (v3, KIP-360) gets a fresh one, too,
since only the transaction coordinator can bump an epoch. Transactional ids are the coordinator's, which
this broker does not offer: it says so with the coordinator's own error.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.model.errors import ErrorCode, KafkaError
from ottla.ports.effects import Steps
from ottla.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse


def handle(
    ctx: RequestContext, request: InitProducerIdRequest
) -> InitProducerIdResponse | Steps[InitProducerIdResponse]:
    if request.transactional_id is not None:
        if not request.transactional_id:
            return _refused(ErrorCode.INVALID_REQUEST)
        return _refused(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    if (request.producer_id >= 0) != (request.producer_epoch >= 0):
        return _refused(ErrorCode.INVALID_REQUEST)
    producer_id = ctx.node.producer_ids.take()
    if producer_id is not None:
        return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)
    return _after_next_block(ctx)


def _after_next_block(ctx: RequestContext) -> Steps[InitProducerIdResponse]:
    try:
        producer_id = yield from ctx.node.producer_ids.take_from_next_block()
    except KafkaError:
        # Whatever kept the next block away: this is the code that every producer tries again after.
        return _refused(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)


def _refused(code: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=code, producer_id=-1, producer_epoch=-1)
