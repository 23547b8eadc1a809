"""`kafka-get-offsets.sh`: offsets of partitions, at the ends or by time."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ottla.cli.kafka.arguments import Arguments, UsageError, connect
from ottla.cli.kafka.topic_filter import TopicFilter
from ottla.client.admin import EARLIEST, LATEST, MAX_TIMESTAMP
from ottla.client.errors import OttlaError, ServerError
from ottla.model.types import TopicPartition

if TYPE_CHECKING:
    from ottla.client.view import ClusterView

TIMES = {
    "latest": LATEST,
    "earliest": EARLIEST,
    "max-timestamp": MAX_TIMESTAMP,
    "earliest-local": -4,
    "latest-tiered": -5,
}

_RULE = re.compile(r"([^:,]*)(?::(?:([0-9]+)|([0-9]+)-([0-9]*)|-([0-9]+))?)?\Z")


def run(args: Sequence[str]) -> int:
    parser = Arguments(
        "kafka-get-offsets.sh",
        "Print offsets of partitions as topic:partition:offset.",
        epilog="example: kafka-get-offsets.sh --bootstrap-server localhost:9092 --topic events --time latest",
    )
    parser.add_bootstrap()
    parser.add_argument("--broker-list", help=argparse.SUPPRESS)
    parser.add_argument("--topic", help="topics, as a regular expression")
    parser.add_argument("--partitions", metavar="N,N", help="only these partitions")
    parser.add_argument("--topic-partitions", metavar="T:P,...", help="patterns like events:0, events:0-3")
    parser.add_argument("--time", default="latest", help=f"a timestamp in ms, or one of {', '.join(TIMES)}")
    parser.add_argument("--exclude-internal-topics", action="store_true", help="leave out internal topics")
    options = parser.parse(args)
    if options.topic_partitions and (options.topic or options.partitions):
        raise UsageError("--topic-partitions cannot be used with --topic or --partitions")
    time = parse_time(options.time)
    wanted = partition_filter(options)
    with connect(options) as client:
        client.run(client.cluster.discover(None))
        partitions = selected(client.cluster.view, wanted, exclude_internal=options.exclude_internal_topics)
        if not partitions:
            raise UsageError("Could not match any topic-partitions with the specified filters")
        results = client.run(client.admin.list_offsets_once(dict.fromkeys(partitions, time)))
    failed = 0
    for tp, result in sorted(results.items(), key=lambda item: item[0]):
        if isinstance(result, OttlaError):
            failed = 1
            print(f"Skip getting offsets for topic-partition {tp} due to error: {plain(result)}")
        elif result.offset >= 0:
            print(f"{tp.topic}:{tp.partition}:{result.offset}")
    return failed


def plain(error: OttlaError) -> str:
    """The error without the partition's name, which the line has already."""
    return error.message if isinstance(error, ServerError) else str(error)


def parse_time(text: str) -> int:
    if text in TIMES:
        return TIMES[text]
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"--time {text}: expected a timestamp in ms, or one of {', '.join(TIMES)}") from None


def partition_filter(options: argparse.Namespace) -> Callable[[str, int], bool]:
    if options.topic_partitions:
        rules = [partition_rule(item) for item in options.topic_partitions.split(",")]
        return lambda topic, partition: any(rule(topic, partition) for rule in rules)
    topics = TopicFilter(options.topic or ".*")
    if not options.partitions:
        return lambda topic, partition: topics.matches(topic)
    try:
        numbers = {int(text) for text in options.partitions.split(",")}
    except ValueError:
        raise UsageError(f"--partitions {options.partitions}: expected numbers") from None
    return lambda topic, partition: topics.matches(topic) and partition in numbers


def partition_rule(text: str) -> Callable[[str, int], bool]:
    """`topic`, `topic:3`, `topic:1-4`, `topic:2-`, `topic:-3` (the upper bound is not included)."""
    match = _RULE.match(text)
    if match is None:
        raise UsageError(f"{text} is not a topic-partition pattern")
    topics = TopicFilter(match[1] or ".*")
    if match[2] is not None:
        low, high = int(match[2]), int(match[2]) + 1
    else:
        low = int(match[3] or 0)
        high = int(match[4] or match[5] or 1 << 31)
    return lambda topic, partition: topics.matches(topic) and low <= partition < high


def selected(
    view: ClusterView, wanted: Callable[[str, int], bool], *, exclude_internal: bool
) -> list[TopicPartition]:
    return [
        TopicPartition(name, p.index)
        for name, topic in sorted(view.topics.items())
        for p in topic.partitions
        if wanted(name, p.index) and not (exclude_internal and topic.internal)
    ]
