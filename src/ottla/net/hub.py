"""What all the connections of one event loop share: receive memory, the turn, worker threads, full
sockets, limits."""

from __future__ import annotations

import asyncio
import logging

from ottla.net.memory import FrameMemory
from ottla.net.quiet_log import QuietLog
from ottla.net.settings import NetSettings
from ottla.net.turn import Turn
from ottla.net.workers import Workers
from ottla.net.writability import Writability


class Hub:
    """One per event loop. `settings` may be replaced while it runs (dynamic configuration)."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        settings: NetSettings | None = None,
        *,
        memory: FrameMemory | None = None,
        turn: Turn | None = None,
        workers: Workers | None = None,
    ) -> None:
        self.loop = loop
        self.settings = settings or NetSettings()
        self.memory = memory or FrameMemory()
        self.turn = turn or Turn(loop)
        self.workers = workers or Workers(loop, self.turn)
        self.writability = Writability(loop)
        self.log = QuietLog(logging.getLogger("ottla.net"))
        self.reply_bytes = 0  # of all connections, unsent
        self.connections = 0
        self.connections_by_host: dict[str, int] = {}

    def admit(self, host: str) -> str | None:
        """Counts a new connection in; or says why it has to be refused."""
        settings = self.settings
        if self.connections >= settings.connections_max:
            return f"there are {self.connections} connections already (max.connections)"
        from_host = self.connections_by_host.get(host, 0)
        if from_host >= settings.connections_per_ip_overrides.get(host, settings.connections_per_ip_max):
            return f"{host} has {from_host} connections already (max.connections.per.ip)"
        self.connections += 1
        self.connections_by_host[host] = from_host + 1
        return None

    def leave(self, host: str) -> None:
        self.connections -= 1
        left = self.connections_by_host[host] - 1
        if left:
            self.connections_by_host[host] = left
        else:
            del self.connections_by_host[host]

    def close(self) -> None:
        """After the listeners were stopped."""
        self.workers.close()
        self.writability.close()
