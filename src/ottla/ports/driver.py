"""Whoever runs generators of effects: asyncio in a real broker, virtual time in the simulator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from ottla.ports.effects import Steps

R = TypeVar("R")


class Driver(Protocol):
    def run(self, steps: Steps[R], done: Callable[[Any, BaseException | None], None]) -> None:
        """Steps the generator at once until it first waits, and calls `done(result, None)` or `done(None,
        error)` at the end.

        When it never waits, `done` is called before `run` returns.
        """
        ...

    def spawn(self, steps: Steps[None], name: str) -> None:
        """Runs a background task; an error in it is logged under its name and is fatal for the node."""
        ...
