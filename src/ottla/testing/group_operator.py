"""A simulated operator of groups and topics, and a client that commits without being a member of anything.

Every method tries until it has an answer that means something, through lost connections and restarts; the
books know of a deletion before it is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.ports.effects import Sleep, Steps
from ottla.testing.client import RETRY_BACKOFF_MS, Session
from ottla.testing.group_books import Actor
from ottla.testing.group_member import ELSEWHERE, GONE, NOT_CARRIED_OUT, GroupClient
from ottla.testing.ledger import Violation
from ottla.testing.network import ConnectionLost
from ottla.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from ottla.wire.messages.delete_groups import DeleteGroupsRequest
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.wire.messages.list_groups import ListGroupsRequest
from ottla.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)


class GroupOperator(GroupClient):
    def _until_done(self, attempt: Callable[[Session], Steps[bool]]) -> Steps[None]:
        while True:
            session = yield from self.connect()
            try:
                yield from self.find_coordinator(session)
                yield from self.look_at_topics(session)
                if (yield from attempt(session)):
                    return
            except ConnectionLost:
                self.report["operator_retries"] += 1
            finally:
                session.close()
            yield Sleep(RETRY_BACKOFF_MS)

    # -- topics --

    def delete_topic(self, topic: str) -> Steps[None]:
        self.books.deleted_topics.add(topic)

        def attempt(session: Session) -> Steps[bool]:
            response = yield from session.call(
                DeleteTopicsRequest(topics=[DeleteTopicState(name=topic)], timeout_ms=30_000),
                6,
            )
            code = ErrorCode(response.responses[0].error_code)
            return code is ErrorCode.NONE or code in GONE

        yield from self._until_done(attempt)
        self.report["topics_deleted"] += 1

    def grow(self, topic: str, count: int) -> Steps[None]:
        def attempt(session: Session) -> Steps[bool]:
            response = yield from session.call(
                CreatePartitionsRequest(
                    topics=[CreatePartitionsTopic(name=topic, count=count, assignments=None)],
                    timeout_ms=30_000,
                ),
                3,
            )
            code = ErrorCode(response.results[0].error_code)
            # INVALID_PARTITIONS: an earlier attempt, whose reply was lost, has done it.
            return code in (ErrorCode.NONE, ErrorCode.INVALID_PARTITIONS) or (
                code in GONE and topic in self.books.deleted_topics
            )

        yield from self._until_done(attempt)
        self.report["topics_grown"] += 1

    # -- offsets --

    def commit_alone(self, offsets: dict[TopicPartition, int]) -> Steps[None]:
        """A commit of somebody who is no member."""

        def attempt(session: Session) -> Steps[bool]:
            version = self.random.choice((2, 5, 8, 9, 10))
            if any(tp.topic in self.books.deleted_topics for tp in offsets):
                return True
            request, commits = self.offset_commit(offsets, version, actor=Actor(self.name))
            response = yield from session.call(request, version)
            codes = set(self.commit_answered(response, commits, version).values())
            if not codes <= {ErrorCode.NONE} | ELSEWHERE | GONE:
                raise Violation(f"{self.name} committing to {self.group}: {codes}")
            return codes == {ErrorCode.NONE}

        yield from self._until_done(attempt)
        self.report["simple_commits"] += 1

    def read_committed(self, tps: Iterable[TopicPartition]) -> Steps[dict[TopicPartition, int]]:
        wanted = list(tps)
        offsets: dict[TopicPartition, int] = {}

        def attempt(session: Session) -> Steps[bool]:
            code, found = yield from self.offset_fetch(
                session, wanted, self.random.choice((1, 2, 5, 7, 8, 9, 10))
            )
            offsets.update({tp: offset for tp, (offset, _) in found.items()})
            if code is not ErrorCode.NONE and code not in ELSEWHERE:
                raise Violation(f"{self.name} reading offsets of {self.group}: {code.name}")
            return code is ErrorCode.NONE

        yield from self._until_done(attempt)
        return offsets

    def delete_offsets(self, tps: Iterable[TopicPartition]) -> Steps[None]:
        topics: dict[str, list[int]] = {}
        for tp in tps:
            topics.setdefault(tp.topic, []).append(tp.partition)
        request = OffsetDeleteRequest(
            group_id=self.group,
            topics=[
                OffsetDeleteRequestTopic(
                    name=name,
                    partitions=[OffsetDeleteRequestPartition(partition_index=each) for each in indexes],
                )
                for name, indexes in topics.items()
            ],
        )

        def attempt(session: Session) -> Steps[bool]:
            wanted = [TopicPartition(name, each) for name, indexes in topics.items() for each in indexes]
            deletions = {tp: self.books.deletion(self.group, tp, self.now_ms) for tp in wanted}
            response = yield from session.call(request, 0)
            code = ErrorCode(response.error_code)
            if code is not ErrorCode.NONE:
                self.refused("offset_delete", code)
                if code in NOT_CARRIED_OUT:
                    for deletion in deletions.values():
                        self.books.refused(deletion)
                return code not in ELSEWHERE
            for topic in response.topics:
                for partition in topic.partitions:
                    deletion = deletions[TopicPartition(topic.name, partition.partition_index)]
                    each = ErrorCode(partition.error_code)
                    if each is ErrorCode.NONE:
                        self.report["offsets_deleted"] += 1
                        self.books.acked(deletion, self.now_ms)
                    else:
                        self.refused("offset_delete", each)
                        self.books.refused(deletion)
            return True

        yield from self._until_done(attempt)

    # -- groups --

    def delete_group(self) -> Steps[None]:
        def attempt(session: Session) -> Steps[bool]:
            deletion = self.books.deletion(self.group, None, self.now_ms)
            response = yield from session.call(DeleteGroupsRequest(groups_names=[self.group]), 2)
            code = ErrorCode(response.results[0].error_code)
            if code is ErrorCode.NONE:
                self.report["groups_deleted"] += 1
                self.books.acked(deletion, self.now_ms)
            else:
                self.refused("delete_group", code)
                if code in NOT_CARRIED_OUT:
                    self.books.refused(deletion)
            return code not in ELSEWHERE

        yield from self._until_done(attempt)

    def list_groups(self) -> Steps[dict[str, Any]]:
        listed: dict[str, Any] = {}

        def attempt(session: Session) -> Steps[bool]:
            response = yield from session.call(ListGroupsRequest(), 5)
            listed.update({each.group_id: each for each in response.groups})
            return bool(response.error_code == ErrorCode.NONE)

        yield from self._until_done(attempt)
        return listed
