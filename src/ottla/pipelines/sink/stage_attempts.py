"""Whether Spark ran a stage for a second time: it does when a shuffle's files are lost with an executor.

The tasks of a second run are first attempts to themselves, so only Spark's books tell; and the first run's
tasks may still be writing. Spark keeps the books from events, which come a little after the job has ended:
they are waited for.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from pyspark.sql import SparkSession

EVENTS_TIMEOUT_S = 10.0
LOOK_EVERY_S = 0.005


def was_retried(spark: SparkSession, stages: Iterable[int]) -> bool:
    """Whether one of these stages, all of whose tasks have reported, was run more than once. What cannot be
    found out counts as yes.
    """
    tracker: Any = spark.sparkContext.statusTracker()
    deadline_s = time.monotonic() + EVENTS_TIMEOUT_S
    for stage in stages:
        while True:
            info = tracker.getStageInfo(stage)
            if info is not None and info.currentAttemptId > 0:
                return True
            if info is not None and info.numTasks and info.numCompletedTasks >= info.numTasks:
                break
            if time.monotonic() > deadline_s:
                return True
            time.sleep(LOOK_EVERY_S)
    return False
