"""`ottla publish`: the rows of files into a topic; the way back from a load."""

from __future__ import annotations

import time

import click

from ottla.cli.duration import duration_text
from ottla.cli.session import bootstrap_option, json_option, key_values
from ottla.cli.spark_options import check_spark, client_options, spark_options, started_later

FORMATS = ("parquet", "json", "csv", "text", "avro", "delta", "iceberg")


@click.command(
    epilog="""\b
Examples:
  ottla publish flights.parquet --topic flights --key carrier --timestamp time_hour --partitions 4
  ottla publish 'logs/*.json' --topic logs --header host --header level=severity
  ottla publish /data/clicks --topic clicks-again --restore       # a directory that ottla load made
  ottla publish inbox/ --format csv --topic orders --exactly-once --checkpoint /data/orders.checkpoint

\b
Without --value, a value is the row as JSON; lines of JSON and text files are sent as they are. At least once:
a task that fails runs again, and a second run sends everything again; with --exactly-once neither does."""
)
@click.argument("files", nargs=-1, required=True)
@click.option("-t", "--topic", required=True, help="Where to.")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(FORMATS),
    help="Of the files (default: what their names say).",
)
@click.option("-k", "--key", metavar="COLUMN", help="The column that becomes the key.")
@click.option(
    "--value", metavar="COLUMN", help="The column that becomes the value (default: the row as JSON)."
)
@click.option(
    "--timestamp",
    metavar="COLUMN",
    help="The column that becomes the time: a timestamp, date, ms or ISO 8601.",
)
@click.option("--partition", metavar="COLUMN", help="The column that has the partition's number.")
@click.option(
    "-H",
    "--header",
    "headers",
    metavar="[NAME=]COLUMN",
    multiple=True,
    help="A column that becomes a header.",
)
@click.option(
    "--schema", "schema_file", metavar="FILE", help="Spark's DDL of the columns of Parquet or CSV files."
)
@click.option(
    "--restore", is_flag=True, help="Records of a load as they were, in their partitions and order."
)
@click.option("--from-topic", metavar="TOPIC", help="Of a load of several topics, this one.")
@click.option(
    "--partitions", type=click.IntRange(1), help="Create the topic with so many, if it does not exist."
)
@click.option("--replication-factor", type=click.IntRange(1), help="Of a topic that is created.")
@click.option(
    "--config",
    "topic_configs",
    metavar="NAME=VALUE",
    multiple=True,
    help="Of a topic that is created (retention.ms=-1 keeps old records); repeatable.",
)
@click.option(
    "--exactly-once", is_flag=True, help="In transactions; a run again sends only files that are new."
)
@click.option("--checkpoint", metavar="DIR", help="With --exactly-once: remembers what was published.")
@click.option("--application-id", metavar="ID", help="With --exactly-once: the name of its transactions.")
@json_option
@spark_options
@client_options
@bootstrap_option
def publish(
    files: tuple[str, ...],
    topic: str,
    format_name: str | None,
    key: str | None,
    value: str | None,
    timestamp: str | None,
    partition: str | None,
    headers: tuple[str, ...],
    schema_file: str | None,
    restore: bool,
    from_topic: str | None,
    partitions: int | None,
    replication_factor: int | None,
    topic_configs: tuple[str, ...],
    exactly_once: bool,
    checkpoint: str | None,
    application_id: str | None,
    as_json: bool,
    master: str | None,
    spark_conf: dict[str, str],
    command_config: dict[str, str],
    bootstrap_server: str,
) -> int:
    """Publish the rows of files, or of a table, to a topic, in parallel."""
    if exactly_once != (checkpoint is not None):
        raise click.UsageError("--exactly-once and --checkpoint DIR need each other")
    if application_id is not None and not exactly_once:
        raise click.UsageError("--application-id is for --exactly-once")

    check_spark()
    from ottla.cli.load import file_text
    from ottla.pipelines.loads.publish import publish as run_publish

    began = time.monotonic()
    named = key_values(tuple(each if "=" in each else f"{each}={each}" for each in headers), "--header")
    with started_later(master, "ottla-publish", spark_conf) as spark:
        result = run_publish(
            list(files),
            topic,
            bootstrap_servers=bootstrap_server,
            format=format_name,
            key=key,
            value=value,
            timestamp=timestamp,
            headers=named,
            partition=partition,
            schema=None if schema_file is None else file_text(schema_file),
            restore=restore,
            from_topic=from_topic,
            partitions=partitions,
            replication_factor=-1 if replication_factor is None else replication_factor,
            topic_configs=key_values(topic_configs, "--config"),
            exactly_once=exactly_once,
            checkpoint=checkpoint,
            application_id=application_id,
            options=command_config,
            spark=spark,
        )
    seconds = time.monotonic() - began
    if as_json:
        from dataclasses import asdict

        from ottla.cli.session import print_json

        print_json({**asdict(result), "seconds": round(seconds, 3)})
        return 0
    if result.created_partitions:
        click.echo(f"created topic {topic} with {result.created_partitions} partitions", err=True)
    click.echo(
        f"{result.records:,} records of {result.files} files published to {topic}, "
        f"{duration_text(int(seconds * 1000))}, {result.records / max(seconds, 0.001):,.0f} records/s"
    )
    return 0
