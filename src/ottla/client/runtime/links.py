"""All of a client's links, and which one a call takes.

A call to a node goes to the link of its address, on its lane; one to ANY_BROKER to the least loaded link that
is ready. Where none is, the known brokers and then the bootstrap addresses are tried one after the other, and
such calls wait for the first that answers, or fail when none did.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from copy import copy
from typing import Final

from ottla.client.bootstrap import Directory
from ottla.client.conversation import Conversation
from ottla.client.effects import ANY_BROKER, Call
from ottla.client.errors import BrokerUnavailable, InvalidConfig, OttlaError, RequestTimedOut
from ottla.client.metrics import Metrics
from ottla.client.runtime.link import JITTER, NEVER, QUEUED_MAX, Dialer, HandshakeStep, Link, LinkState
from ottla.client.runtime.pending import CallWaiter, PendingCall
from ottla.client.runtime.scheduler import Scheduler, Timer
from ottla.client.runtime.traffic import Traffic
from ottla.client.settings import ClientSettings, SecuritySettings
from ottla.client.view import Address

PLAINTEXT: Final = "PLAINTEXT"


def handshakes_for(security: SecuritySettings) -> list[HandshakeStep]:
    """What has to be said on a new connection before anything else: nothing, without SASL."""
    if security.protocol.upper() != PLAINTEXT:
        raise InvalidConfig(
            f"security.protocol={security.protocol} is not available yet: TLS and SASL come with the "
            "security work; use PLAINTEXT"
        )
    return []


class Links:
    """Implements `scheduler.Caller`."""

    def __init__(
        self,
        settings: ClientSettings,
        software_version: str,
        directory: Directory,
        dialer: Dialer,
        scheduler: Scheduler,
        chance: Callable[[], float],
        metrics: Metrics,
    ) -> None:
        self.dialer = dialer
        self.scheduler = scheduler
        self.handshakes = handshakes_for(settings.security)
        self.request_timeout_ms = settings.request_timeout_ms
        self.idle_ms = settings.connections_max_idle_ms
        self.connections_created = 0
        self.connections_closed = 0
        self.traffic = Traffic(metrics, f"{settings.KIND}-metrics")
        self._settings = settings
        self._software_version = software_version
        self._clock = scheduler.clock
        self._directory = directory
        self._chance = chance
        self._links: dict[tuple[Address, int], Link] = {}
        self._closed = False
        self._seeking: deque[PendingCall] = deque()
        """Calls to any broker, while none is connected."""
        self._candidate: Link | None = None
        self._candidates: deque[Address] = deque()
        self._failures: list[OttlaError] = []
        self._watch_timer: Timer | None = None
        self._watch_at_ms = NEVER
        group = f"{settings.KIND}-metrics"
        metrics.gauge(group, "connection-count", lambda: self.connections_created - self.connections_closed)
        metrics.gauge(group, "connection-creation-total", lambda: self.connections_created)
        metrics.gauge(group, "connection-close-total", lambda: self.connections_closed)
        metrics.gauge(group, "requests-in-flight", self._load)

    def _load(self) -> int:
        return sum(link.load for link in list(self._links.values()))  # a copy: any thread may look

    # -- calls --

    def start(self, call: Call, waiter: CallWaiter) -> PendingCall:
        timeout_ms = call.timeout_ms
        if timeout_ms is None:
            timeout_ms = self.request_timeout_ms
        pending = PendingCall(call, waiter, self._clock.monotonic_ms(), timeout_ms)
        node_id = call.node_id
        if node_id == ANY_BROKER:
            self._start_anywhere(pending)
            return pending
        addresses = self._directory.candidates(node_id)
        if addresses:
            self.link(addresses[0], call.lane).start(pending)
        else:
            error = BrokerUnavailable(f"node {node_id}", "its address is not known")
            error.unsent = True
            pending.failed(error)
        return pending

    def link(self, address: Address, lane: int = 0) -> Link:
        key = (address, lane)
        link = self._links.get(key)
        if link is None:
            link = self._links[key] = Link(self, address, lane)
        return link

    def _start_anywhere(self, pending: PendingCall) -> None:
        best: Link | None = None
        for link in self._links.values():
            if (
                link.state is not LinkState.READY
                or link.lane != 0
                or not self._directory.usable(link.address)
            ):
                continue
            if best is None or link.load < best.load:
                best = link
        if best is not None:
            best.start(pending)
        elif len(self._seeking) >= QUEUED_MAX:
            pending.failed(BrokerUnavailable(str(self._directory), "too many requests wait"))
        else:
            self._seeking.append(pending)
            if pending.deadline_ms < self._watch_at_ms:
                self._watch(pending.deadline_ms)
            if self._candidate is None:
                self._begin_search()

    # -- the search for a broker --

    def _begin_search(self) -> None:
        candidates = self._directory.candidates(ANY_BROKER)
        # Those that failed just now come last, and their back-off is waited for.
        candidates.sort(key=lambda address: self.link(address).retry_at_ms)
        self._candidates = deque(candidates)
        self._failures = []
        self._try_next()

    def _try_next(self) -> None:
        self._candidate = None
        if not self._seeking:
            return
        while self._candidates:
            link = self._candidate = self.link(self._candidates.popleft())
            if link.state is not LinkState.READY:
                link.open()
                return
            self._found(link)
            return
        seeking, self._seeking = self._seeking, deque()
        for pending in seeking:
            pending.failed(self._nobody())

    def _nobody(self) -> OttlaError:
        failures = self._failures
        if not failures:
            return BrokerUnavailable(str(self._directory), "no address is known")
        worst = next((each for each in failures if not isinstance(each, BrokerUnavailable)), failures[0])
        if not isinstance(worst, BrokerUnavailable):
            return copy(worst)
        addresses = [each.address for each in failures if isinstance(each, BrokerUnavailable)]
        error = BrokerUnavailable(",".join(addresses), worst.reason)
        error.unsent = all(each.unsent for each in failures if isinstance(each, BrokerUnavailable))
        return error

    def _found(self, link: Link) -> None:
        self._candidate = None
        self._candidates.clear()
        seeking, self._seeking = self._seeking, deque()
        now_ms = self._clock.monotonic_ms()
        for pending in seeking:
            if pending.waiter is not None:
                pending.sent_ms = now_ms
                link.start(pending)

    # -- what links report --

    def link_ready(self, link: Link) -> None:
        if link.lane == 0 and (self._seeking or link is self._candidate):
            self._found(link)

    def link_down(self, link: Link, error: OttlaError) -> None:
        if link is self._candidate and not self._closed:
            if isinstance(error, BrokerUnavailable):
                error.unsent = True
            self._failures.append(error)
            self._try_next()

    # -- what links ask --

    def new_conversation(self) -> Conversation:
        return Conversation(self._settings.client_id, self._software_version)

    def node_at(self, address: Address) -> int | None:
        return self._directory.node_at(address)

    def reconnect_backoff_ms(self, failures: int) -> float:
        settings = self._settings
        wait_ms = min(
            settings.reconnect_backoff_ms * 2.0 ** min(failures, 30), settings.reconnect_backoff_max_ms
        )
        return wait_ms * self._jitter()

    def setup_timeout_ms(self, failures: int) -> float:
        settings = self._settings
        timeout_ms = settings.socket_connection_setup_timeout_ms * 2.0 ** min(failures, 30)
        return min(timeout_ms, settings.socket_connection_setup_timeout_max_ms) * self._jitter()

    def _jitter(self) -> float:
        return 1.0 + JITTER * (2.0 * self._chance() - 1.0)

    # -- time, and the end --

    def _watch(self, at_ms: float) -> None:
        if self._watch_timer is not None:
            self._watch_timer.cancel()
        self._watch_at_ms = at_ms
        self._watch_timer = self.scheduler.timer(at_ms, self._look)

    def _look(self) -> None:
        """Fails the calls that have waited too long for any broker."""
        self._watch_timer = None
        self._watch_at_ms = NEVER
        now_ms = self._clock.monotonic_ms()
        for pending in [each for each in self._seeking if each.deadline_ms <= now_ms]:
            self._seeking.remove(pending)
            where = self._directory if self._candidate is None else self._candidate.address
            pending.failed(RequestTimedOut(f"{where} did not answer in time"))
        if self._seeking:
            self._watch(min(each.deadline_ms for each in self._seeking))

    def close_connections(self, reason: str) -> None:
        """Ends every connection; the next call opens new ones, without back-off."""
        for link in list(self._links.values()):
            link.close(reason)
            link.retry_at_ms = 0.0

    def close(self) -> None:
        self._closed = True
        self.close_connections("the client was closed")
        self._seeking.clear()
        if self._watch_timer is not None:
            self._watch_timer.cancel()
