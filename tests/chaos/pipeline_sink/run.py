"""A stateful pipeline into an output, exactly once, while drivers, executors and tasks are killed with -9.

    python tests/chaos/pipeline_sink/run.py                         # a topic, Delta, Parquet one by one
    python tests/chaos/pipeline_sink/run.py --output delta --records 500000 --kills 12 --seed 7
    python tests/chaos/pipeline_sink/run.py --output topic --steps  # the driver dies at each step of a commit

Keyed records are loaded into a topic; a pipeline keeps a running count and sum by key (Spark's state) and
writes one row for every key of every micro-batch. In the end the offsets in the checkpoint say what each
batch has read, from which every row is computed in plain Python; the output must hold exactly those rows,
each once. Some kills come at a random moment; most by an ambush (`ambush.py`): while tasks write, when they
have written and not reported, at a step of the commit. With the seed the plan of the kills is the same.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from chaos.pipeline_sink.ambush import LOOK_EVERY_S, Ambush, Prey
from chaos.pipeline_sink.ambushed import IN_TASKS
from chaos.pipeline_sink.driver_process import DriverProcess, kill
from chaos.pipeline_sink.input import Input
from chaos.pipeline_sink.outputs import OUTPUTS, Output
from ottla.pipelines.sink.offset_log import topic_offsets
from support.broker_process import BrokerProcess

KINDS = ("driver", "executor", "task", "tasks", "broker")
"""`tasks`: all Python processes of tasks at once, so that it surely hits those that are at work."""
ANYWHERE = "anywhere"
STALLED_S = 600.0
CAUGHT_S = 60.0
"""In this time somebody has to come by an ambush."""


class Kill(NamedTuple):
    kind: str
    place: str
    """Where its victim is caught; or anywhere, at a random moment."""


def plan(output: Output, chance: random.Random, kill_count: int, among: list[str]) -> list[Kill]:
    """Every kind in turn, each at its places in turn, in a random order."""
    places: dict[str, list[str]] = {kind: [ANYWHERE] for kind in KINDS}
    places |= {kind: [*IN_TASKS, ANYWHERE] for kind in ("executor", "task")}
    steps = chance.sample(output.steps, len(output.steps))
    places["driver"] = [*IN_TASKS, ANYWHERE, *steps]
    found = []
    for i in range(kill_count):
        kind, turn = among[i % len(among)], i // len(among)
        found.append(Kill(kind, places[kind][turn % len(places[kind])]))
    chance.shuffle(found)
    return found


class Run:
    """One output, from the loading of the input to the verdict."""

    def __init__(self, output: Output, given: Input, folder: Path, per_batch: int, master: str) -> None:
        self.output, self.input, self.folder = output, given, folder
        self.broker = BrokerProcess(folder / "data", log_path=folder / "broker.out")
        self.ambush = Ambush(folder / "ambush")
        self.per_batch, self.master = per_batch, master
        self.kills: Counter[Kill] = Counter()
        self.drivers: list[DriverProcess] = []
        self.rows = 0
        self.began_s = time.monotonic()

    def say(self, line: str) -> None:
        print(f"  {time.monotonic() - self.began_s:6.1f} s  {self.output.name}: {line}", flush=True)

    def order(self) -> dict[str, Any]:
        """What a driver has to do."""
        return {
            "bootstrap": self.broker.bootstrap,
            "topic": self.input.topic,
            "folder": str(self.folder / "output"),
            "output": self.output.name,
            "per_batch": self.per_batch,
            "master": self.master,
            "ambush": str(self.folder / "ambush"),
        }

    def start_driver(self) -> DriverProcess:
        self.drivers.append(DriverProcess(self.order(), self.folder / "driver.err"))
        return self.drivers[-1]

    def prepare(self) -> None:
        self.broker.start()
        (self.folder / "output").mkdir(parents=True)
        self.input.load(self.broker.bootstrap)
        self.output.prepare(self.broker.bootstrap, self.folder / "output")
        self.say(f"{self.input.record_count:,} records are loaded")

    def check(self) -> list[str]:
        """What is wrong with the output; nothing, if it is exact."""
        ends: dict[int, dict[int, int]] = {}
        for path in (self.folder / "output" / "checkpoint" / "offsets").iterdir():
            if path.name.isdecimal():
                offsets = topic_offsets(path.read_text())
                ends[int(path.name)] = {tp.partition: offset for tp, offset in offsets.items()}
        problems = []
        if sum(ends[max(ends)].values()) != self.input.record_count or sorted(ends) != list(range(len(ends))):
            problems.append(f"the checkpoint does not cover the input: {sorted(ends)}, {ends[max(ends)]}")
        expected = Counter(self.input.expected(ends))
        found = Counter(self.output.rows(self.broker.bootstrap, self.folder / "output"))
        missing, surplus = expected - found, found - expected
        if missing:
            problems.append(f"{missing.total()} rows are missing, as {next(iter(missing))}")
        if surplus:
            problems.append(f"{surplus.total()} rows are wrong or there twice, as {next(iter(surplus))}")
        self.rows = found.total()
        last = {row.key: row for row in sorted(found)}.values()
        self.say(
            f"{self.rows:,} rows of {len(ends)} batches compared, {expected.total():,} expected; "
            f"in the end {sum(row.count for row in last):,} records with the sum "
            f"{sum(row.sum for row in last):,}"
        )
        return problems

    def summary(self) -> str:
        kinds = Counter(dict.fromkeys(KINDS[:3], 0))
        aimed = 0
        for each, count in self.kills.items():
            kinds[each.kind] += count
            aimed += count if each.place != ANYWHERE else 0
        batches = [event["batch"] for driver in self.drivers for event in driver.events if "batch" in event]
        killed = ", ".join(f"{kind} {count}" for kind, count in kinds.items())
        return (
            f"{self.kills.total()} kills ({killed}; {aimed} of them in the write stage or a commit), "
            f"{len(self.drivers)} drivers, {len(batches) - len(set(batches))} batches run again, "
            f"{self.ambush.notes()} tasks of the write stage tried again, "
            f"{self.rows:,} rows compared, {time.monotonic() - self.began_s:.0f} s"
        )

    def stop(self) -> None:
        self.ambush.lift()
        for driver in self.drivers:
            driver.sweep()
        self.broker.kill()

    # --- random kills ---------------------------------------------------------------------------------------

    def kill_by_plan(self, kills: list[Kill], chance: random.Random, *, to_the_end: bool = True) -> list[str]:
        """Until the pipeline has come to its end, or the last driver of the plan is dead; the kills for which
        there was no time are a problem."""
        kills = list(kills)
        driver = self.start_driver()
        progress_s = time.monotonic()
        batch_s = 4.0
        """How long a batch takes, by the last one that was left alone: kills are spread over all of it."""
        while not driver.done:
            seen = len(driver.events)
            driver.wait_for_news(seen, 5.0)
            if len(driver.events) > seen:
                now_s = time.monotonic()
                if "batch" in driver.events[-1]:
                    self._sweep_before(driver)
                    if driver.batches > 2:
                        batch_s = now_s - progress_s
                    if kills and self._kill_one(driver, kills[0], chance, batch_s):
                        self.kills[kills.pop(0)] += 1
                progress_s = now_s
            elif not driver.running and not driver.done and not (kills or to_the_end):
                return []
            elif not driver.running and not driver.done:
                self.say(f"the driver is gone after {driver.batches} batches; the next one starts")
                driver = self.start_driver()
                progress_s = time.monotonic()
            if time.monotonic() - progress_s > STALLED_S:
                raise SystemExit("nothing has happened for too long")
        return [f"there was no time for {len(kills)} of the kills"] if kills else []

    def _sweep_before(self, driver: DriverProcess) -> None:
        """What is left of earlier drivers may live, and write, until the next one is at work."""
        for earlier in self.drivers:
            if earlier is not driver:
                earlier.sweep()

    def _kill_one(self, driver: DriverProcess, wanted: Kill, chance: random.Random, batch_s: float) -> bool:
        kind, place = wanted
        if place == ANYWHERE:
            driver.wait_for_news(len(driver.events), chance.uniform(0.2, 1.0) * batch_s)
            if driver.done or not driver.running:
                return False
            if kind == "broker":
                self.broker.kill()
                self.broker.start()
                self.say("kill -9: the broker, which was started again")
                return True
            pids = driver.executors() if kind == "executor" else driver.workers()
            pids = pids if kind == "tasks" else [chance.choice(pids)] if pids else []
        else:
            prey = self._caught(driver, place)
            if prey is None:
                return False
            pids = [prey.executor if kind == "executor" else prey.pid]
        if kind == "driver":
            driver.kill()
        elif not pids:
            return False
        else:
            for pid in pids:
                kill(pid)
        self.ambush.lift()
        who = "driver" if kind == "driver" else f"{kind} {', '.join(map(str, pids))}"
        self.say(f"kill -9: {who} ({place}), batch {driver.events[-1].get('batch')}")
        return True

    def _caught(self, driver: DriverProcess, place: str) -> Prey | None:
        """Who came by; nobody, if the driver ended before."""
        self.ambush.lay(place)
        until_s = time.monotonic() + CAUGHT_S
        while (prey := self.ambush.caught()) is None:
            if driver.done or not driver.running or time.monotonic() > until_s:
                self.ambush.lift()
                return self.ambush.caught()
            time.sleep(LOOK_EVERY_S)
        return prey

    # --- every step -----------------------------------------------------------------------------------------

    def kill_at_every_step(self) -> list[str]:
        """The driver alone, once in the tasks and once at each step, a batch further each time."""
        kills = [Kill("driver", place) for place in (*IN_TASKS, *self.output.steps)]
        return self.kill_by_plan(kills, random.Random(0))


def run_output(arguments: argparse.Namespace, name: str, seed: int) -> bool:
    folder = Path(tempfile.mkdtemp(prefix=f"pipeline-sink-{name}-"))
    given = Input("numbers", arguments.records, arguments.keys, arguments.partitions)
    run = Run(OUTPUTS[name], given, folder, arguments.per_batch, arguments.master)
    problems = ["the run did not come to its end"]
    try:
        run.prepare()
        chance = random.Random(seed)
        if arguments.steps:
            left = run.kill_at_every_step()
        else:
            left = run.kill_by_plan(plan(run.output, chance, arguments.kills, arguments.among), chance)
        problems = left + run.check()
    finally:
        run.stop()
        run.say(run.summary())
        if problems or arguments.keep:
            print(f"data and logs lie in {folder}", flush=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)
        for problem in problems:
            run.say(f"BROKEN  {problem}")
    if not problems:
        run.say("EXACT: every count and sum is there, once")
    return not problems


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--output", choices=[*OUTPUTS, "all"], default="all")
    parser.add_argument("--records", type=int, default=500_000)
    parser.add_argument("--keys", type=int, default=5_000)
    parser.add_argument("--partitions", type=int, default=3)
    parser.add_argument("--per-batch", type=int, default=20_000, help="records of a micro-batch")
    parser.add_argument("--kills", type=int, default=12, help="for each output")
    parser.add_argument("--among", nargs="+", choices=KINDS, default=["driver", "executor", "task"])
    parser.add_argument("--master", default="local-cluster[2,1,1024]")
    parser.add_argument("--steps", action="store_true", help="kill the driver once at every step of a commit")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--keep", action="store_true", help="keeps the data and the logs")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))  # so that children are ended, too
    seed = random.randrange(1_000_000) if arguments.seed is None else arguments.seed
    names = list(OUTPUTS) if arguments.output == "all" else [arguments.output]
    print(f"seed {seed}: {arguments.records:,} records into {', then '.join(names)}", flush=True)
    broken = [name for name in names if not run_output(arguments, name, seed)]
    if broken:
        sys.exit(f"not exactly once: {', '.join(broken)}; replay the plan with --seed {seed}")
    print(f"exactly once: counts and sums are exact in {', '.join(names)}")


if __name__ == "__main__":
    main()
