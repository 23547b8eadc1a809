"""Transactions of `ottla.Producer`: what is committed is seen, what is aborted never is."""

from __future__ import annotations

import pytest
from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as TheirTopicPartition
from read_back import values_of

from ottla.client.errors import IllegalState, ProducerFenced
from ottla.client.records import OffsetAndMetadata
from ottla.client.sync.producer import Producer
from ottla.model.types import TopicPartition
from support.broker_process import BrokerProcess
from support.raw_client import RawClient


def committed(broker: BrokerProcess, topic: str) -> list[bytes]:
    return values_of(broker.bootstrap, topic, isolation_level="read_committed")


def test_committed_records_are_seen_and_aborted_ones_are_not(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name)
    with Producer(shared_broker.bootstrap, transactional_id=topic_name) as producer:
        producer.init_transactions()
        for number in range(6):
            producer.begin_transaction()
            futures = [producer.send(topic_name, b"%d-%d" % (number, i)) for i in range(3)]
            if number % 2:
                producer.flush()
                producer.abort_transaction()
            else:
                producer.commit_transaction()
                assert all(future.done() for future in futures)
    assert committed(shared_broker, topic_name) == [b"%d-%d" % (n, i) for n in (0, 2, 4) for i in range(3)]
    assert len(values_of(shared_broker.bootstrap, topic_name, isolation_level="read_uncommitted")) == 18


def fail_within(producer: Producer, topic: str, error: BaseException) -> None:
    with producer.transaction():
        producer.send(topic, b"dropped").result(timeout=10)
        raise error


def test_a_block_commits_at_its_end_and_aborts_on_an_exception(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name)
    with Producer(shared_broker.bootstrap, transactional_id=topic_name) as producer:
        producer.init_transactions()
        with producer.transaction() as same:
            assert same is producer
            producer.send(topic_name, b"kept")
        with pytest.raises(ZeroDivisionError):
            fail_within(producer, topic_name, ZeroDivisionError())
        with pytest.raises(KeyboardInterrupt):
            fail_within(producer, topic_name, KeyboardInterrupt())
        with producer.transaction():
            producer.send(topic_name, b"kept, too")
    assert committed(shared_broker, topic_name) == [b"kept", b"kept, too"]


def test_offsets_are_committed_with_the_transaction_or_not_at_all(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name)
    group = f"group-{topic_name}"
    with Producer(shared_broker.bootstrap, transactional_id=topic_name) as producer:
        producer.init_transactions()
        with producer.transaction():
            producer.send(topic_name, b"1")
            producer.send_offsets_to_transaction({TopicPartition(topic_name, 0): 7}, group)
        producer.begin_transaction()
        offsets = {TopicPartition(topic_name, 0): OffsetAndMetadata(9, "note")}
        producer.send_offsets_to_transaction(offsets, group)
        producer.abort_transaction()
    consumer = Consumer({"bootstrap.servers": shared_broker.bootstrap, "group.id": group})
    try:
        (found,) = consumer.committed([TheirTopicPartition(topic_name, 0)], timeout=10)
    finally:
        consumer.close()
    assert found.offset == 7


def test_calls_that_do_not_fit_are_refused(shared_broker: BrokerProcess, topic_name: str) -> None:
    with Producer(shared_broker.bootstrap, transactional_id=topic_name) as producer:
        with pytest.raises(IllegalState):
            producer.begin_transaction()  # without init_transactions
        producer.init_transactions()
        with pytest.raises(IllegalState):
            producer.commit_transaction()
        with pytest.raises(IllegalState):
            producer.send(topic_name, b"outside")
        with producer.transaction(), pytest.raises(IllegalState):
            producer.begin_transaction()
    with Producer(shared_broker.bootstrap) as plain, pytest.raises(IllegalState):
        plain.init_transactions()


def test_a_newer_producer_with_the_same_id_shuts_the_older_one_out(
    shared_broker: BrokerProcess, raw: RawClient, topic_name: str
) -> None:
    raw.create_topic(topic_name)
    older = Producer(shared_broker.bootstrap, transactional_id=topic_name)
    older.init_transactions()
    older.begin_transaction()
    older.send(topic_name, b"of the older one").result(timeout=10)
    with Producer(shared_broker.bootstrap, transactional_id=topic_name) as newer:
        newer.init_transactions()
        with newer.transaction():
            newer.send(topic_name, b"of the newer one")
    with pytest.raises(ProducerFenced):
        older.commit_transaction()
    older.close(timeout=10)
    assert committed(shared_broker, topic_name) == [b"of the newer one"]
