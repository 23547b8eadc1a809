"""Counts what was searched for: the most frequent keywords of each category of users."""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime

from keyword_message import KeywordDecoder

import ottla


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap-server", default="localhost:9092")
    parser.add_argument("--topic", default="searches")
    parser.add_argument(
        "--since", type=datetime.fromisoformat, help="only searches after this time (ISO 8601)"
    )
    parser.add_argument("--top", type=int, default=3, help="how many keywords of each category")
    options = parser.parse_args()
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for category, keyword in searches(options.bootstrap_server, options.topic, options.since):
        counts[category][keyword] += 1
    for category, keywords in sorted(counts.items()):
        most = ", ".join(f"{keyword} ({count})" for keyword, count in keywords.most_common(options.top))
        print(f"{category}: {most}")
    return 0


def searches(server: str, topic: str, since: datetime | None) -> Iterator[tuple[str, str]]:
    """(category, keyword) of everything that is in the topic now; nobody else's reading is disturbed."""
    with ottla.Consumer(
        bootstrap_servers=server, key_deserializer="string", value_deserializer=KeywordDecoder()
    ) as consumer:
        partitions = [ottla.TopicPartition(topic, each.index) for each in consumer.partitions_for(topic)]
        consumer.assign(partitions)
        consumer.seek_to_beginning()
        if since is not None:  # the broker finds the first record of that time: nothing before it is read
            times = dict.fromkeys(partitions, int(since.timestamp() * 1000))
            for tp, found in consumer.offsets_for_times(times).items():
                if found is not None:
                    consumer.seek(tp, found.offset)
                else:
                    consumer.seek_to_end(tp)
        ends = consumer.end_offsets(partitions)
        while any(consumer.position(tp) < end for tp, end in ends.items()):
            for record in consumer.poll(timeout=1.0):
                yield record.key, record.value.keyword


if __name__ == "__main__":
    sys.exit(main())
