"""Directories that fail, restarts of all kinds, and what a leader epoch says about them."""

from __future__ import annotations

import errno
from typing import Any

import pytest
from broker_bench import (
    ENDPOINTS,
    NODE_ID,
    Bench,
    batch,
    fetch_request,
    partitions_of,
    produce_request,
)

from ottla.log.manager import DataDirInUse
from ottla.log.meta_properties import BadMetaProperties
from ottla.model.errors import ErrorCode
from ottla.wire.messages.cluster_metadata import PartitionChangeRecord
from ottla.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from ottla.wire.messages.metadata import MetadataRequest

TWO_DIRS = {"log.dirs": "/meta,/data", "metadata.log.dir": "/meta/"}


def produced(bench: Bench, index: int, topic: str = "events") -> int:
    reply = bench.call(produce_request(topic, partition=index), 12)
    code: int = reply.responses[0].partition_responses[0].error_code
    return code


def fetched(bench: Bench, index: int) -> int:
    place = ("events", index)
    code: int = partitions_of(bench.call(fetch_request({place: 0}), 12))[place].error_code
    return code


def in_dir(bench: Bench, path: str) -> list[int]:
    return [
        index
        for (_, index), partition in bench.node.partitions.items()
        if partition.log.dir_path.startswith(path)
    ]


@pytest.fixture
def two() -> Bench:
    bench = Bench(TWO_DIRS)
    bench.create("events", 4)
    for index in range(4):
        bench.produce("events", batch(2), partition=index)
    return bench


def test_a_directory_fails_alone(two: Bench) -> None:
    lost, kept = in_dir(two, "/data"), in_dir(two, "/meta")
    assert len(lost) == len(kept) == 2
    two.disk.fail("/data", "append")
    assert produced(two, lost[0]) == ErrorCode.KAFKA_STORAGE_ERROR
    for index in lost:
        assert produced(two, index) == fetched(two, index) == ErrorCode.KAFKA_STORAGE_ERROR
    for index in kept:
        assert produced(two, index) == fetched(two, index) == ErrorCode.NONE
    assert not two.fatal_errors


def test_who_waits_on_a_failed_directory_is_told(two: Bench) -> None:
    (lost, _) = in_dir(two, "/data")
    peer = two.connect()
    correlation_id = peer.send(fetch_request({("events", lost): 2}, max_wait_ms=10_000), 12)
    two.node.logs.fail_dir("/data", OSError(errno.EIO, "broken"))
    two.scheduler.run_until(lambda: bool(peer.replies), within_ms=1)
    reply = two.reply(fetch_request({}), correlation_id, 12, peer)
    assert partitions_of(reply)[("events", lost)].error_code == ErrorCode.KAFKA_STORAGE_ERROR


def test_the_failure_of_the_metadata_directory_is_fatal(two: Bench) -> None:
    """However the directory is spelled in the configuration."""
    two.node.logs.fail_dir("/meta", OSError(errno.EIO, "broken"))
    assert two.fatal_errors


def test_the_failure_of_the_last_directory_is_fatal() -> None:
    bench = Bench({"log.dirs": "/one,/two", "metadata.log.dir": "/elsewhere"}, start=False)
    bench.disk.make_dirs("/elsewhere")
    bench.node.start(ENDPOINTS)
    bench.node.logs.fail_dir("/one", OSError(errno.EIO, "broken"))
    assert not bench.fatal_errors
    bench.node.logs.fail_dir("/two", OSError(errno.EIO, "broken"))
    assert bench.fatal_errors


@pytest.mark.parametrize("clean", [True, False])
def test_a_directory_that_is_offline_at_the_start_is_a_storage_error_and_no_empty_log(
    two: Bench, clean: bool
) -> None:
    """An empty log in the place of the lost one would be served as the truth; its records are still there
    when the directory is repaired. Also after an unclean stop, when every partition gets a new leader epoch.
    """
    lost, kept = in_dir(two, "/data"), in_dir(two, "/meta")
    if clean:
        two.node.shutdown()
    two.driver.kill()
    two.disk = two.disk.restart(two.scheduler.random, power_loss=False)
    two.disk.fail("/data")
    two._begin()
    two.node.start(ENDPOINTS)
    for index in lost:
        assert produced(two, index) == fetched(two, index) == ErrorCode.KAFKA_STORAGE_ERROR
    for index in kept:
        assert two.log("events", index).log_end_offset == 2
    assert not two.fatal_errors
    two.node.shutdown()
    two.driver.kill()
    two.disk = two.disk.restart(two.scheduler.random, power_loss=False)
    two._begin()
    two.node.start(ENDPOINTS)
    for index in range(4):
        assert two.log("events", index).log_end_offset == 2


def test_more_partitions_of_a_topic_bring_no_empty_log_for_the_lost_ones(two: Bench) -> None:
    lost = in_dir(two, "/data")
    two.node.logs.fail_dir("/data", OSError(errno.EIO, "broken"))
    grow = CreatePartitionsRequest(
        topics=[CreatePartitionsTopic(name="events", count=6, assignments=None)], timeout_ms=1000
    )
    assert two.call(grow).results[0].error_code == 0
    assert produced(two, 5) == ErrorCode.NONE
    for index in lost:
        assert produced(two, index) == ErrorCode.KAFKA_STORAGE_ERROR


def test_a_topic_in_a_failed_directory_can_be_deleted_and_made_anew(two: Bench) -> None:
    two.node.logs.fail_dir("/data", OSError(errno.EIO, "broken"))
    two.delete("events")
    assert not two.node.logs.offline
    two.create("events", 4)
    for index in range(4):
        assert two.produce("events", partition=index) == 0


# --- restarts


def test_the_leader_epoch_grows_after_an_unclean_stop_only() -> None:
    """KIP-320: after a clean one the log ends where it ended."""
    bench = Bench()
    bench.create("events", 2)

    def epochs() -> list[tuple[int, int]]:
        image = bench.node.image.topics["events"].partitions
        return [
            (image[index].leader_epoch, bench.node.partitions[("events", index)].leader_epoch)
            for index in (0, 1)
        ]

    assert epochs() == [(0, 0)] * 2
    for clean, expected in ((True, 0), (True, 0), (False, 1), (True, 1), (False, 2), (False, 3)):
        bench.produce("events")
        bench.restart(clean=clean)
        assert epochs() == [(expected, expected)] * 2
    assert bench.log("events").epochs.entries() == [(0, 0), (1, 3), (2, 5), (3, 6)]


def test_a_batch_carries_the_epoch_under_which_it_was_written() -> None:
    bench = Bench()
    bench.create("events")
    bench.produce("events")
    bench.restart(clean=False)
    bench.produce("events")
    from ottla.wire.record_batch import iter_headers

    records = partitions_of(bench.call(fetch_request({("events", 0): 0}), 12))[("events", 0)].records
    assert [header.leader_epoch for _, header in iter_headers(records, 0, len(records))] == [0, 1]


@pytest.mark.parametrize("seed", range(10))
def test_a_loss_of_power_keeps_the_metadata_and_what_was_flushed(seed: int) -> None:
    bench = Bench(seed=seed)
    bench.create("flushed", 2, flush_messages="1")
    bench.create("lazy")
    for _ in range(5):
        bench.produce("flushed", batch(3), partition=1)
        bench.produce("lazy")
    cluster_id = bench.node.cluster_id
    bench.restart(clean=False, power_loss=True)
    assert set(bench.node.image.topics) == {"flushed", "lazy"}
    assert bench.node.cluster_id == cluster_id
    log = bench.log("flushed", 1)
    assert log.log_end_offset == log.high_watermark == 15
    assert bench.log("lazy").log_end_offset <= 5
    assert bench.produce("flushed", partition=1) == 15


def test_the_logs_of_topics_that_the_metadata_does_not_know_are_set_aside() -> None:
    bench = Bench()
    bench.create("events")
    bench.produce("events")
    bench.node.shutdown()
    bench.driver.kill()
    disk = bench.disk.restart(bench.scheduler.random, power_loss=False)
    disk.rename("/data/events-0", "/data/unknown-0")
    again = Bench(disk=disk)
    assert not [name for name in disk.list_dir("/data") if name == "unknown-0"]
    assert [name for name in disk.list_dir("/data") if name.startswith("unknown-0") and "-stray" in name]
    assert again.log("events").log_end_offset == 0


def test_a_second_node_on_the_same_directory_is_refused_and_the_first_goes_on() -> None:
    bench = Bench()
    bench.create("events")
    second = Bench(disk=bench.disk, start=False)
    with pytest.raises(DataDirInUse, match="in use"):
        second.node.start(ENDPOINTS)
    assert bench.produce("events") == 0


def test_another_nodes_directory_is_refused_and_left_alone() -> None:
    bench = Bench()
    bench.node.shutdown()
    disk = bench.disk.restart(bench.scheduler.random, power_loss=False)
    other = Bench({"node.id": "7", "controller.quorum.voters": "7@broker:9093"}, disk=disk, start=False)
    with pytest.raises(BadMetaProperties):
        other.node.start(ENDPOINTS)
    Bench(disk=disk)


def test_a_start_that_fails_gives_its_locks_back() -> None:
    bench = Bench()
    bench.node.shutdown()
    disk = bench.disk.restart(bench.scheduler.random, power_loss=False)
    disk.fail("/data/__cluster_metadata-0", "read", "append", "sync")
    broken = Bench(disk=disk, start=False)
    with pytest.raises(OSError, match="Input/output error"):
        broken.node.start(ENDPOINTS)
    disk.heal("/data/__cluster_metadata-0")
    Bench(disk=disk)


def test_a_shutdown_whose_metadata_log_is_broken_still_closes_the_other_logs() -> None:
    bench = Bench(TWO_DIRS)
    bench.create("events", 2)
    for index in (0, 1):
        bench.produce("events", partition=index)
    bench.disk.fail("/meta/__cluster_metadata-0")
    bench.node.shutdown()
    assert ".kafka_cleanshutdown" in bench.disk.list_dir("/data")


def test_the_brokers_epoch_is_the_offset_of_its_registration() -> None:
    bench = Bench()
    for clean in (True, False):
        epoch = bench.node.broker_epoch
        assert bench.node.image.brokers[NODE_ID].epoch == epoch
        bench.restart(clean=clean)
        assert bench.node.broker_epoch > epoch


def test_nothing_is_written_to_a_partition_before_its_name_is_durable() -> None:
    """A flush vouches for a log's bytes; a name that a crash takes away takes them all."""
    bench = Bench()
    order: list[str] = []

    def watch(operation: Any, when: str) -> None:
        if when != "after":
            return
        if operation.kind == "sync_dir" and operation.path == "/data":
            order.append("named")

    bench.disk.observer = watch
    other = bench.connect()
    peer = bench.connect()
    from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest

    peer.send(
        CreateTopicsRequest(
            topics=[CreatableTopic(name="events", num_partitions=2, replication_factor=1)], timeout_ms=1000
        )
    )
    while not peer.replies:
        reply = other.send(produce_request("events"), 12)
        assert reply in other.answered
        code = (
            bench.reply(produce_request("events"), reply, 12, other)
            .responses[0]
            .partition_responses[0]
            .error_code
        )
        assert code != 0 or "named" in order
        assert bench.scheduler.step()
    assert bench.call(MetadataRequest(topics=None)).topics[0].error_code == 0
    assert bench.produce("events") >= 0


def test_the_controller_is_told_in_which_directory_each_replica_is(two: Bench) -> None:
    """KIP-858: of a broker with several directories the controller cannot know it, and it elects no leader
    whose directory is not among those that the broker has.
    """
    two.scheduler.run_for(2_000)
    topic = two.node.image.topics["events"]
    for index, state in topic.partitions.items():
        log_dir = two.node.logs.dir_of(two.node.partitions[("events", index)].log)
        assert log_dir is not None
        assert state.directories == (log_dir.directory_id,)


def test_a_replica_on_a_new_disk_is_told_to_be_there() -> None:
    bench = Bench()
    bench.create("events")
    known = bench.node.image.topics["events"].partitions[0].directories
    (log_dir,) = bench.node.logs.dirs
    assert known == (log_dir.directory_id,)
    log_dir.directory_id = bytes(range(16))
    topic_id = bench.node.image.topics["events"].topic_id
    bench.node.quorum.commit_now(
        [PartitionChangeRecord(topic_id=topic_id, partition_id=0, leader=bench.node.node_id)]
    )
    bench.scheduler.run_for(2_000)
    assert bench.node.image.topics["events"].partitions[0].directories == (bytes(range(16)),)
