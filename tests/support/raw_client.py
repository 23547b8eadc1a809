"""A client of a few lines over a blocking socket: it says exactly what a test wants said, valid or not.

Messages are ours (`ottla.wire`), whose encoding is checked against other implementations elsewhere; bytes
can be sent as they are.
"""

from __future__ import annotations

import itertools
import socket
import struct
import time
from collections.abc import Sequence
from typing import Any

from ottla.model.errors import ErrorCode
from ottla.wire.compression import Codec
from ottla.wire.framing import decode_response, encode_request
from ottla.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.wire.record_batch import Record, decode_batch, encode_batch

LENGTH = struct.Struct(">i")
TIMEOUT_S = 15.0


class ConnectionEnded(Exception):
    """The broker closed the connection."""


class RawClient:
    def __init__(
        self, port: int, *, timeout_s: float = TIMEOUT_S, connection: socket.socket | None = None
    ) -> None:
        self.socket = connection or socket.create_connection(("127.0.0.1", port), timeout=timeout_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._correlation_ids = itertools.count(1)

    def __enter__(self) -> RawClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.socket.close()

    # --- bytes --------------------------------------------------------------------------------------------

    def send_bytes(self, data: bytes | bytearray) -> None:
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise ConnectionEnded from error

    def send_frame(self, body: bytes | bytearray) -> None:
        self.send_bytes(LENGTH.pack(len(body)) + body)

    def read_frame(self) -> bytearray:
        (size,) = LENGTH.unpack(self._read(4))
        return self._read(size)

    def _read(self, count: int) -> bytearray:
        data = bytearray(count)
        view = memoryview(data)
        while view:
            try:
                got = self.socket.recv_into(view)
            except ConnectionResetError as error:
                raise ConnectionEnded from error
            if not got:
                raise ConnectionEnded
            view = view[got:]
        return data

    def is_closed_by_broker(self, timeout_s: float = 5.0) -> bool:
        """Whether the broker ends the connection without another byte."""
        self.socket.settimeout(timeout_s)
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False

    # --- requests -----------------------------------------------------------------------------------------

    def send(self, request: Any, version: int) -> int:
        """Sends without reading the answer; returns the correlation id."""
        correlation_id = next(self._correlation_ids)
        self.send_bytes(frame_of(request, version, correlation_id))
        return correlation_id

    def receive(self, request: Any, version: int) -> tuple[int, Any]:
        """The next answer, which has to be one to such a request: its correlation id and the message."""
        return decode_response(request.API_KEY, version, self.read_frame())

    def call(self, request: Any, version: int) -> Any:
        correlation_id = self.send(request, version)
        answered_id, response = self.receive(request, version)
        assert answered_id == correlation_id
        return response

    # --- the usual ones -----------------------------------------------------------------------------------

    def create_topic(self, name: str, partitions: int = 1, **configs: str) -> bytes:
        """Makes a topic and returns its id; dots in config names are written as underscores."""
        pairs = [CreatableTopicConfig(name=k.replace("_", "."), value=v) for k, v in configs.items()]
        topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=1, configs=pairs)
        (made,) = self.call(CreateTopicsRequest(topics=[topic], timeout_ms=10_000), 7).topics
        assert made.error_code == ErrorCode.NONE, (made.error_code, made.error_message)
        topic_id: bytes = made.topic_id
        return topic_id

    def topic_id(self, name: str) -> bytes:
        (topic,) = self.call(MetadataRequest(topics=[MetadataRequestTopic(name=name)]), 12).topics
        assert topic.error_code == ErrorCode.NONE
        topic_id: bytes = topic.topic_id
        return topic_id

    def produce(
        self, topic: str, batch: bytes | bytearray, *, partition: int = 0, acks: int = -1, version: int = 9
    ) -> Any:
        """The partition's part of the answer."""
        response = self.call(produce_request(topic, batch, partition=partition, acks=acks), version)
        return response.responses[0].partition_responses[0]

    def fetch(
        self, topic: str, offset: int = 0, *, partition: int = 0, version: int = 12, **limits: Any
    ) -> Any:
        """The partition's part of the answer, outside of any session."""
        response = self.call(fetch_request(topic, offset, partition=partition, **limits), version)
        assert response.error_code == ErrorCode.NONE
        return response.responses[0].partitions[0]

    def end_offset(self, topic: str, partition: int = 0) -> int:
        asked = ListOffsetsPartition(partition_index=partition, current_leader_epoch=-1, timestamp=-1)
        request = ListOffsetsRequest(
            replica_id=-1, topics=[ListOffsetsTopic(name=topic, partitions=[asked])], isolation_level=0
        )
        (found,) = self.call(request, 6).topics[0].partitions
        assert found.error_code == ErrorCode.NONE
        offset: int = found.offset
        return offset

    def read_all(self, topic: str, partition: int = 0) -> list[Record]:
        """Every record from the log start to the high watermark."""
        records: list[Record] = []
        offset = 0
        while True:
            part = self.fetch(topic, offset, partition=partition, max_wait_ms=0)
            assert part.error_code == ErrorCode.NONE, part.error_code
            if offset >= part.high_watermark:
                return records
            for record in records_of(part.records):
                if record.offset >= offset:
                    records.append(record)
                    offset = record.offset + 1


def frame_of(request: Any, version: int, correlation_id: int = 1, client_id: str | None = "raw") -> bytes:
    return b"".join(bytes(part) for part in encode_request(request, version, correlation_id, client_id))


def produce_request(
    topic: str,
    batch: bytes | bytearray | None,
    *,
    partition: int = 0,
    acks: int = -1,
    topic_id: bytes = bytes(16),
) -> ProduceRequest:
    data = PartitionProduceData(index=partition, records=batch)
    topics = [TopicProduceData(name=topic, topic_id=topic_id, partition_data=[data])]
    return ProduceRequest(acks=acks, timeout_ms=10_000, topic_data=topics)


def fetch_request(
    topic: str,
    offset: int,
    *,
    partition: int = 0,
    topic_id: bytes = bytes(16),
    max_wait_ms: int = 0,
    min_bytes: int = 1,
    max_bytes: int = 50 * 1024 * 1024,
    partition_max_bytes: int = 10 * 1024 * 1024,
    session_id: int = 0,
    session_epoch: int = -1,
) -> FetchRequest:
    asked = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=partition_max_bytes)
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        session_id=session_id,
        session_epoch=session_epoch,
        topics=[FetchTopic(topic=topic, topic_id=topic_id, partitions=[asked])],
    )


def batch_of(
    *values: bytes | None, codec: Codec = Codec.NONE, timestamp: int | None = None, **fields: Any
) -> bytearray:
    """One batch of records without keys; timestamps are now unless given."""
    at = int(time.time() * 1000) if timestamp is None else timestamp
    records = [Record(index, at, None, value, ()) for index, value in enumerate(values)]
    return encode_batch(records, codec=codec, **fields)


def records_of(data: bytes | bytearray | memoryview | None) -> list[Record]:
    """The records of all whole batches; a cut batch at the end is dropped, as clients do."""
    records: list[Record] = []
    if data is not None:
        view = bytes(data)
        for position in whole_batches(view):
            records += decode_batch(view, position, decompressed_bytes_max=256 * 1024 * 1024)
    return records


def whole_batches(data: bytes) -> Sequence[int]:
    """The positions of the batches that are there whole."""
    positions = []
    at = 0
    while at + 12 <= len(data):
        size = 12 + int(LENGTH.unpack_from(data, at + 8)[0])
        if at + size > len(data):
            break
        positions.append(at)
        at += size
    return positions
