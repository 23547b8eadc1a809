"""Batches that other clients' encoders made are read, and what we encode is read by them."""

from __future__ import annotations

import socket
import struct
from typing import Any

import confluent_kafka
import pytest
from aiokafka.record import default_records as aiokafka_records
from kafka.record.memory_records import MemoryRecords, MemoryRecordsBuilder

from ottla.wire import record_batch as rb
from ottla.wire.compression import Codec
from ottla.wire.record_batch import Record

pytestmark = pytest.mark.usefixtures("codec_form")

BOUND = 1 << 24
RECORDS = [
    Record(
        i,
        1_700_000_000_000 + i * 3,
        None if i % 4 == 0 else b"key-%d" % i,
        None if i % 9 == 5 else b"payload " * i,
        (("trace", b"\x01\x02"), ("empty", b"")) if i % 3 else (),
    )
    for i in range(200)
]


def aiokafka_batch(codec: Codec, builder_class: Any) -> bytes:
    builder = builder_class(
        magic=2, compression_type=int(codec), is_transactional=1, producer_id=11, producer_epoch=3,
        base_sequence=40, batch_size=1 << 22,
    )  # fmt: skip
    for record in RECORDS:
        made = builder.append(
            record.offset,
            timestamp=record.timestamp,
            key=record.key,
            value=record.value,
            headers=list(record.headers),
        )
        assert made is not None
    return bytes(builder.build())


@pytest.mark.parametrize("codec", list(Codec))
@pytest.mark.parametrize("form", ["compiled", "python"])
def test_batches_of_aiokafka_are_read(codec: Codec, form: str) -> None:
    builder_class = {
        "compiled": aiokafka_records.DefaultRecordBatchBuilder,
        "python": aiokafka_records._DefaultRecordBatchBuilderPy,
    }[form]
    batch = aiokafka_batch(codec, builder_class)
    header = rb.check_batch(batch, 0, len(batch), decompressed_bytes_max=BOUND).header
    assert header.codec == codec
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (11, 3, 40)
    assert header.is_transactional
    assert rb.decode_batch(batch, decompressed_bytes_max=BOUND) == RECORDS


@pytest.mark.parametrize("codec", list(Codec))
def test_aiokafka_reads_what_we_encode(codec: Codec) -> None:
    batch = aiokafka_records.DefaultRecordBatch(
        bytes(rb.encode_batch(RECORDS, codec=codec, base_offset=500, producer_id=11, base_sequence=40))
    )
    assert batch.validate_crc()
    assert (batch.base_offset, batch.producer_id, batch.base_sequence) == (500, 11, 40)
    assert [Record(r.offset - 500, r.timestamp, r.key, r.value, tuple(r.headers)) for r in batch] == RECORDS


def test_without_compression_we_write_the_same_bytes_as_aiokafka() -> None:
    ours = rb.encode_batch(
        RECORDS, producer_id=11, producer_epoch=3, base_sequence=40, transactional=True, leader_epoch=0
    )
    theirs = bytearray(aiokafka_batch(Codec.NONE, aiokafka_records.DefaultRecordBatchBuilder))
    rb.patch_base_offset_and_epoch(theirs, 0, 0, 0)
    assert ours == theirs


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_batches_of_kafka_python_are_read_and_ours_by_it(codec: Codec) -> None:
    builder = MemoryRecordsBuilder(
        magic=2,
        compression_type=int(codec),
        batch_size=1 << 22,
        producer_id=5,
        producer_epoch=1,
        base_sequence=0,
    )
    for record in RECORDS:
        builder.append(record.timestamp, record.key, record.value, list(record.headers))
    builder.close()
    batch = bytes(builder.buffer())
    assert rb.check_batch(batch, 0, len(batch), decompressed_bytes_max=BOUND).header.producer_id == 5
    assert rb.decode_batch(batch, decompressed_bytes_max=BOUND) == RECORDS

    read = MemoryRecords(bytes(rb.encode_batch(RECORDS, codec=codec))).next_batch()
    assert read is not None and read.validate_crc()
    assert [Record(r.offset, r.timestamp, r.key, r.value, tuple(r.headers)) for r in read] == RECORDS


def receive(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        chunk = connection.recv(count - len(data))
        assert chunk, "the broker closed the connection"
        data += chunk
    return data


def fetch_v4(address: tuple[str, int], topic: str) -> bytes:
    """The record bytes of partition 0 from offset 0, by a Fetch v4 request written out by hand."""
    name = topic.encode()
    body = struct.pack(">iiiib", -1, 100, 1, 1 << 24, 0)
    body += struct.pack(">ih", 1, len(name)) + name + struct.pack(">iiqi", 1, 0, 0, 1 << 24)
    head = struct.pack(">hhih", 1, 4, 7, 1) + b"t"
    with socket.create_connection(address, timeout=20) as connection:
        connection.sendall(struct.pack(">i", len(head + body)) + head + body)
        answer = receive(connection, *struct.unpack(">i", receive(connection, 4)))
    # Correlation id, throttle time, one topic, its name, one partition; then the partition's fields.
    at = 4 + 4 + 4 + 2 + len(name) + 4
    _, error, _, _, aborted = struct.unpack_from(">ihqqi", answer, at)
    assert error == 0
    at += 26 + 16 * max(0, aborted)
    (size,) = struct.unpack_from(">i", answer, at)
    return answer[at + 4 : at + 4 + size]


@pytest.mark.parametrize("codec", list(Codec))
def test_batches_of_librdkafka_are_read(codec: Codec) -> None:
    # librdkafka's own mock cluster keeps the producer's bytes; it stores what the real client framed.
    sent = [(record.key, record.value, list(record.headers), record.timestamp) for record in RECORDS]
    producer = confluent_kafka.Producer(
        {
            "test.mock.num.brokers": 1,
            "bootstrap.servers": "",
            "compression.type": codec.name.lower(),
            "linger.ms": 50,
            "enable.idempotence": True,
        }
    )
    failures: list[Any] = []
    for key, value, headers, timestamp in sent:
        producer.produce(
            "records", key=key, value=value, headers=headers, timestamp=timestamp, partition=0,
            on_delivery=lambda error, _: failures.append(error) if error else None,
        )  # fmt: skip
    assert producer.flush(20) == 0 and not failures
    broker = next(iter(producer.list_topics(timeout=20).brokers.values()))
    log = fetch_v4((broker.host, broker.port), "records")

    records: list[Record] = []
    codecs = set()
    for at, header in rb.iter_headers(log, 0, len(log)):
        checked = rb.check_batch(log, at, len(log), decompressed_bytes_max=BOUND, from_client=False)
        assert checked.max_timestamp == header.max_timestamp
        codecs.add(header.codec)
        records += rb.decode_batch(log, at, decompressed_bytes_max=BOUND)
    assert codec in codecs
    assert [record._replace(offset=i) for i, record in enumerate(records)] == RECORDS
