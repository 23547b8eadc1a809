"""The settings of consumers, apart from the others: a command that reads nothing need not pay for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ottla.client.settings import ClientSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerSettings(ClientSettings):
    KIND: ClassVar[str] = "consumer"
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
