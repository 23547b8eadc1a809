"""Calls to other nodes: one connection per address and lane, requests in order, answers by correlation id.

`PeerLinks` implements `ports.peers.Peers` over any way of dialling (`net/dialing.py` for sockets,
`testing/peers.py` for the simulator), so both run the same code. A link connects when it is first used and
again when it is used after it broke; whoever calls decides how long to wait between attempts. A connection on
which an answer is overdue is closed: nobody knows what the other end still does with what it was sent.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

from ottla.ports.clock import Clock
from ottla.ports.effects import Steps, Waiter
from ottla.ports.peers import Address, PeerUnavailable
from ottla.wire.framing import decode_response, encode_request
from ottla.wire.primitives import Buffer, DecodeError, Part

CORRELATION_ID_MAX: Final = 2**31 - 1
QUEUED_CALLS_MAX: Final = 10_000
"""Calls that wait on one link; more are refused, since the other end is not keeping up."""


class Wire(Protocol):
    """An open, or opening, connection."""

    def send(self, parts: list[Part]) -> None: ...

    def close(self) -> None:
        """No event follows."""
        ...


class WireEvents(Protocol):
    """What a connection tells its link. `received` gets frames without their size; they stay valid."""

    def opened(self) -> None: ...

    def received(self, frame: Buffer) -> None: ...

    def lost(self, reason: str) -> None: ...


class Dialer(Protocol):
    def dial(self, address: Address, events: WireEvents) -> Wire: ...


class PeerLinks:
    """`client_id` is what the other nodes see in their logs."""

    def __init__(self, dialer: Dialer, clock: Clock, client_id: str) -> None:
        self._dialer = dialer
        self._clock = clock
        self._client_id = client_id
        self._links: dict[tuple[Address, str], Link] = {}
        self._closed = False

    def call(
        self, address: Address, request: Any, version: int, *, lane: str, timeout_ms: float
    ) -> Steps[Any]:
        if self._closed:
            raise PeerUnavailable("this node is stopping")
        key = (address, lane)
        link = self._links.get(key)
        if link is None:
            link = self._links[key] = Link(self._dialer, address, self._client_id)
        call = _Call(request, version, self._clock.monotonic_ms() + timeout_ms)
        link.start(call)
        try:
            in_time = yield call.waiter
        except GeneratorExit:
            link.abandon(call)
            raise
        if call.failure is not None:
            raise PeerUnavailable(f"{address}: {call.failure}")
        if not in_time:
            link.overdue(call, timeout_ms)
            raise PeerUnavailable(f"{address} gave no answer in {timeout_ms:.0f} ms")
        return call.response

    def forget(self, address: Address) -> None:
        """Closes what is open to an address that nobody uses any more."""
        for key in [key for key in self._links if key[0] == address]:
            self._links.pop(key).close("the address is not used any more")

    def close(self) -> None:
        self._closed = True
        links, self._links = self._links, {}
        for link in links.values():
            link.close("this node is stopping")


class _Call:
    __slots__ = ("request", "version", "waiter", "response", "failure")

    def __init__(self, request: Any, version: int, deadline_ms: float) -> None:
        self.request = request
        self.version = version
        self.waiter = Waiter(deadline_ms)
        self.response: Any = None
        self.failure: str | None = None

    def fail(self, reason: str) -> None:
        self.failure = reason
        self.waiter.fire()


class Link:
    """One connection, and the calls that wait for its answers."""

    __slots__ = ("address", "_dialer", "_client_id", "_wire", "_is_open", "_queued", "_sent", "_next_id")

    def __init__(self, dialer: Dialer, address: Address, client_id: str) -> None:
        self.address = address
        self._dialer = dialer
        self._client_id = client_id
        self._wire: Wire | None = None
        self._is_open = False
        self._queued: list[_Call] = []
        self._sent: dict[int, _Call | None] = {}  # by correlation id; None: nobody waits any more
        self._next_id = 0

    def start(self, call: _Call) -> None:
        if len(self._queued) + len(self._sent) >= QUEUED_CALLS_MAX:
            call.fail("too many requests wait for it")
        elif self._is_open:
            self._send(call)
        else:
            self._queued.append(call)
            if self._wire is None:
                self._wire = self._dialer.dial(self.address, self)

    def _send(self, call: _Call) -> None:
        correlation_id = self._next_id
        self._next_id = 0 if correlation_id == CORRELATION_ID_MAX else correlation_id + 1
        self._sent[correlation_id] = call
        assert self._wire is not None
        self._wire.send(encode_request(call.request, call.version, correlation_id, self._client_id))

    def abandon(self, call: _Call) -> None:
        """Whoever called is gone; an answer that comes all the same is dropped."""
        if call in self._queued:
            self._queued.remove(call)
        for correlation_id, sent in self._sent.items():
            if sent is call:
                self._sent[correlation_id] = None

    def overdue(self, call: _Call, timeout_ms: float) -> None:
        self.abandon(call)
        self.close(f"no answer in {timeout_ms:.0f} ms")

    def opened(self) -> None:
        self._is_open = True
        queued, self._queued = self._queued, []
        for call in queued:
            if not call.waiter.done:
                self._send(call)

    def received(self, frame: Buffer) -> None:
        try:
            correlation_id = int.from_bytes(frame[:4], "big", signed=True)
            if correlation_id not in self._sent:
                raise DecodeError(f"a response to request {correlation_id}, which was not sent")
            call = self._sent[correlation_id]
            if call is not None:
                _, call.response = decode_response(call.request.API_KEY, call.version, frame)
            del self._sent[correlation_id]
        except DecodeError as error:
            self.close(f"it sent something that cannot be read: {error}")
            return
        if call is not None:
            call.waiter.fire()

    def lost(self, reason: str) -> None:
        self._wire = None
        self.close(reason)

    def close(self, reason: str) -> None:
        """Everything that waits fails; the next call connects anew."""
        wire, self._wire = self._wire, None
        self._is_open = False
        waiting = [*(call for call in self._sent.values() if call is not None), *self._queued]
        self._sent = {}
        self._queued = []
        if wire is not None:
            wire.close()
        for call in waiting:
            call.fail(reason)
