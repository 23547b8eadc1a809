"""Calls between simulated nodes: `net.peers.PeerLinks` over the simulated network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ottla.net.peers import PeerLinks, WireEvents
from ottla.ports.clock import Clock
from ottla.ports.peers import Address
from ottla.testing.driver import SimDriver
from ottla.testing.network import ClientEnd, ConnectionLost, SimNetwork, Unreachable
from ottla.wire.primitives import Part

CONNECT_AGAIN_MS_MAX: Final = 600.0
"""A first packet that nobody answers is sent again after a while."""
CONNECT_ATTEMPTS_MAX: Final = 20


class SimDialer:
    """Implements `net.peers.Dialer` for one node. `source` is the node's own name on the network."""

    def __init__(self, network: SimNetwork, driver: SimDriver, source: str) -> None:
        self._network = network
        self._driver = driver
        self._source = source
        self.wires: dict[SimWire, None] = {}

    def dial(self, address: Address, events: WireEvents) -> SimWire:
        wire = SimWire(self._network, self._driver, events, self.wires)
        # A real connection takes a round trip, too; and nobody is called back from within his own call.
        self._network.scheduler.call_after(
            self._network.delay_ms(), lambda: wire.connect(address, self._source)
        )
        return wire

    def crashed(self, *, unseen: bool) -> None:
        """The process is gone; the other ends hear of it, unless the machine is gone as well."""
        for wire in list(self.wires):
            wire.crashed(unseen=unseen)


class SimWire:
    def __init__(
        self, network: SimNetwork, driver: SimDriver, events: WireEvents, wires: dict[SimWire, None]
    ) -> None:
        self._network = network
        self._driver = driver
        self._events = events
        self._wires = wires
        self._end: ClientEnd | None = None
        self._closed = False
        self._attempts = 0
        wires[self] = None

    def connect(self, address: Address, source: str) -> None:
        if self._closed or self._driver.dead:
            return
        try:
            self._end = self._network.connect(str(address), source)
        except Unreachable as error:
            self._attempts += 1
            if self._attempts < CONNECT_ATTEMPTS_MAX:
                scheduler = self._network.scheduler
                scheduler.call_after(
                    (0.1 + scheduler.random.random()) * CONNECT_AGAIN_MS_MAX,
                    lambda: self.connect(address, source),
                )
            else:
                self._fail(str(error), source)
            return
        except ConnectionLost as error:
            self._fail(str(error), source)
            return
        self._end.on_reply = lambda frame: self._tell(lambda: self._events.received(frame))
        self._end.on_closed = lambda: self._tell(lambda: self._lost("the connection broke"))
        self._network.at(source, lambda: self._tell(self._events.opened))

    def send(self, parts: list[Part]) -> None:
        assert self._end is not None
        try:
            self._end.send(b"".join(bytes(part) for part in parts))
        except ConnectionLost as error:
            reason = str(error)
            self._network.scheduler.call_after(0.0, lambda: self._tell(lambda: self._lost(reason)))

    def close(self) -> None:
        self._closed = True
        self._wires.pop(self, None)
        if self._end is not None:
            self._end.close()

    def crashed(self, *, unseen: bool) -> None:
        self._wires.pop(self, None)
        self._closed = True
        if self._end is not None:
            if unseen:
                self._end.closed = True
            else:
                self._end.close()

    def _fail(self, reason: str, source: str) -> None:
        self._network.at(source, lambda: self._tell(lambda: self._lost(reason)))

    def _lost(self, reason: str) -> None:
        self._closed = True
        self._wires.pop(self, None)
        self._events.lost(reason)

    def _tell(self, action: Callable[[], None]) -> None:
        """Not once the node has given the connection up, or is dead."""
        if not self._closed:
            self._driver.guard(action)


def sim_peers(
    network: SimNetwork, driver: SimDriver, clock: Clock, *, node_id: int, source: str
) -> PeerLinks:
    return PeerLinks(SimDialer(network, driver, source), clock, f"node-{node_id}")
