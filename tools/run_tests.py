"""What `make test` runs: the type checker, the tests of pipelines and all other tests, beside each other.

The tests of pipelines (tests/pipelines) need a Spark session in every process that runs them: a gigabyte of
memory, and seconds to start. So they have two processes of their own, file by file; the others have three,
and take work from each other. The output of the longest part is shown as it comes, that of the others when
all have ended, and the last lines say how each part ended. The exit code is 0 when all is well, 130 after
Ctrl-C, else 1.

Tests start hundreds of brokers and commands, and each process of pytest reads every test module. That is
quick when Python finds the modules compiled; so they are compiled first, beside the type checker, whatever
the environment says about writing bytecode.

    python tools/run_tests.py [types] [pipelines] [tests]
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

ROOT = Path(__file__).resolve().parent.parent
PYTEST = [sys.executable, "-m", "pytest"]
STOP_TIMEOUT_S = 20
"""After Ctrl-C: fixtures stop brokers and Java first."""

# The last one is the longest.
COMMANDS = {
    "types": [sys.executable, "-m", "mypy"],
    "pipelines": [*PYTEST, "tests/pipelines", "-n", "2", "--dist", "loadfile", "--timeout=300"],
    "tests": [*PYTEST, "tests", "--ignore=tests/pipelines", "-n", "3", "--dist", "worksteal"],
}
COMPILE_SOURCES = [sys.executable, "-m", "compileall", "-q", "src", "examples"]
# pytest's assertions are compiled by pytest only; collecting all tests does it once for all its processes.
COMPILE_TESTS = [*PYTEST, "tests", "--collect-only", "-qq", "-p", "no:xdist", "-p", "no:cacheprovider"]
TESTS_TO_COMPILE_MIN = 20
"""With fewer test modules that changed, the processes of pytest compile them as they come."""


@dataclass
class Part:
    name: str
    process: subprocess.Popen[bytes]
    output: IO[bytes] | None
    began_s: float = field(default_factory=time.monotonic)
    seconds: float = 0.0

    def ended(self) -> bool:
        if self.process.poll() is None:
            return False
        self.seconds = self.seconds or time.monotonic() - self.began_s
        return True

    def show(self) -> None:
        if self.output is not None:
            self.output.seek(0)
            print(f"\n=== {self.name} ===", flush=True)
            sys.stdout.buffer.write(self.output.read())
            sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the type checker and the tests.")
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(COMMANDS)}; by default all")
    asked = parser.parse_args().parts
    unknown = set(asked) - set(COMMANDS)
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}")
    # `kill` ends the parts as Ctrl-C does, which a terminal sends to all of them.
    signal.signal(signal.SIGTERM, _interrupt)
    with ExitStack() as files:
        parts: list[Part] = []
        try:
            _run([name for name in COMMANDS if name in asked or not asked], parts, files)
        except KeyboardInterrupt:
            _stop(parts)
            return 130
        for part in parts:
            part.show()
    print()
    for part in parts:
        verdict = "ok" if part.process.returncode == 0 else f"FAILED (exit code {part.process.returncode})"
        print(f"{part.name:<10} {part.seconds:5.0f} s  {verdict}")
    return int(any(part.process.returncode for part in parts))


def _run(names: list[str], parts: list[Part], files: ExitStack) -> None:
    def start(name: str, command: list[str], *, shown: bool) -> Part:
        output = None if shown else files.enter_context(TemporaryFile())  # noqa: SIM115 (it is closed there)
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=output, stderr=output and subprocess.STDOUT
        )
        return Part(name, process, output)

    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if "types" in names:
        parts.append(start("types", COMMANDS["types"], shown=names == ["types"]))
    if names != ["types"]:
        start("compile", COMPILE_SOURCES, shown=False).process.wait()
        if _many_tests_are_not_compiled():
            collecting = start("collecting the tests", COMPILE_TESTS, shown=False)
            if collecting.process.wait():
                # Known now, and not only after all the others have run.
                parts.append(collecting)
                names = []
    for name in names:
        if name != "types":
            parts.append(start(name, COMMANDS[name], shown=name == names[-1]))
    while sum(not part.ended() for part in parts):
        time.sleep(0.1)


def _many_tests_are_not_compiled() -> bool:
    """Whether there are many test modules without a newer compiled form of pytest's beside them."""
    missing = 0
    for module in (ROOT / "tests").rglob("test_*.py"):
        compiled = (module.parent / "__pycache__").glob(f"{module.stem}.*-pytest-*.pyc")
        changed_s = module.stat().st_mtime
        missing += not any(form.stat().st_mtime >= changed_s for form in compiled)
    return missing >= TESTS_TO_COMPILE_MIN


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def _stop(parts: list[Part]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C goes to the parts only
    deadline = time.monotonic() + STOP_TIMEOUT_S
    for part in parts:
        if not part.ended():
            part.process.send_signal(signal.SIGINT)
    for part in parts:
        try:
            part.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            part.process.kill()
    print("\ninterrupted", flush=True)


if __name__ == "__main__":
    sys.exit(main())
