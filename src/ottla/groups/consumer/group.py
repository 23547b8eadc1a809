"""A consumer group: its members, its target assignment, and what is counted over them.

All of it is hard state: `apply` is the only thing that changes it, record by record, so a group that was
lived through and one that was loaded from its log are the same. `hard_state` is what the log determines,
for comparing the two.

Epochs: the group's epoch moves when a subscription or a subscribed topic changes, `assignment_epoch` says
for which of these the target was computed, and each member's epoch says how far it has got.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from ottla.coordination.record import CoordinatorRecord
from ottla.groups.consumer.member import (
    LEAVE_EPOCH,
    NO_PARTITIONS,
    ConsumerMember,
    MemberState,
    Partitions,
)
from ottla.groups.consumer.records import (
    group_tombstones,
    partitions_of,
    with_current,
    with_subscription,
)
from ottla.groups.group import CONSUMER, CONSUMER_PROTOCOL_TYPE
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages.consumer_offsets import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMetadataKey,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMetadataKey,
)

EMPTY: Final = "Empty"
ASSIGNING: Final = "Assigning"
"""The epoch has moved, and its target is not there yet."""
RECONCILING: Final = "Reconciling"
"""Some member has not reached the target."""
STABLE: Final = "Stable"
DEAD: Final = "Dead"

OFFSET_COMMIT_FIRST_VERSION: Final = 9
"""The first OffsetCommit that knows member epochs."""


class Resolution(NamedTuple):
    """The topics that a regular expression matched, when it was last looked."""

    topics: frozenset[str]
    version: int
    timestamp_ms: int


class ConsumerGroup:
    __slots__ = (
        "group_id",
        "epoch",
        "metadata_hash",
        "assignment_epoch",
        "members",
        "static_members",
        "targets",
        "owners",
        "resolutions",
        "patterns",
        "classic_members",
        "has_partition_metadata",
        "_name_counts",
        "_matched_counts",
        "_state",
    )

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.epoch = 0
        self.metadata_hash = 0
        self.assignment_epoch = 0
        self.members: dict[str, ConsumerMember] = {}
        self.static_members: dict[str, str] = {}
        """Member ids by instance id."""
        self.targets: dict[str, Partitions] = {}
        self.owners: dict[bytes, dict[int, str]] = {}
        """Who has a partition in its hands, assigned or not yet given up."""
        self.resolutions: dict[str, Resolution] = {}
        self.patterns: dict[str, int] = {}
        """Regular expressions, with how many members use each."""
        self.classic_members = 0
        """How many speak the classic protocol."""
        self.has_partition_metadata = False
        """A record of a version before 4.1 is in the log: it is removed with the next change."""
        self._name_counts: dict[str, int] = {}
        self._matched_counts: dict[str, int] = {}
        self._state: str | None = None

    def hard_state(self) -> tuple[Any, ...]:
        return (
            self.group_id,
            self.epoch,
            self.metadata_hash,
            self.assignment_epoch,
            self.members,
            self.static_members,
            self.targets,
            self.owners,
            self.resolutions,
            self.patterns,
            self.classic_members,
            self.has_partition_metadata,
            self._name_counts,
            self._matched_counts,
        )

    # --- what every group offers (groups/group.py) --------------------------------------------------------

    @property
    def type(self) -> str:
        return CONSUMER

    @property
    def protocol_type(self) -> str:
        return CONSUMER_PROTOCOL_TYPE

    @property
    def state_name(self) -> str:
        state = self._state
        if state is None:
            state = self._state = self._find_state()
        return state

    @property
    def is_empty(self) -> bool:
        return not self.members

    def check_offset_commit(
        self, member_id: str, instance_id: str | None, generation: int, api_version: int, *, is_txn: bool
    ) -> None:
        if generation < 0 and not self.members:
            return  # an admin's commit, while nobody is there
        if is_txn and generation == -1 and not member_id and instance_id is None:
            return  # a producer that does not say in whose name it commits
        member = self.member(member_id)
        if not is_txn and member.classic is None and api_version < OFFSET_COMMIT_FIRST_VERSION:
            raise KafkaError(
                ErrorCode.UNSUPPORTED_VERSION,
                "OffsetCommit version 9 or above must be used by members using the modern group protocol",
            )
        _check_epoch(member, generation)

    def session_after_commit_ms(self, member_id: str) -> int | None:
        return None  # only heartbeats count

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        if member_id is None and member_epoch < 0:
            return
        _check_epoch(self.member(member_id or ""), member_epoch)

    def check_offset_delete(self) -> None:
        return

    def check_delete(self) -> None:
        if self.members:
            raise KafkaError(ErrorCode.NON_EMPTY_GROUP, "The group is not empty.")

    def tombstones(self) -> list[CoordinatorRecord]:
        return group_tombstones(self.group_id, self.members, self.resolutions)

    def is_subscribed_to(self, topic: str) -> bool:
        return topic in self._name_counts or topic in self._matched_counts

    def expires_from_ms(self, commit_timestamp_ms: int) -> int | None:
        return commit_timestamp_ms

    # --- questions ----------------------------------------------------------------------------------------

    def member(self, member_id: str) -> ConsumerMember:
        """Raises UNKNOWN_MEMBER_ID."""
        member = self.members.get(member_id)
        if member is None:
            raise KafkaError(
                ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {self.group_id}."
            )
        return member

    def static_member(self, instance_id: str | None) -> ConsumerMember | None:
        if instance_id is None:
            return None
        member_id = self.static_members.get(instance_id)
        return None if member_id is None else self.members.get(member_id)

    def target_of(self, member: ConsumerMember) -> Partitions:
        """The target of a member that may be about to replace the static one of its instance id."""
        member_id: str | None = member.member_id
        if member.instance_id is not None:
            member_id = self.static_members.get(member.instance_id)
        return NO_PARTITIONS if member_id is None else self.targets.get(member_id, NO_PARTITIONS)

    def named_topics(self) -> Iterable[str]:
        """The topics that members subscribed to by name."""
        return self._name_counts.keys()

    def subscribed_topics_after(
        self,
        leaving: Iterable[ConsumerMember],
        coming: ConsumerMember | None,
        dropped_patterns: Iterable[str] = (),
    ) -> set[str]:
        """What the group will be subscribed to when these members have gone or changed."""
        gone: dict[str, int] = {}
        for member in leaving:
            for name in member.topic_names:
                gone[name] = gone.get(name, 0) + 1
        names = {name for name, count in self._name_counts.items() if count > gone.get(name, 0)}
        if coming is not None:
            names |= coming.topic_names
        unmatched: dict[str, int] = {}
        for pattern in dropped_patterns:
            resolution = self.resolutions.get(pattern)
            if resolution is not None:
                for name in resolution.topics:
                    unmatched[name] = unmatched.get(name, 0) + 1
        if unmatched:
            names.update(n for n, count in self._matched_counts.items() if count > unmatched.get(n, 0))
        else:
            names |= self._matched_counts.keys()
        return names

    def is_waiting_for_release(self, member: ConsumerMember) -> bool:
        """Some partition of its target is in another's hands."""
        if member.state is not MemberState.UNRELEASED_PARTITIONS:
            return False
        for topic_id, wanted in self.targets.get(member.member_id, NO_PARTITIONS).items():
            owners = self.owners.get(topic_id)
            if owners is not None:
                has = member.assigned.get(topic_id, frozenset())
                if any(partition in owners for partition in wanted - has):
                    return True
        return False

    def supports_protocols(self, names: Iterable[str]) -> bool:
        """Some of these assignors' names are offered by all members that speak the classic protocol."""
        sides = [member.classic for member in self.members.values() if member.classic is not None]
        return any(all(any(name == each for each, _ in side.protocols) for side in sides) for name in names)

    # --- replay -------------------------------------------------------------------------------------------

    def apply(self, record: CoordinatorRecord) -> bool:
        """Changes the state as the record says; False when it was the group's own tombstone."""
        key, value = record.key, record.value
        self._state = None
        if isinstance(key, ConsumerGroupCurrentMemberAssignmentKey):
            self._apply_current(key.member_id, value)
        elif isinstance(key, ConsumerGroupMemberMetadataKey):
            if value is not None:
                old = self.members.get(key.member_id)
                self._put(old, with_subscription(old or ConsumerMember(key.member_id), value))
            else:
                self._remove(key.member_id)
        elif isinstance(key, ConsumerGroupTargetAssignmentMemberKey):
            if value is not None:
                self.targets[key.member_id] = partitions_of(value.topic_partitions)
            else:
                self.targets.pop(key.member_id, None)
        elif isinstance(key, ConsumerGroupTargetAssignmentMetadataKey):
            self.assignment_epoch = -1 if value is None else value.assignment_epoch
        elif isinstance(key, ConsumerGroupRegularExpressionKey):
            self._apply_resolution(key.regular_expression, value)
        elif isinstance(key, ConsumerGroupPartitionMetadataKey):
            self.has_partition_metadata = value is not None
        else:
            assert isinstance(key, ConsumerGroupMetadataKey)
            if value is None:
                return False
            self.epoch = value.epoch
            self.metadata_hash = value.metadata_hash
        return True

    def _apply_current(self, member_id: str, value: Any) -> None:
        old = self.members.get(member_id)
        if value is not None:
            self._put(old, with_current(old or ConsumerMember(member_id), value))
        elif old is not None:
            self._put(
                old,
                replace(
                    old,
                    epoch=LEAVE_EPOCH,
                    previous_epoch=LEAVE_EPOCH,
                    assigned=NO_PARTITIONS,
                    pending_revocation=NO_PARTITIONS,
                ),
            )

    def _apply_resolution(self, regex: str, value: Any) -> None:
        old = self.resolutions.pop(regex, None)
        if old is not None:
            for name in old.topics:
                _count(self._matched_counts, name, -1)
        if value is not None:
            new = self.resolutions[regex] = Resolution(
                frozenset(value.topics), value.version, value.timestamp
            )
            for name in new.topics:
                _count(self._matched_counts, name, 1)

    def _put(self, old: ConsumerMember | None, new: ConsumerMember) -> None:
        self.members[new.member_id] = new
        if old is None or (old.topic_names, old.regex, old.classic) != (
            new.topic_names,
            new.regex,
            new.classic,
        ):
            self._count_subscription(old, new)
        if (
            old is None
            or old.assigned is not new.assigned
            or (old.pending_revocation is not new.pending_revocation)
        ):
            if old is not None:
                self._disown(old)
            for partitions in (new.assigned, new.pending_revocation):
                for topic_id, numbers in partitions.items():
                    self.owners.setdefault(topic_id, {}).update(dict.fromkeys(numbers, new.member_id))
        if new.instance_id is not None:
            self.static_members[new.instance_id] = new.member_id

    def _remove(self, member_id: str) -> None:
        old = self.members.pop(member_id, None)
        if old is None:
            return
        self.targets.pop(member_id, None)  # its own tombstone came before, in any log that is whole
        self._count_subscription(old, None)
        self._disown(old)
        if old.instance_id is not None and self.static_members.get(old.instance_id) == member_id:
            del self.static_members[old.instance_id]

    def _count_subscription(self, old: ConsumerMember | None, new: ConsumerMember | None) -> None:
        for member, by in ((old, -1), (new, 1)):
            if member is not None:
                for name in member.topic_names:
                    _count(self._name_counts, name, by)
                if member.pattern is not None:
                    _count(self.patterns, member.pattern, by)
                if member.classic is not None:
                    self.classic_members += by

    def _disown(self, member: ConsumerMember) -> None:
        for partitions in (member.assigned, member.pending_revocation):
            for topic_id, numbers in partitions.items():
                owners = self.owners.get(topic_id)
                if owners is None:
                    continue
                for partition in numbers:
                    if owners.get(partition) == member.member_id:
                        del owners[partition]
                if not owners:
                    del self.owners[topic_id]

    def _find_state(self) -> str:
        if not self.members:
            return EMPTY
        if self.epoch > self.assignment_epoch:
            return ASSIGNING
        epoch = self.assignment_epoch
        return STABLE if all(m.is_reconciled_to(epoch) for m in self.members.values()) else RECONCILING


def _count(counts: dict[str, int], name: str, by: int) -> None:
    count = counts.get(name, 0) + by
    if count > 0:
        counts[name] = count
    else:
        counts.pop(name, None)


def _check_epoch(member: ConsumerMember, received: int) -> None:
    if received == member.epoch:
        return
    if member.classic is not None:
        raise KafkaError(
            ErrorCode.ILLEGAL_GENERATION,
            f"The received generation id {received} does not match the expected member epoch {member.epoch}.",
        )
    raise KafkaError(
        ErrorCode.STALE_MEMBER_EPOCH,
        f"The received member epoch {received} does not match the expected member epoch {member.epoch}.",
    )


def matched_topics(resolutions: Mapping[str, Resolution], member: ConsumerMember) -> frozenset[str]:
    """All names that a member is subscribed to; an expression not yet resolved matches nothing."""
    pattern = member.pattern
    resolution = None if pattern is None else resolutions.get(pattern)
    if resolution is None or not resolution.topics:
        return member.topic_names
    return resolution.topics | member.topic_names if member.topic_names else resolution.topics
