"""The controller's decisions, with what they need at hand: configuration and randomness.

Thin on purpose: each decision is a function of the view in `topics.py`, `configs.py`, `features.py`,
`brokers.py` or `producer_ids.py`. A decision reads the newest view, changes nothing, and returns an answer
with the records that make it true; whoever called appends them, replays them, and then answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from ottla.metadata.brokers import fence_broker, raise_leader_epochs, unfence_broker
from ottla.metadata.config import ConfigView
from ottla.metadata.configs import alter_configs, incremental_alter_configs
from ottla.metadata.decision import Decision
from ottla.metadata.features import update_features
from ottla.metadata.producer_ids import ProducerIdBlock, allocate_block
from ottla.metadata.records import MetadataRecord
from ottla.metadata.topics import auto_create_topics, create_partitions, create_topics, delete_topics
from ottla.wire.messages.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from ottla.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse
from ottla.wire.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from ottla.wire.messages.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from ottla.wire.messages.update_features import UpdateFeaturesRequest, UpdateFeaturesResponse


class Controller:
    """Decides for the image that `view` belongs to. The owner sets `view` whenever an image is published."""

    __slots__ = ("view", "random")

    def __init__(self, view: ConfigView, random: Random) -> None:
        self.view = view
        self.random = random

    def create_topics(self, request: CreateTopicsRequest) -> Decision[CreateTopicsResponse]:
        return create_topics(self.view, request, self.random)

    def auto_create_topics(self, names: Sequence[str]) -> Decision[CreateTopicsResponse]:
        return auto_create_topics(self.view, names, self.random)

    def delete_topics(self, request: DeleteTopicsRequest, version: int) -> Decision[DeleteTopicsResponse]:
        return delete_topics(self.view, request, version)

    def create_partitions(self, request: CreatePartitionsRequest) -> Decision[CreatePartitionsResponse]:
        return create_partitions(self.view, request, self.random)

    def incremental_alter_configs(
        self, request: IncrementalAlterConfigsRequest
    ) -> Decision[IncrementalAlterConfigsResponse]:
        return incremental_alter_configs(self.view, request)

    def alter_configs(self, request: AlterConfigsRequest) -> Decision[AlterConfigsResponse]:
        return alter_configs(self.view, request)

    def update_features(
        self, request: UpdateFeaturesRequest, version: int
    ) -> Decision[UpdateFeaturesResponse]:
        return update_features(self.view.image, request, version)

    def allocate_producer_ids(self, broker_id: int, broker_epoch: int) -> Decision[ProducerIdBlock]:
        return allocate_block(self.view.image, broker_id, broker_epoch)

    def unfence_broker(self, node_id: int) -> list[MetadataRecord]:
        return unfence_broker(self.view.image, node_id)

    def fence_broker(self, node_id: int) -> list[MetadataRecord]:
        return fence_broker(self.view.image, node_id)

    def raise_leader_epochs(self, node_id: int) -> list[MetadataRecord]:
        return raise_leader_epochs(self.view.image, node_id)
