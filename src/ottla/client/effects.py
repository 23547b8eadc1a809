"""What the client's core asks of the shell that runs it.

Everything the client decides (which broker to ask, when to refresh, when to try again) is written as
generators that yield these effects and return their result. They touch no socket and no clock, so one core
serves threads (`client/runtime/threaded.py`), asyncio (`ottla/aio/`), the simulator, and tests that answer by
hand.

An operation is one generator. What goes on beside operations (sending, fetching, heartbeats) is a task: a
generator that the host runs until it ends or is cancelled. Tasks and operations take turns, never two at
once, and only at a yield: between two yields nobody else changes what they see.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol, TypeAlias, TypeVar

from ottla.ports.clock import Clock
from ottla.wire.primitives import Encoder

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

ANY_BROKER: Final = -1
"""As a node id: whichever broker is connected, else the bootstrap addresses in turn."""

NEWEST: Final = 32767
"""As a version: the newest that both sides speak."""


class Request(Protocol):
    """What every generated request is to the client."""

    API_KEY: ClassVar[int]

    def encode(self, out: Encoder, version: int) -> None: ...


@dataclass(frozen=True, slots=True)
class Versioned:
    """A request that looks different in different versions (topics by id or by name): built once the version
    is known.
    """

    api_key: int
    build: Callable[[int], Request]


@dataclass(frozen=True, slots=True)
class Call:
    """Send one request to one broker; the yield gives the response or raises an OttlaError."""

    node_id: int
    request: Request | Versioned
    version_max: int = NEWEST
    timeout_ms: int | None = None
    """How long the answer may take; None for the shell's `request.timeout.ms`."""
    answered: bool = True
    """False for acks=0, to which the broker sends no response: the yield gives None."""
    lane: int = 0
    """Each lane to a node is a connection of its own: a broker answers one connection in order, so what it
    may hold for long (a fetch, a join) must not stand before what is urgent (a heartbeat, a commit).
    """

    @property
    def api_key(self) -> int:
        request = self.request
        return request.api_key if isinstance(request, Versioned) else request.API_KEY


@dataclass(frozen=True, slots=True)
class CallMany:
    """Send several requests at once, to different brokers; the yield gives one `Answer` for each."""

    calls: Sequence[Call]


@dataclass(frozen=True, slots=True)
class Pause:
    """Continue after this many milliseconds."""

    duration_ms: float


class Signal:
    """Something that tasks wait for. `notify` wakes those who wait now and has no memory: check the
    condition, then yield `Wait`, with no other effect between the two, and check again afterwards.
    """

    __slots__ = ("waiters",)

    def __init__(self) -> None:
        self.waiters: dict[int, Callable[[], None]] = {}
        """What wakes each one, by a number of the host's; the host adds and removes."""

    def notify(self) -> None:
        if self.waiters:
            waiting, self.waiters = self.waiters, {}
            for wake in waiting.values():
                wake()


@dataclass(frozen=True, slots=True)
class Wait:
    """Continue when the signal is notified (the yield gives True) or the time is up (False)."""

    signal: Signal
    timeout_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Invoke:
    """Call a function of the user's (a rebalance listener), where the caller of the operation is: in the
    thread that called, without our lock; under asyncio a coroutine function is awaited. The yield gives its
    result or raises what it raised. For operations that somebody runs, not for tasks.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...] = ()


class Task(Protocol[R_co]):
    """A generator that runs beside the others."""

    name: str
    done: bool

    @property
    def finished(self) -> Signal:
        """Notified at its end."""
        ...

    def result(self) -> R_co:
        """What it returned, or raises what it raised; only once `done`."""
        ...

    def cancel(self) -> None:
        """Ends it where it waits (its `finally` clauses run); the answer to its call is dropped."""
        ...


class Host(Protocol):
    """What a shell is to the core, besides carrying out effects."""

    clock: Clock

    def chance(self) -> float:
        """A number in [0, 1)."""
        ...

    def spawn(self, steps: ClientSteps[R], name: str) -> Task[R]:
        """Starts a task; its first step is taken soon, not now. An exception that leaves it is logged."""
        ...

    def later(self, function: Callable[[], None]) -> None:
        """Calls a function of the user's (a delivery callback) soon, in the order of these calls, one at a
        time, outside of the lock; an exception out of it is logged and goes no further.
        """
        ...


class Answer:
    """The outcome of one call among many: a response, or the error in its place."""

    __slots__ = ("response", "error")

    def __init__(self, response: Any = None, error: Exception | None = None) -> None:
        self.response = response
        self.error = error

    def get(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.response


ClientEffect: TypeAlias = Call | CallMany | Pause | Wait | Invoke
ClientSteps: TypeAlias = Generator[ClientEffect, Any, R]
"""What an operation of the core returns: `def create_topics(...) -> ClientSteps[list[CreatedTopic]]`."""
