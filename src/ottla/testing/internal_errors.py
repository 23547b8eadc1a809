"""Bugs of the broker that a client would only feel as a lost connection."""

from __future__ import annotations

import logging

from ottla.testing.ledger import Violation


class InternalErrors(logging.Handler):
    """A handler that fails costs its client one connection and a line in the log; here it ends the run."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self._logger = logging.getLogger("ottla.broker.dispatch")
        self._before = (self._logger.level, self._logger.propagate)
        self.first: logging.LogRecord | None = None

    def __enter__(self) -> None:
        self._before = (self._logger.level, self._logger.propagate)
        self._logger.addHandler(self)
        self._logger.setLevel(logging.ERROR)
        self._logger.propagate = False

    def __exit__(self, *_: object) -> None:
        self._logger.removeHandler(self)
        self._logger.level, self._logger.propagate = self._before
        if self.first is not None:
            raise Violation(logging.Formatter().format(self.first))

    def emit(self, record: logging.LogRecord) -> None:
        self.first = self.first or record
