"""The cleaner against compaction as one would explain it: everything in memory, a dict, no tricks.

Random logs of plain, idempotent and transactional batches of every codec, over several segments, cleaned
again and again while time passes and more is written: what stays, batch by batch, is what the explanation
says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.log.txn_index import AbortedTxn
from ottla.wire.record_batch import Codec, Record
from support.cleaning_bench import DAY_MS, CleaningBench, Stored

PRODUCERS = (7, 8, 9)


@dataclass
class Txn:
    producer: int
    first_offset: int | None
    """None: the transaction has no batch in this partition."""
    marker_offset: int
    committed: bool

    def has(self, batch: Stored) -> bool:
        return (
            self.first_offset is not None
            and batch.header.is_transactional
            and not batch.header.is_control
            and batch.header.producer_id == self.producer
            and self.first_offset <= batch.header.base_offset < self.marker_offset
        )


@dataclass
class Books:
    """What was written, remembered from the outside."""

    txns: list[Txn] = field(default_factory=list)
    last_data_offsets: dict[int, int] = field(default_factory=dict)

    def aborted(self, batch: Stored) -> bool:
        return any(not txn.committed and txn.has(batch) for txn in self.txns)


@dataclass(frozen=True)
class Left:
    base_offset: int
    last_offset: int
    producer: tuple[int, int, int]
    records: tuple[Record, ...]
    horizon_ms: int | None
    codec: int


def left(batch: Stored, records: tuple[Record, ...], horizon_ms: int | None) -> Left:
    header = batch.header
    return Left(
        header.base_offset,
        header.last_offset,
        (header.producer_id, header.producer_epoch, header.base_sequence),
        records,
        horizon_ms if records else None,
        header.codec if records else 0,
    )


def horizon_of(batch: Stored) -> int | None:
    return batch.header.base_timestamp if batch.header.has_delete_horizon else None


def expected(
    batches: list[Stored],
    books: Books,
    first_dirty: int,
    end: int,
    now_ms: int,
    live: dict[int, tuple[int, int]],
) -> list[Left]:
    latest: dict[bytes, int] = {}
    for batch in batches:
        if not batch.header.is_control and batch.header.base_offset < end and not books.aborted(batch):
            for record in batch.records:
                if record.key is not None and record.offset >= first_dirty:
                    latest[record.key] = record.offset
    found = []
    for batch in batches:
        horizon = horizon_of(batch)
        if batch.header.base_offset >= end:
            found.append(left(batch, batch.records, horizon))
            continue
        records = batch.records
        if batch.header.is_control:
            ended = [txn for txn in books.txns if txn.marker_offset == batch.header.base_offset]
            if not any(txn.has(other) for txn in ended for other in batches):
                if horizon is None:
                    horizon = now_ms + DAY_MS
                elif horizon <= now_ms:
                    records = ()
        elif books.aborted(batch):
            records = ()
        else:
            records = tuple(
                record
                for record in records
                if record.key is not None
                and latest.get(record.key, -1) <= record.offset
                and (record.value is not None or horizon is None or now_ms < horizon)
            )
            if horizon is None and any(record.value is None for record in records):
                horizon = now_ms + DAY_MS
        is_last = live.get(batch.header.producer_id, (None, 0))[0] == batch.header.last_offset
        if records or is_last or batch.header.next_offset == end:
            found.append(left(batch, records, horizon))
    return found


def expected_index(before: list[Stored], books: Books, end: int, segments_end: int) -> list[tuple[int, ...]]:
    """Aborted transactions that had a batch left when the run began, and those that it did not reach."""
    return [
        (txn.producer, txn.first_offset or 0, txn.marker_offset)
        for txn in sorted(books.txns, key=lambda txn: txn.marker_offset)
        if not txn.committed
        and txn.first_offset is not None
        and txn.marker_offset < segments_end
        and (txn.marker_offset >= end or any(txn.has(batch) for batch in before))
    ]


keys = st.sampled_from([b"a", b"b", b"c", b"d", b"", None])
pairs = st.lists(st.tuples(keys, st.none() | st.sampled_from([b"1", b"22"])), min_size=1, max_size=4)
puts = st.tuples(
    st.just("put"), pairs, st.sampled_from([None, *PRODUCERS]), st.booleans(), st.sampled_from(list(Codec))
)
ends = st.tuples(st.just("end"), st.sampled_from(PRODUCERS), st.booleans())
steps = st.lists(puts | puts | ends | st.just(("roll",)), min_size=1, max_size=14)
rounds = st.lists(
    st.tuples(
        steps,
        st.sampled_from([0, DAY_MS // 2, DAY_MS, 3 * DAY_MS]),  # time that passes
        st.sets(st.sampled_from(PRODUCERS)),  # producers that have expired
        st.booleans(),  # whether what is past the end lies in segments that are cleaned
        st.sampled_from([1, 300, 1 << 20]),  # segment.bytes
    ),
    min_size=1,
    max_size=4,
)


def write(bench: CleaningBench, books: Books, step: tuple[Any, ...]) -> None:
    if step[0] == "roll":
        bench.roll()
    elif step[0] == "end":
        _, producer, commit = step
        first = bench.open_txns.get(producer)
        books.txns.append(Txn(producer, first, bench.end_txn(producer, commit=commit), commit))
    else:
        _, rows, producer, transactional, codec = step
        if producer is None:
            bench.put(*rows, codec=codec)
            return
        # What a producer writes during its transaction belongs to it.
        in_txn = transactional or producer in bench.open_txns
        offsets = bench.put(*rows, producer=producer, txn=in_txn, codec=codec)
        books.last_data_offsets[producer] = offsets[-1]


@settings(max_examples=100)
@given(rounds=rounds)
def test_what_stays_is_what_the_explanation_says(rounds: list[Any]) -> None:
    bench = CleaningBench(io_buffer_bytes=1024)
    books = Books()
    for written, passes_ms, expired, together, segment_bytes_max in rounds:
        for step in written:
            write(bench, books, step)
        bench.now_ms += passes_ms
        stable = min(bench.open_txns.values(), default=bench.next_offset)
        before = bench.batches()
        first_dirty = bench.first_dirty_offset
        segments = bench.segments
        if not together:
            segments = [segment for segment in segments if segment.end_offset <= stable]
            stable = segments[-1].end_offset if segments else stable
        if not segments or stable < bench.first_dirty_offset:
            continue
        segments_end = segments[-1].end_offset
        live = {
            producer: (offset, 0)
            for producer, offset in books.last_data_offsets.items()
            if producer not in expired
        }
        later = tuple(
            AbortedTxn(txn.producer, txn.first_offset, txn.marker_offset, txn.marker_offset + 1)
            for txn in books.txns
            if not txn.committed
            and txn.first_offset is not None
            and txn.first_offset < segments_end <= txn.marker_offset
        )
        result = bench.clean(
            segments=tuple(segments),
            first_uncleanable_offset=stable,
            last_offsets_of_producers=live,
            later_aborted=later,
            segment_bytes_max=segment_bytes_max,
        )
        assert result.next_dirty_offset == stable
        cleaned = [batch for batch in before if batch.header.base_offset < segments_end]
        after = [batch for batch in bench.batches() if batch.header.base_offset < segments_end]
        wanted = expected(cleaned, books, first_dirty, stable, bench.now_ms, live)
        assert [left(batch, batch.records, horizon_of(batch)) for batch in after] == wanted
        index = [txn[:3] for txn in bench.aborted() if txn.last_offset < segments_end]
        assert index == expected_index(cleaned, books, stable, segments_end)


@settings(max_examples=100)
@given(
    batches=st.lists(
        st.tuples(st.lists(st.integers(0, 25), min_size=1, max_size=4), st.sampled_from(list(Codec))),
        min_size=1,
        max_size=40,
    ),
    entries=st.integers(4, 12),
    rolls=st.sets(st.integers(0, 40)),
)
def test_a_small_map_loses_nothing_and_comes_to_the_same_end(
    batches: list[tuple[list[int], Codec]], entries: int, rolls: set[int]
) -> None:
    bench = CleaningBench(map_bytes=24 * (entries + 1), map_load_factor=1.0)
    latest = {}
    for n, (numbers, codec) in enumerate(batches):
        rows = [(b"key %d" % number, b"%d" % n) for number in numbers]
        for offset, (key, value) in zip(bench.put(*rows, codec=codec), rows, strict=True):
            latest[key] = (offset, value)
        if n in rolls:
            bench.roll()
    while True:
        result = bench.clean()
        assert bench.latest() == latest
        if not result.stats.map_full:
            break
    assert bench.offsets() == sorted(offset for offset, _ in latest.values())
