"""The settings of producers, apart from the others: a command that does not publish need not pay for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ottla.client.settings import ClientSettings
from ottla.wire.codec import Codec


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerSettings(ClientSettings):
    KIND: ClassVar[str] = "producer"
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
    partitioner_ignore_keys: bool = False
    partitioner_adaptive_partitioning_enable: bool = True
    key_serializer: Any = None
    value_serializer: Any = None
    """A name (`string`, `json`, `bytes`) or a function; None takes bytes as they are and texts as UTF-8."""
    interceptors: Sequence[Any] = ()
