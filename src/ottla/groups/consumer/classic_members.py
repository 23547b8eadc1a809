"""Members of the classic protocol in a consumer group (KIP-848's online migration): JoinGroup, SyncGroup,
Heartbeat, LeaveGroup.

Nobody waits for others here: each of them is reconciled on its own, and answered at once. A join is their
full heartbeat, with the partitions that the embedded subscription says are owned; the sync hands out what
is assigned; and a heartbeat that is answered with REBALANCE_IN_PROGRESS sends the member back to join,
whenever there is a next step for it.
"""

from __future__ import annotations

from dataclasses import replace

from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.groups.classic.answers import join_refusal
from ottla.groups.classic.member import protocols_of
from ottla.groups.consumer.context import Context
from ottla.groups.consumer.embedded import decode_subscription, encode_assignment, owned_partitions
from ottla.groups.consumer.fence import (
    begin_rejoin,
    begin_session,
    begin_sync,
    remove_members,
)
from ottla.groups.consumer.group import ConsumerGroup
from ottla.groups.consumer.heartbeat import check_capacity, check_static, static_member
from ottla.groups.consumer.member import ClassicSide, ConsumerMember, MemberState
from ottla.groups.consumer.migration import downgrade, may_downgrade
from ottla.groups.consumer.reconcile import check_known
from ottla.groups.consumer.settle import Change
from ottla.groups.group import CONSUMER_PROTOCOL_TYPE, Client
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.limits import GROUP_LEAVING_MEMBERS_MAX, GROUP_PROTOCOLS_MAX
from ottla.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from ottla.wire.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from ottla.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from ottla.wire.primitives import DecodeError

_MEMBER_ID_REQUIRED_FROM = 4
_BATCH_LEAVE_FROM = 3


# --- JoinGroup ----------------------------------------------------------------------------------------------


def join(
    context: Context,
    group: ConsumerGroup,
    request: JoinGroupRequest,
    client: Client,
    promise: Promise[JoinGroupResponse],
) -> Outcome:
    settings = context.env.settings
    outcome = Outcome()
    group_id = group.group_id
    instance_id = request.group_instance_id
    if not settings.min_session_timeout_ms <= request.session_timeout_ms <= settings.max_session_timeout_ms:
        raise KafkaError(ErrorCode.INVALID_SESSION_TIMEOUT)
    is_unknown = not request.member_id
    member_id = request.member_id or context.env.new_uuid_text()
    check_capacity(context, group, member_id)
    protocols = protocols_of(request.protocols)
    if (
        request.protocol_type != CONSUMER_PROTOCOL_TYPE
        or len(protocols) > GROUP_PROTOCOLS_MAX
        or not group.supports_protocols(protocols)
    ):
        raise _inconsistent(f"Member {member_id}'s protocols are not supported.")
    if is_unknown and instance_id is None and client.api_version >= _MEMBER_ID_REQUIRED_FROM:
        refusal = join_refusal(ErrorCode.MEMBER_ID_REQUIRED, member_id, client.api_version)
        outcome.answer(promise, refusal)
        return outcome

    replaced: ConsumerMember | None = None
    if instance_id is None:
        old = group.members.get(member_id) or ConsumerMember(member_id)
    else:
        old, replaced = static_member(group, member_id, instance_id, is_unknown, is_classic=True)
    try:
        subscription = decode_subscription(next(iter(protocols.values())))
    except DecodeError:
        raise _inconsistent(f"The subscription of member {member_id} is malformed.") from None
    owned = owned_partitions(subscription, context.env.topics)
    check_known(old, owned)
    rebalance_timeout_ms = request.rebalance_timeout_ms
    if rebalance_timeout_ms == -1 and client.api_version == 0:
        rebalance_timeout_ms = request.session_timeout_ms  # version 0 has only one timeout
    new = replace(
        old,
        instance_id=old.instance_id if instance_id is None else instance_id,
        rack_id=subscription.rack_id or old.rack_id,
        rebalance_timeout_ms=old.rebalance_timeout_ms if rebalance_timeout_ms == -1 else rebalance_timeout_ms,
        topic_names=frozenset(subscription.topics),
        regex="",
        client_id=client.client_id,
        client_host=client.client_host,
        classic=ClassicSide(request.session_timeout_ms, tuple(protocols.items())),
    )
    existing = group.static_member(instance_id)
    is_downgrade = (
        existing is not None and existing.classic is None and may_downgrade(context, group, [existing], new)
    )
    change = Change(context, group, old, new, outcome, replaced)
    has_moved = change.subscribe()
    if is_downgrade:
        assert existing is not None
        epoch = group.epoch
        downgrade(context, group, [existing], new, outcome, must_rebalance=has_moved)
    else:
        member = change.reconcile(owned)
        epoch = member.epoch
        context.state.timers.cancel(("join", group_id, member_id))
        context.state.timers.cancel(("rebalance", group_id, member_id))
        begin_session(context, group_id, member_id, request.session_timeout_ms)
        begin_sync(context, group_id, member)
    outcome.answer(
        promise,
        JoinGroupResponse(
            generation_id=epoch,
            protocol_type=CONSUMER_PROTOCOL_TYPE,
            protocol_name=next(iter(protocols)),
            member_id=member_id,
        ),
    )
    return outcome


def _inconsistent(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, message)


# --- SyncGroup and Heartbeat --------------------------------------------------------------------------------


def sync(
    context: Context,
    group: ConsumerGroup,
    request: SyncGroupRequest,
    promise: Promise[SyncGroupResponse],
) -> Outcome:
    group_id = group.group_id
    member, classic = _classic_member(
        group, request.member_id, request.group_instance_id, request.generation_id
    )
    name, metadata = classic.protocols[0]
    if request.protocol_type is not None and request.protocol_type != CONSUMER_PROTOCOL_TYPE:
        raise _inconsistent(
            f"The protocol type {request.protocol_type} from member {member.member_id} request is not equal "
            f"to the group protocol type {CONSUMER_PROTOCOL_TYPE}."
        )
    if request.protocol_name is not None and request.protocol_name != name:
        raise _inconsistent(
            f"The protocol name {request.protocol_name} from member {member.member_id} request is not equal "
            f"to the protocol name {name} returned in the join response."
        )
    if group.epoch > member.epoch and member.state is not MemberState.UNREVOKED_PARTITIONS:
        begin_rejoin(context, group_id, member)
        raise KafkaError(
            ErrorCode.REBALANCE_IN_PROGRESS,
            f"A new rebalance is triggered in group {group_id} and member {member.member_id} should rejoin "
            "to catch up.",
        )
    context.state.timers.cancel(("sync", group_id, member.member_id))
    begin_session(context, group_id, member.member_id, classic.session_timeout_ms)
    outcome = Outcome()
    outcome.answer(
        promise,
        SyncGroupResponse(
            protocol_type=request.protocol_type,
            protocol_name=request.protocol_name,
            assignment=encode_assignment(member.assigned, metadata, context.env.topics),
        ),
    )
    return outcome


def heartbeat(
    context: Context,
    group: ConsumerGroup,
    request: HeartbeatRequest,
    promise: Promise[HeartbeatResponse],
) -> Outcome:
    group_id = group.group_id
    member, classic = _classic_member(
        group, request.member_id, request.group_instance_id, request.generation_id
    )
    begin_session(context, group_id, member.member_id, classic.session_timeout_ms)
    error = ErrorCode.NONE
    if (
        member.epoch < group.epoch
        or _have_topics_changed(context, group)
        or member.state is MemberState.UNREVOKED_PARTITIONS
        or (member.state is MemberState.UNRELEASED_PARTITIONS and not group.is_waiting_for_release(member))
    ):
        error = ErrorCode.REBALANCE_IN_PROGRESS
        begin_rejoin(context, group_id, member)
    outcome = Outcome()
    outcome.answer(promise, HeartbeatResponse(error_code=error))
    return outcome


def _have_topics_changed(context: Context, group: ConsumerGroup) -> bool:
    """Only a join may move the group's epoch. When nobody is left who sends the newer heartbeats, somebody
    has to be told to join.
    """
    underway = context.underway(group.group_id)
    topics = context.env.topics
    if underway.checked_version == topics.version:
        return False
    names = group.subscribed_topics_after((), None)
    if context.hashes.of_group(names, topics) != group.metadata_hash:
        return True
    underway.checked_version = topics.version
    return False


def _classic_member(
    group: ConsumerGroup, member_id: str, instance_id: str | None, generation: int
) -> tuple[ConsumerMember, ClassicSide]:
    if instance_id is None:
        member = group.member(member_id)
    else:
        member = check_static(group.static_member(instance_id), member_id, instance_id)
    if member.classic is None:
        raise KafkaError(
            ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} does not use the classic protocol."
        )
    if generation != member.epoch:
        raise KafkaError(
            ErrorCode.ILLEGAL_GENERATION,
            f"The request generation id {generation} is not equal to the member epoch {member.epoch} of "
            f"member {member_id}.",
        )
    return member, member.classic


# --- LeaveGroup ---------------------------------------------------------------------------------------------


def leave(
    context: Context,
    group: ConsumerGroup,
    request: LeaveGroupRequest,
    client: Client,
    promise: Promise[LeaveGroupResponse],
) -> Outcome:
    """Members of either protocol may be removed with it: an administrator does not know which they speak."""
    is_batch = client.api_version >= _BATCH_LEAVE_FROM
    identities = request.members if is_batch else [MemberIdentity(member_id=request.member_id)]
    if len(identities) > GROUP_LEAVING_MEMBERS_MAX:
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    leaving: dict[str, ConsumerMember] = {}
    errors: list[ErrorCode] = []
    for identity in identities:
        try:
            member = _leaving_member(group, identity)
        except KafkaError as error:
            errors.append(error.code)
        else:
            errors.append(ErrorCode.NONE)
            leaving[member.member_id] = member
    outcome = Outcome()
    remove_members(context, group, list(leaving.values()), outcome)
    if is_batch:
        members = [
            MemberResponse(
                member_id=identity.member_id, group_instance_id=identity.group_instance_id, error_code=error
            )
            for identity, error in zip(identities, errors, strict=True)
        ]
        outcome.answer(promise, LeaveGroupResponse(members=members))
    else:
        outcome.answer(promise, LeaveGroupResponse(error_code=errors[0]))
    return outcome


def _leaving_member(group: ConsumerGroup, identity: MemberIdentity) -> ConsumerMember:
    instance_id = identity.group_instance_id
    if instance_id is None:
        return group.member(identity.member_id)
    member = group.static_member(instance_id)
    if member is not None and not identity.member_id:
        return member
    return check_static(member, identity.member_id, instance_id)
