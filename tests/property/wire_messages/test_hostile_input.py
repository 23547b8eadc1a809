"""Truncated and corrupt bytes raise DecodeError and nothing else, and cost only the memory they justify."""

from __future__ import annotations

import contextlib
import random
import tracemalloc
import zlib
from typing import Any

import message_maker
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from message_schema import Message, SchemaFile
from ottla.wire import framing
from ottla.wire.messages.index import APIS
from ottla.wire.primitives import DecodeError, Encoder

CORRUPTIONS_PER_VERSION = 25
TRUNCATED_BYTES_MAX = 1500

EVERY = [
    pytest.param(schema, message, id=message.name)
    for schema in message_maker.SCHEMA_FILES
    for message in schema.messages
]


def encoded(schema: SchemaFile, message: Message, version: int, rng: random.Random) -> bytes:
    out = Encoder()
    message_maker.make_message(schema, message, version, rng).encode(out, version)
    return out.to_bytes()


@pytest.mark.parametrize(("schema", "message"), EVERY)
def test_a_message_cut_anywhere_is_a_decode_error(schema: SchemaFile, message: Message) -> None:
    rng = random.Random(zlib.crc32(message.name.encode()))
    decode = message_maker.class_of(schema.path.stem, message.name).decode
    for version in {message.versions.low, message.versions.high}:
        data = min(
            (encoded(schema, message, version, rng) for _ in range(5)), key=lambda each: abs(len(each) - 400)
        )
        for length in range(min(len(data), TRUNCATED_BYTES_MAX)):
            with pytest.raises(DecodeError):
                decode(data[:length], 0, length, version)
            # The same where the buffer goes on after the frame's end.
            with pytest.raises(DecodeError):
                decode(data, 0, length, version)


@pytest.mark.parametrize(("schema", "message"), EVERY)
def test_a_corrupt_message_decodes_or_is_a_decode_error(schema: SchemaFile, message: Message) -> None:
    rng = random.Random(zlib.crc32(message.name.encode()) + 1)
    decode = message_maker.class_of(schema.path.stem, message.name).decode
    for version in range(message.versions.low, message.versions.high + 1):
        data = encoded(schema, message, version, rng)
        for _ in range(CORRUPTIONS_PER_VERSION if data else 0):
            corrupt = bytearray(data)
            for _ in range(rng.choice((1, 1, 2, 8))):
                corrupt[rng.randrange(len(corrupt))] = rng.choice((0, 0x7F, 0x80, 0xFF, rng.randrange(256)))
            with contextlib.suppress(DecodeError):
                _, end = decode(corrupt, 0, len(corrupt), version)
                assert end <= len(corrupt)


# Lengths and counts at their largest, in both encodings, behind prefixes that move them to every field.
HOSTILE = [
    prefix + claim * 5
    for claim in (
        b"\x7f\xff\xff\xff",
        b"\xff\xff\xff\xff\x07",
        b"\xff\xff\xff\xff\x0f",
        b"\x80",
        b"\xff",
        b"\x00\x7f",
    )
    for prefix in (b"", *(bytes(size) for size in range(1, 17)), b"\x00\x01a", b"\x02a", b"\x01" * 8)
]


def test_frames_of_a_few_bytes_that_claim_billions_of_elements_allocate_next_to_nothing() -> None:
    decoders = [
        (message_maker.class_of(schema.path.stem, message.name).decode, version)
        for schema in message_maker.SCHEMA_FILES
        for message in schema.messages
        for version in {message.versions.low, message.versions.high}
    ]
    tracemalloc.start()
    try:
        base, _ = tracemalloc.get_traced_memory()
        for decode, version in decoders:
            for frame in HOSTILE:
                with contextlib.suppress(DecodeError):
                    decode(frame, 0, len(frame), version)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - base < 256 * 1024


@pytest.mark.parametrize("count", [2**31 - 1, 2**24, 1000])
def test_a_count_above_what_the_remaining_bytes_can_hold_is_refused_before_the_list_is_made(
    count: int,
) -> None:
    # A Metadata request of version 1 is an int32 count and that many strings of at least two bytes.
    decode = message_maker.class_of("metadata", "MetadataRequest").decode
    frame = count.to_bytes(4, "big") + b"\x00\x01t" * 5
    with pytest.raises(DecodeError, match="claims a length"):
        decode(frame, 0, len(frame), 1)


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=200))
def test_any_bytes_as_a_request_header_decode_or_are_a_decode_error(data: bytes) -> None:
    with contextlib.suppress(DecodeError):
        header, pos = framing.decode_request_header(data, 0, len(data))
        assert 10 <= pos <= len(data)
        framing.decode_request(header, data, pos, len(data))


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(sorted(APIS)), st.integers(0, 18), st.binary(max_size=200))
def test_any_bytes_as_a_response_decode_or_are_a_decode_error(
    api_key: int, version: int, data: bytes
) -> None:
    with contextlib.suppress(DecodeError):
        framing.decode_response(api_key, version, data)


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=200), st.integers(0, 25))
def test_any_bytes_as_a_record_decode_or_are_a_decode_error(data: bytes, record_type: int) -> None:
    for module in ("consumer_offsets", "transaction_state", "share_group_state"):
        keys: Any = message_maker.class_of(module, "KEY_TYPES")
        values: Any = message_maker.class_of(module, "VALUE_TYPES")
        with contextlib.suppress(DecodeError):
            framing.decode_coordinator_key(keys, data)
        with contextlib.suppress(DecodeError):
            framing.decode_coordinator_value(values, record_type, data)
    with contextlib.suppress(DecodeError):
        framing.decode_metadata_record(b"\x01" + data)
    with contextlib.suppress(DecodeError):
        framing.decode_metadata_record(data)
