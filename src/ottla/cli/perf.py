"""`ottla perf`: how fast a cluster takes records, gives them, and how long one is under way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ottla.cli.session import bootstrap_option, json_option, key_values, only_failures_logged, print_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from ottla.cli.perf_measure import Result

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
RECORDS = 1_000_000


@click.group(
    epilog="""\b
Examples:
  ottla perf produce clicks --partitions 6 --records 10000000 --record-size 100
  ottla perf consume clicks
  ottla perf latency clicks --records 10000 --acks all"""
)
def perf() -> None:
    """Measure any Kafka cluster with this client.

    Progress goes to standard error, the result to standard output. Ctrl-C ends a measurement early; what was
    measured so far is printed.
    """


def _common(command: Callable[..., Any]) -> Callable[..., Any]:
    for decorate in (
        bootstrap_option,
        json_option,
        click.option("--metrics", "with_metrics", is_flag=True, help="Print the client's metrics, too."),
        click.option("-q", "--quiet", is_flag=True, help="Print nothing but the result."),
        click.option(
            "--interval",
            "interval_s",
            type=click.FloatRange(0.1),
            default=1.0,
            show_default=True,
            help="Seconds between two lines of progress.",
        ),
        click.option(
            "--duration", "duration_s", type=click.FloatRange(0.1), help="Stop after so many seconds."
        ),
    ):
        command = decorate(command)
    return command


def _creating(command: Callable[..., Any]) -> Callable[..., Any]:
    for decorate in (
        click.option("--replication-factor", type=click.IntRange(1), help="Copies of a new topic."),
        click.option(
            "--partitions", type=click.IntRange(1), help="Create the topic with so many, unless it exists."
        ),
    ):
        command = decorate(command)
    return command


@perf.command(
    epilog="""\b
Examples:
  ottla perf produce clicks --partitions 6 --records 10000000 --compression zstd
  ottla perf produce clicks --throughput 50000 --duration 30 --api send -X retries=0
  ottla perf produce clicks --payload-file events.jsonl --json"""
)
@click.argument("topic")
@click.option("-n", "--records", "--num-records", "records", type=click.IntRange(1), help="How many.")
@click.option("--record-size", type=click.IntRange(0), help="Bytes of a record.  [default: 100]")
@click.option(
    "--payload-file",
    type=click.Path(exists=True, dir_okay=False),
    help="Send the lines of this file, instead.",
)
@click.option("--payload-delimiter", default="\\n", show_default=True, help="What is between two payloads.")
@click.option(
    "--throughput",
    type=float,
    default=-1,
    help="Records per second; -1: as many as it takes.",
    show_default=True,
)
@click.option("-a", "--acks", type=click.Choice(["all", "1", "0"]), help="Who must have it.  [default: all]")
@click.option("-z", "--compression", type=click.Choice(CODECS), help="Codec of the batches.  [default: none]")
@click.option("--batch-size", metavar="BYTES", help="batch.size, like 262144 or 256k.")
@click.option("--linger", "linger_ms", metavar="MS", help="linger.ms")
@click.option(
    "-X",
    "--producer-config",
    "--property",
    "properties",
    multiple=True,
    metavar="KEY=VALUE",
    help="Any setting of the producer.",
)
@click.option(
    "--api",
    type=click.Choice(["batch", "send"]),
    help="Whole columns (send_batch), or record by record.  [default: batch, where pyarrow is installed]",
)
@_creating
@_common
def produce(
    topic: str,
    records: int | None,
    record_size: int | None,
    payload_file: str | None,
    payload_delimiter: str,
    throughput: float,
    acks: str | None,
    compression: str | None,
    batch_size: str | None,
    linger_ms: str | None,
    properties: tuple[str, ...],
    api: str | None,
    partitions: int | None,
    replication_factor: int | None,
    duration_s: float | None,
    interval_s: float,
    quiet: bool,
    with_metrics: bool,
    as_json: bool,
    bootstrap_server: str,
) -> int:
    """Write records to a topic."""
    from ottla.cli.perf_measure import Measurement, display_for
    from ottla.cli.perf_produce import ProduceLoad, file_payloads, measure_produce, random_payloads

    if payload_file is not None and record_size is not None:
        raise click.UsageError("--record-size and --payload-file exclude each other")
    if payload_file is not None:
        payloads = file_payloads(payload_file, unescaped(payload_delimiter))
        if not payloads:
            raise click.UsageError(f"--payload-file {payload_file}: there is nothing in it")
    else:
        payloads = random_payloads(100 if record_size is None else record_size)
    config = settings(bootstrap_server, properties, "ottla-perf-produce")
    for name, value in (
        ("acks", acks),
        ("compression.type", compression),
        ("batch.size", batch_size),
        ("linger.ms", linger_ms),
    ):
        if value is not None:
            config[name] = value
    if records is None and duration_s is None:
        records = RECORDS
    load = ProduceLoad(
        topic,
        payloads,
        records,
        duration_s,
        throughput if throughput > 0 else None,
        api or best_api(),
        config,
    )
    check_api(load.api)
    create_topic(bootstrap_server, topic, partitions, replication_factor)
    display, interval_s = display_for("sent", records, interval_s, quiet=quiet)
    return report(measure_produce(load, Measurement(display, interval_s)), as_json, with_metrics)


@perf.command(
    epilog="""\b
Examples:
  ottla perf consume clicks
  ottla perf consume clicks --group g --records 1000000 --api poll --json"""
)
@click.argument("topic")
@click.option(
    "-n",
    "--records",
    "--messages",
    "records",
    type=click.IntRange(1),
    help="How many.  [default: what is there]",
)
@click.option("-g", "--group", metavar="ID", help="As a member of this group; else all partitions.")
@click.option("--from-latest", is_flag=True, help="Begin with new records instead of the oldest.")
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(0.1),
    default=10.0,
    show_default=True,
    help="Stop when nothing came for so many seconds.",
)
@click.option("--fetch-size", metavar="BYTES", help="max.partition.fetch.bytes, like 1048576 or 4m.")
@click.option(
    "-X",
    "--consumer-config",
    "--property",
    "properties",
    multiple=True,
    metavar="KEY=VALUE",
    help="Any setting of the consumer.",
)
@click.option(
    "--api",
    type=click.Choice(["batch", "poll"]),
    help="Whole columns (poll_arrow), or record by record.  [default: batch, where pyarrow is installed]",
)
@_common
def consume(
    topic: str,
    records: int | None,
    group: str | None,
    from_latest: bool,
    timeout_s: float,
    fetch_size: str | None,
    properties: tuple[str, ...],
    api: str | None,
    duration_s: float | None,
    interval_s: float,
    quiet: bool,
    with_metrics: bool,
    as_json: bool,
    bootstrap_server: str,
) -> int:
    """Read the records of a topic."""
    from ottla.cli.perf_consume import ConsumeLoad, Consuming, measure_consume
    from ottla.cli.perf_measure import Measurement, display_for

    config = settings(bootstrap_server, properties, "ottla-perf-consume")
    if fetch_size is not None:
        config["max.partition.fetch.bytes"] = fetch_size
    load = ConsumeLoad(
        topic, records, timeout_s, duration_s, group, from_latest, api or best_api("poll"), config
    )
    check_api(load.api)
    consuming = Consuming(load)
    display, interval_s = display_for("read", consuming.expected, interval_s, quiet=quiet)
    return report(measure_consume(consuming, Measurement(display, interval_s)), as_json, with_metrics)


@perf.command(
    epilog="""\b
Example:
  ottla perf latency clicks --partitions 1 --records 10000 --record-size 200"""
)
@click.argument("topic")
@click.option("-n", "--records", "--num-records", "records", type=click.IntRange(1), help="How many.")
@click.option(
    "--record-size", type=click.IntRange(0), default=100, show_default=True, help="Bytes of a record."
)
@click.option("-a", "--acks", type=click.Choice(["all", "1"]), default="all", show_default=True)
@click.option("--pause", "pause_ms", type=click.FloatRange(0), default=0.0, help="Milliseconds between two.")
@click.option(
    "--producer-config", "producing", multiple=True, metavar="KEY=VALUE", help="A producer's setting."
)
@click.option(
    "--consumer-config", "consuming", multiple=True, metavar="KEY=VALUE", help="A consumer's setting."
)
@_creating
@_common
def latency(
    topic: str,
    records: int | None,
    record_size: int,
    acks: str,
    pause_ms: float,
    producing: tuple[str, ...],
    consuming: tuple[str, ...],
    partitions: int | None,
    replication_factor: int | None,
    duration_s: float | None,
    interval_s: float,
    quiet: bool,
    with_metrics: bool,
    as_json: bool,
    bootstrap_server: str,
) -> int:
    """Send one record at a time and wait until it was read again."""
    from ottla.cli.perf_latency import LatencyLoad, measure_latency
    from ottla.cli.perf_measure import Measurement, display_for

    count = records or (1_000 if duration_s is None else 10**12)
    load = LatencyLoad(
        topic,
        count,
        record_size,
        duration_s,
        pause_ms / 1000,
        {**settings(bootstrap_server, producing, "ottla-perf-latency"), "acks": acks},
        settings(bootstrap_server, consuming, "ottla-perf-latency"),
    )
    create_topic(bootstrap_server, topic, partitions, replication_factor)
    total = count if records or duration_s is None else None
    display, interval_s = display_for("sent and read", total, interval_s, quiet=quiet)
    return report(measure_latency(load, Measurement(display, interval_s)), as_json, with_metrics)


def settings(bootstrap_server: str, properties: tuple[str, ...], client_id: str) -> dict[str, Any]:
    only_failures_logged()
    given = {"client.id": client_id, **key_values(properties, "-X")}
    return {"bootstrap.servers": bootstrap_server, **given}


def best_api(otherwise: str = "send") -> str:
    from importlib.util import find_spec

    return "batch" if find_spec("pyarrow") is not None else otherwise


def check_api(api: str) -> None:
    if api == "batch" and best_api() != "batch":
        raise click.UsageError("--api batch needs pyarrow: pip install 'ottla[arrow]'")


def unescaped(text: str) -> bytes:
    """`\\n` and `\\t` as they are typed in a shell."""
    return text.encode().decode("unicode_escape").encode("latin-1")


def create_topic(
    bootstrap_server: str, topic: str, partitions: int | None, replication_factor: int | None
) -> None:
    """Creates the topic if somebody said how; one that is there stays as it is."""
    if partitions is None and replication_factor is None:
        return
    from ottla import Admin
    from ottla.client.admin import NewTopic
    from ottla.errors import TopicAlreadyExists

    with Admin(bootstrap_servers=bootstrap_server) as admin:
        result = admin.create_topics([NewTopic(topic, partitions or -1, replication_factor or -1)])[topic]
        if isinstance(result, Exception) and not isinstance(result, TopicAlreadyExists):
            raise result


def report(result: Result, as_json: bool, with_metrics: bool) -> int:
    """Prints the result; 1 when records failed, 130 after Ctrl-C."""
    from ottla.cli.main import EXIT_FAILURE, EXIT_INTERRUPTED

    if as_json:
        shown = result.json()
        if with_metrics:
            shown["metrics"] = {
                group: {name: None if value != value else value for name, value in values.items()}
                for group, values in result.metrics.items()
            }
        print_json(shown)
    else:
        click.echo(result.text())
        if with_metrics:
            for group, values in result.metrics.items():
                for name, value in values.items():
                    click.echo(f"{group}:{name} {value:,.3f}")
    if result.interrupted:
        return EXIT_INTERRUPTED
    return EXIT_FAILURE if result.failed else 0
