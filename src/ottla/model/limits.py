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

ADD_PARTITIONS_STRANGERS_MAX: Final = 1_000
"""Partitions that one transaction may name in AddPartitionsToTxn beyond as many as there are, for the same
reason: every one of them is answered for."""

VERIFICATIONS_MAX: Final = 5_000
"""Producers of one partition that wait for the transaction coordinator's word. Whoever asks last is more
likely to come back than whoever asked first and did not."""

CREATE_PARTITIONS_MAX: Final = 10_000
"""Partitions that one request may create (Kafka's MAX_PARTITIONS_PER_BATCH)."""

LOOP_LAG_MS_MAX: Final = 5
"""What one turn of the event loop may take before others notice; background work is sliced to fit."""

REGEX_CHARS_MAX: Final = 4_096
"""Length of a subscription's regular expression: room for an alternation of a hundred topic names."""

REGEX_BYTES_MAX: Final = 128 * 1024
"""Memory of one compiled expression (RE2's `max_mem`): `a{1000}` nested in itself is refused
instead of compiled."""

REGEX_PROGRAM_MAX: Final = 3_000
"""Instructions of a compiled expression. With so many, matching the longest topic name takes RE2's slowest
engine about 5 ms, the most that one turn of the loop may take."""

GROUP_REGEXES_MAX: Final = 100
"""Different expressions in one group: each is matched against every topic whenever a topic is created."""

GROUP_SUBSCRIBED_TOPICS_MAX: Final = 20_000
"""Topic names in one member's subscription, which is one record of `__consumer_offsets`."""

GROUP_PROTOCOLS_MAX: Final = 1_000
"""Protocols that a member may offer in JoinGroup. Real clients name a handful; each costs an entry per member
for as long as the member is there."""

GROUP_PENDING_MEMBERS_MAX: Final = 10_000
"""Member ids of one group that were handed out and not yet used: a peer that asks for ids and never joins
must not fill the memory before they expire."""

GROUP_METADATA_BYTES_MAX: Final = 16 * 1024 * 1024
"""What the metadata of all members of one classic group may take together: the leader gets it in one
response. Two hundred members with four protocols of 20 KB each fit."""

GROUPS_METADATA_BYTES_MAX: Final = 128 * 1024 * 1024
"""The same for all classic groups of a node: members live for minutes after their connections are gone."""

GROUP_RECORD_BYTES_MAX: Final = 1_000_000
"""The record that describes a classic group, its members' metadata and assignments included, has to fit into
one batch of the default `max.message.bytes` (1,048,588)."""

GROUP_LEAVING_MEMBERS_MAX: Final = 10_000
"""Members that one LeaveGroup may name: every one of them is answered for."""

GROUP_MEMBER_ID_PREFIX_CHARS_MAX: Final = 255
"""What a member id takes over from the client id or the instance id: both may be 32,767 bytes, and so may the
member id itself."""

GROUP_REASON_CHARS_MAX: Final = 255
"""What is logged of a client's reason to join or leave (KIP-800 has clients cut it there)."""
