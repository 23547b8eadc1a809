"""`make bench`: one Ottla broker beside Apache Kafka, with the same clients, on this machine, in the same
minutes.

    PYTHONPATH=benchmarks python -m single_broker.run [--quick] [--only PART,...] [--systems NAME,...]

Parts are those of the plan, `profile`, and the other pages of the benchmarks (`--only clients` runs that
page). The results are written after every part; with `--only`, rows of other parts stay as they were. Ctrl-C
ends all brokers and writes what was measured until then. How to read the results: docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import resource
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import load_generator
import machine
import ottla
import page_cache
from ballast import Ballast
from peers.apache_kafka import PeerMissing, jars, version
from single_broker import further_pages, page, plots, requests
from single_broker.hot_spots import profile
from single_broker.java_throughput import java_command
from single_broker.plan import OURS, SYSTEMS, Plan, Row, subject
from single_broker.subjects import CeilingSubject, Subject, Tools
from spread import summed_up

REPOSITORY = Path(__file__).resolve().parent.parent.parent
PROFILE = "profile"

Figures = dict[str, Any]


def main() -> int:
    chosen = arguments()
    plan = Plan(quick=chosen.quick)
    parts = chosen.only.split(",") if chosen.only else [*plan.parts, PROFILE]
    unknown = set(parts) - {*plan.parts, PROFILE, *further_pages.PAGES}
    if unknown:
        sys.exit(f"no such part: {', '.join(sorted(unknown))}")
    # A broker with thousands of partitions has thousands of files.
    _, files_max = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files_max, files_max))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    bench = Bench(plan, chosen)
    code = 0
    try:
        for part in parts:
            if part in further_pages.PAGES:
                code |= further_pages.run(part, quick=chosen.quick)
            elif part == PROFILE:
                bench.profile()
            else:
                bench.measure(part)
            bench.write()
    except KeyboardInterrupt:
        print("\ninterrupted: ending the brokers", flush=True)
        code = 130
    finally:
        bench.close()
    for path in bench.write():
        print(f"wrote {os.path.relpath(path)}")
    print(page.goals(bench.result))
    print(f"\n{time.monotonic() - bench.began_s:.0f} s")
    return code


def arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(description="Measures one Ottla broker beside Apache Kafka.")
    options.add_argument("--quick", action="store_true", help="fewer and shorter rows: about 3 minutes")
    every = [*Plan(quick=False).parts, PROFILE, *further_pages.PAGES]
    options.add_argument("--only", default="", help=f"parts, of {','.join(every)}")
    options.add_argument("--rows", default="", help="only rows whose key contains this")
    options.add_argument("--systems", default=",".join(SYSTEMS), help=f"of {','.join(SYSTEMS)}")
    options.add_argument("--repeats", type=int, default=0, help="instead of the plan's")
    options.add_argument("--data", type=Path, help="where brokers put their data (the temporary folder)")
    options.add_argument("--results", type=Path, default=REPOSITORY / "benchmarks" / "results")
    return options.parse_args()


class Bench:
    """The systems that take part, and what was found out about them so far."""

    def __init__(self, plan: Plan, chosen: argparse.Namespace) -> None:
        self.began_s = time.monotonic()
        self._plan = plan
        self._chosen = chosen
        programs = REPOSITORY / "build" / "benchmarks"
        self.missing: dict[str, str] = {}
        self._write_cost: dict[str, float] | None = None
        try:
            java = java_command(jars())
        except PeerMissing as error:
            java = []
            self.missing["the Java load"] = str(error)
        self._tools = Tools(
            load_generator.build(programs),
            requests.build(programs),
            java,
            warm_up_s=plan.warm_up_s,
            ballast=Ballast(plan.ballast_mb),
        )
        # What an installation does: otherwise the first start would measure the compiler.
        compileall.compile_dir(Path(ottla.__file__).parent, quiet=2)
        self._subjects: dict[str, Subject | CeilingSubject] = {}
        for name in chosen.systems.split(","):
            try:
                self._subjects[name] = subject(name, self._tools, chosen.data)
            except PeerMissing as error:
                self.missing[name] = str(error)
        self.result = self._new_result()

    def _new_result(self) -> Figures:
        kept: Figures = {"rows": {}, "parts": {}, "last_words": {}}
        path = self._chosen.results / f"{self._plan.name}.json"
        if self._chosen.only and path.exists():
            before = json.loads(path.read_text())
            if isinstance(before.get("rows"), dict):
                kept |= {key: before[key] for key in (*kept, "profiles") if key in before}
        return {
            "machine": machine.facts() | {"java": _java_version()},
            "mode": "quick" if self._plan.quick else "full",
            "kafka_version": version(),
            "repeats": self._chosen.repeats or self._plan.repeats,
            "missing": self.missing,
            **kept,
        }

    def measure(self, part: str) -> None:
        rows = [row for row in self._plan.parts[part] if self._chosen.rows in row.key]
        if not rows:
            return
        if self._write_cost is None or not self._plan.quick:
            self._write_cost = page_cache.write_cost(self._chosen.data)
        about: Figures = {
            "measured_at": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            "page_cache": self._write_cost,
            "load_average": {"begin": os.getloadavg()[0]},
        }
        began = time.monotonic()
        self.result["parts"][part] = about
        if part in self._plan.with_own_processes:
            self._end_kept()
            self._tools.ballast.free()
        try:
            for row in rows:
                self._measure_row(part, row)
        finally:
            # Rows may share what they left on disk; nobody needs it after the part.
            for row in rows:
                if hasattr(row.workload, "close"):
                    row.workload.close()
            about["load_average"]["end"] = os.getloadavg()[0]
            about["took_s"] = round(time.monotonic() - began, 1)
            print(f"{part}: {about['took_s']:.0f} s", flush=True)

    def _measure_row(self, part: str, row: Row) -> None:
        """A B C, A B C, ...; a system that fails is out of the row, with its reason."""
        runs: dict[str, list[Figures]] = {}
        failed: dict[str, str] = {name: why for name, why in self.missing.items() if name in row.systems}
        taking_part = [self._subjects[name] for name in row.systems if name in self._subjects]
        try:
            for _ in range(self._chosen.repeats or row.repeats or self._plan.repeats):
                for each in taking_part:
                    if each.name in failed:
                        continue
                    try:
                        figures = row.workload.measure(each)
                    except Exception as error:
                        failed[each.name] = f"{type(error).__name__}: {error}"
                        print(f"{part:12} {each.name:17} {row.key}: {failed[each.name]}", flush=True)
                        continue
                    runs.setdefault(each.name, []).append(figures)
                    self._note(part, each.name, row, figures)
        finally:
            # An interrupted row has what its finished runs say.
            self.result["rows"][row.key] = {
                "part": part,
                "title": row.title,
                "shows": row.shows,
                "systems": {name: summed_up(found) for name, found in runs.items()},
                "runs": runs,
                "failed": failed,
            }

    def _note(self, part: str, name: str, row: Row, figures: Figures) -> None:
        told = ", ".join(
            f"{key} {figures[key]:.4g}" for key in row.shows if isinstance(figures.get(key), int | float)
        )
        print(f"{time.monotonic() - self.began_s:5.0f} s {part:12} {name:17} {row.key}: {told}", flush=True)

    def profile(self) -> None:
        ours = self._subjects.get(OURS)
        if not isinstance(ours, Subject):
            return
        profiles = {each.name: profile(ours, each) for each in self._plan.profiles}
        self.result["profiles"] = None if None in profiles.values() else profiles
        ours.end()  # how late it was under a profiler is nobody's measure

    def _end_kept(self) -> None:
        """Ends the processes that several parts have shared, and takes down what they say at their end."""
        for name, each in self._subjects.items():
            if said := each.end():
                self.result["last_words"][name] = said

    def close(self) -> None:
        self._end_kept()

    def write(self) -> list[Path]:
        folder, name = self._chosen.results, self._plan.name
        folder.mkdir(parents=True, exist_ok=True)
        data, text = folder / f"{name}.json", folder / f"{name}.md"
        data.write_text(json.dumps(_rounded(self.result), indent=1) + "\n")
        text.write_text(page.markdown(self.result, folder))
        return [data, text, *plots.write(folder, name, self.result["rows"])]


def _rounded(value: Any) -> Any:
    """Six digits say all that is known, in half the bytes."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    return value


def _java_version() -> str:
    try:
        done = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False)
    except OSError:
        return "no Java"
    return done.stderr.splitlines()[0].replace('"', "") if done.stderr else "no Java"


if __name__ == "__main__":
    sys.exit(main())
