"""Distinct types for integers that look alike, and the names of partitions.

They cost nothing at run time (NewType) and keep an offset from being passed where a file position is meant.
"""

from __future__ import annotations

from typing import NamedTuple, NewType

Offset = NewType("Offset", int)
"""A record's number in its partition. -1 often means "none" on the wire."""
LeaderEpoch = NewType("LeaderEpoch", int)
FilePosition = NewType("FilePosition", int)
ProducerId = NewType("ProducerId", int)
NodeId = NewType("NodeId", int)

TopicId = NewType("TopicId", bytes)
"""Sixteen bytes; on the wire a Kafka UUID."""

NO_TOPIC_ID = TopicId(bytes(16))
NO_OFFSET = Offset(-1)
NO_LEADER_EPOCH = LeaderEpoch(-1)
NO_PRODUCER_ID = ProducerId(-1)

METADATA_TOPIC = "__cluster_metadata"
METADATA_TOPIC_ID = TopicId(bytes(15) + b"\x01")
CONSUMER_OFFSETS_TOPIC = "__consumer_offsets"
TRANSACTION_STATE_TOPIC = "__transaction_state"
INTERNAL_TOPICS = frozenset({CONSUMER_OFFSETS_TOPIC, TRANSACTION_STATE_TOPIC})


class TopicPartition(NamedTuple):
    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"
