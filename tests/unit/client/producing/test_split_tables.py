"""Tables whose batches the broker finds too large: each is split, and the table's future speaks for all
parts.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from producing_stage import Stage

from ottla.client.errors import ServerError
from ottla.client.producing.columns import BatchFuture, ColumnSender, StoredRows
from ottla.model.errors import ErrorCode
from ottla.wire.record_batch import read_header

ROWS = [f"row {number}".encode() for number in range(16)]


class First:
    def choose(self, topic: Any, key: bytes | None, size_bytes: int) -> int:
        return 0


def sent(stage: Stage) -> BatchFuture:
    sender = ColumnSender(stage.core, stage.settings, First())
    future = stage.run(sender.send_batch("t", pa.table({"value": ROWS})))
    assert isinstance(future, BatchFuture)
    return future


def staged() -> Stage:
    stage = Stage()
    stage.cluster.create("t", 1)
    return stage


def test_a_table_is_done_when_all_parts_of_its_batches_are() -> None:
    stage = staged()

    def verdict(tp: Any, data: Any) -> int:
        return ErrorCode.MESSAGE_TOO_LARGE if read_header(data).record_count > 4 else 0

    stage.cluster.verdict = verdict
    future = sent(stage)
    stage.until(lambda: len(stage.log().values()) >= 4)
    assert not future.done()
    stage.run(future._until_done(stage.clock.monotonic_ms, None))
    assert stage.log().values() == ROWS
    assert future.metadata().partitions == {0: StoredRows(16, 0, 15)}
    assert stage.memory_used == 0


def test_rows_in_a_later_part_that_is_refused_are_named() -> None:
    stage = staged()

    def verdict(tp: Any, data: Any) -> int:
        if read_header(data).record_count > 4:
            return ErrorCode.MESSAGE_TOO_LARGE
        return ErrorCode.INVALID_RECORD if b"row 13" in bytes(data) else 0

    stage.cluster.verdict = verdict
    future = sent(stage)
    stage.run(future._until_done(stage.clock.monotonic_ms, None))
    assert stage.log().values() == ROWS[:12]
    assert [(failed.partition, failed.rows) for failed in future.errors()] == [(0, [12, 13, 14, 15])]
    with pytest.raises(ServerError) as raised:
        future.metadata()
    assert raised.value.code == ErrorCode.INVALID_RECORD
