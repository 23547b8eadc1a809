"""Which fields the records of internal topics have in which version, and Kafka's names for them.

Generated from schema/ by tools/generate_record_fields.py; do not edit.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Shown(NamedTuple):
    attribute: str
    name: str
    first_version: int
    last_version: int
    is_tagged: bool = False
    """Left out where it has its default."""
    is_uuid: bool = False
    """Among fields of bytes: an id, not binary data."""


FIELDS: Final[dict[str, dict[str, tuple[Shown, ...]]]] = {
    "consumer_protocol": {
        "ConsumerProtocolSubscription": (
            Shown("topics", "topics", 0, 32767),
            Shown("user_data", "userData", 0, 32767),
            Shown("owned_partitions", "ownedPartitions", 1, 32767),
            Shown("generation_id", "generationId", 2, 32767),
            Shown("rack_id", "rackId", 3, 32767),
        ),
        "ConsumerProtocolSubscriptionTopicPartition": (
            Shown("topic", "topic", 1, 32767),
            Shown("partitions", "partitions", 1, 32767),
        ),
        "ConsumerProtocolAssignment": (
            Shown("assigned_partitions", "assignedPartitions", 0, 32767),
            Shown("user_data", "userData", 0, 32767),
        ),
        "ConsumerProtocolAssignmentTopicPartition": (
            Shown("topic", "topic", 0, 32767),
            Shown("partitions", "partitions", 0, 32767),
        ),
    },
    "cluster_metadata": {
        "RegisterBrokerRecord": (
            Shown("broker_id", "brokerId", 0, 32767),
            Shown("is_migrating_zk_broker", "isMigratingZkBroker", 2, 32767),
            Shown("incarnation_id", "incarnationId", 0, 32767, is_uuid=True),
            Shown("broker_epoch", "brokerEpoch", 0, 32767),
            Shown("end_points", "endPoints", 0, 32767),
            Shown("features", "features", 0, 32767),
            Shown("rack", "rack", 0, 32767),
            Shown("fenced", "fenced", 0, 32767),
            Shown("in_controlled_shutdown", "inControlledShutdown", 1, 32767),
            Shown("log_dirs", "logDirs", 3, 32767, is_tagged=True, is_uuid=True),
        ),
        "BrokerEndpoint": (
            Shown("name", "name", 0, 32767),
            Shown("host", "host", 0, 32767),
            Shown("port", "port", 0, 32767),
            Shown("security_protocol", "securityProtocol", 0, 32767),
        ),
        "BrokerFeature": (
            Shown("name", "name", 0, 32767),
            Shown("min_supported_version", "minSupportedVersion", 0, 32767),
            Shown("max_supported_version", "maxSupportedVersion", 0, 32767),
        ),
        "UnregisterBrokerRecord": (
            Shown("broker_id", "brokerId", 0, 32767),
            Shown("broker_epoch", "brokerEpoch", 0, 32767),
        ),
        "TopicRecord": (
            Shown("name", "name", 0, 32767),
            Shown("topic_id", "topicId", 0, 32767, is_uuid=True),
        ),
        "PartitionRecord": (
            Shown("partition_id", "partitionId", 0, 32767),
            Shown("topic_id", "topicId", 0, 32767, is_uuid=True),
            Shown("replicas", "replicas", 0, 32767),
            Shown("isr", "isr", 0, 32767),
            Shown("removing_replicas", "removingReplicas", 0, 32767),
            Shown("adding_replicas", "addingReplicas", 0, 32767),
            Shown("leader", "leader", 0, 32767),
            Shown("leader_recovery_state", "leaderRecoveryState", 0, 32767, is_tagged=True),
            Shown("leader_epoch", "leaderEpoch", 0, 32767),
            Shown("partition_epoch", "partitionEpoch", 0, 32767),
            Shown("directories", "directories", 1, 32767, is_uuid=True),
            Shown("eligible_leader_replicas", "eligibleLeaderReplicas", 2, 32767, is_tagged=True),
            Shown("last_known_elr", "lastKnownElr", 2, 32767, is_tagged=True),
        ),
        "ConfigRecord": (
            Shown("resource_type", "resourceType", 0, 32767),
            Shown("resource_name", "resourceName", 0, 32767),
            Shown("name", "name", 0, 32767),
            Shown("value", "value", 0, 32767),
        ),
        "PartitionChangeRecord": (
            Shown("partition_id", "partitionId", 0, 32767),
            Shown("topic_id", "topicId", 0, 32767, is_uuid=True),
            Shown("isr", "isr", 0, 32767, is_tagged=True),
            Shown("leader", "leader", 0, 32767, is_tagged=True),
            Shown("replicas", "replicas", 0, 32767, is_tagged=True),
            Shown("removing_replicas", "removingReplicas", 0, 32767, is_tagged=True),
            Shown("adding_replicas", "addingReplicas", 0, 32767, is_tagged=True),
            Shown("leader_recovery_state", "leaderRecoveryState", 0, 32767, is_tagged=True),
            Shown("directories", "directories", 1, 32767, is_tagged=True, is_uuid=True),
            Shown("eligible_leader_replicas", "eligibleLeaderReplicas", 2, 32767, is_tagged=True),
            Shown("last_known_elr", "lastKnownElr", 2, 32767, is_tagged=True),
        ),
        "FenceBrokerRecord": (
            Shown("id", "id", 0, 32767),
            Shown("epoch", "epoch", 0, 32767),
        ),
        "UnfenceBrokerRecord": (
            Shown("id", "id", 0, 32767),
            Shown("epoch", "epoch", 0, 32767),
        ),
        "RemoveTopicRecord": (Shown("topic_id", "topicId", 0, 32767, is_uuid=True),),
        "DelegationTokenRecord": (
            Shown("owner", "owner", 0, 32767),
            Shown("requester", "requester", 0, 32767),
            Shown("renewers", "renewers", 0, 32767),
            Shown("issue_timestamp", "issueTimestamp", 0, 32767),
            Shown("max_timestamp", "maxTimestamp", 0, 32767),
            Shown("expiration_timestamp", "expirationTimestamp", 0, 32767),
            Shown("token_id", "tokenId", 0, 32767),
        ),
        "UserScramCredentialRecord": (
            Shown("name", "name", 0, 32767),
            Shown("mechanism", "mechanism", 0, 32767),
            Shown("salt", "salt", 0, 32767),
            Shown("stored_key", "storedKey", 0, 32767),
            Shown("server_key", "serverKey", 0, 32767),
            Shown("iterations", "iterations", 0, 32767),
        ),
        "FeatureLevelRecord": (
            Shown("name", "name", 0, 32767),
            Shown("feature_level", "featureLevel", 0, 32767),
        ),
        "ClientQuotaRecord": (
            Shown("entity", "entity", 0, 32767),
            Shown("key", "key", 0, 32767),
            Shown("value", "value", 0, 32767),
            Shown("remove", "remove", 0, 32767),
        ),
        "EntityData": (
            Shown("entity_type", "entityType", 0, 32767),
            Shown("entity_name", "entityName", 0, 32767),
        ),
        "ProducerIdsRecord": (
            Shown("broker_id", "brokerId", 0, 32767),
            Shown("broker_epoch", "brokerEpoch", 0, 32767),
            Shown("next_producer_id", "nextProducerId", 0, 32767),
        ),
        "BrokerRegistrationChangeRecord": (
            Shown("broker_id", "brokerId", 0, 32767),
            Shown("broker_epoch", "brokerEpoch", 0, 32767),
            Shown("fenced", "fenced", 0, 32767, is_tagged=True),
            Shown("in_controlled_shutdown", "inControlledShutdown", 1, 32767, is_tagged=True),
            Shown("log_dirs", "logDirs", 2, 32767, is_tagged=True, is_uuid=True),
        ),
        "AccessControlEntryRecord": (
            Shown("id", "id", 0, 32767, is_uuid=True),
            Shown("resource_type", "resourceType", 0, 32767),
            Shown("resource_name", "resourceName", 0, 32767),
            Shown("pattern_type", "patternType", 0, 32767),
            Shown("principal", "principal", 0, 32767),
            Shown("host", "host", 0, 32767),
            Shown("operation", "operation", 0, 32767),
            Shown("permission_type", "permissionType", 0, 32767),
        ),
        "RemoveAccessControlEntryRecord": (Shown("id", "id", 0, 32767, is_uuid=True),),
        "NoOpRecord": (),
        "ZkMigrationStateRecord": (Shown("zk_migration_state", "zkMigrationState", 0, 32767),),
        "RemoveUserScramCredentialRecord": (
            Shown("name", "name", 0, 32767),
            Shown("mechanism", "mechanism", 0, 32767),
        ),
        "BeginTransactionRecord": (Shown("name", "name", 0, 32767, is_tagged=True),),
        "EndTransactionRecord": (),
        "AbortTransactionRecord": (Shown("reason", "reason", 0, 32767, is_tagged=True),),
        "RemoveDelegationTokenRecord": (Shown("token_id", "tokenId", 0, 32767),),
        "RegisterControllerRecord": (
            Shown("controller_id", "controllerId", 0, 32767),
            Shown("incarnation_id", "incarnationId", 0, 32767, is_uuid=True),
            Shown("zk_migration_ready", "zkMigrationReady", 0, 32767),
            Shown("end_points", "endPoints", 0, 32767),
            Shown("features", "features", 0, 32767),
        ),
        "ControllerEndpoint": (
            Shown("name", "name", 0, 32767),
            Shown("host", "host", 0, 32767),
            Shown("port", "port", 0, 32767),
            Shown("security_protocol", "securityProtocol", 0, 32767),
        ),
        "ControllerFeature": (
            Shown("name", "name", 0, 32767),
            Shown("min_supported_version", "minSupportedVersion", 0, 32767),
            Shown("max_supported_version", "maxSupportedVersion", 0, 32767),
        ),
        "ClearElrRecord": (Shown("topic_name", "topicName", 0, 32767),),
    },
    "consumer_offsets": {
        "LegacyOffsetCommitKey": (
            Shown("group", "group", 0, 0),
            Shown("topic", "topic", 0, 0),
            Shown("partition", "partition", 0, 0),
        ),
        "LegacyOffsetCommitValue": (
            Shown("offset", "offset", 0, 0),
            Shown("metadata", "metadata", 0, 0),
            Shown("commit_timestamp", "commitTimestamp", 0, 0),
        ),
        "OffsetCommitKey": (
            Shown("group", "group", 0, 0),
            Shown("topic", "topic", 0, 0),
            Shown("partition", "partition", 0, 0),
        ),
        "OffsetCommitValue": (
            Shown("offset", "offset", 0, 32767),
            Shown("leader_epoch", "leaderEpoch", 3, 32767),
            Shown("metadata", "metadata", 0, 32767),
            Shown("commit_timestamp", "commitTimestamp", 0, 32767),
            Shown("expire_timestamp", "expireTimestamp", 1, 1),
            Shown("topic_id", "topicId", 4, 32767, is_tagged=True, is_uuid=True),
        ),
        "GroupMetadataKey": (Shown("group", "group", 0, 0),),
        "GroupMetadataValue": (
            Shown("protocol_type", "protocolType", 0, 32767),
            Shown("generation", "generation", 0, 32767),
            Shown("protocol", "protocol", 0, 32767),
            Shown("leader", "leader", 0, 32767),
            Shown("current_state_timestamp", "currentStateTimestamp", 2, 32767),
            Shown("members", "members", 0, 32767),
        ),
        "MemberMetadata": (
            Shown("member_id", "memberId", 0, 32767),
            Shown("group_instance_id", "groupInstanceId", 3, 32767),
            Shown("client_id", "clientId", 0, 32767),
            Shown("client_host", "clientHost", 0, 32767),
            Shown("rebalance_timeout", "rebalanceTimeout", 1, 32767),
            Shown("session_timeout", "sessionTimeout", 0, 32767),
            Shown("subscription", "subscription", 0, 32767),
            Shown("assignment", "assignment", 0, 32767),
        ),
        "ConsumerGroupMetadataKey": (Shown("group_id", "groupId", 0, 0),),
        "ConsumerGroupMetadataValue": (
            Shown("epoch", "epoch", 0, 32767),
            Shown("metadata_hash", "metadataHash", 0, 32767, is_tagged=True),
        ),
        "ConsumerGroupPartitionMetadataKey": (Shown("group_id", "groupId", 0, 0),),
        "ConsumerGroupPartitionMetadataValue": (Shown("topics", "topics", 0, 32767),),
        "PartitionMetadata": (
            Shown("partition", "partition", 0, 32767),
            Shown("racks", "racks", 0, 32767),
        ),
        "TopicMetadata": (
            Shown("topic_id", "topicId", 0, 32767, is_uuid=True),
            Shown("topic_name", "topicName", 0, 32767),
            Shown("num_partitions", "numPartitions", 0, 32767),
            Shown("partition_metadata", "partitionMetadata", 0, 32767),
        ),
        "ConsumerGroupMemberMetadataKey": (
            Shown("group_id", "groupId", 0, 0),
            Shown("member_id", "memberId", 0, 0),
        ),
        "ConsumerGroupMemberMetadataValue": (
            Shown("instance_id", "instanceId", 0, 32767),
            Shown("rack_id", "rackId", 0, 32767),
            Shown("client_id", "clientId", 0, 32767),
            Shown("client_host", "clientHost", 0, 32767),
            Shown("subscribed_topic_names", "subscribedTopicNames", 0, 32767),
            Shown("subscribed_topic_regex", "subscribedTopicRegex", 0, 32767),
            Shown("rebalance_timeout_ms", "rebalanceTimeoutMs", 0, 32767),
            Shown("server_assignor", "serverAssignor", 0, 32767),
            Shown("classic_member_metadata", "classicMemberMetadata", 0, 32767, is_tagged=True),
        ),
        "ClassicProtocol": (
            Shown("name", "name", 0, 32767),
            Shown("metadata", "metadata", 0, 32767),
        ),
        "ClassicMemberMetadata": (
            Shown("session_timeout_ms", "sessionTimeoutMs", 0, 32767),
            Shown("supported_protocols", "supportedProtocols", 0, 32767),
        ),
        "ConsumerGroupTargetAssignmentMetadataKey": (Shown("group_id", "groupId", 0, 0),),
        "ConsumerGroupTargetAssignmentMetadataValue": (
            Shown("assignment_epoch", "assignmentEpoch", 0, 32767),
        ),
        "ConsumerGroupTargetAssignmentMemberKey": (
            Shown("group_id", "groupId", 0, 0),
            Shown("member_id", "memberId", 0, 0),
        ),
        "ConsumerGroupTargetAssignmentMemberValue": (Shown("topic_partitions", "topicPartitions", 0, 32767),),
        "ConsumerGroupTargetAssignmentMemberValueTopicPartition": (
            Shown("topic_id", "topicId", 0, 32767, is_uuid=True),
            Shown("partitions", "partitions", 0, 32767),
        ),
        "ConsumerGroupCurrentMemberAssignmentKey": (
            Shown("group_id", "groupId", 0, 0),
            Shown("member_id", "memberId", 0, 0),
        ),
        "ConsumerGroupCurrentMemberAssignmentValue": (
            Shown("member_epoch", "memberEpoch", 0, 32767),
            Shown("previous_member_epoch", "previousMemberEpoch", 0, 32767),
            Shown("state", "state", 0, 32767),
            Shown("assigned_partitions", "assignedPartitions", 0, 32767),
            Shown("partitions_pending_revocation", "partitionsPendingRevocation", 0, 32767),
        ),
        "ConsumerGroupCurrentMemberAssignmentValueTopicPartitions": (
            Shown("topic_id", "topicId", 0, 32767, is_uuid=True),
            Shown("partitions", "partitions", 0, 32767),
        ),
        "ShareGroupMemberMetadataKey": (
            Shown("group_id", "groupId", 0, 0),
            Shown("member_id", "memberId", 0, 0),
        ),
        "ShareGroupMemberMetadataValue": (
            Shown("rack_id", "rackId", 0, 32767),
            Shown("client_id", "clientId", 0, 32767),
            Shown("client_host", "clientHost", 0, 32767),
            Shown("subscribed_topic_names", "subscribedTopicNames", 0, 32767),
        ),
        "ShareGroupMetadataKey": (Shown("group_id", "groupId", 0, 0),),
        "ShareGroupMetadataValue": (
            Shown("epoch", "epoch", 0, 32767),
            Shown("metadata_hash", "metadataHash", 0, 32767),
        ),
        "ShareGroupTargetAssignmentMetadataKey": (Shown("group_id", "groupId", 0, 0),),
        "ShareGroupTargetAssignmentMetadataValue": (Shown("assignment_epoch", "assignmentEpoch", 0, 32767),),
        "ShareGroupTargetAssignmentMemberKey": (
            Shown("group_id", "groupId", 0, 0),
            Shown("member_id", "memberId", 0, 0),
        ),
        "ShareGroupTargetAssignmentMemberValue": (Shown("topic_partitions", "topicPartitions", 0, 32767),),
        "ShareGroupTargetAssignmentMemberValueTopicPartition": (
            Shown("topic_id", "topicId", 0, 32767, is_uuid=True),
            Shown("partitions", "partitions", 0, 32767),
        ),
        "ShareGroupCurrentMemberAssignmentKey": (
            Shown("group_id", "groupId", 0, 0),
            Shown("member_id", "memberId", 0, 0),
        ),
        "ShareGroupCurrentMemberAssignmentValue": (
            Shown("member_epoch", "memberEpoch", 0, 32767),
            Shown("previous_member_epoch", "previousMemberEpoch", 0, 32767),
            Shown("state", "state", 0, 32767),
            Shown("assigned_partitions", "assignedPartitions", 0, 32767),
        ),
        "ShareGroupCurrentMemberAssignmentValueTopicPartitions": (
            Shown("topic_id", "topicId", 0, 32767, is_uuid=True),
            Shown("partitions", "partitions", 0, 32767),
        ),
        "ShareGroupStatePartitionMetadataKey": (Shown("group_id", "groupId", 0, 0),),
        "ShareGroupStatePartitionMetadataValue": (
            Shown("initializing_topics", "initializingTopics", 0, 32767),
            Shown("initialized_topics", "initializedTopics", 0, 32767),
            Shown("deleting_topics", "deletingTopics", 0, 32767),
        ),
        "TopicPartitionsInfo": (
            Shown("topic_id", "topicId", 0, 32767, is_uuid=True),
            Shown("topic_name", "topicName", 0, 32767),
            Shown("partitions", "partitions", 0, 32767),
        ),
        "ShareGroupStatePartitionMetadataValueTopicInfo": (
            Shown("topic_id", "topicId", 0, 32767, is_uuid=True),
            Shown("topic_name", "topicName", 0, 32767),
        ),
        "ConsumerGroupRegularExpressionKey": (
            Shown("group_id", "groupId", 0, 0),
            Shown("regular_expression", "regularExpression", 0, 0),
        ),
        "ConsumerGroupRegularExpressionValue": (
            Shown("topics", "topics", 0, 32767),
            Shown("version", "version", 0, 32767),
            Shown("timestamp", "timestamp", 0, 32767),
        ),
        "StreamsGroupMetadataKey": (Shown("group_id", "groupId", 0, 0),),
        "StreamsGroupMetadataValue": (
            Shown("epoch", "epoch", 0, 32767),
            Shown("metadata_hash", "metadataHash", 0, 32767),
            Shown("validated_topology_epoch", "validatedTopologyEpoch", 0, 32767, is_tagged=True),
            Shown("last_assignment_configs", "lastAssignmentConfigs", 0, 32767, is_tagged=True),
        ),
        "LastAssignmentConfig": (
            Shown("key", "key", 0, 32767),
            Shown("value", "value", 0, 32767),
        ),
        "StreamsGroupMemberMetadataKey": (
            Shown("group_id", "groupId", 0, 0),
            Shown("member_id", "memberId", 0, 0),
        ),
        "StreamsGroupMemberMetadataValue": (
            Shown("instance_id", "instanceId", 0, 32767),
            Shown("rack_id", "rackId", 0, 32767),
            Shown("client_id", "clientId", 0, 32767),
            Shown("client_host", "clientHost", 0, 32767),
            Shown("rebalance_timeout_ms", "rebalanceTimeoutMs", 0, 32767),
            Shown("topology_epoch", "topologyEpoch", 0, 32767),
            Shown("process_id", "processId", 0, 32767),
            Shown("user_endpoint", "userEndpoint", 0, 32767),
            Shown("client_tags", "clientTags", 0, 32767),
        ),
        "Endpoint": (
            Shown("host", "host", 0, 32767),
            Shown("port", "port", 0, 32767),
        ),
        "KeyValue": (
            Shown("key", "key", 0, 32767),
            Shown("value", "value", 0, 32767),
        ),
        "StreamsGroupTargetAssignmentMetadataKey": (Shown("group_id", "groupId", 0, 0),),
        "StreamsGroupTargetAssignmentMetadataValue": (
            Shown("assignment_epoch", "assignmentEpoch", 0, 32767),
        ),
        "StreamsGroupTargetAssignmentMemberKey": (
            Shown("group_id", "groupId", 0, 0),
            Shown("member_id", "memberId", 0, 0),
        ),
        "StreamsGroupTargetAssignmentMemberValue": (
            Shown("active_tasks", "activeTasks", 0, 32767),
            Shown("standby_tasks", "standbyTasks", 0, 32767),
            Shown("warmup_tasks", "warmupTasks", 0, 32767),
        ),
        "StreamsGroupTargetAssignmentMemberValueTaskIds": (
            Shown("subtopology_id", "subtopologyId", 0, 32767),
            Shown("partitions", "partitions", 0, 32767),
        ),
        "StreamsGroupCurrentMemberAssignmentKey": (
            Shown("group_id", "groupId", 0, 0),
            Shown("member_id", "memberId", 0, 0),
        ),
        "StreamsGroupCurrentMemberAssignmentValue": (
            Shown("member_epoch", "memberEpoch", 0, 32767),
            Shown("previous_member_epoch", "previousMemberEpoch", 0, 32767),
            Shown("state", "state", 0, 32767),
            Shown("active_tasks", "activeTasks", 0, 32767),
            Shown("standby_tasks", "standbyTasks", 0, 32767),
            Shown("warmup_tasks", "warmupTasks", 0, 32767),
            Shown("active_tasks_pending_revocation", "activeTasksPendingRevocation", 0, 32767),
            Shown("standby_tasks_pending_revocation", "standbyTasksPendingRevocation", 0, 32767),
            Shown("warmup_tasks_pending_revocation", "warmupTasksPendingRevocation", 0, 32767),
        ),
        "StreamsGroupCurrentMemberAssignmentValueTaskIds": (
            Shown("subtopology_id", "subtopologyId", 0, 32767),
            Shown("partitions", "partitions", 0, 32767),
            Shown("assignment_epochs", "assignmentEpochs", 0, 32767, is_tagged=True),
        ),
        "StreamsGroupTopologyKey": (Shown("group_id", "groupId", 0, 0),),
        "StreamsGroupTopologyValue": (
            Shown("epoch", "epoch", 0, 32767),
            Shown("subtopologies", "subtopologies", 0, 32767),
        ),
        "TopicConfig": (
            Shown("key", "key", 0, 32767),
            Shown("value", "value", 0, 32767),
        ),
        "StreamsGroupTopologyValueTopicInfo": (
            Shown("name", "name", 0, 32767),
            Shown("partitions", "partitions", 0, 32767),
            Shown("replication_factor", "replicationFactor", 0, 32767),
            Shown("topic_configs", "topicConfigs", 0, 32767),
        ),
        "CopartitionGroup": (
            Shown("source_topics", "sourceTopics", 0, 32767),
            Shown("source_topic_regex", "sourceTopicRegex", 0, 32767),
            Shown("repartition_source_topics", "repartitionSourceTopics", 0, 32767),
        ),
        "Subtopology": (
            Shown("subtopology_id", "subtopologyId", 0, 32767),
            Shown("source_topics", "sourceTopics", 0, 32767),
            Shown("source_topic_regex", "sourceTopicRegex", 0, 32767),
            Shown("state_changelog_topics", "stateChangelogTopics", 0, 32767),
            Shown("repartition_sink_topics", "repartitionSinkTopics", 0, 32767),
            Shown("repartition_source_topics", "repartitionSourceTopics", 0, 32767),
            Shown("copartition_groups", "copartitionGroups", 0, 32767),
        ),
    },
    "control_records": {
        "LeaderChangeMessage": (
            Shown("version", "version", 0, 32767),
            Shown("leader_id", "leaderId", 0, 32767),
            Shown("voters", "voters", 0, 32767),
            Shown("granting_voters", "grantingVoters", 0, 32767),
        ),
        "LeaderChangeMessageVoter": (
            Shown("voter_id", "voterId", 0, 32767),
            Shown("voter_directory_id", "voterDirectoryId", 1, 32767, is_uuid=True),
        ),
        "SnapshotHeaderRecord": (
            Shown("version", "version", 0, 32767),
            Shown("last_contained_log_timestamp", "lastContainedLogTimestamp", 0, 32767),
        ),
        "SnapshotFooterRecord": (Shown("version", "version", 0, 32767),),
        "KRaftVersionRecord": (
            Shown("version", "version", 0, 32767),
            Shown("kraft_version", "kRaftVersion", 0, 32767),
        ),
        "VotersRecord": (
            Shown("version", "version", 0, 32767),
            Shown("voters", "voters", 0, 32767),
        ),
        "Endpoint": (
            Shown("name", "name", 0, 32767),
            Shown("host", "host", 0, 32767),
            Shown("port", "port", 0, 32767),
        ),
        "KRaftVersionFeature": (
            Shown("min_supported_version", "minSupportedVersion", 0, 32767),
            Shown("max_supported_version", "maxSupportedVersion", 0, 32767),
        ),
        "VotersRecordVoter": (
            Shown("voter_id", "voterId", 0, 32767),
            Shown("voter_directory_id", "voterDirectoryId", 0, 32767, is_uuid=True),
            Shown("endpoints", "endpoints", 0, 32767),
            Shown("kraft_version_feature", "kRaftVersionFeature", 0, 32767),
        ),
        "EndTxnMarker": (Shown("coordinator_epoch", "coordinatorEpoch", 0, 32767),),
    },
    "share_group_state": {
        "ShareSnapshotKey": (
            Shown("group_id", "groupId", 0, 0),
            Shown("topic_id", "topicId", 0, 0, is_uuid=True),
            Shown("partition", "partition", 0, 0),
        ),
        "ShareSnapshotValue": (
            Shown("snapshot_epoch", "snapshotEpoch", 0, 32767),
            Shown("state_epoch", "stateEpoch", 0, 32767),
            Shown("leader_epoch", "leaderEpoch", 0, 32767),
            Shown("start_offset", "startOffset", 0, 32767),
            Shown("delivery_complete_count", "deliveryCompleteCount", 0, 32767, is_tagged=True),
            Shown("create_timestamp", "createTimestamp", 0, 32767),
            Shown("write_timestamp", "writeTimestamp", 0, 32767),
            Shown("state_batches", "stateBatches", 0, 32767),
        ),
        "ShareSnapshotValueStateBatch": (
            Shown("first_offset", "firstOffset", 0, 32767),
            Shown("last_offset", "lastOffset", 0, 32767),
            Shown("delivery_state", "deliveryState", 0, 32767),
            Shown("delivery_count", "deliveryCount", 0, 32767),
        ),
        "ShareUpdateKey": (
            Shown("group_id", "groupId", 0, 0),
            Shown("topic_id", "topicId", 0, 0, is_uuid=True),
            Shown("partition", "partition", 0, 0),
        ),
        "ShareUpdateValue": (
            Shown("snapshot_epoch", "snapshotEpoch", 0, 32767),
            Shown("leader_epoch", "leaderEpoch", 0, 32767),
            Shown("start_offset", "startOffset", 0, 32767),
            Shown("delivery_complete_count", "deliveryCompleteCount", 0, 32767, is_tagged=True),
            Shown("state_batches", "stateBatches", 0, 32767),
        ),
        "ShareUpdateValueStateBatch": (
            Shown("first_offset", "firstOffset", 0, 32767),
            Shown("last_offset", "lastOffset", 0, 32767),
            Shown("delivery_state", "deliveryState", 0, 32767),
            Shown("delivery_count", "deliveryCount", 0, 32767),
        ),
    },
    "transaction_state": {
        "TransactionLogKey": (Shown("transactional_id", "transactionalId", 0, 0),),
        "TransactionLogValue": (
            Shown("producer_id", "producerId", 0, 32767),
            Shown("previous_producer_id", "previousProducerId", 1, 32767, is_tagged=True),
            Shown("next_producer_id", "nextProducerId", 1, 32767, is_tagged=True),
            Shown("producer_epoch", "producerEpoch", 0, 32767),
            Shown("next_producer_epoch", "nextProducerEpoch", 1, 32767, is_tagged=True),
            Shown("transaction_timeout_ms", "transactionTimeoutMs", 0, 32767),
            Shown("transaction_status", "transactionStatus", 0, 32767),
            Shown("transaction_partitions", "transactionPartitions", 0, 32767),
            Shown("transaction_last_update_timestamp_ms", "transactionLastUpdateTimestampMs", 0, 32767),
            Shown("transaction_start_timestamp_ms", "transactionStartTimestampMs", 0, 32767),
            Shown("client_transaction_version", "clientTransactionVersion", 1, 32767, is_tagged=True),
        ),
        "PartitionsSchema": (
            Shown("topic", "topic", 0, 32767),
            Shown("partition_ids", "partitionIds", 0, 32767),
        ),
    },
}
