"""A member of the consumer protocol (KIP-848, `group.protocol=consumer`): the requests of a Java client.

One heartbeat at a time, as often as the coordinator said. An assignment in the answer is taken up at once:
what has to be given up is committed first, what is new is asked for its offsets, and a heartbeat that names
what the member owns now goes out without waiting for the next turn. A commit every second, with the
member's epoch; one that came with an epoch that is over is sent again with the new one.
"""

from __future__ import annotations

import asyncio
import base64
import uuid
from typing import Any

from groups.connection import Connection, Prepared
from groups.membership import (
    COMMIT_INTERVAL_S,
    FENCED_MEMBER_EPOCH,
    NOT_READY,
    RETRY_S,
    STALE_MEMBER_EPOCH,
    UNKNOWN_MEMBER_ID,
    Group,
    commit_errors,
    commit_request,
    connected,
    offset_fetch_errors,
    offset_fetch_request,
)
from ottla.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatRequestTopicPartitions,
    ConsumerGroupHeartbeatResponse,
)

HEARTBEAT_VERSION = 1
REBALANCE_TIMEOUT_MS = 300_000
LEAVE_EPOCH = -1


class ConsumerMember:
    def __init__(self, group: Group) -> None:
        self.group = group
        self.setting = group.setting
        self.member_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        self.epoch = 0
        self.settled = False
        self.owned: frozenset[int] = frozenset()
        self._gone = False
        self._target: frozenset[int] = frozenset()
        self._connection: Connection | None = None
        self._in_flight = False
        self._due_now: Prepared | None = None
        self._interval_s = 5.0
        self._heartbeat: Prepared | None = None
        self._commit: Prepared | None = None
        self._timers: dict[str, asyncio.TimerHandle] = {}

    async def connect(self) -> None:
        self._connection = await connected(self.setting, self.group.group_id, self._lost)

    def join(self) -> None:
        self.epoch = 0
        self.owned = self._target = frozenset()
        self._beat(self._request(topic_partitions=[], everything=True))

    def leave(self) -> None:
        self._stop()
        self._gone = True
        self.epoch = LEAVE_EPOCH
        self._send(self._request(topic_partitions=None), lambda *_: self.close())

    def heartbeat_now(self) -> None:
        if self.epoch > 0:
            self._on_turn()

    def close(self) -> None:
        self._stop()
        self._gone = True
        if self._connection is not None:
            self._connection.close()

    def _lost(self) -> None:
        self._stop()
        self.settled = False
        self.setting.figures.errors["connection lost"] += 1

    def _stop(self) -> None:
        for timer in self._timers.values():
            timer.cancel()

    def _send(self, request: Prepared, done: Any) -> None:
        assert self._connection is not None
        self._connection.send(request, lambda answer, sent_at: done(request, answer, sent_at))

    def _request(
        self,
        topic_partitions: list[ConsumerGroupHeartbeatRequestTopicPartitions] | None,
        *,
        everything: bool = False,
    ) -> Prepared:
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group.group_id,
            member_id=self.member_id,
            member_epoch=self.epoch,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS if everything else -1,
            subscribed_topic_names=[self.setting.topic] if everything else None,
            topic_partitions=topic_partitions,
        )
        return Prepared("leave" if self._gone else "heartbeat", request, HEARTBEAT_VERSION)

    def _beat(self, request: Prepared) -> None:
        """Sends a heartbeat, or keeps it until the one under way is answered."""
        if self._in_flight:
            self._due_now = request
            return
        self._in_flight = True
        self._again_in(self._interval_s)
        self._send(request, self._heard)

    def _again_in(self, seconds: float) -> None:
        if "heartbeat" in self._timers:
            self._timers["heartbeat"].cancel()
        self._timers["heartbeat"] = self.setting.loop.call_later(seconds, self._on_turn)

    def _on_turn(self) -> None:
        if self._in_flight:
            self._again_in(RETRY_S)
            return
        if self._heartbeat is None:
            self._heartbeat = self._request(topic_partitions=None)
        self._beat(self._heartbeat)

    def _heard(self, request: Prepared, answer: bytes, sent_at: float) -> None:
        self._in_flight = False
        if self._gone:
            return
        if answer[4:] == request.quiet_answer:
            self._send_what_waits()
            return
        response: ConsumerGroupHeartbeatResponse = request.decode(answer)
        if response.error_code:
            self._failed(response.error_code)
            return
        self._interval_s = response.heartbeat_interval_ms / 1000
        if response.member_epoch == self.epoch and response.assignment is None:
            request.quiet_answer = answer[4:]
        elif request is self._heartbeat:
            self.setting.figures.news(sent_at)
        if response.member_epoch != self.epoch:
            joined = self.epoch == 0
            self.epoch = response.member_epoch
            # Encoded anew when they are due, which is later and at different times.
            self._heartbeat = self._commit = None
            if joined:
                self._timers["commit"] = self.setting.loop.call_later(COMMIT_INTERVAL_S, self._send_commit)
                # Members are processes that started at their own time: spread, not all in step.
                self._again_in(self.setting.chance.uniform(0, self._interval_s))
        if response.assignment is not None:
            self._target = frozenset(
                partition for topic in response.assignment.topic_partitions for partition in topic.partitions
            )
        self._reconcile()
        self._send_what_waits()

    def _send_what_waits(self) -> None:
        if self._due_now is not None and not self._in_flight:
            request, self._due_now = self._due_now, None
            self._beat(request)
        self.settled = not self._in_flight and self._due_now is None and self.owned == self._target
        self.group.changed()

    def _failed(self, error: int) -> None:
        self.setting.figures.errors[f"heartbeat {error}"] += 1
        self.settled = False
        self.group.changed()
        if error in (FENCED_MEMBER_EPOCH, UNKNOWN_MEMBER_ID):
            self.join()
        elif error in NOT_READY:
            again = self.join if self.epoch == 0 else self._on_turn
            self._timers["heartbeat"] = self.setting.loop.call_later(RETRY_S, again)

    def _reconcile(self) -> None:
        if self.owned == self._target:
            return
        given_up, new = self.owned - self._target, self._target - self.owned
        if given_up:
            self._send(self._commit_request(), self._committed)
        self.owned = self._target
        self._commit = None
        if new:
            fetch = offset_fetch_request(self.setting, self.group.group_id, new, self.member_id, self.epoch)
            self._send(fetch, self._fetched)
        owned = [
            ConsumerGroupHeartbeatRequestTopicPartitions(
                topic_id=self.setting.topic_id, partitions=sorted(self.owned)
            )
        ]
        # The acknowledgement: what the coordinator may give to others, or must not.
        self._beat(self._request(topic_partitions=owned if self.owned else []))

    def _fetched(self, request: Prepared, answer: bytes, _sent_at: float) -> None:
        for error in offset_fetch_errors(request.decode(answer)):
            self.setting.figures.errors[f"offset_fetch {error}"] += 1

    def _commit_request(self) -> Prepared:
        if self._commit is None:
            self._commit = commit_request(
                self.setting, self.group.group_id, self.member_id, self.epoch, self.owned
            )
        return self._commit

    def _send_commit(self) -> None:
        self._timers["commit"] = self.setting.loop.call_later(COMMIT_INTERVAL_S, self._send_commit)
        if self.owned:
            self._send(self._commit_request(), self._committed)

    def _committed(self, request: Prepared, answer: bytes, _sent_at: float) -> None:
        if answer[4:] == request.quiet_answer:
            return
        errors = commit_errors(request.decode(answer))
        for error in errors:
            self.setting.figures.errors[f"commit {error}"] += 1
        if STALE_MEMBER_EPOCH in errors and not self._gone:
            if self.owned and self._commit is not request:
                self._send(self._commit_request(), self._committed)
        elif not errors:
            request.quiet_answer = answer[4:]
