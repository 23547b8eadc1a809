"""A simulated operator of transactions: aborts what is open in a partition (KIP-664), looks at transactions,
deletes topics, and reads committed offsets when all has ended.

Every method tries until it has an answer that means something, through lost connections and restarts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.ports.effects import Sleep, Steps
from ottla.testing.client import RETRY_BACKOFF_MS, Session, SimClient
from ottla.testing.ledger import Violation
from ottla.testing.network import ConnectionLost
from ottla.testing.txn_books import TxnBooks
from ottla.testing.txn_client import ELSEWHERE
from ottla.testing.txn_pipeline import stable_offsets_request
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest
from ottla.wire.messages.describe_transactions import DescribeTransactionsRequest
from ottla.wire.messages.list_transactions import ListTransactionsRequest
from ottla.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

ENDED: Final = frozenset(("Empty", "CompleteCommit", "CompleteAbort"))
GONE: Final = frozenset((ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID))


class TxnOperator(SimClient):
    def __init__(self, *arguments: Any, books: TxnBooks) -> None:
        super().__init__(*arguments)
        self.books = books

    def _until_done(self, attempt: Callable[[Session], Steps[bool]]) -> Steps[None]:
        while True:
            session = yield from self.connect()
            try:
                if (yield from attempt(session)):
                    return
            except ConnectionLost:
                self.report["operator_retries"] += 1
            finally:
                session.close()
            yield Sleep(RETRY_BACKOFF_MS)

    def delete_topic(self, topic: str) -> Steps[None]:
        self.books.deleted_topics.add(topic)

        def attempt(session: Session) -> Steps[bool]:
            response = yield from session.call(
                DeleteTopicsRequest(topics=[DeleteTopicState(name=topic)], timeout_ms=30_000), 6
            )
            code = ErrorCode(response.responses[0].error_code)
            return code is ErrorCode.NONE or code in GONE

        yield from self._until_done(attempt)
        self.report["topics_deleted"] += 1

    def abort_open(self, tp: TopicPartition, *, stale: bool) -> Steps[None]:
        """Aborts one transaction that is open in the partition. With `stale` the marker has an epoch below
        its producer's, and has to be refused.
        """

        def attempt(session: Session) -> Steps[bool]:
            response = yield from session.call(
                DescribeProducersRequest(
                    topics=[TopicRequest(name=tp.topic, partition_indexes=[tp.partition])]
                ),
                0,
            )
            described = response.topics[0].partitions[0]
            if described.error_code != ErrorCode.NONE:
                return ErrorCode(described.error_code) in GONE
            open_ones = [each for each in described.active_producers if each.current_txn_start_offset >= 0]
            if not open_ones:
                return True
            target = self.random.choice(open_ones)
            epoch = target.producer_epoch - 1 if stale else target.producer_epoch
            if epoch < 0:
                return True
            if not stale:
                self.books.admin_abort(tp, target.producer_id, self.network.scheduler.now_ms)
            marker = WritableTxnMarker(
                producer_id=target.producer_id,
                producer_epoch=epoch,
                transaction_result=stale,
                coordinator_epoch=max(target.coordinator_epoch, 0),
                topics=[WritableTxnMarkerTopic(name=tp.topic, partition_indexes=[tp.partition])],
            )
            answer = yield from session.call(WriteTxnMarkersRequest(markers=[marker]), 1)
            code = ErrorCode(answer.markers[0].topics[0].partitions[0].error_code)
            self.report[f"admin_{'stale_' if stale else ''}abort_{code.name.lower()}"] += 1
            if stale and code is ErrorCode.NONE:
                raise Violation(
                    f"{tp}: a marker of producer {target.producer_id} with epoch {epoch} was accepted after "
                    f"epoch {target.producer_epoch}"
                )
            return True

        yield from self._until_done(attempt)

    def look(self, transactional_ids: Sequence[str], *, ended: bool) -> Steps[None]:
        """Describes and lists; with `ended` nothing may be open any more."""

        def attempt(session: Session) -> Steps[bool]:
            response = yield from session.call(
                DescribeTransactionsRequest(transactional_ids=list(transactional_ids)), 0
            )
            for each in response.transaction_states:
                code = ErrorCode(each.error_code)
                if code in ELSEWHERE:
                    return False
                if code is not ErrorCode.NONE and code is not ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
                    raise Violation(f"describing {each.transactional_id}: {code.name}")
                if ended and code is ErrorCode.NONE and each.transaction_state not in ENDED:
                    raise Violation(f"{each.transactional_id} is in {each.transaction_state} at the end")
            listed = yield from session.call(ListTransactionsRequest(state_filters=["Ongoing"]), 1)
            if ErrorCode(listed.error_code) in ELSEWHERE:
                return False
            if ended and listed.transaction_states:
                raise Violation(f"{listed.transaction_states} are listed as ongoing at the end")
            return True

        yield from self._until_done(attempt)
        self.report["transactions_described"] += 1

    def read_offsets(self, group: str, tps: Sequence[TopicPartition]) -> Steps[dict[TopicPartition, int]]:
        """What is committed when all has ended: the last of all that committed something."""
        offsets: dict[TopicPartition, int] = {}

        def attempt(session: Session) -> Steps[bool]:
            response = yield from session.call(stable_offsets_request(group, tps), 8)
            (answer,) = response.groups
            if answer.error_code in ELSEWHERE:
                return False
            for topic in answer.topics:
                for each in topic.partitions:
                    if each.error_code != ErrorCode.NONE:
                        return False
                    tp = TopicPartition(topic.name, each.partition_index)
                    self.books.offset_read(group, tp, each.committed_offset, each.metadata)
                    offsets[tp] = each.committed_offset
            return True

        yield from self._until_done(attempt)
        return offsets
