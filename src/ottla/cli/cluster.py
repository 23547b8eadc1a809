"""`ottla cluster`: who is there, which features are in force, and how full the disks are."""

from __future__ import annotations

from typing import Any

import click

from ottla.cli.session import bootstrap_option, json_option, open_client, print_json


@click.command(
    epilog="""\b
Example:
  ottla cluster --bootstrap-server localhost:9092"""
)
@json_option
@bootstrap_option
def cluster(as_json: bool, bootstrap_server: str) -> None:
    """Show the cluster: its id, controller, brokers, features and log directories."""
    with open_client(bootstrap_server) as client:
        described = client.run(client.admin.describe_cluster())
        features, epoch = client.run(client.admin.describe_features())
        log_dirs = client.run(client.admin.describe_log_dirs()).all()
    document: dict[str, Any] = {
        "cluster_id": described.cluster_id,
        "controller": described.controller_id,
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
        click.echo(cluster_text(document))


def cluster_text(document: dict[str, Any]) -> str:
    from ottla.cli.table import aligned, bytes_text

    lines = [f"cluster {document['cluster_id']}  controller {document['controller']}", ""]
    rows = [
        (
            broker["id"],
            f"{broker['host']}:{broker['port']}",
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
