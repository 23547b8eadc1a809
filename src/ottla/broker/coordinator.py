"""What the coordinators of a node have in common: shards by partition, and everything that moves them.

A coordinator's records are in a topic of its own; the hash of a group's or a transaction's id names the
partition, and whoever leads that partition coordinates it. The node tells a coordinator of partitions that it
begins and ceases to lead; each one led here has a host (`coordinator_host`), which is loaded, served by one
background task for the timers of all, and loaded again when it had to be given up.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from math import inf
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ottla.broker.coordinator_host import LOAD_FAILURES, CoordinatorHost
from ottla.broker.coordinator_jobs import CoordinatorJobs
from ottla.coordination.partitioner import partition_of_key
from ottla.coordination.promise import Promise
from ottla.log.turn import Turn
from ottla.model.errors import ErrorCode, KafkaError
from ottla.ports.effects import Sleep, Steps, Waiter
from ottla.replication.partition import Partition

if TYPE_CHECKING:
    from ottla.broker.context import RequestContext
    from ottla.broker.node import Node

logger = logging.getLogger(__name__)

H = TypeVar("H", bound=CoordinatorHost[Any])
R = TypeVar("R")

RELOAD_MS_MIN = 50.0
RELOAD_MS_MAX = 10_000.0
"""Between loadings of a shard that is given up again and again: a full disk, or a bug in every load."""
RELOAD_FORGOTTEN_MS = 60_000.0
FAULTS_MAX = 100


class Coordinator(ABC, Generic[H]):
    topic: str
    """The topic that holds its records."""
    what: str
    """What it coordinates, for messages."""

    def __init__(self, node: Node) -> None:
        self.hosts: dict[int, H] = {}
        """By partition of the topic, what is led here."""
        self.faults: list[BaseException] = []
        """Bugs of ours that cost a shard its soft state; there should be none."""
        self._node = node
        self._jobs = CoordinatorJobs(node.driver, node.clock)
        self._timer: Waiter | None = None
        self._stopping = False
        self._given_up: dict[int, tuple[float, float]] = {}
        """By partition, when its shard was last given up, and how long loading waits if it is again."""

    @abstractmethod
    def make_host(self, partition: Partition) -> H: ...

    def start(self) -> None:
        self._node.driver.spawn(self._run_timers(), f"timers of {self.what}")

    def stop(self) -> None:
        """Tells everybody who waits, so that the connections can drain."""
        self._stopping = True
        for host in self.hosts.values():
            host.close()
        self.hosts.clear()

    # --- what the node tells ------------------------------------------------------------------------------

    def leads(self, partition: Partition) -> None:
        """This node leads the partition. An epoch that goes on changes nothing; any other loads anew."""
        index = partition.tp.partition
        host = self.hosts.get(index)
        if host is not None:
            if host.partition is partition and host.leader_epoch == partition.leader_epoch:
                return
            host.close()
        self._load(partition)

    def leads_no_more(self, index: int) -> None:
        host = self.hosts.pop(index, None)
        if host is not None:
            host.close()

    # --- shards -------------------------------------------------------------------------------------------

    def _load(self, partition: Partition, delay_ms: float = 0.0) -> None:
        if self._stopping:
            return
        host = self.make_host(partition)
        host.shard.timers.on_earlier = self._earlier
        self.hosts[partition.tp.partition] = host
        if not delay_ms and partition.log.log_start_offset == partition.log.log_end_offset:
            host.loading = False  # nothing to load: most shards, most of the time
            host.loaded(0, 0.0)
        else:
            self._node.driver.spawn(self._loading(host, delay_ms), f"loading of {partition.tp}")

    def _loading(self, host: H, delay_ms: float) -> Steps[None]:
        if delay_ms:
            yield Sleep(delay_ms)
        try:
            yield from host.load()
        except LOAD_FAILURES as error:
            if host.over:
                return  # the leadership went meanwhile, and a new leader's records may have taken their place
            logger.error(
                "%s cannot be loaded; its %s are not served: %s", host.partition.tp, self.what, error
            )
            if self.hosts.get(host.partition.tp.partition) is host:
                self.leads_no_more(host.partition.tp.partition)
            if isinstance(error, OSError):
                self._node.read_failed(host.partition, error)

    def _host_failed(self, host: CoordinatorHost[Any], error: BaseException | None) -> None:
        if error is not None:
            logger.error("%s: a decision about %s failed", host.partition.tp, self.what, exc_info=error)
            if len(self.faults) < FAULTS_MAX:
                self.faults.append(error)
        if self.hosts.get(host.partition.tp.partition) is host:
            del self.hosts[host.partition.tp.partition]
            if host.partition.is_leader and not host.partition.deleted:
                self._load(host.partition, self._reload_delay_ms(host.partition.tp.partition))

    def _reload_delay_ms(self, index: int) -> float:
        """None the first time, longer and longer when it happens again soon."""
        now_ms = self._node.clock.monotonic_ms()
        last_ms, next_ms = self._given_up.get(index, (-inf, 0.0))
        delay_ms = 0.0 if now_ms - last_ms > RELOAD_FORGOTTEN_MS else next_ms
        self._given_up[index] = now_ms, min(max(delay_ms * 2, RELOAD_MS_MIN), RELOAD_MS_MAX)
        return delay_ms

    def partition_of(self, key: str) -> int:
        """The partition of the topic that an id's records are in."""
        topic = self._node.image.topics.get(self.topic)
        if topic is None:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        return partition_of_key(key, len(topic.partitions))

    def host_of(self, key: str) -> H:
        """Raises the KafkaError that a client retries after looking for the coordinator."""
        host = self.hosts.get(self.partition_of(key))
        if host is None:
            raise KafkaError(ErrorCode.NOT_COORDINATOR)
        if host.loading:
            raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return host

    def hosts_in_order(self) -> Iterator[H]:
        """Every shard led here; raises COORDINATOR_LOAD_IN_PROGRESS when one is not there yet."""
        for index in sorted(self.hosts):
            host = self.hosts[index]
            if host.loading:
                raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
            yield host

    # --- what handlers ask --------------------------------------------------------------------------------

    def promised(
        self, key: str, decision: Callable[[H, Promise[R]], None], refusal: Callable[[KafkaError], R]
    ) -> Promise[R]:
        """The promise of the response to a request about one id; it may be kept already."""
        promise = Promise(refusal)
        try:
            decision(self.host_of(key), promise)
        except KafkaError as error:
            promise.refuse(error)
        return promise

    # --- time ---------------------------------------------------------------------------------------------

    def _earlier(self, deadline_ms: float) -> None:
        timer = self._timer
        if timer is not None and deadline_ms < timer.deadline_ms:
            timer.fire()

    def _run_timers(self) -> Steps[None]:
        clock = self._node.clock
        turn = Turn(clock)
        while not self._stopping:
            deadline_ms = min(
                (each.shard.timers.next_deadline_ms() for each in self.hosts.values()), default=inf
            )
            if deadline_ms > clock.monotonic_ms():
                self._timer = Waiter(deadline_ms)
                yield self._timer
                self._timer = None
                turn.begin()
            now_ms = clock.monotonic_ms()
            for host in list(self.hosts.values()):
                while not host.over and host.run_due(now_ms):
                    if turn.over():
                        yield turn.rest()


def answer(ctx: RequestContext, promise: Promise[R]) -> Steps[R]:
    """Waits for a promise, as long as the connection is there."""
    waiter = Waiter(inf)
    promise.on_done = waiter.fire
    if promise.done:
        waiter.fire()
    ctx.peer.add_waiter(waiter)
    yield waiter
    ctx.peer.discard_waiter(waiter)
    promise.on_done = None
    if not promise.done:
        # The connection is gone, and nobody reads this.
        return promise.refusal(KafkaError(ErrorCode.NOT_COORDINATOR))
    return promise.kept()
