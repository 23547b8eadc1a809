"""`kafka-dump-log.sh`: what is in segment files, in the words of Kafka's DumpLogSegments.

As there, what an index says and its log does not is listed on stderr at the end, and a wrong CRC or a torn
tail is part of the output, not a failure. Only a log that cannot be read any further ends with 1.
"""

from __future__ import annotations

import argparse
import os
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from ottla.cli.kafka.arguments import Arguments, UsageError

if TYPE_CHECKING:
    from ottla.cli.segment_files import PlacedBatch, TimeEntry
    from ottla.log.producer_snapshot import SnapshotEntry
    from ottla.wire.record_batch import BatchHeader, Record

DECODER_OPTIONS: Final = {
    "offsets_decoder": "consumer_offsets",
    "transaction_log_decoder": "transaction_state",
    "cluster_metadata_decoder": "cluster_metadata",
    "share_group_state_decoder": "share_group_state",
}
"""In the order in which the tool looks at them, with the messages that each reads."""

BOOTSTRAP: Final = "bootstrap.checkpoint"


def arguments() -> Arguments:
    parser = Arguments(
        "kafka-dump-log.sh",
        "Show what is in segment files.",
        epilog="example: kafka-dump-log.sh --print-data-log --files data/events-0/00000000000000000000.log",
    )
    parser.add_argument("--files", required=True, metavar="FILE,FILE", help="the files to show")
    parser.add_argument("--deep-iteration", action="store_true", help="every record (implied by printing)")
    parser.add_argument("--print-data-log", action="store_true", help="keys and values too")
    parser.add_argument("--skip-record-metadata", action="store_true", help="keys and values only")
    parser.add_argument("--offsets-decoder", action="store_true", help="records of __consumer_offsets")
    parser.add_argument(
        "--transaction-log-decoder", action="store_true", help="records of __transaction_state"
    )
    parser.add_argument("--cluster-metadata-decoder", action="store_true", help="records of the metadata log")
    parser.add_argument(
        "--share-group-state-decoder", action="store_true", help="records of __share_group_state"
    )
    parser.add_argument("--max-bytes", type=int, help="stop after so many bytes of a log")
    parser.add_argument("--max-message-size", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--verify-index-only", action="store_true", help="check an index against its log")
    parser.add_argument("--index-sanity-check", action="store_true", help="check an index as a start does")
    parser.add_argument("--key-decoder-class", nargs="?", const="StringDecoder", help="how to read keys")
    parser.add_argument("--value-decoder-class", nargs="?", const="StringDecoder", help="how to read values")
    return parser


def run(args: Sequence[str]) -> int:
    from ottla.cli.segment_files import Damaged, NotASegmentFile

    options = arguments().parse(args)
    options.messages = next((m for name, m in DECODER_OPTIONS.items() if getattr(options, name)), None)
    given = (options.messages, options.key_decoder_class, options.value_decoder_class)
    options.printing = options.print_data_log or any(given)
    options.read_key = decoder(options.key_decoder_class)
    options.read_value = decoder(options.value_decoder_class)
    complaints: list[str] = []
    failed = 0
    for path in options.files.split(","):
        if not os.path.exists(path):
            raise UsageError(f"{path}: there is no such file")
        print(f"Dumping {path}")
        try:
            for line in lines(path, options, complaints):
                print(line)
        except NotASegmentFile:
            sys.stdout.flush()
            print(f"Ignoring unknown file {path}", file=sys.stderr)
        except Damaged as error:
            failed += 1
            print(f"Found an error in {path} at position {error.position}: {error.problem}")
    sys.stdout.flush()
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if failed else 0


def decoder(name: str | None) -> Callable[[bytes], str]:
    """Kafka's own decoders by their class; those of other people's jars cannot be run here."""

    def number(fmt: str) -> Callable[[bytes], str]:
        shape = struct.Struct(fmt)

        def read(data: bytes) -> str:
            if len(data) != shape.size:
                raise UsageError(f"{len(data)} bytes are not a number of {shape.size} bytes")
            return str(shape.unpack(data)[0])

        return read

    known: dict[str, Callable[[bytes], str]] = {
        "StringDecoder": lambda data: data.decode("utf-8", "replace"),
        "IntegerDecoder": number(">i"),
        "LongDecoder": number(">q"),
        "DefaultDecoder": lambda data: data.hex(),
    }
    short = (name or "StringDecoder").rpartition(".")[2]
    if short not in known:
        raise UsageError(f"the decoder {name} is not available: {', '.join(known)} are")
    return known[short]


def lines(path: str, options: argparse.Namespace, complaints: list[str]) -> Iterator[str]:
    from ottla.cli import segment_files as files
    from ottla.log.file_names import LOG_SUFFIX, OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX, TXN_INDEX_SUFFIX

    suffix, base_offset = files.file_kind(path)
    if suffix == LOG_SUFFIX:
        yield from log_lines(path, base_offset, options, complaints)
    elif suffix in (OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX):
        yield from index_lines(path, suffix, base_offset, options, complaints)
    elif suffix == TXN_INDEX_SUFFIX:
        for txn in files.read_txn_index(path):
            yield (
                f"version: 0 producerId: {txn.producer_id} firstOffset: {txn.first_offset} "
                f"lastOffset: {txn.last_offset} lastStableOffset: {txn.last_stable_offset}"
            )
    elif suffix.startswith("."):
        for producer in files.read_snapshot(path):
            yield producer_line(producer)
    else:
        raise files.NotASegmentFile(path)


# -- logs


def log_lines(
    path: str, base_offset: int, options: argparse.Namespace, complaints: list[str]
) -> Iterator[str]:
    from ottla.cli.segment_files import TornTail, read_batches

    name = os.path.basename(path)
    if name == BOOTSTRAP:
        yield "KRaft bootstrap snapshot"
    elif name.endswith(".checkpoint"):
        epoch = int(name.removesuffix(".checkpoint").rpartition("-")[2])
        yield f"Snapshot end offset: {base_offset}, epoch: {epoch}"
    else:
        yield f"Log starting offset: {base_offset}"
    deep = options.deep_iteration or options.printing
    last_offset = -1
    gaps = []
    batches = read_batches(path, with_records=deep, crc_must_hold=False, limit_bytes=options.max_bytes)
    try:
        for batch in batches:
            yield batch_line(batch)
            for record in batch.records or () if deep else ():
                if last_offset >= 0 and record.offset != last_offset + 1:
                    gaps.append(f"  {last_offset} is followed by {record.offset}")
                last_offset = record.offset
                yield record_line(record, batch.header, options)
    except TornTail as torn:
        if options.max_bytes is None:
            yield f"Found {torn.left_bytes} invalid bytes at the end of {name}"
    if gaps:
        # The tool puts each gap before those it has found already.
        complaints += [f"Non-consecutive offsets in {os.path.abspath(path)}", *reversed(gaps)]


def _truth(value: bool) -> str:
    return str(value).lower()


def _time_name(header: BatchHeader) -> str:
    return "LogAppendTime" if header.timestamp_type else "CreateTime"


def _optional(value: int | None) -> str:
    return "OptionalLong.empty" if value is None else f"OptionalLong[{value}]"


def batch_line(batch: PlacedBatch) -> str:
    header = batch.header
    horizon = _optional(header.base_timestamp if header.has_delete_horizon else None)
    return (
        f"baseOffset: {header.base_offset} lastOffset: {header.last_offset} count: {header.record_count} "
        f"baseSequence: {header.base_sequence} lastSequence: {header.last_sequence} "
        f"producerId: {header.producer_id} producerEpoch: {header.producer_epoch} "
        f"partitionLeaderEpoch: {header.leader_epoch} isTransactional: {_truth(header.is_transactional)} "
        f"isControl: {_truth(header.is_control)} deleteHorizonMs: {horizon} position: {batch.position} "
        f"{_time_name(header)}: {header.max_timestamp} size: {header.size_bytes} magic: {header.magic} "
        f"compresscodec: {header.codec.name.lower()} crc: {header.crc} isvalid: {_truth(batch.is_valid)}"
    )


def record_line(record: Record, header: BatchHeader, options: argparse.Namespace) -> str:
    text = ""
    if not options.skip_record_metadata:
        key_size = -1 if record.key is None else len(record.key)
        value_size = -1 if record.value is None else len(record.value)
        sequence = -1
        if header.base_sequence >= 0:
            sequence = (header.base_sequence + record.offset - header.base_offset) & 0x7FFFFFFF
        names = ",".join(name for name, _ in record.headers)
        text = (
            f"| offset: {record.offset} {_time_name(header)}: {record.timestamp} keySize: {key_size} "
            f"valueSize: {value_size} sequence: {sequence} headerKeys: [{names}]"
        )
        if header.is_control:
            text += f" {control_text(record)}"
    if options.printing and not header.is_control:
        key, payload = contents(record, options)
        if key is not None:
            text += f" key: {key}" if text else f"| key: {key}"
        if payload is not None:
            # The tool's own: without metadata and key, no bar stands before the payload.
            text += f" payload: {payload}"
    return text


def contents(record: Record, options: argparse.Namespace) -> tuple[str | None, str | None]:
    """Key and value as the chosen decoder shows them."""
    if options.messages is None:
        return (
            None if record.key is None else options.read_key(record.key),
            None if record.value is None else options.read_value(record.value),
        )
    from ottla.cli.record_json import METADATA, compact, decode_record

    decoded = decode_record(options.messages, record)
    if options.messages == METADATA:
        if decoded.problem is not None:
            return None, f"Error at {record.offset}, skipping. {decoded.problem}"
        return None, compact(decoded.value)
    if record.key is None:
        raise UsageError(
            f"Failed to decode message at offset {record.offset} using the specified decoder (message had a "
            "missing key)"
        )
    if decoded.unknown_type is not None:
        return f"Unknown record type {decoded.unknown_type} at offset {record.offset}, skipping.", None
    if decoded.problem is not None:
        return f"Error at offset {record.offset}, skipping. {decoded.problem}", None
    return compact(decoded.key), "<DELETE>" if decoded.value is None else compact(decoded.value)


def control_text(record: Record) -> str:
    from ottla.cli.record_json import compact, control_document
    from ottla.wire.primitives import DecodeError
    from ottla.wire.record_batch import ControlType, InvalidRecord, control_type, decode_end_txn_marker

    try:
        kind = control_type(record.key)
        if kind in (ControlType.ABORT, ControlType.COMMIT):
            marker = decode_end_txn_marker(record)
            verdict = "COMMIT" if marker.committed else "ABORT"
            return f"endTxnMarker: {verdict} coordinatorEpoch: {marker.coordinator_epoch}"
        known = control_document(kind, record.value or b"")
    except (InvalidRecord, DecodeError) as error:
        return f"(cannot be decoded: {error})"
    if known is None:
        return f"controlType: UNKNOWN({kind})"
    name, document = known
    return f"{name} {compact(document)}"


# -- indexes and snapshots


def index_lines(
    path: str, suffix: str, base_offset: int, options: argparse.Namespace, complaints: list[str]
) -> Iterator[str]:
    from ottla.cli import segment_files as files
    from ottla.log.file_names import OFFSET_INDEX_SUFFIX

    if suffix == OFFSET_INDEX_SUFFIX:
        if not os.path.getsize(path):
            yield f"{path} is empty."
            return
        if options.index_sanity_check:
            for _ in files.read_offset_index(path, base_offset):
                pass
            yield f"{path} passed sanity check."
            return
        mismatches = []
        with files.LogBeside(path) as log:
            for entry in files.read_offset_index(path, base_offset):
                header = log.header_at(entry.log_position)
                if header is not None and header.last_offset != entry.offset:
                    mismatches.append(f"  Index offset: {entry.offset}, log offset: {header.last_offset}")
                if not options.verify_index_only:
                    yield f"offset: {entry.offset} position: {entry.log_position}"
        if mismatches:
            complaints += [f"Mismatches in :{os.path.abspath(path)}", *reversed(mismatches)]
        return
    entries = list(files.read_time_index(path, base_offset))
    if options.index_sanity_check:
        yield f"{path} passed sanity check."
        return
    if not options.verify_index_only:
        for time in entries:
            yield f"timestamp: {time.timestamp} offset: {time.offset}"
    complaints += time_complaints(path, entries)


def time_complaints(path: str, entries: Sequence[TimeEntry]) -> Iterator[str]:
    """Where a time index and its log do not agree."""
    from ottla.cli.segment_files import LogBeside

    wrong, unordered, missing = [], [], []
    before = -1
    with LogBeside(path) as log:
        if not log.exists:
            return
        headers = log.headers()
        header = next(headers, None)
        for entry in entries:
            while header is not None and header.last_offset < entry.offset:
                header = next(headers, None)
            if header is None or header.last_offset != entry.offset:
                found = -1 if header is None else header.last_offset
                missing.append(f"Indexed offset: {entry.offset}, found log offset: {found}")
            else:
                if header.max_timestamp != entry.timestamp:
                    wrong.append(
                        f"  Index timestamp: {entry.timestamp}, log timestamp: {header.max_timestamp}"
                    )
                if before >= entry.timestamp:
                    unordered.append(
                        f"  Index timestamp: {entry.timestamp}, Previously indexed timestamp: {before}"
                    )
            before = entry.timestamp
    where = os.path.abspath(path)
    for title, problems in (
        (f"Found timestamp mismatch in :{where}", wrong),
        (f"Found out of order timestamp in :{where}", unordered),
        ("The following indexed offsets are not found in the log.", missing),
    ):
        if problems:
            yield title
            yield from problems


def producer_line(entry: SnapshotEntry) -> str:
    from ottla.cli.segment_files import first_sequence

    begins = entry.txn_first_offset if entry.txn_first_offset >= 0 else None
    text = (
        f"producerId: {entry.producer_id} producerEpoch: {entry.epoch} "
        f"coordinatorEpoch: {entry.coordinator_epoch} currentTxnFirstOffset: {_optional(begins)} "
        f"lastTimestamp: {entry.timestamp} "
    )
    if entry.last_offset < 0:  # no batch of data is remembered, only a marker
        return text
    return text + (
        f"firstSequence: {first_sequence(entry)} lastSequence: {entry.last_sequence} "
        f"lastOffset: {entry.last_offset} offsetDelta: {entry.offset_delta} timestamp: {entry.timestamp}"
    )
