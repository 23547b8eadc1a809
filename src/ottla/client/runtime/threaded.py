"""The shell for threads: whoever waits, drives.

All of the core's state is guarded by one lock. A thread that runs an operation does the socket work itself,
and everybody else's with it, so that its own answer needs no hand-over between threads; the lock is free
while it waits for the sockets. Further threads that come meanwhile wait to be told, and take over when the
first one leaves. While no user's thread is inside, a thread in the background drives (it exists once there is
a task); it keeps away for a moment after each visit, so that a busy caller never fights it for the
interpreter.

State of the driving: `_driver` says who drives (nobody, the background, a thread's id). A user's thread takes
the role from the background by writing its own id there; the background notices when it wakes up. The user's
driver waits on the epoll; the background waits on a poll over that epoll's descriptor and touches the sockets
only after it has the lock again and is still the driver.
"""

from __future__ import annotations

import math
import os
import select
import threading
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Any, Final, TypeVar

from ottla import __version__
from ottla.client import log
from ottla.client.bootstrap import Directory
from ottla.client.effects import ClientSteps
from ottla.client.errors import ClientClosed, IllegalState, OperationTimedOut
from ottla.client.metrics import Metrics
from ottla.client.runtime.interrupts import Interrupts
from ottla.client.runtime.links import Links
from ottla.client.runtime.scheduler import Scheduler
from ottla.client.runtime.sockets import Sockets
from ottla.client.runtime.task import CoreTask, TaskCancelled
from ottla.client.settings import ClientSettings
from ottla.net.clock import SystemClock
from ottla.ports.clock import Clock

R = TypeVar("R")

NOBODY: Final = 0
BACKGROUND: Final = -1

QUIET_MS: Final = 2.0
"""How long the background keeps away after a user's thread was inside."""
STANDBY_MS: Final = 5.0
"""How often it looks whether user's threads are still busy, once it has found them so."""
TURN_POLL_MS: Final = 0.5
"""`turn` looks at the sockets at most so often, unless a task had something to do."""
STALE_MS: Final = 100.0
"""After so long without anybody driving, an operation first looks what its connections have come to."""
SIGNAL_POLL_MS: Final = 250.0
"""A signal that comes in the instant before a thread blocks does not end the wait: the main thread, where
handlers run, looks again after this time.
"""
JOIN_TIMEOUT_S: Final = 5.0

_runtimes: weakref.WeakSet[ThreadedRuntime] = weakref.WeakSet()


def _after_fork() -> None:
    for runtime in list(_runtimes):
        runtime.forked()


os.register_at_fork(after_in_child=_after_fork)


def chance() -> float:
    """A number in [0, 1) from the operating system."""
    return int.from_bytes(os.urandom(6), "big") / 2**48


class ThreadedRuntime:
    """A `Host` for threads."""

    def __init__(self, settings: ClientSettings, directory: Directory, metrics: Metrics) -> None:
        self.lock = threading.RLock()
        self.clock: Clock = SystemClock()
        self.waiting: Callable[[], AbstractContextManager[None]] | None = None
        """Entered around every wait of an operation. Whoever wants to be interrupted raises out of it: then
        the operation is cancelled, between two of its steps.
        """
        self.on_fork: Callable[[], None] = _nothing
        """Called in the child process."""
        self._scheduler = Scheduler(self.clock, on_ready=self._nudge, on_timer=self._timer_set)
        self._sockets = Sockets(
            send_buffer_bytes=settings.send_buffer_bytes,
            receive_buffer_bytes=settings.receive_buffer_bytes,
            call_in=self._call_in,
        )
        try:
            self.links = Links(
                settings, __version__, directory, self._sockets, self._scheduler, chance, metrics
            )
        except BaseException:
            self._sockets.close()
            raise
        self._scheduler.caller = self.links
        self._interrupts = Interrupts(self._sockets.wake)
        self._closed = False
        self._forked = False
        self._callbacks: deque[Callable[[], None]] = deque()
        self._calling = threading.Lock()
        """Held by the thread that calls the user's callbacks."""
        self._driver = NOBODY
        self._blocked = False
        """The user's thread that drives is in its wait and must be woken if there is something to do."""
        self._wait_until_ms = 0.0
        self._followers: deque[threading.Condition] = deque()
        self._visits = 0
        self._user_ms = -math.inf
        """When a user's thread was last inside."""
        self._polled_ms = -math.inf
        self._background: threading.Thread | None = None
        self._background_fd = -1
        self._background_watches = False
        self._background_sleeps = False
        """In a wait that only a kick ends."""
        self._background_visits = -1
        self._background_ended = True
        _runtimes.add(self)

    # -- Host --

    def chance(self) -> float:
        return chance()

    def spawn(self, steps: ClientSteps[R], name: str) -> CoreTask[R]:
        self._check()
        with self.lock:
            task = self._scheduler.spawn(steps, name)
            if self._background is None:
                self._start_background()
            return task

    def later(self, function: Callable[[], None]) -> None:
        with self.lock:
            self._callbacks.append(function)
            self._nudge()

    # -- operations --

    def run(self, steps: ClientSteps[R], timeout_ms: float | None = None) -> R:
        """Carries out an operation in this thread; OperationTimedOut when it does not end in time."""
        self._check()
        held = self._interrupts.hold()
        try:
            operation = self._run(steps, timeout_ms)
        finally:
            if held:
                self._interrupts.let_go()
        if self._callbacks:
            self._call_back()
        return operation.result()

    def _run(self, steps: ClientSteps[R], timeout_ms: float | None) -> CoreTask[R]:
        with self.lock:
            scheduler = self._scheduler
            if scheduler.stepping is not None:
                steps.close()
                raise IllegalState(f"{scheduler.stepping.name} may not run another operation within a step")
            now_ms = self.clock.monotonic_ms()
            if now_ms - max(self._polled_ms, self._user_ms) > STALE_MS and not self._closed:
                self._poll()
            operation = scheduler.start(steps, "the operation")
            operation.on_invoke = _nothing
            deadline_ms = math.inf if timeout_ms is None else now_ms + timeout_ms
            try:
                self._complete(operation, deadline_ms)
            except BaseException:
                scheduler.cancel(operation, TaskCancelled("the operation was interrupted"))
                raise
            finally:
                self._user_ms = self.clock.monotonic_ms()
                if self._driver == NOBODY and (self._followers or self._background_sleeps):
                    self._hand_over()
            return operation

    def turn(self) -> None:
        """One turn without waiting: tasks that can go on do, sockets are looked at."""
        self._check()
        now_ms = self._user_ms = self.clock.monotonic_ms()
        if not self._scheduler.ready and now_ms < self._polled_ms + TURN_POLL_MS:
            return
        held = self._interrupts.hold()  # Ctrl-C in the middle of a task's step would be the task's end
        try:
            with self.lock:
                scheduler = self._scheduler
                if scheduler.stepping is not None or self._closed:
                    return
                if scheduler.ready:
                    scheduler.run_ready()
                self._poll()
        finally:
            if held:
                self._interrupts.let_go()
        if self._callbacks and not self.lock._is_owned():  # type: ignore[attr-defined]
            self._call_back()

    def shielded(self, function: Callable[..., R]) -> Callable[..., R]:
        """The function with Ctrl-C held back while it runs, for plain calls that change the core's state."""
        interrupts = self._interrupts

        def call(*args: Any) -> R:
            held = interrupts.hold()
            try:
                return function(*args)
            finally:
                if held:
                    interrupts.let_go()

        return call

    def disconnect(self) -> None:
        """Closes all connections; whatever is asked next opens new ones."""
        self._check()
        with self.lock:
            self.links.close_connections("the client asked for it")

    def close(self) -> None:
        """Cancels what runs, closes the connections and ends the background's thread. Whoever waits for an
        operation gets ClientClosed.
        """
        if self._forked:
            self._closed = True
            return
        with self.lock:
            if not self._closed:
                self._closed = True
                self._scheduler.close()
                self.links.close()
                for follower in self._followers:
                    follower.notify_all()
                if self._blocked:
                    self._sockets.wake()
                if self._background is not None:
                    self._kick_background()
                self._release()
            background = self._background
        if self.lock._is_owned():  # type: ignore[attr-defined]
            return  # the background needs the lock to end, and callbacks must not have it
        if self._callbacks:
            self._call_back()
        if background is not None and background is not threading.current_thread():
            background.join(JOIN_TIMEOUT_S)

    @property
    def gone(self) -> bool:
        """Whether this is a child process, where nothing of it can be used any more."""
        return self._forked

    def _release(self) -> None:
        """Closes the descriptors of a closed runtime once nobody waits on them any more."""
        if self._closed and self._driver <= NOBODY and self._background_ended:
            self._sockets.close()

    def _check(self) -> None:
        if self._forked:
            raise IllegalState("this client was made before a fork: make a new one in the child process")
        if self._closed:
            raise ClientClosed("the client is closed")

    def forked(self) -> None:
        """In the child: the threads are gone, and the connections belong to the parent."""
        self._forked = True
        # A thread that does not exist here may hold it; others have the same lock, so it cannot be replaced.
        self.lock._at_fork_reinit()  # type: ignore[attr-defined]
        self.on_fork()

    def __del__(self) -> None:
        if not self._closed and not self._forked:
            self._closed = True
            try:
                self._sockets.close()
                if self._background is not None:
                    os.eventfd_write(self._background_fd, 1)
            except (OSError, AttributeError):
                pass

    # -- driving --

    def _complete(self, operation: CoreTask[Any], deadline_ms: float) -> None:
        """Until the operation is done; with the lock held."""
        me = threading.get_ident()
        while not operation.done:
            if operation.invoke is not None:
                self._invoke(operation)
            elif self._callbacks and not self._calling.locked():
                self._hand_over()
                self._without_lock(self._call_back)
            elif self._driver == me:  # called from within our own driving, by a finalizer
                self._drive(operation, deadline_ms)
            elif self._driver == NOBODY or self._driver == BACKGROUND:
                if self._background_watches:
                    self._kick_background()
                self._driver = me
                self._visits += 1
                try:
                    self._drive(operation, deadline_ms)
                finally:
                    self._driver = NOBODY
                    if self._closed:
                        self._release()
            else:
                self._follow(operation, deadline_ms)

    def _drive(self, operation: CoreTask[Any], deadline_ms: float) -> None:
        """Until the operation is done, or this thread is wanted for something else."""
        scheduler = self._scheduler
        while True:
            if scheduler.ready:
                scheduler.run_ready()
            if operation.done or operation.invoke is not None:
                return
            if self._callbacks and not self._calling.locked():
                return
            if scheduler.ready:
                self._poll()
                continue
            now_ms = self.clock.monotonic_ms()
            timer_ms = scheduler.next_timer_ms()
            if timer_ms is not None and timer_ms <= now_ms:
                scheduler.run_timers()
                if scheduler.ready:
                    continue
            if now_ms >= deadline_ms:
                raise OperationTimedOut("the operation did not complete in time")
            until_ms = deadline_ms if timer_ms is None else min(deadline_ms, timer_ms)
            if self._interrupts.active or self.waiting is not None:
                until_ms = min(until_ms, now_ms + SIGNAL_POLL_MS)
            self._block(now_ms, until_ms)
            if self._interrupts.pending and self._interrupts.mine():
                self._handle_signals()

    def _block(self, now_ms: float, until_ms: float) -> None:
        """Waits for the sockets without the lock, then does what there is to do."""
        sockets, lock = self._sockets, self.lock
        changes = sockets.changes
        self._wait_until_ms = until_ms
        self._blocked = True
        state = lock._release_save()  # type: ignore[attr-defined]
        try:
            if self.waiting is None:
                events = sockets.epoll.poll(_seconds(until_ms - now_ms))
            else:
                with self.waiting():
                    events = sockets.wait(_seconds(until_ms - now_ms))
        finally:
            lock._acquire_restore(state)  # type: ignore[attr-defined]
            self._blocked = False
        if self._closed:
            return
        if sockets.woken:
            sockets.clear_wake()
        if changes != sockets.changes:
            events = sockets.wait(0)
        sockets.carry_out(events)

    def _poll(self) -> None:
        """What there is to do now, without waiting."""
        self._polled_ms = self.clock.monotonic_ms()
        events = self._sockets.wait(0)
        if events:
            self._sockets.carry_out(events)
        self._scheduler.run_timers()
        self._scheduler.run_ready()

    def _follow(self, operation: CoreTask[Any], deadline_ms: float) -> None:
        """Waits while another thread drives; it tells us when there is something for us."""
        told = threading.Condition(self.lock)
        operation.on_done = operation.on_invoke = told.notify
        self._followers.append(told)
        try:
            left_ms = min(deadline_ms - self.clock.monotonic_ms(), SIGNAL_POLL_MS)
            if self.waiting is None:
                told.wait(_timeout(left_ms))
            else:
                with self.waiting():
                    told.wait(_timeout(left_ms))
        finally:
            self._followers.remove(told)
            operation.on_done = None
            operation.on_invoke = _nothing
        if self._interrupts.pending and self._interrupts.mine():
            self._handle_signals()
        if self.clock.monotonic_ms() >= deadline_ms and not operation.done:
            raise OperationTimedOut("the operation did not complete in time")

    def _hand_over(self) -> None:
        """Somebody else has to drive now: a thread that waits, else the background in its time."""
        if self._followers:
            self._followers[0].notify()
        elif self._background_sleeps:
            self._kick_background()

    def _nudge(self) -> None:
        """There is something to do: ends the wait of whoever drives."""
        if self._blocked:
            self._blocked = False
            self._sockets.wake()
        elif self._background_watches or (self._background_sleeps and self._driver == NOBODY):
            self._kick_background()

    def _timer_set(self, at_ms: float) -> None:
        """A timer comes before all others: whoever waits may have to wake up earlier."""
        if at_ms < self._wait_until_ms and (self._blocked or self._background_watches):
            self._nudge()

    def _call_in(self, function: Callable[[], None]) -> None:
        """For helper threads: calls a function with the lock held, and has its consequences seen to."""
        with self.lock:
            if not self._closed:
                function()
                self._nudge()

    # -- the user's code --

    def _invoke(self, operation: CoreTask[Any]) -> None:
        invoke = operation.invoke
        assert invoke is not None
        operation.invoke = None
        self._hand_over()
        try:
            value = self._without_lock(lambda: invoke.function(*invoke.args))
        except Exception as error:
            if not operation.done:
                operation.failed(error)
        else:
            if not operation.done:
                operation.answered(value)

    def _without_lock(self, function: Callable[[], Any]) -> Any:
        """The user's code: there Ctrl-C is raised where it strikes."""
        held = self._interrupts.active and self._interrupts.mine()
        state = self.lock._release_save()  # type: ignore[attr-defined]
        try:
            if held:
                self._interrupts.let_go()
            return function()
        finally:
            try:
                raised = self._interrupts.hold_on() if held else None
            finally:
                self.lock._acquire_restore(state)  # type: ignore[attr-defined]
            if raised is not None:
                raise raised

    def _handle_signals(self) -> None:
        """Calls the handlers of what was held back, which may raise; others are held back meanwhile."""
        state = self.lock._release_save()  # type: ignore[attr-defined]
        try:
            self._interrupts.check()
        finally:
            self.lock._acquire_restore(state)  # type: ignore[attr-defined]

    def _call_back(self) -> None:
        """Calls what `later` was given, in order; not while another thread (or this one) is at it."""
        while self._callbacks and self._calling.acquire(blocking=False):
            try:
                while self._callbacks:
                    function = self._callbacks.popleft()
                    try:
                        function()
                    except Exception as error:
                        log.failure(error, "a callback failed")
                    except BaseException as error:  # such as sys.exit()
                        if threading.current_thread() is not self._background:
                            raise
                        log.failure(error, "a callback wanted to end the client's own thread")
            finally:
                self._calling.release()

    # -- the background --

    def _start_background(self) -> None:
        self._background_fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._background = threading.Thread(
            target=_run_background,
            args=(weakref.ref(self), self._background_fd, self._sockets.epoll),
            name="ottla-client",
            daemon=True,
        )
        self._background_ended = False
        self._background.start()

    def _kick_background(self) -> None:
        self._background_watches = self._background_sleeps = False
        os.eventfd_write(self._background_fd, 1)

    def background_turn(self) -> tuple[bool, float] | None:
        """What the background does when it is awake. Gives whether to wait for the sockets too, and how many
        milliseconds (negative: without end); None to end.
        """
        with self.lock:
            self._background_watches = self._background_sleeps = False
            if self._closed:
                self._background_ended = True
                self._release()
                return None
            if self._driver > 0:
                # Busy with many short visits: look again. With one long one: its end will be told.
                seen, self._background_visits = self._background_visits, self._visits
                self._background_sleeps = seen == self._visits
                return False, -1 if self._background_sleeps else STANDBY_MS
            now_ms = self.clock.monotonic_ms()
            quiet_ms = now_ms - self._user_ms
            if quiet_ms < QUIET_MS:
                self._driver = NOBODY
                seen, self._background_visits = self._background_visits, self._visits
                wait_ms = QUIET_MS - quiet_ms if seen == self._visits else STANDBY_MS
                if not self._callbacks:
                    return False, wait_ms
            else:
                self._driver = BACKGROUND
                if self._sockets.woken:  # somebody was called who had left already
                    self._sockets.clear_wake()
                self._poll()
        if self._callbacks:
            self._call_back()
        with self.lock:
            if self._closed or self._driver != BACKGROUND or self._scheduler.ready:
                return False, 0
            now_ms = self.clock.monotonic_ms()
            timer_ms = self._scheduler.next_timer_ms()
            self._wait_until_ms = math.inf if timer_ms is None else timer_ms
            self._background_watches = True
            return True, -1 if timer_ms is None else max(0.0, timer_ms - now_ms)


def _run_background(reference: weakref.ref[ThreadedRuntime], wake_fd: int, epoll: select.epoll) -> None:
    """The background's thread. While it waits it holds no runtime, so that one that nobody uses any more can
    be collected.
    """
    sleeping, watching = select.poll(), select.poll()
    sleeping.register(wake_fd, select.POLLIN)
    watching.register(wake_fd, select.POLLIN)
    watching.register(epoll.fileno(), select.POLLIN)
    while True:
        runtime = reference()
        try:
            plan = None if runtime is None else runtime.background_turn()
        except Exception as error:  # a bug of ours; whoever waits must not wait for ever
            log.failure(error, "the client's background failed, and the client is closed")
            assert runtime is not None
            runtime.close()
            continue
        finally:
            del runtime
        if plan is None:
            break
        watch, wait_ms = plan
        (watching if watch else sleeping).poll(None if wait_ms < 0 else math.ceil(wait_ms))
        with suppress(BlockingIOError):
            os.eventfd_read(wake_fd)
    os.close(wake_fd)


def _nothing() -> None:
    pass


def _seconds(duration_ms: float) -> float:
    """For epoll: at least 0, negative for without end."""
    return -1 if duration_ms == math.inf else max(0.0, duration_ms / 1000)


def _timeout(duration_ms: float) -> float | None:
    return None if duration_ms == math.inf else max(0.0, duration_ms / 1000)
