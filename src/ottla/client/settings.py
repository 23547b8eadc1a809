"""What a client can be told, typed and checked: the settings of the core, under Kafka's names, underscored.

`client/config.py` makes these out of what a user wrote (dotted names or underscored ones, texts or numbers)
and refuses what it does not know. Defaults are those of Kafka's Java clients where they have one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from ottla.client.consumer_settings import ConsumerSettings as ConsumerSettings
    from ottla.client.producer_settings import ProducerSettings as ProducerSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class SecuritySettings:
    """TLS and SASL as they were configured: the seam that the security work fills in."""

    protocol: str = "PLAINTEXT"
    options: tuple[tuple[str, Any], ...] = ()
    """The `ssl.*` and `sasl.*` settings, by their dotted names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """What every client has."""

    KIND: ClassVar[str] = "admin-client"
    """What Kafka's metrics are named after."""

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
    metadata_max_idle_ms: int = 300_000
    """How long a producer keeps the metadata of a topic that it does not write to."""
    send_buffer_bytes: int = -1
    receive_buffer_bytes: int = -1
    """-1: the operating system's, which grow with the traffic. Kafka's defaults (128 and 64 KiB) cap the
    window: reading fast then costs a third more CPU, and tables leave at two thirds of the speed.
    """
    security: SecuritySettings = SecuritySettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminSettings(ClientSettings):
    connections_max_idle_ms: int = 300_000


def __getattr__(name: str) -> Any:
    # To make a data class takes milliseconds: those of producers and consumers are made when they are needed.
    if name == "ProducerSettings":
        from ottla.client.producer_settings import ProducerSettings

        return ProducerSettings
    if name == "ConsumerSettings":
        from ottla.client.consumer_settings import ConsumerSettings

        return ConsumerSettings
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
