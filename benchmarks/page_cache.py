"""What it costs this machine to fill its page cache, which every produce figure contains.

On some virtual machines, at times, writing to memory that has lain free for a few seconds costs ten times
what it costs in memory just used, all of it charged to the process that writes. It comes and goes. So the
cost is taken at the beginning and at the end of a run of the benchmarks, and shown beside its figures.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

SAMPLE_MB = 256
FORGOTTEN_S = 4.0

_PIECE = bytes(1 << 20)


def write_cost(folder: Path | None) -> dict[str, float]:
    """CPU-seconds per GB of writing a file: to memory that was just used, and to memory that lay free."""
    _write_and_remove(folder)
    reused = _write_and_remove(folder)
    time.sleep(FORGOTTEN_S)
    return {"reused_cpu_s_per_gb": reused, "forgotten_cpu_s_per_gb": _write_and_remove(folder)}


def _write_and_remove(folder: Path | None) -> float:
    with tempfile.TemporaryFile(dir=folder) as file:
        began = time.process_time()
        for number in range(SAMPLE_MB):
            os.pwrite(file.fileno(), _PIECE, number << 20)
        return (time.process_time() - began) / (SAMPLE_MB << 20) * 1e9
