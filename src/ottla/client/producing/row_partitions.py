"""Which partition each key of an Arrow column belongs to, as the producer's default partitioner decides it:
for programs that bring rows to their partition before they send them.
"""

from __future__ import annotations

from array import array
from typing import Any

from ottla.client.extras import pyarrow_for
from ottla.client.producing.columns import byte_column, column_buffers
from ottla.wire.record_writer import ColumnSource

NO_PARTITION = -1


def partitions_of_keys(keys: Any, partition_count: int, turn: int = 0) -> array[int]:
    """The partition of each row by its key (murmur2, as Java's client); rows without one are dealt out in
    turn, from `turn` on.
    """
    column = byte_column(pyarrow_for("partitions_of_keys"), keys, "key")
    source = ColumnSource(None, None, column_buffers(column), None, None, None, None)
    source.check(len(column))
    found = array("i", bytes(4 * len(column)))
    if source.hash_keys(memoryview(found), partition_count):
        for row, partition in enumerate(found):
            if partition == NO_PARTITION:
                found[row] = turn % partition_count
                turn += 1
    return found
