"""The escape hatch: code of the user's with state and timers of its own, record by record.

    class Deduplicate(Processor):
        def init(self, context):
            super().init(context)
            self.seen = context.value_store("seen")

        def process(self, record):
            if self.seen.get() is None:
                self.seen.put(True)
                self.context.schedule(record.timestamp_ms + 60_000)
                self.context.forward(record)

        def punctuate(self, timestamp_ms):
            self.seen.delete()

    stream.process(Deduplicate)

State and timers belong to the key of the record at hand (Spark keeps them by key), so a store is asked
without a key. A timer goes off when the time of the stream has passed it, or by the clock where the class
says `punctuation = "wall_clock"`; it goes off once. Two things implement the context: Spark's
transformWithState, and the test driver.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Protocol


@dataclass(frozen=True, slots=True)
class Record:
    """What a processor gets and forwards."""

    key: Any
    value: Any
    timestamp_ms: int
    headers: tuple[tuple[str, bytes | None], ...] = ()

    def with_key(self, key: Any) -> Record:
        return replace(self, key=key)

    def with_value(self, value: Any) -> Record:
        return replace(self, value=value)

    def with_timestamp(self, timestamp_ms: int) -> Record:
        return replace(self, timestamp_ms=timestamp_ms)


class ValueStore(Protocol):
    """One value of the current key."""

    def get(self) -> Any:
        """The value, or None."""

    def put(self, value: Any) -> None: ...

    def delete(self) -> None: ...


class ListStore(Protocol):
    """Values of the current key, in the order in which they came."""

    def get(self) -> list[Any]: ...

    def append(self, value: Any) -> None: ...

    def put(self, values: list[Any]) -> None:
        """Instead of all that are there."""

    def delete(self) -> None: ...


class MapStore(Protocol):
    """Values of the current key by a name within it."""

    def get(self, name: Any) -> Any:
        """The value, or None."""

    def put(self, name: Any, value: Any) -> None: ...

    def delete(self, name: Any) -> None: ...

    def items(self) -> Iterator[tuple[Any, Any]]: ...


class ProcessorContext(Protocol):
    """What a processor has around it. Stores are made in `init`, and only there."""

    @property
    def key(self) -> Any:
        """The key of the record or timer at hand."""

    @property
    def stream_time_ms(self) -> int:
        """How far the stream is: the highest timestamp seen (in Spark the watermark); -1 before the first."""

    def value_store(self, name: str) -> ValueStore: ...

    def list_store(self, name: str) -> ListStore: ...

    def map_store(self, name: str) -> MapStore: ...

    def forward(self, record: Record) -> None:
        """On to what follows; any number of times, with any key."""

    def schedule(self, at_ms: int) -> None:
        """`punctuate` is called for the current key at that time. Once per key and time."""

    def cancel(self, at_ms: int) -> None: ...


class Processor:
    """Made once per task, by a factory without arguments (the class itself is one)."""

    punctuation: ClassVar[Literal["stream_time", "wall_clock"]] = "stream_time"
    context: ProcessorContext

    def init(self, context: ProcessorContext) -> None:
        self.context = context

    def process(self, record: Record) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no process(record)")

    def punctuate(self, timestamp_ms: int) -> None:
        """A timer of `context.key` has gone off."""

    def close(self) -> None:
        """The task ends."""
