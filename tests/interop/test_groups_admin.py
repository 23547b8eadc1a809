"""Kafka's Java Admin on our groups (what kafka-consumer-groups.sh and kafka-groups.sh are made of), and a
group that is not one of consumers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ottla.model.errors import ErrorCode
from ottla.wire.messages.describe_groups import DescribeGroupsRequest
from ottla.wire.messages.heartbeat import HeartbeatRequest
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from ottla.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from support.broker_process import BrokerProcess
from support.group_members.fixtures import Join, find_coordinator, group_broker, join, write
from support.java_client import JavaClient, JavaError
from support.raw_client import RawClient
from support.waiting import wait_until

__all__ = ["group_broker", "join"]  # fixtures

pytestmark = [pytest.mark.interop, pytest.mark.timeout(900)]

Call = Callable[..., Any]


@pytest.fixture
def call(java: JavaClient, group_broker: BrokerProcess) -> Call:
    return lambda op, **arguments: java.call(op, group_broker.bootstrap, **arguments)


@pytest.fixture
def topic(group_broker: BrokerProcess, topic_name: str) -> str:
    """A topic of two partitions with ten records each."""
    with RawClient(group_broker.port) as client:
        client.create_topic(topic_name, 2)
    write(group_broker, topic_name, 0, 9)
    return topic_name


def refusal(call: Call, op: str, **arguments: Any) -> str:
    with pytest.raises(JavaError) as refused:
        call(op, **arguments)
    return refused.value.code


@pytest.mark.parametrize(
    ("protocol", "listed_type", "assignor"),
    [("classic", "Classic", "range"), ("consumer", "Consumer", "uniform")],
)
def test_a_group_is_listed_and_described(
    protocol: str,
    listed_type: str,
    assignor: str,
    call: Call,
    group_broker: BrokerProcess,
    join: Join,
    topic: str,
) -> None:
    """KIP-518 and KIP-848: states, types, and each member's assignment."""
    group = f"described-{topic}"
    member = join(group_broker, "confluent-kafka", protocol, topic, group=group, instance_id="a-name")
    member.wait_for(lambda _: member.committed() == {0: 10, 1: 10}, "its commits")

    expected = {"type": listed_type, "protocol": "consumer", "state": "Stable"}
    assert call("list_groups")[group] == expected
    assert call("list_groups", states=["Stable"], types=[listed_type])[group] == expected
    assert group not in call("list_groups", states=["Empty"])
    assert group not in call("list_groups", types=["Consumer" if listed_type == "Classic" else "Classic"])

    described = call("describe_consumer_group", group=group)
    assert (described["state"], described["type"], described["simple"]) == ("Stable", listed_type, False)
    assert (described["assignor"], described["coordinator"]) == (assignor, 1)
    (only,) = described["members"]
    assert (only["client"], only["instance"], only["host"]) == (member.name, "a-name", "/127.0.0.1")
    assert only["assigned"] == [f"{topic}-0", f"{topic}-1"]
    if protocol == "consumer":
        assert described["epoch"] == described["target_epoch"] == only["epoch"] > 0
        assert only["upgraded"] is True
    offsets = call("group_offsets", group=group)
    assert {name: each["offset"] for name, each in offsets.items()} == {f"{topic}-0": 10, f"{topic}-1": 10}


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_offsets_are_altered_and_deleted_and_the_group_with_them(
    protocol: str, call: Call, group_broker: BrokerProcess, join: Join, topic: str
) -> None:
    """An active group's offsets are its members' own; an empty group's are anybody's."""
    group = f"altered-{topic}"
    first = join(group_broker, "confluent-kafka", protocol, topic, group=group)
    first.wait_for(lambda _: first.committed() == {0: 10, 1: 10}, "its commits")
    assert refusal(call, "alter_group_offsets", group=group, offsets=[[topic, 0, 3]]) == "UNKNOWN_MEMBER_ID"
    assert (
        refusal(call, "delete_group_offsets", group=group, partitions=[[topic, 0]])
        == "GROUP_SUBSCRIBED_TO_TOPIC"
    )
    assert refusal(call, "delete_group", group=group) == "NON_EMPTY_GROUP"
    assert first.stop() == 0

    assert call("describe_consumer_group", group=group)["state"] == "Empty"
    call("alter_group_offsets", group=group, offsets=[[topic, 0, 3, "moved by hand"], [topic, 1, 10]])
    assert call("group_offsets", group=group)[f"{topic}-0"] == {
        "offset": 3,
        "metadata": "moved by hand",
        "leader_epoch": -1,
    }
    call("delete_group_offsets", group=group, partitions=[[topic, 1]])
    assert set(call("group_offsets", group=group)) == {f"{topic}-0"}

    second = join(group_broker, "confluent-kafka", protocol, topic, group=group)
    second.wait_for(lambda _: second.committed() == {0: 10, 1: 10}, "its commits")
    assert second.delivered() == {0: list(range(3, 10)), 1: list(range(10))}
    assert second.stop() == 0

    call("delete_group", group=group)
    assert group not in call("list_groups")
    assert refusal(call, "delete_group", group=group) == "GROUP_ID_NOT_FOUND"
    assert refusal(call, "describe_consumer_group", group=group) == "GROUP_ID_NOT_FOUND"
    assert call("group_offsets", group=group) == {}


def test_offsets_without_a_group_are_kept_as_a_simple_group(call: Call, topic: str) -> None:
    group = f"simple-{topic}"
    call("alter_group_offsets", group=group, offsets=[[topic, 0, 7, "by nobody"]])
    assert call("group_offsets", group=group)[f"{topic}-0"]["offset"] == 7
    assert call("list_groups")[group] == {"type": "Classic", "protocol": "", "state": "Empty"}
    described = call("describe_consumer_group", group=group)
    assert described["simple"] is True and described["members"] == []
    call("delete_group", group=group)
    assert group not in call("list_groups")


@pytest.mark.parametrize("by_name", [True, False])
def test_members_are_removed_by_the_administrator(
    by_name: bool, call: Call, group_broker: BrokerProcess, join: Join, topic: str
) -> None:
    """KIP-345: a static member that is gone for good need not be waited for."""
    group = f"removed-{topic}"
    member = join(group_broker, "java", "classic", topic, group=group, instance_id="gone")
    member.wait_for(lambda _: member.committed() == {0: 10, 1: 10}, "its commits")
    member.kill()
    assert call("describe_consumer_group", group=group)["state"] == "Stable"
    if by_name:
        assert refusal(call, "remove_members", group=group, instances=["stranger"]) == "UNKNOWN_MEMBER_ID"
        call("remove_members", group=group, instances=["gone"])
    else:
        call("remove_members", group=group)
    assert call("describe_consumer_group", group=group)["state"] == "Empty"


# --- a group that is not one of consumers -----------------------------------------------------------------


def join_request(
    group: str, member_id: str, protocol_type: str = "connect", **fields: Any
) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id=group,
        session_timeout_ms=6000,
        rebalance_timeout_ms=6000,
        member_id=member_id,
        protocol_type=protocol_type,
        protocols=fields.pop("protocols", [JoinGroupRequestProtocol(name="sessioned", metadata=b"worker")]),
        **fields,
    )


def test_workers_of_connect_form_a_group_whose_bytes_the_broker_does_not_read(
    call: Call, group_broker: BrokerProcess, topic_name: str
) -> None:
    """The group protocol is general: metadata and assignments are the members' business."""
    group = f"connect-{topic_name}"
    with RawClient(group_broker.port) as one, RawClient(group_broker.port) as two:
        find_coordinator(one, group)
        workers = (one, two)
        ids = []
        for worker in workers:
            asked = worker.call(join_request(group, ""), 9)
            assert asked.error_code == ErrorCode.MEMBER_ID_REQUIRED  # KIP-394
            ids.append(asked.member_id)
        for number, worker in enumerate(workers):
            protocols = [JoinGroupRequestProtocol(name="sessioned", metadata=b"\xffworker %d" % number)]
            worker.send(join_request(group, ids[number], protocols=protocols), 9)
        joined = [worker.receive(JoinGroupRequest, 9)[1] for worker in workers]
        assert [each.error_code for each in joined] == [ErrorCode.NONE] * 2
        assert {each.leader for each in joined} <= set(ids) and len({each.leader for each in joined}) == 1
        assert {(each.protocol_type, each.protocol_name) for each in joined} == {("connect", "sessioned")}
        leader = ids.index(joined[0].leader)
        assert {m.member_id: bytes(m.metadata) for m in joined[leader].members} == {
            ids[0]: b"\xffworker 0",
            ids[1]: b"\xffworker 1",
        }
        assert joined[1 - leader].members == []

        def sync(number: int) -> SyncGroupRequest:
            given = [
                SyncGroupRequestAssignment(member_id=each, assignment=b"\x00tasks of " + each.encode())
                for each in ids
            ]
            return SyncGroupRequest(
                group_id=group,
                generation_id=joined[number].generation_id,
                member_id=ids[number],
                protocol_type="connect",
                protocol_name="sessioned",
                assignments=given if number == leader else [],
            )

        two_then_one = (1 - leader, leader)
        for number in two_then_one:
            workers[number].send(sync(number), 5)
        for number in two_then_one:
            _, synced = workers[number].receive(SyncGroupRequest, 5)
            assert synced.error_code == ErrorCode.NONE
            assert bytes(synced.assignment) == b"\x00tasks of " + ids[number].encode()

        beat = HeartbeatRequest(group_id=group, generation_id=joined[0].generation_id, member_id=ids[0])
        assert one.call(beat, 4).error_code == ErrorCode.NONE

        assert call("list_groups")[group] == {"type": "Classic", "protocol": "connect", "state": "Stable"}
        described = call("describe_classic_group", group=group)
        assert (described["protocol"], described["protocol_data"]) == ("connect", "sessioned")
        assert {each["id"] for each in described["members"]} == set(ids)
        (raw,) = one.call(DescribeGroupsRequest(groups=[group]), 5).groups
        assert {bytes(each.member_metadata) for each in raw.members} == {b"\xffworker 0", b"\xffworker 1"}

        with RawClient(group_broker.port) as consumer:
            refused = consumer.call(join_request(group, "", "consumer"), 9)
            assert refused.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL

        for number, worker in enumerate(workers):
            leave = LeaveGroupRequest(group_id=group, members=[MemberIdentity(member_id=ids[number])])
            assert worker.call(leave, 5).error_code == ErrorCode.NONE
        assert call("describe_classic_group", group=group)["state"] == "Empty"


def test_a_consumer_cannot_join_with_the_newer_protocol_a_group_of_another_type(
    group_broker: BrokerProcess, join: Join, topic: str
) -> None:
    """KIP-848: a group with members of another protocol type is not migrated; the member keeps asking."""
    group = f"connect-{topic}"
    with RawClient(group_broker.port) as worker:
        find_coordinator(worker, group)
        member_id = worker.call(join_request(group, ""), 9).member_id
        joined = worker.call(join_request(group, member_id), 9)
        assert joined.error_code == ErrorCode.NONE
        given = [SyncGroupRequestAssignment(member_id=member_id, assignment=b"tasks")]
        sync = SyncGroupRequest(
            group_id=group,
            generation_id=joined.generation_id,
            member_id=member_id,
            protocol_type="connect",
            protocol_name="sessioned",
            assignments=given,
        )
        assert worker.call(sync, 5).error_code == ErrorCode.NONE
        intruder = join(group_broker, "java", "consumer", topic, group=group)
        wait_until(lambda: not intruder.running, "the intruder gives up", timeout_s=30)
        assert [event.data for event in intruder.events() if event.kind == "fatal"]
        beat = HeartbeatRequest(group_id=group, generation_id=joined.generation_id, member_id=member_id)
        assert worker.call(beat, 4).error_code == ErrorCode.NONE
