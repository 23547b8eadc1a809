"""A broker's life in its cluster: registered, kept alive by heartbeats, and taken leave of.

A broker registers fenced, each life with an incarnation of its own, and gets an epoch. Its heartbeats tell
the controller how far it has followed the metadata log; once it has come up to its own registration it asks
to be unfenced, and leads and follows from then on. A broker that stops asks first: the controller moves its
leaderships away, and lets it go when the others know.

A cluster of one does not go through this (`Node`): its controller is itself.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final

from ottla.broker.controller_host import HEARTBEAT_LANE
from ottla.metadata.features import supported_features
from ottla.metadata.image import Endpoint, MetadataImage
from ottla.model.errors import ErrorCode, KafkaError
from ottla.ports.effects import Sleep, Steps, Waiter
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from ottla.wire.messages.broker_registration import BrokerRegistrationRequest, Feature, Listener

if TYPE_CHECKING:
    from ottla.broker.node import Node

logger = logging.getLogger(__name__)

COMING_UP_MS: Final = 50.0
"""Between heartbeats while the broker waits to be unfenced, or to be let go."""
REGISTER_RETRY_MS: Final = 200.0
LEAVE_TIMEOUT_MS: Final = 30_000.0
"""How long a stop waits for leaderships to be moved away."""
LEAVE_SILENCE_MS: Final = 3_000.0
"""How long a stop looks for a controller: when all nodes stop at once there is none."""


class RegistrationRefused(Exception):
    """The cluster does not take this broker; the message is one line that says what to do."""


class BrokerLifecycle:
    """`fenced` is what the controller last said; `may_go` that a broker which is leaving may end."""

    def __init__(self, node: Node) -> None:
        self.broker_epoch = -1
        self.fenced = True
        self.leaving = False
        self.may_go = False
        self._incarnation_id: bytes | None = None
        self._node = node
        self._timer: Waiter | None = None
        self._hurries = False
        """What a heartbeat says has changed since the last one began."""
        self._ready = False
        """Whether the logs are loaded, so that the broker may be unfenced."""

    @property
    def incarnation_id(self) -> bytes:
        """This life's own."""
        if self._incarnation_id is None:
            self._incarnation_id = self._node.new_uuid()
        return self._incarnation_id

    @property
    def is_registered(self) -> bool:
        return self.broker_epoch >= 0

    # --- coming -------------------------------------------------------------------------------------------

    def register(self, endpoints: Sequence[Endpoint]) -> Steps[None]:
        """Raises RegistrationRefused."""
        node = self._node
        request = self._registration(endpoints)
        clock = node.clock
        deadline_ms = clock.monotonic_ms() + node.settings.registration_timeout_ms
        told = False
        while True:
            try:
                response = yield from node.ask_controller(
                    request, request.MAX_VERSION, node.settings.registration_timeout_ms, lane=HEARTBEAT_LANE
                )
                code = response.error_code
            except KafkaError as error:
                code = error.code
            if code == ErrorCode.NONE:
                self.broker_epoch = response.broker_epoch
                return
            if code == ErrorCode.INCONSISTENT_CLUSTER_ID:
                raise RegistrationRefused(self.another_cluster())
            if code == ErrorCode.UNSUPPORTED_VERSION:
                raise RegistrationRefused(
                    "the cluster uses features that this version does not have: upgrade this node first"
                )
            if clock.monotonic_ms() >= deadline_ms:
                if code == ErrorCode.DUPLICATE_BROKER_REGISTRATION:
                    raise RegistrationRefused(
                        f"another broker with node.id={node.node_id} is alive in this cluster: give this one "
                        "an id of its own"
                    )
                raise RegistrationRefused(
                    "the controllers did not register this broker within "
                    f"initial.broker.registration.timeout.ms: {ErrorCode(code).name}"
                )
            if not told:
                told = True
                logger.info("the controllers do not register this broker yet: %s", ErrorCode(code).name)
            yield Sleep(REGISTER_RETRY_MS)

    def another_cluster(self) -> str:
        return (
            f"the controllers belong to another cluster than {self._node.cluster_id}: check "
            "controller.quorum.voters, or format the log directories for that cluster"
        )

    def _registration(self, endpoints: Sequence[Endpoint]) -> BrokerRegistrationRequest:
        node = self._node
        return BrokerRegistrationRequest(
            broker_id=node.node_id,
            cluster_id=node.cluster_id,
            incarnation_id=self.incarnation_id,
            listeners=[
                Listener(
                    name=each.name, host=each.host, port=each.port, security_protocol=each.security_protocol
                )
                for each in endpoints
            ],
            features=[
                Feature(name=name, min_supported_version=low, max_supported_version=high)
                for name, (low, high) in sorted(supported_features().items())
            ],
            rack=node.settings.rack,
            is_migrating_zk_broker=False,
            log_dirs=sorted(node.logs.directory_ids.values()),
            previous_broker_epoch=node.logs.previous_broker_epoch,
        )

    def ready(self) -> None:
        """Everything is loaded: the next heartbeat asks to be unfenced."""
        self._ready = True
        self._beat_now()

    # --- being there --------------------------------------------------------------------------------------

    def beat(self) -> Steps[None]:
        """Heartbeats until the controller lets the broker go."""
        node = self._node
        clock = node.clock
        while True:
            began_ms = clock.monotonic_ms()
            interval_ms = float(node.settings.heartbeat_interval_ms)
            self._hurries = False
            try:
                response = yield from node.ask_controller(
                    self._heartbeat(),
                    BrokerHeartbeatRequest.MAX_VERSION,
                    float(node.settings.session_timeout_ms),
                    lane=HEARTBEAT_LANE,
                )
                self._heard(response)
            except KafkaError as error:
                logger.warning("no controller answers this broker's heartbeats: %s", error)
            if self.leaving or (self._ready and self.fenced):
                interval_ms = min(interval_ms, COMING_UP_MS)
            if self.may_go:
                return
            if self._hurries:
                continue
            self._timer = Waiter(began_ms + interval_ms)
            yield self._timer
            self._timer = None

    def _heartbeat(self) -> BrokerHeartbeatRequest:
        node = self._node
        return BrokerHeartbeatRequest(
            broker_id=node.node_id,
            broker_epoch=self.broker_epoch,
            current_metadata_offset=node.applied_offset,
            want_fence=not self._ready,
            want_shut_down=self.leaving,
            offline_log_dirs=[
                each.directory_id
                for each in node.logs.dirs
                if not each.online and each.directory_id is not None
            ],
        )

    def _heard(self, response: BrokerHeartbeatResponse) -> None:
        code = response.error_code
        if code == ErrorCode.NONE:
            if self.fenced != response.is_fenced:
                self.fenced = response.is_fenced
                logger.info("the controller has %s this broker", "fenced" if self.fenced else "unfenced")
            self.may_go = self.leaving and response.should_shut_down
        elif code in (ErrorCode.STALE_BROKER_EPOCH, ErrorCode.BROKER_ID_NOT_REGISTERED):
            self._node.fatal(
                RegistrationRefused(
                    f"node.id={self._node.node_id} was registered by another process, or unregistered, while "
                    "this one was away: it stops, so that two do not serve under one id"
                )
            )
            self.may_go = True
        else:
            logger.warning("a heartbeat was refused: %s", ErrorCode(code).name)

    def applied(self, image: MetadataImage, changed_brokers: Collection[int]) -> None:
        """A broker that is stopping may go when the others know that it leads nothing any more: they say so
        at once, and not when their next heartbeat is due.
        """
        if not self.is_registered:
            return
        for node_id in changed_brokers:
            broker = image.brokers.get(node_id)
            if broker is not None and broker.in_controlled_shutdown and not broker.fenced:
                self._beat_now()

    def _beat_now(self) -> None:
        self._hurries = True
        if self._timer is not None:
            self._timer.fire()

    # --- going --------------------------------------------------------------------------------------------

    def leave(self) -> Steps[None]:
        """A controlled shutdown: until the leaderships are with others, or until that takes too long."""
        clock = self._node.clock
        self.leaving = True
        self._beat_now()
        began_ms = clock.monotonic_ms()
        while not self.may_go:  # `beat` hears of it
            waited_ms = clock.monotonic_ms() - began_ms
            if waited_ms >= LEAVE_TIMEOUT_MS:
                logger.warning("the leaderships were not moved away in time; stopping all the same")
                return
            if waited_ms >= LEAVE_SILENCE_MS and not self._node.knows_a_controller:
                logger.warning("no controller is there to move the leaderships away; stopping all the same")
                return
            yield Sleep(COMING_UP_MS)
