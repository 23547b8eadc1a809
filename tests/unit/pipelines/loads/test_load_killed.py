"""A load killed with -9 at each step and at any moment, or on a full disk: the next one goes on as it should.

Seed 000, batch loads: a failed task can start again without the danger of duplicates.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("killed_load.py")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("format", ["parquet", "delta", "iceberg"])
def test_killed_at_every_step_the_next_run_goes_on_without_gap_or_duplicate(
    tmp_path: Path, format: str
) -> None:
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(tmp_path), format], capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stderr[-4000:]
