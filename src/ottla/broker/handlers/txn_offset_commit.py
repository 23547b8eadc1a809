"""TxnOffsetCommit (key 28): a producer commits a group's offsets as part of its transaction.

v2 leader epochs; v3 the member in whose name it commits (KIP-447); v4 TRANSACTION_ABORTABLE; v5 makes the
group's partition of `__consumer_offsets` part of the transaction by itself (KIP-890), older versions have
said AddOffsetsToTxn before.

The transaction coordinator is asked before the first batch of a transaction in the partition is appended; the
connection's next request waits meanwhile. A commit of many partitions goes in pieces, each a batch of its
own: all of them count with the marker, or none.
"""

from __future__ import annotations

from ottla.broker.commit_pieces import commit_in_pieces
from ottla.broker.context import RequestContext
from ottla.broker.group_host import GroupHost
from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.groups.group import Client
from ottla.groups.offsets.txn_commit import names_a_partition, refusal
from ottla.groups.shard import Shard
from ottla.log.verification import Verification
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.types import TopicPartition
from ottla.ports.effects import Steps
from ottla.wire.messages.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitResponse
from ottla.wire.record_batch import NO_SEQUENCE

FIRST_VERSION_THAT_KNOWS_LOADING = 2
FIRST_VERSION_OF_TRANSACTION_ABORTABLE = 4
FIRST_VERSION_THAT_ADDS = 5

_TRANSLATED = {
    ErrorCode.PRODUCER_FENCED: ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.NETWORK_EXCEPTION: ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
}
"""What the question about the transaction may be answered, as clients of this API understand it."""


def handle(
    ctx: RequestContext, request: TxnOffsetCommitRequest
) -> TxnOffsetCommitResponse | Steps[TxnOffsetCommitResponse]:
    return commit_in_pieces(ctx, request, _commit)


def _commit(
    ctx: RequestContext, request: TxnOffsetCommitRequest
) -> TxnOffsetCommitResponse | Steps[TxnOffsetCommitResponse]:
    """What is asked and appended in one turn needs no proof that it was asked; after a wait it does."""
    node = ctx.node
    try:
        if not request.group_id:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID)
        host = node.groups.host_of(request.group_id)
        verification = _begin_verification(ctx, host, request)
        if verification is None:
            return _decide(ctx, request, None)
        tp = host.partition.tp
        verdicts = node.transactions.verify(
            request.transactional_id,
            request.producer_id,
            request.producer_epoch,
            [tp],
            add=ctx.version >= FIRST_VERSION_THAT_ADDS,
        )
        if not isinstance(verdicts, dict):
            return _commit_after(ctx, request, host, verification, verdicts)
        _check_verdict(ctx, request, host, verification, verdicts[tp])
    except KafkaError as error:
        return _refused(ctx, request, error)
    return _decide(ctx, request, verification)


def _begin_verification(
    ctx: RequestContext, host: GroupHost, request: TxnOffsetCommitRequest
) -> Verification | None:
    """None when nobody has to be asked. Raises KafkaError."""
    if not request.transactional_id:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "a transactional commit needs a transactional id")
    if request.producer_id < 0:
        raise KafkaError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if request.producer_epoch < 0:
        raise KafkaError(ErrorCode.INVALID_PRODUCER_EPOCH)
    if not names_a_partition(request, host.shard.state.env.topics):
        return None  # nothing will be written
    adds = ctx.version >= FIRST_VERSION_THAT_ADDS
    if not adds and not ctx.node.settings.transactions.partition_verification:
        return None
    return host.partition.begin_verification(
        request.producer_id,
        request.producer_epoch,
        NO_SEQUENCE,
        bumps_epochs=adds,
        now_ms=ctx.node.clock.now_ms(),
    )


def _commit_after(
    ctx: RequestContext,
    request: TxnOffsetCommitRequest,
    host: GroupHost,
    verification: Verification,
    steps: Steps[dict[TopicPartition, ErrorCode]],
) -> Steps[TxnOffsetCommitResponse]:
    pause = object()
    ctx.peer.pause_reading(pause)
    try:
        verdicts = yield from steps
        try:
            _check_verdict(ctx, request, host, verification, verdicts[host.partition.tp])
        except KafkaError as error:
            return _refused(ctx, request, error)
        answer = _decide(ctx, request, verification)
    finally:
        ctx.peer.resume_reading(pause)
    if not isinstance(answer, TxnOffsetCommitResponse):
        answer = yield from answer
    return answer


def _check_verdict(
    ctx: RequestContext,
    request: TxnOffsetCommitRequest,
    host: GroupHost,
    verification: Verification,
    code: ErrorCode,
) -> None:
    if code == ErrorCode.NONE:
        return
    if code == ErrorCode.INVALID_PRODUCER_ID_MAPPING:
        # No producer of this transactional id, perhaps of none: anybody can invent those.
        host.partition.log.producers.give_up_verification(request.producer_id, verification)
    if code == ErrorCode.TRANSACTION_ABORTABLE and ctx.version < FIRST_VERSION_OF_TRANSACTION_ABORTABLE:
        code = ErrorCode.INVALID_TXN_STATE
    raise KafkaError(code)


def _decide(
    ctx: RequestContext, request: TxnOffsetCommitRequest, verification: Verification | None
) -> TxnOffsetCommitResponse | Steps[TxnOffsetCommitResponse]:
    def decision(shard: Shard, client: Client, promise: Promise[TxnOffsetCommitResponse]) -> Outcome:
        outcome = shard.offsets.commit_in_transaction(request, client, promise)
        outcome.verification = verification
        return outcome

    return ctx.node.groups.submit(
        ctx, request.group_id, decision, lambda error: _refused(ctx, request, error)
    )


def _refused(
    ctx: RequestContext, request: TxnOffsetCommitRequest, error: KafkaError
) -> TxnOffsetCommitResponse:
    code = _TRANSLATED.get(error.code, error.code)
    if code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS and ctx.version < FIRST_VERSION_THAT_KNOWS_LOADING:
        # Producers before 2.0 end when they see it.
        code = ErrorCode.COORDINATOR_NOT_AVAILABLE
    response = refusal(request, KafkaError(code))
    known = ctx.node.image.topics
    for topic in response.topics:
        partitions = known[topic.name].partitions if topic.name in known else {}
        for answer in topic.partitions:
            if answer.partition_index not in partitions:
                # Whatever became of the others: nobody can commit for what does not exist.
                answer.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return response
