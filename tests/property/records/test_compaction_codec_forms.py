"""The compiled and the interpreted compaction codec agree, also on bytes that nobody meant as a batch."""

from __future__ import annotations

import struct
from array import array
from types import ModuleType
from typing import Any

from crc32c import crc32c
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.wire import record_batch as rb
from ottla.wire.record_batch import Record
from support.compaction_codec_forms import FORMS, load_form

MODULES = [load_form(form) for form in FORMS]
NOW = 1_700_000_000_000

keys = st.none() | st.sampled_from([b"", b"a", b"b", b"a longer key", bytes(40)])
values = st.none() | st.binary(max_size=20)
times = st.integers(-(2**63), 2**63 - 1) | st.integers(NOW - 50, NOW + 50)
records = st.builds(
    Record, st.just(0), times, keys, values, st.just(()) | st.just((("h", b"v"), ("n", None)))
)
attributes = st.sampled_from([0, 0, 0x08, 0x40, 0x48, 0x10, 0x20, 0x01])


@st.composite
def logs(draw: Any) -> bytes:
    """Batches one after the other, some with changed attributes, perhaps with a few bytes overwritten."""
    data = bytearray()
    offset = 0
    for _ in range(draw(st.integers(1, 5))):
        made = rb.encode_batch(
            draw(st.lists(records, min_size=1, max_size=5)),
            base_offset=offset,
            producer_id=draw(st.sampled_from([-1, 7, 8])),
        )
        made[rb.ATTRIBUTES_AT + 1] = draw(attributes)
        if draw(st.booleans()):
            made[rb.BASE_TIMESTAMP_AT : rb.BASE_TIMESTAMP_AT + 8] = struct.pack(">q", draw(times))
        for _ in range(draw(st.sampled_from([0, 0, 0, 1, 3]))):
            made[draw(st.integers(0, len(made) - 1))] = draw(st.sampled_from([0, 1, 2, 0x7F, 0x80, 0xFF]))
        if draw(st.sampled_from([True, True, True, False])):
            length = struct.unpack_from(">i", made, rb.BATCH_LENGTH_AT)[0]
            if length == len(made) - 12:
                made[rb.CRC_AT : rb.ATTRIBUTES_AT] = struct.pack(
                    ">I", crc32c(memoryview(made)[rb.ATTRIBUTES_AT :])
                )
        data += made
        offset = min(max(rb.read_header(made).last_offset, offset) + 1, 2**40)
    return bytes(data)


def indexed(codec: ModuleType, data: bytes, cut: int, capacity: int, first: int, limit: int) -> Any:
    slots = memoryview(bytearray(24 * 30)).cast("Q")
    table = codec.OffsetTable(slots, capacity, 1, 2)
    indexer = codec.KeyIndexer(table, first, limit)
    indexer.begin_segment(0, 2**40, 4096)
    seen: list[Any] = []
    at, end = 0, max(0, len(data) - cut)
    while True:
        reason = indexer.run(data, at, end)
        seen.append((reason, indexer.position, indexer.next_offset, indexer.records_read, table.entries))
        if reason != codec.ASK:
            break
        header = rb.read_header(data, indexer.position)
        start = indexer.position + rb.HEADER_BYTES
        seen.append(
            indexer.index_records(
                data,
                start,
                start - rb.HEADER_BYTES + header.size_bytes,
                header.record_count,
                header.base_offset,
                header.last_offset_delta,
            )
        )
        indexer.skip(data)
        at = indexer.position
    return seen, slots.tobytes(), table


def filtered(codec: ModuleType, data: bytes, table: Any, map_end: int, horizon: int) -> Any:
    keep = codec.BatchFilter(
        table, map_end, 12, NOW, horizon, memoryview(array("q", [3, 6])), memoryview(array("q", [7, 8]))
    )
    keep.begin_segment(0, 2**40, 4096)
    out = bytearray(20_000)
    seen: list[Any] = []
    at = filled = 0
    while True:
        reason = keep.run(data, at, len(data), out, filled)
        filled = keep.written_to
        seen.append((reason, keep.position, filled, keep.next_offset))
        if reason != codec.ASK:
            break
        header = rb.read_header(data, keep.position)
        if header.attributes & 0x07 == 0:
            reason = keep.copy_plain(data, header.is_control, out, filled)
            if reason:
                seen.append(reason)
                break
            filled = keep.written_to
        keep.skip(data)
        at = keep.position
    seen.append((keep.records_read, keep.records_written, keep.invalid_records))
    return seen, bytes(out[:filled])


@settings(max_examples=150)
@given(
    data=logs(),
    cut=st.sampled_from([0, 0, 1, 60, 130]),
    capacity=st.integers(0, 6),
    first=st.integers(0, 6),
    limit=st.integers(0, 30),
    map_end=st.integers(0, 30),
    horizon=times,
)
def test_both_forms_index_and_filter_alike(
    data: bytes, cut: int, capacity: int, first: int, limit: int, map_end: int, horizon: int
) -> None:
    seen = [indexed(codec, data, cut, capacity, first, limit) for codec in MODULES]
    assert seen[0][:2] == seen[1][:2]
    made = [
        filtered(codec, data, table, map_end, horizon)
        for codec, (_, _, table) in zip(MODULES, seen, strict=True)
    ]
    assert made[0] == made[1]
    # Whatever came out is made of right batches with right records.
    at = 0
    out = made[0][1]
    while at < len(out):
        header = rb.check_crc(out, at, len(out))
        at += header.size_bytes


@settings(max_examples=150)
@given(data=st.binary(max_size=300))
def test_random_bytes_are_judged_alike(data: bytes) -> None:
    assert indexed(MODULES[0], data, 0, 5, 0, 30)[:2] == indexed(MODULES[1], data, 0, 5, 0, 30)[:2]
