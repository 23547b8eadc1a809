"""Kafka's own Java clients and dump tool, in one JVM that is told what to do over its stdio.

The jars and the compiled program lie in the git-ignored `.cache/` of the repository, made once per machine
and version of `pom.xml` and the programs beside it; so does an archive of Kafka's classes, which takes half
of the work out of each start of a JVM.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from support.tools import CACHE, INSTALL_TIMEOUT_S, REPOSITORY, ToolMissing, machine_lock, tool

SOURCES = REPOSITORY / "tests" / "interop" / "java"
POM, PROGRAMS = SOURCES / "pom.xml", sorted(SOURCES.glob("*.java"))
_VERSION = hashlib.sha256(b"".join(file.read_bytes() for file in (POM, *PROGRAMS))).hexdigest()[:12]
ARCHIVE = CACHE / f"classes-{_VERSION}.jsa"
# A test's JVM lives for seconds: compile little, collect simply, share the class archive. Where the archive
# does not fit (another class path), the JVM goes on without it, and is not to say so.
JVM_OPTIONS = [
    *("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m"),
    *("-Xshare:auto", f"-XX:SharedArchiveFile={ARCHIVE}", "-Xlog:disable"),
]


class JavaError(Exception):
    """What the Java client threw; `code` is Kafka's name for it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


def class_path() -> str:
    """The compiled program and its jars, made when they are not there yet."""
    with machine_lock("java"):
        jars = CACHE / f"jars-{_digest(POM)}"
        if not jars.exists():
            staging = jars.with_suffix(".part")
            _run(
                [
                    tool("mvn"),
                    "-q",
                    "-B",
                    "-f",
                    str(POM),
                    "dependency:copy-dependencies",
                    f"-DoutputDirectory={staging}",
                ],
                "Kafka's jars could not be fetched with Maven",
            )
            staging.rename(jars)
        # The class archive wants jars: it does not take classes from a directory.
        classes = CACHE / f"classes-{_VERSION}.jar"
        if not classes.exists():
            with TemporaryDirectory(dir=CACHE) as folder:
                _run(
                    [tool("javac"), "-nowarn", "-d", folder, "-cp", f"{jars}/*", *map(str, PROGRAMS)],
                    "the Java programs of the tests could not be compiled",
                )
                staging = Path(shutil.make_archive(str(classes.with_suffix(".part")), "zip", folder))
            staging.rename(classes)
        path = f"{classes}:{jars}/*"
        if not ARCHIVE.exists():
            staging = ARCHIVE.with_suffix(".part")
            options = [option for option in JVM_OPTIONS if "SharedArchiveFile" not in option]
            _run(
                [tool("java"), *options, f"-XX:ArchiveClassesAtExit={staging}", "-cp", path, "ClassArchive"],
                "Kafka's classes could not be loaded",
            )
            staging.rename(ARCHIVE)
    return path


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
