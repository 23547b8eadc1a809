"""Small clients for simulations: generators that speak the wire protocol over a simulated network.

The producer is idempotent and does what Kafka's own do: up to five requests in flight, and after a lost
connection, a timeout or a retriable error it reconnects and sends everything that is not acknowledged again,
in order, with the sequences it had. So the broker sees duplicates, and must answer them with the old offsets.
The consumer reads one partition from its start with long polls, and goes on where it was after a lost
connection.

Values are `<producer>:<number>`, so that a ledger can tell who sent what, and in which order.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from typing import Any, Final

from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.ports.effects import Sleep, Steps, Waiter
from ottla.testing.clock import VirtualClock
from ottla.testing.ledger import Ledger, Violation
from ottla.testing.network import ClientEnd, ConnectionLost, SimNetwork
from ottla.wire.framing import decode_response, encode_request
from ottla.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from ottla.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.wire.messages.init_producer_id import InitProducerIdRequest
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.wire.record_batch import Codec, Record, decode_batch, encode_batch, iter_headers

IN_FLIGHT_MAX: Final = 5
"""Kafka's bound for idempotent producers: as many batches as a broker remembers of each."""

ZERO_UUID: Final = bytes(16)
TOPIC_RESOURCE: Final = 2
CHANGED_KEY: Final = "file.delete.delay.ms"

CALL_TIMEOUT_MS: Final = 40_000.0
RETRY_BACKOFF_MS: Final = 100.0


class Call:
    """A request under way on one connection."""

    __slots__ = ("api_key", "version", "waiter", "response")

    def __init__(self, api_key: int, version: int, deadline_ms: float) -> None:
        self.api_key = api_key
        self.version = version
        self.waiter = Waiter(deadline_ms)
        self.response: Any = None


class Session:
    """One connection to a broker. Replies belong to the calls in their order, as Kafka promises."""

    def __init__(self, end: ClientEnd, clock: VirtualClock, name: str) -> None:
        self._end = end
        self._clock = clock
        self._name = name
        self._calls: deque[tuple[int, Call]] = deque()
        self._correlation_id = 0
        self._abandoned = False
        end.on_reply = self._reply
        end.on_closed = self._lost

    def start(self, request: Any, version: int) -> Call:
        call = Call(request.API_KEY, version, self._clock.monotonic_ms() + CALL_TIMEOUT_MS)
        self._correlation_id += 1
        parts = encode_request(request, version, self._correlation_id, self._name)
        self._calls.append((self._correlation_id, call))
        self._end.send(b"".join(bytes(part) for part in parts))
        return call

    def finish(self, call: Call) -> Steps[Any]:
        yield call.waiter
        if call.response is None:
            self.close()
            raise ConnectionLost("no reply came")
        return call.response

    def call(self, request: Any, version: int) -> Steps[Any]:
        return (yield from self.finish(self.start(request, version)))

    def close(self) -> None:
        if not self._abandoned:
            self._end.close()
        self._lost()

    def abandon(self) -> None:
        """The client's machine is gone: its calls end here, and the broker is told nothing."""
        self._abandoned = True
        self._end.on_reply = self._end.on_closed = None
        self._lost()

    def _reply(self, frame: bytes) -> None:
        correlation_id, call = self._calls.popleft()
        found, response = decode_response(call.api_key, call.version, frame)
        if found != correlation_id:
            raise Violation(f"reply {found} came where reply {correlation_id} belongs")
        call.response = response
        call.waiter.fire()

    def _lost(self) -> None:
        calls, self._calls = self._calls, deque()
        for _, call in calls:
            call.waiter.fire()


class SimClient:
    """What every client needs: an address, a clock, and the patience to connect."""

    def __init__(
        self,
        network: SimNetwork,
        clock: VirtualClock,
        address: str,
        name: str,
        ledger: Ledger,
        report: Counter[str],
    ) -> None:
        self.network = network
        self.clock = clock
        self.address = address
        self.name = name
        self.ledger = ledger
        self.report = report
        self.random = network.scheduler.random

    def connect(self) -> Steps[Session]:
        while True:
            try:
                return Session(self.network.connect(self.address), self.clock, self.name)
            except ConnectionLost:
                yield Sleep(RETRY_BACKOFF_MS * (0.5 + self.random.random()))


class TopicCreator(SimClient):
    """Creates one topic, whatever happens, and tells its id. `find` asks for the id of one that exists."""

    topic_id: bytes | None = None

    def find(self, topic: str) -> Steps[bytes]:
        while True:
            session = yield from self.connect()
            try:
                response = yield from session.call(
                    MetadataRequest(
                        topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False
                    ),
                    12,
                )
            except ConnectionLost:
                continue
            finally:
                session.close()
            found = response.topics[0]
            if found.error_code == ErrorCode.NONE:
                topic_id: bytes = found.topic_id
                return topic_id
            if not ErrorCode(found.error_code).retriable:
                raise Violation(f"looking for {topic}: {ErrorCode(found.error_code).name}")
            yield Sleep(RETRY_BACKOFF_MS)

    def run(self, topic: str, partitions: int, configs: dict[str, str]) -> Steps[None]:
        request = CreateTopicsRequest(
            topics=[
                CreatableTopic(
                    name=topic,
                    num_partitions=partitions,
                    replication_factor=1,
                    configs=[CreatableTopicConfig(name=key, value=value) for key, value in configs.items()],
                )
            ],
            timeout_ms=30_000,
        )
        while True:
            session = yield from self.connect()
            try:
                response = yield from session.call(request, 7)
            except ConnectionLost:
                self.report["create_topic_retries"] += 1
                continue
            finally:
                session.close()
            result = response.topics[0]
            if result.error_code == ErrorCode.NONE:
                self.topic_id = result.topic_id
                return
            if result.error_code == ErrorCode.TOPIC_ALREADY_EXISTS:
                self.topic_id = yield from self.find(topic)  # the reply to an earlier attempt was lost
                return
            if not ErrorCode(result.error_code).retriable:
                raise Violation(
                    f"creating {topic}: {ErrorCode(result.error_code).name} {result.error_message}"
                )
            yield Sleep(RETRY_BACKOFF_MS)


class ConfigChanger(SimClient):
    """Sets one topic's `file.delete.delay.ms` to 1, 2, 3 … and remembers what was acknowledged."""

    acked = 0
    sent = 0
    stop = False
    done = False

    def run(self, topic: str) -> Steps[None]:
        while not self.stop:
            session = yield from self.connect()
            self.sent += 1
            try:
                response = yield from session.call(
                    IncrementalAlterConfigsRequest(
                        resources=[
                            AlterConfigsResource(
                                resource_type=TOPIC_RESOURCE,
                                resource_name=topic,
                                configs=[AlterableConfig(name=CHANGED_KEY, value=str(self.sent))],
                            )
                        ]
                    ),
                    1,
                )
                if response.responses[0].error_code == ErrorCode.NONE:
                    self.acked = self.sent
                    self.report["configs_changed"] += 1
            except ConnectionLost:
                pass
            finally:
                session.close()
            yield Sleep(self.random.random() * 400.0)
        self.done = True

    def check(self, topic: str) -> Steps[None]:
        """What is in force is the last acknowledged value, or one that was sent after it."""
        session = yield from self.connect()
        response = yield from session.call(
            DescribeConfigsRequest(
                resources=[
                    DescribeConfigsResource(
                        resource_type=TOPIC_RESOURCE, resource_name=topic, configuration_keys=[CHANGED_KEY]
                    )
                ]
            ),
            4,
        )
        session.close()
        found = int(response.results[0].configs[0].value)
        if self.acked and not self.acked <= found <= self.sent:
            raise Violation(f"{topic}: {CHANGED_KEY} is {found}, {self.acked} was acknowledged")


class _Batch:
    __slots__ = ("values", "data")

    def __init__(self, values: list[bytes], data: bytes) -> None:
        self.values = values
        self.data = data


class SimProducer(SimClient):
    """Writes `count` batches to one partition, each acknowledged by all replicas."""

    done = False
    acked = False
    topic_id = ZERO_UUID
    """Needed from Produce version 13 on."""

    def run(
        self, tp: TopicPartition, count: int, *, version: int = 12, pause_ms: float = 20.0
    ) -> Steps[None]:
        unacked: deque[_Batch] = deque()
        producer_id = epoch = -1
        sequence = number = made = 0
        while made < count or unacked:
            session = yield from self.connect()
            try:
                if producer_id < 0:
                    answer = yield from session.call(
                        InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000), 4
                    )
                    if answer.error_code != ErrorCode.NONE:
                        raise ConnectionLost(ErrorCode(answer.error_code).name)
                    producer_id, epoch = answer.producer_id, answer.producer_epoch
                calls: deque[Call] = deque()
                for batch in unacked:
                    self.report["batches_retried"] += 1
                    calls.append(session.start(self._request(tp, batch), version))
                while calls or made < count:
                    # The first goes alone: a partition lets a producer that it does not know begin anywhere
                    # (KIP-360), so were the first refused and the second not, the first could never follow.
                    while made < count and len(calls) < (IN_FLIGHT_MAX if self.acked else 1):
                        values = [
                            b"%s:%d" % (self.name.encode(), number + k)
                            for k in range(self.random.randint(1, 4))
                        ]
                        batch = _Batch(values, self._encode(values, producer_id, epoch, sequence))
                        number += len(values)
                        sequence += len(values)
                        made += 1
                        self.ledger.sent(tp, values)
                        unacked.append(batch)
                        calls.append(session.start(self._request(tp, batch), version))
                        if self.random.random() < 0.5:
                            break
                    self._acknowledge(tp, (yield from session.finish(calls.popleft())), unacked)
                    if self.random.random() < 0.3:
                        yield Sleep(self.random.random() * pause_ms)
            except ConnectionLost:
                self.report["producer_reconnects"] += 1
                yield Sleep(RETRY_BACKOFF_MS * self.random.random())
            finally:
                session.close()
        self.done = True

    def _acknowledge(self, tp: TopicPartition, response: Any, unacked: deque[_Batch]) -> None:
        answer = response.responses[0].partition_responses[0]
        code = ErrorCode(answer.error_code)
        if code is ErrorCode.NONE:
            batch = unacked.popleft()
            self.ledger.acked(tp, answer.base_offset, batch.values)
            self.acked = True
            self.report["batches_acked"] += 1
        elif code.retriable:
            self.report[f"produce_{code.name.lower()}"] += 1
            raise ConnectionLost(code.name)
        else:
            raise Violation(
                f"{self.name} to {tp}, {unacked[0].values}: {code.name} {answer.error_message or ''}"
            )

    def _encode(self, values: Sequence[bytes], producer_id: int, epoch: int, sequence: int) -> bytes:
        now_ms = self.clock.now_ms()
        padding = self.random.choice((b"", b"x" * 100, b"y" * 1500))
        return bytes(
            encode_batch(
                [Record(0, now_ms, padding, value) for value in values],
                codec=self.random.choice((Codec.NONE, Codec.NONE, Codec.LZ4)),
                producer_id=producer_id,
                producer_epoch=epoch,
                base_sequence=sequence,
            )
        )

    def _request(self, tp: TopicPartition, batch: _Batch) -> ProduceRequest:
        return ProduceRequest(
            acks=-1,
            timeout_ms=30_000,
            topic_data=[
                TopicProduceData(
                    name=tp.topic,
                    topic_id=self.topic_id,
                    partition_data=[PartitionProduceData(index=tp.partition, records=memoryview(batch.data))],
                )
            ],
        )


class SimConsumer(SimClient):
    """Reads one partition from `offset` on, until `stop` is set and the end is reached.

    With `incremental` it keeps a fetch session (KIP-227) and names its partition only when its position has
    moved, so that a broker which forgets what the session knows is found out.
    """

    stop = False
    offset = 0
    done = False
    topic_id = ZERO_UUID
    """Needed from Fetch version 13 on."""
    incremental = False
    _session_id = 0
    _session_epoch = 0
    _named_offset = -1

    def run(self, tp: TopicPartition, *, version: int = 12) -> Steps[list[tuple[int, bytes]]]:
        records: list[tuple[int, bytes]] = []
        while not self.done:
            session = yield from self.connect()
            self._session_id = self._session_epoch = 0
            try:
                while not self.done:
                    request = self._request(tp)
                    response = yield from session.call(request, version)
                    if response.error_code:
                        code = ErrorCode(response.error_code)
                        self.report[f"fetch_{code.name.lower()}"] += 1
                        raise ConnectionLost(code.name)
                    if request.session_epoch >= 0:
                        self._session_id = response.session_id
                        self._session_epoch = request.session_epoch + 1 if response.session_id else 0
                    for topic in response.responses:
                        for partition in topic.partitions:
                            self._take(tp, partition, records)
            except ConnectionLost:
                self.report["consumer_reconnects"] += 1
                yield Sleep(RETRY_BACKOFF_MS * self.random.random())
            finally:
                session.close()
        return records

    def _request(self, tp: TopicPartition) -> FetchRequest:
        # Near the end only a full request will do: an incremental one is silent about what did not change.
        incremental = self.incremental and not self.stop
        request = FetchRequest(
            max_wait_ms=self.random.choice((0, 100, 500)),
            min_bytes=self.random.choice((0, 1, 2000)),
            max_bytes=self.random.choice((1, 3000, 1 << 20)),
            session_id=self._session_id if incremental else 0,
            session_epoch=self._session_epoch if incremental else -1,
        )
        if incremental and self._session_epoch > 0 and self._named_offset == self.offset:
            self.report["incremental_fetches"] += 1
            return request
        self._named_offset = self.offset
        request.topics = [
            FetchTopic(
                topic=tp.topic,
                topic_id=self.topic_id,
                partitions=[
                    FetchPartition(
                        partition=tp.partition,
                        fetch_offset=self.offset,
                        partition_max_bytes=self.random.choice((1, 3000, 1 << 20)),
                    )
                ],
            )
        ]
        return request

    def _take(self, tp: TopicPartition, answer: Any, records: list[tuple[int, bytes]]) -> None:
        code = ErrorCode(answer.error_code)
        if code is not ErrorCode.NONE:
            if code.retriable:
                self.report[f"fetch_{code.name.lower()}"] += 1
                raise ConnectionLost(code.name)
            raise Violation(f"fetching {tp} from {self.offset}: {code.name}")
        self.ledger.high_watermark(self.name, tp, answer.high_watermark)
        data = bytes(answer.records or b"")
        for position, header in iter_headers(data, 0, len(data)):
            if header.last_offset >= answer.high_watermark:
                raise Violation(f"{tp}: offset {header.last_offset} was shown above {answer.high_watermark}")
            for record in decode_batch(data, position, decompressed_bytes_max=1 << 20):
                if record.offset < self.offset:
                    continue  # a fetch may begin inside a batch, which is sent whole
                if record.offset != self.offset:
                    raise Violation(f"{tp}: offset {record.offset} came where {self.offset} is next")
                self.ledger.consumed(tp, record.offset, record.value)
                assert record.value is not None
                records.append((record.offset, record.value))
                self.offset = record.offset + 1
                self.report["records_consumed"] += 1
        if self.stop and self.offset >= answer.high_watermark:
            self.done = True
