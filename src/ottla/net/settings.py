"""What an operator can set about connections, under Kafka's names where Kafka has one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ottla.model.limits import (
    CONNECTION_REPLIES_MAX,
    CONNECTION_REPLY_BYTES_MAX,
    CONNECTIONS_MAX,
    FRAME_TIMEOUT_MS,
    HANDSHAKE_TIMEOUT_MS,
    REQUEST_BYTES_MAX,
)

INT_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True)
class NetSettings:
    request_bytes_max: int = REQUEST_BYTES_MAX
    """`socket.request.max.bytes`."""
    connections_max: int = CONNECTIONS_MAX
    """`max.connections`, over all listeners."""
    connections_per_ip_max: int = INT_MAX
    """`max.connections.per.ip`."""
    connections_per_ip_overrides: Mapping[str, int] = field(default_factory=dict)
    """`max.connections.per.ip.overrides`, by address."""
    idle_timeout_ms: float = 600_000
    """`connections.max.idle.ms`: no byte in either direction and no request under way. Negative: never."""
    handshake_timeout_ms: float = HANDSHAKE_TIMEOUT_MS
    """The first whole request has to be there by then."""
    frame_timeout_ms: float = FRAME_TIMEOUT_MS
    """A frame that was begun has to be whole by then."""
    reply_timeout_ms: float = 60_000
    """A peer that has replies to read and takes none of them for this long is closed."""
    replies_max: int = CONNECTION_REPLIES_MAX
    reply_bytes_max: int = CONNECTION_REPLY_BYTES_MAX
    total_reply_bytes_max: int = 512 * 1024 * 1024
    """Unsent reply bytes of all connections. Above it, only peers that have read everything are served."""
    send_buffer_bytes: int = -1
    """`socket.send.buffer.bytes`; -1 leaves it to the operating system, which adapts it."""
    receive_buffer_bytes: int = -1
    """`socket.receive.buffer.bytes`; likewise."""
    listen_backlog: int = 50
    """`socket.listen.backlog.size`; the listener takes it as a minimum."""
