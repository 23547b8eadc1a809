"""Administration of transactions (KIP-664, KIP-994, KIP-1152) against scripted brokers."""

from __future__ import annotations

from typing import Any

import pytest
from client_script import Script

from ottla.client.admin_transactions import PARTITIONS_PER_REQUEST_MAX, TransactionAdmin
from ottla.client.coordinator import TRANSACTION_KEY_TYPE, Coordinators
from ottla.client.errors import InvalidArgument, ProtocolError, ServerError, UnsupportedVersion
from ottla.client.transaction_views import ProducerState, TransactionToAbort
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.messages.describe_producers import (
    DescribeProducersResponse,
    PartitionResponse,
    TopicResponse,
)
from ottla.wire.messages.describe_producers import ProducerState as WireProducer
from ottla.wire.messages.describe_transactions import DescribeTransactionsResponse, TopicData
from ottla.wire.messages.describe_transactions import TransactionState as WireDescription
from ottla.wire.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from ottla.wire.messages.init_producer_id import InitProducerIdResponse
from ottla.wire.messages.list_transactions import ListTransactionsResponse
from ottla.wire.messages.list_transactions import TransactionState as WireListing
from ottla.wire.messages.write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersResponse,
)

CLICKS = [TopicPartition("clicks", n) for n in range(3)]
HOUR_MS = 3_600_000


class TransactionScript(Script):
    """Two brokers; ids live where `homes` says (broker 1 where it says nothing)."""

    def __init__(self) -> None:
        super().__init__()
        self.topics = {"clicks": [1, 2, 1]}
        self.homes: dict[str, int] = {}
        self.open: dict[str, WireDescription] = {}
        self.producers: dict[TopicPartition, list[WireProducer]] = {}
        self.producer_codes: dict[TopicPartition, list[int]] = {}
        self.marker_codes: list[int] = []
        self.init_codes: list[int] = []
        self.handlers |= {
            "FindCoordinator": self._find,
            "ListTransactions": self._list,
            "DescribeTransactions": self._describe,
            "DescribeProducers": self._producers,
            "WriteTxnMarkers": self._markers,
            "InitProducerId": self._init,
        }
        self.admin = TransactionAdmin(self.cluster, Coordinators(self.cluster, TRANSACTION_KEY_TYPE))

    def add(self, name: str, producer_id: int, state: str, *partitions: TopicPartition) -> None:
        topics = [TopicData(topic=tp.topic, partitions=[tp.partition]) for tp in partitions]
        self.open[name] = WireDescription(
            transactional_id=name,
            transaction_state=state,
            producer_id=producer_id,
            producer_epoch=4,
            transaction_timeout_ms=60_000,
            transaction_start_time_ms=1_000 if state == "Ongoing" else -1,
            topics=topics,
        )

    def _find(self, node_id: int, request: Any) -> FindCoordinatorResponse:
        assert request.key_type == TRANSACTION_KEY_TYPE
        found = [
            Coordinator(key=name, node_id=self.homes.get(name, 1), host="h", port=1)
            for name in request.coordinator_keys
        ]
        return FindCoordinatorResponse(coordinators=found)

    def _list(self, node_id: int, request: Any) -> ListTransactionsResponse:
        return ListTransactionsResponse(
            unknown_state_filters=[s for s in request.state_filters if s == "Odd"],
            transaction_states=[
                WireListing(
                    transactional_id=name, producer_id=t.producer_id, transaction_state=t.transaction_state
                )
                for name, t in self.open.items()
                if self.homes.get(name, 1) == node_id
                and (not request.producer_id_filters or t.producer_id in request.producer_id_filters)
            ],
        )

    def _describe(self, node_id: int, request: Any) -> DescribeTransactionsResponse:
        return DescribeTransactionsResponse(
            transaction_states=[
                self.open[name]
                if name in self.open and self.homes.get(name, 1) == node_id
                else WireDescription(
                    transactional_id=name,
                    error_code=ErrorCode.NOT_COORDINATOR
                    if name in self.open
                    else ErrorCode.TRANSACTIONAL_ID_NOT_FOUND,
                )
                for name in request.transactional_ids
            ]
        )

    def _producers(self, node_id: int, request: Any) -> DescribeProducersResponse:
        topics = []
        for topic in request.topics:
            partitions = []
            for index in topic.partition_indexes:
                tp = TopicPartition(topic.name, index)
                codes = self.producer_codes.get(tp, [])
                code = codes.pop(0) if codes else 0
                states = [] if code else self.producers.get(tp, [])
                partitions.append(
                    PartitionResponse(partition_index=index, error_code=code, active_producers=states)
                )
            topics.append(TopicResponse(name=topic.name, partitions=partitions))
        return DescribeProducersResponse(topics=topics)

    def _markers(self, node_id: int, request: Any) -> WriteTxnMarkersResponse:
        (marker,) = request.markers
        (topic,) = marker.topics
        code = self.marker_codes.pop(0) if self.marker_codes else 0
        results = [
            WritableTxnMarkerPartitionResult(partition_index=index, error_code=code)
            for index in topic.partition_indexes
        ]
        answer = WritableTxnMarkerTopicResult(name=topic.name, partitions=results)
        return WriteTxnMarkersResponse(
            markers=[WritableTxnMarkerResult(producer_id=marker.producer_id, topics=[answer])]
        )

    def _init(self, node_id: int, request: Any) -> InitProducerIdResponse:
        code = self.init_codes.pop(0) if self.init_codes else 0
        return InitProducerIdResponse(error_code=code, producer_id=9, producer_epoch=5)

    def sent(self, api: str) -> list[tuple[int, Any]]:
        return [(node_id, request) for name, node_id, request in self.calls if name == api]


def producer(producer_id: int, start: int = -1, *, idle_ms: int = 0, epoch: int = -1) -> WireProducer:
    return WireProducer(
        producer_id=producer_id,
        producer_epoch=4,
        last_sequence=7,
        last_timestamp=10 * HOUR_MS - idle_ms,
        coordinator_epoch=epoch,
        current_txn_start_offset=start,
    )


def test_transactions_are_listed_from_every_broker_with_its_number() -> None:
    script = TransactionScript()
    script.homes = {"b": 2}
    script.add("b", 1, "Ongoing")
    script.add("a", 2, "Empty")
    found = script.run(script.admin.list_transactions(["Ongoing", "Empty"], [2, 1], duration_ms=5))
    assert [(t.transactional_id, t.coordinator_id, t.state) for t in found] == [
        ("a", 1, "Empty"),
        ("b", 2, "Ongoing"),
    ]
    request = script.sent("ListTransactions")[0][1]
    assert request.state_filters == ["Empty", "Ongoing"] and request.producer_id_filters == [1, 2]
    assert request.duration_filter == 5 and request.transactional_id_pattern is None


def test_a_broker_that_cannot_filter_is_not_asked_to() -> None:
    """KIP-994: version 1 has the duration; KIP-1152: version 2 has the pattern."""
    script = TransactionScript()
    script.versions["ListTransactions"] = 0
    script.run(script.admin.list_transactions())
    with pytest.raises(UnsupportedVersion, match="duration"):
        script.run(script.admin.list_transactions(duration_ms=0))
    script.versions["ListTransactions"] = 1
    with pytest.raises(UnsupportedVersion, match="pattern"):
        script.run(script.admin.list_transactions(id_pattern="a.*"))


def test_a_state_that_the_broker_does_not_know_is_an_error() -> None:
    script = TransactionScript()
    with pytest.raises(InvalidArgument, match="no state Odd"):
        script.run(script.admin.list_transactions(["Odd"]))


def test_ids_are_described_by_their_coordinators_and_unknown_ones_by_an_error() -> None:
    script = TransactionScript()
    script.homes = {"b": 2}
    script.add("a", 1, "Ongoing", CLICKS[2], CLICKS[0])
    script.add("b", 2, "Empty")
    found = script.run(script.admin.describe_transactions(["a", "b", "nobody"]))
    assert found["a"].partitions == (CLICKS[0], CLICKS[2]) and found["a"].start_time_ms == 1_000
    assert found["a"].is_open and not found["b"].is_open
    assert found["b"].coordinator_id == 2 and found["b"].start_time_ms is None
    assert found["nobody"].code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    assert [node_id for node_id, _ in script.sent("DescribeTransactions")] == [1, 2]


def test_an_id_whose_coordinator_has_moved_is_looked_up_again() -> None:
    script = TransactionScript()
    script.add("a", 1, "Ongoing")
    script.run(script.admin.describe_transaction("a"))
    script.homes = {"a": 2}
    assert script.run(script.admin.describe_transaction("a")).coordinator_id == 2
    assert len(script.sent("FindCoordinator")) == 2


def test_producers_are_asked_of_the_leaders_and_again_after_a_move() -> None:
    script = TransactionScript()
    script.producers[CLICKS[1]] = [producer(5, 41, epoch=3)]
    script.producer_codes[CLICKS[0]] = [ErrorCode.NOT_LEADER_OR_FOLLOWER]
    found = script.run(script.admin.describe_producers(CLICKS))
    assert found[CLICKS[1]] == (ProducerState(5, 4, 7, 10 * HOUR_MS, 3, 41),)
    assert found[CLICKS[0]] == () and found[CLICKS[2]] == ()
    asked = [(node, [t.partition_indexes for t in r.topics]) for node, r in script.sent("DescribeProducers")]
    assert asked == [(1, [[0, 2]]), (2, [[1]]), (1, [[0]])]


def test_a_replica_that_was_named_is_asked_and_its_refusal_is_final() -> None:
    script = TransactionScript()
    script.producer_codes[CLICKS[0]] = [ErrorCode.NOT_LEADER_OR_FOLLOWER]
    found = script.run(script.admin.describe_producers([CLICKS[0]], broker_id=2))
    assert isinstance(found[CLICKS[0]], ServerError)
    assert [node for node, _ in script.sent("DescribeProducers")] == [2]
    found = script.run(script.admin.describe_producers([CLICKS[0]], broker_id=7))
    assert "no broker 7" in str(found[CLICKS[0]])


def test_unknown_partitions_stay_with_themselves() -> None:
    script = TransactionScript()
    beyond, nowhere = TopicPartition("clicks", 9), TopicPartition("nowhere", 0)
    found = script.run(script.admin.describe_producers([beyond, CLICKS[0], nowhere]))
    assert found[CLICKS[0]] == ()
    for tp in (beyond, nowhere):
        error = found[tp]
        assert isinstance(error, ServerError) and error.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_no_request_asks_about_more_partitions_than_the_limit() -> None:
    script = TransactionScript()
    script.topics = {"wide": [1] * (PARTITIONS_PER_REQUEST_MAX + 1)}
    partitions = [TopicPartition("wide", n) for n in range(PARTITIONS_PER_REQUEST_MAX + 1)]
    script.run(script.admin.describe_producers(partitions))
    sizes = [len(request.topics[0].partition_indexes) for _, request in script.sent("DescribeProducers")]
    assert sizes == [PARTITIONS_PER_REQUEST_MAX, 1]


def test_hanging_is_what_no_coordinator_will_end() -> None:
    """KIP-664: nobody knows the producer, or its transaction does not contain the partition."""
    script = TransactionScript()
    script.add("alive", 1, "Ongoing", CLICKS[0])
    script.add("moved-on", 2, "Empty")
    script.producers = {
        CLICKS[0]: [producer(1, 10, idle_ms=HOUR_MS), producer(7)],
        CLICKS[1]: [producer(2, 20, idle_ms=HOUR_MS), producer(4, 25, idle_ms=HOUR_MS - 1)],
        CLICKS[2]: [producer(3, 30, idle_ms=2 * HOUR_MS)],
    }
    steps = script.admin.find_hanging_transactions(CLICKS, older_than_ms=HOUR_MS - 1, now_ms=10 * HOUR_MS)
    found = script.run(steps)
    assert [(t.topic_partition, t.producer.txn_start_offset) for t in found] == [
        (CLICKS[1], 20),
        (CLICKS[2], 30),
    ]
    assert script.sent("ListTransactions")[0][1].producer_id_filters == [1, 2, 3]


def test_without_candidates_no_coordinator_is_asked() -> None:
    script = TransactionScript()
    script.producers = {CLICKS[0]: [producer(1)]}
    assert (
        script.run(script.admin.find_hanging_transactions(CLICKS, older_than_ms=0, now_ms=20 * HOUR_MS)) == []
    )
    assert not script.sent("ListTransactions")


def test_an_abort_marker_goes_to_the_leader() -> None:
    script = TransactionScript()
    state = ProducerState(5, 4, 7, 0, None, 41)
    spec = TransactionToAbort.of(CLICKS[1], state)
    assert spec == TransactionToAbort(CLICKS[1], 5, 4, 0)  # no marker so far: no epoch to name
    script.marker_codes = [ErrorCode.NOT_LEADER_OR_FOLLOWER]
    script.run(script.admin.abort_transaction(spec))
    assert [node for node, _ in script.sent("WriteTxnMarkers")] == [2, 2]
    (marker,) = script.sent("WriteTxnMarkers")[-1][1].markers
    assert (marker.producer_id, marker.producer_epoch, marker.coordinator_epoch) == (5, 4, 0)
    assert marker.transaction_result is False and marker.topics[0].partition_indexes == [1]


@pytest.mark.parametrize("code", [ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED])
def test_a_marker_that_is_refused_is_an_error(code: ErrorCode) -> None:
    script = TransactionScript()
    script.marker_codes = [code]
    with pytest.raises(ServerError) as failure:
        script.run(script.admin.abort_transaction(TransactionToAbort(CLICKS[0], 5, 4, 0)))
    assert failure.value.code == code and len(script.sent("WriteTxnMarkers")) == 1


def test_an_answer_about_something_else_is_not_taken_for_success() -> None:
    script = TransactionScript()
    script.handlers["WriteTxnMarkers"] = lambda node_id, request: WriteTxnMarkersResponse()
    with pytest.raises(ProtocolError):
        script.run(script.admin.abort_transaction(TransactionToAbort(CLICKS[0], 5, 4, 0)))
    script.handlers["DescribeProducers"] = lambda node_id, request: DescribeProducersResponse()
    with pytest.raises(ProtocolError):
        script.run(script.admin.describe_producers([CLICKS[0]]))
    script.handlers["DescribeTransactions"] = lambda node_id, request: DescribeTransactionsResponse()
    with pytest.raises(ProtocolError):
        script.run(script.admin.describe_transaction("a"))


def test_fencing_waits_until_the_abort_is_complete() -> None:
    """CONCURRENT_TRANSACTIONS says that the abort has begun."""
    script = TransactionScript()
    script.homes = {"a": 2}
    script.init_codes = [ErrorCode.CONCURRENT_TRANSACTIONS] * 2
    fenced = script.run(script.admin.fence_producer("a", transaction_timeout_ms=1234))
    assert (fenced.producer_id, fenced.producer_epoch) == (9, 5)
    asked = script.sent("InitProducerId")
    assert [node for node, _ in asked] == [2, 2, 2] and len(script.pauses) == 2
    request = asked[0][1]
    assert (request.transactional_id, request.transaction_timeout_ms) == ("a", 1234)
    assert (request.producer_id, request.producer_epoch) == (-1, -1)
