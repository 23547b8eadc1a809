"""What the tests of the broker share: a node in virtual time, and a peer that collects its replies.

Everything goes the way of production: a request is encoded by the generated class, its frame is dispatched,
and the reply's bytes are decoded by the generated class. The frame is overwritten when its handler returns,
because a real one lies in a buffer that is used again. Replies pass through the same queue that sockets use.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Mapping
from functools import partial
from typing import Any

from ottla.broker.dispatch import TABLE, Dispatcher
from ottla.broker.node import Node
from ottla.metadata.image import Endpoint
from ottla.model.listeners import SecurityProtocol
from ottla.model.server_config import ServerConfig
from ottla.net.replies import ReplyQueue, Slot, release_slices
from ottla.ports.disk import FileSlice
from ottla.ports.effects import Waiter
from ottla.testing.clock import SIMULATION_BEGINS_MS, VirtualClock
from ottla.testing.disk import VirtualDisk
from ottla.testing.driver import SimDriver
from ottla.testing.network import KeptFrame
from ottla.testing.scheduler import Scheduler
from ottla.wire.framing import decode_response, encode_request
from ottla.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.wire.record_batch import Record, encode_batch

NOW = SIMULATION_BEGINS_MS
NODE_ID = 1
TOPIC_RESOURCE = 2
BROKER_RESOURCE = 4

PROPERTIES = {
    "node.id": str(NODE_ID),
    "process.roles": "broker,controller",
    "listeners": "PLAINTEXT://broker:9092,OTHER://broker:9095,CONTROLLER://broker:9093",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,OTHER:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": f"{NODE_ID}@broker:9093",
    "log.dirs": "/data",
    "auto.create.topics.enable": "false",
}
ENDPOINTS = [
    Endpoint("PLAINTEXT", "broker", 9092, SecurityProtocol.PLAINTEXT),
    Endpoint("OTHER", "elsewhere", 9095, SecurityProtocol.PLAINTEXT),
]


def versions_of(request_type: type[Any]) -> range:
    """Every version of an API that the broker takes."""
    api = TABLE[request_type.API_KEY]
    return range(api.version_min, api.version_max + 1)


def newest(request_type: type[Any]) -> int:
    return TABLE[request_type.API_KEY].version_max


class BenchPeer:
    """Implements `broker.peer.Peer` without sockets."""

    def __init__(
        self, bench: Bench, dispatcher: Dispatcher, listener_name: str, client_id: str | None = "bench"
    ) -> None:
        self.peer_host = "client"
        self.listener_name = listener_name
        self.client_id = client_id
        self.close_reason: str | None = None
        self.replies: list[bytes] = []
        self.frames_kept = 0
        self.waiters: set[Waiter] = set()
        self._dispatcher = dispatcher
        self._driver = bench.driver
        self._scheduler = bench.scheduler
        self._queue = ReplyQueue(self._take)
        self._pauses: set[int] = set()
        self._kept: KeptFrame | None = None
        self._held: deque[bytes] = deque()
        self._correlation_id = 0

    # --- what the broker calls

    def open_slot(self) -> Slot:
        return self._queue.open_slot()

    def close_quietly(self, reason: str) -> None:
        self.close(reason)

    def close(self, reason: str) -> None:
        if self.close_reason is None:
            self.close_reason = reason
            self._queue.close()
            for waiter in tuple(self.waiters):
                waiter.expire()

    def keep_frame(self) -> KeptFrame:
        self._kept = KeptFrame()
        return self._kept

    def pause_reading(self, token: object) -> None:
        self._pauses.add(id(token))

    def resume_reading(self, token: object) -> None:
        self._pauses.discard(id(token))
        self._scheduler.call_after(0.0, partial(self._driver.guard, self._deliver))

    def add_waiter(self, waiter: Waiter) -> None:
        if self.close_reason is not None:
            waiter.expire()
        else:
            self.waiters.add(waiter)

    def discard_waiter(self, waiter: Waiter) -> None:
        self.waiters.discard(waiter)

    # --- what tests call

    def send(self, request: Any, version: int | None = None) -> int:
        """Sends a request; its correlation id."""
        self._correlation_id += 1
        number = newest(type(request)) if version is None else version
        frame = b"".join(encode_request(request, number, self._correlation_id, self.client_id))
        self.send_frame(frame[4:])
        return self._correlation_id

    def send_frame(self, frame: bytes) -> None:
        self._held.append(frame)
        self._deliver()

    def _deliver(self) -> None:
        while self._held and not self._pauses and self.close_reason is None:
            buffer = bytearray(self._held.popleft())
            self._kept = None
            self._dispatcher.on_frame(self, memoryview(buffer))
            if self._kept is not None:
                self._kept.frame = buffer
                continue
            buffer[:] = b"\xaa" * len(buffer)
            try:
                buffer.clear()
            except BufferError:  # somebody has kept a view of it
                self.frames_kept += 1

    def _take(self) -> None:
        parts = self._queue.take()
        whole = b"".join(part.read() if isinstance(part, FileSlice) else bytes(part) for part in parts)
        release_slices(parts)
        position = 0
        while position < len(whole):
            size = int.from_bytes(whole[position : position + 4], "big")
            assert size <= len(whole) - position - 4, "a reply's size is not that of its parts"
            self.replies.append(whole[position + 4 : position + 4 + size])
            position += 4 + size

    @property
    def answered(self) -> list[int]:
        """The correlation ids of the replies, in their order."""
        return [int.from_bytes(reply[:4], "big") for reply in self.replies]


class Bench:
    """A broker on a virtual disk. `restart` goes on with what is on it."""

    def __init__(
        self,
        properties: Mapping[str, str] | None = None,
        *,
        disk: VirtualDisk | None = None,
        seed: int = 0,
        start: bool = True,
    ) -> None:
        self.properties = {**PROPERTIES, **(properties or {})}
        self.config = ServerConfig(self.properties)
        self.scheduler = Scheduler(seed)
        self.clock = VirtualClock(self.scheduler)
        self.fatal_errors: list[BaseException] = []
        self.disk = disk or VirtualDisk()
        if disk is None:
            for path in self.config.log_dirs:
                self.disk.make_dirs(path)
            self.disk.sync_dir("/")
        self._begin()
        if start:
            self.node.start(ENDPOINTS)

    def _begin(self) -> None:
        self.driver = SimDriver(
            self.scheduler, self.clock, on_fatal=lambda name, error: self.fatal_errors.append(error)
        )
        self.node = Node(
            self.config,
            clock=self.clock,
            disk=self.disk,
            chance=random.Random(self.scheduler.random.getrandbits(64)),
            driver=self.driver,
            fatal=self.fatal_errors.append,
        )
        self.dispatcher = Dispatcher(self.node)
        self.controller_dispatcher = Dispatcher(self.node, of_controller=True)
        self.peer = self.connect()

    def connect(self, listener_name: str = "PLAINTEXT", client_id: str | None = "bench") -> BenchPeer:
        of_controller = listener_name == "CONTROLLER"
        return BenchPeer(
            self,
            self.controller_dispatcher if of_controller else self.dispatcher,
            listener_name,
            client_id,
        )

    def restart(self, *, clean: bool = True, power_loss: bool = False) -> None:
        """The next life of the process: after a shutdown, a kill, or a loss of power."""
        if clean:
            self.node.shutdown()
        self.driver.kill()
        self.disk = self.disk.restart(self.scheduler.random, power_loss=power_loss)
        self._begin()
        self.node.start(ENDPOINTS)

    def call(
        self,
        request: Any,
        version: int | None = None,
        *,
        peer: BenchPeer | None = None,
        within_ms: float = 60_000,
    ) -> Any:
        """Sends the request, runs until its reply is there, and decodes it."""
        peer = peer or self.peer
        number = newest(type(request)) if version is None else version
        correlation_id = peer.send(request, number)
        self.scheduler.run_until(
            lambda: correlation_id in peer.answered or peer.close_reason is not None, within_ms=within_ms
        )
        assert peer.close_reason is None, peer.close_reason
        return self.reply(request, correlation_id, number, peer)

    def reply(
        self,
        request: Any,
        correlation_id: int,
        version: int | None = None,
        peer: BenchPeer | None = None,
    ) -> Any:
        peer = peer or self.peer
        frame = peer.replies[peer.answered.index(correlation_id)]
        number = newest(type(request)) if version is None else version
        found, message = decode_response(request.API_KEY, number, frame)
        assert found == correlation_id
        return message

    def settle(self) -> None:
        """Runs what is due now, and the disk jobs under way."""
        self.scheduler.run_for(25.0)

    # --- common things to do

    def create(self, name: str, partitions: int = 1, **configs: str) -> bytes:
        """Makes a topic (underscores in config names are dots); its id."""
        response = self.call(
            CreateTopicsRequest(
                topics=[
                    CreatableTopic(
                        name=name,
                        num_partitions=partitions,
                        replication_factor=-1,
                        configs=[
                            CreatableTopicConfig(name=key.replace("_", "."), value=value)
                            for key, value in configs.items()
                        ],
                    )
                ],
                timeout_ms=1000,
            )
        )
        (topic,) = response.topics
        assert topic.error_code == 0, topic
        topic_id: bytes = topic.topic_id
        return topic_id

    def delete(self, name: str) -> None:
        response = self.call(DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=1000))
        assert response.responses[0].error_code == 0, response

    def alter(self, resource_type: int, name: str, **configs: str) -> None:
        response = self.call(
            IncrementalAlterConfigsRequest(
                resources=[
                    AlterConfigsResource(
                        resource_type=resource_type,
                        resource_name=name,
                        configs=[
                            AlterableConfig(name=key.replace("_", "."), config_operation=0, value=value)
                            for key, value in configs.items()
                        ],
                    )
                ]
            )
        )
        assert response.responses[0].error_code == 0, response

    def produce(
        self, topic: str, data: bytes | bytearray | None = None, *, partition: int = 0, acks: int = -1
    ) -> int:
        """Appends one batch; its first offset."""
        response = self.call(produce_request(topic, data, partition=partition, acks=acks), 12)
        answer = response.responses[0].partition_responses[0]
        assert answer.error_code == 0, answer
        offset: int = answer.base_offset
        return offset

    def log(self, topic: str, partition: int = 0) -> Any:
        return self.node.partitions[(topic, partition)].log

    @property
    def pins(self) -> int:
        """How many slices of log files are held."""
        return sum(
            segment.file.pins  # type: ignore[attr-defined]
            for log in self.node.logs.logs.values()
            for segment in log.segments
        )


def batch(count: int = 1, *, value: bytes = b"value", timestamp: int = NOW, **options: Any) -> bytearray:
    return encode_batch([Record(0, timestamp, b"key", value) for _ in range(count)], **options)


def sent(producer_id: int, sequence: int, count: int = 1, *, epoch: int = 0) -> bytearray:
    """A batch of an idempotent producer."""
    return batch(count, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence)


def produce_request(
    topic: str,
    data: bytes | bytearray | None = None,
    *,
    partition: int = 0,
    acks: int = -1,
    topic_id: bytes = bytes(16),
    timeout_ms: int = 30_000,
) -> ProduceRequest:
    records = batch() if data is None else data
    return ProduceRequest(
        acks=acks,
        timeout_ms=timeout_ms,
        topic_data=[
            TopicProduceData(
                name=topic,
                topic_id=topic_id,
                partition_data=[PartitionProduceData(index=partition, records=memoryview(records))],
            )
        ],
    )


def fetch_request(
    positions: Mapping[Any, int],
    *,
    session_id: int = 0,
    session_epoch: int = -1,
    max_wait_ms: int = 0,
    min_bytes: int = 1,
    max_bytes: int = 1 << 25,
    partition_max_bytes: int = 1 << 20,
    isolation_level: int = 0,
    current_leader_epoch: int = -1,
    last_fetched_epoch: int = -1,
    forget: Any = (),
) -> FetchRequest:
    """`positions` by topic (a name, or an id) and partition."""
    topics: dict[str | bytes, FetchTopic] = {}
    for (topic, index), offset in positions.items():
        named = topics.get(topic)
        if named is None:
            named = topics[topic] = FetchTopic(
                topic=topic if isinstance(topic, str) else "",
                topic_id=topic if isinstance(topic, bytes) else bytes(16),
            )
        named.partitions.append(
            FetchPartition(
                partition=index,
                fetch_offset=offset,
                partition_max_bytes=partition_max_bytes,
                current_leader_epoch=current_leader_epoch,
                last_fetched_epoch=last_fetched_epoch,
            )
        )
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        isolation_level=isolation_level,
        session_id=session_id,
        session_epoch=session_epoch,
        topics=list(topics.values()),
        forgotten_topics_data=list(forget),
    )


def partitions_of(response: Any) -> dict[tuple[str | bytes, int], Any]:
    """A fetch response's partitions by topic (its name, or its id from version 13 on) and index."""
    return {
        (topic.topic or topic.topic_id, data.partition_index): data
        for topic in response.responses
        for data in topic.partitions
    }
