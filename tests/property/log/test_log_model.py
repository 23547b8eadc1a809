"""A log against the simplest model of it: a list of batches.

Whatever is appended, cut, deleted, rolled, flushed and restarted, the log reads as the list does: dense
offsets, the bytes that were appended, each offset found by the index, times and epochs as a scan finds them,
and the producers as the batches say.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ottla.log.log import Log
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.log_config import LogConfig
from ottla.model.types import TopicPartition
from ottla.testing.disk import VirtualDisk
from ottla.wire.record_batch import Codec, Record, encode_batch, read_header

NOW = 1_700_000_000_000
DIR = "/data/events-0"
TP = TopicPartition("events", 0)
PRODUCERS = (11, 12)


@dataclass(frozen=True)
class Written:
    base_offset: int
    data: bytes
    times: tuple[int, ...]
    epoch: int
    producer: tuple[int, int, int] | None
    """Producer id, epoch and last sequence."""

    @property
    def end(self) -> int:
        return self.base_offset + len(self.times)


class LogAgainstList(RuleBasedStateMachine):
    @initialize(
        segment_bytes=st.sampled_from([250, 500, 2000]),
        index_interval_bytes=st.sampled_from([0, 150, 700]),
        index_bytes=st.sampled_from([24, 48, 10_000]),
    )
    def begin(self, segment_bytes: int, index_interval_bytes: int, index_bytes: int) -> None:
        self.config = LogConfig(
            segment_bytes=segment_bytes,
            index_interval_bytes=index_interval_bytes,
            segment_index_bytes=index_bytes,
            retention_bytes=3 * segment_bytes,
        )
        self.disk = VirtualDisk()
        self.model: list[Written] = []
        self.start = 0
        self.end = 0
        self.leader_epoch = 0
        self.next_sequence: dict[int, tuple[int, int]] = {}
        self.log = self.open(clean=False)

    def open(self, *, clean: bool, recovery_point: int = 0) -> Log:
        return Log.open(
            self.disk,
            DIR,
            TP,
            self.config,
            now_ms=NOW,
            clean_shutdown=clean,
            recovery_point=recovery_point,
            log_start_offset=self.start,
        )

    # --- what happens

    @rule(
        times=st.lists(st.integers(NOW - 50, NOW + 50), min_size=1, max_size=4),
        value_bytes=st.integers(0, 60),
        codec=st.sampled_from([Codec.NONE, Codec.NONE, Codec.LZ4]),
        producer_id=st.sampled_from([None, *PRODUCERS]),
        new_producer_epoch=st.booleans(),
    )
    def append(
        self,
        times: list[int],
        value_bytes: int,
        codec: Codec,
        producer_id: int | None,
        new_producer_epoch: bool,
    ) -> None:
        records = [Record(0, time, b"k", b"v" * value_bytes) for time in times]
        if producer_id is None:
            data = encode_batch(records, codec=codec)
            producer = None
        else:
            epoch, sequence = self.next_sequence.get(producer_id, (0, 0))
            if new_producer_epoch and sequence:
                epoch, sequence = epoch + 1, 0
            data = encode_batch(
                records, codec=codec, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence
            )
            producer = (producer_id, epoch, sequence + len(times) - 1)
        size = len(data)
        if size > self.config.segment_bytes:
            with pytest.raises(KafkaError) as refused:
                self.log.append_as_leader(data, self.leader_epoch, NOW)
            assert refused.value.code == ErrorCode.RECORD_LIST_TOO_LARGE
            return
        info = self.log.append_as_leader(data, self.leader_epoch, NOW)
        assert (info.first_offset, info.last_offset) == (self.end, self.end + len(times) - 1)
        assert not info.is_duplicate
        self.model.append(Written(self.end, bytes(data), tuple(times), self.leader_epoch, producer))
        if producer is not None:
            self.next_sequence[producer[0]] = (producer[1], producer[2] + 1)
        self.end += len(times)

    @precondition(lambda self: any(w.producer for w in self.model[-3:]))
    @rule()
    def append_a_duplicate(self) -> None:
        known = {}
        for written in self.model:
            if written.producer is not None:
                known[written.producer[0]] = written
        for written in known.values():
            data = bytearray(written.data)
            data[0:8] = bytes(8)
            info = self.log.append_as_leader(data, self.leader_epoch, NOW)
            assert info.is_duplicate
            assert (info.first_offset, info.last_offset) == (written.base_offset, written.end - 1)

    @rule()
    def roll(self) -> None:
        self.log.roll(NOW)

    @rule()
    def flush(self) -> None:
        self.log.flush(NOW)
        assert self.log.recovery_point == self.end

    @rule()
    def new_leader_epoch(self) -> None:
        self.leader_epoch += 2

    @rule(part=st.floats(0, 1))
    def truncate(self, part: float) -> None:
        offset = self.start + round(part * (self.end - self.start))
        self.log.truncate_to(offset)
        while self.model and self.model[-1].end > offset:
            self.end = self.model.pop().base_offset
        self.start = min(self.start, self.end)
        self.forget_lost_producers()

    @rule(part=st.floats(0, 1))
    def delete_records(self, part: float) -> None:
        self.log.update_high_watermark(self.end)
        offset = self.start + round(part * (self.end - self.start))
        self.log.advance_log_start(offset)
        self.start = offset

    @rule()
    def retention(self) -> None:
        self.log.update_high_watermark(self.end)
        self.log.apply_retention(NOW)
        assert self.log.log_start_offset >= self.start
        self.start = self.log.log_start_offset
        first = self.log.segments[0].base_offset
        self.model = [written for written in self.model if written.end > first]
        for file, _ in self.log.take_deleted_files():
            file.delete()

    @rule(clean=st.booleans())
    def restart(self, clean: bool) -> None:
        recovery_point = self.log.recovery_point
        if clean:
            self.log.close(NOW)
        self.log = self.open(clean=clean, recovery_point=recovery_point)
        self.forget_lost_producers()

    def forget_lost_producers(self) -> None:
        """Snapshots and the batches since know more than the batches alone, but never less."""
        for producer_id in PRODUCERS:
            entry = self.log.producers.get(producer_id)
            if entry is None:
                self.next_sequence.pop(producer_id, None)
            else:
                self.next_sequence[producer_id] = (entry.epoch, entry.last_sequence + 1)

    # --- what must hold

    @invariant()
    def offsets_are_those_of_the_list(self) -> None:
        log = self.log
        assert (log.log_start_offset, log.log_end_offset) == (self.start, self.end)
        assert log.log_start_offset <= log.last_stable_offset <= log.high_watermark <= log.log_end_offset
        assert log.recovery_point <= log.log_end_offset

    @invariant()
    def reading_on_gives_every_byte(self) -> None:
        visible = [written for written in self.model if written.end > self.start]
        offset = self.start
        read = b""
        while offset < self.end:
            result = self.log.read(offset, 200, upto_offset=self.end)
            assert result.slice is not None
            data = result.slice.read()
            result.slice.release()
            at = 0
            while len(data) - at >= 61 and len(data) - at >= read_header(data, at).size_bytes:
                header = read_header(data, at)
                read += data[at : at + header.size_bytes]
                at += header.size_bytes
                offset = header.next_offset
            assert at, "a read gives at least one whole batch"
        assert read == b"".join(written.data for written in visible)

    @invariant()
    def every_offset_is_found_as_a_scan_finds_it(self) -> None:
        for written in self.model:
            for offset in {max(written.base_offset, self.start), written.end - 1}:
                if offset < self.start or written.end <= self.start:
                    continue
                result = self.log.read(offset, 1, upto_offset=self.end)
                assert result.slice is not None
                assert read_header(result.slice.read()).base_offset == written.base_offset
                result.slice.release()

    @invariant()
    def times_are_found_as_a_scan_finds_them(self) -> None:
        records = [
            (written.base_offset + n, time, written.epoch)
            for written in self.model
            for n, time in enumerate(written.times)
            if written.base_offset + n >= self.start
        ]
        for wanted in (NOW - 51, NOW - 20, NOW, NOW + 30, NOW + 51):
            expected = next((record for record in records if record[1] >= wanted), None)
            assert self.log.offset_for_timestamp(wanted) == expected

    @invariant()
    def epochs_are_those_of_the_batches(self) -> None:
        visible = [written for written in self.model if written.end > self.start]
        for written, following in zip(visible, [*visible[1:], None], strict=False):
            if following is None or following.epoch != written.epoch:
                end = self.end if following is None else following.base_offset
                assert self.log.end_offset_for_epoch(written.epoch) == (written.epoch, end)

    @invariant()
    def producers_are_those_of_the_batches(self) -> None:
        last = {written.producer[0]: written for written in self.model if written.producer is not None}
        for producer_id, written in last.items():
            entry = self.log.producers.get(producer_id)
            if entry is None:
                assert written.end <= self.start, "only a producer whose records are deleted may be unknown"
                continue
            assert written.producer is not None
            assert (entry.epoch, entry.last_sequence) == written.producer[1:]
            assert entry.last_offset == written.end - 1


LogAgainstList.TestCase.settings = settings(
    max_examples=60,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
test_the_log_reads_as_the_list_of_its_batches = LogAgainstList.TestCase
