"""Ctrl-C while waiting interrupts; while working it is remembered; twice ends at once."""

from __future__ import annotations

import os
import signal

import pytest

from ottla.cli.interrupt import Interrupted, Interruptible


def test_a_signal_during_work_is_noticed_at_the_next_wait() -> None:
    with Interruptible() as interruptible:
        os.kill(os.getpid(), signal.SIGINT)
        assert interruptible.signal_number == signal.SIGINT
        with pytest.raises(Interrupted), interruptible.waiting():
            pytest.fail("a wait began after the signal")
        assert interruptible.exit_code == 130


def test_a_signal_during_a_wait_ends_it() -> None:
    with Interruptible() as interruptible, pytest.raises(Interrupted), interruptible.waiting():
        os.kill(os.getpid(), signal.SIGTERM)
    assert interruptible.exit_code == 143


def test_a_second_ctrl_c_does_not_wait() -> None:
    with Interruptible():
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_the_handlers_from_before_come_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interruptible() as interruptible:
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before
    assert interruptible.exit_code == 0
