"""A run in namespaces of its own: what it starts, and what it does to the network, ends with it.

The driver starts itself again under `unshare`, in a new namespace of processes and, for runs that cut the
network, a new one of interfaces. Everything in a namespace of processes is ended by the kernel when its
first process ends, however that came about: no broker outlives its run. Interfaces that are made in there are
invisible outside and go away with it. Who is not root gets a user namespace as well, where that is allowed.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys

_MARK = "OTTLA_OWN_WORLD"


def enter(*, network: bool) -> bool:
    """Goes on in namespaces of its own; False, with nothing changed, where the machine allows none."""
    if os.environ.get(_MARK):
        return True
    if not is_possible(network=network):
        return False
    os.environ[_MARK] = "network" if network else "processes"
    sys.stdout.flush()
    os.execvp("unshare", [*_unshare(network=network), *sys.orig_argv])
    raise AssertionError("execvp returned")


@functools.cache
def is_possible(*, network: bool) -> bool:
    try:
        done = subprocess.run([*_unshare(network=network), "true"], capture_output=True, check=False)
    except FileNotFoundError:
        return False
    return done.returncode == 0


def _unshare(*, network: bool) -> list[str]:
    user = ["--user", "--map-root-user"] if os.geteuid() else []
    return [
        *("unshare", *user, "--pid", "--fork", "--kill-child", "--mount-proc"),
        *(["--net"] if network else []),
        "--",
    ]
