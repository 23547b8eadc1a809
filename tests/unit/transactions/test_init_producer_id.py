"""InitProducerId with a transactional id: KIP-98, KIP-360 (a producer goes on), KIP-588 (codes), KIP-890."""

from __future__ import annotations

import pytest

from ottla.model.errors import ErrorCode
from ottla.transactions.states import State
from ottla.transactions.transaction import NO_TIMEOUT_MS, Transaction
from support.transaction_stage import BEGINS_MS, CLICKS_0, FIRST_PRODUCER_ID, ID, Stage

FIRST = (FIRST_PRODUCER_ID, 0)
SECOND_ID = FIRST_PRODUCER_ID + 1


def test_a_new_transactional_id_gets_a_new_producer_id_with_epoch_0() -> None:
    stage = Stage()
    assert stage.begin() == FIRST
    assert stage.begin("payments") == (SECOND_ID, 0)


def test_a_known_id_keeps_its_producer_id_and_gets_the_next_epoch() -> None:
    stage = Stage()
    stage.begin()
    assert stage.begin() == (FIRST_PRODUCER_ID, 1)
    assert stage.begin() == (FIRST_PRODUCER_ID, 2)


def test_the_epoch_survives_the_coordinator() -> None:
    stage = Stage()
    stage.begin()
    stage.restart()
    assert stage.begin() == (FIRST_PRODUCER_ID, 1)


@pytest.mark.parametrize("timeout_ms", [0, -1, 900_001, 2**31 - 1])
def test_a_timeout_outside_the_bounds_is_refused(timeout_ms: int) -> None:
    assert Stage().init(timeout_ms=timeout_ms).error_code == ErrorCode.INVALID_TRANSACTION_TIMEOUT


@pytest.mark.parametrize("timeout_ms", [1, 900_000])
def test_the_bounds_of_the_timeout_are_allowed(timeout_ms: int) -> None:
    stage = Stage()
    stage.begin(timeout_ms=timeout_ms)
    assert stage.now().timeout_ms == timeout_ms


def test_an_empty_transactional_id_is_an_invalid_request_before_anything_else() -> None:
    assert Stage().init("", timeout_ms=0).error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("had", [(5, -1), (-1, 5)])
def test_half_a_pair_of_producer_id_and_epoch_is_an_invalid_request(had: tuple[int, int]) -> None:
    assert Stage().init(had=had).error_code == ErrorCode.INVALID_REQUEST


def test_without_a_producer_id_at_hand_the_client_comes_back_and_nothing_is_written() -> None:
    stage = Stage()
    stage.ids_at_hand = 0
    assert stage.init().error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert stage.log == []
    stage.ids_at_hand = 1
    assert stage.begin() == FIRST


# --- two-phase commit: in the unstable version 6 only (KIP-939) ---------------------------------------------


def test_two_phase_commit_needs_the_brokers_consent() -> None:
    answer = Stage().init(two_phase=True, version=6)
    assert answer.error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def test_a_two_phase_transaction_has_no_timeout() -> None:
    stage = Stage(two_phase_commit_enable=True)
    producer = stage.begin(two_phase=True, version=6, timeout_ms=0)
    assert stage.now().timeout_ms == NO_TIMEOUT_MS
    stage.add(producer)
    stage.clock.ms += 2**40
    stage.abort_timed_out()
    assert stage.now().state is State.ONGOING


def test_a_prepared_transaction_cannot_be_kept_yet() -> None:
    answer = Stage().init(keep_prepared=True, version=6)
    assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION


# --- a transaction is open -------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [0, 1, 2])
def test_an_open_transaction_is_aborted_with_a_higher_epoch_and_the_client_waits(version: int) -> None:
    stage = Stage(version)
    old = stage.begin()
    stage.add(old, CLICKS_0, version=0)
    assert stage.init().error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    (job,) = stage.to_mark
    assert (job.producer_id, job.producer_epoch, job.committed) == (FIRST_PRODUCER_ID, 1, False)
    assert job.partitions == (CLICKS_0,)
    assert job.transaction_version == (2 if version == 2 else 0)
    assert stage.init().error_code == ErrorCode.CONCURRENT_TRANSACTIONS, "until the markers are written"
    stage.write_markers()
    assert stage.begin() == (FIRST_PRODUCER_ID, 2), "the fence's epoch is nobody's"


@pytest.mark.parametrize("committed", [True, False])
def test_whoever_comes_while_a_transaction_ends_waits(committed: bool) -> None:
    stage = Stage()
    producer = stage.begin()
    stage.add(producer)
    stage.end(producer, committed)
    for had in ((-1, -1), producer, (99, 3)):
        assert stage.init(had=had).error_code == ErrorCode.CONCURRENT_TRANSACTIONS


def test_the_fenced_producer_can_neither_add_nor_end() -> None:
    stage = Stage()
    old = stage.begin()
    new = stage.begin()
    assert stage.add_one(old) == ErrorCode.PRODUCER_FENCED
    assert stage.end(old, version=4).error_code == ErrorCode.PRODUCER_FENCED
    assert stage.end(old, version=5).error_code == ErrorCode.PRODUCER_FENCED
    assert stage.end(old, committed=False, version=5).error_code == ErrorCode.PRODUCER_FENCED
    assert stage.add_one(new) == ErrorCode.NONE


# --- a producer that goes on (KIP-360) ---------------------------------------------------------------------


def test_a_producer_that_goes_on_gets_the_next_epoch() -> None:
    stage = Stage()
    producer = stage.begin()
    assert stage.begin(had=producer) == (FIRST_PRODUCER_ID, 1)


def test_a_lost_answer_is_given_again_without_a_further_epoch() -> None:
    stage = Stage()
    producer = stage.begin()
    stage.begin(had=producer)
    assert stage.begin(had=producer) == (FIRST_PRODUCER_ID, 1)
    assert stage.begin(had=producer) == (FIRST_PRODUCER_ID, 1)


def test_after_a_fail_over_the_epoch_before_is_fenced() -> None:
    """Kafka keeps the last epoch in memory only."""
    stage = Stage()
    producer = stage.begin()
    stage.begin(had=producer)
    stage.restart()
    assert stage.init(had=producer).error_code == ErrorCode.PRODUCER_FENCED


def test_a_producer_that_was_replaced_cannot_go_on() -> None:
    stage = Stage()
    old = stage.begin()
    stage.begin()
    assert stage.init(had=old).error_code == ErrorCode.PRODUCER_FENCED


def test_a_foreign_producer_id_is_fenced() -> None:
    stage = Stage()
    stage.begin()
    assert stage.init(had=(77, 0)).error_code == ErrorCode.PRODUCER_FENCED


def test_a_producer_whose_id_was_forgotten_gets_a_new_one() -> None:
    assert Stage().begin(had=(77, 12)) == FIRST


@pytest.mark.parametrize(
    ("version", "code"),
    [(3, ErrorCode.INVALID_PRODUCER_EPOCH), (4, ErrorCode.PRODUCER_FENCED), (5, ErrorCode.PRODUCER_FENCED)],
)
def test_clients_that_do_not_know_producer_fenced_are_told_the_older_code(
    version: int, code: ErrorCode
) -> None:
    stage = Stage()
    stage.begin()
    assert stage.init(had=(77, 0), version=version).error_code == code


# --- the epochs are used up --------------------------------------------------------------------------------


def worn_out(epoch: int = 32_766, state: State = State.EMPTY) -> Stage:
    stage = Stage()
    stage.begin()
    stage.set(Transaction(ID, FIRST_PRODUCER_ID, epoch, 60_000, state, started_ms=-1, updated_ms=BEGINS_MS))
    return stage


@pytest.mark.parametrize("epoch", [32_766, 32_767])
def test_used_up_epochs_bring_a_new_producer_id(epoch: int) -> None:
    assert worn_out(epoch).begin() == (SECOND_ID, 0)


def test_the_last_epoch_is_not_given_out() -> None:
    stage = worn_out(32_765)
    assert stage.begin() == (FIRST_PRODUCER_ID, 32_766)
    assert stage.begin() == (SECOND_ID, 0)


def test_the_answer_with_the_new_producer_id_is_given_again() -> None:
    stage = worn_out()
    had = (FIRST_PRODUCER_ID, 32_766)
    assert [stage.begin(had=had) for _ in range(3)] == [(SECOND_ID, 0)] * 3


def test_the_old_producer_id_is_fenced_once_another_producer_has_come() -> None:
    stage = worn_out()
    stage.begin()
    assert stage.init(had=(FIRST_PRODUCER_ID, 32_766)).error_code == ErrorCode.PRODUCER_FENCED


def test_a_stale_epoch_is_fenced_also_when_the_epochs_are_used_up() -> None:
    assert worn_out().init(had=(FIRST_PRODUCER_ID, 12)).error_code == ErrorCode.PRODUCER_FENCED


def test_the_answer_with_the_last_client_epoch_is_given_again() -> None:
    stage = worn_out(32_765)
    had = (FIRST_PRODUCER_ID, 32_765)
    assert stage.begin(had=had) == (FIRST_PRODUCER_ID, 32_766)
    assert stage.begin(had=had) == (FIRST_PRODUCER_ID, 32_766)


def test_a_producer_that_was_fenced_at_the_last_epoch_goes_on_with_a_new_producer_id() -> None:
    stage = worn_out()
    had = (FIRST_PRODUCER_ID, 32_766)
    stage.add(had)
    stage.clock.ms += 60_001
    stage.abort_timed_out()
    stage.write_markers()
    assert stage.now().producer_epoch == 32_767
    assert stage.begin(had=had) == (SECOND_ID, 0)
    assert stage.begin(had=had) == (SECOND_ID, 0)


def test_a_fence_can_take_the_last_epoch_and_the_next_producer_gets_a_new_id() -> None:
    stage = worn_out()
    stage.add((FIRST_PRODUCER_ID, 32_766))
    assert stage.init().error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    (job,) = stage.write_markers()
    assert job.producer_epoch == 32_767
    assert stage.begin() == (SECOND_ID, 0)


def test_a_transaction_that_kafka_left_open_under_the_last_epoch_is_aborted_all_the_same() -> None:
    stage = Stage()
    stage.set(
        Transaction(
            *(ID, FIRST_PRODUCER_ID, 32_767, 60_000, State.ONGOING, {CLICKS_0: None}),
            started_ms=BEGINS_MS,
            updated_ms=BEGINS_MS,
            client_version=2,
        )
    )
    assert stage.init().error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    (job,) = stage.write_markers()
    assert (job.producer_epoch, job.transaction_version) == (32_767, 0), "version 2 asks for a higher epoch"
    assert stage.now().state is State.COMPLETE_ABORT
