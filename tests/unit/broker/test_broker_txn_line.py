"""Many requests about transactions, and many transactions that end at once, stand in line (`side_lane.py`):
the loop is free for others in between, and the order of a connection holds.
"""

from __future__ import annotations

from collections import Counter

import pytest
from txn_bench import TxnBench, TxnProducer

from ottla.broker.side_lane import PER_PASS_MIN
from ottla.broker.transaction_coordinator import ENDINGS_PER_PASS
from ottla.coordination.outcome import Outcome
from ottla.log.turn import Turn
from ottla.model.errors import ErrorCode
from ottla.transactions.shard import TransactionShard
from ottla.wire.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from ottla.wire.messages.init_producer_id import InitProducerIdRequest
from ottla.wire.messages.metadata import MetadataRequest
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.wire.record_batch import Record, encode_batch


@pytest.fixture
def bench() -> TxnBench:
    return TxnBench()


def states(bench: TxnBench) -> Counter[str]:
    return Counter(each.state.label for each in bench.txn_host.shard.registry)


def test_transactions_that_are_decided_at_once_are_ended_a_few_per_pass(bench: TxnBench) -> None:
    count = 50
    for number in range(count):
        TxnProducer(bench, f"t{number}").ready().send(b"x", number % 4)

    def fence_all(shard: TransactionShard) -> Outcome:
        outcome = Outcome()
        for transaction in list(shard.registry):
            shard.endings.fence(outcome, transaction)
        return outcome

    bench.txn_host.decide_alone(fence_all)
    assert states(bench) == {
        "CompleteAbort": ENDINGS_PER_PASS,
        "PrepareAbort": count - ENDINGS_PER_PASS,
    }
    bench.settle()
    assert states(bench) == {"CompleteAbort": count}
    assert [bench.committed(partition) for partition in range(4)] == [[]] * 4


def test_a_flood_of_producers_does_not_keep_another_connection_waiting(bench: TxnBench) -> None:
    TxnProducer(bench).ready()  # there are producer ids at hand
    flood = bench.connect()
    ids = [
        flood.send(InitProducerIdRequest(transactional_id=f"t{number}", transaction_timeout_ms=1_000), 4)
        for number in range(200)
    ]
    assert len(flood.answered) <= PER_PASS_MIN
    other = bench.connect()
    other.send(MetadataRequest(topics=[]))
    assert other.replies, "the request of another kind is served in the same pass"
    bench.settle()
    assert flood.answered == ids


def test_a_batch_does_not_overtake_the_request_that_adds_its_partition(bench: TxnBench) -> None:
    """Kafka serves the requests of a connection one after the other."""
    producer = TxnProducer(bench, generation=1).ready()
    crowd = [bench.connect() for _ in range(100)]
    for number, each in enumerate(crowd):
        each.send(InitProducerIdRequest(transactional_id=f"t{number}", transaction_timeout_ms=1_000), 4)
    add = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=producer.transactional_id,
        v3_and_below_producer_id=producer.producer_id,
        v3_and_below_producer_epoch=producer.epoch,
        v3_and_below_topics=[AddPartitionsToTxnTopic(name="events", partitions=[0])],
    )
    records = encode_batch(
        [Record(0, bench.clock.now_ms(), b"key", b"value")],
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        base_sequence=0,
        transactional=True,
    )
    batch = ProduceRequest(
        transactional_id=producer.transactional_id,
        acks=-1,
        timeout_ms=30_000,
        topic_data=[
            TopicProduceData(
                name="events", partition_data=[PartitionProduceData(index=0, records=memoryview(records))]
            )
        ],
    )
    peer = bench.connect()
    peer.send(add, 3)
    at = peer.send(batch, 11)
    assert not peer.replies, "it stands in line"
    bench.settle()
    answer = bench.reply(batch, at, 11, peer)
    assert answer.responses[0].partition_responses[0].error_code == ErrorCode.NONE


def test_a_coordinator_that_was_given_up_writes_no_more_markers(
    bench: TxnBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next one writes them all. With the epoch that a producer of the first generation keeps, a late
    marker of the former one would end the transaction that came after.
    """
    producer = TxnProducer(bench, generation=1).ready()
    for partition in range(4):
        producer.send(b"x", partition)
    monkeypatch.setattr(Turn, "over", lambda self: True)
    assert producer.end(committed=True) == ErrorCode.NONE
    bench.txn_host.give_up(None)
    bench.txn_loaded()
    bench.reaches("t", "CompleteCommit")
    bench.settle()
    for partition in range(4):
        headers = [header for _, header in bench.log("events", partition).active_segment.headers()]
        assert sum(header.is_control for header in headers) == 1
