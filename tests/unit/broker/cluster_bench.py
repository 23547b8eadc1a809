"""What tests of a node among others share: brokers that are only registered, leaders that move, and peers
whose answers a test writes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from broker_bench import Bench

from ottla.metadata.image import PartitionState
from ottla.model.listeners import SecurityProtocol
from ottla.ports.effects import Sleep, Steps, Waiter
from ottla.ports.peers import Address, PeerUnavailable
from ottla.wire.messages.cluster_metadata import (
    BrokerEndpoint,
    BrokerRegistrationChangeRecord,
    PartitionChangeRecord,
    RegisterBrokerRecord,
)

FENCE = 1
UNFENCE = -1


class Sent:
    """A request to another node."""

    def __init__(self, address: Address, request: Any, version: int, lane: str) -> None:
        self.address = address
        self.request = request
        self.version = version
        self.lane = lane
        self.answer: Any = None
        self.waiter: Waiter | None = None

    def reply(self, answer: Any) -> None:
        self.answer = answer
        if self.waiter is not None:
            self.waiter.fire()


class ScriptedPeers:
    """`answer` is asked for each request: a response, an exception to raise, or None, which lets the caller
    wait until the test replies. What is not the coordinators' (followers that fetch) reaches nobody.
    """

    def __init__(self, bench: Bench) -> None:
        self.sent: list[Sent] = []
        self.answer: Callable[[Sent], Any] = lambda sent: None
        self._bench = bench
        bench.node.peers = self

    def call(
        self, address: Address, request: Any, version: int, *, lane: str, timeout_ms: float
    ) -> Steps[Any]:
        if not lane.startswith("txn-"):
            yield Sleep(0)
            raise PeerUnavailable(f"{address} is not there")
        sent = Sent(address, request, version, lane)
        self.sent.append(sent)
        sent.answer = self.answer(sent)
        if sent.answer is None:
            sent.waiter = Waiter(self._bench.clock.monotonic_ms() + timeout_ms)
            if not (yield sent.waiter):
                raise PeerUnavailable("no answer in time")
        if isinstance(sent.answer, BaseException):
            raise sent.answer
        return sent.answer


def register(bench: Bench, broker_id: int, *, listeners: tuple[str, ...] = ("PLAINTEXT", "OTHER")) -> None:
    """Another broker of the cluster, which nobody has started."""
    node = bench.node
    node.quorum.commit_now(
        [
            RegisterBrokerRecord(
                broker_id=broker_id,
                broker_epoch=node.quorum.log.log_end_offset,
                incarnation_id=bytes([broker_id]) * 16,
                end_points=[
                    BrokerEndpoint(
                        name=name,
                        host=f"broker-{broker_id}",
                        port=9092 + index,
                        security_protocol=SecurityProtocol.PLAINTEXT,
                    )
                    for index, name in enumerate(listeners)
                ],
                fenced=False,
                rack=f"rack-{broker_id}",
                log_dirs=[bytes([broker_id]) * 16],
            )
        ]
    )


def set_fenced(bench: Bench, broker_id: int, change: int) -> None:
    broker = bench.node.image.brokers[broker_id]
    bench.node.quorum.commit_now(
        [BrokerRegistrationChangeRecord(broker_id=broker_id, broker_epoch=broker.epoch, fenced=change)]
    )


def move(bench: Bench, topic: str, index: int, leader: int, isr: list[int] | None = None) -> PartitionState:
    """The controller gives the partition to another leader; its replicas are brokers 1 and 2."""
    image = bench.node.image.topics[topic]
    bench.node.quorum.commit_now(
        [
            PartitionChangeRecord(
                topic_id=image.topic_id,
                partition_id=index,
                leader=leader,
                replicas=[1, 2],
                isr=isr or ([leader] if leader >= 0 else [1]),
            )
        ]
    )
    return bench.node.image.topics[topic].partitions[index]
