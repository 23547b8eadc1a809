"""A task: one range of offsets of one partition, fetched and decoded into Arrow batches as Spark wants them.

The broker's batches are decoded in C straight into the buffers of Arrow arrays, a fetch ahead of Spark; no
Python object is made for a record. Markers of transactions, aborted records and what compaction took leave
gaps: a range yields as many rows as there are in it.

Where the beginning of a range is gone (retention was faster than the reader), `loss` decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import InputPartition

from ottla.client.consuming.arrow import ArrowForm
from ottla.client.errors import OffsetOutOfRange, UnknownTopicId, UnknownTopicOrPartition
from ottla.pipelines import connections
from ottla.pipelines.source import loss
from ottla.pipelines.source.ranges import OffsetRange

if TYPE_CHECKING:
    from ottla.client.sync.simple_consumer import SimpleConsumer
    from ottla.pipelines.options import SourceOptions

ROWS_MAX: Final = 50_000
"""Of a batch: more gains nothing, and would take memory on both sides of the socket."""
FETCH_BYTES: Final = 4_194_304
BATCH_BYTES_MAX: Final = 33_554_432
"""Of a batch: what was fetched compressed may be a hundred times as large, and the JVM holds it whole."""
OUT_OF_RANGE_MAX: Final = 10
"""So often a range may be out of range while it is read, before it is somebody's fault."""


class RangePartition(InputPartition):
    """What Spark sends to a task."""

    def __init__(self, wanted: OffsetRange) -> None:
        super().__init__(wanted)
        self.wanted = wanted

    def __repr__(self) -> str:
        return f"RangePartition({self.wanted})"


def pieces(batch: Any) -> Iterator[Any]:
    """A record batch cut into such as Spark's side takes well; without copying."""
    count = batch.num_rows
    rows = min(count, ROWS_MAX, max(1, BATCH_BYTES_MAX * count // max(1, batch.nbytes)))
    if rows == count:
        yield batch
        return
    for at in range(0, count, rows):
        yield batch.slice(at, rows)


@dataclass(frozen=True, slots=True)
class RangeTask:
    """How ranges are read: what a reader hands to its tasks, and nothing of the driver's."""

    settings: tuple[tuple[str, str], ...] = field(repr=False)
    columns: tuple[str, ...]
    fail_on_data_loss: bool

    @classmethod
    def of(cls, options: SourceOptions) -> RangeTask:
        return cls(options.settings, options.columns, options.fail_on_data_loss)

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """The rows of a range as record batches. (Spark makes up a partition where there are no ranges.)"""
        if isinstance(partition, RangePartition):
            yield from self._read(partition.wanted)

    def _read(self, wanted: OffsetRange) -> Iterator[Any]:
        settings = dict(self.settings)
        consumer = connections.simple_consumer(settings)
        form = ArrowForm.for_spark(self.columns)
        max_bytes = int(settings.get("max.partition.fetch.bytes", FETCH_BYTES))
        (topic, partition), start = wanted.tp, wanted.start
        refusals = 0
        while start < wanted.end:
            batches = consumer.read_range(
                topic, partition, start, wanted.end, max_bytes=max_bytes, form=form, topic_id=wanted.topic_id
            )
            try:
                for batch in batches:
                    yield from pieces(batch)
                return
            except OffsetOutOfRange:
                refusals += 1
                if refusals > OUT_OF_RANGE_MAX:
                    raise
                start = self._skip(consumer, wanted, batches.next_offset)
            except (UnknownTopicOrPartition, UnknownTopicId) as error:
                self._lost(f"{wanted.tp}: the topic was deleted while {wanted} was read ({error})")
                return
            finally:
                batches.close()

    def _skip(self, consumer: SimpleConsumer, wanted: OffsetRange, start: int) -> int:
        """Where to go on after OFFSET_OUT_OF_RANGE, which says only that something is gone."""
        earliest = consumer.earliest(*wanted.tp)
        latest = consumer.latest(*wanted.tp)
        if earliest <= start <= latest:
            return start  # a leader that has just taken over may not know yet how far the others are
        self._lost(
            f"{wanted.tp}: offsets {wanted.start} to {wanted.end - 1} are wanted, and {earliest} to "
            f"{latest - 1} are there"
        )
        # Behind the end: the topic is a new one, and none of it is what was wanted.
        return earliest if earliest > start else wanted.end

    def _lost(self, what: str) -> None:
        loss.report(what, fail=self.fail_on_data_loss)
