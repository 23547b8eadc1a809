"""The C load generator (load.c): compiled against the librdkafka of the confluent-kafka wheel, and called."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("load.c")


def librdkafka() -> Path:
    spec = importlib.util.find_spec("confluent_kafka")
    if spec is None or spec.origin is None:
        raise RuntimeError("confluent-kafka is not installed: make bench installs it")
    beside = Path(spec.origin).parent.with_name("confluent_kafka.libs")
    return next(beside.glob("librdkafka*.so.1"))


def build(folder: Path) -> Path:
    """The compiled generator; compiled again when its source is newer."""
    program = folder / "load"
    if not program.exists() or program.stat().st_mtime < SOURCE.stat().st_mtime:
        folder.mkdir(parents=True, exist_ok=True)
        library = librdkafka()
        command = ["gcc", "-O2", "-o", str(program), str(SOURCE), f"-Wl,-rpath,{library.parent}"]
        subprocess.run(
            [*command, str(library), "-lpthread", "-Wl,--allow-shlib-undefined"], check=True, text=True
        )
    return program


def call(program: Path, *arguments: object, timeout_s: float = 180) -> dict[str, Any]:
    """Runs the generator to its end; the one line of JSON that it prints."""
    done = subprocess.run(
        [str(program), *map(str, arguments)], capture_output=True, text=True, timeout=timeout_s
    )
    if done.returncode:
        raise RuntimeError(f"load {arguments[0]} failed: {done.stdout.strip()} {done.stderr.strip()[-500:]}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result
