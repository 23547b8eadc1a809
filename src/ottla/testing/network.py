"""Connections in memory that carry whole frames between simulated clients and a simulated broker.

Each direction of a connection keeps its order and has its own random delays, so messages of different
connections overtake each other and those of one never do. A connection may break at any message: before the
request arrives, after it was carried out but before its reply left, or with the reply under way; the client
cannot tell which. Both ends learn of it later, each in its own time.

The broker's end implements `broker.peer.Peer`, with the same reply queue that real sockets use. A frame is
overwritten as soon as its handler returns, because a real one lies in a buffer that is used again: whoever
keeps a view of it will be found out.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

from ottla.net.replies import Part, ReplyQueue, Slot, release_slices
from ottla.ports.disk import FileSlice
from ottla.ports.effects import Waiter
from ottla.testing.disk import SimulatedCrash
from ottla.testing.scheduler import Scheduler

USED_FRAME: Final = 0xAA
"""What a frame's bytes become after its handler returned."""


@dataclass(slots=True)
class NetworkFaults:
    """Probabilities per message, and the range of delays. All may be changed while a simulation runs."""

    break_before_request: float = 0.0
    break_before_reply: float = 0.0
    break_after_reply: float = 0.0
    delay_ms_max: float = 5.0
    slow_rate: float = 0.0
    slow_ms_max: float = 2000.0

    def calm(self) -> None:
        self.break_before_request = self.break_before_reply = self.break_after_reply = self.slow_rate = 0.0


class ConnectionLost(Exception):
    """The client's view of a broken connection: what happened to its requests is unknown."""


class Acceptor(Protocol):
    """What listens at an address: a simulated broker."""

    def accept(self, connection: ServerEnd) -> None: ...

    def on_frame(self, connection: ServerEnd, frame: memoryview) -> None: ...

    def on_closed(self, connection: ServerEnd) -> None: ...


class SimNetwork:
    def __init__(self, scheduler: Scheduler, faults: NetworkFaults | None = None) -> None:
        self.scheduler = scheduler
        self.faults = faults if faults is not None else NetworkFaults()
        self.stats: Counter[str] = Counter()
        self._listeners: dict[str, Acceptor] = {}
        self._ports = 0

    def listen(self, address: str, acceptor: Acceptor) -> None:
        assert address not in self._listeners, f"{address} is taken"
        self._listeners[address] = acceptor

    def stop_listening(self, address: str) -> None:
        self._listeners.pop(address, None)

    def connect(self, address: str) -> ClientEnd:
        """Raises ConnectionLost when nobody listens there."""
        acceptor = self._listeners.get(address)
        if acceptor is None:
            self.stats["connections_refused"] += 1
            raise ConnectionLost(f"nobody listens at {address}")
        self._ports += 1
        self.stats["connections"] += 1
        server = ServerEnd(self, acceptor, f"client-{self._ports}")
        client = ClientEnd(self, server)
        server.client = client
        acceptor.accept(server)
        return client

    def delay_ms(self) -> float:
        rng = self.scheduler.random
        if self.faults.slow_rate and rng.random() < self.faults.slow_rate:
            self.stats["slow_messages"] += 1
            return rng.random() * self.faults.slow_ms_max
        return rng.random() * self.faults.delay_ms_max

    def strikes(self, rate: float) -> bool:
        return rate > 0.0 and self.scheduler.random.random() < rate


class _Lane:
    """One direction of a connection: later messages never arrive before earlier ones."""

    __slots__ = ("_network", "_free_ms")

    def __init__(self, network: SimNetwork) -> None:
        self._network = network
        self._free_ms = 0.0

    def deliver(self, action: Callable[[], None]) -> None:
        scheduler = self._network.scheduler
        # A hair later than the one before, since equal times have no order.
        arrives_ms = max(scheduler.now_ms + self._network.delay_ms(), self._free_ms + 0.001)
        self._free_ms = arrives_ms
        scheduler.call_at(arrives_ms, action)


class ClientEnd:
    """What a simulated client holds. `on_reply` gets each reply frame without its size, in order."""

    def __init__(self, network: SimNetwork, server: ServerEnd) -> None:
        self._network = network
        self._server = server
        self._lane = _Lane(network)
        self.closed = False
        self.on_reply: Callable[[bytes], None] | None = None
        self.on_closed: Callable[[], None] | None = None

    def send(self, frame: bytes) -> None:
        """A whole request frame, its 4-byte size first."""
        if self.closed:
            raise ConnectionLost("the connection is closed")
        network = self._network
        network.stats["requests"] += 1
        if network.strikes(network.faults.break_before_request):
            network.stats["requests_lost"] += 1
            self._lane.deliver(self._server.break_connection)
            return
        self._lane.deliver(lambda: self._server.receive(frame[4:]))

    def close(self) -> None:
        """The client goes away; the broker hears of it after a while."""
        if not self.closed:
            self.closed = True
            self._lane.deliver(self._server.peer_gone)

    def receive(self, frame: bytes) -> None:
        if not self.closed and self.on_reply is not None:
            self._network.stats["replies"] += 1
            self.on_reply(frame)

    def broken(self) -> None:
        if not self.closed:
            self.closed = True
            if self.on_closed is not None:
                self.on_closed()


class KeptFrame:
    """A frame that outlives its handler's call; spoilt when it is released, as others are after the call."""

    def __init__(self) -> None:
        self.frame: bytearray | None = None
        self._released = False

    def release(self) -> None:
        assert not self._released, "a frame was released twice"
        self._released = True
        if self.frame is not None:
            _spoil(self.frame)


def _spoil(frame: bytearray) -> None:
    frame[:] = bytes([USED_FRAME]) * len(frame)


class ServerEnd:
    """The broker's end: a `Peer`."""

    def __init__(self, network: SimNetwork, acceptor: Acceptor, peer_host: str) -> None:
        self.peer_host = peer_host
        self.listener_name = "PLAINTEXT"
        self.client: ClientEnd | None = None
        self.closed = False
        self.close_reason: str | None = None
        self._network = network
        self._acceptor = acceptor
        self._lane = _Lane(network)
        self._replies = ReplyQueue(self._replies_ready)
        self._sending = False
        self._paused: list[object] = []
        self._inbox: deque[bytes] = deque()
        self._delivering = False
        self._kept: KeptFrame | None = None
        self._waiters: dict[Waiter, None] = {}

    # -- Peer --

    def open_slot(self) -> Slot:
        return self._replies.open_slot()

    def close(self, reason: str) -> None:
        if not self.closed:
            self.close_reason = reason
            self._network.stats["closed_by_broker"] += 1
            self.break_connection()

    def keep_frame(self) -> KeptFrame:
        self._kept = KeptFrame()
        return self._kept

    def pause_reading(self, token: object) -> None:
        self._paused.append(token)

    def resume_reading(self, token: object) -> None:
        self._paused.remove(token)
        if not self._paused and self._inbox and not self._delivering:
            # A reader that was paused continues in another turn of the loop.
            self._network.scheduler.call_after(0.0, self._deliver_inbox)

    def add_waiter(self, waiter: Waiter) -> None:
        self._waiters[waiter] = None

    def discard_waiter(self, waiter: Waiter) -> None:
        self._waiters.pop(waiter, None)

    # -- the network's side --

    def receive(self, frame: bytes) -> None:
        if self.closed:
            return
        self._inbox.append(frame)
        self._deliver_inbox()

    def _deliver_inbox(self) -> None:
        if self._delivering:
            return
        self._delivering = True
        try:
            while self._inbox and not self._paused and not self.closed:
                frame = bytearray(self._inbox.popleft())
                self._kept = None
                self._acceptor.on_frame(self, memoryview(frame))
                self._settle(frame)
        finally:
            self._delivering = False

    def _settle(self, frame: bytearray) -> None:
        if self._kept is None:
            _spoil(frame)
        else:
            self._kept.frame = frame

    def _replies_ready(self) -> None:
        if not self._sending and not self.closed:
            self._sending = True
            # File slices are read when they are sent, which may be a while after the reply was made.
            self._network.scheduler.call_after(
                self._network.delay_ms() if self._network.scheduler.random.random() < 0.3 else 0.0,
                self._send_ready,
            )

    def _send_ready(self) -> None:
        self._sending = False
        if self.closed:
            return
        faults = self._network.faults
        client = self.client
        assert client is not None
        for frame in _frames(self._replies.take()):
            if self._network.strikes(faults.break_before_reply):
                self._network.stats["replies_lost"] += 1
                self.break_connection()
                return
            self._lane.deliver(partial(client.receive, frame))
            if self._network.strikes(faults.break_after_reply):
                self._network.stats["breaks_after_reply"] += 1
                self.break_connection()
                return

    def break_connection(self) -> None:
        """Ends the connection at this end now, and at the client's after what is under way arrived."""
        if self.closed:
            return
        self._gone()
        if self.client is not None:
            self._lane.deliver(self.client.broken)

    def peer_gone(self) -> None:
        self._gone()

    def _gone(self) -> None:
        if self.closed:
            return
        self.closed = True
        self._inbox.clear()
        self._replies.close()
        self._acceptor.on_closed(self)
        waiters, self._waiters = self._waiters, {}
        for waiter in waiters:
            waiter.expire()

    def crashed(self) -> None:
        """The broker's machine is gone: nothing of it runs any more, and the client hears of it in time."""
        if not self.closed:
            self.closed = True
            self._inbox.clear()
            self._waiters.clear()
            if self.client is not None:
                self._lane.deliver(self.client.broken)


def _frames(parts: list[Part]) -> list[bytes]:
    """The reply frames in these parts, each without its size."""
    pieces: list[bytes] = []
    try:
        for part in parts:
            pieces.append(part.read() if isinstance(part, FileSlice) else bytes(part))
    except SimulatedCrash:
        return []
    finally:
        release_slices(parts)
    stream = b"".join(pieces)
    frames: list[bytes] = []
    at = 0
    while at < len(stream):
        size = int.from_bytes(stream[at : at + 4], "big")
        assert at + 4 + size <= len(stream), "a reply's size says more than was sent"
        frames.append(stream[at + 4 : at + 4 + size])
        at += 4 + size
    return frames
