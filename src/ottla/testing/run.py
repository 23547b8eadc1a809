"""Runs simulations from the command line: `python -m ottla.testing.run --seed 7`.

Without `--seed` a fresh one is drawn and printed. `--count` runs that many seeds one after the other,
`--minutes` goes on until the time is up. A failure prints what broke, the seed, and the command that repeats
it; the exit code is then 1. At the end it says what the runs exercised, because a simulation in which nothing
went wrong has shown nothing.
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from typing import Final

from ottla.testing.broker_run import BrokerRun
from ottla.testing.client_run import ClientRun
from ottla.testing.cluster_run import ClusterRun
from ottla.testing.compaction_run import CompactionRun
from ottla.testing.group_run import GroupRun
from ottla.testing.log_run import LogRun
from ottla.testing.manager_run import ManagerRun
from ottla.testing.txn_run import TxnRun

SEED_BITS: Final = 32


def _run_log(seed: int, options: argparse.Namespace) -> Counter[str]:
    return LogRun(seed, steps=options.steps or 60, images_per_point=options.images).run()


def _run_manager(seed: int, options: argparse.Namespace) -> Counter[str]:
    return ManagerRun(seed, steps=options.steps or 40).run()


def _run_compaction(seed: int, options: argparse.Namespace) -> Counter[str]:
    return CompactionRun(seed, steps=options.steps or 60).run()


def _run_broker(seed: int, options: argparse.Namespace) -> Counter[str]:
    return BrokerRun(seed, batches=options.steps or 60).run()


def _run_groups(seed: int, options: argparse.Namespace) -> Counter[str]:
    return GroupRun(seed, steps=options.steps or 25).run()


def _run_transactions(seed: int, options: argparse.Namespace) -> Counter[str]:
    return TxnRun(seed, steps=options.steps or 25).run()


def _run_clients(seed: int, options: argparse.Namespace) -> Counter[str]:
    return ClientRun(seed, steps=options.steps or 20).run()


def _run_cluster(seed: int, options: argparse.Namespace) -> Counter[str]:
    return ClusterRun(seed, steps=options.steps or 8).run()


PARTS: Final[dict[str, Callable[[int, argparse.Namespace], Counter[str]]]] = {
    "log": _run_log,
    "manager": _run_manager,
    "compaction": _run_compaction,
    "broker": _run_broker,
    "groups": _run_groups,
    "transactions": _run_transactions,
    "clients": _run_clients,
    "cluster": _run_cluster,
}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m ottla.testing.run",
        description="Run the broker's parts on a simulated disk, clock and network, with crashes.",
        epilog="example: python -m ottla.testing.run --part log --minutes 10",
    )
    parser.add_argument("--seed", type=int, help="the first seed; a fresh one when left out")
    parser.add_argument("--count", type=int, default=1, help="how many seeds to run (default 1)")
    parser.add_argument("--minutes", type=float, help="run seeds until this much time has passed")
    parser.add_argument("--hours", type=float, help="the same in hours")
    parser.add_argument("--part", choices=[*PARTS, "all"], default="all")
    parser.add_argument("--steps", type=int, help="the length of each run's workload")
    parser.add_argument("--images", type=float, default=0.5, help="log: crashes tried per disk operation")
    parser.add_argument("--keep-going", action="store_true", help="go on after a seed that fails")
    parser.add_argument("--verbose", action="store_true", help="show what the simulated brokers log")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO if options.verbose else logging.CRITICAL, format="%(message)s")
    first = options.seed if options.seed is not None else random.SystemRandom().getrandbits(SEED_BITS)
    names = list(PARTS) if options.part == "all" else [options.part]
    minutes = options.minutes if options.hours is None else options.hours * 60
    ends = None if minutes is None else time.monotonic() + minutes * 60
    reports: dict[str, Counter[str]] = {name: Counter() for name in names}
    began = time.monotonic()
    done = 0
    failed: list[str] = []
    interrupted = False
    while done < options.count if ends is None else time.monotonic() < ends:
        if interrupted or (failed and not options.keep_going):
            break
        seed = first + done
        for name in names:
            try:
                reports[name].update(PARTS[name](seed, options))
            except Exception:
                traceback.print_exc()
                print(f"FAILED: {name}, seed {seed}", file=sys.stderr)
                failed.append(f"{name} {seed}")
                if not options.keep_going:
                    break
            except KeyboardInterrupt:
                interrupted = True
                break
        done += not interrupted
    print(f"{done - len(failed)} of {done} seeds from {first} passed in {time.monotonic() - began:.1f} s")
    for name, report in reports.items():
        print(f"{name}: " + ", ".join(f"{key} {value}" for key, value in sorted(report.items())))
    if failed:
        print("FAILED: " + ", ".join(failed), file=sys.stderr)
    return 1 if failed else 130 if interrupted else 0


if __name__ == "__main__":
    sys.exit(main())
