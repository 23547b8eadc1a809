"""Where the broker's time goes: py-spy's samples of a run, summed per function."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import load_generator
from produce import Produce
from single_broker.subjects import Subject

RATE_HZ = 500
TOP = 25
WAITING = {"Workers._work (workers.py)", "EpollSelector.select (selectors.py)"}
"""Nothing to do, which is no work; py-spy cannot always tell."""


def py_spy() -> str | None:
    beside = Path(sys.executable).with_name("py-spy")
    return str(beside) if beside.exists() else shutil.which("py-spy")


def profile(subject: Subject, produce: Produce) -> dict[str, list[tuple[str, float]]] | None:
    """Shares of self time per function while producing and while reading it back; None without py-spy."""
    program = py_spy()
    if program is None:
        return None
    load = subject.tools.load
    with subject.topic(produce.partitions, produce.mb_per_s_max * produce.seconds) as place:
        # Sampling slows the broker down: what it shows are shares, so the load need not be the goal's.
        sampled, said = _sampled(program, place.pid, load, produce.arguments(place.address, place.topic))
        consume = ["consume", place.address, place.topic, produce.partitions, said["delivered"]]
        return {"produce": sampled, "fetch": _sampled(program, place.pid, load, consume)[0]}


def _sampled(
    program: str, pid: int, load: Path, arguments: list[object]
) -> tuple[list[tuple[str, float]], dict[str, int]]:
    with tempfile.TemporaryDirectory() as folder:
        stacks = Path(folder) / "stacks"
        # Without stopping the broker for a sample, and with the time in system calls.
        command = [program, "record", "--nonblocking", "--rate", str(RATE_HZ), "--format", "raw"]
        sampler = subprocess.Popen(
            [*command, "--output", str(stacks), "--pid", str(pid)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        said = load_generator.call(load, *arguments)
        sampler.send_signal(signal.SIGINT)  # what Ctrl-C does: it writes what it has
        sampler.wait(60)
        return summary(stacks.read_text()) if stacks.exists() else [], said


def summary(stacks: str) -> list[tuple[str, float]]:
    """py-spy's folded stacks ("a (f.py:1);b (g.py:2) 7") as functions by share of self time."""
    own: Counter[str] = Counter()
    for line in stacks.splitlines():
        stack, _, count = line.rpartition(" ")
        function = _short(stack.rsplit(";", 1)[-1])
        if stack and function not in WAITING:
            own[function] += int(count)
    total = sum(own.values())
    return [(name, round(count / total, 4)) for name, count in own.most_common(TOP)]


def _short(frame: str) -> str:
    """Function and file without folder and line."""
    function, _, place = frame.partition(" (")
    return f"{function} ({place.rsplit('/', 1)[-1].split(':')[0].rstrip(')')})"
