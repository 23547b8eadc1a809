"""Messages and records survive encoding and decoding, whatever they contain, in every version."""

from __future__ import annotations

import random
import zlib
from typing import Any

import message_maker
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from message_schema import Message, SchemaFile
from ottla.wire import framing
from ottla.wire.messages import cluster_metadata, consumer_offsets, share_group_state, transaction_state
from ottla.wire.primitives import Encoder

EVERY = [(schema, message) for schema in message_maker.SCHEMA_FILES for message in schema.messages]

COORDINATOR_MODULES = {
    "consumer_offsets": consumer_offsets,
    "share_group_state": share_group_state,
    "transaction_state": transaction_state,
}

unhurried = settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def messages(draw: Any, *kinds: str) -> tuple[SchemaFile, Message, int, Any]:
    choices = [pair for pair in EVERY if not kinds or pair[1].kind in kinds]
    schema, message = draw(st.sampled_from(choices))
    version = draw(st.integers(message.versions.low, message.versions.high))
    rng = draw(st.randoms(use_true_random=False))
    return schema, message, version, message_maker.make_message(schema, message, version, rng)


@unhurried
@given(messages())
def test_a_message_decodes_to_what_was_encoded(case: tuple[SchemaFile, Message, int, Any]) -> None:
    _, _, version, made = case
    out = Encoder()
    made.encode(out, version)
    data = out.to_bytes()
    assert out.size_bytes == len(data)
    assert type(made).decode(data, 0, len(data), version) == (made, len(data))


@pytest.mark.parametrize(("schema", "message"), [pytest.param(*pair, id=pair[1].name) for pair in EVERY])
def test_every_version_of_a_message_round_trips_in_the_middle_of_a_buffer(
    schema: SchemaFile, message: Message
) -> None:
    rng = random.Random(zlib.crc32(message.name.encode()))
    for version in range(message.versions.low, message.versions.high + 1):
        made = message_maker.make_message(schema, message, version, rng)
        out = Encoder()
        made.encode(out, version)
        data = out.to_bytes()
        buffer = bytearray(b"\xff" * 7 + data + b"\xff" * 5)
        end = 7 + len(data)
        assert type(made).decode(buffer, 7, end, version) == (made, end)


@unhurried
@given(messages("request"), st.integers(-(2**31), 2**31 - 1), st.none() | st.text(max_size=200))
def test_a_framed_request_decodes_to_what_was_sent(
    case: tuple[SchemaFile, Message, int, Any], correlation_id: int, client_id: str | None
) -> None:
    schema, _, version, made = case
    frame = b"".join(framing.encode_request(made, version, correlation_id, client_id))
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    header, pos = framing.decode_request_header(frame, 4, len(frame))
    assert schema.api_key is not None
    assert header == framing.RequestHeader(schema.api_key, version, correlation_id, client_id)
    assert framing.decode_request(header, frame, pos, len(frame)) == made


@unhurried
@given(messages("response"), st.integers(-(2**31), 2**31 - 1))
def test_a_framed_response_decodes_to_what_was_sent(
    case: tuple[SchemaFile, Message, int, Any], correlation_id: int
) -> None:
    schema, _, version, made = case
    assert schema.api_key is not None
    frame = b"".join(framing.encode_response(made, schema.api_key, version, correlation_id))
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    assert framing.decode_response(schema.api_key, version, frame[4:]) == (correlation_id, made)


@unhurried
@given(messages("key", "value"))
def test_a_coordinator_record_round_trips_with_its_prefix(case: tuple[SchemaFile, Message, int, Any]) -> None:
    schema, message, version, made = case
    module = COORDINATOR_MODULES[schema.path.stem]
    if message.kind == "key":
        assert framing.decode_coordinator_key(module.KEY_TYPES, framing.encode_coordinator_key(made)) == made
    else:
        data = framing.encode_coordinator_value(made, version)
        read = framing.decode_coordinator_value(module.VALUE_TYPES, made.RECORD_TYPE, data)
        assert read == (made, version)


@unhurried
@given(messages("record"))
def test_a_metadata_record_round_trips_with_its_prefix(case: tuple[SchemaFile, Message, int, Any]) -> None:
    schema, _, version, made = case
    data = framing.encode_metadata_record(made, version)
    types = None
    if schema.path.stem != "cluster_metadata":
        types = message_maker.class_of(schema.path.stem, "RECORD_TYPES")
    assert framing.decode_metadata_record(data, types) == (made, version)
    assert cluster_metadata.RECORD_TYPES.get(made.RECORD_TYPE) is type(made) or types is not None
