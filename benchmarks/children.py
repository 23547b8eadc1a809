"""Processes that a benchmark starts: they end with it, however it ends, and Ctrl-C reaches the benchmark
alone, which then stops them in order and writes what it has.
"""

from __future__ import annotations

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def die_with_the_run() -> None:
    """In a child before its program starts (`preexec_fn`)."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    os.setsid()
