"""`ottla records`: delete the oldest records of a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ottla.cli.session import bootstrap_option, json_option, open_client, print_json

if TYPE_CHECKING:
    from ottla.client.errors import OttlaError


@click.group(
    epilog="""\b
Example:
  ottla records delete clicks --before 0:1500"""
)
def records() -> None:
    """Delete the oldest records of a topic."""


@records.command(
    epilog="""\b
Examples:
  ottla records delete clicks --before 0:1500 --before 1:1480
  ottla records delete clicks --all"""
)
@click.argument("topic")
@click.option(
    "--before",
    "limits",
    multiple=True,
    metavar="PARTITION:OFFSET",
    help="Delete what lies before this offset of this partition.",
)
@click.option("--all", "everything", is_flag=True, help="Delete what every partition holds now.")
@json_option
@bootstrap_option
def delete(
    topic: str, limits: tuple[str, ...], everything: bool, as_json: bool, bootstrap_server: str
) -> int:
    """Delete records from the beginning of partitions (DeleteRecords)."""
    from ottla.cli.main import complain
    from ottla.client.errors import OttlaError
    from ottla.model.types import TopicPartition

    if bool(limits) == everything:
        raise click.UsageError("say what to delete: --before PARTITION:OFFSET, or --all")
    before = {}
    for item in limits:
        partition, _, offset = item.partition(":")
        if not partition.isdecimal() or not offset.isdecimal():
            raise click.UsageError(f"--before {item!r}: write PARTITION:OFFSET, like 0:1500")
        before[TopicPartition(topic, int(partition))] = int(offset)
    with open_client(bootstrap_server) as client:
        if everything:
            view = client.run(client.cluster.discover([topic]))
            before = {TopicPartition(topic, p.index): -1 for p in view.topic(topic).partitions}
        results = client.run(client.admin.delete_records(before))
    if as_json:
        print_json(
            [
                {
                    "topic": tp.topic,
                    "partition": tp.partition,
                    "earliest": None if isinstance(found, OttlaError) else found,
                    "error": explained(found) if isinstance(found, OttlaError) else None,
                }
                for tp, found in sorted(results.items(), key=lambda item: item[0])
            ]
        )
    failed = 0
    for tp, found in sorted(results.items(), key=lambda item: item[0]):
        if isinstance(found, OttlaError):
            failed += 1
            complain(f"{tp}: {explained(found)}")
        elif not as_json:
            click.echo(f"{tp} now begins at offset {found}")
    return 1 if failed else 0


def explained(error: OttlaError) -> str:
    """The error; the answer has no room for a message, and a policy's violation alone says nothing."""
    from ottla.client.errors import ServerError
    from ottla.model.errors import ErrorCode

    if isinstance(error, ServerError) and error.code == ErrorCode.POLICY_VIOLATION:
        return "the topic is compacted: records are deleted only with cleanup.policy=delete or compact,delete"
    return error.message if isinstance(error, ServerError) else str(error)
