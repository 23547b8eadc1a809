"""How a generation comes about, and the clocks that keep it from never coming about.

    prepare         the group asks everybody to join: -> PreparingRebalance
    complete_join   everybody has, or time is up: those missing are out, a generation begins
    expire_sync     somebody joined and never asked for its assignment: out, and prepare again

Three kinds of timers see to it that nobody waits for ever:

    ("session", group, member)  a member was silent; or an id that was handed out was never used
    ("join", group)             the join phase is over: the initial delay, or the rebalance timeout
    ("sync", group)             the sync phase is over: the rebalance timeout
"""

from __future__ import annotations

import logging
from collections.abc import Hashable
from functools import partial
from typing import Final

from ottla.coordination.outcome import Outcome
from ottla.groups.classic.answers import UNKNOWN_MEMBER_ID, joined, release, sync_refusal
from ottla.groups.classic.group import ClassicGroup
from ottla.groups.classic.member import ClassicMember
from ottla.groups.classic.record import group_record
from ottla.groups.classic.states import ClassicState
from ottla.groups.shard_state import ShardState
from ottla.model.errors import ErrorCode

logger = logging.getLogger(__name__)

_JOIN_RETRY_MS_MIN: Final = 100
"""A group whose static members have a rebalance timeout of 0 must not spin while it waits for them."""


class Rebalances:
    __slots__ = ("_state",)

    def __init__(self, state: ShardState) -> None:
        self._state = state

    # --- phases -----------------------------------------------------------------------------------------

    def prepare_or_complete(self, group: ClassicGroup, reason: str, outcome: Outcome) -> None:
        """The membership has changed: a rebalance begins, or one that is under way may now be complete."""
        if group.can_rebalance:
            self.prepare(group, reason, outcome)
        else:
            self.complete_if_all_joined(group, outcome)

    def prepare(self, group: ClassicGroup, reason: str, outcome: Outcome) -> None:
        env = self._state.env
        changed(outcome)
        if group.state is ClassicState.COMPLETING_REBALANCE:
            self.refuse_syncs(group, ErrorCode.REBALANCE_IN_PROGRESS, outcome)
        group.pending_sync.clear()
        self._state.timers.cancel(("sync", group.group_id))
        is_initial = group.state is ClassicState.EMPTY
        group.transition_to(ClassicState.PREPARING_REBALANCE, env.clock.now_ms())
        logger.info("group %r: rebalance after generation %d (%s)", group.group_id, group.generation, reason)
        if is_initial:
            # The first members of a group come one by one: one rebalance for all of them is enough.
            group.new_member_added = False
            delay_ms = env.settings.initial_rebalance_delay_ms
            self._wait_initially(group, delay_ms, max(group.rebalance_timeout_ms - delay_ms, 0))
        elif group.all_have_joined:
            self.complete_join(group, outcome)
        else:
            self._set_join_timer(group, group.rebalance_timeout_ms)

    def complete_if_all_joined(self, group: ClassicGroup, outcome: Outcome) -> None:
        if (
            group.state is ClassicState.PREPARING_REBALANCE
            and group.previous_state is not ClassicState.EMPTY  # the initial delay is waited for
            and group.all_have_joined
        ):
            self.complete_join(group, outcome)

    def complete_join(self, group: ClassicGroup, outcome: Outcome) -> None:
        """The join phase is over; static members may be missing, they have until their session ends."""
        env = self._state.env
        changed(outcome)
        self._state.timers.cancel(("join", group.group_id))
        missing = [m for m in group.members.values() if m.parked_join is None and not m.is_static]
        for member in missing:
            self.drop(group, member, outcome)
        if missing:
            logger.info("group %r: %d members did not rejoin in time", group.group_id, len(missing))
        if not group.elect_joined_leader() and group.members:
            # Only static members that may still come back: their sessions decide.
            self._set_join_timer(group, max(group.rebalance_timeout_ms, _JOIN_RETRY_MS_MIN))
            return
        group.begin_generation(env.clock.now_ms())
        if group.state is ClassicState.EMPTY:
            logger.info("group %r: empty in generation %d", group.group_id, group.generation)
            outcome.records.append(group_record(group))
            return
        for member in group.members.values():
            parked = group.take_join(member)
            if parked is not None:
                outcome.answer(parked.promise, joined(group, member.member_id))
            member.is_new = False
            self.begin_session(group, member)
            group.pending_sync.add(member.member_id)
        self._set_timer(
            ("sync", group.group_id),
            group.rebalance_timeout_ms,
            partial(self._expire_sync, group.group_id, group.generation),
        )

    def refuse_syncs(self, group: ClassicGroup, error: ErrorCode, outcome: Outcome) -> None:
        """The generation under way comes to nothing: nobody gets an assignment."""
        for member in group.members.values():
            member.assignment = b""
            if member.parked_sync is not None:
                outcome.answer(member.parked_sync, sync_refusal(error))
                member.parked_sync = None
                self.begin_session(group, member)

    def has_synced(self, group: ClassicGroup, member_id: str) -> None:
        group.pending_sync.discard(member_id)
        if not group.pending_sync:
            self._state.timers.cancel(("sync", group.group_id))

    def drop(self, group: ClassicGroup, member: ClassicMember, outcome: Outcome) -> None:
        """Takes a member out; what it waits for is answered so that it joins anew if it is still there."""
        release(group, member, ErrorCode.UNKNOWN_MEMBER_ID, UNKNOWN_MEMBER_ID, outcome)
        group.remove(member.member_id)
        self._state.timers.cancel(("session", group.group_id, member.member_id))

    # --- timers -----------------------------------------------------------------------------------------

    def begin_session(
        self, group: ClassicGroup, member: ClassicMember, timeout_ms: int | None = None
    ) -> None:
        if timeout_ms is None:
            timeout_ms = member.session_timeout_ms
        self.begin_session_of(group.group_id, member.member_id, timeout_ms)

    def begin_session_of(self, group_id: str, member_id: str, timeout_ms: int) -> None:
        action = partial(self._expire_session, group_id, member_id)
        self._set_timer(("session", group_id, member_id), timeout_ms, action)

    def prolong_session(self, group: ClassicGroup, member: ClassicMember) -> None:
        """A sign of life: by far the most frequent event."""
        deadline_ms = self._state.env.clock.monotonic_ms() + member.session_timeout_ms
        if not self._state.timers.move(("session", group.group_id, member.member_id), deadline_ms):
            self.begin_session(group, member)

    def cancel_timers(self, group: ClassicGroup) -> None:
        timers = self._state.timers
        timers.cancel(("join", group.group_id))
        timers.cancel(("sync", group.group_id))
        for member_id in (*group.members, *group.pending_join):
            timers.cancel(("session", group.group_id, member_id))

    def _wait_initially(self, group: ClassicGroup, delay_ms: int, remaining_ms: int) -> None:
        self._set_timer(
            ("join", group.group_id),
            delay_ms,
            partial(self._extend_or_complete, group.group_id, delay_ms, remaining_ms),
        )

    def _extend_or_complete(self, group_id: str, delay_ms: int, remaining_ms: int) -> Outcome:
        outcome = Outcome()
        group = self._preparing(group_id)
        if group is None:
            return outcome
        if group.new_member_added and remaining_ms:
            group.new_member_added = False
            next_ms = min(self._state.env.settings.initial_rebalance_delay_ms, remaining_ms)
            self._wait_initially(group, next_ms, max(remaining_ms - delay_ms, 0))
        else:
            self.complete_join(group, outcome)
        return outcome

    def _set_join_timer(self, group: ClassicGroup, timeout_ms: int) -> None:
        self._set_timer(("join", group.group_id), timeout_ms, partial(self._expire_join, group.group_id))

    def _expire_join(self, group_id: str) -> Outcome:
        outcome = Outcome()
        group = self._preparing(group_id)
        if group is not None:
            self.complete_join(group, outcome)
        return outcome

    def _expire_sync(self, group_id: str, generation: int) -> Outcome:
        outcome = Outcome()
        group = self._state.groups.get(group_id)
        if (
            isinstance(group, ClassicGroup)
            and group.generation == generation
            and group.state in (ClassicState.COMPLETING_REBALANCE, ClassicState.STABLE)
            and group.pending_sync
        ):
            count = len(group.pending_sync)
            for member_id in list(group.pending_sync):
                self.drop(group, group.members[member_id], outcome)
            self.prepare(group, f"{count} members joined and did not sync in time", outcome)
        return outcome

    def _expire_session(self, group_id: str, member_id: str) -> Outcome:
        outcome = Outcome()
        group = self._state.groups.get(group_id)
        if not isinstance(group, ClassicGroup) or group.state is ClassicState.DEAD:
            return outcome
        if member_id in group.pending_join:
            group.remove(member_id)
            outcome.soft_changed = True
        else:
            member = group.members.get(member_id)
            if member is None or member.needs_no_heartbeat:
                return outcome  # its session begins anew when it is answered
            self.drop(group, member, outcome)
            changed(outcome)
            if group.can_rebalance:
                self.prepare(group, f"the session of member {member_id!r} has expired", outcome)
                return outcome
        self.complete_if_all_joined(group, outcome)
        return outcome

    def _preparing(self, group_id: str) -> ClassicGroup | None:
        group = self._state.groups.get(group_id)
        if isinstance(group, ClassicGroup) and group.state is ClassicState.PREPARING_REBALANCE:
            return group
        return None

    def _set_timer(self, key: Hashable, delay_ms: float, action: partial[Outcome]) -> None:
        self._state.timers.set(key, self._state.env.clock.monotonic_ms() + delay_ms, action)


def changed(outcome: Outcome) -> None:
    """Soft state was changed while deciding, and the records say what is already so."""
    outcome.replayed = True
    outcome.soft_changed = True
