"""The checker of the Kafka workload over histories made by hand: each class is found where it is planted,
and alone; lawful oddities (aborted gaps, rebalances, unknown outcomes) are not taken for one.
"""

from __future__ import annotations

import random
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import pytest

from chaos.kafka_workload.checker import CLASSES, CLIENTS_OWN_SKIP, FETCH_SKIP, UNSEEN, Report, check
from chaos.kafka_workload.fetch_audit import Gap, Jump, Refusal, WireFacts
from chaos.kafka_workload.history import (
    OFFSET_UNKNOWN,
    History,
    Isolation,
    Micro,
    Operation,
    Outcome,
    Poll,
    Reset,
    Send,
    load,
    load_wire,
)


class Script:
    """Writes a history in the order of its lines."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.wire = WireFacts()
        self._number = 0

    def _next(self) -> int:
        self._number += 1
        return self._number

    def stamp(self) -> int:
        return self._next()

    def send(self, process: str, *sends: tuple[int, int, int | None], outcome: Outcome = "ok") -> None:
        """Outside of a transaction: (key, value, offset)."""
        invoked = self._next()
        micros: list[Micro] = [Send(*each) for each in sends]
        self.operations.append(Operation(process, "send", outcome, micros, invoked, self._next()))

    def begin(self, process: str, *sends: tuple[int, int, int | None], group: str = "") -> Operation:
        micros: list[Micro] = [Send(*each) for each in sends]
        operation = Operation(
            process,
            "txn",
            "info",
            micros,
            self._next(),
            0,
            isolation="committed",
            transactional=True,
            group=group,
        )
        self.operations.append(operation)
        return operation

    def end(self, operation: Operation, outcome: Outcome, *, asked: bool = True) -> None:
        if asked and outcome != "fail":
            operation.commit_at = self._next()
        operation.outcome = outcome
        operation.completed = self._next()

    def transact(
        self, process: str, *sends: tuple[int, int, int | None], outcome: Outcome = "ok", group: str = ""
    ) -> Operation:
        operation = self.begin(process, *sends, group=group)
        self.end(operation, outcome)
        return operation

    def poll_micro(self, key: int, *records: tuple[int, int]) -> Poll:
        return Poll([(key, [number for record in records for number in record])], self._next())

    def poll(
        self, process: str, key: int, *records: tuple[int, int], isolation: Isolation = "committed"
    ) -> None:
        """(offset, value) of one key."""
        invoked = self._next()
        micros: list[Micro] = [self.poll_micro(key, *records)]
        self.operations.append(
            Operation(process, "poll", "ok", micros, invoked, self._next(), isolation=isolation)
        )

    def reset(self, process: str, keys: list[int] | None = None) -> None:
        number = self._next()
        self.operations.append(Operation(process, "assign", "ok", [Reset(keys, "assign")], number, number))

    def final(self, isolation: Isolation, logs: Mapping[int, Sequence[tuple[int, int]]]) -> None:
        invoked = self._next()
        runs = [(key, [number for record in log for number in record]) for key, log in logs.items()]
        self.operations.append(
            Operation(
                f"final-{isolation}",
                "final",
                "ok",
                [Poll(runs, self._next())],
                invoked,
                self._next(),
                isolation=isolation,
                covers={key: log[-1][0] + 1 if log else 0 for key, log in logs.items()},
            )
        )

    def finals(self, logs: Mapping[int, Sequence[tuple[int, int]]], *, hidden: Collection[int] = ()) -> None:
        """Both final reads; the values in `hidden` were aborted."""
        self.final("uncommitted", logs)
        self.final(
            "committed",
            {key: [record for record in log if record[1] not in hidden] for key, log in logs.items()},
        )


def found(script: Script) -> dict[str, int]:
    return dict(check(script.operations, script.wire).counts)


# --- clean ------------------------------------------------------------------------------------------------


def clean() -> Script:
    """Two keys with plain, committed, aborted and unknown writes; marker offsets are gaps."""
    script = Script()
    script.send("sender", (0, 1, 0), (0, 2, 1), (1, 3, 0))
    script.transact("transactor", (0, 4, 2), (1, 5, 1))  # markers at 3 and 2
    script.transact("transactor", (0, 6, 4), outcome="fail")  # marker at 5
    script.transact("other", (0, 7, 6), (1, 8, 3), outcome="info")  # committed after all: markers at 7 and 4
    script.transact("other", (1, 9, 5), outcome="info")  # aborted after all: marker at 6
    script.send("sender", (0, 10, None), outcome="info")  # lost on its way
    script.send("sender", (0, 11, OFFSET_UNKNOWN), (1, 12, 7))  # at 8
    script.poll("committed", 0, (0, 1), (1, 2), (2, 4))
    script.poll("committed", 0, (6, 7), (8, 11))
    script.poll("uncommitted", 0, (0, 1), (1, 2), (2, 4), (4, 6), isolation="uncommitted")
    script.poll("uncommitted", 0, (6, 7), (8, 11), isolation="uncommitted")
    script.finals(
        {
            0: [(0, 1), (1, 2), (2, 4), (4, 6), (6, 7), (8, 11)],
            1: [(0, 3), (1, 5), (3, 8), (5, 9), (7, 12)],
        },
        hidden=[6, 9],
    )
    return script


def test_a_clean_history_has_no_anomaly_of_any_class() -> None:
    report = check(clean().operations)
    assert dict(report.counts) == {}
    assert report.valid
    assert report.transactions == {"ok": 1, "fail": 1, "info": 2}
    assert report.keys_decided == {"committed": 2, "uncommitted": 2}


def test_a_reader_may_go_back_and_forth_after_a_reset() -> None:
    script = clean()
    script.reset("committed")
    script.poll("committed", 0, (2, 4))
    script.reset("committed", [0])
    script.poll("committed", 0, (8, 11))
    assert found(script) == {}


def test_a_rebalance_within_an_operation_ends_only_the_places_of_its_keys() -> None:
    """Cooperative groups (KIP-429) go on reading what they keep."""
    script = clean()
    operation = Operation("member", "poll", "ok", [], 900, 904, isolation="committed")
    operation.micros = [
        script.poll_micro(0, (0, 1)),
        script.poll_micro(1, (0, 3)),
        Reset([0], "revoked"),
        script.poll_micro(0, (8, 11)),
        script.poll_micro(1, (7, 12)),
    ]
    script.operations.append(operation)
    assert found(script) == {"internal-poll-skip": 1}


def test_values_that_nobody_polled_are_unseen_and_no_error_before_a_final_read() -> None:
    script = Script()
    script.send("sender", (0, 1, 0))
    script.transact("transactor", (0, 2, 1))
    script.transact("transactor", (0, 3, 3), outcome="fail")
    report = check(script.operations)
    assert dict(report.counts) == {UNSEEN: 2}
    assert report.valid


# --- one anomaly each -------------------------------------------------------------------------------------


def lost_acknowledged() -> Script:
    script = clean()
    script.send("late", (2, 50, OFFSET_UNKNOWN))
    script.finals({2: []})
    return script


def lost_half_of_a_commit() -> Script:
    script = Script()
    script.transact("transactor", (0, 1, 0), (1, 2, 0))
    script.finals({0: [(0, 1)], 1: [(0, 2)]}, hidden=[2])
    return script


def lost_after_it_was_polled() -> Script:
    script = Script()
    script.send("sender", (0, 1, None), outcome="info")
    script.poll("reader", 0, (0, 1))
    script.finals({0: []})
    return script


def lost_from_the_log_though_aborted() -> Script:
    """What was appended stays in the log, also when its transaction is aborted."""
    script = Script()
    script.transact("transactor", (0, 1, 0), outcome="fail")
    script.send("sender", (0, 2, 2))
    script.finals({0: [(2, 2)]})
    return script


def duplicate() -> Script:
    script = Script()
    script.send("sender", (0, 1, 0), (0, 2, 2))
    script.finals({0: [(0, 1), (1, 1), (2, 2)]})
    return script


def two_values_at_one_offset() -> Script:
    script = Script()
    script.send("sender", (0, 1, 0))
    script.send("other", (0, 2, OFFSET_UNKNOWN))
    script.poll("reader", 0, (0, 2))
    script.finals({0: [(0, 1)]})
    return script


def one_value_at_two_offsets() -> Script:
    script = Script()
    script.send("sender", (0, 1, 7))
    script.finals({0: [(0, 1)]})
    return script


def two_acknowledged_at_one_offset() -> Script:
    script = Script()
    script.send("sender", (0, 1, 0))
    script.send("other", (0, 2, 0))
    return script


def aborted_read() -> Script:
    script = Script()
    script.transact("transactor", (0, 1, 0), outcome="fail")
    script.poll("reader", 0, (0, 1))
    return script


def aborted_read_in_the_end() -> Script:
    script = Script()
    script.transact("transactor", (0, 1, 0), outcome="fail")
    script.finals({0: [(0, 1)]})
    return script


def failed_send_read() -> Script:
    script = Script()
    script.send("sender", (0, 1, None), outcome="fail")
    script.poll("reader", 0, (0, 1), isolation="uncommitted")
    return script


def precommitted_read() -> Script:
    script = Script()
    operation = script.begin("transactor", (0, 1, 0))
    script.poll("reader", 0, (0, 1))
    script.end(operation, "ok")
    return script


def precommitted_read_of_its_own() -> Script:
    script = Script()
    operation = script.begin("transactor", (0, 1, 0))
    operation.micros.append(script.poll_micro(0, (0, 1)))
    script.end(operation, "ok")
    return script


def torn() -> Script:
    script = Script()
    script.transact("transactor", (0, 1, 0), (1, 2, 0), outcome="info")
    script.finals({0: [(0, 1)], 1: [(0, 2)]}, hidden=[2])
    return script


def polled(*polls: Sequence[tuple[int, int]], isolation: Isolation = "committed") -> Script:
    """A log of 0..4 with an aborted value at 2, and one reader's polls of it."""
    script = Script()
    script.send("sender", (0, 10, 0), (0, 11, 1))
    script.transact("transactor", (0, 12, 2), outcome="fail")
    script.send("sender", (0, 14, 4), (0, 15, 5))
    for each in polls:
        script.poll("reader", 0, *each, isolation=isolation)
    script.finals({0: [(0, 10), (1, 11), (2, 12), (4, 14), (5, 15)]}, hidden=[12])
    return script


def with_gap(script: Script, start: int, end: int) -> Script:
    script.wire.answers["reader", 0] += 1
    script.wire.gaps.append(Gap("reader", 0, 0, start, end, 16, 1))
    return script


def with_jump(script: Script, start: int, end: int, at: int = 9, client: str = "reader") -> Script:
    script.wire.answers[client, 0] += 1
    script.wire.jumps.append(Jump(client, 0, start, end, at))
    return script


def sent(*operations: Sequence[tuple[int, int, int | None]]) -> Script:
    script = Script()
    for sends in operations:
        script.send("sender", *sends)
    return script


def late_acknowledged_without_offset() -> Script:
    script = sent([(0, 1, OFFSET_UNKNOWN)], [(0, 2, 0)])
    script.finals({0: [(0, 2), (1, 1)]})
    return script


def repeated() -> Script:
    script = Script()
    script.send("sender", (0, 1, 0))
    for value in (2, 3):
        operation = script.begin(f"transactor-{value}", (1, value, value), group="group")
        operation.micros.insert(0, script.poll_micro(0, (0, 1)))
        script.end(operation, "ok")
    return script


def phantom() -> Script:
    script = Script()
    script.poll("reader", 0, (0, 1))
    return script


def phantom_of_another_key() -> Script:
    script = Script()
    script.send("sender", (0, 1, OFFSET_UNKNOWN))
    script.poll("reader", 1, (0, 1))
    return script


PLANTED = [
    (lost_acknowledged(), {"lost-write": 2, UNSEEN: 1}),
    (lost_half_of_a_commit(), {"lost-write": 1}),
    (lost_after_it_was_polled(), {"lost-write": 2}),
    (lost_from_the_log_though_aborted(), {"lost-write": 1}),
    (duplicate(), {"duplicate": 1}),
    (two_values_at_one_offset(), {"inconsistent-offsets": 1, "lost-write": 2}),
    (one_value_at_two_offsets(), {"inconsistent-offsets": 1}),
    (two_acknowledged_at_one_offset(), {"inconsistent-offsets": 1, UNSEEN: 2}),
    (aborted_read(), {"aborted-read": 1}),
    (aborted_read_in_the_end(), {"aborted-read": 1}),
    (failed_send_read(), {"aborted-read": 1}),
    (precommitted_read(), {"precommitted-read": 1}),
    (precommitted_read_of_its_own(), {"precommitted-read": 1}),
    (torn(), {"torn-transaction": 1}),
    (polled([(0, 10), (1, 11), (1, 11)]), {"internal-nonmonotonic-poll": 1}),
    (polled([(1, 11), (0, 10)]), {"internal-nonmonotonic-poll": 1}),
    (polled([(0, 10), (1, 11)], [(1, 11)]), {"external-nonmonotonic-poll": 1}),
    (polled([(0, 10), (4, 14)]), {"internal-poll-skip": 1}),
    (polled([(0, 10)], [(4, 14)]), {"external-poll-skip": 1}),
    (polled([(1, 11), (4, 14)], isolation="uncommitted"), {"internal-poll-skip": 1}),
    (polled([(1, 11)], [(4, 14)], isolation="committed"), {}),
    (with_gap(polled([(0, 10), (1, 11), (4, 14)]), 1, 3), {FETCH_SKIP: 1}),
    (with_gap(polled([(0, 10)], [(4, 14)]), 1, 4), {FETCH_SKIP: 1, "external-poll-skip": 1}),
    (with_gap(polled([(0, 10), (1, 11), (4, 14)]), 3, 4), {}),
    (sent([(0, 1, 5), (0, 2, 4)]), {"internal-nonmonotonic-send": 1, UNSEEN: 2}),
    (sent([(0, 1, 5)], [(0, 2, 4)]), {"external-nonmonotonic-send": 1, UNSEEN: 2}),
    (late_acknowledged_without_offset(), {"external-nonmonotonic-send": 1}),
    (repeated(), {"repeated-consumption": 1, UNSEEN: 2}),
    (phantom(), {"phantom": 1}),
    (phantom_of_another_key(), {"phantom": 1}),
]


@pytest.mark.parametrize(
    ("script", "expected"), PLANTED, ids=[f"{n}-{[*e]}" for n, (_, e) in enumerate(PLANTED)]
)
def test_each_class_is_found_where_it_is_planted(script: Script, expected: dict[str, int]) -> None:
    assert found(script) == expected


def test_every_class_of_anomaly_is_among_the_planted_ones() -> None:
    assert {name for _, expected in PLANTED for name in expected} == set(CLASSES)


def test_a_value_of_an_unknown_transaction_counts_once_a_committed_reader_saw_part_of_it() -> None:
    """Commits are atomic: who saw one value of it may not step over another."""
    script = Script()
    script.transact("transactor", (0, 1, 0), (0, 2, 1), outcome="info")
    script.send("sender", (0, 3, 3))
    script.poll("first", 0, (0, 1), (1, 2))
    script.poll("second", 0, (0, 1), (3, 3))
    assert found(script) == {"internal-poll-skip": 1}


def test_a_commit_that_was_asked_for_may_be_seen_before_it_is_answered() -> None:
    script = Script()
    operation = script.begin("transactor", (0, 1, 0))
    operation.commit_at = 10
    operation.completed = 20
    operation.outcome = "ok"
    reader = Operation("reader", "poll", "ok", [Poll([(0, [0, 1])], 15)], 11, 16, isolation="committed")
    script.operations.append(reader)
    assert found(script) == {}


# --- the wire ---------------------------------------------------------------------------------------------


def skipping() -> Script:
    """The reader's polls are the operations 7 to 12; between them it steps over 1."""
    return polled([(0, 10)], [(4, 14)])


def test_a_skip_is_the_clients_own_when_it_asked_for_a_later_offset_by_itself() -> None:
    """librdkafka's issue 5345 and its kin: the broker was never asked for what was skipped."""
    script = with_jump(skipping(), 1, 4)
    report = check(script.operations, script.wire)
    assert dict(report.counts) == {CLIENTS_OWN_SKIP: 1}
    assert report.valid
    assert "given all before 1, it asked for 4 (at 9" in report.examples[CLIENTS_OWN_SKIP][0]


@pytest.mark.parametrize(
    "script",
    [
        with_jump(skipping(), 2, 4),  # 1 was given to the client
        with_jump(skipping(), 1, 4, at=1_000),  # it asked only later
        with_jump(skipping(), 1, 4, client="another"),
        with_jump(skipping(), 4, 5),
    ],
)
def test_a_skip_that_the_wire_does_not_explain_is_an_error(script: Script) -> None:
    assert found(script) == {"external-poll-skip": 1}


def test_a_skip_after_a_fetch_with_an_error_or_with_a_hole_is_no_clients_own() -> None:
    script = with_jump(skipping(), 1, 4)
    script.wire.refusals.append(Refusal("reader", 0, 1, 8))
    assert found(script) == {"external-poll-skip": 1}
    assert found(with_gap(with_jump(skipping(), 1, 4), 1, 4)) == {FETCH_SKIP: 1, "external-poll-skip": 1}


def test_a_jump_that_a_reset_has_asked_for_explains_no_later_skip() -> None:
    script = Script()
    script.send("sender", (0, 10, 0), (0, 11, 1), (0, 12, 2))
    at = script.stamp()
    script.reset("reader")
    script.poll("reader", 0, (0, 10))
    script.poll("reader", 0, (2, 12))
    script.finals({0: [(0, 10), (1, 11), (2, 12)]})
    assert found(with_jump(script, 1, 2, at=at)) == {"external-poll-skip": 1}


def test_a_reader_whose_fetches_nobody_saw_is_told() -> None:
    script = with_jump(skipping(), 1, 4, client="another")
    report = check(script.operations, script.wire)
    assert ("reader", 0) in report.unfollowed and ("another", 0) not in report.unfollowed


# --- the file, and time -----------------------------------------------------------------------------------


def test_a_history_file_says_what_the_history_said_and_what_never_ended_is_unknown(tmp_path: Path) -> None:
    history = History(tmp_path / "history.jsonl")
    sending = history.invoke("sender", "send", [Send(0, 1)])
    sending.micros = [Send(0, 1, 0)]
    history.complete(sending, "ok")
    history.note("kill")
    committing = history.invoke("transactor", "txn", [Send(0, 2)], transactional=True, group="group")
    committing.commit_at = history.stamp()
    history.complete(committing, "info", "timed out")
    reading = history.invoke("final", "final", isolation="committed")
    reading.micros = [Poll([(0, [0, 1])], history.stamp()), Reset([0], "revoked")]
    reading.covers = {0: 1}
    history.complete(reading, "ok")
    history.invoke("crashed", "send", [Send(1, 3)])
    wire = WireFacts(gaps=[Gap("reader", 0, 0, 1, 2, 16, 9)])
    history.note_wire(wire.to_json())
    history.close()
    with (tmp_path / "history.jsonl").open() as lines:
        loaded = load(lines)
        lines.seek(0)
        facts = load_wire(lines)
    assert facts is not None and WireFacts.from_json(facts) == wire
    assert loaded[:3] == history.operations
    assert [(each.process, each.outcome, each.micros) for each in loaded[3:]] == [
        ("crashed", "info", [Send(1, 3)])
    ]


def large(records: int) -> list[Operation]:
    """Eight keys, half of the values in transactions of which a tenth is aborted, and six readers of
    everything.
    """
    choose = random.Random(1)
    script = Script()
    logs: dict[int, list[tuple[int, int]]] = {key: [] for key in range(8)}
    ends = dict.fromkeys(range(8), 0)
    hidden = set()
    for value in range(records):
        key = choose.randrange(8)
        offset = ends[key]
        logs[key].append((offset, value))
        if value % 2:
            script.send("sender", (key, value, offset))
            ends[key] += 1
        else:
            is_aborted = choose.random() < 0.1
            script.transact("transactor", (key, value, offset), outcome="fail" if is_aborted else "ok")
            if is_aborted:
                hidden.add(value)
            ends[key] += 2
    for reader in range(6):
        isolation: Isolation = "committed" if reader % 2 else "uncommitted"
        for key, log in logs.items():
            shown = [record for record in log if isolation == "uncommitted" or record[1] not in hidden]
            for at in range(0, len(shown), 100):
                script.poll(f"reader-{reader}", key, *shown[at : at + 100], isolation=isolation)
    script.finals(logs, hidden=hidden)
    return script.operations


def test_the_time_of_a_check_grows_with_the_history_only() -> None:
    """Twenty minutes are some 300,000 records, polled eight times; a minute is allowed for them."""
    sizes = (5_000, 40_000)
    reports: list[Report] = []
    times_s = []
    for size in sizes:
        operations = large(size)
        began_s = time.process_time()
        reports.append(check(operations))
        times_s.append(time.process_time() - began_s)
    assert all(not report.counts for report in reports)
    assert times_s[1] < 60 * sizes[1] / 300_000, times_s
