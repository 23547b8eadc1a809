"""OffsetFetch: what a group has committed, for the partitions asked for or for all.

Versions 1 to 10. Up to 7 a request is about one group; from 8 it has a list of groups, which may live in
different shards: `groups_of` and `response_of` translate the old form, so that the rest knows only the new.
All topics may be asked for from 2 (null instead of a list), an error of the whole group exists from 2; 9 adds
the member and its epoch; 10 names topics by id.

An unknown group, topic or partition is no error: its offset is -1. An offset that was committed for another
topic of the same name is not given to who asks by topic id.

Offsets of open transactions are not in the store. Who wants stable ones (from 7 on, KIP-447) is answered
UNSTABLE_OFFSET_COMMIT, and asks again, where a transaction may still change the offset: it would begin to
read where another has been, otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ottla.groups.offsets.pending import PendingOffsets
from ottla.groups.offsets.store import Committed, OffsetStore
from ottla.groups.shard_state import ShardState
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from ottla.wire.primitives import ZERO_UUID

FIRST_VERSION_WITH_GROUP_ERRORS: Final = 2
FIRST_VERSION_WITH_GROUPS: Final = 8
FIRST_VERSION_WITH_TOPIC_IDS: Final = 10
NO_OFFSET: Final = -1

_NO_TOPICS: Final[Mapping[str, Mapping[int, Committed]]] = {}
_NO_PARTITIONS: Final[Mapping[int, Committed]] = {}


def fetch_group(
    state: ShardState,
    store: OffsetStore,
    unstable: PendingOffsets | None,
    asked: OffsetFetchRequestGroup,
    api_version: int,
) -> OffsetFetchResponseGroup:
    """The answer for one group; an error of the group is in it. `unstable` is None for who does not mind."""
    group = state.groups.get(asked.group_id)
    committed = _NO_TOPICS
    if group is not None:
        try:
            group.check_offset_fetch(asked.member_id, asked.member_epoch)
            committed = store.of_group(asked.group_id)
        except KafkaError as error:
            if error.code != ErrorCode.GROUP_ID_NOT_FOUND:
                return group_refusal(asked, error, api_version)
    if unstable is not None and asked.group_id not in unstable:
        unstable = None
    if asked.topics is None:
        topics = _all_topics(state, committed, unstable, asked.group_id, api_version)
    else:
        topics = [
            _topic(state, committed, unstable, asked.group_id, topic, api_version) for topic in asked.topics
        ]
    return OffsetFetchResponseGroup(group_id=asked.group_id, topics=topics)


def _topic(
    state: ShardState,
    committed: Mapping[str, Mapping[int, Committed]],
    unstable: PendingOffsets | None,
    group_id: str,
    asked: OffsetFetchRequestTopics,
    api_version: int,
) -> OffsetFetchResponseTopics:
    name = asked.name
    topic_id = ZERO_UUID
    if api_version >= FIRST_VERSION_WITH_TOPIC_IDS:
        topic_id = asked.topic_id
        facts = state.env.topics.topic_by_id(topic_id)
        if facts is None:
            return _failed_topic(asked, int(ErrorCode.UNKNOWN_TOPIC_ID))
        name = facts.name
    partitions = committed.get(name, _NO_PARTITIONS)
    results: list[OffsetFetchResponsePartitions] = []
    for index in asked.partition_indexes:
        found = partitions.get(index)
        if unstable is not None and unstable.is_open(group_id, name, index):
            results.append(_failed_partition(index, int(ErrorCode.UNSTABLE_OFFSET_COMMIT)))
        elif found is None or (topic_id != ZERO_UUID and found[5] not in (ZERO_UUID, topic_id)):
            results.append(
                OffsetFetchResponsePartitions(partition_index=index, committed_offset=NO_OFFSET, metadata="")
            )
        else:
            results.append(_result(index, found))
    return OffsetFetchResponseTopics(name=asked.name, topic_id=asked.topic_id, partitions=results)


def _all_topics(
    state: ShardState,
    committed: Mapping[str, Mapping[int, Committed]],
    unstable: PendingOffsets | None,
    group_id: str,
    api_version: int,
) -> list[OffsetFetchResponseTopics]:
    topics: list[OffsetFetchResponseTopics] = []
    for name, partitions in committed.items():
        topic_id = ZERO_UUID
        if api_version >= FIRST_VERSION_WITH_TOPIC_IDS:
            facts = state.env.topics.topic(name)
            if facts is None:
                continue  # it has no id any more, and the response has no other name for it
            topic_id = facts.topic_id
        results = [
            _failed_partition(index, int(ErrorCode.UNSTABLE_OFFSET_COMMIT))
            if unstable is not None and unstable.is_open(group_id, name, index)
            else _result(index, found)
            for index, found in partitions.items()
        ]
        topics.append(OffsetFetchResponseTopics(name=name, topic_id=topic_id, partitions=results))
    return topics


def _result(index: int, found: Committed) -> OffsetFetchResponsePartitions:
    return OffsetFetchResponsePartitions(
        partition_index=index,
        committed_offset=found[0],
        committed_leader_epoch=found[1],
        metadata=found[2],
    )


def _failed_topic(asked: OffsetFetchRequestTopics, code: int) -> OffsetFetchResponseTopics:
    return OffsetFetchResponseTopics(
        name=asked.name,
        topic_id=asked.topic_id,
        partitions=[_failed_partition(index, code) for index in asked.partition_indexes],
    )


def _failed_partition(index: int, code: int) -> OffsetFetchResponsePartitions:
    return OffsetFetchResponsePartitions(
        partition_index=index, committed_offset=NO_OFFSET, metadata="", error_code=code
    )


def group_refusal(
    asked: OffsetFetchRequestGroup, error: KafkaError, api_version: int
) -> OffsetFetchResponseGroup:
    """An error of the whole group. Below version 8 it is in every partition, too: version 1 has no other
    place for it, and some clients never look at the other place. They would take a group that is being
    loaded for one that has committed nothing, and begin anew.
    """
    code = int(error.code)
    if api_version >= FIRST_VERSION_WITH_GROUPS:
        return OffsetFetchResponseGroup(group_id=asked.group_id, error_code=code)
    topics = [_failed_topic(topic, code) for topic in asked.topics or ()]
    return OffsetFetchResponseGroup(
        group_id=asked.group_id,
        topics=topics,
        error_code=code if api_version >= FIRST_VERSION_WITH_GROUP_ERRORS else int(ErrorCode.NONE),
    )


def pieces(
    state: ShardState,
    store: OffsetStore,
    asked: OffsetFetchRequestGroup,
    api_version: int,
    partitions_max: int,
) -> list[OffsetFetchRequestGroup]:
    """The question as several that name at most so many partitions each, in order; itself when it is small.

    All topics of a group with many offsets become those that it has now.
    """
    topics = asked.topics
    if topics is None:
        if store.count(asked.group_id) <= partitions_max:
            return [asked]
        topics = []
        for name, partitions in store.of_group(asked.group_id).items():
            facts = state.env.topics.topic(name)
            if facts is not None or api_version < FIRST_VERSION_WITH_TOPIC_IDS:
                topics.append(
                    OffsetFetchRequestTopics(
                        name=name,
                        topic_id=ZERO_UUID if facts is None else facts.topic_id,
                        partition_indexes=list(partitions),
                    )
                )
    elif sum(len(topic.partition_indexes) for topic in topics) <= partitions_max:
        return [asked]
    cut: list[OffsetFetchRequestGroup] = []
    for topic in topics:
        indexes = topic.partition_indexes
        for begin in range(0, max(len(indexes), 1), partitions_max):
            some = OffsetFetchRequestTopics(
                name=topic.name,
                topic_id=topic.topic_id,
                partition_indexes=indexes[begin : begin + partitions_max],
            )
            cut.append(
                OffsetFetchRequestGroup(
                    group_id=asked.group_id,
                    member_id=asked.member_id,
                    member_epoch=asked.member_epoch,
                    topics=[some],
                )
            )
    return cut


def merge(answers: Sequence[OffsetFetchResponseGroup]) -> OffsetFetchResponseGroup:
    """One answer from those to the pieces; an error of the group is the answer."""
    merged = OffsetFetchResponseGroup(group_id=answers[0].group_id)
    for answer in answers:
        if answer.error_code:
            return answer
        for topic in answer.topics:
            last = merged.topics[-1] if merged.topics else None
            if last is not None and (last.name, last.topic_id) == (topic.name, topic.topic_id):
                last.partitions += topic.partitions
            else:
                merged.topics.append(topic)
    return merged


def groups_of(request: OffsetFetchRequest, api_version: int) -> list[OffsetFetchRequestGroup]:
    """The groups that a request of any version asks for."""
    if api_version >= FIRST_VERSION_WITH_GROUPS:
        return request.groups
    topics = None
    if request.topics is not None:
        topics = [
            OffsetFetchRequestTopics(name=topic.name, partition_indexes=topic.partition_indexes)
            for topic in request.topics
        ]
    return [OffsetFetchRequestGroup(group_id=request.group_id, topics=topics)]


def response_of(groups: Sequence[OffsetFetchResponseGroup], api_version: int) -> OffsetFetchResponse:
    """The response of any version; before 8 there is exactly one group."""
    if api_version >= FIRST_VERSION_WITH_GROUPS:
        return OffsetFetchResponse(groups=list(groups))
    (group,) = groups
    return OffsetFetchResponse(
        error_code=group.error_code,
        topics=[
            OffsetFetchResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetFetchResponsePartition(
                        partition_index=each.partition_index,
                        committed_offset=each.committed_offset,
                        committed_leader_epoch=each.committed_leader_epoch,
                        metadata=each.metadata,
                        error_code=each.error_code,
                    )
                    for each in topic.partitions
                ],
            )
            for topic in group.topics
        ],
    )
