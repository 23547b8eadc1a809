"""The command line's client: a session for threads, with the parts that commands ask for at hand.

`run` carries out any operation of the core: `client.run(client.admin.list_topics())`. Commands that only ask
start no thread; the one that runs the operation does all the work.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from ottla import __version__
from ottla.client.effects import Call, ClientSteps
from ottla.client.session import Session
from ottla.client.settings import AdminSettings

if TYPE_CHECKING:
    from ottla.client.admin import Admin
    from ottla.client.admin_groups import GroupAdmin
    from ottla.client.admin_transactions import TransactionAdmin

R = TypeVar("R")

OPERATION_TIMEOUT_MS = 30_000
"""A person waits at the terminal: half of `default.api.timeout.ms`."""


class Client:
    def __init__(
        self,
        bootstrap_servers: str,
        *,
        client_id: str = "ottla",
        connect_timeout_ms: int = 10_000,
        request_timeout_ms: int = 30_000,
        of_controllers: bool = False,
    ) -> None:
        self.session = Session.threaded(
            AdminSettings(
                bootstrap_servers=bootstrap_servers,
                client_id=client_id,
                request_timeout_ms=request_timeout_ms,
                default_api_timeout_ms=OPERATION_TIMEOUT_MS,
                socket_connection_setup_timeout_ms=connect_timeout_ms,
                socket_connection_setup_timeout_max_ms=connect_timeout_ms,
            )
        )
        self.cluster = self.session.cluster
        self.cluster.of_controllers = of_controllers
        self.coordinators = self.session.coordinators

    @property
    def admin(self) -> Admin:
        return self.session.admin

    @property
    def groups(self) -> GroupAdmin:
        return self.session.groups

    @property
    def transactions(self) -> TransactionAdmin:
        return self.session.transactions

    @property
    def waiting(self) -> Callable[[], AbstractContextManager[None]] | None:
        """Entered around every wait; an exception raised in it gives the operation up where it stands."""
        return self.session.runtime.waiting

    @waiting.setter
    def waiting(self, entered: Callable[[], AbstractContextManager[None]] | None) -> None:
        self.session.runtime.waiting = entered

    def run(self, steps: ClientSteps[R]) -> R:
        return self.session.runtime.run(steps)

    def api_ranges(self, node_id: int) -> dict[int, tuple[int, int]]:
        """The lowest and highest version of each API that a broker speaks."""
        from ottla.wire.messages.api_versions import ApiVersionsRequest

        def ask() -> ClientSteps[dict[int, tuple[int, int]]]:
            response = yield Call(
                node_id,
                ApiVersionsRequest(client_software_name="ottla", client_software_version=__version__),
            )
            return {entry.api_key: (entry.min_version, entry.max_version) for entry in response.api_keys}

        return self.run(ask())

    def disconnect(self) -> None:
        """Closes the connections; the next operation opens new ones."""
        self.session.runtime.disconnect()

    def close(self) -> None:
        self.session.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
