"""Dead letters sent by the tasks that find them. No Spark here: record batches in, record batches out."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa

from ottla.pipelines.values.dead_letters import DeadLetters


def reporter(
    target: DeadLetters, letter_column: str
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What each task runs: the dead letters of a batch, sent and acknowledged before its good rows go on.

    letter_column: null for good rows; for bad ones a struct of what to send.
    """

    def report(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            found = batch.column(letter_column)
            rest = batch.drop_columns([letter_column])
            if found.null_count < len(found):
                send(target, found.filter(found.is_valid()))
                rest = rest.filter(found.is_null())
            yield rest

    return report


def send(target: DeadLetters, rows: pa.StructArray) -> None:
    """Send dead letters and wait until they are stored; raises if one is not."""
    from ottla.pipelines.connections import producer

    table = pa.Table.from_arrays(rows.flatten(), names=[entry.name for entry in rows.type])
    producer(dict(target.settings)).send_batch(target.topic, table).result()
