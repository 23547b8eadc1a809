"""Producers that commit offsets which are not theirs to commit: Kafka's error codes, nothing is kept, nobody
else notices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from ottla.model.errors import ErrorCode
from ottla.wire.messages.end_txn import EndTxnRequest
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.init_producer_id import InitProducerIdRequest
from ottla.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from ottla.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from support.broker_process import BrokerProcess
from support.raw_client import RawClient, frame_of
from support.undisturbed import Undisturbed
from support.waiting import wait_until

TOPIC = "events"
PARTITIONS = 50
SETTINGS = {
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "offset.metadata.max.bytes": "100",
}


@pytest.fixture(scope="module")
def shared_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    broker = BrokerProcess(tmp_path_factory.mktemp("broker") / "data", settings=SETTINGS).start()
    with RawClient(broker.port) as client:
        client.create_topic(TOPIC, partitions=PARTITIONS)
        for kind in (0, 1):
            client.call(FindCoordinatorRequest(key="g", key_type=kind), 3)
    yield broker
    assert broker.running, f"the broker died during the tests:\n{broker.log_since(0)[-4000:]}"
    code = broker.stop()
    log = broker.log_since(0)
    assert code == 0, f"the broker stopped with {code}:\n{log[-4000:]}"
    assert "Traceback" not in log, f"an internal error of the broker:\n{log[-8000:]}"


class Producer:
    """One that behaves, of the second generation (KIP-890)."""

    def __init__(self, client: RawClient, transactional_id: str) -> None:
        self.client = client
        self.transactional_id = transactional_id
        self.producer_id = self.epoch = -1
        wait_until(self._begin, "a producer id")

    def _begin(self) -> bool:
        request = InitProducerIdRequest(transactional_id=self.transactional_id, transaction_timeout_ms=60_000)
        answer = self.client.call(request, 5)
        self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
        return bool(answer.error_code == ErrorCode.NONE)

    def request(
        self,
        group: str,
        partitions: Iterable[int] = (0,),
        *,
        offset: int = 7,
        metadata: str = "",
        **other: Any,
    ) -> TxnOffsetCommitRequest:
        fields: dict[str, Any] = {
            "transactional_id": self.transactional_id,
            "producer_id": self.producer_id,
            "producer_epoch": self.epoch,
            **other,
        }
        entries = [
            TxnOffsetCommitRequestPartition(
                partition_index=each, committed_offset=offset, committed_metadata=metadata
            )
            for each in partitions
        ]
        topics = [TxnOffsetCommitRequestTopic(name=TOPIC, partitions=entries)]
        return TxnOffsetCommitRequest(group_id=group, topics=topics, **fields)

    def commit(self) -> None:
        request = EndTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            committed=True,
        )
        answer = self.client.call(request, 5)
        assert answer.error_code == ErrorCode.NONE, answer
        self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch


def codes(response: Any) -> list[ErrorCode]:
    return [ErrorCode(each.error_code) for topic in response.topics for each in topic.partitions]


def stable(client: RawClient, group: str, partition: int = 0) -> tuple[int, ErrorCode]:
    topics = [OffsetFetchRequestTopics(name=TOPIC, partition_indexes=[partition])]
    request = OffsetFetchRequest(
        require_stable=True, groups=[OffsetFetchRequestGroup(group_id=group, topics=topics)]
    )
    found = client.call(request, 8).groups[0].topics[0].partitions[0]
    return found.committed_offset, ErrorCode(found.error_code)


def settled(client: RawClient, group: str, offset: int) -> None:
    wait_until(lambda: stable(client, group) == (offset, ErrorCode.NONE), f"offset {offset} of {group}")


def test_offsets_of_other_producers_transactions_are_safe(
    undisturbed: Undisturbed, raw: RawClient, topic_name: str
) -> None:
    """Wrong epochs, ids that nobody has, somebody else's transactional id: all refused, none of it kept."""
    group = topic_name
    producer = Producer(raw, topic_name)
    other = Producer(raw, f"{topic_name}-other")
    with undisturbed(lines=0):
        assert codes(raw.call(producer.request(group), 5)) == [ErrorCode.NONE]
        for fields, expected in (
            ({"producer_epoch": producer.epoch - 1}, ErrorCode.INVALID_PRODUCER_EPOCH),
            ({"producer_epoch": -5}, ErrorCode.INVALID_PRODUCER_EPOCH),
            ({"producer_id": -1}, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
            ({"producer_id": 2**62}, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
            ({"transactional_id": "nobody"}, ErrorCode.NONE),  # its transaction is open here already
            ({"producer_id": other.producer_id}, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
            ({"generation_id": 3, "member_id": "m"}, ErrorCode.UNKNOWN_MEMBER_ID),
            ({"metadata": "x" * 101}, ErrorCode.OFFSET_METADATA_TOO_LARGE),
            ({"transactional_id": ""}, ErrorCode.INVALID_REQUEST),
        ):
            request = producer.request(group, [1], **fields)
            assert codes(raw.call(request, 5)) == [expected], fields
        assert codes(raw.call(producer.request("", [1]), 5)) == [ErrorCode.INVALID_GROUP_ID]
        producer.commit()
        settled(raw, group, 7)


def test_a_copy_that_comes_after_its_transaction_moves_no_offset_back(
    shared_broker: BrokerProcess, undisturbed: Undisturbed, raw: RawClient, topic_name: str
) -> None:
    """KIP-890: a request may still be on its way over a connection that its producer has given up. Each
    transaction of the second generation has its own epoch, so the copy belongs to none that is open. (A
    producer of the first generation has the same epoch in all of them, and Kafka takes its copy.)
    """
    producer = Producer(raw, topic_name)
    late = producer.request(topic_name, offset=7)
    with undisturbed(lines=0), RawClient(shared_broker.port) as old:
        refused = [ErrorCode.INVALID_PRODUCER_EPOCH]
        assert codes(raw.call(late, 5)) == [ErrorCode.NONE]
        producer.commit()
        settled(raw, topic_name, 7)
        # Between transactions, within one before it has offsets, and after.
        assert codes(old.call(late, 5)) == refused
        assert codes(raw.call(producer.request(topic_name, [1], offset=8), 5)) == [ErrorCode.NONE]
        assert codes(old.call(late, 5)) == refused
        assert codes(raw.call(producer.request(topic_name, offset=9), 5)) == [ErrorCode.NONE]
        assert codes(old.call(late, 5)) == refused
        producer.commit()
        settled(raw, topic_name, 9)
        assert codes(old.call(late, 5)) == refused
        assert stable(raw, topic_name) == (9, ErrorCode.NONE)


def test_thousands_of_invented_producers_leave_no_trace(
    undisturbed: Undisturbed, raw: RawClient, topic_name: str
) -> None:
    producer = Producer(raw, topic_name)
    with undisturbed(lines=0):
        count = 3_000
        for number in range(count):
            request = producer.request(topic_name, producer_id=10_000_000 + number)
            raw.send(request, 5 if number % 2 else 4)
        for number in range(count):
            _, answer = raw.receive(request, 5 if number % 2 else 4)
            assert codes(answer) == [ErrorCode.INVALID_PRODUCER_ID_MAPPING]
        assert stable(raw, topic_name) == (-1, ErrorCode.NONE)


def test_a_commit_that_names_tens_of_thousands_of_partitions(
    undisturbed: Undisturbed, raw: RawClient, topic_name: str
) -> None:
    """The same ones again and again, and as many that do not exist."""
    producer = Producer(raw, topic_name)
    with undisturbed(lines=None, peak_mb=128):
        request = producer.request(topic_name, [each % (2 * PARTITIONS) for each in range(20_000)])
        found = codes(raw.call(request, 5))
        assert found.count(ErrorCode.NONE) == 10_000
        assert found.count(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION) == 10_000
        producer.commit()
        settled(raw, topic_name, 7)


def test_a_frame_that_ends_in_the_middle_closes_the_connection(
    shared_broker: BrokerProcess, undisturbed: Undisturbed, raw: RawClient, topic_name: str
) -> None:
    producer = Producer(raw, topic_name)
    for version in range(6):
        whole = frame_of(producer.request(topic_name), version)
        with undisturbed(lines=1), RawClient(shared_broker.port) as rude:
            rude.send_frame(whole[4:-9])
            assert rude.is_closed_by_broker()
    assert stable(raw, topic_name) == (-1, ErrorCode.NONE)
