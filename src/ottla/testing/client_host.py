"""The client's real core on virtual time: a `Host`, and connections through the simulated network.

`SimRuntime` stands where the shells for threads and asyncio stand: it has the core's own scheduler and links,
and brings a clock, chance, timers and a dialer that belong to the simulation. An application is a generator
of the simulation's driver; it calls `yield from runtime.run(core.poll(...))` as a thread would call `poll`,
and is taken up again in another turn.

Whatever a real machine may do at its own pace is drawn from the seed: how long connecting takes, when a
socket takes the bytes of a request (it is joined only then, so that bytes which change while they wait are
found out), in which pieces an answer arrives, when callbacks are called. `kill` ends a client as a process
ends, with or without the broker hearing of it.

`Watch` sees every call and its outcome; it counts what was exercised, and that no broker has more requests
of a producer in flight than is allowed.
"""

from __future__ import annotations

import logging
import math
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from ottla.client import log
from ottla.client.bootstrap import Directory, parse_bootstrap
from ottla.client.effects import Call, ClientSteps
from ottla.client.errors import BrokerUnavailable, OperationTimedOut, OttlaError
from ottla.client.metrics import Metrics
from ottla.client.runtime.link import Link
from ottla.client.runtime.links import Links
from ottla.client.runtime.pending import CallWaiter, PendingCall
from ottla.client.runtime.receiver import SCRATCH_BYTES, Receiver
from ottla.client.runtime.scheduler import Scheduler as CoreScheduler
from ottla.client.runtime.task import CoreTask, TaskCancelled
from ottla.client.session import Session
from ottla.client.settings import ClientSettings, ProducerSettings
from ottla.client.view import Address
from ottla.model.errors import ErrorCode
from ottla.ports.clock import Clock
from ottla.ports.effects import Sleep, Steps, Waiter
from ottla.testing.clock import VirtualClock
from ottla.testing.ledger import Violation
from ottla.testing.network import ClientEnd, ConnectionLost, SimNetwork, Unreachable
from ottla.testing.peers import CONNECT_AGAIN_MS_MAX
from ottla.testing.scheduler import Event, Scheduler
from ottla.wire.messages.fetch import FetchResponse
from ottla.wire.messages.produce import ProduceRequest, ProduceResponse
from ottla.wire.primitives import Part

R = TypeVar("R")

STALL_RATE: Final = 0.1
"""How often a socket does not take a request at once."""
PIECES_RATE: Final = 0.1
"""How often an answer arrives in pieces."""
RESOLVE_FAILURE_RATE: Final = 0.02
TURN_MS_MAX: Final = 0.5
"""A client's process takes its turns not at once, but soon."""


class Abandoned(Exception):
    """The client's process has ended under the application."""


class SimRuntime:
    """A `Host` on virtual time."""

    def __init__(
        self,
        network: SimNetwork,
        settings: ClientSettings,
        directory: Directory,
        metrics_of: Callable[[Clock], Metrics],
        report: Counter[str],
    ) -> None:
        self.name = settings.client_id
        """Where it is on the network."""
        self._events = scheduler = network.scheduler
        rng = scheduler.random
        self.random = rng
        self._virtual = VirtualClock(
            scheduler, boot_ms=rng.random() * 1e7, drift=rng.choice((0.0, 0.001, -0.001))
        )
        self.clock: Clock = self._virtual
        self.metrics = metrics_of(self.clock)
        self.dead = False
        self.closed = False
        self._core = CoreScheduler(self.clock, on_ready=self._nudge, on_timer=self._set_alarm)
        self._dialer = SimDialer(self, network)
        self.links = Links(settings, "0", directory, self._dialer, self._core, self.chance, self.metrics)
        in_flight_max = (
            settings.max_in_flight_requests_per_connection if isinstance(settings, ProducerSettings) else 0
        )
        self.watch = Watch(self.links, report, in_flight_max)
        self._core.caller = self.watch
        self._turn_due = False
        self._alarm: Event | None = None
        self._alarm_ms = math.inf
        self._later: deque[Callable[[], None]] = deque()
        self._applications: dict[Waiter, None] = {}
        self.listening_ms = 0.0
        """What the application's own listeners took of its operations (a little more: clocks drift)."""

    # -- Host --

    def chance(self) -> float:
        return self.random.random()

    def spawn(self, steps: ClientSteps[R], name: str) -> CoreTask[R]:
        return self._core.spawn(steps, name)

    def later(self, function: Callable[[], None]) -> None:
        self._later.append(function)
        if len(self._later) == 1:
            self._events.call_after(self.random.random(), self._call_back)

    def _call_back(self) -> None:
        if self.dead:
            return
        functions, self._later = self._later, deque()
        for function in functions:
            try:
                function()
            except Exception as error:
                log.failure(error, "a callback failed")

    # -- operations --

    @property
    def task_count(self) -> int:
        return self._core.task_count

    def run(self, steps: ClientSteps[R], name: str, timeout_ms: float | None = None) -> Steps[R]:
        """What a thread does that calls an operation; OperationTimedOut when it ends it for lack of time."""
        self.check_alive()
        core = self._core
        operation = core.start(steps, name)
        operation.on_invoke = _nothing
        if self.random.random() < 0.5:
            self.turn()
        alarm = None
        if timeout_ms is not None:
            alarm = self._events.call_after(
                timeout_ms,
                lambda: core.cancel(operation, OperationTimedOut(f"{name} did not complete in time")),
            )
        try:
            while not operation.done:
                if operation.invoke is None:
                    waiter = Waiter(math.inf)
                    operation.on_done = operation.on_invoke = waiter.fire
                    self._applications[waiter] = None
                    yield waiter
                    self._applications.pop(waiter, None)
                    self.check_alive()
                if operation.invoke is not None:
                    yield from self._invoke(operation)
            return operation.result()
        finally:
            if alarm is not None:
                alarm.cancel()
            if not operation.done and not self.dead:
                core.cancel(operation, TaskCancelled("the operation was cancelled"))

    def _invoke(self, operation: CoreTask[Any]) -> Steps[None]:
        invoke = operation.invoke
        assert invoke is not None
        operation.invoke = None
        operation.on_done = None
        operation.on_invoke = _nothing
        if self.random.random() < 0.2:
            duration_ms = self.random.random() * 200.0
            yield Sleep(duration_ms)
            self.check_alive()
            self.listening_ms += duration_ms * 1.01
        if operation.done:
            return
        try:
            value = invoke.function(*invoke.args)
        except Exception as error:
            operation.failed(error)
        else:
            operation.answered(value)

    def sleep(self, duration_ms: float) -> Steps[None]:
        """The application does something else."""
        yield Sleep(duration_ms)
        self.check_alive()

    def check_alive(self) -> None:
        if self.dead:
            raise Abandoned

    # -- the end --

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self._core.close()
            self.links.close()

    def kill(self, *, unseen: bool) -> None:
        """The process ends, now; `unseen`: with its machine, so that the broker is not told."""
        if self.dead or self.closed:
            return
        self.dead = True
        self._dialer.kill(unseen=unseen)
        self._core.close()
        self._later.clear()
        waiting, self._applications = self._applications, {}
        for waiter in waiting:
            waiter.fire()

    # -- driving --

    def _nudge(self) -> None:
        if not self._turn_due and not self.dead:
            self._turn_due = True
            self._events.call_after(self.random.random() * TURN_MS_MAX, self._turn)

    def turn(self) -> None:
        """As the front does after a batch has become full."""
        if not self.dead and self._core.ready and self._core.stepping is None:
            self._core.run_ready()

    def _turn(self) -> None:
        self._turn_due = False
        if self.dead or self.closed:
            return
        core = self._core
        core.run_timers()
        core.run_ready()
        if core.ready:
            self._nudge()

    def _set_alarm(self, at_ms: float) -> None:
        if at_ms >= self._alarm_ms or self.dead:
            return
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm_ms = at_ms
        self._alarm = self._events.call_at(self._virtual.virtual_time_of(at_ms), self._on_alarm)

    def _on_alarm(self) -> None:
        self._alarm = None
        self._alarm_ms = math.inf
        if self.dead or self.closed:
            return
        self._turn()
        timer_ms = self._core.next_timer_ms()
        if timer_ms is not None:
            self._set_alarm(timer_ms)


def _nothing() -> None:
    pass


class SimSession(Session):
    """A client's parts on a `SimRuntime`."""

    def __init__(self, network: SimNetwork, settings: ClientSettings, report: Counter[str]) -> None:
        directory = Directory(parse_bootstrap(settings.bootstrap_servers))
        self.runtime = SimRuntime(network, settings, directory, Metrics, report)
        super().__init__(settings, directory, self.runtime.metrics, self.runtime)

    def close(self) -> None:
        """What was begun has to have ended before: a task that is left goes on for ever in a real client."""
        self.metadata.close()
        runtime = self.runtime
        if runtime.dead:
            return
        runtime.turn()
        left = runtime.task_count
        runtime.close()
        if left:
            raise Violation(f"{self.settings.client_id}: {left} tasks are left after it was closed")


class SimDialer:
    def __init__(self, runtime: SimRuntime, network: SimNetwork) -> None:
        self.runtime = runtime
        self.network = network
        self.events: Scheduler = network.scheduler
        self.scratch = memoryview(bytearray(SCRATCH_BYTES))
        self.transports: dict[SimTransport, None] = {}

    def resolve(self, address: Address, done: Callable[[Sequence[Address] | OSError], None]) -> None:
        rng = self.events.random
        if rng.random() < 0.7:
            done([address])
            return
        calm = not self.network.faults.break_before_request
        failed = rng.random() < RESOLVE_FAILURE_RATE and not calm
        found: Sequence[Address] | OSError = OSError(-3, "no answer from the name server")
        if not failed:
            found = [address]

        def later() -> None:
            if not self.runtime.dead:
                done(found)

        self.events.call_after(rng.random() * 20.0, later)

    def dial(self, endpoint: Address, link: Link) -> SimTransport:
        transport = SimTransport(self, link, f"{endpoint.host}:{endpoint.port}")
        self.transports[transport] = None
        return transport

    def kill(self, *, unseen: bool) -> None:
        for transport in list(self.transports):
            transport.vanish() if unseen else transport.close()


class SimTransport:
    def __init__(self, dialer: SimDialer, link: Link, address: str) -> None:
        self._dialer = dialer
        self._events = dialer.events
        self._link = link
        self._address = address
        self._end: ClientEnd | None = None
        self._closed = False
        self._receiver = Receiver(dialer.scratch)
        self._outgoing: deque[list[Part]] = deque()
        self._stalled = False
        self._events.call_after(dialer.network.delay_ms(), self._connect)

    def _connect(self) -> None:
        if self._closed:
            return
        try:
            self._end = self._dialer.network.connect(self._address, self._dialer.runtime.name)
        except Unreachable:
            # The first packet is sent again, as long as the link has patience.
            rng = self._events.random
            self._events.call_after((0.1 + rng.random()) * CONNECT_AGAIN_MS_MAX, self._connect)
            return
        except ConnectionLost:
            self._lost("connection refused")
            return
        self._end.on_reply = self._received
        self._end.on_closed = lambda: self._lost("it closed the connection")
        self._link.opened()

    def write(self, parts: list[Part]) -> None:
        if self._closed:
            return
        self._outgoing.append(parts)
        if self._stalled:
            return
        rng = self._events.random
        if rng.random() < STALL_RATE:
            self._stalled = True
            self._events.call_after(rng.random() * 5.0, self._flush)
        else:
            self._flush()

    @property
    def backed_up(self) -> bool:
        return bool(self._outgoing)

    def _flush(self) -> None:
        self._stalled = False
        end = self._end
        if self._closed or end is None:
            return
        while self._outgoing and not self._closed:
            end.send(b"".join(self._outgoing.popleft()))
        if not self._closed:
            self._link.drained()

    def _received(self, frame: bytes) -> None:
        data = len(frame).to_bytes(4, "big") + frame
        rng = self._events.random
        cut = rng.randrange(len(data)) if rng.random() < PIECES_RATE else 0
        for piece in (data[:cut], data[cut:]):
            at = 0
            while at < len(piece) and not self._closed:
                room = self._receiver.buffer()
                count = min(len(room), len(piece) - at)
                room[:count] = piece[at : at + count]
                at += count
                for whole in self._receiver.received(count):
                    if not self._closed:
                        self._link.received(whole)

    def _lost(self, reason: str) -> None:
        if not self._closed:
            self.close()
            self._link.lost(reason)

    def close(self) -> None:
        if self._closed:
            return
        self._forget()
        if self._end is not None:
            self._end.close()

    def vanish(self) -> None:
        """Without a word to the other end, which keeps the connection until it notices by itself."""
        if not self._closed:
            self._forget()
            if self._end is not None:
                self._end.closed = True

    def _forget(self) -> None:
        self._closed = True
        self._outgoing.clear()
        self._dialer.transports.pop(self, None)
        if self._end is not None:
            self._end.on_reply = self._end.on_closed = None


class Watch:
    """Stands between the core's scheduler and its links: a `scheduler.Caller`."""

    def __init__(self, links: Links, report: Counter[str], in_flight_max: int) -> None:
        self._links = links
        self._report = report
        self._in_flight_max = in_flight_max
        self._in_flight: Counter[int] = Counter()

    def start(self, call: Call, waiter: CallWaiter) -> PendingCall:
        node_id = call.node_id
        if call.api_key == ProduceRequest.API_KEY:
            self._in_flight[node_id] += 1
            if self._in_flight[node_id] > self._in_flight_max:
                raise Violation(f"{self._in_flight[node_id]} produce requests are in flight at once")
        return self._links.start(call, _Watched(self, call, waiter))

    def over(self, call: Call) -> None:
        if call.api_key == ProduceRequest.API_KEY:
            self._in_flight[call.node_id] -= 1

    def answered(self, response: Any) -> None:
        report = self._report
        if isinstance(response, ProduceResponse):
            for topic in response.responses:
                for partition in topic.partition_responses:
                    if partition.error_code:
                        report[f"produce_{_name(partition.error_code)}"] += 1
            return
        if isinstance(response, FetchResponse):
            if response.session_id and not response.error_code:
                report["fetches_in_session"] += 1
            for fetched in response.responses:
                for each in fetched.partitions:
                    if each.error_code:
                        report[f"fetch_{_name(each.error_code)}"] += 1
                    report["aborted_listed"] += len(each.aborted_transactions or ())
        code = getattr(response, "error_code", 0)
        if code:
            name = type(response).__name__.removesuffix("Response").lower()
            report[f"{name}_{_name(code)}"] += 1

    def failed(self, call: Call, error: BaseException) -> None:
        if isinstance(error, BrokerUnavailable):
            self._report["calls_unsent" if error.unsent else "calls_lost"] += 1
        elif isinstance(error, OttlaError):
            self._report["calls_timed_out"] += 1
        else:
            raise Violation(f"a call failed with {error!r}") from error


def _name(code: int) -> str:
    return ErrorCode(code).name.lower()


class _Watched:
    __slots__ = ("_watch", "_call", "_waiter")

    def __init__(self, watch: Watch, call: Call, waiter: CallWaiter) -> None:
        self._watch = watch
        self._call = call
        self._waiter = waiter

    def answered(self, response: Any) -> None:
        self._watch.over(self._call)
        self._watch.answered(response)
        self._waiter.answered(response)

    def failed(self, error: BaseException) -> None:
        self._watch.over(self._call)
        self._watch.failed(self._call, error)
        self._waiter.failed(error)


class ClientFailures(logging.Handler):
    """A task or callback that fails costs a real client a line in its log; here it ends the run."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self._logger = logging.getLogger(log.NAME)
        self._before = (self._logger.level, self._logger.propagate)
        self.first: logging.LogRecord | None = None

    def __enter__(self) -> ClientFailures:
        self._before = (self._logger.level, self._logger.propagate)
        self._logger.addHandler(self)
        if self._logger.getEffectiveLevel() > logging.ERROR:
            self._logger.setLevel(logging.ERROR)
        return self

    def __exit__(self, *_: object) -> None:
        self._logger.removeHandler(self)
        self._logger.level, self._logger.propagate = self._before

    def check(self) -> None:
        if self.first is not None:
            raise Violation(logging.Formatter().format(self.first))

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info:
            self.first = self.first or record
