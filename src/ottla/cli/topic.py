"""`ottla topic`: create, list, describe, alter and delete topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ottla.cli.session import bootstrap_option, json_option, key_values, open_client, print_json

if TYPE_CHECKING:
    from ottla.client.admin import CreatedTopic, OffsetResult, TopicDescription
    from ottla.client.admin_partitions import PartitionReassignment
    from ottla.client.blocking import Client
    from ottla.client.errors import OttlaError
    from ottla.model.errors import ErrorCode


@click.group(
    epilog="""\b
Examples:
  ottla topic create clicks --partitions 6
  ottla topic describe clicks"""
)
def topic() -> None:
    """Create, list, describe, alter and delete topics."""


@topic.command(
    epilog="""\b
Example:
  ottla topic create clicks --partitions 6 --config retention.ms=86400000"""
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "-p", "--partitions", type=click.IntRange(1), help="How many partitions (default: num.partitions)."
)
@click.option("-r", "--replication-factor", type=click.IntRange(1), help="How many replicas of each.")
@click.option("-c", "--config", "configs", multiple=True, metavar="KEY=VALUE", help="A topic configuration.")
@click.option(
    "--assignment",
    metavar="ID:ID,ID:ID,...",
    help="Which brokers hold each partition, instead of the two counts: 1:2,2:3 is two partitions.",
)
@click.option("--if-not-exists", is_flag=True, help="A topic that is already there is no error.")
@click.option("--validate-only", is_flag=True, help="Only check whether it could be created.")
@bootstrap_option
def create(
    names: tuple[str, ...],
    partitions: int | None,
    replication_factor: int | None,
    configs: tuple[str, ...],
    assignment: str | None,
    if_not_exists: bool,
    validate_only: bool,
    bootstrap_server: str,
) -> int:
    """Create topics."""
    from ottla.client.admin import NewTopic
    from ottla.client.errors import OttlaError
    from ottla.model.errors import ErrorCode

    settings = key_values(configs, "--config")
    assignments = parse_assignment(assignment) if assignment is not None else {}
    if assignments and (partitions is not None or replication_factor is not None):
        raise click.UsageError(
            "--assignment says both counts: leave out --partitions and --replication-factor"
        )
    new = [
        NewTopic(name, partitions or -1, replication_factor or -1, assignments, settings) for name in names
    ]
    with open_client(bootstrap_server) as client:
        results = client.run(client.admin.create_topics(new, validate_only=validate_only))
    failed = 0
    for name, outcome in results.items():
        if not isinstance(outcome, OttlaError):
            verb = "could create" if validate_only else "created"
            click.echo(f"{verb} topic {name}{_counts(outcome)}")
        elif is_code(outcome, ErrorCode.TOPIC_ALREADY_EXISTS) and if_not_exists:
            click.echo(f"topic {name} exists")
        else:
            failed += report(name, outcome)
    return 1 if failed else 0


def _counts(result: CreatedTopic) -> str:
    if result.partitions < 0:  # brokers older than Kafka 2.4 do not say
        return ""
    plural = "" if result.partitions == 1 else "s"
    return f" ({result.partitions} partition{plural}, replication factor {result.replication_factor})"


def is_code(error: OttlaError, code: ErrorCode) -> bool:
    from ottla.client.errors import ServerError

    return isinstance(error, ServerError) and error.code == code


def report(name: str, error: OttlaError) -> int:
    """Prints what went wrong with one topic of several."""
    from ottla.cli.main import complain

    message = str(error)
    complain(message if name in message else f"topic {name}: {message}")
    return 1


def parse_assignment(text: str) -> dict[int, list[int]]:
    """Kafka's notation: partitions separated by commas, replicas by colons."""
    found = {}
    for index, item in enumerate(text.split(",")):
        try:
            found[index] = [int(node) for node in item.split(":")]
        except ValueError:
            raise click.UsageError(
                f"{item!r} is not a list of brokers: write their ids with colons between, like 1:2"
            ) from None
    return found


@topic.command(
    "list",
    epilog="""\b
Example:
  ottla topic list --internal""",
)
@click.option("--internal", is_flag=True, help="Also the cluster's own topics.")
@json_option
@bootstrap_option
def list_topics(internal: bool, as_json: bool, bootstrap_server: str) -> None:
    """List the names of all topics."""
    with open_client(bootstrap_server) as client:
        names = client.run(client.admin.list_topics())
        topics = client.cluster.view.topics
    shown = [name for name in names if internal or not topics[name].internal]
    if as_json:
        print_json(shown)
    else:
        for name in shown:
            click.echo(name)


@topic.command(
    epilog="""\b
Examples:
  ottla topic describe clicks
  ottla topic describe --under-replicated"""
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--under-replicated", is_flag=True, help="Only partitions with a replica out of sync.")
@click.option("--at-min-isr", is_flag=True, help="Only partitions with just min.insync.replicas in sync.")
@click.option("--under-min-isr", is_flag=True, help="Only partitions with too few in sync to be written to.")
@click.option("--unavailable", is_flag=True, help="Only partitions without a leader.")
@json_option
@bootstrap_option
def describe(
    names: tuple[str, ...],
    under_replicated: bool,
    at_min_isr: bool,
    under_min_isr: bool,
    unavailable: bool,
    as_json: bool,
    bootstrap_server: str,
) -> None:
    """Describe topics (all, without a name): partitions, leaders, replicas, offsets, configurations.

    Replicas in brackets are on their way in (+) or out (-). Eligible leaders are replicas that left the ISR
    when it was smaller than min.insync.replicas: they have every committed record, too.
    """
    from ottla.client.admin import EARLIEST, LATEST, ConfigResourceType
    from ottla.client.errors import OttlaError
    from ottla.model.types import TopicPartition

    asked = (under_replicated, at_min_isr, under_min_isr, unavailable)
    with open_client(bootstrap_server) as client:
        described = client.run(client.admin.describe_topics(names or None)).all()
        if any(asked):
            described = only_those(client, described, asked)
        configs = client.run(client.admin.describe_configs(ConfigResourceType.TOPIC, list(described))).all()
        led = [
            TopicPartition(item.name, p.partition)
            for item in described.values()
            for p in item.partitions
            if p.has_leader
        ]
        first = client.run(client.admin.list_offsets_once(dict.fromkeys(led, EARLIEST)))
        last = client.run(client.admin.list_offsets_once(dict.fromkeys(led, LATEST)))
        try:
            ongoing = client.run(client.admin.list_partition_reassignments())
        except OttlaError:
            ongoing = {}  # an old broker, or nothing that this client may see
    documents = [
        topic_document(
            item,
            {entry.name: entry.value for entry in configs.get(item.name, ()) if not entry.is_default},
            {tp.partition: (at(first[tp]), at(last[tp])) for tp in led if tp.topic == item.name},
            {tp.partition: moving for tp, moving in ongoing.items() if tp.topic == item.name},
        )
        for item in described.values()
    ]
    if as_json:
        print_json(documents)
    elif documents:
        click.echo("\n\n".join(topic_text(document) for document in documents))
    elif any(asked):
        click.echo("no such partitions", err=True)


def only_those(
    client: Client, described: dict[str, TopicDescription], asked: tuple[bool, ...]
) -> dict[str, TopicDescription]:
    """The topics with those partitions for which one of the questions is answered with yes."""
    from ottla.cli.cluster import healths_of

    live = {broker.node_id for broker in client.run(client.admin.describe_cluster()).brokers}
    healths = healths_of(client, described, live)
    found = {}
    for name, item in described.items():
        partitions = tuple(
            p
            for p in item.partitions
            if any(wanted and holds for wanted, holds in zip(asked, healths[name, p.partition], strict=True))
        )
        if partitions:
            found[name] = item._replace(partitions=partitions)
    return found


def at(found: OffsetResult | OttlaError) -> int:
    """The offset; -1 where the leader could not tell."""
    from ottla.client.admin import OffsetResult

    return found.offset if isinstance(found, OffsetResult) else -1


def topic_document(
    item: TopicDescription,
    configs: dict[str, str | None],
    offsets: dict[int, tuple[int, int]],
    ongoing: dict[int, PartitionReassignment] | None = None,
) -> dict[str, Any]:
    from ottla.model.uuids import uuid_to_text

    ongoing = ongoing or {}
    return {
        "name": item.name,
        "topic_id": uuid_to_text(item.topic_id),
        "internal": item.internal,
        "replication_factor": item.replication_factor,
        "configs": configs,
        "partitions": [
            {
                "partition": p.partition,
                "leader": p.leader if p.has_leader else None,
                "leader_epoch": p.leader_epoch,
                "replicas": list(p.replicas),
                "isr": list(p.isr),
                "offline": list(p.offline),
                "elr": None if p.elr is None else list(p.elr),
                "last_known_elr": None if p.last_known_elr is None else list(p.last_known_elr),
                "adding": list(ongoing[p.partition].adding_replicas) if p.partition in ongoing else [],
                "removing": list(ongoing[p.partition].removing_replicas) if p.partition in ongoing else [],
                "earliest": offsets.get(p.partition, (None, None))[0],
                "latest": offsets.get(p.partition, (None, None))[1],
            }
            for p in item.partitions
        ],
    }


def topic_text(document: dict[str, Any]) -> str:
    from ottla.cli.table import aligned

    def ids(values: list[int] | None) -> str:
        return ",".join(str(value) for value in values or ()) or "-"

    def replicas(p: dict[str, Any]) -> str:
        marks = {**dict.fromkeys(p["adding"], "+"), **dict.fromkeys(p["removing"], "-")}
        return ",".join(f"[{marks[r]}{r}]" if r in marks else str(r) for r in p["replicas"]) or "-"

    partitions = document["partitions"]
    lines = [
        f"topic {document['name']}  id {document['topic_id']}  partitions {len(partitions)}  "
        f"replication factor {document['replication_factor']}"
    ]
    lines += [f"  {key}={value}" for key, value in document["configs"].items()]
    rows = [
        (
            p["partition"],
            "none" if p["leader"] is None else p["leader"],
            replicas(p),
            ids(p["isr"]),
            ids(p["elr"]),
            "-" if p["earliest"] is None else p["earliest"],
            "-" if p["latest"] is None else p["latest"],
        )
        for p in partitions
    ]
    header = ("partition", "leader", "replicas", "in sync", "eligible", "earliest", "latest")
    return "\n".join([*lines, aligned(header, rows, right=">    >>")])


@topic.command(
    epilog="""\b
Example:
  ottla topic alter clicks --partitions 12 --config retention.ms=3600000"""
)
@click.argument("name")
@click.option(
    "-p", "--partitions", type=click.IntRange(1), help="The new number of partitions: more than before."
)
@click.option("-c", "--config", "configs", multiple=True, metavar="KEY=VALUE", help="Set a configuration.")
@click.option("--delete-config", "deleted", multiple=True, metavar="KEY", help="Back to the cluster's value.")
@bootstrap_option
def alter(
    name: str,
    partitions: int | None,
    configs: tuple[str, ...],
    deleted: tuple[str, ...],
    bootstrap_server: str,
) -> int:
    """Add partitions to a topic, or change its configuration."""
    from ottla.client.admin import ConfigChange, ConfigOperation, ConfigResourceType

    settings = key_values(configs, "--config")
    if partitions is None and not settings and not deleted:
        raise click.UsageError("nothing to do: give --partitions, --config or --delete-config")
    with open_client(bootstrap_server) as client:
        client.run(client.cluster.discover([name]))
        if settings or deleted:
            changes = [ConfigChange(key, ConfigOperation.SET, value) for key, value in settings.items()]
            changes += [ConfigChange(key, ConfigOperation.DELETE) for key in deleted]
            client.run(client.admin.alter_configs(ConfigResourceType.TOPIC, name, changes))
            click.echo(f"altered the configuration of topic {name}")
        if partitions is not None:
            error = client.run(client.admin.create_partitions({name: partitions}))[name]
            if error is not None:
                return report(name, error)
            click.echo(f"topic {name} has {partitions} partitions")
    return 0


@topic.command(
    epilog="""\b
Example:
  ottla topic delete clicks"""
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--if-exists", is_flag=True, help="A topic that is not there is no error.")
@bootstrap_option
def delete(names: tuple[str, ...], if_exists: bool, bootstrap_server: str) -> int:
    """Delete topics with all their records."""
    from ottla.model.errors import ErrorCode

    with open_client(bootstrap_server) as client:
        results = client.run(client.admin.delete_topics(names))
    failed = 0
    for name, error in results.items():
        if error is None:
            click.echo(f"deleted topic {name}")
        elif is_code(error, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION) and if_exists:
            click.echo(f"topic {name} does not exist")
        else:
            failed += report(str(name), error)
    return 1 if failed else 0
