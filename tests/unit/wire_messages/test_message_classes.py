"""What the generated classes promise beyond bytes: defaults, version checks, zero copies, lazy imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ottla.wire.messages.alter_user_scram_credentials import ScramCredentialUpsertion
from ottla.wire.messages.create_topics import CreateTopicsRequest
from ottla.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
    ReplicaState,
)
from ottla.wire.messages.index import API_KEYS, APIS, ApiKey, request_class, response_class
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from ottla.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from ottla.wire.primitives import ZERO_UUID, DecodeError, EncodeError, Encoder

REPOSITORY = Path(__file__).resolve().parents[3]


def encoded(message: Any, version: int) -> bytes:
    out = Encoder()
    message.encode(out, version)
    return out.to_bytes()


def again(message: Any, version: int) -> Any:
    data = encoded(message, version)
    return type(message).decode(data, 0, len(data), version)[0]


def test_the_generated_modules_are_what_the_schema_says() -> None:
    command = [sys.executable, str(REPOSITORY / "tools" / "generate_messages.py"), "--check"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_importing_the_index_imports_no_message() -> None:
    program = (
        "import sys, ottla.wire.framing\n"
        "print(sorted(name for name in sys.modules if name.startswith('ottla.wire.messages.')))"
    )
    environment = {"PYTHONPATH": str(REPOSITORY / "src")}
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    assert result.stdout.strip() == "['ottla.wire.messages.index']"


def test_the_index_agrees_with_the_classes() -> None:
    assert {key.value for key in ApiKey} == set(APIS) == set(API_KEYS.values())
    for key, api in APIS.items():
        for found in (request_class(key), response_class(key)):
            assert key == found.API_KEY
            assert (api.min_version, api.max_version) == (found.MIN_VERSION, found.MAX_VERSION)
            assert api.first_flexible_version == found.FIRST_FLEXIBLE_VERSION
    with pytest.raises(KeyError):
        request_class(4)


def test_only_the_newest_init_producer_id_is_unstable() -> None:
    # KIP-939 is not finished in Kafka 4.2.
    unstable = {api.name: api.unstable_version for api in APIS.values() if api.unstable_version is not None}
    assert unstable == {"InitProducerId": 6}


def test_defaults_are_kafkas_and_lists_are_not_shared() -> None:
    first, second = FetchRequest(), FetchRequest()
    assert (first.max_bytes, first.session_epoch, first.replica_id) == (0x7FFFFFFF, -1, -1)
    assert first.cluster_id is None
    assert first.replica_state == ReplicaState(replica_id=-1, replica_epoch=-1)
    first.topics.append(FetchTopic())
    first.replica_state.replica_id = 1
    assert second.topics == []
    assert second.replica_state.replica_id == -1
    assert first != second
    assert FetchPartition().replica_directory_id == ZERO_UUID
    assert CreateTopicsRequest().timeout_ms == 60000


def test_a_list_given_to_the_constructor_is_kept_even_when_empty() -> None:
    topics: list[FetchTopic] = []
    assert FetchRequest(topics=topics).topics is topics
    assert MetadataRequest(topics=None).topics is None


def test_a_set_field_that_the_version_cannot_carry_is_an_error() -> None:
    # Kafka raises UnsupportedVersionException here.
    partition = FetchPartition(last_fetched_epoch=5)
    request = FetchRequest(topics=[FetchTopic(topic="t", partitions=[partition])])
    with pytest.raises(EncodeError, match=r"FetchPartition\.last_fetched_epoch is set, and version 11"):
        encoded(request, 11)
    encoded(request, 12)


def test_an_ignorable_field_is_dropped_where_the_version_lacks_it() -> None:
    def response(log_start_offset: int) -> ProduceResponse:
        partition = PartitionProduceResponse(index=1, log_start_offset=log_start_offset)
        return ProduceResponse(responses=[TopicProduceResponse(name="t", partition_responses=[partition])])

    assert again(response(9), 5) == response(9)
    assert again(response(9), 4) == response(-1)


def test_null_is_refused_where_the_version_has_no_null() -> None:
    # Metadata version 0 asks for all topics with an empty list, later ones with null.
    with pytest.raises(EncodeError, match="may not be null in version 0"):
        encoded(MetadataRequest(topics=None), 0)
    assert again(MetadataRequest(topics=None), 1).topics is None
    with pytest.raises(DecodeError, match="is null"):
        MetadataRequest.decode(b"\xff\xff\xff\xff", 0, 4, 0)


@pytest.mark.parametrize(
    "topic",
    [
        MetadataRequestTopic(topic_id=b"short"),
        MetadataRequestTopic(name="x" * 32768),
        MetadataRequestTopic(name="\ud800"),
        MetadataRequestTopic(name=5),  # type: ignore[arg-type]
    ],
    ids=["short uuid", "long string", "lone surrogate", "not a string"],
)
def test_a_value_that_does_not_fit_its_type_is_an_encode_error(topic: MetadataRequestTopic) -> None:
    with pytest.raises(EncodeError):
        encoded(MetadataRequest(topics=[topic]), 12)


def test_an_integer_out_of_range_is_an_encode_error() -> None:
    with pytest.raises(EncodeError):
        encoded(ProduceRequest(acks=40000), 9)


@pytest.mark.parametrize("version", [-1, 2, 14])
def test_a_version_outside_the_range_is_an_error_in_both_directions(version: int) -> None:
    with pytest.raises(EncodeError, match="no such version"):
        encoded(ProduceRequest(), version)
    with pytest.raises(DecodeError, match="no such version"):
        ProduceRequest.decode(bytes(100), 0, 100, version)


def test_a_range_outside_the_buffer_is_a_decode_error() -> None:
    for pos, end in ((-1, 10), (0, 11), (9, 5)):
        with pytest.raises(DecodeError):
            ProduceRequest.decode(bytes(10), pos, end, 9)


def test_invalid_utf8_is_a_decode_error() -> None:
    with pytest.raises(DecodeError):
        MetadataRequest.decode(b"\x00\x00\x00\x01\x00\x02\xc3\x28", 0, 8, 1)


def test_decoded_records_are_a_view_of_the_input() -> None:
    partition = PartitionProduceData(index=1, records=b"r" * 100)
    request = ProduceRequest(topic_data=[TopicProduceData(name="t", partition_data=[partition])])
    for version in (3, 9, 12):
        data = bytearray(encoded(request, version))
        read, _ = ProduceRequest.decode(data, 0, len(data), version)
        records = read.topic_data[0].partition_data[0].records
        assert isinstance(records, memoryview)
        assert records.obj is data
        data[data.index(b"rrr")] = ord("X")
        assert records[0] == ord("X")


class FileSlice:
    """As the log hands them out: a length, no bytes."""

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes

    def __len__(self) -> int:
        return self.size_bytes


def test_attached_records_become_parts_in_order_without_a_copy() -> None:
    large, small, in_file = bytearray(5000), b"s" * 10, FileSlice(10)
    partitions = [
        PartitionData(partition_index=number, records=records)
        for number, records in enumerate((large, small, in_file, None))
    ]
    out = Encoder()
    FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=partitions)]).encode(out, 12)
    expected = out.size_bytes
    parts = out.finish()
    assert [part for part in parts if part is large or part is in_file] == [large, in_file]
    assert sum(len(part) for part in parts) == expected == out.size_bytes
    joined = b"".join(bytes(10) if part is in_file else part for part in parts)
    read, end = FetchResponse.decode(joined, 0, len(joined), 12)
    assert end == len(joined)
    assert [each.records for each in read.responses[0].partitions] == [large, small, bytes(10), None]


def test_unknown_tagged_fields_are_stepped_over() -> None:
    # KIP-482: a reader ignores the tags that it does not know.
    data = encoded(FetchRequest(cluster_id="c"), 12)
    known = b"\x01\x00\x02\x02c"
    assert data.endswith(known)
    extended = data[: -len(known)] + b"\x03" + known[1:] + b"\x63\x02??" + b"\x80\x01\x00"
    assert FetchRequest.decode(extended, 0, len(extended), 12) == (
        FetchRequest(cluster_id="c"),
        len(extended),
    )


def test_a_tagged_field_that_does_not_fill_its_size_is_a_decode_error() -> None:
    data = encoded(FetchRequest(cluster_id="c"), 12)
    broken = data[:-5] + b"\x01\x00\x03\x02c?"
    with pytest.raises(DecodeError, match="does not fill"):
        FetchRequest.decode(broken, 0, len(broken), 12)


def test_repr_shows_fields_but_neither_secrets_nor_records() -> None:
    upsertion = ScramCredentialUpsertion(name="alice", salt=b"salt", salted_password=b"hunter2")
    assert "alice" in repr(upsertion)
    assert "hunter2" not in repr(upsertion)
    assert (
        repr(PartitionProduceData(index=1, records=b"abc"))
        == "PartitionProduceData(index=1, records=<3 bytes>)"
    )
