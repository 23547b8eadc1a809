"""Judges what is left of a run: the partitions' records against what writers and readers were told.

The promises, for idempotent writers with acks=all:

* `lost`: an acknowledged record is not there.
* `duplicate`: a record is there more than once.
* `reordered`: a writer's records are not in the order in which it sent them to that partition.
* `misplaced`: a record is at another offset than its acknowledgement said.
* `changed`: a record's key or value is not what was sent.
* `hole`: an offset below the high watermark holds nothing.
* `unsent`: a record that nobody sent.
* `dirty read`: a consumer was handed something at an offset that holds something else, or nothing, in the
  end: it read what was not committed.
* `commit lost`: a group's committed offset is behind one whose commit was acknowledged.

A record that was never acknowledged may be there or not, once. Everything here is pure: records go in, a
`Verdict` comes out.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from chaos.cluster.records import NOWHERE, Written, parsed, value_of

EXAMPLES = 5


class Found(NamedTuple):
    """A record as it was read in the end."""

    offset: int
    key: bytes
    value: bytes


class Verdict:
    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.examples: dict[str, list[str]] = {}
        self.read = 0

    @property
    def is_good(self) -> bool:
        return not self.counts

    def add(self, what: str, example: str) -> None:
        self.counts[what] += 1
        if len(self.examples.setdefault(what, [])) < EXAMPLES:
            self.examples[what].append(example)

    def problems(self) -> list[str]:
        return [
            f"{what}: {count} ({'; '.join(self.examples[what])})"
            for what, count in sorted(self.counts.items())
        ]


class PartitionCheck:
    """The records of one partition, from its first offset to its end, in the order of their offsets."""

    def __init__(self, partition: int, written: list[Written], verdict: Verdict) -> None:
        self._partition = partition
        self._told = [each.offsets[partition] for each in written]
        # Where each record was found: NOWHERE until it is.
        self.found = [array("q", [NOWHERE]) * len(each) for each in self._told]
        self._last = [-1] * len(written)
        self._verdict = verdict
        self._offset = 0

    def record(self, record: Found) -> None:
        offset, key, value = record
        where = f"partition {self._partition} offset {offset}"
        add = self._verdict.add
        self._verdict.read += 1
        if offset != self._offset:
            add("hole", f"{where} comes after {self._offset - 1}")
        self._offset = offset + 1
        try:
            writer, number = parsed(key)
            told = self._told[writer][number]
        except (ValueError, IndexError):
            add("unsent", f"{where}: {key!r}")
            return
        if value != value_of(key, self._partition):
            add("changed", f"{where}: {key!r} has {value[:60]!r}")
        found = self.found[writer]
        if found[number] != NOWHERE:
            add("duplicate", f"{where}: {key!r} is also at {found[number]}")
            return
        found[number] = offset
        if number < self._last[writer]:
            add("reordered", f"{where}: {key!r} after number {self._last[writer]}")
        else:
            self._last[writer] = number
        if told not in (NOWHERE, offset):
            add("misplaced", f"{where}: {key!r} was acknowledged at {told}")

    def finish(self, high_watermark: int) -> None:
        if self._offset != high_watermark:
            self._verdict.add(
                "hole",
                f"partition {self._partition} ends at {self._offset}, its high watermark is {high_watermark}",
            )
        for writer, told in enumerate(self._told):
            found = self.found[writer]
            if found.count(NOWHERE):
                for number, offset in enumerate(told):
                    if offset != NOWHERE and found[number] == NOWHERE:
                        self._verdict.add(
                            "lost",
                            f"partition {self._partition}: {writer}:{number}, acknowledged at {offset}",
                        )


def check_reads(
    seen: Iterable[tuple[int, ...]], partitions: Mapping[int, PartitionCheck], verdict: Verdict
) -> int:
    """What a consumer was handed during the run against what is there; how many records that were."""
    count = 0
    for partition, writer, offset, number in seen:
        count += 1
        found = partitions[partition].found
        if writer >= len(found) or number >= len(found[writer]) or found[writer][number] != offset:
            verdict.add(
                "dirty read", f"partition {partition} offset {offset}: {writer}:{number} is not there"
            )
    return count


def check_commits(
    acknowledged: Iterable[tuple[int, ...]], committed: Mapping[int, int], verdict: Verdict
) -> int:
    """The last acknowledged commit of each partition against what the group has in the end: that one, or a
    later one whose acknowledgement was lost.
    """
    last: dict[int, int] = {}
    count = 0
    for partition, offset in acknowledged:
        last[partition] = offset
        count += 1
    for partition, offset in last.items():
        if committed.get(partition, NOWHERE) < offset:
            verdict.add(
                "commit lost",
                f"partition {partition}: {offset} was committed, {committed.get(partition)} is there",
            )
    return count
