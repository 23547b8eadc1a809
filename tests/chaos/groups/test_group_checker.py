"""The checker of group runs catches what it is there for: each test plants one violation, or something that
looks like one and is none.
"""

from __future__ import annotations

from typing import Any

import pytest

from chaos.groups.checker import (
    FROM_LAST_COMMIT,
    NEVER_BACK,
    NOTHING_SKIPPED,
    ONE_OWNER,
    Life,
    Report,
    Sample,
    check,
)
from support.group_members.process import Event

SESSION_S = 6.0


def life(name: str, *events: tuple[Any, ...], killed_at_s: float | None = None) -> Life:
    return Life(name, [Event(*event) for event in events], killed_at_s)


def turn(at_s: float, first: int, last: int, partition: int = 0) -> list[tuple[Any, ...]]:
    """A batch, processed and committed."""
    return [
        ("batch", at_s, [[partition, first, last]]),
        ("trying", at_s + 0.01, [[partition, last + 1]]),
        ("committed", at_s + 0.02, [[partition, last + 1]]),
    ]


def rules(report: Report) -> set[str]:
    return {violation.rule for violation in report.violations}


def run(*lives: Life, produced: int = 20, samples: list[Sample] | None = None) -> Report:
    return check(lives, {0: produced}, samples or [], session_s=SESSION_S)


A = life("a", ("assigned", 1.0, [0]), *turn(1.1, 0, 4), *turn(1.2, 5, 9), ("revoked", 2.0, [0]))
B = life("b", ("assigned", 2.1, [0]), *turn(2.2, 10, 19), ("closing", 3.0))


def test_a_handover_at_the_committed_offset_is_right() -> None:
    report = run(A, B)
    assert report.violations == []
    assert (report.delivered, report.redelivered, report.commits, report.tenures) == (20, 0, 3, 2)


def test_a_kill_between_processing_and_commit_redelivers_from_the_last_commit() -> None:
    killed = life(
        "a", ("assigned", 1.0, [0]), *turn(1.1, 0, 4), ("batch", 1.2, [[0, 5, 12]]), killed_at_s=1.3
    )
    heir = life("b", ("assigned", 8.0, [0]), *turn(8.1, 5, 19))
    report = run(killed, heir)
    assert report.violations == []
    assert report.redelivered == 8


def test_a_commit_whose_answer_nobody_saw_may_count_or_not() -> None:
    unanswered = [("batch", 1.2, [[0, 5, 12]]), ("trying", 1.25, [[0, 13]])]
    killed = life("a", ("assigned", 1.0, [0]), *turn(1.1, 0, 4), *unanswered, killed_at_s=1.3)
    for first in (5, 13):
        assert run(killed, life("b", ("assigned", 8.0, [0]), *turn(8.1, first, 19))).violations == []
    report = run(killed, life("b", ("assigned", 8.0, [0]), *turn(8.1, 9, 19)))
    assert rules(report) == {NOTHING_SKIPPED}


def test_a_skipped_record_is_caught_within_a_tenure() -> None:
    skipping = life("a", ("assigned", 1.0, [0]), *turn(1.1, 0, 4), *turn(1.2, 6, 19), ("closing", 2.0))
    report = run(skipping)
    assert rules(report) == {NOTHING_SKIPPED}
    assert "from 5 to 6" in report.violations[0].text


def test_a_skipped_record_is_caught_at_a_handover() -> None:
    skipping = life("b", ("assigned", 2.1, [0]), *turn(2.2, 11, 19))
    assert rules(run(A, skipping)) == {NOTHING_SKIPPED}


def test_records_that_were_never_delivered_are_caught() -> None:
    report = run(A, B, produced=21)
    assert [violation.text for violation in report.violations] == ["partition 0: 20 to 20 never delivered"]


def test_records_that_were_never_produced_are_caught() -> None:
    assert rules(run(A, B, produced=19)) == {NOTHING_SKIPPED}


def test_redelivery_from_before_the_last_commit_is_caught() -> None:
    eager = life("b", ("assigned", 2.1, [0]), *turn(2.2, 8, 19))
    report = run(A, eager)
    assert rules(report) == {FROM_LAST_COMMIT}
    assert "began at 8, 10 was committed" in report.violations[0].text


def test_going_back_within_a_tenure_is_caught() -> None:
    back = life("b", ("assigned", 2.1, [0]), ("batch", 2.2, [[0, 10, 15]]), *turn(2.3, 12, 19))
    assert FROM_LAST_COMMIT in rules(run(A, back))


def test_two_owners_at_once_are_caught() -> None:
    early = life("b", ("assigned", 1.9, [0]), *turn(2.2, 10, 19))
    report = run(A, early)
    assert rules(report) == {ONE_OWNER}
    assert "no ground to expel" in report.violations[0].text


def test_a_commit_that_is_taken_from_an_expelled_owner_is_caught() -> None:
    """Long silent, so it may be expelled; but then its commit must be refused (ILLEGAL_GENERATION or
    UNKNOWN_MEMBER_ID).
    """
    zombie = life("a", ("assigned", 1.0, [0]), *turn(1.1, 0, 9), *turn(10.5, 10, 12), ("lost", 11.0, [0]))
    heir = life("b", ("assigned", 10.0, [0]), *turn(10.1, 10, 19))
    assert ONE_OWNER in rules(run(zombie, heir))


def test_an_expelled_owner_that_has_not_noticed_is_no_second_owner() -> None:
    zombie = life(
        "a",
        ("assigned", 1.0, [0]),
        *turn(1.1, 0, 9),
        ("batch", 10.5, [[0, 10, 12]]),
        ("trying", 10.6, [[0, 13]]),
        ("refused", 10.7, "ILLEGAL_GENERATION"),
        ("lost", 11.0, [0]),
    )
    heir = life("b", ("assigned", 10.0, [0]), *turn(10.1, 10, 19))
    report = run(zombie, heir)
    assert report.violations == []
    assert (report.expelled, report.lost, report.redelivered) == (1, 1, 0)


def test_what_an_expelled_owner_processed_is_not_delivered_by_it() -> None:
    zombie = life(
        "a", ("assigned", 1.0, [0]), *turn(1.1, 0, 9), ("batch", 10.5, [[0, 10, 19]]), ("lost", 11.0, [0])
    )
    heir = life("b", ("assigned", 10.0, [0]), *turn(10.1, 10, 14))
    assert rules(run(zombie, heir)) == {NOTHING_SKIPPED}


def test_processing_without_owning_is_caught() -> None:
    late = life("a", *[tuple(event) for event in A.events], ("batch", 2.05, [[0, 10, 10]]))
    assert rules(run(late, B)) == {ONE_OWNER}


def test_a_commit_that_goes_back_is_caught() -> None:
    back = life("b", ("assigned", 2.1, [0]), *turn(2.2, 10, 19), *turn(2.5, 20, 24)[1:2])
    lower = life(
        "b", *[tuple(e) for e in back.events], ("trying", 2.6, [[0, 15]]), ("committed", 2.7, [[0, 15]])
    )
    report = run(A, lower)
    assert rules(report) == {NEVER_BACK}
    assert "committed 15" in report.violations[0].text


@pytest.mark.parametrize(
    ("samples", "complaint"),
    [
        ([(1.5, 10), (2.5, 9)], "it had been 10"),
        ([(1.5, 5)], "a member had been told 10"),
        ([(1.0, 1)], "nobody had tried more than 0"),
        ([(1.0, 0), (1.5, 10), (4.0, 20)], None),
    ],
)
def test_samples_from_outside_are_held_against_the_commits(
    samples: list[tuple[float, int]], complaint: str | None
) -> None:
    """A confirmed commit is there whenever somebody asks: not lost, not reset, not invented."""
    report = run(A, B, samples=[Sample(at_s, at_s + 0.001, {0: offset}) for at_s, offset in samples])
    if complaint is None:
        assert report.violations == []
    else:
        assert rules(report) == {NEVER_BACK}
        assert any(complaint in violation.text for violation in report.violations)


def test_a_partition_nobody_was_given_is_caught() -> None:
    report = check([A, B], {0: 20, 1: 3}, session_s=SESSION_S)
    assert rules(report) == {NOTHING_SKIPPED}


def test_a_cooperative_member_keeps_what_it_was_not_asked_for() -> None:
    """KIP-429: only the moved partition is revoked, the other goes on without a beginning of its own."""
    keeper = life(
        "a",
        ("assigned", 1.0, [0, 1]),
        *turn(1.1, 0, 4),
        *turn(1.2, 0, 4, partition=1),
        ("revoked", 2.0, [1]),
        *turn(2.3, 5, 9),
    )
    taker = life("b", ("assigned", 2.1, [1]), *turn(2.2, 5, 9, partition=1))
    assert check([keeper, taker], {0: 10, 1: 10}, session_s=SESSION_S).violations == []
