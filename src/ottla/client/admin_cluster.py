"""Administration of the cluster itself: its brokers, features, and the quorum of its controllers.

Requests go to brokers, which forward to the active controller what is the controller's. A client that knows
controllers only (`bootstrap.controllers`, `Cluster.of_controllers`) asks the active one itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from ottla.client.admin_part import ADMIN_TIMEOUT_MS, AdminPart
from ottla.client.effects import ClientSteps
from ottla.client.errors import InvalidArgument, ProtocolError, UnsupportedVersion, raise_for
from ottla.client.view import Address
from ottla.model.types import METADATA_TOPIC

if TYPE_CHECKING:
    from ottla.client.admin_acls import AclOperation


class EndpointType(IntEnum):
    """Whose addresses a description of the cluster contains."""

    BROKER = 1
    CONTROLLER = 2


class FeatureUpgradeType(IntEnum):
    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


class BrokerDescription(NamedTuple):
    node_id: int
    address: Address
    rack: str | None
    fenced: bool = False


class ClusterDescription(NamedTuple):
    cluster_id: str
    controller_id: int
    brokers: tuple[BrokerDescription, ...]
    """The controllers, when those were asked for."""
    authorized_operations: frozenset[AclOperation] | None = None
    """What the caller may do with the cluster; None where it was not asked for."""


class FeatureDescription(NamedTuple):
    name: str
    supported_min: int
    supported_max: int
    finalized: int
    """The level in force; 0 when the feature is not in use."""


class FeatureMetadata(NamedTuple):
    features: list[FeatureDescription]
    epoch: int
    """Of the finalized levels; -1 when there are none."""


class RaftEndpoint(NamedTuple):
    """Where a controller listens."""

    name: str
    host: str
    port: int


class QuorumReplica(NamedTuple):
    replica_id: int
    directory_id: bytes
    log_end_offset: int
    last_fetch_ms: int | None
    """None where it is not known."""
    last_caught_up_ms: int | None


class QuorumDescription(NamedTuple):
    leader_id: int
    leader_epoch: int
    high_watermark: int
    voters: tuple[QuorumReplica, ...]
    observers: tuple[QuorumReplica, ...]
    nodes: Mapping[int, tuple[RaftEndpoint, ...]]
    """Where each voter listens; empty where the broker is too old to tell."""


class ClusterAdmin(AdminPart):
    def describe_cluster(
        self,
        *,
        include_authorized_operations: bool = False,
        include_fenced_brokers: bool = False,
        endpoint_type: EndpointType | None = None,
    ) -> ClientSteps[ClusterDescription]:
        """The cluster's id, controller and brokers. The controllers' addresses are told by controllers only:
        a broker refuses that question. (`endpoint_type` None: those that this client knows of.)
        """
        from ottla.client.admin_acls import operations_of
        from ottla.wire.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse

        if endpoint_type is None:
            of_controllers = self._cluster.of_controllers
            endpoint_type = EndpointType.CONTROLLER if of_controllers else EndpointType.BROKER
        plain = endpoint_type is EndpointType.BROKER and not (
            include_fenced_brokers or include_authorized_operations
        )
        request = DescribeClusterRequest(
            include_cluster_authorized_operations=include_authorized_operations,
            endpoint_type=endpoint_type,
            include_fenced_brokers=include_fenced_brokers,
        )
        try:
            response: DescribeClusterResponse = yield from self._cluster.ask_anyone(request)
        except UnsupportedVersion:
            if not plain:
                raise
            # Before Kafka 2.8 Metadata says the same.
            view = yield from self._cluster.discover(())
            known = (BrokerDescription(b.node_id, b.address, b.rack) for b in view.brokers.values())
            brokers = tuple(sorted(known, key=lambda b: b.node_id))
            return ClusterDescription(view.cluster_id or "", view.controller_id, brokers)
        raise_for(response.error_code, response.error_message)
        return ClusterDescription(
            response.cluster_id,
            response.controller_id,
            tuple(
                BrokerDescription(b.broker_id, Address(b.host, b.port), b.rack, b.is_fenced)
                for b in sorted(response.brokers, key=lambda b: b.broker_id)
            ),
            operations_of(response.cluster_authorized_operations) if include_authorized_operations else None,
        )

    def unregister_broker(self, broker_id: int) -> ClientSteps[None]:
        """Takes a broker that will not come back out of the cluster's memory."""
        from ottla.wire.messages.unregister_broker import UnregisterBrokerRequest

        request = UnregisterBrokerRequest(broker_id=broker_id)
        yield from self._ask_checked(request, controller=True, subject=f"broker {broker_id}")

    # -- features

    def describe_features(self) -> ClientSteps[FeatureMetadata]:
        """The features that a broker supports, with the levels in force and their epoch."""
        from ottla.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse

        request = ApiVersionsRequest(client_software_name="ottla", client_software_version="1")
        response: ApiVersionsResponse = yield from self._ask_checked(request)
        levels = {f.name: f.max_version_level for f in response.finalized_features}
        features = [
            FeatureDescription(f.name, f.min_version, f.max_version, levels.get(f.name, 0))
            for f in sorted(response.supported_features, key=lambda f: f.name)
        ]
        return FeatureMetadata(features, response.finalized_features_epoch)

    def update_features(
        self,
        levels: Mapping[str, int],
        *,
        upgrade_type: int = FeatureUpgradeType.UPGRADE,
        validate_only: bool = False,
        timeout_ms: int = ADMIN_TIMEOUT_MS,
    ) -> ClientSteps[None]:
        """Sets the levels of features, all or none of them: raises when one is refused."""
        from ottla.wire.messages.update_features import (
            FeatureUpdateKey,
            UpdateFeaturesRequest,
            UpdateFeaturesResponse,
        )

        request = UpdateFeaturesRequest(
            feature_updates=[
                FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=upgrade_type)
                for name, level in levels.items()
            ],
            timeout_ms=timeout_ms,
            validate_only=validate_only,
        )
        response: UpdateFeaturesResponse = yield from self._ask_checked(request, controller=True)
        for result in response.results:
            raise_for(result.error_code, result.error_message, subject=f"feature {result.feature}")

    # -- the quorum

    def describe_metadata_quorum(self) -> ClientSteps[QuorumDescription]:
        """The controllers: leader, epoch, high watermark, and how far each voter and observer has come."""
        from ottla.wire.messages.describe_quorum import (
            DescribeQuorumRequest,
            DescribeQuorumRequestPartitionData,
            DescribeQuorumRequestTopicData,
            DescribeQuorumResponse,
            ReplicaState,
        )

        def replicas(states: Iterable[ReplicaState]) -> tuple[QuorumReplica, ...]:
            return tuple(
                QuorumReplica(
                    s.replica_id,
                    bytes(s.replica_directory_id),
                    s.log_end_offset,
                    s.last_fetch_timestamp if s.last_fetch_timestamp >= 0 else None,
                    s.last_caught_up_timestamp if s.last_caught_up_timestamp >= 0 else None,
                )
                for s in sorted(states, key=lambda s: s.replica_id)
            )

        partition = DescribeQuorumRequestPartitionData(partition_index=0)
        request = DescribeQuorumRequest(
            topics=[DescribeQuorumRequestTopicData(topic_name=METADATA_TOPIC, partitions=[partition])]
        )

        def check(response: DescribeQuorumResponse) -> None:
            raise_for(response.error_code, response.error_message)
            for topic in response.topics:
                for p in topic.partitions:
                    raise_for(p.error_code, p.error_message)

        # A broker forwards it; of the controllers, only the leader knows.
        response: DescribeQuorumResponse = yield from self._ask_checked(
            request, controller=self._cluster.of_controllers, check=check
        )
        found = [p for t in response.topics if t.topic_name == METADATA_TOPIC for p in t.partitions]
        if len(found) != 1 or found[0].partition_index != 0:
            raise ProtocolError("the answer about the quorum speaks of something else")
        nodes = {
            node.node_id: tuple(RaftEndpoint(e.name, e.host, e.port) for e in node.listeners)
            for node in response.nodes
        }
        return QuorumDescription(
            found[0].leader_id,
            found[0].leader_epoch,
            found[0].high_watermark,
            replicas(found[0].current_voters),
            replicas(found[0].observers),
            nodes,
        )

    def add_raft_voter(
        self,
        voter_id: int,
        directory_id: bytes,
        endpoints: Iterable[RaftEndpoint],
        *,
        cluster_id: str | None = None,
        timeout_ms: int = ADMIN_TIMEOUT_MS,
    ) -> ClientSteps[None]:
        """Makes an observing controller a voter (KIP-853)."""
        from ottla.wire.messages.add_raft_voter import AddRaftVoterRequest, Listener

        request = AddRaftVoterRequest(
            cluster_id=cluster_id,
            timeout_ms=timeout_ms,
            voter_id=voter_id,
            voter_directory_id=_directory_id(directory_id),
            listeners=[Listener(name=e.name, host=e.host, port=e.port) for e in endpoints],
        )
        yield from self._ask_checked(request, controller=True, subject=f"voter {voter_id}")

    def remove_raft_voter(
        self, voter_id: int, directory_id: bytes, *, cluster_id: str | None = None
    ) -> ClientSteps[None]:
        """Takes a voter out of the quorum (KIP-853)."""
        from ottla.wire.messages.remove_raft_voter import RemoveRaftVoterRequest

        request = RemoveRaftVoterRequest(
            cluster_id=cluster_id, voter_id=voter_id, voter_directory_id=_directory_id(directory_id)
        )
        yield from self._ask_checked(request, controller=True, subject=f"voter {voter_id}")


def _directory_id(directory_id: bytes) -> bytes:
    if len(directory_id) != 16:
        raise InvalidArgument(f"a directory id is sixteen bytes, not {len(directory_id)}")
    return directory_id
