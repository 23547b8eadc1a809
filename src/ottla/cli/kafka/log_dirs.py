"""`kafka-log-dirs.sh`: what the brokers' log directories hold, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ottla.cli.kafka.arguments import Arguments, UsageError, connect

if TYPE_CHECKING:
    from ottla.client.admin import LogDirDescription


def run(args: Sequence[str]) -> int:
    parser = Arguments(
        "kafka-log-dirs.sh",
        "Show how much the brokers' log directories hold.",
        epilog="example: kafka-log-dirs.sh --describe --bootstrap-server localhost:9092 --topic-list events",
    )
    parser.add_bootstrap()
    parser.add_argument("--describe", action="store_true", required=True, help="describe the log directories")
    parser.add_argument("--topic-list", metavar="T,T", help="only these topics")
    parser.add_argument("--broker-list", metavar="ID,ID", help="only these brokers")
    options = parser.parse(args)
    topics = [name for name in (options.topic_list or "").split(",") if name]
    with connect(options) as client:
        known = set(client.run(client.cluster.discover(())).brokers)
        wanted = sorted(known)
        if options.broker_list:
            try:
                wanted = sorted({int(text) for text in options.broker_list.split(",") if text.strip()})
            except ValueError:
                raise UsageError(f"--broker-list {options.broker_list}: expected broker ids") from None
        if not set(wanted) <= known:
            missing = ",".join(str(node) for node in sorted(set(wanted) - known))
            raise UsageError(f"--broker-list: there is no broker {missing}")
        print("Querying brokers for log directories information")
        found = client.run(client.admin.describe_log_dirs(wanted)).all()
    print(f"Received log directory information from brokers {','.join(str(node) for node in wanted)}")
    print(json.dumps(document(found, topics), separators=(",", ":")))
    return 0


def document(found: Mapping[int, Sequence[LogDirDescription]], topics: Sequence[str]) -> dict[str, Any]:
    return {
        "brokers": [
            {
                "broker": node_id,
                "logDirs": [
                    {
                        "partitions": [
                            {
                                "partition": str(p.topic_partition),
                                "size": p.size_bytes,
                                "offsetLag": p.offset_lag,
                                "isFuture": p.is_future,
                            }
                            for p in item.partitions
                            if not topics or p.topic_partition.topic in topics
                        ],
                        "error": None if item.error is None else item.error.code.name,
                        "logDir": item.path,
                    }
                    for item in items
                ],
            }
            for node_id, items in found.items()
        ],
        "version": 1,
    }
