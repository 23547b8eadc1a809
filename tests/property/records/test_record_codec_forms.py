"""The compiled and the interpreted codec agree on everything, also on bytes that nobody meant as a batch."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.wire import record_batch as rb
from ottla.wire import record_codec as compiled
from ottla.wire import record_writer
from ottla.wire.compression import Codec
from ottla.wire.record_batch import Record


def load_interpreted(module_name: str) -> ModuleType:
    name = f"{module_name}_interpreted"
    path = Path(rb.__file__).with_name(f"{module_name}.py")
    spec = spec_from_loader(name, SourceFileLoader(name, str(path)))
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


interpreted = load_interpreted("record_codec")
WRITERS = {compiled: record_writer, interpreted: load_interpreted("record_writer")}
for codec, writer in WRITERS.items():
    assert codec.COMPILED == writer.COMPILED == (codec is compiled), "run setup.py build_ext --inplace"
FORMS = [compiled, interpreted]
BOUND = 1 << 20

int64s = st.integers(-(2**63), 2**63 - 1)
blobs = st.none() | st.binary(max_size=200)
header_lists = st.lists(st.tuples(st.text(max_size=8), blobs), max_size=4).map(tuple)
record_lists = st.lists(
    st.builds(Record, st.just(0), int64s | st.integers(0, 2**42), blobs, blobs, header_lists),
    min_size=1,
    max_size=12,
)
codecs = st.sampled_from(list(Codec))


@contextlib.contextmanager
def form(module: ModuleType) -> Iterator[None]:
    """record_batch with this form of the codec, and of the writer, for one call."""
    before = rb.record_codec, rb.record_writer
    rb.record_codec, rb.record_writer = module, WRITERS.get(module, record_writer)  # type: ignore[assignment]
    try:
        yield
    finally:
        rb.record_codec, rb.record_writer = before


def outcome(module: ModuleType, call: Any, *args: Any, **options: Any) -> Any:
    """What a call gives, or the exception that it raises, in a comparable form."""
    with form(module):
        try:
            return call(*args, **options)
        except ValueError as error:
            return type(error), str(error)


def both(call: Any, *args: Any, **options: Any) -> Any:
    first = outcome(compiled, call, *args, **options)
    assert first == outcome(interpreted, call, *args, **options)
    return first


def walked(walk: Any) -> tuple[int, ...]:
    names = [name for name in dir(compiled.Walk()) if not name.startswith("_")]
    assert len(names) == 14
    if walk.error:
        names = ["error", "record"]
    return tuple(getattr(walk, name) for name in names)


@given(records=record_lists, codec=codecs, base_offset=st.integers(0, 2**62))
def test_records_round_trip_in_both_forms(records: list[Record], codec: Codec, base_offset: int) -> None:
    batch = both(rb.encode_batch, records, codec=codec, base_offset=base_offset)
    expected = [record._replace(offset=base_offset + i) for i, record in enumerate(records)]
    assert both(rb.decode_batch, batch, decompressed_bytes_max=BOUND) == expected
    checked = both(rb.check_batch, batch, 0, len(batch), decompressed_bytes_max=BOUND, from_client=False)
    assert checked.max_timestamp == max(-1, *(record.timestamp for record in records))
    assert checked.header.max_timestamp == checked.max_timestamp


@given(records=record_lists, codec=codecs, skip=st.integers(0, 13))
def test_columns_hold_what_records_hold_in_both_forms(records: list[Record], codec: Codec, skip: int) -> None:
    batch = rb.encode_batch(records, codec=codec, base_offset=50)
    columns = both(
        rb.decode_columns, batch, 0, len(batch), decompressed_bytes_max=BOUND, start_offset=50 + skip
    )
    kept = records[skip:]
    assert columns.row_count == len(kept)
    again = both(rb.encode_columns, columns.timestamps, columns.keys, columns.values, columns.headers)
    assert rb.decode_batch(again, decompressed_bytes_max=BOUND) == [
        record._replace(offset=i) for i, record in enumerate(kept)
    ]


@settings(max_examples=300)
@given(
    body=st.binary(max_size=120),
    count=st.integers(0, 6),
    base=int64s,
    dense=st.booleans(),
    keys=st.booleans(),
)
def test_random_bytes_are_judged_alike(body: bytes, count: int, base: int, dense: bool, keys: bool) -> None:
    arguments = (body, 0, len(body), count, 5, base, dense, keys, 0)
    assert walked(compiled.walk(*arguments)) == walked(interpreted.walk(*arguments))


@settings(max_examples=300)
@given(data=st.data(), records=record_lists)
def test_damaged_records_are_judged_alike_and_what_passes_is_decoded_alike(
    data: Any, records: list[Record]
) -> None:
    batch = rb.encode_batch(records)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(rb.HEADER_BYTES, len(batch) - 1))
        batch[at] = data.draw(st.sampled_from([0x00, 0x01, 0x02, 0x7F, 0x80, 0xFF]) | st.integers(0, 255))
    rb._write_crc(batch, 0, len(batch))
    both(rb.check_batch, batch, 0, len(batch), decompressed_bytes_max=BOUND)
    both(rb.decode_batch, batch, decompressed_bytes_max=BOUND)
    both(rb.decode_columns, batch, 0, len(batch), decompressed_bytes_max=BOUND)


class LongWay:
    """A form of the codec that leaves every batch to the checks of record_batch, one by one."""

    walk = staticmethod(compiled.walk)
    WALK_ERRORS = compiled.WALK_ERRORS

    @staticmethod
    def check_plain_batch(*_: Any) -> None:
        return None


@settings(max_examples=400)
@given(
    data=st.data(),
    records=record_lists,
    base_offset=st.sampled_from([0, 0, 1, -1, 2**63 - 1, 2**63 - 2**32, -(2**63)]),
    attributes=st.sampled_from([0, 0, 0x08, 0x10, 0x20, 0x40, 0x80, -0x8000, 0x01, 0x07]),
    lead=st.integers(0, 3),
    keys=st.booleans(),
    client=st.booleans(),
    sealed=st.booleans(),
)
def test_a_plain_batch_is_judged_in_one_call_as_it_is_step_by_step(
    data: Any,
    records: list[Record],
    base_offset: int,
    attributes: int,
    lead: int,
    keys: bool,
    client: bool,
    sealed: bool,
) -> None:
    batch = rb.encode_batch(records, producer_id=data.draw(int64s), producer_epoch=-5, base_sequence=-7)
    batch[0:8] = base_offset.to_bytes(8, "big", signed=True)
    batch[rb.ATTRIBUTES_AT : rb.ATTRIBUTES_AT + 2] = attributes.to_bytes(2, "big", signed=True)
    for _ in range(data.draw(st.integers(0, 2))):
        at = data.draw(st.integers(0, len(batch) - 1))
        batch[at] = data.draw(st.sampled_from([0x00, 0x01, 0x02, 0x7F, 0x80, 0xFF]) | st.integers(0, 255))
    if sealed:
        rb._write_crc(batch, 0, len(batch))
    buf = bytes(lead) + batch + b"next"
    end = len(buf) - data.draw(st.integers(0, 6))
    options: dict[str, Any] = {
        "decompressed_bytes_max": BOUND,
        "require_keys": keys,
        "from_client": client,
    }
    at_once = both(rb.check_batch, buf, lead, end, **options)
    assert at_once == outcome(LongWay, rb.check_batch, buf, lead, end, **options)  # type: ignore[arg-type]
    if isinstance(at_once, rb.CheckedBatch):
        assert type(at_once.header) is rb.BatchHeader


@settings(max_examples=200)
@given(
    log=st.lists(record_lists.map(rb.encode_batch) | st.binary(max_size=80), max_size=4).map(b"".join),
    cut=st.integers(0, 200),
    target=int64s | st.integers(0, 20),
)
def test_header_scans_agree_on_any_bytes(log: bytes, cut: int, target: int) -> None:
    end = max(0, len(log) - cut)
    for name in ("scan_batches", "last_batch_end"):
        assert getattr(compiled, name)(log, 0, end) == getattr(interpreted, name)(log, 0, end)
    for name in ("find_batch", "find_batch_by_timestamp"):
        assert getattr(compiled, name)(log, 0, end, target) == getattr(interpreted, name)(log, 0, end, target)
    count, stop, _ = compiled.scan_batches(log, 0, end)
    with contextlib.suppress(rb.CorruptBatch):
        headers = list(rb.iter_headers(log, 0, end))
        assert (len(headers), headers[-1][0] + headers[-1][1].size_bytes if headers else 0) == (count, stop)


@settings(max_examples=200)
@given(codec=codecs, packed=st.binary(max_size=100))
def test_a_body_of_random_bytes_raises_nothing_but_the_documented_errors(codec: Codec, packed: bytes) -> None:
    header = rb.read_header(rb.encode_batch([Record(0, 0, None, b"")]))._replace(attributes=int(codec))
    batch = rb._assemble(header, packed)
    result = both(rb.check_batch, batch, 0, len(batch), decompressed_bytes_max=BOUND)
    if not isinstance(result, rb.CheckedBatch):
        assert issubclass(result[0], rb.InvalidRecord)


@pytest.mark.parametrize("module", FORMS, ids=["compiled", "interpreted"])
@given(value=int64s)
def test_varints_of_every_value_round_trip(module: ModuleType, value: int) -> None:
    records = [Record(0, 0, None, None), Record(0, value, None, None)]
    with form(module):
        made = rb.decode_batch(rb.encode_batch(records), decompressed_bytes_max=BOUND)
    assert made[1].timestamp == value
