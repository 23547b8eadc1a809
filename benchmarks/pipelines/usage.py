"""CPU time of everything that a Spark query runs in: broker, JVM, Python workers.

Python workers are children of the JVM, start and end as Spark likes, and fork children of their own; what an
ended process used is found in its parent's figures.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

import machine

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class _Process:
    pid: int
    parent: int
    own_s: float
    ended_children_s: float


def _processes() -> dict[int, _Process]:
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # it has ended meanwhile
        user, system, children_user, children_system = (int(field) for field in fields[11:15])
        pid = int(entry.name)
        found[pid] = _Process(
            pid,
            int(fields[1]),
            (user + system) / _TICKS_PER_S,
            (children_user + children_system) / _TICKS_PER_S,
        )
    return found


def python_cpu_s(jvm_pid: int) -> float:
    """All that the JVM's children have used, ended ones included."""
    processes = _processes()
    children: dict[int, list[int]] = {}
    for process in processes.values():
        children.setdefault(process.parent, []).append(process.pid)
    total_s = processes[jvm_pid].ended_children_s
    waiting = list(children.get(jvm_pid, ()))
    while waiting:
        process = processes[waiting.pop()]
        total_s += process.own_s + process.ended_children_s
        waiting += children.get(process.pid, ())
    return total_s


class Usage:
    """What a query used between `begin` and `end`."""

    def __init__(self, broker_pid: int, jvm_pid: int) -> None:
        self._pids = {"broker_cpu_s": broker_pid, "jvm_cpu_s": jvm_pid}
        self._jvm_pid = jvm_pid
        self._began: dict[str, float] = {}

    def _now(self) -> dict[str, float]:
        now = {name: machine.process_cpu_s(pid) for name, pid in self._pids.items()}
        now["python_cpu_s"] = python_cpu_s(self._jvm_pid)
        now["busy_s"] = machine.busy_s()
        now["seconds"] = time.perf_counter()
        return now

    def begin(self) -> None:
        self._began = self._now()

    def end(self) -> dict[str, float]:
        used = {name: value - self._began[name] for name, value in self._now().items()}
        ours_s = used["broker_cpu_s"] + used["jvm_cpu_s"] + used["python_cpu_s"]
        used["others_cores"] = max(0.0, used.pop("busy_s") - ours_s) / used["seconds"]
        return used
