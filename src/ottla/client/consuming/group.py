"""A consumer's place in its group: the task that drives a membership while the user works on records.

The task joins, sends heartbeats whether or not anybody polls (KIP-62), and follows the coordinator.
Partitions come and go only inside `poll`: what the membership wants given up or taken lies in `pending` until
poll has carried it out and says so; heartbeats go on meanwhile. When poll stays away for
`max.poll.interval.ms`, the member leaves by itself, so that others get its partitions; the next poll takes
note of the loss and joins again. An error that ends the membership lies in `error` until poll raises it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from ottla.client import effects
from ottla.client.consuming.assignors import resolve
from ottla.client.effects import ClientSteps, Pause, Signal, Task
from ottla.client.errors import BrokerUnavailable, CommitFailed, MaxPollExceeded, OttlaError
from ottla.client.membership import (
    FOREVER,
    Assign,
    CountPartitions,
    GroupSettings,
    Identity,
    Left,
    Membership,
    NameTopics,
    Revoke,
    Send,
    Step,
    Wait,
)
from ottla.model.types import TopicPartition
from ottla.model.uuids import is_reserved, uuid_to_text
from ottla.wire.messages.join_group import JoinGroupRequest
from ottla.wire.messages.sync_group import SyncGroupRequest

if TYPE_CHECKING:
    from ottla.client.consuming.subscription import Interest
    from ottla.client.session import Session
    from ottla.client.settings import ConsumerSettings

log = logging.getLogger("ottla.client")

CLASSIC: Final = "classic"
CONSUMER: Final = "consumer"

COORDINATOR_LANE: Final = 1
JOIN_LANE: Final = 2
"""A broker answers one connection in order, and holds a JoinGroup until all members have joined: heartbeats,
commits and fetches have to go around it."""

FILTER_RETRY_MS: Final = 500


class Group:
    def __init__(self, session: Session, settings: ConsumerSettings, news: Signal) -> None:
        assert settings.group_id is not None
        self._session = session
        self._settings = settings
        self._news = news
        self._group_id = settings.group_id
        self._interest: Interest | None = None
        self._strategy = resolve(settings.partition_assignment_strategy)
        self._task: Task[None] | None = None
        self._following: Task[None] | None = None
        self._wake = Signal()
        self._poll_deadline_ms = FOREVER
        self.membership: Membership | None = None
        self._known_as: Identity | None = None
        self.pending: Revoke | Assign | None = None
        self.changed = Signal()
        """The coordinator answered: generation, epoch or state may be others now."""
        self.error: BaseException | None = None
        self.expired = False
        """Left because nobody polled; until the next poll."""
        self.unreachable: OttlaError | None = None
        """Why no broker of the cluster could be reached, as long as none ever was."""

    # -- what is known

    @property
    def owned(self) -> frozenset[TopicPartition]:
        return frozenset() if self.membership is None else self.membership.owned

    @property
    def joined(self) -> bool:
        return self.membership is not None and self.membership.joined

    @property
    def lost(self) -> bool:
        """Whether what is owned may be with others already; poll is about to be told."""
        return self.membership is not None and self.membership.lost

    @property
    def identity(self) -> Identity:
        if self.membership is None:
            return Identity("", -1, self._settings.group_instance_id)
        return self.membership.identity

    @property
    def last_identity(self) -> Identity:
        """Who this is, and after a loss who it was: what it read as that has to be refused under that name,
        while a commit in nobody's name would be taken (KIP-447).
        """
        self._remember()
        return self.identity if self._known_as is None else self._known_as

    def _remember(self) -> None:
        who = self.identity
        if self.membership is not None and not self.membership.lost and who.member_id and who.generation > 0:
            self._known_as = who

    def committer(self) -> Identity:
        """Who a commit comes from; raises when this is no member (any more)."""
        who = self.identity
        if self.expired:
            raise MaxPollExceeded(
                f"group {self._group_id}: poll was not called for max.poll.interval.ms "
                f"({self._settings.max_poll_interval_ms} ms), so this member has left and its partitions "
                "went to others: what was read since the last commit will be delivered again. Poll more "
                "often: lower max.poll.records, or raise max.poll.interval.ms"
            )
        if self.membership is None or self.membership.lost or not who.member_id or who.generation <= 0:
            raise CommitFailed(
                f"group {self._group_id}: this consumer is not a member of the group, so it cannot commit: "
                "call poll until it has joined (after a loss, what was read since the last commit will be "
                "delivered again)"
            )
        return who

    def reader(self) -> Identity | None:
        """Who asks for committed offsets: a member of KIP-848 says so, and is refused when the coordinator
        knows better what it is. The classic protocol does not ask.
        """
        who = self.identity
        if self._settings.group_protocol.lower() != CONSUMER or self.lost or who.generation <= 0:
            return None
        return who

    # -- what the core does

    def subscribe(self, interest: Interest) -> None:
        """Takes effect with the next poll."""
        self._interest = interest
        if self.membership is not None:
            self._tell_topics()
            self._wake.notify()

    def ensure_started(self) -> None:
        if self.error is not None or (self._task is not None and not self._task.done):
            return  # poll raises the error first; the one after that begins anew
        self.membership = self._new_membership()
        self.pending = None
        self._task = self._session.host.spawn(self._drive(), f"group {self._group_id}")
        if self._following is None or self._following.done:
            self._following = self._session.host.spawn(self._follow_metadata(), "group metadata")

    def poll_began(self) -> None:
        """Whoever is in poll is not late."""
        self._poll_deadline_ms = FOREVER
        if self.expired and self.membership is not None:
            self.expired = False
            self.membership.resume()
            self._wake.notify()

    def poll_ended(self) -> None:
        """Also before a listener is called: its time counts."""
        self._poll_deadline_ms = self._session.host.clock.monotonic_ms() + self._settings.max_poll_interval_ms
        self._wake.notify()

    def carried_out(self, step: Revoke | Assign) -> bool:
        """Poll has given the partitions up, or taken them. False when that was void: thrown out, or expired,
        meanwhile.
        """
        if self.membership is None:
            return False
        if self.pending is not step:
            if isinstance(step, Revoke):
                self.membership.owned -= step.partitions  # they need not be lost as well
            return False
        now_ms = self._session.host.clock.monotonic_ms()
        self.pending = None
        if isinstance(step, Revoke):
            self.membership.revoked(now_ms)
        else:
            self.membership.assigned(now_ms)
        self._wake.notify()
        return True

    def dismiss(self, step: Revoke | Assign) -> None:
        """What was pending makes no sense any more: the member was thrown out."""
        if self.pending is step and self.membership is not None:
            self.pending = None
            self.membership.dismiss()
            self._wake.notify()

    def heartbeat_now(self) -> None:
        if self.membership is not None:
            self.membership.heartbeat_now()
            self._wake.notify()

    def rejoin(self, reason: str) -> None:
        if self._settings.group_protocol.lower() == CONSUMER:
            log.warning(
                "group %s: with group.protocol=consumer nobody can enforce a rebalance", self._group_id
            )
        elif self.membership is not None:
            self.membership.rejoin(reason)
            self._wake.notify()

    def stop(self) -> None:
        """Ends the tasks where they are; the coordinator is told nothing."""
        for task in (self._task, self._following):
            if task is not None and not task.done:
                task.cancel()
        self._task = self._following = None

    def begin_leaving(self, remain: bool | None) -> None:
        """The driver hands over to whoever calls `leave_step`."""
        self.stop()
        self.pending = None
        self._known_as = None
        if self.membership is not None:
            self.membership.abandon()
            self.membership.leave(remain)

    def leave_step(self) -> ClientSteps[Revoke | bool | None]:
        """Goes on with leaving: a Revoke for the caller to carry out, True when it has to be asked again,
        None when all is done.
        """
        if self.membership is None:
            return None
        now_ms = self._session.host.clock.monotonic_ms()
        step = self.membership.step(now_ms)
        if isinstance(step, Left):
            return None
        if isinstance(step, Revoke):
            self.pending = step
            return step
        if isinstance(step, Wait):
            yield Pause(max(1.0, min(step.until_ms - now_ms, 100.0)))
        else:
            yield from self._carry_out(step)
        return True

    # -- the task

    def _new_membership(self) -> Membership:
        settings, host = self._settings, self._session.host
        group = GroupSettings(
            self._group_id,
            settings.group_instance_id,
            session_timeout_ms=settings.session_timeout_ms,
            heartbeat_interval_ms=settings.heartbeat_interval_ms,
            rebalance_timeout_ms=settings.max_poll_interval_ms,
            assignors=self._strategy.names,
            remote_assignor=settings.group_remote_assignor,
            rack_id=settings.client_rack or None,
            metadata_max_age_ms=settings.metadata_max_age_ms,
        )
        assert self._interest is not None
        topics = frozenset() if self._interest.by_filter else self._interest.topics
        if settings.group_protocol.lower() == CONSUMER:
            from ottla.client.membership_consumer import ConsumerMembership

            return ConsumerMembership(
                group, self._new_member_id(), host.chance, topics=topics, regex=self._interest.regex
            )
        from ottla.client.membership_classic import ClassicMembership

        return ClassicMembership(group, topics, host.chance, self._strategy.own)

    def _new_member_id(self) -> str:
        """A random UUID in Kafka's text form (KIP-1082: members name themselves)."""
        while True:
            raw = bytes(int(self._session.host.chance() * 256) for _ in range(16))
            raw = raw[:6] + bytes([raw[6] & 0x0F | 0x40]) + raw[7:8] + bytes([raw[8] & 0x3F | 0x80]) + raw[9:]
            if not is_reserved(raw):
                return uuid_to_text(raw)

    def _drive(self) -> ClientSteps[None]:
        clock = self._session.host.clock
        try:
            if self._interest is not None and self._interest.by_filter:
                yield from self._first_choice()
            while True:
                assert self.membership is not None
                now_ms = clock.monotonic_ms()
                if now_ms >= self._poll_deadline_ms and not self.expired:
                    self._expire()
                step = self.membership.step(now_ms)
                if isinstance(step, Left):
                    return
                if isinstance(step, Wait):
                    until_ms = min(step.until_ms, FOREVER if self.expired else self._poll_deadline_ms)
                    wait_ms = None if until_ms == FOREVER else max(0.0, until_ms - now_ms)
                    yield effects.Wait(self._wake, wait_ms)
                elif isinstance(step, (Revoke, Assign)):
                    self.pending = step
                    self._news.notify()
                else:
                    yield from self._carry_out(step)
        except Exception as error:  # for poll to raise, also what an assignor of the user's raised
            self.pending = None
            self.error = error
            self._news.notify()
            self.changed.notify()

    def _expire(self) -> None:
        assert self.membership is not None
        log.warning(
            "group %s: poll was not called for %d ms (max.poll.interval.ms); this member leaves until it is",
            self._group_id,
            self._settings.max_poll_interval_ms,
        )
        self.expired = True
        self.pending = None
        self.membership.park()

    def _carry_out(self, step: Step) -> ClientSteps[None]:
        if isinstance(step, Send):
            yield from self._send(step)
        elif isinstance(step, CountPartitions):
            yield from self._count_partitions(step)
        elif isinstance(step, NameTopics):
            yield from self._name_topics(step)

    def _send(self, step: Send) -> ClientSteps[None]:
        assert self.membership is not None
        session, request = self._session, step.request
        if step.rediscover:
            session.coordinators.forget(self._group_id)
        lane = JOIN_LANE if isinstance(request, (JoinGroupRequest, SyncGroupRequest)) else COORDINATOR_LANE
        began_ms = session.host.clock.monotonic_ms()
        try:
            response = yield from session.coordinators.ask_once(
                self._group_id, request, timeout_ms=step.timeout_ms, lane=lane
            )
        except OttlaError as error:
            log.info("group %s: %s", self._group_id, error)
            contacted = session.cluster.contacted
            self.unreachable = error if isinstance(error, BrokerUnavailable) and not contacted else None
            self._news.notify()
            self.membership.failed(error, session.host.clock.monotonic_ms())
            return
        self.unreachable = None
        self._measure(request, session.host.clock.monotonic_ms() - began_ms)
        self._remember()
        self.membership.answered(response, session.host.clock.monotonic_ms())
        self._remember()
        self.changed.notify()

    def _measure(self, request: Any, took_ms: float) -> None:
        metrics = self._session.metrics
        if isinstance(request, JoinGroupRequest):
            metrics.observe("consumer-coordinator-metrics", "join-time", took_ms)
            metrics.count("consumer-coordinator-metrics", "join")
        elif isinstance(request, SyncGroupRequest):
            metrics.observe("consumer-coordinator-metrics", "sync-time", took_ms)
            metrics.count("consumer-coordinator-metrics", "sync")
        else:
            metrics.observe("consumer-coordinator-metrics", "heartbeat-response-time", took_ms)
            metrics.count("consumer-coordinator-metrics", "heartbeat")

    def _count_partitions(self, step: CountPartitions) -> ClientSteps[None]:
        assert self.membership is not None
        clock = self._session.host.clock
        try:
            view = yield from self._session.cluster.refresh(
                sorted(step.topics), create_missing=self._settings.allow_auto_create_topics
            )
        except OttlaError as error:
            self.membership.failed(error, clock.monotonic_ms())
            return
        found = [view.topics[name] for name in step.topics if name in view.topics]
        usable = [topic for topic in found if not topic.error]
        racks = {
            TopicPartition(topic.name, p.index): frozenset(
                rack
                for node_id in p.replicas
                if (broker := view.brokers.get(node_id)) is not None and (rack := broker.rack)
            )
            for topic in usable
            for p in topic.partitions
        }
        counts = {topic.name: len(topic.partitions) for topic in usable}
        self.membership.partition_counts(counts, clock.monotonic_ms(), racks)

    def _name_topics(self, step: NameTopics) -> ClientSteps[None]:
        assert self.membership is not None
        cluster, clock = self._session.cluster, self._session.host.clock
        try:
            if any(cluster.view.topic_name(topic_id) is None for topic_id in step.topic_ids):
                yield from cluster.refresh(None)
        except OttlaError as error:
            self.membership.failed(error, clock.monotonic_ms())
            return
        names = {topic_id: cluster.view.topic_name(topic_id) for topic_id in step.topic_ids}
        known = {topic_id: name for topic_id, name in names.items() if name is not None}
        self.membership.topic_names(known, clock.monotonic_ms())

    # -- topics by filter

    def _first_choice(self) -> ClientSteps[None]:
        """Nobody joins before it knows which topics its pattern means."""
        while True:
            try:
                yield from self._session.cluster.refresh(None)
                break
            except OttlaError as error:
                if not error.retriable:
                    raise
                contacted = self._session.cluster.contacted
                self.unreachable = error if not contacted else None
                self._news.notify()
            yield Pause(FILTER_RETRY_MS)
        self.unreachable = None
        self._tell_topics()

    def _tell_topics(self) -> None:
        if self.membership is None or self._interest is None:
            return
        topics: Iterable[str] = self._interest.topics
        if self._interest.by_filter:
            topics = self._interest.chosen(
                self._session.cluster.view, exclude_internal=self._settings.exclude_internal_topics
            )
        subscribe: Callable[..., None] = self.membership.subscribe
        if self._settings.group_protocol.lower() == CONSUMER:
            subscribe(topics, regex=self._interest.regex)
        else:
            subscribe(topics)

    def _follow_metadata(self) -> ClientSteps[None]:
        """New topics that a filter allows are subscribed to, deleted ones no more."""
        seen = self._session.cluster.view
        while True:
            yield effects.Wait(self._session.metadata.updated)
            if self._session.cluster.view is seen or self._interest is None:
                continue
            seen = self._session.cluster.view
            if self._interest.by_filter and self._session.metadata.error is None:
                self._tell_topics()
                self._wake.notify()
