"""A Kafka connection in thirty lines, and what the harness asks on it, without a client library's own
cost.
"""

from __future__ import annotations

import socket
import struct
import time
from typing import Any

from ottla.wire.framing import decode_response, encode_request
from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.wire.messages.delete_topics import DeleteTopicsRequest
from ottla.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

API_VERSIONS_VERSION = 0
CREATE_TOPICS_VERSION = 7
DELETE_TOPICS_VERSION = 5
LIST_OFFSETS_VERSION = 5
METADATA_VERSION = 12
_LATEST = -1


class KafkaSocket:
    def __init__(self, address: str, timeout_s: float = 120) -> None:
        host, port = address.rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)), timeout=timeout_s)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._correlation_id = 0

    def __enter__(self) -> KafkaSocket:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def exchange(self, request: Any, version: int) -> bytearray:
        """Sends a request; the response frame without its length, undecoded."""
        self._correlation_id += 1
        self._socket.sendall(b"".join(encode_request(request, version, self._correlation_id, "bench")))
        (size,) = struct.unpack(">i", self._receive(4))
        return self._receive(size)

    def _receive(self, size: int) -> bytearray:
        data = bytearray(size)
        view, got = memoryview(data), 0
        while got < size:
            count = self._socket.recv_into(view[got:])
            if not count:
                raise ConnectionError("the broker closed the connection")
            got += count
        return data


def api_versions(address: str) -> None:
    with KafkaSocket(address) as connection:
        connection.exchange(ApiVersionsRequest(), API_VERSIONS_VERSION)


def create_topics(connection: KafkaSocket, names: list[str], partitions: int) -> None:
    topics = [CreatableTopic(name=name, num_partitions=partitions, replication_factor=1) for name in names]
    request = CreateTopicsRequest(topics=topics, timeout_ms=60_000)
    frame = connection.exchange(request, CREATE_TOPICS_VERSION)
    _, response = decode_response(request.API_KEY, CREATE_TOPICS_VERSION, frame)
    for topic in response.topics:
        if topic.error_code:
            raise RuntimeError(f"creating {topic.name}: error {topic.error_code}, {topic.error_message}")


def delete_topics(connection: KafkaSocket, names: list[str]) -> None:
    request = DeleteTopicsRequest(topic_names=names, timeout_ms=60_000)
    connection.exchange(request, DELETE_TOPICS_VERSION)


def led_partitions(connection: KafkaSocket, names: list[str]) -> int:
    """How many partitions of these topics have a leader."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names])
    frame = connection.exchange(request, METADATA_VERSION)
    _, response = decode_response(request.API_KEY, METADATA_VERSION, frame)
    return sum(
        part.leader_id >= 0 and not part.error_code for topic in response.topics for part in topic.partitions
    )


def end_offsets(connection: KafkaSocket, names: list[str], partitions: int) -> list[int]:
    """The end of each partition of topics that have so many each; -1 where the broker does not serve it."""
    asked = [ListOffsetsPartition(partition_index=at, timestamp=_LATEST) for at in range(partitions)]
    request = ListOffsetsRequest(topics=[ListOffsetsTopic(name=name, partitions=asked) for name in names])
    frame = connection.exchange(request, LIST_OFFSETS_VERSION)
    _, response = decode_response(request.API_KEY, LIST_OFFSETS_VERSION, frame)
    return [-1 if part.error_code else part.offset for topic in response.topics for part in topic.partitions]


def metadata_of_all(connection: KafkaSocket) -> tuple[float, int]:
    """Asks for every topic: milliseconds until the whole answer is here, and its bytes."""
    began = time.perf_counter()
    frame = connection.exchange(MetadataRequest(topics=None), METADATA_VERSION)
    return (time.perf_counter() - began) * 1000, len(frame)
