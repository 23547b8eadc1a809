"""A cleaner as a process of its own: `python -m ottla.broker.cleaner_process <nice>`.

It reads a job from stdin, does it, writes the answer to stdout, and ends when stdin does. The broker
may be killed at any time: then the kernel ends this process too (and where it cannot be asked for that, the
next word to stdout finds nobody). Compaction computes a lot in Python; beside the broker's loop in one
process it would take the loop's time, here it takes another core's, with a lower priority.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress
from typing import Final

from ottla.broker.cleaner_messages import ALIVE, decode_job, encode_failure, encode_result
from ottla.log.cleaner.cleaner import clean
from ottla.log.cleaning_job import CleaningFailed
from ottla.net.disk import OsDisk

ALIVE_INTERVAL_S: Final = 1.0
_PR_SET_PDEATHSIG: Final = 1
_OPEN_FILES_MAX: Final = 64


class _Pulse:
    """Tells the broker now and then that the work goes on; asked for the time and for pauses by the work."""

    def __init__(self) -> None:
        self._next_s = time.monotonic() + ALIVE_INTERVAL_S

    def now(self) -> float:
        now_s = time.monotonic()
        if now_s >= self._next_s:
            self._next_s = now_s + ALIVE_INTERVAL_S
            _say(ALIVE)
        return now_s

    def pause(self, duration_s: float) -> None:
        end_s = self.now() + duration_s
        while (left_s := end_s - self.now()) > 0:
            time.sleep(min(left_s, ALIVE_INTERVAL_S))


def main() -> int:
    _end_with_the_broker()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole terminal; the broker says when
    with suppress(OSError, ValueError, IndexError):
        os.nice(int(sys.argv[1]))
    lines = iter(sys.stdin.buffer)
    while (job := decode_job(lines)) is not None:
        pulse = _Pulse()
        disk = OsDisk(open_files_max=_OPEN_FILES_MAX)
        try:
            answer = encode_result(clean(job, disk, now=pulse.now, pause=pulse.pause))
        except CleaningFailed as failed:
            answer = encode_failure(failed)
        except OSError as error:
            answer = encode_failure(CleaningFailed(str(error), errno=error.errno))
        finally:
            disk.close_idle()
        _say(answer)
    return 0


def _end_with_the_broker() -> None:
    broker = os.getppid()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != broker:  # it died before the kernel knew
        os._exit(1)


def _say(line: bytes) -> None:
    try:
        left = memoryview(line)
        while left:
            left = left[os.write(1, left) :]
    except BrokenPipeError:
        os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
