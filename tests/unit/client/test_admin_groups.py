"""Administration of groups: which request goes to whom, in which form, and what its answer becomes."""

from __future__ import annotations

from typing import Any

import pytest
from client_script import Script

from ottla.client.admin import Admin
from ottla.client.admin_groups import PARTITIONS_PER_REQUEST_MAX, GroupAdmin
from ottla.client.consumer_protocol import write_assignment, write_subscription
from ottla.client.coordinator import Coordinators
from ottla.client.errors import InvalidArgument, ServerError, UnsupportedVersion
from ottla.client.group_lag import GroupLag, GroupLags
from ottla.client.group_views import CommittedOffset, GroupDescription
from ottla.client.offset_reset import Adjusted, OffsetResets, ResetTarget, ResetTo
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.messages import consumer_group_describe as cgd
from ottla.wire.messages.delete_groups import DeletableGroupResult, DeleteGroupsResponse
from ottla.wire.messages.describe_groups import DescribedGroup, DescribedGroupMember, DescribeGroupsResponse
from ottla.wire.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from ottla.wire.messages.leave_group import LeaveGroupResponse, MemberResponse
from ottla.wire.messages.list_groups import ListedGroup, ListGroupsResponse
from ottla.wire.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from ottla.wire.messages.offset_commit import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from ottla.wire.messages.offset_delete import (
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from ottla.wire.messages.offset_fetch import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
U0 = TopicPartition("u", 0)


class GroupScript(Script):
    """Two brokers. Group `b` is coordinated by node 2, every other by node 1. Partitions of `t` hold offsets
    5 to 20; `gone` was deleted.
    """

    def __init__(self) -> None:
        super().__init__()
        self.topics = {"t": [1, 2], "u": [2]}
        self.committed: dict[TopicPartition, int] = {}
        self.commit_codes: list[int] = []
        self.handlers["FindCoordinator"] = lambda node, request: FindCoordinatorResponse(
            coordinators=[Coordinator(key=g, node_id=2 if g == "b" else 1) for g in request.coordinator_keys]
        )
        self.handlers["OffsetFetch"] = self._offset_fetch
        self.handlers["OffsetCommit"] = self._offset_commit
        self.handlers["ListOffsets"] = self._list_offsets
        self.handlers["ConsumerGroupDescribe"] = lambda node, request: cgd.ConsumerGroupDescribeResponse(
            groups=[cgd.DescribedGroup(group_id=g, error_code=69) for g in request.group_ids]
        )
        self.handlers["DescribeGroups"] = lambda node, request: DescribeGroupsResponse(
            groups=[classic(g) for g in request.groups]
        )
        self.admin = Admin(self.cluster)
        self.groups = GroupAdmin(self.cluster, Coordinators(self.cluster))
        self.resets = OffsetResets(self.cluster, self.admin, self.groups)

    def _offset_fetch(self, node_id: int, request: Any) -> OffsetFetchResponse:
        if request.groups:
            (asked,) = request.groups
            topics = [
                OffsetFetchResponseTopics(
                    name=tp.topic,
                    partitions=[
                        OffsetFetchResponsePartitions(partition_index=tp.partition, committed_offset=offset)
                    ],
                )
                for tp, offset in self.committed.items()
            ]
            return OffsetFetchResponse(
                groups=[OffsetFetchResponseGroup(group_id=asked.group_id, topics=topics)]
            )
        return OffsetFetchResponse(
            topics=[
                OffsetFetchResponseTopic(
                    name=tp.topic,
                    partitions=[
                        OffsetFetchResponsePartition(partition_index=tp.partition, committed_offset=offset)
                    ],
                )
                for tp, offset in self.committed.items()
            ]
        )

    def _offset_commit(self, node_id: int, request: Any) -> OffsetCommitResponse:
        code = self.commit_codes.pop(0) if self.commit_codes else 0
        return OffsetCommitResponse(
            topics=[
                OffsetCommitResponseTopic(
                    name=t.name,
                    partitions=[
                        OffsetCommitResponsePartition(partition_index=p.partition_index, error_code=code)
                        for p in t.partitions
                    ],
                )
                for t in request.topics
            ]
        )

    def _list_offsets(self, node_id: int, request: Any) -> ListOffsetsResponse:
        def offset(when: int) -> int:
            return {-2: 5, -1: 20}.get(when, 12 if when < 2000 else -1)

        return ListOffsetsResponse(
            topics=[
                ListOffsetsTopicResponse(
                    name=t.name,
                    partitions=[
                        ListOffsetsPartitionResponse(
                            partition_index=p.partition_index, offset=offset(p.timestamp)
                        )
                        for p in t.partitions
                    ],
                )
                for t in request.topics
            ]
        )


@pytest.fixture
def script() -> GroupScript:
    return GroupScript()


def classic(group_id: str, state: str = "Stable") -> DescribedGroup:
    member = DescribedGroupMember(
        member_id="m1",
        client_id="c",
        client_host="/127.0.0.1",
        member_metadata=write_subscription(["t"]),
        member_assignment=write_assignment([T0]),
    )
    return DescribedGroup(
        group_id=group_id,
        group_state=state,
        protocol_type="consumer",
        protocol_data="range",
        members=[member],
    )


def test_all_brokers_are_asked_for_their_groups_with_the_filters_that_their_version_has(
    script: GroupScript,
) -> None:
    def listed(node_id: int, request: Any) -> ListGroupsResponse:
        state = "Stable" if node_id == 1 else "Empty"
        group = ListedGroup(group_id=f"g{node_id}", protocol_type="consumer", group_state=state)
        return ListGroupsResponse(groups=[group])

    script.handlers["ListGroups"] = listed
    found = script.run(script.groups.list_groups())
    assert [(g.group_id, g.state) for g in found] == [("g1", "Stable"), ("g2", "Empty")]
    assert [node for name, node, _ in script.calls if name == "ListGroups"] == [1, 2]
    found = script.run(script.groups.list_groups(states=["Empty"]))
    assert [g.group_id for g in found] == ["g2"]  # filtered here too
    assert script.calls[-1][2].states_filter == ["Empty"]
    script.versions["ListGroups"] = 3
    script.run(script.groups.list_groups(states=["Empty"], types=["classic"]))
    assert (script.calls[-1][2].states_filter, script.calls[-1][2].types_filter) == ([], [])


def test_a_broker_that_is_loading_its_groups_is_asked_again(script: GroupScript) -> None:
    codes = [14, 0, 0, 0]
    script.handlers["ListGroups"] = lambda node, request: ListGroupsResponse(error_code=codes.pop(0))
    assert script.run(script.groups.list_groups()) == []
    assert len(script.pauses) == 1


def test_groups_of_both_protocols_are_described_each_by_its_coordinator(script: GroupScript) -> None:
    def described(node_id: int, request: Any) -> cgd.ConsumerGroupDescribeResponse:
        assignment = cgd.Assignment(
            topic_partitions=[cgd.TopicPartitions(topic_id=bytes(16), topic_name="t", partitions=[1, 0])]
        )
        member = cgd.Member(
            member_id="m2",
            member_epoch=3,
            client_host="/h",
            assignment=assignment,
            target_assignment=cgd.Assignment(),
            member_type=1,
        )
        return cgd.ConsumerGroupDescribeResponse(
            groups=[
                cgd.DescribedGroup(
                    group_id=g,
                    group_state="Reconciling",
                    group_epoch=4,
                    assignor_name="uniform",
                    members=[member],
                )
                if g == "b"
                else cgd.DescribedGroup(group_id=g, error_code=69)
                for g in request.group_ids
            ]
        )

    script.handlers["ConsumerGroupDescribe"] = described
    found = script.run(script.groups.describe_groups(["a", "b"]))
    a, b = found["a"], found["b"]
    assert isinstance(a, GroupDescription) and isinstance(b, GroupDescription)
    assert (a.type, a.state, a.assignor, a.coordinator_id) == ("classic", "Stable", "range", 1)
    assert a.members[0].assignment == (T0,) and a.members[0].subscribed_topics == ("t",)
    assert (b.type, b.state, b.group_epoch, b.coordinator_id) == ("consumer", "Reconciling", 4, 2)
    assert (b.members[0].assignment, b.members[0].target_assignment) == ((T0, T1), ())
    assert (b.members[0].epoch, b.members[0].is_classic) == (3, False)
    assert [r.groups for name, _, r in script.calls if name == "DescribeGroups"] == [["a"]]


def test_a_broker_without_kip_848_is_asked_in_the_classic_way(script: GroupScript) -> None:
    def unknown(node_id: int, request: Any) -> Any:
        raise UnsupportedVersion("the broker does not offer ConsumerGroupDescribe")

    script.handlers["ConsumerGroupDescribe"] = unknown
    found = script.run(script.groups.describe_group("a"))
    assert found.type == "classic"


def test_a_group_that_does_not_exist_is_an_error_in_both_ways_of_saying_it(script: GroupScript) -> None:
    script.handlers["DescribeGroups"] = lambda node, request: DescribeGroupsResponse(
        groups=[DescribedGroup(group_id=g, group_state="Dead") for g in request.groups]
    )
    with pytest.raises(ServerError) as caught:
        script.run(script.groups.describe_group("a"))
    assert caught.value.code is ErrorCode.GROUP_ID_NOT_FOUND


def test_groups_that_are_no_consumers_are_described_without_decoding_them(script: GroupScript) -> None:
    connect = classic("a")
    connect.protocol_type = "connect"
    connect.members[0].member_metadata = connect.members[0].member_assignment = b"\xff"
    script.handlers["DescribeGroups"] = lambda node, request: DescribeGroupsResponse(groups=[connect])
    assert script.run(script.groups.describe_group("a")).members[0].assignment == ()


@pytest.mark.parametrize("version", [1, 7, 8, 10])
def test_committed_offsets_are_asked_for_by_name_in_the_form_of_the_version(
    script: GroupScript, version: int
) -> None:
    script.versions["OffsetFetch"] = version
    script.committed = {T0: 7, T1: -1}
    found = script.run(script.groups.committed_offsets("g", [T0, T1], require_stable=True))
    assert found == {T0: CommittedOffset(7)}  # -1: nothing is committed
    request = script.calls[-1][2]
    if version >= 8:
        assert [(t.name, t.partition_indexes) for t in request.groups[0].topics] == [("t", [0, 1])]
    else:
        assert [(t.name, t.partition_indexes) for t in request.topics] == [("t", [0, 1])]
    assert request.require_stable is (version >= 7)
    script.run(script.groups.committed_offsets("g"))
    request = script.calls[-1][2]
    assert (request.groups[0].topics if version >= 8 else request.topics) is None


def test_offsets_of_open_transactions_are_waited_for(script: GroupScript) -> None:
    codes = [int(ErrorCode.UNSTABLE_OFFSET_COMMIT), 0]

    def fetch(node_id: int, request: Any) -> OffsetFetchResponse:
        part = OffsetFetchResponsePartitions(committed_offset=3, error_code=codes.pop(0))
        topic = OffsetFetchResponseTopics(name="t", partitions=[part])
        return OffsetFetchResponse(groups=[OffsetFetchResponseGroup(group_id="g", topics=[topic])])

    script.handlers["OffsetFetch"] = fetch
    assert script.run(script.groups.committed_offsets("g", [T0], require_stable=True))[T0].offset == 3


def test_a_commit_from_outside_names_no_member_and_comes_in_bounded_pieces(script: GroupScript) -> None:
    count = PARTITIONS_PER_REQUEST_MAX + 1
    offsets = {TopicPartition("t", n): CommittedOffset(n) for n in range(count)}
    assert script.run(script.groups.commit_offsets("g", offsets)) == {}
    requests = [r for name, _, r in script.calls if name == "OffsetCommit"]
    assert [sum(len(t.partitions) for t in r.topics) for r in requests] == [count - 1, 1]
    assert {(r.member_id, r.generation_id_or_member_epoch) for r in requests} == {("", -1)}


def test_a_commit_tells_what_was_refused_and_raises_what_concerns_the_member(script: GroupScript) -> None:
    script.commit_codes = [int(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS), 12]
    refused = script.run(script.groups.commit_offsets("g", {T0: CommittedOffset(1, metadata="x" * 9)}))
    assert refused[T0].code is ErrorCode.OFFSET_METADATA_TOO_LARGE
    script.commit_codes = [int(ErrorCode.ILLEGAL_GENERATION)]
    with pytest.raises(ServerError) as caught:
        script.run(
            script.groups.commit_offsets("g", {T0: CommittedOffset(1)}, member_id="m", generation_id=3)
        )
    assert caught.value.code is ErrorCode.ILLEGAL_GENERATION


def test_each_offset_that_is_to_be_deleted_has_its_own_outcome(script: GroupScript) -> None:
    script.handlers["OffsetDelete"] = lambda node, request: OffsetDeleteResponse(
        topics=[
            OffsetDeleteResponseTopic(
                name=t.name,
                partitions=[
                    OffsetDeleteResponsePartition(
                        partition_index=p.partition_index, error_code=86 if p.partition_index else 0
                    )
                    for p in t.partitions
                ],
            )
            for t in request.topics
        ]
    )
    found = script.run(script.groups.delete_consumer_group_offsets("g", [T0, T1]))
    assert found[T0] is None
    assert found[T1] is not None and found[T1].code is ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC


def test_groups_are_deleted_by_their_coordinators_and_a_moved_one_is_found_again(script: GroupScript) -> None:
    codes = {"a": [0], "b": [16, 0], "c": [68]}
    script.handlers["DeleteGroups"] = lambda node, request: DeleteGroupsResponse(
        results=[DeletableGroupResult(group_id=g, error_code=codes[g].pop(0)) for g in request.groups_names]
    )
    results = script.run(script.groups.delete_groups(["a", "b", "c"]))
    assert [(name, error and error.code) for name, error in results.items()] == [
        ("a", None),
        ("b", None),
        ("c", ErrorCode.NON_EMPTY_GROUP),
    ]
    asked = [(node, r.groups_names) for name, node, r in script.calls if name == "DeleteGroups"]
    assert asked == [(1, ["a", "c"]), (2, ["b"]), (2, ["b"])]


def test_static_members_are_removed_by_their_instance_ids(script: GroupScript) -> None:
    script.handlers["LeaveGroup"] = lambda node, request: LeaveGroupResponse(
        members=[
            MemberResponse(group_instance_id=m.group_instance_id, error_code=25 if n else 0)
            for n, m in enumerate(request.members)
        ]
    )
    removing = script.groups.remove_members_from_consumer_group("g", ["i1", "i2"], reason="gone for good")
    results = script.run(removing)
    assert [(name, error is None) for name, error in results.items()] == [("i1", True), ("i2", False)]
    assert [m.reason for m in script.calls[-1][2].members] == ["gone for good"] * 2
    script.versions["LeaveGroup"] = 2
    with pytest.raises(UnsupportedVersion):
        script.run(script.groups.remove_members_from_consumer_group("g", ["i1"]))


def test_lag_is_what_lies_between_commit_and_end_and_unknown_where_either_is(script: GroupScript) -> None:
    script.committed = {T0: 15, TopicPartition("gone", 0): 3}
    (item,) = script.run(GroupLags(script.cluster, script.admin, script.groups).of(["a"])).values()
    assert isinstance(item, GroupLag)
    rows = [(str(r.topic_partition), r.lag, r.member and r.member.member_id) for r in item.partitions]
    assert rows == [("gone-0", None, None), ("t-0", 5, "m1")]
    assert item.total == 5
    script.committed = {}
    (item,) = script.run(GroupLags(script.cluster, script.admin, script.groups).of(["a"])).values()
    assert isinstance(item, GroupLag)
    assert [(r.end, r.lag) for r in item.partitions] == [(20, None)] and item.total is None


@pytest.mark.parametrize(
    ("target", "new", "adjusted"),
    [
        (ResetTarget(ResetTo.EARLIEST), [5, 5], Adjusted.NO),
        (ResetTarget(ResetTo.LATEST), [20, 20], Adjusted.NO),
        (ResetTarget(ResetTo.OFFSET, 9), [9, 9], Adjusted.NO),
        (ResetTarget(ResetTo.OFFSET, 99), [20, 20], Adjusted.ABOVE_END),
        (ResetTarget(ResetTo.OFFSET, 0), [5, 5], Adjusted.BELOW_START),
        (ResetTarget(ResetTo.TIME, 1000), [12, 12], Adjusted.NO),
        (ResetTarget(ResetTo.TIME, 3000), [20, 20], Adjusted.NO_RECORD),
        (ResetTarget(ResetTo.CURRENT), [15, 20], Adjusted.NO),
    ],
)
def test_a_reset_is_planned_by_kafkas_rules(
    script: GroupScript, target: ResetTarget, new: list[int], adjusted: Adjusted
) -> None:
    script.committed = {T0: 15}
    plan = script.run(script.resets.plan("g", [T1, T0], target))
    assert [(p.topic_partition, p.current) for p in plan] == [(T0, 15), (T1, None)]
    assert [p.new for p in plan] == new
    assert {p.adjusted for p in plan} == {adjusted}
    assert "OffsetCommit" not in script.names()


def test_a_shift_needs_something_to_shift_from(script: GroupScript) -> None:
    script.committed = {T0: 15}
    (planned,) = script.run(script.resets.plan("g", [T0], ResetTarget(ResetTo.SHIFT, -4)))
    assert planned.new == 11
    with pytest.raises(InvalidArgument, match="no current committed offset"):
        script.run(script.resets.plan("g", [T1], ResetTarget(ResetTo.SHIFT, 1)))


def test_the_scope_of_a_reset_is_what_is_committed_or_what_is_named(script: GroupScript) -> None:
    script.committed = {U0: 1, T0: 2}
    assert script.run(script.resets.partitions("g", None)) == [T0, U0]
    assert script.run(script.resets.partitions("g", {"t": None})) == [T0, T1]
    assert script.run(script.resets.partitions("g", {"t": [1], "u": None})) == [T1, U0]
    for wrong in ({"t": [7]}, {"gone": None}):
        with pytest.raises(ServerError) as caught:
            script.run(script.resets.partitions("g", wrong))
        assert caught.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_plan_is_carried_out_as_a_commit(script: GroupScript) -> None:
    plan = script.run(script.resets.plan_offsets("g", {T0: 9, T1: 10}))
    assert script.run(script.resets.execute("g", plan)) == {}
    request = script.calls[-1][2]
    sent = [(p.partition_index, p.committed_offset) for t in request.topics for p in t.partitions]
    assert sent == [(0, 9), (1, 10)]
