"""The order in which a stateful step sees a key's records: Kafka Streams' (PartitionGroup)."""

from __future__ import annotations

import pickle
import random
from typing import Any

from ottla.streams.lowering.chains import group_type
from ottla.streams.lowering.keyed import OFFSET, VALUE, failed, ordered


def record(time_ms: int, side: int, partition: int, offset: int, value: Any = None) -> tuple[Any, ...]:
    return (time_ms, side, f"topic-{side}", partition, offset, value, None)


def test_partitions_keep_their_offsets_and_are_merged_by_the_time_at_their_heads() -> None:
    """A late record does not overtake those before it in its partition, and holds up those behind it; of
    equal times the lower side is first. Several records made of one stay in the order in which they were
    made.
    """
    one = [record(5, 0, 0, 0, "a"), record(2, 0, 0, 1, "b"), record(9, 0, 0, 2, "c"), record(9, 0, 0, 2, "d")]
    two = [record(3, 0, 1, 0, "e"), record(5, 0, 1, 1, "f")]
    table = [record(5, 1, 0, 0, "g"), record(1, 1, 0, 1, "h")]
    packs = [{"records": pickle.dumps(part)} for part in (one[2:], one[:2], two, table)]
    expected = ["e", "a", "b", "f", "g", "h", "c", "d"]
    for seed in range(5):
        shuffled = packs[:]
        random.Random(seed).shuffle(shuffled)
        assert [each[VALUE] for each in ordered(shuffled)] == expected
    assert [each[OFFSET] for each in ordered([packs[1]])] == [0, 1]


def test_an_error_names_the_step_and_the_record() -> None:
    error = failed("sums", record(1, 0, 3, 17, "x" * 500), KeyError("delay"))  # type: ignore[arg-type]
    assert str(error).startswith(
        "sums failed on the record of topic topic-0, partition 3, offset 17 (value 'xxx"
    )
    assert str(error).endswith("KeyError: 'delay'")
    assert len(str(error)) < 250


def test_keys_that_spark_cannot_hand_over_unchanged_travel_as_bytes() -> None:
    assert group_type("string") == "string"
    assert {group_type(kind) for kind in ("object", "struct<a:int>", "double", "timestamp")} == {"binary"}
