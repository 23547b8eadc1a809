"""One simulated life of a partition's log, with a crash tried at every operation of its disk.

The workload is random under a seed: appends of idempotent and plain producers, duplicates, gaps, flushes
(also with appends while one is under way), rolls, retention, deleted records, truncations, changed
configurations, new leader epochs, checkpoints, clean restarts. Nothing crashes while it runs. Instead,
before, within and after each change of the disk it takes images of what a crash at that point would leave,
opens the log on them, and compares with `LogHistory`; then the recovered log must go on working: duplicates
are recognised, the next sequence is accepted, indexes agree with a scan, a clean restart changes nothing.

The run plays the part of the log manager: it keeps the checkpoints (recovery point, log start) and the mark
of a clean shutdown in files of the same disk.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Final

from ottla.log.log import Log
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.log_config import LogConfig
from ottla.model.types import TopicPartition
from ottla.testing.clock import SIMULATION_BEGINS_MS
from ottla.testing.disk import Operation, Survival, VirtualDisk, When
from ottla.testing.log_history import Found, LogHistory, StoredBatch, scan
from ottla.wire.record_batch import (
    BatchHeader,
    Codec,
    Record,
    decode_batch,
    encode_batch,
    iter_headers,
)

ROOT: Final = "/data"
LOG_DIR: Final = "/data/events-0"
CHECKPOINT: Final = "/data/offsets"
CLEAN: Final = "/data/clean"
TP: Final = TopicPartition("events", 0)
HOUR_MS: Final = 3_600_000


class _Producer:
    __slots__ = ("producer_id", "epoch", "sent")

    def __init__(self, producer_id: int) -> None:
        self.producer_id = producer_id
        self.epoch = 0
        self.sent = 0


class LogRun:
    def __init__(
        self,
        seed: int,
        *,
        steps: int = 60,
        images_per_point: float = 0.5,
        log_class: type[Log] = Log,
    ) -> None:
        self.seed = seed
        self.steps = steps
        self.images_per_point = images_per_point
        self.random = random.Random(seed)
        self.image_random = random.Random(seed * 31 + 7)
        self.disk = VirtualDisk()
        self.report: Counter[str] = self.disk.stats
        self.history = LogHistory()
        self._log_class = log_class
        self._producers = [_Producer(100 + number) for number in range(3)]
        self._now_ms = SIMULATION_BEGINS_MS
        self._leader_epoch = 0
        rng = self.random
        self.config = LogConfig(
            segment_bytes=rng.choice((1_500, 3_000, 6_000)),
            index_interval_bytes=rng.choice((1, 200, 1_000)),
            retention_bytes=rng.choice((-1, 3_000, 8_000)),
            retention_ms=rng.choice((-1, HOUR_MS)),
            segment_ms=rng.choice((HOUR_MS // 4, 7 * 24 * HOUR_MS)),
            flush_messages=rng.choice((1, 5, 2**63 - 1)),
            file_delete_delay_ms=rng.choice((0, 1000)),
        )
        self.disk.make_dirs(ROOT)
        self.disk.sync_dir("/")
        self._write_checkpoint(0, 0)
        self.log: Log
        self._is_open = False

    def run(self) -> Counter[str]:
        """Raises AssertionError, with the command that repeats it, when a crash would break a promise."""
        self.disk.observer = self._at_point
        self.log = self._open(self.disk, self._now_ms)
        self._is_open = True
        for _ in range(self.steps):
            self._now_ms += self.random.choice((1, 50, HOUR_MS // 8))
            self._step()
        self.report["operations"] += self.disk.operations
        self.report["runs"] += 1
        return self.report

    # -- the workload --

    def _step(self) -> None:
        rng = self.random
        choice = rng.random()
        if choice < 0.55:
            for _ in range(rng.randint(1, 4)):
                self._append()
            if self.log.flush_due(self._now_ms):
                self._flush()
        elif choice < 0.62:
            self._flush()
        elif choice < 0.67:
            self._flush_with_appends_meanwhile()
        elif choice < 0.69:
            self._two_flushes_at_once()
        elif choice < 0.78:
            self._write_checkpoint(self.log.recovery_point, self.log.log_start_offset)
        elif choice < 0.81:
            self.log.roll(self._now_ms)
            self.report["rolls"] += 1
        elif choice < 0.85:
            self._retention()
        elif choice < 0.88:
            self._delete_records()
        elif choice < 0.91:
            self._truncate()
        elif choice < 0.94:
            self._leader_epoch += 1
        elif choice < 0.96:
            self.config = replace(
                self.config,
                segment_bytes=rng.choice((1_500, 3_000, 6_000)),
                index_interval_bytes=rng.choice((1, 200, 1_000)),
                flush_messages=rng.choice((1, 5, 2**63 - 1)),
            )
            self.log.update_config(self.config)
        elif choice < 0.97:
            self._fill_the_disk()
        elif choice < 0.985:
            self._restart_cleanly()
        else:
            self._restart_after_kill()

    def _append(self) -> None:
        rng = self.random
        producer = rng.choice((None, *self._producers))
        kind = rng.random()
        if producer is not None and kind < 0.1:
            self._append_duplicate(producer)
            return
        gap = 3 if producer is not None and producer.sent and kind < 0.15 else 0
        sequence = -1 if producer is None else self._next_sequence(self.log, producer.producer_id) + gap
        known = producer is not None and self._last_batch_of(producer.producer_id) is not None
        buffer = self._batch(producer, sequence)
        self.history.append_begins(buffer)
        try:
            info = self.log.append_as_leader(memoryview(buffer), self._leader_epoch, self._now_ms)
        except KafkaError as error:
            full = self.disk.capacity_bytes is not None and error.code == ErrorCode.KAFKA_STORAGE_ERROR
            if not full and not (gap and error.code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER):
                raise
            self.history.append_refused()
            assert self.log.log_end_offset == self.history.end, "a refused append moved the log's end"
            self.report["refused_disk_full" if full else "gaps_refused"] += 1
            return
        assert not (gap and known), "a gap in the sequence was accepted"
        assert not info.is_duplicate
        batch = self.history.append_ends(info.first_offset, info.last_offset)
        assert info.record_count == batch.header.record_count
        if producer is not None:
            producer.sent += 1
        self.log.update_high_watermark(self.log.log_end_offset)
        self.report["appends"] += 1

    def _append_duplicate(self, producer: _Producer) -> None:
        last = self._last_batch_of(producer.producer_id)
        if last is None or last.header.base_offset < self.log.log_start_offset:
            return
        buffer = bytearray(last.data)
        buffer[0:8] = bytes(8)
        info = self.log.append_as_leader(memoryview(buffer), self._leader_epoch, self._now_ms)
        assert info.is_duplicate, "a batch was appended twice"
        assert (info.first_offset, info.last_offset) == (last.header.base_offset, last.header.last_offset)
        assert self.log.log_end_offset == self.history.end
        self.report["duplicates_answered"] += 1

    def _batch(self, producer: _Producer | None, sequence: int) -> bytearray:
        rng = self.random
        records = [
            Record(
                0,
                self._now_ms + rng.randrange(-1000, 1000),
                rng.choice((None, b"key")),
                rng.randbytes(rng.choice((0, 10, 100, 300))),
            )
            for _ in range(rng.randint(1, 4))
        ]
        codec = rng.choice((Codec.NONE, Codec.NONE, Codec.NONE, Codec.LZ4, Codec.ZSTD))
        if producer is None:
            return encode_batch(records, codec=codec)
        return encode_batch(
            records,
            codec=codec,
            producer_id=producer.producer_id,
            producer_epoch=producer.epoch,
            base_sequence=sequence,
        )

    def _last_batch_of(self, producer_id: int) -> StoredBatch | None:
        for batch in reversed(self.history.batches):
            if batch.header.producer_id == producer_id:
                return batch
        return None

    def _next_sequence(self, log: Log, producer_id: int) -> int:
        last = self._last_batch_of(producer_id)
        if last is not None:
            return last.header.last_sequence + 1
        entry = log.producers.get(producer_id)
        return 0 if entry is None else entry.last_sequence + 1

    def _flush(self) -> None:
        self.log.flush(self._now_ms)
        assert self.log.recovery_point == self.log.log_end_offset
        self.history.flush_ends(self.log.recovery_point)
        self.report["flushes"] += 1

    def _flush_with_appends_meanwhile(self) -> None:
        ticket = self.log.begin_flush()
        if ticket is None:
            return
        self._append()
        ticket.run()
        if self.random.random() < 0.3:
            self._append()
        self.log.end_flush(ticket, self._now_ms)
        assert self.log.recovery_point >= ticket.upto_offset
        self.history.flush_ends(self.log.recovery_point)
        self.report["flushes_overlapped"] += 1

    def _two_flushes_at_once(self) -> None:
        """The flush policy of a topic and the housekeeping may each have one under way."""
        tickets = [ticket for _ in range(2) if (ticket := self.log.begin_flush()) is not None]
        self.random.shuffle(tickets)
        for ticket in tickets:
            ticket.run()
            self.log.end_flush(ticket, self._now_ms)
            # A crash after the first sees only what that one made durable.
            self.disk.sync_dir(ROOT)
        self.history.flush_ends(self.log.recovery_point)
        self.report["flushes_at_once"] += 1

    def _fill_the_disk(self) -> None:
        self.disk.capacity_bytes = self.disk.used_bytes() + self.random.randrange(1500)
        for _ in range(5):
            self._append()
        self.disk.capacity_bytes = None
        self._append()

    def _write_checkpoint(self, recovery_point: int, log_start: int) -> None:
        self.disk.write_file_atomic(CHECKPOINT, f"{recovery_point} {log_start}".encode())
        self.history.start_is_kept(log_start)
        self.report["checkpoints"] += 1

    def _retention(self) -> None:
        # Segments go at some moment inside the call, from the oldest on.
        self.history.start_moves(self.log.log_end_offset)
        self.report["segments_retired"] += self.log.apply_retention(self._now_ms)
        self.history.start = self.log.log_start_offset
        for file, _delete_at_ms in self.log.take_deleted_files():
            file.delete()

    def _delete_records(self) -> None:
        log = self.log
        if log.high_watermark <= log.log_start_offset:
            return
        offset = self.random.randint(log.log_start_offset, log.high_watermark)
        self.history.start_moves(offset)
        log.advance_log_start(offset)
        assert log.log_start_offset == offset
        self.report["deleted_records"] += 1

    def _truncate(self) -> None:
        log = self.log
        if not self.history.batches or log.log_end_offset <= log.log_start_offset:
            return
        if self.random.random() < 0.7:
            candidates = [b for b in self.history.batches if b.header.base_offset >= log.log_start_offset]
            if not candidates:
                return
            offset = self.random.choice(candidates[-6:]).header.base_offset
        else:
            offset = self.random.randint(log.log_start_offset, log.log_end_offset)
        self.history.truncation_begins(offset)
        log.truncate_to(offset)
        assert log.log_end_offset == self.history.end, (
            f"truncated to {offset}: the log ends at {log.log_end_offset}, {self.history.end} was expected"
        )
        # As the manager does: a checkpoint above the log's end would keep recovery from looking there.
        self._write_checkpoint(log.recovery_point, log.log_start_offset)
        self.report["truncations"] += 1

    def _restart_cleanly(self) -> None:
        self.log.close(self._now_ms)
        self.history.flush_ends(self.history.end)
        self._write_checkpoint(self.log.log_end_offset, self.log.log_start_offset)
        self.disk.write_file_atomic(CLEAN, b"")
        self.log = self._open(self.disk, self._now_ms)
        found = self._scan(self.disk, self.log)
        self.history.check(found, bits_may_have_flipped=False)
        assert found.end == self.history.end, "a clean restart lost records"
        self.report["clean_restarts"] += 1

    def _restart_after_kill(self) -> None:
        """kill -9: the page cache survives, so nothing at all may be missing."""
        observer, self.disk.observer = self.disk.observer, None
        self.disk = self.disk.restart(self.random, power_loss=False)
        self.disk.observer = observer
        self.log = self._open(self.disk, self._now_ms)
        found = self._scan(self.disk, self.log)
        self.history.check(found, bits_may_have_flipped=False)
        assert found.end == self.history.end, (
            f"kill -9 lost records: the log ends at {found.end}, {self.history.end} was reached"
        )
        self.history.became(found)

    def _open(self, disk: VirtualDisk, now_ms: int) -> Log:
        recovery_point, log_start = map(int, disk.read_file(CHECKPOINT).split())
        clean = disk.exists(CLEAN)
        if clean:
            disk.remove(CLEAN)
            disk.sync_dir(ROOT)
        log = self._log_class.open(
            disk,
            LOG_DIR,
            TP,
            self.config,
            now_ms=now_ms,
            clean_shutdown=clean,
            recovery_point=recovery_point,
            log_start_offset=log_start,
        )
        disk.sync_dir(ROOT)
        log.update_high_watermark(log.log_end_offset)
        return log

    # -- the crashes --

    def _at_point(self, operation: Operation, when: When) -> None:
        if self._is_open:
            self.history.believed_durable(self.log.recovery_point)
        wanted = self.images_per_point
        while wanted > 0 and self.image_random.random() < wanted:
            wanted -= 1
            self._try_crash(operation, when, self.image_random.getrandbits(48))

    def _try_crash(self, operation: Operation, when: When, image_seed: int) -> None:
        rng = random.Random(image_seed)
        power_loss = rng.random() < 0.85
        survival = Survival(bit_flips=rng.random() < 0.3)
        image = self.disk.image(rng, power_loss=power_loss, survival=survival)
        image.capacity_bytes = None  # somebody made room before the restart
        self.report["crashes_tried"] += 1
        try:
            if rng.random() < 0.1:
                # The machine dies again while it recovers.
                again = rng.randrange(1, 12)
                image = self._crash_during_recovery(image, again, rng, power_loss)
            self._check_image(image, rng, power_loss and survival.bit_flips)
        except Exception as error:
            kind = "power loss" if power_loss else "kill -9"
            raise AssertionError(
                f"{kind} {when} operation {operation.number} ({operation.kind} {operation.path}): {error}\n"
                f"repeat with: python -m ottla.testing.run --part log --seed {self.seed} --steps {self.steps}"
                f" --images {self.images_per_point}"
            ) from error

    def _crash_during_recovery(
        self, image: VirtualDisk, operations: int, rng: random.Random, power_loss: bool
    ) -> VirtualDisk:
        taken: list[VirtualDisk] = []

        def look(operation: Operation, _: When) -> None:
            if operation.number >= operations and not taken:
                taken.append(image.image(rng, power_loss=power_loss, survival=Survival(bit_flips=False)))

        image.observer = look
        log = self._open(image, self._now_ms)
        image.observer = None
        if not taken:
            # Recovery was done before that operation came: the crash comes after it.
            del log
            taken.append(image.image(rng, power_loss=power_loss, survival=Survival(bit_flips=False)))
        self.report["crashes_in_recovery"] += 1
        return taken[0]

    def _check_image(self, image: VirtualDisk, rng: random.Random, bits_may_have_flipped: bool) -> None:
        log = self._open(image, self._now_ms)
        found = self._scan(image, log)
        self.history.check(found, bits_may_have_flipped=bits_may_have_flipped)
        self.report["records_lost_unflushed"] += max(0, self.history.end - found.end)
        self._check_reads(log, found, rng)
        self._check_timestamps(log, found, rng)
        if not bits_may_have_flipped:
            self._check_epochs(log, found)
        self._check_producers(log, found)
        self._check_it_goes_on(image, log, rng)

    def _scan(self, disk: VirtualDisk, log: Log) -> Found:
        return scan(disk, LOG_DIR, log.log_start_offset, log.log_end_offset)

    def _check_reads(self, log: Log, found: Found, rng: random.Random) -> None:
        """A read at any offset begins with the batch that holds it, and reading on gives the whole log."""
        visible = [batch for batch in found.batches if batch.header.last_offset >= found.start]
        offset = found.start
        read: list[bytes] = []
        while offset < found.end:
            for header, data in self._read(log, offset, rng.choice((1, 500, 100_000)), found.end):
                read.append(data)
                assert header.next_offset > offset
                offset = header.next_offset
        assert read == [batch.data for batch in visible], "reading the log does not give what its files hold"
        for _ in range(3):
            if found.end > found.start:
                wanted = rng.randrange(found.start, found.end)
                header, _data = self._read(log, wanted, 1, found.end)[0]
                assert header.base_offset <= wanted <= header.last_offset, (
                    f"a read at {wanted} begins with {header.base_offset}..{header.last_offset}"
                )
        for outside in (found.start - 1, found.end + 1):
            try:
                log.read(outside, 1000, upto_offset=found.end, min_one_batch=True)
            except KafkaError as error:
                if error.code != ErrorCode.OFFSET_OUT_OF_RANGE:
                    raise
            else:
                raise AssertionError(f"a read at {outside}, outside the log, was answered")

    def _read(self, log: Log, offset: int, max_bytes: int, upto: int) -> list[tuple[BatchHeader, bytes]]:
        result = log.read(offset, max_bytes, upto_offset=upto, min_one_batch=True)
        assert result.slice is not None, f"nothing was read at {offset}, the log ends at {upto}"
        try:
            data = result.slice.read()
        finally:
            result.slice.release()
        whole = [
            (header, data[position : position + header.size_bytes])
            for position, header in iter_headers(data, 0, len(data))
        ]
        assert whole, f"no whole batch was read at {offset}"
        return whole

    def _check_timestamps(self, log: Log, found: Found, rng: random.Random) -> None:
        """The first record that is not older than the time asked for: the time index agrees with a scan."""
        records = [
            record
            for batch in found.batches
            for record in decode_batch(batch.data, decompressed_bytes_max=1 << 20)
            if record.offset >= found.start
        ]
        for _ in range(3):
            wanted = self._now_ms - rng.randrange(-2000, HOUR_MS)
            first = next((r for r in records if r.timestamp >= wanted), None)
            answer = log.offset_for_timestamp(wanted)
            expected = None if first is None else (first.offset, first.timestamp)
            assert (answer[:2] if answer is not None else None) == expected, (
                f"the first record at or after {wanted} is {expected}, the log says {answer}"
            )

    def _check_epochs(self, log: Log, found: Found) -> None:
        """Where each epoch's records end (KIP-101), against the epochs in the batches themselves."""
        visible = [batch.header for batch in found.batches if batch.header.last_offset >= found.start]
        for index, header in enumerate(visible):
            following = visible[index + 1] if index + 1 < len(visible) else None
            if following is not None and following.leader_epoch == header.leader_epoch:
                continue
            end = found.end if following is None else following.base_offset
            answer = log.end_offset_for_epoch(header.leader_epoch)
            assert answer == (header.leader_epoch, end), (
                f"epoch {header.leader_epoch} ends at {end}, the log says {answer}"
            )

    def _check_producers(self, log: Log, found: Found) -> None:
        """A producer's last batches are known as duplicates (their offsets are the old ones), the next
        sequence is accepted and a gap is not.
        """
        for producer in self._producers:
            sent = [
                batch
                for batch in found.batches
                if batch.header.producer_id == producer.producer_id
                and batch.header.base_offset >= found.start
            ]
            if not sent:
                continue
            last = sent[-1]
            entry = log.producers.get(producer.producer_id)
            assert entry is not None, f"producer {producer.producer_id} is forgotten, its records are there"
            assert (entry.last_sequence, entry.last_offset) == (
                last.header.last_sequence,
                last.header.last_offset,
            ), f"{entry!r} disagrees with the log: its last batch is {last.header}"
            end = log.log_end_offset
            # One that was active lately may have had five batches in flight, and sends them all again.
            for batch in sent[-5:]:
                if batch is not last and self._now_ms - batch.header.max_timestamp > HOUR_MS:
                    continue  # nobody retries for so long
                buffer = bytearray(batch.data)
                buffer[0:8] = bytes(8)
                info = log.append_as_leader(memoryview(buffer), self._leader_epoch, self._now_ms)
                assert info.is_duplicate and info.first_offset == batch.header.base_offset, (
                    f"the batch at {batch.header.base_offset} came again and was taken for another"
                )
            assert log.log_end_offset == end, "a duplicate was written"
            try:
                log.append_as_leader(
                    memoryview(self._plain_batch(producer, last.header.last_sequence + 2)),
                    self._leader_epoch,
                    self._now_ms,
                )
            except KafkaError as error:
                if error.code != ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
                    raise
            else:
                raise AssertionError(
                    f"producer {producer.producer_id} left out a sequence and was not refused"
                )
            info = log.append_as_leader(
                memoryview(self._plain_batch(producer, last.header.last_sequence + 1)),
                self._leader_epoch,
                self._now_ms,
            )
            assert info.first_offset == end

    def _check_it_goes_on(self, image: VirtualDisk, log: Log, rng: random.Random) -> None:
        """Appends, a flush and a restart, clean or not, keep the recovered log as it is."""
        for _ in range(rng.randrange(4)):
            log.append_as_leader(memoryview(self._plain_batch(None, -1)), self._leader_epoch, self._now_ms)
        log.update_high_watermark(log.log_end_offset)
        before = self._scan(image, log)
        if rng.random() < 0.5:
            log.close(self._now_ms)
            image.write_file_atomic(CHECKPOINT, f"{log.log_end_offset} {log.log_start_offset}".encode())
            image.write_file_atomic(CLEAN, b"")
        else:
            log.flush(self._now_ms)
            image = image.image(rng)
        after = self._scan(image, self._open(image, self._now_ms))
        assert after.end == before.end, f"the log ended at {before.end}, after a restart at {after.end}"
        assert after.start <= before.start
        kept = [batch.data for batch in after.batches if batch.header.last_offset >= before.start]
        assert kept == [batch.data for batch in before.batches if batch.header.last_offset >= before.start]

    def _plain_batch(self, producer: _Producer | None, sequence: int) -> bytearray:
        """Draws nothing from the workload's randomness: checks must not change the run."""
        return encode_batch(
            [Record(0, self._now_ms, None, b"after the crash")],
            producer_id=-1 if producer is None else producer.producer_id,
            producer_epoch=-1 if producer is None else producer.epoch,
            base_sequence=sequence,
        )
