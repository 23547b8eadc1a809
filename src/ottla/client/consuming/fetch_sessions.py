"""Incremental fetch sessions, the client's side (KIP-227): a request names only what changed since the last.

One session per broker. The first request is full and names every partition; if the broker opens a session for
it, those that follow name the partitions whose position moved, that are new, or that are no longer wanted.
Any doubt (an unknown session, a wrong epoch, an answer about partitions that were not asked for, a lost
connection) ends in a full request. Looking for what changed is the caller's work: it says which partitions
were touched, and the others cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from ottla.model.errors import ErrorCode
from ottla.model.types import NO_TOPIC_ID, TopicPartition
from ottla.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
)

NO_SESSION: Final = 0
INITIAL_EPOCH: Final = 0
FINAL_EPOCH: Final = -1
_EPOCH_MAX: Final = 2**31 - 1
LAST_VERSION_WITH_NAMES: Final = 12


class Wanted(NamedTuple):
    """What a request says about one partition."""

    topic_id: bytes
    offset: int
    leader_epoch: int
    max_bytes: int


class Plan(NamedTuple):
    """One request, before its version is known."""

    session_id: int
    session_epoch: int
    to_send: Mapping[TopicPartition, Wanted]
    to_forget: tuple[tuple[bytes, TopicPartition], ...]
    by_id: bool
    """Whether every topic of the session has an id: without, version 12 is the newest that can be used."""

    def request(self, version: int, template: FetchRequest) -> FetchRequest:
        """The message; limits and isolation are the template's."""
        by_id = version > LAST_VERSION_WITH_NAMES
        topics: dict[tuple[str, bytes], list[FetchPartition]] = {}
        for tp, wanted in self.to_send.items():
            topics.setdefault((tp.topic, wanted.topic_id), []).append(
                FetchPartition(
                    partition=tp.partition,
                    current_leader_epoch=wanted.leader_epoch,
                    fetch_offset=wanted.offset,
                    partition_max_bytes=wanted.max_bytes,
                )
            )
        forgotten: dict[tuple[str, bytes], list[int]] = {}
        for topic_id, tp in self.to_forget:
            sent = self.to_send.get(tp)
            if not by_id and sent is not None:
                continue  # made anew: by its name it is still the same partition of the session
            forgotten.setdefault((tp.topic, topic_id), []).append(tp.partition)
        return FetchRequest(
            max_wait_ms=template.max_wait_ms,
            min_bytes=template.min_bytes,
            max_bytes=template.max_bytes,
            isolation_level=template.isolation_level,
            rack_id=template.rack_id,
            session_id=self.session_id,
            session_epoch=self.session_epoch,
            topics=[
                FetchTopic(topic_id=topic_id, partitions=partitions)
                if by_id
                else FetchTopic(topic=name, partitions=partitions)
                for (name, topic_id), partitions in topics.items()
            ],
            forgotten_topics_data=[
                ForgottenTopic(topic_id=topic_id, partitions=partitions)
                if by_id
                else ForgottenTopic(topic=name, partitions=partitions)
                for (name, topic_id), partitions in forgotten.items()
            ],
        )


class FetchSession:
    """What one broker remembers of us, as far as we know."""

    def __init__(self) -> None:
        self.id = NO_SESSION
        self.epoch = INITIAL_EPOCH
        self.partitions: dict[TopicPartition, Wanted] = {}
        """What was last asked for; until the answer is there, the request that is on its way."""
        self._answered: set[TopicPartition] = set()
        """Partitions that gave data since they were last named: they are named again in any case, since a
        broker that keeps lists of what is new would not look at them otherwise."""
        self._names: dict[bytes, str] = {}
        self._without_id = 0

    @property
    def full(self) -> bool:
        return self.epoch == INITIAL_EPOCH

    def plan(
        self,
        wanted: Iterable[TopicPartition],
        touched: Iterable[TopicPartition],
        describe: Callable[[TopicPartition], Wanted | None],
    ) -> Plan:
        """The next request. A full one looks at all that are wanted, an incremental one at those that were
        touched; `describe` gives None for what is not wanted (any more).
        """
        if self.full:
            return self._plan_full(wanted, describe)
        to_send: dict[TopicPartition, Wanted] = {}
        to_forget: list[tuple[bytes, TopicPartition]] = []
        by_id = self._without_id == 0
        for tp in touched:
            before = self.partitions.get(tp)
            now = describe(tp)
            if now is None:
                if before is not None:
                    self._remove(tp, before)
                    to_forget.append((before.topic_id, tp))
                continue
            if before == now and tp not in self._answered:
                continue
            if before is not None:
                if before.topic_id != now.topic_id and NO_TOPIC_ID not in (before.topic_id, now.topic_id):
                    to_forget.append((before.topic_id, tp))
                self._remove(tp, before)
            self._add(tp, now)
            to_send[tp] = now
        by_id = by_id and self._without_id == 0  # also for those forgotten: they have to be named, too
        return Plan(self.id, self.epoch, to_send, tuple(to_forget), by_id)

    def _plan_full(
        self, wanted: Iterable[TopicPartition], describe: Callable[[TopicPartition], Wanted | None]
    ) -> Plan:
        self.partitions.clear()
        self._answered.clear()
        self._names.clear()
        self._without_id = 0
        for tp in wanted:
            now = describe(tp)
            if now is not None:
                self._add(tp, now)
        return Plan(self.id, self.epoch, dict(self.partitions), (), self._without_id == 0)

    def plan_close(self) -> Plan | None:
        """The request that ends the session at the broker; None when there is none."""
        if self.id == NO_SESSION:
            return None
        plan = Plan(self.id, FINAL_EPOCH, {}, (), self._without_id == 0)
        self.lost()
        return plan

    def name(self, topic_id: bytes) -> str | None:
        return self._names.get(topic_id)

    def take_in(
        self, response: FetchResponse
    ) -> tuple[dict[TopicPartition, PartitionData] | None, str | None]:
        """What an answer says about each partition, or None and the reason why it cannot be used. Either way
        the next request is right: incremental, or full.
        """
        if response.error_code:
            if response.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND:
                self._begin_anew(NO_SESSION)
            else:
                self._begin_anew(self.id)
            return None, f"error code {response.error_code}"
        found: dict[TopicPartition, PartitionData] = {}
        stray: str | None = None
        for topic in response.responses:
            name = topic.topic or self._names.get(bytes(topic.topic_id))
            for data in topic.partitions:
                tp = TopicPartition(name or "", data.partition_index)
                if name is None or tp not in self.partitions:
                    stray = str(tp) if name else f"topic id {bytes(topic.topic_id).hex()}"
                found[tp] = data
        if self.full:
            if not found and self.partitions and response.throttle_time_ms > 0:
                self._begin_anew(NO_SESSION)  # KIP-219: a throttled client gets an empty answer
                return None, None
            if stray is None and len(found) < len(self.partitions):
                missing = next(tp for tp in self.partitions if tp not in found)
                stray = f"without {missing}"
            if stray is not None:
                self._begin_anew(NO_SESSION)
                return None, f"an answer about other partitions than were asked for ({stray})"
        elif stray is not None:
            self._begin_anew(self.id)
            return None, f"an answer about partitions outside the session ({stray})"
        if response.session_id == NO_SESSION:
            self._begin_anew(NO_SESSION)
        else:
            self.id = response.session_id
            self.epoch = 1 if self.epoch == _EPOCH_MAX else self.epoch + 1
        self._answered.update(tp for tp, data in found.items() if data.records or data.error_code)
        return found, None

    def lost(self) -> None:
        """The request or its answer was lost: the next one closes what there may be and opens anew."""
        self._begin_anew(self.id)

    def _begin_anew(self, session_id: int) -> None:
        self.id = session_id
        self.epoch = INITIAL_EPOCH

    def _add(self, tp: TopicPartition, wanted: Wanted) -> None:
        self.partitions[tp] = wanted
        self._answered.discard(tp)
        if wanted.topic_id == NO_TOPIC_ID:
            self._without_id += 1
        else:
            self._names[wanted.topic_id] = tp.topic

    def _remove(self, tp: TopicPartition, wanted: Wanted) -> None:
        del self.partitions[tp]
        self._answered.discard(tp)
        if wanted.topic_id == NO_TOPIC_ID:
            self._without_id -= 1
