"""Members and administrators of groups that misbehave: Kafka's error codes, the rest of the group goes on,
and whoever has nothing to do with it notices nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ottla.model.errors import ErrorCode
from ottla.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from ottla.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatRequestTopicPartitions,
)
from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.wire.messages.delete_groups import DeleteGroupsRequest
from ottla.wire.messages.describe_groups import DescribeGroupsRequest
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.heartbeat import HeartbeatRequest
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.wire.messages.index import ApiKey
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from ottla.wire.messages.list_groups import ListGroupsRequest
from ottla.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from ottla.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from support.broker_process import BrokerProcess
from support.raw_client import ConnectionEnded, RawClient, frame_of
from support.undisturbed import Undisturbed
from support.waiting import wait_until

MAX_SIZE = 3
INT32_MAX = 2**31 - 1
SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "100",
    "group.max.size": str(MAX_SIZE),
    "group.consumer.max.size": str(MAX_SIZE),
    "group.consumer.min.session.timeout.ms": "500",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "200",
    "offset.metadata.max.bytes": "100",
    "offsets.topic.num.partitions": "4",
}
TOPIC = "events"


@pytest.fixture(scope="module")
def shared_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """One broker for these tests, with small groups. Sessions are as long as usual, unless a test asks for a
    short one: on a busy machine a second may pass between two requests.
    """
    broker = BrokerProcess(tmp_path_factory.mktemp("broker") / "data", settings=SETTINGS).start()
    with RawClient(broker.port) as client:
        client.create_topic(TOPIC, partitions=50)
        client.call(FindCoordinatorRequest(key="g"), 3)
    yield broker
    assert broker.running, f"the broker died during the tests:\n{broker.log_since(0)[-4000:]}"
    code = broker.stop()
    log = broker.log_since(0)
    assert code == 0, f"the broker stopped with {code}:\n{log[-4000:]}"
    assert "Traceback" not in log, f"an internal error of the broker:\n{log[-8000:]}"


def join_request(
    group: str,
    member_id: str = "",
    *,
    protocol_type: str = "consumer",
    protocols: Mapping[str, bytes] | None = None,
    session_ms: int = 30_000,
    rebalance_ms: int = 30_000,
    instance: str | None = None,
) -> JoinGroupRequest:
    offered = {"range": b"any"} if protocols is None else protocols
    return JoinGroupRequest(
        group_id=group,
        session_timeout_ms=session_ms,
        rebalance_timeout_ms=rebalance_ms,
        member_id=member_id,
        group_instance_id=instance,
        protocol_type=protocol_type,
        protocols=[JoinGroupRequestProtocol(name=name, metadata=data) for name, data in offered.items()],
    )


def heartbeat_request(group: str, member_id: str, generation: int) -> HeartbeatRequest:
    return HeartbeatRequest(group_id=group, generation_id=generation, member_id=member_id)


def sync_request(
    group: str, member_id: str, generation: int, assignments: Mapping[str, bytes]
) -> SyncGroupRequest:
    return SyncGroupRequest(
        group_id=group,
        generation_id=generation,
        member_id=member_id,
        protocol_type="consumer",
        protocol_name="range",
        assignments=[SyncGroupRequestAssignment(member_id=m, assignment=a) for m, a in assignments.items()],
    )


def commit_request(
    group: str, partitions: list[tuple[int, int]], *, topic: str = TOPIC, metadata: str = "", **who: Any
) -> OffsetCommitRequest:
    entries = [
        OffsetCommitRequestPartition(
            partition_index=index, committed_offset=offset, committed_metadata=metadata
        )
        for index, offset in partitions
    ]
    return OffsetCommitRequest(
        group_id=group, topics=[OffsetCommitRequestTopic(name=topic, partitions=entries)], **who
    )


def consumer_request(
    group: str, member_id: str, epoch: int = 0, **fields: Any
) -> ConsumerGroupHeartbeatRequest:
    if epoch == 0:
        fields.setdefault("rebalance_timeout_ms", 30_000)
        fields.setdefault("topic_partitions", [])
        if "subscribed_topic_regex" not in fields:
            fields.setdefault("subscribed_topic_names", [TOPIC])
    return ConsumerGroupHeartbeatRequest(group_id=group, member_id=member_id, member_epoch=epoch, **fields)


class Member:
    """One that behaves: joined, synced, and beating when asked to."""

    def __init__(self, client: RawClient, group: str, **options: Any) -> None:
        self.client = client
        self.group = group
        self.options = options
        self.member_id: str = client.call(join_request(group, **options), 9).member_id
        self.generation = 0
        self.rejoin()

    def rejoin(self) -> None:
        joined = self.client.call(join_request(self.group, self.member_id, **self.options), 9)
        assert joined.error_code == ErrorCode.NONE, joined
        self.generation = joined.generation_id
        assignments = {each.member_id: b"assigned" for each in joined.members}
        synced = self.client.call(sync_request(self.group, self.member_id, self.generation, assignments), 5)
        assert (synced.error_code, synced.assignment) == (ErrorCode.NONE, b"assigned"), synced

    def beat(self) -> ErrorCode:
        request = heartbeat_request(self.group, self.member_id, self.generation)
        return ErrorCode(self.client.call(request, 4).error_code)


def committed(client: RawClient, group: str) -> dict[int, int]:
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group, topics=None)])
    (answer,) = client.call(request, 8).groups
    return {
        each.partition_index: each.committed_offset for topic in answer.topics for each in topic.partitions
    }


def codes(response: Any) -> list[int]:
    return [each.error_code for topic in response.topics for each in topic.partitions]


def state_of(client: RawClient, group: str) -> str | None:
    answer = client.call(ListGroupsRequest(), 4)
    return {each.group_id: each.group_state for each in answer.groups}.get(group)


def members_of(client: RawClient, group: str) -> list[str]:
    (described,) = client.call(DescribeGroupsRequest(groups=[group]), 5).groups
    return [each.member_id for each in described.members]


# --- the classic protocol -----------------------------------------------------------------------------------


def test_stale_generations_unknown_members_and_wrong_protocols(
    shared_broker: BrokerProcess, undisturbed: Undisturbed, raw: RawClient, topic_name: str
) -> None:
    group = topic_name
    with undisturbed(lines=None):
        member = Member(raw, group)
        who: dict[str, Any] = {
            "member_id": member.member_id,
            "generation_id_or_member_epoch": member.generation,
        }
        stale = member.generation - 1
        with RawClient(shared_broker.port) as rude:
            assert rude.call(heartbeat_request(group, member.member_id, stale), 4).error_code == (
                ErrorCode.ILLEGAL_GENERATION
            )
            assert rude.call(heartbeat_request(group, "nobody", member.generation), 4).error_code == (
                ErrorCode.UNKNOWN_MEMBER_ID
            )
            assert rude.call(sync_request(group, member.member_id, INT32_MAX, {}), 5).error_code == (
                ErrorCode.ILLEGAL_GENERATION
            )
            refused = rude.call(
                commit_request(
                    group, [(0, 9)], member_id=member.member_id, generation_id_or_member_epoch=stale
                ),
                9,
            )
            assert codes(refused) == [ErrorCode.ILLEGAL_GENERATION]
            refused = rude.call(
                commit_request(
                    group, [(0, 9)], member_id="nobody", generation_id_or_member_epoch=member.generation
                ),
                9,
            )
            assert codes(refused) == [ErrorCode.UNKNOWN_MEMBER_ID]
            # An administrator must not move the offsets of a group that has members.
            assert codes(rude.call(commit_request(group, [(0, 9)]), 9)) == [ErrorCode.UNKNOWN_MEMBER_ID]
            for request in (
                join_request(group, protocol_type="connect"),
                join_request(group, protocol_type=""),
                join_request(group, protocols={}),
                join_request(group, protocols={"roundrobin": b""}),
            ):
                assert rude.call(request, 9).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
            wrong = sync_request(group, member.member_id, member.generation, {})
            wrong.protocol_type = "connect"
            assert rude.call(wrong, 5).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        assert member.beat() is ErrorCode.NONE
        assert codes(raw.call(commit_request(group, [(0, 5)], **who), 9)) == [ErrorCode.NONE]
        assert committed(raw, group) == {0: 5}


def test_the_empty_group_id(undisturbed: Undisturbed, raw: RawClient) -> None:
    with undisturbed(lines=None):
        invalid = ErrorCode.INVALID_GROUP_ID
        assert raw.call(join_request(""), 9).error_code == invalid
        assert raw.call(sync_request("", "m", 1, {}), 5).error_code == invalid
        assert raw.call(heartbeat_request("", "m", 1), 4).error_code == invalid
        leave = LeaveGroupRequest(group_id="", members=[MemberIdentity(member_id="m")])
        assert raw.call(leave, 5).error_code == invalid
        assert raw.call(consumer_request("", "m"), 1).error_code == ErrorCode.INVALID_REQUEST
        assert state_of(raw, "") is None


@pytest.mark.parametrize("session_ms", [-1, 0, 99, 1_800_001, INT32_MAX, -(2**31)])
def test_absurd_session_timeouts_are_refused(
    undisturbed: Undisturbed, raw: RawClient, topic_name: str, session_ms: int
) -> None:
    with undisturbed(lines=None):
        answer = raw.call(join_request(topic_name, session_ms=session_ms), 9)
        assert answer.error_code == ErrorCode.INVALID_SESSION_TIMEOUT
        assert state_of(raw, topic_name) is None


@pytest.mark.parametrize("rebalance_ms", [-(2**31), -1, 0, 1, INT32_MAX])
def test_absurd_rebalance_timeouts_hurt_their_own_group_only(
    shared_broker: BrokerProcess,
    undisturbed: Undisturbed,
    raw: RawClient,
    topic_name: str,
    rebalance_ms: int,
) -> None:
    with undisturbed(lines=None):
        member_id = raw.call(join_request(topic_name, rebalance_ms=rebalance_ms), 9).member_id
        answer = raw.call(join_request(topic_name, member_id, rebalance_ms=rebalance_ms), 9)
        assert answer.error_code in (ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID)
        answer = raw.call(consumer_request(topic_name + "-2", "m", rebalance_timeout_ms=rebalance_ms), 1)
        assert answer.error_code == (ErrorCode.INVALID_REQUEST if rebalance_ms == -1 else ErrorCode.NONE)


def test_a_group_at_its_greatest_size_takes_nobody_else(
    shared_broker: BrokerProcess, undisturbed: Undisturbed, topic_name: str
) -> None:
    """`group.max.size` and `group.consumer.max.size`."""
    with undisturbed(lines=None):
        clients = [RawClient(shared_broker.port) for _ in range(MAX_SIZE + 1)]
        try:
            full = ErrorCode.GROUP_MAX_SIZE_REACHED
            for number, client in enumerate(clients):
                answer = client.call(consumer_request(f"{topic_name}-newer", f"member-{number}"), 1)
                assert answer.error_code == (full if number == MAX_SIZE else ErrorCode.NONE)
            ids = [client.call(join_request(topic_name), 9).member_id for client in clients[:MAX_SIZE]]
            first = clients[0].call(join_request(topic_name, ids[0]), 9)
            assert first.error_code == ErrorCode.NONE
            for client, member_id in list(zip(clients, ids, strict=False))[1:]:
                client.send(join_request(topic_name, member_id), 9)
            wait_until(lambda: len(members_of(clients[0], topic_name)) == MAX_SIZE, "everybody's join")
            clients[0].send(join_request(topic_name, ids[0]), 9)
            answers = [client.receive(join_request(""), 9)[1] for client in clients[:MAX_SIZE]]
            assert {answer.error_code for answer in answers} == {ErrorCode.NONE}
            last = answers[0].generation_id
            assert clients[-1].call(join_request(topic_name), 9).error_code == full
            codes_of = {
                clients[0].call(heartbeat_request(topic_name, member_id, last), 4).error_code
                for member_id in ids
            }
            assert codes_of == {ErrorCode.NONE}
        finally:
            for client in clients:
                client.close()


def test_a_member_that_never_syncs_and_one_that_falls_silent_are_out(
    shared_broker: BrokerProcess, undisturbed: Undisturbed, raw: RawClient, topic_name: str
) -> None:
    """The rest of the group rebalances and goes on."""
    with undisturbed(lines=None), RawClient(shared_broker.port) as other:
        member = Member(raw, topic_name, rebalance_ms=700)
        lazy_id = other.call(join_request(topic_name, rebalance_ms=700), 9).member_id
        other.send(join_request(topic_name, lazy_id, rebalance_ms=700), 9)
        wait_until(lambda: member.beat() is ErrorCode.REBALANCE_IN_PROGRESS, "the rebalance")
        member.rejoin()
        _, joined = other.receive(join_request(""), 9)
        assert joined.generation_id == member.generation
        # It never syncs: after its rebalance timeout the others are asked to join again.
        wait_until(lambda: member.beat() is ErrorCode.REBALANCE_IN_PROGRESS, "the next rebalance")
        member.rejoin()
        assert other.call(heartbeat_request(topic_name, lazy_id, joined.generation_id), 4).error_code == (
            ErrorCode.UNKNOWN_MEMBER_ID
        )
        silent = Member(other, f"{topic_name}-silent", session_ms=200)
        wait_until(lambda: state_of(raw, silent.group) == "Empty", "the silent member's end")
        assert silent.beat() is ErrorCode.UNKNOWN_MEMBER_ID
        assert member.beat() is ErrorCode.NONE


def test_garbage_as_metadata_and_assignment_is_handed_on(
    undisturbed: Undisturbed, raw: RawClient, topic_name: str
) -> None:
    """A group of the protocol type `consumer` whose bytes are no subscription; and a member of the newer
    protocol that would have to read them is refused instead.
    """
    garbage = b"\x7f\xff" + b"\xff\xff\xff\xf0" + bytes(range(256)) * 100
    with undisturbed(lines=None):
        for number, data in enumerate((b"", b"\0", garbage, b"\0\0\x7f\xff\xff\xff", bytes(200_000))):
            group = f"{topic_name}-{number}"
            member_id = raw.call(join_request(group, protocols={"range": data}), 9).member_id
            joined = raw.call(join_request(group, member_id, protocols={"range": data}), 9)
            assert [each.metadata for each in joined.members] == [data]
            answer = raw.call(sync_request(group, member_id, joined.generation_id, {member_id: data}), 5)
            assert (answer.error_code, answer.assignment) == (ErrorCode.NONE, data)
            answer = raw.call(consumer_request(group, "newer"), 1)
            assert answer.error_code in (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.NONE)


def test_assignments_for_members_that_are_not_there_are_ignored(
    undisturbed: Undisturbed, raw: RawClient, topic_name: str
) -> None:
    with undisturbed(lines=None):
        member_id = raw.call(join_request(topic_name), 9).member_id
        generation = raw.call(join_request(topic_name, member_id), 9).generation_id
        assignments = {f"nobody-{number}": b"x" * 20 for number in range(20_000)}
        answer = raw.call(sync_request(topic_name, member_id, generation, assignments), 5)
        assert (answer.error_code, answer.assignment) == (ErrorCode.NONE, b"")


def test_a_hundred_thousand_members_in_one_leave(
    undisturbed: Undisturbed, raw: RawClient, topic_name: str
) -> None:
    with undisturbed(lines=None, peak_mb=160):
        member = Member(raw, topic_name)
        many = [MemberIdentity(member_id=f"nobody-{number}", reason=None) for number in range(100_000)]
        answer = raw.call(LeaveGroupRequest(group_id=topic_name, members=many), 5)
        assert answer.error_code == ErrorCode.INVALID_REQUEST
        some = [MemberIdentity(member_id=member.member_id) for _ in range(10)]
        answer = raw.call(LeaveGroupRequest(group_id=topic_name, members=some), 5)
        assert [each.error_code for each in answer.members] == [ErrorCode.NONE] + (
            [ErrorCode.UNKNOWN_MEMBER_ID] * 9
        )


@pytest.mark.parametrize("version", [3, 9])
def test_a_flood_of_joins_whose_answers_nobody_reads(
    shared_broker: BrokerProcess, undisturbed: Undisturbed, topic_name: str, version: int
) -> None:
    """The broker stops reading when too many answers wait; what was handed out expires."""
    with undisturbed(lines=None), RawClient(shared_broker.port) as rude:
        rude.socket.settimeout(1.0)
        frames = b"".join(
            frame_of(join_request(topic_name, session_ms=1_000, rebalance_ms=500), version, number)
            for number in range(1, 200)
        )
        sent = 0
        try:
            for _ in range(300):
                rude.send_bytes(frames)
                sent += 1
        except (TimeoutError, ConnectionEnded):
            pass  # the broker does not read any more
        rude.close()
    with RawClient(shared_broker.port) as raw:
        wait_until(
            lambda: state_of(raw, topic_name) in ("Empty", None), "the ghosts to be gone", timeout_s=20
        )
        assert Member(raw, topic_name).beat() is ErrorCode.NONE


# --- offsets ------------------------------------------------------------------------------------------------


def test_commits_to_partitions_that_do_not_exist(
    undisturbed: Undisturbed, raw: RawClient, topic_name: str
) -> None:
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    with undisturbed(lines=None):
        answer = raw.call(commit_request(topic_name, [(0, 1), (50, 1), (-1, 1), (INT32_MAX, 1)]), 9)
        assert codes(answer) == [ErrorCode.NONE, unknown, unknown, unknown]
        assert codes(raw.call(commit_request(topic_name, [(0, 1)], topic="nowhere"), 9)) == [unknown]
        answer = raw.call(commit_request(topic_name, [(1, -1), (2, 2**63 - 1), (3, -(2**63))]), 9)
        assert codes(answer) == [ErrorCode.NONE] * 3  # any offset is taken, as Kafka does
        assert committed(raw, topic_name) == {0: 1, 1: -1, 2: 2**63 - 1, 3: -(2**63)}


def test_metadata_that_is_too_long_is_refused_for_its_partition(
    undisturbed: Undisturbed, raw: RawClient, topic_name: str
) -> None:
    """`offset.metadata.max.bytes`; in fact characters, as Kafka counts them."""
    with undisturbed(lines=None):
        request = commit_request(topic_name, [(0, 1), (1, 1)], metadata="m" * 100)
        request.topics[0].partitions[1].committed_metadata = "m" * 101
        assert codes(raw.call(request, 9)) == [ErrorCode.NONE, ErrorCode.OFFSET_METADATA_TOO_LARGE]
        request = commit_request(topic_name, [(2, 1)], metadata="m" * 30_000)
        assert codes(raw.call(request, 9)) == [ErrorCode.OFFSET_METADATA_TOO_LARGE]
        assert committed(raw, topic_name) == {0: 1}


def test_ten_thousand_partitions_in_one_commit(
    undisturbed: Undisturbed, raw: RawClient, topic_name: str
) -> None:
    with undisturbed(lines=None):
        entries = [(number % 50, number) for number in range(10_000)]
        answer = raw.call(commit_request(topic_name, entries, metadata="m" * 90), 9)
        assert codes(answer) == [ErrorCode.NONE] * 10_000
        assert committed(raw, topic_name) == {index: 9950 + index for index in range(50)}
        answer = raw.call(commit_request(topic_name, [(1000 + n, 1) for n in range(100_000)]), 9)
        assert set(codes(answer)) == {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}


def test_absurd_retentions_expire_nobody_elses_offsets(
    undisturbed: Undisturbed, raw: RawClient, topic_name: str
) -> None:
    with undisturbed(lines=None):
        for number, retention_ms in enumerate((-(2**63), -2, 0, 2**63 - 1)):
            request = commit_request(topic_name, [(number, 1)], retention_time_ms=retention_ms)
            request.generation_id_or_member_epoch = -1
            assert codes(raw.call(request, 4)) == [ErrorCode.NONE]


# --- the newer protocol -------------------------------------------------------------------------------------

BAD_EXPRESSIONS = {
    "a huge repetition": "a{1000000}",
    "repetitions in repetitions": "((((a{100}){100}){100}){100}){100}",
    "deep nesting": "(" * 10_000 + "a" + ")" * 10_000,
    "unbalanced": "(((",
    "32 KB long": "a" * 32_000,
    "a long alternation": "|".join(f"topic-{number}" for number in range(3_000)),
    "a backreference": r"(a)\1",
    "a lookahead": "(?=a)b",
    "a bad escape": "\\",
    "a bad range": "[z-a]",
    "an unknown class": r"\p{NoSuchScript}",
}
SLOW_ELSEWHERE = ["(a+)+$", "(a|aa)+$", "(.*a){20}", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$"]


@pytest.mark.parametrize("kind", BAD_EXPRESSIONS)
def test_expressions_that_are_refused(
    undisturbed: Undisturbed, raw: RawClient, topic_name: str, kind: str
) -> None:
    with undisturbed(lines=None):
        request = consumer_request(topic_name, "m", subscribed_topic_regex=BAD_EXPRESSIONS[kind])
        assert raw.call(request, 1).error_code == ErrorCode.INVALID_REGULAR_EXPRESSION
        assert state_of(raw, topic_name) is None


def test_an_expression_that_is_too_long_or_no_text_ends_its_connection(
    shared_broker: BrokerProcess, undisturbed: Undisturbed, topic_name: str
) -> None:
    """Kafka's strings end at 32,767 bytes; a megabyte is no request, and neither are bytes that are no
    UTF-8.
    """
    head = struct.pack(">hhih", ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, 7, 1) + b"x" + b"\0"
    before = b"\x02g" + b"\x02m" + struct.pack(">i", 0) + b"\0" + b"\0" + struct.pack(">i", 1000) + b"\0"
    with undisturbed(lines=None):
        for regex in (
            b"\x81\x80\x40" + b"a" * (1 << 20),  # its length plus one, as a varint
            b"\x03\xc3\x28",
            b"\x04\xed\xa0\x80",  # half of a surrogate pair
        ):
            with RawClient(shared_broker.port) as rude:
                rude.send_frame(head + before + regex + b"\0" + b"\1" + b"\0")
                assert rude.is_closed_by_broker()


def test_expressions_that_would_never_end_elsewhere_over_many_topics(
    shared_broker: BrokerProcess, undisturbed: Undisturbed, raw: RawClient, topic_name: str
) -> None:
    """RE2 takes time in proportion to the names, and it does so a little at a time."""
    names = [f"{'a' * 150}-{number}" for number in range(5_000)]
    for start in range(0, len(names), 500):
        topics = [
            CreatableTopic(name=name, num_partitions=1, replication_factor=1)
            for name in names[start : start + 500]
        ]
        answer = raw.call(CreateTopicsRequest(topics=topics, timeout_ms=60_000), 7)
        assert {each.error_code for each in answer.topics} == {ErrorCode.NONE}
    with undisturbed(lines=None):
        for number, regex in enumerate(SLOW_ELSEWHERE):
            request = consumer_request(f"{topic_name}-{number}", "m", subscribed_topic_regex=regex)
            assert raw.call(request, 1).error_code == ErrorCode.NONE
        matching = consumer_request(topic_name, "m", subscribed_topic_regex="a{150}-1.*")
        epoch = raw.call(matching, 1).member_epoch
        assert epoch >= 1
        answers: list[Any] = []

        def assigned() -> bool:
            answers.append(
                raw.call(consumer_request(topic_name, "m", 0, subscribed_topic_regex="a{150}-1.*"), 1)
            )
            assignment = answers[-1].assignment
            return assignment is not None and len(assignment.topic_partitions) == 1111

        wait_until(assigned, "the topics that match", timeout_s=20, pause_s=0.2)


def test_members_of_the_newer_protocol_that_say_nonsense(
    undisturbed: Undisturbed, raw: RawClient, topic_name: str
) -> None:
    invalid = ErrorCode.INVALID_REQUEST
    with undisturbed(lines=None):
        assert raw.call(consumer_request(topic_name, ""), 1).error_code == invalid
        assert raw.call(consumer_request(topic_name, "m", -3), 1).error_code == invalid
        assert raw.call(consumer_request(topic_name, "m", -2), 1).error_code == invalid
        assert raw.call(consumer_request(topic_name, "m", -1), 1).error_code == ErrorCode.GROUP_ID_NOT_FOUND
        assert raw.call(consumer_request(topic_name, "m", 5), 1).error_code == ErrorCode.GROUP_ID_NOT_FOUND
        unsupported = consumer_request(topic_name, "m", server_assignor="best")
        assert raw.call(unsupported, 1).error_code == ErrorCode.UNSUPPORTED_ASSIGNOR
        many = [f"topic-{number}" for number in range(20_001)]
        assert (
            raw.call(consumer_request(topic_name, "m", subscribed_topic_names=many), 1).error_code == invalid
        )
        assert state_of(raw, topic_name) is None
        joined = raw.call(consumer_request(topic_name, "m"), 1)
        assert joined.error_code == ErrorCode.NONE
        fenced = raw.call(consumer_request(topic_name, "m", INT32_MAX), 1)
        assert fenced.error_code == ErrorCode.FENCED_MEMBER_EPOCH
        nobody = raw.call(consumer_request(topic_name, "nobody", 1), 1)
        assert nobody.error_code == ErrorCode.UNKNOWN_MEMBER_ID
        # It says that it owns partitions of topics that never were, and of the one that it reads.
        owned = [
            ConsumerGroupHeartbeatRequestTopicPartitions(
                topic_id=number.to_bytes(16, "big"), partitions=[-1, INT32_MAX, *range(100)]
            )
            for number in range(1, 2_000)
        ]
        answer = raw.call(consumer_request(topic_name, "m", joined.member_epoch, topic_partitions=owned), 1)
        assert answer.error_code == ErrorCode.NONE
        assert raw.call(consumer_request(topic_name, "m", joined.member_epoch), 1).error_code == 0


def test_a_member_of_the_newer_protocol_that_falls_silent_is_out(
    undisturbed: Undisturbed, raw: RawClient, topic_name: str
) -> None:
    short = AlterableConfig(name="consumer.session.timeout.ms", config_operation=0, value="1000")
    of_group = AlterConfigsResource(resource_type=32, resource_name=topic_name, configs=[short])
    altered = raw.call(IncrementalAlterConfigsRequest(resources=[of_group]), 1)
    assert altered.responses[0].error_code == ErrorCode.NONE
    with undisturbed(lines=None):
        raw.call(consumer_request(topic_name, "silent"), 1)
        epoch = raw.call(consumer_request(topic_name, "alive"), 1).member_epoch

        def has_all() -> bool:
            nonlocal epoch
            answer = raw.call(consumer_request(topic_name, "alive", epoch, topic_partitions=[]), 1)
            if answer.error_code == ErrorCode.UNKNOWN_MEMBER_ID:
                epoch = 0  # this machine was so busy that a session passed here, too: it joins again
                return False
            assert answer.error_code == ErrorCode.NONE, answer
            epoch = answer.member_epoch
            assignment = answer.assignment
            return (
                assignment is not None and sum(len(t.partitions) for t in assignment.topic_partitions) == 50
            )

        wait_until(has_all, "the silent member's partitions")


# --- many of everything -------------------------------------------------------------------------------------


def test_thousands_of_groups_and_member_ids_of_one_client_cost_bounded_memory(
    shared_broker: BrokerProcess, undisturbed: Undisturbed, raw: RawClient, topic_name: str
) -> None:
    """A name costs a record and about 2 KB until the next round of expiry. (Kafka keeps them as long.)"""
    with undisturbed(lines=None, grown_mb=40, peak_mb=80):
        for start in range(0, 5_000, 100):
            for number in range(start, start + 100):
                raw.send(join_request(f"{topic_name}-{number}", session_ms=1_000), 9)
            for _ in range(100):
                assert raw.receive(join_request(""), 9)[1].error_code == ErrorCode.MEMBER_ID_REQUIRED
        refused = 0
        for _ in range(120):
            for _ in range(100):
                raw.send(join_request(topic_name, session_ms=60_000), 9)
            for _ in range(100):
                code = raw.receive(join_request(""), 9)[1].error_code
                assert code in (ErrorCode.MEMBER_ID_REQUIRED, ErrorCode.GROUP_MAX_SIZE_REACHED)
                refused += code == ErrorCode.GROUP_MAX_SIZE_REACHED
        assert refused == 2_000  # a group has 10,000 ids that were handed out and not used, at most


@pytest.mark.parametrize("kind", ["describe", "describe newer", "delete", "find"])
def test_requests_about_very_many_groups_are_answered_in_turns(
    undisturbed: Undisturbed, raw: RawClient, kind: str
) -> None:
    names = [f"group-{number}" for number in range(100_000)]
    request: Any = {
        "describe": DescribeGroupsRequest(groups=names),
        "describe newer": ConsumerGroupDescribeRequest(group_ids=names),
        "delete": DeleteGroupsRequest(groups_names=names),
        "find": FindCoordinatorRequest(coordinator_keys=names),
    }[kind]
    version = {"describe": 5, "describe newer": 1, "delete": 2, "find": 4}[kind]
    with undisturbed(lines=None, peak_mb=160):
        raw.call(request, version)
