"""What administrators ask of groups: which there are, who is in them, and to delete one.

ListGroups filters by state from version 4 and by type from 5; both filters ignore case, an unknown name
matches nothing. DescribeGroups knows classic groups and calls every other one Dead (from version 6 also
GROUP_ID_NOT_FOUND); ConsumerGroupDescribe knows the groups of KIP-848.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Final, cast

from ottla.coordination.outcome import Outcome
from ottla.coordination.promise import Promise
from ottla.groups.group import CLASSIC, CONSUMER, Group
from ottla.groups.offsets.offsets import Offsets
from ottla.groups.shard_state import ShardState
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages import consumer_group_describe, describe_groups
from ottla.wire.messages.delete_groups import DeletableGroupResult
from ottla.wire.messages.list_groups import ListedGroup

if TYPE_CHECKING:
    from ottla.groups.classic.group import ClassicGroup
    from ottla.groups.classic.groups import ClassicGroups
    from ottla.groups.consumer.group import ConsumerGroup
    from ottla.groups.consumer.groups import ConsumerGroups

DEAD: Final = "Dead"
FIRST_VERSION_OF_GROUP_ID_NOT_FOUND: Final = 6
OFFSETS_PER_PIECE: Final = 500
"""Tombstones in one batch: about a millisecond's work, and far below what a batch may hold."""


class GroupAdmin:
    __slots__ = ("_state", "_offsets", "_classic", "_consumer")

    def __init__(
        self, state: ShardState, offsets: Offsets, classic: ClassicGroups, consumer: ConsumerGroups
    ) -> None:
        self._state = state
        self._offsets = offsets
        self._classic = classic
        self._consumer = consumer

    def list(
        self,
        states: Iterable[str] = (),
        types: Iterable[str] = (),
        groups: Iterable[Group] | None = None,
    ) -> list[ListedGroup]:
        """The shard's groups, or those of them that are given; an empty filter lets everything pass."""
        wanted_states = {each.lower().strip() for each in states}
        wanted_types = {each.lower() for each in types}
        return [
            ListedGroup(
                group_id=group.group_id,
                protocol_type=group.protocol_type,
                group_state=group.state_name,
                group_type=group.type,
            )
            for group in (self._state.groups.values() if groups is None else groups)
            if (not wanted_states or group.state_name.lower() in wanted_states)
            and (not wanted_types or group.type in wanted_types)
        ]

    def describe_classic(self, group_id: str, api_version: int) -> describe_groups.DescribedGroup:
        try:
            group = self._group(group_id, CLASSIC)
        except KafkaError as error:
            described = describe_groups.DescribedGroup(group_id=group_id, group_state=DEAD)
            if api_version >= FIRST_VERSION_OF_GROUP_ID_NOT_FOUND:
                described.error_code = int(error.code)
                described.error_message = error.message
            return described
        return self._classic.describe(cast("ClassicGroup", group))

    def describe_consumer(self, group_id: str) -> consumer_group_describe.DescribedGroup:
        if not group_id:
            return consumer_group_describe.DescribedGroup(error_code=int(ErrorCode.INVALID_GROUP_ID))
        try:
            group = self._group(group_id, CONSUMER)
        except KafkaError as error:
            return consumer_group_describe.DescribedGroup(
                group_id=group_id, error_code=int(error.code), error_message=error.message
            )
        return self._consumer.describe(cast("ConsumerGroup", group))

    def delete(self, group_id: str, promise: Promise[DeletableGroupResult | None]) -> Outcome:
        """The group and its offsets. Raises GROUP_ID_NOT_FOUND or NON_EMPTY_GROUP.

        A group with many offsets goes in pieces: the answer is None as long as something is left, and the
        caller asks again; the last piece is the group itself. The empty group id is a name like any other
        here, as in Kafka.
        """
        group = self._state.groups.get(group_id)
        if group is None:
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        group.check_delete()
        outcome = Outcome()
        outcome.records += islice(self._offsets.tombstones_of(group_id), OFFSETS_PER_PIECE + 1)
        if len(outcome.records) > OFFSETS_PER_PIECE:
            outcome.records.pop()
            outcome.answer(promise, None)
            return outcome
        outcome.records += group.tombstones()
        outcome.answer(promise, DeletableGroupResult(group_id=group_id))
        return outcome

    def _group(self, group_id: str, group_type: str) -> Group:
        group = self._state.groups.get(group_id)
        if group is None:
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        if group.type != group_type:
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a {group_type} group.")
        return group


def delete_refusal(group_id: str, error: KafkaError) -> DeletableGroupResult:
    return DeletableGroupResult(group_id=group_id, error_code=int(error.code))
