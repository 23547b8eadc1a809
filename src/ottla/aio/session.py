"""A client's parts put together on a running event loop."""

from __future__ import annotations

from ottla.aio.runtime import AioRuntime
from ottla.client.bootstrap import Directory, parse_bootstrap
from ottla.client.metrics import Metrics
from ottla.client.session import Session
from ottla.client.settings import ClientSettings
from ottla.net.clock import SystemClock


class AioSession(Session):
    def __init__(
        self, settings: ClientSettings, directory: Directory, metrics: Metrics, runtime: AioRuntime
    ) -> None:
        super().__init__(settings, directory, metrics, runtime)
        self.runtime = runtime

    @staticmethod
    def on_loop(settings: ClientSettings) -> AioSession:
        """On the loop that runs; nothing is connected before something is asked."""
        directory = Directory(parse_bootstrap(settings.bootstrap_servers))
        metrics = Metrics(SystemClock())
        return AioSession(settings, directory, metrics, AioRuntime(settings, directory, metrics))

    async def close(self) -> None:
        if not self.runtime.gone:
            self.runtime.check_loop()
            self.metadata.close()
        await self.runtime.close()
