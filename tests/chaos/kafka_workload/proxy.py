"""A proxy between the clients and the broker that understands frames: it cuts, delays, loses and keeps them
back.

It runs on an event loop in a thread of its own and listens on a port that outlives the broker; in front of a
cluster it has a port for each of the brokers. Faults are asked for from other threads:

* `cut`: connections end at once, one of two with half a request sent.
* `delay_ms`: every frame in both directions waits that long.
* `stall`: nothing passes, and no connection ends.
* `lose_reply`: the next answer to such a request is thrown away and its connection ends: the broker has done
  it and the client cannot know.
* `keep_back`: the next such request's client is cut off, and the request reaches the broker later, when the
  client has long gone on over another connection.

A planted bug (`plants.py`) sees every frame that passes and may change, swallow or repeat it. The audit
(`fetch_audit.py`) sees what clients ask for and what then reaches them, planted bugs included.
"""

from __future__ import annotations

import asyncio
import random
import struct
import threading
import time
from collections import Counter
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from chaos.kafka_workload.fetch_audit import FetchAudit
from ottla.wire.messages.index import ApiKey

_SIZE = struct.Struct(">i")
_REQUEST = struct.Struct(">hhih")
_CORRELATION = struct.Struct(">i")


@dataclass(slots=True, frozen=True)
class Request:
    """The head of a request."""

    api_key: int
    version: int
    correlation_id: int
    client_id: str
    at_s: float


class Plant(Protocol):
    async def on_request(self, link: Link, request: Request, frame: bytes) -> bytes | None:
        """The frame to send on; None when there is nothing left to send."""

    def on_reply(self, link: Link, request: Request, frame: bytes) -> bytes:
        """The frame that the client gets."""


class Link:
    """One client's connection and the broker's end of it."""

    def __init__(
        self,
        proxy: Proxy,
        client: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        broker: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        number: int = 0,
    ) -> None:
        self.proxy = proxy
        # Which of the brokers is at the other end.
        self.number = number
        self._client_in, self._client_out = client
        self._broker_in, self._broker_out = broker
        self.requests: dict[int, Request] = {}
        # What fetches under way asked for, as the audit has it.
        self.fetches: dict[int, dict[int, int]] = {}
        self.swallowed: set[int] = set()
        self.cut_within_request = False
        self.client_is_gone = False

    async def run(self) -> None:
        pumps = [asyncio.create_task(self._pump_requests()), asyncio.create_task(self._pump_replies())]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.cut()
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)

    def cut(self) -> None:
        for end in (self._client_out, self._broker_out):
            # Aborted, not closed: what is still buffered is lost, as with a pulled cable.
            end.transport.abort()

    async def to_broker(self, frame: bytes) -> None:
        self._broker_out.write(_SIZE.pack(len(frame)) + frame)
        await self._broker_out.drain()

    async def to_client(self, frame: bytes) -> None:
        self._client_out.write(_SIZE.pack(len(frame)) + frame)
        await self._client_out.drain()

    async def _pump_requests(self) -> None:
        proxy = self.proxy
        while True:
            frame = await _read_frame(self._client_in)
            api_key, version, correlation_id, length = _REQUEST.unpack_from(frame)
            client_id = bytes(frame[_REQUEST.size : _REQUEST.size + max(length, 0)]).decode(errors="replace")
            request = Request(api_key, version, correlation_id, client_id, time.monotonic())
            self.requests[correlation_id] = request
            proxy.seen[api_key, version] += 1
            await proxy.passage()
            if client_id in proxy.dead:
                return
            if self.cut_within_request:
                self._broker_out.write(_SIZE.pack(len(frame)) + frame[: len(frame) // 2])
                await self._broker_out.drain()
                return
            for_s = proxy.take_kept_back(api_key, version)
            if for_s is not None:
                proxy.done[f"{ApiKey(api_key).name} came late"] += 1
                self.client_is_gone = True
                self._client_out.transport.abort()
                await asyncio.sleep(for_s)
                await self.to_broker(frame)
                # The broker reads it before it sees the end of the connection.
                await asyncio.sleep(0.5)
                return
            if proxy.audit is not None and api_key == ApiKey.FETCH:
                self.fetches[correlation_id] = proxy.audit.on_request(client_id, frame, self.number)
            if proxy.plant is not None:
                changed = await proxy.plant.on_request(self, request, frame)
                if changed is None:
                    continue
                frame = changed
            await self.to_broker(frame)

    async def _pump_replies(self) -> None:
        proxy = self.proxy
        while True:
            frame = await _read_frame(self._broker_in)
            (correlation_id,) = _CORRELATION.unpack_from(frame)
            await proxy.passage()
            if self.client_is_gone:
                continue
            if correlation_id in self.swallowed:
                self.swallowed.discard(correlation_id)
                continue
            request = self.requests.pop(correlation_id, None)
            if request is not None:
                if proxy.replies_lost[request.api_key] > 0:
                    proxy.replies_lost[request.api_key] -= 1
                    proxy.done[f"{ApiKey(request.api_key).name} lost its answer"] += 1
                    return
                if proxy.plant is not None:
                    frame = proxy.plant.on_reply(self, request, frame)
                self._show(request, frame)
            await self.to_client(frame)

    def _show(self, request: Request, frame: bytes) -> None:
        audit = self.proxy.audit
        if audit is None:
            return
        if request.api_key == ApiKey.FETCH:
            asked = self.fetches.pop(request.correlation_id, {})
            audit.on_reply(request.client_id, request.version, asked, frame, self.number)
        elif request.api_key == ApiKey.METADATA:
            audit.on_metadata(request.version, frame)


class Proxy:
    def __init__(self, plant: Plant | None = None, audit: FetchAudit | None = None, brokers: int = 1) -> None:
        self.plant = plant
        self.audit = audit
        # Where it listens, and where the brokers behind that do.
        self.ports = [0] * brokers
        self.targets = [("127.0.0.1", 0)] * brokers
        self.delay_ms = 0.0
        # Which requests are to come late next: for how many seconds, and from which version on.
        self.kept_back: dict[int, tuple[float, int]] = {}
        self.replies_lost: Counter[int] = Counter()
        self.done: Counter[str] = Counter()
        # How many requests there were of each API and version.
        self.seen: Counter[tuple[int, int]] = Counter()
        self.links: set[Link] = set()
        # Clients that have crashed: whatever they still try, nothing of it arrives.
        self.dead: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._servers: list[asyncio.Server] = []
        self._open = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)

    @property
    def bootstrap(self) -> str:
        return ",".join(f"127.0.0.1:{port}" for port in self.ports)

    @property
    def port(self) -> int:
        return self.ports[0]

    @property
    def broker_port(self) -> int:
        return self.targets[0][1]

    @broker_port.setter
    def broker_port(self, port: int) -> None:
        self.targets[0] = ("127.0.0.1", port)

    def start(self) -> Proxy:
        self._thread.start()
        self.call(self._listen())
        return self

    def close(self) -> None:
        self.call(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def call(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Runs it on the proxy's loop, from another thread."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    # --- faults, from other threads -----------------------------------------------------------------------

    def cut(self, choose: random.Random, share: float) -> int:
        async def work() -> int:
            chosen = [link for link in self.links if choose.random() < share]
            for link in chosen:
                if choose.random() < 0.5:
                    link.cut_within_request = True
                else:
                    link.cut()
            return len(chosen)

        count: int = self.call(work())
        return count

    def stall(self, stalled: bool) -> None:
        self._loop.call_soon_threadsafe(self._open.clear if stalled else self._open.set)

    def lose_reply(self, api_key: int) -> None:
        self.replies_lost[api_key] = 1

    def keep_back(self, api_key: int, for_s: float, version_min: int = 0) -> None:
        self.kept_back[api_key] = (for_s, version_min)

    def heal(self) -> None:
        self.delay_ms = 0.0
        self.replies_lost.clear()
        self.kept_back.clear()
        self.stall(False)

    def unanswered(self, client: str) -> list[str]:
        """Requests of that client that the broker has not answered yet, on connections that still are."""

        async def work() -> list[str]:
            now_s = time.monotonic()
            return [
                f"{ApiKey(request.api_key).name} v{request.version} for {now_s - request.at_s:.0f} s"
                for link in self.links
                for request in link.requests.values()
                if request.client_id == client
            ]

        waiting: list[str] = self.call(work())
        return waiting

    # --- on the loop --------------------------------------------------------------------------------------

    def take_kept_back(self, api_key: int, version: int) -> float | None:
        """How late this request is to come, if it is; it is the only one then."""
        wanted = self.kept_back.get(api_key)
        if wanted is None or version < wanted[1]:
            return None
        del self.kept_back[api_key]
        return wanted[0]

    async def passage(self) -> None:
        if self.delay_ms:
            await asyncio.sleep(self.delay_ms / 1000)
        if not self._open.is_set():
            await self._open.wait()

    async def _listen(self) -> None:
        self._open.set()
        # A task of ours for each client: asyncio would complain about one of its own that is cancelled.
        for number in range(len(self.ports)):
            server = await asyncio.start_server(
                lambda reader, writer, number=number: self.keep(self._serve(reader, writer, number)),
                "127.0.0.1",
                0,
            )
            self._servers.append(server)
            self.ports[number] = server.sockets[0].getsockname()[1]

    async def _end(self) -> None:
        for server in self._servers:
            server.close()
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def keep(self, work: Coroutine[Any, Any, None]) -> None:
        """Runs it on the loop; a task that nobody holds may be collected."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        with suppress(OSError):
            try:
                broker = await asyncio.open_connection(*self.targets[number])
                link = Link(self, (reader, writer), broker, number)
                self.links.add(link)
                try:
                    await link.run()
                finally:
                    self.links.discard(link)
            finally:
                writer.transport.abort()


async def _read_frame(reader: asyncio.StreamReader) -> bytes:
    (size,) = _SIZE.unpack(await reader.readexactly(4))
    return await reader.readexactly(size)
