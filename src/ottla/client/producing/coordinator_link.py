"""How a transactional producer reaches its coordinators: one conversation at a time, with the coordinator
looked up, and asked what it can do, whenever it may have changed.

The features come from the coordinator's ApiVersions: whether it can bump a producer's epoch (KIP-360), and
whether the cluster has transactions of the second generation (`transaction.version` 2, KIP-890).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from ottla.client.coordinator import Coordinators
from ottla.client.effects import NEWEST, Call, ClientSteps, Pause, Signal, Wait
from ottla.client.errors import OttlaError
from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.messages.init_producer_id import InitProducerIdRequest

if TYPE_CHECKING:
    from ottla.client.session import Session

R = TypeVar("R")

EPOCH_BUMP_SINCE: Final = 3
"""A coordinator that has InitProducerId in this version can bump a producer's epoch."""
SECOND_GENERATION: Final = 2
FEATURE: Final = "transaction.version"


class BackoffMs(Protocol):
    def __call__(self, attempts: int, *, soon: bool = False) -> float: ...


class CoordinatorLink:
    def __init__(self, session: Session, backoff_ms: BackoffMs) -> None:
        self._coordinators = session.transaction_coordinators
        self._backoff_ms = backoff_ms
        self._busy = False
        self._free = Signal()
        self._features_of: int | None = None
        """The coordinator that the features are known of."""
        self._features_epoch = -1
        self.bumps_epochs = False
        self.second_generation = False

    def exclusive(self, steps: ClientSteps[R]) -> ClientSteps[R]:
        """Runs a conversation when no other is going on."""
        while self._busy:
            yield Wait(self._free)
        self._busy = True
        try:
            return (yield from steps)
        finally:
            self._busy = False
            self._free.notify()

    def ask(
        self,
        coordinators: Coordinators,
        key: str,
        request: Any,
        attempts: int,
        *,
        version_max: int = NEWEST,
        soon: bool = False,
        wanted: Callable[[], bool] = lambda: True,
    ) -> ClientSteps[Any]:
        """One attempt, after a pause if it is not the first (`soon`: a short one); None when it is not
        `wanted` any more after that.
        """
        if attempts:
            yield Pause(self._backoff_ms(attempts - 1, soon=soon))
            if not wanted():
                return None
        try:
            node_id = yield from coordinators.locate_once(key)
            if coordinators is self._coordinators and node_id != self._features_of:
                yield from self._learn_features(node_id)
            return (yield Call(node_id, request, version_max=version_max))
        except OttlaError:
            self.forget(coordinators, key)
            raise

    def forget(self, coordinators: Coordinators, key: str) -> None:
        """The coordinator may be another, or the same after an upgrade."""
        coordinators.forget(key)
        self._features_of = None

    def _learn_features(self, node_id: int) -> ClientSteps[None]:
        request = ApiVersionsRequest(client_software_name="ottla", client_software_version="0")
        response = yield Call(node_id, request)
        self.bumps_epochs = any(
            entry.api_key == InitProducerIdRequest.API_KEY and entry.max_version >= EPOCH_BUMP_SINCE
            for entry in response.api_keys
        )
        if response.finalized_features_epoch > self._features_epoch:
            self._features_epoch = response.finalized_features_epoch
            self.second_generation = any(
                feature.name == FEATURE and feature.max_version_level >= SECOND_GENERATION
                for feature in response.finalized_features
            )
        self._features_of = node_id
