"""The loop that both consumer commands share: poll, format, write, until somebody has had enough."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, Final

if TYPE_CHECKING:
    import ottla
    from ottla.client.records import ConsumerRecord

POLL_S: Final = 0.5
POLL_S_AT_END: Final = 0.02
"""How often to look whether the end is reached, where that is wanted."""

CONSUMER_CONFIG: Final[dict[str, Any]] = {
    "default.api.timeout.ms": 30_000,  # a person waits at the terminal
    "max.poll.records": 5_000,  # many lines in one write
}
EXIT_AT_END_CONFIG: Final[dict[str, Any]] = {"fetch.max.wait.ms": 20}
"""A broker holds a fetch at the end of the log back for this time, in case that more comes."""


def open_consumer(config: Mapping[str, Any]) -> ottla.Consumer:
    import ottla
    from ottla.cli.session import only_failures_logged

    only_failures_logged()
    return ottla.Consumer(config=config)


class Printed:
    """How many records were printed: known also when Ctrl-C ends the loop."""

    def __init__(self) -> None:
        self.count = 0


def print_records(
    consumer: ottla.Consumer,
    shape: Callable[[ConsumerRecord], bytes],
    out: BinaryIO,
    *,
    count_max: int | None = None,
    timeout_ms: int | None = None,
    ended: Callable[[], bool] | None = None,
    printed: Printed | None = None,
) -> Printed:
    """Prints records as they come. What a poll brought is written and flushed before the next one; `ended`
    is asked after each whether that was all.
    """
    printed = printed or Printed()
    quiet_since = time.monotonic()
    while count_max is None or printed.count < count_max:
        wait_s = POLL_S if ended is None else POLL_S_AT_END
        if timeout_ms is not None:
            left_s = timeout_ms / 1000 - (time.monotonic() - quiet_since)
            if left_s <= 0:
                break
            wait_s = min(wait_s, left_s)
        # Not more than may be printed: what is polled counts as read.
        records = consumer.poll(wait_s, None if count_max is None else count_max - printed.count)
        if records:
            out.write(b"".join([shape(record) for record in records]))
            out.flush()
            printed.count += len(records)
            quiet_since = time.monotonic()
        if ended is not None and ended():
            break
    return printed
