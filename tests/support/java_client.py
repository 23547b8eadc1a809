"""Kafka's own Java clients and dump tool, in one JVM that is told what to do over its stdio.

The jars and the compiled program lie in the git-ignored `.cache/` of the repository, made once per machine
and version of `pom.xml` and the programs beside it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from support.tools import CACHE, INSTALL_TIMEOUT_S, REPOSITORY, ToolMissing, machine_lock, tool

SOURCES = REPOSITORY / "tests" / "interop" / "java"
# A test's JVM lives for seconds: compile little, collect simply, share the class archive.
JVM_OPTIONS = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xmx512m"]


class JavaError(Exception):
    """What the Java client threw; `code` is Kafka's name for it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


def class_path() -> str:
    """The compiled program and its jars, made when they are not there yet."""
    pom, sources = SOURCES / "pom.xml", sorted(SOURCES.glob("*.java"))
    with machine_lock("java"):
        jars = CACHE / f"jars-{_digest(pom)}"
        if not jars.exists():
            staging = jars.with_suffix(".part")
            _run(
                [
                    tool("mvn"),
                    "-q",
                    "-B",
                    "-f",
                    str(pom),
                    "dependency:copy-dependencies",
                    f"-DoutputDirectory={staging}",
                ],
                "Kafka's jars could not be fetched with Maven",
            )
            staging.rename(jars)
        classes = CACHE / f"classes-{_digest(pom, *sources)}"
        if not classes.exists():
            staging = classes.with_suffix(".part")
            shutil.rmtree(staging, ignore_errors=True)
            staging.mkdir()
            _run(
                [tool("javac"), "-nowarn", "-d", str(staging), "-cp", f"{jars}/*", *map(str, sources)],
                "the Java programs of the tests could not be compiled",
            )
            staging.rename(classes)
    return f"{classes}:{jars}/*"


def _digest(*files: Path) -> str:
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def _run(command: list[str], complaint: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S, check=False)
    if done.returncode:
        raise ToolMissing(f"{complaint}: {(done.stdout + done.stderr).strip()[-600:]}")


class JavaClient:
    def __init__(self, stderr_path: Path) -> None:
        java = tool("java")
        with stderr_path.open("ab") as stderr:
            self._process = subprocess.Popen(
                [java, *JVM_OPTIONS, "-cp", class_path(), "InteropClient"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
            )

    def call(self, op: str, bootstrap: str = "", **arguments: Any) -> Any:
        """The result of an operation of InteropClient.java; raises JavaError."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        stdin.write(json.dumps({"op": op, "bootstrap": bootstrap, **arguments}).encode() + b"\n")
        stdin.flush()
        line = stdout.readline()
        if not line:
            raise AssertionError(f"the Java client ended with {self._process.wait(10)}")
        answer = json.loads(line)
        if "error" in answer:
            raise JavaError(answer["error"], answer["message"])
        return answer["ok"]

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def to_base64(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def from_base64(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
