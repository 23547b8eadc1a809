"""The broker-wide values that the node uses, read from the layered configuration in one place.

Made anew when a dynamic broker config changes; whoever needs a value reads it from `node.settings` at the
time.
"""

from __future__ import annotations

from dataclasses import dataclass

from ottla.broker.cleaner import CleanerSettings
from ottla.broker.replica_selector import selects_by_rack
from ottla.groups.settings import GroupSettings
from ottla.log.manager import ManagerSettings
from ottla.metadata.config import ConfigView
from ottla.model.group_rules import server_assignors
from ottla.model.log_config import LONG_MAX, LogConfig
from ottla.net.settings import NetSettings
from ottla.transactions.settings import TransactionSettings

METADATA_BATCH_BYTES_MAX = 64 * 1024 * 1024
"""One decision is one batch, atomic on disk; ten thousand partitions take about a megabyte."""

SEND_BUFFER_BYTES = 512 * 1024
"""What a connection gets unless the operator says otherwise. CPU-seconds per GB fetched (1 KB records,
batches of 1 MB, medians of six to nine): 0.55 with Kafka's 100 KB (a turn of the loop for every 70 KB), 0.37
with 192 KB, 0.35 with 384 KB, 0.31 with 512 KB; from 640 KB on now 0.32, now 0.5, as with 1 MB and with what
the system chooses (the data leaves the cache between its two copies)."""


@dataclass(frozen=True, slots=True)
class ReplicationSettings:
    """The `replica.` keys, and `num.replica.fetchers`."""

    lag_max_ms: int
    fetchers_per_leader: int
    fetch_timeout_ms: int
    fetch_partition_bytes_max: int
    fetch_bytes_max: int
    fetch_bytes_min: int
    fetch_wait_max_ms: int
    fetch_backoff_ms: int
    leader_bytes_per_s: int
    """For the replicas that `leader.replication.throttled.replicas` names; LONG_MAX for no limit."""
    follower_bytes_per_s: int
    holds_below_min_isr: bool
    """Eligible leader replicas are in force (KIP-966)."""


@dataclass(frozen=True, slots=True)
class NodeSettings:
    fetch_max_bytes: int
    fetch_sessions_max: int
    fetch_session_eviction_ms: int
    auto_create_topics: bool
    delete_topics: bool
    rack: str | None
    rack_aware_reads: bool
    """Consumers are sent to a replica in their own rack (KIP-392)."""
    replication: ReplicationSettings
    heartbeat_interval_ms: int
    session_timeout_ms: int
    registration_timeout_ms: int
    controlled_shutdown: bool
    logs: ManagerSettings
    cleaner: CleanerSettings
    metadata_log: LogConfig
    net: NetSettings
    groups: GroupSettings
    groups_codec: int
    """The codec of the coordinator's own batches, by number."""
    transactions: TransactionSettings
    transaction_version: int
    """The finalized level of the feature: which generation of the protocol clients speak (KIP-890)."""
    transaction_load_buffer_bytes: int
    transaction_abort_interval_ms: int
    transaction_expiry_interval_ms: int
    add_partitions_retry_ms: int
    add_partitions_retry_max_ms: int

    @staticmethod
    def of(config: ConfigView) -> NodeSettings:
        get = config.get_int
        rack = config.broker_value("broker.rack")
        scheduler_ms = get("log.flush.scheduler.interval.ms")
        return NodeSettings(
            fetch_max_bytes=get("fetch.max.bytes"),
            fetch_sessions_max=get("max.incremental.fetch.session.cache.slots"),
            fetch_session_eviction_ms=120_000,
            auto_create_topics=config.get_bool("auto.create.topics.enable"),
            delete_topics=config.get_bool("delete.topic.enable"),
            rack=rack if isinstance(rack, str) else None,
            rack_aware_reads=selects_by_rack(config.broker_value("replica.selector.class")),
            replication=ReplicationSettings(
                lag_max_ms=get("replica.lag.time.max.ms"),
                fetchers_per_leader=get("num.replica.fetchers"),
                fetch_timeout_ms=get("replica.socket.timeout.ms"),
                fetch_partition_bytes_max=get("replica.fetch.max.bytes"),
                fetch_bytes_max=get("replica.fetch.response.max.bytes"),
                fetch_bytes_min=get("replica.fetch.min.bytes"),
                fetch_wait_max_ms=get("replica.fetch.wait.max.ms"),
                fetch_backoff_ms=get("replica.fetch.backoff.ms"),
                leader_bytes_per_s=get("leader.replication.throttled.rate"),
                follower_bytes_per_s=get("follower.replication.throttled.rate"),
                holds_below_min_isr=config.image.features.get("eligible.leader.replicas.version", 0) >= 1,
            ),
            heartbeat_interval_ms=get("broker.heartbeat.interval.ms"),
            session_timeout_ms=get("broker.session.timeout.ms"),
            registration_timeout_ms=get("initial.broker.registration.timeout.ms"),
            controlled_shutdown=config.get_bool("controlled.shutdown.enable"),
            logs=ManagerSettings(
                retention_check_interval_ms=get("log.retention.check.interval.ms"),
                flush_scheduler_interval_ms=scheduler_ms,
                flush_offset_checkpoint_interval_ms=get("log.flush.offset.checkpoint.interval.ms"),
                flush_start_offset_checkpoint_interval_ms=get(
                    "log.flush.start.offset.checkpoint.interval.ms"
                ),
                high_watermark_checkpoint_interval_ms=get("replica.high.watermark.checkpoint.interval.ms"),
                initial_task_delay_ms=get("log.initial.task.delay.ms"),
                file_delete_delay_ms=get("log.segment.delete.delay.ms"),
                producer_id_expiration_ms=get("producer.id.expiration.ms"),
                producer_id_expiration_check_interval_ms=get("producer.id.expiration.check.interval.ms"),
            ),
            cleaner=CleanerSettings(
                enabled=config.get_bool("log.cleaner.enable"),
                threads=get("log.cleaner.threads"),
                dedupe_buffer_bytes=get("log.cleaner.dedupe.buffer.size"),
                load_factor=config.get_float("log.cleaner.io.buffer.load.factor"),
                io_buffer_bytes=get("log.cleaner.io.buffer.size"),
                io_bytes_per_s_max=config.get_float("log.cleaner.io.max.bytes.per.second"),
                backoff_ms=get("log.cleaner.backoff.ms"),
            ),
            metadata_log=LogConfig(
                segment_bytes=max(get("metadata.log.segment.bytes"), METADATA_BATCH_BYTES_MAX),
                segment_ms=get("metadata.log.segment.ms"),
                retention_bytes=-1,
                retention_ms=-1,
                max_message_bytes=METADATA_BATCH_BYTES_MAX,
                message_timestamp_after_max_ms=LONG_MAX,
                cleanup_policy=frozenset(),
            ),
            net=NetSettings(
                request_bytes_max=get("socket.request.max.bytes"),
                connections_max=get("max.connections"),
                connections_per_ip_max=get("max.connections.per.ip"),
                idle_timeout_ms=get("connections.max.idle.ms"),
                send_buffer_bytes=(
                    get("socket.send.buffer.bytes")
                    if "socket.send.buffer.bytes" in config.server.values
                    else SEND_BUFFER_BYTES
                ),
                # Kafka's 100 KB makes a produce request of 16 KB cost half as much again; the system's own
                # choice is better unless the operator has one.
                receive_buffer_bytes=(
                    get("socket.receive.buffer.bytes")
                    if "socket.receive.buffer.bytes" in config.server.values
                    else -1
                ),
                connections_per_ip_overrides=config.server.max_connections_per_ip_overrides,
                listen_backlog=get("socket.listen.backlog.size"),
            ),
            groups=_group_settings(config),
            groups_codec=get("offsets.topic.compression.codec"),
            transactions=TransactionSettings(
                max_timeout_ms=get("transaction.max.timeout.ms"),
                id_expiration_ms=get("transactional.id.expiration.ms"),
                partition_verification=config.get_bool("transaction.partition.verification.enable"),
                two_phase_commit_enable=config.get_bool("transaction.two.phase.commit.enable"),
            ),
            transaction_version=config.image.features.get("transaction.version", 0),
            transaction_load_buffer_bytes=get("transaction.state.log.load.buffer.size"),
            transaction_abort_interval_ms=get("transaction.abort.timed.out.transaction.cleanup.interval.ms"),
            transaction_expiry_interval_ms=get("transaction.remove.expired.transaction.cleanup.interval.ms"),
            add_partitions_retry_ms=get("add.partitions.to.txn.retry.backoff.ms"),
            add_partitions_retry_max_ms=get("add.partitions.to.txn.retry.backoff.max.ms"),
        )


def _group_settings(config: ConfigView) -> GroupSettings:
    get = config.get_int
    protocols = config.get_list("group.coordinator.rebalance.protocols")
    return GroupSettings(
        min_session_timeout_ms=get("group.min.session.timeout.ms"),
        max_session_timeout_ms=get("group.max.session.timeout.ms"),
        initial_rebalance_delay_ms=get("group.initial.rebalance.delay.ms"),
        max_size=get("group.max.size"),
        consumer_session_timeout_ms=get("group.consumer.session.timeout.ms"),
        consumer_heartbeat_interval_ms=get("group.consumer.heartbeat.interval.ms"),
        consumer_max_size=get("group.consumer.max.size"),
        consumer_assignors=server_assignors(config.get_list("group.consumer.assignors")),
        consumer_migration_policy=config.get_str("group.consumer.migration.policy").lower(),
        consumer_regex_refresh_interval_ms=get("group.consumer.regex.refresh.interval.ms"),
        offset_metadata_max_bytes=get("offset.metadata.max.bytes"),
        offsets_retention_ms=get("offsets.retention.minutes") * 60_000,
        offsets_retention_check_interval_ms=get("offsets.retention.check.interval.ms"),
        offsets_commit_timeout_ms=get("offsets.commit.timeout.ms"),
        offsets_load_buffer_bytes=get("offsets.load.buffer.size"),
        consumer_protocol_enabled="consumer" in protocols
        and config.image.features.get("group.version", 0) >= 1,
    )
