"""The loop that both consumer commands share: fetch, format, write, until somebody has had enough."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from ottla.client.blocking import Client
    from ottla.client.fetcher import Fetcher
    from ottla.client.records import ConsumedRecord

POLL_MS = 500


class Printed:
    """How many records were printed: known also when Ctrl-C ends the loop."""

    def __init__(self) -> None:
        self.count = 0


def print_records(
    client: Client,
    fetcher: Fetcher,
    shape: Callable[[ConsumedRecord], bytes],
    out: BinaryIO,
    *,
    count_max: int | None = None,
    exit_at_end: bool = False,
    timeout_ms: int | None = None,
    printed: Printed | None = None,
) -> Printed:
    """Prints records as they come. What a poll brought is written and flushed before the next one."""
    printed = printed or Printed()
    quiet_since = time.monotonic()
    while count_max is None or printed.count < count_max:
        wait_ms = POLL_MS
        if timeout_ms is not None:
            left_ms = timeout_ms - (time.monotonic() - quiet_since) * 1000
            if left_ms <= 0:
                break
            wait_ms = max(1, min(wait_ms, int(left_ms)))
        records = client.run(fetcher.poll(1 if exit_at_end else wait_ms))
        if records:
            if count_max is not None:
                del records[count_max - printed.count :]
            out.write(b"".join([shape(record) for record in records]))
            out.flush()
            printed.count += len(records)
            quiet_since = time.monotonic()
        if exit_at_end and fetcher.at_end:
            break
    return printed
