"""One connection's side of the protocol: agreeing on versions, and matching answers to requests."""

from __future__ import annotations

import pytest

from ottla.client.conversation import Conversation, frame_size
from ottla.client.effects import ANY_BROKER, Call, Versioned
from ottla.client.errors import ProtocolError, UnsupportedVersion
from ottla.wire.framing import decode_request_header, encode_response
from ottla.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from ottla.wire.messages.index import ApiKey
from ottla.wire.messages.init_producer_id import InitProducerIdRequest
from ottla.wire.messages.metadata import MetadataRequest, MetadataResponse


def joined(parts: list[object]) -> bytes:
    return b"".join(bytes(part) for part in parts)  # type: ignore[call-overload]


def frame(response: object, api_key: int, version: int, correlation_id: int) -> bytes:
    return joined(encode_response(response, api_key, version, correlation_id))[4:]


def versions(**ranges: tuple[int, int]) -> ApiVersionsResponse:
    return ApiVersionsResponse(
        api_keys=[
            ApiVersion(api_key=ApiKey[name], min_version=low, max_version=high)
            for name, (low, high) in ranges.items()
        ]
    )


def agreed(**ranges: tuple[int, int]) -> Conversation:
    conversation = Conversation("me", "1")
    conversation.hello()
    assert conversation.hello_answer(frame(versions(**ranges), ApiKey.API_VERSIONS, 4, 0)) is None
    return conversation


def asked_version(parts: list[object]) -> int:
    data = joined(parts)
    return decode_request_header(data, 4, len(data))[0].api_version


def test_the_newest_version_that_both_sides_have_is_used() -> None:
    conversation = agreed(METADATA=(0, 9))
    assert conversation.version_for(ApiKey.METADATA) == 9
    assert conversation.version_for(ApiKey.METADATA, 4) == 4
    assert agreed(METADATA=(0, 99)).version_for(ApiKey.METADATA) == 13


def test_a_version_whose_design_is_not_final_is_never_used() -> None:
    # InitProducerId 6 is marked unstable.
    assert agreed(INIT_PRODUCER_ID=(0, 6)).version_for(ApiKey.INIT_PRODUCER_ID) == 5
    call = Call(ANY_BROKER, InitProducerIdRequest(transactional_id=None))
    assert asked_version(agreed(INIT_PRODUCER_ID=(0, 6)).request(call)) == 5


def test_an_api_that_the_broker_lacks_or_has_only_too_new_is_refused_before_it_is_sent() -> None:
    with pytest.raises(UnsupportedVersion, match="does not offer Fetch"):
        agreed(METADATA=(0, 9)).version_for(ApiKey.FETCH)
    with pytest.raises(UnsupportedVersion, match="speaks Fetch 50 to 60"):
        agreed(FETCH=(50, 60)).version_for(ApiKey.FETCH)


def test_an_old_broker_that_answers_unsupported_version_is_asked_again_in_its_own() -> None:
    # KIP-511: the answer to an unknown version is error 35 in a body of version 0.
    conversation = Conversation("me", "1")
    assert asked_version(conversation.hello()) == 4
    refusal = versions(API_VERSIONS=(0, 2))
    refusal.error_code = 35
    again = conversation.hello_answer(frame(refusal, ApiKey.API_VERSIONS, 0, 0))
    assert again == 2
    assert asked_version(conversation.hello(again)) == 2
    assert conversation.hello_answer(frame(versions(METADATA=(0, 5)), ApiKey.API_VERSIONS, 2, 1)) is None
    assert conversation.ranges == {ApiKey.METADATA: (0, 5)}


def test_a_refusal_that_cannot_be_read_leads_to_version_0() -> None:
    conversation = Conversation("me", "1")
    conversation.hello()
    assert conversation.hello_answer(bytes(4) + (35).to_bytes(2, "big")) == 0


def test_a_broker_that_refuses_version_0_too_ends_the_talk() -> None:
    conversation = Conversation("me", "1")
    conversation.hello(0)
    with pytest.raises(UnsupportedVersion):
        conversation.hello_answer(bytes(4) + (35).to_bytes(2, "big") + bytes(4))


def test_a_request_is_built_for_the_version_that_was_agreed() -> None:
    built: list[int] = []

    def build(version: int) -> MetadataRequest:
        built.append(version)
        return MetadataRequest(topics=[])

    agreed(METADATA=(0, 7)).request(Call(ANY_BROKER, Versioned(ApiKey.METADATA, build)))
    assert built == [7]


def test_an_answer_to_another_request_is_a_broken_protocol() -> None:
    conversation = agreed(METADATA=(0, 9))
    conversation.request(Call(ANY_BROKER, MetadataRequest(topics=[])))
    with pytest.raises(ProtocolError, match="answered request 9 where 1 was due"):
        conversation.answer(frame(MetadataResponse(), ApiKey.METADATA, 9, 9))


def test_an_answer_to_nothing_is_a_broken_protocol() -> None:
    with pytest.raises(ProtocolError, match="to nothing"):
        agreed(METADATA=(0, 9)).answer(b"\0" * 8)


def test_a_request_without_an_answer_leaves_nothing_pending() -> None:
    conversation = agreed(METADATA=(0, 9))
    conversation.request(Call(ANY_BROKER, MetadataRequest(topics=[]), answered=False))
    assert conversation.pending_count == 0


@pytest.mark.parametrize(
    ("prefix", "hint"),
    [
        (b"HTTP", "web server"),
        (b"\x15\x03\x03\x00", "TLS"),
        (b"\xff\xff\xff\xff", "Kafka"),
        (bytes(4), "Kafka"),
    ],
)
def test_a_peer_that_does_not_speak_kafka_is_told_apart(prefix: bytes, hint: str) -> None:
    with pytest.raises(ProtocolError, match=hint):
        frame_size(prefix)
