"""A shell for tests: a clock that is set by hand, and brokers that answer what the test says.

`Shell` runs the real scheduler and the real links on a scripted dialer. Nothing happens by itself: `settle`
takes all steps that can be taken now, `pass_time` moves the clock from timer to timer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ottla.client.bootstrap import Directory, parse_bootstrap
from ottla.client.cluster import Cluster
from ottla.client.effects import ClientSteps
from ottla.client.metrics import Metrics
from ottla.client.runtime.link import Link
from ottla.client.runtime.links import Links
from ottla.client.runtime.scheduler import Scheduler
from ottla.client.runtime.task import CoreTask
from ottla.client.settings import ClientSettings
from ottla.client.view import Address
from ottla.wire.framing import decode_request, decode_request_header, encode_response
from ottla.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from ottla.wire.messages.index import APIS
from ottla.wire.messages.metadata import MetadataResponse, MetadataResponseBroker


class ManualClock:
    def __init__(self) -> None:
        self.elapsed_ms = 0.0

    def now_ms(self) -> int:
        return 1_700_000_000_000 + int(self.elapsed_ms)

    def monotonic_ms(self) -> float:
        return self.elapsed_ms


class Wire:
    """A connection as the test sees it: what the client has sent, and the means to answer."""

    def __init__(self, endpoint: Any, link: Link) -> None:
        self.endpoint = endpoint
        self.link = link
        self.closed = False
        self.backed_up = False
        self.sent: list[tuple[Any, int, int]] = []
        """Requests that came and were not answered: message, version, correlation id."""
        self.count = 0

    def write(self, parts: list[Any]) -> None:
        assert not self.closed
        frame = b"".join(parts)
        assert int.from_bytes(frame[:4], "big") == len(frame) - 4
        self.count += 1
        header, position = decode_request_header(frame, 4, len(frame))
        message = decode_request(header, frame, position, len(frame))
        self.sent.append((message, header.api_version, header.correlation_id))

    def close(self) -> None:
        self.closed = True

    # -- the broker's side --

    def accept(self) -> None:
        """The connection is there, and versions are agreed."""
        self.link.opened()
        self.say_hello()

    def say_hello(self, versions: dict[str, tuple[int, int]] | None = None) -> None:
        special = versions or {}
        ranges = [
            ApiVersion(
                api_key=key,
                min_version=special.get(api.name, (api.min_version, api.max_version))[0],
                max_version=special.get(api.name, (api.min_version, api.max_version))[1],
            )
            for key, api in APIS.items()
        ]
        self.answer(ApiVersionsResponse(api_keys=ranges))

    def answer(self, response: Any) -> None:
        """To the oldest request."""
        message, version, correlation_id = self.sent.pop(0)
        frame = b"".join(encode_response(response, message.API_KEY, version, correlation_id))
        self.link.received(bytearray(frame[4:]))

    def brokers(self, *nodes: int) -> None:
        """Answers a Metadata request: these nodes, at hosts named after them."""
        self.answer(
            MetadataResponse(
                brokers=[MetadataResponseBroker(node_id=n, host=f"host{n}", port=9092) for n in nodes],
                cluster_id="c",
                controller_id=nodes[0] if nodes else -1,
            )
        )


class ScriptedDialer:
    def __init__(self) -> None:
        self.wires: list[Wire] = []
        self.names: dict[str, Sequence[Any] | OSError] = {}
        self.refused: dict[Any, OSError] = {}
        self.delayed: list[Callable[[], None]] | None = None
        """A list: answers to name lookups are kept here until the test lets them through."""

    def resolve(self, address: Address, done: Callable[[Sequence[Any] | OSError], None]) -> None:
        found = self.names.get(address.host, [str(address)])
        if self.delayed is None:
            done(found)
        else:
            self.delayed.append(lambda: done(found))

    def dial(self, endpoint: Any, link: Link) -> Wire:
        if endpoint in self.refused:
            raise self.refused[endpoint]
        wire = Wire(endpoint, link)
        self.wires.append(wire)
        return wire


class Shell:
    """A `Host`, too."""

    def __init__(self, bootstrap: str = "seed:9092", **settings: Any) -> None:
        self.clock = ManualClock()
        self.settings = ClientSettings(bootstrap_servers=bootstrap, **settings)
        self.directory = Directory(parse_bootstrap(bootstrap))
        self.dialer = ScriptedDialer()
        self.scheduler = Scheduler(self.clock)
        self.metrics = Metrics(self.clock)
        self.links = Links(
            self.settings, "1", self.directory, self.dialer, self.scheduler, self.chance, self.metrics
        )
        self.scheduler.caller = self.links
        self.cluster = Cluster(self.directory, self.clock, self.chance)

    def chance(self) -> float:
        return 0.5

    def spawn(self, steps: ClientSteps[Any], name: str) -> CoreTask[Any]:
        return self.scheduler.spawn(steps, name)

    def later(self, function: Callable[[], None]) -> None:
        function()

    @property
    def wire(self) -> Wire:
        """The newest connection."""
        return self.dialer.wires[-1]

    def start(self, steps: ClientSteps[Any]) -> CoreTask[Any]:
        operation = self.scheduler.start(steps, "operation")
        self.settle()
        return operation

    def settle(self) -> None:
        for _ in range(100):
            self.scheduler.run_timers()
            if not self.scheduler.ready:
                return
            self.scheduler.run_ready()
        raise AssertionError("tasks keep each other awake")

    def pass_time(self, duration_ms: float) -> None:
        end_ms = self.clock.elapsed_ms + duration_ms
        self.settle()
        while (at_ms := self.scheduler.next_timer_ms()) is not None and at_ms <= end_ms:
            self.clock.elapsed_ms = max(at_ms, self.clock.elapsed_ms)
            self.settle()
        self.clock.elapsed_ms = end_ms

    def ready_node(self, *nodes: int) -> Wire:
        """Connects to the bootstrap server and learns of these nodes; gives that connection."""
        asked = self.start(self.cluster.refresh(()))
        wire = self.wire
        wire.accept()
        wire.brokers(*nodes)
        self.settle()
        assert asked.done and asked.error is None
        return wire
