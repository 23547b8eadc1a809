"""Request and response headers, and the prefixes of records."""

from __future__ import annotations

import pytest

from ottla.wire import framing
from ottla.wire.messages import consumer_offsets
from ottla.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ottla.wire.messages.cluster_metadata import NoOpRecord
from ottla.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from ottla.wire.messages.headers import RequestHeader, ResponseHeader
from ottla.wire.messages.heartbeat import HeartbeatResponse
from ottla.wire.messages.index import APIS, request_class
from ottla.wire.primitives import DecodeError, EncodeError, Encoder


@pytest.mark.parametrize("api_key", sorted(APIS))
def test_the_request_header_has_tagged_fields_exactly_where_the_body_is_flexible(api_key: int) -> None:
    api = APIS[api_key]
    for version in range(api.min_version, api.max_version + 1):
        header_version = 2 if version >= api.first_flexible_version else 1
        out = Encoder()
        RequestHeader(
            request_api_key=api_key, request_api_version=version, correlation_id=7, client_id="c"
        ).encode(out, header_version)
        request = request_class(api_key)()
        header_bytes = out.to_bytes()
        request.encode(out, version)
        frame = b"".join(framing.encode_request(request, version, 7, "c"))
        assert frame[4:] == out.to_bytes()
        header, pos = framing.decode_request_header(frame, 4, len(frame))
        assert (header.api_key, header.api_version, header.client_id) == (api_key, version, "c")
        assert pos == 4 + len(header_bytes)


@pytest.mark.parametrize(("version", "header_version"), [(3, 0), (4, 1)])
def test_the_response_header_has_tagged_fields_exactly_where_the_body_is_flexible(
    version: int, header_version: int
) -> None:
    out = Encoder()
    ResponseHeader(correlation_id=9).encode(out, header_version)
    response = HeartbeatResponse(error_code=27)
    response.encode(out, version)
    frame = b"".join(framing.encode_response(response, response.API_KEY, version, 9))
    assert frame[4:] == out.to_bytes()
    assert framing.decode_response(response.API_KEY, version, frame[4:]) == (9, response)


@pytest.mark.parametrize("version", range(5))
def test_the_api_versions_response_header_never_has_tagged_fields(version: int) -> None:
    # KIP-511: the client does not know yet which version it will get.
    response = ApiVersionsResponse(error_code=35)
    frame = b"".join(framing.encode_response(response, 18, version, 5))
    out = Encoder()
    response.encode(out, version)
    assert frame[4:] == b"\x00\x00\x00\x05" + out.to_bytes()
    assert framing.decode_response(18, version, frame[4:]) == (5, response)


def test_the_header_of_an_unknown_version_is_read_so_that_it_can_be_answered() -> None:
    frame = bytearray(b"".join(framing.encode_request(ApiVersionsRequest(), 3, 5, "c")))
    frame[6:8] = (1000).to_bytes(2, "big")
    header, _ = framing.decode_request_header(frame, 4, len(frame))
    assert (header.api_key, header.api_version, header.correlation_id) == (18, 1000, 5)
    with pytest.raises(DecodeError, match="no such version"):
        framing.decode_request(header, frame, 4, len(frame))


def test_the_header_of_an_unknown_api_is_read_and_its_body_is_a_decode_error() -> None:
    frame = b"\x03\xe7\x00\x00\x00\x00\x00\x05\xff\xff"
    header, pos = framing.decode_request_header(frame, 0, len(frame))
    assert header == framing.RequestHeader(999, 0, 5, None)
    with pytest.raises(DecodeError, match="unknown API key 999"):
        framing.decode_request(header, frame, pos, len(frame))
    with pytest.raises(DecodeError, match="unknown API key 999"):
        framing.decode_response(999, 0, frame)


def test_a_header_cut_anywhere_is_a_decode_error() -> None:
    frame = b"".join(framing.encode_request(ApiVersionsRequest(), 3, 5, "client"))
    _, body = framing.decode_request_header(frame, 4, len(frame))
    for end in range(4, body):
        with pytest.raises(DecodeError):
            framing.decode_request_header(frame, 4, end)
        with pytest.raises(DecodeError):
            framing.decode_request_header(frame[:end], 4, end)


def test_tagged_fields_in_a_header_are_stepped_over() -> None:
    frame = b"".join(framing.encode_request(ApiVersionsRequest(client_software_name="x"), 3, 5, "c"))
    _, body = framing.decode_request_header(frame, 4, len(frame))
    tagged = frame[: body - 1] + b"\x01\x05\x02ab" + frame[body:]
    header, pos = framing.decode_request_header(tagged, 4, len(tagged))
    assert framing.decode_request(header, tagged, pos, len(tagged)).client_software_name == "x"


def test_a_client_id_that_does_not_fit_is_an_encode_error() -> None:
    with pytest.raises(EncodeError):
        framing.encode_request(ApiVersionsRequest(), 0, 1, "x" * 40000)


class FileSlice:
    def __len__(self) -> int:
        return 1 << 20


def test_the_size_of_a_frame_includes_the_file_slices_in_it() -> None:
    in_file = FileSlice()
    partition = PartitionData(records=in_file)
    response = FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[partition])])
    parts = framing.encode_response(response, 1, 12, 3)
    assert in_file in parts
    assert int.from_bytes(parts[0][:4], "big") == sum(len(part) for part in parts) - 4


def test_a_record_of_an_unknown_type_says_so() -> None:
    with pytest.raises(framing.UnknownRecordType) as caught:
        framing.decode_coordinator_key(consumer_offsets.KEY_TYPES, b"\x00\x63abc")
    assert caught.value.record_type == 99
    with pytest.raises(framing.UnknownRecordType):
        framing.decode_coordinator_value(consumer_offsets.VALUE_TYPES, 99, b"\x00\x00")
    with pytest.raises(framing.UnknownRecordType):
        framing.decode_metadata_record(b"\x01\x63\x00")


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "truncated"),
        (b"\x01\x14", "truncated"),
        (b"\x00\x14\x00\x00", "frame version 0"),
        (b"\x02\x14\x00\x00", "frame version 2"),
        (b"\x01\x14\x07\x00", "no such version"),
        (b"\x01\x14\x00\x00?", "1 bytes after"),
    ],
)
def test_a_metadata_record_with_a_bad_frame_is_a_decode_error(data: bytes, problem: str) -> None:
    assert framing.decode_metadata_record(b"\x01\x14\x00\x00") == (NoOpRecord(), 0)
    with pytest.raises(DecodeError, match=problem):
        framing.decode_metadata_record(data)


@pytest.mark.parametrize("data", [b"", b"\x00"])
def test_a_coordinator_record_without_its_prefix_is_a_decode_error(data: bytes) -> None:
    with pytest.raises(DecodeError):
        framing.decode_coordinator_key(consumer_offsets.KEY_TYPES, data)
    with pytest.raises(DecodeError):
        framing.decode_coordinator_value(consumer_offsets.VALUE_TYPES, 1, data)
