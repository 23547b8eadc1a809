"""EndTxn in both generations: versions 0 to 4 (KIP-98), and 5, which raises the epoch (KIP-890)."""

from __future__ import annotations

import pytest

from ottla.model.errors import ErrorCode
from ottla.transactions.states import State
from ottla.transactions.transaction import Transaction
from support.transaction_stage import BEGINS_MS, CLICKS_0, CLICKS_1, FIRST_PRODUCER_ID, ID, Stage

OLD, NEW = 4, 5
PREPARE = {True: State.PREPARE_COMMIT, False: State.PREPARE_ABORT}
COMPLETE = {True: State.COMPLETE_COMMIT, False: State.COMPLETE_ABORT}


def opened(version: int = 2) -> tuple[Stage, tuple[int, int]]:
    stage = Stage(version)
    producer = stage.begin()
    stage.add(producer, CLICKS_0, CLICKS_1, version=2 if version else 0)
    return stage, producer


def ended(committed: bool, api_version: int) -> tuple[Stage, tuple[int, int], tuple[int, int]]:
    """A stage after the end, who ended, and who goes on."""
    stage, producer = opened()
    answer = stage.end(producer, committed, version=api_version)
    stage.write_markers()
    after = producer if api_version == OLD else (answer.producer_id, answer.producer_epoch)
    return stage, producer, after


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize("api_version", [0, 1, 2, 3, 4])
def test_the_older_generation_keeps_its_epoch(api_version: int, committed: bool) -> None:
    stage, producer = opened()
    answer = stage.end(producer, committed, version=api_version)
    assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (ErrorCode.NONE, -1, -1)
    assert stage.now().state is PREPARE[committed]
    (job,) = stage.write_markers()
    assert (job.producer_id, job.producer_epoch) == producer
    assert (job.committed, job.transaction_version) == (committed, 0)
    assert job.partitions == (CLICKS_0, CLICKS_1)
    assert stage.now().state is COMPLETE[committed]
    assert stage.now().partitions == {}
    assert stage.add_one(producer, version=0) == ErrorCode.NONE


@pytest.mark.parametrize("committed", [True, False])
def test_the_newer_generation_gets_the_next_epoch_and_so_do_the_markers(committed: bool) -> None:
    stage, (producer_id, epoch) = opened()
    answer = stage.end((producer_id, epoch), committed)
    assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (0, producer_id, epoch + 1)
    (job,) = stage.write_markers()
    assert (job.producer_id, job.producer_epoch, job.transaction_version) == (producer_id, epoch + 1, 2)
    assert stage.now().state is COMPLETE[committed]
    assert stage.add_one((producer_id, epoch)) == ErrorCode.PRODUCER_FENCED
    assert stage.add_one((producer_id, epoch + 1)) == ErrorCode.NONE


@pytest.mark.parametrize("api_version", [OLD, NEW])
@pytest.mark.parametrize("again", [True, False])
@pytest.mark.parametrize("committed", [True, False])
def test_until_the_markers_are_written_every_end_waits(
    committed: bool, again: bool, api_version: int
) -> None:
    stage, producer = opened()
    stage.end(producer, committed, version=api_version)
    assert stage.end(producer, again, version=api_version).error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    assert stage.now().state is PREPARE[committed]


@pytest.mark.parametrize("committed", [True, False])
def test_the_older_generations_retry_is_answered_and_the_opposite_is_refused(committed: bool) -> None:
    stage, producer, _ = ended(committed, OLD)
    written = len(stage.log)
    assert stage.end(producer, committed, version=OLD).error_code == ErrorCode.NONE
    assert stage.end(producer, not committed, version=OLD).error_code == ErrorCode.INVALID_TXN_STATE
    assert len(stage.log) == written


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("committed", [True, False])
def test_the_newer_generations_retry_is_answered_with_the_raised_epoch(
    committed: bool, restarts: bool
) -> None:
    stage, producer, after = ended(committed, NEW)
    if restarts:
        stage.restart()
    written = len(stage.log)
    answer = stage.end(producer, committed)
    assert (answer.error_code, (answer.producer_id, answer.producer_epoch)) == (ErrorCode.NONE, after)
    assert stage.end(producer, not committed).error_code == ErrorCode.INVALID_TXN_STATE
    assert len(stage.log) == written


@pytest.mark.parametrize("api_version", [0, 1])
def test_versions_0_and_1_know_the_fence_by_its_older_code(api_version: int) -> None:
    stage, (producer_id, epoch) = opened()
    answer = stage.end((producer_id, epoch + 1), version=api_version)
    assert answer.error_code == ErrorCode.INVALID_PRODUCER_EPOCH


@pytest.mark.parametrize("api_version", [OLD, NEW])
def test_wrong_producers_are_refused(api_version: int) -> None:
    stage, (producer_id, epoch) = opened()
    wrong_id = stage.end((producer_id + 1, epoch), version=api_version)
    assert wrong_id.error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    for off in (-1, 1, 2):
        answer = stage.end((producer_id, epoch + off), version=api_version)
        assert answer.error_code == ErrorCode.PRODUCER_FENCED
    unknown = stage.end((1, 1), transactional_id="nobody", version=api_version)
    assert unknown.error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert stage.end((1, 1), transactional_id="", version=api_version).error_code == ErrorCode.INVALID_REQUEST
    assert stage.now().state is State.ONGOING


@pytest.mark.parametrize("committed", [True, False])
def test_the_older_generation_cannot_end_what_was_never_opened(committed: bool) -> None:
    stage = Stage()
    producer = stage.begin()
    assert stage.end(producer, committed, version=OLD).error_code == ErrorCode.INVALID_TXN_STATE


# --- where nothing is open: the newer generation's table ----------------------------------------------------


@pytest.mark.parametrize("before", [None, True, False])
def test_an_abort_of_nothing_raises_the_epoch_and_completes_without_markers(before: bool | None) -> None:
    if before is None:
        stage = Stage()
        producer = stage.begin()
    else:
        stage, _, producer = ended(before, NEW)
    stage.clock.ms = 7
    answer = stage.end(producer, committed=False)
    raised = (producer[0], producer[1] + 1)
    assert (answer.error_code, (answer.producer_id, answer.producer_epoch)) == (ErrorCode.NONE, raised)
    assert stage.now().state is State.PREPARE_ABORT
    assert stage.now().started_ms == BEGINS_MS + 7
    (job,) = stage.write_markers()
    assert job.partitions == ()
    assert stage.now().state is State.COMPLETE_ABORT
    assert stage.add_one(raised) == ErrorCode.NONE


@pytest.mark.parametrize("before", [None, True, False])
def test_a_commit_of_nothing_is_an_invalid_state(before: bool | None) -> None:
    if before is None:
        stage = Stage()
        producer = stage.begin()
    else:
        stage, _, producer = ended(before, NEW)
    assert stage.end(producer, committed=True).error_code == ErrorCode.INVALID_TXN_STATE


@pytest.mark.parametrize("committed", [True, False])
def test_an_empty_id_knows_no_retry(committed: bool) -> None:
    stage = Stage()
    old = stage.begin()
    stage.begin()
    assert stage.end(old, committed).error_code == ErrorCode.PRODUCER_FENCED


def test_a_fenced_producer_is_not_taken_for_one_that_tries_again() -> None:
    """The older generation's end does not raise the epoch, so the epoch before is a fenced producer's."""
    stage = Stage()
    fenced = stage.begin()
    producer = stage.begin()
    stage.add(producer, version=0)
    stage.end(producer, version=OLD)
    stage.write_markers()
    assert stage.end(fenced, version=NEW).error_code == ErrorCode.PRODUCER_FENCED


# --- the epochs are used up --------------------------------------------------------------------------------

LAST = (FIRST_PRODUCER_ID, 32_766)
FRESH = (FIRST_PRODUCER_ID + 1, 0)


def worn_out() -> Stage:
    stage = Stage()
    stage.begin()
    stage.set(Transaction(ID, *LAST, 60_000, updated_ms=BEGINS_MS))
    stage.add(LAST)
    return stage


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("committed", [True, False])
def test_a_producer_whose_epochs_are_used_up_goes_on_with_a_new_producer_id(
    committed: bool, restarts: bool
) -> None:
    stage = worn_out()
    answer = stage.end(LAST, committed)
    assert (answer.producer_id, answer.producer_epoch) == FRESH
    if restarts:
        stage.restart()
    assert stage.add_one(FRESH) == ErrorCode.CONCURRENT_TRANSACTIONS
    assert stage.end(FRESH).error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    (job,) = stage.write_markers()
    assert (job.producer_id, job.producer_epoch) == (FIRST_PRODUCER_ID, 32_767)
    again = stage.end(LAST, committed)
    assert (again.error_code, (again.producer_id, again.producer_epoch)) == (ErrorCode.NONE, FRESH)
    assert stage.end(LAST, not committed).error_code == ErrorCode.INVALID_TXN_STATE
    assert stage.add_one(LAST) == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert stage.add_one(FRESH) == ErrorCode.NONE
    assert stage.end(LAST, committed).error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING


def test_without_a_producer_id_at_hand_nothing_is_decided() -> None:
    stage = worn_out()
    stage.ids_at_hand = 0
    assert stage.end(LAST).error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert stage.now().state is State.ONGOING


def test_the_older_generation_ends_with_its_last_epoch() -> None:
    stage = worn_out()
    stage.end(LAST, version=OLD)
    stage.write_markers()
    assert (stage.now().producer_id, stage.now().producer_epoch) == LAST


def test_the_epoch_of_a_fence_is_not_given_to_an_abort_that_comes_too_late() -> None:
    """With epoch 32767 nobody could be fenced any more."""
    stage = worn_out()
    stage.clock.ms += 60_001
    stage.abort_timed_out()
    stage.write_markers()
    assert stage.end(LAST, committed=False).error_code == ErrorCode.PRODUCER_FENCED
    assert stage.end((LAST[0], 32_767), committed=False).error_code == ErrorCode.PRODUCER_FENCED
    assert stage.add_one((LAST[0], 32_767)) == ErrorCode.PRODUCER_FENCED


# --- transaction.version -----------------------------------------------------------------------------------


def test_with_transaction_version_0_the_newer_generation_is_refused() -> None:
    stage, producer = opened(version=0)
    assert stage.end(producer, version=NEW).error_code == ErrorCode.UNSUPPORTED_VERSION
    assert stage.end(producer, version=OLD).error_code == ErrorCode.NONE


def test_a_transaction_that_was_decided_before_a_downgrade_completes_after_it() -> None:
    stage = worn_out()
    stage.end(LAST)
    stage.env.version = 0
    stage.write_markers()
    assert stage.now().state is State.COMPLETE_COMMIT
    assert (stage.now().producer_id, stage.now().producer_epoch) == FRESH
