"""What simulated clients did in transactions, were told and saw: and whether it fits together.

Every transaction has a number, which is in the value of each of its records and in the metadata of its
offsets, so whatever is read says whose it is. A transaction whose commit was never asked for may not be seen
by a reader with read_committed, nor one whose commit was refused; one that was acknowledged, or of which
anything was seen, has to be there as a whole, once and in order. If the answer was lost it may be either, but
not both.

Epochs are books of their own: no two producers are given the same one, and from the moment that somebody has
a newer one nothing of the older producer is accepted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Final, Literal, NamedTuple, TypeAlias

from ottla.model.types import TopicPartition
from ottla.testing.ledger import Violation

Fate: TypeAlias = Literal["open", "unknown", "committed", "aborted"]

PREFIX: Final = b"t"
"""Values of transactions begin with it; others are an ordinary ledger's."""

NOTHING: Final = -1
"""The offset that OffsetFetch shows where nothing is committed."""


@dataclass(slots=True, eq=False)
class Txn:
    number: int
    transactional_id: str
    client: str
    producer_id: int
    epoch: int
    began_ms: float
    sent: dict[TopicPartition, list[bytes]] = field(default_factory=dict)
    acked: dict[bytes, int] = field(default_factory=dict)
    """The offset that a value was acknowledged with."""
    offsets: dict[tuple[str, TopicPartition], int] = field(default_factory=dict)
    """By group and partition."""
    commit_sent: bool = False
    fate: Fate = "open"
    ended_ms: float = inf
    """When its end was acknowledged."""
    evidence: str = ""
    _values: int = 0

    def value(self, tp: TopicPartition, payload: str = "") -> bytes:
        value = b"%s%d:%d:%s" % (PREFIX, self.number, self._values, payload.encode())
        self._values += 1
        self.sent.setdefault(tp, []).append(value)
        return value

    @property
    def metadata(self) -> str:
        return f"txn {self.number}"

    def __str__(self) -> str:
        return (
            f"transaction {self.number} of {self.transactional_id} ({self.client}, producer "
            f"{self.producer_id}, epoch {self.epoch}, {self.fate}{self.evidence})"
        )


class _Told(NamedTuple):
    client: str
    producer_id: int
    epoch: int
    asked_ms: float
    told_ms: float


class TxnBooks:
    def __init__(self, report: Counter[str], *, ids_expire: bool = False) -> None:
        self.report = report
        self.ids_expire = ids_expire
        """Whether transactional ids that nobody uses are forgotten."""
        self.txns: dict[int, Txn] = {}
        self.deleted_topics: set[str] = set()
        self.admin_aborts: list[tuple[TopicPartition, int, float]] = []
        """An administrator wanted to abort whatever this producer had open there, from then on."""
        self.taken_away: set[tuple[int, int]] = set()
        """Producer ids, and epochs with which the coordinator has aborted what was open."""
        self._told: dict[str, list[_Told]] = {}
        self._owners: dict[tuple[int, int], str] = {}
        self._committed: dict[TopicPartition, dict[int, bytes]] = {}
        self._seen: dict[TopicPartition, dict[int, bytes]] = {}
        self._places: dict[tuple[TopicPartition, bytes], int] = {}

    # -- producers --

    def told(
        self,
        transactional_id: str,
        client: str,
        producer_id: int,
        epoch: int,
        asked_ms: float,
        now_ms: float,
    ) -> None:
        """A producer was given an epoch, by InitProducerId or at the end of a transaction."""
        owner = self._owners.setdefault((producer_id, epoch), client)
        if owner != client:
            raise Violation(
                f"{transactional_id}: epoch {epoch} of producer {producer_id} was given to {owner} and to "
                f"{client}"
            )
        told = self._told.setdefault(transactional_id, [])
        for each in told:
            if each.told_ms < asked_ms and each.producer_id == producer_id and each.epoch > epoch:
                raise Violation(f"{transactional_id}: epoch {epoch} was given after {each.epoch}")
        told.append(_Told(client, producer_id, epoch, asked_ms, now_ms))
        self.report["epochs_given"] += 1

    def accepted(
        self, transactional_id: str, client: str, producer_id: int, epoch: int, what: str, began_ms: float
    ) -> None:
        """A request that began then was answered with success."""
        own_ms = -inf
        for each in self._told.get(transactional_id, ()):
            if (each.client, each.producer_id, each.epoch) == (client, producer_id, epoch):
                own_ms = max(own_ms, each.told_ms)
        for each in self._told.get(transactional_id, ()):
            if each.client != client and each.asked_ms > own_ms and each.told_ms < began_ms:
                raise Violation(
                    f"{transactional_id}: {what} of {client} with epoch {epoch} was accepted although "
                    f"{each.client} had been given epoch {each.epoch}"
                )

    # -- the life of a transaction --

    def begin(self, transactional_id: str, client: str, producer_id: int, epoch: int, now_ms: float) -> Txn:
        number = len(self.txns)
        txn = self.txns[number] = Txn(number, transactional_id, client, producer_id, epoch, now_ms)
        return txn

    def acked(self, txn: Txn, tp: TopicPartition, base_offset: int, values: Sequence[bytes]) -> None:
        for offset, value in enumerate(values, base_offset):
            if txn.acked.setdefault(value, offset) != offset:
                raise Violation(f"{tp}: {value!r} was acknowledged at {txn.acked[value]} and at {offset}")
            if not self.is_deleted(tp):
                self._at(tp, offset, value)

    def commit_sent(self, txn: Txn) -> None:
        txn.commit_sent = True
        if txn.fate == "open":
            txn.fate = "unknown"

    def ended(self, txn: Txn, *, committed: bool, now_ms: float) -> None:
        if committed:
            if txn.fate == "aborted":
                raise Violation(f"{txn} was refused and is acknowledged now")
            txn.fate = "committed"
            self.report["commits"] += 1
        else:
            assert not txn.commit_sent
            txn.fate = "aborted"
            self.report["aborts"] += 1
        txn.ended_ms = now_ms

    def refused(self, txn: Txn) -> None:
        """Its commit was refused, and was asked for once."""
        if txn.fate == "committed":
            raise Violation(f"{txn} was refused after something of it had been seen")
        txn.fate = "aborted"
        self.report["commits_refused"] += 1

    def was_taken_away(self, txn: Txn) -> bool:
        """Whether the coordinator aborted it: another producer came, or it took too long."""
        return (txn.producer_id, txn.epoch + 1) in self.taken_away

    # -- what is read --

    def txn_of(self, value: bytes) -> Txn:
        try:
            return self.txns[int(value[1:].split(b":", 1)[0])]
        except (ValueError, KeyError):
            raise Violation(f"{value!r} was read, which nobody sent") from None

    def _at(self, tp: TopicPartition, offset: int, value: bytes) -> None:
        seen = self._seen.setdefault(tp, {})
        if seen.setdefault(offset, value) != value:
            raise Violation(f"{tp}@{offset} holds {seen[offset]!r}, and {value!r}")
        place = self._places.setdefault((tp, value), offset)
        if place != offset:
            raise Violation(f"{tp}: {value!r} is there twice, at {place} and {offset}")

    def seen(self, tp: TopicPartition, offset: int, value: bytes) -> None:
        """Somebody with read_uncommitted has read it."""
        txn = self.txn_of(value)
        if value not in txn.sent.get(tp, ()):
            raise Violation(f"{tp}@{offset}: {value!r} was read, which nobody sent there")
        if not self.is_deleted(tp):
            self._at(tp, offset, value)

    def delivered(self, tp: TopicPartition, offset: int, value: bytes) -> None:
        """Somebody with read_committed has read it."""
        self.seen(tp, offset, value)
        txn = self.txn_of(value)
        self._is_committed(txn, f"{tp}@{offset}: {value!r} was delivered", f", {value!r} was read at {tp}")
        self._committed.setdefault(tp, {})[offset] = value

    def _is_committed(self, txn: Txn, what: str, evidence: str) -> None:
        if not txn.commit_sent:
            raise Violation(f"{what}, and nobody asked to commit {txn}")
        if txn.fate == "aborted":
            raise Violation(f"{what}, and the commit of {txn} was refused")
        if txn.fate == "unknown":
            txn.fate = "committed"
            txn.evidence = evidence
            self.report["lost_answers_committed"] += 1

    def offset_read(
        self,
        group: str,
        tp: TopicPartition,
        offset: int,
        metadata: str | None,
        began_ms: float = inf,
    ) -> None:
        """A stable committed offset, which an OffsetFetch has shown that began then."""
        number = NOTHING
        if offset != NOTHING:
            try:
                txn = self.txns[int((metadata or "").removeprefix("txn "))]
            except (ValueError, KeyError):
                raise Violation(f"{group} {tp}: {offset} {metadata!r} is committed by nobody") from None
            if txn.offsets.get((group, tp)) != offset:
                raise Violation(f"{group} {tp}: {offset} is committed, {txn} said {txn.offsets}")
            self._is_committed(txn, f"{group} {tp}: offset {offset} is committed", ", its offsets count")
            number = txn.number
        for other in self.txns.values():
            if (
                other.number > number
                and (group, tp) in other.offsets
                and other.fate == "committed"
                and other.ended_ms <= began_ms
            ):
                raise Violation(f"{group} {tp}: {offset} ({metadata}) is committed, after {other}")
        self.report["offsets_read"] += 1

    # -- exemptions --

    def is_deleted(self, tp: TopicPartition) -> bool:
        return tp.topic in self.deleted_topics

    def admin_abort(self, tp: TopicPartition, producer_id: int, now_ms: float) -> None:
        self.admin_aborts.append((tp, producer_id, now_ms))

    def is_cut(self, txn: Txn, tp: TopicPartition) -> bool:
        """Whether an administrator may have torn the transaction apart there."""
        return any(
            (where, who) == (tp, txn.producer_id) and txn.ended_ms >= when
            for where, who, when in self.admin_aborts
        )

    # -- at the end --

    def check_whole(
        self,
        read: Mapping[TopicPartition, Sequence[tuple[int, bytes]]],
        starts: Mapping[TopicPartition, int],
    ) -> None:
        """`read` is every partition as a reader with read_committed finds it when all has ended, `starts`
        where each begins by then. Each transaction is there or not, in all its partitions.
        """
        found: dict[tuple[int, TopicPartition], list[bytes]] = {}
        for tp, records in read.items():
            order: dict[str, int] = {}
            for offset, value in records:
                if not value.startswith(PREFIX):
                    continue
                self.delivered(tp, offset, value)
                txn = self.txn_of(value)
                found.setdefault((txn.number, tp), []).append(value)
                if txn.number < order.get(txn.transactional_id, -1):
                    raise Violation(f"{tp}@{offset}: {txn} comes after {order[txn.transactional_id]}")
                order[txn.transactional_id] = txn.number
        for txn in self.txns.values():
            if txn.fate != "committed":
                self.report["lost_answers_aborted"] += int(txn.fate == "unknown")
                continue
            for tp, values in txn.sent.items():
                if tp not in read or self.is_cut(txn, tp):
                    continue
                # Retention may have gone on since they were read.
                there = [each for each in found.get((txn.number, tp), []) if txn.acked[each] >= starts[tp]]
                expected = [each for each in values if txn.acked[each] >= starts[tp]]
                if there != expected:
                    raise Violation(f"{tp}: of {txn} there is {there}, not {expected}")
            self.report["transactions_checked"] += 1

    def check_pipeline(
        self, inputs: Mapping[TopicPartition, Iterable[int]], outputs: Iterable[Sequence[tuple[int, bytes]]]
    ) -> None:
        """Each input record, by partition and offset, has one output; those of a partition are in order."""
        missing = {
            f"{tp.topic}-{tp.partition}@{offset}" for tp, offsets in inputs.items() for offset in offsets
        }
        wanted = len(missing)
        done: set[str] = set()
        for records in outputs:
            order: dict[str, int] = {}
            for offset, value in records:
                source = value.split(b":", 2)[2].decode()
                if source in done:
                    raise Violation(f"{source} was transformed twice, {value!r} at {offset} is the second")
                if source not in missing:
                    raise Violation(f"{value!r} at {offset} is made of nothing")
                done.add(source)
                missing.discard(source)
                partition, _, place = source.rpartition("@")
                if int(place) < order.get(partition, -1):
                    raise Violation(f"{source} was transformed after {order[partition]}")
                order[partition] = int(place)
        if missing:
            raise Violation(f"{len(missing)} of {wanted} inputs have no output: {sorted(missing)[:10]}")
        self.report["records_transformed"] += wanted
