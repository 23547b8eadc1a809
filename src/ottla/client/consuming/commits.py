"""Committed offsets: written for the group, in order, and read back.

A synchronous commit is tried again until its time is up; asynchronous ones are sent one after the other, each
once, and their callbacks come in the same order. A commit carries who it comes from (member and generation):
one that is no longer in the group is refused, `CommitFailed`, because somebody else reads its partitions.
Topics go by id where the broker takes ids (OffsetCommit and OffsetFetch version 10), so that a commit for a
topic that was deleted and created again is refused instead of landing in its namesake.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from ottla.client import effects
from ottla.client.backoff import Backoff
from ottla.client.cluster import MISSING_TOPIC, worth_retrying
from ottla.client.consuming.group import COORDINATOR_LANE
from ottla.client.coordinator import MOVED, chunks
from ottla.client.effects import ClientSteps, Pause, Signal, Versioned
from ottla.client.errors import (
    BrokerUnavailable,
    CommitFailed,
    InvalidArgument,
    OperationTimedOut,
    OttlaError,
    ServerError,
    raise_for,
)
from ottla.client.membership import Identity
from ottla.client.records import OffsetAndMetadata
from ottla.model.errors import ErrorCode
from ottla.model.types import NO_TOPIC_ID, TopicPartition

if TYPE_CHECKING:
    from ottla.client.consuming.group import Group
    from ottla.client.session import Session
    from ottla.client.settings import ConsumerSettings

log = logging.getLogger("ottla.client")

Offsets: TypeAlias = Mapping[TopicPartition, OffsetAndMetadata]
CommitCallback: TypeAlias = Callable[[Offsets, "OttlaError | None"], Any]

PARTITIONS_PER_REQUEST_MAX: Final = 2_000
NAMED_TOPICS: Final = 9
"""The last version of OffsetCommit and OffsetFetch that names topics."""

MEMBERS_ASK: Final = 9
"""The first version of OffsetFetch in which a member of KIP-848 says who it is."""

OUTSIDE: Final = Identity("", -1, None)
"""Who commits without being a member: allowed while the group has none."""

GONE: Final = frozenset(
    {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION, ErrorCode.FENCED_MEMBER_EPOCH}
)
OF_THE_GROUP: Final = frozenset(
    {
        *GONE,
        *MOVED,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.REBALANCE_IN_PROGRESS,
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.STALE_MEMBER_EPOCH,
        ErrorCode.INVALID_GROUP_ID,
        ErrorCode.GROUP_ID_NOT_FOUND,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.INVALID_COMMIT_OFFSET_SIZE,
    }
)
"""Errors of a commit that are told with every partition and mean the whole of it."""

AWAITED: Final = frozenset({ErrorCode.STALE_MEMBER_EPOCH, ErrorCode.REBALANCE_IN_PROGRESS})
"""The membership moves on and the commit can be said again: with the epoch of the next heartbeat's answer, or
once the rebalance is over."""


OUTDATED: Final = frozenset(
    {ErrorCode.STALE_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH}
)
"""What a member that asks for offsets is told when the coordinator knows it as another, or not at all."""


class _Queued(NamedTuple):
    offsets: Offsets
    callback: CommitCallback | None
    internal: Callable[[OttlaError | None], None] | None


class Commits:
    def __init__(self, session: Session, settings: ConsumerSettings, news: Signal) -> None:
        self._session = session
        self._settings = settings
        self._news = news
        self.group: Group | None = None
        """Set while the group says which partitions are read; None: commits come from outside."""
        self._queue: deque[_Queued] = deque()
        self._sending = False
        self._idle = Signal()
        self.committed_last: dict[TopicPartition, OffsetAndMetadata] = {}
        """What this consumer knows to be committed, as far as it committed it itself."""
        self.on_committed: Callable[[Offsets], None] | None = None
        """Told after each commit that succeeded (interceptors)."""

    # -- committing

    def commit(
        self, offsets: Offsets, timeout_ms: float | None = None, *, unreachable_ms: float | None = None
    ) -> ClientSteps[None]:
        """Commits, after what was asked for asynchronously before; tries again until the time is up, and
        where nobody listens only for the time that is given for that.
        """
        self._check(offsets)
        if not offsets:
            return
        host = self._session.host
        limit_ms = self._settings.default_api_timeout_ms if timeout_ms is None else timeout_ms
        backoff = self._backoff(host.clock.monotonic_ms() + limit_ms)
        while self._sending:
            left_ms = backoff.deadline_ms - host.clock.monotonic_ms()
            if left_ms <= 0 or not (yield effects.Wait(self._idle, left_ms)):
                raise OperationTimedOut("earlier asynchronous commits are still under way")
        looked_again = False
        while True:
            try:
                yield from self._send(offsets)
                return
            except ServerError as error:
                if error.code in MISSING_TOPIC and not looked_again:
                    looked_again = True  # the view may be old, and with it the topic's id
                    yield from self._refresh(offsets)
                    continue
                failure: OttlaError = error
                if error.code in MISSING_TOPIC or not (error.retriable or error.code in AWAITED):
                    raise
                if error.code in AWAITED and self.group is not None:
                    self.group.heartbeat_now()
            except OttlaError as error:
                failure = error
                unknown_cluster = isinstance(error, BrokerUnavailable) and not self._session.cluster.contacted
                if not error.retriable or unknown_cluster:
                    raise
            wait_ms = backoff.next_wait_ms(host.clock.monotonic_ms())
            if unreachable_ms is not None and isinstance(failure, BrokerUnavailable):
                backoff.deadline_ms = min(backoff.deadline_ms, host.clock.monotonic_ms() + unreachable_ms)
                unreachable_ms = None
            if wait_ms is None:
                raise OperationTimedOut(f"the commit did not succeed in time: {failure}") from failure
            if self.group is not None and isinstance(failure, ServerError) and failure.code in AWAITED:
                yield effects.Wait(self.group.changed, wait_ms)
            else:
                yield Pause(wait_ms)

    def commit_async(
        self,
        offsets: Offsets,
        callback: CommitCallback | None = None,
        internal: Callable[[OttlaError | None], None] | None = None,
    ) -> None:
        """Sends the commit soon, once; the callback gets the offsets and the error or None."""
        self._check(offsets)
        self._queue.append(_Queued(dict(offsets), callback, internal))
        if not self._sending:
            self._sending = True
            self._session.host.spawn(self._send_queued(), "commits")

    @property
    def under_way(self) -> bool:
        return self._sending

    def _send_queued(self) -> ClientSteps[None]:
        try:
            while self._queue:
                queued = self._queue.popleft()
                failure: OttlaError | None = None
                try:
                    if queued.offsets:
                        yield from self._send(queued.offsets)
                except OttlaError as error:
                    failure = error
                if queued.internal is not None:
                    queued.internal(failure)
                if queued.callback is not None:
                    self._call_back(queued.callback, queued.offsets, failure)
        finally:
            self._sending = False
            self._idle.notify()
            self._news.notify()

    def _call_back(self, callback: CommitCallback, offsets: Offsets, failure: OttlaError | None) -> None:
        self._session.host.later(lambda: callback(offsets, failure))

    def _check(self, offsets: Offsets) -> None:
        if self._settings.group_id is None:
            raise InvalidArgument("offsets are committed for a group: configure group_id")
        for tp, committed in offsets.items():
            if committed.offset < 0:
                raise InvalidArgument(f"{tp}: an offset of {committed.offset} cannot be committed")

    def _send(self, offsets: Offsets) -> ClientSteps[None]:
        """One attempt, in as many requests as it takes."""
        who = OUTSIDE if self.group is None else self.group.committer()
        clock, metrics = self._session.host.clock, self._session.metrics
        for part in chunks(sorted(offsets.items()), PARTITIONS_PER_REQUEST_MAX):
            began_ms = clock.monotonic_ms()
            yield from self._send_part(part, who)
            metrics.observe("consumer-coordinator-metrics", "commit-latency", clock.monotonic_ms() - began_ms)
            metrics.count("consumer-coordinator-metrics", "commit")
            self.committed_last.update(part)
        if self.on_committed is not None:
            self.on_committed(offsets)

    def _send_part(
        self, part: list[tuple[TopicPartition, OffsetAndMetadata]], who: Identity
    ) -> ClientSteps[None]:
        from ottla.wire.messages.offset_commit import (
            OffsetCommitRequest,
            OffsetCommitRequestPartition,
            OffsetCommitRequestTopic,
            OffsetCommitResponse,
        )

        group_id = self._settings.group_id
        assert group_id is not None
        ids, names = self._topic_ids(tp.topic for tp, _ in part)
        topics: dict[str, list[OffsetCommitRequestPartition]] = {}
        for tp, committed in part:
            topics.setdefault(tp.topic, []).append(
                OffsetCommitRequestPartition(
                    partition_index=tp.partition,
                    committed_offset=committed.offset,
                    committed_leader_epoch=committed.leader_epoch,
                    committed_metadata=committed.metadata,
                )
            )

        def build(version: int) -> OffsetCommitRequest:
            return OffsetCommitRequest(
                group_id=group_id,
                generation_id_or_member_epoch=who.generation,
                member_id=who.member_id,
                group_instance_id=who.instance_id if version >= 7 else None,
                topics=[
                    OffsetCommitRequestTopic(
                        name=name, topic_id=ids.get(name, NO_TOPIC_ID), partitions=entries
                    )
                    for name, entries in topics.items()
                ],
            )

        response: OffsetCommitResponse = yield from self._session.coordinators.ask_once(
            group_id,
            Versioned(OffsetCommitRequest.API_KEY, build),
            lane=COORDINATOR_LANE,
            **({} if ids else {"version_max": NAMED_TOPICS}),
        )
        unanswered = {tp for tp, _ in part}
        for topic in response.topics:
            name = topic.name or names.get(bytes(topic.topic_id), "")
            for p in topic.partitions:
                tp = TopicPartition(name, p.partition_index)
                unanswered.discard(tp)
                if p.error_code:
                    self._refused(p.error_code, tp, who)
        if unanswered:  # what the broker says nothing about is not committed
            raise ServerError(
                ErrorCode.UNKNOWN_SERVER_ERROR,
                "the broker's answer leaves it out",
                subject=str(min(unanswered)),
            )

    def _refused(self, code: int, tp: TopicPartition, who: Identity) -> None:
        group_id = self._settings.group_id or ""
        if code in MOVED:
            self._session.coordinators.forget(group_id)
        error = ServerError(code, subject=f"group {group_id}" if code in OF_THE_GROUP else str(tp))
        forgotten = code == ErrorCode.GROUP_ID_NOT_FOUND and self.group is not None
        if code not in GONE and not forgotten:  # a group without members and offsets is forgotten, too
            raise error
        if self.group is not None:
            self.group.heartbeat_now()  # it finds out what has become of the membership
            raise CommitFailed(
                f"group {group_id}: the commit was refused, because the group has given the partitions to "
                "another member: what was read since the last commit will be delivered again. Usually poll "
                "was not called in time: lower max.poll.records, or raise max.poll.interval.ms"
            ) from error
        raise CommitFailed(
            f"group {group_id}: the commit was refused, because the group has members that were assigned by "
            "subscription: use another group id for partitions that are assigned by hand"
        ) from error

    # -- reading them back

    def committed(
        self, partitions: Iterable[TopicPartition], timeout_ms: float | None = None
    ) -> ClientSteps[dict[TopicPartition, OffsetAndMetadata | None]]:
        """What the group has committed; None where it has nothing. Waits for commits of transactions that
        are under way (KIP-447).
        """
        group_id = self._settings.group_id
        if group_id is None:
            raise InvalidArgument("offsets are committed for a group: configure group_id")
        wanted = sorted(set(partitions))
        found: dict[TopicPartition, OffsetAndMetadata | None] = {}
        clock = self._session.host.clock
        limit_ms = self._settings.default_api_timeout_ms if timeout_ms is None else timeout_ms
        backoff = self._backoff(clock.monotonic_ms() + limit_ms)
        for part in chunks(wanted, PARTITIONS_PER_REQUEST_MAX):
            while True:
                left_ms = max(0.0, backoff.deadline_ms - clock.monotonic_ms())
                try:
                    found.update((yield from self._fetch_part(group_id, part, left_ms)))
                    break
                except ServerError as error:
                    wait_ms = backoff.next_wait_ms(clock.monotonic_ms())
                    if self.group is None or error.code not in OUTDATED or wait_ms is None:
                        raise
                    self.group.heartbeat_now()
                    yield effects.Wait(self.group.changed, wait_ms)
        return {tp: found.get(tp) for tp in wanted}

    def _fetch_part(
        self, group_id: str, part: list[TopicPartition], timeout_ms: float
    ) -> ClientSteps[dict[TopicPartition, OffsetAndMetadata]]:
        from ottla.wire.messages.offset_fetch import (
            OffsetFetchRequest,
            OffsetFetchRequestGroup,
            OffsetFetchRequestTopic,
            OffsetFetchRequestTopics,
        )

        by_topic: dict[str, list[int]] = {}
        for tp in part:
            by_topic.setdefault(tp.topic, []).append(tp.partition)
        ids, names = self._topic_ids(by_topic)
        who = None if self.group is None else self.group.reader()

        def build(version: int) -> OffsetFetchRequest:
            if version < 8:
                return OffsetFetchRequest(
                    group_id=group_id,
                    topics=[
                        OffsetFetchRequestTopic(name=t, partition_indexes=p) for t, p in by_topic.items()
                    ],
                    require_stable=version >= 7,
                )
            topics = [
                OffsetFetchRequestTopics(name=t, topic_id=ids.get(t, NO_TOPIC_ID), partition_indexes=p)
                for t, p in by_topic.items()
            ]
            entry = OffsetFetchRequestGroup(group_id=group_id, topics=topics)
            if who is not None and version >= MEMBERS_ASK:
                entry.member_id, entry.member_epoch = who.member_id, who.generation
            return OffsetFetchRequest(groups=[entry], require_stable=True)

        found: dict[TopicPartition, OffsetAndMetadata] = {}

        def check(response: Any) -> None:
            found.clear()
            raise_for(response.error_code, subject=f"group {group_id}")
            topics = list(response.topics)
            for entry in response.groups:
                raise_for(entry.error_code, subject=f"group {group_id}")
                topics += entry.topics
            for topic in topics:
                name = topic.name or names.get(bytes(getattr(topic, "topic_id", b"")), "")
                for p in topic.partitions:
                    tp = TopicPartition(name, p.partition_index)
                    if p.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                        continue
                    raise_for(p.error_code, subject=str(tp))
                    if p.committed_offset >= 0:
                        found[tp] = OffsetAndMetadata(
                            p.committed_offset, p.metadata or "", p.committed_leader_epoch
                        )

        try:
            yield from self._session.coordinators.ask(
                group_id,
                Versioned(OffsetFetchRequest.API_KEY, build),
                check=check,
                timeout_ms=timeout_ms,
                lane=COORDINATOR_LANE,
                **({} if ids else {"version_max": NAMED_TOPICS}),
            )
        except OttlaError as error:
            if not worth_retrying(error) or not self._session.cluster.contacted:
                raise
            raise OperationTimedOut(
                f"the group's offsets could not be read in {timeout_ms:g} ms: {error}"
            ) from error
        return found

    # -- topics by id

    def _topic_ids(self, topics: Iterable[str]) -> tuple[dict[str, bytes], dict[bytes, str]]:
        """Ids by name and names by id; nothing unless all are known (an old broker has none)."""
        view = self._session.cluster.view
        ids = {name: view.topic_id(name) for name in topics}
        if NO_TOPIC_ID in ids.values():
            return {}, {}
        return ids, {topic_id: name for name, topic_id in ids.items()}

    def _refresh(self, offsets: Offsets) -> ClientSteps[None]:
        try:
            yield from self._session.cluster.refresh(sorted({tp.topic for tp in offsets}))
        except OttlaError as error:
            if not error.retriable:
                raise

    def _backoff(self, deadline_ms: float) -> Backoff:
        settings = self._settings
        return Backoff(
            deadline_ms,
            self._session.host.chance,
            first_ms=settings.retry_backoff_ms,
            max_ms=settings.retry_backoff_max_ms,
        )
