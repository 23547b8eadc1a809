"""`ottla consume`: read the records of a topic and print them."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from ottla.cli.session import bootstrap_option

if TYPE_CHECKING:
    import ottla
    from ottla.model.types import TopicPartition


@click.command(
    epilog="""\b
Examples:
  ottla consume clicks --from-beginning
  ottla consume clicks --offset -10 -e --format '%p:%o %k -> %v\\n'
  ottla consume clicks --timestamp 2024-05-01T00:00:00Z --max-messages 100 --json
  ottla consume clicks --group billing --from-beginning

\b
Format: %v value (or %s)  %k key  %t topic  %p partition  %o offset  %T timestamp in ms  %h headers
        %S size of the value  %K size of the key  %R size of the value as 4 bytes  %% percent
        \\n newline  \\t tab  \\r  \\0  \\xNN a byte"""
)
@click.argument("topic")
@click.option("--from-beginning", is_flag=True, help="Begin with the oldest record there is.")
@click.option(
    "-o", "--offset", metavar="N", help="Begin at offset N; beginning; end; -N: the last N of each."
)
@click.option("--timestamp", metavar="TIME", help="Begin at a time: ms since 1970, or ISO 8601.")
@click.option(
    "-p", "--partition", "chosen", type=click.IntRange(0), multiple=True, help="Only this partition."
)
@click.option("-n", "--max-messages", type=click.IntRange(1), help="Stop after so many.")
@click.option(
    "-e", "--exit", "exit_at_end", is_flag=True, help="Stop at the end instead of waiting for more."
)
@click.option("--timeout-ms", type=click.IntRange(1), help="Stop when nothing came for so long.")
@click.option("-f", "--format", "format_text", metavar="FORMAT", help="How to print a record (see below).")
@click.option("--null", metavar="TEXT", default="", help="What to print for a null key or value.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line; what is not UTF-8 as base64.")
@click.option("--read-committed", is_flag=True, help="Leave out transactions that are open or aborted.")
@click.option(
    "-g", "--group", metavar="ID", help="Read as a member of this group, from its committed offsets."
)
@click.option(
    "--protocol", type=click.Choice(["classic", "consumer"]), help="The group protocol (default: classic)."
)
@click.option("--group-instance-id", metavar="ID", help="Be a static member, which keeps its place.")
@click.option(
    "--assignor",
    "assignors",
    multiple=True,
    metavar="NAME",
    help="classic: range, roundrobin, sticky, cooperative-sticky; consumer: uniform, range.",
)
@bootstrap_option
def consume(
    topic: str,
    from_beginning: bool,
    offset: str | None,
    timestamp: str | None,
    chosen: tuple[int, ...],
    max_messages: int | None,
    exit_at_end: bool,
    timeout_ms: int | None,
    format_text: str | None,
    null: str,
    as_json: bool,
    read_committed: bool,
    group: str | None,
    protocol: str | None,
    group_instance_id: str | None,
    assignors: tuple[str, ...],
    bootstrap_server: str,
) -> int:
    """Read all partitions of a topic and print each record's value on a line.

    Without an option that says where to begin, it waits for new records; Ctrl-C ends it.

    With --group the partitions are shared with the group's other members, and what was printed is committed.
    Where the group has committed nothing yet, it begins with new records, or with the oldest by
    --from-beginning.
    """
    import os

    from ottla.cli.reading import CONSUMER_CONFIG, EXIT_AT_END_CONFIG, open_consumer, print_records
    from ottla.cli.record_format import DEFAULT_FORMAT, FormatError, compile_format, to_json_line
    from ottla.model.types import TopicPartition

    if (offset is not None) + (timestamp is not None) + from_beginning > 1:
        raise click.UsageError("--from-beginning, --offset and --timestamp exclude each other")
    if as_json and format_text is not None:
        raise click.UsageError("--json and --format exclude each other")
    if group is None and (protocol or group_instance_id or assignors):
        raise click.UsageError("--protocol, --group-instance-id and --assignor need --group")
    if group is not None and (offset is not None or timestamp is not None or chosen):
        raise click.UsageError(
            "a group chooses partitions and goes on where it was: leave out --offset, --timestamp and "
            "--partition (to move it: ottla group reset-offsets)"
        )
    start = parse_start("beginning" if from_beginning else offset, timestamp)
    try:
        shape = compile_format(DEFAULT_FORMAT if format_text is None else format_text, null=os.fsencode(null))
    except FormatError as error:
        raise click.UsageError(str(error)) from None
    write = to_json_line if as_json else shape
    config = {
        **CONSUMER_CONFIG,
        **(EXIT_AT_END_CONFIG if exit_at_end else {}),
        "bootstrap.servers": bootstrap_server,
        "client.id": "ottla-consume",
        "auto.offset.reset": "earliest",
        "isolation.level": "read_committed" if read_committed else "read_uncommitted",
    }
    if group is not None:
        from ottla.cli.group_consume import print_group_records

        config.update(group_config(group, protocol or "classic", group_instance_id, assignors))
        config["auto.offset.reset"] = "earliest" if from_beginning else "latest"
        consumer = open_consumer(config)
        with closing(consumer):
            consumer.partitions_for(topic)  # it has to exist
            consumer.subscribe([topic])
            return print_group_records(
                consumer,
                write,
                sys.stdout.buffer,
                count_max=max_messages,
                exit_at_end=exit_at_end,
                timeout_ms=timeout_ms,
            )
    with open_consumer(config) as consumer:
        there = [each.index for each in consumer.partitions_for(topic)]
        for index in chosen:
            if index not in there:
                raise click.ClickException(
                    f"topic {topic}: there is no partition {index}, the topic has {len(there)}"
                )
        partitions = [TopicPartition(topic, index) for index in dict.fromkeys(chosen or there)]
        consumer.assign(partitions)
        seek(consumer, partitions, start)
        print_records(
            consumer,
            write,
            sys.stdout.buffer,
            count_max=max_messages,
            ended=consumer.at_end if exit_at_end else None,
            timeout_ms=timeout_ms,
        )
    return 0


def group_config(
    group: str, protocol: str, instance_id: str | None, assignors: tuple[str, ...]
) -> dict[str, Any]:
    from ottla.client.membership_classic import ASSIGNORS

    if not group:
        raise click.UsageError("--group must not be empty")
    config: dict[str, Any] = {
        "group.id": group,
        "group.protocol": protocol,
        "group.instance.id": instance_id,
    }
    if protocol == "classic":
        for name in assignors:
            if name not in ASSIGNORS:
                raise click.UsageError(f"--assignor {name}: write {', '.join(ASSIGNORS)}")
        config["partition.assignment.strategy"] = list(assignors) or None
    elif len(assignors) > 1:
        raise click.UsageError("with --protocol consumer the broker assigns: give one --assignor")
    else:
        config["group.remote.assignor"] = assignors[0] if assignors else None
    return config


class Start:
    """Where to begin: `kind` is "time" (a timestamp or one of Kafka's negative ones), "offset" or "tail"."""

    __slots__ = ("kind", "number")

    def __init__(self, kind: str, number: int) -> None:
        self.kind = kind
        self.number = number


def parse_start(offset: str | None, timestamp: str | None) -> Start:
    from ottla.client.admin import EARLIEST, LATEST

    if timestamp is not None:
        return Start("time", parse_time_ms(timestamp))
    if offset is None or offset in ("end", "latest"):
        return Start("time", LATEST)
    if offset in ("beginning", "earliest"):
        return Start("time", EARLIEST)
    digits = offset.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()):
        raise click.UsageError(f"--offset {offset}: write a number, -N for the last N, beginning or end")
    return Start("tail" if offset.startswith("-") else "offset", int(digits))


def parse_time_ms(text: str) -> int:
    """Milliseconds since 1970, or an ISO 8601 time (local where it names no zone)."""
    if text.isascii() and text.isdecimal():
        return int(text)
    from datetime import datetime

    try:
        return int(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError:
        raise click.UsageError(
            f"{text!r} is not a time: write milliseconds since 1970, or like 2024-05-01T12:00:00Z"
        ) from None


def seek(consumer: ottla.Consumer, partitions: list[TopicPartition], start: Start) -> None:
    """Puts the consumer at the start in every partition."""
    from ottla.client.admin import EARLIEST, LATEST

    if start.kind == "offset":
        for tp in partitions:
            consumer.seek(tp, start.number)
    elif start.kind == "tail":
        first, last = consumer.beginning_offsets(partitions), consumer.end_offsets(partitions)
        for tp in partitions:
            consumer.seek(tp, max(first[tp], last[tp] - start.number))
    elif start.number == EARLIEST:
        consumer.seek_to_beginning()
    elif start.number == LATEST:
        consumer.seek_to_end()
        for tp in partitions:  # now: what is published from here on is printed
            consumer.position(tp)
    else:
        for tp, found in consumer.offsets_for_times(dict.fromkeys(partitions, start.number)).items():
            if found is None:
                consumer.seek_to_end(tp)
            else:
                consumer.seek(tp, found.offset)
