"""Replies from files: sendfile and the TLS way (DESIGN.md, The way of the data, Replies)."""

from __future__ import annotations

import asyncio
import os
import random
import socket
import ssl
from pathlib import Path
from typing import Any

import pytest
from net_serving import PinnedFile, frame, loop_factories, run, serving, until

from ottla.net import sink as sink_module
from ottla.net.connection import Connection
from ottla.net.replies import Part, Slot
from ottla.net.settings import NetSettings
from ottla.net.sink import CopySink, SendfileSink
from ottla.net.writability import Writability


def tls_contexts() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Encryption without certificates (anonymous key exchange): enough to have a real TLS transport."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_mode = ssl.CERT_NONE
    for context in (server, client):
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers("AECDH:@SECLEVEL=0")
    return server, client


TRANSPORTS = [
    pytest.param(factory, tls, id=f"{factory.__module__.split('.')[0]}-{'tls' if tls else 'plain'}")
    for factory in loop_factories()
    for tls in (False, True)
]
every_transport = pytest.mark.parametrize(("factory", "tls"), TRANSPORTS)


def security(tls: bool) -> dict[str, Any]:
    if not tls:
        return {}
    server, client = tls_contexts()
    return {"server_ssl": server, "client_ssl": client}


@pytest.fixture
def file(tmp_path: Path) -> PinnedFile:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(random.Random(7).randbytes(6_000_000))
    return PinnedFile(str(path))


@every_transport
def test_bytes_and_slices_of_all_sizes_arrive_in_order(factory: Any, tls: bool, file: PinnedFile) -> None:
    data = Path(file.path).read_bytes()
    rng = random.Random(1)
    plan: list[list[tuple[int, int] | bytes]] = []
    for _ in range(40):
        parts: list[tuple[int, int] | bytes] = []
        for _ in range(rng.randrange(1, 6)):
            size = rng.choice([0, 1, 100, 16_384, 16_385, 65_536, 300_000, 2_500_000])
            parts.append(
                (rng.randrange(len(data) - size), size) if rng.random() < 0.5 else rng.randbytes(size)
            )
        plan.append(parts)
    expected = b"".join(
        part if isinstance(part, bytes) else data[part[0] : part[0] + part[1]]
        for parts in plan
        for part in parts
    )
    requests = iter(plan)

    def handler(connection: Connection, payload: memoryview) -> None:
        parts: list[Part] = [
            part if isinstance(part, bytes) else file.slice(*part) for part in next(requests)
        ]
        connection.open_slot().complete(parts)

    async def test() -> None:
        async with serving(handler, **security(tls)) as s:
            reader, writer = await s.connect()
            writer.write(frame(b"12345678") * len(plan))
            assert await reader.readexactly(len(expected)) == expected
            assert s.connection.secure is tls
            assert isinstance(s.connection._sink, CopySink if tls else SendfileSink)
            assert s.connection.bytes_sent == len(expected)
            assert s.hub.reply_bytes == 0
            assert file.pinned == 0
            writer.close()

    run(test, factory)
    assert file.pins == file.unpins


@every_transport
def test_slices_of_a_peer_that_disappears_are_released_once(
    factory: Any, tls: bool, file: PinnedFile
) -> None:
    slots: list[Slot] = []

    def handler(connection: Connection, payload: memoryview) -> None:
        slot = connection.open_slot()
        slots.append(slot)
        if len(slots) != 3:
            slot.complete([b"head", file.slice(0, 5_000_000), file.slice(10, 100)])

    async def test() -> None:
        settings = NetSettings(send_buffer_bytes=20_000, receive_buffer_bytes=20_000)
        async with serving(handler, settings=settings, **security(tls)) as s:
            reader, writer = await s.connect(limit=1000)
            writer.write(frame(b"12345678") * 5)
            await reader.readexactly(20_000)  # in the middle of the first slice
            await until(lambda: len(slots) == 5)
            assert file.pinned >= 7
            connection = s.connection
            writer.transport.abort()
            await until(lambda: connection.closed)
            assert file.pinned == 0
            slots[2].complete([b"late", file.slice(0, 100)])
            assert file.pinned == 0

    run(test, factory)
    assert file.pins == file.unpins == 9


@every_transport
def test_a_client_that_stops_reading_pins_files_but_holds_no_memory(
    factory: Any, tls: bool, file: PinnedFile
) -> None:
    def handler(connection: Connection, payload: memoryview) -> None:
        connection.open_slot().complete([b"head", file.slice(0, 6_000_000)])

    async def test() -> None:
        settings = NetSettings(send_buffer_bytes=50_000, reply_timeout_ms=300)
        async with serving(handler, settings=settings, **security(tls)) as s:
            _, writer = await s.connect(limit=1000)
            writer.write(frame(b"12345678") * 4)
            await until(lambda: bool(s.listener.connections))
            connection = s.connection
            held_max = 0
            while not connection.closed:
                held_max = max(held_max, s.hub.reply_bytes)
                transport = connection._transport
                if transport is not None:
                    held_max = max(held_max, transport.get_write_buffer_size())
                await asyncio.sleep(0.005)
            assert held_max < 1_500_000
            assert "read no reply" in str(connection.close_reason)
            assert file.pinned == 0
            writer.close()

    run(test, factory)


@every_transport
def test_cold_pages_are_read_by_a_worker(
    factory: Any, tls: bool, file: PinnedFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RWF_NOWAIT says EAGAIN for a page that is not in memory. Which pages are is up to the kernel, so the
    answer is made up here: the first probe of every stretch is cold.
    """
    data = Path(file.path).read_bytes()
    asked: set[int] = set()
    preadv = os.preadv

    def cold_at_first(fd: int, buffers: Any, position: int, flags: int = 0) -> int:
        if flags & os.RWF_NOWAIT and position // 500_000 not in asked:
            asked.add(position // 500_000)
            raise BlockingIOError(11, "cold")
        return preadv(fd, buffers, position, flags)

    monkeypatch.setattr(sink_module.os, "preadv", cold_at_first)
    loops: list[Any] = []

    def handler(connection: Connection, payload: memoryview) -> None:
        loops.append(asyncio.get_running_loop().time())
        connection.open_slot().complete([b"head", file.slice(100, 3_000_000), file.slice(5, 70)])

    async def test() -> None:
        async with serving(handler, **security(tls)) as s:
            reader, writer = await s.connect()
            writer.write(frame(b"12345678") * 2)
            expected = b"head" + data[100:3_000_100] + data[5:75]
            assert await reader.readexactly(2 * len(expected)) == 2 * expected
            assert len(asked) >= 6
            assert file.pinned == 0
            writer.close()

    run(test, factory)


def test_a_slice_is_pinned_until_the_worker_that_reads_it_is_done(
    file: PinnedFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A descriptor closed and reused under a reading thread would read another topic's bytes."""

    preadv = sink_module.os.preadv

    def always_cold(fd: int, buffers: Any, position: int, flags: int = 0) -> int:
        if flags & os.RWF_NOWAIT:
            raise BlockingIOError(11, "cold")
        return preadv(fd, buffers, position)

    monkeypatch.setattr(sink_module.os, "preadv", always_cold)

    def handler(connection: Connection, payload: memoryview) -> None:
        connection.open_slot().complete([file.slice(0, 1_000_000), file.slice(0, 1_000_000)])

    async def test() -> None:
        async with serving(handler) as s:
            held: list[Any] = []
            monkeypatch.setattr(s.hub.workers, "submit", lambda call, done: held.append((call, done)))
            _, writer = await s.connect()
            writer.write(frame(b"12345678"))
            await until(lambda: len(held) == 1)
            connection = s.connection
            connection.close("for the test")
            assert file.pinned == 1, "the one that the worker reads"
            call, done = held[0]
            call()
            done(None, None)
            assert file.pinned == 0
            writer.close()

    run(test)
    assert file.pins == file.unpins == 2


def test_a_file_system_without_nowait_counts_as_warm(
    file: PinnedFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = Path(file.path).read_bytes()

    def refused(fd: int, buffers: Any, position: int, flags: int = 0) -> int:
        raise OSError(95, "not supported")

    monkeypatch.setattr(sink_module.os, "preadv", refused)

    def handler(connection: Connection, payload: memoryview) -> None:
        connection.open_slot().complete([file.slice(0, 1_000_000), file.slice(3, 10)])

    async def test() -> None:
        async with serving(handler) as s:
            reader, writer = await s.connect()
            writer.write(frame(b"12345678"))
            assert await reader.readexactly(1_000_010) == data[:1_000_000] + data[3:13]
            assert s.hub.workers.under_way == 0
            writer.close()

    run(test)


@pytest.mark.parametrize("length", [100, 100_000])
@every_transport
def test_a_file_that_is_shorter_than_its_slice_ends_the_connection(
    factory: Any, tls: bool, file: PinnedFile, length: int
) -> None:
    def handler(connection: Connection, payload: memoryview) -> None:
        connection.open_slot().complete([b"head", file.slice(5_999_950, length)])

    async def test() -> None:
        async with serving(handler, **security(tls)) as s:
            _, writer = await s.connect()
            writer.write(frame(b"12345678"))
            await until(lambda: bool(s.listener.connections))
            connection = s.connection
            await until(lambda: connection.closed)
            assert "ends" in str(connection.close_reason)
            assert file.pinned == 0
            writer.close()

    run(test, factory)


def test_a_large_reply_is_sent_in_turns_so_that_others_are_served_between(file: PinnedFile) -> None:
    order: list[str] = []

    def handler(connection: Connection, payload: memoryview) -> None:
        order.append(bytes(payload[:4]).decode())
        if payload[:4] == b"bulk":
            connection.open_slot().complete([file.slice(0, 6_000_000)])
        else:
            connection.open_slot().complete([frame(b"small")])

    async def test() -> None:
        async with serving(handler) as s:
            bulk_reader, bulk_writer = await s.connect(limit=2**24)
            small_reader, small_writer = await s.connect()
            bulk_writer.write(frame(b"bulk____") * 8)
            served = 0

            async def small() -> None:
                nonlocal served
                while not bulk.done():
                    small_writer.write(frame(b"ping____"))
                    await small_reader.readexactly(9)
                    served += 1

            bulk = asyncio.ensure_future(bulk_reader.readexactly(8 * 6_000_000))
            await small()
            assert served > 20
            bulk_writer.close()
            small_writer.close()

    run(test)


@pytest.mark.parametrize("head", [b"head", bytes(100)])
def test_a_full_turn_sends_the_end_of_its_reply_too(
    file: PinnedFile, head: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns: list[None] = []
    next_turn = SendfileSink._next_turn
    monkeypatch.setattr(SendfileSink, "_next_turn", lambda sink: (turns.append(None), next_turn(sink))[1])
    sizes: list[int] = []
    sendfile = os.sendfile

    def noted(out: int, source: int, position: int, count: int) -> int:
        sizes.append(count)
        return sendfile(out, source, position, count)

    monkeypatch.setattr(sink_module.os, "sendfile", noted)

    def handler(connection: Connection, payload: memoryview) -> None:
        connection.open_slot().complete([head, file.slice(0, sink_module.TURN_BYTES_MAX), b"end"])

    async def test() -> None:
        settings = NetSettings(send_buffer_bytes=4 << 20)
        async with serving(handler, settings=settings) as s:
            reader, writer = await s.connect(limit=2**24)
            for _ in range(5):
                writer.write(frame(b"12345678"))
                await reader.readexactly(len(head) + sink_module.TURN_BYTES_MAX + 3)
            writer.close()

    run(test)
    assert not turns
    assert sizes.count(sink_module.TURN_BYTES_MAX) == 5  # each whole reply at once, or tried to


def test_of_a_file_that_is_in_memory_only_the_ends_are_looked_at_until_something_is_missing(
    file: PinnedFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    probes: list[int] = []
    cold_from = len(Path(file.path).read_bytes())
    preadv = os.preadv

    def noted(fd: int, buffers: Any, position: int, flags: int = 0) -> int:
        if flags & os.RWF_NOWAIT:
            probes.append(position)
            if position >= cold_from:
                raise BlockingIOError(11, "cold")
        return preadv(fd, buffers, position, flags)

    monkeypatch.setattr(sink_module.os, "preadv", noted)
    size = 1_000_000

    def handler(connection: Connection, payload: memoryview) -> None:
        connection.open_slot().complete([file.slice(payload[0] * size, size)])

    async def test() -> None:
        nonlocal cold_from
        async with serving(handler) as s:
            reader, writer = await s.connect(limit=2**24)

            async def read(at: int) -> int:
                probes.clear()
                writer.write(frame(bytes([at]) * 8))
                await reader.readexactly(size)
                return len(probes)

            closely = -(-size // sink_module.PROBE_STRIDE_BYTES)
            looks = [await read(n % 5) for n in range(12)]
            assert looks[:8] == [closely] * 8
            assert max(looks[9:]) <= 2 * (1 + size // sink_module.TURN_BYTES_MAX)
            cold_from = 2 * size - 10  # the end of a range, as of what has left memory from here on
            await read(1)
            assert probes[-1] == 2 * size - 1
            cold_from = len(Path(file.path).read_bytes())
            assert await read(2) == closely
            writer.close()

    run(test)


def test_a_full_socket_is_watched_until_its_connection_ends(file: PinnedFile) -> None:
    def open_descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    def handler(connection: Connection, payload: memoryview) -> None:
        connection.open_slot().complete([file.slice(0, 600_000)])

    async def test() -> None:
        settings = NetSettings(send_buffer_bytes=20_000)
        async with serving(handler, settings=settings) as s:
            before = open_descriptors()
            watched = s.hub.writability._callbacks
            for abort in (False, True):
                reader, writer = await s.connect(limit=1000)
                for _ in range(3):
                    writer.write(frame(b"12345678"))
                    await reader.readexactly(10_000)
                    await until(lambda: len(watched) == 1)
                    await reader.readexactly(590_000)
                writer.write(frame(b"12345678"))
                await reader.readexactly(10_000)
                if abort:
                    writer.transport.abort()
                else:
                    await reader.readexactly(590_000)
                    writer.close()
                await until(lambda: not s.listener.connections)
                assert not watched
                # One descriptor for all full sockets stays.
                await until(lambda: open_descriptors() == before + 1)

    run(test)


def test_a_descriptor_that_is_used_again_is_told_of_its_own_room_only() -> None:
    async def test() -> None:
        told: list[str] = []
        watching = Writability(asyncio.get_running_loop())
        first, first_peer = socket.socketpair()
        with first_peer:
            number = first.fileno()
            watching.tell_once(number, lambda: told.append("first"))
            watching.forget(number)
            first.close()
            second, second_peer = socket.socketpair()
            with second, second_peer:
                assert second.fileno() == number, "the lowest number that is free"
                watching.tell_once(number, lambda: told.append("second"))
                await until(lambda: bool(told))
                for _ in range(3):
                    await asyncio.sleep(0)
                assert told == ["second"]
                watching.forget(number)
        watching.close()

    run(test)


@every_transport
def test_pausing_and_stopping_lose_nothing_on_any_transport(
    factory: Any, tls: bool, file: PinnedFile
) -> None:
    data = Path(file.path).read_bytes()
    slots: list[Slot] = []

    def handler(connection: Connection, payload: memoryview) -> None:
        slots.append(connection.open_slot())
        connection.pause_reading("wait")

    async def test() -> None:
        async with serving(handler, **security(tls)) as s:
            reader, writer = await s.connect()
            writer.write(frame(b"12345678") * 200 + frame(bytes(400_000)))
            for count in range(1, 202):
                await until(lambda: len(slots) == count)  # noqa: B023
                await asyncio.sleep(0)
                assert len(slots) == count, "paused: one at a time"
                if count < 201:
                    s.connection.resume_reading("wait")
            for slot in slots[:-1]:
                slot.complete([b"small"])
            writer.write(frame(b"never dispatched"))
            stopping = asyncio.ensure_future(s.listener.stop(drain_ms=15_000))
            await asyncio.sleep(0)
            slots[-1].complete([b"large", file.slice(0, 6_000_000)])
            assert await reader.read() == b"small" * 200 + b"large" + data
            writer.close()
            await stopping
            assert len(slots) == 201
            assert file.pinned == 0

    run(test, factory)
