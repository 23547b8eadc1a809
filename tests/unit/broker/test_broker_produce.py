"""Produce (key 0): what is appended, what is refused with which code, and when the reply leaves."""

from __future__ import annotations

import errno
from typing import Any

import pytest
from broker_bench import Bench, batch, fetch_request, partitions_of, produce_request, sent, versions_of

from ottla.metadata.image import EMPTY_IMAGE
from ottla.model.errors import ErrorCode
from ottla.wire.compression import Codec
from ottla.wire.framing import encode_response
from ottla.wire.messages.metadata import MetadataRequest
from ottla.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from ottla.wire.record_batch import EndTxnMarker, decode_batch, encode_end_txn_batch


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.create("events", 2)
    return bench


def answer_of(reply: Any) -> Any:
    return reply.responses[0].partition_responses[0]


def refusal(bench: Bench, request: ProduceRequest, version: int = 12) -> ErrorCode:
    answer = answer_of(bench.call(request, version))
    assert answer.base_offset == -1
    return ErrorCode(answer.error_code)


@pytest.mark.parametrize("version", versions_of(ProduceRequest))
@pytest.mark.parametrize("acks", [1, -1])
def test_every_version_appends_and_answers_with_the_first_offset(
    bench: Bench, version: int, acks: int
) -> None:
    topic_id = bench.node.image.topics["events"].topic_id
    for expected in (0, 3):
        request = produce_request("events", batch(3), partition=1, acks=acks, topic_id=topic_id)
        reply = bench.call(request, version)
        answer = answer_of(reply)
        assert (answer.error_code, answer.index, answer.base_offset) == (0, 1, expected)
        assert answer.log_append_time_ms == -1
        if version >= 5:
            assert answer.log_start_offset == 0
        if version >= 13:
            assert reply.responses[0].topic_id == topic_id
        else:
            assert reply.responses[0].name == "events"
    assert bench.log("events", 1).log_end_offset == bench.log("events", 1).high_watermark == 6


def test_log_append_time_is_answered_and_written(bench: Bench) -> None:
    bench.create("stamped", message_timestamp_type="LogAppendTime")
    answer = answer_of(bench.call(produce_request("stamped", batch(timestamp=5)), 12))
    assert answer.log_append_time_ms == bench.clock.now_ms()


def test_a_request_with_several_partitions_answers_each_alone(bench: Bench) -> None:
    def data(index: int, records: bytearray) -> PartitionProduceData:
        return PartitionProduceData(index=index, records=memoryview(records))

    broken = batch()
    broken[-1] ^= 1
    request = ProduceRequest(
        acks=-1,
        timeout_ms=1000,
        topic_data=[
            TopicProduceData(name="events", partition_data=[data(0, batch()), data(1, broken)]),
            TopicProduceData(name="missing", partition_data=[data(0, batch())]),
        ],
    )
    reply = bench.call(request, 9)
    assert [
        (topic.name, each.index, each.error_code)
        for topic in reply.responses
        for each in topic.partition_responses
    ] == [
        ("events", 0, ErrorCode.NONE),
        ("events", 1, ErrorCode.CORRUPT_MESSAGE),
        ("missing", 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]


def test_an_unknown_topic_partition_or_id_is_refused(bench: Bench) -> None:
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert refusal(bench, produce_request("missing")) == unknown
    assert refusal(bench, produce_request("events", partition=2)) == unknown
    assert refusal(bench, produce_request("events", partition=-1)) == unknown
    strange = produce_request("events", topic_id=b"x" * 16)
    assert refusal(bench, strange, 13) == ErrorCode.UNKNOWN_TOPIC_ID
    topic_id = bench.node.image.topics["events"].topic_id
    assert refusal(bench, produce_request("", partition=2, topic_id=topic_id), 13) == unknown


def test_the_id_of_a_deleted_topic_does_not_reach_its_successor(bench: Bench) -> None:
    old = bench.node.image.topics["events"].topic_id
    bench.delete("events")
    assert refusal(bench, produce_request("events")) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    bench.create("events")
    assert refusal(bench, produce_request("events", topic_id=old), 13) == ErrorCode.UNKNOWN_TOPIC_ID
    assert bench.log("events").log_end_offset == 0


def test_what_is_no_single_batch_of_format_2_is_refused_with_kafkas_codes(bench: Bench) -> None:
    """ProduceRequest.validateRecords, and what the iterator below it throws."""
    invalid, corrupt = ErrorCode.INVALID_RECORD, ErrorCode.CORRUPT_MESSAGE
    whole = batch()

    def changed(position: int, data: bytes) -> bytearray:
        copy = bytearray(whole)
        copy[position : position + len(data)] = data
        return copy

    for data, code in (
        (bytearray(), invalid),
        (whole[:11], invalid),
        (whole[:16], invalid),
        (whole[:60], invalid),
        (whole[:-1], invalid),
        (whole + whole, invalid),
        (whole + b"\x00", invalid),
        (changed(16, b"\x00"), invalid),
        (changed(16, b"\x01"), invalid),
        (changed(16, b"\x03"), corrupt),
        (changed(16, b"\xff"), corrupt),
        (changed(8, (-1).to_bytes(4, "big", signed=True)), corrupt),
        (changed(8, (13).to_bytes(4, "big")), corrupt),
        (changed(8, (14).to_bytes(4, "big")), corrupt),
        (changed(len(whole) - 1, bytes([whole[-1] ^ 0x40])), corrupt),
        (changed(57, (2).to_bytes(4, "big")), corrupt),
    ):
        assert refusal(bench, produce_request("events", data)) == code, bytes(data[:62]).hex()
    request = produce_request("events")
    request.topic_data[0].partition_data[0].records = None
    assert refusal(bench, request) == invalid
    assert bench.log("events").log_end_offset == 0


def test_clients_may_not_write_control_records_nor_transactions_without_their_id(bench: Bench) -> None:
    control = batch(control=True)
    assert refusal(bench, produce_request("events", control)) == ErrorCode.INVALID_RECORD
    marker = encode_end_txn_batch(EndTxnMarker(True, 0), producer_id=1, producer_epoch=0, timestamp=1)
    within = batch(producer_id=1, producer_epoch=0, base_sequence=0, transactional=True)
    for data in (marker, within):
        code = refusal(bench, produce_request("events", data))
        assert code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


@pytest.mark.parametrize("codec", list(Codec))
@pytest.mark.parametrize("version", [3, 6, 7, 12])
def test_zstd_begins_with_version_7(bench: Bench, codec: Codec, version: int) -> None:
    request = produce_request("events", batch(5, codec=codec))
    if codec is Codec.ZSTD and version < 7:
        assert refusal(bench, request, version) == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    else:
        assert answer_of(bench.call(request, version)).error_code == 0


@pytest.mark.parametrize("acks", [-2, 2, 100, -32_768])
def test_acks_are_minus_one_zero_or_one(bench: Bench, acks: int) -> None:
    assert refusal(bench, produce_request("events", acks=acks)) == ErrorCode.INVALID_REQUIRED_ACKS
    assert bench.log("events").log_end_offset == 0


def test_acks_0_has_no_reply_and_the_next_reply_keeps_its_place(bench: Bench) -> None:
    peer = bench.connect()
    peer.send(produce_request("events", acks=0), 12)
    second = peer.send(produce_request("events", acks=1), 12)
    assert peer.answered == [second]
    assert answer_of(bench.reply(produce_request("events"), second, 12, peer)).base_offset == 1


def test_an_error_under_acks_0_closes_the_connection(bench: Bench) -> None:
    peer = bench.connect()
    peer.send(produce_request("missing", acks=0), 12)
    assert peer.close_reason is not None
    assert "UNKNOWN_TOPIC_OR_PARTITION" in peer.close_reason
    assert not peer.replies


def test_a_topic_of_one_replica_takes_acks_all_whatever_its_minimum(bench: Bench) -> None:
    """As in Kafka since 3.7: more in-sync replicas than replicas cannot be asked for."""
    bench.create("alone", min_insync_replicas="2")
    assert answer_of(bench.call(produce_request("alone", acks=-1), 12)).error_code == 0


def test_internal_topics_are_for_the_admin_client_only() -> None:
    bench = Bench({"auto.create.topics.enable": "true", "offsets.topic.num.partitions": "1"})
    bench.call(MetadataRequest(topics=None))
    from ottla.wire.messages.metadata import MetadataRequestTopic

    bench.call(
        MetadataRequest(
            topics=[MetadataRequestTopic(name="__consumer_offsets")], allow_auto_topic_creation=True
        )
    )
    request = produce_request("__consumer_offsets")
    assert refusal(bench, request) == ErrorCode.INVALID_TOPIC_EXCEPTION
    admin = bench.connect(client_id="__admin_client")
    assert answer_of(bench.call(request, 12, peer=admin)).error_code == 0


def test_a_batch_larger_than_the_topic_takes_is_refused_and_the_bound_can_be_moved(bench: Bench) -> None:
    bench.create("small", max_message_bytes="1000")
    large = batch(value=bytes(2000))
    assert refusal(bench, produce_request("small", large)) == ErrorCode.MESSAGE_TOO_LARGE
    bench.alter(2, "small", max_message_bytes="5000")
    assert answer_of(bench.call(produce_request("small", large), 12)).error_code == 0


def test_the_error_message_is_told_from_version_8_on(bench: Bench) -> None:
    answer = answer_of(bench.call(produce_request("events", batch() + b"\x00"), 8))
    assert "exactly one record batch" in answer.error_message


# --- idempotent producers


def test_a_batch_sent_again_is_answered_with_its_first_offset(bench: Bench) -> None:
    bench.produce("events", batch(4))
    for sequence in range(5):
        bench.produce("events", sent(9, sequence))
    for sequence in range(5):
        again = answer_of(bench.call(produce_request("events", sent(9, sequence)), 12))
        assert (again.error_code, again.base_offset) == (0, 4 + sequence)
    assert bench.log("events").log_end_offset == 9


def test_gaps_stale_epochs_and_old_duplicates_have_their_codes(bench: Bench) -> None:
    for sequence in range(7):
        bench.produce("events", sent(9, sequence, epoch=1))
    for data, code in (
        (sent(9, 8, epoch=1), ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
        (sent(9, 7, epoch=0), ErrorCode.INVALID_PRODUCER_EPOCH),
        (sent(9, 3, epoch=2), ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
    ):
        assert refusal(bench, produce_request("events", data)) == code
    # Older than the five that are remembered: Kafka takes it for a gap, and loses nothing.
    old = answer_of(bench.call(produce_request("events", sent(9, 0, epoch=1)), 12))
    assert old.error_code in (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.DUPLICATE_SEQUENCE_NUMBER)
    bench.produce("events", sent(9, 0, epoch=2))


def test_a_duplicate_is_known_again_after_a_restart(bench: Bench) -> None:
    offset = bench.produce("events", sent(9, 0, 3))
    for clean in (True, False):
        bench.restart(clean=clean)
        again = answer_of(bench.call(produce_request("events", sent(9, 0, 3)), 12))
        assert (again.error_code, again.base_offset) == (0, offset)
        assert bench.log("events").log_end_offset == 3


# --- the flush policy


@pytest.fixture
def careful() -> Bench:
    bench = Bench()
    bench.create("careful", flush_messages="1")
    return bench


def log_file(bench: Bench, topic: str) -> str:
    path: str = bench.log(topic).active_segment.file.path
    return path


@pytest.mark.parametrize("acks", [1, -1])
def test_with_flush_messages_1_the_reply_waits_for_the_flush(careful: Bench, acks: int) -> None:
    bench = careful
    correlation_id = bench.peer.send(produce_request("careful", acks=acks), 12)
    assert bench.peer.answered.count(correlation_id) == 0
    log = bench.log("careful")
    assert (log.log_end_offset, log.high_watermark) == (1, 0)
    hidden = bench.call(fetch_request({("careful", 0): 0}), 12, peer=bench.connect())
    assert not partitions_of(hidden)[("careful", 0)].records
    bench.scheduler.run_until(lambda: correlation_id in bench.peer.answered, within_ms=100)
    assert bench.disk.unsynced_bytes(log_file(bench, "careful")) == 0
    assert log.high_watermark == log.recovery_point == 1


def test_what_arrives_during_a_flush_shares_the_next_one(careful: Bench) -> None:
    bench = careful
    before = bench.driver.disk_jobs
    peers = [bench.connect() for _ in range(20)]
    ids = [peer.send(produce_request("careful", acks=1), 12) for peer in peers]
    bench.scheduler.run_until(lambda: all(peer.replies for peer in peers), within_ms=200)
    assert bench.driver.disk_jobs - before == 2
    offsets = [
        answer_of(bench.reply(produce_request("careful"), correlation_id, 12, peer)).base_offset
        for correlation_id, peer in zip(ids, peers, strict=True)
    ]
    assert offsets == list(range(20))


def test_replies_leave_in_the_order_of_the_requests(careful: Bench) -> None:
    """The second is done at once, and waits behind the first."""
    bench = careful
    bench.create("quick")
    first = bench.peer.send(produce_request("careful"), 12)
    second = bench.peer.send(produce_request("quick"), 12)
    assert bench.log("quick").log_end_offset == 1
    assert first not in bench.peer.answered and second not in bench.peer.answered
    bench.scheduler.run_until(lambda: second in bench.peer.answered, within_ms=100)
    assert bench.peer.answered[-2:] == [first, second]


def test_a_duplicate_of_a_batch_that_is_being_flushed_waits_for_the_same_flush(careful: Bench) -> None:
    bench = careful
    bench.peer.send(produce_request("careful", sent(9, 0)), 12)
    other = bench.connect()
    again = other.send(produce_request("careful", sent(9, 0)), 12)
    assert not other.replies
    bench.scheduler.run_until(lambda: bool(other.replies), within_ms=100)
    assert bench.disk.unsynced_bytes(log_file(bench, "careful")) == 0
    assert answer_of(bench.reply(produce_request("careful"), again, 12, other)).base_offset == 0


def test_flush_messages_of_some_flushes_every_so_many_and_lets_the_others_pass() -> None:
    bench = Bench()
    bench.create("every-5", flush_messages="5")
    log = bench.log("every-5")
    for _ in range(4):
        bench.produce("every-5", acks=1)
    assert log.recovery_point == 0
    bench.produce("every-5", acks=1)
    assert log.recovery_point == 5
    flushes = bench.driver.disk_jobs
    for _ in range(4):
        bench.produce("every-5", acks=1)
    assert bench.driver.disk_jobs == flushes


def test_what_came_during_a_flush_and_is_below_the_bound_waits_for_no_other_flush() -> None:
    bench = Bench()
    bench.create("every-5", flush_messages="5")
    flushes = bench.driver.disk_jobs
    bench.peer.send(produce_request("every-5", batch(5), acks=1), 12)
    other = bench.connect()
    other.send(produce_request("every-5", acks=1), 12)
    bench.scheduler.run_until(lambda: bool(other.replies), within_ms=100)
    bench.settle()
    assert bench.driver.disk_jobs - flushes == 1
    assert bench.log("every-5").high_watermark == 6


def test_a_flush_that_takes_longer_than_the_timeout_is_told(careful: Bench) -> None:
    request = produce_request("careful", timeout_ms=0)
    answer = answer_of(careful.call(request, 12))
    assert (answer.error_code, answer.base_offset) == (ErrorCode.REQUEST_TIMED_OUT, -1)
    careful.settle()
    assert careful.log("careful").high_watermark == 1


def test_a_topic_deleted_while_its_flush_runs_is_told(careful: Bench) -> None:
    bench = careful
    partition = bench.node.partitions[("careful", 0)]
    correlation_id = bench.peer.send(produce_request("careful"), 12)
    bench.node.replicas.remove(partition.topic_id, "careful", 0)
    bench.node._set_image(EMPTY_IMAGE)
    bench.scheduler.run_until(lambda: correlation_id in bench.peer.answered, within_ms=100)
    answer = answer_of(bench.reply(produce_request("careful"), correlation_id, 12))
    assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC])
def test_a_flush_that_fails_acknowledges_nothing_and_takes_the_directory_offline(error: int) -> None:
    """After a failed fsync the kernel has dropped the pages: a second fsync would lie."""
    bench = Bench({"log.dirs": "/meta,/data", "metadata.log.dir": "/meta"})
    bench.create("careful", 2, flush_messages="1")
    lost, kept = sorted((0, 1), key=lambda index: "/data" not in bench.log("careful", index).dir_path)
    for index in (lost, kept):
        bench.produce("careful", partition=index)
    bench.disk.fail("/data", "sync", error=error)
    answer = answer_of(bench.call(produce_request("careful", partition=lost), 12))
    assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert (
        answer_of(bench.call(produce_request("careful", partition=lost), 12)).error_code
        == ErrorCode.KAFKA_STORAGE_ERROR
    )
    assert answer_of(bench.call(produce_request("careful", partition=kept), 12)).error_code == 0
    assert not bench.fatal_errors


def test_a_full_disk_refuses_and_loses_nothing(bench: Bench) -> None:
    bench.produce("events", batch(3))
    bench.disk.capacity_bytes = bench.disk.used_bytes() + 10
    assert refusal(bench, produce_request("events")) == ErrorCode.KAFKA_STORAGE_ERROR
    bench.disk.capacity_bytes = None
    assert bench.produce("events") == 3
    records = partitions_of(bench.call(fetch_request({("events", 0): 0}), 12))[("events", 0)].records
    assert len(decode_batch(records, 0, decompressed_bytes_max=1 << 20)) == 3


# --- batches that expand to much are checked outside the loop


HEAVY = b"\0" * (3 * 1024 * 1024)
"""Compresses to little, and expands to more than the loop should do itself."""


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
@pytest.mark.parametrize("acks", [1, -1])
def test_a_batch_that_expands_to_much_is_checked_by_a_job_and_then_appended(codec: Codec, acks: int) -> None:
    bench = Bench({"message.max.bytes": "10000000"})
    bench.create("events")
    jobs = bench.driver.disk_jobs
    data = batch(value=HEAVY, codec=codec)
    answer = answer_of(bench.call(produce_request("events", data, acks=acks), 12))
    assert (answer.error_code, answer.base_offset) == (0, 0)
    assert bench.driver.disk_jobs > jobs
    piece = bench.log("events").read(0, 1 << 30, upto_offset=1, min_one_batch=True).slice
    assert decode_batch(piece.read(), decompressed_bytes_max=1 << 30)[0].value == HEAVY
    piece.release()


def test_the_next_pipelined_request_waits_for_the_heavy_one_before_it(bench: Bench) -> None:
    """Its batch has the next sequence: appended first, it would be out of order."""
    first = batch(value=HEAVY, codec=Codec.ZSTD, producer_id=7, producer_epoch=0, base_sequence=0)
    second = batch(producer_id=7, producer_epoch=0, base_sequence=1)
    peer = bench.connect()
    requests = [produce_request("events", first), produce_request("events", second)]
    ids = [peer.send(request, 12) for request in requests]
    bench.settle()
    answers = [
        answer_of(bench.reply(request, number, 12, peer))
        for request, number in zip(requests, ids, strict=True)
    ]
    assert [(each.error_code, each.base_offset) for each in answers] == [(0, 0), (0, 1)]


def test_a_heavy_batch_that_is_damaged_is_refused_and_the_connection_goes_on(bench: Bench) -> None:
    data = batch(value=HEAVY, codec=Codec.GZIP)
    data[-5] ^= 0xFF
    assert refusal(bench, produce_request("events", data)) == ErrorCode.CORRUPT_MESSAGE
    assert bench.produce("events") == 0


def test_a_bomb_is_refused_by_the_job(bench: Bench) -> None:
    data = batch(value=b"\0" * (129 * 1024 * 1024), codec=Codec.ZSTD)
    assert refusal(bench, produce_request("events", data)) == ErrorCode.INVALID_RECORD


def test_a_topic_with_a_codec_of_its_own_has_large_batches_compressed_by_a_job(bench: Bench) -> None:
    bench.create("squeezed", compression_type="gzip")
    jobs = bench.driver.disk_jobs
    value = bytes(range(256)) * 1024
    assert bench.produce("squeezed", batch(value=value)) == 0
    assert bench.driver.disk_jobs > jobs
    log = bench.log("squeezed")
    assert log.size_bytes < len(value) // 4
    piece = log.read(0, 1 << 30, upto_offset=1, min_one_batch=True).slice
    assert decode_batch(piece.read(), decompressed_bytes_max=1 << 30)[0].value == value
    piece.release()


def test_heavy_batches_with_acks_0_are_appended_without_a_reply(bench: Bench) -> None:
    peer = bench.connect()
    peer.send(produce_request("events", batch(value=HEAVY, codec=Codec.LZ4), acks=0), 12)
    bench.settle()
    assert peer.replies == [] and peer.close_reason is None
    assert bench.log("events").log_end_offset == 1


@pytest.mark.parametrize("version", versions_of(ProduceRequest))
@pytest.mark.parametrize("stamped", [False, True])
def test_the_reply_that_is_kept_as_a_template_is_the_one_that_would_be_encoded(
    bench: Bench, version: int, stamped: bool
) -> None:
    if stamped:
        bench.create("times", message_timestamp_type="LogAppendTime")
    topic = "times" if stamped else "events"
    topic_id = bench.node.image.topics[topic].topic_id
    for count in (1, 5, 2):
        peer = bench.connect()
        stamp = bench.clock.now_ms()
        number = peer.send(produce_request(topic, batch(count), topic_id=topic_id), version)
        bench.settle()
        log = bench.log(topic)
        expected = ProduceResponse(
            responses=[
                TopicProduceResponse(
                    name=topic,
                    topic_id=topic_id,
                    partition_responses=[
                        PartitionProduceResponse(
                            index=0,
                            base_offset=log.log_end_offset - count,
                            log_append_time_ms=stamp if stamped else -1,
                            log_start_offset=0,
                        )
                    ],
                )
            ]
        )
        frame = b"".join(encode_response(expected, 0, version, number))
        assert peer.replies == [frame[4:]]
