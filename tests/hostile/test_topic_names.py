"""Names of topics become names of directories: what is not a plain name is refused wherever a client can
say one.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.model.errors import ErrorCode
from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from support.broker_process import BrokerProcess
from support.raw_client import RawClient, batch_of

BAD_NAMES = [
    "",
    ".",
    "..",
    "../escape",
    "a/b",
    "/etc/passwd",
    "a\\b",
    "a b",
    "a\0b",
    "ümlaut",
    "x" * 250,
    "x" * 5000,
]


def tree(path: Path) -> set[str]:
    return {str(each.relative_to(path)) for each in path.iterdir()}


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_that_is_no_name_is_refused_by_every_api(
    shared_broker: BrokerProcess, raw: RawClient, name: str
) -> None:
    before, beside = tree(shared_broker.data_dir), tree(shared_broker.data_dir.parent)
    asked = CreatableTopic(name=name, num_partitions=1, replication_factor=1)
    (made,) = raw.call(CreateTopicsRequest(topics=[asked], timeout_ms=5000), 7).topics
    assert made.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    # Auto-creation is the other way to make one.
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=True)
    (found,) = raw.call(request, 9).topics
    assert found.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert raw.produce(name, batch_of(b"x")).error_code in (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
    )
    (gone,) = raw.call(
        DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=5000), 6
    ).responses
    assert gone.error_code in (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_TOPIC_EXCEPTION)
    assert tree(shared_broker.data_dir) == before
    assert tree(shared_broker.data_dir.parent) == beside


def test_the_longest_name_works(raw: RawClient) -> None:
    name = "x" * 249
    raw.create_topic(name)
    assert raw.produce(name, batch_of(b"v")).error_code == ErrorCode.NONE
    assert [each.value for each in raw.read_all(name)] == [b"v"]
    (gone,) = raw.call(
        DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=5000), 6
    ).responses
    assert gone.error_code == ErrorCode.NONE


def test_names_that_differ_in_dots_and_underscores_only_do_not_go_together(raw: RawClient) -> None:
    """Kafka's rule: their metrics would have one name."""
    raw.create_topic("same.name")
    asked = CreatableTopic(name="same_name", num_partitions=1, replication_factor=1)
    (made,) = raw.call(CreateTopicsRequest(topics=[asked], timeout_ms=5000), 7).topics
    assert made.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION


def test_a_topic_twice_in_one_request_is_refused(raw: RawClient, topic_name: str) -> None:
    asked = CreatableTopic(name=topic_name, num_partitions=1, replication_factor=1)
    answer = raw.call(CreateTopicsRequest(topics=[asked, asked], timeout_ms=5000), 7)
    assert {each.error_code for each in answer.topics} == {ErrorCode.INVALID_REQUEST}
    (found,) = raw.call(
        MetadataRequest(topics=[MetadataRequestTopic(name=topic_name)], allow_auto_topic_creation=False), 9
    ).topics
    assert found.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
