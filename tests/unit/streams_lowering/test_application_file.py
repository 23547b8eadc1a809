"""Whose checkpoint it is: what a program may change between two runs, and what it may not."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest

from ottla.streams import StreamsBuilder, TimeWindows
from ottla.streams.running.application_file import check, description, difference
from ottla.streams.running.failures import ForeignCheckpoint
from ottla.streams.stages import cut


def described(
    application_id: str = "app", *, topic: str = "in", size: int = 10, twice: bool = False
) -> dict[str, Any]:
    builder = StreamsBuilder()
    stream = builder.stream(topic).map_values(lambda item: item * (2 if twice else 1))
    counts = stream.group_by_key().windowed_by(TimeWindows.of_size_with_no_grace(size)).count()
    counts.to_stream().to("out")
    return description(application_id, cut(builder.build(), application_id))


def test_functions_may_change() -> None:
    assert difference(described(), described(twice=True)) is None


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (described("other"), "belongs to the application 'app', not to 'other'"),
        (described(topic="elsewhere"), "then it reads in; keeps Aggregate.*now it reads elsewhere"),
        (described(size=11), "size_ms=10.*size_ms=11"),
    ],
)
def test_what_the_state_means_may_not_change(other: dict[str, Any], words: str) -> None:
    import re

    problem = difference(described(), other)
    assert problem is not None
    assert re.search(words, problem)


def test_a_stage_that_is_new_or_gone_is_named() -> None:
    one = described()
    none = {**one, "stages": {}}
    (name,) = one["stages"]
    assert f"the program has a stage {name}" in (difference(none, one) or "")
    assert f"state of a stage {name}" in (difference(one, none) or "")


def test_of_two_first_starts_the_one_that_comes_second_is_refused() -> None:
    """Hadoop's rename does not raise where the name is taken (HDFS): it says False, and leaves both files."""
    spark = MagicMock()
    system = spark._jvm.org.apache.hadoop.fs.Path.return_value.getFileSystem.return_value
    system.exists.return_value = False
    system.rename.return_value = False
    with pytest.raises(ForeignCheckpoint, match="taken by another start"):
        check(spark, "hdfs://c", "app", [])
    system.delete.assert_called_once()
    system.rename.return_value = True
    check(spark, "hdfs://c", "app", [])
