"""The stores of a `Processor` on Spark's state: by the key at hand, as objects, with few round trips.

A state store is a process away. So what a store is asked or told while a key has its turn (all its records
of a micro-batch, or one timer) stays in memory, and `end_turn` writes what was changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from ottla.streams import objects

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import ListState, MapState, ValueState

SCHEMA: Final = "data binary"
NAME_SCHEMA: Final = "name binary"
_UNREAD: Final = object()


class ValueStateStore:
    """One value of the current key; written when the key's turn ends."""

    def __init__(self, state: ValueState) -> None:
        self._state = state
        self._value: Any = _UNREAD
        self._dirty = False

    def get(self) -> Any:
        if self._value is _UNREAD:
            found = self._state.get()
            self._value = None if found is None else objects.decode(bytes(found[0]))
        return self._value

    def put(self, value: Any) -> None:
        self._value, self._dirty = value, True

    def delete(self) -> None:
        self.put(None)

    def end_turn(self) -> None:
        # What was read may have been changed in place without a put; Kafka Streams would not see that either.
        if self._dirty:
            if self._value is None:
                self._state.clear()
            else:
                self._state.update((objects.encode(self._value),))
        self._value, self._dirty = _UNREAD, False


class ListStateStore:
    """Values of the current key in their order; additions are written together."""

    def __init__(self, state: ListState) -> None:
        self._state = state
        self._added: list[Any] = []

    def get(self) -> list[Any]:
        return [objects.decode(bytes(data)) for (data,) in self._state.get()] + self._added

    def append(self, value: Any) -> None:
        self._added.append(value)

    def put(self, values: list[Any]) -> None:
        self._added.clear()
        if values:
            self._state.put([(objects.encode(value),) for value in values])
        else:
            self._state.clear()

    def delete(self) -> None:
        self.put([])

    def end_turn(self) -> None:
        if self._added:
            self._state.appendList([(objects.encode(value),) for value in self._added])
            self._added = []


class MapStateStore:
    """Values of the current key by a name within it."""

    def __init__(self, state: MapState) -> None:
        self._state = state
        self._known: dict[bytes, Any] = {}
        self._dirty: set[bytes] = set()

    def get(self, name: Any) -> Any:
        encoded = objects.encode_key(name)
        if encoded not in self._known:
            found = self._state.getValue((encoded,))
            self._known[encoded] = None if found is None else objects.decode(bytes(found[0]))
        return self._known[encoded]

    def put(self, name: Any, value: Any) -> None:
        encoded = objects.encode_key(name)
        self._known[encoded] = value
        self._dirty.add(encoded)

    def delete(self, name: Any) -> None:
        self.put(name, None)

    def items(self) -> Iterator[tuple[Any, Any]]:
        self.end_turn()  # one truth while it is walked
        found = [(bytes(name[0]), bytes(value[0])) for name, value in self._state.iterator()]
        return iter([(objects.decode(name), objects.decode(value)) for name, value in sorted(found)])

    def end_turn(self) -> None:
        for encoded in self._dirty:
            value = self._known[encoded]
            if value is not None:
                self._state.updateValue((encoded,), (objects.encode(value),))
            elif self._state.containsKey((encoded,)):
                self._state.removeKey((encoded,))
        self._known.clear()
        self._dirty.clear()
