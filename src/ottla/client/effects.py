"""What the client's core asks of the shell that runs it.

Everything the client decides (which broker to ask, when to refresh, when to try again) is written as
generators that yield these effects and return their result. They touch no socket and no clock, so one core
serves a blocking shell (`client/network.py`), an asyncio shell, and tests that answer by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol, TypeAlias, TypeVar

from ottla.wire.primitives import Encoder

R = TypeVar("R")

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


ClientEffect: TypeAlias = Call | CallMany | Pause
ClientSteps: TypeAlias = Generator[ClientEffect, Any, R]
"""What an operation of the core returns: `def create_topics(...) -> ClientSteps[list[CreatedTopic]]`."""
