"""Reading as a member of a consumer group: the loop that `ottla consume --group` and Kafka's console consumer
share.

What was printed, and flushed, is marked; what is marked is committed. Ctrl-C interrupts only waits, so
nothing lies between the two; then the offsets are committed and the group is left, which hands the partitions
on at once. A second Ctrl-C ends it without.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, BinaryIO, Final

from ottla.cli.reading import POLL_MS, Printed

if TYPE_CHECKING:
    from ottla.client.blocking import Client
    from ottla.client.blocking_group import BlockingGroupConsumer
    from ottla.client.errors import OttlaError
    from ottla.client.records import ConsumedRecord

EMPTY_HANDED_S: Final = 5.0
"""With --exit: how long a member without partitions waits whether it gets some from the others."""


def print_group_records(
    client: Client,
    consumer: BlockingGroupConsumer,
    shape: Callable[[ConsumedRecord], bytes],
    out: BinaryIO,
    *,
    count_max: int | None = None,
    exit_at_end: bool = False,
    timeout_ms: int | None = None,
    printed: Printed | None = None,
) -> int:
    """Prints records as they come and leaves the group at the end; gives the exit code."""
    from ottla.cli.interrupt import Interrupted, Interruptible
    from ottla.cli.main import EXIT_FAILURE, complain

    printed = printed or Printed()
    failure: OttlaError | None = None
    with Interruptible() as signals:
        client.network.waiting = signals.waiting
        try:
            _print(consumer, shape, out, printed, count_max, exit_at_end, timeout_ms)
        except Interrupted:
            consumer.interrupted()
        except Exception:
            client.network.waiting = nullcontext
            consumer.interrupted()
            consumer.close()
            raise
        client.network.waiting = nullcontext
        failure = consumer.close()
    if failure is not None:
        complain(f"the last records will be delivered again: their offsets were not committed: {failure}")
        return EXIT_FAILURE
    return signals.exit_code


def _print(
    consumer: BlockingGroupConsumer,
    shape: Callable[[ConsumedRecord], bytes],
    out: BinaryIO,
    printed: Printed,
    count_max: int | None,
    exit_at_end: bool,
    timeout_ms: int | None,
) -> None:
    quiet_since = time.monotonic()
    empty_since: float | None = None
    while count_max is None or printed.count < count_max:
        wait_ms = POLL_MS
        if timeout_ms is not None:
            left_ms = timeout_ms - (time.monotonic() - quiet_since) * 1000
            if left_ms <= 0:
                return
            wait_ms = max(1, min(wait_ms, int(left_ms)))
        hurry = exit_at_end and consumer.joined and bool(consumer.core.assignment)
        records = consumer.poll(1 if hurry else wait_ms)
        if records:
            if count_max is not None:
                del records[count_max - printed.count :]
            out.write(b"".join([shape(record) for record in records]))
            out.flush()
            consumer.mark(records)
            printed.count += len(records)
            quiet_since = time.monotonic()
        if exit_at_end and consumer.at_end:
            if consumer.core.assignment:
                return
            empty_since = empty_since or time.monotonic()
            if time.monotonic() - empty_since > EMPTY_HANDED_S:
                return
        else:
            empty_since = None
