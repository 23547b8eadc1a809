"""Keeps the view of the cluster fresh for the topics that somebody wants.

One task asks for them: at once when a topic is wanted that is not known, as soon as `retry.backoff.ms` allows
when somebody found a leader gone (`request`), and every `metadata.max.age.ms` otherwise. Topics that do not
exist (yet), or have a partition without a leader, are asked for again with growing waits. `updated` is
notified after every attempt; whoever waits looks at `cluster.view` and at `error`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from ottla.client import log
from ottla.client.backoff import JITTER
from ottla.client.cluster import Cluster
from ottla.client.effects import ClientSteps, Host, Signal, Task, Wait
from ottla.client.errors import InvalidArgument, OperationTimedOut, OttlaError, ServerError
from ottla.client.settings import ClientSettings
from ottla.client.view import NO_LEADER, Address, BrokerView, ClusterView, TopicView
from ottla.model.errors import ErrorCode


class NodeEndpoint(Protocol):
    """What responses say of a new leader (KIP-951)."""

    node_id: int
    host: str
    port: int


class Metadata:
    def __init__(self, cluster: Cluster, host: Host, settings: ClientSettings) -> None:
        self.updated = Signal()
        self.error: OttlaError | None = None
        """Why the last attempt failed; None when it did not."""
        self._cluster = cluster
        self._host = host
        self._clock = host.clock
        self._max_age_ms = settings.metadata_max_age_ms
        self._max_idle_ms = settings.metadata_max_idle_ms
        self._backoff_ms = settings.retry_backoff_ms
        self._backoff_max_ms = settings.retry_backoff_max_ms
        self._create_missing = _may_create(settings)
        self._topics: dict[str, float] = {}
        """The wanted topics, and when each was last wanted."""
        self._all_topics = False
        self._expires = True
        self._requested = False
        self._due = Signal()
        self._attempts = 0
        """Attempts in a row after which something was still missing."""
        self._tried_ms = -1e12
        self._refreshed_ms = -1e12
        self._task: Task[None] | None = None
        self._closed = False

    # -- what others ask --

    def start(self) -> None:
        if self._task is None and not self._closed:
            self._task = self._host.spawn(self._keep(), "the metadata keeper")

    def close(self) -> None:
        self._closed = True
        if self._task is not None:
            self._task.cancel()

    def want(self, topics: Iterable[str]) -> None:
        """These topics too, from now on; one that is not wanted again for
        `metadata.max.idle.ms` is dropped.
        """
        now_ms = self._clock.monotonic_ms()
        known = self._cluster.view.topics
        missing = False
        for name in topics:
            if name not in self._topics and name not in known:
                missing = True
            self._topics[name] = now_ms
        if missing:
            self._attempts = 0
            self.request()
        if self._task is None:
            self.start()

    def want_only(self, topics: Iterable[str] | None, *, create_missing: bool | None = None) -> None:
        """Exactly these, until told otherwise; None for all topics that there are."""
        if create_missing is not None:
            self._create_missing = create_missing
        self._expires = False
        if topics is None:
            if not self._all_topics:
                self._all_topics = True
                self._attempts = 0
                self.request()
            if self._task is None:
                self.start()
            return
        self._all_topics = False
        wanted = list(topics)
        kept = self._topics
        self._topics = {name: kept[name] for name in wanted if name in kept}
        self.want(wanted)

    def request(self) -> None:
        """A refresh as soon as the back-off allows."""
        if not self._requested:
            self._requested = True
            self._due.notify()

    def await_topic(self, name: str, deadline_ms: float) -> ClientSteps[TopicView]:
        """The topic, once it can be used. OperationTimedOut when that takes too long."""
        if not name:
            raise InvalidArgument("a topic's name cannot be empty")
        self.want((name,))
        looked = False
        while True:
            found = self._cluster.view.topics.get(name)
            why: OttlaError | None = None
            if found is not None and not found.error and found.partitions:
                return found
            if self.error is not None:
                why = self.error
            elif found is not None and found.error:
                why = ServerError(found.error, subject=f"topic {name}")
            if why is not None and not why.retriable and looked:  # what was so before may have changed
                raise why
            left_ms = deadline_ms - self._clock.monotonic_ms()
            if left_ms <= 0:
                raise OperationTimedOut(
                    f"topic {name}: there is no metadata in time" + (f": {why}" if why is not None else "")
                ) from why
            if found is not None or why is not None:
                self.request()
            looked = yield Wait(self.updated, left_ms)

    def leader_moved(
        self,
        topic: str,
        partition: int,
        leader_id: int,
        leader_epoch: int,
        endpoints: Iterable[NodeEndpoint] = (),
    ) -> bool:
        """A response named the new leader (KIP-951): True when that is news, and can be used."""
        view = self._cluster.view
        brokers = dict(view.brokers)
        for each in endpoints:
            rack: Any = getattr(each, "rack", None)
            brokers[each.node_id] = BrokerView(each.node_id, Address(each.host, each.port), rack)
        if leader_id not in brokers:
            return False
        newer = view.with_leader(topic, partition, leader_id, leader_epoch)
        if newer is None:
            return False
        self._cluster.view = ClusterView(newer.cluster_id, newer.controller_id, brokers, newer.topics)
        self._cluster.directory.update(self._cluster.view)
        self.updated.notify()
        return True

    # -- the task --

    def _keep(self) -> ClientSteps[None]:
        while True:
            wait_ms = self._wait_ms()
            if wait_ms > 0:
                yield Wait(self._due, wait_ms)
            else:
                yield from self._refresh()

    def _wait_ms(self) -> float:
        """Until the next refresh."""
        now_ms = self._clock.monotonic_ms()
        if self._requested:
            backoff_ms = min(self._backoff_ms * 2.0 ** min(self._attempts, 30), self._backoff_max_ms)
            backoff_ms *= 1.0 + JITTER * (2.0 * self._host.chance() - 1.0)
            return self._tried_ms + backoff_ms - now_ms
        return self._refreshed_ms + self._max_age_ms - now_ms

    def _refresh(self) -> ClientSteps[None]:
        self._requested = False  # whoever asks from here on may know more than the broker that answers
        self._tried_ms = self._clock.monotonic_ms()
        if self._expires:
            self._drop_idle(self._tried_ms)
        topics = None if self._all_topics else sorted(self._topics)
        try:
            yield from self._cluster.refresh(topics, create_missing=self._create_missing)
        except OttlaError as error:
            self.error = error
            log.debug("the metadata could not be refreshed: %s", error)
            incomplete = True
        else:
            self.error = None
            self._refreshed_ms = self._clock.monotonic_ms()
            incomplete = self._incomplete()
        if incomplete:
            self._requested = True
            self._attempts += 1
        else:
            self._attempts = 0
        self.updated.notify()

    def _drop_idle(self, now_ms: float) -> None:
        idle = [name for name, used_ms in self._topics.items() if now_ms - used_ms > self._max_idle_ms]
        for name in idle:
            del self._topics[name]

    def _incomplete(self) -> bool:
        """Whether something that is wanted was not there, but may come."""
        topics = self._cluster.view.topics
        for name in self._topics:
            topic = topics.get(name)
            if topic is None:
                return True
            if topic.error:
                if ServerError(topic.error).retriable:
                    return True
            elif any(
                partition.leader == NO_LEADER or partition.error == ErrorCode.LEADER_NOT_AVAILABLE
                for partition in topic.partitions
            ):
                return True
        return False


def _may_create(settings: ClientSettings) -> bool:
    """Whether asking for a topic creates it: producers always let it, consumers by their setting."""
    if settings.KIND == "consumer":
        from ottla.client.settings import ConsumerSettings

        assert isinstance(settings, ConsumerSettings)
        return settings.allow_auto_create_topics
    return settings.KIND == "producer"
