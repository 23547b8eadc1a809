"""Administration through coordinators: offsets of many groups, share and streams groups, fencing."""

from __future__ import annotations

from typing import Any

import pytest
from admin_script import AdminScript

from ottla.client.admin_share_groups import SharePartitionOffset
from ottla.client.admin_streams_groups import StreamsTask
from ottla.client.errors import ServerError, UnsupportedVersion
from ottla.client.records import OffsetAndMetadata
from ottla.client.view import Address
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.messages import alter_share_group_offsets as asgo
from ottla.wire.messages import delete_share_group_offsets as dsgo
from ottla.wire.messages import describe_share_group_offsets as sgo
from ottla.wire.messages import share_group_describe as sgd
from ottla.wire.messages import streams_group_describe as stg
from ottla.wire.messages.consumer_group_describe import ConsumerGroupDescribeResponse
from ottla.wire.messages.consumer_group_describe import DescribedGroup as ConsumerGroup
from ottla.wire.messages.describe_groups import DescribedGroup, DescribedGroupMember, DescribeGroupsResponse
from ottla.wire.messages.init_producer_id import InitProducerIdResponse
from ottla.wire.messages.leave_group import LeaveGroupResponse, MemberResponse
from ottla.wire.messages.list_groups import ListedGroup, ListGroupsResponse
from ottla.wire.messages.offset_commit import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from ottla.wire.messages.offset_fetch import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)


@pytest.fixture
def script() -> AdminScript:
    made = AdminScript()
    made.homes = {"two": 2}
    return made


# -- offsets of consumer groups


def fetched(group: str, offset: int, code: int = 0) -> OffsetFetchResponseGroup:
    part = OffsetFetchResponsePartitions(committed_offset=offset, metadata="m", committed_leader_epoch=3)
    topic = OffsetFetchResponseTopics(name="a", partitions=[part])
    return OffsetFetchResponseGroup(group_id=group, topics=[topic], error_code=code)


def test_offsets_of_many_groups_are_asked_in_one_request_per_coordinator(script: AdminScript) -> None:
    """KIP-709."""
    numbers = {"one": 1, "two": 2, "three": -1}
    script.handlers["OffsetFetch"] = lambda node, request: OffsetFetchResponse(
        groups=[fetched(g.group_id, numbers[g.group_id]) for g in request.groups]
    )
    results = script.run(script.groups.list_consumer_group_offsets(["one", "two", "three"])).all()
    assert results == {
        "one": {A0: OffsetAndMetadata(1, "m", 3)},
        "two": {A0: OffsetAndMetadata(2, "m", 3)},
        "three": {},
    }
    sent = script.asked("OffsetFetch")
    assert [(node, [g.group_id for g in r.groups]) for node, r in sent] == [
        (1, ["one", "three"]),
        (2, ["two"]),
    ]
    assert sent[0][1].groups[0].topics is None


def test_an_old_broker_is_asked_about_one_group_after_the_other(script: AdminScript) -> None:
    script.versions["OffsetFetch"] = 7

    def answer(node: int, request: Any) -> OffsetFetchResponse:
        part = OffsetFetchResponsePartition(partition_index=1, committed_offset=len(request.group_id))
        topic = OffsetFetchResponseTopic(name="a", partitions=[part])
        return OffsetFetchResponse(topics=[topic], error_code=0 if request.group_id != "bad" else 30)

    script.handlers["OffsetFetch"] = answer
    wanted = {"one": [A1], "three": None, "bad": None}
    results = script.run(script.groups.list_consumer_group_offsets(wanted, require_stable=True))
    assert {group: offsets[A1].offset for group, offsets in results.succeeded.items()} == {
        "one": 3,
        "three": 5,
    }
    assert results["bad"].code is ErrorCode.GROUP_AUTHORIZATION_FAILED
    sent = [request for _, request in script.asked("OffsetFetch")]
    assert [r.group_id for r in sent] == ["one", "three", "bad"]
    assert [[(t.name, t.partition_indexes) for t in r.topics] if r.topics else None for r in sent] == [
        [("a", [1])],
        None,
        None,
    ]
    assert all(r.require_stable for r in sent)


def test_a_group_that_stays_loading_does_not_hide_the_others(script: AdminScript) -> None:
    script.handlers["OffsetFetch"] = lambda node, request: OffsetFetchResponse(
        groups=[fetched(g.group_id, 5, 14 if g.group_id == "two" else 0) for g in request.groups]
    )
    results = script.run(script.groups.list_consumer_group_offsets(["one", "two"]))
    assert results["one"][A0].offset == 5
    assert results["two"].code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert script.clock.elapsed_ms > script.cluster.operation_timeout_ms / 2


def test_offsets_are_set_from_numbers_or_with_metadata(script: AdminScript) -> None:
    def commit(node: int, request: Any) -> OffsetCommitResponse:
        return OffsetCommitResponse(
            topics=[
                OffsetCommitResponseTopic(
                    name=t.name,
                    partitions=[
                        OffsetCommitResponsePartition(
                            partition_index=p.partition_index, error_code=3 if p.partition_index else 0
                        )
                        for p in t.partitions
                    ],
                )
                for t in request.topics
            ]
        )

    script.handlers["OffsetCommit"] = commit
    changing = script.groups.alter_consumer_group_offsets("g", {A0: 7, A1: OffsetAndMetadata(8, "why", 2)})
    results = script.run(changing)
    assert results[A0] is None
    assert results[A1].code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    sent = script.asked("OffsetCommit")[0][1].topics[0].partitions
    assert [(p.committed_offset, p.committed_metadata, p.committed_leader_epoch) for p in sent] == [
        (7, "", -1),
        (8, "why", 2),
    ]


# -- groups


def test_groups_are_chosen_by_protocol_type_too(script: AdminScript) -> None:
    script.handlers["ListGroups"] = lambda node, request: ListGroupsResponse(
        groups=[
            ListedGroup(group_id="c", protocol_type="consumer", group_state="Stable", group_type="classic"),
            ListedGroup(group_id="w", protocol_type="connect", group_state="Stable", group_type="classic"),
        ]
    )
    found = script.run(script.groups.list_groups(types=["Classic"], protocol_types=["connect"]))
    assert [g.group_id for g in found] == ["w"]


def test_describing_one_kind_of_groups_does_not_fall_back_to_another(script: AdminScript) -> None:
    script.handlers["ConsumerGroupDescribe"] = lambda node, request: ConsumerGroupDescribeResponse(
        groups=[ConsumerGroup(group_id=g, error_code=69) for g in request.group_ids]
    )
    results = script.run(script.groups.describe_consumer_groups(["one"]))
    assert results["one"].code is ErrorCode.GROUP_ID_NOT_FOUND
    assert script.asked("DescribeGroups") == []


@pytest.mark.parametrize("version", [2, 5])
def test_what_the_caller_may_do_with_a_group_is_asked_where_the_broker_can_tell(
    script: AdminScript, version: int
) -> None:
    script.versions["DescribeGroups"] = version
    script.answer(
        "DescribeGroups",
        DescribeGroupsResponse(
            groups=[
                DescribedGroup(
                    group_id="one",
                    group_state="Empty",
                    authorized_operations=8 if version >= 3 else -(2**31),
                )
            ]
        ),
    )
    asking = script.groups.describe_classic_groups(["one"], include_authorized_operations=True)
    described = script.run(asking).all()["one"]
    assert script.asked("DescribeGroups")[0][1].include_authorized_operations is (version >= 3)
    assert (described.authorized_operations is not None) is (version >= 3)


def test_all_members_of_a_group_are_removed_by_instance_id_or_member_id(script: AdminScript) -> None:
    def unknown(node: int, request: Any) -> Any:
        raise UnsupportedVersion("the broker does not offer ConsumerGroupDescribe")

    script.handlers["ConsumerGroupDescribe"] = unknown
    members = [
        DescribedGroupMember(member_id="m1", group_instance_id="static"),
        DescribedGroupMember(member_id="m2"),
    ]
    script.answer(
        "DescribeGroups",
        DescribeGroupsResponse(groups=[DescribedGroup(group_id="g", group_state="Stable", members=members)]),
    )
    script.handlers["LeaveGroup"] = lambda node, request: LeaveGroupResponse(
        members=[
            MemberResponse(member_id=m.member_id, group_instance_id=m.group_instance_id)
            for m in request.members
        ]
    )
    results = script.run(script.groups.remove_members_from_consumer_group("g"))
    assert results == {"static": None, "m2": None}
    sent = script.asked("LeaveGroup")[0][1].members
    assert [(m.member_id, m.group_instance_id) for m in sent] == [("", "static"), ("m2", None)]


# -- share groups


def test_share_groups_are_described_with_their_members(script: AdminScript) -> None:
    def answer(node: int, request: Any) -> sgd.ShareGroupDescribeResponse:
        assignment = sgd.Assignment(topic_partitions=[sgd.TopicPartitions(topic_name="a", partitions=[1, 0])])
        member = sgd.Member(
            member_id="m", member_epoch=4, subscribed_topic_names=["a"], assignment=assignment
        )
        return sgd.ShareGroupDescribeResponse(
            groups=[
                sgd.DescribedGroup(
                    group_id=g,
                    group_state="Stable",
                    assignor_name="simple",
                    members=[member],
                    error_code=69 if g == "two" else 0,
                    error_message="Group two not found." if g == "two" else None,
                )
                for g in request.group_ids
            ]
        )

    script.handlers["ShareGroupDescribe"] = answer
    results = script.run(script.share_groups.describe_share_groups(["one", "two"]))
    described = results["one"]
    assert (described.type, described.state, described.coordinator_id) == ("share", "Stable", 1)
    assert described.members[0].assignment == (A0, A1)
    assert described.members[0].epoch == 4
    assert str(results["two"]) == "group two: Group two not found."


def test_start_offsets_of_share_groups_leave_out_what_has_none(script: AdminScript) -> None:
    def answer(node: int, request: Any) -> sgo.DescribeShareGroupOffsetsResponse:
        parts = [
            sgo.DescribeShareGroupOffsetsResponsePartition(
                partition_index=n, start_offset=start, lag=lag, leader_epoch=1, error_code=code
            )
            for n, (start, lag, code) in enumerate([(5, 2, 0), (-1, -1, 0), (0, -1, 0), (0, 0, 3)])
        ]
        topic = sgo.DescribeShareGroupOffsetsResponseTopic(topic_name="a", partitions=parts)
        return sgo.DescribeShareGroupOffsetsResponse(
            groups=[
                sgo.DescribeShareGroupOffsetsResponseGroup(group_id=g.group_id, topics=[topic])
                for g in request.groups
            ]
        )

    script.handlers["DescribeShareGroupOffsets"] = answer
    offsets = script.run(script.share_groups.list_share_group_offsets({"one": [A0], "two": None})).all()[
        "one"
    ]
    assert offsets.succeeded == {
        A0: SharePartitionOffset(5, 1, 2),
        TopicPartition("a", 2): SharePartitionOffset(0, 1, None),
    }
    assert list(offsets.failed) == [TopicPartition("a", 3)]
    sent = script.asked("DescribeShareGroupOffsets")
    assert [(node, r.groups[0].topics is None) for node, r in sent] == [(1, False), (2, True)]


def test_start_offsets_of_share_groups_are_set_and_forgotten(script: AdminScript) -> None:
    part = asgo.AlterShareGroupOffsetsResponsePartition(partition_index=0, error_code=3)
    script.answer(
        "AlterShareGroupOffsets",
        asgo.AlterShareGroupOffsetsResponse(
            responses=[asgo.AlterShareGroupOffsetsResponseTopic(topic_name="a", partitions=[part])]
        ),
    )
    results = script.run(script.share_groups.alter_share_group_offsets("two", {A0: 9}))
    assert results[A0].code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    ((node, request),) = script.asked("AlterShareGroupOffsets")
    assert (node, request.topics[0].partitions[0].start_offset) == (2, 9)
    script.answer(
        "DeleteShareGroupOffsets",
        dsgo.DeleteShareGroupOffsetsResponse(
            responses=[dsgo.DeleteShareGroupOffsetsResponseTopic(topic_name="a")]
        ),
    )
    assert script.run(script.share_groups.delete_share_group_offsets("two", ["a"])) == {"a": None}
    script.answer(
        "DeleteShareGroupOffsets",
        dsgo.DeleteShareGroupOffsetsResponse(error_code=68, error_message="it has members"),
    )
    with pytest.raises(ServerError, match="group two: it has members"):
        script.run(script.share_groups.delete_share_group_offsets("two", ["a"]))


# -- streams groups


def test_streams_groups_are_described_with_topology_and_tasks(script: AdminScript) -> None:
    tasks = stg.TaskIds(subtopology_id="0", partitions=[0, 1])
    changelog = stg.TopicInfo(
        name="log", partitions=2, topic_configs=[stg.KeyValue(key="cleanup.policy", value="compact")]
    )
    member = stg.Member(
        member_id="m",
        member_epoch=2,
        process_id="p",
        user_endpoint=stg.Endpoint(host="h", port=1),
        client_tags=[stg.KeyValue(key="zone", value="eu")],
        task_offsets=[stg.TaskOffset(subtopology_id="0", partition=1, offset=7)],
        assignment=stg.Assignment(active_tasks=[tasks]),
        target_assignment=stg.Assignment(standby_tasks=[tasks]),
    )
    topology = stg.Topology(
        epoch=3,
        subtopologies=[
            stg.Subtopology(subtopology_id="0", source_topics=["a"], state_changelog_topics=[changelog])
        ],
    )
    groups = [
        stg.DescribedGroup(group_id="one", group_state="Stable", topology=topology, members=[member]),
        stg.DescribedGroup(group_id="new", group_state="Empty", topology=None),
        stg.DescribedGroup(group_id="no", error_code=69),
    ]
    script.answer("StreamsGroupDescribe", stg.StreamsGroupDescribeResponse(groups=groups))
    results = script.run(script.streams_groups.describe_streams_groups(["one", "new", "no"]))
    described = results["one"]
    assert (described.topology_epoch, described.subtopologies[0].source_topics) == (3, ("a",))
    assert described.subtopologies[0].state_changelog_topics[0].configs == {"cleanup.policy": "compact"}
    (found,) = described.members
    assert (found.user_endpoint, found.client_tags) == (Address("h", 1), {"zone": "eu"})
    assert found.task_offsets == {StreamsTask("0", 1): 7}
    assert found.assignment.active == found.target_assignment.standby
    assert found.assignment.active == (StreamsTask("0", 0), StreamsTask("0", 1))
    assert (results["new"].topology_epoch, results["new"].subtopologies) == (None, ())
    assert results["no"].code is ErrorCode.GROUP_ID_NOT_FOUND


# -- transactions


def test_producers_are_fenced_one_by_one_and_a_refusal_stays_with_its_id(script: AdminScript) -> None:
    script.homes = {"tx-2": 2}

    def answer(node: int, request: Any) -> InitProducerIdResponse:
        refused = request.transactional_id == "tx-3"
        return InitProducerIdResponse(producer_id=node, producer_epoch=5, error_code=53 if refused else 0)

    script.handlers["InitProducerId"] = answer
    results = script.run(
        script.transactions.fence_producers(["tx-1", "tx-2", "tx-3"], transaction_timeout_ms=77)
    )
    assert {name: fenced.producer_id for name, fenced in results.succeeded.items()} == {"tx-1": 1, "tx-2": 2}
    assert results["tx-3"].code is ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert {r.transaction_timeout_ms for _, r in script.asked("InitProducerId")} == {77}
