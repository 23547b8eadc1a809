"""Incremental fetch sessions (KIP-227), built so that an idle partition costs nothing per request.

A session registers once on each of its partitions. When data arrives, the partition puts itself into the
session's `ready` set; a fetch looks at `ready` only, never at the whole session. A partition leaves `ready`
when a look finds nothing to say about it. A fetch without a session uses the same object for one request
and registers only if it has to wait.

A replica's session hears of appends, a reader's of what has become readable. That the high watermark moved
goes out with a replica's next answer, and if none is due, soon (`HighWatermarkNews`): with each append a
follower's fetch moves it, and an answer for that alone would double the number of fetches.

`ready` is ordered: a partition that gave data goes to the end, so that a full response does not starve the
others.
"""

from __future__ import annotations

import random
from typing import Final

from ottla.model.errors import ErrorCode, KafkaError
from ottla.ports.driver import Driver
from ottla.ports.effects import Sleep, Steps, Waiter
from ottla.replication.partition import Partition
from ottla.wire.messages.fetch import FetchPartition

INITIAL_EPOCH = 0
FINAL_EPOCH = -1
NO_SESSION_ID = 0
_EPOCH_MAX = 2**31 - 1

HIGH_WATERMARK_NEWS_MS: Final = 5.0
"""How long a new high watermark waits for an answer that goes to the follower anyway."""


class FetchedPartition:
    """One partition of a session: where its reader stands, and what the reader was last told."""

    __slots__ = (
        "session",
        "topic",
        "topic_id",
        "index",
        "partition",
        "fetch_offset",
        "current_leader_epoch",
        "last_fetched_epoch",
        "max_bytes",
        "told_high_watermark",
        "told_log_start",
        "told_error",
        "log_start_offset",
        "checked_epoch",
    )

    def __init__(self, session: FetchSession, topic: str, topic_id: bytes, request: FetchPartition) -> None:
        self.session = session
        self.topic = topic
        self.topic_id = topic_id
        self.index = request.partition
        self.partition: Partition | None = None
        self.told_high_watermark = -1
        self.told_log_start = -1
        self.told_error = 0
        self.fetch_offset = request.fetch_offset
        self.current_leader_epoch = request.current_leader_epoch
        self.update(request)

    def update(self, request: FetchPartition) -> None:
        if (
            request.current_leader_epoch != self.current_leader_epoch
            or request.fetch_offset < self.fetch_offset
        ):
            # Under another epoch, or further back: what it was told before, it has not taken.
            self.told_high_watermark = -1
        elif request.high_watermark < self.told_high_watermark:
            # A replica (KIP-1166) that had no use for an answer: it came twice, or too late.
            self.told_high_watermark = request.high_watermark
        self.fetch_offset = request.fetch_offset
        self.current_leader_epoch = request.current_leader_epoch
        self.last_fetched_epoch = request.last_fetched_epoch
        self.max_bytes = request.partition_max_bytes
        self.log_start_offset = request.log_start_offset
        self.checked_epoch = -1  # the leader epoch under which a replica's position was found good
        self.told_error = 0  # another question: its answer is news, even if it is the same error

    def data_arrived(self, partition: Partition, size_bytes: int) -> None:
        session = self.session
        session.ready[self] = None
        waiter = session.waiter
        if waiter is not None:
            session.missing_bytes -= size_bytes
            # Zero bytes means a change of another kind (deletion, leadership), which is told at once.
            if size_bytes == 0 or session.missing_bytes <= 0:
                waiter.fire()

    def high_watermark_moved(self, partition: Partition) -> None:
        session = self.session
        session.ready[self] = None
        if session.waiter is not None and session.news is not None:
            session.news.tell(session)


class HighWatermarkNews:
    """Ends the waits of replicas that have nothing but a new high watermark to hear, a moment later."""

    __slots__ = ("_driver", "_sessions")

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._sessions: dict[FetchSession, None] = {}

    def tell(self, session: FetchSession) -> None:
        if not self._sessions:
            self._driver.spawn(self._tell_soon(), "news of high watermarks")
        self._sessions[session] = None

    def _tell_soon(self) -> Steps[None]:
        yield Sleep(HIGH_WATERMARK_NEWS_MS)
        sessions, self._sessions = self._sessions, {}
        for session in sessions:
            if session.waiter is not None:
                session.has_news = True
                session.waiter.fire()


class FetchSession:
    __slots__ = (
        "id",
        "epoch",
        "uses_topic_ids",
        "partitions",
        "ready",
        "waiter",
        "missing_bytes",
        "last_used_ms",
        "watching",
        "replica_id",
        "news",
        "has_news",
        "moved",
    )

    def __init__(
        self,
        session_id: int,
        uses_topic_ids: bool,
        now_ms: float,
        replica_id: int = -1,
        news: HighWatermarkNews | None = None,
    ) -> None:
        """`replica_id` and `news` are a follower's."""
        self.id = session_id
        self.epoch = INITIAL_EPOCH
        self.uses_topic_ids = uses_topic_ids
        self.partitions: dict[tuple[str | bytes, int], FetchedPartition] = {}
        self.ready: dict[FetchedPartition, None] = {}
        self.waiter: Waiter | None = None
        self.missing_bytes = 0
        self.last_used_ms = now_ms
        self.watching = False
        self.replica_id = replica_id
        self.news = news
        self.has_news = False
        self.moved: list[FetchedPartition] | None = None if replica_id < 0 else []
        """What a replica's last request named: its progress counts even if there is no room for an answer."""

    def put(self, topic: str, topic_id: bytes, request: FetchPartition) -> None:
        """Adds a partition or moves its position; either way it has to be looked at."""
        key = (topic_id if self.uses_topic_ids else topic, request.partition)
        known = self.partitions.get(key)
        if known is None:
            known = self.partitions[key] = FetchedPartition(self, topic, topic_id, request)
        else:
            known.update(request)
        self.ready[known] = None
        if self.moved is not None:
            self.moved.append(known)

    def forget(self, topic: str | bytes, index: int) -> None:
        known = self.partitions.pop((topic, index), None)
        if known is not None:
            self.ready.pop(known, None)
            self.bind(known, None)

    def __contains__(self, fetched: FetchedPartition) -> bool:
        topic = fetched.topic_id if self.uses_topic_ids else fetched.topic
        return self.partitions.get((topic, fetched.index)) is fetched

    def bind(self, fetched: FetchedPartition, partition: Partition | None) -> None:
        """Points a session's entry at the partition object that now serves it (a topic may be made anew)."""
        before = fetched.partition
        if before is partition:
            return
        if before is not None and self.watching:
            self._unwatch(before, fetched)
        fetched.partition = partition
        if partition is not None and self.watching:
            self._watch(partition, fetched)

    def _watch(self, partition: Partition, fetched: FetchedPartition) -> None:
        if self.replica_id < 0:
            partition.watch(fetched)
        else:
            partition.watch_as_replica(fetched)

    def _unwatch(self, partition: Partition, fetched: FetchedPartition) -> None:
        if self.replica_id < 0:
            partition.unwatch(fetched)
        else:
            partition.unwatch_as_replica(fetched)

    def start_watching(self) -> None:
        if not self.watching:
            self.watching = True
            for fetched in self.partitions.values():
                if fetched.partition is not None:
                    self._watch(fetched.partition, fetched)

    def close(self) -> None:
        if self.watching:
            for fetched in self.partitions.values():
                if fetched.partition is not None:
                    self._unwatch(fetched.partition, fetched)
            self.watching = False
        if self.waiter is not None:
            self.waiter.fire()


class FetchSessionCache:
    """All sessions of the broker, bounded; the least recently used gives way once it is old enough."""

    __slots__ = ("_sessions", "_slots_max", "_eviction_ms", "_random")

    def __init__(self, slots_max: int, eviction_ms: int, chance: random.Random) -> None:
        self._sessions: dict[int, FetchSession] = {}  # least recently used first
        self._slots_max = slots_max
        self._eviction_ms = eviction_ms
        self._random = chance

    def __len__(self) -> int:
        return len(self._sessions)

    def create(
        self,
        uses_topic_ids: bool,
        now_ms: float,
        replica_id: int = -1,
        news: HighWatermarkNews | None = None,
    ) -> FetchSession | None:
        """None when there is no room: the fetch is then answered without a session, which every client
        accepts. A replica takes the place of a consumer, however young.
        """
        if len(self._sessions) >= self._slots_max:
            oldest = next(iter(self._sessions.values()), None)
            if replica_id >= 0:
                oldest = next((each for each in self._sessions.values() if each.replica_id < 0), None)
                if oldest is None:
                    return None
            elif (
                oldest is None
                or oldest.waiter is not None
                or now_ms - oldest.last_used_ms < self._eviction_ms
            ):
                return None
            self.remove(oldest)
        session_id = self._random.randrange(1, 2**31)
        while session_id in self._sessions:
            session_id = self._random.randrange(1, 2**31)
        session = FetchSession(session_id, uses_topic_ids, now_ms, replica_id, news)
        self._sessions[session_id] = session
        return session

    def get(
        self, session_id: int, epoch: int, uses_topic_ids: bool, now_ms: float, replica_id: int = -1
    ) -> FetchSession:
        """The session of an incremental fetch; its epoch moves on. Nobody takes another's."""
        session = self._sessions.get(session_id)
        if session is None or session.replica_id != replica_id:
            raise KafkaError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.epoch != epoch:
            raise KafkaError(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if session.uses_topic_ids != uses_topic_ids:
            raise KafkaError(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        session.epoch = 1 if epoch == _EPOCH_MAX else epoch + 1
        session.last_used_ms = now_ms
        self._sessions[session_id] = self._sessions.pop(session_id)
        return session

    def remove_by_id(self, session_id: int) -> None:
        session = self._sessions.get(session_id)
        if session is not None:
            self.remove(session)

    def remove(self, session: FetchSession) -> None:
        del self._sessions[session.id]
        session.close()
