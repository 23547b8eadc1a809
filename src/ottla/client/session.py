"""One client's parts put together: what every facade, and the command line, builds on.

A session has a host (threads or an event loop) and, on it, the cluster as it is known, the keeper of its
metadata, the lookup of coordinators and the operations of administrators. `Session.threaded(settings)` makes
one for threads; `ottla.aio.session` has the one for asyncio.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ottla.client.bootstrap import Directory, parse_bootstrap
from ottla.client.cluster import Cluster
from ottla.client.coordinator import TRANSACTION_KEY_TYPE, Coordinators
from ottla.client.effects import Host
from ottla.client.metadata import Metadata
from ottla.client.metrics import Metrics
from ottla.client.settings import ClientSettings
from ottla.net.clock import SystemClock

if TYPE_CHECKING:
    from ottla.client.admin import Admin
    from ottla.client.admin_groups import GroupAdmin
    from ottla.client.admin_transactions import TransactionAdmin
    from ottla.client.runtime.threaded import ThreadedRuntime


class Session:
    def __init__(self, settings: ClientSettings, directory: Directory, metrics: Metrics, host: Host) -> None:
        self.settings = settings
        self.directory = directory
        self.metrics = metrics
        self.host = host
        self.cluster = Cluster(directory, host.clock, host.chance)
        self.cluster.operation_timeout_ms = settings.default_api_timeout_ms
        self.cluster.retry_backoff_ms = settings.retry_backoff_ms
        self.cluster.retry_backoff_max_ms = settings.retry_backoff_max_ms
        self.metadata = Metadata(self.cluster, host, settings)
        self.coordinators = Coordinators(self.cluster)
        self.transaction_coordinators = Coordinators(self.cluster, TRANSACTION_KEY_TYPE)

    # What only some clients need is imported when they do: a command should answer at once.

    @cached_property
    def admin(self) -> Admin:
        from ottla.client.admin import Admin

        return Admin(self.cluster)

    @cached_property
    def groups(self) -> GroupAdmin:
        from ottla.client.admin_groups import GroupAdmin

        return GroupAdmin(self.cluster, self.coordinators)

    @cached_property
    def transactions(self) -> TransactionAdmin:
        from ottla.client.admin_transactions import TransactionAdmin

        return TransactionAdmin(self.cluster, self.transaction_coordinators)

    @staticmethod
    def threaded(settings: ClientSettings) -> ThreadedSession:
        """For threads. Nothing is connected, and no thread started, before something is asked."""
        from ottla.client.runtime.threaded import ThreadedRuntime

        directory = Directory(parse_bootstrap(settings.bootstrap_servers))
        metrics = Metrics(SystemClock())
        return ThreadedSession(settings, directory, metrics, ThreadedRuntime(settings, directory, metrics))


class ThreadedSession(Session):
    def __init__(
        self, settings: ClientSettings, directory: Directory, metrics: Metrics, runtime: ThreadedRuntime
    ) -> None:
        super().__init__(settings, directory, metrics, runtime)
        self.runtime = runtime

    def close(self) -> None:
        if not self.runtime.gone:
            self.metadata.close()
        self.runtime.close()
