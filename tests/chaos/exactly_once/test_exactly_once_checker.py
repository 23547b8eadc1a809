"""The checker of exactly-once runs catches what it is there for: each test plants one violation into a run
that was right, or something that looks like one and is none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from chaos.exactly_once.checker import (
    ABORTED,
    ALL_OR_NOTHING,
    FENCED,
    HANGING,
    INPUT_RIGHT,
    MISSING,
    OFFSETS,
    ORDER,
    REAL_ABORTS,
    SAME_VIEW,
    SOURCE,
    TWICE,
    UNEXPECTED,
    Ends,
    Evidence,
    Life,
    Report,
    check,
)
from chaos.exactly_once.follower import next_offsets, read_file
from chaos.exactly_once.ledger import Event
from chaos.exactly_once.loader import Pace
from chaos.exactly_once.records import (
    KEYS,
    PARTITIONS,
    Seen,
    input_partition_of,
    key_of,
    number_in,
    output_partition_of,
    source_of,
    transform,
    value_of,
)

RECORDS = 2 * KEYS
HALF = RECORDS // 2


def loaded() -> list[Seen]:
    return [
        Seen(input_partition_of(number), number // PARTITIONS, key_of(number), value_of(number))
        for number in range(RECORDS)
    ]


def written(numbers: range, transaction: str, ends: list[int], *, doomed: bool = False) -> list[Seen]:
    """The records of one transaction, behind what is there; a mark takes an offset of each partition after
    it.
    """
    records = []
    for number in numbers:
        partition = output_partition_of(key_of(number))
        source = source_of(input_partition_of(number), number // PARTITIONS)
        records.append(
            Seen(
                partition,
                ends[partition],
                key_of(number),
                transform(value_of(number)),
                source,
                transaction,
                doomed,
            )
        )
        ends[partition] += 1
    for partition in range(PARTITIONS):
        ends[partition] += 1
    return records


def right() -> Evidence:
    """Two transactions of one life are committed, the second after it was aborted once on purpose."""
    ends = [0] * PARTITIONS
    first = written(range(HALF), "app0-life1/1", ends)
    aborted = written(range(HALF, RECORDS), "app0-life1/2", ends, doomed=True)
    second = written(range(HALF, RECORDS), "app0-life1/3", ends)
    output = first + second
    events = [
        Event("ready", 1.0),
        Event("ending", 2.0, ["app0-life1/1", HALF, "commit"]),
        Event("committed", 2.1, ["app0-life1/1", HALF]),
        Event("ending", 3.0, ["app0-life1/2", HALF, "abort"]),
        Event("aborted", 3.1, ["app0-life1/2", "on purpose"]),
        Event("ending", 4.0, ["app0-life1/3", HALF, "commit"]),
        Event("committed", 4.1, ["app0-life1/3", HALF]),
    ]
    in_partition = RECORDS // PARTITIONS
    return Evidence(
        records=RECORDS,
        loaded=loaded(),
        output=output,
        uncommitted=first + aborted + second,
        followed={"follower": list(output)},
        lives=[Life("app0-life1", "transform-0", events)],
        committed=dict.fromkeys(range(PARTITIONS), in_partition),
        ends={
            **{f"input-{partition}": Ends(in_partition, in_partition) for partition in range(PARTITIONS)},
            **{f"output-{partition}": Ends(end, end) for partition, end in enumerate(ends)},
        },
    )


def rules(report: Report) -> set[str]:
    return {violation.rule for violation in report.violations}


def with_output(evidence: Evidence, output: list[Seen]) -> Evidence:
    """Every reader agrees on it, so that only what is wrong with the output itself is found."""
    extra = [record for record in evidence.uncommitted if record.doomed]
    return replace(evidence, output=output, uncommitted=output + extra, followed={"follower": output})


def with_events(evidence: Evidence, *changes: tuple[int, Event | None]) -> Evidence:
    (life,) = evidence.lives
    events: list[Event | None] = list(life.events)
    for index, event in changes:
        events[index] = event
    return replace(evidence, lives=[life._replace(events=[event for event in events if event is not None])])


def test_a_right_run_is_found_right() -> None:
    report = check(right())
    assert report.violations == []
    assert (report.committed, report.aborted_on_purpose, report.aborted, report.outcome_unknown) == (
        2,
        1,
        1,
        0,
    )
    assert (report.output, report.uncommitted) == (RECORDS, RECORDS + HALF)


def test_a_lost_record_is_missing() -> None:
    """And its transaction, which was told to be committed, is torn."""
    evidence = right()
    assert rules(check(with_output(evidence, list(evidence.output)[1:]))) == {MISSING, ALL_OR_NOTHING}


def test_a_lost_transaction_is_missing_even_when_nobody_was_told_its_outcome() -> None:
    evidence = with_events(right(), (6, None))
    output = [record for record in evidence.output if record.transaction != "app0-life1/3"]
    report = check(with_output(evidence, output))
    assert rules(report) == {MISSING}
    assert (report.outcome_unknown, report.unknown_and_committed) == (1, 0)


def test_a_record_that_was_processed_twice_is_found() -> None:
    """As by a zombie whose commit was taken: another transaction, the same number."""
    evidence = right()
    ends = [each.end for name, each in evidence.ends.items() if name.startswith("output")]
    again = written(range(1), "app1-life1/1", ends)
    zombie = Life(
        "app1-life1",
        "transform-1",
        [Event("ending", 5.0, ["app1-life1/1", 1, "commit"]), Event("committed", 5.1, ["app1-life1/1", 1])],
    )
    evidence = replace(with_output(evidence, [*evidence.output, *again]), lives=[*evidence.lives, zombie])
    assert rules(check(evidence)) == {TWICE}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda record: record._replace(value=record.value.lower()),
        lambda record: record._replace(value="noise"),
        lambda record: record._replace(value=transform(value_of(RECORDS + KEYS))),
        lambda record: record._replace(key=key_of(1)),
        lambda record: record._replace(partition=(record.partition + 1) % PARTITIONS, offset=10**6),
    ],
    ids=["not transformed", "noise", "a number that was never loaded", "another key", "another partition"],
)
def test_a_record_that_should_not_be_there_is_found(spoil: Callable[[Seen], Seen]) -> None:
    evidence = right()
    output = list(evidence.output)
    output[0] = spoil(output[0])
    assert UNEXPECTED in rules(check(with_output(evidence, output)))


def test_a_wrong_source_is_found() -> None:
    evidence = right()
    output = list(evidence.output)
    output[5] = output[5]._replace(source="input/0/999")
    assert rules(check(with_output(evidence, output))) == {SOURCE}


def test_two_records_of_a_key_in_the_wrong_order_are_found() -> None:
    evidence = right()
    output = list(evidence.output)
    one, other = output[0], output[HALF]
    assert one.key == other.key
    output[0] = one._replace(offset=other.offset)
    output[HALF] = other._replace(offset=one.offset)
    report = check(with_output(evidence, sorted(output)))
    assert rules(report) == {ORDER}


def test_a_doomed_record_among_the_committed_ones_is_an_aborted_read() -> None:
    evidence = right()
    leaked = [record for record in evidence.uncommitted if record.doomed]
    report = check(with_output(evidence, [*evidence.output, leaked[0]]))
    assert ABORTED in rules(report)


def test_a_record_of_a_transaction_that_was_aborted_for_an_error_is_an_aborted_read() -> None:
    """The abort was confirmed, so a commit that had failed before must not come to effect after all."""
    evidence = with_events(right(), (6, Event("aborted", 4.1, ["app0-life1/3", "ILLEGAL_GENERATION: …"])))
    report = check(evidence)
    assert rules(report) == {ABORTED}
    assert report.aborted_for_an_error == {"ILLEGAL_GENERATION": 1}


def test_a_record_of_a_transaction_that_was_never_asked_to_end_is_an_aborted_read() -> None:
    """Its producer was killed before it could ask for a commit."""
    assert rules(check(with_events(right(), (5, None), (6, None)))) == {ABORTED}


def test_a_record_of_a_transaction_that_was_asked_to_abort_is_an_aborted_read_without_an_answer_too() -> None:
    evidence = with_events(right(), (5, Event("ending", 4.0, ["app0-life1/3", HALF, "abort"])), (6, None))
    assert rules(check(evidence)) == {ABORTED}


def test_an_untold_outcome_may_be_a_commit() -> None:
    report = check(with_events(right(), (6, None)))
    assert report.violations == []
    assert (report.committed, report.outcome_unknown, report.unknown_and_committed) == (1, 1, 1)


def test_a_transaction_of_untold_outcome_that_is_there_in_part_is_torn() -> None:
    evidence = with_events(right(), (6, None))
    assert rules(check(with_output(evidence, list(evidence.output)[:-1]))) == {MISSING, ALL_OR_NOTHING}


def test_a_commit_behind_the_back_of_a_successor_is_found() -> None:
    """KIP-98: after InitProducerId was answered to the new producer, the old one's EndTxn is fenced."""
    evidence = right()
    successor = Life("app0-life2", "transform-0", [Event("ready", 3.5)])
    assert rules(check(replace(evidence, lives=[*evidence.lives, successor]))) == {FENCED}


@pytest.mark.parametrize(
    "other",
    [
        Life("app0-life2", "transform-0", [Event("ready", 4.05)]),
        Life("app0-life0", "transform-0", [Event("ready", 0.5)]),
        Life("app1-life1", "transform-1", [Event("ready", 3.5)]),
    ],
    ids=["ready while the commit was under way", "a predecessor", "another transactional id"],
)
def test_what_fences_nobody_is_no_violation(other: Life) -> None:
    evidence = right()
    assert check(replace(evidence, lives=[*evidence.lives, other])).violations == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda seen: seen[1:],
        lambda seen: [*seen, seen[-1]._replace(offset=10**6)],
        lambda seen: [seen[0]._replace(value="other"), *seen[1:]],
        lambda seen: [*seen, seen[0]],
    ],
    ids=["missed one", "saw one that is gone", "saw another", "was given one again"],
)
def test_a_follower_that_saw_something_else_is_found(spoil: Callable[[list[Seen]], list[Seen]]) -> None:
    evidence = right()
    evidence = replace(evidence, followed={"follower": spoil(list(evidence.output))})
    assert rules(check(evidence)) == {SAME_VIEW}


@pytest.mark.parametrize(
    "offset", [None, RECORDS // PARTITIONS - 1, RECORDS // PARTITIONS + 1], ids=["none", "behind", "ahead"]
)
def test_a_group_that_does_not_stand_at_the_end_of_the_input_is_found(offset: int | None) -> None:
    evidence = right()
    committed = {partition: at for partition, at in evidence.committed.items() if partition != 2}
    if offset is not None:
        committed[2] = offset
    assert rules(check(replace(evidence, committed=committed))) == {OFFSETS}


def test_a_group_may_stand_before_the_mark_at_the_end_of_a_partition() -> None:
    """A consumer's position is behind the last record it was given, and a mark is never given."""
    evidence = right()
    end = evidence.ends["input-3"].end + 1
    assert check(replace(evidence, ends={**evidence.ends, "input-3": Ends(end, end)})).violations == []


def test_a_transaction_that_nobody_ends_is_found() -> None:
    evidence = right()
    end = evidence.ends["output-1"].end
    assert rules(check(replace(evidence, ends={**evidence.ends, "output-1": Ends(end - 3, end)}))) == {
        HANGING
    }


def test_an_abort_that_left_no_trace_proves_nothing() -> None:
    """Aborted records that never reached the log show nothing about readers of committed ones."""
    evidence = right()
    assert rules(check(replace(evidence, uncommitted=evidence.output))) == {REAL_ABORTS}


def test_a_committed_record_that_a_reader_of_everything_does_not_see_is_found() -> None:
    evidence = right()
    assert rules(check(replace(evidence, uncommitted=list(evidence.uncommitted)[1:]))) == {REAL_ABORTS}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda seen: seen[:-1],
        lambda seen: [*seen, seen[0]._replace(offset=10**6)],
        lambda seen: [seen[0]._replace(value="noise"), *seen[1:]],
        lambda seen: [seen[0]._replace(doomed=True), *seen[1:]],
        lambda seen: [seen[0]._replace(offset=10**6), *seen[1:]],
    ],
    ids=["one missing", "one twice", "noise", "an aborted one", "out of order"],
)
def test_an_input_that_is_not_right_is_found(spoil: Callable[[list[Seen]], list[Seen]]) -> None:
    """Without that an error of a loader would look like one of the application, or hide one."""
    assert INPUT_RIGHT in rules(check(replace(right(), loaded=spoil(loaded()))))


# --- what the checker stands on ---------------------------------------------------------------------------


def test_every_input_partition_feeds_every_output_partition_and_every_key_stays_in_one() -> None:
    pairs = {(input_partition_of(number), output_partition_of(key_of(number))) for number in range(KEYS)}
    assert len(pairs) == PARTITIONS * PARTITIONS
    assert all(input_partition_of(number) == number % PARTITIONS for number in range(3 * KEYS))


@pytest.mark.parametrize("text", ["", "record", "record x", "record -1 a", "other 1", "record ²"])
def test_what_claims_no_number_has_none(text: str) -> None:
    assert number_in(text) is None


def test_a_number_is_found_in_its_value_and_in_what_the_transformation_makes_of_it() -> None:
    assert number_in(value_of(17)) == number_in(transform(value_of(17))) == 17


def test_a_follower_goes_on_behind_the_last_whole_line_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "seen"
    assert next_offsets(path) == [0] * PARTITIONS
    records = [
        Seen(0, 4, "key-0", "a", "input/0/0", "app/1"),
        Seen(2, 9, "key-8", "b", "input/0/2", "app/1", True),
    ]
    whole = "".join(record.line() for record in records)
    path.write_text(whole + Seen(2, 10, "key-8", "c").line()[:-5])
    assert read_file(path) == records
    assert next_offsets(path) == [5, 0, 10, 0]
    assert path.read_text() == whole


def test_a_loader_goes_on_in_the_partition_that_is_behind() -> None:
    pace = Pace({"records": 12, "partitions": [0, 1], "rate": None}, [8, 1])
    assert pace.due() == [(1, 1), (1, 5), (0, 8), (1, 9)]
    assert (pace.loaded(), pace.over) == (2, False)
    for partition, number in pace.due():
        pace.sent(partition, number)
    assert (pace.due(), pace.loaded(), pace.over) == ([], 6, True)
