"""The admin client under asyncio: `ottla.aio.Admin`.

Generated from the operations of the core by tools/generate_admin_facades.py; do not edit.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from ottla.aio.session import AioSession
from ottla.client.admin_access import AccessAdmin
from ottla.client.admin_acls import EVERY_ACL
from ottla.client.admin_cluster import FeatureUpgradeType
from ottla.client.admin_part import broker_timeout_ms
from ottla.client.admin_quotas import EVERY_QUOTA
from ottla.client.admin_share_groups import ShareGroupAdmin
from ottla.client.admin_streams_groups import StreamsGroupAdmin
from ottla.client.admin_transactions import FENCING_TIMEOUT_MS
from ottla.client.config import admin_settings
from ottla.client.group_lag import GroupLags
from ottla.client.offset_reset import OffsetResets

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ottla.client.admin_acls import AclBinding, AclBindingFilter
    from ottla.client.admin_cluster import (
        ClusterDescription,
        EndpointType,
        FeatureMetadata,
        QuorumDescription,
        RaftEndpoint,
    )
    from ottla.client.admin_configs import ConfigChange, ConfigEntry, ConfigResource, ConfigResourceType
    from ottla.client.admin_log_dirs import LogDirDescription, ReplicaLogDir, TopicPartitionReplica
    from ottla.client.admin_offsets import OffsetResult
    from ottla.client.admin_partitions import ElectionType, PartitionReassignment
    from ottla.client.admin_quotas import ClientQuotaEntity, ClientQuotaFilter
    from ottla.client.admin_results import Results
    from ottla.client.admin_scram import ScramCredentialInfo, UserScramCredentialAlteration
    from ottla.client.admin_share_groups import SharePartitionOffset
    from ottla.client.admin_streams_groups import StreamsGroupDescription
    from ottla.client.admin_tokens import DelegationToken, KafkaPrincipal
    from ottla.client.admin_topics import CreatedTopic, NewTopic, TopicCursor, TopicDescription, TopicPage
    from ottla.client.effects import ClientSteps
    from ottla.client.group_lag import GroupLag
    from ottla.client.group_views import GroupDescription, GroupListing
    from ottla.client.offset_reset import PlannedOffset, ResetTarget
    from ottla.client.records import OffsetAndMetadata
    from ottla.client.transaction_views import (
        FencedProducer,
        OpenTransaction,
        ProducerState,
        TransactionDescription,
        TransactionListing,
        TransactionToAbort,
    )
    from ottla.model.types import TopicPartition

R = TypeVar("R")


class Admin:
    """Administers a cluster; for the tasks of one event loop.

        async with ottla.aio.Admin("localhost:9092") as admin:
            (await admin.create_topics([NewTopic("clicks", partitions=6)])).all()

    What concerns many things gives `Results`, a dict from each of them to its value or to the error in its
    place; `results.all()` raises the first error. What concerns one thing raises. An API that the broker does
    not have raises UnsupportedVersion. `timeout` is in seconds; without it `default.api.timeout.ms` bounds
    the retries. Settings are Kafka's, underscored as keywords or dotted in `config`.
    """

    def __init__(
        self,
        bootstrap_servers: str | list[str] | None = None,
        *,
        config: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        if bootstrap_servers is not None:
            settings["bootstrap_servers"] = bootstrap_servers
        self._settings = admin_settings(config, settings)
        self._session = AioSession.on_loop(self._settings)
        core = self._session
        self._access = AccessAdmin(core.cluster)
        self._share_groups = ShareGroupAdmin(core.cluster, core.coordinators)
        self._streams_groups = StreamsGroupAdmin(core.cluster, core.coordinators)
        self._lags = GroupLags(core.cluster, core.admin, core.groups)
        self._resets = OffsetResets(core.cluster, core.admin, core.groups)

    def __repr__(self) -> str:
        return f"<ottla.aio.Admin {self._settings.client_id} at {self._settings.bootstrap_servers}>"

    async def __aenter__(self) -> Admin:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections. What is under way in other tasks ends with ClientClosed."""
        await self._session.close()

    def metrics(self) -> dict[str, dict[str, float]]:
        """Statistics by group and name, as Kafka names them."""
        return self._session.metrics.snapshot()

    async def _run(self, steps: ClientSteps[R], timeout: float | None) -> R:
        return await self._session.runtime.run(steps, None if timeout is None else timeout * 1_000)

    # -- Topics

    async def create_topics(
        self, topics: Iterable[NewTopic], *, validate_only: bool = False, timeout: float | None = None
    ) -> Results[str, CreatedTopic]:
        """Creates topics; with `validate_only` says only whether it could."""
        return await self._run(
            self._session.admin.create_topics(
                topics, validate_only=validate_only, timeout_ms=broker_timeout_ms(timeout)
            ),
            timeout,
        )

    async def delete_topics(
        self, names: Iterable[str], *, timeout: float | None = None
    ) -> Results[str, None]:
        """Deletes topics with all their records."""
        return await self._run(
            self._session.admin.delete_topics(names, timeout_ms=broker_timeout_ms(timeout)), timeout
        )

    async def delete_topics_by_id(
        self, topic_ids: Iterable[bytes], *, timeout: float | None = None
    ) -> Results[bytes, None]:
        """Deletes topics by their ids (sixteen bytes): never one that was created anew under the name."""
        return await self._run(
            self._session.admin.delete_topics_by_id(topic_ids, timeout_ms=broker_timeout_ms(timeout)), timeout
        )

    async def create_partitions(
        self,
        counts: Mapping[str, int],
        assignments: Mapping[str, Sequence[Sequence[int]]] | None = None,
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Results[str, None]:
        """Raises the number of partitions of topics; `assignments` names the replicas of the new ones."""
        return await self._run(
            self._session.admin.create_partitions(
                counts, assignments, validate_only=validate_only, timeout_ms=broker_timeout_ms(timeout)
            ),
            timeout,
        )

    async def list_topics(self, *, internal: bool = True, timeout: float | None = None) -> list[str]:
        """The names of all topics, sorted; without the internal ones if they are not wanted."""
        return await self._run(self._session.admin.list_topics(internal=internal), timeout)

    async def describe_topics(
        self,
        names: Iterable[str] | None = None,
        *,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> Results[str, TopicDescription]:
        """Topics with their partitions, leaders and replicas (None: all of them)."""
        return await self._run(
            self._session.admin.describe_topics(
                names, include_authorized_operations=include_authorized_operations
            ),
            timeout,
        )

    async def describe_topics_by_id(
        self,
        topic_ids: Iterable[bytes],
        *,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> Results[bytes, TopicDescription]:
        """As `describe_topics`, for topics by their ids (sixteen bytes)."""
        return await self._run(
            self._session.admin.describe_topics_by_id(
                topic_ids, include_authorized_operations=include_authorized_operations
            ),
            timeout,
        )

    async def describe_topic_partitions(
        self,
        topics: Iterable[str] | None = None,
        *,
        limit: int = 2000,
        cursor: TopicCursor | None = None,
        timeout: float | None = None,
    ) -> TopicPage:
        """One page of at most `limit` partitions of topics (None: of all), from `cursor` on, sorted."""
        return await self._run(
            self._session.admin.describe_topic_partitions(topics, limit=limit, cursor=cursor), timeout
        )

    # -- Configurations

    async def describe_configs(
        self,
        resource_type: ConfigResourceType,
        names: Sequence[str],
        *,
        keys: Sequence[str] | None = None,
        synonyms: bool = True,
        documentation: bool = False,
        timeout: float | None = None,
    ) -> Results[str, list[ConfigEntry]]:
        """The configuration entries of resources of one type, sorted by name (`keys`: only these)."""
        return await self._run(
            self._session.admin.describe_configs(
                resource_type, names, keys=keys, synonyms=synonyms, documentation=documentation
            ),
            timeout,
        )

    async def alter_configs(
        self,
        resource_type: ConfigResourceType,
        name: str,
        changes: Sequence[ConfigChange],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> None:
        """Changes the configuration of one resource; only what the changes name is touched. Raises."""
        return await self._run(
            self._session.admin.alter_configs(resource_type, name, changes, validate_only=validate_only),
            timeout,
        )

    async def incremental_alter_configs(
        self,
        changes: Mapping[ConfigResource, Sequence[ConfigChange]],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Results[ConfigResource, None]:
        """Changes the configurations of many resources; only what the changes name is touched."""
        return await self._run(
            self._session.admin.incremental_alter_configs(changes, validate_only=validate_only), timeout
        )

    async def list_config_resources(
        self, types: Iterable[ConfigResourceType] = (), *, timeout: float | None = None
    ) -> list[ConfigResource]:
        """The resources that have a configuration, sorted (`types`: only these; none named: every type)."""
        return await self._run(self._session.admin.list_config_resources(types), timeout)

    async def list_client_metrics_resources(self, *, timeout: float | None = None) -> list[str]:
        """The names of the subscriptions to clients' metrics (KIP-714)."""
        return await self._run(self._session.admin.list_client_metrics_resources(), timeout)

    # -- Offsets and records

    async def list_offsets(
        self,
        when: Mapping[TopicPartition, int],
        *,
        read_committed: bool = False,
        timeout: float | None = None,
    ) -> Results[TopicPartition, OffsetResult]:
        """Offsets by time: a timestamp in milliseconds, or EARLIEST, LATEST, MAX_TIMESTAMP, EARLIEST_LOCAL,
        LATEST_TIERED.
        """
        return await self._run(self._session.admin.list_offsets(when, read_committed=read_committed), timeout)

    async def delete_records(
        self, before: Mapping[TopicPartition, int], *, timeout: float | None = None
    ) -> Results[TopicPartition, int]:
        """Deletes the records before each offset (-1: all there are); gives each partition's new first
        offset.
        """
        return await self._run(
            self._session.admin.delete_records(before, timeout_ms=broker_timeout_ms(timeout)), timeout
        )

    # -- Replicas and leaders

    async def alter_partition_reassignments(
        self,
        reassignments: Mapping[TopicPartition, Sequence[int] | None],
        *,
        allow_replication_factor_change: bool = True,
        timeout: float | None = None,
    ) -> Results[TopicPartition, None]:
        """Gives partitions new replicas, by their brokers; None cancels what is under way. The copying goes
        on after the answer.
        """
        return await self._run(
            self._session.admin.alter_partition_reassignments(
                reassignments,
                allow_replication_factor_change=allow_replication_factor_change,
                timeout_ms=broker_timeout_ms(timeout),
            ),
            timeout,
        )

    async def list_partition_reassignments(
        self, partitions: Iterable[TopicPartition] | None = None, *, timeout: float | None = None
    ) -> dict[TopicPartition, PartitionReassignment]:
        """The reassignments under way (of these partitions; None: of all)."""
        return await self._run(
            self._session.admin.list_partition_reassignments(
                partitions, timeout_ms=broker_timeout_ms(timeout)
            ),
            timeout,
        )

    async def elect_leaders(
        self,
        election_type: ElectionType,
        partitions: Iterable[TopicPartition] | None = None,
        *,
        timeout: float | None = None,
    ) -> Results[TopicPartition, None]:
        """Elects leaders anew (None: of all partitions; then only those that got one are told). One that
        leads already is ELECTION_NOT_NEEDED.
        """
        return await self._run(
            self._session.admin.elect_leaders(
                election_type, partitions, timeout_ms=broker_timeout_ms(timeout)
            ),
            timeout,
        )

    # -- Log directories

    async def describe_log_dirs(
        self,
        node_ids: Sequence[int] | None = None,
        topics: Mapping[str, Sequence[int]] | None = None,
        *,
        timeout: float | None = None,
    ) -> Results[int, list[LogDirDescription]]:
        """The log directories of each broker (None: all brokers; `topics` None: all partitions)."""
        return await self._run(self._session.admin.describe_log_dirs(node_ids, topics), timeout)

    async def describe_replica_log_dirs(
        self, replicas: Iterable[TopicPartitionReplica], *, timeout: float | None = None
    ) -> Results[TopicPartitionReplica, ReplicaLogDir]:
        """In which directory of its broker each replica lies, and where it is being moved to."""
        return await self._run(self._session.admin.describe_replica_log_dirs(replicas), timeout)

    async def alter_replica_log_dirs(
        self, moves: Mapping[TopicPartitionReplica, str], *, timeout: float | None = None
    ) -> Results[TopicPartitionReplica, None]:
        """Moves replicas to other directories of their brokers; the copying goes on after the answer."""
        return await self._run(self._session.admin.alter_replica_log_dirs(moves), timeout)

    # -- Cluster and quorum

    async def describe_cluster(
        self,
        *,
        include_authorized_operations: bool = False,
        include_fenced_brokers: bool = False,
        endpoint_type: EndpointType | None = None,
        timeout: float | None = None,
    ) -> ClusterDescription:
        """The cluster's id, controller and brokers. The controllers' addresses are told by controllers only:
        a broker refuses that question. (`endpoint_type` None: those that this client knows of.)
        """
        return await self._run(
            self._session.admin.describe_cluster(
                include_authorized_operations=include_authorized_operations,
                include_fenced_brokers=include_fenced_brokers,
                endpoint_type=endpoint_type,
            ),
            timeout,
        )

    async def unregister_broker(self, broker_id: int, *, timeout: float | None = None) -> None:
        """Takes a broker that will not come back out of the cluster's memory."""
        return await self._run(self._session.admin.unregister_broker(broker_id), timeout)

    async def describe_features(self, *, timeout: float | None = None) -> FeatureMetadata:
        """The features that a broker supports, with the levels in force and their epoch."""
        return await self._run(self._session.admin.describe_features(), timeout)

    async def update_features(
        self,
        levels: Mapping[str, int],
        *,
        upgrade_type: int = FeatureUpgradeType.UPGRADE,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> None:
        """Sets the levels of features, all or none of them: raises when one is refused."""
        return await self._run(
            self._session.admin.update_features(
                levels,
                upgrade_type=upgrade_type,
                validate_only=validate_only,
                timeout_ms=broker_timeout_ms(timeout),
            ),
            timeout,
        )

    async def describe_metadata_quorum(self, *, timeout: float | None = None) -> QuorumDescription:
        """The controllers: leader, epoch, high watermark, and how far each voter and observer has come."""
        return await self._run(self._session.admin.describe_metadata_quorum(), timeout)

    async def add_raft_voter(
        self,
        voter_id: int,
        directory_id: bytes,
        endpoints: Iterable[RaftEndpoint],
        *,
        cluster_id: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Makes an observing controller a voter (KIP-853)."""
        return await self._run(
            self._session.admin.add_raft_voter(
                voter_id,
                directory_id,
                endpoints,
                cluster_id=cluster_id,
                timeout_ms=broker_timeout_ms(timeout),
            ),
            timeout,
        )

    async def remove_raft_voter(
        self,
        voter_id: int,
        directory_id: bytes,
        *,
        cluster_id: str | None = None,
        timeout: float | None = None,
    ) -> None:
        """Takes a voter out of the quorum (KIP-853)."""
        return await self._run(
            self._session.admin.remove_raft_voter(voter_id, directory_id, cluster_id=cluster_id), timeout
        )

    # -- Groups

    async def list_groups(
        self,
        states: Iterable[str] = (),
        types: Iterable[str] = (),
        *,
        protocol_types: Iterable[str] = (),
        timeout: float | None = None,
    ) -> list[GroupListing]:
        """The groups of all brokers, sorted: by state (`Stable`, ...), type (`classic`, `consumer`, `share`,
        `streams`) and protocol type (`consumer`, ...); none named: every one.
        """
        return await self._run(
            self._session.groups.list_groups(states, types, protocol_types=protocol_types), timeout
        )

    async def describe_groups(
        self,
        groups: Iterable[str],
        *,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> Results[str, GroupDescription]:
        """Consumer groups of either protocol with their members. Asks with ConsumerGroupDescribe first, and
        with DescribeGroups about those that are not of KIP-848.
        """
        return await self._run(
            self._session.groups.describe_groups(
                groups, include_authorized_operations=include_authorized_operations
            ),
            timeout,
        )

    async def describe_group(self, group: str, *, timeout: float | None = None) -> GroupDescription:
        """One consumer group of either protocol; raises."""
        return await self._run(self._session.groups.describe_group(group), timeout)

    async def describe_consumer_groups(
        self,
        groups: Iterable[str],
        *,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> Results[str, GroupDescription]:
        """Groups of the protocol of KIP-848, with epochs and target assignments; none of the classic one."""
        return await self._run(
            self._session.groups.describe_consumer_groups(
                groups, include_authorized_operations=include_authorized_operations
            ),
            timeout,
        )

    async def describe_classic_groups(
        self,
        groups: Iterable[str],
        *,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> Results[str, GroupDescription]:
        """Groups of the classic protocol, whatever they are for (consumers, connectors, ...)."""
        return await self._run(
            self._session.groups.describe_classic_groups(
                groups, include_authorized_operations=include_authorized_operations
            ),
            timeout,
        )

    async def delete_groups(
        self, groups: Iterable[str], *, timeout: float | None = None
    ) -> Results[str, None]:
        """Deletes groups without members, of any kind, with their offsets."""
        return await self._run(self._session.groups.delete_groups(groups), timeout)

    async def remove_members_from_consumer_group(
        self,
        group: str,
        instance_ids: Sequence[str] | None = None,
        *,
        reason: str = "",
        timeout: float | None = None,
    ) -> Results[str, None]:
        """Takes static members out of a group (KIP-345), so that the others need not wait for their session
        to end; None: every member, by its instance id or its member id.
        """
        return await self._run(
            self._session.groups.remove_members_from_consumer_group(group, instance_ids, reason=reason),
            timeout,
        )

    # -- Offsets of groups

    async def list_consumer_group_offsets(
        self,
        groups: Mapping[str, Iterable[TopicPartition] | None] | Iterable[str],
        *,
        require_stable: bool = False,
        timeout: float | None = None,
    ) -> Results[str, dict[TopicPartition, OffsetAndMetadata]]:
        """What groups have committed: of all partitions, or of those that a mapping names for each group.

        Partitions without a commit are left out. `require_stable` waits for commits of transactions that are
        under way (KIP-447). Streams groups are asked about in the same way.
        """
        return await self._run(
            self._session.groups.list_consumer_group_offsets(groups, require_stable=require_stable), timeout
        )

    async def alter_consumer_group_offsets(
        self,
        group: str,
        offsets: Mapping[TopicPartition, OffsetAndMetadata | int],
        *,
        timeout: float | None = None,
    ) -> Results[TopicPartition, None]:
        """Sets the offsets of a group without members. Raises what concerns the group (UNKNOWN_MEMBER_ID:
        it has members). Streams groups are changed in the same way.
        """
        return await self._run(self._session.groups.alter_consumer_group_offsets(group, offsets), timeout)

    async def delete_consumer_group_offsets(
        self, group: str, partitions: Iterable[TopicPartition], *, timeout: float | None = None
    ) -> Results[TopicPartition, None]:
        """Forgets what a group has committed for partitions; none that its members subscribe to. Raises what
        concerns the group.
        """
        return await self._run(self._session.groups.delete_consumer_group_offsets(group, partitions), timeout)

    # -- Lag

    async def describe_group_lags(
        self, groups: Iterable[str], *, timeout: float | None = None
    ) -> Results[str, GroupLag]:
        """How far groups are behind the ends of the logs, partition by partition."""
        return await self._run(self._lags.of(groups), timeout)

    # -- Resets

    async def reset_consumer_group_offsets(
        self,
        group: str,
        target: ResetTarget,
        topics: Mapping[str, Iterable[int] | None] | None = None,
        *,
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> list[PlannedOffset]:
        """Moves the offsets of a group without members, in topics (None as partitions: all of a topic) or in
        all that it has committed; gives what was done, or with `dry_run` what would be. Raises the first
        refusal.
        """
        return await self._run(
            self._resets.reset_consumer_group_offsets(group, target, topics, dry_run=dry_run), timeout
        )

    # -- Share groups

    async def describe_share_groups(
        self,
        groups: Iterable[str],
        *,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> Results[str, GroupDescription]:
        """Share groups with their members."""
        return await self._run(
            self._share_groups.describe_share_groups(
                groups, include_authorized_operations=include_authorized_operations
            ),
            timeout,
        )

    async def list_share_group_offsets(
        self,
        groups: Mapping[str, Iterable[TopicPartition] | None] | Iterable[str],
        *,
        timeout: float | None = None,
    ) -> Results[str, Results[TopicPartition, SharePartitionOffset]]:
        """Where share groups begin: in all partitions, or in those that a mapping names for each group."""
        return await self._run(self._share_groups.list_share_group_offsets(groups), timeout)

    async def alter_share_group_offsets(
        self, group: str, offsets: Mapping[TopicPartition, int], *, timeout: float | None = None
    ) -> Results[TopicPartition, None]:
        """Sets where a share group without members begins. Raises what concerns the group."""
        return await self._run(self._share_groups.alter_share_group_offsets(group, offsets), timeout)

    async def delete_share_group_offsets(
        self, group: str, topics: Iterable[str], *, timeout: float | None = None
    ) -> Results[str, None]:
        """Lets a share group without members forget topics. Raises what concerns the group."""
        return await self._run(self._share_groups.delete_share_group_offsets(group, topics), timeout)

    # -- Streams groups

    async def describe_streams_groups(
        self,
        groups: Iterable[str],
        *,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> Results[str, StreamsGroupDescription]:
        """Streams groups with their topology, members and tasks."""
        return await self._run(
            self._streams_groups.describe_streams_groups(
                groups, include_authorized_operations=include_authorized_operations
            ),
            timeout,
        )

    # -- Transactions

    async def list_transactions(
        self,
        states: Iterable[str] = (),
        producer_ids: Iterable[int] = (),
        *,
        duration_ms: int = -1,
        id_pattern: str | None = None,
        timeout: float | None = None,
    ) -> list[TransactionListing]:
        """The transactional ids of all brokers, as each broker lists them. `duration_ms`: only transactions
        that have been open for longer; `id_pattern`: only ids that a regular expression (RE2) matches whole.
        """
        return await self._run(
            self._session.transactions.list_transactions(
                states, producer_ids, duration_ms=duration_ms, id_pattern=id_pattern
            ),
            timeout,
        )

    async def describe_transactions(
        self, transactional_ids: Iterable[str], *, timeout: float | None = None
    ) -> Results[str, TransactionDescription]:
        """Transactional ids with the state of their transactions (or TRANSACTIONAL_ID_NOT_FOUND)."""
        return await self._run(self._session.transactions.describe_transactions(transactional_ids), timeout)

    async def describe_transaction(
        self, transactional_id: str, *, timeout: float | None = None
    ) -> TransactionDescription:
        """One transactional id; raises."""
        return await self._run(self._session.transactions.describe_transaction(transactional_id), timeout)

    async def describe_producers(
        self,
        partitions: Iterable[TopicPartition],
        *,
        broker_id: int | None = None,
        timeout: float | None = None,
    ) -> Results[TopicPartition, tuple[ProducerState, ...]]:
        """The producers that each partition's leader (or the replica on `broker_id`) remembers."""
        return await self._run(
            self._session.transactions.describe_producers(partitions, broker_id=broker_id), timeout
        )

    async def find_hanging_transactions(
        self,
        partitions: Iterable[TopicPartition],
        *,
        older_than_ms: int,
        broker_id: int | None = None,
        timeout: float | None = None,
    ) -> list[OpenTransaction]:
        """The transactions open in these partitions, without a write for so long, that no coordinator is
        going to end: nobody knows their producer, or its transaction does not contain the partition.
        """
        return await self._run(
            self._session.transactions.find_hanging_transactions(
                partitions, older_than_ms=older_than_ms, broker_id=broker_id
            ),
            timeout,
        )

    async def abort_transaction(self, spec: TransactionToAbort, *, timeout: float | None = None) -> None:
        """Writes an abort marker into one partition, past every coordinator: for hanging transactions."""
        return await self._run(self._session.transactions.abort_transaction(spec), timeout)

    async def fence_producers(
        self,
        transactional_ids: Iterable[str],
        *,
        transaction_timeout_ms: int = FENCING_TIMEOUT_MS,
        timeout: float | None = None,
    ) -> Results[str, FencedProducer]:
        """Takes transactional ids from the producers that use them: their open transactions are aborted,
        their next requests refused. Returns when the aborts are complete.
        """
        return await self._run(
            self._session.transactions.fence_producers(
                transactional_ids, transaction_timeout_ms=transaction_timeout_ms
            ),
            timeout,
        )

    async def fence_producer(
        self,
        transactional_id: str,
        *,
        transaction_timeout_ms: int = FENCING_TIMEOUT_MS,
        timeout: float | None = None,
    ) -> FencedProducer:
        """As `fence_producers`, for one; raises."""
        return await self._run(
            self._session.transactions.fence_producer(
                transactional_id, transaction_timeout_ms=transaction_timeout_ms
            ),
            timeout,
        )

    # -- ACLs

    async def describe_acls(
        self, acl_filter: AclBindingFilter = EVERY_ACL, *, timeout: float | None = None
    ) -> list[AclBinding]:
        """The ACLs that a filter matches, sorted."""
        return await self._run(self._access.describe_acls(acl_filter), timeout)

    async def create_acls(
        self, acls: Iterable[AclBinding], *, timeout: float | None = None
    ) -> Results[AclBinding, None]:
        """Adds ACLs; one that is there already stays as it is."""
        return await self._run(self._access.create_acls(acls), timeout)

    async def delete_acls(
        self, filters: Iterable[AclBindingFilter], *, timeout: float | None = None
    ) -> Results[AclBindingFilter, Results[AclBinding, None]]:
        """Deletes the ACLs that each filter matches, and says which those were."""
        return await self._run(self._access.delete_acls(filters), timeout)

    # -- Client quotas

    async def describe_client_quotas(
        self, quota_filter: ClientQuotaFilter = EVERY_QUOTA, *, timeout: float | None = None
    ) -> dict[ClientQuotaEntity, dict[str, float]]:
        """The quotas of the entities that a filter matches."""
        return await self._run(self._access.describe_client_quotas(quota_filter), timeout)

    async def alter_client_quotas(
        self,
        quotas: Mapping[ClientQuotaEntity, Mapping[str, float | None]],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Results[ClientQuotaEntity, None]:
        """Sets quotas by Kafka's keys (`producer_byte_rate`, ...); None removes one. Others stay."""
        return await self._run(self._access.alter_client_quotas(quotas, validate_only=validate_only), timeout)

    # -- SCRAM users

    async def describe_user_scram_credentials(
        self, users: Iterable[str] | None = None, *, timeout: float | None = None
    ) -> Results[str, tuple[ScramCredentialInfo, ...]]:
        """The mechanisms and iterations of users (None: of all who have a credential), never the secrets."""
        return await self._run(self._access.describe_user_scram_credentials(users), timeout)

    async def alter_user_scram_credentials(
        self, alterations: Iterable[UserScramCredentialAlteration], *, timeout: float | None = None
    ) -> Results[str, None]:
        """Sets and takes away passwords: of each user one at a time, or it is DUPLICATE_RESOURCE."""
        return await self._run(self._access.alter_user_scram_credentials(alterations), timeout)

    # -- Delegation tokens

    async def create_delegation_token(
        self,
        *,
        owner: KafkaPrincipal | None = None,
        renewers: Iterable[KafkaPrincipal] = (),
        max_lifetime_ms: int = -1,
        timeout: float | None = None,
    ) -> DelegationToken:
        """A new token for the caller, or for another owner (KIP-373); -1: as long as the broker allows."""
        return await self._run(
            self._access.create_delegation_token(
                owner=owner, renewers=renewers, max_lifetime_ms=max_lifetime_ms
            ),
            timeout,
        )

    async def renew_delegation_token(
        self, hmac: bytes, *, renew_period_ms: int = -1, timeout: float | None = None
    ) -> int:
        """Lets a token live longer; gives the time (ms) at which it will expire."""
        return await self._run(
            self._access.renew_delegation_token(hmac, renew_period_ms=renew_period_ms), timeout
        )

    async def expire_delegation_token(
        self, hmac: bytes, *, expiry_period_ms: int = -1, timeout: float | None = None
    ) -> int:
        """Lets a token end: at once (-1), or after a time; gives the time (ms) at which it will."""
        return await self._run(
            self._access.expire_delegation_token(hmac, expiry_period_ms=expiry_period_ms), timeout
        )

    async def describe_delegation_tokens(
        self, owners: Iterable[KafkaPrincipal] | None = None, *, timeout: float | None = None
    ) -> list[DelegationToken]:
        """The tokens that the caller may see (of these owners; None: of all)."""
        return await self._run(self._access.describe_delegation_tokens(owners), timeout)
