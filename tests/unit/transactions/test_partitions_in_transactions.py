"""AddPartitionsToTxn and its verify_only form (KIP-98, KIP-890)."""

from __future__ import annotations

import pytest

from ottla.model.errors import ErrorCode
from ottla.transactions.api_versions import client_version_of_add_partitions, error_for
from ottla.transactions.states import State
from ottla.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from ottla.wire.messages.add_partitions_to_txn import AddPartitionsToTxnRequest
from support.transaction_stage import BEGINS_MS, CLICKS_0, CLICKS_1, ID, VIEWS_0, Stage


def test_the_first_partition_opens_the_transaction_and_others_join_it() -> None:
    stage = Stage()
    producer = stage.begin()
    stage.clock.ms = 10
    assert stage.add(producer, CLICKS_0) == {CLICKS_0: ErrorCode.NONE}
    stage.clock.ms = 20
    assert stage.add(producer, CLICKS_1, VIEWS_0) == {CLICKS_1: ErrorCode.NONE, VIEWS_0: ErrorCode.NONE}
    transaction = stage.now()
    assert transaction.state is State.ONGOING
    assert list(transaction.partitions) == [CLICKS_0, CLICKS_1, VIEWS_0]
    assert (transaction.started_ms, transaction.updated_ms) == (BEGINS_MS + 10, BEGINS_MS + 20)


def test_partitions_that_are_in_already_write_nothing() -> None:
    stage = Stage()
    producer = stage.begin()
    stage.add(producer, CLICKS_0, CLICKS_1)
    written = len(stage.log)
    assert stage.add(producer, CLICKS_1) == {CLICKS_1: ErrorCode.NONE}
    assert len(stage.log) == written


@pytest.mark.parametrize("verify", [False, True])
def test_an_unknown_id_and_a_foreign_producer_id_have_no_mapping(verify: bool) -> None:
    stage = Stage()
    assert stage.add_one((1, 0), verify=verify) == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    producer_id, epoch = stage.begin()
    assert stage.add_one((producer_id + 1, epoch), verify=verify) == ErrorCode.INVALID_PRODUCER_ID_MAPPING


@pytest.mark.parametrize("verify", [False, True])
@pytest.mark.parametrize("off", [-1, 1])
def test_any_other_epoch_is_fenced(off: int, verify: bool) -> None:
    stage = Stage()
    producer_id, epoch = stage.begin()
    assert stage.add_one((producer_id, epoch + off), verify=verify) == ErrorCode.PRODUCER_FENCED


@pytest.mark.parametrize("verify", [False, True])
def test_an_empty_transactional_id_is_an_invalid_request(verify: bool) -> None:
    assert Stage().add_one((1, 0), transactional_id="", verify=verify) == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("end_version", [4, 5])
@pytest.mark.parametrize("committed", [True, False])
def test_nothing_is_added_after_the_decision(committed: bool, end_version: int) -> None:
    stage = Stage()
    producer = stage.begin()
    stage.add(producer, CLICKS_0)
    answer = stage.end(producer, committed, version=end_version)
    for each in (producer, (answer.producer_id, answer.producer_epoch), (99, 0)):
        assert stage.add(each, CLICKS_1) == {CLICKS_1: ErrorCode.CONCURRENT_TRANSACTIONS}
    assert list(stage.now().partitions) == [CLICKS_0]


def test_after_the_end_the_next_transaction_begins_without_the_old_partitions() -> None:
    stage = Stage()
    producer = stage.begin()
    stage.add(producer, CLICKS_0)
    stage.end(producer, version=4)
    stage.write_markers()
    stage.clock.ms = 500
    assert stage.add(producer, VIEWS_0, version=0) == {VIEWS_0: ErrorCode.NONE}
    assert list(stage.now().partitions) == [VIEWS_0]
    assert stage.now().started_ms == BEGINS_MS + 500


def test_verification_answers_for_each_partition_and_adds_none() -> None:
    stage = Stage()
    producer = stage.begin()
    stage.add(producer, CLICKS_0)
    assert stage.add(producer, CLICKS_0, VIEWS_0, verify=True) == {
        CLICKS_0: ErrorCode.NONE,
        VIEWS_0: ErrorCode.TRANSACTION_ABORTABLE,
    }
    assert list(stage.now().partitions) == [CLICKS_0]


def test_verification_while_the_transaction_ends_waits() -> None:
    stage = Stage()
    producer = stage.begin()
    stage.add(producer, CLICKS_0)
    stage.end(producer, version=4)
    assert stage.add_one(producer, verify=True) == ErrorCode.CONCURRENT_TRANSACTIONS
    stage.write_markers()
    assert stage.add_one(producer, verify=True) == ErrorCode.TRANSACTION_ABORTABLE


def test_the_newer_generation_needs_records_that_can_hold_it() -> None:
    stage = Stage(version=0)
    producer = stage.begin()
    assert stage.add_one(producer, version=2) == ErrorCode.UNSUPPORTED_VERSION
    assert stage.add_one(producer, version=0) == ErrorCode.NONE


@pytest.mark.parametrize("api", [AddPartitionsToTxnRequest, AddOffsetsToTxnRequest])
def test_versions_0_and_1_know_the_fence_by_its_older_code(api: type) -> None:
    key: int = api.API_KEY
    assert error_for(key, 1, ErrorCode.PRODUCER_FENCED) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert error_for(key, 2, ErrorCode.PRODUCER_FENCED) is ErrorCode.PRODUCER_FENCED
    assert error_for(key, 0, ErrorCode.INVALID_TXN_STATE) is ErrorCode.INVALID_TXN_STATE


def test_brokers_ask_for_clients_of_the_newer_generation() -> None:
    assert [client_version_of_add_partitions(version) for version in range(6)] == [0, 0, 0, 0, 2, 2]


def test_ids_do_not_share_anything() -> None:
    stage = Stage()
    one, other = stage.begin(), stage.begin("payments")
    stage.add(one, CLICKS_0)
    assert stage.add_one(other) == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert stage.add_one(other, transactional_id="payments") == ErrorCode.NONE
    stage.end(one)
    assert stage.now("payments").state is State.ONGOING
    assert stage.now(ID).state is State.PREPARE_COMMIT
