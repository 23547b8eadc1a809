"""`make groups-chaos`: groups of up to 20 members of every client, through joins, leaves, kills and restarts.

    python tests/chaos/groups/run.py --seed 7 --only next-generation

Prints the seed, what happens, and in the end what was exercised and whether every promise held; see
`checker.py` for the promises and `scenarios.py` for the groups. One seed replays one plan of events.
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from chaos.groups.driver import Outcome, Run, Scenario, broker_settings
from chaos.groups.scenarios import LONG
from support.broker_process import BrokerProcess


def run_one(scenario: Scenario, seed: int, folder: Path, *, quiet: bool) -> Outcome:
    broker = BrokerProcess(folder / "data", settings=broker_settings(scenario.session_ms))
    folder.mkdir(parents=True)
    began_s = time.monotonic()

    def say(line: str) -> None:
        if not quiet:
            print(f"  {time.monotonic() - began_s:6.1f} s  {line}", flush=True)

    broker.start()
    try:
        outcome = Run(broker, scenario, seed, folder / "members", say=say).run()
        if "Traceback" in broker.log_since(0):
            outcome.failures.append(f"an internal error of the broker, see {broker.log_path}")
    finally:
        broker.kill()
    return outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seed", type=int, default=None, help="replays a plan; drawn and printed otherwise")
    parser.add_argument("--only", choices=[scenario.name for scenario in LONG], help="one group alone")
    parser.add_argument("--steps", type=int, help="how many things happen to each group")
    parser.add_argument("--quiet", action="store_true", help="only the reports")
    arguments = parser.parse_args()
    seed = random.randrange(1_000_000) if arguments.seed is None else arguments.seed
    print(f"seed {seed}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="groups-chaos-"))
    failed = False
    for scenario in LONG:
        if arguments.only not in (None, scenario.name):
            continue
        if arguments.steps:
            scenario = dataclasses.replace(scenario, steps=arguments.steps)
        print(f"{scenario.name}: {len(scenario.seats)} seats, {scenario.steps} steps", flush=True)
        outcome = run_one(scenario, seed, folder / scenario.name, quiet=arguments.quiet)
        print(outcome.summary(), flush=True)
        for problem in outcome.problems()[:30]:
            print(f"  BROKEN  {problem}", flush=True)
        failed |= bool(outcome.problems())
    if failed:
        sys.exit(f"promises were broken; what everybody told lies in {folder}; replay with --seed {seed}")
    shutil.rmtree(folder)
    print(
        "every record delivered, one owner at a time, redelivery only from the last commit, "
        "committed offsets never went back"
    )


if __name__ == "__main__":
    main()
