"""`ottla storage`: make ids, format data directories, look into segment files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ottla.cli.segment_files import PlacedBatch
    from ottla.wire.record_batch import Record


@click.group(
    epilog="""\b
Examples:
  ottla storage format -t $(ottla storage random-uuid) -c config/server.properties
  ottla storage dump data/clicks-0/00000000000000000000.log --records"""
)
def storage() -> None:
    """Make ids, format data directories, look into segment files."""


@storage.command(
    "random-uuid",
    epilog="""\b
Example:
  ottla storage format -t $(ottla storage random-uuid) -c config/server.properties""",
)
def random_uuid() -> None:
    """Print a random cluster id."""
    from ottla.cli.formatting import random_uuid_text

    click.echo(random_uuid_text())


@storage.command(
    "format",
    epilog="""\b
Example:
  ottla storage format -t $(ottla storage random-uuid) -c config/server.properties""",
)
@click.option("-t", "--cluster-id", required=True, metavar="ID", help="The cluster's id (see random-uuid).")
@click.option("-c", "--config", "path", required=True, metavar="FILE", help="The node's server.properties.")
@click.option("-g", "--ignore-formatted", is_flag=True, help="Leave directories alone that are formatted.")
@click.option("-s", "--standalone", is_flag=True, help="A quorum of one (which it is in any case).")
def format_storage(cluster_id: str, path: str, ignore_formatted: bool, standalone: bool) -> None:
    """Give new data directories to a cluster, before the first start."""
    from ottla.cli.formatting import CannotFormat, format_directories
    from ottla.cli.server_properties import load_properties
    from ottla.log.meta_properties import BadMetaProperties
    from ottla.model.config_key import ConfigError
    from ottla.net.disk import OsDisk

    try:
        outcome = format_directories(
            OsDisk(), load_properties(path), cluster_id, ignore_formatted=ignore_formatted
        )
    except (CannotFormat, BadMetaProperties, ConfigError) as error:
        raise click.ClickException(str(error)) from None
    for directory in outcome.already:
        click.echo(f"{directory} is already formatted")
    for directory in outcome.formatted:
        click.echo(f"formatted {directory} for cluster {cluster_id}")


@storage.command(
    epilog="""\b
Examples:
  ottla storage dump data/clicks-0/00000000000000000000.log --records
  ottla storage dump data/clicks-0/*.index data/clicks-0/*.timeindex"""
)
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False), metavar="FILE..."
)
@click.option("-r", "--records", "--deep", "deep", is_flag=True, help="Also every record of every batch.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, for scripts.")
def dump(files: tuple[str, ...], deep: bool, as_json: bool) -> int:
    """Show what is in segment files: .log, .index, .timeindex, .txnindex, .snapshot.

    Every checksum is checked. A damaged file is reported with the position where it stops making sense, and
    the exit code is 1.
    """
    from ottla.cli.main import complain
    from ottla.cli.segment_files import Damaged, NotASegmentFile

    damaged = 0
    for path in files:
        try:
            if not as_json:
                click.echo(path)
            for item, line in described(path, deep):
                click.echo(
                    json.dumps({"file": path, **item}, ensure_ascii=False) if as_json else f"  {line()}"
                )
        except NotASegmentFile as error:
            raise click.UsageError(str(error)) from None
        except Damaged as error:
            damaged += 1
            if as_json:
                click.echo(json.dumps({"file": path, "damaged_at": error.position, "problem": error.problem}))
            complain(str(error))
    return 1 if damaged else 0


Described = tuple[dict[str, Any], Callable[[], str]]
"""One thing in a file: as JSON, and as a function that makes its line of text."""


def described(path: str, deep: bool) -> Iterator[Described]:
    """What a file holds, thing by thing."""
    from ottla.cli import segment_files as files
    from ottla.log.file_names import LOG_SUFFIX, OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX, TXN_INDEX_SUFFIX

    suffix, base_offset = files.file_kind(path)
    if suffix == LOG_SUFFIX:
        for batch in files.read_batches(path, with_records=deep):
            yield _describe_batch(batch)
            for record in batch.records or ():
                yield _describe_record(record, control=batch.header.is_control)
    elif suffix == OFFSET_INDEX_SUFFIX:
        for entry in files.read_offset_index(path, base_offset):
            yield (
                {"offset": entry.offset, "position": entry.log_position},
                lambda entry=entry: f"offset {entry.offset}  position {entry.log_position}",  # type: ignore[misc]
            )
    elif suffix == TIME_INDEX_SUFFIX:
        for time in files.read_time_index(path, base_offset):
            yield (
                {"timestamp": time.timestamp, "offset": time.offset},
                lambda time=time: f"timestamp {time.timestamp}  offset {time.offset}",  # type: ignore[misc]
            )
    elif suffix == TXN_INDEX_SUFFIX:
        for txn in files.read_txn_index(path):
            yield txn._asdict(), _spelled(txn._asdict())
    else:
        for producer in files.read_snapshot(path):
            yield producer._asdict(), _spelled(producer._asdict())


def _spelled(fields: dict[str, int]) -> Callable[[], str]:
    return lambda: "  ".join(f"{name.replace('_', ' ')} {value}" for name, value in fields.items())


def _describe_batch(batch: PlacedBatch) -> Described:
    header = batch.header
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
    }

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
            parts.append(f"sequence {header.base_sequence}..{header.last_sequence}")
        if header.is_transactional:
            parts.append("transactional")
        if header.is_control:
            parts.append("control")
        return "  ".join([*parts, f"crc {header.crc:08x}"])

    return item, line


def _describe_record(record: Record, *, control: bool) -> Described:
    from ottla.cli.record_format import bytes_to_json

    item: dict[str, Any] = {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": bytes_to_json(record.key),
        "value": bytes_to_json(record.value),
        "headers": [[name, bytes_to_json(value)] for name, value in record.headers],
    }
    if control:
        item["marker"] = control_name(record)

    def line() -> str:
        text = f"  offset {record.offset}  timestamp {record.timestamp}"
        if control:
            return f"{text}  {item['marker']}"
        text += f"  key {_shown(record.key)}  value {_shown(record.value)}"
        if record.headers:
            text += "  headers " + ",".join(f"{name}={_shown(value)}" for name, value in record.headers)
        return text

    return item, line


def _shown(data: bytes | None) -> str:
    if data is None:
        return "null"
    try:
        return json.dumps(data.decode("utf-8"), ensure_ascii=False)
    except UnicodeDecodeError:
        return f"0x{data.hex()}"


def control_name(record: Record) -> str:
    """What a control record says, by name."""
    from ottla.wire.record_batch import ControlType, InvalidRecord, control_type

    names = {
        ControlType.ABORT: "abort",
        ControlType.COMMIT: "commit",
        ControlType.LEADER_CHANGE: "leader change",
        ControlType.SNAPSHOT_HEADER: "snapshot header",
        ControlType.SNAPSHOT_FOOTER: "snapshot footer",
        ControlType.KRAFT_VERSION: "kraft version",
        ControlType.KRAFT_VOTERS: "kraft voters",
    }
    try:
        kind = control_type(record.key)
    except InvalidRecord:
        return "not a control record"
    return names.get(kind, f"control type {kind}")
