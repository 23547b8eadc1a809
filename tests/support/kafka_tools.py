"""Kafka's own command line tools, to be compared with ours: each run is a JVM of its own."""

from __future__ import annotations

import functools
import hashlib
import shutil
import subprocess
from typing import NamedTuple

from support.java_client import JVM_OPTIONS, class_path
from support.tools import CACHE, INSTALL_TIMEOUT_S, REPOSITORY, ToolMissing, machine_lock, tool

POM = REPOSITORY / "tests" / "interop" / "java_tools" / "pom.xml"
TIMEOUT_S = 120


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


def kafkas(main_class: str, *args: str) -> Ran:
    """Runs one of Kafka's tools by its class."""
    done = subprocess.run(
        [tool("java"), *JVM_OPTIONS, "-cp", tools_class_path(), main_class, *args],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)
