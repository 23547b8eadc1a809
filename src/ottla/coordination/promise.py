"""A response that somebody waits for, perhaps until other members have come.

The state machines keep promises (a member that waits in JoinGroup) and answer them through an `Outcome`;
only the coordinator's shell completes them, once the records they rest on are committed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar, cast

from ottla.model.errors import KafkaError

R = TypeVar("R")


class Promise(Generic[R]):
    __slots__ = ("response", "done", "on_done", "_refusal")

    def __init__(self, refusal: Callable[[KafkaError], R]) -> None:
        """`refusal` makes the response that carries an error in its right place."""
        self.response: R | None = None
        self.done = False
        self.on_done: Callable[[], None] | None = None
        self._refusal = refusal

    def complete(self, response: R) -> None:
        """The first answer counts; a later one (a shard given up after it answered) is dropped."""
        if not self.done:
            self.done = True
            self.response = response
            if self.on_done is not None:
                self.on_done()

    def kept(self) -> R:
        """The response of a promise that is done."""
        assert self.done
        return cast(R, self.response)

    def refuse(self, error: KafkaError) -> None:
        self.complete(self._refusal(error))

    def refusal(self, error: KafkaError) -> R:
        """The response with this error, for an outcome that answers with it."""
        return self._refusal(error)
