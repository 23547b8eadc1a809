"""Micro-batches planned against a cluster that is a dictionary: limits, lost partitions, checkpoints."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterable
from typing import Any

import pytest

from ottla.model.types import TopicPartition
from ottla.pipelines.options import InvalidOption, SourceOptions
from ottla.pipelines.source.cluster import SourceCluster, TopicMissing
from ottla.pipelines.source.group_progress import GroupProgress, group_of
from ottla.pipelines.source.loss import DataLost
from ottla.pipelines.source.offsets import Offsets
from ottla.pipelines.source.stream_plan import ForeignCheckpoint, StreamPlan


class Cluster(SourceCluster):
    """Logs as (beginning, end), topics with an id."""

    def __init__(self, options: SourceOptions) -> None:
        super().__init__(options)
        self.logs: dict[TopicPartition, tuple[int, int]] = {}
        self.ids: dict[str, bytes] = {}
        self.pauses = 0

    def put(self, topic: str, partition: int, start: int, end: int, topic_id: bytes = b"1") -> None:
        self.logs[TopicPartition(topic, partition)] = start, end
        self.ids[topic] = topic_id

    def drop(self, topic: str) -> None:
        self.logs = {tp: log for tp, log in self.logs.items() if tp.topic != topic}

    def partitions(self) -> dict[TopicPartition, bytes]:
        covers = self._options.subscription.covers
        return {tp: self.ids[tp.topic] for tp in sorted(self.logs) if covers(tp.topic)}

    def earliest(self, partitions: Iterable[TopicPartition]) -> Offsets:
        return {tp: self._log(tp)[0] for tp in partitions}

    def latest(self, partitions: Iterable[TopicPartition]) -> Offsets:
        return {tp: self._log(tp)[1] for tp in partitions}

    def _offsets(self, when: Any) -> Offsets:
        return {tp: self._log(tp)[0 if place == -2 else 1] for tp, place in when.items()}

    def _log(self, tp: TopicPartition) -> tuple[int, int]:
        if tp not in self.logs:
            raise TopicMissing(f"{tp} is not there")
        return self.logs[tp]

    def pause(self) -> None:
        self.pauses += 1


class Stage:
    def __init__(self, **given: str) -> None:
        options = {"kafka.bootstrap.servers": "h:1", "startingOffsets": "earliest", **given}
        if "subscribePattern" not in given and "assign" not in given:
            options.setdefault("subscribe", "t")
        self.options = SourceOptions.parse(options, streaming=True)
        self.cluster = Cluster(self.options)
        self.plan = StreamPlan(self.options, self.cluster)

    def again(self) -> Stage:
        """The same query in a new process."""
        self.plan = StreamPlan(self.options, self.cluster)
        return self

    def ranges(self, start: Any, end: Any) -> list[tuple[str, int, int]]:
        return [(str(each.tp), each.start, each.end) for each in self.plan.ranges(start, end)]


@pytest.fixture(autouse=True)
def committed(monkeypatch: pytest.MonkeyPatch) -> list[Offsets]:
    """What would be committed to the group: no broker is there."""
    seen: list[Offsets] = []
    monkeypatch.setattr(GroupProgress, "commit", lambda self, offsets: seen.append(dict(offsets)))
    return seen


def test_batches_follow_each_other_without_gap_and_show_their_progress(committed: list[Offsets]) -> None:
    stage = Stage()
    stage.cluster.put("t", 0, 5, 20)
    stage.cluster.put("t", 1, 0, 3)
    first = stage.plan.initial()
    assert first == {"t": {"0": 5, "1": 0}}
    end = stage.plan.latest(first, everything=True)
    assert end == {"t": {"0": 20, "1": 3}} == stage.plan.known_latest()
    assert stage.ranges(first, end) == [("t-0", 5, 20), ("t-1", 0, 3)]
    assert stage.plan.latest(end, everything=True) == end
    assert stage.ranges(end, end) == []
    assert committed[-1] == {TopicPartition("t", 0): 20, TopicPartition("t", 1): 3}


def test_a_limit_is_spread_and_a_minimum_waits_for_more_or_for_its_delay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [1_000.0]
    monkeypatch.setattr("ottla.pipelines.source.stream_plan.time.monotonic", lambda: clock[0])
    stage = Stage(minOffsetsPerTrigger="50", maxTriggerDelay="60s", maxOffsetsPerTrigger="100")
    stage.cluster.put("t", 0, 0, 10)
    start = stage.plan.initial()
    start = stage.plan.latest(start, offsets_max=100)
    assert start == {"t": {"0": 10}}, "the first batch does not wait"
    stage.cluster.put("t", 0, 0, 59)
    assert stage.plan.latest(start, offsets_max=100) == start
    clock[0] += 61
    assert stage.plan.latest(start, offsets_max=100) == {"t": {"0": 59}}
    stage.cluster.put("t", 0, 0, 1_000)
    assert stage.plan.latest({"t": {"0": 59}}, offsets_max=100) == {"t": {"0": 159}}


def test_available_now_ends_at_what_was_there_whatever_is_added() -> None:
    stage = Stage(minOffsetsPerTrigger="1000", maxOffsetsPerTrigger="2000")
    stage.cluster.put("t", 0, 0, 30)
    stage.plan.fix_end()
    stage.cluster.put("t", 0, 0, 99)
    stage.cluster.put("t", 1, 0, 5)
    start = stage.plan.initial()
    end = stage.plan.latest(start, offsets_max=20)
    assert end == {"t": {"0": 20}}
    end = stage.plan.latest(end, offsets_max=20)
    assert end == {"t": {"0": 30}} == stage.plan.latest(end, offsets_max=20)
    late = Stage(startingOffsets="latest")
    late.cluster.put("t", 0, 0, 30)
    late.plan.fix_end()
    late.cluster.put("t", 0, 0, 99)
    assert late.plan.initial() == {"t": {"0": 30}}


def test_partitions_and_topics_that_appear_begin_at_their_beginning() -> None:
    stage = Stage(subscribePattern="t.*")
    stage.cluster.put("t", 0, 0, 5)
    start = stage.plan.latest(stage.plan.initial(), everything=True)
    stage.cluster.put("t", 1, 0, 9)
    stage.cluster.put("tea", 0, 0, 4)
    end = stage.plan.latest(start, everything=True)
    assert end == {"t": {"0": 5, "1": 9}, "tea": {"0": 4}}
    assert stage.ranges(start, end) == [("t-1", 0, 9), ("tea-0", 0, 4)]


def test_a_partition_that_appears_without_its_first_records_is_a_loss() -> None:
    """As Spark's connector says it: "Added partition starts from 7 instead of 0"."""
    start, end = {"t": {"0": 5}}, {"t": {"0": 5, "1": 9}}
    for stage in (Stage(), Stage(failOnDataLoss="false")):
        stage.cluster.put("t", 0, 0, 5)
        stage.cluster.put("t", 1, 7, 9)
        if stage.options.fail_on_data_loss:
            with pytest.raises(DataLost, match=r"t-1: it appeared .* begins at offset 7"):
                stage.ranges(start, end)
        else:
            assert stage.ranges(start, end) == [("t-1", 7, 9)]


def test_a_query_from_the_end_logs_where_it_began_before_it_reads() -> None:
    # Spark's log has only the ends of batches: a first batch with rows, planned anew, would lose them.
    stage = Stage(startingOffsets="latest")
    stage.cluster.put("t", 0, 0, 5)
    start = stage.plan.initial()
    stage.cluster.put("t", 0, 0, 8)
    assert stage.plan.initial() == start
    assert stage.plan.latest(start, everything=True) == start == {"t": {"0": 5}}
    assert stage.plan.latest(start, everything=True) == {"t": {"0": 8}}
    # Another process plans the first batch again, whose end was logged.
    stage.again().cluster.put("t", 0, 0, 11)
    later = stage.plan.initial()
    assert stage.ranges(later, start) == []
    assert stage.plan.latest(start, everything=True) == {"t": {"0": 11}}
    assert stage.ranges(start, {"t": {"0": 11}}) == [("t-0", 5, 11)]


def test_said_offsets_that_were_moved_into_the_log_are_logged_before_it_is_read() -> None:
    # Where the log ends when another process plans the first batch again is not where it ended before.
    stage = Stage(startingOffsets='{"t":{"0":50}}', failOnDataLoss="false")
    stage.cluster.put("t", 0, 0, 10)
    start = stage.plan.initial()
    assert start == {"t": {"0": 10}} == stage.plan.latest(start, everything=True)
    stage.again().cluster.put("t", 0, 0, 80)
    assert stage.plan.initial() == {"t": {"0": 50}}
    assert stage.ranges(stage.plan.initial(), start) == [], "nothing is read that was not wanted"
    assert stage.ranges(start, stage.plan.latest(start, everything=True)) == [("t-0", 10, 80)]


def test_a_leader_that_does_not_know_its_topic_yet_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()
    stage.cluster.put("t", 0, 0, 5)
    start = stage.plan.initial()
    refusals = [TopicMissing("not yet"), TopicMissing("not yet")]

    def latest(partitions: Iterable[TopicPartition]) -> Offsets:
        if refusals:
            raise refusals.pop()
        return dict.fromkeys(partitions, 5)

    monkeypatch.setattr(stage.cluster, "latest", latest)
    assert stage.plan.latest(start, everything=True) == {"t": {"0": 5}}
    assert stage.cluster.pauses == 2


def test_retention_that_overtakes_the_reader_is_an_error_with_all_numbers() -> None:
    stage = Stage()
    stage.cluster.put("t", 0, 40, 90)
    with pytest.raises(DataLost, match=r"t-0: offsets 10 to 89 are wanted.*begins at 40.*failOnDataLoss"):
        stage.plan.ranges({"t": {"0": 10}}, {"t": {"0": 90}})


def test_without_fail_on_data_loss_reading_goes_on_with_what_is_there(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stage = Stage(failOnDataLoss="false")
    stage.cluster.put("t", 0, 40, 90)
    with caplog.at_level(logging.WARNING, "ottla.pipelines"):
        assert stage.ranges({"t": {"0": 10}}, {"t": {"0": 90}}) == [("t-0", 40, 90)]
    assert "offsets 10 to 89 are wanted" in caplog.text


def test_a_deleted_topic_is_asked_for_again_before_it_is_given_up() -> None:
    stage = Stage(**{"subscribe": "t,u", "fetchOffset.numRetries": "2"})
    stage.cluster.put("t", 0, 0, 5)
    stage.cluster.put("u", 0, 0, 5)
    start = stage.plan.initial()
    stage.cluster.drop("u")
    with pytest.raises(DataLost, match=r"u-0 \(wanted from offset 0 on\): the topic was deleted"):
        stage.plan.latest(start, everything=True)
    assert stage.cluster.pauses == 2
    tolerant = Stage(subscribe="t,u", failOnDataLoss="false")
    tolerant.cluster = stage.cluster
    assert tolerant.again().plan.latest(start, everything=True) == {"t": {"0": 5}}
    # Between the offsets and the ranges it may go, too.
    assert tolerant.ranges(start, {"t": {"0": 5}, "u": {"0": 5}}) == [("t-0", 0, 5)]


@pytest.mark.parametrize("end", [3, 500])
def test_a_topic_made_anew_under_the_same_name_is_noticed_and_read_from_its_beginning(end: int) -> None:
    strict, tolerant = Stage(), Stage(failOnDataLoss="false")
    for stage in (strict, tolerant):
        stage.cluster.put("t", 0, 0, 100)
        start = stage.plan.latest(stage.plan.initial(), everything=True)
        stage.cluster.put("t", 0, 0, end, topic_id=b"2")
    with pytest.raises(DataLost, match=r"t-0: .*created again"):
        strict.plan.latest(start, everything=True)
    found = tolerant.plan.latest(start, offsets_max=2)
    assert found == {"t": {"0": 2}}
    assert tolerant.ranges(start, found) == [("t-0", 0, 2)]
    assert tolerant.ranges(start, found) == [("t-0", 0, 2)], "as often as Spark asks"
    assert {each.topic_id for each in tolerant.plan.ranges(start, found)} == {b"2"}
    rest = tolerant.plan.latest(found, everything=True)
    assert tolerant.ranges(found, rest) == [("t-0", 2, end)]


def test_a_batch_of_an_earlier_process_that_reaches_over_the_end_is_noticed() -> None:
    stage = Stage()
    stage.cluster.put("t", 0, 0, 7)
    with pytest.raises(DataLost, match="offsets up to 11 are wanted, and it ends at 6"):
        stage.plan.ranges({"t": {"0": 5}}, {"t": {"0": 12}})
    tolerant = Stage(failOnDataLoss="false")
    tolerant.cluster.put("t", 0, 0, 7)
    assert tolerant.ranges({"t": {"0": 5}}, {"t": {"0": 12}}) == [("t-0", 5, 7)]


def test_a_checkpoint_of_another_query_is_refused_with_an_explanation() -> None:
    stage = Stage()
    stage.cluster.put("t", 0, 0, 7)
    for other in ({"orders": {"0": 3}}, {"orders": {"0": 3}, "t": {"0": 1}}):
        with pytest.raises(ForeignCheckpoint, match=r"offsets of orders, and this one reads t"):
            stage.plan.latest(other, everything=True)
        with pytest.raises(ForeignCheckpoint, match="checkpointLocation of its own"):
            stage.plan.ranges(other, other)
    with pytest.raises(ForeignCheckpoint, match="not written by the format ottla"):
        stage.plan.latest({"index": 3}, everything=True)
    tolerant = Stage(failOnDataLoss="false")
    tolerant.cluster.put("t", 0, 0, 7)
    assert tolerant.plan.latest({"orders": {"0": 3}, "t": {"0": 1}}, everything=True) == {"t": {"0": 7}}
    with pytest.raises(ForeignCheckpoint):
        tolerant.plan.latest({"orders": {"0": 3}}, everything=True)


def test_a_topic_that_does_not_exist_is_named_with_the_command_that_makes_it() -> None:
    with pytest.raises(TopicMissing, match="'t' does not exist at h:1; create it with: ottla topic create t"):
        Stage().plan.initial()
    stage = Stage(assign='{"t":[0,9]}')
    stage.cluster.put("t", 0, 0, 1)
    with pytest.raises(TopicMissing, match="partition 9 of 't'"):
        stage.plan.initial()


def test_offsets_that_were_said_are_compared_with_what_is_there() -> None:
    stage = Stage(startingOffsets='{"t":{"0":500}}')
    stage.cluster.put("t", 0, 0, 7)
    with pytest.raises(DataLost, match="startingOffsets says 500, and only 0 to 7 are there"):
        stage.plan.initial()
    other = Stage(startingOffsets='{"x":{"0":1}}')
    other.cluster.put("t", 0, 0, 7)
    with pytest.raises(InvalidOption, match=r"startingOffsets: an offset .* is missing for t-0"):
        other.plan.initial()


def test_a_group_is_named_by_the_user_or_by_what_is_read() -> None:
    assert group_of(Stage(**{"kafka.group.id": "mine", "groupIdPrefix": "x"}).options) == "mine"
    one, same = group_of(Stage().options), group_of(Stage(maxOffsetsPerTrigger="5").options)
    assert one == same
    assert one.startswith("ottla-spark-t-")
    assert group_of(Stage(groupIdPrefix="late").options).startswith("late-t-")
    pattern = group_of(Stage(subscribePattern="t|.*[a]").options)
    assert pattern.startswith("ottla-spark-pattern-t-.--a-") and pattern != one


class Spark:
    """Spark's side of a stream as its logs have it: ends of batches, and how many of them are done."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.starting = self.chance.choice(["earliest", "latest", *SAID])
        self.limit = self.chance.choice([None, 1, 3, 10])
        given = {"startingOffsets": self.starting, "minPartitions": self.chance.choice(["1", "5"])}
        # An offset that is not there is moved to the end of the log, wherever that is just then.
        self.stage = Stage(failOnDataLoss=str("99" not in self.starting).lower(), **given)
        self.stage.cluster.put("t", 0, 0, self.chance.randint(4, 20))
        self.ends: list[dict[str, dict[str, int]]] = []
        self.done = 0
        self.rows: dict[int, list[tuple[str, int]]] = {}

    def live(self) -> None:
        """A process, from its start to where it is killed."""
        plan = self.stage.again().plan
        if self.chance.random() < 0.4:
            plan.fix_end()
        for _ in range(self.chance.randint(1, 8)):
            self._grow()
            start = self.ends[self.done - 1] if self.done else plan.initial()
            self._grow()
            if len(self.ends) == self.done:
                end = plan.latest(start, offsets_max=self.limit, everything=self.limit is None)
                if self.chance.random() < 0.1:
                    return
                if self.ends and end == start:
                    continue
                self.ends.append(end)
            if self.chance.random() < 0.1:
                return
            found = plan.ranges(start, self.ends[self.done])
            rows = sorted((str(each.tp), at) for each in found for at in range(each.start, each.end))
            assert self.rows.setdefault(self.done, rows) == rows, "a batch has the same rows in every process"
            if self.chance.random() < 0.2:
                return
            self.done += 1

    def _grow(self) -> None:
        cluster = self.stage.cluster
        for (topic, partition), (first, end) in list(cluster.logs.items()):
            cluster.put(topic, partition, first, end + self.chance.choice([0, 0, 1, 5, 30]))
        if self.starting in ("earliest", "latest") and self.chance.random() < 0.1:
            cluster.put("t", len(cluster.logs), 0, self.chance.randint(0, 9))


SAID = [f'{{"t":{{"0":{offset}}}}}' for offset in (3, -1, -2, 99)]


@pytest.mark.parametrize("seeds", [range(150), range(150, 300)])
def test_every_record_is_in_one_batch_wherever_processes_end(seeds: range) -> None:
    """Killed before and after each entry of Spark's logs, while records and partitions are added."""
    for seed in seeds:
        spark = Spark(seed)
        for _ in range(spark.chance.randint(1, 6)):
            spark.live()
        every = [row for batch in sorted(spark.rows) for row in spark.rows[batch]]
        by_partition: dict[str, list[int]] = {}
        for name, offset in every:
            by_partition.setdefault(name, []).append(offset)
        for name, offsets in by_partition.items():
            begun = name.removeprefix("t-") in spark.ends[0]["t"]
            first = offsets[0] if begun and spark.starting != "earliest" else 0
            assert offsets == list(range(first, first + len(offsets))), f"seed {seed}, {name}"
