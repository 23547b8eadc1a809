"""Fetch (key 1): give readers whole batches straight from the files.

v4  isolation level; v7 sessions (KIP-227); v9 leader epochs; v11 rack; v12 flexible, diverging epochs; v13
topic ids; v15 the replica's id moves to a tagged field; v16 endpoints of new leaders; v17 directory ids;
v18 the high watermark a follower knows.

A response is cut at the high watermark (or the last stable offset), holds file slices and no copies, and
waits for `min_bytes` without holding any slice.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.broker.fetch_sessions import (
    FINAL_EPOCH,
    INITIAL_EPOCH,
    NO_SESSION_ID,
    FetchedPartition,
    FetchSession,
)
from ottla.broker.node import Node
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.limits import FETCH_STRANGERS_MAX
from ottla.ports.disk import FileSlice
from ottla.ports.effects import Steps, Waiter
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

_LATER = PartitionData()
"""There is something to read, but no room for it in this response."""


def handle(ctx: RequestContext, request: FetchRequest) -> FetchResponse | Steps[FetchResponse]:
    now = ctx.node.clock.monotonic_ms()
    try:
        session = _session_of(ctx, request, now)
    except KafkaError as error:
        return FetchResponse(error_code=error.code, session_id=NO_SESSION_ID)
    collected = _Collected(ctx, session, request)
    if collected.is_enough or request.max_wait_ms <= 0 or not session.partitions:
        return collected.respond()
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
) -> Steps[FetchResponse]:
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


def _session_of(ctx: RequestContext, request: FetchRequest, now_ms: float) -> FetchSession:
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
        session = cache.create(by_id, now_ms) if epoch == INITIAL_EPOCH and asked else None
        if session is None:
            session = FetchSession(NO_SESSION_ID, by_id, now_ms)
        else:
            session.epoch = 1
            session.watching = True
    else:
        session = cache.get(request.session_id, epoch, by_id, now_ms)
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
            return FetchSession(NO_SESSION_ID, by_id, now_ms)
    return session


def _partitions_max(node: Node) -> int:
    """As many as the cluster has, and some; counted only where it matters."""
    return FETCH_STRANGERS_MAX + sum([len(each.partitions) for each in node.image.topics.values()])


class _Collected:
    """One look over a session's ready partitions: the response's data, with its slices pinned."""

    __slots__ = ("ctx", "is_urgent", "min_bytes", "node", "replica_id", "session", "size_bytes", "told")

    def __init__(self, ctx: RequestContext, session: FetchSession, request: FetchRequest) -> None:
        self.ctx = ctx
        self.node = node = ctx.node
        self.session = session
        self.size_bytes = 0
        self.is_urgent = False
        """Something that is no data has to be told now: an error, or that the logs have parted."""
        self.told: list[tuple[FetchedPartition, PartitionData]] = []
        self.replica_id = request.replica_id if ctx.version < 15 else request.replica_state.replica_id
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
                data = self._look_at(fetched, budget, isolation)
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
            partition = self._resolve(fetched)
            if self.replica_id >= 0 and self.replica_id not in partition.replicas:
                raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
            partition.check_leader_epoch(fetched.current_leader_epoch)
            log = partition.log
            offset = fetched.fetch_offset
            if fetched.last_fetched_epoch >= 0 and self.ctx.version >= 12:
                epoch, end_offset = log.end_offset_for_epoch(fetched.last_fetched_epoch)
                if epoch < 0 or end_offset < 0 or offset < log.log_start_offset:
                    raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
                if epoch < fetched.last_fetched_epoch or end_offset < offset:
                    self.is_urgent = True
                    return PartitionData(
                        partition_index=fetched.index,
                        high_watermark=log.high_watermark,
                        last_stable_offset=log.last_stable_offset,
                        log_start_offset=log.log_start_offset,
                        diverging_epoch=EpochEndOffset(epoch=epoch, end_offset=end_offset),
                        aborted_transactions=None,
                        records=b"",
                    )
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
            data = PartitionData(
                partition_index=fetched.index,
                high_watermark=log.high_watermark,
                last_stable_offset=log.last_stable_offset,
                log_start_offset=log.log_start_offset,
                aborted_transactions=None,
                records=records,
            )
            if isolation == READ_COMMITTED:
                data.aborted_transactions = [
                    AbortedTransaction(producer_id=producer_id, first_offset=first_offset)
                    for producer_id, first_offset in aborted
                ]
            return data
        except (KafkaError, OSError) as failure:
            if isinstance(records, FileSlice):
                records.release()
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

    def _resolve(self, fetched: FetchedPartition) -> Partition:
        partition = fetched.partition
        if partition is None or partition.deleted:
            node = self.node
            if self.session.uses_topic_ids:
                fetched.topic = node.topic_name(fetched.topic_id) or ""
                partition = node.partitions_by_id.get((fetched.topic_id, fetched.index))
            else:
                partition = node.partitions.get((fetched.topic, fetched.index))
            self.session.bind(fetched, partition)
            if partition is None:
                topic_id = fetched.topic_id if self.session.uses_topic_ids else None
                raise KafkaError(node.absence(fetched.topic, fetched.index, topic_id))
        if not partition.is_leader:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return partition

    def release(self) -> None:
        for _, data in self.told:
            if isinstance(data.records, FileSlice):
                data.records.release()

    def respond(self) -> FetchResponse:
        session = self.session
        by_id = session.uses_topic_ids
        response = FetchResponse(session_id=session.id)
        topics = response.responses
        current: FetchableTopicResponse | None = None
        for fetched, data in self.told:
            if data.records:
                # To the end of the queue, so that the next full response begins with somebody else.
                session.ready.pop(fetched, None)
                session.ready[fetched] = None
            fetched.told_high_watermark = data.high_watermark
            fetched.told_log_start = data.log_start_offset
            fetched.told_error = data.error_code
            if data.current_leader.leader_id >= 0 and self.ctx.version >= 16:
                self._add_endpoint(response, data.current_leader.leader_id)
            if current is None or (
                current.topic_id != fetched.topic_id if by_id else current.topic != fetched.topic
            ):
                current = FetchableTopicResponse(topic=fetched.topic, topic_id=fetched.topic_id)
                topics.append(current)
            current.partitions.append(data)
        return response

    def _add_endpoint(self, response: FetchResponse, node_id: int) -> None:
        broker = self.node.image.brokers.get(node_id)
        if broker is not None and all(e.node_id != node_id for e in response.node_endpoints):
            endpoint = self.node.endpoint_of(broker, self.ctx.peer.listener_name)
            response.node_endpoints.append(
                NodeEndpoint(node_id=node_id, host=endpoint.host, port=endpoint.port, rack=broker.rack)
            )
