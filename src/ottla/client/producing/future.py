"""What `send` returns: the record's future, for threads and for asyncio.

Both are the core's `Delivery`, a batch and a place in it, with the manners of Python's futures on top: no
condition variable, no asyncio.Future and no list is made for a record that nobody waits for. A thread that
waits for a result drives the client itself, so there is no hand-off between threads.

They cannot be cancelled: what was sent cannot be taken back.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from ottla.client.effects import ClientSteps, Wait
from ottla.client.errors import IllegalState, OperationTimedOut
from ottla.client.producing.batch import Delivery
from ottla.client.records import RecordMetadata


class RecordFuture(Delivery):
    """The outcome of a `send`: where the record was stored, or why it was not.

        future = producer.send("clicks", b"...")
        metadata = future.result(timeout=10)      # RecordMetadata(topic, partition, offset, timestamp)

    It has the methods of concurrent.futures.Future, but belongs to its producer.
    """

    __slots__ = ()

    def result(self, timeout: float | None = None) -> RecordMetadata:
        """Waits until the record was acknowledged; raises what kept it from that.

        OperationTimedOut when that takes longer than `timeout` seconds: the record is still under way then.
        """
        if not self.done():
            self._wait(timeout)
        return self.metadata()

    def exception(self, timeout: float | None = None) -> Exception | None:
        """Waits like `result`, and returns the error, or None."""
        if not self.done():
            self._wait(timeout)
        return self.error()

    def _wait(self, timeout: float | None) -> None:
        runtime = self.owner
        timeout_ms = None if timeout is None else max(timeout, 0.0) * 1000
        runtime.run(self._until_done(runtime.clock.monotonic_ms, timeout_ms))

    def _until_done(self, monotonic_ms: Callable[[], float], timeout_ms: float | None) -> ClientSteps[None]:
        deadline_ms = None if timeout_ms is None else monotonic_ms() + timeout_ms
        while not self.done():
            left_ms = None if deadline_ms is None else deadline_ms - monotonic_ms()
            if left_ms is not None and left_ms <= 0:
                raise OperationTimedOut("the record was not acknowledged yet; it is still under way")
            yield Wait(self.finished, left_ms)

    def add_done_callback(self, function: Callable[[RecordFuture], object]) -> None:
        """Calls `function(future)` once the record was acknowledged or given up; soon, if that was before.

        What it raises is logged.
        """
        with self.owner.lock:
            self.add_callback(lambda metadata, error: function(self))

    def running(self) -> bool:
        return not self.done()

    def cancel(self) -> bool:
        """Never possible."""
        return False

    def cancelled(self) -> bool:
        return False


class AwaitableRecord(Delivery):
    """The outcome of a `send` under asyncio: `await` it for where the record was stored.

        future = await producer.send("clicks", b"...")
        metadata = await future                   # RecordMetadata(topic, partition, offset, timestamp)

    It may be awaited by several tasks and more than once; a task that is cancelled while it waits takes
    nothing back. It is an awaitable and no asyncio.Future: asyncio.gather, wait_for and ensure_future take
    it.
    """

    __slots__ = ()

    def __await__(self) -> Generator[Any, None, RecordMetadata]:
        while not self.done():
            woken = self.owner.create_future()
            waiters = self.finished.waiters
            number = -id(woken)  # the host's numbers are positive

            def wake(woken: Any = woken) -> None:
                if not woken.done():
                    woken.set_result(None)

            waiters[number] = wake
            try:
                yield from woken
            finally:
                waiters.pop(number, None)
        return self.metadata()

    def result(self) -> RecordMetadata:
        """Where it was stored, without waiting: IllegalState when that is not known yet."""
        if not self.done():
            raise IllegalState("the record was not acknowledged yet: await it")
        return self.metadata()

    def exception(self) -> Exception | None:
        if not self.done():
            raise IllegalState("the record was not acknowledged yet: await it")
        return self.error()

    def add_done_callback(self, function: Callable[[AwaitableRecord], object]) -> None:
        """Calls `function(future)` in the event loop once the record was acknowledged or given up."""
        self.add_callback(lambda metadata, error: function(self))

    def cancel(self) -> bool:
        """Never possible."""
        return False

    def cancelled(self) -> bool:
        return False
