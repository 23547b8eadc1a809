"""The states of a classic group and the ways between them: one table, asserted at every change.

Empty                no members; offsets may be there
PreparingRebalance   members are asked to join (again); JoinGroup waits
CompletingRebalance  a generation exists, its leader works out the assignment; SyncGroup waits
Stable               everybody has, or may ask for, an assignment
Dead                 deleted, or turned into a group of the newer protocol; nobody finds it any more
"""

from __future__ import annotations

from enum import Enum
from typing import Final


class ClassicState(Enum):
    """The values are the names that ListGroups and DescribeGroups show."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


TRANSITIONS: Final[dict[ClassicState, frozenset[ClassicState]]] = {
    ClassicState.EMPTY: frozenset((ClassicState.PREPARING_REBALANCE, ClassicState.DEAD)),
    ClassicState.PREPARING_REBALANCE: frozenset(
        (ClassicState.COMPLETING_REBALANCE, ClassicState.EMPTY, ClassicState.DEAD)
    ),
    ClassicState.COMPLETING_REBALANCE: frozenset(
        (ClassicState.STABLE, ClassicState.PREPARING_REBALANCE, ClassicState.DEAD)
    ),
    ClassicState.STABLE: frozenset((ClassicState.PREPARING_REBALANCE, ClassicState.DEAD)),
    ClassicState.DEAD: frozenset((ClassicState.DEAD,)),
}
"""From a state to those that may follow it."""
