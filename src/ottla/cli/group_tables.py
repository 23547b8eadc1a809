"""What `ottla group` shows: documents for JSON, and the tables made of them. Unknown figures are `-`
(null)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ottla.cli.table import aligned

if TYPE_CHECKING:
    from ottla.client.group_lag import GroupLag
    from ottla.client.group_views import GroupDescription, GroupListing
    from ottla.model.types import TopicPartition


def shown(value: object) -> str:
    return "-" if value is None or value == "" else str(value)


def listing_document(groups: Sequence[GroupListing]) -> list[dict[str, Any]]:
    return [
        {
            "group": g.group_id,
            "type": g.type.lower() or None,
            "state": g.state or None,
            "protocol_type": g.protocol_type or None,
        }
        for g in groups
    ]


def listing_text(document: list[dict[str, Any]]) -> str:
    if not document:
        return "no groups"
    rows = [(g["group"], shown(g["type"]), shown(g["state"]), shown(g["protocol_type"])) for g in document]
    return aligned(("group", "type", "state", "protocol type"), rows)


def partitions_text(partitions: Iterable[tuple[str, int]]) -> str:
    """`clicks:0,1 orders:3`, or `-`."""
    by_topic: dict[str, list[int]] = {}
    for topic, index in sorted(partitions):
        by_topic.setdefault(topic, []).append(index)
    return " ".join(f"{topic}:{','.join(map(str, indexes))}" for topic, indexes in by_topic.items()) or "-"


def _head(group: GroupDescription) -> dict[str, Any]:
    return {
        "group": group.group_id,
        "type": group.type,
        "state": group.state,
        "assignor": group.assignor or None,
        "coordinator": {
            "id": group.coordinator_id,
            "address": str(group.coordinator) if group.coordinator else None,
        },
        "epoch": group.group_epoch,
        "target_epoch": group.assignment_epoch,
    }


def _head_line(document: dict[str, Any], members: int) -> str:
    coordinator = document["coordinator"]
    line = (
        f"group {document['group']}  {document['type']}  {document['state']}  members {members}  "
        f"assignor {shown(document['assignor'])}  "
        f"coordinator {shown(coordinator['address'])} ({coordinator['id']})"
    )
    if document["epoch"] is not None:
        line += f"  epoch {document['epoch']}"
    return line


def lag_document(item: GroupLag) -> dict[str, Any]:
    return {
        **_head(item.group),
        "members": len(item.group.members),
        "lag": item.total,
        "partitions": [
            {
                "topic": row.topic_partition.topic,
                "partition": row.topic_partition.partition,
                "committed": row.committed.offset if row.committed else None,
                "metadata": row.committed.metadata if row.committed else None,
                "end": row.end,
                "lag": row.lag,
                "member": row.member.member_id if row.member else None,
                "instance": row.member.instance_id if row.member else None,
                "client": row.member.client_id if row.member else None,
                "host": row.member.host if row.member else None,
            }
            for row in item.partitions
        ],
    }


def lags_text(documents: list[dict[str, Any]]) -> str:
    return "\n\n".join(lag_text(document) for document in documents) or "no groups"


def lag_text(document: dict[str, Any]) -> str:
    head = _head_line(document, document["members"])
    rows: list[tuple[object, ...]] = [
        (
            p["topic"],
            p["partition"],
            shown(p["committed"]),
            shown(p["end"]),
            shown(p["lag"]),
            shown(p["member"]),
            shown(p["client"]),
            shown(p["host"]).removeprefix("/"),
        )
        for p in document["partitions"]
    ]
    if not rows:
        return f"{head}\n  nothing is committed or assigned"
    rows.append(("total", len(rows), "", "", shown(document["lag"]), "", "", ""))
    header = ("topic", "partition", "committed", "end", "lag", "member", "client", "host")
    return f"{head}\n{aligned(header, rows, right=' >>>>')}"


def members_document(group: GroupDescription) -> dict[str, Any]:
    def listed(partitions: Iterable[TopicPartition]) -> list[dict[str, Any]]:
        return [{"topic": tp.topic, "partition": tp.partition} for tp in partitions]

    return {
        **_head(group),
        "members": [
            {
                "member": m.member_id,
                "instance": m.instance_id,
                "client": m.client_id,
                "host": m.host,
                "rack": m.rack_id,
                "epoch": m.epoch,
                "protocol": None if m.is_classic is None else "classic" if m.is_classic else "consumer",
                "subscribed": list(m.subscribed_topics),
                "regex": m.subscribed_regex,
                "assignment": listed(m.assignment),
                "target": None if m.target_assignment is None else listed(m.target_assignment),
            }
            for m in group.members
        ],
    }


def members_text(documents: list[dict[str, Any]]) -> str:
    def partitions(listed: list[dict[str, Any]] | None) -> str:
        return partitions_text((p["topic"], p["partition"]) for p in listed or ())

    texts = []
    for document in documents:
        head = _head_line(document, len(document["members"]))
        rows = []
        for m in document["members"]:
            moving = m["target"] is not None and m["target"] != m["assignment"]
            rows.append(
                (
                    m["member"],
                    shown(m["instance"]),
                    shown(m["client"]),
                    shown(m["host"]).removeprefix("/"),
                    shown(m["epoch"]),
                    len(m["assignment"]),
                    partitions(m["assignment"]) + (f" -> {partitions(m['target'])}" if moving else ""),
                )
            )
        header = ("member", "instance", "client", "host", "epoch", "partitions", "assignment")
        texts.append(f"{head}\n{aligned(header, rows, right='    >>')}" if rows else head)
    return "\n\n".join(texts)
