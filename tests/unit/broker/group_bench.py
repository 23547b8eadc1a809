"""A bench whose broker coordinates groups: the topic `__consumer_offsets` is there, and there are short ways
to say what members and administrators say.

One partition of `__consumer_offsets` is enough for most tests, and lets them look at the one shard's log.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any

from broker_bench import Bench, BenchPeer, newest

from ottla.broker.group_host import GroupHost
from ottla.coordination.partitioner import partition_of_key
from ottla.coordination.record import CoordinatorRecord
from ottla.groups.record import decode_record
from ottla.model.errors import ErrorCode
from ottla.wire.framing import encode_request
from ottla.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from ottla.wire.messages.consumer_protocol import ConsumerProtocolSubscription
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.heartbeat import HeartbeatRequest
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from ottla.wire.messages.list_groups import ListGroupsRequest
from ottla.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from ottla.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from ottla.wire.primitives import EncodeError, Encoder
from ottla.wire.record_batch import decode_batch, iter_headers

OFFSETS_TOPIC = "__consumer_offsets"
GROUP_RESOURCE = 32
ADMIN_CLIENT_ID = "__admin_client"
"""Whom the broker lets write into internal topics, as Kafka does."""

_NO_SUCH_FIELD = re.compile(r"(?P<type>\w+)\.(?P<field>\w+) is set, and version")


def subscription(*topics: str) -> bytes:
    """A member's metadata in the consumer protocol, version 0."""
    out = Encoder()
    out.buf += b"\0\0"
    ConsumerProtocolSubscription(topics=list(topics)).encode(out, 0)
    return out.to_bytes()


def fitted(request: Any, version: int) -> Any:
    """The request as somebody says it who speaks this version: without the fields that it does not have."""
    while True:
        try:
            encode_request(request, version, 0, None)
        except EncodeError as error:
            found = _NO_SUCH_FIELD.match(str(error))
            if found is None:
                raise
            request = deepcopy(request)
            _reset(request, found["type"], found["field"])
        else:
            return request


def _reset(message: Any, type_name: str, field: str) -> None:
    if type(message).__name__ == type_name:
        setattr(message, field, getattr(type(message)(), field))
    for name in getattr(message, "__slots__", ()):
        value = getattr(message, name)
        for each in value if isinstance(value, list) else [value]:
            if hasattr(each, "__slots__"):
                _reset(each, type_name, field)


def find_request(*keys: str, key_type: int = 0) -> FindCoordinatorRequest:
    return FindCoordinatorRequest(key=keys[0], key_type=key_type, coordinator_keys=list(keys))


def join_request(
    group: str,
    member_id: str = "",
    *,
    protocol_type: str = "consumer",
    protocols: Mapping[str, bytes] | None = None,
    instance: str | None = None,
    session_ms: int = 10_000,
    rebalance_ms: int = 60_000,
) -> JoinGroupRequest:
    offered = {"range": subscription("events")} if protocols is None else protocols
    return JoinGroupRequest(
        group_id=group,
        session_timeout_ms=session_ms,
        rebalance_timeout_ms=rebalance_ms,
        member_id=member_id,
        group_instance_id=instance,
        protocol_type=protocol_type,
        protocols=[JoinGroupRequestProtocol(name=name, metadata=data) for name, data in offered.items()],
    )


def sync_request(
    group: str, member_id: str, generation: int, assignments: Mapping[str, bytes] | None = None
) -> SyncGroupRequest:
    return SyncGroupRequest(
        group_id=group,
        generation_id=generation,
        member_id=member_id,
        protocol_type="consumer",
        protocol_name="range",
        assignments=[
            SyncGroupRequestAssignment(member_id=each, assignment=data)
            for each, data in (assignments or {}).items()
        ],
    )


def leave_request(group: str, *member_ids: str) -> LeaveGroupRequest:
    return LeaveGroupRequest(
        group_id=group,
        member_id=member_ids[0],
        members=[MemberIdentity(member_id=each) for each in member_ids],
    )


def commit_request(
    group: str,
    offsets: Mapping[tuple[str, int], int],
    *,
    topic_ids: Mapping[str, bytes] | None = None,
    member_id: str = "",
    generation: int = -1,
    instance: str | None = None,
    metadata: str | None = "",
    retention_ms: int = -1,
) -> OffsetCommitRequest:
    topics: dict[str, OffsetCommitRequestTopic] = {}
    for (name, index), offset in offsets.items():
        if name not in topics:
            topic_id = (topic_ids or {}).get(name, bytes(16))
            topics[name] = OffsetCommitRequestTopic(name=name, topic_id=topic_id)
        topics[name].partitions.append(
            OffsetCommitRequestPartition(
                partition_index=index, committed_offset=offset, committed_metadata=metadata
            )
        )
    return OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=generation,
        member_id=member_id,
        group_instance_id=instance,
        retention_time_ms=retention_ms,
        topics=list(topics.values()),
    )


def fetch_offsets_request(
    group: str, partitions: Mapping[str, Iterable[int]] | None = None
) -> OffsetFetchRequest:
    """In the form of versions 8 and 9."""
    topics = None
    if partitions is not None:
        topics = [
            OffsetFetchRequestTopics(name=name, partition_indexes=list(indexes))
            for name, indexes in partitions.items()
        ]
    return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group, topics=topics)])


def consumer_request(
    group: str,
    member_id: str,
    epoch: int = 0,
    *,
    topics: list[str] | None = None,
    regex: str | None = None,
    instance: str | None = None,
    owned: list[Any] | None = None,
    rebalance_ms: int = 60_000,
    assignor: str | None = None,
) -> ConsumerGroupHeartbeatRequest:
    """Epoch 0 joins: then what has to be given is given."""
    joins = epoch == 0
    return ConsumerGroupHeartbeatRequest(
        group_id=group,
        member_id=member_id,
        member_epoch=epoch,
        instance_id=instance,
        rebalance_timeout_ms=rebalance_ms if joins else -1,
        subscribed_topic_names=["events"] if joins and topics is None and regex is None else topics,
        subscribed_topic_regex=regex,
        server_assignor=assignor,
        topic_partitions=[] if joins else owned,
    )


class Joined:
    """What a member of a classic group knows."""

    def __init__(self, group: str, member_id: str, generation: int, peer: BenchPeer) -> None:
        self.group = group
        self.member_id = member_id
        self.generation = generation
        self.peer = peer


class GroupBench(Bench):
    """Has a topic `events` of 4 partitions, and `__consumer_offsets`."""

    def __init__(
        self, properties: Mapping[str, str] | None = None, *, prepared: bool = True, **options: Any
    ) -> None:
        defaults = {"offsets.topic.num.partitions": "1", "group.initial.rebalance.delay.ms": "0"}
        super().__init__({**defaults, **(properties or {})}, **options)
        if prepared:
            self.topic_id = self.create("events", 4)
            self.call(find_request("g"), 4)

    @classmethod
    def without_topic(cls) -> GroupBench:
        """As a new cluster is, with Kafka's own defaults."""
        return cls({"offsets.topic.num.partitions": "50"}, prepared=False)

    def call(self, request: Any, version: int | None = None, **options: Any) -> Any:
        number = newest(type(request)) if version is None else version
        return super().call(fitted(request, number), number, **options)

    @property
    def host(self) -> GroupHost:
        return self.node.groups.hosts[0]

    def host_of(self, group: str) -> GroupHost:
        topic = self.node.image.topics[OFFSETS_TOPIC]
        return self.node.groups.hosts[partition_of_key(group, len(topic.partitions))]

    def loaded(self) -> None:
        """Waits until every shard is there."""
        topic = self.node.image.topics[OFFSETS_TOPIC]

        def ready() -> bool:
            hosts = self.node.groups.hosts
            return len(hosts) == len(topic.partitions) and not any(each.loading for each in hosts.values())

        self.scheduler.run_until(ready, within_ms=60_000)

    def records(self, partition: int = 0) -> list[CoordinatorRecord | None]:
        """What is in a shard's log."""
        log = self.log(OFFSETS_TOPIC, partition)
        found: list[CoordinatorRecord | None] = []
        offset = log.log_start_offset
        while offset < log.log_end_offset:
            read = log.read(offset, 1 << 24, upto_offset=log.log_end_offset)
            data = read.slice.read()
            read.slice.release()
            for position, header in iter_headers(data, 0, len(data)):
                for record in decode_batch(data, position, decompressed_bytes_max=1 << 24):
                    assert record.key is not None
                    found.append(decode_record(record.key, record.value))
                offset = header.next_offset
        return found

    def listed(self) -> dict[str, str]:
        """Group states by id."""
        response = self.call(ListGroupsRequest())
        assert response.error_code == 0
        return {each.group_id: each.group_state for each in response.groups}

    # --- classic members

    def member_id_for(self, group: str, *, peer: BenchPeer | None = None, **options: Any) -> str:
        answer = self.call(join_request(group, **options), 9, peer=peer)
        assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED, answer
        member_id: str = answer.member_id
        return member_id

    def join(self, group: str, **options: Any) -> Joined:
        """The only member of its group, as far as it has joined."""
        peer = self.connect()
        member_id = self.member_id_for(group, peer=peer, **options)
        answer = self.call(join_request(group, member_id, **options), 9, peer=peer)
        assert answer.error_code == 0, answer
        return Joined(group, member_id, answer.generation_id, peer)

    def stable(self, group: str, **options: Any) -> Joined:
        """The only member, and its leader, with an assignment."""
        member = self.join(group, **options)
        request = sync_request(group, member.member_id, member.generation, {member.member_id: b"mine"})
        answer = self.call(request, 5, peer=member.peer)
        assert (answer.error_code, answer.assignment) == (0, b"mine"), answer
        return member

    def beat(self, member: Joined) -> ErrorCode:
        request = HeartbeatRequest(
            group_id=member.group, generation_id=member.generation, member_id=member.member_id
        )
        return ErrorCode(self.call(request, 4, peer=self.connect()).error_code)

    # --- offsets

    def commit(self, group: str, offsets: Mapping[tuple[str, int], int], **options: Any) -> list[ErrorCode]:
        answer = self.call(commit_request(group, offsets, **options), 9)
        return [ErrorCode(each.error_code) for topic in answer.topics for each in topic.partitions]

    def committed(self, group: str) -> dict[tuple[str, int], int]:
        (answer,) = self.call(fetch_offsets_request(group), 9).groups
        assert answer.error_code == 0, answer
        return {
            (topic.name, each.partition_index): each.committed_offset
            for topic in answer.topics
            for each in topic.partitions
        }
