"""OffsetDelete (version 0): an admin takes back committed offsets of a group that does not read the topic."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.groups.offsets.pending import PendingOffsets
from ottla.groups.offsets.record import offset_tombstone
from ottla.groups.offsets.store import OffsetStore
from ottla.groups.shard_state import ShardState
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)


def decide_delete(
    state: ShardState,
    store: OffsetStore,
    pending: PendingOffsets,
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
            elif store.get(group_id, topic.name, index) is not None or pending.is_open(
                group_id, topic.name, index
            ):
                outcome.records.append(offset_tombstone(group_id, topic.name, index))
            results.append(OffsetDeleteResponsePartition(partition_index=index, error_code=int(error)))
        response.topics.append(OffsetDeleteResponseTopic(name=topic.name, partitions=results))
    outcome.answer(promise, response)
    return outcome


def pieces(request: OffsetDeleteRequest, partitions_max: int) -> list[OffsetDeleteRequest]:
    """The request as several that name at most so many partitions each, in order; itself when it is small."""
    if sum(len(topic.partitions) for topic in request.topics) <= partitions_max:
        return [request]
    return [
        OffsetDeleteRequest(
            group_id=request.group_id,
            topics=[
                OffsetDeleteRequestTopic(
                    name=topic.name, partitions=topic.partitions[begin : begin + partitions_max]
                )
            ],
        )
        for topic in request.topics
        for begin in range(0, max(len(topic.partitions), 1), partitions_max)
    ]


def merge(responses: Sequence[OffsetDeleteResponse]) -> OffsetDeleteResponse:
    """One response from those to the pieces; a refusal of one is the answer."""
    merged = OffsetDeleteResponse()
    for response in responses:
        if response.error_code:
            return response
        for topic in response.topics:
            if merged.topics and merged.topics[-1].name == topic.name:
                merged.topics[-1].partitions += topic.partitions
            else:
                merged.topics.append(topic)
    return merged


def refusal(error: KafkaError) -> OffsetDeleteResponse:
    return OffsetDeleteResponse(error_code=int(error.code))
