"""`make txn-chaos`: transactions, sends and polls of many clients under random faults, and a check of what
they saw.

    python tests/chaos/kafka_workload/run.py --minutes 20 --seed 7
    python tests/chaos/kafka_workload/run.py --system kafka --minutes 2
    python tests/chaos/kafka_workload/run.py --nodes 3 --minutes 5
    python tests/chaos/kafka_workload/run.py --plant aborted-read
    python tests/chaos/kafka_workload/run.py --check history.jsonl

Prints the seed, what happens, what was exercised and what the checker found (`checker.py` defines each class
of anomaly). The history stays in a directory as JSON lines. `--plant` puts a bug of that class between
clients and broker and is content only when the checker finds it; `--plant all` goes through them all.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from chaos.cluster import own_world
from chaos.kafka_workload.checker import UNSEEN, check
from chaos.kafka_workload.fetch_audit import WireFacts
from chaos.kafka_workload.history import load, load_wire
from chaos.kafka_workload.plants import PLANTS, run_planted
from chaos.kafka_workload.session import Session, describe
from chaos.kafka_workload.workload import plain_workers


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n")[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--system", choices=["ottla", "kafka"], default="ottla", help="the broker under test")
    parser.add_argument("--nodes", type=int, choices=[1, 3, 5], default=1, help="a cluster of so many")
    parser.add_argument("--minutes", type=float, default=20.0, help="how long faults go on")
    parser.add_argument("--seed", type=int, default=None, help="replays a plan; drawn and printed otherwise")
    parser.add_argument("--folder", type=Path, default=None, help="where history and broker's data go")
    parser.add_argument(
        "--plant", choices=["all", *PLANTS], default=None, help="plant a bug, and look for it"
    )
    parser.add_argument("--check", type=Path, default=None, metavar="HISTORY", help="only check such a file")
    parser.add_argument("--no-transactions", action="store_true", help="only idempotent sends, and polls")
    parser.add_argument("--quiet", action="store_true", help="only the report")
    arguments = parser.parse_args()
    if arguments.check is not None:
        with arguments.check.open(encoding="utf-8") as lines:
            operations = load(lines)
            lines.seek(0)
            facts = load_wire(lines)
        report = check(operations, None if facts is None else WireFacts.from_json(facts))
        print(describe(report))
        sys.exit(0 if report.valid else 1)
    seed = random.randrange(1_000_000) if arguments.seed is None else arguments.seed
    if arguments.seed is None:
        sys.orig_argv += ["--seed", str(seed)]
    if arguments.nodes > 1 and not own_world.enter(network=True):
        sys.exit("cutting the network of a cluster needs namespaces: run as root")
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="txn-chaos-"))
    print(f"seed {seed}, {arguments.system}, history and data in {folder}", flush=True)
    began_s = time.monotonic()

    def say(line: str) -> None:
        if not arguments.quiet:
            print(f"  {time.monotonic() - began_s:7.1f} s  {line}", flush=True)

    # `timeout` and the like end children, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if arguments.plant is not None:
            sys.exit(_plant(arguments.plant, arguments.system, seed, folder))
        session = Session(arguments.system, seed, folder, say, nodes=arguments.nodes)
        outcome = session.run(
            arguments.minutes * 60, workers=plain_workers if arguments.no_transactions else None
        )
    except KeyboardInterrupt:
        sys.exit("interrupted; the broker was ended")
    print(outcome.summary(), flush=True)
    if outcome.problems():
        sys.exit(f"promises were broken, see {folder}; replay with --seed {seed}")
    print("no anomaly of any class")


def _plant(wanted: str, system: str, seed: int, folder: Path) -> int:
    missed = []
    for name in PLANTS if wanted == "all" else [wanted]:
        found = run_planted(name, system, seed, folder / name)
        others = {other: count for other, count in sorted(found.items()) if other not in (name, UNSEEN)}
        verdict = f"found {found[name]} times" if found.get(name) else "MISSED"
        print(f"planted {name}: {verdict}" + (f"; with it {others}" if others else ""), flush=True)
        if not found.get(name):
            missed.append(name)
    return 1 if missed else 0


if __name__ == "__main__":
    main()
