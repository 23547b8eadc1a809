"""The cluster as the driver sees it while it plans: which partitions there are, where they begin and end.

Every question is one request to each broker concerned, over the connection that the process keeps. One that
failed is put again, `fetchOffset.numRetries` times at least, and for `default.api.timeout.ms` where the
cluster has answered before: a query lives through a broker's restart.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final, TypeVar

from ottla.client.errors import OttlaError, UnknownTopicOrPartition
from ottla.model.types import TopicPartition
from ottla.pipelines import connections
from ottla.pipelines.source.offsets import EARLIEST, LATEST, OffsetLimit, Offsets

if TYPE_CHECKING:
    from ottla.pipelines.options import SourceOptions

R = TypeVar("R")

API_TIMEOUT_MS: Final = 60_000
"""Kafka's default of `default.api.timeout.ms`."""


class TopicMissing(OttlaError):
    """A topic or partition that is to be read does not exist."""


class NoSuchMoment(OttlaError):
    """No record is as young as the time at which reading is to begin."""


class SourceCluster:
    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._settings = dict(options.settings)
        self._patience_s = int(self._settings.get("default.api.timeout.ms", API_TIMEOUT_MS)) / 1000
        self._answered = False

    def partitions(self) -> dict[TopicPartition, bytes]:
        """What the subscription means now, each with its topic's id; topics that are missing are left out."""
        subscription = self._options.subscription
        admin = connections.admin(self._settings)
        if subscription.pattern is not None:
            names = subscription.matching(self._asked(lambda: admin.list_topics(internal=False)))
        else:
            names = list(subscription.names)
        found: dict[TopicPartition, bytes] = {}
        for name, topic in self._asked(lambda: admin.describe_topics(names)).items():
            if isinstance(topic, UnknownTopicOrPartition):
                continue
            if isinstance(topic, OttlaError):
                raise topic
            for partition in topic.partitions:
                found[TopicPartition(name, partition.partition)] = bytes(topic.topic_id)
        if subscription.assigned:
            return {tp: found[tp] for tp in subscription.assigned if tp in found}
        return dict(sorted(found.items()))

    def required_partitions(self) -> dict[TopicPartition, bytes]:
        """As `partitions`; what was named and is not there is an error that says how to make it."""
        found = self.partitions()
        subscription = self._options.subscription
        there = {tp.topic for tp in found}
        servers = self._options.bootstrap_servers
        for name in subscription.names:
            if name not in there:
                raise TopicMissing(
                    f"the topic {name!r} does not exist at {servers}; create it with: "
                    f"ottla topic create {name} --bootstrap-server {servers}"
                )
        for tp in subscription.assigned:
            if tp not in found:
                raise TopicMissing(
                    f"assign names partition {tp.partition} of {tp.topic!r}, which has only "
                    f"{sum(each.topic == tp.topic for each in found)} of the partitions that are named"
                )
        return found

    def earliest(self, partitions: Iterable[TopicPartition]) -> Offsets:
        return self._offsets(dict.fromkeys(partitions, EARLIEST))

    def latest(self, partitions: Iterable[TopicPartition]) -> Offsets:
        """The ends; with read_committed, where the first transaction begins that is not decided."""
        return self._offsets(dict.fromkeys(partitions, LATEST))

    def at(self, moments_ms: Mapping[TopicPartition, int]) -> Offsets:
        """Of the first records at or after a time; -1 where no record is that young."""
        return self._offsets(moments_ms)

    def resolve(self, limit: OffsetLimit, partitions: Iterable[TopicPartition]) -> Offsets:
        """Where exactly to begin or to end. Offsets that were said are taken as they are."""
        wanted = limit.for_partitions(partitions)
        if limit.kind in ("timestamp", "timestamps"):
            found = self.at(wanted)
            late = [tp for tp, offset in found.items() if offset == LATEST]
            if late and not limit.to_latest:
                raise NoSuchMoment(
                    f"{late[0]} has no record at or after {wanted[late[0]]} ms since 1970"
                    + (f", and {len(late) - 1} other partitions have none either" if len(late) > 1 else "")
                    + "; with the option startingOffsetsByTimestampStrategy=latest reading begins at the end "
                    "of such partitions"
                )
            return {**found, **self.latest(late)}
        named = {tp: offset for tp, offset in wanted.items() if offset in (EARLIEST, LATEST)}
        return {**wanted, **self._offsets(named)}

    def _offsets(self, when: Mapping[TopicPartition, int]) -> Offsets:
        if not when:
            return {}
        admin = connections.admin(self._settings)

        def ask() -> Offsets:
            found = admin.list_offsets(when, read_committed=self._options.read_committed)
            return {tp: result.offset for tp, result in found.all().items()}

        try:
            return self._asked(ask)
        except UnknownTopicOrPartition as error:
            raise TopicMissing(f"a topic was deleted while it was read: {error}") from error

    def _asked(self, ask: Callable[[], R]) -> R:
        """An answer. A cluster that has answered before gets the time that Kafka's clients give it, which a
        broker's restart fits in; one that never did is probably not there.
        """
        deadline_s = time.monotonic() + (self._patience_s if self._answered else 0)
        attempt = 0
        while True:
            try:
                found = ask()
                self._answered = True
                return found
            except UnknownTopicOrPartition:
                raise
            except OttlaError as error:
                attempt += 1
                passing = error.retriable or isinstance(error, TimeoutError)
                over = attempt > self._options.fetch_offset_retries and time.monotonic() >= deadline_s
                if over or not passing:
                    raise
                self.pause()

    def pause(self) -> None:
        """Between two attempts."""
        time.sleep(self._options.fetch_offset_retry_interval_ms / 1000)
