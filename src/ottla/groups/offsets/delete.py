"""OffsetDelete (version 0): an admin takes back committed offsets of a group that does not read the topic."""

from __future__ import annotations

from ottla.groups.offsets.record import offset_tombstone
from ottla.groups.offsets.store import OffsetStore
from ottla.groups.outcome import Outcome
from ottla.groups.promise import Promise
from ottla.groups.shard_state import ShardState
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)


def decide_delete(
    state: ShardState,
    store: OffsetStore,
    request: OffsetDeleteRequest,
    promise: Promise[OffsetDeleteResponse],
) -> Outcome:
    """Raises INVALID_GROUP_ID, GROUP_ID_NOT_FOUND or NON_EMPTY_GROUP for the whole request."""
    group_id = request.group_id
    if not group_id:
        raise KafkaError(ErrorCode.INVALID_GROUP_ID)
    group = state.groups.get(group_id)
    if group is None:
        raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
    group.check_offset_delete()
    outcome = Outcome()
    response = OffsetDeleteResponse()
    for topic in request.topics:
        facts = state.env.topics.topic(topic.name)
        partition_count = 0 if facts is None else facts.partition_count
        in_use = group.is_subscribed_to(topic.name)
        results: list[OffsetDeleteResponsePartition] = []
        for partition in topic.partitions:
            index = partition.partition_index
            error = ErrorCode.NONE
            if not 0 <= index < partition_count:
                error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            elif in_use:
                error = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
            elif store.get(group_id, topic.name, index) is not None:
                outcome.records.append(offset_tombstone(group_id, topic.name, index))
            results.append(OffsetDeleteResponsePartition(partition_index=index, error_code=int(error)))
        response.topics.append(OffsetDeleteResponseTopic(name=topic.name, partitions=results))
    outcome.answer(promise, response)
    return outcome


def refusal(error: KafkaError) -> OffsetDeleteResponse:
    return OffsetDeleteResponse(error_code=int(error.code))
