"""`ottla produce`: publish records from standard input or a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from ottla.cli.session import bootstrap_option, key_values, open_client

if TYPE_CHECKING:
    from ottla.cli.record_input import LineParser

STDIN = 0
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


@click.command(
    epilog="""\b
Examples:
  echo hello | ottla produce clicks
  ottla produce clicks --file events.jsonl --json --compression zstd
  printf 'user1:login\\n' | ottla produce clicks --key-separator :"""
)
@click.argument("topic")
@click.option("-f", "--file", "path", type=click.Path(exists=True, dir_okay=False), help="Instead of stdin.")
@click.option("-K", "--key-separator", metavar="TEXT", help="Lines are KEY, this text, VALUE.")
@click.option("-k", "--key", metavar="TEXT", help="The key of every record.")
@click.option(
    "-H", "--header", "headers", multiple=True, metavar="NAME=VALUE", help="A header of every record."
)
@click.option(
    "--headers", "parse_headers", is_flag=True, help="Lines begin with name:value,name:value and a tab."
)
@click.option("--null-marker", metavar="TEXT", help="A key or value that is exactly this text is null.")
@click.option("-p", "--partition", type=click.IntRange(0), help="The partition of every record.")
@click.option("-z", "--compression", type=click.Choice(CODECS), help="Codec of the batches.  [default: none]")
@click.option("-a", "--acks", type=click.Choice(["all", "1", "0"]), help="Who must have it.  [default: all]")
@click.option(
    "-X", "--property", "properties", multiple=True, metavar="KEY=VALUE", help="Any producer setting."
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Lines are JSON objects with value, key, headers, timestamp (what consume --json prints).",
)
@click.option("--keep-partitions", is_flag=True, help="With --json: use each line's partition.")
@click.option("-q", "--quiet", is_flag=True, help="Do not say how much was published.")
@bootstrap_option
def produce(
    topic: str,
    path: str | None,
    key_separator: str | None,
    key: str | None,
    headers: tuple[str, ...],
    parse_headers: bool,
    null_marker: str | None,
    partition: int | None,
    compression: str | None,
    acks: str | None,
    properties: tuple[str, ...],
    as_json: bool,
    keep_partitions: bool,
    quiet: bool,
    bootstrap_server: str,
) -> int:
    """Publish one record for each line of standard input (or a file).

    Ctrl-C ends it after everything that was entered is published.
    """
    from ottla.cli.publishing import Deliveries, Progress, open_producer, prepare_topic, publish_lines
    from ottla.cli.record_input import InputError, JsonLines, LineReader, TextLines
    from ottla.client.errors import InvalidRecord, OttlaError

    if as_json and (key_separator is not None or key is not None or parse_headers or null_marker is not None):
        raise click.UsageError("with --json, keys, headers and nulls are in the lines themselves")
    if key is not None and key_separator is not None:
        raise click.UsageError("--key and --key-separator exclude each other")
    if key_separator == "":
        raise click.UsageError("--key-separator is empty")
    given = key_values(properties, "--property")
    if compression is not None:
        given["compression.type"] = compression
    if acks is not None:
        given["acks"] = acks
    config, linger_ms = producer_config(bootstrap_server, given)
    fixed = tuple((name, os.fsencode(value)) for name, value in key_values(headers, "--header").items())
    parse: LineParser
    if as_json:
        parse = JsonLines(keep_partition=keep_partitions, headers=fixed, partition=partition)
    else:
        parse = TextLines(
            key_separator=None if key_separator is None else os.fsencode(key_separator),
            headers_delimiter=b"\t" if parse_headers else None,
            null_marker=None if null_marker is None else os.fsencode(null_marker),
            key=None if key is None else os.fsencode(key),
            headers=fixed,
            partition=partition,
        )
    fd = os.open(path, os.O_RDONLY) if path is not None else STDIN
    reader = LineReader(fd)
    progress = Progress(
        os.fstat(fd).st_size if path is not None else 0, shown=sys.stderr.isatty() and not quiet
    )
    with open_client(bootstrap_server, client_id=config["client.id"]) as client:
        prepare_topic(client, topic, partition)
    deliveries = Deliveries()
    try:
        with open_producer(config) as producer:
            code = publish_lines(
                producer, topic, reader, parse, deliveries, linger_ms=linger_ms, progress=progress
            )
    except InputError as error:
        raise click.ClickException(f"{error} ({published(deliveries.delivered)})") from None
    except OttlaError as error:
        hint = ""
        if isinstance(error, InvalidRecord) and not (as_json or key or key_separator):
            hint = ": give keys by --key or --key-separator"
        raise click.ClickException(f"{error}{hint} ({published(deliveries.delivered)})") from None
    if not quiet and (path is not None or not os.isatty(STDIN)):
        count = deliveries.delivered
        click.echo(f"published {count:,} record{'' if count == 1 else 's'} to {topic}", err=True)
    return code


def producer_config(bootstrap_server: str, given: Mapping[str, str]) -> tuple[dict[str, Any], float]:
    """A producer's configuration for lines of input, and how many milliseconds to wait for more of them.

    The loop decides when a pause in the input is long enough (`linger.ms`), so the producer itself may wait
    longer: batches of a file are full. Raises UsageError where a setting is none.
    """
    from ottla.cli.publishing import BATCH_AGE_MS_MAX
    from ottla.client.config import producer_settings
    from ottla.client.errors import InvalidConfig

    config: dict[str, Any] = {
        "client.id": "ottla-produce",
        "batch.size": 256 * 1024,
        **given,
        "bootstrap.servers": bootstrap_server,
    }
    try:
        linger_ms = producer_settings(config, {}).linger_ms
    except InvalidConfig as error:
        raise click.UsageError(str(error)) from None
    config["linger.ms"] = max(linger_ms, BATCH_AGE_MS_MAX)
    return config, linger_ms


def published(count: int) -> str:
    return "1 record was published" if count == 1 else f"{count:,} records were published"
