"""The controller of the cluster as a node sees it: its own, while it leads the quorum, else another node's.

`decide` runs a decision here: the pure controller (`metadata/controller.py`) looks at the newest state and
returns an answer with records, the quorum commits them, the answer leaves. `ask` finds whoever is active:
this node, or the one whose listener the quorum knows; it asks again when that one has stepped down or cannot
be reached, until its time is up. What clients asked for travels in an envelope, so that one error of the
envelope says "not the controller" for every API; what brokers ask themselves has room for that error.

While this node is active, `_tend` carries out what time brings: brokers that fell silent, leaders to be moved
back. A controller is made active anew with each epoch; nothing of an earlier time is kept.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ottla.metadata.controller import Controller
from ottla.metadata.decision import Decision
from ottla.metadata.features import bootstrap_records
from ottla.model.errors import ErrorCode, KafkaError
from ottla.ports.effects import Sleep, Steps, Waiter
from ottla.ports.peers import Address, PeerUnavailable
from ottla.wire.framing import decode_response, encode_request
from ottla.wire.messages.allocate_producer_ids import AllocateProducerIdsRequest
from ottla.wire.messages.alter_partition import AlterPartitionRequest
from ottla.wire.messages.assign_replicas_to_dirs import AssignReplicasToDirsRequest
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest
from ottla.wire.messages.broker_registration import BrokerRegistrationRequest
from ottla.wire.messages.controller_registration import ControllerRegistrationRequest
from ottla.wire.messages.envelope import EnvelopeRequest

if TYPE_CHECKING:
    from ottla.broker.node import Node

logger = logging.getLogger(__name__)

R = TypeVar("R")

ASK_TIMEOUT_MS: Final = 30_000.0
"""How long a request of a client looks for the controller: clients give up after 30 to 60 seconds."""
CALL_TIMEOUT_MS: Final = 10_000.0
"""How long one controller is waited for before the next is looked for."""
RETRY_MS: Final = 50.0
TEND_RETRY_MS: Final = 100.0
LANE: Final = "controller"
HEARTBEAT_LANE: Final = "heartbeat"

_SPOKEN_PLAINLY: Final = frozenset(
    (
        AllocateProducerIdsRequest,
        AlterPartitionRequest,
        AssignReplicasToDirsRequest,
        BrokerHeartbeatRequest,
        BrokerRegistrationRequest,
        ControllerRegistrationRequest,
    )
)
"""What brokers ask on their own behalf; everything else travels in an envelope."""


class _Asked:
    """A request that is under way to another node's controller."""

    __slots__ = ("waiter", "response", "failure")

    def __init__(self) -> None:
        self.waiter = Waiter(inf)
        self.response: Any = None
        self.failure: Exception | None = None


class ControllerHost:
    def __init__(self, node: Node) -> None:
        self.controller = Controller(node.config, node.chance)
        self._node = node
        self._timer: Waiter | None = None
        self._asked: dict[_Asked, None] = {}

    # --- being active -------------------------------------------------------------------------------------

    def activated(self) -> None:
        """The quorum has made this node its leader, and everything before is in the tip.

        While the node starts it is its own master: it calls this when it is ready for it.
        """
        node = self._node
        if not node.controls:
            return
        logger.info("node %d is the active controller, epoch %d", node.node_id, node.quorum.epoch)
        self._look()
        self.controller.activate(self.controller.view, node.clock.monotonic_ms(), node.quorum.leader_heard_ms)
        node.driver.spawn(self._tend(node.quorum.epoch), "controller")

    def deactivated(self) -> None:
        self.wake()

    def wake(self) -> None:
        """Something happened that may bring the next deadline nearer."""
        if self._timer is not None:
            self._timer.fire()

    def _tend(self, epoch: int) -> Steps[None]:
        node = self._node
        quorum = node.quorum
        while quorum.is_active and quorum.epoch == epoch:
            self._look()
            now_ms = node.clock.monotonic_ms()
            me = quorum.tip.brokers.get(node.node_id)
            if me is not None and me.epoch == node.broker_epoch and not node.lifecycle.is_registered:
                # The broker of a cluster of one sends no heartbeats: it lives as long as this controller. One
                # of several that has yet to register is not meant: `me` is then its earlier life.
                self.controller.heartbeats.registered(node.node_id, me.epoch, now_ms)
            records = self.controller.periodic(now_ms)
            if not quorum.tip.features:
                records = [*bootstrap_records(), *records]
            if records:
                try:
                    yield from quorum.commit(records)
                except KafkaError as error:
                    logger.warning("the controller could not write its changes: %s", error)
                    yield Sleep(TEND_RETRY_MS)
                continue
            self._timer = Waiter(self.controller.next_deadline_ms())
            yield self._timer
            self._timer = None

    def _look(self) -> None:
        controller = self.controller
        controller.view = controller.view.after(self._node.quorum.tip)
        controller.next_offset = self._node.quorum.log.log_end_offset

    # --- deciding -----------------------------------------------------------------------------------------

    def decide(self, request: Any, version: int) -> Steps[Any]:
        """Decides here. Raises KafkaError(NOT_CONTROLLER) when this node is not active, or stops being so
        before the decision is committed.
        """
        now_ms = self._node.clock.monotonic_ms()
        return (yield from self.decide_by(lambda controller: controller.decide(request, version, now_ms)))

    def decide_by(self, decision_of: Callable[[Controller], Decision[R]]) -> Steps[R]:
        quorum = self._node.quorum
        if not quorum.is_active:
            raise KafkaError(ErrorCode.NOT_CONTROLLER)
        self._look()
        decision = decision_of(self.controller)
        try:
            yield from quorum.commit(decision.records)
        except KafkaError as error:
            if error.code == ErrorCode.NOT_CONTROLLER:
                raise
            refuse(decision.response, error)
        if self._timer is not None and self.controller.next_deadline_ms() < self._timer.deadline_ms:
            self.wake()
        return decision.response

    # --- asking -------------------------------------------------------------------------------------------

    def ask(
        self, request: Any, version: int, timeout_ms: float = ASK_TIMEOUT_MS, *, lane: str = LANE
    ) -> Steps[Any]:
        """The active controller's answer. Raises KafkaError(REQUEST_TIMED_OUT) when none was found in time:
        whether the request was carried out is then not known.
        """
        node = self._node
        clock = node.clock
        deadline_ms = clock.monotonic_ms() + timeout_ms
        reason = "no controller is known"
        while True:
            try:
                if node.quorum.is_active:
                    return (yield from self.decide(request, version))
                left_ms = deadline_ms - clock.monotonic_ms()
                response = yield from self._send(request, version, min(left_ms, CALL_TIMEOUT_MS), lane)
                if response is not None:
                    return response
            except PeerUnavailable as error:
                reason = str(error)
            except KafkaError as error:
                if error.code != ErrorCode.NOT_CONTROLLER:
                    raise
                reason = "the controller has stepped down"
            if clock.monotonic_ms() + RETRY_MS >= deadline_ms:
                raise KafkaError(
                    ErrorCode.REQUEST_TIMED_OUT, f"the active controller did not answer in time: {reason}"
                )
            yield Sleep(RETRY_MS)

    def _send(self, request: Any, version: int, timeout_ms: float, lane: str) -> Steps[Any]:
        """The answer of the controller that is known now; None when nobody knows one."""
        node = self._node
        address = node.quorum.controller_address()
        if address is None:
            return None
        if type(request) in _SPOKEN_PLAINLY:
            response = yield from self._call(address, request, version, timeout_ms, lane)
            if response.error_code == ErrorCode.NOT_CONTROLLER:
                raise KafkaError(ErrorCode.NOT_CONTROLLER)
            return response
        frame = b"".join(bytes(part) for part in encode_request(request, version, 0, f"node-{node.node_id}"))
        envelope = EnvelopeRequest(request_data=frame[4:], request_principal=None)
        wrapped = yield from self._call(address, envelope, 0, timeout_ms, lane)
        if wrapped.error_code != ErrorCode.NONE:
            raise KafkaError(ErrorCode(wrapped.error_code))
        return decode_response(request.API_KEY, version, wrapped.response_data)[1]

    def _call(self, address: Address, request: Any, version: int, timeout_ms: float, lane: str) -> Steps[Any]:
        """One node's answer. Raises PeerUnavailable, and KafkaError(NOT_CONTROLLER) as soon as another
        controller is known: this one may have gone without a word. A heartbeat that waited for its answer to
        the end would come too late for the next one, which would fence a broker that lives.
        """
        node = self._node
        asked = _Asked()

        def call() -> Steps[None]:
            try:
                asked.response = yield from node.peers.call(
                    address, request, version, lane=lane, timeout_ms=timeout_ms
                )
            except Exception as error:
                asked.failure = error
            asked.waiter.fire()

        self._asked[asked] = None
        try:
            node.driver.spawn(call(), "a request to the controller")
            yield asked.waiter
        finally:
            del self._asked[asked]
        if asked.failure is not None:
            raise asked.failure
        if asked.response is None:
            raise KafkaError(ErrorCode.NOT_CONTROLLER)
        return asked.response

    def controller_changed(self) -> None:
        """Another controller is known: whoever waits for the one before asks again."""
        for asked in tuple(self._asked):
            asked.waiter.fire()


def answer_or_refuse(steps: Steps[R], refusal: Callable[[KafkaError], R]) -> Steps[R]:
    """The controller's answer, or the API's own form of an error when there was none to be had."""
    try:
        return (yield from steps)
    except KafkaError as error:
        return refusal(error)


def refuse(response: Any, error: KafkaError) -> None:
    """Puts the error where this response has room for one: at the top, or at each of its parts."""
    parts: list[Any] = next(
        (getattr(response, name) for name in ("topics", "responses", "results") if hasattr(response, name)),
        [],
    )
    for part in (response, *parts):
        if hasattr(part, "error_code"):
            part.error_code = error.code
        if hasattr(part, "error_message"):
            part.error_message = error.message
