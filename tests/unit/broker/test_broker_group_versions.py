"""Every version of every group API of Kafka 4.2: a happy answer and a refusal, both through their bytes."""

from __future__ import annotations

from typing import Any

import pytest
from broker_bench import versions_of
from group_bench import (
    GroupBench,
    commit_request,
    consumer_request,
    find_request,
    join_request,
    leave_request,
    sync_request,
)

from ottla.broker.dispatch import TABLE
from ottla.model.errors import ErrorCode
from ottla.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from ottla.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from ottla.wire.messages.delete_groups import DeleteGroupsRequest
from ottla.wire.messages.describe_groups import DescribeGroupsRequest
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.heartbeat import HeartbeatRequest
from ottla.wire.messages.index import APIS, ApiKey
from ottla.wire.messages.join_group import JoinGroupRequest
from ottla.wire.messages.leave_group import LeaveGroupRequest
from ottla.wire.messages.list_groups import ListGroupsRequest
from ottla.wire.messages.offset_commit import OffsetCommitRequest
from ottla.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from ottla.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from ottla.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

ALL_OPERATIONS = 1 << 3 | 1 << 6 | 1 << 8 | 1 << 10 | 1 << 11
NOT_ASKED = -(2**31)


@pytest.fixture
def bench() -> GroupBench:
    return GroupBench()


@pytest.fixture
def loading(bench: GroupBench) -> GroupBench:
    """A broker whose one shard is not there yet: what every request is answered with then."""
    bench.host.loading = True
    return bench


LOADING = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


def test_all_versions_of_kafka_4_2_are_served() -> None:
    for key in (
        ApiKey.FIND_COORDINATOR,
        ApiKey.JOIN_GROUP,
        ApiKey.SYNC_GROUP,
        ApiKey.HEARTBEAT,
        ApiKey.LEAVE_GROUP,
        ApiKey.OFFSET_COMMIT,
        ApiKey.OFFSET_FETCH,
        ApiKey.OFFSET_DELETE,
        ApiKey.LIST_GROUPS,
        ApiKey.DESCRIBE_GROUPS,
        ApiKey.DELETE_GROUPS,
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        ApiKey.CONSUMER_GROUP_DESCRIBE,
    ):
        assert (TABLE[key].version_min, TABLE[key].version_max) == (
            APIS[key].min_version,
            APIS[key].max_version,
        ), key.name


# --- FindCoordinator


@pytest.mark.parametrize("version", versions_of(FindCoordinatorRequest))
def test_find_coordinator(bench: GroupBench, version: int) -> None:
    """Version 4 asks for many keys at once (KIP-699)."""
    answer = bench.call(find_request("g", "h"), version)
    found = answer.coordinators if version >= 4 else [answer]
    assert [(each.error_code, each.node_id, each.host, each.port) for each in found] == [
        (0, 1, "broker", 9092)
    ] * (2 if version >= 4 else 1)
    if version >= 4:
        assert [each.key for each in found] == ["g", "h"]


@pytest.mark.parametrize("version", [v for v in versions_of(FindCoordinatorRequest) if v >= 1])
@pytest.mark.parametrize(
    ("key_type", "expected"),
    [
        (2, ErrorCode.INVALID_REQUEST),
        (77, ErrorCode.INVALID_REQUEST),
        (-1, ErrorCode.INVALID_REQUEST),
    ],
)
def test_find_coordinator_of_something_else(
    bench: GroupBench, version: int, key_type: int, expected: ErrorCode
) -> None:
    answer = bench.call(find_request("g", key_type=key_type), version)
    found = answer.coordinators[0] if version >= 4 else answer
    assert (found.error_code, found.node_id, found.host, found.port) == (expected, -1, "", -1)


# --- the classic protocol


def joined(bench: GroupBench, version: int, group: str = "g") -> tuple[str, int]:
    """Joins in this version: from 4 a member id comes first (KIP-394)."""
    answer = bench.call(join_request(group), version)
    if version >= 4:
        assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED
        assert answer.generation_id == -1
        assert answer.protocol_name == (None if version >= 7 else "")
        answer = bench.call(join_request(group, answer.member_id), version)
    assert (answer.error_code, answer.generation_id, answer.protocol_name) == (0, 1, "range")
    assert answer.leader == answer.member_id
    assert [each.member_id for each in answer.members] == [answer.member_id]
    if version >= 7:
        assert answer.protocol_type == "consumer"
    return answer.member_id, answer.generation_id


@pytest.mark.parametrize("version", versions_of(JoinGroupRequest))
def test_join_group(bench: GroupBench, version: int) -> None:
    joined(bench, version)
    refused = bench.call(join_request("g", "nobody"), version)
    assert (refused.error_code, refused.member_id) == (ErrorCode.UNKNOWN_MEMBER_ID, "nobody")
    assert refused.protocol_name == (None if version >= 7 else "")


@pytest.mark.parametrize("version", versions_of(JoinGroupRequest))
def test_join_group_while_loading(loading: GroupBench, version: int) -> None:
    refused = loading.call(join_request("g", "me"), version)
    assert (refused.error_code, refused.member_id, refused.generation_id) == (LOADING, "", -1)


@pytest.mark.parametrize("version", versions_of(JoinGroupRequest))
def test_join_group_refused_by_a_consumer_group(bench: GroupBench, version: int) -> None:
    """These refusals are raised, and made into a response by the handler."""
    assert bench.call(consumer_request("g", "new"), 1).error_code == 0
    refused = bench.call(join_request("g", protocol_type="connect"), version)
    assert refused.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert refused.protocol_name == (None if version >= 7 else "")
    assert (refused.member_id, refused.generation_id) == ("", -1)


@pytest.mark.parametrize("version", versions_of(SyncGroupRequest))
def test_sync_group(bench: GroupBench, version: int) -> None:
    member_id, generation = joined(bench, 9)
    answer = bench.call(sync_request("g", member_id, generation, {member_id: b"a"}), version)
    assert (answer.error_code, answer.assignment) == (0, b"a")
    if version >= 5:
        assert (answer.protocol_type, answer.protocol_name) == ("consumer", "range")
    refused = bench.call(sync_request("g", member_id, generation + 1), version)
    assert (refused.error_code, refused.assignment) == (ErrorCode.ILLEGAL_GENERATION, b"")


@pytest.mark.parametrize("missing", ["protocol_type", "protocol_name"])
def test_a_sync_of_version_5_has_to_name_its_protocol(bench: GroupBench, missing: str) -> None:
    """KIP-559; Kafka looks at that first, before the group and the member."""
    member_id, generation = joined(bench, 9)
    for group in ("g", "nobody", ""):
        request = sync_request(group, member_id, generation, {member_id: b"a"})
        setattr(request, missing, None)
        assert bench.call(request, 5).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    request = sync_request("g", member_id, generation, {member_id: b"a"})
    setattr(request, missing, None)
    assert bench.call(request, 4).error_code == ErrorCode.NONE


@pytest.mark.parametrize("version", versions_of(SyncGroupRequest))
def test_sync_group_while_loading(loading: GroupBench, version: int) -> None:
    assert loading.call(sync_request("g", "me", 1), version).error_code == LOADING


@pytest.mark.parametrize("version", versions_of(HeartbeatRequest))
def test_heartbeat(bench: GroupBench, version: int) -> None:
    member = bench.stable("g")
    request = HeartbeatRequest(group_id="g", generation_id=member.generation, member_id=member.member_id)
    assert bench.call(request, version).error_code == 0
    request.generation_id += 1
    assert bench.call(request, version).error_code == ErrorCode.ILLEGAL_GENERATION
    bench.host.loading = True
    assert bench.call(request, version).error_code == ErrorCode.NONE  # as in Kafka


@pytest.mark.parametrize("version", versions_of(LeaveGroupRequest))
def test_leave_group(bench: GroupBench, version: int) -> None:
    """From version 3 several may leave at once, and each has its own error."""
    member = bench.stable("g")
    answer = bench.call(leave_request("g", member.member_id, "nobody"), version)
    assert answer.error_code == 0
    if version >= 3:
        assert [(each.member_id, each.error_code) for each in answer.members] == [
            (member.member_id, 0),
            ("nobody", ErrorCode.UNKNOWN_MEMBER_ID),
        ]
    assert bench.listed() == {"g": "Empty"}
    again = bench.call(leave_request("g", member.member_id), version)
    codes = [each.error_code for each in again.members] if version >= 3 else [again.error_code]
    assert codes == [ErrorCode.UNKNOWN_MEMBER_ID]
    bench.host.loading = True
    assert bench.call(leave_request("g", member.member_id), version).error_code == LOADING


# --- offsets


@pytest.mark.parametrize("version", versions_of(OffsetCommitRequest))
def test_offset_commit(bench: GroupBench, version: int) -> None:
    """Version 10 names topics by id, and answers with it."""
    request = commit_request("g", {("events", 0): 7, ("events", 9): 1}, topic_ids={"events": bench.topic_id})
    (topic,) = bench.call(request, version).topics
    assert (topic.topic_id if version >= 10 else topic.name) == (
        bench.topic_id if version >= 10 else "events"
    )
    assert [(each.partition_index, each.error_code) for each in topic.partitions] == [
        (0, 0),
        (9, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]
    assert bench.committed("g") == {("events", 0): 7}
    request = commit_request("other", {("events", 0): 7}, topic_ids={"events": bench.topic_id}, generation=3)
    (topic,) = bench.call(request, version).topics
    assert topic.partitions[0].error_code == (
        ErrorCode.GROUP_ID_NOT_FOUND if version >= 9 else ErrorCode.ILLEGAL_GENERATION
    )


@pytest.mark.parametrize("version", versions_of(OffsetCommitRequest))
def test_offset_commit_to_an_unknown_topic(bench: GroupBench, version: int) -> None:
    request = commit_request("g", {("nowhere", 0): 7}, topic_ids={"nowhere": b"\1" * 16})
    (topic,) = bench.call(request, version).topics
    assert topic.partitions[0].error_code == (
        ErrorCode.UNKNOWN_TOPIC_ID if version >= 10 else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    )


@pytest.mark.parametrize("version", versions_of(OffsetCommitRequest))
def test_offset_commit_while_loading(loading: GroupBench, version: int) -> None:
    (topic,) = loading.call(commit_request("g", {("events", 0): 7, ("events", 1): 8}), version).topics
    assert [each.error_code for each in topic.partitions] == [LOADING, LOADING]


def offset_fetch(bench: GroupBench, version: int, topics: list[str] | None) -> OffsetFetchRequest:
    """The same question in the form of this version."""
    if version < 8:
        old = None
        if topics is not None:
            old = [OffsetFetchRequestTopic(name=each, partition_indexes=[0, 1]) for each in topics]
        return OffsetFetchRequest(group_id="g", topics=old)
    new = None
    if topics is not None:
        new = [
            OffsetFetchRequestTopics(name=each, topic_id=bench.topic_id, partition_indexes=[0, 1])
            for each in topics
        ]
    return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=new)])


@pytest.mark.parametrize("version", versions_of(OffsetFetchRequest))
def test_offset_fetch(bench: GroupBench, version: int) -> None:
    bench.commit("g", {("events", 1): 7}, metadata="note")
    answer = bench.call(offset_fetch(bench, version, ["events"]), version)
    group: Any = answer.groups[0] if version >= 8 else answer
    assert group.error_code == 0
    (topic,) = group.topics
    if version >= 10:
        assert topic.topic_id == bench.topic_id
    else:
        assert topic.name == "events"
    assert [
        (each.partition_index, each.committed_offset, each.metadata, each.error_code)
        for each in topic.partitions
    ] == [(0, -1, "", 0), (1, 7, "note", 0)]
    if version >= 2:
        answer = bench.call(offset_fetch(bench, version, None), version)
        group = answer.groups[0] if version >= 8 else answer
        assert [each.committed_offset for topic in group.topics for each in topic.partitions] == [7]


@pytest.mark.parametrize("version", versions_of(OffsetFetchRequest))
def test_offset_fetch_while_loading(loading: GroupBench, version: int) -> None:
    """Version 1 has no place for an error but in each partition."""
    answer = loading.call(offset_fetch(loading, version, ["events"]), version)
    if version >= 8:
        assert [(each.group_id, each.error_code) for each in answer.groups] == [("g", LOADING)]
    elif version >= 2:
        assert answer.error_code == LOADING
    else:
        assert [each.error_code for each in answer.topics[0].partitions] == [LOADING, LOADING]


@pytest.mark.parametrize("version", versions_of(OffsetDeleteRequest))
def test_offset_delete(bench: GroupBench, version: int) -> None:
    bench.commit("g", {("events", 0): 1, ("events", 1): 2})
    partitions = [OffsetDeleteRequestPartition(partition_index=each) for each in (0, 9)]
    request = OffsetDeleteRequest(
        group_id="g", topics=[OffsetDeleteRequestTopic(name="events", partitions=partitions)]
    )
    answer = bench.call(request, version)
    assert answer.error_code == 0
    assert [each.error_code for each in answer.topics[0].partitions] == [
        0,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]
    assert bench.committed("g") == {("events", 1): 2}
    request.group_id = "nobody"
    assert bench.call(request, version).error_code == ErrorCode.GROUP_ID_NOT_FOUND
    bench.host.loading = True
    assert bench.call(request, version).error_code == LOADING


# --- administrators


@pytest.mark.parametrize("version", versions_of(ListGroupsRequest))
def test_list_groups(bench: GroupBench, version: int) -> None:
    bench.stable("g")
    (group,) = bench.call(ListGroupsRequest(), version).groups
    assert (group.group_id, group.protocol_type) == ("g", "consumer")
    if version >= 4:
        assert group.group_state == "Stable"
    if version >= 5:
        assert group.group_type == "classic"
    bench.host.loading = True
    refused = bench.call(ListGroupsRequest(), version)
    assert (refused.error_code, refused.groups) == (LOADING, [])


@pytest.mark.parametrize("version", versions_of(DescribeGroupsRequest))
def test_describe_groups(bench: GroupBench, version: int) -> None:
    """From version 6 a group that is not there is an error (KIP-1043), before it was Dead."""
    member = bench.stable("g")
    request = DescribeGroupsRequest(groups=["g", "nobody"], include_authorized_operations=version >= 3)
    found, missing = bench.call(request, version).groups
    assert (found.error_code, found.group_state, found.protocol_data) == (0, "Stable", "range")
    assert [each.member_id for each in found.members] == [member.member_id]
    assert found.members[0].member_assignment == b"mine"
    assert missing.group_state == "Dead"
    assert missing.error_code == (ErrorCode.GROUP_ID_NOT_FOUND if version >= 6 else 0)
    if version >= 3:
        assert found.authorized_operations == ALL_OPERATIONS
    bench.host.loading = True
    assert [each.error_code for each in bench.call(request, version).groups] == [LOADING, LOADING]


@pytest.mark.parametrize("version", versions_of(DeleteGroupsRequest))
def test_delete_groups(bench: GroupBench, version: int) -> None:
    """A group named twice is deleted once; each group has its own error."""
    bench.commit("g", {("events", 0): 1})
    bench.stable("busy")
    request = DeleteGroupsRequest(groups_names=["g", "busy", "nobody", "g"])
    answer = bench.call(request, version)
    assert [(each.group_id, each.error_code) for each in answer.results] == [
        ("g", 0),
        ("busy", ErrorCode.NON_EMPTY_GROUP),
        ("nobody", ErrorCode.GROUP_ID_NOT_FOUND),
    ]
    assert bench.listed() == {"busy": "Stable"}
    assert bench.committed("g") == {}
    bench.host.loading = True
    answer = bench.call(request, version)
    assert [each.error_code for each in answer.results] == [LOADING] * 3


# --- the newer protocol


@pytest.mark.parametrize("version", versions_of(ConsumerGroupHeartbeatRequest))
def test_consumer_group_heartbeat(bench: GroupBench, version: int) -> None:
    """In version 0 the broker makes the member id, from 1 the client does (KIP-1082)."""
    answer = bench.call(consumer_request("g", "" if version == 0 else "me"), version)
    assert (answer.error_code, answer.member_epoch, answer.heartbeat_interval_ms) == (0, 1, 5000)
    assert answer.member_id if version == 0 else answer.member_id == "me"
    (topic,) = answer.assignment.topic_partitions
    assert (topic.topic_id, topic.partitions) == (bench.topic_id, [0, 1, 2, 3])
    refused = bench.call(consumer_request("g", answer.member_id, 9), version)
    assert refused.error_code == ErrorCode.FENCED_MEMBER_EPOCH
    assert refused.error_message
    bench.host.loading = True
    assert bench.call(consumer_request("g", "me"), version).error_code == LOADING


@pytest.mark.parametrize("version", versions_of(ConsumerGroupDescribeRequest))
def test_consumer_group_describe(bench: GroupBench, version: int) -> None:
    bench.call(consumer_request("g", "me"), 1)
    bench.stable("classic")
    request = ConsumerGroupDescribeRequest(
        group_ids=["g", "classic", "nobody", ""], include_authorized_operations=True
    )
    found, classic, missing, empty = bench.call(request, version).groups
    assert (found.error_code, found.group_state, found.group_epoch) == (0, "Stable", 1)
    assert (found.assignor_name, found.authorized_operations) == ("uniform", ALL_OPERATIONS)
    (member,) = found.members
    assert (member.member_id, member.member_epoch, member.client_host) == ("me", 1, "/client")
    assert [each.partitions for each in member.assignment.topic_partitions] == [[0, 1, 2, 3]]
    if version >= 1:
        assert member.member_type == 1
    assert classic.error_code == missing.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert missing.authorized_operations == NOT_ASKED
    assert empty.error_code == ErrorCode.INVALID_GROUP_ID
    bench.host.loading = True
    assert [each.error_code for each in bench.call(request, version).groups] == [LOADING] * 4


@pytest.mark.parametrize("version", versions_of(SyncGroupRequest))
def test_garbage_is_handed_on_unread(bench: GroupBench, version: int) -> None:
    """Metadata and assignments belong to the clients: the coordinator carries the bytes."""
    garbage = bytes(range(256)) * 40
    member = bench.join("g", protocols={"range": garbage})
    request = sync_request("g", member.member_id, member.generation)
    request.assignments = [
        SyncGroupRequestAssignment(member_id=each, assignment=garbage)
        for each in ("nobody", member.member_id, "")
    ]
    answer = bench.call(request, version, peer=member.peer)
    assert (answer.error_code, answer.assignment) == (0, garbage)
