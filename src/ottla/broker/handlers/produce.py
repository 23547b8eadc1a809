"""Produce (key 0): append batches in place.

v3 message format 2 and transactions; v7 zstd; v8 record errors; v9 flexible; v10 new leaders in the
response; v12 transactions of the second generation; v13 topic ids. Versions 0-2 are advertised (librdkafka
stops compressing otherwise) and refused, as Kafka 4 does.

The batch is checked and patched inside the receive buffer and written from there; when it has been appended
the request's bytes are not needed any more, so a wait for the high watermark holds none.
"""

from __future__ import annotations

from functools import partial

from ottla.broker.context import RequestContext
from ottla.broker.replies import NO_REPLY, Close
from ottla.log.append import AppendInfo, NeedsWorker, prepare
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.limits import SMALL_FRAME_BYTES_MAX
from ottla.model.types import INTERNAL_TOPICS
from ottla.ports.effects import DiskJob, Steps, Waiter
from ottla.replication.partition import Partition, batch_size_bytes
from ottla.wire.compression import Codec
from ottla.wire.messages.produce import (
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)

ADMIN_CLIENT_ID = "__admin_client"
"""The one client id that may write to internal topics, as in Kafka."""

_MAGIC_AT = 16
_ATTRIBUTES_AT = 21
_HEADER_BYTES = 61
_BATCH_BYTES_MIN = 26
"""Offset, length and the fourteen bytes that the oldest format has at least."""
_TRANSACTIONAL = 0x10
_CONTROL = 0x20
_CODEC_MASK = 0x07

Reply = ProduceResponse | object

_Wait = tuple[Partition, AppendInfo, PartitionProduceResponse]
_Heavy = tuple[Partition, memoryview, PartitionProduceResponse]


def handle(ctx: RequestContext, request: ProduceRequest) -> Reply | Steps[Reply]:
    node = ctx.node
    acks = request.acks
    version = ctx.version
    now_ms = node.clock.now_ms()
    response = ProduceResponse()
    waits: list[_Wait] | None = None
    heavy: list[_Heavy] | None = None
    failed: ErrorCode | None = None
    for topic in request.topic_data:
        answers: list[PartitionProduceResponse] = []
        name = topic.name
        if version >= 13:
            name = node.topic_name(topic.topic_id) or ""
        response.responses.append(
            TopicProduceResponse(name=name, topic_id=topic.topic_id, partition_responses=answers)
        )
        for data in topic.partition_data:
            answer = PartitionProduceResponse(index=data.index)
            answers.append(answer)
            partition: Partition | None = None
            try:
                if acks not in (-1, 0, 1):
                    raise KafkaError(
                        ErrorCode.INVALID_REQUIRED_ACKS, f"acks is {acks}; -1, 0 and 1 are possible"
                    )
                if name in INTERNAL_TOPICS and ctx.client_id != ADMIN_CLIENT_ID:
                    raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{name} is internal to the broker")
                if version >= 13:
                    partition = node.partitions_by_id.get((topic.topic_id, data.index))
                else:
                    partition = node.partitions.get((name, data.index))
                if partition is None:
                    topic_id = topic.topic_id if version >= 13 else None
                    raise KafkaError(node.absence(name, data.index, topic_id))
                records = _single_batch(data.records, version)
                info = node.append(partition, records, now_ms, acks)
                answer.base_offset = info.first_offset
                answer.log_append_time_ms = info.log_append_time_ms
                answer.log_start_offset = info.log_start_offset
                if acks and partition.must_wait(info, acks):
                    if waits is None:
                        waits = []
                    waits.append((partition, info, answer))
            except KafkaError as error:
                failed = _refuse(ctx, answer, error, partition, response)
            except NeedsWorker:
                assert partition is not None and data.records is not None
                if heavy is None:
                    heavy = []
                heavy.append((partition, data.records, answer))
    if heavy is not None:
        return _append_heavy(ctx, request, response, waits or [], heavy, failed)
    if acks == 0:
        return _silent(failed)
    if waits is None:
        return response
    return _wait_for_high_watermarks(ctx, response, waits, request.timeout_ms)


def _silent(failed: ErrorCode | None) -> Reply:
    """acks=0: there is no reply to carry an error, so the only way to tell the producer is to hang up."""
    if failed is not None:
        return Close(f"a produce request with acks=0 failed: {failed.name}")
    return NO_REPLY


def _append_heavy(
    ctx: RequestContext,
    request: ProduceRequest,
    response: ProduceResponse,
    waits: list[_Wait],
    heavy: list[_Heavy],
    failed: ErrorCode | None,
) -> Steps[Reply]:
    """Batches that expand to much are checked by a thread. Their append comes after that wait, so the
    connection's next request, which may have the next sequence, waits too.
    """
    node = ctx.node
    acks = request.acks
    # A large frame has memory of its own, which is kept; a small one lies in the scratch and is copied.
    frame = ctx.peer.keep_frame() if any(len(each[1]) > SMALL_FRAME_BYTES_MAX for each in heavy) else None
    owned = [
        (partition, records if len(records) > SMALL_FRAME_BYTES_MAX else bytearray(records), answer)
        for partition, records, answer in heavy
    ]
    pause = object()
    ctx.peer.pause_reading(pause)
    try:
        for partition, records, answer in owned:
            try:
                yield from node.heavy_checks.enter()
                try:
                    checked, data = yield DiskJob(partial(prepare, records, partition.log.config))
                finally:
                    node.heavy_checks.leave()
                info = node.append(partition, data, node.clock.now_ms(), acks, checked)
            except KafkaError as error:
                failed = _refuse(ctx, answer, error, partition, response)
                continue
            answer.base_offset = info.first_offset
            answer.log_append_time_ms = info.log_append_time_ms
            answer.log_start_offset = info.log_start_offset
            if acks and partition.must_wait(info, acks):
                waits.append((partition, info, answer))
    finally:
        if frame is not None:
            frame.release()
        ctx.peer.resume_reading(pause)
    if acks == 0:
        return _silent(failed)
    if waits:
        yield from _wait_for_high_watermarks(ctx, response, waits, request.timeout_ms)
    return response


def _single_batch(records: memoryview | None, version: int) -> memoryview:
    """From version 3 on, a partition's data is exactly one batch of format 2.

    CORRUPT_MESSAGE makes a producer send again, INVALID_RECORD does not; which is which is as in Kafka.
    """
    if records is None or len(records) <= _MAGIC_AT:
        raise KafkaError(
            ErrorCode.INVALID_RECORD, "a produce request has to hold one record batch per partition"
        )
    size = batch_size_bytes(records)
    magic = records[_MAGIC_AT]
    if size < _BATCH_BYTES_MIN or magic > 2:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, f"a batch of {size} bytes and format {magic}")
    if size > len(records):
        raise KafkaError(
            ErrorCode.INVALID_RECORD,
            f"the batch says it has {size} bytes and {len(records)} are there; a produce request has to hold "
            "one record batch per partition",
        )
    if magic != 2:
        raise KafkaError(ErrorCode.INVALID_RECORD, f"the batch has format {magic}; only format 2 is accepted")
    if size < _HEADER_BYTES:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, f"a batch of {size} bytes is shorter than its header")
    if size != len(records):
        raise KafkaError(ErrorCode.INVALID_RECORD, "a produce request has to hold exactly one record batch")
    attributes = records[_ATTRIBUTES_AT + 1]
    if attributes & _CODEC_MASK == Codec.ZSTD and version < 7:
        raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "zstd needs produce version 7 or newer")
    if attributes & _CONTROL:
        raise KafkaError(ErrorCode.INVALID_RECORD, "clients may not write control records")
    if attributes & _TRANSACTIONAL:
        raise KafkaError(ErrorCode.INVALID_TXN_STATE, "the batch belongs to no open transaction")
    return records


def _refuse(
    ctx: RequestContext,
    answer: PartitionProduceResponse,
    error: KafkaError,
    partition: Partition | None,
    response: ProduceResponse,
) -> ErrorCode:
    node = ctx.node
    answer.error_code = error.code
    answer.error_message = error.message
    answer.base_offset = -1
    if error.code == ErrorCode.NOT_LEADER_OR_FOLLOWER and partition is not None and ctx.version >= 10:
        leader = node.image.brokers.get(partition.leader_id)
        answer.current_leader = LeaderIdAndEpoch(
            leader_id=partition.leader_id, leader_epoch=partition.leader_epoch
        )
        if leader is not None and all(e.node_id != partition.leader_id for e in response.node_endpoints):
            endpoint = node.endpoint_of(leader, ctx.peer.listener_name)
            response.node_endpoints.append(
                NodeEndpoint(
                    node_id=partition.leader_id, host=endpoint.host, port=endpoint.port, rack=leader.rack
                )
            )
    return error.code


def _wait_for_high_watermarks(
    ctx: RequestContext,
    response: ProduceResponse,
    waits: list[_Wait],
    timeout_ms: int,
) -> Steps[ProduceResponse]:
    """The next pipelined request proceeds meanwhile; replies keep their order on the connection."""
    deadline_ms = ctx.node.clock.monotonic_ms() + max(timeout_ms, 0)
    waiters = []
    for partition, info, _ in waits:
        # All register at once: a partition serves its waiters in offset order.
        waiter = Waiter(deadline_ms)
        partition.wait_for_high_watermark(info.last_offset, waiter)
        waiters.append(waiter)
    for (partition, info, answer), waiter in zip(waits, waiters, strict=True):
        yield waiter
        if partition.log.high_watermark > info.last_offset:
            continue
        if partition.deleted:
            # Either the topic is gone, or the directory it was in.
            code = ctx.node.absence(partition.tp.topic, partition.tp.partition)
        elif not partition.is_leader:
            code = ErrorCode.NOT_LEADER_OR_FOLLOWER
        else:
            code = ErrorCode.REQUEST_TIMED_OUT
        answer.error_code = code
        answer.base_offset = -1
    return response
