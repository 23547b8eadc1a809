"""Produce (key 0): append batches in place.

v3 message format 2 and transactions; v7 zstd; v8 record errors; v9 flexible; v10 new leaders in the
response; v12 transactions of the second generation; v13 topic ids. Versions 0-2 are advertised (librdkafka
stops compressing otherwise) and refused, as Kafka 4 does.

The batch is checked and patched inside the receive buffer and written from there; when it has been appended
the request's bytes are not needed any more, so a wait for the high watermark holds none.

A transactional batch whose transaction is open here goes the same way. The first one of a transaction is
appended once the coordinator has agreed (`broker/txn_verification.py`): below version 12 it is asked whether
the client has added the partition, from then on it adds it.
"""

from __future__ import annotations

from functools import partial
from struct import Struct
from types import GeneratorType

from ottla.broker.context import RequestContext
from ottla.broker.peer import KeptFrame
from ottla.broker.replies import NO_REPLY, Close
from ottla.broker.txn_verification import TxnBatch, TxnVerification
from ottla.log.append import AppendInfo, NeedsWorker, prepare
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.limits import SMALL_FRAME_BYTES_MAX
from ottla.model.types import INTERNAL_TOPICS
from ottla.ports.effects import DiskJob, Steps, Waiter
from ottla.replication.partition import Partition, batch_size_bytes
from ottla.wire.compression import Codec
from ottla.wire.framing import encode_response
from ottla.wire.messages.index import ApiKey
from ottla.wire.messages.produce import (
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
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
_OUT_OF_THE_ORDINARY = _TRANSACTIONAL | _CONTROL
_CODEC_MASK = 0x07
_PRODUCER_AT = 43
_PRODUCER = Struct(">qhi")  # producer id, epoch, first sequence

_CORRELATION_ID = Struct(">i")
_OFFSETS = Struct(">qqq")
_OFFSETS_BEFORE_5 = Struct(">qq")
_MARK = 0x5AC3_96E7_0F1E_D24B
"""Stands for each number in a reply that is kept as a template."""

Reply = ProduceResponse | object

_Wait = tuple[Partition, AppendInfo, PartitionProduceResponse]
_Heavy = tuple[Partition, memoryview, PartitionProduceResponse]


class _Progress:
    """What has become of a request's batches so far."""

    __slots__ = ("response", "waits", "heavy", "failed")

    def __init__(self) -> None:
        self.response = ProduceResponse()
        self.waits: list[_Wait] = []
        self.heavy: list[_Heavy] = []
        self.failed: ErrorCode | None = None


def handle(ctx: RequestContext, request: ProduceRequest) -> Reply | Steps[Reply]:
    topics = request.topic_data
    if len(topics) == 1 and len(topics[0].partition_data) == 1 and request.acks in (1, -1):
        done = _append_one(ctx, request)
        if done is not None:
            return done
    if any(_is_transactional(data.records) for topic in topics for data in topic.partition_data):
        return _append_in_transaction(ctx, request)
    progress = _append_each(ctx, request, None)
    if progress.heavy:
        return _append_heavy_and_conclude(ctx, request, progress)
    return _conclude(ctx, request, progress)


def _append_each(
    ctx: RequestContext, request: ProduceRequest, verification: TxnVerification | None
) -> _Progress:
    """Appends every batch that can be appended now. Heavy ones are left over."""
    node = ctx.node
    acks = request.acks
    version = ctx.version
    transactional_id = request.transactional_id
    now_ms = node.clock.now_ms()
    progress = _Progress()
    response = progress.response
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
                partition = _find(ctx, topic, data.index)
                if partition is None:
                    topic_id = topic.topic_id if version >= 13 else None
                    raise KafkaError(node.absence(name, data.index, topic_id))
                records = _single_batch(data.records, version, transactional_id)
                ticket = None
                if verification is not None and _is_transactional(records):
                    ticket = verification.ticket_for(partition)
                info = node.append(partition, records, now_ms, acks, verification=ticket)
                answer.base_offset = info.first_offset
                answer.log_append_time_ms = info.log_append_time_ms
                answer.log_start_offset = info.log_start_offset
                if acks and partition.must_wait(info, acks):
                    progress.waits.append((partition, info, answer))
            except KafkaError as error:
                progress.failed = _refuse(ctx, answer, error, partition, response)
            except NeedsWorker:
                assert partition is not None and data.records is not None
                progress.heavy.append((partition, data.records, answer))
    return progress


def _conclude(ctx: RequestContext, request: ProduceRequest, progress: _Progress) -> Reply | Steps[Reply]:
    if request.acks == 0:
        return _silent(progress.failed)
    if not progress.waits:
        return progress.response
    return _wait_for_acks(ctx, progress.response, progress.waits, request.acks, request.timeout_ms)


def _find(ctx: RequestContext, topic: TopicProduceData, index: int) -> Partition | None:
    if ctx.version >= 13:
        return ctx.node.partitions_by_id.get((topic.topic_id, index))
    return ctx.node.partitions.get((topic.name, index))


def _append_one(ctx: RequestContext, request: ProduceRequest) -> Reply | Steps[Reply] | None:
    """The usual request, one batch that is accepted, without a response object: its reply differs from the
    partition's last one in four numbers. None leaves everything else to the general way, with nothing done.
    """
    node = ctx.node
    version = ctx.version
    topic = request.topic_data[0]
    data = topic.partition_data[0]
    records = data.records
    if version >= 13:
        partition = node.partitions_by_id.get((topic.topic_id, data.index))
    else:
        partition = node.partitions.get((topic.name, data.index))
    if partition is None or partition.tp.topic in INTERNAL_TOPICS:
        return None
    transactional_id = request.transactional_id
    if transactional_id is not None and not _needs_nobody(partition, records):
        return None
    try:
        records = _single_batch(records, version, transactional_id)
        info = node.append(partition, records, node.clock.now_ms(), request.acks)
    except NeedsWorker:
        return None
    except KafkaError as error:
        # Not for the general way: a write that failed has patched the batch, which would be refused for that.
        refused = _response_to(partition, -1, -1, -1)
        _refuse(ctx, refused.responses[0].partition_responses[0], error, partition, refused)
        return refused
    templates = partition.produce_replies
    template = templates.get(version) if templates is not None else None
    if template is None:
        template = _remember_reply(partition, version)
    frame, at = template
    reply = bytearray(frame)
    _CORRELATION_ID.pack_into(reply, 4, ctx.correlation_id)
    if version >= 5:
        _OFFSETS.pack_into(reply, at, info.first_offset, info.log_append_time_ms, info.log_start_offset)
    else:
        _OFFSETS_BEFORE_5.pack_into(reply, at, info.first_offset, info.log_append_time_ms)
    if partition.must_wait(info, request.acks):
        return _wait_and_reply(ctx, request.acks, request.timeout_ms, partition, info, reply)
    return reply


def _remember_reply(partition: Partition, version: int) -> tuple[bytes, int]:
    """Encodes the reply to an accepted batch once, and finds where its numbers stand."""
    response = _response_to(partition, _MARK, _MARK, _MARK)
    frame = b"".join(encode_response(response, ApiKey.PRODUCE, version, 0))
    marks = _OFFSETS.pack(_MARK, _MARK, _MARK) if version >= 5 else _OFFSETS_BEFORE_5.pack(_MARK, _MARK)
    template = (frame, frame.index(marks))
    if partition.produce_replies is None:
        partition.produce_replies = {}
    partition.produce_replies[version] = template
    return template


def _response_to(
    partition: Partition, base_offset: int, log_append_time_ms: int, log_start_offset: int
) -> ProduceResponse:
    answer = PartitionProduceResponse(
        index=partition.tp.partition,
        base_offset=base_offset,
        log_append_time_ms=log_append_time_ms,
        log_start_offset=log_start_offset,
    )
    topic = TopicProduceResponse(
        name=partition.tp.topic, topic_id=partition.topic_id, partition_responses=[answer]
    )
    return ProduceResponse(responses=[topic])


def _wait_and_reply(
    ctx: RequestContext,
    acks: int,
    timeout_ms: int,
    partition: Partition,
    info: AppendInfo,
    reply: bytearray,
) -> Steps[Reply]:
    response = _response_to(partition, info.first_offset, info.log_append_time_ms, info.log_start_offset)
    answer = response.responses[0].partition_responses[0]
    waits = [(partition, info, answer)]
    yield from _wait_for_acks(ctx, response, waits, acks, timeout_ms)
    return reply if answer.error_code == ErrorCode.NONE else response


def _silent(failed: ErrorCode | None) -> Reply:
    """acks=0: there is no reply to carry an error, so the only way to tell the producer is to hang up."""
    if failed is not None:
        return Close(f"a produce request with acks=0 failed: {failed.name}")
    return NO_REPLY


# --- the first batches of a transaction


def _is_transactional(records: memoryview | None) -> bool:
    return (
        records is not None
        and len(records) >= _HEADER_BYTES
        and records[_MAGIC_AT] == 2
        and records[_ATTRIBUTES_AT + 1] & _TRANSACTIONAL != 0
    )


def _needs_nobody(partition: Partition, records: memoryview | None) -> bool:
    """Whether a batch can be appended without asking the transaction coordinator."""
    if (
        records is None
        or len(records) < _HEADER_BYTES
        or not records[_ATTRIBUTES_AT + 1] & _TRANSACTIONAL
        or records[_MAGIC_AT] != 2
    ):
        return True
    producer_id, epoch, _ = _PRODUCER.unpack_from(records, _PRODUCER_AT)
    return partition.log.producers.is_in_transaction(producer_id, epoch)


def _append_in_transaction(ctx: RequestContext, request: ProduceRequest) -> Reply | Steps[Reply]:
    if request.transactional_id is None:
        # Who may use which transactional id is decided first, and without one nobody may.
        return _refuse_all(request, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    batches = _first_batches(ctx, request)
    if len({batch[:2] for batch in batches.values()}) > 1:
        return _refuse_all(request, ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    verification = TxnVerification(ctx.node, request.transactional_id, ctx.version, batches)
    steps = verification.begin()
    if steps is not None:
        return _append_after(ctx, request, verification, steps)
    progress = _append_each(ctx, request, verification)
    if progress.heavy:
        return _append_heavy_and_conclude(ctx, request, progress, verification)
    return _conclude(ctx, request, progress)


def _first_batches(ctx: RequestContext, request: ProduceRequest) -> dict[Partition, TxnBatch]:
    """The transactional batches that could be appended; the others are refused when their turn comes."""
    batches: dict[Partition, TxnBatch] = {}
    if request.acks not in (-1, 0, 1):
        return batches
    for topic in request.topic_data:
        for data in topic.partition_data:
            partition = _find(ctx, topic, data.index)
            if partition is None or (
                partition.tp.topic in INTERNAL_TOPICS and ctx.client_id != ADMIN_CLIENT_ID
            ):
                continue
            try:
                records = _single_batch(data.records, ctx.version, request.transactional_id)
            except KafkaError:
                continue
            if _is_transactional(records):
                batch = TxnBatch._make(_PRODUCER.unpack_from(records, _PRODUCER_AT))
                if batch.producer_id >= 0:
                    batches[partition] = batch
    return batches


def _append_after(
    ctx: RequestContext, request: ProduceRequest, verification: TxnVerification, steps: Steps[None]
) -> Steps[Reply]:
    """The append comes after a wait for the coordinator, so the connection's next request, which may have
    the next sequence, waits too.
    """
    parts = [data for topic in request.topic_data for data in topic.partition_data]
    frame = _own_bytes(ctx, [data.records for data in parts if data.records is not None])
    for data in parts:
        if data.records is not None and len(data.records) <= SMALL_FRAME_BYTES_MAX:
            data.records = memoryview(bytearray(data.records))
    pause = object()
    ctx.peer.pause_reading(pause)
    try:
        yield from steps
        progress = _append_each(ctx, request, verification)
        yield from _append_heavy(ctx, request.acks, progress, progress.heavy, verification)
    finally:
        if frame is not None:
            frame.release()
        ctx.peer.resume_reading(pause)
    reply = _conclude(ctx, request, progress)
    if isinstance(reply, GeneratorType):
        reply = yield from reply
    return reply


def _refuse_all(request: ProduceRequest, code: ErrorCode) -> Reply:
    if request.acks == 0:
        return _silent(code)
    return ProduceResponse(
        responses=[
            TopicProduceResponse(
                name=topic.name,
                topic_id=topic.topic_id,
                partition_responses=[
                    PartitionProduceResponse(index=data.index, error_code=code, base_offset=-1)
                    for data in topic.partition_data
                ],
            )
            for topic in request.topic_data
        ]
    )


# --- batches that expand to much


def _own_bytes(ctx: RequestContext, records: list[memoryview]) -> KeptFrame | None:
    """A large frame has memory of its own, which is kept; a small one lies in the scratch and the caller has
    to copy what it needs.
    """
    if any(len(each) > SMALL_FRAME_BYTES_MAX for each in records):
        return ctx.peer.keep_frame()
    return None


def _append_heavy_and_conclude(
    ctx: RequestContext,
    request: ProduceRequest,
    progress: _Progress,
    verification: TxnVerification | None = None,
) -> Steps[Reply]:
    """Their append comes after a wait, so the connection's next request, which may have the next sequence,
    waits too.
    """
    frame = _own_bytes(ctx, [each[1] for each in progress.heavy])
    owned = [
        (
            partition,
            records if len(records) > SMALL_FRAME_BYTES_MAX else memoryview(bytearray(records)),
            answer,
        )
        for partition, records, answer in progress.heavy
    ]
    pause = object()
    ctx.peer.pause_reading(pause)
    try:
        yield from _append_heavy(ctx, request.acks, progress, owned, verification)
    finally:
        if frame is not None:
            frame.release()
        ctx.peer.resume_reading(pause)
    reply = _conclude(ctx, request, progress)
    if isinstance(reply, GeneratorType):
        reply = yield from reply
    return reply


def _append_heavy(
    ctx: RequestContext,
    acks: int,
    progress: _Progress,
    heavy: list[_Heavy],
    verification: TxnVerification | None,
) -> Steps[None]:
    """Batches that expand to much are checked by a thread, one after the other."""
    node = ctx.node
    for partition, records, answer in heavy:
        try:
            yield from node.heavy_checks.enter()
            try:
                checked, data = yield DiskJob(partial(prepare, records, partition.log.config))
            finally:
                node.heavy_checks.leave()
            ticket = None
            if verification is not None and checked.header.is_transactional:
                ticket = verification.ticket_for(partition)
            info = node.append(partition, data, node.clock.now_ms(), acks, checked, verification=ticket)
        except KafkaError as error:
            progress.failed = _refuse(ctx, answer, error, partition, progress.response)
            continue
        answer.base_offset = info.first_offset
        answer.log_append_time_ms = info.log_append_time_ms
        answer.log_start_offset = info.log_start_offset
        if acks and partition.must_wait(info, acks):
            progress.waits.append((partition, info, answer))


def _single_batch(records: memoryview | None, version: int, transactional_id: str | None) -> memoryview:
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
    if attributes & _OUT_OF_THE_ORDINARY:
        if attributes & _TRANSACTIONAL and transactional_id is None:
            raise KafkaError(
                ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
                "a transactional batch needs a transactional id in its request",
            )
        if attributes & _CONTROL:
            raise KafkaError(ErrorCode.INVALID_RECORD, "clients may not write control records")
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


def _wait_for_acks(
    ctx: RequestContext,
    response: ProduceResponse,
    waits: list[_Wait],
    acks: int,
    timeout_ms: int,
) -> Steps[ProduceResponse]:
    """The next pipelined request proceeds meanwhile; replies keep their order on the connection."""
    deadline_ms = ctx.node.clock.monotonic_ms() + max(timeout_ms, 0)
    waiters = []
    for partition, info, _ in waits:
        # All register at once: a partition serves its waiters in offset order.
        waiter = Waiter(deadline_ms)
        partition.wait(info, acks, waiter)
        waiters.append(waiter)
    for (partition, info, answer), waiter in zip(waits, waiters, strict=True):
        yield waiter
        code = partition.outcome(info, acks)
        if code == ErrorCode.NONE:
            continue
        if partition.deleted:
            # Either the topic is gone, or the directory it was in.
            code = ctx.node.absence(partition.tp.topic, partition.tp.partition)
        answer.error_code = code
        answer.base_offset = -1
    return response
