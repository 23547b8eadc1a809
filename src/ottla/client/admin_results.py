"""What became of each of many things: the one form in which administration answers about several at once.

A request about a hundred topics may succeed for ninety. So every operation on many things gives `Results`: a
dict from each thing that was asked about to its value, or to the error in its place. Changes that have
nothing to tell give None as the value. Whoever wants all or nothing calls `all()`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar, cast

from ottla.client.errors import OttlaError, ProtocolError, ServerError

K = TypeVar("K")
V = TypeVar("V")


class Results(dict[K, V | OttlaError], Generic[K, V]):
    """`{thing: value or error}`, in the order in which the things were asked about."""

    @classmethod
    def of(cls, asked: Iterable[K], found: Mapping[K, V | OttlaError]) -> Results[K, V]:
        """The outcomes in the order of the question. What the broker said nothing about is an error, not a
        success.
        """
        return cls(
            (key, found[key] if key in found else ProtocolError(f"the broker did not answer about {key}"))
            for key in asked
        )

    def all(self) -> dict[K, V]:
        """Every value; raises the first error instead when there is one."""
        for outcome in self.values():
            if isinstance(outcome, OttlaError):
                raise outcome
        return cast(dict[K, V], dict(self))

    @property
    def succeeded(self) -> dict[K, V]:
        """The values of those that went well."""
        return {key: outcome for key, outcome in self.items() if not isinstance(outcome, OttlaError)}

    @property
    def failed(self) -> dict[K, OttlaError]:
        """The errors of those that did not."""
        return {key: outcome for key, outcome in self.items() if isinstance(outcome, OttlaError)}


def failure(code: int, message: str | None = None, *, subject: str = "") -> ServerError | None:
    """The error that a code in an answer stands for; None for NONE."""
    return ServerError(code, message, subject=subject) if code else None
