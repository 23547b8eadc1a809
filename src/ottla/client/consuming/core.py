"""The consumer, without a shell: what it reads, where it is, and what it has committed.

`poll` is where things happen: partitions that the group wants given up or taken change hands there, with the
listener told; positions are looked up; offsets are committed automatically; records are handed out. Fetching
and heartbeats are tasks that go on beside it. What waits, waits for `news`: the fetcher, the group, finished
commits and `wakeup` all notify it.

What counts as consumed, and is committed where nothing else is said, is the matter of `consumed.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ottla.client import effects
from ottla.client.consuming.beginnings import Beginnings
from ottla.client.consuming.bounded import outcome, within
from ottla.client.consuming.commits import Commits, Offsets
from ottla.client.consuming.consumed import REVOKE_COMMIT_TIMEOUT_MS, UNREACHABLE_MS, Consumed
from ottla.client.consuming.decode import Decoder
from ottla.client.consuming.fetcher import Fetcher
from ottla.client.consuming.group import CLASSIC, CONSUMER, Group
from ottla.client.consuming.listener import Listener, Told
from ottla.client.consuming.subscription import Interest, PatternLike, TopicFilter, checked, interest
from ottla.client.effects import Answer, ClientSteps, Invoke, Signal
from ottla.client.errors import (
    BrokerUnavailable,
    ClientClosed,
    IllegalState,
    InvalidArgument,
    InvalidConfig,
    OperationTimedOut,
    ProtocolError,
    RequestTimedOut,
    ServerError,
    UnsupportedVersion,
    WokenUp,
)
from ottla.client.membership import FOREVER, Assign, Revoke
from ottla.client.records import ConsumerRecord, GroupMetadata, OffsetAndMetadata, OffsetAndTimestamp
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition

if TYPE_CHECKING:
    from ottla.client.consuming.commits import CommitCallback
    from ottla.client.session import Session
    from ottla.client.settings import ConsumerSettings

R = TypeVar("R")
T = TypeVar("T")

log = logging.getLogger("ottla.client")

CLOSE_TIMEOUT_MS: Final = 30_000
RECORDS_MAX: Final = 2**31 - 1
COLUMNS_BYTES_MAX: Final = 2**30
"""Columns of several partitions are joined, with offsets of 32 bits: a batch more has to fit, too."""

REBALANCE_REASON: Final = "the user asked for a rebalance"

REFUSED_TOPIC: Final = frozenset({ErrorCode.INVALID_TOPIC_EXCEPTION, ErrorCode.TOPIC_AUTHORIZATION_FAILED})
NO_BROKER: Final = (BrokerUnavailable, RequestTimedOut, ProtocolError, UnsupportedVersion)
"""How it shows that there is no broker of Kafka's at an address."""


class ConsumerCore:
    def __init__(self, session: Session, settings: ConsumerSettings) -> None:
        if settings.group_protocol.lower() not in (CLASSIC, CONSUMER):
            raise InvalidConfig(
                f"group.protocol={settings.group_protocol}: classic and consumer are available"
            )
        if settings.group_id is not None and not settings.group_id:
            raise InvalidConfig("group.id must not be empty")
        self.session = session
        self.settings = settings
        self.fetcher = Fetcher(session, settings, Decoder.of(settings))
        self.news: Signal = self.fetcher.arrived
        self.group = None if settings.group_id is None else Group(session, settings, self.news)
        self.commits = Commits(session, settings, self.news)
        self.consumed = Consumed(session, settings, self.fetcher, self.commits)
        self._beginnings = Beginnings(session, settings, self.fetcher, self.commits)
        self.closed = False
        self._closing = False
        self._leaving = False  # what is consumed has been committed
        self.on_revoking: Callable[[frozenset[TopicPartition]], None] | None = None
        """Told before anything else that partitions go away (message streams)."""
        self.on_given: Callable[[frozenset[TopicPartition]], None] | None = None
        """Told that partitions are new here, and what was known of them is old (message streams)."""
        self._interest: Interest | None = None
        self._listener = Listener()
        self._started = False
        self._wants_told = False
        self._woken = False
        self._telling = False
        """A listener is being called."""
        self._seen_view: object = None

    # -- what to read

    def subscribe(
        self,
        topics: Iterable[str] | str | TopicFilter | None = None,
        *,
        pattern: PatternLike | TopicFilter | None = None,
        exclude: PatternLike | Iterable[str] | None = None,
        listener: Any = None,
        on_assigned: Told | None = None,
        on_revoked: Told | None = None,
        on_lost: Told | None = None,
    ) -> None:
        """Takes the place of an earlier subscription; carried out by poll."""
        self._check_open()
        if self.group is None:
            raise InvalidArgument("a subscription is shared by a group: configure group_id, or use assign")
        if self._interest is not None and not self._interest.by_group:
            raise IllegalState("partitions are assigned by hand: unsubscribe first")
        told = Listener.of(listener, on_assigned=on_assigned, on_revoked=on_revoked, on_lost=on_lost)
        by_broker = self.settings.group_protocol.lower() == CONSUMER
        wanted = interest(topics, pattern, exclude, broker_matches=by_broker)
        self._interest, self._listener = wanted, told
        self.commits.group = self.group
        self._wants_told = False
        self.group.subscribe(wanted)

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Reads exactly these, without a group's say; those kept keep their position."""
        self._check_open()
        if self._interest is not None and self._interest.by_group:
            raise IllegalState("topics are subscribed to: unsubscribe first")
        chosen = frozenset(checked(tp) for tp in partitions)
        self._interest = Interest(partitions=chosen) if chosen else None
        self._wants_told = False
        self.fetcher.assign(chosen)

    def unsubscribe(self) -> ClientSteps[None]:
        """Commits what is due, leaves the group, and reads nothing."""
        self._check_open()
        if self._interest is not None and self._interest.by_group:
            yield from self._leave(self._deadline(None), None)
            self.commits.group = None
        elif self._interest is not None:
            yield from self.consumed.commit_finally(REVOKE_COMMIT_TIMEOUT_MS)
        self._interest = None
        self._listener = Listener()
        self.fetcher.assign(())
        self._beginnings.forget()

    def subscription(self) -> frozenset[str]:
        """The topics subscribed to; of a pattern those that it means now, as far as this side knows."""
        wanted = self._interest
        if wanted is None or not wanted.by_group:
            return frozenset()
        if wanted.by_filter:
            return wanted.chosen(
                self.session.cluster.view, exclude_internal=self.settings.exclude_internal_topics
            )
        if wanted.regex is not None:
            return frozenset(tp.topic for tp in self.fetcher.assignment())
        return wanted.topics

    def assignment(self) -> set[TopicPartition]:
        return set(self.fetcher.assignment())

    @property
    def joined(self) -> bool:
        """Whether this member has what the group gave it (always, without a group)."""
        if self._interest is None or not self._interest.by_group:
            return self._interest is not None
        return self.group is not None and self.group.joined and self.group.pending is None

    def at_end(self) -> bool:
        """Whether, as of the last fetches, nothing is left to read."""
        return self.joined and self.fetcher.at_end()

    # -- reading

    def poll(self, timeout_ms: float, max_records: int | None = None) -> ClientSteps[list[ConsumerRecord]]:
        """What has come within the time, which a rebalance may exceed; [] when nothing has."""
        count = self.settings.max_poll_records if max_records is None else max_records
        if count < 1:
            raise InvalidArgument("max_records has to be 1 or more")
        count = min(count, RECORDS_MAX)
        return (yield from self._poll(timeout_ms, lambda: self.fetcher.take(count)))

    def poll_columns(self, timeout_ms: float, max_bytes: int | None = None) -> ClientSteps[list[Any]]:
        """The same as columns, without an object per record: (partition, columns) pairs."""
        size = self.settings.fetch_max_bytes if max_bytes is None else max_bytes
        if size < 1:
            raise InvalidArgument("max_bytes has to be 1 or more")
        size = min(size, COLUMNS_BYTES_MAX)
        return (yield from self._poll(timeout_ms, lambda: self.fetcher.take_columns(size)))

    def _poll(self, timeout_ms: float, take: Callable[[], list[T]]) -> ClientSteps[list[T]]:
        self.check_readable()
        clock = self.session.host.clock
        deadline_ms = clock.monotonic_ms() + timeout_ms
        self.consumed.polling()
        self._ensure_started()
        assert self._interest is not None
        group = self.group if self._interest.by_group else None
        if group is not None:
            group.ensure_started()
            group.poll_began()
        try:
            while True:
                self._raise_if_woken()
                if group is not None:
                    yield from self._follow(group)
                    self._raise_if_woken()  # in a listener, or while it committed
                self._beginnings.raise_failure()
                self._raise_refused_topic()
                self.consumed.commit_when_due(clock.monotonic_ms(), self.joined)
                self._beginnings.look_up()
                # What a member that was thrown out has buffered may be with others already.
                taken = [] if group is not None and group.lost else take()
                if taken:
                    return taken
                left_ms = deadline_ms - clock.monotonic_ms()
                if left_ms <= 0:
                    self._raise_if_nobody_is_there()
                    return []
                wait_ms = min(left_ms, self.consumed.until_due_ms(clock.monotonic_ms()))
                yield effects.Wait(self.news, None if wait_ms == FOREVER else wait_ms)
        finally:
            if group is not None:
                group.poll_ended()

    def check_readable(self) -> None:
        self._check_open()
        if self._closing:
            raise IllegalState("the consumer is being closed")
        if self._interest is None:
            raise IllegalState("nothing to read: subscribe to topics or assign partitions first")
        if self._telling:
            raise IllegalState("a rebalance listener is called within poll, and cannot poll itself")

    def _ensure_started(self) -> None:
        if not self._started:
            self._started = True
            self.session.metadata.start()
            self.fetcher.start()
        if not self._wants_told and self._interest is not None:
            self._wants_told = True
            topics = self._interest.topics | {tp.topic for tp in self.fetcher.assignment()}
            self.session.metadata.want_only(None if self._interest.by_filter else topics)

    def _raise_refused_topic(self) -> None:
        """A name that no topic can have, or one that may not be read, is not waited for. Said once for each
        answer of the cluster.
        """
        view = self.session.cluster.view
        if view is self._seen_view or self._interest is None:
            return
        self._seen_view = view
        for name in sorted(self._interest.topics | {tp.topic for tp in self.fetcher.assignment()}):
            found = view.topics.get(name)
            if found is not None and found.error in REFUSED_TOPIC:
                raise ServerError(found.error, subject=f"topic {name}")

    def _raise_if_nobody_is_there(self) -> None:
        """A wrong address, or a peer that is no broker, should not look like an empty topic."""
        if self.session.cluster.contacted:
            return
        failure = self._beginnings.unreachable or (self.group.unreachable if self.group is not None else None)
        failure = failure or self.session.metadata.error
        if isinstance(failure, NO_BROKER):
            raise failure

    def wakeup(self) -> None:
        """Makes the poll, or another call that waits now or next, raise WokenUp."""
        self._woken = True
        self.news.notify()

    def _raise_if_woken(self) -> None:
        if self._woken:
            self._woken = False
            raise WokenUp("wakeup() was called")

    # -- partitions that come and go

    def _follow(self, group: Group) -> ClientSteps[None]:
        while (step := group.pending) is not None:
            yield from self._carry_out(group, step)
        if group.error is not None:
            failure, group.error = group.error, None
            owned = group.owned
            group.stop()
            group.membership = None
            yield from self._before_loss(owned, lost=True)
            yield from self._give_up(group, owned, lost=True)
            raise failure

    def _carry_out(self, group: Group, step: Revoke | Assign) -> ClientSteps[None]:
        lost = group.lost
        if isinstance(step, Revoke):
            # Whoever is cancelled in the commit has not given anything up: the next poll begins again.
            lost = lost or step.lost
            yield from self._before_loss(step.partitions, lost=lost)
            lost = lost or group.lost
            try:
                yield from self._give_up(group, step.partitions, lost=lost)
            finally:
                group.carried_out(step)
        elif lost:
            group.dismiss(step)
        else:
            self.fetcher.assign(group.owned | step.partitions)
            if self.on_given is not None:
                self.on_given(step.partitions)
            taken = False
            try:
                yield from self._tell(group, self._listener.on_assigned, step.partitions)
            finally:
                taken = group.carried_out(step)
                if not taken:
                    self._drop(step.partitions)
            if not taken:  # thrown out, or too late, while the listener was at work
                yield from self._tell(group, self._listener.on_lost, step.partitions)

    def _give_up(
        self, group: Group, partitions: frozenset[TopicPartition], *, lost: bool
    ) -> ClientSteps[None]:
        if not partitions:
            return
        told = self._listener.on_lost if lost else self._listener.on_revoked
        try:
            yield from self._tell(group, told, partitions)
        finally:
            self._drop(partitions)

    def _before_loss(self, partitions: frozenset[TopicPartition], *, lost: bool) -> ClientSteps[None]:
        if partitions and self.on_revoking is not None:
            self.on_revoking(partitions)
        if partitions and not lost and not self._leaving:
            yield from self.consumed.commit_before_loss(partitions)

    def _drop(self, partitions: frozenset[TopicPartition]) -> None:
        """They are read no more."""
        self.fetcher.assign(self.fetcher.assignment() - partitions)
        self.consumed.moved(partitions)
        for tp in partitions:
            self.commits.committed_last.pop(tp, None)
        self._beginnings.forget()

    def _tell(
        self, group: Group, told: Told | None, partitions: frozenset[TopicPartition]
    ) -> ClientSteps[None]:
        """Calls the listener, whose time counts towards `max.poll.interval.ms`."""
        if told is None:
            return
        group.poll_ended()
        self._telling = True
        try:
            yield Invoke(told, (sorted(partitions),))
        finally:
            self._telling = False
            group.poll_began()

    # -- positions

    def seek(self, tp: TopicPartition, offset: int, leader_epoch: int = -1) -> None:
        if offset < 0:
            raise InvalidArgument(f"cannot seek to offset {offset}")
        self._check_assigned([tp])
        self.consumed.moved([tp])
        self.fetcher.seek(tp, offset, leader_epoch)

    def seek_to_time(self, partitions: Iterable[TopicPartition] | None, time: int) -> None:
        """To the beginning or the end (EARLIEST, LATEST), or a time; looked up when it is needed."""
        chosen = list(self.fetcher.assignment()) if partitions is None else list(partitions)
        self._check_assigned(chosen)
        self.consumed.moved(chosen)
        for tp in chosen:
            self.fetcher.reset(tp, time)

    def rewind(self, partitions: Iterable[TopicPartition] | None = None) -> ClientSteps[None]:
        """Back to what the group has committed; where nothing is, to where the reset policy says."""
        chosen = sorted(self.fetcher.assignment() if partitions is None else partitions)
        self._check_assigned(chosen)
        committed = yield from self.interruptible(self.commits.committed(chosen))
        for tp, found in committed.items():
            if tp in self.fetcher.assignment():
                self.consumed.moved([tp])
                if found is None:
                    self.fetcher.reset(tp)
                else:
                    self.fetcher.seek(tp, found.offset, found.leader_epoch)

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        chosen = list(partitions)
        self._check_assigned(chosen)
        self.fetcher.pause(chosen)

    def resume(self, partitions: Iterable[TopicPartition]) -> None:
        chosen = list(partitions)
        self._check_assigned(chosen)
        self.fetcher.resume(chosen)

    def position(self, tp: TopicPartition, timeout_ms: float | None = None) -> ClientSteps[int]:
        """The offset that the next poll begins with; waits until it is known."""
        self._check_assigned([tp])
        self._ensure_started()
        back = self.consumed.behind().get(tp)
        if back is not None:
            return back.offset
        clock, deadline_ms = self.session.host.clock, self._deadline(timeout_ms)
        while True:
            self._raise_if_woken()
            self._beginnings.raise_failure()
            self._beginnings.look_up()
            found = self.fetcher.position(tp)
            if found is not None:
                return found.offset
            left_ms = deadline_ms - clock.monotonic_ms()
            if left_ms <= 0:
                self._raise_if_nobody_is_there()
                raise OperationTimedOut(
                    f"the position of {tp} could not be found in time"
                ) from self._beginnings.unreachable
            yield effects.Wait(self.news, left_ms)

    def lag(self, tp: TopicPartition) -> int | None:
        """How many offsets lie between the position and the end, as of the last fetch; None: unknown."""
        self._check_assigned([tp])
        return self.fetcher.lag(tp)

    # -- committing

    def commit(self, offsets: Offsets | None = None, timeout_ms: float | None = None) -> ClientSteps[None]:
        chosen = self.consumed.offsets() if offsets is None else dict(offsets)
        yield from self.interruptible(self.commits.commit(chosen, timeout_ms), timeout_ms)

    def commit_async(self, offsets: Offsets | None = None, callback: CommitCallback | None = None) -> None:
        self._check_open()
        self.commits.commit_async(self.consumed.offsets() if offsets is None else offsets, callback)

    def committed(
        self, partitions: Iterable[TopicPartition], timeout_ms: float | None = None
    ) -> ClientSteps[dict[TopicPartition, OffsetAndMetadata | None]]:
        chosen = [checked(tp) for tp in partitions]
        return (yield from self.interruptible(self.commits.committed(chosen, timeout_ms), timeout_ms))

    # -- questions about offsets

    def offsets_for_times(
        self, times: Mapping[TopicPartition, int], timeout_ms: float | None = None
    ) -> ClientSteps[dict[TopicPartition, OffsetAndTimestamp | None]]:
        for tp, time in times.items():
            checked(tp)
            if time < 0:
                raise InvalidArgument(f"{tp}: {time} is not a time in milliseconds since 1970")
        steps = self.fetcher.lookup.offsets_for_times(times, timeout_ms)
        return (yield from self.interruptible(steps, timeout_ms))

    def beginning_offsets(
        self, partitions: Iterable[TopicPartition], timeout_ms: float | None = None
    ) -> ClientSteps[dict[TopicPartition, int]]:
        chosen = [checked(tp) for tp in partitions]
        steps = self.fetcher.lookup.beginning_offsets(chosen, timeout_ms)
        return (yield from self.interruptible(steps, timeout_ms))

    def end_offsets(
        self, partitions: Iterable[TopicPartition], timeout_ms: float | None = None
    ) -> ClientSteps[dict[TopicPartition, int]]:
        chosen = [checked(tp) for tp in partitions]
        steps = self.fetcher.lookup.end_offsets(chosen, timeout_ms)
        return (yield from self.interruptible(steps, timeout_ms))

    def group_metadata(self) -> GroupMetadata:
        """Who this consumer is in its group, for a producer's `send_offsets_to_transaction` (KIP-447)."""
        self._check_open()
        if self.settings.group_id is None or self.group is None:
            raise InvalidArgument("this consumer has no group: configure group_id")
        who = self.group.last_identity
        return GroupMetadata(self.settings.group_id, who.generation, who.member_id, who.instance_id)

    def enforce_rebalance(self, reason: str | None = None) -> None:
        """Has the group assign anew (KIP-568), with the next poll; the classic protocol only."""
        self._check_open()
        if self.group is None:
            raise IllegalState("this consumer has no group: configure group_id")
        self.group.rejoin(reason or REBALANCE_REASON)

    # -- the end

    def close(self, timeout_ms: float | None = None, *, remain: bool | None = None) -> ClientSteps[None]:
        """Commits what is consumed (with auto commit), leaves the group, closes fetch sessions. Returns
        within the time, whatever the cluster does.
        """
        if self.closed or self._closing:
            return
        self._closing = True
        limit_ms = CLOSE_TIMEOUT_MS if timeout_ms is None else timeout_ms
        deadline_ms = self.session.host.clock.monotonic_ms() + limit_ms
        try:
            if self._interest is not None and self._interest.by_group:
                yield from self._leave(deadline_ms, remain)
            elif self._interest is not None:
                yield from self.consumed.commit_finally(limit_ms)
            yield from self._drain_commits(deadline_ms)
        finally:
            self.closed = True
            self._beginnings.forget()
            if self.group is not None:
                self.group.stop()
        if self._started:
            left_ms = max(0.0, deadline_ms - self.session.host.clock.monotonic_ms())
            yield from self.fetcher.close(min(left_ms, UNREACHABLE_MS))

    def _leave(self, deadline_ms: float, remain: bool | None) -> ClientSteps[None]:
        group, clock = self.group, self.session.host.clock
        assert group is not None
        if group.membership is None:
            return
        if not group.membership.lost and group.owned:
            # The commit goes first, while the driver still sends heartbeats.
            yield from self.consumed.commit_finally(max(0.0, deadline_ms - clock.monotonic_ms()))
        group.begin_leaving(remain)
        self._leaving = True
        reachable = self.session.coordinators.known(self.settings.group_id or "") is not None
        leave_by_ms = deadline_ms
        if not reachable:
            leave_by_ms = min(deadline_ms, clock.monotonic_ms() + UNREACHABLE_MS)
        try:
            while True:
                left_ms = leave_by_ms - clock.monotonic_ms()
                try:
                    step = yield from within(self.session.host, left_ms, group.leave_step(), "leaving")
                except OperationTimedOut:
                    break
                if isinstance(step, Revoke):
                    yield from self._carry_out(group, step)
                elif step is None:
                    break
        finally:
            self._leaving = False
            self.fetcher.assign(())
            group.membership = None

    def _drain_commits(self, deadline_ms: float) -> ClientSteps[None]:
        """Asynchronous commits that were asked for get their time, and their callbacks a call."""
        clock = self.session.host.clock
        soon_ms = min(deadline_ms, clock.monotonic_ms() + self.settings.request_timeout_ms)
        while self.commits.under_way and (left_ms := soon_ms - clock.monotonic_ms()) > 0:
            yield effects.Wait(self.news, left_ms)

    # -- waiting

    def interruptible(self, steps: ClientSteps[R], timeout_ms: float | None = None) -> ClientSteps[R]:
        """Carries steps out so that `wakeup`, or the time, ends them."""
        self._check_open()
        clock, deadline_ms = self.session.host.clock, self._deadline(timeout_ms)
        self._raise_if_woken()
        task = self.session.host.spawn(self._announced(steps), "operation")
        try:
            while not task.done:
                self._raise_if_woken()
                left_ms = deadline_ms - clock.monotonic_ms()
                if left_ms <= 0:
                    raise OperationTimedOut("the operation did not complete in the time it was given")
                yield effects.Wait(self.news, left_ms)
        finally:
            if not task.done:
                task.cancel()
        result: R = task.result().get()
        return result

    def _announced(self, steps: ClientSteps[R]) -> ClientSteps[Answer]:
        try:
            return (yield from outcome(steps))
        finally:
            self.news.notify()

    def _deadline(self, timeout_ms: float | None) -> float:
        limit_ms = self.settings.default_api_timeout_ms if timeout_ms is None else timeout_ms
        return self.session.host.clock.monotonic_ms() + limit_ms

    def _check_open(self) -> None:
        if self.closed:
            raise ClientClosed("the consumer was closed")

    def _check_assigned(self, partitions: Iterable[TopicPartition]) -> None:
        self._check_open()
        for tp in partitions:
            if not self.fetcher.is_assigned(tp):
                raise IllegalState(f"{tp} is not assigned to this consumer")
