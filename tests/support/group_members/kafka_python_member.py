"""A group member on kafka-python."""

from __future__ import annotations

import time
from typing import Any

from kafka import ConsumerRebalanceListener, KafkaConsumer
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata, TopicPartition

from support.group_members.ledger import Label, Ledger, Record, Spec

ASSIGNORS = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
    "cooperative-sticky": CooperativeStickyAssignor,
}


def connected(spec: Spec, ledger: Ledger) -> KafkaConsumer:
    """A client; it gives up where nobody listens, so it is asked again while the broker restarts."""
    while True:
        try:
            return client_of(spec)
        except KafkaError as error:
            if ledger.stopping or not error.retriable:
                raise
            time.sleep(0.1)


def client_of(spec: Spec) -> KafkaConsumer:
    return KafkaConsumer(
        bootstrap_servers=spec["bootstrap"],
        group_id=spec["group"],
        group_instance_id=spec.get("instance_id"),
        client_id=spec["name"],
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        session_timeout_ms=spec["session_ms"],
        heartbeat_interval_ms=spec["heartbeat_ms"],
        max_poll_interval_ms=60_000,
        partition_assignment_strategy=[ASSIGNORS[name] for name in spec["assignors"]],
        max_poll_records=spec["max_poll_records"],
        fetch_max_wait_ms=100,
        reconnect_backoff_max_ms=500,
        allow_auto_create_topics=False,
        metadata_max_age_ms=1000,
        exclude_internal_topics=True,
    )


def main() -> None:
    spec = Spec()
    ledger = Ledger(spec)
    assert spec["protocol"] == "classic"
    consumer = connected(spec, ledger)
    names: dict[Label, Any] = {}

    def labels(partitions: Any) -> list[Label]:
        found = []
        for each in partitions:
            label = spec.label(each.topic, each.partition)
            names[label] = each
            found.append(label)
        return found

    def commit(offsets: dict[Label, int]) -> dict[Label, int]:
        asked = {
            TopicPartition(names[p].topic, names[p].partition): OffsetAndMetadata(offset, "", -1)
            for p, offset in offsets.items()
        }
        consumer.commit(asked, timeout_ms=20_000)
        return offsets

    class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
        def on_partitions_assigned(self, assigned: Any) -> None:
            ledger.assigned(labels(assigned))

        def on_partitions_revoked(self, revoked: Any) -> None:
            if revoked:
                ledger.settle(commit)
                ledger.gone("revoked", labels(revoked))

        def on_partitions_lost(self, lost: Any) -> None:
            ledger.gone("lost", labels(lost))

    if spec.get("pattern"):
        consumer.subscribe(pattern=spec["pattern"], listener=Listener())
    else:
        consumer.subscribe([spec["topic"]], listener=Listener())
    ledger.tell("ready")
    try:
        while not ledger.stopping:
            try:
                polled = consumer.poll(timeout_ms=100)
            except KafkaError as error:
                if not error.retriable:
                    raise
                time.sleep(0.05)
                continue
            ledger.process(
                Record(spec.label(each.topic, each.partition), each.offset, each.value)
                for batch in polled.values()
                for each in batch
            )
            ledger.settle(commit)
    except KafkaError as error:
        ledger.tell("fatal", f"{type(error).__name__}: {error}")
        raise SystemExit(3) from error
    ledger.settle(commit)
    ledger.tell("closing")
    consumer.close(autocommit=False)
    ledger.tell("closed")


if __name__ == "__main__":
    main()
