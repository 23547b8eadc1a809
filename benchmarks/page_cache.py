"""The machine's page cache: what it costs to fill, which every produce figure contains, and files put into it
and taken out of it, for rows that are about cold and warm data.

On some virtual machines, at times, writing to memory that has lain free for a few seconds costs ten times
what it costs in memory just used, all of it charged to the process that writes. It comes and goes. So the
cost is taken at the beginning and at the end of a run of the benchmarks, and shown beside its figures.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable
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


def evict(files: Iterable[Path]) -> float:
    """Takes files out of the page cache; the share of them that really is out, by samples."""
    cold = sampled = 0
    for path in files:
        file = os.open(path, os.O_RDWR)
        try:
            os.fsync(file)  # only what is on disk can be dropped
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            for position in range(0, os.fstat(file).st_size, 16 << 20):
                sampled += 1
                cold += not _is_cached(file, position)
        finally:
            os.close(file)
    return cold / sampled if sampled else 1.0


def load(files: Iterable[Path]) -> None:
    """Reads files into the page cache."""
    for path in files:
        with path.open("rb", buffering=0) as file:
            while file.read(1 << 20):
                pass


def _is_cached(file: int, position: int) -> bool:
    try:
        os.preadv(file, [bytearray(1)], position, os.RWF_NOWAIT)
    except BlockingIOError:
        return False
    return True
