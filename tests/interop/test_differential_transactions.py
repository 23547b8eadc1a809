"""What Apache Kafka 4.2.1 answered to 32 sequences of requests about transactions, sensible and not, is what
this broker answers. `differential_transactions/run.py` recorded it and compares the two live.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from interop.differential_transactions.run import SETTINGS, answers_of, differences
from interop.differential_transactions.steps import sequence
from interop.differential_transactions.system import System
from support.broker_process import BrokerProcess

RECORDED = Path(__file__).with_name("differential_transactions") / "kafka-4.2.1.jsonl.gz"


def test_recorded_sequences_are_answered_as_kafka_answered_them(tmp_path: Path) -> None:
    """Answers, epochs, offsets, states, last stable offsets and producers after every step; a sequence ends
    where the two differ on purpose (`known_differences.py`).
    """
    broker = BrokerProcess(tmp_path / "data", settings=SETTINGS).start()
    compared = 0
    try:
        system = System("Ottla", broker.port)
        system.warm_up()
        with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
            for line in lines:
                recorded = json.loads(line)
                seed = recorded["seed"]
                system.begin(f"s{seed}")
                for step, kafkas in zip(sequence(seed), recorded["answers"], strict=False):
                    if "differs" in kafkas:
                        break
                    ours = answers_of(system, step)
                    compared += 1
                    assert ours == kafkas, f"sequence {seed}: {step}: {differences(ours, kafkas, '')}"
        system.close()
        assert broker.stop() == 0
    finally:
        broker.kill()
    assert compared > 500
