"""`suppress(until_time_limit)`: of the updates of a key, the newest, so long after the first one was held
back.

Time is the stream's, as in Kafka Streams: the limit runs from the timestamp of the first update, and ends
when the stream's time has come so far. A later update of the same key takes its place without a new limit.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ottla.streams.lowering import keyed
from ottla.streams.lowering.frames import Frame
from ottla.streams.plan import SuppressTime

if TYPE_CHECKING:
    from pyspark.sql import Row

    from ottla.streams.lowering.query import Lowering


def lower(node: SuppressTime, inputs: tuple[Frame, ...], context: Lowering) -> Frame:
    return keyed.transform(inputs, SuppressProcessor(node.wait_ms), node, watermark_ms=0, null_values=True)


class SuppressProcessor(keyed.KeyedProcessor):
    def __init__(self, wait_ms: int) -> None:
        self._wait_ms = wait_ms

    def on_records(self, key: Any, records: list[keyed.Record], clock: keyed.Clock) -> Iterable[Row]:
        held = self.load()
        due_ms = records[0][keyed.TIME_MS] + self._wait_ms if held is None else held[0]
        last = records[-1]
        if due_ms <= clock.watermark_ms:  # an old update: its time is over already
            self.save(None)
            yield self.shape.row(key, last[keyed.VALUE], last[keyed.TIME_MS])
            return
        if held is None:
            self.set_timer(due_ms)
        self.save((due_ms, last[keyed.TIME_MS], last[keyed.VALUE]))

    def on_timer(self, key: Any, time_ms: int, clock: keyed.Clock) -> Iterable[Row]:
        held = self.load()
        if held is not None:
            self.save(None)
            _, timestamp_ms, value = held
            yield self.shape.row(key, value, timestamp_ms)
