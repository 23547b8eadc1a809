"""The reads that end a run: when nothing is open any more, everything is read once, by both isolation levels.

First every transaction has to end: then a partition's last stable offset is its end. One that stays open
past every timeout hangs, and would block committed readers for ever. The reads are of assigned partitions,
from the first offset to that end, and say how far they went: only then is a missing value lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from chaos.kafka_workload.history import Isolation, Poll
from chaos.kafka_workload.reader import record_of
from chaos.kafka_workload.shared import KEY_OF, KEYS, SILENT, Shared

OPEN_TIMEOUT_S = 60.0
READ_TIMEOUT_S = 180.0


def final_reads(shared: Shared, say: Callable[[str], None]) -> list[str]:
    """What could not be read, or hangs; nothing in a good run."""
    problems: list[str] = []
    began_s = time.monotonic()
    ends = _wait_for_open_transactions(shared, problems)
    if ends is None:
        return problems
    say(f"nothing is open after {time.monotonic() - began_s:.1f} s, {sum(ends.values())} offsets to read")
    for isolation in ("committed", "uncommitted"):
        missing = _read(shared, isolation, ends)
        if missing:
            problems.append(f"the final {isolation} read did not get to the end of keys {missing}")
    return problems


def _consumer(shared: Shared, isolation: Isolation, name: str) -> Consumer:
    return shared.consumer_class(
        {
            "bootstrap.servers": shared.bootstrap,
            "client.id": name,
            "group.id": name,
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "enable.partition.eof": True,
            "isolation.level": f"read_{isolation}",
            "logger": SILENT,
        }
    )


def _wait_for_open_transactions(shared: Shared, problems: list[str]) -> dict[int, int] | None:
    committed = _consumer(shared, "committed", "final-ends-committed")
    uncommitted = _consumer(shared, "uncommitted", "final-ends-uncommitted")
    deadline_s = time.monotonic() + OPEN_TIMEOUT_S
    try:
        while True:
            try:
                stable = _ends(committed)
                ends = _ends(uncommitted)
            except KafkaException as error:
                if time.monotonic() > deadline_s:
                    problems.append(f"the ends of the partitions cannot be had: {error}")
                    return None
            else:
                open_keys = [key for key, end in ends.items() if stable[key] < end]
                if not open_keys:
                    return ends
                if time.monotonic() > deadline_s:
                    problems.append(
                        f"transactions hang in keys {open_keys}:"
                        f" stable up to {[stable[key] for key in open_keys]},"
                        f" written up to {[ends[key] for key in open_keys]}"
                    )
                    # What is stable can still be checked; the rest is this problem.
                    return stable
            time.sleep(0.2)
    finally:
        committed.close()
        uncommitted.close()


def _ends(consumer: Consumer) -> dict[int, int]:
    ends = {}
    for key, place in enumerate(KEYS):
        low_high = consumer.get_watermark_offsets(TopicPartition(*place), timeout=5)
        if low_high is None:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
        ends[key] = low_high[1]
    return ends


def _read(shared: Shared, isolation: Isolation, ends: dict[int, int]) -> list[int]:
    """Reads all and tells it as one operation; the keys whose end was not reached."""
    name = f"final-{isolation}"
    consumer = _consumer(shared, isolation, name)
    operation = shared.history.invoke(name, "final", isolation=isolation)
    consumer.assign([TopicPartition(*place, 0) for place in KEYS])
    waiting = {key for key, end in ends.items() if end > 0}
    records: dict[int, list[int]] = {key: [] for key in ends}
    deadline_s = time.monotonic() + READ_TIMEOUT_S
    while waiting and time.monotonic() < deadline_s:
        message = consumer.poll(1.0)
        if message is None:
            continue
        error = message.error()
        if error is not None and error.code() != KafkaError._PARTITION_EOF:
            shared.count(f"final read error {error.name()}")
            continue
        if error is None:
            key, offset, value = record_of(message)
            records[key] += (offset, value)
            offset += 1
        else:
            # Behind the last record there may be markers only, which nobody is handed: then the end is told.
            key, offset = KEY_OF[str(message.topic()), message.partition() or 0], message.offset() or 0
        if offset >= ends[key]:
            waiting.discard(key)
    consumer.close()
    runs = [(key, flat) for key, flat in records.items() if flat]
    operation.micros = [Poll(runs, shared.history.stamp())]
    operation.covers = {key: end for key, end in ends.items() if key not in waiting}
    shared.history.complete(operation, "ok" if not waiting else "info")
    return sorted(waiting)
