"""`ottla produce`: publish records from standard input or a file."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from ottla.cli.session import bootstrap_option, key_values, open_client

if TYPE_CHECKING:
    from ottla.cli.record_input import LineParser
    from ottla.client.producer import ProducerSettings

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
    from ottla.cli.publishing import Progress, publish_lines
    from ottla.cli.record_input import InputError, JsonLines, LineReader, TextLines
    from ottla.client.errors import ServerError
    from ottla.client.producer import Producer
    from ottla.model.errors import ErrorCode

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
    settings, linger_ms, client_id = producer_settings(given)
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
    with open_client(bootstrap_server, client_id=client_id) as client:
        producer = Producer(client.cluster, settings)
        client.run(producer.prepare(topic))
        if partition is not None:
            client.cluster.view.partition(topic, partition)
        try:
            code = publish_lines(
                client, producer, topic, reader, parse, linger_ms=linger_ms, progress=progress
            )
        except InputError as error:
            raise click.ClickException(f"{error} ({published(producer.delivered_count)})") from None
        except ServerError as error:
            hint = ""
            if error.code == ErrorCode.INVALID_RECORD and not (as_json or key or key_separator):
                hint = ": give keys by --key or --key-separator"
            raise click.ClickException(f"{error}{hint} ({published(producer.delivered_count)})") from None
    if not quiet and (path is not None or not os.isatty(STDIN)):
        count = producer.delivered_count
        click.echo(f"published {count:,} record{'' if count == 1 else 's'} to {topic}", err=True)
    return code


def producer_settings(given: dict[str, str]) -> tuple[ProducerSettings, float, str]:
    """Kafka's producer keys as settings, how long to wait for more input, and the client id."""
    from ottla.cli.publishing import BATCH_AGE_MS_MAX
    from ottla.client.producer import ProducerSettings
    from ottla.wire.compression import Codec

    known = {
        "acks": "all",
        "batch.size": str(256 * 1024),
        "client.id": "ottla-produce",
        "compression.type": "none",
        "delivery.timeout.ms": "120000",
        "enable.idempotence": "",
        "linger.ms": "5",
        "max.request.size": str(1024 * 1024),
        "request.timeout.ms": "30000",
    }
    for name in given:
        if name not in known:
            from difflib import get_close_matches

            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
            raise click.UsageError(f"unknown producer setting {name!r}: {hint}")
    values = {**known, **given}

    def number(name: str) -> int:
        text = values[name]
        if not text.isdecimal():
            raise click.UsageError(f"{name}={text} is not a number that is 0 or more")
        return int(text)

    acks = {"all": -1, "-1": -1, "1": 1, "0": 0}.get(values["acks"])
    if acks is None:
        raise click.UsageError(f"acks={values['acks']}: write all, 1 or 0")
    if values["compression.type"] not in CODECS:
        raise click.UsageError(f"compression.type={values['compression.type']}: one of {', '.join(CODECS)}")
    idempotence = values["enable.idempotence"].lower()
    if idempotence not in ("", "true", "false"):
        raise click.UsageError(f"enable.idempotence={idempotence}: write true or false")
    if idempotence == "true" and acks != -1:
        raise click.UsageError("enable.idempotence=true needs acks=all")
    linger_ms = number("linger.ms")
    settings = ProducerSettings(
        acks=acks,
        idempotent=acks == -1 and idempotence != "false",
        batch_bytes=max(1, number("batch.size")),
        linger_ms=max(linger_ms, BATCH_AGE_MS_MAX),
        codec=Codec[values["compression.type"].upper()],
        request_bytes_max=number("max.request.size"),
        request_timeout_ms=max(1, number("request.timeout.ms")),
        delivery_timeout_ms=number("delivery.timeout.ms"),
    )
    return settings, linger_ms, values["client.id"]


def published(count: int) -> str:
    return "1 record was published" if count == 1 else f"{count:,} records were published"
