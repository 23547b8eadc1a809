"""All logs of a node: which directory each lives in, how they are found at start and closed at the end.

Start, per directory of `log.dirs`: take the lock, read or write `meta.properties`, take away the mark of a
clean shutdown, read the checkpoints, open each partition's log (which recovers past its recovery point unless
the shutdown was clean). A directory that cannot be read is offline and the others serve; when none is left,
the start fails.

An OSError of a log later on (`storage_failed`) takes its directory offline in the same way: its logs leave
`get` and stand in `offline`. A full disk is no such failure: it refuses writes and goes on.

What happens over time (retention, flushes, checkpoints, removals) is in `log/housekeeping.py`; this file has
the state and what is done to it at once. `__cluster_metadata-0` is not loaded here: metadata owns it.
"""

from __future__ import annotations

import errno
import heapq
import logging
import os.path
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

from ottla.log.checkpoints import (
    CLEANER_CHECKPOINT,
    HIGH_WATERMARK_CHECKPOINT,
    LOG_START_OFFSET_CHECKPOINT,
    NO_BROKER_EPOCH,
    RECOVERY_POINT_CHECKPOINT,
)
from ottla.log.housekeeping import Housekeeping
from ottla.log.log import Log
from ottla.log.log_dir import (
    CHECKPOINTS,
    DELETE_SUFFIX,
    FUTURE_SUFFIX,
    STRAY_SUFFIX,
    LogDir,
    is_marked,
    marked_dir_name,
    partition_of_dir,
)
from ottla.log.meta_properties import (
    META_PROPERTIES,
    BadMetaProperties,
    MetaProperties,
    read_meta_properties,
    write_meta_properties,
)
from ottla.log.recovery import read_topic_id
from ottla.log.turn import Turn
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.log_config import LONG_MAX, LogConfig
from ottla.model.types import METADATA_TOPIC, TopicPartition
from ottla.model.uuids import is_reserved, uuid_to_text
from ottla.ports.clock import Clock
from ottla.ports.disk import Disk, File
from ottla.ports.effects import DiskJob, Steps

logger = logging.getLogger(__name__)

CLOSE_ONE_BY_ONE_MAX: Final = 64
"""Above this many logs to close, the whole volume is synced twice instead of each file once: other programs'
data on it is then waited for, too, which only pays for many."""

PROGRESS_INTERVAL_MS: Final = 5_000
"""How often a long recovery says how far it is."""

_NO_DIR_FAILURE: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.EINTR})
"""Errors of a disk that is full, or of a process that has too much open: the data is well."""


@dataclass(frozen=True, slots=True)
class ManagerSettings:
    """The broker-wide keys of this folder: `log.` and `_ms` keys with underscores, Kafka's defaults."""

    retention_check_interval_ms: int = 300_000
    flush_scheduler_interval_ms: int = LONG_MAX
    flush_offset_checkpoint_interval_ms: int = 60_000
    flush_start_offset_checkpoint_interval_ms: int = 60_000
    high_watermark_checkpoint_interval_ms: int = 5_000
    """`replica.high.watermark.checkpoint.interval.ms`"""
    initial_task_delay_ms: int = 30_000
    file_delete_delay_ms: int = 60_000
    """`log.segment.delete.delay.ms`: for directories whose topic, and so its own setting, is gone."""
    producer_id_expiration_ms: int = 86_400_000
    producer_id_expiration_check_interval_ms: int = 600_000


class DataDirInUse(Exception):
    """Another process works on the directory. The message is one line that says what to do."""


class DuplicateLog(Exception):
    """One partition was found in two directories, and nobody can tell which is right."""


class AllDirsFailed(Exception):
    """No directory of log.dirs is left that works: the node cannot go on."""


class LogDescription(NamedTuple):
    tp: TopicPartition
    size_bytes: int
    offset_lag: int
    is_future: bool


@dataclass(frozen=True, slots=True)
class DirDescription:
    """What DescribeLogDirs says of a directory."""

    path: str
    error: ErrorCode
    total_bytes: int
    usable_bytes: int
    logs: list[LogDescription]


def _os_error_of(error: Exception) -> OSError:
    """The disk's own word, from an error that may be wrapped for the peer."""
    cause = error if isinstance(error, OSError) else error.__cause__
    return cause if isinstance(cause, OSError) else OSError(errno.EIO, str(error))


class LogManager:
    __slots__ = (
        "disk",
        "clock",
        "node_id",
        "settings",
        "cluster_id",
        "dirs",
        "offline",
        "on_dir_failed",
        "doomed",
        "being_cleaned",
        "loaded",
        "stopped",
        "_config_for",
        "_new_uuid",
        "_logs",
        "_by_topic",
        "_doomed_count",
    )

    def __init__(
        self,
        disk: Disk,
        clock: Clock,
        dirs: Sequence[str],
        *,
        node_id: int,
        settings: ManagerSettings,
        config_for: Callable[[str], LogConfig],
        new_uuid: Callable[[], bytes],
        on_dir_failed: Callable[[LogDir, list[TopicPartition]], None] | None = None,
    ) -> None:
        """`new_uuid` gives sixteen random bytes (os.urandom in a broker, the seed's in a simulation)."""
        if not dirs:
            raise ValueError("log.dirs names no directory")
        names = [os.path.normpath(path) for path in dirs]
        if len(set(names)) < len(names):
            raise ValueError(f"log.dirs names a directory twice: {', '.join(dirs)}")
        self.disk = disk
        self.clock = clock
        self.node_id = node_id
        self.settings = settings
        self.cluster_id: str | None = None
        self.dirs = [LogDir(disk, path) for path in names]
        self.offline: dict[TopicPartition, str] = {}
        """The partitions that went offline with their directory, and that directory."""
        self.on_dir_failed = on_dir_failed
        """Told of a directory and the partitions that went with it, so that the controller can be told."""
        self.doomed: list[tuple[float, int, str | File]] = []
        """A heap of what will be removed: (monotonic time, tie breaker, a directory's path or a file)."""
        self.being_cleaned: dict[TopicPartition, Log] = {}
        """The logs that a cleaner is at work on: retention leaves them alone meanwhile, as in Kafka."""
        self.loaded = False
        self.stopped = False
        self._config_for = config_for
        self._new_uuid = new_uuid
        self._logs: dict[TopicPartition, Log] = {}
        self._by_topic: dict[str, dict[int, Log]] = {}
        self._doomed_count = 0

    # --- start

    def start(self, cluster_id: str | None = None) -> None:
        """Locks, identifies and loads all directories. Raises DataDirInUse, BadMetaProperties, DuplicateLog
        or AllDirsFailed, with all locks given back.
        """
        self.open_dirs(cluster_id)
        try:
            self.load()
        except BaseException:
            self.unlock()
            raise

    def open_dirs(self, cluster_id: str | None = None, *, formats: bool = True) -> None:
        """The first half of a start: afterwards the directories are this process's and have their ids. A
        broker replays its metadata before the second half, `load`, because the logs' configuration is in it.

        `formats=False`: at least one directory has to be formatted already. A node of a larger cluster that
        made up a cluster's id would be alone with it.
        """
        try:
            self._lock_dirs()
            self._identify(cluster_id, formats)
        except BaseException:
            self.unlock()
            raise

    def unlock(self) -> None:
        for log_dir in self.dirs:
            log_dir.unlock()

    def _lock_dirs(self) -> None:
        for log_dir in self.dirs:
            try:
                log_dir.make()
                taken = not log_dir.lock()
            except OSError as error:
                self._fail(log_dir, error)
                continue
            if taken:
                raise DataDirInUse(
                    f"{log_dir.path} is in use by another broker process: "
                    "stop that one, or give this one a directory of its own (log.dirs)"
                )
        self.check_any_online()

    def _identify(self, cluster_id: str | None, formats: bool) -> None:
        metas: dict[LogDir, MetaProperties | None] = {}
        for log_dir in self.online_dirs:
            try:
                metas[log_dir] = read_meta_properties(self.disk, log_dir.path)
            except OSError as error:
                self._fail(log_dir, error)
        self.check_any_online()
        owners: dict[bytes, LogDir] = {}
        for log_dir, meta in metas.items():
            if meta is None:
                self._refuse_orphaned_data(log_dir)
                continue
            file = f"{log_dir.path}/{META_PROPERTIES}"
            if meta.node_id is not None and meta.node_id != self.node_id:
                raise BadMetaProperties(
                    f"{file} belongs to node {meta.node_id}, this is node {self.node_id}: "
                    "set node.id to the former, or give this node a directory of its own"
                )
            if meta.cluster_id is not None:
                if cluster_id is None:
                    cluster_id = meta.cluster_id
                elif cluster_id != meta.cluster_id:
                    raise BadMetaProperties(
                        f"{file} belongs to cluster {meta.cluster_id}, expected is {cluster_id}: "
                        "a directory cannot be moved between clusters, give this node another one"
                    )
            if meta.directory_id is not None:
                other = owners.setdefault(meta.directory_id, log_dir)
                if other is not log_dir:
                    raise BadMetaProperties(
                        f"{file} has the directory.id of {other.path}: one is a copy of the other, "
                        "take the copy out of log.dirs"
                    )
        if cluster_id is None and not formats:
            raise BadMetaProperties(
                f"{self.online_dirs[0].path} is not formatted, and this node is one of several: give all of "
                "them one id with `ottla storage format --cluster-id ID --config server.properties`, where "
                "`ottla storage random-uuid` makes the ID"
            )
        self.cluster_id = cluster_id or uuid_to_text(self._fresh_uuid())
        for log_dir, meta in metas.items():
            try:
                self._identify_dir(log_dir, meta)
            except OSError as error:
                self._fail(log_dir, error)
        self.check_any_online()

    def _refuse_orphaned_data(self, log_dir: LogDir) -> None:
        """A directory is formatted by itself only while it holds no data: whose it is cannot be guessed."""
        try:
            found = next(
                (n for n in self.disk.list_dir(log_dir.path) if partition_of_dir(n) is not None), None
            )
        except OSError:
            return  # the load finds out
        if found is not None:
            raise BadMetaProperties(
                f"{log_dir.path} holds data ({found}) but no {META_PROPERTIES}: restore that file, or write "
                "it with `ottla storage format` and the cluster's own id"
            )

    def _identify_dir(self, log_dir: LogDir, meta: MetaProperties | None) -> None:
        known = meta.directory_id if meta is not None else None
        log_dir.directory_id = known if known is not None else self._fresh_uuid()
        wanted = MetaProperties(self.node_id, self.cluster_id, log_dir.directory_id)
        if meta != wanted:
            write_meta_properties(self.disk, log_dir.path, wanted)

    def _fresh_uuid(self) -> bytes:
        while is_reserved(uuid := self._new_uuid()):
            pass
        return uuid

    def load(self, is_wanted: Callable[[TopicPartition, bytes | None], bool] | None = None) -> None:
        """The second half of a start: opens the log of every partition directory.

        `is_wanted` tells which topic id a partition has now: a directory that was offline while its topic was
        deleted and made again elsewhere comes back with a log that nobody wants.
        """
        began_ms = self.clock.monotonic_ms()
        found: dict[LogDir, list[TopicPartition]] = {}
        homes: dict[TopicPartition, LogDir] = {}
        for log_dir in self.online_dirs:
            try:
                found[log_dir] = self._find_partitions(log_dir)
                log_dir.read_checkpoints()
            except OSError as error:
                self._fail(log_dir, error)
                found.pop(log_dir, None)
                continue
            for tp in found[log_dir].copy():
                other = homes.setdefault(tp, log_dir)
                if other is log_dir:
                    continue
                stale = None if is_wanted is None else self._stale_of(tp, other, log_dir, is_wanted)
                if stale is None:
                    raise DuplicateLog(
                        f"{tp} is in both {other.path} and {log_dir.path}: remove the one "
                        "that is out of date (usually that of the directory that failed last)"
                    )
                found[stale].remove(tp)
                homes[tp] = log_dir if stale is other else other
                self._set_dir_aside(tp, stale)
        for log_dir, partitions in found.items():
            self._load_dir(log_dir, partitions, began_ms)
        self.check_any_online()
        self.loaded = True
        took_ms = self.clock.monotonic_ms() - began_ms
        if self._logs:
            logger.info("loaded %d logs in %.0f ms", len(self._logs), took_ms)

    def _stale_of(
        self,
        tp: TopicPartition,
        first: LogDir,
        second: LogDir,
        is_wanted: Callable[[TopicPartition, bytes | None], bool],
    ) -> LogDir | None:
        """Which of two directories holds a partition of a topic that is gone; None when that is not clear."""
        unwanted = []
        for log_dir in (first, second):
            path = f"{log_dir.path}/{tp}"
            topic_id = read_topic_id(self.disk, path, self.disk.list_dir(path))
            if topic_id is not None and not is_wanted(tp, topic_id):
                unwanted.append(log_dir)
        return unwanted[0] if len(unwanted) == 1 else None

    def _set_dir_aside(self, tp: TopicPartition, log_dir: LogDir) -> None:
        path = f"{log_dir.path}/{marked_dir_name(tp, self._new_uuid(), STRAY_SUFFIX)}"
        self.disk.rename(f"{log_dir.path}/{tp}", path)
        self.disk.sync_dir(log_dir.path)
        logger.warning("%s in %s is of a topic that is gone and was set aside as %s", tp, log_dir.path, path)

    def _find_partitions(self, log_dir: LogDir) -> list[TopicPartition]:
        partitions: list[TopicPartition] = []
        now_ms = self.clock.monotonic_ms()
        for name in self.disk.list_dir(log_dir.path):
            tp = partition_of_dir(name)
            if tp is not None:
                if tp.topic != METADATA_TOPIC:
                    partitions.append(tp)
            elif is_marked(name, DELETE_SUFFIX):
                self._doom(now_ms + self.settings.file_delete_delay_ms, f"{log_dir.path}/{name}")
            elif is_marked(name, STRAY_SUFFIX):
                logger.warning(
                    "%s/%s was set aside as no topic's data; remove it by hand", log_dir.path, name
                )
            elif is_marked(name, FUTURE_SUFFIX):
                logger.warning(
                    "%s/%s is an unfinished move between directories; left alone", log_dir.path, name
                )
            elif self.disk.is_dir(f"{log_dir.path}/{name}"):
                logger.warning("%s/%s is not named like a partition and is left alone", log_dir.path, name)
        return partitions

    def _load_dir(self, log_dir: LogDir, partitions: list[TopicPartition], began_ms: float) -> None:
        try:
            log_dir.take_clean_shutdown()
            if partitions and not log_dir.had_clean_shutdown:
                self.disk.sync_dir(log_dir.path)  # the dead process may not have come to it
                logger.info("%s was not shut down cleanly: recovering %d logs", log_dir.path, len(partitions))
            recovery_points = log_dir.written[RECOVERY_POINT_CHECKPOINT]
            starts = log_dir.written[LOG_START_OFFSET_CHECKPOINT]
            high_watermarks = log_dir.written[HIGH_WATERMARK_CHECKPOINT]
            dirty_offsets = log_dir.written[CLEANER_CHECKPOINT]
            said_ms = began_ms
            for done, tp in enumerate(partitions):
                now_ms = self.clock.monotonic_ms()
                if now_ms - said_ms >= PROGRESS_INTERVAL_MS:
                    said_ms = now_ms
                    logger.info("%s: %d of %d logs loaded", log_dir.path, done, len(partitions))
                log = self._open(
                    log_dir,
                    tp,
                    clean_shutdown=log_dir.had_clean_shutdown,
                    recovery_point=recovery_points.get(tp, 0),
                    log_start_offset=starts.get(tp, 0),
                    first_dirty_offset=dirty_offsets.get(tp, -1),
                )
                high_watermark = high_watermarks.get(tp, 0)
                if high_watermark > 0:
                    log.update_high_watermark(high_watermark)
                self._add(log_dir, log)
        except OSError as error:
            self._fail(log_dir, error)

    def _open(
        self,
        log_dir: LogDir,
        tp: TopicPartition,
        *,
        clean_shutdown: bool,
        recovery_point: int = 0,
        log_start_offset: int = 0,
        first_dirty_offset: int = -1,
        topic_id: bytes | None = None,
    ) -> Log:
        return Log.open(
            self.disk,
            f"{log_dir.path}/{tp}",
            tp,
            self._config_for(tp.topic),
            now_ms=self.clock.now_ms(),
            clean_shutdown=clean_shutdown,
            recovery_point=recovery_point,
            log_start_offset=log_start_offset,
            producer_id_expiration_ms=self.settings.producer_id_expiration_ms,
            topic_id=topic_id,
            first_dirty_offset=first_dirty_offset,
        )

    # --- the logs

    @property
    def logs(self) -> Mapping[TopicPartition, Log]:
        """All logs that are online."""
        return self._logs

    def get(self, tp: TopicPartition) -> Log | None:
        return self._logs.get(tp)

    def logs_of(self, topic: str) -> list[Log]:
        return list(self._by_topic.get(topic, {}).values())

    def get_or_create(
        self,
        tp: TopicPartition,
        topic_id: bytes | None,
        *,
        is_new: bool = False,
        directory_id: bytes | None = None,
        sync_names: bool = True,
    ) -> Log:
        """The partition's log; a missing one is made, in the directory asked for or the one with the fewest.

        `is_new` says that the partition was only just created. Without it nothing is made while a directory
        is offline: the records may be there, and an empty log in their place would be served as the truth.
        `sync_names=False` leaves it to `sync_names_steps` to make the new name durable.
        Raises KafkaError(KAFKA_STORAGE_ERROR).
        """
        log = self._logs.get(tp)
        if log is not None:
            if topic_id is None or log.topic_id == topic_id:
                return log
            if log.topic_id is None:
                log.assign_topic_id(topic_id)
                return log
            self.set_aside(tp)  # an earlier topic of the same name, deleted while this node was down
        if not is_new:
            offline = self.offline.get(tp) or next((d.path for d in self.dirs if not d.online), None)
            if offline is not None:
                raise KafkaError(
                    ErrorCode.KAFKA_STORAGE_ERROR,
                    f"{tp} may be in {offline}, which is offline: repair it and restart",
                )
        for log_dir in self._dirs_for_a_new_log(directory_id):
            log = self._create(log_dir, tp, topic_id, sync_names)
            if log is not None:
                return log
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"no directory of log.dirs can take the log of {tp}")

    def create_steps(
        self, wanted: Iterable[tuple[TopicPartition, bytes | None]], *, is_new: bool = True
    ) -> Steps[list[Log]]:
        """Makes many logs in slices, and their names durable with one sync of each directory at the end."""
        turn = Turn(self.clock)
        logs: list[Log] = []
        for tp, topic_id in wanted:
            if turn.over():
                yield turn.rest()
            logs.append(self.get_or_create(tp, topic_id, is_new=is_new, sync_names=False))
        yield from self.sync_names_steps()
        return logs

    def sync_names_steps(self) -> Steps[None]:
        """Makes the directories of new logs durable: what is flushed into a log whose own name a crash can
        take away is not safe.
        """
        for log_dir in self.online_dirs:
            if log_dir.names_changed and log_dir.online:
                log_dir.names_changed = False
                try:
                    yield DiskJob(partial(self.disk.sync_dir, log_dir.path))
                except OSError as error:
                    log_dir.names_changed = True
                    self.dir_failed(log_dir, error)

    def _create(
        self, log_dir: LogDir, tp: TopicPartition, topic_id: bytes | None, sync_names: bool
    ) -> Log | None:
        path = f"{log_dir.path}/{tp}"
        try:
            if self.disk.exists(path):  # nothing that was loaded: what is in there is not this log's
                self.disk.rename(
                    path, f"{log_dir.path}/{marked_dir_name(tp, self._new_uuid(), STRAY_SUFFIX)}"
                )
                logger.warning("%s was in the way of a new log and was set aside", path)
            for other in self.online_dirs:
                other.forget_stale(tp)
            log = self._open(log_dir, tp, clean_shutdown=True, topic_id=topic_id)
            log.release_files()  # thousands may be made at once, and most will not be written to soon
            if sync_names:
                self.disk.sync_dir(log_dir.path)
            else:
                log_dir.names_changed = True
        except (OSError, KafkaError) as error:
            logger.error("%s: cannot make the log of %s: %s", log_dir.path, tp, error)
            with suppress(OSError):
                self.disk.remove_tree(path)
            self.dir_failed(log_dir, _os_error_of(error))
            return None
        self.offline.pop(tp, None)
        self._add(log_dir, log)
        return log

    def _dirs_for_a_new_log(self, directory_id: bytes | None) -> list[LogDir]:
        online = sorted(self.online_dirs, key=lambda log_dir: len(log_dir.logs))
        return [d for d in online if d.directory_id == directory_id] or online

    def _add(self, log_dir: LogDir, log: Log) -> None:
        tp = log.tp
        self._logs[tp] = log
        log_dir.logs[tp] = log
        self._by_topic.setdefault(tp.topic, {})[tp.partition] = log

    def _remove(self, log_dir: LogDir, log: Log) -> None:
        tp = log.tp
        del self._logs[tp]
        del log_dir.logs[tp]
        log_dir.changes += 1  # a checkpoint under way must not bring its line back
        siblings = self._by_topic[tp.topic]
        del siblings[tp.partition]
        if not siblings:
            del self._by_topic[tp.topic]

    def dir_of(self, log: Log) -> LogDir | None:
        """Where the log is; None when it is not (any more) one of the online logs."""
        return next((d for d in self.dirs if d.logs.get(log.tp) is log), None)

    def update_topic_config(self, topic: str) -> None:
        """Gives the topic's logs its configuration as it is now."""
        logs = self.logs_of(topic)
        if logs:
            config = self._config_for(topic)
            for log in logs:
                log.update_config(config)

    def update_all_configs(self) -> None:
        """After a change of a broker-wide default."""
        for topic in self._by_topic:
            self.update_topic_config(topic)

    # --- deletion

    def delete(self, tp: TopicPartition) -> bool:
        """Takes the partition away at once; its files go after file.delete.delay.ms. Readers that hold slices
        read on. False when there is no such log.
        """
        log = self._logs.get(tp)
        if log is None:
            self.offline.pop(tp, None)
            return False
        path = self._rename_away(log, DELETE_SUFFIX)
        if path is not None:
            self._doom(self.clock.monotonic_ms() + log.config.file_delete_delay_ms, path)
        return True

    def set_aside(self, tp: TopicPartition) -> bool:
        """Takes away a log that no topic owns, and keeps its files as `-stray` for a person to decide."""
        log = self._logs.get(tp)
        if log is None:
            return False
        path = self._rename_away(log, STRAY_SUFFIX)
        if path is not None:
            logger.warning("%s belongs to no topic any more and was set aside as %s", tp, path)
        return True

    def set_aside_strays(
        self, is_wanted: Callable[[TopicPartition, bytes | None], bool]
    ) -> list[TopicPartition]:
        """For the start, once the metadata is known: sets aside every log whose partition and topic id are
        not (any more) this node's.
        """
        strays = [tp for tp, log in self._logs.items() if not is_wanted(tp, log.topic_id)]
        for tp in strays:
            self.set_aside(tp)
        return strays

    def _rename_away(self, log: Log, suffix: str) -> str | None:
        """The new path, or None when the directory failed over it."""
        log_dir = self.dir_of(log)
        assert log_dir is not None, f"{log.tp} is in no directory"
        path = f"{log_dir.path}/{marked_dir_name(log.tp, self._new_uuid(), suffix)}"
        self._remove(log_dir, log)
        try:
            log.rename_dir(path)
        except (OSError, KafkaError) as error:
            # Whatever the error was: under which name the files are is not known any more.
            self.offline[log.tp] = log_dir.path
            self._fail(log_dir, _os_error_of(error))
            return None
        # Whoever still holds the log must not write to it, nor read from a file that is opened anew.
        log.failure = FileNotFoundError(errno.ENOENT, "the log was deleted", path)
        log.release_files()
        log_dir.names_changed = True  # a new log of the same name must not find this one after a crash
        return path

    def doom_files(self, log: Log) -> None:
        """Notes the files that the log has taken out of use, for removal when their time comes."""
        for file, delete_at_ms in log.take_deleted_files():
            wait_ms = max(0, delete_at_ms - self.clock.now_ms())
            self._doom(self.clock.monotonic_ms() + wait_ms, file)

    def _doom(self, due_ms: float, what: str | File) -> None:
        self._doomed_count += 1
        heapq.heappush(self.doomed, (due_ms, self._doomed_count, what))

    # --- truncation

    def truncate(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Cuts logs back to the offsets, and the recovery points on disk with them: one that lay beyond the
        new end would hide what is written there next from recovery.
        """
        self._truncate(
            {log: offset for tp, offset in offsets.items() if (log := self._logs.get(tp))}, fully=False
        )

    def truncate_fully(self, tp: TopicPartition, start_offset: int) -> None:
        """Empties a log, which then starts at `start_offset`."""
        log = self._logs.get(tp)
        if log is not None:
            self._truncate({log: start_offset}, fully=True)

    def _truncate(self, offsets: Mapping[Log, int], *, fully: bool) -> None:
        touched: dict[LogDir, None] = {}
        for log, offset in offsets.items():
            log_dir = self.dir_of(log)
            if log_dir is None:
                continue  # its directory failed over the truncation of another
            try:
                if fully:
                    log.truncate_fully_and_start_at(offset)
                else:
                    log.truncate_to(offset)
            except KafkaError as error:
                self.storage_failed(log, error)
                raise
            touched[log_dir] = None
        for log_dir in touched:
            if not log_dir.online:
                continue
            try:
                log_dir.write_checkpoint_now(RECOVERY_POINT_CHECKPOINT)
                log_dir.write_checkpoint_now(LOG_START_OFFSET_CHECKPOINT)
                log_dir.write_checkpoint_now(CLEANER_CHECKPOINT)
            except OSError as error:
                self.dir_failed(log_dir, error)
                raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"{log_dir.path}: {error}") from error

    # --- failure of directories

    def storage_failed(self, log: Log, error: BaseException) -> bool:
        """For whoever got an error from a log: takes the directory offline if the error (or its cause) means
        that the disk is broken. True when it did.
        """
        log_dir = self.dir_of(log)
        if log_dir is None:
            return False
        if log.failure is not None:  # nobody knows what its files hold: not even a full disk excuses that
            self._fail(log_dir, log.failure)
            return True
        cause = error if isinstance(error, OSError) else error.__cause__
        return isinstance(cause, OSError) and self.dir_failed(log_dir, cause)

    def fail_dir(self, path: str, error: OSError) -> None:
        """Takes a directory of log.dirs offline with all its logs."""
        for log_dir in self.dirs:
            if log_dir.path == os.path.normpath(path):
                self._fail(log_dir, error)
                return
        raise ValueError(f"{path} is not in log.dirs")

    def dir_failed(self, log_dir: LogDir, error: OSError) -> bool:
        """Takes the directory offline unless the error only says that the disk is full. True when it did."""
        if error.errno in _NO_DIR_FAILURE:
            logger.warning("%s: %s", log_dir.path, error)
            return False
        self._fail(log_dir, error)
        return True

    def _fail(self, log_dir: LogDir, error: OSError) -> None:
        if log_dir.error is not None:
            return
        log_dir.error = error
        lost = list(log_dir.logs)
        logger.error("%s is offline with %d logs: %s", log_dir.path, len(lost), error)
        for log in list(log_dir.logs.values()):
            self.offline[log.tp] = log_dir.path
            self._remove(log_dir, log)
            log.failure = log.failure or error
            log.release_files()
        if self.on_dir_failed is not None:
            self.on_dir_failed(log_dir, lost)

    def check_any_online(self) -> None:
        """Raises AllDirsFailed when no directory is left."""
        if not any(log_dir.online for log_dir in self.dirs):
            reasons = "; ".join(f"{log_dir.path}: {log_dir.error}" for log_dir in self.dirs)
            raise AllDirsFailed(f"every directory of log.dirs has failed ({reasons})")

    @property
    def online_dirs(self) -> list[LogDir]:
        return [log_dir for log_dir in self.dirs if log_dir.online]

    @property
    def directory_ids(self) -> dict[str, bytes]:
        """The ids of the directories that work, by path."""
        return {d.path: d.directory_id for d in self.dirs if d.online and d.directory_id is not None}

    @property
    def previous_broker_epoch(self) -> int:
        """The epoch that the last clean shutdown noted; -1 when any directory had none (as in Kafka)."""
        return min((d.broker_epoch for d in self.dirs if d.online), default=NO_BROKER_EPOCH)

    def describe_dirs(self) -> list[DirDescription]:
        return [self._describe(log_dir) for log_dir in self.dirs]

    def _describe(self, log_dir: LogDir) -> DirDescription:
        if log_dir.online:
            try:
                total_bytes, usable_bytes = self.disk.total_and_usable_bytes(log_dir.path)
            except OSError as error:
                self.dir_failed(log_dir, error)
        if not log_dir.online:
            return DirDescription(log_dir.path, ErrorCode.KAFKA_STORAGE_ERROR, -1, -1, [])
        logs = [
            LogDescription(tp, log.size_bytes, max(0, log.high_watermark - log.log_end_offset), False)
            for tp, log in log_dir.logs.items()
        ]
        return DirDescription(log_dir.path, ErrorCode.NONE, total_bytes, usable_bytes, logs)

    # --- over time, and the end

    def background(self) -> list[Steps[None]]:
        """The tasks that a driver runs from the end of `start` to `shutdown`."""
        return Housekeeping(self).tasks()

    def shutdown(self, broker_epoch: int = NO_BROKER_EPOCH) -> None:
        """Flushes and closes every log, writes the checkpoints and, where all went well, the mark of a clean
        shutdown; gives the locks back. May be called again. A directory that fails here is recovered at the
        next start; the others are not.
        """
        if self.stopped:
            return
        self.stopped = True
        # What was never loaded was not closed either: its mark of a clean shutdown would be a lie.
        for log_dir in self.online_dirs if self.loaded else ():
            try:
                self._close_logs(log_dir)
                for name in CHECKPOINTS:
                    log_dir.write_checkpoint_now(name)
                log_dir.put_clean_shutdown(broker_epoch)
            except (OSError, KafkaError) as error:
                logger.error(
                    "%s was not shut down cleanly, the next start will recover it: %s", log_dir.path, error
                )
        self.unlock()

    def _close_logs(self, log_dir: LogDir) -> None:
        """A close syncs about eight files and names; beyond some logs it is faster to sync the volume."""
        dirty = [log for log in log_dir.logs.values() if log.needs_close]
        if len(dirty) <= CLOSE_ONE_BY_ONE_MAX:
            for log in list(log_dir.logs.values()):
                log.close(self.clock.now_ms())
            return
        for log in dirty:
            log.begin_close()
        self.disk.sync_volume(log_dir.path)
        for log in dirty:
            log.end_close(self.clock.now_ms())
        self.disk.sync_volume(log_dir.path)
        for log in log_dir.logs.values():
            log.release_files()
