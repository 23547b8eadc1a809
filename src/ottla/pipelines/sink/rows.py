"""Rows of Arrow into topics through a producer, and what was stored where.

Both sinks' tasks use it: small Arrow batches are gathered until they are worth a call, each topic's rows are
sent as one table, and `stored` waits for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ottla.client.errors import InvalidArgument, RecordTooLarge
from ottla.model.types import TopicPartition
from ottla.pipelines.sink.errors import UnwritableRow

if TYPE_CHECKING:
    from ottla.client.producing.columns import BatchFuture
    from ottla.client.sync.producer import Producer

GATHERED_BYTES = 4 * 1024 * 1024
UNCHECKED_MAX = 64
"""How many calls may be under way before the oldest is waited for: bounds what is remembered of them."""


class Stored(NamedTuple):
    """What one partition got."""

    row_count: int
    first_offset: int
    last_offset: int


class RowSender:
    def __init__(self, producer: Producer) -> None:
        self._producer = producer
        self._under_way: list[BatchFuture] = []
        self._stored: dict[TopicPartition, Stored] = {}

    def send(self, topic: str, table: Any) -> None:
        """The rows of a table (key, value, headers, timestamp, partition: as many as it has) to one topic."""
        try:
            self._under_way.append(self._producer.send_batch(topic, table))
        except (InvalidArgument, RecordTooLarge) as error:
            raise UnwritableRow(f"topic {topic}: {error}") from error
        while len(self._under_way) > UNCHECKED_MAX:
            self._await(self._under_way.pop(0))

    def stored(self) -> dict[TopicPartition, Stored]:
        """Waits until everything is stored, and says where; raises why something is not."""
        for future in self._under_way:
            self._await(future)
        self._under_way.clear()
        return self._stored

    def _await(self, future: BatchFuture) -> None:
        try:
            metadata = future.result()
        except RecordTooLarge as error:
            raise UnwritableRow(f"topic {future.topic}: {error}") from error
        for partition, rows in metadata.partitions.items():
            tp = TopicPartition(metadata.topic, partition)
            before = self._stored.get(tp)
            if before is None:
                self._stored[tp] = Stored(*rows)
            else:
                self._stored[tp] = Stored(
                    before.row_count + rows.row_count, before.first_offset, rows.last_offset
                )


def gathered(batches: Iterator[Any]) -> Iterator[Any]:
    """Arrow's batches as tables of a good size."""
    waiting: list[Any] = []
    waiting_bytes = 0
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
            waiting_bytes += batch.nbytes
            if waiting_bytes >= GATHERED_BYTES:
                yield pa.Table.from_batches(waiting)
                waiting, waiting_bytes = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)


def by_topic(table: Any) -> Iterator[tuple[str, Any]]:
    """The rows of each topic in a table with a column `topic`, in their order."""
    topics = table.column("topic")
    if topics.null_count:
        raise UnwritableRow("null topic present in the data. Use the topic option for setting a topic.")
    rows = table.drop_columns(["topic"])
    names = pc.unique(topics).to_pylist()
    for name in names:
        yield name, rows if len(names) == 1 else rows.filter(pc.equal(topics, name))


def renamed(table: Any, names: Sequence[str]) -> Any:
    """Only the columns that are written, under the names that the client has for them."""
    chosen = table.select(list(names))
    return chosen.rename_columns([name.lower() for name in names])
