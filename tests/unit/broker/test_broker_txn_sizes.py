"""Transactions whose records are large: what is written together has to fit into one batch of the log."""

from __future__ import annotations

import random
import string
from collections import Counter

from txn_bench import TxnBench, TxnProducer

from ottla.model.errors import ErrorCode
from ottla.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

LONG = "t" * 30_000
"""A transactional id may have 32,767 bytes; a batch of `__transaction_state` has at most about a million."""


def test_time_outs_of_more_transactions_than_fit_into_one_batch_are_all_carried_out() -> None:
    """Kafka writes a record at a time; a hundred of such ids are three megabytes."""
    bench = TxnBench()
    for number in range(50):
        TxnProducer(bench, f"{LONG}{number}").ready(timeout_ms=5_000).send(b"x", number % 4)
    bench.scheduler.run_for(30_000)
    states = Counter(each.state.label for each in bench.txn_host.shard.registry)
    assert states == {"CompleteAbort": 50}


def test_more_ids_than_fit_into_one_batch_are_forgotten_in_several() -> None:
    bench = TxnBench(
        {
            "transactional.id.expiration.ms": "60000",
            "transaction.remove.expired.transaction.cleanup.interval.ms": "10000",
        }
    )
    for number in range(50):
        TxnProducer(bench, f"{LONG}{number}").ready()
    bench.scheduler.run_for(120_000)
    assert len(bench.txn_host.shard.registry) == 0


def test_a_large_commit_in_a_transaction_is_written_in_the_codec_of_the_offsets_topic() -> None:
    """`offsets.topic.compression.codec`: what expands to more than a batch of a client may on the loop."""
    bench = TxnBench({"offsets.topic.compression.codec": "1"})
    bench.create("wide", partitions=200)
    chance = random.Random(1)
    producer = TxnProducer(bench).ready()
    answer = bench.call(
        TxnOffsetCommitRequest(
            transactional_id="t",
            group_id="g",
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch,
            topics=[
                TxnOffsetCommitRequestTopic(
                    name="wide",
                    partitions=[
                        TxnOffsetCommitRequestPartition(
                            partition_index=index,
                            committed_offset=1,
                            committed_metadata="".join(chance.choices(string.ascii_letters, k=4_000)),
                        )
                        for index in range(200)
                    ],
                )
            ],
        ),
        5,
        peer=producer.peer,
    )
    assert Counter(each.error_code for each in answer.topics[0].partitions) == {ErrorCode.NONE: 200}
    producer.commit()
    assert bench.node.groups.faults == []
