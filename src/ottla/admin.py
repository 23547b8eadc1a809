"""The words of administration: what `ottla.Admin` takes and gives.

    from ottla.admin import NewTopic

Generated from the modules of the core by tools/generate_admin_facades.py; do not edit.
"""

from __future__ import annotations

from ottla.client.admin_acls import (
    WILDCARD,
    AccessControlEntry,
    AccessControlEntryFilter,
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
)
from ottla.client.admin_cluster import (
    BrokerDescription,
    ClusterDescription,
    EndpointType,
    FeatureDescription,
    FeatureMetadata,
    FeatureUpgradeType,
    QuorumDescription,
    QuorumReplica,
    RaftEndpoint,
)
from ottla.client.admin_configs import (
    ConfigChange,
    ConfigEntry,
    ConfigOperation,
    ConfigResource,
    ConfigResourceType,
    ConfigSource,
    ConfigSynonym,
)
from ottla.client.admin_log_dirs import (
    LogDirDescription,
    LogDirPartition,
    ReplicaLogDir,
    TopicPartitionReplica,
)
from ottla.client.admin_offsets import (
    EARLIEST,
    EARLIEST_LOCAL,
    EARLIEST_PENDING_UPLOAD,
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    OffsetResult,
)
from ottla.client.admin_partitions import ElectionType, PartitionReassignment
from ottla.client.admin_quotas import (
    DEFAULT,
    ClientQuotaEntity,
    ClientQuotaFilter,
    ClientQuotaFilterComponent,
    QuotaMatch,
)
from ottla.client.admin_results import Results
from ottla.client.admin_scram import (
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialAlteration,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from ottla.client.admin_share_groups import SharePartitionOffset
from ottla.client.admin_streams_groups import (
    StreamsAssignment,
    StreamsGroupDescription,
    StreamsMemberDescription,
    StreamsSubtopology,
    StreamsTask,
    StreamsTopicInfo,
)
from ottla.client.admin_tokens import DelegationToken, KafkaPrincipal
from ottla.client.admin_topics import (
    CreatedTopic,
    NewTopic,
    PartitionDescription,
    TopicCursor,
    TopicDescription,
    TopicPage,
)
from ottla.client.group_lag import GroupLag, PartitionLag
from ottla.client.group_views import CommittedOffset, GroupDescription, GroupListing, MemberDescription
from ottla.client.offset_reset import Adjusted, PlannedOffset, ResetTarget, ResetTo
from ottla.client.records import OffsetAndMetadata
from ottla.client.transaction_views import (
    FencedProducer,
    OpenTransaction,
    ProducerState,
    TransactionDescription,
    TransactionListing,
    TransactionToAbort,
)
from ottla.client.view import Address
from ottla.model.types import TopicPartition

__all__ = [
    "AccessControlEntry",
    "AccessControlEntryFilter",
    "AclBinding",
    "AclBindingFilter",
    "AclOperation",
    "AclPermissionType",
    "Address",
    "Adjusted",
    "BrokerDescription",
    "ClientQuotaEntity",
    "ClientQuotaFilter",
    "ClientQuotaFilterComponent",
    "ClusterDescription",
    "CommittedOffset",
    "ConfigChange",
    "ConfigEntry",
    "ConfigOperation",
    "ConfigResource",
    "ConfigResourceType",
    "ConfigSource",
    "ConfigSynonym",
    "CreatedTopic",
    "DEFAULT",
    "DelegationToken",
    "EARLIEST",
    "EARLIEST_LOCAL",
    "EARLIEST_PENDING_UPLOAD",
    "ElectionType",
    "EndpointType",
    "FeatureDescription",
    "FeatureMetadata",
    "FeatureUpgradeType",
    "FencedProducer",
    "GroupDescription",
    "GroupLag",
    "GroupListing",
    "KafkaPrincipal",
    "LATEST",
    "LATEST_TIERED",
    "LogDirDescription",
    "LogDirPartition",
    "MAX_TIMESTAMP",
    "MemberDescription",
    "NewTopic",
    "OffsetAndMetadata",
    "OffsetResult",
    "OpenTransaction",
    "PartitionDescription",
    "PartitionLag",
    "PartitionReassignment",
    "PatternType",
    "PlannedOffset",
    "ProducerState",
    "QuorumDescription",
    "QuorumReplica",
    "QuotaMatch",
    "RaftEndpoint",
    "ReplicaLogDir",
    "ResetTarget",
    "ResetTo",
    "ResourcePattern",
    "ResourcePatternFilter",
    "ResourceType",
    "Results",
    "ScramCredentialInfo",
    "ScramMechanism",
    "SharePartitionOffset",
    "StreamsAssignment",
    "StreamsGroupDescription",
    "StreamsMemberDescription",
    "StreamsSubtopology",
    "StreamsTask",
    "StreamsTopicInfo",
    "TopicCursor",
    "TopicDescription",
    "TopicPage",
    "TopicPartition",
    "TopicPartitionReplica",
    "TransactionDescription",
    "TransactionListing",
    "TransactionToAbort",
    "UserScramCredentialAlteration",
    "UserScramCredentialDeletion",
    "UserScramCredentialUpsertion",
    "WILDCARD",
]
