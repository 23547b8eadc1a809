"""What the tests of replication share: several brokers in one process, and a controller made of one dict.

The nodes, their logs, their handlers and the way of a fetch over the network are those of production. The
quorum is not there: `publish` gives every node the image that the test wants, and `Controller` answers
AlterPartition as a controller would, unless the test says otherwise.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from ottla.broker.dispatch import TABLE, Dispatcher
from ottla.broker.node import Node
from ottla.metadata.features import bootstrap_records
from ottla.metadata.image import EMPTY_IMAGE, ImageBuilder, ImageDelta, MetadataImage, PartitionState
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.server_config import ServerConfig
from ottla.ports.effects import Sleep, Steps
from ottla.ports.peers import Address
from ottla.replication.partition import Partition
from ottla.testing.clock import SIMULATION_BEGINS_MS, VirtualClock
from ottla.testing.disk import VirtualDisk
from ottla.testing.driver import SimDriver
from ottla.testing.network import ClientEnd, ServerEnd, SimNetwork
from ottla.testing.peers import sim_peers
from ottla.testing.scheduler import Scheduler
from ottla.wire.framing import decode_response, encode_request
from ottla.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionRequestPartitionData,
    AlterPartitionResponse,
    AlterPartitionResponsePartitionData,
    AlterPartitionResponseTopicData,
)
from ottla.wire.messages.cluster_metadata import (
    BrokerEndpoint,
    ConfigRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.wire.record_batch import Record, encode_batch

NOW = SIMULATION_BEGINS_MS
TOPIC_ID = bytes(range(1, 17))


def batch(count: int = 1, *, value: bytes = b"value", **options: Any) -> bytearray:
    return encode_batch([Record(0, NOW, b"key", value) for _ in range(count)], **options)


class Controller:
    """Decides on the newest image; its word is published to all nodes."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.asked: list[AlterPartitionRequest] = []
        self.refuses: Callable[[AlterPartitionRequestPartitionData], ErrorCode] = lambda _: ErrorCode.NONE
        self.is_reachable = True
        self.publishes = True

    def ask(self, request: Any) -> Steps[Any]:
        yield Sleep(1.0)
        if not self.is_reachable:
            raise KafkaError(ErrorCode.REQUEST_TIMED_OUT)
        if not isinstance(request, AlterPartitionRequest):
            yield Sleep(30_000.0)
            raise KafkaError(ErrorCode.REQUEST_TIMED_OUT)
        self.asked.append(request)
        response = AlterPartitionResponse()
        for topic in request.topics:
            answers = AlterPartitionResponseTopicData(topic_id=topic.topic_id)
            response.topics.append(answers)
            for asked in topic.partitions:
                answers.partitions.append(self._alter(topic.topic_id, asked))
        return response

    def _alter(
        self, topic_id: bytes, asked: AlterPartitionRequestPartitionData
    ) -> AlterPartitionResponsePartitionData:
        image = self.cluster.image
        topic = image.topics_by_id.get(topic_id)
        state = None if topic is None else topic.partitions.get(asked.partition_index)
        code = self.refuses(asked)
        if state is None:
            code = ErrorCode.UNKNOWN_TOPIC_ID
        elif asked.leader_epoch < state.leader_epoch:
            code = ErrorCode.FENCED_LEADER_EPOCH
        elif asked.partition_epoch < state.partition_epoch:
            code = ErrorCode.INVALID_UPDATE_VERSION
        if code or state is None:
            return AlterPartitionResponsePartitionData(partition_index=asked.partition_index, error_code=code)
        isr = [each.broker_id for each in asked.new_isr_with_epochs]
        record = PartitionChangeRecord(
            partition_id=asked.partition_index, topic_id=topic_id, isr=isr, leader_recovery_state=0
        )
        self.cluster.change([record], to_all=self.publishes)
        return AlterPartitionResponsePartitionData(
            partition_index=asked.partition_index,
            leader_id=state.leader,
            leader_epoch=state.leader_epoch,
            isr=isr,
            leader_recovery_state=0,
            partition_epoch=state.partition_epoch + 1,
        )


class Member:
    """One broker: its disk goes from one life to the next."""

    def __init__(self, cluster: Cluster, node_id: int, properties: Mapping[str, str]) -> None:
        self.cluster = cluster
        self.node_id = node_id
        self.address = Address(f"broker-{node_id}", 9092)
        self.config = ServerConfig(
            {
                "node.id": str(node_id),
                "process.roles": "broker,controller",
                "listeners": f"PLAINTEXT://{self.address},CONTROLLER://broker-{node_id}:9093",
                "controller.listener.names": "CONTROLLER",
                "controller.quorum.voters": f"{node_id}@broker-{node_id}:9093",
                "log.dirs": "/data",
                **properties,
            }
        )
        self.disk = VirtualDisk()
        for path in self.config.log_dirs:
            self.disk.make_dirs(path)
        self.disk.sync_dir("/")
        self.clock = VirtualClock(cluster.scheduler)
        self.fatal_errors: list[BaseException] = []
        self.up = False
        self._connections: dict[ServerEnd, None] = {}
        self._images: deque[tuple[MetadataImage, ImageDelta]] = deque()
        self._applying = False

    def start(self) -> None:
        cluster = self.cluster
        self.driver = SimDriver(
            cluster.scheduler, self.clock, on_fatal=lambda name, error: self.fatal_errors.append(error)
        )
        self.node = Node(
            self.config,
            clock=self.clock,
            disk=self.disk,
            chance=random.Random(self.node_id),
            driver=self.driver,
            fatal=self.fatal_errors.append,
            peers=sim_peers(
                cluster.network,
                self.driver,
                self.clock,
                node_id=self.node_id,
                source=f"broker-{self.node_id}",
            ),
        )
        node = self.node
        node.ask_controller = self._ask  # type: ignore[method-assign]
        self.dispatcher = Dispatcher(node)
        node.logs.open_dirs()
        node._set_image(cluster.image)
        node.logs.load(node.replicas.is_wanted)
        broker = cluster.image.brokers.get(self.node_id)
        node.broker_epoch = -1 if broker is None else broker.epoch
        node._take_settings()
        node.replicas.take_all()
        node.follows_image = True
        node.replicas.start()
        node.serving = True
        self._images.clear()
        self._applying = False
        cluster.network.listen(str(self.address), self)
        self.up = True

    def _ask(self, request: Any, version: int, timeout_ms: float = 0.0, **_: Any) -> Steps[Any]:
        encode_request(request, version, 0, None)  # what cannot be said is found here
        return self.cluster.controller.ask(request)

    def stop(self) -> None:
        self.node.replicas.stop()
        self.node.logs.shutdown(self.node.broker_epoch)
        self.kill()

    def kill(self, *, power_loss: bool = False) -> None:
        self.up = False
        self.cluster.network.stop_listening(str(self.address))
        self.disk.crash()
        self.driver.kill()
        connections, self._connections = self._connections, {}
        for connection in connections:
            connection.crashed()
        self.disk = self.disk.restart(self.cluster.scheduler.random, power_loss=power_loss)

    def take(self, image: MetadataImage, delta: ImageDelta) -> None:
        if self.up:
            self._images.append((image, delta))
            if not self._applying:
                self._applying = True
                self.driver.spawn(self._apply(), "image")

    def _apply(self) -> Steps[None]:
        while self._images:
            image, delta = self._images.popleft()
            yield from self.node._apply(image, delta)
        self._applying = False

    def partition(self, index: int = 0, topic: str = "events") -> Partition:
        return self.node.partitions[(topic, index)]

    def bytes_of(self, index: int = 0, upto_offset: int | None = None, topic: str = "events") -> bytes:
        """The log's bytes, as they are on disk."""
        log = self.partition(index, topic).log
        end = log.log_end_offset if upto_offset is None else upto_offset
        found = b""
        offset = log.log_start_offset
        while offset < end:
            result = log.read(offset, 1 << 30, upto_offset=end)
            if result.slice is None:
                break
            data = result.slice.read()
            result.slice.release()
            found += data
            position = 0
            while position < len(data):
                size = 12 + int.from_bytes(data[position + 8 : position + 12], "big")
                base = int.from_bytes(data[position : position + 8], "big")
                offset = base + int.from_bytes(data[position + 23 : position + 27], "big") + 1
                position += size
        return found

    # --- the network's acceptor

    def accept(self, connection: ServerEnd) -> None:
        self._connections[connection] = None

    def on_frame(self, connection: ServerEnd, frame: memoryview) -> None:
        self.driver.guard(lambda: self.dispatcher.on_frame(connection, frame))

    def on_closed(self, connection: ServerEnd) -> None:
        self._connections.pop(connection, None)


class Client:
    def __init__(self, cluster: Cluster, member: Member) -> None:
        self._cluster = cluster
        self._end: ClientEnd = cluster.network.connect(str(member.address))
        self._end.on_reply = self._received
        self._end.on_closed = lambda: None
        self._number = 0
        self._asked: dict[int, tuple[int, int]] = {}
        self.answers: dict[int, Any] = {}

    def send(self, request: Any, version: int | None = None) -> int:
        self._number += 1
        number = TABLE[request.API_KEY].version_max if version is None else version
        self._asked[self._number] = (request.API_KEY, number)
        self._end.send(b"".join(encode_request(request, number, self._number, "bench")))
        return self._number

    def _received(self, frame: bytes) -> None:
        correlation_id = int.from_bytes(frame[:4], "big")
        key, version = self._asked.pop(correlation_id)
        self.answers[correlation_id] = decode_response(key, version, frame)[1]

    def call(self, request: Any, version: int | None = None) -> Any:
        number = self.send(request, version)
        self._cluster.until(lambda: number in self.answers)
        return self.answers.pop(number)


class Cluster:
    def __init__(self, count: int = 3, *, seed: int = 0, **properties: str) -> None:
        self.scheduler = Scheduler(seed)
        self.network = SimNetwork(self.scheduler)
        self.controller = Controller(self)
        self.image = EMPTY_IMAGE
        named = {key.replace("_", "."): value for key, value in properties.items()}
        racks = {each: named.pop(f"rack.{each}", None) for each in range(1, count + 1)}
        self.members = {each: Member(self, each, named) for each in range(1, count + 1)}
        self._epoch = 100
        self.change(bootstrap_records())
        for node_id in self.members:
            self.register(node_id, rack=racks[node_id])
        for member in self.members.values():
            member.start()

    def __getitem__(self, node_id: int) -> Member:
        return self.members[node_id]

    # --- the metadata

    def change(self, records: list[Any], *, to_all: bool = True) -> None:
        image, delta = ImageBuilder(self.image).replay_all(records).build(self.image.last_offset + 1)
        self.image = image
        if to_all:
            for member in self.members.values():
                member.take(image, delta)

    def register(self, node_id: int, *, fenced: bool = False, rack: str | None = None) -> None:
        self._epoch += 1
        member = self.members[node_id]
        self.change(
            [
                RegisterBrokerRecord(
                    broker_id=node_id,
                    incarnation_id=bytes([node_id]) * 16,
                    broker_epoch=self._epoch,
                    end_points=[
                        BrokerEndpoint(
                            name="PLAINTEXT", host=member.address.host, port=9092, security_protocol=0
                        )
                    ],
                    rack=rack,
                    fenced=fenced,
                    log_dirs=[],
                )
            ]
        )

    def create(self, partitions: int = 1, *, replicas: tuple[int, ...] = (1, 2, 3), **configs: str) -> None:
        """`events`, led by the first replica, with all of them in sync."""
        self.change(
            [
                TopicRecord(name="events", topic_id=TOPIC_ID),
                *(
                    PartitionRecord(
                        partition_id=index,
                        topic_id=TOPIC_ID,
                        replicas=list(replicas),
                        isr=list(replicas),
                        leader=replicas[0],
                        leader_epoch=0,
                        partition_epoch=0,
                        directories=[bytes(16) for _ in replicas],
                    )
                    for index in range(partitions)
                ),
                *(
                    ConfigRecord(
                        resource_type=2, resource_name="events", name=key.replace("_", "."), value=value
                    )
                    for key, value in configs.items()
                ),
            ]
        )
        self.settle()

    def delete(self) -> None:
        self.change([RemoveTopicRecord(topic_id=TOPIC_ID)])

    def state(self, index: int = 0) -> PartitionState:
        return self.image.topics_by_id[TOPIC_ID].partitions[index]

    def elect(self, leader: int, index: int = 0, **changes: Any) -> None:
        """Another leader, as the controller would choose it."""
        self.change([PartitionChangeRecord(partition_id=index, topic_id=TOPIC_ID, leader=leader, **changes)])

    def alter(self, index: int = 0, **changes: Any) -> None:
        self.change([PartitionChangeRecord(partition_id=index, topic_id=TOPIC_ID, **changes)])

    # --- time

    def until(self, condition: Callable[[], bool], *, within_ms: float = 60_000) -> None:
        self.scheduler.run_until(condition, within_ms=within_ms)
        assert condition(), "it did not happen in time"

    def settle(self, for_ms: float = 200.0) -> None:
        self.scheduler.run_for(for_ms)

    def check_alive(self) -> None:
        for member in self.members.values():
            assert not member.fatal_errors, member.fatal_errors

    # --- clients

    def client(self, node_id: int) -> Client:
        return Client(self, self.members[node_id])

    def produce(self, count: int = 1, *, to: int = 1, index: int = 0, acks: int = -1, **options: Any) -> int:
        answer = self.client(to).call(produce_request(count, index=index, acks=acks, **options), 12)
        found = answer.responses[0].partition_responses[0]
        assert found.error_code == 0, found
        offset: int = found.base_offset
        return offset


def produce_request(
    count: int = 1, *, index: int = 0, acks: int = -1, timeout_ms: int = 30_000, **options: Any
) -> ProduceRequest:
    return ProduceRequest(
        acks=acks,
        timeout_ms=timeout_ms,
        topic_data=[
            TopicProduceData(
                name="events",
                partition_data=[
                    PartitionProduceData(index=index, records=memoryview(batch(count, **options)))
                ],
            )
        ],
    )


def replica_fetch(
    replica_id: int,
    replica_epoch: int,
    positions: Mapping[int, int],
    *,
    leader_epoch: int = 0,
    last_fetched_epoch: int = -1,
    log_start_offset: int = 0,
    max_wait_ms: int = 0,
    session_id: int = 0,
    session_epoch: int = -1,
    version: int = 17,
) -> FetchRequest:
    """`positions` by partition of `events`."""
    in_state = ReplicaState(replica_id=replica_id, replica_epoch=replica_epoch)
    return FetchRequest(
        replica_id=replica_id if version < 15 else -1,
        replica_state=ReplicaState() if version < 15 else in_state,
        max_wait_ms=max_wait_ms,
        min_bytes=1,
        max_bytes=1 << 24,
        session_id=session_id,
        session_epoch=session_epoch,
        topics=[
            FetchTopic(
                topic_id=TOPIC_ID,
                topic="events",
                partitions=[
                    FetchPartition(
                        partition=index,
                        fetch_offset=offset,
                        current_leader_epoch=leader_epoch,
                        last_fetched_epoch=last_fetched_epoch,
                        log_start_offset=log_start_offset,
                        partition_max_bytes=1 << 20,
                    )
                    for index, offset in positions.items()
                ],
            )
        ]
        if positions
        else [],
    )
