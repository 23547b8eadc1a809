"""The low-level consumer: every request carries its offset, and nothing is remembered between two of them.

Part of the core, under `ottla.SimpleConsumer` and `ottla.aio.SimpleConsumer`; what batch loads use. It knows
the cluster's leaders, follows those that move, and asks all that are concerned at once. Requests that wait
for data at a broker take connections of their own, so that callers beside each other do not wait for each
other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ottla.client.backoff import Backoff
from ottla.client.consuming.bounded import within
from ottla.client.consuming.decode import Decoder
from ottla.client.consuming.fetch_answers import LEADER_MOVED, PASSING, STALE_METADATA
from ottla.client.consuming.fetched_data import FetchedData, arrow_of
from ottla.client.consuming.offset_lookup import NO_OFFSET, OffsetLookup
from ottla.client.consuming.reset_policy import EARLIEST, LATEST, MAX_TIMESTAMP
from ottla.client.effects import Answer, Call, CallMany, ClientSteps, Pause, Task, Versioned, Wait
from ottla.client.errors import (
    InvalidArgument,
    OperationTimedOut,
    OttlaError,
    ProtocolError,
    ServerError,
)
from ottla.model.errors import ErrorCode
from ottla.model.types import NO_TOPIC_ID, TopicPartition
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData

if TYPE_CHECKING:
    from ottla.client.consuming.arrow import ArrowForm
    from ottla.client.session import Session
    from ottla.client.settings import ConsumerSettings
    from ottla.client.view import ClusterView
    from ottla.wire.record_batch import PendingColumns

FETCH_BYTES: Final = 1_048_576
RANGE_FETCH_BYTES: Final = 4_194_304
"""What `read_range` asks for at a time: some ten thousand records of 100 bytes to a batch of columns."""
WAIT_GRACE_MS: Final = 500
"""So much longer a broker has to answer: one that says what stands in the way is better than silence."""
_NO_SESSION_EPOCH: Final = -1
_OTHER_TOPIC_MAX: Final = 3
"""So often metadata may speak of another topic of the same name: the broker that was asked may be behind."""


class Fetch(NamedTuple):
    """One partition of a `multifetch`."""

    topic: str
    partition: int
    offset: int
    max_bytes: int = FETCH_BYTES
    topic_id: bytes = NO_TOPIC_ID
    """Where it is given, a topic of the same name that is another one is not read: UnknownTopicId."""

    def fits(self, view: ClusterView) -> bool:
        """Whether the topic of this name is the one that is meant, as far as anybody can tell."""
        return self.topic_id == NO_TOPIC_ID or view.topic_id(self.topic) in (self.topic_id, NO_TOPIC_ID)


class _Open:
    """A fetch of a multifetch that has no answer yet."""

    __slots__ = ("index", "fetch", "tp", "failure", "redirected", "misfits")

    def __init__(self, index: int, fetch: Fetch) -> None:
        self.index = index
        self.fetch = fetch
        self.tp = TopicPartition(fetch.topic, fetch.partition)
        self.failure: OttlaError | None = None
        self.redirected = False
        """A broker has already sent us to a replica nearby."""
        self.misfits = 0
        """How often the topic of this name was another one."""


def milliseconds(time: int | datetime) -> int:
    """A time as the protocol has it; EARLIEST, LATEST and MAX_TIMESTAMP pass."""
    if isinstance(time, datetime):
        return int(time.timestamp() * 1000)
    if not isinstance(time, int) or (time < 0 and time not in (EARLIEST, LATEST, MAX_TIMESTAMP)):
        raise InvalidArgument(f"{time!r} is not a time: give milliseconds since 1970 or a datetime")
    return time


class SimpleConsumerCore:
    def __init__(self, session: Session, settings: ConsumerSettings) -> None:
        self._session = session
        self._settings = settings
        self._read_committed = settings.isolation_level == "read_committed"
        self._decoder = Decoder.of(settings)
        self._lookup = OffsetLookup(session, read_committed=self._read_committed, lane=self._free_lane)
        self._lanes: dict[int, set[int]] = {}
        """The connections to each broker that a fetch uses just now."""
        self._replicas: dict[TopicPartition, tuple[int, float]] = {}
        """What to read from instead of the leader (KIP-392), and until when."""

    # -- fetching --

    def fetch(self, fetch: Fetch, **options: Any) -> ClientSteps[FetchedData]:
        """`multifetch` of one, raising its error."""
        (found,) = yield from self.multifetch([fetch], **options)
        if found.error is not None:
            raise found.error
        return found

    def multifetch(
        self,
        fetches: Iterable[Fetch | tuple[Any, ...]],
        *,
        max_wait_ms: int = 500,
        min_bytes: int = 1,
        timeout_ms: float | None = None,
    ) -> ClientSteps[list[FetchedData]]:
        """All of them, each from its leader and all leaders at once, in the order of the question."""
        wanted = [_checked(fetch) for fetch in fetches]
        limit_ms = self._settings.default_api_timeout_ms if timeout_ms is None else timeout_ms
        session, settings = self._session, self._settings
        clock = session.host.clock
        backoff = Backoff(
            clock.monotonic_ms() + limit_ms,
            session.host.chance,
            first_ms=settings.retry_backoff_ms,
            max_ms=settings.retry_backoff_max_ms,
        )
        found: list[FetchedData | None] = [None] * len(wanted)
        pending = [_Open(index, fetch) for index, fetch in enumerate(wanted)]
        view = session.cluster.view
        refresh = any(not (view.knows(fetch.topic, fetch.partition) and fetch.fits(view)) for fetch in wanted)
        while pending:
            moved = False
            failure: OttlaError | None = None
            try:
                left_ms = max(WAIT_GRACE_MS, backoff.deadline_ms - clock.monotonic_ms())
                if refresh:
                    steps = session.cluster.refresh(sorted({each.tp.topic for each in pending}))
                    yield from within(session.host, left_ms, steps, "the metadata")
                moved = yield from self._attempt(pending, found, max_wait_ms, min_bytes, left_ms)
            except OttlaError as error:
                failure = error
            pending = [each for each in pending if found[each.index] is None]
            if not pending or moved:
                refresh = False
                continue  # somebody told us where to go: no need to wait
            wait_ms = backoff.next_wait_ms(clock.monotonic_ms())
            if wait_ms is None or (failure is not None and not failure.retriable):
                for each in pending:
                    cause = failure or each.failure
                    ended: OttlaError = OperationTimedOut(
                        f"{each.tp}: no answer within {limit_ms / 1000:g} s" + (f": {cause}" if cause else "")
                    )
                    ended.__cause__ = cause
                    if failure is not None and not failure.retriable:
                        ended = failure
                    found[each.index] = FetchedData(each.tp, each.fetch.offset, self._decoder, error=ended)
                break
            yield Pause(wait_ms)
            refresh = True
        return [each for each in found if each is not None]

    def _attempt(
        self,
        pending: list[_Open],
        found: list[FetchedData | None],
        max_wait_ms: int,
        min_bytes: int,
        left_ms: float,
    ) -> ClientSteps[bool]:
        """One request to each broker concerned. True when a partition can be tried elsewhere at once."""
        by_node = self._by_node(pending, found)
        lanes: list[tuple[int, int]] = []
        try:
            calls: list[Call] = []
            for node_id, asked in by_node:
                lane = self._free_lane(node_id)
                self._lanes.setdefault(node_id, set()).add(lane)
                lanes.append((node_id, lane))
                call = self._call(node_id, lane, asked, max_wait_ms, min_bytes)
                # A broker that is silent does not hold the caller up for much longer than it wants to wait.
                limit_ms = int(max(left_ms, max_wait_ms + WAIT_GRACE_MS))
                calls.append(replace(call, timeout_ms=min(call.timeout_ms or limit_ms, limit_ms)))
            answers: list[Answer] = yield CallMany(calls)
        finally:
            for node_id, lane in lanes:
                self._lanes[node_id].discard(lane)
        moved = False
        for (_, asked), answer in zip(by_node, answers, strict=True):
            try:
                response: FetchResponse = answer.get()
                if response.error_code:
                    raise ServerError(response.error_code)
            except OttlaError as error:
                for each in asked:
                    self._replicas.pop(each.tp, None)
                    each.failure = error
                    if not error.retriable:
                        found[each.index] = self._failed(each, error)
                continue
            moved = self._take_in(asked, response, found) or moved
        return moved

    def _by_node(
        self, pending: list[_Open], found: list[FetchedData | None]
    ) -> list[tuple[int, list[_Open]]]:
        """Who is asked for what. A partition may be in one request only once."""
        groups: list[tuple[int, list[_Open]]] = []
        places: dict[tuple[int, int], list[_Open]] = {}
        repeats: dict[TopicPartition, int] = {}
        for each in pending:
            try:
                node_id = self._source(each.tp)
                if not each.fetch.fits(self._session.cluster.view):
                    each.misfits += 1
                    raise ServerError(ErrorCode.UNKNOWN_TOPIC_ID, subject=str(each.tp))
            except ServerError as error:
                each.failure = error
                missing = error.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                if not error.retriable or missing or each.misfits > _OTHER_TOPIC_MAX:
                    found[each.index] = self._failed(each, error)
                continue
            repeat = repeats.get(each.tp, -1) + 1
            repeats[each.tp] = repeat
            place = places.get((node_id, repeat))
            if place is None:
                place = places[node_id, repeat] = []
                groups.append((node_id, place))
            place.append(each)
        return groups

    def _source(self, tp: TopicPartition) -> int:
        view = self._session.cluster.view
        replica, until_ms = self._replicas.get(tp, (-1, 0.0))
        if replica in view.brokers and self._session.host.clock.monotonic_ms() < until_ms:
            return replica
        return view.leader(tp.topic, tp.partition)

    def _free_lane(self, node_id: int) -> int:
        """The first connection to a broker that no fetch waits on."""
        busy = self._lanes.get(node_id, set())
        lane = 0
        while lane in busy:
            lane += 1
        return lane

    def _call(self, node_id: int, lane: int, asked: list[_Open], max_wait_ms: int, min_bytes: int) -> Call:
        settings, view = self._settings, self._session.cluster.view
        ids = {each.tp.topic: view.topic_id(each.tp.topic) for each in asked}

        def build(version: int) -> FetchRequest:
            topics: dict[str, list[FetchPartition]] = {}
            for each in asked:
                partition = FetchPartition(
                    partition=each.tp.partition,
                    current_leader_epoch=view.partition(*each.tp).leader_epoch,
                    fetch_offset=each.fetch.offset,
                    partition_max_bytes=each.fetch.max_bytes,
                )
                topics.setdefault(each.tp.topic, []).append(partition)
            return FetchRequest(
                max_wait_ms=max_wait_ms,
                min_bytes=min_bytes,
                max_bytes=max(settings.fetch_max_bytes, max(each.fetch.max_bytes for each in asked)),
                isolation_level=1 if self._read_committed else 0,
                rack_id=settings.client_rack,
                session_epoch=_NO_SESSION_EPOCH,
                topics=[
                    FetchTopic(topic_id=ids[name], partitions=partitions)
                    if version >= 13
                    else FetchTopic(topic=name, partitions=partitions)
                    for name, partitions in topics.items()
                ],
            )

        return Call(
            node_id,
            Versioned(FetchRequest.API_KEY, build),
            version_max=12 if NO_TOPIC_ID in ids.values() else FetchRequest.MAX_VERSION,
            timeout_ms=max_wait_ms + settings.request_timeout_ms,
            lane=lane,
        )

    def _take_in(self, asked: list[_Open], response: FetchResponse, found: list[FetchedData | None]) -> bool:
        view = self._session.cluster.view
        names = {view.topic_id(each.tp.topic): each.tp.topic for each in asked}
        answers: dict[TopicPartition, PartitionData] = {}
        for topic in response.responses:
            name = topic.topic or names.get(bytes(topic.topic_id), "")
            for data in topic.partitions:
                answers[TopicPartition(name, data.partition_index)] = data
        moved = False
        for each in asked:
            answer = answers.get(each.tp)
            if answer is None:
                each.failure = ServerError(
                    ErrorCode.UNKNOWN_SERVER_ERROR, "the broker's answer leaves it out", subject=str(each.tp)
                )
            elif answer.error_code:
                moved = self._refused(each, answer, response, found) or moved
            elif answer.preferred_read_replica >= 0 and not answer.records:
                until_ms = self._session.host.clock.monotonic_ms() + self._settings.metadata_max_age_ms
                self._replicas[each.tp] = answer.preferred_read_replica, until_ms
                # A replica that nobody knows, or one that names another: the next attempt has to wait.
                moved = answer.preferred_read_replica in view.brokers and not each.redirected
                each.redirected = True
            else:
                found[each.index] = FetchedData(each.tp, each.fetch.offset, self._decoder, answer)
        return moved

    def _refused(
        self, each: _Open, data: PartitionData, response: FetchResponse, found: list[FetchedData | None]
    ) -> bool:
        """A partition's error: tried again if it may pass; True if that may be done at once."""
        code = data.error_code
        error = ServerError(code, subject=f"{each.tp} at offset {each.fetch.offset}")
        each.failure = error
        followed = self._replicas.pop(each.tp, None) is not None
        if code == ErrorCode.OFFSET_OUT_OF_RANGE and followed:
            return False  # a follower may be behind: the leader knows
        if code in LEADER_MOVED and data.current_leader.leader_id >= 0:
            leader = data.current_leader
            return self._session.metadata.leader_moved(
                *each.tp, leader.leader_id, leader.leader_epoch, response.node_endpoints
            )
        if code not in STALE_METADATA and code not in PASSING:
            found[each.index] = self._failed(each, error)
        return False

    def _failed(self, each: _Open, error: OttlaError) -> FetchedData:
        return FetchedData(each.tp, each.fetch.offset, self._decoder, error=error)

    def read_range(
        self,
        topic: str,
        partition: int,
        start: int,
        end: int,
        max_bytes: int = RANGE_FETCH_BYTES,
        form: ArrowForm | None = None,
        topic_id: bytes = NO_TOPIC_ID,
    ) -> RangeReader:
        if start < 0 or end < start:
            raise InvalidArgument(f"{topic}-{partition}: {start} to {end} is not a range of offsets")
        first = Fetch(topic, partition, start, max_bytes, topic_id)
        return RangeReader(self, self._session, first, end, form)

    # -- offsets --

    def partitions(self, topic: str) -> ClientSteps[list[int]]:
        view = yield from self._session.cluster.discover([topic])
        return [partition.index for partition in view.topic(topic).partitions]

    def offset_of(
        self, topic: str, partition: int, time: int | datetime, timeout_ms: float | None = None
    ) -> ClientSteps[int | None]:
        """The first record at or after a time, or EARLIEST, LATEST, MAX_TIMESTAMP; None if there is none."""
        tp = TopicPartition(topic, partition)
        limit_ms = self._settings.default_api_timeout_ms if timeout_ms is None else timeout_ms
        steps = self._lookup.offsets({tp: milliseconds(time)}, limit_ms)
        found = yield from within(self._session.host, limit_ms + WAIT_GRACE_MS, steps, f"an offset of {tp}")
        return None if found[tp].offset == NO_OFFSET else found[tp].offset

    def offset_before(
        self,
        topic: str,
        partition: int,
        time: int | datetime,
        max_count: int = 1,
        timeout_ms: float | None = None,
    ) -> ClientSteps[list[int]]:
        """Offsets at which reading may begin, newest first: that of the first record at or after the time
        (the end, where none is that young), and before it such that they cut the log into equal parts.
        """
        if max_count < 1:
            raise InvalidArgument(f"max_count is {max_count}: ask for one offset at least")
        first = yield from self.offset_of(topic, partition, EARLIEST, timeout_ms)
        assert first is not None
        newest = first
        when = milliseconds(time)
        if when != EARLIEST:
            found = yield from self.offset_of(topic, partition, when, timeout_ms)
            if found is None:
                found = yield from self.offset_of(topic, partition, LATEST, timeout_ms)
            assert found is not None
            newest = max(first, found)
        parts = max(1, max_count - 1)
        cuts = [newest - (newest - first) * i // parts for i in range(max_count)]
        return list(dict.fromkeys(cuts))


class RangeReader:
    """Reads a range of offsets from front to back, a fetch ahead of whoever asks."""

    def __init__(
        self,
        core: SimpleConsumerCore,
        session: Session,
        fetch: Fetch,
        end: int,
        form: ArrowForm | None = None,
    ) -> None:
        self._core = core
        self._session = session
        self._fetch = fetch
        self._end = end
        self._form = form
        self._ahead: Task[list[FetchedData]] | None = None

    @property
    def next_offset(self) -> int:
        """Behind everything that was handed out."""
        return self._fetch.offset

    def next_batch(self) -> ClientSteps[Any]:
        """The next rows as a `pyarrow.RecordBatch`; None at the end. OperationTimedOut when the range goes on
        beyond the log and nothing comes for `default.api.timeout.ms`.
        """
        clock = self._session.host.clock
        patience_ms = self._session.settings.default_api_timeout_ms
        deadline_ms = clock.monotonic_ms() + patience_ms
        while self._fetch.offset < self._end:
            fetched = yield from self._next()
            if fetched.next_offset == fetched.offset:
                for _ in fetched.parts():  # raises where there are bytes that are no whole batch
                    pass
                if clock.monotonic_ms() >= deadline_ms:
                    raise OperationTimedOut(
                        f"{self._fetch.topic}-{self._fetch.partition}: nothing came after offset "
                        f"{fetched.offset} within {patience_ms / 1000:g} s, and the range ends at {self._end}"
                    )
                continue
            self._fetch = self._fetch._replace(offset=fetched.next_offset)
            if self._fetch.offset < self._end:
                self._send()
            parts: list[PendingColumns] = []
            try:
                parts.extend(fetched.parts())
            except ProtocolError as error:
                self.cancel()
                self._fetch = self._fetch._replace(offset=error.offset)  # where the next call raises it
                if not any(part.row_count for part in parts):
                    raise
            batch = arrow_of(fetched, parts, self._form, self._end)
            if batch.num_rows:
                return batch
        return None

    def cancel(self) -> None:
        """Gives up what is on its way; a plain call."""
        if self._ahead is not None:
            self._ahead.cancel()
            self._ahead = None

    def _send(self) -> None:
        name = f"reading {self._fetch.topic}-{self._fetch.partition} from {self._fetch.offset}"
        self._ahead = self._session.host.spawn(self._core.multifetch([self._fetch]), name)

    def _next(self) -> ClientSteps[FetchedData]:
        if self._ahead is None:
            self._send()
        task = self._ahead
        assert task is not None
        while not task.done:
            yield Wait(task.finished)
        self._ahead = None
        (fetched,) = task.result()
        if fetched.error is not None:
            raise fetched.error
        return fetched


def _checked(fetch: Fetch | tuple[Any, ...]) -> Fetch:
    made = fetch if isinstance(fetch, Fetch) else Fetch(*fetch)
    if made.offset < 0:
        raise InvalidArgument(f"{made.topic}-{made.partition}: {made.offset} is not an offset")
    if made.max_bytes < 1 or made.max_bytes > 2**31 - 1:
        raise InvalidArgument(f"{made.topic}-{made.partition}: max_bytes cannot be {made.max_bytes}")
    return made
