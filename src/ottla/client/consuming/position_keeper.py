"""Sees to the positions of assigned partitions: finds those that are missing, checks those in doubt.

Two tasks. One follows the metadata: who leads each partition, and since when. The other sends what the
states ask for, a ListOffsets request to each leader for resets, an OffsetForLeaderEpoch request for
positions whose leader changed (KIP-320), and wakes partitions whose back-off is over. Answers that come after
somebody has sought elsewhere change nothing.
"""

from __future__ import annotations

import heapq
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from ottla.client.consuming.offset_lookup import NO_OFFSET, Looking, LookupAnswer, OffsetLookup
from ottla.client.consuming.positions import (
    NO_NODE,
    UNKNOWN,
    FetchState,
    PartitionState,
    Position,
    Positions,
)
from ottla.client.consuming.reset_policy import LATEST, ResetPolicy
from ottla.client.effects import Call, ClientSteps, Signal, Task, Wait
from ottla.client.errors import OttlaError, PositionLost, ServerError, UnsupportedVersion
from ottla.client.view import ClusterView
from ottla.model.errors import ErrorCode
from ottla.model.types import NO_TOPIC_ID, TopicPartition
from ottla.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

if TYPE_CHECKING:
    from ottla.client.session import Session

logger = logging.getLogger("ottla.client")

FINAL_TOPIC_ERRORS: Final = frozenset(
    {ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.INVALID_TOPIC_EXCEPTION}
)
"""What metadata may say about a topic that does not pass by itself: `poll` raises it."""


class PositionKeeper:
    def __init__(
        self,
        session: Session,
        positions: Positions,
        lookup: OffsetLookup,
        policy: ResetPolicy,
        *,
        placed: Callable[[PartitionState], None],
        unbuffer: Callable[[PartitionState], None],
        failed: Callable[[object, OttlaError], None],
        found: Callable[[], None],
    ) -> None:
        self._session = session
        self._positions = positions
        self._lookup = lookup
        self._policy = policy
        self._placed = placed
        """A partition may now be fetched from elsewhere, or not at all."""
        self._unbuffer = unbuffer
        """What is buffered of a partition can no longer be trusted."""
        self._failed = failed
        self._found = found
        self._work = Signal()
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._timer_count = 0
        self._view: ClusterView | None = None
        self._leaderless = False
        self._tasks: list[Task[Any]] = []
        self._asking: dict[int, Task[None]] = {}
        self._task_count = 0

    def start(self) -> None:
        host = self._session.host
        self._tasks = [
            host.spawn(self._or_tell(self._follow_metadata()), "consumer: leaders"),
            host.spawn(self._or_tell(self._see_to_positions()), "consumer: positions"),
        ]

    def _or_tell(self, steps: ClientSteps[None]) -> ClientSteps[None]:
        try:
            yield from steps
        except Exception as error:
            # A fault of ours: it must not look like a position that takes its time.
            self._failed("positions", OttlaError(f"positions are no longer looked after: {error!r}"))
            raise

    def stop(self) -> None:
        for task in [*self._tasks, *self._asking.values()]:
            task.cancel()
        self._tasks = []
        self._asking = {}

    def wake(self) -> None:
        """Something may be there to do."""
        self._work.notify()

    def at(self, when_ms: float, action: Callable[[], None]) -> None:
        """Calls a function at a time on the monotonic clock."""
        self._timer_count += 1
        heapq.heappush(self._timers, (when_ms, self._timer_count, action))
        self._work.notify()

    # -- leaders --

    def leader_of(self, tp: TopicPartition) -> tuple[int, int]:
        """The leader and its epoch as the view has them; NO_NODE while there is none."""
        topic = self._session.cluster.view.topics.get(tp.topic)
        if topic is None or topic.error:
            return NO_NODE, -1
        partitions = topic.partitions
        index = tp.partition
        if 0 <= index < len(partitions) and partitions[index].index == index:
            found = partitions[index]
        else:
            matching = [p for p in partitions if p.index == index]
            if not matching:
                return NO_NODE, -1
            found = matching[0]
        if found.leader not in self._session.cluster.view.brokers:
            return NO_NODE, -1
        return found.leader, found.leader_epoch

    def acquaint(self, state: PartitionState) -> None:
        """Brings a partition up to what the view says about it."""
        view = self._session.cluster.view
        topic = view.topics.get(state.tp.topic)
        if topic is not None and topic.topic_id not in (NO_TOPIC_ID, state.topic_id):
            if state.topic_id != NO_TOPIC_ID and state.position is not None and not self._made_anew(state):
                return
            state.topic_id = topic.topic_id
        leader, epoch = self.leader_of(state.tp)
        if leader == NO_NODE:
            self._leaderless = True
            self._session.metadata.request()
        elif self._positions.leader_changed(state, leader, epoch):
            self._unbuffer(state)
            self._work.notify()
        self._placed(state)

    def _made_anew(self, state: PartitionState) -> bool:
        """The topic was deleted and created again, and offsets of the old one mean nothing in it: the
        partition begins anew by the policy. False where there is none, and somebody has to seek.
        """
        self._unbuffer(state)
        if self._policy.resets:
            logger.info("topic %s was created anew: resetting partition %d", *state.tp)
            self._positions.request_reset(state, self._policy)
            self._work.notify()
            return True
        state.blocked = True
        self._placed(state)
        assert state.position is not None
        self._failed(
            state.tp,
            PositionLost(
                f"{state.tp}: the topic was deleted and created anew, and auto.offset.reset is none",
                topic=state.tp.topic,
                partition=state.tp.partition,
                offset=state.position.offset,
            ),
        )
        return False

    def _follow_metadata(self) -> ClientSteps[None]:
        metadata, cluster = self._session.metadata, self._session.cluster
        while True:
            if cluster.view is not self._view:
                self.follow_view()
            elif self._leaderless:  # nobody could be asked
                metadata.request()
            yield Wait(metadata.updated)

    def follow_view(self) -> None:
        """After the view changed: every assigned partition is looked at once."""
        self._view = view = self._session.cluster.view
        self._leaderless = False
        topics: set[str] = set()
        for state in list(self._positions.partitions.values()):
            topics.add(state.tp.topic)
            self.acquaint(state)
        self._session.metadata.want(topics)  # also a topic that nothing is read from for now
        for name in topics:
            topic = view.topics.get(name)
            if topic is not None and topic.error in FINAL_TOPIC_ERRORS:
                self._failed(name, ServerError(topic.error, subject=f"topic {name}"))
        self._work.notify()

    # -- resets and validations --

    def _see_to_positions(self) -> ClientSteps[None]:
        clock = self._session.host.clock
        while True:
            now_ms = clock.monotonic_ms()
            while self._timers and self._timers[0][0] <= now_ms:
                heapq.heappop(self._timers)[2]()
            self._send_resets(now_ms)
            self._send_validations(now_ms)
            yield Wait(self._work, self._timers[0][0] - now_ms if self._timers else None)

    def _send_resets(self, now_ms: float) -> None:
        by_leader: dict[int, dict[TopicPartition, tuple[ResetPolicy, Looking]]] = {}
        for tp, state in self._positions.by_state[FetchState.AWAIT_RESET].items():
            if state.asking or state.retry_at_ms > now_ms:
                continue
            assert state.policy is not None
            leader, epoch = self.leader_of(tp)
            if leader == NO_NODE:
                self._leaderless = True
                self._session.metadata.request()
                continue  # the next view wakes this task
            timestamp = state.policy.timestamp(self._session.host.clock.now_ms())
            by_leader.setdefault(leader, {})[tp] = (state.policy, Looking(timestamp, epoch))
            state.asking = True
        for leader, asked in by_leader.items():
            self._ask(self._reset(leader, asked), f"consumer: offsets from node {leader}")

    def _reset(
        self, leader: int, asked: Mapping[TopicPartition, tuple[ResetPolicy, Looking]]
    ) -> ClientSteps[None]:
        answer = LookupAnswer({}, {})
        try:
            wanted = {tp: looking for tp, (_, looking) in asked.items()}
            answer = yield from self._lookup.ask(leader, wanted)
        except OttlaError as error:
            self._asked_in_vain(leader, list(asked), error)
            return
        for tp, (policy, looking) in asked.items():
            state = self._positions.partitions.get(tp)
            if state is None:
                continue
            looked = answer.found.get(tp)
            if looked is None:
                logger.debug("%s: no offset from node %d: %s", tp, leader, answer.retry.get(tp))
                self._again_later(state)
            elif state.state is not FetchState.AWAIT_RESET or state.policy != policy:
                continue  # sought meanwhile, or reset to elsewhere
            elif looked.offset == NO_OFFSET:
                self._positions.request_reset(state, ResetPolicy(time=LATEST))  # no record is that young
                self._work.notify()
            else:
                # Without the epoch of the record before it: there is nothing to validate.
                position = Position(looked.offset, -1, *self.leader_of(tp))
                self._positions.complete_reset(state, policy, position)
                logger.info("%s: reading from offset %d (reset)", tp, looked.offset)
                if looking.timestamp == LATEST:
                    self._learn_end(state, looked.offset)
                self.acquaint(state)
        if answer.retry:
            self._session.metadata.request()
        self._found()

    def _learn_end(self, state: PartitionState, offset: int) -> None:
        if self._lookup.read_committed:
            state.last_stable_offset = max(state.last_stable_offset, offset)
        else:
            state.high_watermark = max(state.high_watermark, offset)

    def _send_validations(self, now_ms: float) -> None:
        by_leader: dict[int, dict[TopicPartition, Position]] = {}
        for tp, state in self._positions.by_state[FetchState.AWAIT_VALIDATION].items():
            if not state.asking and state.retry_at_ms <= now_ms:
                assert state.position is not None
                by_leader.setdefault(state.position.leader, {})[tp] = state.position
                state.asking = True
        for leader, asked in by_leader.items():
            self._ask(self._validate(leader, asked), f"consumer: epochs from node {leader}")

    def _validate(self, leader: int, asked: Mapping[TopicPartition, Position]) -> ClientSteps[None]:
        try:
            lane = self._lookup.lane(leader)
            response: OffsetForLeaderEpochResponse = yield Call(leader, _epoch_request(asked), lane=lane)
        except UnsupportedVersion:
            for tp in asked:
                state = self._positions.partitions.get(tp)
                if state is not None:
                    self._positions.skip_validation(state)
                    self._placed(state)
            self._found()
            return
        except OttlaError as error:
            self._asked_in_vain(leader, list(asked), error)
            return
        unanswered = dict(asked)
        for topic in response.topics:
            for data in topic.partitions:
                tp = TopicPartition(topic.topic, data.partition)
                position = unanswered.get(tp)
                state = self._positions.partitions.get(tp)
                if position is None or state is None or state.position != position:
                    continue
                if data.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED:
                    self._failed(tp.topic, ServerError(data.error_code, subject=f"topic {tp.topic}"))
                elif not data.error_code:
                    del unanswered[tp]
                    self._validated(state, position, data.leader_epoch, data.end_offset)
        for tp in unanswered:
            state = self._positions.partitions.get(tp)
            if state is not None:
                self._again_later(state)
        if unanswered:
            self._session.metadata.request()
        self._found()

    def _validated(self, state: PartitionState, asked: Position, epoch: int, end_offset: int) -> None:
        truncation = self._positions.complete_validation(state, asked, epoch, end_offset, self._policy)
        if truncation is not None:
            where = (
                "" if truncation.diverges_at == UNKNOWN else f", it differs from {truncation.diverges_at} on"
            )
            self._failed(
                state.tp,
                PositionLost(
                    f"{state.tp}: the log was truncated below offset {asked.offset}{where}, and "
                    "auto.offset.reset is none",
                    topic=state.tp.topic,
                    partition=state.tp.partition,
                    offset=asked.offset,
                ),
            )
            self._again_later(state)
            return
        if state.position != asked:
            logger.warning(
                "%s: the log was truncated below offset %d; going on at %s",
                state.tp,
                asked.offset,
                "the reset position" if state.position is None else state.position.offset,
            )
        self._placed(state)
        self._work.notify()

    def _ask(self, steps: ClientSteps[None], name: str) -> None:
        self._task_count += 1
        number = self._task_count

        def tracked() -> ClientSteps[None]:
            try:
                yield from steps
            finally:
                self._asking.pop(number, None)

        self._asking[number] = self._session.host.spawn(tracked(), name)

    def _asked_in_vain(self, leader: int, partitions: list[TopicPartition], error: OttlaError) -> None:
        logger.info("node %d could not be asked for positions: %s", leader, error)
        for tp in partitions:
            state = self._positions.partitions.get(tp)
            if state is not None:
                self._again_later(state)
        self._session.metadata.request()
        if not error.retriable:
            self._failed(leader, error)
        self._found()

    def _again_later(self, state: PartitionState) -> None:
        settings = self._session.settings
        state.asking = False
        state.retry_at_ms = self._session.host.clock.monotonic_ms() + settings.retry_backoff_ms
        self.at(state.retry_at_ms, self._work.notify)


def _epoch_request(asked: Mapping[TopicPartition, Position]) -> OffsetForLeaderEpochRequest:
    topics: dict[str, list[OffsetForLeaderPartition]] = {}
    for tp, position in asked.items():
        topics.setdefault(tp.topic, []).append(
            OffsetForLeaderPartition(
                partition=tp.partition,
                current_leader_epoch=position.leader_epoch,
                leader_epoch=position.offset_epoch,
            )
        )
    return OffsetForLeaderEpochRequest(
        replica_id=-1,
        topics=[OffsetForLeaderTopic(topic=name, partitions=parts) for name, parts in topics.items()],
    )
