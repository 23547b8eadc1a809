"""What a transactional producer asks its coordinators, and how the answers are to be taken.

Every request is repeated until there is a verdict on it: coordinators that move, load, or are busy with the
last transaction are waited for. An answer that is not `DONE` says whether the transaction can still be
aborted or the producer is at its end; the tables are those of Kafka's Java client.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum, auto
from typing import Final

from ottla.client.errors import CommitFailed, OttlaError, ServerError
from ottla.client.records import GroupMetadata, OffsetAndMetadata
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from ottla.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from ottla.wire.messages.end_txn import EndTxnRequest
from ottla.wire.messages.init_producer_id import InitProducerIdRequest
from ottla.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)

ADD_PARTITIONS_VERSION_MAX: Final = 3
"""Version 4 and above are for brokers."""
END_TXN_VERSION_MAX_OLD: Final = 4
TXN_OFFSET_COMMIT_VERSION_MAX_OLD: Final = 4
"""The next version is for transactions of the second generation (KIP-890)."""


class Verdict(Enum):
    DONE = auto()
    AGAIN = auto()
    LOOK_UP = auto()
    """Again, with another coordinator."""
    ABORTABLE = auto()
    ABORTABLE_IF_POSSIBLE = auto()
    """Abortable if the epoch can be bumped, else the end."""
    FENCED = auto()
    FATAL = auto()


_MOVED: Final = frozenset({ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE})
_FENCED: Final = frozenset({ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED})

INIT_ABORTABLE: Final = frozenset(
    {
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.TRANSACTION_ABORTABLE,
    }
)
END_ABORTABLE: Final = frozenset({ErrorCode.TRANSACTION_ABORTABLE})
ADD_OFFSETS_ABORTABLE: Final = frozenset(
    {ErrorCode.GROUP_AUTHORIZATION_FAILED, ErrorCode.TRANSACTION_ABORTABLE}
)
_ADD_PARTITIONS_FATAL: Final = frozenset(
    {
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        ErrorCode.INVALID_TXN_STATE,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
    }
)
_GROUP_MOVED_ON: Final = frozenset(
    {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION, ErrorCode.STALE_MEMBER_EPOCH}
)
_COMMIT_ABORTABLE: Final = frozenset(
    {
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.TRANSACTION_ABORTABLE,
    }
)
FATAL_FOR_BATCHES: Final = frozenset(
    {
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
    }
)
"""Errors of a batch after which there is no going on; all others can be aborted."""


def verdict_on(code: int, abortable: frozenset[ErrorCode]) -> Verdict:
    """On an answer that has one code; `abortable`: what else than an unknown producer can be aborted."""
    if code == ErrorCode.NONE:
        return Verdict.DONE
    if code in _MOVED:
        return Verdict.LOOK_UP
    if code in _FENCED:
        return Verdict.FENCED
    if code in abortable:
        return Verdict.ABORTABLE
    if code == ErrorCode.UNKNOWN_PRODUCER_ID:
        return Verdict.ABORTABLE_IF_POSSIBLE
    return Verdict.AGAIN if ServerError(code).retriable else Verdict.FATAL


# --- requests -----------------------------------------------------------------------------------------------


def init_request(
    transactional_id: str, timeout_ms: int, producer: tuple[int, int] = (-1, -1)
) -> InitProducerIdRequest:
    return InitProducerIdRequest(
        transactional_id=transactional_id,
        transaction_timeout_ms=timeout_ms,
        producer_id=producer[0],
        producer_epoch=producer[1],
    )


def end_request(transactional_id: str, producer: tuple[int, int], *, committed: bool) -> EndTxnRequest:
    return EndTxnRequest(
        transactional_id=transactional_id,
        producer_id=producer[0],
        producer_epoch=producer[1],
        committed=committed,
    )


def add_offsets_request(
    transactional_id: str, producer: tuple[int, int], group_id: str
) -> AddOffsetsToTxnRequest:
    return AddOffsetsToTxnRequest(
        transactional_id=transactional_id,
        producer_id=producer[0],
        producer_epoch=producer[1],
        group_id=group_id,
    )


def add_partitions_request(
    transactional_id: str, producer: tuple[int, int], partitions: Iterable[TopicPartition]
) -> AddPartitionsToTxnRequest:
    topics: dict[str, list[int]] = {}
    for topic, partition in partitions:
        topics.setdefault(topic, []).append(partition)
    return AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=transactional_id,
        v3_and_below_producer_id=producer[0],
        v3_and_below_producer_epoch=producer[1],
        v3_and_below_topics=[
            AddPartitionsToTxnTopic(name=name, partitions=indexes) for name, indexes in topics.items()
        ],
    )


def commit_offsets_request(
    transactional_id: str,
    producer: tuple[int, int],
    group: GroupMetadata,
    offsets: Mapping[TopicPartition, OffsetAndMetadata],
) -> TxnOffsetCommitRequest:
    topics: dict[str, list[TxnOffsetCommitRequestPartition]] = {}
    for tp, committed in offsets.items():
        topics.setdefault(tp.topic, []).append(
            TxnOffsetCommitRequestPartition(
                partition_index=tp.partition,
                committed_offset=committed.offset,
                committed_leader_epoch=committed.leader_epoch,
                committed_metadata=committed.metadata,
            )
        )
    return TxnOffsetCommitRequest(
        transactional_id=transactional_id,
        group_id=group.group_id,
        producer_id=producer[0],
        producer_epoch=producer[1],
        generation_id=group.generation_id,
        member_id=group.member_id,
        group_instance_id=group.group_instance_id,
        topics=[
            TxnOffsetCommitRequestTopic(name=name, partitions=partitions)
            for name, partitions in topics.items()
        ],
    )


# --- answers that speak of many partitions ------------------------------------------------------------------


def judge_added(response: AddPartitionsToTxnResponse) -> tuple[Verdict, OttlaError | None, int]:
    """On AddPartitionsToTxn: the verdict, why, and the code that it rests on."""
    unexpected: ServerError | None = None
    unauthorized: ServerError | None = None
    for topic in response.results_by_topic_v3_and_below:
        for entry in topic.results_by_partition:
            code = entry.partition_error_code
            if code == ErrorCode.NONE:
                continue
            error = ServerError(code, subject=f"{topic.name}-{entry.partition_index}")
            if code == ErrorCode.TOPIC_AUTHORIZATION_FAILED:
                unauthorized = error
                continue
            verdict = verdict_on(code, END_ABORTABLE)
            if verdict is Verdict.FATAL and code not in _ADD_PARTITIONS_FATAL:
                # Among these OPERATION_NOT_ATTEMPTED: another partition has the reason.
                if unexpected is None or unexpected.code == ErrorCode.OPERATION_NOT_ATTEMPTED:
                    unexpected = error
                continue
            return verdict, error, code
    if unauthorized is not None:
        return Verdict.ABORTABLE, unauthorized, unauthorized.code
    if unexpected is not None:
        return Verdict.ABORTABLE, unexpected, unexpected.code
    return Verdict.DONE, None, ErrorCode.NONE


def judge_committed(
    response: TxnOffsetCommitResponse, left: dict[TopicPartition, OffsetAndMetadata]
) -> tuple[Verdict, OttlaError | None]:
    """On TxnOffsetCommit; takes what was committed out of `left`."""
    verdict, reason = Verdict.DONE, None
    for topic in response.topics:
        for entry in topic.partitions:
            tp = TopicPartition(topic.name, entry.partition_index)
            code = entry.error_code
            if code == ErrorCode.NONE:
                left.pop(tp, None)
                continue
            error = ServerError(code, subject=f"offset of {tp}")
            if code in _MOVED or code == ErrorCode.REQUEST_TIMED_OUT:
                verdict, reason = Verdict.LOOK_UP, error
            elif error.retriable:
                if verdict is not Verdict.LOOK_UP:
                    verdict, reason = Verdict.AGAIN, error
            elif code in _GROUP_MOVED_ON:
                refused = CommitFailed(f"the group has moved on, the offsets were not committed: {error}")
                refused.__cause__ = error
                return Verdict.ABORTABLE, refused
            elif code in _COMMIT_ABORTABLE:
                return Verdict.ABORTABLE, error
            else:
                return (Verdict.FENCED if code in _FENCED else Verdict.FATAL), error
    if verdict is Verdict.DONE and left:
        verdict = Verdict.AGAIN  # partitions that the answer leaves out
    return verdict, reason
