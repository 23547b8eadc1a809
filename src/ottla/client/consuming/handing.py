"""Between poll and the user: records that a shell has taken from the core and hands on, one by one or whole.

Iteration polls a list and hands its records on without a call for each. What lies in the list, but was not
handed on yet, does not count as consumed: `unhanded` tells the core, which commits accordingly. Whoever seeks
or pauses in the middle of an iteration does not see records of that partition that were polled before.

What poll takes lies here from the moment in which positions move (`kept`), and leaves with whoever gets it: a
poll that is cancelled or interrupted (Ctrl-C) after that has lost nothing, the next one hands it out.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import length_hint
from typing import Any

from ottla.client.consuming.consumed import first_offsets
from ottla.client.consuming.core import ConsumerCore
from ottla.client.consuming.fetch_buffer import FetchedColumns
from ottla.client.consuming.subscription import checked
from ottla.client.effects import ClientSteps
from ottla.client.errors import InvalidArgument
from ottla.client.records import ConsumerRecord, OffsetAndMetadata
from ottla.model.types import TopicPartition

log = logging.getLogger("ottla.client")


class HandingOut:
    def __init__(self, core: ConsumerCore) -> None:
        self._core = core
        self._batch: Sequence[ConsumerRecord] = ()
        self.rest: Iterator[ConsumerRecord] = iter(())
        """What iteration hands on; whoever iterates takes from it and from nothing else."""
        self._whole: Sequence[ConsumerRecord] = ()
        self._columns: Sequence[FetchedColumns] = ()
        core.consumed.unhanded = self.unhanded

    def kept(self, steps: ClientSteps[list[ConsumerRecord]]) -> ClientSteps[list[ConsumerRecord]]:
        """A poll of the core whose records are left here until they are handed on."""
        records = yield from steps
        self.iterate(records)
        return records

    def kept_columns(self, steps: ClientSteps[list[FetchedColumns]]) -> ClientSteps[list[FetchedColumns]]:
        """The same for columns; `polling` lets go of them."""
        columns = yield from steps
        self._columns = columns
        return columns

    def unhanded(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """Where each partition would have to be for what is left to come again."""
        found = first_offsets(self.left())
        for tp, columns in reversed(self._columns):
            found[tp] = OffsetAndMetadata(columns.start_offset)
        return found

    def left(self) -> Sequence[ConsumerRecord]:
        """What was polled for an iteration and not handed on."""
        count = length_hint(self.rest)
        return self._batch[len(self._batch) - count :] if count else ()

    def iterate(self, records: Sequence[ConsumerRecord]) -> Iterator[ConsumerRecord]:
        self._whole = ()
        self._batch = records
        self.rest = iter(records)
        return self.rest

    def whole(self, records: list[ConsumerRecord]) -> list[ConsumerRecord]:
        """These go to the user at once."""
        self.polling()
        self._whole = records
        return records

    def take_left(self, max_records: int | None) -> list[ConsumerRecord]:
        """What an iteration left over, or a poll that was interrupted, for a poll that comes after it."""
        if self._columns:
            self.give_back(self._core.fetcher.assignment())
        left = list(self.left())
        if not left:
            self._batch = ()
            return left
        taken = left if max_records is None else left[:max_records]
        self.iterate(left[len(taken) :])
        self._whole = taken
        return taken

    def polling(self) -> None:
        """Whoever polls has dealt with what came before."""
        self._whole = self._batch = ()
        self._columns = ()
        self.rest = iter(())

    def forget(self, partitions: Collection[TopicPartition] | None = None) -> None:
        """Drops what is left of these partitions: somebody has sought there, or reads them no more."""
        in_hand = self._in_hand()
        if in_hand is not None and (partitions is None or _partition(in_hand) in partitions):
            in_hand = None  # whoever sought has said where its partition goes on
        self._drop(partitions, in_hand)

    def give_back(self, partitions: Collection[TopicPartition]) -> None:
        """What is left of these partitions will be read again: they are paused."""
        for tp, at in self.unhanded().items():
            if tp in partitions:
                self._core.fetcher.seek(tp, at.offset, at.leader_epoch)
        self._drop(partitions, self._in_hand())

    def _in_hand(self) -> ConsumerRecord | None:
        """The record that an iteration has handed on last."""
        at = len(self._batch) - length_hint(self.rest) - 1
        return self._batch[at] if at >= 0 else None

    def _drop(self, partitions: Collection[TopicPartition] | None, in_hand: ConsumerRecord | None) -> None:
        if partitions is None:
            self._columns = ()
        elif self._columns:
            self._columns = [each for each in self._columns if each.topic_partition not in partitions]
        left = self.left()
        kept = [] if partitions is None else [r for r in left if _partition(r) not in partitions]
        if len(kept) == len(left):
            return
        deque(self.rest, maxlen=0)  # an iteration that is under way sees its end, and goes on with the new
        self._batch = kept if in_hand is None else [in_hand, *kept]
        self.rest = iter(self._batch)
        if in_hand is not None:
            next(self.rest)

    def failed(self) -> None:
        """The user's code raised while it had records: they were not dealt with, and are not committed."""
        self._core.consumed.hand_back(self._whole)
        in_hand = len(self._batch) - length_hint(self.rest) - 1
        if in_hand >= 0:
            self._core.consumed.hand_back(self._batch[in_hand:])


def _partition(record: ConsumerRecord) -> TopicPartition:
    return TopicPartition(record.topic, record.partition)


def offsets_of(what: Any) -> dict[TopicPartition, OffsetAndMetadata] | None:
    """What `commit` was given: nothing, a record, several, or offsets by partition."""
    if what is None:
        return None
    if isinstance(what, Mapping):
        found = {}
        for tp, at in what.items():
            if isinstance(at, int) and not isinstance(at, bool):
                at = OffsetAndMetadata(at)
            elif not isinstance(at, OffsetAndMetadata):
                raise InvalidArgument(f"{at!r} is not an offset: give a number or an OffsetAndMetadata")
            found[checked(tp)] = at
        return found
    if hasattr(what, "offset") and hasattr(what, "partition"):
        what = (what,)
    try:
        last: dict[TopicPartition, OffsetAndMetadata] = {}
        for record in what:
            tp = TopicPartition(record.topic, record.partition)
            if tp not in last or last[tp].offset <= record.offset:
                last[tp] = OffsetAndMetadata(record.offset + 1, "", record.leader_epoch)
        return last
    except (TypeError, AttributeError):
        raise InvalidArgument(
            "commit takes a record, records, or offsets by partition ({TopicPartition: offset})"
        ) from None


def consumed_by(interceptors: Iterable[Any], records: list[ConsumerRecord]) -> list[ConsumerRecord]:
    """What the interceptors make of the records; one that raises is logged and left out, as in Java."""
    for interceptor in interceptors:
        on_consume = getattr(interceptor, "on_consume", None)
        if on_consume is None:
            continue
        try:
            records = list(on_consume(records))
        except Exception:
            log.warning("the interceptor %r failed on records", interceptor, exc_info=True)
    return records


def committed_by(interceptors: Iterable[Any], offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
    for interceptor in interceptors:
        on_commit = getattr(interceptor, "on_commit", None)
        if on_commit is None:
            continue
        try:
            on_commit(dict(offsets))
        except Exception:
            log.warning("the interceptor %r failed on a commit", interceptor, exc_info=True)
