"""Reading as a member of a consumer group: the loop that `ottla consume --group` and Kafka's console consumer
share.

A poll commits what earlier ones gave, and closing commits what the last one gave; everything a poll gave is
printed, and flushed, before the next call. So what was printed is what is committed. Ctrl-C wakes the
consumer, which only a poll notices, before it takes anything: nothing lies between the two; then the offsets
are committed and the group is left, which hands the partitions on at once. A second Ctrl-C ends it without.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO, Final

from ottla.cli.reading import Printed, print_records

if TYPE_CHECKING:
    import ottla
    from ottla.client.records import ConsumerRecord

EMPTY_HANDED_S: Final = 5.0
"""With --exit: how long a member without partitions waits whether it gets some from the others."""


def print_group_records(
    consumer: ottla.Consumer,
    shape: Callable[[ConsumerRecord], bytes],
    out: BinaryIO,
    *,
    count_max: int | None = None,
    exit_at_end: bool = False,
    timeout_ms: int | None = None,
    printed: Printed | None = None,
) -> int:
    """Prints records as they come and leaves the group at the end; gives the exit code."""
    from ottla.cli.interrupt import Interruptible
    from ottla.cli.main import EXIT_FAILURE, complain
    from ottla.client.errors import WokenUp

    # Leaving the block closes the consumer; an exception out of printing makes it forget the last records.
    with Interruptible(consumer.wakeup) as signals, consumer, suppress(WokenUp):
        print_records(
            consumer,
            shape,
            out,
            count_max=count_max,
            timeout_ms=timeout_ms,
            ended=_End(consumer) if exit_at_end else None,
            printed=printed,
        )
    if consumer.commit_error is not None:
        complain(
            "the last records will be delivered again: their offsets were not committed: "
            f"{consumer.commit_error}"
        )
        return EXIT_FAILURE
    return signals.exit_code


class _End:
    """Whether a member has read all of its share. Without a share it waits a while for one."""

    def __init__(self, consumer: ottla.Consumer) -> None:
        self._consumer = consumer
        self._empty_since: float | None = None

    def __call__(self) -> bool:
        if not self._consumer.at_end():
            self._empty_since = None
            return False
        if self._consumer.assignment():
            return True
        now = time.monotonic()
        self._empty_since = self._empty_since or now
        return now - self._empty_since > EMPTY_HANDED_S
