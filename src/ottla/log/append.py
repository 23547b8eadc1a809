"""Checking and preparing what is to be appended.

A leader checks everything a producer sent (`check_batch`), then bends it to the topic's configuration:
timestamps within bounds or replaced by the time of the append, the codec of `compression.type`. The usual
batch needs none of that and stays in the buffer in which it arrived; a batch with another codec is written
anew. Followers check the CRC only: the leader has done the rest.
"""

from __future__ import annotations

from typing import Final, NamedTuple, NoReturn

from ottla.log.append_origin import AppendOrigin
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.limits import DECOMPRESSED_BATCH_BYTES_MAX
from ottla.model.log_config import COMPRESSION_PRODUCER, LogConfig
from ottla.wire.record_batch import (
    ATTRIBUTES_AT,
    CODEC_MASK,
    CREATE_TIME,
    LOG_APPEND_TIME,
    MAGIC_AT,
    BatchHeader,
    CheckedBatch,
    Codec,
    CorruptBatch,
    DecompressedTooLarge,
    InvalidRecord,
    UnsupportedCodec,
    check_batch,
    read_header,
    rewrite_batch,
    set_max_timestamp,
)

INLINE_EXPANDED_BYTES_MAX: Final = 1024 * 1024
"""What a batch may expand to on the loop: 1 to 4 ms, depending on the codec."""
INLINE_COMPRESSED_BYTES_MAX: Final = 64 * 1024
"""What may be compressed on the loop, for topics with a codec of their own: up to 3 ms with gzip."""
LIKELY_EXPANSION: Final = 4
"""A compressed batch probably has this many times its size; larger ones are not tried on the loop first."""

LOG_APPEND_TIME_CONFIG: Final = "LogAppendTime"

_CODECS: Final = {
    "uncompressed": Codec.NONE,
    "none": Codec.NONE,
    "gzip": Codec.GZIP,
    "snappy": Codec.SNAPPY,
    "lz4": Codec.LZ4,
    "zstd": Codec.ZSTD,
}


_CLIENT: Final = AppendOrigin.CLIENT  # an enum's attribute costs 0.1 µs, and this is asked for every batch


class AppendInfo(NamedTuple):
    """What an append did. For a duplicate: what the first append of the batch did."""

    first_offset: int
    last_offset: int
    max_timestamp: int
    log_append_time_ms: int
    """-1 unless the topic has `message.timestamp.type=LogAppendTime`."""
    log_start_offset: int
    is_duplicate: bool
    size_bytes: int
    record_count: int


class NeedsWorker(Exception):
    """Checking this batch would hold the loop up: let a thread run `prepare`, and append what it gives."""


class UnexpectedOffset(KafkaError):
    """A follower got batches that do not continue its log: it has to find out where it parted."""

    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.UNKNOWN_SERVER_ERROR, message)


def check_for_leader(
    buf: bytearray | memoryview,
    pos: int,
    end: int,
    config: LogConfig,
    origin: AppendOrigin,
    *,
    expanded_bytes_max: int = DECOMPRESSED_BATCH_BYTES_MAX,
) -> CheckedBatch:
    """Everything about one batch that can be said without the log. Raises KafkaError, and NeedsWorker when it
    expands to more than `expanded_bytes_max` and a thread may expand more.
    """
    if end - pos > config.max_message_bytes:
        _check_size(buf, pos, config)
    from_client = origin is _CLIENT
    try:
        checked = check_batch(
            buf,
            pos,
            end,
            decompressed_bytes_max=expanded_bytes_max,
            require_keys=from_client and "compact" in config.cleanup_policy,
            from_client=from_client,
        )
    except DecompressedTooLarge as error:
        if expanded_bytes_max < DECOMPRESSED_BATCH_BYTES_MAX:
            raise NeedsWorker from None
        raise_for_batch(error, buf, pos, end)
    except (CorruptBatch, InvalidRecord, UnsupportedCodec) as error:
        raise_for_batch(error, buf, pos, end)
    if from_client:
        header = checked.header
        if header.producer_id >= 0 and header.base_sequence < 0:
            raise KafkaError(
                ErrorCode.INVALID_RECORD,
                f"sequence {header.base_sequence} of producer {header.producer_id} is negative",
            )
    return checked


def is_heavy(records: bytearray | memoryview, config: LogConfig) -> bool:
    """Whether one batch is better checked, or written anew in the topic's codec, outside the loop."""
    if records[ATTRIBUTES_AT + 1] & CODEC_MASK:
        return len(records) * LIKELY_EXPANSION > INLINE_EXPANDED_BYTES_MAX
    return config.compression_type != COMPRESSION_PRODUCER and len(records) > INLINE_COMPRESSED_BYTES_MAX


def prepare(
    records: bytearray | memoryview, config: LogConfig
) -> tuple[CheckedBatch, bytearray | memoryview]:
    """What a thread does for a heavy batch: check it and write it anew where the topic wants another codec.

    Long calls in it have let go of the GIL. Raises KafkaError.
    """
    checked = check_for_leader(records, 0, len(records), config, AppendOrigin.CLIENT)
    rewritten = recompress(records, 0, checked.header, config)
    if rewritten is None:
        return checked, records
    if len(rewritten) > config.max_message_bytes:
        raise_too_large(len(rewritten), config)
    return checked._replace(header=read_header(rewritten, 0)), rewritten


def _check_size(buf: bytearray | memoryview, pos: int, config: LogConfig) -> None:
    try:
        size = read_header(buf, pos).size_bytes
    except CorruptBatch:
        return  # check_batch says what is wrong with it
    if size > config.max_message_bytes:
        raise_too_large(size, config)


def raise_too_large(size: int, config: LogConfig) -> NoReturn:
    raise KafkaError(
        ErrorCode.MESSAGE_TOO_LARGE,
        f"the batch has {size} bytes, max.message.bytes is {config.max_message_bytes}",
    )


def raise_for_batch(error: Exception, buf: bytearray | memoryview, pos: int, end: int) -> NoReturn:
    """The codec's verdict on a batch, in Kafka's error codes."""
    if isinstance(error, UnsupportedCodec):
        raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, str(error)) from error
    if isinstance(error, CorruptBatch):
        if end - pos > MAGIC_AT and buf[pos + MAGIC_AT] in (0, 1):
            # A message set of the old formats: well-formed perhaps, but not accepted since Produce v3.
            raise KafkaError(ErrorCode.INVALID_RECORD, str(error)) from error
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, str(error)) from error
    raise KafkaError(ErrorCode.INVALID_RECORD, str(error)) from error


def settle_timestamps(
    buf: bytearray | memoryview, pos: int, checked: CheckedBatch, config: LogConfig, now_ms: int
) -> int:
    """Applies `message.timestamp.type` and its bounds, in place; returns the batch's largest timestamp."""
    header = checked.header
    if config.message_timestamp_type == LOG_APPEND_TIME_CONFIG:
        if header.timestamp_type == LOG_APPEND_TIME:
            raise KafkaError(
                ErrorCode.INVALID_TIMESTAMP, "a producer may not set the timestamp type to LogAppendTime"
            )
        set_max_timestamp(buf, pos, LOG_APPEND_TIME, now_ms)
        return now_ms
    largest = checked.max_timestamp
    if largest >= 0 and (
        largest - now_ms > config.message_timestamp_after_max_ms
        or now_ms - checked.min_timestamp > config.message_timestamp_before_max_ms
    ):
        raise KafkaError(
            ErrorCode.INVALID_TIMESTAMP,
            f"timestamps {checked.min_timestamp} to {largest} are not all between "
            f"{now_ms - config.message_timestamp_before_max_ms} and "
            f"{now_ms + config.message_timestamp_after_max_ms}",
        )
    if header.timestamp_type == LOG_APPEND_TIME and largest < 0:
        raise KafkaError(
            ErrorCode.INVALID_TIMESTAMP, "a producer may not set the timestamp type to LogAppendTime"
        )
    if largest != header.max_timestamp or header.timestamp_type != CREATE_TIME:
        set_max_timestamp(buf, pos, CREATE_TIME, largest)
    return largest


def recompress(
    buf: bytearray | memoryview, pos: int, header: BatchHeader, config: LogConfig
) -> bytearray | None:
    """The batch in the codec of `compression.type`; None when it may stay as it is."""
    if config.compression_type == COMPRESSION_PRODUCER:
        return None
    codec = _CODECS[config.compression_type]
    if header.codec == codec or header.is_control:
        return None
    level = None
    if codec == Codec.GZIP:
        level = config.compression_gzip_level
    elif codec == Codec.LZ4:
        level = config.compression_lz4_level
    elif codec == Codec.ZSTD:
        level = config.compression_zstd_level
    return rewrite_batch(
        buf, pos, decompressed_bytes_max=DECOMPRESSED_BATCH_BYTES_MAX, codec=codec, level=level
    )
