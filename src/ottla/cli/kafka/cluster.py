"""`kafka-cluster.sh`: the cluster's id and its endpoints, and forgetting a broker."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ottla.cli.kafka.arguments import Arguments, UsageError, client_properties, open_client

if TYPE_CHECKING:
    from ottla.client.admin import BrokerDescription

COMMANDS = (
    ("cluster-id", "print the cluster's id"),
    ("unregister", "forget a broker that will not come back"),
    ("list-endpoints", "print the brokers, or the controllers"),
)


def arguments() -> Arguments:
    parser = Arguments(
        "kafka-cluster.sh",
        "Show the cluster's id and its nodes, forget a broker.",
        epilog="example: kafka-cluster.sh cluster-id --bootstrap-server localhost:9092",
    )
    commands = parser.add_commands()
    for name, text in COMMANDS:
        command = commands.add_parser(name, help=text)
        where = command.add_mutually_exclusive_group(required=True)
        where.add_argument("--bootstrap-server", "-b", metavar="HOST:PORT,...", help="the brokers")
        where.add_argument("--bootstrap-controller", "-C", metavar="HOST:PORT,...", help="or the controllers")
        command.add_argument(
            *("--command-config", "-c", "--config"), metavar="FILE", help="a properties file for the client"
        )
        if name == "unregister":
            command.add_argument("--id", "-i", type=int, required=True, metavar="ID", help="the broker's id")
        if name == "list-endpoints":
            command.add_argument("--include-fenced-brokers", action="store_true", help="also the fenced ones")
    return parser


def run(args: Sequence[str]) -> int:
    options: argparse.Namespace = arguments().parse(args)
    of_controllers = options.bootstrap_controller is not None
    fenced = options.command == "list-endpoints" and options.include_fenced_brokers
    if fenced and of_controllers:
        raise UsageError(
            "The option --include-fenced-brokers is only supported with --bootstrap-server option"
        )
    with open_client(
        options.bootstrap_controller or options.bootstrap_server,
        client_properties(options.command_config),
        client_id="adminclient-1",
        of_controllers=of_controllers,
    ) as client:
        if options.command == "unregister":
            client.run(client.admin.unregister_broker(options.id))
            print(f"Broker {options.id} is no longer registered.")
            return 0
        described = client.run(client.admin.describe_cluster(include_fenced_brokers=fenced))
    if options.command == "cluster-id":
        print(f"Cluster ID: {described.cluster_id}" if described.cluster_id else "No cluster ID found.")
        return 0
    for line in endpoint_lines(described.brokers, of_controllers=of_controllers):
        print(line)
    return 0


def endpoint_lines(nodes: Sequence[BrokerDescription], *, of_controllers: bool) -> list[str]:
    host_width = max((len(node.address.host) for node in nodes), default=10)
    rack_width = max((len(node.rack or " " * 10) for node in nodes), default=10)
    states = [] if of_controllers else ["STATE"]
    rows = [["ID", "HOST", "PORT", "RACK", *states, "ENDPOINT_TYPE"]]
    for node in nodes:
        states = [] if of_controllers else ["fenced" if node.fenced else "unfenced"]
        kind = "controller" if of_controllers else "broker"
        rows.append(
            [str(node.node_id), node.address.host, str(node.address.port), node.rack or "null", *states, kind]
        )
    widths = [10, host_width, 10, rack_width, *([] if of_controllers else [10]), 15]
    return [" ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
