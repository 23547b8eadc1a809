"""One run: a broker, the steady load beside it, the members; forming, resting, rounds; figures by period.

Figures of a period are flat numbers; times are in the units of their names. `stable_s` counts from the last
new member's first request (or the last leave) until every member of every group has its part of the newest
assignment; `after_news_ms` from when the last heartbeat left that told a member of it, which is the part
that the brokers differ in: before it, everybody waits for heartbeats.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import machine
from groups.brokers import Broker, add_topic
from groups.steady import Steady
from systems import Running

Figures = dict[str, Any]

RECORD_BYTES = 1000
KINDS = ("paced", "at_once")


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run does."""

    groups: int = 200
    members: int = 5
    partitions: int = 20
    mb_per_s: float = 20.0
    processes: int = 1
    rest_s: float = 3.0
    paced: tuple[int, ...] = (1, -1, 1)
    at_once: tuple[int, ...] = (-1, 1, -1)
    windows_s: bool = True
    """Rounds are measured for a fixed time, so that their CPU seconds compare; else until all are stable."""


WINDOWS_S = {
    ("classic", "paced"): 3.5,
    ("classic", "at_once"): 2.0,
    ("consumer", "paced"): 4.5,
    ("consumer", "at_once"): 2.5,
}


class Missing(Exception):
    """The broker does not serve what the protocol needs, or its groups do not even form."""


class Members:
    """The members' processes, moved together."""

    def __init__(self, plan: Plan, address: str, topic: str, protocol: str) -> None:
        shares = [
            plan.groups // plan.processes + (number < plan.groups % plan.processes)
            for number in range(plan.processes)
        ]
        program = [sys.executable, "-m", "groups.members"]
        self._processes = [
            subprocess.Popen(
                [*program, address, topic, protocol, str(share), str(plan.members), f"{topic}-{number}"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for number, share in enumerate(shares)
        ]
        for each in self._answers():
            if "missing" in each:
                raise Missing(f"the broker does not serve {', '.join(each['missing'])}")

    def do(self, action: str, **arguments: Any) -> list[Figures]:
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.write(json.dumps({"do": action, **arguments}) + "\n")
            process.stdin.flush()
        return self._answers()

    def _answers(self) -> list[Figures]:
        answers = []
        for process in self._processes:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(f"a process of members ended by itself, with {process.wait()}")
            answers.append(json.loads(line))
        return answers

    def close(self) -> None:
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.close()
            process.wait()


def run(broker: Broker, program: Path, plan: Plan, protocol: str, name: str) -> Figures:
    """`name` is this run's own: it names its topics and groups."""
    running = broker.started(name, plan.partitions)
    said: Figures = {}
    try:
        add_topic(running.address, f"{name}-load", 1)
        found = _measured(running, program, plan, protocol, name)
    finally:
        if not broker.keeps_running:
            said = running.stop()
    found["whole"] |= said
    return found


def _measured(running: Running, program: Path, plan: Plan, protocol: str, name: str) -> Figures:
    idle_mb = machine.memory_mb(running.pid)["rss_mb"]
    steady = Steady(
        program, running.address, f"{name}-load", record_bytes=RECORD_BYTES, mb_per_s=plan.mb_per_s
    )
    try:
        time.sleep(1.0)  # of steady load, which is what the memory is measured under
        loaded_mb = machine.memory_mb(running.pid)["rss_mb"]
        members = Members(plan, running.address, name, protocol)
        try:
            period = Period(running, steady, members)
            found: Figures = {"form": period.measured("form")}
            if found["form"]["not_stable"]:
                errors = found["form"]["errors"]
                raise Missing(f"{found['form']['not_stable']} groups did not form; errors: {errors}")
            found["rest"] = period.measured("rest", seconds=plan.rest_s)
            grouped_mb = machine.memory_mb(running.pid)["rss_mb"]
            for kind in KINDS:
                found[kind] = []
                for change in getattr(plan, kind):
                    window_s = WINDOWS_S[protocol, kind] if plan.windows_s else 0.0
                    order = {"change": change, "window_s": window_s, "at_once": kind == "at_once"}
                    figures = period.measured("round", **order)
                    figures["confirmed"] = sum(each["confirmed"] for each in members.do("confirm"))
                    found[kind].append(figures)
            found["whole"] = {
                "idle_rss_mb": idle_mb,
                "loaded_rss_mb": loaded_mb,
                "grouped_rss_mb": grouped_mb,
                "groups_mb": grouped_mb - loaded_mb,
                **machine.memory_mb(running.pid),
            }
            members.do("end")
        finally:
            members.close()
    finally:
        steady.stop()
    return found


class Period:
    """Measures everybody during one action of the members."""

    def __init__(self, running: Running, steady: Steady, members: Members) -> None:
        self._running = running
        self._steady = steady
        self._members = members

    def measured(self, action: str, **arguments: Any) -> Figures:
        self._steady.period()
        usage = machine.Usage.begin(self._running.pid)
        began = time.monotonic()
        answers = self._members.do(action, **arguments)
        seconds = time.monotonic() - began
        beside = self._steady.period()
        own = beside.pop("cpu_s")
        used = usage.end(own + sum(each["cpu_s"] for each in answers))
        return {
            **_times(answers),
            **_clients(answers, own, seconds),
            **beside,
            **used,
            "seconds": seconds,
            "broker_cores": used["broker_cpu_s"] / seconds,
            "errors": _errors(answers),
        }


def _times(answers: list[Figures]) -> Figures:
    """How long requests took, and (of rounds) how long it took until all were stable."""
    figures: Figures = {}
    kinds = sorted({kind for each in answers for kind in each["took_ms"]})
    for kind in kinds:
        times = sorted(ms for each in answers for ms in each["took_ms"].get(kind, ()))
        figures[f"{kind}_count"] = len(times)
        for share, suffix in ((0.5, "p50"), (0.99, "p99"), (1.0, "max")):
            figures[f"{kind}_{suffix}_ms"] = percentile(times, share)
    if "stable_at" in answers[0]:
        figures["not_stable"] = sum(each["not_stable"] for each in answers)
        stable_at = sorted(at for each in answers for at in each["stable_at"])
        if stable_at:
            last_join_at = max(each["last_join_at"] for each in answers)
            figures["joins_s"] = last_join_at - min(each["began_at"] for each in answers)
            figures["stable_s"] = stable_at[-1] - last_join_at
            figures["stable_p50_s"] = percentile(stable_at, 0.5) - last_join_at
            news_sent_at = max(each["news_sent_at"] for each in answers)
            if news_sent_at:
                figures["after_news_ms"] = (stable_at[-1] - news_sent_at) * 1000
    return figures


def _clients(answers: list[Figures], beside_cpu_s: float, seconds: float) -> Figures:
    lag = sorted(ms for each in answers for ms in each["lag_ms"])
    return {
        "members_cores": sum(each["cpu_s"] for each in answers) / seconds,
        "beside_cores": beside_cpu_s / seconds,
        "members_lag_p99_ms": percentile(lag, 0.99),
        "members_lag_max_ms": percentile(lag, 1.0),
    }


def _errors(answers: list[Figures]) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in answers:
        for error, count in each["errors"].items():
            found[error] = found.get(error, 0) + count
    return found


def percentile(ordered: list[float], share: float) -> float:
    """The smallest value that this share of them does not exceed; 0 of none."""
    return ordered[max(0, math.ceil(len(ordered) * share) - 1)] if ordered else 0.0
