"""`make exactly-once`: consume, transform, produce 200,000 records while everybody is killed with -9.

    python tests/chaos/exactly_once/run.py --system ottla --scenario mixed --seed 7

Loaders fill `input`, instances of an application on confluent-kafka and on Kafka's Java client turn it into
`output` in transactions, followers read that as it grows. All of them and the broker are killed several
times. Prints the seed, what happens, and in the end a table of what was exercised and whether the output
equals the input, exactly once; see `checker.py` for what exactly that means. With `--system kafka` the same
run is held against Apache Kafka.
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from chaos.exactly_once.driver import Outcome, Run
from chaos.exactly_once.scenarios import LONG, SHORT, Scenario
from chaos.exactly_once.systems import SYSTEMS, new_broker


def run_one(system: str, scenario: Scenario, seed: int, folder: Path, *, quiet: bool) -> Outcome:
    folder.mkdir(parents=True)
    began_s = time.monotonic()

    def say(line: str) -> None:
        if not quiet:
            print(f"  {time.monotonic() - began_s:6.1f} s  {line}", flush=True)

    broker = new_broker(system, folder, scenario.session_ms)
    try:
        broker.start()
        outcome = Run(broker, scenario, seed, folder / "processes", system=system, say=say).run()
        if broker.running and broker.stop() != 0:
            outcome.failures.append("the broker did not stop cleanly in the end")
        if "Traceback" in broker.log_since(0):
            outcome.failures.append("an internal error of the broker, see its output")
    finally:
        broker.kill()
    return outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    names = [scenario.name for scenario in LONG + SHORT]
    parser.add_argument("--system", choices=SYSTEMS, default="ottla", help="the broker that is held to it")
    parser.add_argument(
        "--scenario", choices=[*names, "all"], default="mixed", help="who takes part; all: the long ones"
    )
    parser.add_argument("--seed", type=int, help="replays a plan; drawn and printed otherwise")
    parser.add_argument("--records", type=int, help="how many; 200,000 unless told, 4,000 in the short ones")
    parser.add_argument(
        "--load-s", type=float, help="how long loading takes; 300 s unless told, 8 s in the short ones"
    )
    parser.add_argument(
        "--faults", type=float, default=1.0, help="how often everything is done, times the scenario's number"
    )
    parser.add_argument("--keep", action="store_true", help="keeps the data and what everybody told")
    parser.add_argument("--quiet", action="store_true", help="only the tables")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))  # so that children are ended, too
    seed = random.randrange(1_000_000) if arguments.seed is None else arguments.seed
    print(f"seed {seed}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="exactly-once-"))
    failed = False
    try:
        for scenario in LONG + SHORT:
            if arguments.scenario != scenario.name and (arguments.scenario != "all" or scenario in SHORT):
                continue
            scenario = dataclasses.replace(
                scenario,
                records=arguments.records or scenario.records,
                load_s=scenario.load_s and (arguments.load_s or scenario.load_s),
                steps=tuple((what, round(count * arguments.faults)) for what, count in scenario.steps),
            )
            print(f"{scenario.name} on {arguments.system}: {scenario.records:,} records", flush=True)
            outcome = run_one(arguments.system, scenario, seed, folder / scenario.name, quiet=arguments.quiet)
            print(outcome.table(), flush=True)
            for problem in outcome.problems()[:30]:
                print(f"  BROKEN  {problem}", flush=True)
            failed |= bool(outcome.problems())
    except KeyboardInterrupt:
        sys.exit("interrupted; all processes were ended")
    finally:
        if failed or arguments.keep:
            print(f"what everybody told, and the data, lie in {folder}", flush=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    if failed:
        sys.exit(f"promises were broken; replay the plan with --seed {seed}")
    print("the output equals the input, exactly once")


if __name__ == "__main__":
    main()
