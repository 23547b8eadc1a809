"""The metadata log of a quorum of one: append, sync, publish.

The active controller decides (`metadata/`), the records are appended here and replayed into the
controller's view (`tip`) at once; they become everyone's view (`image`) when they are on stable storage,
which for a quorum of one is what "committed" means. Replies wait for that. Several decisions that arrive
while a sync runs share the next one. An append that fails leaves the view as it was; a sync that fails is
fatal, because nobody can tell what is on the disk then.

Kafka's layout: `__cluster_metadata-0` with the records' own framing, a leader-change control batch at the
beginning of each epoch, and `quorum-state`.
"""

from __future__ import annotations

import errno
import json
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from ottla.log.append_origin import AppendOrigin
from ottla.log.file_names import LOG_SUFFIX
from ottla.log.log import Log
from ottla.metadata.image import EMPTY_IMAGE, ImageBuilder, ImageDelta, MetadataImage
from ottla.metadata.records import MetadataRecord, decode_record, encode_record
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.limits import DECOMPRESSED_BATCH_BYTES_MAX
from ottla.model.log_config import LogConfig
from ottla.model.types import METADATA_TOPIC, METADATA_TOPIC_ID, TopicPartition
from ottla.ports.clock import Clock
from ottla.ports.disk import Disk
from ottla.ports.driver import Driver
from ottla.ports.effects import DiskJob, Steps, Waiter, run_now
from ottla.wire.record_batch import (
    CorruptBatch,
    LeaderChange,
    Record,
    Voter,
    check_crc,
    decode_batch,
    encode_batch,
    encode_leader_change_batch,
    iter_headers,
)

QUORUM_STATE = "quorum-state"
DURABLE_END = "ottla-durable-end"
"""The log's end when it was last known to be on stable storage, written at start and at a clean stop."""
METADATA_PARTITION = TopicPartition(METADATA_TOPIC, 0)
READ_BYTES = 4 * 1024 * 1024
COMMIT_TIMEOUT_MS = 60_000


class MetadataQuorum:
    def __init__(
        self,
        disk: Disk,
        clock: Clock,
        driver: Driver,
        log_dir: str,
        node_id: int,
        *,
        config: LogConfig,
        publish: Callable[[MetadataImage, ImageDelta], Steps[None]],
        fatal: Callable[[BaseException], None],
    ) -> None:
        self.image = EMPTY_IMAGE
        self.tip = self.image
        self.epoch = 0
        self._disk = disk
        self._clock = clock
        self._driver = driver
        self._dir = f"{log_dir}/{METADATA_PARTITION}"
        self._node_id = node_id
        self._config = config
        self._publish = publish
        self._fatal = fatal
        self._log: Log | None = None
        self._unpublished: deque[tuple[int, MetadataImage, ImageDelta]] = deque()  # by end offset
        self._waiters: list[tuple[int, Waiter]] = []
        self._syncing = False

    @property
    def log(self) -> Log:
        assert self._log is not None, "the metadata log is not open"
        return self._log

    @property
    def offset(self) -> int:
        """The offset of the last record in `image`."""
        return self.log.high_watermark - 1

    def open(self) -> None:
        """Recovers the log, replays it whole, and begins a new epoch with this node as the leader.

        The log is always scanned (never trusted to a clean shutdown): it is small, and everything hangs on
        it. A torn tail is cut off; damage below what was once durable is no torn tail: nothing is touched.
        """
        now_ms = self._clock.now_ms()
        self._check_durable_part()
        self._log = log = Log.open(
            self._disk,
            self._dir,
            METADATA_PARTITION,
            self._config,
            now_ms=now_ms,
            clean_shutdown=False,
            topic_id=METADATA_TOPIC_ID,
        )
        builder = ImageBuilder(self.image)
        builder.replay_all(self._read_records())
        self.image, _ = builder.build(log.log_end_offset - 1)
        self.tip = self.image
        self.epoch = max(log.latest_epoch, self._read_quorum_epoch()) + 1
        self._write_quorum_state()
        me = Voter(self._node_id)
        log.append_as_leader(
            encode_leader_change_batch(
                LeaderChange(self._node_id, (me,), (me,)),
                timestamp=now_ms,
                base_offset=log.log_end_offset,
                leader_epoch=self.epoch,
            ),
            self.epoch,
            now_ms,
            origin=AppendOrigin.RAFT_LEADER,
        )
        log.flush(now_ms)
        log.update_high_watermark(log.log_end_offset)
        self._note_durable_end()

    def commit(self, records: Sequence[MetadataRecord]) -> Steps[None]:
        """Appends the records as one batch, atomic on disk, and returns when everyone sees them.

        A decision without records was made on the newest state all the same (a topic that "exists already"
        may be one that a crash can still undo), so it waits for what was appended before it.

        Raises KafkaError(KAFKA_STORAGE_ERROR) when they could not be appended; nothing has changed then.
        REQUEST_TIMED_OUT says that nobody knows: the disk has not answered yet.
        """
        if records:
            self.append(records)
        elif not self._syncing:
            return
        waiter = Waiter(self._clock.monotonic_ms() + COMMIT_TIMEOUT_MS)
        self._waiters.append((self.log.log_end_offset, waiter))
        self._sync_soon()
        if not (yield waiter):
            raise KafkaError(
                ErrorCode.REQUEST_TIMED_OUT, f"the metadata log was not synced in {COMMIT_TIMEOUT_MS} ms"
            )

    def append(self, records: Sequence[MetadataRecord]) -> None:
        """Appends and replays into `tip`; whoever calls this sees to the sync."""
        log = self.log
        now_ms = self._clock.now_ms()
        metadata_version = self.tip.metadata_version
        log.append_as_leader(
            encode_batch(
                [Record(0, now_ms, None, encode_record(each, metadata_version)) for each in records],
                base_offset=log.log_end_offset,
                leader_epoch=self.epoch,
            ),
            self.epoch,
            now_ms,
            origin=AppendOrigin.RAFT_LEADER,
        )
        builder = ImageBuilder(self.tip)
        builder.replay_all(records)
        self.tip, delta = builder.build(log.log_end_offset - 1)
        self._unpublished.append((log.log_end_offset, self.tip, delta))

    def commit_now(self, records: Sequence[MetadataRecord]) -> None:
        """For the start, when nobody is served yet: append, sync and publish in one go."""
        if records:
            self.append(records)
            self.log.flush(self._clock.now_ms())
            run_now(self._committed(self.log.log_end_offset))

    def close(self) -> None:
        if self._log is not None:
            self._log.close(self._clock.now_ms())
            self._note_durable_end()

    def _note_durable_end(self) -> None:
        """Writes down how far the log is durable, for the check of the next start."""
        self._disk.write_file_atomic(f"{self._dir}/{DURABLE_END}", b"%d\n" % self.log.log_end_offset)

    def _check_durable_part(self) -> None:
        """Refuses a log that is damaged, or cut, below its noted end: replaying the rest of it would forget
        topics, and their data would be set aside.
        """
        try:
            noted = int(self._disk.read_file(f"{self._dir}/{DURABLE_END}"))
        except (FileNotFoundError, ValueError):
            return
        end = 0
        name = ""
        try:
            for name in self._disk.list_dir(self._dir):
                if name.endswith(LOG_SUFFIX):
                    data = self._disk.read_file(f"{self._dir}/{name}")
                    position = 0
                    while position < len(data) and end < noted:
                        header = check_crc(data, position, len(data))
                        position += header.size_bytes
                        end = header.next_offset
        except CorruptBatch:
            pass
        if end < noted:
            raise OSError(
                errno.EIO,
                f"the metadata log is damaged behind offset {end}, but was once whole up to {noted}; nothing "
                f"was changed: restore {self._dir} from a copy, or remove {DURABLE_END} in it to go on with "
                "what is left",
                f"{self._dir}/{name}",
            )

    # --- sync and publish ---------------------------------------------------------------------------------

    def _sync_soon(self) -> None:
        if not self._syncing:
            self._syncing = True
            self._driver.spawn(self._sync(), "metadata sync")

    def _sync(self) -> Steps[None]:
        log = self.log
        try:
            while self._unpublished:
                ticket = log.begin_flush()
                upto = log.log_end_offset
                if ticket is not None:
                    try:
                        yield DiskJob(ticket.run)
                    finally:
                        log.end_flush(ticket, self._clock.now_ms())
                yield from self._committed(upto)
        except (OSError, KafkaError) as error:
            self._fatal(error)
        finally:
            self._syncing = False

    def _committed(self, upto: int) -> Steps[None]:
        self.log.update_high_watermark(upto)
        while self._unpublished and self._unpublished[0][0] <= upto:
            _, self.image, delta = self._unpublished.popleft()
            yield from self._publish(self.image, delta)
        still: list[tuple[int, Waiter]] = []
        for offset, waiter in self._waiters:
            if offset <= upto:
                waiter.fire()
            else:
                still.append((offset, waiter))
        self._waiters = still

    # --- reading ------------------------------------------------------------------------------------------

    def _read_records(self) -> Iterable[MetadataRecord]:
        log = self.log
        offset = log.log_start_offset
        while offset < log.log_end_offset:
            found = log.read(offset, READ_BYTES, upto_offset=log.log_end_offset, min_one_batch=True)
            before = offset
            if found.slice is None:
                break
            try:
                data = found.slice.read()
            finally:
                found.slice.release()
            for position, header in iter_headers(data, 0, len(data)):
                if header.next_offset <= offset:
                    continue
                if position + header.size_bytes > len(data):
                    break
                offset = header.next_offset
                if header.is_control:
                    continue
                for record in decode_batch(
                    data, position, decompressed_bytes_max=DECOMPRESSED_BATCH_BYTES_MAX
                ):
                    if record.value is not None:
                        yield decode_record(record.value)
            if offset == before:
                break
        if offset < log.log_end_offset:
            # A part of the metadata would be served as the whole: topics would be missing.
            raise OSError(errno.EIO, f"the metadata log cannot be read past offset {offset}", self._dir)

    def _read_quorum_epoch(self) -> int:
        try:
            state = json.loads(self._disk.read_file(f"{self._dir}/{QUORUM_STATE}"))
            return int(state["leaderEpoch"])
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return 0

    def _write_quorum_state(self) -> None:
        state = {
            "leaderId": self._node_id,
            "leaderEpoch": self.epoch,
            "votedId": -1,
            "currentVoters": [{"voterId": self._node_id}],
            "data_version": 0,
        }
        data = json.dumps(state, separators=(",", ":")).encode()
        self._disk.write_file_atomic(f"{self._dir}/{QUORUM_STATE}", data)
