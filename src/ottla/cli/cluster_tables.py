"""What `ottla cluster brokers` and `ottla cluster quorum` show, as documents and as tables. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ottla.cli.table import aligned, bytes_text

if TYPE_CHECKING:
    from ottla.client.admin import ClusterDescription, LogDirDescription, TopicDescription
    from ottla.client.admin_cluster import QuorumDescription


def brokers_document(
    described: ClusterDescription,
    topics: Iterable[TopicDescription],
    log_dirs: Mapping[int, Sequence[LogDirDescription]],
) -> list[dict[str, Any]]:
    """A broker that has replicas and that the cluster does not tell of (any more) is missing: it is "
    "listed."""
    leads: dict[int, int] = {}
    has: dict[int, int] = {}
    in_sync: dict[int, int] = {}
    for topic in topics:
        for p in topic.partitions:
            for counts, nodes in ((leads, (p.leader,)), (has, p.replicas), (in_sync, p.isr)):
                for node in nodes:
                    counts[node] = counts.get(node, 0) + 1
    known = {broker.node_id: broker for broker in described.brokers}
    found = []
    for node in sorted({*known, *has}):
        broker = known.get(node)
        found.append(
            {
                "id": node,
                "host": broker.address.host if broker else None,
                "port": broker.address.port if broker else None,
                "rack": broker.rack if broker else None,
                "state": "missing" if broker is None else "fenced" if broker.fenced else "active",
                "controller": node == described.controller_id,
                "leaders": leads.get(node, 0),
                "replicas": has.get(node, 0),
                "in_sync": in_sync.get(node, 0),
                "log_dirs": [
                    {
                        "path": item.path,
                        "error": str(item.error) if item.error else None,
                        "size_bytes": sum(p.size_bytes for p in item.partitions),
                        "usable_bytes": item.usable_bytes,
                    }
                    for item in log_dirs.get(node, [])
                ],
            }
        )
    return found


def brokers_text(document: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        (
            broker["id"],
            f"{broker['host']}:{broker['port']}" if broker["host"] else "-",
            broker["rack"] or "-",
            broker["state"],
            broker["leaders"],
            broker["replicas"],
            broker["in_sync"],
            "; ".join(
                f"{item['path']} ({item['error'] or bytes_text(item['size_bytes'])})"
                for item in broker["log_dirs"]
            )
            or "-",
        )
        for broker in document
    ]
    header = ("broker", "address", "rack", "state", "leads", "replicas", "in sync", "log directories")
    return aligned(header, rows, right=">   >>>")


def quorum_document(quorum: QuorumDescription) -> dict[str, Any]:
    from ottla.model.uuids import uuid_to_text

    end = next((v.log_end_offset for v in quorum.voters if v.replica_id == quorum.leader_id), -1)
    nodes = []
    for replicas, role in ((quorum.voters, "voter"), (quorum.observers, "observer")):
        for replica in replicas:
            known = replica.log_end_offset >= 0 and end >= 0
            nodes.append(
                {
                    "id": replica.replica_id,
                    "role": "leader" if role == "voter" and replica.replica_id == quorum.leader_id else role,
                    "directory_id": uuid_to_text(replica.directory_id),
                    "log_end_offset": replica.log_end_offset,
                    "lag": max(0, end - replica.log_end_offset) if known else None,
                    "last_fetch_ms": replica.last_fetch_ms,
                    "last_caught_up_ms": replica.last_caught_up_ms,
                    "endpoints": [
                        {"name": e.name, "host": e.host, "port": e.port}
                        for e in quorum.nodes.get(replica.replica_id, ())
                    ],
                }
            )
    return {
        "leader": quorum.leader_id,
        "epoch": quorum.leader_epoch,
        "high_watermark": quorum.high_watermark,
        "nodes": nodes,
    }


def quorum_text(document: Mapping[str, Any], now_ms: int) -> str:
    def ago(at_ms: int | None) -> str:
        return "-" if at_ms is None else f"{max(0, now_ms - at_ms) / 1_000:.1f} s ago"

    rows = [
        (
            node["id"],
            node["role"],
            node["log_end_offset"],
            "-" if node["lag"] is None else node["lag"],
            ago(node["last_fetch_ms"]),
            ago(node["last_caught_up_ms"]),
            node["directory_id"],
            ", ".join(f"{e['host']}:{e['port']}" for e in node["endpoints"]) or "-",
        )
        for node in document["nodes"]
    ]
    header = ("node", "role", "log end", "lag", "last contact", "caught up", "directory", "endpoints")
    head = (
        f"leader {document['leader'] if document['leader'] >= 0 else 'none'}  epoch {document['epoch']}  "
        f"high watermark {document['high_watermark']}"
    )
    return f"{head}\n\n{aligned(header, rows, right='> >>>>')}"
