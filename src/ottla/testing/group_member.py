"""What all simulated members of groups do: find the coordinator, read on from a commit, commit, and die.

A member is one process in one loop, as real ones are seen from the broker. `turn` is one round of that loop
and belongs to the protocol (`classic_member`, `consumer_member`). A lost connection ends a turn wherever it
is; what the member knew of its group stays, as it would in a real client, and the next turn goes on with it
on a new connection.

Ways to end or to be late: `leaving` (says so), `die` (its socket closes), `vanish` (nothing closes, nobody
answers), `pause_ms` (a long pause, from which it comes back as if nothing had happened: a zombie, if others
took over meanwhile).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.ports.effects import Sleep, Steps
from ottla.testing.client import RETRY_BACKOFF_MS, Call, Session, SimClient
from ottla.testing.clock import VirtualClock
from ottla.testing.group_books import Actor, Commit, GroupBooks, Tenure
from ottla.testing.ledger import Ledger, Violation
from ottla.testing.network import ConnectionLost, SimNetwork
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.metadata import MetadataRequest
from ottla.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from ottla.wire.record_batch import decode_batch, iter_headers

NODE_ID: Final = 1

ELSEWHERE: Final = frozenset(
    (
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    )
)
"""The coordinator is looked for again, and the request is sent again: it may have been carried out."""

NOT_CARRIED_OUT: Final = frozenset(
    (
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.STALE_MEMBER_EPOCH,
        ErrorCode.FENCED_MEMBER_EPOCH,
        ErrorCode.REBALANCE_IN_PROGRESS,
        ErrorCode.GROUP_ID_NOT_FOUND,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.UNSUPPORTED_VERSION,
        ErrorCode.NON_EMPTY_GROUP,
        ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,
    )
)
"""Refusals after which nothing of the request may be seen, ever."""

GONE: Final = frozenset((ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID))

PendingCommit = tuple[Call, dict[TopicPartition, Commit]]


class GroupClient(SimClient):
    """Talks to a group's coordinator."""

    def __init__(
        self,
        network: SimNetwork,
        clock: VirtualClock,
        address: str,
        name: str,
        ledger: Ledger,
        report: Counter[str],
        books: GroupBooks,
        group: str,
    ) -> None:
        super().__init__(network, clock, address, name, ledger, report)
        self.books = books
        self.group = group
        self.topic_ids: dict[str, bytes] = {}
        self.topic_names: dict[bytes, str] = {}
        self.partition_counts: dict[str, int] = {}

    @property
    def now_ms(self) -> float:
        return self.network.scheduler.now_ms

    def refused(self, what: str, code: ErrorCode) -> None:
        """Counts an error; the ones that never happen in an honest broker end the run."""
        if code is ErrorCode.UNKNOWN_SERVER_ERROR:
            raise Violation(f"{self.name} of {self.group}: {what} was answered with {code.name}")
        self.report[f"{what}_{code.name.lower()}"] += 1

    def find_coordinator(self, session: Session) -> Steps[None]:
        version = self.random.choice((0, 2, 3, 4, 6))
        while True:
            request = FindCoordinatorRequest()
            if version >= 4:
                request.coordinator_keys = [self.group]
            else:
                request.key = self.group
            response = yield from session.call(request, version)
            found = response.coordinators[0] if version >= 4 else response
            if found.error_code == ErrorCode.NONE:
                if found.node_id != NODE_ID:
                    raise Violation(f"{self.group} is said to be coordinated by node {found.node_id}")
                return
            code = ErrorCode(found.error_code)
            self.refused("find_coordinator", code)
            if code not in ELSEWHERE:
                raise Violation(f"looking for the coordinator of {self.group}: {code.name}")
            yield Sleep(RETRY_BACKOFF_MS)

    def look_at_topics(self, session: Session) -> Steps[None]:
        response = yield from session.call(
            MetadataRequest(topics=None, allow_auto_topic_creation=False), self.random.choice((10, 12))
        )
        self.partition_counts = {}
        for topic in response.topics:
            if topic.error_code == ErrorCode.NONE and not topic.is_internal:
                self.topic_ids[topic.name] = topic.topic_id
                self.topic_names[topic.topic_id] = topic.name
                self.partition_counts[topic.name] = len(topic.partitions)

    # -- offsets --

    def offset_commit(
        self,
        offsets: dict[TopicPartition, int],
        version: int,
        *,
        actor: Actor,
        epoch: int = -1,
        member_id: str = "",
    ) -> tuple[OffsetCommitRequest, dict[TopicPartition, Commit]]:
        commits: dict[TopicPartition, Commit] = {}
        topics: dict[str, OffsetCommitRequestTopic] = {}
        for tp, offset in offsets.items():
            commit = self.books.commit(self.group, tp, offset, actor, epoch, self.now_ms)
            commits[tp] = commit
            topic = topics.get(tp.topic)
            if topic is None:
                topic = topics[tp.topic] = OffsetCommitRequestTopic(
                    name=tp.topic, topic_id=self.topic_ids.get(tp.topic, bytes(16))
                )
            topic.partitions.append(
                OffsetCommitRequestPartition(
                    partition_index=tp.partition,
                    committed_offset=offset,
                    committed_metadata=commit.metadata,
                )
            )
        request = OffsetCommitRequest(
            group_id=self.group,
            generation_id_or_member_epoch=epoch,
            member_id=member_id,
            group_instance_id=actor.instance_id if version >= 7 else None,
            topics=list(topics.values()),
        )
        return request, commits

    def commit_answered(
        self, response: Any, commits: dict[TopicPartition, Commit], version: int
    ) -> dict[TopicPartition, ErrorCode]:
        """Enters the answer into the books, and returns it by partition."""
        codes: dict[TopicPartition, ErrorCode] = {}
        for topic in response.topics:
            name = self.topic_names[topic.topic_id] if version >= 10 else topic.name
            for partition in topic.partitions:
                tp = TopicPartition(name, partition.partition_index)
                code = codes[tp] = ErrorCode(partition.error_code)
                if code is ErrorCode.NONE:
                    self.books.acked(commits[tp], self.now_ms)
                    continue
                self.refused("commit", code)
                if code in NOT_CARRIED_OUT:
                    self.books.refused(commits[tp])
        if codes.keys() != commits.keys():
            raise Violation(f"{self.name}: a commit of {list(commits)} was answered for {list(codes)}")
        return codes

    def offset_fetch(
        self,
        session: Session,
        tps: Iterable[TopicPartition],
        version: int,
        *,
        member_id: str | None = None,
        epoch: int = -1,
    ) -> Steps[tuple[ErrorCode, dict[TopicPartition, tuple[int, Commit | None]]]]:
        """The committed offsets and the commits that they are; with an error, none."""
        began_ms = self.now_ms
        indexes: dict[str, list[int]] = {}
        for tp in tps:
            indexes.setdefault(tp.topic, []).append(tp.partition)
        request = OffsetFetchRequest()
        if version >= 8:
            request.groups = [
                OffsetFetchRequestGroup(
                    group_id=self.group,
                    member_id=member_id,
                    member_epoch=epoch,
                    topics=[
                        OffsetFetchRequestTopics(
                            name=name,
                            topic_id=self.topic_ids.get(name, bytes(16)),
                            partition_indexes=partitions,
                        )
                        for name, partitions in indexes.items()
                    ],
                )
            ]
        else:
            request.group_id = self.group
            request.topics = [
                OffsetFetchRequestTopic(name=name, partition_indexes=partitions)
                for name, partitions in indexes.items()
            ]
        response = yield from session.call(request, version)
        answer = response.groups[0] if version >= 8 else response
        code = ErrorCode(answer.error_code) if version >= 2 else ErrorCode.NONE
        found: dict[TopicPartition, tuple[int, Commit | None]] = {}
        if code is not ErrorCode.NONE:
            self.refused("offset_fetch", code)
            return code, found
        for topic in answer.topics:
            name = self.topic_names[topic.topic_id] if version >= 10 else topic.name
            for partition in topic.partitions:
                each = ErrorCode(partition.error_code)
                if each is not ErrorCode.NONE:
                    self.refused("offset_fetch", each)
                    if each not in GONE:
                        return each, {}
                    continue
                tp = TopicPartition(name, partition.partition_index)
                seen = self.books.read(
                    self.group, tp, partition.committed_offset, partition.metadata, began_ms, self.now_ms
                )
                found[tp] = (partition.committed_offset, seen)
        return code, found


class GroupMember(GroupClient, ABC):
    def __init__(self, *arguments: Any, topics: Iterable[str], instance_id: str | None = None) -> None:
        super().__init__(*arguments)
        self.topics = list(topics)
        self.actor = Actor(self.name, instance_id)
        self.instance_id = instance_id
        self.member_id = ""
        self.epoch = -1
        self.positions: dict[TopicPartition, int] = {}
        """Where it is in each partition that it reads."""
        self.committed: dict[TopicPartition, int] = {}
        self.tenures: dict[TopicPartition, Tenure] = {}
        self.leaving = False
        self.over = False
        self.failed: ErrorCode | None = None
        """The error after which a member of this protocol has to give up."""
        self.pause_ms = 0.0
        self.idle_ms = 400.0
        self._session: Session | None = None
        self._fetch_version = self.random.choice((12, 12, 13, 17))
        self._commit_version = 9
        self._offset_fetch_version = 8

    # -- its life --

    def run(self) -> Steps[None]:
        while not self.over:
            session = self._session = yield from self.connect()
            try:
                yield from self.find_coordinator(session)
                yield from self.look_at_topics(session)
                self.connected()
                while not self.over:
                    if self.pause_ms:
                        pause_ms, self.pause_ms = self.pause_ms, 0.0
                        yield Sleep(pause_ms)
                    yield from self.turn(session)
            except ConnectionLost:
                self.report["member_reconnects"] += 1
                yield Sleep(RETRY_BACKOFF_MS * self.random.random())
            finally:
                session.close()

    def connected(self) -> None:
        """A new connection is there."""

    @abstractmethod
    def turn(self, session: Session) -> Steps[None]:
        """What the member does next, as its protocol has it."""

    @property
    @abstractmethod
    def generations_are_shared(self) -> bool:
        """All members are in the same generation, or each is in an epoch of its own."""

    def die(self) -> None:
        self.over = True
        if self._session is not None:
            self._session.close()

    def vanish(self) -> None:
        self.over = True
        if self._session is not None:
            self._session.abandon()

    def give_up(self, code: ErrorCode) -> None:
        self.failed = code
        self.over = True
        self.report[f"members_ended_by_{code.name.lower()}"] += 1

    # -- reading --

    def begin_reading(
        self, session: Session, tps: Iterable[TopicPartition], *, with_member: bool
    ) -> Steps[ErrorCode]:
        """Looks up where to begin in partitions that are new here."""
        wanted = sorted(tp for tp in tps if tp not in self.positions)  # a set's order differs between runs
        if not wanted:
            return ErrorCode.NONE
        if any(tp.topic not in self.topic_ids for tp in wanted):
            yield from self.look_at_topics(session)
            wanted = [tp for tp in wanted if tp.topic in self.topic_ids]
        code, found = yield from self.offset_fetch(
            session,
            wanted,
            self._offset_fetch_version,
            member_id=self.member_id if with_member else None,
            epoch=self.epoch if with_member else -1,
        )
        for tp, (offset, seen) in found.items():
            begin = max(offset, 0)
            self.positions[tp] = begin
            self.committed[tp] = offset
            if tp.topic not in self.books.deleted_topics:
                self.books.begins_at(self.group, tp, begin)
            tenure = self.tenures.get(tp)
            if tenure is not None:
                tenure.base, tenure.read_ms = seen, self.now_ms
        return code

    def stop_reading(self, tps: Iterable[TopicPartition]) -> None:
        for tp in list(tps):
            self.positions.pop(tp, None)
            self.committed.pop(tp, None)
            self.tenures.pop(tp, None)

    def given(self, tps: Iterable[TopicPartition], asked_ms: float) -> None:
        for tp in tps:
            tenure = self.tenures.get(tp)
            if tenure is None or tenure.epoch != self.epoch:
                self.tenures[tp] = self.books.given(
                    self.group,
                    tp,
                    self.actor,
                    self.epoch,
                    asked_ms,
                    self.now_ms,
                    shared_epoch=self.generations_are_shared,
                )

    def fetch(self, session: Session) -> Steps[None]:
        if not self.positions:
            return
        request = FetchRequest(
            max_wait_ms=self.random.choice((0, 50, 200)),
            min_bytes=1,
            max_bytes=self.random.choice((1, 300, 1 << 20)),
            session_epoch=-1,
        )
        topics: dict[str, FetchTopic] = {}
        positions = dict(self.positions)
        for tp, position in positions.items():
            topic = topics.get(tp.topic)
            if topic is None:
                topic = topics[tp.topic] = FetchTopic(topic=tp.topic, topic_id=self.topic_ids[tp.topic])
            topic.partitions.append(
                FetchPartition(partition=tp.partition, fetch_offset=position, partition_max_bytes=2000)
            )
        request.topics = list(topics.values())
        response = yield from session.call(request, self._fetch_version)
        for answered in response.responses:
            name = (
                self.topic_names.get(answered.topic_id, "") if self._fetch_version >= 13 else answered.topic
            )
            for partition in answered.partitions:
                tp = TopicPartition(name, partition.partition_index)
                if tp in self.positions and self.positions[tp] == positions.get(tp):
                    self._take(tp, partition)

    def _take(self, tp: TopicPartition, answer: Any) -> None:
        code = ErrorCode(answer.error_code)
        if code is not ErrorCode.NONE:
            self.refused("fetch", code)
            if not code.retriable and code not in GONE:
                raise Violation(f"{self.name}: fetching {tp} from {self.positions[tp]}: {code.name}")
            return
        data = bytes(answer.records or b"")
        for position, _ in iter_headers(data, 0, len(data)):
            for record in decode_batch(data, position, decompressed_bytes_max=1 << 20):
                if record.offset < self.positions[tp]:
                    continue
                if record.offset != self.positions[tp]:
                    raise Violation(f"{tp}: offset {record.offset} came where {self.positions[tp]} is next")
                self.ledger.consumed(tp, record.offset, record.value)
                self.books.delivered(self.group, tp, record.offset)
                self.positions[tp] = record.offset + 1

    # -- committing --

    def start_commit(self, session: Session, tps: Iterable[TopicPartition]) -> PendingCommit | None:
        """Sends the positions of these partitions, where they have moved."""
        offsets = {
            tp: self.positions[tp]
            for tp in sorted(tps)
            if tp in self.positions and self.positions[tp] != self.committed.get(tp)
        }
        if not offsets or self.epoch < 0:
            return None
        request, commits = self.offset_commit(
            offsets, self._commit_version, actor=self.actor, epoch=self.epoch, member_id=self.member_id
        )
        return session.start(request, self._commit_version), commits

    def finish_commit(self, session: Session, pending: PendingCommit | None) -> Steps[set[ErrorCode]]:
        if pending is None:
            return set()
        call, commits = pending
        response = yield from session.finish(call)
        codes = self.commit_answered(response, commits, self._commit_version)
        for tp, code in codes.items():
            if code is ErrorCode.NONE and tp in self.positions:
                self.committed[tp] = commits[tp].offset
            elif code in GONE and tp.topic in self.books.deleted_topics:
                self.stop_reading([tp])
        return set(codes.values()) - {ErrorCode.NONE}

    def commit(self, session: Session, tps: Iterable[TopicPartition]) -> Steps[set[ErrorCode]]:
        return (yield from self.finish_commit(session, self.start_commit(session, tps)))
