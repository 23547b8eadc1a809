"""ListOffsets (key 2), DeleteRecords (key 21) and OffsetForLeaderEpoch (key 23)."""

from __future__ import annotations

from typing import Any

import pytest
from broker_bench import NOW, TOPIC_RESOURCE, Bench, batch, fetch_request, partitions_of, versions_of

from ottla.log.append_origin import AppendOrigin
from ottla.model.errors import ErrorCode
from ottla.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from ottla.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from ottla.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, PENDING_UPLOAD = -1, -2, -3, -4, -5, -6
SINCE = {MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9, PENDING_UPLOAD: 11}
VERSIONS = versions_of(ListOffsetsRequest)


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.create("events", 2)
    return bench


def listing(timestamp: int, *, topic: str = "events", index: int = 0, **options: Any) -> ListOffsetsRequest:
    epoch = options.pop("current_leader_epoch", -1)
    options.setdefault("replica_id", -1)
    return ListOffsetsRequest(
        topics=[
            ListOffsetsTopic(
                name=topic,
                partitions=[
                    ListOffsetsPartition(
                        partition_index=index, timestamp=timestamp, current_leader_epoch=epoch
                    )
                ],
            )
        ],
        **options,
    )


def listed(bench: Bench, timestamp: int, version: int = 11, **options: Any) -> Any:
    return bench.call(listing(timestamp, **options), version).topics[0].partitions[0]


def deletion(offset: int, *, topic: str = "events", index: int = 0) -> DeleteRecordsRequest:
    return DeleteRecordsRequest(
        topics=[
            DeleteRecordsTopic(
                name=topic, partitions=[DeleteRecordsPartition(partition_index=index, offset=offset)]
            )
        ],
        timeout_ms=1000,
    )


def deleted(bench: Bench, offset: int, version: int = 2, **options: Any) -> tuple[int, int]:
    answer = bench.call(deletion(offset, **options), version).topics[0].partitions[0]
    return answer.error_code, answer.low_watermark


# --- ListOffsets


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_knows_the_ends_and_the_offset_of_a_time(bench: Bench, version: int) -> None:
    for age_ms in (300, 100, 200):
        bench.produce("events", batch(2, timestamp=NOW - age_ms))
    epoch = 0 if version >= 4 else -1
    for timestamp, expected in (
        (LATEST, (6, -1)),
        (EARLIEST, (0, -1)),
        (NOW - 1000, (0, NOW - 300)),
        (NOW - 300, (0, NOW - 300)),
        (NOW - 299, (2, NOW - 100)),
        (NOW - 100, (2, NOW - 100)),
    ):
        answer = listed(bench, timestamp, version)
        assert answer.error_code == 0
        assert (answer.offset, answer.timestamp) == expected, timestamp
        assert answer.leader_epoch == epoch
    after = listed(bench, NOW - 99, version)
    assert (after.error_code, after.offset, after.timestamp) == (0, -1, -1)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("timestamp", [*SINCE, -7, -100, -(2**63)])
def test_special_timestamps_begin_with_their_versions(bench: Bench, version: int, timestamp: int) -> None:
    """KIP-734, KIP-405, KIP-1005, KIP-1023: an older version that asks gets UNSUPPORTED_VERSION."""
    bench.produce("events", batch(2, timestamp=NOW - 50))
    bench.produce("events", batch(3, timestamp=NOW - 90))
    answer = listed(bench, timestamp, version)
    if version < SINCE.get(timestamp, 99):
        assert (answer.error_code, answer.offset) == (ErrorCode.UNSUPPORTED_VERSION, -1)
        return
    assert answer.error_code == 0
    expected = {
        MAX_TIMESTAMP: (0, NOW - 50),
        EARLIEST_LOCAL: (0, -1),
        LATEST_TIERED: (-1, -1),
        PENDING_UPLOAD: (-1, -1),
    }
    assert (answer.offset, answer.timestamp) == expected[timestamp]


def test_an_empty_partition_has_ends_and_no_times(bench: Bench) -> None:
    for timestamp, offset in ((LATEST, 0), (EARLIEST, 0), (MAX_TIMESTAMP, -1), (0, -1), (NOW, -1)):
        answer = listed(bench, timestamp)
        assert (answer.error_code, answer.offset) == (0, offset)


def test_the_end_is_the_high_watermark_and_for_committed_reads_the_last_stable_offset(
    bench: Bench,
) -> None:
    partition = bench.node.partitions[("events", 0)]
    bench.produce("events", batch(2))
    undecided = batch(2, producer_id=3, producer_epoch=0, base_sequence=0, transactional=True)
    partition.append(undecided, NOW, acks=-1, origin=AppendOrigin.COORDINATOR)
    partition.log.append_as_leader(batch(1, timestamp=NOW + 5), 0, NOW)
    assert listed(bench, LATEST).offset == 4
    assert listed(bench, LATEST, isolation_level=1).offset == 2
    assert listed(bench, NOW + 5).offset == -1  # above the high watermark
    # As a replica, and with the debugging tools' replica id: up to the end.
    assert listed(bench, LATEST, replica_id=-2).offset == 5
    assert listed(bench, NOW + 5, replica_id=-2).offset == 4


def test_list_offsets_refuses_what_it_does_not_lead(bench: Bench) -> None:
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert listed(bench, LATEST, topic="missing").error_code == unknown
    assert listed(bench, LATEST, index=7).error_code == unknown
    assert listed(bench, LATEST, current_leader_epoch=0).error_code == 0
    assert listed(bench, LATEST, current_leader_epoch=1).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    bench.restart(clean=False)
    assert listed(bench, LATEST, current_leader_epoch=0).error_code == ErrorCode.FENCED_LEADER_EPOCH


def test_a_partition_named_twice_is_an_invalid_request_for_that_partition(bench: Bench) -> None:
    request = listing(LATEST)
    request.topics += listing(EARLIEST).topics + listing(EARLIEST, index=1).topics
    answers = [each.partitions[0].error_code for each in bench.call(request).topics]
    assert answers == [ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_REQUEST, ErrorCode.NONE]


def test_a_lookup_on_a_disk_that_cannot_be_read_is_a_storage_error() -> None:
    bench = Bench({"log.dirs": "/meta,/data", "metadata.log.dir": "/meta"})
    bench.create("events", 2)
    (index,) = [index for index in (0, 1) if "/data" in bench.log("events", index).dir_path]
    for age_ms in range(5):
        bench.produce("events", batch(value=bytes(5000), timestamp=NOW - age_ms), partition=index)
    bench.disk.fail("/data", "read")
    assert listed(bench, NOW - 2, index=index).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert listed(bench, LATEST, index=1 - index).error_code == 0


# --- DeleteRecords


@pytest.mark.parametrize("version", versions_of(DeleteRecordsRequest))
def test_records_are_deleted_up_to_an_offset_or_the_high_watermark(bench: Bench, version: int) -> None:
    bench.produce("events", batch(10))
    assert deleted(bench, 4, version) == (0, 4)
    assert listed(bench, EARLIEST).offset == 4
    assert deleted(bench, 2, version) == (0, 4)  # already gone: no step back
    assert deleted(bench, -1, version) == (0, 10)
    assert listed(bench, EARLIEST).offset == listed(bench, LATEST).offset == 10
    assert bench.produce("events") == 10


def test_deletion_refuses_what_is_not_there(bench: Bench) -> None:
    bench.produce("events", batch(10))
    for offset in (11, -2, 2**62):
        assert deleted(bench, offset) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    assert deleted(bench, 0, topic="missing") == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)
    assert deleted(bench, 0, index=5) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)
    assert deleted(bench, 0, topic="__consumer_offsets") == (ErrorCode.INVALID_TOPIC_EXCEPTION, -1)


def test_a_compacted_topic_keeps_its_records(bench: Bench) -> None:
    bench.create("table", cleanup_policy="compact")
    bench.produce("table")
    assert deleted(bench, 1, topic="table") == (ErrorCode.POLICY_VIOLATION, -1)
    bench.alter(TOPIC_RESOURCE, "table", cleanup_policy="compact,delete")
    assert deleted(bench, 1, topic="table") == (0, 1)


def test_a_deletion_survives_a_clean_restart(bench: Bench) -> None:
    bench.produce("events", batch(10))
    deleted(bench, 7)
    bench.restart()
    assert listed(bench, EARLIEST).offset == 7
    data = partitions_of(bench.call(fetch_request({("events", 0): 3}), 12))[("events", 0)]
    assert data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_reader_that_waits_hears_of_a_deletion(bench: Bench) -> None:
    bench.produce("events", batch(10))
    peer = bench.connect()
    peer.send(fetch_request({("events", 0): 10}, session_epoch=0), 12)
    session_id = next(iter(bench.node.fetch_sessions._sessions))
    request = fetch_request({}, session_id=session_id, session_epoch=1, max_wait_ms=10_000, min_bytes=0)
    bench.call(request, 12, peer=peer)
    deleted(bench, 5)
    request = fetch_request({}, session_id=session_id, session_epoch=2, min_bytes=0)
    found = partitions_of(bench.call(request, 12, peer=peer))
    assert found[("events", 0)].log_start_offset == 5


# --- OffsetForLeaderEpoch


def ended(bench: Bench, epoch: int, version: int = 4, **options: Any) -> tuple[int, int, int]:
    request = OffsetForLeaderEpochRequest(
        topics=[
            OffsetForLeaderTopic(
                topic=options.pop("topic", "events"),
                partitions=[
                    OffsetForLeaderPartition(
                        partition=options.pop("index", 0),
                        leader_epoch=epoch,
                        current_leader_epoch=options.pop("current_leader_epoch", -1),
                    )
                ],
            )
        ]
    )
    answer = bench.call(request, version).topics[0].partitions[0]
    return answer.error_code, answer.leader_epoch, answer.end_offset


@pytest.mark.parametrize("version", versions_of(OffsetForLeaderEpochRequest))
def test_an_epoch_ends_where_the_next_one_begins(bench: Bench, version: int) -> None:
    """KIP-101, KIP-279, KIP-320."""
    bench.produce("events", batch(5))
    assert ended(bench, 0, version) == (0, 0, 5)
    bench.restart(clean=False)
    bench.restart(clean=False)
    bench.produce("events", batch(3))
    assert ended(bench, 0, version) == (0, 0, 5)
    assert ended(bench, 1, version)[2] == 5
    assert ended(bench, 2, version) == (0, 2, 8)
    assert ended(bench, 3, version) == (0, -1, -1)
    assert ended(bench, -1, version) == (0, -1, -1)


def test_the_current_epoch_of_an_idle_partition_ends_at_its_log_end(bench: Bench) -> None:
    bench.restart(clean=False)
    assert ended(bench, 1) == (0, 1, 0)


def test_epochs_of_what_is_not_led_here_are_refused(bench: Bench) -> None:
    assert ended(bench, 0, topic="missing")[0] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert ended(bench, 0, index=9)[0] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert ended(bench, 0, current_leader_epoch=5)[0] == ErrorCode.UNKNOWN_LEADER_EPOCH
    bench.restart(clean=False)
    assert ended(bench, 0, current_leader_epoch=0)[0] == ErrorCode.FENCED_LEADER_EPOCH
