"""Records of `__transaction_state`: the bytes that Kafka 4.2.1 wrote for the same states, and bad ones."""

from __future__ import annotations

import pytest

from ottla.coordination.record import CoordinatorRecord
from ottla.model.types import TopicPartition
from ottla.transactions.record import decode_record, tombstone, transaction_of, transaction_record
from ottla.transactions.shard import TransactionShard
from ottla.transactions.states import TRANSITIONS, State
from ottla.transactions.transaction import Transaction
from ottla.wire.messages.transaction_state import TransactionLogKey, TransactionLogValue
from ottla.wire.primitives import DecodeError
from support.transaction_stage import Stage

T0 = 1_700_000_000_000
PARTITIONS = {TopicPartition("clicks", 3): None}

EMPTY = Transaction("orders", 4711, 0, 60_000, updated_ms=T0)
ONGOING = Transaction("orders", 4711, 0, 60_000, State.ONGOING, PARTITIONS, T0 + 5, T0 + 5)
PREPARE = ONGOING._replace(state=State.PREPARE_COMMIT, updated_ms=T0 + 7)
COMPLETE = ONGOING._replace(state=State.COMPLETE_COMMIT, updated_ms=T0 + 9, partitions={})

KAFKA_WROTE = [
    (0, EMPTY, "0000000000000000126700000000ea6000ffffffff0000018bcfe56800ffffffffffffffff"),
    (
        *(0, ONGOING),
        "0000000000000000126700000000ea6001000000010006636c69636b730000000100000003"
        "0000018bcfe568050000018bcfe56805",
    ),
    (
        *(0, PREPARE),
        "0000000000000000126700000000ea6002000000010006636c69636b730000000100000003"
        "0000018bcfe568070000018bcfe56805",
    ),
    (0, COMPLETE, "0000000000000000126700000000ea6004000000000000018bcfe568090000018bcfe56805"),
    (1, EMPTY, "0001000000000000126700000000ea6000000000018bcfe56800ffffffffffffffff00"),
    (
        *(1, ONGOING),
        "0001000000000000126700000000ea60010207636c69636b730200000003000000018bcfe568050000018bcfe5680500",
    ),
    (
        *(1, PREPARE),
        "0001000000000000126700000000ea60020207636c69636b730200000003000000018bcfe568070000018bcfe5680500",
    ),
    (1, COMPLETE, "0001000000000000126700000000ea6004010000018bcfe568090000018bcfe5680500"),
    (2, EMPTY, "0001000000000000126700000000ea6000000000018bcfe56800ffffffffffffffff00"),
    (
        *(2, ONGOING._replace(client_version=2)),
        "0001000000000000126700000000ea60010207636c69636b7302000000030000"
        "00018bcfe568050000018bcfe568050102020002",
    ),
    (
        *(2, PREPARE._replace(client_version=2, producer_epoch=1)),
        "0001000000000000126700010000ea60020207636c69636b7302000000030000"
        "00018bcfe568070000018bcfe568050102020002",
    ),
    (
        *(2, COMPLETE._replace(client_version=2, producer_epoch=1)),
        "0001000000000000126700010000ea6004010000018bcfe568090000018bcfe568050102020002",
    ),
]
"""(transaction.version, state, value): TransactionLog.valueToBytes of Kafka 4.2.1."""


@pytest.mark.parametrize(("version", "transaction", "value"), KAFKA_WROTE)
def test_a_record_has_kafkas_bytes_and_comes_back_from_them(
    version: int, transaction: Transaction, value: str
) -> None:
    record = transaction_record(transaction, version)
    assert record.key_bytes().hex() == "000000066f7264657273"
    written = record.value_bytes()
    assert written is not None and written.hex() == value
    read = decode_record(record.key_bytes(), written)
    assert read is not None
    assert transaction_of(read.key.transactional_id, read.value) == transaction


def test_a_tombstone_has_a_key_and_no_value() -> None:
    record = tombstone("orders")
    assert record.key_bytes().hex() == "000000066f7264657273"
    assert record.value_bytes() is None


def test_the_change_of_a_producer_id_is_in_the_record() -> None:
    """Kafka reads these fields, and leaves them out when it writes."""
    ending = PREPARE._replace(producer_epoch=32_767, next_producer_id=5000, client_version=2)
    ended = ending.completed(T0 + 9)
    for transaction in (ending, ended):
        record = transaction_record(transaction, 2)
        read = decode_record(record.key_bytes(), record.value_bytes())
        assert read is not None
        assert transaction_of("orders", read.value) == transaction
    assert (ended.producer_id, ended.producer_epoch, ended.previous_producer_id) == (5000, 0, 4711)


def test_version_0_leaves_out_what_it_cannot_hold() -> None:
    transaction = COMPLETE._replace(client_version=2, previous_producer_id=1)
    record = transaction_record(transaction, 0)
    read = decode_record(record.key_bytes(), record.value_bytes())
    assert read is not None and read.version == 0
    assert transaction_of("orders", read.value) == COMPLETE


@pytest.mark.parametrize(
    "change",
    [
        {"transaction_status": 6},
        {"transaction_status": 7},
        {"transaction_status": 8},
        {"transaction_status": -1},
        {"producer_id": -1},
        {"producer_epoch": -1},
    ],
    ids=str,
)
def test_a_record_that_no_coordinator_wrote_is_refused_and_changes_nothing(change: dict[str, int]) -> None:
    stage = Stage()
    stage.begin()
    before = stage.now()
    shard: TransactionShard = stage.shard
    value = TransactionLogValue(**{"producer_id": 1, "producer_epoch": 1, **change})
    with pytest.raises(DecodeError):
        shard.replay(CoordinatorRecord(TransactionLogKey(transactional_id="orders"), value, 1), 9, -1)
    assert stage.now() == before


def test_a_record_without_partitions_is_a_transaction_without_partitions() -> None:
    value = TransactionLogValue(producer_id=1, transaction_status=1, transaction_partitions=None)
    assert transaction_of("orders", value).partitions == {}


def test_a_record_of_a_later_type_is_skipped() -> None:
    assert decode_record(b"\x00\x09\x00\x01x", b"\x00\x00") is None


def test_a_way_that_is_not_in_the_table_is_an_assertion() -> None:
    stage = Stage()
    stage.begin()
    transaction = stage.now()
    for state in TRANSITIONS:
        if state.number > 5 or state in TRANSITIONS[State.EMPTY]:
            continue
        with pytest.raises(AssertionError):
            stage.shard.replay(transaction_record(transaction._replace(state=state), 2), 1, -1)


def test_an_epoch_that_goes_back_is_an_assertion() -> None:
    stage = Stage()
    stage.begin()
    stage.begin()
    with pytest.raises(AssertionError):
        stage.shard.replay(transaction_record(stage.now()._replace(producer_epoch=0), 2), 1, -1)
