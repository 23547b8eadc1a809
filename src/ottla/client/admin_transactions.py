"""Administration of transactions (KIP-664): list, describe, find hanging ones, abort: operations of the core.

A transaction lives in two places. Its coordinator knows id, state and partitions (ListTransactions,
DescribeTransactions); the leader of each partition knows which producers have one open there
(DescribeProducers). One that a leader has open and no coordinator will end is hanging: it holds back every
read_committed reader of the partition until a marker is written by hand. As in `admin.py`, what concerns one
id or partition is in the results, and only a failure of the whole is raised.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ottla.client.admin_part import CoordinatedPart
from ottla.client.admin_results import Results
from ottla.client.coordinator import chunks
from ottla.client.effects import Answer, Call, CallMany, ClientSteps, Versioned
from ottla.client.errors import (
    InvalidArgument,
    OttlaError,
    ProtocolError,
    ServerError,
    UnsupportedVersion,
    raise_for,
)
from ottla.client.transaction_views import (
    FencedProducer,
    OpenTransaction,
    ProducerState,
    TransactionDescription,
    TransactionListing,
    TransactionToAbort,
)
from ottla.client.view import ClusterView
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition

PARTITIONS_PER_REQUEST_MAX: Final = 500
"""Partitions that one DescribeProducers asks about: each may answer with thousands of producers."""

FENCING_TIMEOUT_MS: Final = 30_000
"""The transaction timeout of InitProducerId when the caller knows none: Kafka's request timeout."""

LED_ELSEWHERE: Final = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.BROKER_NOT_AVAILABLE,
        ErrorCode.LEADER_NOT_AVAILABLE,
    }
)
"""Errors that say: somebody else leads this partition now."""


class TransactionAdmin(CoordinatedPart):
    # -- what the coordinators know

    def list_transactions(
        self,
        states: Iterable[str] = (),
        producer_ids: Iterable[int] = (),
        *,
        duration_ms: int = -1,
        id_pattern: str | None = None,
    ) -> ClientSteps[list[TransactionListing]]:
        """The transactional ids of all brokers, as each broker lists them. `duration_ms`: only transactions
        that have been open for longer; `id_pattern`: only ids that a regular expression (RE2) matches whole.
        """
        from ottla.wire.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse

        wanted_states, wanted_ids = sorted(set(states)), sorted(set(producer_ids))

        def build(version: int) -> ListTransactionsRequest:
            # What a broker cannot filter is not filtered here: the list would be taken for what it is not.
            if duration_ms >= 0 and version < 1:
                raise UnsupportedVersion("the broker is too old to choose transactions by their duration")
            if id_pattern and version < 2:
                raise UnsupportedVersion("the broker is too old to choose transactions by a pattern")
            return ListTransactionsRequest(
                state_filters=wanted_states,
                producer_id_filters=wanted_ids,
                duration_filter=max(-1, duration_ms),
                transactional_id_pattern=id_pattern or None,
            )

        def attempt() -> ClientSteps[list[TransactionListing]]:
            view = yield from self._cluster.refresh(())
            request = Versioned(ListTransactionsRequest.API_KEY, build)
            nodes = sorted(view.brokers)
            answers: list[Answer] = yield CallMany([Call(node_id, request) for node_id in nodes])
            found = []
            for node_id, answer in zip(nodes, answers, strict=True):
                response: ListTransactionsResponse = answer.get()
                raise_for(response.error_code, subject="list transactions")
                if response.unknown_state_filters:
                    raise InvalidArgument(
                        f"broker {node_id} knows no state {', '.join(response.unknown_state_filters)}"
                    )
                found += [
                    TransactionListing(t.transactional_id, node_id, t.producer_id, t.transaction_state)
                    for t in response.transaction_states
                ]
            return found

        return (yield from self._cluster.retrying(attempt))

    def describe_transactions(
        self, transactional_ids: Iterable[str]
    ) -> ClientSteps[Results[str, TransactionDescription]]:
        """Transactional ids with the state of their transactions (or TRANSACTIONAL_ID_NOT_FOUND)."""
        return (yield from self._ask_each(transactional_ids, self._describe))

    def describe_transaction(self, transactional_id: str) -> ClientSteps[TransactionDescription]:
        """One transactional id; raises."""
        return (yield from self.describe_transactions([transactional_id])).all()[transactional_id]

    def _describe(
        self, node_id: int, transactional_ids: list[str]
    ) -> ClientSteps[dict[str, TransactionDescription | OttlaError]]:
        from ottla.wire.messages.describe_transactions import (
            DescribeTransactionsRequest,
            DescribeTransactionsResponse,
        )

        request = DescribeTransactionsRequest(transactional_ids=transactional_ids)
        response: DescribeTransactionsResponse = yield Call(node_id, request)
        found: dict[str, TransactionDescription | OttlaError] = {}
        for t in response.transaction_states:
            name = t.transactional_id
            if t.error_code:
                found[name] = ServerError(t.error_code, subject=f"transactional id {name}")
                continue
            found[name] = TransactionDescription(
                name,
                node_id,
                self._address(node_id),
                t.transaction_state,
                t.producer_id,
                t.producer_epoch,
                t.transaction_timeout_ms,
                t.transaction_start_time_ms if t.transaction_start_time_ms >= 0 else None,
                tuple(
                    sorted(
                        TopicPartition(topic.topic, index) for topic in t.topics for index in topic.partitions
                    )
                ),
            )
        for name in transactional_ids:
            if name not in found:
                raise ProtocolError(f"broker {node_id} was asked about {name} and did not answer about it")
        return found

    # -- what the partitions know

    def describe_producers(
        self, partitions: Iterable[TopicPartition], *, broker_id: int | None = None
    ) -> ClientSteps[Results[TopicPartition, tuple[ProducerState, ...]]]:
        """The producers that each partition's leader (or the replica on `broker_id`) remembers."""
        asked = list(dict.fromkeys(partitions))
        results: dict[TopicPartition, tuple[ProducerState, ...] | OttlaError] = {}

        def attempt() -> ClientSteps[None]:
            left = [tp for tp in asked if tp not in results]
            view = yield from self._cluster.refresh(sorted({tp.topic for tp in left}))
            by_node: dict[int, list[TopicPartition]] = {}
            passing: OttlaError | None = None
            for tp in left:
                try:
                    node_id = self._replica(view, tp, broker_id)
                except ServerError as error:
                    if error.code in LED_ELSEWHERE:
                        passing = error
                    else:
                        results[tp] = error
                    continue
                by_node.setdefault(node_id, []).append(tp)
            pieces = [
                (node_id, part)
                for node_id, owned in by_node.items()
                for part in chunks(owned, PARTITIONS_PER_REQUEST_MAX)
            ]
            answers: list[Answer] = yield CallMany(
                [self._producers_call(node, part) for node, part in pieces]
            )
            for (node_id, part), answer in zip(pieces, answers, strict=True):
                for tp, outcome in _producers_of(answer, part, node_id).items():
                    if isinstance(outcome, OttlaError) and _passes(outcome, pinned=broker_id is not None):
                        passing = outcome
                    else:
                        results[tp] = outcome
            if passing is not None:
                raise passing

        yield from self._cluster.retrying(attempt)
        return Results.of(asked, results)

    def _replica(self, view: ClusterView, tp: TopicPartition, broker_id: int | None) -> int:
        if broker_id is None:
            return view.leader(tp.topic, tp.partition)
        view.partition(tp.topic, tp.partition)
        if broker_id not in view.brokers:
            raise ServerError(ErrorCode.INVALID_REQUEST, f"the cluster has no broker {broker_id}")
        return broker_id

    def _producers_call(self, node_id: int, partitions: Sequence[TopicPartition]) -> Call:
        from ottla.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest

        by_topic: dict[str, list[int]] = {}
        for tp in partitions:
            by_topic.setdefault(tp.topic, []).append(tp.partition)
        topics = [TopicRequest(name=topic, partition_indexes=indexes) for topic, indexes in by_topic.items()]
        return Call(node_id, DescribeProducersRequest(topics=topics))

    def find_hanging_transactions(
        self,
        partitions: Iterable[TopicPartition],
        *,
        older_than_ms: int,
        now_ms: int | None = None,
        broker_id: int | None = None,
    ) -> ClientSteps[list[OpenTransaction]]:
        """The transactions open in these partitions, without a write for so long, that no coordinator is
        going to end: nobody knows their producer, or its transaction does not contain the partition.
        """
        now = self._cluster.clock.now_ms() if now_ms is None else now_ms
        described = yield from self.describe_producers(partitions, broker_id=broker_id)
        candidates = []
        for tp in sorted(described):
            producers = described[tp]
            if isinstance(producers, OttlaError):
                raise producers
            candidates += [
                OpenTransaction(tp, producer)
                for producer in producers
                if producer.txn_start_offset is not None and now - producer.last_timestamp_ms > older_than_ms
            ]
        if not candidates:
            return []
        listed = yield from self.list_transactions(producer_ids={c.producer.producer_id for c in candidates})
        names = {listing.producer_id: listing.transactional_id for listing in listed}
        known = yield from self.describe_transactions(sorted(set(names.values())))
        hanging = []
        for candidate in candidates:
            name = names.get(candidate.producer.producer_id)
            description = known[name] if name is not None else None
            if isinstance(description, OttlaError):
                if not _is_unknown_id(description):
                    raise description
                description = None
            if description is None or candidate.topic_partition not in description.partitions:
                hanging.append(candidate)
        return hanging

    # -- how they are ended

    def abort_transaction(self, spec: TransactionToAbort) -> ClientSteps[None]:
        """Writes an abort marker into one partition, past every coordinator: for hanging transactions."""
        from ottla.wire.messages.write_txn_markers import (
            WritableTxnMarker,
            WritableTxnMarkerTopic,
            WriteTxnMarkersRequest,
            WriteTxnMarkersResponse,
        )

        tp = spec.topic_partition
        request = WriteTxnMarkersRequest(
            markers=[
                WritableTxnMarker(
                    producer_id=spec.producer_id,
                    producer_epoch=spec.producer_epoch,
                    transaction_result=False,
                    topics=[WritableTxnMarkerTopic(name=tp.topic, partition_indexes=[tp.partition])],
                    coordinator_epoch=spec.coordinator_epoch,
                )
            ]
        )

        def attempt() -> ClientSteps[None]:
            view = yield from self._cluster.refresh([tp.topic])
            response: WriteTxnMarkersResponse = yield Call(view.leader(tp.topic, tp.partition), request)
            codes = [
                p.error_code
                for marker in response.markers
                if marker.producer_id == spec.producer_id
                for topic in marker.topics
                if topic.name == tp.topic
                for p in topic.partitions
                if p.partition_index == tp.partition
            ]
            if len(codes) != 1:
                raise ProtocolError(f"the answer about the marker for {tp} speaks of something else")
            raise_for(codes[0], subject=str(tp))

        yield from self._cluster.retrying(attempt)

    def fence_producers(
        self, transactional_ids: Iterable[str], *, transaction_timeout_ms: int = FENCING_TIMEOUT_MS
    ) -> ClientSteps[Results[str, FencedProducer]]:
        """Takes transactional ids from the producers that use them: their open transactions are aborted,
        their next requests refused. Returns when the aborts are complete.
        """
        results: Results[str, FencedProducer] = Results()
        for name in dict.fromkeys(transactional_ids):
            try:
                results[name] = yield from self.fence_producer(
                    name, transaction_timeout_ms=transaction_timeout_ms
                )
            except UnsupportedVersion:
                raise
            except OttlaError as error:
                if not self._cluster.contacted:
                    raise
                results[name] = error
        return results

    def fence_producer(
        self, transactional_id: str, *, transaction_timeout_ms: int = FENCING_TIMEOUT_MS
    ) -> ClientSteps[FencedProducer]:
        """As `fence_producers`, for one; raises."""
        from ottla.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

        request = InitProducerIdRequest(
            transactional_id=transactional_id, transaction_timeout_ms=transaction_timeout_ms
        )

        def check(response: InitProducerIdResponse) -> None:
            # CONCURRENT_TRANSACTIONS says that the abort has begun; it is retried until that is done.
            raise_for(response.error_code, subject=f"transactional id {transactional_id}")

        response = yield from self._coordinators.ask(transactional_id, request, check=check)
        return FencedProducer(response.producer_id, response.producer_epoch)


def _is_unknown_id(error: OttlaError) -> bool:
    return isinstance(error, ServerError) and error.code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND


def _passes(error: OttlaError, *, pinned: bool) -> bool:
    """Whether asking again may help. A broker that was named and has no replica will not get one."""
    if isinstance(error, ServerError):
        return error.code in LED_ELSEWHERE and not pinned
    return error.retriable


def _producers_of(
    answer: Answer, partitions: Sequence[TopicPartition], node_id: int
) -> dict[TopicPartition, tuple[ProducerState, ...] | OttlaError]:
    if answer.error is not None:
        if not isinstance(answer.error, OttlaError) or isinstance(answer.error, UnsupportedVersion):
            raise answer.error
        return dict.fromkeys(partitions, answer.error)
    found: dict[TopicPartition, tuple[ProducerState, ...] | OttlaError] = {}
    for topic in answer.response.topics:
        for p in topic.partitions:
            tp = TopicPartition(topic.name, p.partition_index)
            if p.error_code:
                found[tp] = ServerError(p.error_code, p.error_message, subject=str(tp))
                continue
            found[tp] = tuple(
                ProducerState(
                    producer.producer_id,
                    producer.producer_epoch,
                    producer.last_sequence,
                    producer.last_timestamp,
                    producer.coordinator_epoch if producer.coordinator_epoch >= 0 else None,
                    producer.current_txn_start_offset if producer.current_txn_start_offset >= 0 else None,
                )
                for producer in p.active_producers
            )
    for tp in partitions:
        if tp not in found:
            raise ProtocolError(f"broker {node_id} was asked about {tp} and did not answer about it")
    return found
