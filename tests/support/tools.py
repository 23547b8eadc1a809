"""Programs of others that the tests need: found, or installed with the system's package manager.

A machine where that is impossible gets a failing test with one clear sentence, never a skip: an
interoperability that was not tried is not shown.
"""

from __future__ import annotations

import fcntl
import functools
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
CACHE = REPOSITORY / ".cache" / "tests"
INSTALL_TIMEOUT_S = 540

_PACKAGES = {"kcat": "kcat", "javac": "default-jdk-headless", "java": "default-jdk-headless", "mvn": "maven"}


class ToolMissing(AssertionError):
    pass


@contextmanager
def machine_lock(name: str) -> Iterator[None]:
    """One test process at a time: the others wait and then find the work done."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@functools.cache
def tool(name: str) -> str:
    """The path of a program, installed first where it is missing."""
    found = shutil.which(name)
    if found is None:
        with machine_lock("apt"):
            found = shutil.which(name) or _install(name)
    return found


def _install(name: str) -> str:
    package = _PACKAGES[name]
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        raise ToolMissing(
            f"{name} is not on this machine and cannot be installed: install the package {package}"
        )
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", package]):
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, timeout=INSTALL_TIMEOUT_S, check=False
        )
    found = shutil.which(name)
    if done.returncode or found is None:
        raise ToolMissing(f"{name} is missing and `{' '.join(command)}` failed: {done.stderr.strip()[-400:]}")
    return found
