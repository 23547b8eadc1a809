"""Outcomes: what decisions ask for, put together."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from ottla.coordination.outcome import Outcome, try_now
from ottla.coordination.promise import Promise
from ottla.coordination.record import CoordinatorRecord
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages.consumer_offsets import GroupMetadataKey


def promise() -> Promise[int]:
    return Promise(lambda error: -int(error.code))


def outcome_with(*groups: str, replayed: bool = False) -> Outcome:
    outcome = Outcome()
    outcome.replayed = replayed
    outcome.records += [CoordinatorRecord(GroupMetadataKey(group=each), None) for each in groups]
    return outcome


def groups_of(outcome: Outcome) -> list[str]:
    return [record.key.group for record in outcome.records]


def test_answers_are_kept_and_complete_nothing_yet() -> None:
    outcome, waiting, refused = Outcome(), promise(), promise()
    outcome.answer(waiting, 5)
    outcome.refuse(refused, KafkaError(ErrorCode.UNKNOWN_MEMBER_ID))
    assert outcome.answers == [(waiting, 5), (refused, -25)]
    assert not waiting.done and not refused.done


def test_absorbing_adds_records_answers_and_jobs_in_order() -> None:
    def job() -> Generator[None, None, Outcome]:
        yield
        return Outcome()

    first, second = outcome_with("a"), outcome_with("b", "c")
    one, two = promise(), promise()
    first.answer(one, 1)
    second.answer(two, 2)
    second.jobs.append(job())
    first.absorb(second)
    assert groups_of(first) == ["a", "b", "c"]
    assert [answer for _, answer in first.answers] == [1, 2]
    assert first.jobs == second.jobs


def test_an_outcome_without_records_becomes_replayed_with_what_it_absorbs() -> None:
    first = Outcome()
    first.absorb(outcome_with("a", replayed=True))
    assert first.replayed


def test_absorbing_an_outcome_without_records_leaves_replayed_alone() -> None:
    first = outcome_with("a", replayed=True)
    first.absorb(Outcome())
    assert first.replayed and groups_of(first) == ["a"]


def test_records_that_are_replayed_and_such_that_are_not_do_not_mix() -> None:
    """The shell replays all records of an outcome or none."""
    with pytest.raises(AssertionError):
        outcome_with("a").absorb(outcome_with("b", replayed=True))


@pytest.mark.parametrize(("mine", "others"), [(True, False), (False, True), (True, True), (False, False)])
def test_soft_state_has_changed_when_either_changed_it(mine: bool, others: bool) -> None:
    first, second = Outcome(), Outcome()
    first.soft_changed, second.soft_changed = mine, others
    first.absorb(second)
    assert first.soft_changed is (mine or others)


def counting(steps: int) -> Generator[None, None, str]:
    for _ in range(steps):
        yield
    return f"after {steps}"


def test_a_short_job_is_done_at_once() -> None:
    assert try_now(counting(0)) == (True, "after 0")
    assert try_now(counting(2), steps_max=3) == (True, "after 2")


def test_a_long_job_goes_on_later_from_where_it_is() -> None:
    job = counting(7)
    assert try_now(job, steps_max=3) == (False, None)
    assert try_now(job, steps_max=3) == (False, None)
    assert try_now(job, steps_max=3) == (True, "after 7")
