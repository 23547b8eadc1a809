"""What clients under simulation were promised and saw, compared at the end with what the logs hold.

Nothing here believes the client: the truth of a partition is read from the broker's log itself, batch by
batch, and markers decide which records count. Then

- what was acknowledged is there, at the offset of its acknowledgement; nothing is there twice, nothing that
  nobody sent, and each writer's records are in the order in which it gave them;
- a transaction that was committed is there as a whole, one that was aborted does not count, one of which its
  client never heard the end is one or the other;
- a reader was given what is in the log, at its offset, nothing aborted under read_committed, and between two
  records in a row nothing was left out, unless it moved in between;
- a group was given nothing before everything that lies below it, and has committed nothing that no member
  was given;
- a pipeline has transformed each record of its input exactly once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import Enum, auto
from typing import NamedTuple

from ottla.log.log import Log
from ottla.log.segment import marker_in
from ottla.model.types import TopicPartition
from ottla.testing.ledger import Violation
from ottla.testing.txn_checker import batches_of


class Status(Enum):
    PLAIN = auto()
    OPEN = auto()
    COMMITTED = auto()
    ABORTED = auto()


class Stored(NamedTuple):
    offset: int
    key: bytes | None
    value: bytes
    status: Status

    @property
    def counts(self) -> bool:
        return self.status is Status.PLAIN or self.status is Status.COMMITTED


Truth = dict[TopicPartition, list[Stored]]


def truth_of(log: Log) -> list[Stored]:
    """All records of a log, and whether their transactions were committed."""
    found: list[Stored] = []
    open_at: dict[int, list[int]] = {}
    for batch in batches_of(log, 0):
        header = batch.header
        if header.is_control:
            marker = marker_in(batch.data, batch.at)
            if marker is not None:
                status = Status.COMMITTED if marker.committed else Status.ABORTED
                for index in open_at.pop(header.producer_id, ()):
                    found[index] = found[index]._replace(status=status)
            continue
        for record in batch.records():
            if header.is_transactional:
                open_at.setdefault(header.producer_id, []).append(len(found))
            status = Status.OPEN if header.is_transactional else Status.PLAIN
            value = b"" if record.value is None else bytes(record.value)
            key = None if record.key is None else bytes(record.key)
            found.append(Stored(record.offset, key, value, status))
    return found


class Outcome(Enum):
    OPEN = auto()
    UNKNOWN = auto()
    COMMITTED = auto()
    ABORTED = auto()


class Transaction:
    """One transaction, as its client sees it."""

    __slots__ = ("name", "records", "outcome")

    def __init__(self, name: str) -> None:
        self.name = name
        self.records: list[tuple[TopicPartition, bytes]] = []
        self.outcome = Outcome.OPEN


class Given(NamedTuple):
    tp: TopicPartition
    offset: int
    value: bytes
    moved: bool
    """The reader may have jumped to here."""


class Reading:
    """What one consumer was given, in order."""

    def __init__(self, name: str, *, committed_only: bool) -> None:
        self.name = name
        self.committed_only = committed_only
        self.given: list[Given] = []
        self._moved: set[TopicPartition] = set()
        self.last: dict[TopicPartition, int] = {}

    def moved(self, partitions: Iterable[TopicPartition]) -> None:
        self._moved.update(partitions)

    def has_moved(self, tp: TopicPartition) -> bool:
        """Whether nothing was read since."""
        return tp in self._moved

    def take(self, tp: TopicPartition, offset: int, value: bytes) -> Given:
        moved = tp in self._moved
        self._moved.discard(tp)
        given = Given(tp, offset, value, moved)
        self.given.append(given)
        self.last[tp] = offset
        return given


class GroupReading:
    """What the members of one group were given, and what it is known to have committed, in order."""

    def __init__(self, name: str, *, committed_only: bool) -> None:
        self.name = name
        self.committed_only = committed_only
        self.given: dict[TopicPartition, list[int]] = {}
        self.committed: list[tuple[TopicPartition, int, int]] = []
        """Partition, offset, and how many records the group had been given of the partition by then."""

    def take(self, given: Given) -> None:
        self.given.setdefault(given.tp, []).append(given.offset)

    def commits(self, tp: TopicPartition, offset: int) -> None:
        self.committed.append((tp, offset, len(self.given.get(tp, ()))))


class ClientBooks:
    def __init__(self, report: Counter[str]) -> None:
        self._report = report
        self._sent: dict[TopicPartition, dict[bytes, None]] = {}
        self._acked: dict[TopicPartition, dict[bytes, int]] = {}
        self._at: dict[tuple[TopicPartition, int], bytes] = {}
        self.readings: list[Reading] = []
        self.groups: dict[str, GroupReading] = {}
        self.transactions: list[Transaction] = []

    # -- what clients tell --

    def sent(self, tp: TopicPartition, value: bytes) -> None:
        self._sent.setdefault(tp, {})[value] = None
        self._report["records_sent"] += 1

    def acked(self, tp: TopicPartition, offset: int, value: bytes) -> None:
        acked = self._acked.setdefault(tp, {})
        if value in acked:
            raise Violation(f"{tp}: {value!r} was acknowledged twice")
        acked[value] = offset
        if offset >= 0:
            self._is_at(tp, offset, value)
        else:
            self._report["acked_without_offset"] += 1
        self._report["records_acked"] += 1

    def read(self, tp: TopicPartition, offset: int, value: bytes) -> None:
        if value not in self._sent.get(tp, {}):
            raise Violation(f"{tp}@{offset}: {value!r} was read, which nobody sent")
        self._is_at(tp, offset, value)
        self._report["records_read"] += 1

    def _is_at(self, tp: TopicPartition, offset: int, value: bytes) -> None:
        before = self._at.setdefault((tp, offset), value)
        if before != value:
            raise Violation(f"{tp}@{offset} is {before!r} for one client and {value!r} for another")

    # -- the end --

    def check(self, truth: Truth) -> None:
        for tp, stored in truth.items():
            self._check_partition(tp, stored)
        self._check_transactions(truth)
        for reading in self.readings:
            self._check_reading(reading, truth)
        for group in self.groups.values():
            self._check_group(group, truth)

    def _check_partition(self, tp: TopicPartition, stored: list[Stored]) -> None:
        sent = self._sent.get(tp, {})
        at: dict[bytes, int] = {}
        numbers: dict[bytes, int] = {}
        for record in stored:
            value = record.value
            if value not in sent:
                raise Violation(f"{tp}@{record.offset} holds {value!r}, which nobody sent")
            if value in at:
                raise Violation(f"{tp}: {value!r} is there twice, at {at[value]} and {record.offset}")
            at[value] = record.offset
            writer, _, number = value.partition(b":")
            if int(number) <= numbers.get(writer, -1):
                raise Violation(f"{tp}@{record.offset}: {value!r} comes after number {numbers[writer]}")
            numbers[writer] = int(number)
        for value, offset in self._acked.get(tp, {}).items():
            if value not in at:
                raise Violation(f"{tp}: {value!r} was acknowledged at {offset} and is lost")
            if offset not in (-1, at[value]):
                raise Violation(f"{tp}: {value!r} was acknowledged at {offset} and is at {at[value]}")

    def _check_transactions(self, truth: Truth) -> None:
        counts = {(tp, record.value) for tp, stored in truth.items() for record in stored if record.counts}
        for transaction in self.transactions:
            there = [each for each in transaction.records if each in counts]
            all_there = len(there) == len(transaction.records)
            outcome = transaction.outcome
            if outcome is Outcome.COMMITTED and not all_there:
                missing = [each for each in transaction.records if each not in counts]
                raise Violation(f"{transaction.name} was committed without {missing[0]}")
            if outcome in (Outcome.ABORTED, Outcome.OPEN) and there:
                raise Violation(f"{transaction.name} was not committed, and {there[0]} counts")
            if outcome is Outcome.UNKNOWN and there and not all_there:
                raise Violation(f"{transaction.name}: {len(there)} of {len(transaction.records)} count")
            self._report[f"transactions_{outcome.name.lower()}"] += 1

    def _check_reading(self, reading: Reading, truth: Truth) -> None:
        visible: dict[TopicPartition, list[int]] = {}
        stored: dict[TopicPartition, dict[int, Stored]] = {}
        places: dict[TopicPartition, dict[int, int]] = {}
        for tp, records in truth.items():
            stored[tp] = {record.offset: record for record in records}
            visible[tp] = [r.offset for r in records if r.counts or not reading.committed_only]
            places[tp] = {offset: place for place, offset in enumerate(visible[tp])}
        last: dict[TopicPartition, int] = {}
        for given in reading.given:
            tp, offset = given.tp, given.offset
            there = stored[tp].get(offset)
            if there is None or there.value != given.value:
                raise Violation(f"{reading.name} read {given.value!r} at {tp}@{offset}: {there} is there")
            place = places[tp].get(offset)
            if place is None:
                raise Violation(f"{reading.name} was given {there}, which does not count, of {tp}")
            if not given.moved:
                expected = last.get(tp, -1) + 1
                if place != expected:
                    raise Violation(
                        f"{reading.name}: {tp}@{offset} came where {visible[tp][expected]} was due"
                    )
            last[tp] = place
            self._report["records_followed"] += 1

    def _check_group(self, group: GroupReading, truth: Truth) -> None:
        visible = {
            tp: [record.offset for record in records if record.counts or not group.committed_only]
            for tp, records in truth.items()
        }
        for tp, offsets in group.given.items():
            found: set[int] = set()
            due = 0
            for offset in offsets:
                found.add(offset)
                while due < len(visible[tp]) and visible[tp][due] in found:
                    due += 1
                if due < len(visible[tp]) and offset > visible[tp][due]:
                    raise Violation(
                        f"group {group.name} was given {tp}@{offset}, but never {visible[tp][due]}"
                    )
        for tp, offset, count in group.committed:
            known = set(group.given.get(tp, ())[:count])
            skipped = [each for each in visible[tp] if each < offset and each not in known]
            if skipped:
                raise Violation(f"group {group.name} committed {tp}@{offset}, but never read {skipped[0]}")
            self._report["commits_checked"] += 1

    def unread(self, group: GroupReading, truth: Truth, topics: Iterable[str]) -> str | None:
        """What the group has still to be given."""
        wanted = set(topics)
        for tp, records in truth.items():
            if tp.topic in wanted:
                known = set(group.given.get(tp, ()))
                for record in records:
                    counts = record.counts or not group.committed_only
                    if counts and record.offset not in known:
                        return f"group {group.name} was not given {tp}@{record.offset}"
        return None

    def untransformed(self, truth: Truth, source: str, target: str) -> str | None:
        """Each record that counts has one record that counts in the target, which names it in its key."""
        made: Counter[bytes] = Counter()
        for tp, records in truth.items():
            if tp.topic == target:
                made.update(record.key or b"" for record in records if record.counts)
        for tp, records in truth.items():
            for record in records:
                if tp.topic == source and record.counts:
                    name = origin(tp, record.offset)
                    if made[name] != 1:
                        return f"{tp}@{record.offset} was transformed {made[name]} times"
        return None


def origin(tp: TopicPartition, offset: int) -> bytes:
    return f"{tp.topic}-{tp.partition}@{offset}".encode()
