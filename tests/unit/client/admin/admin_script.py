"""A cluster of two brokers with scripted answers, and the admin operations on it."""

from __future__ import annotations

from typing import Any

from client_script import Script

from ottla.client.admin import Admin
from ottla.client.admin_access import AccessAdmin
from ottla.client.admin_groups import GroupAdmin
from ottla.client.admin_share_groups import ShareGroupAdmin
from ottla.client.admin_streams_groups import StreamsGroupAdmin
from ottla.client.admin_transactions import TransactionAdmin
from ottla.client.coordinator import TRANSACTION_KEY_TYPE, Coordinators
from ottla.client.effects import NEWEST, Call
from ottla.wire.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from ottla.wire.messages.index import APIS
from ottla.wire.primitives import Encoder


class AdminScript(Script):
    """Topic `a` has partitions on brokers 1 and 2, `b` one on broker 2. Broker 1 is the controller and
    coordinates everything but what `homes` gives to another.
    """

    def __init__(self) -> None:
        super().__init__()
        self.topics = {"a": [1, 2], "b": [2]}
        self.homes: dict[str, int] = {}
        self.handlers["FindCoordinator"] = self._coordinators
        self.admin = Admin(self.cluster)
        self.access = AccessAdmin(self.cluster)
        coordinators = Coordinators(self.cluster)
        self.groups = GroupAdmin(self.cluster, coordinators)
        self.share_groups = ShareGroupAdmin(self.cluster, coordinators)
        self.streams_groups = StreamsGroupAdmin(self.cluster, coordinators)
        self.transactions = TransactionAdmin(self.cluster, Coordinators(self.cluster, TRANSACTION_KEY_TYPE))

    def answer(self, api: str, response: Any) -> None:
        self.handlers[api] = lambda node, request: response

    def asked(self, api: str) -> list[tuple[int, Any]]:
        """To whom an API was sent, and what."""
        return [(node, request) for name, node, request in self.calls if name == api]

    def _answer(self, call: Call) -> Any:
        response = super()._answer(call)
        # What was sent has to be one of the protocol's messages in the version that was agreed on.
        name, _, request = next(sent for sent in reversed(self.calls) if sent[0] == APIS[call.api_key].name)
        version = min(APIS[call.api_key].max_version, self.versions.get(name, NEWEST), call.version_max)
        unstable = APIS[call.api_key].unstable_version
        request.encode(Encoder(), version if unstable is None else min(version, unstable - 1))
        return response

    def _coordinators(self, node_id: int, request: Any) -> FindCoordinatorResponse:
        return FindCoordinatorResponse(
            coordinators=[
                Coordinator(key=key, node_id=self.homes.get(key, 1), host="host", port=9092)
                for key in request.coordinator_keys
            ]
        )
