"""A cluster's metadata without a cluster: an image with brokers, and decisions replayed into it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

from ottla.metadata.brokers import register_broker, unfence_broker
from ottla.metadata.config import ConfigView
from ottla.metadata.controller import Controller
from ottla.metadata.decision import Decision
from ottla.metadata.features import bootstrap_records, supported_features
from ottla.metadata.image import (
    EMPTY_IMAGE,
    Endpoint,
    ImageBuilder,
    ImageDelta,
    MetadataImage,
    PartitionState,
)
from ottla.metadata.records import MetadataRecord, decode_record, encode_record
from ottla.model.server_config import ServerConfig
from ottla.wire.messages.cluster_metadata import FeatureLevelRecord
from ottla.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)


def directory_id(node_id: int, position: int = 0) -> bytes:
    return bytes([0xD0 + position] * 12) + node_id.to_bytes(4, "big")


class Cluster:
    """Registered, unfenced brokers 1..n, and a controller that decides and has its records replayed."""

    def __init__(
        self,
        brokers: int = 1,
        *,
        properties: dict[str, str] | None = None,
        hosts: Sequence[str] | None = None,
        racks: Sequence[str | None] | None = None,
        seed: int = 7,
        features: dict[str, int] | None = None,
        announced: dict[str, tuple[int, int]] | None = None,
        log_dirs: int = 1,
    ) -> None:
        self.server = ServerConfig(properties or {})
        self.image: MetadataImage = EMPTY_IMAGE
        self.delta: ImageDelta | None = None
        self.controller = Controller(ConfigView(self.server, EMPTY_IMAGE), Random(seed))
        self.offset = 0
        self.replay(bootstrap_records())
        self.replay(
            FeatureLevelRecord(name=name, feature_level=level) for name, level in (features or {}).items()
        )
        for position in range(brokers):
            node_id = position + 1
            host = hosts[position] if hosts else f"host-{node_id}"
            self.replay(
                register_broker(
                    self.image,
                    node_id=node_id,
                    broker_epoch=100 + node_id,  # as if the log were longer: the tests name epochs
                    incarnation_id=bytes([node_id] * 16),
                    endpoints=[Endpoint("PLAINTEXT", host, 9092, 0)],
                    features=announced or supported_features(),
                    rack=racks[position] if racks else None,
                    log_dirs=[directory_id(node_id, position) for position in range(log_dirs)],
                )
            )
            self.replay(unfence_broker(self.view, node_id))

    @property
    def view(self) -> ConfigView:
        return self.controller.view

    def replay(self, records: Iterable[MetadataRecord]) -> ImageDelta:
        """Through bytes, as the log does it."""
        builder = ImageBuilder(self.image)
        for record in records:
            self.offset += 1
            read = decode_record(encode_record(record, 29))
            assert read == record
            builder.replay(read)
        self.image, self.delta = builder.build(self.offset - 1)
        self.controller.view = self.controller.view.after(self.image)
        self.controller.next_offset = self.offset
        return self.delta

    def apply(self, decision: Decision[object]) -> ImageDelta:
        return self.replay(decision.records)

    def ask(self, request: Any, version: int = 0, now_ms: float = 0) -> Any:
        """Decides, replays, and gives the answer."""
        decision = self.controller.decide(request, version, now_ms)
        self.replay(decision.records)
        return decision.response

    def state(self, topic: str, partition: int = 0) -> PartitionState:
        state = self.image.partition(topic, partition)
        assert state is not None
        return state

    def create_on(self, name: str, *replicas: list[int], **configs: str) -> bytes:
        """A topic with these replicas, one list for each partition."""
        wanted = topic(name, -1, -1, configs, dict(enumerate(replicas)))
        self.apply(self.controller.create_topics(CreateTopicsRequest(topics=[wanted])))
        return self.image.topics[name].topic_id

    def create(
        self, name: str, partitions: int = 1, factor: int = 1, configs: dict[str, str] | None = None
    ) -> bytes:
        decision = self.controller.create_topics(
            CreateTopicsRequest(topics=[topic(name, partitions, factor, configs)])
        )
        assert decision.response.topics[0].error_code == 0, decision.response.topics[0]
        self.apply(decision)
        return self.image.topics[name].topic_id


def topic(
    name: str,
    partitions: int = 1,
    factor: int = 1,
    configs: dict[str, str] | None = None,
    assignments: dict[int, list[int]] | None = None,
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in (configs or {}).items()],
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=brokers)
            for index, brokers in (assignments or {}).items()
        ],
    )
