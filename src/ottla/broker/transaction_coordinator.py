"""The transaction coordinator of a node: the shards of `__transaction_state` that it leads.

What it shares with the group coordinator is in `coordinator`; here is what transactions need besides:
producer ids at hand before a decision, the question of a partition's leader whether its batch belongs to a
transaction (`verify`), which goes to the broker that coordinates it, markers, and the two looks at the clock:
for transactions that took too long, and for ids that nobody uses.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from ottla.broker.coordinator import Coordinator, answer
from ottla.broker.side_lane import SideLane
from ottla.broker.transaction_host import TransactionHost
from ottla.broker.txn_marker_channels import MarkerChannels
from ottla.broker.txn_markers import end_transaction
from ottla.broker.txn_questions import Question, TxnQuestions
from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.log.turn import Turn
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.types import TRANSACTION_STATE_TOPIC, TopicPartition
from ottla.ports.effects import Sleep, Steps, Waiter
from ottla.replication.partition import Partition
from ottla.transactions.environment import Environment
from ottla.transactions.markers import TxnToEnd
from ottla.transactions.shard import TransactionShard

if TYPE_CHECKING:
    from ottla.broker.context import RequestContext
    from ottla.broker.node import Node

logger = logging.getLogger(__name__)

R = TypeVar("R")

VERIFY_TIMEOUT_MS = 30_000
"""How long a batch waits until what its transaction rests on is replicated."""
SCAN_MAX = 100
"""Transactions aborted, or ids forgotten, by one decision: one batch of the log."""
ENDINGS_PER_PASS = 6
"""Decided transactions whose markers begin to be written in one pass of the loop: about a millisecond's work
if they have a partition each.
"""

Verdicts = dict[TopicPartition, ErrorCode]


class TransactionCoordinator(Coordinator[TransactionHost]):
    topic = TRANSACTION_STATE_TOPIC
    what = "transactions"

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self._env = Environment(
            node.clock, node.settings.transactions, node.producer_ids.take, node.settings.transaction_version
        )
        self._channels = MarkerChannels(node)
        self._questions = TxnQuestions(node)
        self._endings: SideLane[tuple[TransactionHost, TxnToEnd]] = SideLane(
            node.driver,
            node.clock,
            self._begin_end,
            per_pass_min=ENDINGS_PER_PASS,
            per_pass_max=ENDINGS_PER_PASS,
        )

    def make_host(self, partition: Partition) -> TransactionHost:
        return TransactionHost(
            self._node, self._env, partition, self._jobs, self._host_failed, self._end_transaction
        )

    def start(self) -> None:
        super().start()
        node = self._node
        node.driver.spawn(
            self._look_every(
                lambda: node.settings.transaction_abort_interval_ms,
                _abort_timed_out,
            ),
            "transaction timeouts",
        )
        node.driver.spawn(
            self._look_every(
                lambda: node.settings.transaction_expiry_interval_ms,
                lambda shard: shard.expire_ids(SCAN_MAX),
            ),
            "transactional id expiry",
        )

    def take_settings(self) -> None:
        self._env.settings = self._node.settings.transactions
        self._env.version = self._node.settings.transaction_version

    def _end_transaction(self, host: TransactionHost, job: TxnToEnd) -> None:
        """Thousands may be decided at once: by time-outs, or before a crash."""
        if self._endings.may_pass():
            self._begin_end((host, job))
        else:
            self._endings.put((host, job))

    def _begin_end(self, work: tuple[TransactionHost, TxnToEnd]) -> None:
        host, job = work
        self._node.driver.spawn(
            end_transaction(self._node, host, self._channels, job),
            f"end of transaction {job.transactional_id}",
        )

    # --- what handlers ask --------------------------------------------------------------------------------

    def submit(
        self,
        ctx: RequestContext,
        transactional_id: str,
        decision: Callable[[TransactionShard, Promise[R]], Outcome],
        refusal: Callable[[KafkaError], R],
    ) -> R | Steps[R]:
        """The response to a request about one transactional id: at once where that is possible, else as
        steps.
        """
        if not self._node.producer_ids.available:
            return self._submit_with_producer_id(ctx, transactional_id, decision, refusal)
        promise = self.promise(transactional_id, decision, refusal)
        return promise.kept() if promise.done else answer(ctx, promise)

    def ask(
        self,
        ctx: RequestContext,
        transactional_id: str,
        decision: Callable[[TransactionShard, Promise[R]], Outcome],
        refusal: Callable[[KafkaError], R],
    ) -> Steps[R]:
        """As `submit`, for a handler that asks more than once and so consists of steps itself."""
        promise = self.promise(transactional_id, decision, refusal)
        if not promise.done:
            return (yield from answer(ctx, promise))
        return promise.kept()

    def _submit_with_producer_id(
        self,
        ctx: RequestContext,
        transactional_id: str,
        decision: Callable[[TransactionShard, Promise[R]], Outcome],
        refusal: Callable[[KafkaError], R],
    ) -> Steps[R]:
        try:
            self.host_of(transactional_id)
        except KafkaError as error:
            return refusal(error)  # no block is fetched for it
        try:
            yield from self._node.producer_ids.fill()
        except KafkaError:
            # Whatever kept the next block away: this is the code that every producer tries again after.
            return refusal(KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))
        return (yield from self.ask(ctx, transactional_id, decision, refusal))

    def promise(
        self,
        transactional_id: str,
        decision: Callable[[TransactionShard, Promise[R]], Outcome],
        refusal: Callable[[KafkaError], R],
    ) -> Promise[R]:
        """As `submit`, for a handler that decides several things before it waits for the first."""
        return self.promised(
            transactional_id,
            lambda host, promise: host.decide(lambda shard: decision(shard, promise)),
            refusal,
        )

    # --- what a partition's leader asks -------------------------------------------------------------------

    def verify(
        self,
        transactional_id: str,
        producer_id: int,
        epoch: int,
        partitions: Sequence[TopicPartition],
        *,
        add: bool,
    ) -> Verdicts | Steps[Verdicts]:
        """Whether these partitions belong to the producer's open transaction; `add` makes them part of it
        (KIP-890, from Produce version 12 on). NONE for those that do.
        """
        promise = self._verified(transactional_id, producer_id, epoch, partitions, add)
        if promise.done and not (add and _is_busy(promise.kept())):
            return promise.kept()
        return self._verify_again(promise, transactional_id, producer_id, epoch, partitions, add)

    def _verified(
        self,
        transactional_id: str,
        producer_id: int,
        epoch: int,
        partitions: Sequence[TopicPartition],
        add: bool,
    ) -> Promise[Verdicts]:
        def decision(shard: TransactionShard, promise: Promise[Verdicts]) -> Outcome:
            return shard.add_partitions(
                transactional_id,
                producer_id,
                epoch,
                partitions,
                verify_only=not add,
                version=2 if add else 0,
                promise=promise,
            )

        def refusal(error: KafkaError) -> Verdicts:
            return dict.fromkeys(partitions, error.code)

        promise = Promise(refusal)
        try:
            index = self.partition_of(transactional_id)
            coordinator_id = self._node.image.topics[self.topic].partitions[index].leader
            if coordinator_id < 0:
                raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        except KafkaError as error:
            promise.refuse(error)
            return promise
        if coordinator_id == self._node.node_id:
            return self.promise(transactional_id, decision, refusal)
        self._questions.put(
            coordinator_id, Question(transactional_id, producer_id, epoch, partitions, add, index, promise)
        )
        return promise

    def _verify_again(
        self,
        promise: Promise[Verdicts],
        transactional_id: str,
        producer_id: int,
        epoch: int,
        partitions: Sequence[TopicPartition],
        add: bool,
    ) -> Steps[Verdicts]:
        """A transaction that is being completed makes way within milliseconds: its producer's next batch
        waits here a little instead of being sent again.
        """
        clock = self._node.clock
        until_ms = clock.monotonic_ms() + self._node.settings.add_partitions_retry_max_ms
        while True:
            if not promise.done:
                waiter = Waiter(clock.monotonic_ms() + VERIFY_TIMEOUT_MS)
                promise.on_done = waiter.fire
                yield waiter
                if not promise.done:
                    return dict.fromkeys(partitions, ErrorCode.COORDINATOR_NOT_AVAILABLE)
            if not add or not _is_busy(promise.kept()) or clock.monotonic_ms() >= until_ms:
                return promise.kept()
            yield Sleep(self._node.settings.add_partitions_retry_ms)
            promise = self._verified(transactional_id, producer_id, epoch, partitions, add)

    # --- time ---------------------------------------------------------------------------------------------

    def _look_every(
        self, interval_ms: Callable[[], int], look: Callable[[TransactionShard], tuple[Outcome, bool]]
    ) -> Steps[None]:
        turn = Turn(self._node.clock)
        while not self._stopping:
            yield Sleep(interval_ms())
            turn.begin()
            for host in list(self.hosts.values()):
                more = not host.loading
                while more and not host.over:
                    if turn.over():
                        yield turn.rest()
                    more = _decide_some(host, look)


def _abort_timed_out(shard: TransactionShard) -> tuple[Outcome, bool]:
    outcome, more = shard.abort_timed_out(SCAN_MAX)
    for work in outcome.then:
        if isinstance(work, TxnToEnd):
            logger.info(
                "transaction %r of producer %d took longer than its timeout and is aborted (%d partitions)",
                *(work.transactional_id, work.producer_id, len(work.partitions)),
            )
    return outcome, more


def _decide_some(host: TransactionHost, look: Callable[[TransactionShard], tuple[Outcome, bool]]) -> bool:
    more = False
    before = host.last_offset

    def decision(shard: TransactionShard) -> Outcome:
        nonlocal more
        outcome, more = look(shard)
        return outcome

    host.decide_alone(decision)
    # What could not be written is looked at again next time, not at once.
    return more and host.last_offset != before


def _is_busy(verdicts: Verdicts) -> bool:
    return ErrorCode.CONCURRENT_TRANSACTIONS in verdicts.values()
