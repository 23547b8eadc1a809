"""What the kernel says about this machine and its processes: facts for the report, CPU time, memory, files.

CPU time is read from the process's own CPU clock (nanoseconds, all threads, ended ones included), because a
tick of /proc/PID/stat is 10 ms. A run also notes how many cores everybody else kept busy: on a shared machine
this tells which throughput figures mean something.
"""

from __future__ import annotations

import os
import platform
import time
from dataclasses import dataclass
from pathlib import Path

_PROCESS_CPU_CLOCK = 2  # the kernel's CPUCLOCK_SCHED
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def facts() -> dict[str, str]:
    """Machine facts without names of hosts or paths."""
    cpu = memory = "unknown"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.split(":", 1)[1].strip()
            break
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemTotal"):
            memory = f"{int(line.split()[1]) / 1e6:.0f} GB"
    return {
        "cores": str(os.cpu_count()),
        "cpu": cpu,
        "memory": memory,
        "kernel": platform.release(),
        "python": platform.python_version(),
    }


def process_cpu_s(pid: int) -> float:
    return time.clock_gettime((~pid << 3) | _PROCESS_CPU_CLOCK)


def process_system_cpu_s(pid: int) -> float:
    """The part of the CPU time that was spent in the kernel."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[12]) / _TICKS_PER_S


def memory_mb(pid: int) -> dict[str, float]:
    """Resident memory now and at its highest."""
    found = {}
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        key, _, value = line.partition(":")
        if key in ("VmRSS", "VmHWM"):
            found[key] = int(value.split()[0]) * 1024 / 1e6
    return {"rss_mb": found["VmRSS"], "rss_mb_max": found["VmHWM"]}


def open_files(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def busy_s() -> float:
    """Seconds that all cores together have spent on anything since boot, stolen time included."""
    user, nice, system, _idle, _iowait, irq, softirq, steal = (
        int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    )
    return (user + nice + system + irq + softirq + steal) / _TICKS_PER_S


@dataclass(slots=True)
class Usage:
    """What a process used between `begin` and `end`."""

    pid: int
    began_s: float
    cpu_s: float
    system_s: float
    busy_s: float

    @classmethod
    def begin(cls, pid: int) -> Usage:
        return cls(pid, time.monotonic(), process_cpu_s(pid), process_system_cpu_s(pid), busy_s())

    def end(self, client_cpu_s: float = 0.0) -> dict[str, float]:
        elapsed_s = time.monotonic() - self.began_s
        cpu_s = process_cpu_s(self.pid) - self.cpu_s
        others_s = busy_s() - self.busy_s - cpu_s - client_cpu_s
        return {
            "broker_cpu_s": cpu_s,
            "broker_system_s": process_system_cpu_s(self.pid) - self.system_s,
            "others_cores": max(0.0, others_s / elapsed_s),
            "load_average": os.getloadavg()[0],
        }
