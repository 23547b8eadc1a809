"""A group member on Ottla's own client."""

from __future__ import annotations

from typing import Any

from ottla.client.errors import OttlaError, ServerError
from ottla.client.records import OffsetAndMetadata
from ottla.client.sync.consumer import Consumer
from ottla.model.types import TopicPartition
from support.group_members.ledger import Label, Ledger, Record, Spec


def client_of(spec: Spec) -> Consumer:
    own: dict[str, Any] = {}
    if spec["protocol"] == "classic":
        own["partition_assignment_strategy"] = list(spec["assignors"])
        own["session_timeout_ms"] = spec["session_ms"]
        own["heartbeat_interval_ms"] = spec["heartbeat_ms"]
    elif spec.get("remote_assignor"):
        own["group_remote_assignor"] = spec["remote_assignor"]
    return Consumer(
        bootstrap_servers=spec["bootstrap"],
        group_id=spec["group"],
        group_instance_id=spec.get("instance_id"),
        group_protocol=spec["protocol"],
        client_id=spec["name"],
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        max_poll_interval_ms=60_000,
        max_poll_records=spec["max_poll_records"],
        fetch_max_wait_ms=100,
        metadata_max_age_ms=1000,
        allow_auto_create_topics=False,
        **own,
    )


def main() -> None:
    spec = Spec()
    ledger = Ledger(spec)
    consumer = client_of(spec)
    names: dict[Label, TopicPartition] = {}

    def labels(partitions: list[TopicPartition]) -> list[Label]:
        names.update((spec.label(*tp), tp) for tp in partitions)
        return [spec.label(*tp) for tp in partitions]

    def commit(offsets: dict[Label, int]) -> dict[Label, int]:
        consumer.commit({names[label]: OffsetAndMetadata(at) for label, at in offsets.items()}, timeout=20)
        return offsets

    class Listener:
        def on_assigned(self, partitions: list[TopicPartition]) -> None:
            ledger.assigned(labels(partitions))

        def on_revoked(self, partitions: list[TopicPartition]) -> None:
            ledger.settle(commit)
            ledger.gone("revoked", labels(partitions))

        def on_lost(self, partitions: list[TopicPartition]) -> None:
            ledger.gone("lost", labels(partitions))

    if spec.get("pattern"):
        consumer.subscribe(pattern=spec["pattern"], listener=Listener())
    else:
        consumer.subscribe([spec["topic"]], listener=Listener())
    ledger.tell("ready")
    try:
        while not ledger.stopping:
            try:
                records = consumer.poll(timeout=0.1)
            except OttlaError as error:
                if not error.retriable:
                    raise
                continue
            ledger.process(
                Record(spec.label(each.topic, each.partition), each.offset, each.value) for each in records
            )
            ledger.settle(commit)
    except OttlaError as error:
        name = error.code.name if isinstance(error, ServerError) else type(error).__name__
        ledger.tell("fatal", f"{name}: {error}")
        raise SystemExit(3) from error
    ledger.settle(commit)
    ledger.tell("closing")
    consumer.close()
    ledger.tell("closed")


if __name__ == "__main__":
    main()
