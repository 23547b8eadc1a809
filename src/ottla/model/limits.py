"""Every bound on what a peer controls, declared once with its reason. Checked before memory is allocated."""

from __future__ import annotations

from typing import Final

REQUEST_BYTES_MAX: Final = 100 * 1024 * 1024
"""`socket.request.max.bytes`: the largest frame that is read. Kafka's default."""

OTHER_REQUEST_BYTES_MAX: Final = 4 * 1024 * 1024
"""Requests that carry no records: three bytes of them can be one more thing to look up, and the loop is not
free until the last is decoded. Ten thousand names of the greatest length fit, or as many topics."""

UNAUTHENTICATED_REQUEST_BYTES_MAX: Final = 512 * 1024
"""Before authentication a peer may not make the broker reserve more than this."""

CONNECTION_REPLIES_MAX: Final = 512
"""Pipelined requests of one connection whose replies are not yet sent; then reading from it pauses."""

CONNECTION_REPLY_BYTES_MAX: Final = 64 * 1024 * 1024
"""Reply bytes held in memory (file slices count nothing) for one connection that does not read."""

CONNECTIONS_MAX: Final = 20_000
"""Default ceiling for all connections of one broker: each costs about 3 KB and one descriptor."""

FRAME_MEMORY_BYTES_MAX: Final = 512 * 1024 * 1024
"""All large frames under way at once; a frame reserves its whole size before it is read."""

SMALL_FRAME_BYTES_MAX: Final = 128 * 1024
"""Frames up to this size are read in the loop's shared scratch buffer; larger ones reserve their own."""

DECOMPRESSED_BATCH_BYTES_MAX: Final = 128 * 1024 * 1024
"""What one compressed batch may expand to while it is checked. A batch of `max.message.bytes` = 1 MiB that
expands 128 times is beyond any real event data; above it, it is a bomb."""

TOPIC_NAME_CHARS_MAX: Final = 249
"""Kafka's rule: the directory name `<topic>-<partition>` plus suffixes has to fit in 255 bytes."""

HANDSHAKE_TIMEOUT_MS: Final = 30_000
"""A connection that has not sent one whole request by then is closed."""

FRAME_TIMEOUT_MS: Final = 60_000
"""A frame that was begun has to arrive whole within this time and make progress, or the peer is a slow
loris.
"""

FETCH_SESSIONS_MAX: Final = 1_000
"""`max.incremental.fetch.session.cache.slots`: Kafka's default."""

FETCH_STRANGERS_MAX: Final = 1_000
"""Partitions that a fetch, or the session that it belongs to, may name beyond as many as there are: a client
that knows the cluster names few that are gone, and a session is kept in memory between requests."""

CREATE_PARTITIONS_MAX: Final = 10_000
"""Partitions that one request may create (Kafka's MAX_PARTITIONS_PER_BATCH)."""

LOOP_LAG_MS_MAX: Final = 5
"""What one turn of the event loop may take before others notice; background work is sliced to fit."""
