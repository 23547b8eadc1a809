"""Reading ahead: records of the assigned partitions are fetched before somebody asks for them.

Part of the core. The caller assigns, seeks, pauses, and takes what is there (`take`, `take_columns`); it
waits on `arrived` when nothing is. Meanwhile one task per broker fetches (`BrokerFetches`), and
`PositionKeeper` finds positions and checks them. What they meet is kept for `take` to raise: Kafka's rules
decide which errors pass by themselves and which the caller has to know.

Work is done where something changes: a partition with nothing new costs nothing, neither here nor in a
request. Every change of a partition (position, pause, leader, failure) ends in `_place`, which decides which
broker's fetches it belongs to.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from ottla.client.backoff import Backoff
from ottla.client.consuming.broker_fetches import BrokerFetches
from ottla.client.consuming.fetch_answers import FetchAnswers
from ottla.client.consuming.fetch_buffer import FetchBuffer, FetchedColumns
from ottla.client.consuming.fetch_metrics import FetchMetrics
from ottla.client.consuming.offset_lookup import OffsetLookup
from ottla.client.consuming.position_keeper import PositionKeeper
from ottla.client.consuming.positions import NO_NODE, FetchState, PartitionState, Position, Positions
from ottla.client.consuming.reset_policy import ResetPolicy
from ottla.client.effects import ClientSteps, Pause, Signal, Task, Wait
from ottla.client.errors import IllegalState, InvalidArgument, NoOffset, OttlaError
from ottla.client.records import OffsetAndMetadata
from ottla.model.types import NO_TOPIC_ID, TopicPartition

if TYPE_CHECKING:
    from ottla.client.consuming.decode import Decoder
    from ottla.client.records import ConsumerRecord
    from ottla.client.session import Session
    from ottla.client.settings import ConsumerSettings
    from ottla.wire.messages.fetch import FetchResponse

logger = logging.getLogger("ottla.client")

LOOKUP_LANE: Final = 1
"""The connection that the group's heartbeats and commits use, too."""

CLOSE_TIMEOUT_MS: Final = 1_000
"""How long `close` waits for brokers to confirm that sessions have ended; they forget them anyway."""


class Fetcher:
    def __init__(self, session: Session, settings: ConsumerSettings, decoder: Decoder) -> None:
        self._session = session
        self._settings = settings
        self._clock = session.host.clock
        self._read_committed = settings.isolation_level == "read_committed"
        self.policy = ResetPolicy.parse(settings.auto_offset_reset)
        self.arrived = Signal()
        """Records, or an error for `take` to raise, are there; also, a position was found."""
        self.lookup = OffsetLookup(session, read_committed=self._read_committed, lane=self._lane)
        self._positions = Positions()
        self._metrics = FetchMetrics(session.metrics, self._positions, self._read_committed)
        self._buffer = FetchBuffer(
            self._positions,
            refetch=self._place,
            room=self._room,
            consumed=self._metrics.consumed,
            used_up=self._metrics.used_up,
        )
        self._keeper = PositionKeeper(
            session,
            self._positions,
            self.lookup,
            self.policy,
            placed=self._place,
            unbuffer=lambda state: self._buffer.drop([state]),
            failed=self._fail,
            found=self.arrived.notify,
        )
        self._answers = FetchAnswers(
            session,
            settings,
            decoder,
            self._positions,
            self._buffer,
            self._keeper,
            self.policy,
            self._metrics,
            place=self._place,
            fail=self._fail,
        )
        self._brokers: dict[int, BrokerFetches] = {}
        self._failures: dict[object, OttlaError] = {}
        """What `take` has to raise, by what it is about: a partition, a topic, a broker."""
        self._put_off = False
        """Whether a take has given records in the place of a failure: the next one raises it."""
        self._started = False
        self._closed = False

    # -- what is assigned, and where it stands --

    def assignment(self) -> set[TopicPartition]:
        return set(self._positions.partitions)

    def is_assigned(self, tp: TopicPartition) -> bool:
        return tp in self._positions.partitions

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Makes the assignment exactly this. Partitions that stay keep position and buffer."""
        new, gone = self._positions.assign(partitions)
        self._buffer.drop(gone)
        for state in gone:
            self._leave(state)
            self._metrics.revoked(state)
            self._failures.pop(state.tp, None)
        topics = {tp.topic for tp in self._positions.partitions}
        for key in [key for key in self._failures if isinstance(key, str) and key not in topics]:
            del self._failures[key]
        if new:
            self._session.metadata.want({state.tp.topic for state in new})
        for state in new:
            self._metrics.assigned(state)
            self._keeper.acquaint(state)

    def seek(self, tp: TopicPartition, offset: int, leader_epoch: int = -1) -> None:
        """Reads on from an offset. With the epoch of the record before it (a committed one has it), the
        leader is asked first whether its log still contains that.
        """
        if offset < 0:
            raise InvalidArgument(f"{tp}: {offset} is not an offset")
        state = self._assigned(tp)
        self._begin_anew(state)
        state.topic_id = NO_TOPIC_ID  # whatever the topic is now, that is the place to go on
        self._positions.seek(state, Position(offset, leader_epoch, *self._keeper.leader_of(tp)))
        self._keeper.acquaint(state)
        self._keeper.wake()

    def reset(self, tp: TopicPartition, time: int | None = None) -> None:
        """Finds a position by time, EARLIEST or LATEST, or as `auto.offset.reset` says: NoOffset when that is
        `none`.
        """
        state = self._assigned(tp)
        policy = self.policy if time is None else ResetPolicy(time=time)
        if not policy.resets:
            raise NoOffset(
                f"{tp} has no position: nothing is committed and auto.offset.reset is none",
                topic=tp.topic,
                partition=tp.partition,
            )
        self._begin_anew(state)
        state.topic_id = NO_TOPIC_ID
        self._positions.request_reset(state, policy)
        self._keeper.acquaint(state)
        self._keeper.wake()

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        """What is buffered of them is kept, as long as there is room, and not handed out."""
        states = [state for state in map(self._assigned, partitions) if not state.paused]
        self._buffer.put_aside(states)
        for state in states:
            state.paused = True
            self._place(state)

    def resume(self, partitions: Iterable[TopicPartition]) -> None:
        for state in [state for state in map(self._assigned, partitions) if state.paused]:
            state.paused = False
            self._buffer.put_back(state)
            self._place(state)
        if self._buffer:
            self.arrived.notify()

    def paused(self) -> set[TopicPartition]:
        return {tp for tp, state in self._positions.partitions.items() if state.paused}

    def position(self, tp: TopicPartition) -> OffsetAndMetadata | None:
        """The next offset to hand out; None while it is being looked for or checked."""
        state = self._assigned(tp)
        position = state.position
        if not state.valid or position is None:
            return None
        return OffsetAndMetadata(position.offset, "", position.offset_epoch)

    def has_position(self, tp: TopicPartition) -> bool:
        return self._assigned(tp).valid

    def missing(self) -> set[TopicPartition]:
        """Assigned, and nobody has said yet where to begin."""
        return set(self._positions.by_state[FetchState.INITIALIZING])

    def end_offset(self, tp: TopicPartition) -> int | None:
        """Up to where one could read as of the last answer: the high watermark, with read_committed the last
        stable offset.
        """
        return self._assigned(tp).end_offset(self._read_committed)

    def lag(self, tp: TopicPartition) -> int | None:
        return self._assigned(tp).lag(self._read_committed)

    def at_end(self) -> bool:
        """Whether, as of the last answers, nothing is left to read in any partition that is not paused."""
        for state in self._positions.partitions.values():
            if not state.paused and (not state.valid or state.chunks or state.lag(self._read_committed) != 0):
                return False
        return True

    @property
    def buffered_bytes(self) -> int:
        """The memory of fetched responses of which something is left."""
        return self._buffer.held_bytes

    # -- taking --

    def take(self, max_records: int) -> list[ConsumerRecord]:
        """What is buffered, at most so many records, moving positions. Raises what a partition met once
        nothing is left in front of it: PositionLost, ProtocolError (a corrupt batch), SerializationFailed,
        ServerError. The position stays before the bad record: seek past it to go on.
        """
        if self._put_off:
            self._raise_failure()
        records = self._buffer.take(max_records)
        if self._failures:
            self._put_off = True
            if not records:
                self._raise_failure()
        return records

    def take_columns(self, max_bytes: int) -> list[FetchedColumns]:
        """As `take`, without a Python object per record: whole batches, until about so many bytes."""
        if self._put_off:
            self._raise_failure()
        taken = self._buffer.take_columns(max_bytes)
        if self._failures:
            self._put_off = True
            if not taken:
                self._raise_failure()
        return taken

    @property
    def ready(self) -> bool:
        """Whether `take` has something to give or to raise."""
        return bool(self._buffer) or bool(self._failures)

    def _raise_failure(self) -> None:
        """Raises the first that is due. Records of other partitions are handed out once before it, not for
        as long as there are any.
        """
        self._put_off = False
        for key, error in self._failures.items():
            state = self._positions.partitions.get(key) if isinstance(key, TopicPartition) else None
            if state is not None and state.chunks and not state.paused:
                continue  # what lies before it comes first
            del self._failures[key]
            if state is not None and state.blocked:
                state.blocked = False
                self._place(state)
            raise error

    # -- running --

    def start(self) -> None:
        if not self._started:
            self._started = True
            self._keeper.start()
            for broker in self._brokers.values():
                self._start_broker(broker)

    def close(self, timeout_ms: float | None = None) -> ClientSteps[None]:
        """Stops fetching and ends the sessions at the brokers. A broker that is just waiting for data on our
        behalf is told, too, but not waited for.
        """
        if self._closed:
            return
        self._closed = True
        self._keeper.stop()
        closing: list[Task[None]] = []
        for broker in self._brokers.values():
            busy = broker.in_flight
            if broker.task is not None:
                broker.task.cancel()
            plan = broker.session.plan_close()
            if plan is not None and self._started:
                steps = self._close_session(broker, broker.call(plan, 0, max_wait_ms=0))
                task = self._session.host.spawn(steps, f"consumer: end session at node {broker.node_id}")
                if not busy:
                    closing.append(task)
        self._buffer.drop(list(self._positions.partitions.values()))
        limit_ms = CLOSE_TIMEOUT_MS if timeout_ms is None else min(timeout_ms, CLOSE_TIMEOUT_MS)
        deadline_ms = self._clock.monotonic_ms() + limit_ms
        for task in closing:
            while not task.done:
                left_ms = deadline_ms - self._clock.monotonic_ms()
                if left_ms <= 0:
                    break
                yield Wait(task.finished, left_ms)
            if not task.done:
                task.cancel()

    @staticmethod
    def _close_session(broker: BrokerFetches, call: Any) -> ClientSteps[None]:
        try:
            yield call
        except OttlaError as error:
            logger.debug("node %d was not told of the end of its fetch session: %s", broker.node_id, error)

    def _start_broker(self, broker: BrokerFetches) -> None:
        name = f"consumer: fetches from node {broker.node_id}"
        broker.task = self._session.host.spawn(self._fetch_or_tell(broker), name)

    def _fetch_or_tell(self, broker: BrokerFetches) -> ClientSteps[None]:
        try:
            yield from self._fetch(broker)
        except Exception as error:
            # A fault of ours: it must not look like partitions in which nothing is written.
            self._fail(broker.node_id, OttlaError(f"fetching from node {broker.node_id} ended: {error!r}"))
            raise

    def _fetch(self, broker: BrokerFetches) -> ClientSteps[None]:
        """What goes on with one broker as long as the fetcher lives."""
        clock = self._clock
        while True:
            wait_ms = broker.not_before_ms - clock.monotonic_ms()
            if wait_ms > 0:
                yield Pause(wait_ms)
                continue
            max_bytes = self._room_at(broker) if broker.due else 0
            if max_bytes <= 0:
                yield Wait(broker.changed)
                continue
            call = broker.call(broker.plan(), max_bytes)
            began_ms = clock.monotonic_ms()
            broker.in_flight = True
            try:
                response: FetchResponse = yield call
            except OttlaError as error:
                self._lost(broker, error)
                continue
            finally:
                broker.in_flight = False
            broker.failures = 0
            if self._answers.take_in(broker, response, clock.monotonic_ms() - began_ms):
                self.arrived.notify()

    def _room_at(self, broker: BrokerFetches) -> int:
        """How much the broker may send now; 0: nothing, until something is handed out."""
        brokers = sum(1 for b in self._brokers.values() if b.wanted or b.held_bytes)
        share = max(1, self._settings.queued_max_bytes // max(1, brokers))
        needed = min(self._settings.max_partition_fetch_bytes, share)  # crumbs are not worth a request
        room = share - broker.held_bytes
        if room < needed:
            # Nobody may ever resume what is paused: it is fetched again if somebody does.
            paused = [s for s in self._positions.partitions.values() if s.paused and s.chunks]
            if paused:
                self._buffer.drop(paused)
                room = share - broker.held_bytes
        return min(room, self._settings.fetch_max_bytes) if room >= needed else 0

    def _lost(self, broker: BrokerFetches, error: OttlaError) -> None:
        """A request to a broker failed as a whole."""
        logger.info("node %d: the fetch failed: %s", broker.node_id, error)
        broker.session.lost()
        self._back_off(broker)
        for state in list(broker.wanted.values()):
            if state.forget_replica():
                self._place(state)
        self._session.metadata.request()
        if not error.retriable:
            self._fail(broker.node_id, error)

    def _back_off(self, broker: BrokerFetches) -> None:
        settings = self._settings
        backoff = Backoff(
            float("inf"),
            self._session.host.chance,
            first_ms=settings.retry_backoff_ms,
            max_ms=settings.retry_backoff_max_ms,
        )
        backoff.attempts = min(broker.failures, 30)
        broker.failures += 1
        now_ms = self._clock.monotonic_ms()
        wait_ms = backoff.next_wait_ms(now_ms)
        assert wait_ms is not None
        broker.not_before_ms = now_ms + wait_ms

    # -- where a partition is fetched from --

    def _assigned(self, tp: TopicPartition) -> PartitionState:
        state = self._positions.partitions.get(tp)
        if state is None:
            raise IllegalState(f"{tp} is not assigned to this consumer")
        return state

    def _begin_anew(self, state: PartitionState) -> None:
        """What was buffered or met before a seek is of no interest."""
        self._buffer.drop([state])
        self._failures.pop(state.tp, None)
        state.blocked = False

    def _place(self, state: PartitionState) -> None:
        """Puts a partition among the fetches of the broker that it is to be read from, if any."""
        if self._positions.partitions.get(state.tp) is not state:
            return  # revoked since somebody made a note of it
        node_id = NO_NODE
        if state.valid and not state.paused and not state.blocked:
            node_id = self._source(state)
        if node_id != state.node_id:
            self._leave(state)
            state.node_id = node_id
            if node_id != NO_NODE:
                broker = self._brokers.get(node_id)
                if broker is None:
                    broker = self._brokers[node_id] = BrokerFetches(node_id, self._settings)
                    if self._started and not self._closed:
                        self._start_broker(broker)
                broker.want(state)
        elif node_id != NO_NODE:
            broker = self._brokers[node_id]
            broker.touch(state)
            broker.changed.notify()

    def _leave(self, state: PartitionState) -> None:
        if state.node_id != NO_NODE:
            self._brokers[state.node_id].unwant(state)
            state.node_id = NO_NODE

    def _source(self, state: PartitionState) -> int:
        """The replica that the leader prefers us to read from (KIP-392), else the leader."""
        assert state.position is not None
        leader = state.position.leader
        replica = state.preferred_replica
        if replica == NO_NODE or leader == NO_NODE:
            return leader
        if self._clock.monotonic_ms() >= state.preferred_until_ms:
            state.forget_replica()
            return leader
        view = self._session.cluster.view
        topic = view.topics.get(state.tp.topic)
        offline = topic is None or any(
            replica in p.offline for p in topic.partitions if p.index == state.tp.partition
        )
        if offline or replica not in view.brokers:
            state.forget_replica()
            self._session.metadata.request()
            return leader
        return replica

    # -- notes --

    def _lane(self, node_id: int) -> int:
        """Beside a fetch that the broker may hold, questions take another connection."""
        broker = self._brokers.get(node_id)
        return LOOKUP_LANE if broker is not None and broker.in_flight else 0

    def _fail(self, key: object, error: OttlaError) -> None:
        self._failures[key] = error
        self.arrived.notify()

    def _room(self, broker: BrokerFetches) -> None:
        if not broker.in_flight and broker.due:
            broker.changed.notify()
