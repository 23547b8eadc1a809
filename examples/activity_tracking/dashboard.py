"""What goes on at the website: pages, searches and orders, counted as they happen.

One consumer reads the topics of all activities and deals their partitions to a few threads (streams). Several
dashboards in one group share the work; another group (fraud, recommendations) gets everything as well.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections import Counter

from events import ORDERS, PAGE_VIEWS, SEARCHES

import ottla


class Board:
    """The counts. Streams are read by several threads, so every change holds the lock."""

    def __init__(self, enough: int | None) -> None:
        self.pages: Counter[str] = Counter()
        self.searches: Counter[str] = Counter()
        self.in_vain: Counter[str] = Counter()
        self.orders: Counter[str] = Counter()
        self.visitors: set[str] = set()
        self.events = 0
        self.enough = enough
        self.done = threading.Event()
        self.error: Exception | None = None
        self._lock = threading.Lock()

    def count(self, record: ottla.ConsumerRecord) -> None:
        event = record.value
        with self._lock:
            self.visitors.add(record.key)
            if record.topic == PAGE_VIEWS:
                self.pages[event["page"]] += 1
            elif record.topic == SEARCHES:
                self.searches[event["words"]] += 1
                if not event["found"]:
                    self.in_vain[event["words"]] += 1
            elif record.topic == ORDERS:
                self.orders[event["product"]] += 1
            self.events += 1
            if self.events == self.enough:
                self.done.set()

    def text(self) -> str:
        with self._lock:
            lines = [f"{self.events} events of {len(self.visitors)} visitors"]
            for title, counts in (
                ("pages", self.pages),
                ("searches", self.searches),
                ("found nothing", self.in_vain),
                ("orders", self.orders),
            ):
                most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:5]
                lines.append(f"  {title}: {', '.join(f'{name} {count}' for name, count in most) or '-'}")
        return "\n".join(lines)


def follow(stream: ottla.MessageStream, board: Board) -> None:
    try:
        for record in stream:
            board.count(record)
    except ottla.OttlaError as error:  # a record that is not JSON, a group that refuses us
        board.error = error
        board.done.set()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap-server", default="localhost:9092")
    parser.add_argument("--group", default="dashboard")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--every", type=float, default=5.0, help="seconds between two prints")
    parser.add_argument("--events", type=int, help="stop after so many")
    options = parser.parse_args()
    board = Board(options.events)
    with ottla.Consumer(
        bootstrap_servers=options.bootstrap_server,
        group_id=options.group,
        auto_offset_reset="earliest",
        key_deserializer="string",
        value_deserializer="json",
    ) as consumer:
        consumer.subscribe(ottla.Whitelist(f"{PAGE_VIEWS}|{SEARCHES}|{ORDERS}"))
        threads = [
            threading.Thread(target=follow, args=(stream, board))
            for stream in consumer.streams(options.threads)
        ]
        for thread in threads:
            thread.start()
        try:
            while not board.done.wait(options.every):
                print(board.text(), flush=True)
        except KeyboardInterrupt:
            pass
    for thread in threads:  # closing the consumer has ended the streams
        thread.join()
    print(board.text())
    if board.error is not None:
        print(f"dashboard: {board.error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
