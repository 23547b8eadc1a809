"""The import layers of the package: the folders are the data's way, and the graph has no cycle.

A folder may import itself and what the table names; nothing above the line touches sockets, clocks,
randomness or async.
"""

from __future__ import annotations

import ast
import functools
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "ottla"

PURE = (
    *("model", "ports", "wire", "log", "replication", "metadata", "assignors"),
    *("coordination", "groups", "transactions", "raft"),
)
ALLOWED: dict[str, set[str]] = {
    "model": set(),
    "ports": {"model"},
    "wire": {"model"},
    "log": {"model", "ports", "wire"},
    "replication": {"model", "ports", "wire", "log"},
    "metadata": {"model", "ports", "wire"},
    "assignors": {"model"},
    "coordination": {"model", "ports", "wire"},
    "groups": {"model", "ports", "wire", "assignors", "coordination"},
    "transactions": {"model", "ports", "wire", "coordination"},
    "raft": {"model", "ports"},
    "net": {"model", "ports", "wire"},
    "broker": {
        *("model", "ports", "wire", "log", "replication", "metadata", "raft"),
        *("coordination", "groups", "transactions", "net"),
    },
    "client": {"model", "ports", "wire", "net", "assignors"},
    "aio": {"model", "ports", "wire", "net", "assignors", "client"},
    "pipelines": {"model", "wire", "client"},
    "streams": {"model", "client", "pipelines"},
    "testing": {
        *("model", "ports", "wire", "log", "replication", "metadata", "assignors", "raft"),
        *("coordination", "groups", "transactions", "net", "broker", "client", "aio"),
    },
    "cli": {
        *("model", "ports", "wire", "log", "replication", "metadata", "assignors", "raft"),
        *("coordination", "groups", "transactions", "net", "broker", "client", "aio", "testing"),
        *("pipelines", "streams"),
    },
}
IMPURE_MODULES = {"asyncio", "socket", "threading", "time", "random", "secrets", "select", "subprocess"}
GIVEN = {"random", "random.Random"}
"""`from random import Random`: the type of a source of chance that is passed in."""
SPARK_ONLY = {"pyspark", "pandas"}
CLIENT_SHELLS = {"client/runtime/sockets.py", "client/runtime/threaded.py", "client/runtime/interrupts.py"}
"""What touches sockets, threads and clocks in `client/`, besides the facades in `client/sync/`."""


@functools.cache
def imports_of(path: Path) -> frozenset[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the layer"
            names.add(node.module or "")
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(names)


def folders() -> list[str]:
    return sorted(p.name for p in SOURCE.iterdir() if p.is_dir() and p.name != "__pycache__")


def test_every_folder_of_the_package_has_its_place_in_the_table() -> None:
    assert set(folders()) <= set(ALLOWED)


@pytest.mark.parametrize("folder", sorted(ALLOWED))
def test_a_folder_imports_only_what_lies_below_it(folder: str) -> None:
    for path in (SOURCE / folder).rglob("*.py"):
        for name in imports_of(path):
            parts = name.split(".")
            if parts[0] == "ottla" and len(parts) > 1 and (SOURCE / parts[1]).is_dir():
                assert parts[1] == folder or parts[1] in ALLOWED[folder], f"{path} imports {name}"


@pytest.mark.parametrize("folder", PURE)
def test_pure_folders_touch_no_socket_clock_or_chance(folder: str) -> None:
    for path in (SOURCE / folder).rglob("*.py"):
        names = imports_of(path)
        if "random.Random" in names:
            names -= GIVEN
        found = {name.split(".")[0] for name in names} & (IMPURE_MODULES | SPARK_ONLY)
        assert not found, f"{path} imports {found}"


def test_the_clients_core_touches_no_socket_clock_or_chance() -> None:
    for path in (SOURCE / "client").rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        if name in CLIENT_SHELLS or name.startswith("client/sync/"):
            continue
        found = {name.split(".")[0] for name in imports_of(path)} & IMPURE_MODULES
        assert not found, f"{path} imports {found}"


def test_the_table_itself_has_no_cycle() -> None:
    done: set[str] = set()
    while len(done) < len(ALLOWED):
        ready = {name for name, needs in ALLOWED.items() if name not in done and needs <= done}
        assert ready, f"a cycle among {set(ALLOWED) - done}"
        done |= ready
