"""Counting in the workers, before Spark adds the counts up."""

from __future__ import annotations

import pyarrow as pa

from ottla.streams.fused import Fused
from ottla.streams.lowering.chains import CountJob, Job
from ottla.streams.lowering.columns import Reader, Writer

MOMENT = pa.timestamp("us", "UTC")


def test_records_without_a_key_or_value_are_not_counted_and_those_without_a_time_are() -> None:
    """A producer may leave the time out (-1), which comes as null; Spark's own count counts it as well."""
    schema = pa.schema([("key", pa.string()), ("value", pa.int64()), ("timestamp", MOMENT)])
    batch = pa.RecordBatch.from_pydict(
        {
            "key": pa.array(["a", "a", "b", None, "c", "a"]),
            "value": pa.array(["v", "v", "v", "v", None, "v"]),
            "timestamp": pa.array([7, None, None, 3, 4, 5], MOMENT),
            "topic": ["t"] * 6,
            "partition": pa.array([0] * 6, pa.int32()),
            "offset": pa.array(range(6), pa.int64()),
        }
    )
    read = Job("COUNTED", Reader("string"), Reader("string"), False, Fused(()))
    job = CountJob(read, Writer("string", pa.string(), is_key=True), schema)
    (counted,) = job.run(iter([batch]))
    rows = {key: (count, time) for key, count, time in zip(*counted.to_pydict().values(), strict=True)}
    assert {key: count for key, (count, _) in rows.items()} == {"a": 3, "b": 1}
    assert rows["a"][1].microsecond == 7 and rows["b"][1] is None
