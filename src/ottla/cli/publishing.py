"""The loop that both producer commands share: lines in, records out, nothing lost on Ctrl-C.

Lines are gathered while they come faster than they can be sent, and sent at once when the input pauses, so a
person who types sees each line published and a file goes in large batches.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ottla.cli.interrupt import Interrupted, Interruptible
from ottla.cli.record_input import InputError, LineParser, LineReader

if TYPE_CHECKING:
    import ottla
    from ottla.client.blocking import Client

PROGRESS_INTERVAL_S = 0.2

BATCH_AGE_MS_MAX = 100.0
"""A batch leaves after this time even when the input never pauses."""

NEW_TOPIC_TIMEOUT_MS = 10_000
"""How long a topic that the cluster is asked to create on first use may take to appear."""


class Progress:
    """A line on stderr that says how far a file has been read. Silent where nobody looks."""

    def __init__(self, total_bytes: int, *, shown: bool) -> None:
        self._total_bytes = total_bytes
        self._shown = shown and total_bytes > 0
        self._next = 0.0
        self._width = 0

    def update(self, read_bytes: int, published: int) -> None:
        now = time.monotonic()
        if self._shown and now >= self._next:
            self._next = now + PROGRESS_INTERVAL_S
            text = f"{100 * read_bytes // self._total_bytes:3d} %  {published:,} records published"
            self._width = max(self._width, len(text))
            print(f"\r{text.ljust(self._width)}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self._width:
            print("\r" + " " * self._width + "\r", end="", file=sys.stderr, flush=True)


class Deliveries:
    """What became of the records that were sent: the `on_delivery` of all of them."""

    def __init__(self) -> None:
        self.sent = 0
        self.delivered = 0
        self._failed = 0
        self._failure: Exception | None = None

    def __call__(self, metadata: ottla.RecordMetadata | None, error: Exception | None) -> None:
        if error is None:
            self.delivered += 1
        else:
            self._failed += 1
            self._failure = self._failure or error

    @property
    def pending(self) -> int:
        return self.sent - self.delivered - self._failed

    def check(self) -> None:
        """Raises what kept the first record from being stored."""
        if self._failure is not None:
            raise self._failure


def prepare_topic(client: Client, topic: str, partition: int | None = None) -> None:
    """Makes sure that the topic is there, and the partition; where the cluster allows it, this creates it.

    A producer would wait `max.block.ms` for somebody to create it, which is a long time at a terminal.
    """
    client.run(
        client.cluster.discover(
            [topic],
            create_missing=True,
            timeout_ms=NEW_TOPIC_TIMEOUT_MS,
            worth=lambda error: error.retriable,
        )
    )
    if partition is not None:
        client.cluster.view.partition(topic, partition)


@contextmanager
def open_producer(config: Mapping[str, Any]) -> Iterator[ottla.Producer]:
    """A producer that is closed with everything sent; at once after the second Ctrl-C."""
    import ottla
    from ottla.cli.session import only_failures_logged

    only_failures_logged()
    producer = ottla.Producer(config=config)
    try:
        yield producer
    except KeyboardInterrupt:
        producer.close(timeout=0)
        raise
    finally:
        producer.close()


def publish_lines(
    producer: ottla.Producer,
    topic: str,
    reader: LineReader,
    parse: LineParser,
    deliveries: Deliveries,
    *,
    linger_ms: float,
    progress: Progress | None = None,
    prompt: Callable[[], None] | None = None,
    on_bad_line: Callable[[InputError], None] | None = None,
) -> int:
    """Publishes every line until the input ends or a signal comes; gives the exit code.

    A line that is not a record raises InputError after everything before it is published, unless
    `on_bad_line` takes it.
    """
    number = 0
    with Interruptible() as interruptible:
        try:
            while True:
                if prompt is not None:
                    prompt()
                with interruptible.waiting():
                    ready = reader.wait(linger_ms if deliveries.pending else None, interruptible.wakeup_fd)
                if not ready:
                    producer.flush()
                    deliveries.check()
                    continue
                lines = reader.read()
                if lines is None:
                    break
                for line in lines:
                    number += 1
                    try:
                        record = parse(line, number)
                    except InputError as error:
                        if on_bad_line is None:
                            raise
                        on_bad_line(error)
                        continue
                    producer.send(
                        topic,
                        record.value,
                        record.key,
                        headers=record.headers or None,
                        partition=record.partition,
                        timestamp=record.timestamp_ms,
                        on_delivery=deliveries,
                    )
                    deliveries.sent += 1
                deliveries.check()
                if progress is not None:
                    progress.update(reader.bytes_read, deliveries.delivered)
        except Interrupted:
            pass
        finally:
            if progress is not None:
                progress.clear()
            if sys.exc_info()[0] in (None, InputError):
                producer.close()  # sends the rest, and has told of every record when it returns
        deliveries.check()
        return interruptible.exit_code
