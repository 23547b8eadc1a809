"""Whether a run of consume-transform-produce was exactly once, going by what was read and what was told.

The input is the `Evidence`: both topics as read in the end, what followers had written down meanwhile, one
`Life` per process of the application (its events, see `ledger.py`), and offsets that were asked for from
outside. Which records there have to be follows from their number alone (`records.py`). The checker is pure.

**What must hold**

1. The input itself is right: every number once, in order, in its partition. (Loaders were killed, too.)
2. Nothing missing: every number is in the output, as a reader of committed records sees it.
3. Nothing twice.
4. Nothing unexpected: every record of the output is what the transformation makes of its number, in its
   partition.
5. Right source: each says the partition and offset at which its number lies in the input.
6. Order: the numbers of a key follow each other as in the input.
7. Nothing aborted is seen: no record that was marked as doomed, and none of a transaction that its
   application was told is aborted, or that was never asked to commit.
8. All or nothing: of a transaction that its application was told is committed all records are there, and of
   one whose outcome nobody was told all or none.
9. One producer per transactional id: nothing is committed that was asked to commit after a successor with the
   same transactional id was ready.
10. Everybody sees the same: what a follower wrote down while transactions were open, aborted and fenced is
    what is read in the end.
11. The group's offsets are those of the output: in the end they stand behind the last record of every input
    partition, and not behind its end.
12. No transaction is left hanging: the last stable offset of every partition is its end.
13. The aborts were real: a reader of uncommitted records sees everything that the other one sees, and doomed
    records besides, when a transaction was aborted on purpose.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from chaos.exactly_once.ledger import Event
from chaos.exactly_once.records import (
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

INPUT_RIGHT = "the input is right"
MISSING = "nothing missing"
TWICE = "nothing twice"
UNEXPECTED = "nothing unexpected"
SOURCE = "right source"
ORDER = "order within a key"
ABORTED = "nothing aborted is seen"
ALL_OR_NOTHING = "all or nothing"
FENCED = "one producer per transactional id"
SAME_VIEW = "everybody sees the same"
OFFSETS = "the group's offsets"
HANGING = "no transaction is left hanging"
REAL_ABORTS = "the aborts were real"


class Life(NamedTuple):
    """One process of the application."""

    name: str
    transactional_id: str
    events: Sequence[Event]


class Violation(NamedTuple):
    rule: str
    text: str


class Ends(NamedTuple):
    """Of a partition."""

    stable: int
    end: int


@dataclass
class Evidence:
    records: int
    loaded: Sequence[Seen]
    """The input, read_committed."""
    output: Sequence[Seen]
    """The output, read_committed."""
    uncommitted: Sequence[Seen]
    """The output, read_uncommitted."""
    followed: Mapping[str, Sequence[Seen]] = field(default_factory=dict)
    """What each follower wrote down."""
    lives: Sequence[Life] = ()
    committed: Mapping[int, int] = field(default_factory=dict)
    """The group's offset of each input partition."""
    ends: Mapping[str, Ends] = field(default_factory=dict)
    """Of every partition of the topics that take part, by `topic-partition`."""


@dataclass
class Transaction:
    name: str
    life: Life
    records: int | None = None
    """None until it was asked to end."""
    asked: str = ""
    asked_at_s: float = 0.0
    told: str = ""
    """`committed`, `aborted`, or nothing: its outcome was never told."""
    reason: str = ""


@dataclass
class Report:
    violations: list[Violation] = field(default_factory=list)
    output: int = 0
    uncommitted: int = 0
    committed: int = 0
    aborted_on_purpose: int = 0
    aborted_for_an_error: Counter[str] = field(default_factory=Counter)
    outcome_unknown: int = 0
    unknown_and_committed: int = 0

    def broken(self, rule: str, text: str) -> None:
        self.violations.append(Violation(rule, text))

    @property
    def aborted(self) -> int:
        return self.aborted_on_purpose + self.aborted_for_an_error.total()


def check(evidence: Evidence) -> Report:
    report = Report(output=len(evidence.output), uncommitted=len(evidence.uncommitted))
    sources = _check_input(evidence, report)
    _check_output(evidence, sources, report)
    transactions = transactions_of(evidence.lives)
    _check_transactions(evidence, transactions, report)
    _check_fencing(evidence.lives, transactions, report)
    for name, followed in evidence.followed.items():
        _check_follower(name, followed, evidence.output, report)
    _check_uncommitted(evidence, transactions, report)
    _check_offsets(evidence, report)
    return report


def _check_input(evidence: Evidence, report: Report) -> dict[int, str]:
    """Returns where each number lies."""
    sources: dict[int, str] = {}
    expected = {partition: partition for partition in range(PARTITIONS)}
    for record in sorted(evidence.loaded, key=lambda each: (each.partition, each.offset)):
        where = source_of(record.partition, record.offset)
        number = number_in(record.value)
        if number is None or (record.key, record.value) != (key_of(number), value_of(number)):
            report.broken(INPUT_RIGHT, f"{where} holds {record.value!r} of {record.key}")
            continue
        if record.doomed:
            report.broken(INPUT_RIGHT, f"{where} holds number {number} of an aborted transaction")
        if number in sources:
            report.broken(INPUT_RIGHT, f"{where} holds number {number}, which is at {sources[number]}, too")
            continue
        sources[number] = where
        if number != expected[record.partition]:
            report.broken(
                INPUT_RIGHT, f"{where} holds number {number} instead of {expected[record.partition]}"
            )
        expected[record.partition] = number + PARTITIONS
    absent = [number for number in range(evidence.records) if number not in sources]
    if absent:
        report.broken(INPUT_RIGHT, f"{len(absent)} numbers are not in the input: {_some(absent)}")
    return sources


def _check_output(evidence: Evidence, sources: Mapping[int, str], report: Report) -> None:
    at: dict[int, str] = {}
    last_of_key: dict[str, int] = {}
    for record in sorted(evidence.output, key=lambda each: (each.partition, each.offset)):
        where = f"output/{record.partition}/{record.offset}"
        number = number_in(record.value)
        if (
            number is None
            or not 0 <= number < evidence.records
            or record.value != transform(value_of(number))
            or record.key != key_of(number)
            or record.partition != output_partition_of(record.key)
        ):
            report.broken(UNEXPECTED, f"{where} holds {record.value!r} of {record.key}")
            continue
        if record.doomed:
            report.broken(
                ABORTED, f"{where} holds number {number} of a doomed transaction, {record.transaction}"
            )
        if number in at:
            report.broken(
                TWICE, f"{where} holds number {number} by {record.transaction}, which is at {at[number]}, too"
            )
            continue
        at[number] = f"{where} by {record.transaction}"
        if record.source != sources.get(number):
            report.broken(
                SOURCE,
                f"{where} says that number {number} is from {record.source}, not {sources.get(number)}",
            )
        if last_of_key.get(record.key, -1) > number:
            report.broken(
                ORDER, f"{where} holds number {number} after {last_of_key[record.key]} of {record.key}"
            )
        last_of_key[record.key] = number
    absent = [number for number in range(evidence.records) if number not in at]
    if absent:
        places = ", ".join(f"{number} of partition {input_partition_of(number)}" for number in absent[:5])
        report.broken(MISSING, f"{len(absent)} of {evidence.records} are not in the output: {places}")


def transactions_of(lives: Sequence[Life]) -> dict[str, Transaction]:
    """The transactions that were told of, by name."""
    found: dict[str, Transaction] = {}
    for life in lives:
        for event in life.events:
            if event.kind in ("ending", "committed", "aborted"):
                transaction = found.setdefault(event.data[0], Transaction(event.data[0], life))
                if event.kind == "ending":
                    _, transaction.records, transaction.asked = event.data
                    transaction.asked_at_s = event.at_s
                else:
                    transaction.told = event.kind
                    transaction.reason = str(event.data[1])
    return found


def _check_transactions(evidence: Evidence, transactions: Mapping[str, Transaction], report: Report) -> None:
    seen = Counter(record.transaction for record in evidence.output)
    for name, transaction in transactions.items():
        there = seen[name]
        if transaction.told == "committed":
            report.committed += 1
            if there != transaction.records:
                report.broken(
                    ALL_OR_NOTHING,
                    f"{there} of {transaction.records} records of {name} are there, it was committed",
                )
        elif transaction.told == "aborted":
            if transaction.asked == "abort" and transaction.reason == "on purpose":
                report.aborted_on_purpose += 1
            else:
                report.aborted_for_an_error[transaction.reason.partition(":")[0]] += 1
            if there:
                report.broken(
                    ABORTED, f"{there} records of {name} are there, it was aborted: {transaction.reason}"
                )
        elif transaction.asked == "abort":
            report.outcome_unknown += 1
            if there:
                report.broken(ABORTED, f"{there} records of {name} are there, it was only asked to abort")
        else:
            report.outcome_unknown += 1
            report.unknown_and_committed += there > 0
            if there not in (0, transaction.records):
                report.broken(
                    ALL_OR_NOTHING,
                    f"{there} of {transaction.records} records of {name} are there, its outcome is untold",
                )
    for name in seen.keys() - transactions.keys():
        report.broken(ABORTED, f"{seen[name]} records of {name} are there, which was never asked to end")


def _check_fencing(lives: Sequence[Life], transactions: Mapping[str, Transaction], report: Report) -> None:
    ready: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for life in lives:
        for event in life.events:
            if event.kind == "ready":
                ready[life.transactional_id].append((event.at_s, life.name))
    own = {name: at_s for each in ready.values() for at_s, name in each}
    for transaction in transactions.values():
        if transaction.told != "committed":
            continue
        life = transaction.life
        for at_s, name in ready[life.transactional_id]:
            if own.get(life.name, at_s) < at_s < transaction.asked_at_s:
                report.broken(
                    FENCED,
                    f"{transaction.name} was asked to commit {transaction.asked_at_s - at_s:.3f} s after "
                    f"{name} was ready with the same transactional id, and was committed",
                )
                break


def _check_follower(name: str, followed: Sequence[Seen], output: Sequence[Seen], report: Report) -> None:
    last = [-1] * PARTITIONS
    for record in followed:
        if record.offset <= last[record.partition]:
            report.broken(
                SAME_VIEW,
                f"{name} was given offset {record.offset} of partition {record.partition} after "
                f"{last[record.partition]}",
            )
        last[record.partition] = record.offset
    mine = {(record.partition, record.offset): record for record in followed}
    final = {(record.partition, record.offset): record for record in output}
    for what, places in (
        ("saw what nobody can read any more", [place for place in mine if place not in final]),
        ("never saw", [place for place in final if place not in mine]),
        ("saw another record", [place for place in mine if place in final and mine[place] != final[place]]),
    ):
        if places:
            report.broken(SAME_VIEW, f"{name} {what}: {len(places)} places, {_some(sorted(places))}")


def _check_uncommitted(evidence: Evidence, transactions: Mapping[str, Transaction], report: Report) -> None:
    all_places = {(record.partition, record.offset) for record in evidence.uncommitted}
    hidden = [record for record in evidence.output if (record.partition, record.offset) not in all_places]
    if hidden:
        report.broken(REAL_ABORTS, f"{len(hidden)} committed records are not seen by a reader of everything")
    on_purpose = [
        each.name for each in transactions.values() if each.told == "aborted" and each.reason == "on purpose"
    ]
    doomed = {record.transaction for record in evidence.uncommitted if record.doomed}
    unseen = [name for name in on_purpose if name not in doomed]
    if unseen:
        report.broken(
            REAL_ABORTS,
            f"{len(unseen)} of {len(on_purpose)} transactions aborted on purpose left no record: "
            f"{_some(unseen)}",
        )


def _check_offsets(evidence: Evidence, report: Report) -> None:
    last = dict.fromkeys(range(PARTITIONS), -1)
    for record in evidence.loaded:
        last[record.partition] = max(last[record.partition], record.offset)
    for partition, offset in last.items():
        end = evidence.ends[f"input-{partition}"].end
        committed = evidence.committed.get(partition, -1)
        # Behind the last record there may be only the marks of transactions: they take offsets, too.
        if not offset < committed <= end:
            report.broken(
                OFFSETS,
                f"the group stands at {committed} of input-{partition}, last record {offset}, end {end}",
            )
    for name, ends in evidence.ends.items():
        if ends.stable != ends.end:
            report.broken(HANGING, f"{name} is stable up to {ends.stable} and ends at {ends.end}")


def _some(things: Sequence[object]) -> str:
    return ", ".join(map(str, things[:5])) + (" …" if len(things) > 5 else "")
