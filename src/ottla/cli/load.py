"""`ottla load`: the records of topics into a table in a directory, each of them once."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from ottla.cli.duration import duration_text
from ottla.cli.session import bootstrap_option, json_option
from ottla.cli.spark_options import client_options, spark_options, started_later
from ottla.cli.table import aligned, bytes_text

if TYPE_CHECKING:
    from ottla.pipelines.loads.inspection import TableContent, Verification
    from ottla.pipelines.loads.load import LoadResult

FORMATS = ("parquet", "delta", "iceberg", "json", "csv")


@click.command(
    epilog="""\b
Examples:
  ottla load clicks --to /data/clicks                       # what came since the last run, as Parquet
  ottla load clicks views --to /data/web --format delta --partition-by topic,day
  ottla load clicks --to /data/clicks --since 2024-05-01T00:00:00Z --reload
  ottla load orders --to /data/orders --values json --schema orders.ddl --dead-letters orders-bad
  ottla load --list /data/clicks
  ottla load --verify /data/clicks

\b
Exit codes: 0 loaded (or nothing new), 1 failed, 2 wrong options, 130 stopped by Ctrl-C. Whatever it was:
what is committed is in the table once, and the next run goes on behind it."""
)
@click.argument("topics", metavar="[TOPIC]...", nargs=-1)
@click.option("--to", metavar="DIR", help="The table's directory; all workers have to see it.")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(FORMATS),
    help="What to write (default: parquet, or what is there).",
)
@click.option(
    "--partition-by",
    metavar="COLUMN,...",
    help="Directories by year, month, day, hour (of the record's time, UTC), topic, partition.",
)
@click.option(
    "--values",
    type=click.Choice(["raw", "text", "json", "avro"]),
    help="What values are (default: raw bytes); json and avro need --schema.",
)
@click.option("--keys", type=click.Choice(["raw", "text"]), help="What keys are (default: raw bytes).")
@click.option(
    "--schema",
    "schema_file",
    metavar="FILE",
    help="Of values: Spark's DDL or JSON for json, Avro's for avro.",
)
@click.option("--headers/--no-headers", default=None, help="With the records' headers (default), or without.")
@click.option("--since", metavar="TIME", help="Begin at a time: ms since 1970, or ISO 8601 (UTC).")
@click.option(
    "--from-offsets",
    metavar="FILE",
    help='Begin at offsets: {"clicks":{"0":12}} or lines clicks:0:12; - is stdin.',
)
@click.option("--until", metavar="TIME", help="End before a time (default: what is there now).")
@click.option("--until-offsets", metavar="FILE", help="End before offsets, written as for --from-offsets.")
@click.option("--reload", is_flag=True, help="Replace what the table holds from the start on, in one commit.")
@click.option(
    "--skip-missing", is_flag=True, help="Go on where records were deleted before they were loaded."
)
@click.option("--on-error", type=click.Choice(["fail", "null"]), help="For values that cannot be decoded.")
@click.option("--dead-letters", metavar="TOPIC", help="Where records go that cannot be decoded.")
@click.option(
    "--max-records-per-commit",
    type=click.IntRange(1),
    default=5_000_000,
    show_default=True,
    help="How much becomes visible at once, and is done again after a crash.",
)
@click.option("--min-partitions", type=click.IntRange(1), help="Split the work into at least so many tasks.")
@click.option(
    "--compression",
    type=click.Choice(["zstd", "snappy", "gzip", "none"]),
    help="Of the files (zstd; text: none).",
)
@click.option(
    "-g", "--group", metavar="ID", help="Tell this consumer group the progress, so that tools show the lag."
)
@click.option("-n", "--dry-run", is_flag=True, help="Only say what would be loaded.")
@click.option("--list", "list_dir", metavar="DIR", help="Show what a table holds, and its last commits.")
@click.option("--verify", "verify_dir", metavar="DIR", help="Read a table's files and check them.")
@json_option
@spark_options
@client_options
@bootstrap_option
def load(
    topics: tuple[str, ...],
    to: str | None,
    format_name: str | None,
    partition_by: str | None,
    values: str | None,
    keys: str | None,
    schema_file: str | None,
    headers: bool | None,
    since: str | None,
    from_offsets: str | None,
    until: str | None,
    until_offsets: str | None,
    reload: bool,
    skip_missing: bool,
    on_error: str | None,
    dead_letters: str | None,
    max_records_per_commit: int,
    min_partitions: int | None,
    compression: str | None,
    group: str | None,
    dry_run: bool,
    list_dir: str | None,
    verify_dir: str | None,
    as_json: bool,
    master: str | None,
    spark_conf: dict[str, str],
    command_config: dict[str, str],
    bootstrap_server: str,
) -> int:
    """Load the records of topics into a table, from where the last run ended.

    The table remembers itself how far it is, in the same commit as the data: a run that is killed at any
    moment leaves neither gaps nor duplicates, and the next one goes on. Parquet, JSON and CSV are read
    through the table's manifest (ottla.pipelines.read_load); Delta and Iceberg by whatever reads them.
    """
    if list_dir is not None or verify_dir is not None:
        if topics or to is not None:
            raise click.UsageError("--list and --verify look at a table: leave out topics and --to")
        return show(list_dir, as_json) if list_dir is not None else check(str(verify_dir), as_json)
    if not topics:
        raise click.UsageError("name at least one topic")
    if to is None:
        raise click.UsageError("say where to with --to DIR")
    if since is not None and from_offsets is not None:
        raise click.UsageError("--since and --from-offsets exclude each other")
    if until is not None and until_offsets is not None:
        raise click.UsageError("--until and --until-offsets exclude each other")
    if on_error is not None and dead_letters is not None:
        raise click.UsageError("--on-error and --dead-letters exclude each other")
    if reload and since is None and from_offsets is None:
        raise click.UsageError("--reload needs to know from where: add --since TIME or --from-offsets FILE")

    from ottla.cli.load_progress import shown_progress
    from ottla.pipelines.loads.load import load as run_load

    chosen: Any = on_error or "fail"
    if dead_letters is not None:
        from ottla.pipelines.values.dead_letters import dead_letters as letters

        chosen = letters(dead_letters, bootstrap_servers=bootstrap_server, options=command_config)
    with started_later(master, "ottla-load", spark_conf) as spark, shown_progress(quiet=as_json) as progress:
        try:
            result = run_load(
                topics,
                to,
                bootstrap_servers=bootstrap_server,
                format=format_name,
                values=values,
                keys=keys,
                schema=None if schema_file is None else file_text(schema_file),
                headers=headers,
                partition_by=partition_by,
                since=since,
                from_offsets=None if from_offsets is None else file_text(from_offsets),
                until=until,
                until_offsets=None if until_offsets is None else file_text(until_offsets),
                reload=reload,
                skip_missing=skip_missing,
                on_error=chosen,
                max_records_per_commit=max_records_per_commit,
                min_partitions=min_partitions,
                compression=compression,
                group=group,
                dry_run=dry_run,
                options=command_config,
                spark=spark,
                progress=progress,
            )
        except KeyboardInterrupt:
            progress.stop()
            click.echo(
                f"ottla: stopped: {progress.commits} commits with {progress.records:,} records are in {to}, "
                "the next run goes on behind them",
                err=True,
            )
            raise
    print_result(result, dry_run, as_json)
    return 0


def file_text(name: str) -> str:
    """What a file says; `-` is standard input."""
    try:
        if name == "-":
            return sys.stdin.read()
        with open(name, encoding="utf-8") as file:
            return file.read()
    except UnicodeDecodeError:
        raise click.ClickException(f"{name}: is not UTF-8") from None


def print_result(result: LoadResult, dry_run: bool, as_json: bool) -> None:
    from dataclasses import asdict

    if as_json:
        from ottla.cli.session import print_json

        print_json({**asdict(result), "path": str(result.path), "records": result.records})
        return
    for gap in result.gaps:
        click.echo(f"left out: {gap.topic}-{gap.partition} offsets {gap.start} to {gap.end - 1}", err=True)
    if result.group_error:
        click.echo(f"the group could not be told: {result.group_error}", err=True)
    if not result.partitions:
        click.echo(f"nothing new for {result.path}")
        return
    if dry_run:
        rows = [[p.topic, p.partition, p.start, p.end, f"{p.end - p.start:,}"] for p in result.partitions]
        click.echo(aligned(["TOPIC", "PARTITION", "FROM", "TO", "OFFSETS"], rows, right=" >>>>"))
        replaced = f", replacing {result.replaced_files} files" if result.replaced_files else ""
        click.echo(f"would be loaded into {result.path} ({result.format}){replaced}")
        return
    table = [
        [p.topic, p.partition, p.start, p.end, f"{p.records:,}", bytes_text(p.bytes), p.files]
        for p in result.partitions
    ]
    header = ["TOPIC", "PARTITION", "FROM", "TO", "RECORDS", "SIZE", "FILES"]
    click.echo(aligned(header, table, right=" >>>>>>"))
    replaced = f", {result.replaced_files} files replaced" if result.replaced_files else ""
    rate = f", {result.records / result.seconds:,.0f} records/s" if result.seconds else ""
    click.echo(
        f"{result.records:,} records in {result.commits} commits into {result.path} "
        f"({result.format}){replaced}, {duration_text(int(result.seconds * 1000))}{rate}"
    )


def show(path: str, as_json: bool) -> int:
    from dataclasses import asdict

    from ottla.pipelines.loads.inspection import describe_load

    content: TableContent = describe_load(path)
    if as_json:
        from ottla.cli.session import print_json

        print_json({**asdict(content), "path": str(content.path)})
        return 0
    click.echo(f"{content.path}: {content.format}, made by {content.made_by}, version {content.version}")
    if content.partitions:
        rows = [
            [
                p.topic,
                p.partition,
                "-" if p.first_offset is None else p.first_offset,
                "-" if p.last_offset is None else p.last_offset,
                "-" if p.position is None else p.position,
                f"{p.records:,}",
                bytes_text(p.bytes),
                p.files,
            ]
            for p in content.partitions
        ]
        header = ["TOPIC", "PARTITION", "FIRST", "LAST", "NEXT", "RECORDS", "SIZE", "FILES"]
        click.echo(aligned(header, rows, right=" >>>>>>>"))
    if content.untraced_files:
        click.echo(
            f"{content.untraced_records:,} records in {content.untraced_files} files of streams or others"
        )
    for each in content.history[-10:]:
        ranges = (each.get("details") or {}).get("ranges", ())
        what = ", ".join(f"{r['topic']}-{r['partition']} {r['from']}..{r['to'] - 1}" for r in ranges[:5])
        more = f" and {len(ranges) - 5} more" if len(ranges) > 5 else ""
        click.echo(
            f"commit {each['commit']}  {time_text(each.get('time_ms'))}  {each.get('operation')}  "
            f"{what}{more}"
        )
    return 0


def time_text(time_ms: int | None) -> str:
    from datetime import UTC, datetime

    return (
        "-" if time_ms is None else datetime.fromtimestamp(time_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    )


def check(path: str, as_json: bool) -> int:
    from dataclasses import asdict

    from ottla.pipelines.loads.inspection import verify_load

    found: Verification = verify_load(path)
    if as_json:
        from ottla.cli.session import print_json

        print_json(asdict(found))
        return 1 if found.problems else 0
    for problem in found.problems:
        click.echo(problem, err=True)
    if found.strays:
        click.echo(
            f"{len(found.strays)} files belong to no commit (a killed run's, or one's that is at work)"
        )
    verdict = f"{len(found.problems)} problems" if found.problems else "no problem"
    click.echo(f"{found.files} files, {found.records:,} records: {verdict}")
    return 1 if found.problems else 0
