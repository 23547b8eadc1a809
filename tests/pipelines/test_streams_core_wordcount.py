"""WordCount as it is in the examples, run on Spark, against counts made by a loop."""

from __future__ import annotations

import random
import runpy
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from streams_program import Program, number, text

import ottla
from ottla.streams.running.failures import ForeignCheckpoint, MissingTopic
from support.broker_process import BrokerProcess

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.timeout(600)  # several queries each; seconds on a machine that is not busy

WORDCOUNT = Path(__file__).parents[2] / "examples" / "wordcount" / "wordcount.py"


def test_wordcount_continues_from_its_checkpoint_and_every_count_is_exact(
    spark: SparkSession, shared_broker: BrokerProcess, tmp_path: Path
) -> None:
    """The quickstart's WordCount; a second run begins where the first one ended (nothing twice, nothing
    lost).
    """
    program = Program(spark, shared_broker.bootstrap, tmp_path / "checkpoint", "wordcount")
    builder = runpy.run_path(str(WORDCOUNT))["builder"]
    said = r"output-topic, quickstart-events do not exist.*ottla topic create quickstart-events"
    with pytest.raises(MissingTopic, match=said):
        program.run(builder)
    with ottla.Admin(shared_broker.bootstrap) as admin:
        names = ("quickstart-events", "output-topic")
        kept = {"retention.ms": "-1"}
        admin.create_topics([ottla.NewTopic(name, partitions=2, configs=kept) for name in names]).all()

    choose = random.Random(3)
    words = ["Kafka", "streams", "ALL", "leads", "to", "naïve", "流", "kafka"]
    expected: Counter[str] = Counter()
    for size, guarantee in ((300, "exactly_once_v2"), (200, "at_least_once")):
        lines = [" ".join(choose.choices(words, k=choose.randrange(6))) for _ in range(size)]
        program.put("quickstart-events", [(None, line, 1_700_000_000_000) for line in lines])
        program.run(runpy.run_path(str(WORDCOUNT))["builder"], processing_guarantee=guarantee)
        told: Counter[str] = Counter(word for line in lines for word in line.lower().split())
        expected += told
        # Each word that came up has one new count, the right one.
        fresh = [(text(each.key), number(each.value)) for each in program.new("output-topic")]
        assert sorted(fresh) == sorted((word, expected[word]) for word in told)

    other = Program(spark, shared_broker.bootstrap, tmp_path / "checkpoint", "other")
    with pytest.raises(ForeignCheckpoint, match="belongs to the application 'wordcount', not to 'other'"):
        other.run(builder)
