"""TxnOffsetCommit: offsets that a group will have committed once the producer's transaction is committed.

Versions 0 to 5. 2 adds leader epochs, 3 the member in whose name the producer commits, which fences producers
of members that have lost their partitions (KIP-447). Whether the transaction exists has been asked by then.

As in OffsetCommit a partition that does not exist has its error whatever the group says, and the group is
only asked when something is left. The records are one batch of the transaction; a commit of many partitions
is cut into several (`pieces`).
"""

from __future__ import annotations

from typing import Final

from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.groups.group import Client
from ottla.groups.offsets.commit import java_length_exceeds
from ottla.groups.offsets.record import offset_record
from ottla.groups.offsets.store import NO_EXPIRY
from ottla.groups.shard_state import ShardState
from ottla.model.errors import ErrorCode, KafkaError
from ottla.ports.topic_view import TopicView
from ottla.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from ottla.wire.primitives import ZERO_UUID

_NONE: Final = int(ErrorCode.NONE)
_UNKNOWN_TOPIC_OR_PARTITION: Final = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
_OFFSET_METADATA_TOO_LARGE: Final = int(ErrorCode.OFFSET_METADATA_TOO_LARGE)


def decide_txn_commit(
    state: ShardState,
    request: TxnOffsetCommitRequest,
    client: Client,
    promise: Promise[TxnOffsetCommitResponse],
) -> Outcome:
    env = state.env
    outcome = Outcome()
    records = outcome.records
    response = TxnOffsetCommitResponse()
    now_ms = env.clock.now_ms()
    metadata_max = env.settings.offset_metadata_max_bytes
    group_error: int | None = None  # not asked yet
    for topic in request.topics:
        facts = env.topics.topic(topic.name)
        partition_count = 0 if facts is None else facts.partition_count
        results: list[TxnOffsetCommitResponsePartition] = []
        response.topics.append(TxnOffsetCommitResponseTopic(name=topic.name, partitions=results))
        for partition in topic.partitions:
            index = partition.partition_index
            metadata = partition.committed_metadata or ""
            if not 0 <= index < partition_count:
                error = _UNKNOWN_TOPIC_OR_PARTITION
            else:
                if group_error is None:
                    group_error = _ask_group(state, request, client)
                error = group_error
                if not error and java_length_exceeds(metadata, metadata_max):
                    error = _OFFSET_METADATA_TOO_LARGE
            results.append(TxnOffsetCommitResponsePartition(partition_index=index, error_code=error))
            if not error:
                records.append(
                    offset_record(
                        request.group_id,
                        topic.name,
                        index,
                        partition.committed_offset,
                        partition.committed_leader_epoch,
                        metadata,
                        now_ms,
                        NO_EXPIRY,
                        ZERO_UUID,
                    )
                )
    if records:
        outcome.producer = (request.producer_id, request.producer_epoch)
    outcome.answer(promise, response)
    return outcome


def _ask_group(state: ShardState, request: TxnOffsetCommitRequest, client: Client) -> int:
    """The error with which the group refuses the commit, or 0. It is no sign of life of the member: a
    producer sent it.
    """
    if not request.group_id:
        return int(ErrorCode.INVALID_GROUP_ID)
    group = state.groups.get(request.group_id)
    if group is None:
        # As for OffsetCommit: without a generation the first record makes a group.
        return _NONE if request.generation_id < 0 else int(ErrorCode.ILLEGAL_GENERATION)
    try:
        group.check_offset_commit(
            request.member_id,
            request.group_instance_id,
            request.generation_id,
            client.api_version,
            is_txn=True,
        )
    except KafkaError as error:
        # No version of this API knows of epochs of members.
        if error.code == ErrorCode.STALE_MEMBER_EPOCH:
            return int(ErrorCode.ILLEGAL_GENERATION)
        return int(error.code)
    return _NONE


def names_a_partition(request: TxnOffsetCommitRequest, topics: TopicView) -> bool:
    """Whether any partition that the request names exists."""
    for topic in request.topics:
        facts = topics.topic(topic.name)
        if facts is not None and any(
            0 <= each.partition_index < facts.partition_count for each in topic.partitions
        ):
            return True
    return False


def refusal(request: TxnOffsetCommitRequest, error: KafkaError) -> TxnOffsetCommitResponse:
    """The response that carries one error for every partition."""
    code = int(error.code)
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                name=topic.name,
                partitions=[
                    TxnOffsetCommitResponsePartition(partition_index=each.partition_index, error_code=code)
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
