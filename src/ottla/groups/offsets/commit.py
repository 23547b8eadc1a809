"""OffsetCommit: what a group accepts of it becomes records, partition by partition.

Versions 2 to 10. 2 to 4 may give the offsets a retention of their own; 6 adds leader epochs, 7 static
members; from 9 an unknown group is GROUP_ID_NOT_FOUND instead of ILLEGAL_GENERATION; 10 names topics by id.

A partition that does not exist has its error whatever the group says, and the group is only asked when there
is something left to commit, as in Kafka. Any offset is accepted, a negative one too.

A commit of many partitions is cut into requests that each take little of a turn (`pieces`), and `merge`
makes one response of theirs.
"""

from __future__ import annotations

from typing import Final

from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.groups.group import Client
from ottla.groups.offsets.record import offset_record
from ottla.groups.offsets.store import NO_EXPIRY
from ottla.groups.shard_state import ShardState
from ottla.model.errors import ErrorCode, KafkaError
from ottla.ports.topic_view import TopicFacts, TopicView
from ottla.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

FIRST_VERSION_WITH_TOPIC_IDS: Final = 10
FIRST_VERSION_OF_GROUP_ID_NOT_FOUND: Final = 9
NO_RETENTION_TIME: Final = -1
INT64_MAX: Final = 2**63 - 1

_NONE: Final = int(ErrorCode.NONE)
_UNKNOWN_TOPIC_OR_PARTITION: Final = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
_UNKNOWN_TOPIC_ID: Final = int(ErrorCode.UNKNOWN_TOPIC_ID)
_OFFSET_METADATA_TOO_LARGE: Final = int(ErrorCode.OFFSET_METADATA_TOO_LARGE)


def decide_commit(
    state: ShardState, request: OffsetCommitRequest, client: Client, promise: Promise[OffsetCommitResponse]
) -> Outcome:
    env = state.env
    outcome = Outcome()
    records = outcome.records
    response = OffsetCommitResponse()
    group_id = request.group_id
    now_ms = env.clock.now_ms()
    expire_ms = NO_EXPIRY
    if request.retention_time_ms != NO_RETENTION_TIME:
        expire_ms = min(now_ms + request.retention_time_ms, INT64_MAX)
    metadata_max = env.settings.offset_metadata_max_bytes
    group_error: int | None = None  # not asked yet
    for topic in request.topics:
        facts = _facts_of(topic, env.topics, client.api_version)
        partition_count = 0 if facts is None else facts.partition_count
        unknown = _UNKNOWN_TOPIC_OR_PARTITION
        if facts is None and client.api_version >= FIRST_VERSION_WITH_TOPIC_IDS:
            unknown = _UNKNOWN_TOPIC_ID
        topic_id = topic.topic_id
        results: list[OffsetCommitResponsePartition] = []
        response.topics.append(
            OffsetCommitResponseTopic(name=topic.name, topic_id=topic_id, partitions=results)
        )
        for partition in topic.partitions:
            index = partition.partition_index
            if not 0 <= index < partition_count:
                results.append(OffsetCommitResponsePartition(partition_index=index, error_code=unknown))
                continue
            assert facts is not None
            if group_error is None:
                group_error = _ask_group(state, request, client)
            if group_error:
                results.append(OffsetCommitResponsePartition(partition_index=index, error_code=group_error))
                continue
            metadata = partition.committed_metadata
            if not metadata:
                metadata = ""
            elif java_length_exceeds(metadata, metadata_max):
                results.append(
                    OffsetCommitResponsePartition(
                        partition_index=index, error_code=_OFFSET_METADATA_TOO_LARGE
                    )
                )
                continue
            records.append(
                offset_record(
                    group_id,
                    facts.name,
                    index,
                    partition.committed_offset,
                    partition.committed_leader_epoch,
                    metadata,
                    now_ms,
                    expire_ms,
                    topic_id,
                )
            )
            results.append(OffsetCommitResponsePartition(partition_index=index))
    outcome.answer(promise, response)
    return outcome


def _facts_of(topic: OffsetCommitRequestTopic, topics: TopicView, api_version: int) -> TopicFacts | None:
    if api_version >= FIRST_VERSION_WITH_TOPIC_IDS:
        return topics.topic_by_id(topic.topic_id)
    return topics.topic(topic.name)


def _ask_group(state: ShardState, request: OffsetCommitRequest, client: Client) -> int:
    """The error with which the group refuses the commit, or 0. The member's session begins anew."""
    group = state.groups.get(request.group_id)
    if group is None:
        # Without a generation it comes from a client that assigns partitions itself, or from an admin: the
        # replay of its first record makes a group of it.
        if request.generation_id_or_member_epoch < 0:
            return _NONE
        if client.api_version >= FIRST_VERSION_OF_GROUP_ID_NOT_FOUND:
            return int(ErrorCode.GROUP_ID_NOT_FOUND)
        return int(ErrorCode.ILLEGAL_GENERATION)
    member_id = request.member_id
    try:
        group.check_offset_commit(
            member_id,
            request.group_instance_id,
            request.generation_id_or_member_epoch,
            client.api_version,
            is_txn=False,
        )
    except KafkaError as error:
        return int(error.code)
    session_ms = group.session_after_commit_ms(member_id)
    if session_ms is not None:
        deadline_ms = state.env.clock.monotonic_ms() + session_ms
        state.timers.move(("session", request.group_id, member_id), deadline_ms)
    return _NONE


def java_length_exceeds(text: str, length_max: int) -> bool:
    """Java counts UTF-16 code units: two for a character outside the basic plane."""
    length = len(text)
    if length > length_max:
        return True
    if length * 2 <= length_max or text.isascii():
        return False
    return length + sum(char > "\uffff" for char in text) > length_max


def refusal(request: OffsetCommitRequest, error: KafkaError) -> OffsetCommitResponse:
    """The response that carries one error for every partition."""
    code = int(error.code)
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    OffsetCommitResponsePartition(partition_index=each.partition_index, error_code=code)
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
