"""The target assignment: computed at once for most groups, as a job for big ones.

A job works on a snapshot that it took for one epoch, while the group goes on: members come and go, epochs
move, and everybody is reconciled to the old target. What makes the result usable when it is there, whatever
happened meanwhile:

- It is written only while `assignment_epoch < its epoch <= epoch`, and no other target was written since
  its snapshot. Targets are computed one at a time for a group, so epochs of targets only grow; and a group
  whose epoch has moved on computes the next one at its next heartbeat, so a target that has aged is a step
  and not an end.
- Members that have gone are left out. Their partitions stay free until the next target. Whoever came later
  has no target and gets nothing until then; a static member that returned under another id takes over what
  its instance id was given.
- A target is a wish. Whether a member reads the topic still, and whether the partition is free, is decided
  when the member is reconciled, on the state of that moment (`reconcile.py`). So an aged target can ask for
  too much or too little, and never gives a partition two owners.

The first target of a group has no old one to go on with, and a member in epoch 0 has not joined. So the
group then starts in epoch 2, with an empty target for epoch 1 to wait in.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Final, NamedTuple

from ottla.assignors import server_range, uniform
from ottla.assignors.group_spec import Assignment, GroupSpec, MemberSpec
from ottla.coordination.outcome import Job, Outcome, try_now
from ottla.coordination.record import CoordinatorRecord
from ottla.groups.consumer.context import Context, Underway
from ottla.groups.consumer.group import ConsumerGroup, Resolution, matched_topics
from ottla.groups.consumer.member import NO_PARTITIONS, ConsumerMember, Partitions
from ottla.groups.consumer.records import epoch_record, target_epoch_record, target_record
from ottla.ports.topic_view import TopicView

ASSIGNORS: Final = {"uniform": uniform.assign_steps, "range": server_range.assign_steps}

_INLINE_STEPS_MAX: Final = 12
"""Steps that are taken at once, about a millisecond in all: enough for two hundred members. It is worth some
time, since a member that has to wait for its target waits for a whole heartbeat interval.
"""

_SPECS: Final = 250
"""Members per step when a spec is put together …"""
_RECORDS: Final = 100
"""… and when records are compared and made: some 200 µs each."""

_Steps = Generator[None, None, "_Computed"]


class Target(NamedTuple):
    """What a member is to be reconciled to."""

    epoch: int
    partitions: Partitions


class _Computed(NamedTuple):
    assignment: Assignment
    records: dict[str, CoordinatorRecord]
    """Of the members whose target has changed, by member id."""


def next_target(
    context: Context,
    group: ConsumerGroup,
    epoch: int,
    metadata_hash: int,
    replaced_id: str | None,
    member: ConsumerMember,
    outcome: Outcome,
) -> Target:
    """The target for a member that is about to be written, after which the group is in `epoch`."""
    if epoch <= group.assignment_epoch:
        return Target(group.assignment_epoch, group.target_of(member))
    group_id = group.group_id
    underway = context.underway(group_id)
    if underway.assigning is not None:
        return Target(group.assignment_epoch, group.target_of(member))

    members = dict(group.members)
    targets = dict(group.targets)
    if replaced_id is not None:
        members.pop(replaced_id, None)
        target = targets.pop(replaced_id, None)
        if target is not None:
            targets[member.member_id] = target
    members[member.member_id] = member
    assignor = _assignor_name(context, members)
    steps = _steps(group_id, members, targets, dict(group.resolutions), context.env.topics, assignor)
    done, computed = try_now(steps, _INLINE_STEPS_MAX)
    if done:
        assert computed is not None
        outcome.records += computed.records.values()
        outcome.records.append(target_epoch_record(group_id, epoch))
        return Target(epoch, computed.assignment.get(member.member_id, NO_PARTITIONS))

    epoch_to_wait_in = group.assignment_epoch
    if epoch_to_wait_in <= 0:
        epoch_to_wait_in, epoch = epoch, epoch + 1
        outcome.records.append(epoch_record(group_id, epoch, metadata_hash))
        outcome.records.append(target_epoch_record(group_id, epoch_to_wait_in))
        underway.checked_epoch = epoch
    started_at = epoch_to_wait_in
    outcome.jobs.append(_job(context, group_id, underway, started_at, epoch, members, steps))
    return Target(epoch_to_wait_in, group.target_of(member))


def _assignor_name(context: Context, members: Mapping[str, ConsumerMember]) -> str:
    """What most members ask for; the configured order decides between equals, and when nobody asks."""
    configured = context.env.settings.consumer_assignors
    votes = dict.fromkeys(configured, 0)
    for member in members.values():
        if member.assignor in votes:
            votes[member.assignor] += 1
    return max(configured, key=votes.__getitem__)


def assignor_name(context: Context, group: ConsumerGroup) -> str:
    return _assignor_name(context, group.members)


def _steps(
    group_id: str,
    members: Mapping[str, ConsumerMember],
    targets: Mapping[str, Partitions],
    resolutions: Mapping[str, Resolution],
    topics: TopicView,
    assignor: str,
) -> _Steps:
    specs: dict[str, MemberSpec] = {}
    counts: dict[bytes, int] = {}
    ids_of: dict[frozenset[str], frozenset[bytes]] = {}
    for number, (member_id, member) in enumerate(members.items()):
        names = matched_topics(resolutions, member)
        topic_ids = ids_of.get(names)
        if topic_ids is None:
            found = [facts for name in names if (facts := topics.topic(name)) is not None]
            counts.update((facts.topic_id, facts.partition_count) for facts in found)
            topic_ids = ids_of[names] = frozenset(facts.topic_id for facts in found)
            if len(names) > _SPECS:
                yield
        specs[member_id] = MemberSpec(
            member.instance_id, member.rack_id, topic_ids, targets.get(member_id, NO_PARTITIONS)
        )
        if number % _SPECS == _SPECS - 1:
            yield
    assignment = yield from ASSIGNORS[assignor](GroupSpec(specs, counts))
    records: dict[str, CoordinatorRecord] = {}
    for number, member_id in enumerate(members):
        new = assignment.get(member_id, NO_PARTITIONS)
        if targets.get(member_id) != new:
            records[member_id] = target_record(group_id, member_id, new)
        if number % _RECORDS == _RECORDS - 1:
            yield
    return _Computed(assignment, records)


def _job(
    context: Context,
    group_id: str,
    underway: Underway,
    started_at: int,
    epoch: int,
    members: Mapping[str, ConsumerMember],
    steps: _Steps,
) -> Job:
    def still_wanted() -> ConsumerGroup | None:
        """No other target was written since the snapshot, and the group is the same."""
        group = context.find(group_id) if context.is_current(group_id, underway) else None
        if group is None or group.assignment_epoch != started_at or not started_at < epoch <= group.epoch:
            return None
        return group

    # The job claims the group when it begins and not when it is decided: only then is it sure that the
    # records it rests on were written.
    if underway.assigning is not None or still_wanted() is None:
        return Outcome()
    token = underway.assigning = object()
    computed = yield from steps
    outcome = Outcome()
    if underway.assigning is token:
        underway.assigning = None
    group = still_wanted()
    if group is None:
        return outcome
    for member_id, record in computed.records.items():
        if member_id in group.members:
            outcome.records.append(record)
    outcome.records += _inherited(group, members, computed.assignment)
    outcome.records.append(target_epoch_record(group_id, epoch))
    return outcome


def _inherited(
    group: ConsumerGroup, members: Mapping[str, ConsumerMember], assignment: Assignment
) -> list[CoordinatorRecord]:
    """Targets of static members that have returned under another id since the snapshot."""
    records: list[CoordinatorRecord] = []
    for old_id, old in members.items():
        if old.instance_id is not None and old_id not in group.members:
            new_id = group.static_members.get(old.instance_id)
            target = assignment.get(old_id, NO_PARTITIONS)
            if new_id is not None and new_id not in members and group.targets.get(new_id) != target:
                records.append(target_record(group.group_id, new_id, target))
    return records
