"""Publishing: batches, sequences, and sending again until it is certain (KIP-98)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from client_script import Script

from ottla.client.errors import BrokerUnavailable, InvalidArgument, RequestTimedOut, ServerError
from ottla.client.partitioner import partition_for_key
from ottla.client.producer import Producer, ProducerSettings
from ottla.client.records import OutgoingRecord
from ottla.model.errors import ErrorCode
from ottla.wire.messages.init_producer_id import InitProducerIdResponse
from ottla.wire.messages.produce import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from ottla.wire.record_batch import BatchHeader, decode_batch, read_header

BYTES_MAX = 1 << 20


class ProducingScript(Script):
    """A cluster that stores what it is sent; `verdict` may answer a batch with an error code instead."""

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self.topics = {"t": [1, 2]}
        self.stored: list[tuple[int, BatchHeader, list[bytes | None]]] = []
        self.verdict: Callable[[int, BatchHeader], int] = lambda partition, header: 0
        self.handlers["InitProducerId"] = lambda node, request: InitProducerIdResponse(
            producer_id=4_000, producer_epoch=0
        )
        self.handlers["Produce"] = self._produce
        self.producer = Producer(self.cluster, ProducerSettings(**settings))
        self.run(self.producer.prepare("t"))
        self.calls.clear()

    def _produce(self, node_id: int, request: Any) -> Any:
        responses = []
        for topic in request.topic_data:
            name = topic.name or topic.topic_id.rstrip(b"\0").decode()
            partitions = []
            for data in topic.partition_data:
                header = read_header(data.records)
                assert self.topics[name][data.index] == node_id
                code = self.verdict(data.index, header)
                if code == 0:
                    records = decode_batch(data.records, decompressed_bytes_max=BYTES_MAX)
                    self.stored.append((data.index, header, [record.value for record in records]))
                partitions.append(PartitionProduceResponse(index=data.index, error_code=code))
            responses.append(
                TopicProduceResponse(name=topic.name, topic_id=topic.topic_id, partition_responses=partitions)
            )
        return None if request.acks == 0 else ProduceResponse(responses=responses)

    def publish(self, *values: bytes, partition: int | None = 0) -> None:
        for value in values:
            self.producer.add("t", OutgoingRecord(value, partition=partition))

    def flush(self) -> None:
        self.run(self.producer.flush())


def test_records_of_a_partition_travel_in_one_batch_with_a_sequence() -> None:
    script = ProducingScript()
    script.publish(b"a", b"b")
    script.flush()
    script.publish(b"c")
    script.flush()
    assert [(p, h.producer_id, h.base_sequence, values) for p, h, values in script.stored] == [
        (0, 4_000, 0, [b"a", b"b"]),
        (0, 4_000, 2, [b"c"]),
    ]
    assert script.names() == ["InitProducerId", "Produce", "Produce"]
    assert script.producer.delivered_count == 3


def test_every_partition_counts_its_own_sequence() -> None:
    script = ProducingScript()
    script.publish(b"a", partition=0)
    script.publish(b"b", partition=1)
    script.flush()
    assert sorted((p, h.base_sequence) for p, h, _ in script.stored) == [(0, 0), (1, 0)]


def test_a_key_decides_the_partition_and_a_full_batch_is_closed() -> None:
    script = ProducingScript(batch_bytes=200)
    for index in range(40):
        script.producer.add("t", OutgoingRecord(b"v" * 20, key=b"k%d" % index))
    script.flush()
    assert len(script.stored) > 4
    assert sum(len(values) for _, _, values in script.stored) == 40
    expected = [partition_for_key(b"k%d" % index, 2) for index in range(40)]
    assert sum(len(values) for p, _, values in script.stored if p == 0) == expected.count(0)


@pytest.mark.parametrize("lost", [RequestTimedOut("no answer"), BrokerUnavailable("host1:9092")])
def test_a_batch_whose_answer_was_lost_is_sent_again_byte_for_byte(lost: Exception) -> None:
    script = ProducingScript()
    store = script.handlers["Produce"]
    sent: list[bytes] = []

    def lose_first_answer(node_id: int, request: Any) -> Any:
        sent.append(bytes(request.topic_data[0].partition_data[0].records))
        response = store(node_id, request)
        if len(sent) == 1:
            raise lost
        return response

    script.handlers["Produce"] = lose_first_answer
    script.publish(b"a", b"b")
    script.flush()
    assert sent[0] == sent[1]
    assert script.names() == ["InitProducerId", "Produce", "Metadata", "Produce"]


def test_a_duplicate_counts_as_delivered() -> None:
    script = ProducingScript()
    script.verdict = lambda partition, header: ErrorCode.DUPLICATE_SEQUENCE_NUMBER
    script.publish(b"a")
    script.flush()
    assert script.producer.delivered_count == 1


def test_a_moved_leader_is_looked_up_and_only_its_batch_sent_again() -> None:
    script = ProducingScript()
    refused: list[int] = []

    def verdict(partition: int, header: BatchHeader) -> int:
        if partition == 0 and not refused:
            refused.append(partition)
            script.topics["t"][0] = 3
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return 0

    script.verdict = verdict
    script.publish(b"a", partition=0)
    script.publish(b"b", partition=1)
    script.flush()
    assert sorted((p, values) for p, _, values in script.stored) == [(0, [b"a"]), (1, [b"b"])]
    assert [node for name, node, _ in script.calls if name == "Produce"] == [1, 2, 3]


def test_a_batch_that_is_too_large_for_the_broker_is_halved_and_keeps_its_sequences() -> None:
    script = ProducingScript()
    script.verdict = lambda partition, header: ErrorCode.MESSAGE_TOO_LARGE if header.record_count > 2 else 0
    script.publish(*[b"%d" % n for n in range(7)])
    script.flush()
    assert [h.base_sequence for _, h, _ in script.stored] == [0, 1, 3, 5]
    assert [v for _, _, values in script.stored for v in values] == [b"%d" % n for n in range(7)]


def test_a_single_record_that_is_too_large_fails_for_good() -> None:
    script = ProducingScript()
    script.verdict = lambda partition, header: ErrorCode.MESSAGE_TOO_LARGE
    script.publish(b"a")
    with pytest.raises(ServerError, match=r"max\.message\.bytes"):
        script.flush()


def test_after_a_failure_nothing_more_is_sent() -> None:
    script = ProducingScript()
    script.verdict = lambda partition, header: ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    script.publish(b"a")
    with pytest.raises(ServerError):
        script.flush()
    script.verdict = lambda partition, header: 0
    with pytest.raises(ServerError):
        script.publish(b"b")
    with pytest.raises(ServerError):
        script.flush()
    assert script.stored == []


def test_delivery_is_given_up_after_its_time() -> None:
    script = ProducingScript(delivery_timeout_ms=3_000)
    script.verdict = lambda partition, header: ErrorCode.NOT_ENOUGH_REPLICAS
    script.publish(b"a")
    with pytest.raises(ServerError, match=r"min\.insync\.replicas"):
        script.flush()
    assert script.clock.elapsed_ms == 3_000


def test_a_record_above_max_request_size_is_refused_before_it_is_sent() -> None:
    script = ProducingScript(request_bytes_max=1_000)
    with pytest.raises(InvalidArgument, match=r"max\.request\.size=1000"):
        script.publish(b"x" * 1_000)


def test_acks_0_asks_for_no_producer_id_and_waits_for_no_answer() -> None:
    script = ProducingScript(acks=0, idempotent=False)
    script.publish(b"a")
    script.flush()
    assert script.names() == ["Produce"]
    assert script.stored[0][1].producer_id == -1
    assert script.producer.delivered_count == 1


def test_idempotence_needs_acks_all() -> None:
    with pytest.raises(InvalidArgument, match="acks=all"):
        ProducingScript(acks=1)


def test_topics_travel_by_id_from_produce_13_on_and_by_name_before() -> None:
    script = ProducingScript()
    script.publish(b"a")
    script.flush()
    script.versions["Produce"] = 12
    script.publish(b"b")
    script.flush()
    new, old = (request.topic_data[0] for name, _, request in script.calls if name == "Produce")
    assert (new.name, new.topic_id) == ("", script.topic_id("t"))
    assert (old.name, old.topic_id) == ("t", bytes(16))


def test_a_batch_leaves_when_it_is_full_or_has_lingered() -> None:
    script = ProducingScript(linger_ms=50, batch_bytes=1_000)
    script.publish(b"a")
    assert not script.producer.should_send
    script.clock.elapsed_ms += 50
    assert script.producer.should_send
    script.flush()
    script.publish(*[b"x" * 300] * 4)
    assert script.producer.should_send
    script.run(script.producer.send())
    assert script.producer.waiting_count == 1
