"""The loop that both producer commands share: lines in, records out, nothing lost on Ctrl-C.

Lines are gathered while they come faster than they can be sent, and sent at once when the input pauses, so a
person who types sees each line published and a file goes in large batches.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ottla.cli.interrupt import Interrupted, Interruptible
from ottla.cli.record_input import InputError, LineParser, LineReader

if TYPE_CHECKING:
    from ottla.client.blocking import Client
    from ottla.client.producer import Producer

PROGRESS_INTERVAL_S = 0.2

BATCH_AGE_MS_MAX = 100.0
"""A batch leaves after this time even when the input never pauses."""


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


def publish_lines(
    client: Client,
    producer: Producer,
    topic: str,
    reader: LineReader,
    parse: LineParser,
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
                    ready = reader.wait(
                        linger_ms if producer.waiting_count else None, interruptible.wakeup_fd
                    )
                if not ready:
                    client.run(producer.flush())
                    continue
                lines = reader.read()
                if lines is None:
                    break
                for line in lines:
                    number += 1
                    try:
                        producer.add(topic, parse(line, number))
                    except InputError as error:
                        if on_bad_line is None:
                            raise
                        on_bad_line(error)
                if producer.should_send:
                    client.run(producer.send())
                if progress is not None:
                    progress.update(reader.bytes_read, producer.delivered_count)
        except Interrupted:
            pass
        finally:
            if progress is not None:
                progress.clear()
            if sys.exc_info()[0] in (None, InputError):
                client.run(producer.flush())
        return interruptible.exit_code
