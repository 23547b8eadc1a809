"""`kafka-delete-records.sh`: delete the records before given offsets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ottla.cli.kafka.arguments import Arguments, UsageError, connect
from ottla.model.types import TopicPartition


def run(args: Sequence[str]) -> int:
    parser = Arguments(
        "kafka-delete-records.sh",
        "Delete the records of partitions up to given offsets.",
        epilog='the file: {"partitions": [{"topic": "events", "partition": 0, "offset": 100}], "version": 1}',
    )
    parser.add_bootstrap()
    parser.add_argument("--offset-json-file", required=True, metavar="FILE", help="which offsets")
    options = parser.parse(args)
    try:
        with open(options.offset_json_file, encoding="utf-8") as file:
            before = parse_offsets(json.load(file))
    except ValueError as error:
        raise UsageError(f"{options.offset_json_file}: {error}") from None
    with connect(options) as client:
        print("Executing records delete operation")
        results = client.run(client.admin.delete_records(before))
    print("Records delete operation completed:")
    failed = False
    for tp, result in sorted(results.items()):
        if result.error is None:
            print(f"partition: {tp}\tlow_watermark: {result.offset}")
        else:
            failed = True
            print(f"partition: {tp}\terror: {result.error}")
    return 1 if failed else 0


def parse_offsets(document: Any) -> dict[TopicPartition, int]:
    """Raises ValueError where the document is not of the shape that the help shows."""
    if not isinstance(document, dict) or document.get("version", 1) != 1:
        raise ValueError("expected an object of version 1")
    items = document.get("partitions")
    if not isinstance(items, list):
        raise ValueError('"partitions" is not a list')
    found: dict[TopicPartition, int] = {}
    for item in items:
        fields = item if isinstance(item, dict) else {}
        topic, partition, offset = fields.get("topic"), fields.get("partition"), fields.get("offset")
        if not isinstance(topic, str) or not isinstance(partition, int) or not isinstance(offset, int):
            raise ValueError(f"expected topic, partition and offset, found {json.dumps(item)}")
        tp = TopicPartition(topic, partition)
        if tp in found:
            raise ValueError(f"partition {tp} is there twice")
        found[tp] = offset
    return found
