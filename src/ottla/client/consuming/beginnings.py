"""Where partitions begin that are new here: where the group committed, or by the reset policy.

Poll asks for it (`look_up`) whenever a partition has no position; a task reads what the group has committed
and goes on until every partition has its place, or somebody has sought meanwhile. What it cannot get over
lies here for poll to raise.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from ottla.client.cluster import MISSING_TOPIC
from ottla.client.effects import ClientSteps, Pause, Task
from ottla.client.errors import OttlaError, ServerError

if TYPE_CHECKING:
    from ottla.client.consuming.commits import Commits
    from ottla.client.consuming.fetcher import Fetcher
    from ottla.client.session import Session
    from ottla.client.settings import ConsumerSettings

log = logging.getLogger("ottla.client")

LOOKUP_RETRY_MS: Final = 200


class Beginnings:
    def __init__(
        self, session: Session, settings: ConsumerSettings, fetcher: Fetcher, commits: Commits
    ) -> None:
        self._session = session
        self._settings = settings
        self._fetcher = fetcher
        self._commits = commits
        self._task: Task[None] | None = None
        self._failure: OttlaError | None = None
        self.unreachable: OttlaError | None = None
        """Why the committed offsets could not be read yet."""

    def look_up(self) -> None:
        missing = self._fetcher.missing()
        if not missing:
            return
        if self._settings.group_id is None:
            for tp in sorted(missing):
                self._fetcher.reset(tp)
        elif self._task is None or self._task.done:
            self._task = self._session.host.spawn(self._look_up_committed(), "committed offsets")

    def raise_failure(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def forget(self) -> None:
        """Partitions went away: what the group had committed when it was asked may be old when they come
        back.
        """
        if self._task is not None and not self._task.done:
            self._task.cancel()

    def _look_up_committed(self) -> ClientSteps[None]:
        while missing := self._fetcher.missing():
            try:
                committed = yield from self._commits.committed(missing)
                self.unreachable = None
            except OttlaError as error:
                if not error.retriable:
                    self._fail(error)
                    return
                log.info("the committed offsets cannot be read yet: %s", error)
                self.unreachable = error
                if isinstance(error, ServerError) and error.code in MISSING_TOPIC:
                    self._session.metadata.request()
                yield Pause(LOOKUP_RETRY_MS)
                continue
            still_missing = self._fetcher.missing()  # somebody may have sought meanwhile
            for tp, found in committed.items():
                if tp not in still_missing:
                    continue
                try:
                    if found is None:
                        self._fetcher.reset(tp)
                    else:
                        self._fetcher.seek(tp, found.offset, found.leader_epoch)
                        self._commits.committed_last[tp] = found
                except OttlaError as error:  # nothing committed, and auto.offset.reset is none
                    self._fail(error)
                    return
            self._fetcher.arrived.notify()

    def _fail(self, error: OttlaError) -> None:
        """For poll to raise."""
        self._failure = error
        self._fetcher.arrived.notify()
