"""What a peer controls is bounded: sizes of answers, of what is kept between requests, of what one request
may cost (STYLE.md 7).
"""

from __future__ import annotations

import pytest
from broker_bench import Bench, batch, fetch_request, produce_request

from ottla.model.errors import ErrorCode
from ottla.model.limits import OTHER_REQUEST_BYTES_MAX
from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.create("events", 50)
    return bench


def test_an_answer_to_many_unknown_names_is_not_much_larger_than_the_question(bench: Bench) -> None:
    request = MetadataRequest(topics=[MetadataRequestTopic(name=f"t{index}") for index in range(20_000)])
    peer = bench.connect()
    peer.send(request, 9)
    assert not peer.replies  # looked up in slices: other connections come in between
    bench.scheduler.run_until(lambda: bool(peer.replies), within_ms=1)
    question = sum(len(topic.name or "") + 3 for topic in request.topics or ())
    assert len(peer.replies[-1]) < 4 * question


def test_a_huge_request_without_records_closes_its_connection_before_it_is_decoded(bench: Bench) -> None:
    frame = b"\x00\x03\x00\x04\x00\x00\x00\x01\xff\xff" + bytes(OTHER_REQUEST_BYTES_MAX)
    bench.peer.send_frame(frame)
    assert bench.peer.close_reason is not None and "without records" in bench.peer.close_reason
    large = batch(value=bytes(OTHER_REQUEST_BYTES_MAX))
    answer = bench.call(produce_request("events", large), 12, peer=bench.connect())
    assert answer.responses[0].partition_responses[0].error_code == ErrorCode.MESSAGE_TOO_LARGE


def test_many_lookups_take_turns_with_the_other_connections(bench: Bench) -> None:
    partitions = [ListOffsetsPartition(partition_index=index, timestamp=0) for index in range(50)]
    request = ListOffsetsRequest(topics=[ListOffsetsTopic(name="events", partitions=partitions)])
    reply = bench.call(request)
    assert [each.error_code for each in reply.topics[0].partitions] == [0] * 50


def test_names_that_nobody_has_leave_nothing_behind(bench: Bench) -> None:
    def sizes() -> tuple[int, ...]:
        node = bench.node
        return (
            len(node.partitions),
            len(node.image.topics),
            sum(len(each) for each in node.metadata_cache._cached.values()),
            len(node.fetch_sessions),
            len(node.config._log_configs),
            bench.driver.tasks_waiting,
        )

    bench.call(MetadataRequest(topics=None))
    before = sizes()
    for index in range(50):
        name = f"nobody-{index}"
        bench.call(MetadataRequest(topics=[MetadataRequestTopic(name=name)]))
        bench.call(produce_request(name), 12)
        bench.call(fetch_request({(name, 0): 0}), 12)
        bench.call(DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=10))
        partitions = [ListOffsetsPartition(partition_index=0, timestamp=-1)]
        bench.call(ListOffsetsRequest(topics=[ListOffsetsTopic(name=name, partitions=partitions)]))
    assert sizes() == before


def test_topics_made_and_deleted_in_a_loop_leave_no_memory_behind(bench: Bench) -> None:
    def held() -> tuple[int, int, int, int]:
        node = bench.node
        return (
            len(node.partitions_by_id),
            len(node.logs.logs),
            len(node.logs.offline),
            sum(len(each) for each in node.metadata_cache._cached.values()),
        )

    bench.call(MetadataRequest(topics=None))
    before = held()
    for _ in range(30):
        bench.create("short", 3)
        bench.call(MetadataRequest(topics=None))
        bench.delete("short")
    bench.call(MetadataRequest(topics=None))
    assert held() == before


def test_configs_changed_in_a_loop_leave_no_memory_behind(bench: Bench) -> None:
    for value in range(1, 301):
        bench.alter(2, "events", retention_ms=str(value))
    assert bench.log("events").config.retention_ms == 300
    assert len(bench.node.config._log_configs) <= 256


def test_ten_thousand_topics_that_cannot_be_made_are_refused_without_a_record(bench: Bench) -> None:
    end = bench.node.quorum.log.log_end_offset
    topics = [
        CreatableTopic(name=f"x/{index}", num_partitions=1, replication_factor=1) for index in range(10_000)
    ]
    reply = bench.call(CreateTopicsRequest(topics=topics, timeout_ms=1000))
    assert {topic.error_code for topic in reply.topics} == {ErrorCode.INVALID_TOPIC_EXCEPTION}
    assert bench.node.quorum.log.log_end_offset == end


def test_waiting_fetches_of_a_connection_that_is_gone_are_gone_with_it(bench: Bench) -> None:
    peer = bench.connect()
    before = bench.driver.tasks_waiting
    for _ in range(100):
        peer.send(fetch_request({("events", 0): 0}, max_wait_ms=2**31 - 1), 12)
    assert bench.driver.tasks_waiting == before + 100
    watches = bench.node.partitions[("events", 0)].watches
    assert watches is not None and len(watches) == 100
    peer.close("gone")
    bench.scheduler.run_for(1)
    assert bench.driver.tasks_waiting == before
    assert bench.node.partitions[("events", 0)].watches is None


def test_a_waiting_produce_holds_no_bytes_of_its_request(bench: Bench) -> None:
    """The records are in the file by then, and a large frame's memory is another connection's turn."""
    bench.create("careful", flush_messages="1")
    large = produce_request("careful", batch(value=bytes(500_000)))
    peer = bench.connect()
    peer.send(large, 12)
    assert not peer.replies
    assert peer.frames_kept == 0
    bench.settle()
    assert peer.replies
