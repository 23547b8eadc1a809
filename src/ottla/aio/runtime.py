"""The shell for asyncio: the core's scheduler on a running event loop.

There is no lock: all of the core's state belongs to the loop's thread. The scheduler takes a turn in a loop's
callback when somebody is ready or a timer is due; sockets are the loop's. An operation is awaited; cancelling
the awaiting task cancels the operation where it stands.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import os
from collections.abc import Callable
from typing import Any, TypeVar

from ottla import __version__
from ottla.aio.transport import LoopDialer
from ottla.client import log
from ottla.client.bootstrap import Directory
from ottla.client.effects import ClientSteps
from ottla.client.errors import ClientClosed, IllegalState, OperationTimedOut
from ottla.client.metrics import Metrics
from ottla.client.runtime.links import Links
from ottla.client.runtime.scheduler import Scheduler
from ottla.client.runtime.task import CoreTask, TaskCancelled
from ottla.client.settings import ClientSettings
from ottla.net.clock import SystemClock
from ottla.ports.clock import Clock

R = TypeVar("R")


class AioRuntime:
    """A `Host` on the running loop."""

    def __init__(self, settings: ClientSettings, directory: Directory, metrics: Metrics) -> None:
        self.clock: Clock = SystemClock()
        try:
            self.loop = asyncio.get_running_loop()
        except RuntimeError:
            raise IllegalState("a client for asyncio is made inside of a coroutine") from None
        self._pid = os.getpid()
        self._scheduler = Scheduler(self.clock, on_ready=self._nudge, on_timer=self._set_alarm)
        self._dialer = LoopDialer(
            self.loop,
            send_buffer_bytes=settings.send_buffer_bytes,
            receive_buffer_bytes=settings.receive_buffer_bytes,
        )
        self.links = Links(
            settings, __version__, directory, self._dialer, self._scheduler, self.chance, metrics
        )
        self._scheduler.caller = self.links
        self._closed = False
        self._turn_due = False
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_ms = math.inf

    # -- Host --

    def chance(self) -> float:
        return int.from_bytes(os.urandom(6), "big") / 2**48

    def spawn(self, steps: ClientSteps[R], name: str) -> CoreTask[R]:
        self._check()
        return self._scheduler.spawn(steps, name)

    def later(self, function: Callable[[], None]) -> None:
        self.loop.call_soon(_guarded, function)

    # -- operations --

    async def run(self, steps: ClientSteps[R], timeout_ms: float | None = None) -> R:
        """Awaits an operation; OperationTimedOut when it does not end in time."""
        self._check()
        scheduler = self._scheduler
        operation = scheduler.start(steps, "the operation")
        operation.on_invoke = _nothing
        self.turn()  # its request leaves in this pass of the loop
        at_once = operation.done
        if at_once:
            await asyncio.sleep(0)  # the others' turn: a loop of operations that need not wait starves nobody
            return operation.result()
        alarm: asyncio.TimerHandle | None = None
        if timeout_ms is not None:
            alarm = self.loop.call_later(
                max(0.0, timeout_ms) / 1000,
                lambda: scheduler.cancel(
                    operation, OperationTimedOut("the operation did not complete in time")
                ),
            )
        try:
            while True:
                wanted: asyncio.Future[None] = self.loop.create_future()
                operation.on_done = operation.on_invoke = lambda wanted=wanted: _tell(wanted)
                if operation.invoke is None and not operation.done:
                    await wanted
                if operation.done:
                    return operation.result()
                await self._invoke(operation)
        except BaseException:
            scheduler.cancel(operation, TaskCancelled("the operation was cancelled"))
            raise
        finally:
            if alarm is not None:
                alarm.cancel()

    async def _invoke(self, operation: CoreTask[Any]) -> None:
        invoke = operation.invoke
        assert invoke is not None
        operation.invoke = None
        operation.on_done = None
        operation.on_invoke = _nothing
        try:
            value = invoke.function(*invoke.args)
            if inspect.isawaitable(value):
                value = await value
        except Exception as error:
            if not operation.done:
                operation.failed(error)
        else:
            if not operation.done:
                operation.answered(value)

    async def close(self) -> None:
        """Cancels what runs and closes the connections. Whoever awaits an operation gets ClientClosed."""
        if self._closed:
            return
        if not self.gone:
            self.check_loop()
        self._closed = True
        if self.gone:
            return
        self._scheduler.close()
        self.links.close()
        self._dialer.close()
        if self._alarm is not None:
            self._alarm.cancel()
        await asyncio.sleep(0)  # the loop closes the sockets in its next pass

    def _check(self) -> None:
        if self._closed:
            raise ClientClosed("the client is closed")
        if os.getpid() != self._pid:
            raise IllegalState("this client was made before a fork: make a new one in the child process")
        self.check_loop()

    @property
    def gone(self) -> bool:
        """Whether nothing can be done here any more, not even to end it well: this is another process, or the
        loop was closed.
        """
        return self.loop.is_closed() or os.getpid() != self._pid

    def check_loop(self) -> None:
        """The core's state belongs to one loop."""
        if asyncio.get_running_loop() is not self.loop:
            raise IllegalState("this client was made in another event loop: each loop needs its own")

    # -- driving --

    def _nudge(self) -> None:
        """Somebody can go on: a turn in the loop's next pass."""
        if not self._turn_due and not self._closed:
            self._turn_due = True
            self.loop.call_soon(self._turn)

    def turn(self) -> None:
        """Takes the turn that is due now, instead of in the loop's next pass: a request that is ready leaves
        at once.
        """
        if self._scheduler.ready and self._scheduler.stepping is None:
            self._scheduler.run_ready()

    def _turn(self) -> None:
        self._turn_due = False
        if self._closed:
            return
        scheduler = self._scheduler
        scheduler.run_timers()
        scheduler.run_ready()
        if scheduler.ready:
            self._nudge()

    def _set_alarm(self, at_ms: float) -> None:
        """A timer comes before all others. One that is cancelled later leaves its alarm, which finds nothing
        to do and sets the next.
        """
        if at_ms >= self._alarm_ms or self._closed:
            return
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm_ms = at_ms
        delay_s = max(0.0, at_ms - self.clock.monotonic_ms()) / 1000
        self._alarm = self.loop.call_later(delay_s, self._on_alarm)

    def _on_alarm(self) -> None:
        self._alarm = None
        self._alarm_ms = math.inf
        self._turn()
        timer_ms = self._scheduler.next_timer_ms()
        if timer_ms is not None:
            self._set_alarm(timer_ms)


def _nothing() -> None:
    pass


def _tell(wanted: asyncio.Future[None]) -> None:
    if not wanted.done():
        wanted.set_result(None)


def _guarded(function: Callable[[], None]) -> None:
    try:
        function()
    except Exception as error:
        log.failure(error, "a callback failed")
