"""Connections in memory that carry whole frames between simulated clients and simulated nodes.

Each direction of a connection keeps its order and has its own random delays, so messages of different
connections overtake each other and those of one never do. A connection may break at any message: before the
request arrives, after it was carried out but before its reply left, or with the reply under way; the client
cannot tell which. Both ends learn of it later, each in its own time.

Every end is somewhere: a node at its name, a client at its own (`source`). Between two places the way can be
cut, in one direction or both (`cut`, `heal`), be slow (`slow`), and whatever is connected there can be broken
(`break_between`). A cut loses nothing that TCP would not send again: what is under way waits in its
connection, arrives late when the way is whole again, or the connection ends because somebody lost patience.
Neither end is told; a connection that is made into a cut is neither opened nor refused (`Unreachable`).

A place that is a process can be stopped and go on (`Gate`): what arrives meanwhile waits there.

The broker's end implements `broker.peer.Peer`, with the same reply queue that real sockets use. A frame is
overwritten as soon as its handler returns, because a real one lies in a buffer that is used again: whoever
keeps a view of it will be found out.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

from ottla.net.replies import Part, ReplyQueue, Slot, release_slices
from ottla.ports.disk import FileSlice
from ottla.ports.effects import Waiter
from ottla.testing.disk import SimulatedCrash
from ottla.testing.scheduler import Gate, Scheduler

DEFAULT_PORT: Final = 9092
SENT_AGAIN_MS_MAX: Final = 800.0
SENDER_NOTICES_RATE: Final = 0.3
SENDER_NOTICES_MS: Final = 5_000.0
"""How often, and how late, a sender that gets no confirmation gives its connection up by itself."""
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


class Unreachable(ConnectionLost):
    """Nobody answers, not even with a refusal: whoever connects may try again, until it loses patience."""


class Acceptor(Protocol):
    """What listens at an address: a simulated broker."""

    def accept(self, connection: ServerEnd) -> None: ...

    def on_frame(self, connection: ServerEnd, frame: memoryview) -> None: ...

    def on_closed(self, connection: ServerEnd) -> None: ...


class SimNetwork:
    def __init__(self, scheduler: Scheduler, faults: NetworkFaults | None = None) -> None:
        self.scheduler = scheduler
        self.faults = faults if faults is not None else NetworkFaults()
        self.spared: frozenset[str] = frozenset()
        """Between these places no message is lost or slow by chance."""
        self.stats: Counter[str] = Counter()
        self.bootstrap = f"broker:{DEFAULT_PORT}"
        """Where clients begin that are not told otherwise."""
        self._listeners: dict[str, tuple[Acceptor, str]] = {}
        self._ports = 0
        self._gates: dict[str, Gate] = {}
        self._cuts: dict[tuple[str, str], None] = {}
        self._slow_ms: dict[tuple[str, str], float] = {}
        self._connections: dict[ServerEnd, None] = {}

    def listen(self, address: str, acceptor: Acceptor, listener_name: str = "PLAINTEXT") -> None:
        address = with_port(address)
        assert address not in self._listeners, f"{address} is taken"
        self._listeners[address] = (acceptor, listener_name)

    def stop_listening(self, address: str) -> None:
        self._listeners.pop(with_port(address), None)

    def connect(self, address: str, source: str = "") -> ClientEnd:
        """Raises ConnectionLost when nobody listens there, Unreachable when the way is cut. `source` is the
        name of who connects.
        """
        address = with_port(address)
        self._ports += 1
        source = source or f"client-{self._ports}"
        place = host_of(address)
        if self.is_cut(source, place) or self.is_cut(place, source):
            self.stats["connections_cut"] += 1
            raise Unreachable(f"nobody answers at {address}")
        found = self._listeners.get(address)
        if found is None:
            self.stats["connections_refused"] += 1
            raise ConnectionLost(f"nobody listens at {address}")
        acceptor, listener_name = found
        self.stats["connections"] += 1
        server = ServerEnd(self, acceptor, source, listener_name, place)
        client = ClientEnd(self, server)
        server.client = client
        self._connections[server] = None
        acceptor.accept(server)
        return client

    def is_up(self, place: str) -> bool:
        """Whether somebody listens there."""
        return any(host_of(address) == place for address in self._listeners)

    # -- faults between places --

    def gate(self, place: str, gate: Gate) -> None:
        """What arrives at a place waits while its gate is shut."""
        self._gates[place] = gate

    def at(self, place: str, action: Callable[[], None]) -> None:
        """Something happens to whoever is there: at once, or when it goes on."""
        gate = self._gates.get(place)
        if gate is None:
            action()
        else:
            gate.pass_through(action)

    def is_cut(self, sender: str, receiver: str) -> bool:
        return (sender, receiver) in self._cuts

    @property
    def is_troubled(self) -> bool:
        """Whether a way is cut or slow."""
        return bool(self._cuts or self._slow_ms)

    def cut(self, senders: Iterable[str], receivers: Iterable[str], *, both_ways: bool = True) -> None:
        """Nothing arrives any more from the ones at the others, and back."""
        receivers = list(receivers)
        for sender in senders:
            for receiver in receivers:
                if sender != receiver:
                    self._cuts[sender, receiver] = None
                    if both_ways:
                        self._cuts[receiver, sender] = None
        self.stats["cuts" if both_ways else "cuts_one_way"] += 1

    def heal(self) -> None:
        """Every way is whole and fast again. What waited is sent again some time later."""
        self._cuts.clear()
        self._slow_ms.clear()
        for connection in list(self._connections):
            connection.way_is_whole()
            if connection.closed and (connection.client is None or connection.client.closed):
                del self._connections[connection]

    def slow(self, one: str, other: str, delay_ms: float) -> None:
        """Every message between the two takes up to that much longer, both ways."""
        self._slow_ms[one, other] = self._slow_ms[other, one] = delay_ms
        self.stats["slow_links"] += 1

    def break_between(self, one: str, other: str) -> None:
        """Every connection between two places ends; what is under way on it is lost, or not."""
        for connection in list(self._connections):
            if not connection.closed and {connection.place, connection.peer_host} == {one, other}:
                self.stats["connections_broken"] += 1
                self.at(connection.place, connection.break_connection)

    def delay_ms(self, sender: str = "", receiver: str = "") -> float:
        rng = self.scheduler.random
        slow_ms = self._slow_ms.get((sender, receiver), 0.0) if self._slow_ms else 0.0
        if slow_ms:
            slow_ms *= rng.random()
        if (
            self.faults.slow_rate
            and rng.random() < self.faults.slow_rate
            and not self._spares(sender, receiver)
        ):
            self.stats["slow_messages"] += 1
            return slow_ms + rng.random() * self.faults.slow_ms_max
        return slow_ms + rng.random() * self.faults.delay_ms_max

    def strikes(self, rate: float, sender: str, receiver: str) -> bool:
        return rate > 0.0 and self.scheduler.random.random() < rate and not self._spares(sender, receiver)

    def _spares(self, sender: str, receiver: str) -> bool:
        return sender in self.spared and receiver in self.spared


def with_port(address: str) -> str:
    return address if ":" in address else f"{address}:{DEFAULT_PORT}"


def host_of(address: str) -> str:
    return address.rpartition(":")[0].strip("[]")


class _Lane:
    """One direction of a connection: later messages never arrive before earlier ones."""

    __slots__ = ("_network", "_sender", "_receiver", "_free_ms", "_held", "_lose")

    def __init__(self, network: SimNetwork, sender: str, receiver: str, lose: Callable[[], None]) -> None:
        """`lose` ends the connection at the sender, who has waited in vain for too long."""
        self._network = network
        self._sender = sender
        self._receiver = receiver
        self._free_ms = 0.0
        self._held: deque[Callable[[], None]] = deque()
        self._lose = lose

    def deliver(self, action: Callable[[], None]) -> None:
        network = self._network
        scheduler = network.scheduler
        # A hair later than the one before, since equal times have no order.
        arrives_ms = max(
            scheduler.now_ms + network.delay_ms(self._sender, self._receiver), self._free_ms + 0.001
        )
        self._free_ms = arrives_ms
        scheduler.call_at(arrives_ms, partial(self._arrive, action))

    def _arrive(self, action: Callable[[], None]) -> None:
        network = self._network
        if self._held or network.is_cut(self._sender, self._receiver):
            if not self._held and network.scheduler.random.random() < SENDER_NOTICES_RATE:
                network.scheduler.call_after(
                    SENDER_NOTICES_MS * (0.2 + network.scheduler.random.random()), self._give_up
                )
            self._held.append(action)
            network.stats["messages_held"] += 1
            return
        network.at(self._receiver, action)

    def _give_up(self) -> None:
        if self._held:
            self._network.stats["senders_gave_up"] += 1
            self._network.at(self._sender, self._lose)

    def way_is_whole(self) -> None:
        """TCP sends again, with growing pauses: the first attempt that gets through may come late."""
        if self._held:
            scheduler = self._network.scheduler
            scheduler.call_after(scheduler.random.random() * SENT_AGAIN_MS_MAX, self._send_again)

    def _send_again(self) -> None:
        if self._network.is_cut(self._sender, self._receiver):
            return
        held, self._held = self._held, deque()
        for action in held:
            self._arrive(action)


class ClientEnd:
    """What a simulated client holds. `on_reply` gets each reply frame without its size, in order."""

    def __init__(self, network: SimNetwork, server: ServerEnd) -> None:
        self._network = network
        self._server = server
        self._lane = _Lane(network, server.peer_host, server.place, self.broken)
        self.closed = False
        self.on_reply: Callable[[bytes], None] | None = None
        self.on_closed: Callable[[], None] | None = None

    def send(self, frame: bytes) -> None:
        """A whole request frame, its 4-byte size first."""
        if self.closed:
            raise ConnectionLost("the connection is closed")
        network = self._network
        network.stats["requests"] += 1
        if network.strikes(network.faults.break_before_request, self._server.peer_host, self._server.place):
            network.stats["requests_lost"] += 1
            self._lane.deliver(self._server.break_connection)
            return
        self._lane.deliver(lambda: self._server.receive(frame[4:]))

    def close(self) -> None:
        """The client goes away; the broker hears of it after a while."""
        if not self.closed:
            self.closed = True
            self._lane.deliver(self._server.peer_gone)

    def way_is_whole(self) -> None:
        self._lane.way_is_whole()

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

    def __init__(
        self,
        network: SimNetwork,
        acceptor: Acceptor,
        peer_host: str,
        listener_name: str = "PLAINTEXT",
        place: str = "",
    ) -> None:
        self.place = place
        self.peer_host = peer_host
        self.listener_name = listener_name
        self.client: ClientEnd | None = None
        self.closed = False
        self.close_reason: str | None = None
        self._network = network
        self._acceptor = acceptor
        self._lane = _Lane(network, place, peer_host, self.peer_gone)
        self._replies = ReplyQueue(self._replies_ready)
        self._sending = False
        self._paused: list[object] = []
        self._inbox: deque[bytes] = deque()
        self._delivering = False
        self._kept: KeptFrame | None = None
        self._waiters: dict[Waiter, None] = {}
        self._unseen = False
        """It ended, and the client was not told."""

    # -- Peer --

    def open_slot(self) -> Slot:
        return self._replies.open_slot()

    def close(self, reason: str) -> None:
        if not self.closed:
            self.close_reason = reason
            self._network.stats["closed_by_broker"] += 1
            self.break_connection()

    def close_quietly(self, reason: str) -> None:
        self.close(reason)

    def keep_frame(self) -> KeptFrame:
        self._kept = KeptFrame()
        return self._kept

    def pause_reading(self, token: object) -> None:
        self._paused.append(token)

    def resume_reading(self, token: object) -> None:
        self._paused.remove(token)
        if not self._paused and self._inbox and not self._delivering:
            # A reader that was paused continues in another turn of the loop.
            self._network.scheduler.call_after(0.0, lambda: self._network.at(self.place, self._deliver_inbox))

    def add_waiter(self, waiter: Waiter) -> None:
        self._waiters[waiter] = None

    def discard_waiter(self, waiter: Waiter) -> None:
        self._waiters.pop(waiter, None)

    # -- the network's side --

    def receive(self, frame: bytes) -> None:
        if self.closed:
            if self._unseen and self.client is not None and self._network.is_up(self.place):
                # The machine is back, and does not know of this connection.
                self._unseen = False
                self._lane.deliver(self.client.broken)
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
                lambda: self._network.at(self.place, self._send_ready),
            )

    def _send_ready(self) -> None:
        self._sending = False
        if self.closed:
            return
        faults = self._network.faults
        client = self.client
        assert client is not None
        for frame in _frames(self._replies.take()):
            if self._network.strikes(faults.break_before_reply, self.place, self.peer_host):
                self._network.stats["replies_lost"] += 1
                self.break_connection()
                return
            self._lane.deliver(partial(client.receive, frame))
            if self._network.strikes(faults.break_after_reply, self.place, self.peer_host):
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

    def way_is_whole(self) -> None:
        self._lane.way_is_whole()
        if self.client is not None:
            self.client.way_is_whole()

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

    def crashed(self, *, unseen: bool = False) -> None:
        """The broker's process is gone: nothing of it runs any more. The client hears of it in time, unless
        the whole machine is gone (`unseen`): then it hears nothing before the machine is back.
        """
        if not self.closed:
            self.closed = True
            self._inbox.clear()
            self._waiters.clear()
            self._unseen = unseen
            if self.client is not None and not unseen:
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
