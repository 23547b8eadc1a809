"""The broker's side of its cleaner processes: started when there is something to clean, ended when there is
not.

Implements `CleaningWorker` for asyncio. A job takes an idle process or starts one, and waits for its answer;
a process that says nothing for long, that ends, or that talks nonsense is killed and replaced by the next
job. So is one whose job nobody wants any more (the topic was deleted), since a job cannot be stopped
otherwise. An idle process is ended after a while, and the memory of its table of keys with it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from ottla.broker.cleaner import WorkerLost
from ottla.broker.cleaner_messages import decode_answer, encode_job
from ottla.log.cleaning_job import CleaningFailed, CleaningJob, CleaningResult
from ottla.ports.clock import Clock
from ottla.ports.effects import Sleep, Steps, Waiter

IDLE_S: Final = 30.0
SILENCE_MS_MAX: Final = 300_000.0
"""A process says every second that it lives; a disk may hold it up for longer than one would think."""
LOOK_INTERVAL_MS: Final = 1_000.0
NICE: Final = 10
ANSWER_BYTES_MAX: Final = 64 * 1024 * 1024
"""A hundred bytes for each new segment: more than any log has."""
_READ_BYTES: Final = 64 * 1024
_REAP_INTERVAL_S: Final = 0.2
_END_S_MAX: Final = 2.0

COMMAND: Final = (sys.executable, "-m", "ottla.broker.cleaner_process", str(NICE))

_log = logging.getLogger(__name__)


class _Process:
    """One child: a line out, lines in, on the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, clock: Clock, command: tuple[str, ...]) -> None:
        self._loop = loop
        self._clock = clock
        self._child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, close_fds=True
        )
        assert self._child.stdin is not None and self._child.stdout is not None
        self._in_fd = self._child.stdin.fileno()
        self._out_fd = self._child.stdout.fileno()
        os.set_blocking(self._in_fd, False)
        os.set_blocking(self._out_fd, False)
        self._unsent: deque[bytes] = deque()
        self._received = bytearray()
        self.answer: CleaningResult | CleaningFailed | None = None
        self.lost: str | None = None
        """Why it is of no use any more."""
        self.heard_ms = clock.monotonic_ms()
        self.waiter: Waiter | None = None
        self.idle_timer: asyncio.TimerHandle | None = None
        self._ended = False
        loop.add_reader(self._out_fd, self._on_readable)

    @property
    def pid(self) -> int:
        return self._child.pid

    def begin(self) -> None:
        self.answer = None
        self.heard_ms = self._clock.monotonic_ms()

    def send(self, line: bytes) -> None:
        self._unsent.append(line)
        if len(self._unsent) == 1:
            self._on_writable()
            if self._unsent and self.lost is None:
                self._loop.add_writer(self._in_fd, self._on_writable)

    def _on_writable(self) -> None:
        unsent = self._unsent
        try:
            while unsent:
                written = os.write(self._in_fd, unsent[0])
                if written < len(unsent[0]):
                    unsent[0] = unsent[0][written:]
                    return
                unsent.popleft()
        except BlockingIOError:
            return
        except OSError as error:
            self._lose(f"it takes no job: {error}")
            return
        self._loop.remove_writer(self._in_fd)

    def _on_readable(self) -> None:
        try:
            data = os.read(self._out_fd, _READ_BYTES)
        except BlockingIOError:
            return
        except OSError as error:
            self._lose(str(error))
            return
        if not data:
            self._lose("it ended")
            return
        self.heard_ms = self._clock.monotonic_ms()
        self._received += data
        if len(self._received) > ANSWER_BYTES_MAX:
            self._lose("its answer has no end")
            return
        *lines, rest = self._received.split(b"\n")
        self._received = rest
        try:
            for line in lines:
                answer = decode_answer(bytes(line))
                if answer is not None:
                    self.answer = answer
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._lose(f"it said something that makes no sense: {error}")
        if self.answer is not None:
            self._tell()

    def _lose(self, why: str) -> None:
        if self.lost is None:
            self.lost = why
            self._loop.remove_reader(self._out_fd)
            self._loop.remove_writer(self._in_fd)
            self._tell()

    def _tell(self) -> None:
        if self.waiter is not None:
            self.waiter.fire()

    def end(self) -> int | None:
        """Kills it. Its exit code (or, negative, its signal) if it is gone already: to take back a table of
        keys takes the kernel some milliseconds, which the loop does not wait for.
        """
        self._lose("it was ended")
        if self.idle_timer is not None:
            self.idle_timer.cancel()
            self.idle_timer = None
        if not self._ended:
            self._ended = True
            with suppress(ProcessLookupError):
                self._child.kill()
            for pipe in (self._child.stdin, self._child.stdout):
                if pipe is not None:
                    pipe.close()
            self._reap()
        return self._child.returncode

    def _reap(self) -> None:
        if self._child.poll() is None and not self._loop.is_closed():
            self._loop.call_later(_REAP_INTERVAL_S, self._reap)

    @property
    def is_gone(self) -> bool:
        return self._child.poll() is not None

    def wait(self) -> None:
        """For the end of the broker; a process that the disk holds up ends when it can."""
        with suppress(subprocess.TimeoutExpired):
            self._child.wait(timeout=_END_S_MAX)


class CleanerPool:
    """Implements `broker.cleaner.CleaningWorker`."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        clock: Clock,
        *,
        command: tuple[str, ...] = COMMAND,
        idle_s: float = IDLE_S,
        silence_ms_max: float = SILENCE_MS_MAX,
    ) -> None:
        self._loop = loop
        self._clock = clock
        self._command = command
        self._idle_s = idle_s
        self._silence_ms_max = silence_ms_max
        self._idle: list[_Process] = []
        self._busy: dict[_Process, None] = {}
        self._dying: list[_Process] = []
        """Killed, and perhaps not gone yet."""

    @property
    def pids(self) -> list[int]:
        return [process.pid for process in (*self._busy, *self._idle)]

    def clean(self, job: CleaningJob, wanted: Callable[[], bool]) -> Steps[CleaningResult]:
        process = self._take()
        try:
            process.begin()
            for line in encode_job(job):
                if process.lost is not None:
                    break
                process.send(line)
                yield Sleep(0)
            while (answer := process.answer) is None:
                self._check(process)
                if not wanted():
                    raise WorkerLost("nobody wants it any more")
                process.waiter = Waiter(self._clock.monotonic_ms() + LOOK_INTERVAL_MS)
                yield process.waiter
                process.waiter = None
        finally:
            self._busy.pop(process, None)
            if process.answer is None or process.lost is not None:
                process.end()
                self._dying = [each for each in (*self._dying, process) if not each.is_gone]
        self._rest(process)
        if isinstance(answer, CleaningFailed):
            raise answer
        return answer

    def _check(self, process: _Process) -> None:
        why = process.lost
        if why is None and self._clock.monotonic_ms() - process.heard_ms > self._silence_ms_max:
            why = f"it was silent for {self._silence_ms_max / 1000:.0f} s"
        if why is not None:
            pid = process.pid
            code = process.end()
            raise WorkerLost(f"the cleaner process {pid} is gone: {why} (exit code {code})")

    def _take(self) -> _Process:
        while self._idle:
            process = self._idle.pop()
            if process.idle_timer is not None:
                process.idle_timer.cancel()
                process.idle_timer = None
            if process.lost is None:
                break
            process.end()
        else:
            try:
                process = _Process(self._loop, self._clock, self._command)
            except OSError as error:
                raise WorkerLost(f"a cleaner process cannot be started: {error}") from error
            _log.debug("cleaner process %d started", process.pid)
        self._busy[process] = None
        return process

    def _rest(self, process: _Process) -> None:
        if process.lost is None:
            self._idle.append(process)
            process.idle_timer = self._loop.call_later(self._idle_s, self._idled, process)

    def _idled(self, process: _Process) -> None:
        if process in self._idle:
            self._idle.remove(process)
            process.end()

    def close(self) -> None:
        """Ends all of them; what they were writing is thrown away by the next start. Also those are waited
        for whose jobs were given up: nobody may write into a directory whose lock is given back.
        """
        processes = (*self._busy, *self._idle, *self._dying)
        self._busy.clear()
        self._idle.clear()
        self._dying.clear()
        for process in processes:
            process.end()
        for process in processes:
            process.wait()
