"""Internal repartition topics are emptied as they are read, as Kafka Streams does it (`DeleteRecords`).

Nobody but the stages behind such a topic reads it, and nothing else bounds its size: its retention is without
end, since a record must not expire before it was read. What lies below the offsets in the commit log of every
stage that reads the topic is of no use any more: a restart begins there. Changelogs of tables are compacted
and stay.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ottla.client.errors import OttlaError
from ottla.model.types import TopicPartition
from ottla.streams import plan

log = logging.getLogger("ottla.streams")

INTERVAL_S: Final = 30.0
"""Kafka Streams' repartition.purge.interval.ms."""

Committed = dict[TopicPartition, int]


class Purge:
    """The repartition topics of an application, and up to where they have been emptied."""

    def __init__(self, stages: Sequence[plan.Stage], settings: Mapping[str, Any]) -> None:
        """Settings are those of the admin client."""
        self._settings = settings
        self.readers = readers_of(stages)
        self._done: Committed = {}
        self._last_s = time.monotonic()

    @property
    def due(self) -> bool:
        return bool(self.readers) and time.monotonic() - self._last_s >= INTERVAL_S

    def run(self, committed: Mapping[str, Committed]) -> None:
        """Deletes what all readers have behind them; `committed` is by the name of the stage. What cannot be
        deleted now is deleted another time.
        """
        from ottla.pipelines import connections

        self._last_s = time.monotonic()
        wanted = deletable(self.readers, committed)
        news = {tp: offset for tp, offset in wanted.items() if offset > self._done.get(tp, 0)}
        if not news:
            return
        try:
            outcome = connections.admin(self._settings).delete_records(news)
        except OttlaError as error:
            log.warning("repartition topics could not be emptied: %s", error)
            return
        for tp, result in outcome.items():
            if isinstance(result, OttlaError):
                log.warning("%s could not be emptied: %s", tp, result)
            else:
                self._done[tp] = news[tp]


def readers_of(stages: Sequence[plan.Stage]) -> dict[str, set[str]]:
    """Of each repartition topic, the stages that read it."""
    topics = {topic.name for stage in stages for topic in stage.internal_topics if not topic.compacted}
    readers: dict[str, set[str]] = {}
    for stage in stages:
        for node in plan.Topology(ends=stage.ends).nodes():
            if isinstance(node, plan.Source):
                for topic in topics.intersection(node.topics):
                    readers.setdefault(topic, set()).add(stage.name)
    return readers


def deletable(readers: Mapping[str, set[str]], committed: Mapping[str, Committed]) -> Committed:
    """Up to where every reader of a partition has come; nothing of one that some reader has not begun."""
    found: Committed = {}
    for topic, stages in readers.items():
        offsets = [committed.get(stage, {}) for stage in stages]
        for tp in {tp for each in offsets for tp in each if tp.topic == topic}:
            if all(tp in each for each in offsets):
                found[tp] = min(each[tp] for each in offsets)
    return found


def offsets_in(sources: Sequence[str | None]) -> Committed:
    """The offsets that Spark tells of a query's sources: JSON, {"topic": {"0": 12}}. Of a topic that is read
    twice, the lower ones.
    """
    found: Committed = {}
    for text in sources:
        for topic, partitions in json.loads(text or "{}").items():
            for partition, offset in partitions.items():
                tp = TopicPartition(topic, int(partition))
                found[tp] = min(offset, found.get(tp, offset))
    return found
