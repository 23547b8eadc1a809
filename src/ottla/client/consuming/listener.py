"""Who is told when partitions come and go: a user's rebalance listener, in the forms that it may have.

An object with any of the methods `on_assigned`, `on_revoked` and `on_lost` (or under kafka-python's names,
`on_partitions_assigned`, ...), or single functions. Each gets a sorted list of partitions. Under asyncio they
may be coroutine functions. Without an `on_lost`, `on_revoked` is called for partitions that were lost, as in
Java.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from ottla.client.errors import InvalidArgument
from ottla.model.types import TopicPartition

Told: TypeAlias = Callable[[list[TopicPartition]], Any]

_METHODS = ("on_assigned", "on_revoked", "on_lost")
_ALIASES = {
    "on_assigned": "on_partitions_assigned",
    "on_revoked": "on_partitions_revoked",
    "on_lost": "on_partitions_lost",
}


class Listener(NamedTuple):
    on_assigned: Told | None = None
    on_revoked: Told | None = None
    on_lost: Told | None = None

    @classmethod
    def of(
        cls,
        listener: Any = None,
        *,
        on_assigned: Told | None = None,
        on_revoked: Told | None = None,
        on_lost: Told | None = None,
    ) -> Listener:
        """What `subscribe` was given, in one form."""
        single = (on_assigned, on_revoked, on_lost)
        for name, function in zip(_METHODS, single, strict=True):
            if function is not None and not callable(function):
                raise InvalidArgument(f"{name} has to be a function, not {type(function).__name__}")
        if listener is None:
            found = single
        elif any(single):
            raise InvalidArgument("give a listener object or single functions, not both")
        else:
            found = tuple(
                getattr(listener, name, None) or getattr(listener, _ALIASES[name], None) for name in _METHODS
            )  # type: ignore[assignment]
            if not any(found):
                raise InvalidArgument(
                    "a rebalance listener has a method on_assigned, on_revoked or on_lost; "
                    f"{type(listener).__name__} has none of them"
                )
        assigned, revoked, lost = found
        return cls(assigned, revoked, lost or revoked)
