"""Transactions of one producer: which state they are in, and what each call does.

The states and their transitions are those of Kafka's Java client. An abortable error means: nothing more is
taken in, `abort_transaction` and a new transaction go on; a fatal one: close the producer. `init`, `commit`
and `abort` run as tasks; a caller whose time is up may call again and waits for the same task.

Two generations. In the first, a partition is added to the transaction at the coordinator before its first
batch leaves, and a group before its offsets are committed. In the second (`transaction.version` 2, KIP-890)
brokers do that on the way, and every end of a transaction gives the producer a new epoch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, Final

from ottla.client import log
from ottla.client.coordinator import Coordinators
from ottla.client.effects import NEWEST, ClientSteps, Task, Wait
from ottla.client.errors import (
    IllegalState,
    InvalidArgument,
    OperationTimedOut,
    OttlaError,
    ProducerFailed,
    ProducerFenced,
    ServerError,
    TransactionAborted,
    TransactionFailed,
    UnsupportedVersion,
)
from ottla.client.producing.coordinator_calls import (
    ADD_OFFSETS_ABORTABLE,
    ADD_PARTITIONS_VERSION_MAX,
    END_ABORTABLE,
    END_TXN_VERSION_MAX_OLD,
    FATAL_FOR_BATCHES,
    INIT_ABORTABLE,
    TXN_OFFSET_COMMIT_VERSION_MAX_OLD,
    Verdict,
    add_offsets_request,
    add_partitions_request,
    commit_offsets_request,
    end_request,
    init_request,
    judge_added,
    judge_committed,
    verdict_on,
)
from ottla.client.producing.coordinator_link import CoordinatorLink
from ottla.client.producing.lane import Lane
from ottla.client.records import GroupMetadata, OffsetAndMetadata
from ottla.client.settings import ProducerSettings
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.messages.init_producer_id import InitProducerIdRequest

if TYPE_CHECKING:
    from ottla.client.producing.sender import Sender
    from ottla.client.session import Session


class State(Enum):
    UNINITIALIZED = auto()
    INITIALIZING = auto()
    READY = auto()
    IN_TRANSACTION = auto()
    COMMITTING = auto()
    ABORTING = auto()
    ABORTABLE_ERROR = auto()
    FATAL_ERROR = auto()


TRANSITIONS: Final[dict[State, frozenset[State]]] = {
    State.UNINITIALIZED: frozenset({State.INITIALIZING}),
    State.INITIALIZING: frozenset({State.READY, State.UNINITIALIZED, State.ABORTABLE_ERROR}),
    State.READY: frozenset({State.IN_TRANSACTION, State.UNINITIALIZED}),
    State.IN_TRANSACTION: frozenset({State.COMMITTING, State.ABORTING, State.ABORTABLE_ERROR}),
    State.COMMITTING: frozenset({State.READY, State.INITIALIZING, State.ABORTABLE_ERROR}),
    State.ABORTING: frozenset({State.READY, State.INITIALIZING}),
    State.ABORTABLE_ERROR: frozenset({State.ABORTING, State.UNINITIALIZED, State.ABORTABLE_ERROR}),
    State.FATAL_ERROR: frozenset(),
}
"""From any state FATAL_ERROR can be reached, too."""


class Transactions:
    def __init__(
        self, session: Session, settings: ProducerSettings, sender: Sender, on_change: Callable[[], None]
    ) -> None:
        assert settings.transactional_id is not None and sender.identity is not None
        self._session = session
        self._settings = settings
        self._sender = sender
        self._identity = sender.identity
        self._identity.on_gap = self._gap
        self._on_change = on_change
        self._id: str = settings.transactional_id
        self._clock = session.host.clock
        self._coordinators = session.transaction_coordinators
        self.state = State.UNINITIALIZED
        self.last_error: OttlaError | None = None
        self.implicit_adds = False
        """Whether the transaction is of the second generation."""
        self._started = False
        """Whether the coordinator may know of the transaction: only then it has to be ended there."""
        self._bump_required = False
        self._lanes: dict[Lane, None] = {}
        """What is in the transaction."""
        self._new_lanes: dict[Lane, None] = {}
        """What has to be added to it (first generation)."""
        self._adding: Task[None] | None = None
        self._offset_tasks: list[Task[OttlaError | None]] = []
        self._pending: tuple[str, Task[OttlaError | None]] | None = None
        """A call that was begun and whose outcome no caller has been told yet."""
        self._link = CoordinatorLink(session, sender.backoff_ms)

    # --- states ---------------------------------------------------------------------------------------------

    @property
    def appendable(self) -> bool:
        return self.state is State.IN_TRANSACTION

    @property
    def _failed(self) -> bool:
        return self.state is State.ABORTABLE_ERROR or self.state is State.FATAL_ERROR

    def _wanted(self) -> bool:
        """Whether what is being added to the transaction is still of use: nothing failed, nobody aborts."""
        return self.state is State.IN_TRANSACTION or self.state is State.COMMITTING

    def _move(self, target: State) -> None:
        if target is not State.FATAL_ERROR and target not in TRANSITIONS[self.state]:
            raise IllegalState(f"transactional id {self._id}: not possible in state {self.state.name}")
        log.debug("transactional id %s: %s to %s", self._id, self.state.name, target.name)
        self.state = target
        if target is not State.FATAL_ERROR and target is not State.ABORTABLE_ERROR:
            self.last_error = None
        self._on_change()
        self._sender.completed.notify()  # who waits for batches looks at the state, too

    def _check_error(self) -> None:
        if self._failed:
            raise self._error()

    def _error(self) -> OttlaError:
        """What a call raises in a state of error: a new exception, since it is not this call that failed."""
        cause = self.last_error
        error: OttlaError
        if self.state is State.ABORTABLE_ERROR:
            error = TransactionFailed(
                f"transactional id {self._id}: the transaction has to be aborted: {cause}"
            )
        elif isinstance(cause, ProducerFenced):
            error = ProducerFenced(f"transactional id {self._id}: a newer producer has it")
        else:
            error = ProducerFailed(f"transactional id {self._id}: the producer has to be closed: {cause}")
        error.__cause__ = cause
        return error

    def check_append(self) -> None:
        """Raises why no record can be appended now."""
        self._check_error()
        self._check_pending("send")
        if self.state is not State.IN_TRANSACTION:
            raise IllegalState(
                "call init_transactions first"
                if self.state in (State.UNINITIALIZED, State.INITIALIZING)
                else "call begin_transaction first: with a transactional.id, records are sent in transactions"
            )

    def _abortable(self, error: OttlaError) -> None:
        if self.state is State.ABORTING:
            log.debug("transactional id %s: while aborting: %s", self._id, error)
            return
        if self.state is State.FATAL_ERROR:
            return
        if State.ABORTABLE_ERROR not in TRANSITIONS[self.state]:
            return
        log.info("transactional id %s: the transaction has to be aborted: %s", self._id, error)
        self.last_error = error
        self._move(State.ABORTABLE_ERROR)
        self._sender.drop_unsent(self._error())

    def _fatal(self, error: OttlaError) -> None:
        if self.state is State.FATAL_ERROR:
            return
        log.warning("transactional id %s: the producer cannot go on: %s", self._id, error)
        self.last_error = error
        self._move(State.FATAL_ERROR)
        self._sender.fail_incomplete(self._error())

    def _abortable_if_possible(self, error: OttlaError) -> None:
        if self._link.bumps_epochs or self.implicit_adds:
            self._bump_from_here()
            self._abortable(error)
        else:
            self._fatal(error)

    def _bump_from_here(self) -> None:
        """The next transaction needs a new epoch; in the second generation every one gets it anyway."""
        if self._link.bumps_epochs and not self.implicit_adds:
            self._bump_required = True

    def batch_failed(self, error: OttlaError) -> None:
        """A batch of the transaction failed for good."""
        code = error.code if isinstance(error, ServerError) else None
        if code in FATAL_FOR_BATCHES or isinstance(error, UnsupportedVersion):
            self._fatal(error)
            return
        if self.state is not State.COMMITTING and self.state is not State.ABORTING:
            self._bump_from_here()
        self._abortable(error)

    def _gap(self, lane: Lane) -> None:
        """A batch was given up and nobody knows whether it is stored."""
        self._abortable_if_possible(
            TransactionFailed(f"{lane.tp}: records were not acknowledged in time and cannot be sent again")
        )

    # --- what the sender and the core ask -------------------------------------------------------------------

    def admits(self, lane: Lane) -> bool:
        return lane in self._lanes and self.state is not State.FATAL_ERROR

    def add_lane(self, lane: Lane) -> None:
        """A batch of this partition is about to begin."""
        if self.implicit_adds:
            self._lanes[lane] = None
            self._started = True
        elif lane not in self._lanes and lane not in self._new_lanes:
            self._new_lanes[lane] = None
            if self._adding is None:
                self._adding = self._session.host.spawn(self._add_partitions(), "add partitions")

    # --- calls ----------------------------------------------------------------------------------------------

    def init(self, timeout_ms: float | None) -> ClientSteps[None]:
        def begin() -> ClientSteps[OttlaError | None]:
            self._check_error()
            self._move(State.INITIALIZING)
            return self._init()

        yield from self._call("init_transactions", begin, timeout_ms)

    def begin(self) -> None:
        self._check_pending("begin_transaction")
        self._check_error()
        self._move(State.IN_TRANSACTION)

    def commit(self) -> ClientSteps[None]:
        def begin() -> ClientSteps[OttlaError | None]:
            self._check_error()
            self._move(State.COMMITTING)
            return self._end(committed=True)

        yield from self._call("commit_transaction", begin, None)

    def abort(self) -> ClientSteps[None]:
        yield from self._call("abort_transaction", self._begin_abort, None)

    def _begin_abort(self) -> ClientSteps[OttlaError | None]:
        if self.state is not State.ABORTABLE_ERROR:
            self._check_error()
        self._move(State.ABORTING)
        return self._end(committed=False)

    def send_offsets(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata], group: GroupMetadata
    ) -> ClientSteps[None]:
        if not group.group_id:
            raise InvalidArgument("the group id is empty")
        if group.generation_id > 0 and not group.member_id:
            raise InvalidArgument("a group's generation needs the member id, too")
        self._check_pending("send_offsets_to_transaction")
        self._check_error()
        if self.state is not State.IN_TRANSACTION:
            raise IllegalState("offsets can be sent within a transaction only")
        if not offsets:
            return
        task = self._session.host.spawn(self._send_offsets(dict(offsets), group), "offsets to transaction")
        self._offset_tasks.append(task)
        error = yield from self._await(task, "send_offsets_to_transaction", None)
        if error is not None:
            raise error

    def close(self, deadline_ms: float) -> ClientSteps[None]:
        """Lets a commit or abort that is under way come to its end, and aborts what is open."""
        if self.state in (State.IN_TRANSACTION, State.ABORTABLE_ERROR):
            log.info("transactional id %s: aborting the open transaction, as the producer closes", self._id)
            self._pending = (
                "abort_transaction",
                self._session.host.spawn(self._begin_abort(), "abort at close"),
            )
        if self._pending is not None:
            task = self._pending[1]
            while not task.done:
                left_ms = deadline_ms - self._clock.monotonic_ms()
                if left_ms <= 0:
                    log.warning("transactional id %s: closed before its transaction had ended", self._id)
                    return
                yield Wait(task.finished, left_ms)

    def stop(self) -> None:
        tasks: list[Task[Any]] = [*self._offset_tasks]
        if self._adding is not None:
            tasks.append(self._adding)
        if self._pending is not None:
            tasks.append(self._pending[1])
        for task in tasks:
            task.cancel()

    def _call(
        self, name: str, begin: Callable[[], ClientSteps[OttlaError | None]], timeout_ms: float | None
    ) -> ClientSteps[None]:
        """Begins an operation, or joins the one of this name whose caller lost patience."""
        if self._pending is None:
            self._pending = (name, self._session.host.spawn(begin(), name))
        elif self._pending[0] != name:
            self._check_pending(name)
        error = yield from self._await(self._pending[1], name, timeout_ms)
        self._pending = None
        if error is not None:
            raise error

    def _check_pending(self, name: str) -> None:
        if self._pending is not None:
            raise IllegalState(
                f"{name}: {self._pending[0]} has not ended for its caller yet: call that again"
            )

    def _await(
        self, task: Task[OttlaError | None], name: str, timeout_ms: float | None
    ) -> ClientSteps[OttlaError | None]:
        limit_ms = self._settings.max_block_ms if timeout_ms is None else timeout_ms
        deadline_ms = self._clock.monotonic_ms() + limit_ms
        while not task.done:
            left_ms = deadline_ms - self._clock.monotonic_ms()
            if left_ms <= 0:
                raise OperationTimedOut(
                    f"{name} did not end within {limit_ms:.0f} ms; it goes on: call it again"
                ) from self.last_error
            yield Wait(task.finished, left_ms)
        return task.result()

    # --- the operations -------------------------------------------------------------------------------------

    def _init(self) -> ClientSteps[OttlaError | None]:
        request = init_request(self._id, self._settings.transaction_timeout_ms)
        return (yield from self._link.exclusive(self._initialize(request)))

    def _initialize(self, request: InitProducerIdRequest) -> ClientSteps[OttlaError | None]:
        first = request.producer_id < 0
        attempts = 0
        while not self._failed:
            response = yield from self._ask(self._coordinators, self._id, request, attempts)
            attempts += 1
            if response is None:
                continue
            verdict = verdict_on(response.error_code, INIT_ABORTABLE)
            if verdict is Verdict.DONE:
                if first:
                    self.implicit_adds = self._link.second_generation
                self._identity.set_producer(response.producer_id, response.producer_epoch)
                self._move(State.READY)
                return None
            error = ServerError(response.error_code, subject=f"transactional id {self._id}")
            if verdict is Verdict.ABORTABLE and first:
                # Nothing was begun: once the reason is gone, init_transactions can be called again.
                self._move(State.UNINITIALIZED)
                return error
            if verdict is Verdict.ABORTABLE_IF_POSSIBLE:
                verdict = Verdict.FATAL
            self._take(verdict, error, self._coordinators, self._id)
        return self._error()

    def _end(self, *, committed: bool) -> ClientSteps[OttlaError | None]:
        """Sends or drops what is left, then tells the coordinator."""
        sender = self._sender
        sender.accumulator.hurry = True
        if not committed:
            self._new_lanes.clear()
            sender.drop_unsent(
                TransactionAborted(f"transactional id {self._id}: the transaction was aborted")
            )
        sender.accumulator.consider_all()
        while not self._failed:
            sender.resolve()
            if self._adding is None and not sender.accumulator.incomplete and not self._open_offsets():
                break
            yield Wait(sender.completed)
        sender.accumulator.hurry = False
        if self._failed:
            return self._error()
        return (yield from self._link.exclusive(self._end_at_coordinator(committed=committed)))

    def _open_offsets(self) -> bool:
        self._offset_tasks = [task for task in self._offset_tasks if not task.done]
        return bool(self._offset_tasks)

    def _end_at_coordinator(self, *, committed: bool) -> ClientSteps[OttlaError | None]:
        producer = self._identity.producer
        second_generation = self.implicit_adds
        self._follow_features()
        bump = self._bump_required
        if self._started:
            request = end_request(self._id, producer, committed=committed)
            version_max = NEWEST if second_generation else END_TXN_VERSION_MAX_OLD
            attempts = 0
            while True:
                if self._failed:
                    return self._error()
                response = yield from self._ask(
                    self._coordinators, self._id, request, attempts, version_max=version_max
                )
                attempts += 1
                if response is None:
                    continue
                verdict = verdict_on(response.error_code, END_ABORTABLE)
                if verdict is Verdict.DONE:
                    break
                if verdict is Verdict.ABORTABLE and not committed:
                    verdict = Verdict.FATAL  # an abort that would have to be aborted: there is no end to it
                error = ServerError(response.error_code, subject=f"transactional id {self._id}")
                self._take(verdict, error, self._coordinators, self._id)
            if response.producer_id != -1:
                self._identity.set_producer(response.producer_id, response.producer_epoch)
        self._reset(State.INITIALIZING if bump else State.READY)
        if bump:
            return (yield from self._initialize(self._bump_request()))
        return None

    def _bump_request(self) -> InitProducerIdRequest:
        return init_request(self._id, self._settings.transaction_timeout_ms, self._identity.producer)

    def _reset(self, target: State) -> None:
        self._move(target)
        self._bump_required = False
        self._started = False
        self._lanes.clear()
        self._new_lanes.clear()
        self._identity.forget_gaps()

    def _add_partitions(self) -> ClientSteps[None]:
        """First generation: tells the coordinator of partitions, as long as there are new ones."""
        try:
            while self._new_lanes and self._wanted():
                adding, self._new_lanes = self._new_lanes, {}
                yield from self._link.exclusive(self._add(adding))
        finally:
            self._adding = None
            self._sender.completed.notify()

    def _add(self, adding: dict[Lane, None]) -> ClientSteps[None]:
        request = add_partitions_request(self._id, self._identity.producer, (lane.tp for lane in adding))
        attempts = 0
        soon = unanswered = False
        while self._wanted():
            response = yield from self._ask(
                self._coordinators,
                self._id,
                request,
                attempts,
                version_max=ADD_PARTITIONS_VERSION_MAX,
                soon=soon,
            )
            attempts += 1
            soon = False
            if response is None:
                unanswered = True
                continue
            verdict, error, code = judge_added(response)
            if verdict is Verdict.DONE:
                self._lanes.update(adding)
                self._started = True
                for lane in adding:
                    self._sender.accumulator.consider(lane)
                return
            soon = code == ErrorCode.CONCURRENT_TRANSACTIONS
            assert error is not None
            self._take(verdict, error, self._coordinators, self._id)
            if verdict not in (Verdict.AGAIN, Verdict.LOOK_UP):
                return
        if unanswered:
            self._bump_from_here()  # the coordinator may have begun: what it began ends with the epoch

    def _send_offsets(
        self, offsets: dict[TopicPartition, OffsetAndMetadata], group: GroupMetadata
    ) -> ClientSteps[OttlaError | None]:
        try:
            if self.implicit_adds:
                self._started = True
            else:
                yield from self._link.exclusive(self._add_offsets(group.group_id))
            if self._wanted():
                yield from self._link.exclusive(self._commit_offsets(offsets, group))
        finally:
            self._sender.completed.notify()
        if self._failed:
            return self._error()
        if self.state is State.ABORTING:
            return TransactionAborted(f"transactional id {self._id}: the transaction was aborted")
        return None

    def _add_offsets(self, group_id: str) -> ClientSteps[None]:
        request = add_offsets_request(self._id, self._identity.producer, group_id)
        attempts = 0
        unanswered = False
        while self._wanted():
            response = yield from self._ask(self._coordinators, self._id, request, attempts)
            attempts += 1
            if response is None:
                unanswered = True
                continue
            verdict = verdict_on(response.error_code, ADD_OFFSETS_ABORTABLE)
            if verdict is Verdict.DONE:
                self._started = True
                return
            error = ServerError(response.error_code, subject=f"group {group_id}")
            self._take(verdict, error, self._coordinators, self._id)
        if unanswered:
            self._bump_from_here()

    def _commit_offsets(
        self, offsets: dict[TopicPartition, OffsetAndMetadata], group: GroupMetadata
    ) -> ClientSteps[None]:
        coordinators = self._session.coordinators
        version_max = NEWEST if self.implicit_adds else TXN_OFFSET_COMMIT_VERSION_MAX_OLD
        attempts = 0
        soon = False
        while self._wanted():
            request = commit_offsets_request(self._id, self._identity.producer, group, offsets)
            response = yield from self._ask(
                coordinators,
                group.group_id,
                request,
                attempts,
                version_max=version_max,
                soon=soon,
                wanted=self._wanted,
            )
            attempts += 1
            if response is None:
                continue
            verdict, error = judge_committed(response, offsets)
            if verdict is Verdict.DONE:
                return
            soon = isinstance(error, ServerError) and error.code == ErrorCode.CONCURRENT_TRANSACTIONS
            if error is not None:
                self._take(verdict, error, coordinators, group.group_id)

    # --- one request to a coordinator -----------------------------------------------------------------------

    def _ask(
        self, coordinators: Coordinators, key: str, request: Any, attempts: int, **options: Any
    ) -> ClientSteps[Any]:
        """One attempt, after a pause if it is not the first; None when it failed: again, or the state says
        that it is of no use.
        """
        try:
            return (yield from self._link.ask(coordinators, key, request, attempts, **options))
        except OttlaError as error:
            if isinstance(error, ServerError) and error.code in ADD_OFFSETS_ABORTABLE:
                self._abortable(error)
            elif not error.retriable:
                self._fatal(error)
            else:
                log.debug("transactional id %s: asking a coordinator failed: %s", self._id, error)
            return None

    def _take(self, verdict: Verdict, error: OttlaError, coordinators: Coordinators, key: str) -> None:
        """Goes into the state that a verdict asks for."""
        if verdict is Verdict.LOOK_UP:
            self._link.forget(coordinators, key)
        elif verdict is Verdict.ABORTABLE:
            self._abortable(error)
        elif verdict is Verdict.ABORTABLE_IF_POSSIBLE:
            self._abortable_if_possible(error)
        elif verdict is Verdict.FENCED:
            fenced = ProducerFenced(f"transactional id {self._id}: a newer producer has it")
            fenced.__cause__ = error
            self._fatal(fenced)
        elif verdict is Verdict.FATAL:
            self._fatal(error)

    def _follow_features(self) -> None:
        """Between two transactions: a cluster that was upgraded gets transactions of the second generation,
        which begin with a new epoch.
        """
        if self._link.second_generation != self.implicit_adds:
            self.implicit_adds = self._link.second_generation
            if self.implicit_adds:
                self._bump_required = True
