"""Record batches, format v2: the unit in which records travel, are stored and are checked.

A batch is a header of 61 bytes and its records, compressed as a whole or not at all. The first 12 bytes (base
offset and length) and the leader epoch lie outside the CRC, so the broker assigns offsets by patching in
place. This module knows the header; the loops over records are in ``record_codec`` (reading) and
``record_writer``, the codecs in ``compression``.

* The produce path calls ``check_batch`` (everything), then ``patch_base_offset_and_epoch``; recovery and
  followers call ``check_crc``. Where the topic's configuration asks for it: ``set_max_timestamp``,
  ``rewrite_batch``.
* Tools, tests and coordinators, which want objects: ``encode_batch``, ``decode_batch``, and the control
  batches.
* Whoever moves many records: ``encode_columns``, ``decode_columns``, whose buffers have Arrow's layout.
* Clients: ``encode_lists``, ``encode_places``, ``seal_batch``; ``open_batch``, ``columns_of_batches``.

``CorruptBatch`` means that the bytes are not what was sent, ``InvalidRecord`` that what was sent is wrong.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Literal, NamedTuple, cast

from ottla.wire import record_codec, record_writer
from ottla.wire.compression import (
    Codec,
    DecompressedTooLarge,
    InvalidRecord,
    ReadableBuffer,
    UnsupportedCodec,
    codec_of,
    compress,
    decompress,
    look_into,
)
from ottla.wire.crc import crc32c

__all__ = [
    "BatchHeader",
    "BinaryColumn",
    "CheckedBatch",
    "Codec",
    "Columns",
    "ControlType",
    "CorruptBatch",
    "DecompressedTooLarge",
    "EndTxnMarker",
    "HeaderColumn",
    "InvalidRecord",
    "LeaderChange",
    "PendingColumns",
    "ReadableBuffer",
    "Record",
    "UnsupportedCodec",
    "Voter",
    "check_batch",
    "check_crc",
    "columns_of_batches",
    "control_type",
    "decode_batch",
    "decode_columns",
    "decode_end_txn_marker",
    "decode_leader_change",
    "empty_batch",
    "encode_batch",
    "encode_columns",
    "encode_control_batch",
    "encode_end_txn_batch",
    "encode_leader_change_batch",
    "encode_lists",
    "encode_places",
    "iter_headers",
    "joined_columns",
    "open_batch",
    "patch_base_offset_and_epoch",
    "read_header",
    "rewrite_batch",
    "seal_batch",
    "set_max_timestamp",
]

# base offset, batch length, leader epoch, magic, crc, attributes, last offset delta, base timestamp, max
# timestamp, producer id, producer epoch, base sequence, record count
HEADER = struct.Struct(">qiibIhiqqqhii")
HEADER_BYTES = 61
LOG_OVERHEAD = 12  # base offset and batch length: what comes before the bytes that batch_length counts
BATCH_LENGTH_MIN = HEADER_BYTES - LOG_OVERHEAD
MAGIC = 2

BATCH_LENGTH_AT = 8
LEADER_EPOCH_AT = 12
MAGIC_AT = 16
CRC_AT = 17
ATTRIBUTES_AT = 21  # the CRC covers everything from here on
LAST_OFFSET_DELTA_AT = 23
BASE_TIMESTAMP_AT = 27
MAX_TIMESTAMP_AT = 35
PRODUCER_ID_AT = 43

CODEC_MASK = 0x07
TIMESTAMP_TYPE_BIT = 0x08
TRANSACTIONAL_BIT = 0x10
CONTROL_BIT = 0x20
DELETE_HORIZON_BIT = 0x40

CREATE_TIME = 0
LOG_APPEND_TIME = 1

NO_TIMESTAMP = -1
NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
NO_SEQUENCE = -1
NO_LEADER_EPOCH = -1

INT32_MAX = 0x7FFFFFFF

_OFFSET_AND_LENGTH = struct.Struct(">qi")
_INT32 = struct.Struct(">i")
_UINT32 = struct.Struct(">I")
_INT64 = struct.Struct(">q")
_INT16 = struct.Struct(">h")
_PRODUCER = struct.Struct(">qhi")  # id, epoch, base sequence


_CODECS = tuple(Codec)  # by number: an index is far cheaper than the enumeration's constructor


class CorruptBatch(ValueError):
    """A batch's length, magic or CRC is wrong (Kafka: CORRUPT_MESSAGE)."""


class BatchHeader(NamedTuple):
    """The header of a batch, as it is written."""

    base_offset: int
    batch_length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def size_bytes(self) -> int:
        return LOG_OVERHEAD + self.batch_length

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def codec(self) -> Codec:
        bits = self.attributes & CODEC_MASK
        return _CODECS[bits] if bits < len(_CODECS) else codec_of(bits)  # which raises

    @property
    def timestamp_type(self) -> int:
        return LOG_APPEND_TIME if self.attributes & TIMESTAMP_TYPE_BIT else CREATE_TIME

    @property
    def is_transactional(self) -> bool:
        return self.attributes & TRANSACTIONAL_BIT != 0

    @property
    def is_control(self) -> bool:
        return self.attributes & CONTROL_BIT != 0

    @property
    def has_delete_horizon(self) -> bool:
        return self.attributes & DELETE_HORIZON_BIT != 0

    @property
    def last_sequence(self) -> int:
        """The sequence of the last record; sequences wrap to 0 after 2^31 - 1."""
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return (self.base_sequence + self.last_offset_delta) & INT32_MAX


class CheckedBatch(NamedTuple):
    """A batch that passed check_batch, with what the walk over its records found.

    min_timestamp leaves out records without a timestamp (-1), as Kafka's bounds on timestamps do; -1 if all
    are. max_timestamp is what the records say. Where it differs from the header's, Kafka does not reject the
    batch but corrects the header: set_max_timestamp. offset_of_max_timestamp is that of the first such
    record; -1 if none has one.
    """

    header: BatchHeader
    min_timestamp: int
    max_timestamp: int
    offset_of_max_timestamp: int


class Record(NamedTuple):
    """One record. A coordinator that writes leaves the offset at 0: encode_batch assigns offsets."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


class BinaryColumn(NamedTuple):
    """Byte strings in Arrow's layout: int32 offsets (rows + 1), data, validity bitmap (None: no nulls)."""

    offsets: ReadableBuffer
    data: ReadableBuffer
    validity: ReadableBuffer | None = None
    null_count: int = -1  # unknown, in Arrow's words


class HeaderColumn(NamedTuple):
    """Header lists, list<struct<key, value>>: int32 list offsets (rows + 1) into keys and values."""

    offsets: ReadableBuffer
    keys: BinaryColumn
    values: BinaryColumn


class Columns(NamedTuple):
    """The records of some batches as buffers in Arrow's layout.

    offsets and timestamps are int64, timestamp_types int32. end_position is where the first batch that was
    not decoded begins, next_offset the offset after the last batch that was (or was left out on purpose).
    """

    row_count: int
    offsets: ReadableBuffer
    timestamps: ReadableBuffer
    timestamp_types: ReadableBuffer
    keys: BinaryColumn
    values: BinaryColumn
    headers: HeaderColumn
    header_count: int
    end_position: int
    next_offset: int


# --- reading and checking -----------------------------------------------------------------------------------


def read_header(buf: ReadableBuffer, pos: int = 0) -> BatchHeader:
    """The header at pos, unchecked; CorruptBatch only when the buffer ends before it does."""
    try:
        # As _make does it, without that function's own cost: the format has as many fields as the tuple.
        return tuple.__new__(BatchHeader, HEADER.unpack_from(buf, pos))
    except struct.error as error:
        raise CorruptBatch(
            f"a batch header of {HEADER_BYTES} bytes does not fit at position {pos}"
        ) from error


def _checked_header(buf: ReadableBuffer, pos: int, end: int) -> BatchHeader:
    if end - pos < HEADER_BYTES:
        raise CorruptBatch(f"{end - pos} bytes are too few for a batch header")
    header = read_header(buf, pos)
    # The magic first: older formats have other fields in these places, and a sender deserves to know.
    if header.magic != MAGIC:
        raise CorruptBatch(f"magic {header.magic} is not {MAGIC}")
    if header.batch_length < BATCH_LENGTH_MIN:
        raise CorruptBatch(f"batch length {header.batch_length} is below that of a header")
    if header.batch_length > end - pos - LOG_OVERHEAD:
        raise CorruptBatch(f"batch length {header.batch_length} reaches beyond the data")
    return header


def check_crc(buf: ReadableBuffer, pos: int, end: int) -> BatchHeader:
    """Check length, magic and CRC of the batch at pos, which must end by end."""
    header = _checked_header(buf, pos, end)
    found = crc32c(memoryview(buf)[pos + ATTRIBUTES_AT : pos + LOG_OVERHEAD + header.batch_length])
    if found != header.crc:
        raise CorruptBatch(f"CRC is {found:#010x}, the header says {header.crc:#010x}")
    return header


def check_batch(
    buf: ReadableBuffer,
    pos: int,
    end: int,
    *,
    decompressed_bytes_max: int,
    require_keys: bool = False,
    from_client: bool = True,
) -> CheckedBatch:
    """Check all of the batch at pos: header, CRC, and every record.

    from_client adds what only a producer must keep to: base offset 0, no control batch, no delete horizon.
    Both kinds need dense offset deltas, and a record count that agrees with them.
    """
    checked: CheckedBatch | None = record_codec.check_plain_batch(
        buf, pos, end, require_keys, from_client, crc32c, BatchHeader, CheckedBatch
    )
    if checked is not None:
        return checked
    # It is compressed, or something is wrong with it: from here on every check has its own exception.
    header = check_crc(buf, pos, end)
    codec = header.codec
    if header.record_count < 1:
        raise InvalidRecord(f"record count {header.record_count} is not positive")
    if header.last_offset_delta != header.record_count - 1:
        raise InvalidRecord(
            f"record count {header.record_count} disagrees with last offset delta {header.last_offset_delta}"
        )
    if from_client:
        if header.base_offset != 0:
            raise InvalidRecord(f"base offset {header.base_offset} of a producer's batch is not 0")
        if header.attributes & CONTROL_BIT:
            raise InvalidRecord("a producer may not write a control batch")
        if header.attributes & DELETE_HORIZON_BIT:
            raise InvalidRecord("a producer may not set a delete horizon")
    start, stop = pos + HEADER_BYTES, pos + header.size_bytes

    def walk_over(body: ReadableBuffer, begin: int, end: int) -> record_codec.Walk:
        walked: record_codec.Walk = record_codec.walk(
            body,
            begin,
            end,
            header.record_count,
            header.last_offset_delta,
            header.base_timestamp,
            True,
            require_keys,
            0,
        )
        return walked

    if codec == Codec.NONE:
        walk = walk_over(buf, start, stop)
    else:
        records = memoryview(buf)[start:stop]
        walk = look_into(codec, records, decompressed_bytes_max, lambda body: walk_over(body, 0, len(body)))
    if walk.error:
        raise _walk_error(walk)
    if header.attributes & TIMESTAMP_TYPE_BIT:
        return CheckedBatch(header, header.max_timestamp, header.max_timestamp, header.last_offset)
    delta = walk.timestamp_max_delta
    return CheckedBatch(
        header, walk.timestamp_min, walk.timestamp_max, header.base_offset + delta if delta >= 0 else -1
    )


def _body(
    buf: ReadableBuffer, pos: int, header: BatchHeader, codec: Codec, decompressed_bytes_max: int
) -> tuple[ReadableBuffer, int, int]:
    """(buffer, start, end) of a batch's records, decompressed where they are compressed."""
    start, stop = pos + HEADER_BYTES, pos + header.size_bytes
    if codec == Codec.NONE:
        return buf, start, stop
    body = decompress(codec, memoryview(buf)[start:stop], decompressed_bytes_max)
    return body, 0, len(body)


def _walk_error(walk: record_codec.Walk) -> InvalidRecord:
    return InvalidRecord(f"record {walk.record}: {record_codec.WALK_ERRORS[walk.error]}")


def iter_headers(buf: ReadableBuffer, pos: int, end: int) -> Iterator[tuple[int, BatchHeader]]:
    """(position, header) of each whole batch between pos and end; the CRC is not looked at.

    A batch that is cut by end finishes the iteration, as at the end of a fetch response. CorruptBatch where
    the magic or the length is wrong.
    """
    while end - pos >= HEADER_BYTES:
        header = read_header(buf, pos)
        if header.magic != MAGIC or header.batch_length < BATCH_LENGTH_MIN:
            raise CorruptBatch(
                f"no batch at position {pos}: magic {header.magic}, batch length {header.batch_length}"
            )
        if header.batch_length > end - pos - LOG_OVERHEAD:
            return
        yield pos, header
        pos += LOG_OVERHEAD + header.batch_length


# --- changing a batch ---------------------------------------------------------------------------------------


def patch_base_offset_and_epoch(
    buf: bytearray | memoryview, pos: int, base_offset: int, leader_epoch: int
) -> None:
    """Set base offset and leader epoch in place; both lie outside the CRC."""
    _INT64.pack_into(buf, pos, base_offset)
    _INT32.pack_into(buf, pos + LEADER_EPOCH_AT, leader_epoch)


def set_max_timestamp(
    buf: bytearray | memoryview, pos: int, timestamp_type: int, max_timestamp: int
) -> BatchHeader:
    """Set timestamp type and max timestamp in place, with a new CRC, and return the new header.

    With LOG_APPEND_TIME every record of the batch takes max_timestamp as its own. Nothing is written when
    nothing changes.
    """
    header = read_header(buf, pos)
    if timestamp_type == LOG_APPEND_TIME:
        attributes = header.attributes | TIMESTAMP_TYPE_BIT
    else:
        attributes = header.attributes & ~TIMESTAMP_TYPE_BIT
    if attributes == header.attributes and max_timestamp == header.max_timestamp:
        return header
    _INT16.pack_into(buf, pos + ATTRIBUTES_AT, attributes)
    _INT64.pack_into(buf, pos + MAX_TIMESTAMP_AT, max_timestamp)
    crc = _write_crc(buf, pos, header.size_bytes)
    return header._replace(attributes=attributes, max_timestamp=max_timestamp, crc=crc)


def seal_batch(
    batch: bytearray | memoryview,
    producer_id: int,
    producer_epoch: int,
    base_sequence: int,
    transactional: bool = False,
) -> None:
    """Write who sends a batch, and which of theirs it is, into its header, with a new CRC."""
    (attributes,) = _INT16.unpack_from(batch, ATTRIBUTES_AT)
    if transactional:
        attributes |= TRANSACTIONAL_BIT
    else:
        attributes &= ~TRANSACTIONAL_BIT
    _INT16.pack_into(batch, ATTRIBUTES_AT, attributes)
    _PRODUCER.pack_into(batch, PRODUCER_ID_AT, producer_id, producer_epoch, base_sequence)
    _write_crc(batch, 0, len(batch))


def _write_crc(buf: bytearray | memoryview, pos: int, size_bytes: int) -> int:
    crc: int = crc32c(memoryview(buf)[pos + ATTRIBUTES_AT : pos + size_bytes])
    _UINT32.pack_into(buf, pos + CRC_AT, crc)
    return crc


def rewrite_batch(
    buf: ReadableBuffer,
    pos: int,
    *,
    decompressed_bytes_max: int,
    codec: Codec | None = None,
    level: int | None = None,
    timestamp_type: int | None = None,
    max_timestamp: int | None = None,
) -> bytearray:
    """A copy of the batch at pos with another codec, another timestamp type and maximum, or both.

    codec None keeps the bytes of the records, as does the codec that they already have. All other fields
    stay: producer, sequence, offsets, count.
    """
    header = read_header(buf, pos)
    attributes = header.attributes
    if timestamp_type == LOG_APPEND_TIME:
        attributes |= TIMESTAMP_TYPE_BIT
    elif timestamp_type == CREATE_TIME:
        attributes &= ~TIMESTAMP_TYPE_BIT
    if codec is None or codec == header.codec:
        payload: ReadableBuffer = memoryview(buf)[pos + HEADER_BYTES : pos + header.size_bytes]
    else:
        body, start, stop = _body(buf, pos, header, header.codec, decompressed_bytes_max)
        payload = compress(codec, memoryview(body)[start:stop], level)
        attributes = (attributes & ~CODEC_MASK) | codec
    return _assemble(
        header._replace(
            attributes=attributes,
            max_timestamp=header.max_timestamp if max_timestamp is None else max_timestamp,
        ),
        payload,
    )


def empty_batch(header: BatchHeader) -> bytearray:
    """The batch of a header without its records: how a live producer's last sequence survives compaction."""
    return _assemble(
        header._replace(
            attributes=header.attributes & ~(CODEC_MASK | DELETE_HORIZON_BIT),
            record_count=0,
            base_timestamp=NO_TIMESTAMP,  # but the largest stays: it says since when the producer is idle
        ),
        b"",
    )


def _assemble(header: BatchHeader, payload: ReadableBuffer) -> bytearray:
    """Header and payload as a batch, with length and CRC made right."""
    batch = bytearray(HEADER_BYTES + len(payload))
    batch[HEADER_BYTES:] = payload
    _write_header(batch, header)
    return batch


def _write_header(batch: bytearray, header: BatchHeader, crc: bool = True) -> None:
    if len(batch) - LOG_OVERHEAD > INT32_MAX:
        raise ValueError("a batch's length is a signed 32-bit number")
    HEADER.pack_into(batch, 0, *header._replace(batch_length=len(batch) - LOG_OVERHEAD))
    if crc:
        _write_crc(batch, 0, len(batch))


# --- records as objects -------------------------------------------------------------------------------------


def encode_batch(
    records: Sequence[Record],
    *,
    base_offset: int = 0,
    codec: Codec = Codec.NONE,
    level: int | None = None,
    timestamp_type: int = CREATE_TIME,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    transactional: bool = False,
    control: bool = False,
    leader_epoch: int = NO_LEADER_EPOCH,
    keep_offsets: bool = False,
) -> bytearray:
    """The records as one batch; their offsets are base_offset, base_offset + 1 …

    With keep_offsets each record keeps its own offset, which must rise from base_offset: a batch with gaps.
    """
    headers = None
    if any(record.headers for record in records):
        pairs = [pair for record in records for pair in record.headers]
        headers = HeaderColumn(
            _offsets([len(record.headers) for record in records]),
            _column([name.encode() for name, _ in pairs]),
            _column([value for _, value in pairs]),
        )
    deltas = None
    if keep_offsets:
        deltas = array("i", [record.offset - base_offset for record in records])
    return encode_columns(
        memoryview(array("q", [record.timestamp for record in records])),
        _column([record.key for record in records]),
        _column([record.value for record in records]),
        headers,
        offset_deltas=None if deltas is None else memoryview(deltas),
        base_offset=base_offset,
        codec=codec,
        level=level,
        timestamp_type=timestamp_type,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        transactional=transactional,
        control=control,
        leader_epoch=leader_epoch,
    )


def _offsets(lengths: list[int]) -> memoryview:
    try:
        return memoryview(array("i", accumulate(lengths, initial=0)))
    except OverflowError as error:
        raise ValueError("a batch's length is a signed 32-bit number") from error


def _column(values: Sequence[bytes | None]) -> BinaryColumn:
    offsets = _offsets([0 if value is None else len(value) for value in values])
    if None not in values:
        return BinaryColumn(offsets, b"".join(cast("Sequence[bytes]", values)))
    validity = bytearray((len(values) + 7) // 8)
    for i, value in enumerate(values):
        if value is not None:
            validity[i >> 3] |= 1 << (i & 7)
    return BinaryColumn(offsets, b"".join([value for value in values if value is not None]), validity)


def decode_batch(buf: ReadableBuffer, pos: int = 0, *, decompressed_bytes_max: int) -> list[Record]:
    """The records of the batch at pos, which is checked as one from a log is: deltas may have gaps."""
    header = check_crc(buf, pos, len(buf))
    body, start, stop = _checked_body(buf, pos, header, decompressed_bytes_max, 0)[:3]
    return cast(
        "list[Record]",
        record_codec.read_records(
            body,
            start,
            stop,
            header.record_count,
            header.base_offset,
            header.base_timestamp,
            header.timestamp_type == LOG_APPEND_TIME,
            header.max_timestamp,
            Record,
        ),
    )


def _checked_body(
    buf: ReadableBuffer, pos: int, header: BatchHeader, decompressed_bytes_max: int, delta_min: int
) -> tuple[ReadableBuffer, int, int, record_codec.Walk]:
    if header.record_count < 0:
        raise InvalidRecord(f"record count {header.record_count} is negative")
    body, start, stop = _body(buf, pos, header, header.codec, decompressed_bytes_max)
    walk = record_codec.walk(
        body,
        start,
        stop,
        header.record_count,
        header.last_offset_delta,
        header.base_timestamp,
        False,
        False,
        delta_min,
    )
    if walk.error:
        raise _walk_error(walk)
    return body, start, stop, walk


def open_batch(
    buf: ReadableBuffer, pos: int, end: int, header: BatchHeader, *, decompressed_bytes_max: int, check: bool
) -> record_codec.RowReader:
    """The records of the batch at pos, checked (its CRC, too, if asked for), to be taken a few at a time."""
    if check:
        check_crc(buf, pos, end)
    body, start, stop, _ = _checked_body(buf, pos, header, decompressed_bytes_max, 0)
    return record_codec.RowReader(
        body,
        start,
        stop,
        header.record_count,
        header.base_offset,
        header.base_timestamp,
        header.timestamp_type == LOG_APPEND_TIME,
        header.max_timestamp,
    )


# --- columns ------------------------------------------------------------------------------------------------


def encode_columns(
    timestamps: ReadableBuffer,
    keys: BinaryColumn | None,
    values: BinaryColumn | None,
    headers: HeaderColumn | None = None,
    *,
    start: int = 0,
    count: int | None = None,
    offset_deltas: ReadableBuffer | None = None,
    base_offset: int = 0,
    codec: Codec = Codec.NONE,
    level: int | None = None,
    timestamp_type: int = CREATE_TIME,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    transactional: bool = False,
    control: bool = False,
    leader_epoch: int = NO_LEADER_EPOCH,
) -> bytearray:
    """Rows start … start+count of some columns as one batch. A column that is None is null in every row.

    timestamps is int64, offset_deltas (for a batch with gaps) int32; buffers may come from Arrow. ValueError
    when the buffers contradict each other.
    """
    times = _typed(timestamps, "q")
    rows = len(times) - start if count is None else count
    deltas = None if offset_deltas is None else _typed(offset_deltas, "i")
    source = record_writer.ColumnSource(
        times,
        deltas,
        None if keys is None else _buffers(keys),
        None if values is None else _buffers(values),
        None if headers is None else _typed(headers.offsets, "i"),
        None if headers is None else _buffers(headers.keys),
        None if headers is None else _buffers(headers.values),
    )
    base_timestamp = times[start] if 0 <= start < len(times) and rows > 0 else NO_TIMESTAMP
    size = source.measure(start, rows, base_timestamp)
    if deltas is not None and rows > 0:
        last_offset_delta = deltas[start + rows - 1]
        if deltas[start] < 0 or any(
            a >= b for a, b in zip(deltas[start:], deltas[start + 1 : start + rows], strict=False)
        ):
            raise ValueError("offset deltas must rise from 0 on")
    else:
        last_offset_delta = max(0, rows - 1)
    header = BatchHeader(
        base_offset=base_offset,
        batch_length=0,
        leader_epoch=leader_epoch,
        magic=MAGIC,
        crc=0,
        attributes=codec
        | (TIMESTAMP_TYPE_BIT if timestamp_type == LOG_APPEND_TIME else 0)
        | (TRANSACTIONAL_BIT if transactional else 0)
        | (CONTROL_BIT if control else 0),
        last_offset_delta=last_offset_delta,
        base_timestamp=base_timestamp,
        max_timestamp=source.timestamp_max,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        record_count=rows,
    )
    batch = bytearray(HEADER_BYTES + size)
    source.write(batch, HEADER_BYTES, start, rows, base_timestamp)
    return _finished(header, batch, level)


def encode_places(
    source: record_writer.ColumnSource,
    start: int,
    rows: int,
    *,
    codec: Codec = Codec.NONE,
    level: int | None = None,
    crc: bool = True,
    spare: bytearray | None = None,
) -> bytearray:
    """The rows that `source.fit` has just measured as a producer's batch, without id and sequence.

    crc=False leaves the CRC to `seal_batch`. `spare` is memory that may be used for it.
    """
    base_timestamp = source.timestamp_at(start)
    batch: bytearray = record_writer.new_bytes(HEADER_BYTES + source.size, spare)
    source.write(batch, HEADER_BYTES, start, rows, base_timestamp)
    return _finished(_new_header(rows, base_timestamp, source.timestamp_max, codec), batch, level, crc)


def encode_lists(
    timestamps: list[int],
    keys: list[bytes | None] | None,
    values: list[bytes | None] | None,
    headers: list[tuple[tuple[str, bytes | None], ...]] | None = None,
    *,
    codec: Codec = Codec.NONE,
    level: int | None = None,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    transactional: bool = False,
) -> bytearray:
    """The records in parallel lists as a producer's batch. A list that is None is null in every record.

    ValueError when the lists differ in length, TypeError when a key or value is not bytes.
    """
    batch, base_timestamp, max_timestamp = record_writer.encode_lists(
        timestamps, keys, values, headers, HEADER_BYTES
    )
    header = _new_header(
        len(timestamps),
        base_timestamp,
        max_timestamp,
        codec | (TRANSACTIONAL_BIT if transactional else 0),
        producer_id,
        producer_epoch,
        base_sequence,
    )
    return _finished(header, batch, level)


def _new_header(
    rows: int,
    base_timestamp: int,
    max_timestamp: int,
    attributes: int,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
) -> BatchHeader:
    """The header of a new batch of a producer; length and CRC are made when it is finished."""
    return BatchHeader(
        0,
        0,
        NO_LEADER_EPOCH,
        MAGIC,
        0,
        attributes,
        max(0, rows - 1),
        base_timestamp,
        max_timestamp,
        producer_id,
        producer_epoch,
        base_sequence,
        rows,
    )


def _finished(header: BatchHeader, batch: bytearray, level: int | None, crc: bool = True) -> bytearray:
    """A batch whose records are written, and follow the room for its header: with the header, compressed as
    its codec says.
    """
    if not header.attributes & CODEC_MASK:
        _write_header(batch, header, crc)
        return batch
    with memoryview(batch) as view:
        return _assemble(header, compress(header.codec, view[HEADER_BYTES:], level))


def _typed(buf: ReadableBuffer, kind: str) -> memoryview:
    """A buffer of any origin as a view of int64 ("q"), int32 ("i") or bytes ("B")."""
    view = memoryview(buf)
    if view.format == kind:
        return view
    view = view.cast("B")
    if kind == "B":
        return view
    # Arrow pads its buffers; a tail that is not a whole number is no part of the column.
    whole = len(view) // struct.calcsize(kind) * struct.calcsize(kind)
    return view[:whole].cast(cast("Literal['q', 'i']", kind))


def _buffers(column: BinaryColumn) -> tuple[memoryview, memoryview, memoryview | None, int]:
    return (
        _typed(column.offsets, "i"),
        _typed(column.data, "B"),
        None if column.validity is None else _typed(column.validity, "B"),
        0,
    )


def decode_columns(
    buf: ReadableBuffer,
    pos: int,
    end: int,
    *,
    decompressed_bytes_max: int,
    start_offset: int = 0,
    keep: Callable[[BatchHeader], bool] | None = None,
    check: bool = True,
) -> Columns:
    """The records at or after start_offset of all whole batches between pos and end, as columns.

    keep decides batch by batch whether its records are wanted (aborted transactions); without it, control
    batches are left out. decompressed_bytes_max bounds the sum over the batches. check=False leaves out the
    CRC, for bytes that were checked before; records are always checked. Decoding stops before a batch with
    which a column would outgrow its int32 offsets: end_position says where to go on. Nobody may write to buf
    during the call.
    """

    def batches() -> Iterator[tuple[int, BatchHeader, bool]]:
        for at, header in iter_headers(buf, pos, end):
            yield at, header, not header.is_control if keep is None else keep(header)

    return columns_of_batches(
        buf,
        pos,
        end,
        batches(),
        decompressed_bytes_max=decompressed_bytes_max,
        start_offset=start_offset,
        check=check,
    ).filled()


class PendingColumns:
    """Batches that are checked, decompressed and counted, and wait to be made columns: these alone, or
    together with those of other partitions. Until then nobody may write to the bytes that they came from.
    """

    __slots__ = (
        *("row_count", "start_offset", "end_position", "next_offset", "size_bytes", "_parts"),
        *("_key_bytes", "_key_nulls", "_value_bytes", "_value_nulls"),
        *("_header_count", "_header_key_bytes", "_header_value_bytes", "_header_value_nulls"),
    )

    def __init__(self, pos: int, start_offset: int) -> None:
        self.row_count = 0
        self.start_offset = start_offset
        """Records before it, which share its batch, are left out."""
        self.end_position = pos
        """Where the first batch that was not taken begins."""
        self.next_offset = start_offset
        """The offset after the last batch that was taken, or left out on purpose."""
        self.size_bytes = 0
        """What the records take, decompressed."""
        self._parts: list[tuple[ReadableBuffer, int, int, BatchHeader, int]] = []
        self._key_bytes = self._key_nulls = self._value_bytes = self._value_nulls = 0
        self._header_count = 0
        self._header_key_bytes = self._header_value_bytes = self._header_value_nulls = 0

    def fits(self, walk: record_codec.Walk) -> bool:
        """Whether columns with int32 offsets hold what a walk has found, too."""
        return bool(
            self.row_count + walk.rows < INT32_MAX
            and self._key_bytes + walk.key_bytes <= INT32_MAX
            and self._value_bytes + walk.value_bytes <= INT32_MAX
            and self._header_count + walk.headers < INT32_MAX
            and self._header_key_bytes + walk.header_key_bytes <= INT32_MAX
            and self._header_value_bytes + walk.header_value_bytes <= INT32_MAX
        )

    def add(
        self,
        body: ReadableBuffer,
        start: int,
        stop: int,
        header: BatchHeader,
        delta_min: int,
        walk: record_codec.Walk,
    ) -> None:
        self.size_bytes += stop - start
        if not walk.rows:
            return
        self._parts.append((body, start, stop, header, delta_min))
        self.row_count += walk.rows
        self._key_bytes += walk.key_bytes
        self._key_nulls += walk.key_nulls
        self._value_bytes += walk.value_bytes
        self._value_nulls += walk.value_nulls
        self._header_count += walk.headers
        self._header_key_bytes += walk.header_key_bytes
        self._header_value_bytes += walk.header_value_bytes
        self._header_value_nulls += walk.header_value_nulls

    def filled(self) -> Columns:
        """The columns."""
        return joined_columns([self])


def joined_columns(pending: Sequence[PendingColumns]) -> Columns:
    """The columns of several, one after the other, as one; end_position and next_offset are the last one's.

    DecompressedTooLarge when columns with int32 offsets do not hold them all.
    """

    def total(name: str) -> int:
        found: int = sum(getattr(one, name) for one in pending)
        if found >= INT32_MAX:
            raise DecompressedTooLarge("the records are too many for columns with int32 offsets")
        return found

    rows, header_count = total("row_count"), total("_header_count")
    key_nulls, value_nulls = total("_key_nulls"), total("_value_nulls")
    header_value_nulls = total("_header_value_nulls")
    writer = record_codec.ColumnWriter(
        rows,
        total("_key_bytes"),
        total("_value_bytes"),
        header_count,
        total("_header_key_bytes"),
        total("_header_value_bytes"),
    )
    for one in pending:
        for body, start, stop, header, delta_min in one._parts:
            writer.fill(
                body,
                start,
                stop,
                header.record_count,
                header.base_offset,
                header.base_timestamp,
                header.timestamp_type == LOG_APPEND_TIME,
                header.max_timestamp,
                delta_min,
            )
    made = writer.buffers
    return Columns(
        row_count=rows,
        offsets=made["offsets"],
        timestamps=made["timestamps"],
        timestamp_types=made["timestamp_types"],
        keys=BinaryColumn(
            made["key_offsets"], made["key_data"], made["key_validity"] if key_nulls else None, key_nulls
        ),
        values=BinaryColumn(
            made["value_offsets"],
            made["value_data"],
            made["value_validity"] if value_nulls else None,
            value_nulls,
        ),
        headers=HeaderColumn(
            made["header_offsets"],
            BinaryColumn(made["header_key_offsets"], made["header_key_data"], None, 0),
            BinaryColumn(
                made["header_value_offsets"],
                made["header_value_data"],
                made["header_value_validity"] if header_value_nulls else None,
                header_value_nulls,
            ),
        ),
        header_count=header_count,
        end_position=pending[-1].end_position,
        next_offset=pending[-1].next_offset,
    )


def columns_of_batches(
    buf: ReadableBuffer,
    pos: int,
    end: int,
    batches: Iterable[tuple[int, BatchHeader, bool]],
    *,
    decompressed_bytes_max: int,
    start_offset: int = 0,
    check: bool = True,
    bytes_max: int | None = None,
) -> PendingColumns:
    """The wanted ones among the whole batches that follow each other in buf from pos on, ready to be columns.

    With bytes_max no batch is begun after so many bytes of records, nor one that would pass
    decompressed_bytes_max when others are there already; and one that cannot be read ends them when others
    lie before it, so that it is the first of the next call, which raises. The rest is as in
    decode_columns.
    """
    found = PendingColumns(pos, start_offset)
    try:
        _add_batches(found, buf, end, batches, decompressed_bytes_max, start_offset, check, bytes_max)
    except (CorruptBatch, InvalidRecord, UnsupportedCodec):
        if found.end_position == pos or bytes_max is None:
            raise
    return found


def _add_batches(
    found: PendingColumns,
    buf: ReadableBuffer,
    end: int,
    batches: Iterable[tuple[int, BatchHeader, bool]],
    decompressed_bytes_max: int,
    start_offset: int,
    check: bool,
    bytes_max: int | None,
) -> None:
    left = decompressed_bytes_max
    for at, header, wanted in batches:
        if wanted and header.last_offset >= start_offset and header.record_count != 0:
            if bytes_max is not None and found.size_bytes >= bytes_max:
                break
            if check:
                check_crc(buf, at, end)
            delta_min = min(max(0, start_offset - header.base_offset), INT32_MAX)
            try:
                body, start, stop, walk = _checked_body(buf, at, header, left, delta_min)
            except DecompressedTooLarge:
                if found.row_count and bytes_max is not None:
                    break
                raise
            if not found.fits(walk):
                if found.row_count:
                    break
                raise DecompressedTooLarge("one batch holds more than a column with int32 offsets")
            if body is not buf:
                left -= len(body)
            found.add(body, start, stop, header, delta_min, walk)
        found.end_position = at + header.size_bytes
        found.next_offset = max(found.next_offset, header.next_offset)


# --- control batches ----------------------------------------------------------------------------------------


class ControlType:
    """What a control record says: the second number of its key."""

    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


class EndTxnMarker(NamedTuple):
    """The end of a transaction in one partition."""

    committed: bool
    coordinator_epoch: int


class Voter(NamedTuple):
    """A voter of the quorum; the directory id is 16 bytes, all zero when it is not known."""

    voter_id: int
    directory_id: bytes = bytes(16)


class LeaderChange(NamedTuple):
    """The first record of a new leader's epoch in the metadata log."""

    leader_id: int
    voters: tuple[Voter, ...]
    granting_voters: tuple[Voter, ...]
    version: int = 0  # 1 has the voters' directory ids


_CONTROL_KEY = struct.Struct(">hh")
_END_TXN_VALUE = struct.Struct(">hi")
_LEADER_CHANGE_HEAD = struct.Struct(">hi")


def control_type(key: ReadableBuffer | None) -> int:
    """The type of a control record, by its key; types unknown here are returned as they are."""
    if key is None or len(key) < _CONTROL_KEY.size:
        raise InvalidRecord("a control record's key is shorter than version and type")
    version, kind = _CONTROL_KEY.unpack_from(key)
    if version < 0:
        raise InvalidRecord(f"control record key version {version} is negative")
    return cast("int", kind)


def encode_end_txn_batch(
    marker: EndTxnMarker,
    *,
    producer_id: int,
    producer_epoch: int,
    timestamp: int,
    base_offset: int = 0,
    leader_epoch: int = NO_LEADER_EPOCH,
) -> bytearray:
    """The control batch that ends a producer's transaction in a partition."""
    kind = ControlType.COMMIT if marker.committed else ControlType.ABORT
    record = Record(
        0, timestamp, _CONTROL_KEY.pack(0, kind), _END_TXN_VALUE.pack(0, marker.coordinator_epoch)
    )
    return encode_batch(
        [record],
        base_offset=base_offset,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        transactional=True,
        control=True,
        leader_epoch=leader_epoch,
    )


def decode_end_txn_marker(record: Record) -> EndTxnMarker:
    """The marker in a control record of type ABORT or COMMIT."""
    kind = control_type(record.key)
    if kind not in (ControlType.ABORT, ControlType.COMMIT):
        raise InvalidRecord(f"control record type {kind} does not end a transaction")
    if record.value is None or len(record.value) < _END_TXN_VALUE.size:
        raise InvalidRecord("an end-of-transaction marker is shorter than version and coordinator epoch")
    version, coordinator_epoch = _END_TXN_VALUE.unpack_from(record.value)
    if version < 0:
        raise InvalidRecord(f"end-of-transaction marker version {version} is negative")
    return EndTxnMarker(kind == ControlType.COMMIT, coordinator_epoch)


def encode_leader_change_batch(
    change: LeaderChange, *, timestamp: int, base_offset: int, leader_epoch: int
) -> bytearray:
    """The control batch with which a new leader of the metadata quorum begins its epoch."""
    value = bytearray(_LEADER_CHANGE_HEAD.pack(change.version, change.leader_id))
    for voters in (change.voters, change.granting_voters):
        _put_unsigned_varint(value, len(voters) + 1)
        for voter in voters:
            value += _INT32.pack(voter.voter_id)
            if change.version >= 1:
                value += voter.directory_id
            value.append(0)  # no tagged fields
    value.append(0)
    record = Record(0, timestamp, _CONTROL_KEY.pack(0, ControlType.LEADER_CHANGE), bytes(value))
    return encode_batch([record], base_offset=base_offset, control=True, leader_epoch=leader_epoch)


def encode_control_batch(
    records: Sequence[tuple[int, bytes]], *, timestamp: int, base_offset: int, leader_epoch: int
) -> bytearray:
    """A batch of the metadata log's control records, each given as its ControlType and its message."""
    return encode_batch(
        [Record(0, timestamp, _CONTROL_KEY.pack(0, kind), value) for kind, value in records],
        base_offset=base_offset,
        control=True,
        leader_epoch=leader_epoch,
    )


def decode_leader_change(record: Record) -> LeaderChange:
    """The message in a control record of type LEADER_CHANGE."""
    kind = control_type(record.key)
    if kind != ControlType.LEADER_CHANGE:
        raise InvalidRecord(f"control record type {kind} is not a leader change")
    value = record.value or b""
    try:
        version, leader_id = _LEADER_CHANGE_HEAD.unpack_from(value)
        at = _LEADER_CHANGE_HEAD.size
        lists = []
        for _ in range(2):
            count, at = _take_unsigned_varint(value, at)
            # An entry has at least five bytes; checked before anything is made of the count.
            if (count - 1) * 5 > len(value) - at:
                raise InvalidRecord("a leader change message claims more voters than it holds")
            voters = []
            for _ in range(count - 1):
                (voter_id,) = _INT32.unpack_from(value, at)
                at += 4
                directory_id = bytes(16)
                if version >= 1:
                    directory_id = value[at : at + 16]
                    at += 16
                at = _skip_tagged_fields(value, at)
                voters.append(Voter(voter_id, directory_id))
            lists.append(tuple(voters))
        _skip_tagged_fields(value, at)
    except (struct.error, IndexError) as error:
        raise InvalidRecord("a leader change message is cut short") from error
    return LeaderChange(leader_id, lists[0], lists[1], version)


def _put_unsigned_varint(out: bytearray, value: int) -> None:
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def _take_unsigned_varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 35, 7):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise InvalidRecord("a varint is longer than five bytes")


def _skip_tagged_fields(data: bytes, at: int) -> int:
    count, at = _take_unsigned_varint(data, at)
    for _ in range(count):
        _, at = _take_unsigned_varint(data, at)
        size, at = _take_unsigned_varint(data, at)
        at += size
        if at > len(data):
            raise InvalidRecord("a tagged field reaches beyond its message")
    return at
