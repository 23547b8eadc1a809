"""Processors of the user's in the test driver: state per key in dicts, timers by the stream's time or the
clock.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ottla.streams.driving.operators import Clock, Item, Operator, identity
from ottla.streams.errors import TopologyError
from ottla.streams.plan import Process
from ottla.streams.processor import Processor, Record


@dataclass
class _Store:
    """States by key; what is put in and what is handed out are copies, as of a real store."""

    place: Callable[[], bytes]
    states: dict[bytes, Any]


class _Value(_Store):
    def get(self) -> Any:
        return copy.deepcopy(self.states.get(self.place()))

    def put(self, value: Any) -> None:
        if value is None:
            self.delete()
        else:
            self.states[self.place()] = copy.deepcopy(value)

    def delete(self) -> None:
        self.states.pop(self.place(), None)


class _List(_Store):
    def get(self) -> list[Any]:
        return copy.deepcopy(self.states.get(self.place(), []))

    def append(self, value: Any) -> None:
        self.states.setdefault(self.place(), []).append(copy.deepcopy(value))

    def put(self, values: list[Any]) -> None:
        self.states[self.place()] = copy.deepcopy(list(values))

    def delete(self) -> None:
        self.states.pop(self.place(), None)


class _Map(_Store):
    def _entries(self) -> dict[bytes, tuple[Any, Any]]:
        entries: dict[bytes, tuple[Any, Any]] = self.states.setdefault(self.place(), {})
        return entries

    def get(self, name: Any) -> Any:
        return copy.deepcopy(self._entries().get(identity(name), (None, None))[1])

    def put(self, name: Any, value: Any) -> None:
        self._entries()[identity(name)] = (name, copy.deepcopy(value))

    def delete(self, name: Any) -> None:
        self._entries().pop(identity(name), None)

    def items(self) -> Iterator[tuple[Any, Any]]:
        return iter([copy.deepcopy(entry) for _, entry in sorted(self._entries().items())])


class ProcessOperator(Operator):
    """The operator is the processor's context."""

    def __init__(self, node: Process, clock: Clock) -> None:
        super().__init__(node, clock)
        self.key: Any = None
        self._starting = True
        self._stores: set[str] = set()
        self._timers: dict[tuple[int, bytes], Any] = {}
        made = node.processor() if node.output_schema is None else None
        if not isinstance(made, Processor):
            raise TopologyError(
                f"{node.name}: the test driver runs processors of ottla.streams.Processor, "
                f"{made if made is not None else node.processor!r} is not one"
            )
        self.processor: Processor = made
        self.call(self.processor.init, self)
        self._starting = False

    # --- the context ---

    @property
    def stream_time_ms(self) -> int:
        return self.clock.stream_ms

    def _place(self) -> bytes:
        return identity(self.key)

    def _named(self, name: str) -> None:
        if not self._starting:
            raise TopologyError(f"the store {name!r} is asked for too late: stores are made in init(context)")
        if name in self._stores:
            raise TopologyError(f"there are two stores with the name {name!r}")
        self._stores.add(name)

    def value_store(self, name: str) -> _Value:
        self._named(name)
        return _Value(self._place, {})

    def list_store(self, name: str) -> _List:
        self._named(name)
        return _List(self._place, {})

    def map_store(self, name: str) -> _Map:
        self._named(name)
        return _Map(self._place, {})

    def schedule(self, at_ms: int) -> None:
        self._timers[at_ms, self._place()] = self.key

    def cancel(self, at_ms: int) -> None:
        self._timers.pop((at_ms, self._place()), None)

    def forward(self, item: Any) -> None:
        if isinstance(item, Record):
            item = Item(item.key, item.value, item.timestamp_ms, item.headers)
        super().forward(item)

    # --- the operator ---

    def receive(self, side: int, item: Item) -> None:
        self.key = item.key
        self.call(self.processor.process, Record(item.key, item.value, item.timestamp_ms, item.headers))

    def punctuate(self) -> bool:
        """Calls for the timers whose time has come; says whether there were any."""
        by_clock = self.processor.punctuation == "wall_clock"
        now_ms = self.clock.wall_ms if by_clock else self.clock.stream_ms
        due = sorted(timer for timer in self._timers if timer[0] <= now_ms)
        for timer in due:
            if timer in self._timers:  # an earlier one may have cancelled it
                self.key = self._timers.pop(timer)
                self.call(self.processor.punctuate, timer[0])
        return bool(due)
