"""ConsumerGroupHeartbeat: the one request of the protocol. It joins, keeps the session, reports what the
member owns, and leaves.

A member joins with epoch 0, and leaves with -1, or with -2 when it is static and means to be back. In
between it sends the epoch that it was last given, and only what has changed since its last request. A reply
may get lost: a member whose epoch is the one before is heard as long as it owns nothing that it should not
own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.coordination.record import CoordinatorRecord
from ottla.groups.classic.group import ClassicGroup
from ottla.groups.consumer.context import Context
from ottla.groups.consumer.fence import begin_session, remove_members
from ottla.groups.consumer.group import ConsumerGroup
from ottla.groups.consumer.member import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    NO_PARTITIONS,
    STATIC_LEAVE_EPOCH,
    ConsumerMember,
    Partitions,
)
from ottla.groups.consumer.migration import upgraded
from ottla.groups.consumer.reconcile import check_known
from ottla.groups.consumer.records import current_record, partitions_of
from ottla.groups.consumer.settle import Change
from ottla.groups.group import Client
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.limits import GROUP_RECORD_BYTES_MAX, GROUP_SUBSCRIBED_TOPICS_MAX
from ottla.wire.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ConsumerGroupHeartbeatResponseTopicPartitions,
)

_MEMBER_ID_FROM_CLIENT = 1
"""The first version in which the client makes its member id."""


def heartbeat(
    context: Context,
    request: ConsumerGroupHeartbeatRequest,
    client: Client,
    promise: Promise[ConsumerGroupHeartbeatResponse],
) -> Outcome:
    _check_request(context, request, client.api_version)
    if request.member_epoch < 0:
        return _leave(context, request, promise)
    return _beat(context, request, client, promise)


def _check_request(context: Context, request: ConsumerGroupHeartbeatRequest, api_version: int) -> None:
    settings = context.env.settings
    if not settings.consumer_protocol_enabled:
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, "The consumer group protocol is not enabled.")
    epoch = request.member_epoch
    if api_version >= _MEMBER_ID_FROM_CLIENT or epoch > 0 or epoch == LEAVE_EPOCH:
        _not_empty(request.member_id, "MemberId")
    _not_empty(request.group_id, "GroupId")
    _not_empty(request.instance_id, "InstanceId")
    _not_empty(request.rack_id, "RackId")
    if epoch == JOIN_EPOCH:
        if request.rebalance_timeout_ms == -1:
            raise _invalid("RebalanceTimeoutMs must be provided in first request.")
        if request.topic_partitions is None or request.topic_partitions:
            raise _invalid("TopicPartitions must be empty when (re-)joining.")
        if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
            raise _invalid(
                "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining."
            )
    elif epoch == STATIC_LEAVE_EPOCH:
        if request.instance_id is None:
            raise _invalid("InstanceId can't be null.")
    elif epoch < STATIC_LEAVE_EPOCH:
        raise _invalid("MemberEpoch is invalid.")
    assignors = settings.consumer_assignors
    if request.server_assignor is not None and request.server_assignor not in assignors:
        raise KafkaError(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {request.server_assignor} is not supported. "
            f"Supported assignors: {', '.join(assignors)}.",
        )
    names = request.subscribed_topic_names
    if names is not None and len(names) > GROUP_SUBSCRIBED_TOPICS_MAX:
        raise _invalid(
            f"SubscribedTopicNames has {len(names)} names, {GROUP_SUBSCRIBED_TOPICS_MAX} are allowed."
        )


def _not_empty(value: str | None, field: str) -> None:
    if value is not None and not value.strip():
        raise _invalid(f"{field} can't be empty.")


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)


# --- joining and staying ------------------------------------------------------------------------------------


def _beat(
    context: Context,
    request: ConsumerGroupHeartbeatRequest,
    client: Client,
    promise: Promise[ConsumerGroupHeartbeatResponse],
) -> Outcome:
    group_id = request.group_id
    is_joining = request.member_epoch == JOIN_EPOCH
    classic, group, records = _find_group(context, group_id, is_joining)
    check_capacity(context, group, request.member_id)
    member_id = request.member_id or context.env.new_uuid_text()
    owned = None if request.topic_partitions is None else partitions_of(request.topic_partitions)
    replaced: ConsumerMember | None = None
    if request.instance_id is not None:
        old, replaced = static_member(group, member_id, request.instance_id, is_joining, is_classic=False)
        if not is_joining:
            _check_epoch(old, request.member_epoch, owned)
    elif is_joining:
        old = group.members.get(member_id) or ConsumerMember(member_id)
    else:
        old = group.member(member_id)
        _check_epoch(old, request.member_epoch, owned)

    check_known(old, owned)

    outcome = Outcome()
    outcome.records += records
    change = Change(context, group, old, _updated(old, request, client), outcome, replaced)
    # A classic group may come in the middle of a rebalance, or with topics that its leader has not seen yet:
    # it needs a target in any case.
    change.subscribe(must_bump=classic is not None)
    member = change.reconcile(owned)
    if classic is not None:
        _check_size(outcome)
        outcome.records[:0] = _end_classic(context, classic, group, outcome)
    begin_session(context, group_id, member_id)

    response = ConsumerGroupHeartbeatResponse(
        member_id=member.member_id,
        member_epoch=member.epoch,
        heartbeat_interval_ms=context.heartbeat_interval_ms(group_id),
    )
    is_full = (
        request.rebalance_timeout_ms != -1
        and (request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None)
        and request.topic_partitions is not None
    )
    if is_joining or is_full or member.assigned != old.assigned:
        response.assignment = _assignment(member.assigned)
    outcome.answer(promise, response)
    return outcome


def _find_group(
    context: Context, group_id: str, is_joining: bool
) -> tuple[ClassicGroup | None, ConsumerGroup, list[CoordinatorRecord]]:
    """A consumer group; for somebody who joins also one that is made for it, perhaps from a classic one,
    which is given too.
    """
    group = context.state.groups.get(group_id)
    if isinstance(group, ConsumerGroup):
        return None, group, []
    if not is_joining:
        raise KafkaError(
            ErrorCode.GROUP_ID_NOT_FOUND,
            f"Consumer group {group_id} not found."
            if group is None
            else f"Group {group_id} is not a consumer group.",
        )
    if group is None:
        return None, ConsumerGroup(group_id), []
    if not isinstance(group, ClassicGroup):
        raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
    if group.is_empty:
        return group, ConsumerGroup(group_id), []
    return group, *upgraded(context, group)


def _check_size(outcome: Outcome) -> None:
    """The classic group is gone once it is dissolved, so its successor has to fit into one batch."""
    size = sum(len(record.key_bytes()) + len(record.value_bytes() or b"") for record in outcome.records)
    if size > GROUP_RECORD_BYTES_MAX:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "The group is too large to be upgraded.")


def _end_classic(
    context: Context, classic: ClassicGroup, group: ConsumerGroup, outcome: Outcome
) -> list[CoordinatorRecord]:
    """From here on nothing may be refused."""
    ending = context.classic.dissolve(classic)
    outcome.answers += ending.answers
    outcome.soft_changed = True
    for member in group.members.values():
        assert member.classic is not None
        begin_session(context, group.group_id, member.member_id, member.classic.session_timeout_ms)
    return ending.records


def check_capacity(context: Context, group: ConsumerGroup, member_id: str) -> None:
    size_max = context.env.settings.consumer_max_size
    if len(group.members) >= size_max and member_id not in group.members:
        raise KafkaError(
            ErrorCode.GROUP_MAX_SIZE_REACHED,
            f"The consumer group has reached its maximum capacity of {size_max} members.",
        )


def static_member(
    group: ConsumerGroup, member_id: str, instance_id: str, is_joining: bool, *, is_classic: bool
) -> tuple[ConsumerMember, ConsumerMember | None]:
    """The static member as it is, or will be under its new id; and the one that is replaced by that."""
    existing = group.static_member(instance_id)
    if not is_joining:
        return check_static(existing, member_id, instance_id), None
    if existing is None:
        return group.members.get(member_id) or ConsumerMember(member_id), None
    if not is_classic and existing.classic is None and existing.epoch != STATIC_LEAVE_EPOCH:
        raise KafkaError(
            ErrorCode.UNRELEASED_INSTANCE_ID,
            f"Static member {member_id} with instance id {instance_id} cannot join the group because the "
            f"instance id is owned by {existing.member_id} member.",
        )
    return replace(existing, member_id=member_id, epoch=0, previous_epoch=0), existing


def check_static(existing: ConsumerMember | None, member_id: str, instance_id: str) -> ConsumerMember:
    if existing is None:
        raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
    if existing.member_id != member_id:
        raise KafkaError(
            ErrorCode.FENCED_INSTANCE_ID,
            f"Static member {member_id} with instance id {instance_id} was fenced by member "
            f"{existing.member_id}.",
        )
    return existing


def _check_epoch(member: ConsumerMember, received: int, owned: Partitions | None) -> None:
    if received == member.epoch:
        return
    if received > member.epoch:
        comparison = "greater"
    elif received == member.previous_epoch and owned is not None and _is_within(owned, member.assigned):
        return  # it has not got the reply that moved it on
    else:
        comparison = "smaller"
    raise KafkaError(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The consumer group member has a {comparison} member epoch ({received}) than the one known by the "
        f"group coordinator ({member.epoch}). The member must abandon all its partitions and rejoin.",
    )


def _is_within(owned: Partitions, assigned: Partitions) -> bool:
    return all(numbers <= assigned.get(topic_id, frozenset()) for topic_id, numbers in owned.items())


def _updated(
    member: ConsumerMember, request: ConsumerGroupHeartbeatRequest, client: Client
) -> ConsumerMember:
    """The member with what the request brings; the same one when that is nothing."""
    changes: dict[str, Any] = {}
    if request.instance_id is not None and request.instance_id != member.instance_id:
        changes["instance_id"] = request.instance_id
    if request.rack_id is not None and request.rack_id != member.rack_id:
        changes["rack_id"] = request.rack_id
    if request.rebalance_timeout_ms not in (-1, member.rebalance_timeout_ms):
        changes["rebalance_timeout_ms"] = request.rebalance_timeout_ms
    if request.server_assignor is not None and request.server_assignor != member.assignor:
        changes["assignor"] = request.server_assignor
    if request.subscribed_topic_names is not None:
        names = frozenset(request.subscribed_topic_names)
        if names != member.topic_names:
            changes["topic_names"] = names
    if request.subscribed_topic_regex is not None and request.subscribed_topic_regex != member.regex:
        changes["regex"] = request.subscribed_topic_regex
    if client.client_id != member.client_id:
        changes["client_id"] = client.client_id
    if client.client_host != member.client_host:
        changes["client_host"] = client.client_host
    if member.classic is not None:
        changes["classic"] = None
    return replace(member, **changes) if changes else member


def _assignment(assigned: Partitions) -> Assignment:
    return Assignment(
        topic_partitions=[
            ConsumerGroupHeartbeatResponseTopicPartitions(topic_id=topic_id, partitions=sorted(partitions))
            for topic_id, partitions in assigned.items()
        ]
    )


# --- leaving ------------------------------------------------------------------------------------------------


def _leave(
    context: Context,
    request: ConsumerGroupHeartbeatRequest,
    promise: Promise[ConsumerGroupHeartbeatResponse],
) -> Outcome:
    group = context.group(request.group_id)
    outcome = Outcome()
    if request.instance_id is None:
        member = group.member(request.member_id)
    else:
        member = check_static(
            group.static_member(request.instance_id), request.member_id, request.instance_id
        )
    if request.member_epoch == STATIC_LEAVE_EPOCH:
        # Its session goes on: until it ends, the partitions are kept for its return.
        gone = replace(member, epoch=STATIC_LEAVE_EPOCH, pending_revocation=NO_PARTITIONS)
        outcome.records.append(current_record(group.group_id, gone))
    else:
        remove_members(context, group, [member], outcome)
    outcome.answer(
        promise,
        ConsumerGroupHeartbeatResponse(member_id=member.member_id, member_epoch=request.member_epoch),
    )
    return outcome
