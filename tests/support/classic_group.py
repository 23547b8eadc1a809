"""A stage for the classic group protocol: a shard's state on a clock that tests move by hand.

Events go in, the records and answers of each outcome are carried out at once. Every record passes through its
bytes, every answer through the bytes of the version that asked for it, and after each event the log is
replayed into a fresh shard, which has to be in the same hard state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import inf
from random import Random
from typing import Any, Generic, TypeVar

from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.groups.classic.group import ClassicGroup
from ottla.groups.classic.groups import ClassicGroups
from ottla.groups.classic.record import group_record
from ottla.groups.classic.states import ClassicState
from ottla.groups.environment import Environment
from ottla.groups.group import Client
from ottla.groups.record import decode_record
from ottla.groups.settings import GroupSettings
from ottla.groups.shard_state import ShardState
from ottla.model.errors import ErrorCode, KafkaError
from ottla.ports.topic_view import TopicFacts
from ottla.wire.messages.consumer_offsets import GroupMetadataKey
from ottla.wire.messages.consumer_protocol import ConsumerProtocolSubscription
from ottla.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from ottla.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from ottla.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from ottla.wire.primitives import Encoder

R = TypeVar("R")

BEGINS_MS = 1_700_000_000_000


class HandClock:
    def __init__(self) -> None:
        self.ms = 0

    def now_ms(self) -> int:
        return BEGINS_MS + self.ms

    def monotonic_ms(self) -> float:
        return float(self.ms)


class NoTopics:
    version = 0

    def topic(self, name: str) -> TopicFacts | None:
        return None

    def topic_by_id(self, topic_id: bytes) -> TopicFacts | None:
        return None

    def names(self) -> Iterable[str]:
        return ()

    def racks(self, name: str) -> tuple[frozenset[str], ...]:
        return ()


class Reply(Promise[R], Generic[R]):
    """A promise that knows in which version its response has to be encoded, and whose it is."""

    __slots__ = ("version",)

    def __init__(self, response_class: Any, version: int) -> None:
        def refusal(error: KafkaError) -> R:
            made: R = response_class(error_code=error.code)
            return made

        super().__init__(refusal)
        self.version = version

    @property
    def value(self) -> R:
        assert self.response is not None, "not answered yet"
        return self.response

    @property
    def error(self) -> ErrorCode:
        response: Any = self.value
        return ErrorCode(response.error_code)


def subscription(*topics: str) -> bytes:
    """A member's metadata in the consumer protocol, version 0."""
    out = Encoder()
    out.buf += b"\0\0"
    ConsumerProtocolSubscription(topics=list(topics)).encode(out, 0)
    return out.to_bytes()


RANGE: Mapping[str, bytes] = {"range": b"any"}


class Stage:
    def __init__(self, **settings: Any) -> None:
        self.clock = HandClock()
        self.env = Environment(self.clock, Random(7), NoTopics(), GroupSettings(**settings))
        self.state = ShardState(self.env)
        self.groups = ClassicGroups(self.state)
        self.log: list[tuple[bytes, bytes | None]] = []
        self.promises: list[Reply[Any]] = []

    def change_settings(self, **settings: Any) -> None:
        self.env.settings = replace(self.env.settings, **settings)

    @property
    def group(self) -> ClassicGroup:
        group = self.state.groups["g"]
        assert isinstance(group, ClassicGroup)
        return group

    # --- events -----------------------------------------------------------------------------------------

    def join(
        self,
        member_id: str = "",
        *,
        protocols: Mapping[str, bytes] = RANGE,
        instance: str | None = None,
        session_ms: int = 10_000,
        rebalance_ms: int = 60_000,
        version: int = 9,
        protocol_type: str = "consumer",
        group: str = "g",
        client_id: str = "client",
        reason: str | None = None,
    ) -> Reply[JoinGroupResponse]:
        request = JoinGroupRequest(
            group_id=group,
            session_timeout_ms=session_ms,
            rebalance_timeout_ms=rebalance_ms if version >= 1 else -1,
            member_id=member_id,
            group_instance_id=instance,
            protocol_type=protocol_type,
            protocols=[JoinGroupRequestProtocol(name=n, metadata=m) for n, m in protocols.items()],
            reason=reason,
        )
        reply: Reply[JoinGroupResponse] = Reply(JoinGroupResponse, version)
        self.promises.append(reply)
        self.run(self.groups.join(request, Client(client_id, "/127.0.0.1", version), reply))
        return reply

    def sync(
        self,
        member_id: str,
        generation: int,
        assignments: Mapping[str, bytes] | None = None,
        *,
        instance: str | None = None,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        version: int = 5,
        group: str = "g",
    ) -> Reply[SyncGroupResponse]:
        request = SyncGroupRequest(
            group_id=group,
            generation_id=generation,
            member_id=member_id,
            group_instance_id=instance,
            protocol_type=protocol_type,
            protocol_name=protocol_name,
            assignments=[
                SyncGroupRequestAssignment(member_id=m, assignment=a) for m, a in (assignments or {}).items()
            ],
        )
        reply: Reply[SyncGroupResponse] = Reply(SyncGroupResponse, version)
        self.promises.append(reply)
        self.run(self.groups.sync(request, Client("client", "/127.0.0.1", version), reply))
        return reply

    def heartbeat(
        self, member_id: str, generation: int, *, instance: str | None = None, group: str = "g"
    ) -> ErrorCode:
        request = HeartbeatRequest(
            group_id=group, generation_id=generation, member_id=member_id, group_instance_id=instance
        )
        reply: Reply[HeartbeatResponse] = Reply(HeartbeatResponse, 4)
        self.promises.append(reply)
        self.run(self.groups.heartbeat(request, Client("client", "/127.0.0.1", 4), reply))
        return reply.error

    def leave(self, *members: tuple[str, str | None], group: str = "g") -> LeaveGroupResponse:
        """Pairs of member id and instance id."""
        request = LeaveGroupRequest(
            group_id=group,
            members=[MemberIdentity(member_id=m, group_instance_id=i) for m, i in members],
        )
        return self._leave(request, 5)

    def leave_v2(self, member_id: str, group: str = "g") -> LeaveGroupResponse:
        return self._leave(LeaveGroupRequest(group_id=group, member_id=member_id), 2)

    def _leave(self, request: LeaveGroupRequest, version: int) -> LeaveGroupResponse:
        reply: Reply[LeaveGroupResponse] = Reply(LeaveGroupResponse, version)
        self.promises.append(reply)
        self.run(self.groups.leave(request, Client("client", "/127.0.0.1", version), reply))
        return reply.value

    def advance(self, ms: int) -> None:
        """Time passes; timers are due one after the other."""
        end_ms = self.clock.ms + ms
        timers = self.state.timers
        while timers.next_deadline_ms() <= end_ms:
            self.clock.ms = max(self.clock.ms, int(timers.next_deadline_ms()))
            action = timers.pop_due(self.clock.ms)
            assert action is not None
            self.run(action())
        self.clock.ms = end_ms

    def advance_until(self, reply: Reply[Any]) -> None:
        """Time passes until this is answered."""
        while not reply.done:
            deadline_ms = self.state.timers.next_deadline_ms()
            assert deadline_ms < inf, "nobody will ever answer this"
            self.advance(max(int(deadline_ms) - self.clock.ms, 0))

    def run(self, outcome: Outcome) -> None:
        for record in outcome.records:
            self.log.append((record.key_bytes(), record.value_bytes()))
            if not outcome.replayed:
                self.groups.replay(record)
        for promise, response in outcome.answers:
            assert isinstance(promise, Reply) and not promise.done, "answered twice"
            out = Encoder()
            response.encode(out, promise.version)
            data = out.to_bytes()
            promise.complete(type(response).decode(data, 0, len(data), promise.version)[0])
        self.check_replay()

    # --- checks -----------------------------------------------------------------------------------------

    def restarted(self) -> Stage:
        """Another process that read this one's log."""
        other = Stage()
        other.env.settings = self.env.settings
        other.clock.ms = self.clock.ms
        other.log = list(self.log)
        for key, value in self.log:
            record = decode_record(key, value)
            if record is not None and isinstance(record.key, GroupMetadataKey):
                other.groups.replay(record)
        return other

    def check_replay(self) -> None:
        """A group at rest is what the log says."""
        other = self.restarted()
        classic = {i: group for i, group in self.state.groups.items() if isinstance(group, ClassicGroup)}
        for group_id, group in classic.items():
            if group.state in (ClassicState.STABLE, ClassicState.EMPTY):
                twin = other.state.groups.get(group_id)
                assert isinstance(twin, ClassicGroup)
                assert group_record(twin) == group_record(group)
                assert (twin.state, twin.subscribed_topics) == (group.state, group.subscribed_topics)
        assert other.state.groups.keys() == classic.keys()

    def unanswered(self) -> list[Reply[Any]]:
        return [promise for promise in self.promises if not promise.done]

    # --- longer ways ------------------------------------------------------------------------------------

    def new_id(self, **options: Any) -> str:
        """A member id, as clients get one from version 4 on."""
        reply = self.join(**options)
        assert reply.error is ErrorCode.MEMBER_ID_REQUIRED
        return reply.value.member_id

    def stable(self, count: int = 2, **options: Any) -> list[str]:
        """A stable group of dynamic members, the leader first; each is assigned its own number."""
        ids = [self.new_id(**options) for _ in range(count)]
        joins = [self.join(member_id, **options) for member_id in ids]
        self.advance_until(joins[0])
        return self._settle(joins)

    def stable_static(self, *instances: str, **options: Any) -> list[str]:
        joins = [self.join(instance=instance, **options) for instance in instances]
        self.advance_until(joins[0])
        return self._settle(joins)

    def _settle(self, joins: list[Reply[JoinGroupResponse]]) -> list[str]:
        ids = [join.value.member_id for join in joins]
        generation = joins[0].value.generation_id
        assignments = {member_id: str(number).encode() for number, member_id in enumerate(ids)}
        leader = joins[0].value.leader
        for member_id in ids:
            self.sync(member_id, generation, assignments if member_id == leader else None)
        assert self.group.state is ClassicState.STABLE
        return sorted(ids, key=lambda member_id: member_id != leader)
