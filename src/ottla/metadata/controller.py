"""The controller's decisions, with what they need at hand: configuration, randomness, heartbeats.

Thin on purpose: each decision is a function of the view in a module of its own, and `decide` finds it by the
type of the request. A decision reads the newest view, changes nothing, and returns an answer with the records
that make it true; whoever called appends them, replays them, and then answers.

What no record says (who was heard of when, what is due when) is made anew by `activate` when this node
becomes the active controller. `periodic` is what nobody asks for: it fences silent brokers and holds
elections. It returns one batch of bounded size; `next_deadline_ms` says when to call again, which is at once
when there was more. The owner sets `view` to the newest state and `next_offset` to the end of the log before
each call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from random import Random
from typing import Any, Final, TypeVar

from ottla.metadata.alter_partition import alter_partition
from ottla.metadata.brokers import fence_brokers, raise_leader_epochs, unfence_broker
from ottla.metadata.config import ConfigView
from ottla.metadata.configs import alter_configs, incremental_alter_configs
from ottla.metadata.decision import Decision
from ottla.metadata.directories import assign_replicas_to_dirs
from ottla.metadata.elections import elect_leaders, preferred_leaders, unclean_leaders
from ottla.metadata.electorate import (
    MIN_ISR_KEY,
    Electorate,
    eligible_after_configs,
    min_isr_records,
)
from ottla.metadata.features import update_features
from ottla.metadata.heartbeats import Heartbeats, broker_heartbeat
from ottla.metadata.producer_ids import ProducerIdBlock, allocate_block, allocate_producer_ids
from ottla.metadata.reassignments import alter_partition_reassignments, list_partition_reassignments
from ottla.metadata.records import MetadataRecord
from ottla.metadata.registration import broker_registration, controller_registration, unregister
from ottla.metadata.topics import auto_create_topics, create_partitions, create_topics, delete_topics
from ottla.wire.messages.allocate_producer_ids import AllocateProducerIdsRequest
from ottla.wire.messages.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from ottla.wire.messages.alter_partition import AlterPartitionRequest
from ottla.wire.messages.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from ottla.wire.messages.assign_replicas_to_dirs import AssignReplicasToDirsRequest
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from ottla.wire.messages.broker_registration import BrokerRegistrationRequest, BrokerRegistrationResponse
from ottla.wire.messages.cluster_metadata import ConfigRecord
from ottla.wire.messages.controller_registration import ControllerRegistrationRequest
from ottla.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse
from ottla.wire.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from ottla.wire.messages.elect_leaders import ElectLeadersRequest
from ottla.wire.messages.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from ottla.wire.messages.list_partition_reassignments import ListPartitionReassignmentsRequest
from ottla.wire.messages.unregister_broker import UnregisterBrokerRequest
from ottla.wire.messages.update_features import UpdateFeaturesRequest, UpdateFeaturesResponse

BATCH_RECORDS_MAX: Final = 10_000
"""Of what may be split: brokers replay a batch in one go, and serve nobody meanwhile."""
ELECTIONS_MAX: Final = 1000
"""Preferred leaders at a time: every client of a partition that moves has to find its new leader."""
SESSION_SPENT_MAX: Final = 1 / 3
"""How much of the brokers' sessions may be over when a controller begins."""

_UNCLEAN_ELECTION_KEY: Final = "unclean.leader.election.enable"

R = TypeVar("R")


class Controller:
    """Decides for the image that `view` belongs to. The owner sets `view` whenever an image is published."""

    __slots__ = (
        "view",
        "random",
        "cluster_id",
        "next_offset",
        "heartbeats",
        "_unsettled",
        "_preferred_at_ms",
        "_unclean_at_ms",
    )

    def __init__(self, view: ConfigView, random: Random, cluster_id: str = "") -> None:
        self.view = view
        self.random = random
        self.cluster_id = cluster_id
        """What a broker that registers has to belong to; not compared while it is empty."""
        self.next_offset = view.image.last_offset + 1
        """The offset that the first record of the next decision will have."""
        self.heartbeats = Heartbeats()
        self._unsettled = False
        """Whether partitions may still wait for what follows from their brokers' state: a batch was cut."""
        self._preferred_at_ms = self._unclean_at_ms = float("inf")

    def activate(self, view: ConfigView, now_ms: float, heard_ms: float = inf) -> None:
        """This node's controller is the active one from now on. Sessions run on from when the one before was
        last heard of: a broker that died with it is missed no longer than another. But every broker has most
        of a session left, in which it finds the new one.
        """
        self.view = view
        session_ms = view.get_int("broker.session.timeout.ms")
        since_ms = min(now_ms, max(heard_ms, now_ms - session_ms * SESSION_SPENT_MAX))
        self.next_offset = max(self.next_offset, view.image.last_offset + 1)
        self.heartbeats = Heartbeats.at_activation(view.image, since_ms)
        self._unsettled = True
        self._preferred_at_ms = now_ms + self._preferred_interval_ms()
        self._unclean_at_ms = now_ms + view.get_int("unclean.leader.election.interval.ms")

    # What is asked for

    def decide(self, request: Any, version: int, now_ms: float) -> Decision[Any]:
        """The decision about a request (a message class of `wire.messages`) that came in this version.

        Errors are in the response. Raises KeyError for a request that no controller decides.
        """
        return _DECISIONS[type(request)](self, request, version, now_ms)

    @staticmethod
    def decides(request_type: type[Any]) -> bool:
        return request_type in _DECISIONS

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
        return self._with_eligible(incremental_alter_configs(self.view, request))

    def alter_configs(self, request: AlterConfigsRequest) -> Decision[AlterConfigsResponse]:
        return self._with_eligible(alter_configs(self.view, request))

    def update_features(
        self, request: UpdateFeaturesRequest, version: int
    ) -> Decision[UpdateFeaturesResponse]:
        decision = update_features(self.view.image, request, version)
        return decision._replace(records=decision.records + min_isr_records(self.view, decision.records))

    def allocate_producer_ids(self, broker_id: int, broker_epoch: int) -> Decision[ProducerIdBlock]:
        return allocate_block(self.view.image, broker_id, broker_epoch)

    def register_broker(
        self, request: BrokerRegistrationRequest, version: int, now_ms: float
    ) -> Decision[BrokerRegistrationResponse]:
        return broker_registration(
            self.view,
            self.heartbeats,
            request,
            version,
            now_ms,
            cluster_id=self.cluster_id,
            next_offset=self.next_offset,
        )

    def heartbeat(self, request: BrokerHeartbeatRequest, now_ms: float) -> Decision[BrokerHeartbeatResponse]:
        decision = broker_heartbeat(self.view, self.heartbeats, request, now_ms, self.next_offset)
        return decision._replace(records=self._cut(decision.records))

    def unfence_broker(self, node_id: int) -> list[MetadataRecord]:
        return unfence_broker(self.view, node_id)

    def fence_broker(self, node_id: int) -> list[MetadataRecord]:
        return fence_brokers(self.view, (node_id,))

    def raise_leader_epochs(self, node_id: int) -> list[MetadataRecord]:
        return raise_leader_epochs(self.view.image, node_id)

    def _with_eligible(self, decision: Decision[R]) -> Decision[R]:
        """What is eligible depends on `min.insync.replicas`, and changes in the same batch."""
        if not _sets(decision.records, MIN_ISR_KEY):
            return decision
        records = decision.records
        return decision._replace(records=records + eligible_after_configs(self.view, records))

    def _with_elections(self, decision: Decision[R], now_ms: float) -> Decision[R]:
        if _sets(decision.records, _UNCLEAN_ELECTION_KEY):
            # Whoever allows it waits for it.
            self._unclean_at_ms = min(self._unclean_at_ms, now_ms)
        return decision

    # What is due

    def periodic(self, now_ms: float) -> list[MetadataRecord]:
        """The records of what is due, at most BATCH_RECORDS_MAX; call again when `next_deadline_ms` says."""
        silent = self.heartbeats.silent(self.view.image, now_ms, self._session_timeout_ms())
        if silent:
            return self._cut(fence_brokers(self.view, silent))
        if self._unsettled:
            self._unsettled = False
            records = self._cut(Electorate(self.view).settle())
            if records:
                return records
        if now_ms >= self._preferred_at_ms:
            records = []
            if self.view.get_bool("auto.leader.rebalance.enable"):
                records = preferred_leaders(self.view, ELECTIONS_MAX)
            if len(records) < ELECTIONS_MAX:
                self._preferred_at_ms = now_ms + self._preferred_interval_ms()
            if records:
                return records
        if now_ms >= self._unclean_at_ms:
            records = unclean_leaders(self.view, BATCH_RECORDS_MAX)
            if len(records) < BATCH_RECORDS_MAX:
                self._unclean_at_ms = now_ms + self.view.get_int("unclean.leader.election.interval.ms")
            return records
        return []

    def next_deadline_ms(self) -> float:
        """When `periodic` has something to do; what lies in the past means at once."""
        if self._unsettled:
            return 0
        deadline = min(self._preferred_at_ms, self._unclean_at_ms)
        expiry = self.heartbeats.next_expiry_ms(self.view.image, self._session_timeout_ms())
        return deadline if expiry is None else min(deadline, expiry)

    def _cut(self, records: list[MetadataRecord]) -> list[MetadataRecord]:
        """The state of the brokers comes first in a batch, and what follows from it can be found again."""
        if len(records) <= BATCH_RECORDS_MAX:
            return records
        self._unsettled = True
        return records[:BATCH_RECORDS_MAX]

    def _session_timeout_ms(self) -> int:
        return self.view.get_int("broker.session.timeout.ms")

    def _preferred_interval_ms(self) -> int:
        return self.view.get_int("leader.imbalance.check.interval.seconds") * 1000


def _sets(records: Sequence[MetadataRecord], key: str) -> bool:
    return any(isinstance(record, ConfigRecord) and record.name == key for record in records)


_Decide = Callable[[Controller, Any, int, float], Decision[Any]]

_DECISIONS: Final[Mapping[type[Any], _Decide]] = {
    CreateTopicsRequest: lambda self, request, version, now_ms: self.create_topics(request),
    DeleteTopicsRequest: lambda self, request, version, now_ms: self.delete_topics(request, version),
    CreatePartitionsRequest: lambda self, request, version, now_ms: self.create_partitions(request),
    IncrementalAlterConfigsRequest: lambda self, request, version, now_ms: self._with_elections(
        self.incremental_alter_configs(request), now_ms
    ),
    AlterConfigsRequest: lambda self, request, version, now_ms: self._with_elections(
        self.alter_configs(request), now_ms
    ),
    UpdateFeaturesRequest: lambda self, request, version, now_ms: self.update_features(request, version),
    AllocateProducerIdsRequest: lambda self, request, version, now_ms: allocate_producer_ids(
        self.view.image, request
    ),
    BrokerRegistrationRequest: lambda self, request, version, now_ms: self.register_broker(
        request, version, now_ms
    ),
    BrokerHeartbeatRequest: lambda self, request, version, now_ms: self.heartbeat(request, now_ms),
    UnregisterBrokerRequest: lambda self, request, version, now_ms: unregister(self.view, request),
    AlterPartitionRequest: lambda self, request, version, now_ms: alter_partition(
        self.view, request, version
    ),
    ElectLeadersRequest: lambda self, request, version, now_ms: elect_leaders(self.view, request, version),
    AlterPartitionReassignmentsRequest: lambda self, request, version, now_ms: alter_partition_reassignments(
        self.view, request
    ),
    ListPartitionReassignmentsRequest: lambda self, request, version, now_ms: list_partition_reassignments(
        self.view.image, request
    ),
    AssignReplicasToDirsRequest: lambda self, request, version, now_ms: assign_replicas_to_dirs(
        self.view, request
    ),
    ControllerRegistrationRequest: lambda self, request, version, now_ms: controller_registration(
        self.view.image, request
    ),
}
