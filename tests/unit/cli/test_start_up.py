"""Commands answer at once: what they import is bounded, since imports are what a start costs.

A wall-clock limit would fail on a busy machine and pass on a fast one; the list of modules does neither.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from ottla.cli.main import COMMANDS

HEAVY = {
    "asyncio",
    "logging",
    "rich",
    "cramjam",
    "crc32c",
    "uvloop",
    "numpy",
    "pandas",
    "pyarrow",
    "importlib.metadata",
}

SHOW_MODULES = """
import sys
from ottla.cli.main import cli, run
code = run(cli, sys.argv[1:], "ottla")
print("MODULES", *sys.modules)
sys.exit(code)
"""


def modules_after(*args: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", SHOW_MODULES, *args], capture_output=True, text=True, timeout=60, check=True
    )
    return set(done.stdout.rpartition("MODULES ")[2].split())


@pytest.mark.parametrize(
    "args", [(), *((name,) for name in COMMANDS)], ids=lambda args: " ".join(args) or "ottla"
)
def test_help_imports_neither_the_client_nor_the_broker_nor_anything_heavy(args: tuple[str, ...]) -> None:
    found = modules_after(*args, "--help")
    assert not found & HEAVY
    ours = {name for name in found if name.startswith("ottla.")}
    assert not {
        name for name in ours if name.split(".")[1] in ("wire", "client", "broker", "log", "net", "metadata")
    }


def test_a_command_that_moves_no_records_loads_no_codec() -> None:
    found = modules_after("storage", "random-uuid")
    assert not found & HEAVY
    assert "ottla.wire.record_batch" not in found


def test_an_admin_command_imports_only_the_messages_it_speaks() -> None:
    source = (
        "import sys; import ottla.cli.topic, ottla.client.blocking, ottla.client.runtime.threaded; "
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, timeout=60, check=True
    )
    found = set(done.stdout.split())
    assert not found & HEAVY
    messages = {name for name in found if name.startswith("ottla.wire.messages.")}
    assert messages == {f"ottla.wire.messages.{name}" for name in ("api_versions", "index", "metadata")}
