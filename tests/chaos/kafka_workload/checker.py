"""What a history of sends and polls may not contain: a pure function from operations to anomalies.

Every value is sent once in a run, to one key, so what a reader sees names its writer. A value's place is the
offset at which it was polled, or else the one its acknowledgement told. The log of a key is then an order of
values, and so is what `read_committed` may see of it: the values whose transaction was committed, or that
were sent outside of one. A transaction that is `info` counts as committed once a committed reader saw any of
it.

The classes, in the words of Jepsen's Kafka workload where it has them:

* `lost-write`: a value that must be there is not in a final read that covers its key. Into committed reads
  belong values acknowledged outside of transactions, all of a transaction that is `ok`, and whatever a
  committed poll has shown; into uncommitted reads also all else that was acknowledged or ever polled.
* `duplicate`: one value was polled at two offsets of its key.
* `inconsistent-offsets`: two values have one offset, or the acknowledged offset of a value is not where it
  was polled.
* `aborted-read` (G1a): a committed poll shows a value of a transaction that is `fail`; or any poll a value
  whose send, outside of transactions, is `fail`.
* `precommitted-read`: a committed poll returned a value before its transaction's commit was asked for, or
  within the transaction itself.
* `torn-transaction` (as G1b): of an `info` transaction, the final committed reads show one value, and lack
  another that the final uncommitted reads have.
* `nonmonotonic-poll`: a reader is given an offset not above the one before, in one key, without a reset
  between. `internal-` when one operation holds both, `external-` when two following ones do.
* `poll-skip`: between two records that follow each other in a reader's polls of a key there is one that it
  had to be shown. `internal-` and `external-` likewise.
* `fetch-skip`: the broker answered a Fetch at an offset without a batch that lies at or behind it and before
  the last one of that answer, and a record is known to be there. The audit of the wire tells (`fetch_audit`);
  it is the broker's fault, whatever clients make of it.
* `nonmonotonic-send`: of two acknowledged sends of one producer to one key, the later has the smaller
  offset. `internal-` and `external-` likewise.
* `repeated-consumption`: two committed transactions of one consumer group (offsets sent within the
  transaction) both hold the same record.
* `phantom`: a poll shows a value that nobody sent to that key.
* `unseen`: a value that must be there and that no poll ever showed. Not an error in itself: readers may be
  behind. Once a final read covers the key it is a `lost-write`.

A `poll-skip` is the client's own where the wire proves it: the audit followed that client's fetches of that
key, no answer to them had a hole, and since the last reset that the history knows none was an error, and the
client asked for an offset beyond the skipped record, having been given nothing but what lies before it: the
broker was not asked for what was skipped. That is counted as `clients-own-poll-skip` and shown, and
is no error. (librdkafka 2.16 does it: while a ListOffsets for `assign(end)` is unanswered, the application
assigns an offset; the answer is dropped as outdated, but asked for again half a second later, and the reader
is put to the end. Its issue 5345 has the same with committed offsets.) A client that was given a record and
did not hand it out is not excused: the list of aborted transactions, which tells it to, is the broker's.

Time is linear in the history, besides a sort of each key's offsets and a bisection per gap.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from chaos.kafka_workload.fetch_audit import Jump, WireFacts
from chaos.kafka_workload.history import OFFSET_UNKNOWN, Isolation, Operation, Poll, Reset, Send

LOST_WRITE = "lost-write"
DUPLICATE = "duplicate"
INCONSISTENT_OFFSETS = "inconsistent-offsets"
ABORTED_READ = "aborted-read"
PRECOMMITTED_READ = "precommitted-read"
TORN_TRANSACTION = "torn-transaction"
NONMONOTONIC_POLL = "nonmonotonic-poll"
POLL_SKIP = "poll-skip"
FETCH_SKIP = "fetch-skip"
CLIENTS_OWN_SKIP = "clients-own-poll-skip"
NONMONOTONIC_SEND = "nonmonotonic-send"
REPEATED_CONSUMPTION = "repeated-consumption"
PHANTOM = "phantom"
UNSEEN = "unseen"

CLASSES = (
    LOST_WRITE,
    DUPLICATE,
    INCONSISTENT_OFFSETS,
    ABORTED_READ,
    PRECOMMITTED_READ,
    TORN_TRANSACTION,
    f"internal-{NONMONOTONIC_POLL}",
    f"external-{NONMONOTONIC_POLL}",
    f"internal-{POLL_SKIP}",
    f"external-{POLL_SKIP}",
    FETCH_SKIP,
    f"internal-{NONMONOTONIC_SEND}",
    f"external-{NONMONOTONIC_SEND}",
    REPEATED_CONSUMPTION,
    PHANTOM,
    UNSEEN,
)

# Counted and shown, and no errors.
HARMLESS = (UNSEEN, CLIENTS_OWN_SKIP)

EXAMPLES_KEPT = 20


@dataclass
class Report:
    """What was found, and what was looked at."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    operations: Counter[tuple[str, str]] = field(default_factory=Counter)
    values: int = 0
    values_acknowledged: int = 0
    records_polled: int = 0
    transactions: Counter[str] = field(default_factory=Counter)
    resets: Counter[str] = field(default_factory=Counter)
    keys_decided: dict[str, int] = field(default_factory=dict)
    fetches_followed: int = 0
    # Readers and keys that polled records of which the audit saw no fetch: then it proves nothing.
    unfollowed: list[tuple[str, int]] = field(default_factory=list)

    def add(self, name: str, example: str) -> None:
        self.counts[name] += 1
        if len(self.examples[name]) < EXAMPLES_KEPT:
            self.examples[name].append(example)

    @property
    def errors(self) -> dict[str, int]:
        return {name: count for name, count in self.counts.items() if name not in HARMLESS}

    @property
    def valid(self) -> bool:
        return not self.errors


def check(operations: Sequence[Operation], wire: WireFacts | None = None) -> Report:
    return _Check(operations, wire or WireFacts()).run()


class _Writer:
    """The send of a value."""

    __slots__ = ("operation", "key", "offset")

    def __init__(self, operation: Operation, key: int, offset: int | None) -> None:
        self.operation = operation
        self.key = key
        self.offset = offset

    @property
    def acknowledged(self) -> bool:
        return self.offset is not None

    @property
    def must_be_committed(self) -> bool:
        if self.operation.transactional:
            return self.operation.outcome == "ok"
        return self.acknowledged


class _Check:
    def __init__(self, operations: Sequence[Operation], wire: WireFacts) -> None:
        self.wire = wire
        self.jumps: dict[tuple[str, int], list[Jump]] = defaultdict(list)
        for jump in wire.jumps:
            self.jumps[jump.client, jump.key].append(jump)
        # Readers that were given answers with holes, by key, and when some got an error instead.
        self.misled = {(gap.client, gap.key) for gap in wire.gaps}
        self.refused: dict[tuple[str, int], list[int]] = defaultdict(list)
        for refusal in wire.refusals:
            self.refused[refusal.client, refusal.key].append(refusal.at)
        # A process does one thing after the other, so its operations are in its own order here.
        self.operations = sorted(operations, key=lambda each: each.invoked)
        self.report = Report()
        self.writers: dict[int, _Writer] = {}
        # value -> the offset at which it was first polled, and the others where there are any
        self.polled_at: dict[int, int] = {}
        self.polled_elsewhere: dict[int, set[int]] = {}
        # key -> offset -> value
        self.log: dict[int, dict[int, int]] = defaultdict(dict)
        # value -> the number of the first poll that showed it, and its operation
        self.committed_polls: dict[int, tuple[int, Operation]] = {}
        self.uncommitted_polls: set[int] = set()
        self.final: dict[Isolation, set[int]] = {"committed": set(), "uncommitted": set()}
        self.covered: dict[Isolation, set[int]] = {"committed": set(), "uncommitted": set()}
        # Transactions, by the number of their invocation, that a committed reader saw.
        self.shown_committed: set[int] = set()

    def run(self) -> Report:
        self._note_sends()
        self._note_polls()
        self._find_aborted_and_precommitted()
        self._find_misplaced()
        self._find_lost()
        self._find_torn()
        self._find_wrong_order_of_sends()
        self._find_wrong_order_of_polls()
        self._find_fetch_skips()
        self._find_repeated_consumption()
        self.report.fetches_followed = self.wire.answers.total()
        self.report.keys_decided = {name: len(keys) for name, keys in self.covered.items()}
        return self.report

    # --- what was said ------------------------------------------------------------------------------------

    def _note_sends(self) -> None:
        report = self.report
        for operation in self.operations:
            report.operations[operation.kind, operation.outcome] += 1
            if operation.transactional:
                report.transactions[operation.outcome] += 1
            for micro in operation.micros:
                if isinstance(micro, Send):
                    assert micro.value not in self.writers, f"value {micro.value} was sent twice by the test"
                    self.writers[micro.value] = _Writer(operation, micro.key, micro.offset)
                    report.values += 1
                    report.values_acknowledged += micro.offset is not None
                elif isinstance(micro, Reset):
                    report.resets[micro.why] += 1

    def _note_polls(self) -> None:
        report = self.report
        conflicts: set[tuple[int, int, int]] = set()
        for operation in self.operations:
            isolation = operation.isolation
            is_committed = isolation == "committed"
            if operation.covers:
                self.covered[isolation].update(operation.covers)
            for micro in operation.micros:
                if not isinstance(micro, Poll):
                    continue
                for key, flat in micro.runs:
                    log = self.log[key]
                    offsets, values = flat[::2], flat[1::2]
                    report.records_polled += len(values)
                    for offset, value in zip(offsets, values, strict=True):
                        if log.setdefault(offset, value) != value and (key, offset, value) not in conflicts:
                            conflicts.add((key, offset, value))
                            report.add(
                                INCONSISTENT_OFFSETS,
                                f"key {key} offset {offset}: value {log[offset]} and value {value}",
                            )
                        if self.polled_at.setdefault(value, offset) != offset:
                            self.polled_elsewhere.setdefault(value, set()).add(offset)
                    if is_committed:
                        for value in values:
                            seen = self.committed_polls.get(value)
                            if seen is None or micro.at < seen[0]:
                                self.committed_polls[value] = (micro.at, operation)
                    else:
                        self.uncommitted_polls.update(values)
                    if operation.covers:
                        self.final[isolation].update(values)
                    for value in values:
                        writer = self.writers.get(value)
                        if writer is None or writer.key != key:
                            report.add(PHANTOM, f"key {key}: value {value}, which nobody sent there")

    def _place(self, value: int) -> int | None:
        """Where the value is, as far as anybody knows."""
        offset = self.polled_at.get(value)
        if offset is None:
            offset = self.writers[value].offset
        return None if offset == OFFSET_UNKNOWN else offset

    # --- what may not be ----------------------------------------------------------------------------------

    def _find_aborted_and_precommitted(self) -> None:
        report = self.report
        for value, (at, reader) in self.committed_polls.items():
            writer = self.writers.get(value)
            if writer is None:
                continue
            operation = writer.operation
            if not operation.transactional:
                continue
            if operation.outcome == "fail":
                report.add(
                    ABORTED_READ,
                    f"key {writer.key}: value {value} of {_name(operation)}, which was aborted,"
                    f" was seen by {_name(reader)}",
                )
            else:
                self.shown_committed.add(operation.invoked)
            decided = operation.completed if operation.commit_at is None else operation.commit_at
            if at < decided or reader is operation:
                report.add(
                    PRECOMMITTED_READ,
                    f"key {writer.key}: value {value} of {_name(operation)} was seen by {_name(reader)}"
                    f" at {at}, the commit was asked for at {operation.commit_at}",
                )
        for value in self.polled_at:
            writer = self.writers.get(value)
            if writer is None or writer.operation.transactional or writer.operation.outcome != "fail":
                continue
            if not writer.acknowledged:
                report.add(ABORTED_READ, f"key {writer.key}: value {value}, whose send failed, was polled")

    def _find_misplaced(self) -> None:
        report = self.report
        acknowledged: dict[tuple[int, int], int] = {}
        for value, elsewhere in self.polled_elsewhere.items():
            offsets = sorted({self.polled_at[value], *elsewhere})
            report.add(DUPLICATE, f"value {value} is at offsets {offsets}")
        for value, writer in self.writers.items():
            told = writer.offset
            if told is None or told == OFFSET_UNKNOWN:
                continue
            polled = self.polled_at.get(value)
            if polled is not None and told != polled and told not in self.polled_elsewhere.get(value, ()):
                report.add(
                    INCONSISTENT_OFFSETS,
                    f"key {writer.key}: value {value} was acknowledged at {told} and polled at {polled}",
                )
            there = self.log[writer.key].get(told, value)
            other = acknowledged.setdefault((writer.key, told), value)
            if there != value and polled is None:
                report.add(
                    INCONSISTENT_OFFSETS,
                    f"key {writer.key} offset {told}: value {value} was acknowledged there,"
                    f" value {there} polled",
                )
            elif other != value:
                report.add(
                    INCONSISTENT_OFFSETS,
                    f"key {writer.key} offset {told}: values {other} and {value} were acknowledged there",
                )

    def _find_lost(self) -> None:
        report = self.report
        for value, writer in self.writers.items():
            is_aborted = writer.operation.transactional and writer.operation.outcome == "fail"
            was_shown = value in self.committed_polls and not is_aborted
            must_be_committed = writer.must_be_committed or was_shown
            must_be_there = must_be_committed or writer.acknowledged or value in self.polled_at
            required: tuple[tuple[Isolation, bool], ...] = (
                ("committed", must_be_committed),
                ("uncommitted", must_be_there),
            )
            for isolation, is_required in required:
                is_missing = value not in self.final[isolation]
                if is_required and is_missing and writer.key in self.covered[isolation]:
                    report.add(
                        LOST_WRITE,
                        f"key {writer.key}: value {value} of {_name(writer.operation)},"
                        f" acknowledged at {writer.offset}, is not in the final {isolation} read",
                    )
            if must_be_committed and value not in self.polled_at:
                report.add(UNSEEN, f"key {writer.key}: value {value}, acknowledged at {writer.offset}")

    def _find_torn(self) -> None:
        committed, uncommitted = self.final["committed"], self.final["uncommitted"]
        for operation in self.operations:
            if not operation.transactional or operation.outcome != "info":
                continue
            there = [
                micro.value
                for micro in operation.micros
                if isinstance(micro, Send)
                and micro.value in uncommitted
                and micro.key in self.covered["committed"]
            ]
            shown = [value for value in there if value in committed]
            if shown and len(shown) < len(there):
                hidden = sorted(set(there) - set(shown))
                self.report.add(
                    TORN_TRANSACTION, f"{_name(operation)}: {shown} are committed, {hidden} are not"
                )

    def _find_wrong_order_of_sends(self) -> None:
        last: dict[tuple[str, int], tuple[int, int, Operation]] = {}
        for operation in self.operations:
            for micro in operation.micros:
                if not isinstance(micro, Send) or micro.offset is None:
                    continue
                offset = self._place(micro.value)
                if offset is None:
                    continue
                before = last.get((operation.process, micro.key))
                if before is not None and offset <= before[0]:
                    where = "internal" if before[2] is operation else "external"
                    self.report.add(
                        f"{where}-{NONMONOTONIC_SEND}",
                        f"{operation.process} key {micro.key}: value {before[1]} at {before[0]},"
                        f" then value {micro.value} at {offset}",
                    )
                last[operation.process, micro.key] = (offset, micro.value, operation)

    def _visible(self) -> dict[tuple[Isolation, int], list[int]]:
        """For each isolation level and key the offsets that a reader may not step over."""
        visible: dict[tuple[Isolation, int], list[int]] = {}
        for key, log in self.log.items():
            known = dict(log)
            visible["uncommitted", key] = sorted(known)
            visible["committed", key] = sorted(
                offset for offset, value in known.items() if self._is_committed(value)
            )
        return visible

    def _is_committed(self, value: int) -> bool:
        writer = self.writers.get(value)
        if writer is None:
            return False
        operation = writer.operation
        if not operation.transactional:
            return True
        return operation.outcome == "ok" or (
            operation.outcome == "info" and operation.invoked in self.shown_committed
        )

    def _find_wrong_order_of_polls(self) -> None:
        # Acknowledged values that nobody polled belong into the order, too: readers stepped over them.
        for value, writer in self.writers.items():
            if value not in self.polled_at and writer.acknowledged:
                offset = self._place(value)
                if offset is not None:
                    self.log[writer.key].setdefault(offset, value)
        visible = self._visible()
        # process -> key -> (offset, number of the operation)
        places: dict[str, dict[int, tuple[int, int]]] = defaultdict(dict)
        readers: set[tuple[str, int]] = set()
        # process -> the number of the operation with its last reset
        resets: dict[str, int] = {}
        for operation in self.operations:
            place = places[operation.process]
            for micro in operation.micros:
                if isinstance(micro, Reset):
                    resets[operation.process] = operation.invoked
                    if micro.keys is None:
                        place.clear()
                    else:
                        for key in micro.keys:
                            place.pop(key, None)
                elif isinstance(micro, Poll):
                    for key, flat in micro.runs:
                        readers.add((operation.process, key))
                        self._walk(operation, key, flat, place, visible, resets.get(operation.process, 0))

        self.report.unfollowed = sorted(readers - self.wire.answers.keys())

    def _walk(
        self,
        operation: Operation,
        key: int,
        flat: list[int],
        place: dict[int, tuple[int, int]],
        visible: dict[tuple[Isolation, int], list[int]],
        reset_at: int,
    ) -> None:
        report = self.report
        number = operation.invoked
        before, before_number = place.get(key, (-1, -1))
        must_see = visible.get((operation.isolation, key), [])
        for offset in flat[::2]:
            # Offsets in a row need no look at the order.
            if offset != before + 1 and before_number != -1:
                where = "internal" if before_number == number else "external"
                text = f"{_name(operation)} ({operation.isolation}) key {key}: offset {before}, then {offset}"
                if offset <= before:
                    report.add(f"{where}-{NONMONOTONIC_POLL}", text)
                else:
                    following = bisect_right(must_see, before)
                    if following < len(must_see) and must_see[following] < offset:
                        skipped = must_see[following]
                        jump = self._own_jump(operation, key, skipped, reset_at)
                        told = f"{text}, over {skipped} (value {self.log[key][skipped]})"
                        if jump is None:
                            seen = self.wire.answers[operation.process, key]
                            report.add(f"{where}-{POLL_SKIP}", f"{told}; {seen} of its fetches were followed")
                        else:
                            report.add(
                                CLIENTS_OWN_SKIP,
                                f"{told}; given all before {jump.start}, it asked for {jump.end}"
                                f" (at {jump.at}, the last reset was at {reset_at})",
                            )
            before, before_number = offset, number
        if flat:
            place[key] = (before, before_number)

    def _own_jump(self, operation: Operation, key: int, skipped: int, reset_at: int) -> Jump | None:
        """The step over the skipped record that the client took without being told to."""
        place = (operation.process, key)
        if place in self.misled or not self.wire.answers[place]:
            return None
        if any(reset_at < at <= operation.completed for at in self.refused[place]):
            return None
        for jump in self.jumps[place]:
            if jump.start <= skipped < jump.end and reset_at < jump.at <= operation.completed:
                return jump
        return None

    def _find_fetch_skips(self) -> None:
        offsets = {key: sorted(log) for key, log in self.log.items()}
        for gap in self.wire.gaps:
            there = offsets.get(gap.key, [])
            first = bisect_left(there, gap.start)
            if first < len(there) and there[first] < gap.end:
                value = self.log[gap.key][there[first]]
                self.report.add(FETCH_SKIP, f"{gap}, where {there[first]} (value {value}) is")

    def _find_repeated_consumption(self) -> None:
        consumed: dict[tuple[str, int], dict[int, Operation]] = defaultdict(dict)
        for operation in self.operations:
            if not operation.group or not operation.transactional or operation.outcome != "ok":
                continue
            for micro in operation.micros:
                if not isinstance(micro, Poll):
                    continue
                for key, offset, _value in micro.records():
                    other = consumed[operation.group, key].setdefault(offset, operation)
                    if other is not operation:
                        self.report.add(
                            REPEATED_CONSUMPTION,
                            f"group {operation.group} key {key} offset {offset}:"
                            f" {_name(other)} and {_name(operation)}",
                        )


def _name(operation: Operation) -> str:
    return f"{operation.process}'s {operation.kind} {operation.invoked}"
