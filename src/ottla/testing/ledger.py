"""What clients of a simulated broker sent, were promised, and saw: and whether it all fits together.

Contradictions are found as early as possible (a consumer sees another record at an offset than before, a high
watermark goes back, two records are acknowledged at one offset), the rest at the end of a run, when the whole
log of each partition is compared with what was acknowledged.
"""

from __future__ import annotations

from collections.abc import Sequence

from ottla.model.types import TopicPartition


class Violation(AssertionError):
    """A promise of the broker's was broken."""


class Ledger:
    def __init__(self) -> None:
        self._sent: dict[TopicPartition, dict[bytes, None]] = {}
        self._acked: dict[TopicPartition, dict[int, bytes]] = {}
        self._seen: dict[TopicPartition, dict[int, bytes]] = {}
        self._high_watermarks: dict[tuple[str, TopicPartition], int] = {}

    @property
    def acked_count(self) -> int:
        return sum(map(len, self._acked.values()))

    @property
    def seen_count(self) -> int:
        return sum(map(len, self._seen.values()))

    def sent(self, tp: TopicPartition, values: Sequence[bytes]) -> None:
        self._sent.setdefault(tp, {}).update(dict.fromkeys(values))

    def acked(self, tp: TopicPartition, base_offset: int, values: Sequence[bytes]) -> None:
        acked = self._acked.setdefault(tp, {})
        seen = self._seen.get(tp, {})
        for offset, value in enumerate(values, base_offset):
            if acked.setdefault(offset, value) != value:
                raise Violation(f"{tp}@{offset} is acknowledged for {acked[offset]!r} and for {value!r}")
            if seen.get(offset, value) != value:
                raise Violation(
                    f"{tp}@{offset} is acknowledged for {value!r}, {seen[offset]!r} was read there"
                )

    def consumed(self, tp: TopicPartition, offset: int, value: bytes | None) -> None:
        if value is None or value not in self._sent.get(tp, {}):
            raise Violation(f"{tp}@{offset} holds {value!r}, which nobody sent")
        seen = self._seen.setdefault(tp, {})
        if seen.setdefault(offset, value) != value:
            raise Violation(f"{tp}@{offset} was read as {seen[offset]!r} and is now {value!r}")
        acked = self._acked.get(tp, {})
        if acked.get(offset, value) != value:
            raise Violation(f"{tp}@{offset} holds {value!r}, {acked[offset]!r} was acknowledged there")

    def high_watermark(self, consumer: str, tp: TopicPartition, high_watermark: int) -> None:
        """One consumer's view, in the order of its replies."""
        key = (consumer, tp)
        before = self._high_watermarks.get(key, 0)
        if high_watermark < before:
            raise Violation(f"the high watermark of {tp} went back from {before} to {high_watermark}")
        self._high_watermarks[key] = high_watermark

    def check_at_the_end(
        self, tp: TopicPartition, records: Sequence[tuple[int, bytes]], start: int = 0
    ) -> None:
        """`records` is the whole partition as it was read after the last fault, from `start` on."""
        for expected, (offset, value) in enumerate(records, start):
            if offset != expected:
                raise Violation(f"{tp}: offset {offset} comes where {expected} should be")
            self.consumed(tp, offset, value)
        found = dict(records)
        for kind, promised in (("acknowledged", self._acked), ("read", self._seen)):
            for offset, value in promised.get(tp, {}).items():
                if offset >= start and found.get(offset) != value:
                    raise Violation(f"{tp}@{offset}: {value!r} was {kind} and is gone")
        at: dict[bytes, int] = {}
        for offset, value in records:
            if value in at:
                raise Violation(f"{tp}: {value!r} is there twice, at {at[value]} and {offset}")
            at[value] = offset
        order: dict[bytes, int] = {}
        for _, value in records:
            producer, _, number = value.partition(b":")
            if int(number) <= order.get(producer, -1):
                raise Violation(f"{tp}: {value!r} comes after number {order[producer]} of the same producer")
            order[producer] = int(number)
