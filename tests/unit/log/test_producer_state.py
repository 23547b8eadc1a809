"""Idempotent producers in a partition: duplicates, gaps, epochs, expiry, snapshots (KIP-98, KIP-360)."""

from __future__ import annotations

import pytest
from log_bench import NOW, append, batch, log_path, offsets, open_log, overwrite, read_all, sent

from ottla.log.append_origin import AppendOrigin
from ottla.log.log import Log
from ottla.log.producer_state import BATCHES_MAX, SEQUENCE_MAX
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.log_config import LogConfig
from ottla.testing.disk import VirtualDisk

DAY_MS = 86_400_000


def refusal(log: Log, data: bytearray) -> ErrorCode:
    end = log.log_end_offset
    with pytest.raises(KafkaError) as refused:
        append(log, data)
    assert log.log_end_offset == end
    return refused.value.code


def test_the_last_five_batches_are_known_and_answered_with_their_offsets() -> None:
    log = open_log()
    infos = [append(log, sent(1, 3 * n, 3)) for n in range(7)]
    for number in range(7 - BATCHES_MAX, 7):
        again = append(log, sent(1, 3 * number, 3))
        assert again.is_duplicate
        assert (again.first_offset, again.last_offset) == (
            infos[number].first_offset,
            infos[number].last_offset,
        )
        assert again.record_count == 3
    assert log.log_end_offset == 21
    assert refusal(log, sent(1, 3, 3)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_duplicate_must_have_the_same_length() -> None:
    log = open_log()
    append(log, sent(1, 0, 3))
    assert refusal(log, sent(1, 0, 2)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_gap_is_out_of_order_and_the_next_sequence_is_still_accepted() -> None:
    log = open_log()
    append(log, sent(1, 0, 2))
    assert refusal(log, sent(1, 3, 1)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert append(log, sent(1, 2, 1)).first_offset == 2


def test_producers_do_not_disturb_each_other_nor_batches_without_one() -> None:
    log = open_log()
    for sequence in range(3):
        append(log, sent(1, sequence))
        append(log, sent(2, sequence))
        append(log, batch())
    assert refusal(log, sent(1, 9)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert len(log.producers) == 2


def test_an_unknown_producer_may_begin_anywhere() -> None:
    """KIP-360: its earlier records may have been deleted."""
    log = open_log()
    assert append(log, sent(1, 400, 2)).first_offset == 0
    assert append(log, sent(1, 402)).first_offset == 2


def test_an_older_epoch_is_fenced_and_a_new_one_begins_at_zero() -> None:
    log = open_log()
    append(log, sent(1, 0, 2, epoch=3))
    assert refusal(log, sent(1, 2, epoch=2)) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert refusal(log, sent(1, 2, epoch=4)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert append(log, sent(1, 0, epoch=4)).first_offset == 2
    assert refusal(log, sent(1, 2, epoch=3)) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert not append(log, sent(1, 1, epoch=4)).is_duplicate


def test_sequences_wrap_to_zero_after_the_largest() -> None:
    log = open_log()
    append(log, sent(1, SEQUENCE_MAX - 2, 2))
    info = append(log, sent(1, SEQUENCE_MAX, 3))  # SEQUENCE_MAX, 0, 1
    assert append(log, sent(1, SEQUENCE_MAX, 3)).first_offset == info.first_offset
    assert append(log, sent(1, 2)).first_offset == 5
    other = open_log()
    append(other, sent(1, SEQUENCE_MAX, 1))
    assert append(other, sent(1, 0)).first_offset == 1


def test_a_producer_without_a_sequence_is_invalid() -> None:
    assert refusal(open_log(), sent(1, -1)) == ErrorCode.INVALID_RECORD


def test_a_coordinators_batches_are_fenced_but_have_no_sequences() -> None:
    log = open_log()
    for _ in range(2):
        data = sent(1, -1, epoch=2, transactional=True)
        log.append_as_leader(data, 0, NOW, origin=AppendOrigin.COORDINATOR)
    with pytest.raises(KafkaError) as refused:
        log.append_as_leader(
            sent(1, -1, epoch=1, transactional=True), 0, NOW, origin=AppendOrigin.COORDINATOR
        )
    assert refused.value.code == ErrorCode.INVALID_PRODUCER_EPOCH


def test_several_batches_of_one_append_are_checked_against_each_other() -> None:
    log = open_log()
    append(log, sent(1, 0, epoch=5))
    with pytest.raises(KafkaError) as refused:
        log.append_as_leader(
            sent(1, -1, epoch=6) + sent(1, -1, epoch=5), 0, NOW, origin=AppendOrigin.COORDINATOR
        )
    assert refused.value.code == ErrorCode.INVALID_PRODUCER_EPOCH
    entry = log.producers.get(1)
    assert entry is not None and entry.epoch == 5, "a refused append leaves no trace"


def test_a_failed_write_leaves_the_sequence_where_it_was() -> None:
    disk = VirtualDisk()
    log = open_log(disk)
    append(log, sent(1, 0))
    disk.fail("/data", "append", "write")
    with pytest.raises(KafkaError):
        append(log, sent(1, 1))
    disk.heal("/data")
    assert not append(log, sent(1, 1)).is_duplicate


def test_a_producer_that_was_idle_for_too_long_is_forgotten() -> None:
    log = open_log(producer_id_expiration_ms=DAY_MS)
    append(log, sent(1, 0, timestamp=NOW))
    append(log, sent(2, 0, timestamp=NOW + 1000))
    append(log, sent(3, 0, timestamp=NOW, transactional=True))
    assert log.expire_producers(NOW + DAY_MS - 1) == 0
    assert log.expire_producers(NOW + DAY_MS) == 1
    assert {entry.producer_id for entry in log.producers} == {2, 3}
    assert log.expire_producers(NOW + 2 * DAY_MS) == 1
    assert {entry.producer_id for entry in log.producers} == {3}, "an open transaction keeps its producer"
    assert append(log, sent(1, 77)).last_offset == 3


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("damaged", [True, False])
def test_the_state_survives_a_restart_with_and_without_its_snapshots(clean: bool, damaged: bool) -> None:
    disk = VirtualDisk()
    config = LogConfig(segment_bytes=400)
    log = open_log(disk, config)
    for sequence in range(20):
        append(log, sent(1, sequence, epoch=2))
        append(log, sent(2, 7 * sequence, 7))
    log.close(NOW)
    if damaged:
        for name in disk.list_dir("/data/events-3"):
            if name.endswith(".snapshot"):
                overwrite(disk, f"/data/events-3/{name}", b"\x00\x01nonsense")
    again = open_log(disk, config, clean_shutdown=clean)
    for producer_id, last, epoch in ((1, 19, 2), (2, 139, 0)):
        entry = again.producers.get(producer_id)
        assert entry is not None
        assert (entry.last_sequence, entry.epoch) == (last, epoch)
    assert append(again, sent(2, 133, 7)).is_duplicate
    assert refusal(again, sent(1, 25, epoch=2)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert append(again, sent(1, 20, epoch=2)).first_offset == log.log_end_offset


def test_after_a_truncation_the_state_is_that_of_the_remaining_batches() -> None:
    log = open_log(config=LogConfig(segment_bytes=350))
    for sequence in range(12):
        append(log, sent(1, sequence))
    append(log, sent(1, 0, epoch=1))
    append(log, sent(2, 0))
    for offset in (13, 12, 7, 2):
        log.truncate_to(offset)
        entry = log.producers.get(1)
        assert entry is not None
        assert (entry.epoch, entry.last_sequence) == ((1, 0) if offset == 13 else (0, offset - 1))
        assert log.producers.get(2) is None
        assert log.producers.end_offset == offset
    assert append(log, sent(1, 2)).first_offset == 2
    log.truncate_fully_and_start_at(100)
    assert len(log.producers) == 0
    assert append(log, sent(1, 50)).first_offset == 100


def test_producers_in_a_snapshot_expire_while_the_broker_is_down() -> None:
    disk = VirtualDisk()
    log = open_log(disk)
    append(log, sent(1, 0))
    log.close(NOW)
    assert disk.exists(log_path(1, ".snapshot"))
    again = open_log(disk, clean_shutdown=True, now_ms=NOW + DAY_MS)
    assert len(again.producers) == 0
    assert offsets(read_all(again)) == [(0, 0)]
