"""Takes batches to their brokers, and what comes of it back to the batches.

One task runs `pump` whenever something is due, and sleeps otherwise: a batch has become ready, a timer is
over, an answer came. Each request is a task of its own, at most `max.in.flight.requests.per.connection` to
one broker; one request has one batch each of as many partitions as fit, taken in turns.

An answer completes the batch, or fails it, or puts it in line again. Nothing here waits with state half
changed: between two yields everything is as it is described in `lane.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ottla.client import log
from ottla.client.backoff import JITTER
from ottla.client.effects import ANY_BROKER, Call, ClientSteps, Pause, Signal, Task, Wait
from ottla.client.errors import (
    BrokerUnavailable,
    DeliveryTimedOut,
    OttlaError,
    ProducerFailed,
    RequestTimedOut,
    SerializationFailed,
    ServerError,
)
from ottla.client.producing.accumulator import NEVER, Accumulator
from ottla.client.producing.batch import Batch
from ottla.client.producing.identity import Identity
from ottla.client.producing.lane import Lane
from ottla.client.producing.produce_request import (
    LEADER_MOVED,
    STALE_METADATA,
    SURELY_NOT_STORED,
    ProduceCall,
    error_in,
    record_errors_in,
)
from ottla.client.producing.sender_metrics import SenderMetrics
from ottla.client.settings import ProducerSettings
from ottla.model.errors import ErrorCode
from ottla.wire.messages.init_producer_id import InitProducerIdRequest
from ottla.wire.messages.produce import PartitionProduceResponse, ProduceResponse

if TYPE_CHECKING:
    from ottla.client.producing.borrowed import BorrowedTransaction
    from ottla.client.producing.transactions import Transactions
    from ottla.client.session import Session

NO_TIMEOUT_MS: Final = 0x7FFFFFFF
"""The transaction timeout of a producer that has no transactions."""
SOON_MS: Final = 20
"""Java's wait before a transaction's first partition is added again."""


class Sender:
    def __init__(self, session: Session, settings: ProducerSettings, owner: Any = None) -> None:
        self._session = session
        self._host = session.host
        self._clock = session.host.clock
        self._later = session.host.later
        self._settings = settings
        self._in_flight_max = settings.max_in_flight_requests_per_connection
        self._keeps_order = self._in_flight_max == 1
        self.identity = (
            Identity(transactional=settings.transactional_id is not None)
            if settings.enable_idempotence
            else None
        )
        self.transactions: Transactions | BorrowedTransaction | None = None
        self.fatal: OttlaError | None = None
        """Why nothing can be sent any more."""
        self.on_fatal: Callable[[], None] = lambda: None
        self.before_send: Callable[[str, int, int, int], None] | None = None
        """Told topic, partition, record count and bytes of every batch that leaves."""
        self.should_turn = False
        self.completed = Signal()
        """Notified when no batch is left that is not done."""
        self._news = Signal()
        self.accumulator = Accumulator(
            settings, self._clock, session.host.later, self.may_send, self.wake, owner
        )
        self._in_flight: dict[int, int] = {}
        self._throttled: dict[int, float] = {}
        self._requests: dict[int, tuple[Task[None], ProduceCall]] = {}
        self._tasks: list[Task[None]] = []
        self._asking_identity = False
        self._leaders_asked = False
        self._metrics = SenderMetrics(session.metrics, self.accumulator, lambda: len(self._requests))

    # --- tasks ----------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._tasks = [
            self._host.spawn(self._run(), "producer sender"),
            self._host.spawn(self._watch_metadata(), "producer metadata"),
        ]

    def stop(self) -> None:
        """Ends all tasks; the answers to requests that are on their way are dropped."""
        for task in self._tasks:
            task.cancel()
        for task, request in self._requests.values():
            task.cancel()
            for batch in request.batches:
                self._landed(batch)
                if batch.done:
                    self.accumulator.free(batch)
        self._tasks = []
        self._requests = {}

    def wake(self) -> None:
        self.should_turn = True
        self._news.notify()

    def _run(self) -> ClientSteps[None]:
        accumulator = self.accumulator
        while True:
            try:
                due_ms = self.pump()
            except Exception as error:
                # A bug; what it left undone comes up again, and everybody else's records go on.
                log.failure(error, "the producer's sender failed")
                due_ms = self._clock.monotonic_ms() + self._settings.retry_backoff_max_ms
            self.should_turn = False
            accumulator.sleeping_until_ms = due_ms
            timeout_ms = None if due_ms == NEVER else max(due_ms - self._clock.monotonic_ms(), 0.0)
            yield Wait(self._news, timeout_ms)
            accumulator.sleeping_until_ms = -NEVER

    def _watch_metadata(self) -> ClientSteps[None]:
        metadata = self._session.metadata
        while True:
            yield Wait(metadata.updated)
            self._leaders_asked = False
            self.accumulator.update(self._session.cluster.view)
            if self.accumulator.leaderless:
                self.wake()

    # --- sending --------------------------------------------------------------------------------------------

    def may_send(self, lane: Lane, head: Batch) -> bool:
        if self.fatal is not None or (self._keeps_order and lane.flying):
            return False
        identity = self.identity
        if identity is None:
            return True
        transactions = self.transactions
        if transactions is not None and not transactions.admits(lane):
            return False
        if not identity.known:
            self.wake()  # it asks for an id, if nobody has yet
        return identity.may_send(lane, head)

    def pump(self) -> float:
        """Everything that is due now; gives the time of what is due next."""
        accumulator = self.accumulator
        now_ms = self._clock.monotonic_ms()
        for batch in accumulator.expired(now_ms):
            if not batch.done:
                self._expire(batch, now_ms)
        if self.identity is not None:
            self._keep_identity(self.identity)
        accumulator.run_timers(now_ms)
        if accumulator.leaderless and not self._leaders_asked:
            self._leaders_asked = True
            self._session.metadata.want({lane.tp.topic for lane in accumulator.leaderless})
            self._session.metadata.request()
        due_ms = NEVER
        for node_id in list(accumulator.ready):
            resumes_ms = self._throttled.get(node_id, 0.0)
            if resumes_ms > now_ms:
                due_ms = min(due_ms, resumes_ms)
                continue
            while self._in_flight.get(node_id, 0) < self._in_flight_max:
                request = self._drain(node_id, now_ms)
                if request is None:
                    break
                self._dispatch(request)
        if accumulator.timers:
            due_ms = min(due_ms, accumulator.timers[0][0])
        return min(due_ms, accumulator.expiry_ms)

    def resolve(self) -> None:
        """Looks at the partitions in which something was given up."""
        if self.identity is not None:
            for lane in self.identity.resolve():
                self.accumulator.consider(lane)

    def _keep_identity(self, identity: Identity) -> None:
        self.resolve()
        if identity.bump_required and not identity.transactional:
            identity.bump()
            self.accumulator.consider_all()
        if not identity.known and not identity.transactional and self.accumulator.active:
            self.ask_identity()

    def ask_identity(self) -> None:
        """Asks for a producer id, if there is none and none has been asked for."""
        identity = self.identity
        if identity is None or identity.transactional or identity.known or self._asking_identity:
            return
        if self.fatal is None:
            self._asking_identity = True
            self._tasks.append(self._host.spawn(self._ask_identity(identity), "producer id"))

    def _ask_identity(self, identity: Identity) -> ClientSteps[None]:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=NO_TIMEOUT_MS)
        attempts = 0
        while True:
            try:
                response = yield Call(ANY_BROKER, request)
                error: OttlaError | None = None
                if response.error_code:
                    error = ServerError(response.error_code, subject="producer id")
            except OttlaError as failure:
                error = failure
            if error is None:
                identity.set_producer(response.producer_id, response.producer_epoch)
                break
            if not error.retriable:
                log.warning("the broker gives no producer id: %s", error)
                self._identity_refused(error)
                break
            log.debug("asking for a producer id failed: %s", error)
            yield Pause(self.backoff_ms(attempts))
            attempts += 1
        self._asking_identity = False
        self.accumulator.consider_all()

    def _identity_refused(self, error: OttlaError) -> None:
        if isinstance(error, ServerError) and error.code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
            self.fail_incomplete(error)  # the next records try anew: somebody may have been given the right
        else:
            self.fail_for_good(error)

    def backoff_ms(self, attempts: int, *, soon: bool = False) -> float:
        """`retry.backoff.ms`, doubled with every attempt, with jitter (KIP-580). `soon`: a short time, as the
        coordinator has only to complete the last transaction.
        """
        settings = self._settings
        wait_ms = min(settings.retry_backoff_ms * 2.0 ** min(attempts, 30), settings.retry_backoff_max_ms)
        if soon:
            wait_ms = min(wait_ms, SOON_MS)
        return wait_ms * (1.0 + JITTER * (2.0 * self._host.chance() - 1.0))

    def _drain(self, node_id: int, now_ms: float) -> ProduceCall | None:
        """A request for a node out of what is ready for it."""
        accumulator = self.accumulator
        batches: list[Batch] = []
        records: list[bytearray] = []
        lanes: list[Lane] = []
        size_bytes = 0
        while (lane := accumulator.next_lane(node_id)) is not None:
            head = lane.queue[0]
            if batches and size_bytes + head.estimated_bytes > self._settings.max_request_size:
                accumulator.put_back(lane, node_id)
                break
            batch = accumulator.take(lane)
            lanes.append(lane)
            data = self._launch(lane, batch, now_ms)
            if data is not None:
                batches.append(batch)
                records.append(data)
                size_bytes += len(data)
        for lane in lanes:
            accumulator.consider(lane)
        if not batches:
            return None
        self._metrics.left(batches, size_bytes, now_ms)
        transactions = self.transactions
        return ProduceCall(
            node_id,
            batches,
            records,
            self._session.cluster.view,
            self._settings,
            self._settings.transactional_id,
            implicit_adds=transactions is not None and transactions.implicit_adds,
        )

    def _launch(self, lane: Lane, batch: Batch, now_ms: float) -> bytearray | None:
        """Makes a batch ready to leave; None when it cannot be made into bytes."""
        identity = self.identity
        first = not batch.attempts and batch not in lane.pending
        if identity is not None and not batch.has_sequence:
            identity.assign(lane, batch)
        if first:
            lane.pending.append(batch)
        sealed = batch.encoded is not None
        try:
            data = batch.seal(
                self._settings.compression_type,
                self._settings.compression_level,
                transactional=identity is not None and identity.transactional,
            )
        except Exception as error:  # what was appended is not what a record can be made of
            failure = SerializationFailed(f"a batch of {lane.tp} cannot be encoded: {error}")
            failure.__cause__ = error
            self._fail(batch, failure, certain=True)
            return None
        if not sealed:
            self.accumulator.learn_size(batch)
        batch.sequence_reset = False
        batch.flying = True
        batch.sent_epoch = lane.leader_epoch
        lane.flying += 1
        if self.before_send is not None:
            self.before_send(lane.tp.topic, lane.tp.partition, batch.count, len(data))
        return data

    def _dispatch(self, request: ProduceCall) -> None:
        node_id = request.node_id
        self._in_flight[node_id] = self._in_flight.get(node_id, 0) + 1
        task = self._host.spawn(self._carry(request), f"produce to {node_id}")
        self._requests[id(request)] = (task, request)

    def _carry(self, request: ProduceCall) -> ClientSteps[None]:
        node_id = request.node_id
        sent_ms = self._clock.monotonic_ms()
        response: ProduceResponse | None = None
        error: OttlaError | None = None
        try:
            response = yield request.call
        except OttlaError as failure:
            error = failure
        except Exception as bug:
            error = OttlaError(f"the request could not be made: {bug!r}")
            error.__cause__ = bug
        self._requests.pop(id(request), None)
        self._in_flight[node_id] -= 1
        now_ms = self._clock.monotonic_ms()
        if error is not None:
            self._lost(request, error, now_ms)
        elif response is None:  # acks=0: nobody will say more
            for batch in request.batches:
                self._landed(batch)
                self._stored(batch, -1, -1)
        else:
            self._answered(request, response, now_ms)
            self._metrics.answered(now_ms - sent_ms, response.throttle_time_ms)
        for batch in request.batches:
            self.accumulator.consider(batch.lane)
        self.wake()

    # --- answers --------------------------------------------------------------------------------------------

    def _lost(self, request: ProduceCall, error: OttlaError, now_ms: float) -> None:
        """The request was not answered: the batches may or may not be stored."""
        log.debug("a produce request to broker %d failed: %s", request.node_id, error)
        if isinstance(error, BrokerUnavailable | RequestTimedOut):
            self._session.metadata.request()
        unsent = getattr(error, "unsent", False)
        for batch in request.batches:
            self._landed(batch)
            if batch.done:
                self.accumulator.free(batch)
            elif self._can_retry(batch, error, -1, now_ms):
                self._send_again(batch, error, now_ms, counted=not unsent)
            elif error.retriable and self._is_overdue(batch, now_ms):
                # The same as if it had expired a moment before the answer did not come.
                self._fail(batch, self._timed_out(batch, now_ms, error), certain=False)
            else:
                self._fail(batch, error, certain=False)

    def _answered(self, request: ProduceCall, response: ProduceResponse, now_ms: float) -> None:
        if response.throttle_time_ms > 0:
            # KIP-219: the broker has answered at once and expects us to keep away so long.
            self._throttled[request.node_id] = now_ms + response.throttle_time_ms
        metadata = self._session.metadata
        for batch, answer in request.answers(response):
            self._landed(batch)
            code = answer.error_code
            if code == ErrorCode.NONE:
                self._stored(batch, answer.base_offset, answer.log_append_time_ms)
                continue
            self._refused(batch, answer, now_ms)
            if code in STALE_METADATA:
                leader = answer.current_leader
                if code in LEADER_MOVED and leader.leader_id >= 0 and leader.leader_epoch >= 0:
                    topic, partition = batch.lane.tp
                    metadata.leader_moved(
                        topic, partition, leader.leader_id, leader.leader_epoch, response.node_endpoints
                    )
                    self.accumulator.update(self._session.cluster.view)
                metadata.request()

    def _landed(self, batch: Batch) -> None:
        batch.flying = False
        batch.lane.flying -= 1
        if batch.done:
            batch.encoded = None

    def _stored(self, batch: Batch, base_offset: int, log_append_ms: int) -> None:
        if self.identity is not None:
            self.identity.stored(batch, base_offset)
        if batch.done:  # its time was up before the answer came
            self.accumulator.free(batch)
            return
        batch.lane.discard(batch)
        batch.complete(base_offset, log_append_ms, self._later)
        self._finished(batch)

    def _refused(self, batch: Batch, answer: PartitionProduceResponse, now_ms: float) -> None:
        if batch.done:
            self.accumulator.free(batch)
            return
        code = answer.error_code
        error = error_in(batch, answer)
        if code == ErrorCode.MESSAGE_TOO_LARGE and batch.count > 1:
            log.warning(
                "%s: %d records are too large for the broker in one batch: split", batch.lane.tp, batch.count
            )
            self.accumulator.split(batch)
            self._metrics.split()
        elif self._can_retry(batch, error, answer.log_start_offset, now_ms):
            self._send_again(batch, error, now_ms, counted=True)
        elif code == ErrorCode.DUPLICATE_SEQUENCE_NUMBER:
            self._stored(batch, -1, -1)  # it is there, so long that the broker no longer knows where
        else:
            # Where an earlier attempt may have succeeded, its number is not free for those that follow.
            unsure = batch.doubtful or batch.retries >= self._settings.retries
            if (
                code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
                and self._is_overdue(batch, now_ms)
                and not (self.identity is not None and self.identity.transactional)
            ):
                # The gap is before it, of a batch that was given up, and would be closed if there were time.
                error = self._timed_out(batch, now_ms, error)
            self._fail(batch, error, certain=not unsure, record_errors=record_errors_in(batch, answer))

    def _can_retry(self, batch: Batch, error: OttlaError, log_start_offset: int, now_ms: float) -> bool:
        if batch.retries >= self._settings.retries and not getattr(error, "unsent", False):
            return False
        if self._is_overdue(batch, now_ms):
            return False
        if self.identity is None:
            return error.retriable
        return self.identity.can_retry(batch, error, log_start_offset)

    def _send_again(self, batch: Batch, error: OttlaError, now_ms: float, *, counted: bool) -> None:
        log.debug("%s: sending a batch again after: %s", batch.lane.tp, error)
        concurrent = isinstance(error, ServerError) and error.code == ErrorCode.CONCURRENT_TRANSACTIONS
        batch.retry_ms = now_ms + self.backoff_ms(batch.attempts, soon=concurrent)
        batch.attempts += 1
        batch.reason = error
        if counted:
            batch.retries += 1
            if not (isinstance(error, ServerError) and error.code in SURELY_NOT_STORED):
                batch.doubtful = True
            self._metrics.retried(batch)
        self.accumulator.send_again(batch)

    def _expire(self, batch: Batch, now_ms: float) -> None:
        # What never left under its number leaves a gap for sure: those that follow need not find out. The
        # coordinator of a transaction has its own way with a batch that was given up.
        certain = not (batch.flying or batch.doubtful or self.transactions is not None)
        self._fail(batch, self._timed_out(batch, now_ms, batch.reason), certain=certain)
        self.accumulator.consider(batch.lane)

    def _is_overdue(self, batch: Batch, now_ms: float) -> bool:
        return now_ms >= batch.created_ms + self._settings.delivery_timeout_ms

    def _timed_out(self, batch: Batch, now_ms: float, reason: OttlaError | None) -> DeliveryTimedOut:
        waited_ms = now_ms - batch.created_ms
        error = DeliveryTimedOut(
            f"{batch.lane.tp}: not acknowledged {waited_ms:.0f} ms after it was given to send "
            f"(delivery.timeout.ms={self._settings.delivery_timeout_ms})"
            + (f"; last: {reason}" if reason is not None else "")
        )
        error.__cause__ = reason
        return error

    def _fail(
        self,
        batch: Batch,
        error: OttlaError,
        *,
        certain: bool,
        record_errors: dict[int, OttlaError] | None = None,
    ) -> None:
        """Ends a batch with an error. `certain`: the broker surely does not have it."""
        pending = batch.lane.pending
        first = bool(pending) and pending[0] is batch
        batch.lane.discard(batch)
        batch.fail(error, self._later, record_errors)
        self._metrics.failed(batch)
        self._finished(batch)
        if self.transactions is not None:
            self.transactions.batch_failed(error)
        identity = self.identity
        if identity is not None and self.fatal is None and batch.has_sequence:
            if certain and (first or identity.transactional):
                identity.refused(batch, error)
            else:
                identity.given_up(batch)

    def _finished(self, batch: Batch) -> None:
        self.accumulator.finished(batch)
        if not self.accumulator.incomplete:
            self.completed.notify()

    # --- giving up ------------------------------------------------------------------------------------------

    def drop(self, batch: Batch, error: OttlaError) -> None:
        """Fails a batch for a reason of ours."""
        batch.lane.discard(batch)
        batch.fail(error, self._later)
        self._metrics.failed(batch)
        self._finished(batch)
        self.accumulator.consider(batch.lane)

    def drop_unsent(self, error: OttlaError) -> None:
        """Fails every batch that never left."""
        for batch in list(self.accumulator.incomplete):
            if batch not in batch.lane.pending:
                self.drop(batch, error)

    def fail_incomplete(self, error: OttlaError) -> None:
        """Fails every batch that is not done; answers that still come are of no consequence."""
        for batch in list(self.accumulator.incomplete):
            self.drop(batch, error)

    def fail_for_good(self, error: OttlaError) -> None:
        """Nothing can be sent any more."""
        if self.fatal is None:
            self.fatal = error
            self.on_fatal()
        self.fail_incomplete(error)
        self.accumulator.memory.call_everybody()

    def fatal_error(self) -> OttlaError:
        """What a call raises after `fail_for_good`: a new exception, as it was not this call that failed."""
        assert self.fatal is not None
        error = ProducerFailed(f"the producer can send nothing any more: {self.fatal}")
        error.__cause__ = self.fatal
        return error
