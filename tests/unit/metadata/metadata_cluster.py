"""A cluster's metadata without a cluster: an image with brokers, and decisions replayed into it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

from ottla.metadata.brokers import register_broker, unfence_broker
from ottla.metadata.config import ConfigView
from ottla.metadata.controller import Controller
from ottla.metadata.decision import Decision
from ottla.metadata.features import bootstrap_records, supported_features
from ottla.metadata.image import EMPTY_IMAGE, Endpoint, ImageBuilder, ImageDelta, MetadataImage
from ottla.metadata.records import MetadataRecord, decode_record, encode_record
from ottla.model.server_config import ServerConfig
from ottla.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)


def directory_id(node_id: int) -> bytes:
    return bytes([0xD0 + node_id % 16] * 16)


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
    ) -> None:
        self.server = ServerConfig(properties or {})
        self.image: MetadataImage = EMPTY_IMAGE
        self.delta: ImageDelta | None = None
        self.controller = Controller(ConfigView(self.server, EMPTY_IMAGE), Random(seed))
        self.replay(bootstrap_records())
        for position in range(brokers):
            node_id = position + 1
            host = hosts[position] if hosts else f"host-{node_id}"
            self.replay(
                register_broker(
                    self.image,
                    node_id=node_id,
                    broker_epoch=100 + node_id,
                    incarnation_id=bytes([node_id] * 16),
                    endpoints=[Endpoint("PLAINTEXT", host, 9092, 0)],
                    features=supported_features(),
                    rack=racks[position] if racks else None,
                    log_dirs=[directory_id(node_id)],
                )
            )
            self.replay(unfence_broker(self.image, node_id))

    @property
    def view(self) -> ConfigView:
        return self.controller.view

    def replay(self, records: Iterable[MetadataRecord]) -> ImageDelta:
        """Through bytes, as the log does it."""
        builder = ImageBuilder(self.image)
        for record in records:
            read = decode_record(encode_record(record, 29))
            assert read == record
            builder.replay(read)
        self.image, self.delta = builder.build()
        self.controller.view = self.controller.view.after(self.image)
        return self.delta

    def apply(self, decision: Decision[object]) -> ImageDelta:
        return self.replay(decision.records)

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
