"""Producer ids for idempotent producers, taken from blocks that the controller hands out.

A block is a record in the metadata log, so an id is never given twice, also when the broker is killed: what
was left of the block is lost, which costs nothing of 2^63. One request at a time fetches a block; the
others wait for it.
"""

from __future__ import annotations

from collections.abc import Callable

from ottla.model.errors import ErrorCode, KafkaError
from ottla.ports.effects import Steps, Waiter

NEXT_BLOCK_TIMEOUT_MS = 10_000


class ProducerIds:
    __slots__ = ("_next", "_end", "_allocate", "_monotonic_ms", "_waiters", "_allocating")

    def __init__(
        self, allocate: Callable[[], Steps[tuple[int, int]]], monotonic_ms: Callable[[], float]
    ) -> None:
        """`allocate` commits a new block and gives its first id and its size."""
        self._next = 0
        self._end = 0
        self._allocate = allocate
        self._monotonic_ms = monotonic_ms
        self._waiters: list[Waiter] = []
        self._allocating = False

    @property
    def available(self) -> bool:
        """Whether `take` has one."""
        return self._next < self._end

    def take(self) -> int | None:
        """The next id, or None when the block is used up."""
        if self._next >= self._end:
            return None
        producer_id = self._next
        self._next += 1
        return producer_id

    def fill(self) -> Steps[None]:
        """Gets the next block when this one is used up. Raises KafkaError when there is none to be had."""
        while not self.available:
            if self._allocating:
                waiter = Waiter(self._monotonic_ms() + NEXT_BLOCK_TIMEOUT_MS)
                self._waiters.append(waiter)
                if not (yield waiter):
                    raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
                continue
            self._allocating = True
            try:
                first, size = yield from self._allocate()
                self._next, self._end = first, first + size
            finally:
                self._allocating = False
                waiters, self._waiters = self._waiters, []
                for waiter in waiters:
                    waiter.fire()
