"""What `ottla txn` shows: documents for JSON, and the tables made of them. Unknown figures are `-`
(null)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ottla.cli.duration import duration_text
from ottla.cli.group_tables import partitions_text, shown
from ottla.cli.table import aligned

if TYPE_CHECKING:
    from ottla.client.errors import OttlaError
    from ottla.client.transaction_views import (
        OpenTransaction,
        ProducerState,
        TransactionDescription,
        TransactionListing,
    )
    from ottla.model.types import TopicPartition


def listing_document(
    found: Sequence[TransactionListing],
    described: Mapping[str, TransactionDescription | OttlaError],
    now_ms: int,
) -> list[dict[str, Any]]:
    return [
        {
            "transactional_id": t.transactional_id,
            "state": t.state,
            "producer_id": t.producer_id,
            "coordinator": t.coordinator_id,
            "duration_ms": _open_for_ms(described.get(t.transactional_id), now_ms),
        }
        for t in sorted(found)
    ]


def _open_for_ms(item: TransactionDescription | OttlaError | None, now_ms: int) -> int | None:
    """None for a transaction that is not open (any more), or that could not be described."""
    if item is None or isinstance(item, Exception) or not item.is_open or not item.start_time_ms:
        return None
    return now_ms - item.start_time_ms


def listing_text(document: list[dict[str, Any]]) -> str:
    if not document:
        return "no transactions"
    rows = [
        (
            t["transactional_id"],
            t["state"],
            t["producer_id"],
            t["coordinator"],
            shown(None if t["duration_ms"] is None else duration_text(t["duration_ms"])),
        )
        for t in document
    ]
    header = ("transactional id", "state", "producer id", "coordinator", "open for")
    return aligned(header, rows, right="  >>>")


def description_document(item: TransactionDescription, now_ms: int) -> dict[str, Any]:
    return {
        "transactional_id": item.transactional_id,
        "state": item.state,
        "producer_id": item.producer_id,
        "producer_epoch": item.producer_epoch,
        "timeout_ms": item.timeout_ms,
        "start_time_ms": item.start_time_ms,
        "duration_ms": _open_for_ms(item, now_ms),
        "coordinator": {
            "id": item.coordinator_id,
            "address": str(item.coordinator) if item.coordinator else None,
        },
        "partitions": [{"topic": tp.topic, "partition": tp.partition} for tp in item.partitions],
    }


def descriptions_text(documents: list[dict[str, Any]]) -> str:
    texts = []
    for t in documents:
        coordinator = t["coordinator"]
        head = (
            f"transactional id {t['transactional_id']}  {t['state']}  producer {t['producer_id']} epoch "
            f"{t['producer_epoch']}  timeout {duration_text(t['timeout_ms'])}  "
            f"coordinator {shown(coordinator['address'])} ({coordinator['id']})"
        )
        if t["duration_ms"] is not None:
            head += f"  open for {duration_text(t['duration_ms'])}"
        where = partitions_text((p["topic"], p["partition"]) for p in t["partitions"])
        texts.append(f"{head}\n  partitions {where}")
    return "\n\n".join(texts)


def producers_document(tp: TopicPartition, states: Sequence[ProducerState]) -> dict[str, Any]:
    return {
        "topic": tp.topic,
        "partition": tp.partition,
        "producers": [
            {
                "producer_id": s.producer_id,
                "producer_epoch": s.producer_epoch,
                "coordinator_epoch": s.coordinator_epoch,
                "last_sequence": s.last_sequence if s.last_sequence >= 0 else None,
                "last_timestamp_ms": s.last_timestamp_ms if s.last_timestamp_ms >= 0 else None,
                "txn_start_offset": s.txn_start_offset,
            }
            for s in sorted(states)
        ],
    }


PRODUCER_COLUMNS = (
    ("producer id", "producer_id"),
    ("epoch", "producer_epoch"),
    ("coordinator epoch", "coordinator_epoch"),
    ("last sequence", "last_sequence"),
    ("last timestamp", "last_timestamp_ms"),
    ("transaction from", "txn_start_offset"),
)


def producers_text(documents: list[dict[str, Any]]) -> str:
    rows = [
        (d["topic"], d["partition"], *(shown(p[key]) for _, key in PRODUCER_COLUMNS))
        for d in documents
        for p in d["producers"]
    ]
    if not rows:
        return "no producers"
    header = ("topic", "partition", *(name for name, _ in PRODUCER_COLUMNS))
    return aligned(header, rows, right=" >>>>>>>")


def hanging_document(found: Sequence[OpenTransaction], now_ms: int) -> list[dict[str, Any]]:
    return [
        {
            "topic": item.topic_partition.topic,
            "partition": item.topic_partition.partition,
            "producer_id": item.producer.producer_id,
            "producer_epoch": item.producer.producer_epoch,
            "coordinator_epoch": item.producer.coordinator_epoch,
            "start_offset": item.producer.txn_start_offset,
            "last_timestamp_ms": item.producer.last_timestamp_ms,
            "idle_ms": now_ms - item.producer.last_timestamp_ms,
        }
        for item in found
    ]


def hanging_text(document: list[dict[str, Any]]) -> str:
    if not document:
        return "no hanging transactions"
    rows = [
        (
            t["topic"],
            t["partition"],
            t["start_offset"],
            t["producer_id"],
            t["producer_epoch"],
            shown(t["coordinator_epoch"]),
            duration_text(t["idle_ms"]),
        )
        for t in document
    ]
    header = ("topic", "partition", "start offset", "producer id", "epoch", "coordinator epoch", "idle for")
    return aligned(header, rows, right=" >>>>>>")
