"""AddOffsetsToTxn (key 25): the group's partition of `__consumer_offsets` is part of the transaction.

v2 PRODUCER_FENCED; v4 TRANSACTION_ABORTABLE. Clients of the second generation do not send it: TxnOffsetCommit
adds the partition by itself.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.types import CONSUMER_OFFSETS_TOPIC, TopicPartition
from ottla.ports.effects import Steps
from ottla.transactions.api_versions import error_for
from ottla.transactions.shard import TransactionShard
from ottla.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse

Verdicts = dict[TopicPartition, ErrorCode]


def handle(ctx: RequestContext, request: AddOffsetsToTxnRequest) -> Steps[AddOffsetsToTxnResponse]:
    try:
        if not request.transactional_id:
            raise KafkaError(ErrorCode.INVALID_REQUEST)
        tp = TopicPartition(CONSUMER_OFFSETS_TOPIC, ctx.node.groups.partition_of(request.group_id))
    except KafkaError as error:
        return AddOffsetsToTxnResponse(error_code=error.code)

    def decision(shard: TransactionShard, promise: Promise[Verdicts]) -> Outcome:
        return shard.add_partitions(
            request.transactional_id,
            request.producer_id,
            request.producer_epoch,
            (tp,),
            verify_only=False,
            version=0,
            promise=promise,
        )

    verdicts = yield from ctx.node.transactions.ask(
        ctx, request.transactional_id, decision, lambda error: {tp: error.code}
    )
    code = error_for(AddOffsetsToTxnRequest.API_KEY, ctx.version, verdicts[tp])
    return AddOffsetsToTxnResponse(error_code=code)
