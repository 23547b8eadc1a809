"""Markers for partitions that other brokers lead, and the question to a coordinator on another broker."""

from __future__ import annotations

from typing import Any

import pytest
from cluster_bench import FENCE, UNFENCE, ScriptedPeers, Sent, move, register, set_fenced
from txn_bench import TxnBench, TxnProducer

from ottla.model.errors import ErrorCode
from ottla.model.types import TRANSACTION_STATE_TOPIC
from ottla.ports.peers import Address, PeerUnavailable
from ottla.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
)
from ottla.wire.messages.write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersResponse,
)


@pytest.fixture
def bench() -> TxnBench:
    bench = TxnBench()
    register(bench, 2)
    register(bench, 3)
    return bench


@pytest.fixture
def peers(bench: TxnBench) -> ScriptedPeers:
    return ScriptedPeers(bench)


def marked(sent: Sent, code: ErrorCode = ErrorCode.NONE) -> WriteTxnMarkersResponse:
    """The leader's answer, the same for every partition."""
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(
                producer_id=marker.producer_id,
                topics=[
                    WritableTxnMarkerTopicResult(
                        name=topic.name,
                        partitions=[
                            WritableTxnMarkerPartitionResult(partition_index=index, error_code=code)
                            for index in topic.partition_indexes
                        ],
                    )
                    for topic in marker.topics
                ],
            )
            for marker in sent.request.markers
        ]
    )


def verdicts(sent: Sent, code: ErrorCode = ErrorCode.NONE) -> AddPartitionsToTxnResponse:
    return AddPartitionsToTxnResponse(
        results_by_transaction=[
            AddPartitionsToTxnResult(
                transactional_id=each.transactional_id,
                topic_results=[
                    AddPartitionsToTxnTopicResult(
                        name=topic.name,
                        results_by_partition=[
                            AddPartitionsToTxnPartitionResult(
                                partition_index=index, partition_error_code=code
                            )
                            for index in topic.partitions
                        ],
                    )
                    for topic in each.topics
                ],
            )
            for each in sent.request.transactions
        ]
    )


def partitions_in(sent: Sent) -> set[tuple[str, int]]:
    return {
        (topic.name, index)
        for marker in sent.request.markers
        for topic in marker.topics
        for index in topic.partition_indexes
    }


def ended(bench: TxnBench, *partitions: int, transactional_id: str = "t") -> TxnProducer:
    """A producer that has written to the partitions while they were led here, and commits when they are led
    by broker 2.
    """
    producer = TxnProducer(bench, transactional_id).ready()
    for index in partitions:
        producer.send(b"x", index)
    for index in partitions:
        if index:
            move(bench, "events", index, 2)
    assert producer.end(committed=True) == ErrorCode.NONE
    return producer


def test_a_marker_goes_to_the_broker_that_leads_and_the_others_are_written_here(
    bench: TxnBench, peers: ScriptedPeers
) -> None:
    producer = TxnProducer(bench).ready()
    for index in (0, 1, 2):
        producer.send(b"x", index)
    epoch = producer.epoch
    move(bench, "events", 1, 2)
    move(bench, "events", 2, 3)
    assert producer.end(committed=True) == ErrorCode.NONE
    bench.settle()
    assert bench.committed(0) == [b"x"]
    assert bench.state("t") == "PrepareCommit"
    assert {(each.address, each.lane, each.version) for each in peers.sent} == {
        (Address("broker-2", 9092), "txn-markers", 2),
        (Address("broker-3", 9092), "txn-markers", 2),
    }
    (marker,) = peers.sent[0].request.markers
    assert (marker.producer_id, marker.transaction_result) == (producer.producer_id, True)
    assert (marker.producer_epoch, marker.transaction_version) == (epoch + 1, 2)
    assert marker.coordinator_epoch == bench.txn_host.leader_epoch
    peers.sent[0].reply(marked(peers.sent[0]))
    bench.settle()
    assert bench.state("t") == "PrepareCommit"
    peers.sent[1].reply(marked(peers.sent[1]))
    bench.reaches("t", "CompleteCommit")


def test_transactions_that_end_together_share_a_request_and_one_is_under_way(
    bench: TxnBench, peers: ScriptedPeers
) -> None:
    producers = [TxnProducer(bench, f"t{number}").ready() for number in range(5)]
    for producer in producers:
        producer.send(b"x", 1)
    move(bench, "events", 1, 2)
    assert producers[0].end(committed=True) == ErrorCode.NONE
    bench.settle()
    for producer in producers[1:]:
        assert producer.end(committed=True) == ErrorCode.NONE
    bench.settle()
    (first,) = peers.sent
    first.reply(marked(first))
    bench.scheduler.run_until(lambda: len(peers.sent) == 2, within_ms=60_000)
    second = peers.sent[1]
    assert (len(first.request.markers), len(second.request.markers)) == (1, 4)
    second.reply(marked(second))
    for number in range(5):
        bench.reaches(f"t{number}", "CompleteCommit")
    assert len(peers.sent) == 2


@pytest.mark.parametrize(
    "failure",
    [
        PeerUnavailable("gone"),
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.KAFKA_STORAGE_ERROR,
    ],
    ids=str,
)
def test_a_marker_is_sent_again_until_it_is_written(
    bench: TxnBench, peers: ScriptedPeers, failure: Any
) -> None:
    def answer(sent: Sent) -> Any:
        if len(peers.sent) > 3:
            return marked(sent)
        return marked(sent, failure) if isinstance(failure, ErrorCode) else failure

    peers.answer = answer
    ended(bench, 1)
    bench.reaches("t", "CompleteCommit")
    assert len(peers.sent) == 4


def test_only_what_was_refused_is_sent_again(bench: TxnBench, peers: ScriptedPeers) -> None:
    def answer(sent: Sent) -> Any:
        response = marked(sent)
        if len(peers.sent) == 1:
            response.markers[0].topics[0].partitions[1].error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
        return response

    peers.answer = answer
    ended(bench, 1, 2, 3)
    bench.reaches("t", "CompleteCommit")
    assert [len(partitions_in(each)) for each in peers.sent] == [3, 1]


def test_a_marker_follows_the_partition_to_its_next_leader(bench: TxnBench, peers: ScriptedPeers) -> None:
    """Broker 2 never answers: nothing waits for it any longer than its successor is unknown."""
    ended(bench, 1)
    bench.settle()
    move(bench, "events", 1, 3)
    bench.scheduler.run_until(lambda: len(peers.sent) == 2, within_ms=3_000)
    assert peers.sent[1].address.host == "broker-3"
    peers.sent[1].reply(marked(peers.sent[1]))
    bench.reaches("t", "CompleteCommit")


def test_a_marker_is_written_here_when_this_node_leads_again(bench: TxnBench, peers: ScriptedPeers) -> None:
    ended(bench, 1)
    bench.settle()
    move(bench, "events", 1, 1)
    bench.reaches("t", "CompleteCommit")
    assert bench.committed(1) == [b"x"]


def test_a_partition_without_a_leader_is_waited_for(bench: TxnBench, peers: ScriptedPeers) -> None:
    peers.answer = marked
    producer = TxnProducer(bench).ready()
    producer.send(b"x", 1)
    move(bench, "events", 1, -1)
    assert producer.end(committed=True) == ErrorCode.NONE
    bench.scheduler.run_for(5_000.0)
    assert (bench.state("t"), peers.sent) == ("PrepareCommit", [])
    move(bench, "events", 1, 2)
    bench.reaches("t", "CompleteCommit")


def test_nothing_is_sent_to_a_fenced_broker(bench: TxnBench, peers: ScriptedPeers) -> None:
    peers.answer = marked
    set_fenced(bench, 2, FENCE)
    ended(bench, 1)
    bench.scheduler.run_for(5_000.0)
    assert (bench.state("t"), peers.sent) == ("PrepareCommit", [])
    set_fenced(bench, 2, UNFENCE)
    bench.reaches("t", "CompleteCommit")


def test_a_topic_that_is_deleted_needs_no_marker(bench: TxnBench, peers: ScriptedPeers) -> None:
    peers.answer = lambda sent: PeerUnavailable("gone")
    ended(bench, 1)
    bench.settle()
    bench.delete("events")
    bench.reaches("t", "CompleteCommit")


@pytest.mark.parametrize("code", [ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED])
def test_a_fenced_marker_is_not_sent_again(bench: TxnBench, peers: ScriptedPeers, code: ErrorCode) -> None:
    peers.answer = lambda sent: marked(sent, code)
    ended(bench, 1)
    bench.reaches("t", "CompleteCommit")
    assert len(peers.sent) == 1


def test_nothing_is_sent_for_a_coordinator_that_is_none_any_more(
    bench: TxnBench, peers: ScriptedPeers
) -> None:
    peers.answer = lambda sent: PeerUnavailable("gone")
    ended(bench, 1)
    bench.settle()
    move(bench, TRANSACTION_STATE_TOPIC, 0, 2)
    bench.settle()
    before = len(peers.sent)
    bench.scheduler.run_for(10_000.0)
    assert len(peers.sent) == before


def test_the_next_coordinator_goes_on_with_its_own_epoch(bench: TxnBench, peers: ScriptedPeers) -> None:
    ended(bench, 1)
    bench.settle()
    first = bench.txn_host.leader_epoch
    move(bench, TRANSACTION_STATE_TOPIC, 0, 2)
    peers.sent[0].reply(PeerUnavailable("gone"))
    peers.answer = marked
    move(bench, TRANSACTION_STATE_TOPIC, 0, 1)
    bench.txn_loaded()
    bench.reaches("t", "CompleteCommit")
    epochs = [each.request.markers[0].coordinator_epoch for each in peers.sent]
    assert epochs == [first, first + 2]


# --- the question to a coordinator elsewhere --------------------------------------------------------------


@pytest.fixture
def away(bench: TxnBench, peers: ScriptedPeers) -> TxnProducer:
    """A producer whose coordinator is broker 2."""
    producer = TxnProducer(bench).ready()
    move(bench, TRANSACTION_STATE_TOPIC, 0, 2)
    return producer


@pytest.mark.parametrize(("generation", "verify_only"), [(1, True), (2, False)])
def test_the_coordinator_on_another_broker_is_asked_once_for_a_transaction(
    bench: TxnBench, peers: ScriptedPeers, away: TxnProducer, generation: int, verify_only: bool
) -> None:
    away.generation = generation
    peers.answer = verdicts
    assert away.write(b"x") == ErrorCode.NONE
    assert away.write(b"y") == ErrorCode.NONE
    (sent,) = peers.sent
    assert (sent.address, sent.lane) == (Address("broker-2", 9092), "txn-verify")
    (asked,) = sent.request.transactions
    assert (asked.transactional_id, asked.producer_id, asked.producer_epoch) == (
        *("t", away.producer_id, away.epoch),
    )
    assert asked.verify_only is verify_only
    assert [(topic.name, list(topic.partitions)) for topic in asked.topics] == [("events", [0])]


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (PeerUnavailable("gone"), ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.NOT_COORDINATOR, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_ENOUGH_REPLICAS),
        (ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH),
        (ErrorCode.INVALID_PRODUCER_ID_MAPPING, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
        (ErrorCode.TRANSACTION_ABORTABLE, ErrorCode.TRANSACTION_ABORTABLE),
    ],
    ids=str,
)
def test_a_producer_is_told_what_it_understands(
    bench: TxnBench, peers: ScriptedPeers, away: TxnProducer, failure: Any, expected: ErrorCode
) -> None:
    peers.answer = lambda sent: verdicts(sent, failure) if isinstance(failure, ErrorCode) else failure
    assert away.write(b"x") == expected
    assert bench.log("events").log_end_offset == 0


def test_a_transaction_that_is_still_being_ended_is_asked_about_again(
    bench: TxnBench, peers: ScriptedPeers, away: TxnProducer
) -> None:
    peers.answer = lambda sent: verdicts(
        sent, ErrorCode.CONCURRENT_TRANSACTIONS if len(peers.sent) < 3 else ErrorCode.NONE
    )
    assert away.write(b"x") == ErrorCode.NONE
    assert len(peers.sent) == 3


def test_an_answer_that_says_nothing_about_a_partition_lets_nothing_in(
    bench: TxnBench, peers: ScriptedPeers, away: TxnProducer
) -> None:
    peers.answer = lambda sent: AddPartitionsToTxnResponse()
    assert away.write(b"x") == ErrorCode.UNKNOWN_SERVER_ERROR
    assert bench.log("events").log_end_offset == 0


def test_a_coordinator_without_a_leader_is_not_asked(
    bench: TxnBench, peers: ScriptedPeers, away: TxnProducer
) -> None:
    move(bench, TRANSACTION_STATE_TOPIC, 0, -1)
    assert away.write(b"x") == ErrorCode.NOT_ENOUGH_REPLICAS
    assert peers.sent == []


def test_offsets_of_a_transaction_ask_the_coordinator_elsewhere(
    bench: TxnBench, peers: ScriptedPeers, away: TxnProducer
) -> None:
    peers.answer = lambda sent: PeerUnavailable("gone")
    assert away.commit_offset("g", 5) == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    peers.answer = verdicts
    assert away.commit_offset("g", 5) == ErrorCode.NONE


def test_questions_of_many_producers_share_a_request(bench: TxnBench, peers: ScriptedPeers) -> None:
    producers = [TxnProducer(bench, f"t{number}").ready() for number in range(4)]
    move(bench, TRANSACTION_STATE_TOPIC, 0, 2)
    asked = [
        bench.node.transactions.verify(
            each.transactional_id,
            each.producer_id,
            each.epoch,
            [bench.node.partitions[("events", 0)].tp],
            add=True,
        )
        for each in producers
    ]
    found: list[Any] = []
    for steps in asked:
        assert not isinstance(steps, dict)
        bench.driver.run(steps, lambda verdict, error: found.append(verdict))
    bench.settle()
    (sent,) = peers.sent
    assert [each.transactional_id for each in sent.request.transactions] == ["t0", "t1", "t2", "t3"]
    sent.reply(verdicts(sent))
    bench.settle()
    assert [list(each.values()) for each in found] == [[ErrorCode.NONE]] * 4


def test_a_question_to_a_broker_that_coordinates_no_more_is_answered_at_once(
    bench: TxnBench, peers: ScriptedPeers, away: TxnProducer
) -> None:
    """The first one is under way, and the second would wait for its answer."""
    tp = bench.node.partitions[("events", 0)].tp
    found: list[Any] = []
    for _ in range(2):
        steps = bench.node.transactions.verify("t", away.producer_id, away.epoch, [tp], add=False)
        assert not isinstance(steps, dict)
        bench.driver.run(steps, lambda verdict, error: found.append(verdict[tp]))
    bench.settle()
    move(bench, TRANSACTION_STATE_TOPIC, 0, 3)
    peers.sent[0].reply(verdicts(peers.sent[0]))
    bench.settle()
    assert (sorted(found), len(peers.sent)) == ([ErrorCode.NONE, ErrorCode.NOT_COORDINATOR], 1)


def test_brokers_ask_about_many_transactions_at_once(bench: TxnBench, peers: ScriptedPeers) -> None:
    """AddPartitionsToTxn from version 4 on, on whichever listener it comes."""
    producers = [TxnProducer(bench, f"t{number}").ready() for number in range(3)]
    move(bench, TRANSACTION_STATE_TOPIC, 0, 2)
    for each in producers:
        steps = bench.node.transactions.verify(
            each.transactional_id,
            each.producer_id,
            each.epoch,
            [bench.node.partitions[("events", 0)].tp],
            add=True,
        )
        assert not isinstance(steps, dict)
        bench.driver.run(steps, lambda verdict, error: None)
    bench.settle()
    move(bench, TRANSACTION_STATE_TOPIC, 0, 1)
    bench.txn_loaded()
    request: AddPartitionsToTxnRequest = peers.sent[0].request
    answer = bench.call(request, 5, peer=bench.connect("OTHER"))
    codes = [
        result.partition_error_code
        for each in answer.results_by_transaction
        for topic in each.topic_results
        for result in topic.results_by_partition
    ]
    assert codes == [ErrorCode.NONE] * 3
    assert {bench.state(each.transactional_id) for each in producers} == {"Ongoing"}
