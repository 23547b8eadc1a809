"""One client for all tasks of a process: connecting anew for every range would cost more than reading it.

Spark runs task after task in the same Python processes, and a stream's driver side is one process for as long
as the query lives. Clients are kept by their settings, are safe for threads, and are forgotten in a forked
child, which must not write to its parent's sockets.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from ottla.client.config_tables import ADMIN, CONSUMER, PRODUCER

if TYPE_CHECKING:
    from ottla.client.sync.admin import Admin
    from ottla.client.sync.producer import Producer
    from ottla.client.sync.simple_consumer import SimpleConsumer

C = TypeVar("C")

_lock = threading.Lock()
_clients: dict[tuple[str, frozenset[tuple[str, Any]]], Any] = {}
_inherited: list[Any] = []
"""A parent's clients: kept, since to collect them would close what the parent still uses."""


def simple_consumer(settings: Mapping[str, Any]) -> SimpleConsumer:
    """The process's `SimpleConsumer` with these settings; nobody closes it."""

    def make(config: dict[str, Any]) -> SimpleConsumer:
        from ottla.client.sync.simple_consumer import SimpleConsumer

        return SimpleConsumer(config=config)

    return _kept("consumer", settings, CONSUMER, make)


def admin(settings: Mapping[str, Any]) -> Admin:
    """The process's `Admin` with these settings; nobody closes it."""

    def make(config: dict[str, Any]) -> Admin:
        from ottla.client.sync.admin import Admin

        return Admin(config=config)

    return _kept("admin", settings, ADMIN, make)


def producer(settings: Mapping[str, Any]) -> Producer:
    """The process's `Producer` with these settings; nobody closes it, and whoever sends has to flush."""

    def make(config: dict[str, Any]) -> Producer:
        from ottla.client.sync.producer import Producer

        return Producer(config=config)

    return _kept("producer", settings, PRODUCER, make)


def _kept(
    kind: str, settings: Mapping[str, Any], table: Mapping[str, Any], make: Callable[[dict[str, Any]], C]
) -> C:
    # One set of `kafka.*` options serves all kinds of clients: each takes what it knows.
    config = {name: value for name, value in settings.items() if name in table}
    key = kind, frozenset(config.items())
    with _lock:
        found: C | None = _clients.get(key)
        if found is None:
            found = _clients[key] = make(config)
        return found


def forget(kind: str, settings: Mapping[str, Any]) -> None:
    """Closes a client that is of no use any more, as a producer that was fenced; the next call makes one."""
    table = {"consumer": CONSUMER, "admin": ADMIN, "producer": PRODUCER}[kind]
    config = {name: value for name, value in settings.items() if name in table}
    with _lock:
        found = _clients.pop((kind, frozenset(config.items())), None)
    if found is not None:
        found.close()


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()  # another thread of the parent may have held it
    _inherited.append(dict(_clients))
    _clients.clear()


os.register_at_fork(after_in_child=_after_fork)
