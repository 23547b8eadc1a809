"""What ConsumerGroupDescribe shows of a group."""

from __future__ import annotations

from ottla.groups.consumer.context import Context
from ottla.groups.consumer.group import ConsumerGroup
from ottla.groups.consumer.member import NO_PARTITIONS, ConsumerMember, Partitions
from ottla.groups.consumer.target import assignor_name
from ottla.ports.topic_view import TopicView
from ottla.wire.messages.consumer_group_describe import (
    Assignment,
    DescribedGroup,
    Member,
    TopicPartitions,
)

_CLASSIC_MEMBER = 0
_CONSUMER_MEMBER = 1


def describe(context: Context, group: ConsumerGroup) -> DescribedGroup:
    topics = context.env.topics
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state_name,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=assignor_name(context, group),
        members=[
            _member(member, group.targets.get(member.member_id, NO_PARTITIONS), topics)
            for member in group.members.values()
        ],
    )


def _member(member: ConsumerMember, target: Partitions, topics: TopicView) -> Member:
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topic_names),
        subscribed_topic_regex=member.regex,
        assignment=_assignment(member.assigned, topics),
        target_assignment=_assignment(target, topics),
        member_type=_CONSUMER_MEMBER if member.classic is None else _CLASSIC_MEMBER,
    )


def _assignment(partitions: Partitions, topics: TopicView) -> Assignment:
    """Topics that are gone are left out: they have no name any more."""
    found = [(topics.topic_by_id(topic_id), numbers) for topic_id, numbers in partitions.items()]
    return Assignment(
        topic_partitions=[
            TopicPartitions(topic_id=facts.topic_id, topic_name=facts.name, partitions=sorted(numbers))
            for facts, numbers in found
            if facts is not None
        ]
    )
