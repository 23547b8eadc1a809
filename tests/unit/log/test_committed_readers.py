"""Readers of committed data see every committed record and no aborted one, whatever happens to the log.

A random history of transactions of both generations is written to a log with small segments, which is
rolled, flushed, closed, killed, cut and deprived of its power on the way. A reader that skips as consumers
do (by the aborted transactions of each fetch, until their markers) is compared with what the history says.
"""

from __future__ import annotations

import random
from typing import NamedTuple

import pytest
from log_bench import NOW, append, batch, marker, open_log, sent

from ottla.log.append_origin import AppendOrigin
from ottla.log.log import Log
from ottla.log.segment import marker_in
from ottla.model.log_config import LogConfig
from ottla.testing.disk import VirtualDisk
from ottla.wire.record_batch import empty_batch, iter_headers, read_header

PRODUCERS = (1, 2, 3, 4, 5)
SECOND_GENERATION = (3, 4, 5)
CONFIG = LogConfig(segment_bytes=700, index_interval_bytes=150)


class Event(NamedTuple):
    first_offset: int
    last_offset: int
    producer_id: int
    """-1 for a batch outside of any transaction."""
    committed: bool | None = None
    """Says that it is a marker, and which."""


class History:
    """What was written and is still there; everything else is derived from it, by the rules of the format."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def cut(self, end_offset: int) -> None:
        self.events = [event for event in self.events if event.last_offset < end_offset]

    def open_since(self) -> dict[int, int]:
        since: dict[int, int] = {}
        for event in self.events:
            if event.committed is not None:
                since.pop(event.producer_id, None)
            elif event.producer_id >= 0:
                since.setdefault(event.producer_id, event.first_offset)
        return since

    def visible(self, from_offset: int, to_offset: int) -> list[int]:
        seen: list[int] = []
        undecided: dict[int, list[int]] = {}
        for event in self.events:
            if event.committed is not None:
                records = undecided.pop(event.producer_id, [])
                seen += records if event.committed else []
            else:
                records = list(range(event.first_offset, event.last_offset + 1))
                if event.producer_id < 0:
                    seen += records
                else:
                    undecided.setdefault(event.producer_id, []).extend(records)
        return sorted(offset for offset in seen if from_offset <= offset < to_offset)


def read_committed(log: Log, from_offset: int, max_bytes: int) -> list[int]:
    """The offsets that a consumer with isolation.level=read_committed hands out."""
    seen: list[int] = []
    position, end_offset = from_offset, log.last_stable_offset
    while position < end_offset:
        result = log.read(position, max_bytes, upto_offset=end_offset)
        assert result.slice is not None
        aborted = sorted(log.aborted_within(result, position, end_offset), key=lambda txn: txn[1])
        data = result.slice.read()
        result.slice.release()
        skipped: set[int] = set()
        for at, header in iter_headers(data, 0, len(data)):
            while aborted and aborted[0][1] <= header.last_offset:
                skipped.add(aborted.pop(0)[0])
            ended = marker_in(data, at) if header.is_control else None
            if ended is not None and not ended.committed:
                skipped.discard(header.producer_id)
            is_skipped = header.is_control or (header.is_transactional and header.producer_id in skipped)
            if not is_skipped:
                seen += range(max(position, header.base_offset), header.next_offset)
            position = header.next_offset
    return seen


def write(log: Log, history: History, rng: random.Random) -> None:
    producer_id = rng.choice((-1, *PRODUCERS))
    count = rng.randint(1, 3)
    if producer_id < 0:
        info = append(log, batch(count))
    else:
        entry = log.producers.get(producer_id)
        epoch, sequence = (entry.epoch, entry.last_sequence + 1) if entry is not None else (0, 0)
        ticket = log.begin_verification(
            producer_id, epoch, sequence, bumps_epochs=producer_id in SECOND_GENERATION, now_ms=NOW
        )
        data = sent(producer_id, sequence, count, epoch=epoch, transactional=True)
        info = append(log, data, verification=ticket)
    history.events.append(Event(info.first_offset, info.last_offset, producer_id))


def end(log: Log, history: History, rng: random.Random) -> None:
    since = history.open_since()
    if not since:
        return
    producer_id = rng.choice(sorted(since))
    entry = log.producers.get(producer_id)
    assert entry is not None
    is_second = producer_id in SECOND_GENERATION
    committed = rng.random() < 0.5
    data = marker(producer_id, committed=committed, epoch=entry.epoch + is_second)
    info = log.append_as_leader(
        data, 0, NOW, origin=AppendOrigin.COORDINATOR, transaction_version=2 if is_second else 0
    )
    history.events.append(Event(info.first_offset, info.last_offset, producer_id, committed))


def restart(log: Log, disk: VirtualDisk, rng: random.Random, how: str) -> tuple[Log, VirtualDisk]:
    if how == "close":
        log.close(NOW)
    disk = disk.restart(rng, power_loss=how == "power loss")
    log = open_log(
        disk, CONFIG, clean_shutdown=how == "close", recovery_point=log.recovery_point, log_start_offset=0
    )
    return log, disk


@pytest.mark.parametrize("seed", range(40))
def test_a_reader_of_committed_data_sees_what_the_history_says(seed: int) -> None:
    rng = random.Random(seed)
    disk = VirtualDisk()
    log = open_log(disk, CONFIG)
    history = History()
    restarts = segments = 0
    for _ in range(120):
        what = rng.random()
        if what < 0.6:
            write(log, history, rng)
        elif what < 0.8:
            end(log, history, rng)
        elif what < 0.84:
            log.roll(NOW)
        elif what < 0.88:
            log.flush(NOW)
        elif what < 0.90:
            log.truncate_to(rng.randint(max(0, log.log_end_offset - 12), log.log_end_offset))
            history.cut(log.log_end_offset)
        elif what < 0.94:
            log, disk = restart(log, disk, rng, rng.choice(("close", "kill", "power loss")))
            history.cut(log.log_end_offset)
            restarts += 1
        log.update_high_watermark(log.log_end_offset)
        segments = max(segments, len(log.segments))

        since = history.open_since()
        stable = min(since.values(), default=log.log_end_offset)
        assert log.last_stable_offset == stable
        assert {entry.producer_id for entry in log.producers if entry.txn_first_offset >= 0} == set(since)
        begin = rng.randint(0, stable)
        assert read_committed(log, begin, rng.choice((1, 200, 1000, 1 << 20))) == history.visible(
            begin, stable
        )
    assert restarts and segments > 2


def test_what_compaction_left_of_a_batch_opens_no_transaction() -> None:
    """An empty batch keeps a producer's sequence; the marker that ended its transaction may be gone."""
    log = open_log()
    empty = empty_batch(read_header(sent(1, 4, transactional=True)))
    log.append_as_follower(empty, now_ms=NOW)
    entry = log.producers.get(1)
    assert entry is not None and (entry.last_sequence, entry.last_timestamp) == (4, NOW)
    assert not log.producers.has_open_transaction(1)
    log.update_high_watermark(log.log_end_offset)
    assert log.last_stable_offset == 1
