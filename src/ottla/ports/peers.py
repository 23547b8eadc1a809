"""Other nodes of the cluster, as pure code reaches them: a request out, its response back.

Real sockets (`net/peers.py`) and simulated ones (`testing/peers.py`) both offer this. A call is a generator
of effects, so whoever calls waits as it waits for everything else. Requests of one address and lane go over
one connection, in order: a lane of its own keeps a long poll from holding up a heartbeat.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, Protocol

from ottla.ports.effects import Sleep, Steps


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class PeerUnavailable(Exception):
    """Not connected, connection lost, or no answer in time: nobody knows whether it was carried out."""


class Peers(Protocol):
    def call(
        self, address: Address, request: Any, version: int, *, lane: str, timeout_ms: float
    ) -> Steps[Any]:
        """Sends a request (a message of `wire.messages`) and gives the decoded response.

        What lies in the response's buffers stays valid as long as somebody holds it. Raises PeerUnavailable.
        """
        ...


class NoPeers:
    """For a node that is its whole cluster."""

    def call(
        self, address: Address, request: Any, version: int, *, lane: str, timeout_ms: float
    ) -> Steps[Any]:
        yield Sleep(0)
        raise PeerUnavailable(f"this node has no way to {address}")


NO_PEERS: Final = NoPeers()
