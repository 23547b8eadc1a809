"""Administration of topics: names and ids, pages, and answers that go astray."""

from __future__ import annotations

from typing import Any

import pytest
from admin_script import AdminScript

from ottla.client.admin_acls import AclOperation
from ottla.client.admin_topics import TopicCursor
from ottla.client.errors import InvalidArgument, ServerError, UnsupportedVersion
from ottla.model.errors import ErrorCode
from ottla.wire.messages.delete_topics import DeletableTopicResult, DeleteTopicsResponse
from ottla.wire.messages.describe_topic_partitions import (
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponseCursor,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from ottla.wire.messages.metadata import MetadataResponse, MetadataResponsePartition, MetadataResponseTopic

ONE, TWO = b"1" * 16, b"2" * 16


@pytest.fixture
def script() -> AdminScript:
    made = AdminScript()

    def unknown(node: int, request: Any) -> Any:
        raise UnsupportedVersion("the broker does not offer DescribeTopicPartitions")

    made.handlers["DescribeTopicPartitions"] = unknown
    return made


def page(
    topic: str, index: int, after: tuple[str, int] | None = None, code: int = 0
) -> DescribeTopicPartitionsResponse:
    partition = DescribeTopicPartitionsResponsePartition(
        partition_index=index, leader_id=1, eligible_leader_replicas=[2], last_known_elr=[3]
    )
    return DescribeTopicPartitionsResponse(
        topics=[DescribeTopicPartitionsResponseTopic(name=topic, error_code=code, partitions=[partition])],
        next_cursor=None
        if after is None
        else DescribeTopicPartitionsResponseCursor(topic_name=after[0], partition_index=after[1]),
    )


def test_topics_are_deleted_by_id_and_only_where_the_broker_knows_ids(script: AdminScript) -> None:
    script.handlers["DeleteTopics"] = lambda node, request: DeleteTopicsResponse(
        responses=[
            DeletableTopicResult(name="a", topic_id=ONE),
            DeletableTopicResult(name=None, topic_id=TWO, error_code=100),
        ]
    )
    results = script.run(script.admin.delete_topics_by_id([ONE, TWO]))
    assert results[ONE] is None
    assert results[TWO].code is ErrorCode.UNKNOWN_TOPIC_ID
    sent = script.asked("DeleteTopics")[-1][1].topics
    assert [(t.name, t.topic_id) for t in sent] == [(None, ONE), (None, TWO)]
    script.versions["DeleteTopics"] = 5
    with pytest.raises(UnsupportedVersion, match="by their id"):
        script.run(script.admin.delete_topics_by_id([ONE]))
    with pytest.raises(InvalidArgument, match="sixteen bytes"):
        script.run(script.admin.delete_topics_by_id([b"short"]))


def test_a_topic_that_does_not_exist_does_not_hide_the_others(script: AdminScript) -> None:
    results = script.run(script.admin.describe_topics(["a", "gone"]))
    assert [p.leader for p in results["a"].partitions] == [1, 2]
    assert results["gone"].code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert script.pauses == []  # a name that was mistyped is not waited for


def test_a_topic_that_is_being_made_is_waited_for(script: AdminScript) -> None:
    codes = [5, 0]

    def metadata(node: int, request: Any) -> MetadataResponse:
        part = MetadataResponsePartition(partition_index=0, leader_id=1)
        topic = MetadataResponseTopic(name="a", error_code=codes.pop(0), partitions=[part])
        return MetadataResponse(topics=[topic])

    script.handlers["Metadata"] = metadata
    assert script.run(script.admin.describe_topics(["a"])).all()["a"].partitions[0].leader == 1
    assert len(script.pauses) == 1


def test_topics_are_described_by_id_with_what_the_caller_may_do(script: AdminScript) -> None:
    def metadata(node: int, request: Any) -> MetadataResponse:
        assert [(t.name, t.topic_id) for t in request.topics] == [(None, ONE), (None, TWO)]
        assert request.include_topic_authorized_operations
        return MetadataResponse(
            topics=[
                MetadataResponseTopic(name="a", topic_id=ONE, topic_authorized_operations=1 << 3 | 1 << 8),
                MetadataResponseTopic(name=None, topic_id=TWO, error_code=100),
            ]
        )

    script.handlers["Metadata"] = metadata
    asking = script.admin.describe_topics_by_id([ONE, TWO], include_authorized_operations=True)
    results = script.run(asking)
    assert results[ONE].name == "a"
    assert results[ONE].authorized_operations == {AclOperation.READ, AclOperation.DESCRIBE}
    assert isinstance(results[TWO], ServerError)
    script.versions["Metadata"] = 11
    with pytest.raises(UnsupportedVersion, match="by their id"):
        script.run(script.admin.describe_topics_by_id([ONE]))


def test_eligible_leaders_are_gathered_over_all_pages(script: AdminScript) -> None:
    pages = [page("a", 0, ("a", 1)), page("a", 1, ("b", 0)), page("b", 0)]
    script.handlers["DescribeTopicPartitions"] = lambda node, request: pages.pop(0)
    results = script.run(script.admin.describe_topics(["b", "a"])).all()
    assert [(p.elr, p.last_known_elr) for p in results["a"].partitions] == [((2,), (3,)), ((2,), (3,))]
    assert list(results) == ["b", "a"]
    asked = [r for _, r in script.asked("DescribeTopicPartitions")]
    assert [[t.name for t in r.topics] for r in asked] == [["a", "b"], ["a", "b"], ["b"]]
    assert [r.cursor and (r.cursor.topic_name, r.cursor.partition_index) for r in asked] == [
        None,
        ("a", 1),
        ("b", 0),
    ]


def test_a_broker_whose_pages_go_round_in_circles_is_not_followed_for_ever(script: AdminScript) -> None:
    script.handlers["DescribeTopicPartitions"] = lambda node, request: page("a", 0, ("a", 1))
    assert script.run(script.admin.describe_topics(["a"])).all()["a"].name == "a"
    assert len(script.asked("DescribeTopicPartitions")) == 2


def test_a_page_says_where_the_next_one_begins(script: AdminScript) -> None:
    script.handlers["DescribeTopicPartitions"] = lambda node, request: page("a", 0, ("a", 1))
    found = script.run(script.admin.describe_topic_partitions(["a", "b"], limit=1))
    assert found.next == TopicCursor("a", 1)
    assert [p.elr for p in found.topics["a"].partitions] == [(2,)]
    script.handlers["DescribeTopicPartitions"] = lambda node, request: page("b", 0, code=3)
    found = script.run(script.admin.describe_topic_partitions(limit=1, cursor=found.next))
    request = script.asked("DescribeTopicPartitions")[-1][1]
    assert (request.response_partition_limit, request.cursor.topic_name, request.topics) == (1, "a", [])
    assert found.next is None
    assert found.topics["b"].code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_internal_topics_are_listed_unless_they_are_not_wanted(script: AdminScript) -> None:
    script.handlers["Metadata"] = lambda node, request: MetadataResponse(
        topics=[
            MetadataResponseTopic(name="z"),
            MetadataResponseTopic(name="__consumer_offsets", is_internal=True),
            MetadataResponseTopic(name="broken", error_code=29),
        ]
    )
    assert script.run(script.admin.list_topics()) == ["__consumer_offsets", "z"]
    assert script.run(script.admin.list_topics(internal=False)) == ["z"]
