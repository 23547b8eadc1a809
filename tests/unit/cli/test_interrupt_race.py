"""A signal between the last check and the blocking call must not be slept through."""

from __future__ import annotations

import os
import select
import signal

import pytest

from ottla.cli.interrupt import Interrupted, Interruptible


def test_every_signal_makes_the_wakeup_descriptor_readable() -> None:
    with Interruptible() as interruptible:
        os.kill(os.getpid(), signal.SIGTERM)
        ready, _, _ = select.select([interruptible.wakeup_fd], [], [], 5)
        assert ready == [interruptible.wakeup_fd]
        with pytest.raises(Interrupted), interruptible.waiting():
            raise AssertionError("a signal that had come before is noticed at the next wait")
        assert interruptible.exit_code == 128 + signal.SIGTERM


def test_the_handlers_and_the_wakeup_descriptor_are_given_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with Interruptible():
        assert signal.getsignal(signal.SIGTERM) != before
    assert signal.getsignal(signal.SIGTERM) == before
    assert signal.set_wakeup_fd(-1) == -1
