"""A transaction that one process owns and others write into: the owner's half.

A program that spreads its work over processes (a driver and its tasks) wants one transaction over all of
them. The owner gets an identity with an epoch above all that were there before (`init`), names the partitions
that will be written to (`add_partitions`), hands the identity out (`TransactionHandle`, a plain value that
travels), and when everybody has reported commits a group's offsets with it (`send_offsets`) and ends it
(`end`). Those who borrow the identity (`borrowed.py`) can neither begin nor end anything: once the owner has
ended the transaction, what a straggler sends is refused.

`init` without an earlier handle takes the id over from whoever has it. With one it only goes on: if somebody
took the id over in the meantime, that is ProducerFenced (KIP-360), so of two owners the younger stays.

Requests are those of the first generation, which every cluster has: partitions and groups are added before
they are used, and brokers verify that they were (KIP-890). Every call is repeated, over coordinators that
move or load, until there is a verdict or its time is up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ottla.client import log
from ottla.client.backoff import JITTER
from ottla.client.coordinator import Coordinators
from ottla.client.effects import NEWEST, ClientSteps, Versioned
from ottla.client.errors import (
    CommitFailed,
    OperationTimedOut,
    OttlaError,
    ProducerFenced,
    ServerError,
    TransactionFailed,
)
from ottla.client.producing.coordinator_calls import (
    ADD_OFFSETS_ABORTABLE,
    ADD_PARTITIONS_VERSION_MAX,
    END_ABORTABLE,
    END_TXN_VERSION_MAX_OLD,
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
from ottla.client.producing.sender import SOON_MS
from ottla.client.records import GroupMetadata, OffsetAndMetadata
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition

if TYPE_CHECKING:
    from ottla.client.session import Session

NO_ABORTABLE: Final[frozenset[ErrorCode]] = frozenset()

OFFSET_FETCH_NAMED_TOPICS: Final = 9
OFFSET_FETCH_BATCHED: Final = 8
OFFSET_FETCH_STABLE: Final = 7
"""The last version of OffsetFetch that names topics; the first that speaks of several groups (KIP-709), and
the first that can wait for transactions under way (KIP-447)."""


class TransactionHandle(NamedTuple):
    """Who writes: what the owner gives to those who write into its transaction."""

    transactional_id: str
    producer_id: int
    producer_epoch: int

    @property
    def producer(self) -> tuple[int, int]:
        return self.producer_id, self.producer_epoch


class Judged(NamedTuple):
    """A verdict on an answer, and why."""

    verdict: Verdict
    error: OttlaError | None = None


class SharedTransaction:
    """The transactions of one id, one after the other. `timeout_ms` bounds every single call."""

    def __init__(
        self, session: Session, transactional_id: str, *, transaction_timeout_ms: int, timeout_ms: float
    ) -> None:
        self.transactional_id = transactional_id
        self._session = session
        self._clock = session.host.clock
        self._coordinators = session.transaction_coordinators
        self._transaction_timeout_ms = transaction_timeout_ms
        self._timeout_ms = timeout_ms
        self._link = CoordinatorLink(session, self._backoff_ms)
        self._open = False
        """Whether the coordinator may have a transaction of ours: only then it has to be ended."""

    # --- calls ----------------------------------------------------------------------------------------------

    def init(self, earlier: TransactionHandle | None = None) -> ClientSteps[TransactionHandle]:
        """An identity with a new epoch. What an earlier owner left open is aborted, what it had decided is
        completed first.

        earlier: the identity that is to be followed, instead of taking the id over. ProducerFenced: somebody
            else has the id by now. Its transaction has to be ended before.
        """
        producer = (-1, -1) if earlier is None else earlier.producer
        request = init_request(self.transactional_id, self._transaction_timeout_ms, producer)

        def judge(response: Any) -> Judged:
            return self._judge(response.error_code, NO_ABORTABLE)

        response = yield from self._call("InitProducerId", request, judge)
        self._open = False
        return TransactionHandle(self.transactional_id, response.producer_id, response.producer_epoch)

    def add_partitions(
        self, handle: TransactionHandle, partitions: Iterable[TopicPartition]
    ) -> ClientSteps[None]:
        """Makes partitions part of the transaction: before anybody writes to them."""
        wanted = list(partitions)
        if not wanted:
            return
        request = add_partitions_request(self.transactional_id, handle.producer, wanted)

        def judge(response: Any) -> Judged:
            verdict, error, _ = judge_added(response)
            return Judged(verdict, error)

        self._open = True
        yield from self._call("AddPartitionsToTxn", request, judge, version_max=ADD_PARTITIONS_VERSION_MAX)

    def send_offsets(
        self,
        handle: TransactionHandle,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        group: GroupMetadata | str,
    ) -> ClientSteps[None]:
        """Commits a group's offsets with the transaction."""
        if not offsets:
            return
        whose = GroupMetadata(group) if isinstance(group, str) else group
        request = add_offsets_request(self.transactional_id, handle.producer, whose.group_id)
        self._open = True
        yield from self._call(
            "AddOffsetsToTxn",
            request,
            lambda response: self._judge(
                response.error_code, ADD_OFFSETS_ABORTABLE, f"group {whose.group_id}"
            ),
        )
        left = dict(offsets)

        def judge(response: Any) -> Judged:
            return Judged(*judge_committed(response, left))

        yield from self._call(
            "TxnOffsetCommit",
            lambda: commit_offsets_request(self.transactional_id, handle.producer, whose, left),
            judge,
            version_max=TXN_OFFSET_COMMIT_VERSION_MAX_OLD,
            coordinators=self._session.coordinators,
            key=whose.group_id,
        )

    def end(self, handle: TransactionHandle, *, committed: bool) -> ClientSteps[None]:
        """Commits or aborts. After an error of a commit nobody knows whether it was carried out, except for
        TransactionFailed (it was not, and has to be aborted).
        """
        if not self._open:
            return  # nothing was added: nothing is there to be ended
        request = end_request(self.transactional_id, handle.producer, committed=committed)

        def judge(response: Any) -> Judged:
            if response.error_code == ErrorCode.INVALID_TXN_STATE and not committed:
                return Judged(Verdict.DONE)  # what would have opened it never arrived
            return self._judge(response.error_code, END_ABORTABLE if committed else NO_ABORTABLE)

        yield from self._call("EndTxn", request, judge, version_max=END_TXN_VERSION_MAX_OLD)
        self._open = False

    def committed(
        self, group: str, *, stable: bool = True
    ) -> ClientSteps[dict[TopicPartition, OffsetAndMetadata]]:
        """All that a group has committed; `stable`: once no transaction with offsets of it is open. (Of a
        partition whose first offset that is, brokers say nothing instead of waiting: who wants to know what
        was decided before calls `init` first.) Entries whose offset is -1, which other tools leave out, are
        there, too.
        """
        from ottla.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup

        def build(version: int) -> OffsetFetchRequest:
            if version >= OFFSET_FETCH_BATCHED:
                entry = OffsetFetchRequestGroup(group_id=group, topics=None)
                return OffsetFetchRequest(groups=[entry], require_stable=stable)
            return OffsetFetchRequest(
                group_id=group, topics=None, require_stable=stable and version >= OFFSET_FETCH_STABLE
            )

        def part_of(response: Any) -> Any:
            return response.groups[0] if response.groups else response

        def judge(response: Any) -> Judged:
            part = part_of(response)
            codes = [part.error_code, *(p.error_code for topic in part.topics for p in topic.partitions)]
            return self._judge(
                next((code for code in codes if code), ErrorCode.NONE), NO_ABORTABLE, f"group {group}"
            )

        response = yield from self._call(
            "OffsetFetch",
            Versioned(OffsetFetchRequest.API_KEY, build),
            judge,
            version_max=OFFSET_FETCH_NAMED_TOPICS,
            coordinators=self._session.coordinators,
            key=group,
        )
        return {
            TopicPartition(topic.name, p.partition_index): OffsetAndMetadata(
                p.committed_offset, p.metadata or "", p.committed_leader_epoch
            )
            for topic in part_of(response).topics
            for p in topic.partitions
        }

    # --- one request ----------------------------------------------------------------------------------------

    def _judge(self, code: int, abortable: frozenset[ErrorCode], subject: str = "") -> Judged:
        verdict = verdict_on(code, abortable)
        if verdict is Verdict.DONE:
            return Judged(verdict)
        return Judged(
            verdict, ServerError(code, subject=subject or f"transactional id {self.transactional_id}")
        )

    def _call(
        self,
        name: str,
        request: Any,
        judge: Callable[[Any], Judged],
        *,
        version_max: int = NEWEST,
        coordinators: Coordinators | None = None,
        key: str | None = None,
    ) -> ClientSteps[Any]:
        """Asks until there is a verdict. `request` may be a function: what is left to be asked then."""
        whom = coordinators or self._coordinators
        whose = key or self.transactional_id
        deadline_ms = self._clock.monotonic_ms() + self._timeout_ms
        attempts = 0
        soon = False
        last: OttlaError | None = None
        while attempts == 0 or self._clock.monotonic_ms() < deadline_ms:
            asked = request() if callable(request) and not isinstance(request, Versioned) else request
            try:
                response = yield from self._link.ask(
                    whom, whose, asked, attempts, version_max=version_max, soon=soon
                )
            except OttlaError as error:
                if not error.retriable:
                    raise
                log.debug("transactional id %s: %s failed: %s", self.transactional_id, name, error)
                attempts, soon, last = attempts + 1, False, error
                continue
            verdict, reason = judge(response)
            if verdict is Verdict.DONE:
                return response
            if verdict is Verdict.LOOK_UP:
                self._link.forget(whom, whose)
            elif verdict is not Verdict.AGAIN:
                assert reason is not None
                raise self._raised(verdict, reason)
            soon = isinstance(reason, ServerError) and reason.code == ErrorCode.CONCURRENT_TRANSACTIONS
            attempts, last = attempts + 1, reason
        raise OperationTimedOut(
            f"transactional id {self.transactional_id}: {name} did not end within {self._timeout_ms:.0f} ms"
            + (f": {last}" if last is not None else "")
        ) from last

    def _raised(self, verdict: Verdict, reason: OttlaError) -> OttlaError:
        error: OttlaError
        if verdict is Verdict.FENCED:
            error = ProducerFenced(f"transactional id {self.transactional_id}: a newer producer has it")
        elif verdict in (Verdict.ABORTABLE, Verdict.ABORTABLE_IF_POSSIBLE) or isinstance(
            reason, CommitFailed
        ):
            error = TransactionFailed(
                f"transactional id {self.transactional_id}: the transaction has to be aborted: {reason}"
            )
        else:
            return reason
        error.__cause__ = reason
        return error

    def _backoff_ms(self, attempts: int, *, soon: bool = False) -> float:
        """`retry.backoff.ms`, doubled with every attempt, with jitter (KIP-580); `soon`: the coordinator has
        only to complete the last transaction.
        """
        settings = self._session.settings
        wait_ms = min(settings.retry_backoff_ms * 2.0 ** min(attempts, 30), settings.retry_backoff_max_ms)
        if soon:
            wait_ms = min(wait_ms, SOON_MS)
        return wait_ms * (1.0 + JITTER * (2.0 * self._session.host.chance() - 1.0))
