"""`ottla cluster`: whether the cluster is well, who is in it, and the quorum of its controllers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ottla.cli.default_group import DefaultGroup
from ottla.cli.session import bootstrap_option, json_option, open_client, print_json

if TYPE_CHECKING:
    from ottla.cli.partition_health import Counts, Health
    from ottla.client.admin import ClusterDescription, TopicDescription
    from ottla.client.blocking import Client


@click.group(
    cls=DefaultGroup,
    default="status",
    epilog="""\b
Examples:
  ottla cluster
  ottla cluster brokers --json
  ottla cluster quorum""",
)
def cluster() -> None:
    """Show the cluster: whether it is well, its brokers, its quorum. Without a command: the status."""


# -- status


@cluster.command(
    epilog="""\b
Example:
  ottla cluster status --bootstrap-server localhost:9092
  ottla cluster status --quiet || mail -s "look at the cluster" me"""
)
@click.option("-q", "--quiet", is_flag=True, help="Only the line that says how it is.")
@json_option
@bootstrap_option
def status(quiet: bool, as_json: bool, bootstrap_server: str) -> int:
    """Say whether the cluster is well; its id, controller, brokers, features and log directories.

    Exit codes: 0 all is well; 3 all is served, but replicas are missing or a broker is fenced; 4 partitions
    have no leader or too few replicas in sync to be written to; 1 nobody answers.
    """
    with open_client(bootstrap_server) as client:
        described = described_cluster(client)
        controller_id = active_controller(client, described)
        features, epoch = client.run(client.admin.describe_features())
        log_dirs = client.run(client.admin.describe_log_dirs()).succeeded
        counts = counted(client, described)
    document: dict[str, Any] = {
        "status": counts.verdict.name.lower(),
        "summary": counts.sentence,
        "cluster_id": described.cluster_id,
        "controller": controller_id,
        **counts._asdict(),
        "brokers": [
            {
                "id": broker.node_id,
                "host": broker.address.host,
                "port": broker.address.port,
                "rack": broker.rack,
                "fenced": broker.fenced,
                "log_dirs": [
                    {
                        "path": item.path,
                        "error": str(item.error) if item.error else None,
                        "partitions": len(item.partitions),
                        "size_bytes": sum(p.size_bytes for p in item.partitions),
                        "total_bytes": item.total_bytes,
                        "usable_bytes": item.usable_bytes,
                    }
                    for item in log_dirs.get(broker.node_id, [])
                ],
            }
            for broker in described.brokers
        ],
        "features_epoch": epoch,
        "features": [
            {
                "name": feature.name,
                "level": feature.finalized,
                "supported_min": feature.supported_min,
                "supported_max": feature.supported_max,
            }
            for feature in features
        ],
    }
    if as_json:
        print_json(document)
    else:
        click.echo(document["summary"] if quiet else cluster_text(document))
    return counts.verdict.value


def described_cluster(client: Client) -> ClusterDescription:
    """With the fenced brokers, where the cluster is new enough to tell."""
    from ottla.client.errors import ServerError, UnsupportedVersion
    from ottla.model.errors import ErrorCode

    try:
        return client.run(client.admin.describe_cluster(include_fenced_brokers=True))
    except UnsupportedVersion:
        pass
    except ServerError as error:
        if error.code != ErrorCode.UNSUPPORTED_VERSION:
            raise
    return client.run(client.admin.describe_cluster())


def active_controller(client: Client, described: ClusterDescription) -> int:
    """The quorum's leader. (Brokers tell clients of any broker, since each of them forwards.)"""
    from ottla.client.errors import OttlaError

    try:
        return client.run(client.admin.describe_metadata_quorum()).leader_id
    except OttlaError:  # not allowed, or a cluster without a quorum to ask about
        return described.controller_id


def counted(client: Client, described: ClusterDescription) -> Counts:
    from ottla.cli.partition_health import Counts

    topics = client.run(client.admin.describe_topics(None)).succeeded
    live = {broker.node_id for broker in described.brokers if not broker.fenced}
    healths = list(healths_of(client, topics, live).values())
    return Counts.of(len(topics), healths, sum(broker.fenced for broker in described.brokers))


def healths_of(
    client: Client, topics: dict[str, TopicDescription], live: set[int]
) -> dict[tuple[str, int], Health]:
    """How each partition is, with what the topics are configured to and what is being added to them."""
    from ottla.cli.partition_health import min_isr_of, partition_health
    from ottla.client.admin import ConfigResourceType
    from ottla.client.errors import OttlaError
    from ottla.model.types import TopicPartition

    asked = client.admin.describe_configs(
        ConfigResourceType.TOPIC, list(topics), keys=["min.insync.replicas"], synonyms=False
    )
    configs = {
        name: {entry.name: entry.value for entry in entries}
        for name, entries in client.run(asked).succeeded.items()
    }
    try:
        ongoing = client.run(client.admin.list_partition_reassignments())
    except OttlaError:
        ongoing = {}  # who may not ask, or has an old broker, sees what there is without it
    found = {}
    for topic in topics.values():
        min_isr = min_isr_of(configs, topic.name)
        for p in topic.partitions:
            moving = ongoing.get(TopicPartition(topic.name, p.partition))
            adding = moving.adding_replicas if moving else ()
            # As brokers do: with fewer replicas than the minimum, all of them are enough.
            enough = min(min_isr, len(p.replicas) - len(adding))
            found[topic.name, p.partition] = partition_health(p, enough, live, adding)
    return found


def cluster_text(document: dict[str, Any]) -> str:
    from ottla.cli.table import aligned, bytes_text

    lines = [document["summary"]]
    lines += [f"cluster {document['cluster_id']}  controller {document['controller']}", ""]
    rows = [
        (
            broker["id"],
            f"{broker['host']}:{broker['port']}" + (" (fenced)" if broker["fenced"] else ""),
            broker["rack"] or "-",
            item["path"] if item["error"] is None else f"{item['path']} ({item['error']})",
            item["partitions"],
            bytes_text(item["size_bytes"]),
            bytes_text(item["usable_bytes"]) if item["usable_bytes"] >= 0 else "-",
        )
        for broker in document["brokers"]
        for item in broker["log_dirs"]
        or [{"path": "-", "error": None, "partitions": 0, "size_bytes": 0, "usable_bytes": -1}]
    ]
    header = ("broker", "address", "rack", "log directory", "partitions", "used", "free")
    lines.append(aligned(header, rows, right=">   >>>"))
    if document["features"]:
        features = [
            (f["name"], f["level"], f"{f['supported_min']} to {f['supported_max']}")
            for f in document["features"]
        ]
        lines += ["", aligned(("feature", "level", "supported"), features, right=" >")]
    return "\n".join(lines)


# -- brokers


@cluster.command(
    epilog="""\b
Example:
  ottla cluster brokers"""
)
@json_option
@bootstrap_option
def brokers(as_json: bool, bootstrap_server: str) -> None:
    """List the brokers: address, rack, state, how many partitions each leads, has, and has in sync."""
    from ottla.cli.cluster_tables import brokers_document, brokers_text

    with open_client(bootstrap_server) as client:
        described = described_cluster(client)
        topics = client.run(client.admin.describe_topics(None)).succeeded
        log_dirs = client.run(client.admin.describe_log_dirs()).succeeded
    document = brokers_document(described, topics.values(), log_dirs)
    if as_json:
        print_json(document)
    else:
        click.echo(brokers_text(document))


@cluster.command(
    epilog="""\b
Example:
  ottla cluster unregister 4"""
)
@click.argument("broker_id", type=click.IntRange(0), metavar="ID")
@bootstrap_option
def unregister(broker_id: int, bootstrap_server: str) -> None:
    """Forget a broker that will not come back. It has to be stopped, and without replicas.

    Move its replicas away first: ottla reassign plan --remove-broker ID.
    """
    with open_client(bootstrap_server) as client:
        client.run(client.admin.unregister_broker(broker_id))
    click.echo(f"broker {broker_id} is no longer registered")


# -- the quorum


@cluster.group(
    cls=DefaultGroup,
    default="show",
    epilog="""\b
Examples:
  ottla cluster quorum
  ottla cluster quorum add --config controller-4.properties
  ottla cluster quorum remove 1""",
)
def quorum() -> None:
    """Show and change the quorum of controllers. Without a command: show it."""


controller_option = click.option(
    "--bootstrap-controller", metavar="HOST:PORT,...", help="Ask these controllers instead of brokers."
)


def open_either(bootstrap_server: str, bootstrap_controller: str | None) -> Client:
    if bootstrap_controller is None:
        return open_client(bootstrap_server)
    return open_client(bootstrap_controller, of_controllers=True)


@quorum.command(
    epilog="""\b
Example:
  ottla cluster quorum show --json"""
)
@json_option
@controller_option
@bootstrap_option
def show(as_json: bool, bootstrap_controller: str | None, bootstrap_server: str) -> None:
    """Show the quorum: leader, epoch, high watermark, and how far each voter and observer is."""
    import time

    from ottla.cli.cluster_tables import quorum_document, quorum_text

    with open_either(bootstrap_server, bootstrap_controller) as client:
        found = client.run(client.admin.describe_metadata_quorum())
    document = quorum_document(found)
    if as_json:
        print_json(document)
    else:
        click.echo(quorum_text(document, int(time.time() * 1_000)))


@quorum.command(
    epilog="""\b
Example:
  ottla cluster quorum add --config controller-4.properties"""
)
@click.option(
    "-c", "--config", "path", required=True, metavar="FILE", help="The new controller's server.properties."
)
@controller_option
@bootstrap_option
def add(path: str, bootstrap_controller: str | None, bootstrap_server: str) -> None:
    """Make a running controller, which observes until now, a voter.

    Its id, listeners and metadata directory are read from its properties: run this on its machine.
    """
    from ottla.cli.kafka.arguments import UsageError
    from ottla.cli.kafka.metadata_quorum import add_voter, controller_file, endpoint_text
    from ottla.cli.server_properties import load_properties

    try:
        controller = controller_file(load_properties(path))
    except UsageError as error:
        raise click.ClickException(f"{path}: {error}") from None
    with open_either(bootstrap_server, bootstrap_controller) as client:
        add_voter(client, controller)
    where = ", ".join(endpoint_text(endpoint) for endpoint in controller.endpoints)
    click.echo(f"controller {controller.node_id} at {where} is a voter now")


@quorum.command(
    epilog="""\b
Example:
  ottla cluster quorum remove 1"""
)
@click.argument("controller_id", type=click.IntRange(0), metavar="ID")
@click.option(
    "--directory-id", metavar="UUID", help="Which of its directories; needed only if there are several."
)
@controller_option
@bootstrap_option
def remove(
    controller_id: int, directory_id: str | None, bootstrap_controller: str | None, bootstrap_server: str
) -> None:
    """Take a voter out of the quorum, running or not. The others go on without it."""
    from ottla.model.uuids import uuid_from_text, uuid_to_text

    with open_either(bootstrap_server, bootstrap_controller) as client:
        if directory_id is None:
            voters = client.run(client.admin.describe_metadata_quorum()).voters
            found = [voter.directory_id for voter in voters if voter.replica_id == controller_id]
            if not found:
                known = ", ".join(str(voter.replica_id) for voter in voters)
                raise click.ClickException(f"controller {controller_id} is not a voter (voters: {known})")
            if len(found) > 1:
                several = ", ".join(uuid_to_text(each) for each in found)
                raise click.ClickException(
                    f"controller {controller_id} votes with several directories: choose one with "
                    f"--directory-id ({several})"
                )
            wanted = found[0]
        else:
            try:
                wanted = uuid_from_text(directory_id)
            except ValueError as error:
                raise click.UsageError(f"--directory-id {directory_id}: {error}") from None
        client.run(client.admin.remove_raft_voter(controller_id, wanted))
    click.echo(f"controller {controller_id} is no voter any more")
