"""One shard of the coordinator: the groups whose records are in one partition of `__consumer_offsets`.

The shard is the one door to its parts: it sends each event to the part that decides it (a JoinGroup goes to
the classic groups, unless its group has become a consumer group) and each record of the log to the part that
replays it. It decides nothing itself and touches nothing outside: see `Outcome` for how its decisions come
true, and `broker/group_host.py` for who carries them out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.coordination.record import CoordinatorRecord
from ottla.coordination.timers import Timers
from ottla.groups.admin import GroupAdmin
from ottla.groups.classic.groups import ClassicGroups
from ottla.groups.consumer.group import ConsumerGroup
from ottla.groups.consumer.groups import ConsumerGroups
from ottla.groups.environment import Environment
from ottla.groups.group import Client
from ottla.groups.offsets.offsets import Offsets
from ottla.groups.shard_state import ShardState
from ottla.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from ottla.wire.messages.consumer_offsets import (
    GroupMetadataKey,
    LegacyOffsetCommitKey,
    OffsetCommitKey,
)
from ottla.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from ottla.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from ottla.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse

_CONSUMER_RECORD_TYPES = frozenset((3, 4, 5, 6, 7, 8, 16))


class Shard:
    __slots__ = ("state", "classic", "consumer", "offsets", "admin")

    def __init__(self, env: Environment) -> None:
        self.state = ShardState(env)
        self.classic = ClassicGroups(self.state)
        self.consumer = ConsumerGroups(self.state, self.classic)
        self.offsets = Offsets(self.state, self.classic.create_for_offsets)
        self.admin = GroupAdmin(self.state, self.offsets, self.classic, self.consumer)

    @property
    def timers(self) -> Timers:
        return self.state.timers

    # --- the log ------------------------------------------------------------------------------------------

    def replay(self, record: CoordinatorRecord, offset: int, producer_id: int) -> None:
        key = record.key
        if isinstance(key, (OffsetCommitKey, LegacyOffsetCommitKey)):
            self.offsets.replay(record, offset, producer_id)
        elif isinstance(key, GroupMetadataKey):
            self.classic.replay(record)
        elif key.RECORD_TYPE in _CONSUMER_RECORD_TYPES:
            self.consumer.replay(record)
        # Records of share and streams groups are kept in the log and mean nothing to this version.

    def end_transaction(self, producer_id: int, committed: bool) -> None:
        """A marker of the log: a producer's transaction has ended in this partition."""
        self.offsets.end_transaction(producer_id, committed)

    def loaded(self) -> Outcome:
        """The log has been replayed to its end: members' sessions begin."""
        outcome = self.classic.loaded()
        outcome.absorb(self.consumer.loaded())
        return outcome

    def loaded_offsets(self) -> Outcome:
        """As `loaded`; a decision of its own, since its records are replayed."""
        return self.offsets.loaded()

    def parked(self) -> list[Promise[Any]]:
        """Everybody who waits for others; a shard that is given up refuses them."""
        return self.classic.parked() + self.consumer.parked()

    # --- members ------------------------------------------------------------------------------------------

    def join(self, request: JoinGroupRequest, client: Client, promise: Promise[JoinGroupResponse]) -> Outcome:
        if self._is_consumer_group(request.group_id):
            return self.consumer.join(request, client, promise)
        return self.classic.join(request, client, promise)

    def sync(self, request: SyncGroupRequest, client: Client, promise: Promise[SyncGroupResponse]) -> Outcome:
        if self._is_consumer_group(request.group_id):
            return self.consumer.sync(request, client, promise)
        return self.classic.sync(request, client, promise)

    def heartbeat(
        self, request: HeartbeatRequest, client: Client, promise: Promise[HeartbeatResponse]
    ) -> Outcome:
        if self._is_consumer_group(request.group_id):
            return self.consumer.classic_heartbeat(request, client, promise)
        return self.classic.heartbeat(request, client, promise)

    def leave(
        self, request: LeaveGroupRequest, client: Client, promise: Promise[LeaveGroupResponse]
    ) -> Outcome:
        if self._is_consumer_group(request.group_id):
            return self.consumer.leave(request, client, promise)
        return self.classic.leave(request, client, promise)

    def consumer_heartbeat(
        self,
        request: ConsumerGroupHeartbeatRequest,
        client: Client,
        promise: Promise[ConsumerGroupHeartbeatResponse],
    ) -> Outcome:
        return self.consumer.heartbeat(request, client, promise)

    def _is_consumer_group(self, group_id: str) -> bool:
        return type(self.state.groups.get(group_id)) is ConsumerGroup

    # --- the cluster --------------------------------------------------------------------------------------

    def topics_changed(self, deleted: Iterable[tuple[str, bytes]]) -> Outcome:
        """`env.topics` is a new view; `deleted` are the names and ids of topics that are gone."""
        self.consumer.topics_changed()
        return self.offsets.topics_deleted(deleted)
