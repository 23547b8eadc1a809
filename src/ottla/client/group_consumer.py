"""Reading as a member of a consumer group: a membership, a fetcher, and the commits between them.

Part of the core: `poll` is a generator over effects. Heartbeats are sent between fetches, which therefore
wait no longer than the next one is due. What the caller has dealt with it says by `mark`; that, and nothing
else, is committed: at intervals, before partitions are given up, before every join, and at `close`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from ottla.client.admin import LATEST, Admin
from ottla.client.admin_groups import GroupAdmin
from ottla.client.backoff import Backoff
from ottla.client.cluster import Cluster
from ottla.client.coordinator import Coordinators
from ottla.client.effects import ClientSteps, Pause, Versioned
from ottla.client.errors import OttlaError, ServerError
from ottla.client.fetcher import LOST_CLUSTER_TIMEOUT_MS, Fetcher, FetcherSettings
from ottla.client.group_views import CommittedOffset
from ottla.client.membership import (
    Assign,
    CountPartitions,
    Left,
    Membership,
    NameTopics,
    Revoke,
    Send,
    Step,
    Wait,
)
from ottla.client.records import ConsumedRecord
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.messages.join_group import JoinGroupRequest

COMMIT_TIMEOUT_MS: Final = 10_000
CLOSE_TIMEOUT_MS: Final = 15_000

STALE_COMMIT_ATTEMPTS: Final = 5
"""A member epoch moves on with a heartbeat's answer; a commit that carried the old one is sent again after
one."""


@dataclass(frozen=True, slots=True)
class GroupConsumerSettings:
    auto_commit_interval_ms: int | None = 5_000
    """`auto.commit.interval.ms`; None for `enable.auto.commit=false`: only `commit` commits."""
    reset: int | None = LATEST
    """`auto.offset.reset`, where the group has committed nothing; None raises."""
    topic_filter: Callable[[Iterable[str]], Iterable[str]] | None = None
    """Chooses topics by a pattern, for the classic protocol: applied to all topics of the cluster now and
    then.
    """


class _Delivered(NamedTuple):
    """The end of what `poll` gave out of a partition."""

    last_offset: int
    position: int
    """Where reading goes on: beyond the last record when transaction markers follow it."""


class GroupConsumer:
    def __init__(
        self,
        cluster: Cluster,
        admin: Admin,
        groups: GroupAdmin,
        coordinators: Coordinators,
        membership: Membership,
        fetching: FetcherSettings,
        settings: GroupConsumerSettings,
    ) -> None:
        self._cluster = cluster
        self._groups = groups
        self._coordinators = coordinators
        self.membership = membership
        self._settings = settings
        self._fetcher = Fetcher(cluster, admin, fetching)
        self._delivered: dict[TopicPartition, _Delivered] = {}
        self._consumed: dict[TopicPartition, CommittedOffset] = {}
        self._committed: dict[TopicPartition, int] = {}
        self._commit_at_ms = 0.0
        self._filter_at_ms = 0.0
        self._lost_since: Backoff | None = None
        self.commit_failure: OttlaError | None = None
        """Why the last commit failed; what it was about will be delivered again."""

    # -- what the caller does

    @property
    def assignment(self) -> frozenset[TopicPartition]:
        return self.membership.owned

    @property
    def at_end(self) -> bool:
        """Whether this member has its partitions and, as of the last fetch, nothing is left to read in
        them."""
        return self.membership.joined and self._fetcher.at_end

    @property
    def consumed(self) -> Mapping[TopicPartition, CommittedOffset]:
        return self._consumed

    def poll(self, max_wait_ms: int) -> ClientSteps[list[ConsumedRecord]]:
        """What has come within the time, which a rebalance may exceed; [] when nothing has. What the last
        call gave and was not marked counts as not dealt with.
        """
        clock = self._cluster.clock
        deadline_ms = clock.monotonic_ms() + max_wait_ms
        yield from self._follow_filter(clock.monotonic_ms())
        while True:
            now_ms = clock.monotonic_ms()
            step = self.membership.step(now_ms)
            if isinstance(step, Wait):
                break
            if isinstance(step, Left):
                return []
            yield from self._carry_out(step)
            if clock.monotonic_ms() >= deadline_ms:
                return []  # a chance for the caller to stop
        yield from self._commit_at_intervals(now_ms)
        wait_ms = max(1.0, min(deadline_ms, step.until_ms) - clock.monotonic_ms())
        if not self._fetcher.positions:
            yield Pause(wait_ms)
            return []
        records, failure = yield from self._fetcher.poll_once(int(wait_ms))
        self._note_delivered(records)
        if failure is None or records:
            self._lost_since = None
        else:
            yield from self._recover(failure)
        return records

    def mark(self, records: Iterable[ConsumedRecord]) -> None:
        """These are dealt with, in the order in which `poll` gave them: commits may cover them."""
        for record in records:
            tp = TopicPartition(record.topic, record.partition)
            end = self._delivered.get(tp)
            if end is None:  # taken away meanwhile
                continue
            offset = record.offset + 1 if record.offset < end.last_offset else end.position
            self._consumed[tp] = CommittedOffset(offset, record.leader_epoch)

    def commit(self) -> ClientSteps[None]:
        """Commits what is marked and not committed yet; raises when that is refused."""
        yield from self._commit(self._consumed)
        if self.commit_failure is not None:
            raise self.commit_failure

    def close(self) -> ClientSteps[None]:
        """Commits what is marked and leaves the group. `commit_failure` says when the former failed."""
        clock = self._cluster.clock
        self.membership.abandon()
        self.membership.leave()
        deadline_ms = clock.monotonic_ms() + CLOSE_TIMEOUT_MS
        while clock.monotonic_ms() < deadline_ms:
            step = self.membership.step(clock.monotonic_ms())
            if isinstance(step, Left):
                return
            if isinstance(step, Wait):
                yield Pause(max(1.0, min(step.until_ms, deadline_ms) - clock.monotonic_ms()))
                continue
            yield from self._carry_out(step)

    # -- the membership's effects

    def _carry_out(self, step: Step) -> ClientSteps[None]:
        clock = self._cluster.clock
        if isinstance(step, Send):
            yield from self._send(step)
        elif isinstance(step, Revoke):
            yield from self._give_up(step)
            self.membership.revoked(clock.monotonic_ms())
        elif isinstance(step, Assign):
            yield from self._take(step.partitions)
            self.membership.assigned(clock.monotonic_ms())
        elif isinstance(step, CountPartitions):
            try:
                view = yield from self._cluster.refresh(sorted(step.topics))
            except OttlaError as error:
                self.membership.failed(error, clock.monotonic_ms())
                return
            counts = {
                name: len(view.topics[name].partitions)
                for name in step.topics
                if name in view.topics and not view.topics[name].error
            }
            self.membership.partition_counts(counts, clock.monotonic_ms())
        elif isinstance(step, NameTopics):
            yield from self._name_topics(step)

    def _send(self, step: Send) -> ClientSteps[None]:
        clock = self._cluster.clock
        group_id = self.membership.settings.group_id
        request = step.request
        api_key = request.api_key if isinstance(request, Versioned) else request.API_KEY
        if api_key == JoinGroupRequest.API_KEY:  # after it, the generation that a commit needs is gone
            yield from self._commit_automatically()
        if step.rediscover:
            self._coordinators.forget(group_id)
        try:
            response = yield from self._coordinators.ask_once(group_id, request, timeout_ms=step.timeout_ms)
        except OttlaError as error:
            if not self._cluster.contacted:
                raise
            self.membership.failed(error, clock.monotonic_ms())
            return
        self.membership.answered(response, clock.monotonic_ms())

    def _name_topics(self, step: NameTopics) -> ClientSteps[None]:
        clock = self._cluster.clock
        names: dict[bytes, str] = {}
        view = self._cluster.view
        try:
            if any(view.topic_name(topic_id) is None for topic_id in step.topic_ids):
                view = yield from self._cluster.refresh(None)
        except OttlaError as error:
            self.membership.failed(error, clock.monotonic_ms())
            return
        for topic_id in step.topic_ids:
            name = view.topic_name(topic_id)
            if name is not None:
                names[topic_id] = name
        self.membership.topic_names(names, clock.monotonic_ms())

    def _give_up(self, step: Revoke) -> ClientSteps[None]:
        if not step.lost and self._settings.auto_commit_interval_ms is not None:
            offsets = {tp: self._consumed[tp] for tp in step.partitions if tp in self._consumed}
            yield from self._commit(offsets)
        for tp in step.partitions:
            self._fetcher.forget(tp)
            for known in (self._delivered, self._consumed, self._committed):
                known.pop(tp, None)

    def _take(self, partitions: frozenset[TopicPartition]) -> ClientSteps[None]:
        """Puts the fetcher where the group has got to, or where the reset policy says."""
        if not partitions:
            return
        group_id = self.membership.settings.group_id
        yield from self._cluster.discover(sorted({tp.topic for tp in partitions}))
        committed = yield from self._groups.committed_offsets(group_id, partitions, require_stable=True)
        for tp, found in committed.items():
            self._fetcher.seek(tp, found.offset)
            self._committed[tp] = found.offset
        fresh = sorted(tp for tp in partitions if tp not in committed)
        if fresh:
            if self._settings.reset is None:
                raise ServerError(
                    ErrorCode.OFFSET_OUT_OF_RANGE,
                    "the group has committed no offset here, and auto.offset.reset is none",
                    subject=str(fresh[0]),
                )
            yield from self._fetcher.seek_by_time(dict.fromkeys(fresh, self._settings.reset))
        for tp in partitions:
            self._consumed[tp] = CommittedOffset(self._fetcher.positions[tp])

    def _follow_filter(self, now_ms: float) -> ClientSteps[None]:
        choose = self._settings.topic_filter
        if choose is None or now_ms < self._filter_at_ms:
            return
        self._filter_at_ms = now_ms + self.membership.settings.metadata_max_age_ms
        view = yield from self._cluster.discover(None)
        self.membership.subscribe(choose(name for name, topic in view.topics.items() if not topic.error))

    # -- fetching

    def _note_delivered(self, records: list[ConsumedRecord]) -> None:
        positions = self._fetcher.positions
        last = {TopicPartition(r.topic, r.partition): r.offset for r in records}
        for tp, offset in last.items():
            self._delivered[tp] = _Delivered(offset, positions[tp])
        for tp, consumed in self._consumed.items():
            # Markers, or aborted records alone, were stepped over: nobody has to deal with those.
            end = self._delivered.get(tp)
            if tp in positions and tp not in last and (end is None or consumed.offset >= end.position):
                self._consumed[tp] = consumed._replace(offset=positions[tp])

    def _recover(self, failure: OttlaError) -> ClientSteps[None]:
        clock = self._cluster.clock
        if self._lost_since is None:
            self._lost_since = Backoff(clock.monotonic_ms() + LOST_CLUSTER_TIMEOUT_MS, self._cluster.chance)
        wait_ms = self._lost_since.next_wait_ms(clock.monotonic_ms())
        if wait_ms is None:
            raise failure
        yield Pause(wait_ms)
        yield from self._fetcher.recover()

    # -- committing

    def _commit_at_intervals(self, now_ms: float) -> ClientSteps[None]:
        interval_ms = self._settings.auto_commit_interval_ms
        if interval_ms is None or now_ms < self._commit_at_ms or not self.membership.joined:
            return
        if self._commit_at_ms:
            yield from self._commit_automatically()
        self._commit_at_ms = self._cluster.clock.monotonic_ms() + interval_ms

    def _commit_automatically(self) -> ClientSteps[None]:
        if self._settings.auto_commit_interval_ms is not None and self._consumed:
            yield from self._commit(self._consumed)

    def _commit(self, offsets: Mapping[TopicPartition, CommittedOffset]) -> ClientSteps[None]:
        """Commits what differs from the last commit. A failure is kept in `commit_failure`: the records are
        delivered again, which is what a group without this member would see too.
        """
        self.commit_failure = None
        changed = {tp: entry for tp, entry in offsets.items() if self._committed.get(tp) != entry.offset}
        if not changed:
            return
        for attempt in range(STALE_COMMIT_ATTEMPTS):
            who = self.membership.identity
            try:
                refused = yield from self._groups.commit_offsets(
                    self.membership.settings.group_id,
                    changed,
                    member_id=who.member_id,
                    generation_id=who.generation,
                    instance_id=who.instance_id,
                    timeout_ms=COMMIT_TIMEOUT_MS,
                )
            except ServerError as error:
                if error.code == ErrorCode.STALE_MEMBER_EPOCH and attempt + 1 < STALE_COMMIT_ATTEMPTS:
                    yield from self._heartbeat()
                    continue
                self.commit_failure = error
                return
            except OttlaError as error:
                self.commit_failure = error
                return
            self._committed.update((tp, e.offset) for tp, e in changed.items() if tp not in refused)
            self.commit_failure = next(iter(refused.values()), None)
            return

    def _heartbeat(self) -> ClientSteps[None]:
        """One heartbeat now, for the epoch that its answer brings."""
        clock = self._cluster.clock
        self.membership.heartbeat_now()
        step = self.membership.step(clock.monotonic_ms())
        if isinstance(step, Wait):
            yield Pause(max(1.0, min(step.until_ms - clock.monotonic_ms(), 1_000.0)))
        elif isinstance(step, Send):
            yield from self._send(step)
