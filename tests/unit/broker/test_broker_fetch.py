"""Fetch (key 1): what is given, where it is cut, how long it waits, and that every slice is given back."""

from __future__ import annotations

from typing import Any

import pytest
from broker_bench import (
    BROKER_RESOURCE,
    NODE_ID,
    Bench,
    batch,
    fetch_request,
    partitions_of,
    produce_request,
    versions_of,
)

from ottla.broker.handlers import fetch
from ottla.log.append_origin import AppendOrigin
from ottla.model.errors import ErrorCode
from ottla.ports.disk import FileSlice
from ottla.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from ottla.wire.messages.fetch import FetchRequest, FetchResponse
from ottla.wire.record_batch import EndTxnMarker, encode_end_txn_batch, iter_headers

EVENTS = ("events", 0)


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.create("events", 3)
    return bench


def read(bench: Bench, positions: Any, version: int = 12, **options: Any) -> dict[Any, Any]:
    return partitions_of(bench.call(fetch_request(positions, **options), version))


def offsets(data: Any) -> list[tuple[int, int]]:
    """First and last offset of each whole batch."""
    records = data.records
    return [
        (header.base_offset, header.last_offset)
        for position, header in iter_headers(records, 0, len(records))
        if position + header.size_bytes <= len(records)
    ]


@pytest.mark.parametrize("version", versions_of(FetchRequest))
def test_every_version_gives_the_bytes_that_were_produced(bench: Bench, version: int) -> None:
    data = batch(3)
    bench.produce("events", bytearray(data), partition=1)
    topic: str | bytes = "events" if version < 13 else bench.node.image.topics["events"].topic_id
    reply = bench.call(fetch_request({(topic, 1): 0}), version)
    (found,) = partitions_of(reply).values()
    assert (found.error_code, found.high_watermark, found.last_stable_offset) == (0, 3, 3)
    assert found.log_start_offset == (0 if version >= 5 else -1)
    assert found.aborted_transactions is None
    assert bytes(found.records[21:]) == bytes(data[21:])  # offset, length and epoch lie before
    assert reply.responses[0].topic_id == (bytes(16) if version < 13 else topic)
    assert bench.pins == 0


@pytest.mark.parametrize("isolation", [0, 1])
@pytest.mark.parametrize("version", versions_of(FetchRequest))
def test_a_reply_made_from_a_template_is_the_one_that_would_be_encoded(
    bench: Bench, version: int, isolation: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic: str | bytes = "events" if version < 13 else bench.node.image.topics["events"].topic_id
    usual: list[bool] = []
    made = fetch.usual_reply

    def noted(*arguments: Any) -> Any:
        reply = made(*arguments)
        usual.append(reply is not None)
        return reply

    def ask(offset: int, session_id: int, epoch: int) -> bytes:
        request = fetch_request({(topic, 1): offset}, isolation_level=isolation)
        request.session_id, request.session_epoch = (session_id, epoch) if version >= 7 else (0, -1)
        bench.peer.send(request, version)
        return bench.peer.replies[-1][4:]

    for count in (1, 3, 2_000, 1):  # lengths of one to three bytes
        bench.produce("events", batch(count), partition=1)
    bench.node.partitions[("events", 1)].log.advance_log_start(1)
    for offset in (1, 4, 2004):
        monkeypatch.setattr(fetch, "usual_reply", lambda *_: None)
        expected = ask(offset, 0, -1)
        monkeypatch.setattr(fetch, "usual_reply", noted)
        assert ask(offset, 0, -1) == expected
    first = ask(1, 0, 0)  # a session begins, whose number is another each time
    if version >= 7:
        monkeypatch.setattr(fetch, "usual_reply", lambda *_: None)
        again = ask(1, 0, 0)
        at = 7 if version >= 12 else 6
        assert first[at : at + 4] != again[at : at + 4]
        assert first[:at] + first[at + 4 :] == again[:at] + again[at + 4 :]
    assert usual == [version >= 12] * 4
    assert bench.pins == 0


def test_a_fetch_that_begins_inside_a_batch_gets_the_whole_batch(bench: Bench) -> None:
    bench.produce("events", batch(10))
    bench.produce("events", batch(2))
    for offset in range(10):
        assert offsets(read(bench, {EVENTS: offset})[EVENTS]) == [(0, 9), (10, 11)]
    assert offsets(read(bench, {EVENTS: 11})[EVENTS]) == [(10, 11)]
    assert not read(bench, {EVENTS: 12})[EVENTS].records


def test_an_offset_outside_the_log_is_out_of_range(bench: Bench) -> None:
    bench.produce("events", batch(10))
    for offset in (-1, 11, 2**63 - 1):
        data = read(bench, {EVENTS: offset}, max_wait_ms=500)[EVENTS]
        assert (data.error_code, data.high_watermark) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    bench.call(
        DeleteRecordsRequest(
            topics=[
                DeleteRecordsTopic(
                    name="events", partitions=[DeleteRecordsPartition(partition_index=0, offset=5)]
                )
            ],
            timeout_ms=1000,
        )
    )
    assert read(bench, {EVENTS: 4})[EVENTS].error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    data = read(bench, {EVENTS: 5})[EVENTS]
    assert (data.error_code, data.log_start_offset) == (0, 5)
    assert offsets(data) == [(0, 9)]


def test_unknown_topics_partitions_and_ids_have_their_codes(bench: Bench) -> None:
    found = read(bench, {("missing", 0): 0, ("events", 9): 0, EVENTS: 0})
    assert found[("missing", 0)].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert found[("events", 9)].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert found[EVENTS].error_code == ErrorCode.NONE
    found = read(bench, {(b"x" * 16, 0): 0}, 13)
    assert found[(b"x" * 16, 0)].error_code == ErrorCode.UNKNOWN_TOPIC_ID


def test_a_leader_epoch_that_is_not_the_current_one_is_told(bench: Bench) -> None:
    """KIP-320; from version 16 on with the leader's address (KIP-951)."""
    bench.restart(clean=False)
    epoch = bench.node.partitions[EVENTS].leader_epoch
    assert epoch == 1
    topic_id = bench.node.image.topics["events"].topic_id
    place = (topic_id, 0)
    assert read(bench, {place: 0}, 16, current_leader_epoch=1)[place].error_code == 0
    newer = read(bench, {place: 0}, 16, current_leader_epoch=2)[place]
    assert newer.error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    reply = bench.call(fetch_request({place: 0}, current_leader_epoch=0), 16, peer=bench.connect("OTHER"))
    older = partitions_of(reply)[place]
    assert older.error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert (older.current_leader.leader_id, older.current_leader.leader_epoch) == (NODE_ID, 1)
    assert [(each.node_id, each.host, each.port) for each in reply.node_endpoints] == [
        (NODE_ID, "elsewhere", 9095)
    ]


def test_a_reader_whose_log_has_parted_is_told_where(bench: Bench) -> None:
    """KIP-595: the epoch of the last record that was fetched."""
    bench.produce("events", batch(5))
    bench.restart(clean=False)
    bench.produce("events", batch(5))
    same = read(bench, {EVENTS: 5}, last_fetched_epoch=0)[EVENTS]
    assert same.diverging_epoch.epoch == -1 and same.records
    ahead = read(bench, {EVENTS: 8}, last_fetched_epoch=0, max_wait_ms=1000)[EVENTS]
    assert (ahead.diverging_epoch.epoch, ahead.diverging_epoch.end_offset) == (0, 5)
    assert not ahead.records and ahead.error_code == 0
    unknown = read(bench, {EVENTS: 8}, last_fetched_epoch=7)[EVENTS]
    assert unknown.error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_stranger_may_not_fetch_as_a_replica(bench: Bench) -> None:
    request = fetch_request({EVENTS: 0})
    request.replica_id = 55
    assert partitions_of(bench.call(request, 12))[EVENTS].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


@pytest.mark.parametrize("version", versions_of(FetchRequest))
def test_errors_are_told_in_every_version(bench: Bench, version: int) -> None:
    bench.restart(clean=False)
    topic: str | bytes = "events" if version < 13 else bench.node.image.topics["events"].topic_id
    place = (topic, 0)
    found = read(bench, {place: 99}, version)[place]
    assert found.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    if version >= 9:
        found = read(bench, {place: 0}, version, current_leader_epoch=0)[place]
        assert found.error_code == ErrorCode.FENCED_LEADER_EPOCH


# --- sizes


def test_max_bytes_is_shared_and_the_first_batch_always_fits(bench: Bench) -> None:
    size = len(batch(value=bytes(1000)))
    for index in range(3):
        for _ in range(5):
            bench.produce("events", batch(value=bytes(1000)), partition=index)
    places = {("events", index): 0 for index in range(3)}
    found = read(bench, places, max_bytes=1)
    assert [len(found[place].records) for place in places] == [size, 0, 0]
    found = read(bench, places, max_bytes=2 * size)
    assert [len(offsets(found[place])) for place in places] == [2, 0, 0]
    found = read(bench, places, partition_max_bytes=2 * size)
    assert [len(offsets(found[place])) for place in places] == [2, 2, 2]
    found = read(bench, places, partition_max_bytes=1)
    assert [len(offsets(found[place])) for place in places] == [1, 0, 0]
    assert bench.pins == 0


def test_a_cut_in_the_middle_of_a_later_batch_is_left_to_the_reader(bench: Bench) -> None:
    size = len(batch(value=bytes(1000)))
    for _ in range(3):
        bench.produce("events", batch(value=bytes(1000)))
    data = read(bench, {EVENTS: 0}, partition_max_bytes=2 * size + 10)[EVENTS]
    assert len(data.records) == 2 * size + 10
    assert offsets(data) == [(0, 0), (1, 1)]


def test_the_brokers_own_bound_counts_too() -> None:
    bench = Bench({"fetch.max.bytes": "1024"})
    bench.create("events")
    for _ in range(10):
        bench.produce("events", batch(value=bytes(500)))
    assert 0 < len(read(bench, {EVENTS: 0})[EVENTS].records) <= 1024


def test_a_minimum_above_the_maximum_does_not_wait_for_the_impossible(bench: Bench) -> None:
    """KafkaApis: fetchMinBytes = min(minBytes, fetchMaxBytes)."""
    for _ in range(5):
        bench.produce("events", batch(value=bytes(1000)))
    began = bench.scheduler.now_ms
    found = read(bench, {EVENTS: 0}, min_bytes=1 << 30, max_bytes=2000, max_wait_ms=30_000)
    assert found[EVENTS].records
    assert bench.scheduler.now_ms - began < 1000


# --- waiting


def poll(bench: Bench, **options: Any) -> tuple[Any, int]:
    peer = bench.connect()
    options.setdefault("max_wait_ms", 10_000)
    return peer, peer.send(fetch_request({EVENTS: bench.log("events").log_end_offset}, **options), 12)


def test_a_fetch_waits_for_data_and_is_woken_by_it(bench: Bench) -> None:
    peer, correlation_id = poll(bench)
    bench.scheduler.run_for(5_000)
    assert not peer.replies
    bench.produce("events", batch(2))
    bench.scheduler.run_until(lambda: bool(peer.replies), within_ms=1)
    data = partitions_of(bench.reply(fetch_request({}), correlation_id, 12, peer))[EVENTS]
    assert offsets(data) == [(0, 1)]
    assert bench.node.partitions[EVENTS].watches is None
    assert bench.pins == 0


def test_a_fetch_that_waited_in_vain_is_answered_at_its_deadline(bench: Bench) -> None:
    peer, correlation_id = poll(bench, max_wait_ms=500)
    began = bench.scheduler.now_ms
    bench.scheduler.run_until(lambda: bool(peer.replies))
    assert bench.scheduler.now_ms - began == pytest.approx(500)
    data = partitions_of(bench.reply(fetch_request({}), correlation_id, 12, peer))[EVENTS]
    assert (data.error_code, len(data.records), data.high_watermark) == (0, 0, 0)
    assert bench.node.partitions[EVENTS].watches is None
    assert bench.node.partitions[("events", 1)].watches is None


def test_min_bytes_accumulates_over_partitions_and_appends(bench: Bench) -> None:
    size = len(batch(value=bytes(100)))
    peer = bench.connect()
    positions = {("events", index): 0 for index in range(3)}
    peer.send(fetch_request(positions, min_bytes=4 * size, max_wait_ms=10_000), 12)
    for index in range(3):
        bench.produce("events", batch(value=bytes(100)), partition=index)
        bench.scheduler.run_for(10)
        assert not peer.replies
    bench.produce("events", batch(value=bytes(100)))
    bench.scheduler.run_until(lambda: bool(peer.replies), within_ms=1)


def test_min_bytes_counts_what_a_flush_makes_readable() -> None:
    bench = Bench()
    bench.create("events", flush_messages="1")
    peer, _ = poll(bench, min_bytes=500)
    bench.produce("events", batch(value=bytes(1000)))
    bench.scheduler.run_until(lambda: bool(peer.replies), within_ms=100)


def test_a_reader_of_committed_data_is_woken_by_the_marker(bench: Bench) -> None:
    """The marker's own size is less than what it makes readable."""
    partition = bench.node.partitions[EVENTS]
    open_txn = batch(20, producer_id=3, producer_epoch=0, base_sequence=0, transactional=True)
    peer, correlation_id = poll(bench, min_bytes=300, isolation_level=1)
    partition.append(open_txn, bench.clock.now_ms(), acks=-1, origin=AppendOrigin.COORDINATOR)
    bench.scheduler.run_for(100)
    assert not peer.replies
    marker = encode_end_txn_batch(
        EndTxnMarker(False, 0), producer_id=3, producer_epoch=0, timestamp=bench.clock.now_ms()
    )
    partition.append(marker, bench.clock.now_ms(), acks=-1, origin=AppendOrigin.COORDINATOR)
    bench.scheduler.run_until(lambda: bool(peer.replies), within_ms=10)
    data = partitions_of(bench.reply(fetch_request({}), correlation_id, 12, peer))[EVENTS]
    assert [(each.producer_id, each.first_offset) for each in data.aborted_transactions] == [(3, 0)]
    assert data.last_stable_offset == 21
    later = read(bench, {EVENTS: 21}, isolation_level=1)[EVENTS]
    assert later.aborted_transactions == []


def test_undecided_records_are_for_readers_of_uncommitted_data_only(bench: Bench) -> None:
    partition = bench.node.partitions[EVENTS]
    bench.produce("events", batch(2))
    open_txn = batch(2, producer_id=3, producer_epoch=0, base_sequence=0, transactional=True)
    partition.append(open_txn, bench.clock.now_ms(), acks=-1, origin=AppendOrigin.COORDINATOR)
    assert offsets(read(bench, {EVENTS: 0})[EVENTS]) == [(0, 1), (2, 3)]
    committed = read(bench, {EVENTS: 0}, isolation_level=1)[EVENTS]
    assert offsets(committed) == [(0, 1)]
    assert (committed.high_watermark, committed.last_stable_offset) == (4, 2)


def test_nothing_above_the_high_watermark_is_given(bench: Bench) -> None:
    bench.produce("events", batch(2))
    log = bench.log("events")
    log.append_as_leader(batch(3), 0, bench.clock.now_ms())
    assert (log.high_watermark, log.log_end_offset) == (2, 5)
    data = read(bench, {EVENTS: 0})[EVENTS]
    assert offsets(data) == [(0, 1)]
    assert data.high_watermark == 2
    above = read(bench, {EVENTS: 4})[EVENTS]
    assert (above.error_code, len(above.records)) == (0, 0)


def test_a_peer_that_is_gone_leaves_no_wait_behind(bench: Bench) -> None:
    peer, _ = poll(bench, max_wait_ms=2**31 - 1)
    waiting = bench.driver.tasks_waiting
    peer.close("gone")
    bench.scheduler.run_for(1)
    assert bench.driver.tasks_waiting == waiting - 1
    assert bench.node.partitions[EVENTS].watches is None
    assert bench.pins == 0


def test_a_deletion_is_told_to_whoever_waits(bench: Bench) -> None:
    peer, correlation_id = poll(bench)
    bench.delete("events")
    bench.scheduler.run_until(lambda: bool(peer.replies), within_ms=1)
    data = partitions_of(bench.reply(fetch_request({}), correlation_id, 12, peer))[EVENTS]
    assert data.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


# --- slices


def hold_slices(bench: Bench) -> Any:
    """A peer that takes no reply yet, so that its slices stay pinned."""
    peer = bench.connect()
    peer.send(fetch_request({("events", 2): 0}, max_wait_ms=60_000), 12)
    peer.send(fetch_request({EVENTS: 0}), 12)
    return peer


def test_slices_wait_pinned_for_their_turn_and_are_released_when_sent(bench: Bench) -> None:
    bench.produce("events", batch(2))
    peer = hold_slices(bench)
    assert bench.pins == 1
    bench.produce("events", partition=2)
    bench.scheduler.run_until(lambda: len(peer.replies) == 2, within_ms=1)
    assert bench.pins == 0


def test_slices_are_released_when_the_peer_goes_away(bench: Bench) -> None:
    bench.produce("events", batch(2))
    peer = hold_slices(bench)
    peer.close("gone")
    bench.scheduler.run_for(1)
    assert bench.pins == 0


def test_slices_are_released_when_the_peer_was_gone_before_the_answer(bench: Bench) -> None:
    peer, _ = poll(bench)
    peer._queue.close()
    bench.produce("events", batch(2))
    bench.scheduler.run_for(1)
    assert bench.pins == 0 and not peer.replies


def test_slices_are_released_when_the_answer_cannot_be_encoded(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.produce("events", batch(2))

    def broken(self: object, out: object, version: int) -> None:
        assert bench.pins == 1
        raise ValueError("a bug")

    monkeypatch.setattr(FetchResponse, "encode", broken)
    bench.peer.send(fetch_request({EVENTS: 0}), 12)
    assert bench.peer.close_reason is not None
    assert bench.pins == 0


def test_slices_are_released_when_a_later_partition_cannot_be_read(bench: Bench) -> None:
    bench.produce("events", batch(2))
    bench.produce("events", batch(2), partition=1)
    log = bench.log("events", 1)
    original = type(log).read
    taken: list[FileSlice] = []

    def broken(self: Any, *args: Any, **options: Any) -> Any:
        result = original(self, *args, **options)
        taken.append(result.slice)
        if self is log:
            raise ValueError("a bug")
        return result

    type(log).read = broken
    try:
        bench.peer.send(fetch_request({EVENTS: 0, ("events", 1): 0}), 12)
    finally:
        type(log).read = original
    assert bench.peer.close_reason is not None
    taken[-1].release()  # this one was taken by the test's own hand
    assert bench.pins == 0


def test_a_fetch_that_waits_holds_no_slice(bench: Bench) -> None:
    bench.produce("events", batch(2))
    peer = bench.connect()
    peer.send(fetch_request({EVENTS: 0}, min_bytes=100_000, max_wait_ms=1000), 12)
    assert not peer.replies and bench.pins == 0
    bench.produce("events", batch(2))
    bench.scheduler.run_for(5)
    assert not peer.replies and bench.pins == 0
    bench.scheduler.run_until(lambda: bool(peer.replies))
    assert bench.pins == 0


def test_a_segment_that_was_deleted_is_still_sent(bench: Bench) -> None:
    bench.produce("events", batch(2, value=b"old"))
    peer = hold_slices(bench)
    bench.node.partitions[EVENTS].log.advance_log_start(2)
    bench.log("events").roll(bench.clock.now_ms())
    assert bench.log("events").apply_retention(bench.clock.now_ms()) == 1
    bench.produce("events", partition=2)
    bench.scheduler.run_until(lambda: len(peer.replies) == 2, within_ms=1)
    assert b"old" in peer.replies[1]


def test_a_disk_that_cannot_be_read_takes_its_directory_offline_and_the_others_serve() -> None:
    bench = Bench({"log.dirs": "/meta,/data", "metadata.log.dir": "/meta"})
    bench.create("events", 2)
    for index in (0, 1):
        for _ in range(3):
            bench.produce("events", batch(value=bytes(9000)), partition=index)
    (lost,) = [index for index in (0, 1) if "/data" in bench.log("events", index).dir_path]
    bench.disk.fail("/data", "read")
    positions = {("events", index): 1 for index in (0, 1)}
    found = read(bench, positions, partition_max_bytes=10_000)
    assert found[("events", lost)].error_code == ErrorCode.KAFKA_STORAGE_ERROR
    again = read(bench, positions, partition_max_bytes=10_000)
    assert again[("events", lost)].error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert again[("events", 1 - lost)].records
    assert not bench.fatal_errors
    assert bench.node.logs.online_dirs[0].path == "/meta"


def test_a_dynamic_config_reaches_the_next_fetch(bench: Bench) -> None:
    bench.alter(BROKER_RESOURCE, "", log_retention_ms="60000")
    assert bench.log("events").config.retention_ms == 60_000
    bench.call(produce_request("events"), 12)
