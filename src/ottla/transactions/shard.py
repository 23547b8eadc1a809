"""One shard of the coordinator: the transactional ids whose records are in one partition of
`__transaction_state`.

The shard is the one door to its parts: `producers` gives ids out, `memberships` says what is in a
transaction, `endings` how it ends, `admin` what people are shown. A decision changes nothing: it returns an
`Outcome`, and the state follows when its records are replayed, right after their append. So Kafka's pending
state is not needed here: the next decision sees the one before, whose answer still waits for the high
watermark. What remains of it is that a transaction which is being ended (Prepare until Complete) answers
CONCURRENT_TRANSACTIONS to everybody who would change it.

What holds, whatever is asked:
- a decided outcome never changes: from PrepareCommit there is only CompleteCommit, and the same for abort;
- the epochs of a producer id never go back, and no two producers are ever given the same one;
- nothing is added to a transaction after its decision;
- a fenced producer can neither add nor end;
- Complete is written only when the writer of the markers says that all are in their logs.

Every refusal is a KafkaError that is raised; whoever carries the decisions out puts it into the promise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.coordination.record import CoordinatorRecord
from ottla.coordination.timers import Timers
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.types import TopicPartition
from ottla.transactions.admin import Filters, TransactionAdmin
from ottla.transactions.api_versions import client_version_of_end_txn, error_for
from ottla.transactions.endings import Endings
from ottla.transactions.environment import Environment
from ottla.transactions.markers import TxnToEnd, to_end
from ottla.transactions.memberships import Memberships
from ottla.transactions.producers import Producers
from ottla.transactions.registry import Registry
from ottla.transactions.transaction import EPOCH_BUMP_VERSION
from ottla.wire.messages.describe_transactions import TransactionState as DescribedTransaction
from ottla.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from ottla.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ottla.wire.messages.list_transactions import TransactionState as ListedTransaction
from ottla.wire.messages.transaction_state import TransactionLogKey


class TransactionShard:
    __slots__ = ("timers", "registry", "producers", "memberships", "endings", "admin")

    def __init__(self, env: Environment, coordinator_epoch: int) -> None:
        self.timers = Timers()
        """Empty: time-outs are looked for at intervals (`abort_timed_out`, `expire_ids`), as in Kafka."""
        self.registry = Registry(env, coordinator_epoch)
        self.endings = Endings(self.registry)
        self.producers = Producers(self.registry, self.endings)
        self.memberships = Memberships(self.registry)
        self.admin = TransactionAdmin(self.registry)

    # --- the log ------------------------------------------------------------------------------------------

    def replay(self, record: CoordinatorRecord, offset: int, producer_id: int) -> None:
        """Raises DecodeError for a record that makes no sense."""
        if isinstance(record.key, TransactionLogKey):
            self.registry.replay(record)

    def loaded(self) -> Outcome:
        """The log has been replayed to its end: what was decided is carried on with."""
        self.registry.loaded()
        outcome = Outcome()
        epoch = self.registry.coordinator_epoch
        outcome.then += [to_end(each, epoch) for each in self.registry if each.is_ending]
        return outcome

    def parked(self) -> list[Promise[Any]]:
        """Nobody waits for others here."""
        return []

    # --- producers ----------------------------------------------------------------------------------------

    def init_producer_id(
        self,
        request: InitProducerIdRequest,
        promise: Promise[InitProducerIdResponse],
        version: int = InitProducerIdRequest.MAX_VERSION,
    ) -> Outcome:
        """A request without a transactional id is nobody's in particular: see `expected_of`, then give it a
        new producer id with epoch 0. Raises NoProducerId, too.
        """
        try:
            return self.producers.init(request, promise)
        except KafkaError as error:
            raise _known(InitProducerIdRequest.API_KEY, version, error) from None

    def add_partitions(
        self,
        transactional_id: str,
        producer_id: int,
        epoch: int,
        partitions: Collection[TopicPartition],
        verify_only: bool,
        version: int,
        promise: Promise[dict[TopicPartition, ErrorCode]],
    ) -> Outcome:
        """`version` is the client's transaction version, 0 or 2 (`api_versions`). AddOffsetsToTxn adds the
        group's partition of `__consumer_offsets`.
        """
        if verify_only:
            return self.memberships.verify(transactional_id, producer_id, epoch, partitions, promise)
        self._check_generation(version)
        return self.memberships.add(transactional_id, producer_id, epoch, partitions, version, promise)

    def end_txn(self, request: EndTxnRequest, version: int, promise: Promise[EndTxnResponse]) -> Outcome:
        """`version` is that of the API. Raises NoProducerId, too."""
        client_version = client_version_of_end_txn(version)
        self._check_generation(client_version)
        try:
            return self.endings.end(request, client_version, promise)
        except KafkaError as error:
            raise _known(EndTxnRequest.API_KEY, version, error) from None

    def _check_generation(self, client_version: int) -> None:
        """The records of `transaction.version` 0 have no room for the newer generation."""
        if client_version >= EPOCH_BUMP_VERSION and self.registry.env.version == 0:
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, "transaction.version is 0.")

    # --- markers and time ---------------------------------------------------------------------------------

    def marked(self, job: TxnToEnd) -> Outcome:
        """All markers of the transaction are in their logs."""
        return self.endings.marked(job)

    def abort_timed_out(self, limit: int) -> tuple[Outcome, bool]:
        """Aborts up to `limit` transactions that have lasted too long; whether there are more."""
        return self.endings.abort_timed_out(limit)

    def expire_ids(self, limit: int) -> tuple[Outcome, bool]:
        """Forgets up to `limit` ids that have long been idle; whether there are more."""
        return self.admin.expire_ids(limit)

    # --- people -------------------------------------------------------------------------------------------

    def describe(self, transactional_id: str) -> DescribedTransaction:
        return self.admin.describe(transactional_id)

    def matching(self, filters: Filters) -> list[ListedTransaction]:
        """For ListTransactions; see `read_filters`."""
        return self.admin.matching(filters)

    def matching_in_pieces(self, filters: Filters) -> Iterator[list[ListedTransaction]]:
        """The same, so that others can be served in between: there may be a million."""
        return self.admin.matching_in_pieces(filters)


def _known(api_key: int, version: int, error: KafkaError) -> KafkaError:
    """The error with the code that the client's version of the API has for it."""
    code = error_for(api_key, version, error.code)
    return error if code is error.code else KafkaError(code)
