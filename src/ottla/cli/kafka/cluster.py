"""`kafka-cluster.sh`: the cluster's id and its endpoints."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.cli.kafka.arguments import Arguments, open_client


def run(args: Sequence[str]) -> int:
    parser = Arguments(
        "kafka-cluster.sh",
        "Show the cluster's id and its brokers.",
        epilog="example: kafka-cluster.sh cluster-id --bootstrap-server localhost:9092",
    )
    commands = parser.add_commands()
    for name, text in (("cluster-id", "print the cluster's id"), ("list-endpoints", "print the brokers")):
        command = commands.add_parser(name, help=text)
        command.add_argument("--bootstrap-server", "-b", required=True, metavar="HOST:PORT,...")
        command.add_argument("--config", "-c", metavar="FILE", help="a properties file for the client")
    options = parser.parse(args)
    from ottla.cli.kafka.arguments import client_properties

    with open_client(
        options.bootstrap_server, client_properties(options.config), client_id="adminclient-1"
    ) as client:
        described = client.run(client.admin.describe_cluster())
    if options.command == "cluster-id":
        print(f"Cluster ID: {described.cluster_id}" if described.cluster_id else "No cluster ID found.")
        return 0
    host_width = max((len(broker.address.host) for broker in described.brokers), default=10)
    rack_width = max((len(broker.rack or " " * 10) for broker in described.brokers), default=10)
    widths = (10, host_width, 10, rack_width, 10, 15)
    rows = [("ID", "HOST", "PORT", "RACK", "STATE", "ENDPOINT_TYPE")]
    rows += [
        (
            str(broker.node_id),
            broker.address.host,
            str(broker.address.port),
            broker.rack or "null",
            "fenced" if broker.fenced else "unfenced",
            "broker",
        )
        for broker in described.brokers
    ]
    for row in rows:
        print(" ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)))
    return 0
