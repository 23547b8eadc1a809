"""A simulated member of a classic group: join, let the leader assign, sync, heartbeat, commit.

It follows Kafka's own consumer: it commits and gives everything up before it joins (or, with only cooperative
assignors, keeps what it has and joins once more after giving up what it lost), forgets its member id when the
coordinator does not know it, and ends when another process has taken its instance id. The leader looks at the
topics now and then and asks for a rebalance when they have changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ottla.assignors.protocol import CLIENT_ASSIGNORS, RebalanceProtocol, common_protocol
from ottla.client.consumer_protocol import (
    read_assignment,
    read_subscription,
    write_assignment,
    write_subscription,
)
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.ports.effects import Sleep, Steps
from ottla.testing.client import RETRY_BACKOFF_MS, Session
from ottla.testing.group_member import ELSEWHERE, GroupMember
from ottla.testing.ledger import Violation
from ottla.wire.messages.heartbeat import HeartbeatRequest
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from ottla.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

NO_GENERATION: Final = -1
FORGOTTEN: Final = frozenset((ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION))


class ClassicMember(GroupMember):
    def __init__(
        self,
        *arguments: Any,
        topics: Iterable[str],
        assignors: Iterable[str],
        instance_id: str | None = None,
        session_timeout_ms: int = 3_000,
        rebalance_timeout_ms: int = 5_000,
        pure: bool = True,
    ) -> None:
        """`pure`: no member of the group will ever speak the newer protocol."""
        super().__init__(*arguments, topics=topics, instance_id=instance_id)
        self.assignors = list(assignors)
        self.session_timeout_ms = session_timeout_ms
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.pure = pure
        self.must_join = True
        self.cooperative = (
            common_protocol([CLIENT_ASSIGNORS[name] for name in self.assignors])
            is RebalanceProtocol.COOPERATIVE
        )
        self.owned: set[TopicPartition] = set()
        self.stable = False
        """It knows its assignment of the generation `epoch`; in between it commits nothing, as in Java."""
        rng = self.random
        static = instance_id is not None
        # From version 9 on a static leader that comes back learns that it still leads (KIP-814); with an
        # older one nobody would notice that the topics have changed.
        self._join_version = 9 if static else rng.choice((1, 3, 4, 5, 7, 9))
        self._small_version = rng.choice((3, 4) if static else (0, 2, 3, 4))
        # Below 7 a commit cannot say its instance id, and a duplicate would not be told that it is fenced.
        self._commit_version = rng.choice((7, 9, 10) if static else (2, 5, 7, 8, 9, 10))
        self._offset_fetch_version = rng.choice((1, 2, 5, 7, 8, 9, 10))
        self._heartbeat_due_ms = 0.0
        self._look_due_ms = 0.0
        self._assigned_counts: dict[str, int] | None = None
        """The leader's view of the topics when it last assigned; None when it does not lead."""
        self._joining_with = self.topics
        """Another subscription that came meanwhile needs another rebalance."""
        self._last_owned: set[TopicPartition] = set()
        self._last_generation = NO_GENERATION

    @property
    def generations_are_shared(self) -> bool:
        return self.pure

    def subscribe(self, topics: Iterable[str]) -> None:
        self.topics = list(topics)
        self.must_join = True

    def turn(self, session: Session) -> Steps[None]:
        if self.leaving:
            yield from self._leave(session)
            return
        if self.must_join:
            yield from self._join(session)
            return
        pending = None
        if self.random.random() < 0.4:
            pending = self.start_commit(session, self.positions)
        if self.now_ms >= self._heartbeat_due_ms:
            yield from self._heartbeat(session)
        self._heed(sorted((yield from self.finish_commit(session, pending))))
        if not self.must_join and self.owned - self.positions.keys():
            code = yield from self.begin_reading(session, self.owned, with_member=False)
            if code is not ErrorCode.NONE:
                yield Sleep(RETRY_BACKOFF_MS)
            self.owned &= self.positions.keys() | {
                tp for tp in self.owned if tp.topic not in self.books.deleted_topics
            }
        if not self.must_join:
            yield from self.fetch(session)
        if self._assigned_counts is not None and self.now_ms >= self._look_due_ms:
            self._look_due_ms = self.now_ms + 1_000.0
            yield from self.look_at_topics(session)
            if self.partition_counts != self._assigned_counts:
                self.must_join = True
        yield Sleep(self.idle_ms * self.random.random())

    def _heed(self, codes: Iterable[ErrorCode]) -> None:
        """What an answer says about this member's place in the group."""
        for code in codes:
            if code is ErrorCode.FENCED_INSTANCE_ID:
                self.give_up(code)
            elif code in FORGOTTEN:
                self._lose_everything(forget_id=code is ErrorCode.UNKNOWN_MEMBER_ID)
            elif code is ErrorCode.REBALANCE_IN_PROGRESS:
                self.must_join = True

    def _lose_everything(self, *, forget_id: bool) -> None:
        self.report["members_fenced"] += 1
        self.must_join = True
        self.stable = False
        self.epoch = NO_GENERATION
        self._last_generation = NO_GENERATION
        self._last_owned = set()
        if forget_id:
            self.member_id = ""
        self._drop(self.owned | self.positions.keys())

    def _drop(self, tps: Iterable[TopicPartition]) -> None:
        gone = set(tps)
        self.owned -= gone
        self.stop_reading(gone)

    # -- the rebalance --

    def _join(self, session: Session) -> Steps[None]:
        if self.stable:
            self._heed(sorted((yield from self.commit(session, self.positions))))
            if self.over:
                return
        self.stable = False
        if self.owned:
            self._last_owned, self._last_generation = set(self.owned), self.epoch
        if not self.cooperative:
            self._drop(self.owned | self.positions.keys())
        newest = self.books.told_epochs.get(self.group, 0)
        self._joining_with = self.topics
        asked_ms = self.now_ms
        response = yield from session.call(self._join_request(), self._join_version)
        code = ErrorCode(response.error_code)
        if code is not ErrorCode.NONE:
            yield from self._join_refused(code, response.member_id)
            return
        self.member_id = response.member_id
        if self.pure:
            self.books.joined(self.group, response.generation_id, newest, asked_ms)
        self.report["joins"] += 1
        assignments: list[SyncGroupRequestAssignment] = []
        leads = response.leader == self.member_id
        if leads:
            # The leader learns of the topics after it has joined, so that the oldest view it can have is that
            # of the rebalance.
            yield from self.look_at_topics(session)
            # Nobody knows from which view of the topics an assignment that is kept came: it is made anew.
            self._assigned_counts = {} if response.skip_assignment else dict(self.partition_counts)
            if response.members and not response.skip_assignment:
                self.report["rebalances"] += 1
                assignments = self._assign(response)
        elif self.pure:
            self._assigned_counts = None
        else:
            # The coordinator assigns, until the group becomes a classic one, which this member may then lead
            # without having been told. So it watches the topics as well.
            self._assigned_counts = dict(self.partition_counts)
        yield from self._sync(session, response, assignments)

    def _join_request(self) -> JoinGroupRequest:
        protocols = []
        for name in self.assignors:
            assignor = CLIENT_ASSIGNORS[name]
            user_data = None
            if assignor.user_data is not None and self._last_generation >= 0:
                user_data = assignor.user_data(sorted(self._last_owned), self._last_generation)
            metadata = write_subscription(
                self.topics,
                sorted(self.owned),
                generation=self._last_generation,
                user_data=user_data,
            )
            protocols.append(JoinGroupRequestProtocol(name=name, metadata=metadata))
        return JoinGroupRequest(
            group_id=self.group,
            session_timeout_ms=self.session_timeout_ms,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type="consumer",
            protocols=protocols,
        )

    def _join_refused(self, code: ErrorCode, member_id: str) -> Steps[None]:
        self.refused("join", code)
        if code is ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = member_id
        elif code is ErrorCode.FENCED_INSTANCE_ID:
            self.give_up(code)
        elif code in FORGOTTEN:
            self._lose_everything(forget_id=True)
        elif code in ELSEWHERE or code is ErrorCode.REBALANCE_IN_PROGRESS:
            yield Sleep(RETRY_BACKOFF_MS)
        elif code is ErrorCode.INCONSISTENT_GROUP_PROTOCOL and not self.pure:
            yield Sleep(RETRY_BACKOFF_MS * 5)
        else:
            raise Violation(f"{self.name} joining {self.group}: {code.name}")

    def _assign(self, response: Any) -> list[SyncGroupRequestAssignment]:
        members = {
            each.member_id: read_subscription(each.metadata, group_instance_id=each.group_instance_id)
            for each in response.members
        }
        assign = CLIENT_ASSIGNORS[response.protocol_name].assign
        return [
            SyncGroupRequestAssignment(member_id=member_id, assignment=write_assignment(tps))
            for member_id, tps in assign(self.partition_counts, members, None).items()
        ]

    def _sync(
        self, session: Session, joined: Any, assignments: list[SyncGroupRequestAssignment]
    ) -> Steps[None]:
        if self.random.random() < 0.1:
            yield Sleep(self.random.random() * 500.0)
        asked_ms = self.now_ms
        version = max(3, self._small_version) if self.instance_id else self.random.choice((0, 2, 3, 5))
        response = yield from session.call(
            SyncGroupRequest(
                group_id=self.group,
                generation_id=joined.generation_id,
                member_id=self.member_id,
                group_instance_id=self.instance_id,
                protocol_type=joined.protocol_type or "consumer",
                protocol_name=joined.protocol_name,
                assignments=assignments,
            ),
            version,
        )
        code = ErrorCode(response.error_code)
        if code is not ErrorCode.NONE:
            self.refused("sync", code)
            if code in ELSEWHERE:
                yield Sleep(RETRY_BACKOFF_MS)
            elif code in FORGOTTEN or code in (
                ErrorCode.FENCED_INSTANCE_ID,
                ErrorCode.REBALANCE_IN_PROGRESS,
            ):
                self._heed([code])
            else:
                raise Violation(f"{self.name} syncing {self.group}: {code.name}")
            return
        self.epoch = joined.generation_id
        self.stable = True
        self.books.told(self.group, self.epoch, asked_ms)
        assigned = set(read_assignment(bytes(response.assignment)))
        self.report["syncs"] += 1
        lost = self.owned - assigned
        self.must_join = self.topics is not self._joining_with
        self._heartbeat_due_ms = self.now_ms
        if lost:
            # Cooperative: the generation is the new one, so what was read meanwhile is committed under it.
            self._heed(sorted((yield from self.commit(session, lost))))
            self._drop(lost)
            self.report["cooperative_revocations"] += 1
            self.must_join = True
        if self.stable:
            self.owned = assigned
            self.given(sorted(assigned), asked_ms)
            self._last_owned, self._last_generation = set(assigned), self.epoch

    # -- staying and leaving --

    def _heartbeat(self, session: Session) -> Steps[None]:
        response = yield from session.call(
            HeartbeatRequest(
                group_id=self.group,
                generation_id=self.epoch,
                member_id=self.member_id,
                group_instance_id=self.instance_id,
            ),
            self._small_version,
        )
        self._heartbeat_due_ms = self.now_ms + self.session_timeout_ms / 4
        code = ErrorCode(response.error_code)
        if code is not ErrorCode.NONE:
            self.refused("heartbeat", code)
            if code in ELSEWHERE:
                yield Sleep(RETRY_BACKOFF_MS)
            self._heed([code])

    def _leave(self, session: Session) -> Steps[None]:
        if self.stable:
            yield from self.commit(session, self.positions)
        self._drop(self.owned | self.positions.keys())
        if self.member_id and self.instance_id is None:
            request = LeaveGroupRequest(group_id=self.group)
            if self._small_version >= 3:
                request.members = [MemberIdentity(member_id=self.member_id)]
            else:
                request.member_id = self.member_id
            response = yield from session.call(request, self._small_version)
            code = ErrorCode(response.error_code)
            if code in ELSEWHERE:
                yield Sleep(RETRY_BACKOFF_MS)
                return
            self.report["leaves"] += 1
        self.over = True  # a static member says nothing: it will be back, or its session ends
