"""The admin clients that users see: they are what the core says, and keep their manners."""

from __future__ import annotations

import ast
import asyncio
import inspect
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import ottla
import ottla.admin
import ottla.aio
from ottla.client.admin import Admin as Core
from ottla.client.admin_access import AccessAdmin
from ottla.client.admin_groups import GroupAdmin
from ottla.client.admin_share_groups import ShareGroupAdmin
from ottla.client.admin_streams_groups import StreamsGroupAdmin
from ottla.client.admin_transactions import TransactionAdmin
from ottla.client.errors import BrokerUnavailable, ClientClosed, InvalidConfig

REPOSITORY = Path(__file__).resolve().parents[4]

CORES = {
    *("AccessAdmin", "ShareGroupAdmin", "StreamsGroupAdmin", "GroupLags", "OffsetResets"),
    *("ClientSteps", "Session"),
}
INTERNAL = {"list_offsets_once", "committed_offsets", "commit_offsets"}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def public(cls: type) -> dict[str, inspect.Signature]:
    return {
        name: inspect.signature(function)
        for name, function in inspect.getmembers(cls, inspect.isfunction)
        if not name.startswith("_")
    }


def test_the_facades_are_what_the_generator_writes() -> None:
    command = [sys.executable, str(REPOSITORY / "tools" / "generate_admin_facades.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_operation_of_the_core_is_there_in_both_forms() -> None:
    cores = (Core, AccessAdmin, GroupAdmin, ShareGroupAdmin, StreamsGroupAdmin, TransactionAdmin)
    operations = {name: signature for core in cores for name, signature in public(core).items()}
    missing = set(operations) - INTERNAL - set(public(ottla.Admin))
    assert not missing
    for name, signature in public(ottla.Admin).items():
        other = public(ottla.aio.Admin)[name]
        assert list(signature.parameters) == list(other.parameters), name
        if name in operations:
            mine = [p for p in signature.parameters if p != "timeout"]
            core = [p for p in operations[name].parameters if p not in ("timeout_ms", "now_ms")]
            assert mine == core, name
            assert "timeout" in signature.parameters
            assert getattr(ottla.Admin, name).__doc__


def test_only_closing_and_operations_are_awaited() -> None:
    for name in public(ottla.aio.Admin):
        awaited = inspect.iscoroutinefunction(getattr(ottla.aio.Admin, name))
        assert awaited is (name != "metrics"), name


def test_every_type_of_a_signature_is_among_the_public_words() -> None:
    source = (REPOSITORY / "src" / "ottla" / "client" / "sync" / "admin.py").read_text(encoding="utf-8")
    imported = {
        alias.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ottla.")
        for alias in node.names
        if alias.name[0].isupper() and not alias.name.isupper()
    }
    assert imported - CORES <= set(ottla.admin.__all__)


def test_settings_are_checked_before_anything_is_connected() -> None:
    with pytest.raises(InvalidConfig, match="bootstrap"):
        ottla.Admin()
    with pytest.raises(InvalidConfig, match=r"request\.timeout\.ms"):
        ottla.Admin("localhost:1", request_timeot_ms=5)
    with ottla.Admin(config={"bootstrap.servers": "localhost:1", "client.id": "me"}) as admin:
        assert repr(admin) == "<ottla.Admin me at localhost:1>"
        assert isinstance(admin.metrics(), dict)


def test_a_closed_admin_says_so_and_can_be_closed_again() -> None:
    admin = ottla.Admin("localhost:1")
    admin.close()
    admin.close()
    with pytest.raises(ClientClosed):
        admin.list_topics()


def test_nobody_at_the_address_is_an_error_at_once() -> None:
    with ottla.Admin(f"127.0.0.1:{free_port()}") as admin, pytest.raises(BrokerUnavailable):
        admin.describe_cluster()


def test_under_asyncio_it_is_the_same() -> None:
    async def scenario() -> None:
        async with ottla.aio.Admin(f"127.0.0.1:{free_port()}") as admin:
            with pytest.raises(BrokerUnavailable):
                await admin.list_topics()
        with pytest.raises(ClientClosed):
            await admin.list_topics()
        await admin.close()

    asyncio.run(scenario())
