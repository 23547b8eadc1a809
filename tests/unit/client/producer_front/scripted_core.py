"""A core that takes down what the front hands it, knows the topics it is told of, and has no broker at
all.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from ottla.client.effects import ClientSteps, Invoke, Signal, Wait
from ottla.client.errors import BufferFull
from ottla.client.producing.batch import Delivery
from ottla.client.view import PartitionView, TopicView

NOW_MS = 1_700_000_000_000


def topic_view(name: str, count: int) -> TopicView:
    partitions = tuple(PartitionView(i, 1, 0, (1,), (1,), (), 0) for i in range(count))
    return TopicView(name, bytes(16), False, partitions, 0)


class ScriptedHost:
    def __init__(self) -> None:
        self.clock = self

    def now_ms(self) -> int:
        return NOW_MS

    def monotonic_ms(self) -> float:
        return 0.0

    def chance(self) -> float:
        return 0.0


class ScriptedMetadata:
    def __init__(self) -> None:
        self.updated = Signal()
        self.requests = 0

    def request(self) -> None:
        self.requests += 1


class ScriptedSession:
    def __init__(self) -> None:
        self.host = ScriptedHost()
        self.metadata = ScriptedMetadata()


class ScriptedCore:
    def __init__(self, **topics: int) -> None:
        self.session = ScriptedSession()
        self.topics = {name: topic_view(name, count) for name, count in topics.items()}
        self.later_topics: dict[str, TopicView] = {}
        self.room = 1_000
        self.room_comes = True
        self.appended: list[tuple[Any, ...]] = []
        self.before_send: Callable[..., None] | None = None
        self.full_batches = 0
        self.waited: list[str] = []

    def topic(self, name: str) -> TopicView | None:
        return self.topics.get(name)

    def await_topic(self, name: str) -> ClientSteps[TopicView]:
        self.waited.append("topic")
        yield Wait(self.session.metadata.updated, 1.0)
        self.topics[name] = self.later_topics[name]
        return self.topics[name]

    def try_append(self, *record: Any) -> Delivery | None:
        if len(self.appended) >= self.room:
            return None
        self.appended.append(record)
        return Delivery(None, len(self.appended) - 1)  # type: ignore[arg-type]

    def append(self, *record: Any) -> ClientSteps[Delivery]:
        self.waited.append("memory")
        yield Wait(Signal(), 1.0)
        if not self.room_comes:
            raise BufferFull("buffer.memory stayed full")
        self.appended.append(record)
        return Delivery(None, len(self.appended) - 1)  # type: ignore[arg-type]

    def limit_bytes(self, topic: str, partition: int) -> int:
        return 16_384

    def close_batch(self, topic: str, partition: int) -> None:
        pass

    def queued(self, topic: str, partition: int) -> int:
        return 0


def carry_out(steps: Generator[Any, Any, Any]) -> Any:
    """Runs steps to their end: waits are over at once, functions of the user's are called."""
    answer: Any = None
    error: Exception | None = None
    while True:
        try:
            effect = steps.send(answer) if error is None else steps.throw(error)
        except StopIteration as stop:
            return stop.value
        answer, error = True, None
        if isinstance(effect, Invoke):
            try:
                answer = effect.function(*effect.args)
            except Exception as raised:
                error = raised
