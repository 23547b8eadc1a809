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

DEBUGGING_REPLICA_ID = -2
"""Tools read as this replica: they may read uncommitted log ends, so they are treated as consumers here."""


def handle(ctx: RequestContext, request: FetchRequest) -> FetchResponse | Steps[FetchResponse]:
    node = ctx.node
    now = node.clock.monotonic_ms()
    try:
        session = _session_of(ctx, request, now)
    except KafkaError as error:
        return FetchResponse(error_code=error.code, session_id=NO_SESSION_ID)
    collected = _Collected(node, session, request, ctx.version)
    if (
        collected.size_bytes >= request.min_bytes
        or collected.has_error
        or request.max_wait_ms <= 0
        or not session.partitions
    ):
        return collected.respond()
    collected.release()
    return _wait(ctx, request, session, now + request.max_wait_ms, collected.size_bytes)


def _wait(
    ctx: RequestContext, request: FetchRequest, session: FetchSession, deadline_ms: float, have_bytes: int
) -> Steps[FetchResponse]:
    session.start_watching()
    if session.waiter is not None:
        session.waiter.fire()  # a client that pipelines on one session gets the earlier answer first
    while True:
        waiter = Waiter(deadline_ms)
        session.waiter = waiter
        session.missing_bytes = request.min_bytes - have_bytes
        ctx.peer.add_waiter(waiter)
        in_time = yield waiter
        ctx.peer.discard_waiter(waiter)
        if session.waiter is waiter:
            session.waiter = None
        collected = _Collected(ctx.node, session, request, ctx.version)
        enough = collected.size_bytes >= request.min_bytes or collected.has_error
        if enough or not in_time or ctx.node.clock.monotonic_ms() >= deadline_ms or not session.watching:
            if session.id == NO_SESSION_ID:
                session.close()
            return collected.respond()
        collected.release()
        have_bytes = collected.size_bytes


def _session_of(ctx: RequestContext, request: FetchRequest, now_ms: float) -> FetchSession:
    """Finds, makes or ends the session that the request's id and epoch speak of, and applies its changes."""
    by_id = ctx.version >= 13
    cache = ctx.node.fetch_sessions
    epoch = request.session_epoch
    if epoch in (INITIAL_EPOCH, FINAL_EPOCH):
        if request.session_id != NO_SESSION_ID:
            cache.remove_by_id(request.session_id)
        session = cache.create(by_id, now_ms) if epoch == INITIAL_EPOCH else None
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
            name = ctx.node.topic_name(topic.topic_id) or ""
        for partition in topic.partitions:
            session.put(name, topic.topic_id, partition)
    for forgotten in request.forgotten_topics_data:
        for index in forgotten.partitions:
            session.forget(forgotten.topic_id if by_id else forgotten.topic, index)
    return session


class _Collected:
    """One look over a session's ready partitions: the response's data, with its slices pinned."""

    __slots__ = ("has_error", "node", "session", "size_bytes", "told", "version", "replica_id")

    def __init__(self, node: Node, session: FetchSession, request: FetchRequest, version: int) -> None:
        self.node = node
        self.session = session
        self.version = version
        self.size_bytes = 0
        self.has_error = False
        self.told: list[tuple[FetchedPartition, PartitionData]] = []
        self.replica_id = request.replica_id if version < 15 else request.replica_state.replica_id
        budget = min(request.max_bytes, node.settings.fetch_max_bytes)
        isolation = request.isolation_level
        quiet: list[FetchedPartition] = []
        try:
            for fetched in session.ready:
                data = self._look_at(fetched, budget, isolation)
                if data is None:
                    quiet.append(fetched)
                    continue
                self.told.append((fetched, data))
                if data.records:
                    size = len(data.records)
                    budget -= size
                    self.size_bytes += size
        except BaseException:
            self.release()
            raise
        for fetched in quiet:
            del session.ready[fetched]

    def _look_at(self, fetched: FetchedPartition, budget: int, isolation: int) -> PartitionData | None:
        try:
            partition = self._resolve(fetched)
            if self.replica_id >= 0 and self.replica_id not in partition.replicas:
                raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
            partition.check_leader_epoch(fetched.current_leader_epoch)
            log = partition.log
            offset = fetched.fetch_offset
            if fetched.last_fetched_epoch >= 0:
                epoch, end_offset = log.end_offset_for_epoch(fetched.last_fetched_epoch)
                if epoch < fetched.last_fetched_epoch or end_offset < offset:
                    return PartitionData(
                        partition_index=fetched.index,
                        high_watermark=log.high_watermark,
                        diverging_epoch=EpochEndOffset(epoch=epoch, end_offset=end_offset),
                        records=b"",
                    )
            readable_end = partition.readable_end(isolation)
            records: FileSlice | bytes = b""
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
            if (
                not records
                and offset >= readable_end
                and log.high_watermark == fetched.told_high_watermark
                and log.log_start_offset == fetched.told_log_start
            ):
                return None
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
                    for producer_id, first_offset in log.aborted_transactions(offset, readable_end)
                ]
            return data
        except KafkaError as error:
            self.has_error = True
            data = PartitionData(
                partition_index=fetched.index, error_code=error.code, high_watermark=-1, records=b""
            )
            at = fetched.partition
            if at is not None and error.code in (
                ErrorCode.NOT_LEADER_OR_FOLLOWER,
                ErrorCode.FENCED_LEADER_EPOCH,
            ):
                data.current_leader = LeaderIdAndEpoch(leader_id=at.leader_id, leader_epoch=at.leader_epoch)
            return data

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
            if data.error_code == ErrorCode.NONE:
                fetched.told_high_watermark = data.high_watermark
                fetched.told_log_start = data.log_start_offset
            elif data.current_leader.leader_id >= 0 and self.version >= 16:
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
            endpoint = self.node.endpoint_of(broker)
            response.node_endpoints.append(
                NodeEndpoint(node_id=node_id, host=endpoint.host, port=endpoint.port, rack=broker.rack)
            )
