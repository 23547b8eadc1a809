"""`kafka-metadata-quorum.sh`: describe the quorum of controllers, add and remove its voters."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ottla.cli.kafka.arguments import Arguments, UsageError, connect
from ottla.model.uuids import is_reserved, uuid_from_text, uuid_to_text

if TYPE_CHECKING:
    from ottla.client.admin_cluster import QuorumDescription, QuorumReplica, RaftEndpoint
    from ottla.client.blocking import Client

NO_DIRECTORY = bytes(16)


def arguments() -> Arguments:
    parser = Arguments(
        "kafka-metadata-quorum.sh",
        "Describe and change the quorum of controllers.",
        epilog="example: kafka-metadata-quorum.sh --bootstrap-server localhost:9092 describe --status",
    )
    parser.add_bootstrap_or_controller()
    commands = parser.add_commands()
    describe = commands.add_parser("describe", help="show the quorum")
    describe.add_argument("--status", action="store_true", help="a summary")
    describe.add_argument("--replication", action="store_true", help="how far each replica is")
    describe.add_argument("--human-readable", action="store_true", help="times as how long ago")
    add = commands.add_parser("add-controller", help="make the controller of --command-config a voter")
    add.add_argument("--dry-run", action="store_true", help="only show what would be done")
    remove = commands.add_parser("remove-controller", help="take a voter out of the quorum")
    remove.add_argument("--controller-id", "-i", type=int, required=True, metavar="ID")
    remove.add_argument("--controller-directory-id", "-d", required=True, metavar="UUID")
    remove.add_argument("--dry-run", action="store_true", help="only show what would be done")
    return parser


def run(args: Sequence[str]) -> int:
    options = arguments().parse(args)
    if options.command == "describe":
        if options.status and options.replication:
            raise UsageError(
                "Only one of --status or --replication should be specified with describe sub-command"
            )
        if options.human_readable and not options.replication:
            raise UsageError("The option --human-readable is only supported along with --replication")
        if not (options.status or options.replication):
            raise UsageError("One of --status or --replication must be specified with describe sub-command")
        with connect(options) as client:
            if options.status:
                described = client.run(client.admin.describe_cluster())
                quorum = client.run(client.admin.describe_metadata_quorum())
                print(status_text(described.cluster_id, quorum))
            else:
                quorum = client.run(client.admin.describe_metadata_quorum())
                now_ms = int(time.time() * 1_000) if options.human_readable else None
                print(replication_text(quorum, now_ms))
        return 0
    if options.command == "add-controller":
        return add_controller(options)
    return remove_controller(options)


# -- describe


def status_text(cluster_id: str, quorum: QuorumDescription) -> str:
    leader = next((voter for voter in quorum.voters if voter.replica_id == quorum.leader_id), None)
    end = leader.log_end_offset if leader else 0
    followers = [voter for voter in quorum.voters if voter is not leader]
    furthest = min(followers, key=lambda voter: voter.log_end_offset, default=None)
    lag = 0 if furthest is None else end - furthest.log_end_offset
    caught_up = [voter.last_caught_up_ms for voter in followers]
    lag_ms = 0
    if followers:
        known = [at for at in caught_up if at is not None]
        ours = leader.last_caught_up_ms if leader else None
        lag_ms = -1 if ours is None or len(known) < len(followers) else max(0, ours - min(known))
    with_endpoints = bool(quorum.nodes)
    return "\n".join(
        [
            f"ClusterId:              {cluster_id}",
            f"LeaderId:               {quorum.leader_id}",
            f"LeaderEpoch:            {quorum.leader_epoch}",
            f"HighWatermark:          {quorum.high_watermark}",
            f"MaxFollowerLag:         {lag}",
            f"MaxFollowerLagTimeMs:   {lag_ms}",
            f"CurrentVoters:          {nodes_text(quorum.voters, quorum.nodes if with_endpoints else {})}",
            f"CurrentObservers:       {nodes_text(quorum.observers, {})}",
        ]
    )


def nodes_text(replicas: Sequence[QuorumReplica], endpoints: Mapping[int, Sequence[RaftEndpoint]]) -> str:
    """Kafka's list of nodes, which is not quite JSON's: blanks after colons and commas."""
    shown = []
    for replica in replicas:
        parts = [f'"id": {replica.replica_id}']
        if replica.directory_id == NO_DIRECTORY:
            parts.append('"directoryId": null')
        else:
            parts.append(f'"directoryId": "{uuid_to_text(replica.directory_id)}"')
        if endpoints.get(replica.replica_id):
            listed = ", ".join(f'"{endpoint_text(e)}"' for e in endpoints[replica.replica_id])
            parts.append(f'"endpoints": [{listed}]')
        shown.append("{" + ", ".join(parts) + "}")
    return "[" + ", ".join(shown) + "]"


def endpoint_text(endpoint: RaftEndpoint) -> str:
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    return f"{endpoint.name}://{host}:{endpoint.port}"


HEADER = (
    "NodeId",
    "DirectoryId",
    "LogEndOffset",
    "Lag",
    "LastFetchTimestamp",
    "LastCaughtUpTimestamp",
    "Status",
)


def replication_text(quorum: QuorumDescription, now_ms: int | None) -> str:
    """Columns with tabs; the leader first. `now_ms` turns times into how long ago."""
    leader = [voter for voter in quorum.voters if voter.replica_id == quorum.leader_id]
    end = leader[0].log_end_offset if leader else 0
    rows: list[Sequence[str]] = [HEADER]
    followers = [voter for voter in quorum.voters if voter.replica_id != quorum.leader_id]
    groups = (("Leader", leader), ("Follower", followers), ("Observer", quorum.observers))
    for status, replicas in groups:
        for replica in replicas:
            rows.append(
                (
                    str(replica.replica_id),
                    uuid_to_text(replica.directory_id),
                    str(replica.log_end_offset),
                    str(end - replica.log_end_offset),
                    time_text(replica.last_fetch_ms, now_ms),
                    time_text(replica.last_caught_up_ms, now_ms),
                    status,
                )
            )
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEADER))]
    lines = ["".join(f"{cell:<{width}}\t" for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(lines)


def time_text(at_ms: int | None, now_ms: int | None) -> str:
    if at_ms is None:
        return "-1"
    return str(at_ms) if now_ms is None else f"{now_ms - at_ms} ms ago"


# -- change


class ControllerFile(NamedTuple):
    """What a controller's properties and its metadata directory say of it."""

    node_id: int
    directory_id: bytes
    endpoints: tuple[RaftEndpoint, ...]


def add_controller(options: argparse.Namespace) -> int:
    from ottla.cli.server_properties import load_properties

    if options.command_config is None:
        raise UsageError(
            "You must supply the configuration file of the controller you are adding when using "
            "add-controller."
        )
    controller = controller_file(load_properties(options.command_config))
    if not options.dry_run:
        with connect(options) as client:
            add_voter(client, controller)
    endpoints = ", ".join(endpoint_text(each) for each in controller.endpoints)
    print(
        f"{'DRY RUN of adding' if options.dry_run else 'Added'} controller {controller.node_id} with "
        f"directory id {uuid_to_text(controller.directory_id)} and endpoints: {endpoints}"
    )
    return 0


def add_voter(client: Client, controller: ControllerFile) -> None:
    client.run(client.admin.add_raft_voter(controller.node_id, controller.directory_id, controller.endpoints))


def controller_file(pairs: Mapping[str, str]) -> ControllerFile:
    """Raises UsageError, in the words of Kafka's tool, for what is no controller's configuration."""
    from ottla.client.admin_cluster import RaftEndpoint
    from ottla.log.meta_properties import BadMetaProperties, read_meta_properties
    from ottla.net.disk import OsDisk

    valid = "Is this a valid controller configuration file?"
    node_id = pairs.get("node.id", "").strip()
    if not node_id:
        raise UsageError(f"node.id not found in configuration file. {valid}")
    if not node_id.isdecimal():
        raise UsageError(f"node.id was negative in configuration file. {valid}")
    if "controller" not in [role.strip() for role in pairs.get("process.roles", "").split(",")]:
        raise UsageError(f"process.roles did not contain 'controller' in configuration file. {valid}")
    directory = pairs.get("metadata.log.dir") or pairs.get("log.dirs", pairs.get("log.dir", "")).split(",")[0]
    if not directory.strip():
        raise UsageError(f"Neither metadata.log.dir nor log.dirs were found. {valid}")
    directory = directory.strip()
    try:
        meta = read_meta_properties(OsDisk(), directory)
    except BadMetaProperties as error:
        raise UsageError(str(error)) from None
    if meta is None:
        raise UsageError(f"Unable to read meta.properties from {directory}: is it formatted?")
    if meta.directory_id is None or is_reserved(meta.directory_id):
        raise UsageError(f"No directory id found in {directory}")
    names = [n.strip().upper() for n in pairs.get("controller.listener.names", "").split(",") if n.strip()]
    if not names:
        raise UsageError(f"controller.listener.names was not found. {valid}")
    addresses: dict[str, tuple[str, int]] = {}
    for key in ("listeners", "advertised.listeners"):  # what is advertised is what others can reach
        for text in pairs.get(key, "").split(","):
            name, _, address = text.strip().partition("://")
            host, _, port = address.rpartition(":")
            if name and port.isdecimal():
                host = host.removeprefix("[").removesuffix("]")
                addresses[name.upper()] = (
                    host if host not in ("", "0.0.0.0", "::") else "localhost",
                    int(port),
                )
    for name in names:
        if name not in addresses:
            raise UsageError(f"Cannot find information about controller listener name: {name}")
    endpoints = tuple(RaftEndpoint(name, *addresses[name]) for name in names)
    return ControllerFile(int(node_id), meta.directory_id, endpoints)


def remove_controller(options: argparse.Namespace) -> int:
    if options.controller_id < 0:
        raise UsageError(f"Invalid negative --controller-id: {options.controller_id}")
    try:
        directory_id = uuid_from_text(options.controller_directory_id)
    except ValueError as error:
        raise UsageError(f"Failed to parse --controller-directory-id: {error}") from None
    if not options.dry_run:
        with connect(options) as client:
            client.run(client.admin.remove_raft_voter(options.controller_id, directory_id))
    # Two blanks, as the tool's two sentences share one pattern.
    verb = "DRY RUN of removing " if options.dry_run else "Removed "
    print(
        f"{verb} KRaft controller {options.controller_id} with directory id {options.controller_directory_id}"
    )
    return 0
