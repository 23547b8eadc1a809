"""One partition's role (`replication/partition.py`): who is told what, and when the high watermark moves."""

from __future__ import annotations

from typing import Any

import pytest
from broker_bench import NOW, batch

from ottla.log.log import Log
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.log_config import LogConfig
from ottla.model.types import TopicPartition
from ottla.ports.effects import Waiter
from ottla.replication.partition import READ_COMMITTED, READ_UNCOMMITTED, Partition
from ottla.testing.disk import VirtualDisk

TP = TopicPartition("events", 0)


class Listener:
    def __init__(self) -> None:
        self.heard: list[int] = []

    def data_arrived(self, partition: Partition, size_bytes: int) -> None:
        self.heard.append(size_bytes)


def make(**config: Any) -> Partition:
    log = Log.open(VirtualDisk(), "/data/events-0", TP, LogConfig(**config), now_ms=NOW, clean_shutdown=True)
    partition = Partition(TP, b"t" * 16, log)
    partition.become_leader(1, 0, 0, (1,), (1,))
    return partition


def waiter_for(partition: Partition, offset: int) -> Waiter:
    waiter = Waiter(float("inf"))
    partition.wait_for_high_watermark(offset, waiter)
    return waiter


def test_the_high_watermark_follows_the_log_of_a_sole_replica() -> None:
    partition = make()
    listener = Listener()
    partition.watch(listener)
    info = partition.append(batch(3), NOW, acks=-1)
    assert partition.log.high_watermark == 3
    assert not partition.must_wait(info, -1) and not partition.must_wait(info, 1)
    assert listener.heard == [info.size_bytes]


def test_a_flush_that_is_awaited_holds_the_high_watermark_and_tells_the_bytes_it_held() -> None:
    partition = make(flush_messages=1)
    listener = Listener()
    partition.watch(listener)
    first = partition.append(batch(3), NOW, acks=1)
    partition.flush_running = True
    second = partition.append(batch(2), NOW, acks=1)
    assert partition.must_wait(first, 1) and partition.must_wait(second, -1)
    assert (partition.log.high_watermark, listener.heard) == (0, [])
    waiters = [waiter_for(partition, first.last_offset), waiter_for(partition, second.last_offset)]
    partition.flushed(3)
    assert [waiter.fired for waiter in waiters] == [True, False]
    partition.flushed(5)
    assert [waiter.fired for waiter in waiters] == [True, True]
    assert partition.log.high_watermark == 5
    assert sum(listener.heard) >= first.size_bytes + second.size_bytes
    third = partition.append(batch(1), NOW, acks=1)
    partition.flushed(6)
    assert listener.heard[-1] == third.size_bytes


def test_a_flush_that_covered_nothing_new_tells_nobody() -> None:
    partition = make(flush_messages=1)
    partition.append(batch(3), NOW, acks=1)
    partition.flushed(3)
    listener = Listener()
    partition.watch(listener)
    partition.flushed(3)
    assert listener.heard == []


def test_a_new_epoch_is_noted_at_the_logs_end_and_told_to_readers() -> None:
    partition = make()
    partition.append(batch(3), NOW, acks=1)
    listener = Listener()
    partition.watch(listener)
    partition.become_leader(1, 4, 1, (1,), (1,))
    assert partition.log.epochs.entries() == [(0, 0), (4, 3)]
    assert listener.heard == [0]
    partition.become_leader(1, 4, 2, (1,), (1,))
    assert listener.heard == [0]


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (-1, None),
        (4, None),
        (3, ErrorCode.FENCED_LEADER_EPOCH),
        (0, ErrorCode.FENCED_LEADER_EPOCH),
        (5, ErrorCode.UNKNOWN_LEADER_EPOCH),
    ],
)
def test_a_clients_epoch_is_compared_with_ours(asked: int, code: ErrorCode | None) -> None:
    """KIP-320."""
    partition = make()
    partition.become_leader(1, 4, 1, (1,), (1,))
    if code is None:
        partition.check_leader_epoch(asked)
        return
    with pytest.raises(KafkaError) as refused:
        partition.check_leader_epoch(asked)
    assert refused.value.code == code


def test_who_loses_the_leadership_takes_no_writes_and_lets_nobody_wait() -> None:
    partition = make(flush_messages=1)
    info = partition.append(batch(), NOW, acks=-1)
    waiter = waiter_for(partition, info.last_offset)
    listener = Listener()
    partition.watch(listener)
    partition.resign(2, 5, 3, (1, 2))
    assert waiter.fired and listener.heard == [0]
    assert (partition.leader_id, partition.leader_epoch) == (2, 5)
    with pytest.raises(KafkaError) as refused:
        partition.append(batch(), NOW, acks=1)
    assert refused.value.code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_leader_that_is_confirmed_while_it_flushes_shows_nothing_unflushed() -> None:
    partition = make(flush_messages=1)
    partition.append(batch(), NOW, acks=-1)
    partition.flush_running = True
    partition.become_leader(1, 0, 1, (1,), (1,))
    assert partition.log.high_watermark == 0


def test_readers_of_committed_data_stop_at_the_first_open_transaction() -> None:
    from ottla.log.append_origin import AppendOrigin

    partition = make()
    partition.append(batch(2), NOW, acks=1)
    undecided = batch(2, producer_id=1, producer_epoch=0, base_sequence=0, transactional=True)
    partition.append(undecided, NOW, acks=1, origin=AppendOrigin.COORDINATOR)
    assert partition.readable_end(READ_UNCOMMITTED) == 4
    assert partition.readable_end(READ_COMMITTED) == 2


def test_nobody_watches_costs_no_memory() -> None:
    partition = make()
    listener = Listener()
    partition.watch(listener)
    partition.unwatch(listener)
    partition.unwatch(listener)
    assert partition.watches is None
