"""The end of the markers, time-outs, forgotten ids, and what a new coordinator finds in the log."""

from __future__ import annotations

import pytest

from ottla.model.errors import ErrorCode
from ottla.transactions.states import State
from support.transaction_stage import BEGINS_MS, CLICKS_0, ID, Stage

WEEK_MS = 7 * 24 * 3_600_000


def opened(
    version: int = 2, transactional_id: str = ID, timeout_ms: int = 60_000
) -> tuple[Stage, tuple[int, int]]:
    stage = Stage(version)
    producer = stage.begin(transactional_id, timeout_ms=timeout_ms)
    stage.add(producer, CLICKS_0, transactional_id=transactional_id, version=0)
    return stage, producer


# --- markers -----------------------------------------------------------------------------------------------


def test_complete_is_written_only_when_the_markers_are() -> None:
    stage, producer = opened()
    stage.end(producer)
    written = len(stage.log)
    assert stage.now().state is State.PREPARE_COMMIT
    stage.write_markers()
    assert stage.now().state is State.COMPLETE_COMMIT
    assert len(stage.log) == written + 1


def test_markers_reported_twice_change_nothing() -> None:
    stage, producer = opened()
    stage.end(producer)
    (job,) = stage.write_markers()
    written = len(stage.log)
    stage.marked(job)
    assert len(stage.log) == written


def test_markers_of_an_earlier_transaction_do_not_complete_the_next() -> None:
    stage, producer = opened()
    stage.end(producer, version=5)
    (job,) = stage.write_markers()
    stage.add((producer[0], producer[1] + 1))
    stage.end((producer[0], producer[1] + 1))
    stage.marked(job)
    assert stage.now().state is State.PREPARE_COMMIT


def test_markers_of_the_opposite_outcome_do_not_complete_it() -> None:
    stage, producer = opened()
    stage.end(producer, version=4)
    (job,) = stage.to_mark
    stage.marked(job._replace(committed=False))
    assert stage.now().state is State.PREPARE_COMMIT


def test_markers_of_an_earlier_coordinator_do_not_complete_it() -> None:
    stage, producer = opened()
    stage.end(producer)
    (old,) = stage.to_mark
    stage.restart()
    stage.marked(old)
    assert stage.now().state is State.PREPARE_COMMIT
    (new,) = stage.write_markers()
    assert new == old._replace(coordinator_epoch=old.coordinator_epoch + 1)
    assert stage.now().state is State.COMPLETE_COMMIT


def test_markers_of_an_id_that_is_gone_are_ignored() -> None:
    stage, producer = opened()
    stage.end(producer)
    (job,) = stage.write_markers()
    stage.clock.ms = WEEK_MS
    stage.expire_ids()
    stage.marked(job)
    assert len(stage.shard.registry) == 0


# --- a new coordinator -------------------------------------------------------------------------------------


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize("api_version", [4, 5])
def test_a_decided_transaction_ends_as_decided_after_a_crash(api_version: int, committed: bool) -> None:
    stage, producer = opened()
    stage.end(producer, committed, version=api_version)
    before = stage.now()
    for _ in range(3):
        stage.restart()
        (job,) = stage.to_mark
        assert (job.producer_id, job.producer_epoch) == (before.producer_id, before.producer_epoch)
        assert (job.committed, job.partitions) == (committed, (CLICKS_0,))
        assert job.transaction_version == (2 if api_version == 5 else 0)
    stage.write_markers()
    assert stage.now().state is (State.COMPLETE_COMMIT if committed else State.COMPLETE_ABORT)


def test_an_open_transaction_stays_open_and_times_out_under_the_next_coordinator() -> None:
    stage, producer = opened()
    stage.restart()
    assert stage.to_mark == []
    assert stage.add_one(producer) == ErrorCode.NONE
    stage.clock.ms = 60_001
    stage.abort_timed_out()
    assert stage.now().state is State.PREPARE_ABORT


# --- time-outs ---------------------------------------------------------------------------------------------


def test_a_transaction_is_aborted_after_its_timeout_and_not_before() -> None:
    stage, _ = opened(timeout_ms=5_000)
    stage.clock.ms = 5_000
    assert stage.abort_timed_out() is False
    assert stage.now().state is State.ONGOING
    stage.clock.ms = 5_001
    assert stage.abort_timed_out() is False
    assert stage.now().state is State.PREPARE_ABORT
    assert stage.now().producer_epoch == 1


def test_adding_partitions_does_not_prolong_a_transaction() -> None:
    stage, producer = opened(timeout_ms=5_000)
    stage.clock.ms = 4_000
    stage.add(producer, version=0)
    stage.clock.ms = 5_001
    stage.abort_timed_out()
    assert stage.now().state is State.PREPARE_ABORT


def test_each_transaction_has_its_own_time() -> None:
    stage, producer = opened(timeout_ms=5_000)
    stage.clock.ms = 4_000
    stage.end(producer, version=4)
    stage.write_markers()
    stage.add(producer, version=0)
    stage.clock.ms = 9_000
    stage.abort_timed_out()
    assert stage.now().state is State.ONGOING
    stage.clock.ms = 9_001
    stage.abort_timed_out()
    assert stage.now().state is State.PREPARE_ABORT


def test_a_shorter_timeout_counts_from_the_next_transaction_on() -> None:
    stage, producer = opened(timeout_ms=60_000)
    stage.end(producer, version=4)
    stage.write_markers()
    producer = stage.begin(timeout_ms=100)
    stage.add(producer)
    stage.clock.ms = 101
    stage.abort_timed_out()
    assert stage.now().state is State.PREPARE_ABORT


@pytest.mark.parametrize(
    ("version", "commit", "abort"),
    [
        (1, ErrorCode.PRODUCER_FENCED, ErrorCode.PRODUCER_FENCED),
        (2, ErrorCode.INVALID_TXN_STATE, ErrorCode.NONE),
    ],
)
def test_a_commit_after_the_timeout_is_refused(version: int, commit: ErrorCode, abort: ErrorCode) -> None:
    """The newer generation's producer aborts and goes on with the epoch of the fence (KIP-890)."""
    stage, producer = opened(version)
    stage.clock.ms = 60_001
    stage.abort_timed_out()
    stage.write_markers()
    assert stage.end(producer, True).error_code == commit
    assert stage.end(producer, False).error_code == abort
    assert stage.end(producer, True, version=4).error_code == ErrorCode.PRODUCER_FENCED
    assert stage.add_one(producer) == ErrorCode.PRODUCER_FENCED


@pytest.mark.parametrize(("version", "code"), [(1, ErrorCode.PRODUCER_FENCED), (2, ErrorCode.NONE)])
def test_whether_a_timed_out_producer_may_go_on_depends_on_the_generation(
    version: int, code: ErrorCode
) -> None:
    stage, producer = opened(version)
    stage.clock.ms = 60_001
    stage.abort_timed_out()
    stage.write_markers()
    assert stage.init(had=producer).error_code == code


def test_time_outs_come_in_portions_the_earliest_first() -> None:
    stage = Stage()
    for number in range(5):
        name = f"id-{number}"
        stage.add(stage.begin(name, timeout_ms=1_000 - number), transactional_id=name)
    stage.clock.ms = 2_000
    assert stage.abort_timed_out(limit=2) is True
    assert [job.transactional_id for job in stage.to_mark] == ["id-4", "id-3"]
    assert stage.abort_timed_out(limit=2) is True
    assert stage.abort_timed_out(limit=2) is False
    assert [job.transactional_id for job in stage.to_mark] == ["id-4", "id-3", "id-2", "id-1", "id-0"]


def test_a_time_out_that_could_not_be_written_is_decided_again() -> None:
    stage, _ = opened()
    stage.clock.ms = 60_001
    lost, _ = stage.shard.abort_timed_out(10)
    again, _ = stage.shard.abort_timed_out(10)
    assert [record.value for record in lost.records] == [record.value for record in again.records]
    assert len(again.records) == 1


# --- forgotten ids -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["empty", "committed", "aborted"])
def test_an_idle_id_is_forgotten_after_its_time_and_not_before(how: str) -> None:
    stage = Stage()
    producer = stage.begin()
    if how != "empty":
        stage.add(producer)
        stage.end(producer, committed=how == "committed")
        stage.write_markers()
    stage.clock.ms = WEEK_MS - 1
    stage.expire_ids()
    assert len(stage.shard.registry) == 1
    stage.clock.ms = WEEK_MS
    stage.expire_ids()
    assert len(stage.shard.registry) == 0
    key, value = stage.log[-1]
    assert value is None and key.endswith(b"orders")
    assert stage.begin()[0] != producer[0]


def test_every_change_makes_an_id_young_again() -> None:
    stage = Stage()
    stage.begin()
    stage.clock.ms = WEEK_MS - 1
    stage.begin()
    stage.clock.ms = WEEK_MS
    stage.expire_ids()
    assert len(stage.shard.registry) == 1


@pytest.mark.parametrize("decided", [False, True])
def test_an_id_with_a_transaction_is_not_forgotten(decided: bool) -> None:
    stage, producer = opened()
    if decided:
        stage.end(producer)
    stage.clock.ms = 2 * WEEK_MS
    stage.expire_ids()
    assert len(stage.shard.registry) == 1


def test_ids_are_forgotten_in_portions() -> None:
    stage = Stage()
    for number in range(5):
        stage.begin(f"id-{number}")
    stage.clock.ms = WEEK_MS
    assert [stage.expire_ids(limit=2) for _ in range(3)] == [True, True, False]
    assert len(stage.shard.registry) == 0


def test_a_forgotten_id_is_unknown_to_its_producer() -> None:
    stage = Stage()
    producer = stage.begin()
    stage.clock.ms = WEEK_MS
    stage.expire_ids()
    assert stage.add_one(producer) == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert stage.end(producer).error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING


def test_ids_that_a_new_coordinator_found_are_forgotten_too() -> None:
    stage = Stage(id_expiration_ms=1_000)
    stage.begin()
    stage.restart()
    stage.clock.ms = 1_000
    stage.expire_ids()
    assert len(stage.shard.registry) == 0
    assert stage.clock.now_ms() == BEGINS_MS + 1_000


def test_an_abort_of_nothing_comes_to_its_end_after_a_crash() -> None:
    stage = Stage()
    stage.end(stage.begin(), committed=False)
    stage.restart()
    (job,) = stage.write_markers()
    assert job.partitions == ()
    assert stage.now().state is State.COMPLETE_ABORT
