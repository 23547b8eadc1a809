"""Publishing records: partition, batch, send, and try again until the broker has said yes.

Part of the core: `add` decides and gathers, `send` and `flush` are generators over effects. With acks=all
the producer is idempotent (KIP-98): the broker knows its id and each batch's sequence, so a batch whose
answer was lost is sent again, byte for byte, and stored once. There is one request per broker and one batch
per partition under way at a time, so nothing can overtake.

A batch that cannot be delivered is the end of the producer: what would follow it in its partition would be
out of order, so every later call raises the same error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ottla.client.accumulator import Accumulator, Batch
from ottla.client.backoff import Backoff
from ottla.client.cluster import MISSING_TOPIC, Cluster
from ottla.client.effects import Answer, Call, CallMany, ClientSteps, Pause, Versioned
from ottla.client.errors import InvalidArgument, OttlaError, ServerError, raise_for
from ottla.client.partitioner import StickyPartitioner, partition_for_key
from ottla.client.records import OutgoingRecord
from ottla.model.errors import ErrorCode
from ottla.model.types import NO_TOPIC_ID, TopicPartition
from ottla.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    TopicProduceData,
)
from ottla.wire.record_batch import Codec, Record, encode_batch

BATCH_HEADER_BYTES = 61

NEW_TOPIC_TIMEOUT_MS = 10_000
"""How long a topic that the cluster is asked to create on first use may take to appear."""

METADATA_AGE_MS_MAX = 300_000
"""`metadata.max.age.ms`: partitions that were added meanwhile are noticed after this time."""


@dataclass(frozen=True, slots=True)
class ProducerSettings:
    """Kafka's producer keys, as far as they have a meaning here."""

    acks: int = -1
    idempotent: bool = True
    batch_bytes: int = 256 * 1024
    linger_ms: float = 5
    codec: Codec = Codec.NONE
    level: int | None = None
    request_bytes_max: int = 1024 * 1024
    """`max.request.size`: a single record above it is refused before it is sent."""
    request_timeout_ms: int = 30_000
    delivery_timeout_ms: int = 120_000

    def check(self) -> None:
        if self.acks not in (-1, 0, 1):
            raise InvalidArgument(f"acks is {self.acks}: write all, 1 or 0")
        if self.idempotent and self.acks != -1:
            raise InvalidArgument("an idempotent producer needs acks=all")


class Producer:
    def __init__(self, cluster: Cluster, settings: ProducerSettings) -> None:
        settings.check()
        self._cluster = cluster
        self._settings = settings
        self._waiting = Accumulator(settings.batch_bytes, settings.linger_ms)
        self._sticky = StickyPartitioner(
            settings.batch_bytes, lambda n: min(int(cluster.chance() * n), n - 1)
        )
        self._producer_id = -1
        self._producer_epoch = -1
        self._next_sequence: dict[TopicPartition, int] = {}
        self._topics: set[str] = set()
        self._refreshed_ms = 0.0
        self._failure: OttlaError | None = None
        self.delivered_count = 0
        self.delivered_bytes = 0
        """What was handed to the broker, batches as they travel."""

    @property
    def waiting_count(self) -> int:
        return self._waiting.record_count

    @property
    def waiting_bytes(self) -> int:
        return self._waiting.size_bytes

    def prepare(self, topic: str) -> ClientSteps[None]:
        """Learns where the topic's partitions are; where the cluster allows it, this creates the topic."""

        def worth(error: OttlaError) -> bool:
            return error.retriable

        yield from self._cluster.discover(
            [topic], create_missing=True, timeout_ms=NEW_TOPIC_TIMEOUT_MS, worth=worth
        )
        self._topics.add(topic)
        self._refreshed_ms = self._cluster.clock.monotonic_ms()

    def add(self, topic: str, record: OutgoingRecord) -> TopicPartition:
        """Puts a record in line (the topic has to be prepared). `send` or `flush` make it travel."""
        if self._failure is not None:
            raise self._failure
        size_bytes = record.size_bytes()
        if size_bytes + BATCH_HEADER_BYTES > self._settings.request_bytes_max:
            raise InvalidArgument(
                f"a record of {size_bytes} bytes exceeds max.request.size={self._settings.request_bytes_max}"
            )
        view = self._cluster.view.topic(topic)
        if record.partition is not None:
            self._cluster.view.partition(topic, record.partition)
            partition = record.partition
        elif record.key is not None:
            partition = partition_for_key(record.key, len(view.partitions))
        else:
            available = view.available() or [p.index for p in view.partitions]
            partition = self._sticky.partition(topic, available, size_bytes)
        clock = self._cluster.clock
        timestamp_ms = clock.now_ms() if record.timestamp_ms is None else record.timestamp_ms
        tp = TopicPartition(topic, partition)
        self._waiting.add(
            tp,
            Record(0, timestamp_ms, record.key, record.value, record.headers),
            size_bytes,
            clock.monotonic_ms(),
        )
        return tp

    @property
    def should_send(self) -> bool:
        """Whether a batch is full or has lingered long enough."""
        return self._waiting.ready(self._cluster.clock.monotonic_ms())

    def send(self) -> ClientSteps[None]:
        """Delivers the batches that are full or have lingered; returns when the broker has confirmed them."""
        yield from self._send(everything=False)

    def flush(self) -> ClientSteps[None]:
        """Delivers everything."""
        yield from self._send(everything=True)

    def _send(self, *, everything: bool) -> ClientSteps[None]:
        if self._failure is not None:
            raise self._failure
        clock = self._cluster.clock
        if self._topics and clock.monotonic_ms() - self._refreshed_ms > METADATA_AGE_MS_MAX:
            yield from self._cluster.discover(sorted(self._topics))
            self._refreshed_ms = clock.monotonic_ms()
        while batches := self._waiting.take(clock.monotonic_ms(), everything=everything):
            if self._settings.idempotent and self._producer_id < 0:
                yield from self._init_producer_id()
            for batch in batches:
                self._seal(batch)
            try:
                yield from self._deliver(batches)
            except OttlaError as error:
                self._failure = error
                raise

    def _init_producer_id(self) -> ClientSteps[None]:
        from ottla.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=0x7FFFFFFF)

        def attempt() -> ClientSteps[InitProducerIdResponse]:
            response: InitProducerIdResponse = yield from self._cluster.ask_anyone(request)
            raise_for(response.error_code)
            return response

        response = yield from self._cluster.retrying(attempt, timeout_ms=self._settings.delivery_timeout_ms)
        self._producer_id = response.producer_id
        self._producer_epoch = response.producer_epoch

    def _seal(self, batch: Batch) -> None:
        """Gives the batch its sequence, once, and its bytes."""
        settings = self._settings
        if settings.idempotent and batch.base_sequence is None:
            sequence = self._next_sequence.get(batch.tp, 0)
            batch.base_sequence = sequence
            self._next_sequence[batch.tp] = (sequence + len(batch.records)) & 0x7FFFFFFF
        if batch.encoded is None:
            batch.encoded = encode_batch(
                batch.records,
                codec=settings.codec,
                level=settings.level,
                producer_id=self._producer_id,
                producer_epoch=self._producer_epoch,
                base_sequence=-1 if batch.base_sequence is None else batch.base_sequence,
            )

    def _deliver(self, batches: Sequence[Batch]) -> ClientSteps[None]:
        clock = self._cluster.clock
        backoff = Backoff(clock.monotonic_ms() + self._settings.delivery_timeout_ms, self._cluster.chance)
        pending = list(batches)
        while True:
            pending, error = yield from self._attempt(pending)
            if not pending:
                return
            assert error is not None
            wait_ms = backoff.next_wait_ms(clock.monotonic_ms())
            if wait_ms is None:
                raise error
            yield Pause(wait_ms)
            try:
                yield from self._cluster.refresh(sorted(self._topics))
                self._refreshed_ms = clock.monotonic_ms()
            except OttlaError as refresh_error:
                if not refresh_error.retriable:
                    raise

    def _attempt(self, batches: Sequence[Batch]) -> ClientSteps[tuple[list[Batch], OttlaError | None]]:
        """Sends each batch once; gives those that have to be sent again, with the reason of one of them."""
        again: list[Batch] = []
        reason: OttlaError | None = None
        by_leader: dict[int, list[Batch]] = {}
        for batch in batches:
            try:
                leader = self._cluster.view.leader(*batch.tp)
            except ServerError as error:
                if not error.retriable:
                    raise
                again.append(batch)
                reason = error
                continue
            by_leader.setdefault(leader, []).append(batch)
        if not by_leader:
            return again, reason
        calls = [self._call(leader, sent) for leader, sent in by_leader.items()]
        answers: list[Answer] = yield CallMany(calls)
        for answer, sent in zip(answers, by_leader.values(), strict=True):
            if answer.error is not None:
                if not (isinstance(answer.error, OttlaError) and answer.error.retriable):
                    raise answer.error
                again += sent
                reason = answer.error
            elif self._settings.acks == 0:
                for batch in sent:
                    self._delivered(batch)
            else:
                for batch, result in self._results(sent, answer):
                    error_of_batch = self._settle(batch, result)
                    if error_of_batch is not None:
                        again.append(batch)
                        reason = error_of_batch
        return again, reason

    def _call(self, leader: int, batches: Sequence[Batch]) -> Call:
        view = self._cluster.view
        topic_ids = {batch.tp.topic: view.topic_id(batch.tp.topic) for batch in batches}
        by_id = NO_TOPIC_ID not in topic_ids.values()

        def build(version: int) -> ProduceRequest:
            topics: dict[str, list[PartitionProduceData]] = {}
            for batch in batches:
                data = PartitionProduceData(index=batch.tp.partition, records=batch.encoded)
                topics.setdefault(batch.tp.topic, []).append(data)
            return ProduceRequest(
                transactional_id=None,
                acks=self._settings.acks,
                timeout_ms=self._settings.request_timeout_ms,
                topic_data=[
                    TopicProduceData(topic_id=topic_ids[name], partition_data=data)
                    if version >= 13
                    else TopicProduceData(name=name, partition_data=data)
                    for name, data in topics.items()
                ],
            )

        return Call(
            leader,
            Versioned(ProduceRequest.API_KEY, build),
            version_max=ProduceRequest.MAX_VERSION if by_id else 12,
            timeout_ms=self._settings.request_timeout_ms,
            answered=self._settings.acks != 0,
        )

    def _results(
        self, batches: Sequence[Batch], answer: Answer
    ) -> list[tuple[Batch, PartitionProduceResponse]]:
        found: dict[TopicPartition, PartitionProduceResponse] = {}
        names = {self._cluster.view.topic_id(batch.tp.topic): batch.tp.topic for batch in batches}
        for topic in answer.response.responses:
            name = topic.name or names.get(bytes(topic.topic_id), "")
            for partition in topic.partition_responses:
                found[TopicPartition(name, partition.index)] = partition
        missing = PartitionProduceResponse(error_code=ErrorCode.UNKNOWN_SERVER_ERROR)
        return [(batch, found.get(batch.tp, missing)) for batch in batches]

    def _settle(self, batch: Batch, result: PartitionProduceResponse) -> OttlaError | None:
        """Takes in the broker's verdict on a batch; the error when it has to be sent again."""
        code = result.error_code
        # A duplicate is a batch whose first answer was lost: it is stored.
        if code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
            self._delivered(batch)
            return None
        if code == ErrorCode.MESSAGE_TOO_LARGE and len(batch.records) > 1:
            self._waiting.put_back(list(batch.halves()))
            return None
        error = ServerError(code, result.error_message, subject=f"{batch.tp}")
        if error.retriable or error.code in MISSING_TOPIC:
            return error
        raise error

    def _delivered(self, batch: Batch) -> None:
        assert batch.encoded is not None
        self.delivered_count += len(batch.records)
        self.delivered_bytes += len(batch.encoded)
