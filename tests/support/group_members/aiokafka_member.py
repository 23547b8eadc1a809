"""A group member on aiokafka.

Its callbacks run in a task of their own, beside the loop that polls: a lock keeps a revocation out between a
poll and the commit of what it returned (a poll returns nothing while a rebalance is under way). It does not
tell lost partitions from revoked ones.
"""

from __future__ import annotations

import asyncio
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from aiokafka.errors import KafkaConnectionError, KafkaError
from aiokafka.structs import TopicPartition

from support.group_members.ledger import Label, Ledger, Record, Spec

ASSIGNORS = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
}


async def connected(spec: Spec, ledger: Ledger) -> AIOKafkaConsumer:
    """A started client; it gives up at once where nobody listens, so it is asked again while the broker
    restarts.
    """
    while True:
        consumer = client_of(spec)
        try:
            await consumer.start()
            return consumer
        except KafkaConnectionError:
            await consumer.stop()
            if ledger.stopping:
                raise
            await asyncio.sleep(0.1)


def client_of(spec: Spec) -> AIOKafkaConsumer:
    return AIOKafkaConsumer(
        bootstrap_servers=spec["bootstrap"],
        group_id=spec["group"],
        group_instance_id=spec.get("instance_id"),
        client_id=spec["name"],
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        session_timeout_ms=spec["session_ms"],
        heartbeat_interval_ms=spec["heartbeat_ms"],
        rebalance_timeout_ms=60_000,
        partition_assignment_strategy=[ASSIGNORS[name] for name in spec["assignors"]],
        max_poll_records=spec["max_poll_records"],
        fetch_max_wait_ms=100,
        metadata_max_age_ms=1000,
        request_timeout_ms=20_000,
    )


async def run(spec: Spec, ledger: Ledger) -> None:
    assert spec["protocol"] == "classic"
    consumer = await connected(spec, ledger)
    names: dict[Label, Any] = {}
    lock = asyncio.Lock()

    def labels(partitions: Any) -> list[Label]:
        found = []
        for each in partitions:
            label = spec.label(each.topic, each.partition)
            names[label] = each
            found.append(label)
        return found

    async def settle() -> None:
        if not ledger.owed:
            return
        offsets = dict(ledger.owed)
        ledger.tell("trying", list(offsets.items()))
        asked = {TopicPartition(names[p].topic, names[p].partition): offset for p, offset in offsets.items()}
        try:
            await consumer.commit(asked)
        except Exception as error:
            ledger.refused(error)
        else:
            ledger.confirmed(offsets)

    class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
        async def on_partitions_assigned(self, assigned: Any) -> None:
            async with lock:
                ledger.assigned(labels(assigned))

        async def on_partitions_revoked(self, revoked: Any) -> None:
            async with lock:
                if revoked:
                    await settle()
                    ledger.gone("revoked", labels(revoked))

    if spec.get("pattern"):
        consumer.subscribe(pattern=spec["pattern"], listener=Listener())
    else:
        consumer.subscribe([spec["topic"]], listener=Listener())
    ledger.tell("ready")
    try:
        while not ledger.stopping:
            # Outside of the lock: it waits for the end of a rebalance, whose callbacks want the lock.
            try:
                polled = await consumer.getmany(timeout_ms=100)
            except KafkaError as error:
                if not error.retriable:
                    raise
                continue
            async with lock:
                ledger.process(
                    Record(spec.label(each.topic, each.partition), each.offset, each.value)
                    for batch in polled.values()
                    for each in batch
                )
                await settle()
    except KafkaError as error:
        ledger.tell("fatal", f"{type(error).__name__}: {error}")
        await consumer.stop()
        raise SystemExit(3) from error
    async with lock:
        await settle()
        ledger.tell("closing")
    await consumer.stop()
    ledger.tell("closed")


def main() -> None:
    spec = Spec()
    asyncio.run(run(spec, Ledger(spec)))


if __name__ == "__main__":
    main()
