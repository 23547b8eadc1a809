"""What counts as consumed, and its automatic commits.

Consumed is what earlier polls handed out: the fetcher's positions, except where records were handed back
(the code that had them raised) or lie with a shell that has not handed them on yet (an iteration). Message
streams have a rule of their own and put it in the place of this one.

With `enable.auto.commit` that is committed every `auto.commit.interval.ms` by poll, without waiting; and,
waiting for the answer, before partitions go away and at the end. A failure of these commits is kept and
logged, not raised: the records will be delivered again, as they are when a consumer dies.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from ottla.client.consuming.bounded import within
from ottla.client.effects import ClientSteps
from ottla.client.errors import OttlaError
from ottla.client.membership import FOREVER
from ottla.client.records import ConsumerRecord, OffsetAndMetadata
from ottla.model.types import TopicPartition

if TYPE_CHECKING:
    from ottla.client.consuming.commits import Commits, Offsets
    from ottla.client.consuming.fetcher import Fetcher
    from ottla.client.session import Session
    from ottla.client.settings import ConsumerSettings

log = logging.getLogger("ottla.client")

REVOKE_COMMIT_TIMEOUT_MS: Final = 10_000
UNREACHABLE_MS: Final = 2_000
"""How long the end of a consumer is held up by a coordinator that cannot be reached: a consumer of a dead
cluster should end soon."""


class Consumed:
    def __init__(
        self, session: Session, settings: ConsumerSettings, fetcher: Fetcher, commits: Commits
    ) -> None:
        self._session = session
        self._settings = settings
        self._fetcher = fetcher
        self._commits = commits
        self._automatic = settings.enable_auto_commit and settings.group_id is not None
        self._due_ms = 0.0
        self._returned: dict[TopicPartition, OffsetAndMetadata] = {}
        self.commit_error: OttlaError | None = None
        """Why the last automatic commit failed; what it was about may be delivered again."""
        self.unhanded: Callable[[], dict[TopicPartition, OffsetAndMetadata]] = dict
        """Gives where that begins which a shell got from poll and has not handed on yet."""
        self.instead: Callable[[], dict[TopicPartition, OffsetAndMetadata]] | None = None
        """Gives what is consumed by another rule (message streams)."""

    # -- the rule

    def offsets(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """Where each assigned partition is, counting only what was handed out."""
        if self.instead is not None:
            return self.instead()
        found: dict[TopicPartition, OffsetAndMetadata] = {}
        for tp in self._fetcher.assignment():
            at = self._fetcher.position(tp)
            if at is not None:
                found[tp] = at
        found.update(self.behind())
        return found

    def behind(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """The partitions where that is not the fetcher's position."""
        found = self.unhanded()
        for tp, at in self._returned.items():
            if tp not in found or at.offset < found[tp].offset:
                found[tp] = at
        assigned = self._fetcher.assignment()
        return {tp: at for tp, at in found.items() if tp in assigned}

    def polling(self) -> None:
        """Whoever polls has dealt with what came before."""
        self._returned = {}

    def hand_back(self, records: Sequence[ConsumerRecord]) -> None:
        """These records of the last poll were not dealt with: until the next poll no commit covers them."""
        for tp, at in first_offsets(records).items():
            known = self._returned.get(tp)
            if known is None or at.offset < known.offset:
                self._returned[tp] = at

    def moved(self, partitions: Iterable[TopicPartition]) -> None:
        """Somebody sought there, or they are read no more."""
        for tp in partitions:
            self._returned.pop(tp, None)

    # -- automatic commits

    def until_due_ms(self, now_ms: float) -> float:
        return max(1.0, self._due_ms - now_ms) if self._automatic else FOREVER

    def commit_when_due(self, now_ms: float, joined: bool) -> None:
        """By poll, before it hands out anything new; a failure is made up for by the next one."""
        if not self._automatic or now_ms < self._due_ms:
            return
        first = not self._due_ms
        self._due_ms = now_ms + self._settings.auto_commit_interval_ms
        if first or self._commits.under_way or not joined:
            return
        changed = self._changed(self.offsets())
        if changed:
            self._commits.commit_async(changed, None, self._answered)

    def commit_before_loss(self, partitions: frozenset[TopicPartition]) -> ClientSteps[None]:
        if self._automatic:
            offsets = {tp: at for tp, at in self.offsets().items() if tp in partitions}
            yield from self._commit(offsets, REVOKE_COMMIT_TIMEOUT_MS, None)

    def commit_finally(self, timeout_ms: float) -> ClientSteps[None]:
        if self._automatic:
            known = self._session.coordinators.known(self._settings.group_id or "") is not None
            limit_ms = timeout_ms if known else min(timeout_ms, UNREACHABLE_MS)
            yield from self._commit(self.offsets(), limit_ms, UNREACHABLE_MS)

    def _changed(self, offsets: Offsets) -> Offsets:
        known = self._commits.committed_last
        return {tp: at for tp, at in offsets.items() if tp not in known or known[tp].offset != at.offset}

    def _commit(self, offsets: Offsets, timeout_ms: float, unreachable_ms: float | None) -> ClientSteps[None]:
        self.commit_error = None
        changed = self._changed(offsets)
        if not changed:
            return
        # A request under way has the time of a request, which may be longer than the caller's.
        steps = self._commits.commit(changed, timeout_ms, unreachable_ms=unreachable_ms)
        try:
            yield from within(self._session.host, timeout_ms, steps, "the commit of what was consumed")
        except OttlaError as error:
            self._answered(error)

    def _answered(self, failure: OttlaError | None) -> None:
        self.commit_error = failure
        if failure is not None:
            log.warning("offsets could not be committed: %s", failure)
            if failure.retriable:
                now_ms = self._session.host.clock.monotonic_ms()
                self._due_ms = min(self._due_ms, now_ms + self._settings.retry_backoff_ms)


def first_offsets(records: Sequence[ConsumerRecord]) -> dict[TopicPartition, OffsetAndMetadata]:
    """Where each partition has to be for these records to come again."""
    found: dict[TopicPartition, OffsetAndMetadata] = {}
    for record in reversed(records):
        found[TopicPartition(record.topic, record.partition)] = OffsetAndMetadata(
            record.offset, "", record.leader_epoch
        )
    return found
