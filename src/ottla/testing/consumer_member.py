"""A simulated member of a KIP-848 group: it heartbeats, and reconciles itself with what the broker wants.

The broker's answer names the partitions that this member should have. What it has to give up it commits
first and then leaves out of its next heartbeat, which is the acknowledgement; what it is given it begins to
read from the committed offset. After a lost connection or a refusal it says everything again. An unknown
member, or one of an old epoch, drops all it has and joins anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.model.uuids import uuid_to_text
from ottla.ports.effects import Sleep, Steps
from ottla.testing.client import RETRY_BACKOFF_MS, Session
from ottla.testing.group_member import ELSEWHERE, GroupMember
from ottla.testing.ledger import Violation
from ottla.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatRequestTopicPartitions,
)

JOINING: Final = 0
LEAVING: Final = -1
LEAVING_FOR_A_WHILE: Final = -2

FENCED: Final = frozenset(
    (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.GROUP_ID_NOT_FOUND)
)
"""The last when the group was deleted, or is a classic one again, since this member was given up."""

Owned = tuple[bytes, int]
"""A topic id and a partition."""


class ConsumerMember(GroupMember):
    def __init__(
        self,
        *arguments: Any,
        topics: Iterable[str],
        regex: str | None = None,
        assignor: str | None = None,
        instance_id: str | None = None,
        rebalance_timeout_ms: int = 5_000,
    ) -> None:
        super().__init__(*arguments, topics=topics, instance_id=instance_id)
        self.regex = regex
        self.assignor = assignor
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.epoch = JOINING
        # Version 0 cannot say that there is no pattern: a static member would keep that of its predecessor.
        self.version = 1 if regex is not None or instance_id is not None else self.random.choice((0, 1))
        if self.version >= 1:
            self.member_id = uuid_to_text(self.random.randbytes(16))
        self.owned: set[Owned] = set()
        self.target: set[Owned] | None = None
        """What the broker wants this member to have, as last heard."""
        self._said: set[Owned] | None = None
        """What the broker last heard of `owned`, in an answered heartbeat."""
        self._say_everything = True
        self._heartbeat_due_ms = 0.0
        self._interval_ms = 500.0
        self._commit_version = self.random.choice((9, 9, 10))
        self._offset_fetch_version = self.random.choice((9, 9, 10))

    @property
    def generations_are_shared(self) -> bool:
        return False

    @property
    def must_join(self) -> bool:
        return self.epoch <= JOINING or self.target != self.owned or self._said != self.owned

    def subscribe(self, topics: Iterable[str]) -> None:
        self.topics = list(topics)
        self.regex = None
        self._say_everything = True
        self._heartbeat_due_ms = 0.0

    def connected(self) -> None:
        self._say_everything = True
        self._heartbeat_due_ms = 0.0

    def turn(self, session: Session) -> Steps[None]:
        if self.leaving:
            yield from self._leave(session)
            return
        pending = None
        if self.epoch > 0 and self.random.random() < 0.4:
            pending = self.start_commit(session, self.positions)
        if self.now_ms >= self._heartbeat_due_ms or (self.epoch > 0 and self._said != self.owned):
            yield from self._heartbeat(session)
        self._heed((yield from self.finish_commit(session, pending)))
        if self.over:
            return
        if self.epoch > 0 and self.target is not None and self.target != self.owned:
            yield from self._reconcile(session)
        if self.epoch > 0 and (unread := self._partitions(self.owned) - self.positions.keys()):
            code = yield from self.begin_reading(session, sorted(unread), with_member=True)
            if code is not ErrorCode.NONE:
                self._heed({code})
                yield Sleep(RETRY_BACKOFF_MS)
        yield from self.fetch(session)
        yield Sleep(self.idle_ms * self.random.random())

    def _heed(self, codes: set[ErrorCode]) -> None:
        """What a commit or a look at offsets says about this member's place in the group."""
        if ErrorCode.FENCED_INSTANCE_ID in codes:
            self.give_up(ErrorCode.FENCED_INSTANCE_ID)
        elif codes & FENCED:
            self._lose_everything()
        elif ErrorCode.STALE_MEMBER_EPOCH in codes:
            self._heartbeat_due_ms = 0.0  # which tells the new epoch

    def _lose_everything(self) -> None:
        self.report["members_fenced"] += 1
        self.epoch = JOINING
        self.owned = set()
        self.target = self._said = None
        self.stop_reading(list(self.positions))
        self.tenures.clear()
        self._say_everything = True
        self._heartbeat_due_ms = 0.0

    def _partitions(self, owned: Iterable[Owned]) -> set[TopicPartition]:
        return {
            TopicPartition(self.topic_names[topic_id], partition)
            for topic_id, partition in owned
            if topic_id in self.topic_names and self.topic_names[topic_id] not in self.books.deleted_topics
        }

    # -- the heartbeat --

    def _request(self) -> ConsumerGroupHeartbeatRequest:
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group,
            member_id=self.member_id,
            member_epoch=self.epoch,
            rebalance_timeout_ms=-1,
            subscribed_topic_names=None,
            subscribed_topic_regex=None,
            topic_partitions=None,
        )
        everything = self._say_everything or self.epoch == JOINING
        if everything:
            request.instance_id = self.instance_id
            request.rebalance_timeout_ms = self.rebalance_timeout_ms
            request.subscribed_topic_names = list(self.topics)
            if self.version >= 1:
                request.subscribed_topic_regex = self.regex or ""
            request.server_assignor = self.assignor
        if everything or self._said != self.owned:
            request.topic_partitions = [
                ConsumerGroupHeartbeatRequestTopicPartitions(
                    topic_id=topic_id, partitions=sorted(p for t, p in self.owned if t == topic_id)
                )
                for topic_id in sorted({t for t, _ in self.owned})
            ]
        return request

    def _heartbeat(self, session: Session) -> Steps[None]:
        request = self._request()
        asked_ms = self.now_ms
        said = set(self.owned)
        topics = self.topics
        self._heartbeat_due_ms = self.now_ms + self._interval_ms
        response = yield from session.call(request, self.version)
        code = ErrorCode(response.error_code)
        if code is not ErrorCode.NONE:
            yield from self._refused(code, response.error_message)
            return
        self._say_everything = self.topics is not topics  # the subscription has changed meanwhile
        self._interval_ms = response.heartbeat_interval_ms
        if response.member_epoch < request.member_epoch:
            raise Violation(
                f"{self.name} of {self.group}: epoch {response.member_epoch} after {request.member_epoch}"
            )
        if request.member_epoch == JOINING:
            self.report["joins"] += 1
        if response.member_epoch > request.member_epoch:
            self.report["epochs"] += 1
            self.books.told(self.group, response.member_epoch, asked_ms)
        self.member_id = response.member_id or self.member_id
        self.epoch = response.member_epoch
        self._said = said
        if response.assignment is not None:
            self.target = {
                (each.topic_id, partition)
                for each in response.assignment.topic_partitions
                for partition in each.partitions
            }
            self.report["assignments"] += 1
            if any(topic_id not in self.topic_names for topic_id, _ in self.target):
                yield from self.look_at_topics(session)
            self.given(sorted(self._partitions(self.target)), asked_ms)
        elif self.target is None:
            self.target = set()

    def _refused(self, code: ErrorCode, message: str | None) -> Steps[None]:
        self.refused("consumer_heartbeat", code)
        if code in FENCED:
            self._lose_everything()
        elif code in ELSEWHERE or code is ErrorCode.UNRELEASED_INSTANCE_ID:
            self._say_everything = True
            self._heartbeat_due_ms = self.now_ms + RETRY_BACKOFF_MS
            yield Sleep(RETRY_BACKOFF_MS)
        elif code is ErrorCode.FENCED_INSTANCE_ID:
            self.give_up(code)
        else:
            raise Violation(f"{self.name} of {self.group}: heartbeat: {code.name} {message or ''}")

    def _reconcile(self, session: Session) -> Steps[None]:
        target = self.target
        assert target is not None
        lost = self.owned - target
        if lost:
            gone = self._partitions(lost)
            epoch = self.epoch
            codes = yield from self.commit(session, gone)
            self._heed(codes)
            if self.epoch != epoch or self.over:
                return
            if ErrorCode.STALE_MEMBER_EPOCH in codes:
                # Not a refusal for good: the heartbeat brings the epoch, and then the commit is made again.
                self._say_everything = True
                return
            self.report["revocations"] += 1
            self.stop_reading(gone)
        if self.random.random() < 0.1:
            yield Sleep(self.random.random() * 1_000.0)  # a slow callback of the application's
        if self.target is target:
            self.owned = set(target)
            self.stop_reading(self.positions.keys() - self._partitions(target))

    # -- leaving --

    def _leave(self, session: Session) -> Steps[None]:
        if self.epoch > 0:
            yield from self.commit(session, self.positions)
            epoch = (
                LEAVING if self.instance_id is None else self.random.choice((LEAVING, LEAVING_FOR_A_WHILE))
            )
            self.stop_reading(list(self.positions))
            response = yield from session.call(
                ConsumerGroupHeartbeatRequest(
                    group_id=self.group,
                    member_id=self.member_id,
                    member_epoch=epoch,
                    instance_id=self.instance_id,
                    rebalance_timeout_ms=-1,
                    subscribed_topic_names=None,
                    subscribed_topic_regex=None,
                    topic_partitions=None,
                ),
                self.version,
            )
            code = ErrorCode(response.error_code)
            if code in ELSEWHERE:
                yield Sleep(RETRY_BACKOFF_MS)
                return
            self.report["leaves" if epoch == LEAVING else "static_leaves"] += 1
        self.over = True
