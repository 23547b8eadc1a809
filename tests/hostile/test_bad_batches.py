"""Record batches that lie: refused with Kafka's error code, on a connection that goes on, and nothing of
them is stored.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

import cramjam
import pytest
from crc32c import crc32c

from ottla.model.errors import ErrorCode
from ottla.wire.compression import Codec
from ottla.wire.record_batch import HEADER_BYTES
from support.broker_process import BrokerProcess
from support.raw_client import RawClient, batch_of
from support.undisturbed import Undisturbed

CRC_AT, ATTRIBUTES_AT, LAST_OFFSET_DELTA_AT, COUNT_AT = 17, 21, 23, 57


def with_field(batch: bytearray, at: int, kind: str, value: int, *, crc: bool = True) -> bytearray:
    """The batch with one field of its header changed, and a checksum that fits again."""
    struct.pack_into(">" + kind, batch, at, value)
    return with_crc(batch) if crc else batch


def with_crc(batch: bytearray) -> bytearray:
    struct.pack_into(">I", batch, CRC_AT, crc32c(bytes(batch[ATTRIBUTES_AT:])))
    return batch


def with_body(body: bytes, *, count: int = 1, codec: Codec = Codec.NONE) -> bytearray:
    """A batch whose header is right and whose records are whatever is given."""
    batch = batch_of(*([b""] * count))[:HEADER_BYTES] + bytearray(body)
    struct.pack_into(">i", batch, 8, len(batch) - 12)
    struct.pack_into(">h", batch, ATTRIBUTES_AT, int(codec))
    return with_crc(batch)


def bad_crc() -> bytearray:
    batch = batch_of(b"value")
    batch[-1] ^= 1
    return batch


def record(*varints: int, attributes: int = 0) -> bytes:
    """A record's bytes from its varints: length, timestamp delta, offset delta, key length, value length,
    headers.
    """
    length, *rest = (zigzag(value) for value in varints)
    return length + bytes([attributes]) + b"".join(rest)


def zigzag(value: int) -> bytes:
    raw = (value << 1) ^ (value >> 63)
    out = bytearray()
    while raw > 0x7F:
        out.append(raw & 0x7F | 0x80)
        raw >>= 7
    out.append(raw)
    return bytes(out)


LIES: dict[str, tuple[Callable[[], bytearray], ErrorCode]] = {
    "a bad checksum": (bad_crc, ErrorCode.CORRUPT_MESSAGE),
    "magic 0": (lambda: with_field(batch_of(b"v"), 16, "b", 0, crc=False), ErrorCode.INVALID_RECORD),
    "magic 1": (lambda: with_field(batch_of(b"v"), 16, "b", 1, crc=False), ErrorCode.INVALID_RECORD),
    "magic 3": (lambda: with_field(batch_of(b"v"), 16, "b", 3, crc=False), ErrorCode.CORRUPT_MESSAGE),
    "more records in the header than offsets": (
        lambda: with_field(batch_of(b"a", b"b"), COUNT_AT, "i", 3),
        ErrorCode.INVALID_RECORD,
    ),
    "more offsets than records": (
        lambda: with_field(batch_of(b"a", b"b"), LAST_OFFSET_DELTA_AT, "i", 9),
        ErrorCode.INVALID_RECORD,
    ),
    "a negative last offset delta": (
        lambda: with_field(batch_of(b"a"), LAST_OFFSET_DELTA_AT, "i", -1),
        ErrorCode.INVALID_RECORD,
    ),
    "a negative count": (lambda: with_field(batch_of(b"a"), COUNT_AT, "i", -1), ErrorCode.INVALID_RECORD),
    "a count of two thousand million": (
        lambda: with_field(
            with_field(batch_of(b"a"), COUNT_AT, "i", 2**31 - 1), LAST_OFFSET_DELTA_AT, "i", 2**31 - 2
        ),
        ErrorCode.INVALID_RECORD,
    ),
    "no records at all": (
        lambda: with_field(with_field(with_body(b""), COUNT_AT, "i", 0), LAST_OFFSET_DELTA_AT, "i", -1),
        ErrorCode.INVALID_RECORD,
    ),
    "a codec that does not exist": (
        lambda: with_field(batch_of(b"a"), ATTRIBUTES_AT, "h", 5),
        ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
    ),
    "a control batch": (
        lambda: with_field(batch_of(b"a"), ATTRIBUTES_AT, "h", 0x20),
        ErrorCode.INVALID_RECORD,
    ),
    "a record of negative length": (lambda: with_body(record(-1, 0, 0, -1, 0, 0)), ErrorCode.INVALID_RECORD),
    "a record longer than the batch": (
        lambda: with_body(record(5000, 0, 0, -1, 0, 0)),
        ErrorCode.INVALID_RECORD,
    ),
    "a key of length -2": (lambda: with_body(record(6, 0, 0, -2, 0, 0)), ErrorCode.INVALID_RECORD),
    "a key longer than the record": (lambda: with_body(record(6, 0, 0, 60, 0, 0)), ErrorCode.INVALID_RECORD),
    "a value of length -2": (lambda: with_body(record(6, 0, 0, -1, -2, 0)), ErrorCode.INVALID_RECORD),
    "a negative number of headers": (lambda: with_body(record(6, 0, 0, -1, 0, -1)), ErrorCode.INVALID_RECORD),
    "more headers than bytes": (lambda: with_body(record(9, 0, 0, -1, 0, 2**30)), ErrorCode.INVALID_RECORD),
    "a varint of eleven bytes": (lambda: with_body(b"\xff" * 11), ErrorCode.INVALID_RECORD),
    "offsets that do not follow each other": (
        lambda: with_body(record(6, 0, 0, -1, 0, 0) + record(6, 0, 5, -1, 0, 0), count=2),
        ErrorCode.INVALID_RECORD,
    ),
    "bytes after the last record": (
        lambda: with_body(record(6, 0, 0, -1, 0, 0) + b"more"),
        ErrorCode.INVALID_RECORD,
    ),
    "two batches": (lambda: batch_of(b"a") + batch_of(b"b"), ErrorCode.INVALID_RECORD),
    "a batch and half of another": (lambda: batch_of(b"a") + batch_of(b"b")[:40], ErrorCode.INVALID_RECORD),
    "a batch longer than the request": (
        lambda: with_field(batch_of(b"a"), 8, "i", 5000, crc=False),
        ErrorCode.CORRUPT_MESSAGE,
    ),
    "a batch of negative length": (
        lambda: with_field(batch_of(b"a"), 8, "i", -1, crc=False),
        ErrorCode.CORRUPT_MESSAGE,
    ),
    "gzip that is none": (lambda: with_body(b"not gzip", codec=Codec.GZIP), ErrorCode.CORRUPT_MESSAGE),
    "a transaction without its id": (
        lambda: with_field(
            batch_of(b"a", producer_id=3, producer_epoch=0, base_sequence=0), ATTRIBUTES_AT, "h", 0x10
        ),
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    ),
}
# Kafka itself answers with the one or the other, depending on which of its layers meets the damage.
DAMAGE = {ErrorCode.INVALID_RECORD, ErrorCode.CORRUPT_MESSAGE}


@pytest.mark.parametrize("kind", LIES)
def test_a_lying_batch_is_refused_and_not_stored(
    shared_broker: BrokerProcess, undisturbed: Undisturbed, topic_name: str, kind: str
) -> None:
    make, expected = LIES[kind]
    with RawClient(shared_broker.port) as client:
        client.create_topic(topic_name)
        # The bystander's topic of the fixture is another one; this connection has to go on as well.
        with undisturbed():
            answer = client.produce(topic_name, make())
        accepted = (
            DAMAGE if expected in DAMAGE and not kind.startswith(("a bad checksum", "magic")) else {expected}
        )
        assert answer.error_code in accepted, ErrorCode(answer.error_code)
        assert answer.base_offset == -1
        assert client.produce(topic_name, batch_of(b"fine")).base_offset == 0
        assert [each.value for each in client.read_all(topic_name)] == [b"fine"]


def test_null_and_empty_records_are_refused(shared_broker: BrokerProcess, topic_name: str) -> None:
    with RawClient(shared_broker.port) as client:
        client.create_topic(topic_name)
        assert client.produce(topic_name, b"").error_code == ErrorCode.INVALID_RECORD
        assert client.produce(topic_name, b"\0" * 30).error_code in DAMAGE
        assert client.end_offset(topic_name) == 0


# --- bombs
# --------------------------------------------------------------------------------------------------

BOMB_BYTES = 700 * 1024 * 1024


def bomb(codec: Codec) -> bytes:
    """A megabyte at the most that wants to become hundreds: a valid beginning of a record, then zeros."""
    start = record(BOMB_BYTES - 16, 0, 0, -1, BOMB_BYTES - 32)
    chunk = bytes(1024 * 1024)
    if codec is Codec.GZIP:
        stream = zlib.compressobj(9, zlib.DEFLATED, 31)
        data = stream.compress(start) + b"".join(stream.compress(chunk) for _ in range(BOMB_BYTES >> 20))
        return data + stream.flush()
    if codec is Codec.ZSTD:
        zstd = cramjam.zstd.Compressor(1)
        zstd.compress(start)
        for _ in range(BOMB_BYTES >> 20):
            zstd.compress(chunk)
        return bytes(zstd.finish())
    if codec is Codec.LZ4:
        # Thousands of equal blocks of 4 MiB would exceed max.message.bytes: as many as fit.
        lz4 = cramjam.lz4.Compressor(level=1, block_linked=False)
        lz4.compress(start)
        for _ in range(220):
            lz4.compress(chunk)
        return bytes(lz4.finish())
    # Snappy says at its beginning how long it becomes; the header is a lie of one varint.
    return b"\xff\xff\xff\xff\x07" + bytes(cramjam.snappy.compress_raw(bytes(20 * 1024 * 1024)))[4:]


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_a_decompression_bomb_is_refused_within_bounded_memory(
    shared_broker: BrokerProcess, undisturbed: Undisturbed, topic_name: str, codec: Codec
) -> None:
    batch = with_body(bomb(codec), codec=codec)
    assert len(batch) < 1_048_588
    with RawClient(shared_broker.port, timeout_s=30) as client:
        client.create_topic(topic_name)
        with undisturbed(peak_mb=300, worst_ms=4_000, median_ms=1_000):
            for _ in range(3):
                assert client.produce(topic_name, batch).error_code in DAMAGE
        assert client.end_offset(topic_name) == 0


def test_honest_compression_of_a_high_ratio_is_accepted(
    shared_broker: BrokerProcess, topic_name: str
) -> None:
    with RawClient(shared_broker.port) as client:
        client.create_topic(topic_name)
        value = bytes(8 * 1024 * 1024)
        for codec in (Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD):
            answer = client.produce(topic_name, batch_of(value, codec=codec))
            assert answer.error_code == ErrorCode.NONE, codec
        assert [each.value == value for each in client.read_all(topic_name)] == [True] * 4
