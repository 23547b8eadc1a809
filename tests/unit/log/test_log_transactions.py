"""What a log knows of transactions: the last stable offset, markers, aborted transactions (KIP-98)."""

from __future__ import annotations

import pytest
from log_bench import NOW, append, batch, marker, open_log, sent

from ottla.log.append import AppendInfo
from ottla.log.append_origin import AppendOrigin
from ottla.log.log import Log
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.log_config import LogConfig
from ottla.testing.disk import VirtualDisk


def end(log: Log, producer_id: int, *, committed: bool, **options: int) -> AppendInfo:
    data = marker(producer_id, committed=committed, **options)
    return log.append_as_leader(data, 0, NOW, origin=AppendOrigin.COORDINATOR)


def write(log: Log, producer_id: int, sequence: int, count: int = 1, **options: int) -> AppendInfo:
    return append(log, sent(producer_id, sequence, count, transactional=True, **options))


def replicate(log: Log) -> None:
    log.update_high_watermark(log.log_end_offset)


def test_an_open_transaction_holds_the_last_stable_offset_back() -> None:
    log = open_log()
    append(log)
    write(log, 1, 0, 2)
    append(log)
    assert log.last_stable_offset == 0, "it is never above the high watermark"
    replicate(log)
    assert log.last_stable_offset == 1
    end(log, 1, committed=True)
    assert log.last_stable_offset == 1, "the marker is not replicated yet"
    replicate(log)
    assert log.last_stable_offset == log.high_watermark == 5


def test_the_oldest_of_several_transactions_counts() -> None:
    log = open_log()
    for producer_id in (1, 2, 3):
        write(log, producer_id, 0)
    replicate(log)
    end(log, 2, committed=True)
    replicate(log)
    assert log.last_stable_offset == 0
    end(log, 1, committed=False)
    replicate(log)
    assert log.last_stable_offset == 2
    end(log, 3, committed=True)
    replicate(log)
    assert log.last_stable_offset == log.log_end_offset


def test_clients_may_not_write_markers() -> None:
    log = open_log()
    with pytest.raises(KafkaError) as refused:
        append(log, marker(1, committed=True))
    assert refused.value.code == ErrorCode.INVALID_RECORD


def test_a_batch_outside_of_the_open_transaction_is_refused() -> None:
    log = open_log()
    write(log, 1, 0)
    with pytest.raises(KafkaError) as refused:
        append(log, sent(1, 1))
    assert refused.value.code == ErrorCode.INVALID_TXN_STATE
    end(log, 1, committed=True)
    append(log, sent(1, 1))


def test_markers_of_zombies_are_refused() -> None:
    log = open_log()
    write(log, 1, 0, epoch=2)
    with pytest.raises(KafkaError) as refused:
        end(log, 1, committed=True, epoch=1)
    assert refused.value.code == ErrorCode.INVALID_PRODUCER_EPOCH
    end(log, 1, committed=True, epoch=2, coordinator_epoch=5)
    with pytest.raises(KafkaError) as refused:
        end(log, 1, committed=True, epoch=2, coordinator_epoch=4)
    assert refused.value.code == ErrorCode.TRANSACTION_COORDINATOR_FENCED


def test_a_marker_with_a_new_epoch_fences_and_restarts_sequences() -> None:
    """The coordinator bumps the epoch when it aborts a transaction that timed out."""
    log = open_log()
    write(log, 1, 0, 3)
    end(log, 1, committed=False, epoch=1)
    with pytest.raises(KafkaError) as refused:
        write(log, 1, 3)
    assert refused.value.code == ErrorCode.INVALID_PRODUCER_EPOCH
    with pytest.raises(KafkaError) as refused:
        write(log, 1, 3, epoch=1)
    assert refused.value.code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    write(log, 1, 0, epoch=1)


def test_a_marker_without_a_transaction_changes_no_offset_but_is_remembered() -> None:
    log = open_log()
    end(log, 1, committed=False, epoch=3)
    replicate(log)
    assert log.last_stable_offset == 1
    assert log.aborted_transactions(0, 1) == []
    entry = log.producers.get(1)
    assert entry is not None and entry.epoch == 3


@pytest.mark.parametrize("restart", ["no", "clean", "unclean"])
def test_aborted_transactions_are_listed_for_the_ranges_they_overlap(restart: str) -> None:
    disk = VirtualDisk()
    config = LogConfig(segment_bytes=500)
    log = open_log(disk, config)
    aborted = []
    sequence = {1: 0, 2: 0, 3: 0}
    for number in range(24):
        producer_id = number % 3 + 1
        first = write(log, producer_id, sequence[producer_id], 2).first_offset
        append(log, batch())
        write(log, producer_id, sequence[producer_id] + 2)
        sequence[producer_id] += 3
        committed = number % 2 == 0
        last = end(log, producer_id, committed=committed).last_offset
        if not committed:
            aborted.append((producer_id, first, last))
    assert len(log.segments) > 4
    replicate(log)
    if restart != "no":
        log.close(NOW)
        log = open_log(disk, config, clean_shutdown=restart == "clean")
        replicate(log)
    assert log.last_stable_offset == log.log_end_offset
    for low in range(0, log.log_end_offset, 3):
        for high in (low + 1, low + 9, log.log_end_offset):
            # More than overlap is allowed (the reader goes by offsets), but never less and nothing later.
            found = log.aborted_transactions(low, high)
            assert found == [(p, first) for p, first, last in aborted if last >= low and first < high]


@pytest.mark.parametrize("clean", [True, False])
def test_open_transactions_survive_a_restart(clean: bool) -> None:
    disk = VirtualDisk()
    log = open_log(disk, LogConfig(segment_bytes=300))
    append(log)
    write(log, 1, 0)
    for sequence in range(10):
        append(log, sent(2, sequence))
    log.close(NOW)
    again = open_log(disk, LogConfig(segment_bytes=300), clean_shutdown=clean)
    replicate(again)
    assert again.last_stable_offset == 1
    assert again.producers.has_open_transaction(1)
    end(again, 1, committed=False)
    replicate(again)
    assert again.last_stable_offset == again.log_end_offset
    assert again.aborted_transactions(0, 5) == [(1, 1)]


def test_a_truncated_marker_reopens_its_transaction() -> None:
    log = open_log()
    write(log, 1, 0)
    append(log)
    end(log, 1, committed=False)
    append(log)
    log.truncate_to(2)
    replicate(log)
    assert log.last_stable_offset == 0
    assert log.aborted_transactions(0, 2) == []
    end(log, 1, committed=True)
    replicate(log)
    assert log.last_stable_offset == 3


def test_a_follower_learns_transactions_from_its_leader() -> None:
    leader, follower = open_log(), open_log()
    write(leader, 1, 0)
    append(leader)
    end(leader, 1, committed=False)
    slice_ = leader.read(0, 10_000, upto_offset=3).slice
    assert slice_ is not None
    follower.append_as_follower(slice_.read(), now_ms=NOW)
    slice_.release()
    assert follower.last_stable_offset == 0
    replicate(follower)
    assert follower.last_stable_offset == 3
    assert follower.aborted_transactions(0, 3) == [(1, 0)]
