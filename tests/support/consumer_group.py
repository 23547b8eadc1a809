"""A world for the consumer group protocol: a shard's groups, topics that come and go, and clients of both
protocols.

Events go in by hand, and each outcome is carried out at once, as the coordinator's shell does: every record
and every answer passes through its bytes. Jobs wait until `work` is called. After every event the log has
been replayed into a twin, whose hard state has to be the same, and no partition may have two owners.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from random import Random
from typing import Any, Final

from ottla.coordination.outcome import Job, Outcome
from ottla.coordination.record import CoordinatorRecord
from ottla.groups.classic.group import ClassicGroup
from ottla.groups.classic.groups import ClassicGroups
from ottla.groups.consumer.embedded import decode_assignment
from ottla.groups.consumer.group import ConsumerGroup
from ottla.groups.consumer.groups import ConsumerGroups
from ottla.groups.consumer.member import ConsumerMember
from ottla.groups.environment import Environment
from ottla.groups.group import Client
from ottla.groups.record import decode_record
from ottla.groups.settings import GroupSettings
from ottla.groups.shard_state import ShardState
from ottla.model.errors import ErrorCode, KafkaError
from ottla.ports.topic_view import TopicFacts
from ottla.wire.messages.consumer_group_describe import ConsumerGroupDescribeResponse, DescribedGroup
from ottla.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatRequestTopicPartitions,
    ConsumerGroupHeartbeatResponse,
)
from ottla.wire.messages.consumer_offsets import GroupMetadataKey
from ottla.wire.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolAssignmentTopicPartition,
    ConsumerProtocolSubscription,
    ConsumerProtocolSubscriptionTopicPartition,
)
from ottla.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from ottla.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from ottla.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from ottla.wire.primitives import Encoder
from support.classic_group import HandClock, Reply

GROUP: Final = "g"

_BEGIN_ANEW: Final = (
    ErrorCode.FENCED_MEMBER_EPOCH,
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.GROUP_ID_NOT_FOUND,
)


class Topics:
    """One view of the topics."""

    def __init__(self, version: int, topics: Mapping[str, TopicFacts], racks: Mapping[str, str]) -> None:
        self.version = version
        self._topics = dict(topics)
        self._by_id = {facts.topic_id: facts for facts in topics.values()}
        self._racks = dict(racks)

    def topic(self, name: str) -> TopicFacts | None:
        return self._topics.get(name)

    def topic_by_id(self, topic_id: bytes) -> TopicFacts | None:
        return self._by_id.get(topic_id)

    def names(self) -> Iterable[str]:
        return self._topics.keys()

    def racks(self, name: str) -> tuple[frozenset[str], ...]:
        rack = self._racks.get(name)
        return (frozenset([rack] if rack else []),) * self._topics[name].partition_count


class World:
    def __init__(
        self, topics: Mapping[str, int] | None = None, *, check_every_event: bool = True, **settings: Any
    ) -> None:
        self.clock = HandClock()
        self.configs: dict[str, int] = {}
        self.env = Environment(
            self.clock,
            Random(7),
            Topics(1, {}, {}),
            GroupSettings(**settings),
            lambda group_id, name: self.configs.get(name),
        )
        self.state = ShardState(self.env)
        self.classic = ClassicGroups(self.state)
        self.consumer = ConsumerGroups(self.state, self.classic)
        self.log: list[tuple[bytes, bytes | None]] = []
        self.jobs: list[Job] = []
        self.check_every_event = check_every_event
        self._topics: dict[str, TopicFacts] = {}
        self._racks: dict[str, str] = {}
        self._topic_number = 0
        self._twin = ShardState(self.env)
        self._twin_classic = ClassicGroups(self._twin)
        self._twin_consumer = ConsumerGroups(self._twin, self._twin_classic)
        if topics:
            self.create(**topics)

    # --- the cluster --------------------------------------------------------------------------------------

    def create(self, **topics: int) -> None:
        for name, count in topics.items():
            self._topic_number += 1
            name = name.replace("__", "-") if not name.startswith("__") else name
            self._topics[name] = TopicFacts(name, self._topic_number.to_bytes(16, "big"), count)
        self._publish()

    def grow(self, name: str, count: int) -> None:
        self._topics[name] = self._topics[name]._replace(partition_count=count)
        self._publish()

    def delete(self, name: str) -> None:
        del self._topics[name]
        self._publish()

    def set_rack(self, name: str, rack: str) -> None:
        self._racks[name] = rack
        self._publish()

    def _publish(self) -> None:
        self.env.topics = Topics(self.env.topics.version + 1, self._topics, self._racks)
        self.consumer.topics_changed()

    def topic_names(self) -> list[str]:
        return sorted(self._topics)

    def topic_id(self, name: str) -> bytes:
        return self._topics[name].topic_id

    def partition_count(self, names: Iterable[str]) -> int:
        return sum(self._topics[name].partition_count for name in names if name in self._topics)

    def named(self, partitions: Mapping[bytes, Iterable[int]]) -> dict[str, list[int]]:
        """By name, for tests to read; topics that are gone as their number."""
        result: dict[str, list[int]] = {}
        for topic_id, numbers in partitions.items():
            facts = self.env.topics.topic_by_id(topic_id)
            result[facts.name if facts is not None else f"#{int.from_bytes(topic_id, 'big')}"] = sorted(
                numbers
            )
        return result

    def change_settings(self, **settings: Any) -> None:
        self.env.settings = replace(self.env.settings, **settings)

    # --- the groups ---------------------------------------------------------------------------------------

    @property
    def group(self) -> ConsumerGroup:
        group = self.state.groups[GROUP]
        assert isinstance(group, ConsumerGroup)
        return group

    @property
    def classic_group(self) -> ClassicGroup:
        group = self.state.groups[GROUP]
        assert isinstance(group, ClassicGroup)
        return group

    @property
    def is_consumer_group(self) -> bool:
        return isinstance(self.state.groups.get(GROUP), ConsumerGroup)

    def member(self, member_id: str) -> ConsumerMember:
        return self.group.members[member_id]

    def describe(self) -> DescribedGroup:
        response = ConsumerGroupDescribeResponse(groups=[self.consumer.describe(self.group)])
        decoded: ConsumerGroupDescribeResponse = _through_bytes(response, 1)
        return decoded.groups[0]

    # --- events -------------------------------------------------------------------------------------------

    def heartbeat(
        self, request: ConsumerGroupHeartbeatRequest, version: int = 1, client_id: str = "client"
    ) -> Any:
        """The response, whether it is one or a refusal."""
        reply: Reply[ConsumerGroupHeartbeatResponse] = Reply(ConsumerGroupHeartbeatResponse, version)
        client = Client(client_id, "/127.0.0.1", version)
        self.decide(lambda: self.consumer.heartbeat(request, client, reply), reply)
        return reply.value

    def join(self, request: JoinGroupRequest, version: int = 9) -> Reply[JoinGroupResponse]:
        reply: Reply[JoinGroupResponse] = Reply(JoinGroupResponse, version)
        side = self.consumer if self.is_consumer_group else self.classic
        self.decide(lambda: side.join(request, Client("classic", "/127.0.0.1", version), reply), reply)
        return reply

    def sync(self, request: SyncGroupRequest, version: int = 5) -> Reply[SyncGroupResponse]:
        reply: Reply[SyncGroupResponse] = Reply(SyncGroupResponse, version)
        side = self.consumer if self.is_consumer_group else self.classic
        self.decide(lambda: side.sync(request, Client("classic", "/127.0.0.1", version), reply), reply)
        return reply

    def classic_heartbeat(self, request: HeartbeatRequest) -> ErrorCode:
        reply: Reply[HeartbeatResponse] = Reply(HeartbeatResponse, 4)
        client = Client("classic", "/127.0.0.1", 4)
        if self.is_consumer_group:
            self.decide(lambda: self.consumer.classic_heartbeat(request, client, reply), reply)
        else:
            self.decide(lambda: self.classic.heartbeat(request, client, reply), reply)
        return reply.error

    def leave(self, *members: tuple[str, str | None], version: int = 5) -> LeaveGroupResponse:
        reply: Reply[LeaveGroupResponse] = Reply(LeaveGroupResponse, version)
        client = Client("classic", "/127.0.0.1", version)
        if version >= 3:
            identities = [MemberIdentity(member_id=m, group_instance_id=i) for m, i in members]
            request = LeaveGroupRequest(group_id=GROUP, members=identities)
        else:
            request = LeaveGroupRequest(group_id=GROUP, member_id=members[0][0])
        side = self.consumer if self.is_consumer_group else self.classic
        self.decide(lambda: side.leave(request, client, reply), reply)
        return reply.value

    def advance(self, ms: int) -> None:
        """Time passes; timers are due one after the other."""
        end_ms = self.clock.ms + ms
        timers = self.state.timers
        while timers.next_deadline_ms() <= end_ms:
            self.clock.ms = max(self.clock.ms, int(timers.next_deadline_ms()))
            action = timers.pop_due(self.clock.ms)
            assert action is not None
            self.carry_out(action())
        self.clock.ms = end_ms

    def work(self, steps: int | None = None) -> None:
        """Jobs go on, the oldest first; without a number, until there are none."""
        done = 0
        while self.jobs and (steps is None or done < steps):
            done += 1
            try:
                next(self.jobs[0])
            except StopIteration as stop:
                del self.jobs[0]
                self.carry_out(stop.value)

    # --- the shell ----------------------------------------------------------------------------------------

    def decide(self, decision: Callable[[], Outcome], reply: Reply[Any]) -> None:
        try:
            outcome = decision()
        except KafkaError as error:
            reply.refuse(error)
            return
        self.carry_out(outcome)

    def carry_out(self, outcome: Outcome) -> None:
        for record in outcome.records:
            key, value = record.key_bytes(), record.value_bytes()
            self.log.append((key, value))
            twin = decode_record(key, value)
            assert twin is not None
            if not outcome.replayed:
                _replay(twin, self.classic, self.consumer)
            again = decode_record(key, value)
            assert again is not None
            _replay(again, self._twin_classic, self._twin_consumer)
        for promise, response in outcome.answers:
            assert isinstance(promise, Reply) and not promise.done, "answered twice"
            promise.complete(_through_bytes(response, promise.version))
        self.jobs += outcome.jobs
        if self.check_every_event:
            self.check()

    def records_of(self, act: Callable[[], Any]) -> list[CoordinatorRecord]:
        """What was written meanwhile."""
        before = len(self.log)
        act()
        found = [decode_record(key, value) for key, value in self.log[before:]]
        return [record for record in found if record is not None]

    def restart(self) -> World:
        """Another process, which reads the log."""
        other = World()
        other.env.topics = self.env.topics
        other._topics, other._racks, other._topic_number = self._topics, self._racks, self._topic_number
        other.env.settings, other.env.chance, other.configs = self.env.settings, self.env.chance, self.configs
        other.clock.ms = self.clock.ms
        for key, value in self.log:
            record = decode_record(key, value)
            assert record is not None
            _replay(record, other.classic, other.consumer)
            record = decode_record(key, value)
            assert record is not None
            _replay(record, other._twin_classic, other._twin_consumer)
        other.log = list(self.log)
        other.carry_out(other.classic.loaded())
        other.carry_out(other.consumer.loaded())
        return other

    # --- checks -------------------------------------------------------------------------------------------

    def check(self) -> None:
        for group_id in self.state.groups.keys() | self._twin.groups.keys():
            group, twin = self.state.groups.get(group_id), self._twin.groups.get(group_id)
            if isinstance(group, ConsumerGroup):
                assert isinstance(twin, ConsumerGroup)
                assert group.hard_state() == twin.hard_state()
                check_group(group)
            else:
                assert not isinstance(twin, ConsumerGroup)

    def check_fresh_replay(self) -> None:
        other = self.restart()
        for group_id, group in self.state.groups.items():
            if isinstance(group, ConsumerGroup):
                twin = other.state.groups[group_id]
                assert isinstance(twin, ConsumerGroup)
                assert group.hard_state() == twin.hard_state()


def check_group(group: ConsumerGroup) -> None:
    """A partition has at most one owner, and the group's own count of owners is right."""
    owners: dict[bytes, dict[int, str]] = {}
    for member in group.members.values():
        for partitions in (member.assigned, member.pending_revocation):
            for topic_id, numbers in partitions.items():
                assert numbers
                for number in numbers:
                    of_topic = owners.setdefault(topic_id, {})
                    assert number not in of_topic, f"{member.member_id} and {of_topic[number]} own {number}"
                    of_topic[number] = member.member_id
    assert owners == group.owners
    assert group.targets.keys() <= group.members.keys()
    assert group.classic_members == sum(m.classic is not None for m in group.members.values())
    assert group.assignment_epoch <= group.epoch
    assert all(member.epoch <= group.assignment_epoch for member in group.members.values())


def _replay(record: CoordinatorRecord, classic: ClassicGroups, consumer: ConsumerGroups) -> None:
    if isinstance(record.key, GroupMetadataKey):
        classic.replay(record)
    else:
        consumer.replay(record)


def _through_bytes(message: Any, version: int) -> Any:
    out = Encoder()
    message.encode(out, version)
    data = out.to_bytes()
    return type(message).decode(data, 0, len(data), version)[0]


Owned = dict[bytes, frozenset[int]]


class Consumer:
    """A client of the consumer protocol: sends what has changed, and does what it is told."""

    def __init__(
        self,
        world: World,
        member_id: str,
        *topics: str,
        instance: str | None = None,
        regex: str | None = None,
        rebalance_ms: int = 60_000,
        assignor: str | None = None,
        rack: str | None = None,
    ) -> None:
        self.world = world
        self.member_id = member_id
        self.instance = instance
        self.topics: list[str] | None = list(topics) if topics or regex is None else None
        self.regex = regex
        self.rebalance_ms = rebalance_ms
        self.assignor = assignor
        self.rack = rack
        self.epoch = 0
        self.owned: Owned = {}
        """What it reads now."""
        self.assigned: Owned = {}
        """What it was last told to read."""
        self._subscription_sent = False
        self._must_tell_all = False
        self._owned_sent: Owned | None = None

    def request(self, *, full: bool = False) -> ConsumerGroupHeartbeatRequest:
        full = full or self.epoch == 0 or self._must_tell_all
        request = ConsumerGroupHeartbeatRequest(
            group_id=GROUP, member_id=self.member_id, member_epoch=self.epoch, instance_id=self.instance
        )
        if full:
            request.rebalance_timeout_ms = self.rebalance_ms
            request.rack_id = self.rack
            request.server_assignor = self.assignor
        if full or not self._subscription_sent:
            request.subscribed_topic_names = self.topics
            request.subscribed_topic_regex = self.regex
        if full or self.owned != self._owned_sent:
            request.topic_partitions = [
                ConsumerGroupHeartbeatRequestTopicPartitions(topic_id=t, partitions=sorted(p))
                for t, p in self.owned.items()
            ]
        return request

    def beat(self, *, full: bool = False, lose_reply: bool = False, adopt: bool = True) -> Any:
        """One heartbeat. Without `adopt` the client is still busy with giving up and taking over what it
        was told.
        """
        request = self.request(full=full)
        response = self.world.heartbeat(request)
        if lose_reply:
            self._must_tell_all = True  # as real clients do: the answer to all is all
            return response
        if response.error_code:
            if response.error_code in _BEGIN_ANEW:
                self.forget()
            return response
        self.epoch = response.member_epoch
        self._subscription_sent = True
        self._must_tell_all = False
        if request.topic_partitions is not None:
            self._owned_sent = dict(self.owned)
        if response.assignment is not None:
            self.assigned = {
                t.topic_id: frozenset(t.partitions) for t in response.assignment.topic_partitions
            }
        if adopt:
            self.adopt()
        return response

    def adopt(self) -> None:
        self.owned = dict(self.assigned)

    def forget(self) -> None:
        """It was fenced: it reads nothing any more and begins anew."""
        self.epoch = 0
        self.owned = {}
        self.assigned = {}
        self._subscription_sent = False
        self._owned_sent = None

    def subscribe(self, *topics: str, regex: str | None = None) -> None:
        self.topics = list(topics)
        self.regex = regex
        self._subscription_sent = False

    def leave(self, epoch: int = -1) -> Any:
        request = ConsumerGroupHeartbeatRequest(
            group_id=GROUP, member_id=self.member_id, member_epoch=epoch, instance_id=self.instance
        )
        response = self.world.heartbeat(request)
        self.forget()
        return response

    @property
    def reads(self) -> dict[str, list[int]]:
        return self.world.named(self.owned)

    @property
    def state(self) -> ConsumerMember:
        return self.world.member(self.member_id)


def subscription(
    topics: Iterable[str],
    owned: Mapping[str, Iterable[int]] | None = None,
    version: int = 1,
    generation: int = -1,
) -> bytes:
    message = ConsumerProtocolSubscription(
        topics=list(topics),
        owned_partitions=[
            ConsumerProtocolSubscriptionTopicPartition(topic=t, partitions=sorted(p))
            for t, p in (owned or {}).items()
        ],
        generation_id=generation,
    )
    out = Encoder()
    out.buf += version.to_bytes(2, "big")
    message.encode(out, version)
    return out.to_bytes()


def assignment(
    partitions: Mapping[str, Iterable[int]], user_data: bytes | None = None, version: int = 1
) -> bytes:
    message = ConsumerProtocolAssignment(
        assigned_partitions=[
            ConsumerProtocolAssignmentTopicPartition(topic=t, partitions=sorted(p))
            for t, p in partitions.items()
        ],
        user_data=user_data,
    )
    out = Encoder()
    out.buf += version.to_bytes(2, "big")
    message.encode(out, version)
    return out.to_bytes()


class ClassicConsumer:
    """A client of the classic protocol, cooperative: it keeps what it owns while it joins."""

    def __init__(
        self,
        world: World,
        *topics: str,
        instance: str | None = None,
        protocols: tuple[str, ...] = ("cooperative-sticky",),
        rebalance_ms: int = 60_000,
        session_ms: int = 45_000,
    ) -> None:
        self.world = world
        self.topics = list(topics)
        self.instance = instance
        self.protocols = protocols
        self.rebalance_ms = rebalance_ms
        self.session_ms = session_ms
        self.member_id = ""
        self.generation = -1
        self.protocol_name: str | None = None
        self.reads: dict[str, list[int]] = {}
        self.joining: Reply[JoinGroupResponse] | None = None
        self.syncing: Reply[SyncGroupResponse] | None = None
        self.assigned_by: ConsumerGroup | None = None
        """The consumer group that said what to read; None when a classic group did."""
        self._members: list[str] = []

    def join_request(self) -> JoinGroupRequest:
        metadata = subscription(self.topics, self.reads)
        return JoinGroupRequest(
            group_id=GROUP,
            session_timeout_ms=self.session_ms,
            rebalance_timeout_ms=self.rebalance_ms,
            member_id=self.member_id,
            group_instance_id=self.instance,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name=name, metadata=metadata) for name in self.protocols],
        )

    def join(self) -> ErrorCode | None:
        """None while it waits."""
        if self.joining is None:
            reply = self.world.join(self.join_request())
            if reply.done and reply.error is ErrorCode.MEMBER_ID_REQUIRED:
                self.member_id = reply.value.member_id
                reply = self.world.join(self.join_request())
            self.joining = reply
        if not self.joining.done:
            return None
        reply, self.joining = self.joining, None
        error = reply.error
        if error is ErrorCode.NONE:
            self.member_id = reply.value.member_id
            self.generation = reply.value.generation_id
            self.protocol_name = reply.value.protocol_name
            self._members = [each.member_id for each in reply.value.members]
        elif error in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID):
            self.forget()
        return error

    def sync(self) -> ErrorCode | None:
        if self.syncing is None:
            self.syncing = self.world.sync(
                SyncGroupRequest(
                    group_id=GROUP,
                    generation_id=self.generation,
                    member_id=self.member_id,
                    group_instance_id=self.instance,
                    protocol_type="consumer",
                    protocol_name=self.protocol_name,
                    assignments=self._assignments(),
                )
            )
        if not self.syncing.done:
            return None
        reply, self.syncing = self.syncing, None
        if reply.error is ErrorCode.NONE:
            data = reply.value.assignment
            found = decode_assignment(bytes(data)).assigned_partitions if data else []
            self.reads = {each.topic: sorted(each.partitions) for each in found}
            self.assigned_by = self.world.group if self.world.is_consumer_group else None
        elif reply.error in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID):
            self.forget()
        return reply.error

    def _assignments(self) -> list[SyncGroupRequestAssignment]:
        """As the leader of a classic group: all partitions of its topics, one after the other."""
        if not self._members:
            return []
        given: dict[str, dict[str, list[int]]] = {member_id: {} for member_id in self._members}
        number = 0
        for name in self.topics:
            facts = self.world.env.topics.topic(name)
            for partition in range(facts.partition_count if facts is not None else 0):
                member_id = self._members[number % len(self._members)]
                given[member_id].setdefault(name, []).append(partition)
                number += 1
        return [SyncGroupRequestAssignment(member_id=m, assignment=assignment(p)) for m, p in given.items()]

    def heartbeat(self) -> ErrorCode:
        error = self.world.classic_heartbeat(
            HeartbeatRequest(
                group_id=GROUP,
                generation_id=self.generation,
                member_id=self.member_id,
                group_instance_id=self.instance,
            )
        )
        if error in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID):
            self.forget()
        return error

    def beat(self) -> None:
        """What a client does in its loop: heartbeats, and a join and a sync whenever it is told to."""
        is_idle = self.joining is None and self.syncing is None and self.generation >= 0 and self.member_id
        if is_idle and self.heartbeat() is ErrorCode.NONE:
            return
        if self.syncing is None and self.join() is not ErrorCode.NONE:
            return
        self.sync()

    def forget(self) -> None:
        self.member_id = ""
        self.generation = -1
        self.reads = {}

    def leave(self) -> LeaveGroupResponse:
        response = self.world.leave((self.member_id, self.instance))
        self.forget()
        return response

    @property
    def state(self) -> ConsumerMember:
        return self.world.member(self.member_id)


def settle(*clients: Consumer | ClassicConsumer, rounds: int = 12) -> None:
    """Everybody's heartbeats, in turn, with the jobs they start."""
    for _ in range(rounds):
        for client in clients:
            client.beat()
            client.world.work()
