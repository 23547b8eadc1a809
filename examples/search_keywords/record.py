"""Publishes searches: lines of `category,user,keyword` become messages of a topic.

The category is the key, so it decides the partition; the encoder makes bytes of a search.
"""

from __future__ import annotations

import argparse
import csv
import sys
from datetime import UTC, datetime

from keyword_message import KeywordEncoder, Search, by_category

import ottla

STDIN = 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", help="a CSV file; standard input where none is given")
    parser.add_argument("--bootstrap-server", default="localhost:9092")
    parser.add_argument("--topic", default="searches")
    options = parser.parse_args()
    failed: list[Exception] = []

    def stored(metadata: ottla.RecordMetadata | None, error: Exception | None) -> None:
        if error is not None:
            failed.append(error)

    count = 0
    with (
        open(options.file or STDIN, newline="", encoding="utf-8") as source,
        ottla.Producer(
            bootstrap_servers=options.bootstrap_server,
            value_serializer=KeywordEncoder(),
            partitioner=by_category,
            compression_type="zstd",
        ) as producer,
    ):
        for category, user, keyword in csv.reader(source):
            search = Search(count, user, keyword, datetime.now(UTC))
            producer.send(options.topic, search, key=category, on_delivery=stored)
            count += 1
    # The end of the block has closed the producer: everything was sent, or has failed.
    if failed:
        print(f"{len(failed)} of {count} searches were not stored: {failed[0]}", file=sys.stderr)
        return 1
    print(f"{count} searches recorded in {options.topic}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
