"""What every client is given to do: the same values, the same settings.

Values come from a pool of a thousand that differ, so that no client gains from sending one object over and
over; record i of a run has value i modulo the pool. There are no keys: records go where the client's default
partitioner sends them.
"""

from __future__ import annotations

import random

POOL = 1_000
LINGER_MS = 5
BATCH_BYTES = 131_072
BUFFER_BYTES = 64 * 1024 * 1024
POLL_RECORDS = 500

PRODUCER_WORDS = (
    f"acks=all, idempotence on, linger {LINGER_MS} ms, batches of {BATCH_BYTES // 1024} KiB, no compression, "
    "no keys. What is not the same: send_batch makes batches of 512 KiB whatever batch.size says; aiokafka "
    "has no setting for requests in flight, the others have 5; aiokafka and kafka-python have none for the "
    "memory of unsent records, the others have 64 MiB"
)
CONSUMER_WORDS = (
    "partitions assigned by hand, from the beginning, CRCs as each client checks them by default, fetches of "
    f"1 MiB per partition; poll, getmany and consume ask for {POLL_RECORDS} records; confluent-kafka with "
    "fetch.queue.backoff.ms=5, without which it pauses for a second whenever its queue is full"
)


def pool(value_bytes: int) -> list[bytes]:
    """The values of a run: random letters, so that nothing depends on what they hold."""
    chance = random.Random(value_bytes)
    letters = bytes(range(97, 123))
    return [bytes(chance.choices(letters, k=value_bytes)) for _ in range(POOL)]


def values(value_bytes: int, records: int) -> list[bytes]:
    made = pool(value_bytes)
    return (made * (records // POOL + 1))[:records]
