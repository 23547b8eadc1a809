"""The log that is compacted: made once as a file of batches, sent to each system, and checked afterwards.

Every record says in its value which offset it got, and in its key which of the keys it is. So whoever reads
the log back can tell whether an offset has changed, and whether the last one of each key is there.
"""

from __future__ import annotations

import random
import struct
import time
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kafka_socket import KafkaSocket
from ottla.wire.framing import decode_response
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.wire.record_batch import Record, decode_batch, encode_batch, iter_headers

RECORDS_PER_BATCH = 500
VALUE_BYTES = 230
SEED = 11
PRODUCE_VERSION = 9
FETCH_VERSION = 12
FETCH_BYTES = 8 * 1024 * 1024
NOT_THERE_YET = 3
FIRST_TRIES = 50
"""Kafka answers a creation before its brokers know the topic."""
_BATCH_BYTES_MAX = 64 * 1024 * 1024


@dataclass(frozen=True)
class Table:
    path: Path
    keys: int
    records: int
    last_offsets: array[int]
    """By number of the key; -1 for one that was never written."""

    def batches(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            while head := file.read(12):
                yield head + file.read(struct.unpack_from(">i", head, 8)[0])


def make(folder: Path, keys: int, megabytes: int) -> Table:
    """Keys drawn evenly, the first pass through all of them so that each is there."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"compaction-{keys}-{megabytes}.batches"
    chance = random.Random(SEED)
    noise = chance.randbytes(4096)
    last_offsets = array("q", [-1]) * keys
    records = written = 0
    keep = path.exists()
    with path.open("rb" if keep else "wb") as file:
        while written < megabytes * 1_000_000:
            batch = []
            for _ in range(RECORDS_PER_BATCH):
                number = chance.randrange(keys) if records >= keys else records
                last_offsets[number] = records
                if not keep:
                    at = records % 3000
                    value = struct.pack(">q", records) + noise[at : at + VALUE_BYTES - 8]
                    batch.append(Record(0, 1_700_000_000_000 + records // 100, b"k%015d" % number, value))
                records += 1
            if keep:
                head = file.read(12)
                size = struct.unpack_from(">i", head, 8)[0]
                file.seek(size, 1)
                written += 12 + size
            else:
                data = encode_batch(batch)
                file.write(data)
                written += len(data)
    return Table(path, keys, records, last_offsets)


def fill(address: str, topic: str, table: Table) -> None:
    with KafkaSocket(address) as connection:
        for batch in table.batches():
            request = ProduceRequest(
                acks=1,
                timeout_ms=30_000,
                topic_data=[
                    TopicProduceData(
                        name=topic,
                        partition_data=[PartitionProduceData(index=0, records=memoryview(batch))],
                    )
                ],
            )
            error = NOT_THERE_YET
            for _ in range(FIRST_TRIES):
                frame = connection.exchange(request, PRODUCE_VERSION)
                _, response = decode_response(0, PRODUCE_VERSION, frame)
                error = response.responses[0].partition_responses[0].error_code
                if error != NOT_THERE_YET:
                    break
                time.sleep(0.1)
            if error:
                raise RuntimeError(f"filling the table failed with error {error}")


def check(address: str, topic: str, table: Table) -> int:
    """Reads all of it; the number of records that are left. RuntimeError when one is not as it has to be."""
    offset = seen = 0
    found = array("q", [-1]) * table.keys
    with KafkaSocket(address) as connection:
        while offset < table.records:
            request = FetchRequest(
                max_wait_ms=100,
                min_bytes=1,
                max_bytes=FETCH_BYTES,
                topics=[
                    FetchTopic(
                        topic=topic,
                        partitions=[
                            FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=FETCH_BYTES)
                        ],
                    )
                ],
            )
            _, response = decode_response(1, FETCH_VERSION, connection.exchange(request, FETCH_VERSION))
            data = bytes(response.responses[0].partitions[0].records or b"")
            before = offset
            for position, header in iter_headers(data, 0, len(data)):
                if position + header.size_bytes > len(data):
                    break
                for record in decode_batch(data, position, decompressed_bytes_max=_BATCH_BYTES_MAX):
                    if record.offset < before:
                        continue
                    assert record.key is not None and record.value is not None
                    if struct.unpack_from(">q", record.value)[0] != record.offset:
                        raise RuntimeError(f"the record at {record.offset} was written elsewhere")
                    found[int(record.key[1:])] = record.offset
                    seen += 1
                offset = header.next_offset
            if offset == before:
                raise RuntimeError(f"nothing was read at offset {offset}")
    if found != table.last_offsets:
        raise RuntimeError("the last value of a key is missing")
    return seen
