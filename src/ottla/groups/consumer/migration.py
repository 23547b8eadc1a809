"""A group changes its protocol while it works (KIP-848): classic to consumer, and back.

Up: the first consumer-protocol member of a classic group of consumers turns it into a consumer group, whose
members then are the classic ones, each owning what its last assignment says, in the generation as epoch.
Those who wait in a join or sync are told to rejoin.

Down: when the last consumer-protocol member goes, or a classic one takes its instance id, the rest becomes
a classic group again, in the group's epoch as generation and with the targets as assignments, and
rebalances.
"""

from __future__ import annotations

from typing import Final

from ottla.coordination.outcome import Outcome
from ottla.coordination.record import CoordinatorRecord
from ottla.groups.classic.group import ClassicGroup
from ottla.groups.classic.member import ClassicMember
from ottla.groups.classic.states import ClassicState
from ottla.groups.consumer.context import Context
from ottla.groups.consumer.embedded import (
    assigned_partitions,
    decode_assignment,
    decode_subscription,
    encode_assignment,
)
from ottla.groups.consumer.group import ConsumerGroup
from ottla.groups.consumer.member import NO_PARTITIONS, ClassicSide, ConsumerMember, Partitions
from ottla.groups.consumer.records import (
    current_record,
    epoch_record,
    group_tombstones,
    subscription_record,
    target_epoch_record,
    target_record,
)
from ottla.groups.group import CONSUMER_PROTOCOL_TYPE
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.limits import GROUP_RECORD_BYTES_MAX
from ottla.wire.primitives import DecodeError

_UPGRADE: Final = ("upgrade", "bidirectional")
_DOWNGRADE: Final = ("downgrade", "bidirectional")


# --- up -----------------------------------------------------------------------------------------------------


def upgraded(context: Context, classic: ClassicGroup) -> tuple[ConsumerGroup, list[CoordinatorRecord]]:
    """The consumer group that a classic one with members will be, and the records that make it so; the
    classic one's tombstone comes from `ClassicGroups.dissolve`. Changes nothing. Raises GROUP_ID_NOT_FOUND
    when that may not or cannot be.
    """
    settings = context.env.settings
    if settings.consumer_migration_policy.lower() not in _UPGRADE:
        raise _cannot_upgrade(classic, "online upgrade is disabled")
    if not classic.uses_consumer_protocol:
        raise _cannot_upgrade(classic, "the group does not use the consumer embedded protocol")
    if len(classic.members) > settings.consumer_max_size:
        raise _cannot_upgrade(classic, "the group size exceeds the consumer group maximum size")
    group_id = classic.group_id
    taken: dict[bytes, set[int]] = {}
    members = [_upgraded_member(context, classic, member, taken) for member in classic.members.values()]
    names = {name for member in members for name in member.topic_names}
    metadata_hash = context.hashes.of_group(names, context.env.topics)
    records = [subscription_record(group_id, member) for member in members]
    records.append(epoch_record(group_id, classic.generation, metadata_hash))
    records += [target_record(group_id, member.member_id, member.assigned) for member in members]
    records.append(target_epoch_record(group_id, classic.generation))
    records += [current_record(group_id, member) for member in members]
    group = ConsumerGroup(group_id)
    for record in records:
        group.apply(record)
    return group, records


def _cannot_upgrade(classic: ClassicGroup, reason: str) -> KafkaError:
    return KafkaError(
        ErrorCode.GROUP_ID_NOT_FOUND,
        f"Cannot upgrade classic group {classic.group_id} to consumer group because {reason}.",
    )


def _upgraded_member(
    context: Context, classic: ClassicGroup, member: ClassicMember, taken: dict[bytes, set[int]]
) -> ConsumerMember:
    topics = context.env.topics
    # In a group that has not come to its first generation, everybody's first choice counts.
    protocol = classic.protocol_name
    metadata = next(iter(member.protocols.values())) if protocol is None else member.metadata(protocol)
    try:
        subscription = decode_subscription(metadata)
        assigned: Partitions = NO_PARTITIONS
        if member.assignment:
            assignment = decode_assignment(member.assignment)
            if assignment.user_data:
                raise _cannot_upgrade(
                    classic,
                    "an unsupported custom assignor is in use. Please refer to the documentation or switch "
                    "to a default assignor before re-attempting the upgrade",
                )
            assigned = _not_yet_taken(assigned_partitions(assignment, topics), taken)
    except DecodeError:
        raise _cannot_upgrade(classic, "the embedded consumer protocol is malformed") from None
    return ConsumerMember(
        member.member_id,
        epoch=classic.generation,
        previous_epoch=classic.generation,
        instance_id=member.instance_id,
        rack_id=subscription.rack_id or None,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        client_id=member.client_id,
        client_host=member.client_host,
        topic_names=frozenset(subscription.topics),
        assigned=assigned,
        classic=ClassicSide(
            member.session_timeout_ms,
            tuple((name, bytes(metadata)) for name, metadata in member.protocols.items()),
        ),
    )


def _not_yet_taken(assigned: Partitions, taken: dict[bytes, set[int]]) -> Partitions:
    """A leader may have given a partition to two members; here it has one owner."""
    kept: dict[bytes, frozenset[int]] = {}
    for topic_id, partitions in assigned.items():
        others = taken.setdefault(topic_id, set())
        if free := partitions - others:
            kept[topic_id] = free
            others |= free
    return kept


# --- down ---------------------------------------------------------------------------------------------------


def may_downgrade(
    context: Context,
    group: ConsumerGroup,
    leaving: list[ConsumerMember],
    joining: ConsumerMember | None = None,
) -> bool:
    """Without those who leave, only members of the classic protocol remain. A `joining` one comes in the
    place of a single leaving static member.
    """
    settings = context.env.settings
    size = len(group.members) - len(leaving) + (joining is not None)
    classic_count = group.classic_members - sum(member.classic is not None for member in leaving)
    if size <= 0 or classic_count + (joining is not None) != size:
        return False
    if settings.consumer_migration_policy.lower() not in _DOWNGRADE or size > settings.max_size:
        return False
    remaining = _remaining(group, leaving, joining)
    return bool(_common_protocols(remaining)) and _fits_a_record(remaining)


def _fits_a_record(members: list[ConsumerMember]) -> bool:
    """A classic group is one record, with one protocol of each member: the largest one, to be safe."""
    size = sum(
        max((len(metadata) for _, metadata in member.classic.protocols), default=0)
        for member in members
        if member.classic is not None
    )
    return size <= GROUP_RECORD_BYTES_MAX // 2


def downgrade(
    context: Context,
    group: ConsumerGroup,
    leaving: list[ConsumerMember],
    joining: ConsumerMember | None,
    outcome: Outcome,
    *,
    must_rebalance: bool,
) -> None:
    """Puts a classic group in the place of the consumer group, in the state and in the records of
    `outcome`, which say what is already so.
    """
    group_id = group.group_id
    topics = context.env.topics
    replaced = leaving[0] if joining is not None else None
    member_ids = [
        joining.member_id if joining is not None and member is replaced else member.member_id
        for member in group.members.values()
    ]
    outcome.records += group_tombstones(group_id, member_ids, group.resolutions)
    remaining = _remaining(group, leaving, joining)
    members: list[ClassicMember] = []
    for member in remaining:
        assert member.classic is not None
        members.append(
            ClassicMember(
                member.member_id,
                instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                rebalance_timeout_ms=member.rebalance_timeout_ms,
                session_timeout_ms=member.classic.session_timeout_ms,
                protocol_type=CONSUMER_PROTOCOL_TYPE,
                protocols=dict(member.classic.protocols),
            )
        )
    classic = ClassicGroup(
        group_id,
        state=ClassicState.STABLE,
        since_ms=context.env.clock.now_ms(),
        generation=group.epoch,
        protocol_type=CONSUMER_PROTOCOL_TYPE,
        members=members,
    )
    for member, made in zip(remaining, members, strict=True):
        known = replaced if member is joining and replaced is not None else member
        target = group.targets.get(known.member_id, NO_PARTITIONS)
        try:
            made.assignment = encode_assignment(target, made.metadata(classic.protocol_name), topics)
        except DecodeError:
            made.assignment = b""  # it would not understand one either
    # A static member that takes over a settled group's place needs no rebalance. In any other group the
    # targets are not what members have, and only a rebalance makes sure that nobody reads what somebody
    # else still reads.
    if joining is None or must_rebalance or not _all_but(group, replaced):
        reason: str | None = "the group has changed from the consumer to the classic protocol"
    else:
        reason = None
    for member_id in {*group.members, *member_ids}:
        for kind in ("session", "rebalance", "join", "sync"):
            context.state.timers.cancel((kind, group_id, member_id))
    context.forget(group_id)
    del context.state.groups[group_id]
    outcome.replayed = True
    outcome.soft_changed = True
    outcome.absorb(context.classic.adopt(classic, reason))


def _all_but(group: ConsumerGroup, replaced: ConsumerMember | None) -> bool:
    """Everybody else has reached the target."""
    return group.epoch == group.assignment_epoch and all(
        member is replaced or member.is_reconciled_to(group.epoch) for member in group.members.values()
    )


def _remaining(
    group: ConsumerGroup, leaving: list[ConsumerMember], joining: ConsumerMember | None
) -> list[ConsumerMember]:
    gone = {member.member_id for member in leaving}
    remaining = [member for member in group.members.values() if member.member_id not in gone]
    if joining is not None:
        remaining.append(joining)
    return remaining


def _common_protocols(members: list[ConsumerMember]) -> set[str]:
    common: set[str] | None = None
    for member in members:
        if member.classic is None:
            return set()
        names = {name for name, _ in member.classic.protocols}
        common = names if common is None else common & names
    return common or set()
