"""Fetch (key 1): give readers whole batches straight from the files.

v4  isolation level; v7 sessions (KIP-227); v9 leader epochs; v11 rack; v12 flexible, diverging epochs; v13
topic ids; v15 the replica's id moves to a tagged field; v16 endpoints of new leaders; v17 directory ids;
v18 the high watermark a follower knows.

A response is cut at the high watermark (or the last stable offset), holds file slices and no copies, and
waits for `min_bytes` without holding any slice.

A replica (its id is in the request) reads up to the log's end. Where it asks, it has everything before: that
moves its leader's view of it, first for all partitions that the request names, then the answers are looked
for. It is believed only with the broker epoch of its registration, for partitions whose replica it is, under
the current leader epoch, and where its log does not diverge from this one.

A consumer may be sent to a replica in its own rack (KIP-392), and there reads up to what that replica knows
to be committed.
"""

from __future__ import annotations

from contextlib import suppress

from ottla.broker.context import RequestContext
from ottla.broker.fetch_replies import usual_reply
from ottla.broker.fetch_sessions import (
    FINAL_EPOCH,
    INITIAL_EPOCH,
    NO_SESSION_ID,
    FetchedPartition,
    FetchSession,
)
from ottla.broker.node import Node
from ottla.broker.replica_selector import closest_replica
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.limits import FETCH_STRANGERS_MAX
from ottla.ports.disk import Buffer, FileSlice
from ottla.ports.effects import Steps, Waiter
from ottla.replication.leader import divergence
from ottla.replication.partition import READ_COMMITTED, Partition
from ottla.wire.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)

FULL_EPOCHS = (INITIAL_EPOCH, FINAL_EPOCH)
"""Requests that name all their partitions, whose answers have to name them all, too."""

CONSUMER = -1
"""The replica id of clients."""

FOLLOWER_READS_SINCE = 11
"""Older consumers do not know that there is more than the leader (KIP-392)."""

Reply = FetchResponse | list[Buffer | FileSlice]
"""A list is a whole frame."""

_LATER = PartitionData()
"""There is something to read, but no room for it in this response."""


def handle(ctx: RequestContext, request: FetchRequest) -> Reply | Steps[Reply]:
    now = ctx.node.clock.monotonic_ms()
    replica_id = request.replica_id if ctx.version < 15 else request.replica_state.replica_id
    try:
        session = _session_of(ctx, request, now, replica_id if replica_id >= 0 else CONSUMER)
    except KafkaError as error:
        return FetchResponse(error_code=error.code, session_id=NO_SESSION_ID)
    if session.moved:
        _take_progress(ctx, request, session, now)
    collected = _Collected(ctx, session, request)
    if collected.is_enough or request.max_wait_ms <= 0 or not session.partitions:
        return collected.respond()
    if session.news is not None and collected.told:
        session.news.tell(session)
    collected.release()
    return _wait(ctx, request, session, now + request.max_wait_ms, collected)


def release(response: FetchResponse) -> None:
    """Gives back the slices of a response that will not be sent."""
    for topic in response.responses:
        for data in topic.partitions:
            if isinstance(data.records, FileSlice):
                data.records.release()


def _wait(
    ctx: RequestContext,
    request: FetchRequest,
    session: FetchSession,
    deadline_ms: float,
    collected: _Collected,
) -> Steps[Reply]:
    session.start_watching()
    if session.waiter is not None:
        session.waiter.fire()  # a client that pipelines on one session gets the earlier answer first
    try:
        while True:
            waiter = Waiter(deadline_ms)
            session.waiter = waiter
            # What a transaction holds back becomes readable with its marker, whose own size says nothing.
            session.missing_bytes = (
                0 if request.isolation_level == READ_COMMITTED else collected.min_bytes - collected.size_bytes
            )
            ctx.peer.add_waiter(waiter)
            in_time = yield waiter
            ctx.peer.discard_waiter(waiter)
            is_last = session.waiter is waiter
            if is_last:
                session.waiter = None
            collected = _Collected(ctx, session, request)
            if (
                collected.is_enough
                or (session.has_news and collected.told)
                or not in_time
                or not is_last
                or not session.watching
                or ctx.node.clock.monotonic_ms() >= deadline_ms
            ):
                return collected.respond()
            collected.release()
    finally:
        if session.id == NO_SESSION_ID:
            session.close()


def _take_progress(ctx: RequestContext, request: FetchRequest, session: FetchSession, now_ms: float) -> None:
    """Moves the leader's view of a replica, for all partitions that its request names."""
    moved = session.moved
    assert moved is not None
    session.moved = []
    replica = _Replica(ctx.node, request, ctx.version, now_ms)
    for fetched in moved:
        if fetched not in session:
            continue  # another session spoke of it meanwhile, and this one has let it go
        with suppress(KafkaError):  # the look at this partition will meet it, too, and tell it
            replica.place(fetched, _resolve(ctx.node, session, fetched))


class _Replica:
    """The replica that fetches: whether it is believed, and where."""

    __slots__ = ("node_id", "broker_epoch", "now_ms", "is_known")

    def __init__(self, node: Node, request: FetchRequest, version: int, now_ms: float) -> None:
        state = request.replica_state
        self.node_id = state.replica_id if version >= 15 else request.replica_id
        self.broker_epoch = state.replica_epoch if version >= 15 else -1
        self.now_ms = now_ms
        broker = node.image.brokers.get(self.node_id)
        self.is_known = broker is not None and self.broker_epoch >= broker.epoch

    def place(self, fetched: FetchedPartition, partition: Partition) -> EpochEndOffset | None:
        """Takes a replica's word for its position, or says where its log parted from this one. Raises
        KafkaError.
        """
        if not self.is_known:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        partition.check_leader_epoch(fetched.current_leader_epoch)
        leading = partition.leading
        if leading is None or self.node_id not in leading.followers:
            # Its leader epoch is right, so it may have heard of a reassignment that is still to be heard of
            # here.
            raise KafkaError(
                ErrorCode.UNKNOWN_LEADER_EPOCH
                if fetched.current_leader_epoch >= 0
                else ErrorCode.NOT_LEADER_OR_FOLLOWER
            )
        diverging = _diverging(fetched, partition)
        if diverging is not None:
            return diverging
        log = partition.log
        offset = fetched.fetch_offset
        if offset < log.log_start_offset or offset > log.log_end_offset:
            raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
        fetched.checked_epoch = partition.leader_epoch
        follower = leading.followers[self.node_id]
        if follower.placed_by is not fetched:
            _ask_again(follower.placed_by)
            follower.placed_by = fetched
        partition.follower_fetched(
            self.node_id, offset, fetched.log_start_offset, self.broker_epoch, self.now_ms
        )
        return None


def _ask_again(before: object) -> None:
    """Another session of the same replica says where it stands. That may be an old request which was long
    under way; then the replica goes on in its newer session, where it names only what changes: its next
    request there counts for this partition as well.
    """
    if isinstance(before, FetchedPartition) and before.session.moved is not None:
        before.session.moved.append(before)


def _diverging(fetched: FetchedPartition, partition: Partition) -> EpochEndOffset | None:
    """Where a reader's log parted from this one, if it did below its position (KIP-595)."""
    if fetched.last_fetched_epoch < 0:
        return None
    parted = divergence(partition.log, fetched.fetch_offset, fetched.last_fetched_epoch)
    return None if parted is None else EpochEndOffset(epoch=parted[0], end_offset=parted[1])


def _resolve(node: Node, session: FetchSession, fetched: FetchedPartition) -> Partition:
    """The partition, whatever its role here. Raises KafkaError."""
    partition = fetched.partition
    if partition is None or partition.deleted:
        if session.uses_topic_ids:
            fetched.topic = node.topic_name(fetched.topic_id) or ""
            partition = node.partitions_by_id.get((fetched.topic_id, fetched.index))
        else:
            partition = node.partitions.get((fetched.topic, fetched.index))
        session.bind(fetched, partition)
        if partition is None:
            topic_id = fetched.topic_id if session.uses_topic_ids else None
            raise KafkaError(node.absence(fetched.topic, fetched.index, topic_id))
    return partition


def _session_of(ctx: RequestContext, request: FetchRequest, now_ms: float, replica_id: int) -> FetchSession:
    """Finds, makes or ends the session that the request's id and epoch speak of, and applies its changes."""
    node = ctx.node
    by_id = ctx.version >= 13
    cache = node.fetch_sessions
    epoch = request.session_epoch
    asked = sum([len(topic.partitions) for topic in request.topics])
    if asked > len(node.partitions) + FETCH_STRANGERS_MAX and asked > _partitions_max(node):
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    is_full = epoch in FULL_EPOCHS
    if is_full:
        if request.session_id != NO_SESSION_ID:
            cache.remove_by_id(request.session_id)
        news = None if replica_id < 0 else node.replicas.high_watermark_news
        session = cache.create(by_id, now_ms, replica_id, news) if epoch == INITIAL_EPOCH and asked else None
        if session is None:
            session = FetchSession(NO_SESSION_ID, by_id, now_ms, replica_id, news)
        else:
            session.epoch = 1
            session.watching = True
    else:
        session = cache.get(request.session_id, epoch, by_id, now_ms, replica_id)
    for topic in request.topics:
        name = topic.topic
        if by_id:
            name = node.topic_name(topic.topic_id) or ""
        for partition in topic.partitions:
            session.put(name, topic.topic_id, partition)
    for forgotten in request.forgotten_topics_data:
        for index in forgotten.partitions:
            session.forget(forgotten.topic_id if by_id else forgotten.topic, index)
    if not is_full:
        known = len(session.partitions)
        if known > len(node.partitions) + FETCH_STRANGERS_MAX and known > _partitions_max(node):
            cache.remove(session)
            raise KafkaError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if not session.partitions:
            cache.remove(session)
            return FetchSession(NO_SESSION_ID, by_id, now_ms, replica_id)
    return session


def _partitions_max(node: Node) -> int:
    """As many as the cluster has, and some; counted only where it matters."""
    return FETCH_STRANGERS_MAX + sum([len(each.partitions) for each in node.image.topics.values()])


class _Collected:
    """One look over a session's ready partitions: the response's data, with its slices pinned."""

    __slots__ = ("ctx", "is_urgent", "min_bytes", "node", "rack", "replica", "session", "size_bytes", "told")

    def __init__(self, ctx: RequestContext, session: FetchSession, request: FetchRequest) -> None:
        self.ctx = ctx
        self.node = node = ctx.node
        self.session = session
        self.size_bytes = 0
        self.is_urgent = False
        """Something that is no data has to be told now: an error, or that the logs have parted."""
        self.told: list[tuple[FetchedPartition, PartitionData]] = []
        self.replica: _Replica | None = None
        if session.replica_id >= 0:
            self.replica = _Replica(node, request, ctx.version, node.clock.monotonic_ms())
        self.rack = request.rack_id if node.settings.rack_aware_reads and ctx.version >= 11 else ""
        budget = min(request.max_bytes, node.settings.fetch_max_bytes)
        self.min_bytes = min(request.min_bytes, budget)
        isolation = request.isolation_level
        is_full = request.session_epoch in FULL_EPOCHS
        quiet: list[FetchedPartition] = []
        try:
            # A copy, since a disk that fails under a read makes partitions of other sessions ready, too.
            for fetched in tuple(session.ready):
                if budget <= 0 and self.size_bytes and not is_full:
                    break  # the rest stays ready, and comes first next time
                if self.replica is None:
                    data = self._look_at(fetched, budget, isolation)
                else:
                    data = self._look_at_for_replica(fetched, budget, self.replica)
                if data is None:
                    quiet.append(fetched)
                elif data is not _LATER:
                    self.told.append((fetched, data))
                    if data.records:
                        size = len(data.records)
                        budget -= size
                        self.size_bytes += size
        except BaseException:
            self.release()
            raise
        for fetched in quiet:
            session.ready.pop(fetched, None)

    @property
    def is_enough(self) -> bool:
        return self.size_bytes >= self.min_bytes or self.is_urgent

    def _look_at(self, fetched: FetchedPartition, budget: int, isolation: int) -> PartitionData | None:
        records: FileSlice | bytes = b""
        try:
            partition = _resolve(self.node, self.session, fetched)
            if not partition.is_leader:
                self._check_follower_may_serve(fetched, partition)
            partition.check_leader_epoch(fetched.current_leader_epoch)
            log = partition.log
            offset = fetched.fetch_offset
            if fetched.last_fetched_epoch >= 0 and self.ctx.version >= 12:
                diverging = _diverging(fetched, partition)
                if diverging is not None:
                    return self._tell_divergence(fetched, partition, diverging)
            if self.rack and partition.leading is not None:
                preferred = closest_replica(self.node, partition, offset, self.rack)
                if preferred != self.node.node_id:
                    self.is_urgent = True
                    return self._data(fetched, partition, b"", preferred)
            readable_end = partition.readable_end(isolation)
            aborted: list[tuple[int, int]] = []
            if offset < log.log_start_offset or offset > log.log_end_offset:
                raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
            if offset < readable_end and (budget > 0 or not self.size_bytes):
                found = log.read(
                    offset,
                    min(fetched.max_bytes, budget),
                    upto_offset=readable_end,
                    min_one_batch=not self.size_bytes,
                )
                if found.slice is not None:
                    records = found.slice
                    if isolation == READ_COMMITTED:
                        aborted = log.aborted_within(found, offset, readable_end)
            if (
                not records
                and log.high_watermark == fetched.told_high_watermark
                and log.log_start_offset == fetched.told_log_start
            ):
                return None if offset >= readable_end else _LATER
            data = self._data(fetched, partition, records)
            if isolation == READ_COMMITTED:
                data.aborted_transactions = [
                    AbortedTransaction(producer_id=producer_id, first_offset=first_offset)
                    for producer_id, first_offset in aborted
                ]
            return data
        except (KafkaError, OSError) as failure:
            if isinstance(records, FileSlice):
                records.release()
            return self._tell_error(fetched, failure)

    def _look_at_for_replica(
        self, fetched: FetchedPartition, budget: int, replica: _Replica
    ) -> PartitionData | None:
        records: FileSlice | bytes = b""
        try:
            partition = fetched.partition
            if (
                partition is None
                or partition.deleted
                or fetched.checked_epoch != partition.leader_epoch
                or not partition.is_leader
                or fetched.fetch_offset < partition.log.log_start_offset
            ):
                partition = _resolve(self.node, self.session, fetched)
                if not partition.is_leader:
                    raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
                diverging = replica.place(fetched, partition)
                if diverging is not None:
                    return self._tell_divergence(fetched, partition, diverging)
            log = partition.log
            offset = fetched.fetch_offset
            end_offset = log.log_end_offset
            throttle = self.node.replicas.leader_throttle
            if throttle is not None and not self._is_throttled(partition, replica):
                throttle = None
            may_read = throttle is None or not throttle.wait_ms(replica.now_ms)
            if offset < end_offset and (budget > 0 or not self.size_bytes) and may_read:
                found = log.read(
                    offset,
                    min(fetched.max_bytes, budget),
                    upto_offset=end_offset,
                    min_one_batch=not self.size_bytes,
                )
                if found.slice is not None:
                    records = found.slice
                    if throttle is not None:
                        throttle.spend(len(records), replica.now_ms)
            if log.log_start_offset != fetched.told_log_start:
                # Somebody may wait for all replicas to have moved theirs; what is told for the first time
                # waits for nobody.
                self.is_urgent = self.is_urgent or fetched.told_log_start >= 0
            elif not records and log.high_watermark == fetched.told_high_watermark:
                return None if offset >= end_offset else _LATER
            return self._data(fetched, partition, records)
        except (KafkaError, OSError) as failure:
            if isinstance(records, FileSlice):
                records.release()
            return self._tell_error(fetched, failure)

    def _is_throttled(self, partition: Partition, replica: _Replica) -> bool:
        """A replica that is in sync is never held back: producers would wait with it."""
        leading = partition.leading
        assert leading is not None
        return not leading.followers[replica.node_id].in_isr and self.node.replicas.is_throttled(
            "leader", partition.tp, self.node.node_id
        )

    def _check_follower_may_serve(self, fetched: FetchedPartition, partition: Partition) -> None:
        """Consumers that know of it may read from a follower, up to what it knows to be committed."""
        if self.ctx.version < FOLLOWER_READS_SINCE or partition.leader_id < 0:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        log = partition.log
        if log.high_watermark < fetched.fetch_offset <= log.log_end_offset:
            raise KafkaError(ErrorCode.OFFSET_NOT_AVAILABLE)

    def _data(
        self,
        fetched: FetchedPartition,
        partition: Partition,
        records: FileSlice | bytes,
        preferred_replica: int = -1,
    ) -> PartitionData:
        log = partition.log
        return PartitionData(
            partition_index=fetched.index,
            high_watermark=log.high_watermark,
            last_stable_offset=log.last_stable_offset,
            log_start_offset=log.log_start_offset,
            aborted_transactions=None,
            preferred_read_replica=preferred_replica,
            records=records,
        )

    def _tell_divergence(
        self, fetched: FetchedPartition, partition: Partition, diverging: EpochEndOffset
    ) -> PartitionData:
        self.is_urgent = True
        data = self._data(fetched, partition, b"")
        data.diverging_epoch = diverging
        return data

    def _tell_error(self, fetched: FetchedPartition, failure: KafkaError | OSError) -> PartitionData:
        error = self._error_of(fetched, failure)
        # Told again in every answer, but only once at once: a reader that repeats its question has to
        # wait like the others, and does not spin.
        if fetched.told_error != error.code:
            self.is_urgent = True
        data = PartitionData(
            partition_index=fetched.index,
            error_code=error.code,
            high_watermark=-1,
            aborted_transactions=None,
            records=b"",
        )
        at = fetched.partition
        if (
            at is not None
            and self.ctx.version >= 12
            and error.code in (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)
        ):
            data.current_leader = LeaderIdAndEpoch(leader_id=at.leader_id, leader_epoch=at.leader_epoch)
        return data

    def _error_of(self, fetched: FetchedPartition, failure: KafkaError | OSError) -> KafkaError:
        if isinstance(failure, KafkaError) and failure.code != ErrorCode.KAFKA_STORAGE_ERROR:
            return failure
        if fetched.partition is not None:
            return self.node.read_failed(fetched.partition, failure)
        return failure if isinstance(failure, KafkaError) else KafkaError(ErrorCode.KAFKA_STORAGE_ERROR)

    def release(self) -> None:
        for _, data in self.told:
            if isinstance(data.records, FileSlice):
                data.records.release()

    def respond(self) -> Reply:
        session = self.session
        by_id = session.uses_topic_ids
        session.has_news = False
        if len(self.told) == 1:
            fetched, data = self.told[0]
            if fetched.partition is not None:
                ctx = self.ctx
                try:
                    usual = usual_reply(fetched.partition, data, ctx.version, ctx.correlation_id, session.id)
                except BaseException:
                    self.release()
                    raise
                if usual is not None:
                    self._note_told(fetched, data)
                    return usual
        response = FetchResponse(session_id=session.id)
        topics = response.responses
        current: FetchableTopicResponse | None = None
        for fetched, data in self.told:
            self._note_told(fetched, data)
            if data.current_leader.leader_id >= 0 and self.ctx.version >= 16:
                self._add_endpoint(response, data.current_leader.leader_id)
            if current is None or (
                current.topic_id != fetched.topic_id if by_id else current.topic != fetched.topic
            ):
                current = FetchableTopicResponse(topic=fetched.topic, topic_id=fetched.topic_id)
                topics.append(current)
            current.partitions.append(data)
        return response

    def _note_told(self, fetched: FetchedPartition, data: PartitionData) -> None:
        if data.records:
            # To the end of the queue, so that the next full response begins with somebody else.
            ready = self.session.ready
            ready.pop(fetched, None)
            ready[fetched] = None
        # Who is told that its log parted from this one looks at nothing else in the answer.
        fetched.told_high_watermark = -1 if data.diverging_epoch.epoch >= 0 else data.high_watermark
        fetched.told_log_start = data.log_start_offset
        fetched.told_error = data.error_code

    def _add_endpoint(self, response: FetchResponse, node_id: int) -> None:
        broker = self.node.image.brokers.get(node_id)
        if broker is not None and all(e.node_id != node_id for e in response.node_endpoints):
            endpoint = self.node.endpoint_of(broker, self.ctx.peer.listener_name)
            response.node_endpoints.append(
                NodeEndpoint(node_id=node_id, host=endpoint.host, port=endpoint.port, rack=broker.rack)
            )
