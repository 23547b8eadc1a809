"""Members go: they leave, or their time is up. And the timers that say when it is.

    ("session", group, member)    it was silent, or, static and gone for a while, did not come back
    ("rebalance", group, member)  it did not give up the partitions that it was asked for
    ("join", group, member)       a classic member was told to rejoin, and did not
    ("sync", group, member)       a classic member joined, and did not ask for its assignment

A timer may be older than what it finds: a member that is not there, or has moved on, is left alone. A
member's timers end when the record that removes it is replayed; until then they are tried again, since it
may be that the record could not be written.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import Final

from ottla.coordination.outcome import Outcome
from ottla.groups.consumer.context import Context
from ottla.groups.consumer.group import ConsumerGroup
from ottla.groups.consumer.member import ConsumerMember, MemberState
from ottla.groups.consumer.migration import downgrade, may_downgrade
from ottla.groups.consumer.records import epoch_record, member_tombstones, regex_tombstone

logger = logging.getLogger(__name__)

_RETRY_MS: Final = 500
"""As in Kafka's coordinator."""


def remove_members(
    context: Context, group: ConsumerGroup, leaving: list[ConsumerMember], outcome: Outcome
) -> None:
    """The group goes on without them, in a new epoch; or as a classic group, when nobody else spoke the
    newer protocol.
    """
    if not leaving:
        return
    group_id = group.group_id
    if may_downgrade(context, group, leaving):
        downgrade(context, group, leaving, None, outcome, must_rebalance=True)
        return
    counts: dict[str, int] = {}
    for member in leaving:
        outcome.records += member_tombstones(group_id, member.member_id)
        if member.pattern is not None:
            counts[member.pattern] = counts.get(member.pattern, 0) + 1
    dropped = [pattern for pattern, count in counts.items() if group.patterns.get(pattern) == count]
    outcome.records += [regex_tombstone(group_id, pattern) for pattern in dropped]
    names = group.subscribed_topics_after(leaving, None, dropped)
    metadata_hash = context.hashes.of_group(names, context.env.topics)
    outcome.records.append(epoch_record(group_id, group.epoch + 1, metadata_hash))


def cancel_timers(context: Context, group_id: str, member_id: str) -> None:
    for kind in ("session", "rebalance", "join", "sync"):
        context.state.timers.cancel((kind, group_id, member_id))


def begin_session(context: Context, group_id: str, member_id: str, timeout_ms: int | None = None) -> None:
    """A sign of life: the most frequent event of all."""
    if timeout_ms is None:
        timeout_ms = context.session_timeout_ms(group_id)
    key = ("session", group_id, member_id)
    deadline_ms = context.env.clock.monotonic_ms() + timeout_ms
    context.state.timers.set(key, deadline_ms, partial(_expire, context, group_id, member_id, "session"))


def begin_revocation(context: Context, group_id: str, member: ConsumerMember) -> None:
    context.state.timers.set(
        ("rebalance", group_id, member.member_id),
        context.env.clock.monotonic_ms() + member.rebalance_timeout_ms,
        partial(_expire_revocation, context, group_id, member.member_id, member.epoch),
    )


def begin_rejoin(context: Context, group_id: str, member: ConsumerMember) -> None:
    """Unless it was asked already."""
    key = ("join", group_id, member.member_id)
    if key not in context.state.timers:
        deadline_ms = context.env.clock.monotonic_ms() + member.rebalance_timeout_ms
        context.state.timers.set(
            key, deadline_ms, partial(_expire, context, group_id, member.member_id, "join")
        )


def begin_sync(context: Context, group_id: str, member: ConsumerMember) -> None:
    context.state.timers.set(
        ("sync", group_id, member.member_id),
        context.env.clock.monotonic_ms() + member.rebalance_timeout_ms,
        partial(_expire, context, group_id, member.member_id, "sync"),
    )


def _try_again(context: Context, key: tuple[str, str, str], action: partial[Outcome]) -> None:
    context.state.timers.set(key, context.env.clock.monotonic_ms() + _RETRY_MS, action)


def _expire(context: Context, group_id: str, member_id: str, kind: str) -> Outcome:
    outcome = Outcome()
    group = context.find(group_id)
    member = None if group is None else group.members.get(member_id)
    if group is not None and member is not None:
        _try_again(context, (kind, group_id, member_id), partial(_expire, context, group_id, member_id, kind))
        logger.info("group %r: member %r is out, its %s timeout has passed", group_id, member_id, kind)
        remove_members(context, group, [member], outcome)
    return outcome


def _expire_revocation(context: Context, group_id: str, member_id: str, epoch: int) -> Outcome:
    outcome = Outcome()
    group = context.find(group_id)
    member = None if group is None else group.members.get(member_id)
    if (
        group is not None
        and member is not None
        and member.epoch == epoch
        and member.state is MemberState.UNREVOKED_PARTITIONS
    ):
        _try_again(
            context,
            ("rebalance", group_id, member_id),
            partial(_expire_revocation, context, group_id, member_id, epoch),
        )
        logger.info(
            "group %r: member %r is out, it did not leave epoch %d in time", group_id, member_id, epoch
        )
        remove_members(context, group, [member], outcome)
    return outcome
