"""The small sister of `make cluster-chaos`: a cluster of three real processes, killed and cut."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from chaos.cluster import own_world

RUN = Path(__file__).parent / "cluster" / "run.py"
TIMEOUT_S = 280


@pytest.mark.interop
@pytest.mark.timeout(300)
def test_nothing_acknowledged_is_lost_while_brokers_are_killed_and_the_network_is_cut(tmp_path: Path) -> None:
    # Where a machine gives no namespaces the network stays whole.
    cuts = 1 if own_world.is_possible(network=True) else 0
    sizes = {"records": 60_000, "partitions": 6, "writers": 2, "kills": 3, "cuts": cuts}
    none = {"pauses": 0, "restarts": 0, "wipes": 0}
    options = [f"--{name}={value}" for name, value in (sizes | none).items()]
    done = subprocess.run(
        [sys.executable, str(RUN), "--seed", "1", "--folder", str(tmp_path / "run"), *options],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-6000:]
    assert "acknowledged 60,000, read back 60,000" in done.stdout
