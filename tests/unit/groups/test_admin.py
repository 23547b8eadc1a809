"""ListGroups, DescribeGroups, ConsumerGroupDescribe and DeleteGroups, as Kafka 4.2 answers them."""

from __future__ import annotations

from typing import Any

import pytest
from offsets_world import World

from ottla.coordination.promise import Promise
from ottla.groups.admin import GroupAdmin, delete_refusal
from ottla.groups.classic.groups import ClassicGroups
from ottla.groups.group import CONSUMER, Client
from ottla.groups.offsets.offsets import Offsets
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages import consumer_group_describe, describe_groups
from ottla.wire.messages.consumer_offsets import GroupMetadataKey, OffsetCommitKey
from ottla.wire.messages.delete_groups import DeletableGroupResult
from ottla.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)


class Describer:
    """Stands for the part that knows how a group of one kind looks."""

    def __init__(self, described: Any) -> None:
        self.described = described
        self.asked: list[Any] = []

    def describe(self, group: Any) -> Any:
        self.asked.append(group)
        return self.described


class Office:
    def __init__(self) -> None:
        self.world = World()
        self.classic = Describer(describe_groups.DescribedGroup(group_id="c", group_state="Stable"))
        self.consumer = Describer(consumer_group_describe.DescribedGroup(group_id="n", group_epoch=7))
        classic: Any = self.classic
        consumer: Any = self.consumer
        self.admin = GroupAdmin(self.world.state, self.world.offsets, classic, consumer)

    def add(self, group_id: str, state: str = "Empty", **more: Any) -> None:
        group = self.world.new_group(group_id)
        group.state_name = state
        for name, value in more.items():
            setattr(group, name, value)

    def listed(self, states: list[str] | None = None, types: list[str] | None = None) -> list[str]:
        return sorted(group.group_id for group in self.admin.list(states or [], types or []))

    def delete(self, group_id: str) -> DeletableGroupResult:
        promise: Promise[DeletableGroupResult] = Promise(lambda error: delete_refusal(group_id, error))
        try:
            self.world.run(self.admin.delete(group_id, promise))
        except KafkaError as error:
            promise.refuse(error)
        assert promise.response is not None
        return promise.response


@pytest.fixture
def office() -> Office:
    office = Office()
    office.add("c", "PreparingRebalance", protocol_type="consumer")
    office.add("n", "Stable", type=CONSUMER, protocol_type="consumer")
    office.add("simple", "Empty")
    return office


# --- listing ----------------------------------------------------------------------------------------------


def test_every_group_is_listed_with_protocol_type_state_and_type(office: Office) -> None:
    listed = {
        group.group_id: (group.protocol_type, group.group_state, group.group_type)
        for group in office.admin.list()
    }
    assert listed == {
        "c": ("consumer", "PreparingRebalance", "classic"),
        "n": ("consumer", "Stable", "consumer"),
        "simple": ("", "Empty", "classic"),
    }


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        (["Stable"], ["n"]),
        (["stable", "EMPTY"], ["n", "simple"]),
        ([" preparingRebalance "], ["c"]),
        (["NoSuchState"], []),
        (["NoSuchState", "Empty"], ["simple"]),
    ],
)
def test_states_filter_without_regard_to_case_and_blanks(
    office: Office, states: list[str], expected: list[str]
) -> None:
    """KIP-518."""
    assert office.listed(states) == expected


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (["classic"], ["c", "simple"]),
        (["CONSUMER"], ["n"]),
        (["Classic", "Consumer"], ["c", "n", "simple"]),
        (["share"], []),
        (["nonsense"], []),
    ],
)
def test_types_filter_without_regard_to_case_and_unknown_ones_match_nothing(
    office: Office, types: list[str], expected: list[str]
) -> None:
    """KIP-848."""
    assert office.listed(types=types) == expected


def test_both_filters_have_to_match(office: Office) -> None:
    assert office.listed(["Stable"], ["classic"]) == []
    assert office.listed(["Stable"], ["consumer"]) == ["n"]


# --- describing -------------------------------------------------------------------------------------------


def test_a_classic_group_is_described_by_the_classic_groups(office: Office) -> None:
    assert office.admin.describe_classic("c", 6) is office.classic.described
    assert office.classic.asked == [office.world.state.groups["c"]]


@pytest.mark.parametrize(
    ("group_id", "message"),
    [("nobody", "Group nobody not found."), ("n", "Group n is not a classic group.")],
)
def test_from_version_6_what_is_no_classic_group_is_not_found(
    office: Office, group_id: str, message: str
) -> None:
    """KIP-1043."""
    described = office.admin.describe_classic(group_id, 6)
    assert described.group_id == group_id and described.group_state == "Dead"
    assert described.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert described.error_message == message


@pytest.mark.parametrize("version", range(6))
@pytest.mark.parametrize("group_id", ["nobody", "n", ""])
def test_before_version_6_it_is_a_dead_group_without_an_error(
    office: Office, group_id: str, version: int
) -> None:
    described = office.admin.describe_classic(group_id, version)
    assert described == describe_groups.DescribedGroup(group_id=group_id, group_state="Dead")


def test_a_consumer_group_is_described_by_the_consumer_groups(office: Office) -> None:
    assert office.admin.describe_consumer("n") is office.consumer.described
    assert office.consumer.asked == [office.world.state.groups["n"]]


@pytest.mark.parametrize(
    ("group_id", "message"),
    [("nobody", "Group nobody not found."), ("c", "Group c is not a consumer group.")],
)
def test_what_is_no_consumer_group_is_not_found(office: Office, group_id: str, message: str) -> None:
    described = office.admin.describe_consumer(group_id)
    assert described.group_id == group_id
    assert described.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert described.error_message == message


def test_the_empty_group_id_is_invalid_for_consumer_groups(office: Office) -> None:
    described = office.admin.describe_consumer("")
    assert (described.group_id, described.error_code) == ("", ErrorCode.INVALID_GROUP_ID)


# --- deleting ---------------------------------------------------------------------------------------------


def test_a_group_goes_with_its_offsets_in_one_batch(office: Office) -> None:
    world = office.world
    world.put("simple", "orders", 0, 1)
    world.put("simple", "clicks", 1, 2)
    promise: Promise[DeletableGroupResult] = Promise(lambda error: delete_refusal("simple", error))
    outcome = office.admin.delete("simple", promise)
    assert all(record.value is None for record in outcome.records)
    assert [type(record.key) for record in outcome.records] == [
        OffsetCommitKey,
        OffsetCommitKey,
        GroupMetadataKey,
    ]
    assert "simple" in world.state.groups  # until it is written
    world.run(outcome)
    assert promise.response == DeletableGroupResult(group_id="simple")
    assert "simple" not in world.state.groups and "simple" not in world.offsets.store
    assert len(world.reloaded().offsets.store) == 0 and "simple" not in world.reloaded().state.groups


@pytest.mark.parametrize("group_id", ["nobody", ""])
def test_an_unknown_group_cannot_be_deleted(office: Office, group_id: str) -> None:
    """The empty id is a name like any other, kept for old clients."""
    assert office.delete(group_id).error_code == ErrorCode.GROUP_ID_NOT_FOUND


@pytest.mark.parametrize("code", [ErrorCode.NON_EMPTY_GROUP, ErrorCode.GROUP_ID_NOT_FOUND])
def test_a_refusal_of_the_group_leaves_group_and_offsets(office: Office, code: ErrorCode) -> None:
    office.world.put("c", "orders", 0, 1)
    office.add("c", delete_error=code)
    before = len(office.world.log)
    assert office.delete("c") == DeletableGroupResult(group_id="c", error_code=code)
    assert len(office.world.log) == before
    assert "c" in office.world.state.groups and office.world.offset("c", "orders", 0) == 1


# --- with classic groups ----------------------------------------------------------------------------------


class ClassicOffice(Office):
    """The same with real classic groups."""

    def __init__(self) -> None:
        self.world = World()
        state = self.world.state
        self.groups = ClassicGroups(state)
        self.world.offsets = Offsets(state, self.groups.create_for_offsets)
        consumer: Any = Describer(None)
        self.admin = GroupAdmin(state, self.world.offsets, self.groups, consumer)

    def join(self, group_id: str) -> None:
        request = JoinGroupRequest(
            group_id=group_id,
            session_timeout_ms=10_000,
            rebalance_timeout_ms=10_000,
            protocol_type="connect",
            protocols=[JoinGroupRequestProtocol(name="v1", metadata=b"x")],
        )
        promise: Promise[JoinGroupResponse] = Promise(
            lambda error: JoinGroupResponse(error_code=int(error.code))
        )
        self.groups.join(request, Client("client", "/127.0.0.1", 1), promise)


def test_a_simple_commit_makes_a_classic_group_that_can_be_listed_described_and_deleted() -> None:
    office = ClassicOffice()
    office.world.put("s", "orders", 0, 1)
    (listed,) = office.admin.list(["empty"], ["classic"])
    assert (listed.group_id, listed.protocol_type, listed.group_state) == ("s", "", "Empty")
    described = office.admin.describe_classic("s", 6)
    assert (described.error_code, described.group_state, described.members) == (0, "Empty", [])
    promise: Promise[DeletableGroupResult] = Promise(lambda error: delete_refusal("s", error))
    for record in office.admin.delete("s", promise).records:
        if isinstance(record.key, GroupMetadataKey):
            office.groups.replay(record)
        else:
            office.world.offsets.replay(record, 1, -1)
    assert office.world.state.groups == {} and "s" not in office.world.offsets.store


def test_a_classic_group_with_a_member_cannot_be_deleted() -> None:
    office = ClassicOffice()
    office.join("connect-cluster")
    assert office.delete("connect-cluster").error_code == ErrorCode.NON_EMPTY_GROUP
    assert office.listed(["PreparingRebalance"]) == ["connect-cluster"]
