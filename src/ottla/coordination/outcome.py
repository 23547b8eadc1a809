"""What a decision of the coordinator asks for: records to append, and answers that rest on them.

The shell carries an outcome out in this order: append all its records as one batch, replay them (unless the
decision has already changed the state itself, see `replayed`), and complete the answers when the batch is
below the high watermark; then it begins the work that may only follow a decision that cannot be lost
(`then`). When the append fails, the answers are refused; a decision that had changed soft
state is undone by giving up the shard and loading it anew from its log.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

from ottla.coordination.promise import Promise
from ottla.coordination.record import CoordinatorRecord
from ottla.model.errors import KafkaError

R = TypeVar("R")

Job: TypeAlias = "Generator[None, None, Outcome]"
"""Work too long for one turn of the loop (a big assignment, many patterns). It yields at least every 200 µs;
what it returns is decided on the state of that last moment, and is carried out like any other outcome.
"""


class Outcome:
    __slots__ = (
        "records",
        "answers",
        "replayed",
        "soft_changed",
        "jobs",
        "then",
        "producer",
        "verification",
    )

    def __init__(self) -> None:
        self.records: list[CoordinatorRecord] = []
        self.answers: list[tuple[Promise[Any], Any]] = []
        self.replayed = False
        """The state already is what the records say: they are for the log only (classic groups)."""
        self.soft_changed = False
        """State that is in no record was changed on the assumption that the records will be written."""
        self.jobs: list[Job] = []
        self.then: list[object] = []
        """What the shell begins once the records are below the high watermark: markers to write."""
        self.producer: tuple[int, int] | None = None
        """Producer id and epoch: the records are part of that producer's transaction; so says their batch."""
        self.verification: Any = None
        """What the log wants to be shown with the first batch of a transaction, if the shell had to ask for
        it (`log/verification.py`).
        """

    def answer(self, promise: Promise[R], response: R) -> None:
        self.answers.append((promise, response))

    def refuse(self, promise: Promise[Any], error: KafkaError) -> None:
        self.answers.append((promise, promise.refusal(error)))

    def absorb(self, other: Outcome) -> None:
        """Adds what another decision of the same event asks for."""
        assert not (self.records and other.records and self.replayed != other.replayed)
        assert self.producer is None and other.producer is None, "a transactional batch is of one decision"
        if other.records:
            self.replayed = other.replayed
        self.records += other.records
        self.answers += other.answers
        self.soft_changed = self.soft_changed or other.soft_changed
        self.jobs += other.jobs
        self.then += other.then


INLINE_STEPS_MAX = 5
"""Steps of a job that are taken at once: about a millisecond."""


def try_now(job: Generator[None, None, R], steps_max: int = INLINE_STEPS_MAX) -> tuple[bool, R | None]:
    """Runs a job for a short while: (True, its result), or (False, None) when it needs more turns; the
    generator then goes on from where it is.
    """
    try:
        for _ in range(steps_max):
            next(job)
    except StopIteration as stop:
        return True, stop.value
    return False, None
