"""`kafka-dump-log.sh`: what is in segment files, in the words of Kafka's DumpLogSegments."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ottla.cli.kafka.arguments import Arguments, UsageError

if TYPE_CHECKING:
    from ottla.cli.segment_files import PlacedBatch
    from ottla.log.producer_snapshot import SnapshotEntry
    from ottla.wire.record_batch import BatchHeader, Record, Voter


def run(args: Sequence[str]) -> int:
    from ottla.cli.segment_files import Damaged, NotASegmentFile

    parser = Arguments(
        "kafka-dump-log.sh",
        "Show what is in segment files.",
        epilog="example: kafka-dump-log.sh --print-data-log --files data/events-0/00000000000000000000.log",
    )
    parser.add_argument("--files", required=True, metavar="FILE,FILE", help="the files to show")
    parser.add_argument("--deep-iteration", action="store_true", help="every record (implied by printing)")
    parser.add_argument("--print-data-log", action="store_true", help="keys and values too")
    parser.add_argument("--skip-record-metadata", action="store_true", help="keys and values only")
    parser.add_argument("--cluster-metadata-decoder", action="store_true", help="records of the metadata log")
    parser.add_argument("--max-bytes", type=int, help="stop after so many bytes of a log")
    parser.add_argument("--max-message-size", type=int, help=argparse.SUPPRESS)
    parser.add_argument(
        "--verify-index-only", action="store_true", help="check an index, print nothing of it"
    )
    parser.add_argument(
        "--index-sanity-check", action="store_true", help="check an index, print nothing of it"
    )
    parser.add_argument("--key-decoder-class", help=argparse.SUPPRESS)
    parser.add_argument("--value-decoder-class", help=argparse.SUPPRESS)
    options = parser.parse(args)
    damaged = 0
    for path in options.files.split(","):
        if not os.path.exists(path):
            raise UsageError(f"{path}: there is no such file")
        print(f"Dumping {path}")
        try:
            for line in lines(path, options):
                print(line)
        except NotASegmentFile as error:
            raise UsageError(str(error)) from None
        except Damaged as error:
            damaged += 1
            print(f"Found an error in {path} at position {error.position}: {error.problem}")
    return 1 if damaged else 0


def lines(path: str, options: argparse.Namespace) -> Iterator[str]:
    from ottla.cli import segment_files as files
    from ottla.log.file_names import LOG_SUFFIX, OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX, TXN_INDEX_SUFFIX

    suffix, base_offset = files.file_kind(path)
    quiet = options.verify_index_only or options.index_sanity_check
    deep = options.deep_iteration or options.print_data_log or options.cluster_metadata_decoder
    if suffix == LOG_SUFFIX:
        yield f"Log starting offset: {base_offset}"
        for batch in files.read_batches(path, with_records=deep, limit_bytes=options.max_bytes):
            if not options.skip_record_metadata:
                yield batch_line(batch)
            for record in batch.records or ():
                yield record_line(record, batch.header, options)
    elif suffix == OFFSET_INDEX_SUFFIX:
        for entry in files.read_offset_index(path, base_offset):
            if not quiet:
                yield f"offset: {entry.offset} position: {entry.log_position}"
    elif suffix == TIME_INDEX_SUFFIX:
        for time in files.read_time_index(path, base_offset):
            if not quiet:
                yield f"timestamp: {time.timestamp} offset: {time.offset}"
    elif suffix == TXN_INDEX_SUFFIX:
        for txn in files.read_txn_index(path):
            yield (
                f"version: 0 producerId: {txn.producer_id} firstOffset: {txn.first_offset} "
                f"lastOffset: {txn.last_offset} lastStableOffset: {txn.last_stable_offset}"
            )
    else:
        for producer in files.read_snapshot(path):
            yield producer_line(producer)
    if quiet and suffix in (OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX):
        yield f"{path} passed sanity check."


def _truth(value: bool) -> str:
    return str(value).lower()


def _time_name(header: BatchHeader) -> str:
    return "LogAppendTime" if header.timestamp_type else "CreateTime"


def batch_line(batch: PlacedBatch) -> str:
    header = batch.header
    horizon = f"OptionalLong[{header.base_timestamp}]" if header.has_delete_horizon else "OptionalLong.empty"
    return (
        f"baseOffset: {header.base_offset} lastOffset: {header.last_offset} count: {header.record_count} "
        f"baseSequence: {header.base_sequence} lastSequence: {header.last_sequence} "
        f"producerId: {header.producer_id} producerEpoch: {header.producer_epoch} "
        f"partitionLeaderEpoch: {header.leader_epoch} isTransactional: {_truth(header.is_transactional)} "
        f"isControl: {_truth(header.is_control)} deleteHorizonMs: {horizon} position: {batch.position} "
        f"{_time_name(header)}: {header.max_timestamp} size: {header.size_bytes} magic: {header.magic} "
        f"compresscodec: {header.codec.name.lower()} crc: {header.crc} isvalid: true"
    )


def record_line(record: Record, header: BatchHeader, options: argparse.Namespace) -> str:
    parts = []
    if not options.skip_record_metadata:
        key_size = -1 if record.key is None else len(record.key)
        value_size = -1 if record.value is None else len(record.value)
        sequence = -1
        if header.base_sequence >= 0:
            sequence = (header.base_sequence + record.offset - header.base_offset) & 0x7FFFFFFF
        names = ",".join(name for name, _ in record.headers)
        parts.append(
            f"offset: {record.offset} {_time_name(header)}: {record.timestamp} keySize: {key_size} "
            f"valueSize: {value_size} sequence: {sequence} headerKeys: [{names}]"
        )
        if header.is_control:
            parts.append(control_text(record))
    if options.cluster_metadata_decoder and not header.is_control and record.value is not None:
        parts.append(f"payload: {metadata_text(record.value)}")
    elif options.print_data_log and not header.is_control:
        if record.key is not None:
            parts.append(f"key: {record.key.decode('utf-8', 'replace')}")
        payload = "" if record.value is None else record.value.decode("utf-8", "replace")
        parts.append(f"payload: {payload}")
    return "| " + " ".join(parts)


def control_text(record: Record) -> str:
    from ottla.cli.storage import control_name
    from ottla.wire.record_batch import (
        ControlType,
        InvalidRecord,
        control_type,
        decode_end_txn_marker,
        decode_leader_change,
    )

    try:
        kind = control_type(record.key)
        if kind in (ControlType.ABORT, ControlType.COMMIT):
            marker = decode_end_txn_marker(record)
            verdict = "COMMIT" if marker.committed else "ABORT"
            return f"endTxnMarker: {verdict} coordinatorEpoch: {marker.coordinator_epoch}"
        if kind == ControlType.LEADER_CHANGE:
            change = decode_leader_change(record)
            document = {
                "version": change.version,
                "leaderId": change.leader_id,
                "voters": [voter_document(voter, change.version) for voter in change.voters],
                "grantingVoters": [voter_document(voter, change.version) for voter in change.granting_voters],
            }
            return f"LeaderChange: {json.dumps(document, separators=(',', ':'))}"
    except InvalidRecord as error:
        return f"(cannot be decoded: {error})"
    return control_name(record).replace(" ", "-")


def voter_document(voter: Voter, version: int) -> dict[str, object]:
    from ottla.model.uuids import uuid_to_text

    document: dict[str, object] = {"voterId": voter.voter_id}
    if version >= 1:
        document["voterDirectoryId"] = uuid_to_text(voter.directory_id)
    return document


def metadata_text(value: bytes) -> str:
    from ottla.wire.framing import decode_metadata_record
    from ottla.wire.primitives import DecodeError

    try:
        record, version = decode_metadata_record(value)
    except DecodeError as error:
        return f"(cannot be decoded: {error})"
    return f"version {version} {record!r}"


def producer_line(entry: SnapshotEntry) -> str:
    first = entry.last_sequence - entry.offset_delta
    transaction = (
        f"OptionalLong[{entry.txn_first_offset}]" if entry.txn_first_offset >= 0 else "OptionalLong.empty"
    )
    return (
        f"producerId: {entry.producer_id} producerEpoch: {entry.epoch} "
        f"coordinatorEpoch: {entry.coordinator_epoch} currentTxnFirstOffset: {transaction} "
        f"lastTimestamp: {entry.timestamp} firstSequence: {first} lastSequence: {entry.last_sequence} "
        f"lastOffset: {entry.last_offset} offsetDelta: {entry.offset_delta} timestamp: {entry.timestamp}"
    )
