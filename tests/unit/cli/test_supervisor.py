"""The supervisor of `ottla start --brokers`, with small programs in the place of brokers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ottla.cli.supervisor import Supervisor
from support.waiting import wait_until

pytestmark = pytest.mark.timeout(60)

WAITS = "import signal, sys; print('up', flush=True); signal.sigwait({signal.SIGTERM}); print('bye')"
STUBBORN = "import time; print('up', flush=True); time.sleep(60)"  # the signal is blocked


def program(source: str) -> list[str]:
    return [sys.executable, "-c", "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, {15})\n" + source]


class Reports:
    """What was reported; calls `when[text]` once a line has that text."""

    def __init__(self, when: dict[str, Callable[[], None]] | None = None) -> None:
        self.lines: list[str] = []
        self._when = dict(when or {})

    def __call__(self, line: str) -> None:
        self.lines.append(line)
        for text in [text for text in self._when if text in line]:
            self._when.pop(text)()


def stop_me() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def test_lines_have_names_and_one_signal_stops_all() -> None:
    ups: list[int] = []

    class Counting(Reports):
        def __call__(self, line: str) -> None:
            super().__call__(line)
            if line.endswith("| up"):
                ups.append(1)
                if len(ups) == 2:
                    stop_me()

    reports = Counting()
    supervisor = Supervisor({"one": program(WAITS), "second": program(WAITS)}, report=reports)
    assert supervisor.run() == 0
    assert {"one    | up", "second | up", "one    | bye", "second | bye"} <= set(reports.lines)
    assert "SIGTERM: stopping one, second" in reports.lines


def test_a_child_that_dies_is_started_again(tmp_path: Path) -> None:
    first = tmp_path / "first"
    source = (
        f"import os, signal\nif not os.path.exists({str(first)!r}):\n"
        f"    open({str(first)!r}, 'w').close(); os.kill(os.getpid(), signal.SIGKILL)\n" + WAITS
    )
    reports = Reports({"a | up": stop_me})
    assert Supervisor({"a": program(source)}, report=reports, pause_s_first=0.01).run() == 0
    assert "a ended by SIGKILL after 0 s; it is started again in 0.01 s" in reports.lines


def test_without_restart_it_is_only_reported() -> None:
    reports = Reports()
    source = "import os; os.kill(os.getpid(), 9)"
    assert Supervisor({"a": program(source)}, report=reports, restart=False).run() == 1
    assert reports.lines == [
        "a ended by SIGKILL; it is not started again (--no-restart)",
        "every broker has ended",
    ]


def test_one_that_cannot_start_ends_the_others_too() -> None:
    reports = Reports()
    children = {"bad": program("print('port in use'); raise SystemExit(1)"), "good": program(WAITS)}
    assert Supervisor(children, report=reports).run() == 1
    assert "bad cannot start (with exit code 1): port in use" in reports.lines


def test_after_everybody_was_ready_one_that_fails_is_started_again() -> None:
    reports = Reports({"started again": stop_me})
    supervisor = Supervisor({"a": program("input(); raise SystemExit(1)")}, report=reports)
    supervisor.call_soon(lambda: supervisor.became_ready(lambda: reports("ready")))
    reports._when["ready"] = lambda: supervisor._children[0].process.stdin.write(b"\n")  # type: ignore[union-attr]
    assert supervisor.run() == 0
    assert any("with exit code 1" in line and "started again" in line for line in reports.lines)


def test_who_does_not_end_is_killed() -> None:
    reports = Reports({"a | up": stop_me})
    assert Supervisor({"a": program(STUBBORN)}, report=reports, stop_s_max=0.1).run() == 1
    assert "not ended after 0 s: killing a" in reports.lines


def test_a_second_signal_kills() -> None:
    reports = Reports({"a | up": stop_me, "stopping a": stop_me})
    assert Supervisor({"a": program(STUBBORN)}, report=reports).run() == 128 + signal.SIGTERM
    assert "a second SIGTERM: killing a" in reports.lines


def test_children_end_with_a_supervisor_that_was_killed(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    child = (
        "import os, time; from ottla.cli.supervised import stop_with_supervisor; stop_with_supervisor(); "
        f"open({str(pid_file)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    )
    source = (
        "import sys; from ottla.cli.supervisor import Supervisor; "
        f"Supervisor({{'a': [sys.executable, '-c', {child!r}]}}, report=print).run()"
    )
    supervisor = subprocess.Popen([sys.executable, "-c", source])
    try:
        text = wait_until(lambda: pid_file.exists() and pid_file.read_text(), "the child's pid", timeout_s=30)
    finally:
        supervisor.kill()
        supervisor.wait()
    stat = Path(f"/proc/{text}/stat")
    wait_until(
        lambda: not stat.exists() or stat.read_text().rpartition(") ")[2][0] == "Z",
        "the child's end",
        timeout_s=20,
    )
