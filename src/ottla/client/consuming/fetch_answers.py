"""What a fetch response does to the partitions in it: data into the buffer, or an error by Kafka's rules.

An answer counts only for a partition that still stands where it was asked for; after a seek, a reset or a
revocation it is dropped. Errors that pass by themselves (a leader that moved, an epoch not known yet) are
waited out with the partition left out of fetches; those that a caller has to know are kept for `take`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ottla.client.consuming.fetch_buffer import Chunk, FetchBuffer, Frame
from ottla.client.consuming.positions import NO_NODE, UNKNOWN, PartitionState, Positions
from ottla.client.errors import OttlaError, PositionLost, ProtocolError, ServerError
from ottla.model.errors import ErrorCode
from ottla.model.types import NO_TOPIC_ID, TopicPartition
from ottla.wire.record_batch import read_header
from ottla.wire.record_codec import scan_batches

if TYPE_CHECKING:
    from ottla.client.consuming.broker_fetches import BrokerFetches
    from ottla.client.consuming.decode import Decoder
    from ottla.client.consuming.fetch_metrics import FetchMetrics
    from ottla.client.consuming.fetch_sessions import Wanted
    from ottla.client.consuming.position_keeper import PositionKeeper
    from ottla.client.consuming.reset_policy import ResetPolicy
    from ottla.client.session import Session
    from ottla.client.settings import ConsumerSettings
    from ottla.wire.messages.fetch import FetchResponse, PartitionData

logger = logging.getLogger("ottla.client")

STALE_METADATA: Final = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INCONSISTENT_TOPIC_ID,
    }
)
"""After these, who leads the partition is asked anew."""

PASSING: Final = frozenset({ErrorCode.UNKNOWN_LEADER_EPOCH, ErrorCode.UNKNOWN_SERVER_ERROR})
"""After these, the same broker is asked again."""

LEADER_MOVED: Final = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH})
"""With these, the broker may say who leads now (KIP-951)."""


class FetchAnswers:
    def __init__(
        self,
        session: Session,
        settings: ConsumerSettings,
        decoder: Decoder,
        positions: Positions,
        buffer: FetchBuffer,
        keeper: PositionKeeper,
        policy: ResetPolicy,
        metrics: FetchMetrics,
        *,
        place: Callable[[PartitionState], None],
        fail: Callable[[object, OttlaError], None],
    ) -> None:
        self._session = session
        self._settings = settings
        self._decoder = decoder
        self._positions = positions
        self._buffer = buffer
        self._keeper = keeper
        self._policy = policy
        self._metrics = metrics
        self._place = place
        self._fail = fail
        self._clock = session.host.clock

    def take_in(self, broker: BrokerFetches, response: FetchResponse, latency_ms: float) -> bool:
        """True when the caller's consumer has something new: records, or an end that it has reached."""
        self._metrics.answered(latency_ms, response.throttle_time_ms)
        now_ms = self._clock.monotonic_ms()
        if response.throttle_time_ms > 0:
            broker.not_before_ms = now_ms + response.throttle_time_ms
        asked = broker.session.partitions
        found, reason = broker.session.take_in(response)
        if found is None:
            self._refused(broker, response, reason)
            return False
        size_bytes = sum(len(data.records) for data in found.values() if data.records)
        self._metrics.fetched(size_bytes)
        broker.note_size(size_bytes)
        frame = Frame(broker, size_bytes)
        told = False
        for tp, data in found.items():
            state = self._positions.partitions.get(tp)
            if state is None or not state.valid:
                continue  # revoked, or being reset or validated meanwhile
            if NO_TOPIC_ID != asked[tp].topic_id != state.topic_id != NO_TOPIC_ID:
                continue  # of a namesake that was deleted
            if data.error_code:
                self._handle_error(broker, response, state, asked[tp], data)
            else:
                told = self._accept(broker, frame, state, asked[tp], data) or told
        return told

    def _refused(self, broker: BrokerFetches, response: FetchResponse, reason: str | None) -> None:
        """The answer as a whole cannot be used; the next request is a full one."""
        if reason is not None:
            logger.info("node %d: fetching anew, after %s", broker.node_id, reason)
        if response.error_code == ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR:
            self._session.metadata.request()
        if response.error_code not in (0, ErrorCode.FETCH_SESSION_ID_NOT_FOUND):
            # not in a tight circle with a broker that does not like our sessions
            wait_ms = self._clock.monotonic_ms() + self._settings.retry_backoff_ms
            broker.not_before_ms = max(broker.not_before_ms, wait_ms)
            code = ServerError(response.error_code, subject=f"node {broker.node_id}")
            if not code.retriable:
                self._fail(broker.node_id, code)

    def _accept(
        self,
        broker: BrokerFetches,
        frame: Frame,
        state: PartitionState,
        asked: Wanted,
        data: PartitionData,
    ) -> bool:
        assert state.position is not None
        expected = state.ahead if state.chunks else state.position.offset
        if asked.offset != expected:
            return False  # sought meanwhile: the next request asks from there
        knew_end = state.high_watermark != UNKNOWN
        if data.high_watermark >= 0:
            state.high_watermark = data.high_watermark
        if data.last_stable_offset >= 0:
            state.last_stable_offset = data.last_stable_offset
        if data.log_start_offset >= 0:
            state.log_start_offset = data.log_start_offset
        replica = data.preferred_read_replica
        if replica >= 0:
            until_ms = self._clock.monotonic_ms() + self._settings.metadata_max_age_ms
            if state.prefer_replica(replica, until_ms):
                self._keeper.at(until_ms, lambda: self._place(state))
                self._place(state)
        records = data.records
        if not records:
            return not knew_end
        count, _, last_at = scan_batches(records, 0, len(records))
        tp = state.tp
        if not count:
            self._block(state)
            self._fail(
                tp,
                ProtocolError(
                    f"{tp} at offset {asked.offset}: the broker sent no whole batch",
                    topic=tp.topic,
                    partition=tp.partition,
                    offset=asked.offset,
                ),
            )
            return True
        end_offset = max(asked.offset, read_header(records, last_at).next_offset)
        fetched = self._decoder.fetched(tp, records, asked.offset, data.aborted_transactions or ())
        self._buffer.add(Chunk(state, frame, fetched, len(records)), end_offset)
        broker.touch(state)
        broker.turn_over(state)
        return True

    def _handle_error(
        self,
        broker: BrokerFetches,
        response: FetchResponse,
        state: PartitionState,
        asked: Wanted,
        data: PartitionData,
    ) -> None:
        assert state.position is not None
        tp, code = state.tp, data.error_code
        if code in STALE_METADATA:
            logger.debug("node %d: %s: %s", broker.node_id, tp, ErrorCode(code).name)
            state.forget_replica()
            self._wait_out(state)
            if code not in LEADER_MOVED or not self._follow_hint(tp, response, data):
                self._session.metadata.request()
            else:
                state.blocked = False
                self._keeper.acquaint(state)  # the others are looked at once, when all hints are taken in
        elif code == ErrorCode.OFFSET_OUT_OF_RANGE:
            self._out_of_range(state, asked)
        elif code in PASSING:
            logger.info("node %d: %s: %s", broker.node_id, tp, ErrorCode(code).name)
            self._wait_out(state)
        else:
            # Not allowed, corrupt on disk, or something that no fetch should be answered with.
            self._block(state)
            self._fail(tp, ServerError(code, subject=f"{tp} at offset {asked.offset}"))

    def _follow_hint(self, tp: TopicPartition, response: FetchResponse, data: PartitionData) -> bool:
        """Whether the broker said who leads now, and that was news."""
        leader = data.current_leader
        if leader.leader_id < 0 or leader.leader_epoch < 0:
            return False
        news: bool = self._session.metadata.leader_moved(
            tp.topic, tp.partition, leader.leader_id, leader.leader_epoch, response.node_endpoints
        )
        return news

    def _out_of_range(self, state: PartitionState, asked: Wanted) -> None:
        assert state.position is not None
        tp, offset = state.tp, state.position.offset
        if state.preferred_replica != NO_NODE:
            state.forget_replica()  # a follower may be behind: the leader knows
            self._place(state)
            return
        expected = state.ahead if state.chunks else offset
        if asked.offset != expected:
            return
        if state.chunks:
            # Deleted while we were reading ahead: what is buffered is handed out first.
            state.blocked = True
            self._place(state)
            self._keeper.at(
                self._clock.monotonic_ms() + self._settings.retry_backoff_ms, self._release(state)
            )
            return
        if self._policy.resets:
            logger.info("%s: offset %d is out of range, resetting", tp, offset)
            self._positions.request_reset(state, self._policy)
            self._place(state)
            self._keeper.wake()
            return
        self._block(state)
        self._fail(
            tp,
            PositionLost(
                f"{tp}: offset {offset} lies outside the log (deleted, or not written yet), and "
                "auto.offset.reset is none",
                topic=tp.topic,
                partition=tp.partition,
                offset=offset,
            ),
        )

    # -- leaving a partition out for a while --

    def _block(self, state: PartitionState) -> None:
        """Until its failure was raised."""
        state.blocked = True
        self._place(state)

    def _wait_out(self, state: PartitionState) -> None:
        """Until the back-off is over."""
        self._block(state)
        until_ms = self._clock.monotonic_ms() + self._settings.retry_backoff_ms
        self._keeper.at(until_ms, self._release(state))

    def _release(self, state: PartitionState) -> Callable[[], None]:
        def release() -> None:
            if self._positions.partitions.get(state.tp) is state and state.blocked:
                state.blocked = False
                self._place(state)

        return release
