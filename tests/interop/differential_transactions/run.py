"""The same requests about transactions to Ottla and to Apache Kafka, and a comparison of their answers.

    python tests/interop/differential_transactions/run.py --sequences 300 --seed 1
    python tests/interop/differential_transactions/run.py --seed 17 --sequences 1 --verbose

Every sequence is drawn from its seed (`steps.py`). The first difference ends it and is printed with the steps
before it, unless `known_differences.py` says why it is meant to be. `--record` writes Kafka's answers to a
file, which `test_differential_transactions.py` plays against Ottla alone:

    python tests/interop/differential_transactions/run.py --seed 1001 --sequences 32 \\
        --record tests/interop/differential_transactions/kafka-4.2.1.jsonl.gz
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from chaos.exactly_once.systems import KafkaProcess
from interop.differential_transactions.known_differences import reason_for
from interop.differential_transactions.steps import Step, sequence
from interop.differential_transactions.system import System
from support.broker_process import BrokerProcess

SETTINGS = {
    "transaction.state.log.num.partitions": "3",
    "offsets.topic.num.partitions": "1",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "100",
    "group.initial.rebalance.delay.ms": "0",
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n")[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--sequences", type=int, default=300, help="how many")
    parser.add_argument("--seed", type=int, default=1, help="of the first sequence; the others follow")
    parser.add_argument("--differences", type=int, default=10, help="how many are shown before it ends")
    parser.add_argument("--verbose", action="store_true", help="print every step and its answers")
    parser.add_argument("--record", type=Path, help="write Kafka's answers to this file (JSON lines, gzip)")
    parser.add_argument("--ottla-port", type=int, help="use a broker that is running already")
    parser.add_argument("--kafka-port", type=int, help="use a Kafka that is running already")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ottla = BrokerProcess(Path(folder) / "ottla", settings=SETTINGS)
        kafka = None
        try:
            ottla_port, kafka_port = options.ottla_port, options.kafka_port
            if ottla_port is None:
                ottla_port = ottla.start().port
            if kafka_port is None:
                kafka = KafkaProcess(Path(folder), SETTINGS).start()
                kafka_port = kafka.port
            found = compare(options, System("Ottla", ottla_port), System("Kafka", kafka_port))
            for line in ottla.log_lines_since(0):
                if "ERROR" in line or "Traceback" in line:
                    print("Ottla's log:", line)
        finally:
            ottla.kill()
            if kafka is not None:
                kafka.kill()
    sys.exit(1 if found else 0)


def compare(options: argparse.Namespace, ottla: System, kafka: System) -> int:
    ottla.warm_up()
    kafka.warm_up()
    steps_seen: Counter[str] = Counter()
    known: Counter[str] = Counter()
    codes: Counter[str] = Counter()
    found = 0
    began = time.monotonic()
    recordings: list[str] = []
    run_name = f"{int(time.time()):x}"
    for seed in range(options.seed, options.seed + options.sequences):
        recorded: list[Any] = []
        name = f"{run_name}-{seed}"
        ottla.begin(name)
        kafka.begin(name)
        steps = sequence(seed)
        for at, step in enumerate(steps):
            ours, theirs = answers_of(ottla, step), answers_of(kafka, step)
            recorded.append(theirs)
            steps_seen[step.kind] += 1
            codes.update(f"{step.kind} {code}" for code in _codes(theirs["answer"]))
            if options.verbose:
                print(f"{seed}.{at} {step}\n    {json.dumps(theirs['answer'])}")
            if ours == theirs:
                continue
            why = reason_for(step, ours, theirs, list(zip(steps, recorded, strict=False)))
            if why is not None:
                known[why] += 1
                recorded[-1] = {"differs": why}
                break
            found += 1
            _show(seed, steps[: at + 1], ours, theirs)
            break
        recordings.append(json.dumps({"seed": seed, "answers": recorded}, separators=(",", ":")) + "\n")
        if found >= options.differences:
            break
    if options.record:
        options.record.write_bytes(gzip.compress("".join(recordings).encode(), mtime=0))
    seconds = time.monotonic() - began
    print(f"{sum(steps_seen.values())} steps in {seconds:.0f} s: {dict(sorted(steps_seen.items()))}")
    print(f"Kafka's answers: {', '.join(f'{code} {count}' for code, count in sorted(codes.items()))}")
    for why, count in known.items():
        print(f"{count} times different on purpose: {why}")
    print(f"{found} differences")
    return found


def _codes(answer: Any) -> set[str]:
    """Every error code in an answer."""
    if isinstance(answer, dict):
        found = {value for key, value in answer.items() if key.endswith("error_code")}
        return found.union(*(_codes(value) for value in answer.values()))
    if isinstance(answer, list):
        return set().union(*(_codes(value) for value in answer))
    return set()


def answers_of(system: System, step: Step) -> dict[str, Any]:
    answers = {"answer": system.run(step), "look": system.look()}
    plain: dict[str, Any] = json.loads(json.dumps(answers))
    return plain


def _show(seed: int, steps: list[Step], ours: Any, theirs: Any) -> None:
    print(f"--- sequence {seed}, step {len(steps) - 1}")
    for step in steps:
        print(f"    {step}")
    for path, mine, other in differences(ours, theirs, ""):
        print(f"    {path}\n        Ottla {mine}\n        Kafka {other}")


def differences(ours: Any, theirs: Any, path: str) -> list[tuple[str, Any, Any]]:
    """The places at which two answers differ."""
    if isinstance(ours, dict) and isinstance(theirs, dict) and ours.keys() == theirs.keys():
        return [each for key in ours for each in differences(ours[key], theirs[key], f"{path}.{key}")]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [
            each
            for index, pair in enumerate(zip(ours, theirs, strict=True))
            for each in differences(*pair, f"{path}[{index}]")
        ]
    return [] if ours == theirs else [(path, ours, theirs)]


if __name__ == "__main__":
    main()
