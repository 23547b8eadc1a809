"""The log of one partition: an append-only file of batches, cut into segments.

`Log` holds the offsets that order everything (log start <= last stable <= high watermark <= log end), the
segments, and what is known about producers and leader epochs. It never reads a clock (`now_ms` is passed
in), never starts a thread, and all of it belongs to the event loop; only `FlushTicket.run` may leave it.

How an append goes: check the batch (`append`), ask the producer state, patch offset and epoch in place, one
write to the active segment, then the bookkeeping. Everything that can refuse comes before the write, and
everything that remembers comes after it, so a refused or failed append leaves no trace: a short write is
cut off again, and only if even that fails is the log given up (`failure`).

How a read goes: bisect the segments, look up the position (index, then headers), hand out a slice of the
file. Consumers at the tail ask for the offset at which the last read or append ended, so those positions
are remembered and nothing is looked up. The tuple of segments is replaced, never changed: whoever holds an
old one, or a slice of a deleted segment, goes on reading.

What is durable: everything below the recovery point. A flush writes what recovery would need (leader
epochs, indexes and producer snapshots of rolled segments) before it moves the recovery point; the indexes
of the active segment are not synced, an unclean start builds them again (`recovery`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, NoReturn
from zlib import crc32

from ottla.log.append import (
    INLINE_EXPANDED_BYTES_MAX,
    AppendInfo,
    NeedsWorker,
    UnexpectedOffset,
    check_for_leader,
    is_heavy,
    raise_for_batch,
    raise_too_large,
    recompress,
    settle_timestamps,
)
from ottla.log.append_origin import AppendOrigin
from ottla.log.file_names import LEADER_EPOCH_CHECKPOINT, PARTITION_METADATA, SNAPSHOT_SUFFIX, segment_path
from ottla.log.flush import FlushTicket
from ottla.log.leader_epochs import LeaderEpochCache
from ottla.log.partition_metadata import partition_metadata_text
from ottla.log.producer_snapshot import encode_snapshot
from ottla.log.producer_state import AppendedBatch, CompletedTxn, ProducerState, StagedUpdate
from ottla.log.read import NOTHING, ReadResult
from ottla.log.recovery import LoadedLog, load_log, rebuild_producer_state
from ottla.log.retention import KAFKA_POLICIES, DeletionPolicy
from ottla.log.segment import Segment, UnrepairedWrite, marker_in
from ottla.log.swap import swap_in
from ottla.log.txn_index import AbortedTxn
from ottla.log.verification import Verification
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.log_config import COMPRESSION_PRODUCER, LogConfig
from ottla.model.types import TopicPartition
from ottla.ports.disk import Disk, File, FileSlice
from ottla.wire.record_batch import (
    ATTRIBUTES_AT,
    CODEC_MASK,
    CONTROL_BIT,
    HEADER_BYTES,
    LOG_OVERHEAD,
    BatchHeader,
    CheckedBatch,
    CorruptBatch,
    EndTxnMarker,
    check_crc,
    patch_base_offset_and_epoch,
)
from ottla.wire.record_codec import scan_batches

PRODUCER_ID_EXPIRATION_MS: Final = 86_400_000

_HINTS_MAX: Final = 16
"""Positions remembered for readers at the tail, and for those that go from one large batch to the next; more
readers than that find theirs through the index."""


class Log:
    __slots__ = (
        "_disk",
        "tp",
        "dir_path",
        "topic_id",
        "config",
        "log_start_offset",
        "log_end_offset",
        "high_watermark",
        "recovery_point",
        "first_dirty_offset",
        "last_flush_ms",
        "segments",
        "_bases",
        "active_segment",
        "epochs",
        "producers",
        "producer_id_expiration_ms",
        "deletion_policies",
        "failure",
        "_snapshots",
        "_unsynced_files",
        "_names_changed",
        "_generation",
        "_flushes",
        "_deleted",
        "_hints",
        "_next_batches",
        "_tail_offset",
        "_tail_position",
        "_bound",
        "_offset_entries_max",
        "_time_entries_max",
        "_segment_ms_max",
    )

    def __init__(
        self,
        disk: Disk,
        dir_path: str,
        tp: TopicPartition,
        config: LogConfig,
        loaded: LoadedLog,
        *,
        now_ms: int,
        producer_id_expiration_ms: int,
    ) -> None:
        """Made by `Log.open`."""
        self._disk = disk
        self.tp = tp
        self.dir_path = dir_path
        self.topic_id = loaded.topic_id
        self.config = config
        self.log_start_offset = loaded.log_start_offset
        self.log_end_offset = loaded.log_end_offset
        self.high_watermark = loaded.log_start_offset
        """What consumers may see. It begins at the log start; the replica's owner moves it."""
        self.recovery_point = loaded.recovery_point
        """Everything below is durable."""
        self.first_dirty_offset = -1
        """Where the next compaction begins, as the cleaner's checkpoint has it; -1 when there was none."""
        self.last_flush_ms = now_ms
        self.segments: tuple[Segment, ...] = ()
        self._bases: tuple[int, ...] = ()
        self.active_segment = loaded.segments[-1]
        self._set_segments(tuple(loaded.segments))
        self.epochs: LeaderEpochCache = loaded.epochs
        self.producers: ProducerState = loaded.producers
        self.producer_id_expiration_ms = producer_id_expiration_ms
        self.deletion_policies: tuple[DeletionPolicy, ...] = KAFKA_POLICIES
        self.failure: OSError | None = None
        """Set when the end of the log is not known any more; then every operation is refused."""
        self._snapshots: tuple[int, ...] = tuple(loaded.snapshots)
        self._unsynced_files: list[File] | None = loaded.unsynced_files or None
        self._names_changed = loaded.names_changed
        self._flushes: tuple[FlushTicket, ...] = ()
        """Begun and not ended."""
        self._generation = 0
        """Counts truncations: a flush that was begun before one must not move the recovery point."""
        self._deleted: list[tuple[File, int]] | None = None
        self._hints: dict[int, int] | None = None
        """Offset -> position in the active segment."""
        self._next_batches: dict[int, tuple[int, int]] | None = None
        """Offset -> base offset of a segment, and where in it the batch that begins with the offset should
        be: what followed a large batch that was read. It is looked at before it is believed."""
        self._tail_offset = -1
        self._tail_position = 0
        """Where the last append began."""
        self._bound = (-1, 0, -1)
        """The last offset below the log end that a read was bounded by: offset, position, segment's base."""
        self._offset_entries_max = self._time_entries_max = self._segment_ms_max = 0
        self._take_config()
        if loaded.deleted:
            self._queue_deleted(loaded.deleted, 0)

    @classmethod
    def open(
        cls,
        disk: Disk,
        dir_path: str,
        tp: TopicPartition,
        config: LogConfig,
        *,
        now_ms: int,
        clean_shutdown: bool,
        recovery_point: int = 0,
        log_start_offset: int = 0,
        producer_id_expiration_ms: int = PRODUCER_ID_EXPIRATION_MS,
        topic_id: bytes | None = None,
        first_dirty_offset: int = -1,
    ) -> Log:
        """Loads the log in `dir_path`, or makes an empty one where there is none.

        After an unclean shutdown what lies past the recovery point is checked and cut at the first bad batch.
        `topic_id` is written to `partition.metadata` when the file is not there; `Log.topic_id` is what the
        file says. `first_dirty_offset` is what the cleaner's checkpoint has, -1 for nothing: a log that is in
        it has holes, also when its topic is not compacted any more. Raises OSError when the disk fails.
        """
        loaded = load_log(
            disk,
            dir_path,
            config,
            now_ms=now_ms,
            clean_shutdown=clean_shutdown,
            recovery_point=recovery_point,
            log_start_offset=log_start_offset,
            producer_id_expiration_ms=producer_id_expiration_ms,
            roll_jitter_ms=lambda base_offset: _roll_jitter_ms(tp, base_offset, config),
            was_compacted=first_dirty_offset >= 0,
        )
        log = cls(
            disk,
            dir_path,
            tp,
            config,
            loaded,
            now_ms=now_ms,
            producer_id_expiration_ms=producer_id_expiration_ms,
        )
        log.first_dirty_offset = first_dirty_offset
        if topic_id is not None and log.topic_id is None:
            log.assign_topic_id(topic_id)
        return log

    def __repr__(self) -> str:
        return (
            f"Log({self.tp}, start={self.log_start_offset}, high_watermark={self.high_watermark}, "
            f"end={self.log_end_offset}, segments={len(self.segments)})"
        )

    # --- what it is

    @property
    def size_bytes(self) -> int:
        return sum(segment.size for segment in self.segments)

    @property
    def latest_epoch(self) -> int:
        """-1 when nothing was written under an epoch yet."""
        return self.epochs.latest_epoch

    @property
    def last_stable_offset(self) -> int:
        """Below it every transaction is decided; at most the high watermark."""
        unstable = self.producers.first_unstable_offset
        high_watermark = self.high_watermark
        if 0 <= unstable < high_watermark:
            return max(unstable, self.log_start_offset)
        return high_watermark

    @property
    def unflushed_messages(self) -> int:
        return self.log_end_offset - self.recovery_point

    def update_high_watermark(self, offset: int) -> bool:
        """Moves it forward, within log start and log end; True when it moved."""
        if offset > self.log_end_offset:
            offset = self.log_end_offset
        if offset <= self.high_watermark:
            return False
        self.high_watermark = offset
        if self.producers.first_unstable_offset >= 0:
            self.producers.on_high_watermark(offset)
        return True

    def update_config(self, config: LogConfig) -> None:
        self.config = config
        self._take_config()
        for segment in self.segments:
            segment.roll_jitter_ms = _roll_jitter_ms(self.tp, segment.base_offset, config)

    def _take_config(self) -> None:
        self._offset_entries_max = self.config.segment_index_bytes // 8
        # One place is kept for the entry that a roll adds.
        self._time_entries_max = self.config.segment_index_bytes // 12 - 1
        self._segment_ms_max = self.config.segment_ms_max

    def assign_topic_id(self, topic_id: bytes) -> None:
        """Writes `partition.metadata`; the next flush makes it durable."""
        file = self._disk.open(f"{self.dir_path}/{PARTITION_METADATA}", create=True)
        if file.size():
            file.truncate(0)
        data = partition_metadata_text(topic_id).encode()
        if file.append((data,)) != len(data):
            file.truncate(0)
            raise OSError(28, "no space left on device", file.path)
        file.close()
        self.topic_id = topic_id
        self._names_changed = True
        if self._unsynced_files is None:
            self._unsynced_files = []
        self._unsynced_files.append(file)

    def _set_segments(self, segments: tuple[Segment, ...]) -> None:
        self.segments = segments
        self._bases = tuple([segment.base_offset for segment in segments])
        self.active_segment = segments[-1]

    def _forget_positions(self) -> None:
        self._hints = None
        self._next_batches = None
        self._tail_offset = -1
        self._bound = (-1, 0, -1)

    def _check_usable(self) -> None:
        if self.failure is not None:
            raise KafkaError(
                ErrorCode.KAFKA_STORAGE_ERROR, f"the log of {self.tp} failed: {self.failure}"
            ) from self.failure

    # --- appending

    def append_as_leader(
        self,
        records: memoryview | bytearray,
        leader_epoch: int,
        now_ms: int,
        *,
        origin: AppendOrigin = AppendOrigin.CLIENT,
        producer_checks: bool = True,
        on_loop: bool = False,
        prepared: CheckedBatch | None = None,
        verification: Verification | None = None,
        transaction_version: int = 0,
    ) -> AppendInfo:
        """Checks the batches in `records`, gives them offsets (patched in place) and appends them.

        A client sends exactly one batch; coordinators may send several, which are appended together or not
        at all. Raises KafkaError; after KAFKA_STORAGE_ERROR the log is as it was. With `on_loop`, a batch
        whose check would take long raises NeedsWorker instead; it comes again as `prepare` left it, with the
        result as `prepared`.

        The first batch of a transaction shows the `verification` that `begin_verification` gave. A marker
        comes with the `transaction.version` of its transaction.
        """
        if self.failure is not None:
            self._check_usable()
        config = self.config
        size = len(records)
        if prepared is not None:
            checked = prepared
        elif on_loop and (
            records[ATTRIBUTES_AT + 1] & CODEC_MASK or config.compression_type != COMPRESSION_PRODUCER
        ):
            if is_heavy(records, config):
                raise NeedsWorker
            checked = check_for_leader(
                records, 0, size, config, origin, expanded_bytes_max=INLINE_EXPANDED_BYTES_MAX
            )
        else:
            checked = check_for_leader(records, 0, size, config, origin)
        header = checked.header
        if (
            header.batch_length + LOG_OVERHEAD != size
            or header.attributes & CONTROL_BIT
            or origin is AppendOrigin.RAFT_LEADER
        ):
            return self._append_several(
                records,
                checked,
                leader_epoch,
                now_ms,
                origin,
                producer_checks,
                verification,
                transaction_version,
            )
        max_timestamp = settle_timestamps(records, 0, checked, config, now_ms)
        data = records
        if config.compression_type != COMPRESSION_PRODUCER and prepared is None:
            rewritten = recompress(records, 0, header, config)
            if rewritten is not None:
                data = rewritten
                size = len(data)
                if size > config.max_message_bytes:
                    raise_too_large(size, config)
        if size > config.segment_bytes:
            self._raise_longer_than_segment(size)
        has_producer = header.producer_id >= 0
        if has_producer and producer_checks:
            duplicate = self.producers.check(header, origin, verification)
            if duplicate is not None:
                return self._duplicate_info(duplicate, size)

        first_offset = self.log_end_offset
        last_offset = first_offset + header.last_offset_delta
        patch_base_offset_and_epoch(data, 0, first_offset, leader_epoch)
        segment = self._segment_for(size, max_timestamp, first_offset, last_offset, now_ms)
        position = segment.size
        try:
            segment.append(data, last_offset, max_timestamp, config.index_interval_bytes)
        except OSError as error:
            self._raise_storage_error(error)
        self.log_end_offset = end_offset = last_offset + 1
        self._tail_offset = first_offset
        self._tail_position = position
        if leader_epoch > self.epochs.latest_epoch:
            self.epochs.assign(leader_epoch, first_offset)
        producers = self.producers
        if has_producer:
            producers.commit(header, first_offset, max_timestamp)
        producers.end_offset = end_offset
        return AppendInfo(
            first_offset,
            last_offset,
            max_timestamp,
            -1 if config.message_timestamp_type == "CreateTime" else now_ms,
            self.log_start_offset,
            False,
            size,
            header.record_count,
        )

    def _append_several(
        self,
        records: memoryview | bytearray,
        checked: CheckedBatch,
        leader_epoch: int,
        now_ms: int,
        origin: AppendOrigin,
        producer_checks: bool,
        verification: Verification | None,
        transaction_version: int,
    ) -> AppendInfo:
        """The rare shapes of an append: several batches, markers, the metadata log's own offsets."""
        if origin is AppendOrigin.CLIENT:
            raise KafkaError(ErrorCode.INVALID_RECORD, "a producer sends one batch for each partition")
        config = self.config
        view = memoryview(records)
        parts: list[memoryview | bytearray] = []
        batches: list[tuple[int, int, int]] = []
        staged: list[tuple[BatchHeader, int, int, EndTxnMarker | None]] = []
        offset = first_offset = self.log_end_offset
        largest = -1
        count = 0
        position, end = 0, len(records)
        while True:
            header = checked.header
            source_bytes = header.size_bytes
            data: memoryview | bytearray = view[position : position + source_bytes]
            if origin is AppendOrigin.RAFT_LEADER:
                if header.leader_epoch != leader_epoch or header.base_offset != offset:
                    raise KafkaError(
                        ErrorCode.INVALID_RECORD,
                        f"the batch has offset {header.base_offset} and epoch {header.leader_epoch}, "
                        f"expected are {offset} and {leader_epoch}",
                    )
                timestamp = checked.max_timestamp
            else:
                timestamp = settle_timestamps(data, 0, checked, config, now_ms)
                data = recompress(data, 0, header, config) or data
                patch_base_offset_and_epoch(data, 0, offset, leader_epoch)
            if len(data) > config.max_message_bytes:
                raise_too_large(len(data), config)
            last_offset = offset + header.last_offset_delta
            if header.producer_id >= 0:
                marker = marker_in(data, 0) if header.is_control else None
                if marker is not None or not header.is_control:
                    staged.append((header, offset, timestamp, marker))
            parts.append(data)
            batches.append((len(data), last_offset, timestamp))
            largest = max(largest, timestamp)
            count += header.record_count
            offset = last_offset + 1
            position += source_bytes
            if position == end:
                break
            checked = check_for_leader(view[position:], 0, end - position, config, origin)

        size = sum(len(part) for part in parts)
        if size > config.segment_bytes:
            self._raise_longer_than_segment(size)
        update = StagedUpdate()
        for header, at, timestamp, marker in staged:
            if not self.producers.stage(
                update,
                header,
                at,
                timestamp,
                marker,
                origin,
                producer_checks,
                verification,
                transaction_version,
            ):
                assert update.duplicate is not None
                return self._duplicate_info(update.duplicate, size)
        segment = self._segment_for(size, largest, first_offset, offset - 1, now_ms)
        try:
            whole = parts[0] if len(parts) == 1 else b"".join(parts)
            segment.append_many(whole, batches, config.index_interval_bytes)
        except OSError as error:
            self._raise_storage_error(error)
        self._after_append(segment, first_offset, offset, size)
        if leader_epoch > self.epochs.latest_epoch:
            self.epochs.assign(leader_epoch, first_offset)
        for completed, last_stable_offset in self.producers.commit_staged(update):
            self._note_completed(segment, completed, last_stable_offset)
        return AppendInfo(
            first_offset,
            offset - 1,
            largest,
            -1 if config.message_timestamp_type == "CreateTime" else now_ms,
            self.log_start_offset,
            False,
            size,
            count,
        )

    def begin_verification(
        self, producer_id: int, epoch: int, first_sequence: int, *, bumps_epochs: bool, now_ms: int
    ) -> Verification | None:
        """What the append of a transactional batch has to show; None when its transaction is open here, and
        nobody has to be asked. `bumps_epochs`: the client speaks the second generation (Produce 12, KIP-890).
        Raises KafkaError(INVALID_PRODUCER_EPOCH).
        """
        return self.producers.begin_verification(
            producer_id, epoch, first_sequence, bumps_epochs=bumps_epochs, now_ms=now_ms
        )

    def append_as_follower(self, records: memoryview | bytearray | bytes, *, now_ms: int) -> AppendInfo:
        """Appends what the leader sent, offsets and epochs as they are. A batch that is cut off at the end,
        as fetch responses have them, is left out; so is a damaged one with all that follows it, since what
        comes before it is good: the next fetch begins with it, and that is refused.

        Raises KafkaError: CORRUPT_MESSAGE when the first batch is damaged or not whole, `UnexpectedOffset`
        when the batches do not continue this log, KAFKA_STORAGE_ERROR.
        """
        self._check_usable()
        config = self.config
        view = memoryview(records)
        whole_count, end, _ = scan_batches(view, 0, len(view))
        if whole_count == 0:
            # A leader sends its first batch whole, whatever its size: this one's length or magic is wrong.
            raise KafkaError(ErrorCode.CORRUPT_MESSAGE, f"{len(view)} bytes that begin with no whole batch")
        headers: list[tuple[int, BatchHeader]] = []
        expected = first_allowed = self.log_end_offset
        position = 0
        while position < end:
            try:
                header = check_crc(view, position, end)
            except CorruptBatch as error:
                if headers:
                    end = position
                    break
                raise_for_batch(error, bytearray(), 0, 0)
            if header.base_offset < expected or header.last_offset_delta < 0:
                raise UnexpectedOffset(
                    f"a batch from the leader of {self.tp} has offset {header.base_offset}, expected is "
                    f"{expected} or more; the log ends at {first_allowed}"
                )
            headers.append((position, header))
            expected = header.next_offset
            position += header.size_bytes
        first_offset = headers[0][1].base_offset
        largest = max(header.max_timestamp for _, header in headers)
        begin = 0
        count = 0
        segment = self.active_segment
        # A fetch may bring more than fits into the segment: then it is split between two batches.
        while begin < len(headers):
            start_position, start_header = headers[begin]
            stop = begin
            room = config.segment_bytes - self.active_segment.size
            size = 0
            while stop < len(headers):
                header = headers[stop][1]
                if stop > begin and size + header.size_bytes > room:
                    break
                size += header.size_bytes
                stop += 1
            chosen = headers[begin:stop]
            last_offset = chosen[-1][1].last_offset
            segment = self._segment_for(size, largest, start_header.base_offset, last_offset, now_ms)
            try:
                segment.append_many(
                    view[start_position : start_position + size],
                    [(h.size_bytes, h.last_offset, h.max_timestamp) for _, h in chosen],
                    config.index_interval_bytes,
                )
            except OSError as error:
                self._raise_storage_error(error)
            self._after_append(segment, start_header.base_offset, last_offset + 1, size)
            for at, header in chosen:
                count += header.record_count
                if header.leader_epoch > self.epochs.latest_epoch:
                    self.epochs.assign(header.leader_epoch, header.base_offset)
                if header.producer_id >= 0:
                    marker = marker_in(view[at : at + header.size_bytes], 0) if header.is_control else None
                    ended = self.producers.replay(header, header.max_timestamp, marker)
                    if ended is not None:
                        self._note_completed(segment, *ended)
            begin = stop
        return AppendInfo(
            first_offset, self.log_end_offset - 1, largest, -1, self.log_start_offset, False, end, count
        )

    def _after_append(self, segment: Segment, first_offset: int, end_offset: int, size: int) -> None:
        self.log_end_offset = end_offset
        self._tail_offset = first_offset
        self._tail_position = segment.size - size
        self.producers.end_offset = end_offset

    def _note_completed(self, segment: Segment, txn: CompletedTxn, last_stable_offset: int) -> None:
        if txn.aborted:
            segment.add_aborted_txn(
                AbortedTxn(txn.producer_id, txn.first_offset, txn.last_offset, last_stable_offset)
            )

    def _duplicate_info(self, batch: AppendedBatch, size: int) -> AppendInfo:
        log_append_time = self.config.message_timestamp_type == "LogAppendTime"
        return AppendInfo(
            batch.first_offset,
            batch.last_offset,
            batch.timestamp,
            batch.timestamp if log_append_time else -1,
            self.log_start_offset,
            True,
            size,
            batch.offset_delta + 1,
        )

    def _raise_longer_than_segment(self, size: int) -> NoReturn:
        raise KafkaError(
            ErrorCode.RECORD_LIST_TOO_LARGE,
            f"{size} bytes do not fit into a segment: segment.bytes is {self.config.segment_bytes}",
        )

    def _raise_storage_error(self, error: OSError) -> NoReturn:
        if isinstance(error, UnrepairedWrite):
            self.failure = error
        raise KafkaError(
            ErrorCode.KAFKA_STORAGE_ERROR, f"writing to the log of {self.tp} failed: {error}"
        ) from error

    # --- rolling

    def _segment_for(
        self, size: int, max_timestamp: int, first_offset: int, last_offset: int, now_ms: int
    ) -> Segment:
        """The active segment, after a roll if it cannot take this append."""
        segment = self.active_segment
        config = self.config
        filled = segment.size
        if (
            filled + size > config.segment_bytes
            or (
                filled
                and segment.age_for_roll_ms(now_ms, max_timestamp)
                > self._segment_ms_max - segment.roll_jitter_ms
            )
            or segment.offset_index.entries >= self._offset_entries_max
            or segment.time_index.entries >= self._time_entries_max
            or not segment.fits(last_offset)
        ):
            try:
                return self._roll_at(first_offset, now_ms)
            except OSError as error:
                self._raise_storage_error(error)
        return segment

    def roll(self, now_ms: int) -> Segment:
        """Begins a new segment at the log end; an empty active segment stays. Raises KAFKA_STORAGE_ERROR."""
        self._check_usable()
        try:
            return self._roll_at(self.log_end_offset, now_ms)
        except OSError as error:
            self._raise_storage_error(error)

    def maybe_roll(self, now_ms: int) -> bool:
        """Rolls when the records of the active segment are older than `segment.ms`, or than
        `max.compaction.lag.ms` on a compacted topic; True when it did.
        """
        segment = self.active_segment
        if (
            segment.size == 0
            or segment.age_for_roll_ms(now_ms, now_ms) <= self._segment_ms_max - segment.roll_jitter_ms
        ):
            return False
        self.roll(now_ms)
        return True

    def _roll_at(self, base_offset: int, now_ms: int) -> Segment:
        active = self.active_segment
        if active.size == 0 and active.base_offset == base_offset:
            return active
        active.finish()
        durable_soon = max([self.recovery_point, *(flush.upto_offset for flush in self._flushes)])
        if durable_soon >= base_offset:
            # No flush will come back to this segment, and recovery begins after it: so now or never.
            for file in active.files_to_sync(with_indexes=True):
                file.sync()
            active.mark_synced(with_indexes=True)
        segment = Segment.create(
            self._disk,
            self.dir_path,
            base_offset,
            now_ms=now_ms,
            roll_jitter_ms=_roll_jitter_ms(self.tp, base_offset, self.config),
        )
        self._names_changed = True
        if active.size == 0:
            # A follower whose first batches begin later than the empty segment that waited for them.
            self._queue_deleted(active.mark_deleted(), 0)
            self._set_segments((*self.segments[:-1], segment))
        else:
            self._set_segments((*self.segments, segment))
        self._forget_positions()
        self.producers.end_offset = base_offset
        self._take_snapshot(base_offset)
        return segment

    def _take_snapshot(self, offset: int) -> None:
        """Writes the producer state; without a snapshot recovery only takes longer, so it may fail."""
        if offset in self._snapshots:
            return
        path = segment_path(self.dir_path, offset, SNAPSHOT_SUFFIX)
        data = encode_snapshot(self.producers.to_snapshot())
        file = None
        try:
            file = self._disk.open(path, create=True)
            if file.size():
                file.truncate(0)
            if file.append((data,)) != len(data):
                raise OSError(28, "no space left on device", path)
        except OSError:
            if file is not None:
                with suppress(OSError):
                    file.delete()
            return
        file.close()
        self._snapshots = (*self._snapshots, offset)
        self._names_changed = True
        if self._unsynced_files is None:
            self._unsynced_files = []
        self._unsynced_files.append(file)

    # --- reading

    def read(
        self, offset: int, max_bytes: int, *, upto_offset: int, min_one_batch: bool = True
    ) -> ReadResult:
        """A slice of one segment, from the batch that holds `offset` on, that lies below `upto_offset`.

        It has at most `max_bytes`, where the last batch may be cut off; but the first is whole or, without
        `min_one_batch`, there is none. Raises KafkaError(OFFSET_OUT_OF_RANGE).
        """
        end_offset = self.log_end_offset
        if offset > end_offset or offset < self.log_start_offset:
            self._raise_out_of_range(offset)
        segment = self.active_segment
        if offset >= upto_offset or offset == end_offset:
            if offset == end_offset:
                self._remember(offset, segment.size)
            return NOTHING
        if self.failure is not None:
            self._check_usable()
        position = first_bytes = -1
        if offset >= segment.base_offset:
            if offset == self._tail_offset:
                position = self._tail_position
            elif offset == segment.base_offset:
                position = 0
            elif self._hints is not None:
                position = self._hints.get(offset, -1)
        try:
            if position < 0:
                located = self._locate(offset)
                if located is None:
                    return NOTHING
                segment, position, header = located
                first_bytes = header.size_bytes
                if 2 * first_bytes > max_bytes:
                    self._remember_next_batch(segment, position, header)
            if upto_offset >= end_offset:
                stop = segment.size
            else:
                stop = self._bound_position(segment, upto_offset)
            length = stop - position
            if length > max_bytes:
                if first_bytes < 0:
                    first_bytes = segment.header_at(position).size_bytes
                if first_bytes <= max_bytes:
                    length = max_bytes
                elif min_one_batch:
                    length = min(length, first_bytes)
                else:
                    return NOTHING
            elif stop == segment.size and segment is self.active_segment:
                self._remember(end_offset, stop)
            if length <= 0:
                return NOTHING
            return ReadResult(FileSlice(segment.file, position, length), segment.base_offset, position)
        except (OSError, CorruptBatch) as error:
            raise KafkaError(
                ErrorCode.KAFKA_STORAGE_ERROR, f"reading the log of {self.tp} failed: {error}"
            ) from error

    def _remember(self, offset: int, position: int) -> None:
        hints = self._hints
        if hints is None:
            hints = self._hints = {}
        elif len(hints) >= _HINTS_MAX and offset not in hints:
            # The oldest goes: dicts keep the order of insertion.
            del hints[next(iter(hints))]
        hints[offset] = position

    def _remember_next_batch(self, segment: Segment, position: int, header: BatchHeader) -> None:
        """A reader that is given one batch at a time will ask for the one behind it."""
        known = self._next_batches
        if known is None:
            known = self._next_batches = {}
        elif len(known) >= _HINTS_MAX:
            del known[next(iter(known))]
        known[header.next_offset] = (segment.base_offset, position + header.size_bytes)

    def _raise_out_of_range(self, offset: int) -> NoReturn:
        raise KafkaError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"offset {offset} is not within {self.log_start_offset} to {self.log_end_offset} of {self.tp}",
        )

    def _locate(self, offset: int) -> tuple[Segment, int, BatchHeader] | None:
        """Segment, position and header of the first batch that ends at or after `offset`."""
        segments = self.segments
        at = bisect_right(self._bases, offset) - 1
        if at < 0:
            at = 0
        if self._next_batches is not None:
            expected = self._next_batches.pop(offset, None)
            if expected is not None:
                found = self._expected_batch(offset, segments[at], *expected)
                if found is not None:
                    return segments[at], *found
        while at < len(segments):
            found = segments[at].find(offset)
            if found is not None:
                return segments[at], found[0], found[1]
            at += 1  # compaction leaves gaps at the end of segments
        return None

    @staticmethod
    def _expected_batch(
        offset: int, segment: Segment, base_offset: int, position: int
    ) -> tuple[int, BatchHeader] | None:
        """The batch that begins with `offset` if it is where it is expected, and the segment the same."""
        if segment.base_offset != base_offset or position + HEADER_BYTES > segment.size:
            return None
        try:
            header = segment.header_at(position)
        except CorruptBatch:
            return None  # the segment has been compacted since
        return (position, header) if header.base_offset == offset else None

    def _bound_position(self, segment: Segment, upto_offset: int) -> int:
        """Where in the segment the records at or above `upto_offset` begin."""
        known_offset, known_position, known_base = self._bound
        if known_offset == upto_offset and known_base == segment.base_offset:
            return known_position
        if upto_offset <= segment.base_offset:
            return 0
        at = bisect_right(self._bases, segment.base_offset)
        if at < len(self._bases) and upto_offset >= self._bases[at]:
            return segment.size
        if upto_offset == self._tail_offset and segment is self.active_segment:
            position = self._tail_position
        else:
            found = segment.find(upto_offset)
            position = segment.size if found is None else found[0]
        self._bound = (upto_offset, position, segment.base_offset)
        return position

    def upper_bound_offset(self, result: ReadResult, upto_offset: int) -> int:
        """An offset above everything in a read's slice, cheaply: what `aborted_transactions` is to cover."""
        if result.slice is None:
            return upto_offset
        at = bisect_right(self._bases, result.segment_base_offset) - 1
        if at < 0 or self._bases[at] != result.segment_base_offset:
            return upto_offset
        bound = self.segments[at].offset_bound(result.position + result.slice.length)
        if bound is None:
            bound = self._bases[at + 1] if at + 1 < len(self._bases) else self.log_end_offset
        else:
            bound += 1
        return min(bound, upto_offset)

    def aborted_within(
        self, result: ReadResult, fetch_offset: int, upto_offset: int
    ) -> list[tuple[int, int]]:
        """The aborted transactions that a reader of `result` has to know; most logs have none at all, and
        then nothing is looked up.
        """
        at = max(0, bisect_right(self._bases, fetch_offset) - 1)
        for segment in self.segments[at:] if at else self.segments:
            if segment.txn_index is not None:
                return self.aborted_transactions(fetch_offset, self.upper_bound_offset(result, upto_offset))
        return []

    def aborted_transactions(self, fetch_offset: int, upto_offset: int) -> list[tuple[int, int]]:
        """`(producer id, first offset)` of the aborted transactions that overlap `fetch_offset` (inclusive)
        to `upto_offset` (exclusive).
        """
        found: list[tuple[int, int]] = []
        at = max(0, bisect_right(self._bases, fetch_offset) - 1)
        for segment in self.segments[at:]:
            index = segment.txn_index
            if index is None:
                continue
            index.load()
            for txn in index.all():
                if txn.last_offset >= fetch_offset and txn.first_offset < upto_offset:
                    found.append((txn.producer_id, txn.first_offset))
                if txn.last_stable_offset >= upto_offset:
                    return found
        return found

    # --- offsets by time and by epoch

    def offset_for_timestamp(self, timestamp: int) -> tuple[int, int, int] | None:
        """`(offset, timestamp, leader epoch)` of the first record that is not older than `timestamp`."""
        self._check_usable()
        for segment in self.segments:
            if segment.size and segment.max_timestamp >= timestamp:
                found = segment.find_by_timestamp(timestamp, self.log_start_offset)
                if found is not None:
                    return found
        return None

    def offset_of_max_timestamp(self) -> tuple[int, int, int] | None:
        """`(offset, timestamp, leader epoch)` of the first record with the largest timestamp of all."""
        self._check_usable()
        for segment in sorted(self.segments, key=lambda segment: -segment.max_timestamp):
            if segment.size and segment.max_timestamp >= 0:
                found = segment.find_by_timestamp(segment.max_timestamp, self.log_start_offset)
                if found is not None:
                    return found
        return None

    def earliest(self) -> tuple[int, int]:
        """`(log start offset, its leader epoch)`; epoch -1 when it is not known."""
        return self.log_start_offset, self.epochs.epoch_for_offset(self.log_start_offset)

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """KIP-101/279: the largest epoch of this log that is not above `epoch`, and where it ends; (-1, -1)
        when that cannot be said.
        """
        return self.epochs.end_offset_for(epoch, self.log_end_offset)

    def assign_epoch(self, epoch: int, start_offset: int) -> None:
        """A leader notes its epoch when it takes over, before anything is appended under it."""
        if epoch >= 0:
            self.epochs.assign(epoch, start_offset)

    # --- cutting

    def truncate_to(self, offset: int) -> bool:
        """Removes everything at or above `offset`, and the whole batch that holds it; False when nothing is
        there. The log then ends where the last remaining batch ends.
        """
        self._check_usable()
        if offset < 0:
            raise ValueError(f"cannot truncate {self.tp} to the negative offset {offset}")
        if offset >= self.log_end_offset:
            # An epoch that was noted without a record under it goes all the same.
            self.epochs.truncate_from_end(self.log_end_offset)
            return False
        if offset < self._bases[0]:
            self.truncate_fully_and_start_at(offset)
            return True
        at = bisect_right(self._bases, offset) - 1
        segment = self.segments[at]
        try:
            found = segment.find(offset)
            end_offset = offset
            if found is not None:
                end_offset = min(offset, found[1].base_offset)
            self._generation += 1
            self._forget_positions()
            dropped = self.segments[at + 1 :]
            if dropped:
                self._set_segments(self.segments[: at + 1])
                self._drop(dropped[::-1], 0)  # from the end: a crash in between must not leave a hole
                self._disk.sync_dir(self.dir_path)  # and none may come back behind the cut that follows
            if found is not None:
                segment.truncate_at(found[0], end_offset)
            else:
                segment.load()
            self.log_end_offset = end_offset
            self.recovery_point = min(self.recovery_point, end_offset)
            self.log_start_offset = min(self.log_start_offset, end_offset)
            self.high_watermark = min(self.high_watermark, end_offset)
            self.first_dirty_offset = min(self.first_dirty_offset, end_offset)
            self.epochs.truncate_from_end(end_offset)
            self._reload_producers(now_ms=-1)
        except (OSError, CorruptBatch) as error:
            self._fail(error)
        return True

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Removes everything; the log is empty and begins at `offset`."""
        self._check_usable()
        try:
            self._generation += 1
            self._forget_positions()
            old = self.segments
            for segment in old:
                self._queue_deleted(segment.mark_deleted(), 0)
            self._remove_snapshots(lambda _: True)
            created_ms = self.active_segment.created_ms
            segment = Segment.create(
                self._disk,
                self.dir_path,
                offset,
                now_ms=created_ms,
                roll_jitter_ms=_roll_jitter_ms(self.tp, offset, self.config),
            )
            self._names_changed = True
            self._set_segments((segment,))
            self.log_start_offset = self.log_end_offset = self.high_watermark = offset
            self.recovery_point = offset
            self.first_dirty_offset = min(self.first_dirty_offset, offset)
            self.epochs.clear()
            self.producers.clear(offset)
        except OSError as error:
            self._fail(error)

    def _fail(self, error: Exception) -> NoReturn:
        """A change that was half done: nobody knows what the files hold now, so only a restart helps."""
        self.failure = error if isinstance(error, OSError) else OSError(5, str(error), self.dir_path)
        self._check_usable()
        raise AssertionError("unreachable")

    def _reload_producers(self, now_ms: int) -> None:
        end_offset = self.log_end_offset
        self._remove_snapshots(lambda snapshot: snapshot > end_offset)
        rebuild_producer_state(
            self._disk,
            self.dir_path,
            self.producers,
            self.segments,
            self._snapshots,
            end_offset,
            now_ms=now_ms,
            producer_id_expiration_ms=self.producer_id_expiration_ms,
        )
        self.producers.on_high_watermark(self.high_watermark)

    def advance_log_start(self, offset: int) -> bool:
        """DeleteRecords, and followers after their leader: what lies below `offset` is gone for readers;
        whole segments of it go with the next `apply_retention`. True when it moved.
        """
        if offset > self.high_watermark:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"the log start of {self.tp} cannot be moved to {offset}, above the high watermark "
                f"{self.high_watermark}",
            )
        if offset <= self.log_start_offset:
            return False
        self.log_start_offset = offset
        self.epochs.truncate_from_start(offset)
        self.producers.on_high_watermark(self.high_watermark)
        return True

    # --- retention

    def apply_retention(self, now_ms: int) -> int:
        """Deletes the segments that the policies give up, and returns how many. Their files wait in
        `take_deleted_files`.
        """
        self._check_usable()
        removed = 0
        for policy in self.deletion_policies:
            segments = self.segments
            wanted = policy.count_deletable(self, segments, now_ms)
            count = 0
            while count < min(wanted, len(segments)):
                end = self._bases[count + 1] if count + 1 < len(segments) else self.log_end_offset
                if end > self.high_watermark:
                    break
                if count + 1 == len(segments) and segments[count].size == 0:
                    break
                count += 1
            if count:
                removed += self._delete_oldest(count, now_ms)
        return removed

    def _delete_oldest(self, count: int, now_ms: int) -> int:
        if count == len(self.segments):
            self.roll(now_ms)
        gone, kept = self.segments[:count], self.segments[count:]
        self.advance_log_start(kept[0].base_offset)
        self._set_segments(kept)
        try:
            self._drop(gone, now_ms + self.config.file_delete_delay_ms)
        except OSError as error:
            self._raise_storage_error(error)
        first = kept[0].base_offset
        self._remove_snapshots(lambda snapshot: snapshot < first)
        return count

    # --- compaction

    @property
    def generation(self) -> int:
        """How often the log was truncated: what was planned before a truncation is void after it."""
        return self._generation

    def replace_segments(
        self, replaced: Sequence[Segment], base_offset: int, *, has_txn_index: bool, now_ms: int
    ) -> list[str]:
        """Puts the segment whose files end in `.cleaned` into the place of older ones.

        In Kafka's order, so that a crash at any point is completed, or taken back, by the next start: the new
        files become `.swap`, the old ones `.deleted` (whoever reads them reads on), the new ones lose their
        suffix. The directory is synced by the caller; half a swap fails the log.

        A hundred segments may become one. So only what has to be is done here, and the files are returned
        that are of no use any more (indexes and snapshots of old segments): the caller removes them.
        """
        self._check_usable()
        at = self._bases.index(replaced[0].base_offset)
        stop = at + len(replaced)
        assert tuple(replaced) == self.segments[at:stop] and self.active_segment not in replaced
        delete_at_ms = now_ms + self.config.file_delete_delay_ms
        useless: list[str] = []

        def take_out() -> None:
            for old in replaced:
                if old.base_offset == base_offset:
                    self._queue_deleted(old.mark_deleted(), delete_at_ms)  # its names are needed now
                else:
                    file, paths = old.mark_log_deleted()
                    self._queue_deleted([file], delete_at_ms)
                    useless.extend(paths)

        try:
            segment = swap_in(
                self._disk,
                self.dir_path,
                base_offset,
                has_txn_index=has_txn_index,
                created_ms=replaced[-1].created_ms,
                take_out=take_out,
            )
        except OSError as error:
            self._fail(error)
        self._set_segments((*self.segments[:at], segment, *self.segments[stop:]))
        self._bound = (-1, 0, -1)  # the other remembered positions are in the active segment
        self._names_changed = True
        gone = {old.base_offset for old in replaced} - {base_offset}
        useless += [
            segment_path(self.dir_path, offset, SNAPSHOT_SUFFIX)
            for offset in self._snapshots
            if offset in gone
        ]
        self._snapshots = tuple([offset for offset in self._snapshots if offset not in gone])
        self._sync_no_removed_snapshots()
        return useless

    def _drop(self, segments: tuple[Segment, ...], delete_at_ms: int) -> None:
        for segment in segments:
            self._queue_deleted(segment.mark_deleted(), delete_at_ms)

    def _queue_deleted(self, files: list[File], delete_at_ms: int) -> None:
        if self._deleted is None:
            self._deleted = []
        self._deleted.extend((file, delete_at_ms) for file in files)

    def take_deleted_files(self) -> list[tuple[File, int]]:
        """The files (already renamed to `*.deleted`) that are to be deleted, each with the time from which on
        that may be done. Whoever takes them deletes them.
        """
        taken, self._deleted = self._deleted, None
        return taken or []

    @property
    def has_deleted_files(self) -> bool:
        return self._deleted is not None

    def _remove_snapshots(self, unwanted: Callable[[int], bool]) -> None:
        kept = []
        for offset in self._snapshots:
            if unwanted(offset):
                with suppress(FileNotFoundError):
                    self._disk.remove(segment_path(self.dir_path, offset, SNAPSHOT_SUFFIX))
            else:
                kept.append(offset)
        self._snapshots = tuple(kept)
        self._sync_no_removed_snapshots()

    def _sync_no_removed_snapshots(self) -> None:
        if self._unsynced_files:
            left = {segment_path(self.dir_path, offset, SNAPSHOT_SUFFIX) for offset in self._snapshots}
            self._unsynced_files = [
                f for f in self._unsynced_files if not f.path.endswith(SNAPSHOT_SUFFIX) or f.path in left
            ] or None

    def expire_producers(self, now_ms: int) -> int:
        """Forgets producers that were idle for `producer.id.expiration.ms`; returns how many."""
        return self.producers.expire(now_ms, self.producer_id_expiration_ms)

    # --- flushing

    def flush_due(self, now_ms: int) -> bool:
        """Whether `flush.messages` or `flush.ms` ask for a flush."""
        unflushed = self.log_end_offset - self.recovery_point
        return unflushed > 0 and (
            unflushed >= self.config.flush_messages or now_ms - self.last_flush_ms >= self.config.flush_ms
        )

    @property
    def rolled_flush_due(self) -> bool:
        """Whether a segment was rolled and is not durable: Kafka flushes those in the background."""
        return self.recovery_point < self.active_segment.base_offset

    def begin_flush(self, *, rolled_only: bool = False) -> FlushTicket | None:
        """What is to be synced, with the files pinned; None when there is nothing. Give the ticket back to
        `end_flush`, also when its `run` raised.

        `rolled_only` leaves the active segment out: nobody waits for it.
        """
        self._check_usable()
        upto = self.active_segment.base_offset if rolled_only else self.log_end_offset
        if upto <= self.recovery_point and not self._names_changed and not self.epochs.dirty:
            return None
        try:
            if self.epochs.dirty:
                self._write_epochs()
            files: list[File] = list(self._unsynced_files or ())
            segments: list[tuple[Segment, bool]] = []
            for segment in self.segments:
                rolled = segment is not self.active_segment
                if not rolled and rolled_only:
                    continue
                to_sync = segment.files_to_sync(with_indexes=rolled)
                if to_sync:
                    files += to_sync
                    segments.append((segment, rolled))
            dir_path = self.dir_path if self._names_changed else None
            for other in self._flushes:
                # What another flush has still to sync is not marked any more, and not durable yet either.
                files += [file for file in other.files if file not in files]
                dir_path = dir_path or other.dir_path
            ticket = FlushTicket(self._disk, files, segments, upto, self._generation, dir_path)
            ticket.extra_files = self._unsynced_files or []
        except OSError as error:
            self._raise_storage_error(error)
        self._flushes += (ticket,)
        self._names_changed = False
        self._unsynced_files = None
        for segment, rolled in segments:
            # What is written from now on belongs to the next flush.
            segment.mark_synced(with_indexes=rolled)
        return ticket

    def end_flush(self, ticket: FlushTicket, now_ms: int) -> None:
        """Moves the recovery point if the ticket ran. If it was not run, all is again as it was before it; if
        it failed, so has the log: nobody knows what the disk holds now.
        """
        ticket.release()
        self._flushes = tuple(other for other in self._flushes if other is not ticket)
        if ticket.error is not None:
            self.failure = self.failure or ticket.error
        if not ticket.done:
            self._unsynced_files = [*(self._unsynced_files or ()), *ticket.extra_files] or None
            for segment, rolled in ticket.segments:
                segment.unsynced = True
                if rolled:
                    segment.offset_index.unsynced = segment.time_index.unsynced = True
                    if segment.txn_index is not None:
                        segment.txn_index.unsynced = True
            self._names_changed = self._names_changed or ticket.syncs_dir
            return
        if ticket.generation == self._generation:
            self.recovery_point = max(self.recovery_point, ticket.upto_offset)
        self.last_flush_ms = now_ms

    def flush(self, now_ms: int) -> None:
        """Both halves at once, waiting for the disk."""
        ticket = self.begin_flush()
        if ticket is None:
            return
        try:
            ticket.run()
        except OSError as error:
            raise KafkaError(
                ErrorCode.KAFKA_STORAGE_ERROR, f"flushing the log of {self.tp} failed: {error}"
            ) from error
        finally:
            self.end_flush(ticket, now_ms)

    def _write_epochs(self) -> None:
        self._disk.write_file_atomic(
            f"{self.dir_path}/{LEADER_EPOCH_CHECKPOINT}", self.epochs.to_text().encode()
        )
        self.epochs.dirty = False

    # --- the end

    def close(self, now_ms: int) -> None:
        """Makes everything durable, so that the next start after a clean shutdown reads next to nothing, and
        gives back the descriptors.
        """
        if self.failure is None:
            try:
                self.active_segment.finish()
            except OSError as error:
                self._raise_storage_error(error)
            if self.log_end_offset > self.log_start_offset or len(self.producers):
                self._take_snapshot(self.log_end_offset)
            self.flush(now_ms)
            self._sync_active_indexes()
        self.release_files()

    @property
    def needs_close(self) -> bool:
        """Whether `close` has anything to make durable."""
        return (
            self.recovery_point < self.log_end_offset
            or self._names_changed
            or self.epochs.dirty
            or bool(self._unsynced_files)
        )

    def begin_close(self) -> None:
        """The first half of a close of very many logs, each of whose files would need a sync of its own:
        writes what is missing and syncs nothing. The caller syncs the volume between the halves, and after.
        """
        self._check_usable()
        try:
            self.active_segment.finish()
            if self.log_end_offset > self.log_start_offset or len(self.producers):
                self._take_snapshot(self.log_end_offset)
            if self.epochs.dirty:
                file = self._disk.open(f"{self.dir_path}/{LEADER_EPOCH_CHECKPOINT}.tmp", create=True)
                file.truncate(0)
                data = self.epochs.to_text().encode()
                if file.append((data,)) != len(data):
                    raise OSError(28, "no space left on device", file.path)
                file.close()
        except OSError as error:
            self._raise_storage_error(error)
        self.release_files()

    def end_close(self, now_ms: int) -> None:
        """The second half: what the first wrote is durable, so the epochs may take their place."""
        try:
            if self.epochs.dirty:
                path = f"{self.dir_path}/{LEADER_EPOCH_CHECKPOINT}"
                self._disk.rename(f"{path}.tmp", path)
                self.epochs.dirty = False
        except OSError as error:
            self._raise_storage_error(error)
        for segment in self.segments:
            segment.mark_synced(with_indexes=True)
        self._unsynced_files = None
        self._names_changed = False
        self.recovery_point = self.log_end_offset
        self.last_flush_ms = now_ms

    def _sync_active_indexes(self) -> None:
        """A clean start trusts the indexes of the active segment, so a clean end makes them durable."""
        active = self.active_segment
        try:
            for file in active.files_to_sync(with_indexes=True):
                file.sync()
            active.mark_synced(with_indexes=True)
        except OSError as error:
            self._raise_storage_error(error)

    def release_files(self) -> None:
        """Gives back descriptors; the log may go on being used."""
        for segment in self.segments:
            segment.close()

    def rename_dir(self, dir_path: str) -> None:
        """Moves the directory, as a deletion does first. Slices handed out before stay valid."""
        try:
            self._disk.rename(self.dir_path, dir_path)
            self.dir_path = dir_path
            self._unsynced_files = None
            self._names_changed = True
            for segment in self.segments:
                segment.move_to(dir_path)
        except OSError as error:
            self._fail(error)

    def delete_files(self) -> None:
        """Removes the directory and everything in it."""
        for segment in self.segments:
            segment.close()
        self._deleted = None
        self.failure = self.failure or FileNotFoundError(2, "the log was deleted", self.dir_path)
        self._disk.remove_tree(self.dir_path)


def _roll_jitter_ms(tp: TopicPartition, base_offset: int, config: LogConfig) -> int:
    """Spreads the rolls of partitions that were made together. Not random, so that a simulation repeats."""
    if config.segment_jitter_ms <= 0:
        return 0
    return crc32(f"{tp.topic}-{tp.partition}-{base_offset}".encode()) % min(
        config.segment_jitter_ms, config.segment_ms
    )
