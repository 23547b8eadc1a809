"""A member of the classic protocol: the requests of a Java client, in its order.

JoinGroup without an id, again with the id that it was given, SyncGroup (the leader with a range
assignment), OffsetFetch of what it got; then a heartbeat every 3 s (the first after a random part of that)
and a commit every second. A heartbeat that tells of a rebalance makes it commit and join again. Like a
client with Java's default assignors it offers `range` and `cooperative-sticky`, and therefore gives up
everything before it joins (the eager way).
"""

from __future__ import annotations

import asyncio
from functools import cache
from itertools import pairwise
from typing import Any

from groups.connection import Connection, Prepared
from groups.membership import (
    COMMIT_INTERVAL_S,
    ILLEGAL_GENERATION,
    MEMBER_ID_REQUIRED,
    NONE,
    REBALANCE_IN_PROGRESS,
    RETRY_S,
    UNKNOWN_MEMBER_ID,
    Group,
    commit_errors,
    commit_request,
    connected,
    offset_fetch_errors,
    offset_fetch_request,
)
from ottla.wire.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolAssignmentTopicPartition,
    ConsumerProtocolSubscription,
)
from ottla.wire.messages.heartbeat import HeartbeatRequest
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from ottla.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from ottla.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from ottla.wire.primitives import Encoder

HEARTBEAT_INTERVAL_S = 3.0
SESSION_TIMEOUT_MS, REBALANCE_TIMEOUT_MS = 45_000, 300_000
JOIN_VERSION, SYNC_VERSION, HEARTBEAT_VERSION, LEAVE_VERSION = 9, 5, 4, 5
EMBEDDED_VERSION = 3
_EMBEDDED_PREFIX = EMBEDDED_VERSION.to_bytes(2, "big")
# Heartbeat's answer: correlation id, no tags, throttle time, then the error.
_HEARTBEAT_ERROR = slice(9, 11)


class ClassicMember:
    def __init__(self, group: Group) -> None:
        self.group = group
        self.setting = group.setting
        self.member_id = ""
        self.epoch = -1
        self.settled = False
        self.owned: frozenset[int] = frozenset()
        self._gone = False
        self._connection: Connection | None = None
        self._join: Prepared | None = None
        self._heartbeat: Prepared | None = None
        self._commit: Prepared | None = None
        self._timers: dict[str, asyncio.TimerHandle] = {}

    async def connect(self) -> None:
        self._connection = await connected(self.setting, self.group.group_id, self._lost)

    def join(self) -> None:
        if self._join is None:
            self._join = self._join_request()
        self._send(self._join, self._joined)

    def _join_request(self) -> Prepared:
        subscription = _embedded(
            ConsumerProtocolSubscription(topics=[self.setting.topic], user_data=None, generation_id=-1)
        )
        request = JoinGroupRequest(
            group_id=self.group.group_id,
            session_timeout_ms=SESSION_TIMEOUT_MS,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            member_id=self.member_id,
            protocol_type="consumer",
            protocols=[
                JoinGroupRequestProtocol(name=name, metadata=subscription)
                for name in ("range", "cooperative-sticky")
            ],
            reason="",
        )
        return Prepared("join", request, JOIN_VERSION)

    def _called(self, member_id: str) -> None:
        if member_id != self.member_id:
            self.member_id = member_id
            self._join = None

    def leave(self) -> None:
        """Leaves as `close()` of a client does, and is gone when that was answered."""
        self._stop()
        request = LeaveGroupRequest(
            group_id=self.group.group_id,
            members=[MemberIdentity(member_id=self.member_id, reason="the consumer is being closed")],
        )
        self._send(Prepared("leave", request, LEAVE_VERSION), lambda *_: self.close())

    def heartbeat_now(self) -> None:
        if self.settled:
            self._timers["heartbeat"].cancel()
            self._send_heartbeat()

    def close(self) -> None:
        self._stop()
        self._gone = True
        if self._connection is not None:
            self._connection.close()

    def _lost(self) -> None:
        self._stop()
        self.settled = False
        self.setting.figures.errors["connection lost"] += 1

    def _stop(self) -> None:
        for timer in self._timers.values():
            timer.cancel()

    def _send(self, request: Prepared, done: Any) -> None:
        assert self._connection is not None
        self._connection.send(request, lambda answer, sent_at: done(request, answer, sent_at))

    def _joined(self, request: Prepared, answer: bytes, _sent_at: float) -> None:
        response: JoinGroupResponse = request.decode(answer)
        if response.error_code == MEMBER_ID_REQUIRED:
            self._called(response.member_id)
            self.join()
        elif response.error_code:
            self.setting.figures.errors[f"join {response.error_code}"] += 1
            if response.error_code == UNKNOWN_MEMBER_ID:
                self._called("")
            self._timers["retry"] = self.setting.loop.call_later(RETRY_S, self.join)
        else:
            self._called(response.member_id)
            self.epoch = response.generation_id
            self._sync(response)

    def _sync(self, joined: JoinGroupResponse) -> None:
        shares: list[SyncGroupRequestAssignment] = []
        if joined.leader == self.member_id:
            members = sorted(member.member_id for member in joined.members)
            shares = [
                SyncGroupRequestAssignment(
                    member_id=member, assignment=_assignment(self.setting.topic, partitions)
                )
                for member, partitions in zip(
                    members, range_shares(self.setting.partitions, len(members)), strict=True
                )
            ]
        request = SyncGroupRequest(
            group_id=self.group.group_id,
            generation_id=self.epoch,
            member_id=self.member_id,
            protocol_type="consumer",
            protocol_name=joined.protocol_name,
            assignments=shares,
        )
        self._send(Prepared("sync", request, SYNC_VERSION), self._synced)

    def _synced(self, request: Prepared, answer: bytes, _sent_at: float) -> None:
        response = request.decode(answer)
        if response.error_code:
            self.setting.figures.errors[f"sync {response.error_code}"] += 1
            self._timers["retry"] = self.setting.loop.call_later(
                0 if response.error_code == REBALANCE_IN_PROGRESS else RETRY_S, self.join
            )
            return
        given = response.assignment
        assignment, _ = ConsumerProtocolAssignment.decode(given, 2, len(given), EMBEDDED_VERSION)
        self.owned = frozenset(
            partition for topic in assignment.assigned_partitions for partition in topic.partitions
        )
        self.settled = True
        self.group.changed()
        group_id, setting = self.group.group_id, self.setting
        fetch = offset_fetch_request(setting, group_id, self.owned, None, -1)
        self._send(fetch, self._fetched)
        # Encoded when they are due, which is later and at different times.
        self._commit = self._heartbeat = None
        self._stop()
        later = setting.loop.call_later
        # Members are processes that poll at their own time: spread, not all in step since the rebalance.
        first_s = setting.chance.uniform(0, HEARTBEAT_INTERVAL_S)
        self._timers["heartbeat"] = later(first_s, self._send_heartbeat)
        self._timers["commit"] = later(COMMIT_INTERVAL_S, self._send_commit)

    def _fetched(self, request: Prepared, answer: bytes, _sent_at: float) -> None:
        for error in offset_fetch_errors(request.decode(answer)):
            self.setting.figures.errors[f"offset_fetch {error}"] += 1

    def _send_heartbeat(self) -> None:
        if self._heartbeat is None:
            heartbeat = HeartbeatRequest(
                group_id=self.group.group_id, generation_id=self.epoch, member_id=self.member_id
            )
            self._heartbeat = Prepared("heartbeat", heartbeat, HEARTBEAT_VERSION)
        self._timers["heartbeat"] = self.setting.loop.call_later(HEARTBEAT_INTERVAL_S, self._send_heartbeat)
        self._send(self._heartbeat, self._heard)

    def _heard(self, request: Prepared, answer: bytes, sent_at: float) -> None:
        error = int.from_bytes(answer[_HEARTBEAT_ERROR], "big", signed=True)
        if error == NONE or not self.settled or request is not self._heartbeat:
            return
        if error == REBALANCE_IN_PROGRESS:
            self.setting.figures.news(sent_at)
            self._rejoin(commit_first=True)
            return
        self.setting.figures.errors[f"heartbeat {error}"] += 1
        if error in (ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID):
            if error == UNKNOWN_MEMBER_ID:
                self._called("")
            self._rejoin(commit_first=False)

    def _rejoin(self, *, commit_first: bool) -> None:
        self._stop()
        self.settled = False
        self.group.changed()
        if commit_first:
            self._send(self._commit_request(), self._committed_before_join)
        else:
            self.join()

    def _committed_before_join(self, request: Prepared, answer: bytes, sent_at: float) -> None:
        self._committed(request, answer, sent_at)
        if not self._gone:
            self.join()

    def _send_commit(self) -> None:
        self._timers["commit"] = self.setting.loop.call_later(COMMIT_INTERVAL_S, self._send_commit)
        self._send(self._commit_request(), self._committed)

    def _commit_request(self) -> Prepared:
        if self._commit is None:
            self._commit = commit_request(
                self.setting, self.group.group_id, self.member_id, self.epoch, self.owned
            )
        return self._commit

    def _committed(self, request: Prepared, answer: bytes, _sent_at: float) -> None:
        if answer[4:] == request.quiet_answer:
            return
        errors = commit_errors(request.decode(answer))
        for error in errors:
            self.setting.figures.errors[f"commit {error}"] += 1
        if not errors:
            request.quiet_answer = answer[4:]


def range_shares(partitions: int, members: int) -> list[range]:
    """Neighbouring partitions to each; the first members get one more when it does not divide."""
    each, more = divmod(partitions, members)
    begins = [number * each + min(number, more) for number in range(members + 1)]
    return [range(begin, end) for begin, end in pairwise(begins)]


@cache
def _assignment(topic: str, partitions: range) -> bytes:
    share = ConsumerProtocolAssignmentTopicPartition(topic=topic, partitions=list(partitions))
    return _embedded(ConsumerProtocolAssignment(assigned_partitions=[share], user_data=None))


def _embedded(message: Any) -> bytes:
    """A message of the consumers' own protocol, which the coordinator carries without looking."""
    out = Encoder()
    out.buf += _EMBEDDED_PREFIX
    message.encode(out, EMBEDDED_VERSION)
    return out.to_bytes()
