"""One member of a consumer group: who it is, what it reads, and what it owns.

A member is a value: a decision makes the member as it will be and emits the records that say so; replaying
these puts the new value in the old one's place. What it owns has two parts, `assigned` and
`pending_revocation`, and a partition is in at most one of these sets of at most one member of the group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, NamedTuple, TypeAlias

JOIN_EPOCH: Final = 0
LEAVE_EPOCH: Final = -1
STATIC_LEAVE_EPOCH: Final = -2
"""A static member that will be back: it keeps its assignment until its session ends."""

Partitions: TypeAlias = Mapping[bytes, frozenset[int]]
"""Partitions by topic id. Never changed in place; no topic has an empty set."""

NO_PARTITIONS: Final[Partitions] = {}


class MemberState(IntEnum):
    """As ConsumerGroupCurrentMemberAssignment records number them."""

    STABLE = 0
    """It has everything that the target of its epoch gives it."""
    UNREVOKED_PARTITIONS = 1
    """It has to give up partitions before it may go on to the next epoch."""
    UNRELEASED_PARTITIONS = 2
    """It is in the epoch of the target, and partitions that it should get are still in others' hands."""
    UNKNOWN = 127
    """A newer version wrote a state that this one does not know."""

    @classmethod
    def of(cls, number: int) -> MemberState:
        try:
            return cls(number)
        except ValueError:
            return cls.UNKNOWN


class ClassicSide(NamedTuple):
    """What a member that speaks the classic protocol said when it joined."""

    session_timeout_ms: int
    protocols: tuple[tuple[str, bytes], ...]
    """Assignors by name, with the embedded subscription; the first is the one that answers name."""


@dataclass(frozen=True, slots=True)
class ConsumerMember:
    member_id: str
    epoch: int = 0
    previous_epoch: int = -1
    """Where it was before: its requests may still say so when a reply got lost."""
    state: MemberState = MemberState.STABLE
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    client_id: str = ""
    client_host: str = ""
    topic_names: frozenset[str] = frozenset()
    regex: str | None = ""
    """Empty (or None, in old records) without one."""
    assignor: str | None = None
    assigned: Partitions = field(default_factory=lambda: NO_PARTITIONS)
    pending_revocation: Partitions = field(default_factory=lambda: NO_PARTITIONS)
    classic: ClassicSide | None = None

    def is_reconciled_to(self, epoch: int) -> bool:
        return self.state is MemberState.STABLE and self.epoch == epoch

    @property
    def pattern(self) -> str | None:
        """Its regular expression, or None."""
        return self.regex or None
