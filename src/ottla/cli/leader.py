"""`ottla leader`: elect the leaders of partitions anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ottla.cli.session import bootstrap_option, json_option, open_client, print_json

if TYPE_CHECKING:
    from ottla.model.types import TopicPartition


@click.group(
    epilog="""\b
Examples:
  ottla leader elect --all
  ottla leader elect --unclean --topic clicks --partition 2"""
)
def leader() -> None:
    """Elect the leaders of partitions anew."""


@leader.command(
    epilog="""\b
Examples:
  ottla leader elect --all
  ottla leader elect --topic clicks
  ottla leader elect --unclean --topic clicks --partition 2"""
)
@click.option("--preferred", is_flag=True, help="The first replica leads, if it is in sync (the default).")
@click.option(
    "--unclean", is_flag=True, help="Where there is no leader, a replica that is not in sync: loses records."
)
@click.option("-t", "--topic", metavar="NAME", help="One topic's partitions.")
@click.option("-p", "--partition", type=click.IntRange(0), multiple=True, help="Only these of the topic.")
@click.option("--all", "everything", is_flag=True, help="Every partition that needs it.")
@json_option
@bootstrap_option
def elect(
    preferred: bool,
    unclean: bool,
    topic: str | None,
    partition: tuple[int, ...],
    everything: bool,
    as_json: bool,
    bootstrap_server: str,
) -> int:
    """Elect leaders: the preferred ones, or any replica where no leader is left.

    An unclean election brings a partition back whose replicas in sync are all lost. What only they had is
    lost with them.
    """
    from ottla.cli.main import complain
    from ottla.client.admin_partitions import ElectionType
    from ottla.client.errors import OttlaError, ServerError
    from ottla.model.errors import ErrorCode
    from ottla.model.types import TopicPartition

    if preferred and unclean:
        raise click.UsageError("--preferred and --unclean exclude each other")
    if everything == (topic is not None):
        raise click.UsageError("say which partitions: --topic NAME (with --partition), or --all")
    if partition and topic is None:
        raise click.UsageError("--partition needs --topic")
    kind = ElectionType.UNCLEAN if unclean else ElectionType.PREFERRED
    with open_client(bootstrap_server) as client:
        chosen: list[TopicPartition] | None = None
        if topic is not None:
            numbers = list(partition)
            if not numbers:
                (described,) = client.run(client.admin.describe_topics([topic])).all().values()
                numbers = [p.partition for p in described.partitions]
            chosen = [TopicPartition(topic, number) for number in numbers]
        results = client.run(client.admin.elect_leaders(kind, chosen))
    failed = 0
    document = []
    for tp, outcome in results.items():
        needless = isinstance(outcome, ServerError) and outcome.code == ErrorCode.ELECTION_NOT_NEEDED
        state = "elected" if outcome is None else "unchanged" if needless else "failed"
        failed += state == "failed"
        error = str(outcome) if state == "failed" else None
        document.append({"topic": tp.topic, "partition": tp.partition, "outcome": state, "error": error})
        if as_json:
            continue
        if isinstance(outcome, OttlaError) and not needless:
            complain(str(outcome) if str(tp) in str(outcome) else f"{tp}: {outcome}")
        else:
            click.echo(f"{tp}: {'has a new leader' if outcome is None else 'the right one leads already'}")
    if as_json:
        print_json(document)
    elif not document:
        click.echo("every partition is led by the right one already")
    return 1 if failed else 0
