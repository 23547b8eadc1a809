"""Runs the client's core by hand: the test answers each effect, time passes only when the core pauses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ottla.client.bootstrap import Directory
from ottla.client.cluster import Cluster
from ottla.client.effects import NEWEST, Answer, Call, CallMany, ClientSteps, Pause, Versioned
from ottla.client.errors import OttlaError
from ottla.client.view import Address
from ottla.wire.messages.index import APIS
from ottla.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)


class ManualClock:
    def __init__(self) -> None:
        self.elapsed_ms = 0.0

    def now_ms(self) -> int:
        return 1_700_000_000_000 + int(self.elapsed_ms)

    def monotonic_ms(self) -> float:
        return self.elapsed_ms


class Script:
    """A cluster of scripted answers. `handlers` maps an API's name to a function from node id and request to
    the response, which may raise an OttlaError; `versions` caps an API's version as an old broker would.
    """

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.cluster = Cluster(Directory([Address("seed", 9092)]), self.clock, lambda: 0.5)
        self.handlers: dict[str, Callable[[int, Any], Any]] = {"Metadata": self._metadata}
        self.versions: dict[str, int] = {}
        self.calls: list[tuple[str, int, Any]] = []
        self.pauses: list[float] = []
        self.topics: dict[str, list[int]] = {}
        """Topic name to the leader of each partition."""
        self.topic_errors: dict[str, int] = {}

    def run(self, steps: ClientSteps[Any]) -> Any:
        result: Any = None
        error: OttlaError | None = None
        while True:
            try:
                effect = steps.send(result) if error is None else steps.throw(error)
            except StopIteration as stop:
                return stop.value
            result, error = None, None
            if isinstance(effect, Pause):
                self.pauses.append(effect.duration_ms)
                self.clock.elapsed_ms += effect.duration_ms
            elif isinstance(effect, CallMany):
                result = []
                for call in effect.calls:
                    try:
                        result.append(Answer(self._answer(call)))
                    except OttlaError as failure:
                        result.append(Answer(error=failure))
            else:
                try:
                    result = self._answer(effect)
                except OttlaError as failure:
                    error = failure

    def _answer(self, call: Call) -> Any:
        api = APIS[call.api_key]
        version = min(api.max_version, self.versions.get(api.name, NEWEST), call.version_max)
        request = call.request.build(version) if isinstance(call.request, Versioned) else call.request
        self.calls.append((api.name, call.node_id, request))
        return self.handlers[api.name](call.node_id, request)

    def names(self) -> list[str]:
        return [name for name, _, _ in self.calls]

    def topic_id(self, name: str) -> bytes:
        return name.encode().ljust(16, b"\0")

    def _metadata(self, node_id: int, request: Any) -> MetadataResponse:
        wanted = list(self.topics) if request.topics is None else [topic.name for topic in request.topics]
        leaders = {leader for leaders in self.topics.values() for leader in leaders if leader >= 0} | {1}
        return MetadataResponse(
            brokers=[MetadataResponseBroker(node_id=n, host=f"host{n}", port=9092) for n in sorted(leaders)],
            cluster_id="cluster",
            controller_id=1,
            topics=[
                MetadataResponseTopic(
                    error_code=self.topic_errors.get(name, 0 if name in self.topics else 3),
                    name=name,
                    topic_id=self.topic_id(name) if name in self.topics else bytes(16),
                    partitions=[
                        MetadataResponsePartition(
                            partition_index=index,
                            leader_id=leader,
                            leader_epoch=7,
                            replica_nodes=[leader],
                            isr_nodes=[leader],
                        )
                        for index, leader in enumerate(self.topics.get(name, []))
                    ],
                )
                for name in wanted
            ],
        )
