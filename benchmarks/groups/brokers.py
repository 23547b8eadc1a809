"""The brokers under test, with the settings that the storms need, and how long each process lives.

Ottla gets a fresh process for every run, since it tells its loop's lag when it stops. Apache Kafka's
process is kept: a JVM that has just started compiles its own code for half a minute, and that is not what
is compared.
"""

from __future__ import annotations

from pathlib import Path

from kafka_socket import METADATA_VERSION, KafkaSocket, create_topics
from ottla.wire.framing import decode_response
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from peers.apache_kafka import ApacheKafka
from systems import Ottla, Running, RunningNode

CONSUMER_HEARTBEAT_MS = 2_000
SETTINGS = {
    "group.initial.rebalance.delay.ms": "500",
    "group.consumer.min.heartbeat.interval.ms": str(CONSUMER_HEARTBEAT_MS),
    "group.consumer.heartbeat.interval.ms": str(CONSUMER_HEARTBEAT_MS),
}
"""Groups form after half a second instead of three, to save the benchmark's time; no round is touched by it.
Kafka's default heartbeat interval of 5 s would make two intervals, 10 s, the least that a rebalance of the
consumer protocol takes, whatever the broker does.
"""


class TunedOttla(Ottla):
    """Ottla with `SETTINGS`, afresh for every run."""

    keeps_running = False

    def __init__(self, folder: Path | None, name: str = "ottla") -> None:
        super().__init__(folder, name, SETTINGS)

    def started(self, topic: str, partitions: int) -> Running:
        return self.start(topic, partitions)


class KeptKafka(ApacheKafka):
    """One Kafka for all runs."""

    keeps_running = True

    def __init__(self, folder: Path | None) -> None:
        super().__init__(folder, SETTINGS)
        self._running: RunningNode | None = None

    def started(self, topic: str, partitions: int) -> Running:
        if self._running is None:
            self._running = self.start(topic, partitions)
        else:
            add_topic(self._running.address, topic, partitions)
        return self._running

    def close(self) -> None:
        if self._running is not None:
            self._running.stop()


Broker = TunedOttla | KeptKafka


def add_topic(address: str, topic: str, partitions: int) -> None:
    """Creates a topic and waits until its partitions have leaders."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)])
    with KafkaSocket(address) as connection:
        create_topics(connection, [topic], partitions)
        while True:
            frame = connection.exchange(request, METADATA_VERSION)
            (found,) = decode_response(request.API_KEY, METADATA_VERSION, frame)[1].topics
            if not found.error_code and all(each.leader_id >= 0 for each in found.partitions):
                return
