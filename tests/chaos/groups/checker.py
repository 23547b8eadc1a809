"""Whether a consumer group kept its promises, going by what its members told.

The input is one `Life` per process (its events, see `support/group_members/ledger.py`, and the moment of its
kill, if it was killed), the number of records produced to each partition, and samples of the committed
offsets that an admin client took from outside. All times are of one clock. The checker is pure.

**Who owns a partition, from when to when.** A *tenure* of a process on a partition begins with its
`assigned` event and ends with the first of: its `revoked` or `lost` event, its `closing` event (it processes
nothing after that), its kill, its end. The events are told from inside the client's callbacks, before the
client goes on: a revocation is told before the coordinator hears of it, an assignment after the coordinator
gave it. So tenures of a correct group follow each other without overlap, with one exception that nobody can
see from outside at once: a member that the coordinator *expelled*, because it heard nothing of it for its
session timeout, and that has not noticed yet. What is observable of an expulsion is silence: a commit that
was confirmed proves that the coordinator held its sender for a member at some moment after it was begun.
Therefore, when a tenure B begins within a tenure A of another process,

- a confirmed commit of A's process that was begun after B's beginning proves two owners;
- so does a last proof of A (a commit that was confirmed, or A's beginning) less than half of the session
  timeout before B's beginning: the coordinator had no ground to expel A yet (half, because with the KIP-848
  protocol heartbeats and not commits keep a member in);
- otherwise A was expelled, and counts as the owner until B's beginning. What it still processes after that is
  neither a delivery nor a redelivery: the coordinator could not prevent it.

A member that is cut off by a restart of the broker keeps its tenure: sessions outlive the broker.

**What must hold**

1. One owner at a time: tenures of a partition are disjoint, in the sense above; nothing is processed outside
   of a tenure.
2. Nothing skipped: within a tenure offsets follow each other; in the end all records have been delivered and
   nothing else.
3. Redelivery only from the last commit: a tenure begins at the committed offset. That is the highest one
   confirmed before it began, or one that was tried and whose answer nobody saw (its sender or the broker was
   killed, or a retry was refused after the first try had been taken).
4. Committed offsets never go back: not between confirmed commits, of which one was begun after the other was
   confirmed, not between samples, and a sample is never behind a commit confirmed before it (that one would
   have been lost) nor ahead of all commits tried.
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from support.group_members.ledger import Label
from support.group_members.process import Event


class Life(NamedTuple):
    """One process of a member."""

    name: str
    events: Sequence[Event]
    killed_at_s: float | None = None


class Sample(NamedTuple):
    """Committed offsets as asked from outside between two moments."""

    asked_at_s: float
    answered_at_s: float
    offsets: Mapping[Label, int]


class Violation(NamedTuple):
    rule: str
    text: str


class Attempt(NamedTuple):
    """A commit of one partition; without an end its outcome is unknown."""

    begun_at_s: float
    confirmed_at_s: float | None
    offset: int
    by: str


class Delivery(NamedTuple):
    at_s: float
    first: int
    last: int


@dataclass
class Tenure:
    life: Life
    partition: Label
    from_s: float
    to_s: float = float("inf")
    deliveries: list[Delivery] = field(default_factory=list)
    expelled: bool = False


@dataclass
class Report:
    violations: list[Violation] = field(default_factory=list)
    tenures: int = 0
    assignments: int = 0
    delivered: int = 0
    redelivered: int = 0
    commits: int = 0
    commits_unanswered_or_refused: int = 0
    lost: int = 0
    expelled: int = 0
    samples: int = 0

    def broken(self, rule: str, text: str) -> None:
        self.violations.append(Violation(rule, text))


ONE_OWNER = "one owner at a time"
NOTHING_SKIPPED = "nothing skipped"
FROM_LAST_COMMIT = "redelivery only from the last commit"
NEVER_BACK = "committed offsets never go back"


def check(
    lives: Sequence[Life],
    produced: Mapping[Label, int],
    samples: Sequence[Sample] = (),
    *,
    session_s: float,
) -> Report:
    report = Report(samples=len(samples))
    tenures: dict[Label, list[Tenure]] = {partition: [] for partition in produced}
    attempts: dict[Label, list[Attempt]] = {partition: [] for partition in produced}
    proofs: dict[str, list[float]] = {}
    for life in lives:
        _read(life, tenures, attempts, proofs, report)
    for partition, count in produced.items():
        mine = sorted(tenures.get(partition, []), key=lambda tenure: tenure.from_s)
        tries = sorted(attempts.get(partition, []), key=lambda attempt: attempt.begun_at_s)
        report.tenures += len(mine)
        _check_owners(mine, proofs, session_s, report)
        _check_deliveries(partition, mine, tries, count, report)
        _check_commits(partition, tries, report)
        _check_samples(partition, tries, samples, report)
    for partition in tenures.keys() - produced.keys():
        report.broken(ONE_OWNER, f"partition {partition} was assigned and does not exist")
    return report


def _read(
    life: Life,
    tenures: dict[Label, list[Tenure]],
    attempts: dict[Label, list[Attempt]],
    proofs: dict[str, list[float]],
    report: Report,
) -> None:
    """Cuts a process's events into tenures and commits."""
    held: dict[Label, Tenure] = {}
    trying: tuple[float, dict[Label, int]] | None = None
    mine = proofs.setdefault(life.name, [])

    def end(partition: Label, at_s: float) -> None:
        if partition in held:
            held.pop(partition).to_s = at_s

    def give_up() -> None:
        nonlocal trying
        if trying is not None:
            begun_at_s, pairs = trying
            for partition, offset in pairs.items():
                attempts.setdefault(partition, []).append(Attempt(begun_at_s, None, offset, life.name))
            report.commits_unanswered_or_refused += 1
            trying = None

    for event in life.events:
        if event.kind == "assigned":
            report.assignments += 1
            for partition in event.partitions:
                end(partition, event.at_s)
                held[partition] = Tenure(life, partition, event.at_s)
                tenures.setdefault(partition, []).append(held[partition])
        elif event.kind in ("revoked", "lost"):
            report.lost += event.kind == "lost" and bool(event.data)
            for partition in event.partitions:
                end(partition, event.at_s)
        elif event.kind == "batch":
            for partition, first, last in event.data:
                if partition in held:
                    held[partition].deliveries.append(Delivery(event.at_s, first, last))
                else:
                    report.broken(
                        ONE_OWNER,
                        f"{life.name} processed {first} to {last} of partition {partition} "
                        f"at {event.at_s:.3f} without owning it",
                    )
        elif event.kind == "trying":
            give_up()
            trying = (event.at_s, event.pairs)
        elif event.kind == "committed" and trying is not None:
            begun_at_s, pairs = trying
            confirmed = event.pairs
            for partition, offset in pairs.items():
                at_s = event.at_s if confirmed.get(partition) == offset else None
                attempts.setdefault(partition, []).append(Attempt(begun_at_s, at_s, offset, life.name))
            trying = None
            if confirmed:
                report.commits += 1
                mine.append(begun_at_s)
        elif event.kind == "refused":
            give_up()
        elif event.kind in ("closing", "fatal"):
            for partition in list(held):
                end(partition, event.at_s)
    give_up()
    ended_at_s = life.killed_at_s
    if ended_at_s is None and life.events:
        ended_at_s = life.events[-1].at_s
    for partition in list(held):
        end(partition, ended_at_s or 0.0)


def _check_owners(
    tenures: list[Tenure], proofs: dict[str, list[float]], session_s: float, report: Report
) -> None:
    for number, later in enumerate(tenures):
        for earlier in tenures[:number]:
            if earlier.to_s <= later.from_s or earlier.life is later.life:
                continue
            mine = proofs[earlier.life.name]
            upto = bisect.bisect_right(mine, earlier.to_s)
            proved = [at_s for at_s in mine[:upto] if at_s >= earlier.from_s]
            last_s = max([at_s for at_s in proved if at_s <= later.from_s], default=earlier.from_s)
            where = (
                f"partition {later.partition}: {earlier.life.name} owns it from {earlier.from_s:.3f} to "
                f"{earlier.to_s:.3f}, {later.life.name} from {later.from_s:.3f}"
            )
            if proved and proved[-1] > later.from_s:
                report.broken(ONE_OWNER, f"{where}, and the first one's commit of {proved[-1]:.3f} was taken")
            elif later.from_s - last_s < session_s / 2:
                report.broken(
                    ONE_OWNER,
                    f"{where}, and the first one was heard of at {last_s:.3f}: no ground to expel it",
                )
            else:
                earlier.to_s = later.from_s
                earlier.expelled = True
                report.expelled += 1


def _check_deliveries(
    partition: Label, tenures: list[Tenure], tries: list[Attempt], count: int, report: Report
) -> None:
    ranges: list[tuple[int, int]] = []
    for tenure in tenures:
        expected: int | None = None
        for delivery in tenure.deliveries:
            if delivery.at_s > tenure.to_s:
                continue  # of an owner that was expelled and had not noticed
            who = f"partition {partition}: {tenure.life.name} at {delivery.at_s:.3f}"
            if expected is None:
                _check_beginning(who, tenure, delivery, tries, report)
            elif delivery.first > expected:
                report.broken(NOTHING_SKIPPED, f"{who} went from {expected} to {delivery.first}")
            elif delivery.first < expected:
                report.broken(
                    FROM_LAST_COMMIT, f"{who} went back from {expected} to {delivery.first} while it owned it"
                )
            expected = delivery.last + 1
            ranges.append((delivery.first, delivery.last))
    upto = 0
    for first, last in sorted(ranges):
        if first > upto:
            report.broken(NOTHING_SKIPPED, f"partition {partition}: {upto} to {first - 1} never delivered")
        report.redelivered += max(0, min(last + 1, upto) - first)
        upto = max(upto, last + 1)
        report.delivered += last + 1 - first
    if upto < count:
        report.broken(NOTHING_SKIPPED, f"partition {partition}: {upto} to {count - 1} never delivered")
    elif upto > count:
        report.broken(NOTHING_SKIPPED, f"partition {partition}: {upto} delivered, only {count} produced")


def _check_beginning(
    who: str, tenure: Tenure, delivery: Delivery, tries: list[Attempt], report: Report
) -> None:
    confirmed = [
        each.offset
        for each in tries
        if each.confirmed_at_s is not None and each.confirmed_at_s <= tenure.from_s
    ]
    committed = max(confirmed, default=0)
    unsure = sorted({e.offset for e in tries if e.begun_at_s <= delivery.at_s and e.offset > committed})
    if delivery.first < committed:
        report.broken(FROM_LAST_COMMIT, f"{who} began at {delivery.first}, {committed} was committed")
    elif delivery.first != committed and delivery.first not in unsure:
        report.broken(
            NOTHING_SKIPPED,
            f"{who} began at {delivery.first}, {committed} was committed (unanswered: {unsure[:10]})",
        )


def _check_commits(partition: Label, tries: list[Attempt], report: Report) -> None:
    """`tries` come in the order in which they were begun."""
    done = sorted((e.confirmed_at_s, e.offset, e.by) for e in tries if e.confirmed_at_s is not None)
    highest: list[tuple[float, int, str]] = []
    for at_s, offset, by in done:
        top = highest[-1] if highest else (0.0, -1, "")
        highest.append((at_s, offset, by) if offset >= top[1] else (at_s, top[1], top[2]))
    for each in tries:
        if each.confirmed_at_s is None:
            continue
        before = bisect.bisect_left(highest, (each.begun_at_s, -1, ""))
        if before and highest[before - 1][1] > each.offset:
            _, offset, by = highest[before - 1]
            report.broken(
                NEVER_BACK,
                f"partition {partition}: {each.by} committed {each.offset} at {each.begun_at_s:.3f}, "
                f"{by} had committed {offset}",
            )


def _check_samples(partition: Label, tries: list[Attempt], samples: Sequence[Sample], report: Report) -> None:
    confirmed = sorted((e.confirmed_at_s, e.offset) for e in tries if e.confirmed_at_s is not None)
    seen = taken = tried = 0
    committed = highest_tried = 0
    for sample in samples:
        offset = sample.offsets.get(partition, 0)
        while taken < len(confirmed) and confirmed[taken][0] < sample.asked_at_s:
            committed = max(committed, confirmed[taken][1])
            taken += 1
        while tried < len(tries) and tries[tried].begun_at_s <= sample.answered_at_s:
            highest_tried = max(highest_tried, tries[tried].offset)
            tried += 1
        at = f"partition {partition} at {sample.asked_at_s:.3f}: {offset} is committed"
        if offset < seen:
            report.broken(NEVER_BACK, f"{at}, it had been {seen}")
        if offset < committed:
            report.broken(NEVER_BACK, f"{at}, a member had been told {committed}")
        if offset > highest_tried:
            report.broken(NEVER_BACK, f"{at}, nobody had tried more than {highest_tried}")
        seen = max(seen, offset)
