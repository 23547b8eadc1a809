"""The small C programs of the benchmarks: compiled when their source is newer, against the librdkafka of the
confluent-kafka wheel where they use it.
"""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path


def librdkafka() -> Path:
    spec = importlib.util.find_spec("confluent_kafka")
    if spec is None or spec.origin is None:
        raise RuntimeError("confluent-kafka is not installed: make bench installs it")
    beside = Path(spec.origin).parent.with_name("confluent_kafka.libs")
    return next(beside.glob("librdkafka*.so.1"))


def build(source: Path, folder: Path, *, with_librdkafka: bool = True) -> Path:
    program = folder / source.stem
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        folder.mkdir(parents=True, exist_ok=True)
        made = program.with_suffix(".new")  # the old one may be running in another benchmark
        command = ["gcc", "-O2", "-o", str(made), str(source)]
        if with_librdkafka:
            library = librdkafka()
            command += [f"-Wl,-rpath,{library.parent}", str(library), "-Wl,--allow-shlib-undefined"]
        subprocess.run([*command, "-lpthread"], check=True, text=True)
        made.rename(program)
    return program
