"""What a client can be told, typed and checked: the settings of the core, under Kafka's names with underscores.

`client/config.py` makes these out of what a user wrote (dotted names or underscored ones, texts or numbers)
and refuses what it does not know. Defaults are those of Kafka's Java clients where they have one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ottla.wire.record_batch import Codec


@dataclass(frozen=True, slots=True, kw_only=True)
class SecuritySettings:
    """TLS and SASL as they were configured: the seam that the security work fills in."""

    protocol: str = "PLAINTEXT"
    options: tuple[tuple[str, Any], ...] = ()
    """The `ssl.*` and `sasl.*` settings, by their dotted names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """What every client has."""

    bootstrap_servers: str
    client_id: str = "ottla"
    client_dns_lookup: str = "use_all_dns_ips"
    client_rack: str = ""
    request_timeout_ms: int = 30_000
    default_api_timeout_ms: int = 60_000
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    reconnect_backoff_ms: int = 50
    reconnect_backoff_max_ms: int = 1_000
    socket_connection_setup_timeout_ms: int = 10_000
    socket_connection_setup_timeout_max_ms: int = 30_000
    connections_max_idle_ms: int = 540_000
    metadata_max_age_ms: int = 300_000
    send_buffer_bytes: int = 131_072
    receive_buffer_bytes: int = 65_536
    """-1: the operating system's."""
    security: SecuritySettings = SecuritySettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerSettings(ClientSettings):
    acks: int = -1
    enable_idempotence: bool = True
    transactional_id: str | None = None
    transaction_timeout_ms: int = 60_000
    batch_size: int = 16_384
    linger_ms: float = 5
    buffer_memory: int = 33_554_432
    max_block_ms: int = 60_000
    max_request_size: int = 1_048_576
    max_in_flight_requests_per_connection: int = 5
    retries: int = 2_147_483_647
    delivery_timeout_ms: int = 120_000
    compression_type: Codec = Codec.NONE
    compression_level: int | None = None
    """`compression.gzip.level`, `.lz4.level` or `.zstd.level`, whichever belongs to the type."""
    partitioner: Any = "default"
    """A name, or a function of the user's (`client/producing/partitioners.py`)."""
    key_serializer: Any = None
    value_serializer: Any = None
    """A name (`string`, `json`, `bytes`) or a function; None takes bytes as they are and texts as UTF-8."""
    interceptors: Sequence[Any] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerSettings(ClientSettings):
    group_id: str | None = None
    group_instance_id: str | None = None
    group_protocol: str = "classic"
    group_remote_assignor: str | None = None
    partition_assignment_strategy: Sequence[Any] = ("range", "cooperative-sticky")
    """Names, or assignors of the user's own (`client/consuming/assignors.py`)."""
    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 3_000
    max_poll_interval_ms: int = 300_000
    max_poll_records: int = 500
    enable_auto_commit: bool = True
    auto_commit_interval_ms: int = 5_000
    auto_offset_reset: str = "latest"
    """`earliest`, `latest`, `none`, or `by_duration:PT1H` (KIP-1106)."""
    isolation_level: str = "read_uncommitted"
    allow_auto_create_topics: bool = True
    exclude_internal_topics: bool = True
    check_crcs: bool = True
    fetch_min_bytes: int = 1
    fetch_max_bytes: int = 52_428_800
    fetch_max_wait_ms: int = 500
    max_partition_fetch_bytes: int = 1_048_576
    queued_max_bytes: int = 67_108_864
    """Ours: fetching pauses while so many bytes wait to be polled."""
    key_deserializer: Callable[[bytes], Any] | str | None = None
    value_deserializer: Callable[[bytes], Any] | str | None = None
    interceptors: Sequence[Any] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminSettings(ClientSettings):
    pass
