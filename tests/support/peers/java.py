"""Kafka's Java producer and consumer, both with their defaults (so: idempotent)."""

from __future__ import annotations

from support.java_client import JavaClient, from_base64, to_base64
from support.peers.event import Ack, Event, Seen


class Java:
    name = "java"
    sets_timestamps = True

    def __init__(self, client: JavaClient) -> None:
        self._client = client

    def write(self, bootstrap: str, topic: str, events: list[Event], codec: str, **config: str) -> list[Ack]:
        records = [
            {
                "key": to_base64(event.key),
                "value": to_base64(event.value),
                "headers": [[name, to_base64(value)] for name, value in event.headers],
                "timestamp": event.timestamp,
            }
            for event in events
        ]
        done = self._client.call(
            "produce", bootstrap, topic=topic, records=records, config={"compression.type": codec, **config}
        )
        return [Ack(each["offset"], each["timestamp"]) for each in done]

    def read(self, bootstrap: str, counts: dict[str, int]) -> dict[str, list[Seen]]:
        seen: dict[str, list[Seen]] = {topic: [] for topic in counts}
        for record in self._client.call("consume", bootstrap, partitions=[[topic, 0] for topic in counts]):
            seen[record["topic"]].append(
                Seen(
                    record["offset"],
                    record["timestamp"],
                    record["timestamp_type"],
                    from_base64(record["key"]),
                    from_base64(record["value"]),
                    tuple((name, from_base64(value)) for name, value in record["headers"]),
                )
            )
        return seen
