"""What `ottla storage dump` shows of a file, thing by thing: as a JSON object, and as a line of text.

Records of internal topics are decoded; control batches say what they mean without being asked for records.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import Any, Final

from ottla.cli import segment_files as files
from ottla.cli.record_format import bytes_to_json
from ottla.log.file_names import (
    LEADER_EPOCH_CHECKPOINT,
    LOG_SUFFIX,
    OFFSET_INDEX_SUFFIX,
    TIME_INDEX_SUFFIX,
    TXN_INDEX_SUFFIX,
)
from ottla.log.producer_snapshot import SnapshotEntry
from ottla.wire.primitives import DecodeError
from ottla.wire.record_batch import (
    ControlType,
    InvalidRecord,
    Record,
    control_type,
    decode_end_txn_marker,
)

Described = tuple[dict[str, Any], Callable[[], str]]
"""One thing in a file: as JSON, and as a function that makes its line of text."""

DECODERS: Final = {
    "offsets": "consumer_offsets",
    "transactions": "transaction_state",
    "metadata": "cluster_metadata",
    "share": "share_group_state",
}

CONTROL_NAMES: Final = {
    ControlType.ABORT: "abort",
    ControlType.COMMIT: "commit",
    ControlType.LEADER_CHANGE: "leader change",
    ControlType.SNAPSHOT_HEADER: "snapshot header",
    ControlType.SNAPSHOT_FOOTER: "snapshot footer",
    ControlType.KRAFT_VERSION: "kraft version",
    ControlType.KRAFT_VOTERS: "kraft voters",
}


def messages_in(path: str, decoder: str) -> str | None:
    """The messages that a file's records are: those of `--decode`, or by the directory the file lies in."""
    from ottla.cli.record_json import TOPIC_MESSAGES

    if decoder != "auto":
        return DECODERS.get(decoder)
    directory = os.path.basename(os.path.dirname(os.path.abspath(path)))
    return TOPIC_MESSAGES.get(directory.rpartition("-")[0])


def described(path: str, *, deep: bool, messages: str | None) -> Iterator[Described]:
    """What a file holds, thing by thing."""
    suffix, base_offset = files.file_kind(path)
    if suffix == LOG_SUFFIX:
        for batch in files.read_batches(path, with_records=deep, with_control=True):
            yield _describe_batch(batch)
            if deep:
                for record in batch.records or ():
                    if batch.header.is_control:
                        yield _describe_control(record)
                    else:
                        yield _describe_record(record, messages)
    elif suffix == OFFSET_INDEX_SUFFIX:
        for entry in files.read_offset_index(path, base_offset):
            yield _spelled({"offset": entry.offset, "position": entry.log_position})
    elif suffix == TIME_INDEX_SUFFIX:
        for time in files.read_time_index(path, base_offset):
            yield _spelled({"timestamp": time.timestamp, "offset": time.offset})
    elif suffix == TXN_INDEX_SUFFIX:
        for txn in files.read_txn_index(path):
            yield _spelled(txn._asdict())
    elif suffix == LEADER_EPOCH_CHECKPOINT:
        for epoch in files.read_leader_epochs(path):
            yield _spelled(epoch._asdict())
    elif suffix in files.CHECKPOINTS:
        for place in files.read_checkpoint(path):
            yield _spelled(place._asdict())
    else:
        for producer in files.read_snapshot(path):
            yield _describe_producer(producer)


def _spelled(fields: dict[str, Any]) -> Described:
    return fields, lambda: "  ".join(f"{name.replace('_', ' ')} {value}" for name, value in fields.items())


def _describe_producer(producer: SnapshotEntry) -> Described:
    item = producer._asdict()

    def line() -> str:
        parts = [f"producer {producer.producer_id} epoch {producer.epoch}"]
        if producer.last_offset >= 0:
            first = files.first_sequence(producer)
            parts.append(f"sequence {first}..{producer.last_sequence}")
            parts.append(f"last offset {producer.last_offset}")
        parts.append(f"timestamp {producer.timestamp}")
        parts.append(f"coordinator epoch {producer.coordinator_epoch}")
        if producer.txn_first_offset >= 0:
            parts.append(f"transaction from {producer.txn_first_offset}")
        return "  ".join(parts)

    return item, line


def _describe_batch(batch: files.PlacedBatch) -> Described:
    header = batch.header
    horizon_ms = header.base_timestamp if header.has_delete_horizon else None
    item: dict[str, Any] = {
        "position": batch.position,
        "base_offset": header.base_offset,
        "last_offset": header.last_offset,
        "count": header.record_count,
        "size": header.size_bytes,
        "leader_epoch": header.leader_epoch,
        "timestamp_type": "LogAppendTime" if header.timestamp_type else "CreateTime",
        "max_timestamp": header.max_timestamp,
        "codec": header.codec.name.lower(),
        "crc": header.crc,
        "producer_id": header.producer_id,
        "producer_epoch": header.producer_epoch,
        "base_sequence": header.base_sequence,
        "last_sequence": header.last_sequence,
        "transactional": header.is_transactional,
        "control": header.is_control,
        "delete_horizon_ms": horizon_ms,
    }
    markers = [control_text(record) for record in batch.records or ()] if header.is_control else []
    if header.is_control:
        item["markers"] = markers

    def line() -> str:
        parts = [
            f"position {batch.position}",
            f"offsets {header.base_offset}..{header.last_offset}",
            f"records {header.record_count}",
            f"size {header.size_bytes}",
            f"leader epoch {header.leader_epoch}",
            f"{item['timestamp_type']} {header.max_timestamp}",
            f"codec {item['codec']}",
        ]
        if header.producer_id >= 0:
            parts.append(f"producer {header.producer_id} epoch {header.producer_epoch}")
            if header.base_sequence >= 0:
                parts.append(f"sequence {header.base_sequence}..{header.last_sequence}")
        if header.is_transactional:
            parts.append("transactional")
        if header.is_control:
            parts.append("control")
            parts += markers
        if horizon_ms is not None:
            parts.append(f"delete horizon {horizon_ms}")
        return "  ".join([*parts, f"crc {header.crc:08x}"])

    return item, line


def control_text(record: Record) -> str:
    """What a control record says: its name, and for the end of a transaction the coordinator's epoch."""
    try:
        kind = control_type(record.key)
        name = CONTROL_NAMES.get(kind, f"control type {kind}")
        if kind in (ControlType.ABORT, ControlType.COMMIT):
            return f"{name} by coordinator epoch {decode_end_txn_marker(record).coordinator_epoch}"
    except InvalidRecord as error:
        return f"not a control record ({error})"
    return name


def _describe_control(record: Record) -> Described:
    from ottla.cli.record_json import compact, control_document

    item: dict[str, Any] = {"offset": record.offset, "timestamp": record.timestamp}
    text = control_text(record)
    try:
        kind = control_type(record.key)
        item["marker"] = CONTROL_NAMES.get(kind, f"control type {kind}")
        if kind in (ControlType.ABORT, ControlType.COMMIT):
            item["coordinator_epoch"] = decode_end_txn_marker(record).coordinator_epoch
        else:
            known = control_document(kind, record.value or b"")
            if known is not None:
                item["data"] = known[1]
                text += f" {compact(known[1])}"
    except (InvalidRecord, DecodeError) as error:
        item["problem"] = str(error)
    return item, lambda: f"  offset {record.offset}  timestamp {record.timestamp}  {text}"


def _describe_record(record: Record, messages: str | None) -> Described:
    from ottla.cli.record_json import compact, decode_record

    item: dict[str, Any] = {"offset": record.offset, "timestamp": record.timestamp}
    key, value = _shown(record.key), _shown(record.value)
    decoded = None if messages is None else decode_record(messages, record)
    if decoded is not None and decoded.problem is None:
        item["key"], item["value"] = decoded.key, decoded.value
        key, value = compact(decoded.key), compact(decoded.value)
    else:
        item["key"], item["value"] = bytes_to_json(record.key), bytes_to_json(record.value)
    item["headers"] = [[name, bytes_to_json(data)] for name, data in record.headers]
    if decoded is not None and decoded.problem is not None:
        item["problem"] = decoded.problem

    def line() -> str:
        text = f"  offset {record.offset}  timestamp {record.timestamp}  key {key}  value {value}"
        if record.headers:
            text += "  headers " + ",".join(f"{name}={_shown(data)}" for name, data in record.headers)
        if "problem" in item:
            text += f"  ({item['problem']})"
        return text

    return item, line


def _shown(data: bytes | None) -> str:
    if data is None:
        return "null"
    try:
        return json.dumps(data.decode("utf-8"), ensure_ascii=False)
    except UnicodeDecodeError:
        return f"0x{data.hex()}"
