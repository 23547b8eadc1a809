"""Batch queries planned against a real broker, without Spark: which ranges each option makes."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Iterator
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from pyspark.sql.datasource import EqualTo, GreaterThanOrEqual, LessThan

import ottla
from ottla.client.errors import OperationTimedOut, OttlaError
from ottla.model.types import NO_TOPIC_ID
from ottla.pipelines.options import InvalidOption, SourceOptions
from ottla.pipelines.source import group_progress
from ottla.pipelines.source.batch_plan import BatchPlan
from ottla.pipelines.source.cluster import NoSuchMoment, TopicMissing
from ottla.pipelines.source.group_progress import GroupProgress
from ottla.pipelines.source.loss import DataLost
from ottla.pipelines.source.ranges import OffsetRange
from ottla.pipelines.source.reading import RangePartition, RangeTask, pieces
from support.broker_process import BrokerProcess
from support.waiting import wait_until

TOPIC = "planned"
FIRST_MS = 1_700_000_000_000
PER_PARTITION = 100


@pytest.fixture(scope="module")
def admin(shared_broker: BrokerProcess) -> Iterator[ottla.Admin]:
    with ottla.Admin(shared_broker.bootstrap) as admin:
        yield admin


@pytest.fixture(scope="module")
def broker(shared_broker: BrokerProcess, admin: ottla.Admin) -> BrokerProcess:
    """Two partitions, each with a record for every second; the first ten of partition 1 are deleted."""
    admin.create_topics([ottla.NewTopic(TOPIC, partitions=2, configs={"retention.ms": "-1"})]).all()
    with ottla.Producer(shared_broker.bootstrap) as producer:
        for index in range(PER_PARTITION):
            for partition in (0, 1):
                moment_ms = FIRST_MS + 1_000 * index
                producer.send(TOPIC, f"{index}", partition=partition, timestamp=moment_ms)
    admin.delete_records({ottla.TopicPartition(TOPIC, 1): 10}).all()
    return shared_broker


def plan(broker: BrokerProcess, **given: str) -> BatchPlan:
    options = {"kafka.bootstrap.servers": broker.bootstrap, **given}
    if "assign" not in given and "subscribePattern" not in given:
        options.setdefault("subscribe", TOPIC)
    return BatchPlan(SourceOptions.parse(options, streaming=False))


def ranges(broker: BrokerProcess, **given: str) -> list[tuple[int, int, int]]:
    return [(each.tp.partition, each.start, each.end) for each in plan(broker, **given).ranges()]


def test_without_options_everything_that_is_there_is_read(broker: BrokerProcess) -> None:
    whole = [(0, 0, 100), (1, 10, 100)]
    assert ranges(broker) == whole
    assert ranges(broker, subscribePattern="plan.*") == whole
    assert ranges(broker, assign=f'{{"{TOPIC}":[1]}}') == [(1, 10, 100)]
    assert ranges(broker, subscribePattern="nothing-.*") == []
    assert len(ranges(broker, minPartitions="7")) == 7
    assert max(end - start for _, start, end in ranges(broker, maxRecordsPerPartition="30")) <= 30


def test_offsets_are_taken_as_they_were_said(broker: BrokerProcess) -> None:
    assert ranges(
        broker,
        startingOffsets=f'{{"{TOPIC}":{{"0":30,"1":-2}}}}',
        endingOffsets=f'{{"{TOPIC}":{{"0":40,"1":-1}}}}',
    ) == [(0, 30, 40), (1, 10, 100)]
    with pytest.raises(InvalidOption, match=r"startingOffsets: an offset .* is missing for planned-1"):
        ranges(broker, startingOffsets=f'{{"{TOPIC}":{{"0":30}}}}')


def test_times_become_offsets(broker: BrokerProcess) -> None:
    since = {"startingTimestamp": str(FIRST_MS + 49_001), "endingTimestamp": str(FIRST_MS + 60_000)}
    assert ranges(broker, **since) == [(0, 50, 60), (1, 50, 60)]
    each = f'{{"{TOPIC}":{{"0":{FIRST_MS + 90_000},"1":{FIRST_MS + 5_000}}}}}'
    assert ranges(broker, startingOffsetsByTimestamp=each) == [(0, 90, 100), (1, 10, 100)]
    # An end that is younger than all records is the end (Spark's connector does the same) ...
    assert ranges(broker, endingTimestamp=str(FIRST_MS + 10**9)) == [(0, 0, 100), (1, 10, 100)]
    # ... and a beginning that is, an error unless the user chose otherwise.
    late = str(FIRST_MS + 10**9)
    with pytest.raises(NoSuchMoment, match="startingOffsetsByTimestampStrategy=latest"):
        ranges(broker, startingTimestamp=late)
    assert ranges(broker, startingTimestamp=late, startingOffsetsByTimestampStrategy="latest") == []


def test_offsets_that_are_gone_are_named_with_those_that_are_there(broker: BrokerProcess) -> None:
    gone = {"startingOffsets": f'{{"{TOPIC}":{{"0":0,"1":3}}}}'}
    with pytest.raises(DataLost, match="planned-1: offsets 3 to 99 are wanted, and 10 to 99 are there"):
        ranges(broker, **gone)
    assert ranges(broker, failOnDataLoss="false", **gone) == [(0, 0, 100), (1, 10, 100)]
    beyond = {"endingOffsets": f'{{"{TOPIC}":{{"0":500,"1":-1}}}}'}
    with pytest.raises(DataLost, match="planned-0: offsets 0 to 499 are wanted"):
        ranges(broker, **beyond)
    assert ranges(broker, failOnDataLoss="false", **beyond) == [(0, 0, 100), (1, 10, 100)]


def test_filters_choose_partitions_and_cut_ranges(broker: BrokerProcess) -> None:
    moment = datetime.fromtimestamp(FIRST_MS / 1000 + 80, UTC)
    filters = [
        EqualTo(("partition",), 0),
        LessThan(("offset",), 95),
        GreaterThanOrEqual(("timestamp",), moment),
    ]
    pushed = plan(broker)
    assert pushed.push(filters) == filters[2:]
    assert [(each.tp.partition, each.start, each.end) for each in pushed.ranges()] == [(0, 80, 95)]
    nowhere = plan(broker)
    nowhere.push([EqualTo(("topic",), "other")])
    assert nowhere.ranges() == []


def test_what_is_not_there_is_named_with_what_to_do(broker: BrokerProcess) -> None:
    with pytest.raises(TopicMissing, match=r"'nobody' does not exist at .*ottla topic create nobody"):
        ranges(broker, subscribe="planned,nobody")
    with pytest.raises(OttlaError, match="no broker answers at 127"):
        ranges(
            broker,
            **{
                "kafka.bootstrap.servers": "127.0.0.1:1",
                "kafka.default.api.timeout.ms": "300",
                "kafka.request.timeout.ms": "200",
                "fetchOffset.numRetries": "1",
                "fetchOffset.retryIntervalMs": "1",
            },
        )


def values(
    broker: BrokerProcess, topic: str, start: int, end: int, topic_id: bytes = NO_TOPIC_ID, /, **given: str
) -> list[bytes]:
    """What a task reads, as Spark would have it do."""
    options = {"kafka.bootstrap.servers": broker.bootstrap, "subscribe": topic, "columns": "value", **given}
    task = RangeTask.of(SourceOptions.parse(options, streaming=False))
    wanted = RangePartition(OffsetRange(ottla.TopicPartition(topic, 1), start, end, topic_id))
    again: RangeTask = pickle.loads(pickle.dumps(task))
    return [value.as_py() for batch in again.read(wanted) for value in batch.column("value")]


def test_a_task_that_retention_overtakes_fails_or_goes_on_behind_it(broker: BrokerProcess) -> None:
    assert values(broker, TOPIC, 98, 100) == [b"98", b"99"]
    with pytest.raises(DataLost, match="planned-1: offsets 2 to 11 are wanted, and 10 to 99 are there"):
        values(broker, TOPIC, 2, 12)
    assert values(broker, TOPIC, 2, 12, failOnDataLoss="false") == [b"10", b"11"]
    # Behind the end: a topic that was made anew.
    with pytest.raises(DataLost, match="planned-1: offsets 500 to 509 are wanted"):
        values(broker, TOPIC, 500, 510)
    assert values(broker, TOPIC, 500, 510, failOnDataLoss="false") == []


def test_a_task_whose_topic_is_gone_says_so(broker: BrokerProcess) -> None:
    with pytest.raises(
        DataLost, match=r"vanished-1: the topic was deleted while vanished-1 \[0, 5\) was read"
    ):
        values(broker, "vanished", 0, 5)
    assert values(broker, "vanished", 0, 5, failOnDataLoss="false") == []


def test_a_task_does_not_read_another_topic_of_the_same_name(broker: BrokerProcess) -> None:
    """KIP-516: a topic that was deleted and created again has another id."""
    (planned, *_) = plan(broker).ranges()
    assert values(broker, TOPIC, 98, 100, planned.topic_id) == [b"98", b"99"]
    quick = {"kafka.retry.backoff.ms": "1", "kafka.retry.backoff.max.ms": "2"}
    with pytest.raises(DataLost, match=r"planned-1: the topic was deleted .*created anew"):
        values(broker, TOPIC, 98, 100, b"another topic id", **quick)
    assert values(broker, TOPIC, 98, 100, b"another topic id", failOnDataLoss="false", **quick) == []


def test_a_range_beyond_the_log_ends_when_patience_does(broker: BrokerProcess) -> None:
    patience = {"kafkaConsumer.pollTimeoutMs": "300"}
    with pytest.raises(
        OperationTimedOut, match=r"nothing came after offset 100 .* and the range ends at 105"
    ):
        values(broker, TOPIC, 99, 105, **patience)


def test_progress_is_shown_in_a_group_and_one_that_has_members_costs_a_warning_only(
    broker: BrokerProcess,
    admin: ottla.Admin,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def progress(group: str) -> GroupProgress:
        given = {
            "kafka.bootstrap.servers": broker.bootstrap,
            "subscribe": TOPIC,
            "kafka.group.id": group,
        }
        return GroupProgress(SourceOptions.parse(given, streaming=True))

    def committed(group: str) -> dict[ottla.TopicPartition, int]:
        (found,) = admin.list_consumer_group_offsets([group]).all().values()
        return {tp: offset.offset for tp, offset in found.items()}

    place = ottla.TopicPartition(TOPIC, 0)
    shown = progress("shown")
    shown.commit({place: 7})
    shown.commit({place: 9})
    shown.commit({})
    assert committed("shown") == {place: 9}
    with ottla.Consumer(TOPIC, bootstrap_servers=broker.bootstrap, group_id="owned") as member:
        # A member owns the group's offsets: nobody else may set them.
        wait_until(lambda: member.poll(timeout=0.1) is not None and member.assignment(), "an assignment")
        refused = progress("owned")
        with caplog.at_level(logging.WARNING, "ottla.pipelines"):
            refused.commit({place: 3})
    assert caplog.text.count("the progress is not shown in the group owned") == 1
    # Spark comes by many times a second: what has just failed is not tried again at once, but later it is.
    refused.commit({place: 4})
    assert committed("owned")[place] == PER_PARTITION, "what the member has committed when it left"
    monkeypatch.setattr(group_progress, "PAUSE_S", 0.0)
    refused.commit({place: 4})
    assert committed("owned")[place] == 4


def test_batches_are_cut_by_rows_and_by_bytes_into_what_sparks_side_takes_well() -> None:
    many = pa.record_batch({"offset": pa.array(range(120_001), pa.int64())})
    assert [piece.num_rows for piece in pieces(many)] == [50_000, 50_000, 20_001]
    heavy = pa.record_batch({"value": pa.array([bytes(1 << 20)] * 70, pa.binary())})
    cut = list(pieces(heavy))
    assert pa.Table.from_batches(cut).equals(pa.Table.from_batches([heavy]))
    assert max(piece.nbytes for piece in cut) <= 33_554_432 + (1 << 20)
    huge = pa.record_batch({"value": pa.array([bytes(40 << 20)] * 2, pa.binary())})
    assert [piece.num_rows for piece in pieces(huge)] == [1, 1]
