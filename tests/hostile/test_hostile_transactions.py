"""Producers and coordinators that do not keep to the rules of transactions: Kafka's error codes, nothing of
it in the log, no transaction left open by it, and whoever has nothing to do with it notices nothing.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from ottla.model.errors import ErrorCode
from ottla.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest
from ottla.wire.messages.describe_transactions import DescribeTransactionsRequest
from ottla.wire.messages.end_txn import EndTxnRequest
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.init_producer_id import InitProducerIdRequest
from ottla.wire.messages.list_transactions import ListTransactionsRequest
from ottla.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from ottla.wire.record_batch import EndTxnMarker, encode_end_txn_batch
from support.broker_process import BrokerFactory, BrokerProcess
from support.raw_client import ConnectionEnded, RawClient, batch_of, produce_request
from support.undisturbed import Undisturbed
from support.waiting import wait_until

BUSY = (
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.CONCURRENT_TRANSACTIONS,
)


class Producer:
    """A transactional producer that says exactly what it is told to say."""

    def __init__(self, client: RawClient, transactional_id: str) -> None:
        self.client = client
        self.transactional_id = transactional_id
        client.call(FindCoordinatorRequest(key=transactional_id, key_type=1), 3)
        self.producer_id, self.epoch = self._begin()

    def _begin(self) -> tuple[int, int]:
        request = InitProducerIdRequest(
            transactional_id=self.transactional_id, transaction_timeout_ms=60_000, producer_id=-1
        )

        def begun() -> Any:
            response = self.client.call(request, 4)
            assert response.error_code in (ErrorCode.NONE, *BUSY), ErrorCode(response.error_code)
            return response if response.error_code == ErrorCode.NONE else None

        response = wait_until(begun, "the coordinator to be there")
        return response.producer_id, response.producer_epoch

    def add(self, topic: str) -> None:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=self.producer_id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=topic, partitions=[0])],
        )

        def added() -> bool:
            response = self.client.call(request, 3)
            code = response.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code
            assert code in (ErrorCode.NONE, *BUSY), ErrorCode(code)
            return bool(code == ErrorCode.NONE)

        wait_until(added, "the partition to be part of the transaction")

    def write(self, topic: str, sequence: int, *, version: int = 11, **changes: Any) -> ErrorCode:
        fields = {"producer_id": self.producer_id, "producer_epoch": self.epoch, **changes}
        transactional_id = fields.pop("transactional_id", self.transactional_id)
        transactional = fields.pop("transactional", True)
        data = batch_of(b"value", base_sequence=sequence, transactional=transactional, **fields)
        return self.send(topic, data, version=version, transactional_id=transactional_id)

    def send(
        self, topic: str, data: bytearray, *, version: int = 11, transactional_id: str | None
    ) -> ErrorCode:
        request = produce_request(topic, data)
        request.transactional_id = transactional_id
        return ErrorCode(self.client.call(request, version).responses[0].partition_responses[0].error_code)

    def end(self, *, committed: bool = True, version: int = 3) -> None:
        request = EndTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            committed=committed,
        )

        def ended() -> Any:
            response = self.client.call(request, version)
            assert response.error_code in (ErrorCode.NONE, *BUSY), ErrorCode(response.error_code)
            return response if response.error_code == ErrorCode.NONE else None

        response = wait_until(ended, "the transaction to end")
        if version >= 5:
            self.producer_id, self.epoch = response.producer_id, response.producer_epoch

    def mark(self, topic: str, epoch: int, coordinator_epoch: int, version: int = 0) -> ErrorCode:
        marker = WritableTxnMarker(
            producer_id=self.producer_id,
            producer_epoch=epoch,
            transaction_result=True,
            coordinator_epoch=coordinator_epoch,
            transaction_version=version,
            topics=[WritableTxnMarkerTopic(name=topic, partition_indexes=[0])],
        )
        response = self.client.call(WriteTxnMarkersRequest(markers=[marker]), 2 if version else 1)
        return ErrorCode(response.markers[0].topics[0].partitions[0].error_code)


def stable_end(client: RawClient, topic: str) -> tuple[int, int]:
    """Last stable offset and high watermark."""
    part = client.fetch(topic)
    return part.last_stable_offset, part.high_watermark


@pytest.fixture
def client(shared_broker: BrokerProcess) -> Any:
    with RawClient(shared_broker.port) as client:
        yield client


def test_batches_outside_of_their_transaction_are_refused_and_hold_nobody_up(
    client: RawClient, undisturbed: Undisturbed, topic_name: str
) -> None:
    client.create_topic(topic_name)
    producer = Producer(client, f"of-{topic_name}")
    other = Producer(client, f"other-{topic_name}")
    with undisturbed():
        assert producer.write(topic_name, 0, version=10) == ErrorCode.INVALID_TXN_STATE, "not added"
        assert producer.write(topic_name, 0, version=11) == ErrorCode.TRANSACTION_ABORTABLE
        producer.add(topic_name)
        mapping = ErrorCode.INVALID_PRODUCER_ID_MAPPING
        strangers_id = other.transactional_id
        assert producer.write(topic_name, 0, transactional_id=strangers_id) == mapping
        assert producer.write(topic_name, 0, transactional_id="nobody's") == mapping
        assert producer.write(topic_name, 0, producer_id=other.producer_id) == mapping
        assert producer.write(topic_name, 0, producer_id=987_654_321) == mapping
        refused = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        assert producer.write(topic_name, 0, transactional_id=None) == refused
        for epoch in (producer.epoch + 1, -1):
            assert producer.write(topic_name, 0, producer_epoch=epoch) == ErrorCode.INVALID_PRODUCER_EPOCH
        assert producer.write(topic_name, 0, producer_id=-1) == ErrorCode.INVALID_TXN_STATE
        assert producer.write(topic_name, -1) == ErrorCode.INVALID_RECORD
    assert stable_end(client, topic_name) == (0, 0)
    assert producer.write(topic_name, 0) == ErrorCode.NONE
    producer.end()
    wait_until(lambda: stable_end(client, topic_name) == (2, 2), "the marker")
    wait_until(
        # Until the coordinator has noted the end as well, it asks for patience (NOT_ENOUGH_REPLICAS).
        lambda: producer.write(topic_name, 1, version=10) == ErrorCode.INVALID_TXN_STATE,
        "the transaction to have ended",
    )
    assert stable_end(client, topic_name) == (2, 2)


def test_gaps_and_foreign_batches_within_a_transaction_are_refused(
    client: RawClient, topic_name: str
) -> None:
    client.create_topic(topic_name)
    producer = Producer(client, f"of-{topic_name}")
    producer.add(topic_name)
    assert producer.write(topic_name, 0) == ErrorCode.NONE
    for sequence in (2, 7, 2**31 - 1):
        assert producer.write(topic_name, sequence) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert producer.write(topic_name, 0) == ErrorCode.NONE, "a duplicate"
    assert producer.write(topic_name, 1, transactional=False) == ErrorCode.INVALID_TXN_STATE
    marker = encode_end_txn_batch(
        EndTxnMarker(True, 100), producer_id=producer.producer_id, producer_epoch=producer.epoch, timestamp=1
    )
    code = producer.send(topic_name, marker, transactional_id=producer.transactional_id)
    assert code == ErrorCode.INVALID_RECORD, "clients write no markers"
    assert stable_end(client, topic_name) == (0, 1)
    producer.end(committed=False)
    wait_until(lambda: stable_end(client, topic_name) == (2, 2), "the marker")


def test_a_fenced_producer_can_write_no_more(client: RawClient, topic_name: str) -> None:
    client.create_topic(topic_name)
    zombie = Producer(client, f"of-{topic_name}")
    zombie.add(topic_name)
    assert zombie.write(topic_name, 0) == ErrorCode.NONE
    successor = Producer(client, f"of-{topic_name}")
    assert (successor.producer_id, successor.epoch > zombie.epoch) == (zombie.producer_id, True)
    wait_until(lambda: stable_end(client, topic_name) == (2, 2), "the zombie's transaction to be aborted")
    for version in (3, 11, 12):
        assert zombie.write(topic_name, 1, version=version) == ErrorCode.INVALID_PRODUCER_EPOCH
    successor.add(topic_name)
    assert successor.write(topic_name, 0) == ErrorCode.NONE
    assert zombie.write(topic_name, 1) == ErrorCode.INVALID_PRODUCER_EPOCH
    successor.end()
    wait_until(lambda: stable_end(client, topic_name) == (4, 4), "the successor's marker")


def test_transactions_of_the_second_generation_have_an_epoch_each_and_begin_with_sequence_0(
    client: RawClient, topic_name: str
) -> None:
    """KIP-890: from Produce 12 and EndTxn 5 on."""
    client.create_topic(topic_name)
    producer = Producer(client, f"of-{topic_name}")
    assert producer.write(topic_name, 3, version=12) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert stable_end(client, topic_name) == (0, 0)
    assert producer.write(topic_name, 0, version=12) == ErrorCode.NONE, "the broker adds the partition"
    assert producer.write(topic_name, 1, version=12) == ErrorCode.NONE
    before = producer.epoch
    producer.end(version=5)
    assert producer.epoch == before + 1
    wait_until(lambda: stable_end(client, topic_name) == (3, 3), "the marker")
    code = producer.write(topic_name, 2, version=12, producer_epoch=before)
    assert code == ErrorCode.INVALID_PRODUCER_EPOCH
    assert producer.write(topic_name, 2, version=12) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert producer.write(topic_name, 0, version=12) == ErrorCode.NONE
    late = producer.mark(topic_name, producer.epoch, 50, version=2)
    assert late == ErrorCode.INVALID_PRODUCER_EPOCH, "the last transaction's marker does not end this one"
    assert stable_end(client, topic_name) == (3, 4)
    producer.end(committed=False, version=5)
    wait_until(lambda: stable_end(client, topic_name) == (5, 5), "the marker")


def test_markers_of_stale_producers_and_coordinators_end_nothing(client: RawClient, topic_name: str) -> None:
    client.create_topic(topic_name)
    producer = Producer(client, f"of-{topic_name}")
    producer.add(topic_name)
    assert producer.write(topic_name, 0) == ErrorCode.NONE
    epoch = producer.epoch
    if epoch:
        assert producer.mark(topic_name, epoch - 1, 50) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert producer.mark(topic_name, -1, 50) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert producer.mark(topic_name, epoch, 50, version=2) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert stable_end(client, topic_name) == (0, 1), "it is open as before"
    assert producer.mark(topic_name, epoch, 50) == ErrorCode.NONE, "an administrator may"
    assert stable_end(client, topic_name) == (2, 2)
    assert producer.mark(topic_name, epoch, 49) == ErrorCode.TRANSACTION_COORDINATOR_FENCED
    assert producer.mark(topic_name, epoch + 1, 49, version=2) == ErrorCode.TRANSACTION_COORDINATOR_FENCED
    assert stable_end(client, topic_name) == (2, 2)


def test_invented_producers_leave_no_memory_behind(
    client: RawClient, undisturbed: Undisturbed, topic_name: str
) -> None:
    client.create_topic(topic_name)
    producer = Producer(client, f"of-{topic_name}")
    with undisturbed(grown_mb=8):
        for number in range(2_000):
            code = producer.write(topic_name, 5, producer_id=10**12 + number, version=11 + number % 2)
            assert code == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert stable_end(client, topic_name) == (0, 0)


def test_a_question_for_one_partition_many_times_over_is_answered_once(
    client: RawClient, undisturbed: Undisturbed, topic_name: str
) -> None:
    """Four bytes of a request must not become a list of producers each."""
    client.create_topic(topic_name)
    for producer_id in range(200):
        assert (
            client.produce(
                topic_name, batch_of(b"v", producer_id=producer_id, producer_epoch=0, base_sequence=0)
            ).error_code
            == ErrorCode.NONE
        )
    request = DescribeProducersRequest(
        topics=[TopicRequest(name=topic_name, partition_indexes=[0] * 100_000)]
    )
    with undisturbed(grown_mb=64, peak_mb=128):
        first, *others = client.call(request, 0).topics[0].partitions
    assert len(first.active_producers) == 200
    assert {each.error_code for each in others} == {ErrorCode.INVALID_REQUEST}


# --- much of everything


def test_a_request_cannot_name_more_partitions_than_there_are(
    shared_broker: BrokerProcess, client: RawClient, undisturbed: Undisturbed, topic_name: str
) -> None:
    """Four bytes each, and every one of them would be looked up and answered for: 900,000 held the loop up
    for seconds.
    """
    client.create_topic(topic_name)
    producer = Producer(client, f"of-{topic_name}")
    topics = [AddPartitionsToTxnTopic(name=topic_name, partitions=[0] * 900_000)]
    single = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=producer.transactional_id,
        v3_and_below_producer_id=producer.producer_id,
        v3_and_below_producer_epoch=producer.epoch,
        v3_and_below_topics=topics,
    )
    asked = AddPartitionsToTxnTransaction(
        transactional_id=producer.transactional_id,
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        verify_only=True,
        topics=topics,
    )
    with undisturbed(grown_mb=64, peak_mb=128, lines=4):
        for request, version in ((single, 3), (AddPartitionsToTxnRequest(transactions=[asked]), 5)):
            with RawClient(shared_broker.port) as hostile, pytest.raises(ConnectionEnded):
                hostile.call(request, version)
    assert state_of(client, producer.transactional_id) == "Empty"


def test_partitions_that_do_not_exist_refuse_their_request_and_duplicates_are_answered_once(
    client: RawClient, topic_name: str
) -> None:
    """As Kafka: also for questions that only verify, and whatever else is wrong with the request."""
    client.create_topic(topic_name, 2)
    producer = Producer(client, f"of-{topic_name}")
    for verify_only in (True, False):
        for transactional_id in (producer.transactional_id, ""):
            request = AddPartitionsToTxnRequest(
                transactions=[
                    AddPartitionsToTxnTransaction(
                        transactional_id=transactional_id,
                        producer_id=producer.producer_id,
                        producer_epoch=producer.epoch,
                        verify_only=verify_only,
                        topics=[AddPartitionsToTxnTopic(name=topic_name, partitions=[0, 7, 0, 7, 1])],
                    )
                ]
            )
            (answered,) = client.call(request, 5).results_by_transaction[0].topic_results
            codes = {
                each.partition_index: each.partition_error_code for each in answered.results_by_partition
            }
            assert len(answered.results_by_partition) == 3
            assert codes == {
                0: ErrorCode.OPERATION_NOT_ATTEMPTED,
                1: ErrorCode.OPERATION_NOT_ATTEMPTED,
                7: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            }
    assert state_of(client, producer.transactional_id) == "Empty"


def test_a_flood_of_transactional_ids_is_served_beside_everybody_else(
    client: RawClient, undisturbed: Undisturbed, topic_name: str
) -> None:
    """Pipelined as deep as a connection may. The ids themselves stay, as in Kafka, until they expire."""
    Producer(client, f"first-{topic_name}")
    ids = [f"{number}-{topic_name}" for number in range(4_000)]
    ids += [f"{number}-{topic_name}".ljust(32_000, "x") for number in range(50)]
    requests = [InitProducerIdRequest(transactional_id=each, transaction_timeout_ms=60_000) for each in ids]
    answers = []
    with undisturbed(grown_mb=32, peak_mb=64):
        for at in range(0, len(requests), 250):
            some = requests[at : at + 250]
            for request in some:
                client.send(request, 4)
            answers += [client.receive(request, 4)[1] for request in some]
    assert {answer.error_code for answer in answers} == {ErrorCode.NONE}
    assert len({answer.producer_id for answer in answers}) == len(ids), "no two have the same"
    listed = client.call(ListTransactionsRequest(), 0)
    assert set(ids) <= {state.transactional_id for state in listed.transaction_states}


def test_one_transaction_described_many_times_over_is_described_once(
    client: RawClient, undisturbed: Undisturbed, topic_name: str
) -> None:
    """A few bytes must not become a list of partitions each."""
    client.create_topic(topic_name, 100)
    producer = Producer(client, topic_name[:6])
    client.call(
        AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=producer.transactional_id,
            v3_and_below_producer_id=producer.producer_id,
            v3_and_below_producer_epoch=producer.epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=topic_name, partitions=list(range(100)))],
        ),
        3,
    )
    request = DescribeTransactionsRequest(transactional_ids=[producer.transactional_id] * 20_000)
    with undisturbed(grown_mb=32, peak_mb=64):
        first, *others = client.call(request, 0).transaction_states
    assert sorted(first.topics[0].partitions) == list(range(100))
    assert {each.error_code for each in others} == {ErrorCode.INVALID_REQUEST}
    producer.end(committed=False)


def test_markers_of_nobody_are_refused(client: RawClient, topic_name: str) -> None:
    """Kafka fails on them; in a log they would stay for ever."""
    client.create_topic(topic_name)
    producer = Producer(client, f"of-{topic_name}")
    for producer_id in (-1, -5, -(2**63)):
        producer.producer_id = producer_id
        assert producer.mark(topic_name, 0, 0) == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    producer.producer_id = 987_654
    for epoch in (-1, -32_768):
        assert producer.mark(topic_name, epoch, 0) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert stable_end(client, topic_name) == (0, 0)


def test_markers_for_unknown_producers_end_nothing_and_cost_little(
    client: RawClient, undisturbed: Undisturbed, topic_name: str
) -> None:
    """As in Kafka they are written, and each leaves an epoch behind until `producer.id.expiration.ms`."""
    client.create_topic(topic_name)
    producer = Producer(client, f"of-{topic_name}")
    assert producer.write(topic_name, 0, version=12) == ErrorCode.NONE
    markers = [
        WritableTxnMarker(
            producer_id=10**12 + number,
            producer_epoch=0,
            transaction_result=True,
            coordinator_epoch=0,
            topics=[WritableTxnMarkerTopic(name=topic_name, partition_indexes=[0])],
        )
        for number in range(2_000)
    ]
    with undisturbed(grown_mb=8):
        response = client.call(WriteTxnMarkersRequest(markers=markers), 1)
    assert {each.topics[0].partitions[0].error_code for each in response.markers} == {ErrorCode.NONE}
    assert stable_end(client, topic_name) == (0, 2_001), "the open transaction is as open as before"
    producer.end(version=5)
    wait_until(lambda: stable_end(client, topic_name) == (2_002, 2_002), "the producer's own marker")


def test_a_pipeline_of_batches_and_ends_is_carried_out_in_its_order(
    shared_broker: BrokerProcess, client: RawClient, topic_name: str
) -> None:
    """Nothing overtakes: not the first batches whose partition is being added, not the end, not the next
    transaction's batches, which wait until the end is complete. Sent again over another connection, they are
    known.
    """
    client.create_topic(topic_name)
    producer = Producer(client, f"of-{topic_name}")

    def batch(sequence: int, epoch: int) -> Any:
        data = batch_of(
            b"v",
            producer_id=producer.producer_id,
            producer_epoch=epoch,
            base_sequence=sequence,
            transactional=True,
        )
        request = produce_request(topic_name, data)
        request.transactional_id = producer.transactional_id
        return request

    end = EndTxnRequest(
        transactional_id=producer.transactional_id,
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        committed=True,
    )
    first = [(batch(sequence, producer.epoch), 12) for sequence in range(40)]
    second = [(batch(sequence, producer.epoch + 1), 12) for sequence in range(5)]
    with RawClient(shared_broker.port) as pipeline:
        sent = [*first, (end, 5), *second]
        for request, version in sent:
            pipeline.send(request, version)
        answers = [pipeline.receive(request, version)[1] for request, version in sent]
    codes = {code_of(answer) for answer in answers}
    assert codes == {ErrorCode.NONE}
    assert stable_end(client, topic_name) == (41, 46)
    for request, version in second:
        assert code_of(client.call(request, version)) == ErrorCode.NONE, "a duplicate"
    assert stable_end(client, topic_name) == (41, 46)
    producer.epoch += 1
    producer.end(version=5)
    wait_until(lambda: stable_end(client, topic_name) == (47, 47), "the second transaction's marker")


def test_without_the_coordinators_topic_nothing_is_decided_and_an_administrator_ends_what_is_open(
    start_broker: BrokerFactory, topic_name: str
) -> None:
    """Somebody deletes `__transaction_state` while a transaction is open: nobody will end it any more, but
    `kafka-transactions.sh --abort` can, and new producers begin anew.
    """
    broker = start_broker()
    with RawClient(broker.port) as client:
        client.create_topic(topic_name)
        producer = Producer(client, "orphan")
        assert producer.write(topic_name, 0, version=12) == ErrorCode.NONE
        deletion = DeleteTopicsRequest(
            topics=[DeleteTopicState(name="__transaction_state")], timeout_ms=5_000
        )
        assert client.call(deletion, 6).responses[0].error_code == ErrorCode.NONE
        end = EndTxnRequest(
            transactional_id="orphan",
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch,
            committed=True,
        )
        assert client.call(end, 5).error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        successor = Producer(client, "orphan")
        assert client.call(end, 5).error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING
        assert successor.producer_id != producer.producer_id
        assert successor.write(topic_name, 0, version=12) == ErrorCode.NONE
        successor.end(version=5)
        wait_until(lambda: stable_end(client, topic_name) == (0, 3), "the successor's marker")
        assert producer.mark(topic_name, producer.epoch, 0) == ErrorCode.NONE
        assert stable_end(client, topic_name) == (4, 4)


def test_hundreds_of_transactions_that_time_out_at_once_are_all_ended_also_after_a_kill(
    start_broker: BrokerFactory, topic_name: str
) -> None:
    """All take too long at the same moment, and the broker is killed in the middle of ending them."""
    count = 400
    settings = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000"}
    broker = start_broker(settings=settings)
    with RawClient(broker.port) as client:
        client.create_topic(topic_name, 4)
        Producer(client, "first")
        init = InitProducerIdRequest(transaction_timeout_ms=1)
        for number in range(count):
            init.transactional_id = f"t{number}"
            begun = client.call(init, 4)
            assert begun.error_code == ErrorCode.NONE
            add = AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=init.transactional_id,
                v3_and_below_producer_id=begun.producer_id,
                v3_and_below_producer_epoch=begun.producer_epoch,
                v3_and_below_topics=[AddPartitionsToTxnTopic(name=topic_name, partitions=[number % 4])],
            )
            client.call(add, 3)
        wait_until(lambda: states(client)["CompleteAbort"] > count // 10, "the first ones to be ended")
    broker.kill()
    broker.start()
    with RawClient(broker.port) as client:
        wait_until(lambda: states(client)["CompleteAbort"] == count, "all to be ended", timeout_s=60)
        for partition in range(4):
            part = client.fetch(topic_name, partition=partition)
            assert part.last_stable_offset == part.high_watermark >= count // 4, "a marker for each"
    assert "Traceback" not in broker.log_since(0)


def states(client: RawClient) -> Counter[str]:
    found = client.call(ListTransactionsRequest(), 0).transaction_states
    return Counter(state.transaction_state for state in found)


def state_of(client: RawClient, transactional_id: str) -> str:
    request = DescribeTransactionsRequest(transactional_ids=[transactional_id])
    (described,) = client.call(request, 0).transaction_states
    assert described.error_code == ErrorCode.NONE
    state: str = described.transaction_state
    return state


def code_of(answer: Any) -> ErrorCode:
    if hasattr(answer, "responses"):
        return ErrorCode(answer.responses[0].partition_responses[0].error_code)
    return ErrorCode(answer.error_code)
