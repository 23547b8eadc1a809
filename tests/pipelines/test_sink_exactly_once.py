"""The exactly-once sink on a real broker: the driver dies at every step of a commit, tasks fail, drivers
meet, checkpoints are mixed up; a reader with read_committed sees every row once.

A driver that is killed never does another thing: here the owner of its transactions raises at a chosen step,
and at every call from then on, so the broker and the checkpoint are left as a kill leaves them. The same with
real processes and SIGKILL is in tests/chaos/pipeline_sink.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

import pytest
from pyspark import SparkConf
from pyspark.errors import AnalysisException, StreamingQueryException
from topic_reading import records

import ottla
from ottla.client.sync.shared_transaction import TransactionOwner
from ottla.model.types import TopicPartition
from ottla.pipelines import write_stream
from ottla.pipelines.options import InvalidOption
from ottla.pipelines.sink import write_stream as module
from ottla.pipelines.sink.checkpoint import CheckpointIdentity
from ottla.pipelines.sink.errors import (
    ApplicationFenced,
    BatchFailed,
    ForeignCheckpoint,
    OutcomeUnknown,
    SinkError,
    UnwritableRow,
)
from ottla.pipelines.sink.sink_options import SinkOptions
from ottla.pipelines.sink.transaction import TransactionalSink, TransactionalWriter
from support.broker_process import BrokerProcess
from support.waiting import wait_until

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.timeout(180)

KEYS = 7
PER_BATCH = 70


class Killed(SinkError):
    """The driver is dead: nothing of ours is tried after it."""


class DyingOwner(TransactionOwner):
    """Dies before or after a step: one of the calls that a batch makes."""

    step = ""
    dead = False
    open_count: ClassVar = 0
    """How many were made and not closed."""

    def __init__(self, *given: Any, **settings: Any) -> None:
        super().__init__(*given, **settings)
        DyingOwner.open_count += 1

    def close(self) -> None:
        super().close()
        DyingOwner.open_count -= 1

    def _dying(self, name: str, call: Callable[[], Any]) -> Any:
        for moment in ("before", "after"):
            if self.dead or self.step == f"{moment} {name}":
                self.dead = True
                raise Killed(self.step)
            if moment == "before":
                answer = call()
        return answer

    def init(self, *given: Any) -> Any:
        return self._dying("init", lambda: super(DyingOwner, self).init(*given))

    def add_partitions(self, *given: Any) -> Any:
        return self._dying("add_partitions", lambda: super(DyingOwner, self).add_partitions(*given))

    def send_offsets(self, *given: Any) -> Any:
        return self._dying("send_offsets", lambda: super(DyingOwner, self).send_offsets(*given))

    def commit(self, *given: Any) -> Any:
        return self._dying("commit", lambda: super(DyingOwner, self).commit(*given))

    def abort(self, *given: Any) -> Any:
        return self._dying("abort", lambda: super(DyingOwner, self).abort(*given))


STEPS = [
    "before init",
    "after init",
    "after add_partitions",
    "before send_offsets",  # the tasks have written everything
    "after send_offsets",
    "before commit",
    "after commit",  # carried out, and nobody has heard of it
]


class NotedCheckpoint:
    """A checkpoint that is not Spark's: what a writer asks of one."""

    def __init__(self, location: str = "noted") -> None:
        self.location = location
        self.offsets: dict[int, dict[TopicPartition, int]] = {}
        self.finished = -1

    def unfinished_batch(self) -> int | None:
        begun = max(self.offsets, default=-1)
        return begun if begun > self.finished else None

    def finished_batch(self) -> int:
        return self.finished

    def source_offsets(self, batch_id: int) -> dict[TopicPartition, int]:
        return self.offsets[batch_id]


class Application:
    """An application whose drivers come and go; batches are given to them by hand."""

    def __init__(self, broker: BrokerProcess, name: str, checkpoint: NotedCheckpoint, **given: Any) -> None:
        self.broker, self.checkpoint = broker, checkpoint
        self.identity = CheckpointIdentity(given.pop("checkpoint_id", f"{name}-c"), name, 0)
        options = {"kafka.bootstrap.servers": broker.bootstrap, **given.pop("options", {})}
        self.options = SinkOptions.parse({**options, "topic": name}, exactly_once=True)
        self.given: dict[str, Any] = {"topics": None, "prepare": None, **given}

    def driver(self, step: str = "") -> TransactionalWriter:
        sink = TransactionalSink(
            options=self.options, checkpoint=cast(Any, self.checkpoint), identity=self.identity, **self.given
        )
        owner = DyingOwner(self.identity.application_id, config=dict(self.options.settings))
        owner.step = step
        writer = TransactionalWriter(sink, owner)
        writer.check()
        return writer


@pytest.fixture
def topic(shared_broker: BrokerProcess, topic_name: str) -> str:
    with ottla.Admin(shared_broker.bootstrap) as admin:
        admin.create_topics([ottla.NewTopic(topic_name, 3), ottla.NewTopic(f"{topic_name}-in", 2)]).all()
    return topic_name


def values(broker: BrokerProcess, topic: str, **given: Any) -> list[int]:
    return sorted(int(record.value or b"") for record in records(broker.bootstrap, topic, **given))


def rows_of(spark: SparkSession, batch_id: int) -> DataFrame:
    first = batch_id * PER_BATCH
    return spark.range(first, first + PER_BATCH, 1, 1).selectExpr(
        f"cast(id % {KEYS} as string) as key", "cast(id as string) as value"
    )


def test_a_driver_that_dies_at_any_step_leaves_every_row_exactly_once(
    spark: SparkSession, shared_broker: BrokerProcess, topic: str
) -> None:
    checkpoint = NotedCheckpoint()
    application = Application(shared_broker, topic, checkpoint)
    source = TopicPartition(f"{topic}-in", 1)
    for batch_id, step in enumerate(STEPS):
        checkpoint.offsets[batch_id] = {source: 100 * (batch_id + 1)}
        with pytest.raises((Killed, OutcomeUnknown)):
            application.driver(step).write(rows_of(spark, batch_id), batch_id)
        next_driver = application.driver()
        next_driver.write(rows_of(spark, batch_id), batch_id)
        checkpoint.finished = batch_id
        assert values(shared_broker, topic) == list(range((batch_id + 1) * PER_BATCH)), step
        next_driver.close()
    written = values(shared_broker, topic, isolation_level="read_uncommitted")
    assert len(written) > len(STEPS) * PER_BATCH  # what was aborted is there, for those who want to see it
    with ottla.Admin(shared_broker.bootstrap) as admin:
        (offsets,) = admin.list_consumer_group_offsets([topic]).all().values()
    assert {tp: each.offset for tp, each in offsets.items()} == {source: 100 * len(STEPS)}


def test_a_failed_task_has_its_batch_aborted_and_run_again(
    spark: SparkSession, shared_broker: BrokerProcess, topic: str, tmp_path: Path
) -> None:
    """The rows of the first attempt are in the log, aborted; those of the second count."""
    from pyspark.sql.functions import udf

    checkpoint = NotedCheckpoint()
    checkpoint.offsets[0] = {}
    broken = tmp_path / "failed once"

    def once(value: str) -> str:
        if value == "69" and not broken.exists():
            broken.touch()
            raise ValueError("the last record, the first time")
        return value

    def failing(frame: DataFrame, batch_id: int) -> DataFrame:
        return frame.select("key", udf(once, "string")("value").alias("value"))

    application = Application(shared_broker, topic, checkpoint, prepare=failing)
    application.driver().write(rows_of(spark, 0), 0)
    assert broken.exists()
    assert values(shared_broker, topic) == list(range(PER_BATCH))
    partitions = {record.key: record.partition for record in records(shared_broker.bootstrap, topic)}
    with ottla.Producer(shared_broker.bootstrap) as producer:
        for key, partition in partitions.items():  # as Java's default partitioner chooses them
            assert producer.send(topic, b"0", key=key).result(10).partition == partition

    checkpoint.finished, checkpoint.offsets[1] = 0, {}

    def never(frame: DataFrame, batch_id: int) -> DataFrame:
        return frame.selectExpr("key", "value", "cast(9 as int) as partition")

    impossible = Application(shared_broker, topic, checkpoint, prepare=never)
    with pytest.raises(UnwritableRow, match=r"a row has partition 9: topic .* has 3"):
        impossible.driver().write(rows_of(spark, 1), 1)

    def bad(frame: DataFrame, batch_id: int) -> DataFrame:
        return frame.selectExpr("key", "cast(raise_error('no good') as string) as value")

    hopeless = Application(shared_broker, topic, checkpoint, prepare=bad, options={"batchAttempts": "2"})
    with pytest.raises(BatchFailed, match=r"(?s)batch 1 failed 2 times .*no good"):
        hopeless.driver().write(rows_of(spark, 1), 1)


def test_of_two_drivers_the_older_one_is_fenced_and_says_so(
    spark: SparkSession, shared_broker: BrokerProcess, topic: str
) -> None:
    checkpoint = NotedCheckpoint()
    checkpoint.offsets = {0: {}}
    application = Application(shared_broker, topic, checkpoint)
    older = application.driver()
    older.write(rows_of(spark, 0), 0)
    checkpoint.offsets, checkpoint.finished = {1: {}, 2: {}}, 0
    younger = application.driver()
    younger.write(rows_of(spark, 1), 1)
    with pytest.raises(ApplicationFenced, match=f"another driver with application_id {topic} has taken over"):
        older.write(rows_of(spark, 1), 1)
    younger.write(rows_of(spark, 2), 2)
    assert values(shared_broker, topic) == list(range(3 * PER_BATCH))


def test_a_checkpoint_that_does_not_fit_the_application_is_refused(
    spark: SparkSession, shared_broker: BrokerProcess, topic: str
) -> None:
    source = TopicPartition(f"{topic}-in", 0)
    checkpoint = NotedCheckpoint()
    application = Application(shared_broker, topic, checkpoint)
    for batch_id in (0, 1):
        checkpoint.offsets[batch_id] = {source: 10 * (batch_id + 1)}
        application.driver().write(spark.range(1).selectExpr("'0' as value"), batch_id)
        checkpoint.finished = batch_id
    new = Application(shared_broker, topic, NotedCheckpoint(), checkpoint_id="another")
    with pytest.raises(ForeignCheckpoint, match="choose another application_id, or forget"):
        new.driver()
    older = NotedCheckpoint()
    older.offsets, older.finished = {0: {}}, 0
    with pytest.raises(ForeignCheckpoint, match="older copy"):
        Application(shared_broker, topic, older).driver()
    older.offsets[1] = {source: 15}  # an older copy that went on by itself, to another place
    with pytest.raises(ForeignCheckpoint, match="another batch 1"):
        Application(shared_broker, topic, older).driver().write(spark.range(1).selectExpr("'1' as value"), 1)
    with ottla.Admin(shared_broker.bootstrap) as admin:
        admin.delete_groups([topic]).all()
    checkpoint.offsets[2] = {source: 30}
    with pytest.raises(ForeignCheckpoint, match="knows nothing of application"):
        application.driver().write(spark.range(1).selectExpr("'2' as value"), 2)
    assert values(shared_broker, topic) == [0, 0]


def test_a_time_that_brokers_do_not_allow_and_a_topic_that_they_do_not_create_are_refused(
    spark: SparkSession, shared_broker: BrokerProcess, start_broker: Any, topic: str
) -> None:
    """transaction.max.timeout.ms and auto.create.topics.enable."""
    checkpoint = NotedCheckpoint()
    checkpoint.offsets = {0: {}}
    too_long = Application(
        shared_broker, topic, checkpoint, options={"kafka.transaction.timeout.ms": "999999999"}
    )
    with pytest.raises(BatchFailed, match=r"lower kafka\.transaction\.timeout\.ms"):
        too_long.driver().write(rows_of(spark, 0), 0)
    strict = start_broker(settings={"auto.create.topics.enable": "false"})
    missing = Application(strict, f"{topic}-missing", checkpoint)
    with pytest.raises(UnwritableRow, match=f"create it with `ottla topic create {topic}-missing`"):
        missing.driver()


def test_a_stateful_query_goes_on_where_it_was_after_a_commit_that_spark_never_heard_of(
    spark: SparkSession,
    shared_broker: BrokerProcess,
    topic: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A running count by key: of each key, every batch writes exactly one row, with the number of all records
    so far. A batch that is skipped has its state computed nevertheless, or the next counts would be wrong.
    A query that has ended, however it has, and one that cannot begin, leave no connection behind.
    """
    released: list[str] = []
    source = f"{topic}-in"
    counts = (
        spark.readStream.format("ottla")
        .option("kafka.bootstrap.servers", shared_broker.bootstrap)
        .option("subscribe", source)
        .option("startingOffsets", "earliest")
        .load()
        .groupBy("key")
        .count()
        .selectExpr("key", "cast(count as string) as value")
    )

    def with_topic(frame: DataFrame, batch_id: int) -> DataFrame:
        return frame.selectExpr("*", f"'{topic}' as topic", f"{batch_id} as ignored")

    def run() -> None:
        with ottla.Producer(shared_broker.bootstrap) as producer:
            for number in range(PER_BATCH):
                producer.send(source, b"%d" % number, key=b"k%d" % (number % KEYS))
        query = write_stream(
            counts,
            exactly_once=True,
            bootstrap_servers=shared_broker.bootstrap,
            checkpoint=str(tmp_path / "checkpoint"),
            trigger={"availableNow": True},
            output_mode="update",
            application_id=topic,
            prepare=with_topic,
            release=lambda: released.append(DyingOwner.step),
        )
        query.awaitTermination(120)
        assert not query.isActive

    monkeypatch.setattr(module, "TransactionOwner", DyingOwner)
    monkeypatch.setattr(DyingOwner, "open_count", 0)
    for step in ("before send_offsets", "after commit", ""):
        monkeypatch.setattr(DyingOwner, "step", step)
        if step:
            with pytest.raises(StreamingQueryException, match=step):
                run()
        else:
            run()
    totals: dict[bytes | None, list[int]] = {}
    for record in records(shared_broker.bootstrap, topic):
        totals.setdefault(record.key, []).append(int(record.value or b""))
    each = PER_BATCH // KEYS
    # The first two runs share a batch, which the first began and the second committed; the last has one more.
    assert totals == {b"k%d" % key: [each, 3 * each] for key in range(KEYS)}
    assert released == ["before send_offsets", "after commit", "", ""]  # one was skipped
    wait_until(lambda: DyingOwner.open_count == 0, "the owners of ended queries to be closed")
    with pytest.raises(AnalysisException, match="output mode"):
        write_stream(
            counts,
            topic=topic,
            exactly_once=True,
            bootstrap_servers=shared_broker.bootstrap,
            checkpoint=str(tmp_path / "checkpoint"),
            application_id=topic,
        )
    assert DyingOwner.open_count == 0
    with ottla.Admin(shared_broker.bootstrap) as admin:
        lags = admin.describe_group_lags([topic]).all()[topic].partitions
    assert {lag.topic_partition: lag.lag for lag in lags} == {TopicPartition(source, i): 0 for i in range(2)}
    with pytest.raises(ForeignCheckpoint, match=f"belongs to application {topic}, not to other"):
        write_stream(
            counts,
            topic=topic,
            exactly_once=True,
            bootstrap_servers=shared_broker.bootstrap,
            checkpoint=str(tmp_path / "checkpoint"),
            application_id="other",
            output_mode="update",
        )
    monkeypatch.setattr(spark.sparkContext, "getConf", lambda: SparkConf().set("spark.speculation", "true"))
    with pytest.raises(InvalidOption, match=r"spark\.speculation=true"):
        write_stream(
            counts,
            topic=topic,
            exactly_once=True,
            bootstrap_servers=shared_broker.bootstrap,
            checkpoint=str(tmp_path / "checkpoint"),
        )
