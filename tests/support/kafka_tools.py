"""Kafka's own command line tools, to be compared with ours: one JVM runs them all, one after the other."""

from __future__ import annotations

import atexit
import functools
import hashlib
import json
import shutil
import subprocess
from typing import NamedTuple

from support.java_client import JVM_OPTIONS, class_path
from support.tools import CACHE, INSTALL_TIMEOUT_S, REPOSITORY, ToolMissing, machine_lock, tool

POM = REPOSITORY / "tests" / "interop" / "java_tools" / "pom.xml"


class Ran(NamedTuple):
    code: int
    out: str
    err: str


@functools.cache
def tools_class_path() -> str:
    """The tools' jar, fetched when it is not there yet, and the jars they stand on."""
    jars = CACHE / f"tools-{hashlib.sha256(POM.read_bytes()).hexdigest()[:12]}"
    with machine_lock("java-tools"):
        if not jars.exists():
            staging = jars.with_suffix(".part")
            shutil.rmtree(staging, ignore_errors=True)
            command = [tool("mvn"), "-q", "-B", "-f", str(POM), "dependency:copy-dependencies"]
            done = subprocess.run(
                [*command, f"-DoutputDirectory={staging}"],
                capture_output=True,
                text=True,
                timeout=INSTALL_TIMEOUT_S,
                check=False,
            )
            if done.returncode:
                raise ToolMissing(
                    f"Kafka's tools could not be fetched with Maven: {(done.stdout + done.stderr)[-600:]}"
                )
            staging.rename(jars)
    return f"{class_path()}:{jars}/*"


@functools.cache
def _runner() -> subprocess.Popen[str]:
    """A JVM that waits for commands, until the end of this process."""
    process = subprocess.Popen(
        [tool("java"), *JVM_OPTIONS, "-cp", tools_class_path(), "ToolRunner"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(process.communicate)
    return process


def kafkas(main_class: str, *args: str) -> Ran:
    """Runs one of Kafka's tools by its class."""
    runner = _runner()
    assert runner.stdin is not None and runner.stdout is not None
    runner.stdin.write(json.dumps({"tool": main_class, "args": args}) + "\n")
    runner.stdin.flush()
    line = runner.stdout.readline()
    assert line, f"the JVM of Kafka's tools ended with {runner.wait()} in {main_class}"
    return Ran(**json.loads(line))
