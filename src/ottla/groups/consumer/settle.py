"""What follows from a member's new shape, the same for members of both protocols.

In the order in which it is decided and written: the member's subscription, the group's epoch when that or
the topics have changed, the target when the epoch is new, and the member's next step towards the target.
All of it is computed on the state as it will be, in which `new` stands in the place of `old`; nothing is
changed.
"""

from __future__ import annotations

from ottla.coordination.outcome import Outcome
from ottla.groups.consumer.context import Context
from ottla.groups.consumer.fence import begin_revocation
from ottla.groups.consumer.group import ConsumerGroup, matched_topics
from ottla.groups.consumer.member import ConsumerMember, MemberState, Partitions
from ottla.groups.consumer.patterns import PatternChange, pattern_change, refresh_patterns
from ottla.groups.consumer.reconcile import reconcile
from ottla.groups.consumer.records import (
    current_record,
    epoch_record,
    member_tombstones,
    partition_metadata_tombstone,
    subscription_record,
    target_record,
)
from ottla.groups.consumer.target import next_target


class Change:
    """One member's change on its way through the decision."""

    __slots__ = ("context", "group", "replaced", "old", "new", "outcome", "epoch", "_hash", "_changed")

    def __init__(
        self,
        context: Context,
        group: ConsumerGroup,
        old: ConsumerMember,
        new: ConsumerMember,
        outcome: Outcome,
        replaced: ConsumerMember | None = None,
    ) -> None:
        """`old` is the member as the group knows it, an empty one for somebody who comes, or, where
        `replaced` is given, that static member under its new id.
        """
        self.context = context
        self.group = group
        self.replaced = replaced
        self.old = old
        self.new = new
        self.outcome = outcome
        self.epoch = group.epoch
        self._hash = group.metadata_hash
        self._changed = False

    def subscribe(self, *, must_bump: bool = False) -> bool:
        """Writes the member and, when need be, the group's next epoch; whether that moved because of the
        subscription.
        """
        context, group, old, new, outcome = self.context, self.group, self.old, self.new, self.outcome
        if self.replaced is not None:
            if self.replaced.member_id != old.member_id:
                outcome.records += member_tombstones(group.group_id, self.replaced.member_id)
            outcome.records.append(subscription_record(group.group_id, old))
            target = group.targets.get(self.replaced.member_id, {})
            outcome.records.append(target_record(group.group_id, old.member_id, target))
            outcome.records.append(current_record(group.group_id, old))
        is_new = old.member_id not in group.members and self.replaced is None
        if is_new or (new is not old and new != old):
            outcome.records.append(subscription_record(group.group_id, new))
        names_changed = new.topic_names != old.topic_names
        patterns = pattern_change(group, old, new, outcome)
        refresh_patterns(context, group, old, new, outcome)
        self._changed = names_changed or patterns is not PatternChange.NONE
        is_classic = new.classic is not None
        must_bump = (
            must_bump
            or group.epoch == 0
            or names_changed
            or patterns is PatternChange.RESOLVED
            or (is_classic and patterns is PatternChange.UPDATED)
        )
        self._check_topics(must_bump)
        return must_bump

    def _check_topics(self, must_bump: bool) -> None:
        context, group, old, new = self.context, self.group, self.old, self.new
        underway = context.underway(group.group_id)
        version = context.env.topics.version
        if not (must_bump or underway.checked_version != version or group.epoch < underway.checked_epoch):
            return
        dropped: tuple[str, ...] = ()
        if old.pattern is not None and old.pattern != new.pattern and group.patterns.get(old.pattern) == 1:
            dropped = (old.pattern,)
        names = group.subscribed_topics_after((old,), new, dropped)
        self._hash = context.hashes.of_group(names, context.env.topics)
        if must_bump or self._hash != group.metadata_hash:
            self.epoch = group.epoch + 1
            self.outcome.records.append(epoch_record(group.group_id, self.epoch, self._hash))
        underway.checked_version = version
        underway.checked_epoch = self.epoch
        if group.has_partition_metadata:
            self.outcome.records.append(partition_metadata_tombstone(group.group_id))

    def reconcile(self, owned: Partitions | None) -> ConsumerMember:
        """Finds the target, and takes the member's next step; the member as it will be."""
        context, group, new, outcome = self.context, self.group, self.new, self.outcome
        replaced_id = None if self.replaced is None else self.replaced.member_id
        target = next_target(context, group, self.epoch, self._hash, replaced_id, new, outcome)
        names = matched_topics(group.resolutions, new)
        topics = context.env.topics

        def is_subscribed(topic_id: bytes) -> bool:
            facts = topics.topic_by_id(topic_id)
            return facts is not None and facts.name in names

        member = reconcile(
            new,
            target_epoch=target.epoch,
            target=target.partitions,
            owned=owned,
            subscription_changed=self._changed,
            is_subscribed=is_subscribed,
            owners=group.owners,
        )
        if member is not new and member != new:
            outcome.records.append(current_record(group.group_id, member))
            if member.classic is None:
                if member.state is MemberState.UNREVOKED_PARTITIONS:
                    begin_revocation(context, group.group_id, member)
                else:
                    context.state.timers.cancel(("rebalance", group.group_id, member.member_id))
        return member
