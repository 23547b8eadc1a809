"""Several child processes as one command: their lines with their names before them, one signal for all.

One thread waits for everything at once: lines of the children, signals, calls from other threads, and the
next deadline. A child that ends by itself is reported and started again after a pause that doubles with each
end and is forgotten after a minute of life; before everybody was ready, one that ends with an error ends the
whole (a port in use stays in use). The first SIGINT, SIGTERM or SIGHUP sends SIGTERM to all at once, since
they would wait for each other if they were stopped in turn; who has not ended after a while is killed. The
second signal kills.

A child gets a session of its own, so that Ctrl-C reaches it only through here, and a pipe as standard input
that closes when this process ends, however it ends (`supervised.py`).
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import FrameType
from typing import Any, Final

STOP_S_MAX: Final = 45.0
"""A broker's own clean stop takes a controlled shutdown and up to five seconds for its connections."""
PAUSE_S_FIRST: Final = 1.0
PAUSE_S_MAX: Final = 30.0
STABLE_S: Final = 60.0
"""A child that lived for so long is no longer one that fails at once."""
LINE_BYTES_MAX: Final = 64 * 1024
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Child:
    def __init__(self, name: str, command: Sequence[str], pause_s: float) -> None:
        self.name = name
        self.command = command
        self.process: subprocess.Popen[bytes] | None = None
        self.started_s = 0.0
        self.pause_s = pause_s
        self.start_at_s: float | None = None
        """When it is to be started again."""
        self.unfinished = bytearray()
        self.last_line = ""

    @property
    def alive(self) -> bool:
        return self.process is not None


class Supervisor:
    def __init__(
        self,
        commands: Mapping[str, Sequence[str]],
        *,
        report: Callable[[str], None],
        restart: bool = True,
        stop_s_max: float = STOP_S_MAX,
        pause_s_first: float = PAUSE_S_FIRST,
    ) -> None:
        self._children = [Child(name, command, pause_s_first) for name, command in commands.items()]
        self._width = max(len(name) for name in commands)
        self._report = report
        self._restart = restart
        self._stop_s_max = stop_s_max
        self._pause_s_first = pause_s_first
        self._selector = selectors.DefaultSelector()
        self._wake_read, self._wake_write = os.pipe()
        for fd in (self._wake_read, self._wake_write):
            os.set_blocking(fd, False)
        self._calls: deque[Callable[[], None]] = deque()
        self._ready = False
        self._signals: list[int] = []
        self._handled = 0
        self._kill_at_s: float | None = None
        self._code = 0

    # -- from other threads

    def call_soon(self, function: Callable[[], None]) -> None:
        """Has a function called by the thread that runs this."""
        self._calls.append(function)
        self._wake()

    def became_ready(self, announce: Callable[[], None]) -> None:
        if not self._stopping:
            self._ready = True
            announce()

    def _wake(self) -> None:
        with suppress(BlockingIOError):  # full of wakeups is awake enough
            os.write(self._wake_write, b"\0")

    # -- the loop

    @property
    def _stopping(self) -> bool:
        return self._kill_at_s is not None

    def run(self) -> int:
        """Starts all, and returns when all have ended."""
        before: dict[int, Any] = {number: signal.signal(number, self._on_signal) for number in SIGNALS}
        self._selector.register(self._wake_read, selectors.EVENT_READ)
        try:
            for child in self._children:
                self._start(child)
            while any(child.alive or child.start_at_s is not None for child in self._children):
                self._turn()
        finally:
            for child in self._children:
                if child.process is not None:
                    child.process.kill()
                    child.process.wait()
            for number, handler in before.items():
                signal.signal(number, handler)
            self._selector.close()
            os.close(self._wake_read)
        if not self._stopping:
            self._report("every broker has ended")
            return 1
        return self._code

    def _turn(self) -> None:
        for key, _ in self._selector.select(self._wait_s()):
            if key.fileobj == self._wake_read:
                with suppress(BlockingIOError):
                    os.read(self._wake_read, 4096)
            else:
                self._take_lines(key.data)
        while self._calls:
            self._calls.popleft()()
        while self._handled < len(self._signals):
            self._handled += 1
            self._react(self._signals[self._handled - 1])
        now_s = time.monotonic()
        for child in self._children:
            if child.process is not None and child.process.poll() is not None:
                self._ended(child)
            elif child.start_at_s is not None and child.start_at_s <= now_s:
                self._start(child)
        if self._kill_at_s is not None and self._kill_at_s <= now_s:
            self._kill_all(f"not ended after {self._stop_s_max:.0f} s")

    def _wait_s(self) -> float:
        """Until the next deadline. An ended child shows at the end of its output; where somebody else still
        holds that open, it is noticed a little later.
        """
        deadlines = [child.start_at_s for child in self._children if child.start_at_s is not None]
        if self._kill_at_s is not None:
            deadlines.append(self._kill_at_s)
        left_s = min(deadlines, default=float("inf")) - time.monotonic()
        return min(0.5, max(0.0, left_s))

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._signals.append(number)
        self._wake()

    def _react(self, number: int) -> None:
        if self._handled > 1:
            self._code = 128 + number
            self._kill_all(f"a second {signal.Signals(number).name}")
            return
        self._report(f"{signal.Signals(number).name}: stopping {self._living()}")
        self._stop_all()

    def _living(self) -> str:
        return ", ".join(child.name for child in self._children if child.alive) or "nothing"

    def _stop_all(self) -> None:
        self._kill_at_s = time.monotonic() + self._stop_s_max
        for child in self._children:
            child.start_at_s = None
            if child.process is not None:
                child.process.send_signal(signal.SIGTERM)

    def _kill_all(self, why: str) -> None:
        self._report(f"{why}: killing {self._living()}")
        self._code = self._code or 1
        self._kill_at_s = float("inf")
        for child in self._children:
            if child.process is not None:
                child.process.kill()

    # -- one child

    def _start(self, child: Child) -> None:
        child.start_at_s = None
        child.started_s = time.monotonic()
        child.process = subprocess.Popen(
            child.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
        )
        assert child.process.stdout is not None
        os.set_blocking(child.process.stdout.fileno(), False)
        self._selector.register(child.process.stdout, selectors.EVENT_READ, child)

    def _take_lines(self, child: Child) -> bool:
        """Shows what is there; False when there is nothing more, for now or for good."""
        assert child.process is not None and child.process.stdout is not None
        try:
            data = os.read(child.process.stdout.fileno(), LINE_BYTES_MAX)
        except BlockingIOError:
            return False
        if not data:
            self._selector.unregister(child.process.stdout)
            with suppress(subprocess.TimeoutExpired):  # closed its output; now it ends, most likely
                child.process.wait(0.2)
            return False
        child.unfinished += data
        *lines, rest = child.unfinished.split(b"\n")
        if len(rest) > LINE_BYTES_MAX:
            lines, rest = [*lines, rest], bytearray()
        child.unfinished = rest
        for line in lines:
            self._show(child, line.decode(errors="replace"))
        return True

    def _show(self, child: Child, line: str) -> None:
        if line.strip():
            child.last_line = line
        self._report(f"{child.name:<{self._width}} | {line}")

    def _ended(self, child: Child) -> None:
        process = child.process
        assert process is not None and process.stdout is not None and process.stdin is not None
        if process.stdout in self._selector.get_map():
            while self._take_lines(child):
                pass
        if process.stdout in self._selector.get_map():
            self._selector.unregister(process.stdout)
        if child.unfinished:
            self._show(child, child.unfinished.decode(errors="replace"))
            child.unfinished = bytearray()
        process.stdout.close()
        process.stdin.close()
        code = process.returncode
        child.process = None
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        if self._stopping:
            if code not in (0, -signal.SIGTERM):
                self._code = self._code or 1
                self._report(f"{child.name} ended {how}")
            return
        if not self._ready and code > 0:
            self._report(f"{child.name} cannot start ({how}): {child.last_line}")
            self._code = 1
            self._stop_all()
            return
        if not self._restart:
            self._report(f"{child.name} ended {how}; it is not started again (--no-restart)")
            return
        lived_s = time.monotonic() - child.started_s
        if lived_s >= STABLE_S:
            child.pause_s = self._pause_s_first
        pause_s, child.pause_s = child.pause_s, min(PAUSE_S_MAX, child.pause_s * 2)
        child.start_at_s = time.monotonic() + pause_s
        self._report(f"{child.name} ended {how} after {lived_s:.0f} s; it is started again in {pause_s:g} s")
