"""What a batch's transaction says of it, and what follows for a batch that comes again."""

from __future__ import annotations

import pytest

from ottla.client.records import OffsetAndMetadata
from ottla.model.types import TopicPartition
from ottla.pipelines.sink.errors import ForeignCheckpoint
from ottla.pipelines.sink.markers import BatchMarker, Progress, Verdict, offsets_with

IN0, IN1, OUT0 = TopicPartition("in", 0), TopicPartition("in", 1), TopicPartition("out", 0)


def progress(*batches: tuple[BatchMarker, dict[TopicPartition, int]]) -> Progress:
    committed: dict[TopicPartition, OffsetAndMetadata] = {}
    for marker, source in batches:
        committed.update(offsets_with(marker, source, "out"))
    return Progress.read("app", committed)


def test_a_marker_is_read_as_it_was_written() -> None:
    marker = BatchMarker("c0ffee", 12)
    assert BatchMarker.read(marker.text()) == marker
    assert len(marker.text()) < 100  # it stands beside every offset


@pytest.mark.parametrize(
    "metadata",
    ["", "text", "{}", "[1]", "12", '{"ottla":2,"batch":1,"checkpoint":"c"}', '{"ottla":1,"batch":"1"}'],
)
def test_what_others_commit_for_the_group_is_not_taken_for_a_marker(metadata: str) -> None:
    assert BatchMarker.read(metadata) is None
    assert Progress.read("app", {IN0: OffsetAndMetadata(5, metadata)}).last_batch("c") is None


def test_the_marker_stands_beside_the_offsets_and_at_a_target_where_tools_do_not_look() -> None:
    offsets = offsets_with(BatchMarker("c", 3), {IN0: 7, IN1: 9}, "out")
    assert {tp: each.offset for tp, each in offsets.items()} == {IN0: 7, IN1: 9, OUT0: -1}
    assert len({each.metadata for each in offsets.values()}) == 1


def test_a_target_that_is_also_a_source_keeps_its_offset() -> None:
    offsets = offsets_with(BatchMarker("c", 3), {OUT0: 7}, "out")
    assert {tp: each.offset for tp, each in offsets.items()} == {OUT0: 7}


def test_a_batch_is_written_unless_it_was() -> None:
    found = progress((BatchMarker("c", 4), {IN0: 40}))
    assert found.verdict("c", 5, {IN0: 50}) is Verdict.WRITE
    assert found.verdict("c", 4, {IN0: 40}) is Verdict.SKIP
    assert progress().verdict("c", 0, {}) is Verdict.WRITE


def test_a_partition_that_is_gone_from_the_source_does_not_hold_the_application_back() -> None:
    found = progress((BatchMarker("c", 3), {IN0: 30, IN1: 31}), (BatchMarker("c", 4), {IN0: 40}))
    assert found.verdict("c", 4, {IN0: 40}) is Verdict.SKIP
    assert found.last_batch("c") == 4


def test_a_batch_of_the_same_number_that_read_elsewhere_is_another_batch() -> None:
    found = progress((BatchMarker("c", 4), {IN0: 40}))
    with pytest.raises(ForeignCheckpoint, match="another batch 4, of which in-0"):
        found.verdict("c", 4, {IN0: 41})


def test_a_checkpoint_that_is_behind_is_refused() -> None:
    with pytest.raises(ForeignCheckpoint, match="older copy"):
        progress((BatchMarker("c", 4), {})).verdict("c", 3, {})


def test_another_checkpoint_is_refused_with_what_to_do() -> None:
    found = progress((BatchMarker("c", 4), {IN0: 40}))
    with pytest.raises(ForeignCheckpoint, match="`ottla group delete app`") as refused:
        found.verdict("d", 0, {})
    assert "batches up to 4" in str(refused.value)
