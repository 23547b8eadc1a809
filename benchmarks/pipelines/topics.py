"""The topic that both sources read: 100-byte values with keys, filled once."""

from __future__ import annotations

import random

import pyarrow as pa

import ottla

VALUE_BYTES = 100
KEYS = 1_000
PARTITIONS = 4
CHUNK = 100_000


def create(address: str, names: list[str], partitions: int = PARTITIONS) -> None:
    with ottla.Admin(bootstrap_servers=address) as admin:
        admin.create_topics([ottla.NewTopic(name, partitions) for name in names])


def fill(address: str, topic: str, records: int) -> None:
    """`records` values of 100 bytes; each of 1,000 keys about as often as the others."""
    create(address, [topic])
    chance = random.Random(6)
    values = [chance.randbytes(VALUE_BYTES) for _ in range(1_000)]
    keys = [b"key-%05d" % number for number in range(KEYS)]
    table = pa.table(
        {
            "key": pa.array([chance.choice(keys) for _ in range(CHUNK)], pa.binary()),
            "value": pa.array([chance.choice(values) for _ in range(CHUNK)], pa.binary()),
        }
    )
    with ottla.Producer(bootstrap_servers=address) as producer:
        for begin in range(0, records, CHUNK):
            producer.send_batch(topic, table.slice(0, min(CHUNK, records - begin))).result(timeout=60)
