"""One connection to one broker, without the connection: set-up, requests in their order, deadlines, the end.

A link is opened when somebody needs it: addresses are resolved and tried in turn, then come the handshakes of
the security protocol and the agreement on versions (`Conversation.hello`); requests wait meanwhile. When it
breaks, whoever waits on it is told, and it is not opened again before its back-off has passed. Bytes go
through a `Transport`, which calls `opened`, `received` and `lost`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from copy import copy
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from ottla.client import log
from ottla.client.conversation import Conversation
from ottla.client.errors import (
    BrokerUnavailable,
    OttlaError,
    ProtocolError,
    RequestTimedOut,
    UnsupportedVersion,
)
from ottla.client.runtime.pending import PendingCall
from ottla.client.view import Address
from ottla.wire.primitives import Part

if TYPE_CHECKING:
    from ottla.client.runtime.links import Links
    from ottla.client.runtime.scheduler import Timer

QUEUED_MAX: Final = 10_000
"""Requests that wait for one connection to be set up; whoever comes after them is refused."""

JITTER: Final = 0.2
NEVER: Final = float("inf")

Endpoint: TypeAlias = Any
"""Where to connect to, as the transport's own resolver gave it."""

Handshake: TypeAlias = Generator[list[Part], bytearray, None]
"""Yields a request frame, gets the answer's frame, ends when the peer is satisfied and raises when not."""

HandshakeStep: TypeAlias = Callable[[Conversation, Address], Handshake]


class Transport(Protocol):
    """The bytes of one connection. After `close` it calls nothing any more."""

    def write(self, parts: list[Part]) -> None: ...

    @property
    def backed_up(self) -> bool:
        """Whether something that was written waits here for the peer to take it; `link.drained()` is called
        when it has left.
        """
        ...

    def close(self) -> None: ...


class Dialer(Protocol):
    """What a shell brings: names to addresses, addresses to connections."""

    def resolve(self, address: Address, done: Callable[[Sequence[Endpoint] | OSError], None]) -> None:
        """Calls `done` with at least one endpoint or why there is none, now or later."""
        ...

    def dial(self, endpoint: Endpoint, link: Link) -> Transport:
        """Begins to connect, and later calls `link.opened()` or `link.lost(reason)`; an OSError says that
        it cannot even begin.
        """
        ...


class LinkState(Enum):
    CLOSED = "closed"
    BACKING_OFF = "backing off"
    RESOLVING = "resolving"
    CONNECTING = "connecting"
    AGREEING = "agreeing"
    READY = "ready"


class Link:
    def __init__(self, links: Links, address: Address, lane: int) -> None:
        self.address = address
        self.lane = lane
        self.state = LinkState.CLOSED
        self.conversation: Conversation | None = None
        self.retry_at_ms = 0.0
        """Not opened again before this time."""
        self.failures = 0
        """Attempts in a row that did not reach READY."""
        self._links = links
        self._traffic = links.traffic
        self._scheduler = links.scheduler
        self._clock = links.scheduler.clock
        self._queue: deque[PendingCall] = deque()
        self._sent: deque[PendingCall] = deque()
        self._leaving: deque[PendingCall] = deque()
        """Calls that get no answer: they are done when their bytes have left, and not before, lest a slow
        broker have us keep without bound what nobody counts any more.
        """
        self._transport: Transport | None = None
        self._endpoints: deque[Endpoint] = deque()
        self._handshakes: deque[Handshake] = deque()
        self._attempt = 0
        self._setup_timer: Timer | None = None
        self._watch_timer: Timer | None = None
        self._watch_at_ms = NEVER
        self._used_ms = 0.0

    def __str__(self) -> str:
        node_id = self._links.node_at(self.address)
        return f"{self.address}" if node_id is None else f"{self.address} (node {node_id})"

    @property
    def load(self) -> int:
        return len(self._sent) + len(self._leaving) + len(self._queue)

    # -- requests --

    def start(self, pending: PendingCall) -> None:
        if self.state is LinkState.READY:
            self._send(pending)
            return
        if len(self._queue) >= QUEUED_MAX:
            pending.failed(self._unavailable("too many requests wait for the connection", unsent=True))
            return
        self._queue.append(pending)
        if pending.deadline_ms < self._watch_at_ms:
            self._watch(pending.deadline_ms)
        self.open()

    def _send(self, pending: PendingCall) -> None:
        conversation, transport = self.conversation, self._transport
        assert conversation is not None and transport is not None
        try:
            parts = conversation.request(pending.call)
        except Exception as error:  # no version in common, or a request that cannot be encoded
            pending.failed(error)
            return
        sent_ms = self._used_ms = pending.sent_ms
        self._traffic.sent(parts, sent_ms)
        (self._sent if pending.call.answered else self._leaving).append(pending)
        if pending.deadline_ms < self._watch_at_ms:
            self._watch(pending.deadline_ms)
        transport.write(parts)
        if self._leaving and not transport.backed_up:
            self.drained()

    # -- opening --

    def open(self) -> None:
        """Begins to connect, once the back-off allows; nothing when it is already under way."""
        if self.state is not LinkState.CLOSED:
            return
        now_ms = self._clock.monotonic_ms()
        if self.retry_at_ms > now_ms:
            self.state = LinkState.BACKING_OFF
            self._setup_timer = self._scheduler.timer(self.retry_at_ms, self._resolve)
        else:
            self._resolve()

    def _resolve(self) -> None:
        self._setup_timer = None
        self.state = LinkState.RESOLVING
        self._attempt += 1
        attempt = self._attempt

        def done(found: Sequence[Endpoint] | OSError) -> None:
            if self.state is not LinkState.RESOLVING or attempt != self._attempt:
                return
            if isinstance(found, OSError):
                self._down(self._unavailable(_reason(found)))
            else:
                self._endpoints = deque(found)
                self._connect()

        if 0 < self.address.port < 65536:
            self._links.dialer.resolve(self.address, done)
        else:  # a broker may announce anything, and sockets raise OverflowError for it
            done(OSError("there is no such port"))

    def _connect(self) -> None:
        """To the next endpoint."""
        self.state = LinkState.CONNECTING
        endpoint = self._endpoints.popleft()
        timeout_ms = self._links.setup_timeout_ms(self.failures)
        self._setup_timer = self._scheduler.timer(
            self._clock.monotonic_ms() + timeout_ms, lambda: self.lost("the connection timed out")
        )
        try:
            self._transport = self._links.dialer.dial(endpoint, self)
        except OSError as error:
            self.lost(_reason(error))

    def opened(self) -> None:
        """The transport is connected."""
        assert self.state is LinkState.CONNECTING
        self._endpoints.clear()
        self._cancel_setup_timer()
        self.state = LinkState.AGREEING
        self._links.connections_created += 1
        self._setup_timer = self._scheduler.timer(
            self._clock.monotonic_ms() + self._links.request_timeout_ms, self._agreement_timed_out
        )
        conversation = self.conversation = self._links.new_conversation()
        steps = [step(conversation, self.address) for step in self._links.handshakes]
        self._handshakes = deque([*steps, _hello(conversation)])
        self._shake_hands(None)

    def _shake_hands(self, frame: bytearray | None) -> None:
        while self._handshakes:
            try:
                parts = next(self._handshakes[0]) if frame is None else self._handshakes[0].send(frame)
            except StopIteration:
                self._handshakes.popleft()
                frame = None
                continue
            except OttlaError as error:
                self.broke(error)
                return
            assert self._transport is not None
            self._transport.write(parts)
            return
        self._ready()

    def _ready(self) -> None:
        self._cancel_setup_timer()
        self.state = LinkState.READY
        self.failures = 0
        self.retry_at_ms = 0.0
        self._used_ms = self._clock.monotonic_ms()
        log.debug("connected to %s", self)
        idle_ms = self._links.idle_ms
        if idle_ms >= 0 and self._used_ms + idle_ms < self._watch_at_ms:
            self._watch(self._used_ms + idle_ms)
        queue, self._queue = self._queue, deque()
        for pending in queue:
            if pending.waiter is not None:
                pending.sent_ms = self._used_ms
                self.start(pending)
        self._links.link_ready(self)

    # -- answers --

    def drained(self) -> None:
        """Everything that was written has left."""
        leaving, self._leaving = self._leaving, deque()
        for pending in leaving:
            pending.answered(None)

    def received(self, frame: bytearray) -> None:
        """A whole frame, without its size."""
        if self.state is not LinkState.READY:
            if self.state is LinkState.AGREEING:
                self._shake_hands(frame)
            return
        conversation = self.conversation
        assert conversation is not None
        sent = self._sent
        if not sent:
            self.broke(ProtocolError("the broker sent a response to nothing"))
            return
        pending = sent[0]
        try:
            response = conversation.answer(frame)
        except OttlaError as error:
            self.broke(error)
            return
        sent.popleft()
        now_ms = self._clock.monotonic_ms()
        self._used_ms = now_ms
        self._traffic.received(len(frame), now_ms - pending.sent_ms)
        pending.answered(response)

    # -- the end --

    def lost(self, reason: str) -> None:
        """The transport's connection failed or broke."""
        if self.state is LinkState.CONNECTING and self._endpoints:
            log.debug("could not connect to %s: %s; trying its next address", self, reason)
            self._cancel_setup_timer()
            self._drop_transport()
            self._connect()
        elif self.state is not LinkState.CLOSED:
            self._down(self._unavailable(reason))

    def broke(self, error: OttlaError) -> None:
        """The peer does not keep to the protocol: that is the answer to the oldest request."""
        if self.state is LinkState.CLOSED:
            return
        if isinstance(error, ProtocolError | UnsupportedVersion):
            error = type(error)(f"{self.address}: {error}")
        if self._sent:
            self._sent.popleft().failed(copy(error))
        self._down(error)

    def close(self, reason: str) -> None:
        """Without back-off: nothing is wrong with the broker."""
        if self.state is not LinkState.CLOSED:
            log.debug("closing the connection to %s: %s", self, reason)
            self._down(self._unavailable(reason), blame=False)

    def _down(self, error: OttlaError, *, blame: bool = True) -> None:
        was_ready = self.state is LinkState.READY
        self._cancel_setup_timer()
        self._drop_transport()
        for handshake in self._handshakes:
            handshake.close()
        self._handshakes.clear()
        self._endpoints.clear()
        self.state = LinkState.CLOSED
        self.conversation = None
        if blame:
            wait_ms = self._links.reconnect_backoff_ms(self.failures)
            self.failures += 1
            self.retry_at_ms = self._clock.monotonic_ms() + wait_ms
            if was_ready:
                log.info("lost the connection to %s: %s", self, error)
            else:  # once per outage is enough
                say = log.warning if self.failures == 1 else log.debug
                say("could not connect to %s: %s", self, error)
        reason = error.reason if isinstance(error, BrokerUnavailable) else str(error)
        sent = [*self._sent, *self._leaving]
        self._sent, self._leaving = deque(), deque()
        for pending in sent:
            pending.failed(self._unavailable(reason))
        queue, self._queue = self._queue, deque()
        for pending in queue:
            if isinstance(error, BrokerUnavailable):
                pending.failed(self._unavailable(reason, unsent=True))
            else:
                pending.failed(copy(error))
        self._links.link_down(self, error)

    def _drop_transport(self) -> None:
        transport, self._transport = self._transport, None
        if transport is not None:
            if self.state in (LinkState.READY, LinkState.AGREEING):
                self._links.connections_closed += 1
            transport.close()

    def _unavailable(self, reason: str, *, unsent: bool = False) -> BrokerUnavailable:
        error = BrokerUnavailable(str(self.address), reason)
        error.unsent = unsent
        return error

    # -- time --

    def _cancel_setup_timer(self) -> None:
        if self._setup_timer is not None:
            self._setup_timer.cancel()
            self._setup_timer = None

    def _agreement_timed_out(self) -> None:
        self._down(RequestTimedOut(f"{self.address} did not answer in time"))

    def _watch(self, at_ms: float) -> None:
        if self._watch_timer is not None:
            self._watch_timer.cancel()
        self._watch_at_ms = at_ms
        self._watch_timer = self._scheduler.timer(at_ms, self._look)

    def _look(self) -> None:
        """One timer for everything with a deadline here, set again for the next one: a request that is
        answered in time never touches it.
        """
        self._watch_timer = None
        self._watch_at_ms = NEVER
        now_ms = self._clock.monotonic_ms()
        under_way = (*self._sent, *self._leaving)
        expired = [pending for pending in under_way if pending.deadline_ms <= now_ms]
        if expired:
            for pending in expired:
                pending.failed(RequestTimedOut(f"{self.address} did not answer in time"))
            self._down(self._unavailable("a request was not answered in time"))
            return
        if self._queue:
            for pending in [pending for pending in self._queue if pending.deadline_ms <= now_ms]:
                self._queue.remove(pending)
                pending.failed(RequestTimedOut(f"{self.address} did not answer in time"))
        next_ms = min((p.deadline_ms for p in (*under_way, *self._queue)), default=NEVER)
        idle_ms = self._links.idle_ms
        if self.state is LinkState.READY and idle_ms >= 0:
            idle_at_ms = self._used_ms + idle_ms
            if not under_way and idle_at_ms <= now_ms:
                self.close("it was idle")
                return
            next_ms = min(next_ms, max(idle_at_ms, now_ms + 1))
        if next_ms < NEVER:
            self._watch(next_ms)


def _hello(conversation: Conversation) -> Handshake:
    parts = conversation.hello()
    while True:
        frame = yield parts
        version = conversation.hello_answer(frame)
        if version is None:
            return
        parts = conversation.hello(version)


def _reason(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return "the connection timed out"
    return error.strerror or str(error)
