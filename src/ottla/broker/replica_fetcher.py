"""Copies partitions from their leaders: one task for each leader and fetcher number.

A `ReplicaFetcher` keeps one incremental fetch session with its leader and has one request under way. It names
only the partitions whose position changed since the last one; the answer holds only those with news.
The bytes of the answer are appended as they lie in its buffer, a slice of the loop's time at a time.

What an answer asks for is decided in `replication/follower.py`; here it is carried out. Cuts are carried out
together, since each writes checkpoints. A partition whose answer cannot be used waits with growing pauses, up
to `replica.fetch.backoff.ms`, and the others go on; if the leader cannot be reached, all wait.

A partition that is added while a request waits at the leader does not wait with it: a second request on the
same session makes the leader answer the first.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from math import inf
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from ottla.log.turn import Turn
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.types import TopicPartition
from ottla.ports.effects import DiskJob, Steps, Waiter
from ottla.ports.peers import Address, PeerUnavailable
from ottla.replication.follower import (
    IGNORE,
    AskRange,
    AwaitMetadata,
    Copy,
    Cut,
    Restart,
    Retry,
    decide,
    decide_by_range,
    is_leader_unsettled,
)
from ottla.replication.partition import Partition
from ottla.replication.throttle import Throttle
from ottla.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from ottla.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)

if TYPE_CHECKING:
    from ottla.broker.node import Node
    from ottla.broker.settings import ReplicationSettings

logger = logging.getLogger(__name__)

FETCH_VERSION: Final = 18
LIST_OFFSETS_VERSION: Final = 9
_LATEST: Final = -1
_EARLIEST: Final = -2

RETRY_MS_MIN: Final = 20.0
"""The first pause: usually the leader has only not yet heard that it is one."""
_SESSION_EPOCH_MAX: Final = 2**31 - 1
_SESSION_ERRORS: Final = frozenset(
    (
        ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
        ErrorCode.INVALID_FETCH_SESSION_EPOCH,
        ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
    )
)


class Followed:
    """One partition that a fetcher copies, under one leader epoch."""

    __slots__ = ("partition", "leader_epoch", "asked_offset", "first_request", "due_ms", "failures")

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.leader_epoch = partition.leader_epoch
        self.asked_offset = -1
        self.first_request = inf
        """The number of the request that named it first. Answers to earlier ones are not about it, but about
        the same partition under another epoch."""
        self.due_ms = 0.0
        """Not before this time; 0 when it does not wait."""
        self.failures = 0

    @property
    def key(self) -> tuple[bytes, int]:
        return self.partition.topic_id, self.partition.tp.partition

    @property
    def is_current(self) -> bool:
        """Whether the partition still follows the leader of this epoch."""
        partition = self.partition
        return (
            partition.leader_epoch == self.leader_epoch and not partition.is_leader and not partition.deleted
        )


class ReplicaFetchers:
    """All fetchers of a node. `follow` and `unfollow` as the partitions' roles change."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._fetchers: dict[tuple[int, int], ReplicaFetcher] = {}
        self._places: dict[Partition, tuple[ReplicaFetcher, Followed]] = {}
        self._stopped = False

    def __len__(self) -> int:
        return len(self._places)

    def follow(self, partition: Partition) -> None:
        """Begins to copy from the partition's leader, or goes on doing so."""
        if self._stopped:
            return
        key = (partition.leader_id, self._number_of(partition.tp))
        place = self._places.get(partition)
        if place is not None:
            fetcher, followed = place
            if fetcher.key == key and followed.leader_epoch == partition.leader_epoch:
                return
            self.unfollow(partition)
        fetcher = self._fetchers.get(key) or ReplicaFetcher(self._node, key)
        self._fetchers[key] = fetcher
        followed = Followed(partition)
        self._places[partition] = (fetcher, followed)
        fetcher.add(followed)

    def unfollow(self, partition: Partition) -> None:
        place = self._places.pop(partition, None)
        if place is not None:
            fetcher, followed = place
            fetcher.remove(followed)
            if not fetcher.followed:
                del self._fetchers[fetcher.key]

    def settings_changed(self) -> None:
        """`num.replica.fetchers` may have: every partition goes where it belongs now."""
        for partition in tuple(self._places):
            self.follow(partition)

    def stop(self) -> None:
        self._stopped = True
        for partition in tuple(self._places):
            self.unfollow(partition)

    def _number_of(self, tp: TopicPartition) -> int:
        count = self._node.settings.replication.fetchers_per_leader
        return (crc32(tp.topic.encode()) + tp.partition) % count


class ReplicaFetcher:
    def __init__(self, node: Node, key: tuple[int, int]) -> None:
        """`key` is the leader's id and this fetcher's number."""
        self.key = key
        self.leader_id, self.number = key
        self.followed: dict[tuple[bytes, int], Followed] = {}
        self._node = node
        self._session_id = 0
        self._session_epoch = 0
        self._changed: dict[tuple[bytes, int], None] = {}
        self._forgotten: dict[tuple[bytes, int], None] = {}
        self._waiting: dict[tuple[bytes, int], None] = {}
        """Those with a pause."""
        self._failures = 0
        self._due_ms = 0.0
        self._waiter: Waiter | None = None
        self._is_running = False
        self._polls = False
        """A request waits at the leader, and another may follow it."""
        self._requests = 0
        """How many were made."""
        self._hurries = False

    # --- what to copy -------------------------------------------------------------------------------------

    def add(self, followed: Followed) -> None:
        self.followed[followed.key] = followed
        self._changed[followed.key] = None
        self._forgotten.pop(followed.key, None)
        if not self._is_running:
            self._is_running = True
            self._node.driver.spawn(self._run(), f"fetcher {self.number} from node {self.leader_id}")
        elif self._waiter is not None:
            self._waiter.fire()
        elif self._polls and not self._hurries:
            self._hurries = True
            self._node.driver.spawn(self._hurry(), f"request of fetcher {self.number}")

    def remove(self, followed: Followed) -> None:
        key = followed.key
        if self.followed.get(key) is followed:
            del self.followed[key]
            self._changed.pop(key, None)
            self._waiting.pop(key, None)
            if self._session_id:
                self._forgotten[key] = None
            if not self.followed and self._waiter is not None:
                self._waiter.fire()

    # --- the task -----------------------------------------------------------------------------------------

    def _run(self) -> Steps[None]:
        try:
            while self.followed:
                now_ms = self._node.clock.monotonic_ms()
                request = self._next_request(now_ms) if now_ms >= self._due_ms else None
                if request is None:
                    self._waiter = Waiter(self._next_due_ms())
                    yield self._waiter
                    self._waiter = None
                    continue
                self._polls = request.session_id != 0
                try:
                    yield from self._exchange(request)
                finally:
                    self._polls = False
        finally:
            self._is_running = False
            self._reset_session()

    def _hurry(self) -> Steps[None]:
        """A second request, so that new partitions need not wait for the end of a long poll."""
        self._hurries = False
        if self._polls and self.followed and self._session_id:
            request = self._next_request(self._node.clock.monotonic_ms())
            if request is not None:
                request.max_wait_ms = 0
                self._polls = False
                yield from self._exchange(request)

    def _next_due_ms(self) -> float:
        """When somebody's pause ends."""
        if self._due_ms > self._node.clock.monotonic_ms():
            return self._due_ms
        dues = [self.followed[key].due_ms for key in self._waiting]
        return min([*dues, float("inf")])

    def _address(self) -> Address | None:
        broker = self._node.image.brokers.get(self.leader_id)
        if broker is None:
            return None
        endpoint = self._node.endpoint_of(broker)
        return Address(endpoint.host, endpoint.port)

    def _exchange(self, request: FetchRequest) -> Steps[None]:
        number = self._requests
        response = yield from self._call(request, FETCH_VERSION)
        if not isinstance(response, FetchResponse):
            return
        if response.error_code != ErrorCode.NONE:
            self._reset_session()
            if response.error_code not in _SESSION_ERRORS:
                self._unavailable(ErrorCode(response.error_code).name)
            return
        if request.session_id == 0:
            self._session_id = response.session_id
            self._session_epoch = 1 if response.session_id else 0
        elif response.session_id != request.session_id:
            self._reset_session()
        self._failures = 0
        yield from self._take(response, number)

    def _call(self, request: Any, version: int) -> Steps[Any]:
        """The answer, or None when there is none and all have to wait."""
        address = self._address()
        if address is None:
            self._reset_session()
            self._unavailable("it is not registered")
            return None
        settings = self._settings
        try:
            response = yield from self._node.peers.call(
                address, request, version, lane=f"replica-{self.number}", timeout_ms=settings.fetch_timeout_ms
            )
        except PeerUnavailable as error:
            self._reset_session()
            self._unavailable(str(error))
            return None
        return response

    def _unavailable(self, reason: str) -> None:
        if not self._failures:
            logger.info("cannot fetch from node %d: %s", self.leader_id, reason)
        self._failures += 1
        self._due_ms = self._node.clock.monotonic_ms() + self._pause_ms(self._failures)

    def _pause_ms(self, failures: int) -> float:
        longest_ms = float(self._settings.fetch_backoff_ms)
        return min(longest_ms, RETRY_MS_MIN * 2.0 ** min(failures - 1, 16))

    @property
    def _settings(self) -> ReplicationSettings:
        return self._node.settings.replication

    # --- asking -------------------------------------------------------------------------------------------

    def _reset_session(self) -> None:
        """The next request names everything again."""
        self._session_id = self._session_epoch = 0
        self._forgotten.clear()

    def _next_request(self, now_ms: float) -> FetchRequest | None:
        """None when there is nobody to ask for now."""
        settings = self._settings
        wait_ms = float(settings.fetch_wait_max_ms)
        if self._waiting:
            wait_ms = min(wait_ms, self._end_pauses(now_ms))
        is_full = self._session_id == 0
        keys: Iterable[tuple[bytes, int]] = self._changed
        if is_full:
            keys = [each for each in self.followed if each not in self._waiting]
            if not keys:
                return None
        elif len(self._waiting) == len(self.followed):
            return None
        request = FetchRequest(
            replica_state=ReplicaState(replica_id=self._node.node_id, replica_epoch=self._node.broker_epoch),
            max_wait_ms=int(wait_ms),
            min_bytes=settings.fetch_bytes_min,
            max_bytes=settings.fetch_bytes_max,
            session_id=self._session_id,
            session_epoch=self._session_epoch,
        )
        self._requests += 1
        topic: FetchTopic | None = None
        for key in keys:
            if topic is None or topic.topic_id != key[0]:
                topic = FetchTopic(topic_id=key[0])
                request.topics.append(topic)
            topic.partitions.append(self._position(self.followed[key], settings))
        for topic_id, index in self._forgotten:
            request.forgotten_topics_data.append(ForgottenTopic(topic_id=topic_id, partitions=[index]))
        self._changed = {}
        self._forgotten = {}
        if not is_full:
            self._session_epoch = 1 if self._session_epoch == _SESSION_EPOCH_MAX else self._session_epoch + 1
        return request

    def _position(self, followed: Followed, settings: ReplicationSettings) -> FetchPartition:
        log = followed.partition.log
        followed.first_request = min(followed.first_request, self._requests)
        followed.asked_offset = log.log_end_offset
        return FetchPartition(
            partition=followed.partition.tp.partition,
            current_leader_epoch=followed.leader_epoch,
            fetch_offset=log.log_end_offset,
            last_fetched_epoch=log.latest_epoch,
            log_start_offset=log.log_start_offset,
            partition_max_bytes=settings.fetch_partition_bytes_max,
            high_watermark=log.high_watermark,
        )

    def _end_pauses(self, now_ms: float) -> float:
        """Names those whose pause is over; the time until the next one's is."""
        next_ms = float("inf")
        for key in tuple(self._waiting):
            followed = self.followed[key]
            if followed.due_ms <= now_ms:
                followed.due_ms = 0.0
                del self._waiting[key]
                self._changed[key] = None
                self._forgotten.pop(key, None)
            else:
                next_ms = min(next_ms, followed.due_ms - now_ms)
        return next_ms

    def _pause(self, followed: Followed) -> None:
        followed.failures += 1
        now_ms = self._node.clock.monotonic_ms()
        followed.due_ms = now_ms + self._pause_ms(followed.failures)
        self._waiting[followed.key] = None
        self._changed.pop(followed.key, None)

    def _leave_out(self, followed: Followed) -> None:
        """The leader's session forgets it until its pause is over."""
        if self._session_id:
            self._forgotten[followed.key] = None

    def _await_metadata(self, followed: Followed) -> None:
        """Until it is followed under another epoch."""
        followed.due_ms = float("inf")
        self._waiting[followed.key] = None
        self._changed.pop(followed.key, None)

    def _resume(self, followed: Followed) -> None:
        """An answer that can be used."""
        followed.failures = 0
        if followed.due_ms:
            followed.due_ms = 0.0
            self._waiting.pop(followed.key, None)

    # --- taking answers -----------------------------------------------------------------------------------

    def _take(self, response: FetchResponse, number: int) -> Steps[None]:
        turn = Turn(self._node.clock)
        cuts: dict[Followed, int] = {}
        out_of_range: list[Followed] = []
        to_flush: list[Followed] = []
        for topic in response.responses:
            for data in topic.partitions:
                if turn.over():
                    yield turn.rest()
                followed = self.followed.get((topic.topic_id, data.partition_index))
                if followed is None or not followed.is_current or followed.first_request > number:
                    continue
                log = followed.partition.log
                action = decide(log, followed.asked_offset, data)
                if isinstance(action, Copy):
                    if self._copy(followed, action):
                        to_flush.append(followed)
                elif isinstance(action, Cut):
                    cuts[followed] = action.offset
                elif isinstance(action, Restart):
                    self._restart(followed, action.offset)
                elif isinstance(action, AskRange):
                    out_of_range.append(followed)
                elif isinstance(action, Retry):
                    self._refused(followed, action.code)
                elif isinstance(action, AwaitMetadata):
                    self._await_metadata(followed)
                else:
                    self._changed[followed.key] = None
        if cuts:
            self._cut(cuts)
        if out_of_range:
            yield from self._find_range(out_of_range)
        for followed in to_flush:
            yield from self._flush(followed)

    def _copy(self, followed: Followed, action: Copy) -> bool:
        """Whether the flush policy wants what was appended on disk before the leader may count on it."""
        partition = followed.partition
        log = partition.log
        start_offset = log.log_start_offset
        try:
            size_bytes = partition.copy(
                action.records, action.high_watermark, action.log_start_offset, self._node.clock.now_ms()
            )
        except KafkaError as error:
            if error.code == ErrorCode.KAFKA_STORAGE_ERROR:
                self._node.logs.storage_failed(log, error)
            elif not followed.failures:
                logger.warning(
                    "%s cannot be copied from node %d beyond offset %d (it is tried again, and again): %s",
                    *(partition.tp, self.leader_id, log.log_end_offset, error),
                )
            if followed.is_current and self.followed.get(followed.key) is followed:
                self._pause(followed)
                # The leader would send the same with every answer.
                self._leave_out(followed)
            return False
        self._resume(followed)
        if size_bytes and self._node.replicas.follower_throttle is not None:
            self._throttle(followed, size_bytes, self._node.replicas.follower_throttle)
        if followed.due_ms:
            return False
        if size_bytes or log.log_start_offset != start_offset:
            self._changed[followed.key] = None
        return size_bytes > 0 and log.config.flush_messages <= log.unflushed_messages

    def _throttle(self, followed: Followed, size_bytes: int, throttle: Throttle) -> None:
        """Leaves a replica that is being moved here out of the session while its share is used up."""
        node = self._node
        tp = followed.partition.tp
        state = node.image.partition(tp.topic, tp.partition)
        if state is None or node.node_id in state.isr:
            return
        if not node.replicas.is_throttled("follower", tp, node.node_id):
            return
        now_ms = node.clock.monotonic_ms()
        throttle.spend(size_bytes, now_ms)
        wait_ms = throttle.wait_ms(now_ms)
        if wait_ms:
            followed.due_ms = now_ms + wait_ms
            self._waiting[followed.key] = None
            self._changed.pop(followed.key, None)
            self._leave_out(followed)

    def _flush(self, followed: Followed) -> Steps[None]:
        log = followed.partition.log
        try:
            ticket = log.begin_flush()
            if ticket is not None:
                try:
                    yield DiskJob(ticket.run)
                finally:
                    log.end_flush(ticket, self._node.clock.now_ms())
        except (OSError, KafkaError) as error:
            self._node.logs.storage_failed(log, error)

    def _refused(self, followed: Followed, code: ErrorCode) -> None:
        if code and not is_leader_unsettled(code) and not followed.failures:
            logger.warning("%s: node %d answers %s", followed.partition.tp, self.leader_id, code.name)
        self._pause(followed)

    def _cut(self, cuts: dict[Followed, int]) -> None:
        for followed, offset in cuts.items():
            log = followed.partition.log
            logger.info("%s is cut from %d to %d", log.tp, log.log_end_offset, offset)
        try:
            self._node.logs.truncate({followed.partition.tp: offset for followed, offset in cuts.items()})
        except KafkaError as error:
            logger.error("%s", error)
        for followed in cuts:
            if self.followed.get(followed.key) is followed:
                if followed.partition.log.failure is None:
                    self._changed[followed.key] = None
                else:
                    self._pause(followed)

    def _restart(self, followed: Followed, offset: int) -> None:
        log = followed.partition.log
        logger.info("%s is emptied and begins again at %d", log.tp, offset)
        try:
            self._node.logs.truncate_fully(log.tp, offset)
            self._changed[followed.key] = None
        except KafkaError as error:
            logger.error("%s", error)
            if self.followed.get(followed.key) is followed:
                self._pause(followed)

    def _find_range(self, out_of_range: list[Followed]) -> Steps[None]:
        """Asks the leader where its logs begin and end, for those that lie outside."""
        ends = yield from self._list_offsets(out_of_range, _LATEST)
        starts = yield from self._list_offsets(out_of_range, _EARLIEST)
        for followed in out_of_range:
            if self.followed.get(followed.key) is not followed or not followed.is_current:
                continue
            tp = followed.partition.tp
            start, end = starts.get(tp), ends.get(tp)
            if start is None or end is None:
                self._pause(followed)
                continue
            action = decide_by_range(followed.partition.log, start, end)
            if isinstance(action, Cut):
                self._cut({followed: action.offset})
            elif isinstance(action, Restart):
                self._restart(followed, action.offset)
            elif action is IGNORE:
                self._pause(followed)  # not at once: the same answer would come again and again

    def _list_offsets(self, partitions: list[Followed], timestamp: int) -> Steps[dict[TopicPartition, int]]:
        topics: dict[str, ListOffsetsTopic] = {}
        for followed in partitions:
            tp = followed.partition.tp
            topic = topics.setdefault(tp.topic, ListOffsetsTopic(name=tp.topic))
            topic.partitions.append(
                ListOffsetsPartition(
                    partition_index=tp.partition,
                    current_leader_epoch=followed.leader_epoch,
                    timestamp=timestamp,
                )
            )
        request = ListOffsetsRequest(replica_id=self._node.node_id, topics=list(topics.values()))
        response = yield from self._call(request, LIST_OFFSETS_VERSION)
        if not isinstance(response, ListOffsetsResponse):
            return {}
        return {
            TopicPartition(topic.name, each.partition_index): each.offset
            for topic in response.topics
            for each in topic.partitions
            if each.error_code == ErrorCode.NONE
        }
