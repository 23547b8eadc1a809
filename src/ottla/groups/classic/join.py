"""JoinGroup: who comes in, under which name, and whether that is a reason to rebalance.

Versions: 0 has no rebalance timeout (the session timeout is both); from 4 a dynamic member is first sent away
with a member id (KIP-394), so that retries do not leave ghosts; 5 brings instance ids (KIP-345); 7 protocol
type and a protocol name that may be null; 8 a reason (KIP-800); 9 skip_assignment (KIP-814): a static leader
that came back into a stable group learns the members without having to assign anything.
"""

from __future__ import annotations

from uuid import UUID

from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.groups.classic.answers import UNKNOWN_MEMBER_ID, join_refusal, joined, release
from ottla.groups.classic.group import ClassicGroup
from ottla.groups.classic.member import ClassicMember, ParkedJoin, protocols_bytes, protocols_of
from ottla.groups.classic.rebalance import Rebalances, changed
from ottla.groups.classic.record import group_record, group_record_bytes, new_group_record
from ottla.groups.classic.states import ClassicState
from ottla.groups.group import Client
from ottla.groups.shard_state import ShardState
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.limits import (
    GROUP_MEMBER_ID_PREFIX_CHARS_MAX,
    GROUP_METADATA_BYTES_MAX,
    GROUP_PENDING_MEMBERS_MAX,
    GROUP_PROTOCOLS_MAX,
    GROUP_REASON_CHARS_MAX,
    GROUP_RECORD_BYTES_MAX,
    GROUPS_METADATA_BYTES_MAX,
)
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse

_MEMBER_ID_REQUIRED_FROM = 4
_SKIP_ASSIGNMENT_FROM = 9


class _Joining:
    """One request on its way through the decision."""

    __slots__ = ("request", "client", "promise", "protocols", "rebalance_timeout_ms", "reason", "outcome")

    def __init__(
        self, request: JoinGroupRequest, client: Client, promise: Promise[JoinGroupResponse]
    ) -> None:
        self.request = request
        self.client = client
        self.promise = promise
        self.protocols = protocols_of(request.protocols)
        self.rebalance_timeout_ms = request.rebalance_timeout_ms
        if self.rebalance_timeout_ms < 0:
            self.rebalance_timeout_ms = request.session_timeout_ms
        self.reason = (request.reason or "not provided")[:GROUP_REASON_CHARS_MAX]
        self.outcome = Outcome()

    def refuse(self, error: ErrorCode, member_id: str) -> None:
        self.outcome.answer(self.promise, join_refusal(error, member_id, self.client.api_version))

    def answer(self, response: JoinGroupResponse) -> None:
        self.outcome.answer(self.promise, response)

    def new_member(self, member_id: str) -> ClassicMember:
        request = self.request
        member = ClassicMember(
            member_id,
            instance_id=request.group_instance_id,
            client_id=self.client.client_id,
            client_host=self.client.client_host,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            session_timeout_ms=request.session_timeout_ms,
            protocol_type=request.protocol_type,
            protocols=self.protocols,
        )
        member.is_new = True
        return member


class Joins:
    __slots__ = ("_state", "_rebalances")

    def __init__(self, state: ShardState, rebalances: Rebalances) -> None:
        self._state = state
        self._rebalances = rebalances

    def join(self, request: JoinGroupRequest, client: Client, promise: Promise[JoinGroupResponse]) -> Outcome:
        settings = self._state.env.settings
        joining = _Joining(request, client, promise)
        member_id = request.member_id
        if not request.group_id:
            joining.refuse(ErrorCode.INVALID_GROUP_ID, member_id)
        elif not (
            settings.min_session_timeout_ms <= request.session_timeout_ms <= settings.max_session_timeout_ms
        ):
            joining.refuse(ErrorCode.INVALID_SESSION_TIMEOUT, member_id)
        elif len(request.protocols) > GROUP_PROTOCOLS_MAX:
            joining.refuse(ErrorCode.INVALID_REQUEST, member_id)
        else:
            self._join(joining, member_id)
        return joining.outcome

    def _join(self, joining: _Joining, member_id: str) -> None:
        groups = self._state.groups
        group_id = joining.request.group_id
        group = groups.get(group_id)
        if isinstance(group, ClassicGroup):
            self._join_group(joining, group, member_id)
        elif group is not None and not group.is_empty:
            joining.refuse(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, UNKNOWN_MEMBER_ID)
        elif member_id:
            joining.refuse(ErrorCode.UNKNOWN_MEMBER_ID, member_id)
        elif not joining.request.protocol_type or not joining.protocols:
            joining.refuse(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, UNKNOWN_MEMBER_ID)
        else:
            made = ClassicGroup(group_id, since_ms=self._state.env.clock.now_ms())
            made.count_in(self._state.metadata)
            self._join_group(joining, made, member_id)
            if not made.members and not made.pending_join:
                return  # refused: nothing was made
            changed(joining.outcome)
            if group is not None:
                # An empty group of the newer protocol makes room for a classic one; its offsets stay.
                joining.outcome.records[:0] = group.tombstones()
            groups[group_id] = made
            # So that the log knows of the group before anybody is told that it is in it.
            joining.outcome.records.append(new_group_record(made))

    def _join_group(self, joining: _Joining, group: ClassicGroup, member_id: str) -> None:
        request = joining.request
        if group.state is ClassicState.DEAD:
            joining.refuse(ErrorCode.COORDINATOR_NOT_AVAILABLE, member_id)
        elif not self._has_room(group, joining, member_id):
            joining.refuse(ErrorCode.GROUP_MAX_SIZE_REACHED, UNKNOWN_MEMBER_ID)
            self._turn_away(group, member_id, joining.outcome)
        elif not group.supports(request.protocol_type, joining.protocols):
            joining.refuse(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, member_id)
        elif not member_id:
            self._join_unknown(joining, group)
        elif member_id in group.pending_join:
            if request.group_instance_id is not None:
                # The id was handed to a dynamic member; Kafka, too, has no better name for this.
                joining.refuse(ErrorCode.UNKNOWN_SERVER_ERROR, member_id)
            else:
                self._add(joining, group, member_id)
        else:
            self._join_known(joining, group, member_id)

    def _has_room(self, group: ClassicGroup, joining: _Joining, member_id: str) -> bool:
        max_size = self._state.env.settings.max_size
        instance_id = joining.request.group_instance_id
        if not member_id and instance_id is not None:
            # A static member that restarted takes its own place.
            member_id = group.static_ids.get(instance_id, UNKNOWN_MEMBER_ID)
        member = group.members.get(member_id)
        more_bytes = protocols_bytes(joining.protocols) - (0 if member is None else member.metadata_bytes)
        if more_bytes > 0 and (
            group.metadata_bytes + more_bytes > GROUP_METADATA_BYTES_MAX
            or self._state.env.metadata_bytes() + more_bytes > GROUPS_METADATA_BYTES_MAX
        ):
            return False
        if group.state is ClassicState.EMPTY:
            return True
        if group.state is ClassicState.PREPARING_REBALANCE:
            # Those who wait are counted, not the members: when `group.max.size` was lowered, the first to
            # rejoin stay and the others go.
            is_waiting = member is not None and member.parked_join is not None
            return is_waiting or group.waiting_to_join < max_size
        return member is not None or len(group.members) < max_size

    def _turn_away(self, group: ClassicGroup, member_id: str, outcome: Outcome) -> None:
        """A member, or an id that was handed out, for which there is no room any more."""
        member = group.members.get(member_id)
        if member is not None:
            self._rebalances.drop(group, member, outcome)
            changed(outcome)
            self._rebalances.prepare_or_complete(group, "a member has no room any more", outcome)
        elif member_id in group.pending_join:
            group.remove(member_id)
            self._state.timers.cancel(("session", group.group_id, member_id))
            changed(outcome)
            self._rebalances.complete_if_all_joined(group, outcome)

    # --- without a member id ----------------------------------------------------------------------------

    def _join_unknown(self, joining: _Joining, group: ClassicGroup) -> None:
        instance_id = joining.request.group_instance_id
        if instance_id is not None:
            new_id = self._new_member_id(group, instance_id)
            if instance_id in group.static_ids:
                self._replace_static(joining, group, instance_id, new_id)
            else:
                self._add(joining, group, new_id)
            return
        new_id = self._new_member_id(group, joining.client.client_id)
        if joining.client.api_version < _MEMBER_ID_REQUIRED_FROM:
            self._add(joining, group, new_id)
        elif len(group.pending_join) >= GROUP_PENDING_MEMBERS_MAX:
            joining.refuse(ErrorCode.GROUP_MAX_SIZE_REACHED, UNKNOWN_MEMBER_ID)
        else:
            group.pending_join.add(new_id)
            changed(joining.outcome)
            self._rebalances.begin_session_of(group.group_id, new_id, joining.request.session_timeout_ms)
            joining.refuse(ErrorCode.MEMBER_ID_REQUIRED, new_id)

    def _new_member_id(self, group: ClassicGroup, prefix: str) -> str:
        while True:
            uuid = UUID(bytes=self._state.env.chance.randbytes(16), version=4)
            member_id = f"{prefix[:GROUP_MEMBER_ID_PREFIX_CHARS_MAX]}-{uuid}"
            # A simulation that restarts with its seed draws the numbers that loaded members already have.
            if member_id not in group.members and member_id not in group.pending_join:
                return member_id

    def _add(self, joining: _Joining, group: ClassicGroup, member_id: str) -> None:
        changed(joining.outcome)
        if group.state is ClassicState.PREPARING_REBALANCE and group.previous_state is ClassicState.EMPTY:
            group.new_member_added = True
        member = joining.new_member(member_id)
        group.add(member)
        self._park(joining, group, member)
        # While it waits it does not know its id and sends no heartbeats, and a broken connection is not seen:
        # those who retry would leave one ghost each, so that somebody new only waits so long.
        self._rebalances.begin_session(group, member, self._state.env.settings.new_member_join_timeout_ms)
        self._rebalances.prepare_or_complete(
            group, f"new member {member_id!r}; client reason: {joining.reason!r}", joining.outcome
        )

    def _replace_static(self, joining: _Joining, group: ClassicGroup, instance_id: str, new_id: str) -> None:
        """A static member restarted. The old process, should it still run, is fenced (KIP-345)."""
        outcome = joining.outcome
        changed(outcome)
        old_id = group.static_ids[instance_id]
        old_leader_id = group.leader_id
        release(group, group.members[old_id], ErrorCode.FENCED_INSTANCE_ID, old_id, outcome)
        member = group.replace_static(instance_id, new_id)
        group.update(
            member, joining.protocols, joining.rebalance_timeout_ms, joining.request.session_timeout_ms
        )
        self._state.timers.cancel(("session", group.group_id, old_id))
        self._rebalances.begin_session(group, member)
        if group.state is not ClassicState.STABLE:
            # A generation under way knows the old id, and would leave the new one without an assignment.
            self._park(joining, group, member)
            self._rebalances.prepare_or_complete(
                group, f"static member {new_id!r} restarted; client reason: {joining.reason!r}", outcome
            )
        elif (
            group.select_protocol() == group.protocol_name
            and group_record_bytes(group) <= GROUP_RECORD_BYTES_MAX
        ):
            group.refresh_subscribed_topics()
            outcome.records.append(group_record(group))
            if joining.client.api_version >= _SKIP_ASSIGNMENT_FROM:
                response = joined(group, new_id)
                response.skip_assignment = group.is_leader(new_id)
            else:
                # A leader of old does not know that it may skip: it is told that it is not the leader.
                response = joined(group, new_id, leader_id=old_leader_id)
            joining.answer(response)
        else:
            self._park(joining, group, member)
            self._rebalances.prepare(
                group, f"static member {new_id!r} restarted with other protocols", outcome
            )

    # --- with a member id -------------------------------------------------------------------------------

    def _join_known(self, joining: _Joining, group: ClassicGroup, member_id: str) -> None:
        try:
            group.check_member(member_id, joining.request.group_instance_id)
        except KafkaError as error:
            joining.refuse(error.code, member_id)
            return
        member = group.members[member_id]
        is_same = member.matches(joining.protocols)
        if group.state is ClassicState.COMPLETING_REBALANCE and is_same:
            # The response of its first try was lost: it gets the generation that there is.
            joining.answer(joined(group, member_id))
        elif group.state is ClassicState.STABLE and is_same and not group.is_leader(member_id):
            joining.answer(joined(group, member_id))
        else:
            # Waits already, has other metadata now, or leads: a leader joins again when something changed
            # that only it looks at, such as the partitions of a topic.
            assert group.state is not ClassicState.EMPTY
            changed(joining.outcome)
            group.update(
                member, joining.protocols, joining.rebalance_timeout_ms, joining.request.session_timeout_ms
            )
            self._park(joining, group, member)
            self._rebalances.prepare_or_complete(
                group, f"member {member_id!r} joins again; client reason: {joining.reason!r}", joining.outcome
            )

    def _park(self, joining: _Joining, group: ClassicGroup, member: ClassicMember) -> None:
        replaced = group.park_join(member, ParkedJoin(joining.promise, joining.client.api_version))
        if replaced is not None:
            # A retry while the first try waits: nobody reads that answer, but its connection may live.
            joining.outcome.answer(
                replaced.promise,
                join_refusal(ErrorCode.REBALANCE_IN_PROGRESS, member.member_id, replaced.api_version),
            )
