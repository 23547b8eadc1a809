"""The next step of one member towards its target.

A member first gives up what its target lacks (UNREVOKED_PARTITIONS, still in its old epoch; its heartbeats'
owned partitions tell when it has), then moves to the target's epoch and gets what nobody holds (STABLE),
and waits for what others still hold (UNRELEASED_PARTITIONS). Since a partition is only handed out when
nobody owns it, and is owned until its owner says that it has let go, it never has two owners.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ottla.groups.consumer.member import NO_PARTITIONS, ConsumerMember, MemberState, Partitions
from ottla.model.errors import ErrorCode, KafkaError

_NONE: frozenset[int] = frozenset()


def reconcile(
    member: ConsumerMember,
    *,
    target_epoch: int,
    target: Partitions,
    owned: Partitions | None,
    subscription_changed: bool,
    is_subscribed: Callable[[bytes], bool],
    owners: Mapping[bytes, Mapping[int, str]],
) -> ConsumerMember:
    """The member as it will be, or the same when nothing can move.

    `owned` is what the member says that it has, None when it says nothing. `is_subscribed` knows by topic
    id what the member reads now, which may be less than what its target was computed for.
    """
    if not subscription_changed and member.is_reconciled_to(target_epoch):
        return member
    state = member.state
    if state is MemberState.STABLE:
        if member.epoch == target_epoch:
            return _without_unsubscribed(member, owned, is_subscribed)
    elif state is MemberState.UNREVOKED_PARTITIONS and _still_owns(owned, member.pending_revocation):
        return _without_unsubscribed(member, owned, is_subscribed) if subscription_changed else member
    return _towards(member, target_epoch, target, owned, is_subscribed, owners)


def check_known(member: ConsumerMember, owned: Partitions | None) -> None:
    """A member in a state of some newer version starts over: it has to come with nothing in its hands."""
    if member.state is MemberState.UNKNOWN and (owned is None or owned):
        raise KafkaError(
            ErrorCode.FENCED_MEMBER_EPOCH,
            "The consumer group member is in a unknown state. "
            "The member must abandon all its partitions and rejoin.",
        )


def _still_owns(owned: Partitions | None, given_up: Partitions) -> bool:
    if owned is None:
        return True
    return any(not given_up.get(topic_id, _NONE).isdisjoint(numbers) for topic_id, numbers in owned.items())


def _without_unsubscribed(
    member: ConsumerMember, owned: Partitions | None, is_subscribed: Callable[[bytes], bool]
) -> ConsumerMember:
    """Takes away the topics that the member no longer reads, without waiting for a new target."""
    kept: dict[bytes, frozenset[int]] = {}
    revoked = dict(member.pending_revocation)
    for topic_id, numbers in member.assigned.items():
        if is_subscribed(topic_id):
            kept[topic_id] = numbers
        else:
            revoked[topic_id] = revoked.get(topic_id, _NONE) | numbers
    if len(kept) == len(member.assigned):
        return member
    if _still_owns(owned, revoked):
        return replace(
            member, state=MemberState.UNREVOKED_PARTITIONS, assigned=kept, pending_revocation=revoked
        )
    return replace(member, assigned=kept)


def _towards(
    member: ConsumerMember,
    target_epoch: int,
    target: Partitions,
    owned: Partitions | None,
    is_subscribed: Callable[[bytes], bool],
    owners: Mapping[bytes, Mapping[int, str]],
) -> ConsumerMember:
    kept: dict[bytes, frozenset[int]] = {}
    revoked: dict[bytes, frozenset[int]] = {}
    added: dict[bytes, frozenset[int]] = {}
    has_unreleased = False
    for topic_id in target.keys() | member.assigned.keys():
        has = member.assigned.get(topic_id, _NONE)
        wanted = target.get(topic_id, _NONE) if is_subscribed(topic_id) else _NONE
        keep = has & wanted
        if keep:
            kept[topic_id] = keep
        if len(keep) < len(has):
            revoked[topic_id] = has - keep
        missing = wanted - keep
        if missing:
            held = owners.get(topic_id, {})
            # What the member itself was giving up is not in another's hands: it may have it back.
            returned = member.pending_revocation.get(topic_id, _NONE)
            free = frozenset(p for p in missing if p not in held or p in returned)
            has_unreleased = has_unreleased or len(free) < len(missing)
            if free:
                added[topic_id] = free

    if revoked and _still_owns(owned, revoked):
        return replace(
            member,
            state=MemberState.UNREVOKED_PARTITIONS,
            previous_epoch=member.epoch,
            assigned=kept,
            pending_revocation=revoked,
        )
    for topic_id, free in added.items():
        kept[topic_id] = kept.get(topic_id, _NONE) | free
    return replace(
        member,
        state=MemberState.UNRELEASED_PARTITIONS if has_unreleased else MemberState.STABLE,
        epoch=target_epoch,
        previous_epoch=member.epoch,
        assigned=kept,
        pending_revocation=NO_PARTITIONS,
    )
