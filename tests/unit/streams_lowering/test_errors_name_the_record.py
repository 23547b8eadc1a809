"""The record that an error names is the one that it is about, also where others were left out before."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from ottla.streams import RecordError
from ottla.streams.fused import Fused
from ottla.streams.lowering.chains import CountJob, Job, PackJob
from ottla.streams.lowering.columns import Reader, Writer
from ottla.streams.objects import encode
from ottla.streams.plan import OBJECT


def batch(*keys: Any) -> pa.RecordBatch:
    count = len(keys)
    return pa.RecordBatch.from_pydict(
        {
            "key": pa.array([None if key is None else encode(key) for key in keys], pa.binary()),
            "value": pa.array([b"v"] * count, pa.binary()),
            "timestamp": pa.array([0] * count, pa.timestamp("us", "UTC")),
            "topic": ["t"] * count,
            "partition": pa.array([3] * count, pa.int32()),
            "offset": pa.array(range(10, 10 + count), pa.int64()),
        }
    )


JOB = Job("KEYED", Reader(OBJECT), Reader("binary"), False, Fused(()))
SCHEMA = pa.schema([("key", pa.int32()), ("timestamp", pa.timestamp("us", "UTC")), ("records", pa.binary())])


def test_a_key_without_bytes_of_its_own_is_named_when_records_are_counted() -> None:
    job = CountJob(JOB, Writer(OBJECT, pa.binary(), is_key=True), SCHEMA)
    with pytest.raises(RecordError, match=r"frozenset.* of topic t, partition 3, offset 12"):
        list(job.run(iter([batch(None, "a", frozenset({1}))])))


def test_a_key_of_another_type_is_named_when_records_are_packed() -> None:
    job = PackJob(JOB, 0, Writer("int", pa.int32(), is_key=True), False, False, True, False, SCHEMA)
    with pytest.raises(RecordError, match=r"not a int: 'x' of topic t, partition 3, offset 13"):
        list(job.run(iter([batch(None, 7, 7, "x")])))
