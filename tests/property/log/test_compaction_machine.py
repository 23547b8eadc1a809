"""Any mixture of appends, rolls, compactions and restarts: what is read is what a dict would hold.

From every offset on, a read gives the first batch that is left at or after it; the last value of each key is
there; timestamps lead to the first record that is left and not older.
"""

from __future__ import annotations

from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.log.cleaner.cleaner import clean
from ottla.log.compaction import CleaningLimits, candidate_of, describe, still_replaced_by
from ottla.log.log import Log
from ottla.log.turn import Turn
from ottla.model.log_config import LogConfig
from ottla.model.types import TopicPartition
from ottla.ports.effects import run_now
from ottla.testing.clock import VirtualClock
from ottla.testing.disk import VirtualDisk
from ottla.testing.scheduler import Scheduler
from ottla.wire.record_batch import Codec, Record, decode_batch, encode_batch, iter_headers

NOW = 1_700_000_000_000
DIR = "/data/table-0"

appends = st.tuples(
    st.lists(st.integers(0, 6), min_size=1, max_size=5), st.sampled_from([Codec.NONE, Codec.LZ4])
)
steps = st.lists(
    st.one_of(appends, st.sampled_from(["roll", "compact", "restart", "kill"])), min_size=1, max_size=40
)


def open_log(disk: VirtualDisk, config: LogConfig, *, clean_shutdown: bool, recovery_point: int = 0) -> Log:
    return Log.open(
        disk,
        DIR,
        TopicPartition("table", 0),
        config,
        now_ms=NOW,
        clean_shutdown=clean_shutdown,
        recovery_point=recovery_point,
    )


def compact(log: Log, disk: VirtualDisk) -> None:
    log.flush(NOW)
    candidate = candidate_of(log, NOW)
    if candidate.cleanable_bytes == 0:
        return
    limits = CleaningLimits(map_bytes=1 << 20, io_buffer_bytes=4096)
    job = run_now(describe(candidate, limits, NOW, Turn(VirtualClock(Scheduler(1)))))
    result = clean(job, disk, now=lambda: 0.0, pause=lambda _: None)
    for cleaned in result.cleaned:
        replaced = still_replaced_by(candidate, cleaned)
        assert replaced is not None
        for path in log.replace_segments(
            replaced, cleaned.base_offset, has_txn_index=cleaned.has_txn_index, now_ms=NOW
        ):
            with suppress(FileNotFoundError):
                disk.remove(path)
    log.first_dirty_offset = result.next_dirty_offset


def read_on(log: Log, offset: int) -> list[Record]:
    """What a consumer gets next from `offset` on: it goes by the ends of batches, which may be emptier than
    they look.
    """
    while offset < log.log_end_offset:
        found = log.read(offset, 1, upto_offset=log.log_end_offset)
        if found.slice is None:
            break
        data = found.slice.read()
        found.slice.release()
        ((_, header),) = iter_headers(data, 0, len(data))
        records = decode_batch(data, decompressed_bytes_max=1 << 20)
        assert header.next_offset > offset
        if wanted := [record for record in records if record.offset >= offset]:
            return wanted
        offset = header.next_offset
    return []


@settings(max_examples=120)
@given(steps, st.sampled_from([300, 900]), st.sampled_from([1, 200]))
def test_a_compacted_log_reads_as_a_dict_would(
    steps: list[tuple[list[int], Codec] | str], segment_bytes: int, interval_bytes: int
) -> None:
    config = LogConfig(
        segment_bytes=segment_bytes,
        cleanup_policy=frozenset({"compact"}),
        index_interval_bytes=interval_bytes,
        segment_ms=10**15,
    )
    disk = VirtualDisk()
    log = open_log(disk, config, clean_shutdown=True)
    written: list[tuple[bytes, bytes]] = []
    for step in steps:
        if step == "roll":
            log.roll(NOW)
        elif step == "compact":
            compact(log, disk)
        elif step in ("restart", "kill"):
            dirty, recovery_point = log.first_dirty_offset, log.recovery_point
            if step == "restart":
                log.close(NOW)
            log = open_log(disk, config, clean_shutdown=step == "restart", recovery_point=recovery_point)
            log.first_dirty_offset = dirty
        else:
            keys, codec = step  # type: ignore[misc]
            first = len(written)
            pairs = [(b"key-%d" % key, b"%06d" % (first + at)) for at, key in enumerate(keys)]
            records = [Record(0, NOW + first + at, key, value) for at, (key, value) in enumerate(pairs)]
            assert log.append_as_leader(encode_batch(records, codec=codec), 0, NOW).first_offset == first
            written += pairs
        log.update_high_watermark(log.log_end_offset)
        assert log.log_end_offset == len(written)

    left: list[Record] = []
    offset = 0
    while batch := read_on(log, offset):
        left += batch
        offset = batch[-1].offset + 1
    for record in left:
        assert (record.key, record.value) == written[record.offset]
    last = {key: offset for offset, (key, _) in enumerate(written)}
    assert {record.key: record.offset for record in left} == last
    there = [record.offset for record in left]
    for offset in range(len(written)):
        wanted = next((each for each in there if each >= offset), None)
        found = read_on(log, offset)
        assert (found[0].offset if found else None) == wanted
        by_time = log.offset_for_timestamp(NOW + offset)
        assert (by_time[0] if by_time else None) == wanted
