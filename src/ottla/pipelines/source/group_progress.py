"""A stream's progress as a consumer group, so that lag tools see a pipeline as they see any consumer.

Spark's checkpoint is what a query goes on from; nobody reads these offsets back. They are set without joining
the group, after Spark has finished with a batch. Whatever goes wrong here is a warning: a query does not stop
because its lag cannot be shown.
"""

from __future__ import annotations

import hashlib
import logging
import math
import time
from typing import TYPE_CHECKING, Final

from ottla.client.errors import OttlaError
from ottla.pipelines import connections

if TYPE_CHECKING:
    from ottla.pipelines.options import SourceOptions
    from ottla.pipelines.source.offsets import Offsets

PREFIX: Final = "ottla-spark"
TIMEOUT_S: Final = 5.0
PAUSE_S: Final = 10.0
"""After a failure: Spark asks for news many times a second, and a query must not wait for its lag."""
_NAME_CHARS_MAX: Final = 100

log = logging.getLogger("ottla.pipelines")


def group_of(options: SourceOptions) -> str:
    """The group's name: `kafka.group.id`, or one that is the same whenever the same thing is read.

    A reader is not told which query it belongs to. Two queries over the same topics need a `groupIdPrefix`
    (or a `kafka.group.id`) each to be told apart.
    """
    if options.group_id is not None:
        return options.group_id
    said = str(options.subscription)
    name = "".join(char if char.isalnum() or char in "._-" else "-" for char in said)[:_NAME_CHARS_MAX]
    mark = hashlib.sha256(said.encode()).hexdigest()[:8]
    return f"{options.group_id_prefix or PREFIX}-{name.strip('-')}-{mark}"


class GroupProgress:
    def __init__(self, options: SourceOptions) -> None:
        self.group = group_of(options)
        self._settings = dict(options.settings)
        self._shown: Offsets = {}
        self._last_failure = ""
        self._last_failure_s = -math.inf

    def commit(self, offsets: Offsets) -> None:
        if not offsets or offsets == self._shown:
            return
        if time.monotonic() - self._last_failure_s < PAUSE_S:
            return
        try:
            admin = connections.admin(self._settings)
            admin.alter_consumer_group_offsets(self.group, offsets, timeout=TIMEOUT_S).all()
        except OttlaError as error:
            # Once for each reason: a query of many batches would fill the log with it.
            if str(error) != self._last_failure:
                log.warning("the progress is not shown in the group %s: %s", self.group, error)
            self._last_failure = str(error)
            self._last_failure_s = time.monotonic()
        else:
            self._shown = dict(offsets)
            self._last_failure = ""
