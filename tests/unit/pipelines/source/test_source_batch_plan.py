"""Batch queries planned while the topic is written to and cleaned: every look at it finds another one."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ottla.model.types import TopicPartition
from ottla.pipelines.options import SourceOptions
from ottla.pipelines.source import batch_plan
from ottla.pipelines.source.batch_plan import BatchPlan
from ottla.pipelines.source.cluster import SourceCluster
from ottla.pipelines.source.loss import DataLost
from ottla.pipelines.source.offsets import Offsets

PLACE = TopicPartition("t", 0)
TOPIC_ID = b"0123456789abcdef"


class BusyCluster(SourceCluster):
    """With each question the log has lost a record at its beginning and got ten at its end."""

    looks = 0

    def partitions(self) -> dict[TopicPartition, bytes]:
        return {PLACE: TOPIC_ID}

    def _offsets(self, when: Mapping[TopicPartition, int]) -> Offsets:
        self.looks += 1
        first, behind = self.looks, 100 + 10 * self.looks
        return {tp: first if place == -2 else behind if place == -1 else 50 for tp, place in when.items()}


@pytest.fixture(autouse=True)
def _busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_plan, "SourceCluster", BusyCluster)


def ranges(**given: str) -> list[tuple[int, int]]:
    options = {"kafka.bootstrap.servers": "h:1", "subscribe": "t", **given}
    found = BatchPlan(SourceOptions.parse(options, streaming=False)).ranges()
    assert {each.topic_id for each in found} == {TOPIC_ID}
    return [(each.start, each.end) for each in found]


def test_records_that_come_while_a_batch_is_planned_are_no_loss() -> None:
    ((start, end),) = ranges()
    assert 0 < start < 10 and 100 < end < 200
    ((start, end),) = ranges(startingTimestamp="5", endingOffsets="latest")
    assert start == 50 and end > 100


def test_only_offsets_that_were_said_are_compared_with_what_is_there() -> None:
    assert ranges(endingOffsets='{"t":{"0":60}}')[0][1] == 60
    with pytest.raises(DataLost, match="t-0: offsets 0 to"):
        ranges(startingOffsets='{"t":{"0":0}}')
    with pytest.raises(DataLost, match="to 899 are wanted"):
        ranges(endingOffsets='{"t":{"0":900}}')
