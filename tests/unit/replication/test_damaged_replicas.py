"""Replicas whose files were damaged: a follower is cut where the damage begins and copies the rest again; a
leader's damage reaches nobody else, and holds up only its own partition.
"""

from __future__ import annotations

import logging

import pytest
from replica_bench import Cluster, Member

from ottla.log.checkpoints import RECOVERY_POINT_CHECKPOINT, write_checkpoint
from ottla.log.log import Log
from ottla.testing.network import ServerEnd
from ottla.wire.messages.fetch import FetchRequest

BATCHES = 12
CRC_AT = 17
LENGTH_AT = 8
MAGIC_AT = 16
BASE_OFFSET_AT = 0
RECORDS_AT = 61

FIELDS = {
    "a record": RECORDS_AT + 8,
    "the checksum": CRC_AT,
    "the magic": MAGIC_AT,
    "the length, now too small": LENGTH_AT + 3,
    "the length, now huge": LENGTH_AT,
    "the offset": BASE_OFFSET_AT + 3,
}
"""What of a batch is hit, and where that is."""


def position_of(log: Log, offset: int) -> tuple[str, int]:
    """The file and the place in it where the batch of `offset` begins."""
    segment = max((each for each in log.segments if each.base_offset <= offset), key=lambda s: s.base_offset)
    found = segment.find(offset)
    assert found is not None
    return segment.file.path, found[0]


def damage(member: Member, path: str, position: int, bit: int = 0x40) -> None:
    """One flipped bit, on the disk as it is now."""
    file = member.disk.open(path)
    byte = file.pread(1, position)
    file.write_at(bytes([byte[0] ^ bit]), position)
    file.close()


@pytest.fixture
def cluster() -> Cluster:
    cluster = Cluster(replica_lag_time_max_ms="10000")
    cluster.create(2, segment_bytes="1048576")
    return cluster


# --- a follower


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("is_closed", [False, True], ids=["active segment", "closed segment"])
def test_a_follower_is_cut_at_its_damage_and_copies_the_rest_again(
    cluster: Cluster, field: str, is_closed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """After a kill -9: all past the recovery point is looked at, and nothing behind a bad batch kept."""
    for number in range(BATCHES):
        if is_closed and number == BATCHES // 2:
            for member in cluster.members.values():
                member.partition().log.roll(member.clock.now_ms())
        cluster.produce(2)
    follower = cluster[3]
    log = follower.partition().log
    assert log.recovery_point == 0 and len(log.segments) == 1 + is_closed
    path, position = position_of(log, 6)
    follower.kill()
    damage(follower, path, position + FIELDS[field])
    cluster.register(3)
    cluster.alter(isr=[1, 2])  # as the controller does with a broker that stopped uncleanly
    with caplog.at_level(logging.WARNING):
        follower.start()
    assert follower.partition().log.log_end_offset == 6
    assert "the log now ends at offset 6" in caplog.text
    cluster.until(lambda: set(cluster.state().isr) == {1, 2, 3})
    assert follower.bytes_of() == cluster[1].bytes_of()
    cluster.produce(1)
    assert follower.bytes_of() == cluster[1].bytes_of()
    cluster.check_alive()


@pytest.mark.parametrize(
    "field", ["the magic", "the length, now too small", "the length, now huge", "the offset"]
)
def test_what_was_durable_is_cut_too_where_batches_no_longer_follow_one_another(
    cluster: Cluster, field: str
) -> None:
    """Below the recovery point checksums are not looked at again, but every header is."""
    for _ in range(BATCHES):
        cluster.produce(2)
    follower = cluster[3]
    log = follower.partition().log
    log.flush(follower.clock.now_ms())
    write_checkpoint(follower.disk, f"/data/{RECOVERY_POINT_CHECKPOINT}", {log.tp: log.recovery_point})
    path, position = position_of(log, 6)
    follower.kill()
    damage(follower, path, position + FIELDS[field])
    cluster.register(3)
    cluster.alter(isr=[1, 2])
    follower.start()
    assert follower.partition().log.log_end_offset == 6
    cluster.until(lambda: set(cluster.state().isr) == {1, 2, 3})
    assert follower.bytes_of() == cluster[1].bytes_of()
    cluster.check_alive()


def test_a_replica_whose_directory_was_removed_while_it_was_stopped_copies_all_again(
    cluster: Cluster,
) -> None:
    """What an operator does with damage that no recovery looks at."""
    for index in (0, 1):
        for _ in range(BATCHES):
            cluster.produce(2, index=index)
    replica = cluster[1]
    replica.stop()
    replica.disk.remove_tree("/data/events-0")
    cluster.register(1)
    for index in (0, 1):  # as the controller does when a broker asks to stop
        cluster.elect(2, index, isr=[2, 3])
    replica.start()
    cluster.until(lambda: all(1 in cluster.state(index).isr for index in (0, 1)))
    for index in (0, 1):
        assert replica.bytes_of(index) == cluster[2].bytes_of(index) == cluster[3].bytes_of(index)
    cluster.check_alive()


# --- a leader


@pytest.mark.parametrize("field", FIELDS)
def test_a_bad_batch_of_the_leader_is_refused_once_and_other_partitions_go_on(
    cluster: Cluster, field: str, caplog: pytest.LogCaptureFixture
) -> None:
    follower, leader = cluster[3], cluster[1]
    cluster.alter(isr=[1, 2])
    follower.kill()
    for index in (0, 1):
        for _ in range(BATCHES):
            cluster.produce(2, index=index)
    path, position = position_of(leader.partition().log, 6)
    damage(leader, path, position + FIELDS[field])
    asked = count_fetches(leader)
    cluster.register(3)
    with caplog.at_level(logging.INFO):
        follower.start()
        cluster.until(lambda: set(cluster.state(1).isr) == {1, 2, 3})
        cluster.settle(30_000)
    assert follower.bytes_of(1) == leader.bytes_of(1)
    # An offset lies outside the checksum: which of two batches is wrong, nobody knows, and none is taken.
    end = 0 if field == "the offset" else 6
    assert follower.partition().log.log_end_offset == end
    assert follower.bytes_of() == cluster[2].bytes_of(upto_offset=end)
    assert set(cluster.state(0).isr) == {1, 2}
    lines = [each.getMessage() for each in caplog.records if "events-0" in each.getMessage()]
    assert len(lines) == 1 and f"events-0 cannot be copied from node 1 beyond offset {end}" in lines[0]
    assert len(asked) < 30 * 7  # two followers with a long poll of half a second each, and the retries
    cluster.elect(2)  # whose copy is good
    cluster.until(lambda: 3 in cluster.state(0).isr)
    assert follower.bytes_of() == cluster[2].bytes_of()
    cluster.check_alive()


def count_fetches(member: Member) -> list[int]:
    """The sizes of the fetches that a broker is asked from now on."""
    asked: list[int] = []
    on_frame = member.on_frame

    def counted(connection: ServerEnd, frame: memoryview) -> None:
        if int.from_bytes(frame[:2], "big") == FetchRequest.API_KEY:
            asked.append(len(frame))
        on_frame(connection, frame)

    member.on_frame = counted  # type: ignore[method-assign]
    return asked
