"""Loading a partition's directory, and repairing it after a crash.

After a clean shutdown everything on disk is trusted: the end of the log is found through the last index
entry, the producer state is in a snapshot. After an unclean one, whatever lies past the recovery point may be
torn, lost or nonsense. So from the segment that holds the recovery point on, every batch is passed over (the
CRC is checked where it lies past the recovery point), indexes, leader epochs and producer state are made
again from what is found, and at the first bad batch the log is cut: the rest of that segment and all later
ones go. A later segment also goes when the one before it ends too early: then the file system has lost its
tail, and offsets would have a hole; likewise a batch that does not continue the one before it. (Compacted
logs have holes; there it means nothing.)

What an interrupted compaction left is finished (`.swap`) or removed (`.cleaned`), as Kafka does.
"""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from ottla.log.file_names import (
    CLEANED_SUFFIX,
    DELETED_SUFFIX,
    LEADER_EPOCH_CHECKPOINT,
    LOG_SUFFIX,
    OFFSET_INDEX_SUFFIX,
    PARTITION_METADATA,
    SNAPSHOT_SUFFIX,
    SWAP_SUFFIX,
    TIME_INDEX_SUFFIX,
    TXN_INDEX_SUFFIX,
    segment_path,
    split_name,
)
from ottla.log.index_file import DamagedIndex
from ottla.log.leader_epochs import UNDEFINED_EPOCH, LeaderEpochCache
from ottla.log.partition_metadata import parse_partition_metadata
from ottla.log.producer_snapshot import DamagedSnapshot, decode_snapshot
from ottla.log.producer_state import BATCHES_MAX, AppendedBatch, ProducerState
from ottla.log.segment import Segment
from ottla.log.txn_index import AbortedTxn
from ottla.model.log_config import LogConfig
from ottla.ports.disk import Disk, File
from ottla.wire.record_batch import BatchHeader, CorruptBatch

logger = logging.getLogger(__name__)

_RETRY_WINDOW_MS: Final = 2 * 3600 * 1000
"""Producers give up after delivery.timeout.ms, two minutes by default; their clocks may differ from ours."""

_EARLIER_BYTES: Final = 512 * 1024
"""How far before a snapshot the batches in flight are looked for: about thirty batches of 16 KB."""

_INDEX_SUFFIXES = (OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX, TXN_INDEX_SUFFIX)


@dataclass(slots=True)
class LoadedLog:
    segments: list[Segment] = field(default_factory=list)
    epochs: LeaderEpochCache = field(default_factory=LeaderEpochCache)
    producers: ProducerState = field(default_factory=ProducerState)
    snapshots: list[int] = field(default_factory=list)
    topic_id: bytes | None = None
    log_start_offset: int = 0
    log_end_offset: int = 0
    recovery_point: int = 0
    deleted: list[File] = field(default_factory=list)
    """Files of dropped segments, renamed to `*.deleted`."""
    unsynced_files: list[File] = field(default_factory=list)
    names_changed: bool = False


def load_log(
    disk: Disk,
    dir_path: str,
    config: LogConfig,
    *,
    now_ms: int,
    clean_shutdown: bool,
    recovery_point: int,
    log_start_offset: int,
    producer_id_expiration_ms: int,
    roll_jitter_ms: Callable[[int], int],
    was_compacted: bool = False,
) -> LoadedLog:
    """`was_compacted` says that the log has holes, though its topic may not be compacted any more."""
    loaded = LoadedLog()
    try:
        names = disk.list_dir(dir_path)
    except FileNotFoundError:
        disk.make_dirs(dir_path)
        names = []
    if names:
        names = _finish_interrupted_work(disk, dir_path, names)
        _open_segments(disk, dir_path, names, loaded, now_ms, roll_jitter_ms)
        loaded.topic_id = read_topic_id(disk, dir_path, names)
    epochs_known = _read_epochs(disk, dir_path, names, loaded)
    segments = loaded.segments

    if segments:
        if clean_shutdown:
            try:
                loaded.log_end_offset = segments[-1].next_offset()
                segments[-1].load()
            except CorruptBatch:
                # Somebody was at the files, or the marker lies: then nothing of this segment is trusted.
                clean_shutdown = False
                recovery_point = segments[-1].base_offset
        if not clean_shutdown:
            _recover(
                disk,
                dir_path,
                config,
                loaded,
                recovery_point,
                now_ms,
                producer_id_expiration_ms,
                may_have_holes=config.compact or was_compacted,
            )
            loaded.names_changed = True  # nobody knows which names the dead process had made durable
            if loaded.topic_id is not None:
                loaded.unsynced_files.append(disk.open(f"{dir_path}/{PARTITION_METADATA}"))
        if loaded.log_end_offset < log_start_offset:
            # Files are missing: nothing that is left may be read, so it goes.
            for segment in segments:
                loaded.deleted += segment.mark_deleted()
            segments.clear()
            loaded.epochs.clear()
    if not segments:
        segments.append(
            Segment.create(
                disk,
                dir_path,
                log_start_offset,
                now_ms=now_ms,
                roll_jitter_ms=roll_jitter_ms(log_start_offset),
            )
        )
        loaded.names_changed = True
        loaded.log_end_offset = log_start_offset
        loaded.producers.clear(log_start_offset)
    loaded.log_start_offset = max(log_start_offset, segments[0].base_offset)
    end = loaded.log_end_offset
    loaded.recovery_point = end if clean_shutdown else min(recovery_point, end)
    if not clean_shutdown and epochs_known:
        # They begin later than the log when its start has gone back with the crash.
        epochs_known = loaded.epochs.epoch_for_offset(loaded.log_start_offset) >= 0
    if not epochs_known and end > loaded.log_start_offset:
        _read_epochs_from_batches(loaded)
    loaded.epochs.truncate_from_end(end)
    loaded.epochs.truncate_from_start(loaded.log_start_offset)
    _remove_stray_snapshots(disk, dir_path, loaded)
    if clean_shutdown:
        if loaded.snapshots:
            rebuild_producer_state(
                disk,
                dir_path,
                loaded.producers,
                segments,
                loaded.snapshots,
                end,
                now_ms=now_ms,
                producer_id_expiration_ms=producer_id_expiration_ms,
            )
        else:
            # A clean shutdown writes a snapshot unless there was nothing to write.
            loaded.producers.clear(end)
    return loaded


# --- what lies in the directory


def _finish_interrupted_work(disk: Disk, dir_path: str, names: list[str]) -> list[str]:
    """Removes what was on its way out, and completes a compaction that had got as far as `.swap`."""
    left = []
    swaps: list[str] = []
    cleaned_from: int | None = None
    for name in names:
        if name.endswith(CLEANED_SUFFIX):
            parts = split_name(name)
            if parts is not None and (cleaned_from is None or parts[0] < cleaned_from):
                cleaned_from = parts[0]
            disk.remove(f"{dir_path}/{name}")
        elif name.endswith((DELETED_SUFFIX, ".tmp")):
            disk.remove(f"{dir_path}/{name}")
        elif name.endswith(SWAP_SUFFIX):
            swaps.append(name)
        else:
            left.append(name)
    if not swaps:
        return left
    valid: list[tuple[str, int, str]] = []
    for name in swaps:
        plain = name[: -len(SWAP_SUFFIX)]
        parts = split_name(plain)
        if parts is None or (cleaned_from is not None and parts[0] >= cleaned_from):
            # Beside `.cleaned` files of lower offsets it is half of an unfinished split.
            disk.remove(f"{dir_path}/{name}")
        else:
            valid.append((name, parts[0], plain))
    low, high = _swapped_range(disk, dir_path, valid)
    for name in list(left):
        parts = split_name(name)
        if parts is not None and low <= parts[0] < high and parts[1] != SNAPSHOT_SUFFIX:
            disk.remove(f"{dir_path}/{name}")
            left.remove(name)
    for name, _, plain in valid:
        disk.rename(f"{dir_path}/{name}", f"{dir_path}/{plain}")
        if plain not in left:
            left.append(plain)
    disk.sync_dir(dir_path)
    return sorted(left)


def _swapped_range(disk: Disk, dir_path: str, swaps: list[tuple[str, int, str]]) -> tuple[int, int]:
    """The offsets that the swapped-in segments stand for."""
    low, high = 0, 0
    for name, base_offset, plain in swaps:
        if not plain.endswith(LOG_SUFFIX):
            continue
        file = disk.open(f"{dir_path}/{name}")
        segment = Segment(disk, dir_path, base_offset, file, fresh=True, now_ms=0)
        end = base_offset
        with suppress(CorruptBatch):
            for _, header in segment.headers():
                end = header.next_offset
        low = base_offset if high == 0 else min(low, base_offset)
        high = max(high, end, base_offset + 1)
    return low, high


def _open_segments(
    disk: Disk,
    dir_path: str,
    names: list[str],
    loaded: LoadedLog,
    now_ms: int,
    roll_jitter_ms: Callable[[int], int],
) -> None:
    bases = set()
    with_txn_index = set()
    indexes = []
    for name in names:
        parts = split_name(name)
        if parts is None:
            continue
        offset, suffix = parts
        if suffix == LOG_SUFFIX:
            bases.add(offset)
        elif suffix == SNAPSHOT_SUFFIX:
            loaded.snapshots.append(offset)
        elif suffix in _INDEX_SUFFIXES:
            indexes.append((offset, name))
            if suffix == TXN_INDEX_SUFFIX:
                with_txn_index.add(offset)
    for offset, name in indexes:
        if offset not in bases:
            disk.remove(f"{dir_path}/{name}")
    for base_offset in sorted(bases):
        loaded.segments.append(
            Segment.open(
                disk,
                dir_path,
                base_offset,
                now_ms=now_ms,
                has_txn_index=base_offset in with_txn_index,
                roll_jitter_ms=roll_jitter_ms(base_offset),
            )
        )
    loaded.snapshots.sort()


def read_topic_id(disk: Disk, dir_path: str, names: list[str]) -> bytes | None:
    """Which topic a partition's directory belongs to; None when it does not say."""
    if PARTITION_METADATA not in names:
        return None
    try:
        return parse_partition_metadata(disk.read_file(f"{dir_path}/{PARTITION_METADATA}").decode())
    except ValueError:
        return None  # a crash before its first flush; the cluster's metadata knows the id


def _read_epochs(disk: Disk, dir_path: str, names: list[str], loaded: LoadedLog) -> bool:
    if LEADER_EPOCH_CHECKPOINT not in names:
        return False
    try:
        text = disk.read_file(f"{dir_path}/{LEADER_EPOCH_CHECKPOINT}").decode()
        loaded.epochs = LeaderEpochCache.from_text(text)
    except ValueError:
        return False
    return True


def _read_epochs_from_batches(loaded: LoadedLog) -> None:
    """The checkpoint is missing or damaged: every batch says under which epoch it was written."""
    epochs = LeaderEpochCache()
    for segment in loaded.segments:
        for _, header in segment.headers():
            if header.leader_epoch > epochs.latest_epoch:
                epochs.assign(header.leader_epoch, header.base_offset)
    loaded.epochs = epochs
    epochs.dirty = True


def _remove_stray_snapshots(disk: Disk, dir_path: str, loaded: LoadedLog) -> None:
    """Snapshots of deleted segments, of what was cut off, and all but the newest between segments."""
    bases = {segment.base_offset for segment in loaded.segments}
    newest = max((o for o in loaded.snapshots if o <= loaded.log_end_offset), default=-1)
    kept = []
    for offset in loaded.snapshots:
        in_log = loaded.segments[0].base_offset <= offset <= loaded.log_end_offset
        if in_log and (offset in bases or offset == newest):
            kept.append(offset)
        else:
            disk.remove(segment_path(dir_path, offset, SNAPSHOT_SUFFIX))
    loaded.snapshots = kept


# --- producer state


def rebuild_producer_state(
    disk: Disk,
    dir_path: str,
    producers: ProducerState,
    segments: Sequence[Segment],
    snapshots: Sequence[int],
    end_offset: int,
    *,
    now_ms: int,
    producer_id_expiration_ms: int,
) -> None:
    """Makes the state as of `end_offset`: the newest snapshot that is not above it, and the batches since.

    Batches below the log start count as long as they are there: a producer is better known than not.
    `now_ms` -1 expires nobody.
    """
    start_offset = segments[0].base_offset
    producers.clear(start_offset)
    if now_ms < 0:
        now_ms = -(2**63)
    for offset in reversed(snapshots):
        if offset > end_offset or offset < start_offset:
            continue
        try:
            entries = decode_snapshot(disk.read_file(segment_path(dir_path, offset, SNAPSHOT_SUFFIX)))
        except (DamagedSnapshot, FileNotFoundError):
            continue  # an older one, or the log itself, tells the same
        producers.load_snapshot(entries, offset, now_ms, producer_id_expiration_ms)
        _find_earlier_batches(producers, segments, offset, now_ms)
        break
    _replay(producers, segments, end_offset)
    producers.end_offset = end_offset


def _find_earlier_batches(
    producers: ProducerState, segments: Sequence[Segment], end_offset: int, now_ms: int
) -> None:
    """A snapshot has the last batch of each producer, but up to five may be in flight: one that lost its
    replies over a restart sends them all again, and the first of them must be known as a duplicate, not
    refused as out of order. So the end of the log before the snapshot is looked through.
    """
    wanted = {
        entry.producer_id: entry
        for entry in producers
        if entry.batches and now_ms - entry.last_timestamp < _RETRY_WINDOW_MS
    }
    left_bytes = _EARLIER_BYTES
    for segment in reversed(segments):
        if not wanted or left_bytes <= 0:
            return
        if segment.base_offset >= end_offset or not segment.size:
            continue
        back, start = 8, segment.size
        try:
            while start > 0 and segment.size - start < left_bytes:
                found = segment.find(max(segment.base_offset, end_offset - back))
                start = found[0] if found is not None else 0
                if end_offset - back <= segment.base_offset:
                    start = 0
                back *= 4
            earlier: dict[int, list[AppendedBatch]] = {}
            for _, header in segment.headers(start):
                if header.base_offset >= end_offset:
                    break
                entry = wanted.get(header.producer_id)
                if (
                    entry is not None
                    and not header.is_control
                    and header.producer_epoch == entry.epoch
                    and header.last_offset < entry.batches[0].last_offset
                ):
                    earlier.setdefault(header.producer_id, []).append(
                        AppendedBatch(
                            header.last_sequence,
                            header.last_offset,
                            header.last_offset_delta,
                            header.max_timestamp,
                        )
                    )
        except CorruptBatch:
            return  # recovery looks at it next
        for producer_id, batches in earlier.items():
            known = wanted[producer_id].batches
            known[:0] = batches[len(known) - BATCHES_MAX :]
            if len(known) >= BATCHES_MAX:
                del wanted[producer_id]
        left_bytes -= segment.size - start
        end_offset = segment.base_offset


def _replay(producers: ProducerState, segments: Sequence[Segment], end_offset: int) -> None:
    """Brings the state from where it is to `end_offset`."""
    start_offset = producers.end_offset
    if start_offset >= end_offset or not segments:
        return
    first = max(0, bisect_right([segment.base_offset for segment in segments], start_offset) - 1)
    for segment in segments[first:]:
        if segment.base_offset >= end_offset:
            break
        position = 0
        if start_offset > segment.base_offset:
            found = segment.find(start_offset)
            if found is None:
                continue
            position = found[0]
        for at, header in segment.headers(position):
            if header.base_offset >= end_offset:
                break
            if header.producer_id >= 0:
                _replay_batch(producers, segment, at, header)


def _replay_batch(producers: ProducerState, segment: Segment, position: int, header: BatchHeader) -> None:
    marker = segment.read_marker(position, header) if header.is_control else None
    producers.replay(header, header.max_timestamp, marker)


# --- after a crash


def _recover(
    disk: Disk,
    dir_path: str,
    config: LogConfig,
    loaded: LoadedLog,
    recovery_point: int,
    now_ms: int,
    producer_id_expiration_ms: int,
    *,
    may_have_holes: bool,
) -> None:
    segments = loaded.segments
    # When the recovery point is where a segment begins, the one before it is durable with its indexes: a
    # flush of rolled segments syncs them, and a roll does when all of the segment was flushed already.
    first = max(0, bisect_right([segment.base_offset for segment in segments], recovery_point) - 1)
    producers = loaded.producers
    # Also where the first segment begins there may be a snapshot: retention deletes what it was made of.
    rebuild_producer_state(
        disk,
        dir_path,
        producers,
        segments[: max(first, 1)],
        loaded.snapshots,
        segments[first].base_offset,
        now_ms=now_ms,
        producer_id_expiration_ms=producer_id_expiration_ms,
    )
    end = segments[first].base_offset
    # The checkpoint may be newer than the batches that survived: for what is passed over they are the truth.
    loaded.epochs.truncate_from_end(end)
    for number in range(first, len(segments)):
        segment = segments[number]
        # A gap, or an overlap: a truncation of the segment before that was lost while this one was kept.
        lost_before = number > first and (
            segment.base_offset < end or (segment.base_offset > end and not may_have_holes)
        )
        if lost_before:
            _drop_from(disk, dir_path, loaded, number)
            break
        drop_rest = partial(_drop_from, disk, dir_path, loaded, number + 1)
        end, cut = _recover_segment(
            segment, loaded, recovery_point, config.index_interval_bytes, may_have_holes, drop_rest
        )
        if cut:
            break
    loaded.log_end_offset = end
    producers.end_offset = end


def _drop_from(disk: Disk, dir_path: str, loaded: LoadedLog, number: int) -> None:
    """Durably, and from the end: in a compacted log nothing would tell the next start that a segment that
    came back does not follow on what was kept.
    """
    for segment in reversed(loaded.segments[number:]):
        loaded.deleted += segment.mark_deleted()
    if len(loaded.segments) > number:
        del loaded.segments[number:]
        disk.sync_dir(dir_path)


def _with_next_epoch(
    batches: Iterator[tuple[int, BatchHeader]],
) -> Iterator[tuple[int, BatchHeader, int]]:
    """Each batch with the leader epoch of the one after it; its own, when there is none."""
    before: tuple[int, BatchHeader] | None = None
    damage: CorruptBatch | None = None
    try:
        for found in batches:
            if before is not None:
                yield *before, found[1].leader_epoch
            before = found
    except CorruptBatch as error:
        damage = error
    if before is not None:
        yield *before, before[1].leader_epoch
    if damage is not None:
        raise damage


def _recover_segment(
    segment: Segment,
    loaded: LoadedLog,
    recovery_point: int,
    index_interval_bytes: int,
    may_have_holes: bool,
    drop_rest: Callable[[], None],
) -> tuple[int, bool]:
    """Passes over a segment and makes everything again that is derived from it. Returns the offset at which
    it now ends, and whether something was cut off; before that is done, `drop_rest` takes away what follows.

    The CRC does not cover a batch's offset and its leader epoch; that they continue those of the batch before
    is all that can be checked.
    """
    epochs, producers = loaded.epochs, loaded.producers
    segment.begin_rebuild()
    if segment.txn_index is not None:
        segment.txn_index.reset()
    end_position = 0
    end_offset = segment.base_offset
    latest_epoch = UNDEFINED_EPOCH
    try:
        for position, header, next_epoch in _with_next_epoch(segment.walk(0, recovery_point)):
            hole = header.base_offset > end_offset >= recovery_point and not may_have_holes
            if header.base_offset < end_offset or hole or header.last_offset_delta < 0:
                raise CorruptBatch(f"offset {header.base_offset} comes after {end_offset - 1}")
            if header.base_offset >= recovery_point and (
                header.leader_epoch < latest_epoch
                # The only one of an epoch that the one after it knows nothing of.
                or (header.leader_epoch > latest_epoch and header.leader_epoch > next_epoch)
            ):
                raise CorruptBatch(f"the leader epoch of offset {header.base_offset} is not in order")
            if not segment.fits(header.last_offset):
                raise CorruptBatch(f"offset {header.last_offset} does not belong to this segment")
            marker = None
            if header.is_control and header.producer_id >= 0:
                marker = segment.read_marker(position, header)
            segment.note_existing(position, header, index_interval_bytes)
            if header.leader_epoch > epochs.latest_epoch:
                epochs.assign(header.leader_epoch, header.base_offset)
            if header.producer_id >= 0:
                ended = producers.replay(header, header.max_timestamp, marker)
                if ended is not None and ended[0].aborted:
                    txn, last_stable_offset = ended
                    segment.add_aborted_txn(
                        AbortedTxn(txn.producer_id, txn.first_offset, txn.last_offset, last_stable_offset)
                    )
            end_position = position + header.size_bytes
            end_offset = header.next_offset
            latest_epoch = header.leader_epoch
    except (ValueError, DamagedIndex):
        # CorruptBatch and InvalidRecord are ValueErrors: here ends what can be believed.
        pass
    cut = segment.size > end_position
    if cut:
        logger.warning(
            "%s: cut off %d bytes that are no whole, valid batches; the log now ends at offset %d",
            segment.file.path,
            segment.size - end_position,
            end_offset,
        )
        drop_rest()
        segment.cut_file(end_position)
    segment.end_rebuild()
    segment.unsynced = True
    return end_offset, cut
