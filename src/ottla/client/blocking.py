"""The blocking client: the core's parts put together on sockets, the system's clock and its randomness.

`run` carries out any operation of the core: `client.run(client.admin.list_topics())`.
"""

from __future__ import annotations

import os
from types import TracebackType
from typing import TypeVar

from ottla import __version__
from ottla.client.admin import Admin
from ottla.client.admin_groups import GroupAdmin
from ottla.client.admin_transactions import TransactionAdmin
from ottla.client.bootstrap import Directory, parse_bootstrap
from ottla.client.cluster import Cluster
from ottla.client.coordinator import TRANSACTION_KEY_TYPE, Coordinators
from ottla.client.effects import ClientSteps
from ottla.client.network import Network
from ottla.net.clock import SystemClock

R = TypeVar("R")


def chance() -> float:
    """A number in [0, 1) from the operating system."""
    return int.from_bytes(os.urandom(6), "big") / 2**48


class Client:
    def __init__(
        self,
        bootstrap_servers: str,
        *,
        client_id: str = "ottla",
        connect_timeout_ms: int = 10_000,
        request_timeout_ms: int = 30_000,
    ) -> None:
        directory = Directory(parse_bootstrap(bootstrap_servers))
        self.network = Network(
            directory,
            client_id=client_id,
            software_version=__version__,
            connect_timeout_ms=connect_timeout_ms,
            request_timeout_ms=request_timeout_ms,
        )
        self.cluster = Cluster(directory, SystemClock(), chance)
        self.admin = Admin(self.cluster)
        self.coordinators = Coordinators(self.cluster)
        self.groups = GroupAdmin(self.cluster, self.coordinators)
        self.transactions = TransactionAdmin(self.cluster, Coordinators(self.cluster, TRANSACTION_KEY_TYPE))

    def run(self, steps: ClientSteps[R]) -> R:
        return self.network.run(steps)

    def close(self) -> None:
        self.network.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
