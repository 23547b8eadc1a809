"""The metadata log and its quorum: the one door to both for the rest of the broker.

`raft/` decides who leads and what is committed; here its wishes meet the disk, the clock and the network.
After every event (`_event`) what it wants is done: requests go out as tasks, replies to whoever waits for
them, the log is synced off the loop, what was committed is published.

The active controller decides (`metadata/`), the records are appended here and replayed into the controller's
view (`tip`) at once; they become everyone's view (`image`) when a majority has them on stable storage, which
is what "committed" means. Replies wait for that. Several decisions that arrive while a sync runs share the
next one. An append that fails leaves the view as it was; a sync that fails is fatal, because nobody can tell
what is on the disk then. When leadership goes, the tip goes with it, and whoever waited is told. Everybody
else builds the image from the log, and only from what is committed.

A quorum of one is all of this with nobody to ask: it leads as soon as it is open.

Kafka's layout: `__cluster_metadata-0` with the records' own framing, a leader-change control batch at the
beginning of each epoch, snapshots, and `quorum-state`.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from random import Random
from typing import NamedTuple

from ottla.broker import raft_wire
from ottla.broker.image_difference import difference
from ottla.broker.quorum_files import (
    DURABLE_END,
    QUORUM_STATE,
    JoiningNote,
    QuorumStateFile,
    check_durable_part,
    note_durable_end,
)
from ottla.broker.quorum_settings import QuorumSettings, alone
from ottla.broker.raft_log import METADATA_PARTITION, DiskRaftLog
from ottla.broker.raft_snapshots import SnapshotFiles
from ottla.log.log import Log
from ottla.log.meta_properties import read_meta_properties
from ottla.metadata.image import EMPTY_IMAGE, ImageBuilder, ImageDelta, MetadataImage, ReplayError
from ottla.metadata.records import MetadataRecord, decode_record, encode_record
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.limits import DECOMPRESSED_BATCH_BYTES_MAX
from ottla.model.log_config import LogConfig
from ottla.ports.clock import Clock
from ottla.ports.disk import Disk
from ottla.ports.driver import Driver
from ottla.ports.effects import DiskJob, Sleep, Steps, Waiter, run_now
from ottla.ports.peers import Address, Peers, PeerUnavailable
from ottla.raft.log_port import OffsetAndEpoch
from ottla.raft.messages import FetchRequest, Request, Response, SnapshotRequest
from ottla.raft.outbox import Send
from ottla.raft.quorum_state import RaftError
from ottla.raft.raft import Raft
from ottla.raft.roles import Resigned
from ottla.raft.voters import NO_DIRECTORY, ReplicaKey
from ottla.wire.primitives import DecodeError
from ottla.wire.record_batch import (
    CorruptBatch,
    InvalidRecord,
    Record,
    decode_batch,
    encode_batch,
    iter_headers,
)

__all__ = ["COMMIT_TIMEOUT_MS", "DURABLE_END", "METADATA_PARTITION", "QUORUM_STATE", "MetadataQuorum"]

COMMIT_TIMEOUT_MS = 60_000
ASK_TIMEOUT_MS = 60_000
RESIGN_TIMEOUT_MS = 1_000
"""A clean stop waits this long for the voters to hear of it."""

logger = logging.getLogger(__name__)


class _Unpublished(NamedTuple):
    base_offset: int
    end_offset: int
    image: MetadataImage
    delta: ImageDelta
    size_bytes: int


class _Commit:
    """Somebody who waits until everyone here sees what lies below an offset."""

    __slots__ = ("offset", "waiter", "is_lost")

    def __init__(self, offset: int, waiter: Waiter) -> None:
        self.offset = offset
        self.waiter = waiter
        self.is_lost = False


class _Question:
    """A request of another replica, until raft has answered it."""

    __slots__ = ("waiter", "response")

    def __init__(self, deadline_ms: float) -> None:
        self.waiter = Waiter(deadline_ms)
        self.response: Response | None = None


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
        settings: QuorumSettings | None = None,
        peers: Peers | None = None,
        chance: Random | None = None,
        cluster_id: Callable[[], str] = lambda: "",
        on_active: Callable[[], None] = lambda: None,
        on_inactive: Callable[[], None] = lambda: None,
        on_leader: Callable[[], None] = lambda: None,
    ) -> None:
        """Without `settings` this node is its whole quorum. `on_active` is called whenever this node becomes
        the active controller, at the end of `open` too; `on_inactive` when it is not any more; `on_leader`
        when another leader than before is known.
        """
        self.image = EMPTY_IMAGE
        self.tip = self.image
        self.is_active = False
        """This node leads, and everything from before its epoch is committed and in `tip`."""
        self.settings = settings or alone(node_id)
        self._disk = disk
        self._clock = clock
        self._driver = driver
        self._log_dir = log_dir
        self._dir = f"{log_dir}/{METADATA_PARTITION}"
        self._node_id = node_id
        self._config = config
        self._publish = publish
        self._fatal = fatal
        self._peers = peers
        self._chance = chance or Random(node_id)
        self._cluster_id = cluster_id
        self._refusals: dict[Address, ErrorCode] = {}
        """What each node that was asked said last; NONE also of those that cannot be reached."""
        self.leader_heard_ms = inf
        """When a fetch was last answered to this node; inf before that."""
        self._on_active = on_active
        self._on_inactive = on_inactive
        self._on_leader = on_leader
        self._known_leader_id = -1
        self._raft: Raft | None = None
        self._raft_log: DiskRaftLog | None = None
        self._joining: JoiningNote | None = None
        self._active_epoch = -1
        self._applied = 0
        """Everything below is in `image`."""
        self._published = 0
        """And everybody here has taken notice of what lies below."""
        self._unpublished: deque[_Unpublished] = deque()
        self._commits: list[_Commit] = []
        self._watchers: list[Waiter] = []
        self._installed: OffsetAndEpoch | None = None
        self._syncing = False
        self._publishing = False
        self._snapshotting = False
        self._bytes_since_snapshot = 0
        self._snapshot_ms = 0.0
        self._snapshot_times_ms: dict[int, float] = {}
        self._timer: Waiter | None = None
        self._started = False
        self._closed = False

    # --- what it is ---------------------------------------------------------------------------------------

    @property
    def log(self) -> Log:
        assert self._raft_log is not None, "the metadata log is not open"
        return self._raft_log.log

    @property
    def raft(self) -> Raft:
        assert self._raft is not None, "the metadata log is not open"
        return self._raft

    @property
    def offset(self) -> int:
        """The offset of the last record in `image`."""
        return self._applied - 1

    @property
    def epoch(self) -> int:
        return 0 if self._raft is None else self._raft.epoch

    @property
    def leader_id(self) -> int:
        """-1 when it is not known."""
        return -1 if self._raft is None else self._raft.leader_id

    def controller_address(self) -> Address | None:
        """The active controller's listener."""
        return None if self._raft is None or self.leader_id < 0 else self._raft.leader_address

    @property
    def is_voter(self) -> bool:
        return self._raft is not None and self._raft.state.is_voter

    # --- start and end ------------------------------------------------------------------------------------

    def open(self) -> None:
        """Recovers the log and begins to take part. A quorum of one leads when this returns, and has replayed
        everything; others have what the newest snapshot says, and learn from the leader what is committed.

        A torn tail of the log is cut off; damage below what was once durable is no torn tail: nothing is
        touched then.
        """
        now_ms = self._clock.now_ms()
        settings = self.settings
        meta = read_meta_properties(self._disk, self._log_dir)
        directory_id = NO_DIRECTORY if meta is None else meta.directory_id or NO_DIRECTORY
        if not self._disk.is_dir(self._dir):
            self._disk.make_dirs(self._dir)
        self._disk.sync_dir(self._log_dir)  # whatever is durable in the directory, its name has to be, too
        snapshots = SnapshotFiles(self._disk, self._dir)
        snapshots.load()
        newest = snapshots.newest
        check_durable_part(self._disk, self._dir, 0 if newest is None else newest.offset)
        self._raft_log = raft_log = DiskRaftLog(self._disk, self._dir, self._config, self._clock.now_ms)
        store = QuorumStateFile(self._disk, self._dir, self._static_voter_ids)
        self._raft = raft = Raft(
            ReplicaKey(self._node_id, directory_id),
            raft_log,
            store,
            self._chance,
            settings=settings.raft,
            static_voters=settings.voters,
            endpoints=settings.endpoints,
            bootstrap=settings.bootstrap,
            can_vote=settings.is_controller,
        )
        self._note_joining(store)
        newest = raft_log.latest_snapshot()
        if newest is not None:
            builder = ImageBuilder(EMPTY_IMAGE)
            builder.replay_all(raft_log.snapshots.records(newest))
            self.image, _ = builder.build(newest.offset - 1)
            self._applied = newest.offset
            self._snapshot_times_ms = {each.offset: self._clock.monotonic_ms() for each in snapshots.sizes}
        self._snapshot_ms = self._clock.monotonic_ms()
        self._bytes_since_snapshot = raft_log.log.size_bytes
        raft.start(self._clock.monotonic_ms())
        # What a start finds may be in the page cache only, and a fetch would claim more. A quorum of one has
        # begun its epoch with this, and everything is committed.
        raft_log.log.flush(now_ms)
        raft.synced(self._clock.monotonic_ms())
        self._applied_from_log()
        self._published = self._applied
        self.tip = self.image
        note_durable_end(self._disk, self._dir, min(raft.high_watermark, raft_log.synced_offset))
        self._maybe_activate()

    def _static_voter_ids(self) -> list[int] | None:
        if self._raft is not None and self._raft.state.history.kraft_version >= 1:
            return None
        return [voter.key.node_id for voter in self.settings.voters]

    def _note_joining(self, store: QuorumStateFile) -> None:
        """A voter that finds nothing may be a new one, or one whose disk was replaced."""
        assert self._raft_log is not None
        self._joining = JoiningNote(self._disk, self._dir)
        others = len(self.settings.voters) > 1
        is_empty = self._raft_log.end_offset == 0 and self._raft_log.latest_snapshot() is None
        if others and is_empty and not self._joining.is_there and not store.exists:
            self._joining.write()
        self.raft.may_vote = not self._joining.is_there

    def start(self) -> None:
        """From now on time counts, and other nodes are called."""
        if not self._started:
            self._started = True
            self._driver.spawn(self._ticking(), "metadata quorum")
            self._after_event()

    def resign(self) -> Steps[None]:
        """Before a clean stop: the voters are told that they need another leader, and have a moment to hear
        it.
        """
        if self._raft is None or self._closed:
            return
        self._event(lambda raft: raft.resign(self._clock.monotonic_ms()))
        deadline_ms = self._clock.monotonic_ms() + RESIGN_TIMEOUT_MS
        while self._clock.monotonic_ms() < deadline_ms:
            role = self.raft.state.role
            if not isinstance(role, Resigned) or not role.unheard:
                break
            yield Sleep(10)

    def close(self) -> None:
        self._closed = True
        if self._timer is not None:
            self._timer.fire()
        if self._raft_log is not None:
            log = self._raft_log.log
            log.close(self._clock.now_ms())
            note_durable_end(self._disk, self._dir, min(self.raft.high_watermark, log.recovery_point))

    # --- committing ---------------------------------------------------------------------------------------

    def commit(self, records: Sequence[MetadataRecord]) -> Steps[None]:
        """Appends the records as one batch, atomic on disk, and returns when everyone here sees them.

        A decision without records was made on the newest state all the same (a topic that "exists already"
        may be one that a crash can still undo), so it waits for what was appended before it.

        Raises KafkaError: KAFKA_STORAGE_ERROR when they could not be appended, and nothing has changed then;
        NOT_CONTROLLER when this node is not the active controller, or ceased to be before they were
        committed; REQUEST_TIMED_OUT when nobody has answered yet. After the last two nobody knows.
        """
        if not self.is_active:
            raise self._not_controller()
        if records:
            self.append(records)
        elif self._published >= self.log.log_end_offset:
            return
        waiter = Waiter(self._clock.monotonic_ms() + COMMIT_TIMEOUT_MS)
        commit = _Commit(self.log.log_end_offset, waiter)
        self._commits.append(commit)
        self._sync_soon()
        if not (yield waiter):
            raise KafkaError(
                ErrorCode.REQUEST_TIMED_OUT, f"the metadata log was not synced in {COMMIT_TIMEOUT_MS} ms"
            )
        if commit.is_lost:
            raise self._not_controller()

    def append(self, records: Sequence[MetadataRecord]) -> None:
        """Appends and replays into `tip`; whoever calls this sees to the sync."""
        if not self.is_active:
            raise self._not_controller()
        log = self.log
        base_offset = log.log_end_offset
        now_ms = self._clock.now_ms()
        metadata_version = self.tip.metadata_version
        batch = encode_batch(
            [Record(0, now_ms, None, encode_record(each, metadata_version)) for each in records],
            base_offset=base_offset,
            leader_epoch=self.raft.epoch,
        )
        self.raft.append(batch, self._clock.monotonic_ms())
        builder = ImageBuilder(self.tip)
        builder.replay_all(records)
        self.tip, delta = builder.build(log.log_end_offset - 1)
        self._unpublished.append(_Unpublished(base_offset, log.log_end_offset, self.tip, delta, len(batch)))
        if self._started:
            self._after_event(sync=False)  # followers that waited for something new

    def commit_now(self, records: Sequence[MetadataRecord]) -> None:
        """For the start of a quorum of one, when nobody is served yet: append, sync, publish in one go."""
        if records:
            self.append(records)
            self.log.flush(self._clock.now_ms())
            self.raft.synced(self._clock.monotonic_ms())
            run_now(self._publish_committed())

    def _not_controller(self) -> KafkaError:
        return KafkaError(ErrorCode.NOT_CONTROLLER, "this node is not the active controller")

    def caught_up(self, deadline_ms: float) -> Steps[bool]:
        """Waits until `image` has reached a high watermark that the current leader told."""
        while not self.is_caught_up:
            watcher = Waiter(deadline_ms)
            self._watchers.append(watcher)
            if not (yield watcher):
                return self.is_caught_up
        return True

    @property
    def is_caught_up(self) -> bool:
        return self._raft is not None and 0 <= self._raft.leader_high_watermark <= self._published

    # --- other replicas -----------------------------------------------------------------------------------

    def ask(self, request: Request) -> Steps[Response]:
        """What raft answers to a request of another replica, perhaps after a while."""
        question = _Question(self._clock.monotonic_ms() + ASK_TIMEOUT_MS)
        self._event(lambda raft: raft.handle(question, request, self._clock.monotonic_ms()))
        if question.response is None and not (yield question.waiter):
            raise KafkaError(ErrorCode.REQUEST_TIMED_OUT)
        assert question.response is not None
        return question.response

    def _send(self, send: Send) -> Steps[None]:
        peers = self._peers
        response: Response | None = None
        if peers is not None:
            message, version = raft_wire.request_message(send.request, self._cluster_id())
            # A fetch may wait long; a vote must not wait behind it.
            lane = "quorum-fetch" if isinstance(send.request, FetchRequest | SnapshotRequest) else "quorum"
            try:
                answer = yield from peers.call(
                    send.address, message, version, lane=lane, timeout_ms=send.timeout_ms
                )
                response = raft_wire.response_of(send.request, answer)
                self._answered(send, ErrorCode.NONE if response is not None else ErrorCode(answer.error_code))
            except PeerUnavailable:
                self._refusals.setdefault(send.address, ErrorCode.NONE)
        now_ms = self._clock.monotonic_ms()
        if response is not None and isinstance(send.request, FetchRequest):
            self.leader_heard_ms = now_ms
        if response is None:
            self._event(lambda raft: raft.failed(send.number, now_ms))
        else:
            answered = response
            self._event(lambda raft: raft.response(send.number, answered, now_ms))

    def _answered(self, send: Send, code: ErrorCode) -> None:
        if code and self._refusals.get(send.address) != code:
            logger.warning(
                "the node at %s refuses %s: %s", send.address, type(send.request).__name__, code.name
            )
        self._refusals[send.address] = code

    @property
    def is_of_another_cluster(self) -> bool:
        """Whether every node that this one asks says so."""
        codes = self._refusals.values()
        return bool(codes) and all(code == ErrorCode.INCONSISTENT_CLUSTER_ID for code in codes)

    def _ticking(self) -> Steps[None]:
        while not self._closed:
            self._timer = timer = Waiter(self.raft.next_deadline_ms())
            if not (yield timer):
                self._event(lambda raft: raft.tick(self._clock.monotonic_ms()))

    def _event(self, action: Callable[[Raft], None], *, publish: bool = True) -> None:
        if self._closed:
            return
        try:
            action(self.raft)
        except (RaftError, OSError, KafkaError, DecodeError, CorruptBatch, InvalidRecord) as error:
            self._closed = True
            self._fatal(error)
            return
        self._after_event(publish=publish)

    def _after_event(self, *, sync: bool = True, publish: bool = True) -> None:
        """Does what raft wants after something happened to it."""
        raft = self.raft
        ready = raft.take_ready()
        for reply in ready.replies:
            reply.token.response = reply.response
            reply.token.waiter.fire()
        if ready.installed is not None:
            self._installed = ready.installed
        self._note_leadership()
        if raft.leader_id not in (-1, self._known_leader_id):
            self._known_leader_id = raft.leader_id
            self._on_leader()
        if not self._started:
            return
        for send in ready.sends:
            self._driver.spawn(self._send(send), "a request of the metadata quorum")
        if ready.wants_sync and sync:
            self._sync_soon()
        if raft.high_watermark > self._applied or self._installed is not None:
            if publish:
                self._publish_soon()
        elif self._watchers:
            self._wake_watchers()
        if not self.is_active:
            self._maybe_activate()
        if self._joining is not None and self._joining.is_there and self._has_joined():
            self._joining.remove()
            raft.may_vote = True
        if self._timer is not None and raft.next_deadline_ms() < self._timer.deadline_ms:
            self._timer.fire()

    def _has_joined(self) -> bool:
        """Whether this replica has everything that was committed when a leader last said so."""
        raft, log = self.raft, self.log
        return 0 < raft.leader_high_watermark <= log.recovery_point and raft.high_watermark > 0

    # --- leadership ---------------------------------------------------------------------------------------

    def _note_leadership(self) -> None:
        raft = self.raft
        if not self.is_active or (raft.is_leader and raft.epoch == self._active_epoch):
            return
        self.is_active = False
        committed = raft.high_watermark
        while self._unpublished and self._unpublished[-1].end_offset > committed:
            self._unpublished.pop()
        self.tip = self._unpublished[-1].image if self._unpublished else self.image
        still = []
        for commit in self._commits:
            if commit.offset > committed:
                commit.is_lost = True
                commit.waiter.fire()
            else:
                still.append(commit)
        self._commits = still
        logger.info("node %d is not the active controller any more", self._node_id)
        self._on_inactive()

    def _maybe_activate(self) -> None:
        """A leader that has applied everything from before its epoch decides from now on."""
        leader = self.raft.leader
        if leader is None or self._published <= leader.epoch_start_offset or self._unpublished:
            return
        self._active_epoch = self.raft.epoch
        self.tip = self.image
        self.is_active = True
        self._on_active()

    # --- sync and publish ---------------------------------------------------------------------------------

    def _sync_soon(self) -> None:
        if not self._syncing:
            self._syncing = True
            self._driver.spawn(self._sync(), "metadata sync")

    def _sync(self) -> Steps[None]:
        log = self.log
        try:
            while not self._closed and log.recovery_point < log.log_end_offset:
                ticket = log.begin_flush()
                if ticket is not None:
                    try:
                        yield DiskJob(ticket.run)
                    finally:
                        log.end_flush(ticket, self._clock.now_ms())
                self._event(lambda raft: raft.synced(self._clock.monotonic_ms()), publish=False)
                if not self._publishing:
                    yield from self._publish_committed()
        except (OSError, KafkaError) as error:
            self._fatal(error)
        finally:
            self._syncing = False

    def _publish_soon(self) -> None:
        if not self._publishing:
            self._publishing = True
            self._driver.spawn(self._publish_in_background(), "metadata publication")

    def _publish_in_background(self) -> Steps[None]:
        try:
            yield from self._publish_committed()
        except (OSError, KafkaError, ReplayError, DecodeError) as error:
            self._fatal(error)

    def _publish_committed(self) -> Steps[None]:
        """Publishes what is committed, in order; one of these runs at a time."""
        self._publishing = True
        try:
            while not self._closed:
                if self._installed is not None:
                    yield from self._publish_snapshot(self._installed)
                committed = min(self.raft.high_watermark, self.log.log_end_offset)
                if self._applied >= committed:
                    break
                first = self._unpublished[0] if self._unpublished else None
                if first is not None and first.base_offset == self._applied:
                    if first.end_offset > committed:
                        break
                    self._unpublished.popleft()
                    self.image, delta, self._applied = first.image, first.delta, first.end_offset
                    self._bytes_since_snapshot += first.size_bytes
                else:
                    upto = committed if first is None else min(committed, first.base_offset)
                    delta = self._apply_chunk(upto)
                if not self.is_active:
                    self.tip = self._unpublished[-1].image if self._unpublished else self.image
                yield from self._publish(self.image, delta)
                self._wake()
        finally:
            self._publishing = False
        if not self.is_active and self._raft is not None:
            self._maybe_activate()
        self._maybe_snapshot()

    def _wake(self) -> None:
        """Everything that is applied is published now."""
        self._published = published = self._applied
        still = []
        for commit in self._commits:
            if commit.offset <= published:
                commit.waiter.fire()
            else:
                still.append(commit)
        self._commits = still
        self._wake_watchers()

    def _wake_watchers(self) -> None:
        if self._watchers and self.is_caught_up:
            watchers, self._watchers = self._watchers, []
            for watcher in watchers:
                watcher.fire()

    def _apply_chunk(self, upto: int) -> ImageDelta:
        """Replays the next megabyte of the log, up to an offset, into `image`."""
        assert self._raft_log is not None
        data = next(self._raft_log.chunks(self._applied, upto))
        builder = ImageBuilder(self.image)
        builder.replay_all(_records_in(data, self._applied))
        end = max(header.next_offset for _, header in iter_headers(data, 0, len(data)))
        self.image, delta = builder.build(end - 1)
        self._applied = end
        self._bytes_since_snapshot += len(data)
        return delta

    def _applied_from_log(self) -> None:
        """At the start: everything that is known to be committed."""
        while self._applied < self.raft.high_watermark:
            self._apply_chunk(self.raft.high_watermark)

    def _publish_snapshot(self, snapshot: OffsetAndEpoch) -> Steps[None]:
        """A snapshot from the leader took the place of the log."""
        assert self._raft_log is not None
        self._installed = None
        if snapshot.offset <= self._applied:
            return
        builder = ImageBuilder(EMPTY_IMAGE)
        builder.replay_all(self._raft_log.snapshots.records(snapshot))
        before = self.image
        self.image, _ = builder.build(snapshot.offset - 1)
        self._applied = snapshot.offset
        self._bytes_since_snapshot = 0
        self._snapshot_times_ms = {snapshot.offset: self._clock.monotonic_ms()}
        self.tip = self.image
        yield from self._publish(self.image, difference(before, self.image))
        self._wake()

    # --- snapshots ----------------------------------------------------------------------------------------

    def _maybe_snapshot(self) -> None:
        settings = self.settings
        if self._snapshotting or self._closed or not self._started:
            return
        newest = self.raft.state.log.latest_snapshot()
        if self._applied <= (0 if newest is None else newest.offset):
            return
        now_ms = self._clock.monotonic_ms()
        is_due = self._bytes_since_snapshot >= settings.snapshot_bytes or (
            0 < settings.snapshot_interval_ms <= now_ms - self._snapshot_ms
        )
        if is_due:
            self._snapshotting = True
            self._driver.spawn(self._write_snapshot(), "metadata snapshot")

    def take_snapshot(self) -> Steps[None]:
        """Writes a snapshot of the image as it is now, whatever its triggers say."""
        if not self._snapshotting:
            self._snapshotting = True
            yield from self._write_snapshot()

    def _write_snapshot(self) -> Steps[None]:
        raft_log = self._raft_log
        assert raft_log is not None
        image, offset = self.image, self._applied
        epoch = raft_log.log.epochs.epoch_for_offset(offset - 1)
        voters, kraft_version = self.raft.state.history.at(offset)
        snapshot = OffsetAndEpoch(offset, max(epoch, 0))
        self._bytes_since_snapshot = 0
        self._snapshot_ms = self._clock.monotonic_ms()
        try:
            if snapshot not in raft_log.snapshots.sizes:
                yield from raft_log.snapshots.write_steps(
                    snapshot,
                    image,
                    voters,
                    kraft_version,
                    now_ms=self._clock.now_ms(),
                    log_timestamp=self._clock.now_ms(),
                )
                self._snapshot_times_ms[offset] = self._clock.monotonic_ms()
                raft_log.log.roll(self._clock.now_ms())  # so that what lies below it can go one day
            now_ms = self._clock.monotonic_ms()
            raft_log.clean(
                self.settings.retention_bytes,
                self.settings.retention_ms,
                {at: int(now_ms - since_ms) for at, since_ms in self._snapshot_times_ms.items()},
            )
            self.raft.state.history.truncate_from_start(raft_log.start_offset)
        except (OSError, KafkaError) as error:
            # The log has everything; a disk that is full has no room for a snapshot either.
            logger.error("no snapshot of the metadata at %d: %s", offset, error)
        finally:
            self._snapshotting = False

    # --- reading ------------------------------------------------------------------------------------------

    def _read_records(self) -> Iterable[MetadataRecord]:
        """All records of the log, as it is."""
        assert self._raft_log is not None
        offset = self.log.log_start_offset
        for data in self._raft_log.chunks(offset, self.log.log_end_offset):
            yield from _records_in(data, offset)


def _records_in(data: bytes, offset: int) -> Iterator[MetadataRecord]:
    """The metadata records of some batches, from an offset on; control batches are consensus's."""
    for position, header in iter_headers(data, 0, len(data)):
        if header.is_control or header.next_offset <= offset:
            continue
        batch = memoryview(data)[position : position + header.size_bytes]
        for record in decode_batch(batch, decompressed_bytes_max=DECOMPRESSED_BATCH_BYTES_MAX):
            if record.value is not None:
                yield decode_record(record.value)
